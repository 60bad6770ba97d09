//! Who touched bytes last: the accesses to a granule, a page or a region that are remembered.

use slipring_program::Update;
use smallvec::SmallVec;

use crate::clock::Clock;

/// One access, as it is remembered for the bytes that it touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub block: u32,
    pub lane: u8,
    pub write: bool,
    /// Part of an atomic update, which may come before or after another one of its kind.
    pub update: Option<Update>,
    pub epoch: u32,
    pub site: u32,
    /// Number of the step among those of its core, in program order.
    pub number: u32,
}

impl Stamp {
    /// True for two atomic updates that may come in either order.
    pub fn commutes(&self, other: &Stamp) -> bool {
        self.update.is_some() && self.update == other.update
    }

    /// True if nothing before it is remembered of the bytes that it touches.
    pub(crate) fn replaces(&self) -> bool {
        self.write && self.update.is_none()
    }
}

/// An access and the bytes of the granule that it touched and that nothing later replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub stamp: Stamp,
    pub mask: u32,
}

/// What is remembered of a granule, or of a page or region, whose bytes are all alike (its masks are then all ones):
/// for each byte the last write, and the last read of each agent since.
pub(crate) type Cell = SmallVec<[Entry; 2]>;

/// An access that is checked.
pub(crate) struct Touch<'a, F: FnMut(Stamp, u64, u64)> {
    pub stamp: Stamp,
    /// What is over before the access starts.
    pub clock: &'a Clock,
    /// Told for each earlier access that conflicts and is not ordered before: who it was and the bytes
    /// (first and end) of a piece of the overlap.
    pub conflict: F,
    /// Blocks may be ordered with each other.
    pub blocks_meet: bool,
    /// The last epoch of its own lane that is over also where the pipe does not keep its work in order.
    pub known: u32,
    /// Whether only the order of one pipe keeps the access apart from an earlier one.
    pub leans: &'a mut Leans,
}

/// Accesses that only the order of their pipe keeps apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leans {
    /// There are some.
    pub any: bool,
    /// The first that nothing else orders: the earlier access, and the bytes (first and end) that both touch.
    pub alone: Option<(Stamp, u64, u64)>,
}

impl Leans {
    /// An access of the same lane comes before; `known` is the last epoch of the lane that is over in any case.
    #[inline]
    pub(crate) fn on(&mut self, old: Stamp, known: u32, commute: bool, bytes: impl FnOnce() -> (u64, u64)) {
        self.any = true;
        if old.epoch > known && !commute && self.alone.is_none() {
            let (first, end) = bytes();
            self.alone = Some((old, first, end));
        }
    }
}

/// The part of an access that lies in one granule, from `start` on, or is the whole of a page or region, which ends at `end`.
#[inline]
pub(crate) fn touch_cell<F: FnMut(Stamp, u64, u64)>(
    cell: &mut Cell,
    mask: u32,
    start: u64,
    end: Option<u64>,
    touch: &mut Touch<'_, F>,
) {
    let new = touch.stamp;
    // Two other blocks that did the same here, over all these bytes: whatever comes later and conflicts with this access races
    // with one of them.
    let mut others: [Option<u32>; 2] = [None; 2];
    let mut at = 0;
    while at < cell.len() {
        let entry = &mut cell[at];
        let shared = entry.mask & mask;
        if shared != 0 {
            let old = entry.stamp;
            let ordered = old.block == new.block && touch.clock.get(usize::from(old.lane)) >= old.epoch;
            let commute = new.commutes(&old);
            let bytes = || match end {
                Some(end) => (start, end),
                None => {
                    let (first, last) = (shared.trailing_zeros(), 32 - shared.leading_zeros());
                    (start + u64::from(first), start + u64::from(last))
                }
            };
            if (new.write || old.write) && ordered && old.lane == new.lane && old.number != new.number {
                touch.leans.on(old, touch.known, commute, bytes);
            }
            if (new.write || old.write) && !ordered {
                let (from, to) = bytes();
                (touch.conflict)(old, from, to);
            }
            // A later access that conflicts with both need only be ordered after the new one.
            let same = old.block == new.block && old.lane == new.lane;
            // One that is not ordered after another update of its kind does not stand for it.
            if (new.write && (!commute || ordered || same)) || (!old.write && (ordered || same)) {
                entry.mask &= !mask;
                if entry.mask == 0 {
                    cell.swap_remove(at);
                    continue;
                }
                // An update stands for one of another block from the same place in the text only: findings name places.
            } else if (if new.write { commute && old.site == new.site } else { !old.write })
                && old.block != new.block
                && shared == mask
            {
                match others {
                    [None, _] => others[0] = Some(old.block),
                    [Some(block), None] if block != old.block => others[1] = Some(old.block),
                    _ => {}
                }
            }
        }
        at += 1;
    }
    if others[1].is_none() || touch.blocks_meet {
        cell.push(Entry { stamp: new, mask });
    }
}
