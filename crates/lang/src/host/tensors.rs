//! Host tensors: their shapes and types. Their contents are not known.

use std::rc::Rc;

use ruff_python_ast::{Expr, Operator};
use slipring_ir::Span;
use slipring_tile::Elem;

use super::value::HostValue;
use crate::dtype::{array_name, elem_named};
use crate::host::state::Host;
use crate::host::value::unknown;
use crate::value::Const;

/// The element type of a name such as `torch.float32`.
pub(super) fn elem(value: &HostValue<'_>) -> Option<Elem> {
    let HostValue::Path(path) = value else { return None };
    let (module, name) = path.rsplit_once('.')?;
    let float64 = module != "torch" && name == "float";
    (matches!(module, "torch" | "numpy" | "np") && !float64).then(|| elem_named(name)).flatten()
}

fn tensor<'a>(shape: Vec<u64>, elem: Elem) -> HostValue<'a> {
    HostValue::Tensor(Rc::new((shape, elem)))
}

/// Extents, if all are known.
fn shape(values: &[HostValue<'_>]) -> Option<Vec<u64>> {
    let values = match values {
        [list @ (HostValue::List(_) | HostValue::Tuple(_))] => list.items()?,
        numbers => numbers.to_vec(),
    };
    let extent = |value: &HostValue<'_>| match value {
        HostValue::Const(Const::Int(n)) => u64::try_from(*n).ok(),
        _ => None,
    };
    values.iter().map(extent).collect()
}

/// A member that is not a function.
pub(super) fn member<'a>(own: &Rc<(Vec<u64>, Elem)>, name: &str, span: Span) -> Option<HostValue<'a>> {
    let ints = |shape: &[u64]| shape.iter().map(|n| HostValue::int(*n as i64)).collect();
    Some(match name {
        "shape" => HostValue::Tuple(Rc::new(ints(&own.0))),
        "dtype" => match array_name(own.1) {
            Some(word) => HostValue::Path(format!("torch.{word}").into()),
            None => unknown(span, "a type"),
        },
        "T" | "mT" => tensor(own.0.iter().rev().copied().collect(), own.1),
        "ndim" => HostValue::int(own.0.len() as i64),
        "data" => HostValue::Tensor(own.clone()),
        _ => return None,
    })
}

/// A function of torch or numpy that makes a tensor; `None` for other functions.
pub(super) fn make<'a>(
    name: &str,
    args: &[HostValue<'a>],
    keyword: &dyn Fn(&str) -> Option<HostValue<'a>>,
    span: Span,
) -> Option<HostValue<'a>> {
    let (module, name) = name.rsplit_once('.')?;
    let module = module.split('.').next()?;
    if !matches!(module, "torch" | "numpy" | "np") {
        return None;
    }
    let usual = if module == "torch" { Some(Elem::F32) } else { None };
    let said = keyword("dtype");
    let no_type = || unknown(span, "a tensor of a type that is not known here");
    let with = |shape: Option<Vec<u64>>, usual: Option<Elem>| {
        let elem = match &said {
            Some(word) => elem(word),
            None => usual,
        };
        match (shape, elem) {
            (Some(shape), Some(elem)) => tensor(shape, elem),
            (None, _) => unknown(span, "a tensor whose shape is not known"),
            _ => no_type(),
        }
    };
    let size = keyword("size");
    let given = || match &size {
        Some(size) => shape(std::slice::from_ref(size)),
        None => shape(args),
    };
    let first_shape = || shape(args.first().map(std::slice::from_ref)?);
    Some(match name {
        "randn" | "rand" | "zeros" | "ones" | "empty" => with(given(), usual),
        "full" => {
            let fill = args.get(1).cloned().or_else(|| keyword("fill_value"));
            let ints = matches!(fill, Some(HostValue::Const(Const::Int(_))));
            with(if size.is_some() { given() } else { first_shape() }, if ints { Some(Elem::I64) } else { usual })
        }
        "zeros_like" | "ones_like" | "randn_like" | "rand_like" | "empty_like" | "full_like" => match args.first() {
            Some(HostValue::Tensor(own)) => with(Some(own.0.clone()), Some(own.1)),
            _ => unknown(span, "a tensor like one that is not known"),
        },
        "randint" => {
            let shapes = args.iter().rev().find(|arg| matches!(arg, HostValue::Tuple(_) | HostValue::List(_)));
            let own = size.as_ref().or(shapes);
            with(own.and_then(|size| shape(std::slice::from_ref(size))), Some(Elem::I64))
        }
        "randperm" => with(shape(args), Some(Elem::I64)),
        "arange" => {
            let ints: Option<Vec<i64>> = args
                .iter()
                .map(|arg| if let HostValue::Const(Const::Int(n)) = arg { Some(*n) } else { None })
                .collect();
            let count = match ints.as_deref() {
                Some([end]) => Some(*end),
                Some([first, end]) => end.checked_sub(*first),
                Some([first, end, step]) if *step != 0 => {
                    Some((end.saturating_sub(*first) + step - step.signum()) / step)
                }
                _ => None,
            };
            with(count.and_then(|n| u64::try_from(n).ok()).map(|n| vec![n]), Some(Elem::I64))
        }
        "tensor" | "array" | "asarray" => {
            let mut extents = Vec::new();
            let mut value = args.first().cloned()?;
            while let Some(items) = value.items().filter(|_| !matches!(value, HostValue::Const(_))) {
                extents.push(items.len() as u64);
                match items.first() {
                    Some(inner) if extents.len() < 8 => value = inner.clone(),
                    _ => break,
                }
            }
            let elem = match value {
                HostValue::Const(Const::Int(_)) => Some(Elem::I64),
                HostValue::Const(Const::Float(_)) => usual,
                _ => None,
            };
            with(Some(extents), elem)
        }
        "matmul" | "mm" => binary(Operator::MatMult, args.first()?, args.get(1)?, span),
        "exp" | "sqrt" | "relu" | "sigmoid" | "rsqrt" | "abs" | "log" | "softmax" | "clone" | "maximum" | "minimum"
        | "add" | "sub" | "mul" | "div" | "neg" | "silu" | "round" | "floor" | "sin" | "cos" | "tanh" => {
            match args.first() {
                Some(HostValue::Tensor(own)) => HostValue::Tensor(own.clone()),
                _ => unknown(span, format!("a call of `{module}.{name}`")),
            }
        }
        _ => return None,
    })
}

/// A method of a tensor; `None` for results that are not tensors.
pub(super) fn method<'a>(
    own: &Rc<(Vec<u64>, Elem)>,
    name: &str,
    args: &[HostValue<'a>],
    keyword: &dyn Fn(&str) -> Option<HostValue<'a>>,
    span: Span,
) -> HostValue<'a> {
    let same = || HostValue::Tensor(own.clone());
    let int = |at: usize| match args.get(at) {
        Some(HostValue::Const(Const::Int(n))) => {
            let n = if *n < 0 { *n + own.0.len() as i64 } else { *n };
            usize::try_from(n).ok()
        }
        _ => None,
    };
    if let Some(elem) = elem_named(name) {
        return tensor(own.0.clone(), elem);
    }
    match name {
        "clone" | "contiguous" | "cpu" | "npu" | "cuda" | "detach" | "share_memory_" | "fill_" | "zero_"
        | "normal_" | "uniform_" | "copy_" | "abs" | "exp" | "sqrt" | "neg" | "relu" | "sigmoid" | "clamp"
        | "clamp_" | "mul_" | "add_" | "round" | "div_" | "sub_" | "random_" | "softmax" | "pow" | "copy" => same(),
        "to" | "type" | "astype" => {
            let ty = args.iter().find_map(elem).or_else(|| keyword("dtype").as_ref().and_then(elem));
            tensor(own.0.clone(), ty.unwrap_or(own.1))
        }
        "reshape" | "view" => {
            if let Some(elem) = args.first().and_then(elem) {
                return match elem.bytes() == own.1.bytes() {
                    true => tensor(own.0.clone(), elem),
                    false => unknown(span, "a tensor seen with another type"),
                };
            }
            let values = match args {
                [list @ (HostValue::List(_) | HostValue::Tuple(_))] => list.items().unwrap_or_default(),
                numbers => numbers.to_vec(),
            };
            let numbers: Option<Vec<i64>> =
                values.iter().map(|v| if let HostValue::Const(Const::Int(n)) = v { Some(*n) } else { None }).collect();
            let total = own.0.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
            let (Some(numbers), Some(total)) = (numbers, total) else { return unknown(span, "a reshaped tensor") };
            let known = numbers.iter().filter(|n| **n >= 0).try_fold(1u64, |all, n| all.checked_mul(*n as u64));
            let rest = known.filter(|known| *known > 0).map_or(0, |known| total / known);
            tensor(numbers.iter().map(|n| if *n < 0 { rest } else { *n as u64 }).collect(), own.1)
        }
        "t" => tensor(own.0.iter().rev().copied().collect(), own.1),
        "transpose" => match (int(0), int(1)) {
            (Some(a), Some(b)) if a < own.0.len() && b < own.0.len() => {
                let mut shape = own.0.clone();
                shape.swap(a, b);
                tensor(shape, own.1)
            }
            _ => unknown(span, "a transposed tensor"),
        },
        "unsqueeze" => match args.first() {
            Some(HostValue::Const(Const::Int(n))) => {
                let at = if *n < 0 { *n + own.0.len() as i64 + 1 } else { *n };
                let mut shape = own.0.clone();
                match usize::try_from(at) {
                    Ok(at) if at <= shape.len() => shape.insert(at, 1),
                    _ => return unknown(span, "a tensor with another axis"),
                }
                tensor(shape, own.1)
            }
            _ => unknown(span, "a tensor with another axis"),
        },
        "size" => match (args.is_empty(), int(0)) {
            (true, _) => member(own, "shape", span).unwrap_or_else(|| unknown(span, "a shape")),
            (_, Some(at)) if at < own.0.len() => HostValue::int(own.0[at] as i64),
            _ => unknown(span, "an extent"),
        },
        "numel" => {
            let total = own.0.iter().try_fold(1i64, |all, n| all.checked_mul(*n as i64));
            total.map_or_else(|| unknown(span, "a number of elements"), HostValue::int)
        }
        "dim" => HostValue::int(own.0.len() as i64),
        _ => unknown(span, format!("`{name}` of a tensor")),
    }
}

/// An operator on tensors: extents of 1 are broadcast, and types of two tensors must be equal.
pub(super) fn binary<'a>(op: Operator, a: &HostValue<'a>, b: &HostValue<'a>, span: Span) -> HostValue<'a> {
    let not_known = || unknown(span, "an operator on tensors");
    match (a, b) {
        (HostValue::Tensor(x), HostValue::Tensor(y)) if op == Operator::MatMult => match (&x.0[..], &y.0[..]) {
            ([.., m, _], [.., n]) if x.1 == y.1 => {
                let mut shape = x.0[..x.0.len() - 2].to_vec();
                shape.extend([*m, *n]);
                tensor(shape, x.1)
            }
            _ => not_known(),
        },
        (HostValue::Tensor(x), HostValue::Tensor(y)) if x.1 == y.1 => {
            let rank = x.0.len().max(y.0.len());
            let extent = |own: &[u64], at: usize| (at + own.len()).checked_sub(rank).map_or(1, |at| own[at]);
            let one = |at| match (extent(&x.0, at), extent(&y.0, at)) {
                (n, 1) | (1, n) => Some(n),
                (n, m) => (n == m).then_some(n),
            };
            (0..rank).map(one).collect::<Option<Vec<u64>>>().map_or_else(not_known, |shape| tensor(shape, x.1))
        }
        (HostValue::Tensor(own), HostValue::Const(c)) | (HostValue::Const(c), HostValue::Tensor(own)) => match c {
            Const::Int(_) => HostValue::Tensor(own.clone()),
            Const::Float(_) if own.1.is_float() => HostValue::Tensor(own.clone()),
            _ => not_known(),
        },
        _ => not_known(),
    }
}

/// A part of a tensor.
pub(super) fn part<'a>(
    host: &mut Host<'a>,
    own: &Rc<(Vec<u64>, Elem)>,
    parts: &[&'a Expr],
    span: Span,
) -> HostValue<'a> {
    let mut shape = Vec::new();
    let mut axes = own.0.iter();
    for part in parts {
        if part.is_ellipsis_literal_expr() {
            let behind = parts.len() - 1;
            while axes.len() > behind.saturating_sub(shape.len()) {
                shape.extend(axes.next());
            }
            continue;
        }
        if part.is_none_literal_expr() {
            shape.push(1);
            continue;
        }
        let Some(extent) = axes.next().copied() else { return unknown(span, "a part of a tensor") };
        let Expr::Slice(slice) = part else {
            match host.expr(part) {
                HostValue::Const(Const::Int(_)) => continue,
                _ => return unknown(span, "a part of a tensor"),
            }
        };
        let mut bound = |expr: &'a Option<Box<Expr>>, default: u64| match expr.as_ref().map(|expr| host.expr(expr)) {
            None => Some(default),
            Some(HostValue::Const(Const::Int(n))) => {
                let n = if n < 0 { n.saturating_add(extent as i64) } else { n };
                Some(n.clamp(0, extent as i64) as u64)
            }
            _ => None,
        };
        let (first, end) = (bound(&slice.lower, 0), bound(&slice.upper, extent));
        match (first, end, &slice.step) {
            (Some(first), Some(end), None) => shape.push(end.saturating_sub(first)),
            _ => return unknown(span, "a part of a tensor"),
        }
    }
    shape.extend(axes);
    tensor(shape, own.1)
}
