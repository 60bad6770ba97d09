//! The example kernels against plain loops written here, on both platforms, through the command line.
//!
//! Inputs are small multiples of 1/4, so that every product and sum is exact in `f32` and results must be bit-identical
//! whatever the order of the additions.

use crate::here::{self, Folder, root};
use crate::walk;

/// A matrix of small multiples of 1/4, different for each seed.
fn matrix(rows: usize, cols: usize, seed: u32) -> Vec<f32> {
    let value = |i: u32| ((i.wrapping_mul(2_654_435_761).wrapping_add(seed * 977) >> 16) % 17) as f32 / 4.0 - 2.0;
    (0..(rows * cols) as u32).map(value).collect()
}

/// `a` (m × k) times `b` (k × n).
fn product(a: &[f32], b: &[f32], m: usize, k: usize, n: usize) -> Vec<f32> {
    let mut c = vec![0.0; m * n];
    for i in 0..m {
        for j in 0..n {
            c[i * n + j] = (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
        }
    }
    c
}

/// Bytes of `f16` for exactly representable numbers.
fn f16_bytes(values: &[f32]) -> Vec<u8> {
    let encode = |x: f32| {
        if x == 0.0 {
            return 0u16;
        }
        let bits = x.to_bits();
        let exponent = ((bits >> 23) & 0xff) as i32 - 127 + 15;
        assert!((1..31).contains(&exponent) && bits & 0x1fff == 0, "{x} is not exact in f16");
        ((bits >> 16) & 0x8000) as u16 | ((exponent as u16) << 10) | ((bits >> 13) & 0x3ff) as u16
    };
    values.iter().flat_map(|x| encode(*x).to_le_bytes()).collect()
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Runs an example with these input buffers, followed by a result buffer and a slot buffer if it has one.
fn run(example: &str, arch: &str, inputs: &[Vec<u8>], out_bytes: usize, slot_bytes: usize, more: &[&str]) -> Vec<u8> {
    let slots = [slot_bytes];
    run_with_slots(example, arch, inputs, out_bytes, if slot_bytes > 0 { &slots } else { &[] }, more)
}

/// The same with any number of slot buffers after the result.
fn run_with_slots(
    example: &str,
    arch: &str,
    inputs: &[Vec<u8>],
    out_bytes: usize,
    slots: &[usize],
    more: &[&str],
) -> Vec<u8> {
    let dir = Folder::empty(&format!("{}-{arch}", example.replace('/', "-")));
    let mut command = here::slipring();
    command.arg("run").arg(root().join("examples").join(example)).args(["--arch", arch, "--verify"]).args(more);
    for (at, bytes) in inputs.iter().enumerate() {
        let file = format!("in{at}.bin");
        dir.write(&file, bytes);
        command.arg("--arg").arg(format!("@{}", dir.file(&file).display()));
    }
    let out = dir.file("out.bin");
    dir.write("out.bin", vec![0u8; out_bytes]);
    command.arg("--arg").arg(format!("@{}:out", out.display()));
    for bytes in slots {
        command.arg("--arg").arg(format!("zeros:{bytes}"));
    }
    let ran = command.output().unwrap();
    assert!(
        ran.status.success(),
        "{example} on {arch}:\n{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    std::fs::read(&out).unwrap()
}

/// Runs an example on both platforms, whose results must be bit-identical, and returns the result.
fn on_both(example: &str, inputs: &[Vec<u8>], out_bytes: usize, slot_bytes: usize, more: &[&str]) -> Vec<f32> {
    let a5 = run(example, "a5", inputs, out_bytes, slot_bytes, more);
    let a2a3 = run(example, "a2a3", inputs, out_bytes, slot_bytes, more);
    assert!(a5 == a2a3, "{example}: the platforms differ");
    floats(&a5)
}

#[test]
fn every_kernel_runs_as_it_stands() {
    // But for whole programs and those that are broken on purpose.
    let mut kernels = walk::files(&root().join("examples"), &["pto", "py"]);
    kernels.retain(|file| !file.iter().any(|folder| folder == "broken" || folder == "programs"));
    assert!(kernels.len() > 40, "only {} examples", kernels.len());
    for kernel in kernels {
        let ran = here::slipring().arg("run").arg(&kernel).args(["--arch", "a5"]).output();
        let ran = ran.unwrap();
        assert!(ran.status.success(), "{}:\n{}", kernel.display(), String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn matmul_to_vector_with_each_split() {
    let (a, b) = (matrix(64, 64, 1), matrix(64, 64, 2));
    let expected: Vec<f32> = product(&a, &b, 64, 64, 64).into_iter().map(|x| x.max(0.0)).collect();
    for example in ["matmul_to_vector.pto", "matmul_to_vector_columns.pto", "matmul_to_vector_whole.pto"] {
        let got = on_both(example, &[f16_bytes(&a), f16_bytes(&b)], 64 * 64 * 4, 8 * 16384, &[]);
        assert_eq!(got, expected, "{example}");
    }
}

#[test]
fn vector_to_matmul() {
    let (a, b) = (matrix(32, 64, 3), matrix(64, 32, 4));
    let plus_one: Vec<f32> = a.iter().map(|x| x + 1.0).collect();
    let expected = product(&plus_one, &b, 32, 64, 32);
    assert_eq!(on_both("vector_to_matmul.pto", &[f32_bytes(&a), f32_bytes(&b)], 32 * 32 * 4, 8 * 8192, &[]), expected);
}

#[test]
fn both_directions() {
    let (x, w) = (matrix(128, 32, 5), matrix(32, 32, 6));
    let half: Vec<f32> = x.iter().map(|x| x * 0.5).collect();
    let scaled = product(&half, &w, 128, 32, 32);
    let expected: Vec<f32> = scaled.iter().zip(&x).map(|(y, x)| y + x).collect();
    assert_eq!(
        on_both("bidirectional.pto", &[f32_bytes(&x), f32_bytes(&w)], 128 * 32 * 4, 2 * 4 * 4096, &[]),
        expected
    );
}

#[test]
fn many_tiles_through_a_ring() {
    let (a, b) = (matrix(32, 32, 7), matrix(32, 640, 8));
    let expected: Vec<f32> = product(&a, &b, 32, 32, 640).into_iter().map(|x| x * 2.0).collect();
    assert_eq!(on_both("many_tiles.pto", &[f16_bytes(&a), f16_bytes(&b)], 32 * 640 * 4, 8 * 4096, &[]), expected);
}

#[test]
fn two_clusters() {
    let (a, b) = (matrix(64, 32, 9), matrix(32, 32, 10));
    let expected = product(&a, &b, 64, 32, 32);
    let inputs = [f16_bytes(&a), f16_bytes(&b)];
    assert_eq!(on_both("two_clusters.pto", &inputs, 64 * 32 * 4, 2 * 8 * 4096, &["--blocks", "2"]), expected);
}

/// How often each number occurs, and how many there are.
#[test]
fn workitems() {
    let numbers: Vec<u32> = (0..1024u32).map(|i| i.wrapping_mul(2_654_435_761) >> 27).collect();
    let mut expected = vec![0u32; 33];
    numbers.iter().for_each(|number| expected[*number as usize] += 1);
    expected[32] = 1024;
    let bytes = |list: &[u32]| list.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(run("workitems.pto", "a5", &[bytes(&numbers)], 33 * 4, 0, &[]), bytes(&expected));
}

#[test]
fn accumulator_to_vector_through_a_tpipe() {
    let (a, b) = (matrix(256, 64, 11), matrix(64, 64, 12));
    let expected: Vec<f32> = product(&a, &b, 256, 64, 64).into_iter().map(|x| x.max(0.0)).collect();
    let inputs = [f16_bytes(&a), f16_bytes(&b)];
    assert_eq!(on_both("pipes/accumulator_to_vector.pto", &inputs, 256 * 64 * 4, 4 * 16384, &[]), expected);
}

#[test]
fn sparse_synchronisation() {
    let (a, b) = (matrix(256, 16, 13), matrix(16, 16, 14));
    let expected: Vec<f32> = product(&a, &b, 256, 16, 16).into_iter().map(|x| x.max(0.0)).collect();
    let inputs = [f16_bytes(&a), f16_bytes(&b)];
    assert_eq!(on_both("pipes/sparse_sync.pto", &inputs, 256 * 16 * 4, 8 * 1024, &[]), expected);
}

/// The sum of four tiles (each of its rows pushed by one of the Vector cores) times W: through L1 on A5 only, through
/// global memory on both platforms.
#[test]
fn vector_tiles_into_a_matrix() {
    let (x, w) = (matrix(512, 64, 15), matrix(64, 64, 16));
    let positive: Vec<f32> = x.iter().map(|x| x.max(0.0)).collect();
    let products = product(&positive, &w, 512, 64, 64);
    let tile = 128 * 64;
    let expected: Vec<f32> = (0..tile).map(|at| (0..4).map(|i| products[i * tile + at]).sum()).collect();
    let inputs = [f16_bytes(&x), f16_bytes(&w)];
    assert_eq!(floats(&run("pipes/vector_to_matrix.pto", "a5", &inputs, tile * 4, 0, &[])), expected);
    assert_eq!(on_both("pipes/vector_to_matrix_gm.pto", &inputs, tile * 4, 4 * 16384, &[]), expected);
    let refused = here::slipring()
        .arg("run")
        .arg(root().join("examples/pipes/vector_to_matrix.pto"))
        .args(["--arch", "a2a3"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no tile moves from `vec` to `mat` on a2a3"));
}

/// The Cube core multiplies the number of tiles given by the control signal.
#[test]
fn control_signal() {
    let (a, b) = (matrix(64, 16, 17), matrix(16, 16, 18));
    for tiles in [0usize, 1, 4] {
        let mut expected = product(&a, &b, 64, 16, 16);
        expected[tiles * 256..].fill(0.0);
        let numbers: Vec<u8> = [tiles as i32; 8].iter().flat_map(|n| n.to_le_bytes()).collect();
        let inputs = [numbers, f16_bytes(&a), f16_bytes(&b)];
        assert_eq!(on_both("pipes/control_signal.pto", &inputs, 64 * 16 * 4, 32, &[]), expected, "{tiles} tiles");
    }
}

/// Each Vector core has its own pipe: one converts i8 weights to f16, the other computes the softmax of the products'
/// rows.
#[test]
fn a_pipe_to_each_lane() {
    let weights: Vec<i8> = (0..256 * 64u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as i8).collect();
    let a = matrix(16, 64, 19);
    let inputs = [weights.iter().map(|w| *w as u8).collect(), f16_bytes(&a)];
    let on = |arch| run_with_slots("pipes/two_lanes.pto", arch, &inputs, 64 * 64 * 4, &[4 * 8192, 2 * 4096], &[]);
    let (got, other) = (on("a5"), on("a2a3"));
    assert!(got == other, "the platforms differ");
    let got = floats(&got);
    for tile in 0..4 {
        let w: Vec<f32> = weights[tile * 4096..][..4096].iter().map(|w| f32::from(*w) / 32.0).collect();
        let scores = product(&a, &w, 16, 64, 64);
        for (i, row) in scores.chunks(64).enumerate() {
            let most = row.iter().copied().fold(f32::MIN, f32::max);
            let e: Vec<f64> = row.iter().map(|s| f64::from(s - most).exp()).collect();
            let sum: f64 = e.iter().sum();
            for (j, e) in e.iter().enumerate() {
                let (got, wanted) = (f64::from(got[(tile * 16 + i) * 64 + j]), e / sum);
                assert!((got - wanted).abs() <= 1e-6 * wanted.max(1e-3), "{tile} {i} {j}: {got} {wanted}");
            }
        }
    }
}
