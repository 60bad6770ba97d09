//! Alignment registers: the 32-byte block at the ragged end of an unaligned stream.
//!
//! Memory moves in aligned blocks. A load from any address needs the block that its first bytes lie in: `vldas` reads
//! it and `vldus` reads on. A store to any address writes the blocks that it completes and keeps the rest for the next
//! store of the stream, or for the flush at its end.

use slipring_program::Fault;
use slipring_tile::BLOCK_BYTES;

use crate::Register;

/// The first byte of the block that contains a byte.
#[inline]
pub const fn block_of(address: u64) -> u64 {
    address - address % BLOCK_BYTES
}

/// The contents of an alignment register. The default is the initial state of a stream of stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Align {
    /// True for a stream of loads.
    loads: bool,
    /// Loads: the first byte of the block. Stores: the current position of the stream.
    address: u64,
    /// Stores: number of bytes before `address` not yet written to memory, fewer than a block.
    pending: u8,
    /// Loads: the block. Stores: the pending bytes, at the front.
    block: [u8; BLOCK_BYTES as usize],
}

impl Align {
    /// A stream of loads, with the contents of the block that begins at `address`.
    pub fn primed(address: u64, block: [u8; BLOCK_BYTES as usize]) -> Align {
        Align { loads: true, address, pending: 0, block }
    }

    /// The bytes of the held block from `at` to its end. Empty if a block begins at `at`: such a load needs none.
    /// `begins` is the op that begins a stream of loads.
    ///
    /// # Errors
    /// `align-state` if the held block is a different one, or none was loaded.
    pub fn head(&self, at: u64, begins: &str) -> Result<&[u8], Fault> {
        if !self.loads {
            return Err(Fault::new("align-state", "continues a stream of loads that nothing has begun")
                .help(format!("begin it with `{begins}` of the same address")));
        }
        let skip = (at - block_of(at)) as usize;
        if skip == 0 {
            return Ok(&[]);
        }
        if self.address != block_of(at) {
            let message = format!(
                "loads from byte {at} with the block at byte {} in its alignment register; it needs the one at byte {}",
                self.address,
                block_of(at)
            );
            return Err(
                Fault::new("align-state", message).help(format!("put `{begins}` of the same address before it"))
            );
        }
        Ok(&self.block[skip..])
    }

    /// Adds bytes to a stream of stores, at `at`. Whole blocks, and the part before the first one, are passed to
    /// `write`. `begins` is the op that begins such a stream.
    ///
    /// # Errors
    /// `align-state` if the pending bytes end elsewhere, and those of `write`.
    pub fn store(
        self,
        at: u64,
        bytes: &[u8],
        begins: &str,
        write: impl FnOnce(u64, &[u8]) -> Result<(), Fault>,
    ) -> Result<Align, Fault> {
        self.stands_at(at, "stores to", begins)?;
        let kept = usize::from(self.pending);
        let mut joined = [0; BLOCK_BYTES as usize + crate::BYTES];
        joined[..kept].copy_from_slice(&self.block[..kept]);
        let joined = &mut joined[..kept + bytes.len()];
        joined[kept..].copy_from_slice(bytes);
        let (start, end) = (at - kept as u64, at.saturating_add(bytes.len() as u64));
        let done = block_of(end).saturating_sub(start) as usize;
        if done > 0 {
            write(start, &joined[..done])?;
        }
        let rest = &joined[done..];
        let mut block = [0; BLOCK_BYTES as usize];
        block[..rest.len()].copy_from_slice(rest);
        Ok(Align { loads: false, address: end, pending: rest.len() as u8, block })
    }

    /// Ends a stream of stores: pending bytes are passed to `write`. `begins` is the op that begins such a stream.
    ///
    /// # Errors
    /// `align-state` if the stream is not at `at`, and those of `write`.
    pub fn flush(
        self,
        at: u64,
        begins: &str,
        write: impl FnOnce(u64, &[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.stands_at(at, "flushes at", begins)?;
        if self.pending == 0 {
            return Ok(());
        }
        write(at - u64::from(self.pending), &self.block[..usize::from(self.pending)])
    }

    fn stands_at(&self, at: u64, verb: &str, begins: &str) -> Result<(), Fault> {
        if self.loads {
            return Err(Fault::new("align-state", format!("{verb} byte {at} with the alignment register of a load"))
                .help(format!("a stream of stores begins with `{begins}`")));
        }
        if self.pending != 0 && self.address != at {
            let message = format!(
                "{verb} byte {at}, but the stream is at byte {} with {} bytes pending",
                self.address, self.pending
            );
            return Err(Fault::new("align-state", message)
                .help("go on where the last store of the stream ended, or flush it there first"));
        }
        Ok(())
    }
}

impl From<&Register> for Align {
    fn from(register: &Register) -> Align {
        let (bytes, mut address, mut block) = (&register.0, [0; 8], [0; BLOCK_BYTES as usize]);
        address.copy_from_slice(&bytes[8..16]);
        block.copy_from_slice(&bytes[32..64]);
        Align { loads: bytes[0] != 0, pending: bytes[1], address: u64::from_le_bytes(address), block }
    }
}

impl From<Align> for Register {
    fn from(align: Align) -> Register {
        let mut register = Register::ZERO;
        (register.0[0], register.0[1]) = (u8::from(align.loads), align.pending);
        register.0[8..16].copy_from_slice(&align.address.to_le_bytes());
        register.0[32..64].copy_from_slice(&align.block);
        register
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Pieces of any sizes from any address end up where one copy would put them, and a block is never split.
        #[test]
        fn a_stream_is_a_copy(start in 0u64..100, pieces in prop::collection::vec(0usize..=256, 0..12)) {
            let total: usize = pieces.iter().sum();
            let bytes: Vec<u8> = (0..total).map(|i| (i * 7 + 1) as u8).collect();
            let mut memory = vec![0u8; start as usize + total + 32];
            let (mut align, mut at) = (Align::default(), start);
            for piece in pieces {
                let from = (at - start) as usize;
                let mut end = 0;
                let next = align.store(at, &bytes[from..from + piece], "begin", |to, bytes| {
                    end = to + bytes.len() as u64;
                    memory[to as usize..end as usize].copy_from_slice(bytes);
                    Ok(())
                });
                prop_assert!(end % BLOCK_BYTES == 0 && next.is_ok());
                align = next.unwrap_or_default();
                at += piece as u64;
                align = Align::from(&Register::from(align));
            }
            let flushed = align.flush(at, "begin", |to, bytes| {
                memory[to as usize..][..bytes.len()].copy_from_slice(bytes);
                Ok(())
            });
            prop_assert!(flushed.is_ok());
            prop_assert_eq!(&memory[start as usize..][..total], &bytes[..]);
            prop_assert!(memory[..start as usize].iter().chain(&memory[start as usize + total..]).all(|b| *b == 0));
        }
    }

    #[test]
    fn a_stream_goes_on_where_it_stands() {
        let Ok(align) = Align::default().store(4, &[1; 40], "begin", |_, _| Ok(())) else {
            panic!("a stream can begin")
        };
        assert!(
            align
                .store(40, &[1], "begin", |_, _| Ok(()))
                .is_err_and(|f| f.message.contains("44 with 12 bytes pending"))
        );
        assert!(align.flush(8, "begin", |_, _| Ok(())).is_err() && align.head(44, "begin").is_err());
        let loads = Align::primed(32, [7; 32]);
        assert!(loads.flush(32, "begin", |_, _| Ok(())).is_err() && loads.head(70, "begin").is_err());
        assert_eq!((loads.head(60, "begin").ok(), loads.head(96, "begin").ok()), (Some(&[7u8; 4][..]), Some(&[][..])));
    }
}
