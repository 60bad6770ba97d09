//! Global memory hazards between the lanes, which limit what may be in one region.
//!
//! The lanes run a region without waiting for each other, so one lane must not write global memory that the other
//! touches in the same region. Such ops are put into separate regions, one after the other.

use std::collections::BTreeMap;

use slipring_ir::{BlockId, Flow, Module, OpId, ValueId};
use slipring_machine::Platform;
use slipring_tile::Space;

use super::axes::{Axes, extent};
use super::constraints::vector_tile;
use super::windows::dimension;
use crate::analysis::access::Accesses;
use crate::analysis::facts::{Functions, flow};
use crate::analysis::touch::{Access, Memory};
use crate::analysis::windows::{is_view, partition};
use slipring_op::rules::{constant, is_multiple};

/// The lanes' halves of a window: along dimension `at` of `tensor`, `half` steps starting at `offset + lane × half`.
#[derive(Clone, Copy, Debug)]
struct Halves {
    tensor: ValueId,
    at: usize,
    offset: ValueId,
    half: i64,
}

/// The accesses of a function's ops to global memory.
pub(super) struct Hazards {
    touched: BTreeMap<OpId, (Vec<Access>, Option<Halves>)>,
}

impl Hazards {
    pub fn of(module: &Module, functions: &Functions, platform: &Platform, body: BlockId, axes: &Axes) -> Hazards {
        let accesses = Accesses::new(module, functions, platform);
        let mut touched = BTreeMap::new();
        for op in module.walk(body) {
            let Some(work) = accesses.work(op) else { continue };
            let global = |access: &Access| matches!(access.memory, Memory::Global(_) | Memory::AnyGlobal);
            let list: Vec<Access> = work.accesses.into_iter().filter(global).collect();
            if !list.is_empty() {
                touched.insert(op, (list, lanes(module, axes, op)));
            }
        }
        Hazards { touched }
    }

    /// True if the lanes may conflict in global memory when `ops` follow `earlier` in one region.
    pub fn between(&self, module: &Module, earlier: &[OpId], ops: &[OpId]) -> bool {
        earlier.iter().any(|a| ops.iter().any(|b| self.meet(module, *a, *b, ops)))
    }

    /// True if the lanes may conflict in global memory when control flow with these ops is in one region.
    pub fn within(&self, module: &Module, control: OpId, ops: &[OpId]) -> bool {
        let repeats = |op: OpId| flow(module, op) == Flow::Repeat;
        let repeated = repeats(control) || ops.iter().any(|op| repeats(*op));
        ops.iter().enumerate().any(|(at, a)| {
            let rest = if repeated { ops } else { &ops[at + 1..] };
            rest.iter().any(|b| self.meet(module, *a, *b, ops))
        })
    }

    fn meet(&self, module: &Module, a: OpId, b: OpId, varying: &[OpId]) -> bool {
        let (Some((first, lanes)), Some((second, others))) = (self.touched.get(&a), self.touched.get(&b)) else {
            return false;
        };
        let conflict = first.iter().any(|x| second.iter().any(|y| x.conflicts(y)));
        conflict && !lanes.zip(*others).is_some_and(|(x, y)| apart(module, x, y, varying))
    }
}

/// True if one lane's part of the first window never overlaps the other lane's part of the second.
fn apart(module: &Module, a: Halves, b: Halves, varying: &[OpId]) -> bool {
    if (a.tensor, a.at, a.half) != (b.tensor, b.at, b.half) {
        return false;
    }
    let whole = 2 * a.half;
    let varies = |value: ValueId| match module.defining_op(value) {
        Some(op) => varying.contains(&op),
        None => true,
    };
    match (constant(module, a.offset), constant(module, b.offset)) {
        (Some(x), Some(y)) => (x - y) % whole == 0,
        _ if a.offset == b.offset && !varies(a.offset) => true,
        _ => [a.offset, b.offset].iter().all(|offset| is_multiple(module, *offset, whole)),
    }
}

/// How the lanes divide the window of an op.
fn lanes(module: &Module, axes: &Axes, op: OpId) -> Option<Halves> {
    let operands = &module.op(op).operands;
    let global = |v: &&ValueId| module.ty(**v).space() == Some(Space::Gm);
    let mut views = operands.iter().filter(global);
    let view = views.next().filter(|view| is_view(module.ty(**view)) && views.next().is_none())?;
    let (tile, axis) = operands.iter().find_map(|v| Some((*v, axes.halved(*v)?)))?;
    let size = extent(vector_tile(module, tile)?, axis);
    let dimension = dimension(module, *view, axis, size, false).ok()?;
    let window = partition(module, *view)?;
    let offset = *window.offsets.get(dimension.at)?;
    Some(Halves { tensor: window.source, at: dimension.at, offset, half: size / 2 / dimension.inner })
}
