//! The contents of local memory over time: the data of a memory map.

use std::collections::BTreeSet;

use slipring_ir::{Module, OpId, Span};
use slipring_machine::CoreKind;
use slipring_op::ring::reserved_name;
use slipring_op::{OpRef, core_of, is_entry, symbol_name};
use slipring_tile::Space;

use crate::analysis::facts::Functions;
use crate::analysis::roots::{Address, Roots, home};
use crate::context::PassContext;
use crate::memory::layout::{Memory, groups};
use crate::memory::lifetime::{Lives, follow};
use crate::memory::pack::Live;

/// The contents of one memory of a kernel's cores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryMap {
    /// The name of the functions that share the memory: the entry's, or that of the first one.
    pub kernel: String,
    /// The kind of core that has the memory.
    pub core: CoreKind,
    /// The memory.
    pub space: Space,
    /// Program steps at which a use begins or ends, in order, with their locations in the text.
    pub steps: Vec<Span>,
    /// Rings and tiles, by address.
    pub buffers: Vec<MapBuffer>,
}

/// A ring or a tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapBuffer {
    /// Its name in the text.
    pub name: String,
    /// Its declaration in the text.
    pub span: Span,
    /// Its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Slots of a ring, which is always in use; `None` for a tile.
    pub slots: Option<u32>,
    /// First and last step of each period in which it is in use.
    pub lives: Vec<[usize; 2]>,
}

/// Maps of all local memories that a module uses, in the order of its functions. The module must have been through the
/// passes: buffers without an address are omitted.
pub fn memory_maps(module: &Module, context: &PassContext<'_>) -> Vec<MemoryMap> {
    let functions = Functions::of(module);
    let roots = Roots::of(module, &functions);
    let lives = follow(module, &functions, &roots, context.platform);
    let rings = crate::analysis::rings::ring_ops(module, &functions);
    let mut maps = Vec::new();
    for group in groups(module, &functions) {
        for space in Space::NAMED {
            let Some(spec) = context.platform.space(space) else { continue };
            let mut memory = Memory::new(module, space, spec);
            memory.take_rings(context, &rings, &group);
            let map = map(&memory, &functions, &group, &roots, &lives);
            maps.extend((!map.buffers.is_empty()).then_some(map));
        }
    }
    maps
}

fn map(memory: &Memory<'_>, functions: &Functions, group: &[OpId], roots: &Roots, lives: &Lives) -> MemoryMap {
    let (module, space) = (memory.module, memory.space);
    let named = group.iter().find(|f| is_entry(module, **f)).or(group.first());
    let kernel = named.map_or(String::new(), |f| symbol_name(module, *f).to_string());
    let mut found: Vec<(MapBuffer, Vec<Live>)> = Vec::new();
    for (id, root) in roots.roots.iter().enumerate() {
        let (Some(op), Some(bytes), Address::At(address)) = (root.op, root.bytes, root.address) else { continue };
        let Some(own) = home(module, root.value).filter(|f| group.contains(f) && root.space == space) else { continue };
        let name = module.value_name(root.value);
        let tile = MapBuffer { name, span: module.op(op).span, address, bytes, slots: None, lives: Vec::new() };
        // A call represents the uses in its callee, which are shown there.
        let shown = |scope: u32| {
            let function = lives.scopes.get(scope as usize).copied();
            function.is_some_and(|f| f == own || !reaches(module, functions, f, own))
        };
        found.push((tile, lives.of[id].iter().filter(|l| shown(l.scope)).copied().collect()));
    }
    let marks: BTreeSet<(u32, u32)> =
        found.iter().flat_map(|(_, all)| all).flat_map(|l| [(l.scope, l.first), (l.scope, l.last)]).collect();
    let marks: Vec<(u32, u32)> = marks.into_iter().collect();
    let step = |scope: u32, number: u32| marks.binary_search(&(scope, number)).unwrap_or(0);
    let mut buffers: Vec<MapBuffer> = rings(memory);
    buffers.extend(found.into_iter().map(|(mut tile, all)| {
        tile.lives = all.iter().map(|l| [step(l.scope, l.first), step(l.scope, l.last)]).collect();
        tile
    }));
    buffers.sort_by_key(|b| (b.address, b.lives.first().copied(), b.span.start));
    let steps = marks.iter().map(|(scope, number)| lives.span(module, *scope, *number)).collect();
    MemoryMap { kernel, core: core_of(space), space, steps, buffers }
}

/// Rings with an address.
fn rings(memory: &Memory<'_>) -> Vec<MapBuffer> {
    let module = memory.module;
    let taken = memory.fixed.iter().filter(|f| f.ring).map(|f| (f.op, f.range.start, f.range.end - f.range.start));
    let mut rings: Vec<MapBuffer> = Vec::new();
    for (op, address, bytes) in taken {
        let depth = memory.depths.iter().find(|depth| depth.reservation == op);
        let name = OpRef::of(module, op).and_then(|op| reserved_name(&op)).unwrap_or("slots").to_string();
        let slots = depth.map_or(1, |depth| depth.slots);
        rings.push(MapBuffer { name, span: module.op(op).span, address, bytes, slots: Some(slots), lives: Vec::new() });
    }
    rings
}

/// True if a function calls another, directly or indirectly.
fn reaches(module: &Module, functions: &Functions, from: OpId, to: OpId) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(&function) = seen.get(at) {
        for (_, callee) in functions.calls(module, function) {
            if callee == to {
                return true;
            }
            if !seen.contains(&callee) {
                seen.push(callee);
            }
        }
        at += 1;
    }
    false
}
