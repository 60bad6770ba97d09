//! What checking costs: tiles through a ring, with and without the checker.
//!
//! `cargo run --release -p slipring-check --example ring_cost [tiles] [bytes]`

#[path = "../../sim/tests/kit/mod.rs"]
mod kit;

use std::time::Instant;

use kit::*;
use slipring_check::{Checker, Tools};
use slipring_machine::{Pipe, Role};
use slipring_program::Special;
use slipring_sim::{ArgValue, Launch, Observer, run};

fn main() {
    let number = |at, or| std::env::args().nth(at).and_then(|n| n.parse().ok()).unwrap_or(or);
    let (tiles, bytes) = (number(1, 300_000), number(2, 1024));
    let platform = a5();
    let mut build = Build::default();
    let ring = build.ring((Role::Aic, Pipe::Fix), (Role::Aiv0, Pipe::V), 4, bytes as u32, UB0, 0);
    build.core(Role::Aic, |c| {
        let x = c.special(Special::Param(0));
        c.copy(Pipe::Fix, (GM, x), (L1, imm(0)), bytes);
        c.repeat(imm(tiles), |c, i| c.push(&ring, i, (L1, imm(0))));
    });
    build.core(Role::Aiv0, |c| {
        c.initialize(&ring);
        c.repeat(imm(tiles), |c, i| {
            c.pop(&ring, i, (UB0, imm(4 * bytes)));
            c.free(&ring, i);
        });
    });
    let launch = Launch::new(&build.program, &platform, 1, vec![ArgValue::Buffer(0)]);
    let time = |observer: &mut dyn FnMut() -> f64| (0..3).map(|_| observer()).fold(f64::MAX, f64::min);
    fn once(launch: &Launch<'_>, bytes: u64, observer: &mut impl Observer) -> f64 {
        let memory = memory(launch.platform, 1, vec![buffer("x", bytes as usize)]);
        let start = Instant::now();
        let result = run(launch, memory, observer);
        assert!(result.complete);
        start.elapsed().as_secs_f64()
    }
    let bare = time(&mut || once(&launch, bytes, &mut ()));
    for (name, race, init) in [("race", true, false), ("init", false, true), ("race and init", true, true)] {
        let tools = Tools { race, init, ..Tools::default() };
        let seconds = time(&mut || once(&launch, bytes, &mut Checker::new(tools.clone())));
        println!(
            "{tiles} tiles of {bytes} bytes: {bare:.3} s, with {name} {seconds:.3} s: {:.2} times",
            seconds / bare
        );
    }
}
