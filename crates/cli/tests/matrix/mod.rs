//! Every arithmetic operation on tiles × element type × shape × platform, against numbers computed by this test.
//!
//! The types are those that the operation declares. Tiles have odd and partial valid shapes; everything outside must
//! not change. One slice always runs, another one for each value of `SLIPRING_SLICE`; `SLIPRING_SLICE=all` runs all of
//! them.

mod apart;
mod conversions;
mod library;
pub(crate) mod numbers;
mod order;
mod places;
mod reference;
mod rest;
pub(crate) mod run;
mod scaled;

use numbers::{Ty, elements};
use run::{Tile, run};
use slipring_dialects::Dialects;
use slipring_machine::built_in;

/// One in this many cases runs by default.
const SLICES: usize = 6;

/// Counts cases, and runs those of the slice.
struct Matrix {
    slice: Option<usize>,
    count: usize,
    ran: usize,
    /// All NaNs are equivalent: no manual specifies the bits of a converted NaN.
    any_nan: bool,
    wrong: Vec<String>,
}

/// The expected result of an operation: the tile's previous elements, modified by the closure.
type Expect<'a> = &'a dyn Fn(&[Tile], &mut [u64]);

impl Matrix {
    fn new() -> Matrix {
        Matrix { slice: crate::here::slice(), count: 0, ran: 0, any_nan: false, wrong: Vec::new() }
    }

    /// One program: `out` is the index of the result among the tiles.
    fn case(&mut self, arch: &str, text: &str, tiles: Vec<Tile>, out: usize, expect: Expect<'_>) {
        self.case_with(arch, text, tiles, out, expect, &[]);
    }

    /// Like [`Matrix::case`], ignoring some tiles: scratch tiles, and results that another case checks.
    fn case_with(&mut self, arch: &str, text: &str, tiles: Vec<Tile>, out: usize, expect: Expect<'_>, any: &[usize]) {
        self.count += 1;
        // Always the first case; then a stride that is coprime with the lists that make up the cases.
        if self.count > 1 && self.slice.is_some_and(|slice| (self.count * 7919 / 97) % SLICES != slice % SLICES) {
            return;
        }
        self.ran += 1;
        let mut expected: Vec<Vec<u64>> = tiles.iter().map(|tile| tile.data.clone()).collect();
        expect(&tiles, &mut expected[out]);
        let shown = || {
            format!("{arch} {} {:?}", text.trim(), tiles.iter().map(|t| (t.ty.0, t.shape, t.valid)).collect::<Vec<_>>())
        };
        let is_nan = |ty: Ty, bits| matches!(ty.decode(bits), numbers::Value::Float(x) if x.is_nan());
        let same = |ty, a, b| a == b || (self.any_nan && is_nan(ty, a) && is_nan(ty, b));
        // Every other case has dynamic valid shapes.
        match run(arch, text, &tiles, self.ran.is_multiple_of(2)) {
            Err(said) => self.wrong.push(format!("{}: {said}", shown())),
            Ok(after) => {
                for (i, (after, expected)) in after.iter().zip(&expected).enumerate().filter(|(i, _)| !any.contains(i))
                {
                    if let Some(at) = (0..after.len()).find(|at| !same(tiles[i].ty, after[*at], expected[*at])) {
                        let inputs: Vec<String> =
                            tiles.iter().map(|t| t.data.get(at).map_or("-".into(), |b| format!("{b:x}"))).collect();
                        self.wrong.push(format!(
                            "{}: tile {i}, element {at} of {inputs:?} is {:x}, not {:x}",
                            shown(),
                            after[at],
                            expected[at]
                        ));
                    }
                }
            }
        }
    }

    fn done(self) {
        assert!(self.ran > 0);
        let most = &self.wrong[..self.wrong.len().min(30)];
        assert!(self.wrong.is_empty(), "{} of {} cases are wrong:\n{}", self.wrong.len(), self.ran, most.join("\n"));
    }
}

/// The types that an operation declares for one of its operands.
fn types(op: &str, arch: &str) -> Vec<Ty> {
    let def = Dialects::get().all().iter().find(|def| def.schema.name == op).unwrap_or_else(|| panic!("no {op}"));
    let platform = built_in(arch).unwrap();
    def.elems[0].on(&platform).iter().map(|elem| Ty(elem.to_string().leak())).filter(|ty| ty.bits() <= 32).collect()
}

/// A tile of `bytes` in each row, some of it valid.
fn tile(ty: Ty, rows: usize, bytes: usize, valid: [usize; 2], seed: u64) -> Tile {
    let cols = bytes / ty.bytes();
    Tile { ty, shape: [rows, cols], valid: [valid[0], valid[1].min(cols)], data: elements(ty, rows * cols, seed) }
}

/// Rows, bytes of a row, valid rows and columns.
const SHAPES: [(usize, usize, [usize; 2]); 4] =
    [(1, 32, [1, 999]), (3, 96, [3, 999]), (7, 64, [5, 3]), (2, 320, [2, 67])];

fn each(valid: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    (0..valid[0]).flat_map(move |i| (0..valid[1]).map(move |j| (i, j)))
}

/// For every platform, type and shape.
fn all(op: &str, mut f: impl FnMut(&str, Ty, &dyn Fn(u64) -> Tile)) {
    for arch in ["a5", "a2a3"] {
        for ty in types(op, arch) {
            for (at, (rows, bytes, valid)) in SHAPES.into_iter().enumerate() {
                let seed =
                    op.bytes().fold(at as u64 + 1, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
                f(arch, ty, &|n| tile(ty, rows, bytes, valid, seed.wrapping_add(1000 * n)));
            }
        }
    }
}

/// True for an operation whose result may not lie over a source.
fn beside(arch: &str, name: &str) -> bool {
    arch == "a2a3" && ["recip", "rem", "fmod", "xor", "prelu"].contains(&name)
}

#[test]
fn two_tiles() {
    let mut matrix = Matrix::new();
    for name in "add sub mul div max min rem fmod and or xor shl shr prelu".split(' ') {
        all(&format!("pto.t{name}"), |arch, ty, make| {
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                    out[at] = reference::binary(name, ty, tiles[0].data[at], tiles[1].data[at]);
                }
            };
            let tiles = vec![make(0), make(1), make(2)];
            matrix.case(
                arch,
                &format!("  pto.t{name} ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)"),
                tiles.clone(),
                2,
                &expect,
            );
            for place in 0..if beside(arch, name) { 0 } else { 2 } {
                let text = format!("  pto.t{name} ins(%t0, %t1 : !t0, !t1) outs(%t{place} : !t{place})");
                matrix.case(arch, &text, tiles[..2].to_vec(), place, &expect);
            }
        });
    }
    matrix.done();
}

#[test]
fn one_tile() {
    let mut matrix = Matrix::new();
    for name in "abs neg exp log sqrt rsqrt recip relu not".split(' ') {
        all(&format!("pto.t{name}"), |arch, ty, make| {
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                    out[at] = reference::unary(name, ty, tiles[0].data[at]);
                }
            };
            for place in usize::from(beside(arch, name))..2 {
                let text = format!("  pto.t{name} ins(%t0 : !t0) outs(%t{place} : !t{place})");
                matrix.case(arch, &text, vec![make(0), make(1)][..=place].to_vec(), place, &expect);
            }
        });
    }
    matrix.done();
}

#[test]
fn comparisons() {
    let mut matrix = Matrix::new();
    for mode in ["eq", "ne", "lt", "le", "gt", "ge"] {
        all("pto.tcmp", |arch, ty, make| {
            let (a, b) = (make(0), make(1));
            let mut mask = tile(Ty("ui8"), a.shape[0], 32, [a.valid[0], 32], 5);
            mask.data.fill(0xff);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let (cols, [_, valid]) = (tiles[0].shape[1], tiles[0].valid);
                for i in 0..tiles[0].valid[0] {
                    for (byte, word) in out[32 * i..][..valid.div_ceil(8)].iter_mut().enumerate() {
                        let bit = |k: usize| {
                            let (j, at) = (8 * byte + k, i * cols + 8 * byte + k);
                            j < valid && reference::compare(mode, ty, tiles[0].data[at], tiles[1].data[at])
                        };
                        *word = (0..8).map(|k| u64::from(bit(k)) << k).sum();
                    }
                }
            };
            let text = format!("  pto.tcmp ins(%t0, %t1 {{cmpMode = #pto<cmp {mode}>}} : !t0, !t1) outs(%t2 : !t2)");
            matrix.case(arch, &text, vec![a, b, mask], 2, &expect);
        });
    }
    matrix.done();
}

#[test]
fn choices() {
    let mut matrix = Matrix::new();
    all("pto.tsel", |arch, _, make| {
        let mask = tile(Ty("ui8"), make(0).shape[0], 32, [make(0).valid[0], 32], 77);
        let expect = |tiles: &[Tile], out: &mut [u64]| {
            let cols = tiles[1].shape[1];
            for (i, j) in each(tiles[1].valid) {
                let first = tiles[0].data[32 * i + j / 8] >> (j % 8) & 1 == 1;
                out[i * cols + j] = tiles[if first { 1 } else { 2 }].data[i * cols + j];
            }
        };
        let text = "  pto.tsel ins(%t0, %t1, %t2 : !t0, !t1, !t2) outs(%t3 : !t3)";
        matrix.case(arch, text, vec![mask, make(0), make(1), make(2)], 3, &expect);
    });
    matrix.done();
}

#[test]
fn reductions() {
    let mut matrix = Matrix::new();
    for (name, what) in
        [("sum", "add"), ("prod", "mul"), ("max", "max"), ("min", "min"), ("argmax", ""), ("argmin", "")]
    {
        let result = |ty: Ty| if what.is_empty() { Ty("i32") } else { ty };
        let reduce = |arch: &str, ty: Ty, row: &[u64], along: bool| match what {
            "" => reference::position(name, ty, row),
            _ if along => reference::combine_row(what, ty, row, arch == "a5"),
            _ => reference::combine(what, ty, row, arch == "a5"),
        };
        all(&format!("pto.trow{name}"), |arch, ty, make| {
            let src = make(0);
            let dst = tile(result(ty), src.shape[0], 32, [src.valid[0], 1], 9);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let (cols, [rows, valid]) = (tiles[0].shape[1], tiles[0].valid);
                for i in 0..rows {
                    out[i * tiles[1].shape[1]] = reduce(arch, ty, &tiles[0].data[i * cols..][..valid], true);
                }
            };
            matrix.case(arch, &format!("  pto.trow{name} ins(%t0 : !t0) outs(%t1 : !t1)"), vec![src, dst], 1, &expect);
        });
        all(&format!("pto.tcol{name}"), |arch, ty, make| {
            let src = make(0);
            let width = src.shape[1] * result(ty).bytes();
            let dst = tile(result(ty), 1, width, [1, src.valid[1]], 9);
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let (cols, [rows, valid]) = (tiles[0].shape[1], tiles[0].valid);
                for (j, result) in out.iter_mut().enumerate().take(valid) {
                    let column: Vec<u64> = (0..rows).map(|i| tiles[0].data[i * cols + j]).collect();
                    *result = reduce(arch, ty, &column, false);
                }
            };
            matrix.case(arch, &format!("  pto.tcol{name} ins(%t0 : !t0) outs(%t1 : !t1)"), vec![src, dst], 1, &expect);
        });
    }
    matrix.done();
}

#[test]
fn expansions() {
    let mut matrix = Matrix::new();
    for (axis, name) in ["row", "col"]
        .iter()
        .flat_map(|axis| "add sub mul div max min expdif".split(' ').map(move |name| (*axis, name)))
    {
        all(&format!("pto.t{axis}expand{name}"), |arch, ty, make| {
            let src = make(0);
            let few = match axis {
                "row" => tile(ty, src.shape[0], 32, [src.valid[0], 1], 3),
                _ => tile(ty, 1, src.shape[1] * ty.bytes(), [1, src.valid[1]], 3),
            };
            let expect = |tiles: &[Tile], out: &mut [u64]| {
                let cols = tiles[0].shape[1];
                for (i, j) in each(tiles[0].valid) {
                    let spread = if axis == "row" { tiles[1].data[i * tiles[1].shape[1]] } else { tiles[1].data[j] };
                    out[i * cols + j] = reference::binary(name, ty, tiles[0].data[i * cols + j], spread);
                }
            };
            let text = format!("  pto.t{axis}expand{name} ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)");
            matrix.case(arch, &text, vec![src, few, make(2)], 2, &expect);
        });
    }
    matrix.done();
}

#[test]
fn a_tile_and_a_number() {
    let mut matrix = Matrix::new();
    for name in "add sub mul div max min rem fmod and or xor shl shr lrelu".split(' ') {
        let op = if name == "lrelu" { "pto.tlrelu".to_string() } else { format!("pto.t{name}s") };
        all(&op, |arch, ty, make| {
            let counts: Vec<u64> = [0, 1, i64::from(ty.bits()) - 1, i64::from(ty.bits())].map(|n| n as u64).to_vec();
            let finite = |bits: &u64| !matches!(ty.decode(*bits), numbers::Value::Float(x) if !x.is_finite());
            let scalars = if name.starts_with("sh") {
                counts
            } else {
                elements(ty, 9, 40).into_iter().filter(finite).take(3).collect()
            };
            for scalar in scalars {
                let what = if name == "lrelu" { "prelu" } else { name };
                let expect = |tiles: &[Tile], out: &mut [u64]| {
                    let cols = tiles[0].shape[1];
                    for at in each(tiles[0].valid).map(|(i, j)| i * cols + j) {
                        out[at] = reference::binary(what, ty, tiles[0].data[at], scalar);
                    }
                };
                let text = format!(
                    "  %number = arith.constant {} : {}\n  {op} ins(%t0, %number : !t0, {1}) outs(%t1 : !t1)",
                    reference::literal(ty, scalar),
                    ty.0
                );
                matrix.case(arch, &text, vec![make(0), make(1)], 1, &expect);
            }
        });
    }
    matrix.done();
}
