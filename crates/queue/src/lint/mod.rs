//! Judges a stream without running it: every hazard that its bytes alone show.
//!
//! The linter walks the records as prefetcher and dispatcher would and keeps what they would know: how many pages have been
//! used, which tiles were sent go signals, which writes no barrier covers. What depends on time (slots that are written too early,
//! lapped issue memory, a full completion ring) only a run shows.

mod dispatch;
mod host;
mod known;
mod launch;
mod listed;
mod mailbox;
mod order;
mod pair;
mod reads;
mod record;
mod relay;
mod results;
mod target;
#[cfg(test)]
mod tests;
mod tiles;
mod timing;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::board::Board;
use crate::capture::Capture;
use crate::host::Issue;
use crate::layout::Layout;
use crate::sanitize::{CommandRef, Finding, Hazard, RecordRef};
use crate::wire::Xy;
use known::Known;
use launch::Launches;
use listed::Listed;
pub(crate) use listed::Target;
use mailbox::Resets;
pub(crate) use order::{Between, Order};
pub(crate) use reads::Memory;
use reads::Unread;
use results::Results;
pub(crate) use results::{Bytes, Read};
use target::Area;

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
const KEPT: u64 = 32;
/// Things that were not judged that are named.
const NAMED: usize = 20;

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

/// Judges what a host queued. Fields of the memory map that the stream names are those that it says.
pub fn lint(capture: &Capture, board: &Board, layout: &Layout) -> Report {
    if capture.two_queues {
        return pair::lint(capture, board, layout);
    }
    let mut linter = Linter::new(Rc::new(board.clone()), Rc::new(capture.layout_on(layout)));
    for (index, entry) in capture.entries.iter().enumerate() {
        linter.acts(capture, index);
        if entry.waits {
            linter.host_waits();
        }
        linter.entry(entry.slot, &entry.bytes);
    }
    linter.acts(capture, capture.entries.len());
    linter.end();
    linter.report
}

/// What prefetcher and dispatcher would know at some point of the stream.
pub(crate) struct Linter {
    board: Rc<Board>,
    layout: Rc<Layout>,
    report: Report,
    /// For each of its findings the byte of the record that the dispatcher passes with it.
    due: Vec<u32>,
    issue: Issue,
    record: Option<RecordRef>,
    /// The prefetch command that is looked at, and where it starts in its record.
    relay: Option<CommandRef>,
    /// Pages of the dispatcher's ring that were used so far.
    pages: u64,
    /// A relay without flush, and what it carried.
    noflush: Option<(Option<RecordRef>, Option<CommandRef>, Vec<u8>)>,
    /// TERMINATE was met by the prefetcher, and by the dispatcher.
    prefetch_ended: bool,
    dispatch_ended: bool,
    write_offsets: [u32; 4],
    launches: Launches,
    /// Rectangles that multicasts went to: those that were used last.
    areas: Vec<Area>,
    /// What commands have written, and the prefetcher may not read yet.
    unread: Unread,
    /// Packed writes whose lists are not known yet: on a machine.
    listed: Listed,
    /// What workers write, and the prefetcher may not read yet.
    results: Results,
    /// What workers write, and the host may not read yet: on a machine.
    host_results: Results,
    /// Resets of launch pointers that workers may not have seen.
    resets: Resets,
    /// The command and address whose launch message was said to be wrong.
    judged_message: Option<(u64, u64)>,
    /// Notices for the prefetcher, and its STALLs.
    notices: u64,
    stalls: u64,
    /// Records that the dispatcher has written for the host, and those that the host of a stream has taken.
    host_records: u64,
    host_taken: u64,
    /// It judges beside a machine, which has the memory that commands are read from.
    live: bool,
    /// A record whose EXEC_BUF comes next, its slot and bytes, and where it goes on after that.
    behind_trace: Option<(Option<RecordRef>, u16, Vec<u8>, usize)>,
    /// Commands have run that could not be looked at.
    unknown: bool,
    /// What the stream has written to DRAM: for a stream by itself.
    known: Known,
    /// Its steps, where there is another queue.
    order: Option<Order>,
}

impl Linter {
    /// Judges by another layout from here on.
    pub(crate) fn take_layout(&mut self, layout: Rc<Layout>) {
        self.layout = layout;
    }

    pub(crate) fn new(board: Rc<Board>, layout: Rc<Layout>) -> Linter {
        Linter {
            report: Report::default(),
            due: Vec::new(),
            issue: Issue::new(&layout),
            record: None,
            relay: None,
            pages: 0,
            noflush: None,
            prefetch_ended: false,
            dispatch_ended: false,
            write_offsets: [0; 4],
            launches: Launches::default(),
            areas: Vec::new(),
            unread: Unread::default(),
            listed: Listed::default(),
            results: Results::default(),
            host_results: Results::default(),
            resets: Resets::default(),
            judged_message: None,
            notices: 0,
            stalls: 0,
            host_records: 0,
            host_taken: 0,
            live: false,
            behind_trace: None,
            unknown: false,
            known: Known::default(),
            order: board.others.map(|_| Order::default()),
            board,
            layout,
        }
    }

    /// The host has waited until everything has run.
    pub(crate) fn host_waited(&mut self) {
        self.issue.idle();
        self.barrier();
        self.unread.all_read();
        self.results.all_read();
        self.host_results.all_read();
    }

    /// The host has taken so many records from the completion ring: what it queues from now on comes after what the dispatcher had
    /// waited for when it wrote them.
    pub(crate) fn host_took(&mut self, records: u64) {
        self.unread.took(records);
        self.results.took(records);
        self.host_results.took(records);
    }

    /// The linter of a machine, whose workers say what they wrote.
    pub(crate) fn beside_a_machine(board: Rc<Board>, layout: Rc<Layout>) -> Linter {
        Linter { results: Results::live(), host_results: Results::live(), live: true, ..Linter::new(board, layout) }
    }

    /// What the queue has done, where there is another one.
    pub(crate) fn order(&mut self) -> Option<&mut Order> {
        self.order.as_mut()
    }

    /// The oldest launch of a tile ends, and wrote these bytes: the relay and the load of the host that read some of them too early,
    /// each with what started the worker.
    pub(crate) fn wrote(&mut self, tile: Xy, wrote: Vec<Bytes>) -> [Option<(Read, CommandRef)>; 2] {
        self.order.iter_mut().for_each(|order| order.wrote(tile, &wrote));
        [self.results.wrote(tile, wrote.clone()), self.host_results.wrote(tile, wrote)]
    }

    /// Records that were looked at.
    pub(crate) fn records(&self) -> u64 {
        self.report.records
    }

    /// Whether something was found since the last call of [`take`](Linter::take).
    pub(crate) fn has_found(&self) -> bool {
        !self.report.findings.is_empty()
    }

    /// What was found since the last call, and after which byte of its record the dispatcher is past it.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (Finding, u32)> {
        std::mem::take(&mut self.report.findings).into_iter().zip(std::mem::take(&mut self.due))
    }

    /// Reports something about the prefetch command at hand, or about its record if there is none.
    fn find(&mut self, hazard: Hazard, message: impl Into<String>) {
        self.keep(Finding { record: self.record, command: self.relay, ..Finding::new(hazard, message) });
    }

    /// Reports something about the dispatch command at hand.
    fn find_in(&mut self, command: CommandRef, hazard: Hazard, message: impl Into<String>) {
        self.keep(Finding { record: self.record, command: Some(command), ..Finding::new(hazard, message) });
    }

    fn keep(&mut self, finding: Finding) {
        let met = self.report.met.entry(finding.hazard).or_default();
        *met += 1;
        if *met <= KEPT {
            // What is relayed after a header belongs to the command that starts there.
            let header = self.noflush.as_ref().filter(|(record, ..)| *record == finding.record);
            let at = header.map_or(finding.command, |(_, header, _)| *header).and_then(|command| command.at);
            self.due.push(at.unwrap_or(0));
            self.report.findings.push(finding);
        }
    }

    /// Commands run that cannot be looked at: what they wait for, write and start is not known from here on.
    fn unknown_commands(&mut self) {
        self.unknown = true;
        self.barrier();
        self.launches_unknown();
    }

    /// Notes once that something could not be judged that may order, write or start something.
    fn not_ordered(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.report.not_ordered.len() < NAMED && !self.report.not_ordered.contains(&what) {
            self.report.not_ordered.push(what.clone());
        }
        self.not_judged(what);
    }

    /// What may order, write or start something, and could not be judged.
    pub(crate) fn unordered(&self) -> &[String] {
        &self.report.not_ordered
    }

    /// Notes once that something could not be judged.
    fn not_judged(&mut self, what: impl Into<String>) {
        let what = what.into();
        let named = &mut self.report.not_judged;
        if named.len() < NAMED && !named.contains(&what) {
            named.push(what);
        } else if named.len() == NAMED && !named.contains(&what) {
            named.push("and more of that kind".to_string());
        }
    }

    fn end(&mut self) {
        self.dangling("the stream ends");
    }

    /// Reports a relay without flush that nothing follows up.
    fn dangling(&mut self, but: &str) {
        if let Some((record, command, _)) = self.noflush.take() {
            let message = format!("the header that this relays stays in a page that is not handed over: {but}");
            self.keep(Finding { record, command, ..Finding::new(Hazard::NoflushDangling, message) });
        }
    }
}
