//! Sorting and merging: records of 8 bytes, an element and an index.

use crate::matrix::Matrix;
use crate::matrix::numbers::{Ty, Value, elements};
use crate::matrix::run::Tile;

/// The sort key of an element, largest first: NaN before all others or, with the sign set, after all.
fn place(ty: Ty, bits: u64) -> f64 {
    let Value::Float(x) = ty.decode(bits) else { unreachable!() };
    let negative = bits >> (ty.bits() - 1) & 1 == 1;
    match (x.is_nan(), negative) {
        (true, true) => f64::MAX,
        (true, false) => f64::MIN,
        // Zeros are equal.
        _ => -x.clamp(-1e300, 1e300) + 0.0,
    }
}

/// The elements that represent a record.
fn record(ty: Ty, element: u64, index: u64) -> Vec<u64> {
    if ty.bytes() == 4 { vec![element, index] } else { vec![element, 0, index & 0xffff, index >> 16] }
}

/// The record's element and index.
fn parts(ty: Ty, record: &[u64]) -> (u64, u64) {
    (record[0], if ty.bytes() == 4 { record[1] } else { record[2] | record[3] << 16 })
}

#[test]
fn sorting_groups() {
    let mut matrix = Matrix::new();
    for (arch, ty) in ["a5", "a2a3"].into_iter().flat_map(|arch| ["f16", "f32"].map(|ty| (arch, Ty(ty)))) {
        // One row of indices for all rows, or one for each; complete groups, or a partial one with and without scratch
        // tile.
        for (lines, valid, filled) in [(1, 64, false), (3, 64, true), (3, 45, true), (3, 45, false)] {
            let width = 8 / ty.bytes();
            let src = Tile { ty, shape: [3, 64], valid: [3, valid], data: elements(ty, 192, 31) };
            let indices: Vec<u64> = (0..64 * lines as u64).map(|n| 0x10_0000 + 7 * n).collect();
            let idx = Tile { ty: Ty("ui32"), shape: [lines, 64], valid: [lines, 64], data: indices };
            let dst = Tile { ty, shape: [3, 64 * width], valid: [2, 64 * width], data: elements(ty, 192 * width, 32) };
            let tmp = Tile { ty, shape: [1, 64], valid: [1, 64], data: elements(ty, 64, 33) };
            let last = if ty.bytes() == 4 { 0xffc0_0000 } else { 0xfe00 };
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let groups = if filled { valid.div_ceil(32) } else { valid / 32 };
                for (row, group) in (0..2).flat_map(|row| (0..groups).map(move |group| (row, group))) {
                    let at = |j: usize| (32 * group + j, 64 * row + 32 * group + j);
                    let element = |j: usize| if at(j).0 < valid { tiles[0].data[at(j).1] } else { last };
                    let mut order: Vec<usize> = (0..32).collect();
                    order.sort_by(|a, b| place(ty, element(*a)).total_cmp(&place(ty, element(*b))));
                    for (k, j) in order.into_iter().enumerate() {
                        let index = tiles[1].data[at(j).0 + if lines == 1 { 0 } else { 64 * row }];
                        let to = 64 * width * row + width * (32 * group + k);
                        out[to..to + width].copy_from_slice(&record(ty, element(j), index));
                    }
                }
            };
            let text = match filled {
                true => "  pto.tsort32 ins(%t0, %t1, %t3 : !t0, !t1, !t3) outs(%t2 : !t2)",
                false => "  pto.tsort32 ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)",
            };
            let tiles = vec![src, idx, dst, tmp];
            matrix.case_with(arch, text, tiles, 2, &expect, &[3]);
        }
    }
    matrix.done();
}

/// Sorted records, as elements of a tile.
fn list(ty: Ty, count: usize, seed: u64) -> Vec<u64> {
    let mut found = elements(ty, count, seed);
    found.sort_by(|a, b| place(ty, *a).total_cmp(&place(ty, *b)));
    found.into_iter().zip(0..).flat_map(|(element, index)| record(ty, element, 100 * seed + index)).collect()
}

/// All records of some lists, stably sorted.
fn merged(ty: Ty, lists: &[&[u64]]) -> Vec<u64> {
    let width = 8 / ty.bytes();
    let mut records: Vec<&[u64]> = lists.iter().flat_map(|list| list.chunks(width)).collect();
    records.sort_by(|a, b| place(ty, parts(ty, a).0).total_cmp(&place(ty, parts(ty, b).0)));
    records.concat()
}

#[test]
fn merging_blocks() {
    let mut matrix = Matrix::new();
    for (arch, ty) in ["a5", "a2a3"].into_iter().flat_map(|arch| ["f16", "f32"].map(|ty| (arch, Ty(ty)))) {
        let count = 64 * ty.bytes() / 8;
        let blocks: Vec<Vec<u64>> = (0..8).map(|block| list(ty, count, 40 + block)).collect();
        let src = Tile { ty, shape: [1, 512], valid: [1, 512], data: blocks.concat() };
        let dst = Tile { ty, shape: [1, 512], valid: [1, 512], data: elements(ty, 512, 39) };
        let expect = |_: &[Tile], out: &mut [u64]| {
            for (four, out) in blocks.chunks(4).zip(out.chunks_mut(256)) {
                out.copy_from_slice(&merged(ty, &four.iter().map(Vec::as_slice).collect::<Vec<_>>()));
            }
        };
        let text = "  %block = arith.constant 64 : i32\n  pto.tmrgsort ins(%t0, %block : !t0, i32) outs(%t1 : !t1)";
        matrix.case(arch, text, vec![src, dst], 1, &expect);
    }
    matrix.done();
}

#[test]
fn merging_lists() {
    let mut matrix = Matrix::new();
    for (arch, ty) in ["a5", "a2a3"].into_iter().flat_map(|arch| ["f16", "f32"].map(|ty| (arch, Ty(ty)))) {
        let width = 8 / ty.bytes();
        for (count, stops) in [(2, false), (3, false), (4, false), (2, true), (4, true)] {
            let lists: Vec<Vec<u64>> = (0..count).map(|at| list(ty, 8 + 4 * at as usize, 50 + at)).collect();
            let mut all = merged(ty, &lists.iter().map(Vec::as_slice).collect::<Vec<_>>());
            if stops {
                // Up to the last record of the list whose last record comes first.
                let ends = lists.iter().map(|list| &list[list.len() - width..]);
                let end = ends.map(|end| all.chunks(width).position(|record| record == end).unwrap()).min().unwrap();
                all.truncate((end + 1) * width);
            }
            // The result has fewer elements than there are.
            let cols = if stops { 64 * width } else { 16 * width };
            let mut tiles: Vec<Tile> = (lists.iter())
                .map(|list| Tile { ty, shape: [1, list.len()], valid: [1, list.len()], data: list.clone() })
                .collect();
            for seed in [60, 61] {
                let data = elements(ty, 64 * width, seed);
                tiles.push(Tile { ty, shape: [1, 64 * width], valid: [1, cols], data });
            }
            let out = tiles.len() - 1;
            let expect = |_: &[Tile], result: &mut [u64]| {
                let copied = all.len().min(cols);
                result[..copied].copy_from_slice(&all[..copied]);
                result[copied..cols].fill(0x7b7b_7b7b & ty.mask());
            };
            let names: Vec<String> = (0..out).map(|at| format!("%t{at}")).collect();
            let types: Vec<String> = (0..out).map(|at| format!("!t{at}")).collect();
            let (list, kinds) = (&names[..out - 1], &types[..out - 1]);
            let made = "  %taken = arith.constant dense<0> : vector<4xi16>\n";
            let forms = [
                format!(
                    "{made}  pto.tmrgsort ins({} {{exhausted = {stops}}} : {}) outs(%t{out}, %taken : !t{out}, vector<4xi16>)",
                    names.join(", "),
                    types.join(", ")
                ),
                format!(
                    "{made}  pto.tmrgsort ins({} {{exhausted = {stops}}} : {}) outs(%t{out}, {}, %taken : !t{out}, {}, vector<4xi16>)",
                    list.join(", "),
                    kinds.join(", "),
                    names[out - 1],
                    types[out - 1]
                ),
            ];
            for text in forms {
                matrix.case_with(arch, &text, tiles.clone(), out, &expect, &[out - 1]);
            }
        }
    }
    matrix.done();
}
