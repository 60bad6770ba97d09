//! Findings of a run as messages about the text, for people and for tools.

use slipring_ir::{Diagnostic, Labeled, Source, Span};
use slipring_program::{Finding, Label, Program};
use slipring_report::{MessageFacts, PlaceFacts, WrittenFacts};

/// A message for each finding, with the source locations of its instructions.
pub fn to_diagnostics(findings: &[Finding], program: &Program) -> Vec<Diagnostic> {
    findings.iter().map(|finding| diagnostic(finding, program)).collect()
}

fn diagnostic(finding: &Finding, program: &Program) -> Diagnostic {
    let place = |label: &Label| {
        let site = program.sites.get(label.site as usize);
        let span = site.map_or(Span::default(), |site| Span::new(site.span.0, site.span.1));
        Labeled { span, text: label.text.clone() }
    };
    let mut secondary: Vec<Labeled> = finding.secondary.iter().map(place).filter(|l| !l.span.is_empty()).collect();
    let mut primary = finding.primary.as_ref().map(place);
    if primary.as_ref().is_some_and(|p| p.span.is_empty()) {
        primary = (!secondary.is_empty()).then(|| secondary.remove(0));
    }
    Diagnostic {
        severity: finding.severity,
        code: finding.code,
        kind: finding.kind.clone(),
        message: finding.message.clone(),
        primary,
        secondary,
        notes: finding.notes.clone(),
        help: finding.hint.clone(),
    }
}

/// A message in the form of the JSON output.
pub fn message_facts(diagnostic: &Diagnostic, source: &Source) -> MessageFacts {
    let place = |label: &Labeled| {
        let (_, line, column) = source.place(label.span.start);
        // The end may be the start of what follows a part of another file.
        let (lines, end_column) = source.line_column(label.span.end);
        let end_line = line + lines - source.line_column(label.span.start).0;
        let file = source.elsewhere(label.span.start).map(|part| part.name.clone());
        PlaceFacts { line, column, end_line, end_column, file, label: label.text.clone() }
    };
    let primary = diagnostic.primary.as_ref().filter(|p| !p.span.is_empty());
    let written_at = primary.and_then(|label| source.written_at(label.span.start));
    let written_at = written_at.map(|own| WrittenFacts { file: own.name.clone(), line: own.line, column: own.column });
    let primary = primary.map(place);
    MessageFacts {
        severity: diagnostic.severity,
        code: diagnostic.code.into(),
        kind: diagnostic.kind.clone(),
        message: diagnostic.message.clone(),
        line: primary.as_ref().map(|p| p.line),
        column: primary.as_ref().map(|p| p.column),
        end_line: primary.as_ref().map(|p| p.end_line),
        end_column: primary.as_ref().map(|p| p.end_column),
        file: primary.as_ref().and_then(|p| p.file.clone()),
        written_at,
        label: primary.map_or(String::new(), |p| p.label),
        also: diagnostic.secondary.iter().map(place).collect(),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.clone(),
    }
}
