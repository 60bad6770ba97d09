//! Fractals in transit to the matrix unit: from global memory into L1, and from L1 into L0A and L0B.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Fault, Run, arguments};
use slipring_tile::copy::{Cast, View, copy, fill_rect};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

use super::bursts::{nest_extents, walk};
use super::move_rect::MoveArgs;
use super::region::rect_extents;
use super::{Corner, Finish, Scales, outside};

/// Bytes of a line of a fractal.
pub(super) const C0: u64 = 32;
/// Rows of a fractal.
pub(super) const ROWS: u64 = 16;
/// Channels of a line when small lines are packed.
const SMALL: u64 = 4;
/// Maximum number of lines written by one op.
const MOST_LINES: u64 = 1 << 24;

/// The core with the buffers.
pub(super) const CORE: Role = Role::Aic;

/// Maximum extent of a matrix, in elements.
const MOST: u64 = 65535;

/// The width of the squares in which elements of this type are exchanged.
pub(super) fn square_width(elem: Elem) -> u64 {
    ROWS.max(C0 / elem.bytes() as u64)
}

arguments! {
    /// Source and destination address; rows `n` and columns `d`; bytes from one row of the source to the next (`dn`:
    /// one column), from one matrix to the next; matrices; strides in the destination, in units of 32 bytes: of rows,
    /// of blocks of columns, of matrices; whether small lines are packed.
    pub struct FractalArgs { from, to, n, d, inner, outer, groups, row, block, matrix, small }
}

/// Loads matrices of global memory into fractals of L1.
///
/// Arguments: [`FractalArgs`]. The unit of its cost is a byte of the destination.
#[derive(Clone, Copy, Debug)]
pub struct FractalLoad {
    /// Element type.
    pub elem: Elem,
    /// True if the source is stored by columns: `src[d, n]`.
    pub dn: bool,
}

struct Shape {
    n: u64,
    d: u64,
    inner: u64,
    outer: u64,
    groups: u64,
    /// Strides in bytes between rows, blocks of columns and matrices in the destination.
    steps: [u64; 3],
    small: bool,
}

impl FractalLoad {
    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let given = FractalArgs::of(args);
        let names = ["n", "d", "number of matrices"];
        for (name, value) in names.into_iter().zip([given.n, given.d, given.groups]) {
            if value > MOST {
                return Err(Fault::new("dma-operand", format!("{name} is {}", value as i64))
                    .help(format!("it lies between 0 and {MOST}")));
            }
        }
        if given.groups == 0 {
            return Err(
                Fault::new("dma-operand", "the number of matrices is 0").help(format!("it lies between 1 and {MOST}"))
            );
        }
        let lines = given.n * given.d.div_ceil(C0 / self.elem.bytes() as u64) * given.groups;
        if lines > MOST_LINES {
            return Err(Fault::new("dma-size", format!("this load has {lines} lines, more than {MOST_LINES}")));
        }
        let small = given.small != 0;
        if small && given.d > SMALL {
            return Err(Fault::new("dma-small", format!("small lines have at most {SMALL} channels, not {}", given.d)));
        }
        let steps = [given.row, given.block, given.matrix].map(|step| step.saturating_mul(C0));
        Ok(Shape { n: given.n, d: given.d, inner: given.inner, outer: given.outer, groups: given.groups, steps, small })
    }

    /// Bytes of a matrix with packed small lines.
    fn packed(&self, shape: &Shape) -> u64 {
        (shape.n * SMALL * self.elem.bytes() as u64).next_multiple_of(C0)
    }
}

impl Effect for FractalLoad {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = FractalArgs::of(args);
        let shape = self.shape(args)?;
        let size = self.elem.bytes() as u64;
        if shape.n == 0 || shape.d == 0 {
            return Ok(());
        }
        let (long, lines) = if self.dn { (shape.n, shape.d) } else { (shape.d, shape.n) };
        let levels = [(lines, [shape.inner]), (shape.groups, [shape.outer])];
        nest_extents((Space::Gm, CORE, given.from), long * size, &levels, &mut access.reads);
        let [row, block, matrix] = shape.steps;
        let blocks = (shape.d * size).div_ceil(C0);
        let target = (Space::Mat, CORE, given.to);
        if shape.small {
            nest_extents(target, self.packed(&shape), &[(shape.groups, [matrix])], &mut access.writes);
        } else {
            let levels = [(shape.n, [row]), (blocks, [block]), (shape.groups, [matrix])];
            nest_extents(target, C0, &levels, &mut access.writes);
        }
        access.units.total += shape.n * blocks * C0 * shape.groups;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = FractalArgs::of(args);
        let shape = self.shape(args)?;
        if shape.n == 0 || shape.d == 0 {
            return Ok(0);
        }
        let size = self.elem.bytes() as u64;
        let (source, target) = ((CORE, Space::Gm, given.from, usize::MAX), (CORE, Space::Mat, given.to));
        let (n, lane) = (shape.n as usize, if shape.small { SMALL } else { C0 / size });
        let row = if shape.small { SMALL * size } else { shape.steps[0] };
        let levels = [(shape.d.div_ceil(lane), [0, shape.steps[1]]), (shape.groups, [shape.outer, shape.steps[2]])];
        let mut outcome = Ok(());
        memory.with_pair(env, source, target, &mut scratch.bytes[0], |src, dst| {
            if shape.small {
                let bytes = self.packed(&shape) as usize;
                (0..shape.groups).for_each(|g| dst[(g * shape.steps[2]) as usize..][..bytes].fill(0));
            }
            let mut block = 0;
            walk(&levels, [0, 0], &mut |[from, to]| {
                let first = block % shape.d.div_ceil(lane) * lane;
                block += 1;
                let cols = lane.min(shape.d - first) as usize;
                let (down, right) = if self.dn { (size, shape.inner) } else { (shape.inner, size) };
                let from = View::strided(self.elem, (from + first * right) as usize, down as usize, right as usize);
                let line = View::strided(self.elem, to as usize, row as usize, size as usize);
                let rest = View::strided(self.elem, to as usize + cols * size as usize, row as usize, size as usize);
                let moved = copy(dst, &line, src, &from, n, cols, Cast::default());
                let filled = fill_rect(dst, &rest, n, lane as usize - cols, &[0; 8][..size as usize]);
                outcome = std::mem::replace(&mut outcome, Ok(())).and(moved).and(filled);
            });
        });
        outcome.map_err(outside)?;
        Ok(0)
    }
}

/// The layout of an L1 tile accepted by the matrix unit's loads: column blocks of whole fractals.
pub fn l1_layout(elem: Elem, rows: u64, cols: u64) -> Layout {
    let lane = C0 / elem.bytes() as u64;
    Layout::nz(elem, rows.next_multiple_of(ROWS) as u32, cols.next_multiple_of(lane) as u32)
}

/// The layout of a left operand of `m` × `k` elements.
pub fn left_layout(elem: Elem, m: u64, k: u64, blayout: BLayout) -> Layout {
    Layout { blayout, ..l1_layout(elem, m, k) }
}

/// The layout of a right operand of `k` × `n` elements.
pub fn right_layout(elem: Elem, k: u64, n: u64) -> Layout {
    let turned = l1_layout(elem, n, k);
    Layout { rows: turned.cols, cols: turned.rows, blayout: BLayout::RowMajor, slayout: SLayout::ColMajor, ..turned }
}

/// Loads an operand of the matrix unit from L1.
///
/// Arguments: [`MoveArgs`]: the shape is that of the operand. The unit of its cost is a byte.
#[derive(Clone, Copy, Debug)]
pub struct OperandLoad {
    /// Element type.
    pub elem: Elem,
    /// Order of the fractals of a left operand; `None` for a right one.
    pub left: Option<BLayout>,
    /// True if the fractals in L1 hold the operand transposed: columns × rows.
    pub turned: bool,
}

impl OperandLoad {
    /// True if elements are exchanged on the way. Where both sides have the same order, fractals move as they are.
    fn exchanges(&self) -> bool {
        self.left.is_some() == self.turned
    }

    /// Layouts of source and destination, and the moved rows and columns in the destination's orientation. Elements are
    /// exchanged in whole squares.
    fn layouts(&self, args: &[u64]) -> Result<(Layout, Layout, u32, u32), Fault> {
        let given = MoveArgs::of(args);
        let (rows, cols) = (given.rows, given.cols);
        if !(1..=MOST).contains(&rows) || !(1..=MOST).contains(&cols) {
            let message = format!("the operand has {} x {} elements", rows as i64, cols as i64);
            return Err(Fault::new("operand-extent", message).help(format!("each must be in the range [1, {MOST}]")));
        }
        let unit = if self.exchanges() { square_width(self.elem) } else { 1 };
        let [rows, cols] = [rows, cols].map(|extent| extent.next_multiple_of(unit));
        let to = match self.left {
            Some(blayout) => left_layout(self.elem, rows, cols, blayout),
            None => right_layout(self.elem, rows, cols),
        };
        let from = if self.turned { l1_layout(self.elem, cols, rows) } else { l1_layout(self.elem, rows, cols) };
        Ok((from, to, rows as u32, cols as u32))
    }

    fn space(&self) -> Space {
        if self.left.is_some() { Space::Left } else { Space::Right }
    }
}

impl Effect for OperandLoad {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = MoveArgs::of(args);
        let (from, to, rows, cols) = self.layouts(args)?;
        for (space, address) in [(Space::Mat, given.from), (self.space(), given.to)] {
            let align = if space == Space::Mat { C0 } else { C0 * ROWS };
            if !address.is_multiple_of(align) {
                let message = format!("the address {address} in `{space}` is not a multiple of {align} bytes");
                return Err(Fault::new("dma-alignment", message));
            }
        }
        let (r, c) = if self.turned { (cols, rows) } else { (rows, cols) };
        rect_extents(Space::Mat, CORE, &from, given.from, (0, 0), r, c, &mut access.reads);
        rect_extents(self.space(), CORE, &to, given.to, (0, 0), rows, cols, &mut access.writes);
        access.units.total += to.bytes() as u64;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = MoveArgs::of(args);
        let (from, mut to, mut rows, mut cols) = self.layouts(args)?;
        let source = (CORE, Space::Mat, given.from, from.bytes());
        let target = (CORE, self.space(), given.to);
        // Both sides may hold the operand transposed: a right operand that is transposed in L1 is moved fractal by
        // fractal.
        if self.turned {
            let (blayout, slayout) =
                (swap(to.blayout), if self.left.is_some() { SLayout::ColMajor } else { SLayout::RowMajor });
            to = Layout { rows: to.cols, cols: to.rows, blayout, slayout, ..to };
            (rows, cols) = (cols, rows);
        }
        let corner = |layout| Corner { layout, at: (0, 0) };
        memory
            .with_pair(env, source, target, &mut scratch.bytes[0], |src, dst| {
                Finish::default().run_tiles((dst, corner(&to)), (src, corner(&from)), (rows, cols), Scales::default())
            })
            .map_err(outside)?;
        Ok(0)
    }
}

fn swap(blayout: BLayout) -> BLayout {
    match blayout {
        BLayout::RowMajor => BLayout::ColMajor,
        BLayout::ColMajor => BLayout::RowMajor,
    }
}

arguments! {
    /// Source and destination address; elements of a row; rows; gaps between rows on both sides, in elements.
    pub struct BiasArgs { from, to, len, rows, from_gap, to_gap }
}

/// Loads rows of a bias from L1 into the bias table; narrow floats become `f32`.
///
/// Arguments: [`BiasArgs`]. The unit of its cost is a byte of the destination.
#[derive(Clone, Copy, Debug)]
pub struct BiasLoad {
    /// Element types in L1 and in the table.
    pub elems: [Elem; 2],
}

impl BiasLoad {
    /// Elements per row, rows, and row strides in bytes on both sides.
    fn shape(&self, args: &[u64]) -> Result<(u64, u64, [u64; 2]), Fault> {
        let given = BiasArgs::of(args);
        if [given.len, given.rows, given.from_gap, given.to_gap].iter().any(|value| *value > MOST) {
            let message = format!(
                "{} x {} elements, gaps {} and {}",
                given.rows as i64, given.len as i64, given.from_gap as i64, given.to_gap as i64
            );
            return Err(Fault::new("dma-operand", message).help(format!("each lies between 0 and {MOST}")));
        }
        let step = |gap: u64, elem: Elem| (given.len + gap) * elem.bytes() as u64;
        Ok((given.len, given.rows, [step(given.from_gap, self.elems[0]), step(given.to_gap, self.elems[1])]))
    }
}

impl Effect for BiasLoad {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = BiasArgs::of(args);
        let (len, rows, steps) = self.shape(args)?;
        let [from, to] = self.elems.map(|elem| len * elem.bytes() as u64);
        nest_extents((Space::Mat, CORE, given.from), from, &[(rows, [steps[0]])], &mut access.reads);
        nest_extents((Space::Bias, CORE, given.to), to, &[(rows, [steps[1]])], &mut access.writes);
        access.units.total += to * rows;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = BiasArgs::of(args);
        let (len, rows, steps) = self.shape(args)?;
        let view = |at: usize| View::strided(self.elems[at], 0, steps[at] as usize, self.elems[at].bytes());
        let (source, target) = ((CORE, Space::Mat, given.from, usize::MAX), (CORE, Space::Bias, given.to));
        memory
            .with_pair(env, source, target, &mut scratch.bytes[0], |src, dst| {
                copy(dst, &view(1), src, &view(0), rows as usize, len as usize, Cast::default())
            })
            .map_err(outside)?;
        Ok(0)
    }
}
