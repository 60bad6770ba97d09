//! `slipring check`: everything that the text alone decides.

use clap::Args;
use slipring::{Checked, CheckedFacts, Error, Source, Subject};

use super::asked::ShapeArgs;
use super::output::{fail, json_line, keep, note, out, report, told, write_file};
use super::{Exit, PlatformArgs, subject};

/// Arguments of `check`.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Files to check; `-` is standard input
    #[arg(required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    /// One JSON object a file
    #[arg(long)]
    pub json: bool,
    /// Also write all messages to a file, as a SARIF log
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<String>,
    #[command(flatten)]
    shapes: ShapeArgs,
    /// Write the text with edits that mend what is wrong on some path to another file. For one file
    #[arg(long, value_name = "OUT")]
    pub fix: Option<String>,
}

/// Checks every file and reports all errors of all of them.
pub(super) fn check(args: &CheckArgs) -> Exit {
    if args.fix.is_some() && args.files.len() > 1 {
        return fail("`--fix` takes one file");
    }
    let mut exit = Exit::Clean;
    for file in &args.files {
        exit = exit.max(check_file(file, args));
    }
    exit
}

fn check_file(file: &str, args: &CheckArgs) -> Exit {
    let check = |subject: &Subject| Checked::of(subject, |module| args.platform.all(module));
    let of = |source: Source| check(&Subject::new(source, &args.shapes.asked()?));
    let checked = match args.shapes.asked().and_then(|asked| check(&subject(file, &asked)?)) {
        Ok(checked) => checked,
        Err(error) => {
            let message = error.to_string();
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
    if let Some(path) = &args.fix
        && let Err(error) = fix(&checked, path, args, of)
    {
        return fail(error.to_string());
    }
    match (checked.errors(), checked.findings()) {
        (0, 0) => Exit::Clean,
        (0, _) => Exit::Findings,
        _ => Exit::BadInput,
    }
}

/// Writes the text with the edits that mend it, and tells them.
fn fix(
    checked: &Checked,
    path: &str,
    args: &CheckArgs,
    of: impl Fn(Source) -> Result<Checked, Error>,
) -> Result<(), Error> {
    let Some(fix) = checked.mend(of)? else {
        note("there is no edit to write");
        return Ok(());
    };
    write_file(path, &[fix.text.as_bytes()]).map_err(Error::File)?;
    if !args.json {
        fix.edits.iter().for_each(|edit| out(&format!("  fix: {edit}\n")));
        out(&match fix.left {
            0 => "  then no path is wrong; `slipring prove` says whether the pipes are in order\n".to_string(),
            1 => "  then 1 finding is left\n".to_string(),
            left => format!("  then {left} findings are left\n"),
        });
    }
    Ok(())
}
