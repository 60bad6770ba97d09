//! What ends of pipes and the ops on them say of themselves: the names of their attributes, and words among their values. Who
//! declares those ops takes them from here.

/// Which directions a pipe has: 1 Cube to Vector, 2 Vector to Cube, 3 both.
pub const DIRECTIONS: &str = "dir_mask";
/// Bytes of a slot.
pub const SLOT_SIZE: &str = "slot_size";
/// Slots of each ring.
pub const SLOTS: &str = crate::names::SLOTS;
/// Slots of the landing area of tiles from global memory.
pub const LOCAL_SLOTS: &str = "local_slot_num";
/// First flag of a counted pipe.
pub const FLAG_BASE: &str = "flag_base";
/// Tiles that one free signal stands for.
pub const PERIOD: &str = "period";
/// Free signals at the start.
pub const CREDITS: &str = "credits";
/// The one Vector core at the other end.
pub const LANE: &str = "lane";
/// How the ends agree.
pub const PROTOCOL: &str = "protocol";
/// The protocol with a flag for each slot.
pub const TAGGED: &str = "tagged";
/// The protocol with counters.
pub const COUNTED: &str = "counted";
/// Where the slots are.
pub const PLACEMENT: &str = "placement";
/// Slots in global memory.
pub const IN_GM: &str = "gm";
/// Slots in the consumer's memory.
pub const ON_CHIP: &str = "on_chip";
/// True where every tile of the pipe goes undivided.
pub const UNDIVIDED: &str = "nosplit";
/// True where the pipe that uses a slot frees it, with counters too.
pub const FREED_BY_USER: &str = "freed_by_user";
/// What the fixpipe does to tiles on their way into the pipe.
pub const EPILOGUE: &str = "acc_push_epilogue";
/// Which pipe of a kernel.
pub const ID: &str = "id";
/// How a tile is divided: see [`Split`](super::Split).
pub const SPLIT: &str = crate::names::SPLIT;

/// The name that a reservation is imported by.
pub const NAME: &str = "name";

/// Its bytes.
pub const SIZE: &str = "size";

/// Its memory.
pub const LOCATION: &str = "location";

/// Its address.
pub const BASE: &str = "base";

/// The function that reserves what is imported.
pub const PEER: &str = "peer_func";
