//! `slipring dap`: the debugger for editors.

use clap::Args;

use super::exit::Exit;
use super::output::fail;

// Arguments of `dap`.
#[derive(Args)]
pub(super) struct DapArgs {}

/// Serves an editor.
pub(super) fn dap(_: &DapArgs) -> Exit {
    match crate::dap::serve() {
        Ok(()) => Exit::Clean,
        Err(message) => fail(message),
    }
}
