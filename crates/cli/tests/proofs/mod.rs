//! Proofs compared with an independent explorer of all interleavings of small programs of flags, for each number of
//! rounds; and the table of `docs/proof.md`, which lists what is proved about each example.

mod cluster;
mod endings;
mod explorer;
mod fixes;
mod small;

use std::path::Path;

use explorer::explore;
use slipring::{Judgement, Kernel, ProveOptions, RunOptions, Tensor};
use small::Small;

use crate::here::{self, pinned_between, root};

/// The largest count that is explored.
const MOST: u64 = 4;

/// The result of a proof for a small program: whether it holds for all counts, or the first one for which it fails.
fn proof(small: &Small) -> (Judgement, Option<u64>, String) {
    proof_where(small, None)
}

/// The same, restricted to launches with these numbers.
fn proof_where(small: &Small, assumed: Option<(&str, u64)>) -> (Judgement, Option<u64>, String) {
    let kernel = Kernel::from_text("small.pto", small.text()).expect("it is well formed");
    let n = format!("{}:index", assumed.map_or(3, |(_, n)| n));
    let texts = ["rand:f32[4096],seed=1", "zeros:f32[4096]", &n, "2:index"].map(String::from);
    let args: Vec<Tensor<'_>> = kernel.arguments(&texts, 0).expect("they fit");
    let assume = assumed.iter().map(|(text, _)| text.to_string()).collect();
    let proof =
        kernel.prove(args, &ProveOptions { timings: 0, fix: false, run: assuming(assume) }).expect("it can be run");
    let fails = proof.scope.counts.strip_prefix("n = ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    (proof.judgement, fails, proof.to_string())
}

/// Correct and mutated programs: a program that is proved for all counts is correct for each explored count, and the
/// smallest failing count is the smallest that the explorer refutes.
#[test]
fn proofs_agree_with_all_interleavings() {
    let (mut right, mut wrong, mut all) = (0, 0, 0);
    // Long runs set a larger number.
    let count = std::env::var("SLIPRING_PROOFS").ok().and_then(|text| text.parse().ok()).unwrap_or(160);
    for seed in 0..count {
        let small = Small::random(seed);
        let (judgement, fails, text) = proof(&small);
        let explored = (0..=MOST).find_map(|count| Some((count, explore(&small.program(count))?)));
        let say = || format!("seed {seed}: the explorer says {explored:?}\n{text}\n{}", small.text());
        match judgement {
            // Uninitialised bytes may reach the results of such programs.
            Judgement::Proved | Judgement::Doubtful => {
                // If uninitialised bytes are stored, only as many rounds as fit into the buffers are covered.
                all += usize::from(text.contains("every n from 0 on"));
                assert!(explored.is_none(), "{}", say());
                right += 1;
            }
            Judgement::Violated => {
                match (&explored, fails) {
                    (Some((count, _)), Some(fails)) => assert_eq!(*count, fails, "{}", say()),
                    (None, Some(fails)) => assert!(fails > MOST, "{}", say()),
                    (_, None) => panic!("it does not say for which count\n{}", say()),
                }
                wrong += 1;
            }
            Judgement::NotProved => panic!("nothing stands in the way of such programs\n{}", say()),
        }
    }
    assert!(all > 30 && wrong > 30, "{right} right, {all} of them for all counts, {wrong} wrong");
}

fn assuming(assume: Vec<String>) -> RunOptions {
    let mut options = RunOptions::default();
    options.assume = assume;
    options
}

/// The numbers that an assumption allows.
type Holds = fn(u64) -> bool;

/// Assumptions, a number that satisfies each, and the numbers that do.
const ASSUMED: [(&str, u64, Holds); 7] = [
    ("n % 2 == 0", 2, |n| n % 2 == 0),
    ("n % 3 != 1", 3, |n| n % 3 != 1),
    ("n <= 3", 3, |n| n <= 3),
    ("n >= 2", 3, |n| n >= 2),
    ("n != 3", 2, |n| n != 3),
    ("n == 4", 4, |n| n == 4),
    ("n <= 1", 1, |n| n <= 1),
];

/// The same under an assumption: a proved program is correct for each explored launch that the assumption allows, and a
/// failure names the smallest of them.
#[test]
fn proofs_under_assumptions_agree_with_all_interleavings() {
    let (mut right, mut wrong, mut open) = (0, 0, 0);
    let count = std::env::var("SLIPRING_PROOFS").ok().and_then(|text| text.parse().ok()).unwrap_or(30);
    for (seed, (text, given, allows)) in (0..count).flat_map(|seed| ASSUMED.map(|assumed| (seed, assumed))) {
        let small = Small::random(seed);
        let (judgement, fails, said) = proof_where(&small, Some((text, given)));
        let refuted = |count: &u64| explore(&small.program(*count)).is_some();
        let explored = (0..=MOST).filter(|count| allows(*count)).find(refuted);
        let say = || format!("seed {seed} with {text}: the explorer says {explored:?}\n{said}\n{}", small.text());
        match judgement {
            Judgement::Proved | Judgement::Doubtful => {
                assert!(explored.is_none(), "{}", say());
                right += 1;
            }
            Judgement::Violated => {
                match (explored, fails) {
                    (Some(count), Some(fails)) => assert_eq!(count, fails, "{}", say()),
                    (None, Some(fails)) => assert!(fails > MOST && allows(fails), "{}", say()),
                    (_, None) => panic!("it does not say for which count\n{}", say()),
                }
                wrong += 1;
            }
            Judgement::NotProved => open += 1,
        }
    }
    assert!(right > 30 && wrong > 10 && open == 0, "{right} right, {wrong} wrong, {open} open");
}

/// A kernel that fails from some number of rounds on: assumptions exclude these numbers, or the smallest allowed one is
/// named.
#[test]
fn assumptions_keep_out_what_fails() {
    let text = include_str!("../../../../tests/files/proof/fails_later_than_given.pto");
    let (mut proved, mut failed) = (0, 0);
    for clean in 1..=4u64 {
        let text = text.replace("%c3 = arith.constant 3", &format!("%c3 = arith.constant {clean}"));
        let kernel = Kernel::from_text("late.pto", text.clone()).expect("it is well formed");
        let bounds =
            (0..=6u64).flat_map(|n| [(format!("n <= {n}"), n), (format!("n % 2 == 0, 3 * n < {}", 3 * n + 1), n)]);
        for (assumed, last) in bounds {
            let texts = ["iota:f32[1024]", "zeros:f32[1024]", "0:index"].map(String::from);
            let args: Vec<Tensor<'_>> = kernel.arguments(&texts, 0).expect("they fit");
            let options = ProveOptions { timings: 0, fix: false, run: assuming(vec![assumed.clone()]) };
            let proof = kernel.prove(args, &options).expect("it can be run");
            let even = assumed.contains('%');
            let fails = (0..=last).find(|n| *n > clean && (!even || n % 2 == 0));
            let said = proof.scope.counts.strip_prefix("n = ").and_then(|rest| rest.split(' ').next()?.parse().ok());
            match proof.judgement {
                Judgement::Proved => proved += 1,
                Judgement::Violated => failed += 1,
                _ => panic!("{assumed}: it is decided\n{proof}"),
            }
            assert_eq!(
                (proof.judgement == Judgement::Violated, said),
                (fails.is_some(), fails),
                "{assumed}\n{proof}\n{text}"
            );
        }
    }
    assert!(proved > 20 && failed > 10, "{proved} proved, {failed} failed");
}

/// Two loops with two arguments: a program that is proved for all numbers of both is correct for each explored count;
/// it does not matter in which loop a round is.
#[test]
fn proofs_of_two_counts_agree_with_all_interleavings() {
    let (mut right, mut wrong, mut open) = (0, 0, 0);
    for seed in (0..16).filter(|seed| here::everything() || seed % 2 == 1) {
        let small = Small::random(seed).again();
        let (judgement, _, text) = proof(&small);
        // The same number of rounds, in either of the two loops.
        let explored = (0..=MOST).find_map(|count| Some((count, explore(&small.program(count))?)));
        let say = || format!("seed {seed}: the explorer says {explored:?}\n{text}\n{}", small.text());
        match judgement {
            // Uninitialised bytes may reach the results of such programs.
            Judgement::Proved | Judgement::Doubtful => {
                assert!(explored.is_none(), "{}", say());
                right += 1;
            }
            Judgement::Violated => wrong += 1,
            Judgement::NotProved => open += 1,
        }
    }
    assert!(right > 0 && wrong > 2 && open < 5, "{right} right, {wrong} wrong, {open} open");
}

/// A row of the table: the result of `prove` for an example on a platform.
fn row(root: &Path, file: &Path, arch: &str) -> Option<String> {
    let ran = here::slipring()
        .args(["prove", &file.display().to_string(), "--arch", arch, "--timings", "0", "--json"])
        .output()
        .expect("it runs");
    let facts: serde_json::Value = serde_json::from_slice(&ran.stdout).ok()?;
    let word = facts["verdict"].as_str()?.replace('-', " ");
    let why = |list: &serde_json::Value, key: Option<&str>| {
        let first = list.as_array().and_then(|list| list.first()).cloned().unwrap_or_default();
        key.map_or(first.clone(), |key| first[key].clone()).as_str().unwrap_or("").to_string()
    };
    let why = match word.as_str() {
        "proved" => facts["scope"]["counts"].as_str()?.to_string(),
        "violated" => format!("`{}`", why(&facts["findings"], Some("code"))),
        _ => why(&facts["reasons"], None),
    };
    let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
    Some(format!("| `{name}` | {arch} | {word} | {why} |"))
}

/// `SLIPRING_BLESS=1` rewrites the table.
#[test]
fn the_page_says_of_each_example_what_is_proved() {
    let root = root();
    let mut rows: Vec<String> = Vec::new();
    for file in crate::walk::files(&root.join("examples"), &["pto", "py"]) {
        rows.extend(["a5", "a2a3"].iter().filter_map(|arch| row(&root, &file, arch)));
    }
    let proved = |row: &&String| row.contains("| proved | those of the text: no argument decides one |");
    let count = rows.iter().filter(proved).count();
    rows.retain(|row| !proved(&row));
    let head = format!(
        "{count} rows are proved with the counts of their text, which no argument decides. The others:\n\n| example | platform | \
         verdict | because, or for |\n|---|---|---|---|\n"
    );
    let table = head + &rows.join("\n") + "\n";
    pinned_between("docs/proof.md", ["<!-- examples -->\n", "<!-- end of the examples -->"], &table);
}
