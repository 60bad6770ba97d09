//! Writes the explicit form: regions, halved tiles, shards and gathers, windows, parts.

use slipring_mlir::arith::Relation;
use slipring_op::ring::Split;
use std::collections::BTreeSet;

use slipring_ir::{BlockId, Diagnostic, Module, OpId, Touch, Type, ValueId, ValueMap, ViewType};
use slipring_op::{Along, MixedPart, OpRef};
use slipring_pto as pto;

use super::axes::{Axes, BY_HAND, Part, Start, State, extent, positions_in_memory};
use super::build::{Builder, Insertion, Number, Region};
use super::constraints::{all_tiles, half_type, resized, tile_operands, vector_tile};
use super::hazards::Hazards;
use super::regions::{Kind, kind};
use super::windows::{Dimension, dim, dimension};
use crate::analysis::facts::first_operand;
use crate::analysis::windows::{extents, is_view, partition};

/// Rewrites a function's body. It returns errors; the module must then not be used any more.
pub(super) fn rewrite(module: &mut Module, body: BlockId, axes: &Axes, hazards: &Hazards) -> Vec<Diagnostic> {
    let whole_types: Vec<(ValueId, Type)> = axes.tiles.iter().map(|tile| (*tile, module.ty(*tile).clone())).collect();
    for &tile in &axes.tiles {
        halve(module, axes, tile);
    }
    let build = Builder::new(module, body);
    let mut rewriter = Rewriter { build, axes, hazards, whole_types, replaced: BTreeSet::new() };
    rewriter.block(body);
    let replaced = rewriter.replaced;
    drop_unused(module, body, replaced);
    escaping(module, body)
}

/// Gives a divided tile the type of its half.
fn halve(module: &mut Module, axes: &Axes, tile: ValueId) {
    let (Some(axis), Some(ty)) = (axes.halved(tile), vector_tile(module, tile).copied()) else { return };
    let half = half_type(&ty, axis);
    module.value_mut(tile).ty = Type::Tile(half);
    let Some(op) = module.defining_op(tile) else { return };
    if OpRef::of(module, op).is_some_and(|op| op.def.along[axis] == Along::Part) {
        pto::set_part_sizes(module, op, [half.layout.rows, half.layout.cols]);
    }
}

struct Rewriter<'m, 'a> {
    build: Builder<'m>,
    axes: &'a Axes,
    hazards: &'a Hazards,
    /// Types of tiles before they were halved.
    whole_types: Vec<(ValueId, Type)>,
    /// Ops that have been replaced by others.
    replaced: BTreeSet<OpId>,
}

/// The part of an axis that an op works on here: the core's half, or its portion of a part of a tile.
#[derive(Clone, Copy)]
struct Range {
    start: Number,
    size: i64,
    /// Positions of the whole.
    all: i64,
}

impl Rewriter<'_, '_> {
    /// Puts the Vector work of a block into regions, as many adjacent ops in each as possible.
    fn block(&mut self, block: BlockId) {
        let mut region: Option<Region> = None;
        let (mut values, mut done) = (Vec::new(), Vec::new());
        for op in self.build.module.block(block).ops.clone() {
            let module = &*self.build.module;
            let mut work = vec![op];
            work.extend(self.blocks(op).into_iter().flat_map(|inner| module.walk(inner)));
            let kind = match kind(module, op) {
                Kind::Vector if work.len() > 1 && self.hazards.within(module, op, &work) => Kind::Mixed,
                kind => kind,
            };
            match kind {
                Kind::Value => values.push(op),
                Kind::Vector => {
                    if self.hazards.between(module, &done, &work) {
                        region = None;
                    }
                    if region.is_none() {
                        done.clear();
                    }
                    done.extend(work);
                    let region = match &mut region {
                        Some(region) => {
                            self.bring(region, &mut values);
                            region
                        }
                        none => {
                            values.clear();
                            self.build.span = self.build.module.op(op).span;
                            none.insert(self.build.region(op, self.axes.axis as i64 + 1))
                        }
                    };
                    self.build.module.remove(op);
                    self.build.module.append(region.block, op);
                    self.inside(region, op);
                }
                Kind::Mixed => {
                    region = None;
                    for inner in self.blocks(op) {
                        self.block(inner);
                    }
                }
                Kind::Other => region = None,
            }
        }
    }

    fn blocks(&self, op: OpId) -> Vec<BlockId> {
        let module = &self.build.module;
        module.op(op).regions.iter().flat_map(|r| module.region(*r).blocks.iter().copied()).collect()
    }

    /// Moves ops that make values before the region, or into it if they use values made in it.
    fn bring(&mut self, region: &Region, values: &mut Vec<OpId>) {
        for op in values.drain(..) {
            let module = &mut *self.build.module;
            let made_inside =
                |v: &ValueId| module.defining_op(*v).is_some_and(|d| module.op(d).block == Some(region.block));
            let inside = module.op(op).operands.iter().any(made_inside);
            module.remove(op);
            let place = if inside { Insertion::EndOf(region.block) } else { Insertion::Before(region.op) };
            self.build.put(place, op);
        }
    }

    /// Rewrites an op inside a region.
    fn inside(&mut self, region: &mut Region, id: OpId) {
        for block in self.blocks(id) {
            for op in self.build.module.block(block).ops.clone() {
                self.inside(region, op);
            }
        }
        self.build.span = self.build.module.op(id).span;
        let module = &*self.build.module;
        let Some(op) = OpRef::of(module, id) else { return };
        let tiles = all_tiles(&op);
        if tiles.is_empty() || !matches!(kind(module, id), Kind::Vector) || !module.op(id).regions.is_empty() {
            return;
        }
        if op.def.mixed == Some(MixedPart::Cross) {
            return self.cross(region, id);
        }
        let clipped = tiles.iter().find_map(|v| {
            self.axes.part(*v).filter(|part| self.axes.state((*v, part.axis)) == State::Clipped).copied()
        });
        if let Some(part) = clipped {
            return self.clip(region, id, part);
        }
        let touched = tile_operands(&op);
        let writes = touched.iter().any(|(_, spec)| matches!(spec.touch, Touch::Write | Touch::ReadWrite));
        let reads = touched.iter().any(|(_, spec)| spec.touch == Touch::Read);
        let divided = touched.iter().any(|(v, _)| self.axes.halved(*v).is_some());
        let leaves = reads && !writes && module.op(id).results.is_empty();
        if leaves && !divided {
            // Both cores hold the contents that leave the tile: the first of them does the transfer.
            let first = self.build.is_lane(region, 0);
            let then = self.build.branch(Insertion::Before(id), first);
            self.build.module.remove(id);
            self.build.module.append(then, id);
            return;
        }
        let range = touched.iter().find_map(|(v, _)| self.axes.halved(*v).map(|axis| (*v, axis)));
        if let Some((tile, axis)) = range {
            let size = vector_tile(self.build.module, tile).map_or(0, |ty| extent(ty, axis));
            self.windows(
                id,
                |rewriter, dimension| {
                    let start = rewriter.build.start(region, size / dimension.inner);
                    Range { start: Number::Value(start), size, all: 2 * size }
                },
                (axis, 2 * size),
                Insertion::Before(id),
            );
        }
        self.lanes_valid(region, id);
        for tile in tiles {
            let own = self.lanes_view(region, tile, Insertion::Before(id));
            self.replace(id, tile, own);
        }
    }

    /// An op that sets the valid extent of a divided tile sets that of each core's half: the remainder after the first
    /// half, at most a half.
    fn lanes_valid(&mut self, region: &mut Region, id: OpId) {
        let module = &*self.build.module;
        let shapes = OpRef::of(module, id).as_ref().and_then(pto::shapes_tile);
        let Some((tile, valid)) = shapes else { return };
        let Some(axis) = self.axes.halved(tile) else { return };
        let Some(half) = vector_tile(module, tile).map(|ty| positions_in_memory(ty, axis)) else { return };
        let place = Insertion::Before(id);
        let own = match self.build.index(place, valid[axis]) {
            Number::Known(all) if all >= 2 * half => Number::Known(half),
            all => {
                let start = Number::Value(self.build.start(region, half));
                let left = self.build.sub(place, all, start);
                self.build.clamp(place, left, half)
            }
        };
        let own = self.build.number(own);
        pto::set_valid(self.build.module, id, axis, own);
    }

    fn replace(&mut self, op: OpId, from: ValueId, to: ValueId) {
        if from == to {
            return;
        }
        self.replaced.extend(self.build.module.defining_op(from));
        let operands = &mut self.build.module.op_mut(op).operands;
        operands.iter_mut().filter(|v| **v == from).for_each(|v| *v = to);
    }

    /// A cross-core copy becomes a shard or a gather.
    fn cross(&mut self, region: &mut Region, id: OpId) {
        let module = &*self.build.module;
        let [src, dst] = ["src", "dst"].map(|name| module.operands_named(id, name)[0]);
        let to_vector = vector_tile(module, dst).is_some();
        let split = if to_vector { self.axes.axis } else { self.axes.halved(src).unwrap_or(self.axes.axis) };
        let src = if to_vector { src } else { self.lanes_view(region, src, Insertion::Before(id)) };
        let (split, span) = ([Split::UpDown, Split::LeftRight][split], self.build.span);
        let cross = if to_vector { pto::shard } else { pto::gather };
        let op = cross(self.build.module, [src, dst], split, span);
        self.build.put(Insertion::Before(id), op);
        self.build.module.remove(id);
    }

    /// The view of a tile that a core works on: for a divided part of a tile that the core holds whole, its own half.
    fn lanes_view(&mut self, region: &mut Region, tile: ValueId, place: Insertion) -> ValueId {
        let Some(part) = self.axes.part(tile).copied() else { return self.view_of_view(region, tile, place) };
        if self.axes.state((tile, part.axis)) != State::Half {
            return tile;
        }
        let Some(offset) = OpRef::of(self.build.module, part.op).map(|op| op.operands("offsets")[part.axis]) else {
            return tile;
        };
        let lane = Number::Value(self.build.start(region, part.size / 2));
        let offset = self.build.index(place, offset);
        let offset = self.build.add(place, offset, lane);
        let source = self.lanes_view(region, part.source, place);
        self.subset(&part, source, offset, part.size / 2, place)
    }

    /// A view of a core-dependent view is recreated, too.
    fn view_of_view(&mut self, region: &mut Region, tile: ValueId, place: Insertion) -> ValueId {
        let module = &*self.build.module;
        let Some(op) = module.defining_op(tile).and_then(|op| OpRef::of(module, op)) else { return tile };
        if !matches!(op.def.along[0], Along::Part | Along::Reshapes) {
            return tile;
        }
        let (id, Some(source)) = (op.id, first_operand(&op)) else { return tile };
        let own = self.lanes_view(region, source, place);
        if own == source {
            return tile;
        }
        let mut map = ValueMap::default();
        map.insert(source, own);
        let copy = self.build.module.clone_op(id, &mut map);
        self.build.put(place, copy);
        map.get(tile)
    }

    /// A part of a tile with other positions along one axis.
    fn subset(&mut self, part: &Part, source: ValueId, offset: Number, size: i64, place: Insertion) -> ValueId {
        let mut map = ValueMap::default();
        map.insert(part.source, source);
        let copy = self.build.module.clone_op(part.op, &mut map);
        let offset = self.build.number(offset);
        self.build.module.operands_named_mut(copy, "offsets")[part.axis] = offset;
        let view = map.get(part.result);
        if let Some(Type::Tile(ty)) = self.whole_types.iter().find(|(v, _)| *v == part.result).map(|(_, ty)| ty) {
            let own = resized(ty, part.axis, size);
            self.build.module.value_mut(view).ty = Type::Tile(own);
            pto::set_part_sizes(self.build.module, copy, [own.layout.rows, own.layout.cols]);
        }
        self.build.put(place, copy);
        view
    }

    /// Replaces the windows of global memory of an op by those that belong to a range.
    fn windows(
        &mut self,
        id: OpId,
        mut range: impl FnMut(&mut Self, Dimension) -> Range,
        (axis, all): (usize, i64),
        place: Insertion,
    ) {
        let module = &*self.build.module;
        let views: Vec<ValueId> = module.op(id).operands.iter().copied().filter(|v| is_view(module.ty(*v))).collect();
        for view in views {
            let Ok(dimension) = dimension(self.build.module, view, axis, all, false) else { continue };
            let range = range(self, dimension);
            let own = self.window(view, dimension, range, place);
            self.replace(id, view, own);
        }
    }

    /// A window of a window: the positions of a range.
    fn window(&mut self, view: ValueId, dimension: Dimension, range: Range, place: Insertion) -> ValueId {
        let module = &*self.build.module;
        let (Type::PartitionView(ty) | Type::TensorView(ty)) = module.ty(view).clone() else { return view };
        let known = extents(module, view)[dimension.at];
        let partition = partition(module, view).map(|p| (p.source, p.offsets.to_vec(), p.sizes.to_vec()));
        let (source, mut offsets, mut sizes) = partition.unwrap_or_else(|| self.all_of(view, &ty, place));
        let size = range.size / dimension.inner;
        let offset = self.build.index(place, offsets[dimension.at]);
        let offset = self.build.add(place, offset, range.start);
        offsets[dimension.at] = self.build.number(offset);
        let own = if known == Some(range.all / dimension.inner) {
            Number::Known(size)
        } else {
            let all = self.build.index(place, sizes[dimension.at]);
            let left = self.build.sub(place, all, range.start);
            self.build.clamp(place, left, size)
        };
        sizes[dimension.at] = self.build.number(own);
        let mut dims = ty.dims.clone();
        dims[dimension.at] = match own {
            Number::Known(n) => dim(n),
            Number::Value(_) => slipring_ir::Dim::Dynamic,
        };
        let ty = Type::PartitionView(ViewType { elem: ty.elem, dims });
        let operands: [(&str, &[ValueId]); 3] = [("source", &[source]), ("offsets", &offsets), ("sizes", &sizes)];
        let name = self.build.module.value(view).name.clone();
        let own = self.build.value(place, &pto::PARTITION_VIEW, &operands, ty);
        self.build.module.value_mut(own).name = name;
        own
    }

    /// A view as a window of itself.
    fn all_of(&mut self, view: ValueId, ty: &ViewType, place: Insertion) -> (ValueId, Vec<ValueId>, Vec<ValueId>) {
        let zero = self.build.constant(0);
        let sizes = ty.dims.iter().enumerate().map(|(at, dim)| match dim.known().and_then(|n| i64::try_from(n).ok()) {
            Some(n) => self.build.constant(n),
            None => {
                let at = self.build.constant(at as i64);
                let operands: [(&str, &[ValueId]); 2] = [("view", &[view]), ("dim", &[at])];
                self.build.value(place, &pto::GET_TENSOR_VIEW_DIM, &operands, Type::Index)
            }
        });
        let sizes = sizes.collect();
        (view, vec![zero; ty.dims.len()], sizes)
    }

    /// An op on parts of divided tiles: each core does what lies in its half.
    fn clip(&mut self, region: &mut Region, id: OpId, part: Part) {
        match part.start {
            Start::At(at) => {
                for lane in 0..2 {
                    let own = lane as i64 * part.half;
                    let (first, end) = (at.max(own), (at + part.size).min(own + part.half));
                    if first < end {
                        let condition = self.build.is_lane(region, lane);
                        let then = Insertion::EndOf(self.build.branch(Insertion::Before(id), condition));
                        let range = (Number::Known(first - at), end - first);
                        self.clipped(id, &part, Number::Known(first - own), range, then);
                    }
                }
            }
            Start::Multiple(value) | Start::Unknown(value) => {
                // The part is in one half, whichever that is.
                let place = Insertion::Before(id);
                let own = Number::Value(self.build.start(region, part.half));
                let at = self.build.index(place, value);
                let first = self.build.sub(place, at, own);
                let condition = self.build.compare(place, Relation::Below, first, Number::Known(part.half));
                let then = Insertion::EndOf(self.build.branch(place, condition));
                self.clipped(id, &part, first, (Number::Known(0), part.size), then);
            }
        }
        self.replaced.insert(id);
        self.build.module.remove(id);
    }

    /// The copy of an op for positions of its parts. `first`: in the core's half; `range`: in the part.
    fn clipped(&mut self, id: OpId, like: &Part, first: Number, (start, size): (Number, i64), place: Insertion) {
        let mut map = ValueMap::default();
        let tiles = OpRef::of(self.build.module, id).map_or(Vec::new(), |op| all_tiles(&op));
        for tile in tiles {
            let Some(part) = self.axes.part(tile).copied().filter(|p| p.axis == like.axis) else { continue };
            let view = self.subset(&part, part.source, first, size, place);
            self.replaced.insert(part.op);
            map.insert(tile, view);
        }
        let copy = self.build.module.clone_op(id, &mut map);
        self.build.put(place, copy);
        let range = Range { start, size, all: like.size };
        self.windows(copy, |_, _| range, (like.axis, like.size), Insertion::Before(copy));
    }
}

/// Removes replaced views that nothing uses any more, and the ops they were made from.
fn drop_unused(module: &mut Module, body: BlockId, mut replaced: BTreeSet<OpId>) {
    loop {
        let used: BTreeSet<ValueId> =
            module.walk(body).iter().flat_map(|op| module.op(*op).operands.iter().copied()).collect();
        let idle = |op: &&OpId| {
            let data = module.op(**op);
            data.block.is_some() && !data.results.is_empty() && data.results.iter().all(|v| !used.contains(v))
        };
        let Some(op) = replaced.iter().rev().find(idle).copied() else { return };
        replaced.extend(
            module
                .op(op)
                .operands
                .iter()
                .filter_map(|v| module.defining_op(*v))
                .filter(|d| kind(module, *d) == Kind::Value && vector_tile(module, module.op(*d).results[0]).is_none()),
        );
        module.remove(op);
    }
}

/// Values that are made in a region and used outside of it.
fn escaping(module: &Module, body: BlockId) -> Vec<Diagnostic> {
    let ops = module.walk(body);
    let regions =
        ops.iter().filter(|op| OpRef::of(module, **op).is_some_and(|op| op.def.mixed == Some(MixedPart::Region)));
    let mut errors = Vec::new();
    for inner in regions.filter_map(|op| module.body(*op, 0)) {
        let inside: BTreeSet<OpId> = module.walk(inner).into_iter().collect();
        for op in ops.iter().filter(|op| !inside.contains(op)) {
            let operands: BTreeSet<ValueId> = module.op(*op).operands.iter().copied().collect();
            for value in &operands {
                if let Some(from) = module.defining_op(*value).filter(|d| inside.contains(d)) {
                    let name = module.value_name(*value);
                    let message = format!("`{name}` is made on the Vector cores and used outside of their work");
                    let error = Diagnostic::error("auto-split", module.op(*op).span, message);
                    errors.push(error.also(module.op(from).span, "made here").help(BY_HAND));
                }
            }
        }
    }
    errors
}
