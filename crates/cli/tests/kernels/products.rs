//! Products of every element type, with every combination of transposed operands, written as kernels.

use crate::kernels::kit::Type::{self, Bf16, F16, F32, I8, I32};
use crate::kernels::kit::{Matrix, PLATFORMS, expect, input, output};

const TYPES: [(&str, Type, &str, Type); 4] =
    [("FP32", F32, "FP32", F32), ("FP16", F16, "FP32", F32), ("BF16", Bf16, "FP32", F32), ("INT8", I8, "INT32", I32)];

/// The extents of the second entry are not multiples of a fractal for any type.
const EXTENTS: [(usize, usize, usize); 2] = [(48, 96, 64), (40, 72, 24)];

/// Whole numbers from -8 to 8.
fn whole(rows: usize, cols: usize, seed: u32) -> Matrix {
    Matrix::quarters(rows, cols, seed).map(|x| x * 4.0)
}

fn flag(name: &str, set: bool) -> String {
    if set { format!(", {name}=True") } else { String::new() }
}

/// The extents of an operand in memory.
fn extents(rows: usize, cols: usize, transposed: bool) -> (usize, usize) {
    if transposed { (cols, rows) } else { (rows, cols) }
}

#[test]
fn transposed_operands_of_every_type() {
    for ((m, k, n), (name, ty, out_name, out_ty)) in EXTENTS.into_iter().flat_map(|e| TYPES.map(|ty| (e, ty))) {
        for (a_trans, b_trans) in [(false, false), (false, true), (true, false), (true, true)] {
            let (a_rows, a_cols) = extents(m, k, a_trans);
            let (b_rows, b_cols) = extents(k, n, b_trans);
            let text = format!(
                "import slipring.language as pl\n\n\n@pl.incore\ndef product(\n    \
                 a: pl.Tensor[[{a_rows}, {a_cols}], pl.{name}],\n    b: pl.Tensor[[{b_rows}, {b_cols}], pl.{name}],\n    \
                 c: pl.Out[pl.Tensor[[{m}, {n}], pl.{out_name}]],\n):\n    c[:] = pl.matmul(a, b{}{})\n",
                flag("a_trans", a_trans),
                flag("b_trans", b_trans)
            );
            let (a, b) = (whole(a_rows, a_cols, 1), whole(b_rows, b_cols, 2));
            let left = if a_trans { a.transposed() } else { a.clone() };
            let right = if b_trans { b.transposed() } else { b.clone() };
            let buffers = [input(ty, &a), input(ty, &b), output(out_ty, &left.times(&right))];
            for platform in PLATFORMS {
                expect(&format!("{name}_{m}_{k}_{n}_{a_trans}_{b_trans}.py"), &text, platform, &buffers, 0.0);
            }
        }
    }
}

/// Extents that are not multiples of a fractal.
#[test]
fn odd_extents() {
    for (m, k, n) in [(1, 1, 1), (5, 17, 3), (16, 33, 40), (31, 64, 65)] {
        let text = format!(
            "import slipring.language as pl\n\n\n@pl.incore\ndef product(\n    a: pl.Tensor[[{m}, {k}], pl.FP16],\n    \
             b: pl.Tensor[[{n}, {k}], pl.FP16],\n    c: pl.Out[pl.Tensor[[{m}, {n}], pl.FP32]],\n):\n    \
             c[:] = pl.matmul(a, b, b_trans=True)\n"
        );
        let (a, b) = (whole(m, k, 1), whole(n, k, 2));
        let buffers = [input(F16, &a), input(F16, &b), output(F32, &a.times(&b.transposed()))];
        for platform in PLATFORMS {
            expect(&format!("product_{m}_{k}_{n}.py"), &text, platform, &buffers, 0.0);
        }
    }
}

/// Steps over k in a loop, with the accumulator carried, and a bias.
#[test]
fn accumulated_in_a_loop() {
    let text = "import slipring.language as pl\n\n\n@pl.incore\ndef product(\n    a: pl.Tensor[[32, 256], pl.BF16],\n    \
                b: pl.Tensor[[256, 48], pl.BF16],\n    bias: pl.Tensor[[1, 48], pl.FP32],\n    \
                c: pl.Out[pl.Tensor[[32, 48], pl.FP32]],\n):\n    \
                acc = pl.matmul_bias(a[:, 0:64], b[0:64, :], bias)\n    for k in pl.range(64, 256, 64):\n        \
                acc = pl.matmul_acc(acc, a[:, k : k + 64], b[k : k + 64, :])\n    c[:] = acc\n";
    let (a, b, bias) = (whole(32, 256, 1), whole(256, 48, 2), whole(1, 48, 3));
    let product = a.times(&b);
    let c = Matrix::from(32, 48, |i, j| product.at(i, j) + bias.at(0, j));
    for platform in PLATFORMS {
        let buffers = [input(Bf16, &a), input(Bf16, &b), input(F32, &bias), output(F32, &c)];
        expect("accumulated.py", text, platform, &buffers, 0.0);
    }
}
