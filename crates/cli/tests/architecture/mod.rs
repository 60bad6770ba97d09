//! The rules of the house, kept: which crates depend on which, what each of them knows nothing of, and that facts about ops are
//! asked of declarations; that files of a crate use each other in no circle. Each rule also shows what it finds.

mod circles;
mod edges;
mod scan;

use std::path::Path;

use crate::here::root;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
