//! The text layer, tested with a small set of declarations.

mod errors;
mod forms;
mod random;
mod registry;
mod robust;

use std::sync::Arc;

use slipring_ir::text::{parse, print};
use slipring_ir::{Diags, Module, Source};

/// Parses a text with the test's declarations.
pub fn read(text: &str) -> (Module, Diags) {
    parse(Arc::new(Source::new("test.pto", text)), &registry::registry())
}

/// Parses a text without errors and warnings.
pub fn read_well(text: &str) -> Module {
    let (module, diags) = read(text);
    assert!(diags.list.is_empty(), "{}", diags.render(&module.source, false));
    module
}

/// The canonical spelling of a text, which must be stable.
pub fn canonical(text: &str) -> String {
    let printed = print(&read_well(text));
    assert_eq!(print(&read_well(&printed)), printed);
    printed
}
