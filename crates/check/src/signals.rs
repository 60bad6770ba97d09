//! The order created by values in global memory: signals that cores of one launch change and wait for.
//!
//! In every schedule a wait ends only after the changes without which it could not end. If values only grow and waits
//! require at least a given value, these are all changes without which, and without those ordered after them, the sum
//! would not be reached. Other signals create order if their changes are themselves ordered: a wait then comes after
//! the first change that satisfies it. A later change that is not ordered after the wait may have ended it in another
//! schedule: if the conclusion does not hold with that change, the run covers its own schedule only.

use std::collections::BTreeMap;
use std::rc::Rc;

use slipring_program::{Memory, SignalUse, gm_split};
use slipring_sim::{Agent, WorkRun};

use crate::clock::Clock;
use crate::order::Order;

/// For each block, what is known to be complete.
type Known = BTreeMap<u32, Clock>;

/// A change of a signal.
#[derive(Clone, Debug)]
struct Change {
    block: u32,
    lane: usize,
    /// Its epoch.
    epoch: u32,
    what: SignalUse,
    known: Rc<Known>,
}

impl Change {
    fn is_in(&self, known: &Known) -> bool {
        known.get(&self.block).is_some_and(|clock| clock.get(self.lane) >= self.epoch)
    }
}

/// A completed wait.
#[derive(Clone, Debug)]
struct Over {
    block: u32,
    lane: usize,
    /// The first epoch after it.
    epoch: u32,
    wanted: SignalUse,
    /// The changes that it is inferred to follow: their indices in the list.
    behind: Vec<usize>,
}

/// A signal.
#[derive(Clone, Debug, Default)]
struct Number {
    changes: Vec<Change>,
    waits: Vec<Over>,
}

/// Knowledge gained by a scalar unit from a wait: it has it from this epoch on.
#[derive(Clone, Debug)]
struct Lesson {
    lane: usize,
    epoch: u32,
    known: Rc<Known>,
}

/// The signals of a launch, and the knowledge gained from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    /// Global memory before the launch.
    before: Vec<Vec<u8>>,
    /// Buffers whose signals others change: nothing is inferred from these.
    outside: Vec<bool>,
    numbers: BTreeMap<u64, Number>,
    /// The last read of each core, by block and lane.
    looks: BTreeMap<(u32, usize), (u64, SignalUse)>,
    /// By block, in order of arrival.
    lessons: BTreeMap<u32, Vec<Lesson>>,
}

impl Signals {
    /// Nothing is inferred from the signals in some buffers: true for those.
    pub fn without(outside: Vec<bool>) -> Signals {
        Signals { outside, ..Signals::default() }
    }

    /// Records the values of signals before the launch.
    pub fn arm(&mut self, memory: &Memory) {
        self.before = memory.gm.iter().map(|buffer| buffer.data.to_vec()).collect();
    }

    fn start_of(&self, address: u64) -> i64 {
        let place = gm_split(address).and_then(|(buffer, offset)| {
            let at = usize::try_from(offset).ok()?;
            self.before.get(buffer)?.get(at..at + 4)?.try_into().ok()
        });
        place.map_or(0, |bytes| i64::from(i32::from_le_bytes(bytes)))
    }

    /// The knowledge of an agent with this clock about all blocks.
    fn known(&self, agent: Agent, clock: &Clock) -> Known {
        let mut all = Known::new();
        for lesson in self.lessons.get(&agent.block).into_iter().flatten() {
            if clock.get(lesson.lane) >= lesson.epoch {
                for (block, known) in lesson.known.iter() {
                    all.entry(*block).or_default().join(known);
                }
            }
        }
        all.entry(agent.block).or_default().join(clock);
        all
    }

    /// True if the epoch of lane `lane` of `block` is complete for an agent of another block with this clock.
    pub fn orders(&self, block: u32, (lane, epoch): (usize, u32), agent: Agent, clock: &Clock) -> bool {
        let lessons = self.lessons.get(&agent.block).into_iter().flatten().rev();
        let mut heard = lessons.filter(|lesson| clock.get(lesson.lane) >= lesson.epoch);
        heard.any(|lesson| lesson.known.get(&block).is_some_and(|clock| clock.get(lane) >= epoch))
    }

    /// A scalar unit changes or reads a signal. Returns why the run may not cover other schedules, if so.
    pub fn step(&mut self, run: &WorkRun<'_>, what: SignalUse, order: &mut Order) -> Option<String> {
        let address = run.access.reads.first().or(run.access.writes.first())?.start;
        if gm_split(address).is_some_and(|(buffer, _)| self.outside.get(buffer).copied().unwrap_or(false)) {
            return None;
        }
        let (agent, lane) = (run.agent, run.agent.lane());
        if let SignalUse::Await { .. } = what {
            self.looks.insert((agent.block, lane), (address, what));
            return None;
        }
        let epoch = order.epoch(agent);
        let known = Rc::new(self.known(agent, &order.tell(agent)));
        let start = self.start_of(address);
        let number = self.numbers.entry(address).or_default();
        number.changes.push(Change { block: agent.block, lane, epoch, what, known });
        let stands = number.waits.iter().all(|wait| number.stands(start, wait));
        (!stands).then(|| doubt(agent))
    }

    /// The value that a core read satisfies its condition.
    pub fn awaited(&mut self, agent: Agent, order: &mut Order) -> Option<String> {
        let lane = agent.lane();
        let (address, wanted) = self.looks.remove(&(agent.block, lane))?;
        let mut known = self.known(agent, order.clock(agent));
        let start = self.start_of(address);
        let number = self.numbers.entry(address).or_default();
        let behind = number.behind(start, wanted, &known);
        for change in behind.iter().flatten() {
            for (block, clock) in number.changes[*change].known.iter() {
                known.entry(*block).or_default().join(clock);
            }
        }
        let epoch = order.learn(agent, known.get(&agent.block));
        let doubtful = behind.is_none();
        let wait = Over { block: agent.block, lane, epoch, wanted, behind: behind.unwrap_or_default() };
        number.waits.push(wait);
        self.lessons.entry(agent.block).or_default().push(Lesson { lane, epoch, known: Rc::new(known) });
        doubtful.then(|| doubt(agent))
    }
}

fn doubt(agent: Agent) -> String {
    format!("in another schedule other changes may end the wait of {agent} for a number in global memory")
}

impl Number {
    /// The unknown changes that a just completed wait follows; `None` if that depends on the schedule.
    fn behind(&self, start: i64, wanted: SignalUse, known: &Known) -> Option<Vec<usize>> {
        let open: Vec<usize> = (0..self.changes.len()).filter(|at| !self.changes[*at].is_in(known)).collect();
        if self.grows(wanted) {
            return Some(open.into_iter().filter(|at| self.needs(start, wanted, *at, |_| true)).collect());
        }
        let adds = self.changes.iter().all(|change| matches!(change.what, SignalUse::Add(1..)));
        let sum: i64 = self.changes.iter().map(|change| amount(change.what)).sum();
        if let (true, SignalUse::Await { expected, at_least: false }) = (adds, wanted)
            && start + sum == i64::from(expected)
        {
            // Only all of them together give the value.
            return Some(open);
        }
        // Each knows the previous one: they have the same order in every schedule.
        let in_order = self.changes.windows(2).all(|pair| pair[0].is_in(&pair[1].known));
        if !in_order {
            return None;
        }
        let mut value = start;
        let mut holds = vec![wanted.holds(start)];
        for change in &self.changes {
            value = match change.what {
                SignalUse::Set(number) => number.into(),
                SignalUse::Add(number) => value + i64::from(number),
                SignalUse::Await { .. } => value,
            };
            holds.push(wanted.holds(value));
        }
        // The values it may see: those from the last known change on. The first that ends the wait must stay the first.
        let from = self.changes.len() - open.len();
        let first = (from..holds.len()).find(|at| holds[*at])?;
        holds[first..].iter().all(|holds| *holds).then(|| open.into_iter().filter(|at| *at < first).collect())
    }

    /// True if the value only grows and the wait requires at least a given value.
    fn grows(&self, wanted: SignalUse) -> bool {
        let adds = |change: &Change| matches!(change.what, SignalUse::Add(number) if number >= 0);
        matches!(wanted, SignalUse::Await { at_least: true, .. }) && self.changes.iter().all(adds)
    }

    /// True if a wait that requires at least a given value cannot end without a change and those ordered after it,
    /// whichever of the others that `may` precede it do.
    fn needs(&self, start: i64, wanted: SignalUse, change: usize, may: impl Fn(&Change) -> bool) -> bool {
        let own = &self.changes[change];
        let others = self.changes.iter().enumerate().filter(|(at, other)| *at != change && !own.is_in(&other.known));
        let sum: i64 = others.filter(|(_, other)| may(other)).map(|(_, other)| amount(other.what)).sum();
        !wanted.holds(start + sum)
    }

    /// True if the inference for a wait still holds with the last change.
    fn stands(&self, start: i64, wait: &Over) -> bool {
        let Some(last) = self.changes.last() else { return true };
        let after =
            |change: &Change| change.known.get(&wait.block).is_some_and(|clock| clock.get(wait.lane) >= wait.epoch);
        if after(last) {
            return true;
        }
        if !self.grows(wait.wanted) {
            return false;
        }
        wait.behind.iter().all(|at| self.needs(start, wait.wanted, *at, |other| !after(other)))
    }
}

fn amount(what: SignalUse) -> i64 {
    if let SignalUse::Add(number) = what { number.into() } else { 0 }
}
