//! The order created by synchronisation.

use std::collections::VecDeque;

use slipring_machine::{Pipe, Question};
use slipring_program::{SiteRef, SyncRole};
use slipring_sim::{Agent, Issued, Launch};

use crate::clock::Clock;
use crate::notes::Notes;
use crate::token::Token;

/// A point in an agent's execution: everything it did up to this epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub lane: usize,
    pub epoch: u32,
    pub site: SiteRef,
}

/// A scalar unit or pipe.
#[derive(Clone, Debug)]
struct Unit {
    /// What is complete before the next step of the agent starts. The agent's own component: on a pipe that keeps its
    /// work in order the current epoch, since a step always follows the previous one; on another pipe the last epoch
    /// closed by a barrier or a signal.
    clock: Clock,
    /// The current epoch.
    epoch: u32,
    /// Later work of the pipe may overtake earlier work, in some memory.
    unordered: bool,
    /// For each queued step: its index among the steps of the core, and whether the scalar unit learnt anything since
    /// it issued the previous step there.
    issued: VecDeque<(u32, bool)>,
    /// Index of the current step.
    number: u32,
    /// The scalar unit's clock, for the steps marked so.
    news: VecDeque<Clock>,
    /// Steps since the pipe was last found empty, including the current one.
    since_empty: u32,
    /// Version of the scalar unit's clock when it last issued a step here.
    seen: u64,
    /// Deferred releases that wait for the steps so far.
    marks: VecDeque<Mark>,
}

/// A deferred release of a token waits for the steps of a pipe up to this index.
#[derive(Clone, Copy, Debug)]
struct Mark {
    last: u32,
    sync: u32,
    release: u32,
}

/// A synchronisation object of a cluster.
#[derive(Clone, Debug, Default)]
struct Object {
    /// The knowledge of the senders of the unconsumed signals.
    signals: VecDeque<Clock>,
    last_set: Option<Moment>,
    last_wait: Option<Moment>,
    /// Signals sent so far.
    sets: u64,
    /// Waits not yet needed by a later set for its capacity, and the number of waits before them.
    waits: VecDeque<Taken>,
    dropped: u64,
    /// Sets whose signals had capacity because a wait not yet reported was ready for the previous one.
    owed: VecDeque<Owed>,
    /// Waits so far.
    taken: u64,
}

/// A consumed signal.
#[derive(Clone, Copy, Debug)]
struct Taken {
    at: Moment,
    /// Index of the wait among the steps of its core.
    number: u32,
    /// True if nothing preceded it on its pipe since the scalar unit last found all pipes empty.
    first: bool,
}

impl Taken {
    /// True if the wait was on an empty pipe before the set with this index was issued on the same core: it then
    /// consumed its signal as soon as that arrived.
    fn stood_ready(&self, lane: usize, number: u32) -> bool {
        let one_core = self.at.lane / Pipe::COUNT == lane / Pipe::COUNT;
        one_core && self.number < number && self.first
    }
}

/// A set that requires the wait with index `wait` to have consumed its signal before.
#[derive(Clone, Copy, Debug)]
struct Owed {
    wait: u64,
    at: Moment,
    /// Index of the set among the steps of its core.
    number: u32,
}

/// What a set or wait implies about other schedules.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Doubt {
    /// Unordered with the other set: which of them a wait consumes depends on the schedule.
    Setters(Moment),
    /// Unordered with the other wait: which of them receives a signal depends on the schedule.
    Waiters(Moment),
    /// A set is unordered with the wait that should have freed its capacity.
    Capacity {
        #[allow(missing_docs)]
        set: Moment,
        wait: Moment,
    },
    /// As `Capacity`, except for a wait that was on an empty pipe when the set was issued.
    LateWait {
        #[allow(missing_docs)]
        set: Moment,
        wait: Moment,
    },
    /// The signal was lost.
    Lost,
}

impl Doubt {
    /// A set that nothing orders after the wait that should have freed its capacity, which may have been ready.
    fn capacity(stood: bool, set: Moment, wait: Moment) -> Doubt {
        if stood { Doubt::LateWait { set, wait } } else { Doubt::Capacity { set, wait } }
    }
}

/// The order of everything that has happened so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// The pipes whose later work may overtake earlier work, in some memory.
    unordered: [bool; Pipe::COUNT],
    /// By [`Agent::index`].
    units: Vec<Unit>,
    /// Version counters of the knowledge of each core's scalar unit: cluster × 3 + core.
    versions: Vec<u64>,
    /// Whether each core's scalar unit touched memory in its current epoch.
    touched: Vec<bool>,
    /// Steps that each core has issued.
    steps: Vec<u32>,
    /// Cluster × objects + index.
    objects: Vec<Object>,
    /// The buffer tokens, likewise; idle for other objects.
    tokens: Vec<Token>,
    per_cluster: usize,
    is_token: Vec<bool>,
    /// Later releases for which the next issued acquire waits.
    later: Vec<(usize, u32)>,
    max: Vec<u64>,
}

impl Order {
    /// An empty order; the platform determines which pipes keep their work in order, with `other` answered by the
    /// alternative interpretation, if given.
    pub fn new(launch: &Launch<'_>, other: Option<&Question>) -> Order {
        let clusters = launch.clusters() as usize;
        let syncs = &launch.program.syncs;
        let mut order = Order {
            unordered: Pipe::ALL.map(|pipe| launch.platform.needs_barrier_with(pipe, other)),
            units: Vec::new(),
            versions: vec![0; clusters * 3],
            touched: vec![false; clusters * 3],
            steps: vec![0; clusters * 3],
            objects: Vec::new(),
            tokens: vec![Token::default(); clusters * syncs.len()],
            per_cluster: syncs.len(),
            is_token: syncs
                .iter()
                .map(|s| matches!(s.role, SyncRole::Token { .. } | SyncRole::UnitFlag { .. }))
                .collect(),
            later: Vec::new(),
            max: syncs.iter().map(|s| u64::from(s.max.max(1))).collect(),
        };
        for _ in 0..clusters {
            order.units.extend((0..Agent::PER_CLUSTER).map(|lane| Unit::new(lane, &order.unordered)));
            for _ in syncs {
                // Signals of an earlier launch carry no knowledge about this one.
                let sets = launch.counters.get(order.objects.len()).map_or(0, |left| *left);
                let sets = sets.min(order.max[order.objects.len() % syncs.len()]);
                let signals = (0..sets).map(|_| Clock::default()).collect();
                order.objects.push(Object { signals, sets, ..Object::default() });
            }
        }
        order
    }

    /// A block starts on a cluster: nothing that happened there before matters.
    pub fn restart(&mut self, cluster: u32) {
        let cluster = cluster as usize;
        for lane in 0..Agent::PER_CLUSTER {
            self.units[cluster * Agent::PER_CLUSTER + lane] = Unit::new(lane, &self.unordered);
        }
        for index in 0..self.per_cluster {
            self.objects[cluster * self.per_cluster + index] = Object::default();
            self.tokens[cluster * self.per_cluster + index] = Token::default();
        }
        self.versions[cluster * 3..cluster * 3 + 3].fill(0);
        self.touched[cluster * 3..cluster * 3 + 3].fill(false);
    }

    /// What is complete before the current step of an agent.
    pub fn clock(&self, agent: Agent) -> &Clock {
        &self.units[agent.index()].clock
    }

    /// For a pipe that overlaps its own work in some memories, the clock for the other memories: all its earlier work
    /// is complete as well.
    pub fn clock_in_order(&self, agent: Agent) -> Option<Clock> {
        let unit = &self.units[agent.index()];
        if !unit.unordered {
            return None;
        }
        let mut clock = unit.clock;
        clock.set(agent.lane(), u32::MAX);
        Some(clock)
    }

    /// The current epoch of an agent.
    pub fn epoch(&self, agent: Agent) -> u32 {
        self.units[agent.index()].epoch
    }

    /// Index of an agent's current step among the steps of its core, in program order.
    pub fn number(&self, agent: Agent) -> u32 {
        self.units[agent.index()].number
    }

    fn core(agent: Agent) -> usize {
        agent.cluster as usize * 3 + agent.role.index()
    }

    /// An agent is about to touch memory.
    pub fn touch(&mut self, agent: Agent) {
        if agent.pipe == Pipe::S {
            self.touched[Order::core(agent)] = true;
        }
        let unit = &mut self.units[agent.index()];
        if unit.unordered {
            // Each work item has its own epoch, which distinguishes it from earlier work of the pipe.
            unit.epoch += 1;
        }
    }

    /// The next issued acquire waits for these later releases.
    pub fn hold(&mut self, to: Agent, later: &[(Pipe, u32)]) {
        self.later.clear();
        self.later.extend(later.iter().map(|(pipe, number)| (Agent { pipe: *pipe, ..to }.lane(), *number)));
    }

    /// The scalar unit issues a step to a pipe: the step comes after everything that the scalar unit has done.
    pub fn issue(&mut self, to: Agent, step: Issued) {
        let core = Order::core(to);
        self.steps[core] = self.steps[core].wrapping_add(1);
        let number = self.steps[core];
        if to.pipe == Pipe::S {
            self.units[to.index()].number = number;
            return;
        }
        match step {
            Issued::Wait(sync) if self.is_token[sync as usize] => {
                let later = std::mem::take(&mut self.later);
                self.token(to, sync).issue_acquire(to.lane(), later);
            }
            Issued::Release { token: sync, deferred, after } => {
                let release = self.token(to, sync).issue_release(to.lane(), deferred);
                for pipe in after.iter() {
                    let unit = &mut self.units[Agent { pipe, ..to }.index()];
                    let last = unit.issued.back().map_or(unit.number, |(number, _)| *number);
                    unit.marks.push_back(Mark { last, sync, release });
                }
            }
            _ => {}
        }
        let scalar = to.scalar().index();
        let version = self.versions[core];
        let unit = &mut self.units[to.index()];
        let news = self.touched[core] || unit.seen != version;
        unit.issued.push_back((number, news));
        if !news {
            return;
        }
        let clock = self.units[scalar].release(Pipe::S.index() + to.role.index() * Pipe::COUNT);
        if std::mem::take(&mut self.touched[core]) {
            self.versions[core] += 1;
        }
        let unit = &mut self.units[to.index()];
        unit.news.push_back(clock);
        unit.seen = self.versions[core];
    }

    /// A pipe starts (or ends, for waits) the step at the head of its queue.
    pub fn begin(&mut self, agent: Agent) {
        if agent.pipe == Pipe::S {
            return;
        }
        let Some((number, news)) = self.units[agent.index()].issued.pop_front() else { return };
        self.close_marks(agent, |mark| mark.last < number);
        let unit = &mut self.units[agent.index()];
        unit.number = number;
        unit.since_empty = unit.since_empty.saturating_add(1);
        if news && let Some(clock) = unit.news.pop_front() {
            unit.clock.join(&clock);
        }
    }

    fn token(&mut self, agent: Agent, sync: u32) -> &mut Token {
        &mut self.tokens[agent.cluster as usize * self.per_cluster + sync as usize]
    }

    /// The work of a pipe for which deferred releases wait is complete, for the oldest of those that `is_over` accepts.
    fn close_marks(&mut self, agent: Agent, is_over: impl Fn(&Mark) -> bool) {
        while let Some(mark) = self.units[agent.index()].marks.front().copied().filter(&is_over) {
            let unit = &mut self.units[agent.index()];
            unit.marks.pop_front();
            let clock = unit.release(agent.lane());
            self.token(agent, mark.sync).add(mark.release, &clock);
        }
    }

    /// A pipe's release of a token is complete.
    fn release(&mut self, agent: Agent, sync: u32) {
        let Some(number) = self.token(agent, sync).oldest(agent.lane()) else { return };
        for pipe in Pipe::ALL {
            self.close_marks(Agent { pipe, ..agent }, |mark| (mark.sync, mark.release) == (sync, number));
        }
        let clock = self.units[agent.index()].release(agent.lane());
        if let Some(learnt) = self.token(agent, sync).release(number, clock) {
            self.units[agent.index()].clock.join(&learnt);
        }
    }

    /// An agent sends a signal.
    ///
    /// [`Order::begin`] has been called for it.
    pub fn set(&mut self, agent: Agent, sync: u32, lost: bool, site: SiteRef) -> [Option<Doubt>; 2] {
        if self.is_token[sync as usize] {
            self.release(agent, sync);
            return [None, None];
        }
        if agent.pipe == Pipe::S {
            // Later steps of the core come after this signal: two of them may send the same one.
            self.touched[Order::core(agent)] = true;
        }
        let lane = agent.lane();
        let unit = &mut self.units[agent.index()];
        if lost {
            unit.release(lane);
            return [Some(Doubt::Lost), None];
        }
        let (now, number) = (Moment { lane, epoch: unit.epoch, site }, unit.number);
        let object = &mut self.objects[agent.cluster as usize * self.per_cluster + sync as usize];
        let clock = &unit.clock;
        let known = |moment: &Moment| moment.lane == lane || clock.get(moment.lane) >= moment.epoch;
        let setters = object.last_set.filter(|last| !known(last)).map(Doubt::Setters);
        object.last_set = Some(now);
        let mut capacity = None;
        if object.sets >= self.max[sync as usize] {
            // The wait with this index freed the capacity. A wait that is not over yet cannot have.
            let made = object.sets - self.max[sync as usize];
            while object.dropped < made && object.waits.pop_front().is_some() {
                object.dropped += 1;
            }
            match if object.dropped == made { object.waits.pop_front() } else { None } {
                Some(wait) => {
                    object.dropped += 1;
                    let stood = wait.stood_ready(lane, number);
                    capacity = (!known(&wait.at)).then(|| Doubt::capacity(stood, now, wait.at));
                }
                None => object.owed.push_back(Owed { wait: made, at: now, number }),
            }
        }
        object.sets += 1;
        object.signals.push_back(unit.release(lane));
        [setters, capacity]
    }

    /// A wait is over: the agent gains the sender's knowledge.
    pub fn wait(&mut self, agent: Agent, sync: u32, site: SiteRef) -> [Option<Doubt>; 2] {
        self.begin(agent);
        let lane = agent.lane();
        if self.is_token[sync as usize] {
            let clock = self.token(agent, sync).acquire(lane);
            self.units[agent.index()].clock.join(&clock);
            return [None, None];
        }
        let object = &mut self.objects[agent.cluster as usize * self.per_cluster + sync as usize];
        let unit = &mut self.units[agent.index()];
        let clock = &unit.clock;
        let known = |moment: &Moment| moment.lane == lane || clock.get(moment.lane) >= moment.epoch;
        let doubt = object.last_wait.filter(|last| !known(last)).map(Doubt::Waiters);
        if let Some(signal) = object.signals.pop_front() {
            unit.clock.join(&signal);
        }
        let now = Moment { lane, epoch: unit.epoch, site };
        object.last_wait = Some(now);
        let taken = Taken { at: now, number: unit.number, first: unit.since_empty == 1 };
        let owed = object.owed.pop_front_if(|owed| owed.wait == object.taken);
        let capacity = owed.map(|set| Doubt::capacity(taken.stood_ready(set.at.lane, set.number), set.at, now));
        object.taken += 1;
        object.waits.push_back(taken);
        if agent.pipe == Pipe::S {
            self.versions[Order::core(agent)] += 1;
        }
        [doubt, capacity]
    }

    /// A scalar unit passes its knowledge to others through a value in global memory.
    pub fn tell(&mut self, agent: Agent) -> Clock {
        self.touched[Order::core(agent)] = true;
        self.units[agent.index()].release(agent.lane())
    }

    /// A scalar unit gains knowledge from a value in global memory: returns the first epoch in which it has it.
    pub fn learn(&mut self, agent: Agent, clock: Option<&Clock>) -> u32 {
        let unit = &mut self.units[agent.index()];
        clock.into_iter().for_each(|clock| unit.clock.join(clock));
        unit.release(agent.lane());
        self.versions[Order::core(agent)] += 1;
        unit.epoch
    }

    /// A barrier of a pipe, or of all pipes of a core if the agent is the scalar unit.
    pub fn barrier(&mut self, agent: Agent) {
        if agent.pipe != Pipe::S {
            self.begin(agent);
            let unit = &mut self.units[agent.index()];
            let lane = agent.lane();
            unit.clock.set(lane, unit.epoch);
            unit.release(lane);
            return;
        }
        let scalar = agent.index();
        for pipe in Pipe::ALL.into_iter().filter(|p| *p != Pipe::S) {
            let other = Agent { pipe, ..agent };
            let unit = &mut self.units[other.index()];
            unit.since_empty = 0;
            let clock = unit.release(other.lane());
            self.units[scalar].clock.join(&clock);
        }
        self.versions[Order::core(agent)] += 1;
    }
}

/// The part of the order that matters later.
impl Order {
    /// Serialises it.
    pub fn note(&self, notes: &mut Notes) {
        for (agent, unit) in self.units.iter().enumerate() {
            let (cluster, core) = (agent / Agent::PER_CLUSTER, agent / Pipe::COUNT);
            notes.clock(cluster, &unit.clock);
            notes.epoch(agent, unit.epoch);
            notes.number(core, unit.number);
            notes.word(u64::from(unit.since_empty.min(2)));
            notes.word(u64::from(self.versions[core] != unit.seen));
            notes.word(unit.issued.len() as u64);
            for (number, news) in &unit.issued {
                notes.number(core, *number);
                notes.word(u64::from(*news));
            }
            unit.news.iter().for_each(|clock| notes.clock(cluster, clock));
            notes.word(unit.marks.len() as u64);
            for mark in &unit.marks {
                notes.number(core, mark.last);
                notes.word(u64::from(mark.sync));
                let token = &self.tokens[cluster * self.per_cluster + mark.sync as usize];
                notes.word(u64::from(mark.release.wrapping_sub(token.first())));
            }
        }
        self.touched.iter().for_each(|touched| notes.word(u64::from(*touched)));
        for (at, object) in self.objects.iter().enumerate() {
            self.note_object(at / self.per_cluster, self.max[at % self.per_cluster], object, notes);
        }
        for (at, token) in self.tokens.iter().enumerate() {
            token.note(at / self.per_cluster, notes);
        }
    }

    fn note_object(&self, cluster: usize, max: u64, object: &Object, notes: &mut Notes) {
        let moment = |notes: &mut Notes, moment: &Moment| {
            notes.word(moment.lane as u64);
            notes.epoch(cluster * Agent::PER_CLUSTER + moment.lane, moment.epoch);
            notes.site(moment.site);
        };
        let core = |moment: &Moment| cluster * 3 + moment.lane / Pipe::COUNT;
        notes.word(object.signals.len() as u64);
        object.signals.iter().for_each(|clock| notes.clock(cluster, clock));
        for last in [&object.last_set, &object.last_wait] {
            notes.word(u64::from(last.is_some()));
            last.iter().for_each(|last| moment(notes, last));
        }
        // Whether a set needs capacity, which wait it needs, and how many waits are to come.
        notes.word(object.sets.min(max));
        notes.word(object.sets.wrapping_sub(object.dropped));
        notes.word(object.sets.wrapping_sub(object.taken));
        notes.word(object.waits.len() as u64);
        for wait in &object.waits {
            moment(notes, &wait.at);
            notes.number(core(&wait.at), wait.number);
            notes.word(u64::from(wait.first));
        }
        notes.word(object.owed.len() as u64);
        for owed in &object.owed {
            notes.word(object.taken.wrapping_sub(owed.wait));
            moment(notes, &owed.at);
            notes.number(core(&owed.at), owed.number);
        }
    }
}

impl Unit {
    fn new(lane: usize, unordered: &[bool; Pipe::COUNT]) -> Unit {
        let unordered = unordered[lane % Pipe::COUNT];
        let mut clock = Clock::default();
        if !unordered {
            clock.set(lane, 1);
        }
        Unit {
            clock,
            epoch: 1,
            unordered,
            issued: VecDeque::new(),
            number: 0,
            since_empty: 0,
            news: VecDeque::new(),
            seen: 0,
            marks: VecDeque::new(),
        }
    }

    /// Ends the epoch and returns what is complete with it.
    fn release(&mut self, lane: usize) -> Clock {
        let mut clock = self.clock;
        clock.set(lane, self.epoch);
        self.epoch += 1;
        if !self.unordered {
            self.clock.set(lane, self.epoch);
        }
        clock
    }
}
