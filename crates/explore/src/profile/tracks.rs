//! What a profile says: tracks of cores and pipes, in cycles.

use std::collections::BTreeMap;

use serde::Serialize;

/// The most cycles at which something may happen: beyond it sums would overflow.
const MOST_CYCLES: f64 = 1e15;

/// What a profile is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProfileForm {
    /// Instructions by pipe.
    Instructions,
    /// Tasks by core.
    Tasks,
    /// Busy cycles by task.
    Counters,
    /// Busy cycles by block.
    Blocks,
}

impl ProfileForm {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            ProfileForm::Instructions => "instructions by pipe",
            ProfileForm::Tasks => "tasks by core",
            ProfileForm::Counters => "counters by task",
            ProfileForm::Blocks => "busy time by block",
        }
    }
}

/// Something that took a while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileSpan {
    /// What.
    pub name: String,
    /// First cycle, from the first one of the profile.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// What one pipe of one core did, or a core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileTrack {
    /// The core as the profile calls it.
    pub core: String,
    /// `AIC` or `AIV`.
    pub kind: &'static str,
    /// The pipe; empty for tasks of a core.
    pub pipe: &'static str,
    /// Cycles in which it worked; of work that overlaps each cycle counts once.
    pub busy: u64,
    /// Instructions or tasks.
    pub count: u64,
    /// When; empty where the profile has sums only.
    pub spans: Vec<ProfileSpan>,
}

/// A profile, its times in cycles of a platform's clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// What it is made of.
    pub form: ProfileForm,
    /// From the first start to the last end; of counters those of the longest task.
    pub cycles: u64,
    /// By core and pipe.
    pub tracks: Vec<ProfileTrack>,
    /// Events of rows that are no pipes, and steps of synchronisation.
    pub left_out: u64,
}

impl Profile {
    /// A profile of spans: times from the first one on, busy cycles counted.
    pub(crate) fn of_spans(
        form: ProfileForm,
        rows: BTreeMap<(String, &'static str, &'static str), Vec<ProfileSpan>>,
    ) -> Profile {
        let first = rows.values().flatten().map(|span| span.start).min().unwrap_or(0);
        let tracks = rows.into_iter().map(|((core, kind, pipe), mut spans)| {
            for span in &mut spans {
                (span.start, span.end) = (span.start - first, span.end - first);
            }
            spans.sort_by(|a, b| (a.start, a.end, &a.name).cmp(&(b.start, b.end, &b.name)));
            ProfileTrack { core, kind, pipe, busy: covered(&spans), count: spans.len() as u64, spans }
        });
        let tracks: Vec<ProfileTrack> = tracks.collect();
        let cycles = tracks.iter().flat_map(|track| &track.spans).map(|span| span.end).max().unwrap_or(0);
        Profile { form, cycles, tracks, left_out: 0 }
    }
}

/// Cycles that at least one of these covers; they are in the order of their starts.
fn covered(spans: &[ProfileSpan]) -> u64 {
    let (mut sum, mut end) = (0, 0);
    for span in spans {
        sum += span.end.saturating_sub(span.start.max(end));
        end = end.max(span.end);
    }
    sum
}

/// A time as whole cycles.
pub(crate) fn cycles(microseconds: f64, clock_mhz: u32) -> Option<u64> {
    let cycles = (microseconds * f64::from(clock_mhz)).round();
    (0.0..=MOST_CYCLES).contains(&cycles).then_some(cycles as u64)
}
