//! The synchronisation that a text lacks where two accesses race.

use slipring_program::Words;
use slipring_sim::Agent;

/// The synchronisation that would order an access of `old`, the first in program order or in time, before one of `new`:
/// buffer tokens if the core has them, otherwise flags.
pub(crate) fn missing_edge(old: Agent, new: Agent, old_op: &str, op: &str, (words, tokens): (&Words, bool)) -> String {
    if old.block != new.block {
        return "blocks run concurrently and in any order: give each block its own bytes".into();
    }
    if old.role != new.role {
        return format!(
            "signal from {} to {}: after `{old_op}` completes, before `{op}` starts (a push and its pop, a free and the next \
             push, a semaphore); or the other way round, if `{op}` should come first",
            old.role, new.role
        );
    }
    if old.pipe == new.pipe {
        return format!(
            "pipe {} may execute such accesses in either order: {} between the two",
            old.pipe,
            words.barrier(old.pipe)
        );
    }
    if tokens {
        return format!(
            "hold one buffer id across both: {} and {} of pipe {} around `{old_op}`, then of pipe {}, with the same id, around \
             `{op}`",
            words.get_buffer, words.release_buffer, old.pipe, new.pipe
        );
    }
    let (set, wait) = (words.set(old.pipe, new.pipe, None), words.wait(old.pipe, new.pipe, None));
    format!("{set} after `{old_op}` and {wait} before `{op}`")
}
