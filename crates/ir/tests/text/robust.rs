//! Any text is parsed in bounded time and space, without a panic.

use std::sync::Arc;

use slipring_ir::text::{parse, parse_attr, parse_type, print};
use slipring_ir::{Severity, Source};

use super::read;
use super::registry::registry;

/// A text with every form, to be damaged.
const SEED: &str = r#"
#base = "x"
!t = !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=0>
module attributes {pto.target_arch = "a5", "pto.device-spec" = #base} {
  t.func @f(%p: !pto.ptr<f32, ub>, %n: index, %m: memref<16x?xf32, strided<[?, 1], offset: ?>, #pto.address_space<gm>>) {
    %c = t.const 1.5e+00 : f32 -> f32 loc("here":1:2)
    %t = t.alloc valid_row = %n valid_col = %n : !t // comment
    t.add ins(%t, %t : !t, <vec, 16x64xf32, valid=16x?>) outs(%t : !t) {mode = 3 : i32, on = <PIPE_V>} loc(#where)
    t.divs ins(%c : f32, %t : !t, {exact}) outs(%t : !t)
    %v = t.get ins(%t, %n : !t, index) outs : f32
    t.flag["PIPE_M", #pto.pipe<PIPE_V>, 7]
    %q = t.ptr %p, %n fast : <f32, ub> -> !pto.ptr<f32, ub>
    %r:2 = t.if %n -> (index, vector<4xi16>) {
      return %n, %c : index, f32
    } else {
      t.loop %i < %n {
        %s = t.sum %i, %n : index
        %0, %1 = "other.op"(%s, %n) <{a = 1}> ({
        ^bb0(%x: i32, %y: (i32) -> (f32, !a.b<c>)):
          "other.end"() : () -> ()
        }, {}) {b = [1 : i8, dense<0> : tensor<2xi32>], "c-d" = array<i32: 1, -2>} : (index, index) -> (i32, f32)
      }
    }
    "t.generic"(%n, %r#1) <{operandSegmentSizes = array<i32: 0, 2>}> : (index, vector<4xi16>) -> ()
    return
  }
}
#where = loc(fused["a":1:1, #deep])
#deep = loc(unknown)
"#;

/// A portable random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Parses a text and uses all parts of the result.
fn exercise(text: &str) {
    let (module, diags) = parse(Arc::new(Source::new("t", text)), &registry());
    let printed = print(&module);
    if !diags.has_errors() {
        let (again, diags) = parse(Arc::new(Source::new("t", printed.clone())), &registry());
        assert!(!diags.has_errors(), "{}\n{text}\n{printed}", diags.render(&again.source, false));
        for (once, twice) in printed.lines().zip(print(&again).lines()) {
            assert_eq!(once, twice);
        }
    }
    for d in &diags.list {
        let d = d.primary.as_ref().expect("every error of a text has a place");
        assert!(d.span.start <= d.span.end && d.span.end as usize <= text.len(), "{d:?}");
    }
}

#[test]
fn damaged_texts_are_read() {
    let (module, diags) = read(SEED);
    assert!(!diags.has_errors(), "{}", diags.render(&module.source, false));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let pieces: Vec<&str> = SEED.split_inclusive([' ', ',', '(', '<', '{', '\n']).collect();
    for _ in 0..4000 {
        let mut text: Vec<&str> = pieces.clone();
        for _ in 0..1 + random.below(4) {
            if text.len() < 2 {
                break;
            }
            let (at, other) = (random.below(text.len()), random.below(text.len()));
            match random.below(5) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, text[other]),
                2 => text.swap(at, other),
                3 => text.truncate(at.max(1)),
                _ => {
                    text[at] = ["}", "{", "\"", "%", "%%", "é", "0x", "-", "<", ">", "#", "!", "^bb0:", "loc("]
                        [random.below(14)]
                }
            }
        }
        exercise(&text.concat());
    }
    for end in (0..SEED.len()).filter(|end| SEED.is_char_boundary(*end)) {
        exercise(&SEED[..end]);
    }
}

#[test]
fn nesting_has_a_limit_and_no_stack_overflow() {
    let deep = 20_000;
    for (open, close) in [("[", "]"), ("{a = ", "}"), ("(", ")"), ("() -> (", ")"), ("memref<4x", ">"), ("#a.b<", ">")]
    {
        let text = format!("{}{}", open.repeat(deep), close.repeat(deep));
        assert!(parse_attr(&text).is_err() || open == "#a.b<", "{open}");
        let _ = parse_type(&text);
        exercise(&format!("\"a.b\"() {{x = {text}}} : () -> ()\n%n = t.idx\n"));
    }
    for op in
        ["t.loop %i < %n {\n", "\"a.b\"() ({\n", "t.if %n {\n", "module {", "t.func @f() {", "{ %a = t.x {\n", "^a:{"]
    {
        exercise(&format!("%n = t.idx\n{}", op.repeat(deep)));
        exercise(&format!("%n = t.idx\n{}{}", op.repeat(deep), "}\n".repeat(deep)));
    }
    exercise(&format!("t.x {}", "(".repeat(deep)));
    exercise(&format!(
        "#a0 = loc(unknown)\n{}",
        (1..40).map(|i| format!("#a{i} = loc(fused[#a{}, #a{}])\n", i - 1, i - 1)).collect::<String>()
            + "%n = t.idx loc(#a39)\n"
    ));
}

#[test]
fn long_texts_take_linear_time() {
    let (module, diags) = read(&"%n = t.idk\n".repeat(20_000));
    assert!(diags.list.len() <= 1000, "the number of errors has a limit");
    assert!(diags.list.iter().all(|d| d.severity == Severity::Error));
    drop(module);
    exercise(&format!("x {}", "%a ".repeat(50_000)));
    exercise(&format!("\"a.b\"({}", "%a, ".repeat(50_000)));
    exercise(&"{ ".repeat(50_000));
    exercise(&"%a, ".repeat(50_000));
}
