//! Powers (tile library, TPOW and TPOWS: the assembler has no op for them).

use slipring_ir::{Diags, OpSchema, OperandSpec, Touch, Type};
use slipring_machine::{Capability, Platform};
use slipring_tile::{Binary, Elem};

use super::check::{self, NUMBERS};
use super::inside;
use super::lower::of_sources;
use super::{DST, EACH, TMP, apart, ins, precision, tiles, types, working};
use slipring_effect::arithmetic::{POW, POW_IN_STEPS};
use slipring_op::decode::Decoder;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{SCALAR, TILE, operand};

const BASE: OperandSpec = operand("base", TILE, Touch::Read, "what is raised");
const POWERS: OpDef = OpDef {
    class: "exp",
    source: "tile ISA, page of the same name, and its headers of each platform",
    elems: types::POWER,
    tiles: tiles::POWER,
    ..EACH
};

/// Documents the computation.
macro_rules! power_doc {
    ($what:literal) => {
        number_doc!(
            $what,
            " Floats as C's `pow` has it, with an error below 2^-44 before the result is rounded: x^0 and 1^x are 1, a negative \
              number to a power that is not integral is NaN. On A2/A3 1 to an infinite or NaN power is NaN, a negative infinity \
              too where the power is not integral, and zeros have no sign: 0^x is 0 or, for a negative x, infinite. A negative power \
              of an integer is 0, but for 1 and -1. bf16 with `HIGH_PRECISION` only (A5)."
        )
    };
}

/// A tile and its exponent.
const POWER: OpDef = OpDef {
    doc: power_doc!("`dst = base ^ exponent`, element by element."),
    schema: OpSchema { syntax: ins(3), ..POWERS.schema },
    verify,
    inside: inside::RAISED_BY_SCALARS,
    lower: |op, d| of_sources(op, d, kernel(d), ["base", "exponent"]),
    working: working::POWERS,
    apart: apart::RAISED,
    ..POWERS
};

ops! {
    OPS;

    pub TPOW "pto.tpow" "Raise to a power": precision::of(precision::POW, POWER)
        => { operands: &[BASE, operand("exponent", TILE, Touch::Read, "the powers"), TMP, DST] };

    pub TPOWS "pto.tpows" "Raise to a power that is a number": precision::of(precision::POW, POWER)
        => { operands: &[BASE, operand("exponent", SCALAR, Touch::Nothing, "the power"), TMP, DST] };
}

fn kernel(d: &Decoder<'_>) -> &'static Binary {
    if d.platform.can(Capability::PowerFunction) { &POW } else { &POW_IN_STEPS }
}

fn verify(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::elementwise(op, NUMBERS, diags);
    precision::verify(op, &[Elem::F16, Elem::BF16, Elem::F32], diags);
    let elem = op.ty("dst").and_then(Type::elem);
    let name = op.def.schema.name;
    if precision::is_high(op) && !platform.can(Capability::HighPrecision) {
        let message = format!("`{name}` has one algorithm on {}: no high precision", platform.name);
        diags.push(op.error("attribute", message));
    }
    // The library's function has it in every form (`pto_instr.hpp`), the assembler's call has not for integers.
    if !op.calls_library() && elem.is_some_and(|elem| !elem.is_float()) && op.operand("tmp").is_some() {
        let message = format!("`{name}` of integers takes no tmp: the assembler calls a form without it");
        diags.push(op.error("operand-count", message));
    }
    if elem == Some(Elem::BF16) && platform.can(Capability::HighPrecision) && !precision::is_high(op) {
        diags.push(
            op.error("tile-elem", format!("`{}` works on bf16 with high precision only", op.def.schema.name))
                .help("write `{precision_mode = #pto<precision_mode HIGH_PRECISION>}`"),
        );
    }
}
