//! The history of buffers: writes in place, ops that took them, copies into others.

use std::collections::BTreeMap;
use std::rc::Rc;

use slipring_ir::{Span, ValueId};

use crate::value::{Index, Tensor, TileId};

/// A store into a window.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub window: Tensor,
    /// Valid rows and columns of the stored tile.
    pub valid: Option<[Index; 2]>,
    pub span: Span,
}

/// A load of a window of an output.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub window: Tensor,
    pub span: Span,
    /// Number of earlier stores in the text.
    pub stores: usize,
    /// True if it is in a branch in a loop: later code in the text may run before it.
    pub again: bool,
}

/// Two buffers that may be one object in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MayAlias {
    pub buffers: [ValueId; 2],
    /// The place where a copy became necessary.
    pub place: Span,
    /// Set if a loop that runs at least once has put something else into a buffer.
    pub over: bool,
}

impl MayAlias {
    /// The other buffer, if this is one of them.
    pub fn of(&self, buffer: ValueId) -> Option<ValueId> {
        let at = self.buffers.iter().position(|one| *one == buffer).filter(|_| !self.over)?;
        Some(self.buffers[1 - at])
    }
}

/// A partial write to a buffer, after which it still holds its tile.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub buffer: ValueId,
    pub span: Span,
    /// Names that are live after it, with the other buffers that they use.
    pub read: Vec<(Rc<str>, ValueId)>,
    /// False if only the body of a loop may write it, about which nothing is known yet.
    pub sure: bool,
}

/// An op that works in place and took a tile's buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub buffer: ValueId,
    pub span: Span,
    /// Number of times that the buffer had been taken before.
    pub before: u32,
}

/// The history of a function's buffers.
#[derive(Default)]
pub(crate) struct Buffers {
    pub writes: Vec<Write>,
    /// For each buffer, the number of writes at its last write.
    pub last_write: BTreeMap<ValueId, usize>,
    pub twins: Vec<MayAlias>,
    /// Indices of ended aliases, in the order in which they ended.
    pub over: Vec<usize>,
    pub taken: Vec<Taken>,
    /// The number of times that a buffer was taken, and the last place.
    pub taken_count: BTreeMap<ValueId, (u32, Span)>,
    /// Stores into tensors, in the order of the text.
    pub stores: Vec<Store>,
    /// Loads from outputs, in the order of the text.
    pub loads: Vec<Load>,
    /// Buffers with a window's elements, because a name is a tile on some paths and the window on others: the buffer,
    /// the index of the tensor, and the place of the load.
    pub windows: Vec<(ValueId, usize, Span)>,
    /// Copies: the second buffer may represent whatever the first one represents.
    pub copied: Vec<(ValueId, ValueId)>,
}

/// A state of [`Buffers`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuffersMark {
    pub writes: usize,
    pub twins: usize,
    pub over: usize,
    pub taken: usize,
    pub stores: usize,
    pub loads: usize,
    pub windows: usize,
    pub copied: usize,
}

impl Buffers {
    pub fn mark(&self) -> BuffersMark {
        BuffersMark {
            writes: self.writes.len(),
            twins: self.twins.len(),
            over: self.over.len(),
            taken: self.taken.len(),
            stores: self.stores.len(),
            loads: self.loads.len(),
            windows: self.windows.len(),
            copied: self.copied.len(),
        }
    }

    /// Returns to an earlier state. Buffers written since then stay marked as written, so that copies of them are made
    /// again.
    pub fn take_back(&mut self, mark: BuffersMark) {
        self.untake(mark.taken);
        self.writes.truncate(mark.writes);
        for last in self.last_write.values_mut() {
            *last = (*last).min(mark.writes);
        }
        for at in self.over.drain(mark.over..) {
            self.twins[at].over = false;
        }
        self.twins.truncate(mark.twins);
        self.stores.truncate(mark.stores);
        self.loads.truncate(mark.loads);
        self.windows.truncate(mark.windows);
        self.copied.truncate(mark.copied);
    }

    /// Removes and returns the takes since a position.
    pub fn untake(&mut self, from: usize) -> Vec<Taken> {
        let taken = self.taken.split_off(from);
        for one in taken.iter().rev() {
            match one.before {
                0 => drop(self.taken_count.remove(&one.buffer)),
                n => drop(self.taken_count.insert(one.buffer, (n, one.span))),
            }
        }
        taken
    }

    /// Begins the other arm of a branch: buffers that the first arm took are available.
    pub fn other_arm(&mut self, mark: BuffersMark) -> Vec<Taken> {
        self.untake(mark.taken)
    }

    /// After both arms: a buffer that either took is taken.
    pub fn join(&mut self, other: Vec<Taken>) {
        for one in other {
            let (before, span) = self.taken_count.get(&one.buffer).copied().unwrap_or((0, one.span));
            if before <= one.before {
                self.taken.push(Taken { before, ..one });
                self.taken_count.insert(one.buffer, (one.before + 1, span));
            }
        }
    }

    /// Number of times that a buffer was taken by ops that work in place.
    pub fn generation(&self, buffer: ValueId) -> u32 {
        self.taken_count.get(&buffer).map_or(0, |(n, _)| *n)
    }

    /// A version of a buffer's contents: the number of takes, and its last write.
    pub fn changes(&self, buffer: ValueId) -> (u32, usize) {
        (self.generation(buffer), self.last_write.get(&buffer).copied().unwrap_or(0))
    }

    /// The last place where a buffer was taken.
    pub fn taken_at(&self, buffer: ValueId) -> Option<Span> {
        self.taken_count.get(&buffer).map(|(_, span)| *span)
    }

    /// Buffers taken since.
    pub fn taken_since(&self, mark: BuffersMark) -> &[Taken] {
        &self.taken[mark.taken..]
    }

    /// Number of writes so far.
    pub fn now(&self) -> usize {
        self.writes.len()
    }

    /// True if a buffer was written after this number of writes.
    pub fn written_after(&self, buffer: ValueId, then: usize) -> bool {
        self.last_write.get(&buffer).is_some_and(|last| *last > then)
    }

    /// The tensor whose window a buffer may represent, and the place of the load.
    pub fn window_in(&self, buffer: ValueId) -> Option<(usize, Span)> {
        self.windows.iter().find(|(of, ..)| *of == buffer).map(|(_, root, span)| (*root, *span))
    }

    /// Records that a buffer may represent a window of a tensor.
    pub fn holds_window(&mut self, buffer: ValueId, root: usize, span: Span) {
        if !self.windows.iter().any(|(of, known, _)| *of == buffer && *known == root) {
            self.windows.push((buffer, root, span));
        }
    }

    /// Records that a buffer may represent whatever another one may represent.
    pub fn holds_windows_of(&mut self, from: ValueId, to: ValueId) {
        let of_it: Vec<_> = self.windows.iter().filter(|(of, ..)| *of == from).copied().collect();
        for (_, root, span) in of_it {
            if !self.windows.iter().any(|(of, known, _)| *of == to && *known == root) {
                self.windows.push((to, root, span));
            }
        }
    }

    /// Propagates windows along the copies since `mark` to a fixed point, because the iterations of a loop repeat the
    /// copies in any order.
    pub fn follow_copies(&mut self, mark: BuffersMark) {
        loop {
            let known = self.windows.len();
            for at in mark.copied..self.copied.len() {
                let (from, to) = self.copied[at];
                self.holds_windows_of(from, to);
            }
            if self.windows.len() == known {
                break;
            }
        }
    }

    pub fn wrote(&mut self, write: Write) {
        self.last_write.insert(write.buffer, self.writes.len() + 1);
        self.writes.push(write);
    }

    /// True if two buffers may be one object in the text.
    pub fn may_be_one(&self, a: ValueId, b: ValueId) -> bool {
        a == b || self.twins.iter().any(|twin| twin.of(a) == Some(b))
    }

    pub fn pair(&mut self, a: ValueId, b: ValueId, place: Span) {
        if !self.may_be_one(a, b) {
            self.twins.push(MayAlias { buffers: [a, b], place, over: false });
        }
    }

    /// Propagates aliases along the copies since `mark`, whichever iteration made them.
    pub fn follow_twins(&mut self, mark: BuffersMark) {
        loop {
            let known = self.twins.len();
            for at in mark.copied..self.copied.len() {
                let (from, to) = self.copied[at];
                let of_it: Vec<(ValueId, Span)> =
                    self.twins.iter().filter_map(|twin| Some((twin.of(from)?, twin.place))).collect();
                of_it.into_iter().for_each(|(other, place)| self.pair(other, to, place));
            }
            if self.twins.len() == known {
                break;
            }
        }
    }

    /// After code that may not have run: earlier aliases that ended in it may still hold.
    pub fn revive(&mut self, mark: BuffersMark) {
        for at in self.over.split_off(mark.over) {
            match at < mark.twins {
                true => self.twins[at].over = false,
                false => self.over.push(at),
            }
        }
    }

    /// After a loop that ran at least once, buffers hold what its last iteration put into them, from the first of each
    /// pair to the second: aliases of the old contents end.
    pub fn replaced(&mut self, puts: &[(ValueId, ValueId)]) {
        let before = |buffer: ValueId| puts.iter().find(|(_, to)| *to == buffer).map_or(buffer, |(from, _)| *from);
        let ends: Vec<usize> = (0..self.twins.len())
            .filter(|at| {
                let [a, b] = self.twins[*at].buffers;
                !self.twins[*at].over && !self.may_be_one(before(a), before(b))
            })
            .collect();
        for at in ends {
            self.twins[at].over = true;
            self.over.push(at);
        }
    }
}

/// Tiles that the end of an iteration puts into buffers: name, source, destination.
pub(crate) type Copies = Vec<(Rc<str>, TileId, TileId)>;
