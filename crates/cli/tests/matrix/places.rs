//! Elements selected by indices, by a pattern or by a comparison.

use crate::dice::Dice;
use crate::matrix::numbers::Ty;
use crate::matrix::run::Tile;
use crate::matrix::{Matrix, each, reference, tile};

const ARCHS: [&str; 2] = ["a5", "a2a3"];

/// Numbers below `limit`, the same in every run, in a separate tile.
fn numbers(ty: Ty, shape: [usize; 2], valid: [usize; 2], limit: usize, seed: u64) -> Tile {
    let mut dice = Dice::new(seed);
    Tile { ty, shape, valid, data: (0..shape[0] * shape[1]).map(|_| dice.below(limit as u64)).collect() }
}

/// Whether only the A5 supports elements of this type, or indices of this type, in a gather by index.
fn only_a5(ty: &str, index: &str) -> bool {
    ty.ends_with("i8") || index.ends_with("16")
}

#[test]
fn gathers_by_index() {
    let mut matrix = Matrix::new();
    for arch in ARCHS {
        for (ty, index) in ["i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "f32"]
            .into_iter()
            .flat_map(|ty| ["i32", "ui32", "i16", "ui16"].map(|index| (ty, index)))
            .filter(|(ty, index)| arch == "a5" || !only_a5(ty, index))
        {
            let (ty, index) = (Ty(ty), Ty(index));
            // A destination with another shape than the source, with invalid rows.
            let cols = 64 / ty.bytes();
            let src = tile(ty, 3, 96, [2, 5], 1);
            let dst = tile(ty, 5, 64, [4, cols], 2);
            let indices = numbers(index, [5, cols], [4, cols], src.data.len(), 3);
            let tmp = numbers(index, [5, cols], [4, cols], 9, 4);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                for (i, j) in each(tiles[3].valid) {
                    out[i * cols + j] = tiles[0].data[tiles[1].data[i * cols + j] as usize];
                }
            };
            let text = "  pto.tgather ins(%t0, %t1, %t2 : !t0, !t1, !t2) outs(%t3 : !t3)";
            matrix.case_with(arch, text, vec![src, indices, tmp, dst], 3, &expect, &[2]);
        }
    }
    matrix.done();
}

#[test]
fn gathers_by_pattern() {
    let mut matrix = Matrix::new();
    let types = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2"];
    for (arch, ty) in ARCHS.into_iter().flat_map(|arch| types.map(|ty| (arch, Ty(ty)))) {
        if arch == "a2a3" && ty.bytes() == 1 {
            continue;
        }
        for pattern in ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"] {
            // The digits, from right to left, correspond to the columns.
            let kept: Vec<bool> = pattern[1..].bytes().rev().map(|digit| digit == b'1').collect();
            let src = tile(ty, 3, 96, [3, 21], 5);
            let dst = tile(ty, 3, 96, [3, 999], 6);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                let picked =
                    each(tiles[0].valid).filter(|(_, j)| kept[j % 4]).map(|(i, j)| tiles[0].data[i * cols + j]);
                for (place, element) in out.iter_mut().zip(picked) {
                    *place = element;
                }
            };
            let text =
                format!("  pto.tgather ins(%t0, {{maskPattern = #pto.mask_pattern<{pattern}>}} : !t0) outs(%t1 : !t1)");
            matrix.case(arch, &text, vec![src, dst], 1, &expect);
        }
    }
    matrix.done();
}

#[test]
fn gathers_by_comparison() {
    let mut matrix = Matrix::new();
    for (arch, ty) in
        ARCHS.into_iter().flat_map(|arch| ["i16", "ui16", "i32", "ui32", "f16", "f32"].map(|ty| (arch, Ty(ty))))
    {
        if arch == "a2a3" && ty.bits() == 16 && !ty.is_float() {
            continue;
        }
        for (mode, counts, offset) in [("eq", true, 0), ("gt", false, 7)] {
            if arch == "a2a3" && mode == "gt" && !ty.is_float() {
                continue;
            }
            let src = tile(ty, 3, 96, [3, 21], 11);
            let cols = src.shape[1];
            let finite =
                |bits: &&u64| !matches!(ty.decode(**bits), crate::matrix::numbers::Value::Float(x) if !x.is_finite());
            let number = *src.data.iter().filter(finite).nth(4).unwrap();
            let pitch = if arch == "a5" { 64 } else { cols };
            let found: Vec<Vec<u64>> = (0..3)
                .map(|i| {
                    let holds = |j: &usize| reference::compare(mode, ty, src.data[i * cols + j], number);
                    (0..21).filter(holds).map(|j| (offset + i * pitch + j) as u64).collect()
                })
                .collect();
            let (dst, cdst) = (tile(Ty("i32"), 3, 96, [3, 24], 12), tile(Ty("i32"), 1, 32, [1, 8], 13));
            let tmp = tile(ty, 4, 32, [4, 999], 14);
            let expect = |_: &[Tile], out: &mut [u64]| match counts {
                true => out.iter_mut().zip(&found).for_each(|(count, row)| *count = row.len() as u64),
                false => {
                    for (i, row) in found.iter().enumerate() {
                        out[24 * i..][..row.len()].copy_from_slice(row);
                    }
                }
            };
            let text = format!(
                "  %number = arith.constant {} : {}\n  pto.tgather ins(%t0, %number, %t1 {{cmpMode = #pto<cmp {mode}>, \
                 offset = {offset} : i32}} : !t0, {1}, !t1) outs(%t2, %t3 : !t2, !t3)",
                reference::literal(ty, number),
                ty.0
            );
            let (out, other) = if counts { (3, 2) } else { (2, 3) };
            matrix.case_with(arch, &text, vec![src.clone(), tmp, dst, cdst], out, &expect, &[1, other]);
        }
    }
    matrix.done();
}

#[test]
fn gathers_of_blocks() {
    let mut matrix = Matrix::new();
    let types = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"];
    for (arch, ty) in ARCHS.into_iter().flat_map(|arch| types.map(|ty| (arch, Ty(ty)))) {
        let block = 32 / ty.bytes();
        let src = tile(ty, 4, 96, [4, 999], 15);
        // Two blocks and a partial one in each row; on the A2/A3 the rest of the repeat is uninitialised.
        let dst = tile(ty, 3, 256, [2, 2 * block + 3], 16);
        let cols = dst.shape[1];
        let mut offsets = numbers(Ty("ui32"), [3, 8], [3, 8], 12, 17);
        offsets.data.iter_mut().for_each(|offset| *offset *= 32);
        let expect = |tiles: &[Tile], out: &mut [u64]| {
            for i in 0..2 {
                for j in 0..cols {
                    let from = tiles[1].data[8 * i + j / block] as usize / ty.bytes() + j % block;
                    match j < 2 * block + 3 {
                        true => out[i * cols + j] = tiles[0].data[from],
                        false if arch == "a2a3" => out[i * cols + j] = 0x7b7b_7b7b & ty.mask(),
                        false => {}
                    }
                }
            }
        };
        let text = "  pto.tgatherb ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)";
        matrix.case(arch, text, vec![src, offsets, dst], 2, &expect);
    }
    matrix.done();
}

#[test]
fn scatters() {
    let mut matrix = Matrix::new();
    let types = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"];
    for (arch, ty) in ARCHS.into_iter().flat_map(|arch| types.map(|ty| (arch, Ty(ty)))) {
        for sign in ["i", "ui"] {
            let index = Ty(match (sign, ty.bytes()) {
                ("i", 4) => "i32",
                ("ui", 4) => "ui32",
                ("i", _) => "i16",
                _ => "ui16",
            });
            let src = tile(ty, 3, 64, [3, 999], 18);
            let dst = tile(ty, 4, 96, [3, 64], 19);
            let width = 64 / ty.bytes().max(2);
            // Fewer positions than elements: the last one wins.
            let indices = numbers(index, [3, width], [2, 7], dst.data.len() / 2, 20);
            let cols = src.shape[1];
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                out.fill(0);
                for (i, j) in each(tiles[1].valid) {
                    out[tiles[1].data[i * width + j] as usize] = tiles[0].data[i * cols + j];
                }
            };
            let text = "  pto.tscatter ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)";
            matrix.case(arch, text, vec![src, indices, dst], 2, &expect);
        }
    }
    matrix.done();
}

#[test]
fn gathers_from_global_memory() {
    let mut matrix = Matrix::new();
    let types = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2"];
    for (arch, ty) in ARCHS.into_iter().flat_map(|arch| types.map(|ty| (arch, Ty(ty)))) {
        if arch == "a2a3" && ty.0.starts_with("f8") {
            continue;
        }
        for (by_row, outside) in [(true, ""), (false, ""), (true, "clamp"), (false, "wrap"), (true, "zero")] {
            if arch == "a2a3" && !outside.is_empty() {
                continue;
            }
            let (mem, dst) = (tile(ty, 5, 64, [5, 999], 61), tile(ty, 4, 96, [3, 9], 62));
            let (width, cols) = (mem.shape[1], dst.shape[1]);
            let places = if by_row { 5 } else { mem.data.len() };
            let limit = if outside.is_empty() { places } else { 2 * places };
            let shape = if by_row { [4, 8] } else { [4, 16] };
            let indices = numbers(Ty("i32"), shape, [3, if by_row { 1 } else { 9 }], limit, 63);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                for (i, j) in each([3, 9]) {
                    let index = tiles[1].data[i * shape[1] + if by_row { 0 } else { j }] as usize;
                    let place = match outside {
                        "clamp" => Some(index.min(places - 1)),
                        "wrap" => Some(index % places),
                        _ => Some(index).filter(|index| *index < places),
                    };
                    let from = |place: usize| tiles[0].data[if by_row { place * width + j } else { place }];
                    out[i * cols + j] = place.map_or(0, from);
                }
            };
            let attr =
                if outside.is_empty() { String::new() } else { format!(" {{gatherOob = #pto<gather_oob {outside}>}}") };
            let text = format!(
                "  pto.mgather ins(%view0, %t1 : !pto.partition_tensor_view<5x{width}x{}>, !t1) outs(%t2 : !t2){attr}",
                ty.0
            );
            matrix.case(arch, &text, vec![mem, indices, dst], 2, &expect);
        }
    }
    matrix.done();
}

#[test]
fn histograms() {
    let mut matrix = Matrix::new();
    for (upper, seed) in [(true, 71), (false, 72)] {
        let src =
            Tile { data: numbers(Ty("ui16"), [2, 48], [2, 41], 700, seed).data, ..tile(Ty("ui16"), 2, 96, [2, 41], 1) };
        let src = Tile { data: src.data.iter().map(|n| n % 0x2c0).collect(), ..src };
        let dst = tile(Ty("ui32"), 2, 1024, [2, 256], 73);
        let expect = |tiles: &[Tile], out: &mut [u64]| {
            for (i, bin) in each([2, 256]) {
                let row = tiles[0].data[48 * i..][..41].iter();
                let selected = row.filter(|value| upper || **value >> 8 == 1);
                out[256 * i + bin] = selected
                    .filter(|value| (if upper { **value >> 8 } else { **value & 255 }) <= bin as u64)
                    .count() as u64;
            }
        };
        let text = format!(
            "  %at = arith.constant 16384 : i64\n  %ones_at = arith.constant 16384 : i64\n  %one = arith.constant 257 : i16\n  \
             %ones = pto.alloc_tile addr = %ones_at : !pto.tile_buf<vec, 1x16xi16>\n  \
             pto.texpands ins(%one : i16) outs(%ones : !pto.tile_buf<vec, 1x16xi16>)\n  pto.barrier #pto.pipe<PIPE_ALL>\n  \
             %idx = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 2x1xui8, blayout=col_major>\n  \
             pto.thistogram ins(%t0, %idx : !t0, !pto.tile_buf<vec, 2x1xui8, blayout=col_major>) outs(%t1 : !t1) {{isMSB = {upper}}}"
        );
        matrix.case("a5", &text, vec![src, dst], 1, &expect);
    }
    matrix.done();
}

/// The nearest integer, ties to even, of at most 8 bits.
fn to_byte(x: f32, low: f32, high: f32) -> u64 {
    let whole = if x.is_nan() { 0.0 } else { x.round_ties_even().clamp(low, high) };
    (whole as i64) as u64 & 0xff
}

#[test]
fn quantisation_and_back() {
    let mut matrix = Matrix::new();
    let single = |bits: u64| f32::from_bits(bits as u32);
    for arch in ARCHS {
        for (kind, ty) in [("INT8_SYM", Ty("i8")), ("INT8_ASYM", Ty("ui8"))] {
            for block in [false, true] {
                if block && arch == "a5" {
                    continue;
                }
                let src = tile(Ty("f32"), 3, 160, [3, 37], 81);
                // Numbers around the bounds of a byte among the extremes.
                let data = src.data.iter().enumerate().map(|(at, bits)| match at % 3 {
                    0 => *bits,
                    _ => u64::from((at as f32 * 3.25 - 180.0).to_bits()),
                });
                let src = Tile { data: data.collect(), ..src.clone() };
                let few = |seed| {
                    let mut few = tile(Ty("f32"), 8, 32, [8, if block { 8 } else { 1 }], seed);
                    few.data =
                        (0..64).map(|at| u64::from((at as f32 * 0.125 + seed as f32 / 100.0).to_bits())).collect();
                    few
                };
                let (scale, offset, dst) = (few(82), few(83), tile(ty, 3, 64, [3, 37], 84));
                let number = move |tile: &Tile, i: usize, j: usize| match (arch, block) {
                    ("a5", _) => single(tile.data[i]),
                    (_, true) => single(tile.data[8 * i + j % 8]),
                    _ => single(tile.data[8 * i]),
                };
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    for (i, j) in each([3, 37]) {
                        let x = single(tiles[0].data[40 * i + j]) * number(&tiles[1], i, j);
                        out[64 * i + j] = match kind {
                            "INT8_SYM" => to_byte(x, -128.0, 127.0),
                            _ => to_byte(x + number(&tiles[2], i, j), 0.0, 255.0),
                        };
                    }
                };
                let (more, types) = if kind == "INT8_SYM" { ("", "") } else { (", %t2", ", !t2") };
                let text = format!(
                    "  pto.tquant ins(%t0, %t1{more} : !t0, !t1{types}) outs(%t3 : !t3) {{quant_type = #pto<quant_type {kind}>}}"
                );
                let any: &[usize] = if arch == "a5" { &[] } else { &[0] };
                matrix.case_with(arch, &text, vec![src, scale, offset, dst], 3, &expect, any);
            }
        }
        for ty in [Ty("i8"), Ty("i16")] {
            let src = tile(ty, 3, 96, [3, 37], 91);
            let few = |seed| tile(Ty("f32"), 3, 32, [3, 1], seed);
            let dst = tile(Ty("f32"), 3, 160, [3, 37], 94);
            let width = src.shape[1];
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                for (i, j) in each([3, 37]) {
                    let crate::matrix::numbers::Value::Int(x) = ty.decode(tiles[0].data[width * i + j]) else {
                        unreachable!()
                    };
                    let result = (x as f32 - single(tiles[2].data[8 * i])) * single(tiles[1].data[8 * i]);
                    out[40 * i + j] = if result.is_nan() { 0x7fc0_0000 } else { u64::from(result.to_bits()) };
                }
            };
            let text = "  pto.tdequant ins(%t0, %t1, %t2 : !t0, !t1, !t2) outs(%t3 : !t3)";
            matrix.case(arch, text, vec![src, few(92), few(93), dst], 3, &expect);
        }
    }
    matrix.done();
}
