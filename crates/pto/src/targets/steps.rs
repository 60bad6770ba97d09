//! Operations that the version splits into two, the second on the result of the first.

use slipring_ir::{AttrDict, Module, OpId, ValueId};
use slipring_machine::{Pipe, Platform};
use slipring_op::address::Address;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::target::Scalars;
use slipring_tile::{Elem, Space};

use super::fixes::{Fixed, op};
use crate::{TADD, TADDS, TSUB, TSUBS};

/// Splits `a + b + c` into `a + b` and the addition of `c`.
pub(super) fn sum(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    in_two_steps(module, id, platform, &TADD)
}

/// Splits `a - b + c` into `a - b` and the addition of `c`.
pub(super) fn difference(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    in_two_steps(module, id, platform, &TSUB)
}

/// The sum with a scalar `b`.
pub(super) fn sum_with_a_number(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    in_two_steps(module, id, platform, &TADDS)
}

/// The difference with a scalar `b`.
pub(super) fn difference_with_a_number(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    in_two_steps(module, id, platform, &TSUBS)
}

/// Combines the first two sources by one op and adds the third by another, as the assembler does, with a barrier if the
/// second could start before the first is done.
fn in_two_steps(module: &mut Module, id: OpId, platform: &Platform, first: &'static OpDef) -> Fixed {
    let this = op(module, id)?;
    let (Some(tile), [a, b, c], Some(dst)) = (this.tile("dst"), sources(&this)?, this.operand("dst")) else {
        return Ok(());
    };
    if tile.layout.elem.is_float() && tile.layout.elem != Elem::F32 {
        return Err(format!("it rounds each of two steps to {}, and here the sum is rounded once", tile.layout.elem));
    }
    let place = |value: ValueId| module.defining_op(value).and_then(|made| OpRef::of(module, made)?.address());
    let same_place = matches!((place(c), place(dst)), (Some(Address::At(c)), Some(Address::At(dst))) if c == dst);
    if c == dst || same_place {
        return Err("it adds the last source after the result was written over it".into());
    }
    let (span, names) = (module.op(id).span, operands(first));
    let made =
        first.make(module, &[(names[0], &[a]), (names[1], &[b]), ("dst", &[dst])], AttrDict::default(), &[], span);
    module.insert_before(id, made);
    if platform.overlaps(Pipe::V, Space::Vec) {
        let barrier = crate::barrier(module, Some(Pipe::V), span);
        module.insert_before(id, barrier);
    }
    let names = operands(&TADD);
    let sum =
        TADD.make(module, &[(names[0], &[dst]), (names[1], &[c]), ("dst", &[dst])], AttrDict::default(), &[], span);
    module.insert_before(id, sum);
    module.remove(id);
    Ok(())
}

/// The names of the first two operands of an op.
fn operands(def: &OpDef) -> [&'static str; 2] {
    [def.schema.operands[0].name, def.schema.operands[1].name]
}

/// The three sources.
fn sources(this: &OpRef<'_>) -> Result<[ValueId; 3], String> {
    let sources: Vec<ValueId> = this.def.schema.operands.iter().take(3).filter_map(|o| this.operand(o.name)).collect();
    sources.try_into().map_err(|_| "it does not have three sources".to_string())
}
