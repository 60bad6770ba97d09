//! Text rendering of a proof.

use slipring_check::Because;
use slipring_ir::Line;
use slipring_program::{Choice, Program, SiteRef};

/// A decision by loaded data at a location.
pub(super) fn decided(because: &Because, line: impl Fn(SiteRef) -> Option<Line>) -> String {
    format!("loaded data decide {}", choice(&because.op, because.choice, line(because.site)))
}

/// A decision at a location.
pub(super) fn choice(op: &str, choice: Choice, line: Option<Line>) -> String {
    let at = line.map_or(String::new(), |line| format!(" (line {line})"));
    choice.describe(op, &at)
}

/// The name of a buffer, by its index among those of a launch.
pub(crate) fn buffer_name(program: &Program, buffer: usize) -> String {
    let params = program.params.iter();
    let mut buffers = params.filter(|param| {
        !matches!(param.kind, slipring_program::ParamKind::Scalar(_) | slipring_program::ParamKind::Bool)
    });
    buffers.nth(buffer).map_or_else(|| format!("buffer {buffer}"), |param| format!("`{}`", param.name))
}
