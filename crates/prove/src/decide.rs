//! From one run with all checks to a judgement.

use std::rc::Rc;
use std::sync::Arc;

use budget::Budget;
use slipring_check::{CheckReport, Schedules, Tools, Values};
use slipring_session::answers::first_error;
use slipring_session::assume::Assumed;
use slipring_session::compiled::Compiled;
use slipring_session::places::{beginning, results};
use slipring_session::tensor::Bound;
use slipring_session::{Error, ExecuteOptions, Report};
use slipring_sim::{ExecutionMode, Timing};

use crate::given::Assumptions;
use crate::judgement::{ALL, Judgement, ProofScope};
use crate::launches::FIRST;
use crate::proof::{Fails, Proof};
use crate::subject::{ProveOptions, Subject, given_up};
use crate::{budget, endings, text};

pub(crate) fn prove(
    compiled: &Arc<Compiled>,
    bound: &[Bound<'_>],
    blocks: u32,
    asked: &ProveOptions,
) -> Result<Proof, Error> {
    let (prepared, platform) = (&compiled.prepared, &compiled.platform);
    let mut asked_run = asked.run.quiet();
    asked_run.stop_endless = true;
    let options = ExecuteOptions {
        blocks,
        mode: ExecutionMode::Pipes,
        gm_slack: asked.run.gm_slack as usize,
        limits: asked.run.limits,
    };
    let assumed = Assumed::of_kernel(prepared, &asked.run.assume).map_err(Error::Arguments)?;
    let budget = Budget::new(asked.run.limits);
    let results = results(prepared, &compiled.kernels, bound, &compiled.said);
    let subject = Subject {
        compiled,
        bound,
        options,
        asked: asked_run,
        budget,
        assumed,
        launches: 1,
        results,
        known: Rc::default(),
    };
    if let Some(broken) = subject.assumed.broken(&subject.numbers()) {
        return Err(Error::Arguments(format!("the arguments do not satisfy `{broken}`, which is assumed")));
    }
    let tools = beginning(prepared, &compiled.kernels, bound, Tools::default());
    let mut proof = Proof {
        kernel: prepared.decoded.program.name.clone(),
        platform: platform.name.clone(),
        blocks,
        judgement: Judgement::Proved,
        scope: ProofScope::default(),
        reasons: Vec::new(),
        explored: Vec::new(),
        witness: None,
        fix: None,
        findings: Report::new(prepared.written.source.clone(), Vec::new()),
        given: Assumptions::default(),
        spent: 0,
        fails: Fails::default(),
    };
    proof.decide(&subject, &tools, asked)?;
    proof.endings(&subject);
    proof.withhold(&subject);
    proof.everywhere(&subject);
    proof.name_empty();
    if slipring_op::function::is_recorded(&subject.compiled.prepared.written) {
        proof.given.assumes.push(slipring_session::answers::RECORDED.into());
    }
    if !subject.assumed.is_empty() {
        proof.given.assumes.push(format!("the arguments satisfy {}", subject.assumed));
    }
    proof.spent = subject.budget.spent();
    Ok(proof)
}

impl Proof {
    /// The result of one run, shown while the rest is pending.
    fn so_far(&self) -> String {
        match (self.judgement, first_error(&self.findings)) {
            (Judgement::Violated, Some(error)) => format!("violated with these arguments ({error})"),
            (Judgement::Proved | Judgement::Doubtful, None) if self.scope.schedules == ALL => {
                "one launch with these arguments is clean in all schedules".into()
            }
            (_, Some(error)) => format!("a run with these arguments finds {error}"),
            (_, None) => "a run with these arguments finds nothing".into(),
        }
    }

    fn decide(&mut self, subject: &Subject<'_>, tools: &Tools, asked: &ProveOptions) -> Result<(), Error> {
        subject.tell("loops of the text, with fewer iterations");
        if self.bounds(subject, tools)? {
            return Ok(());
        }
        subject.tell("one run with all checks");
        // It is not an error of other launches that they write less of buffers made for this one.
        let complete = Tools { results: subject.results.clone(), ..tools.clone() };
        let (execution, judged) = subject.run(Timing::Platform, &complete, None)?;
        self.explored.push("1 run with all checks".into());
        self.found(subject, &judged);
        self.judge(subject, &judged);
        let stopped = judged.findings.iter().any(budget::is_limit);
        *subject.known.borrow_mut() = self.so_far();
        if self.judgement == Judgement::Proved {
            self.launches(subject, tools, execution, &judged)?;
            if self.judgement != Judgement::Violated {
                self.arguments(subject, tools)?;
                // What later launches find was shown for the given arguments, not for those that fail.
                if self.judgement == Judgement::Violated {
                    self.scope.launches = FIRST.into();
                }
            }
            if self.judgement == Judgement::Violated {
                self.hunt_where_it_fails(subject, tools, asked.timings)?;
            }
        } else if self.judgement == Judgement::NotProved && stopped {
            self.scope.launches = FIRST.into();
        } else if self.chosen(subject, tools)? {
            self.launches(subject, tools, execution, &judged)?;
        } else {
            self.scope.launches = FIRST.into();
            if self.judgement == Judgement::Violated {
                self.smallest(subject, tools)?;
            }
            if !self.fails.arguments.is_empty() {
                self.hunt_where_it_fails(subject, tools, asked.timings)?;
            } else if self.judgement == Judgement::Violated || self.scope.schedules != ALL {
                self.hunt(subject, tools, (&execution, &judged), asked.timings)?;
            }
        }
        if self.judgement == Judgement::Violated {
            self.reasons.clear();
        }
        Ok(())
    }

    /// The result of one run with all checks.
    pub(crate) fn judge(&mut self, subject: &Subject<'_>, judged: &CheckReport) {
        let scope = &judged.scope;
        let unsupported = self.findings.is_unsupported();
        let stopped = judged.findings.iter().find(|finding| budget::is_limit(finding));
        if unsupported {
            self.reason("it cannot be run".into());
        } else if let (Some(stopped), 1) = (stopped, self.findings.errors()) {
            self.reason(given_up(subject, stopped));
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
}
