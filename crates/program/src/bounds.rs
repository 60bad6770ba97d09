//! Bounds checks of accesses.

use slipring_tile::Space;

use crate::{Env, Extent, Fault, Kind, Memory, Miss, Start, gm_split};

impl Memory {
    /// True if every byte of a range exists.
    #[inline]
    pub fn has(&self, range: &Extent, env: Env) -> bool {
        if range.space != Space::Gm {
            return range.start.saturating_add(span(range)) <= self.capacity(env.block, range.core, range.space) as u64;
        }
        let Some((buffer, offset)) = gm_split(range.start) else { return false };
        if buffer >= self.gm.len() {
            return false;
        }
        offset >= 0 && (offset as u64).saturating_add(span(range)) <= self.buffer_bytes(buffer) as u64
    }

    /// The fault for a range with bytes that do not exist; `verb` is `reads` or `writes`.
    pub fn miss(&self, range: &Extent, verb: &str, env: Env) -> Fault {
        let of_buffer = gm_split(range.start).filter(|_| range.space == Space::Gm);
        let start = of_buffer.and_then(|(at, byte)| {
            let (buffer, size) = (self.gm.get(at)?.name.clone(), self.buffer_bytes(at) as u64);
            Some(Box::new(Start { buffer, byte, span: span(range), size }))
        });
        let size = if range.space == Space::Gm { 0 } else { self.capacity(env.block, range.core, range.space) as u64 };
        let local = || {
            let (buffer, byte) = (format!("{} of {}", range.space, range.core), i64::try_from(range.start).ok()?);
            Some(Box::new(Start { buffer, byte, span: span(range), size })).filter(|_| size > 0)
        };
        let miss = match start {
            Some(start) if start.byte < 0 => Miss::BeforeBuffer(start),
            Some(start) => Miss::BeyondBuffer(start),
            None => local().map_or(Miss::Nowhere, Miss::BeyondMemory),
        };
        Fault::new(Kind::OutOfBounds(miss), self.missed(range, verb, env))
    }

    fn missed(&self, range: &Extent, verb: &str, env: Env) -> String {
        let bytes = |n: u64| if n == 1 { "1 byte".to_string() } else { format!("{n} bytes") };
        let size = match range.rows {
            1 => bytes(range.row_bytes.into()),
            rows => format!("{rows} rows of {}, {} apart,", bytes(range.row_bytes.into()), range.stride),
        };
        match range.space {
            Space::Gm => match gm_split(range.start).and_then(|(at, offset)| Some((at, self.gm.get(at)?, offset))) {
                Some((at, buffer, offset)) => {
                    let capacity = self.buffer_bytes(at) as i128;
                    let end = i128::from(offset) + i128::from(span(range));
                    let miss = match offset {
                        ..0 => format!("{} before its start", bytes(offset.unsigned_abs())),
                        _ => format!("{} beyond its end", bytes((end - capacity) as u64)),
                    };
                    let name = &buffer.name;
                    format!("{verb} {size} at byte {offset} of buffer `{name}`, which has {capacity} bytes: {miss}")
                }
                None => {
                    format!("{verb} {size} at address {:#x}, which belongs to no buffer in global memory", range.start)
                }
            },
            space => match self.capacity(env.block, range.core, space) {
                0 => format!("{verb} {size} in `{space}` of {}, which has no such memory", range.core),
                capacity if (range.start as i64) < 0 => {
                    let (byte, core) = (range.start as i64, range.core);
                    let before = bytes(byte.unsigned_abs());
                    format!(
                        "{verb} {size} at byte {byte} of `{space}` of {core}, which has {capacity} bytes: {before} before its start"
                    )
                }
                capacity => format!(
                    "{verb} {size} at address {:#x} of `{space}` of {}, which has {capacity} bytes: {} beyond its end",
                    range.start,
                    range.core,
                    bytes(range.start.saturating_add(span(range)) - capacity as u64)
                ),
            },
        }
    }
}

/// Length in bytes from the first byte of a range to the end of the last. An empty range still needs an address in its
/// memory.
fn span(range: &Extent) -> u64 {
    if range.bytes() == 0 { 0 } else { range.end() - range.start }
}
