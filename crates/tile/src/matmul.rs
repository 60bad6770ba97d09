//! Matrix products of tiles.
//!
//! Each element of the result is one chain of fused multiply-adds in ascending order of k that starts from the
//! accumulator's old value, zero, or the bias: `c = fma(a[i][k], b[k][j], c)` in `f32`, or wrapping `i32` for 8-bit
//! integers, where the order does not matter, so two or four products form one term. (Products of two `f16` or `bf16`
//! values are exact in `f32`, so fused and separate addition agree there.) The kernel keeps this order by updating a
//! block of the result with one column of A times one row of B at a time; SIMD width and threads only decide which
//! elements are processed together, so they cannot change any bit of the result. A NaN in the result is the canonical
//! one, `0x7fc00000`.

mod kernel;
mod operands;
mod pack;
mod quads;
mod term;
#[cfg(test)]
mod tests;
mod vector;

use std::fmt;

use crate::copy::{Cast, View, copy};
use crate::matmul::operands::{Operands, PANEL, STRIP};
use crate::matmul::term::{Grouped, Term};
use crate::{BLayout, Elem, Layout, SLayout};
use pack::Packed;

pub use operands::Init;

/// Why a product was refused; the accumulator is then unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatmulError {
    /// There is no product of these element types with this accumulator (A, B, accumulator).
    Types(Elem, Elem, Elem),
    /// The valid extents do not fit one of the layouts, or bytes are missing; the operand is named.
    Extent(&'static str),
}

impl fmt::Display for MatmulError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatmulError::Types(a, b, c) => write!(f, "no matrix product of {a} and {b} into {c}"),
            MatmulError::Extent(what) => write!(f, "the extents of the product do not fit {what}"),
        }
    }
}

impl std::error::Error for MatmulError {}

/// Working memory of the product, kept between calls so that none of them allocates once it has grown.
#[derive(Default, Debug)]
pub struct Scratch {
    float: Packed<f32>,
    int: Packed<i32>,
    strips: Vec<[u8; STRIP]>,
}

/// Number of multiply-adds below which one thread computes the whole product: some 50 microseconds of work, a few times
/// the cost of handing half of it to another thread.
const PARALLEL: usize = 1 << 22;

/// `dst[m, n] = init + a[m, k] * b[k, n]`, the valid extents of three tiles in any layouts.
///
/// Floats (each of A and B `f32`, `f16`, `bf16` or an 8-bit float) accumulate in `f32`; `i8` and `ui8` (also mixed) in
/// `i32`. Elements of `dst` outside `m` × `n` keep their values.
#[allow(clippy::too_many_arguments)]
pub fn matmul_tile(
    scratch: &mut Scratch,
    dst: &mut [u8],
    dst_layout: &Layout,
    a: &[u8],
    a_layout: &Layout,
    b: &[u8],
    b_layout: &Layout,
    (m, k, n): (usize, usize, usize),
    init: Init,
) -> Result<(), MatmulError> {
    let fits = |bytes: usize, layout: &Layout, rows: usize, cols: usize| {
        // Boxes are unpacked through a buffer of 1024 elements.
        let small = layout.slayout == SLayout::NoneBox || layout.fractal <= 1024;
        bytes >= layout.bytes()
            && layout.is_whole()
            && small
            && rows <= layout.rows as usize
            && cols <= layout.cols as usize
    };
    if !fits(a.len(), a_layout, m, k) {
        return Err(MatmulError::Extent("A"));
    }
    if !fits(b.len(), b_layout, k, n) {
        return Err(MatmulError::Extent("B"));
    }
    if !fits(dst.len(), dst_layout, m, n) {
        return Err(MatmulError::Extent("the accumulator"));
    }
    if matches!(init, Init::Bias(bias) if bias.len() < n * dst_layout.elem.bytes()) {
        return Err(MatmulError::Extent("the bias"));
    }
    let operands = Operands { a, a_layout, b, b_layout, m, k, n, init };
    let eight_bits = |e: Elem| matches!(e, Elem::I8 | Elem::U8);
    let floats = |e: Elem| e.is_float() && e.values() == 1;
    match dst_layout.elem {
        Elem::F32 if floats(a_layout.elem) && floats(b_layout.elem) => {
            run(&operands, &mut scratch.float, &mut scratch.strips, dst, dst_layout);
        }
        Elem::I32 if eight_bits(a_layout.elem) && eight_bits(b_layout.elem) => {
            run(&operands, &mut scratch.int, &mut scratch.strips, dst, dst_layout);
        }
        _ => return Err(MatmulError::Types(a_layout.elem, b_layout.elem, dst_layout.elem)),
    }
    Ok(())
}

/// Converts the accumulator to strips (16 columns wide, all rows consecutive) and runs the product there. The layout of
/// accumulators (NZ with boxes of 1024 bytes) already has this form.
fn run<T: Term>(
    operands: &Operands,
    packed: &mut Packed<T>,
    strips: &mut Vec<[u8; STRIP]>,
    dst: &mut [u8],
    layout: &Layout,
) {
    let (m, n) = (operands.m, operands.n);
    if m == 0 || n == 0 {
        return;
    }
    let is_strips =
        layout.blayout == BLayout::ColMajor && layout.slayout == SLayout::RowMajor && layout.fractal == 1024;
    if is_strips {
        let rows = layout.rows as usize;
        let dst = &mut dst.as_chunks_mut().0[..n.div_ceil(16) * rows];
        return product(operands, packed, dst, rows);
    }
    let rows = m.next_multiple_of(16);
    let own = Layout { fractal: 1024, ..Layout::nz(layout.elem, rows as u32, n.next_multiple_of(16) as u32) };
    strips.resize(n.div_ceil(16) * rows, [0; STRIP]);
    // Neither copy can fail: the extents were checked, and the types are equal.
    let (strip_view, view, cast) = (View::tile(&own, 0, 0), View::tile(layout, 0, 0), Cast::default());
    if matches!(operands.init, Init::Acc) {
        let _ = copy(strips.as_flattened_mut(), &strip_view, dst, &view, m, n, cast);
    }
    product(operands, packed, strips, rows);
    let _ = copy(dst, &view, strips.as_flattened(), &strip_view, m, n, cast);
}

/// Computes the product into strips of `rows` rows each.
fn product<T: Term>(operands: &Operands, packed: &mut Packed<T>, dst: &mut [[u8; STRIP]], rows: usize) {
    let &Operands { a, a_layout, b, b_layout, m, k, n, init } = operands;
    let quads = if T::INTEGER { quads::layouts(operands) } else { None };
    let (grouped, a_layout, b_layout, terms) = match &quads {
        Some((a, b)) => (Grouped::Quads, a, b, k.div_ceil(4)),
        None if T::INTEGER => (Grouped::Pairs, a_layout, b_layout, k),
        None => (Grouped::Alone, a_layout, b_layout, k),
    };
    let signed = operands.a_layout.elem.is_signed_int();
    let (a_lines, b_lines) = packed.lines(m * terms.div_ceil(PANEL), terms * n.div_ceil(PANEL));
    for (p, panel) in a_lines.chunks_mut(m).enumerate() {
        pack::panel(a_layout, a, m, p * PANEL, panel);
    }
    match grouped {
        Grouped::Alone => {}
        Grouped::Pairs => pack::pair_columns(a_lines, m),
        Grouped::Quads => T::without_sign(a_lines, m, k, signed),
    }
    let a_lines = &*a_lines;
    // One panel of B covers two strips of the result.
    let part = |first: usize, b_lines: &mut [[T; PANEL]], dst: &mut [[u8; STRIP]]| {
        for (i, strips) in dst.chunks_mut(2 * rows).enumerate() {
            let p = first + i;
            let panel = &mut b_lines[i * terms..(i + 1) * terms];
            pack::panel(b_layout, b, terms, p * PANEL, panel);
            let panel = if grouped == Grouped::Pairs { pack::pair_rows(panel) } else { panel };
            let width = (n - p * PANEL).min(PANEL);
            kernel::start::<T>(strips, rows, m, p * PANEL, n, init);
            if grouped == Grouped::Quads && signed {
                T::take_sums(panel, k, strips, (rows, m, width));
            }
            kernel::panel(grouped, a_lines, m, panel, strips, rows, width);
        }
    };
    let panels = n.div_ceil(PANEL);
    if panels < 2 || m * k * n < PARALLEL || rayon::current_num_threads() < 2 {
        return part(0, b_lines, dst);
    }
    let half = panels / 2;
    let (b_left, b_right) = b_lines.split_at_mut(half * terms);
    let (left, right) = dst.split_at_mut(half * 2 * rows);
    rayon::join(|| part(0, b_left, left), || part(half, b_right, right));
}
