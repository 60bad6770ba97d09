//! How fast the engine is: a million tiles of 1 KiB through a ring, copies included.
//!
//! `cargo run --release -p slipring-sim --example ring_speed [tiles]`

#[path = "../tests/kit/mod.rs"]
mod kit;

use std::time::Instant;

use kit::*;
use slipring_machine::{Pipe, Role};
use slipring_sim::{ArgValue, Launch, run};

fn main() {
    let tiles: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let platform = a5();
    let mut build = Build::default();
    let ring = build.ring((Role::Aic, Pipe::Fix), (Role::Aiv0, Pipe::V), 8, 1024, UB0, 0);
    build.core(Role::Aic, |c| c.repeat(imm(tiles), |c, i| c.push(&ring, i, (L1, imm(0)))));
    build.core(Role::Aiv0, |c| {
        c.initialize(&ring);
        c.repeat(imm(tiles), |c, i| {
            c.pop(&ring, i, (UB0, imm(65536)));
            c.free(&ring, i);
        });
    });
    let launch = Launch::new(&build.program, &platform, 1, Vec::<ArgValue>::new());
    let start = Instant::now();
    let result = run(&launch, memory(&platform, 1, Vec::new()), &mut ());
    let seconds = start.elapsed().as_secs_f64();
    assert!(result.complete && result.findings.is_empty(), "{:?}", result.findings);
    println!(
        "{tiles} tiles in {seconds:.3} s: {:.0} ns a tile, {} cycles",
        seconds * 1e9 / tiles as f64,
        result.cycles
    );
    println!("{} instructions, ring {:?}", result.stats.instructions, result.stats.rings[0]);
}
