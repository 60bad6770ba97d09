//! Errors of moves and products; also, their text is printed as it was parsed.

use crate::common;

use common::{check, errors, kernel, matrix, part};
use slipring_dialects::Dialects;
use slipring_ir::text;
use slipring_machine::built_in;

/// The only error of a body on a platform.
fn error(platform: &str, params: &str, body: &str) -> String {
    let all = errors(&kernel(params, body), platform);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.into_iter().next().unwrap()
}

const VEC: &str = "!pto.tile_buf<vec, 16x16xf32>";

#[test]
fn views_and_tiles_that_make_no_sense() {
    let view = "%v = pto.make_tensor_view %a, shape = [%c4], strides = [%c4, %c1] : !pto.tensor_view<?x?xf32>";
    assert_eq!(error("a5", "%a: !pto.ptr<f32>", view), "expects shape operand count (1) to match the rank (2)");
    let view = "%v = pto.make_tensor_view %a, shape = [%c4, %c4], strides = [%c4, %c1] : !pto.tensor_view<4x8xf32>";
    assert_eq!(error("a5", "%a: !pto.ptr<f32>", view), "dimension 1 of the view is 4, its type says 8");
    let tile = format!("%t = pto.alloc_tile valid_row = %c3 : {VEC}");
    assert!(error("a5", "", &tile).contains("the type of the tile already says it"));
    let tile = format!("%at = arith.constant 20 : i64\n %t = pto.alloc_tile addr = %at : {VEC}");
    assert_eq!(error("a5", "", &tile), "the address 20 is not a multiple of 32");
    let tile = format!("%t = pto.alloc_tile : {VEC}\n pto.set_validshape %t, %c3, %c4 : {VEC}");
    assert_eq!(error("a5", "", &tile), "expects source tile to have dynamic validShape (?, ?)");
    let tile = format!("%t = pto.alloc_tile : {VEC}\n %r = pto.treshape %t : {VEC} -> !pto.tile_buf<vec, 16x8xf32>");
    assert_eq!(error("a5", "", &tile), "the source has 1024 bytes, the result 512");
    let tile = "%t = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf16, blayout=col_major, slayout=row_major>
        %r = pto.subset %t[%c0, %c0] sizes [8, 16] : !pto.tile_buf<vec, 32x32xf16, blayout=col_major, slayout=row_major>";
    assert_eq!(error("a5", "", tile), "8 rows are not a multiple of a box's 16");
}

#[test]
fn moves_that_do_not_exist() {
    let acc = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>";
    let body = matrix("a", "f32", 16, 16)
        + &format!("%t = pto.alloc_tile : {acc}\n pto.tload ins(%a_w : {}) outs(%t : {acc})", part("f32", &[16, 16]));
    assert_eq!(error("a5", "%a: !pto.ptr<f32>", &body), "`pto.tload` takes `dst` in `vec` or `mat`, not in `acc`");
    let body = matrix("a", "f16", 16, 16)
        + &format!("%t = pto.alloc_tile : {VEC}\n pto.tload ins(%a_w : {}) outs(%t : {VEC})", part("f16", &[16, 16]));
    assert_eq!(error("a5", "%a: !pto.ptr<f16>", &body), "expects src and dst to have the same element bitwidth");
    let body = matrix("a", "f32", 16, 8)
        + &format!("%t = pto.alloc_tile : {VEC}\n pto.tstore ins(%t : {VEC}) outs(%a_w : {})", part("f32", &[16, 8]));
    assert_eq!(
        error("a5", "%a: !pto.ptr<f32>", &body),
        "expects dst static element count (128) to match src valid_shape static element count (256)"
    );
    let left = "!pto.tile_buf<left, 16x16xf32, blayout=col_major, slayout=row_major>";
    let body = format!(
        "%t = pto.alloc_tile : {VEC}\n%l = pto.alloc_tile : {left}\n pto.tmov ins(%t : {VEC}) outs(%l : {left})"
    );
    assert_eq!(error("a5", "", &body), "no tile moves from `vec` to `left`");
    let half = "!pto.tile_buf<vec, 16x16xf16>";
    let body = format!(
        "%t = pto.alloc_tile : {VEC}\n%l = pto.alloc_tile : {half}\n pto.tmov ins(%t : {VEC}) outs(%l : {half})"
    );
    assert_eq!(error("a5", "", &body), "a move does not turn f32 into f16");
    let body =
        format!("%t = pto.alloc_tile : {VEC}\n pto.textract ins(%t, %c8, %c0 : {VEC}, index, index) outs(%t : {VEC})");
    assert_eq!(error("a5", "", &body), "expects row + dst rows <= src rows");
}

#[test]
fn moves_that_a_platform_does_not_have() {
    let l1 = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>";
    let body = matrix("a", "f32", 16, 16)
        + &format!("%t = pto.alloc_tile : {l1}\n pto.tstore ins(%t : {l1}) outs(%a_w : {})", part("f32", &[16, 16]));
    assert_eq!(error("a5", "%a: !pto.ptr<f32>", &body), "expects A5 tstore src to use loc=vec or loc=acc");
    assert!(errors(&kernel("%a: !pto.ptr<f32>", &body), "a2a3").is_empty());
    let body =
        format!("%t = pto.alloc_tile : {VEC}\n%l = pto.alloc_tile : {l1}\n pto.tmov ins(%t : {VEC}) outs(%l : {l1})");
    assert_eq!(error("a2a3", "", &body), "no tile moves from `vec` to `mat` on a2a3");
    assert!(errors(&kernel("", &body), "a5").is_empty());
    let acc = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>";
    let body = format!(
        "%t = pto.alloc_tile : {acc}\n%l = pto.alloc_tile : {l1}\n pto.tinsert ins(%t, %c0, %c0 : {acc}, index, index) outs(%l : {l1})"
    );
    assert_eq!(error("a2a3", "", &body), "expects A2/A3 tinsert element types to be src=f32, dst=f16/bf16");
    assert!(errors(&kernel("", &body), "a5").is_empty());
}

#[test]
fn products_that_do_not_fit() {
    let body = |b: &str, bty: &str, cty: &str| {
        format!(
            "%a = pto.alloc_tile : !pto.tile_buf<left, 16x32x{bty}, blayout=col_major, slayout=row_major>
             %b = pto.alloc_tile : !pto.tile_buf<right, {b}x{bty}, blayout=row_major, slayout=col_major>
             %c = pto.alloc_tile : !pto.tile_buf<acc, 16x16x{cty}, blayout=col_major, slayout=row_major, fractal=1024>
             pto.tmatmul ins(%a, %b : !pto.tile_buf<left, 16x32x{bty}, blayout=col_major, slayout=row_major>, \
               !pto.tile_buf<right, {b}x{bty}, blayout=row_major, slayout=col_major>) \
               outs(%c : !pto.tile_buf<acc, 16x16x{cty}, blayout=col_major, slayout=row_major, fractal=1024>)"
        )
    };
    assert_eq!(error("a5", "", &body("64x16", "f16", "f32")), "expects lhs columns (32) to match rhs rows (64)");
    assert_eq!(error("a5", "", &body("32x32", "f16", "f32")), "expects rhs columns (32) to match dst columns (16)");
    assert_eq!(error("a5", "", &body("32x16", "i16", "i32")), "no product of i16 and i16 into i32");
    assert!(errors(&kernel("", &body("32x16", "f16", "f32")), "a5").is_empty());
}

#[test]
fn text_is_printed_as_it_is_read() {
    let body = matrix("a", "f32", 16, 16)
        + &format!(
            r"
  %t = pto.alloc_tile valid_row = %c3 valid_col = %c4 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  %s = pto.subset %t[%c0, %c1] sizes [8, 8] : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  %d = pto.get_tensor_view_dim %a_t, %c1 : !pto.tensor_view<?x?xf32> -> index
  %m = memref.alloc() {{addr = 64}} : memref<4x4xf32, #pto.address_space<vec>>
  %n = memref.reinterpret_cast %g to offset: [%c1, 2], sizes: [4, %c4], strides: [%c4, 1] : memref<16xf32, #pto.address_space<gm>> to memref<4x?xf32, strided<[?, 1], offset: ?>, #pto.address_space<gm>>
  %x = pto.tgetval ins(%t, %c3 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>, index) outs : f32
  pto.store_scalar %x, %a[%c3] : !pto.ptr<f32>, f32
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>) outs(%a_w : {}) {{atomicType = #pto<atomic_type atomic_add>}}",
            part("f32", &[16, 16])
        );
    let source = kernel("%a: !pto.ptr<f32>, %g: memref<16xf32, #pto.address_space<gm>>", &body);
    let platform = built_in("a5").unwrap();
    let (module, diags) = check(&source, &platform);
    assert!(!diags.has_errors(), "{}", diags.render(&module.source, false));
    let printed = text::print(&module);
    let (again, diags) = check(&printed, &platform);
    assert!(!diags.has_errors(), "{printed}\n{}", diags.render(&again.source, false));
    assert_eq!(text::print(&again), printed);
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains("atomicType")) {
        assert!(printed.contains(&line.replace("  ", " ")), "`{line}` is not in\n{printed}");
    }
}

#[test]
fn generic_forms_name_every_operand_once() {
    for schema in Dialects::get().all().iter().map(|def| &def.schema).filter(|schema| !schema.generic.is_empty()) {
        let mut places = schema.generic_order();
        places.sort_unstable();
        assert_eq!(places, (0..schema.operands.len()).collect::<Vec<_>>(), "{}", schema.name);
    }
}
