//! Semaphore ids of the second Vector core, where each core has its own ids.

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Diags, Module, OpId};
use slipring_machine::{CoreKind, Platform};
use slipring_op::function::kernel_kind;
use slipring_op::{OpRef, SyncAct, home_kind};

/// The ops that signal, or that wait: the first of each id, and whether some id is unknown.
#[derive(Default)]
struct Ids {
    first: BTreeMap<i64, OpId>,
    open: bool,
}

impl Ids {
    fn add(&mut self, id: Option<i64>, op: OpId) {
        match id {
            Some(id) => drop(self.first.entry(id).or_insert(op)),
            None => self.open = true,
        }
    }

    fn has(&self, id: i64) -> bool {
        self.first.contains_key(&id)
    }
}

/// The use of ids by the two kinds of core, in one direction.
#[derive(Default)]
struct Way {
    cube: Ids,
    vector: Ids,
}

/// Reports ids with which the Cube core addresses the second Vector core as n + 15, following a sentence of seed 004,
/// instead of n + 16, if somebody then misses a signal: the intended id is used by the Vector cores and the written one
/// is not.
///
/// Nothing is reported if some id is not a constant.
pub fn check(module: &Module, platform: &Platform, diags: &mut Diags) {
    let offset = i64::from(platform.sync.subblock_offset);
    if offset == 0 {
        return;
    }
    // By the function that contains these sections, or all functions for one kind of core together; signals to the
    // Vector cores, then to the Cube core.
    let mut groups: BTreeMap<Option<OpId>, [Way; 2]> = BTreeMap::new();
    for id in module.walk(module.top) {
        let Some(op) = OpRef::of(module, id) else { continue };
        let (sends, number) = match op.sync() {
            Some(SyncAct::Send { id, .. }) => (true, id),
            Some(SyncAct::Receive { id, .. }) => (false, id),
            _ => continue,
        };
        let function = module.function_of(id).filter(|function| kernel_kind(module, *function).is_none());
        let Some(kind) = home_kind(&op) else { return };
        let way = &mut groups.entry(function).or_default()[usize::from(sends != (kind == CoreKind::Cube))];
        if kind == CoreKind::Cube { &mut way.cube } else { &mut way.vector }.add(number, id);
    }
    for (to_cube, way) in groups.values().flat_map(|ways| [false, true].into_iter().zip(ways)) {
        let Way { cube, vector } = way;
        if cube.open || vector.open {
            continue;
        }
        for id in cube.first.keys().copied().filter(|id| *id < offset && vector.has(*id)) {
            let written = id + offset - 1;
            let Some(op) = cube.first.get(&written).filter(|_| !cube.has(id + offset)) else { continue };
            let (lane, own) = if written < offset { (0, written) } else { (1, written - offset) };
            if vector.has(own) {
                continue;
            }
            let verb = if to_cube { "signals" } else { "waits for" };
            let message = format!(
                "id {written} of the Cube core is id {own} of AIV{lane}, which no Vector core {verb}; they use {id}"
            );
            let rule = format!(
                "on the Cube core of {} semaphore id n is AIV0's and n + {offset} AIV1's (not n + {}): write {}",
                platform.name,
                offset - 1,
                id + offset
            );
            let error = Diagnostic::error("semaphore-id", module.op(*op).span, message)
                .also(module.op(cube.first[&id]).span, format!("AIV0's id {id}"))
                .also(module.op(vector.first[&id]).span, format!("id {id} of a Vector core"));
            diags.push(error.help(rule));
        }
    }
}
