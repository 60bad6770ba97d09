//! The sanitizer's records: who sent which bytes, what is unread, and what was found.

use super::{CommandRef, Finding, Hazard, IssueShadow, RecordRef, Severity};
use crate::layout::Layout;
use crate::machine::credits;

/// The behaviour of a machine at an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AtError {
    /// It stops there: every later call of the driver returns the finding.
    #[default]
    Strict,
    /// It records the finding and continues as the silicon would, as far as known.
    Silicon,
}

/// The position of an actor in the host's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct At {
    pub record: Option<RecordRef>,
    pub command: Option<CommandRef>,
}

/// A page of a ring between two cores: the origin of its bytes, and their number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Page {
    pub record: Option<RecordRef>,
    /// The start of the relayed bytes in the record, if they came from it.
    pub at: Option<u32>,
    /// Bytes written since the page was released.
    pub filled: u32,
}

/// The count that go signals make a stream reach, and the awaited count, since it was cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Notices {
    /// Number of workers that were sent a go signal.
    pub due: u64,
    /// The highest count that a wait has passed.
    pub passed: u32,
}

impl Notices {
    /// Whether a wait for a count is satisfied by notices of an earlier launch alone, while later ones are in flight.
    pub fn stale(self, count: u32) -> bool {
        count > 0 && count <= self.passed && u64::from(count) < self.due
    }
}

/// Number of findings kept per hazard; more are only counted.
const KEPT: u64 = 16;

/// The records of the sanitizer.
pub(crate) struct Ledger {
    pub mode: AtError,
    pub findings: Vec<Finding>,
    /// How often each hazard was met.
    pub met: Vec<u64>,
    /// The finding at which the machine stopped.
    pub stopped: Option<usize>,
    /// By actor.
    pub at: [At; 3],
    /// Commands that each actor has met.
    pub commands: [u64; 3],
    /// Stride of the prefetcher's current command.
    pub stride: u32,
    /// Pages of the dispatcher's ring.
    pub pages: Vec<Page>,
    /// Pages of the subordinate's ring.
    pub s_pages: Vec<Page>,
    pub issue: IssueShadow,
    /// By stream.
    pub notices: [Notices; 64],
    /// Allowed hazards: counted, and not kept.
    pub allowed: Vec<Hazard>,
    /// Pages that the prefetcher acquired for the dispatcher, and handed over.
    pub acquired: u64,
    pub produced: u64,
    /// Pages that the dispatcher took, and returned.
    pub consumed: u64,
    pub returned: u64,
    /// Pages handed over and not run when the dispatcher ended.
    pub left_by_terminate: u64,
    /// Records fetched and not run when the prefetcher ended.
    pub left_unread: u64,
    /// Minus the credits that the prefetcher has taken, wrapping.
    pub taken: u32,
    /// Completion records: the end of each in pages, for the last few hundred.
    pub completion_ends: std::collections::VecDeque<u64>,
    /// Pages pushed to the completion ring.
    pub completed: u64,
    /// Pages that the host has taken from it.
    pub drained: u64,
    /// Whether it takes the start of a record next.
    pub between_records: bool,
    /// Records that the host has taken from it.
    pub taken_records: u64,
    /// The host has let everything run since it last queued a record.
    pub settled: bool,
    /// The host's knowledge when it queued each record that is not fetched yet: whether everything before had run; the
    /// number of records of the completion ring it had taken; whether it had waited, according to the stream; the time;
    /// and the number of records of another queue's ring it had taken.
    pub known: std::collections::VecDeque<(bool, u64, bool, u64, u64)>,
    /// Records that the host has taken from another queue's completion ring.
    pub taken_of_other: u64,
    /// Records in borrowed memory, with their contents when the host announced them, by index.
    pub borrowed: std::collections::VecDeque<(u64, Vec<u8>)>,
    /// Borrowed memory relayed by queued records.
    pub relayed: std::collections::VecDeque<crate::machine::Borrowed>,
    /// Records that the host had taken from the completion ring when it last queued one.
    pub taken_before: u64,
}

impl Ledger {
    pub fn new(mode: AtError, layout: &Layout) -> Ledger {
        Ledger {
            mode,
            findings: Vec::new(),
            met: vec![0; Hazard::ALL.len()],
            stopped: None,
            at: [At::default(); 3],
            commands: [0; 3],
            stride: 0,
            pages: vec![Page::default(); layout.dispatch.cb_pages as usize],
            s_pages: vec![Page::default(); layout.dispatch.s_cb_pages as usize],
            issue: IssueShadow::new(layout),
            notices: [Notices::default(); 64],
            allowed: Vec::new(),
            acquired: 0,
            produced: 0,
            consumed: 0,
            returned: 0,
            left_by_terminate: 0,
            left_unread: 0,
            taken: 0,
            completion_ends: Default::default(),
            completed: 0,
            drained: 0,
            between_records: true,
            taken_records: 0,
            settled: false,
            known: Default::default(),
            taken_of_other: 0,
            borrowed: Default::default(),
            relayed: Default::default(),
            taken_before: 0,
        }
    }

    /// Counts a hazard; returns whether a finding of it should be kept.
    pub fn wants(&mut self, hazard: Hazard) -> bool {
        let met = &mut self.met[hazard as usize];
        *met += 1;
        *met <= KEPT && !self.allowed.contains(&hazard)
    }

    /// Keeps a finding. In strict mode, the first error stops the machine.
    pub fn add(&mut self, finding: Finding) {
        let error = finding.severity() == Severity::Error;
        self.findings.push(finding);
        if error && self.mode == AtError::Strict && self.stopped.is_none() {
            self.stopped = Some(self.findings.len() - 1);
        }
    }

    /// Whether the machine has stopped at a finding.
    pub fn stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The next command of an actor starts.
    pub fn command(&mut self, actor: usize, name: &'static str, record: Option<RecordRef>, at: Option<u32>) {
        let index = self.commands[actor];
        self.commands[actor] += 1;
        self.at[actor] = At { record, command: Some(CommandRef { index, name, at }) };
    }

    /// Page credits in one line: the state of all pages of the dispatcher's ring, given the credits granted so far.
    pub fn credits_line(&self, granted: u32, layout: &Layout) -> String {
        format!(
            "page credits: {} of {} free; {} pages acquired, {} handed over, {} consumed, {} returned ({} of them held back in blocks)",
            credits(granted, self.taken),
            layout.dispatch.cb_pages,
            self.acquired,
            self.produced,
            self.consumed,
            self.returned,
            self.consumed.saturating_sub(self.returned),
        )
    }
}

impl Ledger {
    /// The host announces a record of this size.
    pub fn announced(&mut self, bytes: u32, waited: bool, cycle: u64) -> RecordRef {
        let record = self.issue.announce(bytes);
        self.taken_before = self.taken_records;
        self.known.push_back((
            std::mem::take(&mut self.settled),
            self.taken_records,
            waited,
            cycle,
            self.taken_of_other,
        ));
        record
    }

    /// Pages were sent to the completion ring; `last`: they complete a record.
    pub fn completed(&mut self, pages: u64, last: bool) {
        self.completed += pages;
        if last {
            self.completion_ends.push_back(self.completed);
        }
    }

    /// The host has taken pages.
    pub fn drained(&mut self, pages: u64) {
        if pages == 0 {
            return;
        }
        self.drained += pages;
        self.between_records = false;
        while let Some(end) = self.completion_ends.front().copied().filter(|end| *end <= self.drained) {
            self.completion_ends.pop_front();
            self.taken_records += 1;
            self.between_records = end == self.drained;
        }
    }
}

/// Bytes that a queued record relays from borrowed memory, with their contents when it was queued.
pub(crate) struct Borrowed {
    pub(crate) record: RecordRef,
    pub(crate) id: u8,
    pub(crate) at: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Borrowed {
    /// The bytes of it within a range of a memory: their position in it, and number.
    pub(crate) fn part(&self, id: u8, at: u64, bytes: u64) -> Option<std::ops::Range<usize>> {
        let (from, to) = (self.at.max(at), (self.at + self.bytes.len() as u64).min(at.saturating_add(bytes)));
        (self.id == id && from < to).then(|| (from - self.at) as usize..(to - self.at) as usize)
    }
}
