//! Directives in the comments of a file. `tests/files/README.md` describes the format.

use std::path::Path;

/// One command line of a file with its expectations.
#[derive(Clone, Default, Debug)]
pub struct Run {
    /// As it is written in the file.
    pub written: String,
    /// With the platform added, if the file names several.
    pub command: String,
    /// The exit code.
    pub exit: i32,
    /// The codes of all errors, if the file has no `error:` lines and its `check` lines do not cover them all.
    pub codes: Option<String>,
    /// Lines that the output must contain, in this order.
    pub checks: Vec<String>,
    /// Text that no line of the output may contain.
    pub absent: Vec<String>,
    /// Kernel parameter, and the expected contents of its buffer after the run.
    pub outs: Vec<(usize, String)>,
}

/// An expected error: line (from 1; `None` for errors without a location), code, part of the message.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The line, from 1.
    pub line: Option<u64>,
    /// The code.
    pub code: String,
    /// A part of the message.
    pub part: String,
}

impl Expected {
    /// Whether this expectation matches a reported error.
    #[must_use]
    pub fn is_met_by(&self, reported: &Expected) -> bool {
        reported.line == self.line && reported.code == self.code && reported.part.contains(&self.part)
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {} {}", self.code, self.part),
            None => write!(f, "{} {}", self.code, self.part),
        }
    }
}

/// All directives of a file.
#[derive(Default, Debug)]
pub struct Directives {
    /// The command lines, in order.
    pub runs: Vec<Run>,
    /// The errors of every run that does not exit with 0.
    pub errors: Vec<Expected>,
    /// Whether the expectations hold on every platform.
    pub on_all: bool,
}

/// The keywords that a directive begins with, before its colon. `args` and `blocks` are read by the tool.
const WORDS: [&str; 9] =
    ["test", "exit", "check", "check-not", "out[N]", "error", "error-without-place", "platforms", "args"];
const OF_THE_TOOL: [&str; 2] = ["args", "blocks"];

/// The comment marker of a file's language.
pub fn comment_mark(file: &Path) -> &'static str {
    if file.extension().is_some_and(|e| e == "py") { "#" } else { "//" }
}

/// The keyword before a directive's colon, and what follows; `None` for prose.
fn word(comment: &str) -> Option<(&str, &str)> {
    let (word, rest) = comment.split_once(':')?;
    let name = word.split('[').next().unwrap_or(word).trim_end();
    let lower = name.starts_with(|c: char| c.is_ascii_lowercase());
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_');
    let whole = name == word.trim_end() || word.ends_with(']');
    (lower && plain && whole && ![":", "//"].iter().any(|s| rest.starts_with(s)))
        .then_some((word.trim_end(), rest.trim()))
}

/// Parses the directives of a file.
///
/// # Errors
///
/// Every directive that is invalid: an unknown keyword, or an empty expectation.
pub fn read(text: &str, mark: &str) -> Result<Directives, Vec<String>> {
    let (mut said, mut wrong) = (Directives::default(), Vec::new());
    let mut pending: Vec<Expected> = Vec::new();
    let mut platforms: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut bad = |what: String| wrong.push(format!("line {}: {what}", at + 1));
        let comment = line.split_once(mark).map_or("", |(_, comment)| comment.trim());
        let (name, rest) = word(comment).unwrap_or(("", ""));
        let begun = !said.runs.is_empty();
        match (name, said.runs.last_mut()) {
            ("", _) => {}
            ("test", _) => said.runs.push(Run { written: rest.into(), command: rest.into(), ..Run::default() }),
            ("platforms", _) if begun || !platforms.is_empty() => {
                bad("`platforms:` may occur once, before the first `test:`".into());
            }
            ("platforms", _) => {
                platforms = rest.split(',').map(|name| name.trim().to_string()).collect();
                for name in platforms.iter().filter(|name| slipring_machine::built_in(name).is_err()) {
                    bad(format!("`{name}` is not a platform"));
                }
            }
            ("error" | "error-without-place", _) => {
                let (code, part) = rest.split_once(' ').unwrap_or((rest, ""));
                let expected = Expected { line: None, code: code.into(), part: part.trim().into() };
                if name == "error" { pending.push(expected) } else { said.errors.push(expected) }
            }
            ("exit", Some(run)) => {
                let (exit, codes) = rest.split_once(" with ").map_or((rest, None), |(exit, codes)| (exit, Some(codes)));
                match exit.parse() {
                    Ok(exit) => (run.exit, run.codes) = (exit, codes.map(str::to_string)),
                    Err(_) => bad(format!("`{exit}` is not an exit code")),
                }
            }
            ("check", Some(run)) => run.checks.push(rest.into()),
            ("check-not", Some(run)) => run.absent.push(rest.into()),
            (out, Some(run)) if out.starts_with("out[") => {
                match out["out[".len()..].strip_suffix(']').and_then(|number| number.parse().ok()) {
                    Some(number) => run.outs.push((number, rest.into())),
                    None => bad(format!("`{out}` has no number of a parameter, as `out[2]:` has")),
                }
            }
            (name, None) if ["exit", "check", "check-not"].contains(&name) || name.starts_with("out[") => {
                bad(format!("`{name}:` must come after a `test:`"));
            }
            (name, _) if OF_THE_TOOL.contains(&name) => {}
            (name, _) => {
                let near = slipring_ir::text::nearest(name, WORDS);
                let near = near.map_or(String::new(), |near| format!(": did you mean `{near}:`?"));
                bad(format!("`{name}:` is not a directive of file tests{near}"));
            }
        }
        if name == "error" && line.trim_start().starts_with(mark) {
            continue;
        }
        let here = pending.drain(..).map(|expected| Expected { line: Some(at as u64 + 1), ..expected });
        said.errors.extend(here);
    }
    wrong.extend(pending.iter().map(|expected| format!("the last line has nothing below it: {expected:?}")));
    if !said.errors.is_empty() && !said.runs.iter().any(|run| has_json(&run.command)) {
        wrong.push("there are `error:` lines, and no command that lists its errors".into());
    }
    said.on_all = slipring_machine::BUILT_IN.iter().all(|name| platforms.iter().any(|own| own == name));
    if !platforms.is_empty() {
        said.runs = said.runs.into_iter().flat_map(|run| on_each(run, &platforms)).collect();
    }
    if wrong.is_empty() { Ok(said) } else { Err(wrong) }
}

/// The command lines of a file, for each platform that it names; none for a file that the runner of the file tests
/// rejects.
pub fn commands(file: &Path, text: &str) -> Vec<String> {
    let runs = read(text, comment_mark(file)).unwrap_or_default().runs;
    runs.into_iter().map(|run| run.command).collect()
}

/// Whether a command lists its errors in JSON.
pub fn has_json(command: &str) -> bool {
    ["run ", "check ", "sync-check ", "queue lint ", "queue run "].iter().any(|verb| command.starts_with(verb))
}

/// A run for each platform, unless it names its own.
fn on_each(run: Run, platforms: &[String]) -> Vec<Run> {
    if run.command.split_whitespace().any(|word| word == "--arch" || word == "--platform") {
        return vec![run];
    }
    let on = |name: &String| Run { command: format!("{} --arch {name}", run.command), ..run.clone() };
    platforms.iter().map(on).collect()
}
