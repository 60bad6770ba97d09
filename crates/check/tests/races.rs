//! Each planted mistake is found, with both locations and the missing edge; the corrected program is clean.

use crate::kit;

use kit::*;
use slipring_check::*;
use slipring_machine::{Pipe, Platform, Role, built_in};
use slipring_program::*;
use slipring_sim::*;

const C: Role = Role::Aic;
const A: Role = Role::Aiv0;

fn check_on(
    build: &Build,
    platform: &Platform,
    blocks: u32,
    buffers: Vec<GmBuffer>,
    tools: Tools,
) -> (RunResult, CheckReport) {
    let args = (0..buffers.len()).map(ArgValue::Buffer).collect();
    let launch = Launch::new(&build.program, platform, blocks, args);
    let mut checker = Checker::new(tools);
    let result = run(&launch, memory(platform, launch.clusters(), buffers), &mut checker);
    let report = checker.report(&result);
    (result, report)
}

/// Checks for races and uninitialised reads, on the A5.
fn check(build: &Build, buffers: Vec<GmBuffer>) -> CheckReport {
    check_on(build, &a5(), 1, buffers, Tools { init: false, ..Tools::default() }).1
}

fn clean(report: &CheckReport) {
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert_eq!(report.scope.schedules, Schedules::All);
}

/// The only finding, a race.
fn race(report: &CheckReport) -> &Finding {
    assert_eq!(report.findings.len(), 1, "{:#?}", report.findings);
    assert_eq!(report.findings[0].code, "race");
    assert!(matches!(report.scope.schedules, Schedules::ThisOne { .. }));
    &report.findings[0]
}

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

/// Load, compute, store, with or without each of the two flags.
fn load_compute_store(load_flag: bool, store_flag: bool) -> Build {
    let mut b = Build::default();
    let loaded = b.event(A, Pipe::Mte2, Pipe::V, 0);
    let computed = b.event(A, Pipe::V, Pipe::Mte3, 0);
    b.core(A, |c| {
        let x = c.special(Special::Param(0));
        let y = c.special(Special::Param(1));
        c.op("tload").copy(Pipe::Mte2, (GM, x), (UB0, imm(0)), 256);
        if load_flag {
            c.set(Pipe::Mte2, loaded);
            c.wait(Pipe::V, loaded);
        }
        c.op("tadd").mix(Pipe::V, (UB0, imm(0)), (UB0, imm(1024)), 256);
        if store_flag {
            c.set(Pipe::V, computed);
            c.wait(Pipe::Mte3, computed);
        }
        c.op("tstore").copy(Pipe::Mte3, (UB0, imm(1024)), (GM, y), 256);
    });
    b
}

#[test]
fn a_missing_flag_between_two_pipes() {
    let buffers = || vec![buffer("x", 256), zeros("y", 256)];
    clean(&check(&load_compute_store(true, true), buffers()));

    let b = load_compute_store(false, true);
    let report = check(&b, buffers());
    let f = race(&report);
    has(
        &f.message,
        "`tadd` on pipe V of AIV0 reads bytes 0 to 255 of `vec` of AIV0, which `tload` on pipe MTE2 of AIV0 writes",
    );
    assert_eq!(b.op(f.primary.as_ref().unwrap().site), "tadd");
    assert_eq!(b.op(f.secondary[0].site), "tload");
    assert_eq!(
        f.hint.as_deref(),
        Some("a set of flag id from MTE2 to V after `tload` and a wait for flag id from MTE2 to V before `tadd`")
    );

    let report = check(&load_compute_store(true, false), buffers());
    has(&race(&report).message, "`tstore` on pipe MTE3 of AIV0 reads bytes 1024 to 1279");
}

#[test]
fn cycles_order_nothing() {
    // The store comes ten thousand cycles later, but still races.
    let mut b = Build::default();
    b.core(A, |c| {
        c.op("tadd").mix(Pipe::V, (UB0, imm(0)), (UB0, imm(1024)), 64);
        c.repeat(imm(10000), |_, _| {});
        let x = c.special(Special::Param(0));
        c.op("tstore").copy(Pipe::Mte3, (UB0, imm(1024)), (GM, x), 64);
    });
    let report = check(&b, vec![zeros("x", 64)]);
    has(&race(&report).message, "nothing orders the two");
}

#[test]
fn what_the_scalar_unit_waits_for_orders_what_it_issues() {
    let mut b = Build::default();
    let done = b.event(A, Pipe::Mte2, Pipe::S, 0);
    b.core(A, |c| {
        let x = c.special(Special::Param(0));
        c.copy(Pipe::Mte2, (GM, x), (UB0, imm(0)), 256);
        c.set(Pipe::Mte2, done);
        c.wait(Pipe::S, done);
        let value = c.load((UB0, imm(0)));
        c.store((UB0, imm(8)), value);
        c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(1024)), 256);
        c.barrier(None);
        c.store((UB0, imm(1024)), value);
    });
    let report = check(&b, vec![buffer("x", 256)]);
    clean(&report);
    assert_eq!(report.scope.values, Values::AnyContents, "the loaded number is stored, and decides nothing");
}

#[test]
fn the_scalar_unit_races_too() {
    let mut b = Build::default();
    b.core(A, |c| {
        let x = c.special(Special::Param(0));
        c.op("tload").copy(Pipe::Mte2, (GM, x), (UB0, imm(0)), 256);
        c.op("tgetval").load((UB0, imm(8)));
    });
    let report = check(&b, vec![buffer("x", 256)]);
    let f = race(&report);
    has(&f.message, "`tgetval` on the scalar unit of AIV0 reads bytes 8 to 15 of `vec` of AIV0");
    has(f.hint.as_deref().unwrap(), "a set of flag id from MTE2 to S after `tload`");
}

#[test]
fn barriers_of_all_pipes_order_everything_of_the_core() {
    let mut b = Build::default();
    b.core(A, |c| {
        c.copy(Pipe::Mte2, (UB0, imm(0)), (UB0, imm(1024)), 64);
        c.barrier(None);
        c.mix(Pipe::V, (UB0, imm(1024)), (UB0, imm(0)), 64);
        c.barrier(None);
        c.copy(Pipe::Mte3, (UB0, imm(0)), (UB0, imm(1024)), 64);
    });
    clean(&check(&b, vec![]));
}

#[test]
fn a_barrier_of_another_pipe_orders_nothing() {
    let mut b = Build::default();
    b.core(A, |c| {
        c.op("first").copy(Pipe::Mte2, (UB0, imm(0)), (UB0, imm(1024)), 64);
        c.barrier(Some(Pipe::Mte2));
        c.barrier(Some(Pipe::S));
        c.op("second").mix(Pipe::V, (UB0, imm(1024)), (UB0, imm(0)), 64);
    });
    let report = check(&b, vec![]);
    assert_eq!(report.findings.len(), 2, "a read of what is written, a write of what is read: {:#?}", report.findings);
}

#[test]
fn a_pipe_that_may_reorder_needs_barriers() {
    let program = |barrier: Option<Option<Pipe>>| {
        let mut b = Build::default();
        b.core(A, |c| {
            c.op("tadd").copy(Pipe::V, (UB0, imm(0)), (UB0, imm(1024)), 64);
            if let Some(pipe) = barrier {
                c.barrier(pipe);
            }
            c.op("tmul").copy(Pipe::V, (UB0, imm(1024)), (UB0, imm(2048)), 64);
            // In place: an op instance does not race with itself.
            c.op("texp").mix(Pipe::V, (UB0, imm(8192)), (UB0, imm(4096)), 64);
        });
        b
    };
    let on = |name: &str, barrier| {
        check_on(&program(barrier), &built_in(name).unwrap(), 1, vec![], Tools { init: false, ..Tools::default() }).1
    };
    clean(&on("a5", None));
    clean(&on("a3", Some(Some(Pipe::V))));
    clean(&on("a3", Some(None)));
    let report = on("a3", None);
    let f = race(&report);
    has(&f.message, "`tmul` on pipe V of AIV0 reads bytes 1024 to 1087");
    has(f.hint.as_deref().unwrap(), "a barrier of V between the two");
}

#[test]
fn moves_that_only_their_pipe_keeps_apart_race_with_the_other_answer() {
    let other = |barrier: bool| {
        let mut b = Build::default();
        b.core(A, |c| {
            c.op("first").copy(Pipe::Mte2, (UB0, imm(0)), (UB0, imm(1024)), 64);
            if barrier {
                c.barrier(Some(Pipe::Mte2));
            }
            c.op("second").copy(Pipe::Mte2, (UB0, imm(0)), (UB0, imm(1056)), 64);
        });
        let platform = a5();
        let launch = Launch::new(&b.program, &platform, 1, vec![]);
        let mut checker = Checker::new(Tools { init: false, ..Tools::default() }).with_otherwise();
        let result = run(&launch, memory(&platform, launch.clusters(), vec![]), &mut checker);
        let report = checker.report(&result);
        clean(&report);
        report.otherwise[0].1.clone()
    };
    assert_eq!(other(true), None);
    let finding = other(false).unwrap();
    has(&finding.message, "`second` on pipe MTE2 of AIV0 writes bytes 1056 to 1087");
    has(finding.hint.as_deref().unwrap(), "a barrier of MTE2 between the two");
}

#[test]
fn two_stores_to_the_same_global_bytes_need_a_barrier() {
    let program = |second: u64, pipe, barrier: bool| {
        let mut b = Build::default();
        b.core(A, |c| {
            let x = c.special(Special::Param(0));
            let there = c.plus(x, second);
            c.op("first").copy(pipe, (UB0, imm(0)), (GM, x), 64);
            if barrier {
                c.barrier(Some(pipe));
            }
            c.op("second").copy(pipe, (UB0, imm(64)), (GM, there), 64);
        });
        check(&b, vec![zeros("x", 256)])
    };
    let report = program(32, Pipe::Mte3, false);
    let f = race(&report);
    has(&f.message, "`second` on pipe MTE3 of AIV0 writes bytes 32 to 63 of buffer 0, which `first`");
    has(f.hint.as_deref().unwrap(), "a barrier of MTE3 between the two");
    clean(&program(32, Pipe::Mte3, true));
    clean(&program(64, Pipe::Mte3, false));
    clean(&program(32, Pipe::Mte2, false));

    // A read back by MTE3 is not ordered either; in UB the order is kept.
    let back = |to| {
        let mut b = Build::default();
        b.core(A, |c| {
            let x = c.special(Special::Param(0));
            let place = |to: Place| if to == GM { x } else { imm(4096) };
            c.op("there").copy(Pipe::Mte3, (UB0, imm(0)), (to, place(to)), 64);
            c.op("back").copy(Pipe::Mte3, (to, place(to)), (UB0, imm(8192)), 64);
        });
        check(&b, vec![zeros("x", 256)])
    };
    has(&race(&back(GM)).message, "`back` on pipe MTE3 of AIV0 reads bytes 0 to 63 of buffer 0");
    clean(&back(UB0));
}

#[test]
fn a_signal_round_trip_orders_a_pipe_that_may_reorder() {
    let program = |trip: bool| {
        let mut b = Build::default();
        let (there, back) = (b.event(A, Pipe::V, Pipe::Mte3, 0), b.event(A, Pipe::Mte3, Pipe::V, 0));
        b.core(A, |c| {
            c.copy(Pipe::V, (UB0, imm(0)), (UB0, imm(1024)), 64);
            c.set(Pipe::V, there);
            c.wait(Pipe::Mte3, there);
            c.set(Pipe::Mte3, back);
            if trip {
                c.wait(Pipe::V, back);
            }
            c.copy(Pipe::V, (UB0, imm(1024)), (UB0, imm(2048)), 64);
            if !trip {
                c.wait(Pipe::V, back);
            }
        });
        check_on(&b, &built_in("a3").unwrap(), 1, vec![], Tools { init: false, ..Tools::default() }).1
    };
    clean(&program(true));
    race(&program(false));
}

#[test]
fn a_loop_on_a_pipe_that_may_reorder() {
    // Each iteration reads what the previous one wrote.
    let program = |barrier: bool| {
        let mut b = Build::default();
        b.core(A, |c| {
            c.repeat(imm(3), |c, _| {
                c.mix(Pipe::V, (UB0, imm(8192)), (UB0, imm(1024)), 64);
                if barrier {
                    c.barrier(Some(Pipe::V));
                }
            });
        });
        check_on(&b, &built_in("a3").unwrap(), 1, vec![], Tools { init: false, ..Tools::default() }).1
    };
    clean(&program(true));
    assert!(!program(false).findings.is_empty());
}

/// A ring whose consumer reads the slot on one pipe and frees it on another.
fn ring(flag_before_free: bool, wait_for_free: bool) -> Build {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::Mte3), 2, 64, UB0, 0);
    let read = b.event(A, Pipe::V, Pipe::Mte3, 0);
    let ready = b.event(A, Pipe::Mte3, Pipe::V, 0);
    b.core(C, |c| {
        c.repeat(imm(7), |c, i| {
            if wait_for_free {
                c.push(&ring, i, (L1, imm(0)));
            } else {
                let tag = c.calc(|[a, b, _]| Ok(a % b), i, imm(2));
                let slot = c.calc(|[a, b, _]| Ok(a * b), tag, imm(64));
                c.op("tpush").copy(Pipe::Fix, (L1, imm(0)), (UB0, slot), 64);
                c.set(Pipe::Fix, nth(ring.ready, tag));
                c.wait(Pipe::Fix, nth(ring.free, tag));
            }
        });
    });
    b.core(A, |c| {
        c.initialize(&ring);
        c.repeat(imm(7), |c, i| {
            let tag = c.calc(|[a, b, _]| Ok(a % b), i, imm(2));
            let slot = c.calc(|[a, b, _]| Ok(a * b), tag, imm(64));
            c.op("tpop").wait(Pipe::Mte3, nth(ring.ready, tag));
            c.set(Pipe::Mte3, ready);
            c.op("tadd").wait(Pipe::V, ready);
            c.mix(Pipe::V, (UB0, slot), (UB0, imm(4096)), 64);
            c.set(Pipe::V, read);
            if flag_before_free {
                c.wait(Pipe::Mte3, read);
            }
            c.op("tfree").set(Pipe::Mte3, nth(ring.free, tag));
            if !flag_before_free {
                c.wait(Pipe::Mte3, read);
            }
        });
    });
    b
}

#[test]
fn a_slot_that_is_freed_before_it_is_read() {
    clean(&check(&ring(true, true), vec![]));
    let b = ring(false, true);
    let report = check(&b, vec![]);
    let f = race(&report);
    has(
        &f.message,
        "`tpush` on pipe FIX of AIC writes bytes 0 to 63 of `vec` of AIV0, which `tadd` on pipe V of AIV0 reads",
    );
    has(f.hint.as_deref().unwrap(), "signal from AIV0 to AIC: after `tadd` completes, before `tpush` starts");
}

#[test]
fn a_push_that_does_not_wait_for_its_slot() {
    let report = check(&ring(true, false), vec![]);
    assert!(report.findings.iter().any(|f| f.code == "race"), "{:#?}", report.findings);
}

#[test]
fn blocks_that_share_bytes() {
    let program = |stride: u64| {
        let mut b = Build::default();
        b.core(A, |c| {
            let out = c.special(Special::Param(0));
            let index = c.special(Special::BlockIdx);
            let offset = c.calc(|[a, b, _]| Ok(a * b), index, imm(stride));
            let to = c.calc(|[a, b, _]| Ok(a + b), out, offset);
            c.op("tload").copy(Pipe::Mte2, (GM, out), (UB0, imm(0)), 16);
            c.barrier(None);
            let to = c.plus(to, 16);
            c.op("tstore").copy(Pipe::Mte3, (UB0, imm(0)), (GM, to), 16);
        });
        let mut platform = a5();
        platform.clusters = 2;
        check_on(&b, &platform, 5, vec![zeros("out", 128)], Tools::default()).1
    };
    clean(&program(16));
    // Overlapping by one byte, also with an earlier block on the same cluster.
    let report = program(15);
    let f = race(&report);
    has(&f.message, "`tstore` on pipe MTE3 of AIV0 in block 1 writes byte 31 of buffer 0");
    has(f.hint.as_deref().unwrap(), "give each block its own bytes");
}

#[test]
fn reads_of_what_nobody_wrote() {
    let program = |loaded: u64| {
        let mut b = Build::default();
        b.buffer_param("x");
        b.core(A, |c| {
            let x = c.special(Special::Param(0));
            c.op("tload").copy(Pipe::Mte2, (GM, x), (UB0, imm(0)), loaded);
            c.barrier(None);
            c.op("tstore").copy(Pipe::Mte3, (UB0, imm(0)), (GM, x), 256);
        });
        b
    };
    let platform = a5();
    let run = |loaded, scratch| {
        let tools = Tools { scratch, ..Tools::default() };
        check_on(&program(loaded), &platform, 40, vec![zeros("x", 256)], Tools { race: false, ..tools }).1
    };
    assert!(run(256, vec![]).findings.is_empty());
    let report = run(200, vec![]);
    assert_eq!(report.findings.len(), 1, "once, although 40 blocks do it");
    assert_eq!((report.findings[0].code, report.findings[0].severity), ("uninitialised-output", Severity::Warning));
    has(&report.findings[0].message, "`tstore` stores uninitialised bytes: ");
    has(&report.findings[0].message, " of buffer `x` are uninitialised");
    let errors = |report: &CheckReport| report.findings.iter().filter(|f| f.severity == Severity::Error).count();
    let mut strict = report.clone();
    strict.make_strict();
    assert_eq!((errors(&report), errors(&strict)), (0, 1));
    assert!(run(256, vec![0]).findings.is_empty(), "what is not a result may be uninitialised");
}

#[test]
fn a_flag_that_would_overflow_in_another_schedule() {
    // Here V waits in time; if it were slower, the flag would be set twice.
    let program = |back: bool| {
        let mut b = Build::default();
        let flag = b.event(A, Pipe::Mte2, Pipe::V, 0);
        let done = b.event(A, Pipe::V, Pipe::Mte2, 0);
        b.core(A, |c| {
            c.repeat(imm(3), |c, _| {
                c.copy(Pipe::Mte2, (UB0, imm(0)), (UB0, imm(8192)), 6400);
                c.op("set_flag").set(Pipe::Mte2, flag);
                c.op("wait_flag").wait(Pipe::V, flag);
                if back {
                    c.set(Pipe::V, done);
                    c.wait(Pipe::Mte2, done);
                }
            });
        });
        check(&b, vec![])
    };
    clean(&program(true));
    let report = program(false);
    assert_eq!(report.findings.len(), 1);
    let f = &report.findings[0];
    assert_eq!((f.code, f.severity), ("flag-may-overflow", Severity::Error));
    has(&f.message, "flag MTE2→V id 0 of AIV0 may be set again before it has been waited for");
    has(&report.scope.to_string(), "this schedule only (in another schedule pipe MTE2 of AIV0 may set");
}

#[test]
fn pipes_that_compete_for_a_signal() {
    let mut b = Build::default();
    let count = b.semaphore(C, A, 0);
    b.core(C, |c| c.repeat(imm(2), |c, _| c.set(Pipe::S, count)));
    b.core(A, |c| {
        c.wait(Pipe::V, count);
        c.wait(Pipe::Mte2, count);
    });
    let report = check(&b, vec![]);
    assert!(report.findings.is_empty());
    has(&report.scope.to_string(), "pipe V of AIV0 and pipe MTE2 of AIV0 compete for semaphore 0");
}

#[test]
fn tokens_order_what_they_guard() {
    let program = |guard: bool| {
        let mut b = Build::default();
        let token = b.token(A, 0);
        b.core(A, |c| {
            c.repeat(imm(4), |c, _| {
                for (pipe, from, to) in [(Pipe::Mte2, 4096, 0), (Pipe::V, 0, 8192)] {
                    if guard {
                        c.acquire(pipe, token);
                    }
                    c.copy(pipe, (UB0, imm(from)), (UB0, imm(to)), 64);
                    if guard {
                        c.release(pipe, token);
                    }
                }
            });
        });
        check(&b, vec![])
    };
    clean(&program(true));
    assert!(!program(false).findings.is_empty());
}

#[test]
fn the_report_says_what_was_checked() {
    let b = load_compute_store(true, true);
    let buffers = || vec![buffer("x", 256), zeros("y", 256)];
    let report = check_on(&b, &a5(), 1, buffers(), Tools { race: false, ..Tools::default() }).1;
    let said: Vec<_> = report.tools.iter().map(|t| format!("{}: {}", t.tool, t.verdict)).collect();
    assert_eq!(
        said,
        [
            "memory: checked, no findings",
            "sync: checked, no findings",
            "race: not checked (not asked for)",
            "init: checked, 1 finding"
        ]
    );
    assert!(!report.is_clean());
    assert_eq!(report.scope.to_string(), "this schedule only (races were not checked)");

    let platform = a5();
    let launch = Launch::new(&b.program, &platform, 1, vec![ArgValue::Buffer(0), ArgValue::Buffer(1)])
        .mode(ExecutionMode::Sequential);
    let mut checker = Checker::new(Tools::default());
    let result = run(&launch, memory(&platform, 1, buffers()), &mut checker);
    let report = checker.report(&result);
    assert!(matches!(report.tools[2].verdict, Verdict::NotChecked { .. }));

    let mut b = Build::default();
    b.core(A, |c| {
        c.emit(Inst::Trap { message: "stop".into() });
    });
    let report = check(&b, vec![]);
    assert_eq!(report.tools[2].verdict, Verdict::Partly { findings: 0, reason: "trap".into() });
}

#[test]
fn contents_do_not_matter_where_nothing_is_loaded_into_registers() {
    let report = check(&load_compute_store(true, true), vec![buffer("x", 256), zeros("y", 256)]);
    assert_eq!(report.scope.to_string(), "all schedules, any contents of the buffers");
}
