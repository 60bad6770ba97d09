//! Buffer tokens: the order that they imply does not depend on time.

use crate::kit;

use kit::random::{Timing, timing};
use kit::*;
use proptest::prelude::*;
use slipring_check::*;
use slipring_machine::{Cost, Pipe, Role};
use slipring_program::*;
use slipring_sim::*;

const A: Role = Role::Aiv0;
const PIPES: [Pipe; 3] = [Pipe::Mte2, Pipe::V, Pipe::Mte3];

/// A step of a random program: pipe, token, kind (work, acquire or release), mode 1.
type Act = (usize, usize, u8, bool);

/// Work on the bytes of token 0 or 1, in any order with acquires; releases only of held tokens, all at the end.
fn program(acts: &[Act], timing: &Timing) -> Build {
    let mut b = Build::default();
    let tokens = [b.token(A, 0), b.token(A, 1)];
    b.core(A, |c| {
        let mut held = [[0; 2]; 3];
        let give = |c: &mut Code<'_>, held: &mut [[u32; 2]; 3], pipe: usize, token: usize, deferred| {
            if held[pipe][token] > 0 {
                held[pipe][token] -= 1;
                c.emit(Inst::Release { pipe: PIPES[pipe], token: tokens[token], deferred });
            }
        };
        for (at, &(pipe, token, what, mode)) in acts.iter().enumerate() {
            match what {
                0 | 1 => {
                    let cost = Cost::fixed(timing.works[at % timing.works.len()]);
                    let args = [imm(4096 + pipe as u64 * 64), imm(token as u64 * 64), imm(32)];
                    c.work(PIPES[pipe], "mix", Mix { from: UB0, to: UB0 }, &args, cost);
                }
                2 => {
                    held[pipe][token] += 1;
                    c.emit(Inst::Acquire { pipe: PIPES[pipe], token: tokens[token], waits: !mode });
                }
                _ => give(c, &mut held, pipe, token, mode),
            }
        }
        for pipe in 0..3 {
            for token in 0..2 {
                while held[pipe][token] > 0 {
                    give(c, &mut held, pipe, token, false);
                }
            }
        }
    });
    b
}

fn check(build: &Build, timing: &Timing) -> (RunResult, CheckReport) {
    let platform = timing.platform(1);
    let launch = Launch::new(&build.program, &platform, 1, vec![]);
    let mut checker = Checker::new(Tools { init: false, ..Tools::default() });
    let result = run(&launch, memory(&platform, 1, vec![]), &mut checker);
    let report = checker.report(&result);
    (result, report)
}

/// Pairs of racing locations, in program order.
fn races(report: &CheckReport) -> std::collections::BTreeSet<(u32, u32)> {
    let site = |label: &Label| label.site;
    let pair = |f: &Finding| {
        let (a, b) = (f.primary.as_ref().map_or(0, site), f.secondary.first().map_or(0, site));
        (a.min(b), a.max(b))
    };
    report.findings.iter().filter(|f| f.code == "race").map(pair).collect()
}

/// Later accesses are compared with the last write of every byte, so which of several races is reported depends on the
/// order of time; only the existence of a race does not.
fn act() -> impl Strategy<Value = Act> {
    (0..3usize, 0..2usize, 0..4u8, prop::bool::weighted(0.3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn verdict_and_memory_do_not_depend_on_time(
        acts in proptest::collection::vec(act(), 1..24), timings in proptest::collection::vec(timing(), 5),
    ) {
        let runs: Vec<_> = timings.iter().map(|t| check(&program(&acts, t), t)).collect();
        for (result, _) in &runs {
            prop_assert!(result.complete, "{:#?}", result.findings);
        }
        let racy: Vec<bool> = runs.iter().map(|(_, report)| !races(report).is_empty()).collect();
        prop_assert!(racy.iter().all(|r| *r == racy[0]), "{racy:?} {:#?}", races(&runs[0].1));
        if !racy[0] {
            let env = Env { block: 0, core: A };
            let bytes = |r: &RunResult| r.memory.bytes(env, A, slipring_tile::Space::Vec, 0, 4096).to_vec();
            for (result, _) in &runs[1..] {
                prop_assert_eq!(bytes(result), bytes(&runs[0].0));
            }
        }
    }
}

/// `V` works with mode 1 on what MTE2 acquired before, and MTE3 comes after V's release.
#[test]
fn a_deferred_release_speaks_for_other_pipes() {
    let build = |deferred: bool, late: bool| {
        let mut b = Build::default();
        let token = b.token(A, 0);
        b.core(A, |c| {
            let load = |c: &mut Code<'_>| c.copy(Pipe::Mte2, (UB0, imm(4096)), (UB0, imm(0)), 64);
            c.acquire(Pipe::Mte2, token);
            if !late {
                load(c);
            }
            c.emit(Inst::Acquire { pipe: Pipe::V, token, waits: false });
            c.emit(Inst::Release { pipe: Pipe::V, token, deferred });
            if late {
                load(c);
            }
            c.acquire(Pipe::Mte3, token);
            c.copy(Pipe::Mte3, (UB0, imm(0)), (UB0, imm(8192)), 64);
            c.release(Pipe::Mte3, token);
            c.release(Pipe::Mte2, token);
        });
        let timing = Timing { works: vec![1], queue_depth: 8, cycles: 1, latency: 1, scalar: 1 };
        races(&check(&b, &timing).1).len()
    };
    assert_eq!(build(true, false), 0);
    assert_eq!(build(false, false), 1, "V's release says nothing of MTE2");
    assert_eq!(build(true, true), 1, "what MTE2 was given after the release does not count");
}
