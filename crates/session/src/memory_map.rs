//! Which buffers lie where in local memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slipring_ir::{Module, Span};
use slipring_machine::{CoreKind, Platform};
use slipring_passes::PassContext;
use slipring_passes::memory::allocate;
use slipring_report::{BufferPlace, MemoryFacts};
use slipring_tile::Space;

use crate::compiled::Compiled;

/// The contents of each local memory that a module uses, with the lines of its source. The module must have been
/// through the passes.
pub fn memory_map(module: &Module, platform: &Platform) -> Vec<MemoryFacts> {
    let line = |span: Span| module.source.line(span.start);
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
    allocate::memory_maps(module, &PassContext::of(platform)).into_iter().filter_map(each).collect()
}

/// The use of a local memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemoryUse {
    /// `vec`, `mat`, `left`, `right`, `acc`, …
    pub space: String,
    /// Participating cores of a cluster that have one.
    pub cores: u32,
    /// Bytes in use at some time, on one core.
    pub bytes: u64,
    /// Its size in bytes.
    pub capacity: u64,
}

impl MemoryUse {
    /// Bytes in use on all participating cores of a cluster.
    pub fn of_cluster(&self) -> u64 {
        u64::from(self.cores) * self.bytes
    }
}

/// The use of the local memories of a cluster; for several kernels, the maximum for each memory.
pub fn memory_uses<'a>(kernels: impl IntoIterator<Item = &'a Compiled>) -> Vec<MemoryUse> {
    let mut uses: BTreeMap<Space, MemoryUse> = BTreeMap::new();
    for compiled in kernels {
        let platform = &compiled.platform;
        for map in allocate::memory_maps(&compiled.prepared.module, &PassContext::of(platform)) {
            let mut ranges: Vec<(u64, u64)> =
                map.buffers.iter().map(|own| (own.address, own.address.saturating_add(own.bytes))).collect();
            ranges.sort_unstable();
            let (mut bytes, mut end) = (0, 0);
            for (first, last) in ranges {
                bytes += last.saturating_sub(first.max(end));
                end = end.max(last);
            }
            let cores = &compiled.prepared.decoded.program.cores;
            let cores = cores.iter().filter(|core| core.role.kind() == map.core).count() as u32;
            let capacity = platform.space(map.space).map_or(0, |spec| spec.bytes);
            let own = MemoryUse { space: map.space.name().into(), cores, bytes, capacity };
            let known = uses.entry(map.space).or_insert_with(|| own.clone());
            known.bytes = known.bytes.max(own.bytes);
            known.cores = known.cores.max(own.cores);
        }
    }
    uses.into_values().collect()
}
