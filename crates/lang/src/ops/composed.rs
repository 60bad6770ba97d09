//! Functions that all tile languages have, and that take several instructions here.

use ruff_python_ast::Operator;
use slipring_ir::{Attr, Diagnostic};
use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::{Call, ENTRY, Entry, entries};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Value};

/// Composed of the ops in its documentation.
const OF_ONE: Entry = Entry { params: "x/input/tile", ..ENTRY };

entries! {
    "zeros" => "A tile of zeros: `pl.full`": ENTRY, params: "shape, dtype", lower: zeros;
    "ones" => "A tile of ones: `pl.full`": ENTRY, params: "shape, dtype", lower: ones;
    "zeros_like" => "A tile like another one, of zeros: `pl.expands`": OF_ONE, lower: zeros_like;
    "ones_like" => "A tile like another one, of ones: `pl.expands`": OF_ONE, lower: ones_like;
    "square" => "Each element times itself: `pl.mul`": OF_ONE, lower: square;
    "sigmoid" => "`pl.recip(pl.exp(-x) + 1.0)`": OF_ONE, lower: sigmoid;
    "silu" => "`x * pl.recip(pl.exp(-x) + 1.0)`": OF_ONE, lower: silu;
    "tanh" => "`1.0 - pl.recip(pl.exp(x * 2.0) + 1.0) * 2.0`": OF_ONE, lower: tanh;
    "clamp" | "clip" => "Elements between two bounds: `pl.maximum(pl.minimum(x, most), least)`": ENTRY,
        params: "x/input/tile, least/min, most/max", lower: clamp;
    "cdiv" => "A quotient of integers, rounded up: `(a + b - 1) // b`": ENTRY, params: "a, b", lower: cdiv;
}

fn number(x: f64) -> Value {
    Value::Const(Const::Float(x))
}

/// The result of an op of the language on a value and other arguments.
fn then(lower: &mut Lower<'_>, call: &Call, name: &'static str, value: Value, others: &[Value]) -> Lowered {
    let args = std::iter::once(value).chain(others.iter().cloned()).collect();
    lower.call_by_name(name, args, call.span)
}

/// A new tile filled with one number.
fn constant(lower: &mut Lower<'_>, call: &Call, n: i64) -> Lowered {
    let (shape, dtype) = (call.need(lower, "shape")?.0, call.need(lower, "dtype")?.0);
    then(lower, call, "full", shape, &[dtype, Value::Const(Const::Int(n))])
}

fn zeros(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    constant(lower, call, 0)
}

fn ones(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    constant(lower, call, 1)
}

fn zeros_like(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let x = call.need(lower, "x")?.0;
    then(lower, call, "expands", x, &[Value::Const(Const::Int(0))])
}

fn ones_like(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let x = call.need(lower, "x")?.0;
    then(lower, call, "expands", x, &[Value::Const(Const::Int(1))])
}

fn square(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    // Loaded once.
    let x = Value::Tile(super::operands::vector(lower, call, "x")?);
    then(lower, call, "mul", x.clone(), &[x])
}

/// The operand of a function that is only defined for floats.
fn floats(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let x = super::operands::vector(lower, call, "x")?;
    let elem = lower.tile(x).ty.layout.elem;
    if elem.is_float() {
        return Ok(Value::Tile(x));
    }
    let message = format!("`pl.{}` of {} elements", call.entry.names[0], DType::Elem(elem).name());
    let error = Diagnostic::error("elem-types", call.span, message).help("convert them first: `pl.cast(x, pl.FP32)`");
    Err(lower.report(error))
}

fn sigmoid(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let x = floats(lower, call)?;
    sigmoid_of(lower, call, x)
}

fn sigmoid_of(lower: &mut Lower<'_>, call: &Call, x: Value) -> Lowered {
    let negative = then(lower, call, "neg", x, &[])?;
    let power = then(lower, call, "exp", negative, &[])?;
    let sum = then(lower, call, "add", power, &[number(1.0)])?;
    then(lower, call, "recip", sum, &[])
}

fn silu(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let x = floats(lower, call)?;
    let gate = sigmoid_of(lower, call, x.clone())?;
    then(lower, call, "mul", x, &[gate])
}

fn tanh(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let x = floats(lower, call)?;
    let twice = then(lower, call, "mul", x, &[number(2.0)])?;
    let power = then(lower, call, "exp", twice, &[])?;
    let sum = then(lower, call, "add", power, &[number(1.0)])?;
    let part = then(lower, call, "recip", sum, &[])?;
    let part = then(lower, call, "mul", part, &[number(-2.0)])?;
    then(lower, call, "add", part, &[number(1.0)])
}

fn clamp(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let [x, least, most] = ["x", "least", "most"].map(|name| call.need(lower, name));
    let (x, least, most) = (x?.0, least?.0, most?.0);
    let below = then(lower, call, "minimum", x, &[most])?;
    then(lower, call, "maximum", below, &[least])
}

fn cdiv(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let ((a, _), (b, _)) = (call.need(lower, "a")?, call.need(lower, "b")?);
    let sum = lower.binary_number(Operator::Add, &a, &b, call.span)?;
    let sum = lower.binary_number(Operator::Sub, &sum, &Value::Const(Const::Int(1)), call.span)?;
    lower.binary_number(Operator::FloorDiv, &sum, &b, call.span)
}

/// Consecutive integers, possibly as floats.
pub(super) fn consecutive(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let shape = call.need_shape(lower, "shape")?;
    let asked = call.elem(lower, "dtype")?.unwrap_or(slipring_tile::Elem::I32);
    // The op counts in integers.
    let elem = if asked.is_float() { slipring_tile::Elem::I32 } else { asked };
    let (start, span) = call.need(lower, "start")?;
    let start = match start {
        Value::Const(Const::Float(n)) if asked.is_float() && n.fract() == 0.0 && n.abs() < 2f64.powi(31) => {
            Value::Const(Const::Int(n as i64))
        }
        start => start,
    };
    let start = lower.number(&start, crate::dtype::DType::Elem(elem), span)?;
    let descending = call.flag(lower, "descending")?;
    let target = lower.new_tile(&shape, elem, Space::Vec, "ci");
    let dst = lower.tile(target).value;
    let attrs: &[_] = if descending { &[("descending", Attr::Bool(true))] } else { &[] };
    lower.e.op(&pto::TCI, &[("start", &[start]), ("dst", &[dst])], attrs, &[]);
    if asked.is_float() {
        let dtype = Value::Const(Const::DType(crate::dtype::DType::Elem(asked)));
        return lower.call_by_name("cast", vec![Value::Tile(target), dtype], call.span);
    }
    Ok(Value::Tile(target))
}
