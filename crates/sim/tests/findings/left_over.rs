//! Signals and tiles left when a program ends.

use super::*;

#[test]
fn a_tile_that_nobody_pops() {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    b.core(C, |c| c.repeat(imm(3), |c, i| c.push(&ring, i, (L1, imm(0)))));
    b.core(A, |c| {
        c.initialize(&ring);
        c.pop(&ring, imm(0), (UB0, imm(4096)));
        c.free(&ring, imm(0));
    });
    let f = left_over(&b);
    assert_eq!((f.code, primary(&b, &f)), ("tile-never-popped", "tpush"));
    has(&f.message, "2 tiles pushed to `ring0` (C2V) were never popped");
    hint(&f, "AIV0 must pop as many tiles as AIC pushes");
}

#[test]
fn a_slot_that_is_not_freed() {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 64, UB0, 0);
    b.core(C, |c| c.repeat(imm(3), |c, i| c.push(&ring, i, (L1, imm(0)))));
    b.core(A, |c| {
        c.initialize(&ring);
        c.repeat(imm(3), |c, i| c.pop(&ring, i, (UB0, imm(4096))));
        c.free(&ring, imm(0));
    });
    let f = left_over(&b);
    assert_eq!(f.code, "slot-not-freed");
    has(&f.message, "2 slots of `ring0` (C2V) were popped and never freed");
    note(&f, "slots still held: 1, 2");
}

#[test]
fn a_flag_that_stays_set_in_every_block() {
    let mut b = Build::default();
    let flag = b.event(A, Pipe::Mte2, Pipe::V, 1);
    b.core(A, |c| c.op("set_flag").set(Pipe::Mte2, flag));
    let f = left_over(&b);
    assert_eq!((f.code, primary(&b, &f)), ("flag-left-set", "set_flag"));
    let platform = a5();
    let result = run(&Launch::new(&b.program, &platform, 50, vec![]), memory(&platform, 36, vec![]), &mut ());
    assert!(result.complete);
    assert_eq!(result.findings.len(), 1);
    note(&result.findings[0], "the same in 50 blocks");
}

#[test]
fn a_semaphore_that_keeps_a_count() {
    let program = |waits: bool| {
        let mut b = Build::default();
        let sync = b.semaphore(C, A, 0);
        b.core(C, |c| c.repeat(imm(2), |c, _| c.set(Pipe::S, sync)));
        b.core(A, |c| {
            if waits {
                c.wait(Pipe::S, sync);
            }
        });
        b
    };
    // The A5 resets its counters: too few waits are suspicious, but a signal to one Vector core is not if the other one
    // waits for its own.
    for (waits, count) in [(true, 1), (false, 2)] {
        let f = left_over(&program(waits));
        assert_eq!((f.code, f.severity), ("signal-left-over", Severity::Warning));
        has(&f.message, &format!("ends with a count of {count} and should end with 0"));
    }
    let mut both = Build::default();
    let (used, unused) = (both.semaphore(C, A, 0), both.semaphore(C, B, 0));
    both.core(C, |c| {
        c.set(Pipe::S, used);
        c.set(Pipe::S, unused);
    });
    both.core(A, |c| c.wait(Pipe::S, used));
    assert!(go(&both, &a5(), vec![]).findings.is_empty());

    let mut platform = a5();
    platform.sync.semaphores_reset = false;
    for (waits, count) in [(true, 1), (false, 2)] {
        let result = go(&program(waits), &platform, vec![]);
        assert_eq!((result.findings[0].code, result.findings[0].severity), ("signal-left-over", Severity::Error));
        has(&result.findings[0].message, &format!("ends with a count of {count}"));
    }
}
