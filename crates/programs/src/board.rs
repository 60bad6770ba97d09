//! Tasks run through the command queue of a board.

use std::collections::BTreeSet;

use super::{HostFunctions, Program, ProgramFacts, ProgramOptions, ProgramRun, host};
use slipring_board::device::{Launch, Piece, Resident};
use slipring_board::queue_message::of_finding;
use slipring_board::{BlockRun, BoardOptions, Order, other_bytes, queue_trace, waiting, waits_for_others};
use slipring_ir::Diagnostic;
use slipring_lang::tasks::TaskArg;
use slipring_queue::capture::Capture;
use slipring_queue::machine::Actor;
use slipring_report::{CheckFacts, CheckStatus, Trace};
use slipring_session::args::{Defaults, read_arg};
use slipring_session::error::add_new;
use slipring_session::{Args, Error, Report, to_diagnostics, verify};
use slipring_tile::Elem;

use crate::facts::ProgramQueueFacts;

/// The result of a program sent through the command queue.
#[derive(Debug)]
pub struct BoardProgram {
    /// Contents of all tensors afterwards.
    tensors: Vec<Vec<u8>>,
    /// The tensor of each parameter; `None` for scalars.
    tensor_of: Vec<Option<usize>>,
    /// The report.
    pub facts: ProgramQueueFacts,
    /// The findings on the board.
    pub findings: Report,
    /// Whether every task completed.
    pub complete: bool,
    /// The tensors that are passed or returned, with their names and types.
    compared: Vec<(usize, String, Elem)>,
    /// Whether a kernel adds to its arguments with atomic stores.
    sums: bool,
    /// A block waits for something that only another one could do.
    waits: bool,
    /// A timeline of the queue and the workers; `None` if it was not recorded.
    pub trace: Option<Trace>,
    /// The stream queued by the host; `None` if it was not recorded.
    pub recorded: Option<Capture>,
}

/// The launches of a program, and the memory they use.
struct Launches {
    /// By task.
    list: Vec<Option<Launch>>,
    /// The tasks' own memory, after the tensors.
    own: Vec<Vec<u8>>,
}

impl Program {
    /// Sends the tasks through the command queue of one board: its tensors stay in DRAM, and unordered tasks run
    /// concurrently, each on its own workers, one block on each. The options `clusters` (the maximum number of
    /// workers), `order`, `limits` and `record` apply. Interactions between tasks are checked in a run without the
    /// queue ([`Program::run`]).
    ///
    /// # Errors
    /// If a kernel has errors, the program runs on several devices, or the queue cannot be driven.
    pub fn run_on_board<'a>(
        &self,
        args: impl Into<Args<'a>>,
        board: &BoardOptions,
        options: &ProgramOptions,
    ) -> Result<BoardProgram, Error> {
        let graph = self.graph();
        let Ok(order) = graph.order() else {
            return Err(Error::Unsupported("tasks wait for each other in a cycle, and are not sent to a board".into()));
        };
        let used: BTreeSet<u32> = graph.tasks.iter().map(|task| task.device).collect();
        let devices = self.orchestration.devices.unwrap_or(1).max(used.len() as u64);
        if devices > 1 {
            return Err(Error::Unsupported(format!(
                "a program of {devices} devices is not sent to one board: run it without one, or with one device (`--devices 1`)"
            )));
        }
        let before = self.contents(args.into())?;
        let mut tensors = self.tensors(&before, options.windows.as_deref())?;
        let Launches { list, own } = self.launches(&tensors)?;
        let compiled = self.compiled()?;
        let mut used = self.orchestration.calls.iter().filter_map(|call| call.kernel).map(|kernel| &compiled[kernel]);
        let platform = match used.next() {
            Some(first) if used.all(|other| other.platform.name == first.platform.name) => first.platform.clone(),
            Some(_) => return Err(Error::Unsupported("kernels of several platforms are not sent to one board".into())),
            None => self.target()?,
        };
        let order_of_board = Order {
            board: board.board.clone(),
            blocks: options.clusters.unwrap_or(u32::MAX),
            delays: board.delays,
            gm_slack: 0,
            limits: options.limits,
            trace: options.record,
            record: board.record,
        };
        let sizes = tensors.iter().chain(&own).map(|data| data.len() as u64);
        let unsupported = Error::Unsupported;
        let mut resident = Resident::open(&order_of_board, &platform, sizes).map_err(unsupported)?;
        let (mut messages, mut launched) = (Vec::new(), 0);
        let mut complete = true;
        for (index, data) in tensors.iter().chain(&own).enumerate() {
            complete = complete && resident.upload(index, data).map_err(unsupported)?;
        }
        let steps = self.steps(&order, options.order);
        for step in &steps {
            if !complete {
                break;
            }
            let acts: Vec<usize> =
                step.iter().copied().filter(|task| self.orchestration.calls[*task].act.is_some()).collect();
            if !acts.is_empty() {
                complete = resident.wait().map_err(unsupported)? && self.bring(&mut resident, &mut tensors)?;
                for task in acts.into_iter().filter(|_| complete) {
                    messages.extend(self.act_of(task, &mut tensors)?);
                }
                for (index, data) in tensors.iter().enumerate() {
                    complete = complete && resident.upload(index, data).map_err(unsupported)?;
                }
            }
            if complete {
                let together: Vec<Launch> = step.iter().filter_map(|task| list[*task].clone()).collect();
                launched += together.len();
                complete = resident.launch(&together).map_err(unsupported)?;
            }
        }
        complete = complete && resident.wait().map_err(unsupported)? && self.bring(&mut resident, &mut tensors)?;
        let runs = resident.runs().to_vec();
        let mut waits = false;
        for (task, block) in runs {
            waits |= waits_for_others(std::slice::from_ref(&block));
            let Some(kernel) = self.orchestration.calls[task].kernel else { continue };
            add_new(&mut messages, to_diagnostics(&block.findings, &compiled[kernel].prepared.decoded.program));
        }
        messages.extend(resident.findings().iter().map(|finding| of_finding(finding, &Capture::default())));
        let (times, status) = (resident.times(), resident.status());
        let facts = ProgramQueueFacts {
            device: board.board.name.clone(),
            launched,
            launches: status.launches,
            workers: board.board.workers().count().min(order_of_board.blocks as usize),
            records: status.announced,
            prefetch_commands: status.commands[Actor::Prefetch as usize],
            dispatch_commands: status.commands[Actor::Dispatch as usize],
            cycles: times.end.saturating_sub(times.start),
            all_cycles: status.cycle,
            microseconds: status.cycle as f64 / f64::from(board.board.clock_mhz.max(1)),
        };
        let blocks: Vec<BlockRun> = resident.runs().iter().map(|(_, run)| run.clone()).collect();
        let trace = options.record.then(|| queue_trace(&resident.spans(), &blocks, &board.board, Vec::new()));
        let own = &self.orchestration;
        let passed =
            own.params.iter().zip(&own.tensor_of).filter_map(|(param, tensor)| Some(((*tensor)?, &param.name)));
        let made =
            own.returned.iter().map(|piece| piece.tensor).filter(|tensor| !own.tensor_of.contains(&Some(*tensor)));
        let made = made.map(|tensor| (tensor, &self.graph().tensors[tensor].name));
        let compared = passed.chain(made);
        let compared =
            compared.map(|(tensor, name)| (tensor, name.clone(), self.graph().tensors[tensor].elem)).collect();
        let findings = Report::new(self.input.source().clone(), messages);
        Ok(BoardProgram {
            tensors,
            tensor_of: own.tensor_of.clone(),
            facts,
            findings,
            complete,
            compared,
            sums: compiled.iter().any(|kernel| verify::sums(&kernel.prepared)),
            waits,
            trace,
            recorded: resident.recorded(),
        })
    }

    /// The launch parameters of each task.
    fn launches(&self, tensors: &[Vec<u8>]) -> Result<Launches, Error> {
        let (graph, compiled) = (self.graph(), self.compiled()?);
        let texts: Vec<String> = compiled.iter().map(|kernel| kernel.prepared.text()).collect();
        let mut launches = Launches { list: Vec::new(), own: Vec::new() };
        for (task, call) in self.orchestration.calls.iter().enumerate() {
            let Some(kernel) = call.kernel else {
                launches.list.push(None);
                continue;
            };
            if call.predicate.is_some() {
                return Err(Error::Unsupported("a predicate of a task is not sent through the command queue".into()));
            }
            let (mut buffers, mut scalars) = (Vec::new(), Vec::new());
            for arg in &call.args {
                let value = match arg {
                    TaskArg::Tensor { tensor, offset } => {
                        buffers.push(Piece { buffer: *tensor, offset: *offset });
                        continue;
                    }
                    TaskArg::Scalar(text) | TaskArg::Own(text) => {
                        read_arg(text, &Defaults::default()).map_err(|error| Error::Arguments(error.to_string()))?
                    }
                };
                scalars.extend(value.bits());
                if let Some(data) = value.into_contents() {
                    buffers.push(Piece { buffer: tensors.len() + launches.own.len(), offset: 0 });
                    launches.own.push(data);
                }
            }
            let blocks = graph.tasks[task].blocks;
            launches.list.push(Some(Launch {
                task,
                text: texts[kernel].clone(),
                entry: String::new(),
                buffers,
                scalars,
                blocks,
            }));
        }
        Ok(launches)
    }

    /// The tasks, step by step: those of a step come after earlier steps, and those that are launched together are
    /// unordered. A nonzero number selects which of them gets its workers first.
    fn steps(&self, order: &[usize], number: u64) -> Vec<Vec<usize>> {
        let before = self.graph().before();
        let mut step = vec![0; before.len()];
        let mut steps: Vec<Vec<usize>> = Vec::new();
        for task in order {
            let after = |other: &usize| step[*other] + usize::from(self.orchestration.calls[*other].kernel.is_some());
            step[*task] = before[*task].iter().map(after).max().unwrap_or(0);
            steps.resize(steps.len().max(step[*task] + 1), Vec::new());
            steps[step[*task]].push(*task);
        }
        if number != 0 {
            // Host actions keep their order: they may follow each other in one step.
            let chosen = |task: &usize| (*task as u64 + 1).wrapping_mul(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            for step in &mut steps {
                let (mut launched, rest): (Vec<_>, Vec<_>) =
                    step.iter().partition(|task| self.orchestration.calls[**task].kernel.is_some());
                launched.sort_by_key(chosen);
                *step = rest.into_iter().chain(launched).collect();
            }
        }
        steps
    }

    /// Reads all tensors back; returns whether the board continued.
    fn bring(&self, resident: &mut Resident, tensors: &mut [Vec<u8>]) -> Result<bool, Error> {
        for (index, tensor) in tensors.iter_mut().enumerate() {
            match resident.download(index, tensor.len()).map_err(Error::Unsupported)? {
                Some(data) => *tensor = data,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The host's action on tensors in place of a task; a warning if that is not possible.
    fn act_of(&self, task: usize, tensors: &mut [Vec<u8>]) -> Result<Option<Diagnostic>, Error> {
        let Some(act) = &self.orchestration.calls[task].act else { return Ok(None) };
        let done = host::act((task, act), tensors, &HostFunctions::default(), &mut host::Called::default());
        let own = &self.graph().tasks[task];
        Ok((!done.map_err(Error::Unsupported)?).then(|| host::not_run(&own.name, own.span)))
    }
}

impl BoardProgram {
    /// The resulting contents of the tensor that was passed at a position; `None` for scalars.
    pub fn left(&self, index: usize) -> Option<&[u8]> {
        Some(&self.tensors[(*self.tensor_of.get(index)?)?])
    }

    /// The resulting contents of each tensor that the program returns, in order.
    pub fn returned<'a>(&'a self, direct: &'a ProgramRun<'_>) -> impl Iterator<Item = &'a [u8]> {
        direct.program.orchestration.returned.iter().map(|piece| &self.tensors[piece.tensor][..])
    }

    /// Adds the findings and results from the board to the report of a run without the queue, and returns the findings
    /// of both.
    ///
    /// # Errors
    /// If blocks wait for each other, which the run without the queue shows: on a board each runs alone.
    pub fn join(&self, direct: &ProgramRun<'_>, facts: &mut ProgramFacts) -> Result<Report, Error> {
        let differs = self.differs(direct)?;
        facts.checks.push(self.check(direct, differs.is_some()));
        facts.queue = Some(self.facts.clone());
        facts.complete &= self.complete;
        if self.complete {
            facts.buffers = direct.program.buffer_facts(&self.tensors, &direct.before);
        }
        Ok(direct.findings().clone().and_new(self.findings.messages().iter().cloned().chain(differs)))
    }

    /// The message if the results on the board differ from those of the run without the queue: sums of floats may
    /// differ by the order of their additions.
    fn differs(&self, direct: &ProgramRun<'_>) -> Result<Option<Diagnostic>, Error> {
        if self.waits && direct.is_complete() {
            return Err(waiting());
        }
        if !self.complete || !direct.is_complete() {
            return Ok(None);
        }
        Ok(self.compared.iter().find_map(|(tensor, name, elem)| {
            let (left, without) = (&self.tensors[*tensor], &direct.tensors[*tensor]);
            let (element, count) = verify::unlike(*elem, self.sums && elem.is_float(), left, without)?;
            Some(other_bytes(name, element, count))
        }))
    }

    /// The row of the report's checks.
    fn check(&self, direct: &ProgramRun<'_>, differs: bool) -> CheckFacts {
        let findings = self.findings.messages().len() + usize::from(differs);
        let bytes = match (self.complete && direct.is_complete(), differs) {
            (false, _) => "",
            (true, false) => "; the same bytes as without the queue",
            (true, true) => "; other bytes than without the queue",
        };
        let detail = format!("the hazards of driving the queue, with these delays{bytes}");
        CheckFacts::new("queue", CheckStatus::of(findings, self.complete), detail, findings)
    }
}
