//! Conversion between element types (PTO IR manual 4.12, `pto.tpack` of 4.3).

use slipring_ir::{Attr, AttrKind, Diags, EnumSpec, Type};
use slipring_machine::interpretations::LIBRARY_SATURATION;
use slipring_machine::{Capability, Platform};
use slipring_op::{WorkingForm, WorkingMemory, WorkingUse, ops};
use slipring_tile::convert::{Saturation, round_integral};
use slipring_tile::{Cast, Elem, RoundMode, Unary, unary};

use super::check::{self, ANY_ELEM, Needs};
use super::lower::{Operands, of_sources};
use super::{DST, EACH, ONE, SRC, TMP, ins, tiles, types};
use slipring_effect::vector::{Input, Spread, unsigned};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{defaulted, schema};

use crate::vector::working::converted;

/// `#pto<round_mode …>`.
const ROUND_MODE: &EnumSpec = &EnumSpec {
    kind: "round_mode",
    numbered: false,
    members: &["NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD", "CAST_RINT"],
};

/// `#pto<saturation_mode …>`.
const SATURATION_MODE: &EnumSpec = &EnumSpec { kind: "saturation_mode", numbered: false, members: &["OFF", "ON"] };

/// The attribute that says whether a conversion saturates.
const SATURATION: &str = "satmode";

pub static TCVT: OpDef = OpDef {
    schema: schema(
        "pto.tcvt",
        ins(2),
        &[SRC, TMP, DST],
        &[],
        &[
            defaulted("rmode", AttrKind::Enum(ROUND_MODE), "rounding; `CAST_RINT` by default"),
            defaulted(SATURATION, AttrKind::Enum(SATURATION_MODE), "saturation; `OFF` by default"),
            defaulted("sat_mode", AttrKind::Enum(SATURATION_MODE), "another spelling of `satmode`"),
        ],
    )
    .in_generic_form(&["src", "dst", "tmp"]),
    summary: "Convert to another element type",
    doc: shape_doc!(
        "`dst[i, j] = src[i, j]` in the type of `dst`, rounded once. `RINT` and `CAST_RINT` round to the nearest, ties to even; \
          `ROUND` to the nearest, ties away from zero; `FLOOR` down; `CEIL` up; `TRUNC` towards zero; `ODD` to the neighbour \
          whose last bit is 1; `NONE` truncates floats to integers and otherwise rounds as `RINT`. From f32 to f32 elements \
          are rounded to integral values. NaN becomes 0 as an integer, and stays NaN as a float that has one (else +0). With `satmode = ON` results beyond \
          the range of `dst`, infinities too, become its largest or smallest value; an f32 overflows nowhere. With `OFF` \
          overflow gives a float's infinity (NaN where it has only that), and the largest finite value in modes that round \
          towards zero there: `TRUNC` and `ODD` always, `FLOOR` for positive, `CEIL` for negative numbers. Integers keep \
          their low bits with `OFF`; a float on its way to 16 or 8 bits is clamped to i32 first, to 32 bits to i64; to 64 bits it saturates in any case. \
          `OFF` is the default."
    ),
    source: "PTO IR manual 4.12; tile ISA, TCVT",
    verify: verify_convert,
    lower: lower_convert,
    elems: types::CONVERTED,
    class: "convert",
    library_memory: |op| keeps_low_bits(op) && op.operand("tmp").is_none(),
    working: LOW_BITS,
    ..EACH
};

/// True for a conversion of a float to fewer bits that keeps the low ones when it overflows.
pub(super) fn keeps_low_bits(op: &OpRef<'_>) -> bool {
    let elem = |name| op.ty(name).and_then(Type::elem).unwrap_or(Elem::F32);
    let (from, to) = (elem("src"), elem("dst"));
    matches!(to, Elem::I8 | Elem::U8 | Elem::I16) && from.is_float() && !saturates(op)
}

/// True for a conversion from f32 that rounds like the accumulator store: to nearest, ties to even, with floats
/// overflowing to infinity.
pub fn rounds_like_the_accumulator(op: &OpRef<'_>) -> bool {
    let elem = |name| op.ty(name).and_then(Type::elem);
    op.def == &TCVT
        && (elem("src"), op.operand("tmp")) == (Some(Elem::F32), None)
        && matches!(elem("dst"), Some(Elem::F16 | Elem::BF16))
        && matches!(op.text("rmode"), None | Some("RINT" | "CAST_RINT"))
        && !saturates(op)
}

/// Conversions of short floats that units that work on registers support (library, `TCvt`; verifier of assembler 0.60).
const SHORT_PAIRS: &[(Elem, &[Elem])] =
    &[(Elem::F8E4M3, &[Elem::F32]), (Elem::F8E5M2, &[Elem::F32]), (Elem::HiF8, &[Elem::F32, Elem::F16])];

/// Reports conversions of short floats for which the unit has no instruction.
fn short_pairs(op: &OpRef<'_>, from: Elem, to: Elem, diags: &mut Diags) {
    let others = |elem: Elem| SHORT_PAIRS.iter().find(|(short, _)| *short == elem).map(|(_, others)| *others);
    // hif8 is only converted from f16, and not back.
    let fine = match (others(from), others(to)) {
        (None, None) => true,
        (None, Some(others)) => others.contains(&from),
        (Some(_), _) => to == Elem::F32,
    };
    if !fine {
        diags.push(
            op.error("tile-elem", format!("no instruction converts {from} to {to}"))
                .help("convert by way of f32: it goes to all short floats, and they go to it"),
        );
    }
}

fn verify_convert(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    if platform.can(Capability::RegisterTypes)
        && let (Some(from), Some(to)) = (op.ty("src").and_then(Type::elem), op.ty("dst").and_then(Type::elem))
    {
        short_pairs(op, from, to, diags);
    }
    if op.text("sat_mode").zip(op.text(SATURATION)).is_some_and(|(a, b)| a != b) {
        diags.push(op.error("attribute", "`sat_mode` and `satmode` say different things"));
    }
    let (Some(src), Some(dst)) = (op.tile("src"), op.tile("dst")) else { return };
    if let Some(packed) = [src, dst].into_iter().find(|tile| tile.layout.elem.values() > 1) {
        diags.push(op.error("tile-elem", format!("expects unpacked elements, not {}", packed.layout.elem)));
        return;
    }
    if (src.layout.rows, src.layout.cols) != (dst.layout.rows, dst.layout.cols) {
        diags.push(op.error("tile-shape", "expects src and dst to have compatible shapes").label(format!(
            "`src` is {} x {}, `dst` {} x {}",
            src.layout.rows, src.layout.cols, dst.layout.rows, dst.layout.cols
        )));
    } else if src.valid.iter().zip(&dst.valid).any(|(s, d)| s.known().is_some() && d.known().is_some() && s != d) {
        diags.push(op.error("tile-valid", "expects src and dst to have the same valid_shape"));
    }
}

fn round_mode(op: &OpRef<'_>, truncates: bool) -> RoundMode {
    match op.text("rmode") {
        Some("ROUND") => RoundMode::Round,
        Some("FLOOR") => RoundMode::Floor,
        Some("CEIL") => RoundMode::Ceil,
        Some("TRUNC") => RoundMode::Trunc,
        Some("ODD") => RoundMode::Odd,
        Some("NONE") if truncates => RoundMode::Trunc,
        _ => RoundMode::Rint,
    }
}

/// True if a conversion saturates, in either spelling: the default is `OFF`.
fn saturates(op: &OpRef<'_>) -> bool {
    op.text(SATURATION).or(op.text("sat_mode")) == Some("ON")
}

/// An attribute that says whether a conversion saturates.
pub fn saturation(on: bool) -> (&'static str, Attr) {
    (SATURATION, Attr::member(SATURATION_MODE.kind, if on { "ON" } else { "OFF" }))
}

/// True if the tile library saturates a conversion that is called without a mode (`TCVT_IMPL` of each platform), which
/// no assembler does. It does so for all types but the pairs listed here, and floats of 8 and 4 bits: for those it
/// leaves the control bits as they are (`SaturationCtrlTraits` of the A5), and the instruction asks for no saturation.
pub fn saturates_without_a_mode(from: Elem, to: Elem) -> bool {
    let keeps_low_bits = matches!(
        (from, to),
        (Elem::F32, Elem::I16)
            | (Elem::F16, Elem::I16 | Elem::I8 | Elem::U8)
            | (Elem::I64, Elem::I32)
            | (Elem::I32, Elem::I16)
    );
    !keeps_low_bits && !to.is_small_float()
}

fn lower_convert(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let elem = |name| op.ty(name).and_then(Type::elem).unwrap_or(Elem::F32);
    let (from, to) = (elem("src"), elem("dst"));
    let mode = round_mode(op, from.is_float() && !to.is_float());
    if (from, to) == (Elem::F32, Elem::F32) {
        return of_sources(op, d, integral(mode), ["src"]);
    }
    let saturation = match (saturates(op), to.is_float()) {
        (true, true) => Saturation::KeepNan,
        (true, false) => Saturation::On,
        (false, true) => Saturation::Off,
        (false, false) => Saturation::Words,
    };
    let (cast, other) = (Cast { mode, saturation }, library_default(op, d.platform, (from, to), mode));
    match other {
        Some(other) if d.platform.reads_otherwise(&LIBRARY_SATURATION) => copy(op, d, other, None),
        other => copy(op, d, cast, other),
    }
}

/// The conversion to integers that the library of a register-based unit chooses by itself, where the text gives no mode
/// and that is another one.
fn library_default(op: &OpRef<'_>, platform: &Platform, (from, to): (Elem, Elem), mode: RoundMode) -> Option<Cast> {
    let is_given = op.text(SATURATION).or(op.text("sat_mode")).is_some();
    let saturates = platform.can(Capability::RegisterTypes) && !to.is_float() && saturates_without_a_mode(from, to);
    (!is_given && saturates).then_some(Cast { mode, saturation: Saturation::On })
}

/// Rounding to integral values.
fn integral(mode: RoundMode) -> &'static Unary {
    static RINT: Unary = unary!(float: |a| round_integral(a, RoundMode::Rint));
    static ROUND: Unary = unary!(float: |a| round_integral(a, RoundMode::Round));
    static FLOOR: Unary = unary!(float: |a| round_integral(a, RoundMode::Floor));
    static CEIL: Unary = unary!(float: |a| round_integral(a, RoundMode::Ceil));
    static TRUNC: Unary = unary!(float: |a| round_integral(a, RoundMode::Trunc));
    static ODD: Unary = unary!(float: |a| round_integral(a, RoundMode::Odd));
    match mode {
        RoundMode::Rint => &RINT,
        RoundMode::Round => &ROUND,
        RoundMode::Floor => &FLOOR,
        RoundMode::Ceil => &CEIL,
        RoundMode::Trunc => &TRUNC,
        RoundMode::Odd => &ODD,
    }
}

fn copy(op: &OpRef<'_>, d: &mut Decoder<'_>, cast: Cast, other: Option<Cast>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let effect = Spread { local: operands.local, dst, input: Input::Tile(src), cast, other };
    operands.issue(d, effect)
}

ops! {
    OPS [&TCVT];

    /// `dst[i, j]` = the low bits of `src[i, j]`: from 32 to 16 or 8 bits, or from 16 to 8 bits, whatever the types.
    pub TPACK "pto.tpack" "Keep the low bits of each element (A5)" [shape_doc]: EACH.with(ONE),
        source: "PTO IR manual 4.3", verify: verify_tpack, lower: lower_tpack, elems: types::REGISTERS_ONLY,
        class: "convert", tiles: tiles::ONE;
}

fn verify_tpack(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::elem(op, "src", ANY_ELEM, diags);
    check::covers(op, "src", Needs::All, diags);
    let bytes = |name| op.ty(name).and_then(Type::elem).map(Elem::bytes);
    if let (Some(src), Some(dst)) = (bytes("src"), bytes("dst"))
        && !matches!((src, dst), (4, 2 | 1) | (2, 1))
    {
        diags.push(
            op.error("tile-elem", "expects element sizes of src and dst to be 4 and 2, 4 and 1 or 2 and 1 bytes")
                .label(format!("they are {src} and {dst} bytes")),
        );
    }
}

fn lower_tpack(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (mut src, mut dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    src.layout.elem = unsigned(src.layout.elem);
    dst.layout.elem = unsigned(dst.layout.elem);
    let effect = Spread { local: operands.local, dst, input: Input::Tile(src), cast: Cast::default(), other: None };
    operands.issue(d, effect)
}

/// `TCvt` for conversions that keep low bits (`NonSatTorch`).
pub(super) const LOW_BITS: WorkingMemory = WorkingMemory {
    memory: WorkingUse::Forms(&[WorkingForm { when: keeps_low_bits, spans: converted }]),
    registers: WorkingUse::Nothing,
};
