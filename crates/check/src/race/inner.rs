//! Unordered accesses within one execution, which its own operands or steps do not separate.

use slipring_machine::interpretations::UNORDERED_STORES;
use slipring_program::{Finding, InnerConflict, Kind, Party, Severity, TwoWorkitems};
use slipring_sim::WorkRun;

use super::Race;
use crate::overlap;
use crate::places::{LaunchMemory, bytes};

impl Race {
    /// Overlapping operands of the work itself. A discovering effect has its own order.
    pub(super) fn overlap(&mut self, run: &WorkRun<'_>) {
        if run.work.effect.discovers() || self.overlaps.contains(&run.site) {
            return;
        }
        let Some(found) = overlap::find(run.access) else { return };
        self.overlaps.insert(run.site);
        let (place, start) = LaunchMemory::of(&found.of, run.agent.cluster);
        let shared = bytes(start + (found.first - found.of.start), start + (found.end - found.of.start));
        let (place, op) = (place.name(&self.names), self.names.op(run.site));
        let message = match found.working {
            true => format!("the working memory of `{op}` shares {shared} of {place} with another of its operands"),
            false => format!("`{op}` writes {shared} of {place}, which it also reads for other elements"),
        };
        let finding = Finding::new("operand-overlap", Severity::Error, message)
            .at(run.site, "its operands overlap without being the same tile")
            .note("the result depends on the order in which the hardware goes through the elements")
            .help("keep them apart, or give exactly the same tile twice");
        self.findings.push(finding);
    }

    /// Reports unordered pairs of accesses inside one execution. Two stores are a warning: the manual has a barrier for
    /// them, and public kernels rely on their order without it.
    pub(super) fn report_inner(&mut self, run: &WorkRun<'_>) {
        for inner in &run.access.conflicts {
            if let Some(workitems) = inner.workitems {
                if self.shared.insert((inner.earlier, inner.later, workitems.equal)) {
                    self.findings.push(self.between_workitems(run, inner, workitems));
                }
                continue;
            }
            if inner.kept && !self.answers.unordered_stores {
                self.leans_on(&UNORDERED_STORES);
            }
            if !self.seen.insert((inner.earlier, inner.later, inner.writes[0], inner.writes[1])) {
                continue;
            }
            let (place, start) = LaunchMemory::of(&inner.extent, run.agent.cluster);
            let parties = inner.writes.map(|writes| Party { unit: run.agent.unit(), block: None, writes });
            let (op, old_op) = (self.names.op(inner.later), self.names.op(inner.earlier));
            let message = format!(
                "`{op}` {} {} of {}, which `{old_op}` {} before it in the same vector function, and nothing orders the two",
                parties[1].verb(),
                bytes(start, start + u64::from(inner.extent.row_bytes)),
                place.name(&self.names),
                parties[0].verb(),
            );
            let label = |party: &Party| format!("{} {} here", party.who(), party.verb());
            let severity =
                if inner.kept && !self.answers.unordered_stores { Severity::Warning } else { Severity::Error };
            let mut finding = Finding::new(Kind::Race(parties), severity, message)
                .at(inner.later, label(&parties[1]))
                .also(inner.earlier, label(&parties[0]))
                .help(format!("put `{}` between {}", self.words.memory_barrier(inner.barrier), inner.between));
            if inner.kept {
                let note = "public kernels rely on program order here; the manual does not promise it";
                finding.notes.push(note.into());
            }
            self.findings.push(finding);
        }
    }

    /// Two workitems of one launch touch the same bytes, and no barrier of the launch is between the two accesses.
    fn between_workitems(&self, run: &WorkRun<'_>, inner: &InnerConflict, workitems: TwoWorkitems) -> Finding {
        let (place, start) = LaunchMemory::of(&inner.extent, run.agent.cluster);
        let parties = inner.writes.map(|writes| Party { unit: run.agent.unit(), block: None, writes });
        let barrier = self.words.workitem_barrier;
        let [old, new] = workitems.at.map(|[x, y, z]| format!("workitem ({x}, {y}, {z})"));
        let message = format!(
            "{new} {} {} of {}, which {old} {}, and no `{barrier}` is between the two",
            parties[1].verb(),
            bytes(start, start + u64::from(inner.extent.row_bytes)),
            place.name(&self.names),
            parties[0].verb(),
        );
        // Test programs of the assembler write equal values.
        let severity = if workitems.equal { Severity::Warning } else { Severity::Error };
        let finding = Finding::new(Kind::Race(parties), severity, message)
            .at(inner.later, format!("{new} {} here", parties[1].verb()))
            .also(inner.earlier, format!("{old} {} here", parties[0].verb()))
            .note("nothing else orders two workitems: not their warp, a fence, or an exchange of values");
        let finding = match workitems.equal {
            true => finding.note("both write the same value: public test programs do so, and no source promises it"),
            false => finding,
        };
        finding
            .help(format!("let each workitem touch bytes of its own, put `{barrier}` between, or use atomics for both"))
    }
}
