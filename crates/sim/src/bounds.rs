//! Do the bytes that work will touch exist?

use slipring_program::{Access, Env, Extent, Finding, Memory, Work, gm_split};
use slipring_tile::Space;

use crate::report;
use crate::state::Entry;

/// Checks every range of a plan against the capacity of its memory.
///
/// # Errors
/// A `memory-bounds` finding for the first range that does not fit.
pub(crate) fn check(access: &Access, env: Env, memory: &Memory, entry: Entry, work: &Work) -> Result<(), Box<Finding>> {
    for (ranges, verb) in [(&access.reads, "reads"), (&access.writes, "writes")] {
        for range in ranges {
            if fits(range, env, memory) {
                continue;
            }
            return Err(outside(range, verb, env, memory, entry, work));
        }
    }
    Ok(())
}

/// Bytes from the first to after the last that a range touches. An empty range still needs a place in its
/// memory.
fn span(range: &Extent) -> u64 {
    if range.bytes() == 0 { 0 } else { range.end() - range.start }
}

#[inline]
fn fits(range: &Extent, env: Env, memory: &Memory) -> bool {
    if range.space != Space::Gm {
        return range.start.saturating_add(span(range)) <= memory.capacity(env.block, range.core, range.space) as u64;
    }
    let Some((buffer, offset)) = gm_split(range.start) else { return false };
    let Some(buffer) = memory.gm.get(buffer) else { return false };
    offset >= 0 && (offset as u64).saturating_add(span(range)) <= buffer.data.len() as u64
}

fn outside(range: &Extent, verb: &str, env: Env, memory: &Memory, entry: Entry, work: &Work) -> Box<Finding> {
    let size = match range.rows {
        1 => report::count(u64::from(range.row_bytes), "byte"),
        rows => {
            format!("{rows} rows of {}, {} apart,", report::count(u64::from(range.row_bytes), "byte"), range.stride)
        }
    };
    let message = match range.space {
        Space::Gm => match gm_split(range.start).and_then(|(at, offset)| Some((memory.gm.get(at)?, offset))) {
            Some((buffer, offset)) => {
                let capacity = buffer.data.len() as i128;
                let end = i128::from(offset) + i128::from(span(range));
                let miss = match offset {
                    ..0 => format!("{} bytes before its start", offset.unsigned_abs()),
                    _ => format!("{} bytes beyond its end", end - capacity),
                };
                format!(
                    "{} {verb} {size} at byte {offset} of buffer `{}`, which has {capacity} bytes: {miss}",
                    work.name, buffer.name
                )
            }
            None => format!(
                "{} {verb} {size} at address {:#x}, which belongs to no buffer in global memory",
                work.name, range.start
            ),
        },
        space => match memory.capacity(env.block, range.core, space) {
            0 => format!("{} {verb} {size} in `{space}` of {}, which has no such memory", work.name, range.core),
            capacity => format!(
                "{} {verb} {size} at address {:#x} of `{space}` of {}, which has {capacity} bytes: {} bytes beyond its end",
                work.name,
                range.start,
                range.core,
                range.start.saturating_add(span(range)) - capacity as u64
            ),
        },
    };
    report::error_at("memory-bounds", entry.site, "this access", message)
}
