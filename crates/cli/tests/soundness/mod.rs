//! Soundness of the verdicts: mutants of correct programs, and random programs, judged by the tools and by an
//! independent oracle. `docs/soundness.md` has the table of a full run, which `scripts/soundness` generates.

mod mutate;
mod oracle;
mod order;
mod random;
mod rule;
mod study;

use study::{Study, Table};

/// A slice of everything: no program that the oracle refutes is called clean, and none that it cannot refute is
/// reported.
#[test]
fn a_slice_of_mutants_and_random_programs() {
    let mut table = Table::default();
    Study { mutants: 150, random: 150, timings: 8, seed: 1 }.run(&mut table);
    println!("{table}");
    assert!(table.holes.is_empty(), "{}", table.holes.join("\n\n"));
}

/// The full study: `SLIPRING_MUTANTS`, `SLIPRING_RANDOM`, `SLIPRING_TIMINGS` and `SLIPRING_SEED` set its size.
#[test]
#[ignore = "minutes; scripts/soundness runs it"]
fn the_whole_study() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let mut table = Table::default();
    let study = Study {
        mutants: number("SLIPRING_MUTANTS", 10_000) as usize,
        random: number("SLIPRING_RANDOM", 10_000) as usize,
        timings: number("SLIPRING_TIMINGS", 16),
        seed: number("SLIPRING_SEED", 1),
    };
    study.run(&mut table);
    println!("{table}");
    assert!(table.holes.is_empty(), "{}", table.holes.join("\n\n"));
}
