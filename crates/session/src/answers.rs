//! Questions that no source decides: the verdict under the alternative answer.

use slipring_check::CheckReport;
use slipring_ir::Severity;
use slipring_machine::Question;

use crate::Report;

/// The assumption behind a verdict on a recording.
pub const RECORDED: &str = "the launch goes as it was recorded: its shapes, loops, branches and the numbers that it reads are those of these \
     arguments";

/// The condition under which a verdict, clean or not, holds; `None` if the alternative answer leads to the same
/// verdict. `instead` is the finding under the alternative answer.
pub fn clean_if(question: &Question, clean: [bool; 2], instead: Option<String>) -> Option<String> {
    let name = question.name;
    match clean {
        [true, false] => {
            let instead = instead.map_or(String::new(), |what| format!(": {what}"));
            Some(format!("{} (else, `--interpretation {name}`{instead})", question.ours[0]))
        }
        [false, true] => Some(format!("{} (`--interpretation {name}`)", question.other[0])),
        _ => None,
    }
}

/// The condition of a clean verdict if the alternative answer was checked only for this many steps, without a finding.
pub(crate) fn tried_only(question: &Question, steps: u64) -> String {
    format!("{} (else, `--interpretation {}`: tried for {steps} steps only)", question.ours[0], question.name)
}

/// The first error of a report with its line.
pub fn first_error(findings: &Report) -> Option<String> {
    let error = findings.messages().iter().find(|message| message.severity == Severity::Error)?;
    let line = error.primary.as_ref().map(|label| findings.source().line(label.span.start));
    Some(format!("`{}`{}", error.code, line.map_or(String::new(), |line| format!(" in line {line}"))))
}

/// The first error, including what the tools report: for example, why a verdict covers one schedule only.
pub(crate) fn not_clean(judged: &CheckReport, findings: &Report) -> Option<String> {
    first_error(findings).or_else(|| match &judged.scope.schedules {
        slipring_check::Schedules::ThisOne { reasons } => reasons.first().cloned(),
        slipring_check::Schedules::All => None,
    })
}
