//! Rings between the Cube core and the Vector cores: what a pipe is, the plan of a kernel's rings, and how
//! push, pop and free expand.
//!
//! Every way to write a pipe is read into one description ([`PipeSpec`]), both protocols (tagged flags, seed 000; counted
//! flags, seed 003) and both placements are data of a [`PlannedRing`], and one expansion serves them all.

mod agree;
mod base;
mod ends;
mod epilogue;
mod flags;
mod library;
mod moves;
mod part;
mod phases;
mod places;
mod plan;
mod protocol;
pub mod reserved;
mod resize;
mod rules;
mod signal;
mod slots;
mod spec;
mod split;
mod witness;
pub mod words;

pub use agree::odd;
pub use base::SlotBase;
pub use epilogue::{Epilogue, table_of, verify_scale};
pub use flags::Flags;
pub use part::{HandlePart, RingPart};
pub use phases::{Phase, Phases, Way};
pub use places::slot_parameters;
pub use plan::{PlannedRing, Protocol, RingPlan};
pub(crate) use protocol::finish;
pub use protocol::{CoreRings, allocate_entry, free, initialize, pop, push, set_status, signal_value};
pub use reserved::{
    import_peer, reserved_base, reserved_bytes, reserved_name, reserved_space, set_import_peer, set_reserved_base,
    set_reserved_space,
};
pub use resize::{set_slots, set_slots_by};
pub use rules::verify_pipe;
pub use spec::{
    Config, PipeKey, PipeSpec, consumer, consumer_buffer, gm_buffer, has_slot_tensor, maker, own_end, pipe_key,
    reservation_of, ring_tile, slot_space, stands_on,
};
pub(crate) use spec::{part_of, pipe_of};
pub use split::{Part, Split};
