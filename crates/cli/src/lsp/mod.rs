//! `slipring lsp`: a language server over standard input and output, for kernels of the language and `.pto` texts.
//!
//! It judges nothing itself: messages are those of `check` and `run`, pages those of `ops` and `explain`, edits those of `--fix`.

mod complete;
mod documents;
mod edits;
mod hints;
mod hover;
mod judge;
mod names;
mod outline;
mod server;
mod text;

pub(crate) use server::serve;
