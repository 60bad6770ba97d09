//! Any Python text is compiled without a panic, and what compiles without an error is verified and printed.
//!
//! `cargo +nightly fuzz run lang`, with `.py` files as a start in `fuzz/corpus/lang`.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use slipring_ir::{Diags, Source};

fuzz_target!(|text: &str| {
    let (compiled, diags) = slipring_lang::compile(Arc::new(Source::new("fuzz.py", text)));
    let _ = diags.render(&compiled.module.source, false);
    if diags.has_errors() {
        return;
    }
    let platform = slipring_machine::built_in("a5").expect("a platform");
    slipring_dialects::verify(slipring_dialects::Dialects::get(), &compiled.module, &platform, &mut Diags::default());
    let _ = slipring_ir::text::print(&compiled.module);
});
