//! A platform file calibrated for a user's board: the costs of the entries that a kernel used are adjusted so that its
//! pipes are as busy as a profile reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use slipring::{Error, Kernel, RunOptions, Tensor};
use slipring_machine::{Pipe, PlatformTable};
use slipring_report::RunFacts;
use slipring_session::Compiled;

use super::{Profile, ProfileForm};

/// Number of iterations with new figures: effects of shared global memory bandwidth are not proportional.
const ROUNDS: usize = 4;

/// Relative deviation at which figures are accepted.
const CLOSE: f64 = 0.005;

/// Factors outside this range mean that the profile is not of this launch.
const FACTORS: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// A pipe of one kind of core.
#[derive(Clone, PartialEq, Debug)]
pub struct CalibratedPipe {
    /// The kind of core and the pipe, such as `AIV V`.
    pub what: String,
    /// Busy cycles with the platform's original figures.
    pub before: u64,
    /// Busy cycles in the profile.
    pub profile: u64,
    /// Busy cycles with the new figures.
    pub after: u64,
    /// The changed entries.
    pub entries: Vec<String>,
    /// Their factor.
    pub factor: f64,
}

/// A platform calibrated to a profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Calibration {
    /// The kernel.
    pub kernel: String,
    /// The original platform.
    pub platform: String,
    /// The calibrated pipes.
    pub pipes: Vec<CalibratedPipe>,
    /// The total time before, in the profile, and after: it does not take part in the fit.
    pub cycles: [u64; 3],
    /// Items of the profile that determine no figure, and why.
    pub left_out: Vec<String>,
    /// The platform file.
    pub text: String,
}

impl Profile {
    /// Calibrates the figures of a platform file to this profile of a kernel, which is launched with these arguments.
    ///
    /// A profile of one launch has one value for each pipe, so each pipe gets one factor: the costs of all entries that
    /// the kernel used on it are multiplied by it. Latencies and rates are not distinguished.
    ///
    /// # Errors
    /// If the profile has no busy cycles of pipes, or so many that it cannot be of this launch; those of a run.
    pub fn calibrate(
        &self,
        kernel: &Kernel,
        table: &PlatformTable,
        args: &[Tensor<'static>],
        options: &RunOptions,
    ) -> Result<Calibration, Error> {
        if self.form == ProfileForm::Tasks {
            let message =
                "a profile of tasks does not say how busy pipes were: record instructions, or hardware counters";
            return Err(Error::Arguments(message.into()));
        }
        let mut wanted: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for track in &self.tracks {
            let sum = wanted.entry((track.kind, track.pipe)).or_default();
            *sum = sum.saturating_add(track.busy);
        }
        let first = facts(kernel, args, options)?;
        let compiled = kernel.compiled()?;
        let used = used(compiled);
        let (mut left_out, mut pipes) = (Vec::new(), Vec::new());
        for ((kind, pipe), profile) in wanted {
            let what = format!("{kind} {pipe}");
            match (used.get(&(kind, pipe)), busy(&first, kind, pipe)) {
                (_, 0) => left_out.push(format!("{what}: the run does nothing on it")),
                (None, _) => left_out.push(format!("{what}: what it does has no entry of its own")),
                _ if profile == 0 => left_out.push(format!("{what}: the profile has no busy cycles of it")),
                (Some(entries), before) => {
                    let entries = entries.iter().cloned().collect();
                    pipes.push(CalibratedPipe { what, before, profile, after: before, entries, factor: 1.0 });
                }
            }
        }
        if pipes.is_empty() {
            return Err(Error::Arguments(format!("no figure follows from the profile: {}", left_out.join("; "))));
        }
        let (mut text, mut last) = (String::new(), first.clone());
        for _ in 0..ROUNDS {
            for pipe in &mut pipes {
                pipe.factor *= pipe.profile as f64 / pipe.after.max(1) as f64;
                if !FACTORS.contains(&pipe.factor) {
                    let message = format!(
                        "{}: {} busy cycles in the profile and {} in the run; is it a profile of this launch?",
                        pipe.what, pipe.profile, pipe.before
                    );
                    return Err(Error::Arguments(message));
                }
            }
            let each = pipes.iter().flat_map(|pipe| pipe.entries.iter().map(|entry| (entry.clone(), pipe.factor)));
            text = table.scaled(&each.collect()).map_err(|error| Error::Platform(error.to_string()))?;
            let platform = slipring_machine::parse(&text).map_err(|error| Error::Platform(error.to_string()))?;
            last = facts(&kernel.clone().on(platform), args, options)?;
            for pipe in &mut pipes {
                let (kind, name) = pipe.what.split_once(' ').unwrap_or_default();
                pipe.after = busy(&last, kind, name);
            }
            if pipes.iter().all(|pipe| pipe.after.abs_diff(pipe.profile) as f64 <= CLOSE * pipe.profile as f64) {
                break;
            }
        }
        let mut all = Calibration {
            kernel: first.kernel.clone(),
            platform: first.platform.clone(),
            pipes,
            cycles: [first.cycles, self.cycles, last.cycles],
            left_out,
            text: String::new(),
        };
        all.text = all.head() + &text;
        Ok(all)
    }
}

/// A complete time-only run.
fn facts(kernel: &Kernel, args: &[Tensor<'static>], options: &RunOptions) -> Result<RunFacts, Error> {
    let run = kernel.run_with(args.to_vec(), options)?;
    match run.is_complete() {
        true => Ok(run.facts()),
        false => Err(Error::Incomplete(run.findings().clone())),
    }
}

/// Busy cycles of a pipe of one kind of core.
fn busy(facts: &RunFacts, kind: &str, pipe: &str) -> u64 {
    facts
        .pipes
        .iter()
        .filter(|own| super::beside::kind(&own.core) == kind && own.pipe == pipe)
        .map(|own| own.busy)
        .sum()
}

/// The entries of the cost tables by kind of core and pipe.
fn used(compiled: &Compiled) -> BTreeMap<(&'static str, &'static str), BTreeSet<String>> {
    let mut used: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for core in &compiled.prepared.decoded.program.cores {
        let kind = super::beside::kind(core.role.name());
        for work in core.works.iter().filter(|work| work.pipe != Pipe::S && !work.cost.entry.is_empty()) {
            used.entry((kind, work.pipe.name())).or_default().insert(work.cost.entry.to_string());
        }
    }
    used
}

impl Calibration {
    /// The head of the file.
    fn head(&self) -> String {
        let mut text = format!(
            "# `{}` of slipring, brought to a profile of `{}` by `slipring calibrate`: a factor for each pipe.\n",
            self.platform, self.kernel
        );
        for pipe in &self.pipes {
            let _ = writeln!(text, "# {} x {:.3}: {}", pipe.what, pipe.factor, pipe.entries.join(", "));
        }
        text + "# No published point supports these: cycles are estimates.\n\n"
    }

    /// As a table.
    pub fn summary(&self) -> String {
        let mut text = format!("{} on {}, brought to a profile\n", self.kernel, self.platform);
        let names = self.pipes.iter().map(|pipe| pipe.what.len());
        let wide = names.max().unwrap_or(0).max("cycles".len());
        let _ = writeln!(
            text,
            "  {:wide$}  {:>10}  {:>10}  {:>10}  {:>7}  entries",
            "", "before", "profile", "after", "factor"
        );
        for pipe in &self.pipes {
            let _ = writeln!(
                text,
                "  {:wide$}  {:>10}  {:>10}  {:>10}  {:>7.3}  {}",
                pipe.what,
                pipe.before,
                pipe.profile,
                pipe.after,
                pipe.factor,
                pipe.entries.join(", ")
            );
        }
        let [before, profile, after] = self.cycles;
        let _ =
            writeln!(text, "  {:wide$}  {before:>10}  {profile:>10}  {after:>10}  {:>7}  not fitted", "cycles", "-");
        for what in &self.left_out {
            let _ = writeln!(text, "  left out: {what}");
        }
        text
    }
}
