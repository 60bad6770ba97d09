//! Functions of the tile library for which the assembler has no op: powers, fused operations, pairs, extrema with their
//! indices.

use crate::matrix::numbers::{Ty, Value, elements};
use crate::matrix::run::Tile;
use crate::matrix::{Matrix, all, each, reference, tile};

/// The value of a float, or of an integer.
fn float(ty: Ty, bits: u64) -> f64 {
    match ty.decode(bits) {
        Value::Float(x) => x,
        Value::Int(n) => n as f64,
    }
}

/// `x ^ y`: floats by way of f32, integers with wrapping.
fn power(arch: &str, ty: Ty, base: u64, exponent: u64) -> u64 {
    let (x, y) = match (ty.decode(base), ty.decode(exponent)) {
        (Value::Float(x), Value::Float(y)) => (x, y),
        (Value::Int(x), Value::Int(y)) => {
            let result = match (x, y < 0) {
                (1, true) => 1,
                (-1, true) => {
                    if y % 2 == 0 {
                        1
                    } else {
                        -1
                    }
                }
                (_, true) => 0,
                // The low bits of a power only depend on the low bits of the base.
                (_, false) => x.wrapping_pow(y as u32),
            };
            return ty.encode(Value::Int(result));
        }
        _ => unreachable!(),
    };
    let value = match arch {
        "a2a3" if y == 0.0 => 1.0,
        "a2a3" if x == 0.0 => {
            if y > 0.0 {
                0.0
            } else {
                f64::INFINITY
            }
        }
        "a2a3" if x == 1.0 && !y.is_finite() || x < 0.0 && y.trunc() != y => f64::NAN,
        _ => x.powf(y),
    };
    ty.encode(Value::Float(f64::from(value as f32)))
}

#[test]
fn powers() {
    let mut matrix = Matrix::new();
    let bf16 = |ty: Ty| if ty.0 == "bf16" { " {precision_mode = #pto<precision_mode HIGH_PRECISION>}" } else { "" };
    all("pto.tpow", |arch, ty, make| {
        // Ordinary powers after the special cases.
        let mut exponents = make(1);
        for (at, bits) in exponents.data.iter_mut().enumerate().filter(|(at, _)| at % 3 == 0) {
            *bits = if ty.is_float() { ty.encode(Value::Float(at as f64 / 16.0 - 3.0)) } else { at as u64 % 7 };
        }
        let expect = |tiles: &[Tile], out: &mut [u64]| {
            let cols = tiles[0].shape[1];
            for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                out[at] = power(arch, ty, tiles[0].data[at], tiles[1].data[at]);
            }
        };
        let text = format!("  pto.tpow ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2){}", bf16(ty));
        matrix.case(arch, &text, vec![make(0), exponents, make(2)], 2, &expect);
        for exponent in if ty.is_float() { vec![-1.5, 0.5, 3.0] } else { vec![0.0, 1.0, 5.0] } {
            let number = ty.encode(if ty.is_float() { Value::Float(exponent) } else { Value::Int(exponent as i64) });
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                    out[at] = power(arch, ty, tiles[0].data[at], number);
                }
            };
            let text = format!(
                "  %number = arith.constant {} : {}\n  pto.tpows ins(%t0, %number : !t0, {1}) outs(%t1 : !t1){}",
                reference::literal(ty, number),
                ty.0,
                bf16(ty)
            );
            matrix.case(arch, &text, vec![make(0), make(1)], 1, &expect);
        }
    });
    matrix.done();
}

#[test]
fn products_and_sums_in_one() {
    let mut matrix = Matrix::new();
    for name in ["fusedmuladd", "fusedmuladdrelu", "muladddst", "subrelu"] {
        all(&format!("pto.t{name}"), |arch, ty, make| {
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                    let [a, b, c] = [0, 1, 2].map(|of: usize| float(ty, tiles[of].data[at]) as f32);
                    // The product of f16 is rounded before the sum.
                    let product = |x: f32| float(ty, ty.encode(Value::Float(f64::from(x)))) as f32;
                    let fused = |x: f32, y: f32, z: f32| {
                        if ty == Ty("f16") { product(x * y) + z } else { x.mul_add(y, z) }
                    };
                    let value = match name {
                        "muladddst" => fused(a, b, c),
                        "subrelu" => a - b,
                        _ => fused(a, c, b),
                    };
                    let relu = name.ends_with("relu") && value <= 0.0;
                    out[at] = ty.encode(Value::Float(if relu { 0.0 } else { f64::from(value) }));
                }
            };
            let text = format!("  pto.t{name} ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)");
            matrix.case(arch, &text, vec![make(0), make(1), make(2)], 2, &expect);
        });
    }
    matrix.done();
}

/// The nearest representable value, or the largest one if it is out of range.
fn saturated(to: Ty, value: f64) -> u64 {
    match to.is_float() {
        true => to.encode(Value::Float(value.min(65504.0))),
        false => to.encode(Value::Int((value.round_ties_even() as i64).clamp(to.least(), to.most()))),
    }
}

#[test]
fn sums_that_are_converted() {
    let mut matrix = Matrix::new();
    all("pto.taddreluconv", |arch, ty, make| {
        let to = Ty(if ty.0 == "f32" { "f16" } else { "i8" });
        let src = make(0);
        let dst = tile(to, src.shape[0], src.shape[1] * to.bytes(), src.valid, 8);
        if !(dst.shape[1] * to.bytes()).is_multiple_of(32) {
            return;
        }
        let expect = |tiles: &[Tile], out: &mut [u64]| {
            let cols = tiles[0].shape[1];
            for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                let sum = float(ty, reference::binary("add", ty, tiles[0].data[at], tiles[1].data[at]));
                // NaN stays NaN, as in other maxima.
                out[at] = match sum.is_nan() && to.is_float() {
                    true => to.encode(Value::Float(f64::NAN)),
                    false => saturated(to, if sum > 0.0 { sum } else { 0.0 }),
                };
            }
        };
        let text = "  pto.taddreluconv ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)";
        matrix.case(arch, text, vec![src, make(1), dst], 2, &expect);
    });
    all("pto.tadddeqrelu", |arch, ty, make| {
        for (scale, said) in [(0.0625, "0.0625"), (-3.0e-5, "-3.0e-5"), (1.1, "1.1")] {
            let src = make(0);
            let dst = tile(Ty("f16"), src.shape[0], src.shape[1] * 2, src.valid, 8);
            if !(dst.shape[1] * 2).is_multiple_of(32) {
                continue;
            }
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                    let sum = float(ty, reference::binary("add", ty, tiles[0].data[at], tiles[1].data[at])) as f32;
                    let value = sum / 131072.0 * scale as f32 * 131072.0;
                    out[at] = saturated(Ty("f16"), f64::from(value.max(0.0)));
                }
            };
            let text = format!(
                "  %number = arith.constant {said} : f32
  pto.tadddeqrelu ins(%t0, %t1, %number : !t0, !t1, f32) outs(%t2 : !t2)"
            );
            matrix.case(arch, &text, vec![src, make(1), dst], 2, &expect);
        }
    });
    matrix.done();
}

#[test]
fn streams_and_pairs() {
    let mut matrix = Matrix::new();
    let even = |mut tile: Tile| {
        tile.valid[1] = (tile.valid[1] / 2 * 2).max(2);
        tile
    };
    for name in ["interleave", "deinterleave"] {
        all("pto.tinterleave", |arch, _, make| {
            let tiles = [0, 1, 2, 3].map(|n| even(make(n))).to_vec();
            for result in [0, 1] {
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    let (cols, valid) = (tiles[0].shape[1], tiles[0].valid[1]);
                    for (i, j) in each(tiles[0].valid) {
                        let row = |of: usize| &tiles[of].data[i * cols..][..valid];
                        let stream: Vec<u64> = match name {
                            "interleave" => row(0).iter().zip(row(1)).flat_map(|(a, b)| [*a, *b]).collect(),
                            _ => [row(0), row(1)].concat(),
                        };
                        out[i * cols + j] =
                            stream[if name == "interleave" { result * valid + j } else { 2 * j + result }];
                    }
                };
                let text = format!("  pto.t{name} ins(%t0, %t1 : !t0, !t1) outs(%t2, %t3 : !t2, !t3)");
                matrix.case_with(arch, &text, tiles.clone(), 2 + result, &expect, &[3 - result]);
            }
        });
    }
    all("pto.tinterleave", |arch, _, make| {
        let source = even(make(0));
        let [mut first, mut second] = [make(1), make(2)];
        first.valid[1] = source.valid[1] / 2;
        second.valid[1] = source.valid[1] / 2;
        let expect = |tiles: &[Tile], out: &mut [u64]| {
            let cols = tiles[0].shape[1];
            for (i, j) in each(tiles[1].valid) {
                out[i * cols + j] = tiles[0].data[i * cols + 2 * j];
            }
        };
        let text = "  pto.tdeinterleave ins(%t0 : !t0) outs(%t1, %t2 : !t1, !t2)";
        matrix.case_with(arch, text, vec![source, first, second], 1, &expect, &[2]);
    });
    all("pto.tpairreducesum", |arch, ty, make| {
        let expect = |tiles: &[Tile], out: &mut [u64]| {
            let (cols, [rows, valid]) = (tiles[0].shape[1], tiles[0].valid);
            for (i, k) in each([rows, valid / 2]) {
                let at = i * cols + 2 * k;
                out[i * cols + k] = reference::binary("add", ty, tiles[0].data[at], tiles[0].data[at + 1]);
            }
        };
        let text = "  pto.tpairreducesum ins(%t0 : !t0) outs(%t1 : !t1)";
        matrix.case(arch, text, vec![make(0), make(1)], 1, &expect);
    });
    matrix.done();
}

#[test]
fn extremes_with_their_numbers() {
    let mut matrix = Matrix::new();
    for name in ["max", "min"] {
        all(&format!("pto.tpartarg{name}"), |arch, ty, make| {
            for index in if ty.0 == "f32" { vec!["i32", "ui32"] } else { vec!["i16", "ui16", "i32", "ui32"] } {
                for (small, rows, cols) in [(0, 1, 0), (1, 0, 1), (1, 1, 2), (0, 0, 0), (0, 99, 99)] {
                    let beside = |of: &Tile, seed: u64| Tile {
                        ty: Ty(index),
                        data: elements(Ty(index), of.shape[0] * of.shape[1], seed),
                        ..of.clone()
                    };
                    let mut values = [make(0), make(1), make(2)];
                    if !(values[0].shape[1] * Ty(index).bytes()).is_multiple_of(32) {
                        continue;
                    }
                    // Some are equal.
                    for at in (0..values[0].data.len()).step_by(4) {
                        values[1].data[at] = values[0].data[at];
                    }
                    let valid = values[2].valid;
                    values[small].valid = [valid[0].saturating_sub(rows), valid[1].saturating_sub(cols)];
                    let [a, b, dst] = values;
                    let (numbers_a, numbers_b, numbers) = (beside(&a, 5), beside(&b, 6), beside(&dst, 7));
                    let tiles = vec![a, b, numbers_a, numbers_b, dst, numbers];
                    for result in [0, 1] {
                        let expect = |tiles: &[Tile], out: &mut [u64]| {
                            let cols = tiles[4].shape[1];
                            for (i, j) in each(tiles[4].valid) {
                                let (has, at) = (|tile: &Tile| i < tile.valid[0] && j < tile.valid[1], i * cols + j);
                                let [x, y] = [0, 1].map(|of: usize| float(ty, tiles[of].data[at]));
                                let first = match (has(&tiles[0]), has(&tiles[1]), arch) {
                                    (true, true, "a5") => !(if name == "max" { y > x } else { y < x }),
                                    (true, true, _) => {
                                        if name == "max" {
                                            x >= y
                                        } else {
                                            x <= y
                                        }
                                    }
                                    (first, ..) => first,
                                };
                                out[at] = tiles[2 * result + usize::from(!first)].data[at];
                            }
                        };
                        let text = format!(
                            "  pto.tpartarg{name} ins(%t0, %t1, %t2, %t3 : !t0, !t1, !t2, !t3) outs(%t4, %t5 : !t4, !t5)"
                        );
                        matrix.case_with(arch, &text, tiles.clone(), 4 + result, &expect, &[5 - result]);
                    }
                }
            }
        });
    }
    matrix.done();
}
