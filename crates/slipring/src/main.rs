//! The command line.

mod cli;
mod debug;
mod lsp;
mod session;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
