//! Operands of one operation that share bytes without being the same tile.

use slipring_program::{Access, Extent};

/// Bytes of a source (or of working memory, or of the results) that an operation overwrites while other elements may still be
/// read there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Overlap {
    /// The range that is read, or written as well.
    pub of: Extent,
    /// Start of the part shared with the overwriting range.
    pub first: u64,
    /// End of the part.
    pub end: u64,
    /// True if the overwriting range is working memory.
    pub working: bool,
}

/// The first overlap that is not in place. A result is in place if it begins where its source begins and, line by line,
/// extends no further: every element is read before its bytes are written, in whatever order.
pub(crate) fn find(access: &Access) -> Option<Overlap> {
    let local = |e: &&Extent| access.reads.iter().any(|r| (r.space, r.core) == (e.space, e.core));
    let shares = access.writes.iter().any(|w| local(&w)) || !access.undefined.is_empty();
    if access.update.is_some() || !shares {
        return None;
    }
    // Working memory is written, too; if a result is at the same address, it appears among the writes twice.
    let places = |list: &[Extent], place: &Extent| list.iter().filter(|other| *other == place).count();
    let is_result = |w: &&Extent| places(&access.writes, w) > places(&access.undefined, w);
    let results = || access.writes.iter().filter(is_result);
    let in_place = |read: &Extent, write: &Extent| {
        read.start == write.start && write.row_bytes <= read.row_bytes && write.end() <= read.end()
    };
    let sources = access.reads.iter().flat_map(|read| results().map(move |write| (read, write)));
    let sources = sources.filter(|(read, write)| !in_place(read, write)).map(|(read, write)| (read, write, false));
    let with_working = access
        .undefined
        .iter()
        .flat_map(|working| access.reads.iter().chain(results()).map(move |other| (other, working, true)))
        .filter(|(other, working, _)| other != working || !access.clobbered.contains(working));
    sources.chain(with_working).find_map(|(of, by, working)| {
        let (first, end) = shared(of, by)?;
        Some(Overlap { of: *of, first, end, working })
    })
}

/// True if an operation may read bytes of a range that it writes.
pub(crate) fn reads_of(access: &Access, written: &Extent) -> bool {
    let near = |read: &Extent| read.start < written.end() && written.start < read.end();
    access.reads.iter().any(|read| (read.space, read.core) == (written.space, written.core) && near(read))
}

/// The first run of bytes that two ranges share.
fn shared(a: &Extent, b: &Extent) -> Option<(u64, u64)> {
    if (a.space, a.core) != (b.space, b.core) && !(a.space == b.space && a.space == slipring_tile::Space::Gm) {
        return None;
    }
    if a.end() <= b.start || b.end() <= a.start {
        return None;
    }
    let rows = |e: &Extent| {
        let e = *e;
        (0..u64::from(e.rows))
            .map(move |row| (e.start + row * e.stride, e.start + row * e.stride + u64::from(e.row_bytes)))
    };
    // The rows of both ascend: merge them.
    let (mut a, mut b) = (rows(a).peekable(), rows(b).peekable());
    loop {
        let (x, y) = (*a.peek()?, *b.peek()?);
        if x.0.max(y.0) < x.1.min(y.1) {
            return Some((x.0.max(y.0), x.1.min(y.1)));
        }
        if x.1 <= y.1 {
            a.next();
        } else {
            b.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_machine::Role;
    use slipring_tile::Space;

    fn lines(start: u64, rows: u32, row_bytes: u32, stride: u64) -> Extent {
        Extent { space: Space::Vec, core: Role::Aiv0, start, rows, row_bytes, stride }
    }

    fn access(reads: &[Extent], writes: &[Extent], undefined: &[Extent]) -> Access {
        Access {
            reads: reads.to_vec(),
            writes: writes.iter().chain(undefined).copied().collect(),
            undefined: undefined.to_vec(),
            ..Access::default()
        }
    }

    #[test]
    fn in_place_is_the_same_tile_or_its_front() {
        let tile = lines(0, 16, 64, 256);
        assert_eq!(find(&access(&[tile], &[tile], &[])), None);
        assert_eq!(find(&access(&[tile], &[lines(0, 16, 32, 128)], &[])), None);
        assert!(find(&access(&[tile], &[lines(256, 15, 64, 256)], &[])).is_some());
        assert!(find(&access(&[lines(0, 1, 64, 0)], &[lines(0, 1, 128, 0)], &[])).is_some());
        // Columns beside each other share no byte.
        assert_eq!(find(&access(&[tile], &[lines(64, 16, 64, 256)], &[])), None);
        assert_eq!(find(&access(&[tile], &[lines(32, 16, 64, 256)], &[])).map(|o| (o.first, o.end)), Some((32, 64)));
    }

    #[test]
    fn working_memory_is_nobody_elses() {
        let (a, d, t) = (lines(0, 1, 64, 0), lines(64, 1, 64, 0), lines(128, 1, 64, 0));
        assert_eq!(find(&access(&[a], &[d], &[t])), None);
        assert!(find(&access(&[a], &[d], &[a])).is_some_and(|o| o.working));
        assert!(find(&access(&[a], &[d], &[lines(100, 1, 64, 0)])).is_some_and(|o| o.working));
    }
}
