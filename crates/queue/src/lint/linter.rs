//! What the linter knows at some point of a stream.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::board::Board;
use crate::host::Issue;
use crate::layout::Layout;
use crate::lint::contents::Known;
use crate::lint::launches::Launches;
use crate::lint::memory::Bytes;
use crate::lint::order::Order;
use crate::lint::results::Results;
use crate::lint::unread::Unread;
use crate::sanitize::{CommandRef, Finding, Hazard, RecordRef};
use crate::wire::{Dispatch, Rect, Xy};

/// What the linter says about a stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Records that were looked at.
    pub records: u64,
    /// Prefetch commands in them.
    pub relays: u64,
    /// Dispatch commands in those.
    pub commands: u64,
    /// What is wrong, in the order of the stream: of each hazard the first some.
    pub findings: Vec<Finding>,
    /// How often each hazard was met.
    pub met: BTreeMap<Hazard, u64>,
    /// What could not be judged, and why.
    pub not_judged: Vec<String>,
    /// What of that may order, write or start something: whether findings are all that some delay shows is not known.
    pub not_ordered: Vec<String>,
}

/// Findings of one hazard that are kept.
pub(crate) const KEPT: u64 = 32;

impl Report {
    /// Takes hazards out that are accepted; those that were met, and how often.
    pub fn allow(&mut self, hazards: &[Hazard]) -> Vec<(Hazard, u64)> {
        self.findings.retain(|finding| !hazards.contains(&finding.hazard));
        hazards.iter().filter_map(|hazard| Some((*hazard, self.met.remove(hazard)?))).collect()
    }

    /// Findings that were counted and not kept.
    pub fn more(&self) -> u64 {
        self.met.values().map(|times| times.saturating_sub(KEPT)).sum()
    }
}

/// What prefetcher and dispatcher would know at some point of the stream.
pub(crate) struct Linter {
    pub(super) board: Rc<Board>,
    pub(super) layout: Rc<Layout>,
    pub(super) report: Report,
    /// For each of its findings the byte of the record that the dispatcher passes with it.
    pub(super) due: Vec<u32>,
    pub(super) issue: Issue,
    pub(super) record: Option<RecordRef>,
    /// The prefetch command that is looked at, and where it starts in its record.
    pub(super) relay: Option<CommandRef>,
    /// Pages of the dispatcher's ring that were used so far.
    pub(super) pages: u64,
    /// A relay without flush, and what it carried.
    pub(super) noflush: Option<(Option<RecordRef>, Option<CommandRef>, Vec<u8>)>,
    /// TERMINATE was met by the prefetcher, and by the dispatcher.
    pub(super) prefetch_ended: bool,
    pub(super) dispatch_ended: bool,
    pub(super) write_offsets: [u32; 4],
    pub(super) launches: Launches,
    /// Rectangles that multicasts went to: those that were used last.
    pub(super) areas: Vec<Area>,
    /// What commands have written, and the prefetcher may not read yet.
    pub(super) unread: Unread,
    /// Packed writes whose lists are not known yet: on a machine.
    pub(super) listed: Listed,
    /// What workers write, and the prefetcher may not read yet.
    pub(super) results: Results,
    /// What workers write, and the host may not read yet: on a machine.
    pub(super) host_results: Results,
    /// Resets of launch pointers that workers may not have seen.
    pub(super) resets: Resets,
    /// The command and address whose launch message was said to be wrong.
    pub(super) judged_message: Option<(u64, u64)>,
    /// Notices for the prefetcher, and its STALLs.
    pub(super) notices: u64,
    pub(super) stalls: u64,
    /// Records that the dispatcher has written for the host, and those that the host of a stream has taken.
    pub(super) host_records: u64,
    pub(super) host_taken: u64,
    /// It judges beside a machine, which has the memory that commands are read from.
    pub(super) live: bool,
    /// A record whose EXEC_BUF comes next, its slot and bytes, and where it goes on after that.
    pub(super) behind_trace: Option<(Option<RecordRef>, u16, Vec<u8>, usize)>,
    /// Commands have run that could not be looked at.
    pub(super) unknown: bool,
    /// What the stream has written to DRAM: for a stream by itself.
    pub(super) known: Known,
    /// Its steps, where there is another queue.
    pub(super) order: Option<Order>,
}

/// A target of a packed write: its word, whether that is a rectangle, the first byte and how many.
pub(crate) type Target = (u32, bool, u64, u64);

/// Writes whose lists are not known yet, and the reads after them.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) numbers: u32,
    pub(super) open: VecDeque<Open>,
    pub(super) reads: VecDeque<Held>,
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(super) number: u32,
    pub(super) header: Dispatch,
    pub(super) record: Option<RecordRef>,
    pub(super) at: CommandRef,
}

/// A read that nothing orders after some of these writes.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) hazard: Hazard,
    pub(super) record: Option<RecordRef>,
    pub(super) relay: Option<CommandRef>,
    pub(super) parts: Vec<Bytes>,
    pub(super) behind: Vec<u32>,
}

/// Resets of the launch pointer that no barrier covers, by tile.
#[derive(Debug, Default)]
pub(super) struct Resets(pub(super) BTreeMap<Xy, CommandRef>);

impl Resets {
    /// All writes so far have arrived, and were seen by the time that anything else arrives.
    pub fn barrier(&mut self) {
        self.0.clear();
    }

    /// The reset of a tile that may not have been seen.
    pub fn unseen(&self, tile: Xy) -> Option<CommandRef> {
        self.0.get(&tile).copied()
    }
}

/// What a multicast to a rectangle reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) rect: Rect,
    pub(super) workers: u32,
    /// Tiles that acknowledge: the queue's own cores do as well.
    pub(super) answers: u32,
    /// The first tile that is no worker.
    pub(super) other: Option<Xy>,
}
