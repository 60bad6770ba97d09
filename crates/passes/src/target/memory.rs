//! Tiles that ops need when printed for a target: working memory, masks, scalars as tiles. They are added before the
//! allocator runs.

use slipring_ir::{AttrDict, Dim, Module, OpId, TileType, Type, ValueId};
use slipring_machine::{Capability, Platform};
use slipring_op::OpRef;
use slipring_op::def::OpDef;
use slipring_op::target::Target;
use slipring_pto as pto;
use slipring_tile::Elem;

/// Gives ops the tiles that the target requires.
pub(super) fn tiles(module: &mut Module, target: &Target, platform: &Platform) {
    for id in module.walk(module.top) {
        let name = module.op(id).name.clone();
        for rule in target.rules_of(&name) {
            if let Some(like) = rule.tmp_like {
                working_memory(module, id, like);
            }
            if let Some(ops) = rule.spread {
                spread(module, id, ops, target, platform);
            }
        }
    }
    if platform.can(Capability::ShapedMasks) {
        masks(module, target);
    }
}

/// Turns an op on a tile and a scalar into one on two tiles, if the target supports the element type only for the
/// latter.
fn spread(
    module: &mut Module,
    id: OpId,
    [op, fill]: [&'static OpDef; 2],
    target: &Target,
    platform: &Platform,
) -> Option<()> {
    let takes = |name: &str, elem: Elem| {
        let mut rules = target.types.iter().filter(|rule| rule.ops.contains(&name) && rule.types.operand == "dst");
        rules.all(|rule| rule.types.on(platform).contains(&elem))
    };
    let this = OpRef::of(module, id)?;
    let (src, scalar, dst) = (this.operand("src")?, this.operand("scalar")?, this.operand("dst")?);
    let tile = *this.tile("dst")?;
    let elem = tile.layout.elem;
    if takes(this.def.schema.name, elem) || !takes(op.schema.name, elem) || !takes(fill.schema.name, elem) {
        return None;
    }
    // Its valid shape is the result's, which is known.
    if tile.valid.iter().any(|dim| dim.known().is_none()) {
        return None;
    }
    let span = this.span();
    let number = before(module, id, &pto::ALLOC_TILE, &[], Some(Type::Tile(tile)), span)?;
    before(module, id, fill, &[("scalar", &[scalar]), ("dst", &[number])], None, span);
    before(module, id, op, &[("src0", &[src]), ("src1", &[number]), ("dst", &[dst])], None, span);
    module.remove(id);
    Some(())
}

fn before(
    module: &mut Module,
    anchor: OpId,
    def: &'static OpDef,
    operands: &[(&str, &[ValueId])],
    ty: Option<Type>,
    span: slipring_ir::Span,
) -> Option<ValueId> {
    let types: Vec<Type> = ty.into_iter().collect();
    let made = def.make(module, operands, AttrDict::default(), &types, span);
    module.insert_before(anchor, made);
    module.op(made).results.first().copied()
}

/// Gives an op without working memory a tile like its source, if that is stored by rows.
fn working_memory(module: &mut Module, id: OpId, like: &str) {
    let Some(op) = OpRef::of(module, id) else { return };
    let at = op.def.schema.operands.iter().position(|operand| operand.name == "tmp");
    let (Some(at), Some(tile)) = (at.filter(|_| op.operand("tmp").is_none()), op.tile(like)) else { return };
    let whole = [Dim::Static(tile.layout.rows.into()), Dim::Static(tile.layout.cols.into())];
    let (ty, span) = (Type::Tile(TileType { valid: whole, ..*tile }), op.span());
    let made = pto::ALLOC_TILE.make(module, &[], AttrDict::default(), &[ty], span);
    module.insert_before(id, made);
    let tmp = module.op(made).results[0];
    let data = module.op_mut(id);
    let before: usize = data.segments.iter().take(at).map(|n| usize::from(*n)).sum();
    data.segments[at] = 1;
    data.operands.insert(before, tmp);
}

/// Gives masks the shape that the target requires, if only comparisons and selections use them.
fn masks(module: &mut Module, target: &Target) {
    for id in module.walk(module.top) {
        let rule = target.rules.iter().find_map(|rule| Some((rule, rule.mask.as_ref()?)));
        let Some((rule, mask)) = rule.filter(|(rule, _)| rule.is_of(&module.op(id).name)) else { continue };
        let Some(op) = OpRef::of(module, id) else { continue };
        let (Some(like), Some(dst)) = (op.tile(mask.like), op.operand("dst")) else { continue };
        let Some(own) = module.ty(dst).as_tile().copied() else { continue };
        let (rows, cols) = (like.layout.rows, like.layout.cols);
        let larger = own.layout.rows <= rows && own.layout.cols < cols;
        let made = module.defining_op(dst).and_then(|made| OpRef::of(module, made));
        let alone = made.is_some_and(|made| std::ptr::eq(made.def, &pto::ALLOC_TILE) && made.operand("addr").is_none());
        let of_masks = |user: &OpId| {
            let name = &*module.op(*user).name;
            let writes = rule.is_of(name) || mask.with.contains(&name);
            writes || OpRef::of(module, *user).is_some_and(|op| op.if_declared("mask") == Some(dst))
        };
        let users = module.walk(module.top).into_iter().filter(|user| module.op(*user).operands.contains(&dst));
        if alone && larger && users.collect::<Vec<_>>().iter().all(of_masks) {
            let layout = slipring_tile::Layout { rows, cols, ..own.layout };
            module.value_mut(dst).ty = Type::Tile(TileType { layout, ..own });
        }
    }
}
