//! Tensor values that determine which tasks a program has: the program is traced again for its arguments, and the
//! values it requests are obtained by running the tasks submitted so far.

use std::sync::{Arc, Mutex};

use slipring_ir::Diagnostic;
use slipring_lang::tasks::{Ask, Question};
use slipring_machine::Platform;
use slipring_sim::ExecutionMode;

use super::beside::{Beside, Came, Job};
use super::values::{first_value, holds};
use super::{Program, ProgramOptions, host};
use slipring_check::Tools;
use slipring_session::compiled::{Choice, Compiled};
use slipring_session::{Error, Tensor};

/// Default number of devices of a program written for several.
pub const DEVICES: u32 = 2;

/// The run of a program as far as it has been traced.
struct Ahead {
    platform: Platform,
    options: ProgramOptions,
    arguments: Vec<Option<Vec<u8>>>,
    tensor_of: Vec<Option<usize>>,
    beside: Beside,
    compiled: Vec<Option<Arc<Compiled>>>,
    /// Completed tasks.
    done: usize,
    called: host::Called,
}

impl Ahead {
    fn answer(&mut self, ask: &Ask<'_>) -> Result<u64, String> {
        let piece = match &ask.question {
            Question::Clusters => return Ok(u64::from(self.platform.clusters)),
            Question::Devices => return Ok(u64::from(self.options.devices.unwrap_or(DEVICES))),
            Question::VectorCores => return Ok(2 * u64::from(self.platform.clusters)),
            Question::Element(piece) => piece,
        };
        for at in self.beside.tensors.len()..ask.graph.tensors.len() {
            let passed = self.tensor_of.iter().position(|tensor| *tensor == Some(at));
            let data = match passed.and_then(|param| self.arguments[param].clone()) {
                Some(data) => data,
                None => first_value(&ask.graph.tensors[at], ask.filled[at].as_deref()).map_err(|e| e.to_string())?,
            };
            self.beside.tensors.push(data);
        }
        // Nothing has to run for a tensor that no task has changed.
        let changes = |at: usize| {
            let uses = &ask.graph.tasks[at].uses;
            uses.iter()
                .any(|own| own.tensor == piece.tensor && own.direction.writes() && own.bytes.overlaps(&piece.bytes()))
        };
        if (self.done..ask.graph.tasks.len()).any(changes) {
            while self.done < ask.graph.tasks.len() {
                let at = self.done;
                self.run(ask, at).map_err(|why| format!("{} did not complete: {why}", ask.graph.name(at)))?;
                self.done += 1;
            }
            if let Some(task) = self.beside.waiting().first() {
                return Err(format!("{} waits for what comes later", ask.graph.name(*task)));
            }
        }
        let mut bits = [0u8; 8];
        let size = piece.elem.bytes();
        let place = piece.offset as usize;
        let bytes = self.beside.tensors[piece.tensor].get(place..place + size).ok_or("the argument is too small")?;
        bits[..size].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(bits))
    }

    /// Runs a task.
    fn run(&mut self, ask: &Ask<'_>, at: usize) -> Result<(), String> {
        let call = &ask.calls[at];
        if let Some(act) = &call.act {
            host::act((at, act), &mut self.beside.tensors, &self.options.host, &mut self.called)?;
        }
        let Some(kernel) = call.kernel else { return Ok(()) };
        if let Some(predicate) = &call.predicate
            && !holds(predicate, ask.graph.tensors[predicate.tensor].elem, &self.beside.tensors[predicate.tensor])
        {
            return Ok(());
        }
        if self.compiled.len() <= kernel {
            self.compiled.resize(kernel + 1, None);
        }
        let compiled = match &self.compiled[kernel] {
            Some(compiled) => compiled.clone(),
            None => {
                let own = &ask.kernels[kernel];
                let (info, platform) = (std::slice::from_ref(&own.info), self.platform.clone());
                let compiled = Compiled::of(&own.module, &[], info, platform, &Choice::default());
                Arc::new(compiled.map_err(|error| error.to_string())?)
            }
        };
        self.compiled[kernel] = Some(compiled.clone());
        let blocks = (ask.graph.tasks[at].blocks, ExecutionMode::Pipes);
        let job = Job {
            graph: ask.graph,
            compiled: &compiled,
            platform: &self.platform,
            call,
            blocks,
            options: &self.options,
        };
        let mut came = vec![self.beside.start(at, 0, &job)?];
        while let Some(one) = came.pop() {
            if let Came::Over(outcome) = one
                && !outcome.result.complete
            {
                return Err(outcome.result.findings.first().map_or(String::new(), |finding| finding.message.clone()));
            }
            let next = self.beside.waiting().into_iter().find_map(|task| self.beside.resume(task));
            came.extend(next.transpose()?);
        }
        Ok(())
    }
}

impl Program {
    /// Passed scalars with which the program was not read: parameter and value, as on the command line.
    fn numbers(&self, args: &[Tensor<'_>]) -> Result<Vec<(String, String)>, Error> {
        let own = &self.orchestration;
        let bound = self.bind(args.to_vec().into())?;
        let passed = own.params.iter().zip(&own.numbers).zip(bound);
        let open = passed.filter(|((param, number), _)| param.shape.is_none() && number.is_none());
        let written = open.filter_map(|((param, _), value)| {
            let bits = value.bits()?.to_le_bytes();
            let number = slipring_session::args::show(param.elem, &bits[..param.elem.bytes()]);
            Some((param.name.clone(), format!("{number}:{}", param.elem)))
        });
        Ok(written.collect())
    }

    /// True for a program whose tasks depend on tensor values, or on the number of clusters: it is known up to the
    /// first such question, until it is traced with arguments.
    pub fn is_open(&self) -> bool {
        self.orchestration.open.as_ref().is_some_and(|open| open.why.is_none())
    }

    /// Why the program is not traced beyond its first question.
    pub fn not_followed(&self, why: &str) -> Diagnostic {
        let open = self.orchestration.open.as_ref();
        let (span, what) = open.map_or_else(Default::default, |open| (open.span, open.what.clone()));
        let message = format!("the program is followed up to here: {what} is not known");
        Diagnostic::error("not-followed", span, message).note(why.to_string())
    }

    /// The message about a program that was traced with arguments, if one of its questions has no answer.
    pub(super) fn ends_early(&self) -> Option<Diagnostic> {
        let why = self.orchestration.open.as_ref()?.why.as_ref()?;
        Some(self.not_followed(why))
    }

    /// The program for these arguments: the values that its orchestration reads are known, since the preceding tasks
    /// have run. `None` if it is not [open](Program::is_open): it is the same for all.
    ///
    /// # Errors
    /// If the arguments do not fit, or the program has errors after the values it reads.
    pub fn followed(&self, args: &[Tensor<'_>], options: &ProgramOptions) -> Result<Option<Program>, Error> {
        self.follow_for(args, options, false)
    }

    /// As [`Program::followed`]; with `made_up` the arguments are invented, and errors that only they cause are notes.
    #[doc(hidden)]
    pub fn follow_for(
        &self,
        args: &[Tensor<'_>],
        options: &ProgramOptions,
        made_up: bool,
    ) -> Result<Option<Program>, Error> {
        if !self.is_open() {
            return Ok(None);
        }
        options.within_bounds()?;
        let mut quick = options.clone();
        quick.tools = Tools { race: false, init: false, ..Tools::default() };
        let mut ahead = Ahead {
            platform: self.with_clusters(options.clusters)?,
            options: quick,
            arguments: self.contents(args.to_vec().into())?,
            tensor_of: self.orchestration.tensor_of.clone(),
            beside: Beside::default(),
            compiled: Vec::new(),
            done: 0,
            called: host::Called::default(),
        };
        let mut answer = |ask: &Ask<'_>| ahead.answer(ask);
        let asked = self.input.asked().numbers(&self.numbers(args)?);
        let followed = self.input.follow(&asked, Some(&mut answer), made_up);
        let (orchestration, said) =
            followed.ok_or_else(|| Error::Unsupported("the file no longer is a program".into()))?;
        let followed = Program::of(self.input.asking(&asked), orchestration, said)?;
        let called = Mutex::new(ahead.called);
        Ok(Some(Program {
            platform: self.platform.clone(),
            interpretations: self.interpretations.clone(),
            called,
            ..followed
        }))
    }
}
