//! Interactive commands, tested through the process that serves them.

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
