//! Elements by index and by pattern, and triangles.

use slipring_tile::Elem;

use crate::meaning::array::{Array, fold};
use crate::meaning::eval::elem;
use crate::meaning::number;
use crate::meaning::ops::Args;
use crate::meaning::value::{Eval, Value};

fn at(values: &[f64], index: f64) -> Eval<usize> {
    let place = index as usize;
    if index < 0.0 || place >= values.len() { Err(format!("no element {index}")) } else { Ok(place) }
}

pub fn call(name: &str, args: &Args) -> Eval {
    let pattern = args.get(if name == "gather_mask" { 1 } else { usize::MAX }, "mask_pattern");
    match (name, pattern) {
        ("gather" | "gather_mask", Some(pattern)) => by_pattern(args, number_of(&pattern)?),
        ("gather", None) => gather(args),
        ("gatherb", _) => blocks(args),
        ("scatter_mask", _) | ("scatter", Some(_)) => scatter_mask(name, args),
        ("scatter", None) => scatter(args),
        ("tri", _) => triangle(args),
        _ => Err(format!("`pl.{name}` is not evaluated")),
    }
}

/// The index form over a full tile, or with an axis over each row.
fn gather(args: &Args) -> Eval {
    let dim = args.get(usize::MAX, "dim").is_some() || args.positional.get(1).is_some_and(|v| v.int().is_ok());
    let src = args.array(0, if dim { "input" } else { "src" })?;
    let indices = if dim { args.array(2, "index")? } else { args.array(1, "indices")? };
    let ([_, cols], [_, count]) = (fold(&src.shape), fold(&indices.shape));
    let values = src.values();
    let each = indices.values().into_iter().enumerate().map(|(place, index)| {
        let row = if dim { place / count * cols } else { 0 };
        Ok(values[row + at(if dim { &values[row..row + cols] } else { &values }, index)?])
    });
    let found = Array::new(&indices.shape, src.elem, each.collect::<Eval<_>>()?);
    // Invalid rows of a tile yield nothing, and invalid indices select nothing.
    let [rows, cols] = indices.valid.unwrap_or(fold(&indices.shape));
    let of_tile = src.valid.filter(|_| dim).map_or(rows, |valid| valid[0]);
    let valid = (indices.valid.is_some() || of_tile < rows).then_some([rows.min(of_tile), cols]);
    Ok(Value::Array(Array { valid, ..found }))
}

/// The period of a pattern in columns, and the column that it keeps.
fn kept(pattern: i128) -> (usize, usize) {
    match pattern {
        1 => (2, 0),
        2 => (2, 1),
        3..=6 => (4, pattern as usize - 3),
        _ => (1, 0),
    }
}

/// The number of a pattern, which may be given by name.
fn number_of(pattern: &Value) -> Eval<i128> {
    let names = ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"];
    let named = pattern.member().ok().and_then(|name| names.iter().position(|known| *known == name));
    named.map_or_else(|| pattern.int(), |at| Ok(at as i128 + 1))
}

fn scatter_mask(name: &str, args: &Args) -> Eval {
    let tile_form = name == "scatter_mask";
    let dst = args.array(if tile_form { 0 } else { usize::MAX }, "dst")?;
    let src = if tile_form { args.array(1, "src")? } else { args.array(0, "input")? };
    let pattern = args.need(if tile_form { 2 } else { usize::MAX }, "mask_pattern")?;
    let (every, first) = kept(number_of(&pattern)?);
    let mut result = dst.values();
    let ([_, cols], [_, count]) = (fold(&dst.shape), fold(&src.shape));
    for (at, value) in src.values().into_iter().enumerate() {
        result[at / count * cols + at % count * every + first] = value;
    }
    Ok(Value::Array(Array::new(&dst.shape, dst.elem, result)))
}

fn by_pattern(args: &Args, pattern: i128) -> Eval {
    let src = args.array(0, "input")?;
    let (every, first) = kept(pattern);
    let [rows, cols] = fold(&src.shape);
    let values = src.values();
    let kept: Vec<f64> = (0..rows * cols).filter(|at| at % cols % every == first).map(|at| values[at]).collect();
    let shape = [rows, cols / every];
    let Some(ty) = args.get(usize::MAX, "output_dtype") else {
        return Ok(Value::Array(Array::new(&shape, src.elem, kept)));
    };
    // The same bits reinterpreted as another type.
    let to = elem(&ty)?;
    let kept = kept.into_iter().map(|x| number::load(to, &number::store(src.elem, x))).collect();
    Ok(Value::Array(Array::new(&shape, to, kept)))
}

fn blocks(args: &Args) -> Eval {
    let (src, offsets) = (args.array(0, "src")?, args.array(1, "offset")?);
    let (size, values) = (src.elem.bytes(), src.values());
    let block = 32 / size;
    let mut result = Vec::new();
    for offset in offsets.values() {
        let first = offset as usize / size;
        result.extend(values.get(first..first + block).ok_or("no such block")?);
    }
    let [rows, cols] = fold(&offsets.shape);
    Ok(Value::Array(Array::new(&[rows, cols * block], src.elem, result)))
}

fn scatter(args: &Args) -> Eval {
    let dim = args.get(usize::MAX, "dim").is_some() || args.positional.get(1).is_some_and(|v| v.int().is_ok());
    if !dim {
        let (dst, src, indices) = (args.array(0, "dst")?, args.array(1, "src")?, args.array(2, "indexes")?);
        let mut result = vec![0.0; dst.count()];
        for (value, index) in src.values().into_iter().zip(indices.values()) {
            let place = at(&result, index)?;
            result[place] = value;
        }
        dst.write(&result);
        return Ok(Value::Array(dst));
    }
    let (input, indices, src) = (args.array(0, "input")?, args.array(2, "index")?, args.array(3, "src")?);
    let ([_, cols], [_, count]) = (fold(&input.shape), fold(&indices.shape));
    let mut result = input.values();
    for (place, (value, index)) in src.values().into_iter().zip(indices.values()).enumerate() {
        let row = place / count * cols;
        let to = row + at(&result[row..row + cols], index)?;
        result[to] = value;
    }
    Ok(Value::Array(Array::new(&input.shape, input.elem, result)))
}

fn triangle(args: &Args) -> Eval {
    let (diagonal, shape) = (args.need(0, "diagonal")?.int()?, args.need(1, "shape")?.shape()?);
    let elem = args.get(3, "dtype").map_or(Ok(Elem::I32), |ty| elem(&ty))?;
    let valid = args.get(2, "valid_shape").map(|valid| valid.shape()).transpose()?.map(|valid| fold(&valid));
    let upper = args.flag("upper")?;
    let [rows, cols] = fold(&shape);
    let one = |place: usize| {
        let (row, col) = ((place / cols) as i128, (place % cols) as i128);
        let inside = if upper { col >= row + diagonal } else { col <= row + diagonal };
        f64::from(u8::from(inside))
    };
    Ok(Value::Array(Array { valid, ..Array::new(&shape, elem, (0..rows * cols).map(one).collect()) }))
}
