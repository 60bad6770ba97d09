//! Structs of scalars on the scalar unit's stack.

use slipring_ir::{Attr, AttrKind, AttrSpec, Diags, Infer, Syntax, Touch, Type, TypeRule};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{PLAIN, SCALAR, operand, required, result};
use slipring_program::{Inst, Operand, Reg};
use slipring_tile::Elem;

use super::local_array::trap_if;
use slipring_machine::Platform;
use slipring_op::ops;

const STRUCT: TypeRule =
    TypeRule { describe: "a struct of numbers of 8 to 64 bits and such structs", accepts: |t| fields(t).is_some() };

const PATH: AttrSpec =
    required("path", AttrKind::Numbers, "which field; in a struct within another, which of that, too");

/// A field of a struct.
enum Field {
    Number(Elem),
    Struct(Vec<Field>),
}

impl Field {
    /// The number of scalars in it.
    fn numbers(&self) -> usize {
        match self {
            Field::Number(_) => 1,
            Field::Struct(fields) => fields.iter().map(Field::numbers).sum(),
        }
    }
}

/// The fields of `!pto.struct<!pto.struct<f32, i8>, i16>`.
fn fields(ty: &Type) -> Option<Vec<Field>> {
    let Type::Named(name) = ty else { return None };
    fields_of(name)
}

fn fields_of(text: &str) -> Option<Vec<Field>> {
    let inside = text.strip_prefix("pto.struct<")?.strip_suffix('>')?;
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    let field = |part: &str| match part.trim() {
        inner if inner.starts_with("!pto.struct<") => fields_of(&inner[1..]).map(Field::Struct),
        // `si32` is an explicitly signed `i32`, which is signed anyway.
        number => {
            Elem::parse(number.strip_prefix('s').unwrap_or(number)).filter(|elem| stored(*elem)).map(Field::Number)
        }
    };
    parts.into_iter().map(field).collect()
}

/// True if a field can have this type.
fn stored(elem: Elem) -> bool {
    !elem.is_float() || matches!(elem, Elem::F16 | Elem::BF16 | Elem::F32)
}

ops! {
    OPS;

    /// `!pto.struct<!pto.struct<f32, i8>, i16>` holds three numbers, two of them in a struct of their own. It lives
    /// where it is declared: no loop, branch or function passes it on. A field that was not set must not be read: the
    /// run stops.
    pub DECLARE "pto.declare_struct" "A record of numbers on the stack of the scalar unit": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.declare_struct", verify: |op, _, diags| stays(op, diags),
        lower: lower_declare
        => {
            syntax: Syntax::Format("attr-dict `->` type($struct)"),
            results: &[result("struct", STRUCT, Infer::Written, "the struct")],
        };

    /// The number that the field holds now.
    pub GET "pto.struct_get" "Read a field of a record on the stack": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.struct_get",
        verify: |op, _, diags| verify(op, op.module.ty(op.result(0)), diags), lower: lower_get
        => {
            syntax: Syntax::Format("$struct $path attr-dict `:` type($struct) `->` type($value)"),
            operands: &[operand("struct", STRUCT, Touch::Nothing, "the struct")],
            results: &[result("value", SCALAR, Infer::Written, "the field")],
            attrs: &[PATH],
        };

    /// The field holds `value` from here on.
    pub SET "pto.struct_set" "Write a field of a record on the stack": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.struct_set", verify: verify_set, lower: lower_set
        => {
            syntax: Syntax::Format("$struct $path `,` $value attr-dict `:` type($struct) `,` type($value)"),
            operands: &[
                operand("struct", STRUCT, Touch::Nothing, "the struct"),
                operand("value", SCALAR, Touch::Nothing, "what to write"),
            ],
            attrs: &[PATH],
        };
}

fn lower_declare(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let count = fields(op.module.ty(op.result(0))).map(Field::Struct).ok_or(Reported)?.numbers();
    // Two registers for each field: its value, and whether it was set.
    let mut number = || Binding::Scalar(Operand::Reg(d.variable(Operand::Imm(0))));
    let slots = (0..2 * count).map(|_| number()).collect();
    d.bind(op.result(0), Binding::Many(slots));
    Ok(())
}

fn lower_get(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let [number, set] = slot(op, d)?;
    let unset = d.compute(|[set, ..]| Ok(u64::from(set == 0)), [Operand::Reg(set), Operand::Imm(0), Operand::Imm(0)]);
    trap_if(d, unset, "a field of a struct on the stack is read that was not set");
    let value = Operand::Reg(d.variable(Operand::Reg(number)));
    d.bind(op.result(0), Binding::Scalar(value));
    Ok(())
}

fn verify_set(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let Some(ty) = op.ty("value") {
        verify(op, ty, diags);
    }
}

fn lower_set(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let [number, set] = slot(op, d)?;
    let value = d.scalar(op.operand("value").ok_or(Reported)?)?;
    d.emit(Inst::Move { d: number, a: value });
    d.emit(Inst::Move { d: set, a: Operand::Imm(1) });
    Ok(())
}

/// The index and the type of the scalar that a path selects; else the error in the path.
fn named(op: &OpRef<'_>) -> Option<Result<(usize, Elem), String>> {
    let all = op.ty("struct").and_then(fields)?;
    let Some(Attr::Array(path)) = op.attr("path") else { return None };
    let (mut fields, mut before, mut found) = (&all, 0, None);
    for step in path {
        if found.is_some() {
            return Some(Err("the path goes on behind a number".into()));
        }
        let at = step.as_int().and_then(|at| usize::try_from(at).ok()).filter(|at| *at < fields.len());
        let Some(at) = at else { return Some(Err(format!("the struct has {} fields, counted from 0", fields.len()))) };
        before += fields[..at].iter().map(Field::numbers).sum::<usize>();
        match &fields[at] {
            Field::Number(elem) => found = Some(*elem),
            Field::Struct(inner) => fields = inner,
        }
    }
    Some(found.map(|elem| (before, elem)).ok_or_else(|| "the path ends at a struct, not at a number".into()))
}

/// Requires a struct to be used where it is declared: it is memory of that scope.
fn declared(op: &OpRef<'_>, diags: &mut Diags) {
    let maker = op.operand("struct").and_then(|value| op.module.defining_op(value));
    if maker.and_then(|id| op.other(id)).is_none_or(|maker| maker.def != &DECLARE) {
        let message = "expects a struct that `pto.declare_struct` makes in this function: nothing passes one on";
        diags.push(op.error("struct-path", message));
    }
}

/// Reports uses of a struct by other ops than those on structs.
fn stays(op: &OpRef<'_>, diags: &mut Diags) {
    let (module, value) = (op.module, op.result(0));
    let Some(body) = module.function_of(op.id).and_then(|function| module.body(function, 0)) else { return };
    let takes = |id: &slipring_ir::OpId| module.op(*id).operands.contains(&value);
    let own = |id: slipring_ir::OpId| op.other(id).is_some_and(|user| user.def == &GET || user.def == &SET);
    if let Some(user) = module.walk(body).into_iter().filter(takes).find(|id| !own(*id)) {
        let message = format!("`{}` takes a struct out of the scope that declares it", module.op(user).name);
        diags.push(op.error("struct-path", message).also(module.op(user).span, "here").help("fields are set in place"));
    }
}

fn verify(op: &OpRef<'_>, ty: &Type, diags: &mut Diags) {
    declared(op, diags);
    match named(op) {
        Some(Err(message)) => diags.push(op.error("struct-path", message)),
        Some(Ok((_, elem))) if ty.elem() != Some(elem) => {
            diags.push(op.error("elem-type", format!("the field holds `{elem}`, not `{ty}`")));
        }
        _ => {}
    }
}

/// The registers of the field.
fn slot(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<[Reg; 2], Reported> {
    let (at, _) = named(op).and_then(Result::ok).ok_or(Reported)?;
    let reg = |binding: &Binding| if let Binding::Scalar(Operand::Reg(reg)) = binding { Some(*reg) } else { None };
    let found = match d.binding(op.operand("struct").ok_or(Reported)?) {
        Some(Binding::Many(list)) => Some((list.get(2 * at), list.get(2 * at + 1))),
        _ => None,
    };
    match found {
        Some((Some(number), Some(set))) => reg(number).zip(reg(set)).map(|(number, set)| [number, set]).ok_or(Reported),
        _ => Err(d.unsupported("a struct on the stack that control flow passes on")),
    }
}
