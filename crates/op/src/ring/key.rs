//! What tells the pipes of a kernel apart.

use slipring_ir::{Attr, Module, OpId};

use crate::ring::words::NAME;

/// What tells the pipes of a kernel apart: both ends of a pipe have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PipeKey {
    /// The `id` of the ops that name no pipe value; 0 where nothing is written.
    Id(i64),
    /// The first flag of a pipe value.
    Flag(i64),
    /// The reservation of the consumer's slots, for a pipe value without a flag.
    Slots(OpId),
}

impl PipeKey {
    /// For messages: `pipe 2`, `the pipe with flag 0`, `the pipe of \`c2v\``.
    pub fn text(self, module: &Module) -> String {
        match self {
            PipeKey::Id(id) => format!("pipe {id}"),
            PipeKey::Flag(flag) => format!("the pipe with flag {flag}"),
            PipeKey::Slots(op) => {
                format!("the pipe of `{}`", module.op(op).attrs.get(NAME).and_then(Attr::as_str).unwrap_or("?"))
            }
        }
    }
}
