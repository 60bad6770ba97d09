//! Forecasts: the same kernel on the same engine with one hypothetical change, and the resulting advice.

use std::collections::BTreeMap;

use serde::Serialize;
use slipring_program::{Direction, Extent, SyncRole};
use slipring_report::{Doing, Record, TriedEdit};
use slipring_sim::{Stall, Suppose};
use slipring_tile::Space;

use crate::names::Names;
use crate::{Error, Run};

/// The hypothetical change of a forecast.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Otherwise {
    /// Pipes move more bytes per cycle.
    Bandwidth,
    /// Pushes never wait for a free slot.
    EndlessRings,
    /// A ring has more slots.
    #[allow(missing_docs)]
    Slots { ring: String },
    /// A tile has one more buffer.
    Buffer,
    /// The waits at a line are omitted.
    Wait,
}

/// A run with a hypothetical change.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Forecast {
    /// The change, such as `one more buffer for k`.
    pub what: String,
    #[allow(missing_docs)]
    pub otherwise: Otherwise,
    /// The source line that it concerns.
    pub line: Option<u32>,
    /// Cycles that the run would take.
    pub cycles: u64,
    /// Its cost and whether there is capacity for it; empty if nothing is known.
    pub needs: String,
    /// Source lines relevant for an edit: the waiting line, and the lines it waits for.
    pub about: Vec<u32>,
    /// The best matching edit: its index in [`Advice::edits`].
    pub edit: Option<usize>,
    /// Why there is no edit; empty if there is one, or if none was searched for.
    pub no_edit: String,
}

/// Forecasts and the resulting advice.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Advice {
    /// Cycles of the unchanged run.
    pub cycles: u64,
    /// Sorted by gain, largest first.
    pub forecasts: Vec<Forecast>,
    /// As text.
    pub words: Vec<String>,
    /// Source edits that correspond to a forecast, fastest first; empty until they are searched for.
    pub edits: Vec<TriedEdit>,
}

impl Advice {
    /// The gain of a forecast, in cycles.
    pub fn gain(&self, forecast: &Forecast) -> u64 {
        self.cycles.saturating_sub(forecast.cycles)
    }

    /// True if a forecast is worth reporting.
    pub fn is_worth(&self, forecast: &Forecast) -> bool {
        self.gain(forecast) * 1000 >= WORTH * self.cycles
    }
}

/// A hypothetical change, and its location.
struct Supposition {
    suppose: Suppose,
    otherwise: Otherwise,
    what: String,
    line: Option<u32>,
    about: Vec<u32>,
    needs: String,
}

impl Supposition {
    fn new(suppose: Suppose, otherwise: Otherwise, what: impl Into<String>) -> Supposition {
        Supposition { suppose, otherwise, what: what.into(), line: None, about: Vec::new(), needs: String::new() }
    }
}

/// Maximum number of waits of one kind that are examined.
const MOST: usize = 4;

/// Minimum gain worth reporting, in thousandths.
const WORTH: u64 = 20;

/// A wait of a pipe before it overwrites data that another one still reads.
struct Reuse {
    site: u32,
    /// The overwriting work.
    writer: u32,
    cycles: u64,
    tile: String,
    extent: Extent,
}

impl Run<'_> {
    /// Cycles that the run would take with a hypothetical change; `None` if such a run does not complete, since its
    /// values are not the kernel's.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub fn what_if(&self, suppose: &Suppose) -> Result<Option<u64>, Error> {
        let execution = self.again(suppose)?;
        Ok(execution.result.complete.then_some(execution.result.stats.cycles))
    }

    /// Suggestions that would make the run faster; `None` if the run was not recorded, or did not complete.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub fn advice(&self) -> Result<Option<Advice>, Error> {
        let Some(record) = self.record().filter(|_| self.is_complete()) else { return Ok(None) };
        let names = Names::new(&self.compiled.prepared, &self.compiled.platform);
        let mut forecasts = Vec::new();
        for own in self.suppositions(record, &names) {
            let Supposition { suppose, otherwise, what, line, about, needs } = own;
            if let Some(cycles) = self.what_if(&suppose)? {
                let no_edit = String::new();
                forecasts.push(Forecast { what, otherwise, line, cycles, needs, about, edit: None, no_edit });
            }
        }
        forecasts.sort_by_key(|forecast| forecast.cycles);
        let mut advice = Advice { cycles: self.cycles(), forecasts, words: Vec::new(), edits: Vec::new() };
        advice.words = self.words(&advice);
        Ok(Some(advice))
    }

    fn suppositions(&self, record: &Record, names: &Names<'_>) -> Vec<Supposition> {
        let program = &self.compiled.prepared.decoded.program;
        let mut list = Vec::new();
        let twice = Suppose { bandwidth: 2, ..Suppose::default() };
        let what = "twice the bandwidth of the pipes that move data";
        list.push(Supposition::new(twice, Otherwise::Bandwidth, what));
        let free = |ring: Option<usize>, slack: u32| {
            let own = program.syncs.iter().enumerate().filter(|(_, decl)| match decl.role {
                SyncRole::RingFree { ring: of, .. } => ring.is_none_or(|ring| ring == of as usize),
                _ => false,
            });
            let objects = own.map(|(at, _)| (at as u32, slack)).collect();
            Suppose { objects, ..Suppose::default() }
        };
        if !program.rings.is_empty() {
            let what = "rings without end: no push waits for a free slot";
            list.push(Supposition::new(free(None, Suppose::ALL), Otherwise::EndlessRings, what));
        }
        for (at, decl) in program.rings.iter().enumerate() {
            // To the kernel's author, rings of both lanes with one name are one ring.
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
            let needs = self.capacity(names, core, decl.space, bytes);
            let otherwise = Otherwise::Slots { ring: decl.name.to_string() };
            list.push(Supposition { needs, ..Supposition::new(suppose, otherwise, what) });
        }
        for reuse in reuses(record, names) {
            let suppose = Suppose { sites: BTreeMap::from([(reuse.site, 1)]), ..Suppose::default() };
            let what = format!("one more buffer for {}", reuse.tile);
            let bytes = reuse.extent.end() - reuse.extent.start;
            let needs = self.capacity(names, reuse.extent.core, reuse.extent.space, bytes);
            let about = [names.line(reuse.site), names.line(reuse.writer)].into_iter().flatten().collect();
            let line = names.line(reuse.site);
            // Slots of a ring are buffers, too.
            let (space, start) = (reuse.extent.space, reuse.extent.start);
            let holds = |ring: &&slipring_program::RingDecl| {
                let slots = |base: u64| base..base + u64::from(ring.slots) * u64::from(ring.slot_bytes);
                ring.space == space && ring.base.is_some_and(|base| slots(base).contains(&start))
            };
            let ring = program.rings.iter().find(holds).map(|ring| Otherwise::Slots { ring: ring.name.to_string() });
            let otherwise = ring.unwrap_or(Otherwise::Buffer);
            list.push(Supposition { line, about, needs, ..Supposition::new(suppose, otherwise, what) });
        }
        for (line, about) in waits_on_path(record, names) {
            let sites = (0..program.sites.len() as u32).filter(|site| names.line(*site) == Some(line));
            let sites = sites.map(|site| (site, Suppose::ALL)).collect();
            let what = format!("no wait at line {line}");
            let suppose = Suppose { sites, ..Suppose::default() };
            list.push(Supposition { line: Some(line), about, ..Supposition::new(suppose, Otherwise::Wait, what) });
        }
        list
    }

    /// What a given number of additional bytes in a memory would require.
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
            let line = part.line.as_ref().map_or(String::new(), |line| format!(" at line {line}"));
            let what =
                if part.what.is_empty() { "scalar instructions".to_string() } else { format!("`{}`", part.what) };
            let share = 100.0 * part.cycles as f64 / facts.cycles.max(1) as f64;
            words.push(format!(
                "The longest part of the critical path is {what} of {} {}{line}: {share:.0} %.",
                part.core, part.pipe
            ));
        }
        for forecast in advice.forecasts.iter().filter(|forecast| advice.is_worth(forecast)) {
            let percent = 100.0 * advice.gain(forecast) as f64 / advice.cycles.max(1) as f64;
            let waits = forecast.otherwise == Otherwise::Wait;
            let line = match forecast.line {
                Some(line) if !waits => format!(" (the wait at line {line})"),
                _ => String::new(),
            };
            let needs = if forecast.needs.is_empty() { String::new() } else { format!("; {}", forecast.needs) };
            if waits {
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
        if !advice.forecasts.iter().any(|forecast| advice.is_worth(forecast)) {
            words.push("Nothing of what was tried makes it more than 2 % faster.".to_string());
        }
        words
    }
}

/// The name of a ring, with the word `ring`.
fn ring_name(name: &str) -> String {
    if name.starts_with("ring") { name.to_string() } else { format!("ring {name}") }
}

/// Lines with waits on the critical path, by the cycles waited; each with the lines that it concerns: its own, and
/// those of the work whose signals it waits for.
fn waits_on_path(record: &Record, names: &Names<'_>) -> Vec<(u32, Vec<u32>)> {
    let mut lines: BTreeMap<u32, (u64, Vec<u32>)> = BTreeMap::new();
    let path = record.path();
    for pair in path.windows(2) {
        let Some(at) = pair[1].happening else { continue };
        let own = &record.happenings[at as usize];
        let before = (at as usize).checked_sub(1).map(|at| &record.happenings[at]);
        let stalled = before.filter(|before| {
            matches!(before.doing, Doing::Stall(Stall::Wait(_))) && before.end == own.start && before.agent == own.agent
        });
        if let (Doing::Take { .. }, Some(stall), Some(line)) = (own.doing, stalled, names.line(own.site)) {
            let (cycles, about) = lines.entry(line).or_insert((0, vec![line]));
            *cycles += stall.cycles();
            let sender = own.cause.and_then(|cause| names.line(record.happenings[cause as usize].site));
            about.extend(sender.filter(|sender| !about.contains(sender)));
        }
    }
    let mut list: Vec<(u32, (u64, Vec<u32>))> = lines.into_iter().collect();
    list.sort_by_key(|(line, (cycles, _))| (std::cmp::Reverse(*cycles), *line));
    list.into_iter().take(MOST).map(|(line, (_, about))| (line, about)).collect()
}

/// The longest waits for a tile to be read before it is overwritten.
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
            // The signal means that the earlier work of the sending pipe is complete.
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
            let (writer, extent) = (site, touch.extent);
            let reuse = found.entry(own.site).or_insert(Reuse { site: own.site, writer, cycles: 0, tile, extent });
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
    let mut heads = vec!["cycles", "change", "if there were"];
    if !advice.edits.is_empty() {
        heads.push("edit");
    }
    let mut table = slipring_report::Table::new(0, &heads).left(&[2]);
    let now = advice.cycles.max(1) as f64;
    for forecast in &advice.forecasts {
        let change = 100.0 * (forecast.cycles as f64 - now) / now;
        let mut row = vec![forecast.cycles.to_string(), format!("{change:+.1} %"), forecast.what.clone()];
        if !advice.edits.is_empty() {
            row.push(forecast.edit.map_or(String::new(), |at| (at + 1).to_string()));
        }
        table.row(row);
    }
    let words: Vec<String> = advice.words.iter().map(|line| format!("  {line}\n")).collect();
    let mut text = format!("\nwhat would make it faster\n{}\n{}\n", words.concat(), table.render());
    let without = advice.forecasts.iter().filter(|forecast| !forecast.no_edit.is_empty());
    let without: Vec<String> = without.map(|own| format!("  {}: {}\n", own.what, own.no_edit)).collect();
    if !without.is_empty() {
        text += &format!("without an edit\n{}\n", without.concat());
    }
    for (at, edit) in advice.edits.iter().enumerate() {
        text += &format!(
            "edit {}, line {}: {}\n  {}\n{}\n",
            at + 1,
            edit.line,
            edit.what,
            edit.gain(advice.cycles),
            edit.patch
        );
    }
    text + "`slipring tune FILE --auto` tries more edits, one after the other, and prints what helps as one patch\n"
}
