//! Facts: what was checked, and the verdict.

use rayon::prelude::*;
use slipring_check::{CheckReport, Tools, Verdict};
use slipring_ir::{Diagnostic, Line, Severity};
use slipring_program::{ParamKind, Shadow, SiteRef};
use slipring_report::{BufferFacts, CheckFacts, CheckStatus, Digest, digest};

use crate::places::Places;
use crate::tensor::Bound;
use crate::{Difference, VerifyOutcome};

macro_rules! tool_names {
    () => {
        "all, none, or a list of memory, sync, init, race"
    };
}

/// The values that [`tools`] accepts, for messages.
pub(crate) const TOOLS: &str = tool_names!();
/// The help of `--check`.
pub(crate) const TOOLS_HELP: &str = concat!("Checks to run: ", tool_names!());

/// The tools selected by a list of names: `all`, `none`, or some of memory, sync, init and race. The engine's own two,
/// memory and sync, are always active.
///
/// # Errors
/// If it contains another name, or `none` and others.
pub fn tools(text: &str) -> Result<Tools, String> {
    let mut tools = Tools { race: false, init: false, ..Tools::default() };
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    if names.len() > 1 && names.contains(&"none") {
        return Err(format!("takes `none` alone, not `{text}`"));
    }
    for name in names {
        match name {
            "all" => (tools.race, tools.init) = (true, true),
            "race" => tools.race = true,
            "init" => tools.init = true,
            "memory" | "sync" | "none" => {}
            other => return Err(format!("takes {TOOLS}, not `{other}`")),
        }
    }
    Ok(tools)
}

/// The results of each tool, and the scope of the verdict.
pub(crate) fn check_facts(
    report: &CheckReport,
    complete: bool,
    line: impl Fn(SiteRef) -> Option<Line>,
) -> Vec<CheckFacts> {
    let mut facts = Vec::new();
    for tool in &report.tools {
        let what = match tool.tool {
            "memory" => "every access inside its buffer or memory",
            "sync" => "deadlock, flags set twice or left set, slots held or never popped",
            "race" => "conflicting accesses without an order",
            _ => "reads of uninitialised bytes",
        };
        let (verdict, detail, findings) = match &tool.verdict {
            Verdict::Checked { findings, warnings } => {
                let verdict = match (findings, warnings) {
                    (0, 0) => CheckStatus::Clean,
                    (0, _) => CheckStatus::Warnings,
                    _ => CheckStatus::Findings,
                };
                (verdict, what.to_string(), *findings)
            }
            Verdict::Partly { findings, .. } => {
                let verdict = CheckStatus::of(*findings, false);
                (verdict, format!("{what}; up to where the run stopped"), *findings)
            }
            Verdict::NotShown { findings, reason } => {
                let verdict = if *findings == 0 { CheckStatus::NotShown } else { CheckStatus::Findings };
                (verdict, format!("{what}; for this schedule only, {reason}"), *findings)
            }
            Verdict::NotChecked { reason } => (CheckStatus::NotChecked, reason.clone(), 0),
        };
        facts.push(CheckFacts::new(tool.tool, verdict, detail, findings));
    }
    // How far a run gets before it stops depends on its schedule.
    let scope = if complete { report.scope.describe(line) } else { "this schedule only (the run stopped)".into() };
    facts.push(CheckFacts::new("scope", CheckStatus::Scope, scope, 0));
    facts
}

/// The comparison with the sequential semantics; differences become a message.
pub(crate) fn verify_facts(outcome: &VerifyOutcome, bound: &[Bound<'_>], messages: &mut Vec<Diagnostic>) -> CheckFacts {
    let (verdict, detail, findings) = match outcome {
        VerifyOutcome::Same(buffers) => {
            (CheckStatus::Clean, format!("same bytes as the sequential semantics: {}", buffers.join(", ")), 0)
        }
        VerifyOutcome::Faulty(why) => {
            (CheckStatus::Findings, format!("the sequential semantics has an error: {why}"), 1)
        }
        VerifyOutcome::NotChecked(why) => (CheckStatus::NotChecked, why.clone(), 0),
        VerifyOutcome::Different(count, list) => {
            let at = |d: &Difference| coordinates(d.element, bound[d.index].shape.as_deref());
            let differ = if *count == 1 { "1 element differs" } else { &format!("{count} elements differ") };
            let notes = list.iter().map(|d| format!("{}[{}]: {} instead of {}", d.param, at(d), d.run, d.reference));
            let message = format!("{differ} from the sequential semantics of the source");
            let error = Diagnostic::nowhere("verify", Severity::Error, message);
            messages.push(
                Diagnostic { notes: notes.collect(), ..error }
                    .help("look for a missing wait, an address in use twice, or a slot freed too early"),
            );
            (CheckStatus::Findings, format!("{differ} from the sequential semantics"), *count)
        }
    };
    CheckFacts::new("verify", verdict, detail, findings)
}

/// The buffers after the run, all of them or those that have changed: `after` has the contents for each parameter that
/// is one.
pub fn buffers(
    program: &slipring_program::Program,
    bound: &[Bound<'_>],
    after: &[Option<&[u8]>],
    marks: Option<&Shadow>,
    all: bool,
) -> Vec<BufferFacts> {
    let mut list = Vec::new();
    let changed =
        |(bound, after): (&Bound<'_>, Option<&[u8]>)| bound.contents().is_some_and(|before| after != Some(before));
    let changed: Vec<bool> = bound.iter().zip(after.iter().copied()).map(changed).collect();
    let shown: Vec<_> = after.iter().zip(&changed).map(|(after, changed)| after.filter(|_| all || *changed)).collect();
    let looks = looks(program, &shown);
    let places = Places::new(bound);
    for ((index, param), digest) in program.params.iter().enumerate().zip(looks) {
        let ParamKind::Buffer { elem, .. } = param.kind else { continue };
        let (Some(after), Some(digest)) = (shown[index], digest) else { continue };
        let shape = bound[index].shape.as_ref().map_or(String::new(), |shape| {
            format!("[{}]", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("x"))
        });
        list.push(BufferFacts {
            name: param.name.clone(),
            elem: format!("{elem}{shape}"),
            bytes: after.len(),
            changed: changed[index],
            uninitialised: marks.zip(places.get(index)).map_or(Vec::new(), |(marks, place)| {
                let (from, bytes) = (place.offset as u64, after.len() as u64);
                marks.of_buffer(place.buffer, from, from + bytes)
            }),
            digest,
        });
    }
    list
}

/// Digests of all buffers; large ones are computed on several threads.
fn looks(program: &slipring_program::Program, after: &[Option<&[u8]>]) -> Vec<Option<Digest>> {
    let buffers: Vec<_> = program.params.iter().zip(after).map(|(param, after)| (&param.kind, *after)).collect();
    let look = |(kind, after): &(&ParamKind, Option<&[u8]>)| match kind {
        ParamKind::Buffer { elem, .. } => after.map(|after| digest(*elem, after)),
        _ => None,
    };
    match after.iter().flatten().map(|bytes| bytes.len()).sum::<usize>() > LARGE {
        true => buffers.par_iter().map(look).collect(),
        false => buffers.iter().map(look).collect(),
    }
}

/// Size in bytes up to which one thread is faster than several.
const LARGE: usize = 1 << 18;

/// `3, 17` for an element of a buffer whose shape is known, otherwise its index.
pub fn coordinates(element: usize, shape: Option<&[usize]>) -> String {
    let Some(shape) = shape.filter(|shape| shape.iter().product::<usize>() > element) else {
        return element.to_string();
    };
    let mut rest = element;
    let mut parts: Vec<String> = Vec::new();
    for &dim in shape.iter().rev() {
        parts.push((rest % dim).to_string());
        rest /= dim;
    }
    parts.reverse();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_a_buffer() {
        assert_eq!(coordinates(7, Some(&[2, 4])), "1, 3");
        assert_eq!(coordinates(23, Some(&[2, 3, 4])), "1, 2, 3");
        assert_eq!(coordinates(8, Some(&[2, 4])), "8");
        assert_eq!(coordinates(8, None), "8");
    }

    #[test]
    fn tools_by_name() {
        let of = |text| tools(text).map(|t| (t.race, t.init));
        assert_eq!(of("all"), Ok((true, true)));
        assert_eq!(of("none"), Ok((false, false)));
        assert_eq!(of("memory,race"), Ok((true, false)));
        assert!(of("rase").unwrap_err().contains("`rase`"));
    }
}
