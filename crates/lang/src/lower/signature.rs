//! Type annotations in a function's text: of parameters, of names, of results.

use std::rc::Rc;

use ruff_python_ast::{Expr, Parameter};
use slipring_ir::{Attr, Diagnostic, Dim, Reported, Span, Type, ValueId, ViewType};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};
use smallvec::SmallVec;

use super::further::{of_parameter, of_value, packed_otherwise};
use super::lowering::{Lower, Lowered, describe, with_integer_help};
use super::state::Root;
use crate::annotations::{direction, dynamic_name, generic, has_dynamic};
use crate::compiled::{Direction, ParamInfo};
use crate::dtype::DType;
use crate::forms::{NOT_A_TYPE, no_shape};
use crate::globals::path_of;
use crate::passed::Passed;
use crate::syntax::at;
use crate::value::{Const, Value, dense, show, whole};

/// The code for a tensor without elements.
const EMPTY: &str = "empty-tensor";

/// The maximum number of elements of a tensor: offsets in bytes stay well within 64 bits.
const MOST_ELEMENTS: u64 = 1 << 40;

/// A tensor that is a parameter of the function.
pub(crate) fn tensor_parameter(
    lower: &mut Lower<'_>,
    name: &str,
    dims: &[u64],
    elem: Elem,
    direction: Direction,
    span: Span,
    body: slipring_ir::BlockId,
) -> (Value, Type) {
    let shape = Shape { dims, strides: None, scales: None };
    strided_parameter(lower, name, shape, elem, direction, span, body)
}

/// The layout of a tensor in global memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    pub dims: &'a [u64],
    /// Distance in elements between neighbours in each dimension, if rows need not be contiguous because it is a part
    /// of a larger tensor.
    pub strides: Option<&'a [u64]>,
    /// The memory whose packed scales it holds.
    pub scales: Option<Space>,
}

pub(crate) fn strided_parameter(
    lower: &mut Lower<'_>,
    name: &str,
    Shape { dims, strides, scales }: Shape<'_>,
    elem: Elem,
    direction: Direction,
    span: Span,
    body: slipring_ir::BlockId,
) -> (Value, Type) {
    let ty = Type::Ptr(elem, None);
    let pointer = lower.e.module.add_arg(body, ty.clone(), Some(name.into()), span);
    let strides: SmallVec<[u64; 5]> = strides.map_or_else(|| dense(dims), SmallVec::from_slice);
    let view = whole_view(lower, pointer, elem, (dims, &strides), scales);
    lower.e.name(view, &format!("{name}_view"));
    lower.tensors.roots.push(Root {
        name: name.into(),
        elem,
        dims: dims.iter().copied().collect(),
        strides,
        scales,
        view,
        pointer,
        span,
        writable: direction != Direction::In,
        direction,
        by_block: false,
        of_scope: false,
        truths: false,
        domain: None,
        of: None,
    });
    (Value::Tensor(whole(lower.tensors.roots.len() - 1, elem, dims)), ty)
}

/// A parameter: declared in the function, and bound to its name.
pub(crate) fn declare(
    lower: &mut Lower<'_>,
    parameter: &Parameter,
    body: slipring_ir::BlockId,
    given: Option<&Passed>,
    is_written: bool,
) -> Result<(ParamInfo, Type), Reported> {
    let (name, span) = (parameter.name.as_str(), at(&parameter.name));
    let Some(annotation) = &parameter.annotation else {
        let error = Diagnostic::error(NOT_A_TYPE, span, format!("parameter `{name}` has no type"))
            .help("write it as `x: pl.Tensor[[64, 64], pl.FP32]`, `pl.Out[…]` for an output, `pl.Scalar[pl.INT32]`");
        return Err(lower.report(error));
    };
    let (mut direction, inner) = direction(lower.globals, &lower.names.env, annotation);
    if is_written && direction == Direction::In {
        direction = Direction::InOut;
    }
    let mut strides = None;
    let mut domain = None;
    let actual = match given {
        Some(Passed::Tensor(shape, elem)) => Some((&shape[..], *elem)),
        Some(Passed::Part { shape, elem, strides: own, written, domain: of }) => {
            strides = Some(&own[..]);
            domain = *of;
            if *written {
                direction = Direction::InOut;
            }
            Some((&shape[..], *elem))
        }
        _ => None,
    };
    let (path, args) = match generic(lower.globals, &lower.names.env, inner) {
        Some(parts) => parts,
        None => match path_of(lower.globals, &lower.names.env, inner) {
            Some(path) if path == "pl.Tensor" => {
                if lower.facts.shapes_said {
                    return Err(lower.report(no_shape(name, &path, at(inner))));
                }
                let Some((shape, elem)) = actual else { return Err(not_given(lower, name, at(&**annotation))) };
                check_shape(lower, shape, at(&**annotation))?;
                let whole_place = Span::new(span.start, at(&**annotation).end);
                let place = Shape { dims: shape, strides, scales: None };
                let (tensor, ty) = strided_parameter(lower, name, place, elem, direction, whole_place, body);
                lower.names.env.insert(name.into(), tensor);
                let info = ParamInfo {
                    name: name.into(),
                    elem,
                    shape: Some(shape.to_vec()),
                    direction,
                    given: None,
                    packed: None,
                    truths: false,
                    made: false,
                };
                return Ok((info, ty));
            }
            // The public form for a scalar of an entry: `vlen: pl.INDEX`.
            Some(path) if crate::members::member("pl", path.trim_start_matches("pl.")).is_some() => {
                ("pl.Scalar".to_string(), vec![inner])
            }
            _ => return Err(bad_type(lower, name, at(&**annotation))),
        },
    };
    let place = at(&**annotation);
    match path.as_str() {
        // A tile that a launch passes is a tensor that is loaded where it is used.
        "pl.Tensor" | "pl.Tile" | "pld.DistributedTensor" => {
            let (dims, elem) = tensor_type(lower, &args, place, actual.map(|(shape, _)| (name, shape)))?;
            let whole_place = Span::new(span.start, place.end);
            let strides = strides.filter(|own| own.len() == dims.len());
            let scales = of_parameter(lower, &args, (&dims, elem), place)?;
            let truths = matches!(lower.expr(args[1]), Ok(Value::Const(Const::DType(DType::Bool))));
            let shape = Shape { dims: &dims, strides, scales };
            let (tensor, ty) = strided_parameter(lower, name, shape, elem, direction, whole_place, body);
            if let Some(root) = lower.tensors.roots.last_mut() {
                (root.domain, root.truths) = (domain, truths);
                // Other devices write it as well.
                if domain.is_some() {
                    (root.direction, root.writable) = (Direction::InOut, true);
                    lower.parts_of_devices();
                }
            }
            lower.names.env.insert(name.into(), tensor);
            let packed = scales.and_then(|scales| packed_otherwise(scales, &dims));
            let (name, shape) = (name.into(), Some(dims));
            Ok((ParamInfo { name, elem, shape, direction, given: None, packed, truths, made: false }, ty))
        }
        "pl.Scalar" => {
            let ty = match args.first().map(|arg| lower.expr(arg)) {
                Some(Ok(Value::Const(Const::DType(ty)))) => ty,
                _ => return Err(bad_type(lower, name, place)),
            };
            let (ir, elem) = match ty {
                DType::Elem(elem) => (ty.ir(), elem),
                DType::Index => (Type::Index, Elem::I64),
                DType::Bool => (Type::I1, Elem::U8),
            };
            let value = lower.e.module.add_arg(body, ir.clone(), Some(name.into()), span);
            let value = lower.scalar(value, ty);
            lower.names.env.insert(name.into(), value);
            let given = match given {
                Some(Passed::Number(c)) => Some(passed_number(c, ty)),
                _ => None,
            };
            Ok((
                ParamInfo {
                    name: name.into(),
                    elem,
                    shape: None,
                    direction: Direction::In,
                    given,
                    packed: None,
                    truths: false,
                    made: false,
                },
                ir,
            ))
        }
        _ => Err(bad_type(lower, name, place)),
    }
}

/// A number in the syntax of the command line.
fn passed_number(value: &Const, ty: DType) -> String {
    let number = match value {
        Const::Int(n) => n.to_string(),
        Const::Float(x) => format!("{x:?}"),
        Const::Bool(b) => i64::from(*b).to_string(),
        _ => String::new(),
    };
    match ty {
        DType::Bool => {
            if number == "0" {
                "false".into()
            } else {
                "true".into()
            }
        }
        DType::Index => format!("{number}:i64"),
        DType::Elem(elem) => format!("{number}:{elem}"),
    }
}

/// Reports a parameter without a known shape.
fn not_given(lower: &mut Lower<'_>, name: &str, span: Span) -> Reported {
    let error = Diagnostic::error(
        slipring_ir::Kind::Parameter { of_call: true },
        span,
        format!("the shape of `{name}` is not known"),
    )
    .note(
        "it is taken from the argument, or from a call of the kernel in this file that passes a tensor of known shape",
    )
    .help(format!(
        "pass it: `--arg {name}=rand:f32[64x64]` or `--arg {name}=@file.npy`, or write `pl.Tensor[[64, 64], pl.FP32]`"
    ));
    lower.report(error)
}

/// The maximum number of dimensions of a tensor.
pub(crate) const MOST_DIMS: usize = 5;

/// Reports extents that tensors cannot have.
fn check_shape(lower: &mut Lower<'_>, extents: &[u64], span: Span) -> Lowered<()> {
    if extents.is_empty() || extents.len() > MOST_DIMS {
        return Err(lower.error(NOT_A_TYPE, span, format!("a tensor has 1 to {MOST_DIMS} dimensions")));
    }
    if extents.contains(&0) {
        return Err(lower.error(EMPTY, span, "an extent of 0"));
    }
    let elements = extents.iter().try_fold(1u64, |product, n| product.checked_mul(*n));
    if elements.is_none_or(|n| n > MOST_ELEMENTS) {
        let message = format!("a tensor {} is larger than any memory", show(extents));
        return Err(lower.error(NOT_A_TYPE, span, message));
    }
    Ok(())
}

fn bad_type(lower: &mut Lower<'_>, name: &str, span: Span) -> Reported {
    let error = Diagnostic::error(NOT_A_TYPE, span, format!("this is not a type of a kernel's parameter `{name}`"))
        .help("write `pl.Tensor[[64, 64], pl.FP32]`, `pl.Out[pl.Tensor[…]]`, `pl.InOut[…]` or `pl.Scalar[pl.INT32]`");
    lower.report(error)
}

/// Reports an unknown extent.
fn extent_not_known(lower: &mut Lower<'_>, extent: &str, actual: Option<(&str, &[u64])>, span: Span) -> Reported {
    let name = actual.map_or("x", |(name, _)| name);
    let message = format!("the extent `{extent}` (`pl.dynamic`) is not known");
    let error = Diagnostic::error(slipring_ir::Kind::Parameter { of_call: true }, span, message)
        .note("a kernel is compiled for its shapes: the extent is that of what is passed")
        .help(format!("pass it: `--arg {name}=rand:f32[64x64]`, or give the extent as a number"));
    lower.report(error)
}

/// Shape and element type of a tensor. `actual` is the name and the shape of the argument: `pl.dynamic` extents get its
/// values, and the names are bound from then on.
fn tensor_type(
    lower: &mut Lower<'_>,
    args: &[&Expr],
    span: Span,
    actual: Option<(&str, &[u64])>,
) -> Result<Said, Reported> {
    let [shape, elem, ..] = args else {
        return Err(lower.error(
            NOT_A_TYPE,
            span,
            "a tensor's type has a shape and an element type: `pl.Tensor[[64, 64], pl.FP32]`",
        ));
    };
    let written: Option<&[Expr]> = match shape {
        Expr::List(list) => Some(&list.elts),
        Expr::Tuple(tuple) => Some(&tuple.elts),
        _ => None,
    };
    let known = match (written, shape) {
        (Some(_), _) => Vec::new(),
        (None, shape) => match lower.expr(shape)? {
            Value::Tuple(items) => items.into(),
            single => vec![single],
        },
    };
    let rank = written.map_or(known.len(), <[Expr]>::len);
    let mut extents = Vec::new();
    for axis in 0..rank {
        // The value of an extent is known from there on: `[M, 2 * M]`.
        let dim = &match written {
            Some(written) if has_dynamic(lower.globals, &lower.names.env, &written[axis]) => {
                let passed = actual.filter(|(_, shape)| shape.len() == rank).map(|(_, shape)| shape[axis]);
                match (passed, &written[axis]) {
                    (Some(n), Expr::BinOp(_)) => Value::Const(Const::Int(n as i64)),
                    (None, computed @ Expr::BinOp(_)) => {
                        let span = at(computed);
                        let text = lower.e.module.source.text[span.start as usize..span.end as usize].to_string();
                        return Err(extent_not_known(lower, &text, actual, span));
                    }
                    // `pl.dynamic("M")` in its place.
                    (_, Expr::Call(call)) => match call.arguments.args.first() {
                        Some(Expr::StringLiteral(name)) => {
                            Value::Path(format!("pl.dynamic.{}", name.value.to_str()).into())
                        }
                        _ => Value::Path("pl.dynamic".into()),
                    },
                    (_, extent) => lower.expr(extent)?,
                }
            }
            Some(written) => lower.expr(&written[axis])?,
            None => known[axis].clone(),
        };
        if let Some(extent) = dynamic_name(dim) {
            let passed = actual.filter(|(_, shape)| shape.len() == rank).map(|(_, shape)| shape[axis]);
            let Some(n) = passed else { return Err(extent_not_known(lower, &extent, actual, at(*shape))) };
            extent_is(lower, &extent, n);
            extents.push(n);
            continue;
        }
        match dim {
            Value::Const(Const::Int(n)) if *n > 0 && *n <= 1 << 31 => extents.push(*n as u64),
            Value::Const(Const::Int(n)) => {
                let kind = if *n == 0 { EMPTY.into() } else { NOT_A_TYPE };
                return Err(lower.error(kind, at(*shape), format!("an extent of {n}")));
            }
            other => {
                let message = format!("extents must be constant integers, but this is {}", describe(lower, other));
                let error = Diagnostic::error(NOT_A_TYPE, at(*shape), message);
                return Err(lower.report(match other {
                    Value::Const(Const::DType(_)) => {
                        error.help("the shape comes first: `pl.Tensor[[64, 64], pl.FP32]`")
                    }
                    _ => with_integer_help(error, other),
                }));
            }
        }
    }
    check_shape(lower, &extents, at(*shape))?;
    match lower.expr(elem)? {
        Value::Const(Const::DType(ty)) if ty.stored().is_some() => Ok((extents, ty.stored().unwrap_or(Elem::U8))),
        other => {
            let what = describe(lower, &other);
            let message = format!("elements have a type such as `pl.FP32`, this is {what}");
            let named = match &other {
                Value::Const(Const::Str(name)) => crate::dtype::elem_named(name),
                _ => None,
            };
            let help = format!("write `pl.{}`", named.map_or("FP32", |elem| DType::Elem(elem).name()));
            Err(lower.report(Diagnostic::error(NOT_A_TYPE, at(*elem), message).help(help)))
        }
    }
}

/// Binds names for an extent (`M = pl.dynamic("M")`) to its value from there on.
fn extent_is(lower: &mut Lower<'_>, extent: &str, n: u64) {
    let bound: Vec<Rc<str>> = lower
        .names
        .env
        .keys()
        .cloned()
        .chain(lower.globals.names().map(Rc::from))
        .filter(|known| {
            let value = lower.names.env.get(known).cloned().or_else(|| lower.globals.get(known));
            value.is_some_and(|value| dynamic_name(&value).as_deref() == Some(extent))
        })
        .collect();
    for known in bound {
        lower.names.env.insert(known, Value::Const(Const::Int(n as i64)));
    }
}

/// The message for other arguments of `bind_dynamic`.
pub(crate) const BIND_DYNAMIC: &str = "`bind_dynamic` takes an axis and an extent: `x.bind_dynamic(0, M)`";

/// `x.bind_dynamic(0, M)`: names an extent of a tensor; the name has its value from there on.
pub(crate) fn bind_extent(lower: &mut Lower<'_>, shape: &[u64], args: &[Expr], span: Span) -> Lowered {
    let [axis, name] = args else {
        return Err(lower.error("argument", span, BIND_DYNAMIC));
    };
    let n = match lower.expr(axis)? {
        Value::Const(Const::Int(n)) => usize::try_from(n).ok().and_then(|axis| shape.get(axis)).copied(),
        _ => None,
    };
    let Some(n) = n else {
        let message = format!("a tensor {} has no such axis", show(shape));
        return Err(lower.error("bounds", at(axis), message));
    };
    let value = lower.expr(name)?;
    match (dynamic_name(&value), value) {
        (Some(extent), _) => extent_is(lower, &extent, n),
        // Another tensor has bound it to the same value.
        (None, Value::Const(Const::Int(known))) if known == n as i64 => {}
        (None, Value::Const(Const::Int(known))) => {
            let message = format!("this extent is {n}, and the name stands for {known} already");
            return Err(lower.error("shapes", span, message));
        }
        (None, other) => {
            let what = describe(lower, &other);
            return Err(lower.error("argument", at(name), format!("an extent is a `pl.dynamic`, this is {what}")));
        }
    }
    Ok(Value::Nothing)
}

/// The view of a whole tensor.
pub(crate) fn whole_view(
    lower: &mut Lower<'_>,
    pointer: ValueId,
    elem: Elem,
    (dims, strides): (&[u64], &[u64]),
    scales: Option<Space>,
) -> ValueId {
    let shape: Vec<ValueId> = dims.iter().map(|n| lower.e.index(*n as i64)).collect();
    let strides: Vec<ValueId> = strides.iter().map(|n| lower.e.index(*n as i64)).collect();
    let extents: SmallVec<[Dim; 5]> = dims.iter().map(|_| Dim::Dynamic).collect();
    let ty = Type::TensorView(ViewType { elem, dims: extents });
    let word = match scales {
        Some(Space::LeftScale) => Some("mx_a_zz"),
        Some(_) => Some("mx_b_nn"),
        None => None,
    };
    let attrs: Vec<_> = word.map(|word| ("layout", Attr::member("layout", word))).into_iter().collect();
    let groups: [(&str, &[_]); 3] = [("ptr", &[pointer]), ("shape", &shape), ("strides", &strides)];
    lower.e.value(&pto::MAKE_TENSOR_VIEW, &groups, &attrs, ty)
}

/// The shape and element type in an annotation such as `pl.Tile[[64, 64], pl.FP32]`; `None` for other annotations.
pub(crate) fn annotated(lower: &mut Lower<'_>, annotation: &Expr) -> Lowered<Option<Said>> {
    annotated_as(lower, annotation, None)
}

/// Like [`annotated`], for a parameter with a tensor argument of this shape.
pub(crate) fn annotated_as(
    lower: &mut Lower<'_>,
    annotation: &Expr,
    actual: Option<(&str, &[u64])>,
) -> Lowered<Option<Said>> {
    let (_, inner) = direction(lower.globals, &lower.names.env, annotation);
    match generic(lower.globals, &lower.names.env, inner) {
        Some((path, args)) if matches!(path.as_str(), "pl.Tile" | "pl.Tensor") => {
            tensor_type(lower, &args, at(annotation), actual).map(Some)
        }
        _ => other_type(lower, inner).map(|()| None),
    }
}

/// Types of the language without extents.
const OTHER_TYPES: [&str; 18] = [
    "Tensor",
    "Tile",
    "Scalar",
    "Array",
    "Tuple",
    "Ptr",
    "Out",
    "InOut",
    "IntLike",
    "MemRef",
    "TensorView",
    "TileView",
    "DataType",
    "DynVar",
    "TaskId",
    "AsyncSession",
    "AsyncEvent",
    "PrefetchAsyncContext",
];

/// True for a member of the language that is valid in an annotation: a type, or an element type.
pub(crate) fn is_type(member: &str) -> bool {
    OTHER_TYPES.contains(&member) || crate::members::member("pl", member).is_some()
}

/// Requires an annotation without extents to be a type: Python does not evaluate annotations of local names.
fn other_type(lower: &mut Lower<'_>, annotation: &Expr) -> Lowered<()> {
    let (base, arg) = match annotation {
        Expr::Subscript(subscript) => (&*subscript.value, Some(&*subscript.slice)),
        other => (other, None),
    };
    let mut root = base;
    while let Expr::Attribute(attribute) = root {
        root = &attribute.value;
    }
    let Expr::Name(name) = root else { return Ok(()) };
    let (name, place) = (name.id.as_str(), at(root));
    if !lower.is_there(name) && !crate::host::names::is_type(name) {
        return lower.lookup(name, place).map(|_| ());
    }
    let path = path_of(lower.globals, &lower.names.env, base);
    let Some(member) = path.as_deref().and_then(|path| path.strip_prefix("pl.")) else { return Ok(()) };
    if member == "Scalar"
        && let Some(arg) = arg
    {
        return match lower.expr(arg)? {
            Value::Const(Const::DType(_)) => Ok(()),
            other => {
                let what = describe(lower, &other);
                Err(lower.error("annotation", at(arg), format!("a scalar's type is such as `pl.INT32`, not {what}")))
            }
        };
    }
    if is_type(member) {
        return Ok(());
    }
    let mut error = Diagnostic::error("annotation", at(base), format!("`pl.{member}` is not a type"));
    if let Some(near) = slipring_ir::text::nearest(member, OTHER_TYPES) {
        error = error.help(format!("did you mean `pl.{near}`?"));
    }
    Err(lower.report(error))
}

/// Checks a value against an annotation: its shape, its element type, and further arguments.
pub(crate) fn check_said(
    lower: &mut Lower<'_>,
    annotation: &Expr,
    value: &Value,
    said: &Said,
    span: Span,
) -> Lowered<()> {
    check_annotation(lower, value, said, span)?;
    let (_, inner) = direction(lower.globals, &lower.names.env, annotation);
    match generic(lower.globals, &lower.names.env, inner) {
        Some((path, args)) => of_value(lower, path == "pl.Tile", &args, &said.0, value),
        None => Ok(()),
    }
}

/// Checks the annotated type of a result for properties that it cannot have.
pub(crate) fn check_result(lower: &mut Lower<'_>, annotation: &Expr) -> Lowered<()> {
    match generic(lower.globals, &lower.names.env, annotation) {
        Some((path, args)) if path == "pl.Tensor" => of_value(lower, false, &args, &[], &Value::Nothing),
        _ => Ok(()),
    }
}

/// Extents and element type in a type.
pub(crate) type Said = (Vec<u64>, Elem);

/// Reports a value that does not match an annotation.
pub(crate) fn check_annotation(lower: &mut Lower<'_>, value: &Value, said: &Said, span: Span) -> Lowered<()> {
    let elem = match value {
        Value::Tile(id) => lower.tile(*id).ty.layout.elem,
        Value::Tensor(tensor) => tensor.elem,
        Value::Parts(parts) if let Some(first) = parts.tiles.first() => lower.tile(*first).ty.layout.elem,
        _ => {
            let what = describe(lower, value);
            return Err(lower.error("annotation", span, format!("this is declared a tile or tensor and is {what}")));
        }
    };
    let shape = lower.shape_of(value);
    if shape == said.0 && elem == said.1 {
        return Ok(());
    }
    if let Value::Tile(id) = value
        && let Some(compared) = &lower.tile(*id).mask
    {
        // The rows of a mask have the length to which they may be padded, or that of the compared rows.
        let ((rows, bytes), (said_rows, said_bytes)) = (crate::value::fold(&shape), crate::value::fold(&said.0));
        let padded = [bytes, bytes.next_multiple_of(32), crate::value::fold(&compared.shape).1];
        if elem == said.1 && rows == said_rows && padded.contains(&said_bytes) {
            return Ok(());
        }
    }
    let name = |e: Elem| DType::Elem(e).name();
    let message = format!("this is declared {} {} and is {} {}", show(&said.0), name(said.1), show(&shape), name(elem));
    Err(lower.error("annotation", span, message))
}
