//! Values that workitems keep from one launch to the next, in registers of the vector unit: behind the other special
//! registers of the core.
//!
//! A slot has a header, which says what is in it, and a value for each workitem. After a launch the slots hold what it
//! kept, and nothing else: the registers of the others are free for any other launch.

use slipring_program::{Env, Extent, Fault, Memory, SPR_BYTES};
use slipring_tile::Space;

use crate::instruction::{Slot, Workitem};
use crate::shape::{MOST, Shape};

/// Bytes of a header, and of a value.
const WORD: u64 = 8;
/// Bytes of a slot.
const SLOT: u64 = WORD * (1 + MOST as u64);

/// The bytes of special registers that slots up to this one need.
pub const fn slot_bytes(number: u32) -> u64 {
    SPR_BYTES as u64 + (number as u64 + 1) * SLOT
}

/// The header of a slot with values of this type, kept by a launch of this shape: never 0.
fn header(slot: Slot, [x, y, z]: Shape) -> u64 {
    let shape = [x, y, z].iter().fold(0, |all, n| all << 12 | u64::from(*n));
    u64::from(slot.kind) << 40 | shape
}

fn word(memory: &Memory, env: Env, at: u64) -> u64 {
    let bytes = memory.bytes(env, env.core, Space::Spr, at, WORD as usize);
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

fn set_word(memory: &mut Memory, env: Env, at: u64, value: u64) {
    memory.bytes_mut(env, env.core, Space::Spr, at, WORD as usize).copy_from_slice(&value.to_le_bytes());
}

/// Where a slot begins.
fn start(number: u32) -> u64 {
    slot_bytes(number) - SLOT
}

/// The slots that a launch has kept values in, and the kinds of those.
#[derive(Debug, Default)]
pub(crate) struct Kept(Vec<(Slot, Shape)>);

impl Kept {
    /// A workitem keeps a value.
    pub fn keep(&mut self, memory: &mut Memory, env: Env, slot: Slot, value: u64, by: Workitem) {
        if !self.0.iter().any(|own| own.0 == slot) {
            self.0.push((slot, by.shape));
        }
        set_word(memory, env, start(slot.number) + WORD * (1 + u64::from(by.number)), value);
    }

    /// The value that a workitem kept in the launch before.
    pub fn resume(memory: &Memory, env: Env, slot: Slot, by: Workitem) -> Result<u64, Fault> {
        let (number, found) = (slot.number, word(memory, env, start(slot.number)));
        if found == header(slot, by.shape) {
            return Ok(word(memory, env, start(number) + WORD * (1 + u64::from(by.number))));
        }
        let message = match found {
            0 => format!("reads slot {number}, which the launch before did not keep"),
            _ if found >> 40 != u64::from(slot.kind) => {
                format!("reads slot {number} as another type than the one that was kept there")
            }
            _ => format!("reads slot {number}, which a launch of another shape kept"),
        };
        Err(Fault::new("simt-slot", message).help("keep it in the launch right before, with as many workitems"))
    }

    /// The launch is over: its slots are those that it kept. Returns the bytes of all slots.
    pub fn finish(self, memory: &mut Memory, env: Env) -> Option<Extent> {
        let all = memory.capacity(env.block, env.core, Space::Spr) as u64;
        let count = all.saturating_sub(SPR_BYTES as u64) / SLOT;
        (0..count).for_each(|number| set_word(memory, env, start(number as u32), 0));
        for (slot, shape) in self.0 {
            set_word(memory, env, start(slot.number), header(slot, shape));
        }
        (count > 0).then(|| Extent::run(Space::Spr, env.core, SPR_BYTES as u64, (count * SLOT) as u32))
    }
}
