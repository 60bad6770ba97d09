//! What is asked again with each change of a text, through the process that answers.

mod debug;
mod lsp;
mod shell;
mod watch;
