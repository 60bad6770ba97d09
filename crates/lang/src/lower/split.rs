//! Regions for the Vector cores: lanes, shards and gathers.

use ruff_python_ast::{ExprCall, StmtFor};
use slipring_ir::{Attr, Diagnostic, OpId, Span, Type};
use slipring_pto as pto;
use slipring_tile::Space;

use super::lowering::{Lower, Lowered, describe};
use super::state::Region;
use crate::dtype::DType;
use crate::syntax::at;
use crate::value::{Const, Crossing, Index, RegionId, Split, Tile, TileId, Value, fold, split_name};

/// Number of Vector cores in a cluster.
const LANES: i64 = 2;

impl Lower<'_> {
    /// `for lane in pl.split_aiv(2, mode=…):`.
    pub(super) fn split_region(&mut self, stmt: &StmtFor, call: &ExprCall) -> Lowered<()> {
        let span = at(call);
        if let Some(open) = self.open.region {
            let error = Diagnostic::error("nested-region", span, "a `split_aiv` region inside another one")
                .also(
                    self.open.regions[open.0 as usize].span,
                    "the outer region, whose body already runs on both Vector cores",
                )
                .help("write the two regions one after the other");
            return Err(self.report(error));
        }
        let mode = self.region_mode(call)?;
        let name = self.loop_name(&stmt.target)?;
        if let Some((split, place)) = self.facts.split {
            let message =
                format!("the scope asks for the automatic split {} and opens a `split_aiv` region", split_name(split));
            let error = Diagnostic::error("split-twice", span, message)
                .also(place, "the automatic split is asked for here")
                .help("keep one of the two: they are two ways of saying the same thing");
            return Err(self.report(error));
        }
        let op = self.e.op(&pto::SPLIT_AIV, &[], &[("split", Attr::int(0))], &[]);
        let block = self.e.region(op);
        let lane = self.e.module.add_arg(block, Type::Index, Some(name.to_string().into()), at(&*stmt.target));
        let used = mode.map(|mode| (mode, span));
        self.open.regions.push(Region { op, mode, used, span });
        let id = RegionId(self.open.regions.len() as u32 - 1);
        self.open.region = Some(id);
        let lane = self.scalar(lane, DType::Index);
        self.set(&name, lane);
        let outcome = self.in_block(block, |l| l.body(&stmt.body).and_then(|()| l.keep_lane_windows(op)));
        self.open.region = None;
        let used = self.open.regions[id.0 as usize].used;
        if used.is_none() && outcome.is_ok() {
            let error = Diagnostic::error("split-mode", span, "nothing says how this region divides tiles")
                .note("it has no `mode=`, and no shard or gather in it says one")
                .help("give it one: `mode=pl.SplitMode.UP_DOWN` (rows), `LEFT_RIGHT` (columns), or `NONE` (none is divided)");
            return Err(self.report(error));
        }
        let used = used.map_or(Split::None, |(mode, _)| mode);
        pto::set_split(&mut self.e.module, op, used.number());
        self.forget_lane_scalars(op, span);
        if outcome.is_ok() {
            self.show_gathered(id, span)?;
        }
        outcome
    }

    /// Repeats the views of partially valid tiles that a region gathered behind it: the Cube core uses them there, and
    /// what a region makes exists in it only.
    fn show_gathered(&mut self, region: RegionId, span: Span) -> Lowered<()> {
        let gathered = |tile: &Tile| tile.region == Some(region) && tile.crossing == Some(Crossing::Gathered);
        let names: Vec<_> = self.names.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in names {
            let Value::Tile(id) = value else { continue };
            let tile = self.tile(id).clone();
            let Some(valid) = tile.valid.filter(|_| gathered(&tile)) else { continue };
            let whole = self.viewed(tile.value);
            let Type::Tile(ty) = *self.e.module.ty(whole) else { continue };
            let whole = self.add_tile(whole, ty, &tile.shape, tile.made_by);
            self.mark(whole, Crossing::Gathered);
            self.held.tiles[whole.0 as usize].region = tile.region;
            let shown = self.crossed(whole, Some(valid), span)?;
            self.set(&name, Value::Tile(shown));
        }
        Ok(())
    }

    /// Loads windows of inputs with offsets that each lane of a region computed itself at the end of the region, if
    /// their name is live: the tile belongs to the lane, as its windows do.
    fn keep_lane_windows(&mut self, op: OpId) -> Lowered<()> {
        let kept = self.names.env.iter().filter(|(name, value)| self.is_read_later(name) && self.of_region(value, op));
        let windows: Vec<_> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in windows {
            if let Value::Tensor(window) = &value
                && !self.tensors.roots[window.root].writable
            {
                let tile = self.load(window, Space::Vec)?;
                self.set(&name, Value::Tile(tile));
            }
        }
        Ok(())
    }

    /// True for a value that each lane of a region has computed itself, except tiles: these stay with the lane.
    fn of_region(&self, value: &Value, op: OpId) -> bool {
        let index = |index: &Index| matches!(index, Index::At(scalar) if scalar.region == Some(op));
        match value {
            Value::Scalar(scalar) => scalar.region == Some(op),
            Value::Tensor(window) => window.offsets.iter().any(index),
            Value::Tile(id) => self.tile(*id).valid.is_some_and(|valid| valid.iter().any(index)),
            Value::Tuple(items) => items.iter().any(|item| self.of_region(item, op)),
            _ => false,
        }
    }

    /// Unbinds numbers of a region after it, and values that depend on them: each lane has its own.
    fn forget_lane_scalars(&mut self, op: OpId, span: Span) {
        let own = self.names.env.iter().filter(|(_, value)| self.of_region(value, op));
        let names: Vec<_> = own.map(|(name, value)| (name.clone(), matches!(value, Value::Scalar(_)))).collect();
        for (name, number) in names {
            let why = if number {
                "a number that each lane of this region has for itself"
            } else {
                "what depends on numbers that each lane of this region has for itself: load it in the region, or say it again"
            };
            self.lose(&name, span, why);
        }
    }

    fn region_mode(&mut self, call: &ExprCall) -> Lowered<Option<Split>> {
        let span = at(call);
        let mut mode = None;
        let mut lanes_of = match &*call.arguments.args {
            [] => None,
            [n] => Some(n),
            _ => return Err(self.error("argument", span, "`pl.split_aiv` takes one number, the Vector cores")),
        };
        for keyword in &call.arguments.keywords {
            match keyword.arg.as_ref().map(|n| n.as_str()) {
                Some("n") if lanes_of.is_some() => {
                    return Err(self.error("argument", at(keyword), "the number of Vector cores is given twice"));
                }
                Some("n") => lanes_of = Some(&keyword.value),
                Some("mode") if mode.is_some() => {
                    return Err(self.error("argument", at(keyword), "`mode` is given twice"));
                }
                Some("mode") => match self.expr(&keyword.value)? {
                    Value::Const(Const::Split(m)) => mode = Some(m),
                    other => {
                        let what = describe(self, &other);
                        return Err(self.error(
                            "split-mode",
                            at(keyword),
                            format!("a mode is `pl.SplitMode.…`, not {what}"),
                        ));
                    }
                },
                Some("optimizations") => {
                    let error =
                        Diagnostic::error("split-twice", at(keyword), "`pl.split_aiv` does not take `optimizations`")
                            .help("the loop is the split declaration: give it `mode=` and drop `pl.split`");
                    return Err(self.report(error));
                }
                other => {
                    let message = format!("`pl.split_aiv` has no argument `{}`", other.unwrap_or("**"));
                    return Err(self.error("argument", at(keyword), message));
                }
            }
        }
        let lanes = match lanes_of {
            None => LANES,
            Some(n) => {
                let value = self.expr(n)?;
                self.known_int(&value, "the number of Vector cores", at(n))?
            }
        };
        if lanes != LANES {
            let error = Diagnostic::error(
                "split-lanes",
                span,
                format!("`pl.split_aiv({lanes})`: a cluster has two Vector cores"),
            )
            .help("write `pl.split_aiv(2)`");
            return Err(self.report(error));
        }
        Ok(mode)
    }

    /// The mode of a boundary op: its own, else that of the region.
    fn boundary_mode(&mut self, what: &str, own: Option<Split>, span: Span) -> Lowered<Split> {
        let Some(region) = self.open.region else {
            let error = Diagnostic::error(
                "boundary-outside",
                span,
                format!("`pl.{what}` is outside every `split_aiv` region"),
            )
            .help("put it into a `for lane in pl.split_aiv(2, mode=…):` loop, which says where lanes begin and end");
            return Err(self.report(error));
        };
        let region = &self.open.regions[region.0 as usize];
        let Some(mode) = own.or(region.mode) else {
            let error =
                Diagnostic::error("split-mode", span, format!("`pl.{what}` does not say how the tile is divided"))
                    .also(region.span, "and neither does the region")
                    .help("give a mode: `pl.SplitMode.UP_DOWN` (rows) or `pl.SplitMode.LEFT_RIGHT` (columns)");
            return Err(self.report(error));
        };
        Ok(mode)
    }

    fn use_mode(&mut self, mode: Split, span: Span) {
        if let Some(region) = self.open.region {
            self.open.regions[region.0 as usize].used.get_or_insert((mode, span));
        }
    }

    /// `pl.aiv_shard(tile, mode)`: this lane's part of a tile of the Cube core.
    pub fn shard(&mut self, value: &Value, own: Option<Split>, span: Span) -> Lowered {
        let mode = self.boundary_mode("aiv_shard", own, span)?;
        let id = self.boundary_tile("aiv_shard", value, Space::Acc, span)?;
        let tile = self.tile(id).clone();
        let mut shape = tile.shape.clone();
        let uneven = self.uneven(&tile, mode);
        // An odd extent takes one more row or column from the padding, so that it can be halved.
        if let Some(axis) = uneven {
            shape[axis] += 1;
        }
        let even = shape.clone();
        self.halve(&mut shape, mode, span)?;
        self.use_mode(mode, span);
        let elem = tile.ty.layout.elem;
        let whole = if uneven.is_some() { self.view_of_shape(id, &even) } else { self.whole_view(id) };
        let part = self.new_tile(&shape, elem, Space::Vec, "aiv_shard");
        self.mark(part, Crossing::Sharded);
        let (source, target) = (self.tile(whole).value, self.tile(part).value);
        let attrs = [("split", Attr::int(mode.number()))];
        self.e.op(&pto::AIV_SHARD, &[("src", &[source]), ("dst", &[target])], &attrs, &[]);
        let all = || <[u64; 2]>::from(fold(&tile.shape)).map(|n| Index::Known(n as i64));
        let valid = tile.valid.or_else(|| uneven.map(|_| all()));
        let valid = valid.map(|valid| self.of_this_lane(valid, fold(&shape), mode));
        self.crossed(part, valid, span).map(Value::Tile)
    }

    /// The divided axis of a tile of the Cube core with an odd number of rows or columns and capacity for one more: the
    /// lanes' tiles have the same size, and lane 1 has one less valid.
    fn uneven(&self, tile: &Tile, mode: Split) -> Option<usize> {
        let axis = mode.axis()?;
        let extent = [tile.ty.layout.rows, tile.ty.layout.cols][axis];
        let is_odd = tile.shape.len() == 2 && tile.shape[axis] % 2 == 1;
        (is_odd && tile.shape[axis] > 1 && tile.shape[axis] < u64::from(extent)).then_some(axis)
    }

    /// The valid extent of this lane's part of a tile; the part has these rows and columns.
    fn of_this_lane(&mut self, mut valid: [Index; 2], part: (u64, u64), mode: Split) -> [Index; 2] {
        let (axis, size) = match mode {
            Split::None => return valid,
            Split::UpDown => (0, part.0 as i64),
            Split::LeftRight => (1, part.1 as i64),
        };
        if valid[axis] == Index::Known(2 * size) {
            valid[axis] = Index::Known(size);
            return valid;
        }
        let lane = match self.launch_number(&pto::GET_SUBBLOCK_IDX) {
            Value::Scalar(lane) => Index::At(lane),
            _ => Index::Known(0),
        };
        let before = self.times(lane, size);
        let left = self.less(valid[axis], before);
        let left = self.larger(left, Index::Known(0));
        valid[axis] = self.smaller(left, Index::Known(size));
        valid
    }

    /// `pl.aic_gather(tile, mode)`: the lanes' tiles joined for the Cube core.
    pub fn gather(&mut self, value: &Value, own: Option<Split>, span: Span) -> Lowered {
        let mode = self.boundary_mode("aic_gather", own, span)?;
        let id = self.boundary_tile("aic_gather", value, Space::Vec, span)?;
        let tile = self.tile(id).clone();
        let mut shape = tile.shape.clone();
        let (rows, cols) = fold(&shape);
        let valid = match (tile.valid, mode) {
            (None, _) | (_, Split::None) => tile.valid,
            (Some([lane, other]), Split::UpDown) if lane == Index::Known(rows as i64) => {
                Some([Index::Known(2 * rows as i64), other])
            }
            (Some([other, lane]), Split::LeftRight) if lane == Index::Known(cols as i64) => {
                Some([other, Index::Known(2 * cols as i64)])
            }
            _ => {
                self.wholly_valid(id, "a gather", span)?;
                None
            }
        };
        match mode {
            Split::None => {}
            Split::UpDown => shape[0] *= 2,
            Split::LeftRight => *shape.last_mut().unwrap_or(&mut 1) *= 2,
        }
        self.use_mode(mode, span);
        let source = self.whole_view(id);
        let whole = self.new_tile(&shape, tile.ty.layout.elem, Space::Mat, "aic_gather");
        self.mark(whole, Crossing::Gathered);
        let (source, target) = (self.tile(source).value, self.tile(whole).value);
        let attrs = [("split", Attr::int(mode.number()))];
        self.e.op(&pto::AIC_GATHER, &[("src", &[source]), ("dst", &[target])], &attrs, &[]);
        self.crossed(whole, valid, span).map(Value::Tile)
    }

    fn boundary_tile(&mut self, what: &str, value: &Value, space: Space, span: Span) -> Lowered<TileId> {
        let id = match value {
            Value::Tile(id) => *id,
            other => {
                let is = describe(self, other);
                let mut error =
                    Diagnostic::error("boundary-operand", span, format!("`pl.{what}` takes a tile, not {is}"));
                if let (Value::Tensor(_), Space::Vec) = (other, space) {
                    error = error.help("load it first: `pl.aic_gather(pl.load(tensor, offsets, shapes))`");
                } else if let Value::Tensor(_) = other {
                    error = error.help("a tensor is not a tile of the Cube core: each lane loads its part itself");
                }
                return Err(self.report(error));
            }
        };
        self.still_there(id, span)?;
        let tile = self.tile(id);
        if tile.ty.space != space {
            let (message, help) = if space == Space::Acc {
                (
                    format!(
                        "`pl.{what}` takes a result of the Cube core (in acc), this tile is in `{}`",
                        tile.ty.space
                    ),
                    way_to_the_lanes(tile),
                )
            } else {
                (
                    format!("`pl.{what}` takes a lane's tile (in vec), this tile is in `{}`", tile.ty.space),
                    "only what the Vector cores made needs to be gathered",
                )
            };
            let error = Diagnostic::error("boundary-operand", span, message)
                .also(tile.span, format!("made here by `{}`", tile.made_by));
            return Err(self.report(error.help(help)));
        }
        Ok(id)
    }

    pub(super) fn halve(&mut self, shape: &mut [u64], mode: Split, span: Span) -> Lowered<()> {
        let (axis, what) = match mode {
            Split::None => return Ok(()),
            Split::UpDown => (0, "rows"),
            Split::LeftRight => (shape.len().saturating_sub(1), "columns"),
        };
        let n = shape[axis];
        if !n.is_multiple_of(2) {
            let error = Diagnostic::error(
                "split-odd",
                span,
                format!("{n} {what} cannot be divided evenly between two Vector cores"),
            )
            .label("the split axis must be even")
            .help("pad the tile to an even extent, or split the other axis");
            return Err(self.report(error));
        }
        debug_assert!(fold(shape).0 > 0);
        shape[axis] = n / 2;
        Ok(())
    }
}

/// How a lane gets its part of a tile that shards do not support: there is no path from L1, L0A or L0B to UB.
fn way_to_the_lanes(tile: &crate::value::Tile) -> &'static str {
    match (tile.ty.space, tile.made_by) {
        (Space::Vec, _) => "what lies in UB already is each lane's own: take a part of it",
        (_, "load") => {
            "no way leads from L1 to UB: load this lane's part from the tensor itself, `pl.load(tensor, offsets, shapes)` in the region"
        }
        _ if tile.crossing == Some(Crossing::Gathered) => {
            "no way leads from L1 to UB: use the lane's own tile, which was gathered"
        }
        _ => "there is no path from L1 to UB: shard the product itself, before it is moved",
    }
}
