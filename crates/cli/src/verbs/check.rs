//! `slipring check`: everything that can be decided from the text alone.

use clap::Args;
use slipring::{Checked, CheckedFacts, Error, FixFacts, MendedFacts, PathFix, RunRequest, Source, Subject};
use slipring_op::rules::counted;

use super::asked::ShapeArgs;
use super::exit::Exit;
use super::flags::{Flags, OfCheck};
use super::input::subject;
use super::listed::list;
use super::output::{fail, json_line, keep, note, out, report, told, write_file};
use super::platform::PlatformArgs;

// Arguments of `check`.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Files, folders (all kernels in them), patterns such as `'kernels/**/*.py'`, or `-` for standard input
    #[arg(required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    /// Print one JSON object per file
    #[arg(long)]
    pub json: bool,
    /// Also write all diagnostics to this file, as a SARIF log
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<String>,
    #[command(flatten)]
    shapes: ShapeArgs,
    #[command(flatten)]
    flags: Flags<OfCheck>,
    /// Write the file, with edits that fix what is wrong on some path, to OUT. Takes one input file
    #[arg(long, value_name = "OUT")]
    pub fix: Option<String>,
    /// Apply such edits to the files themselves, and check them again
    #[arg(long, conflicts_with = "fix")]
    pub in_place: bool,
}

/// Checks every file and reports the errors of all of them.
pub(super) fn check(args: &CheckArgs) -> Exit {
    let listed = match list(&args.files) {
        Ok(listed) => listed,
        Err(message) => return fail(message),
    };
    if args.fix.is_some() && listed.files.len() > 1 {
        return fail("`--fix` takes one file; use `--in-place` for several");
    }
    if args.in_place && listed.files.iter().any(|file| file == "-") {
        return fail("`--in-place` needs files: standard input cannot be rewritten");
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
    let check = |subject: &Subject| subject.check(|module| args.platform.all(module));
    let asked = || {
        let mut request = RunRequest::default();
        args.flags.put(&mut request)?;
        Ok(args.shapes.asked()?.assume(&request.run.assume))
    };
    let of = |source: Source| check(&Subject::new(source, &asked()?));
    let checked = match asked().and_then(|asked| check(&subject(file, &asked)?)) {
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
    } else {
        report(diags, source);
        out(&checked.text());
    }
    let asked = args.fix.is_some() || args.in_place;
    let wanted = asked || args.json && checked.errors() + checked.findings() > 0;
    let mended = match wanted {
        false => Ok(None),
        true => mended(&checked, args.fix.as_deref().unwrap_or(file), args, of).map(Some),
    };
    if args.json {
        let found = mended.as_ref().ok().and_then(Option::as_ref);
        let fix = found.and_then(|mended| mended.as_facts(checked.source()));
        json_line(&checked.facts().with_fix(fix).with_mended(found.filter(|_| asked).map(Mended::facts)));
    }
    match mended.and_then(|mended| mended.filter(|_| asked).map_or(Ok(None), |mended| mended.write(args))) {
        Err(error) => fail(error.to_string()),
        Ok(left) => exit_of(left.as_ref().filter(|_| args.in_place).unwrap_or(&checked)),
    }
}

fn exit_of(checked: &Checked) -> Exit {
    match (checked.errors(), checked.findings()) {
        (0, 0) => Exit::Clean,
        (0, _) => Exit::Findings,
        _ => Exit::BadInput,
    }
}

/// The result of fixing a file.
struct Mended<'a> {
    /// The file to write.
    file: &'a str,
    /// The edits, and the check of the edited text; `None` where there are no edits.
    fix: Option<(PathFix, Checked)>,
    /// Number of remaining findings and errors.
    left: usize,
}

/// Searches for edits that fix a checked file.
fn mended<'a>(
    checked: &Checked,
    file: &'a str,
    args: &CheckArgs,
    of: impl Fn(Source) -> Result<Checked, Error>,
) -> Result<Mended<'a>, Error> {
    let wrong = |checked: &Checked| checked.findings() + checked.errors();
    let Some(fix) = checked.mend(&of)? else {
        if args.fix.is_some() {
            note("there are no edits to write");
        }
        return Ok(Mended { file, fix: None, left: wrong(checked) });
    };
    let after = of(Source::new(checked.source().name.clone(), fix.text.as_str()))?;
    Ok(Mended { file, left: wrong(&after), fix: Some((fix, after)) })
}

impl Mended<'_> {
    /// The result as data.
    fn facts(&self) -> MendedFacts {
        match &self.fix {
            Some((fix, _)) => MendedFacts::written(self.file, &fix.edits, self.left),
            None => MendedFacts::none(self.left),
        }
    }

    /// The edits as data.
    fn as_facts(&self, source: &Source) -> Option<FixFacts> {
        self.fix.as_ref().map(|(fix, _)| FixFacts::of(&source.text, fix, self.left))
    }

    /// Writes the text with the edits and reports them; returns the check of the edited text.
    fn write(self, args: &CheckArgs) -> Result<Option<Checked>, Error> {
        let Some((fix, after)) = self.fix else { return Ok(None) };
        write_file(self.file, &[fix.text.as_bytes()]).map_err(Error::File)?;
        if args.json {
            return Ok(Some(after));
        }
        let word = if args.in_place { "fixed" } else { "fix" };
        fix.edits.iter().for_each(|edit| out(&format!("  {word}: {edit}\n")));
        out(&match (args.in_place, self.left) {
            (true, left) => format!("  {} left\n", counted(left, "finding")),
            (_, 0) => "  then no path is wrong; `slipring prove` says whether the pipes are in order\n".to_string(),
            (_, 1) => "  then 1 finding is left\n".to_string(),
            (_, left) => format!("  then {left} findings are left\n"),
        });
        Ok(Some(after))
    }
}
