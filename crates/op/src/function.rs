//! Properties that functions declare: their kind of core, whether they are the kernel, how their work is divided.

use slipring_ir::{Attr, Module, OpId, Part};
use slipring_machine::CoreKind;

pub use crate::names::{ASSUME, BOTH_LANES, CHIP, ENTRY, FLAGS, KIND, PLATFORM, RECORDED, SLOT_BYTES, SLOTS, SPLIT};

/// Name of a function.
pub fn symbol_name(module: &Module, function: OpId) -> &str {
    module.symbol_name(function).unwrap_or("?")
}

/// The kind of core that a function is for: its own, else that of the nearest module around it that has one. `None` if
/// none of them specifies it.
pub fn kernel_kind(module: &Module, function: OpId) -> Option<CoreKind> {
    written_kind(module, function).or_else(|| {
        let outer = module.is_function(function).then(|| module.parent_op(function)).flatten();
        std::iter::successors(outer, |at| module.parent_op(*at)).find_map(|at| written_kind(module, at))
    })
}

/// The kind of core that the attributes of an op specify.
fn written_kind(module: &Module, op: OpId) -> Option<CoreKind> {
    let text = module.op(op).attrs.get(KIND).and_then(Attr::as_str)?;
    [CoreKind::Cube, CoreKind::Vector].into_iter().find(|kind| kind.name() == text)
}

/// True for functions of one name in two modules, one for each kind of core: the halves of one kernel.
pub fn are_halves(module: &Module, one: OpId, other: OpId) -> bool {
    let kinds = [one, other].map(|function| kernel_kind(module, function));
    module.symbol_name(one) == module.symbol_name(other)
        && module.parent_op(one) != module.parent_op(other)
        && matches!(kinds, [Some(a), Some(b)] if a != b)
}

/// Sets the kind of core that a function is for.
pub fn set_kernel_kind(module: &mut Module, function: OpId, kind: CoreKind) {
    module.op_mut(function).attrs.set(KIND, Attr::member("kernel_kind", kind.name()));
}

/// Removes the kind of core from the attributes of a function.
pub fn clear_kernel_kind(module: &mut Module, function: OpId) {
    drop(module.op_mut(function).attrs.remove(KIND));
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

/// Removes the kernel mark from a function.
pub fn unmark_entry(module: &mut Module, function: OpId) {
    let attrs = &mut module.op_mut(function).attrs;
    ENTRY.iter().for_each(|name| drop(attrs.remove(name)));
}

/// True for a function with a kernel mark, whatever its value.
pub fn has_entry_mark(module: &Module, function: OpId) -> bool {
    ENTRY.iter().any(|name| module.op(function).attrs.get(name).is_some())
}

/// True for a function that requests a division of its Vector work, whatever the mode.
pub fn asks_split(module: &Module, function: OpId) -> bool {
    module.op(function).attrs.get(SPLIT).is_some()
}

/// The requested division of a function's Vector work: 1 by rows, 2 by columns.
pub fn asked_split(module: &Module, function: OpId) -> Option<i64> {
    module.op(function).attrs.get(SPLIT)?.as_int()
}

/// Requests a division of Vector work; `None` removes the request.
pub fn ask_split(module: &mut Module, function: OpId, mode: Option<i64>) {
    set_int(module, function, SPLIT, mode);
}

/// The requested number of slots of each ring that the compiler makes, if any.
pub fn asked_slots(module: &Module, function: OpId) -> Option<i64> {
    module.op(function).attrs.get(SLOTS)?.as_int()
}

/// Requests this number of slots for each ring that the compiler makes; `None` removes the request.
pub fn ask_slots(module: &mut Module, function: OpId, slots: Option<i64>) {
    set_int(module, function, SLOTS, slots);
}

/// Bytes of ring slots that each block of a launch needs in global memory.
pub fn slot_bytes(module: &Module, function: OpId) -> Option<u64> {
    module.op(function).attrs.get(SLOT_BYTES)?.as_int().and_then(|n| u64::try_from(n).ok())
}

/// Sets how many bytes of ring slots each block of a launch needs in global memory.
pub fn set_slot_bytes(module: &mut Module, function: OpId, bytes: i64) {
    set_int(module, function, SLOT_BYTES, Some(bytes));
}

/// Bytes of the cross-core flags in global memory: 256 integers of 64 bits.
pub const FLAG_BYTES: u64 = 256 * 8;

/// True if the last parameter of a function is the address of the cross-core flags, after the one for ring slots.
pub fn has_flags(module: &Module, function: OpId) -> bool {
    module.op(function).attrs.get(FLAGS).and_then(|attr| attr.as_bool()).unwrap_or(false)
}

/// Declares that the last parameter of a function is the address of the cross-core flags.
pub fn set_flags(module: &mut Module, function: OpId) {
    module.op_mut(function).attrs.set(FLAGS, Attr::Bool(true));
}

/// Whether both Vector cores run a Vector function, if it specifies that.
pub fn both_lanes(module: &Module, function: OpId) -> Option<bool> {
    module.op(function).attrs.get(BOTH_LANES)?.as_bool()
}

/// Sets whether both Vector cores run a Vector function.
pub fn set_both_lanes(module: &mut Module, function: OpId, both: bool) {
    module.op_mut(function).attrs.set(BOTH_LANES, Attr::Bool(both));
}

/// True if a module is the recording of a launch: its constants, loops and branches are those of that launch.
pub fn is_recorded(module: &Module) -> bool {
    module.functions().any(|function| module.op(function).attrs.get(RECORDED).and_then(Attr::as_bool) == Some(true))
}

/// Marks a function as the recording of a launch.
pub fn set_recorded(module: &mut Module, function: OpId) {
    module.op_mut(function).attrs.set(RECORDED, Attr::Bool(true));
}

/// The platform that a file is written for, if it specifies one: by name, else by chip.
pub fn written_platform(module: &Module) -> Option<&str> {
    let said = |name: &str| module.with_part(Part::Module).find_map(|op| module.op(op).attrs.get(name)?.as_str());
    said(PLATFORM).or_else(|| said(CHIP))
}

/// Sets the platform that a module is for.
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
