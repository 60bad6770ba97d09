//! `board-check`: its output if tools are missing, and its handling of a tool's answer. With `PTOAS_ROOT` and
//! `PTO_ISA_ROOT` the real tools are used.

use std::process::Output;

use crate::here::{self, Folder, root};

fn check(words: &[&str]) -> Output {
    let mut command = here::slipring();
    command.arg("board-check").args(words).args(["--arch", "a5"]).output().unwrap()
}

fn bare(words: &[&str]) -> Output {
    let mut command = here::slipring();
    command.env_remove("PTOAS_ROOT").env_remove("PTO_ISA_ROOT");
    command.arg("board-check").args(words).args(["--arch", "a5"]).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn without_the_assembler_nothing_is_judged() {
    let output = here::slipring()
        .env_remove("PTOAS_ROOT")
        .env("PATH", "")
        .args(["board-check", "examples/lang/pure_vector.py", "--arch", "a5"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("there is no `ptoas`"), "{}", text(&output));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("error: the output was not checked"), "{error}");
    let named = bare(&["examples/lang/pure_vector.py", "--ptoas", "no/such/ptoas"]);
    assert_eq!(named.status.code(), Some(2), "{}", text(&named));
    assert!(text(&named).contains("not checked") && !text(&named).contains("rejects"), "{}", text(&named));
}

/// A stand-in for the assembler that outputs handwritten C++: this tests the plumbing, not the assembler.
#[cfg(unix)]
#[test]
fn what_a_tool_writes_is_judged() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::empty("board-check");
    let stand_in = |name: &str, cpp: &str| {
        let file = folder.file(name);
        std::fs::write(&file, format!("#!/bin/sh\ncp '{cpp}' kernel.cpp\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file.to_string_lossy().into_owned()
    };
    let kernel = folder.file("add.pto");
    let add = root().join("tests/files/cpp/add.cpp");
    let printed = here::slipring().args(["build", &add.to_string_lossy(), "--arch", "a5"]).output().unwrap();
    std::fs::write(&kernel, &printed.stdout).unwrap();
    let kernel = kernel.to_string_lossy().into_owned();
    let args = ["--arg", "rand:f32[8x64]", "--arg", "rand:f32[8x64]", "--arg", "zeros:f32[8x64]"];
    let same = stand_in("same", &add.to_string_lossy());
    let output = bare(&[&[kernel.as_str(), "--ptoas", &same], &args[..]].concat());
    assert!(
        text(&output).contains("no findings with its own flags"),
        "{}{}",
        text(&output),
        String::from_utf8_lossy(&output.stderr)
    );
    // A different operation has different results.
    let other = folder.file("other.cpp");
    std::fs::write(&other, std::fs::read_to_string(&add).unwrap().replace("TADD(", "TSUB(")).unwrap();
    let output =
        bare(&[&[kernel.as_str(), "--ptoas", &stand_in("other", &other.to_string_lossy())], &args[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("differs in"), "{}", text(&output));
    // A tool that does not end gives no verdict on the text.
    let slow = folder.file("slow");
    std::fs::write(&slow, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = bare(&[&[kernel.as_str(), "--ptoas", &slow.to_string_lossy(), "--seconds", "1"], &args[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("did not end within 1 s") && !text(&output).contains("rejects"),
        "{}",
        text(&output)
    );
    // A text that is read twice, for the run and for the build, is reported once.
    let half = folder.file("half.py");
    let kernel = "import pypto.language as pl\n\n\n@pl.incore\ndef half(x: pl.Tensor[[16, 64], pl.FP32], out: \
                  pl.Out[pl.Tensor[[16, 64], pl.FP32]]):\n    out[0:8, :] = x[0:8, :]\n";
    std::fs::write(&half, kernel).unwrap();
    let half = half.to_string_lossy().into_owned();
    let output = bare(&[&half, "--ptoas", &same, "--arg", "rand:f32[16x64]", "--arg", "zeros:f32[16x64]"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error.matches("warning[output-in-part]").count(), 1, "{error}");
}

#[test]
fn examples_agree_where_the_tools_are() {
    if ["PTOAS_ROOT", "PTO_ISA_ROOT"].iter().any(|name| std::env::var_os(name).is_none()) {
        println!("skipped: PTOAS_ROOT and PTO_ISA_ROOT name the assembler and the headers");
        return;
    }
    for example in ["examples/lang/pure_vector.py", "examples/matmul_to_vector.pto"] {
        let output = check(&[example]);
        assert_eq!(output.status.code(), Some(0), "{example}\n{}", text(&output));
    }
}
