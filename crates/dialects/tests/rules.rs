//! The text of moves is printed as it is read, and generic forms have every operand.

use crate::common;

use common::{check, kernel, matrix, part};
use slipring_dialects::Dialects;
use slipring_ir::text;
use slipring_machine::built_in;

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
