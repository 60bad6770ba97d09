//! Checks a stream without running it: every hazard that its bytes alone show.
//!
//! The linter processes the records as prefetcher and dispatcher would and tracks their state: how many pages have been
//! used, which tiles were sent go signals, which writes no barrier covers. Hazards that depend on time (slots written
//! too early, lapped issue memory, a full completion ring) show up only in a run.

mod contents;
mod dispatch;
mod host;
mod known;
mod launch;
mod launches;
mod linter;
mod listed;
mod mailbox;
mod memory;
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
mod unread;

use std::rc::Rc;

use crate::board::Board;
use crate::capture::Capture;
use crate::host::Issue;
use crate::layout::Layout;
use crate::lint::contents::Known;
use crate::lint::launches::Launches;
use crate::lint::linter::{KEPT, Listed, Resets};
use crate::lint::unread::Unread;
use crate::sanitize::{CommandRef, Finding, Hazard};
use crate::wire::Xy;
use results::Results;

pub(crate) use linter::Linter;
pub use linter::Report;
pub(crate) use linter::Target;
pub(crate) use memory::Bytes;
pub(crate) use memory::Memory;
pub(crate) use order::{Between, Order};
pub(crate) use results::Read;
/// Maximum number of unchecked items that are named.
const NAMED: usize = 20;

/// Checks a host stream. Fields of the memory map named in the stream have its values.
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

impl Linter {
    /// Uses another layout from here on.
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
            prefetch_ended: None,
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
            judged_times: None,
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

    /// The host has taken this many records from the completion ring: everything it queues from now on comes after what
    /// the dispatcher had waited for when it wrote them.
    pub(crate) fn host_took(&mut self, records: u64) {
        self.unread.took(records);
        self.results.took(records);
        self.host_results.took(records);
    }

    /// The linter of a machine, whose workers report what they wrote.
    pub(crate) fn beside_a_machine(board: Rc<Board>, layout: Rc<Layout>) -> Linter {
        Linter { results: Results::live(), host_results: Results::live(), live: true, ..Linter::new(board, layout) }
    }

    /// The queue's accesses, if there is another queue.
    pub(crate) fn order(&mut self) -> Option<&mut Order> {
        self.order.as_mut()
    }

    /// The oldest launch of a tile ends, and wrote these bytes: returns the relay and the host load that read some of
    /// them too early, each with the command that started the worker.
    pub(crate) fn wrote(&mut self, tile: Xy, wrote: Vec<Bytes>) -> [Option<(Read, CommandRef)>; 2] {
        self.order.iter_mut().for_each(|order| order.wrote(tile, &wrote));
        [self.results.wrote(tile, wrote.clone()), self.host_results.wrote(tile, wrote)]
    }

    /// Records examined.
    pub(crate) fn records(&self) -> u64 {
        self.report.records
    }

    /// Whether there are findings since the last call of [`take`](Linter::take).
    pub(crate) fn has_found(&self) -> bool {
        !self.report.findings.is_empty()
    }

    /// The findings since the last call, and the byte of the record after which the dispatcher has passed each.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (Finding, u32)> {
        std::mem::take(&mut self.report.findings).into_iter().zip(std::mem::take(&mut self.due))
    }

    /// Reports a finding about the current prefetch command, or about its record if there is none.
    fn find(&mut self, hazard: Hazard, message: impl Into<String>) {
        self.keep(Finding { record: self.record, command: self.relay, ..Finding::new(hazard, message) });
    }

    /// Reports a finding about the current dispatch command.
    fn find_in(&mut self, command: CommandRef, hazard: Hazard, message: impl Into<String>) {
        self.keep(Finding { record: self.record, command: Some(command), ..Finding::new(hazard, message) });
    }

    fn keep(&mut self, finding: Finding) {
        let met = self.report.met.entry(finding.hazard).or_default();
        *met += 1;
        if *met <= KEPT {
            // Data relayed after a header belong to the command that starts there.
            let header = self.noflush.as_ref().filter(|(record, ..)| *record == finding.record);
            let at = header.map_or(finding.command, |(_, header, _)| *header).and_then(|command| command.at);
            self.due.push(at.unwrap_or(0));
            self.report.findings.push(finding);
        }
    }

    /// Unknown commands run: from here on it is unknown what they wait for, write and start.
    fn unknown_commands(&mut self) {
        self.unknown = true;
        self.barrier();
        self.launches_unknown();
    }

    /// Records once that something which may order, write or start something could not be checked.
    fn not_ordered(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.report.not_ordered.len() < NAMED && !self.report.not_ordered.contains(&what) {
            self.report.not_ordered.push(what.clone());
        }
        self.not_judged(what);
    }

    /// Items that may order, write or start something and could not be checked.
    pub(crate) fn unordered(&self) -> &[String] {
        &self.report.not_ordered
    }

    /// Records once that something could not be checked.
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

    /// Reports a relay without flush that is not continued.
    fn dangling(&mut self, but: &str) {
        if let Some((record, command, _)) = self.noflush.take() {
            let message = format!("the header that this relays stays in a page that is not handed over: {but}");
            self.keep(Finding { record, command, ..Finding::new(Hazard::NoflushDangling, message) });
        }
    }
}
