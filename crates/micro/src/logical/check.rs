//! Rules that ops on logical vectors share.

use slipring_ir::{Diags, Kind, LaneType, LogicalMask, LogicalVector, Sign, Type};
use slipring_machine::Platform;
use slipring_machine::interpretations::SIGNED_LANES;
use slipring_op::def::OpRef;
use slipring_op::rules::counted;
use slipring_tile::Elem;

/// The type of an operand that is a logical vector.
pub(super) fn vector(op: &OpRef<'_>, at: &str) -> Option<LogicalVector> {
    as_vector(op.ty(at)?)
}

/// The type of result `index` that is a logical vector.
pub(super) fn result(op: &OpRef<'_>, index: usize) -> Option<LogicalVector> {
    as_vector(op.module.ty(*op.module.op(op.id).results.get(index)?))
}

fn as_vector(ty: &Type) -> Option<LogicalVector> {
    match ty {
        Type::LogicalVector(vector) => Some(*vector),
        _ => None,
    }
}

/// The type of an operand that is a predicate, if the op declares one.
pub(super) fn mask(op: &OpRef<'_>, at: &str) -> Option<LogicalMask> {
    match op.module.ty(op.if_declared(at)?) {
        Type::LogicalMask(mask) => Some(*mask),
        _ => None,
    }
}

/// The type of result `index` that is a predicate.
pub(super) fn result_mask(op: &OpRef<'_>, index: usize) -> Option<LogicalMask> {
    match op.module.ty(*op.module.op(op.id).results.get(index)?) {
        Type::LogicalMask(mask) => Some(*mask),
        _ => None,
    }
}

/// The element type that a pointer operand points to.
pub(super) fn pointee(op: &OpRef<'_>, at: &str) -> Option<Elem> {
    match op.ty(at)? {
        Type::Ptr(elem, _) => Some(*elem),
        _ => None,
    }
}

/// Requires all logical vectors, operands and results, to have the same type.
pub(super) fn same(op: &OpRef<'_>, diags: &mut Diags) {
    let data = op.module.op(op.id);
    let types = data.operands.iter().chain(&data.results).map(|value| op.module.ty(*value));
    let mut types = types.filter(|ty| matches!(ty, Type::LogicalVector(_)));
    let Some(first) = types.next() else { return };
    if let Some(other) = types.find(|ty| *ty != first) {
        let message = format!("expects one type of logical vectors, found `{first}` and `{other}`");
        diags.push(op.error("vreg-type", message));
    }
}

/// Requires a vector to have this many lanes.
pub(super) fn lanes(op: &OpRef<'_>, what: &str, found: LogicalVector, wanted: u32, diags: &mut Diags) {
    if found.lanes != wanted {
        let message = format!("expects {what} of {}, found {}", counted(wanted, "lane"), found.lanes);
        diags.push(op.error("lane-count", message));
    }
}

/// Requires predicate `at` to be one for vectors of this type.
pub(super) fn governs(op: &OpRef<'_>, at: &str, lanes: LogicalVector, diags: &mut Diags) {
    if let Some(mask) = mask(op, at) {
        fits(op, mask, lanes, diags);
    }
}

/// Requires the predicate that is result `index` to be one for vectors of this type.
pub(super) fn gives(op: &OpRef<'_>, index: usize, lanes: LogicalVector, diags: &mut Diags) {
    if let Some(mask) = result_mask(op, index) {
        fits(op, mask, lanes, diags);
    }
}

fn fits(op: &OpRef<'_>, mask: LogicalMask, lanes: LogicalVector, diags: &mut Diags) {
    if mask.lanes != lanes.lanes {
        let message = format!("a predicate for {} does not govern `{lanes}`", counted(mask.lanes, "lane"));
        diags.push(op.error("mask-width", message).help(format!("write `!pto.vmi.mask<{}xpred>`", lanes.lanes)));
    }
    let width = 8 * lanes.lane.bytes();
    if let Some(bits) = mask.bits.filter(|bits| usize::from(*bits) != width) {
        let message = format!("a predicate for lanes of {bits} bits does not govern `{lanes}`");
        diags.push(op.error("mask-width", message).help("`pred` stands for lanes of any width"));
    }
}

/// Requires vector `at` to have lanes of one of these types; integers without a sign count as both.
pub(super) fn lanes_of(op: &OpRef<'_>, at: &str, elems: &[Elem], diags: &mut Diags) {
    let Some(found) = vector(op, at) else { return };
    let fits = |elem: Elem| match found.lane {
        LaneType::Elem(own) if own.is_signed_int() => !elem.is_float() && own.bytes() == elem.bytes(),
        LaneType::Elem(own) | LaneType::Signed(own) => own == elem,
        LaneType::PairOfBf16 => false,
    };
    if !elems.iter().any(|elem| fits(*elem)) {
        let names: Vec<_> = elems.iter().map(|elem| elem.name()).collect();
        let message = format!("`{}` takes lanes of {}, not of {}", op.def.schema.name, names.join(", "), found.lane);
        diags.push(op.error("elem-type", message));
    }
}

/// Requires operand `number` to be a scalar of the type of vector `at`'s lanes. The sign of integers is optional.
pub(super) fn number_for(op: &OpRef<'_>, number: &str, lanes: Option<LogicalVector>, diags: &mut Diags) {
    let (Some(ty), Some(LogicalVector { lane, .. })) = (op.ty(number), lanes) else { return };
    let fits = match (ty, lane) {
        (Type::Int { width, sign }, LaneType::Elem(elem) | LaneType::Signed(elem)) => {
            let signs = *sign == Sign::Signless || (*sign == Sign::Unsigned) == elem.name().starts_with('u');
            !elem.is_float() && usize::from(*width) == 8 * elem.bytes() && signs
        }
        (Type::Float(own), LaneType::Elem(elem)) => *own == elem,
        _ => false,
    };
    if !fits {
        diags.push(op.error("elem-type", format!("lanes of {lane} do not go with a number of type `{ty}`")));
    }
}

/// Requires pointer `at` to point to elements like the lanes: as wide, and floats or integers as they are.
pub(super) fn element_of(op: &OpRef<'_>, at: &str, lanes: LogicalVector, diags: &mut Diags) {
    let Some(to) = pointee(op, at) else { return };
    let fits = match lanes.lane {
        LaneType::Elem(elem) | LaneType::Signed(elem) if elem.is_float() => elem == to,
        LaneType::Elem(elem) | LaneType::Signed(elem) => !to.is_float() && elem.bytes() == to.bytes(),
        LaneType::PairOfBf16 => to.bytes() == 4,
    };
    if !fits {
        let message = format!("lanes of {} need a pointer to such elements, not to {to}", lanes.lane);
        diags.push(
            op.error("elem-type", message)
                .help("look at the address through `pto.castptr` as a pointer to the other type"),
        );
    }
}

/// Whether lanes are integers whose type does not say whether they are signed.
fn has_no_sign(lanes: LogicalVector) -> bool {
    matches!(lanes.lane, LaneType::Elem(Elem::I8 | Elem::I16 | Elem::I32))
}

/// Warns that sources disagree on the order of lanes without a sign.
pub(super) fn order(op: &OpRef<'_>, lanes: LogicalVector, platform: &Platform, diags: &mut Diags) {
    if has_no_sign(lanes) && !platform.reads_otherwise(&SIGNED_LANES) {
        diags.push(op.disagreement(&SIGNED_LANES));
    }
}

/// The type by which lanes are ordered.
pub(super) fn order_elem(lanes: LogicalVector, platform: &Platform) -> Elem {
    match lanes.lane {
        LaneType::Elem(elem) if platform.reads_otherwise(&SIGNED_LANES) => elem,
        lane => lane.arithmetic().unwrap_or(Elem::BF16),
    }
}

/// Refuses what no value of a text can mean: keeping what a register held before.
pub(super) fn pmode(op: &OpRef<'_>, diags: &mut Diags) {
    match op.text("pmode") {
        None | Some("zero") => {}
        Some("merge") => {
            let message =
                "`pmode = \"merge\"` keeps the previous lanes of the result's register, which a text cannot name";
            diags.push(op.error(Kind::Unsupported, message).help("choose between the two values with `pto.vmi.vsel`"));
        }
        Some(other) => {
            let message = format!("`pmode` is `zero` or `merge`, not `{other}`");
            diags.push(op.error("attr-value", message));
        }
    }
}

/// The rules of an op lane by lane: all vectors have one type, which the op takes, and the predicate is one for it.
pub(super) fn lanewise(op: &OpRef<'_>, diags: &mut Diags) {
    same(op, diags);
    pmode(op, diags);
    let first = op.def.schema.operands[0].name;
    lanes_of(op, first, op.def.lane_types, diags);
    if let Some(lanes) = vector(op, first) {
        governs(op, "mask", lanes, diags);
    }
}

/// The rules of an op lane by lane with a number, which is of the lanes' type.
pub(super) fn lanewise_with(op: &OpRef<'_>, number: &str, diags: &mut Diags) {
    lanewise(op, diags);
    number_for(op, number, vector(op, op.def.schema.operands[0].name), diags);
}

/// Number of groups that attribute `name` gives, which must divide these lanes; an error is reported.
pub(super) fn groups(op: &OpRef<'_>, name: &str, lanes: u32, diags: &mut Diags) -> Option<u32> {
    let written = op.int(name)?;
    match u32::try_from(written) {
        Ok(groups) if groups > 0 && lanes.is_multiple_of(groups) => Some(groups),
        _ => {
            let message = format!("`{name}` is {written}: it must divide {}", counted(lanes, "lane"));
            diags.push(op.error("group-count", message));
            None
        }
    }
}
