//! Measures the speed of whole-tile arithmetic on this machine: `cargo run --release --example speed`.

use std::time::Instant;

use slipring_tile::{
    BLayout, Binary, Cast, Elem, Init, Layout, Order, Reduce, RoundMode, SLayout, Scratch, Unary, binary, convert,
    copy, math, matmul_tile, unary,
};

static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));
static EXP: Unary = unary!(float: |a| math::exp(a));
static LN: Unary = unary!(float: |a| math::ln(a));
static RSQRT: Unary = unary!(float: |a| math::rsqrt(a));

/// The best of several runs, in seconds.
fn best(mut f: impl FnMut()) -> f64 {
    (0..12)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn filled(layout: &Layout) -> Vec<u8> {
    let values: Vec<f32> = (0..layout.rows * layout.cols).map(|i| (i % 61) as f32 / 32.0 - 1.0).collect();
    let mut bytes = vec![0; layout.bytes()];
    slipring_tile::store_f32(layout.elem, &values, &mut bytes);
    bytes
}

/// A 1024³ product made of tiles of `m` × `k` × `n`.
fn matmul(elem: Elem, (m, k, n): (u32, u32, u32)) {
    let a_layout = Layout::nz(elem, m, k);
    let b_layout = Layout { blayout: BLayout::RowMajor, slayout: SLayout::ColMajor, ..Layout::nz(elem, k, n) };
    let acc = if elem.is_float() { Elem::F32 } else { Elem::I32 };
    let c_layout = Layout { fractal: 1024, ..Layout::nz(acc, m, n) };
    let (a, b) = (filled(&a_layout), filled(&b_layout));
    let mut c = vec![0; c_layout.bytes()];
    let mut scratch = Scratch::default();
    let tiles = (1024 / m) * (1024 / k) * (1024 / n);
    let extents = (m as usize, k as usize, n as usize);
    let seconds = best(|| {
        for i in 0..tiles {
            let init = if i % 16 == 0 { Init::Zero } else { Init::Acc };
            matmul_tile(&mut scratch, &mut c, &c_layout, &a, &a_layout, &b, &b_layout, extents, init).unwrap();
        }
    });
    println!("matmul 1024^3 {elem} in {m}x{k}x{n}: {:.1} GFLOP/s", 2.0 * 1024f64.powi(3) / seconds / 1e9);
}

/// Elements of the tile the other measurements work on: 64 × 256.
const COUNT: usize = 64 * 256;

fn rate(what: &str, mut f: impl FnMut()) {
    let seconds = best(|| (0..100).for_each(|_| f()));
    println!("{what}: {:.2} Gelem/s", 100.0 * COUNT as f64 / seconds / 1e9);
}

fn elementwise() {
    for elem in [Elem::F32, Elem::F16, Elem::BF16, Elem::I8, Elem::I32] {
        let layout = Layout::nd(elem, 64, 256);
        let (a, mut out) = (filled(&layout), vec![0; layout.bytes()]);
        rate(&format!("add {elem}"), || assert!(ADD.run(elem, &a, &a, &mut out)));
        rate(&format!("sum of rows {elem}"), || {
            a.chunks(256 * elem.bytes()).for_each(|row| Reduce::Sum.row(Order::Registers, elem, row, &mut out))
        });
        if elem.is_float() {
            for (name, op) in [("exp", &EXP), ("ln", &LN), ("rsqrt", &RSQRT)] {
                rate(&format!("{name} {elem}"), || assert!(op.run(elem, &a, &mut out)));
            }
        }
    }
    for (from, to) in [
        (Elem::F32, Elem::F16),
        (Elem::F16, Elem::F32),
        (Elem::F32, Elem::BF16),
        (Elem::F32, Elem::F8E4M3),
        (Elem::F32, Elem::I8),
        (Elem::I32, Elem::F16),
    ] {
        let (a, mut out) = (filled(&Layout::nd(from, 64, 256)), vec![0; COUNT * to.bytes()]);
        rate(&format!("convert {from} to {to}"), || convert(from, &a, to, &mut out, RoundMode::Rint, true));
    }
}

fn copies() {
    for elem in [Elem::F16, Elem::F32] {
        let nd = Layout::nd(elem, 64, 256);
        let (nz, dn) = (Layout::nz(elem, 64, 256), Layout { blayout: BLayout::ColMajor, ..nd });
        let zn = Layout { blayout: BLayout::RowMajor, slayout: SLayout::ColMajor, ..nz };
        let (a, mut out) = (filled(&nd), vec![0; nd.bytes()]);
        for (name, to, from) in [
            ("ND to NZ", nz, nd),
            ("NZ to ND", nd, nz),
            ("NZ to ZN", zn, nz),
            ("ND to DN", dn, nd),
            ("ND to ND", nd, nd),
        ] {
            rate(&format!("{name} {elem}"), || {
                copy::copy_rect(&mut out, &to, (0, 0), &a, &from, (0, 0), 64, 256, Cast::default()).unwrap()
            });
        }
    }
}

fn main() {
    elementwise();
    copies();
    println!("called from outside the thread pool");
    matmul(Elem::F16, (128, 64, 256));
    for threads in [1, 2] {
        println!("{threads} threads");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            for elem in [Elem::F16, Elem::BF16, Elem::F32, Elem::I8] {
                matmul(elem, (128, 64, 256));
            }
            matmul(Elem::F16, (128, 128, 128));
            matmul(Elem::F16, (256, 128, 256));
            matmul(Elem::F32, (1024, 1024, 1024));
        });
    }
}
