//! `slipring check`: read and verify.

use clap::Args;
use serde::Serialize;
use slipring::message_facts;
use slipring_dialects::rules::counted;
use slipring_dialects::{Mode, ring::RingPlan, select_kernel};
use slipring_ir::{Diags, Module, Severity};
use slipring_machine::Platform;
use slipring_report::MessageFacts;

use super::output::{errors, fail, json_line, out, report, told};
use super::{Exit, Opened, PlatformArgs, open};

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
}

#[derive(Serialize, Default)]
struct FileFacts {
    file: String,
    /// Why the file was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    errors: usize,
    warnings: usize,
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

fn check_file(file: &str, args: &CheckArgs) -> Exit {
    let Opened { module, platform, mut diags, .. } = match open(file, &args.platform) {
        Ok(opened) => opened,
        Err(message) => {
            if args.json {
                json_line(&FileFacts { file: file.into(), error: Some(message.clone()), ..FileFacts::default() });
            }
            return fail(message);
        }
    };
    rings(&module, &platform, &mut diags);
    let count = errors(&diags);
    let source = &module.source;
    if args.json {
        let facts = FileFacts {
            file: file.into(),
            error: None,
            errors: count,
            warnings: diags.list.iter().filter(|d| d.severity == Severity::Warning).count(),
            diagnostics: diags.list.iter().map(|d| message_facts(d, source)).collect(),
        };
        told(&diags);
        json_line(&facts);
    } else {
        report(&diags, source);
        let functions = module.ops_named("func.func").count();
        let verdict = if count == 0 { "ok".to_string() } else { counted(count, "error") };
        out(&format!("{file}: {verdict}, {}\n", counted(functions, "function")));
    }
    if count > 0 { Exit::BadInput } else { Exit::Clean }
}

/// Everything that is checked of a module that was read.
pub(super) fn check_all(module: &Module, platform: &Platform, diags: &mut Diags) {
    if !diags.has_errors() {
        slipring::check(module, platform, diags);
    }
    rings(module, platform, diags);
}

/// Checks both ends of the rings of a kernel, where there is one that can be told.
pub(super) fn rings(module: &Module, platform: &Platform, diags: &mut Diags) {
    if diags.has_errors() {
        return;
    }
    let mut unsure = Diags::default();
    if let Some(kernel) = select_kernel(module, None, &mut unsure).filter(|kernel| !kernel.guessed) {
        let _ = RingPlan::new(module, &kernel, platform, Mode::Device, diags);
    }
}
