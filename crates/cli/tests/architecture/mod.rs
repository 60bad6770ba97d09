//! Checks of the architecture rules: which crates depend on which, which facts each of them must not know, that facts
//! about ops come from declarations, and that files of a crate have no circular dependencies. Each rule is also tested
//! on code that breaks it.

mod circles;
mod edges;
mod scan;

use std::path::Path;

use crate::here::root;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
