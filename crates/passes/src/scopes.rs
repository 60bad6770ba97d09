//! `infer-vecscopes`: vector functions around vector instructions that stand outside of one.
//!
//! Instructions on vector registers are part of a program of pipe V, which `pto.vecscope` marks. Where a text leaves that
//! out, neighbours become one vector function: vector instructions, loops and branches of nothing else, and the scalar
//! code between them. Work of another pipe, flags, barriers and calls end it. Scalar code that needs nothing of the
//! function stays in front of it. A predicate or register that is made of numbers alone and used in several functions is
//! made in each; one that holds more cannot pass from one function to another, which is an error.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{AttrDict, BlockId, Diagnostic, Diags, Module, OpId, Touch, Type, ValueId, ValueMap};
use slipring_micro::{STRICT_VECSCOPE, VECSCOPE};
use slipring_op::{CoreRule, OpDef, names};

use crate::context::{Pass, PassContext};

/// The pass.
pub const PASS: Pass = Pass {
    name: "infer-vecscopes",
    summary: "Put vector instructions into vector functions where none are written",
    run,
};

/// What an op is for the vector function that its neighbours may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// Belongs into a vector function.
    Vector,
    /// Scalar code that may stand in one.
    Scalar,
    /// Ends it.
    Other,
}

fn run(module: &mut Module, _: &PassContext<'_>, diags: &mut Diags) {
    if !module.walk(module.top).iter().any(|op| class(module, *op) == Class::Vector) {
        return;
    }
    let (inside, mut scopes) = (called_from_inside(module), Vec::new());
    for function in module.functions().collect::<Vec<_>>() {
        // What takes registers is part of the vector function that calls it.
        let takes = module
            .body(function, 0)
            .is_some_and(|body| module.block(body).args.iter().any(|arg| is_vector(module.ty(*arg))));
        if !takes && !inside.contains(&function) {
            regions(module, function, &mut scopes);
        }
    }
    escapes(module, &scopes, diags);
}

/// Functions that vector functions call, directly or by others.
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

/// A vector function as the text has it.
fn is_scope(module: &Module, op: OpId) -> bool {
    let op = module.op(op);
    op.attrs.get(names::VECTOR_LOOP).is_some() || op.is(&VECSCOPE.schema) || op.is(&STRICT_VECSCOPE.schema)
}

fn is_vector(ty: &Type) -> bool {
    matches!(ty, Type::VReg(..) | Type::Mask(_) | Type::Align)
}

fn class(module: &Module, op: OpId) -> Class {
    let Some(def) = OpDef::of(module, op) else { return Class::Other };
    if def.in_vector_function {
        return Class::Vector;
    }
    if is_scope(module, op) || !def.only_computes() || def.core != CoreRule::Any || def.mixed.is_some() {
        return Class::Other;
    }
    let data = module.op(op);
    if data.regions.is_empty() {
        // A choice between registers is an instruction, too.
        return match data.results.as_slice() {
            [] => Class::Other,
            results if results.iter().any(|result| is_vector(module.ty(*result))) => Class::Vector,
            _ => Class::Scalar,
        };
    }
    let bodies = data.regions.iter().flat_map(|region| &module.region(*region).blocks);
    let mut found = Class::Other;
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

/// The bodies of an op that is no vector function and is not to stand in one.
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
            // In front of a function it stays where it is.
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

/// All ops of a list and in them.
fn within(module: &Module, ops: &[OpId]) -> BTreeSet<OpId> {
    let mut found: BTreeSet<OpId> = ops.iter().copied().collect();
    for op in ops {
        let bodies = module.op(*op).regions.iter().flat_map(|region| &module.region(*region).blocks);
        found.extend(bodies.flat_map(|body| module.walk(*body)));
    }
    found
}

/// Makes a vector function of neighbours, the first and the last of which are vector instructions.
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
    // Scalar code that needs nothing of the function comes before it.
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

/// Gives the function its own copies of registers that others made of numbers alone.
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

/// Copies what makes a register, if it is outside and can be made again; false if it cannot.
fn copy(
    module: &mut Module,
    value: ValueId,
    inside: &BTreeSet<OpId>,
    map: &mut ValueMap,
    copies: &mut Vec<OpId>,
) -> bool {
    if !is_vector(module.ty(value)) || map.get(value) != value {
        return true;
    }
    let Some(producer) = module.defining_op(value) else { return false };
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

/// Reports what one of these functions makes and something outside of it uses.
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
