//! Deferred execution: one thread runs ahead in simulated time, and other threads compute the bytes of the work it has
//! timed.
//!
//! The start, the duration and the accesses of work do not depend on the bytes that other work computes, except where a
//! scalar or a vector function reads them. So the engine runs as usual, on one thread and in the order of time, with
//! all checks and marks; only work that produces nothing but bytes (see [`Effect::answers`]) is executed later. The
//! result is as if it were executed in order: work of one cluster sequentially, and work that touches the same buffer
//! of global memory in the order of time if any of it writes. A thread that needs bytes waits for the work they depend
//! on and helps execute it. Bytes, findings, cycles and output are therefore the same for any number of threads.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use slipring_program::{
    Access, Action, Asked, Borrowed, Effect, Env, Extent, Fault, Inst, Memory, Output, Program, Run, Scratch, SiteRef,
    UNDEFINED, WorkId, gm_split,
};
use slipring_tile::Space;

use crate::delay::Delays;
use crate::launch::{ExecutionMode, Launch};
use crate::report::Questions;

/// Bytes of staged work before other threads are notified.
const ENOUGH: u64 = 1 << 16;
/// Maximum number of waiting work items: a thread that adds more helps to execute them.
const MOST: usize = 1 << 11;
/// Work items of a cluster that one thread executes before it checks for others.
const AT_ONCE: usize = 16;

/// A deferred work item.
struct Task {
    /// `None` for the start of a block: local memories become zero.
    work: Option<(usize, WorkId)>,
    args: Box<[u64]>,
    env: Env,
    site: SiteRef,
    undefined: Vec<Extent>,
    uses: Vec<Use>,
    /// Its sequence number.
    number: u64,
}

/// A task's use of a buffer in global memory.
#[derive(Clone, Copy)]
struct Use {
    buffer: usize,
    writes: bool,
    /// Tasks that precede it: those that write the buffer and, if it writes, those that read it.
    after: Count,
}

/// Tasks that read or write a buffer.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    reads: u64,
    writes: u64,
}

/// The pending tasks and the memories of a cluster.
struct Backlog {
    queue: VecDeque<Task>,
    locals: Vec<Vec<u8>>,
    /// A thread has taken them.
    held: bool,
}

/// A buffer in global memory.
struct Buffer {
    data: Vec<u8>,
    held: bool,
    done: Count,
}

/// State shared by all threads.
struct Board {
    lanes: Vec<Backlog>,
    buffers: Vec<Buffer>,
    /// Tasks that are not complete.
    left: usize,
    /// Questions on which the results of work depended: location, question and work.
    asked: Vec<(SiteRef, Asked, usize, WorkId)>,
    /// The first fault, which no work should have, with its task's number.
    fault: Option<(u64, SiteRef, Fault)>,
    /// A thread has panicked.
    broken: bool,
    /// Active threads besides the one that advances time.
    helpers: usize,
    /// Working storage of threads that have finished.
    hands: Vec<Hand>,
}

impl Board {
    /// True if the buffers are free and everything before the uses is complete.
    fn may(&self, uses: &[Use]) -> bool {
        uses.iter().all(|at| {
            let buffer = &self.buffers[at.buffer];
            let is_next = buffer.done.writes == at.after.writes && (!at.writes || buffer.done.reads == at.after.reads);
            is_next && !buffer.held
        })
    }

    /// The cluster of the oldest task that is ready.
    fn ready(&self) -> Option<usize> {
        let heads = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.held);
        let able =
            heads.filter_map(|(at, lane)| Some((lane.queue.front()?, at))).filter(|(task, _)| self.may(&task.uses));
        able.min_by_key(|(task, _)| task.number).map(|(_, at)| at)
    }

    fn take(&mut self, uses: &[Use], memory: &mut Memory) {
        for at in uses {
            let buffer = &mut self.buffers[at.buffer];
            buffer.held = true;
            memory.swap_buffer(at.buffer, &mut buffer.data);
        }
    }

    fn give_back(&mut self, uses: &[Use], memory: &mut Memory) {
        for at in uses {
            let buffer = &mut self.buffers[at.buffer];
            buffer.held = false;
            memory.swap_buffer(at.buffer, &mut buffer.data);
            let done = if at.writes { &mut buffer.done.writes } else { &mut buffer.done.reads };
            *done += 1;
        }
    }
}

struct Shared {
    board: Mutex<Board>,
    news: Condvar,
    /// The work of each core.
    works: Vec<Vec<Option<Arc<dyn Effect>>>>,
    /// A memory of the same shape as the run's, without bytes.
    empty: Memory,
    /// Maximum number of helper threads.
    most: usize,
}

/// The working storage of a thread.
struct Hand {
    memory: Memory,
    scratch: Scratch,
    output: Output,
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts one more helper thread, if there is something to do and a thread is available.
    fn call(self: &Arc<Shared>, board: &mut Board) {
        if board.helpers >= self.most || board.ready().is_none() {
            return;
        }
        board.helpers += 1;
        let shared = self.clone();
        rayon::spawn(move || _ = std::panic::catch_unwind(AssertUnwindSafe(|| helper(&shared))));
    }

    /// Executes tasks until a condition holds.
    ///
    /// # Panics
    /// If another thread has panicked.
    fn help<'s>(&'s self, hand: &mut Hand, most: usize, until: impl Fn(&Board) -> bool) -> MutexGuard<'s, Board> {
        let mut board = self.board();
        loop {
            assert!(!board.broken, "a worker thread crashed");
            if until(&board) {
                return board;
            }
            board = match board.ready() {
                Some(lane) => self.serve(board, lane, hand, most),
                None => self.news.wait(board).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Executes some of the tasks of a cluster, as far as dependences allow.
    fn serve<'s>(
        &'s self,
        mut board: MutexGuard<'s, Board>,
        cluster: usize,
        hand: &mut Hand,
        most: usize,
    ) -> MutexGuard<'s, Board> {
        let lane = &mut board.lanes[cluster];
        lane.held = true;
        let mut queue = std::mem::take(&mut lane.queue);
        hand.memory.swap_cluster(cluster as u32, &mut lane.locals);
        let mut done = 0;
        let mut unlocked = None;
        let mut guard = Some(board);
        while done < most
            && let Some(task) = queue.front()
        {
            if !task.uses.is_empty() {
                let mut board = guard.take().unwrap_or_else(|| self.board());
                let may = board.may(&task.uses);
                if may {
                    board.take(&task.uses, &mut hand.memory);
                }
                guard = if may { None } else { Some(board) };
                if !may {
                    break;
                }
            }
            drop(guard.take());
            let outcome = self.carry_out(task, hand);
            if !task.uses.is_empty() || outcome.is_err() || !hand.output.questions.is_empty() {
                let mut board = self.board();
                board.give_back(&task.uses, &mut hand.memory);
                if let (Err(fault), true) =
                    (outcome, board.fault.as_ref().is_none_or(|(first, ..)| task.number < *first))
                {
                    board.fault = Some((task.number, task.site, fault));
                }
                let (core, id) = task.work.unwrap_or_default();
                board.asked.extend(hand.output.questions.drain(..).map(|asked| (task.site, asked, core, id)));
                if !task.uses.is_empty() {
                    self.news.notify_all();
                }
                unlocked = Some(board);
            }
            guard = unlocked.take();
            queue.pop_front();
            done += 1;
        }
        let mut board = guard.unwrap_or_else(|| self.board());
        let lane = &mut board.lanes[cluster];
        queue.append(&mut lane.queue);
        lane.queue = queue;
        lane.held = false;
        hand.memory.swap_cluster(cluster as u32, &mut lane.locals);
        board.left -= done;
        self.news.notify_all();
        board
    }

    fn carry_out(&self, task: &Task, Hand { memory, scratch, output }: &mut Hand) -> Result<u64, Fault> {
        let Some((core, id)) = task.work else {
            memory.restart(task.env.block);
            return Ok(0);
        };
        let Some(effect) = &self.works[core][id as usize] else { return Ok(0) };
        let outcome = effect.run(&task.args, Run { env: task.env, memory, scratch, output });
        for range in &task.undefined {
            memory.fill(range, task.env, UNDEFINED);
        }
        outcome
    }
}

/// Notifies the others if this thread panics.
struct Going<'a>(&'a Shared);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.board().broken = true;
        self.0.news.notify_all();
    }
}

/// What an immediate execution may touch.
#[derive(Clone, Copy)]
pub(crate) enum Reach<'a> {
    Of(&'a Access),
    /// The local memories of its cluster.
    Local,
    /// These and all buffers in global memory.
    All,
}

/// Deferred work.
pub(crate) struct Later {
    shared: Arc<Shared>,
    hand: Hand,
    /// Work that no other thread has been notified of yet.
    staged: Vec<(usize, Task)>,
    weight: u64,
    /// Tasks created, for each buffer.
    made: Vec<Count>,
    number: u64,
}

impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Later").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The body of a helper thread: executes all tasks that are ready. It never waits, so it never withholds a thread from
/// the pool.
fn helper(shared: &Arc<Shared>) {
    let going = Going(shared);
    let mut board = shared.board();
    let mut hand = board.hands.pop().unwrap_or_else(|| Hand::new(shared.empty.clone()));
    while let Some(lane) = board.ready() {
        board = shared.serve(board, lane, &mut hand, AT_ONCE);
        shared.call(&mut board);
    }
    board.helpers -= 1;
    board.hands.push(hand);
    std::mem::forget(going);
}

impl Later {
    /// Work is deferred if several clusters run in pipe mode and there are several threads; `None` otherwise.
    pub fn new(launch: &Launch<'_>, memory: &mut Memory) -> Option<Box<Later>> {
        let overtake = Delays::new(&launch.delays).overtake();
        let alone = launch.clusters() < 2 || !launch.values || launch.mode != ExecutionMode::Pipes || overtake;
        let mut insts = launch.program.cores.iter().flat_map(|core| &core.insts);
        // A polling launch hands its memory to others.
        if alone
            || insts.any(|inst| matches!(inst, Inst::Meet { .. } | Inst::Poll { .. }))
            || rayon::current_num_threads() < 2
        {
            return None;
        }
        let (empty, Borrowed { clusters, buffers }) = memory.lend();
        let lane = |locals| Backlog { queue: VecDeque::new(), locals, held: false };
        let buffer = |data| Buffer { data, held: false, done: Count::default() };
        let buffers: Vec<Buffer> = buffers.into_iter().map(buffer).collect();
        let made = vec![Count::default(); buffers.len()];
        // A launch without work may come without local memories.
        let all = clusters.len().max(launch.clusters() as usize);
        let clusters = clusters.into_iter().chain(std::iter::repeat_with(Vec::new));
        let board = Board {
            lanes: clusters.take(all).map(lane).collect(),
            buffers,
            left: 0,
            asked: Vec::new(),
            fault: None,
            broken: false,
            helpers: 0,
            hands: Vec::new(),
        };
        let shared = Shared {
            board: Mutex::new(board),
            news: Condvar::new(),
            works: effects(launch.program),
            empty: empty.clone(),
            most: rayon::current_num_threads() - 1,
        };
        Some(Box::new(Later {
            shared: Arc::new(shared),
            hand: Hand::new(empty),
            staged: Vec::new(),
            weight: 0,
            made,
            number: 0,
        }))
    }

    /// Defers the execution of work.
    pub fn work(&mut self, core: usize, id: WorkId, args: &[u64], env: Env, access: &Access, site: SiteRef) {
        let uses = self.uses(access);
        for at in &uses {
            let made = &mut self.made[at.buffer];
            *(if at.writes { &mut made.writes } else { &mut made.reads }) += 1;
        }
        let bytes = |ranges: &[Extent]| ranges.iter().map(Extent::bytes).sum::<u64>();
        self.weight += 64 + bytes(&access.reads) + bytes(&access.writes);
        let undefined = access.undefined.clone();
        self.add(Task { work: Some((core, id)), args: args.into(), env, site, undefined, uses, number: 0 });
    }

    /// A block starts on a cluster.
    pub fn restart(&mut self, env: Env) {
        let (args, undefined, uses) = (Box::default(), Vec::new(), Vec::new());
        self.add(Task { work: None, args, env, site: 0, undefined, uses, number: 0 });
    }

    fn add(&mut self, task: Task) {
        self.number += 1;
        self.staged.push((task.env.block as usize, Task { number: self.number, ..task }));
        if self.weight < ENOUGH {
            return;
        }
        let shared = self.shared.clone();
        let mut board = self.tell(&shared);
        shared.call(&mut board);
        if board.left > MOST {
            drop(board);
            drop(shared.help(&mut self.hand, AT_ONCE / 2, |board| board.left <= MOST / 2));
        }
    }

    /// Publishes the staged tasks.
    fn tell<'s>(&mut self, shared: &'s Shared) -> MutexGuard<'s, Board> {
        let mut board = shared.board();
        board.left += self.staged.len();
        for (cluster, task) in self.staged.drain(..) {
            board.lanes[cluster].queue.push_back(task);
        }
        self.weight = 0;
        board
    }

    /// An access's uses of buffers in global memory, each once, and what precedes them.
    fn uses(&self, access: &Access) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        let reads = access.reads.iter().map(|range| (range, access.update.is_some()));
        for (range, writes) in reads.chain(access.writes.iter().map(|range| (range, true))) {
            // Addresses outside all buffers have been reported before.
            let Some((buffer, _)) = gm_split(range.start).filter(|_| range.space == Space::Gm) else { continue };
            match uses.iter_mut().find(|at| at.buffer == buffer) {
                Some(at) => at.writes |= writes,
                None if buffer < self.made.len() => uses.push(Use { buffer, writes, after: self.made[buffer] }),
                None => {}
            }
        }
        uses
    }

    /// Executes something now, on the memory whose bytes are borrowed, after everything that precedes it.
    pub fn now<R>(
        &mut self,
        memory: &mut Memory,
        cluster: u32,
        reach: Reach<'_>,
        run: impl FnOnce(&mut Memory) -> R,
    ) -> R {
        let all = |buffer| Use { buffer, writes: true, after: self.made[buffer] };
        let global = |access: &Access| access.reads.iter().chain(&access.writes).all(|range| range.space == Space::Gm);
        let (uses, local) = match reach {
            Reach::Of(access) => (self.uses(access), !global(access)),
            Reach::Local => (Vec::new(), true),
            Reach::All => ((0..self.made.len()).map(all).collect(), true),
        };
        let lane = local.then_some(cluster as usize);
        let shared = self.shared.clone();
        drop(self.tell(&shared));
        let free = |lane: &Backlog| lane.queue.is_empty() && !lane.held;
        let until = |board: &Board| lane.is_none_or(|lane| free(&board.lanes[lane])) && board.may(&uses);
        let mut board = shared.help(&mut self.hand, AT_ONCE / 2, until);
        board.take(&uses, memory);
        if let Some(lane) = lane.map(|lane| &mut board.lanes[lane]) {
            lane.held = true;
            memory.swap_cluster(cluster, &mut lane.locals);
        }
        drop(board);
        let result = run(memory);
        let mut board = shared.board();
        for at in &uses {
            let buffer = &mut board.buffers[at.buffer];
            memory.swap_buffer(at.buffer, &mut buffer.data);
            buffer.held = false;
        }
        if let Some(lane) = lane.map(|lane| &mut board.lanes[lane]) {
            lane.held = false;
            memory.swap_cluster(cluster, &mut lane.locals);
        }
        shared.news.notify_all();
        result
    }

    /// Executes everything that is left, returns the bytes, and reports what work produced: questions by location, with
    /// the name of the work, and a fault that no work should have.
    pub fn finish(
        mut self,
        program: &Program,
        memory: &mut Memory,
        questions: &mut Questions,
    ) -> Option<(SiteRef, Fault)> {
        let shared = self.shared.clone();
        drop(self.tell(&shared));
        let mut board = shared.help(&mut self.hand, AT_ONCE / 2, |board| board.left == 0);
        let board = &mut *board;
        let mut borrowed = Borrowed {
            clusters: board.lanes.iter_mut().map(|lane| std::mem::take(&mut lane.locals)).collect(),
            buffers: board.buffers.iter_mut().map(|buffer| std::mem::take(&mut buffer.data)).collect(),
        };
        memory.take_back(&mut borrowed);
        for (site, Asked { question, at }, core, id) in board.asked.drain(..) {
            let name = program.cores[core].works[id as usize].name;
            let (site, name) = at.unwrap_or((site, name));
            questions.entry((site, question.name)).or_insert_with(|| (question, name.to_string()));
        }
        board.fault.take().map(|(_, site, fault)| (site, fault))
    }
}

impl Hand {
    fn new(memory: Memory) -> Hand {
        Hand { memory, scratch: Scratch::default(), output: Output::default() }
    }
}

/// The effects of all work that may be deferred.
fn effects(program: &Program) -> Vec<Vec<Option<Arc<dyn Effect>>>> {
    let planned = |action: &Action| match action {
        Action::Planned(effect) => Some(effect.clone()),
        Action::Discovering(_) => None,
    };
    program.cores.iter().map(|core| core.works.iter().map(|work| planned(&work.effect)).collect()).collect()
}
