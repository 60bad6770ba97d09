//! `slipring build --project` and `slipring compare --board`: what goes to a board, and what came back.

use std::path::Path;
use std::time::Duration;

use slipring::report::checks_text;
use slipring::{BuiltProgram, Diagnostic, Error};
use slipring_artefact::{Launched, LeavingTools};

use super::Exit;
use super::board_check::{leave, tell};
use super::build::BuildArgs;
use super::output::{self, json, out};
use super::run::refused;

/// Seconds that the assembler may take.
const SECONDS: u64 = 120;

/// What is printed for where nothing else is asked for.
const TARGET: &str = "ptoas-0.27";

/// Writes a project.
pub(super) fn write(args: &BuildArgs, file: &str, folder: &Path) -> Exit {
    let kernel = args.launch.kernel(file, &args.platform, &args.shapes, args.insert_sync);
    let target = args.target.as_deref().unwrap_or(TARGET);
    leave(&kernel, target, |launched, built, said| project(args, launched, built, said, folder))
        .unwrap_or_else(|error| refused(&error, false))
}

fn project(
    args: &BuildArgs,
    launched: &Launched<'_>,
    built: &BuiltProgram,
    mut said: Vec<Diagnostic>,
    folder: &Path,
) -> Result<Exit, Error> {
    if launched.run.findings().errors() > 0 {
        output::note("no project is written: the simulated run has findings");
        return Ok(Exit::Findings);
    }
    let tools = LeavingTools {
        assembler: args.ptoas.clone(),
        headers: None,
        compiler: None,
        keep: None,
        limit: Duration::from_secs(SECONDS),
    };
    let leaving = launched.judge(built, &tools)?;
    leaving.messages.iter().for_each(|messages| tell(messages, &mut said));
    out(&checks_text(&leaving.checks));
    if leaving.checks.iter().any(|check| check.verdict == "findings") {
        output::said_error();
        output::note("no project is written: a check has findings (see its row)");
        return Ok(Exit::Findings);
    }
    if leaving.unjudged && args.ptoas.is_some() {
        return Ok(output::fail("no project is written: the assembler of `--ptoas` produced no C++ (see its row)"));
    }
    let count = launched.project(built, leaving.cpp.as_deref(), folder)?;
    out(&format!(
        "{}: {count} files. There: make PTO_ISA=/path/to/pto-isa, ./board, python3 compare.py\n",
        slipring::files::shown(folder)
    ));
    Ok(Exit::Clean)
}

/// Says how what came back compares.
///
/// # Errors
/// If it is not whole.
pub(super) fn compare(folder: &Path, as_json: bool) -> Result<Exit, Error> {
    let returned = slipring_artefact::returned(folder)?;
    if as_json {
        json(&returned);
    } else {
        out(&format!("{} on {}, on a board\n{}", returned.kernel, returned.platform, checks_text(&returned.checks)));
    }
    Ok(match (returned.wrong, returned.doubtful) {
        (0, 0) => Exit::Clean,
        (0, count) => output::doubtful(&format!(
            "{count} elements exceed the tolerance relative to their own value; a different order of summation does that, and so do wrong small values"
        )),
        _ => {
            output::said_error();
            Exit::Findings
        }
    })
}
