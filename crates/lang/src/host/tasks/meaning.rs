//! Semantics of builtins in a program that is followed. The catalogue maps builtins to them (`ops`, `words`).

use std::rc::Rc;

use slipring_ir::{Diagnostic, Span};

use super::super::value::HostValue;
use super::calls::Bound;
use crate::host::limits::MOST_SEEN;
use crate::host::recorder::Arg;
use crate::host::state::Host;
use crate::host::value::unknown;
use crate::host::view::View;
use crate::questions::Question;
use crate::value::Const;
use crate::words::Means;

/// A call of a builtin.
pub(crate) struct Followed<'b, 'a> {
    pub(super) args: &'b [Arg<'a>],
    pub(super) bound: &'b Bound<'a>,
    pub(super) span: Span,
}

impl<'a> Followed<'_, 'a> {
    /// An argument, if it is given.
    fn own(&self, name: &str) -> Option<HostValue<'a>> {
        self.bound.get(name)
    }
}

/// Executes a builtin; `None` if it has the same meaning as in any host code.
pub(super) fn run<'a>(host: &mut Host<'a>, means: Means, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    match means {
        Means::Nothing => nothing(host, call),
        Means::CreateTensor => create_tensor(host, call),
        Means::Array => array(host, call),
        Means::Element => element(host, call),
        Means::Yields => yields(host, call),
        Means::Constant => constant(host, call),
        Means::Cast => cast(host, call),
        Means::Slice => slice(host, call),
        Means::View => view(host, call),
        Means::Reshape => reshape(host, call),
        Means::Transpose => transpose(host, call),
        Means::Dim => dim(host, call),
        Means::Tagged => tagged(host, call),
        Means::NoDep => no_dep(host, call),
        Means::Attributes => attributes(host, call),
        Means::Print => print(host, call),
        Means::Condition => condition(host, call),
        Means::StaticAssert => static_assert(host, call),
        Means::Read => read(host, call),
        Means::Write => write(host, call),
        Means::Assemble => assemble(host, call),
        Means::Clusters => clusters(host, call),
        Means::VectorCores => vector_cores(host, call),
    }
}

/// The value of a call without a result.
fn none<'a>() -> HostValue<'a> {
    HostValue::Const(Const::None)
}

/// A builtin without effect on a program, or an id that no task has.
fn nothing<'a>(_: &mut Host<'a>, _: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(none())
}

fn create_tensor<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(host.create(&|name| call.own(name), call.span))
}

fn array<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(match call.own("extent") {
        Some(HostValue::Const(Const::Int(n))) if (0..=MOST_SEEN as i64).contains(&n) => {
            // An id that no task has, or a number.
            let first = match call.own("dtype") {
                Some(HostValue::Const(Const::DType(_))) => HostValue::int(0),
                _ => none(),
            };
            HostValue::list(vec![first; n as usize])
        }
        other => {
            let value = other.unwrap_or_else(|| unknown(call.span, "a size"));
            host.not_known(&value, "the size of this array", call.span)
        }
    })
}

fn element<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(match (call.own("array").and_then(|list| list.items()), call.own("index")) {
        (Some(items), Some(HostValue::Const(Const::Int(n)))) if (n as usize) < items.len() => items[n as usize].clone(),
        _ => host.stop_at("array", call.span, "an element that the array does not have"),
    })
}

fn yields<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let mut values: Vec<HostValue<'a>> = call.args.iter().map(|arg| arg.1.clone()).collect();
    let value = match values.len() {
        1 => values.remove(0),
        _ => HostValue::Tuple(Rc::new(values)),
    };
    host.rec().yielded = Some(value.clone());
    Some(value)
}

/// `pl.const(value, dtype)`.
fn constant<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let (number, ty) = (call.own("value")?, call.own("dtype"));
    of_type(host, number, ty, false, call.span)
}

/// `pl.cast` of a number.
fn cast<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let (number, ty) = (call.own("x"), call.own("target_type"));
    let cuts = match call.own("mode") {
        Some(HostValue::Const(Const::Str(mode))) => matches!(&*mode, "none" | "trunc"),
        _ => true,
    };
    let known = of_type(host, number?, ty, !cuts, call.span);
    known.or_else(|| Some(host.misplaced("`pl.cast`", call.span)))
}

/// A number converted to a type; `None` for values that are not numbers. With `rounds`, a float is not converted
/// to an integer.
fn of_type<'a>(
    host: &mut Host<'a>,
    number: HostValue<'a>,
    ty: Option<HostValue<'a>>,
    rounds: bool,
    span: Span,
) -> Option<HostValue<'a>> {
    Some(match (number, ty) {
        (HostValue::Const(number), Some(HostValue::Const(Const::DType(ty)))) => match (&number, ty.is_float()) {
            (Const::Int(n), true) => HostValue::Const(Const::Float(*n as f64)),
            (Const::Float(x), false) if !rounds => match crate::constants::int_of(*x) {
                Ok(whole) => HostValue::Const(whole),
                Err(why) => host.stop_at("argument", span, why),
            },
            (Const::Float(_), false) => {
                host.stop_at("argument", span, "a number outside of kernels is converted by `mode=\"trunc\"`")
            }
            _ => HostValue::Const(number),
        },
        (HostValue::Const(_), other) => {
            let value = other.unwrap_or_else(|| unknown(span, "no type"));
            host.not_known(&value, "the type of this number", span)
        }
        (number @ HostValue::Unknown(_), _) => number,
        _ => return None,
    })
}

fn slice<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let span = call.span;
    Some(match (call.own("x"), call.own("shape"), call.own("offset")) {
        (Some(HostValue::Device(view)), Some(shape), Some(offset)) => {
            let window = host.tail(&view, &shape, &offset, span);
            match (window, call.own("drop_dims")) {
                (HostValue::Device(window), Some(dropped)) => host.dropped(&window, &dropped, span),
                (window, _) => window,
            }
        }
        _ => host.misplaced("`pl.slice`", span),
    })
}

fn view<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let span = call.span;
    Some(match (call.own("x"), call.own("shape"), call.own("offset")) {
        (Some(HostValue::Device(view)), Some(shape), Some(offset)) => host.window(&view, &shape, &offset, span),
        (Some(HostValue::Device(view)), shape, None) => {
            let shape = shape.filter(|shape| !matches!(shape, HostValue::Const(Const::None)));
            let other = call.own("layout").and_then(|layout| match layout {
                HostValue::Const(Const::Member(_, name)) => Some(name.to_string()),
                _ => None,
            });
            match (shape, other.as_deref()) {
                (Some(shape), None | Some("ND")) => host.reshaped(&view, &shape, span),
                (None, None | Some("ND")) => HostValue::Device(view),
                (None, Some("DN")) if view.shape.len() >= 2 => host.transposed(&view, -2, -1, span),
                _ => {
                    let error = Diagnostic::error("layout", span, "an orchestration cannot give a tensor this layout");
                    host.stop(error.help("take the view in the kernel"))
                }
            }
        }
        _ => host.misplaced("`pl.view`", span),
    })
}

fn reshape<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(match (call.own("x"), call.own("shape")) {
        (Some(HostValue::Device(view)), Some(shape)) => host.reshaped(&view, &shape, call.span),
        _ => host.misplaced("`pl.reshape`", call.span),
    })
}

fn transpose<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let axis = |name: &str| match call.own(name) {
        Some(HostValue::Const(Const::Int(axis))) => Some(axis),
        _ => None,
    };
    Some(match (call.own("x"), axis("axis1"), axis("axis2")) {
        (Some(HostValue::Device(view)), Some(one), Some(two)) => host.transposed(&view, one, two, call.span),
        _ => host.misplaced("`pl.transpose`", call.span),
    })
}

fn dim<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    match (call.own("tensor"), call.own("axis")) {
        (Some(HostValue::Device(view)), Some(HostValue::Const(Const::Int(n)))) => {
            let axis = if n < 0 { n + view.shape.len() as i64 } else { n };
            Some(match usize::try_from(axis).ok().and_then(|axis| view.shape.get(axis)) {
                Some(extent) => HostValue::int(*extent as i64),
                None => host.stop_at("dim", call.span, format!("the tensor has no dimension {n}")),
            })
        }
        _ => None,
    }
}

fn tagged<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(match call.own("x") {
        Some(HostValue::Device(_)) => none(),
        _ => host.stop_at("argument", call.span, "`pl.dump_tag` takes a tensor"),
    })
}

fn no_dep<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(match call.own("x") {
        Some(HostValue::Device(view)) => HostValue::Device(Rc::new(View { tracked: false, ..(*view).clone() })),
        _ => host.stop_at("no-dep", call.span, "`pl.no_dep` takes a tensor"),
    })
}

fn attributes<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    call.own("attrs");
    Some(host.attributes(call.args, call.span))
}

fn print<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let said = call.args.iter().map(|arg| arg.1.said()).collect::<Vec<_>>().join(" ");
    let note = Diagnostic::warning("static-print", call.span, said);
    host.rec().diags.push(Diagnostic { severity: slipring_ir::Severity::Note, ..note });
    Some(none())
}

fn condition<'a>(_: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    call.own("condition").map(|_| none())
}

fn static_assert<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let (condition, said) = (call.own("condition")?, call.own("msg"));
    Some(match condition.as_bool() {
        Some(true) => none(),
        Some(false) => {
            let said = said.and_then(|text| text.text()).unwrap_or("the assertion does not hold".into());
            host.stop_at("static-assert", call.span, said)
        }
        None => host.not_known(&condition, "this condition", call.span),
    })
}

fn read<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(match (call.own("src"), call.own("offset")) {
        (Some(HostValue::Device(view)), Some(at)) => host.read_number(&view, &[at], call.span),
        _ => host.stop_at("argument", call.span, "`pl.read` takes a tensor and indices"),
    })
}

fn write<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(match (call.own("dst"), call.own("offset"), call.own("value")) {
        (Some(HostValue::Device(view)), Some(at), Some(value)) => host.write_number(&view, &[at], &value, call.span),
        _ => host.stop_at("argument", call.span, "`pl.write` takes a tensor, indices and a number"),
    })
}

fn assemble<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    let span = call.span;
    Some(match (call.own("target"), call.own("source"), call.own("offset")) {
        (Some(HostValue::Device(into)), Some(HostValue::Device(part)), Some(offset)) => {
            if let Some(HostValue::Const(Const::Member(_, kind))) = call.own("atomic")
                && !kind.starts_with("None")
            {
                let error = Diagnostic::error("misplaced-op", span, "an atomic `pl.assemble` outside every kernel");
                return Some(host.stop(error.help("put it into the scope that makes the part")));
            }
            let shape = HostValue::list(part.shape.iter().map(|n| HostValue::int(*n as i64)).collect());
            match host.window(&into, &shape, &offset, span) {
                HostValue::Device(window) => host.assembled(&into, &part, &window, span),
                stopped => stopped,
            }
        }
        _ => host.misplaced("`pl.assemble`", span),
    })
}

fn clusters<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(host.cores(Question::Clusters, call.span))
}

fn vector_cores<'a>(host: &mut Host<'a>, call: &Followed<'_, 'a>) -> Option<HostValue<'a>> {
    Some(host.cores(Question::VectorCores, call.span))
}
