//! Tasks that wait for each other while they run. Each has its own thread, of which only one runs at a time; this
//! module decides which and until when, so that the result is the same on every host.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use slipring_lang::tasks::TaskCall;
use slipring_machine::Platform;
use slipring_program::Kind;
use slipring_sim::ExecutionMode;
use slipring_tasks::signals::{AllParts, Changed, Ordered, Parts, Signal, Wanted, since};
use slipring_tasks::{Graph, Resumed, Tensor, Touched};

use super::footprint::Signalled;
use super::lost::Meaningless;
use super::task::{Outcome, Talk, run_task};
use super::{Program, ProgramOptions};
use slipring_session::Compiled;

use crate::footprint::step;

/// The inputs of a running task.
pub(super) struct Job<'j> {
    pub graph: &'j Graph,
    pub compiled: &'j Arc<Compiled>,
    pub platform: &'j Platform,
    pub call: &'j TaskCall,
    pub blocks: (u32, ExecutionMode),
    pub options: &'j ProgramOptions,
}

/// The state of a task after it was run.
pub(super) enum Came {
    Over(Box<Outcome>),
    Waits,
}

/// Changes of signals, for each in the order in which they took place.
type Log = BTreeMap<Signal, Vec<Changed>>;

/// The values of signals before the first task: signals are in windows, which are 0 unless an earlier run's contents
/// are passed. By tensor.
#[derive(Clone, Default)]
pub(super) struct FirstValues(Arc<BTreeMap<usize, Vec<u8>>>);

impl FirstValues {
    pub fn new(program: &Program, windows: Option<&[Vec<u8>]>) -> FirstValues {
        let contents = windows.unwrap_or_default().iter().cloned();
        FirstValues(Arc::new(program.windows().zip(contents).collect()))
    }

    fn of(&self, (tensor, byte): Signal) -> i64 {
        self.0.get(&tensor).and_then(|contents| number(contents, byte)).unwrap_or(0)
    }
}

enum Said {
    Waits { tensors: Vec<Vec<u8>>, log: Log, steps: Vec<Signalled>, looks: Vec<Signalled> },
    Over { tensors: Vec<Vec<u8>>, log: Log, outcome: Result<Box<Outcome>, String> },
}

struct Answer {
    until: Option<u64>,
    tensors: Vec<Vec<u8>>,
    log: Log,
}

/// A task's end of the channel.
struct Line {
    task: usize,
    /// The cycle in which the task started.
    start: u64,
    first: FirstValues,
    log: Log,
    say: Sender<Said>,
    hear: Receiver<Answer>,
}

impl Talk for Line {
    fn waits(&mut self, _: u64, tensors: &mut [Vec<u8>], steps: Vec<Signalled>, looks: Vec<Signalled>) -> Option<u64> {
        let all = tensors.iter_mut().map(std::mem::take).collect();
        let log = std::mem::take(&mut self.log);
        self.say.send(Said::Waits { tensors: all, log, steps, looks }).ok()?;
        let answer = self.hear.recv().ok()?;
        for (own, back) in tensors.iter_mut().zip(answer.tensors) {
            *own = back;
        }
        self.log = answer.log;
        answer.until
    }

    fn since(&self, place: Signal, wanted: Wanted, own: &[Signalled]) -> Option<(u64, Resumed)> {
        let mut log = self.log.get(&place).cloned().unwrap_or_default();
        let mine = own.iter().filter(|step| step.place == place);
        log.extend(mine.filter_map(|step| changed(self.task, self.start, step)));
        // It did not wait for its own changes.
        let last = since(self.first.of(place), &log, wanted).filter(|last| last.task != self.task)?;
        Some((last.at.saturating_sub(self.start), Resumed { by: last.task, at: last.at }))
    }
}

/// The change made by a step of a task that started at a cycle; `None` for a wait.
fn changed(task: usize, start: u64, own: &Signalled) -> Option<Changed> {
    Some(Changed { at: start.saturating_add(own.at), task, change: step(own.what).ok()? })
}

/// A waiting task.
struct Waiting {
    listen: Receiver<Said>,
    answer: Sender<Answer>,
    thread: JoinHandle<()>,
    looks: Vec<Signalled>,
}

/// The tensors of a program, and the running tasks.
#[derive(Default)]
pub(super) struct Beside {
    pub tensors: Vec<Vec<u8>>,
    /// Their uninitialised bytes, if tracked.
    pub nothing: Option<Meaningless>,
    waiting: BTreeMap<usize, Waiting>,
    first: FirstValues,
    /// Changes of signals in the order in which they took place.
    log: Log,
    started: BTreeMap<usize, u64>,
    /// Steps of incomplete tasks.
    steps: BTreeMap<usize, Vec<Signalled>>,
}

impl Beside {
    pub fn new(tensors: Vec<Vec<u8>>, first: FirstValues) -> Beside {
        let mut beside = Beside::default();
        (beside.tensors, beside.first) = (tensors, first);
        beside
    }

    /// Runs a task that starts at a cycle, as far as possible.
    ///
    /// # Errors
    /// Why it cannot be run.
    pub fn start(&mut self, task: usize, at: u64, job: &Job<'_>) -> Result<Came, String> {
        self.started.insert(task, at);
        let Job { graph, compiled, platform, call, blocks, options } = *job;
        if !compiled.prepared.decoded.program.polls() {
            let outcome =
                run_task(compiled, platform, call, blocks, (&mut self.tensors, self.nothing.as_ref()), options, None)?;
            return Ok(self.over(task, Box::new(outcome)));
        }
        let mut tensors = std::mem::take(&mut self.tensors);
        let shared: Vec<bool> = graph.tensors.iter().map(slipring_tasks::Tensor::is_shared).collect();
        let (say, listen) = channel();
        let (answer, hear) = channel();
        let (compiled, platform, call, options) = (compiled.clone(), platform.clone(), call.clone(), options.clone());
        let (first, log) = (self.first.clone(), std::mem::take(&mut self.log));
        let mut line = Line { task, start: at, first, log, say: say.clone(), hear };
        let body = move || {
            let others: (&mut dyn Talk, &[bool]) = (&mut line, &shared);
            let outcome = run_task(&compiled, &platform, &call, blocks, (&mut tensors, None), &options, Some(others));
            // Nobody receives it if the run was abandoned.
            let log = line.log;
            let _ = say.send(Said::Over { tensors, log, outcome: outcome.map(Box::new) });
        };
        let thread = std::thread::Builder::new().name(format!("task {task}")).spawn(body);
        let thread = thread.map_err(|error| format!("no thread for a task that waits: {error}"))?;
        self.waiting.insert(task, Waiting { listen, answer, thread, looks: Vec::new() });
        self.listen(task)
    }

    /// Resumes a waiting task, if its condition holds.
    pub fn resume(&mut self, task: usize) -> Option<Result<Came, String>> {
        let start = self.started.get(&task).copied().unwrap_or(0);
        let ready = |look: &Signalled| {
            let wanted = step(look.what).err()?;
            let there = wanted.holds(self.number(look.place)?);
            let log = self.log.get(&look.place).map_or(&[][..], |log| log);
            let since = since(self.first.of(look.place), log, wanted);
            there.then(|| since.map_or(0, |own| own.at).saturating_sub(start).max(look.at))
        };
        let until = self.waiting.get(&task)?.looks.iter().filter_map(ready).min()?;
        Some(self.go_on(task, Some(until)))
    }

    /// Ends a task that waits for something that will not happen.
    ///
    /// # Errors
    /// Why it could not be run.
    pub fn give_up(&mut self, task: usize, graph: &Graph) -> Result<Option<Box<Outcome>>, String> {
        let looks = self.waiting.get(&task).map_or(Vec::new(), |waiting| waiting.looks.clone());
        let Came::Over(mut outcome) = self.go_on(task, None)? else { return Ok(None) };
        for message in outcome.messages.iter_mut().filter(|message| matches!(message.kind, Kind::Deadlock(_))) {
            for look in &looks {
                let Some(wanted) = step(look.what).err() else { continue };
                let is = self.number(look.place).unwrap_or(0);
                let least = if wanted.at_least { "at least " } else { "" };
                let tensor = &graph.tensors[look.place.0];
                message.notes.push(format!(
                    "it waits until {} is {least}{}, and it is {is}",
                    element(tensor, look.place.1),
                    wanted.number
                ));
                let changes = self.log.get(&look.place).map_or(0, Vec::len);
                message.notes.push(match changes {
                    0 => "no task has changed it".to_string(),
                    1 => "tasks have changed it once".to_string(),
                    n => format!("tasks have changed it {n} times"),
                });
            }
        }
        Ok(Some(outcome))
    }

    /// The value of a signal now.
    fn number(&self, (tensor, byte): Signal) -> Option<i64> {
        number(self.tensors.get(tensor)?, byte)
    }

    /// The tensors, once nothing runs any more.
    pub fn into_tensors(mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.tensors)
    }

    /// Waiting tasks.
    pub fn waiting(&self) -> Vec<usize> {
        self.waiting.keys().copied().collect()
    }

    fn go_on(&mut self, task: usize, until: Option<u64>) -> Result<Came, String> {
        let (tensors, log) = (std::mem::take(&mut self.tensors), std::mem::take(&mut self.log));
        if let Some(waiting) = self.waiting.get(&task) {
            waiting
                .answer
                .send(Answer { until, tensors, log })
                .map_err(|_| "a task has ended by itself".to_string())?;
        }
        self.listen(task)
    }

    fn listen(&mut self, task: usize) -> Result<Came, String> {
        let Some(waiting) = self.waiting.get_mut(&task) else { return Ok(Came::Waits) };
        match waiting.listen.recv() {
            Ok(Said::Waits { tensors, log, steps, looks }) => {
                waiting.looks = looks;
                (self.tensors, self.log) = (tensors, log);
                self.note(task, steps);
                Ok(Came::Waits)
            }
            Ok(Said::Over { tensors, log, outcome }) => {
                (self.tensors, self.log) = (tensors, log);
                if let Some(waiting) = self.waiting.remove(&task) {
                    let _ = waiting.thread.join();
                }
                outcome.map(|outcome| self.over(task, outcome))
            }
            Err(_) => Err("a task has ended by itself".into()),
        }
    }

    fn over(&mut self, task: usize, mut outcome: Box<Outcome>) -> Came {
        let steps = std::mem::take(&mut outcome.steps);
        self.note(task, steps);
        outcome.steps = self.steps.remove(&task).unwrap_or_default();
        Came::Over(outcome)
    }

    fn note(&mut self, task: usize, steps: Vec<Signalled>) {
        let start = self.started.get(&task).copied().unwrap_or(0);
        for one in &steps {
            if let Some(changed) = changed(task, start, one) {
                self.log.entry(one.place).or_default().push(changed);
            }
        }
        if !steps.is_empty() {
            self.steps.entry(task).or_default().extend(steps);
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        for (_, waiting) in std::mem::take(&mut self.waiting) {
            // Without an answer it ends.
            drop(waiting.answer);
            let _ = waiting.thread.join();
        }
    }
}

/// All tasks in parts and their order, if some task uses signals; a task without signals is one part.
pub(super) fn all_parts(
    graph: &Graph,
    mut parts: BTreeMap<usize, Parts>,
    footprints: &[BTreeMap<usize, Touched>],
    first: &FirstValues,
) -> Option<Ordered> {
    if parts.is_empty() {
        return None;
    }
    let whole = |touched: &BTreeMap<usize, Touched>| Parts { touched: vec![touched.clone()], events: Vec::new() };
    let each = footprints.iter().enumerate();
    let tasks = each.map(|(task, touched)| parts.remove(&task).unwrap_or_else(|| whole(touched))).collect();
    let mut own = AllParts { tasks, ..AllParts::default() };
    let known = own.signals().into_iter().map(|signal| (signal, first.of(signal)));
    own.first = known.filter(|(_, n)| *n != 0).collect();
    Some(Ordered::new(graph, own))
}

fn number(contents: &[u8], byte: u64) -> Option<i64> {
    let bytes = contents.get(byte as usize..byte as usize + 4)?;
    Some(i32::from_le_bytes(bytes.try_into().ok()?).into())
}

/// `element 3 of window1 on device 0`.
fn element(tensor: &Tensor, byte: u64) -> String {
    let (elements, part) = (byte / tensor.elem.bytes() as u64, tensor.shape.last().copied().unwrap_or(1).max(1));
    match tensor.devices.get((elements / part) as usize) {
        Some(device) => format!("element {} of `{}` on device {device}", elements % part, tensor.name),
        None => format!("element {elements} of `{}`", tensor.name),
    }
}
