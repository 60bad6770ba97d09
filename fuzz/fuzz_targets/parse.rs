//! Any text is parsed without a panic, and what parses without an error is printed and read back as the same.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use slipring_dialects::Dialects;
use slipring_ir::text::{parse, print};
use slipring_ir::{Source, difference};

fuzz_target!(|text: &str| {
    let registry = &Dialects::get().registry;
    let (module, diags) = parse(Arc::new(Source::new("fuzz", text)), registry);
    let _ = diags.render(&module.source, false);
    let printed = print(&module);
    if diags.has_errors() {
        return;
    }
    let (again, diags) = parse(Arc::new(Source::new("again", printed)), registry);
    assert!(!diags.has_errors(), "{}", diags.render(&again.source, false));
    assert_eq!(difference(&module, &again), None);
});
