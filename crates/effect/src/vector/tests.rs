//! Effects touch only what their plans declare, whatever the layouts and valid shapes.

use proptest::prelude::*;
use slipring_machine::{Role, Units};
use slipring_program::{Access, Effect, Env, Extent, Memory, Output, Run, Scratch};
use slipring_tile::{BLayout, Binary, Cast, Compare, Elem, Layout, Order, Reduce, SLayout, Space, binary};

use super::*;

static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));

const LOCAL: Local = Local { space: Space::Vec, core: Role::Aiv0 };
const ENV: Env = Env { block: 0, core: Role::Aiv0 };
const BYTES: usize = 65536;

fn marked(extents: &[Extent]) -> Vec<bool> {
    let mut marks = vec![false; BYTES];
    for extent in extents {
        for row in 0..u64::from(extent.rows) {
            let start = (extent.start + row * extent.stride) as usize;
            marks[start..start + extent.row_bytes as usize].fill(true);
        }
    }
    marks
}

fn run(effect: &dyn Effect, args: &[u64], bytes: &[u8]) -> Vec<u8> {
    let mut memory = Memory::with_sizes(1, |_| BYTES);
    memory.bytes_mut(ENV, Role::Aiv0, Space::Vec, 0, BYTES).copy_from_slice(bytes);
    effect
        .run(
            args,
            Run { env: ENV, memory: &mut memory, scratch: &mut Scratch::default(), output: &mut Output::default() },
        )
        .unwrap();
    memory.bytes(ENV, Role::Aiv0, Space::Vec, 0, BYTES).to_vec()
}

/// Bytes outside the named writes stay; bytes outside the named reads do not matter.
fn touches_what_it_names(effect: &dyn Effect, args: &[u64], bytes: &[u8], noise: &[u8]) -> Result<(), TestCaseError> {
    let mut access = Access::default();
    effect.plan(args, ENV, &mut access).map_err(|fault| TestCaseError::fail(fault.message))?;
    let (reads, writes) = (marked(&access.reads), marked(&access.writes));
    let after = run(effect, args, bytes);
    let noisy: Vec<u8> = (0..BYTES).map(|i| if reads[i] { bytes[i] } else { noise[i] }).collect();
    let noisy_after = run(effect, args, &noisy);
    for i in 0..BYTES {
        if writes[i] {
            prop_assert_eq!(after[i], noisy_after[i], "byte {} depends on what is not named as read", i);
        } else {
            prop_assert_eq!(after[i], bytes[i], "byte {} is not named as written", i);
        }
    }
    Ok(())
}

fn layout(which: usize, elem: Elem, rows: u32, cols: u32) -> Layout {
    let blayout = if which.is_multiple_of(2) { BLayout::RowMajor } else { BLayout::ColMajor };
    let slayout = [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor][which / 2];
    Layout { elem, rows, cols, blayout, slayout, fractal: 512 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn plans_are_exact(
        which in (0usize..6, 0usize..6, 0usize..6),
        elem in prop::sample::select(vec![Elem::F32, Elem::F16, Elem::I8]),
        (rows, cols) in (1u64..32, 1u64..64),
        // Tiles at distances at which they overlap or not.
        places in (0u64..24, 0u64..24, 0u64..24),
        seed: u64,
    ) {
        let mut state = seed | 1;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        let bytes: Vec<u8> = (0..BYTES).map(|_| byte()).collect();
        let noise: Vec<u8> = (0..BYTES).map(|_| byte()).collect();
        let at = |place: u64| place * 1024;
        let args = [
            at(places.0), rows, cols, at(places.1), 32, 64, at(places.2), rows, cols, 3,
            at(places.1), 32, 1, at(places.2), 1, cols, at(places.1), 32, 32 / elem.bytes() as u64, at(places.1), cols, rows,
        ];
        let tile = |name, which, at| TileArg { name, layout: layout(which, elem, 32, 64), at };
        let dst = tile("dst", which.0, 0);
        let (a, b) = (tile("a", which.1, 3), tile("b", which.2, 6));
        let check = |effect: &dyn Effect| touches_what_it_names(effect, &args, &bytes, &noise);
        let two = |b| Elementwise { local: LOCAL, op: &ADD, dst, inputs: [Input::Tile(a), b] };
        check(&two(Input::Tile(b)))?;
        check(&two(Input::Scalar(Number { at: 9, from: Elem::I32, to: Elem::F32, usage: NumberUse::Value })))?;
        check(&two(Input::PerRow(tile("b", which.2, 10))))?;
        check(&two(Input::PerRow(tile("b", which.2 % 2, 16))))?;
        check(&two(Input::FirstRow(tile("b", which.2, 13))))?;
        check(&two(Input::FirstColumn(b)))?;
        check(&Partial { local: LOCAL, op: &ADD, dst, sources: [tile("a", which.1, 0), b] })?;
        let cast = Cast::default();
        check(&Spread { local: LOCAL, dst, input: Input::Tile(a), cast, other: None })?;
        check(&Spread { local: LOCAL, dst, input: Input::FirstColumn(a), cast, other: None })?;
        let narrow = TileArg { layout: layout(which.1, Elem::U8, 32, 64), ..a };
        check(&Spread { local: LOCAL, dst, input: Input::Tile(narrow), cast, other: None })?;
        check(&Transpose {
            local: LOCAL,
            dst,
            src: TileArg { layout: layout(which.1, elem, 64, 32), ..tile("src", 0, 19) },
        })?;
        let wide = TileArg { layout: layout(which.0, elem, 32, 128), ..dst };
        check(&Concat { local: LOCAL, dst: wide, sources: [a, b] })?;
        check(&Pad { local: LOCAL, dst: wide, src: b, value: [1; 8], asked: false })?;
        check(&Sequence::Lower.fill(LOCAL, b))?;
        let bits = TileArg { layout: layout(0, elem, 32, 64), ..dst };
        let mode = Compare::Lt;
        check(&CompareTiles { local: LOCAL, mode, dst: bits, a, b: Input::Tile(tile("b", which.2, 3)), bits: Bits::Rows })?;
        let mask = TileArg { layout: layout(0, elem, 32, 64), ..b };
        check(&Select { local: LOCAL, dst, mask, a, b: Input::Tile(a), bits: Bits::Rows })?;
        let column = TileArg { layout: layout(which.0 % 2, elem, 32, 1), ..tile("dst", 0, 10) };
        let tiles = Reduction { local: LOCAL, dst: column, src: a };
        check(&RowReduce { tiles, what: Reduce::Sum, order: Order::Registers })?;
        check(&RowArg { tiles, what: Reduce::Max })?;
        let row = TileArg { layout: layout(which.0 % 2, elem, 1, 64), ..tile("dst", 0, 13) };
        let tiles = Reduction { local: LOCAL, dst: row, src: b };
        check(&ColReduce { tiles, what: Reduce::Max, rows: Rows::OneByOne, order: Order::Memory })?;
        check(&ColReduce { tiles, what: Reduce::Sum, rows: Rows::Pairs, order: Order::Registers })?;
        check(&ColArg { tiles, what: Reduce::Min })?;
    }
}

#[test]
fn rows_of_tiles() {
    let count = |layout: Layout, rows, cols| operands::tile_units(&layout, rows, cols);
    let nd = Layout::nd(Elem::F32, 16, 72);
    // Whole rows follow each other, parts of rows have gaps; a tile by columns has columns.
    assert_eq!((count(nd, 16, 72), count(nd, 16, 71)), (Units::rows(16, 288, true), Units::rows(16, 284, false)));
    assert_eq!(count(layout(1, Elem::F16, 64, 3), 64, 3), Units::rows(3, 128, true));
    assert_eq!(count(layout(1, Elem::F16, 64, 3), 63, 3), Units::rows(3, 126, false));
    assert_eq!(count(nd, 0, 0).total, 0);
}
