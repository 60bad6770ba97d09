//! Products with scales for groups of elements (microscaling), and other products whose inputs are transformed on the
//! way into the unit.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Extent, Fault, Run};
use slipring_tile::copy::{View, read_row, read_row_f32};
use slipring_tile::matmul::{Init, matmul_tile};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space, load_f32};

use super::matmul::{MatmulEffect, Start};
use super::product::MadArgs;

/// The core with the buffers.
const CORE: Role = Role::Aic;
/// Elements of k that share a scale.
pub const SCALE_GROUP: u64 = 32;
/// Elements of k processed by the unit at once.
const STEP: u64 = 2 * SCALE_GROUP;

/// Reports a k that is not a whole number of steps.
pub(super) fn whole_groups(k: u64) -> Result<(), Fault> {
    if k.is_multiple_of(STEP) {
        return Ok(());
    }
    let message = format!("a product with scales has k = {k}");
    Err(Fault::new("mad-mx-k", message).help(format!("k must be a multiple of {STEP}")))
}

/// The layout of the scales of a product's operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scales {
    left: Layout,
    right: Layout,
}

impl Scales {
    /// For a left operand 16 rows by 2 groups in 32 bytes, for a right one 2 groups by 16 columns; the boxes of a line
    /// are consecutive along k. In a product of a row and a matrix, the row has contiguous scales.
    pub fn of(matmul: &MatmulEffect, given: &MadArgs<u64>) -> Scales {
        let groups = (given.k / SCALE_GROUP) as u32;
        let boxes = |rows, cols, blayout, slayout| Layout { elem: Elem::U8, rows, cols, blayout, slayout, fractal: 32 };
        let left = match matmul.a.slayout {
            SLayout::NoneBox => Layout::nd(Elem::U8, 1, groups),
            _ => {
                let rows = given.m.next_multiple_of(16) as u32;
                boxes(rows, groups, BLayout::RowMajor, SLayout::RowMajor)
            }
        };
        let cols = given.n.next_multiple_of(16) as u32;
        Scales { left, right: boxes(groups, cols, BLayout::ColMajor, SLayout::ColMajor) }
    }

    pub fn plan(&self, given: &MadArgs<u64>, access: &mut Access) {
        let run = |space, at, layout: Layout| Extent::run(space, CORE, at, layout.bytes() as u32);
        access.reads.push(run(Space::LeftScale, given.left_scales, self.left));
        access.reads.push(run(Space::RightScale, given.right_scales, self.right));
    }
}

/// A product of two tiles whose groups of 32 elements of k have scales, powers of two, in the memories next to L0A and
/// L0B.
///
/// Arguments: [`MadArgs`]. The unit of its cost is that of [`MatmulEffect`].
#[derive(Clone, Copy, Debug)]
pub struct ScaledMatmul {
    /// The product without scales.
    pub matmul: MatmulEffect,
}

impl ScaledMatmul {
    /// Reports scales that the unit would not find, and a k whose scales are in other lines than the operand's.
    fn fits(&self, given: &MadArgs<u64>) -> Result<(), Fault> {
        whole_groups(given.k)?;
        if given.k != u64::from(self.matmul.a.cols) * self.matmul.packed() {
            let message =
                format!("a product with scales over k = {} of an operand of {} columns", given.k, self.matmul.a.cols);
            return Err(
                Fault::new("mad-mx-k", message).help("all columns of the left operand take part: pad it with zeros")
            );
        }
        for (side, data, scales) in [("left", given.a, given.left_scales), ("right", given.b, given.right_scales)] {
            if scales != data / Space::SCALED_BYTES {
                let message = format!("the scales of the {side} operand lie at {scales}, the operand at {data}");
                return Err(Fault::new("mx-address", message)
                    .help(format!("the unit reads them at {}: leave their address out", data / Space::SCALED_BYTES)));
            }
        }
        Ok(())
    }
}

impl Effect for ScaledMatmul {
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        let given = MadArgs::of(args);
        self.fits(&given)?;
        self.matmul.plan(args, env, access)?;
        Scales::of(&self.matmul, &given).plan(&given, access);
        Ok(())
    }

    fn run(&self, args: &[u64], mut run: Run<'_>) -> Result<u64, Fault> {
        let given = MadArgs::of(args);
        self.fits(&given)?;
        self.matmul.begin(args, &mut run)?;
        gathered(&self.matmul, &given, Some(Scales::of(&self.matmul, &given)), Along::Columns, |_, x| x, run)?;
        Ok(0)
    }
}

/// An operand as `f32`, row by row.
fn gather(
    bytes: &[u8],
    layout: &Layout,
    (rows, cols): (usize, usize),
    input: impl Fn(Elem, f32) -> f32,
    packed: &mut Vec<u8>,
    out: &mut Vec<f32>,
) {
    let view = View::tile(layout, 0, 0);
    out.resize(rows * cols, 0.0);
    packed.resize(cols / layout.elem.values() * layout.elem.bytes(), 0);
    for (row, out) in out.chunks_mut(cols).enumerate() {
        if layout.elem.values() > 1 {
            read_row(bytes, &view, row, 0, packed);
            load_f32(layout.elem, packed, out);
        } else {
            read_row_f32(bytes, &view, row, 0, out);
        }
        out.iter_mut().for_each(|x| *x = input(layout.elem, *x));
    }
}

/// The direction in which the values of a packed element of a right operand follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Along {
    /// From column to column.
    Columns,
    /// From one term of a sum to the next.
    Terms,
}

/// A right operand whose elements hold several terms, as `f32`, row by row.
fn gather_terms(
    bytes: &[u8],
    layout: &Layout,
    (rows, cols): (usize, usize),
    input: impl Fn(Elem, f32) -> f32,
    packed: &mut Vec<u8>,
    out: &mut Vec<f32>,
) {
    let values = layout.elem.values();
    gather(bytes, layout, (rows.div_ceil(values), values * cols), input, packed, out);
    if values == 1 {
        return;
    }
    // A row of elements holds so many rows, one value of each after the other.
    let mut terms = vec![0.0; values * cols];
    for rows in out.chunks_mut(values * cols) {
        terms.copy_from_slice(rows);
        rows.iter_mut().enumerate().for_each(|(at, x)| *x = terms[at % cols * values + at / cols]);
    }
    out.truncate(rows * cols);
}

/// A product of the operands after `input` and the scales are applied; an accumulator used as the initial value is at
/// `dst`.
pub(super) fn gathered(
    matmul: &MatmulEffect,
    given: &MadArgs<u64>,
    scales: Option<Scales>,
    along: Along,
    input: impl Fn(Elem, f32) -> f32,
    Run { env, memory, scratch, .. }: Run<'_>,
) -> Result<(), Fault> {
    let (m, k, n) = (given.m as usize, given.k as usize, given.n as usize);
    let from = |space, address| {
        let (bytes, at) = memory.locate(env, CORE, space, address);
        &bytes[at..]
    };
    let [a, b, factors, _] = &mut scratch.floats;
    let row = &mut scratch.bytes[0];
    gather(from(Space::Left, given.a), &matmul.a, (m, k), &input, row, a);
    match along {
        Along::Columns => gather(from(Space::Right, given.b), &matmul.b, (k, n), &input, row, b),
        Along::Terms => gather_terms(from(Space::Right, given.b), &matmul.b, (k, n), &input, row, b),
    }
    if let Some(Scales { left, right }) = scales {
        let load = |space, address, layout: &Layout, factors: &mut Vec<f32>| {
            factors.resize(layout.bytes(), 0.0);
            load_f32(Elem::F8E8M0, &from(space, address)[..layout.bytes()], factors);
        };
        let group = SCALE_GROUP as u32;
        load(Space::LeftScale, given.left_scales, &left, factors);
        for (at, x) in a.iter_mut().enumerate() {
            *x *= factors[left.offset((at / k) as u32, (at % k) as u32 / group)];
        }
        load(Space::RightScale, given.right_scales, &right, factors);
        for (at, x) in b.iter_mut().enumerate() {
            *x *= factors[right.offset((at / n) as u32 / group, (at % n) as u32)];
        }
    }
    let bytes = |floats: &[f32], out: &mut Vec<u8>| {
        out.clear();
        out.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
    };
    let [bias, left, right, ..] = &mut scratch.bytes;
    bytes(a, left);
    bytes(b, right);
    let init = match &matmul.start {
        Start::Zero => Init::Zero,
        Start::Acc(_) => Init::Acc,
        Start::Bias(layout) => {
            bias.resize(n * layout.elem.bytes(), 0);
            read_row(from(Space::Bias, given.start), &View::tile(layout, 0, 0), 0, 0, bias);
            Init::Bias(bias)
        }
    };
    let (a, b) = (Layout::nd(Elem::F32, m as u32, k as u32), Layout::nd(Elem::F32, k as u32, n as u32));
    let (bytes, at) = memory.locate_mut(env, CORE, Space::Acc, given.dst);
    matmul_tile(&mut scratch.matmul, &mut bytes[at..], &matmul.dst, left, &a, right, &b, (m, k, n), init)
        .map_err(|error| Fault::new("matmul", error.to_string()))
}
