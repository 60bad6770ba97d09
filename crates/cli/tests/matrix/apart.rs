//! Types without arithmetic: HiFloat8, block scales, pairs of 4-bit floats, 64-bit integers. The declarations state
//! which operations support them. Moves are tested here, conversions of `ui64` too; conversions of all other short
//! types are compared code by code with other libraries (`crates/tile/src/convert`), and block products have their own
//! files (`tests/files/ops`).

use std::collections::BTreeSet;

use slipring_dialects::Dialects;
use slipring_machine::built_in;
use slipring_op::{CoreRule, OpDef};
use slipring_tile::Elem;

use super::numbers::{Ty, Value};
use super::run::Tile;
use super::{Matrix, each, reference, tile};

/// The operations of the vector unit that declare a type for one of their tiles, on the A5 and on the A2/A3. Packing,
/// transposing and gathering move bits; operations that accept the type without declaring it move bytes and only need
/// the size. Products name pairs of types: of these, 4-bit floats with scales.
const KNOWN: &[(Elem, &str, &str)] = &[
    (Elem::HiF8, "pto.tcvt pto.tpack pto.ttrans pto.tgather pto.tgatherb pto.mgather pto.mscatter", "pto.tgatherb"),
    (Elem::F8E8M0, "pto.tcvt pto.tpack", ""),
    (Elem::F4E2M1x2, "pto.tcvt pto.tpack", ""),
    (Elem::F4E1M2x2, "pto.tcvt pto.tpack", ""),
    (Elem::I64, "pto.tcvt pto.tpack pto.ttri", "pto.tcvt"),
    (Elem::U64, "pto.tcvt pto.tpack pto.ttri", "pto.tcvt"),
];

/// Operations that accept all types of a platform, to and from global memory.
const MOVES: [&str; 3] = ["pto.tload", "pto.tprefetch", "pto.tstore"];

#[test]
fn nothing_computes_with_them() {
    let mut wrong = Vec::new();
    for (elem, registers, memory) in KNOWN {
        for (arch, known) in [("a5", registers), ("a2a3", memory)] {
            let platform = built_in(arch).unwrap();
            let takes = |def: &&&OpDef| {
                def.core != CoreRule::Cube
                    && !MOVES.contains(&def.schema.name)
                    && def.elems.iter().any(|rule| rule.on(&platform).contains(elem))
            };
            let ops: BTreeSet<&str> = Dialects::get().all().iter().filter(takes).map(|def| def.schema.name).collect();
            if ops != known.split_whitespace().collect() {
                wrong.push(format!("{elem} on {arch}: {ops:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Arbitrary bits: moves do not interpret them.
fn bits(ty: Ty, rows: usize, bytes: usize, valid: [usize; 2], seed: u64) -> Tile {
    let plain = tile(Ty(["ui8", "", "", "", "", "", "", "ui64"][ty.bytes() - 1]), rows, bytes, valid, seed);
    Tile { ty, ..plain }
}

const BYTES: [Ty; 4] = [Ty("!pto.hif8"), Ty("f8E8M0FNU"), Ty("!pto.f4E2M1x2"), Ty("!pto.f4E1M2x2")];
const LONG: [Ty; 2] = [Ty("i64"), Ty("ui64")];

#[test]
fn they_are_moved_as_they_are() {
    let mut matrix = Matrix::new();
    let cases =
        BYTES.map(|ty| ("a5", ty)).into_iter().chain(LONG.into_iter().flat_map(|ty| [("a5", ty), ("a2a3", ty)]));
    for (arch, ty) in cases {
        let (src, dst) = (bits(ty, 3, 96, [3, 7], 31), bits(ty, 3, 96, [3, 7], 32));
        let same = |tiles: &[Tile], out: &mut [u64]| {
            let cols = tiles[0].shape[1];
            each(tiles[0].valid).map(|(i, j)| i * cols + j).for_each(|at| out[at] = tiles[0].data[at]);
        };
        matrix.case(arch, "  pto.tmov ins(%t0 : !t0) outs(%t1 : !t1)", vec![src, dst], 1, &same);
    }
    let hif8 = Ty("!pto.hif8");
    let (src, dst) = (bits(hif8, 32, 32, [29, 11], 33), bits(hif8, 32, 32, [11, 29], 34));
    let turned =
        |tiles: &[Tile], out: &mut [u64]| each([11, 29]).for_each(|(i, j)| out[32 * i + j] = tiles[0].data[32 * j + i]);
    matrix.case("a5", "  pto.ttrans ins(%t0 : !t0) outs(%t1 : !t1)", vec![src, dst], 1, &turned);
    matrix.done();
}

/// The integral value of a float, rounded in this mode.
fn whole(mode: &str, x: f64) -> f64 {
    match mode {
        "ROUND" => x.round(),
        "FLOOR" => x.floor(),
        "CEIL" => x.ceil(),
        "TRUNC" => x.trunc(),
        _ => x.round_ties_even(),
    }
}

#[test]
fn conversions_of_long_unsigned_integers() {
    let mut matrix = Matrix { any_nan: true, ..Matrix::new() };
    let long = Ty("ui64");
    let others = ["f32", "f16", "bf16", "i64", "i32", "ui32", "i16", "ui16", "i8", "ui8"].map(Ty);
    let modes = ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"];
    for (arch, other) in ["a5", "a2a3"].into_iter().flat_map(|arch| others.map(|other| (arch, other))) {
        for (mode, saturate) in modes.into_iter().flat_map(|mode| [(mode, true), (mode, false)]) {
            let attrs = format!(
                "{{rmode = #pto<round_mode {mode}>, sat_mode = #pto<saturation_mode {}>}}",
                if saturate { "ON" } else { "OFF" }
            );
            let text = format!("  pto.tcvt ins(%t0 {attrs} : !t0) outs(%t1 : !t1)");
            let out_of = |bits: u64| match (other.is_float(), saturate) {
                // The upper half of the range: a sticky bit represents everything that a float cannot hold.
                (true, _) if bits >> 63 == 1 => {
                    let value = (bits >> 11 | u64::from(bits & 0x7ff != 0)) as f64 * 2048.0;
                    reference::convert(mode, saturate, Ty("f64"), other, value.to_bits())
                }
                (true, _) => reference::convert(mode, saturate, Ty("i64"), other, bits),
                (false, true) => bits.min(other.most() as u64),
                (false, false) => bits & other.mask(),
            };
            let (src, dst) = (tile(long, 3, 256, [3, 29], 41), tile(other, 3, 32 * other.bytes(), [3, 29], 42));
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                each([3, 29]).map(|(i, j)| i * 32 + j).for_each(|at| out[at] = out_of(tiles[0].data[at]));
            };
            matrix.case(arch, &text, vec![src, dst], 1, &expect);
            let into = |bits: u64| match other.decode(bits) {
                Value::Int(n) if saturate => n.max(0) as u64,
                Value::Int(n) => n as u64,
                Value::Float(x) if x.is_nan() => 0,
                // With 64 bits there is no wider type from which to truncate: it always saturates.
                Value::Float(x) => whole(mode, x) as u64,
            };
            let (src, dst) = (tile(other, 3, 32 * other.bytes(), [3, 29], 43), tile(long, 3, 256, [3, 29], 44));
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                each([3, 29]).map(|(i, j)| i * 32 + j).for_each(|at| out[at] = into(tiles[0].data[at]));
            };
            matrix.case(arch, &text, vec![src, dst], 1, &expect);
        }
    }
    matrix.done();
}
