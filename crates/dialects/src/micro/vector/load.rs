//! Loads from UB into vector registers (micro-instruction manual, vector load).

use slipring_ir::{Syntax, Touch};
use slipring_machine::VectorPort;

use super::emit::Emit;
use super::{OUT, STEP, UB};
use crate::decode::Decoder;
use crate::def::{Lowered, OpDef, OpRef};
use crate::rules::{INTEGER, operand, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&VLDS];

static VLDS: OpDef = OpDef {
    schema: schema(
        "pto.vlds",
        Syntax::Format("$ptr `[` $offset `]` attr-dict `:` type($ptr) `->` type($out)"),
        &[
            operand("ptr", UB, Touch::Read, "where in UB"),
            operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
        ],
        &[OUT],
        &[],
    ),
    summary: "Load a vector register",
    doc: "256 bytes from UB, `offset` elements after `ptr`.",
    lower: vlds,
    ..STEP
};

fn vlds(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let at = e.address(0, 1)?;
    let out = e.out(0);
    let elem = op.ty(0).and_then(slipring_ir::Type::elem).ok_or(crate::def::Reported)?;
    e.step(VectorPort::Load, elem, move |m, args| {
        m.load_register(out, args[at])?;
        Ok(0)
    })
}
