//! Names of attributes that this room reads, with the prefix of a dialect or without, and how names of ops are shown.

/// The kind of core that a function is for.
pub const KIND: &str = "pto.kernel_kind";

/// What marks the kernel of a file.
pub const ENTRY: [&str; 2] = ["pto.entry", "hacc.entry"];

/// Asks the compiler to divide Vector work.
pub const SPLIT: &str = "split";

/// Slots of each ring that the compiler makes.
pub const SLOTS: &str = "slot_num";

/// Bytes of ring slots that each block of a launch needs.
pub const SLOT_BYTES: &str = "gm_slot_bytes";

/// Whether both Vector cores run a Vector function.
pub const BOTH_LANES: &str = "dual_aiv_dispatch";

/// The platform that a module is written for.
pub const PLATFORM: &str = "pto.target_arch";

/// The chip that a module is written for.
pub const CHIP: &str = "pto.device-spec";

/// What makes a loop a vector function.
pub const VECTOR_LOOP: &str = "llvm.loop.aivector_scope";

/// An op's name as costs and messages have it: without the dialect of tiles.
pub fn bare(name: &str) -> &str {
    of_tiles(name).unwrap_or(name)
}

/// The name of an op of the dialect of tiles without the dialect; `None` for ops of others.
pub fn of_tiles(name: &str) -> Option<&str> {
    name.strip_prefix("pto.")
}
