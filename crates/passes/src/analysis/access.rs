//! The accesses of an op, derived from its declaration and its operands.

use slipring_ir::{Flow, Module, OpId, Touch, ValueId};
use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_op::ring::{PipeKey, SlotBase, own_end, pipe_key, slot_space, table_of};
use slipring_op::{OpRef, RingPart, affinity, kernel_kind};
use slipring_program::Direction;
use slipring_pto::is_event;
use slipring_tile::Space;

use super::affine::Follow;
use super::touch::{Access, Bounds, Memory, Work};
use super::windows;
use crate::analysis::facts::{Functions, flow};
use crate::analysis::rings::{RingOp, consumes, pipe, ring_bytes, ring_ops, slots_of};
use crate::analysis::roots::{Address, Root, RootKind, Roots};

/// Determines the accesses of ops.
pub struct Accesses<'m> {
    module: &'m Module,
    platform: &'m Platform,
    roots: Roots,
    rings: Vec<RingOp<'m>>,
}

/// A whole memory.
const EVERYTHING: (u64, u64) = (0, u64::MAX);

impl<'m> Accesses<'m> {
    /// Prepares a module.
    pub fn new(module: &'m Module, functions: &Functions, platform: &'m Platform) -> Accesses<'m> {
        let (roots, rings) = (Roots::of(module, functions), ring_ops(module, functions));
        Accesses { module, platform, roots, rings }
    }

    /// The pipe that an op occupies.
    pub fn pipe(&self, id: OpId) -> Option<Pipe> {
        OpRef::of(self.module, id)?.pipe(self.platform)
    }

    /// The work that an op represents; `None` for ops that occupy no pipe.
    pub fn work(&self, id: OpId) -> Option<Work> {
        let op = OpRef::of(self.module, id)?;
        let pipe = op.pipe(self.platform)?;
        let mut accesses = Vec::new();
        for (index, spec) in op.def.schema.operands.iter().enumerate() {
            if spec.touch != Touch::Nothing {
                for value in op.operands(index) {
                    self.touch(*value, spec.touch.writes(), &mut accesses);
                }
            }
        }
        if let Some(table) = table_of(&op) {
            self.touch(table, false, &mut accesses);
        }
        for value in &self.module.op(id).results {
            self.touch(*value, true, &mut accesses);
        }
        if let Some(direction) = op.ring().and_then(RingPart::frees)
            && !self.in_gm(&op)
        {
            // Any reader of the slot on another pipe must be finished.
            accesses.push(self.slots(pipe_key(&op), direction));
        }
        let inside = op.inside(self.platform).collect();
        Some(Work { pipe, core: self.core(&op), accesses, inside })
    }

    /// True if the slots of an op's ring are in global memory.
    fn in_gm(&self, op: &OpRef<'_>) -> bool {
        let spec = own_end(op).and_then(|init| pipe(&init, self.platform));
        spec.map_or(self.platform.ring.in_gm, |spec| spec.in_gm)
    }

    /// The kind of core that runs an op, according to its declaration or its position.
    fn core(&self, op: &OpRef<'_>) -> Option<CoreKind> {
        let outer = |op: &OpId| self.module.parent_op(*op);
        let around = std::iter::successors(outer(&op.id), outer);
        let kind = |o: OpId| kernel_kind(self.module, o).or_else(|| affinity(&OpRef::of(self.module, o)?));
        affinity(op).or_else(|| around.into_iter().find_map(kind))
    }

    fn touch(&self, value: ValueId, write: bool, accesses: &mut Vec<Access>) {
        if is_event(self.module.ty(value)) {
            accesses.push(Access { memory: Memory::Event(value.0), bytes: EVERYTHING, window: None, write });
        }
        let Some(space) = self.module.ty(value).space() else { return };
        let roots = self.roots.get(value);
        let window = if space == Space::Gm { self.window(value) } else { None };
        if roots.is_empty() {
            let memory = if space == Space::Gm { Memory::AnyGlobal } else { Memory::Local(space) };
            accesses.push(Access { memory, bytes: EVERYTHING, window: None, write });
        }
        for &id in roots {
            let root = self.roots.root(id);
            let access = match (root.space, root.kind) {
                (Space::Gm, RootKind::Unknown) if root.op.is_some() => {
                    Access { memory: Memory::AnyGlobal, bytes: EVERYTHING, window: None, write }
                }
                (Space::Gm, _) => {
                    Access { memory: Memory::Global(id), bytes: EVERYTHING, window: window.clone(), write }
                }
                (space, _) => Access { write, ..self.local(space, root) },
            };
            accesses.push(access);
        }
    }

    fn local(&self, space: Space, root: &Root) -> Access {
        let everything = Access { memory: Memory::Local(space), bytes: EVERYTHING, window: None, write: false };
        match (root.address, root.bytes, root.kind) {
            (Address::At(start), Some(bytes), _) => {
                Access { bytes: (start, start.saturating_add(bytes)), ..everything }
            }
            (_, _, RootKind::Popped) => {
                let op = root.op.and_then(|op| OpRef::of(self.module, op));
                match op.and_then(|op| Some((op.ring()?.pops()?, pipe_key(&op)))) {
                    Some((direction, pipe)) => self.slots(pipe, direction),
                    None => everything,
                }
            }
            _ => everything,
        }
    }

    /// The local memory that holds the popped tiles of a ring: its slots, or their landing area.
    fn slots(&self, pipe: Option<PipeKey>, direction: Direction) -> Access {
        let space = slot_space(direction);
        let own = |r: &&RingOp<'_>| {
            let ends = r.part.makes_end() && r.pipe() == pipe;
            ends && consumes(&r.op, direction)
        };
        let mut bytes: Option<(u64, u64)> = None;
        for init in self.rings.iter().filter(own) {
            let range = match slots_of(&init.op, direction) {
                Some(SlotBase::In { reservation, .. }) => {
                    self.rings.iter().find(|r| r.op.id == reservation).and_then(|r| Some((r.base()?, r.bytes())))
                }
                Some(SlotBase::At(start)) => {
                    u64::try_from(start).ok().map(|start| (start, ring_bytes(&init.op, self.platform)))
                }
                _ => None,
            };
            let (start, end) = range.map_or(EVERYTHING, |(start, size)| (start, start.saturating_add(size)));
            // Several kernels of a file may have a pipe with this id.
            bytes = Some(bytes.map_or((start, end), |(a, b)| (a.min(start), b.max(end))));
        }
        Access { memory: Memory::Local(space), bytes: bytes.unwrap_or(EVERYTHING), window: None, write: true }
    }

    /// The part of a view that a value is a window of, if the view is the same in every iteration.
    fn window(&self, value: ValueId) -> Option<Bounds> {
        let window = windows::Window::of(self.module, value, Follow::Exact)?;
        let made = self.module.defining_op(window.source)?;
        let outer = |op: &OpId| self.module.parent_op(*op);
        if std::iter::successors(outer(&made), outer).any(|o| flow(self.module, o) == Flow::Repeat) {
            return None;
        }
        let bounds = window.dims.iter().map(|(start, size)| match (start.known(), size) {
            (Some(start), Some(size)) => (start, start.saturating_add(*size)),
            _ => (i64::MIN, i64::MAX),
        });
        Some(Bounds { view: window.source.0, bounds: bounds.collect() })
    }
}
