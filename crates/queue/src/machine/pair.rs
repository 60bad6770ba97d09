//! Two queues on one board: each has its own state, kernels, streams, network counters and linter. One of them holds
//! the board's memory and workers and runs up to the point where the other one acts, which then takes them over.

use std::cell::RefCell;
use std::rc::Rc;

use super::world::{ALL_ACTORS, World};
use super::{Config, Machine, Span, SpanActor, Status};
use crate::lint::Between;
use crate::machine::board::Second;
use crate::machine::flight::NEVER;
use crate::sanitize::{Finding, all_idle, diagnose};
use crate::wire::Xy;

impl Second {
    pub fn new(world: World) -> Second {
        Second { world: Rc::new(RefCell::new(world)), kernels: [None, None, None], judged: 0 }
    }

    pub fn next_event(&self) -> Option<u64> {
        self.world.borrow().next_event()
    }
}

/// The configuration of each of two queues.
///
/// # Errors
/// If the board has no space for a second one, or an option supports only one queue.
pub(super) fn configs(config: Config) -> Result<(Config, Config), String> {
    if config.record {
        return Err("what is queued is kept for a machine with one queue only".into());
    }
    let [first, board] = config.board.pair()?;
    let second = Config { board, layout: config.layout.second(), ..config.clone() };
    second.check()?;
    Ok((Config { board: first, ..config }, second))
}

/// The spans of two queues as one list.
pub(super) fn joined(parts: Vec<Vec<Span>>) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    for (queue, spans) in parts.into_iter().enumerate() {
        let first = all.len();
        all.extend(spans.into_iter().map(|span| {
            let actor = match span.actor {
                SpanActor::Queue(actor) if queue > 0 => SpanActor::Second(actor),
                actor => actor,
            };
            Span { actor, cause: span.cause.map(|cause| first + cause), ..span }
        }));
    }
    all
}

impl Status {
    /// The combined status of two queues.
    pub(super) fn with(self, other: Status) -> Status {
        let label = |queue: u8, lines: Vec<String>| lines.into_iter().map(move |line| format!("queue {queue}: {line}"));
        Status {
            cycle: self.cycle.max(other.cycle),
            announced: self.announced + other.announced,
            queued: self.queued + other.queued,
            commands: std::array::from_fn(|at| self.commands[at] + other.commands[at]),
            credits: self.credits + other.credits,
            pages: self.pages + other.pages,
            completions: self.completions + other.completions,
            flights: self.flights + other.flights,
            running: self.running,
            launches: self.launches,
            actors: label(0, self.actors).chain(label(1, other.actors)).collect(),
            fetch_states: std::array::from_fn(|at| self.fetch_states[at] + other.fetch_states[at]),
        }
    }
}

impl World {
    /// A finding with its queue.
    pub fn named(&self, finding: &Finding) -> Finding {
        Finding { queue: finding.queue.or(self.queue), ..finding.clone() }
    }

    /// Hands memory, workers and the random state to the other queue.
    fn hand_to(&mut self, other: &mut World) {
        std::mem::swap(&mut self.memory, &mut other.memory);
        std::mem::swap(&mut self.workers, &mut other.workers);
        std::mem::swap(&mut self.dice, &mut other.dice);
        std::mem::swap(&mut self.registers, &mut other.registers);
    }
}

impl Machine {
    /// Makes a queue take over the board.
    fn switch(&mut self) {
        let Some(second) = &mut self.second else { return };
        self.world.borrow_mut().hand_to(&mut second.world.borrow_mut());
        std::mem::swap(&mut self.world, &mut second.world);
        std::mem::swap(&mut self.kernels, &mut second.kernels);
    }

    /// Selects the queue that the host addresses, 0 or 1.
    fn choose(&mut self, queue: u8) {
        if self.second.is_none() {
            return;
        }
        if self.world.borrow().queue != Some(queue) {
            self.switch();
        }
        if let Some(second) = &self.second {
            self.world.borrow_mut().ledger.taken_of_other = second.world.borrow().ledger.taken_records;
        }
    }

    /// The host addresses a tile: selects the queue that owns this core.
    #[inline]
    pub(super) fn choose_for(&mut self, xy: Xy) {
        if let Some(second) = &self.second {
            let world = second.world.borrow();
            let theirs = [world.chip.prefetch(), world.chip.dispatch()].map(|core| world.chip.xy(core)).contains(&xy);
            let queue = if theirs { world.queue } else { self.world.borrow().queue };
            drop(world);
            self.choose(queue.unwrap_or(0));
        }
    }

    /// The host addresses pinned memory: selects the queue that owns it.
    #[inline]
    pub(super) fn choose_for_host(&mut self, id: u32) {
        if let Some(second) = &self.second {
            let (own, world) = (self.world.borrow(), second.world.borrow());
            let place =
                u8::try_from(id).ok().filter(|id| own.memory.host(*id).is_some()).map(|id| own.memory.host_noc(id));
            let queue = if place == Some(world.layout.sysmem.noc_base) { world.queue } else { own.queue };
            drop((own, world));
            self.choose(queue.unwrap_or(0));
        }
    }

    /// Queries the state of each queue, first one first: each holds the board meanwhile.
    pub(super) fn all<T>(&self, ask: impl Fn(&World) -> T) -> Vec<T> {
        let own = ask(&self.world.borrow());
        let Some(second) = &self.second else { return vec![own] };
        let (mut first, mut other) = (self.world.borrow_mut(), second.world.borrow_mut());
        first.hand_to(&mut other);
        let asked = ask(&other);
        other.hand_to(&mut first);
        if first.queue == Some(0) { vec![own, asked] } else { vec![asked, own] }
    }

    /// Applies an action to the state of each queue.
    pub(super) fn each(&self, act: impl Fn(&mut World)) {
        let mut own = self.world.borrow_mut();
        act(&mut own);
        if let Some(second) = &self.second {
            let mut other = second.world.borrow_mut();
            own.hand_to(&mut other);
            act(&mut other);
            other.hand_to(&mut own);
        }
    }

    /// Bytes of the other queue's cores may have changed: it checks its wait conditions.
    pub(super) fn stir(&mut self) {
        let mut own = self.world.borrow_mut();
        if std::mem::take(&mut own.stirs)
            && let Some(second) = &self.second
        {
            let mut other = second.world.borrow_mut();
            (other.touched, other.now) = (ALL_ACTORS, other.now.max(own.now));
        }
    }

    /// Whether the machine has stopped at a finding.
    pub(super) fn is_stopped(&self) -> bool {
        let other = self.second.as_ref().is_some_and(|second| second.world.borrow().ledger.stopped());
        other || self.world.borrow().ledger.stopped()
    }

    /// Whether all actors have finished.
    pub(super) fn is_idle(&self) -> bool {
        self.all(all_idle).into_iter().all(|idle| idle)
    }

    /// Lets time pass for both queues. In a cycle in which both proceed, the first one does so first.
    #[cold]
    pub(super) fn run_both(&mut self, until: u64) {
        while !self.is_stopped() {
            let Some(second) = &self.second else { return };
            let (own, other) = (self.world.borrow().due(), second.world.borrow().due());
            let first = self.world.borrow().queue == Some(0);
            if own.min(other) > until || own.min(other) == NEVER {
                for world in [&self.world, &second.world] {
                    let mut world = world.borrow_mut();
                    world.now = world.now.max(until);
                }
                break;
            }
            if other < own || (other == own && !first) {
                self.switch();
                continue;
            }
            // Up to the next activity of the other one.
            self.run_one(until.min(if first { other } else { other - 1 }));
            self.stir();
        }
        if self.next_event().is_none() {
            self.each(World::judge_at_rest);
            self.judge_between();
        }
    }

    /// The interactions of the two queues so far.
    pub(super) fn between(&self) -> Option<Between> {
        let second = self.second.as_ref()?;
        let (mut own, mut other) = (self.world.borrow_mut(), second.world.borrow_mut());
        let first = own.queue == Some(0);
        let (own, other) = (own.order()?, other.order()?);
        Some(Between::of(if first { [own, other] } else { [other, own] }))
    }

    /// Reports unordered interactions of the two queues.
    pub(super) fn judge_between(&mut self) {
        let Some(second) = &mut self.second else { return };
        let steps = |world: &Rc<RefCell<World>>| world.borrow_mut().order().map_or(0, |order| order.len());
        let all = steps(&self.world) + steps(&second.world);
        if std::mem::replace(&mut second.judged, all) == all {
            return;
        }
        for finding in self.between().map(|between| between.races).unwrap_or_default() {
            let mut world = self.world.borrow_mut();
            if !world.ledger.findings.iter().any(|known| known.message == finding.message)
                && world.ledger.wants(finding.hazard)
            {
                let cycle = world.now;
                world.ledger.add(Finding { cycle, ..finding });
            }
        }
    }

    /// The wait relations when nothing happens any more.
    pub(super) fn diagnosis(&self) -> Finding {
        let Some(between) = self.between() else { return diagnose(&self.world.borrow()) };
        let all = self.all(|world| (all_idle(world), diagnose(world)));
        let lines: Vec<String> = self.status().actors;
        let stuck = between.stuck.map(|finding| Finding { cycle: self.now_cycles(), ..finding });
        let busy = || all.iter().find(|(idle, _)| !idle).or(all.first()).map(|(_, finding)| finding.clone());
        let finding = stuck.or_else(busy);
        let finding = finding.unwrap_or_else(|| diagnose(&self.world.borrow()));
        Finding { notes: lines, ..finding }
    }
}
