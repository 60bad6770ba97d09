//! Further arguments of a tensor or tile type after shape and element type: `pl.Tensor[[64, 64], pl.FP16, pl.NZ]`.
//!
//! No argument is ignored: each has an effect, is reported to have none, or is an error.

use ruff_python_ast::{Expr, ExprCall};
use slipring_ir::{Diagnostic, Reported, Severity, Span};
use slipring_tile::{Elem, Space};

use super::lowering::{Lower, Lowered};
use crate::globals::path_of;
use crate::syntax::at;
use crate::value::{Const, Index, Value, show};

/// The layout of a tensor in row order.
const ROWS: &str = "ND";

/// An argument after the element type.
enum Further {
    /// `pl.NZ`, `pl.TensorLayout.NZ`, or a name for it.
    Layout(String),
    /// `pl.Mem.Vec`.
    Memory(Space),
    /// `pl.MemRef(…)`.
    Place,
    /// `pl.TensorView(…)`, `pl.TileView(…)`, or a name for it: what it says, by name.
    View(&'static str, Vec<(String, Value, Span)>),
}

/// Layouts of tensors by their names in the language.
const LAYOUTS: &[&str] = &[ROWS, "DN", "NZ", "MX_A_ZZ", "MX_B_NN"];

fn further(lower: &mut Lower<'_>, what: &str, arg: &Expr) -> Lowered<Further> {
    // `pl.MemRef("ub", slots=2)[i % 2]` is one of several buffers.
    let named = if let Expr::Subscript(slot) = arg { &slot.value } else { arg };
    let path = path_of(lower.globals, &lower.names.env, named).unwrap_or_default();
    let last = path.rsplit('.').next().unwrap_or_default();
    if path.starts_with("pl.") && LAYOUTS.contains(&last) {
        return Ok(Further::Layout(last.to_string()));
    }
    match (last, arg) {
        ("MemRef", _) => return Ok(Further::Place),
        ("TensorView", Expr::Call(call)) => return said(lower, "TensorView", call),
        ("TileView", Expr::Call(call)) => return said(lower, "TileView", call),
        _ => {}
    }
    let span = at(arg);
    let text = lower.e.module.source.text[span.start as usize..span.end as usize].to_string();
    if matches!(arg, Expr::Name(_) | Expr::Attribute(_)) {
        match lower.expr(arg)? {
            Value::Const(Const::Member("TensorLayout", name)) if LAYOUTS.contains(&&*name) => {
                return Ok(Further::Layout(name.to_string()));
            }
            Value::Const(Const::Space(space)) => return Ok(Further::Memory(space)),
            Value::Tuple(items) => {
                if let Some(view) = named_view(&items, span) {
                    return Ok(view);
                }
            }
            _ => {}
        }
    }
    let error = Diagnostic::error("type-argument", span, format!("`{text}` says nothing of {what}")).help(
        "a type has a shape and an element type; a tensor's may have `pl.MX_A_ZZ` or `pl.MX_B_NN`, a tile's its memory",
    );
    Err(lower.report(error))
}

/// The further arguments of a parameter's type: the memory whose packed scales it holds, if any.
pub(crate) fn of_parameter(
    lower: &mut Lower<'_>,
    args: &[&Expr],
    (dims, elem): (&[u64], Elem),
    span: Span,
) -> Lowered<Option<Space>> {
    let mut scales = None;
    for arg in args.iter().skip(2) {
        match further(lower, "a tensor", arg)? {
            Further::Layout(name) if name.starts_with("MX_") => {
                scales = Some(packed_scales(lower, &name, (dims, elem), span)?);
            }
            Further::Layout(name) => rows_only(lower, &name, at(*arg))?,
            Further::Memory(_) => return Err(no_memory(lower, at(*arg))),
            Further::Place => place(lower, at(*arg)),
            Further::View(name, said) => view(lower, name, &said, dims, None)?,
        }
    }
    Ok(scales)
}

/// Checks a value against the further arguments of its name's type.
pub(crate) fn of_value(lower: &mut Lower<'_>, tile: bool, args: &[&Expr], dims: &[u64], value: &Value) -> Lowered<()> {
    for arg in args.iter().skip(2) {
        let span = at(*arg);
        match (further(lower, if tile { "a tile" } else { "a tensor" }, arg)?, value) {
            (Further::Layout(name), Value::Tensor(tensor)) if name.starts_with("MX_") => {
                let has = lower.tensors.roots[tensor.root].scales;
                let wanted = if name == "MX_A_ZZ" { Space::LeftScale } else { Space::RightScale };
                if has != Some(wanted) {
                    let error = Diagnostic::error("annotation", span, format!("this tensor is not packed as `{name}`"))
                        .also(lower.tensors.roots[tensor.root].span, "the tensor");
                    return Err(lower.report(error));
                }
            }
            (Further::Layout(name), _) if tile => {
                let error =
                    Diagnostic::error("type-argument", span, format!("the type of a tile has no layout `{name}`"))
                        .help("how a tile lies follows from its memory: `pl.Mem.Mat`");
                return Err(lower.report(error));
            }
            (Further::Layout(name), _) => rows_only(lower, &name, span)?,
            (Further::Memory(space), Value::Tile(id)) => {
                let own = lower.tile(*id);
                if own.ty.space != space {
                    let message = format!("this is declared a tile in `{space}`, and lies in `{}`", own.ty.space);
                    let error = Diagnostic::error("annotation", span, message)
                        .also(own.span, "the tile is made here")
                        .help("move it there: `pl.move(x, target_memory=…)`, or leave the memory out");
                    return Err(lower.report(error));
                }
            }
            (Further::Memory(Space::Gm), Value::Tensor(_)) => {}
            (Further::Memory(_), Value::Tensor(_)) => return Err(no_memory(lower, span)),
            (Further::Memory(_), _) => {}
            (Further::Place, _) => place(lower, span),
            (Further::View(name, said), value) => view(lower, name, &said, dims, Some(value))?,
        }
    }
    Ok(())
}

/// Reports a layout that tensors do not have.
fn rows_only(lower: &mut Lower<'_>, name: &str, span: Span) -> Lowered<()> {
    if name == ROWS {
        return Ok(());
    }
    let error =
        Diagnostic::error("type-argument", span, format!("a tensor in global memory is not laid out as `{name}`"));
    let error = match name {
        "DN" => error.help(
            "write the shape as its rows lie in memory, and exchange rows and columns where it is read: `b_trans=True`, \
             `pl.transpose_view(x)`",
        ),
        "NZ" => error.help("fractals are a layout of tiles: a load into `pl.Mem.Mat` makes them"),
        _ => error.help("packed scales are a parameter of their own"),
    };
    Err(lower.report(error))
}

fn no_memory(lower: &mut Lower<'_>, span: Span) -> Reported {
    let error = Diagnostic::error("type-argument", span, "a tensor lies in global memory")
        .help("what lies in a memory of a core is a tile: `pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]`");
    lower.report(error)
}

/// Reports that a memory placement in the text has no effect.
fn place(lower: &mut Lower<'_>, span: Span) {
    let note = Diagnostic::warning("type-argument", span, "`pl.MemRef` has no effect")
        .help("it says where the public compiler put it; here memory is given out when the kernel is compiled");
    lower.report(Diagnostic { severity: Severity::Note, ..note });
}

/// What a name of the file for `pl.TensorView(…)` or `pl.TileView(…)` says: its path, then pairs of word and value.
fn named_view(items: &[Value], span: Span) -> Option<Further> {
    let (Value::Path(path), said) = items.split_first()? else { return None };
    let name = ["TensorView", "TileView"].into_iter().find(|name| path.strip_prefix("pl.") == Some(name))?;
    let pair = |item: &Value| match item {
        Value::Tuple(pair) => match &pair[..] {
            [Value::Const(Const::Str(word)), value] => Some((word.to_string(), value.clone(), span)),
            _ => None,
        },
        _ => None,
    };
    Some(Further::View(name, said.iter().map(pair).collect::<Option<_>>()?))
}

/// What `pl.TensorView(…)` or `pl.TileView(…)` says.
fn said(lower: &mut Lower<'_>, name: &'static str, call: &ExprCall) -> Lowered<Further> {
    if let Some(first) = call.arguments.args.first() {
        return Err(lower.error("type-argument", at(first), format!("`pl.{name}` takes its arguments by name")));
    }
    let mut said = Vec::new();
    for keyword in &call.arguments.keywords {
        let word = keyword.arg.as_ref().map_or("**", |arg| arg.as_str());
        said.push((word.to_string(), lower.expr(&keyword.value)?, at(&keyword.value)));
    }
    Ok(Further::View(name, said))
}

/// Checks what `pl.TensorView(…)` or `pl.TileView(…)` says against the actual value.
fn view(
    lower: &mut Lower<'_>,
    name: &str,
    said: &[(String, Value, Span)],
    dims: &[u64],
    value: Option<&Value>,
) -> Lowered<()> {
    for (word, told, span) in said {
        let (span, word) = (*span, word.as_str());
        let numbers = match told {
            Value::Tuple(items) => items.iter().map(|item| lower.index(item, span)).collect::<Lowered<Vec<_>>>()?,
            _ => Vec::new(),
        };
        let known = |list: &[u64]| list.iter().map(|n| Index::Known(*n as i64)).collect::<Vec<_>>();
        let holds = match (word, told) {
            ("layout", Value::Const(Const::Member("TensorLayout", layout))) => &**layout == ROWS,
            ("layout", Value::Path(path)) => path.rsplit('.').next() == Some(ROWS),
            ("stride", _) => numbers.is_empty() || numbers == known(&crate::value::dense(dims)),
            ("valid_shape", _) => {
                let own = match value {
                    Some(Value::Tile(id)) if dims.len() == 2 => lower.tile(*id).valid.map(Vec::from),
                    Some(Value::Tensor(tensor)) if dims.len() == 2 => tensor.valid.as_deref().map(|own| own.to_vec()),
                    _ => None,
                };
                numbers.is_empty() || numbers == own.unwrap_or_else(|| known(dims))
            }
            ("pad", Value::Const(Const::Member(_, word))) => &**word == "null",
            _ => false,
        };
        if !holds {
            let text = lower.e.module.source.text[span.start as usize..span.end as usize].to_string();
            let message = format!("`{word}={text}` of `pl.{name}` is not what this is: {}", show(dims));
            let error = Diagnostic::error("type-argument", span, message).help(
                "types say shapes and elements; strides, layouts and valid parts follow from the ops that make them",
            );
            return Err(lower.report(error));
        }
    }
    Ok(())
}

/// The layout of packed scales with these extents, if their bytes are not in row order.
pub(crate) fn packed_otherwise(scales: Space, dims: &[u64]) -> Option<&'static str> {
    match scales {
        // With one box in each row, box order is row order.
        Space::LeftScale => (dims.get(1) != Some(&2)).then_some("MX_A_ZZ"),
        _ => Some("MX_B_NN"),
    }
}

/// The memory whose scales a tensor holds, by the name of its layout: `pl.Tensor[[32, 4], pl.FP8E8M0, pl.MX_A_ZZ]`.
fn packed_scales(lower: &mut Lower<'_>, name: &str, (dims, elem): (&[u64], Elem), span: Span) -> Lowered<Space> {
    let (scales, groups, outer) = match name {
        "MX_A_ZZ" => (Space::LeftScale, dims.get(1), dims.first()),
        _ => (Space::RightScale, dims.first(), dims.get(1)),
    };
    let whole = |n: Option<&u64>, unit| n.is_some_and(|n| n.is_multiple_of(unit));
    if elem != Elem::F8E8M0 || dims.len() != 2 || !whole(groups, 2) || !whole(outer, 16) {
        let error = Diagnostic::error(crate::forms::NOT_A_TYPE, span, format!("no tensor of packed scales: {}", show(dims)))
            .help("scales are `pl.FP8E8M0`, [m, k / 32] for `pl.MX_A_ZZ` and [k / 32, n] for `pl.MX_B_NN`, m and n multiples of 16, k of 64");
        return Err(lower.report(error));
    }
    if packed_otherwise(scales, dims).is_some() {
        let note = Diagnostic::warning(
            "packed-scales",
            span,
            "these scales are read as the matrix unit has them, not row by row",
        )
        .help(format!("`slipring.pack_scales(scales, pl.{name})` makes them of scales that lie row by row"));
        lower.report(Diagnostic { severity: Severity::Note, ..note });
    }
    Ok(scales)
}
