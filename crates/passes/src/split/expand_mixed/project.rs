//! A function for one kind of core: the part it needs of a kernel for the whole cluster.

use slipring_ir::{AttrDict, BlockId, Flow, Module, OpId, Span, TileType, Type, ValueId, ValueMap};
use slipring_machine::{CoreKind, Platform};
use slipring_mlir::arith::Relation;
use slipring_mlir::{arith, scf};
use slipring_op::ring::{Split, ring_tile};
use slipring_op::{OpRef, RingPart, writes_global};
use slipring_program::Direction;
use slipring_pto as pto;
use slipring_pto::Passage;
use slipring_tile::Layout;

use super::needed::{Needed, carried};
use super::order::Meetings;
use super::pipes::Pipes;
use super::replay::Replay;
use super::sides::{Side, is_control, on_each_core, region_around, side};
use super::write::{constant, meet, move_tile, put, value};
use crate::analysis::facts::{flow, terminator};

/// A pop in a generated function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Popped {
    /// The pop.
    pub pop: OpId,
    /// The destination tile named in the source, in the generated function.
    pub dst: ValueId,
    /// Id of its pipe.
    pub pipe: usize,
    /// True if the popped tile can replace the declared one: same type, same valid shape.
    pub bindable: bool,
}

/// The inputs of a generated function.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub kind: CoreKind,
    pub needed: &'a Needed<'a>,
    pub pipes: &'a Pipes,
    pub meetings: &'a Meetings,
    pub platform: &'a Platform,
    /// True if both Vector cores run the kernel.
    pub both_lanes: bool,
    /// The second one's part of it, if it is not all of it.
    pub replay: Option<&'a Replay>,
}

/// Copies the needed parts into a new function.
pub(super) struct Projector<'a, 'm> {
    /// The kernel as written.
    pub from: &'a Module,
    /// The module in which the function is created: a copy of that one.
    pub to: &'m mut Module,
    pub parts: Parts<'a>,
    /// Maps values of the kernel to those of the function.
    pub map: ValueMap,
    /// The Vector core's number.
    pub lane: Option<ValueId>,
    pub popped: Vec<Popped>,
    /// The end of the block that only lane 0 runs, while one is open.
    pub guard: Option<OpId>,
}

impl Projector<'_, '_> {
    /// Copies the ops of a block to the end of another.
    pub fn block(&mut self, from: BlockId, to: BlockId) {
        for &op in &self.from.block(from).ops {
            if self.parts.meetings.before.contains(&op) {
                self.meet(to, self.from.op(op).span);
            }
            if !is_end(self.from, op) {
                self.op(op, to);
            }
        }
        if self.parts.meetings.at_end.contains(&from) {
            let last = self.from.block(from).ops.last();
            self.meet(to, last.map_or(Span::default(), |op| self.from.op(*op).span));
        }
    }

    fn meet(&mut self, to: BlockId, span: Span) {
        meet(self.to, to, self.parts.kind, self.parts.both_lanes, self.parts.platform, span);
    }

    fn op(&mut self, op: OpId, to: BlockId) {
        if !self.parts.needed.has(op) {
            return;
        }
        match side(self.from, op) {
            Side::Region => {
                let Some(body) = self.from.body(op, 0) else { return };
                if let (Some(lane), Some(arg)) = (self.lane, self.from.block(body).args.first()) {
                    self.map.insert(*arg, lane);
                }
                self.block(body, to);
            }
            Side::Crosses(direction) => {
                let sends = (direction == Direction::C2V) == (self.parts.kind == CoreKind::Cube);
                if sends { self.push(op, direction, to) } else { self.pop(op, direction, to) }
            }
            _ if is_control(self.from, op) => self.control(op, to),
            _ => {
                let to = if self.is_for_one_lane(op) { self.on_first_lane(op, to) } else { to };
                let copy = self.to.clone_op(op, &mut self.map);
                self.box_pushed(copy, to);
                self.to.append(to, copy);
                if let Some(end) = self.guard.take() {
                    self.to.append(to, end);
                }
            }
        }
    }

    /// True for ops that both Vector cores would execute but that must be done once: a write to global memory outside
    /// every region, a print, and a read whose result is unused.
    fn is_for_one_lane(&self, op: OpId) -> bool {
        let once = OpRef::of(self.from, op).is_some_and(|op| {
            writes_global(&op) || self.parts.replay.is_some_and(|own| op.def.prints || own.leaves_out(&op))
        });
        once && self.lane.is_some() && region_around(self.from, op).is_none() && !on_each_core(self.from, op)
    }

    /// A block that only lane 0 runs, at the end of another. Its terminator is kept in `guard`.
    fn on_first_lane(&mut self, op: OpId, to: BlockId) -> BlockId {
        let Some(lane) = self.lane else { return to };
        let span = self.from.op(op).span;
        let zero = constant(self.to, to, "first_lane", 0, Type::Index, span);
        let is_first = arith::compare(self.to, Relation::Equal, [lane, zero], span);
        let is_first = put(self.to, to, is_first, "is_first_lane");
        let branch = scf::IF.make(self.to, &[("condition", &[is_first])], AttrDict::default(), &[], span);
        self.to.append(to, branch);
        let region = self.to.add_region(branch);
        // The other branch exists and is empty.
        self.to.add_region(branch);
        self.guard = Some(scf::YIELD.make(self.to, &[], AttrDict::default(), &[], span));
        self.to.add_block(region)
    }

    /// Control flow with the regions and carried values that this kind of core needs.
    fn control(&mut self, op: OpId, to: BlockId) {
        let data = self.from.op(op).clone();
        let count = carried(self.from, op);
        let keep: Vec<bool> = (0..count).map(|at| self.parts.needed.carries(op, at)).collect();
        let repeats = flow(self.from, op) == Flow::Repeat;
        let copy = self.copy_without(op, if repeats { &keep } else { &[] });
        for (at, result) in data.results.iter().enumerate() {
            if count == 0 || keep[at] {
                let value = self.from.value(*result).clone();
                let new = self.to.add_result(copy, value.ty, value.name, value.span);
                self.map.insert(*result, new);
            }
        }
        self.to.append(to, copy);
        for region in &data.regions {
            let new_region = self.to.add_region(copy);
            for &block in &self.from.region(*region).blocks {
                let new = self.to.add_block(new_region);
                let args = self.from.block(block).args.clone();
                let lead = if repeats { args.len().saturating_sub(count) } else { args.len() };
                for (at, arg) in args.iter().enumerate() {
                    if at < lead || keep[at - lead] {
                        let value = self.from.value(*arg).clone();
                        let new = self.to.add_arg(new, value.ty, value.name, value.span);
                        self.map.insert(*arg, new);
                    }
                }
                self.block(block, new);
                if let Some(end) = terminator(self.from, block) {
                    let end = self.copy_without(end, &keep);
                    self.to.append(new, end);
                }
            }
        }
    }

    /// A copy of an op without results and regions, and without those of its last operands that are not kept.
    fn copy_without(&mut self, op: OpId, keep: &[bool]) -> OpId {
        let data = self.from.op(op).clone();
        let lead = data.operands.len().saturating_sub(keep.len());
        let kept = |at: &usize| *at < lead || keep[*at - lead];
        let copy = self.to.like(&data);
        let new = self.to.op_mut(copy);
        new.operands = (0..data.operands.len()).filter(kept).map(|at| self.map.get(data.operands[at])).collect();
        new.segments = data.segments.clone();
        if let Some(last) = new.segments.last_mut() {
            *last = last.saturating_sub((data.operands.len() - new.operands.len()) as u16);
        }
        copy
    }

    fn push(&mut self, op: OpId, direction: Direction, to: BlockId) {
        let span = self.from.op(op).span;
        let mut tile = self.map.get(self.from.operands_named(op, "src")[0]);
        if direction == Direction::V2C && !self.parts.platform.ring.in_gm {
            tile = self.boxed(tile, to, span);
        }
        let push = pto::push(self.to, direction, tile, self.passage(op), span);
        self.to.append(to, push);
    }

    /// Tiles that the author pushes to the Cube core's memory are treated like those that the compiler pushes.
    fn box_pushed(&mut self, copy: OpId, to: BlockId) {
        let op = OpRef::of(self.to, copy);
        let pushes = |op: &OpRef<'_>| op.ring().and_then(RingPart::pushes) == Some(Direction::V2C);
        let Some(tile) = op.filter(pushes).and_then(|op| ring_tile(&op)) else { return };
        if self.parts.platform.ring.in_gm {
            return;
        }
        let boxed = self.boxed(tile, to, self.to.op(copy).span);
        for operand in self.to.op_mut(copy).operands.iter_mut().filter(|operand| **operand == tile) {
            *operand = boxed;
        }
    }

    /// On chip a tile goes to L1 in L1's own layout: makes a copy in that layout, if the tile can have it.
    fn boxed(&mut self, tile: ValueId, to: BlockId, span: Span) -> ValueId {
        let Some(ty) = self.to.ty(tile).as_tile().copied() else { return tile };
        let own = ty.layout;
        let layout = Layout::nz(own.elem, own.rows, own.cols);
        if (own.blayout, own.slayout) == (layout.blayout, layout.slayout) || !layout.is_whole() {
            return tile;
        }
        let valid = declared_valid(self.to, tile);
        let [row, col] = valid.each_ref().map(Option::as_slice);
        let name = self.to.value(tile).name.as_deref().map_or("boxed".to_string(), |name| format!("{name}_nz"));
        let ty = Type::Tile(TileType { layout, ..ty });
        let operands = [("valid_row", row), ("valid_col", col)];
        let copy = value(self.to, to, (&pto::ALLOC_TILE, &name), &operands, ty, span);
        let copying = move_tile(self.to, tile, copy, span);
        self.to.append(to, copying);
        copy
    }

    fn pop(&mut self, op: OpId, direction: Direction, to: BlockId) {
        let span = self.from.op(op).span;
        let dst = self.map.get(self.from.operands_named(op, "dst")[0]);
        let value = self.to.value(dst).clone();
        let passage = self.passage(op);
        let valid = declared_valid(self.to, dst);
        let told = if let [Some(row), Some(col)] = valid { Some([row, col]) } else { None };
        let pop = pto::pop(self.to, direction, told, passage, span);
        self.to.add_result(pop, value.ty, value.name, value.span);
        self.to.append(to, pop);
        let bindable = told.is_some() || valid.iter().all(Option::is_none);
        self.popped.push(Popped { pop, dst, pipe: passage.pipe, bindable });
    }

    /// How a tile is divided, and the pipe it takes.
    fn passage(&self, op: OpId) -> Passage {
        let split = OpRef::of(self.from, op).and_then(|op: OpRef<'_>| Split::of(&op)).unwrap_or(Split::None);
        Passage { split, pipe: self.parts.pipes.of(op) }
    }
}

/// Valid rows and columns set by the op that declares a tile, if its type leaves them open.
fn declared_valid(module: &Module, tile: ValueId) -> [Option<ValueId>; 2] {
    let op = module.defining_op(tile).and_then(|op| OpRef::of(module, op));
    ["valid_row", "valid_col"].map(|name| op?.if_declared(name))
}

fn is_end(module: &Module, op: OpId) -> bool {
    module.op(op).schema().is_some_and(|schema| schema.terminator)
}
