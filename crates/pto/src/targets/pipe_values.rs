//! Pipes as values: conversion of a typed pipe in the text to the assembler's own kinds.

use std::collections::BTreeSet;

use slipring_ir::{Attr, AttrDict, Module, OpId, Span, Type, ValueId};
use slipring_machine::{Pipe, Platform};
use slipring_op::def::{HandlePart, OpRef, RingPart};
use slipring_op::make::is_placed;
use slipring_op::ring::{PipeSpec, consumer_buffer, gm_buffer};
use slipring_op::target::Scalars;
use slipring_program::Direction;
use slipring_tile::Space;

use super::fixes::{Fixed, op, replace};
use crate::pipe_handle::{INITIALIZE_L2G2L, INITIALIZE_L2L, TFREE};

/// Possible depths of a pipe value.
pub(super) const DEPTHS: [u32; 2] = [4, 8];

/// Rejects features beyond tiles that are signalled one by one.
pub(super) fn plain(spec: &PipeSpec) -> Fixed {
    let config = &spec.config;
    if config.control {
        return Err("it carries a signal and no tiles".into());
    }
    if config.epilogue.is_some() {
        return Err("the fixpipe does nothing to the tiles of its pipes".into());
    }
    let default = spec.slots / spec.period.max(1);
    let counts = config.counted && spec.period == 1 && spec.credits == default;
    if !counts || config.lane.is_some() || config.lanes == Some(1) {
        return Err("such pipes count tiles one by one, for both Vector cores".into());
    }
    Ok(())
}

/// An end of a pipe as a value that is not in a block yet: with its first flag, the slots in global memory, and the
/// landing addresses at the consumers.
pub(super) fn pipe_value(
    module: &mut Module,
    spec: &PipeSpec,
    flag: i64,
    gm: Option<ValueId>,
    local: &[ValueId],
    span: Span,
) -> Result<OpId, String> {
    let directions = spec.config.directions;
    let mask = i64::from(directions[0]) | i64::from(directions[1]) << 1;
    let mut attrs = AttrDict::from([
        ("dir_mask", Attr::int(mask)),
        ("slot_size", Attr::int(spec.slot_bytes.into())),
        ("slot_num", Attr::int(spec.slots.into())),
    ]);
    if spec.in_gm {
        attrs.set("local_slot_num", Attr::int(spec.local_slots().into()));
    }
    attrs.set("flag_base", Attr::int(flag));
    let ty = Type::Named("pto.pipe".into());
    let (first, peer) = (&local[..1], &local[1..]);
    match (spec.in_gm, gm) {
        (false, _) => Ok(INITIALIZE_L2L.make(module, &[("local", first), ("peer", peer)], attrs, &[ty], span)),
        (true, Some(gm)) => {
            Ok(INITIALIZE_L2G2L.make(module, &[("gm", &[gm]), ("local", first), ("peer", peer)], attrs, &[ty], span))
        }
        (true, None) => Err("nothing says where its slots in global memory are".into()),
    }
}

/// Converts a typed pipe to `initialize_l2l_pipe` or `initialize_l2g2l_pipe`.
pub(super) fn plain_pipe_value(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    value_of_typed(module, id, platform, Some(DEPTHS))
}

/// Like [`plain_pipe_value`], for versions in which a pipe may have any number of slots.
pub(super) fn pipe_value_of_any_depth(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    value_of_typed(module, id, platform, None)
}

fn value_of_typed(module: &mut Module, id: OpId, platform: &Platform, depths: Option<[u32; 2]>) -> Fixed {
    let this = op(module, id)?;
    let spec = PipeSpec::of(&this, platform).ok_or("the pipe's parameters make no sense")?;
    plain(&spec)?;
    let config = &spec.config;
    if depths.is_some_and(|depths| !depths.contains(&spec.slots)) {
        return Err(format!("such pipes have 4 or 8 slots, not {}", spec.slots));
    }
    let flag = config.flag.ok_or("it has no flag")?;
    let buffers = [Direction::C2V, Direction::V2C].map(|d| consumer_buffer(&this, d).filter(|_| spec.has(d)));
    let needed = config.directions.iter().filter(|has| **has).count();
    let local: Vec<ValueId> = buffers.into_iter().flatten().collect();
    if local.len() != needed {
        return Err("nothing says where its tiles lie at the consumer".into());
    }
    let gm = gm_buffer(&this).filter(|_| spec.in_gm);
    let split = config.split().map_or(0, |split| split.number());
    let (frees, itself) = (config.auto_free && spec.pop_copies(), config.auto_free);
    let made = pipe_value(module, &spec, flag, gm, &local, module.op(id).span)?;
    module.insert_before(id, made);
    let pipe = module.op(made).results[0];
    replace(module, id, made);
    users(module, pipe, platform, Moves { split, frees, itself })
}

/// The rewriting of pushes, pops and frees of a pipe.
pub(super) struct Moves {
    /// The split for ops without one.
    pub split: i64,
    /// True if frees must be added for pops that copy their tile.
    pub frees: bool,
    /// True if frees in the text have no effect.
    pub itself: bool,
}

/// Writes the split of ops on a pipe, adds frees after pops that freed automatically, and adds the barriers that frees
/// need.
pub(super) fn users(module: &mut Module, pipe: ValueId, platform: &Platform, moves: Moves) -> Fixed {
    let all = module.walk(module.top);
    let mut popped: BTreeSet<ValueId> = BTreeSet::new();
    for user in &all {
        let user = *user;
        if !module.op(user).operands.contains(&pipe) {
            continue;
        }
        if !module.op(user).results.is_empty() {
            return Err("its pushes and pops give events".into());
        }
        let Some(RingPart::Handle(part)) = op(module, user)?.def.ring else { continue };
        if part == HandlePart::Free && moves.itself && !is_placed(module, user) {
            module.remove(user);
            continue;
        }
        if module.op(user).attrs.get("split").is_none() {
            module.op_mut(user).attrs.set("split", Attr::int(moves.split));
        }
        let own = module.op(user).attrs.get("split").cloned().unwrap_or(Attr::int(moves.split));
        if part == HandlePart::Pop {
            popped.extend(op(module, user)?.if_declared("tile"));
        }
        if moves.frees && part == HandlePart::Pop {
            let span = module.op(user).span;
            let free = TFREE.make(module, &[("pipe", &[pipe])], [("split", own)], &[], span);
            module.insert_after(user, free);
        }
    }
    // The library of 0.27 frees a slot in UB from pipe V, while the engine does so from MTE2: uses of the tile on other
    // pipes must end before both.
    let elsewhere = |id: &OpId| {
        let Some(op) = OpRef::of(module, *id).filter(|op| op.def.ring.is_none()) else { return false };
        module.op(*id).operands.iter().any(|value| popped.contains(value)) && op.pipe(platform) != Some(Pipe::V)
    };
    let in_ub = |value: &ValueId| module.ty(*value).as_tile().is_some_and(|tile| tile.space == Space::Vec);
    if platform.ring.in_gm || !popped.iter().any(in_ub) || !all.iter().any(elsewhere) {
        return Ok(());
    }
    for user in all {
        let free = OpRef::of(module, user).and_then(|op| op.def.ring) == Some(RingPart::Handle(HandlePart::Free));
        if free && module.op(user).operands.contains(&pipe) {
            let barrier = crate::barrier(module, None, module.op(user).span);
            module.insert_before(user, barrier);
        }
    }
    Ok(())
}

/// Writes the split in any case.
pub(super) fn split_is_written(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    if !module.op(id).results.is_empty() {
        return Err("it gives an event".into());
    }
    if module.op(id).attrs.get("split").is_none() {
        module.op_mut(id).attrs.set("split", Attr::int(0));
    }
    Ok(())
}
