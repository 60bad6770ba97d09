//! Events of a run as a timeline.

use slipring_program::Program;
use slipring_sim::{Again, Observer, Standing, WorkRun};

/// Work on a pipe, or on a scalar unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its block.
    pub block: u32,
    /// The core: `AIC`, `AIV0` or `AIV1`.
    pub core: &'static str,
    /// The pipe.
    pub pipe: &'static str,
    /// The op.
    pub op: String,
    /// Start cycle.
    pub start: u64,
    /// Cycle at which its bytes changed.
    pub end: u64,
    /// Start and end offset of its source text; equal if it has none.
    pub span: (u32, u32),
}

/// The events of a run in the order in which they end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Timeline {
    /// The first events.
    pub events: Vec<Event>,
    /// The number of further events.
    pub left_out: u64,
}

/// Collects events.
#[derive(Debug)]
pub struct Collect {
    most: usize,
    /// Block, core, pipe, name of the work, start, end, instruction.
    list: Vec<(u32, &'static str, &'static str, String, u64, u64, u32)>,
    left_out: u64,
}

impl Collect {
    /// With this maximum number.
    pub fn new(most: usize) -> Collect {
        Collect { most, list: Vec::new(), left_out: 0 }
    }

    /// The collected events.
    pub fn finish(self, program: &Program) -> Timeline {
        let span = |site: u32| program.sites.get(site as usize).map_or((0, 0), |site| site.span);
        let event =
            |(block, core, pipe, op, start, end, site)| Event { block, core, pipe, op, start, end, span: span(site) };
        Timeline { events: self.list.into_iter().map(event).collect(), left_out: self.left_out }
    }
}

impl Observer for Collect {
    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        if self.list.len() == self.most {
            self.left_out += 1;
            return;
        }
        let (agent, start) = (run.agent, at.saturating_sub(run.cycles));
        let (core, pipe) = (agent.role.name(), agent.pipe.name());
        self.list.push((agent.block, core, pipe, run.work.name.to_string(), start, at, run.site));
    }

    fn stand(&mut self, standing: &mut Standing) -> bool {
        standing.counts.push(self.left_out);
        self.list.len() == self.most
    }

    fn repeat(&mut self, again: &mut Again<'_>) {
        again.move_on(&mut self.left_out);
    }
}
