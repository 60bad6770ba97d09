//! The remembered accesses to a granule, a page or a region.

use slipring_program::{Change, Update, UpdateKind};
use smallvec::SmallVec;

use crate::clock::Clock;

/// One access, as remembered for the bytes that it touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub block: u32,
    pub lane: u8,
    pub write: bool,
    /// Part of an atomic update, which may come before or after another one of its kind.
    pub update: Option<Change>,
    pub epoch: u32,
    pub site: u32,
    /// Index of the step among those of its core, in program order.
    pub number: u32,
}

impl Stamp {
    /// True for two atomic updates that may come in either order.
    pub fn commutes(&self, other: &Stamp) -> bool {
        self.update.zip(other.update).is_some_and(|(own, other)| own.goes_with(other))
    }

    /// True for two atomic updates whose order shows.
    pub fn order_shows(&self, other: &Stamp) -> bool {
        self.update.into_iter().chain(other.update).any(Change::order_shows)
    }

    /// True for a part of a sum.
    pub fn is_sum(&self) -> bool {
        matches!(self.update, Some(Change::Update(Update { kind: UpdateKind::Add, .. })))
    }

    /// True if it makes all earlier accesses to its bytes irrelevant.
    pub(crate) fn replaces(&self) -> bool {
        self.write && self.update.is_none()
    }
}

/// An access, and the bytes of the granule that it touched and that nothing later replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub stamp: Stamp,
    pub mask: u32,
}

/// The remembered accesses of a granule, or of a page or region whose bytes all have the same ones (its masks are then
/// all ones): for each byte the last write, and the last read of each agent since.
pub(crate) type Cell = SmallVec<[Entry; 2]>;

/// An access being checked.
pub(crate) struct Touch<'a, F: FnMut(Stamp, u64, u64)> {
    pub stamp: Stamp,
    /// What is complete before the access starts.
    pub clock: &'a Clock,
    /// Called for each earlier access that conflicts and is not ordered before: its stamp, and start and end of a part
    /// of the overlap.
    pub conflict: F,
    /// Blocks may be ordered with each other.
    pub blocks_meet: bool,
    /// The last epoch of its own lane that is complete even where the pipe does not keep its work in order.
    pub known: u32,
    /// Whether only the order of one pipe separates the access from an earlier one.
    pub leans: &'a mut Leans,
}

/// Accesses that only the order of their pipe separates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leans {
    /// There are some.
    pub any: bool,
    /// The first that nothing else orders: the earlier access, and start and end of the common bytes.
    pub alone: Option<(Stamp, u64, u64)>,
}

impl Leans {
    /// An access of the same lane comes before; `known` is the last epoch of the lane that is complete in any case.
    #[inline]
    pub(crate) fn on(&mut self, old: Stamp, known: u32, commute: bool, bytes: impl FnOnce() -> (u64, u64)) {
        self.any = true;
        if old.epoch > known && !commute && self.alone.is_none() {
            let (first, end) = bytes();
            self.alone = Some((old, first, end));
        }
    }
}

/// The part of an access within one granule, from `start`, or the whole of a page or region, which ends at `end`.
#[inline]
pub(crate) fn touch_cell<F: FnMut(Stamp, u64, u64)>(
    cell: &mut Cell,
    mask: u32,
    start: u64,
    end: Option<u64>,
    touch: &mut Touch<'_, F>,
) {
    let new = touch.stamp;
    // Two other blocks that made the same access to all these bytes: any later access that conflicts with this one
    // races with one of them.
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
            // An update that is not ordered after another one of its kind does not subsume it.
            if (new.write && (!commute || ordered || same)) || (!old.write && (ordered || same)) {
                entry.mask &= !mask;
                if entry.mask == 0 {
                    cell.swap_remove(at);
                    continue;
                }
                // An update subsumes one of another block only if both are from the same location in the text: findings
                // name locations.
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
