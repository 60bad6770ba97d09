//! Ends of pipes that the assembler's front end cannot express: other depths, several in a function. It converts its
//! own ends to pipe values; here the same conversion is done before it parses them.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Attr, AttrDict, Module, OpId, Type, ValueId};
use slipring_machine::Platform;
use slipring_op::def::{HandlePart, OpRef, RingPart};
use slipring_op::ring::reserved::reserved_base;
use slipring_op::ring::{PipeSpec, consumer_buffer, gm_buffer, words};
use slipring_op::target::Scalars;
use slipring_program::Direction;

use super::fixes::{constant_before, op, replace};
use super::pipe_values::{DEPTHS, Moves, pipe_value, plain, users};
use crate::{DECLARE_TILE, SET_VALIDSHAPE, handle_of, pipe_number};

/// The number of flags that a pipe with both directions takes, and the number that exist.
const FLAGS: [i64; 2] = [4, 16];

/// Converts ends of pipes that cannot be expressed otherwise to pipe values. Returns the ends that cannot be expressed
/// at all, with the reason.
pub(super) fn ends_as_values(scalars: &Scalars, module: &mut Module, platform: &Platform) -> Vec<(OpId, String)> {
    let mut ends: Vec<(OpId, OpId, i64)> = Vec::new();
    for function in module.functions().collect::<Vec<_>>() {
        let Some(body) = module.body(function, 0) else { continue };
        for id in module.walk(body) {
            let Some(end) = OpRef::of(module, id) else { continue };
            if end.def.ring.is_some_and(RingPart::makes_end) && end.def.schema.results.is_empty() {
                ends.push((function, id, pipe_number(&end).unwrap_or(0)));
            }
        }
    }
    let mut of_function: BTreeMap<OpId, usize> = BTreeMap::new();
    ends.iter().for_each(|(function, ..)| *of_function.entry(*function).or_default() += 1);
    let several = of_function.values().any(|count| *count > 1);
    let other = |id: OpId| {
        let spec = OpRef::of(module, id).and_then(|end| PipeSpec::of(&end, platform));
        spec.is_some_and(|spec| !spec.has_depth_of(platform))
    };
    let chosen: BTreeSet<i64> =
        ends.iter().filter(|(_, id, _)| several || other(*id)).map(|(.., number)| *number).collect();
    let mut wrong = Vec::new();
    for (function, id, number) in ends.into_iter().filter(|(.., number)| chosen.contains(number)) {
        if let Err(why) = end_as_value(scalars, module, platform, (function, id, number)) {
            wrong.push((id, why));
        }
    }
    wrong
}

fn end_as_value(
    scalars: &Scalars,
    module: &mut Module,
    platform: &Platform,
    (function, id, number): (OpId, OpId, i64),
) -> Result<(), String> {
    let this = op(module, id)?;
    let spec = PipeSpec::of(&this, platform).ok_or("the pipe's parameters make no sense")?;
    plain(&spec)?;
    if !DEPTHS.contains(&spec.slots) {
        return Err(format!("its pipes have 4 or 8 slots, not {}", spec.slots));
    }
    let [each, all] = FLAGS;
    let flag = number * each;
    if flag + each > all {
        return Err(format!("it has flags for {} pipes", all / each));
    }
    let mut buffers = Vec::new();
    for direction in [Direction::C2V, Direction::V2C].into_iter().filter(|direction| spec.has(*direction)) {
        let buffer = consumer_buffer(&this, direction).ok_or("nothing says where its tiles lie at the consumer")?;
        let held = module.defining_op(buffer).and_then(|made| OpRef::of(module, made));
        let held = held.filter(|op| op.def.ring.is_some_and(|part| part.reserves() || part.imports()));
        buffers.push((buffer, held.map(|op| reserved_base(&op).ok_or("the reservation has no address")).transpose()?));
    }
    let gm = gm_buffer(&this).filter(|_| spec.in_gm);
    let undivided = this.attr(words::UNDIVIDED).cloned();
    let mut local = Vec::new();
    for (buffer, base) in buffers {
        local.push(match base {
            Some(base) => constant_before(scalars, module, id, base as i64, Type::I32)?,
            None => buffer,
        });
    }
    let made = pipe_value(module, &spec, flag, gm, &local, module.op(id).span)?;
    if let Some(undivided) = undivided {
        module.op_mut(made).attrs.set(words::UNDIVIDED, undivided);
    }
    module.insert_before(id, made);
    let frees = spec.config.auto_free && spec.pop_copies();
    let pipe = module.op(made).results[0];
    let body = module.body(function, 0).ok_or("it is outside every function")?;
    for user in module.walk(body) {
        moved_by_value(module, user, (number, pipe))?;
    }
    module.remove(id);
    users(module, pipe, platform, Moves { split: 0, frees, itself: false })
}

/// Converts an op that refers to a pipe by number to the op on the pipe value.
fn moved_by_value(module: &mut Module, user: OpId, (number, pipe): (i64, ValueId)) -> Result<(), String> {
    let this = op(module, user)?;
    let part = match this.def.ring {
        Some(RingPart::Push(_)) => HandlePart::Push,
        Some(RingPart::Pop(_)) => HandlePart::Pop,
        Some(RingPart::Free(_)) => HandlePart::Free,
        Some(RingPart::Status(..)) => return Err("phases of its pushes and pops are turned off".into()),
        _ => return Ok(()),
    };
    if pipe_number(&this).unwrap_or(0) != number {
        return Ok(());
    }
    let split = this.attr(words::SPLIT).cloned().unwrap_or(Attr::int(0));
    let span = this.span();
    let pushed = this.if_declared("tile").filter(|_| part == HandlePart::Push);
    let valid = [this.if_declared("valid_row"), this.if_declared("valid_col")];
    let popped = module.op(user).results.first().copied();
    let tile = match popped {
        Some(old) => {
            let ty = module.ty(old).clone();
            let declared = DECLARE_TILE.make(module, &[], AttrDict::default(), &[ty], span);
            module.insert_before(user, declared);
            let tile = module.op(declared).results[0];
            if let [Some(row), Some(col)] = valid {
                let operands: &[(&str, &[ValueId])] =
                    &[("source", &[tile]), ("valid_row", &[row]), ("valid_col", &[col])];
                let shaped = SET_VALIDSHAPE.make(module, operands, AttrDict::default(), &[], span);
                module.insert_before(user, shaped);
            }
            Some((declared, tile))
        }
        None => None,
    };
    let moved = pushed.or(tile.map(|(_, tile)| tile));
    let mut operands: Vec<(&str, &[ValueId])> = vec![("pipe", std::slice::from_ref(&pipe))];
    if let Some(tile) = &moved {
        operands.push(("tile", std::slice::from_ref(tile)));
    }
    let made = handle_of(part).make(module, &operands, [(words::SPLIT, split)], &[], span);
    module.insert_before(user, made);
    match tile {
        Some((declared, _)) => replace(module, user, declared),
        None => module.remove(user),
    }
    Ok(())
}
