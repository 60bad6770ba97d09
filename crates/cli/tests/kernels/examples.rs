//! The kernels of `examples/lang`.

use std::collections::BTreeSet;

use crate::kernels::kit::Type::{Bf16, F16, F32, I8, I32};
use crate::kernels::kit::{
    Buffer, Matrix, PLATFORMS, bf16, changed, examples, expect, expect_example, input, output, slots,
};

/// All arithmetic is exact.
const EXACT: f64 = 0.0;
/// All arithmetic is in `f32`, some of it rounded.
const SINGLE: f64 = 1e-5;
/// An intermediate is rounded to f16 or bf16, which different ways of computing it may do differently: half a unit of
/// bf16 is 2^-9.
const NARROW: f64 = 4e-3;

fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn sum(row: &[f64]) -> f64 {
    row.iter().sum()
}

/// Softmax of each row before the division: the largest elements, the exponentials, and their sums.
fn softmax(x: &Matrix) -> (Matrix, Matrix, Matrix) {
    let most = x.rows_to(largest);
    let p = x.by_row(&most, |x, most| (x - most).exp());
    let total = p.rows_to(sum);
    (most, p, total)
}

#[test]
fn vector_add() {
    let (a, b) = (Matrix::quarters(64, 128, 1), Matrix::quarters(64, 128, 2));
    let c = a.zip(&b, |a, b| a + b);
    expect_example("1_vector_add.py", &[input(F32, &a), input(F32, &b), output(F32, &c)], EXACT);
}

#[test]
fn matmul() {
    let (a, b) = (Matrix::quarters(64, 256, 1), Matrix::quarters(64, 256, 2));
    let c = a.times(&b.transposed());
    expect_example("2_matmul.py", &[input(F16, &a), input(F16, &b), output(F32, &c)], EXACT);
}

#[test]
fn matmul_softmax() {
    // Divided by 8, so that rows have more than one large element.
    let (a, b) = (Matrix::quarters(64, 128, 1).map(|x| x / 8.0), Matrix::quarters(128, 64, 2));
    let (_, p, total) = softmax(&a.times(&b));
    let out = p.by_row(&total, |p, total| p / total);
    expect_example("3_matmul_softmax.py", &[input(F16, &a), input(F16, &b), output(F32, &out)], SINGLE);
}

#[test]
fn vector_to_matmul() {
    let (a, b) = (Matrix::quarters(32, 32, 1), Matrix::quarters(32, 32, 2));
    let c = a.zip(&b, |a, b| a + b).times(&a.zip(&b, |a, b| a - b));
    for example in ["4_vector_to_matmul.py", "vector_to_matmul_columns.py", "vector_to_matmul_whole.py"] {
        expect_example(example, &[input(F32, &a), input(F32, &b), output(F32, &c)], EXACT);
    }
}

fn attention_step(example: &str) {
    let (q, kv) = (Matrix::quarters(64, 512, 1), Matrix::quarters(128, 512, 2));
    let scores = q.times(&kv.transposed()).map(|x| x / 512f64.sqrt());
    let (mi, p, li) = softmax(&scores);
    let oi = p.map(bf16).times(&kv);
    let buffers = [input(Bf16, &q), input(Bf16, &kv), output(F32, &mi), output(F32, &li), output(F32, &oi)];
    expect_example(example, &buffers, NARROW);
}

#[test]
fn attention_step_with_the_mode_on_transfers() {
    attention_step("5_attention_step.py");
}

#[test]
fn attention_step_with_the_mode_on_the_region() {
    attention_step("5_attention_step_loop_mode.py");
}

#[test]
fn attention_step_divided_by_the_compiler() {
    attention_step("5_attention_step_automatic.py");
}

#[test]
fn attention_step_of_whole_tiles() {
    attention_step("5_attention_step_none.py");
    attention_step("5_attention_step_whole.py");
}

/// Attention over 512 keys, for this many rows.
fn attention_of(rows: usize) -> [Buffer; 4] {
    let [q, k, v] = [(rows, 1), (512, 2), (512, 3)].map(|(rows, seed)| Matrix::quarters(rows, 128, seed));
    let (_, p, total) = softmax(&q.times(&k.transposed()).map(|x| x / 128f64.sqrt()));
    let out = p.times(&v).by_row(&total, |x, total| x / total);
    [input(F16, &q), input(F16, &k), input(F16, &v), output(F32, &out)]
}

#[test]
fn attention_of_one_block_of_many_rows() {
    let path = examples().join("../../benches/programs/attention_rows.py");
    let text = std::fs::read_to_string(path).expect("a program of the benches");
    let one = text.replace("BLOCKS, KEYS, TILE = 8, 1024, 128", "BLOCKS, KEYS, TILE = 1, 512, 128");
    assert!(one != text);
    PLATFORMS.iter().for_each(|platform| expect("attention_rows.py", &one, platform, &attention_of(128), NARROW));
}

#[test]
fn attention() {
    let buffers = attention_of(64);
    for example in ["6_attention.py", "6_attention_ahead.py"] {
        expect_example(example, &buffers, NARROW);
    }
}

fn round_trip(example: &str) {
    let [a, b, v] = [1, 2, 3].map(|seed| Matrix::quarters(64, 64, seed));
    let out = a.times(&b).map(|x| x * 2.0).times(&v);
    let buffers = [input(F32, &a), input(F32, &b), input(F32, &v), output(F32, &out)];
    expect_example(example, &buffers, EXACT);
}

#[test]
fn round_trip_by_rows() {
    round_trip("round_trip_rows.py");
    round_trip("round_trip_by_hand.py");
    round_trip("round_trip_automatic_rows.py");
}

#[test]
fn round_trip_by_columns() {
    round_trip("round_trip_columns.py");
    round_trip("round_trip_automatic_columns.py");
}

#[test]
fn round_trip_of_whole_tiles() {
    round_trip("round_trip_none.py");
    round_trip("round_trip_whole.py");
}

#[test]
fn gather_rows() {
    let (q, pool) = (Matrix::quarters(16, 512, 1), Matrix::quarters(1024, 512, 2));
    let row = |k: usize| (k * 389 + 17) % 1024;
    let idx = Matrix::from(1, 128, |_, k| row(k) as f64);
    let kv = Matrix::from(128, 512, |i, j| pool.at(row(i), j));
    let scores = q.times(&kv.transposed());
    let buffers = [input(Bf16, &q), input(I32, &idx), input(Bf16, &pool), output(F32, &scores)];
    expect_example("gather_rows.py", &buffers, EXACT);
}

#[test]
fn lane_stores() {
    let (a, b) = (Matrix::quarters(64, 64, 1), Matrix::quarters(64, 64, 2));
    let out = a.times(&b).map(|x| x * 2.0);
    expect_example("lane_stores.py", &[input(F32, &a), input(F32, &b), output(F32, &out)], EXACT);
}

/// Operands and results of kernels that compute `c += a @ b`.
fn added(a: &Matrix, prepared: &Matrix, b: &Matrix) -> [Buffer; 3] {
    let c = Matrix::quarters(a.rows, b.cols, 3);
    let after = c.zip(&prepared.times(b), |c, x| c + x);
    [input(F32, a), input(F32, b), changed(F32, &c, &after)]
}

#[test]
fn column_blocks() {
    let (a, b) = (Matrix::quarters(32, 64, 1), Matrix::quarters(64, 512, 2));
    for example in ["column_blocks_rows.py", "column_blocks_columns.py", "column_blocks_whole.py"] {
        expect_example(example, &added(&a, &a, &b), EXACT);
    }
}

#[test]
fn there_and_back() {
    let (a, b) = (Matrix::quarters(32, 32, 1), Matrix::quarters(32, 32, 2));
    for example in ["there_and_back.py", "there_and_back_columns.py", "there_and_back_whole.py"] {
        expect_example(example, &added(&a, &a.map(|x| x + 1.0), &b), EXACT);
    }
}

#[test]
fn linear() {
    let (x, w, bias) = (Matrix::quarters(128, 256, 1), Matrix::quarters(256, 128, 2), Matrix::quarters(1, 128, 3));
    let product = x.times(&w);
    let y = Matrix::from(128, 128, |i, j| product.at(i, j) + bias.at(0, j));
    let buffers = [input(F16, &x), input(F16, &w), input(F32, &bias), output(F32, &y)];
    expect_example("linear.py", &buffers, EXACT);
}

#[test]
fn pipes_by_hand() {
    let (a, b) = (Matrix::quarters(128, 64, 1), Matrix::quarters(64, 64, 2));
    let out = a.times(&b).map(|x| x * 2.0);
    let buffers = [input(F16, &a), input(F16, &b), slots(64, 64), output(F32, &out)];
    expect_example("pipes_by_hand.py", &buffers, EXACT);
}

#[test]
fn pipes_in_one_kernel() {
    let [a, b, v] = [1, 2, 3].map(|seed| Matrix::quarters(64, 64, seed));
    let out = a.times(&b).map(|x| x.max(0.0)).times(&v);
    let buffers = [input(F32, &a), input(F32, &b), input(F32, &v), output(F32, &out)];
    expect_example("pipes_in_one_kernel.py", &buffers, EXACT);
}

#[test]
fn different_work_on_the_two_lanes() {
    let a = Matrix::quarters(16, 64, 1);
    let w = Matrix::from(256, 64, |i, j| ((i * 7 + j * 5) % 23) as f64 - 11.0);
    let mut out = Matrix::zeros(64, 64);
    for block in 0..4 {
        let weights = Matrix::from(64, 64, |i, j| w.at(block * 64 + i, j) * 0.03125);
        let (_, e, total) = softmax(&a.times(&weights));
        let rows = e.by_row(&total, |e, total| e / total);
        out = Matrix::from(64, 64, |i, j| if i / 16 == block { rows.at(i % 16, j) } else { out.at(i, j) });
    }
    let buffers = [input(F16, &a), slots(256, 64), slots(32, 64), input(I8, &w), output(F32, &out)];
    expect_example("two_lanes.py", &buffers, SINGLE);
}

#[test]
fn pure_vector() {
    let a = Matrix::quarters(64, 128, 1);
    expect_example("pure_vector.py", &[input(F32, &a), output(F32, &a.map(f64::exp))], SINGLE);
}

#[test]
fn double() {
    let (a, b) = (Matrix::quarters(64, 64, 1), Matrix::quarters(64, 64, 2));
    let out = a.times(&b).map(|x| 2.0 * x);
    expect_example("double.py", &[input(F16, &a), input(F16, &b), output(F32, &out)], EXACT);
}

/// Every new example must be compared with something as well.
#[test]
fn every_example_has_a_test() {
    let files = std::fs::read_dir(examples()).expect("the folder").flatten();
    let names: BTreeSet<String> = files.map(|f| f.file_name().to_string_lossy().into_owned()).collect();
    let tests = include_str!("examples.rs");
    let untested: Vec<&String> = names.iter().filter(|name| !tests.contains(&format!("\"{name}\""))).collect();
    assert!(untested.is_empty(), "{untested:?}");
}
