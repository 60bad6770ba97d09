//! The launches of a kernel that differ in one integer: an argument, or a loop bound in the text.

use super::given::{Assumptions, EmptyOutput, nothing_written};
use slipring_check::{CheckReport, Checker, Rounds, Tools};
use slipring_op::Decoded;
use slipring_program::{Inst, Kind, Operand, Severity};
use slipring_session::exec::{LaunchExtras, launch};
use slipring_session::tensor::Bound;
use slipring_session::{Error, ExecuteOptions};

use crate::subject::Subject;

/// The value that differs from launch to launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// The parameter at this position.
    Param(u32),
    /// Each loop bound that is this constant.
    Bound(u64),
}

/// A kernel whose cores meet at the heads of the loops bounded by a value.
#[derive(Debug)]
pub(super) struct Family<'a> {
    pub subject: &'a Subject<'a>,
    pub number: Number,
    /// The program with its meeting points.
    pub decoded: Decoded,
}

/// A launch with one value.
#[derive(Debug)]
pub(super) struct Member {
    /// Remaining signals.
    pub left: Vec<u64>,
    /// Buffers in global memory.
    pub buffers: usize,
    pub judged: CheckReport,
    pub rounds: Rounds,
    /// Outputs of which it writes nothing.
    pub nothing: Vec<EmptyOutput>,
}

impl Member {
    /// The assumptions of its verdict.
    pub fn given(&self) -> Assumptions {
        Assumptions { nothing: self.nothing.clone(), ..Assumptions::of(&self.judged) }
    }
}

impl<'a> Family<'a> {
    /// The launches that differ in a value.
    pub fn new(subject: &'a Subject<'a>, number: Number) -> Family<'a> {
        let decoded = &subject.compiled.prepared.decoded;
        let mut program = decoded.program.clone();
        for (core, own) in program.cores.iter_mut().zip(&decoded.program.cores) {
            let flow = decoded.program.flow(own);
            for inst in &mut core.insts {
                let Inst::JumpIfGe { a, b, to } = *inst else { continue };
                let meets = match number {
                    Number::Param(at) => flow.of(a).join(flow.of(b)).params >> at.min(63) & 1 != 0,
                    Number::Bound(bound) => b == Operand::Imm(bound),
                };
                if meets {
                    *inst = Inst::Meet { a, b, to };
                }
            }
        }
        let decoded = Decoded { program, local_bytes: decoded.local_bytes };
        Family { subject, number, decoded }
    }

    /// The value that differs, and what it is, as text.
    pub fn says(&self, value: u64) -> String {
        match self.number {
            Number::Param(at) => {
                let param = self.decoded.program.params.get(at as usize);
                format!("{} = {}", param.map_or("?", |param| &param.name), value as i64)
            }
            Number::Bound(_) => format!("{value} iterations"),
        }
    }

    /// True if the assumptions allow a value.
    pub fn allows(&self, value: u64) -> bool {
        match self.number {
            Number::Param(at) => self.subject.assumed.allows(at as usize, value, &self.subject.numbers()),
            Number::Bound(_) => true,
        }
    }

    /// True if they allow no larger one.
    pub fn ends(&self, value: u64) -> bool {
        match self.number {
            Number::Param(at) => self.subject.assumed.ends(at as usize, value, &self.subject.numbers()),
            Number::Bound(_) => false,
        }
    }

    /// True if each allowed value above `last` is `period` above an allowed one.
    pub fn goes_back(&self, last: u64, period: u64) -> bool {
        match self.number {
            Number::Param(at) => self.subject.assumed.goes_back(at as usize, last, period, &self.subject.numbers()),
            Number::Bound(_) => true,
        }
    }

    /// Runs the launch with a value, with all checks and this many bytes after each buffer.
    ///
    /// # Errors
    /// If that is cancelled.
    pub fn run(&mut self, value: u64, slack: usize, tools: &Tools) -> Result<Member, Error> {
        self.subject.tell(format!("a run with {}; earlier ones are clean", self.says(value)));
        if let Number::Bound(_) = self.number {
            for inst in self.decoded.program.cores.iter_mut().flat_map(|core| &mut core.insts) {
                if let Inst::Meet { b, .. } = inst {
                    *b = Operand::Imm(value);
                }
            }
        }
        let subject = self.subject;
        let vary = |(at, bound): (usize, &'a Bound<'a>)| match self.number {
            Number::Param(param) if param as usize == at => bound.borrowed(Some(value)),
            _ => bound.borrowed(None),
        };
        let values: Vec<Bound<'_>> = subject.bound.iter().enumerate().map(vary).collect();
        let limits = subject.budget.one(subject.options.limits);
        let options = ExecuteOptions { gm_slack: subject.options.gm_slack + slack, limits, ..subject.options };
        let how = LaunchExtras {
            cancel: subject.asked.control.cancel_token(),
            stop_endless: true,
            ..LaunchExtras::default()
        };
        let mut checker = Checker::new(tools.clone()).keeping_rounds();
        let execution = launch(&self.decoded, &subject.compiled.platform, &values, options, how, &mut checker);
        if execution.result.findings.iter().any(|finding| finding.kind == Kind::Cancelled) {
            return Err(Error::Cancelled);
        }
        subject.budget.spend(&execution.result);
        let mut judged = checker.report(&execution.result);
        let rounds = checker.rounds().cloned().unwrap_or_default();
        let result = execution.result;
        let launch = self.says(value);
        // They may not hold for the given arguments.
        let warnings = judged.findings.iter_mut().filter(|finding| finding.severity == Severity::Warning);
        warnings.for_each(|finding| finding.notes.push(format!("in a launch with {launch}")));
        let nothing = nothing_written(subject, &result, &launch);
        Ok(Member { nothing, left: result.counters, buffers: result.memory.gm.len(), judged, rounds })
    }
}
