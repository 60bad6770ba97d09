//! Instructions of workitems (SIMT): what a launch of up to 2048 of them runs on a Vector core (micro-instruction
//! manual of assembler 0.60, 17).

pub(crate) mod atomic;
mod change;
pub(crate) mod collective;
pub(crate) mod convert;
pub(crate) mod keep;
pub(crate) mod launch;
pub(crate) mod math;
pub(crate) mod memory;
pub(crate) mod query;
mod scalars;
pub(crate) mod sync;

use slipring_ir::{AttrKind, AttrSpec, EnumSpec, Infer, OperandSpec, ResultSpec, Touch, Type, TypeRule, ValueId};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, Reported, Workitems};
use slipring_op::rules::{PLAIN, defaulted, operand, result};
use slipring_op::workitems;
use slipring_program::Operand;
use slipring_simt::Act;

/// What all instructions of workitems share.
const WORK: OpDef = OpDef {
    core: CoreRule::Vector,
    workitems: Workitems::Inside,
    source: "micro-instruction manual of assembler 0.60, 17",
    verify: |op, _, diags| workitems::inside(op, diags),
    ..PLAIN
};

const I32: TypeRule = TypeRule { describe: "i32", accepts: |t| *t == Type::I32 };
/// A scalar; packed values are read, and refused by name.
const VALUE: TypeRule =
    TypeRule { describe: "a scalar", accepts: |t| t.is_scalar() || matches!(t, Type::Vector(_) | Type::F64) };

const SIGNS: EnumSpec = EnumSpec { kind: "signedness", numbered: false, members: &["signed", "unsigned"] };
const SIGNEDNESS: AttrSpec =
    defaulted("signedness", AttrKind::Enum(&SIGNS), "whether integers are `signed` or `unsigned`");

const fn value(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, VALUE, Touch::Nothing, doc)
}

const fn number(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, I32, Touch::Nothing, doc)
}

const fn out(ty: TypeRule, doc: &'static str) -> ResultSpec {
    result("result", ty, Infer::Written, doc)
}

/// Whether the attribute that says how integers are meant says `signed`; `None` where it is left out.
fn signed(op: &OpRef<'_>) -> Option<bool> {
    op.text("signedness").map(|sign| sign == "signed")
}

/// Adds a step on the values of these operands, and binds its result.
fn bind_step(op: &OpRef<'_>, d: &mut Decoder<'_>, operands: &[&str], act: Act) -> Lowered {
    let values = operands.iter().map(|name| super::memory::given(op, d, name)).collect::<Result<Vec<_>, _>>()?;
    let result = d.workitem_step(act, &values, true)?;
    d.bind(op.result(0), Binding::Scalar(result));
    Ok(())
}

/// The values of all operands, as the arguments of a scalar function.
fn arguments(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<[Operand; 3], Reported> {
    let operands: Vec<ValueId> = op.module.op(op.id).operands.to_vec();
    let mut args = [Operand::Imm(0); 3];
    for (arg, value) in args.iter_mut().zip(operands) {
        *arg = d.scalar(value)?;
    }
    Ok(args)
}
