//! Products computed in steps over k give the same bytes as products in one step, for any capacity of L0A and L0B.

use proptest::prelude::*;
use slipring_ir::text::print;
use slipring_ir::{Diags, Module};
use slipring_machine::{Platform, built_in};
use slipring_op::Decoding;
use slipring_passes::{Outcome, PassContext, run_passes};

use super::kit::{read, run};

/// C = A × B or A × Bᵀ + A × B of f16, in a loop if `trips` says so.
fn kernel([m, k, n]: [u32; 3], turned: bool, again: bool, trips: Option<u32>) -> String {
    let deep = k.next_multiple_of(16);
    let nz = "blayout=col_major, slayout=row_major";
    let zn = "blayout=row_major, slayout=col_major";
    let (gm_b, shape, valid) = if turned { ([n, k], [n, deep], [n, k]) } else { ([k, n], [deep, n], [k, n]) };
    let types = [
        format!("!a = !pto.tile_buf<mat, {m}x{deep}xf16, valid={m}x{k}, {nz}>"),
        format!("!b = !pto.tile_buf<mat, {}x{}xf16, valid={}x{}, {nz}>", shape[0], shape[1], valid[0], valid[1]),
        format!("!bt = !pto.tile_buf<mat, {deep}x{n}xf16, valid={k}x{n}, {zn}>"),
        format!("!l = !pto.tile_buf<left, {m}x{deep}xf16, valid={m}x{k}, {nz}>"),
        format!("!r = !pto.tile_buf<right, {deep}x{n}xf16, valid={k}x{n}, {zn}>"),
        format!("!c = !pto.tile_buf<acc, {m}x{n}xf32, {nz}, fractal=1024>"),
    ];
    let (ga, gb, gc) = (
        format!("memref<{m}x{k}xf16>"),
        format!("memref<{}x{}xf16>", gm_b[0], gm_b[1]),
        format!("memref<{m}x{n}xf32>"),
    );
    let (reshape, b, tb) = if turned { ("%t = pto.treshape %b : !b -> !bt\n", "%t", "!bt") } else { ("", "%b", "!b") };
    let more = if again { "pto.tmatmul.acc ins(%c, %left, %right : !c, !l, !r) outs(%c : !c)\n" } else { "" };
    let (head, tail) = match trips {
        Some(n) => (format!("%n = arith.constant {n} : index\nscf.for %i = %c0 to %n step %c1 {{\n"), "}\n"),
        None => (String::new(), ""),
    };
    format!(
        "{}\nfunc.func @product(%x: {ga}, %y: {gb}, %z: {gc}) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{\n\
         %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n\
         %a = pto.alloc_tile : !a\n%b = pto.alloc_tile : !b\n%left = pto.alloc_tile : !l\n%right = pto.alloc_tile : !r\n\
         %c = pto.alloc_tile : !c\n\
         pto.tload ins(%x : {ga}) outs(%a : !a)\npto.tmov ins(%a : !a) outs(%left : !l)\n{head}\
         pto.tload ins(%y : {gb}) outs(%b : !b)\n{reshape}pto.tmov ins({b} : {tb}) outs(%right : !r)\n\
         pto.tmatmul ins(%left, %right : !l, !r) outs(%c : !c)\n{more}{tail}\
         pto.tstore ins(%c : !c) outs(%z : {gc})\nreturn\n}}\n",
        types.join("\n")
    )
}

/// The contents of the result after a run.
fn result(module: &Module, platform: &Platform, mode: Decoding, [m, k, n]: [u32; 3]) -> Result<Vec<u8>, TestCaseError> {
    // f16 numbers from 1 to 2 with full mantissas, so that sums round differently in another order.
    let numbers = |count: u32, seed: u32| -> Vec<u8> {
        let bits = |i: u32| 0x3c00 | (i.wrapping_mul(2_654_435_761).wrapping_add(seed * 977) >> 13 & 0x3ff) as u16;
        (0..count).flat_map(|i| bits(i).to_le_bytes()).collect()
    };
    let buffers = [numbers(m * k, 1), numbers(k * n, 2), vec![0; (m * n * 4) as usize]];
    Ok(run(module, platform, mode, buffers, &[])?.0.remove(2))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn bytes_do_not_depend_on_the_steps(
        fractals in [1u32..5, 1u32..5],
        k in 1u32..300,
        (turned, again, a5) in any::<(bool, bool, bool)>(),
        trips in prop::option::of(1u32..3),
        kilobytes in [4u64..32, 4u64..32],
    ) {
        let shape = [16 * fractals[0], k, 16 * fractals[1]];
        let mut platform = built_in(if a5 { "a5" } else { "a2a3" }).unwrap();
        platform.space.get_mut("left").unwrap().bytes = kilobytes[0] * 1024;
        platform.space.get_mut("right").unwrap().bytes = kilobytes[1] * 1024;
        let written = read(&kernel(shape, turned, again, trips), &platform)?;
        let mut module = written.clone();
        let mut diags = Diags::default();
        let outcome = run_passes(&mut module, &PassContext::of(&platform), None, &mut diags, |_, _| {});
        prop_assert!(outcome == Outcome::Done, "{}", diags.render(&written.source, false));
        let found = result(&module, &platform, Decoding::Device, shape)?;
        prop_assert!(found == result(&written, &platform, Decoding::Reference, shape)?, "{}", print(&module));
    }
}
