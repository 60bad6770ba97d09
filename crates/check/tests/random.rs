//! Random programs: no false alarms on correct ones, and no false clean verdicts on damaged ones.

use crate::kit;

use kit::random::Timing;
use kit::random::*;
use kit::*;
use proptest::prelude::*;
use slipring_check::*;
use slipring_machine::interpretations::UNORDERED_MOVES;
use slipring_program::{Inst, Severity};
use slipring_sim::*;

fn check(build: &Build, timing: &Timing, blocks: u32, clusters: u32) -> (RunResult, CheckReport) {
    let platform = timing.platform(clusters);
    let args = (0..3).map(ArgValue::Buffer).collect();
    let buffers = ["aic", "aiv0", "aiv1"].map(|name| zeros(name, (u64::from(blocks) * TILE) as usize));
    let launch = Launch::new(&build.program, &platform, blocks, args);
    let mut checker = Checker::new(Tools { init: false, ..Tools::default() });
    let result = run(&launch, memory(&platform, launch.clusters(), buffers.into()), &mut checker);
    let report = checker.report(&result);
    (result, report)
}

/// The first race under the alternative interpretation of moves, as found along with a normal run, and as found by a
/// run with that interpretation.
fn otherwise(build: &Build, timing: &Timing, blocks: u32, clusters: u32) -> (CheckReport, CheckReport) {
    let ours = timing.platform(clusters);
    let reports = [ours.with_reading(&UNORDERED_MOVES), ours].map(|platform| {
        let args = (0..3).map(ArgValue::Buffer).collect();
        let buffers = ["aic", "aiv0", "aiv1"].map(|name| zeros(name, (u64::from(blocks) * TILE) as usize));
        let launch = Launch::new(&build.program, &platform, blocks, args);
        let mut checker = Checker::new(Tools { init: false, ..Tools::default() }).with_otherwise();
        let result = run(&launch, memory(&platform, launch.clusters(), buffers.into()), &mut checker);
        checker.report(&result)
    });
    let [other, ours] = reports;
    (ours, other)
}

/// Removes a synchronisation instruction from a program, or redirects it to another pipe's flag.
fn damage(build: &mut Build, choice: usize) -> bool {
    let is_sync = |inst: &Inst| matches!(inst, Inst::Set { .. } | Inst::Wait { .. } | Inst::Barrier { .. });
    let places: Vec<(usize, usize)> = (0..build.program.cores.len())
        .flat_map(|core| (0..build.program.cores[core].insts.len()).map(move |pc| (core, pc)))
        .filter(|(core, pc)| is_sync(&build.program.cores[*core].insts[*pc]))
        .collect();
    let Some(&(core, pc)) = places.get(choice % places.len().max(1)) else { return false };
    build.program.cores[core].insts[pc] = Inst::Jump { to: pc as u32 + 1 };
    true
}

/// Runs loops, with or without stepping through repeated iterations.
fn repeated(build: &Build, timing: &Timing, limits: Limits, step_by_step: bool) -> (RunResult, CheckReport) {
    let platform = timing.platform(1);
    let args = (0..3).map(ArgValue::Buffer).collect();
    let buffers = ["aic", "aiv0", "aiv1"].map(|name| zeros(name, TILE as usize));
    let mut launch = Launch::new(&build.program, &platform, 1, args).limits(limits);
    launch.step_by_step = step_by_step;
    let mut checker = Checker::new(Tools::default()).with_otherwise();
    let result = run(&launch, memory(&platform, 1, buffers.into()), &mut checker);
    let report = checker.report(&result);
    (result, report)
}

#[test]
fn loops_that_come_back_are_not_stepped_through() {
    // A push, a pop and two computations per iteration, through rings of three slots.
    let shape = Shape { slots: [3; 4], choices: vec![0, 1, 2, 18], syncs: vec![true, false] };
    let timing = Timing { works: vec![40, 7, 90], queue_depth: 4, cycles: 2, latency: 20, scalar: 1 };
    let b = build_rounds(&shape, &timing, Some(20_000));
    let (result, report) = repeated(&b, &timing, Limits::default(), false);
    assert!(result.complete && result.repeated > result.cycles / 100 * 95, "{} {}", result.repeated, result.cycles);
    let (stepped, same) = repeated(&b, &timing, Limits::default(), true);
    assert_eq!((&report, &result.stats, stepped.repeated), (&same, &stepped.stats, 0));
    let bytes = |result: &RunResult| result.memory.gm.iter().map(|buffer| buffer.data.clone()).collect::<Vec<_>>();
    assert_eq!(bytes(&result), bytes(&stepped));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn correct_programs_are_clean(shape in shape(), timing in timing(), blocks in 1..4u32, clusters in 1..3u32) {
        let (_, report) = check(&build(&shape, &timing), &timing, blocks, clusters);
        prop_assert!(report.findings.is_empty(), "{:#?}", report.findings);
        prop_assert_eq!(report.scope.schedules, Schedules::All);
    }

    #[test]
    fn one_run_speaks_for_both_answers(
        shape in shape(), timing in timing(), blocks in 1..4u32, clusters in 1..3u32, choice in any::<usize>(), whole in any::<bool>(),
    ) {
        let mut b = build(&shape, &timing);
        if !whole {
            damage(&mut b, choice);
        }
        let (ours, other) = otherwise(&b, &timing, blocks, clusters);
        // Checking the alternative does not change our own findings.
        prop_assert_eq!(&ours.findings, &check(&b, &timing, blocks, clusters).1.findings);
        let [(question, found)] = &ours.otherwise[..] else { panic!("one question: {:?}", ours.otherwise) };
        prop_assert_eq!(*question, &UNORDERED_MOVES);
        prop_assert!(other.otherwise.is_empty());
        if ours.is_free() {
            prop_assert_eq!(found.as_ref(), other.findings.iter().find(|f| f.severity == Severity::Error));
        }
    }

    #[test]
    fn what_comes_back_is_the_same_step_by_step(
        shape in shape(), timing in timing(), rounds in 1..300u64, choice in any::<usize>(), whole in any::<bool>(),
        steps in prop_oneof![Just(1 << 31), 1..40_000u64], cycles in prop_oneof![Just(1 << 48), 1..100_000u64],
    ) {
        let mut b = build_rounds(&shape, &timing, Some(rounds));
        if !whole {
            damage(&mut b, choice);
        }
        let limits = Limits { steps, cycles, ..Limits::default() };
        let (one, two) = (repeated(&b, &timing, limits, false), repeated(&b, &timing, limits, true));
        prop_assert_eq!(two.0.repeated, 0);
        prop_assert_eq!(&one.1, &two.1);
        prop_assert_eq!(&one.0.stats, &two.0.stats);
        prop_assert_eq!((one.0.cycles, one.0.steps, one.0.complete), (two.0.cycles, two.0.steps, two.0.complete));
        prop_assert_eq!(&one.0.counters, &two.0.counters);
        for (one, two) in one.0.memory.gm.iter().zip(&two.0.memory.gm) {
            prop_assert_eq!(&one.data, &two.data);
        }
    }

    #[test]
    fn a_clean_verdict_holds_for_other_schedules(
        shape in shape(), timings in proptest::collection::vec(timing(), 6), choice in any::<usize>(),
    ) {
        let run = |timing: &Timing| {
            let mut b = build(&shape, timing);
            damage(&mut b, choice);
            check(&b, timing, 1, 1)
        };
        let (first, report) = run(&timings[0]);
        if report.scope.schedules != Schedules::All {
            return Ok(());
        }
        for timing in &timings[1..] {
            let (other, verdict) = run(timing);
            prop_assert_eq!(first.complete, other.complete, "{:#?} {:#?}", report.findings, verdict.findings);
            let codes = |report: &CheckReport| report.findings.iter().map(|f| f.code).collect::<Vec<_>>();
            prop_assert_eq!(codes(&report), codes(&verdict));
            prop_assert_eq!(&verdict.scope, &report.scope);
            if first.complete {
                for (one, two) in first.memory.gm.iter().zip(&other.memory.gm) {
                    prop_assert_eq!(&one.data, &two.data);
                }
            }
        }
    }
}
