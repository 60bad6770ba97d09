//! Planned rings.

use std::collections::BTreeSet;

use slipring_ir::{TileType, ValueId};
use slipring_machine::Role;
use slipring_program::Direction;
use slipring_tile::Space;

use crate::ring::ends::Ends;
use crate::ring::epilogue::Epilogue;
use crate::ring::key::PipeKey;
use crate::ring::library::Library;
use crate::ring::phases::{Phase, Phases};

/// The handshake between the ends of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// A ready and a free flag for each slot (seed 000). The first id is given in the Cube core's numbering for AIV0.
    Tagged(u32),
    /// A counter for each kind of signal (seed 003).
    Counted(Flags),
}

impl Protocol {
    /// True for the protocol with a flag for each slot.
    pub const fn is_tagged(self) -> bool {
        matches!(self, Protocol::Tagged(_))
    }
}

/// A ring of a kernel: one direction of one pipe, to one or both Vector cores.
#[derive(Clone, Debug)]
pub struct PlannedRing {
    /// The pipe.
    pub key: PipeKey,
    /// Direction.
    pub direction: Direction,
    /// True if it carries a control signal.
    pub control: bool,
    /// True if its slots are exposed to the text, which fills and reads them in global memory.
    pub entries: bool,
    /// Number of slots.
    pub slots: u32,
    /// Bytes from one slot to the next.
    pub slot_bytes: u32,
    /// True if the pipe has both directions.
    pub both_ways: bool,
    /// Vector cores at the ring's other end.
    pub lanes: [bool; 2],
    /// Memory that holds the slots.
    pub space: Space,
    /// Address of slot 0 in the consumer's memory, if the text determines it; `None` for rings in global memory.
    pub base: Option<u64>,
    /// The handshake between the ends.
    pub protocol: Protocol,
    /// Number of tiles for each free signal.
    pub period: u32,
    /// Initial free signals.
    pub credits: u32,
    /// True if a pop frees its slot.
    pub auto_free: bool,
    /// Number of slots in the consumer's memory.
    pub local_slots: u32,
    /// Pipes of the phases.
    pub phases: Phases,
    /// Phases that ops turn on and off.
    pub switched: Vec<Phase>,
    /// Type of the tiles that the consumer pops: the layout of the tile in its slot. `None` without a pop.
    pub popped: Option<TileType>,
    /// Index in the program's rings of the part of lane 0 (or of the only lane); lane 1's follows.
    pub first: u32,
    /// The properties of the ring for which the platform's tile library differs from the engine.
    pub(super) library: Library,
    /// Those of them for which the engine's interpretation applies.
    pub(super) leaning: Library,
    /// Types of the tiles at both ends.
    pub(super) ends: Ends,
    /// Conversions of the fixpipe on its tiles.
    pub(super) epilogue: Option<Epilogue>,
    pub(crate) name: String,
}

impl PlannedRing {
    /// Lanes that take part, in order.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let lanes = self.lanes;
        (0..2).filter(move |lane| lanes[*lane])
    }

    /// Index in the program's rings of the part of a lane.
    pub fn part(&self, lane: usize) -> u32 {
        self.first + u32::from(lane == 1 && self.lanes[0])
    }

    /// True if a core is at one of the ring's ends.
    pub fn includes(&self, role: Role) -> bool {
        role == Role::Aic || self.lanes[role.subblock() as usize]
    }

    /// The number of flags of one kind: one for each slot, or one counter.
    pub const fn flags(&self) -> u32 {
        match self.protocol {
            Protocol::Tagged(_) => self.slots,
            Protocol::Counted(_) => 1,
        }
    }
}

/// All rings of a kernel.
#[derive(Clone, Debug, Default)]
pub struct RingPlan {
    /// The rings, by pipe and direction.
    pub rings: Vec<PlannedRing>,
    /// Tiles that pops bind to a slot after their creation.
    pub(crate) rebound: BTreeSet<ValueId>,
    pub(crate) counter_max: u32,
    pub(crate) lane_offset: u32,
    /// True if the producers consume the initial free signals at the end, because counters outlive the kernel.
    pub(crate) returns: bool,
}

/// The two counters of a counted ring, with ids in the Cube core's numbering for AIV0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// A tile is ready.
    pub ready: u32,
    /// A slot is free.
    pub free: u32,
}
