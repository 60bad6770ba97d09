//! Contents of a profile: tracks of cores and pipes, in cycles.

use std::collections::BTreeMap;

use serde::Serialize;

/// Maximum time of an event in cycles: beyond it sums would overflow.
const MOST_CYCLES: f64 = 1e15;

/// The form of a profile.
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
    /// As text.
    pub const fn name(self) -> &'static str {
        match self {
            ProfileForm::Instructions => "instructions by pipe",
            ProfileForm::Tasks => "tasks by core",
            ProfileForm::Counters => "counters by task",
            ProfileForm::Blocks => "busy time by block",
        }
    }
}

/// An activity with a duration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileSpan {
    /// Its name.
    pub name: String,
    /// First cycle, from the first one of the profile.
    pub start: u64,
    /// End (exclusive).
    pub end: u64,
}

/// The activity of one pipe of one core, or of a core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileTrack {
    /// The core's name in the profile.
    pub core: String,
    /// `AIC` or `AIV`.
    pub kind: &'static str,
    /// The pipe; empty for tasks of a core.
    pub pipe: &'static str,
    /// Busy cycles; for overlapping work each cycle counts once.
    pub busy: u64,
    /// Number of instructions or tasks.
    pub count: u64,
    /// The activities; empty if the profile has only sums.
    pub spans: Vec<ProfileSpan>,
}

/// A profile, with times in cycles of a platform's clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Its form.
    pub form: ProfileForm,
    /// From the first start to the last end; for counters those of the longest task.
    pub cycles: u64,
    /// By core and pipe.
    pub tracks: Vec<ProfileTrack>,
    /// Events in rows that are not pipes, and synchronisation steps.
    pub left_out: u64,
}

impl Profile {
    /// A profile from spans: times relative to the first one, with busy cycles computed.
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

/// Cycles covered by at least one of these spans, which are ordered by start.
fn covered(spans: &[ProfileSpan]) -> u64 {
    let (mut sum, mut end) = (0, 0);
    for span in spans {
        sum += span.end.saturating_sub(span.start.max(end));
        end = end.max(span.end);
    }
    sum
}

/// A time in whole cycles.
pub(crate) fn cycles(microseconds: f64, clock_mhz: u32) -> Option<u64> {
    let cycles = (microseconds * f64::from(clock_mhz)).round();
    (0.0..=MOST_CYCLES).contains(&cycles).then_some(cycles as u64)
}
