//! Products of operands that are given by address and extents.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Extent, Fault, Run, arguments};
use slipring_tile::copy::{View, read_row, read_row_f32};
use slipring_tile::matmul::{Init, matmul_tile};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space, load_f32};

use super::fractal::{left_layout, right_layout};
use super::matmul::{MatmulEffect, Start};

/// The core that has the buffers.
const CORE: Role = Role::Aic;
/// Elements of k that share a scale.
const GROUP: u64 = 32;

/// What a product starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum MadStart {
    Zero,
    /// The accumulator itself.
    Acc,
    /// One value for each column, in the bias table.
    Bias,
}

/// Rounding of `f32` inputs to 10 bits of mantissa.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tf32 {
    /// To nearest, ties to even.
    Even,
    /// To nearest, ties away from zero.
    Away,
}

arguments! {
    /// Those of [`MatmulArgs`](super::MatmulArgs); the addresses of the scales of `a` and `b`, where it has any.
    pub struct MadArgs { a, b, dst, start, m, k, n, left_scales, right_scales }
}

/// `dst = start + a × b` on fractals.
///
/// Arguments: [`MadArgs`]. The unit of its cost is one block of 16 rows, 16 columns and 32 bytes of k.
#[derive(Clone, Copy, Debug)]
pub struct Mad {
    /// Element types of `a`, `b` and `dst`.
    pub elems: [Elem; 3],
    /// Order of the fractals in L0A.
    pub left: BLayout,
    /// What is added to the product.
    pub start: MadStart,
    /// True where a single row of `a` lies contiguously.
    pub gemv: bool,
    /// Rounding of the inputs.
    pub tf32: Option<Tf32>,
    /// True where infinities and NaN are made finite, before and after.
    pub saturate: bool,
    /// True where groups of 32 elements of k have a scale, a power of two.
    pub scaled: bool,
}

impl Mad {
    /// The product with the layouts that these extents make.
    fn matmul(&self, args: &[u64]) -> Result<MatmulEffect, Fault> {
        let given = MadArgs::of(args);
        let (m, k, n) = (given.m, given.k, given.n);
        if [m, k, n].iter().any(|extent| !(1..=MatmulEffect::MOST).contains(extent)) {
            return Err(MatmulEffect::extent_fault(m, k, n));
        }
        if self.scaled && !k.is_multiple_of(2 * GROUP) {
            return Err(Fault::new("mad-mx-k", format!("a product with scales has k = {k}"))
                .help(format!("k must be a multiple of {}", 2 * GROUP)));
        }
        let [a, b, c] = self.elems;
        let dst =
            Layout { fractal: 1024, ..Layout::nz(c, m.next_multiple_of(16) as u32, n.next_multiple_of(16) as u32) };
        Ok(MatmulEffect {
            a: if self.gemv && m == 1 { Layout::nd(a, 1, k as u32) } else { left_layout(a, m, k, self.left) },
            b: right_layout(b, k, n),
            dst,
            start: match self.start {
                MadStart::Zero => Start::Zero,
                MadStart::Acc => Start::Acc(dst),
                MadStart::Bias => Start::Bias(Layout::nd(c, 1, n as u32)),
            },
        })
    }

    /// True where the inputs are what the memory holds.
    fn plain(&self) -> bool {
        self.tf32.is_none() && !self.saturate && !self.scaled
    }

    /// An input as it enters the product.
    fn input(&self, elem: Elem, x: f32) -> f32 {
        let x = if self.saturate { finite(elem, x) } else { x };
        match self.tf32 {
            Some(mode) if x.is_finite() => {
                let bits = x.to_bits();
                let up = match mode {
                    Tf32::Even => 0xfff + (bits >> 13 & 1),
                    Tf32::Away => 0x1000,
                };
                f32::from_bits((bits + up) & 0xffff_e000)
            }
            _ => x,
        }
    }

    /// An operand as `f32`, row by row.
    fn gather(&self, bytes: &[u8], layout: &Layout, (rows, cols): (usize, usize), out: &mut Vec<f32>) {
        let view = View::tile(layout, 0, 0);
        out.resize(rows * cols, 0.0);
        for (row, out) in out.chunks_mut(cols).enumerate() {
            read_row_f32(bytes, &view, row, 0, out);
            out.iter_mut().for_each(|x| *x = self.input(layout.elem, *x));
        }
    }
}

/// The largest finite value of a float type.
fn largest(elem: Elem) -> f32 {
    match elem {
        Elem::F16 => 65504.0,
        Elem::BF16 => f32::from_bits(0x7f7f_0000),
        Elem::F8E4M3 => 448.0,
        Elem::F8E5M2 => 57344.0,
        _ => f32::MAX,
    }
}

/// The value with infinities and what is beyond the type made its largest value, NaN made 0.
fn finite(elem: Elem, x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(-largest(elem), largest(elem)) }
}

/// How the scales of a left operand lie: 16 rows by 2 groups in 32 bytes.
fn left_scales(m: u64, k: u64) -> Layout {
    let (rows, cols) = (m.next_multiple_of(16) as u32, (k / GROUP) as u32);
    Layout { fractal: 32, ..Layout::nz(Elem::U8, rows, cols) }
}

/// How the scales of a right operand lie: 2 groups by 16 columns in 32 bytes.
fn right_scales(k: u64, n: u64) -> Layout {
    let (rows, cols) = ((k / GROUP) as u32, n.next_multiple_of(16) as u32);
    let (blayout, slayout) = (BLayout::RowMajor, SLayout::ColMajor);
    Layout { elem: Elem::U8, rows, cols, blayout, slayout, fractal: 32 }
}

impl Effect for Mad {
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        let given = MadArgs::of(args);
        self.matmul(args)?.plan(args, env, access)?;
        if self.scaled {
            let (m, k, n) = (given.m, given.k, given.n);
            let run = |space, at, layout: Layout| Extent::run(space, CORE, at, layout.bytes() as u32);
            access.reads.push(run(Space::Left, given.left_scales, left_scales(m, k)));
            access.reads.push(run(Space::Right, given.right_scales, right_scales(k, n)));
        }
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let given = MadArgs::of(args);
        let matmul = self.matmul(args)?;
        if self.plain() {
            return matmul.run(args, Run { env, memory, scratch, output });
        }
        let (m, k, n) = (given.m as usize, given.k as usize, given.n as usize);
        let from = |space, address| {
            let (bytes, at) = memory.locate(env, CORE, space, address);
            &bytes[at..]
        };
        let [a, b, scales, _] = &mut scratch.floats;
        self.gather(from(Space::Left, given.a), &matmul.a, (m, k), a);
        self.gather(from(Space::Right, given.b), &matmul.b, (k, n), b);
        if self.scaled {
            let load = |space, address, layout: &Layout, scales: &mut Vec<f32>| {
                scales.resize(layout.bytes(), 0.0);
                load_f32(Elem::F8E8M0, &from(space, address)[..layout.bytes()], scales);
            };
            let (left, right) = (left_scales(given.m, given.k), right_scales(given.k, given.n));
            load(Space::Left, given.left_scales, &left, scales);
            for (at, x) in a.iter_mut().enumerate() {
                *x *= scales[left.offset((at / k) as u32, (at % k) as u32 / GROUP as u32)];
            }
            load(Space::Right, given.right_scales, &right, scales);
            for (at, x) in b.iter_mut().enumerate() {
                *x *= scales[right.offset((at / n) as u32 / GROUP as u32, (at % n) as u32)];
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
        let dst = &mut bytes[at..];
        matmul_tile(&mut scratch.matmul, dst, &matmul.dst, left, &a, right, &b, (m, k, n), init)
            .map_err(|error| Fault::new("matmul", error.to_string()))?;
        if self.saturate {
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let at = matmul.dst.offset(row as u32, col as u32);
                let Some(bits) = dst[at..].first_chunk_mut::<4>() else { continue };
                *bits = finite(Elem::F32, f32::from_le_bytes(*bits)).to_le_bytes();
            }
        }
        Ok(0)
    }
}
