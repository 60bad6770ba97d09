//! Runs the file tests: every file below `tests/files`, but for `passes`, which has a runner of its own. A comment begins with
//! `//`, in `.py` files with `#`.
//! `tests/files/README.md` has the format.

#[path = "files/outputs.rs"]
mod outputs;
#[path = "files/walk.rs"]
mod walk;

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// One command line of a file with what is expected of it.
#[derive(Default)]
struct Run {
    command: String,
    exit: i32,
    checks: Vec<String>,
    absent: Vec<String>,
    /// Kernel parameter, and what its buffer holds after the run.
    outs: Vec<(usize, String)>,
}

/// An error that the file expects: line (from 1; `None` for one without a place), code, part of the message.
#[derive(Debug)]
struct Expected {
    line: Option<u64>,
    code: String,
    part: String,
}

fn main() {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let folder = root.join("tests/files");
    let mut files = walk::files(&folder, &["pto", "py", "queue"]);
    files.retain(|file| !file.starts_with(folder.join("passes")));
    assert!(!files.is_empty(), "no files below {}", folder.display());
    let trials = files.into_iter().map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        Trial::test(name, move || test(&file))
    });
    let trials = trials.collect();
    libtest_mimic::run(&args, trials).exit();
}

/// How comments begin in a file.
fn comment_mark(file: &Path) -> &'static str {
    if file.extension().is_some_and(|e| e == "py") { "#" } else { "//" }
}

fn test(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let mark = comment_mark(file);
    let (runs, errors) = expectations(&text, mark);
    if runs.is_empty() {
        return Err(format!("no `{mark} test:` line").into());
    }
    let mut blessed = text.clone();
    let mut wrong = Vec::new();
    for run in &runs {
        let (exit, output) = call(file, &words(&run.command))?;
        if exit != run.exit {
            wrong.push(format!("`{}` exits with {exit}, not {}\n{output}", run.command, run.exit));
        }
        if let Some(missing) = missing(&output, &run.checks) {
            wrong.push(format!("`{}` does not print, in this order: {missing}\n{output}", run.command));
            bless(&mut blessed, run, &output, file);
        }
        for absent in &run.absent {
            if output.lines().any(|l| fold(l).contains(&fold(absent))) {
                wrong.push(format!("`{}` prints what it must not: {absent}\n{output}", run.command));
            }
        }
        wrong.extend(outputs::compare(file, &text, run)?);
        let has_json = ["run ", "check ", "queue lint ", "queue run "].iter().any(|verb| run.command.starts_with(verb));
        if !errors.is_empty() && has_json {
            let none = Vec::new();
            let due = if run.exit == 0 { &none } else { &errors };
            wrong.extend(compare_errors(file, run, due)?.into_iter().map(|w| format!("`{}`: {w}", run.command)));
        }
    }
    if std::env::var_os("SLIPRING_BLESS").is_some() && blessed != text {
        std::fs::write(file, blessed)?;
        return Ok(());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_string).collect()
}

/// Runs `slipring` on a file, `%s` of the words: exit code, then standard output and standard error.
fn call(file: &Path, words: &[String]) -> Result<(i32, String), Failed> {
    let words = words.iter().map(|w| if w == "%s" { file.display().to_string() } else { w.clone() });
    let ran = Command::new(env!("CARGO_BIN_EXE_slipring")).args(words).output()?;
    let output = String::from_utf8(ran.stdout)? + &String::from_utf8(ran.stderr)?;
    Ok((ran.status.code().unwrap_or(-1), output))
}

fn expectations(text: &str, mark: &str) -> (Vec<Run>, Vec<Expected>) {
    let (mut runs, mut errors) = (Vec::<Run>::new(), Vec::new());
    let mut pending: Vec<(String, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let comment = line.split_once(mark).map(|(_, comment)| comment.trim());
        let tail = |name: &str| comment.and_then(|c| c.strip_prefix(name)).map(|t| t.trim().to_string());
        let error = |error: String| {
            let (code, part) = error.split_once(' ').unwrap_or((&error, ""));
            (code.to_string(), part.trim().to_string())
        };
        if let Some(command) = tail("test:") {
            runs.push(Run { command, ..Run::default() });
        } else if let Some(run) = runs.last_mut() {
            if let Some(exit) = tail("exit:") {
                run.exit = exit.parse().unwrap_or(-1);
            } else if let Some(check) = tail("check:") {
                run.checks.push(check);
            } else if let Some(absent) = tail("check-not:") {
                run.absent.push(absent);
            } else if let Some((index, expected)) = tail("out[").as_deref().and_then(|t| t.split_once("]:")) {
                run.outs.push((index.parse().unwrap_or(usize::MAX), expected.trim().to_string()));
            }
        }
        if let Some((code, part)) = tail("error-without-place:").map(error) {
            errors.push(Expected { line: None, code, part });
            continue;
        }
        if let Some(expected) = tail("error:").map(error) {
            pending.push(expected);
            if line.trim_start().starts_with(mark) {
                continue;
            }
        }
        for (code, part) in pending.drain(..) {
            errors.push(Expected { line: Some(at as u64 + 1), code, part });
        }
    }
    (runs, errors)
}

fn fold(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first expected line that does not come.
fn missing(output: &str, checks: &[String]) -> Option<String> {
    let mut lines = output.lines().map(fold);
    checks.iter().find(|check| !lines.any(|line| line.contains(&fold(check)))).cloned()
}

/// Replaces the `check` lines of a run by the output it has now.
fn bless(text: &mut String, run: &Run, output: &str, file: &Path) {
    let mark = comment_mark(file);
    let directive = |line: &str, name: &str| {
        line.trim().strip_prefix(mark).and_then(|l| l.trim_start().strip_prefix(name)).map(|l| l.trim().to_string())
    };
    let mut result = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(command) = directive(line, "test:") {
            inside = command == run.command;
            result.push(line.to_string());
            if inside {
                let shown = output.replace(&file.display().to_string(), "FILE");
                result.extend(
                    shown
                        .lines()
                        .filter(|l| !l.trim().is_empty() && !l.contains("FILE"))
                        .map(|l| format!("{mark} check: {}", fold(l))),
                );
            }
        } else if !(inside && directive(line, "check:").is_some()) {
            result.push(line.to_string());
        }
    }
    *text = result.join("\n") + "\n";
}

/// Compares the errors that a command reports, as its JSON has them, with the expected ones: all of them, no others.
fn compare_errors(file: &Path, run: &Run, expected: &[Expected]) -> Result<Vec<String>, Failed> {
    let mut words = words(&run.command);
    words.push("--json".into());
    let words = words.iter().map(|w| if w == "%s" { file.display().to_string() } else { w.clone() });
    let out = Command::new(env!("CARGO_BIN_EXE_slipring")).args(words).output()?.stdout;
    let facts: serde_json::Value = serde_json::from_slice(&out)?;
    let messages = ["diagnostics", "findings"].iter().filter_map(|list| facts[*list].as_array()).flatten();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_string();
    let mut found: Vec<Expected> = messages
        .filter(|m| m["severity"] == "error")
        .map(|m| Expected { line: m["line"].as_u64(), code: text(&m["code"]), part: text(&m["message"]) })
        .collect();
    let mut wrong = Vec::new();
    for error in expected {
        let fits = |f: &Expected| f.line == error.line && f.code == error.code && f.part.contains(&error.part);
        match found.iter().position(fits) {
            Some(at) => drop(found.remove(at)),
            None => wrong.push(format!("expected {error:?}; left of what is reported: {found:?}")),
        }
    }
    wrong.extend(found.iter().map(|f| format!("unexpected {f:?}")));
    Ok(wrong)
}
