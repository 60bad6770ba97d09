//! The automatic split of a kernel gives the same results as the unsplit kernel.
//!
//! Kernels are random: element-wise ops, reductions and broadcasts of rows and columns, reshapes, transposes, parts of
//! tiles at constant positions and at loop counters, loads, stores, loops, and round trips through the Cube core. The
//! pass may reject a kernel; kernels that it accepts must give the same bytes.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use slipring_ir::text::print;
use slipring_ir::{Diags, Module};
use slipring_machine::{Platform, built_in};
use slipring_op::Decoding;
use slipring_passes::PassContext;
use slipring_passes::split::auto_split;

use super::kit::{read, run};

/// Rows and columns of the large tiles.
const N: usize = 32;
/// Number of tiles of each kind.
const TILES: usize = 3;
/// Number of blocks of N rows in the output; several steps access the first ones.
const SLOTS: usize = 64;
const SHARED: usize = 2;

const TYPES: &str = "\
!l1 = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
!l0a = !pto.tile_buf<left, 32x32xf32, blayout=col_major, slayout=row_major>
!l0b = !pto.tile_buf<right, 32x32xf32, blayout=row_major, slayout=col_major>
!l0c = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!f = !pto.tile_buf<vec, 32x32xf32>
!k = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!w = !pto.tile_buf<vec, 1x32xf32>
";

/// The kinds of tile: N × N, a column, a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    F,
    K,
    W,
}

impl Kind {
    fn letter(self) -> char {
        ['f', 'k', 'w'][self as usize]
    }

    fn shape(self) -> [usize; 2] {
        [[N, N], [N, 1], [1, N]][self as usize]
    }
}

#[derive(Clone, Debug)]
enum Step {
    Unary(&'static str, Kind, usize, usize),
    Binary(&'static str, Kind, [usize; 3]),
    Fill(Kind, usize, i8),
    ReduceRows(&'static str, usize, usize),
    ReduceColumns(&'static str, usize, usize),
    SpreadColumn(&'static str, [usize; 3]),
    SpreadRow(&'static str, [usize; 3]),
    /// A column as a row, or a row as a column.
    Reshape(bool, usize, usize),
    Transpose(usize, usize),
    /// Copies a part of a tile to the same part of another tile: axis, start, size.
    Part(Kind, [usize; 2], usize, usize, usize),
    StorePart(Kind, usize, usize, usize, usize),
    LoadPart(usize, usize, usize, usize),
    Store(Kind, usize),
    Load(Kind, usize, usize),
    /// To the Cube core, a product, and back.
    Product(usize, usize),
    /// To and from blocks of the output that other steps access, starting at a row.
    StoreShared(Kind, usize, usize),
    LoadShared(Kind, usize, usize),
    /// Stores all parts of a tile in a loop: axis and size.
    StoreParts(usize, usize, usize),
    Loop(Vec<Step>),
}

fn tile() -> impl Strategy<Value = usize> {
    0..TILES
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![2 => Just(Kind::F), 1 => Just(Kind::K), 1 => Just(Kind::W)]
}

/// Axis, start and size of a part with aligned bytes.
fn place() -> impl Strategy<Value = (usize, usize, usize)> {
    (0..2usize, 0..4usize, 1..4usize).prop_map(|(axis, start, size)| (axis, 8 * start, 8 * size.min(4 - start)))
}

fn leaf() -> impl Strategy<Value = Step> {
    let binary = prop::sample::select(vec!["tadd", "tsub", "tmul", "tmax"]);
    let unary = prop::sample::select(vec!["tabs", "tneg", "trelu", "texp", "tmov"]);
    prop_oneof![
        4 => (unary, kind(), tile(), tile()).prop_map(|(op, kind, a, b)| Step::Unary(op, kind, a, b)),
        4 => (binary, kind(), [tile(), tile(), tile()]).prop_map(|(op, kind, tiles)| Step::Binary(op, kind, tiles)),
        1 => (kind(), tile(), any::<i8>()).prop_map(|(kind, tile, n)| Step::Fill(kind, tile, n)),
        2 => (prop::sample::select(vec!["trowsum", "trowmax"]), tile(), tile())
            .prop_map(|(op, a, b)| Step::ReduceRows(op, a, b)),
        1 => (prop::sample::select(vec!["tcolsum", "tcolmax"]), tile(), tile())
            .prop_map(|(op, a, b)| Step::ReduceColumns(op, a, b)),
        2 => (prop::sample::select(vec!["trowexpandsub", "trowexpandmul"]), [tile(), tile(), tile()])
            .prop_map(|(op, tiles)| Step::SpreadColumn(op, tiles)),
        2 => (prop::sample::select(vec!["tcolexpandadd", "tcolexpandmul"]), [tile(), tile(), tile()])
            .prop_map(|(op, tiles)| Step::SpreadRow(op, tiles)),
        1 => (any::<bool>(), tile(), tile()).prop_map(|(to_row, a, b)| Step::Reshape(to_row, a, b)),
        1 => (tile(), tile()).prop_map(|(a, b)| Step::Transpose(a, b)),
        2 => (kind(), [tile(), tile()], place()).prop_map(|(kind, tiles, (axis, start, size))| {
            Step::Part(kind, tiles, axis, start, size)
        }),
        2 => (kind(), tile(), place()).prop_map(|(kind, tile, (axis, start, size))| {
            Step::StorePart(kind, tile, axis, start, size)
        }),
        1 => (tile(), place()).prop_map(|(tile, (axis, start, size))| Step::LoadPart(tile, axis, start, size)),
        2 => (kind(), tile()).prop_map(|(kind, tile)| Step::Store(kind, tile)),
        1 => (kind(), tile(), 0..2usize).prop_map(|(kind, tile, from)| Step::Load(kind, tile, from)),
        1 => (kind(), tile(), 0..5usize).prop_map(|(kind, tile, row)| Step::StoreShared(kind, tile, 8 * row)),
        1 => (kind(), tile(), 0..5usize).prop_map(|(kind, tile, row)| Step::LoadShared(kind, tile, 8 * row)),
        1 => (tile(), tile()).prop_map(|(a, b)| Step::Product(a, b)),
        1 => (tile(), 0..2usize, prop::sample::select(vec![8, 16, 32]))
            .prop_map(|(tile, axis, size)| Step::StoreParts(tile, axis, size)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => leaf(),
        1 => prop::collection::vec(leaf(), 1..4).prop_map(Step::Loop),
    ];
    prop::collection::vec(step, 1..7)
}

/// Writes a kernel.
struct Writer {
    body: String,
    values: usize,
    /// Number of output blocks that have been written.
    slots: usize,
}

impl Writer {
    fn name(&mut self) -> String {
        self.values += 1;
        format!("%t{}", self.values)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "  {text}");
    }

    fn op(&mut self, name: &str, sources: &[(String, String)], result: (&str, &str)) {
        let names: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
        let types: Vec<&str> = sources.iter().map(|(_, ty)| ty.as_str()).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        self.line(&format!("pto.{name} ins({names} : {types}) outs({} : {})", result.0, result.1));
    }

    /// A window of the output or an input: name, type.
    fn window(&mut self, tensor: &str, at: [String; 2], [rows, cols]: [usize; 2]) -> (String, String) {
        let name = self.name();
        let ty = format!("!pto.partition_tensor_view<{rows}x{cols}xf32>");
        let [row, col] = at;
        self.line(&format!(
            "{name} = pto.partition_view %{tensor}_v, offsets = [{row}, {col}], sizes = [%c{rows}, %c{cols}] : \
             !pto.tensor_view<{}x{N}xf32> -> {ty}",
            if tensor == "o" { SLOTS * N } else { N }
        ));
        (name, ty)
    }

    /// A window of a block of the output that nothing else writes.
    fn slot(&mut self, [row, col]: [usize; 2], shape: [usize; 2]) -> (String, String) {
        let base = self.name();
        let first = self.slots * N + row;
        self.slots += 1;
        self.line(&format!("{base} = arith.constant {first} : index"));
        self.window("o", [base, format!("%c{col}")], shape)
    }

    fn part(&mut self, kind: Kind, tile: usize, axis: usize, start: &str, size: usize) -> (String, String) {
        let (name, letter) = (self.name(), kind.letter());
        let mut shape = kind.shape();
        shape[axis] = size;
        let mut offsets = ["%c0"; 2];
        offsets[axis] = start;
        let [rows, cols] = shape;
        self.line(&format!(
            "{name} = pto.subset %{letter}{tile}[{}, {}] sizes [{rows}, {cols}] : !{letter}",
            offsets[0], offsets[1]
        ));
        let layout = if kind == Kind::K { ", blayout=col_major" } else { "" };
        let mut valid = shape.map(|n| n.to_string());
        let known = start.starts_with("%c");
        valid[axis] = if known { valid[axis].clone() } else { "?".into() };
        let valid = if known { String::new() } else { format!(", valid={}x{}", valid[0], valid[1]) };
        (name, format!("!pto.tile_buf<vec, {rows}x{cols}xf32{valid}{layout}>"))
    }

    fn store(&mut self, tile: (String, String), window: (String, String)) {
        self.op("tstore", &[tile], (&window.0, &window.1));
    }

    fn step(&mut self, step: &Step) {
        let of = |kind: Kind, at: usize| (format!("%{}{at}", kind.letter()), format!("!{}", kind.letter()));
        let to = |w: &mut Writer, name: &str, sources: &[(String, String)], (kind, at): (Kind, usize)| {
            let (result, ty) = of(kind, at);
            w.op(name, sources, (&result, &ty));
        };
        use Kind::{F, K, W};
        match step {
            Step::Unary(op, kind, a, b) => to(self, op, &[of(*kind, *a)], (*kind, *b)),
            Step::Binary(op, kind, [a, b, c]) => to(self, op, &[of(*kind, *a), of(*kind, *b)], (*kind, *c)),
            Step::Fill(kind, tile, n) => {
                let number = self.name();
                self.line(&format!("{number} = arith.constant {n}.0 : f32"));
                to(self, "texpands", &[(number, "f32".into())], (*kind, *tile));
            }
            Step::ReduceRows(op, a, b) => to(self, op, &[of(F, *a)], (K, *b)),
            Step::ReduceColumns(op, a, b) => to(self, op, &[of(F, *a)], (W, *b)),
            Step::SpreadColumn(op, [a, b, c]) => to(self, op, &[of(F, *a), of(K, *b)], (F, *c)),
            Step::SpreadRow(op, [a, b, c]) => to(self, op, &[of(F, *a), of(W, *b)], (F, *c)),
            Step::Reshape(to_row, a, b) => {
                let (from, into) = if *to_row { (K, W) } else { (W, K) };
                let name = self.name();
                let (source, ty) = of(from, *a);
                let result = of(into, *b);
                self.line(&format!("{name} = pto.treshape {source} : {ty} -> {}", result.1));
                self.op("tmov", &[(name, result.1.clone())], (&result.0, &result.1));
            }
            Step::Transpose(a, b) => to(self, "ttrans", &[of(F, *a)], (F, *b)),
            Step::Part(kind, [a, b], axis, start, size) => {
                let Some((axis, start, size)) = within(*kind, *axis, *start, *size) else { return };
                let from = self.part(*kind, *a, axis, &format!("%c{start}"), size);
                let into = self.part(*kind, *b, axis, &format!("%c{start}"), size);
                self.op("tmov", &[from], (&into.0, &into.1));
            }
            Step::StorePart(kind, tile, axis, start, size) => {
                let Some((axis, start, size)) = within(*kind, *axis, *start, *size) else { return };
                let mut shape = kind.shape();
                shape[axis] = size;
                let part = self.part(*kind, *tile, axis, &format!("%c{start}"), size);
                let window = self.slot([0, 0], shape);
                self.store(part, window);
            }
            Step::LoadPart(tile, axis, start, size) => {
                let mut shape = [N, N];
                shape[*axis] = *size;
                let (window, ty) = self.window("x", ["%c0".into(), "%c0".into()], shape);
                let part = self.part(F, *tile, *axis, &format!("%c{start}"), *size);
                self.op("tload", &[(window, ty)], (&part.0, &part.1));
            }
            Step::Store(kind, tile) => {
                let window = self.slot([0, 0], kind.shape());
                self.store(of(*kind, *tile), window);
            }
            Step::Load(kind, tile, from) => {
                let window = self.window(["a", "x"][*from], ["%c0".into(), "%c0".into()], kind.shape());
                to(self, "tload", &[window], (*kind, *tile));
            }
            Step::StoreShared(kind, tile, row) => {
                let window = self.window("o", [format!("%c{row}"), "%c0".into()], kind.shape());
                self.store(of(*kind, *tile), window);
            }
            Step::LoadShared(kind, tile, row) => {
                let window = self.window("o", [format!("%c{row}"), "%c0".into()], kind.shape());
                to(self, "tload", &[window], (*kind, *tile));
            }
            Step::Product(a, b) => {
                self.op("tcross", &[of(F, *a)], ("%p", "!l1"));
                self.line("pto.tmov ins(%p : !l1) outs(%left : !l0a)");
                self.line("pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)");
                to(self, "tcross", &[("%acc".into(), "!l0c".into())], (F, *b));
            }
            Step::StoreParts(tile, axis, size) => {
                let (counter, base, row) = (self.name(), self.name(), self.name());
                let first = self.slots * N;
                self.slots += 1;
                self.line(&format!("{base} = arith.constant {first} : index"));
                self.line(&format!("scf.for {counter} = %c0 to %c{N} step %c{size} {{"));
                let part = self.part(F, *tile, *axis, &counter, *size);
                let mut shape = [N, N];
                shape[*axis] = *size;
                let at = if *axis == 0 {
                    self.line(&format!("{row} = arith.addi {base}, {counter} : index"));
                    [row, "%c0".to_string()]
                } else {
                    [base, counter]
                };
                let window = self.window("o", at, shape);
                self.store(part, window);
                self.line("}");
            }
            Step::Loop(steps) => {
                let counter = self.name();
                self.line(&format!("scf.for {counter} = %c0 to %c2 step %c1 {{"));
                steps.iter().for_each(|step| self.step(step));
                self.line("}");
            }
        }
    }
}

/// A part along an axis of a tile; for columns and rows in multiples of 32 bytes.
fn within(kind: Kind, axis: usize, start: usize, size: usize) -> Option<(usize, usize, usize)> {
    let axis = match kind {
        Kind::F => axis,
        Kind::K => 0,
        Kind::W => 1,
    };
    (kind.shape()[axis] > 1).then_some((axis, start, size))
}

fn kernel(split: usize, steps: &[Step]) -> String {
    let mut w = Writer { body: String::new(), values: 0, slots: SHARED };
    for n in [0, 1, 2, 8, 16, 24, 32, SLOTS * N] {
        w.line(&format!("%c{n} = arith.constant {n} : index"));
    }
    for name in ["a", "x", "o"] {
        let rows = if name == "o" { SLOTS * N } else { N };
        w.line(&format!(
            "%{name}_v = pto.make_tensor_view %{name}, shape = [%c{rows}, %c{N}], strides = [%c{N}, %c1] : \
             !pto.tensor_view<{rows}x{N}xf32>"
        ));
    }
    for name in ["p", "q"] {
        w.line(&format!("%{name} = pto.alloc_tile : !l1"));
    }
    for (name, ty) in [("left", "!l0a"), ("right", "!l0b"), ("acc", "!l0c")] {
        w.line(&format!("%{name} = pto.alloc_tile : {ty}"));
    }
    for (kind, at) in [Kind::F, Kind::K, Kind::W].into_iter().flat_map(|kind| (0..TILES).map(move |at| (kind, at))) {
        w.line(&format!("%{0}{at} = pto.alloc_tile : !{0}", kind.letter()));
    }
    let window = w.window("a", ["%c0".into(), "%c0".into()], [N, N]);
    w.op("tload", std::slice::from_ref(&window), ("%p", "!l1"));
    w.op("tload", &[window], ("%q", "!l1"));
    w.line("pto.tmov ins(%p : !l1) outs(%left : !l0a)");
    w.line("pto.tmov ins(%q : !l1) outs(%right : !l0b)");
    w.line("pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)");
    w.line("pto.tcross ins(%acc : !l0c) outs(%f0 : !f)");
    for (kind, at) in
        [(Kind::F, 1), (Kind::F, 2), (Kind::K, 0), (Kind::K, 1), (Kind::K, 2), (Kind::W, 0), (Kind::W, 1), (Kind::W, 2)]
    {
        w.step(&Step::Load(kind, at, at % 2));
    }
    steps.iter().for_each(|step| w.step(step));
    for (kind, at) in [Kind::F, Kind::K, Kind::W].into_iter().flat_map(|kind| (0..TILES).map(move |at| (kind, at))) {
        w.step(&Step::Store(kind, at));
    }
    let body = w.body;
    format!(
        "{TYPES}func.func @k(%a: !pto.ptr<f32>, %x: !pto.ptr<f32>, %o: !pto.ptr<f32>) attributes {{pto.entry, split = {split}}} {{\n\
         {body}  return\n}}\n"
    )
}

fn bytes(seed: usize) -> Vec<u8> {
    (0..N * N).flat_map(|i| (((i * 37 + seed * 11 + i / 7) % 13) as f32 / 8.0 - 0.75).to_le_bytes()).collect()
}

/// Runs a module's sequential semantics and returns the output.
fn output(module: &Module, platform: &Platform) -> Result<Vec<u8>, TestCaseError> {
    let buffers = [bytes(1), bytes(2), vec![0; SLOTS * N * N * 4]];
    Ok(run(module, platform, Decoding::Reference, buffers, &[])?.0.remove(2))
}

#[test]
fn what_is_accepted_has_the_same_results() {
    let (accepted, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let platform = built_in("a5").unwrap();
    let outcome = runner.run(&(1..3usize, steps()), |(split, steps)| {
        let module = read(&kernel(split, &steps), &platform)?;
        let (mut divided, mut diags) = (module.clone(), Diags::default());
        (auto_split::PASS.run)(&mut divided, &PassContext::of(&platform), &mut diags);
        if diags.has_errors() {
            prop_assert!(diags.list.iter().all(|d| d.code == "auto-split"), "{}", diags.render(&module.source, false));
            refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let again = read(&print(&divided), &platform)?;
        accepted.fetch_add(1, Ordering::Relaxed);
        let same = output(&module, &platform)? == output(&again, &platform)?;
        prop_assert!(same, "{}\n{}", module.source.text, again.source.text);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let (accepted, refused) = (accepted.into_inner(), refused.into_inner());
    assert!(accepted > 60 && refused > 20, "{accepted} accepted, {refused} refused");
}
