//! Conversions between all types × rounding × saturation × platform.

use crate::matrix::numbers::Ty;
use crate::matrix::run::Tile;
use crate::matrix::{Matrix, each, reference, tile};

/// Types of both platforms.
const COMMON: [&str; 10] = ["f32", "f16", "bf16", "i64", "i32", "ui32", "i16", "ui16", "i8", "ui8"];
/// Floats that only the A5 has.
const SMALL: [&str; 2] = ["f8E4M3FN", "f8E5M2"];
const MODES: [&str; 8] = ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD", "NONE", "CAST_RINT"];

#[test]
fn conversions() {
    // The bits of a NaN are unspecified.
    let mut matrix = Matrix { any_nan: true, ..Matrix::new() };
    let types: Vec<Ty> = COMMON.into_iter().chain(SMALL).map(Ty).collect();
    let pairs = || types.iter().flat_map(|from| types.iter().map(move |to| (*from, *to)));
    for (from, to) in pairs().filter(|(from, to)| from != to || from.0 == "f32") {
        let is_small = |ty: Ty| SMALL.contains(&ty.0);
        for (mode, saturate) in MODES.into_iter().flat_map(|mode| [(mode, true), (mode, false)]) {
            for arch in ["a5", "a2a3"] {
                let short = is_small(from) || is_small(to);
                // The A5 converts short floats by way of f32.
                if short && (arch == "a2a3" || (from.0 != "f32" && to.0 != "f32")) {
                    continue;
                }
                let cols = 32;
                let src = tile(from, 3, cols * from.bytes(), [3, 29], 21);
                let dst = tile(to, 3, cols * to.bytes(), [3, 29], 22);
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                        out[at] = reference::convert(mode, saturate, from, to, tiles[0].data[at]);
                    }
                };
                let text = format!(
                    "  pto.tcvt ins(%t0 {{rmode = #pto<round_mode {mode}>, sat_mode = #pto<saturation_mode {}>}} : !t0) outs(%t1 : !t1)",
                    if saturate { "ON" } else { "OFF" }
                );
                matrix.case(arch, &text, vec![src, dst], 1, &expect);
            }
        }
    }
    matrix.done();
}
