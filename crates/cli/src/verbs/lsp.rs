//! `slipring lsp`: the language server for editors.

use clap::Args;

use super::exit::Exit;
use super::output::fail;

// Arguments of `lsp`.
#[derive(Args)]
pub(super) struct LspArgs {
    /// Use standard input and output. This is the only transport; accepted because editors pass it
    #[arg(long)]
    stdio: bool,
}

/// Serves an editor.
pub(super) fn lsp(args: &LspArgs) -> Exit {
    let _ = args.stdio;
    match crate::lsp::serve() {
        Ok(true) => Exit::Clean,
        // The protocol asks for this code.
        Ok(false) => {
            fail("the editor sent `exit` without `shutdown`".to_string());
            Exit::Findings
        }
        Err(message) => fail(message),
    }
}
