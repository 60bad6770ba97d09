//! Assembly of findings.

use std::collections::BTreeMap;

use slipring_machine::{Platform, Question, Role};
use slipring_program::{CoreProgram, Fault, Finding, Kind, Label, Severity, SiteRef, Work};

use crate::registers::Number;
use crate::report;

/// Questions on which sources disagree and on which a run depended, by location and name, with the name of the op.
pub(crate) type Questions = BTreeMap<(SiteRef, &'static str), (&'static Question, String)>;

/// An error without a location.
pub(crate) fn error(kind: impl Into<Kind>, message: impl Into<String>) -> Box<Finding> {
    Box::new(Finding::new(kind, Severity::Error, message))
}

/// A question on which sources disagree and on which the bytes of a run depend.
pub(crate) fn question(question: &Question, site: SiteRef, work: &str) -> Finding {
    let mut finding = *error_at("sources-disagree", site, "", question.message(work));
    finding.severity = Severity::Warning;
    finding.notes = question.notes();
    finding.hint = Some(question.hint());
    finding
}

/// An error at a location.
pub(crate) fn error_at(kind: impl Into<Kind>, site: SiteRef, text: &str, message: impl Into<String>) -> Box<Finding> {
    let mut finding = error(kind, message);
    finding.primary = Some(label(site, text));
    finding
}

/// A run that exceeded its step limit.
pub(crate) fn step_limit(limit: u64, site: SiteRef, role: Role) -> Box<Finding> {
    let text = format!("{role} had reached this point");
    let mut finding = error_at(Kind::StepLimit, site, &text, format!("the program was stopped after {limit} steps"));
    finding.hint = Some("if a loop does not terminate here, correct its bounds; otherwise raise `--max-steps`".into());
    finding
}

/// Names the loop that a core was in when its run was stopped, and what is known of its termination: the location of an
/// infinite loop, and its iterations.
pub(crate) fn in_loop(finding: &mut Finding, core: &CoreProgram, pc: usize, endless: Option<(SiteRef, u64)>) {
    let around = core.loops().into_iter().find(|own| own.has(pc)).map(|own| own.site);
    let here = finding.primary.as_ref().map(|label| label.site);
    if let Some(site) = endless.map(|(site, _)| site).or(around).filter(|site| Some(*site) != here) {
        finding.secondary.push(label(site, "it was in this loop"));
    }
    if let Some((_, rounds)) = endless {
        finding.notes.push(format!("this loop never ends: {}", comes_back(rounds)));
    }
}

/// A loop found to be infinite.
pub(crate) fn endless_loop(site: SiteRef, rounds: u64, role: Role) -> Box<Finding> {
    let mut finding = error_at(Kind::EndlessLoop, site, &format!("{role} never leaves it"), "this loop never ends");
    finding.notes.push(comes_back(rounds));
    finding.hint = Some("change the loop condition's inputs inside the loop, or correct the condition".into());
    finding
}

fn comes_back(rounds: u64) -> String {
    format!("after {rounds} iterations the loop condition's inputs have not changed")
}

/// A value that overflowed its type decides something at a location.
pub(crate) fn wraps(number: Number, what: &'static str, used: SiteRef) -> Box<Finding> {
    let (exact, value) = number.left;
    let exact = if exact == i128::MAX { "this number".to_string() } else { exact.to_string() };
    let message = format!("{exact} does not fit the type of this operation, which gives {value}");
    let mut finding = error_at("number-wraps", number.site, &format!("gives {value} in place of {exact}"), message);
    finding.secondary.push(label(used, what));
    finding.hint = Some("compute it in a wider type, such as `index`, or keep it below the limit of its type".into());
    finding
}

/// A run that exceeded its cycle limit.
pub(crate) fn cycle_limit(limit: u64, site: Option<SiteRef>) -> Box<Finding> {
    let mut finding = error(Kind::StepLimit, format!("the program was stopped after {limit} cycles"));
    finding.primary = site.map(|site| label(site, "it had reached this point"));
    finding.hint = Some("if a loop does not terminate here, correct its bounds; otherwise raise `--max-cycles`".into());
    finding
}

/// A cancelled run.
pub(crate) fn cancelled() -> Box<Finding> {
    error(Kind::Cancelled, "the run was cancelled")
}

/// A location with a remark.
pub(crate) fn label(site: SiteRef, text: impl Into<String>) -> Label {
    Label { site, text: text.into() }
}

/// `1 tile`, `3 tiles`.
pub(crate) fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// ``ring `c2v` ``, without repeating the word if the ring's name already contains it.
pub(crate) fn ring(name: &str) -> String {
    if name.starts_with("ring") { format!("`{name}`") } else { format!("ring `{name}`") }
}

/// The mapping of semaphore ids to cores, where one set reaches one core: a common mistake when signals get lost.
pub(crate) fn semaphore_rule(platform: &Platform) -> Option<String> {
    let offset = Some(platform.sync.subblock_offset).filter(|offset| *offset > 0)?;
    Some(format!(
        "on the Cube core of {} semaphore id n is AIV0's and n + {offset} AIV1's (not n + {}); on a Vector core id n is its own",
        platform.name,
        offset - 1
    ))
}

/// A fault of work.
pub(crate) fn of_fault(fault: Fault, site: SiteRef, work: &Work) -> Box<Finding> {
    let site = fault.site.unwrap_or(site);
    // A fault that the text itself states needs no op name in front.
    let message = match fault.kind {
        Kind::Claim => fault.message,
        _ => format!("{}: {}", work.name, fault.message),
    };
    let mut finding = report::error_at(fault.kind, site, "", message);
    finding.secondary = fault.also;
    finding.hint = fault.hint;
    finding
}
