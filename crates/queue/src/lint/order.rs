//! Two queues on one board: the accesses of each to memory, and whether events order those of one queue against those
//! of the other.
//!
//! A queue signals an event to the other by writing a word of the other's dispatch core, which waits for that word.
//! Everything that the first queue's commands had waited for before the event is known to the second after its wait. A
//! host that takes a completion of one queue knows the same, and so does everything it queues later to the other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::tiles::Tiles;
use crate::lint::memory::{Bytes, Memory};
use crate::sanitize::{CommandRef, Finding, Hazard, RecordRef};
use crate::wire::{Rect, Xy};

/// The kind of access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AccessKind {
    /// The dispatcher writes them.
    Writes,
    /// The prefetcher reads them.
    Relays,
    /// A worker that may read and write them is started.
    Runs,
}

impl AccessKind {
    const fn verb(self) -> &'static str {
        match self {
            AccessKind::Writes => "writes",
            AccessKind::Relays => "relays",
            AccessKind::Runs => "lets a worker use",
        }
    }
}

/// An access of a command.
#[derive(Clone, Copy, Debug)]
struct Access {
    bytes: Bytes,
    how: AccessKind,
    by: CommandRef,
    record: Option<RecordRef>,
    /// The step of its queue by which it is complete, if one waits for it.
    done: Option<usize>,
}

/// A step of a queue, in the order of its stream.
#[derive(Clone, Copy, Debug)]
enum OrderStep {
    Access(Access),
    /// An event for the other queue: the word in the other's dispatch core, and its number.
    Sends {
        addr: u64,
        event: u32,
    },
    /// The dispatcher waits for an event of the other queue.
    Waits {
        addr: u64,
        event: u32,
        by: CommandRef,
        record: Option<RecordRef>,
    },
    /// The dispatcher informs the prefetcher of its progress, and the prefetcher waits for that.
    Notifies,
    Stalls,
    /// The dispatcher writes the completion record with this number, and the number of completions of the other queue
    /// that the host had taken.
    Reports(u64),
    Knows(u64),
}

/// The activity of one of two queues.
#[derive(Debug, Default)]
pub(crate) struct Order {
    steps: Vec<OrderStep>,
    /// Writes without a barrier, and launches that nothing has waited for.
    written: Vec<usize>,
    running: Vec<(Xy, usize)>,
    /// Launches whose workers have not ended on a machine, and further writes of those that have.
    launched: VecDeque<(Xy, usize)>,
    results: BTreeMap<usize, Vec<Bytes>>,
    /// Completions of the other queue that the host was known to have taken.
    known: u64,
    /// Events sent before the host last waited for everything: the word, and the last number.
    before: BTreeMap<u64, u32>,
    /// A limit was exceeded.
    full: bool,
}

/// Maximum number of recorded steps of a queue.
const MOST_STEPS: usize = 1 << 20;
/// Maximum number of access pairs that are examined.
const MOST_PAIRS: u64 = 50_000_000;
/// Maximum number of reported races.
const MOST_RACES: usize = 32;

impl Order {
    fn step(&mut self, step: OrderStep) -> usize {
        if self.steps.len() >= MOST_STEPS {
            self.full = true;
        } else {
            self.steps.push(step);
        }
        self.steps.len() - 1
    }

    fn access(&mut self, bytes: Bytes, how: AccessKind, by: CommandRef, record: Option<RecordRef>) -> usize {
        self.step(OrderStep::Access(Access { bytes, how, by, record, done: None }))
    }

    fn done(&mut self, accesses: impl IntoIterator<Item = usize>) {
        let now = self.steps.len();
        for at in accesses {
            if let Some(OrderStep::Access(access)) = self.steps.get_mut(at) {
                access.done = Some(now);
            }
        }
    }

    /// A command writes bytes.
    pub fn writes(&mut self, bytes: Bytes, by: CommandRef, record: Option<RecordRef>) {
        let at = self.access(bytes, AccessKind::Writes, by, record);
        self.written.push(at);
    }

    /// The prefetcher reads bytes, before anything that it relays later.
    pub fn reads(&mut self, bytes: Bytes, by: CommandRef, record: Option<RecordRef>) {
        let at = self.access(bytes, AccessKind::Relays, by, record);
        self.done([at]);
    }

    /// A command starts a worker.
    pub fn starts(&mut self, tile: Xy, l1_bytes: u32, by: CommandRef, record: Option<RecordRef>) {
        let at = self.access((Memory::Tile(tile), 0, l1_bytes.into()), AccessKind::Runs, by, record);
        self.running.push((tile, at));
        self.launched.push_back((tile, at));
    }

    /// The oldest launch of a tile has ended on a machine, and its worker wrote these bytes.
    pub fn wrote(&mut self, tile: Xy, bytes: &[Bytes]) {
        let oldest = self.launched.iter().position(|(other, _)| *other == tile);
        if let Some((_, at)) = oldest.and_then(|oldest| self.launched.remove(oldest)) {
            let elsewhere = bytes.iter().filter(|(memory, ..)| *memory != Memory::Tile(tile));
            self.results.entry(at).or_default().extend(elsewhere);
        }
    }

    /// The dispatcher has waited for workers.
    pub(super) fn ends(&mut self, tiles: &Tiles) {
        let ended: Vec<usize> =
            self.running.extract_if(.., |(tile, _)| tiles.contains(*tile)).map(|(_, at)| at).collect();
        self.done(ended);
    }

    /// The dispatcher has waited for its writes.
    pub fn barrier(&mut self) {
        let written = std::mem::take(&mut self.written);
        self.done(written);
    }

    /// A command sends the other queue an event.
    pub fn sends(&mut self, addr: u64, event: u32) {
        self.step(OrderStep::Sends { addr, event });
    }

    /// A command waits for an event of the other queue.
    pub fn waits(&mut self, addr: u64, event: u32, by: CommandRef, record: Option<RecordRef>) {
        self.step(OrderStep::Waits { addr, event, by, record });
    }

    /// The dispatcher notifies the prefetcher.
    pub fn notifies(&mut self) {
        self.step(OrderStep::Notifies);
    }

    /// The prefetcher has waited for the notification.
    pub fn stalls(&mut self) {
        self.step(OrderStep::Stalls);
    }

    /// The dispatcher writes a completion record.
    pub fn reports(&mut self, number: u64) {
        self.step(OrderStep::Reports(number));
    }

    /// The host has taken this many completion records of the other queue.
    pub fn knows(&mut self, records: u64) {
        if records > self.known {
            self.known = records;
            self.step(OrderStep::Knows(records));
        }
    }

    /// Number of steps: a different number means that something is new.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The host has waited until both queues had nothing more to do: everything from now on comes after all of it.
    pub fn rests(&mut self) {
        for step in std::mem::take(&mut self.steps) {
            if let OrderStep::Sends { addr, event } = step {
                self.before.insert(addr, event);
            }
        }
        *self = Order { known: self.known, before: std::mem::take(&mut self.before), ..Order::default() };
    }
}

/// The progress through a queue, and the steps of the other one that it knows to be complete.
#[derive(Clone, Copy, Default)]
struct Side {
    at: usize,
    /// The knowledge of its dispatcher, of the last notification, of the prefetcher, and of the host.
    dispatcher: usize,
    told: usize,
    prefetcher: usize,
    host: usize,
}

/// Interactions between two queues: findings, each with its queue, and what could not be checked.
#[derive(Debug, Default)]
pub(crate) struct Between {
    /// Unordered accesses to the same bytes.
    pub races: Vec<Finding>,
    /// A queue waits for an event that will not happen.
    pub stuck: Option<Finding>,
    pub not_judged: Vec<String>,
}

/// An access with its queue's knowledge of the other one at that time.
type Known = (Access, usize);

impl Between {
    /// Processes both queues as far as their events permit.
    pub fn of(queues: [&Order; 2]) -> Between {
        let mut between = Between::default();
        let mut sides = [Side::default(); 2];
        let mut sent = queues.map(|queue| queue.before.iter().map(|(addr, event)| (*addr, *event, 0)).collect());
        let mut accesses: [Vec<Known>; 2] = Default::default();
        loop {
            let before = sides.map(|side| side.at);
            for queue in [0, 1] {
                go_on(queue, queues, &mut sides, &mut sent, &mut accesses);
            }
            if sides.map(|side| side.at) == before {
                break;
            }
        }
        between.stuck = stuck(queues, sides);
        between.races(&accesses);
        if queues.iter().any(|queue| queue.full) {
            between.not_judged.push(format!("what two queues do after {MOST_STEPS} steps of one"));
        }
        between
    }

    /// Accesses of both to the same bytes, neither of which is known to be complete before the other.
    fn races(&mut self, accesses: &[Vec<Known>; 2]) {
        let mut second: BTreeMap<Memory, Vec<Known>> = BTreeMap::new();
        for known in &accesses[1] {
            second.entry(known.0.bytes.0).or_default().push(*known);
        }
        let (mut pairs, mut told) = (0, BTreeSet::new());
        for (first, knows) in &accesses[0] {
            for (_, others) in second.iter().filter(|(memory, _)| meet(first.bytes.0, **memory)) {
                for (other, other_knows) in others {
                    pairs += 1;
                    let ((_, start, end), (_, from, to)) = (first.bytes, other.bytes);
                    let both_read = first.how == AccessKind::Relays && other.how == AccessKind::Relays;
                    let over = |access: &Access, knows: usize| access.done.is_some_and(|done| done <= knows);
                    if start >= to || from >= end || both_read || over(first, *other_knows) || over(other, *knows) {
                        continue;
                    }
                    if self.races.len() < MOST_RACES && told.insert((first.by.index, other.by.index)) {
                        self.races.push(race(first, other));
                    }
                }
                if pairs > MOST_PAIRS {
                    self.not_judged
                        .push(format!("whether further bytes are used by two queues: {MOST_PAIRS} pairs were"));
                    return;
                }
            }
        }
    }
}

/// Whether two memories may have bytes in common.
fn meet(one: Memory, other: Memory) -> bool {
    match (one, other) {
        (Memory::Tiles(word), Memory::Tile(tile)) | (Memory::Tile(tile), Memory::Tiles(word)) => {
            Rect::from_word(word).contains(tile)
        }
        (Memory::Tiles(one), Memory::Tiles(other)) => {
            let (one, other) = (Rect::from_word(one), Rect::from_word(other));
            one.low.x <= other.high.x
                && other.low.x <= one.high.x
                && one.low.y <= other.high.y
                && other.low.y <= one.high.y
        }
        _ => one == other,
    }
}

fn race(first: &Access, second: &Access) -> Finding {
    let message = format!(
        "{} of queue 1 {} what {} of queue 0 {}, and no event orders them",
        second.by,
        second.how.verb(),
        first.by,
        first.how.verb()
    );
    let mut finding = Finding::new(Hazard::QueuesRace, message);
    (finding.queue, finding.record, finding.command) = (Some(1), second.record, Some(second.by));
    finding.notes.extend(first.record.map(|record| format!("the other side is in {record} of queue 0")));
    finding
}

/// Processes one queue until it waits for the other.
fn go_on(
    queue: usize,
    queues: [&Order; 2],
    sides: &mut [Side; 2],
    sent: &mut [Vec<(u64, u32, usize)>; 2],
    accesses: &mut [Vec<Known>; 2],
) {
    let side = &mut sides[queue];
    while let Some(step) = queues[queue].steps.get(side.at) {
        match step {
            OrderStep::Access(access) => {
                let own = if access.how == AccessKind::Relays { side.prefetcher } else { side.dispatcher };
                let knows = own.max(side.host);
                accesses[queue].push((*access, knows));
                let results = queues[queue].results.get(&side.at).into_iter().flatten();
                accesses[queue].extend(results.map(|bytes| (Access { bytes: *bytes, ..*access }, knows)));
            }
            OrderStep::Sends { addr, event } => sent[queue].push((*addr, *event, side.at)),
            OrderStep::Waits { addr, event, .. } => {
                match sent[1 - queue].iter().find(|sent| ends(**sent, *addr, *event)) {
                    Some((.., at)) => side.dispatcher = side.dispatcher.max(*at),
                    None if *event == 0 => {}
                    None => return,
                }
            }
            OrderStep::Notifies => side.told = side.dispatcher,
            OrderStep::Stalls => side.prefetcher = side.prefetcher.max(side.told),
            OrderStep::Reports(_) => {}
            OrderStep::Knows(records) => {
                let mut other = queues[1 - queue].steps.iter();
                let report = other.rposition(|step| matches!(step, OrderStep::Reports(number) if number <= records));
                side.host = side.host.max(report.unwrap_or(0));
            }
        }
        side.at += 1;
    }
}

/// Whether a sent event ends the wait for one in a word.
fn ends((word, sent, _): (u64, u32, usize), addr: u64, event: u32) -> bool {
    word == addr && sent.wrapping_sub(event) as i32 >= 0
}

/// Why incomplete queues do not continue.
fn stuck(queues: [&Order; 2], sides: [Side; 2]) -> Option<Finding> {
    let waits = |queue: usize| match queues[queue].steps.get(sides[queue].at) {
        Some(OrderStep::Waits { addr, event, by, record }) => Some((*addr, *event, *by, *record)),
        _ => None,
    };
    let comes = |queue: usize, addr: u64, event: u32| {
        let later = &queues[1 - queue].steps[sides[1 - queue].at.min(queues[1 - queue].steps.len())..];
        later.iter().any(
            |step| matches!(step, OrderStep::Sends { addr: word, event: sent } if ends((*word, *sent, 0), addr, event)),
        )
    };
    for queue in [0, 1] {
        let Some((addr, event, by, record)) = waits(queue) else { continue };
        let other = waits(1 - queue);
        let finding = if !comes(queue, addr, event) {
            let message = format!(
                "{by} of queue {queue} waits for event {event} at {addr:#x}, and no command of queue {} sends it",
                1 - queue
            );
            Finding::new(Hazard::EventNeverSent, message)
        } else if let Some((there, number, first, _)) =
            other.filter(|(addr, event, ..)| comes(1 - queue, *addr, *event))
        {
            let message = format!(
                "{by} of queue {queue} waits for event {event} at {addr:#x}, which queue {} sends after {first}; that waits for \
                 event {number} at {there:#x}, which queue {queue} sends after the first",
                1 - queue
            );
            Finding::new(Hazard::QueuesDeadlock, message)
        } else {
            // It is caused by the other one.
            continue;
        };
        return Some(Finding { queue: Some(queue as u8), record, command: Some(by), ..finding });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(index: u64) -> CommandRef {
        CommandRef { index, name: "WRITE_LINEAR", at: None }
    }

    const BYTES: Bytes = (Memory::Bank(0), 0, 64);

    /// Two queues that write the same bytes, the first before its event and the second behind a wait for it.
    fn ordered(barrier: bool, wait: u32) -> Between {
        let (mut first, mut second) = (Order::default(), Order::default());
        first.writes(BYTES, by(0), None);
        if barrier {
            first.barrier();
        }
        first.sends(0x100, 1);
        second.waits(0x100, wait, by(1), None);
        second.writes(BYTES, by(2), None);
        Between::of([&first, &second])
    }

    #[test]
    fn an_event_behind_a_barrier_orders() {
        assert!(ordered(true, 1).races.is_empty());
        assert_eq!((ordered(false, 1).races.len(), ordered(true, 0).races.len()), (1, 0));
        let never = ordered(true, 2);
        assert_eq!(never.stuck.expect("waits").hazard, Hazard::EventNeverSent);
    }

    #[test]
    fn queues_that_wait_for_each_other_are_named() {
        let [mut first, mut second] = [Order::default(), Order::default()];
        for (order, index) in [(&mut first, 0), (&mut second, 1)] {
            order.waits(0x100, 1, by(index), None);
            order.sends(0x100, 1);
        }
        assert_eq!(Between::of([&first, &second]).stuck.expect("waits").hazard, Hazard::QueuesDeadlock);
    }

    /// What a worker writes besides its L1 is known when it has ended, and is ordered by the WAIT for it.
    #[test]
    fn results_of_workers_are_accesses_of_their_launch() {
        for waits in [true, false] {
            let (mut first, mut second, tile) = (Order::default(), Order::default(), Xy::new(1, 2));
            first.starts(tile, 64, by(0), None);
            if waits {
                first.ends(&Tiles::from_iter([tile]));
            }
            first.sends(0x100, 1);
            first.wrote(tile, &[BYTES]);
            second.waits(0x100, 1, by(1), None);
            second.writes(BYTES, by(2), None);
            assert_eq!(Between::of([&first, &second]).races.is_empty(), waits);
        }
    }

    #[test]
    fn a_host_that_waits_orders_and_a_completion_does() {
        for taken in [0, 1] {
            let (mut first, mut second) = (Order::default(), Order::default());
            first.writes(BYTES, by(0), None);
            first.barrier();
            first.reports(1);
            second.knows(taken);
            second.reads(BYTES, by(1), None);
            assert_eq!(Between::of([&first, &second]).races.is_empty(), taken > 0);
        }
        let (mut first, mut second) = (Order::default(), Order::default());
        first.writes(BYTES, by(0), None);
        first.sends(0x100, 3);
        first.rests();
        second.rests();
        second.waits(0x100, 3, by(1), None);
        second.writes(BYTES, by(2), None);
        assert!(Between::of([&first, &second]).stuck.is_none());
        assert!(Between::of([&first, &second]).races.is_empty());
    }
}
