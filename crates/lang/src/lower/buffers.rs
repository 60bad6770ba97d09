//! State of buffers: the names that share one, writes in place, and buffers whose contents no longer match a name.
//!
//! Names for the same tile see assignments to a part of it, as in Python. If a loop or branch had to copy a tile to
//! give a name its own buffer, the two are a [`MayAlias`](super::held::MayAlias): one object in the text, two buffers
//! in the module. As long as neither is written in place, the difference cannot be observed; a write is an error.

use std::rc::Rc;

use slipring_ir::{Diagnostic, Reported, Span, ValueId};

use super::held::{BuffersMark, Copies, Store, Taken, Write};
use super::lowering::{Lower, Lowered};
use crate::globals::Scope;
use crate::jumps::quoted;
use crate::value::{Index, Tensor, TileId, Value};

impl Lower<'_> {
    /// The buffer that a value is, or is a view of.
    pub(super) fn viewed(&self, value: ValueId) -> ValueId {
        let op = self.e.module.defining_op(value).map(|op| self.e.module.op(op));
        op.and_then(|op| op.operands.first()).map_or(value, |source| self.viewed(*source))
    }

    /// The buffer of a tile.
    pub fn buffer_of(&self, id: TileId) -> ValueId {
        self.viewed(self.tile(id).value)
    }

    /// Gives the tile's buffer to the result of an op that works in place.
    pub fn take(&mut self, id: TileId, span: Span) {
        let buffer = self.buffer_of(id);
        let before = self.held.buffers.generation(buffer);
        self.held.buffers.taken.push(Taken { buffer, span, before });
        self.held.buffers.taken_count.insert(buffer, (before + 1, span));
    }

    /// Names that are live and satisfy a condition, in this function and its callers.
    fn live_names(&self, holds: impl Fn(&Value) -> bool) -> Vec<Rc<str>> {
        let here = self.names.env.iter().filter(|(name, _)| self.is_read_later(name));
        let callers = self.open.callers.iter().flat_map(|env| env.iter());
        here.chain(callers).filter(|(_, value)| holds(value)).map(|(name, _)| name.clone()).collect()
    }

    /// True if, at the end of an arm, another name is bound to a tile in this buffer and is live.
    pub(super) fn others_in(&self, arm: &Scope, name: &str, buffer: ValueId) -> bool {
        let in_it = |value: &Value| any_tile(value, &|id| self.buffer_of(id) == buffer);
        let outside = self.open.callers.iter().flat_map(|env| env.values());
        arm.iter()
            .filter(|(other, _)| ***other != *name && self.is_read_later(other))
            .map(|(_, value)| value)
            .chain(outside)
            .any(in_it)
    }

    /// Live names of tiles in this buffer.
    pub(super) fn names_in(&self, buffer: ValueId) -> Vec<Rc<str>> {
        self.live_names(|value| any_tile(value, &|id| self.buffer_of(id) == buffer))
    }

    /// Records that a tile is copied into another one's buffer. If another name is bound to the original (`shared`),
    /// the original and the copy are one object in the text. Anything that is one object with the original is one with
    /// the copy in any case.
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

    /// Records an assignment to a part of a tile.
    ///
    /// # Errors
    /// Reported if another name is the same tile in the text but not in the module.
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

    /// Live names of tiles in other buffers, with these.
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

    /// Reports a write to a buffer that may represent a window.
    fn no_window(&mut self, buffer: ValueId, span: Span) -> Lowered<()> {
        let Some((root, place)) = self.held.buffers.window_in(buffer) else { return Ok(()) };
        let tensor = self.tensors.roots[root].name.clone();
        let message = format!("a part of a tile is assigned to that may still be a window of `{tensor}`");
        let error = Diagnostic::error("alias", span, message)
            .also(place, "here it was loaded, because its name is a tile on other paths")
            .help(format!("load it before: `pl.load({tensor}, …)`"));
        Err(self.report(error))
    }

    /// Propagates the buffer contents at the end of an iteration to the next one. Reports buffers that are written in
    /// place and may represent windows by then, and loaded windows whose tensors the iterations write.
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

    /// Ends an iteration that puts the first of each pair of tiles into the second. Reports diverged tiles if the
    /// iterations write one in place and read the other afterwards. `runs` says that there is at least one iteration.
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

    /// Forgets copies of tiles from before a loop whose body may change them.
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

    /// Loads a window as a tile, because a loop or branch needs one. Nothing may be stored into its tensor while a name
    /// is bound to the tile: in the text it is still the window.
    pub(super) fn materialized(&mut self, tensor: &Tensor) -> Lowered<TileId> {
        if self.holds_nothing(tensor) {
            return Ok(self.new_tile(&tensor.shape(), tensor.elem, slipring_tile::Space::Vec, "create_tensor"));
        }
        let id = self.load(tensor, slipring_tile::Space::Vec)?;
        let (buffer, span) = (self.buffer_of(id), self.e.span);
        self.held.buffers.holds_window(buffer, tensor.root, span);
        Ok(id)
    }

    /// True for a whole tensor that the kernel has made and not written yet: rebinding its name to a tile needs none of
    /// its contents.
    pub fn holds_nothing(&self, tensor: &Tensor) -> bool {
        let root = &self.tensors.roots[tensor.root];
        let made = |value: &Value| matches!(value, Value::Tensor(own) if own.root == tensor.root);
        root.direction == crate::compiled::Direction::Out
            && tensor.sizes[usize::from(root.by_block)..] == root.dims[usize::from(root.by_block)..]
            && self.facts.created.iter().any(|(_, value)| made(value))
            && !self.held.buffers.stores.iter().any(|store| store.window.root == tensor.root)
    }

    /// A tensor that was made earlier at this place, through the same calls, and that is dead by now.
    pub fn made_before(&self, place: &[Span]) -> Option<Value> {
        let made = self.facts.created.iter().filter(|(known, _)| known == place).map(|(_, value)| value);
        let mut free = made.filter(|value| match value {
            Value::Tensor(tensor) => self.live_names(|held| any_window(held, tensor.root)).is_empty(),
            _ => true,
        });
        free.next().cloned()
    }

    /// Records a store of a tile with this valid extent into a window.
    ///
    /// # Errors
    /// Reported if a name may still refer to a window of the tensor that was loaded before.
    pub fn stored(&mut self, window: &Tensor, valid: Option<[Index; 2]>, span: Span) -> Lowered<()> {
        let root = window.root;
        self.held.buffers.stores.push(Store { window: window.clone(), valid, span });
        if let Some(of) = self.tensors.roots[root].of {
            let own = &self.tensors.roots[of];
            let whole = crate::value::whole(of, own.elem, &own.dims);
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

    /// Reports a window that was loaded at the end of an iteration although the iterations write its tensor.
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

/// True if a value is or contains a tile with this property.
pub(super) fn any_tile(value: &Value, holds: &dyn Fn(TileId) -> bool) -> bool {
    match value {
        Value::Tile(id) => holds(*id),
        Value::Parts(parts) => parts.tiles.iter().any(|id| holds(*id)),
        Value::Tuple(items) => items.iter().any(|item| any_tile(item, holds)),
        _ => false,
    }
}

/// True if a value is or contains a window of a tensor.
fn any_window(value: &Value, root: usize) -> bool {
    match value {
        Value::Tensor(window) => window.root == root,
        Value::Tuple(items) => items.iter().any(|item| any_window(item, root)),
        _ => false,
    }
}

/// Visits every tile that a value is or contains.
fn each_tile(value: &Value, f: &mut dyn FnMut(TileId)) {
    match value {
        Value::Tile(id) => f(*id),
        Value::Parts(parts) => parts.tiles.iter().for_each(|id| f(*id)),
        Value::Tuple(items) => items.iter().for_each(|item| each_tile(item, &mut *f)),
        _ => {}
    }
}
