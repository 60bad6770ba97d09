//! What is asked again with each change of a text, through the process that answers.

mod client;
mod dap;
mod debug;
mod editors;
mod lsp;
mod session;
mod shell;
mod view;
mod watch;
mod words;
