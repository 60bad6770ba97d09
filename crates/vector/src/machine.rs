//! The state that vector instructions act on.

use slipring_machine::Question;
use slipring_program::{Asked, Effect, Env, Extent, Fault, Memory, Output, Run, Scratch};
use slipring_tile::Space;

use crate::access::{Barrier, Kind, Moment, Touch};
use crate::aside::Aside;
use crate::function::Machine;
use crate::state::State;
use crate::{Align, Mask, Register, Slot, Whole, block_of};

impl Machine<'_> {
    /// A register.
    #[inline]
    pub fn reg(&self, slot: Slot) -> &Register {
        &self.state.registers[usize::from(slot.0)]
    }

    /// True if the step is only sampled, to find dependences on uninitialised bytes.
    #[inline]
    pub fn is_tried(&self) -> bool {
        self.state.shade.as_ref().is_some_and(|shade| shade.probing) || self.aside.as_ref().is_some_and(Aside::is_trial)
    }

    /// A register, mutable.
    #[inline]
    pub fn reg_mut(&mut self, slot: Slot) -> &mut Register {
        &mut self.state.registers[usize::from(slot.0)]
    }

    /// Writes a register.
    #[inline]
    pub fn set(&mut self, slot: Slot, value: Register) {
        *self.reg_mut(slot) = value;
    }

    /// Sets a register to the value that `make` computes, without reading it. `make` sees the previous registers.
    #[inline]
    pub fn produce(&mut self, slot: Slot, make: impl FnOnce(&Machine<'_>, &mut Register)) {
        let mut result = self.state.spare.take().unwrap_or_default();
        make(self, &mut result);
        std::mem::swap(&mut self.state.registers[usize::from(slot.0)], &mut result);
        self.state.spare = Some(result);
    }

    /// A predicate.
    #[inline]
    pub fn mask(&self, slot: Slot) -> Mask {
        Mask::from(self.reg(slot))
    }

    /// Writes a predicate.
    #[inline]
    pub fn set_mask(&mut self, slot: Slot, mask: Mask) {
        self.reg_mut(slot).0[..32].copy_from_slice(&mask.image());
    }

    /// An alignment register.
    #[inline]
    pub fn align(&self, slot: Slot) -> Align {
        Align::from(self.reg(slot))
    }

    /// Writes an alignment register.
    #[inline]
    pub fn set_align(&mut self, slot: Slot, align: Align) {
        self.set(slot, align.into());
    }

    /// The block that contains a byte, for a stream of loads that may continue with it: zero outside of memory. It is
    /// not an access of the program: the loads that use the block are.
    pub fn stream_block(&mut self, address: u64) -> Align {
        let start = block_of(address);
        let mut block = [0; 32];
        let from = start.min(self.ub.len() as u64) as usize;
        let to = self.ub.len().min(from + block.len());
        block[..to - from].copy_from_slice(&self.ub[from..to]);
        self.peek(from, to);
        Align::primed(start, block)
    }

    /// Stores those of the lanes of `bytes` bytes in `data` that are active; memory of the others is unchanged.
    ///
    /// # Errors
    /// `memory-bounds` if the bytes of an active lane do not exist.
    pub fn store_lanes(
        &mut self,
        address: u64,
        data: &[u8],
        bytes: usize,
        active: impl Fn(usize) -> bool,
    ) -> Result<(), Fault> {
        let lanes = data.len() / bytes;
        let mut lane = 0;
        while lane < lanes {
            let first = lane;
            while lane < lanes && active(lane) {
                lane += 1;
            }
            if first < lane {
                let run = &data[first * bytes..lane * bytes];
                self.store(address.saturating_add((first * bytes) as u64), run.len())?.copy_from_slice(run);
            }
            lane += 1;
        }
        Ok(())
    }

    /// Bytes of the unified buffer, read by a vector load.
    ///
    /// # Errors
    /// `memory-bounds` if they do not exist.
    #[inline]
    pub fn load(&mut self, address: u64, bytes: usize) -> Result<&[u8], Fault> {
        let (start, end) = self.touch(Kind::VectorLoad, address, bytes)?;
        Ok(&self.ub[start..end])
    }

    /// Loads a whole register from the unified buffer.
    ///
    /// # Errors
    /// `memory-bounds` if the bytes do not exist.
    #[inline]
    pub fn load_register(&mut self, slot: Slot, address: u64) -> Result<(), Fault> {
        let (start, end) = self.touch(Kind::VectorLoad, address, crate::BYTES)?;
        self.state.registers[usize::from(slot.0)].0.copy_from_slice(&self.ub[start..end]);
        Ok(())
    }

    /// Bytes of the unified buffer, to be written by a vector store.
    ///
    /// # Errors
    /// `memory-bounds` if they do not exist.
    #[inline]
    pub fn store(&mut self, address: u64, bytes: usize) -> Result<&mut [u8], Fault> {
        let (start, end) = self.touch(Kind::VectorStore, address, bytes)?;
        Ok(&mut self.ub[start..end])
    }

    /// Stores a whole register to the unified buffer.
    ///
    /// # Errors
    /// `memory-bounds` if the bytes do not exist.
    #[inline]
    pub fn store_register(&mut self, slot: Slot, address: u64) -> Result<(), Fault> {
        let (start, end) = self.touch(Kind::VectorStore, address, crate::BYTES)?;
        self.ub[start..end].copy_from_slice(&self.state.registers[usize::from(slot.0)].0);
        Ok(())
    }

    /// Moves a whole register if nothing about the access needs checking; otherwise returns false and does nothing.
    #[inline(always)]
    pub(crate) fn moves(&mut self, whole: Whole, address: u64) -> bool {
        if !address.is_multiple_of(32) {
            return false;
        }
        match whole {
            Whole::Load(out) => {
                let Some((start, end)) = self.passes(Kind::VectorLoad, address, crate::BYTES) else { return false };
                self.state.registers[usize::from(out.0)].0.copy_from_slice(&self.ub[start..end]);
            }
            Whole::Store(value, mask) => {
                if mask.is_some_and(|(mask, lane)| !self.mask(mask).is_full(lane)) {
                    return false;
                }
                let Some((start, end)) = self.passes(Kind::VectorStore, address, crate::BYTES) else { return false };
                self.ub[start..end].copy_from_slice(&self.state.registers[usize::from(value.0)].0);
            }
        }
        true
    }

    /// Records that what the step does depends on a question that sources do not decide.
    pub fn depends_on(&mut self, question: &'static Question) {
        if !self.is_tried() {
            let Moment { step, site, .. } = self.current;
            let at = Some((site, self.function.parts.steps[step as usize].name));
            self.output.ask(Asked { question, at });
        }
    }

    /// Orders accesses before this instruction before those after it.
    pub fn barrier(&mut self, barrier: Barrier) {
        self.judge_accesses();
        self.state.footprint.barrier(barrier);
        self.state.clock.fence();
    }

    /// From now on accesses are checked as they happen.
    pub(crate) fn judge_accesses(&mut self) {
        let (function, State { footprint, trace, .. }) = (self.function, &mut *self.state);
        let judge =
            |earlier: &[Moment], later, found: &mut Vec<Moment>| function.unordered(trace, earlier, later, found);
        footprint.settle(function.relevant, self.env.core, &judge);
    }

    #[inline]
    fn touch(&mut self, kind: Kind, address: u64, bytes: usize) -> Result<(usize, usize), Fault> {
        match self.passes(kind, address, bytes) {
            Some(range) => Ok(range),
            None => self.touch_first(kind, address, bytes),
        }
    }

    /// The fast path of most accesses: it continues the stride of its step, and nothing there is uninitialised.
    /// Otherwise returns `None` and records nothing.
    #[inline(always)]
    fn passes(&mut self, kind: Kind, address: u64, bytes: usize) -> Option<(usize, usize)> {
        let end = address.checked_add(bytes as u64).filter(|end| *end <= self.ub.len() as u64)?;
        let (start, end) = (address as usize, end as usize);
        let State { footprint, shade, .. } = &mut *self.state;
        let plain = shade.as_ref().is_none_or(|shade| shade.passes(kind, start, end));
        (plain && footprint.goes_on(Touch { kind, at: self.current }, start, end)).then_some((start, end))
    }

    #[inline(never)]
    fn touch_first(&mut self, kind: Kind, address: u64, bytes: usize) -> Result<(usize, usize), Fault> {
        let end = address.saturating_add(bytes as u64);
        if end > self.ub.len() as u64 {
            return Err(self.miss(kind, address, bytes));
        }
        let (start, end) = (address as usize, end as usize);
        if let Some(aside) = &mut self.aside {
            aside.note(start, &self.ub[start..end]);
            return Ok((start, end));
        }
        let function = self.function;
        if let Some(shade) = &self.state.shade {
            if shade.probing {
                return Ok((start, end));
            }
            if shade.looks(kind, start, end) {
                self.look(kind, start, end);
            }
        }
        let State { footprint, trace, .. } = &mut *self.state;
        let touch = Touch { kind, at: self.current };
        let judge =
            |earlier: &[Moment], later, found: &mut Vec<Moment>| function.unordered(trace, earlier, later, found);
        footprint.touch(touch, start, end, function.relevant, self.env.core, judge);
        Ok((start, end))
    }

    #[cold]
    fn miss(&mut self, kind: Kind, address: u64, bytes: usize) -> Fault {
        let verb = if kind == Kind::VectorLoad || kind == Kind::ScalarLoad { "reads" } else { "writes" };
        let range = Extent::run(Space::Vec, self.env.core, address, bytes as u32);
        self.with_memory(|memory, env, _, _| memory.miss(&range, verb, env))
    }

    /// Executes work of the scalar unit inside the function: a scalar load or store.
    ///
    /// # Errors
    /// The fault of the effect, and `memory-bounds`.
    pub fn scalar_work(&mut self, effect: &dyn Effect, args: &[u64]) -> Result<u64, Fault> {
        let probing = self.state.shade.as_ref().is_some_and(|shade| shade.probing);
        let mut access = std::mem::take(&mut self.state.access);
        access.clear();
        let outcome = self.with_memory(|memory, env, scratch, output| {
            effect.plan(args, env, &mut access)?;
            for (ranges, verb) in [(&access.reads, "reads"), (&access.writes, "writes")] {
                if let Some(range) = ranges.iter().find(|range| !memory.has(range, env)) {
                    return Err(memory.miss(range, verb, env));
                }
            }
            effect.run(args, Run { env, memory, scratch, output })
        });
        for (ranges, kind) in [(&access.reads, Kind::ScalarLoad), (&access.writes, Kind::ScalarStore)] {
            for range in ranges.iter().filter(|_| outcome.is_ok() && !probing) {
                match range.space {
                    Space::Vec => drop(self.touch(kind, range.start, range.row_bytes as usize)?),
                    _ if kind == Kind::ScalarLoad => self.state.elsewhere.reads.push(*range),
                    _ => self.state.elsewhere.writes.push(*range),
                }
            }
        }
        self.state.access = access;
        outcome
    }

    /// Calls `work` with all memories, with the unified buffer back in place.
    fn with_memory<R>(&mut self, work: impl FnOnce(&mut Memory, Env, &mut Scratch, &mut Output) -> R) -> R {
        let (env, ub) = (self.env, std::mem::take(&mut self.ub));
        self.memory.put_back(env, env.core, Space::Vec, 0, ub);
        let result = work(self.memory, env, self.scratch, self.output);
        self.ub = self.memory.take(env, env.core, Space::Vec, 0);
        result
    }
}
