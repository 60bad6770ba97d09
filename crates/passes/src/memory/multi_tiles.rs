//! `expand-multi-tiles`: an array of tiles of one type becomes separate tiles.
//!
//! A tile selected by a constant is replaced by that tile; one selected at run time is yielded by a chain of branches,
//! so that analyses that follow tiles through control flow can follow these.

use slipring_ir::{AttrDict, Diagnostic, Diags, Module, OpId, Type, ValueId};
use slipring_mlir::arith::{self, Relation};
use slipring_mlir::scf;
use slipring_op::rules::constant;
use slipring_pto::{ALLOC_MULTI_TILE, MULTI_TILE_GET, each_tile, no_slot};

use crate::context::{Pass, PassContext};

/// The pass.
pub const PASS: Pass =
    Pass { name: "expand-multi-tiles", summary: "Make several tiles of one type tiles of their own", run };

fn run(module: &mut Module, _: &PassContext<'_>, diags: &mut Diags) {
    let all = module.walk(module.top);
    let made: Vec<OpId> = all.iter().copied().filter(|op| module.op(*op).is(&ALLOC_MULTI_TILE.schema)).collect();
    for op in made {
        expand(module, op, &all, diags);
    }
}

fn expand(module: &mut Module, op: OpId, all: &[OpId], diags: &mut Diags) {
    let tiles = module.op(op).results[0];
    let users: Vec<OpId> = all.iter().copied().filter(|user| module.op(*user).operands.contains(&tiles)).collect();
    if let Some(other) = users.iter().find(|user| !module.op(**user).is(&MULTI_TILE_GET.schema)) {
        let message = "several tiles that control flow or a call passes on are not modelled";
        let error = Diagnostic::error(slipring_ir::Kind::Unsupported, module.op(*other).span, message);
        diags.push(error.also(module.op(op).span, "declared here").help("pick the tile first: `pto.multi_tile_get`"));
        return;
    }
    let base = module.operands_named(op, slipring_op::address::ADDRESS).first().copied();
    let mut before = Vec::new();
    let slots = each_tile(module, op, &mut |module, bytes| address(module, base, bytes, &mut before));
    for made in before.into_iter().chain(slots.iter().copied()) {
        module.insert_before(op, made);
    }
    let slots: Vec<ValueId> = slots.into_iter().map(|slot| module.op(slot).results[0]).collect();
    let name = module.value(tiles).name.clone();
    for (at, slot) in slots.iter().enumerate() {
        module.value_mut(*slot).name = name.as_ref().map(|name| format!("{name}_{at}").into());
    }
    for user in users {
        let [number] = module.operands_named(user, "slot") else { continue };
        let (number, result) = (*number, module.op(user).results[0]);
        let known = constant(module, number).and_then(|n| usize::try_from(n).ok()).and_then(|n| slots.get(n)).copied();
        let tile = known.unwrap_or_else(|| {
            let name = module.value(result).name.clone();
            let chosen = choose(module, user, number, &slots, 0);
            module.value_mut(chosen).name = name;
            chosen
        });
        module.replace_uses(result, tile);
        module.remove(user);
    }
    module.remove(op);
}

/// The address of a tile `bytes` after the first one.
fn address(module: &mut Module, base: Option<ValueId>, bytes: u64, before: &mut Vec<OpId>) -> ValueId {
    let Some(base) = base else { unreachable!("asked for tiles with an address only") };
    let (ty, span, bytes) = (module.ty(base).clone(), module.value(base).span, bytes as i64);
    if bytes == 0 {
        return base;
    }
    let known = constant(module, base);
    let number = arith::constant(module, known.map_or(bytes, |base| base.saturating_add(bytes)), ty, span);
    before.push(number);
    let number = module.op(number).results[0];
    if known.is_some() {
        return number;
    }
    let sum = arith::binary(module, &arith::ADDI, [base, number], span);
    before.push(sum);
    module.op(sum).results[0]
}

/// The tile that an index selects, starting from number `at`, by branches in front of `anchor`.
fn choose(module: &mut Module, anchor: OpId, number: ValueId, slots: &[ValueId], at: usize) -> ValueId {
    let span = module.op(anchor).span;
    let put = |module: &mut Module, op: OpId| {
        module.insert_before(anchor, op);
        module.op(op).results[0]
    };
    let own = arith::constant(module, at as i64, module.ty(number).clone(), span);
    let own = put(module, own);
    let hit = arith::compare(module, Relation::Equal, [number, own], span);
    let hit = put(module, hit);
    let ty: Type = module.ty(slots[at]).clone();
    let branch = scf::IF.make(module, &[("condition", &[hit])], AttrDict::default(), &[ty], span);
    let result = put(module, branch);
    for other in [false, true] {
        let region = module.add_region(branch);
        let block = module.add_block(region);
        let tile = if other && at + 1 < slots.len() {
            // The chain continues in the other branch: its ops are created there, before the terminator.
            let end = scf::YIELD.make(module, &[("values", &[slots[at + 1]])], AttrDict::default(), &[], span);
            module.append(block, end);
            let chosen = choose(module, end, number, slots, at + 1);
            module.operands_named_mut(end, "values")[0] = chosen;
            continue;
        } else {
            slots[at]
        };
        if other {
            let stop = no_slot(module, span);
            module.append(block, stop);
        }
        let end = scf::YIELD.make(module, &[("values", &[tile])], AttrDict::default(), &[], span);
        module.append(block, end);
    }
    result
}
