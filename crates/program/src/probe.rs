//! The part of an effect's outcome that depends on uninitialised bytes.
//!
//! It is found by sampling ([`Tries`]): the effect is executed again and again with other values in those bytes, and
//! whatever differs depends on them. A difference is a proof; bytes that masks or padding keep out are therefore never
//! reported. Bytes that come out exactly as they went in every time were copied; others were computed. The effect
//! itself needs no annotation for this, and there is no cost as long as everything that is read is initialised.

use slipring_tile::Space;

use crate::address::runs;
use crate::shadow::{Marks, Misuse, Nothing, Shadow, Uninit};
use crate::{
    Access, Choice, Effect, Env, Extent, Fault, Judged, Memory, Outcome, Output, Round, Run, Scratch, SiteRef, Tries,
};

/// An execution of an effect whose accesses are known in advance.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Execution<'a> {
    pub effect: &'a dyn Effect,
    pub args: &'a [u64],
    pub env: Env,
    pub access: &'a Access,
    pub site: SiteRef,
    /// Which arguments come from buffers, one bit each.
    pub by_data: u64,
}

impl Execution<'_> {
    /// The arguments with other buffer contents.
    fn args_in(&self, round: Round) -> Vec<u64> {
        let other = |(at, arg): (usize, &u64)| {
            let varies = self.by_data >> at.min(63) & 1 != 0 && !self.effect.decides(at) && !self.effect.doubts(at);
            let content = (0..8).map(|byte| round.content((at * 8 + byte) as u64));
            let bytes: Option<Vec<u8>> = content.collect();
            bytes.filter(|_| varies).and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?))).unwrap_or(*arg)
        };
        self.args.iter().enumerate().map(other).collect()
    }

    /// The fault of an effect for bytes that it read. If it did not declare that bytes decide this, its verdict is
    /// still treated as depending on them.
    fn reported(&self, shadow: Option<&mut Shadow>, outcome: Result<u64, Fault>) -> Result<u64, Fault> {
        if outcome.is_err()
            && self.effect.judges().is_none()
            && let Some(shadow) = shadow
        {
            shadow.doubt(self.site, Choice::Fault);
        }
        outcome
    }
}

impl Memory {
    /// Executes an effect and, if marks are kept, determines which written bytes are uninitialised.
    ///
    /// # Errors
    /// The fault of the effect.
    pub fn carry_out(&mut self, run: &Execution<'_>, scratch: &mut Scratch, output: &mut Output) -> Result<u64, Fault> {
        if self.foresee(run) {
            let outcome = run.effect.run(run.args, Run { env: run.env, memory: self, scratch, output });
            return run.reported(self.shadow.as_deref_mut(), outcome);
        }
        let Some(mut shadow) = self.shadow.take() else { return Ok(0) };
        let outcome = try_out(&mut shadow, self, run, scratch, output);
        shadow.numbers = run.by_data;
        shadow.derive(run.access, run.env);
        shadow.forget(&run.access.undefined, run.env);
        self.shadow = Some(shadow);
        outcome
    }

    /// Marks the writes of an effect if none of the bytes it reads is uninitialised; otherwise returns false and marks
    /// nothing. Afterwards the effect itself may be executed at any time before its bytes are needed.
    #[inline]
    pub fn foresee(&mut self, run: &Execution<'_>) -> bool {
        let Some(shadow) = &mut self.shadow else { return true };
        if run.access.consults {
            shadow.doubt(run.site, Choice::Fault);
        }
        if shadow.any(&run.access.reads, run.env) {
            return false;
        }
        // Adding to uninitialised bytes gives uninitialised bytes.
        if run.access.update.is_none() {
            shadow.define(&run.access.writes, run.env);
        }
        shadow.numbers = run.by_data;
        shadow.derive(run.access, run.env);
        shadow.forget(&run.access.undefined, run.env);
        true
    }
}

/// Saved bytes of a memory, to be restored.
struct Kept {
    extents: Vec<Extent>,
    bytes: Vec<u8>,
}

impl Kept {
    fn new(memory: &Memory, env: Env, extents: &[Extent]) -> Kept {
        let mut bytes = Vec::new();
        read(memory, env, extents, &mut bytes);
        Kept { extents: extents.to_vec(), bytes }
    }

    fn put_back(&self, memory: &mut Memory, env: Env) {
        let mut rest = self.bytes.as_slice();
        for extent in &self.extents {
            for (from, to) in runs(extent, extent.start) {
                let (now, then) = rest.split_at((to - from) as usize);
                memory.bytes_mut(env, extent.core, extent.space, from, now.len()).copy_from_slice(now);
                rest = then;
            }
        }
    }
}

fn read(memory: &Memory, env: Env, extents: &[Extent], out: &mut Vec<u8>) {
    for extent in extents {
        for (from, to) in runs(extent, extent.start) {
            out.extend_from_slice(memory.bytes(env, extent.core, extent.space, from, (to - from) as usize));
        }
    }
}

/// The inputs of an effect that samples vary.
#[derive(Default)]
struct Holes {
    /// Uninitialised bytes, for some contents.
    voids: Vec<(Extent, Uninit)>,
    /// Bytes that come from buffers.
    contents: Vec<Extent>,
    /// The period after which the uninitialised bytes repeat.
    alike: Option<u64>,
}

impl Holes {
    fn of(shadow: &Shadow, access: &Access, env: Env) -> Holes {
        let mut holes = Holes::default();
        for extent in &access.reads {
            let Some((marks, start)) = shadow.of(extent, env) else { continue };
            let part =
                |(from, to)| Extent::run(extent.space, extent.core, extent.start + (from - start), (to - from) as u32);
            for (from, to) in runs(extent, start) {
                holes.voids.extend(marks.voids(from, to).into_iter().map(|void| (part((void.start, void.end)), void)));
                match extent.space {
                    Space::Gm => holes.contents.push(part((from, to))),
                    _ => holes.contents.extend(marks.constants.others(from, to).into_iter().map(part)),
                }
            }
        }
        holes
    }

    /// For a comparison of two halves: where corresponding bytes of both are uninitialised, each pair is filled
    /// equally.
    fn take_halves_as_alike(&mut self) {
        let (one, other) = self.voids.split_at(self.voids.len() / 2);
        let sizes = |half: &[(Extent, Uninit)]| half.iter().map(|(extent, _)| extent.row_bytes).collect::<Vec<_>>();
        if sizes(one) == sizes(other) {
            self.alike = Some(one.iter().map(|(extent, _)| u64::from(extent.row_bytes)).sum::<u64>().max(1));
        }
    }

    /// Fills in the values of a sample.
    fn fill(&self, memory: &mut Memory, env: Env, round: Round, tried: usize) {
        let bytes = |memory: &mut Memory, extent: &Extent, value: &mut dyn FnMut(u64) -> Option<u8>| {
            let found = memory.bytes_mut(env, extent.core, extent.space, extent.start, extent.row_bytes as usize);
            for (byte, at) in found.iter_mut().zip(extent.start..) {
                *byte = value(at).unwrap_or(*byte);
            }
        };
        if round != Round::Here {
            self.contents.iter().for_each(|extent| bytes(memory, extent, &mut |at| round.content(at)));
        }
        let mut number = 0;
        for (extent, void) in &self.voids {
            bytes(memory, extent, &mut |at| {
                number += 1;
                match round.guesses_void(void) {
                    true => Some(round.guess(
                        tried,
                        self.alike.map_or(number - 1, |half| (number - 1) % half),
                        void.origin.is_some(),
                    )),
                    false => round.content(at),
                }
            });
        }
    }
}

/// The outcome of a sample.
struct Sample {
    bytes: Vec<u8>,
    value: Option<u64>,
    printed: Vec<String>,
}

fn try_out(
    shadow: &mut Shadow,
    memory: &mut Memory,
    run: &Execution<'_>,
    scratch: &mut Scratch,
    output: &mut Output,
) -> Result<u64, Fault> {
    let Execution { effect, args, env, access, site, by_data } = *run;
    let mut holes = Holes::of(shadow, access, env);
    if effect.compares() {
        holes.take_halves_as_alike();
    }
    let origin = holes.voids.iter().find_map(|(_, void)| void.origin);
    let by = holes.voids.iter().find_map(|(_, void)| void.by);
    let first = holes.voids.first().map(|(extent, _)| *extent);
    let (writes, reads) = (Kept::new(memory, env, &access.writes), Kept::new(memory, env, &access.reads));
    let varies = !holes.contents.is_empty() || by_data != 0;
    scratch.tries = true;
    let tries = Tries::new(varies, by.is_some(), |round, tried| {
        holes.fill(memory, env, round, tried);
        let (mut silent, args) = (Output::default(), run.args_in(round));
        let outcome = effect.run(&args, Run { env, memory, scratch, output: &mut silent });
        let mut bytes = Vec::with_capacity(writes.bytes.len());
        read(memory, env, &access.writes, &mut bytes);
        writes.put_back(memory, env);
        reads.put_back(memory, env);
        Sample { bytes, value: outcome.ok(), printed: silent.lines }
    });
    scratch.tries = false;
    let outcome = effect.run(args, Run { env, memory, scratch, output });
    let outcome = run.reported(Some(shadow), outcome)?;
    let what = if access.writes.is_empty() { "loads a number from" } else { "depends, in whether it works, on" };
    let uses = [
        (tries.depends(|one, other| one.value == other.value), what),
        (tries.depends(|one, other| one.printed == other.printed), "prints"),
    ];
    for (lost, what) in uses {
        if lost.here != 0 {
            shadow.misuse(Misuse { site, env, what, extent: first });
        }
        if lost.by_data != 0 {
            shadow.doubt(by.unwrap_or(site), Choice::Unwritten);
        }
    }
    let places = [origin.unwrap_or(site), by.unwrap_or(site)];
    let mut at = 0;
    for extent in &access.writes {
        let Some((marks, start)) = shadow.of_mut(extent, env) else { continue };
        let mut some = false;
        for (from, to) in runs(extent, start) {
            for byte in from..to {
                some |= mark(marks, byte, tries.judge(|tried| tried.bytes[at]), places, access.update.is_some());
                at += 1;
            }
        }
        if some {
            shadow.stored(site, extent);
        }
    }
    Ok(outcome)
}

/// Marks a written byte; `adds` if it was added to the old contents. `places` are where it was computed, if it was, and
/// where contents decided, if they did. True if it is uninitialised, for some contents.
pub fn mark(marks: &mut Marks, byte: u64, judged: Judged, [origin, by]: [SiteRef; 2], adds: bool) -> bool {
    let by = judged.by_data.then_some(by);
    let nothing = Nothing { origin: None, by, elsewhere: false };
    match judged.outcome {
        Outcome::Known if adds && (by.is_none() || marks.is_nothing(byte)) => return marks.is_doubtful(byte),
        Outcome::Known if by.is_none() => {
            marks.define(byte, byte + 1);
            return false;
        }
        Outcome::Known => marks.forget(byte, Nothing { elsewhere: true, ..nothing }),
        Outcome::Copied => marks.forget(byte, nothing),
        Outcome::CopiedComputed | Outcome::Computed => marks.forget(byte, Nothing { origin: Some(origin), ..nothing }),
    }
    true
}

#[cfg(test)]
mod tests {
    use slipring_machine::Role;

    use super::*;

    /// Reverses 8 bytes at 0 to 8, doubles them at 16, and makes zeros of them at 24.
    #[derive(Debug)]
    struct Three;

    const CORE: Role = Role::Aiv0;

    impl Effect for Three {
        fn plan(&self, _: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
            access.reads.push(Extent::run(Space::Vec, CORE, 0, 8));
            access.writes.push(Extent::run(Space::Vec, CORE, 8, 24));
            Ok(())
        }

        fn run(&self, _: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
            let bytes = memory.bytes_mut(env, CORE, Space::Vec, 0, 32);
            for i in 0..8 {
                (bytes[15 - i], bytes[16 + i], bytes[24 + i]) =
                    (bytes[i], bytes[i].wrapping_mul(2) | 1, bytes[i].saturating_sub(u8::MAX));
            }
            Ok(0)
        }
    }

    #[test]
    fn copies_results_and_what_does_not_depend_are_told_apart() {
        let env = Env { block: 0, core: CORE };
        let mut memory = Memory::with_sizes(1, |_| 64);
        memory.keep_marks(&[], &[]);
        if let Some(shadow) = &mut memory.shadow {
            shadow.define(&[Extent::run(Space::Vec, CORE, 0, 5)], env);
        }
        memory.bytes_mut(env, CORE, Space::Vec, 0, 8).copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let mut access = Access::default();
        Three.plan(&[], env, &mut access).unwrap();
        let run = Execution { effect: &Three, args: &[], env, access: &access, site: 7, by_data: 0 };
        memory.carry_out(&run, &mut Scratch::default(), &mut Output::default()).unwrap();
        let bytes = memory.bytes(env, CORE, Space::Vec, 0, 32);
        assert_eq!(bytes[..16], [1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1], "the bytes are as they were");
        let shadow = memory.shadow.as_ref().unwrap();
        let (marks, _) = shadow.of(&access.writes[0], env).unwrap();
        let void = |start, end, origin| Uninit { start, end, origin, here: true, by: None };
        assert_eq!(marks.voids(0, 32), [void(5, 11, None), void(21, 24, Some(7))]);
    }
}
