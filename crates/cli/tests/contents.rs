//! A verdict for any contents of the buffers must not depend on the contents.
//!
//! Every run of every file test and every example on both platforms is repeated with buffers of zeros, of two kinds of
//! ordinary numbers that have no bit in common, and of random bytes, which include NaNs. If one of these runs claims
//! "any contents of the buffers", all must have the same checks and the same findings at the same locations: a
//! difference refutes the claim.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

use slipring::{Kernel, RunOptions, Tensor};
use slipring_sim::Limits;

use crate::here::root;
use crate::side_by_side::compare_each;
use crate::{directives, walk};

/// Step limit of a run: large programs add nothing here to small ones.
const STEPS: u64 = 1 << 20;
/// Number of kinds of contents.
const KINDS: usize = 5;

/// A command line of a file, without `run`.
struct Command {
    file: PathBuf,
    words: Vec<String>,
}

/// Options that select the program and its arguments, and options that do not change a verdict.
const KNOWN: [&str; 5] = ["--arch", "--arg", "--func", "--blocks", "--seed"];
const SILENT: [&str; 5] = ["--verify", "--stats", "--json", "--lines", "--timeline"];

fn commands() -> Vec<Command> {
    let root = root();
    let mut commands = Vec::new();
    for file in walk::files(&root.join("tests/files"), &["pto", "py"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        for line in directives::commands(&file, &text).iter().filter_map(|line| line.strip_prefix("run %s")) {
            let words = line.split_whitespace().filter(|word| !SILENT.contains(word)).map(str::to_string);
            commands.push(Command { file: file.clone(), words: words.collect() });
        }
    }
    for file in walk::files(&root.join("examples"), &["pto", "py"]) {
        let words = |arch: &str| vec!["--arch".to_string(), arch.to_string()];
        commands.extend(["a5", "a2a3"].map(|arch| Command { file: file.clone(), words: words(arch) }));
    }
    commands
}

impl Command {
    /// The values of an option, for each occurrence.
    fn option(&self, name: &str) -> Vec<String> {
        self.words.chunks(2).filter(|pair| pair[0] == name).map(|pair| pair[1].clone()).collect()
    }

    fn is_known(&self) -> bool {
        self.words.len().is_multiple_of(2) && self.words.chunks(2).all(|pair| KNOWN.contains(&pair[0].as_str()))
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.option(name).first()?.parse().ok()
    }
}

/// Replaces the contents of a buffer.
fn contents(kind: usize, bytes: &mut [u8]) {
    let mut state = kind as u64;
    for byte in bytes {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x14_057b);
        let random = (state >> 40) as u8;
        *byte = match kind {
            0 => *byte,
            1 => 0,
            2 => 0x38 | random & 7,
            3 => !(0x38 | random & 7),
            _ => random,
        };
    }
}

/// The part of a run's output that must not depend on contents.
#[derive(PartialEq, Debug)]
struct Outcome {
    checks: Vec<[String; 3]>,
    found: BTreeSet<(String, Option<usize>)>,
}

impl Outcome {
    fn is_for_any(&self) -> bool {
        self.checks.iter().any(|[tool, _, detail]| tool == "scope" && detail.contains("any contents of the buffers"))
    }

    fn given_up(&self) -> bool {
        self.found.iter().any(|(code, _)| code == "step-limit" || code == "memory-limit")
    }
}

fn outcome(kernel: &Kernel, args: &[Tensor<'static>], kind: usize, options: &RunOptions) -> Option<Outcome> {
    let mut args = args.to_vec();
    for arg in &mut args {
        if let Some(bytes) = arg.contents() {
            let mut own = bytes.to_vec();
            contents(kind, &mut own);
            *arg = Tensor::raw(own);
        }
    }
    let run = kernel.run_with(args, options).ok()?;
    let facts = run.facts();
    Some(Outcome {
        checks: facts.checks.into_iter().map(|check| [check.tool, check.verdict.to_string(), check.detail]).collect(),
        found: facts.findings.into_iter().map(|found| (found.code, found.line)).collect(),
    })
}

/// Compares the runs of a command line; true if one of them claims to hold for any contents.
fn compare(command: &Command, wrong: &Mutex<Vec<String>>) -> Option<bool> {
    if !command.is_known() {
        return None;
    }
    let mut kernel = Kernel::open(&command.file).ok()?;
    if let Some(arch) = command.option("--arch").first() {
        kernel = kernel.platform(arch).ok()?;
    }
    if let Some(name) = command.option("--func").first() {
        kernel = kernel.function(name);
    }
    kernel.compile().ok()?;
    let args = kernel.arguments(&command.option("--arg"), command.number("--seed").unwrap_or(0)).ok()?;
    let limits = Limits { steps: STEPS, ..Limits::default() };
    let mut options = RunOptions::new().limits(limits);
    options.blocks = command.number("--blocks");
    let mut all = Vec::new();
    for kind in 0..KINDS {
        all.push(outcome(&kernel, &args, kind, &options)?);
        if all[kind].given_up() {
            return None;
        }
    }
    let for_any = all.iter().any(Outcome::is_for_any);
    if let Some(other) = all.iter().find(|one| for_any && **one != all[0]) {
        let line = format!("{} {}", command.file.display(), command.words.join(" "));
        wrong.lock().unwrap().push(format!("slipring run {line}:\n{:#?}\nbecomes {other:#?}", all[0]));
    }
    Some(for_any)
}

#[test]
fn verdicts_for_any_contents_are_the_same_with_all() {
    let commands = commands();
    let compared = compare_each(&commands, |command, wrong| compare(command, wrong) == Some(true));
    assert!(compared > 200, "only {compared} of {} command lines are for any contents", commands.len());
}
