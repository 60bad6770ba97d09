//! Type rules, operand lists and checks shared by declarations.

use std::fmt::Display;

use slipring_effect::vector::NumberUse;
use slipring_ir::{
    Arity, Attr, AttrKind, AttrSpec, Diags, EnumSpec, Flow, Infer, Module, OpId, OpSchema, OperandSpec, Part,
    ResultSpec, Sign, Syntax, Touch, Type, TypeRule, ValueDef, ValueId,
};
use slipring_tile::{Elem, Space};

use crate::along::Along;
use crate::def::{Arithmetic, FromZero, OpDef, OpRef, OperandAt, PipeRule, WorkingMemory, no_rules};
use crate::facts::{AddressRule, CoreRule, InCoreSync, Linear, Workitems};
use crate::tiles::TileRules;

/// A tile in any local memory (or a memref that is treated as one).
pub const TILE: TypeRule = TypeRule {
    describe: "a tile",
    accepts: |t| {
        matches!(t, Type::Tile(_) | Type::ShortTile { .. })
            || matches!(t, Type::MemRef(m) if m.space.is_some_and(|s| s != Space::Gm))
    },
};

/// A window of global memory: a partition view, or a memref in global memory.
pub const VIEW: TypeRule = TypeRule {
    describe: "a view of global memory",
    accepts: |t| {
        matches!(t, Type::PartitionView(_) | Type::TensorView(_))
            || matches!(t, Type::MemRef(m) if m.space.unwrap_or(Space::Gm) == Space::Gm)
    },
};

/// `!pto.tensor_view`.
pub const TENSOR_VIEW: TypeRule = TypeRule { describe: "a tensor view", accepts: |t| matches!(t, Type::TensorView(_)) };

/// `!pto.ptr`.
pub const POINTER: TypeRule = TypeRule { describe: "a pointer", accepts: |t| matches!(t, Type::Ptr(..)) };

/// An integer or `index`.
pub const INTEGER: TypeRule = TypeRule { describe: "an integer or index", accepts: Type::is_int_like };

/// An integer, `index` or a float.
pub const SCALAR: TypeRule = TypeRule { describe: "a scalar", accepts: Type::is_scalar };

/// `i1`.
pub const BOOL: TypeRule = TypeRule { describe: "i1", accepts: |t| *t == Type::I1 };

/// Anything.
pub const ANY: TypeRule = TypeRule { describe: "any type", accepts: |_| true };

/// All element types except floats of 8 and 4 bits.
pub const WITHOUT_SMALL_FLOATS: &[Elem] = &[
    Elem::I8,
    Elem::U8,
    Elem::I16,
    Elem::U16,
    Elem::I32,
    Elem::U32,
    Elem::I64,
    Elem::U64,
    Elem::F16,
    Elem::BF16,
    Elem::F32,
];

/// A required operand.
pub const fn operand(name: &'static str, ty: TypeRule, touch: Touch, doc: &'static str) -> OperandSpec {
    OperandSpec { name, arity: Arity::One, ty, touch, doc }
}

/// An optional operand.
pub const fn optional(name: &'static str, ty: TypeRule, touch: Touch, doc: &'static str) -> OperandSpec {
    OperandSpec { name, arity: Arity::Optional, ty, touch, doc }
}

/// An optional operand that may only be present if the one before it is not.
pub const fn instead(name: &'static str, ty: TypeRule, touch: Touch, doc: &'static str) -> OperandSpec {
    OperandSpec { name, arity: Arity::Instead, ty, touch, doc }
}

/// Any number of values.
pub const fn variadic(name: &'static str, ty: TypeRule, touch: Touch, doc: &'static str) -> OperandSpec {
    OperandSpec { name, arity: Arity::Variadic, ty, touch, doc }
}

/// A result.
pub const fn result(name: &'static str, ty: TypeRule, infer: Infer, doc: &'static str) -> ResultSpec {
    ResultSpec { name, arity: Arity::One, ty, infer, doc }
}

/// A required attribute.
pub const fn required(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrSpec {
    AttrSpec { name, kind, required: true, doc }
}

/// An optional attribute.
pub const fn defaulted(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrSpec {
    AttrSpec { name, kind, required: false, doc }
}

/// Concatenates lists of `N` entries in total: shared operands or attributes with those of an op.
pub const fn joined<T: Copy, const N: usize>(lists: &[&[T]]) -> [T; N] {
    let mut all = [lists[0][0]; N];
    let (mut list, mut done) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[done] = lists[list][at];
            (at, done) = (at + 1, done + 1);
        }
        list += 1;
    }
    assert!(done == N);
    all
}

/// A schema without regions, aliases and results; change fields with `..schema(…)`.
pub const fn schema(
    name: &'static str,
    syntax: Syntax,
    operands: &'static [OperandSpec],
    results: &'static [ResultSpec],
    attrs: &'static [AttrSpec],
) -> OpSchema {
    OpSchema {
        name,
        aliases: &[],
        syntax,
        operands,
        generic: &[],
        results,
        attrs,
        regions: &[],
        flow: Flow::Once,
        terminator: false,
        part: Part::None,
        constant: None,
    }
}

/// The text of a doc comment `/// …`, which begins with a space.
pub const fn text(comment: &'static str) -> &'static str {
    match comment.as_bytes() {
        [b' ', ..] => comment.split_at(1).1,
        _ => comment,
    }
}

/// A neutral declaration: any core, no pipe, no rules. Change fields with `..PLAIN`.
pub const PLAIN: OpDef = OpDef {
    schema: schema("", Syntax::Generic, &[], &[], &[]),
    summary: "",
    doc: "",
    source: "",
    core: CoreRule::Any,
    pipe: PipeRule::None,
    class: "",
    ring: None,
    per_lane: None,
    linear: None,
    relation: |_| None,
    commutes: false,
    wants_tmp: false,
    working: WorkingMemory::NOTHING,
    tmp_before_results: false,
    library_memory: |_| false,
    kernel: Arithmetic::None,
    lane_types: &[],
    in_vector_function: false,
    around_vector_functions: false,
    workitems: Workitems::IfComputes,
    counter: None,
    window: false,
    address_of_view: false,
    address: AddressRule::None,
    along: Along::UNKNOWN,
    each_core: false,
    prints: false,
    mixed: None,
    transfer: None,
    product: None,
    scales: &[],
    elems: &[],
    library_elems: &[],
    library_forms: &[],
    tiles: TileRules::NONE,
    apart: &[],
    number: NumberUse::Value,
    from_zero: FromZero::Unknown,
    update: |_| None,
    in_core_sync: InCoreSync::No,
    sync: |_| None,
    inside: &[],
    verify: no_rules,
    lower: |_, _| Ok(()),
};

/// `#pto.layout<…>`: the layout of a view of global memory.
pub const LAYOUT: &EnumSpec = &EnumSpec {
    kind: "layout",
    numbered: false,
    members: &["nd", "dn", "nz", "mx_a_zz", "mx_a_nd", "mx_a_dn", "mx_b_nn", "mx_b_nd", "mx_b_dn"],
};

/// The integer value of an IR value that is defined by a constant.
pub fn constant(module: &Module, value: ValueId) -> Option<i64> {
    constant_attr(module, value).and_then(Attr::as_int)
}

/// How many ops back the proof of [`is_multiple`] looks.
const MOST_DEPTH: usize = 12;

/// Whether an integer is provably a multiple of `unit`: a constant, a loop counter that starts at a multiple and
/// advances by multiples, or a linear expression of those. Through an expression only powers of two are proved, which
/// overflow does not change.
pub fn is_multiple(module: &Module, value: ValueId, unit: i64) -> bool {
    divides(module, value, unit, MOST_DEPTH)
}

fn divides(module: &Module, value: ValueId, unit: i64, depth: usize) -> bool {
    if let Some(n) = constant(module, value) {
        return n % unit == 0;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is = |value: ValueId| divides(module, value, unit, depth);
    match module.value(value).def {
        ValueDef::Result(id, _) if unit.count_ones() == 1 => {
            let operands = &module.op(id).operands;
            match OpDef::of(module, id).and_then(|def| def.linear) {
                Some(Linear::Same) => is(operands[0]),
                Some(Linear::Sum | Linear::Difference | Linear::Remainder) => is(operands[0]) && is(operands[1]),
                Some(Linear::Product) => is(operands[0]) || is(operands[1]),
                None => false,
            }
        }
        ValueDef::Arg(block, 0) => {
            let range = module.block_parent(block).and_then(|id| OpRef::of(module, id)?.range());
            range.is_some_and(|[first, _, step]| is(first) && is(step))
        }
        _ => false,
    }
}

/// The value attribute of an IR value that is defined by a constant.
pub fn constant_attr(module: &Module, value: ValueId) -> Option<&Attr> {
    let op = module.op(module.defining_op(value)?);
    op.attrs.get(op.schema()?.constant?)
}

/// Requires an operand to be a tile of one of these spaces.
pub fn require_space(op: &OpRef<'_>, at: impl OperandAt, spaces: &[Space], diags: &mut Diags) -> bool {
    let Some(space) = op.space(at) else { return true };
    if spaces.contains(&space) {
        return true;
    }
    let names: Vec<_> = spaces.iter().map(|s| format!("`{s}`")).collect();
    let operand = op.def.schema.operands[at.position(&op.def.schema)].name;
    diags.push(
        op.error(
            "tile-space",
            format!("`{}` takes `{operand}` in {}, not in `{space}`", op.def.schema.name, names.join(" or ")),
        )
        .label(format!("`{operand}` is a `{space}` tile")),
    );
    false
}

/// Requires a text attribute, if it is present, to be one of these words.
pub fn one_of(op: &OpRef<'_>, attr: &str, words: &[&str], diags: &mut Diags) {
    let Some(found) = op.text(attr) else { return };
    if !words.contains(&found) {
        let message = format!("`{attr}` is `{found}`: `{}` does not know it", op.def.schema.name);
        diags.push(op.error("attr-value", message).help(format!("one of {}", words.join(", "))));
    }
}

/// `1 tile`, `3 tiles`.
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, what: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {what}{plural}")
}

/// Memory whose elements are counted from its beginning.
pub const POINTED: TypeRule =
    TypeRule { describe: "a pointer or a memref", accepts: |t| matches!(t, Type::Ptr(..) | Type::MemRef(_)) };

/// The element type of the first operand, a memory.
pub fn pointee(types: &[Type]) -> Option<Type> {
    types.first().and_then(scalar_of)
}

/// The scalar type of the elements of a pointer, memref or tile.
pub fn scalar_of(memory: &Type) -> Option<Type> {
    if let Type::MemRef(memref) = memory {
        return Some(memref.elem.clone());
    }
    let elem = memory.elem()?;
    let signed = elem.is_signed_int();
    let width = 8 * elem.bytes() as u16;
    let sign = if signed { Sign::Signless } else { Sign::Unsigned };
    Some(if elem.is_float() { Type::Float(elem) } else { Type::Int { width, sign } })
}

/// True if the op has the regions of its declaration, each of one block.
pub fn one_block(module: &Module, op: OpId) -> bool {
    let data = module.op(op);
    let single = |region: &slipring_ir::RegionId| module.region(*region).blocks.len() == 1;
    data.schema().is_some_and(|schema| schema.regions.len() == data.regions.len()) && data.regions.iter().all(single)
}

/// The arguments of a region's first block.
pub fn first_args(module: &Module, op: OpId, region: usize) -> Option<&[ValueId]> {
    module.body(op, region).map(|block| &module.block(block).args[..])
}
