//! The origin of a product's operand.

use std::ops::Range;

use slipring_ir::{Dim, Module, OpId, Part, Span, TileType, ValueId};
use slipring_machine::Platform;
use slipring_op::{OpRef, Transfer, rules};
use slipring_tile::{Layout, Space};

use super::steps::Storage;
use crate::analysis::facts::{beside, syncs_by_hand};
use crate::analysis::roots::{Address, RootId, RootKind, Roots, home};

/// An operand that can be moved out of L1 slice by slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// The tile in L0A or L0B.
    pub tile: ValueId,
    /// Its type.
    pub ty: TileType,
    /// The op that declares it.
    pub declared: OpId,
    /// The move that fills it, and its position in the text.
    pub fill: OpId,
    pub span: Span,
    /// The tile in L1.
    pub source: ValueId,
    /// The row and the column of it at which the operand begins.
    pub corner: [u64; 2],
    /// Which of rows (0) and columns (1) is k.
    pub along: usize,
    /// Valid elements along k.
    pub k: u64,
    /// The op that sets the valid shape, if the type leaves it open, with the rows and columns.
    pub shaped: Option<(OpId, [ValueId; 2])>,
}

impl Operand {
    /// Traces operand `at` of a product to the tile in L1 that it is filled from.
    ///
    /// # Errors
    /// Why that is not possible, as the rest of a sentence.
    pub fn of(product: &OpRef<'_>, roots: &Roots, operand: &str, along: usize) -> Result<Operand, String> {
        let module = product.module;
        let tile = product.operand(operand).ok_or("an operand is missing")?;
        let name = module.value_name(tile);
        let ty = *product.tile(operand).ok_or(format!("`{name}` is not a tile"))?;
        let root = own_root(roots, tile).filter(|id| {
            let root = roots.root(*id);
            root.kind == RootKind::Declared && root.address == Address::Open
        });
        let root = root.ok_or(format!("`{name}` is not declared as a tile whose address is open"))?;
        let declared = module.defining_op(tile).ok_or(format!("`{name}` is an argument"))?;
        let shaped = shaped_by(module, roots, &ty, tile, product.id)
            .ok_or(format!("the valid shape of `{name}` is not set once, right before it"))?;
        let valid = |at: usize| extent(module, &ty, shaped, at);
        let k = valid(along).ok_or(format!("the valid shape of `{name}` along k is not constant"))?;
        if by_hand(module, tile) {
            return Err("the kernel synchronises its pipes by hand".to_string());
        }
        let fill = fill_of(module, roots, product.id, root)
            .ok_or(format!("`{name}` is not filled by one move right before it"))?;
        let (source, corner) =
            from_l1(module, fill, tile).ok_or(format!("`{name}` is not filled by a move of a whole tile from L1"))?;
        let origin = module.ty(source).as_tile().ok_or(format!("`{name}` is not filled from a tile"))?;
        let filled = shaped_by(module, roots, origin, source, fill);
        let covered = |at: usize| {
            let Some(filled) = filled else { return false };
            let begun = extent(module, origin, filled, at).map(|n| n.saturating_sub(corner[at]));
            let all = u64::from([ty.layout.rows, ty.layout.cols][at]);
            match (begun, valid(at)) {
                (Some(begun), Some(valid)) => begun >= valid,
                (Some(begun), None) => begun >= all,
                // The same value, whatever it is.
                _ => corner[at] == 0 && shaped.zip(filled).is_some_and(|((_, own), (_, other))| own[at] == other[at]),
            }
        };
        if !(covered(0) && covered(1)) {
            return Err(format!("the move that fills `{name}` does not fill all of its valid shape"));
        }
        let between = between(module, fill, product.id);
        if between.iter().any(|op| writes(module, roots, *op, roots.get(source))) {
            return Err(format!("the tile that `{name}` is filled from changes before the product"));
        }
        Ok(Operand { tile, ty, declared, fill, span: module.op(fill).span, source, corner, along, k, shaped })
    }

    /// The part of its memory that a slice may take.
    pub fn storage(&self, platform: &Platform) -> Storage {
        let layout = &self.ty.layout;
        let across = [layout.cols, layout.rows][self.along];
        let spec = platform.space(self.ty.space);
        Storage {
            line: u64::from(across) * layout.elem.bytes() as u64,
            capacity: spec.map_or(0, |spec| spec.usable()),
            align: spec.map_or(1, |spec| spec.align),
        }
    }

    /// The type of a slice: extents are rounded up to whole fractals, as far as the tile in L1 reaches.
    pub fn slice(&self, step: &Range<u64>) -> TileType {
        self.part(self.along, step)
    }

    /// The type of some rows (0) or columns (1), likewise.
    pub fn part(&self, along: usize, step: &Range<u64>) -> TileType {
        let layout = self.ty.layout;
        let (box_rows, box_cols) = layout.box_shape();
        let unit = u64::from([box_rows, box_cols][along].max(1));
        let all = u64::from([layout.rows, layout.cols][along]);
        let valid = step.end - step.start;
        let length = valid.next_multiple_of(unit).min(all - step.start) as u32;
        let mut ty = self.ty;
        if self.shaped.is_none() {
            ty.valid[along] = Dim::Static(valid);
        }
        ty.layout = match along {
            0 => Layout { rows: length, ..layout },
            _ => Layout { cols: length, ..layout },
        };
        ty
    }

    /// Removes the move if nothing else reads its result, and then the tile itself.
    pub fn drop_if_unused(&self, module: &mut Module) {
        let users = |module: &Module| -> Vec<OpId> {
            let uses = |op: &OpId| module.op(*op).operands.contains(&self.tile);
            module.walk(module.top).into_iter().filter(uses).collect()
        };
        let shaping: Vec<OpId> = self.shaped.iter().map(|(op, _)| *op).collect();
        let others: Vec<OpId> = users(module).into_iter().filter(|op| !shaping.contains(op)).collect();
        if others == [self.fill] {
            module.remove(self.fill);
            shaping.into_iter().for_each(|op| module.remove(op));
        }
        if users(module).is_empty() {
            module.remove(self.declared);
        }
    }
}

/// The op that sets the valid shape of a tile: none if its type does, otherwise the only op that sets it, if that
/// precedes another op.
fn shaped_by(
    module: &Module,
    roots: &Roots,
    ty: &TileType,
    tile: ValueId,
    last: OpId,
) -> Option<Option<(OpId, [ValueId; 2])>> {
    if ty.valid.iter().all(|dim| dim.known().is_some()) {
        return Some(None);
    }
    let shapes = |id: &OpId| {
        let (set, by) = slipring_pto::shapes_tile(&OpRef::of(module, *id)?)?;
        let same = roots.get(set).iter().any(|root| roots.get(tile).contains(root));
        same.then_some((*id, set, by))
    };
    let all: Vec<_> = module.walk(module.top).iter().filter_map(shapes).collect();
    match all[..] {
        [(op, set, by)] if set == tile && beside(module, op, last).is_some_and(|(_, [at, end])| at < end) => {
            Some(Some((op, by)))
        }
        _ => None,
    }
}

/// Valid rows (0) or columns (1) of a tile, if constant.
fn extent(module: &Module, ty: &TileType, shaped: Option<(OpId, [ValueId; 2])>, at: usize) -> Option<u64> {
    let set = || u64::try_from(rules::constant(module, shaped?.1[at])?).ok();
    ty.valid[at].known().or_else(set)
}

/// The root that a value refers to, if there is exactly one and the value is its own name.
fn own_root(roots: &Roots, value: ValueId) -> Option<RootId> {
    match roots.get(value) {
        [id] if roots.root(*id).value == value => Some(*id),
        _ => None,
    }
}

/// True if the function that contains a value synchronises its pipes manually.
fn by_hand(module: &Module, value: ValueId) -> bool {
    let body = home(module, value).and_then(|function| module.body(function, 0));
    body.is_some_and(|body| module.walk(body).iter().any(|op| syncs_by_hand(module, *op)))
}

/// The op that writes a root last before another op, on every path: the nearest one before it in its block, or in a block
/// around it with nothing in between.
fn fill_of(module: &Module, roots: &Roots, op: OpId, root: RootId) -> Option<OpId> {
    let mut at = op;
    loop {
        let (block, position) = module.position(at)?;
        let before = module.block(block).ops[..position].iter().rev();
        if let Some(&writer) = before.clone().find(|id| any_inside(module, **id, |o| writes(module, roots, o, &[root])))
        {
            let inside = std::iter::once(at).filter(|outer| *outer != op).flat_map(|outer| with_inner(module, outer));
            let again = inside.into_iter().any(|o| writes(module, roots, o, &[root]));
            return (!again && module.op(writer).regions.is_empty()).then_some(writer);
        }
        at = module.block_parent(block).filter(|o| !module.is_function(*o))?;
    }
}

/// The tile in L1 that a move copies into `tile`, from its first element on or from a known row and column.
fn from_l1(module: &Module, fill: OpId, tile: ValueId) -> Option<(ValueId, [u64; 2])> {
    let op = OpRef::of(module, fill)?;
    let corner = match op.def.transfer? {
        Transfer::Whole => [0, 0],
        Transfer::Extract => {
            let at = |name: &str| u64::try_from(rules::constant(module, op.operand(name)?)?).ok();
            [at("row")?, at("col")?]
        }
    };
    let here = op.operand("dst") == Some(tile) && op.space("src") == Some(Space::Mat);
    here.then(|| Some((op.operand("src")?, corner)))?
}

/// The ops that may run after `first` and before `last`, which follows it in its block or inside an op after it.
fn between(module: &Module, first: OpId, last: OpId) -> Vec<OpId> {
    let Some((block, [from, to])) = beside(module, first, last) else { return Vec::new() };
    let ops = &module.block(block).ops;
    // An op that contains the last op may repeat it: then all of it comes before.
    let end = if ops[to] == last { to } else { to + 1 };
    ops[from + 1..end].iter().flat_map(|op| with_inner(module, *op)).collect()
}

/// An op and the ops in its regions.
pub(super) fn with_inner(module: &Module, op: OpId) -> Vec<OpId> {
    let mut found = vec![op];
    for region in &module.op(op).regions {
        for block in &module.region(*region).blocks {
            found.extend(module.walk(*block));
        }
    }
    found
}

fn any_inside(module: &Module, op: OpId, test: impl Fn(OpId) -> bool) -> bool {
    with_inner(module, op).into_iter().any(test)
}

/// True if an op may change the bytes of a root, or release them. A call may change everything it is passed.
pub(super) fn writes(module: &Module, roots: &Roots, op: OpId, wanted: &[RootId]) -> bool {
    let hits = |value: &ValueId| roots.get(*value).iter().any(|root| wanted.contains(root));
    let data = module.op(op);
    let Some(op) = OpRef::of(module, op) else { return data.operands.iter().any(hits) };
    if op.def.ring.is_some_and(|part| part.takes_tile() || part.gives_back()) {
        return wanted.iter().any(|root| roots.root(*root).kind == RootKind::Popped);
    }
    if op.def.schema.part == Part::Call {
        return data.operands.iter().any(hits);
    }
    op.written().any(|value| hits(&value))
}
