//! What a vector function does with bytes that mean nothing.
//!
//! As long as everything that was loaded means something, nothing is to be done. From the first load on that reads more, each
//! register knows which of its bits mean nothing, and each step that takes such a register is tried with other values there:
//! what differs depends on them. See `probe` of the vocabulary for why that is enough.

use slipring_program::{Env, Extent, Marks, Misuse, Outcome, SiteRef, TRIES, Void, guess, judge, mark};
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::footprint::{Footprint, Kind};
use crate::machine::State;
use crate::{BYTES, Machine, Register, Slot, Step};

/// The bits of a register that mean nothing.
#[derive(Clone, Debug)]
struct Lost {
    bits: [u8; BYTES],
    /// Bytes that were computed.
    computed: [bool; BYTES],
    origin: Option<SiteRef>,
}

/// The marks of the unified buffer and of the registers while a function runs.
#[derive(Debug)]
pub(crate) struct Shade {
    /// Of the unified buffer. Before `tracking` without what the function has written.
    pub marks: Marks,
    /// Something that means nothing was loaded.
    tracking: bool,
    /// By slot; `None`: all of it means something.
    registers: Vec<Option<Box<Lost>>>,
    /// What the step touched, while tracking.
    touched: Vec<(Kind, u64, u64)>,
    /// A step is being tried: its accesses are none of the program.
    pub probing: bool,
    pub misuses: Vec<Misuse>,
}

impl Shade {
    pub fn new(marks: Marks, slots: usize) -> Shade {
        let (registers, touched, misuses) = (vec![None; slots], Vec::new(), Vec::new());
        Shade { marks, tracking: false, registers, touched, probing: false, misuses }
    }

    /// True if an access is one that [`Shade::note`] must be told of.
    #[inline]
    pub fn looks(&self, kind: Kind, start: usize, end: usize) -> bool {
        self.tracking || !kind.writes() && self.marks.any(start as u64, end as u64)
    }

    /// An access happens. The footprint knows what the function has written.
    #[cold]
    pub fn note(&mut self, kind: Kind, start: usize, end: usize, footprint: &Footprint) {
        if !self.tracking {
            if (start..end).all(|byte| !self.marks.is_nothing(byte as u64) || footprint.has_written(byte)) {
                return;
            }
            self.tracking = true;
            footprint.each_written(|from, to| self.marks.define(from, to));
        }
        self.touched.push((kind, start as u64, end as u64));
    }

    /// True if nothing was loaded that means nothing: what was written means something.
    pub fn is_plain(&self) -> bool {
        !self.tracking
    }

    /// True if steps must be settled.
    #[inline]
    pub fn is_tracking(&self) -> bool {
        self.tracking
    }

    fn lost(&self, Slot(slot): Slot) -> Option<&Lost> {
        self.registers[usize::from(slot)].as_deref()
    }
}

/// What a try came to: the registers written, the bytes stored, the number.
struct Tried {
    registers: SmallVec<[Register; 2]>,
    bytes: Vec<u8>,
    value: Option<u64>,
}

impl Machine<'_> {
    /// Finds what of a step's outcome means nothing, after it was executed. `special` are AR and SQZN from before.
    #[cold]
    pub(crate) fn settle(&mut self, step: &Step, args: &[u64], special: (u64, u64)) {
        let Some(mut shade) = self.state.shade.take() else { return };
        let touched = std::mem::take(&mut shade.touched);
        let (site, env) = (self.current.site, self.env);
        let is_memory = step.memory.is_some();
        let patched: SmallVec<[Slot; 4]> = {
            let mut slots = if is_memory { SmallVec::from_slice(&step.data) } else { step.reads.clone() };
            slots.retain(|slot| shade.lost(*slot).is_some());
            slots
        };
        let leads = |slot: &Slot| !step.data.contains(slot) && shade.lost(*slot).is_some();
        if is_memory && step.reads.iter().any(leads) {
            shade.misuses.push(misuse(site, env, "is led, in what it touches, by"));
        }
        let mut holes = Vec::new();
        for (_, from, to) in touched.iter().filter(|(kind, ..)| !kind.writes()) {
            holes.extend(shade.marks.voids(*from, *to));
        }
        if patched.is_empty() && holes.is_empty() {
            step.writes.iter().for_each(|slot| shade.registers[usize::from(slot.0)] = None);
            for (_, from, to) in touched.iter().filter(|(kind, ..)| kind.writes()) {
                shade.marks.define(*from, *to);
            }
            self.state.shade = Some(shade);
            return;
        }
        let origins = patched.iter().filter_map(|slot| shade.lost(*slot)?.origin);
        let origin = origins.chain(holes.iter().filter_map(|hole| hole.origin)).next();
        let stores: Vec<(u64, u64)> =
            touched.iter().filter(|(kind, ..)| kind.writes()).map(|(_, from, to)| (*from, *to)).collect();
        let after = (self.ar, self.sqzn);
        let results: SmallVec<[Register; 2]> = step.writes.iter().map(|slot| *self.reg(*slot)).collect();
        let stored = self.gather(stores.iter().copied());
        let operands: SmallVec<[Register; 4]> = patched.iter().map(|slot| *self.reg(*slot)).collect();
        let loaded = self.gather(holes.iter().map(|hole| (hole.start, hole.end)));
        let mut tries: Vec<Tried> = Vec::with_capacity(TRIES);
        for tried in 0..TRIES {
            for (slot, value) in patched.iter().zip(&operands) {
                let Some(lost) = shade.lost(*slot) else { continue };
                let register = self.reg_mut(*slot);
                for (i, byte) in register.0.iter_mut().enumerate() {
                    let at = (usize::from(slot.0) * BYTES + i) as u64;
                    *byte = value.0[i] & !lost.bits[i] | guess(tried, at, lost.computed[i]) & lost.bits[i];
                }
            }
            for hole in &holes {
                for at in hole.start..hole.end {
                    self.ub[at as usize] = guess(tried, at, hole.origin.is_some());
                }
            }
            (self.ar, self.sqzn) = special;
            shade.probing = true;
            self.state.shade = Some(shade);
            let value = (step.kernel)(self, args).ok();
            let Some(back) = self.state.shade.take() else { return };
            shade = back;
            shade.probing = false;
            let registers = step.writes.iter().map(|slot| *self.reg(*slot)).collect();
            tries.push(Tried { registers, bytes: self.gather(stores.iter().copied()), value });
            patched.iter().zip(&operands).for_each(|(slot, value)| self.set(*slot, *value));
            self.scatter(holes.iter().map(|hole| (hole.start, hole.end)), &loaded);
        }
        step.writes.iter().zip(&results).for_each(|(slot, value)| self.set(*slot, *value));
        self.scatter(stores.iter().copied(), &stored);
        (self.ar, self.sqzn) = after;
        if tries.iter().any(|t| t.value != tries[0].value) {
            let hole = |void: &Void| Extent::run(Space::Vec, env.core, void.start, (void.end - void.start) as u32);
            shade.misuses.push(Misuse { extent: holes.first().map(hole), ..misuse(site, env, "takes a number from") });
        }
        for (at, slot) in step.writes.iter().enumerate() {
            shade.registers[usize::from(slot.0)] = lost(&tries, at, origin.unwrap_or(site));
        }
        let mut at = 0;
        for (from, to) in stores {
            for byte in from..to {
                mark(&mut shade.marks, byte, judge(|tried| tries[tried].bytes[at]), origin, site, false);
                at += 1;
            }
        }
        self.state.shade = Some(shade);
    }

    fn gather(&self, ranges: impl Iterator<Item = (u64, u64)>) -> Vec<u8> {
        ranges.flat_map(|(from, to)| self.ub[from as usize..to as usize].iter().copied()).collect()
    }

    fn scatter(&mut self, ranges: impl Iterator<Item = (u64, u64)>, mut bytes: &[u8]) {
        for (from, to) in ranges {
            let (now, then) = bytes.split_at((to - from) as usize);
            self.ub[from as usize..to as usize].copy_from_slice(now);
            bytes = then;
        }
    }

    /// Bytes of the unified buffer that a stream keeps: read, as far as their meaning goes.
    pub(crate) fn peek(&mut self, start: usize, end: usize) {
        let shade = self.state.shade.as_ref().filter(|shade| !shade.probing);
        if shade.is_some_and(|shade| shade.looks(Kind::VectorLoad, start, end)) {
            self.look(Kind::VectorLoad, start, end);
        }
    }

    /// Tells the shade of an access.
    #[cold]
    pub(crate) fn look(&mut self, kind: Kind, start: usize, end: usize) {
        self.judge_accesses();
        let State { footprint, shade, .. } = &mut *self.state;
        if let Some(shade) = shade {
            shade.note(kind, start, end, footprint);
        }
    }
}

fn misuse(site: SiteRef, env: Env, what: &'static str) -> Misuse {
    Misuse { site, env, what, extent: None }
}

/// What register `at` of those written lost.
fn lost(tries: &[Tried], at: usize, origin: SiteRef) -> Option<Box<Lost>> {
    let first = &tries[0].registers[at].0;
    if tries.iter().all(|t| t.registers[at].0 == *first) {
        return None;
    }
    let mut lost = Lost { bits: [0; BYTES], computed: [false; BYTES], origin: None };
    for i in 0..BYTES {
        let value = |tried: usize| tries[tried].registers[at].0[i];
        lost.bits[i] = (1..TRIES).fold(0, |bits, tried| bits | (value(tried) ^ value(0)));
        lost.computed[i] = matches!(judge(value), Outcome::Computed | Outcome::CopiedComputed);
        if lost.computed[i] {
            lost.origin = Some(origin);
        }
    }
    Some(Box::new(lost))
}
