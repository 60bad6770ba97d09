//! One task: its memory, its run, what it touched.

use std::collections::BTreeMap;

use slipring_check::Checker;
use slipring_ir::{Diagnostic, Diags};
use slipring_lang::tasks::{TaskArg, TaskCall};
use slipring_machine::Platform;
use slipring_op::{Decoded, Decoding, decode};
use slipring_program::{Extent, GmBuffer, Memory, ParamKind, gm_split, zeroed};
use slipring_report::{Record, Recorder};
use slipring_sim::{ArgValue, Launch, Observer, RunResult, Turns, WorkRun, run};
use slipring_tasks::{Bytes, Touched};
use slipring_tile::Space;

use crate::args::{Defaults, Passed, Value, read_arg};
use crate::kernel::Compiled;
use crate::{ProgramOptions, slot_buffers, to_diagnostics};

/// What came of a task.
pub(super) struct Outcome {
    pub result: RunResult,
    /// What it touched, by tensor.
    pub touched: BTreeMap<usize, Touched>,
    pub messages: Vec<Diagnostic>,
    /// Whether its own verdict holds for all schedules of its cores.
    pub all_schedules: bool,
    /// Whether loaded data decide what it touches.
    pub by_data: bool,
    /// Everything that happened, where it was asked for, and the names of the buffers that it names by number.
    pub record: Option<(Record, Vec<String>)>,
}

/// Ranges that are gathered, and put in order now and then.
#[derive(Default)]
struct Gathered {
    done: Bytes,
    raw: Vec<(u64, u64)>,
}

impl Gathered {
    fn add(&mut self, first: u64, end: u64) {
        const MOST: usize = 1 << 14;
        match self.raw.last_mut() {
            Some(last) if last.0 <= first && first <= last.1 => last.1 = last.1.max(end),
            _ => self.raw.push((first, end)),
        }
        if self.raw.len() >= MOST {
            self.settle();
        }
    }

    fn settle(&mut self) -> &Bytes {
        if !self.raw.is_empty() {
            self.done = self.done.and(&Bytes::of(std::mem::take(&mut self.raw)));
        }
        &self.done
    }
}

#[derive(Default)]
struct Marks {
    reads: Gathered,
    writes: Gathered,
    atomics: BTreeMap<(u8, u8), Gathered>,
}

/// Notes which bytes of global memory a task touches.
#[derive(Default)]
struct Footprint {
    buffers: BTreeMap<usize, Marks>,
}

/// The runs of bytes of a range in a buffer.
fn runs(range: &Extent) -> Option<(usize, impl Iterator<Item = (u64, u64)>)> {
    let (buffer, offset) = gm_split(range.start).filter(|_| range.space == Space::Gm)?;
    let (first, rows, bytes, stride) =
        (offset.max(0) as u64, u64::from(range.rows), u64::from(range.row_bytes), range.stride);
    Some((buffer, (0..rows).map(move |row| (first + row * stride, first + row * stride + bytes))))
}

impl Observer for Footprint {
    fn end(&mut self, _: u64, run: &WorkRun<'_>) {
        let update = run.access.update;
        for range in &run.access.reads {
            let Some((buffer, list)) = runs(range) else { continue };
            // An update reads what it changes.
            if update.is_some() && run.access.writes.contains(range) {
                continue;
            }
            let marks = self.buffers.entry(buffer).or_default();
            let mut written = std::mem::take(&mut marks.writes);
            let own = written.settle();
            for (first, end) in list {
                // What it wrote itself is its own.
                if own.is_empty() {
                    marks.reads.add(first, end);
                    continue;
                }
                for (first, end) in Bytes::range(first, end).without(own).ranges() {
                    marks.reads.add(*first, *end);
                }
            }
            marks.writes = written;
        }
        for range in &run.access.writes {
            let Some((buffer, list)) = runs(range) else { continue };
            let marks = self.buffers.entry(buffer).or_default();
            let into = match update {
                Some(update) => marks.atomics.entry((update.kind as u8, update.elem as u8)).or_default(),
                None => &mut marks.writes,
            };
            list.for_each(|(first, end)| into.add(first, end));
        }
    }
}

/// Something of which only is asked whether it is a buffer.
struct IsBuffer(bool);

impl Passed for IsBuffer {
    fn contents(&self) -> Option<&[u8]> {
        self.0.then_some(&[])
    }

    fn bits(&self) -> Option<u64> {
        (!self.0).then_some(0)
    }
}

/// Runs a task on the tensors of the program.
///
/// # Errors
/// Why there is no memory for it, or it cannot be decoded.
pub(super) fn run_task(
    compiled: &Compiled,
    platform: &Platform,
    call: &TaskCall,
    (blocks, mode): (u32, Turns),
    tensors: &mut [Vec<u8>],
    options: &ProgramOptions,
) -> Result<Outcome, String> {
    let reference;
    let decoded: &Decoded = match mode {
        Turns::Pipes => &compiled.prepared.decoded,
        Turns::Sequential => {
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
    let room = |bytes: usize| zeroed(bytes).map_err(|_| "there is not so much memory".to_string());
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
                let value = read_arg(text, &Defaults::default()).map_err(|error| error.to_string())?.value;
                args.push(ArgValue::Scalar(value.bits().unwrap_or_default()));
            }
            TaskArg::Own(_) => args.push(ArgValue::Scalar(0)),
        }
    }
    for (at, arg) in call.args.iter().enumerate() {
        if let TaskArg::Own(text) = arg {
            let value = read_arg(text, &Defaults::default()).map_err(|error| error.to_string())?.value;
            let Value::Buffer(data) = value else { continue };
            let name = params.get(at).map_or(String::new(), |param| param.name.clone());
            buffers.push(GmBuffer { name, data });
            args[at] = ArgValue::Buffer(buffers.len() - 1);
            slot_of_param.push(buffers.len() - 1);
        }
    }
    for param in &program.params {
        if let ParamKind::Scratch { bytes_per_block } = param.kind {
            let data = room(bytes_per_block.saturating_mul(u64::from(blocks)) as usize)?;
            buffers.push(GmBuffer { name: param.name.clone(), data });
            args.push(ArgValue::Buffer(buffers.len() - 1));
        }
    }
    let kept = tensor_of.len();
    let mut tools = options.tools.clone();
    let is_buffer: Vec<IsBuffer> = call.args.iter().map(|arg| IsBuffer(!matches!(arg, TaskArg::Scalar(_)))).collect();
    tools.scratch = slot_buffers(&compiled.prepared, &is_buffer)
        .into_iter()
        .map(|place| slot_of_param.get(place).copied().unwrap_or(place + buffers.len() - program.params.len()))
        .filter(|slot| *slot < buffers.len())
        .collect();
    let mut launch =
        Launch::new(program, platform, blocks, args).mode(mode).limits(options.limits).timing(options.timing);
    launch.cancel = options.control.wish();
    let bytes = |space: Space| decoded.local_bytes[space as usize];
    let mut memory = Memory::try_with_sizes(launch.clusters(), |space| bytes(space) as usize)
        .map_err(|_| "there is not so much memory".to_string())?;
    memory.gm = buffers;
    let pipes = mode == Turns::Pipes;
    let recorder = (pipes && options.record).then(Recorder::default);
    let names: Vec<String> = memory.gm.iter().map(|buffer| buffer.name.clone()).collect();
    let control = pipes.then(|| options.control.clone());
    let mut watching = (pipes.then(|| Checker::new(tools)), pipes.then(Footprint::default), (control, recorder));
    let mut result = run(&launch, memory, &mut watching);
    let (checker, footprint, (_, recorder)) = watching;
    for (buffer, tensor) in result.memory.gm.iter_mut().zip(&tensor_of) {
        tensors[*tensor] = std::mem::take(&mut buffer.data);
    }
    let mut outcome = Outcome {
        touched: BTreeMap::new(),
        messages: Vec::new(),
        all_schedules: true,
        by_data: false,
        record: None,
        result,
    };
    outcome.record = recorder.map(|recorder| (recorder.finish(), names));
    for (buffer, mut marks) in footprint.unwrap_or_default().buffers {
        if buffer < kept {
            let touched = Touched {
                reads: marks.reads.settle().clone(),
                writes: marks.writes.settle().clone(),
                atomics: marks.atomics.iter_mut().map(|(kind, bytes)| (*kind, bytes.settle().clone())).collect(),
            };
            outcome.touched.insert(tensor_of[buffer], touched);
        }
    }
    if let Some(checker) = checker {
        let judged = checker.report(&outcome.result);
        outcome.all_schedules = judged.scope.schedules == slipring_check::Schedules::All;
        outcome.by_data = judged.scope.values != slipring_check::Values::AnyContents;
        outcome.messages = to_diagnostics(&judged.findings, program);
    }
    Ok(outcome)
}
