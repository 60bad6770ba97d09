//! Writing to the terminal, and the one exit of all verbs: what ends with another code than 0 has said why.

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

/// What has been written so far.
struct Written {
    /// What `fail` said.
    failures: Vec<String>,
    /// An error was reported, in words or in an object.
    error: bool,
    /// An object was printed.
    object: bool,
    /// Why standard output takes no more.
    lost: Option<Lost>,
    /// Where messages go as a log, and the messages.
    log: Option<String>,
    told: Vec<Told>,
}

/// Why standard output takes no more.
enum Lost {
    /// Its reader has gone away, which is not an error: whoever looked has seen enough.
    Reader,
    Error(String),
}

const NOTHING: Written =
    Written { failures: Vec::new(), error: false, object: false, lost: None, log: None, told: Vec::new() };

static WRITTEN: Mutex<Written> = Mutex::new(NOTHING);

fn with<T>(change: impl FnOnce(&mut Written) -> T) -> T {
    change(&mut WRITTEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Begins a command: a process may run several.
pub(super) fn begin() {
    with(|written| *written = NOTHING);
    QUIET.store(false, Ordering::Relaxed);
}

/// Writes a report to standard output. What cannot be written is an error of the verb, told by [`finish`].
pub(super) fn out(text: &str) {
    if QUIET.load(Ordering::Relaxed) {
        return;
    }
    out_bytes(visible(text).as_bytes());
}

/// Writes what others read to standard output, byte by byte as it is.
pub(super) fn data(text: &str) {
    out_bytes(text.as_bytes());
}

/// The same for bytes.
pub(super) fn data_bytes(bytes: &[u8]) {
    out_bytes(bytes);
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves reports out from now on.
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

/// Writes to standard error what was asked for there. What cannot be written is an error of the verb.
pub(super) fn out_beside(text: &str) {
    if let Err(error) = std::io::stderr().write_all(text.as_bytes())
        && error.kind() != ErrorKind::BrokenPipe
    {
        with(|written| written.lost = Some(Lost::Error(format!("cannot write to standard error: {error}"))));
    }
}

/// Prints the one object of a verb that was asked for JSON.
pub(super) fn json(facts: &impl Serialize) {
    object(serde_json::to_string_pretty(&Versioned { schema: SCHEMA, facts }));
}

/// The same on one line.
pub(super) fn json_line(facts: &impl Serialize) {
    object(serde_json::to_string(&Versioned { schema: SCHEMA, facts }));
}

/// The version of what `--json` prints (`docs/json.md`): it grows when a field goes or means something else.
pub(super) const SCHEMA: u32 = 2;

/// Facts with the version of their form.
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

/// What JSON says where there is nothing to say but what is wrong.
#[derive(Serialize)]
pub(super) struct RefusedFacts {
    pub complete: bool,
    pub error: Option<String>,
    pub findings: Vec<MessageFacts>,
}

/// Writes a file, as [`slipring::files::write`] does; `-` is standard output, as for [`out`].
///
/// # Errors
/// The message that names the file and what the system says.
pub(super) fn write_file(path: &str, parts: &[&[u8]]) -> Result<(), String> {
    if path == "-" {
        parts.iter().for_each(|part| out_bytes(part));
        return Ok(());
    }
    slipring::files::write(Path::new(path), parts)
        .map_err(|error| format!("cannot write `{}`: {error}", slipring::files::shown(Path::new(path))))
}

/// The exit code of a verb. An error without a word is one of slipring itself, and said here; `as_json` wants an object for
/// every end.
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

/// Reports something that has no place in a text.
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

/// Reports a command line that is none.
pub(super) fn usage(error: &clap::Error) -> Exit {
    // What was typed comes back in the message.
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

/// Errors that an object tells, where nothing is written to standard error.
pub(super) fn told(diags: &Diags) {
    with(|written| written.error |= diags.has_errors());
}

/// Says that the report of a verb has told an error.
pub(super) fn said_error() {
    with(|written| written.error = true);
}

/// Keeps all messages from now on for a log in this file.
pub(super) fn log_to(file: &str) {
    with(|written| written.log = Some(file.into()));
}

/// Keeps a message where a log is wanted.
pub(super) fn keep(diagnostic: &Diagnostic, source: &Source) {
    with(|written| {
        if written.log.is_some() {
            written.told.push(Told { file: source.name.clone(), message: message_facts(diagnostic, source) });
        }
    });
}

/// Writes the log of all messages, where one is wanted.
fn write_log(exit: Exit) -> Result<(), String> {
    let (file, told, failures) =
        with(|written| (written.log.take(), std::mem::take(&mut written.told), written.failures.clone()));
    file.map_or(Ok(()), |file| write_file(&file, &[sarif(&told, &failures, exit as u8).as_bytes()]))
}

/// Says something that is not an error.
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

/// Leaves colours out from now on.
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

/// How many of them are errors.
pub(super) fn errors(diags: &Diags) -> usize {
    diags.list.iter().filter(|d| d.severity == Severity::Error).count()
}

/// Says why nothing was run, also as an object.
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
