//! Identity of the pipes of a kernel.

use slipring_ir::{Attr, Module, OpId};

use crate::ring::words::NAME;

/// Identity of a pipe within a kernel: equal for both ends of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PipeKey {
    /// The `id` of ops that take no pipe value; 0 if it is not written.
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
