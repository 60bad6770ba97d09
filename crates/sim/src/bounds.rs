//! Bounds checks of the bytes that work will touch.

use slipring_program::{Access, Env, Finding, Memory, Work};

use crate::report;
use crate::state::Entry;

/// Checks every range of an access against the capacity of its memory.
///
/// # Errors
/// A `memory-bounds` finding for the first range that does not fit.
pub(crate) fn check(access: &Access, env: Env, memory: &Memory, entry: Entry, work: &Work) -> Result<(), Box<Finding>> {
    for (ranges, verb) in [(&access.reads, "reads"), (&access.writes, "writes")] {
        for range in ranges {
            if !memory.has(range, env) {
                let fault = memory.miss(range, verb, env);
                let message = format!("{} {}", work.name, fault.message);
                return Err(report::error_at(fault.kind, entry.site, "this access", message));
            }
        }
    }
    Ok(())
}
