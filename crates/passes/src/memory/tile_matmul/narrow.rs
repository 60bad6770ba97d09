//! Accumulators that go to the Vector cores only to be rounded are instead rounded on their way to L1.
//!
//! The path out of the accumulator converts to the nearest, ties to even. A product that crosses to UB, is converted in
//! exactly this way and crosses back as an operand needs neither cross-core copy, nor the memory they take.

use slipring_ir::{AttrDict, Module, OpId, ValueId};
use slipring_machine::Platform;
use slipring_op::OpRef;
use slipring_op::def::MixedPart;
use slipring_pto as pto;
use slipring_tile::Space;

use super::operand::writes;
use crate::analysis::facts::Functions;
use crate::analysis::roots::Roots;

/// Two cross-core copies with a conversion between them.
struct Detour {
    ops: [OpId; 3],
    /// The accumulator, the two tiles in UB and the one in L1.
    tiles: [ValueId; 4],
}

/// Replaces every such detour with a move to L1.
pub(super) fn narrow(module: &mut Module, platform: &Platform) {
    let roots = Roots::of(module, &Functions::of(module));
    let found: Vec<Detour> =
        module.walk(module.top).into_iter().filter_map(|op| detour(module, &roots, platform, op)).collect();
    for Detour { ops: [out, convert, back], tiles: [acc, wide, short, target] } in found {
        let span = module.op(convert).span;
        let moved = pto::TMOV.make(module, &[("src", &[acc]), ("dst", &[target])], AttrDict::default(), &[], span);
        module.op_mut(moved).loc = module.op(convert).loc.clone();
        module.insert_before(back, moved);
        for op in [out, convert, back] {
            module.remove(op);
        }
        for tile in [wide, short] {
            if let Some(declared) = module.defining_op(tile) {
                module.remove(declared);
            }
        }
    }
}

/// The detour that ends with a cross-core copy to L1.
fn detour(module: &Module, roots: &Roots, platform: &Platform, back: OpId) -> Option<Detour> {
    let crossing = |id: OpId, from: Space, to: Space| {
        let op = OpRef::of(module, id).filter(|op| op.def.mixed == Some(MixedPart::Cross))?;
        ((op.space("src"), op.space("dst")) == (Some(from), Some(to)))
            .then_some((op.operand("src")?, op.operand("dst")?))
    };
    let (short, target) = crossing(back, Space::Vec, Space::Mat)?;
    let convert = only_other_user(module, short, back)?;
    let op = OpRef::of(module, convert).filter(pto::rounds_like_the_accumulator)?;
    if op.operand("dst") != Some(short) {
        return None;
    }
    let wide = op.operand("src")?;
    let out = only_other_user(module, wide, convert)?;
    let (acc, crossed) = crossing(out, Space::Acc, Space::Vec)?;
    let elem = op.tile("dst")?.layout.elem;
    let takes = platform.acc_to_mat.iter().any(|name| name == elem.name());
    let places = [out, convert, back].map(|op| module.position(op));
    let [Some((first, a)), Some((second, b)), Some((third, c))] = places else { return None };
    let in_order = first == second && second == third && a < b && b < c;
    if crossed != wide || !takes || !in_order {
        return None;
    }
    let changes = module.block(first).ops[a + 1..c].iter().any(|op| {
        let inner = super::operand::with_inner(module, *op);
        inner.into_iter().any(|op| writes(module, roots, op, roots.get(acc)))
    });
    (!changes).then_some(Detour { ops: [out, convert, back], tiles: [acc, wide, short, target] })
}

/// The only other op that has a tile as an operand, if there is exactly one.
fn only_other_user(module: &Module, tile: ValueId, user: OpId) -> Option<OpId> {
    let users = module.walk(module.top).into_iter().filter(|op| module.op(*op).operands.contains(&tile));
    let others: Vec<OpId> = users.filter(|op| *op != user).collect();
    if let [only] = others[..] { Some(only) } else { None }
}
