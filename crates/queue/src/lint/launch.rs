//! Go signals: the workers that were sent one, those that have been waited for, and the writes that a signal may
//! overtake.

use super::tiles::Tiles;
use super::{Linter, Order};
use crate::board::Tile;
use crate::lint::launches::Launches;
use crate::sanitize::{CommandRef, Hazard, Notices};
use crate::wire::{GoMessage, Packed, Rect, SendGoSignal, Wait, Xy};

impl Linter {
    /// A tile is written.
    pub(super) fn written(&mut self, at: CommandRef, tile: Xy) {
        if self.launches.runs(tile) && self.launches.warned.insert(at.index) {
            let message = format!("{tile} was sent a go signal and has not been waited for");
            self.find_in(at, Hazard::WriteWhileRunning, message);
        }
    }

    /// All tiles of a rectangle are written, by a multicast.
    pub(super) fn written_all(&mut self, at: CommandRef, rect: Rect) {
        self.launches.in_flight.insert(rect, at);
        if !self.launches.running.is_empty() {
            rect.tiles().for_each(|tile| self.written(at, tile));
        }
    }

    /// From here on something other than the dispatcher may launch workers.
    pub(super) fn launched_elsewhere(&mut self) {
        self.launches.unknown = true;
    }

    /// Unknown commands may have launched workers, waited for them, or set other targets.
    pub(super) fn launches_unknown(&mut self) {
        self.launches = Launches { unknown: true, ..Launches::default() };
    }

    /// All writes so far have arrived.
    pub(super) fn barrier(&mut self) {
        self.launches.in_flight.clear();
        self.unread.barrier();
        self.resets.barrier();
        self.order.iter_mut().for_each(Order::barrier);
    }

    pub(super) fn go_list(&mut self, at: CommandRef, words: &[u32]) {
        let most = self.layout.dispatch.go_words as usize;
        if words.len() > most {
            self.find_in(at, Hazard::GoListOverrun, format!("{} words; the list holds {most}", words.len()));
        }
        for word in words.iter().take(most) {
            let tile = Xy::from_word(*word);
            let (hazard, what) = match self.board.tile(tile) {
                Tile::Worker if tile.word() == *word => continue,
                Tile::Prefetch | Tile::Dispatch => (Hazard::QueueCoreWritten, "runs the queue"),
                _ => (Hazard::NocUnmapped, "is not a worker"),
            };
            self.find_in(at, hazard, format!("{word:#x} in the list of go signals: {tile} {what}"));
        }
        self.launches.list = words.to_vec();
    }

    pub(super) fn go(&mut self, at: CommandRef, c: &SendGoSignal) {
        self.launches.any = true;
        let bytes = c.go_signal.to_le_bytes();
        let message = GoMessage::read(&bytes).unwrap_or_default();
        let master = Xy::new(message.master_x, message.master_y);
        let stream = self.layout.dispatch.first_stream + u32::from(message.message_offset);
        let notifies = matches!(message.signal, GoMessage::GO | GoMessage::RESET_READ_PTR | GoMessage::REPLAY_TRACE);
        if notifies && master != self.board.dispatch {
            let text = format!(
                "{:#010x} tells workers to notify {master}; the dispatcher is {}",
                c.go_signal, self.board.dispatch
            );
            self.find_in(at, Hazard::GoMaster, text);
        }
        if notifies && u32::from(message.message_offset) >= self.layout.dispatch.streams {
            let text = format!("stream {stream} is none of the {} that count workers", self.layout.dispatch.streams);
            self.find_in(at, Hazard::GoMaster, text);
        }
        if c.multicast_go_offset != SendGoSignal::NO_MULTICAST {
            let text =
                "go signals to the whole grid go to a rectangle that is compiled in and covers other tiles as well";
            self.find_in(at, Hazard::MulticastTargets, text);
            self.launches.unknown = true;
        }
        self.reaches(at, c.wait_stream, c.wait_count);
        let (start, count) = (usize::from(c.noc_data_start_index), usize::from(c.num_unicast_txns));
        let list = &self.launches.list;
        let unknown = self.unknown && list.is_empty();
        if !unknown && (start + count > list.len() || start + count > 256) {
            let text = format!("tiles {start} to {} of a list of {}", (start + count).saturating_sub(1), list.len());
            self.find_in(at, Hazard::GoIndexOutside, text);
        }
        let targets: Vec<Xy> =
            self.launches.list.iter().skip(start).take(count).map(|word| Xy::from_word(*word)).collect();
        let overtaken = targets.iter().find_map(|tile| self.launches.in_flight.get(*tile).map(|write| (*tile, write)));
        if let Some((tile, write)) = overtaken {
            let text = format!("the signal to {tile} may overtake {write}: no barrier stands between them");
            self.find_in(at, Hazard::GoBeforePayload, text);
        }
        let unseen = targets.iter().find_map(|tile| self.resets.unseen(*tile).map(|write| (*tile, write)));
        if let (Some((tile, write)), None) = (unseen, overtaken) {
            let text = format!(
                "the signal to {tile} may come before it has seen the reset of {write}: nothing waits in between"
            );
            self.find_in(at, Hazard::GoBeforeReset, text);
        }
        if !notifies {
            return;
        }
        if let Some(write) = self.unread.dram_in_flight() {
            let text = format!("the signal may overtake what {write} writes to DRAM: no barrier stands between them");
            self.find_in(at, Hazard::GoBeforePayload, text);
        }
        if let Some(tile) = targets.iter().find(|tile| self.launches.runs(**tile)) {
            self.find_in(
                at,
                Hazard::GoWhileRunning,
                format!("{tile} has not been waited for since its last go signal"),
            );
        }
        let twice = targets.iter().enumerate().find(|(at, tile)| targets[..*at].contains(tile));
        if let Some((_, tile)) = twice {
            self.find_in(at, Hazard::GoWhileRunning, format!("{tile} is listed twice for this go signal"));
        }
        let due = self.launches.due.entry(stream).or_default();
        *due = due.saturating_add(targets.len() as u32);
        targets.iter().for_each(|tile| self.writes_go(at, *tile));
        if let Some(order) = self.order.as_mut().filter(|_| message.signal == GoMessage::GO) {
            targets.iter().for_each(|tile| order.starts(*tile, self.layout.l1_bytes, at, self.record));
        }
        // Mostly a single set: a tile that is listed twice is started twice.
        let mut sets = vec![Tiles::default()];
        for tile in targets {
            if !sets.iter_mut().any(|set| set.insert(tile)) {
                sets.push(Tiles::from_iter([tile]));
            }
        }
        for set in sets {
            if message.signal == GoMessage::GO {
                self.results.starts(&set, at, None);
                self.host_results.starts(&set, at, self.record);
            }
            self.launches.running.values_mut().for_each(|running| running.remove_all(&set));
            self.launches.running.entry(stream).or_default().insert_all(&set);
        }
    }

    pub(super) fn wait(&mut self, at: CommandRef, c: &Wait) {
        let unknown =
            c.flags & !(Wait::BARRIER | Wait::NOTIFY_PREFETCH | Wait::MEMORY | Wait::STREAM | Wait::CLEAR_STREAM);
        if unknown != 0 {
            self.find_in(at, Hazard::ReservedBytes, format!("bits {unknown:#04x} of the flags are undefined"));
        }
        if c.has(Wait::BARRIER) {
            self.barrier();
        }
        if c.has(Wait::NOTIFY_PREFETCH) && self.layout.sems < 3 {
            let text = format!("it adds 1 to {:#x}, where the prefetcher's text starts", self.layout.sem(2));
            self.find_in(at, Hazard::StallSemaphoreIsCode, text);
        }
        if c.has(Wait::MEMORY) {
            let event = self.layout.is_event(c.addr.into(), 4);
            match self.layout.changing(c.addr) {
                _ if event && self.order.is_some() => {
                    let record = self.record;
                    self.order.iter_mut().for_each(|order| order.waits(c.addr.into(), c.count, at, record));
                }
                Some(what) => self.not_ordered(format!("a WAIT for a word of {what}: who writes that, and when")),
                // A machine detects it under any delays.
                None if !self.live => {
                    self.not_ordered("whether a word that the queue leaves as it is holds what a WAIT needs");
                }
                None => {}
            }
        }
        if c.has(Wait::MEMORY) && (!c.addr.is_multiple_of(4) || c.addr >= self.layout.l1_bytes) {
            self.find_in(at, Hazard::L1Outside, format!("{:#x} is not a word of the dispatch core's L1", c.addr));
        }
        let stream = u32::from(c.stream);
        if c.has(Wait::STREAM) {
            self.reaches(at, stream, c.count);
            let due = self.launches.due.get(&stream).copied().unwrap_or(0);
            let passed = self.launches.passed.entry(stream).or_default();
            let before = Notices { due: due.into(), passed: *passed };
            *passed = c.count.max(*passed);
            if before.stale(c.count) && !self.launches.unknown {
                let text = format!(
                    "it waits for {} on stream {stream}, which an earlier wait has seen; {due} are due since it was cleared",
                    c.count
                );
                self.find_in(at, Hazard::WaitStale, text);
            } else if c.count < due && c.has(Wait::CLEAR_STREAM) && !self.launches.unknown {
                let text = format!("it waits for {} notices, clears the stream, and {due} are on their way", c.count);
                self.find_in(at, Hazard::WaitTooEarly, text);
            }
            if c.count >= due
                && let Some(tiles) = self.launches.running.remove(&stream)
            {
                self.results.ends(&tiles);
                self.host_results.ends(&tiles);
                self.order.iter_mut().for_each(|order| order.ends(&tiles));
            }
        }
        // The last action of a WAIT.
        if c.has(Wait::NOTIFY_PREFETCH) {
            self.unread.notify();
            self.results.notify();
            self.order.iter_mut().for_each(Order::notifies);
            self.notices += 1;
        }
        if c.has(Wait::CLEAR_STREAM) {
            self.launches.due.remove(&stream);
            self.launches.passed.remove(&stream);
        }
    }

    /// Whether a stream reaches the awaited count.
    fn reaches(&mut self, at: CommandRef, stream: u32, count: u32) {
        if count > 65_535 {
            self.find_in(at, Hazard::WaitCountTooLarge, format!("{count} is more than 65,535"));
            return;
        }
        let ours = self.layout.dispatch.first_stream..self.layout.dispatch.first_stream + self.layout.dispatch.streams;
        if !ours.contains(&stream) {
            let text = format!("it waits on stream {stream}; {} to {} count workers", ours.start, ours.end - 1);
            self.find_in(at, Hazard::WaitForeignStream, text);
        }
        let due = self.launches.due.get(&stream).copied().unwrap_or(0);
        if count > due && !self.launches.unknown {
            let text = format!("it waits for {count} on stream {stream}, which gets {due} since it was cleared");
            self.find_in(at, Hazard::WaitUnreachable, text);
        }
    }
}
