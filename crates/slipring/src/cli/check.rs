//! `slipring check`: everything that the text alone decides.

use clap::Args;
use slipring::{Checked, CheckedFacts};

use super::asked::ShapeArgs;
use super::output::{fail, json_line, keep, out, report, told};
use super::{Exit, PlatformArgs, read_source};

/// Arguments of `check`.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Files to check; `-` is standard input
    #[arg(required = true)]
    files: Vec<String>,
    #[command(flatten)]
    platform: PlatformArgs,
    /// One JSON object a file
    #[arg(long)]
    pub json: bool,
    /// Also write all messages to a file, as a SARIF log
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<String>,
    #[command(flatten)]
    shapes: ShapeArgs,
}

/// Checks every file and reports all errors of all of them.
pub(super) fn check(args: &CheckArgs) -> Exit {
    let mut exit = Exit::Clean;
    for file in &args.files {
        exit = exit.max(check_file(file, args));
    }
    exit
}

fn check_file(file: &str, args: &CheckArgs) -> Exit {
    let checked = read_source(file).and_then(|source| {
        let asked = args.shapes.asked().map_err(|error| error.to_string())?;
        Checked::of(source, &asked, |module| args.platform.all(module)).map_err(|error| error.to_string())
    });
    let checked = match checked {
        Ok(checked) => checked,
        Err(message) => {
            if args.json {
                json_line(&CheckedFacts::unread(file, message.clone()));
            }
            return fail(message);
        }
    };
    let (diags, source) = (checked.diags(), checked.source());
    if args.json {
        told(diags);
        diags.list.iter().for_each(|diagnostic| keep(diagnostic, source));
        json_line(&checked.facts());
    } else {
        report(diags, source);
        out(&checked.text());
    }
    match (checked.errors(), checked.findings()) {
        (0, 0) => Exit::Clean,
        (0, _) => Exit::Findings,
        _ => Exit::BadInput,
    }
}
