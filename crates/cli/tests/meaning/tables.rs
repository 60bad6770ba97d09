//! Rows and elements of tables by index, sorting, random words, and the sine.

use slipring_tile::Elem;

use crate::meaning::array::{Array, fold};
use crate::meaning::eval::elem;
use crate::meaning::number;
use crate::meaning::ops::Args;
use crate::meaning::value::{Eval, Value};

pub fn call(name: &str, args: &Args) -> Eval {
    match name {
        "mgather" => gather(args),
        "mscatter" => scatter(args),
        "paged_gather" => paged(args),
        "scatter_update" => update(args),
        "sort32" => sort32(args),
        "mrgsort" => merge(args),
        "random" => random(args),
        _ => Err(format!("`pl.{name}` is not evaluated")),
    }
}

/// Rows of an array.
fn row(values: &[f64], cols: usize, at: f64) -> Eval<&[f64]> {
    values.get(at as usize * cols..(at as usize + 1) * cols).ok_or_else(|| format!("no row {at}"))
}

fn gather(args: &Args) -> Eval {
    let (table, indices) = (args.array(0, "mem")?, args.array(1, "idx")?);
    let by_element = match args.get(2, "coalesce") {
        None => false,
        Some(Value::Int(n)) => n == 1,
        Some(word) => word.member()? == "elem",
    };
    if args.get(usize::MAX, "gather_oob").is_some() {
        return Err("indices outside are not evaluated".into());
    }
    let (values, [_, cols]) = (table.values(), fold(&table.shape));
    let mut result = Vec::new();
    for index in indices.values() {
        result.extend_from_slice(row(&values, if by_element { 1 } else { cols }, index)?);
    }
    let shape = if by_element { indices.shape.clone() } else { vec![indices.count(), cols] };
    Ok(Value::Array(Array::new(&shape, table.elem, result)))
}

fn scatter(args: &Args) -> Eval {
    let (src, indices, table) = (args.array(0, "src")?, args.array(1, "idx")?, args.array(2, "output_tensor")?);
    let mut values = table.values();
    for (value, index) in src.values().into_iter().zip(indices.values()) {
        *values.get_mut(index as usize).ok_or("no such element")? = value;
    }
    table.write(&values);
    Ok(Value::Array(table))
}

fn paged(args: &Args) -> Eval {
    let (pool, indices, pages) = (args.array(0, "src")?, args.array(1, "indices")?, args.array(2, "block_table")?);
    let number = |at: usize, name: &str| args.need(at, name)?.int().map(|n| n as usize);
    let (block, size, most) = (number(3, "block_size")?, number(4, "size")?, number(5, "max_indices")?);
    let from = args.get(usize::MAX, "col_off").map_or(Ok(0), |n| n.int().map(|n| n as usize))?;
    let (values, pages, [_, cols]) = (pool.values(), pages.values(), fold(&pool.shape));
    let mut result = Vec::new();
    for index in indices.values().into_iter().take(most) {
        let page = pages.get(index as usize / block).ok_or("no such page")?;
        let line = row(&values, cols, page * block as f64 + index % block as f64)?;
        result.extend_from_slice(&line[from..from + size]);
    }
    result.resize(most * size, f64::NAN);
    let array = Array::new(&[most, size], pool.elem, result);
    Ok(Value::Array(if args.flag("is_trans")? { array.transposed().copy() } else { array }))
}

fn update(args: &Args) -> Eval {
    // `dim` is the second positional argument, or a keyword.
    let behind = usize::from(!matches!(args.positional.get(1), Some(Value::Array(_))));
    let input = args.array(0, "input")?;
    let (index, src) = (args.array(1 + behind, "index")?, args.array(2 + behind, "src")?);
    let ([_, cols], lines, mut values) = (fold(&input.shape), src.values(), input.values());
    for (at, to) in index.values().into_iter().enumerate() {
        let to = to as usize * cols;
        let place = values.get_mut(to..to + cols).ok_or("no such row")?;
        place.copy_from_slice(&lines[at * cols..(at + 1) * cols]);
    }
    Ok(Value::Array(Array::new(&input.shape, input.elem, values)))
}

/// The elements of a record: a number, followed by 32 bits in as many elements as needed.
fn record(elem: Elem, value: f64, index: u32) -> Vec<f64> {
    let mut bytes = number::store(elem, value);
    bytes.resize(4, 0);
    bytes.extend(index.to_le_bytes());
    bytes.chunks_exact(elem.bytes()).map(|bytes| number::load(elem, bytes)).collect()
}

fn sort32(args: &Args) -> Eval {
    let (src, indices) = (args.array(0, "src")?, args.array(1, "idx")?);
    let ([rows, cols], numbers) = (fold(&src.shape), indices.values());
    let mut result = Vec::new();
    for (at, line) in src.values().chunks(cols).enumerate() {
        let own = if indices.count() == cols { 0 } else { at * cols };
        let mut pairs: Vec<(f64, f64)> = line.iter().copied().zip(numbers[own..own + cols].iter().copied()).collect();
        for block in pairs.chunks_mut(32) {
            block.sort_by(|a, b| b.0.total_cmp(&a.0));
        }
        result.extend(pairs.into_iter().flat_map(|(value, index)| record(src.elem, value, index as u32)));
    }
    Ok(Value::Array(Array::new(&[rows, result.len() / rows], src.elem, result)))
}

/// Records in descending order: merging sorted parts is equivalent to sorting.
fn in_order(values: &[f64], size: usize) -> Vec<f64> {
    let mut records: Vec<&[f64]> = values.chunks_exact(size).collect();
    records.sort_by(|a, b| b[0].total_cmp(&a[0]));
    records.concat()
}

fn merge(args: &Args) -> Eval {
    let first = args.array(0, "src0")?;
    let size = 8 / first.elem.bytes();
    if let Some(block) = args.get(usize::MAX, "block_len") {
        let run = 4 * block.int()? as usize;
        let result = first.values().chunks(run).flat_map(|run| in_order(run, size)).collect();
        return Ok(Value::Array(Array::new(&first.shape, first.elem, result)));
    }
    if args.flag("exhausted")? {
        return Err("a merge that stops is not evaluated".into());
    }
    let mut all = first.values();
    for (at, name) in ["src1", "src2", "src3"].iter().enumerate() {
        if let Some(list) = args.get(at + 1, name) {
            all.extend(list.array()?.values());
        }
    }
    let mut result = in_order(&all, size);
    result.resize(args.get(4, "tmp").map_or(Ok(all.len()), |tmp| tmp.array().map(|tmp| tmp.count()))?, f64::NAN);
    Ok(Value::Array(Array::new(&[1, result.len()], first.elem, result)))
}

/// Philox 4x32 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3").
fn philox(mut c: [u32; 4], mut key: [u32; 2], rounds: i128) -> [u32; 4] {
    for _ in 0..rounds {
        let products = [u64::from(c[0]) * 0xD251_1F53, u64::from(c[2]) * 0xCD9E_8D57];
        let [high0, high1] = products.map(|p| (p >> 32) as u32);
        c = [high1 ^ c[1] ^ key[0], products[1] as u32, high0 ^ c[3] ^ key[1], products[0] as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    c
}

fn random(args: &Args) -> Eval {
    let word = |at: usize, name: &str| args.need(at, name)?.int().map(|n| n as u32);
    let key = [word(0, "key0")?, word(1, "key1")?];
    let mut counter = 0u128;
    for (at, name) in ["counter0", "counter1", "counter2", "counter3"].iter().enumerate() {
        counter |= u128::from(word(2 + at, name)?) << (32 * at);
    }
    let shape = args.need(6, "shape")?.shape()?;
    let elem = args.get(8, "dtype").or(args.get(7, "valid_shape")).map_or(Ok(Elem::U32), |ty| elem(&ty))?;
    let rounds = args.get(9, "rounds").map_or(Ok(10), |rounds| rounds.int())?;
    let [rows, cols] = fold(&shape);
    let step = 64 * (cols.div_ceil(256) as u128 - 1) + if cols % 64 == 0 { 64 } else { cols as u128 % 64 };
    let mut result = Vec::new();
    for _ in 0..rows {
        let words = (0..cols.div_ceil(4) as u128).flat_map(|n| {
            let at = counter.wrapping_add(n);
            philox([0, 32, 64, 96].map(|bits| (at >> bits) as u32), key, rounds)
        });
        result.extend(words.take(cols).map(|word| number::load(elem, &word.to_le_bytes())));
        counter = counter.wrapping_add(step);
    }
    Ok(Value::Array(Array::new(&shape, elem, result)))
}

/// Sine or cosine: a multiple of π is subtracted in five parts, followed by a polynomial, with each step rounded to 32
/// bits.
pub fn wave(array: &Array, cosine: bool) -> Eval {
    if array.elem != Elem::F32 {
        return Err("a sine of other elements".into());
    }
    let one = |x: f64| {
        let x = x as f32;
        let halves = x * std::f32::consts::FRAC_1_PI;
        let k = if cosine { (halves + 0.5).round_ties_even() } else { halves.round() };
        let mut t = x - k * 3.140_625;
        t -= k * 0.000_967_025_76;
        if cosine {
            t += std::f32::consts::FRAC_PI_2;
        }
        t -= k * 6.277_114e-7;
        t -= k * 1.216_449_2e-10;
        t -= k * -1.029_062_3e-13;
        if cosine {
            t += -4.371_139e-8;
        }
        let sign = ((k * 0.5).floor() * 4.0 + k * -2.0) + 1.0;
        let u = t * t;
        let mut sum = u * 2.604_926_5e-6 + -1.980_894_5e-4;
        sum = sum * u + 8.333_05e-3;
        sum = sum * u + -0.166_666_58;
        sum = sum * u + 1.0;
        f64::from(sign * (t * sum))
    };
    Ok(Value::Array(array.map(Elem::F32, one)))
}
