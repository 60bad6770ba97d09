//! Tables of published points: an op, its parameters as the public tests write them, and the cycles expected.

use slipring_tile::{Elem, Space};

use super::Query;

/// A line of a table.
#[derive(Clone, Debug)]
pub struct Point {
    /// Line of the file, from 1.
    pub line: usize,
    /// The platform: `a5`, `a2a3`.
    pub arch: String,
    /// The op, with its distinguishing suffix.
    pub op: String,
    /// Name and parameters of the case, as written.
    pub case: String,
    /// The published cycles.
    pub expected: f64,
    /// True if the table itself marks the value as doubtful.
    pub suspect: bool,
    /// The corresponding query, or why the line cannot be parsed.
    pub query: Result<Query, String>,
}

/// Reads a table: tab-separated, a heading with the columns `arch`, `op`, `case`, `params…`, `expected…` and optionally
/// `note`.
///
/// # Errors
/// A sentence with the line, if the heading lacks a column or a number is invalid.
pub fn read_points(text: &str) -> Result<Vec<Point>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (_, heading) = lines.next().ok_or("the table is empty")?;
    let names: Vec<&str> = heading.split('\t').map(str::trim).collect();
    let column = |name: &str| names.iter().position(|have| have.starts_with(name));
    let need = |name: &str| column(name).ok_or(format!("the heading has no column `{name}`"));
    let (arch, op, params, expected) = (need("arch")?, need("op")?, need("param")?, need("expected")?);
    let (case, note) = (column("case"), column("note"));
    lines
        .map(|(at, line)| {
            let cells: Vec<&str> = line.split('\t').collect();
            let cell = |index: usize| cells.get(index).copied().unwrap_or("").trim();
            let expected = cell(expected);
            let cycles = expected.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
            let expected = cycles.ok_or(format!("line {}: `{expected}` is not a number of cycles", at + 1))?;
            let (name, case) = (cell(op), case.map_or("", &cell));
            Ok(Point {
                line: at + 1,
                arch: cell(arch).to_string(),
                op: name.to_uppercase(),
                case: format!("{case} {}", cell(params)).trim().to_string(),
                expected,
                suspect: note.is_some_and(|note| cell(note).contains("suspect")),
                query: query(cell(arch), name, case, cell(params)),
            })
        })
        .collect()
}

/// An element type as written in C++ and the public cost tables.
fn elem(word: &str) -> Option<Elem> {
    Some(match word.to_lowercase().trim_end_matches("_t") {
        "float" | "float32" | "f32" => Elem::F32,
        "half" | "float16" | "f16" | "fp16" => Elem::F16,
        "bfloat16" | "bf16" => Elem::BF16,
        "hfloat8" | "hifloat8" | "hif8" => Elem::HiF8,
        "float8e4m3" | "float8_e4m3" | "fp8e4m3" => Elem::F8E4M3,
        "float8e5m2" | "float8_e5m2" | "fp8e5m2" => Elem::F8E5M2,
        "float4e1m2" | "float4_e1m2x2" | "float4e1m2x2" => Elem::F4E1M2x2,
        "float4e2m1" | "float4_e2m1x2" | "float4e2m1x2" => Elem::F4E2M1x2,
        "int64" | "i64" => Elem::I64,
        "uint64" | "u64" => Elem::U64,
        "int32" | "i32" | "int" => Elem::I32,
        "uint32" | "u32" => Elem::U32,
        "int16" | "i16" => Elem::I16,
        "uint16" | "u16" => Elem::U16,
        "int8" | "i8" => Elem::I8,
        "uint8" | "u8" => Elem::U8,
        _ => return None,
    })
}

/// The first `AxB` of a case's name.
fn extents(case: &str) -> Option<(u32, u32)> {
    let words = case.split(|c: char| !(c.is_ascii_digit() || c == 'x'));
    words.filter_map(|word| word.split_once('x')).find_map(|(a, b)| {
        let b = b.split('x').next().unwrap_or(b);
        Some((a.parse().ok()?, b.parse().ok()?))
    })
}

fn query(arch: &str, op: &str, case: &str, params: &str) -> Result<Query, String> {
    let words: Vec<&str> = params.split_whitespace().map(|word| word.trim_matches(['"', ','])).collect();
    let types: Vec<Elem> = words.iter().map_while(|word| elem(word)).collect();
    let rest = &words[types.len()..];
    let numbers: Vec<u32> = rest.iter().map_while(|word| word.parse().ok()).collect();
    let spaces: Vec<Space> = rest.iter().filter_map(|word| Space::parse(&word.to_lowercase())).collect();
    let first = *types.first().ok_or("its parameters begin with no element type")?;
    let name = op.to_lowercase();
    let mut query = Query {
        op: name.clone(),
        elem: first,
        to: None,
        shape: Vec::new(),
        valid: None,
        blocks: None,
        way: None,
        precise: rest.contains(&"high_precision"),
        column: false,
    };
    let too_few = || format!("`{params}` has too few numbers");
    let take = |count: usize| numbers.get(..count).ok_or_else(too_few);
    match name.as_str() {
        "tmatmul" | "tmatmul_acc" | "tmatmul_bias" | "tgemv" => {
            query.elem = types.get(1).copied().unwrap_or(first);
            query.shape = take(3)?.to_vec();
        }
        "tload" if numbers.len() >= 7 => {
            let outer = if case.contains("_nz_") { 1 } else { 3 };
            let blocks: u64 = numbers[..outer].iter().map(|n| u64::from(*n)).product();
            query.blocks = Some(blocks);
            let (rows, cols) = (numbers[5], numbers[6]);
            let valid = if outer == 3 { (numbers[3], numbers[4]) } else { (rows, cols) };
            let all = u64::from(valid.0) * blocks;
            // Rows of all blocks are consecutive in the tile; a window that is larger is clipped.
            query.valid = Some((u32::try_from(all).unwrap_or(rows).min(rows), valid.1.min(cols)));
            query.shape = vec![rows, cols];
        }
        "tloadconv" => {
            // The window of a convolution, whose innermost dimension is 32 bytes of channels.
            let elements = take(4)?.iter().map(|n| u64::from(*n)).product::<u64>() * 32 / first.bytes() as u64;
            query.op = "tload".into();
            query.shape = vec![1, u32::try_from(elements).map_err(|_| "the window is too large")?];
            query.way = Some((Space::Gm, Space::Mat));
        }
        _ => {
            let (shape, valid) = tile(case, &numbers).ok_or_else(too_few)?;
            (query.shape, query.valid) = (vec![shape.0, shape.1], Some(valid));
            if let [from, to, ..] = spaces[..] {
                query.way = Some((from, to));
            }
        }
    }
    if name == "tcvt" {
        let second = *types.get(1).ok_or("a conversion has two element types")?;
        // The A2/A3 tests name the result first, the A5 table the source.
        let (from, to) = if arch == "a2a3" { (second, first) } else { (first, second) };
        (query.elem, query.to) = (from, Some(to));
    }
    Ok(query)
}

type Extents = (u32, u32);

/// Shape and valid shape: `rows cols`, `rows cols valid-rows valid-cols`, or `rows valid-rows cols valid-cols`.
fn tile(case: &str, numbers: &[u32]) -> Option<(Extents, Extents)> {
    let &[rows, cols, ..] = numbers else { return None };
    let &[a, b, c, d, ..] = numbers else { return Some(((rows, cols), (rows, cols))) };
    let by_axis = match extents(case) {
        Some(named) => named != (a, b) && named.0.min(a) == named.0 && (named == (a, c) || named == (b, d)),
        None => c > a || d > b,
    };
    Some(match by_axis {
        true => ((a, c), (b.min(a), d.min(c))),
        false => ((a, b), (c.min(a), d.min(b))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(arch: &str, op: &str, case: &str, params: &str) -> Query {
        query(arch, op, case, params).unwrap()
    }

    fn shape(query: &Query) -> (&[u32], Option<(u32, u32)>) {
        (&query.shape, query.valid)
    }

    /// Each form of parameters that the public tables have.
    #[test]
    fn forms_of_parameters() {
        let tile = one("a2a3", "TADDS", "TAddS.float_256x16", "float 256 256 16 16");
        assert_eq!(shape(&tile), (&[256, 16][..], Some((256, 16))));
        let tile = one("a5", "TADD", "array", "float 20 1312 20 1217");
        assert_eq!(shape(&tile), (&[20, 1312][..], Some((20, 1217))));
        let tile = one("a2a3", "TDIV", "TDiv.case_float_64x64_64x64_64x64", "float 64 64 64 64");
        assert_eq!(shape(&tile), (&[64, 64][..], Some((64, 64))));
        let cvt = one("a2a3", "TCVT", "TCvt.f16_to_f32_4x64", "float half 4 64");
        assert_eq!((cvt.elem, cvt.to), (Elem::F16, Some(Elem::F32)));
        let cvt = one("a5", "TCVT", "array", "Float HFloat8 3 192 3 128 VFIMPL_1D_POST_UPDATE");
        assert_eq!((cvt.elem, cvt.to, shape(&cvt).1), (Elem::F32, Some(Elem::HiF8), Some((3, 128))));
        assert!(one("a5", "TRECIP", "array", "Half 1 1280 1 1280 X \"high_precision\"").precise);
        let load = one("a2a3", "TLOAD", "TLoad.c08_nd", "float 2 2 2 256 60 256 64 1 PadValue::Max 2 2 2 60");
        assert_eq!((shape(&load), load.blocks), ((&[256, 64][..], Some((256, 60))), Some(8)));
        let product = one("a2a3", "TMATMUL", "TMatmul.half_40x50x60", "float half half 40 50 60");
        assert_eq!((product.elem, shape(&product).0), (Elem::F16, &[40, 50, 60][..]));
        let moved = one("a2a3", "TMOV", "c", "float 64 128 63 125 Vec RowMajor NoneBox Vec ColMajor NoneBox");
        assert_eq!((moved.way, moved.valid), (Some((Space::Vec, Space::Vec)), Some((63, 125))));
    }

    #[test]
    fn tables_that_cannot_be_read() {
        assert!(read_points("").is_err());
        assert!(read_points("arch\top\tparams\n").unwrap_err().contains("`expected`"));
        let text = "arch\top\tparams\texpected\na5\tTADD\tfloat 1 64\tmany\n";
        assert!(read_points(text).unwrap_err().contains("line 2: `many`"));
        let text = "arch\top\tparams\texpected\na5\tTADD\twhat 1 64\t5\na5\tTADD\tfloat 1\t5\n";
        let points = read_points(text).unwrap();
        assert!(points.iter().all(|point| point.query.is_err()), "the lines are kept, with the reason");
    }
}
