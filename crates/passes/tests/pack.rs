//! Addresses of buffers: what is alive at the same time does not overlap.

use proptest::prelude::*;

use slipring_passes::memory::pack::{Live, Request, pack};

fn buffer(bytes: u64, first: u32, last: u32) -> Request {
    Request { bytes, align: 32, live: vec![Live { scope: 0, first, last, by_call: None }], always: false }
}

fn ring(bytes: u64) -> Request {
    Request { bytes, align: 256, live: Vec::new(), always: true }
}

const UB: u64 = 196_608;

#[test]
fn what_fits_lies_side_by_side() {
    let live: Vec<_> = (0..8).map(|i| buffer(8192, i, 100)).collect();
    let placed = pack(&live, UB, &[]).unwrap();
    assert_eq!(placed.addresses, (0..8).map(|i| i * 8192).collect::<Vec<_>>());
    assert!(!placed.shared);
}

#[test]
fn twenty_four_of_8192_fill_the_unified_buffer() {
    let live: Vec<_> = (0..24).map(|i| buffer(8192, i, 100)).collect();
    assert_eq!(pack(&live, UB, &[]).unwrap().addresses.last(), Some(&188_416));
}

#[test]
fn sequential_buffers_share_under_pressure() {
    let sequential: Vec<_> = (0..30).map(|i| buffer(8192, 2 * i, 2 * i + 1)).collect();
    let placed = pack(&sequential, UB, &[]).unwrap();
    assert!(placed.shared && placed.addresses.iter().all(|a| a + 8192 <= UB));
}

#[test]
fn two_short_lives_share_the_last_place() {
    let mut requests: Vec<_> = (0..23).map(|i| buffer(8192, i, 100)).collect();
    requests.extend([buffer(8192, 30, 31), buffer(8192, 32, 33)]);
    let placed = pack(&requests, UB, &[]).unwrap();
    assert_eq!(placed.addresses[23..], [188_416, 188_416]);
}

#[test]
fn lives_that_touch_do_not_share() {
    let requests = [buffer(96 * 1024, 0, 5), buffer(96 * 1024, 5, 9), buffer(64, 5, 5)];
    let overflow = pack(&requests, UB, &[]).unwrap_err();
    assert_eq!((overflow.peak, overflow.alive), (UB + 64, vec![0, 1, 2]));
}

#[test]
fn a_ring_comes_after_the_tiles_or_on_top() {
    assert_eq!(pack(&[buffer(8192, 0, 1), ring(4096)], UB, &[]).unwrap().addresses, [0, 8192]);
    let under_pressure = [buffer(100 * 1024, 0, 1), ring(65_536), buffer(100 * 1024, 2, 3)];
    assert_eq!(pack(&under_pressure, UB, &[]).unwrap().addresses, [0, UB - 65_536, 0]);
}

#[test]
fn blocked_ranges_stay_free() {
    let taken = 4096..8192;
    let placed = pack(&[buffer(4096, 0, 9), buffer(64, 0, 9)], UB, std::slice::from_ref(&taken)).unwrap();
    assert_eq!(placed.addresses, [0, 8192]);
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let one = (1u64..5000, 0u32..3, 0u32..40, 0u32..20, prop::bool::weighted(0.05), 5u32..10).prop_map(
        |(bytes, scope, first, length, always, align)| Request {
            bytes,
            align: 1 << align,
            live: vec![Live { scope, first, last: first + length, by_call: None }],
            always,
        },
    );
    prop::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn nothing_alive_at_the_same_time_overlaps(requests in requests(), capacity in 1000u64..60_000, hole in 0u64..20_000) {
        let taken = hole..hole + 512;
        let blocked = [taken];
        match pack(&requests, capacity, &blocked) {
            Ok(placed) => {
                for (i, a) in requests.iter().enumerate() {
                    let at = placed.addresses[i];
                    prop_assert!(at % a.align == 0 && at + a.bytes <= capacity);
                    prop_assert!(at + a.bytes <= blocked[0].start || at >= blocked[0].end);
                    for (j, b) in requests.iter().enumerate().skip(i + 1) {
                        let apart = at + a.bytes <= placed.addresses[j] || placed.addresses[j] + b.bytes <= at;
                        prop_assert!(apart || (placed.shared && !a.conflicts(b)));
                    }
                }
            }
            Err(overflow) => {
                let all: u64 = requests.iter().map(|r| r.bytes.next_multiple_of(r.align)).sum();
                // Alignment and the hole waste at most this much.
                let waste = 512 * (requests.len() as u64 + 2) + 5000;
                prop_assert!(overflow.peak <= all && all + waste > capacity);
            }
        }
    }
}
