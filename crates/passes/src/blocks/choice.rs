//! Choices by a number as branches.

use std::collections::BTreeSet;

use slipring_ir::{AttrDict, BlockId, Diagnostic, Diags, Kind, Module, OpId, RegionId, Type, ValueId};
use slipring_mlir::arith;
use slipring_mlir::scf;

/// The most cases: each is nested in the one before.
const MOST_CASES: usize = 64;

/// Makes nested branches of an `scf.index_switch`, which keeps its place and its results.
pub(super) fn structure(module: &mut Module, op: OpId, diags: &mut Diags) {
    let span = module.op(op).span;
    let Some(cases) = scf::cases(module, op) else {
        let message = "`scf.index_switch` has another number of regions than its cases, or a region of several blocks";
        diags.push(Diagnostic::error("regions", span, message));
        return;
    };
    let mut known = BTreeSet::new();
    if let Some(twice) = cases.iter().find(|case| !known.insert(**case)) {
        diags.push(Diagnostic::error("redefinition", span, format!("there are two cases {twice}")));
        return;
    }
    if cases.len() > MOST_CASES {
        let message = format!("a choice of more than {MOST_CASES} cases is not modelled");
        diags.push(Diagnostic::error(Kind::Unsupported, span, message));
        return;
    }
    let regions = module.op(op).regions.clone();
    let (default, of_cases) = (regions[0], &regions[1..]);
    let number = module.op(op).operands[0];
    let types: Vec<Type> = module.op(op).results.iter().map(|value| module.ty(*value).clone()).collect();
    let mut at = op;
    for (index, (case, region)) in cases.iter().zip(of_cases).enumerate() {
        let case = arith::constant(module, *case, Type::Index, span);
        let value = module.op(case).results[0];
        let equal = arith::compare(module, arith::Relation::Equal, [number, value], span);
        module.insert_before(at, case);
        module.insert_before(at, equal);
        let condition = module.op(equal).results[0];
        become_branch(module, at, condition, *region);
        if index + 1 == cases.len() {
            module.move_region(default, at);
            return;
        }
        // The other cases, in the other arm.
        let other = module.add_region(at);
        let block = module.add_block(other);
        let inner = scf::IF.make(module, &[("condition", &[condition])], AttrDict::default(), &types, span);
        module.append(block, inner);
        yields(module, block, inner);
        at = inner;
    }
    // No cases.
    let operands: [ValueId; 0] = [];
    let data = module.op_mut(op);
    data.declaration = Some(&scf::EXECUTE_REGION);
    data.name = scf::EXECUTE_REGION.schema.name.into();
    data.operands = operands.into_iter().collect();
    data.segments.clear();
    data.attrs = AttrDict::default();
}

/// Makes an op a branch with this region as its first arm, and no other one yet.
fn become_branch(module: &mut Module, op: OpId, condition: ValueId, first: RegionId) {
    let data = module.op_mut(op);
    data.declaration = Some(&scf::IF);
    data.name = scf::IF.schema.name.into();
    data.operands = [condition].into_iter().collect();
    data.segments = [1].into_iter().collect();
    data.attrs = AttrDict::default();
    data.regions.clear();
    module.move_region(first, op);
}

fn yields(module: &mut Module, block: BlockId, op: OpId) {
    let (values, span) = (module.op(op).results.clone(), module.op(op).span);
    let end = scf::YIELD.make(module, &[("values", &values)], AttrDict::default(), &[], span);
    module.append(block, end);
}
