//! `slipring lsp`: a language server over standard input and output, for kernels of the language and `.pto` texts.
//!
//! It has no checks of its own: messages come from `check` and `run`, pages from `ops` and `explain`, edits from
//! `--fix`.

mod complete;
mod documents;
mod edits;
mod hints;
mod hover;
mod judge;
mod names;
mod outline;
mod parsed;
mod server;
mod text;
mod wire;

pub(crate) use server::serve;
