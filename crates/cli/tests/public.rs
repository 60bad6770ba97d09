//! Public kernels: the test files of the public assembler (PTOAS, as of v0.27).
//!
//! They are not part of this repository, so these tests are ignored by default: `SLIPRING_CORPUS=/path/to/PTOAS cargo
//! test -p slipring-cli --test all public:: -- --ignored` reads them from a checkout.
//!
//! Two kinds of facts are tested: whether each file is accepted, or rejected with a reason (the table below); and the
//! results of the kernels with rings. The inputs are formulas, and the results are computed here in plain loops.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::here::{self, Folder};
use crate::walk;

/// Where the public files are.
fn corpus() -> PathBuf {
    PathBuf::from(std::env::var_os("SLIPRING_CORPUS").expect("SLIPRING_CORPUS names a checkout of PTOAS"))
}

/// Folders whose files are read.
const FOLDERS: [&str; 12] = [
    "test/basic",
    "test/samples/Addc",
    "test/samples/Concat",
    "test/samples/ControlFlow",
    "test/samples/MatmulVectorMix",
    "test/samples/Matmul_transpose",
    "test/samples/Partition5D",
    "test/samples/PyPTOIRParser",
    "test/samples/SCF",
    "test/samples/Sync",
    "test/samples/TPushTPop",
    "test/samples/VectorAddition",
];

/// Platforms on which a file is refused.
#[derive(Clone, Copy, PartialEq)]
enum On {
    Both,
    A5,
    A2A3,
}

/// The rejected files, on which platform, and a part of the reason. All others are accepted on both platforms.
const REFUSED: &[(&str, On, &str)] = &[
    ("async_put_invalid_non_1d", On::Both, "expects dst to be a static flat contiguous logical 1D GM memref"),
    ("pto_entry_nonvoid_rejected", On::Both, "PTO entry functions must return void"),
    ("tcvt_verify_invalid", On::Both, "expects src and dst to have compatible shapes"),
    ("textract_verify_a5_vec_vec_invalid_layout", On::Both, "expects vec->vec textract src/dst to use ND layout"),
    ("tget_scale_addr_verify_invalid", On::Both, "expects dst to be in the scaling address space"),
    ("tinsert_verify_a5_invalid_loc", On::Both, "expects A5 tinsert to use a supported src/dst loc pair"),
    (
        "tpush_tpop_dynamic_validshape_invalid",
        On::Both,
        "expects tile result to have dynamic validShape (?, ?) when valid_row/valid_col operands are provided",
    ),
    ("tpush_tpop_frontend_mixed_split_a5", On::Both, "the tile is pushed with a split that no pop of the ring uses"),
    ("tpush_tpop_frontend_nosplit_conflict_a5", On::Both, "explicit 'nosplit = false' conflicts with downstream users"),
    ("tquant_verify_invalid", On::Both, "INT8_ASYM quantization requires an offset operand"),
    (
        "tstore_verify_shape_valid_mismatch_invalid",
        On::Both,
        "expects dst static element count (4096) to match src valid_shape static element count (1024)",
    ),
    // The assembler does not compare the size of a tile with that of its slot. The tiles of this file are as large as
    // two slots: each push would overflow into the next slot.
    ("tpush_tpop_dir_both", On::Both, "a tile of 2048 bytes does not fit into a slot of 1024"),
    // On A2/A3, rings are in global memory, which is an earlier error in these.
    ("resolve_reserved_buffers_reject_incomplete_peer_group_a5", On::A5, "requires a complete peer init pair"),
    ("resolve_reserved_buffers_reject_incomplete_peer_group_a5", On::A2A3, "a2a3 keeps rings in global memory"),
    ("resolve_reserved_buffers_reject_non_peer_init_a5", On::A5, "requires local_addr to come from pto.reserve_buffer"),
    ("resolve_reserved_buffers_reject_non_peer_init_a5", On::A2A3, "a2a3 keeps rings in global memory"),
    // Moves, types and synchronisation that exist on only one platform.
    ("test_a5_buf_sync", On::A2A3, "platform a2a3 has no buffer ids"),
    ("tinsert_verify_a2a3_invalid_dtype", On::A2A3, "expects A2/A3 tinsert element types to be src=f32, dst=f16/bf16"),
    ("tinsert_verify_a5_f32_ok", On::A2A3, "expects A2/A3 tinsert element types to be src=f32, dst=f16/bf16"),
    ("tinsert_a5_vec_mat_mode_lowering", On::A2A3, "no tile moves from `vec` to `mat` on a2a3"),
    ("tmov_forms_emitc", On::A2A3, "expects A2/A3 tmov element types to be src=f32, dst=f16/bf16"),
    ("partition5d", On::A5, "expects A5 tstore src to use loc=vec or loc=acc"),
    ("partition5d_dynamic", On::A5, "expects A5 tstore src to use loc=vec or loc=acc"),
];

fn slipring(args: &[String]) -> Output {
    here::slipring().args(args).env("NO_COLOR", "1").output().expect("the command runs")
}

fn text(output: &Output) -> String {
    let fold = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect::<String>()
    };
    fold(&output.stdout) + &fold(&output.stderr)
}

#[test]
#[ignore = "needs a checkout of PTOAS: SLIPRING_CORPUS"]
fn files_are_accepted_or_refused_for_the_stated_reason() {
    let root = corpus();
    let files: Vec<PathBuf> = FOLDERS.iter().flat_map(|folder| walk::files(&root.join(folder), &["pto"])).collect();
    assert!(files.len() >= 150, "only {} files below {}", files.len(), root.display());
    let mut wrong = Vec::new();
    let mut met = 0;
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let refused = REFUSED.iter().filter(|row| row.0 == name);
        met += refused.clone().count();
        for (arch, here) in [("a5", On::A5), ("a2a3", On::A2A3)] {
            let reason = refused.clone().find(|row| row.1 == On::Both || row.1 == here).map(|row| row.2);
            let out = slipring(&["check".into(), "--arch".into(), arch.into(), file.display().to_string()]);
            let said = text(&out);
            let as_stated = match reason {
                Some(reason) => out.status.code() == Some(2) && said.contains(reason),
                None => out.status.code() == Some(0),
            };
            if !as_stated {
                wrong.push(format!("{name} on {arch}: expected {}\n{said}", reason.unwrap_or("no error")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(met, REFUSED.len(), "files of the table are missing");
}

/// The text of a kernel with rings.
fn kernel(root: &Path, name: &str) -> PathBuf {
    root.join("test/samples/TPushTPop").join(name).join("kernel.pto")
}

/// Runs a kernel with `--verify`; `inputs` are written to files, and the contents of the first one after the run are
/// returned.
fn run(file: &Path, name: &str, arch: &str, inputs: &[Vec<u8>]) -> Vec<u8> {
    let dir = Folder::empty(&format!("public-{}", name.replace('/', "-")));
    let mut args: Vec<String> = ["run", "--arch", arch, "--verify"].map(String::from).to_vec();
    args.push(file.display().to_string());
    for (at, bytes) in inputs.iter().enumerate() {
        dir.write(&format!("{at}.bin"), bytes);
        let file = dir.file(&format!("{at}.bin"));
        args.push("--arg".into());
        args.push(format!("@{}{}", file.display(), if at == 0 { ":out" } else { "" }));
    }
    let out = slipring(&args);
    let said = text(&out);
    assert!(out.status.success(), "{name} on {arch}:\n{said}");
    for tool in ["memory", "sync", "race", "init", "verify"] {
        assert!(said.contains(&format!("{tool} clean")), "{name} on {arch}: {tool}\n{said}");
    }
    std::fs::read(dir.file("0.bin")).unwrap()
}

fn matrix(rows: usize, cols: usize, value: impl Fn(usize, usize) -> i64) -> Vec<i64> {
    (0..rows * cols).map(|at| value(at / cols, at % cols)).collect()
}

fn f32_bytes(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect()
}

/// Bytes of `bf16`: the upper half of an `f32`, exact for small integers.
fn bf16_bytes(values: &[i64]) -> Vec<u8> {
    let upper = |x: &i64| {
        let bits = (*x as f32).to_bits();
        assert!(bits & 0xffff == 0, "{x} is not exact in bf16");
        ((bits >> 16) as u16).to_le_bytes()
    };
    values.iter().flat_map(upper).collect()
}

/// 1 + `lhs` (`m` × `k`) × `rhs` (`k` × `n`) in integers: everything is exact in `f32`.
fn one_plus_product(lhs: &[i64], rhs: &[i64], [m, k, n]: [usize; 3]) -> Vec<i64> {
    matrix(m, n, |r, c| 1 + (0..k).map(|p| lhs[r * k + p] * rhs[p * n + c]).sum::<i64>())
}

/// The left and the right operand of `test5`.
fn operands_of_test5() -> (Vec<i64>, Vec<i64>) {
    let lhs = matrix(16, 64, |r, c| (r * 17 + c * 29 + 3) as i64 % 11 - 5);
    let rhs = matrix(64, 128, |r, c| (r * 13 + c * 19 + 7) as i64 % 13 - 6);
    (lhs, rhs)
}

/// The text places the left operand at bytes 16384 to 20479 of L1, and then the right one at bytes 0 to 32767. If the
/// left one is moved, the kernel computes what its host program expects.
#[test]
#[ignore = "needs a checkout of PTOAS: SLIPRING_CORPUS"]
fn one_product_in_halves_by_columns() {
    let root = corpus();
    let (lhs, rhs) = operands_of_test5();
    let ones = matrix(16, 128, |_, _| 1);
    let text = std::fs::read_to_string(kernel(&root, "test5")).unwrap();
    let apart = text.replace("arith.constant 16384 : i64", "arith.constant 32768 : i64");
    assert!(text != apart, "the text gives its tiles other addresses");
    let copy = Folder::empty("public-test5");
    copy.write("kernel.pto", apart);
    let out = run(&copy.file("kernel.pto"), "test5-apart", "a5", &[f32_bytes(&ones), f32_bytes(&lhs), f32_bytes(&rhs)]);
    assert!(out == f32_bytes(&one_plus_product(&lhs, &rhs, [16, 64, 128])));
}

/// As written, the kernel multiplies whatever the right operand left at the address of the left one. Both are stored in
/// fractals: 8 columns of the right one (64 rows) take 2048 bytes, of the left one (16 rows) 512.
#[test]
#[ignore = "needs a checkout of PTOAS: SLIPRING_CORPUS"]
fn one_product_with_operands_that_overlap() {
    let root = corpus();
    let (lhs, rhs) = operands_of_test5();
    let ones = matrix(16, 128, |_, _| 1);
    let overwritten = matrix(16, 64, |r, c| {
        let byte = 16384 + 512 * (c / 8) + 32 * r + 4 * (c % 8);
        let (row, col) = (byte % 2048 / 32, byte / 2048 * 8 + byte % 32 / 4);
        rhs[row * 128 + col]
    });
    let out = run(&kernel(&root, "test5"), "test5", "a5", &[f32_bytes(&ones), f32_bytes(&lhs), f32_bytes(&rhs)]);
    assert!(out == f32_bytes(&one_plus_product(&overwritten, &rhs, [16, 64, 128])));
}

#[test]
#[ignore = "needs a checkout of PTOAS: SLIPRING_CORPUS"]
fn four_products_in_halves_by_rows() {
    let root = corpus();
    let lhs = matrix(16, 64, |r, c| (r * 17 + c * 29 + 3) as i64 % 7 - 3);
    let rhs = matrix(64, 512, |r, c| (r * 13 + c * 19 + 5) as i64 % 9 - 4);
    let ones = matrix(16, 512, |_, _| 1);
    let out = run(&kernel(&root, "test4"), "test4", "a5", &[f32_bytes(&ones), bf16_bytes(&lhs), bf16_bytes(&rhs)]);
    assert!(out == f32_bytes(&one_plus_product(&lhs, &rhs, [16, 64, 512])));
}

#[test]
#[ignore = "needs a checkout of PTOAS: SLIPRING_CORPUS"]
fn kernels_that_only_print_run_clean() {
    let root = corpus();
    let a = f32_bytes(&matrix(16, 16, |r, c| (r * 3 + c * 5) as i64 % 7 - 3));
    let four = f32_bytes(&matrix(64, 16, |r, c| (r * 11 + c) as i64 % 9 - 4));
    let slots = vec![0; 8 * 1024];
    let run_kernel = |name: &str, arch: &str, inputs: &[Vec<u8>]| run(&kernel(&root, name), name, arch, inputs);
    run_kernel("test1", "a5", &[a.clone(), a.clone()]);
    run_kernel("test2", "a5", &[a.clone(), four.clone()]);
    run_kernel("test3", "a5", &[a.clone(), a.clone()]);
    run_kernel("a3/test1", "a2a3", &[a.clone(), a.clone(), slots.clone()]);
    run_kernel("a3/test2", "a2a3", &[a, four, slots]);
}

/// A text with functions without callers: each kernel in it, selected on the command line.
fn run_alone(root: &Path, file: &str, args: &[&str]) -> (Option<i32>, String) {
    let mut all = vec!["run".to_string(), root.join("test/basic").join(file).display().to_string()];
    all.extend(args.iter().map(ToString::to_string));
    let out = slipring(&all);
    (out.status.code(), text(&out))
}

/// The files whose ops take pipe values. Their headers ask for translation; they are run as far as possible: a consumer
/// without its producer waits forever, and two ends that split differently are not the same pipe.
#[test]
#[ignore = "needs a checkout of PTOAS: SLIPRING_CORPUS"]
fn pipe_values_run_as_far_as_they_go() {
    let root = corpus();
    let args = ["--arch", "a2a3", "--arg", "zeros:f32[2048]", "--arg", "0:i32"];
    let (code, said) = run_alone(&root, "issue489_interleaved_tpop_tfree_a3.pto", &args);
    assert!(
        code == Some(1) && said.contains("error[deadlock]") && said.contains("takes no part in the program"),
        "{said}"
    );
    let (code, said) = run_alone(&root, "tpush_tpop_emitc.pto", &args);
    assert!(code == Some(2) && said.contains("pushed with a split that no pop of the ring uses"), "{said}");
    let pushes = [&args[..], &["--func", "cube_push_gm"]].concat();
    let (code, said) = run_alone(&root, "tpush_tpop_emitc.pto", &pushes);
    assert!(code.is_some_and(|code| code != 0) && !said.contains("cannot be run yet"), "{said}");
}

/// A round trip through both directions of a frontend pipe, with the identity as the right operand.
#[test]
#[ignore = "needs a checkout of PTOAS: SLIPRING_CORPUS"]
fn round_trip_without_a_split() {
    let root = corpus();
    let file = root.join("test/basic/test_tpush_tpop_roundtrip_nosplit_a5.pto");
    let source = matrix(16, 16, |r, c| (r * 3 + c * 5) as i64 % 7 - 3);
    let identity = matrix(16, 16, |r, c| i64::from(r == c));
    let out = Folder::empty("public-roundtrip");
    let write = |name: &str, bytes: Vec<u8>| {
        out.write(name, bytes);
        out.file(name).display().to_string()
    };
    let (x, w) = (write("x.bin", f32_bytes(&source)), write("w.bin", f32_bytes(&identity)));
    let y = write("y.bin", vec![0; 1024]);
    let args = ["run", "--arch", "a5", "--verify", "--arg"].map(String::from);
    let all: Vec<String> = args
        .into_iter()
        .chain([
            format!("@{x}"),
            "--arg".into(),
            format!("@{w}"),
            "--arg".into(),
            format!("@{y}:out"),
            file.display().to_string(),
        ])
        .collect();
    let ran = slipring(&all);
    let said = text(&ran);
    assert!(ran.status.success() && said.contains("verify clean"), "{said}");
    let result = std::fs::read(&y).unwrap();
    assert!(result == f32_bytes(&source), "{said}");
}
