//! Every extent that can be split between the Vector cores is split, and every lane gets its half of the valid part.
//!
//! Kernels of the language for every mode, direction, element type and extent, on both platforms. (`pipes.rs` has texts
//! with padded tiles.) The results are compared with plain loops over integers. One slice of the extents always runs;
//! `SPLIT_EXTENTS=all` runs all of them from 2 to 100.

use slipring::{Bound, ExecuteOptions, Execution, Prepared, VerifyOutcome, verify};
use slipring_ir::Diags;
use slipring_machine::{Platform, built_in};

use crate::ready::Ready;

/// Element types: name in the language, in texts, bytes.
const TYPES: [(&str, &str, usize); 7] = [
    ("FP32", "f32", 4),
    ("FP16", "f16", 2),
    ("BF16", "bf16", 2),
    ("INT32", "i32", 4),
    ("INT16", "i16", 2),
    ("INT8", "i8", 1),
    ("UINT8", "ui8", 1),
];

const MODES: [&str; 3] = ["NONE", "UP_DOWN", "LEFT_RIGHT"];

fn extents(slice: &[usize]) -> Vec<usize> {
    if std::env::var("SPLIT_EXTENTS").is_ok_and(|which| which == "all") {
        (1..=50).map(|n| 2 * n).collect()
    } else {
        slice.into()
    }
}

/// Small integers, exact in every type; `max` is the largest magnitude.
fn numbers(count: usize, seed: usize, max: i64, signed: bool) -> Vec<i64> {
    let value = |i: usize| ((i * 7919 + seed * 104_729 + (i / 7) * 31) % (max as usize + 1)) as i64;
    (0..count).map(|i| if signed && (i + seed).is_multiple_of(3) { -value(i) } else { value(i) }).collect()
}

fn bytes(values: &[i64], ty: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for &n in values {
        let single = (n as f32).to_bits();
        match ty {
            "f32" => out.extend(single.to_le_bytes()),
            // Integers of at most eight bits: the upper bits of an f32 are sufficient.
            "bf16" => out.extend(((single >> 16) as u16).to_le_bytes()),
            "f16" => {
                let half = if n == 0 {
                    0
                } else {
                    (single >> 16 & 0x8000) + (((single >> 23 & 255) - 112) << 10) + (single >> 13 & 0x3ff)
                };
                out.extend((half as u16).to_le_bytes());
            }
            "i32" => out.extend((n as i32).to_le_bytes()),
            "i16" => out.extend((n as i16).to_le_bytes()),
            _ => out.push(n as u8),
        }
    }
    out
}

fn product(a: &[i64], b: &[i64], (m, k, n): (usize, usize, usize)) -> Vec<i64> {
    let cell = |row: usize, col: usize| (0..k).map(|at| a[row * k + at] * b[at * n + col]).sum();
    (0..m).flat_map(|row| (0..n).map(move |col| (row, col))).map(|(row, col)| cell(row, col)).collect()
}

/// Runs a file with all checks and compares the last buffer; then the same for the compiled text, in which tiles are
/// pushed and popped, both on the pipes and sequentially.
fn run(name: &str, text: &str, platform: &Platform, buffers: Vec<Vec<u8>>, want: &[u8]) {
    let values: Vec<Bound<'static>> = buffers.into_iter().map(Bound::buffer).collect();
    let (prepared, _) = run_text(name, text, platform, &values, want);
    let text = slipring_ir::text::print(&prepared.module);
    assert!(
        text.contains("pto.tpush") && !text.contains("pto.aic_gather") && !text.contains("pto.aiv_shard"),
        "{text}"
    );
    let (prepared, execution) = run_text("explicit.pto", &text, platform, &values, want);
    let outcome = verify(&prepared, platform, &values, ExecuteOptions::default(), &execution, &mut Diags::default());
    assert!(matches!(outcome, VerifyOutcome::Same(_)), "{name} on {}: {outcome:?}\n{text}", platform.name);
}

fn run_text(
    name: &str,
    text: &str,
    platform: &Platform,
    values: &[Bound<'static>],
    want: &[u8],
) -> (Prepared, Execution) {
    let ready =
        Ready::of(name, text, platform).unwrap_or_else(|said| panic!("{name} on {}: {said:?}\n{text}", platform.name));
    let last = values.len() - 1;
    let (execution, report) = ready.checked(values, 1);
    assert!(report.is_clean(), "{} on {}: {:?}\n{text}", name, platform.name, report.findings);
    let got = execution.buffer(values, last).unwrap_or_default();
    if got[..want.len()] != *want {
        let at = got.iter().zip(want).position(|(a, b)| a != b);
        panic!("{} on {}: byte {at:?} is wrong\n{text}", name, platform.name);
    }
    (ready.prepared, execution)
}

fn platforms() -> [Platform; 2] {
    ["a5", "a2a3"].map(|name| built_in(name).unwrap())
}

/// Rows and columns of the tile, of a lane's part, and the window of the lane.
fn divided(mode: &str, n: usize, other: usize) -> ((usize, usize), (usize, usize), String) {
    match mode {
        "UP_DOWN" => ((n, other), (n / 2, other), format!("lane * {0} : lane * {0} + {0}, :", n / 2)),
        "LEFT_RIGHT" => ((other, n), (other, n / 2), format!(":, lane * {0} : lane * {0} + {0}", n / 2)),
        _ => ((n, other), (n, other), ":, :".to_string()),
    }
}

/// A product of which each lane stores its part. Without a split, lane 0 stores it.
#[test]
fn shards_of_products() {
    for n in extents(&[2, 6, 18, 20, 34, 40, 62]) {
        for (at, mode) in MODES.into_iter().enumerate() {
            for (from, to) in [("FP16", "FP32"), ("INT8", "INT32")] {
                let other = [5, 12, 17][(n / 2 + at) % 3];
                // Without a split, an odd extent works as well.
                let n = if mode == "NONE" { n - 1 } else { n };
                let ((m, cols), _, window) = divided(mode, n, other);
                let k = 16;
                let store = match mode {
                    "NONE" => "if lane == 0:\n            y[:, :] = s".to_string(),
                    _ => format!("y[{window}] = s"),
                };
                let text = format!(
                    "import slipring.language as pl\n\n\n@pl.incore\ndef f(a: pl.Tensor[[{m}, {k}], pl.{from}], \
                     b: pl.Tensor[[{k}, {cols}], pl.{from}], y: pl.Out[pl.Tensor[[{m}, {cols}], pl.{to}]]):\n    \
                     c = pl.matmul(a, b)\n    for lane in pl.split_aiv(2, mode=pl.SplitMode.{mode}):\n        \
                     s = pl.aiv_shard(c)\n        {store}\n"
                );
                let (a, b) = (numbers(m * k, n, 5, true), numbers(k * cols, n + 1, 5, true));
                let of = |ty: &str| TYPES.iter().find(|t| t.0 == ty).unwrap().1;
                let want = bytes(&product(&a, &b, (m, k, cols)), of(to));
                for platform in platforms() {
                    let buffers = vec![bytes(&a, of(from)), bytes(&b, of(from)), vec![0; want.len()]];
                    run("shard.py", &text, &platform, buffers, &want);
                }
            }
        }
    }
}

/// Lanes load their parts of a tensor and gather them; the full tile is multiplied by the identity matrix, or stored
/// from L1 if the platform supports that.
#[test]
fn gathers_of_parts() {
    for n in extents(&[2, 8, 16, 20, 24, 34, 40, 48]) {
        for (at, mode) in MODES.into_iter().enumerate() {
            for (name, ty, size) in TYPES {
                let other = [4, 11, 18][(n / 2 + at) % 3];
                // Without a split, an odd extent works as well.
                let n = if mode == "NONE" { n - 1 } else { n };
                let ((m, cols), (rows, own), window) = divided(mode, n, other);
                let factor = matches!(ty, "f32" | "f16" | "bf16" | "i8");
                let (result, out) = match ty {
                    _ if !factor => (name, ty),
                    "i8" => ("INT32", "i32"),
                    _ => ("FP32", "f32"),
                };
                let (unit, last) = if factor {
                    (format!("w: pl.Tensor[[{cols}, {cols}], pl.{name}], "), "pl.matmul(g, w)")
                } else {
                    (String::new(), "g")
                };
                let text = format!(
                    "import slipring.language as pl\n\n\n@pl.incore\ndef f(x: pl.Tensor[[{m}, {cols}], pl.{name}], {unit}y: pl.Out[pl.Tensor[[{m}, {cols}], pl.{result}]]):\n    \
                     for lane in pl.split_aiv(2, mode=pl.SplitMode.{mode}):\n        t = pl.load(x[{window}], [0, 0], [{rows}, {own}])\n        g = pl.aic_gather(t)\n    y[:, :] = {last}\n"
                );
                let x = numbers(m * cols, n, 100, ty != "ui8");
                let identity: Vec<i64> = (0..cols * cols).map(|i| i64::from(i % (cols + 1) == 0)).collect();
                let want = bytes(&x, out);
                for platform in platforms().into_iter().filter(|platform| factor || platform.name == "a2a3") {
                    let mut buffers = vec![bytes(&x, ty)];
                    assert_eq!(buffers[0].len(), m * cols * size);
                    if factor {
                        buffers.push(bytes(&identity, ty));
                    }
                    buffers.push(vec![0; want.len()]);
                    run("gather.py", &text, &platform, buffers, &want);
                }
            }
        }
    }
}
