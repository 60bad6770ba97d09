//! Runs the file tests: every file below `tests/files`, but for `passes`, which has a runner of its own, and the bugs of
//! `tests/field`. A comment begins with `//`, in `.py` files with `#`.
//! `tests/files/README.md` has the format.

// What other tests of these files need stands there too.
#[allow(dead_code)]
#[path = "files/directives.rs"]
mod directives;
#[path = "files/explained.rs"]
mod explained;
#[path = "files/field.rs"]
mod field;
#[path = "files/outputs.rs"]
mod outputs;
#[path = "files/reads_back.rs"]
mod reads_back;
#[path = "files/walk.rs"]
mod walk;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use directives::{Directives, Expected, Run, comment_mark, has_json, read};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let folder = root.join("tests/files");
    let mut files = walk::files(&folder, &["pto", "py", "cpp", "queue"]);
    files.retain(|file| !file.starts_with(folder.join("passes")));
    assert!(!files.is_empty(), "no files below {}", folder.display());
    let trials = files.into_iter().map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        Trial::test(name, move || test(&file))
    });
    let trials = trials.chain(field::trials(&root)).chain(explained::trials()).collect();
    libtest_mimic::run(&args, trials).exit();
}

fn test(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let mark = comment_mark(file);
    let Directives { runs, errors, on_all } = read(&text, mark).map_err(|wrong| wrong.join("\n"))?;
    if runs.is_empty() {
        return Err(format!("no `{mark} test:` line").into());
    }
    let third = if on_all { third_platform(&runs) } else { Vec::new() };
    let mut blessed = text.clone();
    let mut wrong = reads_back::judge(file, &text, runs.iter().any(|run| run.exit == 2));
    for run in runs.iter().chain(&third) {
        let (exit, output) = call(file, &words(&run.command))?;
        if exit != run.exit {
            wrong.push(format!("`{}` exits with {exit}, not {}\n{output}", run.command, run.exit));
        }
        for code in explained::unexplained(&output) {
            wrong.push(format!("no page of `crates/slipring/explain` says what `{code}` means"));
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
        if errors.is_empty() && run.exit != 0 && has_json(&run.command) {
            let codes = codes(&reported(file, run)?);
            let pinned = run.codes.clone().unwrap_or_else(|| of_checks(&run.checks));
            // What a comparison lists is not among the findings.
            if !codes.is_empty() && pinned.split(" or ").all(|pinned| codes != pinned) {
                let exit = format!("exit: {} with {codes}", run.exit);
                wrong.push(format!(
                    "`{}` has errors that nothing expects: `{mark} {exit}` pins all of them",
                    run.command
                ));
                bless_exit(&mut blessed, run, &exit, mark);
            }
        }
        if !errors.is_empty() && has_json(&run.command) {
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

/// The runs of a file whose outcome no platform decides, on one that is neither of those that are built in: the A5 with every
/// other of its capabilities, and some figures of its own.
fn third_platform(runs: &[Run]) -> Vec<Run> {
    static FILE: OnceLock<String> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let a5 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../platforms/a5.toml");
        let a5 = std::fs::read_to_string(a5).expect("the A5");
        let (before, rest) = a5.split_once("capabilities = [\n").expect("a list of capabilities");
        let (list, after) = rest.split_once("]\n").expect("its end");
        let kept: Vec<&str> = list.lines().step_by(2).collect();
        assert!(kept.len() > 10, "the list of capabilities is not read: {list}");
        let text = format!("{before}capabilities = [\n{}\n]\n{after}", kept.join("\n"));
        let own = [
            ("name = \"a5\"", "name = \"third\""),
            ("clusters = 36", "clusters = 20"),
            ("cycles = 1\n", "cycles = 3\n"),
        ];
        let text = own.iter().fold(text, |text, (of_a5, own)| {
            assert!(text.contains(of_a5), "{of_a5}");
            text.replacen(of_a5, own, 1)
        });
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("third.toml");
        std::fs::write(&file, text).expect("a platform file");
        file.display().to_string()
    });
    let on_third = |run: &Run| {
        let command = run.command.strip_suffix(" --arch a5").filter(|command| *command == run.written)?;
        // Other tools are for the built-in platforms.
        if command.starts_with("build ") {
            return None;
        }
        Some(Run { command: format!("{command} --platform {file}"), ..run.clone() })
    };
    runs.iter().filter_map(on_third).collect()
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
            inside = command == run.written;
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

/// Codes with how often each of them stands there, in order of the codes: `race 2, uninitialised-read`.
fn counted<'c>(codes: impl Iterator<Item = &'c str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    codes.for_each(|code| *counts.entry(code).or_default() += 1);
    let each = counts.into_iter().map(|(code, count)| match count {
        1 => code.to_string(),
        count => format!("{code} {count}"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The codes of errors.
fn codes(errors: &[Expected]) -> String {
    counted(errors.iter().map(|error| error.code.as_str()))
}

/// The codes of the errors whose first lines are expected.
fn of_checks(checks: &[String]) -> String {
    counted(checks.iter().filter_map(|check| Some(check.split_once("error[")?.1.split_once(']')?.0)))
}

/// Replaces the exit code of a run by one with all its errors.
fn bless_exit(text: &mut String, run: &Run, exit: &str, mark: &str) {
    let mut inside = false;
    let lines = text.lines().map(|line| {
        let said = line.trim().strip_prefix(mark).map_or("", str::trim_start);
        if let Some(command) = said.strip_prefix("test:") {
            inside = command.trim() == run.written;
        }
        match said.starts_with("exit:") && inside {
            true => format!("{mark} {exit}"),
            false => line.to_string(),
        }
    });
    *text = lines.collect::<Vec<_>>().join("\n") + "\n";
}

/// The errors that a command reports, as its JSON has them.
fn reported(file: &Path, run: &Run) -> Result<Vec<Expected>, Failed> {
    let mut words = words(&run.command);
    if !words.iter().any(|word| word == "--json") {
        words.push("--json".into());
    }
    let words = words.iter().map(|w| if w == "%s" { file.display().to_string() } else { w.clone() });
    let out = Command::new(env!("CARGO_BIN_EXE_slipring")).args(words).output()?.stdout;
    // What else is asked for may stand behind it.
    let mut objects = serde_json::Deserializer::from_slice(&out).into_iter::<serde_json::Value>();
    let facts = objects.next().ok_or("no JSON")??;
    let messages = ["diagnostics", "findings"].iter().filter_map(|list| facts[*list].as_array()).flatten();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_string();
    let errors = messages.filter(|m| m["severity"] == "error");
    Ok(errors
        .map(|m| Expected { line: m["line"].as_u64(), code: text(&m["code"]), part: text(&m["message"]) })
        .collect())
}

/// Compares the errors that a command reports with the expected ones: all of them, no others.
fn compare_errors(file: &Path, run: &Run, expected: &[Expected]) -> Result<Vec<String>, Failed> {
    let mut found = reported(file, run)?;
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
