//! Launch after launch.

use slipring_check::{CheckReport, Tools};
use slipring_program::Kind;
use slipring_sim::Timing;

use super::given::Assumptions;
use super::{Judgement, Proof, budget};
use slipring_session::{Error, Execution};

use crate::subject::{Subject, given_up};

/// The scope's statement where later launches were not examined.
pub(super) const FIRST: &str = "the first one";
/// The scope's statement that launches leave nothing behind.
pub(super) const NOTHING_LEFT: &str = "any number: each leaves the signals as it found them";
/// The same where signals are left that the platform resets.
const RESET: &str = "any number: the platform resets the signals that each leaves";
/// Maximum number of consecutive launches until the remaining signals recur.
const LAUNCHES: usize = 64;
impl Proof {
    /// Repeats the launch until the remaining signals equal those of an earlier launch: from then on nothing is new.
    pub(super) fn launches(
        &mut self,
        subject: &Subject<'_>,
        tools: &Tools,
        first: Execution,
        judged: &CheckReport,
    ) -> Result<(), Error> {
        let count = first.result.counters.len();
        let mut left = vec![vec![0; count], first.result.counters.clone()];
        let mut before = first;
        while !left[..left.len() - 1].contains(&left[left.len() - 1]) {
            if left.len() > LAUNCHES {
                self.scope.launches = format!("the first {LAUNCHES}");
                self.reason(format!("each of {LAUNCHES} launches leaves other signals than those before it"));
                return Ok(());
            }
            let number = left.len();
            subject.tell(format!("launch {number}, each on the device as the one before has left it"));
            let (execution, next) = subject.run(Timing::Platform, tools, Some(&before))?;
            if let Some(stopped) = next.findings.iter().find(|finding| budget::is_limit(finding)) {
                self.scope.launches = format!("the first {}", number - 1);
                self.reason(format!("launch {number}: {}", given_up(subject, stopped)));
                return Ok(());
            }
            if next.findings.iter().any(|finding| finding.severity == slipring_program::Severity::Error) {
                self.scope.launches = format!("launch {number}, each on the device as the one before has left it");
                self.judgement = Judgement::Violated;
                self.found(subject, &next);
                self.fails.launch = number as u32;
                return Ok(());
            }
            self.assume(Assumptions { warnings: Assumptions::of(&next).warnings, ..Assumptions::default() });
            if next.scope != judged.scope {
                self.reason(format!("launch {number} is decided otherwise: {}", next.scope));
            }
            left.push(execution.result.counters.clone());
            before = execution;
        }
        let runs = left.len() - 1;
        if runs > 1 {
            self.explored.push(format!("{runs} launches after each other"));
        }
        let resets = judged.findings.iter().any(|finding| finding.kind == Kind::SignalLeftOver);
        self.scope.launches = match left[left.len() - 1].iter().all(|count| *count == 0) {
            true if resets => RESET.into(),
            true => NOTHING_LEFT.into(),
            false => format!("any number: launch {runs} leaves the signals as an earlier one did"),
        };
        Ok(())
    }
}
