//! The results about a kernel, and how they are combined.

use std::fmt;

use serde::Serialize;
use slipring_check::CheckReport;
use slipring_ir::{Diagnostic, Kind, Severity};
use slipring_report::MessageFacts;
use slipring_session::{Report, to_diagnostics};

use super::given::Assumptions;
use super::{Fix, Witness};
use crate::judgement::{Judgement, ProofScope};
use crate::subject::Subject;

/// A judgement with all its details.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the platform.
    pub platform: String,
    /// Blocks of the launch.
    pub blocks: u32,
    /// What is known.
    pub judgement: Judgement,
    /// Its scope.
    pub scope: ProofScope,
    /// Why it is doubtful or not proved; otherwise empty.
    pub reasons: Vec<String>,
    /// What was run.
    pub explored: Vec<String>,
    /// A schedule that exposes a finding.
    pub witness: Option<Witness>,
    /// Edits that fix the findings, or some of them.
    pub fix: Option<Fix>,
    /// The findings.
    pub findings: Report,
    /// Its assumptions.
    pub(super) given: Assumptions,
    /// Steps used by its runs.
    pub(super) spent: u64,
    /// The failing launch, if it is not the requested one.
    pub(super) fails: Fails,
}

/// A failing launch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Fails {
    /// The arguments with failing values.
    pub arguments: Vec<(u32, u64)>,
    /// The index within consecutive launches; 0 for the first one.
    pub launch: u32,
    /// Bytes after each buffer, if the failing launch needs longer buffers than the given ones.
    pub slack: usize,
}

/// The proof as JSON.
#[derive(Serialize)]
struct ProofFacts<'a> {
    kernel: &'a str,
    platform: &'a str,
    blocks: u32,
    verdict: Judgement,
    scope: &'a ProofScope,
    reasons: &'a [String],
    explored: &'a [String],
    witness: Option<&'a Witness>,
    fix: Option<&'a Fix>,
    findings: Vec<MessageFacts>,
}

impl Serialize for Proof {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ProofFacts {
            kernel: &self.kernel,
            platform: &self.platform,
            blocks: self.blocks,
            verdict: self.judgement,
            scope: &self.scope,
            reasons: &self.reasons,
            explored: &self.explored,
            witness: self.witness.as_ref(),
            fix: self.fix.as_ref(),
            findings: self.findings.facts(),
        }
        .serialize(to)
    }
}

/// True for a warning about a text that prevents a proof: results are not written completely, or tiles overwrite each
/// other.
fn bars(said: &Diagnostic) -> bool {
    let kinds = matches!(said.kind, Kind::TileOverwritten | Kind::OutputInPart(_) | Kind::OutputUnwritten);
    kinds && said.severity == Severity::Warning
}

impl Proof {
    /// Adds the findings of a run.
    pub(super) fn found(&mut self, subject: &Subject<'_>, judged: &CheckReport) {
        let prepared = &subject.compiled.prepared;
        let messages = to_diagnostics(&judged.findings, &prepared.decoded.program);
        self.findings = Report::new(prepared.written.source.clone(), subject.compiled.found.clone()).and(messages);
    }

    /// Adds the fixing edits to the first error.
    pub(super) fn name_fix(&mut self) {
        let Some(fix) = &self.fix else { return };
        let mut messages = self.findings.messages().to_vec();
        if let Some(first) = messages.iter_mut().find(|message| message.severity == Severity::Error) {
            first.notes.push(format!("fixed by {}: {}", fix.edits.join(", "), fix.then()));
        }
        self.findings = Report::new(self.findings.source_shared(), messages);
    }

    /// Withholds the proof if there are warnings about the results: in the text, or in one of the runs.
    pub(super) fn withhold(&mut self, subject: &Subject<'_>) {
        let compiled = subject.compiled;
        let mut warnings: Vec<Diagnostic> = compiled.said.iter().filter(|said| bars(said)).cloned().collect();
        let of_runs = to_diagnostics(&self.given.warnings, &compiled.prepared.decoded.program);
        let mut messages = self.findings.messages().to_vec();
        let place = |message: &Diagnostic| (message.code, message.primary.as_ref().map(|label| label.span));
        let known: Vec<_> = messages.iter().map(place).collect();
        messages.extend(of_runs.iter().filter(|message| !known.contains(&place(message))).cloned());
        warnings.extend(of_runs);
        if self.judgement != Judgement::Proved || warnings.is_empty() {
            return;
        }
        if subject.asked.strict {
            messages.retain(|message| message.severity != Severity::Warning);
            messages.extend(warnings.into_iter().map(|warning| Diagnostic { severity: Severity::Error, ..warning }));
            self.judgement = Judgement::Violated;
        } else {
            self.reasons = warnings.iter().map(|warning| format!("`{}`: {}", warning.code, warning.message)).collect();
            self.judgement = Judgement::Doubtful;
        }
        self.findings = Report::new(self.findings.source_shared(), messages);
    }

    /// Reports the arguments with which outputs are left unchanged: a proof covers them, but they are hardly intended.
    pub(super) fn name_empty(&mut self) {
        if matches!(self.judgement, Judgement::Proved | Judgement::Doubtful) {
            let mut rest = &self.given.nothing[..];
            while let Some(first) = rest.first() {
                let (same, others) = rest.split_at(rest.iter().take_while(|one| one.launch == first.launch).count());
                let outputs: Vec<&str> = same.iter().map(|one| &*one.output).collect();
                let text = format!("; with {} nothing of {} is written", first.launch, outputs.join(" and "));
                self.scope.counts.push_str(&text);
                rest = others;
            }
        }
    }

    /// Adds the assumptions of the verdict for other counts.
    pub(super) fn assume(&mut self, given: Assumptions) {
        self.given.add(given);
    }

    /// Records a reason that prevents a proof.
    pub(super) fn reason(&mut self, reason: String) {
        if self.judgement == Judgement::Proved {
            self.judgement = Judgement::NotProved;
        }
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = if self.blocks == 1 { "1 block".into() } else { format!("{} blocks", self.blocks) };
        let conditions = match (self.judgement, self.scope.clean_if.is_empty()) {
            (Judgement::Proved, false) => ", under the conditions listed as `clean if`",
            _ => "",
        };
        writeln!(f, "{}{conditions}: {} on {}, {blocks}", self.judgement.word(), self.kernel, self.platform)?;
        let mut row = |name: &str, text: &str| writeln!(f, "  {name:<9} {text}");
        for (at, reason) in self.reasons.iter().enumerate() {
            row(if at == 0 { "because" } else { "" }, reason)?;
        }
        row("schedules", &self.scope.schedules)?;
        row("values", &self.scope.values)?;
        row("counts", &self.scope.counts)?;
        row("loops", &self.scope.loops)?;
        row("launches", &self.scope.launches)?;
        for (at, assumption) in self.scope.assumes.iter().enumerate() {
            row(if at == 0 { "given" } else { "" }, assumption)?;
        }
        for (at, condition) in self.scope.clean_if.iter().enumerate() {
            row(if at == 0 { "clean if" } else { "" }, condition)?;
        }
        row("explored", &self.explored.join(", "))?;
        if let Some(witness) = &self.witness {
            row("witness", &witness.to_string())?;
        }
        if let Some(fix) = &self.fix {
            for (at, edit) in fix.edits.iter().enumerate() {
                row(if at == 0 { "fix" } else { "" }, edit)?;
            }
            row("", &fix.then())?;
        }
        Ok(())
    }
}
