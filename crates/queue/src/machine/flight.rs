//! Transfers in flight, in order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::chip::TileId;
use super::memory::Location;
use crate::wire::Rect;

/// A timed event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flight {
    /// Bytes of a tile's L1 arrive somewhere. They are read from their source at that time: until then the sender must
    /// not change them.
    Write { tile: TileId, from: u32, to: Location, bytes: u32 },
    /// Bytes of a tile's L1 arrive in every tile of a rectangle.
    Multicast { tile: TileId, from: u32, rect: Rect, addr: u32, bytes: u32 },
    /// Bytes arrive in the L1 of the requesting tile.
    Read { from: Location, tile: TileId, to: u32, bytes: u32 },
    /// A word of L1 is incremented.
    Add { tile: TileId, addr: u32, value: u32 },
    /// A stream of the dispatch core is incremented.
    Notice { stream: u32, value: u32 },
    /// A worker reads its go message.
    Poll { tile: TileId },
    /// A worker is done.
    Done { tile: TileId },
}

/// Flights by arrival; those of one cycle in the order in which they started.
///
/// Those of the next few thousand cycles are in one list per cycle. Those that arrive later are in a heap: they started
/// before any in the list of the same cycle, so they come first.
pub(crate) struct Flights {
    slots: Vec<(Flight, u32)>,
    free: Vec<u32>,
    /// The first and the last slot of each cycle's list, valid if its bit is set.
    lists: Box<[[u32; 2]; WHEEL]>,
    /// A bit for each nonempty list, and for each nonzero word of such bits.
    some: [u64; WHEEL / 64],
    words: u64,
    /// Nothing arrives before this cycle, and flights in lists arrive less than `WHEEL` cycles after it.
    base: u64,
    /// When the first flight in a list arrives.
    first: u64,
    /// Arrival, and start number combined with slot: small keys, and one comparison is sufficient.
    late: BinaryHeap<Reverse<(u64, u64)>>,
    started: u64,
    len: usize,
}

/// Number of cycles with lists: the square of the number of bits in a word.
const WHEEL: usize = 64 * 64;
const SLOT_BITS: u32 = 24;

impl Default for Flights {
    fn default() -> Flights {
        Flights {
            slots: Vec::new(),
            free: Vec::new(),
            lists: Box::new([[0; 2]; WHEEL]),
            some: [0; WHEEL / 64],
            words: 0,
            base: 0,
            first: NEVER,
            late: BinaryHeap::new(),
            started: 0,
            len: 0,
        }
    }
}

impl Flights {
    pub fn start(&mut self, arrival: u64, flight: Flight) {
        let arrival = arrival.min(NEVER - 1);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = (flight, 0);
                slot
            }
            None => {
                self.slots.push((flight, 0));
                self.slots.len() as u32 - 1
            }
        };
        self.len += 1;
        if arrival.wrapping_sub(self.base) >= WHEEL as u64 {
            debug_assert!(arrival >= self.base && slot < 1 << SLOT_BITS);
            self.late.push(Reverse((arrival, self.started << SLOT_BITS | u64::from(slot))));
            self.started += 1;
            return;
        }
        self.first = self.first.min(arrival);
        let at = arrival as usize % WHEEL;
        let list = &mut self.lists[at];
        let word = &mut self.some[at / 64];
        if *word >> (at % 64) & 1 == 0 {
            *word |= 1 << (at % 64);
            self.words |= 1 << (at / 64);
            *list = [slot, slot];
        } else {
            let last = std::mem::replace(&mut list[1], slot);
            self.slots[last as usize].1 = slot;
        }
    }

    /// When the next one arrives; never, if there is none.
    pub fn next(&self) -> u64 {
        self.late.peek().map_or(self.first, |Reverse((late, _))| self.first.min(*late))
    }

    /// Whether the next one arrives by a cycle. None that starts later arrives before that.
    pub fn is_due(&mut self, by: u64) -> bool {
        let due = self.next() <= by;
        if !due {
            self.base = self.base.max(by);
        }
        due
    }

    /// Takes the next one, which is due.
    pub fn take(&mut self) -> Flight {
        let next = self.next();
        self.len -= 1;
        if let Some(Reverse((_, key))) = self.late.peek_mut().filter(|late| late.0.0 == next).map(PeekMut::pop) {
            let slot = (key & ((1 << SLOT_BITS) - 1)) as u32;
            self.free.push(slot);
            return self.slots[slot as usize].0;
        }
        let at = next as usize % WHEEL;
        let [slot, last] = self.lists[at];
        let (flight, behind) = self.slots[slot as usize];
        self.free.push(slot);
        if slot == last {
            self.empty(at);
        } else {
            self.lists[at][0] = behind;
        }
        flight
    }

    /// A list has become empty: finds the first nonempty one, cyclically from there.
    fn empty(&mut self, at: usize) {
        let (word, bit) = (at / 64, at % 64);
        self.some[word] &= !(1 << bit);
        if self.some[word] == 0 {
            self.words &= !(1 << word);
        }
        if self.words == 0 {
            self.first = NEVER;
            return;
        }
        let behind = self.some[word] >> bit;
        let ahead = match behind {
            0 => {
                // Words after this one, cyclically up to the bits before this one in the same word.
                let step = self.words.rotate_right(word as u32 + 1).trailing_zeros() as usize + 1;
                let other = (word + step) % 64;
                step * 64 + self.some[other].trailing_zeros() as usize - bit
            }
            _ => behind.trailing_zeros() as usize,
        };
        self.first += ahead as u64;
    }

    /// Number of flights.
    pub fn len(&self) -> usize {
        self.len
    }
}

/// Not a cycle.
pub(crate) const NEVER: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// They come by arrival, and those of one cycle in the order in which they started.
        #[test]
        fn they_come_in_order(
            steps in prop::collection::vec((0u64..40, prop::collection::vec((0u32..6, 0u64..5000), 0..4)), 1..200),
        ) {
            let (mut flights, mut expected, mut now, mut number) = (Flights::default(), Vec::new(), 0, 0);
            for (passes, starts) in steps {
                for (kind, delay) in starts {
                    let arrival = now + [0, 60, 80, 700, 4095, delay][kind as usize];
                    flights.start(arrival, Flight::Notice { stream: number, value: 0 });
                    expected.push((arrival, number));
                    number += 1;
                }
                now += passes * passes;
                prop_assert_eq!(flights.len(), expected.len());
                prop_assert_eq!(flights.next(), expected.iter().map(|(at, _)| *at).min().unwrap_or(NEVER));
                expected.sort_unstable();
                let due = expected.partition_point(|(at, _)| *at <= now);
                for (_, number) in expected.drain(..due) {
                    prop_assert!(flights.is_due(now));
                    let taken = flights.take();
                    let same = matches!(taken, Flight::Notice { stream, .. } if stream == number);
                    prop_assert!(same, "{taken:?} in place of {number}");
                }
                prop_assert!(!flights.is_due(now));
            }
        }
    }
}
