//! The linter's knowledge at a point of a stream.

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

/// The linter's results for a stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Records examined.
    pub records: u64,
    /// Prefetch commands in them.
    pub relays: u64,
    /// Dispatch commands in those.
    pub commands: u64,
    /// Findings, in the order of the stream: the first ones of each hazard.
    pub findings: Vec<Finding>,
    /// How often each hazard was met.
    pub met: BTreeMap<Hazard, u64>,
    /// What could not be checked, and why.
    pub not_judged: Vec<String>,
    /// The part of that which may order, write or start something: it is then unknown whether the findings are complete
    /// for all delays.
    pub not_ordered: Vec<String>,
}

/// Number of findings kept per hazard.
pub(crate) const KEPT: u64 = 32;

impl Report {
    /// Removes allowed hazards; returns those that were met, and how often.
    pub fn allow(&mut self, hazards: &[Hazard]) -> Vec<(Hazard, u64)> {
        self.findings.retain(|finding| !hazards.contains(&finding.hazard));
        hazards.iter().filter_map(|hazard| Some((*hazard, self.met.remove(hazard)?))).collect()
    }

    /// Number of findings that were counted but not kept.
    pub fn more(&self) -> u64 {
        self.met.values().map(|times| times.saturating_sub(KEPT)).sum()
    }
}

/// The state of prefetcher and dispatcher at a point of the stream.
pub(crate) struct Linter {
    pub(super) board: Rc<Board>,
    pub(super) layout: Rc<Layout>,
    pub(super) report: Report,
    /// For each of its findings the byte of the record after which the dispatcher has passed it.
    pub(super) due: Vec<u32>,
    pub(super) issue: Issue,
    pub(super) record: Option<RecordRef>,
    /// The current prefetch command, and its start in its record.
    pub(super) relay: Option<CommandRef>,
    /// Pages of the dispatcher's ring that were used so far.
    pub(super) pages: u64,
    /// A relay without flush, and its data.
    pub(super) noflush: Option<(Option<RecordRef>, Option<CommandRef>, Vec<u8>)>,
    /// Whether the prefetcher, and the dispatcher, has met TERMINATE.
    pub(super) prefetch_ended: Option<&'static str>,
    pub(super) dispatch_ended: bool,
    pub(super) write_offsets: [u32; 4],
    pub(super) launches: Launches,
    /// Targets of multicasts: the most recently used ones.
    pub(super) areas: Vec<Area>,
    /// Data written by commands that the prefetcher may not read yet.
    pub(super) unread: Unread,
    /// On a machine: packed writes whose lists are not known yet.
    pub(super) listed: Listed,
    /// Data written by workers that the prefetcher may not read yet.
    pub(super) results: Results,
    /// On a machine: data written by workers that the host may not read yet.
    pub(super) host_results: Results,
    /// Resets of launch pointers that workers may not have seen yet.
    pub(super) resets: Resets,
    /// The command and address of the launch message reported last.
    pub(super) judged_message: Option<(u64, u64)>,
    /// The command with a finding about where workers write their times.
    pub(super) judged_times: Option<u64>,
    /// Notifications to the prefetcher, and its STALLs.
    pub(super) notices: u64,
    pub(super) stalls: u64,
    /// Records that the dispatcher has written for the host, and those that the host of a stream has taken.
    pub(super) host_records: u64,
    pub(super) host_taken: u64,
    /// It runs alongside a machine, which has the memory that commands are read from.
    pub(super) live: bool,
    /// A record whose EXEC_BUF comes next, its slot and bytes, and where it continues afterwards.
    pub(super) behind_trace: Option<(Option<RecordRef>, u16, Vec<u8>, usize)>,
    /// Unknown commands have run.
    pub(super) unknown: bool,
    /// The stream's writes to DRAM: only for a standalone stream.
    pub(super) known: Known,
    /// Its steps, if there is another queue.
    pub(super) order: Option<Order>,
}

/// A target of a packed write: its word, whether that is a rectangle, the first byte and the number of bytes.
pub(crate) type Target = (u32, bool, u64, u64);

/// Writes whose lists are not known yet, and the later reads.
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

/// A read that is not ordered after some of these writes.
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
    /// All writes so far have arrived, and were seen before anything else arrives.
    pub fn barrier(&mut self) {
        self.0.clear();
    }

    /// The reset of a tile that may not have been seen.
    pub fn unseen(&self, tile: Xy) -> Option<CommandRef> {
        self.0.get(&tile).copied()
    }
}

/// The targets of a multicast to a rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) rect: Rect,
    pub(super) workers: u32,
    /// Number of acknowledging tiles, including the queue's own cores.
    pub(super) answers: u32,
    /// The first tile that is not a worker.
    pub(super) other: Option<Xy>,
}
