//! DMA of byte rows: bursts with strides, and loops around them.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Extent, Fault, Run, arguments};
use slipring_tile::Space;
use smallvec::SmallVec;

/// The core whose local memory is at one end of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// This core's.
    Core(Role),
    /// The Vector core whose number, 0 or 1, is the last argument.
    Argument,
}

impl Whose {
    /// The core.
    ///
    /// # Errors
    /// `dma-lane` for a number that is neither 0 nor 1.
    pub fn core(self, args: &[u64]) -> Result<Role, Fault> {
        match (self, args.last()) {
            (Whose::Core(core), _) => Ok(core),
            (Whose::Argument, Some(lane @ (0 | 1))) => Ok(Role::lane(*lane as usize)),
            (Whose::Argument, lane) => {
                let lane = lane.map_or(-1, |lane| *lane as i64);
                let message = format!("there is no Vector core {lane} in a cluster");
                Err(Fault::new("dma-lane", message).help("0 is AIV0, 1 is AIV1"))
            }
        }
    }
}

/// One end of a move.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct BurstEnd {
    pub space: Space,
    pub whose: Whose,
    /// Alignment of addresses and strides in bytes; 1 for none.
    pub align: u32,
    /// Width of its strides in bits.
    pub stride_bits: u32,
}

arguments! {
    /// Source address, destination address, length. Levels and padding follow.
    pub struct BurstArgs { from, to, len }
}

/// Copies `count` rows of `len` bytes, repeated by the surrounding loops.
///
/// Arguments: [`BurstArgs`]; for each level, innermost first: count, source stride, destination stride; with padding:
/// bits of the value, elements before and after a row; the number of a Vector core if a [`Whose`] requires it. The unit
/// of its cost is a byte, with rows rounded up to whole blocks.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    /// The source of the rows.
    pub from: BurstEnd,
    /// The destination of the rows.
    pub to: BurstEnd,
    /// Levels: rows, and loops around them.
    pub levels: usize,
    /// Unit of lengths and strides in bytes.
    pub unit: u64,
    /// True if strides are gaps: from the end of a row to the start of the next.
    pub gaps: bool,
    /// Bytes of a padding element, if rows are padded.
    pub pad: Option<u32>,
    /// Widths in bits of the length, of the number of rows, and of the number of repetitions of a loop.
    pub bits: [u32; 3],
    /// Granularity of hardware moves in bytes: the cost of a short row.
    pub block: u64,
}

/// Maximum number of rows of one op.
const MOST_ROWS: u64 = 1 << 24;

/// Levels around a row, innermost first.
pub(super) type Levels<const ENDS: usize> = SmallVec<[(u64, [u64; ENDS]); 4]>;

/// Rows and their starts, in bytes from the addresses.
struct Shape {
    len: u64,
    /// Rows, and their strides in the source and in the destination.
    levels: Levels<2>,
    rows: u64,
    /// Bytes of padding before and after the row.
    pad: [u64; 2],
}

impl Bursts {
    /// Rows of bytes between two memories, with any length.
    pub fn plain(from: BurstEnd, to: BurstEnd) -> Bursts {
        Bursts { from, to, levels: 1, unit: 1, gaps: false, pad: None, bits: [32; 3], block: 1 }
    }

    /// Index of the padding value: it follows the levels, and the two counts follow it.
    fn padding(&self) -> usize {
        BurstArgs::COUNT + 3 * self.levels
    }

    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let given = BurstArgs::of(args);
        let len = self.field("length", given.len, self.bits[0])?.saturating_mul(self.unit);
        let mut levels = Levels::new();
        let mut rows = 1u64;
        for (at, level) in args[BurstArgs::COUNT..self.padding()].chunks(3).enumerate() {
            let names = if at == 0 { ["number of bursts", "stride"] } else { ["loop count", "loop stride"] };
            let count = self.field(names[0], level[0], self.bits[usize::from(at > 0) + 1])?;
            let mut strides = [0; 2];
            for (end, stride) in [(self.from, level[1]), (self.to, level[2])].into_iter().zip(&mut strides) {
                let (end, given) = end;
                *stride = self.field(names[1], given, end.stride_bits)?.saturating_mul(self.unit);
                if self.gaps {
                    *stride = stride.saturating_add(len);
                }
                if count > 1 && !stride.is_multiple_of(end.align.into()) {
                    return Err(misaligned(names[1], *stride, &end));
                }
            }
            rows = rows.saturating_mul(count);
            levels.push((count, strides));
        }
        if rows > MOST_ROWS {
            return Err(Fault::new("dma-size", format!("this transfer has {rows} rows, more than {MOST_ROWS}")));
        }
        for (end, address) in [(&self.from, given.from), (&self.to, given.to)] {
            if !address.is_multiple_of(end.align.into()) {
                return Err(misaligned("address", address, end));
            }
        }
        if len == 0 || rows == 0 {
            return Ok(Shape { len: 0, levels: Levels::new(), rows: 0, pad: [0, 0] });
        }
        let pad = match self.pad {
            None => [0, 0],
            Some(size) => {
                let counts = &args[self.padding() + 1..self.padding() + 3];
                let left = self.field("left padding", counts[0], 8)? * u64::from(size);
                let right = self.field("right padding", counts[1], 8)? * u64::from(size);
                let end = (left + len + right).next_multiple_of(self.to.align.into()).max(levels[0].1[1]);
                [left, end - left - len]
            }
        };
        let mut shape = Shape { len, levels, rows, pad };
        shape.fold();
        Ok(shape)
    }

    fn field(&self, what: &str, value: u64, bits: u32) -> Result<u64, Fault> {
        if value >> bits.min(63) == 0 {
            return Ok(value);
        }
        let message = format!("the {what} is {}; the instruction has {bits} bits for it", value as i64);
        let most = (1u64 << bits.min(63)) - 1;
        Err(Fault::new("dma-operand", message).help(format!("it lies between 0 and {most}")))
    }

    fn cores(&self, args: &[u64]) -> Result<(Role, Role), Fault> {
        Ok((self.from.whose.core(args)?, self.to.whose.core(args)?))
    }
}

impl Shape {
    /// Merges rows that are contiguous on both sides.
    fn fold(&mut self) {
        self.levels.retain(|(count, _)| *count != 1);
        while let Some((count, strides)) = self.levels.first().copied()
            && strides == [self.len; 2]
            && self.pad == [0, 0]
        {
            self.len *= count;
            self.levels.remove(0);
        }
    }

    /// The levels for one of the two ends.
    fn end(&self, at: usize) -> Levels<1> {
        self.levels.iter().map(|(count, strides)| (*count, [strides[at]])).collect()
    }

    /// Bytes of a row in the destination.
    fn padded(&self) -> u64 {
        self.pad[0] + self.len + self.pad[1]
    }
}

fn misaligned(what: &str, value: u64, end: &BurstEnd) -> Fault {
    let message = format!("the {what} {value} in `{}` is not a multiple of {} bytes", end.space, end.align);
    Fault::new("dma-alignment", message)
}

/// Adds the bytes of rows of `len` bytes: those that touch or overlap as one run.
pub(super) fn nest_extents(
    (space, core, start): (Space, Role, u64),
    mut len: u64,
    levels: &[(u64, [u64; 1])],
    out: &mut Vec<Extent>,
) {
    if len == 0 || levels.iter().any(|(count, _)| *count == 0) {
        return;
    }
    let mut rest = levels;
    while let [(count, [stride]), outer @ ..] = rest
        && (*count == 1 || *stride <= len)
    {
        len = len.saturating_add(stride.saturating_mul(count - 1));
        rest = outer;
    }
    let ((rows, [stride]), outer) = rest.split_first().map_or(((1, [0]), &[][..]), |(first, outer)| (*first, outer));
    walk(outer, [start], &mut |[start]| {
        // A range has a 32-bit byte count.
        for from in (0..len).step_by(1 << 30) {
            let row_bytes = (len - from).min(1 << 30) as u32;
            out.push(Extent { space, core, start: start.saturating_add(from), rows: rows as u32, row_bytes, stride });
        }
    });
}

/// Calls `f` with every position reached by the levels, the first level varying fastest.
pub(super) fn walk<const ENDS: usize>(levels: &[(u64, [u64; ENDS])], at: [u64; ENDS], f: &mut impl FnMut([u64; ENDS])) {
    let Some(((count, strides), inner)) = levels.split_last() else { return f(at) };
    for i in 0..*count {
        let step = |end: usize| at[end].saturating_add(i.saturating_mul(strides[end]));
        walk(inner, std::array::from_fn(step), f);
    }
}

impl Effect for Bursts {
    fn decides(&self, index: usize) -> bool {
        self.pad.is_none() || index != self.padding()
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = BurstArgs::of(args);
        let shape = self.shape(args)?;
        let (from, to) = self.cores(args)?;
        nest_extents((self.from.space, from, given.from), shape.len, &shape.end(0), &mut access.reads);
        nest_extents((self.to.space, to, given.to), shape.padded(), &shape.end(1), &mut access.writes);
        access.units.total += (given.len * self.unit).next_multiple_of(self.block.max(1)) * shape.rows;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = BurstArgs::of(args);
        let shape = self.shape(args)?;
        if shape.rows == 0 {
            return Ok(0);
        }
        let (from, to) = self.cores(args)?;
        let last: u64 = shape.levels.iter().map(|(count, strides)| (count - 1) * strides[0]).sum();
        let source = (from, self.from.space, given.from, (last + shape.len) as usize);
        let target = (to, self.to.space, given.to);
        let (len, [left, right]) = (shape.len as usize, shape.pad.map(|n| n as usize));
        let value = args.get(self.padding()).map_or([0; 8], |bits| bits.to_le_bytes());
        let value = &value[..self.pad.unwrap_or(1) as usize];
        memory.with_pair(env, source, target, &mut scratch.bytes[0], |src, dst| {
            walk(&shape.levels, [0, 0], &mut |[from, to]| {
                let row = &mut dst[to as usize..][..left + len + right];
                row[left..left + len].copy_from_slice(&src[from as usize..][..len]);
                if left + right > 0 {
                    repeat(&mut row[..left], value);
                    repeat(&mut row[left + len..], value);
                }
            });
        });
        Ok(0)
    }
}

/// Fills bytes with an element; the last one may be truncated.
fn repeat(bytes: &mut [u8], value: &[u8]) {
    for chunk in bytes.chunks_mut(value.len()) {
        chunk.copy_from_slice(&value[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slipring_program::gm_address;
    use slipring_program::{GmBuffer, Memory, Output, Scratch};

    use super::*;

    fn end(space: Space) -> BurstEnd {
        BurstEnd { space, whose: Whose::Core(Role::Aiv0), align: 1, stride_bits: 40 }
    }

    fn load(levels: usize, pad: Option<u32>) -> Bursts {
        let (from, to) = (end(Space::Gm), end(Space::Vec));
        Bursts { from, to, levels, unit: 1, gaps: false, pad, bits: [16, 16, 21], block: 32 }
    }

    proptest! {
        #[test]
        fn rows_go_where_the_nested_loops_of_the_manual_put_them(
            len in 0u64..20, levels in prop::collection::vec((0u64..5, 0u64..40, 0u64..40), 1..4),
        ) {
            let data: Vec<u8> = (0..1000).map(|i| (i * 7 + i / 256) as u8).collect();
            let env = Env { block: 0, core: Role::Aiv0 };
            let mut memory = Memory::with_sizes(1, |_| 1000);
            memory.gm.push(GmBuffer { name: "x".into(), data: data.clone() });
            let mut args = vec![gm_address(0, 8), 16, len];
            args.extend(levels.iter().flat_map(|(n, s, d)| [*n, *s, *d]));
            let effect = load(levels.len(), None);
            effect.run(&args, Run { env, memory: &mut memory, scratch: &mut Scratch::default(), output: &mut Output::default() }).unwrap();

            let mut want = vec![0; 1000];
            let mut touched = vec![(0usize, 0usize)];
            for (n, s, d) in levels.iter().rev() {
                touched = touched
                    .iter()
                    .flat_map(|at| (0..*n).map(move |i| (at.0 + (i * s) as usize, at.1 + (i * d) as usize)))
                    .collect();
            }
            for (from, to) in &touched {
                want[16 + to..][..len as usize].copy_from_slice(&data[8 + from..][..len as usize]);
            }
            prop_assert_eq!(memory.bytes(env, Role::Aiv0, Space::Vec, 0, 1000), &want[..]);

            let mut access = Access::default();
            effect.plan(&args, env, &mut access).unwrap();
            prop_assert_eq!(access.units.total, len.next_multiple_of(32) * touched.len() as u64);
            let mut named = vec![false; 1000];
            for extent in &access.writes {
                for row in 0..u64::from(extent.rows) {
                    let start = (extent.start + row * extent.stride) as usize;
                    named[start..start + extent.row_bytes as usize].fill(true);
                }
            }
            let mut written = vec![false; 1000];
            touched.iter().for_each(|(_, to)| written[16 + to..][..len as usize].fill(true));
            prop_assert_eq!(named, written);
        }
    }

    #[test]
    fn padding_fills_up_to_the_next_row() {
        let env = Env { block: 0, core: Role::Aiv0 };
        let mut memory = Memory::with_sizes(1, |_| 256);
        memory.gm.push(GmBuffer { name: "x".into(), data: vec![9; 64] });
        let mut effect = load(1, Some(2));
        effect.to.align = 32;
        let args = [gm_address(0, 0), 0, 6, 2, 6, 64, 0x0102, 1, 1];
        effect
            .run(
                &args,
                Run { env, memory: &mut memory, scratch: &mut Scratch::default(), output: &mut Output::default() },
            )
            .unwrap();
        let ub = memory.bytes(env, Role::Aiv0, Space::Vec, 0, 256);
        assert_eq!(ub[..10], [2, 1, 9, 9, 9, 9, 9, 9, 2, 1]);
        assert_eq!(ub[64..72], [2, 1, 9, 9, 9, 9, 9, 9]);
        assert!(ub[8..64].chunks(2).chain(ub[72..128].chunks(2)).all(|e| e == [2, 1]));
        assert!(ub[128..].iter().all(|b| *b == 0));
    }

    #[test]
    fn operands_that_do_not_fit_their_fields_are_refused() {
        let plan = |effect: Bursts, args: &[u64]| {
            effect.plan(args, Env { block: 0, core: Role::Aiv0 }, &mut Access::default()).map_err(|f| f.kind.code())
        };
        assert_eq!(plan(load(1, None), &[0, 0, 1 << 16, 1, 0, 0]), Err("dma-operand"));
        assert_eq!(plan(load(1, None), &[0, 0, 8, u64::MAX, 0, 0]), Err("dma-operand"));
        assert_eq!(plan(load(2, None), &[0, 0, 8, 65535, 0, 0, 65535, 0, 0]), Err("dma-size"));
        let mut aligned = load(1, None);
        aligned.to.align = 32;
        assert_eq!(plan(aligned, &[0, 8, 8, 1, 0, 0]), Err("dma-alignment"));
        assert_eq!(plan(aligned, &[0, 32, 8, 2, 0, 40]), Err("dma-alignment"));
        assert_eq!(plan(aligned, &[0, 32, 8, 1, 0, 40]), Ok(()));
        let named = Bursts { to: BurstEnd { whose: Whose::Argument, ..aligned.to }, ..aligned };
        assert_eq!(plan(named, &[0, 32, 8, 1, 0, 40, 2]), Err("dma-lane"));
        assert_eq!(plan(named, &[0, 32, 8, 1, 0, 40, 1]), Ok(()));
    }
}
