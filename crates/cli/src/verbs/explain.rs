//! `slipring explain`: what messages mean.

use clap::Args;

use super::exit::Exit;
use super::output::{fail, out};

// Arguments of `explain`.
#[derive(Args)]
pub(super) struct ExplainArgs {
    /// Code of a diagnostic, such as `race`. Without one, all codes are listed
    #[arg(value_name = "CODE")]
    word: Option<String>,
    /// Print all codes as one document
    #[arg(long, conflicts_with = "word")]
    document: bool,
}

/// Says what a code means, or lists all codes.
pub(super) fn explain(args: &ExplainArgs) -> Exit {
    let text = match &args.word {
        Some(word) => slipring_reference::explain(word),
        None if args.document => Ok(slipring_reference::explain_document()),
        None => Ok(slipring_reference::explain_list()),
    };
    match text {
        Ok(text) => {
            out(&text);
            Exit::Clean
        }
        Err(message) => fail(message),
    }
}
