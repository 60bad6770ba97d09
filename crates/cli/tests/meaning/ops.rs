//! The effect of each `pl.…` on arrays.

mod arrays;
mod composed;
mod cross;
mod masks;
mod reduced;

use slipring_tile::{Elem, RoundMode, Saturation, convert};

use crate::meaning::array::{Array, fold};
use crate::meaning::eval::{Run, elem};
use crate::meaning::number;
use crate::meaning::scalars;
use crate::meaning::value::{Eval, Value};
pub use arrays::{changed, element};
pub use cross::half;
use cross::{gather, pop, push, shard};
pub use masks::chosen;
use masks::{compared, selected};
use reduced::{combined, reduced};

/// Arguments of a call.
pub struct Args {
    pub positional: Vec<Value>,
    keywords: Vec<(String, Value)>,
}

impl Args {
    pub fn get(&self, at: usize, name: &str) -> Option<Value> {
        let is = |keyword: &str| keyword == name || other_names(name).contains(&keyword);
        let named = || self.keywords.iter().find(|(keyword, _)| is(keyword)).map(|(_, value)| value.clone());
        self.positional.get(at).cloned().or_else(named).filter(|value| !matches!(value, Value::None))
    }

    pub fn need(&self, at: usize, name: &str) -> Eval {
        self.get(at, name).ok_or_else(|| format!("`{name}` is not given"))
    }

    pub fn array(&self, at: usize, name: &str) -> Eval<Array> {
        self.need(at, name)?.array()
    }

    pub fn flag(&self, name: &str) -> Eval<bool> {
        self.get(usize::MAX, name).map_or(Ok(false), |value| value.as_bool())
    }
}

/// Alternative names of a parameter in the public language.
fn other_names(name: &str) -> &'static [&'static str] {
    match name {
        "x" => &["input", "tile", "tensor", "lhs", "target", "value", "data"],
        "values" => &["rhs", "row_vec", "col_vec"],
        "tensor" => &["output_tensor"],
        "src" | "dst" => &["tile", "tensor"],
        "offset" => &["indices"],
        "lhs" | "a" => &["src0", "lhs"],
        "rhs" | "b" => &["src1", "rhs"],
        "rows" => &["valid_rows"],
        "cols" => &["valid_cols"],
        _ => &[],
    }
}

/// A number converted to an element type.
pub fn scalar(value: &Value, elem: Elem) -> Eval<f64> {
    if elem.is_float() {
        return Ok(number::narrow(elem, value.float()? as f32));
    }
    let (n, (least, most)) = (value.int()?, number::range(elem));
    if n < least || n > most { Err(format!("{n} is no {elem}")) } else { Ok(n as f64) }
}

/// Writes the valid part of an array into a part of another one, starting at its first element.
pub fn put(value: &Array, target: &Array) -> Eval<()> {
    let (from, to) = (value.counted(), target.rows_cols());
    let same = value.count() == target.count() && (fold(&value.shape) == to || from[0] == 1 || from[1] == 1);
    let fits = same || value.valid.is_some() || fold(&value.shape) == to;
    if !fits {
        return Err(format!("{:?} is put into {:?}", value.shape, target.shape));
    }
    let convert = |x: f64| match (value.elem == target.elem, value.elem.is_float() && target.elem.is_float()) {
        (true, _) => Ok(x),
        (false, true) => Ok(number::narrow(target.elem, x as f32)),
        _ => Err(format!("{} is put into {}", value.elem, target.elem)),
    };
    if value.valid.is_none() {
        let values = value.values().into_iter().map(convert).collect::<Eval<Vec<_>>>()?;
        target.write(&values);
        return Ok(());
    }
    let mut all = target.values();
    for (row, values) in value.rows().into_iter().enumerate().take(to[0]) {
        for (col, x) in values.into_iter().enumerate().take(to[1]) {
            all[row * to[1] + col] = convert(x)?;
        }
    }
    target.write(&all);
    Ok(())
}

/// An op with positional arguments.
pub fn named(name: &str, args: &[Value]) -> Eval {
    plain(name, &Args { positional: args.to_vec(), keywords: Vec::new() })
}

/// Calls an op or a function of Python.
pub fn call(run: &mut Run<'_>, name: &str, positional: Vec<Value>, keywords: Vec<(String, Value)>) -> Eval {
    let args = Args { positional, keywords };
    if let Some(done) = crate::meaning::meet::op(run, name, &args) {
        return done;
    }
    match name {
        "get_block_idx" => Ok(Value::Int(run.block)),
        "num_programs" => Ok(Value::Int(run.blocks)),
        "program_id" => Ok(Value::Int(run.block)),
        "get_block_num" => Ok(Value::Int(run.blocks)),
        "get_subblock_idx" => Ok(Value::Int(run.lane.unwrap_or(0) as i128)),
        "aiv_shard" => shard(run, &args),
        "aic_gather" => gather(run, &args),
        "tpush_to_aiv" => push(run, "tpop_from_aic", &args),
        "tpush_to_aic" => push(run, "tpop_from_aiv", &args),
        "tpop_from_aic" => pop(run, "tpop_from_aic", &args),
        "tpop_from_aiv" => pop(run, "tpop_from_aiv", &args),
        "tfree_to_aic" | "tfree_to_aiv" => Ok(Value::None),
        "row_sum" | "row_prod" | "row_max" | "row_min" => reduced(&args, true, combined(&name[4..]), run.registers),
        "col_sum" | "col_prod" | "col_max" | "col_min" => reduced(&args, false, combined(&name[4..]), run.registers),
        _ => plain(name, &args),
    }
}

/// The broadcast of two shapes, as in numpy.
fn together(a: &[usize], b: &[usize]) -> Eval<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |shape: &[usize], dim: usize| if dim + shape.len() < rank { 1 } else { shape[dim + shape.len() - rank] };
    let each = (0..rank).map(|dim| match (at(a, dim), at(b, dim)) {
        (x, y) if x == y || y == 1 => Ok(x),
        (1, y) => Ok(y),
        _ => Err(format!("{a:?} and {b:?} are not repeated to one shape")),
    });
    each.collect()
}

/// An array broadcast to a shape.
fn repeated(array: &Array, shape: &[usize]) -> Eval<Array> {
    let pad = shape.len().checked_sub(array.shape.len()).ok_or("fewer dimensions")?;
    let values = array.values();
    let count = shape.iter().product::<usize>();
    let result = (0..count).map(|at| {
        let (mut left, mut from, mut step) = (at, 0, 1);
        for dim in (0..shape.len()).rev() {
            let here = left % shape[dim];
            left /= shape[dim];
            if dim >= pad {
                let own = array.shape[dim - pad];
                from += if own == 1 { 0 } else { here * step };
                step *= own;
            }
        }
        values[from]
    });
    Ok(Array::new(shape, array.elem, result.collect()))
}

/// Products of two lists of matrices.
fn products(args: &Args, at: usize, acc: Option<&Array>) -> Eval {
    let (a, b) = (args.array(at, "lhs")?, args.array(at + 1, "rhs")?);
    let list = |array: &Array| array.shape[..array.shape.len() - 2].to_vec();
    let matrix = |array: &Array| array.shape[array.shape.len() - 2..].to_vec();
    let all = together(&list(&a), &list(&b))?;
    let (of_a, of_b) = ([&all[..], &matrix(&a)].concat(), [&all[..], &matrix(&b)].concat());
    let (a, b) = (repeated(&a, &of_a)?, repeated(&b, &of_b)?);
    let page = |array: &Array, at: usize| {
        let shape = matrix(array);
        let size = shape.iter().product::<usize>();
        Value::Array(Array::new(&shape, array.elem, array.values()[at * size..(at + 1) * size].to_vec()))
    };
    let (mut values, mut shape, mut elem) = (Vec::new(), all.clone(), Elem::F32);
    for at in 0..all.iter().product::<usize>() {
        let own = Args { positional: vec![page(&a, at), page(&b, at)], keywords: args.keywords.clone() };
        let before = acc.map(|acc| page(acc, at).array()).transpose()?;
        let cols = before.as_ref().map_or(0, |acc| acc.shape[1]);
        let before = before.map(|acc| acc.values());
        let one = product(&own, 0, |i, j| before.as_ref().map_or(0.0, |acc| acc[i * cols + j]))?.array()?;
        (shape, elem) = ([&all[..], &one.shape].concat(), one.elem);
        values.extend(one.values());
    }
    Ok(Value::Array(Array::new(&shape, elem, values)))
}

/// Whether an operand of a product is a list of matrices.
fn of_lists(args: &Args, at: usize) -> Eval<bool> {
    Ok(args.array(at, "lhs")?.shape.len() > 2 || args.array(at + 1, "rhs")?.shape.len() > 2)
}

/// The product of two matrices; each element is a chain of fused multiply-adds along the inner dimension.
fn product(args: &Args, at: usize, first: impl Fn(usize, usize) -> f64) -> Eval {
    let operand = |at: usize, name: &str, flag: &str| -> Eval<Array> {
        let own = args.array(at, name)?;
        let matrix = Array { valid: own.valid, ..own.reshaped(&own.rows_cols())? };
        Ok(if args.flag(flag)? { matrix.transposed() } else { matrix })
    };
    product_of(operand(at, "lhs", "a_trans")?, operand(at + 1, "rhs", "b_trans")?, first)
}

/// A product of operands with a scale for each 32 elements along k. Scales are packed: 16 lines by 2 groups, with the
/// pieces of a line in sequence.
fn scaled_product(args: &Args, at: usize, first: impl Fn(usize, usize) -> f64) -> Eval {
    let operand = |at: usize, name: &str, left: bool| -> Eval<Array> {
        let (data, scales) = (args.array(at, name)?, args.array(at + 1, &format!("{name}_scale"))?.values());
        let [rows, cols] = data.rows_cols();
        let k = if left { cols } else { rows };
        let scaled = data.values().into_iter().enumerate().map(|(element, x)| {
            let (line, deep) = if left { (element / cols, element % cols) } else { (element % cols, element / cols) };
            let group = deep / 32;
            let at = line / 16 * (k / 2) + group / 2 * 32 + line % 16 * 2 + group % 2;
            f64::from(x as f32 * scales[at] as f32)
        });
        Ok(Array::new(&[rows, cols], Elem::F32, scaled.collect()))
    };
    product_of(operand(at, "lhs", true)?, operand(at + 2, "rhs", false)?, first)
}

fn product_of(a: Array, b: Array, first: impl Fn(usize, usize) -> f64) -> Eval {
    let ([m, k], [other, n]) = (a.rows_cols(), b.rows_cols());
    let ([rows, deep], [other_deep, cols]) = (a.counted(), b.counted());
    if k != other || deep != other_deep || a.elem != b.elem {
        return Err(format!("a product of {:?} and {:?}", a.shape, b.shape));
    }
    let elem = if a.elem.is_float() { Elem::F32 } else { Elem::I32 };
    let (x, y) = (a.values(), b.values());
    let mut result = Vec::with_capacity(m * n);
    for i in 0..m {
        for j in 0..n {
            let mut sum = first(i, j);
            for p in 0..deep {
                let (a, b) = (x[i * k + p], y[p * n + j]);
                sum = match elem {
                    Elem::F32 => f64::from((a as f32).mul_add(b as f32, sum as f32)),
                    _ => number::wrap(elem, (a * b) as i128 + sum as i128),
                };
            }
            result.push(if elem == Elem::F32 { number::narrow(elem, sum as f32) } else { sum });
        }
    }
    let valid = a.valid.or(b.valid).map(|_| [rows, cols]);
    Ok(Value::Array(Array { valid, ..Array::new(&[m, n], elem, result) }))
}

/// An operation on two arrays, or on an array and a number in either order.
fn elementwise(what: &str, a: &Value, b: &Value) -> Eval {
    let (a, b) = match (a, b) {
        (Value::Array(x), Value::Array(y)) if x.shape != y.shape && x.count() != y.count() => {
            let shape = together(&x.shape, &y.shape)?;
            (&Value::Array(repeated(x, &shape)?), &Value::Array(repeated(y, &shape)?))
        }
        _ => (a, b),
    };
    let model = a.array().or_else(|_| b.array())?;
    let elem = model.elem;
    let side = |value: &Value| -> Eval<Vec<f64>> {
        Ok(match value {
            Value::Array(array) if array.count() == model.count() && array.elem == elem => array.values(),
            Value::Array(other) => return Err(format!("{:?} and {:?}", model.shape, other.shape)),
            number => vec![scalar(number, elem)?; model.count()],
        })
    };
    let (x, y) = (side(a)?, side(b)?);
    let each = x.iter().zip(&y).map(|(x, y)| number::binary(what, elem, *x, *y));
    let values = each.collect::<Option<Vec<f64>>>().ok_or_else(|| format!("{what} of {elem}"))?;
    Ok(Value::Array(Array { valid: model.valid, ..Array::new(&model.shape, elem, values) }))
}

fn by_element(what: &str, args: &Args) -> Eval {
    let array = args.array(0, "x")?;
    let each = array.values().into_iter().map(|x| number::unary(what, array.elem, x));
    let values = each.collect::<Option<Vec<f64>>>().ok_or_else(|| format!("{what} of {}", array.elem))?;
    Ok(Value::Array(Array { valid: array.valid, ..Array::new(&array.shape, array.elem, values) }))
}

/// `row_expand_add`, `col_expand_mul` …: an array and a value for each of its rows or columns.
fn expanded(args: &Args, rows: bool, what: Option<&str>) -> Eval {
    let (array, values) = (args.array(0, "x")?, args.array(1, "values")?);
    let ([_, cols], x, y) = (array.rows_cols(), array.values(), values.values());
    let mut result = Vec::new();
    for (at, x) in x.into_iter().enumerate() {
        let y = *y.get(if rows { at / cols } else { at % cols }).ok_or("too few values")?;
        result.push(match what {
            Some(what) => number::binary(what, array.elem, x, y).ok_or_else(|| format!("{what} of {}", array.elem))?,
            None => y,
        });
    }
    Ok(Value::Array(Array { valid: array.valid, ..Array::new(&array.shape, array.elem, result) }))
}

fn window(array: &Array, offsets: &Value, shape: &[usize]) -> Eval<Array> {
    let parts: Vec<_> = offsets.ints()?.into_iter().zip(shape).map(|(first, n)| (first, Some(*n))).collect();
    array.part(&parts)
}

fn load(args: &Args) -> Eval {
    let (tensor, shape) = (args.array(0, "tensor")?, args.need(2, "shapes")?.shape()?);
    let offsets = args.need(1, "offsets")?;
    let Some(valid) = args.get(3, "valid_shape") else {
        return window(&tensor, &offsets, &shape).map(|part| Value::Array(part.copy()));
    };
    in_part(&tensor, &offsets, &shape, &valid.shape()?).map(Value::Array)
}

/// A tile of which only the first elements come from a tensor: the tensor need not have more.
fn in_part(tensor: &Array, offsets: &Value, shape: &[usize], valid: &[usize]) -> Eval<Array> {
    let tile = Array::full(shape, tensor.elem, f64::NAN);
    let zero = Value::Tuple(vec![Value::Int(0); valid.len()]);
    window(&tile, &zero, valid)?.write(&window(tensor, offsets, valid)?.values());
    Ok(Array { valid: Some(fold(valid)), ..tile })
}

/// Stores an array into a window of a tensor at these offsets.
fn store(value: &Array, tensor: &Array, offsets: &Value, shape: Option<Vec<usize>>, atomic: bool) -> Eval<()> {
    let rank = tensor.shape.len();
    let mut shape = shape.unwrap_or_else(|| value.valid.map_or(value.shape.clone(), |valid| valid.to_vec()));
    if shape.len() != rank {
        shape.retain(|n| *n != 1);
        while shape.len() < rank {
            shape.insert(0, 1);
        }
    }
    let part = window(tensor, offsets, &shape)?;
    if !atomic {
        return put(value, &part);
    }
    let sums = part.values().into_iter().zip(value.values());
    let sums = sums.map(|(a, b)| number::binary("add", part.elem, a, b)).collect::<Option<Vec<f64>>>();
    part.write(&sums.ok_or("no sum")?);
    Ok(())
}

fn cast(args: &Args) -> Eval {
    let to = elem(&args.need(1, "target_type")?)?;
    let value = args.need(0, "x")?;
    let Value::Array(array) = value else {
        return Ok(if to.is_float() { Value::Single(value.float()? as f32) } else { value });
    };
    if array.elem == to {
        return Ok(Value::Array(array));
    }
    let mode = args.get(2, "mode").map(|mode| mode.member().map(str::to_string)).transpose()?;
    let mode = match mode.as_deref() {
        None | Some("round") => RoundMode::Round,
        Some("rint") => RoundMode::Rint,
        Some("floor") => RoundMode::Floor,
        Some("ceil") => RoundMode::Ceil,
        Some("trunc") => RoundMode::Trunc,
        Some(other) => return Err(format!("rounding {other} is not evaluated")),
    };
    // Nothing saturates: floats overflow, integers keep their low bits.
    let saturation = if to.is_float() { Saturation::Off } else { Saturation::Words };
    let one = |x: f64| {
        let mut bytes = vec![0; to.bytes()];
        convert(array.elem, &number::store(array.elem, x), to, &mut bytes, mode, saturation);
        number::load(to, &bytes)
    };
    Ok(Value::Array(array.map(to, one)))
}

fn concat(args: &Args) -> Eval {
    let (a, b) = (args.array(0, "a")?, args.array(1, "b")?);
    let rows = a.rows().into_iter().zip(b.rows());
    let values: Vec<f64> = rows.flat_map(|(a, b)| [a, b].concat()).collect();
    Ok(Value::Array(Array::new(&[a.rows_cols()[0], a.rows_cols()[1] + b.rows_cols()[1]], a.elem, values)))
}

fn shape_and_elem(args: &Args, at: usize) -> Eval<(Vec<usize>, Elem)> {
    Ok((args.need(at, "shape")?.shape()?, args.get(at + 1, "dtype").map_or(Ok(Elem::I32), |ty| elem(&ty))?))
}

/// Fills the invalid part.
fn fillpad(args: &Args) -> Eval {
    let array = args.array(0, "x")?;
    match args.get(1, "pad_value") {
        None => {}
        Some(pad) if pad.member()? == "zero" => {}
        Some(other) => return Err(format!("{other:?} is not evaluated")),
    }
    let result = Array::full(&array.shape, array.elem, 0.0);
    let mut counted = array.clone();
    counted.valid = Some(array.counted());
    put(&counted, &result)?;
    Ok(Value::Array(result))
}

fn plain(name: &str, args: &Args) -> Eval {
    if let Some((rows, what)) = name
        .strip_prefix("row_expand")
        .map(|what| (true, what))
        .or_else(|| name.strip_prefix("col_expand").map(|what| (false, what)))
    {
        return expanded(args, rows, what.strip_prefix('_'));
    }
    let what = match name {
        "part_add" => "add",
        "part_mul" => "mul",
        "part_max" => "max",
        "part_min" => "min",
        "max" | "min" if !matches!(args.get(0, "lhs"), Some(Value::Array(_))) => {
            let (a, b) = (args.need(0, "a")?, args.need(1, "b")?);
            let less = scalars::compare(ruff_python_ast::CmpOp::Lt, &a, &b)?;
            return Ok(if less == (name == "max") { b } else { a });
        }
        "abs" if !matches!(args.get(0, "x"), Some(Value::Array(_))) => return scalars::absolute(&args.need(0, "x")?),
        "add" | "adds" => "add",
        "sub" | "subs" => "sub",
        "mul" | "muls" => "mul",
        "div" | "divs" => "div",
        "maximum" | "max" | "maximums" | "maxs" => "max",
        "minimum" | "min" | "minimums" | "mins" => "min",
        "fmod" | "fmods" => "fmod",
        "rem" | "rems" => "rem",
        "and_" | "or_" if args.array(0, "lhs")?.elem.is_float() => {
            return elementwise(
                if name == "and_" { "min" } else { "max" },
                &args.need(0, "lhs")?,
                &args.need(1, "rhs")?,
            );
        }
        "and_" | "ands" => "and",
        "or_" | "ors" => "or",
        "xor" | "xors" => "xor",
        "shl" | "shls" => "shl",
        "shr" | "shrs" => "shr",
        "neg" | "abs" | "relu" | "exp" | "log" | "sqrt" | "rsqrt" | "recip" => return by_element(name, args),
        // A comparison gives ones and zeros of the compared type.
        "not_" if args.array(0, "x")?.elem.is_float() => {
            let array = args.array(0, "x")?;
            return Ok(Value::Array(array.map(array.elem, |x| f64::from(u8::from(x == 0.0)))));
        }
        "not_" => return by_element("not", args),
        _ => return other(name, args),
    };
    elementwise(what, &args.need(0, "lhs")?, &args.need(1, "rhs")?)
}

fn other(name: &str, args: &Args) -> Eval {
    Ok(match name {
        "cmp" | "cmps" => return compared(args),
        "sel" | "where" | "sels" => return selected(name, args),
        "load" => return load(args),
        "store" => {
            let atomic = match args.get(usize::MAX, "atomic") {
                None => false,
                Some(atomic) => atomic.member()? == "Add",
            };
            let (tensor, shape) = (args.need(2, "tensor")?, args.get(3, "shapes"));
            let shape = shape.map(|shape| shape.shape()).transpose()?;
            store(&args.array(0, "tile")?, &tensor.array()?, &args.need(1, "offsets")?, shape, atomic)?;
            tensor
        }
        "assemble" => {
            let (target, source) = (args.need(0, "target")?, args.array(1, "source")?);
            store(&source, &target.array()?, &args.need(2, "offset")?, None, false)?;
            target
        }
        "gather" | "gather_mask" | "gatherb" | "scatter" | "scatter_mask" | "tri" => {
            return crate::meaning::indexed::call(name, args);
        }
        "mgather" | "mscatter" | "paged_gather" | "scatter_update" | "sort32" | "mrgsort" | "random" => {
            return crate::meaning::tables::call(name, args);
        }
        "zeros" | "ones" => {
            let (shape, elem) = shape_and_elem(args, 0)?;
            Value::Array(Array::full(&shape, elem, f64::from(u8::from(name == "ones"))))
        }
        "zeros_like" | "ones_like" => {
            let own = args.array(0, "x")?;
            Value::Array(Array { valid: own.valid, ..own.map(own.elem, |_| f64::from(u8::from(name == "ones_like"))) })
        }
        "square" | "sigmoid" | "silu" | "tanh" | "clamp" | "clip" => return composed::composed(name, args),
        "cdiv" => {
            let (a, b) = (args.need(0, "a")?.int()?, args.need(1, "b")?.int()?);
            Value::Int((a + b - 1).div_euclid(b))
        }
        "sin" | "cos" => return crate::meaning::tables::wave(&args.array(0, "x")?, name == "cos"),
        "expand_clone" => Value::Array(repeated(&args.array(0, "src")?, &args.array(1, "target")?.shape)?),
        "gather_row" => {
            let (target, source) = (args.need(0, "dst")?, args.array(1, "src")?);
            let shape = args.get(6, "valid_shape").map_or_else(|| args.need(4, "shapes"), Ok)?.shape()?;
            let to = window(&target.array()?, &args.need(2, "dst_offset")?, &shape)?;
            to.write(&window(&source, &args.need(3, "src_offset")?, &shape)?.values());
            target
        }
        "read" => {
            let array = args.array(0, "src")?;
            let ones = vec![1; array.shape.len()];
            let value = window(&array, &args.need(1, "offset")?, &ones)?.values()[0];
            if array.elem.is_float() { Value::Single(value as f32) } else { Value::Int(value as i128) }
        }
        "write" => {
            let array = args.array(0, "dst")?;
            let ones = vec![1; array.shape.len()];
            let value = scalar(&args.need(2, "value")?, array.elem)?;
            window(&array, &args.need(1, "offset")?, &ones)?.write(&[value]);
            Value::Array(array)
        }
        "dim" => {
            let (shape, axis) = (args.array(0, "tensor")?.shape, args.need(1, "axis")?.int()?);
            let axis = if axis < 0 { axis + shape.len() as i128 } else { axis };
            Value::Int(*shape.get(axis as usize).ok_or("no such axis")? as i128)
        }
        "full" => {
            let (shape, elem) = shape_and_elem(args, 0)?;
            Value::Array(Array::full(&shape, elem, scalar(&args.need(2, "value")?, elem)?))
        }
        "expands" => {
            let target = args.array(0, "target")?;
            Value::Array(Array::full(&target.shape, target.elem, scalar(&args.need(1, "scalar")?, target.elem)?))
        }
        "create_tile" | "create_l1" => {
            let (shape, elem) = shape_and_elem(args, 0)?;
            Value::Array(Array::full(&shape, elem, f64::NAN))
        }
        "ci" | "arange" => {
            let (shape, elem) = shape_and_elem(args, 1)?;
            let (start, step) = (args.need(0, "start")?.int()?, if args.flag("descending")? { -1 } else { 1 });
            let count = shape.iter().product::<usize>() as i128;
            let each = |i| crate::meaning::composed::integer(elem, start + step * i);
            Value::Array(Array::new(&shape, elem, (0..count).map(each).collect()))
        }
        "reshape" | "view" => Value::Array(args.array(0, "x")?.reshaped(&args.need(1, "shape")?.shape()?)?),
        "transpose" => Value::Array(args.array(0, "x")?.transposed().copy()),
        "transpose_view" => Value::Array(args.array(0, "tile")?.transposed()),
        "slice" => {
            let (own, offset, shape) = (args.array(0, "x")?, args.need(2, "offset")?, args.need(1, "shape")?.shape()?);
            let valid = args.get(3, "valid_shape").map(|own| own.shape()).transpose()?.filter(|own| !own.is_empty());
            Value::Array(match (window(&own, &offset, &shape), valid) {
                (Err(_), Some(valid)) => in_part(&own, &offset, &shape, &valid)?,
                (part, valid) => Array { valid: valid.map(|valid| fold(&valid)), ..part? },
            })
        }
        "extract" => {
            let offsets = Value::Tuple(vec![args.need(1, "row")?, args.need(2, "col")?]);
            Value::Array(window(&args.array(0, "src")?, &offsets, &args.need(3, "shape")?.shape()?)?.copy())
        }
        "set_validshape" => {
            let valid = [args.need(1, "rows")?.int()? as usize, args.need(2, "cols")?.int()? as usize];
            Value::Array(Array { valid: Some(valid), ..args.array(0, "x")? })
        }
        "fillpad" | "fillpad_inplace" => return fillpad(args),
        "concat" => return concat(args),
        "move" => Value::Array(args.array(0, "tile")?.copy()),
        "cast" => return cast(args),
        "matmul" | "batch_matmul" if of_lists(args, 0)? => return products(args, 0, None),
        "matmul" | "gemv" => return product(args, 0, |_, _| 0.0),
        "matmul_acc" | "gemv_acc" | "batch_matmul_acc" => {
            let acc = args.array(0, "acc")?;
            if of_lists(args, 1)? {
                return products(args, 1, Some(&acc));
            }
            if args.get(usize::MAX, "init_cond").map_or(Ok(false), |begins| begins.as_bool())? {
                return product(args, 1, |_, _| 0.0);
            }
            let ([_, cols], values) = (acc.rows_cols(), acc.values());
            return product(args, 1, |i, j| values[i * cols + j]);
        }
        "matmul_mx" => return scaled_product(args, 0, |_, _| 0.0),
        "matmul_mx_acc" => {
            let acc = args.array(0, "acc")?;
            let ([_, cols], values) = (acc.rows_cols(), acc.values());
            return scaled_product(args, 1, |i, j| values[i * cols + j]);
        }
        "matmul_mx_bias" => {
            let bias = args.array(4, "bias")?.values();
            return scaled_product(args, 0, |_, j| bias[j]);
        }
        "matmul_bias" | "gemv_bias" => {
            let bias = args.array(2, "bias")?.values();
            return product(args, 0, |_, j| bias[j]);
        }
        "len" => Value::Int(args.need(0, "x")?.items().len() as i128),
        "int" => match args.need(0, "x")? {
            Value::Float(x) => Value::Int(x as i128),
            other => Value::Int(other.int()?),
        },
        "float" => Value::Float(args.need(0, "x")?.float()?),
        "const" | "no_dep" => args.need(0, "x")?,
        "print" | "static_print" | "static_assert" | "bar_all" | "bar_v" | "bar_m" | "fence" | "cacheinvalid" => {
            Value::None
        }
        name if name.starts_with("array.") => return arrays::array(name, args),
        _ => return Err(format!("`pl.{name}` is not evaluated")),
    })
}
