//! `slipring check`: everything that the text alone decides.

use clap::Args;
use slipring::{Checked, CheckedFacts, Error, Source, Subject};
use slipring_op::rules::counted;

use super::asked::ShapeArgs;
use super::listed::list;
use super::output::{fail, json_line, keep, note, out, report, told, write_file};
use super::{Exit, PlatformArgs, subject};

/// Arguments of `check`.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Files to check, folders with all kernels in them, patterns such as `'kernels/**/*.py'`; `-` is standard input
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
    /// Write such edits into the files themselves, and judge what is then left
    #[arg(long, conflicts_with = "fix")]
    pub in_place: bool,
}

/// Checks every file and reports all errors of all of them.
pub(super) fn check(args: &CheckArgs) -> Exit {
    let listed = match list(&args.files) {
        Ok(listed) => listed,
        Err(message) => return fail(message),
    };
    if args.fix.is_some() && listed.files.len() > 1 {
        return fail("`--fix` takes one file; `--in-place` mends several");
    }
    if args.in_place && listed.files.iter().any(|file| file == "-") {
        return fail("`--in-place` wants files: standard input is not written");
    }
    let exits: Vec<Exit> = listed.files.iter().map(|file| check_file(file, args)).collect();
    if listed.several && !args.json {
        let count = |wanted: Exit| exits.iter().filter(|exit| **exit == wanted).count();
        let others = match listed.others {
            0 => String::new(),
            others => format!("; left out: {} without kernels", counted(others, "Python file")),
        };
        let (clean, found, wrong) = (count(Exit::Clean), count(Exit::Findings), count(Exit::BadInput));
        let all = counted(exits.len(), "file");
        out(&format!("{all}: {clean} ok, {found} with findings, {wrong} with errors{others}\n"));
    }
    exits.into_iter().max().unwrap_or(Exit::Clean)
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
    if args.in_place {
        match mend(file, &checked, args, of) {
            Ok(None) => {}
            Ok(Some(exit)) => return exit,
            Err(error) => return fail(error.to_string()),
        }
    }
    exit_of(&checked)
}

fn exit_of(checked: &Checked) -> Exit {
    match (checked.errors(), checked.findings()) {
        (0, 0) => Exit::Clean,
        (0, _) => Exit::Findings,
        _ => Exit::BadInput,
    }
}

/// Writes the text with the edits that mend it over the file; how what is left ends, or nothing where nothing is mended.
fn mend(
    file: &str,
    checked: &Checked,
    args: &CheckArgs,
    of: impl Fn(Source) -> Result<Checked, Error>,
) -> Result<Option<Exit>, Error> {
    let Some(fix) = checked.mend(&of)? else { return Ok(None) };
    let left = of(Source::new(file, fix.text.as_str()))?;
    write_file(file, &[fix.text.as_bytes()]).map_err(Error::File)?;
    if !args.json {
        fix.edits.iter().for_each(|edit| out(&format!("  fixed: {edit}\n")));
        out(&format!("  {} left\n", counted(left.findings() + left.errors(), "finding")));
    }
    Ok(Some(exit_of(&left)))
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
