//! What would make a run faster: the same kernel on the same engine with something otherwise, and the advice that follows.

use std::collections::BTreeMap;

use serde::Serialize;
use slipring_program::{Direction, Extent, SyncRole};
use slipring_report::{Doing, Record};
use slipring_sim::{Stall, Suppose};
use slipring_tile::Space;

use crate::recorded::Names;
use crate::{Error, Run};

/// A run with something otherwise.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Forecast {
    /// What would be otherwise, such as `one more buffer for k`.
    pub what: String,
    /// The line of the source that it is about.
    pub line: Option<u32>,
    /// Cycles that the run would take.
    pub cycles: u64,
    /// What it costs and whether there is room for it; empty where nothing is known.
    pub needs: String,
}

/// Forecasts and what follows from them.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Advice {
    /// Cycles of the run as it is.
    pub cycles: u64,
    /// The largest gains first.
    pub forecasts: Vec<Forecast>,
    /// In words.
    pub words: Vec<String>,
}

/// Waits of one kind that are looked into.
const MOST: usize = 4;

/// A gain that is worth a word, in parts of a thousand.
const WORTH: u64 = 20;

/// A wait of a pipe before it writes over what another one still reads.
struct Reuse {
    site: u32,
    cycles: u64,
    tile: String,
    extent: Extent,
}

impl Run<'_> {
    /// Cycles that the run would take if something were otherwise; `None` where such a run does not complete, as what it
    /// computes with is not what the kernel computes with.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub fn what_if(&self, suppose: &Suppose) -> Result<Option<u64>, Error> {
        let execution = self.again(suppose)?;
        Ok(execution.result.complete.then_some(execution.result.stats.cycles))
    }

    /// What would make the run faster; `None` where it was not asked to keep what happens, or did not complete.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub fn advice(&self) -> Result<Option<Advice>, Error> {
        let Some(record) = self.record().filter(|_| self.is_complete()) else { return Ok(None) };
        let names = Names::new(&self.compiled.prepared, &self.compiled.platform);
        let mut forecasts = Vec::new();
        for (suppose, what, line, needs) in self.suppositions(record, &names) {
            if let Some(cycles) = self.what_if(&suppose)? {
                forecasts.push(Forecast { what, line, cycles, needs });
            }
        }
        forecasts.sort_by_key(|forecast| forecast.cycles);
        let mut advice = Advice { cycles: self.cycles(), forecasts, words: Vec::new() };
        advice.words = self.words(&advice);
        Ok(Some(advice))
    }

    fn suppositions(&self, record: &Record, names: &Names<'_>) -> Vec<(Suppose, String, Option<u32>, String)> {
        let program = &self.compiled.prepared.decoded.program;
        let mut list = Vec::new();
        let twice = Suppose { bandwidth: 2, ..Suppose::default() };
        list.push((twice, "twice the bandwidth of the pipes that move data".to_string(), None, String::new()));
        let free = |ring: Option<usize>, slack: u32| {
            let own = program.syncs.iter().enumerate().filter(|(_, decl)| match decl.role {
                SyncRole::RingFree { ring: of, .. } => ring.is_none_or(|ring| ring == of as usize),
                _ => false,
            });
            let objects = own.map(|(at, _)| (at as u32, slack)).collect();
            Suppose { objects, ..Suppose::default() }
        };
        if !program.rings.is_empty() {
            let what = "rings without end: no push waits for a free slot".to_string();
            list.push((free(None, Suppose::ALL), what, None, String::new()));
        }
        for (at, decl) in program.rings.iter().enumerate() {
            // Rings of both lanes with one name are one ring for who writes the kernel.
            let first = program.rings.iter().position(|other| other.name == decl.name) == Some(at);
            if !first {
                continue;
            }
            let mut suppose = Suppose::default();
            for (other, _) in program.rings.iter().enumerate().filter(|(_, other)| other.name == decl.name) {
                suppose.objects.extend(free(Some(other), 1).objects);
            }
            let (count, what) = match decl.counted {
                true => (1, format!("one more slot in {}", ring_name(&decl.name))),
                false => (decl.slots, format!("twice as many slots in {}", ring_name(&decl.name))),
            };
            let bytes = u64::from(count) * u64::from(decl.slot_bytes);
            let core = if decl.direction == Direction::C2V { decl.lane } else { slipring_machine::Role::Aic };
            list.push((suppose, what, None, self.capacity(names, core, decl.space, bytes)));
        }
        for reuse in reuses(record, names) {
            let suppose = Suppose { sites: BTreeMap::from([(reuse.site, 1)]), ..Suppose::default() };
            let what = format!("one more buffer for {}", reuse.tile);
            let bytes = reuse.extent.end() - reuse.extent.start;
            let needs = self.capacity(names, reuse.extent.core, reuse.extent.space, bytes);
            list.push((suppose, what, names.line(reuse.site), needs));
        }
        for line in waits_on_path(record, names) {
            let sites = (0..program.sites.len() as u32).filter(|site| names.line(*site) == Some(line));
            let sites = sites.map(|site| (site, Suppose::ALL)).collect();
            let what = format!("no wait at line {line}");
            list.push((Suppose { sites, ..Suppose::default() }, what, Some(line), String::new()));
        }
        list
    }

    /// What some more bytes of a memory mean.
    fn capacity(&self, names: &Names<'_>, core: slipring_machine::Role, space: Space, bytes: u64) -> String {
        match names.free(&self.compiled.platform, core, space) {
            Some(free) if free >= bytes => format!("it takes {bytes} bytes of `{space}`, of which {free} are free"),
            Some(free) => format!("it takes {bytes} bytes of `{space}`, and only {free} are free"),
            None => String::new(),
        }
    }

    fn words(&self, advice: &Advice) -> Vec<String> {
        let mut words = Vec::new();
        let facts = self.facts();
        let all = facts.cycles.max(1) * u64::from(facts.blocks);
        let share = |cycles: u64| 100.0 * cycles as f64 / all as f64;
        if let Some(pipe) = facts.pipes.iter().rev().filter(|pipe| pipe.busy > 0).max_by_key(|pipe| pipe.busy) {
            words.push(format!(
                "{} {} is busy {:.0} % of the time, the most of all pipes.",
                pipe.core,
                pipe.pipe,
                share(pipe.busy)
            ));
        }
        if let Some(part) = facts.path.as_ref().and_then(|path| path.parts.first()) {
            let line = part.line.map_or(String::new(), |line| format!(" at line {line}"));
            let what =
                if part.what.is_empty() { "scalar instructions".to_string() } else { format!("`{}`", part.what) };
            let share = 100.0 * part.cycles as f64 / facts.cycles.max(1) as f64;
            words.push(format!(
                "The longest part of the critical path is {what} of {} {}{line}: {share:.0} %.",
                part.core, part.pipe
            ));
        }
        let gain = |forecast: &Forecast| advice.cycles.saturating_sub(forecast.cycles);
        for forecast in advice.forecasts.iter().filter(|forecast| gain(forecast) * 1000 >= WORTH * advice.cycles) {
            let percent = 100.0 * gain(forecast) as f64 / advice.cycles.max(1) as f64;
            let line = match forecast.line {
                Some(line) if !forecast.what.contains("line") => format!(" (the wait at line {line})"),
                _ => String::new(),
            };
            let needs = if forecast.needs.is_empty() { String::new() } else { format!("; {}", forecast.needs) };
            if forecast.what.starts_with("no wait") {
                words.push(format!(
                    "What line {} waits for costs {percent:.0} %: with {} it would take {} cycles instead of {}.",
                    forecast.line.unwrap_or(0),
                    forecast.what,
                    forecast.cycles,
                    advice.cycles
                ));
                continue;
            }
            words.push(format!(
                "With {}{line} it would take {} cycles instead of {}, {percent:.0} % less{needs}.",
                forecast.what, forecast.cycles, advice.cycles
            ));
        }
        if advice.forecasts.iter().all(|forecast| gain(forecast) * 1000 < WORTH * advice.cycles) {
            words.push("Nothing of what was tried makes it more than 2 % faster.".to_string());
        }
        words
    }
}

/// A ring is called one.
fn ring_name(name: &str) -> String {
    if name.starts_with("ring") { name.to_string() } else { format!("ring {name}") }
}

/// Lines with the waits that hold up the critical path, by the cycles that were waited there.
fn waits_on_path(record: &Record, names: &Names<'_>) -> Vec<u32> {
    let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
    let path = record.path();
    for pair in path.windows(2) {
        let Some(at) = pair[1].happening else { continue };
        let own = &record.happenings[at as usize];
        let before = (at as usize).checked_sub(1).map(|at| &record.happenings[at]);
        let stalled = before.filter(|before| {
            matches!(before.doing, Doing::Stall(Stall::Wait(_))) && before.end == own.start && before.agent == own.agent
        });
        if let (Doing::Take { .. }, Some(stall), Some(line)) = (own.doing, stalled, names.line(own.site)) {
            *lines.entry(line).or_default() += stall.cycles();
        }
    }
    longest(lines.into_iter().collect())
}

fn longest<T: Ord>(mut list: Vec<(T, u64)>) -> Vec<T> {
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    list.into_iter().take(MOST).map(|(own, _)| own).collect()
}

/// Waits for a tile to have been read before it is written over, that took the longest.
fn reuses(record: &Record, names: &Names<'_>) -> Vec<Reuse> {
    let mut found: BTreeMap<u32, Reuse> = BTreeMap::new();
    let is_work = |at: usize| matches!(record.happenings[at].doing, Doing::Work { .. });
    for (agent, range) in record.agents() {
        for at in range.clone().skip(1) {
            let (stall, own) = (&record.happenings[at - 1], &record.happenings[at]);
            let waited = matches!(stall.doing, Doing::Stall(Stall::Wait(_))) && stall.agent.index() == agent.index();
            let (Doing::Take { .. }, Some(cause), true) = (own.doing, own.cause, waited) else { continue };
            let Some(next) = (at + 1..range.end).find(|at| is_work(*at)) else { continue };
            let mut writes = record.touches_of(&record.happenings[next].doing).iter().filter(|touch| touch.writes);
            // What the signal says is over: the work before it, of the pipe that sent it.
            let sender = record.happenings[cause as usize].agent.index();
            let mut before = (0..cause as usize).rev().take_while(|at| record.happenings[*at].agent.index() == sender);
            let Some(before) = before.find(|at| is_work(*at)) else { continue };
            let reads: Vec<&Extent> = record
                .touches_of(&record.happenings[before].doing)
                .iter()
                .filter(|touch| !touch.writes)
                .map(|touch| &touch.extent)
                .collect();
            let meets = |extent: &Extent| {
                reads.iter().any(|read| {
                    extent.space == read.space
                        && extent.core == read.core
                        && extent.space != Space::Gm
                        && extent.start < read.end()
                        && read.start < extent.end()
                })
            };
            let Some(touch) = writes.find(|touch| meets(&touch.extent)) else { continue };
            let site = record.happenings[next].site;
            let tile = names
                .tile(&touch.extent, site)
                .unwrap_or_else(|| format!("what lies at {:#x} of `{}`", touch.extent.start, touch.extent.space));
            let tile = format!("`{}`", tile.trim_matches('`'));
            let reuse =
                found.entry(own.site).or_insert(Reuse { site: own.site, cycles: 0, tile, extent: touch.extent });
            reuse.cycles += stall.cycles();
        }
    }
    let mut list: Vec<Reuse> = found.into_values().collect();
    list.sort_by_key(|reuse| (std::cmp::Reverse(reuse.cycles), reuse.site));
    list.truncate(MOST);
    list
}

/// The advice as text.
pub fn advice_text(advice: &Advice) -> String {
    let mut table = slipring_report::Table::new(0, &["cycles", "change", "if there were"]).left(&[2]);
    let now = advice.cycles.max(1) as f64;
    for forecast in &advice.forecasts {
        let change = 100.0 * (forecast.cycles as f64 - now) / now;
        table.row(vec![forecast.cycles.to_string(), format!("{change:+.1} %"), forecast.what.clone()]);
    }
    let words: Vec<String> = advice.words.iter().map(|line| format!("  {line}\n")).collect();
    let edits = "`slipring tune FILE --auto` tries edits of the source, and prints those that help as a patch\n";
    format!("\nwhat would make it faster\n{}\n{}\n{edits}", words.concat(), table.render())
}
