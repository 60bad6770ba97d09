//! What verdicts lean on: what is taken for granted, and what no source decides.

use slipring_check::CheckReport;
use slipring_machine::Question;
use slipring_program::Finding;

/// What some verdicts lean on.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    /// What is taken for granted of the machine.
    pub assumes: Vec<String>,
    /// What they change with.
    pub clean_if: Vec<String>,
    /// What they may change with: the other answer has to be tried.
    pub questions: Vec<&'static Question>,
    /// Warnings of bytes that nobody has written, once for each place.
    pub warnings: Vec<Finding>,
}

impl Given {
    /// What one verdict leans on.
    pub fn of(judged: &CheckReport) -> Given {
        let (scope, questions) = (&judged.scope, judged.questions.clone());
        let warnings = judged.unwritten().cloned().collect();
        Given { assumes: scope.assumes.clone(), clean_if: scope.clean_if.clone(), questions, warnings }
    }

    /// Adds what another verdict leans on.
    pub fn add(&mut self, other: Given) {
        add(&mut self.assumes, other.assumes);
        add(&mut self.clean_if, other.clean_if);
        add(&mut self.questions, other.questions);
        let place = |one: &Finding| (one.code, one.primary.as_ref().map(|label| label.site));
        for warning in other.warnings {
            if self.warnings.iter().all(|known| place(known) != place(&warning)) {
                self.warnings.push(warning);
            }
        }
    }
}

impl FromIterator<Given> for Given {
    fn from_iter<I: IntoIterator<Item = Given>>(all: I) -> Given {
        all.into_iter().fold(Given::default(), |mut sum, one| {
            sum.add(one);
            sum
        })
    }
}

/// Adds what is new.
fn add<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}
