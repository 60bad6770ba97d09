//! Signals in global memory: 32-bit integers that devices update and wait for.

use slipring_machine::Role;
use slipring_program::{Access, Choice, Effect, Env, Extent, Fault, Run, SignalUse, Update, UpdateKind};
use slipring_tile::{Elem, Space};

slipring_program::arguments! {
    /// The signal's byte address, and the value that it changes by or that is waited for.
    pub struct SignalArgs { signal, number }
}

/// A change of a signal. Arguments: [`SignalArgs`].
#[derive(Clone, Copy, Debug)]
pub struct Notify {
    /// True: the signal is set to the value. False: the value is added atomically.
    pub set: bool,
}

slipring_program::arguments! {
    /// The counter's byte address, the number of arriving cores, and the number of cores that meet.
    pub struct ArriveArgs { signal, cores, used }
}

/// Cores arrive at a barrier: adds to its counter, and returns the value at which the barrier is complete. The counter
/// is never reset, so the old value determines which barrier it is. Arguments: [`ArriveArgs`].
#[derive(Clone, Copy, Debug)]
pub struct Arrive;

/// One read of a signal: 1 if the wait is over, otherwise 0. Arguments: [`SignalArgs`].
#[derive(Clone, Copy, Debug)]
pub struct Await {
    /// The condition is >= instead of ==.
    pub at_least: bool,
}

fn place(address: u64) -> Result<Extent, Fault> {
    match address % 4 {
        0 => Ok(Extent::run(Space::Gm, Role::Aic, address, 4)),
        _ => Err(Fault::new("alignment", "a signal lies at a multiple of 4 bytes")),
    }
}

fn number(bytes: &[u8]) -> i32 {
    bytes.try_into().map_or(0, i32::from_le_bytes)
}

impl Effect for Notify {
    fn decides(&self, index: usize) -> bool {
        index == SignalArgs::AT.signal
    }

    fn is_signal(&self) -> bool {
        true
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let SignalArgs { signal, number } = SignalArgs::of(args);
        let (place, value) = (place(signal)?, number as i32);
        access.writes.push(place);
        if !self.set {
            access.reads.push(place);
            access.update = Some(Update { kind: UpdateKind::Add, elem: Elem::I32 });
        }
        access.signal = Some(if self.set { SignalUse::Set(value) } else { SignalUse::Add(value) });
        access.units.total += 4;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = SignalArgs::of(args);
        let bytes = memory.bytes_mut(env, Role::Aic, Space::Gm, given.signal, 4);
        let value = given.number as i32;
        let new = if self.set { value } else { number(bytes).wrapping_add(value) };
        bytes.copy_from_slice(&new.to_le_bytes());
        Ok(0)
    }
}

impl Effect for Arrive {
    fn decides(&self, index: usize) -> bool {
        index == ArriveArgs::AT.signal
    }

    fn doubts(&self, index: usize) -> bool {
        index == ArriveArgs::AT.used
    }

    fn judges(&self) -> Option<Choice> {
        Some(Choice::Fault)
    }

    fn is_signal(&self) -> bool {
        true
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let ArriveArgs { signal, cores, used } = ArriveArgs::of(args);
        if i32::try_from(used as i64).map_or(true, |used| used <= 0) {
            return Err(Fault::new("argument", format!("{} cores cannot meet", used as i64)));
        }
        let place = place(signal)?;
        access.writes.push(place);
        access.reads.push(place);
        access.update = Some(Update { kind: UpdateKind::Add, elem: Elem::I32 });
        access.signal = Some(SignalUse::Add(cores as i32));
        access.units.total += 4;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = ArriveArgs::of(args);
        let bytes = memory.bytes_mut(env, Role::Aic, Space::Gm, given.signal, 4);
        let (before, used) = (number(bytes), given.used as i32);
        let (new, wraps) = before.overflowing_add(given.cores as i32);
        let over = (before / used.max(1)).checked_add(1).and_then(|round| round.checked_mul(used));
        let Some(over) = over.filter(|_| before >= 0 && !wraps) else {
            let message = format!("the counter of a barrier is {before}: it begins with 0 and nothing else changes it");
            return Err(Fault::new("argument", message));
        };
        bytes.copy_from_slice(&new.to_le_bytes());
        Ok(over as u64)
    }
}

impl Effect for Await {
    fn decides(&self, index: usize) -> bool {
        index == SignalArgs::AT.signal
    }

    fn is_signal(&self) -> bool {
        true
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let SignalArgs { signal, number } = SignalArgs::of(args);
        access.reads.push(place(signal)?);
        access.signal = Some(SignalUse::Await { expected: number as i32, at_least: self.at_least });
        access.units.total += 4;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = SignalArgs::of(args);
        let own = number(memory.bytes(env, Role::Aic, Space::Gm, given.signal, 4));
        let wait = SignalUse::Await { expected: given.number as i32, at_least: self.at_least };
        Ok(u64::from(wait.holds(own.into())))
    }
}
