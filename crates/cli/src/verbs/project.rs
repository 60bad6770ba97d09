//! `slipring build --project` and `slipring compare --board`: files for a board, and its results.

use std::path::Path;
use std::time::Duration;

use slipring::{BuiltProgram, Diagnostic, Error};
use slipring_artefact::{Launched, LeavingTools};
use slipring_report::{CheckStatus, checks_text};

use super::exit::Exit;
use super::kernel::KernelArgs;
use super::leave::{leave, tell};
use super::output::{self, json, out, refused};

/// Time limit of the assembler in seconds.
const SECONDS: u64 = 120;

/// The default target.
const TARGET: &str = "ptoas-0.27";

/// Writes a project.
pub(super) fn write(kernel: &KernelArgs, target: Option<&str>, assembler: Option<&Path>, folder: &Path) -> Exit {
    let target = target.unwrap_or(TARGET);
    leave(kernel, target, |launched, built, said| project(assembler, launched, built, said, folder))
        .unwrap_or_else(|error| refused(&error, false))
}

fn project(
    assembler: Option<&Path>,
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
        assembler: assembler.map(Path::to_path_buf),
        headers: None,
        compiler: None,
        keep: None,
        limit: Duration::from_secs(SECONDS),
    };
    let leaving = launched.judge(built, &tools)?;
    leaving.messages.iter().for_each(|messages| tell(messages, &mut said));
    out(&checks_text(&leaving.checks));
    if leaving.checks.iter().any(|check| check.verdict == CheckStatus::Findings) {
        output::said_error();
        output::note("no project is written: a check has findings (see its row)");
        return Ok(Exit::Findings);
    }
    if leaving.unjudged && assembler.is_some() {
        return Ok(output::fail("no project is written: the assembler of `--ptoas` produced no C++ (see its row)"));
    }
    let count = launched.project(built, leaving.cpp.as_deref(), folder)?;
    out(&format!(
        "{}: {count} files. There: make PTO_ISA=/path/to/pto-isa, ./board, python3 compare.py\n",
        slipring::files::shown(folder)
    ));
    Ok(Exit::Clean)
}

/// Compares the results from a board.
///
/// # Errors
///
/// If they are incomplete.
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
