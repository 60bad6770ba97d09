//! The device: tiles, memories, networks, clock, and one scheduler that steps all actors.
//!
//! There are no threads. Time is in whole device cycles and advances inside the calls of a driver ([`Machine`] is a
//! [`Device`](crate::host::Device)), or in [`Machine::run`]. In each cycle, first everything that is due arrives, in
//! the order in which it was sent; then prefetcher, dispatcher and subordinate proceed, in this order, as far as they
//! can. A seed decides how long each transfer takes; the same seed gives the same run.
//!
//! | file | contents |
//! |---|---|
//! | `chip`, `memory` | tiles, and all bytes |
//! | `noc`, `payload` | transfers: ordering, acknowledgements, checks of targets |
//! | `flight`, `delay` | transfers in flight, and their durations |
//! | `judge` | the linter, fed with the fetched records: the only check of ordering |
//! | `world`, `actor`, `wait`, `core` | shared state, actors and their wait conditions, the interface for kernels |
//! | `board`, `status`, `span` | parts of a machine, its progress, spans of activity |
//! | `device` | the driver's side |
//! | `pair` | two queues on one board |
//! | `borrowed` | memory borrowed from the host, from queueing to reading |
//! | `recorded`, `streamed` | host actions as a stream, recorded and replayed |

mod actor;
mod board;
mod borrowed;
mod chip;
mod config;
mod core;
mod delay;
mod device;
mod flight;
mod judge;
mod memory;
mod noc;
mod pair;
mod payload;
mod recorded;
mod span;
mod status;
mod store;
mod streamed;
mod trace;
mod wait;
mod world;

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::board::cover;
use crate::machine::board::{Host, Second};
use crate::machine::flight::NEVER;
use crate::machine::span::Trace;
use crate::machine::world::{Judge, Niu};
use crate::sanitize::{Finding, Hazard, Ledger};
use crate::wire::Xy;
use crate::worker::{Acknowledge, Payload, Worker, Workers};

pub(crate) use crate::sanitize::ledger::Borrowed;
pub use actor::{Actor, Wait};
pub use board::Machine;
pub use chip::{Chip, Tile, TileId};
pub use config::{Config, Limits, Quirks};
pub use delay::{Delay, Delays};
pub use memory::Location;
pub use span::{Span, SpanActor};
pub use status::Status;
pub(crate) use trace::HostCall;
pub use world::State;

pub(crate) use self::core::Core;
pub(crate) use actor::{credits, stream_reached};
pub(crate) use flight::Flight;
pub(crate) use memory::Memory;
pub(crate) use noc::Port;
pub(crate) use payload::page_address;
pub(crate) use world::{Stop, World};

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.status().fmt(f)
    }
}

impl Machine {
    /// A machine whose workers acknowledge launches. The queue's kernels start when a host sends them their go messages, as
    /// [`Queue::open`](crate::host::Queue::open) does.
    ///
    /// # Errors
    /// If the parts of the configuration do not fit together.
    pub fn new(config: Config) -> Result<Machine, String> {
        Machine::with_worker(config, Box::new(Acknowledge::default()))
    }

    /// A machine whose workers execute a [`Worker`].
    ///
    /// # Errors
    /// As [`new`](Machine::new).
    pub fn with_worker(config: Config, worker: Box<dyn Worker>) -> Result<Machine, String> {
        config.check()?;
        let (device, traced) = (Host::new(&config.board), config.trace);
        let (first, second) = match config.two_queues {
            false => (config, None),
            true => {
                let (first, second) = pair::configs(config)?;
                (first, Some(second))
            }
        };
        let chip = Chip::new(&first.board);
        let memory = Memory::new(chip.tensix(), first.layout.l1_bytes, chip.banks(), first.board.bank_bytes);
        let workers = Workers::new(&chip, worker);
        let queue = second.is_some().then_some(0);
        let second = second.map(|config| {
            let chip = Chip::new(&config.board);
            Second::new(Machine::world(config, chip, Memory::none(), Workers::none(), Some(1)))
        });
        let world = Machine::world(first, chip, memory, workers, queue);
        Ok(Machine { world: Rc::new(RefCell::new(world)), kernels: [None, None, None], device, traced, second })
    }

    /// The state of a queue, with the board's memory and workers if it holds them.
    fn world(config: Config, chip: Chip, memory: Memory, workers: Workers, queue: Option<u8>) -> World {
        let niu = Niu::new(World::endpoints(&chip));
        World {
            queue,
            stirs: false,
            memory,
            dice: delay::Dice::new(config.seed),
            delays: config.delays,
            flights: flight::Flights::default(),
            nius: std::array::from_fn(|_| niu.clone()),
            now: 0,
            states: [State::Off; 3],
            waits: [None; 3],
            wakes: [NEVER; 3],
            watching: 0,
            touched: 0,
            until: 0,
            next: None,
            reaches: Vec::new(),
            ledger: Ledger { allowed: config.allowed, ..Ledger::new(config.mode, &config.layout) },
            workers,
            payloads: vec![Payload::NONE; chip.tensix()],
            streams: [0; 64],
            fetch_states: [0; 8],
            next_slot: config.layout.prefetch.q_base,
            pages_before: config.pages_before,
            trace: config.trace.then(Trace::default),
            go_rects: cover(config.board.workers()),
            quirks: config.quirks,
            still_clock: config.still_clock,
            steps: 0,
            limits: config.limits,
            recorded: config.record.then(Default::default),
            registers: std::collections::BTreeMap::new(),
            judge: Judge::new(&config.board, &config.layout),
            layout: config.layout,
            chip,
        }
    }

    /// Replaces the workers' behaviour from now on.
    ///
    /// # Errors
    /// If one is running.
    pub fn set_worker(&mut self, worker: Box<dyn Worker>) -> Result<(), String> {
        match self.world.borrow_mut().workers.replace(worker) {
            true => Ok(()),
            false => Err("what workers do is chosen while none runs".into()),
        }
    }

    /// Starts a kernel.
    fn start(&mut self, actor: Actor) {
        {
            let mut world = self.world.borrow_mut();
            world.states[actor as usize] = State::On;
            let now = world.now;
            world.touched = world::ALL_ACTORS;
            world.set_wait(actor, Some(Wait::Until { cycle: now, what: "it starts" }));
        }
        let core = Core::new(actor, self.world.clone());
        self.kernels[actor as usize] = Some(match actor {
            Actor::Prefetch => Box::pin(crate::prefetch::run(core)),
            Actor::Dispatch => Box::pin(crate::dispatch::run(core)),
            Actor::Subordinate => Box::pin(crate::subordinate::run(core)),
        });
    }

    /// Stops a kernel: its core is held in reset.
    fn stop(&mut self, actor: Actor) {
        let mut world = self.world.borrow_mut();
        world.states[actor as usize] = State::Off;
        world.set_wait(actor, None);
        drop(world);
        self.kernels[actor as usize] = None;
    }

    /// Lets an actor proceed until another one must: returns that one. A waiting actor has recorded its wait itself.
    fn step(&mut self, actor: Actor) -> Option<Actor> {
        let index = actor as usize;
        let end = match &mut self.kernels[index] {
            Some(kernel) => kernel.as_mut().poll(&mut Context::from_waker(Waker::noop())),
            None => Poll::Ready(Ok(())),
        };
        let mut world = self.world.borrow_mut();
        let Poll::Ready(end) = end else { return world.next.take() };
        if self.kernels[index].take().is_some() {
            match end {
                Ok(()) => world.states[index] = State::Ended,
                Err(Stop) => world.set_wait(actor, Some(Wait::Lost)),
            }
        }
        world.hand_over(actor)
    }

    /// When something happens next, if nobody touches the machine.
    fn next_event(&self) -> Option<u64> {
        let own = self.world.borrow().next_event();
        match &self.second {
            None => own,
            Some(second) => own.into_iter().chain(second.next_event()).min(),
        }
    }

    /// Lets time pass to a cycle, or until the machine stops at a finding.
    #[inline]
    pub fn run(&mut self, until: u64) {
        match self.second {
            None => self.run_one(until),
            Some(_) => self.run_both(until),
        }
    }

    /// Lets time pass for one queue.
    #[inline]
    fn run_one(&mut self, until: u64) {
        let mut next = {
            let mut world = self.world.borrow_mut();
            if world.passes_idly(until) {
                return;
            }
            world.let_pass(until)
        };
        while let Some(actor) = next {
            next = self.step(actor);
        }
        let mut world = self.world.borrow_mut();
        if world.has_found() && world.next_event().is_none() {
            world.judge_at_rest();
        }
    }

    /// Lets time pass until nothing more happens by itself, but at most for this many cycles; returns whether nothing
    /// does.
    pub fn settle(&mut self, cycles: u64) -> bool {
        self.called(HostCall::Sleep, |machine| machine.come_to_rest(cycles))
    }

    fn come_to_rest(&mut self, cycles: u64) -> bool {
        let end = self.now_cycles().saturating_add(cycles);
        // To the next event each time, so that time does not advance beyond the last one.
        while let Some(at) = self.next_event() {
            if at > end {
                return false;
            }
            self.run(at);
            if self.is_stopped() {
                return false;
            }
        }
        self.judge_between();
        // Nothing is in flight, and the host has waited for that: it is equivalent to a barrier of every sender.
        let idle = self.is_idle();
        self.each(|world| {
            world.ledger.settled = true;
            Port::ALL.into_iter().for_each(|port| world.passed_barrier(port));
            if let Some(order) = world.order().filter(|_| idle) {
                order.rests();
            }
        });
        !self.is_stopped()
    }

    /// Stops the run because it exceeds a limit of the machine's driver.
    pub fn give_up(&mut self, why: impl Into<String>) {
        self.world.borrow_mut().give_up(why.into());
    }

    /// How often each allowed hazard was met.
    pub fn allowed(&self) -> Vec<(Hazard, u64)> {
        let allowed = self.world.borrow().ledger.allowed.clone();
        let met = |hazard: Hazard| (hazard, self.all(|world| world.ledger.met[hazard as usize]).into_iter().sum());
        allowed.into_iter().map(met).filter(|(_, times)| *times > 0).collect()
    }

    /// Device cycles so far.
    pub fn now_cycles(&self) -> u64 {
        self.world.borrow().now
    }

    /// The findings so far. The first few of each hazard are kept.
    pub fn findings(&self) -> Vec<Finding> {
        self.all(|world| world.ledger.findings.iter().map(|finding| world.named(finding)).collect::<Vec<_>>()).concat()
    }

    /// Commands so far that may order, write or start something and could not be checked without running: if there are
    /// any, it is unknown whether the findings are the same for all delays.
    pub fn not_ordered(&self) -> Vec<String> {
        let mut all = self.all(|world| world.unordered()).concat();
        if let Some(between) = self.between() {
            all.extend(between.not_judged);
            // It may have come from something other than a command.
            all.extend(between.stuck.map(|stuck| format!("what two queues do after this: {}", stuck.message)));
        }
        all
    }

    /// The finding at which the machine stopped.
    pub fn stopped_at(&self) -> Option<Finding> {
        let stopped = |world: &World| Some(world.named(&world.ledger.findings[world.ledger.stopped?]));
        self.all(stopped).into_iter().flatten().next()
    }

    /// The wait relations, if nothing can happen by itself any more and not everything is done.
    pub fn diagnose(&self) -> Option<Finding> {
        let settled = self.next_event().is_none();
        settled.then(|| self.diagnosis())
    }

    /// The wait relations, if nothing can happen by itself any more and an actor has not done what it was told.
    pub fn hang(&self) -> Option<Finding> {
        self.diagnose().filter(|_| !self.is_idle())
    }

    /// Whether an actor's kernel runs, was ended by TERMINATE, or never started.
    pub fn state(&self, actor: Actor) -> State {
        self.world.borrow().states[actor as usize]
    }

    /// The records that the prefetcher has fetched, as a stream, if the configuration requested it. A record states
    /// that the host waited before it if everything had run and the host had taken a completion since it last queued
    /// one. Other host actions are included, with all times: what it took and loaded, what it stored outside of the
    /// queue's own memory, what it polled and pinned.
    pub fn recorded(&self, board: &str) -> Option<crate::capture::Capture> {
        let world = self.world.borrow();
        let mut recorded = world.recorded.as_ref()?.capture.clone();
        recorded.board = board.to_owned();
        recorded.layout = world.layout.fields();
        // Announced records that were never fetched are missing.
        let records = recorded.entries.len();
        recorded.acts.iter_mut().for_each(|act| act.before = act.before.min(records));
        Some(recorded)
    }

    /// Its progress; for two queues, both combined.
    pub fn status(&self) -> Status {
        let parts = self.all(World::status);
        let workers = self.world.borrow();
        let (running, launches) =
            (workers.workers.running(), workers.workers.launched + workers.workers.launched_by_host);
        let all = parts.into_iter().reduce(Status::with);
        Status { running, launches, ..all.unwrap_or_else(|| workers.status()) }
    }

    /// Whether it records the activity of each actor.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// The activity of each actor, if the configuration requested it.
    pub fn spans(&self) -> Vec<Span> {
        let spans = |world: &World| world.trace.as_ref().map(|trace| trace.until(world.now)).unwrap_or_default();
        pair::joined(self.all(spans))
    }

    /// Reads the current memory of a tile, without taking time: for tests and tools.
    ///
    /// # Errors
    /// If there is no such memory.
    pub fn peek(&self, tile: Xy, addr: u64, out: &mut [u8]) -> Result<(), String> {
        let world = self.world.borrow();
        let place = world.place_of(tile, addr, out.len() as u64);
        let place = place.ok_or_else(|| format!("{tile} has no {} bytes at {addr:#x}", out.len()))?;
        world.memory.read(place, out);
        Ok(())
    }

    /// Writes the memory of a tile, without taking time or being noticed: for tests and tools.
    ///
    /// # Errors
    /// If there is no such memory.
    pub fn poke(&mut self, tile: Xy, addr: u64, bytes: &[u8]) -> Result<(), String> {
        let mut world = self.world.borrow_mut();
        let place = world.place_of(tile, addr, bytes.len() as u64);
        let place = place.ok_or_else(|| format!("{tile} has no {} bytes at {addr:#x}", bytes.len()))?;
        world.memory.write(place, bytes);
        (world.touched, world.stirs) = (world::ALL_ACTORS, true);
        drop(world);
        self.stir();
        Ok(())
    }

    /// A stream counter of the dispatch core.
    pub fn stream(&self, stream: u32) -> u32 {
        self.world.borrow().stream(stream)
    }
}
