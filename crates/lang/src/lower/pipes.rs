//! Pipes that a kernel sets up by hand: both ends of each, and the memory that the other end reserves.

use slipring_ir::{Diagnostic, Span};
use slipring_machine::CoreKind;

use super::lower_ahead;
use super::lowering::{Lower, Lowered};
use crate::value::{Buffer, Const, Value};

/// The other kind of core.
pub(crate) fn peer(kind: CoreKind) -> CoreKind {
    match kind {
        CoreKind::Cube => CoreKind::Vector,
        CoreKind::Vector => CoreKind::Cube,
    }
}

impl Lower<'_> {
    /// Reports rings with only one end in a kernel for both kinds of core.
    pub(crate) fn check_hand_ends(&mut self) -> Lowered<()> {
        if self.facts.pipe_end.is_some() || self.facts.kind.is_some() {
            return Ok(());
        }
        let ends = self.facts.hand_ends.clone();
        let mut outcome = Ok(());
        for (at, (kind, id, is_push, span)) in ends.iter().enumerate() {
            let same = |other: &&(CoreKind, i64, bool, Span)| other.0 == *kind && other.1 == *id && other.2 == *is_push;
            let first = ends.iter().position(|other| same(&other)) == Some(at);
            if !first || ends.iter().any(|other| other.0 == peer(*kind) && other.1 == *id && other.2 != *is_push) {
                continue;
            }
            let what = if *is_push { "pops what is pushed here" } else { "pushes what is popped here" };
            let error = Diagnostic::error("no-pipe", *span, format!("nothing in this function {what}")).help(
                "a kernel for both kinds of core has both ends, with the same `id`; one core's program sets its end up \
                 before: `aic_initialize_pipe(…)` or `aiv_initialize_pipe(…)`",
            );
            outcome = Err(self.report(error));
        }
        outcome
    }

    /// Bytes of an imported buffer: the size of the reservation in the exporting function.
    pub(crate) fn reserved_size(&mut self, buffer: &Buffer, span: Span) -> Lowered {
        let find = |lower: &Lower<'_>| lower.globals.reserved(buffer.peer.as_deref()?, &buffer.name);
        let bytes = find(self).or_else(|| {
            lower_ahead(&self.e.module.source.clone(), (self.globals, self.words));
            find(self)
        });
        if let Some(bytes) = bytes {
            return Ok(Value::Const(Const::Int(bytes)));
        }
        let peer = buffer.peer.as_deref().unwrap_or("?");
        let message = format!("the size of `{}` is not known: `{peer}` reserves no memory of that name", buffer.name);
        let error = Diagnostic::error("buffer-size", span, message)
            .help(format!("`pl.reserve_buffer(name=\"{}\", size=…)` in `{peer}`", buffer.name));
        Err(self.report(error))
    }
}
