//! What an op does to a ring, and what the passes and the decoder ask of it.

use slipring_effect::Payload;
use slipring_program::Direction;

use super::phases::Phase;

/// What an op does to a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RingPart {
    Initialize,
    Push(Direction),
    Pop(Direction),
    Free(Direction),
    /// Declares the consumer's memory for slots.
    Reserve,
    /// Names the memory that the peer reserved.
    Import,
    /// Turns a phase of later pushes or pops on or off.
    Status(Phase, Direction),
    /// The scale of what later pushes of a pipe with an [`Epilogue`](super::Epilogue) take out of the accumulator.
    Scale(Payload),
    /// The same by a pipe value, which tells the direction: see [`OpRef::ring`](crate::def::OpRef::ring).
    Handle(HandlePart),
}

/// What is asked of an op of rings. Each answer lists all of them, so that a new one has to say what it is.
impl RingPart {
    /// True for what makes an end of a pipe.
    pub const fn makes_end(self) -> bool {
        match self {
            RingPart::Initialize => true,
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) | RingPart::Status(..) | RingPart::Scale(_) => {
                false
            }
            RingPart::Reserve | RingPart::Import | RingPart::Handle(_) => false,
        }
    }

    /// True for what declares the consumer's memory for slots.
    pub const fn reserves(self) -> bool {
        match self {
            RingPart::Reserve => true,
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) | RingPart::Status(..) | RingPart::Scale(_) => {
                false
            }
            RingPart::Initialize | RingPart::Import | RingPart::Handle(_) => false,
        }
    }

    /// True for what names the memory that the peer reserved.
    pub const fn imports(self) -> bool {
        match self {
            RingPart::Import => true,
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) | RingPart::Status(..) | RingPart::Scale(_) => {
                false
            }
            RingPart::Initialize | RingPart::Reserve | RingPart::Handle(_) => false,
        }
    }

    /// The direction of a push that says it.
    pub const fn pushes(self) -> Option<Direction> {
        match self {
            RingPart::Push(direction) => Some(direction),
            RingPart::Pop(_) | RingPart::Free(_) | RingPart::Status(..) | RingPart::Scale(_) => None,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import | RingPart::Handle(_) => None,
        }
    }

    /// The direction of a pop that says it.
    pub const fn pops(self) -> Option<Direction> {
        match self {
            RingPart::Pop(direction) => Some(direction),
            RingPart::Push(_) | RingPart::Free(_) | RingPart::Status(..) | RingPart::Scale(_) => None,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import | RingPart::Handle(_) => None,
        }
    }

    /// The direction of a free that says it.
    pub const fn frees(self) -> Option<Direction> {
        match self {
            RingPart::Free(direction) => Some(direction),
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Status(..) | RingPart::Scale(_) => None,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import | RingPart::Handle(_) => None,
        }
    }

    /// The phase that it turns on or off, and the direction.
    pub const fn switches(self) -> Option<(Phase, Direction)> {
        match self {
            RingPart::Status(phase, direction) => Some((phase, direction)),
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) => None,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import | RingPart::Handle(_) => None,
            RingPart::Scale(_) => None,
        }
    }

    /// The direction of a push, pop or free that says it.
    pub const fn moves(self) -> Option<Direction> {
        match self {
            RingPart::Push(direction) | RingPart::Pop(direction) | RingPart::Free(direction) => Some(direction),
            RingPart::Status(..) | RingPart::Scale(_) | RingPart::Handle(_) => None,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import => None,
        }
    }

    /// True for a pop, by its ring or by a pipe value.
    pub const fn takes_tile(self) -> bool {
        match self {
            RingPart::Pop(_) | RingPart::Handle(HandlePart::Pop) => true,
            RingPart::Handle(HandlePart::Push | HandlePart::Free | HandlePart::Status(_) | HandlePart::Signal) => false,
            RingPart::Push(_) | RingPart::Free(_) | RingPart::Status(..) | RingPart::Scale(_) => false,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import => false,
        }
    }

    /// The kind of scale that it gives later pushes.
    pub const fn scales(self) -> Option<Payload> {
        match self {
            RingPart::Scale(payload) => Some(payload),
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) | RingPart::Status(..) => None,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import | RingPart::Handle(_) => None,
        }
    }

    /// True for a free, by its ring or by a pipe value.
    pub const fn gives_back(self) -> bool {
        match self {
            RingPart::Free(_) | RingPart::Handle(HandlePart::Free) => true,
            RingPart::Handle(HandlePart::Push | HandlePart::Pop | HandlePart::Status(_) | HandlePart::Signal) => false,
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Status(..) | RingPart::Scale(_) => false,
            RingPart::Initialize | RingPart::Reserve | RingPart::Import => false,
        }
    }
}

/// What an op does to the pipe that it takes as a value.
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
