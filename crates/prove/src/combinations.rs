//! Several arguments that assumptions bound: each combination that they allow is run.

use slipring_check::Tools;
use slipring_program::{ParamKind, Severity};
use slipring_sim::Timing;

use super::given::{Assumptions, nothing_written};
use super::{Judgement, Proof};
use slipring_session::Error;
use slipring_session::tensor::Bound;

use crate::judgement::ALL;
use crate::subject::Subject;

/// Maximum number of examined values of one argument, and of combinations that are run.
const NUMBERS: u64 = 1024;
const MOST: usize = 4096;

/// The values from 0 that the assumptions on an argument alone allow, if there are few.
fn numbers(subject: &Subject<'_>, at: u32) -> Option<Vec<u64>> {
    let at = at as usize;
    let kind = subject.compiled.prepared.decoded.program.params.get(at)?.kind;
    let (own, none) = (subject.assumed.alone(at), vec![None; subject.bound.len()]);
    let allowed = |last: u64| (0..=last).filter(|value| own.allows(at, *value, &none)).collect();
    match kind {
        ParamKind::Bool => Some(allowed(1)),
        ParamKind::Scalar(elem) if !elem.is_float() => own.ends(at, NUMBERS, &none).then(|| allowed(NUMBERS)),
        _ => None,
    }
}

impl Proof {
    /// Runs each combination of arguments that the assumptions allow, if there are few: returns the scope's statement
    /// about it; `None` if there are many, or if one of them is not clean.
    pub(super) fn combinations(
        &mut self,
        subject: &Subject<'_>,
        tools: &Tools,
        deciding: &[u32],
    ) -> Result<Option<String>, Error> {
        if subject.assumed.is_empty() || self.scope.schedules != ALL || self.blocks > subject.places() {
            return Ok(None);
        }
        let mut all: Vec<Vec<u64>> = vec![Vec::new()];
        for at in deciding {
            let Some(values) = numbers(subject, *at) else { return Ok(None) };
            if all.len().saturating_mul(values.len()) > MOST * 64 {
                return Ok(None);
            }
            let longer = |values_so_far: &Vec<u64>| {
                let so_far = values_so_far.clone();
                values.iter().map(move |value| so_far.iter().copied().chain([*value]).collect()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        let bounds: Vec<Vec<Bound<'_>>> = all
            .iter()
            .map(|values| {
                let mut bound = subject.bound.to_vec();
                for (at, value) in deciding.iter().zip(values) {
                    bound[*at as usize] = Bound::scalar(*value);
                }
                bound
            })
            .filter(|bound| subject.assumed.broken(&subject.with(bound).numbers()).is_none())
            .take(MOST + 1)
            .collect();
        if bounds.is_empty() || bounds.len() > MOST {
            return Ok(None);
        }
        let (mut given, mut leaves) = (Assumptions::default(), false);
        for bound in &bounds {
            let there = subject.with(bound);
            let words = there.words(deciding);
            if subject.budget.check().is_err() {
                return Ok(None);
            }
            subject.tell(format!("a run with {words}; earlier ones are clean"));
            let (execution, judged) = there.run(Timing::Platform, tools, None)?;
            let errors = judged.findings.iter().filter(|finding| finding.severity == Severity::Error);
            if errors.clone().any(super::budget::is_limit) {
                return Ok(None);
            }
            if errors.count() > 0 {
                self.judgement = Judgement::Violated;
                self.scope.counts = format!("{words} fails");
                self.fails.arguments =
                    deciding.iter().filter_map(|at| Some((*at, bound[*at as usize].bits()?))).collect();
                self.found(&there, &judged);
                return Ok(None);
            }
            if judged.doubt().is_some() || judged.scope.schedules != slipring_check::Schedules::All {
                return Ok(None);
            }
            leaves |= execution.result.counters.iter().any(|count| *count != 0);
            let nothing = nothing_written(&there, &execution.result, &words);
            given.add(Assumptions { nothing, ..Assumptions::of(&judged) });
        }
        self.assume(given);
        if leaves {
            self.scope.launches = format!("{}; with these arguments", self.scope.launches);
        }
        self.explored.push(format!("{} combinations of arguments", bounds.len()));
        let names: Vec<&str> = deciding.iter().map(|at| subject.name(*at)).collect();
        Ok(Some(format!(
            "every {} from 0 on that the assumptions allow: each of the {} combinations was run",
            names.join(" and "),
            bounds.len()
        )))
    }
}

impl Subject<'_> {
    /// The name of a parameter.
    fn name(&self, at: u32) -> &str {
        self.compiled.prepared.decoded.program.params.get(at as usize).map_or("?", |param| &param.name)
    }

    /// The values of some arguments, as text.
    fn words(&self, params: &[u32]) -> String {
        let numbers = self.numbers();
        let word = |at: &u32| match numbers.get(*at as usize) {
            Some(Some(value)) => format!("{} = {value}", self.name(*at)),
            _ => self.name(*at).to_string(),
        };
        params.iter().map(word).collect::<Vec<_>>().join(", ")
    }
}
