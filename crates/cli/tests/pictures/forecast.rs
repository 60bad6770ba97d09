//! Forecasts are runs of the same engine.

use slipring::{Kernel, Suppose, Tensor};
use slipring_report::compare;

use super::{recorded, run_with, runs, top};

/// A forecast without changes changes nothing, and removing waits or transfers never makes a run longer.
#[test]
fn forecasts_are_never_slower() {
    let mut looked = 0;
    for (path, run, facts) in runs(&recorded(), 6) {
        let name = path.display();
        let same = run.what_if(&Suppose::default()).expect("not cancelled");
        if run.is_complete() {
            assert_eq!(same, Some(facts.cycles), "{name}");
        }
        let Some(advice) = run.advice().expect("not cancelled") else { continue };
        for forecast in &advice.forecasts {
            assert!(forecast.cycles <= facts.cycles, "{name}: {forecast:?}");
            looked += 1;
        }
        assert!(advice.forecasts.is_sorted_by_key(|forecast| forecast.cycles) && advice.words.len() >= 3, "{name}");
    }
    assert!(looked > 20, "{looked}");
}

/// Rings whose producers wait: the forecast for deeper rings equals their actual time.
#[test]
fn deeper_rings_take_what_was_forecast() {
    let mut faster = 0;
    for (file, platform) in [("slots_1", "a2a3"), ("slots_2", "a2a3"), ("two_pops_outstanding", "a5")] {
        let path = top().join(format!("tests/files/rings/{file}.pto"));
        let kernel = Kernel::open(path).expect("a kernel").platform(platform).expect("a platform");
        let args = || kernel.arguments(&[], 0).expect("arguments");
        let run = kernel.run_with(args(), &recorded()).expect("runs");
        let advice = run.advice().expect("not cancelled").expect("a record");
        let of = |what: &str| {
            let found = advice.forecasts.iter().find(|forecast| forecast.what.starts_with(what));
            found.unwrap_or_else(|| panic!("{file}: {what}")).cycles
        };
        let slots = run.facts().rings[0].slots;
        let swept = kernel.rings(args(), Some(slots..=16), &recorded()).expect("runs").sweep;
        let cycles = |slots: u32| swept.iter().find(|depth| depth.slots == slots).and_then(|depth| depth.cycles);
        assert!(of("rings without end") <= run.cycles(), "{file}");
        faster += usize::from(of("rings without end") < run.cycles());
        let deepest = swept.iter().rev().find_map(|depth| depth.cycles);
        assert_eq!(Some(of("rings without end")), deepest, "{file}");
        assert_eq!(Some(of("twice as many slots")), cycles(2 * slots), "{file}");
    }
    assert!(faster > 0, "no ring holds its program up");
}

/// Advice that was followed: the wait for the weights of a tile overlaps with other work, and the kernel takes the
/// forecast time without the wait; on A2/A3 partly. The bounds are those measured when the example was written.
#[test]
fn attention_takes_what_its_advice_forecast() {
    for (platform, least) in [("a5", 0.95), ("a2a3", 0.55)] {
        let run_of = |file: &str| {
            let kernel = Kernel::open(top().join(file)).expect("a kernel").platform(platform).expect("a platform");
            let args: Vec<Tensor<'static>> = kernel.arguments(&[], 0).expect("arguments");
            kernel.run_with(args, &recorded()).expect("runs").into_owned()
        };
        let (before, after) = (run_of("examples/lang/6_attention.py"), run_of("examples/lang/6_attention_ahead.py"));
        let advice = before.advice().expect("not cancelled").expect("a record");
        let waits = advice.forecasts.iter().find(|own| own.what.starts_with("no wait at line")).expect("a wait");
        let text =
            before.lines().expect("lines").into_iter().find(|own| Some(own.line.number) == waits.line).expect("a line");
        assert!(text.text.starts_with("weights = pl.aic_gather"), "{text:?}");
        let (forecast, came) = (before.cycles() - waits.cycles, before.cycles() as f64 - after.cycles() as f64);
        let share = came / forecast as f64;
        assert!((least..1.1).contains(&share), "{platform}: {forecast} forecast, {came} came");
        assert_eq!(before.result(3).expect("a result"), after.result(3).expect("a result"), "the same bytes");
    }
}

/// The two versions of an example: the one with flags for each of two buffers overlaps what the other does
/// sequentially.
#[test]
fn comparisons_name_what_went() {
    let facts = |name: &str| serde_json::to_value(run_with(&top().join(name), &recorded()).1).expect("facts");
    let (one, two) = (facts("examples/sync/1_flags.pto"), facts("examples/sync/3a_flags.pto"));
    let compared = compare(&one, &two).expect("runs");
    assert_eq!(
        (compared.cycles.before, compared.cycles.after),
        (one["cycles"].as_u64().unwrap(), two["cycles"].as_u64().unwrap())
    );
    assert!(!compared.waits.is_empty() && !compared.path.is_empty() && !compared.lines.is_empty(), "{compared:?}");
    let same = compare(&one, &one).expect("runs");
    assert!(same.waits.is_empty() && same.busy.is_empty() && same.results.is_empty());
}
