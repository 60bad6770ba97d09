//! Rings between the Cube core and the Vector cores: the definition of a pipe, the plan of a kernel's rings, and the
//! expansion of push, pop and free.
//!
//! All ways to write a pipe are read into one description ([`PipeSpec`]). Both protocols (tagged flags, seed 000;
//! counted flags, seed 003) and both placements are data of a [`PlannedRing`], so that a single expansion covers them
//! all.

mod agree;
mod base;
mod core_ends;
mod ends;
mod epilogue;
mod fixpipe;
mod flags;
mod inits;
mod key;
mod library;
mod moves;
mod part;
mod phases;
mod places;
mod plan;
mod planned;
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
pub use core_ends::CoreRings;
pub use epilogue::Epilogue;
pub use fixpipe::{table_of, verify_scale};
pub use key::PipeKey;
pub use part::{HandlePart, RingPart};
pub use phases::{Phase, Phases, Way};
pub use places::slot_parameters;
pub use planned::{Flags, PlannedRing, Protocol, RingPlan};
pub(crate) use protocol::finish;
pub use protocol::{allocate_entry, free, initialize, pop, push, set_status, signal_value};
pub use reserved::{
    import_peer, reserved_base, reserved_bytes, reserved_name, reserved_space, set_import_peer, set_reserved_base,
    set_reserved_space,
};
pub use resize::{set_slots, set_slots_by};
pub use rules::verify_pipe;
pub(crate) use spec::part_of;
pub use spec::{
    Config, PipeSpec, consumer, consumer_buffer, gm_buffer, has_slot_tensor, maker, own_end, pipe_key, reservation_of,
    ring_tile, slot_space, stands_on,
};
pub use split::{Part, Split};
