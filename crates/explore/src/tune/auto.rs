//! Source edits that make a program faster: tried one after the other, kept if the result bytes are unchanged and
//! nothing is found wrong, and shown as a patch.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use slipring_report::{Table, Verified};

use super::edit::{Edit, edits};
use super::{Point, Tune};
use slipring::Error;
use slipring_prove::Judgement;

/// An accepted edit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KeptEdit {
    /// The change, as text.
    pub what: String,
    /// Its line in the previous text, from 1.
    pub line: usize,
    /// Cycles before and after.
    pub before: u64,
    #[allow(missing_docs)]
    pub after: u64,
}

/// A source, and the result of edits.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Improved {
    /// The file.
    pub file: String,
    /// The original file.
    pub written: Point,
    /// The edited file; the original one if no edit helps.
    pub best: Point,
    /// The edits in order.
    pub steps: Vec<KeptEdit>,
    /// Number of edits tried.
    pub tried: usize,
    /// The result of `prove` for the edited file: `proved`, `doubtful` or `not-proved`; `None` for whole programs and
    /// if nothing was changed.
    pub proof: Option<Judgement>,
    /// The edits as a unified diff, for `patch -p1` and `git apply`.
    pub patch: String,
    /// The edited text.
    #[serde(skip)]
    pub text: String,
}

/// Maximum number of edits of a text.
const ROUNDS: usize = 8;
/// Minimum gain of a single edit, in thousandths.
const WORTH: u64 = 5;

impl Tune {
    /// Searches for source edits that make the program faster with these arguments. Each must leave the same bytes in
    /// every buffer and be clean; accepted ones are compared with the sequential semantics, and proved if the original
    /// file is.
    ///
    /// # Errors
    /// If the file cannot be run, has findings, or is not text, or the search is cancelled.
    pub fn improve(&self, seen: impl Fn(usize, usize) + Sync) -> Result<Improved, Error> {
        let text = std::str::from_utf8(&self.bytes);
        let text = text.map_err(|_| Error::Arguments(format!("`{}` is not a text", self.name)))?.to_string();
        if self.run.time_only {
            let what = "edits are kept where they leave the same bytes, and a run that only counts cycles leaves none";
            return Err(Error::Arguments(what.into()));
        }
        let written = self.point_of(&[], &[], &[], true);
        if !written.is_clean() {
            let why = written.reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
            let what = format!("`{}` must be clean before it can be made faster{why}", self.name);
            return Err(Error::Arguments(what));
        }
        let first = self.judgement();
        let (mut best, mut now, mut steps, mut tried) = (written.clone(), text.clone(), Vec::new(), 0);
        let mut proof = None;
        while steps.len() < ROUNDS {
            let own = self.with(&now);
            let proposed = own.proposals();
            let points = self.try_all(&proposed, &|done| seen(tried + done, tried + proposed.len()));
            if self.run.control.is_cancelled() {
                return Err(Error::Cancelled);
            }
            tried += proposed.len();
            let Some((edit, point, judged)) = self.kept(&proposed, points, &written, &best, first) else { break };
            let cycles = |point: &Point| point.cycles.unwrap_or(0);
            steps.push(KeptEdit {
                what: edit.what.clone(),
                line: edit.line,
                before: cycles(&best),
                after: cycles(&point),
            });
            (best, now, proof) = (point, edit.text.clone(), judged);
        }
        let patch = patch(&self.name, &text, &now);
        Ok(Improved { file: self.name.clone(), written, best, steps, tried, proof, patch, text: now })
    }

    /// The candidate edits of the text.
    pub(super) fn proposals(&self) -> Vec<Edit> {
        let Ok(text) = std::str::from_utf8(&self.bytes) else { return Vec::new() };
        let mut all = edits(text, self.is_language(), &self.barriers());
        if !self.is_language() {
            all.extend(self.deeper_rings(text));
        }
        all
    }

    /// This kernel with another text.
    pub(super) fn with(&self, text: &str) -> Tune {
        Tune { bytes: text.as_bytes().to_vec(), ..self.clone() }
    }

    /// Runs every proposal, several concurrently.
    pub(super) fn try_all(&self, proposed: &[Edit], seen: &(impl Fn(usize) + Sync)) -> Vec<Option<Point>> {
        let points = Mutex::new(vec![None; proposed.len()]);
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(edit) = proposed.get(at).filter(|_| !self.run.control.is_cancelled()) else { return };
                let point = self.with(&edit.text).point(&[]);
                points.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[at] = Some(point);
                seen(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        self.together(proposed.len(), work);
        points.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The fastest proposal that is worthwhile and passes every check.
    fn kept<'e>(
        &self,
        proposed: &'e [Edit],
        points: Vec<Option<Point>>,
        written: &Point,
        best: &Point,
        first: Option<Judgement>,
    ) -> Option<(&'e Edit, Point, Option<Judgement>)> {
        let mut order: Vec<(usize, Point)> =
            points.into_iter().enumerate().filter_map(|(at, point)| Some((at, point?))).collect();
        order.retain(|(_, point)| is_worth(point, written, best));
        order.sort_by_key(|(at, point)| (point.rank(), *at));
        order.into_iter().find_map(|(at, _)| {
            let (point, judged) = self.with(&proposed[at].text).stands(written, best, first)?;
            Some((&proposed[at], point, judged))
        })
    }

    /// The run of a worthwhile text, with all checks: compared with the sequential semantics, and proved if the
    /// previous text is. `None` if it fails.
    pub(super) fn stands(
        &self,
        written: &Point,
        best: &Point,
        first: Option<Judgement>,
    ) -> Option<(Point, Option<Judgement>)> {
        let point = self.point_of(&[], &[], &[], true);
        // If it could not be compared before, it cannot be compared now.
        let same = point.verified == Some(Verified::Same) || point.verified == written.verified;
        if !is_worth(&point, written, best) || !same {
            return None;
        }
        let judged = self.judgement();
        let lost = judged == Some(Judgement::Violated) || first == Some(Judgement::Proved) && judged != first;
        (!lost).then_some((point, judged))
    }
}

/// True for a clean run with the same results as the original file and a gain over the best so far.
pub(super) fn is_worth(point: &Point, written: &Point, best: &Point) -> bool {
    let now = best.cycles.unwrap_or(0);
    let gains = point.cycles.is_some_and(|cycles| now.saturating_sub(cycles) * 1000 >= WORTH * now);
    gains && point.is_clean() && point.result.is_some() && point.result == written.result
}

/// A unified diff; empty if both are equal.
pub(super) fn patch(name: &str, old: &str, new: &str) -> String {
    let name = name.trim_start_matches("./").trim_start_matches('/');
    let diff = similar::TextDiff::from_lines(old, new);
    if old == new {
        String::new()
    } else {
        diff.unified_diff().header(&format!("a/{name}"), &format!("b/{name}")).to_string()
    }
}

impl Improved {
    /// The edits with their gains, the verdicts on them, and the patch, in the format of the command line.
    pub fn text(&self) -> String {
        let (old, new) = (self.written.cycles.unwrap_or(0), self.best.cycles.unwrap_or(0));
        let edits = if self.tried == 1 { "1 edit".to_string() } else { format!("{} edits", self.tried) };
        let mut text = format!("{}: {} unchanged; {edits} tried\n", self.file, self.written.figure());
        if self.steps.is_empty() {
            return text + "none of them makes it faster\n";
        }
        let percent = |old: u64, new: u64| format!("{:+.1} %", 100.0 * (new as f64 - old as f64) / old.max(1) as f64);
        let mut table = Table::new(0, &["cycles", "change", "line", "edit"]).left(&[3]);
        for step in &self.steps {
            let change = percent(step.before, step.after);
            table.row(vec![step.after.to_string(), change, step.line.to_string(), step.what.clone()]);
        }
        text += &table.render();
        let verified = Verified::beside_the_same_bytes(self.best.verified.as_ref());
        let proof = self.proof.map_or(String::new(), |own| format!("; `prove`: {}", own.word()));
        let _ = writeln!(
            text,
            "\n{old} to {}, {}: checked on these arguments, {verified}{proof}",
            self.best.figure(),
            percent(old, new)
        );
        if self.best.estimate || self.written.estimate {
            text += "cycles are an estimate (`slipring cost` gives the evidence for each op)\n";
        }
        text + "\n" + &self.patch
    }
}
