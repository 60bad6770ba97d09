//! Memory that workers write and the prefetcher reads: for the prefetcher a launch is over only once it has waited for
//! it, by a STALL or through the host.
//!
//! The bytes of a stream show which tiles are started, not what their kernels write: their own L1 is assumed written,
//! as are their timing slots where the stream names them. On a machine, a worker that ends reports what it wrote, and
//! reads made in the meantime are checked again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::tiles::Tiles;
use smallvec::SmallVec;

use crate::lint::memory::{Bytes, Memory, meet};
use crate::sanitize::{CommandRef, RecordRef};
use crate::wire::Xy;

/// How far the prefetcher knows about the end of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Known {
    /// Nobody has waited for it.
    No,
    /// The dispatcher has.
    Dispatcher,
    /// The dispatcher has notified the prefetcher since.
    Told,
}

/// The workers started by one command, as long as the prefetcher has not waited for them and they have the same status.
#[derive(Debug)]
struct Launch {
    /// Sequence number of launches.
    number: u64,
    by: CommandRef,
    known: Known,
    /// The first record for the host written after the dispatcher's wait.
    reported: Option<u64>,
    /// Its tiles, except those that were started again and have the same status.
    tiles: Tiles,
    /// Known writes of these, and of earlier launches that it subsumes.
    wrote: BTreeSet<(Xy, Bytes)>,
}

impl Launch {
    /// The first of its tiles that may write some of these bytes: at least its own memory.
    fn may_write(&self, bytes: &[Bytes]) -> Option<Xy> {
        let own = |read: &Bytes| match *read {
            (Memory::Tile(tile), first, end) => (self.tiles.contains(tile) && first < end).then_some(tile),
            _ => None,
        };
        bytes.iter().filter_map(own).chain(self.wrote(bytes)).min()
    }

    /// The first of its tiles that is known to have written some of these bytes.
    fn wrote(&self, bytes: &[Bytes]) -> Option<Xy> {
        self.wrote.iter().find(|(_, wrote)| bytes.iter().any(|read| meet(read, wrote))).map(|(tile, _)| *tile)
    }

    /// Splits off some of its tiles as a separate launch; `None` if it has none of them.
    fn split(&mut self, tiles: &Tiles) -> Option<Launch> {
        let some = self.tiles.both(tiles);
        if some.is_empty() {
            return None;
        }
        self.tiles.remove_all(&some);
        let wrote = self.wrote.extract_if(.., |(tile, _)| some.contains(*tile)).collect();
        Some(Launch { tiles: some, wrote, ..*self })
    }
}

/// Launches of one command whose workers have not ended, on a machine.
#[derive(Debug)]
struct Running {
    number: u64,
    by: CommandRef,
    tiles: Tiles,
    /// The range of reads that were not ordered after their ends.
    from: u64,
    until: Option<u64>,
}

/// A relay, and the bytes it reads.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Its record.
    pub record: Option<RecordRef>,
    /// The command; `None` for a load of the host.
    pub relay: Option<CommandRef>,
    bytes: Vec<Bytes>,
    /// For a load of the host: number of records queued before.
    queued: u64,
    /// For a load of a stream's host: its index among the actions.
    pub act: Option<u64>,
}

/// Launches, and the reads that are not ordered after them.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Whether workers report what they wrote.
    live: bool,
    launches: u64,
    /// Number of records that the host has taken.
    taken: u64,
    /// In order.
    open: Vec<Launch>,
    running: Vec<Running>,
    /// Reads since the oldest running launch, and the index of the first.
    reads: VecDeque<Read>,
    first: u64,
    /// Number of records examined.
    looked_at: u64,
    /// Where workers will write their times, as far as the stream shows: on a machine they report their own writes.
    armed: BTreeMap<Xy, Bytes>,
}

impl Results {
    /// Launches of a machine, whose workers report what they wrote.
    pub fn live() -> Results {
        Results { live: true, ..Results::default() }
    }

    /// The host has waited until everything has run.
    pub fn all_read(&mut self) {
        self.close(|_| true);
    }

    /// A worker is given an address for its times, or none.
    pub fn arm(&mut self, tile: Xy, times: Option<Bytes>) {
        match times.filter(|_| !self.live) {
            Some(times) => self.armed.insert(tile, times),
            None => self.armed.remove(&tile),
        };
    }

    /// A command of a record starts workers.
    pub fn starts(&mut self, tiles: &Tiles, by: CommandRef, record: Option<RecordRef>) {
        let number = self.launches;
        self.launches += 1;
        let armed = self.armed.iter().filter(|(tile, _)| tiles.contains(**tile));
        let wrote = armed.map(|(tile, times)| (*tile, *times)).collect();
        self.open.push(Launch { number, by, known: Known::No, reported: None, tiles: tiles.clone(), wrote });
        if self.live {
            // Loads by the host, which was ahead.
            let early = record.and_then(|record| self.reads.iter().position(|read| read.queued > record.index));
            let from = self.first + early.unwrap_or(self.reads.len()) as u64;
            self.running.push(Running { number, by, tiles: tiles.clone(), from, until: None });
        }
    }

    /// The dispatcher has waited for workers.
    pub fn ends(&mut self, tiles: &Tiles) {
        let mut at = 0;
        while at < self.open.len() {
            let launch = &mut self.open[at];
            at += 1;
            if launch.known != Known::No {
                continue;
            }
            let Some(ended) = launch.split(tiles) else { continue };
            let ended = Launch { known: Known::Dispatcher, ..ended };
            if launch.tiles.is_empty() {
                *launch = ended;
            } else {
                self.open.insert(at, ended);
                at += 1;
            }
        }
        self.join(tiles);
    }

    /// Merges, for some tiles, launches of the same tile with the same status: the last one subsumes the others.
    fn join(&mut self, tiles: &Tiles) {
        let mut alike = BTreeMap::<_, SmallVec<[usize; 4]>>::new();
        for (at, launch) in self.open.iter().enumerate().filter(|_| self.open.len() > 1) {
            alike.entry((launch.known, launch.reported)).or_default().push(at);
        }
        for alike in alike.values() {
            for (index, last) in alike.iter().enumerate().rev() {
                let (before, others) = self.open.split_at_mut(*last);
                for at in &alike[..index] {
                    let again = before[*at].split(&others[0].tiles.both(tiles));
                    again.into_iter().for_each(|mut again| others[0].wrote.append(&mut again.wrote));
                }
            }
        }
        self.open.retain(|launch| !launch.tiles.is_empty());
    }

    /// The dispatcher has notified the prefetcher.
    pub fn notify(&mut self) {
        let waited = self.open.iter_mut().filter(|launch| launch.known == Known::Dispatcher);
        waited.for_each(|launch| launch.known = Known::Told);
    }

    /// The prefetcher has waited for the notification.
    pub fn stall(&mut self) {
        self.close(|launch| launch.known == Known::Told);
    }

    /// The dispatcher writes the record with this number for the host.
    pub fn report(&mut self, number: u64) {
        let waited = self.open.iter_mut().filter(|launch| launch.known != Known::No && launch.reported.is_none());
        waited.for_each(|launch| launch.reported = Some(number));
    }

    /// The host has taken this many records.
    pub fn took(&mut self, records: u64) {
        if records > self.taken {
            self.taken = records;
            self.close(|launch| launch.reported.is_some_and(|number| number <= records));
        }
    }

    fn close(&mut self, known: impl Fn(&Launch) -> bool) {
        let next = self.first + self.reads.len() as u64;
        for over in self.open.extract_if(.., |launch| known(launch)) {
            let mut at = 0;
            while at < self.running.len() {
                let running = &mut self.running[at];
                at += 1;
                let some = running.tiles.both(&over.tiles);
                if running.number > over.number || running.until.is_some() || some.is_empty() {
                    continue;
                }
                running.tiles.remove_all(&some);
                let closed = Running { tiles: some, until: Some(next), ..*running };
                if running.tiles.is_empty() {
                    *running = closed;
                } else {
                    self.running.insert(at, closed);
                    at += 1;
                }
            }
        }
    }

    /// The prefetcher reads bytes: returns a launch that may write them and is not known to be over.
    pub fn reads(
        &mut self,
        bytes: &[Bytes],
        record: Option<RecordRef>,
        relay: Option<CommandRef>,
    ) -> Option<CommandRef> {
        let early = self.first_of(|launch| launch.may_write(bytes));
        if !self.running.is_empty() && early.is_none() {
            self.reads.push_back(Read { record, relay, bytes: bytes.to_vec(), queued: 0, act: None });
        }
        early
    }

    /// The oldest launch of a tile ends, and wrote these bytes: returns the relay that read some of them too early, and
    /// the command that started the worker.
    pub fn wrote(&mut self, tile: Xy, wrote: Vec<Bytes>) -> Option<(Read, CommandRef)> {
        let at = self.running.iter_mut().position(|running| running.tiles.remove(tile))?;
        let Running { number, by, from, until, .. } = self.running[at];
        if self.running[at].tiles.is_empty() {
            self.running.remove(at);
        }
        if self.reads.is_empty() && wrote.is_empty() {
            return None;
        }
        let reads = self
            .reads
            .iter()
            .zip(self.first..)
            .filter(|(_, number)| *number >= from && until.is_none_or(|until| *number < until));
        let mut reads = reads.map(|(read, _)| read);
        let early =
            reads.find(|read| read.bytes.iter().any(|read| wrote.iter().any(|wrote| meet(read, wrote)))).cloned();
        let mut launches = self.open.iter_mut().filter(|launch| launch.tiles.contains(tile));
        if let Some(launch) = launches.find(|launch| launch.number >= number) {
            launch.wrote.extend(wrote.into_iter().map(|wrote| (tile, wrote)));
        }
        self.forget();
        early.map(|read| (read, by))
    }

    /// The command that started the launch of the first matching tile, and its first matching launch.
    fn first_of(&self, does: impl Fn(&Launch) -> Option<Xy>) -> Option<CommandRef> {
        let all = self.open.iter().filter_map(|launch| Some((does(launch)?, launch.number, launch.by)));
        all.min_by_key(|(tile, number, _)| (*tile, *number)).map(|(.., by)| by)
    }

    /// Forgets reads that can no longer be too early for any worker or record.
    fn forget(&mut self) {
        if self.reads.is_empty() {
            return;
        }
        let oldest = self.running.iter().map(|running| running.from).min();
        let next = self.first + self.reads.len() as u64;
        let gone = (oldest.unwrap_or(next) - self.first) as usize;
        let gone = self.reads.iter().take(gone).take_while(|read| read.queued <= self.looked_at).count();
        self.reads.drain(..gone);
        self.first += gone as u64;
    }

    /// The host loads bytes, after this many records have been queued: returns a launch that wrote them and is not
    /// known to be over.
    pub fn loads(&mut self, bytes: Bytes, queued: u64, act: Option<u64>) -> Option<CommandRef> {
        let early = self.first_of(|launch| launch.wrote(&[bytes]));
        // Repeated polling adds no information.
        let again = self.reads.iter().rev().take(8).any(|read| read.queued == queued && read.bytes == [bytes]);
        if early.is_none() && !again && (queued > self.looked_at || !self.running.is_empty()) {
            self.reads.push_back(Read { record: None, relay: None, bytes: vec![bytes], queued, act });
        }
        early
    }

    /// A record writes a range: returns the load of the host that read some of it when the record was queued. It is
    /// reported once.
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

    /// This many records have been examined.
    pub fn looked_at(&mut self, records: u64) {
        self.looked_at = records;
        if !self.reads.is_empty() {
            self.forget();
        }
    }
}
