//! Every kind of failure of a program is a finding that states what happened, where and why.

mod left_over;

use crate::kit;

use kit::*;
use slipring_machine::{Cost, Pipe, Role};
use slipring_program::*;
use slipring_sim::*;
use slipring_tile::Space;

const C: Role = Role::Aic;
const A: Role = Role::Aiv0;
const B: Role = Role::Aiv1;

/// The only finding of a run that did not complete.
fn failure(build: &Build, buffers: Vec<GmBuffer>) -> Finding {
    let mut result = go(build, &a5(), buffers);
    assert!(!result.complete);
    assert_eq!(result.findings.len(), 1, "{:#?}", result.findings);
    result.findings.remove(0)
}

/// The only finding of a run that completed.
fn left_over(build: &Build) -> Finding {
    let mut result = go(build, &a5(), vec![]);
    assert!(result.complete, "{:#?}", result.findings);
    assert_eq!(result.findings.len(), 1, "{:#?}", result.findings);
    result.findings.remove(0)
}

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

fn hint(finding: &Finding, part: &str) {
    has(finding.hint.as_deref().unwrap_or(""), part);
}

fn note(finding: &Finding, part: &str) {
    assert!(finding.notes.iter().any(|n| n.contains(part)), "`{part}` is not in: {:#?}", finding.notes);
}

fn primary<'a>(build: &'a Build, finding: &Finding) -> &'a str {
    build.op(finding.primary.as_ref().expect("a place").site)
}

#[test]
fn an_access_beyond_a_local_memory() {
    let mut b = Build::default();
    b.core(A, |c| c.op("tmov").copy(Pipe::V, (UB0, imm(0)), (UB0, imm(253952 - 32)), 64));
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("memory-bounds", "tmov"));
    has(
        &f.message,
        "writes 64 bytes at address 0x3dfe0 of `vec` of AIV0, which has 253952 bytes: 32 bytes beyond its end",
    );
}

#[test]
fn an_access_beyond_a_buffer_and_before_it() {
    let access = |offset: i64| {
        let mut b = Build::default();
        b.core(A, |c| {
            let x = c.special(Special::Param(0));
            let from = c.plus(x, offset as u64);
            c.op("tload").copy(Pipe::Mte2, (GM, from), (UB0, imm(0)), 64);
        });
        failure(&b, vec![buffer("x", 100), buffer("y", 1000)])
    };
    has(&access(40).message, "reads 64 bytes at byte 40 of buffer `x`, which has 100 bytes: 4 bytes beyond its end");
    has(&access(-8).message, "64 bytes at byte -8 of buffer `x`, which has 100 bytes: 8 bytes before its start");
}

#[test]
fn an_address_of_nothing() {
    let mut b = Build::default();
    b.core(A, |c| c.copy(Pipe::Mte2, (GM, imm(4096)), (UB0, imm(0)), 64));
    has(&failure(&b, vec![]).message, "at address 0x1000, which belongs to no buffer");
    let mut b = Build::default();
    b.core(A, |c| c.copy(Pipe::V, (L1, imm(0)), ((Space::Vec, C), imm(0)), 64));
    has(&failure(&b, vec![]).message, "in `vec` of AIC, which has no such memory");
}

#[test]
fn an_empty_access_needs_a_place_too() {
    let access = |at: u64| {
        let mut b = Build::default();
        b.core(A, |c| c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(at)), 0));
        go(&b, &a5(), vec![]).complete
    };
    assert!(access(253952));
    assert!(!access(253953));
}

#[test]
fn strided_ranges_are_checked_to_their_last_row() {
    #[derive(Debug)]
    struct Rows;
    impl Effect for Rows {
        fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
            let range = Extent { rows: 4, row_bytes: 32, stride: args[0], ..Extent::run(Space::Vec, A, 0, 0) };
            access.reads.push(range);
            Ok(())
        }
        fn run(&self, _: &[u64], _: Run<'_>) -> Result<u64, Fault> {
            Ok(0)
        }
    }
    for (stride, fits) in [((253952 - 32) / 3, true), ((253952 - 32) / 3 + 1, false), (u64::MAX / 2, false)] {
        let mut b = Build::default();
        b.core(A, |c| c.work(Pipe::V, "rows", Rows, &[imm(stride)], Cost::fixed(1)));
        let result = go(&b, &a5(), vec![]);
        assert_eq!(result.complete, fits, "{:?}", result.findings);
    }
}

#[test]
fn an_effect_that_refuses() {
    let mut b = Build::default();
    b.core(A, |c| c.op("tadd").work(Pipe::V, "tadd", Refuse, &[], Cost::fixed(1)));
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("tile-shape", "tadd"));
    assert_eq!(f.message, "tadd: a valid shape of 9 rows in a tile of 8");
}

#[test]
fn a_flag_set_twice() {
    let mut b = Build::default();
    let flag = b.event(A, Pipe::V, Pipe::Mte3, 2);
    b.core(A, |c| {
        c.op("first").set(Pipe::V, flag);
        c.op("second").set(Pipe::V, flag);
        c.op("wait").wait(Pipe::S, flag);
    });
    // The scalar unit issues the wait after both sets.
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("flag-overflow", "second"));
    assert_eq!(b.op(f.secondary[0].site), "first");
    has(&f.message, "pipe V of AIV0 sets flag V→MTE3 id 2 of AIV0, but it is still set");
    hint(&f, "or use another id");
}

#[test]
fn a_saturating_flag_loses_the_second_set() {
    let mut b = Build::default();
    let flag = b.event(A, Pipe::V, Pipe::Mte3, 2);
    b.program.syncs[0].saturates = true;
    b.core(A, |c| {
        c.set(Pipe::V, flag);
        c.set(Pipe::V, flag);
        c.barrier(None);
        c.wait(Pipe::Mte3, flag);
    });
    let result = go(&b, &a5(), vec![]);
    assert!(result.complete && result.findings.is_empty());
}

#[test]
fn a_counter_at_its_maximum() {
    let mut b = Build::default();
    let count = b.semaphore(C, A, 5);
    b.core(C, |c| c.repeat(imm(16), |c, _| c.op("set").set(Pipe::S, count)));
    b.core(A, |c| c.repeat(imm(16), |c, _| c.wait(Pipe::S, nth(count, imm(0)))));
    let result = go(&b, &a5(), vec![]);
    assert!(result.complete, "the waiter keeps up: {:#?}", result.findings);
    let mut b = Build::default();
    let count = b.semaphore(C, A, 5);
    b.core(C, |c| c.repeat(imm(16), |c, _| c.op("set").set(Pipe::S, count)));
    b.core(A, |_| {});
    let f = failure(&b, vec![]);
    assert_eq!(f.code, "flag-overflow");
    has(&f.message, "it is at its maximum of 15");
}

#[test]
fn a_free_without_a_pop() {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    b.core(C, |_| {});
    b.core(A, |c| {
        c.initialize(&ring);
        c.free(&ring, imm(0));
    });
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("flag-overflow", "tfree"));
    assert_eq!(b.op(f.secondary[0].site), "initialize_pipe");
    hint(&f, "each free needs a pop before it");
}

#[test]
fn a_pop_without_a_push() {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    b.core(C, |c| c.repeat(imm(2), |c, i| c.push(&ring, i, (L1, imm(0)))));
    b.core(A, |c| {
        c.initialize(&ring);
        c.repeat(imm(3), |c, i| {
            c.pop(&ring, i, (UB0, imm(4096)));
            c.free(&ring, i);
        });
    });
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("deadlock", "tpop"));
    has(&f.message, "pipe V of AIV0 waits for ready flag of slot 2 of ring `ring0`");
    note(&f, "AIC would signal it, but its program has ended");
    hint(&f, "AIV0 pops tile 3 of `ring0`, but AIC has pushed only 2");
}

#[test]
fn a_ring_that_nobody_initialised() {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    b.core(C, |c| c.push(&ring, imm(0), (L1, imm(0))));
    b.core(A, |c| c.pop(&ring, imm(0), (UB0, imm(4096))));
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("deadlock", "tpush"));
    note(&f, "pipe FIX of AIC waits for free flag of slot 0 of ring `ring0`");
    note(&f, "nothing in the program of AIV0 sets it");
    hint(&f, "AIV0 must initialise its end of the pipe");
    assert!(f.secondary.iter().any(|l| b.op(l.site) == "tpop"));
}

#[test]
fn a_consumer_that_never_frees() {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    b.core(C, |c| c.repeat(imm(6), |c, i| c.push(&ring, i, (L1, imm(0)))));
    b.core(A, |c| {
        c.initialize(&ring);
        c.repeat(imm(6), |c, i| c.pop(&ring, i, (UB0, imm(4096))));
    });
    let f = failure(&b, vec![]);
    assert_eq!(f.code, "deadlock");
    assert_eq!(primary(&b, &f), "tpush");
    hint(&f, "AIC has pushed 4 tiles and AIV0 has popped 4; AIV0 must free");
}

#[test]
fn both_cores_pop_before_they_push() {
    let mut b = Build::default();
    let down = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    let up = b.ring((A, Pipe::Mte3), (C, Pipe::Mte1), 4, 64, L1, 0);
    b.core(C, |c| {
        c.initialize(&up);
        c.pop(&up, imm(0), (L1, imm(4096)));
        c.barrier(None);
        c.push(&down, imm(0), (L1, imm(4096)));
    });
    b.core(A, |c| {
        c.initialize(&down);
        c.pop(&down, imm(0), (UB0, imm(4096)));
        c.barrier(None);
        c.push(&up, imm(0), (UB0, imm(4096)));
    });
    let f = failure(&b, vec![]);
    assert_eq!(f.code, "deadlock");
    has(&f.message, "wait for each other");
    note(
        &f,
        "circular wait: the scalar unit of AIC → pipe MTE1 of AIC → the scalar unit of AIV0 → pipe V of AIV0 → \
         the scalar unit of AIC",
    );
    assert_eq!(primary(&b, &f), "tpop");
    assert!(f.secondary.iter().any(|l| l.text == "this would signal it"));
    hint(&f, "check the order of pushes and pops on both sides");
}

#[test]
fn an_event_that_is_never_set() {
    let mut b = Build::default();
    let flag = b.event(A, Pipe::Mte2, Pipe::V, 1);
    b.core(A, |c| {
        c.op("wait_flag").wait(Pipe::V, flag);
        c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(64)), 64);
    });
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("deadlock", "wait_flag"));
    has(
        &f.message,
        "pipe V of AIV0 waits for flag MTE2→V id 1 of AIV0 (count 0; set 0 times, waited for 0 times) forever",
    );
    note(&f, "the program of AIV0 has ended");
    hint(&f, "a set of flag 1 from MTE2 to V");
}

#[test]
fn a_set_behind_its_own_wait() {
    let mut b = Build::default();
    let flag = b.event(A, Pipe::V, Pipe::V, 0);
    b.core(A, |c| {
        c.op("wait_flag").wait(Pipe::V, flag);
        c.op("set_flag").set(Pipe::V, flag);
    });
    let f = failure(&b, vec![]);
    note(&f, "circular wait: pipe V of AIV0 → pipe V of AIV0");
    note(&f, "the signal would come from pipe V of AIV0, which stands at `wait_flag`");
}

#[test]
fn a_core_that_takes_no_part() {
    let mut b = Build::default();
    let sync = b.semaphore(C, A, 0);
    b.core(A, |c| c.wait(Pipe::S, sync));
    note(&failure(&b, vec![]), "AIC would signal it, but takes no part in the program");
}

#[test]
fn a_full_queue_is_part_of_the_story() {
    let mut b = Build::default();
    let flag = b.event(A, Pipe::Mte2, Pipe::V, 0);
    b.core(A, |c| {
        c.op("wait_flag").wait(Pipe::V, flag);
        c.op("tadd").repeat(imm(40), |c, _| c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(64)), 64));
        c.op("set_flag").set(Pipe::Mte2, flag);
    });
    let f = failure(&b, vec![]);
    note(
        &f,
        "the scalar unit of AIV0 waits for room in the queue of pipe V; held up by pipe V of AIV0, which stands at `wait_flag`",
    );
    note(&f, "the signal would come from the scalar unit of AIV0, which stands at `tadd`");
}

#[test]
fn tokens_that_are_not_given_back() {
    let mut b = Build::default();
    let token = b.token(A, 3);
    b.core(A, |c| {
        c.op("get_buf").acquire(Pipe::Mte2, token);
        c.op("get_for_v").acquire(Pipe::V, token);
        c.op("rls_buf").release(Pipe::Mte2, token);
    });
    let f = left_over(&b);
    assert_eq!((f.code, primary(&b, &f)), ("token-not-released", "get_for_v"));
    has(&f.message, "buffer token 3 of AIV0 is still held by pipe V when the program ends");

    // The second of two acquires has no release, even if it does not block.
    let mut b = Build::default();
    let token = b.token(A, 3);
    b.core(A, |c| {
        c.op("first").acquire(Pipe::V, token);
        c.op("second").emit(Inst::Acquire { pipe: Pipe::V, token, waits: false });
        c.op("rls_buf").release(Pipe::V, token);
    });
    let f = left_over(&b);
    assert_eq!((f.code, primary(&b, &f)), ("token-not-released", "second"));

    let mut b = Build::default();
    let token = b.token(A, 3);
    b.core(A, |c| {
        c.op("get_buf").acquire(Pipe::V, token);
        c.op("rls_buf").release(Pipe::Mte2, token);
    });
    let f = failure(&b, vec![]);
    assert_eq!((f.code, primary(&b, &f)), ("token-not-held", "rls_buf"));
    has(&f.message, "pipe MTE2 of AIV0 releases buffer token 3 of AIV0, which it does not hold");
    has(&f.secondary[0].text, "pipe V holds it");
}

#[test]
fn an_acquire_behind_a_pipe_that_waits_for_it() {
    let mut b = Build::default();
    let token = b.token(A, 3);
    let event = b.event(A, Pipe::V, Pipe::Mte2, 0);
    b.core(A, |c| {
        c.op("get_buf").acquire(Pipe::Mte2, token);
        c.op("wait_flag").wait(Pipe::Mte2, event);
        c.op("rls_buf").release(Pipe::Mte2, token);
        c.op("get_for_v").acquire(Pipe::V, token);
        c.op("set_flag").set(Pipe::V, event);
        c.op("rls_for_v").release(Pipe::V, token);
    });
    let f = failure(&b, vec![]);
    assert_eq!(f.code, "deadlock");
    has(&f.message, "wait for each other");
    note(
        &f,
        "pipe V of AIV0 waits for the earlier releases of buffer token 3 of AIV0; they would come from pipe MTE2 of AIV0, which \
         stands at `wait_flag`",
    );
}

#[test]
fn unit_flags_need_no_acquire_and_may_stay_published() {
    let mut b = Build::default();
    let tile = b.sync("the unit flag", SyncRole::UnitFlag { address: 0 }, C, C, 1, 0);
    let publish = |c: &mut Code<'_>, pipe| {
        c.emit(Inst::Acquire { pipe, token: tile, waits: true });
        c.copy(pipe, (L1, imm(0)), (L1, imm(4096)), 640);
        c.emit(Inst::Release { pipe, token: tile, deferred: false });
    };
    b.core(C, |c| {
        publish(c, Pipe::M);
        publish(c, Pipe::M);
        // Checks only.
        c.emit(Inst::Acquire { pipe: Pipe::Fix, token: tile, waits: true });
        c.copy(Pipe::Fix, (L1, imm(4096)), (L1, imm(8192)), 640);
    });
    let result = go(&b, &a5(), vec![]);
    assert!(result.findings.is_empty(), "{:#?}", result.findings);
    assert!(result.cycles > 3 * 20, "the fixpipe waits for both products: {}", result.cycles);
}

#[test]
fn traps_and_divisions() {
    let divide = |a: u64, b: u64| {
        let mut build = Build::default();
        build.core(A, |c| {
            let b = c.mov(imm(b));
            let f: ScalarFn = |[a, b, _]| match (a as i64).checked_div(b as i64) {
                Some(q) => Ok(q as u64),
                None if b == 0 => Err(Trap::DivideByZero),
                None => Err(Trap::DivideOverflow),
            };
            c.op("arith.divsi").calc(f, imm(a), Operand::Reg(b));
        });
        let f = failure(&build, vec![]);
        assert_eq!(primary(&build, &f), "arith.divsi");
        f.code
    };
    assert_eq!(divide(1, 0), "divide-by-zero");
    assert_eq!(divide(i64::MIN as u64, -1i64 as u64), "divide-overflow");
    let mut b = Build::default();
    b.core(A, |c| {
        c.op("trap").emit(Inst::Trap { message: "rows do not divide".into() });
    });
    let f = failure(&b, vec![]);
    assert_eq!((f.code, f.message.as_str(), primary(&b, &f)), ("trap", "rows do not divide", "trap"));
}

#[test]
fn an_index_that_names_no_object() {
    for index in [4, u64::MAX] {
        let mut b = Build::default();
        let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
        b.core(A, |c| {
            let index = c.mov(imm(index));
            c.op("set_flag_dyn").set(Pipe::V, nth(ring.free, Operand::Reg(index)));
        });
        let f = failure(&b, vec![]);
        assert_eq!((f.code, primary(&b, &f)), ("sync-index", "set_flag_dyn"));
    }
}

#[test]
fn loops_without_an_end() {
    let platform = a5();
    let limits = Limits { steps: 10_000, cycles: 1 << 40, ..Limits::default() };
    let mut bare = Build::default();
    bare.core(A, |c| {
        c.op("scf.while").emit(Inst::Jump { to: 0 });
    });
    let mut busy = Build::default();
    busy.core(A, |c| {
        c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(64)), 64);
        c.emit(Inst::Jump { to: 0 });
    });
    // A loop without visible effects is detected as endless long before the limit.
    for (build, mode, code) in [
        (&bare, ExecutionMode::Pipes, "endless-loop"),
        (&bare, ExecutionMode::Sequential, "endless-loop"),
        (&busy, ExecutionMode::Pipes, "step-limit"),
        (&busy, ExecutionMode::Sequential, "step-limit"),
    ] {
        let launch = Launch::new(&build.program, &platform, 1, vec![]).limits(limits).mode(mode);
        let result = run(&launch, memory(&platform, 1, vec![]), &mut ());
        assert_eq!(codes(&result), [code]);
        let result =
            run(&launch.clone().limits(Limits { cycles: 1000, ..limits }), memory(&platform, 1, vec![]), &mut ());
        assert_eq!(codes(&result), [code]);
        let result =
            run(&launch.clone().limits(Limits { steps: 500, ..limits }), memory(&platform, 1, vec![]), &mut ());
        assert_eq!(codes(&result), ["step-limit"]);
    }
}

#[test]
fn malformed_programs_are_refused() {
    type Spoil = fn(&mut Program);
    let clobbers: [(Spoil, &str); 9] = [
        (|p| p.cores[0].insts[0] = Inst::Jump { to: 99 }, "bad-program"),
        (|p| p.cores[0].insts[0] = Inst::Issue { work: 7 }, "bad-program"),
        (|p| p.cores[0].insts[0] = Inst::Move { d: Reg(5), a: Operand::Imm(0) }, "bad-program"),
        (|p| p.cores[0].inst_sites[0] = 1000, "bad-program"),
        (|p| drop(p.cores[0].insts.pop()), "bad-program"),
        (|p| p.whole_cluster = true, "bad-program"),
        (|p| p.cores[0].insts[0] = Inst::Barrier { pipe: Some(Pipe::M) }, "no-such-pipe"),
        (|p| p.cores[0].insts[0] = Inst::Special { d: Reg(0), which: Special::Param(0) }, "bad-arguments"),
        (
            |p| p.cores[0].insts[0] = Inst::Set { pipe: Pipe::V, sync: SyncRef { first: 3, count: 1, index: imm(0) } },
            "bad-program",
        ),
    ];
    for (at, (spoil, code)) in clobbers.into_iter().enumerate() {
        let mut b = Build::default();
        b.core(A, |c| {
            c.mov(imm(0));
            c.mov(imm(0));
        });
        spoil(&mut b.program);
        assert_eq!(failure(&b, vec![]).code, code, "case {at}");
    }
    let mut b = Build::default();
    b.core(A, |_| {});
    let platform = a5();
    let launch = Launch::new(&b.program, &platform, 1, vec![ArgValue::Buffer(0)]);
    assert_eq!(codes(&run(&launch, memory(&platform, 1, vec![]), &mut ())), ["bad-arguments"]);
}

#[test]
fn deadlock_in_sequence_is_reported_too() {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    b.core(C, |_| {});
    b.core(A, |c| {
        c.initialize(&ring);
        c.pop(&ring, imm(0), (UB0, imm(4096)));
    });
    let result = go_with(&b, &a5(), vec![], ExecutionMode::Sequential, &mut ());
    assert_eq!(codes(&result), ["deadlock"]);
    hint(&result.findings[0], "AIC has pushed only 0");
}

#[test]
fn other_blocks_go_on_when_one_is_stuck() {
    let mut b = Build::default();
    let flag = b.event(A, Pipe::Mte2, Pipe::V, 0);
    b.core(A, |c| {
        let index = c.special(Special::BlockIdx);
        let out = c.special(Special::Param(0));
        let skip = c.emit(Inst::JumpIfZero { a: index, to: 0 });
        c.wait(Pipe::S, flag);
        if let Inst::JumpIfZero { to, .. } = &mut c.core.insts[skip] {
            *to = skip as u32 + 2;
        }
        c.store((GM, out), imm(5));
    });
    let platform = a5();
    let launch = Launch::new(&b.program, &platform, 3, vec![ArgValue::Buffer(0)]);
    let result = run(&launch, memory(&platform, 3, vec![zeros("out", 8)]), &mut ());
    assert_eq!(codes(&result), ["deadlock"]);
    note(&result.findings[0], "in block 1");
    note(&result.findings[0], "2 blocks are stuck");
    assert_eq!(result.memory.gm[0].data[0], 5);
    assert_eq!(result.stats.blocks.iter().filter(|b| b.end.is_some()).count(), 1);
}
