//! Stores from vector registers to UB (micro-instruction manual, vector store).

use slipring_ir::{Syntax, Touch};
use slipring_machine::VectorPort;
use slipring_vector::BYTES;

use super::emit::Emit;
use super::{MASK, STEP, UB, check, vreg};
use crate::decode::Decoder;
use crate::def::{Lowered, OpDef, OpRef};
use crate::rules::{INTEGER, operand, optional, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&VSTS];

static VSTS: OpDef = OpDef {
    schema: schema(
        "pto.vsts",
        Syntax::Format(
            "$value `,` $ptr `[` $offset `]` (`,` $mask)? attr-dict `:` type($value) `,` type($ptr) (`,` type($mask))?",
        ),
        &[
            vreg("value", "what to store"),
            operand("ptr", UB, Touch::Write, "where in UB"),
            operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
            optional("mask", MASK, Touch::Nothing, "the lanes that are stored; all where it is left out"),
        ],
        &[],
        &[],
    ),
    summary: "Store a vector register",
    doc: "The active lanes go to UB, `offset` elements after `ptr`; memory of the others keeps its content.",
    verify: |op, _, diags| check::governs(op, 3, 0, diags),
    lower: vsts,
    ..STEP
};

fn vsts(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem(0)?;
    let value = e.reg(0)?;
    let at = e.address(1, 2)?;
    let mask = e.optional(3)?;
    let bytes = elem.bytes();
    e.step(VectorPort::Store, elem, move |m, args| {
        match mask.map(|mask| m.mask(mask)).filter(|mask| !mask.is_full(bytes)) {
            None => m.store_register(value, args[at])?,
            Some(mask) => {
                let register = *m.reg(value);
                for i in (0..BYTES / bytes).filter(|i| mask.lane(*i, bytes)) {
                    let lane = i * bytes..(i + 1) * bytes;
                    m.store(args[at] + lane.start as u64, bytes)?.copy_from_slice(&register.0[lane]);
                }
            }
        }
        Ok(0)
    })
}
