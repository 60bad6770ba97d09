//! The uninitialised part of a step's results, determined after its execution.

use slipring_program::{Env, Extent, Lost, Misuse, Outcome, SiteRef, Tries, Uninit, mark};
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::access::Kind;
use crate::shade::LostBits;
use crate::state::State;
use crate::{BYTES, Machine, Register, Slot, Step};

/// The outcome of a sample: the registers written, the bytes stored, the scalar.
#[derive(Default)]
struct Sample {
    registers: SmallVec<[Register; 2]>,
    bytes: Vec<u8>,
    value: Option<u64>,
}

impl Machine<'_> {
    /// Determines the uninitialised part of a step's results, after its execution. `special` are AR and SQZN from
    /// before.
    #[cold]
    pub(crate) fn settle(&mut self, step: &Step, args: &[u64], special: (u64, u64)) {
        let Some(mut shade) = self.state.shade.take() else { return };
        let touched = std::mem::take(&mut shade.touched);
        let (site, env) = (self.current.site, self.env);
        let is_memory = step.memory.is_some();
        // Operands that determine its accesses are unchanged: what they decide is a decision of the function.
        let operands: SmallVec<[Slot; 4]> =
            if is_memory { step.data.iter().copied().collect() } else { step.reads.clone() };
        if is_memory {
            let leads = step.reads.iter().filter(|slot| !step.data.contains(slot)).filter_map(|slot| shade.lost(*slot));
            let (here, by): (Vec<bool>, Vec<_>) = leads.map(|lost| (lost.is_here(), lost.by)).unzip();
            if here.contains(&true) {
                shade.misuses.push(misuse(site, env, "is led, in what it touches, by"));
            }
            shade.doubts.extend(by.into_iter().flatten());
        }
        let patched = operands.iter().filter_map(|slot| shade.lost(*slot));
        let mut holes = Vec::new();
        for (_, from, to) in touched.iter().filter(|(kind, ..)| !kind.writes()) {
            holes.extend(shade.marks.voids(*from, *to));
        }
        if patched.clone().next().is_none() && holes.is_empty() {
            step.writes.iter().for_each(|slot| shade.registers[usize::from(slot.0)] = None);
            for (_, from, to) in touched.iter().filter(|(kind, ..)| kind.writes()) {
                shade.marks.define(*from, *to);
            }
            self.state.shade = Some(shade);
            return;
        }
        let origins = patched.clone().filter_map(|lost| lost.origin);
        let origin = origins.chain(holes.iter().filter_map(|hole| hole.origin)).next();
        let by = patched.filter_map(|lost| lost.by).chain(holes.iter().filter_map(|hole| hole.by)).next();
        let (function, by_data) = (self.function, shade.by_data);
        let from = shade.from_data.get_or_insert_with(|| function.decided_by_data(by_data)).clone();
        let numbers = from.numbers(self.current.step as usize) & if is_memory { step.values } else { u8::MAX };
        let ranges = |writes: bool| touched.iter().filter(move |(kind, ..)| kind.writes() == writes);
        let loads: Vec<(u64, u64)> = ranges(false).map(|(_, from, to)| (*from, *to)).collect();
        let stores: Vec<(u64, u64)> = ranges(true).map(|(_, from, to)| (*from, *to)).collect();
        let after = (self.ar, self.sqzn);
        let results: SmallVec<[Register; 2]> = step.writes.iter().map(|slot| *self.reg(*slot)).collect();
        let stored = self.gather(stores.iter().copied());
        let values: SmallVec<[Register; 4]> = operands.iter().map(|slot| *self.reg(*slot)).collect();
        let loaded = self.gather(loads.iter().copied());
        let varies = numbers != 0 || !loads.is_empty() || operands.iter().any(|slot| from.slot(*slot));
        let (mut kept, tried) = (Some(shade), self);
        let tries = Tries::new(varies, by.is_some(), |round, number| {
            let machine = &mut *tried;
            let Some(mut shade) = kept.take() else { return Sample::default() };
            for (slot, value) in operands.iter().zip(&values) {
                let (lost, data) = (shade.lost(*slot), from.slot(*slot));
                let register = machine.reg_mut(*slot);
                for (i, byte) in register.0.iter_mut().enumerate() {
                    let at = (usize::from(slot.0) * BYTES + i) as u64;
                    let known = round.content(at).filter(|_| data).unwrap_or(value.0[i]);
                    *byte = lost.map_or(known, |lost| lost.byte(i, (round, number), at, known));
                }
            }
            for at in loads.iter().flat_map(|(from, to)| *from..*to) {
                machine.ub[at as usize] = round.content(at).unwrap_or(machine.ub[at as usize]);
            }
            for hole in holes.iter().filter(|hole| round.guesses_void(hole)) {
                for at in hole.start..hole.end {
                    machine.ub[at as usize] = round.guess(number, at, hole.origin.is_some());
                }
            }
            (machine.ar, machine.sqzn) = special;
            shade.probing = true;
            machine.state.shade = Some(shade);
            let other = |(at, arg): (usize, &u64)| match numbers >> at & 1 {
                0 => *arg,
                _ => (0..8)
                    .fold(0, |all, i| all | u64::from(round.content(i).unwrap_or((arg >> (8 * i)) as u8)) << (8 * i)),
            };
            let args: SmallVec<[u64; 8]> = args.iter().enumerate().map(other).collect();
            let value = (step.kernel)(machine, &args).ok();
            if let Some(mut back) = machine.state.shade.take() {
                back.probing = false;
                kept = Some(back);
            }
            let registers = step.writes.iter().map(|slot| *machine.reg(*slot)).collect();
            let bytes = machine.gather(stores.iter().copied());
            operands.iter().zip(&values).for_each(|(slot, value)| machine.set(*slot, *value));
            machine.scatter(loads.iter().copied(), &loaded);
            Sample { registers, bytes, value }
        });
        let machine = tried;
        let Some(mut shade) = kept else { return };
        step.writes.iter().zip(&results).for_each(|(slot, value)| machine.set(*slot, *value));
        machine.scatter(stores.iter().copied(), &stored);
        (machine.ar, machine.sqzn) = after;
        let lost = tries.depends(|one, other| one.value == other.value);
        if lost.here != 0 {
            let hole = |void: &Uninit| Extent::run(Space::Vec, env.core, void.start, (void.end - void.start) as u32);
            shade.misuses.push(Misuse { extent: holes.first().map(hole), ..misuse(site, env, "takes a number from") });
        }
        if lost.by_data != 0 {
            shade.doubts.push(by.unwrap_or(site));
        }
        let places = [origin.unwrap_or(site), by.unwrap_or(site)];
        for (at, slot) in step.writes.iter().enumerate() {
            shade.registers[usize::from(slot.0)] = lost_bits(&tries, at, step.is_mask(at), places);
        }
        let mut at = 0;
        for (from, to) in stores {
            for byte in from..to {
                mark(&mut shade.marks, byte, tries.judge(|tried| tried.bytes[at]), places, false);
                at += 1;
            }
        }
        machine.state.shade = Some(shade);
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

    /// Bytes of the unified buffer held by a stream: read, as far as initialisation is concerned.
    pub(crate) fn peek(&mut self, start: usize, end: usize) {
        let shade = self.state.shade.as_ref().filter(|shade| !shade.probing);
        if shade.is_some_and(|shade| shade.looks(Kind::VectorLoad, start, end)) {
            self.look(Kind::VectorLoad, start, end);
        }
    }

    /// Reports an access to the shade.
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

/// The bits lost in register `at` of those written, which may be a predicate; `places` are where it was computed, if it
/// was, and where contents decided.
fn lost_bits(tries: &Tries<Sample>, at: usize, is_mask: bool, [origin, by]: [SiteRef; 2]) -> Option<Box<LostBits>> {
    let mut all = LostBits { bits: [Lost::default(); BYTES], computed: [false; BYTES], origin: None, by: None };
    let mut some = false;
    for i in 0..BYTES {
        let value = |tried: &Sample| tried.registers[at].0[i];
        let differ = |one: &Sample, other: &Sample| value(one) ^ value(other);
        let lost = if is_mask { tries.lost(differ) } else { tries.lost_in_byte(differ) };
        if lost == Lost::default() {
            continue;
        }
        (some, all.bits[i]) = (true, lost);
        all.computed[i] = matches!(tries.judge(value).outcome, Outcome::Computed | Outcome::CopiedComputed);
        if all.computed[i] {
            all.origin = Some(origin);
        }
        if lost.by_data != 0 {
            all.by = Some(by);
        }
    }
    some.then(|| Box::new(all))
}
