//! One task: its memory, its run, its accesses.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::footprint::{Footprint, Signalled, Trail};
use super::lost::{LeftBehind, Meaningless};
use slipring_check::{Checker, Values};
use slipring_ir::{Diagnostic, Diags};
use slipring_lang::tasks::{TaskArg, TaskCall};
use slipring_machine::Platform;
use slipring_op::{Decoded, Decoding, decode};
use slipring_program::{Choice, GmBuffer, Memory, ParamKind, Unwritten, zeroed};
use slipring_report::{Record, Recorder};
use slipring_sim::{Agent, ArgValue, ExecutionMode, Launch, Outside, RunResult, Stats, run_beside};
use slipring_tasks::signals::{Signal, Wanted};
use slipring_tasks::{Bytes, Resumed, Touched};
use slipring_tile::Space;

use super::ProgramOptions;
use slipring_session::args::{Defaults, read_arg};
use slipring_session::{Bound, Compiled, in_words, slot_buffers};

use crate::footprint::step;

/// The result of a task.
pub(super) struct Outcome {
    pub result: RunResult,
    /// Its accesses, by tensor.
    pub touched: BTreeMap<usize, Touched>,
    /// Its accesses between steps on signals, if it has any.
    pub parts: Vec<BTreeMap<usize, Touched>>,
    /// The uninitialised bytes that it stored; `None` if that was not tracked.
    pub left: Option<LeftBehind>,
    /// Unreported steps on signals: their locations are bytes of tensors, their sites source spans.
    pub steps: Vec<Signalled>,
    pub messages: Vec<Diagnostic>,
    /// Whether its own verdict covers all schedules of its cores.
    pub all_schedules: bool,
    /// Whether loaded data decide its accesses.
    pub by_data: bool,
    /// The full record, if requested, and the names of the buffers that it refers to by index.
    pub record: Option<(Record, Vec<String>)>,
}

/// The interface to other tasks, called when a task cannot proceed without them.
pub(super) trait Talk {
    /// Hands over the tensors, the steps on signals so far and the wait conditions; returns the cycle of the task until
    /// which it waited, or `None` if the condition will never hold.
    fn waits(&mut self, at: u64, tensors: &mut [Vec<u8>], steps: Vec<Signalled>, looks: Vec<Signalled>) -> Option<u64>;

    /// Since which cycle of the task a signal satisfies a wait, and whose step that was; `own` are the unreported steps
    /// of the task. `None` if it was satisfied from the beginning.
    fn since(&self, place: Signal, wanted: Wanted, own: &[Signalled]) -> Option<(u64, Resumed)>;
}

/// A task's memory as seen by the others.
struct Door<'t> {
    tensor_of: &'t [usize],
    tensors: &'t mut [Vec<u8>],
    trail: Rc<RefCell<Trail>>,
    talk: &'t mut dyn Talk,
}

/// Converts steps whose locations are in buffers to tensors; other buffers are private.
fn in_tensors(steps: impl IntoIterator<Item = Signalled>, tensor_of: &[usize]) -> Vec<Signalled> {
    let there = |step: Signalled| Some(Signalled { place: (*tensor_of.get(step.place.0)?, step.place.1), ..step });
    steps.into_iter().filter_map(there).collect()
}

impl Outside for Door<'_> {
    fn change(&mut self, at: u64, memory: &mut Memory) -> Option<u64> {
        for (buffer, tensor) in memory.gm.iter_mut().zip(self.tensor_of) {
            self.tensors[*tensor] = std::mem::take(&mut buffer.data);
        }
        let steps = in_tensors(std::mem::take(&mut self.trail.borrow_mut().events), self.tensor_of);
        let looks = in_tensors(self.trail.borrow().looks.values().copied(), self.tensor_of);
        let until = self.talk.waits(at, self.tensors, steps, looks);
        for (buffer, tensor) in memory.gm.iter_mut().zip(self.tensor_of) {
            buffer.data = std::mem::take(&mut self.tensors[*tensor]);
        }
        until
    }

    fn there(&mut self, at: u64, core: Agent) -> u64 {
        let mut trail = self.trail.borrow_mut();
        let Trail { events, looks } = &mut *trail;
        let Some(look) = looks.get_mut(&(core.cluster, core.role.index())) else { return at };
        let own = in_tensors(events.iter().copied(), self.tensor_of);
        let there = in_tensors([*look], self.tensor_of).pop();
        let since = there.and_then(|there| self.talk.since(there.place, step(there.what).err()?, &own));
        let Some((since, resumed)) = since.filter(|(since, _)| *since > look.at) else { return at };
        look.by = Some(resumed);
        // A polling core sees it with its first read after the change.
        at.max(since + look.cycles)
    }
}

/// Runs a task on the program's tensors.
///
/// # Errors
/// Why it cannot be decoded, or that memory is exhausted.
pub(super) fn run_task(
    compiled: &Compiled,
    platform: &Platform,
    call: &TaskCall,
    (blocks, mode): (u32, ExecutionMode),
    (tensors, nothing): (&mut [Vec<u8>], Option<&Meaningless>),
    options: &ProgramOptions,
    others: Option<(&mut dyn Talk, &[bool])>,
) -> Result<Outcome, String> {
    let reference;
    let decoded: &Decoded = match mode {
        ExecutionMode::Pipes => &compiled.prepared.decoded,
        ExecutionMode::Sequential => {
            let prepared = &compiled.prepared;
            let (source, kernel) = prepared
                .apart
                .as_ref()
                .map_or((&prepared.written, &prepared.kernel), |(module, kernel)| (module, kernel));
            reference = decode(source, kernel, platform, Decoding::Reference, &mut Diags::default())
                .map_err(|_| "the source as written cannot be decoded".to_string())?;
            &reference
        }
    };
    let program = &decoded.program;
    // Each tensor is one buffer, however often it is passed.
    let mut buffers: Vec<GmBuffer> = Vec::new();
    let mut tensor_of: Vec<usize> = Vec::new();
    let mut args = Vec::new();
    let mut slot_of_param = Vec::new();
    let allocate = |bytes: usize| zeroed(bytes).map_err(|_| "out of memory".to_string());
    let params: Vec<_> = program.params.iter().filter(|param| param.is_passed()).collect();
    for (arg, param) in call.args.iter().zip(&params) {
        match arg {
            TaskArg::Tensor { tensor, offset } => {
                let buffer = tensor_of.iter().position(|own| own == tensor).unwrap_or_else(|| {
                    tensor_of.push(*tensor);
                    buffers.push(GmBuffer { name: param.name.clone(), data: std::mem::take(&mut tensors[*tensor]) });
                    tensor_of.len() - 1
                });
                slot_of_param.push(buffer);
                args.push(if *offset == 0 {
                    ArgValue::Buffer(buffer)
                } else {
                    ArgValue::Part { buffer, offset: *offset }
                });
            }
            TaskArg::Scalar(text) => {
                let value = read_arg(text, &Defaults::default()).map_err(|error| error.to_string())?;
                args.push(ArgValue::Scalar(value.bits().unwrap_or_default()));
            }
            TaskArg::Own(_) => args.push(ArgValue::Scalar(0)),
        }
    }
    for (at, arg) in call.args.iter().enumerate() {
        if let TaskArg::Own(text) = arg {
            let value = read_arg(text, &Defaults::default()).map_err(|error| error.to_string())?;
            let Some(data) = value.into_contents() else { continue };
            let name = params.get(at).map_or(String::new(), |param| param.name.clone());
            buffers.push(GmBuffer { name, data });
            args[at] = ArgValue::Buffer(buffers.len() - 1);
            slot_of_param.push(buffers.len() - 1);
        }
    }
    for param in &program.params {
        if let ParamKind::Scratch { bytes_per_block } = param.kind {
            let data = allocate(bytes_per_block.saturating_mul(u64::from(blocks)) as usize)?;
            buffers.push(GmBuffer { name: param.name.clone(), data });
            args.push(ArgValue::Buffer(buffers.len() - 1));
        }
    }
    let kept = tensor_of.len();
    let mut tools = options.tools.clone();
    // Of buffers only that they are ones matters.
    let bound: Vec<Bound<'_>> = (call.args.iter().zip(&args))
        .map(|(arg, value)| match (arg, value) {
            (TaskArg::Scalar(_), ArgValue::Scalar(bits)) => Bound::scalar(*bits),
            _ => Bound::buffer(&[][..]),
        })
        .collect();
    // Buffers allocated by the launch come after the passed ones; scalars have no buffer.
    let own = program.params.iter().filter(|param| !param.is_passed()).count();
    let behind = |place: usize| place - slot_of_param.len() + buffers.len() - own;
    tools.scratch = slot_buffers(&compiled.prepared, &bound)
        .into_iter()
        .map(|place| slot_of_param.get(place).copied().unwrap_or_else(|| behind(place)))
        .filter(|slot| *slot < buffers.len())
        .collect();
    let nothing = nothing.filter(|_| tools.init && mode == ExecutionMode::Pipes);
    if let Some(nothing) = nothing {
        for (buffer, tensor) in tensor_of.iter().enumerate() {
            tools.unwritten.extend(nothing.at_start(*tensor, buffer));
        }
    }
    // Buffers that a kernel creates for itself are uninitialised as well.
    for (at, (arg, param)) in call.args.iter().zip(&params).enumerate() {
        let made = slipring_session::launch::info(&compiled.kernels, &program.name, param);
        if let (TaskArg::Own(_), Some(made), ArgValue::Buffer(buffer)) = (arg, made, &args[at])
            && made.direction == slipring_lang::Direction::Out
        {
            tools.unwritten.push(Unwritten::whole(*buffer));
        }
    }
    let mut launch =
        Launch::new(program, platform, blocks, args).mode(mode).limits(options.limits).timing(options.timing);
    launch.cancel = options.control.cancel_token();
    let bytes = |space: Space| decoded.local_bytes[space as usize];
    let mut memory = Memory::try_with_sizes(launch.clusters(), |space| bytes(space) as usize)
        .map_err(|_| "out of memory".to_string())?;
    memory.gm = buffers;
    let pipes = mode == ExecutionMode::Pipes;
    let recorder = (pipes && options.record).then(Recorder::default);
    let names: Vec<String> = memory.gm.iter().map(|buffer| buffer.name.clone()).collect();
    let control = pipes.then(|| options.control.clone());
    let (footprint, trail) = Footprint::new(program);
    let footprint = (pipes || trail.is_some()).then_some(footprint);
    let (talk, shared) = others.unzip();
    let checker = || match shared {
        Some(shared) => Checker::new(tools).with_outside(tensor_of.iter().map(|tensor| shared[*tensor]).collect()),
        None => Checker::new(tools),
    };
    let mut watching = (pipes.then(checker), footprint, (control, recorder));
    let mut result = {
        let mut door = talk.map(|talk| Door {
            tensor_of: &tensor_of,
            tensors: &mut *tensors,
            trail: trail.clone().unwrap_or_default(),
            talk,
        });
        run_beside(&launch, memory, &mut watching, door.as_mut().map(|door| door as &mut dyn Outside))
    };
    let (mut checker, footprint, (_, recorder)) = watching;
    let sizes: Vec<u64> = result.memory.gm.iter().map(|buffer| buffer.data.len() as u64).collect();
    for (buffer, tensor) in result.memory.gm.iter_mut().zip(&tensor_of) {
        tensors[*tensor] = std::mem::take(&mut buffer.data);
    }
    let mut outcome = Outcome {
        touched: BTreeMap::new(),
        parts: Vec::new(),
        left: None,
        steps: Vec::new(),
        messages: Vec::new(),
        all_schedules: true,
        by_data: false,
        record: None,
        result,
    };
    outcome.record = recorder.map(|recorder| (recorder.finish(), names));
    let by_tensor = |all: BTreeMap<usize, Touched>| {
        all.into_iter().filter(|own| own.0 < kept).map(|(buffer, own)| (tensor_of[buffer], own)).collect()
    };
    let (touched, parts) = footprint.unwrap_or_default().finish();
    outcome.touched = by_tensor(touched);
    outcome.parts = parts.into_iter().map(by_tensor).collect();
    if let Some(trail) = trail {
        outcome.steps = in_tensors(std::mem::take(&mut trail.borrow_mut().events), &tensor_of);
    }
    if let (Some(nothing), Some(shadow)) = (nothing, &outcome.result.memory.shadow) {
        let mut left = LeftBehind::default();
        for (buffer, tensor) in tensor_of.iter().enumerate() {
            let Some(own) = outcome.touched.get(tensor) else { continue };
            // A task changes only a small part of a large tensor.
            let changes = own.changes();
            let of = |(from, to): &(u64, u64)| shadow.voids_of(buffer, *from, (*to).min(sizes[buffer]));
            let voids: Vec<_> = changes.ranges().iter().flat_map(of).filter(|void| void.here).collect();
            let stored = Bytes::of(voids.iter().map(|void| (void.start, void.end)).collect());
            left.computed |= voids.iter().any(|void| void.origin.is_some());
            if !stored.is_empty() {
                left.bytes.insert(*tensor, stored);
            }
        }
        // Bytes that reach a result through other tasks are reported at the end of the program.
        let read = !nothing.read(&outcome.touched).is_empty();
        let others = (0..sizes.len())
            .filter(|buffer| tensor_of.get(*buffer).is_none_or(|tensor| read || !nothing.results[*tensor]));
        if let Some(checker) = &mut checker {
            checker.leave_out(&others.collect::<Vec<_>>());
        }
        outcome.left = Some(left);
    }
    if let Some(checker) = checker {
        let judged = checker.report(&outcome.result);
        outcome.all_schedules = judged.scope.schedules == slipring_check::Schedules::All;
        // Values of signals are tracked between the tasks.
        outcome.by_data = match &judged.scope.values {
            Values::AnyContents => false,
            Values::TheseInputs { because } => because.iter().any(|because| because.choice != Choice::Wait),
        };
        outcome.messages = in_words(&judged.findings, &compiled.prepared, &bound);
    }
    Ok(outcome)
}

/// The record of a completed task.
#[derive(Debug)]
pub(crate) struct Kept {
    pub task: usize,
    pub kernel: usize,
    pub record: Record,
    /// Names of its launch's buffers in global memory.
    pub buffers: Vec<String>,
    pub stats: Stats,
}
