//! The remaining arithmetic: selection by numbers, partially overlapping tiles, three operands, fills, repeats,
//! packing.

use crate::matrix::numbers::{Ty, Value};
use crate::matrix::run::Tile;
use crate::matrix::{Matrix, all, each, reference, tile};

/// Numbers of a type that a text can express: ordinary ones and extremes.
fn numbers(ty: Ty) -> Vec<u64> {
    let is_finite = |bits: &u64| !matches!(ty.decode(*bits), Value::Float(x) if !x.is_finite());
    let special: Vec<u64> = ty.special().into_iter().filter(is_finite).collect();
    vec![special[0], special[special.len() / 3], special[special.len() - 1]]
}

/// The line that defines `%number`.
fn constant(ty: Ty, bits: u64) -> String {
    format!("  %number = arith.constant {} : {}\n", reference::literal(ty, bits), ty.0)
}

/// A byte of a mask: a bit for each of eight columns of a row.
fn mask_byte(first: usize, valid: usize, holds: impl Fn(usize) -> bool) -> u64 {
    (0..8).map(|k| u64::from(first + k < valid && holds(first + k)) << k).sum()
}

#[test]
fn comparisons_and_choices_with_a_number() {
    let mut matrix = Matrix::new();
    for mode in ["eq", "ne", "lt", "le", "gt", "ge"] {
        all("pto.tcmps", |arch, ty, make| {
            for number in numbers(ty) {
                let src = make(0);
                let mut mask = tile(Ty("ui8"), src.shape[0], 32, [src.valid[0], 32], 5);
                mask.data.fill(0xff);
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    let (cols, [rows, valid]) = (tiles[0].shape[1], tiles[0].valid);
                    for i in 0..rows {
                        for byte in 0..valid.div_ceil(8) {
                            let holds = |j| reference::compare(mode, ty, tiles[0].data[i * cols + j], number);
                            out[32 * i + byte] = mask_byte(8 * byte, valid, holds);
                        }
                    }
                };
                let text = format!(
                    "{}  pto.tcmps ins(%t0, %number {{cmpMode = #pto<cmp {mode}>}} : !t0, {}) outs(%t1 : !t1)",
                    constant(ty, number),
                    ty.0
                );
                matrix.case(arch, &text, vec![src, mask], 1, &expect);
            }
        });
    }
    all("pto.tsels", |arch, ty, make| {
        for number in numbers(ty) {
            let src = make(0);
            let mask = tile(Ty("ui8"), src.shape[0], 32, [src.valid[0], 32], 78);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[1].shape[1];
                for (i, j) in each(tiles[1].valid) {
                    let chosen = tiles[0].data[32 * i + j / 8] >> (j % 8) & 1 == 1;
                    out[i * cols + j] = if chosen { tiles[1].data[i * cols + j] } else { number };
                }
            };
            for place in [1, 2] {
                let text = format!(
                    "{}  pto.tsels ins(%t0, %t1, %number : !t0, !t1, {}) outs(%t{place} : !t{place})",
                    constant(ty, number),
                    ty.0
                );
                matrix.case(arch, &text, vec![mask.clone(), src.clone(), make(1)][..=place].to_vec(), place, &expect);
            }
        }
    });
    matrix.done();
}

#[test]
fn a_tile_that_covers_a_part_of_the_other() {
    let mut matrix = Matrix::new();
    for name in ["add", "mul", "max", "min"] {
        all(&format!("pto.tpart{name}"), |arch, ty, make| {
            for (small, rows, cols) in [(0, 1, 0), (1, 0, 1), (1, 1, 2), (0, 0, 0)] {
                let mut tiles = vec![make(0), make(1), make(2)];
                let valid = tiles[2].valid;
                tiles[small].valid = [valid[0].saturating_sub(rows).max(1), valid[1].saturating_sub(cols).max(1)];
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    let cols = tiles[2].shape[1];
                    for (i, j) in each(tiles[2].valid) {
                        let has = |tile: &Tile| i < tile.valid[0] && j < tile.valid[1];
                        let at = i * cols + j;
                        out[at] = match (has(&tiles[0]), has(&tiles[1])) {
                            (true, true) => reference::binary(name, ty, tiles[0].data[at], tiles[1].data[at]),
                            (true, false) => tiles[0].data[at],
                            _ => tiles[1].data[at],
                        };
                    }
                };
                let text = format!("  pto.tpart{name} ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)");
                matrix.case(arch, &text, tiles, 2, &expect);
            }
        });
    }
    matrix.done();
}

#[test]
fn three_operands() {
    let mut matrix = Matrix::new();
    // Short floats are computed in f32 and rounded once.
    let chain = |first: &str, ty: Ty, a: u64, b: u64, c: u64| {
        let wide = if ty.is_float() { Ty("f32") } else { ty };
        let [a, b, c] = [a, b, c].map(|bits| wide.encode(ty.decode(bits)));
        let sum = reference::binary("add", wide, reference::binary(first, wide, a, b), c);
        ty.encode(wide.decode(sum))
    };
    for name in ["add", "sub"] {
        all(&format!("pto.t{name}c"), |arch, ty, make| {
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                    out[at] = chain(name, ty, tiles[0].data[at], tiles[1].data[at], tiles[2].data[at]);
                }
            };
            for place in [0, 2, 3] {
                let text = format!("  pto.t{name}c ins(%t0, %t1, %t2 : !t0, !t1, !t2) outs(%t{place} : !t{place})");
                let tiles = [make(0), make(1), make(2), make(3)];
                matrix.case(arch, &text, tiles[..=place.max(2)].to_vec(), place, &expect);
            }
        });
        all(&format!("pto.t{name}sc"), |arch, ty, make| {
            for number in numbers(ty) {
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    let cols = tiles[0].shape[1];
                    for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                        out[at] = chain(name, ty, tiles[0].data[at], number, tiles[1].data[at]);
                    }
                };
                let text = format!(
                    "{}  pto.t{name}sc ins(%t0, %number, %t1 : !t0, {}, !t1) outs(%t2 : !t2)",
                    constant(ty, number),
                    ty.0
                );
                matrix.case(arch, &text, vec![make(0), make(1), make(2)], 2, &expect);
            }
        });
    }
    all("pto.taxpy", |arch, ty, make| {
        for number in numbers(ty) {
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                let single = |bits| match ty.decode(bits) {
                    Value::Float(x) => x as f32,
                    Value::Int(_) => unreachable!("taxpy is of floats"),
                };
                for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                    let (a, b, c) = (single(tiles[0].data[at]), single(number), single(tiles[1].data[at]));
                    let steps = arch == "a2a3" && ty == Ty("f16");
                    let product = |x: f32| single(ty.encode(Value::Float(f64::from(x))));
                    let sum = if steps { product(a * b) + c } else { a.mul_add(b, c) };
                    out[at] = ty.encode(Value::Float(f64::from(sum)));
                }
            };
            let text = format!("{}  pto.taxpy ins(%t0, %number : !t0, {}) outs(%t1 : !t1)", constant(ty, number), ty.0);
            matrix.case(arch, &text, vec![make(0), make(1)], 1, &expect);
        }
    });
    matrix.done();
}

#[test]
fn fills_and_repeats() {
    let mut matrix = Matrix::new();
    all("pto.texpands", |arch, ty, make| {
        for number in numbers(ty) {
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                each(tiles[0].valid).for_each(|(i, j)| out[i * cols + j] = number);
            };
            let text = format!("{}  pto.texpands ins(%number : {}) outs(%t0 : !t0)", constant(ty, number), ty.0);
            matrix.case(arch, &text, vec![make(0)], 0, &expect);
        }
    });
    for axis in ["row", "col"] {
        all(&format!("pto.t{axis}expand"), |arch, ty, make| {
            let dst = make(0);
            let few = match axis {
                "row" => tile(ty, dst.shape[0], 32, [dst.valid[0], 1], 3),
                _ => tile(ty, 1, dst.shape[1] * ty.bytes(), [1, dst.valid[1]], 3),
            };
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let (cols, few) = (tiles[1].shape[1], tiles[0].shape[1]);
                for (i, j) in each(tiles[1].valid) {
                    out[i * cols + j] = tiles[0].data[if axis == "row" { i * few } else { j }];
                }
            };
            let text = format!("  pto.t{axis}expand ins(%t0 : !t0) outs(%t1 : !t1)");
            matrix.case(arch, &text, vec![few, dst], 1, &expect);
        });
    }
    for (arch, ty) in ["a5", "a2a3"].iter().flat_map(|arch| ["i32", "i16"].map(|ty| (*arch, Ty(ty)))) {
        for (shape, start) in [((3, 96, [3, 999]), 5), ((7, 64, [5, 3]), -2), ((2, 320, [2, 67]), ty.most())] {
            for descending in [false, true] {
                let dst = tile(ty, shape.0, shape.1, shape.2, 8);
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    let (cols, [_, valid]) = (tiles[0].shape[1], tiles[0].valid);
                    for (i, j) in each(tiles[0].valid) {
                        let k = (i * valid + j) as i64;
                        out[i * cols + j] = ty.encode(Value::Int(if descending { start - k } else { start + k }));
                    }
                };
                let text = format!(
                    "  %start = arith.constant {start} : {0}\n  pto.tci ins(%start {{descending = {descending}}} : {0}) outs(%t0 : !t0)",
                    ty.0
                );
                matrix.case(arch, &text, vec![dst], 0, &expect);
            }
        }
    }
    for (arch, ty) in ["a5", "a2a3"].iter().flat_map(|arch| ["f32", "f16", "i32", "i16"].map(|ty| (*arch, Ty(ty)))) {
        for (upper, diagonal) in [(0, 0), (0, 2), (0, -3), (1, 0), (1, 1), (1, -2), (0, 400), (1, -400)] {
            let dst = tile(ty, 7, 64, [5, 11], 8);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for (i, j) in each(tiles[0].valid) {
                    let behind = j as i64 - i as i64 - diagonal;
                    let one = if upper == 1 { behind >= 0 } else { behind <= 0 };
                    let value = if ty.is_float() { Value::Float(f64::from(one)) } else { Value::Int(one.into()) };
                    out[i * cols + j] = ty.encode(value);
                }
            };
            let text = format!(
                "  %diagonal = arith.constant {diagonal} : i32\n  pto.ttri ins(%diagonal {{upperOrLower = {upper} : i32}} : i32) outs(%t0 : !t0)"
            );
            matrix.case(arch, &text, vec![dst], 0, &expect);
        }
    }
    matrix.done();
}

/// `tpack` exists only on the A5.
#[test]
fn packing() {
    let mut matrix = Matrix::new();
    let pairs = [("i32", "i16"), ("ui32", "ui8"), ("f32", "f16"), ("i16", "i8"), ("f16", "ui8"), ("ui32", "i16")];
    for (from, to) in pairs.map(|(from, to)| (Ty(from), Ty(to))) {
        for valid in [[3, 32], [2, 29], [1, 1]] {
            let (src, dst) = (tile(from, 3, 32 * from.bytes(), valid, 6), tile(to, 3, 32 * to.bytes(), valid, 7));
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                each(tiles[0].valid).for_each(|(i, j)| out[i * 32 + j] = tiles[0].data[i * 32 + j] & to.mask());
            };
            matrix.case("a5", "  pto.tpack ins(%t0 : !t0) outs(%t1 : !t1)", vec![src, dst], 1, &expect);
        }
    }
    matrix.done();
}

/// The valid shape of `dst` determines what is extracted; elements that the kernel reads are those of the tile.
#[test]
fn windows_and_single_elements() {
    let mut matrix = Matrix::new();
    for arch in ["a5", "a2a3"] {
        for ty in ["f32", "f16", "bf16", "i32", "i16", "i8"].map(Ty) {
            let line = 32 / ty.bytes();
            for (valid, row, cols) in
                [([3, line], 2, 0), ([2, line - 1], 5, line), ([1, 1], 7, line), ([3, 2], 0, line)]
            {
                let src = tile(ty, 8, 64, [8, 2 * line], 30);
                let dst = tile(ty, 3, 32, valid, 31);
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    each(valid).for_each(|(i, j)| out[i * line + j] = tiles[0].data[(row + i) * 2 * line + cols + j]);
                };
                let text = format!(
                    "  %row = arith.constant {row} : index\n  %col = arith.constant {cols} : index\n  pto.textract ins(%t0, %row, %col : !t0, index, index) outs(%t1 : !t1)"
                );
                if arch == "a5" {
                    matrix.case(arch, &text, vec![src, dst], 1, &expect);
                }
            }
            // The position is only known at run time: that of a loop counter.
            let src = tile(ty, 3, 32, [3, line], 32);
            let dst = tile(ty, 3, 32, [3, line], 33);
            let count = 3 * line;
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                (0..count).for_each(|at| out[count - 1 - at] = tiles[0].data[at]);
            };
            let text = format!(
                "  %n = arith.constant {count} : index\n  %last = arith.constant {} : index
  scf.for %i = %c0 to %n step %c1 {{
    %e = pto.tgetval ins(%t0, %i : !t0, index) outs : {1}
    %to = arith.subi %last, %i : index
    pto.tsetval ins(%to, %e : index, {1}) outs(%t1 : !t1)
  }}",
                count - 1,
                ty.0
            );
            matrix.case(arch, &text, vec![src, dst], 1, &expect);
        }
    }
    matrix.done();
}
