//! Files whose comments state the expected behaviour of the tool, and the check of these expectations: used by
//! `slipring test`, and by the tests of this repository. `tests/files/README.md` describes the format.

pub mod directives;
pub mod outputs;
mod tool;

use std::collections::BTreeMap;
use std::path::Path;

pub use tool::{Tool, on_file, words};

use directives::{Expected, Run, comment_mark, has_json};

/// The outcome of a run with expectations.
#[derive(Debug, Default)]
pub struct Judged {
    /// Standard output, then standard error.
    pub output: String,
    /// Expectations that were not met.
    pub wrong: Vec<String>,
    /// True if the `check:` lines are not in the output.
    pub prints_other: bool,
    /// The `exit:` line that would pin the unexpected errors.
    pub pins: Option<String>,
}

impl Tool {
    /// Runs a command line of a file and compares the outcome with its expectations, including `errors`.
    ///
    /// # Errors
    ///
    /// If the tool does not start, or an expectation is invalid.
    pub fn judge(&self, file: &Path, text: &str, errors: &[Expected], run: &Run) -> Result<Judged, String> {
        let (exit, output) = self.call(file, &words(&run.command))?;
        let mut judged = Judged::default();
        let wrong = &mut judged.wrong;
        if exit != run.exit {
            wrong.push(format!("`{}` exits with {exit}, not {}\n{output}", run.command, run.exit));
        }
        if let Some(missing) = missing(&output, &run.checks) {
            wrong.push(format!("`{}` does not print, in this order: {missing}\n{output}", run.command));
            judged.prints_other = true;
        }
        for absent in &run.absent {
            if output.lines().any(|l| fold(l).contains(&fold(absent))) {
                wrong.push(format!("`{}` prints what it must not: {absent}\n{output}", run.command));
            }
        }
        wrong.extend(outputs::compare(self, file, text, run)?);
        if errors.is_empty() && run.exit != 0 && has_json(&run.command) {
            let codes = codes(&self.reported(file, run)?);
            let pinned = run.codes.clone().unwrap_or_else(|| of_checks(&run.checks));
            // Errors that a comparison lists are not among the findings.
            if !codes.is_empty() && pinned.split(" or ").all(|pinned| codes != pinned) {
                let exit = format!("exit: {} with {codes}", run.exit);
                let mark = comment_mark(file);
                wrong.push(format!(
                    "`{}` has errors that nothing expects: `{mark} {exit}` pins all of them",
                    run.command
                ));
                judged.pins = Some(exit);
            }
        }
        if !errors.is_empty() && has_json(&run.command) {
            let due = if run.exit == 0 { &[][..] } else { errors };
            let unlike = self.compare_errors(file, run, due)?;
            wrong.extend(unlike.into_iter().map(|what| format!("`{}`: {what}", run.command)));
        }
        Ok(Judged { output, ..judged })
    }

    /// The errors that a command reports in its JSON output.
    fn reported(&self, file: &Path, run: &Run) -> Result<Vec<Expected>, String> {
        let mut words = words(&run.command);
        if !words.iter().any(|word| word == "--json") {
            words.push("--json".into());
        }
        let out = self.started(file, &words)?.stdout;
        // Further requested output may follow it.
        let mut objects = serde_json::Deserializer::from_slice(&out).into_iter::<serde_json::Value>();
        let facts = objects.next().ok_or("no JSON")?.map_err(|error| format!("no JSON: {error}"))?;
        let messages = ["diagnostics", "findings"].iter().filter_map(|list| facts[*list].as_array()).flatten();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_string();
        let errors = messages.filter(|m| m["severity"] == "error");
        Ok(errors
            .map(|m| Expected { line: m["line"].as_u64(), code: text(&m["code"]), part: text(&m["message"]) })
            .collect())
    }

    /// Compares the reported errors of a command with the expected ones: all of them, and no others.
    fn compare_errors(&self, file: &Path, run: &Run, expected: &[Expected]) -> Result<Vec<String>, String> {
        let mut found = self.reported(file, run)?;
        let mut wrong = Vec::new();
        for error in expected {
            let fits = |f: &Expected| error.is_met_by(f);
            match found.iter().position(fits) {
                Some(at) => drop(found.remove(at)),
                None => wrong.push(format!("expected {error}; left of what is reported: {}", listed(&found))),
            }
        }
        wrong.extend(found.iter().map(|error| format!("unexpected {error}")));
        Ok(wrong)
    }
}

fn listed(errors: &[Expected]) -> String {
    if errors.is_empty() {
        return "nothing".into();
    }
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A line with single spaces between its words.
#[must_use]
pub fn fold(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first expected line that is missing.
fn missing(output: &str, checks: &[String]) -> Option<String> {
    let mut lines = output.lines().map(fold);
    checks.iter().find(|check| !lines.any(|line| line.contains(&fold(check)))).cloned()
}

/// Codes with their counts, sorted by code: `race 2, uninitialised-read`.
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
