//! Conditions to run until: `slot 2 of ring C2V becomes full`, `byte 4096 of out is written`, `AIV1 waits`.

use std::collections::BTreeSet;

use slipring_program::{Extent, SyncRole, gm_address};
use slipring_report::Doing;
use slipring_sim::{Agent, Observer, WorkRun};
use slipring_tile::Space;

use super::history::{History, is_of};
use super::kept::Snapshots;
use super::lives::{FREED, PUSHED, is_ring, ring_name, ring_said};
use slipring_session::RunOptions;

/// A condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// A slot of a ring, or all of its slots, become full or empty.
    Ring {
        /// Its name.
        ring: String,
        /// The slot; `None` for all of them.
        slot: Option<u32>,
        /// True for full, false for empty.
        full: bool,
    },
    /// A byte of a buffer or of a tile is written or read.
    Byte {
        /// The buffer or the tile.
        name: String,
        /// The first byte of the range.
        first: u64,
        /// The last byte of the range.
        last: u64,
        /// True for written, false for read.
        write: bool,
    },
    /// A core or pipe begins to wait: for anything, or for an object whose name contains a string.
    Waits {
        /// The core, or the core and its pipe.
        who: String,
        /// A part of the object's name; empty for any wait.
        what: String,
    },
}

/// The syntax of conditions.
pub const FORMS: &str = "slot K of ring R becomes full|empty, ring R becomes full|empty, byte N of NAME is written|read, \
                         bytes A..B of NAME are written|read, CORE waits, CORE.PIPE waits for OBJECT";

/// Words that are ignored.
const FILLERS: [&str; 6] = ["of", "is", "are", "becomes", "become", "the"];

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches(['`', '%'])).collect();
        let condition = match words[..] {
            [who, "waits", "for", ref what @ ..] | [who, "waits", ref what @ ..] => {
                Some(Condition::Waits { who: who.into(), what: what.join(" ") })
            }
            _ => of_words(&words.into_iter().filter(|word| !FILLERS.contains(word)).collect::<Vec<_>>()),
        };
        condition.ok_or_else(|| format!("`{text}` is not a condition; conditions are: {FORMS}\n"))
    }
}

/// A condition on a ring or on bytes, with fillers removed.
fn of_words(words: &[&str]) -> Option<Condition> {
    let bytes = |name: &str, first, last, what: &str| {
        let write = one_of(what, &["written"], &["read"])?;
        (first <= last).then(|| Condition::Byte { name: name.into(), first, last, write })
    };
    let ring = |ring: &str, slot, what: &str| {
        Some(Condition::Ring { ring: ring.into(), slot, full: one_of(what, &["full", "filled"], &["empty", "free"])? })
    };
    match *words {
        ["slot", slot, "ring", name, what] | ["slot", slot, name, what] => {
            ring(name, Some(u32::try_from(number(slot)?).ok()?), what)
        }
        ["ring", name, what] => ring(name, None, what),
        ["byte", byte, name, what] => bytes(name, number(byte)?, number(byte)?, what),
        ["bytes", range, name, what] => {
            let (first, last) = range.split_once("..")?;
            bytes(name, number(first)?, number(last)?, what)
        }
        _ => None,
    }
}

/// True for a word of the first list, false for a word of the second.
fn one_of(word: &str, yes: &[&str], no: &[&str]) -> Option<bool> {
    (yes.contains(&word) || no.contains(&word)).then(|| yes.contains(&word))
}

/// An integer, in decimal or with the prefix `0x`.
fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

impl Condition {
    /// The events at which the condition becomes true.
    ///
    /// # Errors
    ///
    /// A name that does not exist.
    pub fn events(&self, history: &History, asked: &RunOptions, kept: &Snapshots) -> Result<BTreeSet<usize>, String> {
        match self {
            Condition::Ring { ring, slot, full } => of_ring(history, ring, *slot, *full),
            Condition::Byte { name, first, last, write } => {
                of_bytes((history, asked, kept), name, (*first, *last), *write)
            }
            Condition::Waits { who, what } => {
                let own: BTreeSet<usize> =
                    history.rows().into_iter().filter(|(_, name)| is_of(name, who)).map(|(row, _)| row).collect();
                if own.is_empty() {
                    let rows: Vec<String> = history.rows().into_iter().map(|(_, row)| row).collect();
                    return Err(format!("no core or pipe is called `{who}`; there are {}\n", rows.join(", ")));
                }
                let program = &history.run().compiled.prepared.decoded.program;
                let object = |event: usize| {
                    let decl = history.waits_for(event).and_then(|sync| program.syncs.get(sync as usize));
                    let named = decl.is_some_and(|decl| decl.name.to_string().contains(what.as_str()));
                    let ring = decl.and_then(|decl| match decl.role {
                        SyncRole::RingReady { ring, .. } | SyncRole::RingFree { ring, .. } => {
                            program.rings.get(ring as usize)
                        }
                        _ => None,
                    });
                    what.is_empty() || named || ring.is_some_and(|ring| is_ring(ring, what.trim_start_matches("ring ")))
                };
                let waits = (0..history.count()).filter(|event| history.is_wait_of(*event, &own));
                Ok(waits.filter(|event| object(*event)).collect())
            }
        }
    }

    /// Whether the condition becomes true at the end of its event, not at the beginning.
    pub fn at_end(&self) -> bool {
        matches!(self, Condition::Byte { write: true, .. })
    }
}

fn of_ring(history: &History, said: &str, slot: Option<u32>, full: bool) -> Result<BTreeSet<usize>, String> {
    let rings = &history.run().compiled.prepared.decoded.program.rings;
    let meant = |ring: u32| rings.get(ring as usize).is_some_and(|decl| is_ring(decl, said));
    let decl = ring_said(rings, said)?;
    if let Some(slot) = slot.filter(|slot| *slot >= decl.slots) {
        return Err(format!("ring {} has slots 0 to {}, and no slot {slot}\n", ring_name(decl), decl.slots - 1));
    }
    let own = history.lives().iter().filter(|life| meant(life.ring));
    if let Some(slot) = slot {
        let own = own.filter(|life| life.slot == slot);
        return Ok(own.filter_map(|life| life.stages[if full { PUSHED } else { FREED }]).collect());
    }
    let mut changes: Vec<(usize, (u32, u32), i64)> = Vec::new();
    for life in own {
        for (stage, change) in [(PUSHED, 1), (FREED, -1)] {
            changes.extend(life.stages[stage].map(|event| (event, (life.cluster, life.ring), change)));
        }
    }
    changes.sort_unstable();
    let mut levels = std::collections::BTreeMap::<(u32, u32), i64>::new();
    let mut found = BTreeSet::new();
    for (event, ring, change) in changes {
        let level = levels.entry(ring).or_default();
        *level += change;
        let whole = rings.get(ring.1 as usize).map_or(0, |decl| i64::from(decl.slots));
        if (full && change > 0 && *level == whole) || (!full && change < 0 && *level == 0) {
            found.insert(event);
        }
    }
    Ok(found)
}

/// Observes accesses to some bytes.
struct Watch {
    places: Vec<(Space, Option<slipring_machine::Role>, u64, u64)>,
    write: bool,
    seen: Vec<(Agent, u64, u64)>,
}

impl Observer for Watch {
    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        let list = if self.write { &run.access.writes } else { &run.access.reads };
        let touches = |extent: &Extent| {
            self.places.iter().any(|(space, core, first, last)| {
                *space == extent.space && core.is_none_or(|core| core == extent.core) && holds(extent, *first, *last)
            })
        };
        if list.iter().any(touches) {
            self.seen.push((run.agent, at.saturating_sub(run.cycles), at));
        }
    }
}

/// Whether a row of an access contains one of the bytes from `first` to `last`.
fn holds(extent: &Extent, first: u64, last: u64) -> bool {
    let (rows, width) = (u64::from(extent.rows.max(1)), u64::from(extent.row_bytes));
    if width == 0 || last < extent.start {
        return false;
    }
    // The first row that ends after byte `first`.
    let row = match (extent.stride, (first + 1).saturating_sub(extent.start + width)) {
        (0, 0) => 0,
        (0, _) => rows,
        (stride, before) => before.div_ceil(stride),
    };
    row < rows && extent.start.saturating_add(row.saturating_mul(extent.stride)) <= last
}

fn of_bytes(
    (history, asked, kept): (&History, &RunOptions, &Snapshots),
    name: &str,
    (first, last): (u64, u64),
    write: bool,
) -> Result<BTreeSet<usize>, String> {
    let run = history.run();
    let program = &run.compiled.prepared.decoded.program;
    let mut places = Vec::new();
    let passed = program.params.iter().filter(|param| param.is_passed()).enumerate();
    for (at, _) in passed.filter(|(_, param)| param.name.trim_start_matches('%') == name) {
        let (Some(place), Some(bytes)) = (run.execution.place(at), run.input(at)) else { continue };
        if last >= bytes.len() as u64 {
            return Err(format!("`{name}` has {} bytes, from 0\n", bytes.len()));
        }
        let start = gm_address(place.buffer, place.offset as u64);
        places.push((Space::Gm, None, start + first, start + last));
    }
    for (role, space, address, bytes) in run.compiled.tile_places(name) {
        if last >= bytes {
            return Err(format!("`{name}` has {bytes} bytes, from 0\n"));
        }
        places.push((space, Some(role), address + first, address + last));
    }
    if places.is_empty() {
        return Err(format!("there is no tile and no buffer `{name}` whose address is known\n"));
    }
    // A set, because each of perhaps a million events is looked up in it.
    let wanted: BTreeSet<(usize, u64, u64)> = kept
        .observed(history, asked, || Watch { places: places.clone(), write, seen: Vec::new() })
        .into_iter()
        .flat_map(|watch| watch.seen)
        .map(|(agent, start, end)| (agent.index(), start, end))
        .collect();
    let is = |event: &usize| {
        let own = history.happening(*event);
        matches!(own.doing, Doing::Work { .. }) && wanted.contains(&(own.agent.index(), own.start, own.end))
    };
    Ok((0..history.count()).filter(is).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let read = |text: &str| text.parse::<Condition>();
        let slot = Condition::Ring { ring: "C2V".into(), slot: Some(2), full: true };
        assert_eq!(read("slot 2 of ring C2V becomes full"), Ok(slot.clone()));
        assert_eq!(read("slot 2 C2V full"), Ok(slot));
        let byte = Condition::Byte { name: "out".into(), first: 4096, last: 4096, write: true };
        assert_eq!(read("byte 4096 of `out` is written"), Ok(byte.clone()));
        assert_eq!(read("byte 0x1000 of out is written"), Ok(byte));
        assert_eq!(read("AIV1 waits"), Ok(Condition::Waits { who: "AIV1".into(), what: String::new() }));
        for wrong in ["", "slot x of ring C2V becomes full", "byte 1 of out is eaten", "bytes 9..2 of out are read"] {
            assert!(read(wrong).unwrap_err().contains("is not a condition"), "{wrong}");
        }
    }

    #[test]
    fn rows_of_an_access_hold_their_bytes() {
        let rows = Extent { rows: 3, stride: 100, ..Extent::run(Space::Gm, slipring_machine::Role::Aic, 1000, 10) };
        let hit = [1000, 1009, 1100, 1209];
        let miss = [999, 1010, 1099, 1210, 1300];
        assert!(hit.iter().all(|byte| holds(&rows, *byte, *byte)));
        assert!(!miss.iter().any(|byte| holds(&rows, *byte, *byte)));
        assert!(holds(&rows, 1020, 1100) && !holds(&rows, 1020, 1099));
        assert!(!holds(&Extent::run(Space::Gm, slipring_machine::Role::Aic, 0, 0), 0, 0));
    }
}
