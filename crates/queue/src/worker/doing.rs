//! The current activity of the workers.

use crate::machine::{Chip, Location, TileId};
use crate::sanitize::At;
use crate::worker::{Job, Worker};

/// The activity of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Doing {
    /// It is held in reset.
    Off,
    /// It polls its go message.
    #[default]
    Idle,
    /// It runs a launch.
    Running,
}

/// Writes of the dispatcher to a worker: the sender's barrier count when the last one was issued, by class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    pub unicast: u64,
    pub multicast: u64,
}

impl Payload {
    /// There was none.
    pub const NONE: Payload = Payload { unicast: u64::MAX, multicast: u64::MAX };
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) doing: Doing,
    /// Index of the next message of the launch ring.
    pub(crate) next: u32,
    /// A read of the go message is in flight.
    pub(crate) polling: bool,
    /// A reset of the launch pointer is in the go message and was not seen yet.
    pub(crate) reset_unseen: bool,
    /// A bit for each entry of the launch ring written since the last launch.
    pub(crate) written: u32,
    /// Data written before the go signal may arrive while it runs: that was reported when the signal left.
    pub(crate) overtaken: bool,
    /// The command that sent the last go signal, if one did.
    pub(crate) go: Option<At>,
    pub(crate) job: Option<Job>,
}

/// The workers of all tiles. Those of the queue's cores stay idle.
pub(crate) struct Workers {
    pub(crate) states: Vec<State>,
    pub(crate) numbers: Vec<u32>,
    pub(crate) worker: Option<Box<dyn Worker>>,
    /// Number of launches of each kind, and of notices sent.
    pub launched: u64,
    pub launched_by_host: u64,
    pub notified: u64,
    /// Notices sent to somewhere other than the dispatch core.
    pub astray: u64,
    pub(crate) running: u32,
    /// Writes of the ending worker.
    pub(crate) wrote: Vec<(Location, u64)>,
    /// Reads of host memory by the starting or ending worker.
    pub(crate) asked: Vec<(Location, u64)>,
}

impl Workers {
    pub fn new(chip: &Chip, worker: Box<dyn Worker>) -> Workers {
        let state = State {
            doing: Doing::Idle,
            next: 0,
            polling: false,
            reset_unseen: false,
            written: 0,
            overtaken: false,
            go: None,
            job: None,
        };
        let mut numbers = vec![0; chip.tensix()];
        for (number, tile) in chip.workers().iter().enumerate() {
            numbers[*tile as usize] = number as u32;
        }
        Workers {
            states: vec![state; chip.tensix()],
            numbers,
            worker: Some(worker),
            launched: 0,
            launched_by_host: 0,
            notified: 0,
            astray: 0,
            running: 0,
            wrote: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// Replaces the worker; returns whether none runs, without which it is not allowed.
    pub fn replace(&mut self, worker: Box<dyn Worker>) -> bool {
        if self.running > 0 {
            return false;
        }
        self.worker = Some(worker);
        true
    }

    /// A command sends a go signal.
    pub fn sent_go(&mut self, tile: TileId, by: At) {
        self.states[tile as usize].go = Some(by);
    }

    /// A go signal leaves that may overtake earlier writes.
    pub fn overtaken(&mut self, tile: TileId) {
        self.states[tile as usize].overtaken = true;
    }

    /// No workers at all, while the other queue holds the board's workers.
    pub fn none() -> Workers {
        let (states, numbers, wrote, asked) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (launched, launched_by_host, notified, astray, running) = (0, 0, 0, 0, 0);
        Workers { states, numbers, worker: None, launched, launched_by_host, notified, astray, running, wrote, asked }
    }

    /// Number of running workers.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// One line for reports.
    pub fn describe(&self, chip: &Chip) -> String {
        let mut line = format!(
            "workers: {} of {} run; {} launches, {} notices sent",
            self.running,
            chip.workers().len(),
            self.launched + self.launched_by_host,
            self.notified,
        );
        if self.launched_by_host > 0 {
            line += &format!(", {} launches in host mode, which send none", self.launched_by_host);
        }
        if self.astray > 0 {
            line += &format!(", {} notices astray", self.astray);
        }
        line
    }
}
