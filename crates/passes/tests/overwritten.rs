//! Buffers that are overwritten before they are read.

use std::sync::Arc;

use slipring_dialects::Dialects;
use slipring_ir::Source;
use slipring_ir::text::parse;

use slipring_passes::memory::allocate::check::{Clash, inspect};

#[test]
fn deep_nests_are_followed_to_their_end() {
    // A walk for each walk of the loop around would be 2^60 of them. In the innermost loop %a is overwritten; the
    // read stands in the outermost, before it.
    let open: String = (0..60).map(|i| format!("scf.for %i{i} = %c0 to %c1 step %c1 {{\n")).collect();
    let text = format!(
        "func.func @deep() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n\
         %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%z = arith.constant 0 : i64\n\
         %x = arith.constant 1.0 : f32\n\
         %a = pto.alloc_tile addr = %z : !pto.tile_buf<vec, 8x8xf32>\n\
         %b = pto.alloc_tile addr = %z : !pto.tile_buf<vec, 8x8xf32>\n\
         pto.texpands ins(%x : f32) outs(%a : !pto.tile_buf<vec, 8x8xf32>)\n\
         scf.for %k = %c0 to %c1 step %c1 {{\n\
         pto.tprint ins(%a : !pto.tile_buf<vec, 8x8xf32>)\n{open}\
         pto.texpands ins(%x : f32) outs(%b : !pto.tile_buf<vec, 8x8xf32>)\n{}}}\nreturn\n}}\n",
        "}\n".repeat(60)
    );
    let (module, diags) = parse(Arc::new(Source::new("deep.pto", text)), &Dialects::get().registry);
    assert!(!diags.has_errors(), "{}", diags.render(&module.source, false));
    let platform = slipring_machine::built_in("a5").expect("a built-in platform");
    let found = inspect(&module, &platform);
    assert_eq!(found.losses.len(), 1);
    assert!(matches!(found.clashes.iter().collect::<Vec<_>>()[..], [Clash::Overwritten { .. }]));
}
