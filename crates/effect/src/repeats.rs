//! Arithmetic of units that work on memory: repeats of eight blocks of 32 bytes, at strides, under a mask.

use slipring_machine::{REPEAT, Role, Units};
use slipring_program::{Access, Effect, Env, Extent, Fault, Run, arguments};
use slipring_tile::lanes::{Arg, PerElement};
use slipring_tile::{BLOCK_BYTES, Elem, Space};

use crate::bursts::nest_extents;

/// Blocks of a repeat.
const BLOCKS: usize = (REPEAT / BLOCK_BYTES) as usize;
/// The largest number of repeats, and the largest stride in blocks: fields of 8 bits.
const FIELD_MOST: u64 = 255;
/// Elements that a mask may count: more than any UB holds.
const COUNT_MOST: u64 = 1 << 20;
/// The bit of the control register with which the first word of the mask counts elements.
pub const COUNTS: u32 = 56;

arguments! {
    /// The two words of the mask, the control register, and the number of repeats. A [`Spaced`] for the result and for
    /// each source in memory follows, then the bits of the number if there is one.
    pub struct RepeatArgs { low, high, control, repeats }
}

arguments! {
    /// Where an operand begins, and the strides of its blocks and of its repeats, in blocks.
    pub struct Spaced { addr, block, repeat }
}

/// `dst = op(sources…, number)` for the elements that the mask lets through. Repeats are done in order; the elements of
/// one are all read before any is written. Arguments: [`RepeatArgs`]. The unit of its cost is a byte.
#[derive(Clone, Copy, Debug)]
pub struct Repeats<const N: usize> {
    /// The core of the UB.
    pub core: Role,
    /// The type in which it computes, of 16 or 32 bits.
    pub elem: Elem,
    /// The operation.
    pub op: &'static PerElement<N>,
    /// True if its last operand is a number, false if all are in memory.
    pub number: bool,
}

/// The lanes of one repeat that take part, a bit each.
type Lanes = u128;

/// What an instruction does: whole repeats, and one of fewer lanes after them.
struct Shape {
    repeats: u64,
    lanes: Lanes,
    rest: Lanes,
    dst: Spaced<u64>,
    sources: Vec<Spaced<u64>>,
}

const fn first(lanes: u64) -> Lanes {
    if lanes >= 128 { Lanes::MAX } else { (1 << lanes) - 1 }
}

fn field(what: &str, found: u64) -> Result<u64, Fault> {
    if found <= FIELD_MOST {
        return Ok(found);
    }
    let message = format!("the {what} is {}; the instruction has 8 bits for it", found as i64);
    Err(Fault::new("repeat-operand", message).help(format!("it lies between 0 and {FIELD_MOST}")))
}

fn spaced(args: &[u64]) -> Result<Spaced<u64>, Fault> {
    let found = Spaced::of(args);
    field("stride between blocks", found.block)?;
    field("stride between repeats", found.repeat)?;
    if found.addr.is_multiple_of(BLOCK_BYTES) {
        return Ok(found);
    }
    let message = format!("an operand begins at byte {} of UB, which is not a multiple of {BLOCK_BYTES}", found.addr);
    Err(Fault::new("vector-align", message).help("an instruction with repeats takes whole blocks of 32 bytes"))
}

impl Spaced<u64> {
    /// Where a block of a repeat begins.
    fn block_at(&self, repeat: u64, block: usize) -> u64 {
        self.addr.saturating_add((repeat * self.repeat + block as u64 * self.block) * BLOCK_BYTES)
    }
}

impl Shape {
    /// Every repeat with its lanes, in order.
    fn each(&self) -> impl Iterator<Item = (u64, Lanes)> + use<> {
        let (repeats, lanes, rest) = (self.repeats, self.lanes, self.rest);
        (0..repeats).map(move |at| (at, lanes)).chain((rest != 0).then_some((repeats, rest)))
    }
}

impl<const N: usize> Repeats<N> {
    fn sources(&self) -> usize {
        N - usize::from(self.number)
    }

    /// Index of the number, if there is one.
    fn number_at(&self) -> usize {
        RepeatArgs::COUNT + (1 + self.sources()) * Spaced::COUNT
    }

    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let given = RepeatArgs::of(args);
        let per = REPEAT / self.elem.bytes() as u64;
        let asked = field("number of repeats", given.repeats)?;
        let (repeats, lanes, rest) = if given.control >> COUNTS & 1 == 0 {
            let mask = Lanes::from(given.high) << 64 | Lanes::from(given.low);
            (asked, mask & first(per), 0)
        } else if given.low <= COUNT_MOST {
            (given.low / per, first(per), first(given.low % per))
        } else {
            let message = format!("the mask counts {} elements", given.low);
            let help = "set the number of elements after the mode in which the mask counts them";
            return Err(Fault::new("repeat-operand", message).help(help));
        };
        let mut operands = args[RepeatArgs::COUNT..].chunks(Spaced::COUNT).map(spaced);
        let dst = operands.next().expect("a result")?;
        let sources = operands.take(self.sources()).collect::<Result<Vec<_>, _>>()?;
        Ok(Shape { repeats: if lanes == 0 { 0 } else { repeats }, lanes, rest, dst, sources })
    }

    /// The lanes of one block.
    fn in_block(&self, lanes: Lanes, block: usize) -> Lanes {
        let per = BLOCK_BYTES / self.elem.bytes() as u64;
        lanes >> (block as u64 * per) & first(per)
    }

    /// Adds the bytes of the lanes of an operand.
    fn extents(&self, (first, repeats): (u64, u64), lanes: Lanes, of: &Spaced<u64>, out: &mut Vec<Extent>) {
        let size = self.elem.bytes() as u64;
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for block in 0..BLOCKS {
            let (mut bits, mut start) = (self.in_block(lanes, block), of.block_at(first, block));
            while bits != 0 {
                let skipped = u64::from(bits.trailing_zeros());
                let taken = u64::from((bits >> skipped).trailing_ones());
                start = start.saturating_add(skipped * size);
                let len = taken * size;
                if let Some(last) = runs.last_mut().filter(|(from, len)| from.saturating_add(*len) == start) {
                    last.1 += len;
                } else if !runs.contains(&(start, len)) {
                    runs.push((start, len));
                }
                start = start.saturating_add(taken * size);
                bits = bits.checked_shr((skipped + taken) as u32).unwrap_or(0);
            }
        }
        for (start, len) in runs {
            nest_extents((Space::Vec, self.core, start), len, &[(repeats, [of.repeat * BLOCK_BYTES])], out);
        }
    }

    fn all_extents(&self, shape: &Shape, of: &Spaced<u64>, out: &mut Vec<Extent>) {
        self.extents((0, shape.repeats), shape.lanes, of, out);
        if shape.rest != 0 {
            self.extents((shape.repeats, 1), shape.rest, of, out);
        }
    }

    /// A fault where what is read depends on the order in which the unit reads and writes: within a repeat a source is
    /// the result or apart from it, and no repeat reads what an earlier one wrote, unless all add up in the same place.
    fn check_overlap(&self, shape: &Shape) -> Result<(), Fault> {
        let fault = |message: String| {
            let help = "use memory that does not overlap, or the same blocks for both";
            Err(Fault::new("operand-overlap", message).help(help))
        };
        let dst = &shape.dst;
        let several = |lanes: Lanes| (0..BLOCKS).filter(|block| self.in_block(lanes, *block) != 0).count() > 1;
        if dst.block == 0 && (several(shape.lanes) && shape.repeats > 0 || several(shape.rest)) {
            return fault(format!("all blocks of a repeat are written to the 32 bytes at {}", dst.addr));
        }
        let last = (shape.repeats + u64::from(shape.rest != 0)).saturating_sub(1);
        let span = |of: &Spaced<u64>| of.addr..of.block_at(last, BLOCKS - 1).saturating_add(BLOCK_BYTES);
        for src in &shape.sources {
            let (read, written) = (span(src), span(dst));
            if read.end <= written.start || written.end <= read.start {
                continue;
            }
            let same = (src.addr, src.block) == (dst.addr, dst.block);
            let adds_up = same && src.repeat == 0 && dst.repeat == 0;
            if adds_up || same && src.repeat == dst.repeat && dst.repeat > (BLOCKS as u64 - 1) * dst.block {
                continue;
            }
            // Blocks that earlier repeats have written.
            let mut earlier = std::collections::BTreeSet::new();
            for (repeat, lanes) in shape.each() {
                let used = || (0..BLOCKS).filter(|block| self.in_block(lanes, *block) != 0);
                let aside = src.block_at(repeat, 0) == dst.block_at(repeat, 0) && src.block == dst.block;
                let writes: Vec<u64> = used().map(|block| dst.block_at(repeat, block)).collect();
                for at in used().map(|block| src.block_at(repeat, block)) {
                    if earlier.contains(&at) {
                        return fault(format!(
                            "repeat {repeat} reads the 32 bytes at {at}, which an earlier one wrote"
                        ));
                    }
                    if !aside && writes.contains(&at) {
                        return fault(format!("repeat {repeat} writes the 32 bytes at {at}, which it reads elsewhere"));
                    }
                }
                earlier.extend(writes);
            }
        }
        Ok(())
    }
}

impl<const N: usize> Effect for Repeats<N> {
    fn decides(&self, index: usize) -> bool {
        !self.number || index != self.number_at()
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let shape = self.shape(args)?;
        self.check_overlap(&shape)?;
        for source in &shape.sources {
            self.all_extents(&shape, source, &mut access.reads);
        }
        self.all_extents(&shape, &shape.dst, &mut access.writes);
        access.units = Units::of(REPEAT * shape.each().count() as u64);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let shape = self.shape(args)?;
        let (size, block_bytes) = (self.elem.bytes(), BLOCK_BYTES as usize);
        let number = args.get(self.number_at()).copied().unwrap_or_default().to_le_bytes();
        let (bytes, _) = memory.locate_mut(env, self.core, Space::Vec, 0);
        let mut inputs = [[0u8; REPEAT as usize]; N];
        let mut out = [0u8; REPEAT as usize];
        for (repeat, lanes) in shape.each() {
            let used = || (0..BLOCKS).filter(|block| self.in_block(lanes, *block) != 0);
            for (input, source) in inputs.iter_mut().zip(&shape.sources) {
                for block in used() {
                    let from = source.block_at(repeat, block) as usize;
                    input[block * block_bytes..][..block_bytes].copy_from_slice(&bytes[from..][..block_bytes]);
                }
            }
            let operands = std::array::from_fn(|at| match inputs.get(at) {
                Some(input) if at < shape.sources.len() => Arg::Slice(input),
                _ => Arg::Scalar(&number[..size]),
            });
            self.op.run_args(self.elem, operands, &mut out);
            for block in used() {
                let (to, from) = (shape.dst.block_at(repeat, block) as usize, block * block_bytes);
                let active = self.in_block(lanes, block);
                for lane in (0..block_bytes / size).filter(|lane| active >> lane & 1 == 1) {
                    bytes[to + lane * size..][..size].copy_from_slice(&out[from + lane * size..][..size]);
                }
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::ADD;

    const SUM: Repeats<2> = Repeats { core: Role::Aiv0, elem: Elem::F32, op: &ADD, number: false };
    const ALL: u64 = u64::MAX;

    const ENV: Env = Env { block: 0, core: Role::Aiv0 };

    /// The planned access of a sum, with the operands as address, stride of blocks, stride of repeats.
    fn planned(mask: [u64; 3], repeats: u64, operands: [[u64; 3]; 3]) -> Result<Access, Fault> {
        let mut access = Access::default();
        let args: Vec<u64> = mask.into_iter().chain([repeats]).chain(operands.concat()).collect();
        SUM.plan(&args, ENV, &mut access).map(|()| access)
    }

    #[test]
    fn whole_repeats_in_line_are_one_run() {
        let access = planned([ALL, ALL, 0], 3, [[0, 1, 8], [1024, 1, 8], [2048, 1, 8]]).unwrap();
        assert_eq!(access.writes, [Extent::run(Space::Vec, Role::Aiv0, 0, 768)]);
        assert_eq!(access.reads.len(), 2);
        assert_eq!(access.units, Units::of(768));
    }

    #[test]
    fn a_mask_selects_lanes_of_each_repeat() {
        // Lanes 0, 9 and 10.
        let access = planned([0b110_0000_0001, ALL, 0], 2, [[0, 2, 16], [1024, 1, 8], [2048, 1, 0]]).unwrap();
        let rows = |start, rows, row_bytes, stride| Extent {
            rows,
            row_bytes,
            stride,
            ..Extent::run(Space::Vec, Role::Aiv0, start, 0)
        };
        assert_eq!(access.writes, [rows(0, 2, 4, 512), rows(68, 2, 8, 512)]);
        assert_eq!(access.reads[..2], [rows(1024, 2, 4, 256), rows(1060, 2, 8, 256)]);
    }

    #[test]
    fn a_count_of_elements_takes_as_many_repeats_as_it_needs() {
        let access = planned([70, 0, 1 << COUNTS], 0, [[0, 1, 8], [1024, 1, 8], [2048, 1, 8]]).unwrap();
        assert_eq!(access.writes.iter().map(Extent::bytes).sum::<u64>(), 280);
        assert_eq!(access.units, Units::of(512));
        let nothing = planned([0, 0, 1 << COUNTS], 3, [[0, 1, 8], [1024, 1, 8], [2048, 1, 8]]).unwrap();
        assert!(nothing.writes.is_empty() && nothing.reads.is_empty());
    }

    #[test]
    fn operands_are_the_same_or_apart() {
        let code = |repeats, operands| planned([ALL, ALL, 0], repeats, operands).map_err(|fault| fault.kind.code());
        let other = [4096, 1, 8];
        assert!(code(2, [[0, 1, 8], [0, 1, 8], other]).is_ok());
        assert!(code(2, [[0, 1, 0], [0, 1, 0], other]).is_ok(), "adds up in one place");
        assert!(code(2, [[0, 1, 8], [256, 1, 8], other]).is_ok(), "writes what was read before");
        assert_eq!(code(2, [[256, 1, 8], [0, 1, 8], other]).unwrap_err(), "operand-overlap");
        assert_eq!(code(1, [[32, 1, 8], [0, 1, 8], other]).unwrap_err(), "operand-overlap");
        assert_eq!(code(1, [[0, 0, 8], other, other]).unwrap_err(), "operand-overlap");
    }

    #[test]
    fn numbers_fit_their_fields() {
        let code = |repeats, dst| {
            planned([ALL, ALL, 0], repeats, [dst, [1024, 1, 8], [2048, 1, 8]]).map_err(|fault| fault.kind.code())
        };
        assert_eq!(code(256, [0, 1, 8]).unwrap_err(), "repeat-operand");
        assert_eq!(code(1, [0, 256, 8]).unwrap_err(), "repeat-operand");
        assert_eq!(code(1, [16, 1, 8]).unwrap_err(), "vector-align");
        assert!(planned([ALL, 0, 1 << COUNTS], 1, [[0, 1, 8]; 3]).is_err());
    }
}
