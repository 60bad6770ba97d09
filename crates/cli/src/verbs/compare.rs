//! `slipring compare`: compares two runs.

use std::path::PathBuf;

use clap::Args;
use slipring::{CompileRequest, Error};
use slipring_report::{compare as compared, compare_text};

use super::asked::SetArgs;
use super::exit::Exit;
use super::facts::facts;
use super::output::{json, out, refused};
use super::platform::PlatformArgs;
use super::project;

// Arguments of `compare`.
#[derive(Args)]
pub(super) struct CompareArgs {
    /// Output of `slipring run --json` (add `--lines` for lines and critical paths), or a kernel, which is run with the
    /// arguments its file gives
    #[arg(required_unless_present = "board")]
    before: Option<String>,
    /// The other run, given in the same way
    #[arg(required_unless_present = "board")]
    after: Option<String>,
    /// Compare the outputs that a board wrote into a folder of `slipring build --project` with those of the simulated
    /// run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["before", "after", "arch", "platform", "interpretations", "sets", "lang"])]
    board: Option<PathBuf>,
    #[command(flatten)]
    platform: PlatformArgs,
    #[command(flatten)]
    sets: SetArgs,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Compares two runs.
pub(super) fn compare(args: &CompareArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

fn start(args: &CompareArgs) -> Result<Exit, Error> {
    let asked = CompileRequest::new(None, &[], &args.sets.sets)?.language(args.sets.language());
    let (before, after) = match (&args.board, &args.before, &args.after) {
        (Some(folder), ..) => return project::compare(folder, args.json),
        (None, Some(before), Some(after)) => (before, after),
        _ => return Err(Error::Arguments("give two runs to compare, or `--board DIR`".into())),
    };
    let before = facts(before, &args.platform, &asked)?;
    let after = facts(after, &args.platform, &asked)?;
    let both = compared(&before, &after).map_err(Error::Arguments)?;
    if args.json {
        json(&both);
    } else {
        out(&compare_text(&both));
    }
    Ok(Exit::Clean)
}
