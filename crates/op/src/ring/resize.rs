//! Changing the depth of a kernel's pipes, for sweeps over depths.

use std::sync::Arc;

use super::spec::{PipeSpec, consumer_buffer, reservation_of};
use super::words;
use slipring_ir::{Attr, Module, OpId, PipeParam, PipeType, Type};
use slipring_machine::Platform;
use slipring_program::Direction;

use crate::def::{OpDef, OpRef, RingPart};
use crate::facts::MixedPart;
use crate::ring::words::SIZE;

/// Sets the depth of every pipe of a module: in its type or its `slot_num`, and in the reservations of its slots. A
/// landing area and a period are capped to the depth of the ring. Functions of the whole cluster get it for the pipes
/// that replace their cross-core copies.
pub fn set_slots(module: &mut Module, slots: u32, platform: &Platform) {
    let functions: Vec<OpId> = module.functions().collect();
    for function in functions {
        let crosses = |id: OpId| {
            let def = OpDef::of(module, id);
            matches!(def.and_then(|def| def.mixed), Some(MixedPart::Shard | MixedPart::Gather | MixedPart::Cross))
        };
        let crossings = module.body(function, 0).is_some_and(|body| module.walk(body).into_iter().any(crosses));
        if crossings {
            crate::function::ask_slots(module, function, Some(slots.into()));
        }
    }
    set_slots_by(module, platform, |_| slots);
}

/// Sets the depth of every pipe in the text to the result of `slots` for it, and the bytes of its reservations
/// accordingly.
pub fn set_slots_by(module: &mut Module, platform: &Platform, mut slots: impl FnMut(&PipeSpec) -> u32) {
    let top = module.walk(module.top);
    for id in top {
        let Some(def) = OpDef::of(module, id) else { continue };
        if def.ring.is_some_and(RingPart::makes_end) {
            let Some(spec) = PipeSpec::of(&OpRef { module, id, def }, platform) else { continue };
            resize(module, id, slots(&spec));
            let op = OpRef { module, id, def };
            let Some(spec) = PipeSpec::of(&op, platform) else { continue };
            let buffers = [Direction::C2V, Direction::V2C].map(|d| consumer_buffer(&op, d).filter(|_| spec.has(d)));
            let held: Vec<OpId> = buffers.into_iter().flatten().filter_map(|v| reservation_of(module, v)).collect();
            for reservation in held {
                module.op_mut(reservation).attrs.set(SIZE, Attr::int(spec.local_bytes() as i64));
            }
        }
    }
}

fn resize(module: &mut Module, id: OpId, slots: u32) {
    let slots = i64::from(slots);
    let result = module.op(id).results.first().copied();
    let typed = result.and_then(|v| match module.ty(v) {
        Type::Pipe(pipe) => Some((v, pipe.clone())),
        _ => None,
    });
    let attrs = &mut module.op_mut(id).attrs;
    for name in [words::LOCAL_SLOTS, words::PERIOD] {
        if let Some(n) = attrs.get(name).and_then(Attr::as_int) {
            attrs.set(name, Attr::int(n.min(slots)));
        }
    }
    let Some((value, pipe)) = typed else {
        return attrs.set(words::SLOTS, Attr::int(slots));
    };
    // Positions of the depth, the period and the local depth in the parameters: see `Config`.
    let (depth, capped): (usize, &[usize]) = if pipe.multi { (2, &[3, 7]) } else { (3, &[4]) };
    let mut params = pipe.params.clone();
    for (at, param) in params.iter_mut().enumerate() {
        match param {
            PipeParam::Int(n) if at == depth => *n = slots,
            PipeParam::Int(n) if capped.contains(&at) => *n = (*n).min(slots),
            _ => {}
        }
    }
    module.value_mut(value).ty = Type::Pipe(Arc::new(PipeType { multi: pipe.multi, params }));
}
