//! Pipe work and its accesses.

use slipring_machine::{CoreKind, Pipe};
use slipring_tile::Space;
use smallvec::SmallVec;

/// The accessed memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// A local memory; ranges are byte offsets in it.
    Local(Space),
    /// A buffer in global memory, by the id of its base; byte ranges do not apply, windows may.
    Global(u32),
    /// Some buffer in global memory.
    AnyGlobal,
    /// No memory: an event, by the id of its value. The work that produces it writes it, work that waits for it reads
    /// it.
    Event(u32),
}

/// The part of a view within constant bounds: parts of the same view that are disjoint in one dimension do not overlap.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bounds {
    /// Id of the view.
    pub view: u32,
    /// First index and end index of the part, by dimension.
    pub bounds: SmallVec<[(i64, i64); 5]>,
}

/// One range read or written by work.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Memory.
    pub memory: Memory,
    /// First byte and end of the range, for local memory.
    pub bytes: (u64, u64),
    /// The part of the buffer, if known.
    pub window: Option<Bounds>,
    /// True if it is written.
    pub write: bool,
}

impl Access {
    /// The kind of memory; `None` for an event.
    pub fn space(&self) -> Option<Space> {
        match self.memory {
            Memory::Local(space) => Some(space),
            Memory::Global(_) | Memory::AnyGlobal => Some(Space::Gm),
            Memory::Event(_) => None,
        }
    }

    /// True if the two may touch the same bytes and one of them writes.
    pub fn conflicts(&self, other: &Access) -> bool {
        (self.write || other.write)
            && match (self.memory, other.memory) {
                (Memory::Local(a), Memory::Local(b)) => {
                    a == b && self.bytes.0.max(other.bytes.0) < self.bytes.1.min(other.bytes.1)
                }
                (Memory::Event(a), Memory::Event(b)) => a == b,
                (Memory::Local(_) | Memory::Event(_), _) | (_, Memory::Local(_) | Memory::Event(_)) => false,
                (Memory::Global(a), Memory::Global(b)) => a == b && !self.apart(other),
                _ => true,
            }
    }

    fn apart(&self, other: &Access) -> bool {
        let (Some(a), Some(b)) = (&self.window, &other.window) else { return false };
        a.view == b.view && a.bounds.iter().zip(&b.bounds).any(|(a, b)| a.0.max(b.0) >= a.1.min(b.1))
    }
}

/// Work for a pipe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Work {
    /// Its pipe.
    pub pipe: Pipe,
    /// The kind of core that runs it, if known.
    pub core: Option<CoreKind>,
    /// Its accesses.
    pub accesses: Vec<Access>,
    /// The flags that the tile library uses internally: the setting and the waiting pipe, all with id
    /// [`slipring_op::LIBRARY_EVENT`].
    pub inside: SmallVec<[(Pipe, Pipe); 2]>,
}

impl Work {
    /// True if the two must not run at the same time.
    pub fn conflicts(&self, other: &Work) -> bool {
        self.conflicts_in(other, |_| true)
    }

    /// True if two work items of one pipe may run in either order and must not: they conflict in a memory where the
    /// pipe overlaps its own work.
    pub fn overlaps(&self, other: &Work, overlapping: &[(Pipe, Space)]) -> bool {
        // An event of a pipe that overlaps its own work means that the work is complete, whatever memory it uses.
        self.conflicts_in(other, |space| {
            overlapping.iter().any(|(pipe, of)| *pipe == self.pipe && space.is_none_or(|space| space == *of))
        })
    }

    /// True if two work items conflict outside global memory.
    pub fn conflicts_locally(&self, other: &Work) -> bool {
        self.conflicts_in(other, |space| space != Some(Space::Gm))
    }

    fn conflicts_in(&self, other: &Work, counts: impl Fn(Option<Space>) -> bool) -> bool {
        let apart = matches!((self.core, other.core), (Some(a), Some(b)) if a != b);
        let clash = |a: &Access| counts(a.space()) && other.accesses.iter().any(|b| a.conflicts(b));
        !apart && self.accesses.iter().any(clash)
    }
}
