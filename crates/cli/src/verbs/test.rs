//! `slipring test`: files whose comments state the expected behaviour of the tool.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;

use super::exit::Exit;
use super::listed::list;
use super::output::{fail, out};
use crate::expect::directives::{comment_mark, read};
use crate::expect::{Tool, on_file, words};

// Arguments of `test`.
#[derive(Args)]
pub(super) struct TestArgs {
    /// Files, folders or patterns. In a folder, only files are tested that have a line `// test: run %s …` (`#` in Python files)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
}

/// The outcome of a file.
enum Outcome {
    Right(usize),
    Wrong,
    Unreadable,
    None,
}

/// Why the test line of a file may not be this command line; `None` if it may.
type Refuse = fn(&[OsString]) -> Option<String>;

/// Runs the command lines in the comments of files, and compares the outcomes with the expectations.
pub(super) fn test(args: &TestArgs, refuse: Refuse) -> Exit {
    let (listed, tool) = match list(&args.files).and_then(|listed| Ok((listed, Tool::own()?))) {
        Ok(both) => both,
        Err(message) => return fail(message),
    };
    let (mut right, mut wrong, mut runs, mut unreadable) = (0, 0, 0, 0);
    for file in &listed.files {
        match one(file, &tool, listed.several, refuse) {
            Outcome::Right(count) => (right, runs) = (right + 1, runs + count),
            Outcome::Wrong => wrong += 1,
            Outcome::Unreadable => unreadable += 1,
            Outcome::None => {}
        }
    }
    if right + wrong + unreadable == 0 {
        return fail("none of these files has a line `test: …` in its comments: nothing was tested");
    }
    let not_read = if unreadable == 0 { String::new() } else { format!(", {unreadable} not read") };
    out(&format!("{right} passed ({runs} runs), {wrong} failed{not_read}\n"));
    if wrong > 0 {
        fail(format!("{wrong} of {} files do not meet their expectations", right + wrong + unreadable));
    }
    match (wrong, unreadable) {
        (0, 0) => Exit::Clean,
        (_, 0) => Exit::Findings,
        _ => Exit::BadInput,
    }
}

fn one(file: &str, tool: &Tool, among_others: bool, refuse: Refuse) -> Outcome {
    let path = Path::new(file);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            fail(format!("cannot read `{file}`: {error}"));
            return Outcome::Unreadable;
        }
    };
    let mark = comment_mark(path);
    let begins =
        |line: &str| line.trim_start().strip_prefix(mark).is_some_and(|line| line.trim_start().starts_with("test:"));
    if !text.lines().any(begins) {
        if !among_others {
            fail(format!("`{file}` has no line `{mark} test: run %s`: there is nothing to test"));
            return Outcome::Unreadable;
        }
        return Outcome::None;
    }
    let said = match read(&text, mark) {
        Ok(said) => said,
        Err(wrong) => {
            for what in wrong {
                fail(format!("{file}: {what}"));
            }
            return Outcome::Unreadable;
        }
    };
    let mut wrong = Vec::new();
    for run in &said.runs {
        let words = words(&run.command);
        let asked: Vec<OsString> = std::iter::once("slipring".into()).chain(on_file(path, &words)).collect();
        if let Some(reason) = refuse(&asked) {
            fail(format!("{file}: `{}`: {reason}", run.command));
            return Outcome::Unreadable;
        }
    }
    for run in &said.runs {
        match tool.judge(path, &text, &said.errors, run) {
            Ok(judged) => wrong.extend(judged.wrong),
            Err(what) => wrong.push(format!("`{}`: {what}", run.command)),
        }
    }
    if wrong.is_empty() {
        out(&format!("ok      {file}\n"));
        return Outcome::Right(said.runs.len());
    }
    out(&format!("failed  {file}\n"));
    for what in wrong {
        out(&what.lines().map(|line| format!("    {line}\n")).collect::<String>());
    }
    Outcome::Wrong
}
