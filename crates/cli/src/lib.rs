//! The command line of slipring: its verbs, the language server and the debug adapter, as thin layers of the library.

mod dap;
pub mod expect;
mod frames;
mod lsp;
mod session;
mod verbs;
mod view;

pub use verbs::command_line;
