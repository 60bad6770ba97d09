//! Random race-free programs: the same memory in every mode and under all costs.

use crate::kit;

use kit::random::{Shape, TILE, Timing, build, shape, timing};
use kit::*;
use proptest::prelude::*;
use slipring_machine::{Pipe, Role};
use slipring_program::*;
use slipring_sim::*;
use slipring_tile::Space;

fn run_once(shape: &Shape, timing: &Timing, blocks: u32, clusters: u32, mode: ExecutionMode) -> RunResult {
    let b = build(shape, timing);
    let platform = timing.platform(clusters);
    let args = (0..3).map(ArgValue::Buffer).collect();
    let buffers = ["aic", "aiv0", "aiv1"].map(|name| zeros(name, (u64::from(blocks) * TILE) as usize));
    let launch = Launch::new(&b.program, &platform, blocks, args).mode(mode);
    let result = run(&launch, memory(&platform, launch.clusters(), buffers.into()), &mut ());
    assert!(result.complete && result.findings.is_empty(), "{:#?}", result.findings);
    result
}

fn gm(result: &RunResult) -> Vec<&[u8]> {
    result.memory.gm.iter().map(|b| b.data.as_slice()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn memory_does_not_depend_on_costs_or_mode(
        shape in shape(), one in timing(), other in timing(), blocks in 1..4u32, clusters in 1..4u32,
    ) {
        let first = run_once(&shape, &one, blocks, clusters, ExecutionMode::Pipes);
        let second = run_once(&shape, &other, blocks, clusters, ExecutionMode::Pipes);
        let sequential = run_once(&shape, &one, blocks, clusters, ExecutionMode::Sequential);
        prop_assert_eq!(gm(&first), gm(&second));
        prop_assert_eq!(gm(&first), gm(&sequential));
        let again = run_once(&shape, &one, blocks, clusters, ExecutionMode::Pipes);
        prop_assert_eq!(&first.stats, &again.stats);
        prop_assert_eq!(first.cycles, again.cycles);
        prop_assert_eq!(first.stats.instructions, second.stats.instructions);
    }

    #[test]
    fn pipes_are_never_slower_than_one_after_another(shape in shape(), mut timing in timing()) {
        // Without the cycles of signals, which the sequential semantics does not spend.
        (timing.cycles, timing.latency) = (0, 0);
        let pipes = run_once(&shape, &timing, 1, 1, ExecutionMode::Pipes);
        let sequential = run_once(&shape, &timing, 1, 1, ExecutionMode::Sequential);
        prop_assert!(pipes.cycles <= sequential.cycles);
    }

    /// Arbitrary instructions: findings, but no panic and no hang.
    #[test]
    fn arbitrary_programs_come_to_an_end(
        insts in proptest::collection::vec((0..11u8, any::<u8>(), any::<u8>()), 0..30), sequential in any::<bool>(),
    ) {
        let mut b = Build::default();
        let token = b.token(Role::Aiv0, 0);
        let syncs = [b.event(Role::Aiv0, Pipe::V, Pipe::Mte3, 0), b.event(Role::Aiv1, Pipe::V, Pipe::Mte2, 0), b.semaphore(Role::Aiv0, Role::Aiv1, 0)];
        let pipes = [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3];
        for role in [Role::Aiv0, Role::Aiv1] {
            b.core(role, |c| {
                let r = c.mov(imm(3));
                let here = (Space::Vec, role);
                for (what, x, y) in &insts {
                    let pipe = pipes[usize::from(*x) % 4];
                    let sync = syncs[usize::from(*y) % 3];
                    match what {
                        0 => c.set(pipe, sync),
                        1 => c.wait(pipe, sync),
                        2 => c.barrier(Some(pipe)),
                        3 => c.barrier(None),
                        4 => c.copy(pipe, (here, imm(u64::from(*x) * 1024)), (here, imm(u64::from(*y) * 512)), u64::from(*y)),
                        5 => drop(c.emit(Inst::Add { d: r, a: Operand::Reg(r), b: imm(u64::MAX) })),
                        6 => drop(c.emit(Inst::JumpIfGe { a: Operand::Reg(r), b: imm(1), to: u32::from(*x) % 20 })),
                        7 => c.set(pipe, nth(sync, Operand::Reg(r))),
                        8 if pipe != Pipe::S => {
                            let waits = x % 8 < 4;
                            c.emit(Inst::Acquire { pipe, token, waits });
                        }
                        9 if pipe != Pipe::S => {
                            c.emit(Inst::Release { pipe, token, deferred: x % 8 < 4 });
                        }
                        _ => c.mix(pipe, (here, Operand::Reg(r)), (here, imm(u64::from(*x))), u64::from(*y)),
                    }
                }
            });
        }
        let platform = a5();
        let mode = if sequential { ExecutionMode::Sequential } else { ExecutionMode::Pipes };
        let limits = Limits { steps: 5000, cycles: 1 << 30, ..Limits::default() };
        let launch = Launch::new(&b.program, &platform, 2, vec![]).mode(mode).limits(limits);
        let run = || run(&launch, memory(&platform, 2, vec![]), &mut ());
        let (first, second) = (run(), run());
        prop_assert_eq!(first.complete, first.findings.iter().all(|f| f.severity < Severity::Error || is_left_over(f.code)));
        prop_assert_eq!(first.findings, second.findings);
        prop_assert_eq!(first.stats, second.stats);
    }
}

fn is_left_over(code: &str) -> bool {
    ["flag-left-set", "signal-left-over", "token-not-released"].contains(&code)
}
