//! What of an effect's outcome depends on bytes that mean nothing.
//!
//! Found by trying: the effect is carried out again and again with other values in those bytes, and what differs depends on them.
//! A difference proves that; so nothing is said of what masks, padding or a factor of zero keep out. Bytes that come out as they
//! went in, each time, were copied; others were computed. This needs no word from the effect, and costs nothing as long as
//! everything that is read means something.

use crate::shadow::{Marks, Misuse, Shadow, Void, runs};
use crate::{Access, Effect, Env, Extent, Fault, Memory, Output, Run, Scratch, SiteRef};

/// What bytes that nobody wrote are taken for, one try after the other. Between them they are zeros, infinities, numbers that
/// are not, large, small, positive and negative in the types that there are.
const COPIED: [u8; 5] = [0x00, 0xff, 0x7f, 0x80, 0x3e];
/// The same for bytes that were computed, so that copies of these are told from copies of the others.
const COMPUTED: [u8; 5] = [0xff, 0x00, 0x80, 0x7c, 0xc1];
/// Tries: the above, and one with another value in each byte.
pub const TRIES: usize = COPIED.len() + 1;

/// What byte `at` of those that mean nothing is taken for in a try.
#[inline]
pub fn guess(tried: usize, at: u64, computed: bool) -> u8 {
    match (COPIED.get(tried), COMPUTED.get(tried)) {
        (Some(copied), Some(other)) => *(if computed { other } else { copied }),
        _ => (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u8 | 1,
    }
}

/// What a byte of the outcome is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It does not depend on the bytes that mean nothing.
    Known,
    /// A copy of a byte that nobody wrote.
    Copied,
    /// A copy of one that was computed.
    CopiedComputed,
    /// Computed from such bytes.
    Computed,
}

/// Judges a byte by its value in each try.
#[inline]
pub fn judge(value: impl Fn(usize) -> u8) -> Outcome {
    if (1..TRIES).all(|tried| value(tried) == value(0)) {
        return Outcome::Known;
    }
    let is = |values: &[u8; 5]| values.iter().enumerate().all(|(tried, guess)| value(tried) == *guess);
    match () {
        () if is(&COPIED) => Outcome::Copied,
        () if is(&COMPUTED) => Outcome::CopiedComputed,
        () => Outcome::Computed,
    }
}

/// An execution of an effect that knows beforehand what it touches.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Execution<'a> {
    pub effect: &'a dyn Effect,
    pub args: &'a [u64],
    pub env: Env,
    pub access: &'a Access,
    pub site: SiteRef,
}

impl Memory {
    /// Carries out an effect and, where marks are kept, finds what it wrote that means nothing.
    ///
    /// # Errors
    /// What the effect reports.
    pub fn carry_out(&mut self, run: &Execution<'_>, scratch: &mut Scratch, output: &mut Output) -> Result<u64, Fault> {
        if self.foresee(run) {
            return run.effect.run(run.args, Run { env: run.env, memory: self, scratch, output });
        }
        let Some(mut shadow) = self.shadow.take() else { return Ok(0) };
        let outcome = try_out(&mut shadow, self, run, scratch, output);
        shadow.forget(&run.access.undefined, run.env);
        self.shadow = Some(shadow);
        outcome
    }

    /// Marks what an effect writes, if no byte that it reads means nothing; false otherwise, and nothing is marked. After that the
    /// effect itself may be carried out at any time before its bytes are needed.
    #[inline]
    pub fn foresee(&mut self, run: &Execution<'_>) -> bool {
        let Some(shadow) = &mut self.shadow else { return true };
        if shadow.any(&run.access.reads, run.env) {
            return false;
        }
        // An addition to what means nothing means nothing.
        if run.access.update.is_none() {
            shadow.define(&run.access.writes, run.env);
        }
        shadow.forget(&run.access.undefined, run.env);
        true
    }
}

/// Bytes of a memory, kept to be put back.
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

fn try_out(
    shadow: &mut Shadow,
    memory: &mut Memory,
    run: &Execution<'_>,
    scratch: &mut Scratch,
    output: &mut Output,
) -> Result<u64, Fault> {
    let Execution { effect, args, env, access, site } = *run;
    let (mut holes, mut origin, mut first) = (Vec::new(), None, None);
    for extent in &access.reads {
        let Some((marks, start)) = shadow.of(extent, env) else { continue };
        for (from, to) in runs(extent, start) {
            for Void { start: at, end, origin: computed } in marks.voids(from, to) {
                let hole = Extent::run(extent.space, extent.core, extent.start + (at - start), (end - at) as u32);
                origin = origin.or(computed);
                first.get_or_insert(hole);
                holes.push((hole, computed.is_some()));
            }
        }
    }
    let writes = Kept::new(memory, env, &access.writes);
    let reads = Kept::new(memory, env, &holes.iter().map(|(hole, _)| *hole).collect::<Vec<_>>());
    let mut tries: Vec<(Vec<u8>, Option<u64>)> = Vec::with_capacity(TRIES);
    let mut printed: Vec<Vec<String>> = Vec::new();
    for tried in 0..TRIES {
        let mut at = 0;
        for (hole, computed) in &holes {
            for byte in memory.bytes_mut(env, hole.core, hole.space, hole.start, hole.row_bytes as usize) {
                *byte = guess(tried, at, *computed);
                at += 1;
            }
        }
        let mut silent = Output::default();
        let outcome = effect.run(args, Run { env, memory, scratch, output: &mut silent });
        let mut bytes = Vec::with_capacity(writes.bytes.len());
        read(memory, env, &access.writes, &mut bytes);
        tries.push((bytes, outcome.ok()));
        printed.push(silent.lines);
        writes.put_back(memory, env);
        reads.put_back(memory, env);
    }
    let outcome = effect.run(args, Run { env, memory, scratch, output })?;
    let misuse = |what| Misuse { site, env, what, extent: first };
    if tries.iter().any(|(_, value)| *value != tries[0].1) {
        let what = if access.writes.is_empty() { "loads a number from" } else { "depends, in whether it works, on" };
        shadow.misuse(misuse(what));
    }
    if printed.iter().any(|lines| *lines != printed[0]) {
        shadow.misuse(misuse("prints"));
    }
    let mut at = 0;
    for extent in &access.writes {
        let Some((marks, start)) = shadow.of_mut(extent, env) else { continue };
        let mut some = false;
        for (from, to) in runs(extent, start) {
            for byte in from..to {
                let outcome = judge(|tried| tries[tried].0[at]);
                some |= mark(marks, byte, outcome, origin, site, access.update.is_some());
                at += 1;
            }
        }
        if some {
            shadow.stored(site, extent);
        }
    }
    Ok(outcome)
}

/// Marks a byte that was written; `adds` where it was added to what was there. True if it means nothing.
pub fn mark(
    marks: &mut Marks,
    byte: u64,
    outcome: Outcome,
    origin: Option<SiteRef>,
    site: SiteRef,
    adds: bool,
) -> bool {
    match outcome {
        Outcome::Known if adds => return marks.is_nothing(byte),
        Outcome::Known => {
            marks.define(byte, byte + 1);
            return false;
        }
        Outcome::Copied => marks.forget(byte, None),
        Outcome::CopiedComputed | Outcome::Computed => marks.forget(byte, Some(origin.unwrap_or(site))),
    }
    true
}

#[cfg(test)]
mod tests {
    use slipring_machine::Role;
    use slipring_tile::Space;

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
        memory.keep_marks(&[]);
        if let Some(shadow) = &mut memory.shadow {
            shadow.define(&[Extent::run(Space::Vec, CORE, 0, 5)], env);
        }
        memory.bytes_mut(env, CORE, Space::Vec, 0, 8).copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let mut access = Access::default();
        Three.plan(&[], env, &mut access).unwrap();
        let run = Execution { effect: &Three, args: &[], env, access: &access, site: 7 };
        memory.carry_out(&run, &mut Scratch::default(), &mut Output::default()).unwrap();
        let bytes = memory.bytes(env, CORE, Space::Vec, 0, 32);
        assert_eq!(bytes[..16], [1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1], "the bytes are as they were");
        let shadow = memory.shadow.as_ref().unwrap();
        let (marks, _) = shadow.of(&access.writes[0], env).unwrap();
        let void = |start, end, origin| Void { start, end, origin };
        assert_eq!(marks.voids(0, 32), [void(5, 11, None), void(21, 24, Some(7))]);
    }
}
