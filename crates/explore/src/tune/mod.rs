//! A kernel over a grid of values: the time of each point, the points that are refused and why, and the best point,
//! checked and verified.
//!
//! | module | contents |
//! |---|---|
//! | `vary` | the varied parameters, and the points of the grid |
//! | `point` | one point: the kernel with its values, run and checked |
//! | `saved` | points in a file, to resume from |
//! | `text` | the table and the chart |
//! | `edit` | edits of a source that may help |
//! | `rings` | edits of texts whose rings get more slots |
//! | `auto` | the search among them, and the patch |
//! | `advise` | the edits that correspond to a forecast |

mod advise;
mod auto;
mod edit;
mod file;
mod point;
mod rings;
mod saved;
mod text;
mod vary;

pub use file::Tune;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use slipring::Error;

use saved::Saved;
use vary::{Word, grid};

pub use auto::{Improved, KeptEdit};
pub use point::Point;
pub use vary::{MOST_POINTS, Setting, Vary};

/// The progress of a grid.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TuneProgress<'t> {
    /// Completed points.
    pub done: usize,
    /// Total number of points, including the original file.
    pub all: usize,
    /// The best so far.
    pub best: Option<&'t Point>,
}

/// The result of a grid.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Tuning {
    /// The file.
    pub file: String,
    /// The varied parameters, in order.
    pub vary: Vec<VaryFacts>,
    /// The original file; `None` if it is a point of the grid.
    pub written: Option<Point>,
    /// The index of that point.
    pub written_at: Option<usize>,
    /// Every point; the last parameter varies fastest.
    pub points: Vec<Point>,
    /// The index of the best: among the clean ones the fastest in time (platforms have different clocks), then the one
    /// with the least local memory, then the first. A point that the comparison with the sequential semantics proved
    /// wrong is not clean.
    pub best: Option<usize>,
    /// Number of points taken from the file of an earlier run.
    pub reused: usize,
}

/// A varied parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct VaryFacts {
    pub name: String,
    pub values: Vec<String>,
}

impl Tuning {
    /// The best point.
    pub fn best(&self) -> Option<&Point> {
        self.points.get(self.best?)
    }

    /// The original file, whether it is a point of the grid or not.
    pub fn as_written(&self) -> Option<&Point> {
        self.written.as_ref().or_else(|| self.points.get(self.written_at?))
    }
}

impl Tune {
    /// Runs one point. If it cannot be run it is `refused`, with the reason.
    pub fn point(&self, settings: &[Setting]) -> Point {
        let words: Result<Vec<Word>, Error> = settings.iter().map(|setting| self.word(setting)).collect();
        match words {
            Ok(words) => self.point_of(settings, &words, &[], false),
            Err(error) => Point::refused(settings, &error),
        }
    }

    /// Runs every point of a grid, several concurrently, and compares the best with the sequential semantics. The
    /// result does not depend on the number of concurrent runs.
    ///
    /// `file` contains the points of an earlier run, which are reused if nothing about them has changed; each point is
    /// appended to it when it is complete. `seen` is called after each.
    ///
    /// # Errors
    /// If nothing is varied, a value does not fit the file at all, the file of points has other contents or cannot be
    /// written, or the runs are cancelled. A failure with single values is not an error but a point.
    pub fn run(
        &self,
        vary: &[Vary],
        file: Option<PathBuf>,
        seen: impl Fn(&TuneProgress<'_>) + Sync,
    ) -> Result<Tuning, Error> {
        if vary.is_empty() {
            return Err(Error::Arguments("nothing varies: `--vary NAME=32,64,128`".into()));
        }
        let is_set =
            |own: &&Vary| self.sets.iter().any(|set| set.split_once('=').is_some_and(|(name, _)| name == own.name));
        if let Some(own) = vary.iter().find(is_set) {
            return Err(Error::Arguments(format!("`{}` varies, and `--set` gives it one value", own.name)));
        }
        let grid = grid(vary)?;
        let words: Vec<Word> = grid[0].iter().map(|setting| self.word(setting)).collect::<Result<_, _>>()?;
        let saved = file.map(Saved::open).transpose()?;
        let known = saved.as_ref().map_or(&[][..], |saved| saved.points());
        // First the original file.
        let jobs: Vec<&[_]> = std::iter::once(&[][..]).chain(grid.iter().map(Vec::as_slice)).collect();
        let shared = Mutex::new(Shared { points: vec![None; jobs.len()], done: 0, best: None, lost: None });
        let (next, reused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let keep = |at: usize, point: Point| {
            let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let old = point.of.is_some() && known.contains(&point);
            reused.fetch_add(usize::from(old && at > 0), Ordering::Relaxed);
            if let Some(saved) = saved.as_ref().filter(|_| !old && shared.lost.is_none()) {
                shared.lost = saved.add(&point).err();
            }
            shared.done += 1;
            if at > 0 && point.is_clean() && shared.best.as_ref().is_none_or(|best| point.rank() < best.rank()) {
                shared.best = Some(point.clone());
            }
            shared.points[at] = Some(point);
            seen(&TuneProgress { done: shared.done, all: jobs.len(), best: shared.best.as_ref() });
        };
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(at).filter(|_| !self.run.control.is_cancelled()) else { return };
                keep(at, self.point_of(job, &words, known, false));
            }
        };
        self.together(jobs.len(), work);
        if self.run.control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let shared = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(lost) = shared.lost {
            return Err(lost);
        }
        let mut points: Vec<Point> = shared.points.into_iter().flatten().collect();
        let written = points.remove(0);
        let best = self.verified_best(&mut points, &grid, &words, known);
        // A point of the grid may be equal to the original file.
        let twice = points.iter().position(|point| point.of.is_some() && point.of == written.of);
        let tuning = Tuning {
            file: self.name.clone(),
            vary: vary.iter().map(|own| VaryFacts { name: own.name.clone(), values: own.values.clone() }).collect(),
            written: twice.is_none().then_some(written.clone()),
            written_at: twice,
            points,
            best,
            reused: reused.into_inner(),
        };
        if let Some(saved) = saved {
            saved.finish(std::iter::once(&written).chain(&tuning.points))?;
        }
        Ok(tuning)
    }

    /// The best point that equals the sequential semantics, or that cannot be compared with it.
    fn verified_best(
        &self,
        points: &mut [Point],
        grid: &[Vec<Setting>],
        words: &[Word],
        known: &[Point],
    ) -> Option<usize> {
        loop {
            let clean = points.iter().enumerate().filter(|(_, point)| point.is_clean());
            let (at, best) = clean.min_by_key(|(at, point)| (point.rank(), *at))?;
            if best.verified.is_some() {
                return Some(at);
            }
            points[at] = self.point_of(&grid[at], words, known, true);
            // Without an entry it would be selected forever.
            if points[at].is_clean() && points[at].verified.is_none() {
                return Some(at);
            }
        }
    }

    /// Runs this on several threads, no more than there are jobs. Each continues until nothing is left.
    fn together(&self, jobs: usize, work: impl Fn() + Sync) {
        std::thread::scope(|scope| {
            // A pool with one thread consists of this one: others would wait for it.
            let more = if rayon::current_num_threads() < 2 { 0 } else { self.threads().min(jobs.max(1)) - 1 };
            // If the system provides fewer threads, the existing ones do all jobs.
            (0..more).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, &work)));
            work();
        });
    }

    fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// State shared by the threads.
struct Shared {
    points: Vec<Option<Point>>,
    done: usize,
    best: Option<Point>,
    /// Why the file accepts no more points.
    lost: Option<Error>,
}
