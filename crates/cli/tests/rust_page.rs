//! The page about the library: it shows the example, and names exactly the public items.

use std::collections::BTreeSet;

use crate::here::root;

fn read(path: &str) -> String {
    let root = root();
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names that a source exports and documents: those of `pub use` lines without a preceding `#[doc(hidden)]`.
fn shown(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut hidden = false;
    for statement in source.split_inclusive([';', ']']) {
        let text = statement.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join(" ");
        let text = text.trim();
        let used = text.strip_prefix("pub use ");
        assert!(used.is_none_or(|used| used.contains("::")), "a whole crate: {text}");
        if let Some(used) = used.filter(|_| !hidden) {
            let list = used.trim_end_matches(';').rsplit("::").next().unwrap_or(used);
            let own = list.trim_matches(['{', '}']).split(',').map(|name| name.rsplit(" as ").next().unwrap_or(name));
            names.extend(own.map(|name| name.trim().to_string()).filter(|name| !name.is_empty()));
        }
        assert!(hidden || !text.starts_with("pub mod "), "a module that is shown: {text}");
        hidden = text == "#[doc(hidden)]";
    }
    names
}

#[test]
fn the_page_names_what_is_public() {
    let exported = shown(&read("crates/slipring/src/lib.rs"));
    let page = read("docs/rust.md");
    let (_, table) = page.split_once("| types | for |").expect("a table of types");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let named: BTreeSet<String> =
        rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_string).collect();
    assert!(named.len() > 20, "the table is not read: {named:?}");
    assert_eq!(named, exported);
}

#[test]
fn the_page_shows_the_example() {
    let page = read("docs/rust.md");
    let shown = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let example = read("crates/slipring/examples/run_a_kernel.rs");
    assert_eq!(example.split_once("\n\n").expect("its head").1, shown);
}

#[test]
fn what_is_hidden_is_not_public() {
    let source = "#![warn(missing_docs)]\nmod a;\n#[doc(hidden)]\npub use a::{B, C};\n// pub use a::D;\npub use a::{E, x as F};\npub use a::G;\n";
    assert_eq!(shown(source).into_iter().collect::<Vec<_>>(), ["E", "F", "G"]);
    let whole = std::panic::catch_unwind(|| shown("#[doc(hidden)]\npub use crate_of as other;\n"));
    assert!(whole.is_err(), "a whole crate is handed on");
}
