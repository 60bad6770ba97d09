//! Output to the terminal, and the common exit path of all verbs: every exit code other than 0 comes with a message.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use slipring::{Error, Report, message_facts};
use slipring_ir::{Diagnostic, Diags, Severity, Source, brief, visible};
use slipring_report::{MessageFacts, Told, sarif};

use super::exit::Exit;
use super::standard;

/// State of the output so far.
struct Written {
    /// Messages of [`fail`].
    failures: Vec<String>,
    /// Whether an error was reported, as text or in JSON.
    error: bool,
    /// Whether a JSON object was printed.
    object: bool,
    /// Why standard output can no longer be written.
    lost: Option<Lost>,
    /// The file for the log of messages, and the messages.
    log: Option<String>,
    told: Vec<Told>,
}

/// Why standard output can no longer be written.
enum Lost {
    /// Its reader closed the pipe, which is not an error: it has read what it needs.
    Reader,
    Error(String),
}

const NOTHING: Written =
    Written { failures: Vec::new(), error: false, object: false, lost: None, log: None, told: Vec::new() };

static WRITTEN: Mutex<Written> = Mutex::new(NOTHING);

fn with<T>(change: impl FnOnce(&mut Written) -> T) -> T {
    change(&mut WRITTEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Resets the state for a new command: a process may run several.
pub(super) fn begin() {
    with(|written| *written = NOTHING);
    QUIET.store(false, Ordering::Relaxed);
}

/// Writes a report to standard output. A write error becomes an error of the verb, reported by [`finish`].
pub(super) fn out(text: &str) {
    if QUIET.load(Ordering::Relaxed) {
        return;
    }
    out_bytes(visible(text).as_bytes());
}

/// Writes data for other programs to standard output, unchanged.
pub(super) fn data(text: &str) {
    out_bytes(text.as_bytes());
}

/// Like [`data`], for bytes.
pub(super) fn data_bytes(bytes: &[u8]) {
    out_bytes(bytes);
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses reports from now on.
pub(super) fn quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

fn out_bytes(bytes: &[u8]) {
    with(|written| {
        if written.lost.is_some() {
            return;
        }
        written.lost = match standard::write_output(bytes) {
            Ok(()) => None,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Some(Lost::Reader),
            Err(error) => Some(Lost::Error(format!("cannot write to standard output: {error}"))),
        };
    });
}

/// Writes requested output to standard error. A write error becomes an error of the verb.
pub(super) fn out_beside(text: &str) {
    if let Err(error) = std::io::stderr().write_all(text.as_bytes())
        && error.kind() != ErrorKind::BrokenPipe
    {
        with(|written| written.lost = Some(Lost::Error(format!("cannot write to standard error: {error}"))));
    }
}

/// Prints the single JSON object of a verb.
pub(super) fn json(facts: &impl Serialize) {
    object(serde_json::to_string_pretty(&Versioned { schema: SCHEMA, facts }));
}

/// Like [`json`], on one line.
pub(super) fn json_line(facts: &impl Serialize) {
    object(serde_json::to_string(&Versioned { schema: SCHEMA, facts }));
}

/// The version of the `--json` output (`docs/json.md`): it grows when a field is removed or changes its meaning.
pub(super) const SCHEMA: u32 = 2;

/// Facts with their schema version.
#[derive(Serialize)]
struct Versioned<'a, F: Serialize> {
    schema: u32,
    #[serde(flatten)]
    facts: &'a F,
}

fn object(text: serde_json::Result<String>) {
    match text {
        Ok(text) => {
            with(|written| written.object = true);
            data(&(text + "\n"));
        }
        Err(error) => drop(fail(format!("internal error: facts that have no JSON form: {error}"))),
    }
}

/// The JSON object for a command that failed and has no other facts.
#[derive(Serialize)]
pub(super) struct RefusedFacts {
    pub complete: bool,
    pub error: Option<String>,
    pub findings: Vec<MessageFacts>,
}

/// Writes a file, as [`slipring::files::write`] does; `-` is standard output, as for [`out`].
///
/// # Errors
///
/// A message with the file name and the system's error.
pub(super) fn write_file(path: &str, parts: &[&[u8]]) -> Result<(), String> {
    if path == "-" {
        parts.iter().for_each(|part| out_bytes(part));
        return Ok(());
    }
    slipring::files::write(Path::new(path), parts)
        .map_err(|error| format!("cannot write `{}`: {error}", slipring::files::shown(Path::new(path))))
}

/// The final exit code of a verb. A failure without a message is an internal error, reported here. With `as_json`,
/// every failure prints an object.
pub(super) fn finish(exit: Exit, as_json: bool) -> Exit {
    let silent = with(|written| exit != Exit::Clean && !written.error);
    if silent {
        fail(format!("internal error: the command exited with {} without a message", exit as u8));
    }
    if as_json && !with(|written| written.object) && exit != Exit::Clean {
        let error = with(|written| written.failures.join("\n"));
        json(&RefusedFacts { complete: false, error: Some(error), findings: Vec::new() });
    }
    let exit = match write_log(exit) {
        Ok(()) => exit,
        Err(message) => fail(message),
    };
    match with(|written| written.lost.take()) {
        Some(Lost::Error(message)) => fail(message),
        _ => exit,
    }
}

/// Reports an error without a location in a text.
pub(super) fn fail(message: impl std::fmt::Display) -> Exit {
    let message = message.to_string();
    let _ = writeln!(std::io::stderr(), "error: {}", brief(&message));
    with(|written| {
        written.error = true;
        written.failures.push(message);
    });
    Exit::BadInput
}

/// Reports why a proof is withheld.
pub(super) fn doubtful(reasons: &str) -> Exit {
    fail(format!("doubtful: {reasons}"));
    Exit::Doubtful
}

/// Reports an invalid command line.
pub(super) fn usage(error: &clap::Error) -> Exit {
    // The message repeats the command line, which may contain control characters.
    let seen = std::env::args_os().all(|word| matches!(visible(&word.to_string_lossy()), Cow::Borrowed(_)));
    match seen {
        true => drop(error.print()),
        false => drop(write!(std::io::stderr(), "{}", brief(&error.render().to_string()))),
    }
    with(|written| {
        written.error = true;
        written.failures.push(error.render().to_string().trim_start_matches("error: ").trim_end().to_string());
    });
    Exit::BadInput
}

/// Records errors that were reported in a JSON object instead of on standard error.
pub(super) fn told(diags: &Diags) {
    with(|written| written.error |= diags.has_errors());
}

/// Records that the report of a verb contains an error.
pub(super) fn said_error() {
    with(|written| written.error = true);
}

/// Keeps all messages from now on for a log in this file.
pub(super) fn log_to(file: &str) {
    with(|written| written.log = Some(file.into()));
}

/// Keeps a message if a log was requested.
pub(super) fn keep(diagnostic: &Diagnostic, source: &Source) {
    with(|written| {
        if written.log.is_some() {
            written.told.push(Told { file: source.name.clone(), message: message_facts(diagnostic, source) });
        }
    });
}

/// Writes the log of all messages, if one was requested.
fn write_log(exit: Exit) -> Result<(), String> {
    let (file, told, failures) =
        with(|written| (written.log.take(), std::mem::take(&mut written.told), written.failures.clone()));
    file.map_or(Ok(()), |file| write_file(&file, &[sarif(&told, &failures, exit as u8).as_bytes()]))
}

/// Prints a note, which is not an error.
pub(super) fn note(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "note: {}", brief(&message.to_string()));
}

/// Says which of several launches a report with findings is about.
pub(super) fn which_launch(number: u32, of: u32, found: bool) {
    if found && of > 1 {
        note(format!("this is launch {number} of {of}"));
    }
}

static PLAIN: AtomicBool = AtomicBool::new(false);

/// Disables colours from now on.
pub(super) fn no_color() {
    PLAIN.store(true, Ordering::Relaxed);
}

fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() && !PLAIN.load(Ordering::Relaxed)
}

/// Writes diagnostics to standard error.
pub(super) fn report(diags: &Diags, source: &Source) {
    for diagnostic in &diags.list {
        report_one(diagnostic, source);
    }
}

/// Writes messages to standard error.
pub(super) fn report_all(messages: &Report) {
    messages.messages().iter().for_each(|message| report_one(message, messages.source()));
}

/// Writes one diagnostic to standard error.
pub(super) fn report_one(diagnostic: &Diagnostic, source: &Source) {
    with(|written| written.error |= diagnostic.severity == Severity::Error);
    keep(diagnostic, source);
    let _ = writeln!(std::io::stderr(), "{}\n", diagnostic.render(source, color()));
}

/// The number of errors among the diagnostics.
pub(super) fn errors(diags: &Diags) -> usize {
    diags.list.iter().filter(|d| d.severity == Severity::Error).count()
}

/// Reports why nothing was run, also as JSON if requested.
pub(super) fn refused(error: &Error, as_json: bool) -> Exit {
    let (message, findings) = match error.report() {
        Some(messages) => {
            report_all(messages);
            (None, messages.facts())
        }
        None => {
            fail(error);
            (Some(error.to_string()), Vec::new())
        }
    };
    if as_json {
        json(&RefusedFacts { complete: false, error: message, findings });
    }
    Exit::BadInput
}
