//! What is known of a kernel, and how it is put together.

use serde::Serialize;
use slipring_check::{CheckReport, Schedules, Values};
use slipring_ir::Kind;
use slipring_report::MessageFacts;

use super::given::Assumptions;
use super::{Fix, Subject, Witness, budget, endings, text};
use slipring_ir::{Diagnostic, Severity};
use slipring_session::{Report, to_diagnostics};

/// How a scope that covers all schedules says so.
pub(super) const ALL: &str = "all";

/// What is known of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Nothing that the checks look for happens, in all that the scope names.
    Proved,
    /// The same, but there are warnings that the results may not be what was meant: they hold bytes that nobody has written, or
    /// tiles overwrite each other. The reasons say which.
    Doubtful,
    /// Something of it happens.
    Violated,
    /// Neither was shown: the reasons say what stands in the way.
    NotProved,
}

/// What a judgement covers, a line each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProofScope {
    /// Which schedules.
    pub schedules: String,
    /// Which contents of the buffers.
    pub values: String,
    /// Which trip counts and scalar arguments.
    pub counts: String,
    /// Whether loops come to an end, and why.
    pub loops: String,
    /// Which launches after each other.
    pub launches: String,
    /// What is taken for granted of the machine.
    pub assumes: Vec<String>,
    /// What no source decides and the judgement changes with: with the other answer it is another one.
    pub clean_if: Vec<String>,
}

/// A judgement with all that belongs to it.
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
    /// What that covers.
    pub scope: ProofScope,
    /// Why it is doubtful or not proved; empty otherwise.
    pub reasons: Vec<String>,
    /// What was run.
    pub explored: Vec<String>,
    /// A schedule that shows something.
    pub witness: Option<Witness>,
    /// Edits that mend what was found, or some of it.
    pub fix: Option<Fix>,
    /// What was found.
    pub findings: Report,
    /// What it leans on.
    pub(super) given: Assumptions,
    /// Steps that its runs took.
    pub(super) spent: u64,
    /// The launch that fails, where it is not the one that was asked for.
    pub(super) fails: Fails,
}

/// A launch that fails.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Fails {
    /// The arguments with the numbers that fail.
    pub arguments: Vec<(u32, u64)>,
    /// Which of several launches after each other; 0 for the first one.
    pub launch: u32,
}

/// The same as JSON.
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

/// True for a warning about a text that bars a proof: it says that results are not written in whole, or that tiles overwrite
/// each other.
fn bars(said: &Diagnostic) -> bool {
    let kinds = matches!(said.kind, Kind::TileOverwritten | Kind::OutputInPart(_) | Kind::OutputUnwritten);
    kinds && said.severity == Severity::Warning
}

impl Proof {
    /// Takes over what a run found.
    pub(super) fn found(&mut self, subject: &Subject<'_>, judged: &CheckReport) {
        let prepared = &subject.compiled.prepared;
        let messages = to_diagnostics(&judged.findings, &prepared.decoded.program);
        self.findings = Report::new(prepared.written.source.clone(), subject.compiled.found.clone()).and(messages);
    }

    /// The first error names the edits that mend it.
    pub(super) fn name_fix(&mut self) {
        let Some(fix) = &self.fix else { return };
        let mut messages = self.findings.messages().to_vec();
        if let Some(first) = messages.iter_mut().find(|message| message.severity == Severity::Error) {
            first.notes.push(format!("mended by {}: {}", fix.edits.join(", "), fix.then()));
        }
        self.findings = Report::new(self.findings.source_shared(), messages);
    }

    /// What one run with all checks says.
    pub(super) fn judge(&mut self, subject: &Subject<'_>, judged: &CheckReport) {
        let scope = &judged.scope;
        let unsupported = self.findings.is_unsupported();
        let stopped = judged.findings.iter().find(|finding| budget::is_limit(finding));
        if unsupported {
            self.reason("it cannot be run".into());
        } else if let (Some(stopped), 1) = (stopped, self.findings.errors()) {
            self.reason(budget::given_up(subject, stopped));
            let away = endings::away(subject);
            away.into_iter().for_each(|reason| self.reason(reason));
        } else if self.findings.errors() > 0 {
            self.judgement = Judgement::Violated;
        }
        self.scope.schedules = match &scope.schedules {
            Schedules::All => ALL.into(),
            Schedules::ThisOne { reasons } => {
                if stopped.is_none() {
                    reasons.iter().for_each(|reason| self.reason(reason.clone()));
                }
                "the one that was run".into()
            }
        };
        self.scope.values = match &scope.values {
            Values::AnyContents => "any contents of the buffers".into(),
            Values::TheseInputs { because } => {
                because.iter().for_each(|because| self.reason(text::decided(because, |site| subject.line(site))));
                "these inputs".into()
            }
        };
        self.scope.counts = match scope.arguments.as_slice() {
            [] => "those of the text: no argument decides one".into(),
            arguments => format!("those for {}", arguments.join(", ")),
        };
        self.given = Assumptions::of(judged);
    }

    /// Withholds the proof where there are warnings about the results: of the text, or of one of the runs.
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

    /// Says with which arguments the outputs are left as they were: a proof covers them, and they are hardly meant.
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

    /// Adds what the verdict leans on for other counts.
    pub(super) fn assume(&mut self, given: Assumptions) {
        self.given.add(given);
    }

    /// Notes what stands in the way of a proof.
    pub(super) fn reason(&mut self, reason: String) {
        if self.judgement == Judgement::Proved {
            self.judgement = Judgement::NotProved;
        }
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}
