//! The relevant history of a state at which all cores are at a cut point, and the equivalence of two such states:
//! everything that can follow one can follow the other.
//!
//! The only part of the order that matters later is who knows which of the still remembered accesses, signals and waits
//! to be complete. Epochs are therefore compared by their rank among the remembered ones of their agent, as are the
//! step numbers of a core; signal counts are compared by their differences. Bytes of local memories must be at the same
//! addresses; those of global memory may have advanced by the same distance in all accesses to a buffer, and everything
//! before the lowest byte touched later is forgotten.

use std::collections::BTreeSet;

use slipring_machine::{Pipe, Role};
use slipring_program::SiteRef;
use slipring_sim::{At, CoreAt, CutPoint};

use crate::blind::Blind;
use crate::freed::Freed;
use crate::notes::Notes;
use crate::order::Order;
use crate::places::PerPlace;
use crate::queues::Queues;
use crate::shadow::{Run, Shadow};

/// The uninitialised bytes of a buffer from byte `from`, shifted back by `by`: words that are equal exactly if the
/// bytes are. `None` if the distance is not a whole number of words.
fn moved_back(voids: &[u64], from: u64, by: u64) -> Option<Vec<u64>> {
    if voids.is_empty() {
        return Some(Vec::new());
    }
    if !by.is_multiple_of(64) {
        return None;
    }
    // A word for each 64 bytes that differ from those after the last one, which are uninitialised if a final word says
    // so.
    let (words, rest) = (voids.chunks_exact(5), voids.chunks_exact(5).remainder());
    let mut list = Vec::new();
    for word in words {
        let before = from.saturating_sub(word[0].saturating_mul(64));
        if before < 64 {
            let kept = u64::MAX << before;
            let nothing = if rest.is_empty() { word[1] & kept } else { word[1] | !kept };
            list.extend([word[0].checked_sub(by / 64)?, nothing]);
            list.extend(word[2..].iter().map(|kinds| kinds & kept));
        }
    }
    list.extend(rest);
    Some(list)
}

/// The position of a core.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct CoreSnapshot {
    pub cluster: u32,
    pub role: Role,
    /// Index among the program's cores.
    pub position: usize,
    pub pc: usize,
    pub at: At,
    pub regs: Vec<u64>,
    pub queued: usize,
}

impl CoreSnapshot {
    /// The positions of the cores.
    pub(crate) fn of(meeting: &CutPoint<'_>) -> Vec<CoreSnapshot> {
        let of = |core: &CoreAt<'_>| CoreSnapshot {
            cluster: core.cluster,
            role: core.role,
            position: core.position,
            pc: core.pc,
            at: core.at,
            regs: core.regs.to_vec(),
            queued: core.queued,
        };
        meeting.cores.iter().map(of).collect()
    }
}

/// A state at a cut point, where all cores meet.
#[derive(Clone, Debug)]
pub struct Marking {
    /// The cores.
    pub cores: Vec<CoreSnapshot>,
    signals: Vec<u64>,
    held: Vec<(usize, Pipe, SiteRef)>,
    order: Order,
    shadows: PerPlace<Shadow>,
    freed: Freed,
    queues: Queues,
    blind: Blind,
    /// Uninitialised bytes of local memories and of buffers.
    voids: Vec<u64>,
    buffer_voids: Vec<Vec<u64>>,
    /// Buffers into which such bytes were stored and which still contain them.
    stored_voids: BTreeSet<usize>,
}

/// How two markings are compared in a buffer of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// Nobody writes it: its contents do not matter.
    ReadOnly,
    /// Its accesses are ordered at any addresses, and none reads uninitialised bytes.
    InOrder,
    /// Its accesses are at the same addresses.
    Stays,
    /// Each access is this many bytes further on; nobody later touches what precedes these bytes in the respective
    /// marking.
    On {
        #[allow(missing_docs)]
        by: u64,
        #[allow(missing_docs)]
        from: [u64; 2],
    },
}

impl Marking {
    pub(crate) fn new(
        meeting: &CutPoint<'_>,
        order: &Order,
        shadows: &PerPlace<Shadow>,
        freed: &Freed,
        queues: &Queues,
        blind: Blind,
    ) -> Marking {
        let shadow = meeting.memory.shadow.as_deref();
        Marking {
            cores: CoreSnapshot::of(meeting),
            signals: meeting.signals.clone(),
            held: meeting.held.clone(),
            order: order.clone(),
            shadows: shadows.clone(),
            freed: freed.clone(),
            queues: queues.clone(),
            blind,
            voids: shadow.map_or_else(Vec::new, slipring_program::Shadow::local_words),
            buffer_voids: shadow.map_or_else(Vec::new, slipring_program::Shadow::buffer_words),
            stored_voids: shadow.into_iter().flat_map(|shadow| shadow.outputs()).map(|(_, buffer, _)| buffer).collect(),
        }
    }

    /// True if everything that can follow this state can follow the other one, apart from registers that decide
    /// something, which are not compared here. `moved` determines how each buffer is compared, `read` which of them are
    /// read: in the others unwritten bytes do not matter.
    pub fn is_like(&self, other: &Marking, moved: &[Moved], read: &dyn Fn(usize) -> bool) -> bool {
        let place = |marking: &Marking| -> Vec<_> {
            let of = |core: &CoreSnapshot| (core.cluster, core.role, core.position, core.pc, core.at, core.queued);
            marking.cores.iter().map(of).collect()
        };
        let idle = self.cores.iter().all(|core| core.queued == 0);
        let matters = |buffer: usize| self.has_voids(buffer, read(buffer)) || other.has_voids(buffer, read(buffer));
        let voids = moved.iter().enumerate().filter(|(buffer, _)| matters(*buffer)).all(|(buffer, moved)| {
            let [one, two] =
                [self, other].map(|marking| marking.buffer_voids.get(buffer).map_or(&[][..], Vec::as_slice));
            match moved {
                Moved::ReadOnly => true,
                Moved::Stays => one == two,
                Moved::On { by, from } if read(buffer) => {
                    match (moved_back(one, from[0], 0), moved_back(two, from[1], *by)) {
                        (Some(one), Some(two)) => one == two,
                        _ => false,
                    }
                }
                // The addresses of its accesses are unknown, or stored data reaches its end.
                Moved::On { .. } | Moved::InOrder => one.is_empty() && two.is_empty(),
            }
        });
        idle && voids
            && place(self) == place(other)
            && self.signals == other.signals
            && self.held == other.held
            && self.voids == other.voids
            && self.words(0, moved) == other.words(1, moved)
    }

    /// True if a buffer has uninitialised bytes; for one that is not read, only stored ones count.
    pub fn has_voids(&self, buffer: usize, read: bool) -> bool {
        let any = || self.buffer_voids.get(buffer).is_some_and(|words| !words.is_empty());
        if read { any() } else { self.stored_voids.contains(&buffer) }
    }

    fn words(&self, which: usize, moved: &[Moved]) -> Vec<u64> {
        let buffers: Vec<Vec<Run>> = moved
            .iter()
            .enumerate()
            .map(|(buffer, moved)| {
                let runs = || self.shadows.buffer(buffer).map_or_else(Vec::new, Shadow::runs);
                match moved {
                    Moved::ReadOnly | Moved::InOrder => Vec::new(),
                    Moved::Stays => runs(),
                    Moved::On { by, from } => {
                        let (from, back) = (from[which], if which == 1 { *by } else { 0 });
                        let later = runs().into_iter().filter(|run| run.end > from);
                        let cut = |run: Run| Run {
                            start: run.start.max(from).saturating_sub(back),
                            end: run.end.saturating_sub(back),
                            ..run
                        };
                        later.map(cut).collect()
                    }
                }
            })
            .collect();
        let locals: Vec<Vec<Run>> = self.shadows.locals().map(Shadow::runs).collect();
        Notes::of(|notes| {
            self.order.note(notes);
            self.freed.note(notes);
            self.queues.note(notes);
            locals.iter().chain(&buffers).for_each(|runs| notes.runs(runs));
            let in_order = moved.iter().enumerate().filter(|(_, moved)| **moved == Moved::InOrder);
            in_order.for_each(|(buffer, _)| self.blind.note(buffer, notes));
        })
    }
}
