//! Stalled cycles by cause.

use serde::Serialize;
use slipring_sim::StallCycles;

/// Stalled cycles of one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct StallFacts {
    pub cause: String,
    pub cycles: u64,
}

pub(crate) fn stall_facts(stalls: &StallCycles) -> Vec<StallFacts> {
    let causes = [
        ("queue full", stalls.queue_full),
        ("drain", stalls.drain),
        ("signal", stalls.signal),
        ("no tile", stalls.ring_ready),
        ("no free slot", stalls.ring_free),
        ("flag", stalls.event),
        ("semaphore", stalls.semaphore),
        ("token", stalls.token),
    ];
    let some = causes.into_iter().filter(|(_, cycles)| *cycles > 0);
    some.map(|(cause, cycles)| StallFacts { cause: cause.into(), cycles }).collect()
}
