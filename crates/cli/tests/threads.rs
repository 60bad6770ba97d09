//! Launches of several blocks give the same results on any number of threads: bytes, findings, cycles, and the order of
//! printed output.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::here::{self, root};
use crate::walk;

fn run(file: &Path, arch: &str, threads: usize) -> Output {
    let mut command = here::slipring();
    command.arg("run").arg(file).args(["--arch", arch, "--blocks", "7", "--json"]);
    command.args(["--threads", &threads.to_string()]).output().unwrap()
}

/// Every example with blocks that all do the same, and often race with each other.
#[test]
fn examples_say_the_same_on_any_number_of_threads() {
    let root = root();
    let mut files: Vec<PathBuf> = walk::files(&root.join("examples"), &["pto", "py"]);
    files.push(root.join("benches/programs/attention.pto"));
    let (next, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(at) else { break };
                    let arch = ["a5", "a2a3"][at % 2];
                    let (alone, several) = (run(file, arch, 1), run(file, arch, 2 + at % 3));
                    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                    assert_eq!(alone.status, several.status, "{} on {arch}", file.display());
                    assert_eq!(text(&alone.stdout), text(&several.stdout), "{} on {arch}", file.display());
                    assert_eq!(text(&alone.stderr), text(&several.stderr), "{} on {arch}", file.display());
                    ran.fetch_add(usize::from(!alone.stdout.is_empty()), Ordering::Relaxed);
                }
            });
        }
    });
    assert!(ran.into_inner() > 20, "too few examples ran");
}
