//! Printing for another tool: constructs that its version does not support are expressed in supported ones, or refused
//! with the reason.
//!
//! A [`Target`] is data kept alongside the declarations; the passes apply it and know no op by name. [`before`] runs
//! before the other passes, [`after`] after them.

mod launch;
mod memory;
mod names;
mod params;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{AttrDict, Diagnostic, Diags, Module, OpId, Part, Type, ValueId};
use slipring_machine::Platform;
use slipring_mlir::{arith, builtin, scf};
use slipring_op::function::{ask_slots, set_written_platform};
use slipring_op::ring::reserved::{import_peer, reserved_name};
use slipring_op::ring::{PipeSpec, consumer_buffer, set_slots_by};
use slipring_op::target::Scalars;
use slipring_op::target::Target;
use slipring_op::{OpRef, RingPart, symbol_name};
use slipring_program::Direction;

/// Scalars inserted before ops.
const SCALARS: Scalars = Scalars {
    constant: &arith::CONSTANT,
    index_cast: &arith::INDEX_CAST,
    index_cast_unsigned: &arith::INDEX_CASTUI,
    widen: &arith::EXTSI,
    widen_unsigned: &arith::EXTUI,
    narrow: &arith::TRUNCI,
    unsign: &arith::UNREALIZED,
    add: &arith::ADDI,
    multiply: &arith::MULI,
    subtract: &arith::SUBI,
    divide_unsigned: &arith::DIVUI,
    compare: &arith::CMPI,
    select: &arith::SELECT,
    negate: &arith::NEGF,
    subtract_floats: &arith::SUBF,
    branch: &scf::IF,
    branch_end: &scf::YIELD,
};

/// The platform with the ring configuration of programs for a target.
pub fn platform_for(target: &Target, platform: &Platform) -> Platform {
    let mut own = platform.clone();
    own.ring.fixed_depth = target.rings.slots.is_some();
    own.ring.landing = target.rings.landing;
    own.ring.by_library = true;
    if let Some([one, both]) = target.rings.slots {
        (own.ring.slots_one_way, own.ring.slots_both_ways) = (one, both);
    }
    own
}

/// Gives every ring of the text the depth that the target supports, and ops the working memory that it requires.
/// `platform` comes from [`platform_for`].
pub fn before(module: &mut Module, target: &Target, platform: &Platform, diags: &mut Diags) {
    memory::tiles(module, target, platform);
    if target.rings.slots.is_none() {
        return;
    }
    // A pipe that is a value, or becomes one, states its depth itself: the next supported one.
    let values = target.rings.values;
    let depth = |spec: &PipeSpec| values.iter().copied().find(|depth| *depth >= spec.slots).unwrap_or(spec.slots);
    for op in module.walk(module.top).into_iter().filter_map(|id| OpRef::of(module, id)) {
        let makes = op.def.ring.is_some_and(RingPart::makes_end);
        let Some(spec) = (if makes { PipeSpec::of(&op, platform) } else { None }) else { continue };
        // Otherwise the allocator makes space.
        if spec.in_gm && depth(&spec) != spec.slots {
            let (name, slots, bytes) = (target.name, depth(&spec), depth(&spec) * spec.slot_bytes);
            let message = format!("this ring of {} slots would be one of {slots} for `{name}`", spec.slots);
            let help = format!(
                "its slots in global memory are the caller's: give {bytes} bytes for each direction and say `slot_num = {slots}`"
            );
            diags.push(op.error("target-depth", message).help(help));
        }
    }
    set_slots_by(module, platform, depth);
    for function in module.functions().collect::<Vec<_>>() {
        ask_slots(module, function, None);
    }
}

/// Converts a lowered module into one that the target accepts. Anything it cannot express is an error at its location,
/// reported once.
pub fn after(module: &mut Module, target: &Target, platform: &Platform, diags: &mut Diags) {
    let mut said = Said { target, diags, messages: BTreeSet::new() };
    let Some((_, arch)) = target.platforms.iter().find(|(own, _)| *own == platform.name) else {
        let names: Vec<_> = target.platforms.iter().map(|(own, _)| *own).collect();
        let message = format!("`{}` has no platform `{}`: it has {}", target.name, platform.name, names.join(", "));
        return diags
            .push(Diagnostic { primary: None, ..Diagnostic::error("target-platform", Default::default(), message) });
    };
    launch::join_halves(module);
    if let Some(as_values) = target.rings.as_values {
        for (op, why) in as_values(&SCALARS, module, platform) {
            let message = format!("`{}` cannot be said to `{}`: {why}", module.op(op).name, target.name);
            said.refuse(module, op, "target-form", message);
        }
        unused_slots(module);
    }
    pipes_of_functions(module, &mut said);
    if target.rings.slots.is_some() {
        pairs_of_ends(module, platform, &mut said);
    }
    types::plain_pointers(module);
    params::pass_distances(module);
    for id in module.walk(module.top) {
        operation(module, id, platform, &mut said);
    }
    unused_and_fed(module, &mut said);
    let pointer = target.needs.iter().any(|need| need.pointer && (need.on)(platform));
    params::give_flags(module, &without(module, target, platform), pointer);
    if pointer {
        for (op, why) in params::flags_as_pointers(module) {
            let message = format!("`{}` cannot be said to `{}`: {why}", module.op(op).name, target.name);
            said.refuse(module, op, "target-form", message);
        }
    }
    names::rename_taken(module, target.name, said.diags);
    launch::mark_kernels(module);
    within_a_module(module);
    let modules: Vec<OpId> = module.with_part(Part::Module).collect();
    for id in modules {
        set_written_platform(module, id, arch);
    }
}

/// Wraps functions at the top level of a file in a module.
fn within_a_module(module: &mut Module) {
    let ops = module.block(module.top).ops.to_vec();
    if !ops.iter().any(|op| module.is_function(*op)) {
        return;
    }
    let made = builtin::MODULE.make(module, &[], AttrDict::default(), &[], module.op(ops[0]).span);
    let region = match module.op(made).regions.first() {
        Some(region) => *region,
        None => module.add_region(made),
    };
    let block = match module.region(region).blocks.first() {
        Some(block) => *block,
        None => module.add_block(region),
    };
    module.set_ops(module.top, vec![]);
    ops.into_iter().for_each(|op| module.append(block, op));
    module.append(module.top, made);
}

/// Errors, each message once.
struct Said<'a> {
    target: &'a Target,
    diags: &'a mut Diags,
    messages: BTreeSet<String>,
}

impl Said<'_> {
    fn refuse(&mut self, module: &Module, op: OpId, code: &'static str, message: String) {
        if self.messages.insert(message.clone()) {
            self.diags.push(Diagnostic::error(code, module.op(op).span, message));
        }
    }
}

/// Removes reservations and imports of slots that are no longer used.
fn unused_slots(module: &mut Module) {
    let all = module.walk(module.top);
    let used: BTreeSet<ValueId> = all.iter().flat_map(|id| module.op(*id).operands.iter().copied()).collect();
    for id in all {
        let slots =
            OpRef::of(module, id).and_then(|op| op.def.ring).is_some_and(|part| part.reserves() || part.imports());
        if slots && module.op(id).results.iter().all(|result| !used.contains(result)) {
            module.remove(id);
        }
    }
}

/// Checks that functions have no more pipes than the target supports.
fn pipes_of_functions(module: &Module, said: &mut Said<'_>) {
    for function in module.functions() {
        let Some(body) = module.body(function, 0) else { continue };
        // Pipes that are values are distinguished by themselves.
        type Counts = fn(RingPart, usize) -> bool;
        let counted: [(&str, Counts); 3] = [
            ("pipe", |part, results| part.makes_end() && results == 0),
            ("reservation of slots", |part, _| part.reserves()),
            ("import of slots", |part, _| part.imports()),
        ];
        for (what, is) in counted {
            let results = |id: OpId| module.op(id).results.len();
            let fits = |id: &OpId| {
                OpRef::of(module, *id).is_some_and(|op| op.def.ring.is_some_and(|part| is(part, results(*id))))
            };
            let made: Vec<OpId> = module.walk(body).into_iter().filter(fits).collect();
            if let Some(last) = made.get(said.target.rings.pipes) {
                let (name, most) = (said.target.name, said.target.rings.pipes);
                let message =
                    format!("`{name}` has at most {most} {what} in a function, and here there are {}", made.len());
                said.refuse(module, *last, "target-pipes", message);
            }
        }
    }
}

/// For an end of a pipe without a flag of its own: its slots come from a reservation, whose function and one that
/// imports it must both have an end; the ops that move tiles through it must be in its function.
fn pairs_of_ends(module: &Module, platform: &Platform, said: &mut Said<'_>) {
    let ring = |id: OpId| OpRef::of(module, id).and_then(|op| Some((op, op.def.ring?)));
    let is_end = |id: OpId| ring(id).is_some_and(|(op, part)| part.makes_end() && op.def.schema.results.is_empty());
    let mut taken: BTreeMap<(String, String), BTreeSet<OpId>> = BTreeMap::new();
    let mut ends = Vec::new();
    for function in module.functions() {
        let Some(body) = module.body(function, 0) else { continue };
        let ops = module.walk(body);
        let has_end = ops.iter().any(|id| is_end(*id));
        for id in ops {
            let Some((op, part)) = ring(id) else { continue };
            let moves = part.pushes().or(part.pops()).or(part.frees()).is_some();
            if moves && !has_end {
                let message = format!("`{}` needs the end of the pipe in the same function", said.target.name);
                said.refuse(module, id, "target-pipes", message);
            }
            let Some(spec) = PipeSpec::of(&op, platform).filter(|_| is_end(id)) else { continue };
            for direction in [Direction::C2V, Direction::V2C].into_iter().filter(|direction| spec.has(*direction)) {
                let buffer = consumer_buffer(&op, direction).and_then(|value| module.defining_op(value));
                let held = buffer.and_then(ring).filter(|(_, part)| part.reserves() || part.imports());
                let Some((held, part)) = held else {
                    let name = said.target.name;
                    let message =
                        format!("`{name}` wants the slots of a pipe from a reservation, or a flag of its own");
                    said.refuse(module, id, "target-pipes", message);
                    continue;
                };
                let own = || symbol_name(module, function).to_string();
                let owner = match part.imports() {
                    true => import_peer(module, held.id).map_or_else(String::new, str::to_string),
                    false => own(),
                };
                let key = (owner, reserved_name(&held).unwrap_or("").to_string());
                taken.entry(key.clone()).or_default().insert(function);
                ends.push((id, key));
            }
        }
    }
    for (id, key) in ends {
        if taken.get(&key).is_none_or(|functions| functions.len() < 2) {
            let message =
                format!("`{}` needs both ends of a pipe: only this one has the slots `{}`", said.target.name, key.1);
            said.refuse(module, id, "target-pipes", message);
        }
    }
}

/// The result of an op may be accepted by some ops only; if nothing uses it, the op is removed.
fn unused_and_fed(module: &mut Module, said: &mut Said<'_>) {
    let feeds = |name: &str| {
        let rules = said.target.rules_of(name).filter(|rule| !rule.feeds.is_empty());
        rules.map(|rule| rule.feeds).next()
    };
    let all = module.walk(module.top);
    let mut wrong = Vec::new();
    for id in all.iter().rev() {
        let Some(feeds) = feeds(&module.op(*id).name) else { continue };
        let results = module.op(*id).results.clone();
        let takes = |other: &&OpId| module.op(**other).operands.iter().any(|value| results.contains(value));
        let users: Vec<OpId> =
            all.iter().filter(takes).copied().filter(|user| module.position(*user).is_some()).collect();
        if users.is_empty() {
            module.remove(*id);
        } else if let Some(user) = users.iter().find(|user| !feeds.contains(&&*module.op(**user).name)) {
            wrong.push((*user, module.op(*id).name.clone()));
        }
    }
    for (user, name) in wrong {
        let message = format!("`{}` cannot give what `{name}` makes to `{}`", said.target.name, module.op(user).name);
        said.refuse(module, user, "target-use", message);
    }
}

/// Functions that lack something their ops need.
fn without(module: &Module, target: &Target, platform: &Platform) -> Vec<OpId> {
    let mut found = Vec::new();
    for need in target.needs.iter().filter(|need| (need.on)(platform)) {
        for function in module.functions() {
            let Some(body) = module.body(function, 0) else { continue };
            let ops = module.walk(body);
            let named = |names: &[&str]| ops.iter().any(|id| names.contains(&&*module.op(*id).name));
            if named(need.ops) && !named(&[need.flags]) {
                found.push(function);
            }
        }
    }
    found
}

fn operation(module: &mut Module, id: OpId, platform: &Platform, said: &mut Said<'_>) {
    let (target, name) = (said.target, module.op(id).name.clone());
    if let Some((_, why)) = target.lacks.iter().find(|(op, _)| *op == &*name) {
        return said.refuse(module, id, "target-op", format!("`{}` cannot translate `{name}`: {why}", target.name));
    }
    for attr in target.drops {
        module.op_mut(id).attrs.remove(attr);
    }
    for rule in target.rules_of(&name) {
        for operand in rule.index {
            as_index(module, id, operand);
        }
        if let Some(fix) = rule.fix
            && let Err(why) = fix(&SCALARS, module, id, platform)
        {
            return said.refuse(
                module,
                id,
                "target-form",
                format!("`{name}` cannot be said to `{}`: {why}", target.name),
            );
        }
    }
    if module.position(id).is_none() {
        return;
    }
    attributes(module, id, &name, said);
    for rule in target.types.iter().filter(|rule| rule.ops.contains(&&*name)) {
        let elem = OpRef::of(module, id).and_then(|op| op.module.ty(op.if_declared(rule.types.operand)?).elem());
        let takes = rule.types.on(platform);
        if let Some(elem) = elem.filter(|elem| !takes.contains(elem)) {
            let (of, on, operand) = (target.name, &platform.name, rule.types.operand);
            let takes: Vec<&str> = takes.iter().map(|elem| elem.name()).collect();
            let message = match takes[..] {
                [] => format!("`{of}` has no `{name}` on {on}"),
                _ => format!("`{of}` takes `{name}` of {} on {on}, and here `{operand}` has {elem}", takes.join(", ")),
            };
            said.refuse(module, id, "target-type", message);
        }
    }
    let regions = module.op(id).regions.iter().flat_map(|region| &module.region(*region).blocks);
    let inside: Vec<_> = regions.flat_map(|block| module.block(*block).args.clone()).collect();
    for value in module.op(id).results.clone().into_iter().chain(inside) {
        if let Some(what) = types::unknown(module.ty(value), target) {
            said.refuse(module, id, "target-type", format!("`{}` has no {what}", target.name));
        }
    }
}

/// Keeps the attributes of an op that the target supports, in its order; any other is an error.
fn attributes(module: &mut Module, id: OpId, name: &str, said: &mut Said<'_>) {
    let Some((dialect, _)) = said.target.ops.names().next().and_then(|first| first.split_once('.')) else { return };
    if name.split_once('.').is_none_or(|(own, _)| own != dialect) {
        return;
    }
    let target = said.target;
    let Some(has) = target.ops.words(name) else {
        return said.refuse(module, id, "target-op", format!("`{}` has no `{name}`", target.name));
    };
    let attrs = module.op(id).attrs.clone();
    if let Some((other, value)) = attrs.iter().find(|(other, _)| !has.contains(other)) {
        let message = format!("`{name}` of `{}` has no attribute `{other}`, and here it says {value}", target.name);
        return said.refuse(module, id, "target-attribute", message);
    }
    let ordered: AttrDict = has.iter().filter_map(|name| Some((*name, attrs.get(name)?.clone()))).collect();
    module.op_mut(id).attrs = ordered;
}

/// Converts an operand of an op to `index`, if it is another integer.
fn as_index(module: &mut Module, id: OpId, operand: &str) {
    let value = OpRef::of(module, id).and_then(|op| op.operand(operand));
    let Some(value) = value.filter(|value| *module.ty(*value) != Type::Index) else { return };
    let span = module.op(id).span;
    let mut index = value;
    // Through 64 bits: an index has 32 bits where this is translated, and a cast of a type to itself is dropped there.
    for (def, ty) in [(&arith::EXTSI, Type::I64), (&arith::INDEX_CAST, Type::Index)] {
        if *module.ty(value) == Type::I64 && ty == Type::I64 {
            continue;
        }
        let cast = def.make(module, &[("in", &[index])], AttrDict::default(), &[ty], span);
        module.insert_before(id, cast);
        index = module.op(cast).results[0];
    }
    let own: Vec<ValueId> = module.op(id).operands.to_vec();
    let at = OpRef::of(module, id).and_then(|op| op.def.schema.operands.iter().position(|o| o.name == operand));
    let at = at.map_or(0, |at| module.op(id).segments.iter().take(at).map(|n| usize::from(*n)).sum());
    debug_assert_eq!(own[at], value);
    module.op_mut(id).operands[at] = index;
}
