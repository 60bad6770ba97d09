//! Steady state: loops of a run that repeat the same behaviour are stepped a few times and then extrapolated.
//!
//! If the whole state of a run equals an earlier one, except for the clock and for pure counters, everything that
//! happened in between happens again, up to a bound of a loop or of the run. Time, counters and statistics are then
//! advanced in one step, the state of the checks stays unchanged, and only the memory effects of the work are executed,
//! one by one. The result is identical to stepping: bytes, findings and their order, cycles and statistics.
//!
//! Equality is not guessed from a few indicators: the engine's entire state is serialised into words, and so is that of
//! each observer ([`Observer::stand`]). Registers that change must be pure counters ([`CoreProgram::goes_on`]). Work
//! that discovers its accesses, returns a value, or reports something never takes part in a repetition.
//!
//! [`CoreProgram::goes_on`]: slipring_program::CoreProgram::goes_on

use std::cmp::Reverse;
use std::mem;

use slipring_program::Finding;

use crate::engine::Engine;
use crate::marks::{Look, Mark};
use crate::observe::Observer;
use crate::report;
use crate::standing::{Again, Standing};
use crate::state::ScalarState;

/// Number of steps over which it searches.
const WINDOW: u64 = 2048;
/// Recurrences of the engine's state without that of the observers before the search gives up.
const TRIES: u32 = 6;
/// Work items that are repeated between two checks for cancellation.
const AT_ONCE: u64 = 1 << 12;
/// Work items that are repeated before the next step, so that a viewer of the run sees progress.
const MOST: u64 = 1 << 20;

impl Engine<'_> {
    /// Examines the state before a step, and skips ahead over repetitions; returns the step that is due then.
    pub fn look(&mut self, due: u128, stop: u64) -> Result<u128, Box<Finding>> {
        if self.keeper.is_some() || self.outside.is_some() || self.later.is_some() {
            self.steady.able = false;
            self.steady.rest(false);
            return Ok(due);
        }
        let step = self.steady.steps;
        let look = mem::replace(&mut self.steady.look, Look::Rest(u64::MAX));
        match look {
            Look::Rest(_) => match self.mark(due, None) {
                Some(mark) => {
                    self.steady.due = due as u32;
                    self.steady.look = Look::Back { mark: Box::new(mark), until: step + WINDOW };
                }
                None => self.steady.rest(false),
            },
            Look::Back { until, .. } | Look::Twice { until, .. } if step >= until => self.steady.rest(false),
            Look::Back { ref mark, .. } => match self.mark(due, Some(mark)) {
                Some(now) => {
                    let moved = moved(&mark.engine, &now.engine);
                    self.follow(now, moved, 0);
                }
                None => self.steady.look = look,
            },
            Look::Twice { ref mark, moved: ref before, tries, .. } => {
                let Some(mut now) = self.mark(due, Some(mark)) else {
                    self.steady.look = look;
                    return Ok(due);
                };
                let moved_now = moved(&mark.engine, &now.engine);
                let able = self.observe(&mut now);
                if able && now.observers.same == mark.observers.same && moved_now == *before {
                    let observed = moved(&mark.observers, &now.observers);
                    return self.move_on(due, stop, mark.at, (&moved_now, &observed));
                }
                match able && tries < TRIES {
                    true => self.follow(now, moved_now, tries + 1),
                    false => self.steady.rest(false),
                }
            }
        }
        Ok(due)
    }

    /// Records work from a state on, until the run returns to it once more.
    fn follow(&mut self, mut mark: Mark, moved: Vec<u64>, tries: u32) {
        if mark.observers.same.is_empty() && !self.observe(&mut mark) {
            return self.steady.rest(false);
        }
        let until = self.steady.steps + WINDOW;
        self.steady.look = Look::Twice { mark: Box::new(mark), moved, until, tries };
        self.steady.trace = Some(Vec::new());
    }

    /// Asks the observers for their state; false if one must receive every event.
    fn observe(&mut self, mark: &mut Mark) -> bool {
        self.observer.stand(&mut mark.observers)
    }

    /// The state before a step; `None` if the run must be stepped, or if it differs from the wanted one.
    fn mark(&mut self, due: u128, wanted: Option<&Mark>) -> Option<Mark> {
        let at = (due >> 32) as u64;
        let mut standing = Standing::default();
        let words = &mut standing.same;
        let wanted = |words: &[u64]| wanted.is_none_or(|mark| mark.engine.same.starts_with(words));
        // Most states differ in the positions of the cores.
        words.push(u64::from(due as u32));
        words.extend(self.cores.iter().map(|core| core.pc as u64));
        if !self.held.is_empty() || !wanted(words) {
            return None;
        }
        for core in &self.cores {
            if !core.note(&self.program.cores[core.position], at, words) || !wanted(words) {
                return None;
            }
        }
        let mut agenda: Vec<u128> = self.agenda.iter().map(|Reverse(step)| *step).collect();
        agenda.sort_unstable();
        words.push(agenda.len() as u64);
        let step = |step: u128| [((step >> 32) as u64).wrapping_sub(at), u64::from(step as u32)];
        words.extend(agenda.into_iter().flat_map(step));
        self.syncs.iter().for_each(|sync| sync.note(at, words));
        words.extend(self.clusters.iter().flat_map(|cluster| [cluster.block, cluster.live]).map(u64::from));
        words.extend([self.next_block, self.blocks_done, self.overtaken].map(u64::from));
        words.extend([self.questions.len() as u64, self.meetings as u64]);
        self.traffic.note(at, words);
        self.skipped.note(words);
        if !wanted(words) {
            return None;
        }
        self.counts(&mut |count| standing.counts.push(*count));
        Some(Mark { at, engine: standing, observers: Standing::default() })
    }

    /// Visits the counters of the engine: registers first, core by core.
    fn counts(&mut self, each: &mut dyn FnMut(&mut u64)) {
        self.cores.iter_mut().for_each(|core| core.counts(each));
        self.syncs.iter_mut().for_each(|sync| sync.counts(each));
        [&mut self.steps, &mut self.other_steps].into_iter().for_each(each);
    }

    /// How many more times the events since a mark are certain to repeat.
    fn times(&self, (from, at, stop): (u64, u64, u64), moved: &[u64]) -> u64 {
        let (mut times, mut first) = (u64::MAX, 0);
        for core in &self.cores {
            let moved = &moved[first..first + core.regs.len()];
            first += core.regs.len() + 2 * core.pipes.len();
            let ended = core.state == ScalarState::Ended;
            if !ended {
                let code = &self.program.cores[core.position];
                times = times.min(code.goes_on(core.pc, &core.regs, moved).unwrap_or(0));
            }
        }
        // The last part is left to be stepped, so the run ends in the same way.
        let (cycles, steps) = (at - from, moved[moved.len() - 2].wrapping_neg());
        if cycles == 0 && steps == 0 {
            return 0;
        }
        let within = |left: u64, of: u64| left.checked_div(of).map_or(u64::MAX, |times| times.saturating_sub(2));
        times.min(within(stop.saturating_sub(at), cycles)).min(within(self.steps, steps))
    }

    /// Repeats the events since a cycle as often as that is certain.
    fn move_on(&mut self, due: u128, stop: u64, from: u64, moved: (&[u64], &[u64])) -> Result<u128, Box<Finding>> {
        let at = (due >> 32) as u64;
        let trace = self.steady.trace.take().unwrap_or_default();
        let all = self.times((from, at, stop), moved.0);
        let works = if self.launch.values { trace.len() as u64 } else { 0 };
        let times = all.min(MOST.checked_div(works).map_or(u64::MAX, |most| most.max(1)));
        if times == 0 {
            self.steady.rest(false);
            return Ok(due);
        }
        if works > 0 {
            for time in 0..times {
                if (time * works).is_multiple_of(AT_ONCE) && self.launch.cancel.is_cancelled() {
                    return Err(report::cancelled());
                }
                for done in &trace {
                    self.carry_out_one(done)?;
                }
            }
            // These were already reported when they first occurred.
            self.output.questions.clear();
        }
        let cycles = (at - from) * times;
        let mut again = Again { times, moved: moved.0.iter() };
        self.counts(&mut |count| again.move_on(count));
        self.cores.iter_mut().for_each(|core| core.pass(cycles));
        self.syncs.iter_mut().for_each(|sync| sync.pass(cycles));
        self.traffic.pass(at, cycles);
        let on = u128::from(cycles) << 32;
        self.agenda = self.agenda.drain().map(|Reverse(step)| Reverse(step + on)).collect();
        self.observer.repeat(&mut Again { times, moved: moved.1.iter() });
        self.steady.repeated += cycles;
        self.steady.rest(true);
        Ok(due + on)
    }
}

/// The increase of each counter.
pub(crate) fn moved(before: &Standing, after: &Standing) -> Vec<u64> {
    after.counts.iter().zip(&before.counts).map(|(after, before)| after.wrapping_sub(*before)).collect()
}
