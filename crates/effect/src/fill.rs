//! Filling local memory with a word.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Fault, Run, arguments};
use slipring_tile::{BLOCK_BYTES, Space};

use crate::bursts::{Levels, nest_extents, walk};

arguments! {
    /// Address, the bits of the word, number of repetitions, number of blocks of 32 bytes in each, number of blocks
    /// between two repetitions.
    pub struct FillArgs { to, word, times, blocks, gap }
}

/// Fills runs of blocks of 32 bytes, at equal distances, with a word. Arguments: [`FillArgs`]. The unit of its cost is
/// a byte.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// The memory.
    pub space: Space,
    /// The core of the memory.
    pub core: Role,
    /// The size of the word in bytes: 2 or 4.
    pub bytes: usize,
}

/// The maximum of each number: repetitions, blocks, and blocks between two repetitions.
pub const FILL_MOST: u64 = 32767;

impl Fill {
    /// Bytes of a repetition, and the repetitions.
    fn shape(args: &FillArgs<u64>) -> Result<(u64, Levels<1>), Fault> {
        let named = [("number of repetitions", args.times), ("number of blocks", args.blocks), ("gap", args.gap)];
        if let Some((what, found)) = named.into_iter().find(|(_, value)| *value > FILL_MOST) {
            let message = format!("the {what} is {}", found as i64);
            return Err(Fault::new("dma-operand", message).help(format!("must be between 0 and {FILL_MOST}")));
        }
        if !args.to.is_multiple_of(BLOCK_BYTES) {
            let message = format!("the first byte to be filled, {}, is not a multiple of {BLOCK_BYTES}", args.to);
            return Err(Fault::new("dma-alignment", message));
        }
        let mut levels = Levels::new();
        levels.push((args.times, [(args.blocks + args.gap) * BLOCK_BYTES]));
        Ok((args.blocks * BLOCK_BYTES, levels))
    }
}

impl Effect for Fill {
    fn decides(&self, index: usize) -> bool {
        index != FillArgs::AT.word
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let args = FillArgs::of(args);
        let (len, levels) = Fill::shape(&args)?;
        nest_extents((self.space, self.core, args.to), len, &levels, &mut access.writes);
        access.units.total += len * args.times;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let args = FillArgs::of(args);
        let (len, levels) = Fill::shape(&args)?;
        let word = args.word.to_le_bytes();
        walk(&levels, [args.to], &mut |[start]| {
            let row = memory.bytes_mut(env, self.core, self.space, start, len as usize);
            row.chunks_exact_mut(self.bytes).for_each(|at| at.copy_from_slice(&word[..self.bytes]));
        });
        Ok(0)
    }
}
