//! The two background threads: one checks a document a few milliseconds after a change, the other runs it once it has
//! been unchanged for a while.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use slipring::{Control, Diagnostic, Error, Severity};
use slipring_report::LineFacts;

use super::documents::{Documents, is_ours, too_large};
use super::text::LineMap;
use crate::session::Text;

/// How long a text must be unchanged before it is checked, and before it is run.
const CHECK_AFTER: Duration = Duration::from_millis(10);
const RUN_AFTER: Duration = Duration::from_millis(300);

/// Sends a notification: its method and parameters.
pub type Send<'a> = dyn Fn(&str, Value) + Sync + 'a;

/// Checks changed documents until the server shuts down.
pub fn check_all(documents: &Documents, send: &Send<'_>) {
    while let Some((address, version, text)) = documents.next(CHECK_AFTER, |document| document.checked.is_none()) {
        let (messages, runs) = caught(|| checked(&address, &text)).unwrap_or_else(|| (vec![defect()], false));
        let mut open = documents.lock();
        let Some(document) = open.documents.get_mut(&address).filter(|document| document.version == version) else {
            continue;
        };
        document.checked = Some(messages.clone());
        document.runs = runs;
        publish(send, &address, version, messages);
        drop(open);
        documents.wake();
    }
}

/// Runs unchanged documents until the server shuts down.
pub fn run_all(documents: &Documents, send: &Send<'_>) {
    let due = |document: &super::documents::Document| document.runs && document.ran.is_none();
    while let Some((address, version, text)) = documents.next(RUN_AFTER, due) {
        let control = Control::default();
        documents.lock().running = Some((address.clone(), control.clone()));
        let (messages, lines) =
            caught(|| ran(&address, &text, &control)).unwrap_or_else(|| (vec![defect()], Vec::new()));
        let mut open = documents.lock();
        open.running = None;
        if control.is_cancelled() {
            continue;
        }
        let Some(document) = open.documents.get_mut(&address).filter(|document| document.version == version) else {
            continue;
        };
        let mut all = document.checked.clone().unwrap_or_default();
        // Findings of both are already listed.
        all.extend(messages.iter().filter(|new| !document.checked.iter().flatten().any(|old| old == *new)).cloned());
        document.ran = Some(messages);
        document.lines = Arc::new(lines);
        let refresh = open.refreshes;
        publish(send, &address, version, all);
        if refresh {
            send("workspace/inlayHint/refresh", Value::Null);
        }
    }
}

fn publish(send: &Send<'_>, address: &str, version: i64, messages: Vec<Value>) {
    let params = json!({ "uri": address, "version": version, "diagnostics": messages });
    send("textDocument/publishDiagnostics", params);
}

/// Turns a panic, which is a bug in slipring, into a message.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn defect() -> Value {
    whole("internal error: slipring itself failed; please report the input", 1)
}

/// A message about the whole text.
fn whole(message: &str, severity: u8) -> Value {
    let start = json!({ "line": 0, "character": 0 });
    json!({ "range": { "start": start, "end": start }, "severity": severity, "source": "slipring", "message": message })
}

/// Messages of a check, and whether the text can be run.
fn checked(address: &str, text: &Text) -> (Vec<Value>, bool) {
    if !is_ours(text) || text.text.trim().is_empty() {
        return (Vec::new(), false);
    }
    if let Some(why) = too_large(text) {
        return (vec![whole(&why, 1)], false);
    }
    match text.check() {
        Ok(checked) => {
            let lines = LineMap::new(&checked.source().text);
            let messages = checked.diags().list.iter().map(|said| message(address, &lines, said)).collect();
            (messages, checked.errors() == 0)
        }
        Err(error) => (vec![whole(&error.to_string(), 1)], false),
    }
}

/// The findings of a default run, and the activity of each line in it.
fn ran(address: &str, text: &Text, control: &Control) -> (Vec<Value>, Vec<LineFacts>) {
    let messages = match text.run(control) {
        Ok(ran) => {
            let lines = LineMap::new(&ran.findings.source().text);
            let messages = ran.findings.messages().iter().map(|said| message(address, &lines, said)).collect();
            return (messages, ran.lines);
        }
        Err(Error::Cancelled) => Vec::new(),
        Err(error) => match error.report() {
            Some(report) => {
                let lines = LineMap::new(&report.source().text);
                report.messages().iter().map(|said| message(address, &lines, said)).collect()
            }
            // A kernel that needs arguments of its own is not an error.
            None => vec![whole(&format!("not run: {error}"), 3)],
        },
    };
    (messages, Vec::new())
}

/// A message with its related locations.
fn message(address: &str, lines: &LineMap<'_>, said: &Diagnostic) -> Value {
    let place = said.primary.as_ref().filter(|primary| !primary.span.is_empty());
    let range = match place {
        Some(primary) => lines.range_of(primary.span),
        None => lines.range(0, lines.line(0).len()),
    };
    let mut text = said.message.clone();
    if let Some(label) = place.map(|primary| primary.text.as_str()).filter(|label| !label.is_empty()) {
        text += &format!("\n{label}");
    }
    said.notes.iter().for_each(|note| text += &format!("\nnote: {note}"));
    said.help.iter().for_each(|help| text += &format!("\nhelp: {help}"));
    let related = said.secondary.iter().map(|label| {
        let what = if label.text.is_empty() { "here" } else { &label.text };
        json!({ "location": { "uri": address, "range": lines.range_of(label.span) }, "message": what })
    });
    let severity = match said.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    json!({
        "range": range,
        "severity": severity,
        "code": said.code,
        "source": "slipring",
        "message": text,
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}
