//! The steps of a product cover k and fit into memory.

use proptest::prelude::*;

use std::ops::Range;

use slipring_passes::memory::tile_matmul::steps::{Storage, steps};

const L0: u64 = 65_536;

fn storage(line: u64) -> Storage {
    Storage { line, capacity: L0, align: 512 }
}

fn starts(steps: Option<Vec<Range<u64>>>) -> Vec<u64> {
    steps.unwrap_or_default().iter().map(|s| s.start).collect()
}

/// The products of the attention step with 64 queries, 128 keys and a head of 512, in bf16.
#[test]
fn products_of_an_attention_step() {
    assert_eq!(starts(steps(512, 16, &[storage(64 * 2), storage(128 * 2)])), [0, 128, 256, 384]);
    assert_eq!(starts(steps(128, 16, &[storage(64 * 2), storage(512 * 2)])), [0, 32, 64, 96]);
}

#[test]
fn steps_are_equally_long() {
    assert_eq!(starts(steps(160, 16, &[storage(256), storage(256)])), [0, 80]);
    assert_eq!(steps(200, 16, &[storage(256), storage(256)]), Some(vec![0..112, 112..200]));
}

#[test]
fn one_at_a_time_where_two_do_not_fit() {
    assert_eq!(starts(steps(32, 16, &[storage(3000), storage(32)])), [0, 16]);
    assert_eq!(steps(32, 16, &[storage(4097), storage(32)]), None);
}

proptest! {
    #[test]
    fn steps_cover_k_and_fit(
        k in 1u64..4096,
        unit in prop::sample::select(vec![8u64, 16, 32]),
        lines in prop::array::uniform2(1u64..8192),
    ) {
        let storages = lines.map(storage);
        let fits = |length: u64, copies: u64| {
            storages.iter().all(|r| (r.line * length).next_multiple_of(r.align) * copies <= r.capacity)
        };
        let Some(steps) = steps(k, unit, &storages) else {
            prop_assert!(!fits(unit, 1));
            return Ok(());
        };
        let copies = if fits(unit, 2) { 2 } else { 1 };
        let mut end = 0;
        for step in &steps {
            prop_assert!(step.start == end && step.start < step.end);
            prop_assert!(step.start % unit == 0);
            prop_assert!(fits(step.end - step.start, copies));
            end = step.end;
        }
        prop_assert_eq!(end, k);
        // One step less would be too long.
        if let Some(fewer) = (steps.len() as u64).checked_sub(1).filter(|n| *n > 0) {
            let length = k.div_ceil(fewer).next_multiple_of(unit);
            prop_assert!(!fits(length, copies));
        }
    }
}
