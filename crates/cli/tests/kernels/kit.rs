//! Matrices, their bytes, and a kernel run on them.

use std::path::PathBuf;

use slipring::{
    Bound, ExecuteOptions, VerifyOutcome, check, choose_platform, execute, load_file, prepare, slot_buffers,
    to_diagnostics, verify,
};
use slipring_check::{Checker, Tools};
use slipring_ir::{Diags, Source};

use crate::here::root;

/// The platforms that kernels run on.
pub const PLATFORMS: [&str; 2] = ["a5", "a2a3"];

/// A matrix of numbers, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub data: Vec<f64>,
}

impl Matrix {
    pub fn from(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f64) -> Matrix {
        let data = (0..rows * cols).map(|at| value(at / cols, at % cols)).collect();
        Matrix { rows, cols, data }
    }

    pub fn zeros(rows: usize, cols: usize) -> Matrix {
        Matrix::from(rows, cols, |_, _| 0.0)
    }

    /// Multiples of 1/4 from -2 to 2, different for each seed: products and their sums are exact in `f32`.
    pub fn quarters(rows: usize, cols: usize, seed: u32) -> Matrix {
        Matrix::from(rows, cols, |i, j| {
            let n = ((i * cols + j) as u32).wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(977));
            f64::from((n >> 16) % 17) / 4.0 - 2.0
        })
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.cols + j]
    }

    pub fn map(&self, f: impl Fn(f64) -> f64) -> Matrix {
        Matrix { data: self.data.iter().map(|x| f(*x)).collect(), ..*self }
    }

    pub fn zip(&self, other: &Matrix, f: impl Fn(f64, f64) -> f64) -> Matrix {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        Matrix::from(self.rows, self.cols, |i, j| f(self.at(i, j), other.at(i, j)))
    }

    pub fn transposed(&self) -> Matrix {
        Matrix::from(self.cols, self.rows, |i, j| self.at(j, i))
    }

    pub fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.cols, other.rows);
        Matrix::from(self.rows, other.cols, |i, j| (0..self.cols).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    /// One number per row.
    pub fn rows_to(&self, f: impl Fn(&[f64]) -> f64) -> Matrix {
        Matrix::from(self.rows, 1, |i, _| f(&self.data[i * self.cols..(i + 1) * self.cols]))
    }

    /// Combines each element with its row's number.
    pub fn by_row(&self, column: &Matrix, f: impl Fn(f64, f64) -> f64) -> Matrix {
        Matrix::from(self.rows, self.cols, |i, j| f(self.at(i, j), column.at(i, 0)))
    }
}

/// Element types of buffers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Type {
    F32,
    F16,
    Bf16,
    I8,
    I32,
}

/// Rounds to bf16, ties to even.
pub fn bf16(x: f64) -> f64 {
    let bits = (x as f32).to_bits();
    f64::from(f32::from_bits((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff_0000))
}

/// Bits of an exactly representable f16 number.
fn f16_bits(x: f64) -> u16 {
    let bits = (x as f32).to_bits();
    let exponent = ((bits >> 23) & 0xff) as i32 - 127 + 15;
    if x == 0.0 {
        return 0;
    }
    assert!((1..31).contains(&exponent) && bits & 0x1fff == 0, "{x} is not exact in f16");
    ((bits >> 16) & 0x8000) as u16 | ((exponent as u16) << 10) | ((bits >> 13) & 0x3ff) as u16
}

impl Type {
    pub fn bytes(self, matrix: &Matrix) -> Vec<u8> {
        let of = |x: &f64| -> Vec<u8> {
            match self {
                Type::F32 => (*x as f32).to_le_bytes().to_vec(),
                Type::F16 => f16_bits(*x).to_le_bytes().to_vec(),
                Type::Bf16 => {
                    assert_eq!(bf16(*x), *x, "not exact in bf16");
                    (((*x as f32).to_bits() >> 16) as u16).to_le_bytes().to_vec()
                }
                Type::I8 => (*x as i8).to_le_bytes().to_vec(),
                Type::I32 => (*x as i32).to_le_bytes().to_vec(),
            }
        };
        matrix.data.iter().flat_map(of).collect()
    }

    pub fn numbers(self, bytes: &[u8]) -> Vec<f64> {
        let words = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
        match self {
            Type::F32 => words.map(|b| f64::from(f32::from_le_bytes(b))).collect(),
            Type::I32 => words.map(|b| f64::from(i32::from_le_bytes(b))).collect(),
            other => panic!("no result is {other:?}"),
        }
    }
}

/// A buffer argument of a kernel, and its expected contents afterwards.
pub struct Buffer {
    ty: Type,
    before: Matrix,
    after: Option<Matrix>,
    slots: bool,
}

/// A buffer that the kernel reads.
pub fn input(ty: Type, matrix: &Matrix) -> Buffer {
    Buffer { ty, before: matrix.clone(), after: None, slots: false }
}

/// A buffer that the kernel writes.
pub fn output(ty: Type, expected: &Matrix) -> Buffer {
    changed(ty, &Matrix::zeros(expected.rows, expected.cols), expected)
}

/// A buffer that the kernel reads and writes.
pub fn changed(ty: Type, before: &Matrix, expected: &Matrix) -> Buffer {
    Buffer { ty, before: before.clone(), after: Some(expected.clone()), slots: false }
}

/// A buffer for the slots of a ring: its contents afterwards are unspecified.
pub fn slots(rows: usize, cols: usize) -> Buffer {
    Buffer { slots: true, ..input(Type::F32, &Matrix::zeros(rows, cols)) }
}

pub fn examples() -> PathBuf {
    root().join("examples/lang")
}

/// Runs an example on both platforms. Results must agree within `tolerance` times the largest expected magnitude.
pub fn expect_example(name: &str, buffers: &[Buffer], tolerance: f64) {
    let text = std::fs::read_to_string(examples().join(name)).expect("the example is part of the repository");
    for platform in PLATFORMS {
        expect(name, &text, platform, buffers, tolerance);
    }
}

/// Runs a kernel with all checks, which must find nothing, and compares it with its sequential semantics and with the
/// expected contents.
pub fn expect(name: &str, text: &str, platform: &str, buffers: &[Buffer], tolerance: f64) {
    let source = Source::new(name, text);
    let context = format!("{name} on {platform}");
    let rendered = |diags: &Diags| format!("{context}:\n{}", diags.render(&source, false));
    let loaded = load_file(Source::new(name, text));
    let (module, mut diags) = (loaded.module, loaded.diags);
    assert!(!diags.has_errors(), "{}", rendered(&diags));
    let platform = choose_platform(Some(platform), &module).expect("a built-in platform");
    check(&module, &platform, &mut diags);
    assert!(!diags.has_errors(), "{}", rendered(&diags));
    let prepared = prepare(module, None, &platform, &mut diags).unwrap_or_else(|| panic!("{}", rendered(&diags)));
    let values: Vec<Bound<'static>> = buffers.iter().map(|b| Bound::buffer(b.ty.bytes(&b.before))).collect();
    let blocks = loaded.kernels.iter().map(|kernel| kernel.blocks).max().unwrap_or(1);
    let options = ExecuteOptions { blocks, ..ExecuteOptions::default() };
    let mut checker = Checker::new(Tools { scratch: slot_buffers(&prepared, &values), ..Tools::default() });
    let execution = execute(&prepared.decoded, &platform, &values, options, &mut checker);
    let judged = checker.report(&execution.result);
    diags.list = to_diagnostics(&judged.findings, &prepared.decoded.program);
    assert!(execution.result.complete && diags.list.is_empty(), "{}", rendered(&diags));
    match verify(&prepared, &platform, &values, options, &execution, &mut diags) {
        VerifyOutcome::Same(compared) => {
            let expected = buffers.iter().filter(|b| !b.slots).count();
            assert_eq!(compared.len(), expected, "{context}: {compared:?}");
        }
        other => panic!("{context}: {other:?}"),
    }
    for (at, buffer) in buffers.iter().enumerate() {
        let Some(expected) = &buffer.after else { continue };
        let found = buffer.ty.numbers(execution.buffer(&values, at).expect("a buffer"));
        let most = expected.data.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for (element, (found, expected)) in found.iter().zip(&expected.data).enumerate() {
            let difference = (found - expected).abs();
            // Written so that a NaN fails.
            assert!(
                difference <= tolerance * most,
                "{context}: element {element} of buffer {at} is {found}, not {expected}"
            );
        }
    }
}
