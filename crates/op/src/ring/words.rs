//! Attribute names of ops that make or use pipes, and their enumeration values. The declarations of those ops take them
//! from here.

/// The directions of a pipe: 1 Cube to Vector, 2 Vector to Cube, 3 both.
pub const DIRECTIONS: &str = "dir_mask";
/// Bytes of a slot.
pub const SLOT_SIZE: &str = "slot_size";
/// Slots of each ring.
pub const SLOTS: &str = crate::names::SLOTS;
/// Slots of the landing area of tiles from global memory.
pub const LOCAL_SLOTS: &str = "local_slot_num";
/// First flag of a counted pipe.
pub const FLAG_BASE: &str = "flag_base";
/// Number of tiles for each free signal.
pub const PERIOD: &str = "period";
/// Initial free signals.
pub const CREDITS: &str = "credits";
/// The single Vector core at the other end.
pub const LANE: &str = "lane";
/// The handshake protocol.
pub const PROTOCOL: &str = "protocol";
/// The protocol with a flag for each slot.
pub const TAGGED: &str = "tagged";
/// The protocol with counters.
pub const COUNTED: &str = "counted";
/// The memory of the slots.
pub const PLACEMENT: &str = "placement";
/// Slots in global memory.
pub const IN_GM: &str = "gm";
/// Slots in the consumer's memory.
pub const ON_CHIP: &str = "on_chip";
/// True if every tile of the pipe is undivided.
pub const UNDIVIDED: &str = "nosplit";
/// True if the pipe that uses a slot frees it, with counters too.
pub const FREED_BY_USER: &str = "freed_by_user";
/// Conversions of the fixpipe on tiles on their way into the pipe.
pub const EPILOGUE: &str = "acc_push_epilogue";
/// Number of the pipe within the kernel.
pub const ID: &str = "id";
/// The split of a tile: see [`Split`](super::Split).
pub const SPLIT: &str = crate::names::SPLIT;

/// The name under which a reservation is imported.
pub const NAME: &str = "name";

/// Its bytes.
pub const SIZE: &str = "size";

/// Its memory.
pub const LOCATION: &str = "location";

/// Its address.
pub const BASE: &str = "base";

/// The function that made the imported reservation.
pub const PEER: &str = "peer_func";
