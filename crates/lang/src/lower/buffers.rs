//! What becomes of buffers: which names stand for the same one, what is written in place, and what no longer holds what a
//! name stands for.
//!
//! Names that stand for one tile see what is assigned to a part of it, as in Python. Where a loop or branch had to copy a
//! tile so that a name has a buffer of its own, the two are [`MayAlias`]s: one object in the text, two buffers in the module. As
//! long as nobody writes either in place the difference does not show; a write is an error.

use std::collections::BTreeMap;
use std::rc::Rc;

use slipring_ir::{Diagnostic, Span, ValueId};

use super::carry::Copies;
use super::outputs::{Load, Store};
use super::{Lower, Lowered, Reported, Value};
use crate::globals::Scope;
use crate::jumps::quoted;
use crate::value::{Index, Tensor, TileId};

/// Two buffers that may be one object in the text.
#[derive(Clone, Copy, Debug)]
struct MayAlias {
    buffers: [ValueId; 2],
    /// Where a copy became necessary.
    place: Span,
    /// Set where a loop that runs at least once has put something else into a buffer.
    over: bool,
}

impl MayAlias {
    /// The other buffer, if this is one of them.
    fn of(&self, buffer: ValueId) -> Option<ValueId> {
        let at = self.buffers.iter().position(|one| *one == buffer).filter(|_| !self.over)?;
        Some(self.buffers[1 - at])
    }
}

/// A write to a buffer that its tile survives: a part was assigned to.
#[derive(Clone, Debug)]
struct Write {
    buffer: ValueId,
    span: Span,
    /// Names that are read after it, with the other buffers that they stand for.
    read: Vec<(Rc<str>, ValueId)>,
    /// False if the body of a loop may write it: nothing is known of it yet.
    sure: bool,
}

/// An op that works in place took a tile's buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub buffer: ValueId,
    pub span: Span,
    /// How often the buffer had been taken before.
    before: u32,
}

/// What happened to a function's buffers so far.
#[derive(Default)]
pub(crate) struct Buffers {
    writes: Vec<Write>,
    /// Writes so far when a buffer was last written, by buffer.
    last_write: BTreeMap<ValueId, usize>,
    twins: Vec<MayAlias>,
    /// Positions of twins that are over, in the order in which they ended.
    over: Vec<usize>,
    taken: Vec<Taken>,
    /// How often a buffer was taken, and where last.
    taken_count: BTreeMap<ValueId, (u32, Span)>,
    /// Stores into tensors, in the order of the text.
    pub stores: Vec<Store>,
    /// Loads from outputs, in the order of the text.
    pub loads: Vec<Load>,
    /// Buffers that hold a window's elements, because a name is a tile on some paths and the window on others: the buffer,
    /// the position of the tensor, and where it was loaded.
    windows: Vec<(ValueId, usize, Span)>,
    /// Copies: what the first buffer stands for, the second may stand for.
    copied: Vec<(ValueId, ValueId)>,
}

/// A state of [`Buffers`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuffersMark {
    writes: usize,
    twins: usize,
    over: usize,
    taken: usize,
    stores: usize,
    loads: usize,
    windows: usize,
    copied: usize,
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

    /// Goes back to an earlier state. Buffers written since stay known as written: copies of them are made anew.
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

    /// Forgets what was taken since, and gives it back.
    fn untake(&mut self, from: usize) -> Vec<Taken> {
        let taken = self.taken.split_off(from);
        for one in taken.iter().rev() {
            match one.before {
                0 => drop(self.taken_count.remove(&one.buffer)),
                n => drop(self.taken_count.insert(one.buffer, (n, one.span))),
            }
        }
        taken
    }

    /// Begins the other arm of a branch: what the first arm took is there.
    pub fn other_arm(&mut self, mark: BuffersMark) -> Vec<Taken> {
        self.untake(mark.taken)
    }

    /// After both arms: what either took is taken.
    pub fn join(&mut self, other: Vec<Taken>) {
        for one in other {
            let (before, span) = self.taken_count.get(&one.buffer).copied().unwrap_or((0, one.span));
            if before <= one.before {
                self.taken.push(Taken { before, ..one });
                self.taken_count.insert(one.buffer, (one.before + 1, span));
            }
        }
    }

    /// How often a buffer was taken by ops that work in place.
    pub fn generation(&self, buffer: ValueId) -> u32 {
        self.taken_count.get(&buffer).map_or(0, |(n, _)| *n)
    }

    /// What tells whether a buffer has been changed since: how often it was taken, and its last write.
    pub fn changes(&self, buffer: ValueId) -> (u32, usize) {
        (self.generation(buffer), self.last_write.get(&buffer).copied().unwrap_or(0))
    }

    /// Where a buffer was taken last.
    pub fn taken_at(&self, buffer: ValueId) -> Option<Span> {
        self.taken_count.get(&buffer).map(|(_, span)| *span)
    }

    /// Buffers taken since.
    pub fn taken_since(&self, mark: BuffersMark) -> &[Taken] {
        &self.taken[mark.taken..]
    }

    /// Writes so far.
    pub fn now(&self) -> usize {
        self.writes.len()
    }

    /// True if a buffer was written after so many writes.
    pub fn written_after(&self, buffer: ValueId, then: usize) -> bool {
        self.last_write.get(&buffer).is_some_and(|last| *last > then)
    }

    /// The tensor whose window a buffer may stand for, and where it was loaded.
    pub fn window_in(&self, buffer: ValueId) -> Option<(usize, Span)> {
        self.windows.iter().find(|(of, ..)| *of == buffer).map(|(_, root, span)| (*root, *span))
    }

    /// Notes that a buffer may stand for a window of a tensor.
    pub fn holds_window(&mut self, buffer: ValueId, root: usize, span: Span) {
        if !self.windows.iter().any(|(of, known, _)| *of == buffer && *known == root) {
            self.windows.push((buffer, root, span));
        }
    }

    /// Notes that a buffer may stand for whatever another one may stand for.
    fn holds_windows_of(&mut self, from: ValueId, to: ValueId) {
        let of_it: Vec<_> = self.windows.iter().filter(|(of, ..)| *of == from).copied().collect();
        for (_, root, span) in of_it {
            if !self.windows.iter().any(|(of, known, _)| *of == to && *known == root) {
                self.windows.push((to, root, span));
            }
        }
    }

    /// Follows the copies since, in any order and any number of times: so they are made by the iterations of a loop.
    fn follow_copies(&mut self, mark: BuffersMark) {
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

    fn wrote(&mut self, write: Write) {
        self.last_write.insert(write.buffer, self.writes.len() + 1);
        self.writes.push(write);
    }

    /// True if two buffers may be one object in the text.
    fn may_be_one(&self, a: ValueId, b: ValueId) -> bool {
        a == b || self.twins.iter().any(|twin| twin.of(a) == Some(b))
    }

    fn pair(&mut self, a: ValueId, b: ValueId, place: Span) {
        if !self.may_be_one(a, b) {
            self.twins.push(MayAlias { buffers: [a, b], place, over: false });
        }
    }

    /// What is one object with a tile that was copied since is one with the copy, whichever iteration made either.
    fn follow_twins(&mut self, mark: BuffersMark) {
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

    /// After what may not have run: twins from before that ended in it may still be twins.
    pub fn revive(&mut self, mark: BuffersMark) {
        for at in self.over.split_off(mark.over) {
            match at < mark.twins {
                true => self.twins[at].over = false,
                false => self.over.push(at),
            }
        }
    }

    /// After a loop that ran at least once buffers hold what its last iteration put into them, from the first of each pair
    /// into the second: what was one object with the old contents is none with the new ones.
    fn replaced(&mut self, puts: &[(ValueId, ValueId)]) {
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

impl Lower<'_> {
    /// The buffer that a value is or is a view of.
    pub(super) fn viewed(&self, value: ValueId) -> ValueId {
        let op = self.e.module.defining_op(value).map(|op| self.e.module.op(op));
        op.and_then(|op| op.operands.first()).map_or(value, |source| self.viewed(*source))
    }

    /// The buffer that a tile lies in.
    pub(super) fn buffer_of(&self, id: TileId) -> ValueId {
        self.viewed(self.tile(id).value)
    }

    /// The tile's buffer is now that of an op's result, which works in place.
    pub fn take(&mut self, id: TileId, span: Span) {
        let buffer = self.buffer_of(id);
        let before = self.held.buffers.generation(buffer);
        self.held.buffers.taken.push(Taken { buffer, span, before });
        self.held.buffers.taken_count.insert(buffer, (before + 1, span));
    }

    /// Names that are read later and satisfy a condition, in this function and those that call it.
    fn live_names(&self, holds: impl Fn(&Value) -> bool) -> Vec<Rc<str>> {
        let here = self.names.env.iter().filter(|(name, _)| self.is_read_later(name));
        let callers = self.open.callers.iter().flat_map(|env| env.iter());
        here.chain(callers).filter(|(_, value)| holds(value)).map(|(name, _)| name.clone()).collect()
    }

    /// True if a name other than this one stands for a tile in this buffer at the end of an arm, and is read later.
    pub(super) fn others_in(&self, arm: &Scope, name: &str, buffer: ValueId) -> bool {
        let in_it = |value: &Value| any_tile(value, &|id| self.buffer_of(id) == buffer);
        let outside = self.open.callers.iter().flat_map(|env| env.values());
        arm.iter()
            .filter(|(other, _)| ***other != *name && self.is_read_later(other))
            .map(|(_, value)| value)
            .chain(outside)
            .any(in_it)
    }

    /// Names that are read later and stand for a tile in this buffer.
    pub(super) fn names_in(&self, buffer: ValueId) -> Vec<Rc<str>> {
        self.live_names(|value| any_tile(value, &|id| self.buffer_of(id) == buffer))
    }

    /// Notes that a tile is copied into another one's buffer. `shared` says whether another name stands for the original: it
    /// and the copy are one object then. What was one object with the original is one with the copy in any case.
    pub(super) fn part_ways(&mut self, from: TileId, to: TileId, shared: bool) {
        let (source, target) = (self.buffer_of(from), self.buffer_of(to));
        if source == target {
            return;
        }
        let place = self.e.span;
        let twins: Vec<ValueId> = self.held.buffers.twins.iter().filter_map(|twin| twin.of(source)).collect();
        for other in twins.into_iter().chain(shared.then_some(source)) {
            self.held.buffers.pair(other, target, place);
        }
        self.held.buffers.copied.push((source, target));
        self.held.buffers.holds_windows_of(source, target);
    }

    /// A part of a tile is assigned to.
    ///
    /// # Errors
    /// Reported if another name is the same tile in the text and not in the module.
    pub fn written_in_place(&mut self, id: TileId, span: Span) -> Lowered<()> {
        let buffer = self.buffer_of(id);
        let read = self.read_elsewhere(buffer);
        let found = read.iter().find_map(|(name, other)| {
            let twin = self.held.buffers.twins.iter().find(|twin| twin.of(buffer) == Some(*other))?;
            Some((name.clone(), twin.place))
        });
        self.held.buffers.wrote(Write { buffer, span, read, sure: true });
        self.no_window(buffer, span)?;
        match found {
            Some((name, place)) => Err(self.alias_error(&name, span, place)),
            None => Ok(()),
        }
    }

    /// Names that are read later and stand for tiles in other buffers, with these.
    fn read_elsewhere(&self, buffer: ValueId) -> Vec<(Rc<str>, ValueId)> {
        let mut found = Vec::new();
        let here = self.names.env.iter().filter(|(name, _)| self.is_read_later(name));
        for (name, value) in here.chain(self.open.callers.iter().flat_map(|env| env.iter())) {
            each_tile(value, &mut |id| {
                let other = self.buffer_of(id);
                if other != buffer {
                    found.push((name.clone(), other));
                }
            });
        }
        found
    }

    /// Reports a write to a buffer that may stand for a window.
    fn no_window(&mut self, buffer: ValueId, span: Span) -> Lowered<()> {
        let Some((root, place)) = self.held.buffers.window_in(buffer) else { return Ok(()) };
        let tensor = self.tensors.roots[root].name.clone();
        let message = format!("a part of a tile is assigned to that may still be a window of `{tensor}`");
        let error = Diagnostic::error("alias", span, message)
            .also(place, "here it was loaded, because its name is a tile on other paths")
            .help(format!("load it before: `pl.load({tensor}, …)`"));
        Err(self.report(error))
    }

    /// Follows what an iteration leaves in the buffers of the next one. Reports buffers that are written in place and may
    /// be windows by then, and windows that were loaded and whose tensors the iterations write.
    pub(super) fn windows_for_the_next(&mut self, copies: &Copies, mark: BuffersMark) -> Lowered<()> {
        self.held.buffers.follow_copies(mark);
        let of_window = |write: &&Write| write.sure && self.held.buffers.window_in(write.buffer).is_some();
        let found =
            self.held.buffers.writes[mark.writes..].iter().find(of_window).map(|write| (write.buffer, write.span));
        if let Some((buffer, span)) = found {
            self.no_window(buffer, span)?;
        }
        copies.iter().try_for_each(|(name, _, to)| self.loaded_in_loop(name, *to, mark))
    }

    fn alias_error(&mut self, name: &str, span: Span, place: Span) -> Reported {
        let message = format!("the assigned part of a tile may also be visible through {}", quoted(name));
        let error = Diagnostic::error("alias", span, message)
            .also(place, format!("here {} is rebound on some paths only, and got a buffer of its own", quoted(name)))
            .help("copy the tile before: `t = pl.move(t, pl.Mem.Vec)`, or give the changed tile a name of its own");
        self.report(error)
    }

    /// Ends an iteration that puts the first of each pair of tiles into the second. Reports tiles that parted where the
    /// iterations write one in place and read the other after that. `runs` says that there is at least one iteration.
    pub(super) fn parted_in_loop(&mut self, puts: &[(TileId, TileId)], mark: BuffersMark, runs: bool) -> Lowered<()> {
        self.held.buffers.follow_twins(mark);
        let writes = self.held.buffers.writes[mark.writes..].iter().filter(|write| write.sure);
        let found = writes.flat_map(|write| write.read.iter().map(move |(name, other)| (write, name, other))).find_map(
            |(write, name, other)| {
                let twin = self.held.buffers.twins.iter().find(|twin| twin.of(write.buffer) == Some(*other))?;
                Some((name.clone(), write.span, twin.place))
            },
        );
        if let Some((name, span, place)) = found {
            return Err(self.alias_error(&name, span, place));
        }
        if runs {
            let puts: Vec<_> = puts.iter().map(|(from, to)| (self.buffer_of(*from), self.buffer_of(*to))).collect();
            self.held.buffers.replaced(&puts);
        } else {
            self.held.buffers.revive(mark);
        }
        Ok(())
    }

    /// What was copied from tiles before a loop whose body may change them counts no more.
    pub(super) fn forget_copies(&mut self) {
        let copied: Vec<ValueId> = (0..self.held.tiles.len())
            .filter(|at| !self.held.tiles[*at].copies.is_empty())
            .map(|at| self.buffer_of(TileId(at as u32)))
            .collect();
        let span = self.e.span;
        for buffer in copied {
            self.held.buffers.wrote(Write { buffer, span, read: Vec::new(), sure: false });
        }
    }

    // ---- windows that were loaded so that a name can stand for a tile ----

    /// A window as a tile, because a loop or branch needs one. Nothing may be stored into its tensor as long as a name
    /// stands for it: in the text it is still the window.
    pub(super) fn materialized(&mut self, tensor: &Tensor) -> Lowered<TileId> {
        if self.holds_nothing(tensor) {
            return Ok(self.new_tile(&tensor.shape(), tensor.elem, slipring_tile::Space::Vec, "create_tensor"));
        }
        let id = self.load(tensor, slipring_tile::Space::Vec)?;
        let (buffer, span) = (self.buffer_of(id), self.e.span);
        self.held.buffers.holds_window(buffer, tensor.root, span);
        Ok(id)
    }

    /// True for a whole tensor that the kernel has made and not written yet: whoever rebinds its name to a tile needs none of it.
    pub fn holds_nothing(&self, tensor: &Tensor) -> bool {
        let root = &self.tensors.roots[tensor.root];
        let made = |value: &Value| matches!(value, Value::Tensor(own) if own.root == tensor.root);
        root.direction == crate::compiled::Direction::Out
            && tensor.sizes == root.dims
            && self.facts.created.iter().any(|(_, value)| made(value))
            && !self.held.buffers.stores.iter().any(|store| store.window.root == tensor.root)
    }

    /// A tensor that was made at this place before, by these calls, and that nobody can read any more.
    pub fn made_before(&self, place: &[Span]) -> Option<Value> {
        let made = self.facts.created.iter().filter(|(known, _)| known == place).map(|(_, value)| value);
        let mut free = made.filter(|value| match value {
            Value::Tensor(tensor) => self.live_names(|held| any_window(held, tensor.root)).is_empty(),
            _ => true,
        });
        free.next().cloned()
    }

    /// Notes a store of a tile, of which so much is valid, into a window.
    ///
    /// # Errors
    /// Reported if a name may still be a window of the tensor that was loaded before.
    pub fn stored(&mut self, window: &Tensor, valid: Option<[Index; 2]>, span: Span) -> Lowered<()> {
        let root = window.root;
        self.held.buffers.stores.push(Store { window: window.clone(), valid, span });
        if let Some(of) = self.tensors.roots[root].of {
            let own = &self.tensors.roots[of];
            let whole = super::whole(of, own.elem, &own.dims);
            self.held.buffers.stores.push(Store { window: whole, valid: None, span });
        }
        let of_root = |id: TileId| {
            let buffer = self.buffer_of(id);
            self.held.buffers.windows.iter().any(|(of, tensor, _)| *of == buffer && *tensor == root)
        };
        let Some(name) = self.live_names(|value| any_tile(value, &of_root)).first().cloned() else { return Ok(()) };
        Err(self.window_error(&name, root, span))
    }

    fn window_error(&mut self, name: &str, root: usize, span: Span) -> Reported {
        let tensor = self.tensors.roots[root].name.clone();
        let name = quoted(name);
        let message = format!("`{tensor}` is written while {name} may still be a window of it");
        let error = Diagnostic::error("carry", span, message)
            .note(format!("{name} is a window on some paths and a tile on others, so it was loaded"))
            .help(format!("load it where its contents are meant: `pl.load({tensor}, …)`"));
        self.report(error)
    }

    /// Reports a window that was loaded at the end of an iteration whose tensor the iterations write.
    pub(super) fn loaded_in_loop(&mut self, name: &str, id: TileId, mark: BuffersMark) -> Lowered<()> {
        let buffer = self.buffer_of(id);
        let roots = self.held.buffers.windows.iter().filter(|(of, ..)| *of == buffer).map(|(_, root, _)| *root);
        let roots: Vec<usize> = roots.collect();
        let store = self.held.buffers.stores[mark.stores..].iter().find(|store| roots.contains(&store.window.root));
        match store.map(|store| (store.window.root, store.span)) {
            Some((root, span)) => Err(self.window_error(name, root, span)),
            None => Ok(()),
        }
    }
}

/// True if a value is or has a tile of which something holds.
pub(super) fn any_tile(value: &Value, holds: &dyn Fn(TileId) -> bool) -> bool {
    match value {
        Value::Tile(id) => holds(*id),
        Value::Parts(parts) => parts.tiles.iter().any(|id| holds(*id)),
        Value::Tuple(items) => items.iter().any(|item| any_tile(item, holds)),
        _ => false,
    }
}

/// True if a value is or has a window of a tensor.
fn any_window(value: &Value, root: usize) -> bool {
    match value {
        Value::Tensor(window) => window.root == root,
        Value::Tuple(items) => items.iter().any(|item| any_window(item, root)),
        _ => false,
    }
}

/// Every tile that a value is or has.
fn each_tile(value: &Value, f: &mut dyn FnMut(TileId)) {
    match value {
        Value::Tile(id) => f(*id),
        Value::Parts(parts) => parts.tiles.iter().for_each(|id| f(*id)),
        Value::Tuple(items) => items.iter().for_each(|item| each_tile(item, &mut *f)),
        _ => {}
    }
}
