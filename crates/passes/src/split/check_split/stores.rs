//! Writes of lanes to global memory: each must write its own bytes.

use slipring_ir::ValueId;
use slipring_op::OpRef;
use slipring_op::rules::constant;
use slipring_tile::Space;

use super::lanes::LaneChange;
use super::tiles::{Contents, Cut};
use crate::analysis::windows::{fold, partition};
use crate::split::check_split::function::{name_of, positions};
use crate::split::check_split::standing::{Standing, Walk};

/// How the lanes' windows of global memory differ.
pub(super) struct Shift {
    dims: Vec<Dimension>,
    /// True if the tensor itself, or its address, depends on the lane.
    base: bool,
}

struct Dimension {
    /// The axis of a tile that it belongs to; `None` if the layout does not define it.
    axis: Option<usize>,
    step: LaneChange,
    /// Where the offset is computed.
    offset: Option<ValueId>,
    size: Option<i64>,
}

impl Shift {
    pub(super) fn of(walk: &Walk<'_, '_>, view: ValueId) -> Shift {
        let module = walk.function.module;
        let mut dims: Vec<Dimension> = Vec::new();
        let mut at = view;
        while let Some(window) = partition(module, at) {
            if dims.is_empty() {
                let rank = window.offsets.len();
                let fold = fold(module, view, rank);
                dims.extend(window.sizes.iter().enumerate().map(|(at, size)| Dimension {
                    axis: (!fold.boxed()).then(|| fold.axis(at, rank)),
                    step: LaneChange::Same,
                    offset: None,
                    size: constant(module, *size),
                }));
            }
            for (dim, offset) in dims.iter_mut().zip(window.offsets) {
                let step = walk.lanes.step(*offset);
                if step != LaneChange::Same {
                    dim.offset = Some(*offset);
                }
                dim.step = match (dim.step, step) {
                    (LaneChange::Same, step) | (step, LaneChange::Same) => step,
                    (LaneChange::By(a), LaneChange::By(b)) => {
                        a.checked_add(b).map_or(LaneChange::Unknown, LaneChange::By)
                    }
                    _ => LaneChange::Unknown,
                };
            }
            at = window.source;
        }
        Shift { dims, base: walk.lanes.get(at).is_some() }
    }

    /// Axes of a tile along which the lanes' windows start at different offsets; none if the tensor differs too.
    pub(super) fn axes(&self) -> Vec<usize> {
        let mut axes: Vec<usize> = self.moved().filter(|_| !self.base).filter_map(|dim| dim.axis).collect();
        axes.sort_unstable();
        axes.dedup();
        axes
    }

    fn moved(&self) -> impl Iterator<Item = &Dimension> {
        self.dims.iter().filter(|dim| dim.step != LaneChange::Same)
    }
}

/// Checks what an op writes to global memory. `tile` is the stored tile.
pub(super) fn check(walk: &mut Walk<'_, '_>, op: &OpRef<'_>, tile: Contents, place: Standing<'_>) {
    let module = walk.function.module;
    let name = name_of(op);
    let Some(region) = place.region else {
        if let Some(lane) = tile.lane {
            walk.report(
                op.error("store-outside", format!("`{name}` stores a tile that differs between the Vector cores"))
                    .label("outside every region the tile of lane 0 is stored")
                    .also(lane, "differs from here on")
                    .help("store it inside a region, each lane its own window"),
            );
        }
        return;
    };
    if place.guard.is_some() || op.update().is_some() {
        return;
    }
    let Some(target) = op.written().find(|v| module.ty(*v).space() == Some(Space::Gm)) else { return };
    let offset = op.if_declared("offset");
    let depends = walk.lanes.get(target).or_else(|| offset.and_then(|v| walk.lanes.get(v)));
    let specs = op.def.schema.operands.iter().enumerate();
    let tiles_read = specs.filter(|(at, spec)| spec.touch.reads() && !op.operands(*at).is_empty()).count();
    if depends.is_none() {
        // The addresses of a scatter are in a tile.
        if tiles_read <= 1 {
            walk.report(
                op.error("lanes-overlap", format!("both Vector cores write the same bytes with this `{name}`"))
                    .label("its address does not depend on the lane")
                    .also(region.span(), "both lanes run this region")
                    .help("address it by the number of the lane, or let one lane do it (`scf.if` on the number)"),
            );
        }
        return;
    }
    let window = Shift::of(walk, target);
    if window.base {
        return;
    }
    if let (Cut::Axis(axis), Some(by)) = (tile.cut, tile.by)
        && !window.dims.is_empty()
        && window.moved().all(|dim| dim.axis == Some(1 - axis))
    {
        let (held, moved) = (positions(axis), positions(1 - axis));
        let mut error = op
            .error("gm-offset-axis", format!("the lanes hold half of the {held} each and store them side by {moved}"))
            .label(format!("only the offset of the {moved} depends on the lane"))
            .also(by, format!("divided by {held} here"));
        if let Some(offset) = window.moved().find_map(|dim| dim.offset) {
            error = error.also(module.value(offset).span, "the offset that depends on the lane");
        }
        walk.report(error.help(format!("add the lane's share to the offset of the {held}")));
        return;
    }
    let moved: Vec<&Dimension> = window.moved().collect();
    if let [Dimension { step: LaneChange::By(step), size: Some(size), offset, .. }] = moved.as_slice()
        && step.unsigned_abs() < size.unsigned_abs()
    {
        let mut error = op
            .error(
                "lanes-overlap",
                format!("the lanes' windows overlap: each is {size} long, and lane 1's starts {step} after lane 0's"),
            )
            .also(region.span(), "both lanes run this region");
        if let Some(offset) = offset {
            error = error.also(module.value(*offset).span, "the offset that depends on the lane");
        }
        walk.report(error.help(format!("move lane 1's window by {size} or more")));
    }
}
