//! Known contents of memory.

use std::collections::BTreeMap;

const CHUNK: u64 = 4096;

/// Maximum number of chunks, 64 MiB; contents beyond are treated as unknown.
const MOST: usize = 1 << 14;

/// Bytes of DRAM banks.
#[derive(Default)]
pub(super) struct Known {
    chunks: BTreeMap<(u32, u64), Chunk>,
}

struct Chunk {
    bytes: Box<[u8]>,
    known: [u64; CHUNK as usize / 64],
}

impl Known {
    /// Records a write with known values.
    pub(crate) fn put(&mut self, bank: u32, addr: u64, data: &[u8]) {
        let (mut at, mut rest) = (addr, data);
        while !rest.is_empty() {
            let inside = (at % CHUNK) as usize;
            let (now, later) = rest.split_at(rest.len().min(CHUNK as usize - inside));
            let key = (bank, at / CHUNK);
            if self.chunks.len() < MOST || self.chunks.contains_key(&key) {
                let new = || Chunk { bytes: vec![0; CHUNK as usize].into(), known: [0; CHUNK as usize / 64] };
                let chunk = self.chunks.entry(key).or_insert_with(new);
                chunk.bytes[inside..inside + now.len()].copy_from_slice(now);
                (inside..inside + now.len()).for_each(|byte| chunk.known[byte / 64] |= 1 << (byte % 64));
            }
            (at, rest) = (at.saturating_add(now.len() as u64), later);
        }
    }

    /// Records a write with unknown values.
    pub fn forget(&mut self, bank: u32, start: u64, end: u64) {
        if start >= end {
            return;
        }
        for ((_, index), chunk) in self.chunks.range_mut((bank, start / CHUNK)..=(bank, (end - 1) / CHUNK)) {
            let first = index * CHUNK;
            let from = start.max(first) - first;
            let to = end.min(first + CHUNK) - first;
            (from..to).for_each(|byte| chunk.known[byte as usize / 64] &= !(1 << (byte % 64)));
        }
    }

    /// The known bytes from an address, up to a maximum number.
    pub(crate) fn read(&self, bank: u32, addr: u64, most: u64, out: &mut Vec<u8>) -> u64 {
        let mut at = addr;
        while at < addr.saturating_add(most) {
            let Some(chunk) = self.chunks.get(&(bank, at / CHUNK)) else { break };
            let inside = (at % CHUNK) as usize;
            if chunk.known[inside / 64] >> (inside % 64) & 1 == 0 {
                break;
            }
            out.push(chunk.bytes[inside]);
            at += 1;
        }
        at - addr
    }
}
