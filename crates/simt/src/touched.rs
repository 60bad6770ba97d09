//! Who touched which bytes since the last barrier of the launch.
//!
//! Two workitems are ordered by a barrier of the launch and by nothing else: not by their warp, nor by an exchange of
//! values or a fence. What two workitems touch without one in between, at least one of them writing and not both in
//! an atomic step, depends on the order in which the hardware runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use slipring_program::{Extent, InnerConflict, SiteRef, TwoWorkitems};
use slipring_tile::Space;

/// Bytes of a word: most accesses are to whole ones.
const WORD: u64 = 4;
/// Words of a page.
const PAGE: u64 = 16;

/// What a workitem does with a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touch {
    Read,
    /// `true` for a write of what is already there.
    Write(bool),
    /// In an atomic step; `true` if its order with others shows.
    Atomic(bool),
}

/// An access to a byte: by this workitem, at this location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct By {
    pub workitem: u32,
    pub site: SiteRef,
}

/// An access, packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Packed(NonZeroU64);

impl From<By> for Packed {
    fn from(By { workitem, site }: By) -> Packed {
        let bits = (u64::from(workitem) + 1) << 32 | u64::from(site);
        Packed(NonZeroU64::new(bits).unwrap_or(NonZeroU64::MIN))
    }
}

impl From<Packed> for By {
    fn from(Packed(bits): Packed) -> By {
        By { workitem: (bits.get() >> 32) as u32 - 1, site: bits.get() as u32 }
    }
}

/// The accesses to one byte, or to all bytes of a word, that later ones are compared with: the last write, and of the
/// reads and the atomic steps the first one and the last one of another workitem.
#[derive(Clone, Copy, Default, Debug)]
struct Byte {
    written: Option<Packed>,
    read: [Option<Packed>; 2],
    atomic: [Option<Packed>; 2],
    /// The order of one of the atomic steps shows.
    shows: bool,
}

impl Byte {
    /// An earlier access that another workitem must be ordered with.
    fn rival(&self, by: By, how: Touch) -> Option<(By, Touch)> {
        let other = |own: &Option<Packed>| own.map(By::from).filter(|own| own.workitem != by.workitem);
        let first = |list: &[Option<Packed>; 2]| list.iter().find_map(other);
        let written = other(&self.written).map(|own| (own, Touch::Write(false)));
        let read = || first(&self.read).filter(|_| how != Touch::Read).map(|own| (own, Touch::Read));
        let plain = !matches!(how, Touch::Atomic(_));
        let atomic = || first(&self.atomic).filter(|_| plain).map(|own| (own, Touch::Atomic(false)));
        written.or_else(read).or_else(atomic)
    }

    fn note(&mut self, by: By, how: Touch) {
        let list = match how {
            Touch::Write(_) => return self.written = Some(by.into()),
            Touch::Read => &mut self.read,
            Touch::Atomic(_) => &mut self.atomic,
        };
        match list[0].map(By::from) {
            Some(first) if first.workitem != by.workitem => list[1] = Some(by.into()),
            _ => list[0] = Some(by.into()),
        }
    }

    /// Notes an access; true if it is an atomic step whose order with that of another workitem shows.
    fn contends(&mut self, by: By, how: Touch) -> bool {
        let Touch::Atomic(shows) = how else { return false };
        self.shows |= shows;
        self.shows && self.atomic.iter().flatten().any(|own| By::from(*own).workitem != by.workitem)
    }
}

/// A memory, and a byte or word of it.
type Address = (bool, u64);

/// The accesses of a launch since its last barrier, and the conflicts found so far.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pages: BTreeMap<Address, Box<[Byte; PAGE as usize]>>,
    /// The words of which a part has been touched, byte by byte.
    split: BTreeMap<Address, [Byte; WORD as usize]>,
    told: BTreeSet<(SiteRef, SiteRef, bool)>,
    pub conflicts: Vec<InnerConflict>,
    /// Where a workitem makes an atomic change whose order with that of another one shows.
    pub contended: Option<SiteRef>,
}

impl Touched {
    /// All workitems have met: what they did before is ordered before what they do next.
    pub fn meet(&mut self) {
        self.pages.clear();
        self.split.clear();
    }

    /// The record of the byte at a place, and how many bytes from there on it is for, at most this many.
    fn record(&mut self, (global, at): Address, most: u64) -> (&mut Byte, u64) {
        let word = (global, at / WORD);
        let page = self.pages.entry((global, at / WORD / PAGE)).or_insert_with(|| Box::new([Byte::default(); 16]));
        let whole = &mut page[(at / WORD % PAGE) as usize];
        if at.is_multiple_of(WORD) && most >= WORD && !self.split.contains_key(&word) {
            return (whole, WORD);
        }
        let bytes = self.split.entry(word).or_insert([*whole; WORD as usize]);
        (&mut bytes[(at % WORD) as usize], 1)
    }

    /// A workitem touches the bytes of a range.
    pub fn touch(&mut self, extent: &Extent, by: By, how: Touch, coordinates: impl Fn(u32) -> [u32; 3]) {
        let (mut at, end) = (extent.start, extent.end());
        // Where it begins and ends, and what the other access was.
        let mut rival: Option<(u64, u64, By, Touch)> = None;
        let mut contended = false;
        while at < end {
            let (record, bytes) = self.record((extent.space == Space::Gm, at), end - at);
            contended |= record.contends(by, how);
            if let Some((earlier, was)) = record.rival(by, how) {
                match &mut rival {
                    None => rival = Some((at, at + bytes, earlier, was)),
                    Some((_, last, first, _)) if *last == at && *first == earlier => *last = at + bytes,
                    Some(_) => {}
                }
            }
            record.note(by, how);
            at += bytes;
        }
        if contended {
            self.contended.get_or_insert(by.site);
        }
        let equal = how == Touch::Write(true) && matches!(rival, Some((.., Touch::Write(_))));
        if let Some((from, to, earlier, was)) = rival
            && self.told.insert((earlier.site, by.site, equal))
        {
            let shared = Extent::run(extent.space, extent.core, from, (to - from) as u32);
            let writes = [was, how].map(|how| how != Touch::Read);
            let workitems = Some(TwoWorkitems { at: [earlier, by].map(|own| coordinates(own.workitem)), equal });
            self.conflicts.push(InnerConflict {
                earlier: earlier.site,
                later: by.site,
                writes,
                kept: false,
                extent: shared,
                barrier: "",
                between: "",
                steps: [0; 2],
                workitems,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use slipring_machine::Role;

    use super::*;

    fn found(accesses: &[(u32, Touch)]) -> Vec<[bool; 2]> {
        let mut touched = Touched::default();
        let extent = Extent::run(Space::Vec, Role::Aiv0, 60, 8);
        for (site, (workitem, how)) in accesses.iter().enumerate() {
            touched.touch(&extent, By { workitem: *workitem, site: site as u32 }, *how, |number| [number, 0, 0]);
        }
        touched.conflicts.iter().map(|conflict| conflict.writes).collect()
    }

    #[test]
    fn two_workitems_conflict_where_one_writes() {
        use Touch::Read;
        let write = Touch::Write(false);
        let atomic = Touch::Atomic(false);
        assert_eq!(found(&[(1, write), (2, write)]), [[true, true]]);
        assert_eq!(found(&[(1, Read), (2, Read), (2, write)]), [[false, true]]);
        assert_eq!(found(&[(1, atomic), (2, atomic)]), [] as [[bool; 2]; 0]);
        assert_eq!(found(&[(1, atomic), (2, atomic), (1, Read)]), [[true, false]]);
        assert_eq!(found(&[(1, Read), (1, write), (1, atomic)]), [] as [[bool; 2]; 0]);
    }

    /// Bytes of one word that different workitems touch.
    #[test]
    fn parts_of_words_are_apart() {
        let mut touched = Touched::default();
        let mut touch = |workitem, start, bytes, how| {
            let extent = Extent::run(Space::Vec, Role::Aiv0, start, bytes);
            touched.touch(&extent, By { workitem, site: workitem }, how, |number| [number, 0, 0]);
        };
        touch(1, 8, 2, Touch::Write(false));
        touch(2, 10, 2, Touch::Write(false));
        touch(3, 16, 4, Touch::Read);
        touch(4, 20, 4, Touch::Write(false));
        touch(5, 8, 1, Touch::Read);
        touch(6, 16, 8, Touch::Write(false));
        let found: Vec<_> =
            touched.conflicts.iter().map(|c| (c.earlier, c.later, c.extent.start, c.extent.end())).collect();
        assert_eq!(found, [(1, 5, 8, 9), (3, 6, 16, 20)]);
    }
}
