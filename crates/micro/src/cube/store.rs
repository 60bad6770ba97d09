//! Accumulator stores: `pto.mte_l0c_gm`, `pto.mte_l0c_l1`, `pto.mte_l0c_ub`.

use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, OperandSpec, Sign, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Pipe, Platform};
use slipring_program::{Operand, UpdateKind};
use slipring_tile::convert::Saturation;
use slipring_tile::{Elem, Space, load_f32};

use super::super::clauses::{Clause, ClauseText, Count, Part};
use super::super::memory::{GM, L0C, L1, UB, ends, given, given_or};
use super::control::CONTROL;
use super::quant::{QUANT_PRE, QuantMode, quant_mode};
use slipring_effect::{Fixpipe, FixpipeArgs, Form, Narrow, Payload, Quant, QuantTo, Relu, Split, Whose};
use slipring_op::decode::Decoder;
use slipring_op::decode::{CHECK_ONLY, UNIT_FLAG, with_unit_flag};
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, PLAIN, SCALAR, constant, defaulted, joined, operand, optional};

const UNIT_FLAG_MODE: &EnumSpec =
    &EnumSpec { kind: UNIT_FLAG, numbered: false, members: &[CHECK_ONLY, "check_and_clear"] };
const RELU_PRE: &EnumSpec = &EnumSpec {
    kind: "relu_pre_mode",
    numbered: false,
    members: &["no_relu", "normal_relu", "scalar_relu", "vector_relu"],
};
const PRESERVE_NAN: &EnumSpec = &EnumSpec { kind: "sat_mode", numbered: false, members: &["preserve_nan"] };
const ATOMIC_TYPE: &EnumSpec =
    &EnumSpec { kind: "atomic_type", numbered: false, members: &["f32", "f16", "bf16", "s32", "s16", "s8"] };
const ATOMIC_OP: &EnumSpec = &EnumSpec { kind: "atomic_op", numbered: false, members: &["add", "max", "min"] };
const DST_MODE: &EnumSpec = &EnumSpec { kind: "dst_mode", numbered: false, members: &["split_m", "split_n"] };

const UNIT_FLAG_CLAUSE: Clause = Clause::choice(UNIT_FLAG, &[Part::Word(UNIT_FLAG, UNIT_FLAG_MODE)]);
const QUANT_CLAUSE: Clause =
    Clause::choice("pre_quant", &[Part::Value, Part::NamedWord("mode", "quant_pre", QUANT_PRE)]);
const RELU_CLAUSE: Clause =
    Clause::choice("pre_relu", &[Part::Maybe, Part::NamedWord("mode", "relu_pre", RELU_PRE), Part::Named("clip")]);
const DN_CLAUSE: Clause = Clause::choice("nz2dn", &[Part::Value]);
const NZ_CLAUSE: Clause = Clause { parts: &[Part::Maybe], ..Clause::flag("nz2nz") };
const LOOP3_CLAUSE: Clause = Clause::choice("loop3", &[Part::Value, Part::Value, Part::Value]);
const SAT_CLAUSE: Clause = Clause { parts: &[Part::Word("sat_mode", PRESERVE_NAN)], ..Clause::flag("sat") };
const ATOMIC_CLAUSE: Clause = Clause::choice(
    "atomic",
    &[Part::NamedWord("type", "atomic_type", ATOMIC_TYPE), Part::NamedWord("op", "atomic_op", ATOMIC_OP)],
);
const DST_MODE_CLAUSE: Clause =
    Clause { count: Count::Once, ..Clause::choice("dst_mode", &[Part::Maybe, Part::Word("dst_mode", DST_MODE)]) };

const CLAUSES: &[Clause] = &[
    UNIT_FLAG_CLAUSE,
    QUANT_CLAUSE,
    RELU_CLAUSE,
    Clause::flag("nz2nd"),
    DN_CLAUSE,
    NZ_CLAUSE,
    LOOP3_CLAUSE,
    SAT_CLAUSE,
    Clause::flag("nosat"),
];

const PARAMETER: TypeRule = TypeRule {
    describe: "a float, or a pointer to f16, bf16 or f32 in `fb`",
    accepts: |t| match t {
        Type::Float(_) => true,
        Type::Ptr(elem, Some(Space::Scaling)) => matches!(elem, Elem::F16 | Elem::BF16 | Elem::F32),
        _ => false,
    },
};

const SRC: OperandSpec = operand("src", L0C, Touch::Read, "accumulator");
/// The size and the layout of the result.
const SIZES: &[OperandSpec] = &[
    operand("m", INTEGER, Touch::Nothing, "rows of the result"),
    operand("n", INTEGER, Touch::Nothing, "columns of the result"),
    operand(
        "src_stride",
        INTEGER,
        Touch::Nothing,
        "rows of the accumulator in a block of 16 columns: the rows of the product, padded to a multiple of 16",
    ),
    operand("dst_stride", INTEGER, Touch::Nothing, "elements of the destination from row (column, block) to row"),
];
/// The processing stages of the store.
const STAGES: &[OperandSpec] = &[
    optional("quant", PARAMETER, Touch::Read, "scale, or a table of parameters"),
    optional("alpha", PARAMETER, Touch::Read, "factor of negative values, or a table of them"),
    optional("clip", SCALAR, Touch::Nothing, "largest value"),
    optional(
        "loop0_src_stride",
        INTEGER,
        Touch::Nothing,
        "rows of the accumulator from one row of the result to the next",
    ),
    optional("split", INTEGER, Touch::Nothing, "1: blocks of 8 columns in the destination; 0: of 16"),
    optional("loop3_count", INTEGER, Touch::Nothing, "repetitions"),
    optional("loop3_src_stride", INTEGER, Touch::Nothing, "rows of the accumulator between repetitions"),
    optional("loop3_dst_stride", INTEGER, Touch::Nothing, "elements of the destination between repetitions"),
];

const ATTRS: &[AttrSpec] = &[
    defaulted(UNIT_FLAG, AttrKind::Enum(UNIT_FLAG_MODE), "part in the synchronisation of accumulator tiles"),
    defaulted("quant_pre", AttrKind::Enum(QUANT_PRE), "first step: scale and target"),
    defaulted("relu_pre", AttrKind::Enum(RELU_PRE), "second step: activation"),
    defaulted("nz2nd", AttrKind::Unit, "rows in the destination"),
    defaulted("nz2nz", AttrKind::Unit, "blocks in the destination"),
    defaulted("sat", AttrKind::Unit, "what a narrower float cannot hold becomes its largest value"),
    defaulted("sat_mode", AttrKind::Enum(PRESERVE_NAN), "NaN stays"),
    defaulted("nosat", AttrKind::Unit, "what a narrower float cannot hold becomes an infinity"),
];

const DOC: &str = "Writes m × n elements of the accumulator. Its fractals are 16 rows by 16 columns; `src_stride` is the number of \
     rows of a block of columns, as the public examples count it (the manual speaks of units of C0). For each element in \
     turn: `pre_quant` multiplies by a scale and, for integer results, rounds (ties to even) and adds an offset; `pre_relu` \
     makes negative values 0 or multiplies them; `clip` bounds them; the result is converted, integers clamped to their \
     type, narrow floats as `sat` or `nosat` say, or bit 48 of the control register where neither is there. f32 to f16 or \
     bf16 needs no `pre_quant`. A table in `fb` has 8 bytes for each column to scale by (bits 13 to 31 those of an f32, 37 \
     to 45 an offset, 46 set where results of 8 bits are signed; wider ones always are) or an f32 for each column as factor. `nz2nd` writes rows, \
     `nz2dn` columns; without them blocks of 16 columns (32 of 8-bit elements) follow each other `dst_stride` elements \
     apart, with `nz2nz(1)` blocks of 8 (`nz2nz` alone is `nz2nz(0)`). `loop3` repeats everything. `unit_flag` orders the store after \
     what published the accumulator tile; like cache hints it changes no value.";

const FIX: OpDef = OpDef {
    doc: DOC,
    source: "micro-instruction manual 16, FIXPIPE MTE Ops; public examples for units and tables",
    core: CoreRule::Cube,
    pipe: PipeRule::Fixed(Pipe::Fix),
    update: |op| match op.text("atomic_op")? {
        "add" => Some(UpdateKind::Add),
        "max" => Some(UpdateKind::Max),
        _ => Some(UpdateKind::Min),
    },
    verify: |op, _, diags| verify(op, diags),
    lower,
    ..PLAIN
};

ops! {
    OPS;

    L0C_GM "pto.mte_l0c_gm" "Write the accumulator to global memory": FIX, verify: verify_l0c_gm
        => {
            syntax: Syntax::Custom(&ClauseText {
                lead: 8,
                commas: true, ordered: true,
                clauses: &joined::<_, 10>(&[CLAUSES, &[ATOMIC_CLAUSE]]),
            }),
            operands: &joined::<_, 16>(&[
                &[SRC, operand("dst", GM, Touch::Write, "first element in global memory")],
                SIZES,
                &[
                    operand("sid", INTEGER, Touch::Nothing, "hint for the memory system, 0 to 3; changes nothing here"),
                    operand(
                        "l2_cache_ctrl",
                        INTEGER,
                        Touch::Nothing,
                        "hint for the cache, 0 to 15; changes nothing here",
                    ),
                ],
                STAGES,
            ]),
            attrs: &joined::<_, 10>(&[
                ATTRS,
                &[
                    defaulted("atomic_type", AttrKind::Enum(ATOMIC_TYPE), "element type of an update"),
                    defaulted(
                        "atomic_op",
                        AttrKind::Enum(ATOMIC_OP),
                        "add to the destination, or keep the larger or smaller",
                    ),
                ],
            ]),
        };

    L0C_L1 "pto.mte_l0c_l1" "Write the accumulator to L1": FIX
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 6, commas: true, ordered: true, clauses: CLAUSES }),
            operands: &joined::<_, 14>(&[
                &[SRC, operand("dst", L1, Touch::Write, "first element in L1, a multiple of 32 bytes")],
                SIZES,
                STAGES,
            ]),
            attrs: ATTRS,
        };

    L0C_UB "pto.mte_l0c_ub" "Write the accumulator to the Vector cores' UB": FIX, verify: verify_l0c_ub
        => {
            syntax: Syntax::Custom(&ClauseText {
                lead: 6,
                commas: true, ordered: true,
                clauses: &joined::<_, 10>(&[&[DST_MODE_CLAUSE], CLAUSES]),
            }),
            operands: &joined::<_, 15>(&[
                &[SRC, operand("dst", UB, Touch::Write, "first element in UB, a multiple of 32 bytes")],
                SIZES,
                &[optional("sub_blockid", INTEGER, Touch::Nothing, "the Vector core, 0 or 1")],
                STAGES,
            ]),
            attrs: &joined::<_, 9>(&[
                &[defaulted("dst_mode", AttrKind::Enum(DST_MODE), "halves of rows or columns to both Vector cores")],
                ATTRS,
            ]),
        };
}

fn verify_l0c_gm(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    for (name, most) in [("sid", 3), ("l2_cache_ctrl", 15)] {
        let value = op.operand(name).and_then(|value| constant(op.module, value));
        if value.is_some_and(|value| !(0..=most).contains(&value)) {
            diags.push(op.error("fixpipe-hint", format!("expects {name} between 0 and {most}")));
        }
    }
    verify(op, diags);
}

fn verify_l0c_ub(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if op.operand("sub_blockid").is_some() == op.attr("dst_mode").is_some() {
        diags.push(op.error("fixpipe-mode", "expects a Vector core, `split_m` or `split_n` in `dst_mode`"));
    }
    let known = |name: &str| op.operand(name).and_then(|value| constant(op.module, value));
    if known("sub_blockid").is_some_and(|core| !(0..=1).contains(&core)) {
        diags.push(op.error("fixpipe-mode", "expects the Vector core in `dst_mode` to be 0 or 1"));
    }
    let divided = match op.text("dst_mode") {
        Some("split_m") => Some(("split_m", "m", 2)),
        Some(_) => Some(("split_n", "n", 32)),
        None => None,
    };
    if let Some((mode, name, unit)) = divided
        && let Some(extent) = known(name)
        && extent % unit != 0
    {
        diags.push(
            op.error("fixpipe-mode", format!("expects {name} to be a multiple of {unit} for `{mode}`, not {extent}")),
        );
    }
    let transform = op.attr("quant_pre").or(op.attr("relu_pre")).is_some()
        || op.operand("loop0_src_stride").is_some()
        || in_blocks(op);
    if op.attr("dst_mode").is_some() && transform {
        diags.push(
            op.error("fixpipe-mode", "expects neither pre_quant, pre_relu, nz2dn nor nz2nz where the result is split"),
        );
    }
    verify(op, diags);
}

fn verify(op: &OpRef<'_>, diags: &mut Diags) {
    let (Some(from), Some(to)) = (op.ty("src").and_then(Type::elem), op.ty("dst").and_then(Type::elem)) else { return };
    let mut wrong = |code, text: String| diags.push(op.error(code, text));
    let table = |name| op.ty(name).map(|ty| matches!(ty, Type::Ptr(..)));
    match op.text("quant_pre").and_then(|name| quant_mode(name).map(|mode| (name, mode))) {
        Some((name, QuantMode { from: source, to: targets, table: wants, .. })) => {
            if from != source {
                wrong("quant-type", format!("expects an accumulator of {source} for `{name}`, not of {from}"));
            }
            if !targets.is_empty() && !targets.contains(&to) {
                let names: Vec<_> = targets.iter().map(|elem| elem.name()).collect();
                wrong(
                    "quant-type",
                    format!("expects a destination of {} for `{name}`, not of {to}", names.join(" or ")),
                );
            }
            if table("quant") != Some(wants) {
                let what = if wants { "a pointer into `fb`" } else { "a float" };
                wrong("quant-payload", format!("expects {what} as payload of `{name}`"));
            }
        }
        None => {
            let same = matches!((from, to), (Elem::F32, Elem::F32 | Elem::F16 | Elem::BF16) | (Elem::I32, Elem::I32));
            if !same {
                wrong("acc-type", format!("expects `pre_quant` to make {to} of an accumulator of {from}"));
            }
        }
    }
    let (payload, mode) = (table("alpha"), op.text("relu_pre").unwrap_or("no_relu"));
    let wants = match mode {
        "scalar_relu" => Some(false),
        "vector_relu" => Some(true),
        _ => None,
    };
    if payload != wants {
        let what = ["no payload", "a float as payload", "a pointer into `fb` as payload"];
        let what = what[wants.map_or(0, |table| 1 + usize::from(table))];
        wrong("relu-payload", format!("expects {what} of `{mode}`"));
    }
    if let Some(clip) = op.ty("clip") {
        let (fine, expected) = match (to, clip) {
            (Elem::F16, clip) => (*clip == Type::Float(Elem::F16), "one of f16"),
            (Elem::U8, Type::Int { width, sign }) => (*width == 16 && *sign != Sign::Signed, "one of i16 or ui16"),
            (Elem::U8, _) => (false, "one of i16 or ui16"),
            (Elem::I8 | Elem::I16, Type::Int { width, sign }) => {
                (matches!(width, 4 | 8 | 16) && *sign != Sign::Unsigned, "a signed one of 4, 8 or 16 bits")
            }
            (Elem::I8 | Elem::I16, _) => (false, "a signed one of 4, 8 or 16 bits"),
            _ => (false, "none"),
        };
        if !fine {
            let message = format!("expects no `clip` of type {clip} for a destination of {to}, but {expected}");
            wrong("fixpipe-clip", message);
        }
    }
    let layouts = [op.attr("nz2nd").is_some(), op.operand("loop0_src_stride").is_some(), in_blocks(op)];
    if layouts.iter().filter(|there| **there).count() > 1 {
        wrong("fixpipe-layout", "expects at most one of `nz2nd`, `nz2dn` and `nz2nz`".to_string());
    }
    if layouts[2] && (to != Elem::F32 || op.operand("loop3_count").is_some()) {
        wrong("fixpipe-layout", "expects an f32 destination and no `loop3` for `nz2nz`".to_string());
    }
    let loop0 = op.operand("loop0_src_stride").and_then(|value| constant(op.module, value));
    if op.attr(UNIT_FLAG).is_some() && loop0.is_some_and(|stride| stride != 1) {
        wrong("fixpipe-unit-flag", "expects no `unit_flag` where the stride of `nz2dn` is not 1".to_string());
    }
    if op.attr("sat").is_some() && op.attr("nosat").is_some() {
        wrong("fixpipe-sat", "expects at most one of `sat` and `nosat`".to_string());
    }
    if op.attr("sat_mode").is_some() && op.attr("sat").is_none() {
        wrong("fixpipe-sat", "expects `sat_mode` beside `sat` only".to_string());
    }
    if let Some(name) = op.text("atomic_type")
        && atomic_elem(name) != Some(to)
    {
        wrong("atomic-type", format!("expects `atomic` of the destination's type {to}, not of {name}"));
    }
}

/// The element type of an `atomic` member such as `s32` or `f16`.
fn atomic_elem(name: &str) -> Option<Elem> {
    match name.strip_prefix('s') {
        Some(bits) => Elem::parse(&format!("i{bits}")),
        None => Elem::parse(name),
    }
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    let quant = match op.text("quant_pre").and_then(|name| quant_mode(name).map(|mode| (name, mode))) {
        Some((name, mode)) if mode.to.is_empty() => {
            let why = if name.contains("hybrid") {
                "whose rounding no public source gives,"
            } else {
                "whose results of 4 bits no element type of the text holds,"
            };
            return Err(d.unsupported(&format!("`{name}`, {why}")));
        }
        Some((_, mode)) => {
            let scale = if mode.table { Payload::Table } else { Payload::Scalar };
            let to = if to.elem.is_float() { QuantTo::Float } else { QuantTo::Integer };
            Some(Quant { scale: mode.scaled.then_some(scale), half: mode.half, to })
        }
        None => None,
    };
    let relu = match op.text("relu_pre") {
        Some("normal_relu") => Relu::Zero,
        Some("scalar_relu") => Relu::Factor(Payload::Scalar),
        Some("vector_relu") => Relu::Factor(Payload::Table),
        _ => Relu::None,
    };
    let narrow = match (op.attr("sat"), op.attr("sat_mode"), op.attr("nosat")) {
        (Some(_), Some(_), _) => Narrow::Always(Saturation::KeepNan),
        (Some(_), None, _) => Narrow::Always(Saturation::On),
        (None, _, Some(_)) => Narrow::Always(Saturation::Off),
        (None, _, None) => Narrow::Control,
    };
    let asks = narrow == Narrow::Control && to.elem.is_float() && to.elem != Elem::F32;
    let mut args = FixpipeArgs {
        from: from.addr,
        to: to.addr,
        m: given(op, d, "m")?,
        n: given(op, d, "n")?,
        from_stride: given(op, d, "src_stride")?,
        to_stride: given(op, d, "dst_stride")?,
        row_step: given_or(op, d, "loop0_src_stride", 1)?,
        count: given_or(op, d, "loop3_count", 1)?,
        from_step: given_or(op, d, "loop3_src_stride", 0)?,
        to_step: given_or(op, d, "loop3_dst_stride", 0)?,
        scale: parameter(op, d, "quant")?,
        factor: parameter(op, d, "alpha")?,
        most: bound(op, d, to.elem)?,
        control: if asks { Operand::Reg(d.register(CONTROL)) } else { Operand::Imm(0) },
    }
    .list();
    let mut end = to.end(d);
    let split = match op.text("dst_mode") {
        Some("split_m") => Split::Rows,
        Some(_) => Split::Columns,
        None => Split::None,
    };
    if to.space == Space::Vec && split == Split::None {
        args.push(given_or(op, d, "sub_blockid", 0)?);
        end.whose = Whose::Argument;
    }
    let effect = Fixpipe {
        from: from.elem,
        to: end,
        elem: to.elem,
        form: form(op, d, to.elem)?,
        split,
        quant,
        relu,
        clip: op.operand("clip").is_some(),
        narrow,
        atomic: op.update(),
    };
    let cost = d.platform.dma_cost(Space::Acc, to.space);
    with_unit_flag(op, d, Pipe::Fix, from.addr, |d| d.issue(Pipe::Fix, effect, args, cost));
    Ok(())
}

/// True for a result in blocks: the split may be left out, which is 0.
fn in_blocks(op: &OpRef<'_>) -> bool {
    op.attr("nz2nz").is_some() || op.operand("split").is_some()
}

fn form(op: &OpRef<'_>, d: &mut Decoder<'_>, elem: Elem) -> Result<Form, Reported> {
    if op.attr("nz2nd").is_some() {
        return Ok(Form::Rows);
    }
    if op.operand("loop0_src_stride").is_some() {
        return Ok(Form::Columns);
    }
    let Some(split) = op.operand("split") else { return Ok(Form::Blocks(if elem.bytes() == 1 { 32 } else { 16 })) };
    match constant(op.module, split) {
        Some(0) => Ok(Form::Blocks(16)),
        Some(1) => Ok(Form::Blocks(8)),
        _ => Err(d.unsupported("`nz2nz` with a split that is not the constant 0 or 1")),
    }
}

/// The bound of `clip` as the bits of an `f32`: a number without sign where the destination's elements have none.
fn bound(op: &OpRef<'_>, d: &mut Decoder<'_>, to: Elem) -> Result<Operand, Reported> {
    match op.operand("clip") {
        Some(value) if to == Elem::U8 => {
            let args = [d.scalar(value)?, Operand::Imm(0), Operand::Imm(0)];
            Ok(d.compute(|[x, ..]| Ok(f32::from(x as u16).to_bits().into()), args))
        }
        _ => parameter(op, d, "clip"),
    }
}

/// A scale, factor or bound as the bits of an `f32`, or the address of a table.
fn parameter(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str) -> Result<Operand, Reported> {
    let Some(value) = op.operand(name) else { return Ok(Operand::Imm(0)) };
    let bits = d.scalar(value)?;
    let args = [bits, Operand::Imm(0), Operand::Imm(0)];
    Ok(match op.module.ty(value) {
        Type::Float(Elem::F16) => d.compute(|[x, ..]| Ok(widened(Elem::F16, x)), args),
        Type::Float(Elem::BF16) => d.compute(|[x, ..]| Ok(widened(Elem::BF16, x)), args),
        Type::Float(Elem::F32) | Type::Ptr(..) => bits,
        Type::Int { .. } | Type::Index => d.compute(|[x, ..]| Ok((x as i64 as f32).to_bits().into()), args),
        _ => return Err(d.unsupported("a parameter of this type")),
    })
}

fn widened(elem: Elem, bits: u64) -> u64 {
    let mut wide = [0.0];
    load_f32(elem, &bits.to_le_bytes()[..2], &mut wide);
    wide[0].to_bits().into()
}
