//! `slipring queue lint`: static checks of a stream.

use clap::Args;
use serde::Serialize;
use slipring::message_facts;
use slipring_ir::{Diagnostic, Diags, Severity};
use slipring_op::rules::counted;
use slipring_queue::{Layout, lint as linter};
use slipring_report::MessageFacts;

use super::super::exit::Exit;
use super::super::output::{errors, fail, json_line, out, report, told};
use super::allow::{AllowArgs, Allowed, allowed_facts, allowed_line};
use super::stream::{StreamArgs, StreamError};
use slipring::queue_finding as of_finding;

/// Arguments of `queue lint`.
#[derive(Args)]
pub(in crate::verbs) struct LintArgs {
    #[command(flatten)]
    stream: StreamArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize, Default)]
struct Facts {
    file: String,
    board: String,
    records: u64,
    prefetch_commands: u64,
    dispatch_commands: u64,
    findings: Vec<MessageFacts>,
    not_judged: Vec<String>,
    /// Number of findings that are not listed because many of their kind are.
    more: u64,
    allowed: Vec<Allowed>,
}

/// Checks a stream: exit code 1 if an error was found.
pub(super) fn lint(args: &LintArgs) -> Exit {
    let file = args.stream.file.clone();
    let stream = match args.stream.read() {
        Ok(stream) => stream,
        Err(StreamError::Text(diags, source)) if args.json => {
            let findings = diags.list.iter().map(|d| message_facts(d, &source)).collect();
            told(&diags);
            json_line(&Facts { file, findings, ..Facts::default() });
            return Exit::BadInput;
        }
        Err(error) => return error.report(),
    };
    let hazards = match args.allow.hazards() {
        Ok(hazards) => hazards,
        Err(message) => return fail(message),
    };
    let mut judged = linter::lint(&stream.capture, &stream.board, &Layout::default());
    let allowed = allowed_facts(judged.allow(&hazards));
    let more = judged.more();
    let list: Vec<Diagnostic> = judged.findings.iter().map(|finding| of_finding(finding, &stream.capture)).collect();
    let diags = Diags { list };
    let (bad, all) = (errors(&diags), diags.list.len());
    if args.json {
        told(&diags);
        json_line(&Facts {
            file,
            board: stream.board.name,
            records: judged.records,
            prefetch_commands: judged.relays,
            dispatch_commands: judged.commands,
            findings: diags.list.iter().map(|d| message_facts(d, &stream.source)).collect(),
            not_judged: judged.not_judged,
            more,
            allowed,
        });
    } else {
        report(&diags, &stream.source);
        let warnings = diags.list.iter().filter(|d| d.severity == Severity::Warning).count();
        let verdict = match all {
            0 => "no hazard visible in the bytes alone".to_string(),
            _ => format!("{}, {}", counted(bad, "error"), counted(warnings, "warning")),
        };
        out(&format!(
            "{file}: {verdict}; {} records, {} prefetch and {} dispatch commands for a {}\n",
            judged.records, judged.relays, judged.commands, stream.board.name
        ));
        if more > 0 {
            out(&format!("{more} more findings of these kinds, not listed\n"));
        }
        out(&allowed_line(&allowed));
        let late = "anything that depends on timing: slots, reuse of issue memory, the completion ring, workers";
        for what in judged.not_judged.iter().map(String::as_str).chain([late]) {
            out(&format!("not judged: {what}\n"));
        }
    }
    if bad > 0 { Exit::Findings } else { Exit::Clean }
}
