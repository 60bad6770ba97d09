//! Predicates of logical vectors (SPEC of virtual micro-instructions, group 8; assembler 0.60 for `pset`, `pge`, `plt`).

use slipring_ir::{Attr, AttrKind, Diags, Infer, Syntax, Touch, Type, TypeRule};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, counted, defaulted, operand, required, result};
use slipring_tile::Elem;

use super::{DECLARED, LOGICAL, PREDICATE, check};
use crate::vector::emit::Emit;

const OUT: slipring_ir::ResultSpec = result("out", PREDICATE, Infer::Written, "the predicate");
const I32: TypeRule = TypeRule { describe: "an `i32`", accepts: |t| *t == Type::I32 };
const GROUP: slipring_ir::AttrSpec =
    defaulted("group", AttrKind::Int, "number of equal groups of lanes, each with such a predicate");
ops! {
    OPS;

    /// The first `active` lanes: none if it is negative, all if there are no more.
    CREATE_MASK "pto.vmi.create_mask" "The first lanes": LOGICAL, lower: |op, d| first(op, d, "active", None)
        => {
            syntax: Syntax::Format("$active attr-dict `:` type($active) `->` type($out)"),
            operands: &[operand("active", INTEGER, Touch::Nothing, "number of active lanes")],
            results: &[OUT],
        };

    /// The first `active` lanes of each of `num_groups` groups.
    CREATE_GROUP_MASK "pto.vmi.create_group_mask" "The first lanes of each group": LOGICAL,
        verify: |op, _, diags| group_rules(op, diags), lower: |op, d| first(op, d, "active", op.int("num_groups"))
        => {
            syntax: Syntax::Format("$active attr-dict `:` type($active) `->` type($out)"),
            operands: &[operand("active", INTEGER, Touch::Nothing, "number of active lanes in each group")],
            results: &[OUT],
            attrs: &[
                required("num_groups", AttrKind::Int, "number of equal groups"),
                required("group_size", AttrKind::Int, "lanes of a group"),
            ],
        };

    /// Every lane.
    PSET "pto.vmi.pset" "Every lane": LOGICAL, source: DECLARED, verify: |op, _, diags| pattern_rules(op, diags),
        lower: pattern
        => {
            syntax: Syntax::Format("$pattern attr-dict `:` type($out)"),
            results: &[OUT],
            attrs: &[required("pattern", AttrKind::Str, "`PAT_ALL`"), GROUP],
        };

    /// The first `n` lanes, of each group if there are groups.
    PGE "pto.vmi.pge" "A constant number of lanes": LOGICAL, source: DECLARED,
        verify: |op, _, diags| pattern_rules(op, diags), lower: pattern
        => {
            syntax: Syntax::Format("$pattern attr-dict `:` type($out)"),
            results: &[OUT],
            attrs: &[required("pattern", AttrKind::Str, "`PAT_VLn`: the first `n` lanes"), GROUP],
        };

    /// The first `scalar` lanes, and what is left of the number for the next vector: 0 if all of it was active here.
    PLT "pto.vmi.plt" "The next lanes of a number of them": LOGICAL, source: DECLARED, lower: lower_plt
        => {
            syntax: Syntax::Format("$scalar attr-dict `:` type($scalar) `->` type($out) `,` type($left)"),
            operands: &[operand("scalar", I32, Touch::Nothing, "number of lanes that are left, unsigned")],
            results: &[OUT, result("left", I32, Infer::Written, "what is left after these lanes")],
        };

    /// The lanes that the attribute names.
    CONSTANT_MASK "pto.vmi.constant_mask" "A constant predicate": LOGICAL, source: DECLARED,
        verify: |op, _, diags| constant_rules(op, diags), lower: lower_constant
        => {
            syntax: Syntax::Generic,
            results: &[OUT],
            attrs: &[required("value", AttrKind::Any, "`dense<…>` of `i1`, one for each lane or one for all")],
        };

    /// As `pto.vmi.vand` of predicates.
    MASK_AND "pto.vmi.mask_and" "Lanes of both predicates": PAIR, lower: |op, d| logic(op, d, "pand", |a, b| a && b);

    /// As `pto.vmi.vor` of predicates.
    MASK_OR "pto.vmi.mask_or" "Lanes of either predicate": PAIR, lower: |op, d| logic(op, d, "por", |a, b| a || b);

    /// As `pto.vmi.vxor` of predicates.
    MASK_XOR "pto.vmi.mask_xor" "Lanes of one of two predicates": PAIR, lower: |op, d| logic(op, d, "pxor", |a, b| a != b);

    /// As `pto.vmi.vnot` of a predicate.
    MASK_NOT "pto.vmi.mask_not" "The other lanes": LOGICAL, source: DECLARED, verify: |op, _, diags| one_type(op, diags),
        lower: |op, d| logic(op, d, "pnot", |a, _| !a)
        => {
            syntax: Syntax::Format("$src attr-dict `:` type($src) `->` type($out)"),
            operands: &[operand("src", PREDICATE, Touch::Nothing, "the predicate")],
            results: &[OUT],
        };
}

/// Two predicates.
const PAIR: OpDef = OpDef {
    schema: slipring_op::rules::schema(
        "",
        Syntax::Format("$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($out)"),
        &[
            operand("lhs", PREDICATE, Touch::Nothing, "the first predicate"),
            operand("rhs", PREDICATE, Touch::Nothing, "the second predicate"),
        ],
        &[OUT],
        &[],
    ),
    source: DECLARED,
    verify: |op, _, diags| one_type(op, diags),
    ..LOGICAL
};

fn one_type(op: &OpRef<'_>, diags: &mut Diags) {
    let out = op.module.ty(op.result(0));
    if let Some(other) = op.module.op(op.id).operands.iter().map(|value| op.module.ty(*value)).find(|ty| *ty != out) {
        diags.push(op.error("mask-type", format!("expects predicates of one type, found `{out}` and `{other}`")));
    }
}

fn logic(op: &OpRef<'_>, d: &mut Decoder<'_>, price: &'static str, f: fn(bool, bool) -> bool) -> Lowered {
    let lanes = check::result_mask(op, 0).ok_or(Reported)?.lanes as usize;
    let mut e = Emit::new(op, d);
    e.price = Some((price, 1));
    let names: Vec<&str> = op.def.schema.operands.iter().map(|spec| spec.name).collect();
    let sources = names.iter().map(|name| e.predicate(name)).collect::<Result<Vec<_>, Reported>>()?;
    let out = e.gives_predicate(0)?;
    e.compute(VectorPort::Alu, Elem::U8, move |m, _| {
        let [first, second] = [0, sources.len() - 1].map(|source| sources[source].read(m));
        out.write(m, lanes, |i| f(first.is(i), second.is(i)));
    })
}

fn group_rules(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(lanes) = check::result_mask(op, 0).map(|mask| mask.lanes) else { return };
    let Some(groups) = check::groups(op, "num_groups", lanes, diags) else { return };
    if op.int("group_size").is_some_and(|size| size != i64::from(lanes / groups)) {
        let message =
            format!("`group_size` is {}: a group has {} lanes", op.int("group_size").unwrap_or(0), lanes / groups);
        diags.push(op.error("group-count", message));
    }
}

/// Number of lanes that a pattern makes active, `None` for all.
fn pattern_of(op: &OpRef<'_>) -> Option<Option<u32>> {
    let text = op.text("pattern")?;
    match op.def.schema.name {
        name if name == PSET.schema.name => (text == "PAT_ALL").then_some(None),
        _ => Some(text.strip_prefix("PAT_VL")?.parse().ok().filter(|count| *count > 0)),
    }
    .filter(|count| op.def == &PSET || count.is_some())
}

fn pattern_rules(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(lanes) = check::result_mask(op, 0).map(|mask| mask.lanes) else { return };
    let groups = if op.attr("group").is_some() { check::groups(op, "group", lanes, diags) } else { Some(1) };
    let Some(groups) = groups else { return };
    let found = op.text("pattern").unwrap_or("");
    match pattern_of(op) {
        None => {
            let known = if op.def == &PSET { "`PAT_ALL`" } else { "`PAT_VLn` with a number `n`" };
            diags.push(
                op.error("attr-value", format!("`{found}` is not a pattern of `{}`", op.def.schema.name)).help(known),
            );
        }
        Some(Some(count)) if count > lanes / groups => {
            let message = format!("`{found}` has more lanes than the {} of a predicate or group", lanes / groups);
            diags.push(op.error("attr-value", message));
        }
        Some(_) => {}
    }
}

/// A predicate of the first lanes, of as many groups.
fn first(op: &OpRef<'_>, d: &mut Decoder<'_>, count: &str, groups: Option<i64>) -> Lowered {
    let lanes = check::result_mask(op, 0).ok_or(Reported)?.lanes as usize;
    let size = lanes / groups.map_or(1, |groups| (groups as usize).max(1));
    let mut e = Emit::new(op, d);
    e.price = Some(("plt_b32", 1));
    let count = e.number(count)?;
    let out = e.gives_predicate(0)?;
    e.compute(VectorPort::Alu, Elem::U8, move |m, args| {
        let active = (args[count] as i64).max(0) as usize;
        out.write(m, lanes, |i| i % size < active);
    })
}

fn pattern(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let lanes = check::result_mask(op, 0).ok_or(Reported)?.lanes as usize;
    let size = lanes / op.int("group").map_or(1, |groups| (groups as usize).max(1));
    let active = pattern_of(op).ok_or(Reported)?.map_or(lanes, |count| count as usize);
    let mut e = Emit::new(op, d);
    e.price = Some(("pset_b32", 1));
    let out = e.gives_predicate(0)?;
    e.compute(VectorPort::Alu, Elem::U8, move |m, _| out.write(m, lanes, |i| i % size < active))
}

fn lower_plt(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let lanes = check::result_mask(op, 0).ok_or(Reported)?.lanes as usize;
    let mut e = Emit::new(op, d);
    e.price = Some(("plt_b32", 1));
    let count = e.number("scalar")?;
    let out = e.gives_predicate(0)?;
    e.out_number(1);
    e.step(VectorPort::Alu, Elem::U32, move |m, args| {
        let left = args[count] as u32 as usize;
        out.write(m, lanes, |i| i < left);
        // A register holds an `i32` with its sign.
        Ok(left.saturating_sub(lanes) as u32 as i32 as i64 as u64)
    })
}

/// The values of a constant and the number of elements of its type: `dense<[true, false]> : tensor<2xi1>`.
fn constant(op: &OpRef<'_>) -> Option<(Vec<bool>, usize)> {
    let Some(Attr::Opaque(text)) = op.attr("value") else { return None };
    let (values, ty) = text.strip_prefix("dense<")?.split_once('>')?;
    let (_, ty) = ty.split_once(['<'])?;
    let count = ty.trim().strip_suffix('>')?.strip_suffix("xi1")?.parse().ok()?;
    let words = values.trim().trim_matches(['[', ']']).split(',').map(str::trim);
    let values = words.map(|word| match word {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    });
    Some((values.collect::<Option<_>>()?, count))
}

fn constant_rules(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(lanes) = check::result_mask(op, 0).map(|mask| mask.lanes as usize) else { return };
    match constant(op) {
        None => diags.push(op.error("attr-value", "expects `dense<…> : tensor<…xi1>` of `true` and `false`")),
        Some((values, count)) if count != lanes || values.len() != 1 && values.len() != lanes => {
            let message = format!("a tensor of {count} with {} for {lanes} lanes", counted(values.len(), "value"));
            diags.push(op.error("attr-value", message));
        }
        Some(_) => {}
    }
}

fn lower_constant(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (values, _) = constant(op).ok_or(Reported)?;
    let lanes = check::result_mask(op, 0).ok_or(Reported)?.lanes as usize;
    let mut e = Emit::new(op, d);
    e.price = Some(("pset_b32", 1));
    let out = e.gives_predicate(0)?;
    e.compute(VectorPort::Alu, Elem::U8, move |m, _| {
        out.write(m, lanes, |i| if values.len() == 1 { values[0] } else { values[i] });
    })
}
