//! The choice between the unit's own instruction and a longer sequence with a smaller error (PTO tile instruction SPEC 5.1 to 5.3,
//! 10.3 and 10.5).

use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, OpSchema, Syntax, Type};
use slipring_machine::{Capability, Platform};
use slipring_tile::Elem;

use super::check;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::rules::defaulted;

/// `#pto<precision_mode …>`, as the SPEC has it.
const MODE: &EnumSpec = &EnumSpec { kind: "precision_mode", numbered: false, members: &["DEFAULT", "HIGH_PRECISION"] };

/// The attributes of ops in the public compiler's text, where the attribute kind is named after the function.
macro_rules! precision {
    ($($name:ident $kind:literal;)*) => {$(
        pub(super) const $name: &[AttrSpec] = &[
            defaulted("precision_mode", AttrKind::Enum(MODE), WHAT),
            defaulted(
                "precisionType",
                AttrKind::Enum(&EnumSpec {
                    kind: $kind,
                    numbered: false,
                    members: &["default", "high_precision"],
                }),
                "the same in the words of the public compiler",
            ),
        ];
    )*};
}

/// The documentation of the attribute.
const WHAT: &str = "how exact the device is: `DEFAULT`, or the longer sequence of `HIGH_PRECISION` (A5); here both give the \
                    number nearest to the exact one, and `HIGH_PRECISION` takes the time of that sequence where it is published";

precision! {
    DIV "div_precision";
    EXP "exp_precision";
    LOG "log_precision";
    SQRT "sqrt_precision";
    RSQRT "rsqrt_precision";
    RECIP "recip_precision";
    POW "pow_precision";
    REM "rem_precision";
    FMOD "fmod_precision";
}

/// A schema with these attributes, which follow `outs`.
pub(super) const fn with(attrs: &'static [AttrSpec], schema: OpSchema) -> OpSchema {
    let syntax = match schema.syntax {
        Syntax::InsOuts { ins, .. } => Syntax::InsOuts { ins, attrs_in_ins: false },
        other => other,
    };
    OpSchema { attrs, syntax, ..schema }
}

/// A declaration with these attributes.
pub(super) const fn of(attrs: &'static [AttrSpec], base: OpDef) -> OpDef {
    OpDef { schema: with(attrs, base.schema), ..base }
}

/// True if the text requests the longer sequence.
pub(super) fn is_high(op: &OpRef<'_>) -> bool {
    [op.text("precision_mode"), op.text("precisionType")]
        .into_iter()
        .flatten()
        .any(|mode| mode != "DEFAULT" && mode != "default")
}

/// True if the platform has the longer sequence: units that work on memory have a single algorithm.
pub(super) fn on(op: &OpRef<'_>, platform: &Platform) -> bool {
    platform.can(Capability::HighPrecision) && is_high(op)
}

/// Restricts high precision to these float types, and requires a single attribute.
pub(super) fn verify(op: &OpRef<'_>, elems: &[Elem], diags: &mut Diags) {
    if let (Some(a), Some(b)) = (op.text("precision_mode"), op.text("precisionType"))
        && !a.eq_ignore_ascii_case(b)
    {
        diags.push(op.error("attribute", format!("`precision_mode` says {a}, `precisionType` says {b}")));
    }
    let Some(elem) = op.ty("dst").and_then(Type::elem) else { return };
    if is_high(op) && !elems.contains(&elem) {
        let names: Vec<&str> = elems.iter().map(|elem| elem.name()).collect();
        let message = format!("`HIGH_PRECISION` works on {}, not on {elem}", names.join(", "));
        diags.push(op.error("tile-elem", message).label(format!("`dst` has `{elem}`")));
    }
}

/// Elementwise numbers, with high precision for floats of half and single precision.
pub(super) fn numbers(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::numbers(op, platform, diags);
    verify(op, HALF_AND_SINGLE, diags);
}

/// Elementwise floats, with high precision for floats of half and single precision.
pub(super) fn floats(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::floats(op, platform, diags);
    verify(op, HALF_AND_SINGLE, diags);
}

/// Requires working memory for the longer sequence where assembler 0.60 has an operand for it, and the text has the
/// assembler's attribute: the SPEC has no such operand.
pub(super) fn in_memory(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let of_assembler = op.text("precisionType").is_some();
    if of_assembler && on(op, platform) && op.operand("tmp").is_none() {
        diags.push(
            op.error("operand-count", format!("expects tmp where `{}` is of high precision", op.def.schema.name))
                .help("give it a tile of the type of dst to work in"),
        );
    }
}

/// The types with high precision, of all ops but powers.
pub(super) const HALF_AND_SINGLE: &[Elem] = &[Elem::F16, Elem::F32];
