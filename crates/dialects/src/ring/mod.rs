//! Rings between the Cube core and the Vector cores: the plan of a kernel's rings, and how push, pop and
//! free expand (seed 000; the counted protocol of seed 003 is not here yet).

mod plan;
mod protocol;

pub use plan::{PlannedRing, RingPlan, Split};
pub use protocol::{CoreRings, consumer_pipe, free, initialize, pop, producer_pipe, push};
