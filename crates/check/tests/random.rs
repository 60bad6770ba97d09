//! Random programs: no false alarm on correct ones; a clean verdict on a damaged one is true.

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

/// What one run says of the other answer of the question on moves, and what a run with that answer says: the first race of both.
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

/// Takes one synchronisation instruction out of a program, or gives it to another pipe's flag.
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
        // Asking changes nothing in what is said of our own answer.
        prop_assert_eq!(&ours.findings, &check(&b, &timing, blocks, clusters).1.findings);
        let [(question, found)] = &ours.otherwise[..] else { panic!("one question: {:?}", ours.otherwise) };
        prop_assert_eq!(*question, &UNORDERED_MOVES);
        prop_assert!(other.otherwise.is_empty());
        if ours.is_free() {
            prop_assert_eq!(found.as_ref(), other.findings.iter().find(|f| f.severity == Severity::Error));
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
