//! The pipes that wait and signal in each phase of a ring (seed 003, TPUSH and TPOP; seed 000).

use slipring_machine::Pipe;
use slipring_program::Direction;

/// The four steps of the handshake between the ends of a ring. A push allocates, moves, records; a pop waits and takes;
/// a free releases the slot, in the pop itself or in a separate op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The producer waits for a free slot.
    Allocate,
    /// The producer signals that the slot is ready.
    Record,
    /// The consumer waits for a ready slot.
    Wait,
    /// The consumer signals that the slot is free.
    Free,
}

/// The pipe of each phase. On platforms whose waits stall the whole core, the scalar unit waits instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Phases {
    pub allocate: Pipe,
    pub record: Pipe,
    pub wait: Pipe,
    pub free: Pipe,
}

/// The properties of a ring that decide its pipes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Direction.
    pub direction: Direction,
    /// True: slots in global memory. False: in the consumer's own.
    pub in_gm: bool,
    /// True for a ring that carries a control signal: the scalar units do everything.
    pub control: bool,
    /// True for the counted protocol.
    pub counted: bool,
}

impl Phases {
    /// The pipes of a ring.
    ///
    /// Seed 003 frees a ring to the Cube core from MTE1, wherever its slots are. However, a slot in global memory has
    /// been read as soon as MTE2 has loaded it, and MTE1 is not ordered after that: here MTE2 frees it. On chip, the
    /// tagged protocol frees a slot in UB from the pipe that uses it, V; the counted one from MTE2, as seed 003
    /// specifies.
    pub const fn of(way: Way) -> Phases {
        if way.control {
            return Phases { allocate: Pipe::S, record: Pipe::S, wait: Pipe::S, free: Pipe::S };
        }
        let mover = match way.direction {
            Direction::C2V => Pipe::Fix,
            Direction::V2C => Pipe::Mte3,
        };
        let (wait, free) = match (way.in_gm, way.direction, way.counted) {
            (true, ..) => (Pipe::Mte2, Pipe::Mte2),
            (false, Direction::C2V, false) => (Pipe::V, Pipe::V),
            (false, Direction::C2V, true) => (Pipe::V, Pipe::Mte2),
            (false, Direction::V2C, _) => (Pipe::Mte1, Pipe::Mte1),
        };
        Phases { allocate: mover, record: mover, wait, free }
    }
}
