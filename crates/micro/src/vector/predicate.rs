//! Predicates from patterns and counts (micro-instruction manual, predicate generation).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax, Touch, Type};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::Elem;
use slipring_vector::{BYTES, Mask};

use super::emit::Emit;
use super::{MASK, STEP};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::positional;
use slipring_op::rules::{INTEGER, operand, required, result, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &PSET_B8, &PSET_B16, &PSET_B32, &PGE_B8, &PGE_B16, &PGE_B32, &PLT_B8, &PLT_B16, &PLT_B32, &PLTM_B8, &PLTM_B16,
    &PLTM_B32,
];

const PSET: OpSchema = schema(
    "",
    Syntax::Format("$pattern attr-dict `:` type($out)"),
    &[],
    &[result("out", MASK, Infer::Written, "the predicate")],
    &[required("pattern", AttrKind::Str, "which lanes are active")],
);

const BASE: OpDef = OpDef {
    summary: "A predicate from a pattern",
    doc: "`PAT_ALL` all lanes, `PAT_ALLF` none, `PAT_VLn` the first n (1 to 128, all where there are fewer), `PAT_H` the lower half, \
          `PAT_Q` the lowest quarter, `PAT_M3` and `PAT_M4` every third and every fourth from lane 0 on. The manual describes `PAT_H` \
          and `PAT_Q` as upper parts; the published results are the lower ones. \
          A predicate has 256 bits, one for each byte of a register. The lowest bit of an active lane is set, its others are not.",
    source: "micro-instruction manual, predicate generation",
    verify: verify_pattern,
    lower: pset,
    ..STEP
};

static PSET_B8: OpDef = OpDef { schema: OpSchema { name: "pto.pset_b8", ..PSET }, ..BASE };
static PSET_B16: OpDef = OpDef { schema: OpSchema { name: "pto.pset_b16", ..PSET }, ..BASE };
static PSET_B32: OpDef = OpDef { schema: OpSchema { name: "pto.pset_b32", ..PSET }, ..BASE };

const PREFIX: OpDef = OpDef { summary: "A predicate from a pattern, meant for tails", ..BASE };

static PGE_B8: OpDef = OpDef { schema: OpSchema { name: "pto.pge_b8", ..PSET }, ..PREFIX };
static PGE_B16: OpDef = OpDef { schema: OpSchema { name: "pto.pge_b16", ..PSET }, ..PREFIX };
static PGE_B32: OpDef = OpDef { schema: OpSchema { name: "pto.pge_b32", ..PSET }, ..PREFIX };

fn verify_pattern(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    named_lanes(op, diags);
    if pattern(op, 1).is_none() {
        let name = op.text("pattern").unwrap_or("");
        diags.push(
            op.error("pattern", format!("no pattern of lanes is called `{name}`"))
                .help("one of PAT_ALL, PAT_ALLF, PAT_H, PAT_Q, PAT_M3, PAT_M4, PAT_VL1 … PAT_VL128"),
        );
    }
}

/// The lane width in bytes from the suffix of the op's name, such as 2 for `_b16`.
pub(super) fn lane_bytes(op: &OpRef<'_>) -> Option<usize> {
    let (_, bits) = op.def.schema.name.rsplit_once("_b")?;
    bits.parse::<usize>().ok().map(|bits| bits / 8)
}

/// Requires every predicate of the op to have the granularity in its name.
pub(super) fn named_lanes(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(bytes) = lane_bytes(op) else { return };
    let data = op.module.op(op.id);
    let mut types = data.operands.iter().chain(&data.results).map(|v| op.module.ty(*v));
    if let Some(other) = types.find(|t| matches!(t, Type::Mask(bits) if usize::from(*bits) != 8 * bytes)) {
        let name = op.def.schema.name;
        diags.push(op.error("mask-width", format!("`{name}` works on `!pto.mask<b{}>`, not on `{other}`", 8 * bytes)));
    }
}

/// The predicate of the op's pattern, for lanes of so many bytes.
fn pattern(op: &OpRef<'_>, bytes: usize) -> Option<Mask> {
    let lanes = BYTES / bytes;
    Some(match op.text("pattern")?.strip_prefix("PAT_")? {
        "ALL" => Mask::full(bytes),
        "ALLF" => Mask::default(),
        "H" => Mask::first(lanes / 2, bytes),
        "Q" => Mask::first(lanes / 4, bytes),
        "M3" => Mask::from_fn(bytes, |i| i % 3 == 0),
        "M4" => Mask::from_fn(bytes, |i| i % 4 == 0),
        other => {
            let count = other.strip_prefix("VL")?;
            let lanes = (1..=128).find(|n: &usize| n.to_string() == count)?;
            Mask::first(lanes, bytes)
        }
    })
}

fn pset(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mask = lane_bytes(op).and_then(|bytes| pattern(op, bytes)).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let out = e.out(0);
    e.compute(VectorPort::Alu, Elem::U8, move |m, _| {
        m.set_mask(out, mask);
    })
}

const PLT: OpSchema = schema(
    "",
    positional!("count" => "out" "rest"),
    &[operand("count", INTEGER, Touch::Nothing, "lanes still to do")],
    &[
        result("out", MASK, Infer::Written, "the first `count` lanes"),
        result("rest", INTEGER, Infer::SameAs(0), "`count` less the lanes of a register, at least 0"),
    ],
    &[],
);

const TAIL: OpDef = OpDef {
    summary: "A predicate of the lanes that are left",
    doc: "The first `count` lanes are active, all of them where `count` is larger; a count below 1 activates none. `rest` is what \
          remains for the next register (256, 128 or 64 lanes): a loop carries it and needs no special case for its tail.",
    source: "micro-instruction manual, predicate generation",
    verify: |op, _, diags| named_lanes(op, diags),
    lower: plt,
    ..STEP
};

static PLT_B8: OpDef = OpDef { schema: OpSchema { name: "pto.plt_b8", ..PLT }, ..TAIL };
static PLT_B16: OpDef = OpDef { schema: OpSchema { name: "pto.plt_b16", ..PLT }, ..TAIL };
static PLT_B32: OpDef = OpDef { schema: OpSchema { name: "pto.plt_b32", ..PLT }, ..TAIL };

fn plt(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let bytes = lane_bytes(op).ok_or(Reported)?;
    let lanes = (BYTES / bytes) as u64;
    let mut e = Emit::new(op, d);
    let count = e.number("count")?;
    let out = e.out(0);
    e.out_number(1);
    e.step(VectorPort::Alu, Elem::U8, move |m, args| {
        let count = (args[count] as i64).max(0) as u64;
        m.set_mask(out, Mask::first(count.min(lanes) as usize, bytes));
        Ok(count.saturating_sub(lanes))
    })
}

const PLTM: OpSchema = schema(
    "",
    Syntax::Format("$loop `,` $bound attr-dict `:` type($loop) `,` type($bound) `->` type($out)"),
    &[
        operand("loop", INTEGER, Touch::Nothing, "registers that came before"),
        operand("bound", INTEGER, Touch::Nothing, "lanes of all registers together"),
    ],
    &[result("out", MASK, Infer::Written, "the lanes of this register that are below the bound")],
    &[],
);

const INDEXED: OpDef = OpDef {
    summary: "A predicate of the lanes below a bound",
    doc: "Lane `i` is active where `i + loop × n` is below `bound`, n being the lanes of a register (256, 128 or 64). Nothing is \
          carried: the loop counts.",
    source: "micro-instruction manual of assembler 0.60, 5",
    verify: |op, _, diags| named_lanes(op, diags),
    lower: pltm,
    ..STEP
};

static PLTM_B8: OpDef = OpDef { schema: OpSchema { name: "pto.pltm_b8", ..PLTM }, ..INDEXED };
static PLTM_B16: OpDef = OpDef { schema: OpSchema { name: "pto.pltm_b16", ..PLTM }, ..INDEXED };
static PLTM_B32: OpDef = OpDef { schema: OpSchema { name: "pto.pltm_b32", ..PLTM }, ..INDEXED };

fn pltm(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let bytes = lane_bytes(op).ok_or(Reported)?;
    let lanes = (BYTES / bytes) as i64;
    let mut e = Emit::new(op, d);
    let (round, bound) = (e.number("loop")?, e.number("bound")?);
    let out = e.out(0);
    e.compute(VectorPort::Alu, Elem::U8, move |m, args| {
        let before = (args[round] as i64).saturating_mul(lanes);
        let left = (args[bound] as i64).saturating_sub(before).clamp(0, lanes);
        m.set_mask(out, Mask::first(left as usize, bytes));
    })
}
