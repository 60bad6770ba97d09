//! `build --project` and `compare --board`: the contents of the folder, files that it does not overwrite, its working
//! host program and script, and the diagnostics for wrong outputs. A host program that adds simulates the board.

use std::path::Path;
use std::process::{Command, Output};

use crate::here::{self, Folder, root};

fn slipring(words: &[&str]) -> Output {
    let mut command = here::slipring();
    command.env_remove("PTOAS_ROOT").env_remove("PTO_ISA_ROOT").env("PATH", "/usr/bin:/bin");
    command.args(words).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The C++ text of the kernel that adds, in a folder.
fn adding(folder: &Path) -> String {
    let built = slipring(&["build", "tests/files/cpp/add.cpp", "--arch", "a5"]);
    let kernel = folder.join("add.pto");
    std::fs::write(&kernel, &built.stdout).unwrap();
    kernel.to_string_lossy().into_owned()
}

fn project(kernel: &str, into: &Path, more: &[&str]) -> Output {
    let into = into.to_string_lossy().into_owned();
    let args = ["--arg", "rand:f32[8x64]", "--arg", "rand:f32[8x64]", "--arg", "zeros:f32[8x64]"];
    slipring(&[&["build", kernel, "--arch", "a5", "--project", &into], &args[..], more].concat())
}

fn compare(folder: &Path) -> Output {
    slipring(&["compare", "--board", &folder.to_string_lossy()])
}

/// Writes the outputs of a perfect board into a project.
fn play(folder: &Path) {
    let facts: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("project.json")).unwrap()).unwrap();
    std::fs::create_dir_all(folder.join("outputs")).unwrap();
    for n in 0..3 {
        std::fs::copy(folder.join(format!("expected/{n}.bin")), folder.join(format!("outputs/{n}.bin"))).unwrap();
    }
    std::fs::write(folder.join("outputs/identity"), facts["identity"].as_str().unwrap()).unwrap();
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(file).unwrap();
    change(&mut bytes);
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn what_came_back_is_read_and_held_against_the_run() {
    let own = Folder::empty("project-returned");
    let folder = own.file("board");
    let output = project(&adding(&own.0), &folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("there is no `ptoas`"), "{}", said(&output));
    let makefile = std::fs::read_to_string(folder.join("Makefile")).unwrap();
    assert!(makefile.contains("kernel.cpp: kernel.pto\n\tptoas --pto-arch=a5"), "{makefile}");
    assert!(makefile.contains("dav-c310-vec -DREGISTER_BASE"), "{makefile}");
    let [a, b, sum] = [0, 1, 2].map(|n| {
        let kept = if n == 2 { "expected" } else { "inputs" };
        let bytes = std::fs::read(folder.join(format!("{kept}/{n}.bin"))).unwrap();
        bytes.chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect::<Vec<f32>>()
    });
    assert!(a.len() == 512 && a.iter().zip(&b).zip(&sum).all(|((a, b), sum)| a + b == *sum));
    let missing = compare(&folder);
    assert_eq!(missing.status.code(), Some(2), "{}", said(&missing));
    play(&folder);
    let same = compare(&folder);
    assert_eq!(same.status.code(), Some(0), "{}", said(&same));
    let out = folder.join("outputs/2.bin");
    change(&out, |bytes| bytes[0] ^= 1);
    let close = compare(&folder);
    assert_eq!(close.status.code(), Some(0), "{}", said(&close));
    assert!(said(&close).contains("1 elements differ within the tolerance"), "{}", said(&close));
    change(&out, |bytes| bytes[7] ^= 0x80);
    let wrong = compare(&folder);
    assert_eq!(wrong.status.code(), Some(1), "{}", said(&wrong));
    assert!(said(&wrong).contains("1 elements are wrong, first element 1"), "{}", said(&wrong));
    change(&out, |bytes| bytes.truncate(100));
    let short = compare(&folder);
    assert_eq!(short.status.code(), Some(2), "{}", said(&short));
    play(&folder);
    std::fs::write(folder.join("outputs/identity"), "0123456789abcdef").unwrap();
    let other = compare(&folder);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("outputs of another project"), "{}", said(&other));
    play(&folder);
    change(&folder.join("expected/2.bin"), |bytes| bytes[0] ^= 1);
    assert_eq!(compare(&folder).status.code(), Some(2));
}

#[test]
fn what_slipring_did_not_write_stays() {
    let own = Folder::empty("project-kept");
    let kernel = adding(&own.0);
    let folder = own.file("board");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("host.cpp"), "mine").unwrap();
    let refused = project(&kernel, &folder, &[]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("was not written by slipring"), "{}", said(&refused));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "something was written all the same");
    std::fs::remove_file(folder.join("host.cpp")).unwrap();
    assert_eq!(project(&kernel, &folder, &[]).status.code(), Some(0));
    let again = project(&kernel, &folder, &["--seed", "7"]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    std::fs::write(folder.join("README.md"), "notes").unwrap();
    let changed = project(&kernel, &folder, &[]);
    assert_eq!(changed.status.code(), Some(2), "{}", said(&changed));
    assert!(said(&changed).contains("was changed since"), "{}", said(&changed));
}

#[test]
fn what_is_found_wrong_here_does_not_leave() {
    let own = Folder::empty("project-wrong");
    let folder = own.file("board");
    let output = slipring(&[
        "build",
        "tests/files/findings/partial_overlap.pto",
        "--arch",
        "a5",
        "--project",
        &folder.to_string_lossy(),
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(!folder.exists());
}

/// The vendor's runtime interface for the host, implemented in this machine's memory; the kernel adds.
const RUNTIME: &str = r"
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
typedef int aclError;
typedef void *aclrtStream;
#define ACL_SUCCESS 0
enum { ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST };
inline aclError aclInit(const char *) { return 0; }
inline aclError aclFinalize() { return 0; }
inline aclError aclrtSetDevice(int) { return 0; }
inline aclError aclrtResetDevice(int) { return 0; }
inline aclError aclrtCreateStream(aclrtStream *) { return 0; }
inline aclError aclrtDestroyStream(aclrtStream) { return 0; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return 0; }
inline aclError aclrtMalloc(void **p, size_t n, int) { *p = malloc(n); return *p == nullptr; }
inline aclError aclrtFree(void *p) { free(p); return 0; }
inline aclError aclrtMemcpy(void *to, size_t, const void *from, size_t n, int) { memcpy(to, from, n); return 0; }
";
const ADDS: &str = r#"
#include <cstdint>
extern "C" void slipring_launch(uint32_t, void *, void *const *arguments)
{
    for (int n = 0; n < 512; n++) {
        static_cast<float *>(arguments[2])[n] =
            static_cast<float *>(arguments[0])[n] + static_cast<float *>(arguments[1])[n];
    }
}
"#;

#[cfg(unix)]
#[test]
fn the_host_and_the_script_work() {
    use std::os::unix::fs::PermissionsExt;
    let there = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    if !there("g++") || !there("python3") {
        println!("skipped: needs g++ and python3");
        return;
    }
    let own = Folder::empty("project-host");
    let folder = own.file("board");
    let ptoas = own.file("ptoas");
    let add = root().join("tests/files/cpp/add.cpp");
    std::fs::write(&ptoas, format!("#!/bin/sh\ncp '{}' kernel.cpp\n", add.display())).unwrap();
    std::fs::set_permissions(&ptoas, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = project(&adding(&own.0), &folder, &["--ptoas", &ptoas.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(std::fs::read(folder.join("kernel.cpp")).unwrap(), std::fs::read(&add).unwrap());
    assert!(!std::fs::read_to_string(folder.join("Makefile")).unwrap().contains("ptoas"));
    std::fs::create_dir_all(own.file("acl")).unwrap();
    own.write("acl/acl.h", RUNTIME);
    own.write("adds.cpp", ADDS);
    let call = |tool: &str, words: &[&str]| Command::new(tool).args(words).current_dir(&folder).output().unwrap();
    let compiled = call("g++", &["-std=c++17", "-Wall", "-Werror", "-I..", "host.cpp", "../adds.cpp", "-o", "board"]);
    assert!(compiled.status.success(), "{}", said(&compiled));
    let before = call("python3", &["compare.py"]);
    assert_eq!(before.status.code(), Some(2), "{}", said(&before));
    let ran = call("./board", &[]);
    assert!(ran.status.success(), "{}", said(&ran));
    let compared = call("python3", &["compare.py"]);
    assert_eq!(compared.status.code(), Some(0), "{}", said(&compared));
    assert_eq!(self::compare(&folder).status.code(), Some(0));
    change(&folder.join("outputs/2.bin"), |bytes| bytes[7] ^= 0x80);
    let wrong = call("python3", &["compare.py"]);
    assert_eq!(wrong.status.code(), Some(1), "{}", said(&wrong));
    assert!(said(&wrong).contains("1 elements are wrong, first element 1"), "{}", said(&wrong));
    change(&folder.join("inputs/0.bin"), |bytes| bytes.truncate(8));
    assert_eq!(call("./board", &[]).status.code(), Some(2));
}
