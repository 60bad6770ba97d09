//! `slipring sync-check`: checks the flags in a text from any compiler.

use clap::Args;
use slipring::{Opened, SyncChecked};

use super::asked::ShapeArgs;
use super::exit::Exit;
use super::opened::open;
use super::output::{fail, json_line, keep, out, report, told};
use super::platform::PlatformArgs;

// Arguments of `sync-check`.
#[derive(Args)]
pub(super) struct SyncCheckArgs {
    /// Input file, or `-` for standard input
    pub file: String,
    /// An earlier version of the same kernels: show which orders were lost and which were gained since
    #[arg(long, value_name = "OLD")]
    pub against: Option<String>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    #[command(flatten)]
    shapes: ShapeArgs,
    /// Treat superfluous flags as errors, too
    #[arg(long)]
    strict: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Also write all diagnostics to this file, as a SARIF log
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<String>,
}

/// Checks the flags of a file.
pub(super) fn sync_check(args: &SyncCheckArgs) -> Exit {
    let read = |path: &String| match open(path, &args.platform, &args.shapes) {
        Ok(opened) if opened.diags.has_errors() => {
            report(&opened.diags, &opened.module.source);
            told(&opened.diags);
            Err(())
        }
        Ok(opened) => Ok(opened),
        Err(message) => {
            fail(message);
            Err(())
        }
    };
    let Ok(text) = read(&args.file) else { return Exit::BadInput };
    let earlier: Option<Opened> = match args.against.as_ref().map(read) {
        Some(Err(())) => return Exit::BadInput,
        Some(Ok(earlier)) => Some(earlier),
        None => None,
    };
    let checked = SyncChecked::of(&text, earlier.as_ref());
    if args.json {
        told(checked.diags());
        checked.diags().list.iter().for_each(|message| keep(message, checked.source()));
        json_line(&checked.facts());
    } else {
        report(checked.diags(), checked.source());
        out(&checked.text());
    }
    let wrong = checked.errors() + if args.strict { checked.warnings() } else { 0 };
    if wrong == 0 { Exit::Clean } else { Exit::Findings }
}
