//! The occupancy of rings over time, and the waits of their two ends.

use std::fmt::Write;

use serde::Serialize;
use slipring_program::{Direction, RingDecl, SiteRef, SyncRole};
use slipring_sim::{Agent, Launch, Observer, Stall, WorkRun};

/// Columns of the chart.
const COLUMNS: usize = 64;

/// Waits of one end of a ring.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WaitFacts {
    /// The core and pipe that waited; empty if there was no wait.
    pub who: String,
    /// Waits that took time.
    pub count: u64,
    /// Their cycles.
    pub cycles: u64,
    /// The longest of them, in cycles.
    pub longest: u64,
    /// The cycle at which the longest wait began.
    pub longest_at: u64,
}

impl WaitFacts {
    fn add(&mut self, who: Agent, from: u64, to: u64) {
        if to <= from {
            return;
        }
        self.who = format!("{} {}", who.role, who.pipe);
        self.count += 1;
        self.cycles += to - from;
        if to - from > self.longest {
            (self.longest, self.longest_at) = (to - from, from);
        }
    }
}

/// A ring of block 0. A slot counts as filled from the moment its push has moved the tile there until its free is
/// signalled.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct OccupancyFacts {
    pub name: String,
    pub producer: String,
    pub consumer: String,
    pub slots: u32,
    pub slot_bytes: u32,
    pub space: String,
    pub counted: bool,
    pub period: u32,
    /// Cycles for each number of filled slots, from none to all.
    pub cycles_at: Vec<u64>,
    pub producer_waits: WaitFacts,
    pub consumer_waits: WaitFacts,
    /// Mean number of filled slots in each of the equal intervals of the run.
    pub course: Vec<f64>,
    /// Cycles of the block.
    pub cycles: u64,
}

impl OccupancyFacts {
    /// Minimum and maximum number of filled slots.
    pub fn range(&self) -> (usize, usize) {
        let held = |at: &usize| self.cycles_at[*at] > 0;
        let all = 0..self.cycles_at.len();
        (all.clone().find(held).unwrap_or(0), all.rev().find(held).unwrap_or(0))
    }

    /// Mean number of filled slots over the run.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.cycles_at.iter().enumerate().map(|(filled, cycles)| filled as u64 * cycles).sum();
        sum as f64 / self.cycles.max(1) as f64
    }

    /// Cycles with no filled slot, and with all of them filled.
    pub fn empty_and_full(&self) -> (u64, u64) {
        let full = self.cycles_at.iter().skip(self.slots as usize).sum();
        (self.cycles_at.first().copied().unwrap_or(0), full)
    }
}

/// The state of a ring during the run.
#[derive(Clone, Debug, Default)]
struct Level {
    filled: u64,
    /// Initial free signals, which belong to no tile.
    credits: u32,
    since: u64,
    cycles_at: Vec<u64>,
    /// Slot-cycles of each interval of the run; all intervals have the same width.
    parts: Vec<u64>,
    width: u64,
    waits: [WaitFacts; 2],
}

impl Level {
    /// Accounts for the time until `at`.
    fn pass(&mut self, at: u64) {
        let (mut from, filled) = (self.since, self.filled);
        let level = usize::try_from(filled).unwrap_or(usize::MAX).min(self.cycles_at.len().saturating_sub(1));
        self.cycles_at[level] += at - from;
        while from < at {
            let mut part = (from / self.width) as usize;
            while part >= COLUMNS {
                // The run is longer than the intervals cover: double their width and halve their number.
                let half = self.parts.chunks(2).map(|pair| pair.iter().sum()).collect();
                self.parts = half;
                self.parts.resize(COLUMNS, 0);
                self.width *= 2;
                part = (from / self.width) as usize;
            }
            let end = at.min((part as u64 + 1) * self.width);
            self.parts[part] += filled * (end - from);
            from = end;
        }
        self.since = at;
    }
}

/// Watches the rings of block 0.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    decls: Vec<RingDecl>,
    roles: Vec<SyncRole>,
    levels: Vec<Level>,
    start: u64,
    end: u64,
}

impl Occupancy {
    /// The results, once the run is over.
    pub fn facts(&self) -> Vec<OccupancyFacts> {
        let cycles = self.end - self.start;
        let each = self.decls.iter().zip(&self.levels).map(|(decl, level)| {
            let lane = decl.lane.name();
            let (producer, consumer) = if decl.direction == Direction::C2V { ("AIC", lane) } else { (lane, "AIC") };
            let parts = cycles.div_ceil(level.width.max(1)) as usize;
            let mean = |(at, sum): (usize, &u64)| {
                let width = level.width.min(cycles - at as u64 * level.width);
                *sum as f64 / width.max(1) as f64
            };
            OccupancyFacts {
                name: decl.name.to_string(),
                producer: producer.into(),
                consumer: consumer.into(),
                slots: decl.slots,
                slot_bytes: decl.slot_bytes,
                space: decl.space.name().into(),
                counted: decl.counted,
                period: decl.period,
                cycles_at: level.cycles_at.clone(),
                producer_waits: level.waits[0].clone(),
                consumer_waits: level.waits[1].clone(),
                course: level.parts.iter().enumerate().take(parts).map(mean).collect(),
                cycles,
            }
        });
        each.collect()
    }

    /// The ring to which a synchronisation object belongs, and whether the object signals free slots.
    fn level(&mut self, agent: Agent, sync: u32) -> Option<(usize, bool)> {
        let (ring, free) = match self.roles.get(sync as usize) {
            Some(SyncRole::RingReady { ring, .. }) => (*ring as usize, false),
            Some(SyncRole::RingFree { ring, .. }) => (*ring as usize, true),
            _ => return None,
        };
        (agent.block == 0 && ring < self.levels.len()).then_some((ring, free))
    }
}

impl Observer for Occupancy {
    fn begin(&mut self, launch: &Launch<'_>) {
        self.decls = launch.program.rings.clone();
        self.roles = launch.program.syncs.iter().map(|s| s.role).collect();
        let level = |decl: &RingDecl| Level {
            cycles_at: vec![0; decl.slots as usize + 1],
            parts: vec![0; COLUMNS],
            width: 1,
            ..Level::default()
        };
        self.levels = self.decls.iter().map(level).collect();
    }

    fn block_start(&mut self, at: u64, block: u32, _: u32) {
        if block == 0 {
            (self.start, self.end) = (at, at);
            self.levels.iter_mut().for_each(|level| level.since = at);
        }
    }

    fn block_end(&mut self, at: u64, block: u32, _: u32) {
        if block == 0 {
            self.end = at;
            self.levels.iter_mut().for_each(|level| level.pass(at));
        }
    }

    fn set(&mut self, at: u64, agent: Agent, sync: u32, _: bool, _: SiteRef) {
        let Some((ring, true)) = self.level(agent, sync) else { return };
        let level = &mut self.levels[ring];
        level.pass(at);
        self.end = self.end.max(at);
        if level.credits < self.decls[ring].credits {
            level.credits += 1;
            return;
        }
        level.filled = level.filled.saturating_sub(u64::from(self.decls[ring].period));
    }

    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        let Some(first) = run.work.fills.map(|ring| ring as usize).filter(|_| run.agent.block == 0) else { return };
        let Some(decl) = self.decls.get(first) else { return };
        // The Cube core fills the slots of both lanes at once.
        let both = decl.direction == Direction::C2V && self.decls.get(first + 1).is_some_and(|d| d.name == decl.name);
        self.end = self.end.max(at);
        for level in &mut self.levels[first..=first + usize::from(both)] {
            level.pass(at);
            level.filled += 1;
        }
    }

    fn stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, _: SiteRef) {
        if let Stall::Wait(sync) = cause
            && let Some((ring, free)) = self.level(agent, sync)
        {
            self.levels[ring].waits[usize::from(!free)].add(agent, from, to);
        }
    }
}

/// Depth, occupancy, waits and a chart of every ring.
pub fn occupancy_text(rings: &[OccupancyFacts]) -> String {
    rings.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(ring: &OccupancyFacts) -> String {
    let mut text = String::new();
    let bytes = u64::from(ring.slots) * u64::from(ring.slot_bytes);
    let protocol = match (ring.counted, ring.period) {
        (false, _) => "a flag for each slot".to_string(),
        (true, 1) => "counted".to_string(),
        (true, period) => format!("counted, one free signal for {period} tiles"),
    };
    let _ = writeln!(
        text,
        "{}, {} to {}: {} slots of {} bytes in `{}`, {bytes} bytes; {protocol}",
        ring.name, ring.producer, ring.consumer, ring.slots, ring.slot_bytes, ring.space
    );
    let ((min, max), (empty, full)) = (ring.range(), ring.empty_and_full());
    let share = |cycles: u64| 100.0 * cycles as f64 / ring.cycles.max(1) as f64;
    let _ = writeln!(
        text,
        "  filled    min {min}, mean {:.2}, max {max}; empty {empty} cycles ({:.0} %), full {full} ({:.0} %)",
        ring.mean(),
        share(empty),
        share(full)
    );
    for (core, other, waits, what) in [
        (&ring.producer, &ring.consumer, &ring.producer_waits, "a free slot"),
        (&ring.consumer, &ring.producer, &ring.consumer_waits, "a tile"),
    ] {
        let _ = match waits.count {
            0 => writeln!(text, "  {core:8}  never waited for {what}"),
            count => writeln!(
                text,
                "  {:8}  waited for {what} of {other} {count} times, {} cycles in all, {} at most, from cycle {}",
                waits.who, waits.cycles, waits.longest, waits.longest_at
            ),
        };
    }
    text + &chart(ring)
}

/// Maximum number of rows of the chart.
const ROWS: u32 = 16;

fn chart(ring: &OccupancyFacts) -> String {
    if ring.course.is_empty() || ring.slots == 0 {
        return String::new();
    }
    let mut text = String::new();
    let step = ring.slots.div_ceil(ROWS);
    let mut level = ring.slots;
    while level > 0 {
        // Filled for more than half of the column's time, or for some of it.
        let cell = |mean: &f64| match mean {
            m if *m >= f64::from(level) - 0.5 * f64::from(step) => '#',
            m if *m > f64::from(level - step.min(level)) => '.',
            _ => ' ',
        };
        let line: String = ring.course.iter().map(cell).collect();
        let _ = writeln!(text, "  {level:4} |{}", line.trim_end());
        level = level.saturating_sub(step);
    }
    let width = ring.course.len();
    let _ = writeln!(text, "       +{}", "-".repeat(width));
    let end = format!("{} cycles", ring.cycles);
    let _ = writeln!(text, "        0{end:>rest$}", rest = width.saturating_sub(1).max(end.len() + 1));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels and intervals add up for a run of any length.
    #[test]
    fn parts_widen_with_the_run() {
        let mut level =
            Level { cycles_at: vec![0; 3], parts: vec![0; COLUMNS], width: 1, filled: 1, ..Level::default() };
        level.pass(100);
        level.filled = 2;
        level.pass(1000);
        assert_eq!(level.cycles_at, [0, 100, 900]);
        assert_eq!(level.parts.iter().sum::<u64>(), 100 + 2 * 900);
        assert_eq!(level.width, 16);
        assert_eq!(level.parts[0], 16);
        assert_eq!(level.parts[62], 2 * 8);
    }
}
