//! What functions say of themselves: the core that they are for, whether they are the kernel, how they are divided.

use slipring_ir::{Attr, Module, OpId, Part};
use slipring_machine::CoreKind;

pub use crate::names::{ASSUME, BOTH_LANES, CHIP, ENTRY, FLAGS, KIND, PLATFORM, RECORDED, SLOT_BYTES, SLOTS, SPLIT};

/// Name of a function.
pub fn symbol_name(module: &Module, function: OpId) -> &str {
    module.symbol_name(function).unwrap_or("?")
}

/// The kind of core that a function is for; `None` where it does not say.
pub fn kernel_kind(module: &Module, function: OpId) -> Option<CoreKind> {
    let text = module.op(function).attrs.get(KIND).and_then(Attr::as_str)?;
    [CoreKind::Cube, CoreKind::Vector].into_iter().find(|kind| kind.name() == text)
}

/// Makes a function one of a kind of core.
pub fn set_kernel_kind(module: &mut Module, function: OpId, kind: CoreKind) {
    module.op_mut(function).attrs.set(KIND, Attr::member("kernel_kind", kind.name()));
}

/// True for functions marked as an entry.
pub fn is_entry(module: &Module, function: OpId) -> bool {
    let attrs = &module.op(function).attrs;
    ENTRY.iter().any(|name| attrs.get(name).and_then(Attr::as_bool).unwrap_or(false))
}

/// Marks a function as the kernel of its file.
pub fn mark_entry(module: &mut Module, function: OpId) {
    module.op_mut(function).attrs.set(ENTRY[0], Attr::Unit);
}

/// Takes the marks of the file's kernel off a function.
pub fn unmark_entry(module: &mut Module, function: OpId) {
    let attrs = &mut module.op_mut(function).attrs;
    ENTRY.iter().for_each(|name| drop(attrs.remove(name)));
}

/// True for a function with a mark of the file's kernel, whatever the mark says.
pub fn has_entry_mark(module: &Module, function: OpId) -> bool {
    ENTRY.iter().any(|name| module.op(function).attrs.get(name).is_some())
}

/// True for a function that asks the compiler to divide its Vector work, whatever it asks for.
pub fn asks_split(module: &Module, function: OpId) -> bool {
    module.op(function).attrs.get(SPLIT).is_some()
}

/// How a function asks its Vector work to be divided: 1 by rows, 2 by columns.
pub fn asked_split(module: &Module, function: OpId) -> Option<i64> {
    module.op(function).attrs.get(SPLIT)?.as_int()
}

/// Asks for Vector work to be divided; `None` takes it back.
pub fn ask_split(module: &mut Module, function: OpId, mode: Option<i64>) {
    set_int(module, function, SPLIT, mode);
}

/// Slots of each ring that the compiler makes, where a function says so.
pub fn asked_slots(module: &Module, function: OpId) -> Option<i64> {
    module.op(function).attrs.get(SLOTS)?.as_int()
}

/// Asks for so many slots of each ring that the compiler makes; `None` takes it back.
pub fn ask_slots(module: &mut Module, function: OpId, slots: Option<i64>) {
    set_int(module, function, SLOTS, slots);
}

/// Bytes of ring slots that each block of a launch needs in global memory.
pub fn slot_bytes(module: &Module, function: OpId) -> Option<u64> {
    module.op(function).attrs.get(SLOT_BYTES)?.as_int().and_then(|n| u64::try_from(n).ok())
}

/// Says how many bytes of ring slots each block of a launch needs in global memory.
pub fn set_slot_bytes(module: &mut Module, function: OpId, bytes: i64) {
    set_int(module, function, SLOT_BYTES, Some(bytes));
}

/// Bytes that the flags between cores take in global memory: 256 numbers of 64 bits.
pub const FLAG_BYTES: u64 = 256 * 8;

/// Whether the last parameter of a function is where the hardware keeps flags between cores, after the one for ring slots.
pub fn has_flags(module: &Module, function: OpId) -> bool {
    module.op(function).attrs.get(FLAGS).and_then(|attr| attr.as_bool()).unwrap_or(false)
}

/// Says that the last parameter of a function is where the hardware keeps flags between cores.
pub fn set_flags(module: &mut Module, function: OpId) {
    module.op_mut(function).attrs.set(FLAGS, Attr::Bool(true));
}

/// Whether both Vector cores run a Vector function, where it says so.
pub fn both_lanes(module: &Module, function: OpId) -> Option<bool> {
    module.op(function).attrs.get(BOTH_LANES)?.as_bool()
}

/// Says whether both Vector cores run a Vector function.
pub fn set_both_lanes(module: &mut Module, function: OpId, both: bool) {
    module.op_mut(function).attrs.set(BOTH_LANES, Attr::Bool(both));
}

/// True if a module holds the recording of a launch: its numbers, loops and branches are those of that launch.
pub fn is_recorded(module: &Module) -> bool {
    module.functions().any(|function| module.op(function).attrs.get(RECORDED).and_then(Attr::as_bool) == Some(true))
}

/// Says that a function is the recording of a launch.
pub fn set_recorded(module: &mut Module, function: OpId) {
    module.op_mut(function).attrs.set(RECORDED, Attr::Bool(true));
}

/// The platform that a file is written for, if it says one: by its name, else by the chip.
pub fn written_platform(module: &Module) -> Option<&str> {
    let said = |name: &str| module.with_part(Part::Module).find_map(|op| module.op(op).attrs.get(name)?.as_str());
    said(PLATFORM).or_else(|| said(CHIP))
}

/// Says which platform a module is for.
pub fn set_written_platform(module: &mut Module, op: OpId, name: &str) {
    module.op_mut(op).attrs.set(PLATFORM, Attr::Str(name.into()));
}

fn set_int(module: &mut Module, op: OpId, name: &'static str, value: Option<i64>) {
    let attrs = &mut module.op_mut(op).attrs;
    match value {
        Some(value) => attrs.set(name, Attr::int(value)),
        None => drop(attrs.remove(name)),
    }
}
