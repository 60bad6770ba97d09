//! Views of global memory and parts of tiles.

use slipring_ir::{Attr, AttrDict, Dim, Module, OpId, Sign, TileType, Type, ValueId, ViewType};
use slipring_machine::{Capability, Platform};
use slipring_op::def::OpRef;
use slipring_op::rules::{constant, constant_attr};
use slipring_op::target::Scalars;
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

use super::fixes::{Fixed, constant_before, op, replace};
use super::scalars::{cast_before, of_two_before};
use crate::tile::subset::inferred_type;
use crate::{ALLOC_TILE, BITCAST, LOAD_SCALAR, MAKE_TENSOR_VIEW, PARTITION_VIEW, STORE_SCALAR, TADDS, TRESHAPE};

/// Rewrites a window of a window as a window of the tensor.
pub(super) fn window_of_the_tensor(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let outer = this.operand("source").and_then(|value| module.defining_op(value));
    let Some(outer) = outer.and_then(|id| OpRef::of(module, id)).filter(|op| std::ptr::eq(op.def, &PARTITION_VIEW))
    else {
        return match this.ty("source") {
            Some(Type::PartitionView(_)) => Err("it takes windows of tensors only".into()),
            _ => Ok(()),
        };
    };
    let (own, whole) = (this.operands("offsets").to_vec(), outer.operands("offsets").to_vec());
    let (sizes, source) = (this.operands("sizes").to_vec(), outer.operand("source").ok_or("it has no source")?);
    if own.len() != whole.len() {
        return Err("it takes windows of tensors only, and this one has other dimensions".into());
    }
    let mut offsets = Vec::new();
    for (own, whole) in own.into_iter().zip(whole) {
        offsets.push(match (constant(module, own), constant(module, whole)) {
            (Some(0), _) => whole,
            (_, Some(0)) => own,
            (Some(a), Some(b)) => constant_before(scalars, module, id, a + b, Type::Index)?,
            _ => of_two_before(module, id, scalars.add, [own, whole]),
        });
    }
    let data = module.op_mut(id);
    data.segments = [1, offsets.len() as u16, sizes.len() as u16].into_iter().collect();
    data.operands = [source].into_iter().chain(offsets).chain(sizes).collect();
    Ok(())
}

/// Rewrites accesses to the element at the address of a window as accesses to the tensor, at the offset of the window.
pub(super) fn elements_of_the_tensor(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let address = op(module, id)?;
    let made = |value: Option<ValueId>| OpRef::of(module, module.defining_op(value?)?);
    let window = made(address.operand("src")).filter(|op| std::ptr::eq(op.def, &PARTITION_VIEW));
    let tensor = window.and_then(|window| made(window.operand("source")));
    let tensor = tensor.filter(|op| std::ptr::eq(op.def, &MAKE_TENSOR_VIEW));
    let (Some(window), Some(tensor)) = (window, tensor) else { return Ok(()) };
    let (result, window_id) = (address.result(0), window.id);
    let pointer = tensor.operand("ptr").ok_or("its tensor has no pointer")?;
    let first = |user: &OpId| {
        let user = OpRef::of(module, *user)?;
        let access = std::ptr::eq(user.def, &LOAD_SCALAR) || std::ptr::eq(user.def, &STORE_SCALAR);
        let first = user.operand("offset").is_some_and(|offset| constant(module, offset) == Some(0));
        let at = |name: &str| user.def.schema.operands.iter().position(|spec| spec.name == name);
        (access && first).then_some((user.id, at("ptr")?, at("offset")?))
    };
    let Some(users) = module.users(result).iter().map(first).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let offsets = window.operands("offsets").iter().copied().zip(tensor.operands("strides").iter().copied());
    let (mut known, mut sum) = (0i64, None);
    for (offset, stride) in offsets.collect::<Vec<_>>() {
        if let (Some(offset), Some(stride)) = (constant(module, offset), constant(module, stride)) {
            known = known.saturating_add(offset.saturating_mul(stride));
            continue;
        }
        let part = of_two_before(module, id, scalars.multiply, [offset, stride]);
        sum = Some(sum.map_or(part, |sum| of_two_before(module, id, scalars.add, [sum, part])));
    }
    let offset = match (known, sum) {
        (0, Some(sum)) => sum,
        (known, sum) => {
            let known = constant_before(scalars, module, id, known, Type::Index)?;
            sum.map_or(known, |sum| of_two_before(module, id, scalars.add, [sum, known]))
        }
    };
    for (user, pointer_at, offset_at) in users {
        let operands = &mut module.op_mut(user).operands;
        (operands[pointer_at], operands[offset_at]) = (pointer, offset);
    }
    module.remove(id);
    if module.users(module.op(window_id).results[0]).is_empty() {
        module.remove(window_id);
    }
    Ok(())
}

/// Rewrites a tensor operand of a move as a window of the whole tensor.
pub(super) fn whole_tensor_as_window(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    for at in 0..module.op(id).operands.len() {
        let view = module.op(id).operands[at];
        let Type::TensorView(ty) = module.ty(view).clone() else { continue };
        let made = module.defining_op(view).and_then(|made| OpRef::of(module, made));
        let Some(made) = made.filter(|op| std::ptr::eq(op.def, &MAKE_TENSOR_VIEW)) else {
            return Err("it takes windows only, and nothing says how large this tensor is".into());
        };
        let sizes = made.operands("shape").to_vec();
        let known = |value: &ValueId| constant(module, *value).and_then(|n| u64::try_from(n).ok());
        let dims = sizes.iter().map(|size| known(size).map_or(Dim::Dynamic, Dim::Static)).collect();
        let (window, span) = (Type::PartitionView(ViewType { elem: ty.elem, dims }), module.op(id).span);
        let zero = constant_before(scalars, module, id, 0, Type::Index)?;
        let offsets = vec![zero; sizes.len()];
        let operands: &[(&str, &[ValueId])] = &[("source", &[view]), ("offsets", &offsets), ("sizes", &sizes)];
        let made = PARTITION_VIEW.make(module, operands, AttrDict::default(), &[window], span);
        module.insert_before(id, made);
        module.op_mut(id).operands[at] = module.op(made).results[0];
    }
    Ok(())
}

/// Requires the layout that the assembler infers from constant shapes and strides to be the one in the text.
pub(super) fn layout_as_it_is_found(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let known = |name| this.operands(name).iter().map(|value| constant(module, *value)).collect::<Option<Vec<i64>>>();
    let (Some(shape), Some(strides)) = (known("shape"), known("strides")) else { return Ok(()) };
    let Type::TensorView(ViewType { elem, .. }) = module.ty(this.result(0)) else { return Ok(()) };
    let said = this.text("layout");
    let written = said.unwrap_or("nd");
    if shape.len() > 5 || shape.len() != strides.len() || !matches!(written, "nd" | "dn" | "nz") {
        return Ok(());
    }
    let (found, both) = found_layout(&shape, &strides, elem.bytes() as i64);
    if found == written || both && written != "nz" || said.is_none() && found == "dn" {
        return Ok(());
    }
    Err(format!("it finds the layout `{found}` in shape and strides, and the text means `{written}`"))
}

/// The layout of a tensor that its shape and strides imply, and whether row and column order coincide (its
/// `InferPTOLayout.cpp`).
fn found_layout(shape: &[i64], strides: &[i64], bytes: i64) -> (&'static str, bool) {
    // Shapes are right-aligned to five dimensions.
    let back = |list: &[i64], from_end: usize| list.len().checked_sub(from_end).map_or(1, |at| list[at]);
    let (pieces, rows, cols) = (back(shape, 3), back(shape, 2), back(shape, 1));
    let col_step = back(strides, 1);
    let row_step = if shape.len() < 2 { cols * col_step } else { back(strides, 2) };
    if pieces == 16 && pieces * rows * bytes == 512 && col_step == 1 && row_step == cols {
        return ("nz", false);
    }
    let nd = (cols == 1 || col_step == 1) && (rows == 1 || row_step == if cols == 1 { 1 } else { cols });
    let dn = (rows == 1 || row_step == 1) && (cols == 1 || col_step == if rows == 1 { 1 } else { rows });
    match (nd, dn) {
        (true, true) => ("nd", true),
        (false, true) => ("dn", false),
        _ => ("nd", false),
    }
}

/// Gives a part the type that follows from its source. In the C++ a part is a tile with its own width and contiguous
/// lines; a part whose lines are not contiguous becomes a tile at the same address, with the width of the whole and a
/// smaller valid shape.
pub(super) fn part_as_a_tile(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    part(scalars, module, id, false)
}

/// Later versions have another op for parts: each becomes a separate tile.
pub(super) fn part_is_a_tile(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    part(scalars, module, id, true)
}

fn part(scalars: &Scalars, module: &mut Module, id: OpId, always: bool) -> Fixed {
    let this = op(module, id)?;
    let (part, source) = (this.result(0), this.operand("source").ok_or("it has no source")?);
    let inferred = inferred_type(&this).ok_or("its sizes make no sense")?;
    let (Some(written), Some(own)) = (module.ty(part).as_tile().copied(), inferred.as_tile().copied()) else {
        return Ok(());
    };
    let Some(whole) = module.ty(source).as_tile().copied() else { return Ok(()) };
    // The written type of the part is not binding: the part is as wide as the whole.
    let other = (own.layout.rows, own.layout.cols) != (written.layout.rows, written.layout.cols);
    let apart = own.layout.slayout == SLayout::NoneBox
        && match own.layout.blayout {
            BLayout::RowMajor => own.layout.rows > 1 && own.layout.cols < whole.layout.cols,
            BLayout::ColMajor => own.layout.cols > 1 && own.layout.rows < whole.layout.rows,
        };
    // The assembler processes parts before reinterpreted tiles.
    let seen = module.defining_op(source).and_then(|made| OpRef::of(module, made)).is_some_and(|made| retypes(&made));
    if !always && !apart && !seen && !other {
        module.value_mut(part).ty = inferred;
        return Ok(());
    }
    let pushed = |user: OpId| {
        let ring = OpRef::of(module, user).and_then(|op| op.def.ring);
        ring.is_some() && module.op(user).operands.contains(&part)
    };
    if apart && module.walk(module.top).into_iter().any(pushed) {
        return Err("its lines lie apart, and it goes into a pipe: copy it into a tile of its own first".into());
    }
    let layout = match own.layout.blayout {
        _ if !apart => own.layout,
        BLayout::RowMajor => Layout { cols: whole.layout.cols, ..own.layout },
        BLayout::ColMajor => Layout { rows: whole.layout.rows, ..own.layout },
    };
    let sizes = [own.layout.rows, own.layout.cols];
    let full = [whole.layout.rows, whole.layout.cols];
    let mut valid = own.valid;
    for at in 0..2 {
        if valid[at].known().is_none() && whole.valid[at] == Dim::Static(full[at].into()) {
            valid[at] = Dim::Static(sizes[at].into());
        }
    }
    if valid.iter().any(|dim| dim.known().is_none()) {
        return Err(
            "how much of the part is valid is computed, and its lines lie apart or its tile has another type".into()
        );
    }
    let base = address_of(module, source)
        .ok_or("its lines lie apart, or its tile has another type, and nothing says where that tile lies")?;
    let offsets: [ValueId; 2] = this.operands("offsets").try_into().map_err(|_| "it has no two offsets")?;
    let address = address_in(scalars, module, id, base, offsets, &whole.layout)?;
    let (ty, span) = (Type::Tile(TileType { layout, valid, ..whole }), module.op(id).span);
    let made = ALLOC_TILE.make(module, &[("addr", &[address])], AttrDict::default(), &[ty], span);
    module.insert_before(id, made);
    replace(module, id, made);
    Ok(())
}

/// True for ops that reinterpret a tile under another type.
fn retypes(op: &OpRef<'_>) -> bool {
    std::ptr::eq(op.def, &TRESHAPE) || std::ptr::eq(op.def, &BITCAST)
}

/// The address of a tile, through reinterpretations.
fn address_of(module: &Module, tile: ValueId) -> Option<ValueId> {
    let made = OpRef::of(module, module.defining_op(tile)?)?;
    if retypes(&made) {
        return address_of(module, module.op(made.id).operands.first().copied()?);
    }
    let address = if std::ptr::eq(made.def, &ALLOC_TILE) { made.operand("addr") } else { None };
    address.filter(|value| *module.ty(*value) == Type::I64)
}

/// The address of an element of a tile.
fn address_in(
    scalars: &Scalars,
    module: &mut Module,
    id: OpId,
    base: ValueId,
    offsets: [ValueId; 2],
    whole: &Layout,
) -> Result<ValueId, String> {
    let known = offsets.map(|offset| constant(module, offset).and_then(|n| u32::try_from(n).ok()));
    if let (Some(base), [Some(row), Some(col)]) = (constant(module, base), known) {
        return constant_before(scalars, module, id, base + whole.offset(row, col) as i64, Type::I64);
    }
    let mut address = base;
    for (at, offset) in offsets.into_iter().enumerate() {
        if known[at] == Some(0) {
            continue;
        }
        if *module.ty(offset) != Type::Index || whole.slayout != SLayout::NoneBox {
            return Err("where the part begins is computed from other numbers than indices".into());
        }
        let step = whole.offset(u32::from(at == 0), u32::from(at == 1)) as i64;
        let wide = cast_before(module, id, scalars.index_cast, offset, Type::I64);
        let step = constant_before(scalars, module, id, step, Type::I64)?;
        let moved = of_two_before(module, id, scalars.multiply, [wide, step]);
        address = of_two_before(module, id, scalars.add, [address, moved]);
    }
    Ok(address)
}

/// Requires moves between tiles of the same shape: always from L1, and from other memories on units that work on
/// memory. There, an addition of the neutral zero replaces the move.
pub(super) fn move_of_one_shape(scalars: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(src), Some(dst)) = (this.tile("src").copied(), this.tile("dst").copied()) else { return Ok(()) };
    let shape = |tile: &TileType| (tile.layout.rows, tile.layout.cols);
    let strict = src.space == Space::Mat || !platform.can(Capability::ReshapingMoves);
    if !strict || shape(&src) == shape(&dst) {
        return Ok(());
    }
    let elem = src.layout.elem;
    let integer =
        |width| (Attr::Int(0, Type::Int { width, sign: Sign::Signless }), Type::Int { width, sign: Sign::Signless });
    let zero = match elem {
        Elem::F16 => Some((Attr::Float(0x8000, Type::Float(elem)), Type::Float(elem))),
        Elem::F32 => Some((Attr::Float(0x8000_0000, Type::Float(elem)), Type::Float(elem))),
        Elem::I16 => Some(integer(16)),
        Elem::I32 => Some(integer(32)),
        _ => None,
    };
    let plain = |tile: &TileType| tile.layout.blayout == BLayout::RowMajor && tile.layout.slayout == SLayout::NoneBox;
    let known = src.valid == dst.valid && src.valid.iter().all(|dim| dim.known().is_some());
    let rows = src.space == Space::Vec && dst.space == Space::Vec && plain(&src) && plain(&dst);
    let Some((zero, ty)) = zero.filter(|_| known && rows && elem == dst.layout.elem) else {
        let (src, dst) = (shape(&src), shape(&dst));
        return Err(format!("it moves tiles of one shape, these have {}x{} and {}x{}", src.0, src.1, dst.0, dst.1));
    };
    let (from, to) = (this.operand("src").ok_or("it moves nothing")?, this.operand("dst").ok_or("it moves nowhere")?);
    let span = module.op(id).span;
    let made = scalars.constant.make(module, &[], [("value", zero)], &[ty], span);
    module.insert_before(id, made);
    let zero = module.op(made).results[0];
    let operands: &[(&str, &[ValueId])] = &[("src", &[from]), ("scalar", &[zero]), ("dst", &[to])];
    let sum = TADDS.make(module, operands, AttrDict::default(), &[], span);
    module.insert_before(id, sum);
    module.remove(id);
    Ok(())
}

/// Fills the raw bytes of `bf16` tiles on units that do not fill `bf16`, if the value is a constant.
pub(super) fn filled_by_its_bytes(scalars: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(tile), Some(dst)) = (this.tile("dst").copied(), this.operand("dst")) else { return Ok(()) };
    if platform.can(Capability::FillBf16) || tile.layout.elem != Elem::BF16 {
        return Ok(());
    }
    let Some(Attr::Float(bits, _)) = this.if_declared("scalar").and_then(|value| constant_attr(module, value)) else {
        return Ok(());
    };
    let bits = *bits as u16;
    let Some(bytes) = same_bytes(module, id, dst, Elem::I16) else { return Ok(()) };
    let short = Type::Int { width: 16, sign: Sign::Signless };
    let value = constant_before(scalars, module, id, i64::from(bits as i16), short)?;
    for operand in module.op_mut(id).operands.iter_mut() {
        *operand = if *operand == dst { bytes } else { value };
    }
    Ok(())
}

/// A tile with other elements at the address of a tile, if the address and the valid shape are known.
fn same_bytes(module: &mut Module, id: OpId, tile: ValueId, elem: Elem) -> Option<ValueId> {
    let (ty, address) = (*module.ty(tile).as_tile()?, address_of(module, tile)?);
    if ty.valid.iter().any(|dim| dim.known().is_none()) {
        return None;
    }
    let (seen, span) = (Type::Tile(TileType { layout: Layout { elem, ..ty.layout }, ..ty }), module.op(id).span);
    let made = ALLOC_TILE.make(module, &[("addr", &[address])], AttrDict::default(), &[seen], span);
    module.insert_before(id, made);
    Some(module.op(made).results[0])
}

/// Replaces unsigned counting by signed counting, which produces the same bits.
pub(super) fn counted_with_a_sign(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(tile), Some(dst)) = (this.tile("dst").copied(), this.operand("dst")) else { return Ok(()) };
    let signed = match tile.layout.elem {
        Elem::U16 => Elem::I16,
        Elem::U32 => Elem::I32,
        _ => return Ok(()),
    };
    if let Some(bytes) = same_bytes(module, id, dst, signed) {
        module.op_mut(id).operands.iter_mut().filter(|value| **value == dst).for_each(|value| *value = bytes);
    }
    Ok(())
}

/// Omits the layout of a prefetched window, which is that of its tensor: only row order may be omitted.
pub(super) fn read_ahead_by_rows(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match op(module, id)?.text("layout") {
        Some("nd") => {
            module.op_mut(id).attrs.remove("layout");
            Ok(())
        }
        Some(other) => Err(format!("it says no layout, and here it is `{other}`")),
        None => Ok(()),
    }
}

/// Rejects setting the valid shape of a popped tile after it was reinterpreted: the pop must specify it.
pub(super) fn shape_of_an_own_tile(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let source = op(module, id)?.operand("source").ok_or("it has no source")?;
    let made = module.defining_op(source).and_then(|made| OpRef::of(module, made));
    if made.is_some_and(|made| retypes(&made)) && address_of(module, source).is_none() {
        return Err("its tile is a popped one under another type".into());
    }
    Ok(())
}

/// Requires indices by rows, one for each column or for each row.
pub(super) fn indices_by_rows(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let modes = [("gatherOob", "undefined"), ("scatterOob", "undefined"), ("scatterAtomicOp", "none")];
    if !platform.can(Capability::TableModes)
        && let Some((name, _)) = modes.iter().find(|(name, usual)| this.text(name).is_some_and(|value| value != *usual))
    {
        return Err(format!("on this platform it has no `{name}`"));
    }
    if this.tile("indices").is_some_and(|tile| tile.layout.blayout == BLayout::ColMajor) {
        return Err("its indices stand by rows: give their tile blayout=row_major".into());
    }
    let cols = |tile: &TileType| tile.layout.cols;
    let src = this.if_declared("src").and_then(|value| module.ty(value).as_tile());
    match (this.tile("indices").map(cols), src.map(cols)) {
        (Some(indices), Some(src)) if indices != 1 && indices != src => {
            Err(format!("it takes 1 index or {src} in a row, and here the tile has {indices}"))
        }
        _ => Ok(()),
    }
}
