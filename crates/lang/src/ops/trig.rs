//! Sine and cosine, which have no instruction: the steps documented by the public compiler.
//!
//! The argument is reduced by multiples of π, which is subtracted in parts, and a polynomial of degree 9 approximates
//! the rest (public documentation of its passes, `LowerCompositeOps`).

use slipring_ir::Diagnostic;
use slipring_pto as pto;
use slipring_tile::Elem;

use super::entry::{Call, ENTRY, Entry, entries};
use super::operands::vector;
use crate::dtype::DType;
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Value};

const TRIG: Entry = Entry { params: "x/input/tile", op: Some(&pto::TMULS), ..ENTRY };

entries! {
    "sin" => "Sine of FP32, in radians: reduced by π in four parts, then a polynomial": TRIG,
        lower: |lower, call| wave(lower, call, false);
    "cos" => "Cosine of FP32, in radians: reduced by π in four parts, then a polynomial": TRIG,
        lower: |lower, call| wave(lower, call, true);
}

/// 1 / π.
const PER_PI: f64 = 0.318_309_887_328_186_04;
/// The parts of π, the largest first.
const PI: [f64; 5] = [
    3.140_625,
    0.000_967_025_756_835_937_5,
    6.277_114_152_908_325e-7,
    1.216_449_163_621_291_5e-10,
    -1.029_062_320_052_998e-13,
];
/// π / 2, in two parts.
const HALF_PI: [f64; 2] = [1.570_796_370_506_286_6, -4.371_139_000_189_375e-8];
/// The coefficients of t⁹, t⁷, t⁵ and t³.
const ODD: [f64; 4] = [2.604_926_501e-6, -1.980_894_471e-4, 8.333_049_340e-3, -1.666_665_792e-1];

fn wave(lower: &mut Lower<'_>, call: &Call, cosine: bool) -> Lowered {
    let x = vector(lower, call, "x")?;
    let elem = lower.tile(x).ty.layout.elem;
    if elem != Elem::F32 {
        let message = format!("`pl.{}` of {} elements", call.entry.names[0], DType::Elem(elem).name());
        let error = Diagnostic::error("elem-types", call.span, message).help("convert them: `pl.cast(x, pl.FP32)`");
        return Err(lower.report(error));
    }
    let x = Value::Tile(x);
    let float = |n: f64| Value::Const(Const::Float(n));
    let mut op = |name: &'static str, args: Vec<Value>| lower.call_by_name(name, args, call.span);
    let rounded = |op: &mut dyn FnMut(&'static str, Vec<Value>) -> Lowered, value: Value, mode: &str| {
        let to = |elem| Value::Const(Const::DType(DType::Elem(elem)));
        let whole = op("cast", vec![value, to(Elem::I32), Value::Const(Const::Str(mode.into()))])?;
        op("cast", vec![whole, to(Elem::F32), Value::Const(Const::Str("none".into()))])
    };
    let mut halves = op("muls", vec![x.clone(), float(PER_PI)])?;
    if cosine {
        halves = op("adds", vec![halves, float(0.5)])?;
    }
    let k = rounded(&mut op, halves, if cosine { "rint" } else { "round" })?;
    let mut t = x;
    for (at, part) in PI.into_iter().enumerate() {
        let off = op("muls", vec![k.clone(), float(part)])?;
        t = op("sub", vec![t, off])?;
        match at {
            1 if cosine => t = op("adds", vec![t, float(HALF_PI[0])])?,
            4 if cosine => t = op("adds", vec![t, float(HALF_PI[1])])?,
            _ => {}
        }
    }
    // (-1)^k = floor(k / 2) · 4 - 2 · k + 1
    let half = op("muls", vec![k.clone(), float(0.5)])?;
    let below = rounded(&mut op, half, "floor")?;
    let below = op("muls", vec![below, float(4.0)])?;
    let twice = op("muls", vec![k, float(-2.0)])?;
    let sign = op("add", vec![below, twice])?;
    let sign = op("adds", vec![sign, float(1.0)])?;
    let square = op("mul", vec![t.clone(), t.clone()])?;
    let mut sum = op("muls", vec![square.clone(), float(ODD[0])])?;
    for (at, coefficient) in ODD[1..].iter().enumerate() {
        if at > 0 {
            sum = op("mul", vec![sum, square.clone()])?;
        }
        sum = op("adds", vec![sum, float(*coefficient)])?;
    }
    sum = op("mul", vec![sum, square])?;
    sum = op("adds", vec![sum, float(1.0)])?;
    let odd = op("mul", vec![t, sum])?;
    op("mul", vec![sign, odd])
}
