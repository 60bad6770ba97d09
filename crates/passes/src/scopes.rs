//! `infer-vecscopes`: vector functions around vector instructions that are outside one.
//!
//! Instructions on vector registers are part of a program of pipe V, which `pto.vecscope` marks. If a text omits it,
//! adjacent ops become one vector function: vector instructions, loops and branches that contain nothing else, and the
//! scalar code between them. An operation of another pipe, a flag, a barrier or a call ends it. Scalar code that does
//! not depend on the function is moved in front of it. A predicate or register that is computed from numbers alone and
//! used in several functions is computed in each; using any other register in a second function is an error.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{AttrDict, BlockId, Diagnostic, Diags, Module, OpId, Part, Touch, Type, ValueId, ValueMap};
use slipring_machine::CoreKind;
use slipring_micro::{STRICT_VECSCOPE, VECSCOPE};
use slipring_op::{CoreRule, OpDef, OpRef, affinity, names};

use crate::context::{Pass, PassContext};

/// The pass.
pub const PASS: Pass = Pass {
    name: "infer-vecscopes",
    summary: "Put vector instructions into vector functions where none are written",
    run,
};

/// The role of an op in an inferred vector function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// Belongs in a vector function.
    Vector,
    /// Scalar code that may be in one.
    Scalar,
    /// Ends the vector function before it.
    Other,
}

fn run(module: &mut Module, _: &PassContext<'_>, diags: &mut Diags) {
    // Most texts have none; whether loops and branches are vector code follows from what is in them.
    if !module.walk(module.top).iter().any(|op| is_instruction(module, *op)) {
        return;
    }
    let (inside, mut scopes) = (called_from_inside(module), Vec::new());
    for function in module.functions().collect::<Vec<_>>() {
        // A function that takes registers is part of the vector function that calls it.
        let takes = module
            .body(function, 0)
            .is_some_and(|body| module.block(body).args.iter().any(|arg| is_vector(module.ty(*arg))));
        if !takes && !inside.contains(&function) {
            regions(module, function, &mut scopes);
        }
    }
    if !scopes.is_empty() {
        escapes(module, &scopes, diags);
    }
}

/// Functions that vector functions call, directly or indirectly.
fn called_from_inside(module: &Module) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    let mut left: Vec<OpId> = module.walk(module.top).into_iter().filter(|op| is_scope(module, *op)).collect();
    while let Some(op) = left.pop() {
        let bodies = module.op(op).regions.iter().flat_map(|region| module.region(*region).blocks.clone());
        for inner in bodies.flat_map(|body| module.walk(body)).collect::<Vec<_>>() {
            if let Some(callee) = module.callee(inner)
                && found.insert(callee)
            {
                left.push(callee);
            }
        }
    }
    found
}

/// Whether an op is a vector function of the text.
fn is_scope(module: &Module, op: OpId) -> bool {
    let op = module.op(op);
    op.attrs.get(names::VECTOR_LOOP).is_some() || op.is(&VECSCOPE.schema) || op.is(&STRICT_VECSCOPE.schema)
}

fn is_vector(ty: &Type) -> bool {
    matches!(ty, Type::VReg(..) | Type::Mask(_) | Type::Align | Type::LogicalVector(_) | Type::LogicalMask(_))
}

/// Whether an op without a body is a vector instruction, such as a choice between registers, or a call that passes some.
fn is_instruction(module: &Module, op: OpId) -> bool {
    let data = module.op(op);
    let among = |values: &[ValueId]| values.iter().any(|value| is_vector(module.ty(*value)));
    let calls = |def: &OpDef| def.schema.part == Part::Call && (among(&data.operands) || among(&data.results));
    OpDef::of(module, op).is_some_and(|def| {
        let own = def.in_vector_function && OpRef::of(module, op).and_then(|op| affinity(&op)) != Some(CoreKind::Cube);
        own || calls(def) || data.regions.is_empty() && only_computes(def) && among(&data.results)
    })
}

/// Whether an op does nothing but compute, on every core.
fn only_computes(def: &OpDef) -> bool {
    def.only_computes() && def.core == CoreRule::Any && def.mixed.is_none()
}

fn class(module: &Module, op: OpId) -> Class {
    let Some(def) = OpDef::of(module, op) else { return Class::Other };
    if is_instruction(module, op) {
        return Class::Vector;
    }
    if is_scope(module, op) || !only_computes(def) {
        return Class::Other;
    }
    let data = module.op(op);
    if data.regions.is_empty() {
        return if data.results.is_empty() { Class::Other } else { Class::Scalar };
    }
    let bodies = data.regions.iter().flat_map(|region| &module.region(*region).blocks);
    let mut found = Class::Scalar;
    for inner in bodies.flat_map(|body| &module.block(*body).ops) {
        match class(module, *inner) {
            Class::Vector => found = Class::Vector,
            Class::Scalar => {}
            Class::Other if OpDef::of(module, *inner).is_some_and(|def| def.schema.terminator) => {}
            Class::Other => return Class::Other,
        }
    }
    found
}

/// Makes the vector functions in the bodies of an op that is outside every vector function.
fn regions(module: &mut Module, op: OpId, scopes: &mut Vec<OpId>) {
    for region in module.op(op).regions.clone() {
        for block in module.region(region).blocks.clone() {
            in_block(module, block, scopes);
        }
    }
}

fn in_block(module: &mut Module, block: BlockId, scopes: &mut Vec<OpId>) {
    let ops = module.block(block).ops.clone();
    let (mut runs, mut run) = (Vec::new(), Vec::new());
    for op in ops {
        match class(module, op) {
            Class::Vector => run.push(op),
            // It stays in front of the next function.
            Class::Scalar if run.is_empty() => {}
            Class::Scalar => run.push(op),
            Class::Other => {
                if !is_scope(module, op) && !module.is_function(op) {
                    regions(module, op, scopes);
                }
                runs.push(std::mem::take(&mut run));
            }
        }
    }
    runs.push(run);
    for mut run in runs {
        while run.last().is_some_and(|op| class(module, *op) == Class::Scalar) {
            run.pop();
        }
        if !run.is_empty() {
            scopes.push(wrap(module, block, &run));
        }
    }
}

/// The ops of a list, with all ops inside them.
fn within(module: &Module, ops: &[OpId]) -> BTreeSet<OpId> {
    let mut found: BTreeSet<OpId> = ops.iter().copied().collect();
    for op in ops {
        let bodies = module.op(*op).regions.iter().flat_map(|region| &module.region(*region).blocks);
        found.extend(bodies.flat_map(|body| module.walk(*body)));
    }
    found
}

/// Makes a vector function of adjacent ops, of which the first and the last are vector code.
fn wrap(module: &mut Module, block: BlockId, run: &[OpId]) -> OpId {
    let mut moved = Vec::new();
    let mut made: BTreeSet<ValueId> = BTreeSet::new();
    for &op in run {
        let needs = within(module, &[op]).iter().any(|op| module.op(*op).operands.iter().any(|v| made.contains(v)));
        if needs || class(module, op) == Class::Vector {
            made.extend(&module.op(op).results);
            moved.push(op);
        }
    }
    let span = module.op(run[0]).span;
    let scope = VECSCOPE.make(module, &[], AttrDict::default(), &[], span);
    let region = module.add_region(scope);
    let body = module.add_block(region);
    // Scalar code that does not depend on the function comes before it.
    let own: BTreeSet<OpId> = moved.iter().copied().collect();
    let mut ops = module.block(block).ops.clone();
    let last = ops.iter().rposition(|op| own.contains(op)).unwrap_or(0);
    ops.insert(last + 1, scope);
    ops.retain(|op| !own.contains(op));
    module.set_ops(block, ops);
    module.set_ops(body, moved.clone());
    make_again(module, body, &moved);
    scope
}

/// Gives the function its own copies of registers that others compute from numbers alone.
fn make_again(module: &mut Module, body: BlockId, moved: &[OpId]) {
    let inside = within(module, moved);
    let mut map = ValueMap::default();
    let mut copies = Vec::new();
    for op in &inside {
        for value in module.op(*op).operands.clone() {
            copy(module, value, &inside, &mut map, &mut copies);
        }
    }
    for op in &inside {
        for at in 0..module.op(*op).operands.len() {
            let value = map.get(module.op(*op).operands[at]);
            module.op_mut(*op).operands[at] = value;
        }
    }
    copies.extend(moved);
    module.set_ops(body, copies);
}

/// Copies the ops that compute a register, if they are outside and can be repeated; false if they cannot.
fn copy(
    module: &mut Module,
    value: ValueId,
    inside: &BTreeSet<OpId>,
    map: &mut ValueMap,
    copies: &mut Vec<OpId>,
) -> bool {
    let producer = module.defining_op(value);
    if !is_vector(module.ty(value)) {
        // A number of another vector function cannot be used here.
        let around = producer.filter(|op| !inside.contains(op)).and_then(|op| module.op(op).block);
        return !around.and_then(|block| module.block_parent(block)).is_some_and(|op| is_scope(module, op));
    }
    if map.get(value) != value {
        return true;
    }
    let Some(producer) = producer else { return false };
    if inside.contains(&producer) || copies.contains(&producer) {
        return true;
    }
    let of_numbers = OpDef::of(module, producer).is_some_and(|def| {
        def.in_vector_function && def.schema.operands.iter().all(|operand| operand.touch == Touch::Nothing)
    });
    let operands = module.op(producer).operands.clone();
    if !of_numbers || !operands.into_iter().all(|operand| copy(module, operand, inside, map, copies)) {
        return false;
    }
    let made = module.clone_op(producer, map);
    copies.push(made);
    true
}

/// Reports values of these functions that are used outside them.
fn escapes(module: &Module, scopes: &[OpId], diags: &mut Diags) {
    let mut users: BTreeMap<ValueId, Vec<OpId>> = BTreeMap::new();
    for op in module.walk(module.top) {
        module.op(op).operands.iter().for_each(|value| users.entry(*value).or_default().push(op));
    }
    for scope in scopes {
        let inside = within(module, &[*scope]);
        let made = module.body(*scope, 0).map_or(&[][..], |body| &module.block(body).ops);
        for value in made.iter().flat_map(|op| &module.op(*op).results) {
            let Some(user) = users.get(value).into_iter().flatten().find(|user| !inside.contains(user)) else {
                continue;
            };
            let what = if is_vector(module.ty(*value)) { "vector register" } else { "number" };
            let message =
                format!("`{}` is a {what} of one vector function and is used outside of it", module.value_name(*value));
            diags.push(
                Diagnostic::error("outside-vecscope", module.op(*user).span, message)
                    .label("used here")
                    .also(module.value(*value).span, "made here; something between the two ends the vector function")
                    .help("put all that works on it into one `pto.vecscope { … }`, or pass it on through UB"),
            );
        }
    }
}
