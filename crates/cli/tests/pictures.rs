//! Timelines of runs, read back from the written files: they agree with the tables.

mod fit;
mod forecast;
mod page;
mod programs;
mod trace;

use std::path::{Path, PathBuf};

use slipring::{Kernel, Run, RunOptions};
use slipring_report::RunFacts;

use crate::here::root;

/// The root of the repository.
fn top() -> PathBuf {
    root()
}

/// Every example that is a kernel.
fn examples() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["examples", "examples/lang", "examples/pipes", "examples/sync"] {
        for entry in std::fs::read_dir(top().join(folder)).expect("a folder of examples") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|end| end == "pto" || end == "py") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 30, "{files:?}");
    files
}

/// Runs of every n-th example that runs with default arguments.
fn runs(options: &RunOptions, every: usize) -> Vec<(PathBuf, Run<'static>, RunFacts)> {
    let takes = |path: &PathBuf| Kernel::open(path).is_ok_and(|kernel| kernel.arguments(&[], 0).is_ok());
    let each = examples().into_iter().filter(takes).step_by(every).map(|path| {
        let (run, facts) = run_with(&path, options);
        (path, run, facts)
    });
    let all: Vec<_> = each.collect();
    assert!(all.iter().filter(|(_, run, _)| run.is_complete()).count() > 30 / every);
    all
}

/// Runs a kernel with the arguments of its file.
fn run_with(path: &Path, options: &RunOptions) -> (Run<'static>, RunFacts) {
    run_kernel(&Kernel::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())), options)
}

/// The same for a kernel.
fn run_kernel(kernel: &Kernel, options: &RunOptions) -> (Run<'static>, RunFacts) {
    let args = kernel.arguments(&[], 0).expect("arguments");
    let run = kernel.run_with(args, options).expect("runs").into_owned();
    let facts = run.facts();
    (run, facts)
}

fn recorded() -> RunOptions {
    let mut options = RunOptions::new().record(true);
    options.tools = slipring::tools("none").expect("no tools");
    options
}
