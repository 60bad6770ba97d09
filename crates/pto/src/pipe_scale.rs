//! Scales of pipes whose tiles the fixpipe converts.

use slipring_effect::Payload;
use slipring_ir::{AttrKind, AttrSpec, Diags, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Capability, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Lowered, OpRef, RingPart};
use slipring_op::ops;
use slipring_op::ring::{self, words};
use slipring_op::rules::{PLAIN, TILE, defaulted, operand, require_space};
use slipring_tile::{Elem, Space};

const NUMBER: TypeRule = TypeRule { describe: "an f32", accepts: |ty| matches!(ty, Type::Float(Elem::F32)) };
const ID: AttrSpec = defaulted(words::ID, AttrKind::Int, "which pipe; 0 by default");

/// Nothing to do here: the pushes that the scale applies to read it.
fn nothing(_: &OpRef<'_>, _: &mut Decoder<'_>) -> Lowered {
    Ok(())
}

ops! {
    OPS;

    /// Pushes to this pipe after it in its block, up to the next such op of the pipe, multiply each element by `scale`
    /// in f32 on its way out of the accumulator. Only for a pipe whose `acc_push_epilogue` has such a conversion.
    pub SET_QUANT_SCALAR "pto.set_quant_scalar" "The scale by which the fixpipe multiplies what is pushed": PLAIN,
        source: "PTO IR of the public assembler 0.60, fixpipe pipes", core: CoreRule::Cube,
        ring: Some(RingPart::Scale(Payload::Scalar)),
        verify: |op, _, diags| ring::verify_scale(op, Payload::Scalar, diags), lower: nothing
        => {
            syntax: Syntax::Format("`(` $scale `:` type($scale) `)` attr-dict"),
            operands: &[operand("scale", NUMBER, Touch::Nothing, "the scale")],
            attrs: &[ID],
        };

    /// Pushes to this pipe after it in its block, up to the next such op of the pipe, scale column j by entry j, as
    /// `pto.tmov.fp` does. The entries are read when the tile moves, so that they must stay until then.
    pub SET_QUANT_VECTOR "pto.set_quant_vector"
        "The scales by which the fixpipe multiplies the columns of what is pushed": PLAIN,
        source: "PTO IR of the public assembler 0.60, fixpipe pipes", core: CoreRule::Cube,
        ring: Some(RingPart::Scale(Payload::Table)), verify: verify_vector, lower: nothing
        => {
            syntax: Syntax::Format("`(` $scale `:` type($scale) `)` attr-dict"),
            operands: &[
                operand("scale", TILE, Touch::Read, "an entry of 8 bytes for each column (`scaling`), as of `pto.tmov.fp`"),
            ],
            attrs: &[ID],
        };
}

fn verify_vector(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    ring::verify_scale(op, Payload::Table, diags);
    if !require_space(op, "scale", &[Space::Scaling], diags) {
        return;
    }
    let newer = platform.can(Capability::ColumnScaledFloats);
    let takes: &[Elem] = if newer { &[Elem::F16, Elem::BF16, Elem::F32] } else { &[Elem::I64, Elem::U64] };
    if let Some(tile) = op.tile("scale").filter(|tile| !takes.contains(&tile.layout.elem)) {
        let names: Vec<_> = takes.iter().map(|elem| elem.name()).collect();
        let message =
            format!("expects scales of {} on {}, not {}", names.join(" or "), platform.name, tile.layout.elem);
        diags.push(op.error("tile-elem", message));
    }
}
