//! What a vector function does with bytes that are uninitialised.
//!
//! As long as everything that was loaded means something, nothing is to be done. From the first load on that reads more, each
//! register knows which of its bits are uninitialised, and each step that takes such a register is tried with other values there, and
//! with others in what comes from buffers: what differs depends on them. See `tries` of the vocabulary for why that is enough.

use std::sync::Arc;

use slipring_program::{Lost, Marks, Misuse, Round, SiteRef};

use crate::access::Kind;
use crate::footprint::Footprint;
use crate::{BYTES, Slot};

/// The bits of a register that are uninitialised.
#[derive(Clone, Debug)]
pub(crate) struct LostBits {
    /// With these contents of the buffers; and those that contents decide about.
    pub(crate) bits: [Lost; BYTES],
    /// Bytes that were computed.
    pub(crate) computed: [bool; BYTES],
    pub(crate) origin: Option<SiteRef>,
    /// Where contents decided, if they did.
    pub(crate) by: Option<SiteRef>,
}

impl LostBits {
    /// A byte of the register in a try: its value is `known`, in what is not uninitialised.
    pub(crate) fn byte(&self, i: usize, (round, tried): (Round, usize), at: u64, known: u8) -> u8 {
        let Lost { here, by_data } = self.bits[i];
        let (always, sometimes) = (here & !by_data, by_data);
        let guessed = match round {
            Round::Here => here,
            Round::Perhaps(_) => always | sometimes,
            Round::Surely(_) => always,
        };
        known & !guessed | round.guess(tried, at, self.computed[i]) & guessed
    }

    /// True if bits are uninitialised with these contents.
    pub(crate) fn is_here(&self) -> bool {
        self.bits.iter().any(|lost| lost.here != 0)
    }
}

/// The marks of the unified buffer and of the registers while a function runs.
#[derive(Debug)]
pub(crate) struct Shade {
    /// Of the unified buffer. Before `tracking` without what the function has written.
    pub marks: Marks,
    /// Something that is uninitialised was loaded.
    tracking: bool,
    /// By slot; `None`: all of it means something.
    pub(crate) registers: Vec<Option<Box<LostBits>>>,
    /// What the step touched, while tracking.
    pub(crate) touched: Vec<(Kind, u64, u64)>,
    /// A step is being tried: its accesses are none of the program.
    pub probing: bool,
    pub misuses: Vec<Misuse>,
    /// Where contents decide whether bytes that are uninitialised are used.
    pub doubts: Vec<SiteRef>,
    /// Which arguments of the function come from buffers, and what else does: from the first step on that asks.
    pub(crate) by_data: u64,
    pub(crate) from_data: Option<Arc<FromData>>,
}

impl Shade {
    pub fn new(marks: Marks, slots: usize, by_data: u64) -> Shade {
        let (registers, touched, misuses, doubts) = (vec![None; slots], Vec::new(), Vec::new(), Vec::new());
        let (tracking, probing, from_data) = (false, false, None);
        Shade { marks, tracking, registers, touched, probing, misuses, doubts, by_data, from_data }
    }

    /// True if an access is one that [`Shade::note`] must be told of.
    #[inline]
    pub fn looks(&self, kind: Kind, start: usize, end: usize) -> bool {
        self.tracking || !kind.writes() && self.marks.any(start as u64, end as u64)
    }

    /// True only if nothing is to be done about an access.
    #[inline]
    pub fn passes(&self, kind: Kind, start: usize, end: usize) -> bool {
        !self.tracking && !self.probing && (kind.writes() || self.marks.is_clean(start as u64, end as u64))
    }

    /// True only if nothing is to be done about any access to these bytes.
    pub fn passes_all(&self, kind: Kind, start: usize, end: usize) -> bool {
        !self.probing && !self.looks(kind, start, end)
    }

    /// An access happens. The footprint knows what the function has written.
    #[cold]
    pub fn note(&mut self, kind: Kind, start: usize, end: usize, footprint: &Footprint) {
        if !self.tracking {
            if (start..end).all(|byte| !self.marks.is_doubtful(byte as u64) || footprint.has_written(byte)) {
                return;
            }
            self.tracking = true;
            footprint.each_written(|from, to| self.marks.define(from, to));
        }
        self.touched.push((kind, start as u64, end as u64));
    }

    /// True if nothing was loaded that is uninitialised: what was written means something.
    pub fn is_plain(&self) -> bool {
        !self.tracking
    }

    /// True if steps must be settled.
    #[inline]
    pub fn is_tracking(&self) -> bool {
        self.tracking
    }

    pub(crate) fn lost(&self, Slot(slot): Slot) -> Option<&LostBits> {
        self.registers[usize::from(slot)].as_deref()
    }
}

/// What of a function contents of buffers have a part in.
#[derive(Debug)]
pub(crate) struct FromData {
    /// Of registers.
    pub(crate) slots: Vec<bool>,
    /// Of steps the numbers, one bit each.
    pub(crate) numbers: Vec<u8>,
}

impl FromData {
    /// Whether they have one in a register.
    pub fn slot(&self, Slot(slot): Slot) -> bool {
        self.slots.get(usize::from(slot)).is_none_or(|data| *data)
    }

    /// In which numbers of a step, one bit each.
    pub fn numbers(&self, step: usize) -> u8 {
        self.numbers.get(step).copied().unwrap_or(u8::MAX)
    }
}
