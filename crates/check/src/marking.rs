//! What is left of the past where all cores meet, and when two such states are alike: then whatever can come of the one can come of
//! the other.
//!
//! Of an order only this matters for what comes later: who knows which of the accesses, signals and waits that are still
//! remembered to be over. So epochs are compared by their rank among the remembered ones of their agent, as are the numbers of
//! steps of a core; counts of signals by what is between them. Bytes of local memories lie where they lie; those of global
//! memory may have moved on by the same distance in all accesses to a buffer, and what lies before all that is touched
//! later is forgotten.

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

/// What is uninitialised in a buffer from byte `from` on, each byte moved back by so many: words that are the same exactly if that
/// is. `None` where the distance is not a whole number of words.
fn moved_back(voids: &[u64], from: u64, by: u64) -> Option<Vec<u64>> {
    if voids.is_empty() {
        return Some(Vec::new());
    }
    if !by.is_multiple_of(64) {
        return None;
    }
    // A word for each 64 bytes that are not as those after the last one, which are uninitialised where a last word says so.
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

/// Where a core stands.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct CoreSnapshot {
    pub cluster: u32,
    pub role: Role,
    /// Position in the program's cores.
    pub position: usize,
    pub pc: usize,
    pub at: At,
    pub regs: Vec<u64>,
    pub queued: usize,
}

impl CoreSnapshot {
    /// Where the cores stand.
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

/// A state where all cores meet.
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
    /// Bytes of local memories and of buffers that are uninitialised.
    voids: Vec<u64>,
    buffer_voids: Vec<Vec<u64>>,
    /// Buffers into which such bytes were stored, and there they are.
    stored_voids: BTreeSet<usize>,
}

/// How two markings are compared in a buffer of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// Nobody writes it: nothing in it matters.
    ReadOnly,
    /// Its accesses are in order wherever they are, and none reads bytes that are uninitialised.
    InOrder,
    /// Its accesses are where they were.
    Stays,
    /// Each access lies so many bytes further on; what lies before these bytes, of the one and of the other marking, is
    /// touched by nobody later.
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

    /// True if whatever can come of this state can come of the other one: as far as the registers go that decide something, which
    /// are not looked at here. `moved` says how each buffer is compared, `read` which of them are read: of the others it does not
    /// matter what nobody has written yet.
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
                // Where its accesses are is not known, or what was stored comes to the end.
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

    /// True if a buffer has bytes that are uninitialised: of one that is not read, such that were stored there.
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
