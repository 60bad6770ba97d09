//! `slipring compare`: two runs side by side.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use slipring::report::{compare as compared, compare_text};
use slipring::{CompileRequest, Error, RunOptions, Subject};

use super::asked::SetArgs;
use super::output::{SCHEMA, json, out, report_all};
use super::run::{divide, refused};
use super::{Exit, PlatformArgs, project, read_bytes, shown};

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

/// The facts of a run: read, or of a kernel that is run now.
pub(super) fn facts(file: &str, platform: &PlatformArgs, asked: &CompileRequest) -> Result<Value, Error> {
    let bytes = read_bytes(file).map_err(Error::File)?;
    let no_facts = |error| Error::File(format!("`{}` holds no facts of a run: {error}", shown(file)));
    if file.ends_with(".json") {
        let facts: Value = serde_json::from_slice(&bytes).map_err(no_facts)?;
        let wrong = |why: String| Error::File(format!("`{}` {why}", shown(file)));
        return match &facts["schema"] {
            Value::Number(own) if own.as_u64() == Some(SCHEMA.into()) => Ok(facts),
            Value::Null => Err(wrong("does not say its `schema`: `slipring run --json` writes it".into())),
            own => Err(wrong(format!("has `schema` {own}, and this version reads {SCHEMA}: write it anew"))),
        };
    }
    let kernel = platform.apply(Subject::read(file, bytes, asked)?.executed()?.kernel()?)?;
    report_all(&kernel.compile()?);
    let (tensors, _) = divide(kernel.arguments(&[], 0)?);
    let run = kernel.run_with(tensors, &RunOptions::new().record(true))?;
    report_all(run.findings());
    if !run.is_complete() {
        return Err(Error::Incomplete(run.findings().clone()));
    }
    serde_json::to_value(run.facts()).map_err(no_facts)
}
