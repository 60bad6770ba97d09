//! A C host program is compiled against the header and runs on the library that cargo has just built.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SEEN: &str = "\
p99: there is no board `p99`; there are p100, p150
word: 01020304
PCIe: 1
own memory: 42 7
unpinned: -1
  pinned memory 0 is not open
time passed: 1
peek: 4 1
peek outside: -1
  (255,255) has no 4 bytes at 0x1000
open outside: -1
closed: -1
findings: 0
out of range: -2
status: 0 0
diagnose: 1
settings: there is no setting `col
no worker: -1
worker: 1 called, 42, -1 inside
worker fails: 1
decoded: 1
lint: 1 wait-foreign-stream
none: 1
run: 1, 1 events, the first 1, 1 allowed
list from memory: 0, then 1 relay-before-write
no stream: byte 5
";

/// The library that cargo has built, and its folder.
fn library(folder: &Path) -> PathBuf {
    let name = format!("{}slipring_queue_c{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let places = [folder.join(&name), folder.parent().expect("target/debug").join(&name)];
    let built = |path: &&PathBuf| fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let newest = places.iter().filter(|path| path.exists()).max_by_key(built);
    newest.unwrap_or_else(|| panic!("cargo has built no {name} in {}", folder.display())).clone()
}

#[test]
fn a_host_in_c() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler `cc`");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = env::current_exe().expect("the test has a file").parent().expect("a folder").to_path_buf();
    let library = library(&folder);
    let program = folder.join("slipring_host_in_c");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(here.join("tests/host.c"))
        .arg("-I")
        .arg(here.join("include"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().expect("a folder").display()))
        .output()
        .expect("cc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).arg(folder.join("slipring_host_in_c.out")).output().expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&run.stdout), SEEN, "{}", String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success());
}
