//! The cost of a single op equals the cost of a run with it, and agrees with the published points within the errors
//! that the documentation states.

use slipring::{Elem, Kernel};
use slipring_explore::cost::{Query, compare, cost, read_points};
use slipring_machine::{Entry, built_in};
use slipring_tile::Space;

use crate::here::pinned_between;

/// A tile: element type, rows, columns, valid rows and columns.
#[derive(Clone, Copy)]
struct Tile(&'static str, u32, u32, u32, u32);

/// Contiguous rows, rows with gaps, partial repeats, a single row.
const SHAPES: [(u32, u32, u32, u32); 5] =
    [(64, 64, 64, 64), (20, 224, 20, 192), (31, 128, 31, 65), (1, 640, 1, 577), (63, 16, 63, 16)];

fn tile((rows, cols, valid_rows, valid_cols): (u32, u32, u32, u32), elem: &'static str) -> Tile {
    Tile(elem, rows, cols, valid_rows, valid_cols)
}

/// The cycles of the single op instance of a kernel with these tiles and this op.
fn run(arch: &str, op: &str, line: &str, tiles: &[Tile]) -> u64 {
    let ty = |Tile(elem, rows, cols, valid_rows, valid_cols): &Tile| {
        format!("vec, {rows}x{cols}x{elem}, valid={valid_rows}x{valid_cols}")
    };
    run_types(arch, op, line, &tiles.iter().map(ty).collect::<Vec<_>>())
}

/// The same for tiles of these types, as written in `!pto.tile_buf<…>`.
fn run_types(arch: &str, op: &str, line: &str, tiles: &[String]) -> u64 {
    let mut types = String::new();
    let mut body = String::from("  %number = arith.constant 2.0 : f32\n");
    for (at, ty) in tiles.iter().enumerate() {
        types += &format!("!t{at} = !pto.tile_buf<{ty}>\n");
        body += &format!("  %t{at} = pto.alloc_tile : !t{at}\n");
    }
    let head = "func.func @one() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {";
    let text = format!("{types}\n{head}\n{body}  {line}\n  return\n}}\n");
    let kernel = Kernel::from_text("one.pto", &text).and_then(|kernel| kernel.platform(arch));
    let run = kernel.and_then(|kernel| kernel.run(Vec::<slipring::Tensor>::new()).map(|run| run.facts()));
    let facts = run.unwrap_or_else(|error| panic!("{text}\n{error}"));
    let found: Vec<_> = facts.ops.iter().filter(|facts| facts.op == op).collect();
    assert_eq!((found.len(), found[0].count), (1, 1), "{text}");
    assert_eq!(found[0].costs.iter().map(|cost| cost.cycles).sum::<u64>(), found[0].cycles);
    found[0].cycles
}

fn query(op: &str, elem: &str, shape: (u32, u32, u32, u32)) -> Query {
    Query {
        op: op.into(),
        elem: Elem::parse(elem).unwrap(),
        to: None,
        shape: vec![shape.0, shape.1],
        valid: Some((shape.2, shape.3)),
        blocks: None,
        way: None,
        precise: false,
        column: false,
    }
}

/// The public headers for the A2/A3 reduce four complete shapes of f32 in groups if the result is a column: sums of the
/// public model's figures for their instructions (head, repeats, end of each) agree within 7 per cent.
#[test]
fn whole_tiles_are_reduced_by_groups() {
    let reduced = |arch: &str, op: &str, (rows, cols): (u32, u32), valid: u32, dst: &str| {
        let tile = format!("vec, {rows}x{cols}xf32, valid={rows}x{valid}");
        let result = format!("vec, {rows}x{dst}");
        let line = format!("pto.{op} ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)");
        run_types(arch, &format!("pto.{op}"), &line, &[tile.clone(), tile, result])
    };
    let column = "1xf32, blayout=col_major";
    for (shape, largest, sum) in
        [((64, 128), 238, 252), ((32, 256), 266, 280), ((16, 512), 239, 260), ((8, 1024), 264, 285)]
    {
        for (op, sequence) in [("trowmax", largest), ("trowmin", largest), ("trowsum", sum)] {
            let cycles = reduced("a2a3", op, shape, shape.1, column);
            assert!(cycles.abs_diff(sequence) * 100 <= sequence * 7, "{op} {shape:?}: {cycles}, not {sequence}");
        }
    }
    let general = |valid, dst| reduced("a2a3", "trowmax", (64, 128), valid, dst);
    let row_wise = general(128, "8xf32, valid=64x1");
    assert!(row_wise > 500, "a result by rows is no column: {row_wise}");
    assert!(general(120, column) > 500, "a tile that is valid in part");
    let a5 = |dst| reduced("a5", "trowmax", (64, 128), 128, dst);
    assert_eq!(a5(column), a5("8xf32, valid=64x1"), "the headers of the A5 have no such shapes");
}

/// Ops for every way of counting: the destination, the reduced operand, the wider type, the full tile.
#[test]
fn an_op_alone_costs_what_a_run_takes() {
    for arch in ["a5", "a2a3"] {
        let platform = built_in(arch).unwrap();
        let alone = |query: &Query| cost(&platform, query).unwrap().cycles;
        for shape in SHAPES {
            for elem in ["f32", "f16", "i32"] {
                let [a, b, c] = [tile(shape, elem); 3];
                for op in ["tadd", "tsub", "tmul", "tmax"] {
                    let line = format!("pto.{op} ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)");
                    let ran = run(arch, &format!("pto.{op}"), &line, &[a, b, c]);
                    assert_eq!(ran, alone(&query(op, elem, shape)), "{arch} {op} {elem} {shape:?}");
                }
                let float = ["texp", "tsqrt", "tneg", "trsqrt"].into_iter().filter(|_| elem != "i32");
                for op in float {
                    let line = format!("pto.{op} ins(%t0 : !t0) outs(%t1 : !t1)");
                    let ran = run(arch, &format!("pto.{op}"), &line, &[a, b]);
                    assert_eq!(ran, alone(&query(op, elem, shape)), "{arch} {op} {elem} {shape:?}");
                }
                let line = "pto.tmov ins(%t0 : !t0) outs(%t1 : !t1)";
                let ran = run(arch, "pto.tmov", line, &[a, b]);
                let moved = Query { way: Some((Space::Vec, Space::Vec)), ..query("tmov", elem, shape) };
                assert_eq!(ran, alone(&moved), "{arch} tmov {elem} {shape:?}");
            }
            for op in ["tadds", "tmuls", "tmins", "tdivs"] {
                let line = format!("pto.{op} ins(%t0, %number : !t0, f32) outs(%t1 : !t1)");
                let ran = run(arch, &format!("pto.{op}"), &line, &[tile(shape, "f32"), tile(shape, "f32")]);
                assert_eq!(ran, alone(&query(op, "f32", shape)), "{arch} {op} {shape:?}");
            }
            for (from, to) in [("f32", "f16"), ("f16", "f32"), ("f32", "i32")] {
                let line = "pto.tcvt ins(%t0 : !t0) outs(%t1 : !t1)";
                let ran = run(arch, "pto.tcvt", line, &[tile(shape, from), tile(shape, to)]);
                let query = Query { to: Elem::parse(to), ..query("tcvt", from, shape) };
                assert_eq!(ran, alone(&query), "{arch} {from} to {to} {shape:?}");
            }
            for (op, dst) in [
                ("trowsum", (shape.0, 8, shape.2, 1)),
                ("trowmax", (shape.0, 8, shape.2, 1)),
                ("tcolmax", (1, shape.1, 1, shape.3)),
            ] {
                let line = format!("pto.{op} ins(%t0 : !t0) outs(%t1 : !t1)");
                let ran = run(arch, &format!("pto.{op}"), &line, &[tile(shape, "f32"), tile(dst, "f32")]);
                assert_eq!(ran, alone(&query(op, "f32", shape)), "{arch} {op} {shape:?}");
            }
        }
    }
}

/// An op that cannot be run has a cost; an unknown op has none, and neither has a shape that no tile can have.
#[test]
fn ops_that_cannot_run_and_none() {
    let platform = built_in("a2a3").unwrap();
    let shape = (8, 32, 8, 32);
    assert!(cost(&platform, &query("tsort32", "f32", shape)).is_ok());
    assert!(cost(&platform, &query("taddd", "f32", shape)).unwrap_err().contains("did you mean `pto.tadd`?"));
    assert!(cost(&platform, &query("tadd", "f32", (8, 32, 9, 32))).unwrap_err().contains("9x32 valid elements"));
    let product = Query { shape: vec![120, 110, 50], valid: None, ..query("tmatmul", "f32", shape) };
    let costed = cost(&platform, &product).unwrap();
    assert_eq!((costed.cycles, costed.units.total), (902, 448), "8 x 4 blocks, 14 deep, 2 cycles each, and 6");
    let load = Query { blocks: Some(8), ..query("tload", "f32", (256, 64, 256, 64)) };
    assert_eq!(cost(&platform, &load).unwrap().cycles, 2624);
    let lost = Query { way: Some((Space::Acc, Space::Left)), ..query("tmov", "f32", shape) };
    assert!(cost(&platform, &lost).is_err());
}

fn mean_error(text: &str) -> f64 {
    let points = read_points(text).unwrap();
    let (measured, errors) = compare(&points, built_in).unwrap();
    assert!(measured.iter().all(|m| m.costed.is_ok()));
    errors.sound.mean
}

/// The accuracy target for single operations, on the points of the fit and on points that it has not seen.
#[test]
fn published_points_are_met() {
    assert!(mean_error(include_str!("../../../docs/costs/points.tsv")) < 0.02);
    assert!(mean_error(include_str!("../../../docs/costs/further.tsv")) < 0.025);
}

/// The properties that distinguish points: platform, op, types, and the layout of rows.
fn class(point: &slipring_explore::cost::Point, costed: &slipring_explore::cost::Costed) -> Option<String> {
    let query = point.query.as_ref().ok()?;
    let (rows, bytes) = (costed.units.rows.max(1), costed.units.total);
    let lie = match (rows, costed.units.joined) {
        (1, _) | (_, true) => "run",
        _ if bytes / rows <= 256 => "short",
        _ => "long",
    };
    Some(format!("{} {} {} {:?} {} {lie}", point.arch, point.op, query.elem, query.to, query.precise))
}

/// The cycles of a vector op are an estimate if fewer than four published points support them for the op, its types and
/// its shape, or if the mean error of these exceeds 10 per cent: computed here from the table, without the platform
/// files.
#[test]
fn an_estimate_is_what_too_few_points_stand_behind() {
    let points = read_points(include_str!("../../../docs/costs/points.tsv")).unwrap();
    let (measured, _) = compare(&points, built_in).unwrap();
    let mut classes = std::collections::BTreeMap::<String, Vec<f64>>::new();
    let sound = |one: &&slipring_explore::cost::Measured<'_>| {
        let entry = one.costed.as_ref().map(|costed| costed.price.entry.to_string()).unwrap_or_default();
        entry.starts_with("cost.vector") || entry.starts_with("cost.op")
    };
    for one in measured.iter().filter(sound) {
        let key = one.costed.as_ref().ok().and_then(|costed| class(one.point, costed)).unwrap();
        classes.entry(key).or_default().extend(one.error().filter(|_| !one.point.suspect));
    }
    let (mut estimates, mut others) = (0, 0);
    for one in measured.iter().filter(sound) {
        let costed = one.costed.as_ref().unwrap();
        let key = class(one.point, costed).unwrap();
        let errors = &classes[&key];
        let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        // The files round to one decimal place.
        let known = errors.len() >= 4 && (1000.0 * mean).round() <= 100.0;
        assert_eq!(costed.price.is_estimate(costed.units), !known, "{key}: {} points, {mean}", errors.len());
        *(if known { &mut others } else { &mut estimates }) += 1;
    }
    assert!(estimates > 50 && others > 200, "{estimates} estimates, {others} others");
    // No point for the op at all, or only for other ops.
    for (arch, op) in [("a5", "tlog"), ("a2a3", "tlog"), ("a5", "tcolsum")] {
        let platform = built_in(arch).unwrap();
        let costed = cost(&platform, &query(op, "f32", (64, 64, 64, 64))).unwrap();
        assert!(costed.price.is_estimate(costed.units), "{arch} {op}");
    }
}

/// The entries of a platform's tables without any published point, as a row of the page.
fn without_points(arch: &str) -> String {
    let cost = built_in(arch).expect("a platform").cost;
    fn part<'c, T: 'c>(what: &str, all: impl IntoIterator<Item = (&'c String, &'c Entry<T>)>) -> String {
        let (mut names, mut count) = (Vec::new(), 0);
        for (name, entry) in all {
            count += 1;
            if entry.evidence.points == 0 {
                names.push(format!("`{name}`"));
            }
        }
        match names.is_empty() {
            true => format!("{what}: none of {count}"),
            false => format!("{what}, {} of {count}: {}", names.len(), names.join(" ")),
        }
    }
    let parts = [
        part("moves", &cost.dma),
        part("products", &cost.cube),
        part("classes", &cost.vector),
        part("single ops", &cost.op),
    ];
    format!("| {arch} | {} |\n", parts.join("; "))
}

#[test]
fn the_page_lists_what_no_point_supports() {
    let rows = ["a2a3", "a5"].map(without_points).concat();
    let made = format!("\n| platform | entries without a published point |\n|---|---|\n{rows}");
    pinned_between("docs/time.md", ["<!-- entries without points from here -->\n", "\n<!-- to here -->"], &made);
}
