//! Programs of two cores with rings, tokens, barriers and semaphores, compared with an explorer of all interleavings.

mod explorer;
mod model;

use slipring::{Judgement, Kernel, ProveOptions, RunOptions, Tensor};

use explorer::{Found, explore};
use model::Cluster;

/// The largest count that is explored, and the largest for two counts.
const MOST: u64 = 3;
const MOST_OF_TWO: u64 = 2;
/// The counts given to a proof.
const GIVEN: (u64, u64) = (2, 1);

/// The result of one of the tools for a program.
enum Said {
    Clean(String),
    /// With the smallest failing count, if that was searched for.
    Wrong(Option<u64>, String),
    Open(String),
}

fn arguments(kernel: &Kernel, (n, m): (u64, u64)) -> Vec<Tensor<'static>> {
    let texts = ["rand:f32[262144],seed=1", "zeros:f32[262144]", "zeros:f32[262144]", "zeros:f32[65536]"];
    let texts = texts.map(String::from).into_iter().chain([format!("{n}:index"), format!("{m}:index")]);
    let texts: Vec<String> = texts.collect();
    kernel.arguments(&texts, 0).expect("they fit")
}

/// Findings about uninitialised bytes: the explorer has no values.
fn of_values(code: &str) -> bool {
    code.starts_with("uninitialised")
}

fn run(kernel: &Kernel, counts: (u64, u64)) -> Said {
    let run = kernel.run_with(arguments(kernel, counts), &RunOptions::default()).expect("it can be run");
    let errors = run.findings().messages().iter().filter(|m| m.severity == slipring::Severity::Error);
    let errors: Vec<_> = errors.filter(|m| !of_values(m.code)).collect();
    let text = format!("{}\n{}", run.verdict(), run.findings());
    match (errors.is_empty(), text.contains("all schedules")) {
        (true, true) => Said::Clean(text),
        (true, false) => Said::Open(text),
        (false, _) => Said::Wrong(None, text),
    }
}

fn prove(kernel: &Kernel) -> Said {
    let options = ProveOptions { timings: 0, fix: false, ..ProveOptions::default() };
    let proof = kernel.prove(arguments(kernel, GIVEN), &options).expect("it can be run");
    let text = format!("{proof}{}", proof.findings);
    match proof.judgement {
        Judgement::Proved | Judgement::Doubtful => Said::Clean(text),
        Judgement::Violated if proof.findings.messages().iter().all(|m| of_values(m.code)) => Said::Open(text),
        Judgement::Violated => {
            let fails = proof.scope.counts.strip_prefix("n = ").and_then(|rest| rest.split(' ').next()?.parse().ok());
            Said::Wrong(fails, text)
        }
        Judgement::NotProved => Said::Open(text),
    }
}

/// The results for some programs.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    right: usize,
    wrong: usize,
    /// Neither proved nor refuted: correct as far as explored, and wrong.
    open: usize,
    open_and_wrong: usize,
    too_many: usize,
    proved: usize,
    proved_of_two: usize,
    violated: usize,
    disagree: Vec<String>,
}

fn judge(seed: u64, with_proof: bool, tally: &mut Tally) {
    let cluster = Cluster::random(seed);
    let text = cluster.text();
    let refuse = |why: String| {
        if std::env::var_os("SHOW").is_some() {
            println!("seed {seed} refused: {why}");
        }
    };
    let kernel = match Kernel::from_text("cluster.pto", text.clone()).and_then(|kernel| kernel.platform("a5")) {
        Ok(kernel) => kernel,
        Err(why) => {
            tally.refused += 1;
            return refuse(why.to_string());
        }
    };
    if let Err(why) = kernel.compile() {
        tally.refused += 1;
        return refuse(why.to_string());
    }
    let two = cluster.has_two();
    let counts: Vec<(u64, u64)> = match two {
        true => (0..=MOST_OF_TWO).flat_map(|n| (0..=MOST_OF_TWO).map(move |m| (n, m))).collect(),
        false => (0..=MOST).map(|n| (n, GIVEN.1)).collect(),
    };
    let found: Vec<((u64, u64), Found)> = counts.iter().map(|at| (*at, explore(&cluster.programs(*at)))).collect();
    // Too many states, or a question that the explorer does not decide.
    if found.iter().any(|(_, found)| *found == Found::TooMany) {
        tally.too_many += 1;
        return;
    }
    let mut disagree = |what: &str, said: &str| {
        tally.disagree.push(format!("seed {seed}: {what}; the explorer: {found:?}\n{said}\n{text}"));
    };
    let (at, explored) = &found[1 + seed as usize % (found.len() - 1)];
    match (run(&kernel, *at), explored) {
        (Said::Clean(text), Found::Wrong(_)) => disagree(&format!("{at:?} is called clean"), &text),
        (Said::Wrong(_, text), Found::Nothing) => disagree(&format!("{at:?} is reported"), &text),
        (Said::Open(text), _) => disagree(&format!("{at:?} is not decided"), &text),
        (Said::Clean(_), _) => tally.right += 1,
        (Said::Wrong(..), _) => tally.wrong += 1,
    }
    if !with_proof {
        return;
    }
    let first = found.iter().find(|(_, found)| *found != Found::Nothing).map(|(at, _)| *at);
    let given = found.iter().any(|(at, found)| *at == GIVEN && *found != Found::Nothing);
    match (prove(&kernel), first) {
        (Said::Clean(text), Some(at)) => disagree(&format!("proved, and {at:?} is wrong"), &text),
        (Said::Clean(_), None) if two => tally.proved_of_two += 1,
        (Said::Clean(_), None) => tally.proved += 1,
        (Said::Wrong(_, text), _) if two && !given => disagree("what was given is right", &text),
        (Said::Wrong(Some(fails), text), Some((count, _))) if !two && fails != count => {
            disagree(&format!("{fails} is not the smallest"), &text);
        }
        (Said::Wrong(Some(fails), text), None) if fails <= MOST => disagree(&format!("{fails} is right"), &text),
        (Said::Wrong(..), _) => tally.violated += 1,
        (Said::Open(text), None) => {
            tally.open += 1;
            refuse(text);
        }
        (Said::Open(_), Some(_)) => tally.open_and_wrong += 1,
    }
}

/// Runs and proofs of correct and mutated programs.
#[test]
fn verdicts_of_two_cores_agree_with_all_interleavings() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, count) = (number("SLIPRING_FIRST", 0), number("SLIPRING_CLUSTERS", 120));
    let mut tally = Tally::default();
    let each = number("SLIPRING_PROVE_EACH", 3);
    (first..first + count).for_each(|seed| judge(seed, seed % each == 0, &mut tally));
    let disagree = std::mem::take(&mut tally.disagree);
    println!("{tally:#?}");
    let Tally { right, wrong, open, open_and_wrong, proved, proved_of_two, violated, .. } = tally;
    // Wrong programs without arguments are found, and most of the correct ones are proved.
    assert!(right * 3 > count as usize && wrong * 3 > count as usize, "{tally:?}");
    assert!(open_and_wrong == 0 && open * 6 < proved + proved_of_two + violated, "{tally:?}");
    assert!(proved > 0 && proved_of_two * 4 > proved, "{tally:?}");
    assert!(disagree.is_empty(), "{} disagree\n{}", disagree.len(), disagree.join("\n\n"));
}
