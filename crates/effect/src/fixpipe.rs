//! The fixpipe, the path out of the accumulator: scales, activation, conversion, layout, split and atomic update.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Extent, Fault, Memory, Run, Update, UpdateKind, arguments};
use slipring_tile::convert::{Saturation, store_rounded};
use slipring_tile::copy::{Cast, View, copy, read_row, write_row};
use slipring_tile::{Binary, Elem, RoundMode, Space, binary, convert, load_f32, math};

use super::bursts::{BurstEnd, nest_extents, walk};

/// The core with the accumulator.
const CORE: Role = Role::Aic;
/// Columns of a fractal of the accumulator.
const WIDTH: u64 = 16;
/// Bytes per row of a fractal.
const ROW: u64 = 64;
/// Maximum number of rows and columns.
const MOST: u64 = 65535;

static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));
/// These give the same bits whatever the order of several atomic updates, which is why they do not race.
static MAX: Binary = binary!(float: |a, b| math::maximum(a, b), int: |a, b| a.max(b));
static MIN: Binary = binary!(float: |a, b| math::minimum(a, b), int: |a, b| a.min(b));

/// The layout of the result in the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Rows, `dst_stride` elements apart.
    Rows,
    /// Columns, `dst_stride` elements apart.
    Columns,
    /// Blocks of this many columns, `dst_stride` elements apart; rows are contiguous within them.
    Blocks(u64),
}

/// The destinations of the halves of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Split {
    None,
    Rows,
    Columns,
}

/// One value for the whole result, or one for each column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// The argument holds the bits of an `f32`.
    Scalar,
    /// The argument is the address of a table in the scale buffer.
    Table,
}

/// An entry of a table of scales: bits 13 to 31 are those of the scale as an `f32`, 37 to 45 the offset; bit 46 is set
/// if a result of 8 bits is signed, wider ones always are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry(pub u64);

impl Entry {
    /// A scaled value; for an integer result it is rounded to the nearest (ties to even) and the offset is added.
    pub fn scaled(self, x: f32, integer: bool) -> f32 {
        let scaled = x * f32::from_bits(self.0 as u32 & 0xffff_e000);
        let offset = ((self.0 << 18) as i64 >> 55) as f32;
        if integer { scaled.round_ties_even() + offset } else { scaled }
    }

    /// Whether a result of this many bytes is signed.
    pub const fn signed(self, bytes: usize) -> bool {
        bytes > 1 || self.0 >> 46 & 1 == 1
    }

    /// A value clamped to the range of integers with this many bytes.
    pub fn clamped(self, x: f32, bytes: usize) -> i64 {
        clamped(x, bytes, self.signed(bytes))
    }
}

/// A value clamped to the range of integers with this many bytes.
fn clamped(x: f32, bytes: usize, signed: bool) -> i64 {
    let bits = 8 * bytes as u32;
    let (low, high) = if signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
    (x as i64).clamp(low, high)
}

/// The result kind of quantisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuantTo {
    /// A float: scaled, converted at the end.
    Float,
    /// An integer: scaled, rounded to nearest (ties to even), the offset added; clamped at the end.
    Integer,
}

/// Quantisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quant {
    /// The scale; none if a mode only converts. A table has an 8-byte [`Entry`] for each column.
    pub scale: Option<Payload>,
    /// True if the value is first rounded to `f16`.
    pub half: bool,
    /// The result kind.
    pub to: QuantTo,
}

/// Activation, with a factor for negative values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relu {
    /// None.
    None,
    /// Negative values become 0.
    Zero,
    /// Negative values are multiplied. A table has an `f32` for each column.
    Factor(Payload),
}

/// Conversion of values that a narrower float cannot represent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Narrow {
    /// As the op specifies.
    Always(Saturation),
    /// As bit 48 of the control register specifies: set to keep infinities and NaN, clear to saturate.
    Control,
}

arguments! {
    /// Source and destination address; rows, columns; stride of blocks of 16 columns in the accumulator, in rows of 64
    /// bytes; stride in the destination, in elements (see [`Form`]); rows of the accumulator per row of the result;
    /// number of repetitions of all that, and their two strides; scale, factor for negative values, maximum value (bits
    /// of an `f32`, or addresses of tables), control register.
    pub struct FixpipeArgs { from, to, m, n, from_stride, to_stride, row_step, count, from_step, to_step, scale, factor, most, control }
}

/// Writes a rectangle of the accumulator to another memory.
///
/// Arguments: [`FixpipeArgs`]; the number of a Vector core if a [`Whose`](super::Whose) requires it. The unit of its
/// cost is a byte of the wider side.
#[derive(Clone, Copy, Debug)]
pub struct Fixpipe {
    /// Element type of the accumulator.
    pub from: Elem,
    /// The destination of the result.
    pub to: BurstEnd,
    /// Its element type.
    pub elem: Elem,
    /// Its layout.
    pub form: Form,
    /// Its halves.
    pub split: Split,
    /// First step.
    pub quant: Option<Quant>,
    /// Second step.
    pub relu: Relu,
    /// True if values are limited to the argument: third step.
    pub clip: bool,
    /// Last step.
    pub narrow: Narrow,
    /// Update instead of overwriting.
    pub atomic: Option<UpdateKind>,
}

/// A part of the result that goes to one core.
struct Part {
    core: Role,
    first: (u64, u64),
    rows: u64,
    cols: u64,
}

impl Fixpipe {
    fn parts(&self, args: &[u64]) -> Result<Vec<Part>, Fault> {
        let given = FixpipeArgs::of(args);
        let (m, n) = (given.m, given.n);
        if m > MOST || n > MOST || given.count > MOST || m * n.div_ceil(WIDTH) * given.count > 1 << 24 {
            let (m, n, count) = (m as i64, n as i64, given.count as i64);
            return Err(Fault::new("fixpipe-extent", format!("the result has {count} times {m} x {n} elements"))
                .help(format!("each number lies between 0 and {MOST}")));
        }
        if !given.to.is_multiple_of(self.to.align.into()) {
            let message =
                format!("the address {} in `{}` is not a multiple of {} bytes", given.to, self.to.space, self.to.align);
            return Err(Fault::new("dma-alignment", message));
        }
        let part = |lane, first, rows, cols| Part { core: Role::lane(lane), first, rows, cols };
        let odd = |what: &str, value: u64, unit: u64| {
            Err(Fault::new(
                "fixpipe-split",
                format!("{what} = {value} cannot be split: it is not a multiple of {unit}"),
            ))
        };
        match self.split {
            Split::None => {
                let core = self.to.whose.core(args)?;
                Ok(vec![Part { core, first: (0, 0), rows: m, cols: n }])
            }
            Split::Rows if !m.is_multiple_of(2) => odd("m", m, 2),
            Split::Columns if !n.is_multiple_of(32) => odd("n", n, 32),
            Split::Rows => Ok(vec![part(0, (0, 0), m / 2, n), part(1, (m / 2, 0), m / 2, n)]),
            Split::Columns => Ok(vec![part(0, (0, 0), m, n / 2), part(1, (0, n / 2), m, n / 2)]),
        }
    }

    /// Columns processed together: those of a block of both sides.
    fn width(&self) -> u64 {
        if let Form::Blocks(width) = self.form { width.min(WIDTH) } else { WIDTH }
    }

    /// Byte offset in the destination of column `col` of a part, and the strides from row to row and from column to
    /// column.
    fn place(&self, args: &[u64], col: u64) -> [u64; 3] {
        let given = FixpipeArgs::of(args);
        let (size, stride) = (self.elem.bytes() as u64, given.to_stride.saturating_mul(self.elem.bytes() as u64));
        match self.form {
            Form::Rows => [col * size, stride, size],
            Form::Columns => [col.saturating_mul(stride), size, stride],
            Form::Blocks(width) => [(col / width).saturating_mul(stride) + col % width * size, width * size, size],
        }
    }

    /// Byte offset of a column in the accumulator, and the stride from row to row.
    fn source(args: &[u64], col: u64) -> [u64; 2] {
        let given = FixpipeArgs::of(args);
        let block = given.from_stride.saturating_mul(ROW).saturating_mul(col / WIDTH);
        [block.saturating_add(col % WIDTH * 4), given.row_step.saturating_mul(ROW)]
    }

    /// Strides of the repetitions in bytes, in source and destination.
    fn repeat(&self, args: &[u64]) -> (u64, [u64; 2]) {
        let given = FixpipeArgs::of(args);
        (given.count, [given.from_step.saturating_mul(ROW), given.to_step.saturating_mul(self.elem.bytes() as u64)])
    }

    /// True if elements are moved unchanged.
    fn plain(&self) -> bool {
        let same = self.from == self.elem && self.atomic.is_none();
        same && self.quant.is_none() && self.relu == Relu::None && !self.clip
    }

    fn tables<'m>(&self, args: &[u64], env: Env, memory: &'m Memory) -> [&'m [u8]; 2] {
        let given = FixpipeArgs::of(args);
        let table = |payload: Option<Payload>, address| match payload {
            Some(Payload::Table) => {
                let (bytes, at) = memory.locate(env, CORE, Space::Scaling, address);
                &bytes[at..]
            }
            _ => &[],
        };
        let factor = if let Relu::Factor(payload) = self.relu { Some(payload) } else { None };
        [table(self.quant.and_then(|quant| quant.scale), given.scale), table(factor, given.factor)]
    }

    /// The processed values of columns `col` and following. Integers from quantisation are not clamped yet.
    fn values(&self, args: &[u64], tables: [&[u8]; 2], col: u64, values: &mut [f32], signed: &mut [bool]) {
        let scalar = |bits: u64| f32::from_bits(bits as u32);
        let given = FixpipeArgs::of(args);
        for (at, (x, signed)) in values.iter_mut().zip(signed).enumerate() {
            let column = col as usize + at;
            if let Some(quant) = self.quant {
                if quant.half {
                    *x = to_half(*x);
                }
                let integer = quant.to == QuantTo::Integer;
                let rounded = |x: f32| if integer { x.round_ties_even() } else { x };
                *x = match quant.scale {
                    Some(Payload::Scalar) => rounded(*x * scalar(given.scale)),
                    Some(Payload::Table) => {
                        let entry = tables[0][column * 8..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
                        *signed = Entry(entry).signed(self.elem.bytes());
                        Entry(entry).scaled(*x, integer)
                    }
                    None => rounded(*x),
                };
            }
            match self.relu {
                Relu::None => {}
                Relu::Zero => *x = if *x <= 0.0 { 0.0 } else { *x },
                Relu::Factor(payload) => {
                    let factor = match payload {
                        Payload::Scalar => scalar(given.factor),
                        Payload::Table => tables[1][column * 4..].first_chunk().map_or(0.0, |b| f32::from_le_bytes(*b)),
                    };
                    *x = if *x >= 0.0 { *x } else { factor * *x };
                }
            }
            if self.clip && *x > scalar(given.most) {
                *x = scalar(given.most);
            }
        }
    }

    /// The bytes of values in the destination's type.
    fn store(&self, args: &[u64], values: &[f32], signed: &[bool], out: &mut [u8]) {
        let given = FixpipeArgs::of(args);
        let size = self.elem.bytes();
        if !self.elem.is_float() {
            for ((x, signed), out) in values.iter().zip(signed).zip(out.chunks_mut(size)) {
                out.copy_from_slice(&clamped(*x, size, *signed).to_le_bytes()[..size]);
            }
            return;
        }
        let keep = given.control >> 48 & 1 == 1;
        let saturation = match self.narrow {
            Narrow::Always(saturation) => saturation,
            Narrow::Control if keep => Saturation::Off,
            Narrow::Control => Saturation::On,
        };
        store_rounded(self.elem, values, out, RoundMode::Rint, saturation);
    }

    /// Writes, or updates, the elements of a row.
    fn update(&self, dst: &mut [u8], view: &View, row: usize, given: &mut [u8]) {
        let mut old = [0; WIDTH as usize * 8];
        let old = &mut old[..given.len()];
        let operation = match self.atomic {
            None => None,
            Some(UpdateKind::Add) => Some(&ADD),
            Some(UpdateKind::Max) => Some(&MAX),
            Some(UpdateKind::Min) => Some(&MIN),
        };
        if let Some(operation) = operation {
            read_row(dst, view, row, 0, old);
            operation.run_in_place(self.elem, given, old);
        }
        write_row(dst, view, row, 0, given);
    }
}

/// The nearest value of half precision.
fn to_half(x: f32) -> f32 {
    let (mut half, mut back) = ([0; 2], [0.0]);
    convert(Elem::F32, &x.to_le_bytes(), Elem::F16, &mut half, RoundMode::Rint, Saturation::Off);
    load_f32(Elem::F16, &half, &mut back);
    back[0]
}

impl Effect for Fixpipe {
    fn decides(&self, index: usize) -> bool {
        let table = |payload: Option<Payload>| matches!(payload, Some(Payload::Table));
        let at = FixpipeArgs::AT;
        match index {
            index if index == at.scale => table(self.quant.and_then(|quant| quant.scale)),
            index if index == at.factor => {
                table(if let Relu::Factor(payload) = self.relu { Some(payload) } else { None })
            }
            index if index == at.most || index == at.control => false,
            _ => true,
        }
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = FixpipeArgs::of(args);
        let (count, steps) = self.repeat(args);
        let size = self.elem.bytes() as u64;
        for part in self.parts(args)?.iter().filter(|part| part.rows > 0 && part.cols > 0 && count > 0) {
            let target = (self.to.space, part.core, given.to);
            let mut writes = Vec::new();
            match self.form {
                Form::Rows => {
                    let levels = [(part.rows, [self.place(args, 0)[1]]), (count, [steps[1]])];
                    nest_extents(target, part.cols * size, &levels, &mut writes);
                }
                Form::Columns => {
                    let levels = [(part.cols, [self.place(args, 0)[2]]), (count, [steps[1]])];
                    nest_extents(target, part.rows * size, &levels, &mut writes);
                }
                Form::Blocks(width) => {
                    for col in (0..part.cols).step_by(width as usize) {
                        let [at, down, _] = self.place(args, col);
                        let block = (target.0, target.1, target.2.saturating_add(at));
                        let levels = [(part.rows, [down]), (count, [steps[1]])];
                        nest_extents(block, width.min(part.cols - col) * size, &levels, &mut writes);
                    }
                }
            }
            access.update = self.atomic.map(|kind| Update { kind, elem: self.elem });
            if self.atomic.is_some() {
                access.reads.extend_from_slice(&writes);
            }
            access.writes.append(&mut writes);
            let mut col = part.first.1;
            while col < part.first.1 + part.cols {
                let next = ((col / WIDTH + 1) * WIDTH).min(part.first.1 + part.cols);
                let [at, down] = Self::source(args, col);
                let start = given.from.saturating_add(at).saturating_add(part.first.0.saturating_mul(down));
                let levels = [(part.rows, [down]), (count, [steps[0]])];
                nest_extents((Space::Acc, CORE, start), (next - col) * 4, &levels, &mut access.reads);
                col = next;
            }
            access.units.total += part.rows * part.cols * count * size.max(4);
        }
        let table = |bytes: u64, address| Extent::run(Space::Scaling, CORE, address, (given.n * bytes) as u32);
        if self.quant.and_then(|quant| quant.scale) == Some(Payload::Table) {
            access.reads.push(table(8, given.scale));
        }
        if self.relu == Relu::Factor(Payload::Table) {
            access.reads.push(table(4, given.factor));
        }
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = FixpipeArgs::of(args);
        let (count, steps) = self.repeat(args);
        let size = self.elem.bytes();
        for part in self.parts(args)? {
            if part.rows == 0 || part.cols == 0 || count == 0 {
                continue;
            }
            let mut taken = memory.take(env, part.core, self.to.space, given.to);
            let base = match self.to.space {
                Space::Gm => slipring_program::gm_split(given.to).map_or(0, |(_, offset)| offset as usize),
                _ => given.to as usize,
            };
            let (acc, at) = memory.locate(env, CORE, Space::Acc, given.from);
            let acc = &acc[at..];
            let tables = self.tables(args, env, memory);
            let dst = &mut taken[base..];
            let (rows, step) = (part.rows as usize, self.width());
            walk(&[(count, steps)], [0, 0], &mut |[from, to]| {
                let mut col = 0;
                while col < part.cols {
                    // A half may begin within a fractal of the accumulator.
                    let column = part.first.1 + col;
                    let width = (step - col % step).min(WIDTH - column % WIDTH).min(part.cols - col) as usize;
                    let [at, down] = Self::source(args, column);
                    let at = from + at + part.first.0 * down;
                    let source = View::strided(self.from, at as usize, down as usize, 4);
                    let place = self.place(args, col).map(|n| n as usize);
                    let target = View::strided(self.elem, to as usize + place[0], place[1], place[2]);
                    if self.plain() {
                        // The bytes exist: the plan named them.
                        let _ = copy(dst, &target, acc, &source, rows, width, Cast::default());
                    } else {
                        let (mut raw, mut values) = ([0; ROW as usize], [0.0; WIDTH as usize]);
                        let mut given = [0; WIDTH as usize * 8];
                        for row in 0..rows {
                            let (raw, values) = (&mut raw[..width * 4], &mut values[..width]);
                            let given = &mut given[..width * size];
                            read_row(acc, &source, row, 0, raw);
                            if self.quant.is_none() && self.relu == Relu::None && !self.clip && self.from == self.elem {
                                given.copy_from_slice(raw);
                            } else {
                                let mut signed = [self.elem.is_signed_int(); WIDTH as usize];
                                load_f32(self.from, raw, values);
                                self.values(args, tables, column, values, &mut signed);
                                self.store(args, values, &signed, given);
                            }
                            self.update(dst, &target, row, given);
                        }
                    }
                    col += width as u64;
                }
            });
            memory.put_back(env, part.core, self.to.space, given.to, taken);
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_extremes_give_the_same_bits_in_any_order() {
        let odd = f32::from_bits(0x7fc0_1234);
        let numbers = [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, odd];
        for both in [math::maximum, math::minimum] {
            for a in numbers {
                for b in numbers {
                    assert_eq!(both(a, b).to_bits(), both(b, a).to_bits(), "{a} {b}");
                    for c in numbers {
                        let (first, last) = (both(both(a, b), c), both(a, both(b, c)));
                        assert_eq!(first.to_bits(), last.to_bits(), "{a} {b} {c}");
                    }
                }
            }
        }
    }
}
