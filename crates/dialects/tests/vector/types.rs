//! The element types that ops accept on each platform: a matrix of op × type × platform compared with explicit lists.

use std::sync::Arc;

use slipring_dialects::Dialects;
use slipring_ir::{Diags, Source, text::parse};
use slipring_machine::built_in;
use slipring_op::verify;

const ELEMS: [&str; 14] =
    ["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "!pto.hif8"];

/// Names of ops, the form of their operands (`a`, `b` tiles, `t` scratch tile, `s` a number, `c` a column, `r` a row),
/// and the types on A2/A3 and on A5.
const RULES: &[(&str, &str, &str, &str)] = &[
    ("tadd tmax tmin tpartadd", "a b > a", WORDS, ALL),
    ("tsub", "a b > a", WORDS, "i8 ui8 i16 ui16 i32 ui32 f16 f32"),
    ("tmul tfmod", "a b > a", WORDS, WORDS),
    ("tdiv", "a b > a", "f16 f32", WORDS),
    ("trem", "a b t > a", "i32 ui32 f32", WORDS),
    ("tand tor tshl tshr", "a b > a", INTEGERS, INTEGERS),
    ("txor", "a b t > a", INTEGERS, INTEGERS),
    ("tnot", "a > a", "i16 ui16", INTEGERS),
    ("tabs", "a > a", "f16 f32", "i16 i32 f16 f32"),
    ("trelu", "a > a", "i32 f16 f32", "i32 f16 f32"),
    ("tneg", "a > a", WORDS, ALL),
    ("texp tlog tsqrt trecip", "a > a", "f16 f32", "f16 f32"),
    ("tadds tmuls tmaxs tmins tsubs", "a s > a", WORDS, ALL),
    ("trowsum trowprod", "a t > c", WORDS, WORDS),
    ("trowmax trowmin", "a t > c", WORDS, "i8 ui8 i16 ui16 i32 ui32 f16 f32"),
    ("tcolsum tcolmax tcolmin", "a > r", WORDS, ALL),
    ("tcolprod", "a > r", WORDS, "i16 ui16 i32 ui32 f16 bf16 f32"),
];
const WORDS: &str = "i16 ui16 i32 ui32 f16 f32";
const INTEGERS: &str = "i8 ui8 i16 ui16 i32 ui32";
const ALL: &str = "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32";

/// The error codes of a kernel with a single op.
fn errors(op: &str, form: &str, elem: &str, platform: &str) -> Vec<&'static str> {
    let tile = |rows: u32, cols: u32| format!("!pto.tile_buf<vec, 32x32x{elem}, valid={rows}x{cols}>");
    let number = if elem.starts_with('f') || elem.starts_with("bf") || elem.starts_with('!') { "f32" } else { "i32" };
    let value = if number == "f32" { "2.0" } else { "2" };
    let mut text =
        String::from("func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {\n");
    text += &format!("  %s = arith.constant {value} : {number}\n");
    for (name, ty) in
        [("a", tile(32, 32)), ("b", tile(32, 32)), ("t", tile(32, 32)), ("c", tile(32, 1)), ("r", tile(1, 32))]
    {
        text += &format!("  %{name} = pto.alloc_tile : {ty}\n");
    }
    let ty = |name: &str| match name {
        "s" => number.to_string(),
        "c" => tile(32, 1),
        "r" => tile(1, 32),
        _ => tile(32, 32),
    };
    let (ins, out) = form.split_once(" > ").unwrap();
    let list = |f: &dyn Fn(&str) -> String| ins.split(' ').map(f).collect::<Vec<_>>().join(", ");
    let (names, types) = (list(&|name| format!("%{name}")), list(&|name| ty(name)));
    text += &format!("  pto.{op} ins({names} : {types}) outs(%{out} : {})\n  return\n}}\n", ty(out));
    let (module, mut diags) = parse(Arc::new(Source::new("types.pto", text)), &Dialects::get().registry);
    let mut found = Diags::default();
    if !diags.has_errors() {
        verify(Dialects::get(), &module, &built_in(platform).unwrap(), &mut found);
        diags = found;
    }
    diags.list.iter().map(|d| d.code).collect()
}

#[test]
fn each_platform_takes_its_own_types() {
    let mut wrong = Vec::new();
    for (ops, form, memory, registers) in RULES {
        for (op, elem) in ops.split(' ').flat_map(|op| ELEMS.map(|elem| (op, elem))) {
            for (platform, known) in [("a2a3", memory), ("a5", registers)] {
                let codes = errors(op, form, elem, platform);
                let fine = codes.is_empty();
                let refused = codes.contains(&"tile-elem");
                let due = known.split(' ').any(|name| name == elem);
                if fine != due || (!due && !refused) {
                    wrong.push(format!("{op} {elem} {platform}: {codes:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
