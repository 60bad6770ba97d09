//! Uninitialised bytes in a vector function.
//!
//! As long as everything that was loaded is initialised, nothing is done. After the first load of uninitialised bytes,
//! each register records which of its bits are uninitialised, and each step that reads such a register is repeated with
//! other values in those bits, and with others in everything that comes from buffers: results that differ depend on
//! them. See `tries` of `slipring_program` for why that is sufficient.

use std::sync::Arc;

use slipring_program::{Lost, Marks, Misuse, Round, SiteRef};

use crate::access::Kind;
use crate::footprint::Footprint;
use crate::{BYTES, Slot};

/// The uninitialised bits of a register.
#[derive(Clone, Debug)]
pub(crate) struct LostBits {
    /// With the present contents of the buffers, and those that contents decide.
    pub(crate) bits: [Lost; BYTES],
    /// Computed bytes.
    pub(crate) computed: [bool; BYTES],
    pub(crate) origin: Option<SiteRef>,
    /// Where contents decided, if they did.
    pub(crate) by: Option<SiteRef>,
}

impl LostBits {
    /// A byte of the register in a sample: its initialised bits are those of `known`.
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

    /// True if bits are uninitialised with the present contents.
    pub(crate) fn is_here(&self) -> bool {
        self.bits.iter().any(|lost| lost.here != 0)
    }
}

/// The marks of the unified buffer and of the registers while a function runs.
#[derive(Debug)]
pub(crate) struct Shade {
    /// For the unified buffer. Before `tracking`, without the function's own writes.
    pub marks: Marks,
    /// Something uninitialised was loaded.
    tracking: bool,
    /// By slot; `None` if it is completely initialised.
    pub(crate) registers: Vec<Option<Box<LostBits>>>,
    /// The accesses of the step, while tracking.
    pub(crate) touched: Vec<(Kind, u64, u64)>,
    /// A step is being sampled: its accesses are not part of the program.
    pub probing: bool,
    pub misuses: Vec<Misuse>,
    /// Locations where contents decide whether uninitialised bytes are used.
    pub doubts: Vec<SiteRef>,
    /// The arguments of the function that come from buffers, and everything else that does, computed on first use.
    pub(crate) by_data: u64,
    pub(crate) from_data: Option<Arc<FromData>>,
}

impl Shade {
    pub fn new(marks: Marks, slots: usize, by_data: u64) -> Shade {
        let (registers, touched, misuses, doubts) = (vec![None; slots], Vec::new(), Vec::new(), Vec::new());
        let (tracking, probing, from_data) = (false, false, None);
        Shade { marks, tracking, registers, touched, probing, misuses, doubts, by_data, from_data }
    }

    /// True if an access must be passed to [`Shade::note`].
    #[inline]
    pub fn looks(&self, kind: Kind, start: usize, end: usize) -> bool {
        self.tracking || !kind.writes() && self.marks.any(start as u64, end as u64)
    }

    /// True only if an access needs no action.
    #[inline]
    pub fn passes(&self, kind: Kind, start: usize, end: usize) -> bool {
        !self.tracking && !self.probing && (kind.writes() || self.marks.is_clean(start as u64, end as u64))
    }

    /// True only if no access to these bytes needs action.
    pub fn passes_all(&self, kind: Kind, start: usize, end: usize) -> bool {
        !self.probing && !self.looks(kind, start, end)
    }

    /// Records an access. The footprint knows what the function has written.
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

    /// True if nothing uninitialised was loaded: everything written is initialised.
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

/// The parts of a function that depend on buffer contents.
#[derive(Debug)]
pub(crate) struct FromData {
    /// Registers.
    pub(crate) slots: Vec<bool>,
    /// Scalars of steps, one bit each.
    pub(crate) numbers: Vec<u8>,
}

impl FromData {
    /// Whether a register does.
    pub fn slot(&self, Slot(slot): Slot) -> bool {
        self.slots.get(usize::from(slot)).is_none_or(|data| *data)
    }

    /// The scalars of a step that do, one bit each.
    pub fn numbers(&self, step: usize) -> u8 {
        self.numbers.get(step).copied().unwrap_or(u8::MAX)
    }
}
