//! Matrix products of tiles in the Cube core's buffers.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Fault, Run, arguments};
use slipring_tile::copy::{Cast, View, copy};
use slipring_tile::matmul::{Init, matmul_tile};
use slipring_tile::{Elem, Layout, Space};

use super::region::rect_extents;
use super::{outside, valid_shape};

/// The initial value of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Zero.
    Zero,
    /// An accumulator with this layout, possibly the destination itself.
    Acc(Layout),
    /// A row of the bias table.
    Bias(Layout),
}

arguments! {
    /// Addresses of `a`, `b`, `dst` and of the initial value; the extents.
    pub struct MatmulArgs { a, b, dst, start, m, k, n }
}

/// `dst = start + a × b`.
///
/// Arguments: [`MatmulArgs`]. The unit of its cost is one block of 16
/// rows, 16 columns and 32 bytes of k.
#[derive(Clone, Copy, Debug)]
pub struct MatmulEffect {
    /// Left operand, in L0A.
    pub a: Layout,
    /// Right operand, in L0B.
    pub b: Layout,
    /// Accumulator.
    pub dst: Layout,
    /// The initial value.
    pub start: Start,
}

/// The core with the buffers.
const CORE: Role = Role::Aic;

impl MatmulEffect {
    /// Maximum extent of a product.
    pub(super) const MOST: u64 = 4095;

    /// The fault for extents outside the range.
    pub(super) fn extent_fault(m: u64, k: u64, n: u64) -> Fault {
        let message = format!("the product has m = {}, k = {}, n = {}", m as i64, k as i64, n as i64);
        Fault::new("matmul-extent", message).help(format!("each must be in the range [1, {}]", Self::MOST))
    }

    fn extents(&self, args: &[u64]) -> Result<(u32, u32, u32), Fault> {
        let given = MatmulArgs::of(args);
        let (m, k, n) = (given.m, given.k, given.n);
        if [m, k, n].iter().any(|extent| !(1..=Self::MOST).contains(extent)) {
            return Err(Self::extent_fault(m, k, n));
        }
        valid_shape("left operand", &self.a, m, k / self.packed())?;
        valid_shape("right operand", &self.b, k, n / self.packed())?;
        valid_shape("accumulator", &self.dst, m, n)?;
        match &self.start {
            Start::Acc(layout) => valid_shape("accumulator to start from", layout, m, n)?,
            Start::Bias(layout) => valid_shape("bias", layout, 1, n)?,
            Start::Zero => (0, 0),
        };
        Ok((m as u32, k as u32, n as u32))
    }
}

impl MatmulEffect {
    /// Values per element of the operands, which packed types hold adjacent in a row: extents count values.
    pub(super) fn packed(&self) -> u64 {
        self.a.elem.values() as u64
    }

    /// Adds what a product accesses, given rows and columns of elements of both operands.
    pub(super) fn touch(
        &self,
        given: &MatmulArgs<u64>,
        (m, deep): (u32, u32),
        (rows, cols): (u32, u32),
        access: &mut Access,
    ) {
        let n = given.n as u32;
        let reads = &mut access.reads;
        rect_extents(Space::Left, CORE, &self.a, given.a, (0, 0), m, deep, reads);
        rect_extents(Space::Right, CORE, &self.b, given.b, (0, 0), rows, cols, reads);
        match &self.start {
            Start::Acc(layout) => rect_extents(Space::Acc, CORE, layout, given.start, (0, 0), m, n, reads),
            Start::Bias(layout) => rect_extents(Space::Bias, CORE, layout, given.start, (0, 0), 1, n, reads),
            Start::Zero => {}
        }
        rect_extents(Space::Acc, CORE, &self.dst, given.dst, (0, 0), m, n, &mut access.writes);
    }

    /// Moves an accumulator from elsewhere to where the product continues.
    pub(super) fn begin(&self, args: &[u64], run: &mut Run<'_>) -> Result<(), Fault> {
        let given = MatmulArgs::of(args);
        let Start::Acc(layout) = &self.start else { return Ok(()) };
        if given.start == given.dst && *layout == self.dst {
            return Ok(());
        }
        let (m, _, n) = self.extents(args)?;
        let (from, to) = (View::tile(layout, 0, 0), View::tile(&self.dst, 0, 0));
        let source = (CORE, Space::Acc, given.start, layout.bytes());
        let scratch = &mut run.scratch.bytes[0];
        run.memory
            .with_pair(run.env, source, (CORE, Space::Acc, given.dst), scratch, |src, dst| {
                copy(dst, &to, src, &from, m as usize, n as usize, Cast::default())
            })
            .map_err(outside)
    }
}

/// Blocks of the matrix unit needed for a product: 16 rows by 16 columns by 32 bytes of k of the left operand's
/// elements.
pub fn product_blocks(m: u32, k: u32, n: u32, elem: Elem) -> u64 {
    let deep = (u64::from(k) * elem.bytes() as u64).div_ceil(32 * elem.values() as u64);
    u64::from(m.div_ceil(16)) * u64::from(n.div_ceil(16)) * deep
}

impl Effect for MatmulEffect {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = MatmulArgs::of(args);
        let (m, k, n) = self.extents(args)?;
        let packed = self.packed() as u32;
        self.touch(&given, (m, k / packed), (k, n / packed), access);
        access.units.total += product_blocks(m, k, n, self.a.elem);
        Ok(())
    }

    fn run(&self, args: &[u64], mut run: Run<'_>) -> Result<u64, Fault> {
        let given = MatmulArgs::of(args);
        let (m, k, n) = self.extents(args)?;
        let (rows, depth, cols) = (m as usize, k as usize, n as usize);
        self.begin(args, &mut run)?;
        let Run { env, memory, scratch, .. } = run;
        let mut acc = memory.take(env, CORE, Space::Acc, given.dst);
        let (a, at) = memory.locate(env, CORE, Space::Left, given.a);
        let a = &a[at..];
        let (b, at) = memory.locate(env, CORE, Space::Right, given.b);
        let b = &b[at..];
        let init = match &self.start {
            Start::Zero => Init::Zero,
            Start::Acc(_) => Init::Acc,
            Start::Bias(layout) => {
                let (bytes, at) = memory.locate(env, CORE, Space::Bias, given.start);
                let view = View::tile(layout, 0, 0);
                let row = &mut scratch.bytes[0];
                row.resize(cols * layout.elem.bytes(), 0);
                slipring_tile::copy::read_row(&bytes[at..], &view, 0, 0, row);
                Init::Bias(row)
            }
        };
        let dst = &mut acc[given.dst as usize..];
        let outcome =
            matmul_tile(&mut scratch.matmul, dst, &self.dst, a, &self.a, b, &self.b, (rows, depth, cols), init);
        memory.put_back(env, CORE, Space::Acc, given.dst, acc);
        outcome.map_err(|error| Fault::new("matmul", error.to_string()))?;
        Ok(0)
    }
}
