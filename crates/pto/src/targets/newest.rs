//! Requirements of ptoas 0.60 that differ from 0.27, from the verifier of its dialect (lib/PTO/IR/PTO.cpp).

use slipring_ir::{Attr, Module, OpId, TileType, Type};
use slipring_machine::{Capability, Platform};
use slipring_op::def::{OpRef, RingPart};
use slipring_op::ring::Epilogue;
use slipring_op::target::{OpRule, Scalars};
use slipring_tile::{BLayout, Elem};
use slipring_vector::conversions;

use super::fixes::{Fixed, as_many_bytes, constant_before, op, saturation_in_one_word};
use super::ptoas_0_27::SETS;

/// Additional rules, which are applied before the shared ones.
pub(super) const RULES: &[OpRule] = &[
    OpRule { fix: Some(rows_or_elements), ..OpRule::of(&["pto.mgather", "pto.mscatter"]) },
    OpRule { fix: Some(no_pattern), ..OpRule::of(&["pto.tgather", "pto.tscatter"]) },
    OpRule { fix: Some(numbered_from_0_to_15), ..OpRule::of(&["pto.sync.set", "pto.sync.wait"]) },
    OpRule { fix: Some(memory_of_words), ..OpRule::of(&["pto.tsel"]) },
    OpRule { fix: Some(memory_of_its_type), ..OpRule::of(&["pto.tsels"]) },
    OpRule { fix: Some(indices_for_all), ..OpRule::of(&["pto.tscatter"]) },
    OpRule { fix: Some(factors_for_all), ..OpRule::of(&["pto.tquant"]) },
    OpRule { fix: Some(no_memory_of_a_pointer), ..OpRule::of(&["memref.alloc", "pto.pointer_cast"]) },
    OpRule { fix: Some(not_printed), ..OpRule::in_set(&SETS, "own_form") },
    OpRule { fix: Some(precise_in_memory), ..OpRule::of(&["pto.trsqrt", "pto.trowexpanddiv"]) },
    OpRule { fix: Some(saturation_in_one_word), ..OpRule::of(&["pto.tcvt"]) },
    OpRule { fix: Some(memory_for_pairs), ..OpRule::of(&["pto.tcolsum"]) },
    OpRule { fix: Some(memory_for_a_known_shape), ..OpRule::of(&["pto.tprelu"]) },
    OpRule { fix: Some(memory_for_blocks_of_rows), ..OpRule::in_set(&SETS, "spread") },
    OpRule {
        fix: Some(begins_somewhere),
        ..OpRule::of(&["pto.mte_l1_l0a", "pto.mte_l1_l0b", "pto.mte_l1_l0a_mx", "pto.mte_l1_l0b_mx"])
    },
    OpRule { fix: Some(as_many_bytes), ..OpRule::of(&["pto.treshape"]) },
    OpRule { fix: Some(stored_in_a_chain), ..OpRule::of(&["pto.vstus", "pto.pstu", "pto.vstur"]) },
    OpRule { fix: Some(masked), ..OpRule::of(&["pto.vsts"]) },
    OpRule { fix: Some(spread_of_its_type), ..OpRule::of(&["pto.vbr", "pto.vdup"]) },
    OpRule {
        fix: Some(known_pattern),
        ..OpRule::of(&["pto.pset_b8", "pto.pset_b16", "pto.pset_b32", "pto.pge_b8", "pto.pge_b16", "pto.pge_b32"])
    },
    OpRule { fix: Some(bytes_have_a_sign), ..OpRule::of(&["pto.tpop_from_aic"]) },
    OpRule { fix: Some(rounded_where_it_rounds), ..OpRule::of(&["pto.vcvt"]) },
    OpRule { fix: Some(number_is_written), ..OpRule::of(&["pto.set_intra_block", "pto.wait_intra_block"]) },
    OpRule { fix: Some(flags_at_a_pointer), ..OpRule::of(&["pto.set_ffts"]) },
    OpRule { fix: Some(in_the_function_of_its_end), ..OpRule::in_set(&SETS, "pipe_move") },
];

/// Writes whether indices select rows or elements.
fn rows_or_elements(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let by_row = crate::vector::table::by_row(&this);
    let column = |tile: &TileType| tile.valid[1].known() == Some(1) && tile.valid[0].known() != Some(1);
    let by_rows = |tile: &&TileType| tile.layout.blayout == BLayout::RowMajor && column(tile);
    if by_row && tile_of(&this, "indices").filter(by_rows).is_some() {
        return Err("a column of its numbers is a tile by columns: give it blayout=col_major".into());
    }
    let member = if by_row { "row" } else { "elem" };
    module.op_mut(id).attrs.set("coalesce", Attr::member("coalesce", member));
    Ok(())
}

/// Rejects patterns: there they need an axis, in a form that is not printed.
fn no_pattern(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match op(module, id)?.text("maskPattern") {
        Some(_) => Err("its patterns go along an axis that the text does not name".into()),
        None => Ok(()),
    }
}

/// Requires cross-core flags to have ids up to 15; those of the second Vector core are derived from its index.
fn numbered_from_0_to_15(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    match op(module, id)?.int("event_id") {
        Some(number) if number > 15 && !platform.sync.wait_stalls_core => {
            Err(format!("its flags between cores have numbers up to 15, and here it is {number}"))
        }
        _ => Ok(()),
    }
}

/// Requires the working memory of a selection between tiles, on the older unit, to have elements of 4 bytes.
fn memory_of_words(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    match working_memory(&this, platform) {
        Some(tmp) if tmp.layout.elem.bytes() != 4 => {
            Err(format!("its working memory has elements of 4 bytes, and here {}", tmp.layout.elem))
        }
        _ => Ok(()),
    }
}

/// Requires the working memory of a selection between a tile and a scalar, on the older unit, to have the type of the
/// tile.
fn memory_of_its_type(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(tmp), Some(src)) = (working_memory(&this, platform), tile_of(&this, "src")) else { return Ok(()) };
    match tmp.layout.elem == src.layout.elem {
        true => Ok(()),
        false => {
            let (has, wants) = (tmp.layout.elem, src.layout.elem);
            Err(format!("its working memory has the type of `src`, {wants}, and here {has}"))
        }
    }
}

/// The working memory of an op on units without masks in registers.
fn working_memory<'a>(this: &OpRef<'a>, platform: &Platform) -> Option<&'a TileType> {
    tile_of(this, "tmp").filter(|_| !platform.can(Capability::RegisterReductions))
}

/// Requires an index for each scattered element.
fn indices_for_all(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    same_valid(&this, "src", "indices", "each element of `src` has an index")
}

fn tile_of<'a>(this: &OpRef<'a>, name: &'static str) -> Option<&'a TileType> {
    this.if_declared(name)?;
    this.tile(name)
}

fn same_valid(this: &OpRef<'_>, one: &'static str, two: &'static str, why: &str) -> Fixed {
    let valid = |name| tile_of(this, name).map(|tile| tile.valid);
    let (Some(one), Some(two)) = (valid(one), valid(two)) else { return Ok(()) };
    match (0..2).find(|at| one[*at].known().zip(two[*at].known()).is_some_and(|(a, b)| a != b)) {
        Some(_) => Err(format!("{why} there, and here they have other valid shapes")),
        None => Ok(()),
    }
}

/// Requires the factors of a quantisation, on the older unit, to have as many valid rows as the tile.
fn factors_for_all(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    if platform.can(Capability::RegisterReductions) {
        return Ok(());
    }
    let valid = |name| tile_of(&this, name).and_then(|tile| tile.valid[0].known());
    match valid("fp").zip(valid("dst")) {
        Some((factors, rows)) if factors != rows => {
            Err(format!("it has a factor for each row, and here {factors} for {rows} rows"))
        }
        _ => Ok(()),
    }
}

/// Requires working memory for high-precision roots and divisions, on either unit.
fn precise_in_memory(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    match this.text("precisionType") == Some("high_precision") && this.if_declared("tmp").is_none() {
        true => Err("it has working memory where it is of high precision".into()),
        false => Ok(()),
    }
}

/// Requires the working memory of a pairwise sum to hold half of the rows, rounded up, and their number to be static.
fn memory_for_pairs(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(tmp), Some(src)) = (tile_of(&this, "tmp"), tile_of(&this, "src")) else { return Ok(()) };
    if this.attr("isBinary").and_then(Attr::as_bool) != Some(true) {
        return Ok(());
    }
    let [Some(rows), Some(cols)] = src.valid.map(|dim| dim.known()) else {
        return Err(WRITTEN_SHAPE.into());
    };
    let (has, needs) = (tmp.layout.bytes() as u64, rows.div_ceil(2) * cols * src.layout.elem.bytes() as u64);
    match has < needs {
        true => Err(format!("its working memory has half of the rows, rounded up: {needs} bytes, and here {has}")),
        false => Ok(()),
    }
}

const WRITTEN_SHAPE: &str = "with working memory its valid shape is written, and here only the run knows it";

/// Requires a static result shape where the older unit has working memory, whose size depends on it.
fn memory_for_a_known_shape(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(_), Some(dst)) = (working_memory(&this, platform), tile_of(&this, "dst")) else { return Ok(()) };
    match dst.valid.iter().all(|dim| dim.known().is_some()) {
        true => Ok(()),
        false => Err(WRITTEN_SHAPE.into()),
    }
}

/// Requires enough working memory for a column combined with rows: the older unit spreads it over a block of 32 bytes
/// for each row, 8 rows at a time, 30 times at most.
fn memory_for_blocks_of_rows(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(tmp), Some(dst)) = (working_memory(&this, platform), tile_of(&this, "dst")) else { return Ok(()) };
    let needs = match dst.valid[0].known() {
        Some(rows) if rows < 256 => rows.div_ceil(8) * 256,
        Some(_) => 30 * 256,
        None => 8192,
    };
    let has = tmp.layout.bytes() as u64;
    match has < needs {
        true => Err(format!("its working memory has {needs} bytes or more for these rows, and here {has}")),
        false => Ok(()),
    }
}

/// Writes the row and column at which the operand of a load into L0 begins: zeros if the text gives neither.
fn begins_somewhere(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let [rows, _] = op(module, id)?.operands("control") else { return Ok(()) };
    let ty = module.ty(*rows).clone();
    let start = constant_before(scalars, module, id, 0, ty)?;
    let data = module.op_mut(id);
    data.operands.extend([start, start]);
    if let Some(count) = data.segments.last_mut() {
        *count += 2;
    }
    Ok(())
}

/// Requires unaligned stores to form a chain, in which each state is used by one store.
fn stored_in_a_chain(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let Some(align) = op(module, id)?.if_declared("align") else { return Ok(()) };
    let users = module.walk(module.top).into_iter().filter(|op| module.op(*op).operands.contains(&align)).count();
    match users {
        0 | 1 => Ok(()),
        _ => Err("what a store leaves is taken by one other, and here by several".into()),
    }
}

/// Requires a store of a register to have a mask.
fn masked(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match op(module, id)?.if_declared("mask") {
        Some(_) => Ok(()),
        None => Err("it has a mask there, and the text gives none".into()),
    }
}

/// Requires a scalar that fills a register to have the type of its lanes.
fn spread_of_its_type(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    match this.if_declared("value").map(|value| module.ty(value)) {
        Some(Type::Index) => Err("its number has the type of the lanes, and here it is an index".into()),
        _ => Ok(()),
    }
}

/// Requires a lane pattern that the version has.
fn known_pattern(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    const KNOWN: &[&str] = &[
        "PAT_ALL",
        "PAT_ALLF",
        "PAT_H",
        "PAT_Q",
        "PAT_M3",
        "PAT_M4",
        "PAT_VL1",
        "PAT_VL2",
        "PAT_VL3",
        "PAT_VL4",
        "PAT_VL8",
        "PAT_VL16",
        "PAT_VL32",
        "PAT_VL64",
        "PAT_VL128",
    ];
    match op(module, id)?.text("pattern") {
        Some(pattern) if !KNOWN.contains(&pattern) => Err(format!("it has no pattern `{pattern}`")),
        _ => Ok(()),
    }
}

/// Requires a semaphore id to be a constant.
fn number_is_written(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match module.op(id).operands.is_empty() {
        true => Ok(()),
        false => Err("its number is a constant of the text there".into()),
    }
}

/// Requires the cross-core flags to be given by a pointer, not by a memref.
fn flags_at_a_pointer(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match module.op(id).operands.iter().any(|value| matches!(module.ty(*value), Type::MemRef(_))) {
        true => Err("its flags lie at a pointer: give a `!pto.ptr<i64>`".into()),
        false => Ok(()),
    }
}

/// Requires pushes and pops to be in the function that makes the end of the pipe.
fn in_the_function_of_its_end(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let function = module.function_of(id).ok_or("it is in no function")?;
    let body = module.body(function, 0).ok_or("its function has no body")?;
    let makes = |op: OpRef<'_>| op.def.ring.is_some_and(RingPart::makes_end);
    match module.walk(body).into_iter().filter_map(|id| OpRef::of(module, id)).any(makes) {
        true => Ok(()),
        false => Err("the end of its pipe is made in the same function there".into()),
    }
}

/// Rejects bytes that the fixpipe makes: their type is explicitly signed there, unlike that of other tiles.
fn bytes_have_a_sign(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let is_byte = matches!(module.ty(this.result(0)), Type::Tile(tile) if tile.layout.elem == Elem::I8);
    let body = module.function_of(id).and_then(|function| module.body(function, 0)).filter(|_| is_byte);
    let all = body.map(|body| module.walk(body)).unwrap_or_default();
    let mut ends = all.into_iter().filter_map(|id| OpRef::of(module, id));
    let narrows = |end: &OpRef<'_>| Epilogue::of(end).is_ok_and(|found| found.is_some_and(|own| own.makes_bytes()));
    let own = |end: &OpRef<'_>| end.def.ring.is_some_and(RingPart::makes_end) && end.int("id") == this.int("id");
    match ends.any(|end| own(&end) && narrows(&end)) {
        true => Err("tiles that its fixpipe makes are `si8`, and slipring writes `i8`".into()),
        false => Ok(()),
    }
}

/// Requires a rounding mode exactly on conversions that round, and a saturation mode exactly on those that can
/// overflow.
fn rounded_where_it_rounds(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(from), Some(to)) = (this.ty("src").and_then(Type::elem), module.ty(this.result(0)).elem()) else {
        return Ok(());
    };
    let Some((_, how)) = conversions(from).iter().find(|(known, _)| *known == to) else { return Ok(()) };
    let wrong = |name: &str, wants: bool| this.text(name).is_some() != wants;
    for (name, wants) in [("rnd", how.rounds), ("sat", how.clips)] {
        if wrong(name, wants) {
            let how = if wants { "wants" } else { "takes no" };
            return Err(format!("it {how} `{name}` where {from} becomes {to}"));
        }
    }
    Ok(())
}

/// Rejects an op that the version has in another form.
fn not_printed(_: &Scalars, _: &mut Module, _: OpId, _: &Platform) -> Fixed {
    Err("it has the op in a form that slipring does not print".into())
}

/// Rejects memory at an address, which is not a value there.
fn no_memory_of_a_pointer(_: &Scalars, _: &mut Module, _: OpId, _: &Platform) -> Fixed {
    Err("it has no memory that a pointer names".into())
}
