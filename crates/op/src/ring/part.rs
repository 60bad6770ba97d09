//! The effect of an op on a ring, as queried by the passes and the decoder.

use slipring_effect::Payload;
use slipring_program::Direction;

use super::phases::Phase;

/// The effect of an op on a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RingPart {
    Initialize,
    Push(Direction),
    Pop(Direction),
    Free(Direction),
    /// Declares the consumer's memory for slots.
    Reserve,
    /// Imports the memory that the peer reserved.
    Import,
    /// Turns a phase on or off for later pushes or pops.
    Status(Phase, Direction),
    /// Sets the scale for later pushes of a pipe with an [`Epilogue`](super::Epilogue).
    Scale(Payload),
    /// An op on a pipe value, which determines the direction: see [`OpRef::ring`](crate::def::OpRef::ring).
    Handle(HandlePart),
}

/// The effect of an op on a ring, however it refers to the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    MakeEnd,
    Reserve,
    Import,
    Push,
    Pop,
    Free,
    Switch(Phase),
    Scale(Payload),
    ReadSignal,
}

impl RingPart {
    /// The act, and the direction if the variant has one: an op on a pipe value has none. This is the only match on all
    /// variants; every query below uses it.
    const fn facts(self) -> (Act, Option<Direction>) {
        match self {
            RingPart::Initialize => (Act::MakeEnd, None),
            RingPart::Reserve => (Act::Reserve, None),
            RingPart::Import => (Act::Import, None),
            RingPart::Push(direction) => (Act::Push, Some(direction)),
            RingPart::Pop(direction) => (Act::Pop, Some(direction)),
            RingPart::Free(direction) => (Act::Free, Some(direction)),
            RingPart::Status(phase, direction) => (Act::Switch(phase), Some(direction)),
            RingPart::Scale(payload) => (Act::Scale(payload), None),
            RingPart::Handle(HandlePart::Push) => (Act::Push, None),
            RingPart::Handle(HandlePart::Pop) => (Act::Pop, None),
            RingPart::Handle(HandlePart::Free) => (Act::Free, None),
            RingPart::Handle(HandlePart::Status(phase)) => (Act::Switch(phase), None),
            RingPart::Handle(HandlePart::Signal) => (Act::ReadSignal, None),
        }
    }

    /// True for an op that makes an end of a pipe.
    pub const fn makes_end(self) -> bool {
        matches!(self.facts(), (Act::MakeEnd, _))
    }

    /// True for an op that declares the consumer's memory for slots.
    pub const fn reserves(self) -> bool {
        matches!(self.facts(), (Act::Reserve, _))
    }

    /// True for an op that imports the memory that the peer reserved.
    pub const fn imports(self) -> bool {
        matches!(self.facts(), (Act::Import, _))
    }

    /// True for a pop, of a ring or of a pipe value.
    pub const fn takes_tile(self) -> bool {
        matches!(self.facts(), (Act::Pop, _))
    }

    /// True for a free, of a ring or of a pipe value.
    pub const fn gives_back(self) -> bool {
        matches!(self.facts(), (Act::Free, _))
    }

    /// The direction of a push that specifies it.
    pub const fn pushes(self) -> Option<Direction> {
        match self.facts() {
            (Act::Push, direction) => direction,
            _ => None,
        }
    }

    /// The direction of a pop that specifies it.
    pub const fn pops(self) -> Option<Direction> {
        match self.facts() {
            (Act::Pop, direction) => direction,
            _ => None,
        }
    }

    /// The direction of a free that specifies it.
    pub const fn frees(self) -> Option<Direction> {
        match self.facts() {
            (Act::Free, direction) => direction,
            _ => None,
        }
    }

    /// The direction of a push, pop or free that specifies it.
    pub const fn moves(self) -> Option<Direction> {
        match self.facts() {
            (Act::Push | Act::Pop | Act::Free, direction) => direction,
            _ => None,
        }
    }

    /// The phase that it turns on or off, and the direction, if the op specifies it.
    pub const fn switches(self) -> Option<(Phase, Direction)> {
        match self.facts() {
            (Act::Switch(phase), Some(direction)) => Some((phase, direction)),
            _ => None,
        }
    }

    /// The kind of scale that it sets for later pushes.
    pub const fn scales(self) -> Option<Payload> {
        match self.facts() {
            (Act::Scale(payload), _) => Some(payload),
            _ => None,
        }
    }
}

/// The effect of an op on the pipe that it takes as a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum HandlePart {
    Push,
    Pop,
    Free,
    Status(Phase),
    /// Reads the control signal that was popped last.
    Signal,
}
