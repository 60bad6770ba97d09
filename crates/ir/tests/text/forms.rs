//! Forms of ops, types and attributes: how they are parsed and printed.

use slipring_ir::text::{check_schema, parse_attr, parse_type};
use slipring_ir::{Attr, Type, ValueDef};

use super::{canonical, read_well, registry};

#[test]
fn declarations_are_sound() {
    for schema in registry::schemas() {
        assert_eq!(check_schema(schema), Ok(()), "{}", schema.name);
    }
}

#[test]
fn a_function_with_every_form() {
    let text = r#"
#base = "x"
!t = !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=-1, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// A comment.
module attributes {pto.target_arch = "a5", "pto.device-spec" = #base} {
  t.func @f(%p: !pto.ptr<f32>, %n: index) {
    %c = t.const 1.5 : f32 -> f32 loc("here":1:2)
    %t = t.alloc valid_row = %n : !t
    t.add ins(%t, %t : !t, <vec, 16x64xf32, valid=16x?>) outs(%t : !t) {mode = 3 : i32, on = <PIPE_V>} loc(#where)
    t.divs ins(%t, %c {exact = true} : !t, f32) outs(%t : !t)
    t.divs ins(%c, %t : f32, !t) outs(%t : !t)
    t.divs ins(%c : f32, %t : !t, {exact}) outs(%t : !t)
    %v = t.get ins(%t, %n : !t, index) outs : f32
    t.flag["PIPE_M", #pto.pipe<PIPE_V>, 7]
    t.flag [PIPE_M, #pto<pipe PIPE_V>, 0x7] {other.note}
    %q = t.ptr %p, %n fast : <f32> -> <f32>
    %w = t.view %q, shape = [%n, %n], strides = [] : !pto.tensor_view<?x16xf32>
    %r:2 = t.if %n -> (index, f32) {
      return %n, %c : index, f32
    } else {
      return %n, %v : index, f32
    }
    t.loop %i < %r#0 {
      %s = t.sum %i, %n : index
      %0, %1 = "other.op"(%s, %r#1) <{a = 1}> ({
      ^bb0(%x: i32):
        "other.end"() : () -> ()
      }, {}) {b = [1 : i8, dense<0> : tensor<2xi32>], "c-d" = array<i32: 1, -2>} : (index, f32) -> (i32, f32)
    }
    "t.generic"(%n, %n) <{operandSegmentSizes = array<i32: 0, 2>}> : (index, index) -> ()
    "t.add"(%t, %t, %t) {mode = 1} : (!t, !t, !t) -> ()
    %unused = t.idx
    return
  }
}
#where = loc(fused["a":1:1, #deep])
#deep = loc(unknown)
"#;
    let expected = r#"module attributes {pto.target_arch = "a5", "pto.device-spec" = "x"} {
  t.func @f(%p: !pto.ptr<f32>, %n: index) {
    %c = t.const 1.5 : f32 -> f32 loc("here":1:2)
    %t = t.alloc valid_row = %n : !pto.tile_buf<vec, 16x64xf32, valid=16x?>
    t.add ins(%t, %t : !T, !T) outs(%t : !T) {mode = 3, on = #pto.pipe<PIPE_V>} loc(fused["a":1:1, unknown])
    t.divs ins(%t, %c {exact = true} : !T, f32) outs(%t : !T)
    t.divs ins(%c, %t : f32, !T) outs(%t : !T)
    t.divs ins(%c, %t {exact = true} : f32, !T) outs(%t : !T)
    %v = t.get ins(%t, %n : !T, index) outs : f32
    t.flag[<PIPE_M>, PIPE_V, 7]
    t.flag[<PIPE_M>, PIPE_V, 7] {other.note}
    %q = t.ptr %p, %n fast : !pto.ptr<f32> -> !pto.ptr<f32>
    %w = t.view %q, shape = [%n, %n], strides = [] : !pto.tensor_view<?x16xf32>
    %r:2 = t.if %n -> (index, f32) {
      return %n, %c : index, f32
    } else {
      return %n, %v : index, f32
    }
    t.loop %i < %r#0 {
      %s = t.sum %i, %n : index
      %0, %1 = "other.op"(%s, %r#1) ({
      ^bb0(%x: i32):
        "other.end"() : () -> ()
      }, {
      }) {a = 1, b = [1 : i8, dense<0> : tensor<2xi32>], "c-d" = array<i32: 1, -2>} : (index, f32) -> (i32, f32)
    }
    "t.generic"(%n, %n) <{operandSegmentSizes = array<i32: 0, 2>}> : (index, index) -> ()
    t.add ins(%t, %t : !T, !T) outs(%t : !T) {mode = 1}
    %unused = t.idx
    return
  }
}
"#;
    let expected = expected.replace("!T", "!pto.tile_buf<vec, 16x64xf32, valid=16x?>");
    assert_eq!(canonical(text), expected);
}

#[test]
fn types_have_one_spelling() {
    let cases = [
        ("index", "index"),
        ("si8", "si8"),
        ("!pto.ptr<f32, ub>", "!pto.ptr<f32, ub>"),
        ("!pto.ptr<f32, #pto.address_space<vec>>", "!pto.ptr<f32, ub>"),
        ("!pto.ptr<ui16, fb>", "!pto.ptr<ui16, fb>"),
        ("!pto.tile_buf<vec, 0x10xf32>", ""),
        (
            "!pto.tile_buf< acc ,16x16xf32, fractal = 1024, slayout=row_major, blayout=col_major>",
            "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>",
        ),
        (
            "!pto.tile_buf<rows=8, cols=4, loc=mat, dtype=bf16, pad=zero, v_row=?, v_col=4>",
            "!pto.tile_buf<mat, 8x4xbf16, valid=?x4, pad=1>",
        ),
        ("!pto.partition_tensor_view<1x?x16xf16>", "!pto.partition_tensor_view<1x?x16xf16>"),
        (
            "memref<16x?xf32, strided<[?, 1], offset: ?>, #pto.address_space<gm>>",
            "memref<16x?xf32, strided<[?, 1], offset: ?>, #pto.address_space<gm>>",
        ),
        ("memref<0xf32>", "memref<0xf32>"),
        ("memref<f32>", "memref<f32>"),
        ("vector<4xi16>", "vector<4xi16>"),
        ("(i32, f32) -> ()", "(i32, f32) -> ()"),
        ("() -> (() -> i1)", "() -> (() -> i1)"),
        ("!pto.vreg< 64xf32 >", "!pto.vreg<64xf32>"),
        ("!pto.vreg<256x!pto.hif8>", "!pto.vreg<256x!pto.hif8>"),
        ("!pto.vreg<32xf32>", ""),
        ("!pto.queue< 64 x f32 >", "!pto.queue< 64 x f32 >"),
        ("!pto.pipe", "!pto.pipe"),
        ("!pto.tile<vec, 16x64xf32>", "!pto.tile_buf<vec, 16x64xf32>"),
        ("!pto.tpipe< 0,DIR_C2V, 16384,4 ,2>", "!pto.tpipe<0, DIR_C2V, 16384, 4, 2>"),
        (
            "!pto.tmpipe<4, GM_FIFO, 4, 1, !pto.tile_buf<vec, 8x8xf16>, <mat, 16x8xf16>, false, 2, V2C1_VECS>",
            "!pto.tmpipe<4, GM_FIFO, 4, 1, !pto.tile_buf<vec, 8x8xf16>, !pto.tile_buf<mat, 16x8xf16>, false, 2, V2C1_VECS>",
        ),
        ("!pto.async<a, {b}>", "!pto.async<a, {b}>"),
        ("tensor<4x4xf32>", "tensor<4x4xf32>"),
        ("f8E4M3FN", "f8E4M3FN"),
        ("f8E8M0FNU", "f8E8M0FNU"),
        ("!pto.f8E8M0", "f8E8M0FNU"),
        ("!pto.hif8", "!pto.hif8"),
        ("!pto.ptr<!pto.hif8, l1>", "!pto.ptr<!pto.hif8, l1>"),
        ("<!pto.hif8, gm>", "!pto.ptr<!pto.hif8, gm>"),
        ("!pto.ptr<hif8>", "!pto.ptr<!pto.hif8>"),
        ("!pto.tile_buf<mat, 16x64x!pto.f4E2M1x2>", "!pto.tile_buf<mat, 16x64x!pto.f4E2M1x2>"),
        ("!pto.tile_buf<loc=left, dtype=!pto.f4E1M2x2, rows=16, cols=32>", "!pto.tile_buf<left, 16x32x!pto.f4E1M2x2>"),
        ("!pto.tensor_view<2x?x!pto.f4E2M1x2>", "!pto.tensor_view<2x?x!pto.f4E2M1x2>"),
        ("memref<4x!pto.hif8>", "memref<4x!pto.hif8>"),
        ("!pto.ptr<f4E2M1FN>", ""),
        ("<loc=vec, dtype=f32, rows=1, cols=1>", "!pto.tile_buf<vec, 1x1xf32>"),
        ("<f32, gm>", "!pto.ptr<f32, gm>"),
    ];
    for (text, canonical) in cases {
        match parse_type(text) {
            Ok(ty) => {
                assert_eq!(ty.to_string(), canonical, "{text}");
                assert_eq!(parse_type(canonical).as_ref(), Ok(&ty));
            }
            Err(diags) => assert!(canonical.is_empty(), "{text}: {diags:?}"),
        }
    }
    for wrong in
        ["i0", "i65", "f33", "!x", "!pto.ptr<i7>", "memref<4>", "vector<?xi8>", "!pto.tile_buf<vec, 4xf32>", "i32 i32"]
    {
        assert!(parse_type(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn attributes_have_one_spelling() {
    let cases = [
        ("1", "1"),
        ("1 : i64", "1"),
        ("-128 : i8", "-128 : i8"),
        ("255 : i8", "255 : i8"),
        ("0xff : i32", "255 : i32"),
        ("1.0e+00 : f16", "1.0 : f16"),
        ("-3.140000e+00", "-3.14"),
        ("0xFF800000 : f32", "0xFF800000 : f32"),
        ("0x3F800000 : f32", "1.0 : f32"),
        ("0x7FF8000000000000 : f64", "0x7FF8000000000000 : f64"),
        (r#""a\"\\\0A\n\t\41""#, r#""a\"\\\0A\0A\09A""#),
        ("@f::@\"g h\"", "@f::@\"g h\""),
        ("[true, unit, @a, i32]", "[true, unit, @a, i32]"),
        ("{a = {}, b}", "{a = {}, b}"),
        ("#pto<cmp lt>", "#pto.cmp<lt>"),
        (
            "#pto.tile_buf_config<blayout=1 : i32, pad=#pto.pad<null>>",
            "#pto.tile_buf_config<blayout=1 : i32, pad=#pto.pad<null>>",
        ),
        ("array<i1: true, false>", "array<i1: 1, 0>"),
        ("array<f32: 1.0, 2.0>", "#array"),
        ("dense<[1, 2]> : tensor<2xi32>", "dense<[1, 2]> : tensor<2xi32>"),
        ("affine_map<(d0) -> (d0 + 1)>", "affine_map<(d0) -> (d0 + 1)>"),
        ("() -> ()", "() -> ()"),
    ];
    for (text, canonical) in cases {
        let attr = parse_attr(text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        let printed = attr.to_string();
        if canonical != "#array" {
            assert_eq!(printed, canonical);
        }
        assert_eq!(parse_attr(&printed), Ok(attr), "{text}");
    }
    assert_eq!(parse_attr("0x3F800000 : f32"), Ok(Attr::Float(0x3f80_0000, Type::F32)));
    for wrong in [
        "256 : i8",
        "1 : f32",
        "1.0 : i32",
        "\"a",
        "@",
        "#x",
        "[1",
        "{1}",
        "1.0e99 : f32",
        "99999999999999999999999999999999999999999",
    ] {
        assert!(parse_attr(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn spans_point_at_the_header_of_an_op() {
    let text = "%n = t.idx\nt.loop %i < %n {\n  %m = t.idx\n}\n";
    let module = read_well(text);
    let ops = module.walk(module.top);
    let spans: Vec<&str> =
        ops.iter().map(|op| module.op(*op).span).map(|s| &text[s.start as usize..s.end as usize]).collect();
    assert_eq!(spans, ["%n = t.idx", "t.loop %i < %n", "%m = t.idx"]);
    let n = module.op(ops[0]).results[0];
    assert_eq!(module.value(n).def, ValueDef::Result(ops[0], 0));
    assert_eq!(module.value(n).span, slipring_ir::Span::new(0, 2));
}
