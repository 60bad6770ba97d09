//! Moves declare exactly the bytes that they touch, and move the same elements as a naive loop.

use std::collections::BTreeSet;

use proptest::prelude::*;
use slipring_effect::{Finish, Fold, Folding, GmMove, Strided, Taken, TileMove, TilePlace};
use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Extent, GmBuffer, Memory, Output, Run, Scratch, gm_address, gm_split};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

const ENV: Env = Env { block: 0, core: Role::Aiv0 };
const TILE: u64 = 512;

fn layout() -> impl Strategy<Value = Layout> {
    let elem = prop::sample::select(vec![Elem::I8, Elem::F16, Elem::F32]);
    (elem, 0..6usize, 1..3u32, 1..3u32).prop_map(|(elem, kind, r, c)| {
        let slayout = [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor][kind % 3];
        let blayout = if kind < 3 { BLayout::RowMajor } else { BLayout::ColMajor };
        let mut layout = Layout { elem, rows: 1, cols: 1, blayout, slayout, fractal: 512 };
        let (br, bc) = if slayout == SLayout::NoneBox { (9, 13) } else { layout.box_shape() };
        (layout.rows, layout.cols) = (br * r, bc * c);
        layout
    })
}

/// Extents and strides of a tensor: each dimension is followed by a gap, so that elements do not overlap.
fn tensor() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    prop::collection::vec((1..7u64, 0..3u64), 1..=5).prop_flat_map(|parts| {
        let order: Vec<usize> = (0..parts.len()).collect();
        (Just(parts), Just(order).prop_shuffle()).prop_map(|(parts, order)| {
            let mut strides = vec![0; parts.len()];
            let mut step = 1;
            for dim in order {
                strides[dim] = step;
                step *= parts[dim].0 + parts[dim].1;
            }
            (parts.iter().map(|part| part.0).collect(), strides)
        })
    })
}

/// The bytes that ranges name: of global memory by offset, followed by local memory by address.
fn bytes_of(extents: &[Extent]) -> BTreeSet<u64> {
    let each = extents.iter().flat_map(|e| {
        let base = if e.space == Space::Gm { gm_split(e.start).unwrap().1 as u64 } else { e.start + (1 << 32) };
        (0..e.rows).flat_map(move |row| (0..u64::from(e.row_bytes)).map(move |b| base + u64::from(row) * e.stride + b))
    });
    each.collect()
}

fn memory(fill: u8) -> Memory {
    let mut memory = Memory::with_sizes(1, |_| 1 << 15);
    let pattern = |i: usize| (i * 31 + i / 255) as u8 ^ fill;
    memory.gm.push(GmBuffer { name: "gm".into(), data: (0..1 << 19).map(pattern).collect() });
    let local = memory.bytes_mut(ENV, Role::Aiv0, Space::Vec, 0, 1 << 15);
    local.iter_mut().enumerate().for_each(|(i, byte)| *byte = pattern(i + 77));
    memory
}

fn run(effect: &dyn Effect, args: &[u64], memory: &mut Memory) -> Access {
    let mut access = Access::default();
    effect.plan(args, ENV, &mut access).unwrap();
    effect
        .run(args, Run { env: ENV, memory, scratch: &mut Scratch::default(), output: &mut Output::default() })
        .unwrap();
    access
}

/// The folding of a window without a declared layout: by rows if that fits or if at most two dimensions have more than
/// one index; else as fractals into a tile of fractals, if that fits or the last dimension is a line of a fractal.
fn unsaid(layout: &Layout, dims: &[u64], valid: (u32, u32)) -> Fold {
    let n = dims.len();
    if n < 4 || layout.blayout != BLayout::ColMajor || layout.slayout != SLayout::RowMajor {
        return Fold::Nd;
    }
    let (rows, cols) = (u64::from(valid.0), u64::from(valid.1));
    let all: u64 = dims.iter().product();
    let by_rows = dims[n - 1] == cols && all == rows * cols || dims[..n - 2].iter().all(|d| *d == 1);
    let fractal_rows = dims[n - 3] * dims[n - 2];
    let fractals = fractal_rows == rows && all == rows * cols;
    let line = u64::from(layout.fractal) / 16 / layout.elem.bytes() as u64;
    if !by_rows && (fractals || dims[n - 1] == line) { Fold::Nz } else { Fold::Nd }
}

/// Row and column of an element of a window, by the definition of folding.
fn place(fold: Fold, dims: &[u64], index: &[u64]) -> (u64, u64) {
    let rank = dims.len();
    let (mut row, mut col) = (0, 0);
    for dim in 0..rank {
        let is_row = match fold {
            Fold::Nd => dim + 1 < rank,
            Fold::Dn => dim + 2 == rank,
            Fold::Nz => dim + 3 == rank || dim + 2 == rank,
            // Pairs of scales are in the last dimension; the dimension before it has the rows or columns of a box.
            Fold::LeftScales => !matches!(rank - dim, 1 | 3),
            Fold::LeftScaleRows => rank - dim >= 3,
            Fold::RightScales => matches!(rank - dim, 1 | 3),
            Fold::RightScaleCols => rank - dim <= 2,
        };
        let part = if is_row { &mut row } else { &mut col };
        *part = *part * dims[dim] + index[dim];
    }
    (row, col)
}

/// Layouts that a text may declare.
const SAID: [&str; 9] = ["nd", "dn", "nz", "mx_a_zz", "mx_a_dn", "mx_a_nd", "mx_b_nn", "mx_b_nd", "mx_b_dn"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn global_moves(
        layout in layout(), (dims, strides) in tensor(), said in 0..=SAID.len(), load: bool,
        valid in (0..40u32, 0..80u32), offset in 0..9u64,
    ) {
        let valid = (valid.0.min(layout.rows), valid.1.min(layout.cols));
        let place_of = TilePlace { space: Space::Vec, core: Role::Aiv0, layout };
        let (said, fold) = match SAID.get(said).copied() {
            None => (None, unsaid(&layout, &dims, valid)),
            said => (said, Fold::of(said, dims.len())),
        };
        let window = Strided { elem: layout.elem, rank: dims.len(), folding: Folding::of(said, &layout, dims.len()), place: None };
        let effect = GmMove { tile: place_of, window, load, pad: 0, finish: Finish::default() };
        let size = layout.elem.bytes() as u64;
        let mut args = vec![TILE, valid.0.into(), valid.1.into(), 0, gm_address(0, offset * size)];
        args.extend(dims.iter().chain(&strides));
        let last: Vec<u64> = dims.iter().map(|n| n - 1).collect();
        let shape = place(fold, &dims, &last);
        let shape = (shape.0 + 1, shape.1 + 1);
        let tile = (u64::from(valid.0), u64::from(valid.1));
        if shape != tile && shape.0 * shape.1 == tile.0 * tile.1 {
            let fault = effect.plan(&args, ENV, &mut Access::default()).unwrap_err();
            prop_assert_eq!(fault.kind.code(), "view-shape");
            return Ok(());
        }
        let (before, mut after) = (memory(0), memory(0));
        let access = run(&effect, &args, &mut after);

        let (mut global, mut local) = (BTreeSet::new(), BTreeSet::new());
        let mut expected = memory(0);
        for at in 0..dims.iter().product::<u64>() {
            let mut rest = at;
            let index: Vec<u64> = dims.iter().rev().map(|n| { let i = rest % n; rest /= n; i }).collect();
            let index: Vec<u64> = index.into_iter().rev().collect();
            let (row, col) = place(fold, &dims, &index);
            if row >= valid.0.into() || col >= valid.1.into() {
                continue;
            }
            let far = (offset + index.iter().zip(&strides).map(|(i, s)| i * s).sum::<u64>()) * size;
            let near = TILE + layout.offset(row as u32, col as u32) as u64;
            for b in 0..size {
                global.insert(far + b);
                local.insert(near + b + (1 << 32));
            }
            let (len, gm) = (size as usize, gm_address(0, far));
            if load {
                let bytes = before.bytes(ENV, Role::Aiv0, Space::Gm, gm, len).to_vec();
                expected.bytes_mut(ENV, Role::Aiv0, Space::Vec, near, len).copy_from_slice(&bytes);
            } else {
                let bytes = before.bytes(ENV, Role::Aiv0, Space::Vec, near, len).to_vec();
                expected.bytes_mut(ENV, Role::Aiv0, Space::Gm, gm, len).copy_from_slice(&bytes);
            }
        }
        let (reads, writes) = if load { (global, local) } else { (local, global) };
        prop_assert_eq!(bytes_of(&access.reads), reads);
        prop_assert_eq!(bytes_of(&access.writes), writes);
        prop_assert!(after.gm[0].data == expected.gm[0].data);
        let local = |memory: &Memory| memory.bytes(ENV, Role::Aiv0, Space::Vec, 0, 1 << 15).to_vec();
        prop_assert!(local(&after) == local(&expected));
    }

    #[test]
    fn local_moves(
        from in layout(), to in layout(), insert: bool, at in (0..20u32, 0..40u32), size in (0..20u32, 0..40u32),
    ) {
        let to = Layout { elem: from.elem, ..to };
        prop_assume!(to.is_whole());
        let (whole, part) = if insert { (&to, &from) } else { (&from, &to) };
        let size = (size.0.min(part.rows).min(whole.rows), size.1.min(part.cols).min(whole.cols));
        let at = (at.0.min(whole.rows - size.0), at.1.min(whole.cols - size.1));
        let space = |layout| TilePlace { space: Space::Vec, core: Role::Aiv0, layout };
        let taken = if insert { Taken::Insert } else { Taken::Extract };
        let effect = TileMove { from: space(from), to: space(to), taken, halves: None, finish: Finish::default() };
        let target = 16384;
        let ends = |valid: bool, layout: &Layout| if valid { size } else { (layout.rows, layout.cols) };
        let (a, b) = (ends(insert, &from), ends(!insert, &to));
        let args = [TILE, a.0.into(), a.1.into(), target, b.0.into(), b.1.into(), at.0.into(), at.1.into(), 0];
        let (before, mut after) = (memory(0), memory(0));
        let access = run(&effect, &args, &mut after);

        let (mut reads, mut writes, mut expected) = (BTreeSet::new(), BTreeSet::new(), memory(0));
        let bytes = from.elem.bytes();
        for (row, col) in (0..size.0).flat_map(|row| (0..size.1).map(move |col| (row, col))) {
            let (s, d) = if insert { ((0, 0), at) } else { (at, (0, 0)) };
            let source = TILE + from.offset(row + s.0, col + s.1) as u64;
            let dest = target + to.offset(row + d.0, col + d.1) as u64;
            let value = before.bytes(ENV, Role::Aiv0, Space::Vec, source, bytes).to_vec();
            expected.bytes_mut(ENV, Role::Aiv0, Space::Vec, dest, bytes).copy_from_slice(&value);
            for b in 0..bytes as u64 {
                reads.insert(source + b + (1 << 32));
                writes.insert(dest + b + (1 << 32));
            }
        }
        prop_assert_eq!(bytes_of(&access.reads), reads);
        prop_assert_eq!(bytes_of(&access.writes), writes);
        let local = |memory: &Memory| memory.bytes(ENV, Role::Aiv0, Space::Vec, 0, 1 << 15).to_vec();
        prop_assert!(local(&after) == local(&expected));
    }
}
