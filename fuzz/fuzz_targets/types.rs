//! Types and attributes: any text ends in one that prints and reads back as the same, or in errors.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slipring_ir::text::{parse_attr, parse_type};

fuzz_target!(|text: &str| {
    if let Ok(ty) = parse_type(text) {
        assert_eq!(parse_type(&ty.to_string()).ok(), Some(ty));
    }
    if let Ok(attr) = parse_attr(text) {
        assert_eq!(parse_attr(&attr.to_string()).ok(), Some(attr));
    }
});
