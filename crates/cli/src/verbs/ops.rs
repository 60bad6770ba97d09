//! `slipring ops`: the reference.

use clap::Args;
use slipring_reference as reference;

use super::exit::Exit;
use super::output::{fail, json_line, out};

// Arguments of `ops`.
#[derive(Args)]
pub(super) struct OpsArgs {
    /// Name of an op, with or without `pto.`; names that start with `pl.` are those of the kernel language
    name: Option<String>,
    /// List the ops of the kernel language instead
    #[arg(long)]
    lang: bool,
    /// Print every op with its operands, attributes and pipe, as one JSON object per line
    #[arg(long, conflicts_with_all = ["name", "lang"])]
    json: bool,
}

/// Lists all ops, or shows the page of one.
pub(super) fn ops(args: &OpsArgs) -> Exit {
    if args.json {
        reference::facts().iter().for_each(json_line);
        return Exit::Clean;
    }
    let language = |name: &String| args.lang || name.starts_with("pl.");
    let text = match &args.name {
        Some(name) if language(name) => reference::language_page(name),
        Some(name) => reference::page(name),
        None if args.lang => Ok(reference::language_list()),
        None => Ok(reference::list()),
    };
    match text {
        Ok(text) => {
            out(&text);
            Exit::Clean
        }
        Err(message) => fail(message),
    }
}
