//! Every text results in a module or in errors.

use std::sync::Arc;

use slipring_dialects::Dialects;
use slipring_ir::Source;

const TEXTS: [&str; 3] = [
    include_str!("../../../tests/files/cpp/add.cpp"),
    include_str!("../../../tests/files/cpp/loops_and_branches.cpp"),
    include_str!("../../../tests/files/cpp/blocks_of_the_runtime.cpp"),
];

/// Errors of a text.
fn errors(text: &str) -> usize {
    let source = Arc::new(Source::new("kernel.cpp", text));
    let (_, diags) = slipring_cpp::read(source, Dialects::get());
    diags.list.len()
}

#[test]
fn the_texts_are_read() {
    assert_eq!(TEXTS.map(errors), [0; 3]);
}

#[test]
fn what_is_torn_is_an_error_or_another_text() {
    let mut random = 1u64;
    let mut below = |n: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % n.max(1)
    };
    let mut wrong = 0;
    for round in 0..240 {
        let text: Vec<char> = TEXTS[round % TEXTS.len()].chars().collect();
        let (from, length) = (below(text.len()), below(40));
        let piece: Vec<char> = text[from..(from + length).min(text.len())].to_vec();
        let at = below(text.len());
        let mut torn = text.clone();
        match round % 3 {
            0 => drop(torn.drain(from..(from + length).min(text.len()))),
            1 => drop(torn.splice(at..at, piece)),
            _ => torn[at] = ['(', '}', '<', '#', '"', 'ß', '-', ';'][below(8)],
        }
        wrong += usize::from(errors(&torn.iter().collect::<String>()) > 0);
    }
    assert!(wrong > 100, "only {wrong} of 240 torn texts have errors");
}

#[test]
fn deep_texts_end() {
    for (open, close) in [("(", ")"), ("{", "}"), ("if (v2 > v2) {", "}"), ("Shape<", ">")] {
        let (open, close) = (open.repeat(3000), close.repeat(3000));
        let inner = if open.starts_with('(') || open.starts_with('S') { "v2" } else { "" };
        let text = format!("static void deep(int64_t v2) {{ int64_t v3 = 0; {open}{inner}{close}; }}");
        assert!(errors(&text) > 0, "{}", &open[..10]);
    }
    let sum = "v2 + ".repeat(3000);
    assert!(errors(&format!("static void wide(int64_t v2) {{ int64_t v3 = {sum}v2; }}")) > 0);
}
