//! Comparison of a run with a profile.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use slipring_machine::figure;
use slipring_report::{Group, RunFacts, Slice, SliceKind, Trace, Track};

use super::{Profile, ProfileForm, ProfileTrack};

/// A figure from both.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BesideRow {
    /// Its name: `cycles`, or the kind of core and the pipe.
    pub what: String,
    /// Cycles of the run; `None` if it has no such pipe.
    pub run: Option<u64>,
    /// Cycles of the profile; `None` if it does not contain them.
    pub profile: Option<u64>,
}

/// Comparison of a run with a profile.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Beside {
    /// The kernel.
    pub kernel: String,
    /// The platform of these cycles.
    pub platform: String,
    /// The form of the profile.
    pub form: ProfileForm,
    /// The total time, then pipes: busy cycles, summed over all cores of a kind. For tasks, the mean over those of a
    /// kind of core.
    pub rows: Vec<BesideRow>,
    /// Events of the profile that are not pipe work.
    pub left_out: u64,
    /// Whether the run's cycles are an estimate.
    pub estimate: bool,
    /// Why.
    pub why: String,
    /// Their error bound in per cent; `None` for an estimate.
    pub error_percent: Option<f64>,
}

/// Both Vector cores of a cluster are of the same kind.
pub(super) fn kind(core: &str) -> &str {
    if core.starts_with("AIV") { "AIV" } else { core }
}

impl Profile {
    /// Compares the figures of a run with those of the profile.
    pub fn beside(&self, facts: &RunFacts) -> Beside {
        let mut rows: BTreeMap<String, (Option<u64>, Option<u64>)> = BTreeMap::new();
        if self.form == ProfileForm::Tasks {
            let mut tasks: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
            for span in self.tracks.iter().flat_map(|track| track.spans.iter().map(|span| (track.kind, span))) {
                let sum = tasks.entry(span.0).or_default();
                *sum = (sum.0.saturating_add(span.1.end - span.1.start), sum.1 + 1);
            }
            for (own, (cycles, count)) in tasks {
                let takes_part = facts.cores.iter().any(|core| kind(core) == own);
                let row = (takes_part.then_some(facts.cycles), Some(cycles / count));
                rows.insert(format!("a task of {own}"), row);
            }
        } else {
            for pipe in facts.pipes.iter().filter(|pipe| pipe.operations > 0) {
                let row = rows.entry(format!("{} {}", kind(&pipe.core), pipe.pipe)).or_default();
                row.0 = Some(row.0.unwrap_or(0).saturating_add(pipe.busy));
            }
            for track in &self.tracks {
                let row = rows.entry(format!("{} {}", track.kind, track.pipe)).or_default();
                row.1 = Some(row.1.unwrap_or(0).saturating_add(track.busy));
            }
        }
        let all = BesideRow { what: "cycles".into(), run: Some(facts.cycles), profile: Some(self.cycles) };
        let each = rows.into_iter().map(|(what, (run, profile))| BesideRow { what, run, profile });
        Beside {
            kernel: facts.kernel.clone(),
            platform: facts.platform.clone(),
            form: self.form,
            rows: [all].into_iter().chain(each).collect(),
            left_out: self.left_out,
            estimate: facts.estimate,
            why: facts.evidence.why(),
            error_percent: facts.evidence.error_percent(),
        }
    }

    /// Both timelines combined: the groups of the run and of the profile, each in a group of its own.
    pub fn trace_beside(&self, run: &Trace) -> Trace {
        let mut both = run.clone();
        both.groups = vec![Group { name: "slipring".into(), parent: None }];
        both.groups.extend(run.groups.iter().map(|group| Group {
            name: group.name.clone(),
            parent: Some(group.parent.map_or(0, |parent| parent + 1)),
        }));
        both.tracks.iter_mut().for_each(|track| track.group += 1);
        both.counters.iter_mut().for_each(|counter| counter.group += 1);
        let root = both.groups.len();
        both.groups.push(Group { name: "profile".into(), parent: None });
        let mut cores: BTreeMap<&str, usize> = BTreeMap::new();
        for track in &self.tracks {
            let groups = &mut both.groups;
            let group = *cores.entry(&track.core).or_insert_with(|| {
                groups.push(Group { name: track.core.clone(), parent: Some(root) });
                groups.len() - 1
            });
            both.tracks.extend(lanes(track, group));
        }
        both
    }
}

/// Rows without overlaps: as many as there are concurrent items.
fn lanes(track: &ProfileTrack, group: usize) -> Vec<Track> {
    let name = if track.pipe.is_empty() { "tasks" } else { track.pipe };
    let mut lanes: Vec<Track> = Vec::new();
    for span in &track.spans {
        let free = |lane: &Track| lane.slices.last().is_none_or(|last| last.end <= span.start);
        let at = lanes.iter().position(free).unwrap_or_else(|| {
            let name = if lanes.is_empty() { name.to_string() } else { format!("{name} #{}", lanes.len()) };
            lanes.push(Track { name, group, slices: Vec::new() });
            lanes.len() - 1
        });
        let slice = Slice {
            name: span.name.as_str().into(),
            kind: SliceKind::Work,
            start: span.start,
            end: span.end,
            args: Vec::new(),
        };
        lanes[at].slices.push(slice);
    }
    lanes
}

impl Beside {
    /// As a table.
    pub fn text(&self) -> String {
        let mut text = format!("{} on {} beside a profile of {}\n", self.kernel, self.platform, self.form.name());
        let shown = |cycles: Option<u64>| cycles.map_or("-".to_string(), |cycles| cycles.to_string());
        let wide = self.rows.iter().map(|row| row.what.len()).max().unwrap_or(0);
        let _ = writeln!(text, "  {:wide$}  {:>12}  {:>12}  {:>13}", "", "run", "profile", "run / profile");
        for row in &self.rows {
            let ratio = match (row.run, row.profile) {
                (Some(run), Some(profile)) if profile > 0 => format!("{:.2}", run as f64 / profile as f64),
                _ => "-".into(),
            };
            let (run, profile) = (shown(row.run), shown(row.profile));
            let _ = writeln!(text, "  {:wide$}  {run:>12}  {profile:>12}  {ratio:>13}", row.what);
        }
        match (self.estimate, self.rows.first().and_then(|row| row.run)) {
            (true, _) => text += &format!("  cycles of the run are an estimate: {}\n", self.why),
            (false, Some(run)) => text += &format!("  the run takes {}\n", figure(run, self.error_percent)),
            (false, None) => {}
        }
        if let Some(BesideRow { run: Some(run), profile: Some(profile), .. }) = self.rows.first()
            && (run / 100 > *profile || profile / 100 > *run)
        {
            text += "  the two differ by more than a hundred times: is it a profile of this launch, in microseconds?\n";
        }
        if self.left_out > 0 {
            let _ = writeln!(text, "  {} events of the profile are not pipe operations", self.left_out);
        }
        text
    }
}
