//! `slipring check`: everything that the text alone decides.

use clap::Args;
use serde::Serialize;
use slipring::{Error, Judged, Program, ProgramOptions, message_facts};
use slipring_ir::{Diagnostic, Diags, Module, Severity};
use slipring_machine::Platform;
use slipring_op::rules::counted;
use slipring_report::MessageFacts;

use super::asked::ShapeArgs;
use super::output::{errors, fail, json_line, keep, out, report, told};
use super::run::divide;
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

/// What became of a file on one platform.
#[derive(Serialize)]
struct PlatformFacts {
    name: String,
    /// False where the declarations refuse the file there and another platform takes it.
    applies: bool,
    errors: usize,
    findings: usize,
    /// Kernels whose rings, memory and synchronisation were worked out.
    kernels: usize,
}

#[derive(Serialize, Default)]
struct FileFacts {
    file: String,
    /// Why the file was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    errors: usize,
    /// What is wrong on some path, whatever the kernel is given.
    findings: usize,
    warnings: usize,
    platforms: Vec<PlatformFacts>,
    /// What a run decides and the text does not.
    not_checked: String,
    diagnostics: Vec<MessageFacts>,
}

/// Checks every file and reports all errors of all of them.
pub(super) fn check(args: &CheckArgs) -> Exit {
    let mut exit = Exit::Clean;
    for file in &args.files {
        exit = exit.max(check_file(file, args));
    }
    exit
}

/// The platforms that a file is checked for: the one asked for or written in it, else all that are built in.
///
/// # Errors
/// If there is no such platform.
fn platforms(module: &Module, args: &PlatformArgs) -> Result<Vec<Platform>, String> {
    if args.is_given() || slipring::written_platform(module).is_some() {
        return Ok(vec![args.choose(module)?]);
    }
    slipring_machine::BUILT_IN
        .iter()
        .map(|name| slipring_machine::built_in(name).map_err(|error| error.to_string()))
        .collect()
}

fn check_file(file: &str, args: &CheckArgs) -> Exit {
    let mut program = Ok(None);
    let opened = read_source(file).and_then(|source| {
        if let Ok(asked) = args.shapes.asked() {
            program = Program::from_text(source.name.clone(), source.text.clone(), &asked);
        }
        let loaded = args.shapes.asked().map_err(|error| error.to_string())?.load(source);
        let platforms = platforms(&loaded.module, &args.platform)?;
        Ok((loaded, platforms))
    });
    let (loaded, platforms) = match opened {
        Ok(opened) => opened,
        Err(message) => {
            if args.json {
                json_line(&FileFacts { file: file.into(), error: Some(message.clone()), ..FileFacts::default() });
            }
            return fail(message);
        }
    };
    let (module, mut diags) = (loaded.module, loaded.diags);
    let mut judged = Vec::new();
    match program {
        // The scopes of a whole program are kernels of their own, its function is none.
        Ok(Some(program)) => {
            diags.list.clear();
            (diags, judged) = of_program(program, &platforms);
        }
        Err(Error::Text(report)) if !diags.has_errors() && !report.messages().iter().all(waits_for_arguments) => {
            diags.list.extend(report.messages().iter().cloned());
        }
        _ if diags.has_errors() => {}
        _ => judged = slipring::judge(&module, &platforms),
    }
    diags.list.extend(slipring::merged(&judged).list);
    let findings = diags.list.iter().filter(|d| slipring::is_finding(d)).count();
    let (count, source) = (errors(&diags) - findings, &module.source);
    let not_checked = not_checked(&judged);
    if args.json {
        let facts = FileFacts {
            file: file.into(),
            error: None,
            errors: count,
            findings,
            warnings: diags.list.iter().filter(|d| d.severity == Severity::Warning).count(),
            platforms: judged.iter().map(platform_facts).collect(),
            not_checked,
            diagnostics: diags.list.iter().map(|d| message_facts(d, source)).collect(),
        };
        told(&diags);
        diags.list.iter().for_each(|diagnostic| keep(diagnostic, source));
        json_line(&facts);
    } else {
        report(&diags, source);
        let functions = module.functions().count();
        let verdict = match (count, findings) {
            (0, 0) => "ok".to_string(),
            (0, _) => counted(findings, "finding"),
            (_, 0) => counted(count, "error"),
            _ => format!("{} and {}", counted(count, "error"), counted(findings, "finding")),
        };
        let on = on(&judged);
        out(&format!("{file}: {verdict}, {}{on}\n  not checked: {not_checked}\n", counted(functions, "function")));
    }
    match (count, findings) {
        (0, 0) => Exit::Clean,
        (0, _) => Exit::Findings,
        _ => Exit::BadInput,
    }
}

/// True for an error that arguments would mend.
fn waits_for_arguments(message: &Diagnostic) -> bool {
    matches!(message.code, "parameter" | "not-known")
}

/// What is wrong with the tasks of a whole program, and with its kernels on each platform.
fn of_program(program: Program, platforms: &[Platform]) -> (Diags, Vec<Judged>) {
    let said = Diags { list: program.report().messages().to_vec() };
    let mut judged = Vec::new();
    let mut read = program;
    for platform in platforms {
        read = read.on(platform.clone());
        let followed;
        let program = match read.is_open() {
            // For the arguments that a run without any takes.
            true => {
                match read.arguments(&[], 0).and_then(|args| read.followed(divide(args).0, &ProgramOptions::default()))
                {
                    Ok(program) => {
                        followed = program;
                        &followed
                    }
                    Err(error) => {
                        let list = match error {
                            Error::Text(report) => report.messages().to_vec(),
                            other => vec![read.not_followed(&other.to_string())],
                        };
                        let diags = Diags { list };
                        judged.push(Judged { platform: platform.name.clone(), applies: true, kernels: 0, diags });
                        continue;
                    }
                }
            }
            false => &read,
        };
        let (list, kernels) = match program.compile() {
            Ok(report) => (report.messages().to_vec(), program.kernels()),
            Err(Error::Text(report)) => (report.messages().to_vec(), 0),
            Err(_) => (Vec::new(), 0),
        };
        let new = list.into_iter().filter(|message| !said.list.contains(message)).collect();
        judged.push(Judged { platform: platform.name.clone(), applies: true, kernels, diags: Diags { list: new } });
    }
    (said, judged)
}

fn platform_facts(judged: &Judged) -> PlatformFacts {
    let (applies, errors, findings, kernels) = (judged.applies, judged.errors(), judged.findings(), judged.kernels);
    PlatformFacts { name: judged.platform.clone(), applies, errors, findings, kernels }
}

/// `, on a5 and a2a3`, or which platform the file is not for and why.
fn on(judged: &[Judged]) -> String {
    let names = |applies: bool| judged.iter().filter(move |j| j.applies == applies).map(|j| j.platform.as_str());
    let with = |list: Vec<&str>, word: &str| {
        if list.is_empty() { String::new() } else { format!(", {word} {}", list.join(" and ")) }
    };
    let first =
        judged.iter().filter(|j| !j.applies).find_map(|j| j.diags.list.iter().find(|d| d.severity == Severity::Error));
    let why = first.map_or(String::new(), |d| format!(" ({})", d.message));
    with(names(true).collect(), "on") + &with(names(false).collect(), "not for") + &why
}

/// What the text does not decide, or was not asked.
fn not_checked(judged: &[Judged]) -> String {
    if judged.iter().all(|judged| judged.kernels == 0) {
        return "rings, memory and synchronisation, since the text has errors; races, deadlocks, bounds and values, which a run \
                decides"
            .into();
    }
    "races, deadlocks, bounds and values, which a run decides".into()
}
