//! Rewrites of ops to forms that an assembler accepts, with the same semantics.

use std::sync::Arc;

use slipring_ir::{Attr, AttrDict, Module, OpId, Sign, TileType, Type, ValueId};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_op::address::{ADDRESS, Address};
use slipring_op::def::{OpRef, RingPart};
use slipring_op::ring::PipeSpec;
use slipring_op::ring::reserved::{BASE, reserved_base};
use slipring_op::rules::constant;
use slipring_op::target::Scalars;
use slipring_tile::{BLayout, Layout, SLayout, Space};

use crate::sync::{EVENT_PIPES, event_pipe, pipe_attr};
use crate::{POINTER_CAST, TRESHAPE, free_after};

pub(super) type Fixed = Result<(), String>;

pub(super) fn op(module: &Module, id: OpId) -> Result<OpRef<'_>, String> {
    OpRef::of(module, id).ok_or_else(|| "nothing is known of this op".to_string())
}

/// Inserts a constant before an op.
pub(super) fn constant_before(
    scalars: &Scalars,
    module: &mut Module,
    before: OpId,
    number: i64,
    ty: Type,
) -> Result<ValueId, String> {
    let span = module.op(before).span;
    let value = [("value", Attr::Int(number.into(), ty.clone()))];
    let made = scalars.constant.make(module, &[], value, &[ty], span);
    module.insert_before(before, made);
    Ok(module.op(made).results[0])
}

/// Writes the address that the allocator chose on a reservation; an import takes it from the reservation.
pub(super) fn slots_at_their_address(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    if this.def.ring == Some(RingPart::Import) {
        module.op_mut(id).attrs.remove(BASE);
        return Ok(());
    }
    reserved_base(&this).ok_or("the reservation has no address")?;
    module.op_mut(id).attrs.set("auto", Attr::Bool(false));
    Ok(())
}

/// Omits depth, protocol and number of a pipe: the version only supports the default depth.
pub(super) fn pipe_of_the_default_depth(
    scalars: &Scalars,
    module: &mut Module,
    id: OpId,
    platform: &Platform,
) -> Fixed {
    let this = op(module, id)?;
    let spec = PipeSpec::of(&this, platform).ok_or("the pipe's parameters make no sense")?;
    let default = if spec.both_ways() { platform.ring.slots_both_ways } else { platform.ring.slots_one_way };
    if spec.slots != default {
        return Err(format!("the pipe has {} slots, and here every such pipe has {default}", spec.slots));
    }
    // A function has one pipe, so its number distinguishes nothing.
    for name in ["slot_num", "id"] {
        module.op_mut(id).attrs.remove(name);
    }
    plain_end(scalars, module, id, platform)
}

/// Writes the depth of a pipe, even if it is the default.
pub(super) fn pipe_with_its_depth(scalars: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let spec = PipeSpec::of(&op(module, id)?, platform).ok_or("the pipe's parameters make no sense")?;
    module.op_mut(id).attrs.set("slot_num", Attr::int(spec.slots.into()));
    plain_end(scalars, module, id, platform)
}

/// Requires a tile to keep its number of bytes under another shape: a window has the bytes of the lines that contain
/// it.
pub(super) fn as_many_bytes(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let tile = |ty: &Type| if let Type::Tile(tile) = ty { Some(tile.layout.bytes()) } else { None };
    match (this.operand("src").map(|src| module.ty(src)).and_then(tile), tile(module.ty(this.result(0)))) {
        (Some(from), Some(to)) if from != to => {
            Err(format!("it has as many bytes as before, and here {from} become {to}: load the part by itself"))
        }
        _ => Ok(()),
    }
}

/// Writes the saturation of a conversion as `satmode`.
pub(super) fn saturation_in_one_word(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    renamed(module, id, "sat_mode", "satmode");
    Ok(())
}

/// Writes the saturation of a conversion as `sat_mode`.
pub(super) fn saturation_in_two_words(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    renamed(module, id, "satmode", "sat_mode");
    Ok(())
}

/// Gives an attribute its other name.
fn renamed(module: &mut Module, id: OpId, from: &str, to: &'static str) {
    let attrs = &mut module.op_mut(id).attrs;
    if let Some(value) = attrs.get(from).cloned() {
        attrs.remove(from);
        attrs.set(to, value);
    }
}

/// Changes nothing.
pub(super) fn as_it_is(_: &Scalars, _: &mut Module, _: OpId, _: &Platform) -> Fixed {
    Ok(())
}

/// Removes redundant attributes from an end of a pipe, and gives it both buffers.
fn plain_end(scalars: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let spec = PipeSpec::of(&this, platform).ok_or("the pipe's parameters make no sense")?;
    if this.operand("gm_slot_buffer").is_some_and(|value| matches!(module.ty(value), Type::TensorView(_))) {
        return Err("its slots are a pointer, `gm_slot_buffer`, and here a view of one of them".into());
    }
    // The text of a built program contains the frees, whoever placed them, so `auto_free` is redundant.
    let mut said = vec!["auto_free"];
    let says = |name: &str, word: &str| this.text(name) == Some(word);
    if says("protocol", "tagged") {
        said.push("protocol");
    }
    if says("placement", if platform.ring.in_gm { "gm" } else { "on_chip" }) {
        said.push("placement");
    }
    for (name, own) in [("period", 1), ("credits", i64::from(spec.slots)), ("local_slot_num", i64::from(spec.slots))] {
        if this.int(name) == Some(own) {
            said.push(name);
        }
    }
    let [c2v, v2c] = ["c2v_consumer_buf", "v2c_consumer_buf"].map(|name| this.operand(name));
    let frees = spec.config.auto_free && spec.pop_copies();
    let gm = this.operand("gm_slot_buffer").filter(|_| platform.ring.in_gm);
    for name in said {
        module.op_mut(id).attrs.remove(name);
    }
    let unused = match c2v.and(v2c) {
        Some(_) => None,
        None => Some(constant_before(scalars, module, id, 0, Type::I32)?),
    };
    let operands: Vec<ValueId> = gm.into_iter().chain(c2v.or(unused)).chain(v2c.or(unused)).collect();
    let data = module.op_mut(id);
    data.segments = [u16::from(gm.is_some()), 1, 1].into_iter().collect();
    data.operands = operands.into_iter().collect();
    if frees {
        frees_behind_pops(module, id);
    }
    Ok(())
}

/// Removes the index of the Vector core: each one takes part under its own.
pub(super) fn as_itself(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(at), Some(value)) =
        (this.def.schema.operands.iter().position(|own| own.name == "aiv_subblockid"), this.operand("aiv_subblockid"))
    else {
        return Ok(());
    };
    let data = module.op_mut(id);
    data.segments[at] = 0;
    data.operands.retain(|operand| *operand != value);
    Ok(())
}

/// Inserts frees after pops that copy their tile and free the slot automatically: the assembler needs them in the text.
fn frees_behind_pops(module: &mut Module, end: OpId) {
    let Some(body) = module.function_of(end).and_then(|function| module.body(function, 0)) else { return };
    let part = |id: OpId| OpRef::of(module, id).and_then(|op| op.def.ring);
    let ops = module.walk(body);
    if ops.iter().any(|id| part(*id).is_some_and(|part| part.frees().is_some())) {
        return;
    }
    let pops: Vec<OpId> = ops.into_iter().filter(|id| part(*id).is_some_and(|part| part.pops().is_some())).collect();
    for pop in pops {
        if let Some(free) = free_after(module, pop) {
            module.op_mut(free).attrs.remove("id");
            module.insert_after(pop, free);
        }
    }
}

/// Removes the number of the only pipe.
pub(super) fn of_the_only_pipe(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    module.op_mut(id).attrs.remove("id");
    Ok(())
}

/// The first class of operations that a pipe runs: assemblers know classes by their short names.
fn class_of(pipe: Pipe) -> Option<&'static str> {
    EVENT_PIPES.iter().find(|(_, of)| *of == pipe).map(|(class, _)| *class)
}

/// Rewrites classes of operations to the names that assemblers know.
pub(super) fn known_classes(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    for name in ["src_op", "dst_op", "op_type"] {
        let this = op(module, id)?;
        let long = this.text(name).filter(|class| class.starts_with("EVENT_"));
        let Some(class) = long.and_then(|_| event_pipe(&this, name)).and_then(class_of) else { continue };
        module.op_mut(id).attrs.set(name, Attr::member("pipe_event_type", class));
    }
    Ok(())
}

/// Rewrites the class of a barrier, for which assemblers only know the alternative name of the attribute kind.
pub(super) fn class_of_a_barrier(scalars: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    known_classes(scalars, module, id, platform)?;
    if let Some(class) = op(module, id)?.text("op_type").map(str::to_string) {
        module.op_mut(id).attrs.set("op_type", Attr::member("sync_op_type", &class));
    }
    Ok(())
}

/// Moves the working memory of a list merge after the lists.
pub(super) fn merge_memory_last(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let Some(tmp) = this.operand("tmp") else { return Ok(()) };
    let lists: Vec<ValueId> = this.operands("sources").iter().copied().chain([tmp]).collect();
    let (dst, mut executed) = (this.operand("dst"), this.operand("executed"));
    if executed.is_none() {
        let ty = Type::Vector(Arc::new(([4].into_iter().collect(), Type::Int { width: 16, sign: Sign::Signless })));
        let none = [("value", Attr::Opaque("dense<0> : vector<4xi16>".into()))];
        let made = scalars.constant.make(module, &[], none, &[ty], module.op(id).span);
        module.insert_before(id, made);
        executed = module.op(made).results.first().copied();
    }
    let data = module.op_mut(id);
    data.segments = [lists.len() as u16, 0, 1, 0, u16::from(executed.is_some())].into_iter().collect();
    data.operands = lists.into_iter().chain(dst).chain(executed).collect();
    Ok(())
}

/// Rewrites buffer tokens to name a class of operations and a constant id.
pub(super) fn buffer_by_class(scalars: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    known_classes(scalars, module, id, platform)?;
    let this = op(module, id)?;
    let mut attrs = AttrDict::default();
    let class = match this.attr("op_type") {
        Some(class) => class.clone(),
        None => {
            let pipe = pipe_attr(&this, "pipe").ok_or("there is no such pipe")?;
            let class = class_of(pipe).ok_or_else(|| format!("no class of operations stands for {}", pipe.name()))?;
            Attr::member("pipe_event_type", class)
        }
    };
    let number = |name: &str| match this.operand(name) {
        Some(value) => constant(this.module, value),
        None => Some(this.int(name).unwrap_or(0)),
    };
    let buffer = number("buf_id").ok_or("the buffer id must be a constant")?;
    let mode = number("mode").ok_or("the mode must be a constant")?;
    attrs.set("op_type", class);
    attrs.set("buf_id", Attr::int(buffer));
    if mode != 0 {
        attrs.set("mode", Attr::int(mode));
    }
    let data = module.op_mut(id);
    data.attrs = attrs;
    data.segments = [0, 0].into_iter().collect();
    data.operands.clear();
    Ok(())
}

/// Writes the valid shape on the op if the type of the tile leaves it dynamic: all of the tile, unless the text
/// specifies it.
pub(super) fn valid_shape_is_written(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let Some(ty) = module.ty(this.result(0)).as_tile().copied() else { return Ok(()) };
    let addr = this.operand("addr");
    if addr.is_none() {
        return Err("it has no address: no kernel of this module uses it".into());
    }
    let mut valid = [this.operand("valid_row"), this.operand("valid_col")];
    for (at, whole) in [ty.layout.rows, ty.layout.cols].into_iter().enumerate() {
        if ty.valid[at].known().is_none() && valid[at].is_none() {
            valid[at] = Some(constant_before(scalars, module, id, whole.into(), Type::Index)?);
        }
    }
    let data = module.op_mut(id);
    data.segments = [addr, valid[0], valid[1]].map(|value| u16::from(value.is_some())).into_iter().collect();
    data.operands = addr.into_iter().chain(valid[0]).chain(valid[1]).collect();
    Ok(())
}

/// On platforms whose waits hold a single pipe, a wait cannot hold the scalar unit: holds MTE2 instead, and a barrier
/// holds the rest.
pub(super) fn wait_of_a_pipe(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    if platform.sync.wait_stalls_core || pipe_attr(&this, "pipe") != Some(Pipe::S) {
        return Ok(());
    }
    let barrier = crate::barrier(module, None, module.op(id).span);
    module.insert_after(id, barrier);
    module.op_mut(id).attrs.set("pipe", Attr::member("pipe", "PIPE_MTE2"));
    Ok(())
}

/// Replaces memory that the allocator placed by memory at a constant address, and removes its deallocation.
pub(super) fn memory_at_its_address(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let Some(old) = module.op(id).results.first().copied() else {
        module.remove(id);
        return Ok(());
    };
    let Some(Address::At(address)) = op(module, id)?.address() else {
        return Err("it has no address".into());
    };
    let (ty, span) = (module.ty(old).clone(), module.op(id).span);
    let addr = constant_before(scalars, module, id, address as i64, Type::I64)?;
    let made = POINTER_CAST.make(module, &[(ADDRESS, &[addr])], AttrDict::default(), &[ty], span);
    module.insert_before(id, made);
    replace(module, id, made);
    Ok(())
}

/// Replaces an op by another one.
pub(super) fn replace(module: &mut Module, id: OpId, made: OpId) {
    let (old, new) = (module.op(id).results[0], module.op(made).results[0]);
    let name = module.value(old).name.clone();
    module.value_mut(new).name = name;
    module.replace_uses(old, new);
    module.remove(id);
}

/// Casts a printed index to an integer: only integers and floats can be printed.
pub(super) fn print_of_a_number(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let at = module.op(id).operands.iter().position(|value| *module.ty(*value) == Type::Index);
    let Some(at) = at else { return Ok(()) };
    let (value, span) = (module.op(id).operands[at], module.op(id).span);
    let cast = scalars.index_cast.make(module, &[("in", &[value])], AttrDict::default(), &[Type::I64], span);
    module.insert_before(id, cast);
    let number = module.op(cast).results[0];
    module.op_mut(id).operands[at] = number;
    Ok(())
}

/// Reinterprets contiguous columns as rows, which have the same bytes.
pub(super) fn columns_as_rows(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let row_of = |ty: &Type| {
        let tile = ty.as_tile()?;
        let layout = tile.layout;
        let column = layout.cols == 1 && layout.blayout == BLayout::ColMajor && layout.slayout == SLayout::NoneBox;
        let whole_blocks = (layout.rows as usize * layout.elem.bytes()).is_multiple_of(32);
        let known = tile.valid.iter().all(|dim| dim.known().is_some());
        (column && whole_blocks && known).then(|| TileType {
            layout: Layout { rows: 1, cols: layout.rows, blayout: BLayout::RowMajor, ..layout },
            valid: [tile.valid[1], tile.valid[0]],
            ..*tile
        })
    };
    let values = module.op(id).operands.clone();
    let rows: Vec<Option<TileType>> = values.iter().map(|value| row_of(module.ty(*value))).collect();
    let tiles = values.iter().filter(|value| module.ty(**value).as_tile().is_some()).count();
    if tiles == 0 || rows.iter().flatten().count() < tiles {
        return Ok(());
    }
    let span = module.op(id).span;
    for (at, row) in rows.into_iter().enumerate() {
        let Some(row) = row else { continue };
        let view = TRESHAPE.make(module, &[("src", &[values[at]])], AttrDict::default(), &[Type::Tile(row)], span);
        module.insert_before(id, view);
        let seen = module.op(view).results[0];
        module.op_mut(id).operands[at] = seen;
    }
    Ok(())
}

/// Requires tiles by rows.
pub(super) fn only_rows(scalars: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    columns_as_rows(scalars, module, id, platform)?;
    let this = op(module, id)?;
    let by_columns =
        |tile: &&TileType| tile.layout.blayout == BLayout::ColMajor && tile.layout.slayout == SLayout::NoneBox;
    match computed_with(&this).find(by_columns) {
        Some(_) => Err("it takes tiles by rows only: give the tiles blayout=row_major".into()),
        None => Ok(()),
    }
}

/// The tiles of an op except its mask and its working memory.
fn computed_with<'a>(this: &OpRef<'a>) -> impl Iterator<Item = &'a TileType> + use<'a> {
    let this = *this;
    let operands = this.def.schema.operands.iter().enumerate();
    operands.filter(|(_, spec)| !matches!(spec.name, "mask" | "tmp")).filter_map(move |(index, _)| this.tile(index))
}

/// Rejects tiles that are carried through loops or passed to functions.
pub(super) fn carries_no_tile(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let data = module.op(id);
    let tile = |value: &&ValueId| matches!(module.ty(**value), Type::Tile(_) | Type::ShortTile { .. });
    match data.operands.iter().chain(&data.results).find(tile) {
        Some(_) => Err("it carries a tile: write the tile's name where it is used".into()),
        None => Ok(()),
    }
}

/// Requires windows that the version supports: extraction from L1, and from UB on units that work on registers, and
/// insertion from the accumulator, without scales.
pub(super) fn known_window(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let from = this.space("src");
    let of_ub = platform.can(Capability::UbWindows);
    let extracts = this.def.transfer.is_some();
    match from {
        Some(Space::Vec) if !of_ub => Err("on this platform it has windows of UB nowhere".to_string()),
        Some(Space::Acc) if extracts => Err("it takes no window out of the accumulator".to_string()),
        _ if ["fp", "preQuantScalar"].iter().any(|name| this.operand(*name).is_some()) => {
            Err("it scales no windows by this op".to_string())
        }
        _ => Ok(()),
    }
}

/// Requires two floats of 8 bits to have the same type.
pub(super) fn factors_of_one_type(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let elem = |name| this.tile(name).map(|tile| tile.layout.elem);
    let (a, b) = (elem("lhs"), elem("rhs"));
    match (a, b) {
        (Some(a), Some(b)) if a != b && a.is_float() => Err(format!("it has no product of {a} and {b}")),
        _ => Ok(()),
    }
}

/// Removes working memory that only the unit that works on memory uses.
pub(super) fn memory_of_the_older_unit(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let at = this.def.schema.operands.iter().position(|operand| operand.name == "tmp");
    if let (Some(at), Some(tmp), true) = (at, this.if_declared("tmp"), platform.can(Capability::RegisterScratch)) {
        let data = module.op_mut(id);
        if let Some(place) = data.operands.iter().position(|value| *value == tmp) {
            data.operands.remove(place);
            data.segments[at] = 0;
        }
    }
    Ok(())
}

/// Rejects comparisons of unsigned elements with a scalar, because scalars there are signed.
pub(super) fn compared_with_its_sign(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let unsigned =
        this.tile("src").map(|tile| tile.layout.elem).filter(|elem| !elem.is_float() && !elem.is_signed_int());
    match unsigned {
        Some(elem) if this.if_declared("kValue").is_some() => {
            Err(format!("it compares no elements of {elem} with a number"))
        }
        _ => Ok(()),
    }
}

/// Requires the mask of two tiles to have their shape, on units that work on registers.
pub(super) fn mask_of_one_shape(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let shape = |name| this.tile(name).map(|tile| (tile.layout.rows, tile.layout.cols));
    if platform.can(Capability::ShapedMasks) && shape("src0") != shape("dst") {
        return Err("its mask is a tile of the shape of what is compared".to_string());
    }
    Ok(())
}
