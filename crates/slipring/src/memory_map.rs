//! Which buffers lie where in local memory.

use slipring_ir::{Module, Span};
use slipring_machine::{CoreKind, Platform};
use slipring_passes::PassContext;
use slipring_passes::memory::allocate;
use slipring_report::{BufferPlace, MemoryFacts};

/// What lies in each local memory that a module uses, with the lines of its source. For a module that has been through the
/// passes.
pub fn memory_map(module: &Module, platform: &Platform) -> Vec<MemoryFacts> {
    let line = |span: Span| module.source.line_column(span.start).0 as u32;
    let each = |map: allocate::MemoryMap| {
        let spec = platform.space(map.space)?;
        let cores = match map.core {
            CoreKind::Cube => "Cube core",
            CoreKind::Vector => "each Vector core",
        };
        let buffer = |b: allocate::MapBuffer| BufferPlace {
            name: b.name,
            line: line(b.span),
            address: b.address,
            bytes: b.bytes,
            slots: b.slots,
            lives: b.lives,
        };
        Some(MemoryFacts {
            title: format!("{} on {}: {cores}, {}", map.kernel, platform.name, map.space),
            capacity: spec.bytes,
            reserved: spec.reserved,
            lines: map.steps.into_iter().map(line).collect(),
            buffers: map.buffers.into_iter().map(buffer).collect(),
        })
    };
    allocate::memory_maps(module, &PassContext { platform }).into_iter().filter_map(each).collect()
}
