//! Findings about streams as messages, with source locations where the stream is a text.

use std::ops::Range;

use slipring_ir::{Diagnostic, Labeled, Severity, Span};
use slipring_queue::capture::{Capture, TextError};
use slipring_queue::sanitize::{self, Finding};

fn span(range: &Range<usize>) -> Span {
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(byte(range.start), byte(range.end))
}

/// An error in a text.
pub fn of_text(error: &TextError) -> Diagnostic {
    let message = Diagnostic::error("queue-syntax", span(&error.span), error.message.clone());
    match &error.hint {
        Some(hint) => message.help(hint.clone()),
        None => message,
    }
}

/// A finding about a stream.
pub fn of_finding(finding: &Finding, capture: &Capture) -> Diagnostic {
    let def = finding.hazard.def();
    let entry = finding.record.and_then(|record| capture.entry(finding.queue, record.index));
    let place = entry.map(|entry| entry.place(finding.command.and_then(|command| command.at)));
    let act = finding.act.and_then(|act| capture.acts.get(usize::try_from(act).ok()?));
    let place = place.or_else(|| act.map(|act| act.span.clone())).filter(|place| !place.is_empty());
    let mut notes = Vec::new();
    notes.extend(finding.record.map(|record| format!("in {record}{}", finding.of_queue())));
    notes.extend(finding.command.map(|command| format!("by {command}")));
    notes.extend(finding.notes.iter().cloned());
    notes.push(format!("on silicon: {}", def.meaning));
    let severity = match def.severity {
        sanitize::Severity::Warning => Severity::Warning,
        sanitize::Severity::Error => Severity::Error,
    };
    let primary = place.map(|place| Labeled { span: span(&place), text: String::new() });
    Diagnostic { primary, notes, ..Diagnostic::nowhere(def.code, severity, &finding.message) }.help(def.hint)
}
