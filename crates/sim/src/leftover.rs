//! Leftovers of a block in its synchronisation objects.

use std::collections::BTreeMap;

use slipring_machine::{Pipe, Platform};
use slipring_program::{Finding, Kind, Program, Severity, SiteRef, SyncDecl, SyncRole};

use crate::report::{self, count};
use crate::state::SyncState;
use crate::{ExecutionMode, Launch};

/// Objects that did not return to their expected final count, over all blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftovers(BTreeMap<usize, Leftover>);

/// One such object, as the first block left it.
#[derive(Clone, Debug)]
struct Leftover {
    count: u64,
    /// Sets without a wait.
    surplus: Vec<SiteRef>,
    last_wait: Option<SiteRef>,
    /// The last pop of the slot, for a slot that is not free.
    last_pop: Option<SiteRef>,
    /// At most suspicious: the platform resets the object.
    harmless: bool,
    /// Acquires of a token without a release.
    held: Vec<(Pipe, SiteRef)>,
    /// Number of blocks that left something in the object.
    blocks: u32,
}

impl Leftovers {
    /// Checks the objects of a completed block. Objects that were never used are fine, and so is a semaphore that a
    /// Vector core never waited for, if the other one waited for its own and the platform resets them: kernels signal
    /// both Vector cores and use one.
    pub fn collect(&mut self, launch: &Launch<'_>, syncs: &[SyncState]) {
        let program = launch.program;
        for (index, (state, decl)) in syncs.iter().zip(&program.syncs).enumerate() {
            let (used, held) = (state.sets + state.waits > 0, !state.token.held.is_empty());
            let idle = launch.mode == ExecutionMode::Sequential && decl.setter == decl.waiter;
            // If the text thins out the signals of a ring, they do not correspond to tiles and slots.
            let signal = matches!(decl.role, SyncRole::Semaphore { .. }) || is_sparse(program, decl.role);
            let harmless = launch.platform.sync.semaphores_reset && signal;
            let end = state.signals.len() as u64;
            let of_the_other = |(other, state): (&SyncDecl, &SyncState)| {
                other.role == decl.role
                    && (other.setter == decl.setter || other.waiter == decl.waiter)
                    && state.waits > 0
            };
            let unneeded = harmless
                && state.waits == 0
                && (!matches!(decl.role, SyncRole::Semaphore { .. })
                    || program.syncs.iter().zip(syncs).any(of_the_other));
            if idle || unneeded || !held && (!used || end == u64::from(decl.final_count)) {
                continue;
            }
            let entry = self.0.entry(index).or_insert_with(|| Leftover {
                count: end,
                surplus: state.signals.iter().skip(decl.final_count as usize).filter_map(|s| s.site).collect(),
                last_wait: state.last_wait,
                last_pop: last_pop(program, syncs, decl.role),
                harmless,
                held: state.token.held.clone(),
                blocks: 0,
            });
            entry.blocks += 1;
        }
    }

    /// One finding for each object, or for each ring and kind of mistake.
    pub fn findings(&self, program: &Program, platform: &Platform) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for ring in 0..program.rings.len() as u32 {
            findings.extend(self.ring_findings(program, ring));
        }
        for (&index, left) in &self.0 {
            let decl = &program.syncs[index];
            let more = left.count > u64::from(decl.final_count);
            let (kind, message, hint) = match decl.role {
                SyncRole::RingReady { .. } if more && !is_sparse(program, decl.role) => continue,
                SyncRole::RingFree { .. } if !more && !is_sparse(program, decl.role) => continue,
                SyncRole::Event { from, to, .. } if more => (
                    Kind::FlagLeftSet,
                    format!("{} is still set when the program ends", decl.name),
                    format!(
                        "every set needs a wait: pipe {to} must wait for what {from} has signalled, or the next kernel starts with the flag set"
                    ),
                ),
                SyncRole::Token { .. } => {
                    let mut pipes: Vec<_> = left.held.iter().map(|(pipe, _)| format!("pipe {pipe}")).collect();
                    pipes.dedup();
                    (
                        Kind::TokenNotReleased,
                        format!("{} is still held by {} when the program ends", decl.name, pipes.join(" and ")),
                        format!(
                            "every acquire needs a release: {} with the same pipe and id after the last use",
                            program.words.release_buffer
                        ),
                    )
                }
                _ => (
                    Kind::SignalLeftOver,
                    format!(
                        "{} ends with a count of {} and should end with {}",
                        decl.name, left.count, decl.final_count
                    ),
                    match left.harmless {
                        true => "sets and waits must balance: is a wait missing?".to_string(),
                        false => "sets and waits must balance: the next kernel starts with what is left".to_string(),
                    },
                ),
            };
            let mut finding = report::error(kind, message);
            if left.harmless {
                finding.severity = Severity::Warning;
            }
            let places = left.surplus.iter().map(|site| (*site, "set here and never waited for"));
            let places = places.chain(left.held.iter().map(|(_, site)| (*site, "acquired here and never released")));
            let last = left.last_wait.filter(|_| !more && left.held.is_empty());
            let places = places.chain(last.map(|site| (site, "the last wait")));
            mark(&mut finding, places);
            finding.hint = Some(hint);
            if matches!(decl.role, SyncRole::Semaphore { .. }) {
                finding.notes.extend(report::semaphore_rule(platform));
            }
            blocks(&mut finding, left.blocks);
            findings.push(*finding);
        }
        findings
    }

    /// Tiles of a ring that nobody popped, and slots that were popped and not freed.
    fn ring_findings(&self, program: &Program, ring: u32) -> Vec<Finding> {
        let decl = &program.rings[ring as usize];
        if decl.sparse {
            return Vec::new();
        }
        let of = |want: fn(SyncRole) -> Option<(u32, u32)>| {
            let members = program.syncs.iter().enumerate().filter_map(move |(index, sync)| {
                let (of, slot) = want(sync.role)?;
                (of == ring).then_some((index, slot))
            });
            members.filter_map(|(index, slot)| Some((slot, index, self.0.get(&index)?))).collect::<Vec<_>>()
        };
        let final_count = |index: usize| u64::from(program.syncs[index].final_count);
        let ready = of(|role| if let SyncRole::RingReady { ring, slot } = role { Some((ring, slot)) } else { None });
        let free = of(|role| if let SyncRole::RingFree { ring, slot } = role { Some((ring, slot)) } else { None });
        let (producer, consumer) = ends(program, ring);
        let mut findings = Vec::new();

        let unpopped: u64 = ready.iter().map(|(_, i, left)| left.count.saturating_sub(final_count(*i))).sum();
        if unpopped > 0 {
            let message = format!(
                "{} pushed to {} ({}) {} never popped",
                count(unpopped, "tile"),
                report::ring(&decl.name),
                decl.direction.name(),
                if unpopped == 1 { "was" } else { "were" }
            );
            let mut finding = report::error(Kind::TileNeverPopped, message);
            mark(
                &mut finding,
                ready.iter().flat_map(|(_, _, l)| l.surplus.iter().map(|s| (*s, "pushed here and never popped"))),
            );
            finding.hint = Some(format!("{consumer} must pop as many tiles as {producer} pushes"));
            blocks(&mut finding, ready.iter().map(|(_, _, left)| left.blocks).max().unwrap_or(0));
            findings.push(*finding);
        }

        let missing: u64 = free.iter().map(|(_, i, left)| final_count(*i).saturating_sub(left.count)).sum();
        let held = missing.saturating_sub(unpopped);
        if held > 0 {
            let message = format!(
                "{} of {} ({}) {} popped and never freed",
                count(held, "slot"),
                report::ring(&decl.name),
                decl.direction.name(),
                if held == 1 { "was" } else { "were" }
            );
            let mut finding = report::error(Kind::SlotNotFreed, message);
            let never_popped = |slot: u32| ready.iter().any(|(s, _, left)| *s == slot && !left.surplus.is_empty());
            let held: Vec<_> = free.iter().filter(|(slot, ..)| free.len() == 1 || !never_popped(*slot)).collect();
            mark(
                &mut finding,
                held.iter().filter_map(|(_, _, l)| l.last_pop.map(|s| (s, "popped here and never freed"))),
            );
            mark(&mut finding, held.iter().filter_map(|(_, _, l)| l.last_wait.map(|s| (s, "the last push into it"))));
            if free.len() > 1 {
                let slots: Vec<_> = held.iter().map(|(slot, ..)| slot.to_string()).collect();
                finding.notes.push(format!("slots still held: {}", slots.join(", ")));
            }
            finding.hint = Some(format!("{consumer} must free every tile that it has popped, after its last use"));
            blocks(&mut finding, free.iter().map(|(_, _, left)| left.blocks).max().unwrap_or(0));
            findings.push(*finding);
        }
        findings
    }
}

/// True for a signal of a ring in which some pushes or pops send or wait for none.
fn is_sparse(program: &Program, role: SyncRole) -> bool {
    let (SyncRole::RingReady { ring, .. } | SyncRole::RingFree { ring, .. }) = role else { return false };
    program.rings.get(ring as usize).is_some_and(|ring| ring.sparse)
}

/// The last pop of a slot, derived from the wait for its ready flag.
fn last_pop(program: &Program, syncs: &[SyncState], free: SyncRole) -> Option<SiteRef> {
    let SyncRole::RingFree { ring, slot } = free else { return None };
    let ready = program
        .syncs
        .iter()
        .position(|decl| matches!(decl.role, SyncRole::RingReady { ring: r, slot: s } if (r, s) == (ring, slot)))?;
    syncs[ready].last_wait
}

/// Producer and consumer of a ring, according to its objects.
pub(crate) fn ends(program: &Program, ring: u32) -> (String, String) {
    let ready = program.syncs.iter().find(|s| matches!(s.role, SyncRole::RingReady { ring: r, .. } if r == ring));
    match ready {
        Some(sync) => (sync.setter.to_string(), sync.waiter.to_string()),
        None => ("the producer".into(), "the consumer".into()),
    }
}

/// Labels each location once: the first is the primary one.
fn mark(finding: &mut Finding, places: impl Iterator<Item = (SiteRef, &'static str)>) {
    for (site, text) in places {
        let known = finding.primary.iter().chain(&finding.secondary).any(|l| l.site == site);
        if known {
            continue;
        }
        let label = report::label(site, text);
        match finding.primary {
            None => finding.primary = Some(label),
            Some(_) => finding.secondary.push(label),
        }
    }
}

fn blocks(finding: &mut Finding, blocks: u32) {
    if blocks > 1 {
        finding.notes.push(format!("the same in {blocks} blocks"));
    }
}
