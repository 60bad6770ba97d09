//! Random legal commands under random delays, against a shadow of all memories.

use crate::shadow;

use shadow::{Shadow, small_layout};
use slipring_queue::board::built_in;
use slipring_queue::machine::Config;

fn config(seed: u64) -> Config {
    let board = built_in(if seed.is_multiple_of(3) { "p150" } else { "p100" }).expect("a built-in board");
    // Page counters wrap at 2^31, at 2^32, or not at all.
    let pages_before = [0, 0x7FFF_FF80, u32::MAX - 100][(seed % 5).min(2) as usize];
    let config = Config { pages_before, ..Config::new(board).with_seed(seed) };
    if seed.is_multiple_of(2) { config.with_layout(small_layout()) } else { config }
}

fn run(seed: u64, commands: u64) -> slipring_queue::machine::Status {
    let mut shadow = Shadow::new(config(seed), seed);
    shadow.run(commands);
    shadow.finish()
}

#[test]
fn memories_are_what_the_commands_say() {
    let mut states = [0; 8];
    for seed in 0..8 {
        let status = run(seed, 3000);
        for (sum, n) in states.iter_mut().zip(status.fetch_states) {
            *sum += n;
        }
    }
    assert!(states.iter().all(|n| *n > 0), "all eight states of fetching are reached: {states:?}");
}

#[test]
fn a_seed_gives_the_same_run() {
    assert_eq!(run(2, 2000), run(2, 2000));
    assert_ne!(run(2, 2000).cycle, run(4, 2000).cycle);
}

/// The long run: a million commands over every wrap, under 100 seeds. `cargo test --release -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn a_million_commands_under_a_hundred_seeds() {
    for seed in 0..100 {
        let status = run(seed, 1_000_000);
        eprintln!("seed {seed}: {} cycles, {:?} commands", status.cycle, status.commands);
    }
}
