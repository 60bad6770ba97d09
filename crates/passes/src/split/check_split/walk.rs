//! Following the tiles of the Vector cores through a function.

use slipring_ir::{BlockId, Diagnostic, Diags, Flow, OpId, ValueId};
use slipring_op::ring::Split;
use slipring_op::{Along, MixedPart, OpRef, writes_global};
use slipring_tile::Space;

use super::lanes::Lanes;
use super::stores;
use super::tiles::{Contents, Cut, Tiles, vector_tile};
use crate::analysis::facts::flow;
use crate::split::check_split::function::{Function, is_region, mode, name_of, positions, split_of};
use crate::split::check_split::standing::{Standing, Walk};

/// Checks a function.
pub(super) fn check(function: &Function<'_>, diags: &mut Diags) {
    let mut walk =
        Walk { function, lanes: Lanes::of(function), tiles: Tiles::default(), reports: false, found: Vec::new() };
    let outermost = Standing { region: None, guard: None };
    // Values read from tiles make others depend on the lane: repeat until nothing changes.
    while walk.block(function.body, outermost) {
        walk.tiles = Tiles::default();
    }
    walk.tiles = Tiles::default();
    walk.reports = true;
    walk.block(function.body, outermost);
    diags.list.append(&mut walk.found);
}

impl<'a> Walk<'_, 'a> {
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.reports && !self.found.contains(&diagnostic) {
            self.found.push(diagnostic);
        }
    }

    /// Walks a block. True if more values were found to depend on the lane.
    fn block(&mut self, block: BlockId, place: Standing<'a>) -> bool {
        let module = self.function.module;
        let mut news = false;
        for &id in &module.block(block).ops {
            let Some(op) = OpRef::of(module, id) else { continue };
            news |= match (is_region(&op), module.op(id).regions.is_empty()) {
                (true, _) => module.body(id, 0).is_some_and(|b| self.block(b, Standing { region: Some(op), ..place })),
                (false, false) => self.regions(id, place),
                (false, true) => self.op(&op, place),
            };
        }
        news
    }

    /// Walks the regions of control flow.
    fn regions(&mut self, op: OpId, place: Standing<'a>) -> bool {
        let module = self.function.module;
        let inside = Standing { guard: place.guard.or_else(|| self.lanes.condition(op)), ..place };
        let blocks: Vec<_> = (0..module.op(op).regions.len()).filter_map(|region| module.body(op, region)).collect();
        let mut news = false;
        match flow(module, op) {
            Flow::Once => blocks.into_iter().for_each(|block| news |= self.block(block, inside)),
            Flow::OneOf => {
                let before = self.tiles.clone();
                // Without a second region, the body may be skipped altogether.
                let mut after = (blocks.len() < 2).then(|| before.clone());
                for block in blocks {
                    self.tiles = before.clone();
                    news |= self.block(block, inside);
                    let end = std::mem::take(&mut self.tiles);
                    after = Some(match after {
                        Some(after) => after.join(end),
                        None => end,
                    });
                }
                self.tiles = after.unwrap_or(before);
            }
            Flow::Repeat => {
                let reports = std::mem::replace(&mut self.reports, false);
                loop {
                    // Known contents are kept: locations exchanged between tiles would otherwise alternate forever.
                    let before = self.tiles.clone();
                    blocks.iter().for_each(|block| news |= self.block(*block, inside));
                    self.tiles = before.clone().join(std::mem::take(&mut self.tiles));
                    if self.tiles == before {
                        break;
                    }
                }
                self.reports = reports;
                if reports {
                    let before = self.tiles.clone();
                    blocks.iter().for_each(|block| news |= self.block(*block, inside));
                    self.tiles = before.join(std::mem::take(&mut self.tiles));
                }
            }
        }
        news
    }

    fn op(&mut self, op: &OpRef<'a>, place: Standing<'a>) -> bool {
        match op.def.mixed {
            Some(MixedPart::Shard) => self.shard(op, place),
            Some(MixedPart::Gather) => self.gather(op, place),
            Some(_) => {}
            None => return self.vector_op(op, place),
        }
        false
    }

    /// The contents of an operand that is read, seen through its view.
    pub fn contents(&self, value: ValueId) -> Contents {
        let contents = self.tiles.get(self.function.module, value);
        Contents { lane: contents.lane.or(self.lanes.get(value)), ..contents }
    }

    /// A cross-core copy that only one lane may reach: the Cube core would wait for the other one forever.
    fn on_both_lanes(&mut self, op: &OpRef<'_>, place: Standing<'_>) {
        if let Some(guard) = place.guard {
            self.report(
                op.error("crossing-on-one-lane", format!("`{}` may happen on one lane only", name_of(op)))
                    .label("both Vector cores take part in every cross-core copy")
                    .also(guard, "what decides depends on the lane from here on")
                    .help("let tiles cross outside of what the lane decides"),
            );
        }
    }

    fn shard(&mut self, op: &OpRef<'_>, place: Standing<'_>) {
        self.on_both_lanes(op, place);
        let (Some(dst), Some(split)) = (op.operand("dst"), Split::of(op)) else { return };
        let contents = match axis_of(split) {
            Some(axis) => Contents { cut: Cut::Axis(axis), by: Some(op.span()), lane: Some(op.span()) },
            None => Contents::default(),
        };
        self.tiles.set(self.function.module, dst, contents);
    }

    fn gather(&mut self, op: &OpRef<'_>, place: Standing<'_>) {
        self.on_both_lanes(op, place);
        let (Some(src), Some(split)) = (op.operand("src"), Split::of(op)) else { return };
        let (name, contents) = (self.function.module.value_name(src), self.contents(src));
        let Some(axis) = axis_of(split) else {
            if let Some(lane) = contents.lane {
                self.report(
                    op.error("gather-unequal", format!("`{name}` differs between the lanes and is gathered whole"))
                        .label("with split 0 (NONE) both Vector cores must hold the same tile")
                        .also(lane, "differs from here on")
                        .help("gather its halves (split 1 or 2), or compute the same on both Vector cores"),
                );
            }
            return;
        };
        if let (Cut::Axis(cut), Some(by)) = (contents.cut, contents.by)
            && cut != axis
        {
            let (held, put) = (positions(cut), positions(axis));
            self.report(
                op.error("split-mismatch", format!("`{name}` holds half of the {held} and is gathered by {put}"))
                    .label(format!("puts {put} together: {}", mode(split)))
                    .also(by, format!("divided by {held} here"))
                    .help(format!("gather it with {}", mode(split_of(cut)))),
            );
        }
    }

    /// Any other op: its reads, the resulting contents of what it writes, and its writes to global memory.
    fn vector_op(&mut self, op: &OpRef<'a>, place: Standing<'a>) -> bool {
        let module = self.function.module;
        let mut out = Contents { lane: place.guard, ..Contents::default() };
        let mut tile_read = None;
        for (at, spec) in op.def.schema.operands.iter().enumerate() {
            for &value in op.operands(at) {
                let global = module.ty(value).space() == Some(Space::Gm);
                if vector_tile(module, value).is_some() {
                    if spec.touch.reads() {
                        let contents = self.contents(value);
                        tile_read = tile_read.or(Some(contents));
                        out = out.with(self.through(op, spec.name, value, contents));
                    }
                } else if global && spec.touch.reads() {
                    out = out.with(self.loaded(op, value, place));
                } else if !global {
                    out.lane = out.lane.or(self.lanes.get(value));
                }
            }
        }
        if writes_global(op) {
            stores::check(self, op, tile_read.unwrap_or_default(), place);
        }
        for value in op.written().filter(|v| vector_tile(module, *v).is_some()) {
            self.tiles.set(module, value, out);
        }
        let scalars = module.op(op.id).results.iter().filter(|v| module.ty(**v).is_scalar());
        let from = tile_read.and_then(|contents| contents.lane);
        scalars.fold(false, |news, value| from.is_some_and(|from| self.lanes.add(*value, from)) | news)
    }

    /// What an op turns a source's part of a whole tile into.
    fn through(&mut self, op: &OpRef<'_>, operand: &str, value: ValueId, contents: Contents) -> Contents {
        let Cut::Axis(axis) = contents.cut else { return contents };
        let module = self.function.module;
        let name = module.value_name(value);
        let what = positions(axis);
        // The valid part is divided; if it is open, it may be as large as the capacity.
        let extent = vector_tile(module, value).map_or(0, |tile| {
            let extent = [tile.layout.rows, tile.layout.cols][axis];
            tile.valid[axis].known().unwrap_or(extent.into())
        });
        let cut = match op.def.along[axis] {
            Along::Each | Along::Repeats | Along::Window(_) => contents.cut,
            Along::First(of) if of == operand => Cut::Whole,
            Along::First(_) => contents.cut,
            Along::Combines => {
                if let Some(by) = contents.by {
                    self.report(
                        op.error("split-reduce", format!("`{}` combines {what}, of which each lane has half", name_of(op)))
                            .label(format!("a part of the result only: `{name}` is a lane's half"))
                            .also(by, format!("divided by {what} here"))
                            .help("reduce along the other axis, divide the tile the other way, or gather it first (`aic_gather`)"),
                    );
                }
                Cut::Whole
            }
            Along::Transposes => {
                if let Some(by) = contents.by.filter(|_| extent > 1) {
                    self.report(
                        op.error("split-transpose", format!("`{}` turns the {what} that are divided", name_of(op)))
                            .label(format!("`{name}` holds half of the {what}"))
                            .also(by, format!("divided by {what} here"))
                            .help("transpose before the tile is divided or after it is gathered (`aic_gather`)"),
                    );
                }
                Cut::Axis(1 - axis)
            }
            Along::Counts | Along::Part | Along::Reshapes | Along::Unknown => Cut::Unsure,
        };
        Contents { cut, ..contents }
    }

    /// The contents that a load brings: the lanes' own windows differ, and are halves if the region divides along that
    /// axis.
    fn loaded(&self, op: &OpRef<'_>, view: ValueId, place: Standing<'_>) -> Contents {
        let Some(lane) = self.lanes.get(view) else { return Contents::default() };
        let split = place.region.as_ref().and_then(Split::of).and_then(axis_of);
        let window = stores::Shift::of(self, view);
        let cut = match split {
            Some(axis) if window.axes() == [axis] => Cut::Axis(axis),
            _ => Cut::Whole,
        };
        Contents { cut, by: Some(op.span()), lane: Some(lane) }
    }
}

/// The axis that a split divides.
pub(super) fn axis_of(split: Split) -> Option<usize> {
    match split {
        Split::None => None,
        Split::UpDown => Some(0),
        Split::LeftRight => Some(1),
    }
}
