//! What workers write, and the prefetcher reads: a launch is over for the prefetcher only when it has waited for it, by a STALL or by
//! way of the host.
//!
//! The bytes of a stream show which tiles are started, not what their kernels write: their own L1 is taken for written, and the slots
//! of their times where the stream names them. On a machine a worker that ends says what it wrote, and what was read meanwhile is looked at again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use smallvec::SmallVec;

use super::reads::Memory;
use crate::sanitize::{CommandRef, RecordRef};
use crate::wire::Xy;

/// Bytes of a memory: the first, and the one past the last.
pub(crate) type Bytes = (Memory, u64, u64);

/// How far the end of a launch has come to the prefetcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// Nobody has waited for it.
    No,
    /// The dispatcher has.
    Dispatcher,
    /// The dispatcher has told the prefetcher since.
    Told,
}

/// Launches of a tile that the prefetcher has not waited for, and knows equally much of.
#[derive(Debug)]
struct Launch {
    /// The last of them, and what started it.
    number: u64,
    by: CommandRef,
    known: Known,
    /// The first record for the host that was written after the dispatcher's wait.
    reported: Option<u64>,
    /// What they wrote, where that is known.
    wrote: BTreeSet<Bytes>,
}

/// A launch whose worker has not ended, on a machine.
#[derive(Debug)]
struct Running {
    number: u64,
    by: CommandRef,
    /// Reads from here on, up to there, were not ordered after its end.
    from: u64,
    until: Option<u64>,
}

/// A relay, and what it reads.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Its record.
    pub record: Option<RecordRef>,
    /// The command; none for a load of the host.
    pub relay: Option<CommandRef>,
    bytes: Vec<Bytes>,
    /// For a load of the host: the records that were queued before.
    queued: u64,
    /// For a load of a stream's host: its place among the acts.
    pub act: Option<u64>,
}

/// Launches, and the reads that are not ordered after them.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Whether workers say what they wrote.
    live: bool,
    launches: u64,
    /// Records that the host has taken.
    taken: u64,
    /// By tile, mostly one each.
    open: BTreeMap<Xy, SmallVec<[Launch; 1]>>,
    running: BTreeMap<Xy, SmallVec<[Running; 1]>>,
    /// Reads since the oldest launch that runs, and the number of the first.
    reads: VecDeque<Read>,
    first: u64,
    /// Records that have been looked at.
    looked_at: u64,
    /// Where workers will write their times, as far as the stream says: on a machine they say themselves what they wrote.
    armed: BTreeMap<Xy, Bytes>,
}

pub(super) fn meet(a: &Bytes, b: &Bytes) -> bool {
    a.0 == b.0 && a.1 < b.2 && b.1 < a.2
}

impl Results {
    /// Launches of a machine, whose workers say what they wrote.
    pub fn live() -> Results {
        Results { live: true, ..Results::default() }
    }

    /// The host has waited until everything has run.
    pub fn all_read(&mut self) {
        self.close(|_| true);
    }

    /// A worker is told where to write its times, or not to.
    pub fn arm(&mut self, tile: Xy, times: Option<Bytes>) {
        match times.filter(|_| !self.live) {
            Some(times) => self.armed.insert(tile, times),
            None => self.armed.remove(&tile),
        };
    }

    /// A command of a record starts a worker.
    pub fn starts(&mut self, tile: Xy, by: CommandRef, record: Option<RecordRef>) {
        let number = self.launches;
        self.launches += 1;
        let wrote = self.armed.get(&tile).copied().into_iter().collect();
        let launch = Launch { number, by, known: Known::No, reported: None, wrote };
        self.open.entry(tile).or_default().push(launch);
        if self.live {
            // Loads of the host, which was ahead.
            let early = record.and_then(|record| self.reads.iter().position(|read| read.queued > record.index));
            let from = self.first + early.unwrap_or(self.reads.len()) as u64;
            self.running.entry(tile).or_default().push(Running { number, by, from, until: None });
        }
    }

    /// The dispatcher has waited for a worker.
    pub fn ends(&mut self, tile: Xy) {
        let Some(launches) = self.open.get_mut(&tile) else { return };
        for launch in launches.iter_mut().filter(|launch| launch.known == Known::No) {
            launch.known = Known::Dispatcher;
        }
        launches.dedup_by(|later, earlier| {
            let alike = (later.known, later.reported) == (earlier.known, earlier.reported);
            if alike {
                (earlier.number, earlier.by) = (later.number, later.by);
                earlier.wrote.append(&mut later.wrote);
            }
            alike
        });
    }

    /// The dispatcher has told the prefetcher.
    pub fn notify(&mut self) {
        let waited = self.open.values_mut().flatten().filter(|launch| launch.known == Known::Dispatcher);
        waited.for_each(|launch| launch.known = Known::Told);
    }

    /// The prefetcher has waited for that.
    pub fn stall(&mut self) {
        self.close(|launch| launch.known == Known::Told);
    }

    /// The dispatcher writes the record of this number for the host.
    pub fn report(&mut self, number: u64) {
        let waited = self.open.values_mut().flatten();
        let waited = waited.filter(|launch| launch.known != Known::No && launch.reported.is_none());
        waited.for_each(|launch| launch.reported = Some(number));
    }

    /// The host has taken so many records.
    pub fn took(&mut self, records: u64) {
        if records > self.taken {
            self.taken = records;
            self.close(|launch| launch.reported.is_some_and(|number| number <= records));
        }
    }

    fn close(&mut self, known: impl Fn(&Launch) -> bool) {
        let next = self.first + self.reads.len() as u64;
        for (tile, launches) in &mut self.open {
            let mut last = None;
            launches.retain(|launch| {
                let over = known(launch);
                if over {
                    last = last.max(Some(launch.number));
                }
                !over
            });
            let Some(running) = last.and_then(|_| self.running.get_mut(tile)) else { continue };
            for running in running.iter_mut().filter(|running| Some(running.number) <= last) {
                running.until.get_or_insert(next);
            }
        }
        self.open.retain(|_, launches| !launches.is_empty());
    }

    /// The prefetcher reads bytes: a launch that may write them, and is not over for it.
    pub fn reads(
        &mut self,
        bytes: &[Bytes],
        record: Option<RecordRef>,
        relay: Option<CommandRef>,
    ) -> Option<CommandRef> {
        let may_write = |tile: Xy, launch: &Launch| {
            let own = (Memory::Tile(tile), 0, u64::MAX);
            launch.wrote.iter().chain([&own]).any(|wrote| bytes.iter().any(|read| meet(read, wrote)))
        };
        let mut open = self.open.iter().flat_map(|(tile, launches)| launches.iter().map(|launch| (*tile, launch)));
        let early = open.find(|(tile, launch)| may_write(*tile, launch)).map(|(_, launch)| launch.by);
        if !self.running.is_empty() && early.is_none() {
            self.reads.push_back(Read { record, relay, bytes: bytes.to_vec(), queued: 0, act: None });
        }
        early
    }

    /// The oldest launch of a tile ends, and wrote these bytes: the relay that read some of them too early, and what started the worker.
    pub fn wrote(&mut self, tile: Xy, wrote: Vec<Bytes>) -> Option<(Read, CommandRef)> {
        let of_tile = self.running.get_mut(&tile)?;
        if of_tile.is_empty() {
            return None;
        }
        let running = of_tile.remove(0);
        if of_tile.is_empty() {
            self.running.remove(&tile);
        }
        let reads = self
            .reads
            .iter()
            .zip(self.first..)
            .filter(|(_, number)| *number >= running.from && running.until.is_none_or(|until| *number < until));
        let mut reads = reads.map(|(read, _)| read);
        let early =
            reads.find(|read| read.bytes.iter().any(|read| wrote.iter().any(|wrote| meet(read, wrote)))).cloned();
        let mut launches = self.open.get_mut(&tile).into_iter().flatten();
        if let Some(launch) = launches.find(|launch| launch.number >= running.number) {
            launch.wrote.extend(wrote);
        }
        self.forget();
        early.map(|read| (read, running.by))
    }

    /// Reads that neither a worker nor a record can be early for any more are forgotten.
    fn forget(&mut self) {
        if self.reads.is_empty() {
            return;
        }
        let oldest = self.running.values().flatten().map(|running| running.from).min();
        let next = self.first + self.reads.len() as u64;
        let gone = (oldest.unwrap_or(next) - self.first) as usize;
        let gone = self.reads.iter().take(gone).take_while(|read| read.queued <= self.looked_at).count();
        self.reads.drain(..gone);
        self.first += gone as u64;
    }

    /// The host loads bytes, when so many records are queued: a launch that wrote them, and is not over for it.
    pub fn loads(&mut self, bytes: Bytes, queued: u64, act: Option<u64>) -> Option<CommandRef> {
        let mut open = self.open.values().flatten();
        let early = open.find(|launch| launch.wrote.iter().any(|wrote| meet(&bytes, wrote))).map(|launch| launch.by);
        // A host that looks again and again says no more than at first.
        let again = self.reads.iter().rev().take(8).any(|read| read.queued == queued && read.bytes == [bytes]);
        if early.is_none() && !again && (queued > self.looked_at || !self.running.is_empty()) {
            self.reads.push_back(Read { record: None, relay: None, bytes: vec![bytes], queued, act });
        }
        early
    }

    /// A record writes a part: the load of the host that read some of it when the record was queued. It is said once.
    pub fn has_loaded(&mut self, record: u64, part: &Bytes) -> Option<Read> {
        let mut early = self.reads.iter_mut().filter(|read| read.queued > record);
        let early = early.find(|read| read.bytes.iter().any(|bytes| meet(bytes, part)));
        let early = early.filter(|read| !read.bytes.is_empty())?;
        let said = early.clone();
        early.bytes.clear();
        Some(said)
    }

    /// Whether no load of the host is remembered.
    pub fn is_quiet(&self) -> bool {
        self.reads.is_empty()
    }

    /// So many records have been looked at.
    pub fn looked_at(&mut self, records: u64) {
        self.looked_at = records;
        if !self.reads.is_empty() {
            self.forget();
        }
    }
}
