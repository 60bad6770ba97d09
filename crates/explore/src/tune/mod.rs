//! A kernel over a grid of values: what each point takes, what is refused and why, and the best, checked and verified.
//!
//! | module | has |
//! |---|---|
//! | `vary` | what varies, and the points of the grid |
//! | `point` | one point: the kernel as its values make it, run and judged |
//! | `saved` | points in a file, to go on from |
//! | `text` | the table and the picture |
//! | `edit` | edits of a source that may help |
//! | `rings` | edits of texts whose rings get more slots |
//! | `auto` | the search among them, and the patch |
//! | `advise` | the edits that come near a forecast |

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

/// How far a grid is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TuneProgress<'t> {
    /// Points that are over.
    pub done: usize,
    /// Points of the grid, and the file as it is written.
    pub all: usize,
    /// The best so far.
    pub best: Option<&'t Point>,
}

/// What came of a grid.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Tuning {
    /// The file.
    pub file: String,
    /// What varied, in order.
    pub vary: Vec<VaryFacts>,
    /// The file as it is written; `None` where a grid has this very point.
    pub written: Option<Point>,
    /// Which point of the grid that is.
    pub written_at: Option<usize>,
    /// Every point, the last name fastest.
    pub points: Vec<Point>,
    /// Which of them is the best: of the clean ones the fastest in time (platforms have other
    /// clocks), of several the one that takes least local memory, of these the first.
    /// What a comparison with the sequential semantics proved wrong is not clean.
    pub best: Option<usize>,
    /// Points that were taken from the file of an earlier time.
    pub reused: usize,
}

/// What varied.
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

    /// The file as it is written, be it a point of the grid or not.
    pub fn as_written(&self) -> Option<&Point> {
        self.written.as_ref().or_else(|| self.points.get(self.written_at?))
    }
}

impl Tune {
    /// Runs one point. What cannot be run is `refused`, with the reason.
    pub fn point(&self, settings: &[Setting]) -> Point {
        let words: Result<Vec<Word>, Error> = settings.iter().map(|setting| self.word(setting)).collect();
        match words {
            Ok(words) => self.point_of(settings, &words, &[], false),
            Err(error) => Point::refused(settings, &error),
        }
    }

    /// Runs every point of a grid, several at a time, and compares the best with the sequential semantics. The result is the same
    /// however many run at a time.
    ///
    /// `file` has the points of an earlier time, which stand for those that nothing has changed of; each point is added to it when
    /// it is over. `seen` is told after each.
    ///
    /// # Errors
    /// If nothing varies, something does not fit the file at all, the file of points holds something else or cannot be written, or
    /// the runs are cancelled. What single values do is not an error but a point.
    pub fn run(
        &self,
        vary: &[Vary],
        file: Option<PathBuf>,
        seen: impl Fn(&TuneProgress<'_>) + Sync,
    ) -> Result<Tuning, Error> {
        if vary.is_empty() {
            return Err(Error::Arguments("nothing varies: `--vary NAME=32,64,128`".into()));
        }
        let grid = grid(vary)?;
        let words: Vec<Word> = grid[0].iter().map(|setting| self.word(setting)).collect::<Result<_, _>>()?;
        let saved = file.map(Saved::open).transpose()?;
        let known = saved.as_ref().map_or(&[][..], |saved| saved.points());
        // First the file as it is written.
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
        // A point of the grid may say what the file says.
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

    /// The best point that is also the same as the sequential semantics, or that cannot be compared.
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
            // Without a word it would be asked forever.
            if points[at].is_clean() && points[at].verified.is_none() {
                return Some(at);
            }
        }
    }

    /// Does this on several threads at a time, no more than there are jobs. Each goes on until nothing is left.
    fn together(&self, jobs: usize, work: impl Fn() + Sync) {
        std::thread::scope(|scope| {
            // A pool of one thread is this one: others would wait for it.
            let more = if rayon::current_num_threads() < 2 { 0 } else { self.threads().min(jobs.max(1)) - 1 };
            // Where the system gives fewer, those do the jobs of the others.
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

/// What the threads share.
struct Shared {
    points: Vec<Option<Point>>,
    done: usize,
    best: Option<Point>,
    /// Why the file takes no more points.
    lost: Option<Error>,
}
