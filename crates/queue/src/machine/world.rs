//! State shared by all actors: memories, transfers in flight, time, and the sanitizer's ledger.

use std::collections::VecDeque;
use std::rc::Rc;

use super::Limits;
use super::chip::{Chip, Reach, TileId};
use super::delay::{Delays, Dice};
use super::flight::{Flight, Flights};
use super::memory::Memory;
use crate::capture::Capture;
use crate::layout::Layout;
use crate::lint::Linter;
use crate::machine::actor::{Actor, Wait};
use crate::machine::flight::NEVER;
use crate::machine::span::Trace;
use crate::sanitize::{AtError, Finding, Hazard, Ledger};
use crate::wire::Rect;
use crate::worker::{Payload, Workers};

/// An actor stops here: there is no defined continuation, or the machine stops at its action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stop;

/// The state of an actor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Its kernel was not started.
    Off,
    /// It runs or waits.
    On,
    /// Its kernel ended by TERMINATE.
    Ended,
}

/// The shared state. An actor borrows it for one action and never across a wait.
pub(crate) struct World {
    /// The index of the queue, if there are two: see `pair`.
    pub queue: Option<u8>,
    /// Bytes of the other queue's cores have changed.
    pub stirs: bool,
    pub layout: Layout,
    pub chip: Chip,
    pub memory: Memory,
    pub delays: Delays,
    pub dice: Dice,
    pub flights: Flights,
    pub nius: [Niu; 4],
    pub now: u64,
    pub states: [State; 3],
    pub waits: [Option<Wait>; 3],
    /// When time ends each actor's wait; never for waits that something else ends.
    pub wakes: [u64; 3],
    /// A bit for each actor: something other than time ends its wait.
    pub watching: u8,
    /// A bit for each actor: something that may end its wait has changed. Waits for time need none.
    pub touched: u8,
    /// The time up to which the host lets the machine run.
    pub until: u64,
    /// The actor that continues after the one that has just begun to wait.
    pub next: Option<Actor>,
    /// Targets of multicasts, by rectangle: the most recently used ones.
    pub reaches: Vec<(Rect, Rc<Reach>)>,
    pub ledger: Ledger,
    pub workers: Workers,
    /// The dispatcher's data in flight to each tile.
    pub payloads: Vec<Payload>,
    /// The dispatch core's stream counters, 17 bits each.
    pub streams: [u32; 64],
    /// How often fetching was entered in each of its eight states: bit 0: a command is available, bit 1: the slot is
    /// full, bit 2: a read is in flight.
    pub fetch_states: [u64; 8],
    /// The slot that the host must fill next.
    pub next_slot: u32,
    /// Initial value of the page counters.
    pub pages_before: u32,
    /// Spans of activity, if requested.
    pub trace: Option<Trace>,
    /// The rectangles that cover all workers.
    pub go_rects: Vec<crate::wire::Rect>,
    /// Network behaviour of other firmware, see [`Quirks`](super::Quirks).
    pub quirks: super::Quirks,
    /// All written times are equal.
    pub still_clock: bool,
    /// Steps since the host last queued a record.
    pub steps: u64,
    /// The limits.
    pub limits: super::Limits,
    /// The queued stream, if requested.
    pub recorded: Option<Recorded>,
    /// The host's last stores to registers of tiles that keep them.
    pub registers: std::collections::BTreeMap<(TileId, u64), u32>,
    /// The linter alongside the machine.
    pub judge: Judge,
}

const STREAM_MASK: u32 = 0x1_FFFF;
/// A bit for each actor.
pub(crate) const ALL_ACTORS: u8 = 0b111;
/// Number of multicast rectangles whose tiles are kept.
const MOST_REACHES: usize = 16;

/// A bit for each actor on the same tile, itself included.
const fn neighbours(actor: Actor) -> u8 {
    match actor {
        Actor::Prefetch => 1 << Actor::Prefetch as u8,
        Actor::Dispatch | Actor::Subordinate => 1 << Actor::Dispatch as u8 | 1 << Actor::Subordinate as u8,
    }
}

impl World {
    /// A slot of the fetch queue.
    pub fn slot(&self, addr: u32) -> u16 {
        let bytes = self.memory.l1(self.chip.prefetch(), addr, 2);
        u16::from_le_bytes([bytes[0], bytes[1]])
    }

    /// A time, in the form written by commands and workers.
    pub fn time_bytes(&self, cycle: u64) -> [u8; 8] {
        if self.still_clock { *b"the time" } else { cycle.to_le_bytes() }
    }

    /// A stream counter of the dispatch core.
    pub fn stream(&self, stream: u32) -> u32 {
        self.streams[stream as usize & 63]
    }

    /// Adds to a stream counter, modulo 2^17.
    pub fn add_to_stream(&mut self, stream: u32, value: u32) {
        let counter = &mut self.streams[stream as usize & 63];
        *counter = counter.wrapping_add(value) & STREAM_MASK;
    }

    /// Free bytes of the completion ring in units of 16 bytes, by the firmware's arithmetic.
    pub fn completion_free(&self) -> u32 {
        let dispatch = &self.layout.dispatch;
        let wr = self.memory.word(self.chip.dispatch(), dispatch.completion_wr);
        let rd = self.memory.word(self.chip.dispatch(), dispatch.completion_rd);
        let (wr_ptr, rd_ptr) = (wr & 0x7FFF_FFFF, rd & 0x7FFF_FFFF);
        match wr >> 31 == rd >> 31 {
            true => (self.layout.sysmem.completion_bytes >> 4).wrapping_sub(wr_ptr.wrapping_sub(rd_ptr)),
            false => rd_ptr.wrapping_sub(wr_ptr),
        }
    }

    /// Draws a duration.
    pub fn draw(&mut self, which: fn(&Delays) -> super::Delay) -> u64 {
        self.dice.draw(which(&self.delays))
    }

    /// The tile that an actor runs on.
    pub fn tile_of(&self, actor: Actor) -> TileId {
        match actor {
            Actor::Prefetch => self.chip.prefetch(),
            Actor::Dispatch | Actor::Subordinate => self.chip.dispatch(),
        }
    }

    /// Records a finding about an actor's current action.
    ///
    /// # Errors
    /// [`Stop`] if the machine stops at findings like this one.
    pub fn flag(&mut self, actor: Actor, hazard: Hazard, message: impl FnOnce() -> String) -> Result<(), Stop> {
        let at = self.ledger.at[actor as usize];
        self.judge_yields(hazard, at.record);
        if self.ledger.wants(hazard) {
            let finding = Finding {
                record: at.record,
                command: at.command,
                cycle: self.now,
                notes: self.actor_lines(),
                ..Finding::new(hazard, message())
            };
            self.ledger.add(finding);
        }
        match self.ledger.mode == AtError::Strict && self.ledger.stopped() {
            true => Err(Stop),
            false => Ok(()),
        }
    }

    /// Records a finding after which the actor cannot continue: on silicon it jumps to an address that holds no code,
    /// or waits forever.
    pub fn lose(&mut self, actor: Actor, hazard: Hazard, message: impl FnOnce() -> String) -> Stop {
        let _ = self.flag(actor, hazard, message);
        Stop
    }

    /// Records a finding about the host's current action. The ledger shows whether to stop.
    pub fn flag_host(&mut self, hazard: Hazard, message: impl FnOnce() -> String) {
        if self.ledger.wants(hazard) {
            let finding = Finding { cycle: self.now, notes: self.actor_lines(), ..Finding::new(hazard, message()) };
            self.ledger.add(finding);
        }
    }

    /// Its progress.
    pub fn status(&self) -> super::Status {
        let granted = self.memory.word(self.chip.prefetch(), self.layout.sem(0));
        super::Status {
            cycle: self.now,
            announced: self.ledger.issue.announced(),
            queued: self.ledger.issue.queued() as u64,
            commands: self.ledger.commands,
            credits: super::credits(granted, self.ledger.taken),
            pages: self.ledger.produced.saturating_sub(self.ledger.consumed),
            completions: self.ledger.completed.saturating_sub(self.ledger.drained),
            flights: self.flights.len() as u64,
            running: self.workers.running(),
            launches: self.workers.launched + self.workers.launched_by_host,
            actors: self.actor_lines(),
            fetch_states: self.fetch_states,
        }
    }

    /// The activity of each actor, one line each, and the ledger of page credits.
    pub fn actor_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for actor in Actor::ALL {
            let state = match (self.states[actor as usize], self.waits[actor as usize]) {
                (State::Off, _) => "is off".to_string(),
                (State::Ended, _) => "has ended".to_string(),
                (State::On, Some(wait)) => wait.describe(self),
                (State::On, None) => "is at work".to_string(),
            };
            let at = self.ledger.at[actor as usize];
            let mut line = format!("{actor}: {state}");
            if let Some(command) = at.command {
                line += &format!(", {command}");
            }
            if let Some(record) = at.record {
                line += &format!(" of {record}");
            }
            lines.push(line);
        }
        lines.push(self.workers.describe(&self.chip));
        let granted = self.memory.word(self.chip.prefetch(), self.layout.sem(0));
        lines.push(self.ledger.credits_line(granted, &self.layout));
        lines
    }

    /// When something happens next, if nobody touches the machine.
    pub fn next_event(&self) -> Option<u64> {
        Some(self.next_certain()).filter(|cycle| *cycle != NEVER)
    }

    /// As [`World::next_event`]; never, if nothing does.
    fn next_certain(&self) -> u64 {
        let [first, second, third] = self.wakes;
        first.min(second).min(third).min(self.flights.next())
    }

    /// Sets or clears the wait of an actor.
    pub fn set_wait(&mut self, actor: Actor, wait: Option<Wait>) {
        let index = actor as usize;
        self.waits[index] = wait;
        let (wakes, watches) = match wait {
            Some(Wait::Until { cycle, .. }) => (cycle, false),
            None | Some(Wait::Idle | Wait::Lost | Wait::Acknowledgements { .. }) => (NEVER, false),
            Some(_) => (NEVER, true),
        };
        self.wakes[index] = wakes;
        self.watching = self.watching & !(1 << index) | u8::from(watches) << index;
    }

    /// An actor begins to wait: returns whether it continues immediately, because the condition holds, or because its
    /// time comes before anything else happens.
    pub fn begins_to_wait(&mut self, actor: Actor, wait: Wait) -> bool {
        match wait {
            Wait::Until { cycle, .. } if cycle <= self.now => return true,
            Wait::Until { cycle, .. } if self.is_alone(actor, cycle) => {
                self.now = cycle;
                self.steps += 1;
                return true;
            }
            Wait::Until { .. } => {}
            wait if wait.is_over(self) => return true,
            _ => {}
        }
        self.waits(actor, wait);
        // Waits of others on its tile may be over.
        let own = 1 << actor as u8;
        self.touched = (self.touched | neighbours(actor)) & !own;
        self.next = self.next_actor();
        self.next == Some(actor)
    }

    /// Whether nothing arrives up to a cycle, and nobody else proceeds before an actor does then.
    fn is_alone(&self, actor: Actor, cycle: u64) -> bool {
        let touched = self.touched | neighbours(actor);
        let others = Actor::ALL.into_iter().filter(|other| *other != actor);
        let first = others.fold(true, |first, other| {
            // Within a cycle they proceed in order.
            first & (self.wakes[other as usize] >= cycle.saturating_add(u64::from(other < actor)))
        });
        first && touched & self.watching == 0 && self.flights.next() > cycle && cycle <= self.until && self.may_go_on()
    }

    /// Whether the machine has not stopped, and is within its limits.
    fn may_go_on(&self) -> bool {
        !self.ledger.stopped() && self.steps <= self.limits.steps && self.memory.used <= self.limits.bytes
    }

    /// The host lets time pass up to a cycle: returns the first actor that proceeds.
    pub fn let_pass(&mut self, until: u64) -> Option<Actor> {
        self.until = until;
        self.next_actor()
    }

    /// When an actor proceeds or something arrives, if nobody touches the machine; never, if nothing does.
    pub fn due(&self) -> u64 {
        if self.touched & self.watching == 0 { self.next_certain() } else { self.now }
    }

    /// Lets time pass up to a cycle if nothing happens until then, but something will after that; returns whether it
    /// has.
    pub fn passes_idly(&mut self, until: u64) -> bool {
        let next = self.next_certain();
        let idle = next > until && next != NEVER && self.touched & self.watching == 0 && self.may_go_on();
        if idle {
            self.now = self.now.max(until);
        }
        idle
    }

    /// An actor has ended: returns the one that continues.
    pub fn hand_over(&mut self, actor: Actor) -> Option<Actor> {
        // Waits of actors on its tile may be over.
        self.touched |= neighbours(actor);
        self.next = self.next_actor();
        self.next
    }

    /// Lets time pass until an actor can proceed, and clears its wait. `None`: it passed to the end, or the machine has
    /// stopped.
    fn next_actor(&mut self) -> Option<Actor> {
        while self.may_go_on() || self.within_limits() {
            if let Some(actor) = self.ready() {
                self.goes_on(actor);
                self.steps += 1;
                return Some(actor);
            }
            let next = self.next_certain();
            // An event for the other queue ends the period.
            let until = self.until;
            if next > until || next == NEVER {
                self.now = self.now.max(until);
                break;
            }
            self.now = self.now.max(next);
            while self.flights.is_due(self.now) {
                let flight = self.flights.take();
                self.steps += 1;
                self.touched |= self.touches(&flight);
                self.arrive(flight);
            }
        }
        None
    }

    /// The first actor that can proceed. Waits for time end by the clock; the others are checked when something that
    /// may end them was touched.
    fn ready(&mut self) -> Option<Actor> {
        for actor in Actor::ALL {
            let index = actor as usize;
            if self.wakes[index] <= self.now {
                return Some(actor);
            }
            let is_over = |world: &World| world.waits[index].is_some_and(|wait| wait.is_over(world));
            if self.touched & self.watching & 1 << index != 0 {
                if is_over(self) {
                    return Some(actor);
                }
                self.touched &= !(1 << index);
            }
            debug_assert!(!is_over(self), "the wait of the {actor} is over, and nothing touched it");
        }
        None
    }

    /// The actors that run on a tile, one bit each: writes there may end their waits.
    pub fn actors_of(&self, tile: TileId) -> u8 {
        match tile {
            tile if tile == self.chip.prefetch() => 1 << Actor::Prefetch as u8,
            tile if tile == self.chip.dispatch() => 1 << Actor::Dispatch as u8 | 1 << Actor::Subordinate as u8,
            _ => 0,
        }
    }

    /// The actors whose waits an arrival may end.
    fn touches(&self, flight: &Flight) -> u8 {
        match flight {
            Flight::Write { to: super::Location::L1(tile, _), .. }
            | Flight::Read { tile, .. }
            | Flight::Add { tile, .. } => self.actors_of(*tile),
            Flight::Write { .. } => 0,
            _ => ALL_ACTORS,
        }
    }

    /// The tiles that a multicast goes to.
    pub fn reach(&mut self, rect: Rect) -> Rc<Reach> {
        if let Some((_, reach)) = self.reaches.iter().find(|(known, _)| *known == rect) {
            return reach.clone();
        }
        let reach = Rc::new(self.chip.reach(rect));
        // A driver uses only a few.
        if self.reaches.len() == MOST_REACHES {
            self.reaches.remove(0);
        }
        self.reaches.push((rect, reach.clone()));
        reach
    }

    /// Whether the machine may continue; if not, it reports that and stops.
    #[cold]
    fn within_limits(&mut self) -> bool {
        let Limits { steps, bytes } = self.limits;
        if self.steps > steps {
            self.give_up(format!("{steps} steps have been made since the host last queued a record"));
        } else if self.memory.used > bytes {
            self.give_up(format!("more than {bytes} bytes of DRAM are in use"));
        }
        !self.ledger.stopped()
    }

    /// Stops the machine in either mode.
    pub fn give_up(&mut self, why: String) {
        if self.ledger.stopped() {
            return;
        }
        let actor = Actor::ALL.into_iter().max_by_key(|actor| self.ledger.commands[*actor as usize]);
        let at = self.ledger.at[actor.unwrap_or(Actor::Dispatch) as usize];
        let notes = self.actor_lines();
        let (record, command, cycle) = (at.record, at.command, self.now);
        self.ledger.findings.push(Finding { record, command, cycle, notes, ..Finding::new(Hazard::RunLimit, why) });
        self.ledger.stopped = Some(self.ledger.findings.len() - 1);
    }

    /// Processes an arrival. The flight is over; its bytes are at their destination.
    pub fn arrive(&mut self, flight: Flight) {
        match flight {
            Flight::Write { tile, from, to, bytes } => {
                self.memory.copy_out(tile, from, to, bytes as usize);
                if !self.ledger.relayed.is_empty() {
                    self.borrowed_is_written(to, bytes.into());
                }
                if let super::Location::L1(target, addr) = to {
                    self.worker_written(target, addr, bytes);
                    if self.chip.is_of_another(target) {
                        (self.stirs, self.until) = (true, self.now);
                    }
                }
            }
            Flight::Multicast { tile, from, rect, addr, bytes } => {
                for target in self.reach(rect).tiles.iter().copied() {
                    self.memory.copy_out(tile, from, super::Location::L1(target, addr), bytes as usize);
                    self.worker_written(target, addr, bytes);
                }
            }
            Flight::Read { from, tile, to, bytes } => {
                if self.recorded.is_some() {
                    let record = self.ledger.at[Actor::Prefetch as usize].record.map(|record| record.index);
                    self.borrowed_is_read(from, bytes.into(), record);
                }
                self.memory.copy_in(from, tile, to, bytes as usize);
                if !self.ledger.relayed.is_empty() {
                    self.borrowed_is_relayed(from, bytes.into());
                }
                if matches!(from, super::Location::Host(..)) {
                    self.ledger.issue.landed(to);
                }
            }
            Flight::Add { tile, addr, value } => {
                let word = self.memory.word(tile, addr);
                self.memory.set_word(tile, addr, word.wrapping_add(value));
            }
            Flight::Notice { stream, value } => self.add_to_stream(stream, value),
            Flight::Poll { tile } => self.worker_polls(tile),
            Flight::Done { tile } => self.worker_done(tile),
        }
    }
}

/// The linter, and its findings ahead of the device.
pub(crate) struct Judge {
    pub(crate) linter: Linter,
    /// With the byte of the record that the dispatcher has to pass.
    pub(crate) pending: VecDeque<(Finding, u32)>,
}

/// A port's counters and orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Niu {
    /// Last arrival at each endpoint: unicast writes and atomics.
    pub(crate) unicast: Vec<u64>,
    /// Last arrival at each tile: multicasts.
    pub(crate) multicast: Vec<u64>,
    /// When all writes so far have been sent.
    pub(crate) sent: u64,
    /// When all writes so far have been acknowledged, if they all are.
    pub(crate) acknowledged: u64,
    /// The barrier count when the last write, and the last multicast, was issued.
    pub(crate) written: Option<u64>,
    pub(crate) multicasted: Option<u64>,
    /// When all atomics so far have been acknowledged.
    pub(crate) atomics: u64,
    /// When all reads so far have landed.
    pub(crate) read: u64,
    /// Announced acknowledgements minus actual ones.
    pub(crate) missing: i64,
    /// The upper address register was left pointing at PCIe.
    pub(crate) mid_residue: bool,
    /// How often all writes were known to have arrived; payload is ordered before a signal if this changed between
    /// them.
    pub epoch: u64,
}

/// The stream so far.
#[derive(Clone, Default)]
pub(crate) struct Recorded {
    pub capture: Capture,
    /// When the last store through a window was over.
    pub(crate) stored: u64,
}
