//! Matrix products whose operands are given by address and extents.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::{BLayout, Elem, Layout, Space};

use super::fractal::{left_layout, right_layout};
use super::matmul::{MatmulArgs, MatmulEffect, Start, product_blocks};
use super::scaled::{Along, Scales, gathered, whole_groups};
use crate::MadArgs;

/// The core with the buffers.
const CORE: Role = Role::Aic;
/// The initial value of a product.
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

impl Tf32 {
    /// A number as a product takes it. What is not finite stays.
    fn rounded(self, x: f32) -> f32 {
        let bits = x.to_bits();
        let up = match self {
            Tf32::Even => 0xfff + (bits >> 13 & 1),
            Tf32::Away => 0x1000,
        };
        if x.is_finite() { f32::from_bits((bits + up) & 0xffff_e000) } else { x }
    }
}

/// `dst = start + a × b` on fractals. Values of a packed type follow each other along k.
///
/// Arguments: [`MadArgs`]. The unit of its cost is one block of 16 rows, 16 columns and 32 bytes of k.
#[derive(Clone, Copy, Debug)]
pub struct Mad {
    /// Element types of `a`, `b` and `dst`.
    pub elems: [Elem; 3],
    /// Order of the fractals in L0A.
    pub left: BLayout,
    /// The initial value.
    pub start: MadStart,
    /// True if a single row of `a` is contiguous.
    pub gemv: bool,
    /// Rounding of the inputs.
    pub tf32: Option<Tf32>,
    /// True if infinities and NaN are made finite, before and after.
    pub saturate: bool,
    /// True if groups of 32 elements of k have a scale, a power of two.
    pub scaled: bool,
}

impl Mad {
    /// The product with the layouts implied by these extents.
    fn matmul(&self, args: &[u64]) -> Result<MatmulEffect, Fault> {
        let given = MadArgs::of(args);
        let (m, k, n) = (given.m, given.k, given.n);
        if [m, k, n].iter().any(|extent| !(1..=MatmulEffect::MOST).contains(extent)) {
            return Err(MatmulEffect::extent_fault(m, k, n));
        }
        if self.scaled {
            whole_groups(k)?;
        }
        let [a, b, c] = self.elems;
        let (left, right) = (k.div_ceil(a.values() as u64), k.div_ceil(b.values() as u64));
        let dst =
            Layout { fractal: 1024, ..Layout::nz(c, m.next_multiple_of(16) as u32, n.next_multiple_of(16) as u32) };
        Ok(MatmulEffect {
            a: if self.gemv && m == 1 { Layout::nd(a, 1, left as u32) } else { left_layout(a, m, left, self.left) },
            b: right_layout(b, right, n),
            dst,
            start: match self.start {
                MadStart::Zero => Start::Zero,
                MadStart::Acc => Start::Acc(dst),
                MadStart::Bias => Start::Bias(Layout::nd(c, 1, n as u32)),
            },
        })
    }

    /// True if the inputs are used unchanged, as the product of tiles reads them.
    fn plain(&self) -> bool {
        self.tf32.is_none() && !self.saturate && !self.scaled && self.elems[0] != Elem::HiF8
    }

    /// An input as used by the product.
    fn input(&self, elem: Elem, x: f32) -> f32 {
        let x = if self.saturate { finite(elem, x) } else { x };
        self.tf32.map_or(x, |mode| mode.rounded(x))
    }
}

/// The largest finite value of a float type.
fn largest(elem: Elem) -> f32 {
    match elem {
        Elem::F16 => 65504.0,
        Elem::BF16 => f32::from_bits(0x7f7f_0000),
        Elem::F8E4M3 => 448.0,
        Elem::F8E5M2 => 57344.0,
        Elem::HiF8 => 32768.0,
        _ => f32::MAX,
    }
}

/// The value with infinities and overflow replaced by the type's largest value, and NaN by 0.
fn finite(elem: Elem, x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(-largest(elem), largest(elem)) }
}

impl Effect for Mad {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = MadArgs::of(args);
        let matmul = self.matmul(args)?;
        let (m, k, n) = (given.m as u32, given.k as u32, given.n as u32);
        let [left, right] = [self.elems[0], self.elems[1]].map(|elem| k.div_ceil(elem.values() as u32));
        matmul.touch(&MatmulArgs::of(args), (m, left), (right, n), access);
        access.units.total += product_blocks(m, k, n, self.elems[0]);
        if self.scaled {
            Scales::of(&matmul, &given).plan(&given, access);
        }
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let given = MadArgs::of(args);
        let matmul = self.matmul(args)?;
        if self.plain() {
            return matmul.run(args, Run { env, memory, scratch, output });
        }
        let scales = self.scaled.then(|| Scales::of(&matmul, &given));
        let input = |elem, x| self.input(elem, x);
        gathered(&matmul, &given, scales, Along::Terms, input, Run { env, memory, scratch, output })?;
        if self.saturate {
            let (bytes, at) = memory.locate_mut(env, CORE, Space::Acc, given.dst);
            let dst = &mut bytes[at..];
            let (m, n) = (given.m as u32, given.n as u32);
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let at = matmul.dst.offset(row, col);
                let Some(bits) = dst[at..].first_chunk_mut::<4>() else { continue };
                *bits = finite(Elem::F32, f32::from_le_bytes(*bits)).to_le_bytes();
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tf32_keeps_ten_bits() {
        let cases = [
            (0x3f80_1000, Tf32::Even, 0x3f80_0000),
            (0x3f80_1000, Tf32::Away, 0x3f80_2000),
            (0x3f80_3000, Tf32::Even, 0x3f80_4000),
            (0xbf80_1001, Tf32::Even, 0xbf80_2000),
            (0x7f7f_ffff, Tf32::Even, 0x7f80_0000),
            (0xff80_0000, Tf32::Even, 0xff80_0000),
            (0x0000_0fff, Tf32::Even, 0x0000_0000),
            (0x0000_1001, Tf32::Even, 0x0000_2000),
        ];
        for (x, mode, want) in cases {
            assert_eq!(mode.rounded(f32::from_bits(x)).to_bits(), want, "{x:#x} {mode:?}");
        }
        assert!(Tf32::Away.rounded(f32::NAN).is_nan());
    }
}
