//! A launch in parts: some of its blocks run here, others elsewhere, and the results are combined.
//!
//! Blocks are never ordered with each other, so their results are independent unless two touch the same bytes. They are
//! coupled by time, because they share global memory. Each part therefore computes values and is checked; the times of
//! all blocks are determined together without computing anything; and anything that might differ from a run in one
//! piece is reported, and the launch is then run in one piece.

use slipring_program::Kind;
use std::sync::Arc;

use slipring_check::{CheckReport, Checker, Schedules, Values};
use slipring_machine::Pipe;
use slipring_program::gm_split;
use slipring_report::CheckFacts;
use slipring_sim::{ExecutionMode, Observer, WorkRun};
use slipring_tile::Space;

use crate::compiled::Compiled;
use crate::exec::{LaunchExtras, launch};
use crate::places::{Places, beginning};
use crate::tensor::Bound;
use crate::{Error, ExecuteOptions, Run, RunOptions, facts};

/// A range of bytes of a buffer: start and end.
pub type Stretch = (u64, u64);

/// Some blocks of a launch, computed and checked.
#[derive(Debug)]
pub struct Part {
    /// Why the launch cannot be combined from parts, if so: it is then run in one piece.
    pub obstacle: Option<String>,
    /// The results of the tools, and the scope of the verdict.
    pub checks: Vec<CheckFacts>,
    /// The bytes of each buffer in global memory that its blocks read, sorted and disjoint.
    pub reads: Vec<Vec<Stretch>>,
    /// Those that they wrote.
    pub writes: Vec<Vec<Stretch>>,
    /// For each buffer that is passed: the contents of the ranges in [`Part::writes`], concatenated.
    pub contents: Vec<Vec<u8>>,
    pub(crate) judged: CheckReport,
}

/// The touched bytes of global memory.
#[derive(Debug, Default)]
struct Touched {
    reads: Vec<Bytes>,
    writes: Vec<Bytes>,
    /// Whether a scalar unit wrote some: the contents of caches then depend on all blocks.
    by_scalars: bool,
}

/// Ranges in order of arrival, sorted from time to time.
#[derive(Clone, Debug, Default)]
struct Bytes {
    list: Vec<Stretch>,
    /// Their number after the last sort.
    apart: usize,
}

impl Bytes {
    fn add(&mut self, start: u64, end: u64) {
        match self.list.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 => last.1 = last.1.max(end),
            _ => self.list.push((start, end)),
        }
        if self.list.len() > 2 * self.apart + 1024 {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.list.sort_unstable();
        let mut merged: Vec<Stretch> = Vec::with_capacity(self.apart);
        for (start, end) in self.list.drain(..) {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        (self.apart, self.list) = (merged.len(), merged);
    }
}

impl Observer for Touched {
    fn start(&mut self, _: u64, run: &WorkRun<'_>) {
        for (ranges, list) in [(&run.access.reads, &mut self.reads), (&run.access.writes, &mut self.writes)] {
            for range in ranges.iter().filter(|range| range.space == Space::Gm && range.row_bytes > 0) {
                for row in 0..u64::from(range.rows) {
                    let start = range.start.saturating_add(row.saturating_mul(range.stride));
                    let Some((buffer, offset)) = gm_split(start) else { continue };
                    let Ok(offset) = u64::try_from(offset) else { continue };
                    if list.len() <= buffer {
                        list.resize(buffer + 1, Bytes::default());
                    }
                    list[buffer].add(offset, offset + u64::from(range.row_bytes));
                }
            }
        }
        let stores = run.access.writes.iter().any(|range| range.space == Space::Gm);
        self.by_scalars |= stores && run.agent.pipe == Pipe::S;
    }
}

fn settled(list: Vec<Bytes>) -> Vec<Vec<Stretch>> {
    let one = |mut bytes: Bytes| {
        bytes.settle();
        bytes.list
    };
    list.into_iter().map(one).collect()
}

/// Runs `count` blocks of a launch from block `first` on, with all selected tools.
///
/// # Errors
/// If there are no such blocks, or the run is cancelled.
pub fn run_part(
    compiled: &Arc<Compiled>,
    bound: &[Bound<'_>],
    asked: &RunOptions,
    (first, count, all): (u32, u32, u32),
) -> Result<Part, Error> {
    if count == 0 || first.checked_add(count).is_none_or(|end| end > all) {
        return Err(Error::Arguments(format!("{count} blocks from {first} on, of {all}")));
    }
    let prepared = &compiled.prepared;
    let tools = beginning(prepared, &compiled.kernels, bound, asked.tools.clone());
    let mut watching = (Checker::new(tools), asked.control.clone(), Touched::default());
    let options = ExecuteOptions {
        blocks: count,
        mode: ExecutionMode::Pipes,
        gm_slack: asked.gm_slack as usize,
        limits: asked.limits,
    };
    let how =
        LaunchExtras { part: Some((first, all)), cancel: asked.control.cancel_token(), ..LaunchExtras::default() };
    let execution = launch(&prepared.decoded, &compiled.platform, bound, options, how, &mut watching);
    let (checker, _, touched) = watching;
    let result = &execution.result;
    if result.findings.iter().any(|finding| finding.kind == Kind::Cancelled) {
        return Err(Error::Cancelled);
    }
    let judged = checker.report(result);
    let scope = &judged.scope;
    let obstacle = if let Some(finding) = judged.findings.first() {
        Some(format!("there is something to say of it ({})", finding.code))
    } else if !result.complete {
        Some("it did not complete".into())
    } else if !result.output.lines.is_empty() {
        Some("it prints, in order of time".into())
    } else if !matches!(scope.values, Values::AnyContents) {
        Some("its behaviour depends on loaded data".into())
    } else if asked.tools.race && !matches!(scope.schedules, Schedules::All) {
        Some("its behaviour depends on the schedule".into())
    } else if !judged.questions.is_empty() {
        Some("it depends on an ambiguity of the sources, which is only tried on a single thread".into())
    } else if Places::new(bound).any_shared() {
        Some("arguments share memory".into())
    } else if touched.by_scalars {
        Some("scalar units write global memory".into())
    } else {
        None
    };
    let checks = facts::check_facts(&judged, result.complete, |site| prepared.line(site));
    let (reads, writes) = (settled(touched.reads), settled(touched.writes));
    let mut contents = Vec::new();
    for index in (0..bound.len()).filter(|_| obstacle.is_none()) {
        let Some(after) = execution.buffer(bound, index) else { continue };
        let own = writes.get(contents.len()).map_or(&[][..], Vec::as_slice);
        // Bytes after a buffer are in no result.
        let inside = |(start, end): &Stretch| {
            let (start, end) = (*start as usize, (*end as usize).min(after.len()));
            after.get(start..end).unwrap_or_default()
        };
        contents.push(own.iter().flat_map(inside).copied().collect());
    }
    Ok(Part { obstacle, checks, reads, writes, contents, judged })
}

/// The writes of a part: the ranges of each buffer, and their contents.
pub type Written<'a> = (&'a [Vec<Stretch>], &'a [Vec<u8>]);

impl<'a> Run<'a> {
    /// Completes a time-only run with the values that parts of it have computed and the verdict of one of them, which
    /// is that of all.
    ///
    /// # Errors
    /// If a write is outside of its buffer.
    pub fn put_together(mut self, part: &Part, written: &[Written<'_>]) -> Result<Run<'a>, Error> {
        for (stretches, contents) in written {
            for (buffer, (list, bytes)) in stretches.iter().zip(contents.iter()).enumerate() {
                let target = self.execution.passed_mut(buffer);
                let target = target.ok_or_else(|| Error::Arguments(format!("there is no buffer {buffer}")))?;
                let mut rest = &bytes[..];
                for (start, end) in list {
                    let (start, end) = (*start as usize, (*end as usize).min(target.len()));
                    let Some(place) = target.get_mut(start..end) else { continue };
                    let outside = || Error::Arguments("parts of a launch have a different size than declared".into());
                    let (own, behind) = rest.split_at_checked(place.len()).ok_or_else(outside)?;
                    place.copy_from_slice(own);
                    rest = behind;
                }
            }
        }
        self.computed(part.judged.clone());
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn stretches_are_sorted_and_apart() {
        let mut bytes = Bytes::default();
        for n in (0..5000_u64).rev() {
            bytes.add(n * 8, n * 8 + 4);
            bytes.add(n * 8 + 2, n * 8 + 6);
        }
        bytes.add(3, 21);
        bytes.settle();
        assert_eq!(bytes.list[..2], [(0, 22), (24, 30)]);
        assert_eq!(bytes.list.len(), 5000 - 2);
    }
}
