//! Tasks through the command queue of a board.

use slipring_ir::Diagnostic;
use slipring_lang::tasks::TaskArg;
use slipring_queue::capture::Capture;
use slipring_tasks::touched;

use super::{HostFunctions, Program, host};
use crate::args::{Defaults, Passed, Value, read_arg};
use crate::queue_message::of_finding;
use crate::{Args, BoardOptions, Error, Order, ProgramOptions, Report, run_on_device, to_diagnostics};

/// What came of a program that was sent through the command queue, task by task.
#[derive(Debug)]
pub struct BoardProgram {
    /// Contents of the parameters afterwards; `None` for scalars.
    pub left: Vec<Option<Vec<u8>>>,
    /// Tasks that were launched.
    pub launches: usize,
    /// Cycles of the board, from the first launch to the last end.
    pub cycles: u64,
    /// What was found.
    pub findings: Report,
    /// Whether every task ran to its end.
    pub complete: bool,
}

impl Program {
    /// Sends the tasks through the command queue of a board, in an order that all edges allow: one launch each, with a block on
    /// each worker. Tensors go to the board and come back with each launch.
    ///
    /// # Errors
    /// If a kernel has errors, or the queue cannot be driven. `options` are those of the run without the queue that watches it.
    pub fn run_on_board<'a>(
        &self,
        args: impl Into<Args<'a>>,
        board: &BoardOptions,
        options: &ProgramOptions,
    ) -> Result<BoardProgram, Error> {
        let graph = self.graph();
        let stuck = touched::deadlocks(graph);
        let order = match graph.order() {
            Ok(order) if stuck.is_empty() => order,
            _ => return Err(Error::Text(Report::new(self.source.clone(), stuck))),
        };
        let compiled = self.compiled()?;
        let before = self.contents(args.into())?;
        let mut tensors = self.tensors(&before)?;
        // What the tasks do is watched in a run of the same program without the queue.
        let direct = self.run_on(before, options)?;
        let mut messages: Vec<Diagnostic> = direct.findings().messages().to_vec();
        let (mut launches, mut cycles, mut complete) = (0, 0, true);
        for task in order {
            let call = &self.orchestration.calls[task];
            if let Some(act) = &call.act {
                let done =
                    host::act((task, act), &mut tensors, &HostFunctions::default(), &mut host::Called::default());
                if !done.map_err(Error::Unsupported)? {
                    messages.push(host::not_run(&graph.tasks[task].name, graph.tasks[task].span));
                }
            }
            let Some(kernel) = call.kernel else { continue };
            if call.predicate.is_some() {
                return Err(Error::Unsupported("a predicate of a task is not sent through the command queue".into()));
            }
            let compiled = &compiled[kernel];
            let program = &compiled.prepared.decoded.program;
            let mut values = Vec::new();
            for arg in &call.args {
                values.push(match arg {
                    TaskArg::Tensor { tensor, offset } => Value::Buffer(tensors[*tensor][*offset as usize..].to_vec()),
                    TaskArg::Scalar(text) | TaskArg::Own(text) => {
                        read_arg(text, &Defaults::default()).map_err(|error| Error::Arguments(error.to_string()))?.value
                    }
                });
            }
            let order = Order {
                board: board.board.clone(),
                blocks: graph.tasks[task].blocks,
                delays: board.delays,
                gm_slack: 0,
                limits: options.limits,
                trace: false,
            };
            let run = run_on_device(&compiled.prepared.text(), None, &compiled.platform, &values, &order);
            let run = run.map_err(|why| Error::Unsupported(format!("{}: {why}", graph.name(task))))?;
            launches += 1;
            cycles += run.launch.end.saturating_sub(run.launch.start);
            for block in &run.runs {
                for message in to_diagnostics(&block.findings, program) {
                    if !messages.iter().any(|known| known.says_the_same(&message)) {
                        messages.push(message);
                    }
                }
            }
            messages.extend(run.findings.iter().map(|finding| of_finding(finding, &Capture::default())));
            if !run.complete {
                complete = false;
                break;
            }
            // A tensor that is passed twice came back twice: what changed in either counts.
            for ((arg, before), after) in call.args.iter().zip(&values).zip(&run.buffers) {
                let (TaskArg::Tensor { tensor, offset }, Some(before), Some(after)) = (arg, before.contents(), after)
                else {
                    continue;
                };
                let own = &mut tensors[*tensor][*offset as usize..];
                for ((own, before), after) in own.iter_mut().zip(before).zip(after) {
                    if before != after {
                        *own = *after;
                    }
                }
            }
        }
        let left = self.orchestration.tensor_of.iter().map(|tensor| tensor.map(|tensor| tensors[tensor].clone()));
        let findings = Report::new(self.source.clone(), messages);
        Ok(BoardProgram { left: left.collect(), launches, cycles, findings, complete })
    }
}
