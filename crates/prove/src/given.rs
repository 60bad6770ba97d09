//! Assumptions of verdicts: what is taken for granted, and what no source decides.

use slipring_check::CheckReport;
use slipring_machine::Question;
use slipring_program::{Finding, Unwritten};
use slipring_sim::RunResult;

use crate::subject::Subject;
use crate::text::buffer_name;

/// Assumptions of some verdicts.
#[derive(Clone, Debug, Default)]
pub(super) struct Assumptions {
    /// Assumptions about the machine.
    pub assumes: Vec<String>,
    /// Undecided questions on which they depend.
    pub clean_if: Vec<String>,
    /// Questions on which they may depend: the alternative answer has to be tried.
    pub questions: Vec<&'static Question>,
    /// Warnings about unwritten bytes, once for each location.
    pub warnings: Vec<Finding>,
    /// The outputs of which nothing is written, with the value: the first for each output.
    pub nothing: Vec<EmptyOutput>,
}

/// A launch that writes nothing of an output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EmptyOutput {
    /// The arguments of the launch, as text.
    pub launch: String,
    /// The name of the output.
    pub output: String,
}

/// The outputs of which a completed launch wrote nothing.
pub(super) fn nothing_written(subject: &Subject<'_>, result: &RunResult, launch: &str) -> Vec<EmptyOutput> {
    let program = &subject.compiled.prepared.decoded.program;
    let Some(shadow) = result.memory.shadow.as_ref().filter(|shadow| result.complete && !shadow.is_full()) else {
        return Vec::new();
    };
    let nothing = |own: &&Unwritten| {
        own.to > own.from && shadow.of_buffer(own.buffer, own.from, own.to) == [(0, own.to - own.from)]
    };
    let say = |own: &Unwritten| EmptyOutput { launch: launch.into(), output: buffer_name(program, own.buffer) };
    subject.results.iter().filter(nothing).map(say).collect()
}

impl Assumptions {
    /// The assumptions of one verdict.
    pub fn of(judged: &CheckReport) -> Assumptions {
        let (scope, questions) = (&judged.scope, judged.questions.clone());
        let warnings = judged.unwritten().cloned().collect();
        let (assumes, clean_if) = (scope.assumes.clone(), scope.clean_if.clone());
        Assumptions { assumes, clean_if, questions, warnings, nothing: Vec::new() }
    }

    /// Adds the assumptions of another verdict.
    pub fn add(&mut self, other: Assumptions) {
        add(&mut self.assumes, other.assumes);
        add(&mut self.clean_if, other.clean_if);
        add(&mut self.questions, other.questions);
        for one in other.nothing {
            if self.nothing.iter().all(|known| known.output != one.output) {
                self.nothing.push(one);
            }
        }
        let place = |one: &Finding| (one.code, one.primary.as_ref().map(|label| label.site));
        for warning in other.warnings {
            if self.warnings.iter().all(|known| place(known) != place(&warning)) {
                self.warnings.push(warning);
            }
        }
    }
}

impl FromIterator<Assumptions> for Assumptions {
    fn from_iter<I: IntoIterator<Item = Assumptions>>(all: I) -> Assumptions {
        all.into_iter().fold(Assumptions::default(), |mut sum, one| {
            sum.add(one);
            sum
        })
    }
}

/// Adds new entries.
fn add<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}
