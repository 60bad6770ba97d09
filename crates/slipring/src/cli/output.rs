//! Writing to the terminal.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use slipring_ir::{Diagnostic, Diags, Severity, Source};

use super::Exit;

/// Writes to standard output. A reader that has gone away is no error.
pub(super) fn out(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Reports something that has no place in a text.
pub(super) fn fail(message: impl std::fmt::Display) -> Exit {
    let _ = writeln!(std::io::stderr(), "error: {message}");
    Exit::BadInput
}

/// Says something that is no error.
pub(super) fn note(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "note: {message}");
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

/// Writes one diagnostic to standard error.
pub(super) fn report_one(diagnostic: &Diagnostic, source: &Source) {
    let _ = writeln!(std::io::stderr(), "{}\n", diagnostic.render(source, color()));
}

/// How many of them are errors.
pub(super) fn errors(diags: &Diags) -> usize {
    diags.list.iter().filter(|d| d.severity == Severity::Error).count()
}
