//! Unordered accesses.

use std::collections::BTreeSet;

use slipring_machine::interpretations::{LATE_WAITS, UNORDERED_MOVES};
use slipring_machine::{Pipe, Question, Role};
use slipring_program::{Extent, Finding, Kind, Memory, Party, Severity, SiteRef, SyncRole, Words};
use slipring_sim::{Agent, CutPoint, ExecutionMode, Issued, Launch, Observer, WorkRun};
use slipring_tile::Space;

use crate::answers::Answers;
use crate::blind::Blind;
use crate::cell::{Leans, Stamp, Touch};
use crate::edge::missing_edge;
use crate::freed::Freed;
use crate::init::no_memory;
use crate::marking::Marking;
use crate::order::{Doubt, Moment, Order};
use crate::overlap;
use crate::places::{LaunchMemory, Names, PerPlace, bytes};
use crate::pushes::Pushes;
use crate::queues::Queues;
use crate::shadow::Shadow;
use crate::signals::Signals;

mod inner;
mod standing;

/// Finds pairs of accesses to the same byte, at least one of them a write, that no synchronisation orders.
///
/// Watches a run in [`ExecutionMode::Pipes`]; in sequential mode there is nothing to find. Each pair of locations in
/// the text is reported once, with the bytes of its first occurrence.
#[derive(Debug, Default)]
pub struct Race {
    order: Order,
    shadows: PerPlace<Shadow>,
    names: Names,
    pushes: Pushes,
    /// Freed slots.
    freed: Freed,
    answers: Answers,
    /// Whether it also checks the case that moves of one pipe may overtake each other.
    otherwise: bool,
    asks_otherwise: bool,
    /// The first race that exists only in that case.
    instead: Option<Finding>,
    /// Memories in which pipes overlap their own work.
    overlapping: Vec<(Pipe, Space)>,
    /// Reported pairs: the sites, and whether each is a write.
    seen: BTreeSet<(SiteRef, SiteRef, bool, bool)>,
    findings: Vec<Finding>,
    /// Some accesses of one pipe are separated only by the pipe's own order.
    leans: bool,
    /// Questions that the run depends on and that no source decides.
    questions: Vec<&'static Question>,
    /// For each object, whether it is a buffer token.
    locks: Vec<bool>,
    /// Why the verdict does not cover all schedules, once for each object and reason.
    doubts: Vec<String>,
    /// Some of these concern signals: another schedule may send or consume them in another order.
    signals_compete: bool,
    /// Signals only: accesses are not compared.
    signals_only: bool,
    /// The cores that synchronise their pipes with buffer tokens.
    tokens: Vec<Role>,
    words: Words,
    doubted: BTreeSet<(u32, u8)>,
    /// Reported pairs of additions.
    sums: BTreeSet<(SiteRef, SiteRef)>,
    /// Reported pairs of workitems' accesses, and whether both wrote the same value.
    shared: BTreeSet<(SiteRef, SiteRef, bool)>,
    /// Accesses to buffers regardless of their addresses, if states are recorded.
    blind: Option<Blind>,
    /// Operations with overlapping operands.
    overlaps: BTreeSet<SiteRef>,
    /// Conflicts of the current access.
    open: Vec<Conflict>,
    /// Signals in global memory, if the program waits for any.
    signals: Option<Signals>,
    /// Buffers whose signals others change, too: the order they create is unknown here.
    outside: Vec<bool>,
    active: bool,
    /// Out of memory for the accesses.
    gave_up: bool,
}

/// An earlier access that conflicts with the current one, and the common bytes.
#[derive(Clone, Copy, Debug)]
struct Conflict {
    old: Stamp,
    write: bool,
    place: LaunchMemory,
    first: u64,
    end: u64,
}

/// One of two accesses that race.
struct Side {
    agent: Agent,
    site: SiteRef,
    write: bool,
}

impl Race {
    /// A fresh check.
    pub fn new() -> Race {
        Race::default()
    }

    /// A check of the signals only: who sends and consumes them, not what is accessed.
    pub fn of_signals() -> Race {
        Race { signals_only: true, ..Race::default() }
    }

    /// Adds the information that others change the signals in these buffers, too.
    pub(crate) fn with_outside(self, outside: Vec<bool>) -> Race {
        Race { outside, ..self }
    }

    /// The races found so far.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// True if some accesses of one pipe are separated only by the pipe's own order.
    pub fn leans_on_pipes(&self) -> bool {
        self.leans
    }

    /// Questions that the run depends on and that no source decides.
    pub fn questions(&self) -> &[&'static Question] {
        &self.questions
    }

    /// Also computes the result under the alternative answer of a question that the run may depend on.
    pub(crate) fn with_otherwise(self) -> Race {
        Race { asks_otherwise: true, ..self }
    }

    /// The question whose alternative answer was checked, and the first race that exists only under it.
    pub(crate) fn otherwise(&self) -> Option<(&'static Question, Option<&Finding>)> {
        self.otherwise.then_some((&UNORDERED_MOVES, self.instead.as_ref()))
    }

    fn leans_on(&mut self, question: &'static Question) {
        if !self.questions.contains(&question) {
            self.questions.push(question);
        }
    }

    /// Why the verdict does not cover all schedules; empty if it does.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// True if the senders or consumers of some signal depend on the schedule: the fate of the signals is established
    /// for this one only.
    pub fn signals_compete(&self) -> bool {
        self.signals_compete
    }

    /// The state at a cut point.
    pub(crate) fn marking(&self, meeting: &CutPoint<'_>, queues: &Queues) -> Marking {
        Marking::new(meeting, &self.order, &self.shadows, &self.freed, queues, self.blind.clone().unwrap_or_default())
    }

    /// Also checks buffers regardless of addresses.
    pub(crate) fn with_blind(self) -> Race {
        Race { blind: Some(Blind::default()), ..self }
    }

    /// Buffers whose accesses are not ordered at arbitrary addresses.
    pub(crate) fn racing_anywhere(&self) -> std::collections::BTreeSet<usize> {
        self.blind.as_ref().map_or_else(Default::default, |blind| blind.racing().clone())
    }

    /// The stamp of a read by an agent now.
    fn stamp(&self, agent: Agent, site: SiteRef) -> Stamp {
        Stamp {
            block: agent.block,
            lane: agent.lane() as u8,
            write: false,
            update: None,
            epoch: self.order.epoch(agent),
            site,
            number: self.order.number(agent),
        }
    }

    fn touch(&mut self, run: &WorkRun<'_>) {
        let agent = run.agent;
        let reads = self.stamp(agent, run.site);
        let (mut added, mut full, mut leans, mut alone) = (None, false, Leans::default(), None);
        let (strict, in_order) = (self.order.clock(agent), self.order.clock_in_order(agent));
        let asks = self.otherwise && self.instead.is_none() && agent.pipe.moves();
        let known = if asks { strict.get(agent.lane()) } else { u32::MAX };
        // The reads of this work replace earlier reads of its lane, which its writes must also come after.
        let passes =
            [(&run.access.writes, true, true), (&run.access.reads, false, false), (&run.access.writes, true, false)];
        for (ranges, write, ahead) in passes {
            for (index, range) in ranges.iter().enumerate() {
                // Reads of an update other than those of its own target are ordinary reads.
                let own = run.access.writes.first().is_some_and(|target| target.space == range.space);
                let own = own || run.access.update.is_none() || run.access.changes_signal();
                let update = run.access.change_of(write, index).filter(|_| own);
                let stamp = Stamp { write, update, ..reads };
                let (place, start) = LaunchMemory::of(range, agent.cluster);
                let overlapping = self.overlapping.contains(&(agent.pipe, range.space));
                let clock = in_order.as_ref().filter(|_| !overlapping).unwrap_or(strict);
                if let (Some(blind), LaunchMemory::Buffer(buffer), true) = (&mut self.blind, place, ahead || !write) {
                    blind.touch(buffer, write, agent, stamp.epoch, clock);
                }
                let matters = overlapping || !self.leans || agent.pipe.moves();
                if ahead && !(matters && overlap::reads_of(run.access, range)) {
                    continue;
                }
                let (open, signals) = (&mut self.open, &self.signals);
                let conflict = |old: Stamp, first, end| {
                    // The work itself: it reads before it writes.
                    if (old.block, old.lane, old.epoch) == (stamp.block, stamp.lane, stamp.epoch) {
                        return;
                    }
                    let orders =
                        |signals: &Signals| signals.orders(old.block, (usize::from(old.lane), old.epoch), agent, clock);
                    if old.block != stamp.block && signals.as_ref().is_some_and(orders) {
                        return;
                    }
                    if stamp.commutes(&old) {
                        added = added.or(Some(old).filter(|old| stamp.order_shows(old)));
                        return;
                    }
                    match open.iter_mut().find(|c| c.old == old && c.place == place && c.write == write) {
                        Some(known) => (known.first, known.end) = (known.first.min(first), known.end.max(end)),
                        None => open.push(Conflict { old, write, place, first, end }),
                    }
                };
                let blocks_meet = self.signals.is_some();
                let mut touch = Touch { stamp, clock, conflict, blocks_meet, known, leans: &mut leans };
                let shadow = self.shadows.get(place);
                match ahead {
                    true => shadow.look_ahead(range, start, &mut touch),
                    false => shadow.touch(range, start, &mut touch),
                }
                full |= shadow.is_full();
                if let Some((old, first, end)) = leans.alone.take() {
                    alone.get_or_insert(Conflict { old, write, place, first, end });
                }
            }
        }
        if let Some(conflict) = alone {
            self.instead = Some(self.describe(run, &conflict));
        }
        self.open.sort_by_key(|conflict| conflict.write);
        if leans.any {
            self.leans = true;
            if agent.pipe.moves() {
                self.leans_on(&UNORDERED_MOVES);
            }
        }
        if full && !self.gave_up {
            self.gave_up = true;
            self.doubts.push("out of memory for the records of accesses".into());
            self.findings.push(no_memory("race", "who accessed which bytes"));
        }
        if let Some(old) = added {
            self.doubt_sum(agent, run.site, &old);
        }
    }

    /// A slot is freed: all its uses must be complete.
    fn give_back(&mut self, agent: Agent, slot: &Extent, site: SiteRef) {
        let (place, start) = LaunchMemory::of(slot, agent.cluster);
        let in_order = self.order.clock_in_order(agent);
        let clock = in_order.as_ref().unwrap_or(self.order.clock(agent));
        let early = self.shadows.get(place).unordered(start, start + u64::from(slot.row_bytes), agent.block, clock);
        for old in early {
            let user = agent.at(old.block, usize::from(old.lane));
            // The push of a tile is not a use of it: a tile that nobody uses may be freed at any time.
            if user.role == slot.core {
                self.used_after_free(user, old.site, agent, site, false);
            }
        }
        self.freed.free(agent, self.order.epoch(agent), slot, site);
    }

    /// Checks for uses of freed slots.
    fn use_freed(&mut self, run: &WorkRun<'_>) {
        for (ranges, write) in [(&run.access.reads, false), (&run.access.writes, true)] {
            for range in ranges {
                let clock = self.order.clock(run.agent);
                if let Some(free) = self.freed.touch(run.agent, range, write, clock) {
                    let behind = free.by.lane() == run.agent.lane() || clock.get(free.by.lane()) >= free.epoch;
                    self.used_after_free(run.agent, run.site, free.by, free.site, behind);
                }
            }
        }
    }

    /// A tile's use and the free of its slot: the use is `behind` (after) the free, or nothing orders it before.
    fn used_after_free(&mut self, user: Agent, used: SiteRef, by: Agent, freed: SiteRef, behind: bool) {
        if !self.seen.insert((freed, used, true, false)) {
            return;
        }
        let (op, free) = (self.names.op(used), self.names.op(freed));
        let (why, hint) = match behind {
            true => (
                "the free comes before the use",
                "free a slot after the last use of its tile, on every pipe that uses it".to_string(),
            ),
            false => ("nothing orders the use before the free", missing_edge(user, by, op, free, self.words_for(user))),
        };
        let message = format!("`{op}` on {user} uses a tile in a slot that `{free}` on {by} gives back: {why}");
        let finding = Finding::new(Kind::UseAfterFree, Severity::Error, message)
            .at(used, format!("{user} uses the slot here"))
            .also(freed, format!("{by} gives it back here"))
            .note("the next tile may be pushed into the slot as soon as it is free")
            .help(hint);
        self.findings.push(finding);
    }

    fn report(&mut self, run: &WorkRun<'_>) {
        for conflict in std::mem::take(&mut self.open) {
            let pair = (conflict.old.site, run.site, conflict.old.write, conflict.write);
            let turned = (pair.1, pair.0, pair.3, pair.2);
            if self.seen.contains(&turned) || !self.seen.insert(pair) {
                continue;
            }
            let finding = self.describe(run, &conflict);
            self.findings.push(finding);
        }
    }

    fn describe(&self, run: &WorkRun<'_>, conflict: &Conflict) -> Finding {
        let old = &conflict.old;
        let mut first =
            Side { agent: run.agent.at(old.block, usize::from(old.lane)), site: old.site, write: old.write };
        let mut second = Side { agent: run.agent, site: run.site, write: conflict.write };
        let same_core = first.agent.block == second.agent.block && first.agent.role == second.agent.role;
        if same_core && self.order.number(run.agent) < old.number {
            // The pipes executed them in the opposite of program order.
            std::mem::swap(&mut first, &mut second);
        }
        let blocks = first.agent.block != second.agent.block;
        let party = |side: &Side| Party {
            unit: side.agent.unit(),
            block: blocks.then_some(side.agent.block),
            writes: side.write,
        };
        let parties = [party(&first), party(&second)];
        let (op, old_op) = (self.names.op(second.site), self.names.op(first.site));
        let message = format!(
            "`{op}` on {} {} {} of {}, which `{old_op}` on {} {}, and nothing orders the two",
            parties[1].who(),
            parties[1].verb(),
            bytes(conflict.first, conflict.end),
            conflict.place.name(&self.names),
            parties[0].who(),
            parties[0].verb(),
        );
        let run_number = self.order.number(run.agent);
        let (earlier, later) = ((run.agent.at(old.block, usize::from(old.lane)), old.number), (run.agent, run_number));
        let label = |party: &Party| format!("{} {} here", party.who(), party.verb());
        let mut finding = Finding::new(Kind::Race(parties), Severity::Error, message)
            .at(second.site, label(&parties[1]))
            .also(first.site, label(&parties[0]))
            .help(missing_edge(first.agent, second.agent, old_op, op, self.words_for(first.agent)));
        finding.notes.extend(self.pushes.note(earlier, later));
        finding
    }

    /// The spelling of synchronisation for an agent, and whether its core has buffer tokens.
    fn words_for(&self, agent: Agent) -> (&Words, bool) {
        (&self.words, self.tokens.contains(&agent.role))
    }

    /// Records unordered atomic additions: not a race, but floats are rounded after each of them.
    fn doubt_sum(&mut self, agent: Agent, site: SiteRef, old: &Stamp) {
        if self.sums.insert((old.site, site)) {
            let other = agent.at(old.block, usize::from(old.lane));
            let blocks = if old.block == agent.block { "" } else { " of different blocks" };
            self.doubts.push(format!(
                "{other} and {agent}{blocks} {} the same bytes in an order that depends on time, and so may {}",
                if old.is_sum() { "add to" } else { "update" },
                if old.is_sum() { "the rounding of floating-point sums" } else { "the values that they see there" },
            ));
        }
    }

    /// Records that the order of a launch's workitems shows in what it computes.
    fn doubt_workitems(&mut self, run: &WorkRun<'_>) {
        if let Some(site) = run.access.contended.filter(|site| self.sums.insert((*site, *site))) {
            self.doubts.push(format!(
                "workitems of one launch update the same bytes by `{}` in an order that the hardware chooses, and it shows in the values",
                self.names.op(site)
            ));
        }
    }

    /// Records that waits for a signal in global memory may end differently in another schedule.
    fn doubt_signal(&mut self, doubt: Option<String>) {
        self.signals_compete |= doubt.is_some();
        self.doubts.extend(doubt.filter(|doubt| !self.doubts.contains(doubt)));
    }

    /// Records why the verdict cannot cover all schedules.
    fn doubt(&mut self, agent: Agent, sync: u32, doubt: Doubt) {
        let doubt = match doubt {
            Doubt::LateWait { .. } if !self.answers.late_waits => {
                return self.leans_on(&LATE_WAITS);
            }
            Doubt::LateWait { set, wait } => Doubt::Capacity { set, wait },
            other => other,
        };
        let kind = match doubt {
            Doubt::Setters(_) => 0,
            Doubt::Waiters(_) => 1,
            Doubt::Capacity { .. } | Doubt::LateWait { .. } => 2,
            Doubt::Lost => 3,
        };
        if !self.doubted.insert((sync, kind)) {
            return;
        }
        self.signals_compete |= !matches!(doubt, Doubt::Capacity { .. });
        let name = self.names.syncs[sync as usize].clone();
        let other = |moment: Moment| agent.at(agent.block, moment.lane);
        self.doubts.push(match doubt {
            Doubt::Setters(moment) => {
                format!("{} and {agent} set {name} in an order that depends on time", other(moment))
            }
            Doubt::Waiters(moment) => format!("{} and {agent} compete for {name}", other(moment)),
            Doubt::Capacity { set, .. } | Doubt::LateWait { set, .. } => {
                format!("in another schedule {} may set {name} before there is room for the signal", other(set))
            }
            Doubt::Lost => format!("{name} lost a signal, which another schedule may not lose"),
        });
        let Doubt::Capacity { set, wait } = doubt else { return };
        let message =
            format!("{name} may be set again before it has been waited for: nothing orders this set after the wait");
        let finding = Finding::new(Kind::FlagMayOverflow, Severity::Error, message)
            .at(set.site, format!("{} sets it here", other(set)))
            .also(wait.site, format!("{} waits here", other(wait)))
            .help("use another id for the second signal, or wait for a signal back before setting it again");
        self.findings.push(finding);
    }
}

impl Observer for Race {
    fn begin(&mut self, launch: &Launch<'_>) {
        let (active, signals_only) = (launch.mode == ExecutionMode::Pipes, self.signals_only);
        let tokens = launch.program.syncs.iter().filter(|sync| matches!(sync.role, SyncRole::Token { .. }));
        let tokens = tokens.map(|sync| sync.waiter).collect();
        let blind = self.blind.take().map(|_| Blind::default());
        let outside = std::mem::take(&mut self.outside);
        let signals = (launch.program.polls() && active).then(|| Signals::without(outside.clone()));
        let asks_otherwise = self.asks_otherwise;
        *self = Race { active, signals_only, tokens, blind, signals, outside, asks_otherwise, ..Race::default() };
        let asks = asks_otherwise && active && !signals_only && !launch.platform.reads_otherwise(&UNORDERED_MOVES);
        self.otherwise = asks;
        self.order = Order::new(launch, asks.then_some(&UNORDERED_MOVES));
        (self.names, self.words) = (Names::new(launch), launch.program.words);
        self.pushes = Pushes::new(launch);
        self.freed = Freed::new(launch);
        let locks = launch.program.syncs.iter().map(|sync| matches!(sync.role, SyncRole::Token { .. }));
        self.locks = locks.collect();
        self.answers = Answers::of(launch.platform);
        self.overlapping = launch.platform.overlapping();
    }

    fn arm(&mut self, memory: &mut Memory) {
        if let Some(signals) = &mut self.signals {
            signals.arm(memory);
        }
    }

    fn block_start(&mut self, _: u64, block: u32, cluster: u32) {
        if block > 0 {
            self.order.restart(cluster);
            self.freed.restart(cluster);
            self.shadows.of_cluster(cluster).for_each(Shadow::clear);
        }
    }

    #[inline]
    fn issue(&mut self, _: u64, to: Agent, step: Issued, _: SiteRef) {
        if self.active {
            self.order.issue(to, step);
        }
    }

    fn hold(&mut self, to: Agent, sync: u32, later: &[(Pipe, u32)]) {
        let Some(locks) = self.locks.get(sync as usize) else { return };
        let (question, otherwise) = self.answers.of_token(*locks);
        match otherwise {
            true => self.order.hold(to, later),
            false if !later.is_empty() => self.leans_on(question),
            false => {}
        }
    }

    fn start(&mut self, _: u64, run: &WorkRun<'_>) {
        if self.active {
            self.order.begin(run.agent);
            self.order.touch(run.agent);
            // Signals in memory order others and are not data, except for those who read or write them as such.
            if let Some(what) = run.access.signal {
                if run.access.changes_signal() && !self.signals_only {
                    self.touch(run);
                    if !self.open.is_empty() {
                        self.report(run);
                    }
                }
                let doubt = self.signals.as_mut().and_then(|signals| signals.step(run, what, &mut self.order));
                self.doubt_signal(doubt);
                return;
            }
            if self.signals_only {
                return;
            }
            self.pushes.start(run, self.order.number(run.agent));
            // A comparison of tiles for slipring is not a hardware access. It follows the move that filled the tile,
            // and whatever comes after the move comes after it.
            if !(run.work.effect.compares() && run.agent.pipe.moves()) {
                self.touch(run);
            }
            self.overlap(run);
            if !self.open.is_empty() {
                self.report(run);
            }
            self.report_inner(run);
            self.doubt_workitems(run);
            if !self.freed.is_empty() {
                self.use_freed(run);
            }
        }
    }

    fn set(&mut self, _: u64, agent: Agent, sync: u32, lost: bool, site: SiteRef) {
        if self.active {
            self.order.begin(agent);
            // If only signals are checked, slots are irrelevant.
            if !self.signals_only {
                for slot in self.freed.given(agent, sync).into_iter().flatten() {
                    self.give_back(agent, &slot, site);
                }
            }
            // Iterated in place: nearly always there is none.
            for doubt in self.order.set(agent, sync, lost, site).iter().flatten() {
                self.doubt(agent, sync, *doubt);
            }
        }
    }

    fn wait(&mut self, _: u64, agent: Agent, sync: u32, site: SiteRef) {
        if self.active {
            for doubt in self.order.wait(agent, sync, site).iter().flatten() {
                self.doubt(agent, sync, *doubt);
            }
        }
    }

    fn barrier(&mut self, _: u64, agent: Agent, _: SiteRef) {
        if self.active {
            self.order.barrier(agent);
        }
    }

    fn awaited(&mut self, _: u64, agent: Agent, _: SiteRef) {
        let doubt = self.signals.as_mut().and_then(|signals| signals.awaited(agent, &mut self.order));
        self.doubt_signal(doubt);
    }
}
