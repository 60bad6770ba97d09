//! The effect of each instruction, and its timing.

use crate::kit;

use kit::*;
use slipring_machine::{Cost, Pipe, Role, Units};
use slipring_program::*;
use slipring_sim::*;
use slipring_tile::Space;

const A: Role = Role::Aiv0;

fn u64_at(result: &RunResult, buffer: usize, offset: usize) -> u64 {
    u64::from_le_bytes(result.memory.gm[buffer].data[offset..offset + 8].try_into().unwrap())
}

fn clean(result: &RunResult) {
    assert!(result.complete && result.findings.is_empty(), "{:#?}", result.findings);
}

#[test]
fn scalar_loops_compute_and_store() {
    let mut b = Build::default();
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        let sum = c.mov(imm(0));
        c.repeat(imm(10), |c, i| {
            c.emit(Inst::Add { d: sum, a: Operand::Reg(sum), b: i });
        });
        let square = c.calc(|[a, b, _]| Ok(a * b), Operand::Reg(sum), Operand::Reg(sum));
        c.store((GM, out), square);
    });
    let result = go(&b, &a5(), vec![zeros("out", 8)]);
    clean(&result);
    assert_eq!(u64_at(&result, 0, 0), 45 * 45);
}

#[test]
fn a_load_gives_its_register_the_value_that_memory_holds() {
    let mut b = Build::default();
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        let first = c.load((GM, out));
        let more = c.plus(first, 5);
        let next = c.plus(out, 8);
        c.store((GM, next), more);
    });
    let mut buffer = zeros("x", 16);
    buffer.data[0] = 37;
    let result = go(&b, &a5(), vec![buffer]);
    clean(&result);
    assert_eq!(u64_at(&result, 0, 8), 42);
    // 3 register instructions and two accesses of the platform's cost for scalar accesses.
    assert_eq!(result.cycles, 3 + 2 * 20);
}

#[test]
fn pipes_run_side_by_side_and_each_in_order() {
    let run = |second: Pipe| {
        let mut b = Build::default();
        b.core(A, |c| {
            c.copy(Pipe::Mte2, (UB0, imm(0)), (UB0, imm(1024)), 64);
            c.copy(second, (UB0, imm(2048)), (UB0, imm(4096)), 64);
        });
        let result = go(&b, &a5(), vec![]);
        clean(&result);
        result.cycles
    };
    // A copy of 64 bytes takes 11 cycles; the second is issued one cycle after the first.
    assert_eq!(run(Pipe::V), 12);
    assert_eq!(run(Pipe::Mte2), 22);
}

#[test]
fn operands_are_those_of_the_issue() {
    let mut b = Build::default();
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        let from = c.mov(imm(0));
        c.repeat(imm(4), |c, i| {
            let to = c.calc(|[a, b, _]| Ok(a + b * 64), out, i);
            c.copy(Pipe::Mte3, (UB0, Operand::Reg(from)), (GM, to), 64);
            c.emit(Inst::Add { d: from, a: Operand::Reg(from), b: imm(64) });
        });
        c.emit(Inst::Move { d: from, a: imm(9999) });
    });
    let platform = a5();
    let launch = Launch::new(&b.program, &platform, 1, vec![ArgValue::Buffer(0)]);
    let mut mem = memory(&platform, 1, vec![zeros("out", 256)]);
    let env = Env { block: 0, core: A };
    let bytes: Vec<u8> = (0..=255).collect();
    mem.bytes_mut(env, A, Space::Vec, 0, 256).copy_from_slice(&bytes);
    let result = run(&launch, mem, &mut ());
    clean(&result);
    assert_eq!(result.memory.gm[0].data, bytes);
}

#[test]
fn an_event_holds_a_pipe_until_the_other_is_done() {
    let mut b = Build::default();
    let ready = b.event(A, Pipe::Mte2, Pipe::Mte3, 0);
    b.core(A, |c| {
        let (x, y) = (c.special(Special::Param(0)), c.special(Special::Param(1)));
        c.copy(Pipe::Mte2, (GM, x), (UB0, imm(0)), 640);
        c.set(Pipe::Mte2, ready);
        c.wait(Pipe::Mte3, ready);
        c.copy(Pipe::Mte3, (UB0, imm(0)), (GM, y), 640);
    });
    let result = go(&b, &a5(), vec![buffer("x", 640), zeros("y", 640)]);
    clean(&result);
    assert_eq!(result.memory.gm[1].data, result.memory.gm[0].data);
    // Issue at 2; a copy of 640 bytes takes 20 cycles; the set 1, the wait 1.
    assert_eq!(result.cycles, 2 + 20 + 1 + 1 + 20);
    let mte3 = &result.stats.cores[0].pipes.iter().find(|p| p.pipe == Pipe::Mte3).unwrap();
    assert_eq!(mte3.stalls.event, 23 - 4, "from its issue at 4 until the flag is there at 23");
    assert_eq!((mte3.busy, mte3.operations, mte3.read, mte3.written), (20, 1, 640, 640));
}

#[test]
fn a_signal_takes_its_time_to_another_core() {
    let mut b = Build::default();
    let go_on = b.semaphore(Role::Aic, A, 3);
    b.core(Role::Aic, |c| c.set(Pipe::S, go_on));
    b.core(A, |c| c.wait(Pipe::S, go_on));
    let result = go(&b, &a5(), vec![]);
    clean(&result);
    assert_eq!(result.cycles, 1 + 16 + 1, "set, latency, wait");
    assert_eq!(result.stats.cores[1].pipes[0].stalls.semaphore, 17);
}

#[test]
fn a_wait_of_the_scalar_unit_holds_what_it_would_issue() {
    let mut b = Build::default();
    let done = b.event(A, Pipe::Mte2, Pipe::S, 0);
    b.core(A, |c| {
        let x = c.special(Special::Param(0));
        c.copy(Pipe::Mte2, (GM, x), (UB0, imm(0)), 64);
        c.set(Pipe::Mte2, done);
        c.wait(Pipe::S, done);
        let value = c.load((UB0, imm(0)));
        let to = c.plus(x, 8);
        c.store((GM, to), value);
    });
    let result = go(&b, &a5(), vec![buffer("x", 64)]);
    clean(&result);
    assert_eq!(result.memory.gm[0].data[8..16], result.memory.gm[0].data[..8]);
}

#[test]
fn a_full_queue_holds_the_scalar_unit() {
    let mut platform = a5();
    platform.pipes.queue_depth = 2;
    let mut b = Build::default();
    b.core(A, |c| c.repeat(imm(5), |c, _| c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(64)), 64)));
    let result = go(&b, &platform, vec![]);
    clean(&result);
    let scalar = &result.stats.cores[0].pipes[0];
    assert!(scalar.stalls.queue_full > 0);
    let deep = go(&b, &a5(), vec![]);
    assert_eq!(deep.stats.cores[0].pipes[0].stalls.queue_full, 0);
    // The pipe works without a gap in either case: Move and JumpIfGe precede the first issue.
    assert_eq!((result.cycles, deep.cycles), (2 + 5 * 11, 2 + 5 * 11));
}

#[test]
fn a_barrier_of_all_pipes_drains_them() {
    let mut b = Build::default();
    b.core(A, |c| {
        c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(64)), 64);
        c.barrier(None);
        c.copy(Pipe::Mte2, (UB0, imm(0)), (UB0, imm(128)), 64);
    });
    let result = go(&b, &a5(), vec![]);
    clean(&result);
    assert_eq!(result.cycles, 11 + 11);
    assert_eq!(result.stats.cores[0].pipes[0].stalls.drain, 10);
}

#[test]
fn a_barrier_of_a_pipe_holds_later_work_of_that_pipe_only() {
    let mut b = Build::default();
    b.core(A, |c| {
        c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(64)), 64);
        c.barrier(Some(Pipe::V));
        c.copy(Pipe::V, (UB0, imm(64)), (UB0, imm(128)), 64);
        c.copy(Pipe::Mte2, (UB0, imm(512)), (UB0, imm(1024)), 64);
    });
    let result = go(&b, &a5(), vec![]);
    clean(&result);
    assert_eq!(result.cycles, 11 + 1 + 11);
}

#[test]
fn an_acquire_comes_after_the_releases_issued_before_it() {
    // V is busy when MTE3 reaches its acquire: MTE3 must still wait for V's release.
    let mut b = Build::default();
    let token = b.token(A, 7);
    b.core(A, |c| {
        let x = c.special(Special::Param(0));
        c.acquire(Pipe::Mte2, token);
        c.copy(Pipe::Mte2, (GM, x), (UB0, imm(0)), 64);
        c.release(Pipe::Mte2, token);
        c.copy(Pipe::V, (UB0, imm(4096)), (UB0, imm(8192)), 6400);
        c.acquire(Pipe::V, token);
        c.mix(Pipe::V, (UB0, imm(0)), (UB0, imm(0)), 64);
        c.release(Pipe::V, token);
        c.acquire(Pipe::Mte3, token);
        let y = c.plus(x, 64);
        c.copy(Pipe::Mte3, (UB0, imm(0)), (GM, y), 64);
        c.release(Pipe::Mte3, token);
    });
    let result = go(&b, &a5(), vec![buffer("x", 128)]);
    clean(&result);
    let expected: Vec<u8> = (0..64u8).map(|x| x.wrapping_mul(31).wrapping_add(x).wrapping_add(1)).collect();
    assert_eq!(result.memory.gm[0].data[64..], expected);
}

/// Cycle at which each work completes, in order of completion: pipe and cycle.
#[derive(Default)]
struct Ends(Vec<(Pipe, u64)>);

impl Observer for Ends {
    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        self.0.push((run.agent.pipe, at));
    }
}

/// The end of the last op instance of each pipe: (MTE2, V, MTE3). Copies of 64 bytes take 11 cycles, of 6400 bytes 110.
fn ends(write: impl FnOnce(&mut Code<'_>, Sync, Sync)) -> [u64; 3] {
    let mut b = Build::default();
    let (one, two) = (b.token(A, 0), b.token(A, 1));
    b.core(A, |c| write(c, one, two));
    let platform = a5();
    let launch = Launch::new(&b.program, &platform, 1, vec![]);
    let mut ends = Ends::default();
    let result = run(&launch, memory(&platform, 1, vec![]), &mut ends);
    assert!(result.findings.is_empty(), "{:#?}", result.findings);
    let last = |pipe| ends.0.iter().filter(|(of, _)| *of == pipe).map(|(_, at)| *at).max().unwrap_or(0);
    [Pipe::Mte2, Pipe::V, Pipe::Mte3].map(last)
}

fn long(c: &mut Code<'_>, pipe: Pipe) {
    c.copy(pipe, (UB0, imm(0)), (UB0, imm(8192)), 6400);
}

fn short(c: &mut Code<'_>, pipe: Pipe) {
    c.copy(pipe, (UB0, imm(16384)), (UB0, imm(20480)), 64);
}

#[test]
fn an_acquire_does_not_wait_for_later_releases() {
    let [_, v, _] = ends(|c, one, _| {
        c.acquire(Pipe::Mte2, one);
        c.acquire(Pipe::V, one);
        long(c, Pipe::Mte2);
        short(c, Pipe::V);
        c.release(Pipe::Mte2, one);
        c.release(Pipe::V, one);
    });
    assert!(v < 30, "V waited for a release that comes after its acquire: {v}");
}

#[test]
fn an_acquire_waits_for_its_own_buffer_only() {
    let [_, v, mte3] = ends(|c, one, two| {
        for (pipe, token, is_long) in [(Pipe::Mte2, one, true), (Pipe::V, two, false), (Pipe::Mte3, one, false)] {
            c.acquire(pipe, token);
            if is_long {
                long(c, pipe)
            } else {
                short(c, pipe)
            }
            c.release(pipe, token);
        }
    });
    assert!(v < 30 && mte3 > 110, "{v} {mte3}");
}

#[test]
fn all_earlier_releases_count_and_not_just_as_many() {
    // V's release is done long before MTE2's, and MTE3's acquire was issued between the two.
    let [.., mte3] = ends(|c, one, _| {
        c.acquire(Pipe::Mte2, one);
        c.acquire(Pipe::V, one);
        long(c, Pipe::Mte2);
        short(c, Pipe::V);
        c.release(Pipe::Mte2, one);
        c.acquire(Pipe::Mte3, one);
        c.release(Pipe::V, one);
        short(c, Pipe::Mte3);
        c.release(Pipe::Mte3, one);
    });
    assert!(mte3 > 110, "{mte3}");
}

#[test]
fn mode_1_does_not_block_and_releases_for_all() {
    let program = |waits, deferred| {
        ends(move |c, one, _| {
            c.acquire(Pipe::Mte2, one);
            long(c, Pipe::Mte2);
            c.emit(Inst::Acquire { pipe: Pipe::V, token: one, waits });
            short(c, Pipe::V);
            c.emit(Inst::Release { pipe: Pipe::V, token: one, deferred });
            // Operations of MTE2 after the release do not count.
            long(c, Pipe::Mte2);
            c.acquire(Pipe::Mte3, one);
            short(c, Pipe::Mte3);
            c.release(Pipe::Mte3, one);
            c.release(Pipe::Mte2, one);
        })
    };
    let [_, v, mte3] = program(false, false);
    assert!(v < 30 && mte3 < 60, "V signals for itself alone: {v} {mte3}");
    let [_, v, mte3] = program(false, true);
    assert!(v < 30 && (111..180).contains(&mte3), "V signals once MTE2 is done with what it had: {v} {mte3}");

    // A closed bracket of another pipe: an acquire of mode 1 does not wait for it, one of mode 0 does.
    let bracket = |waits| {
        ends(move |c, one, _| {
            c.acquire(Pipe::Mte2, one);
            long(c, Pipe::Mte2);
            c.release(Pipe::Mte2, one);
            c.emit(Inst::Acquire { pipe: Pipe::V, token: one, waits });
            short(c, Pipe::V);
            c.release(Pipe::V, one);
        })
    };
    assert!(bracket(false)[1] < 30);
    assert!(bracket(true)[1] > 110);
}

#[test]
fn blocks_know_their_number_and_start_when_a_vector_core_is_free() {
    let mut platform = a5();
    platform.clusters = 2;
    let mut b = Build::default();
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        let scale = c.special(Special::Param(1));
        let index = c.special(Special::BlockIdx);
        let count = c.special(Special::BlockNum);
        let seen = c.load((UB0, imm(0)));
        c.store((UB0, imm(0)), imm(77));
        let to = c.calc(|[a, b, _]| Ok(a + 8 * b), out, index);
        let value = c.calc(|[a, b, _]| Ok(100 * a + b), index, count);
        let value = c.calc(|[a, b, _]| Ok(a + 1000 * b), value, seen);
        let value = c.calc(|[a, b, _]| Ok(a * b), value, scale);
        c.store((GM, to), value);
    });
    let launch = Launch::new(&b.program, &platform, 5, vec![ArgValue::Buffer(0), ArgValue::Scalar(3)]);
    // Each of the two clusters has two Vector cores, and a block of this program needs one.
    assert_eq!(launch.clusters(), 4);
    let result = run(&launch, memory(&platform, launch.clusters(), vec![zeros("out", 40)]), &mut ());
    clean(&result);
    for block in 0..5 {
        assert_eq!(u64_at(&result, 0, 8 * block as usize), 3 * (100 * block + 5), "local memory starts at zero");
    }
    let one = result.stats.blocks[0].end.unwrap();
    let starts: Vec<_> = result.stats.blocks.iter().map(|b| (b.block, b.cluster, b.start)).collect();
    assert_eq!(starts, [(0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 0, one)]);
    assert_eq!(result.cycles, 2 * one);
}

#[test]
fn lanes_know_which_they_are() {
    let mut b = Build::default();
    for role in [Role::Aiv0, Role::Aiv1] {
        b.core(role, |c| {
            let out = c.special(Special::Param(0));
            let (lane, lanes) = (c.special(Special::SubblockIdx), c.special(Special::SubblockNum));
            let to = c.calc(|[a, b, _]| Ok(a + 8 * b), out, lane);
            let value = c.calc(|[a, b, _]| Ok(10 * a + b), lanes, lane);
            c.store((GM, to), value);
        });
    }
    let result = go(&b, &a5(), vec![zeros("out", 16)]);
    clean(&result);
    assert_eq!((u64_at(&result, 0, 0), u64_at(&result, 0, 8)), (20, 21));
}

#[test]
fn work_is_carried_out_when_it_completes() {
    // MTE3 reads while V is still working on the same bytes: it sees the previous contents.
    let mut b = Build::default();
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        c.copy(Pipe::V, (UB0, imm(6400)), (UB0, imm(0)), 6400);
        c.copy(Pipe::Mte3, (UB0, imm(0)), (GM, out), 64);
    });
    let platform = a5();
    let launch = Launch::new(&b.program, &platform, 1, vec![ArgValue::Buffer(0)]);
    let mut mem = memory(&platform, 1, vec![zeros("out", 64)]);
    mem.bytes_mut(Env { block: 0, core: A }, A, Space::Vec, 6400, 6400).fill(9);
    let result = run(&launch, mem, &mut ());
    assert_eq!(result.memory.gm[0].data, [0; 64]);
}

#[test]
fn in_sequence_everything_completes_before_the_next() {
    // The same race has a defined result in program order.
    let mut b = Build::default();
    let flag = b.event(A, Pipe::Mte3, Pipe::V, 0);
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        c.wait(Pipe::V, flag);
        c.mix(Pipe::V, (UB0, imm(6400)), (UB0, imm(0)), 6400);
        c.copy(Pipe::Mte3, (UB0, imm(0)), (GM, out), 64);
        c.barrier(None);
    });
    let result = go_with(&b, &a5(), vec![zeros("out", 64)], ExecutionMode::Sequential, &mut ());
    clean(&result);
    assert_eq!(result.memory.gm[0].data, [1; 64]);
}

#[test]
fn in_sequence_a_core_runs_until_it_must_wait_for_another() {
    #[derive(Default)]
    struct Order(Vec<Role>);
    impl Observer for Order {
        fn end(&mut self, _: u64, run: &WorkRun<'_>) {
            self.0.push(run.agent.role);
        }
    }
    let mut b = Build::default();
    let ring = b.ring((Role::Aic, Pipe::Fix), (A, Pipe::V), 2, 64, UB0, 0);
    b.core(Role::Aic, |c| c.repeat(imm(5), |c, i| c.push(&ring, i, (L1, imm(0)))));
    b.core(A, |c| {
        c.initialize(&ring);
        c.repeat(imm(5), |c, i| {
            c.pop(&ring, i, (UB0, imm(4096)));
            c.free(&ring, i);
        });
    });
    let mut order = Order::default();
    let result = go_with(&b, &a5(), vec![], ExecutionMode::Sequential, &mut order);
    clean(&result);
    use Role::{Aic as C, Aiv0 as V};
    assert_eq!(order.0, [C, C, V, V, C, C, V, V, C, V]);
}

#[test]
fn observers_see_everything_in_the_order_of_time() {
    #[derive(Default)]
    struct Log(Vec<(u64, String)>);
    impl Observer for Log {
        fn issue(&mut self, at: u64, to: Agent, step: Issued, _: SiteRef) {
            self.0.push((at, format!("issue {step:?} to {}", to.pipe)));
        }
        fn start(&mut self, at: u64, run: &WorkRun<'_>) {
            self.0.push((at, format!("start {} {}", run.work.name, run.access.writes[0].start)));
        }
        fn end(&mut self, at: u64, run: &WorkRun<'_>) {
            self.0.push((at, format!("end {}", run.work.name)));
        }
        fn set(&mut self, at: u64, agent: Agent, sync: u32, _: bool, _: SiteRef) {
            self.0.push((at, format!("set {sync} by {}", agent.pipe)));
        }
        fn wait(&mut self, at: u64, agent: Agent, sync: u32, _: SiteRef) {
            self.0.push((at, format!("wait {sync} of {}", agent.pipe)));
        }
        fn stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, _: SiteRef) {
            self.0.push((to, format!("stall {} {from} {cause:?}", agent.pipe)));
        }
    }
    let mut b = Build::default();
    let ready = b.event(A, Pipe::V, Pipe::Mte3, 0);
    b.core(A, |c| {
        c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(64)), 64);
        c.set(Pipe::V, ready);
        c.wait(Pipe::Mte3, ready);
    });
    let mut log = (Log::default(), ());
    clean(&go_with(&b, &a5(), vec![], ExecutionMode::Pipes, &mut log));
    let seen: Vec<_> = log.0.0.iter().map(|(at, what)| (*at, what.as_str())).collect();
    let expected = [
        (0, "issue Work(0) to V"),
        (0, "start copy 64"),
        (1, "issue Set(0) to V"),
        (2, "issue Wait(0) to MTE3"),
        (11, "end copy"),
        (11, "set 0 by V"),
        (12, "stall MTE3 2 Wait(0)"),
        (13, "wait 0 of MTE3"),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn constant_plans_are_made_once_and_count_every_time() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static PLANS: AtomicU32 = AtomicU32::new(0);
    #[derive(Debug)]
    struct Counted;
    impl Effect for Counted {
        fn plan(&self, _: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
            PLANS.fetch_add(1, Ordering::Relaxed);
            access.writes.push(Extent::run(Space::Vec, A, 0, 32));
            access.units = Units::of(3);
            Ok(())
        }
        fn run(&self, _: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
            memory.bytes_mut(env, A, Space::Vec, 0, 32)[0] += 1;
            Ok(0)
        }
    }
    let mut b = Build::default();
    b.core(A, |c| {
        c.repeat(imm(9), |c, _| c.work(Pipe::V, "counted", Counted, &[imm(1)], Cost { fixed: 1, num: 2, den: 1 }))
    });
    let result = go(&b, &a5(), vec![]);
    clean(&result);
    assert_eq!(PLANS.load(Ordering::Relaxed), 1);
    assert_eq!(result.memory.bytes(Env { block: 0, core: A }, A, Space::Vec, 0, 1), [9]);
    let op = &result.stats.ops[0];
    assert_eq!((op.name, op.count, op.cycles, op.written), ("counted", 9, 9 * 7, 9 * 32));
}

#[test]
fn a_launch_of_nothing_is_over_at_once() {
    let b = Build::default();
    for blocks in [0, 1, 100] {
        let platform = a5();
        let result = run(&Launch::new(&b.program, &platform, blocks, vec![]), Memory::default(), &mut ());
        clean(&result);
        assert_eq!(result.cycles, 0);
    }
}
