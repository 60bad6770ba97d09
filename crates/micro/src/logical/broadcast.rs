//! Values in many lanes, and counting lanes (SPEC of virtual micro-instructions, groups 2 and 4).

use slipring_ir::{AttrKind, Diags, LaneType, OpSchema, Syntax, Touch, Type, TypeRule};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef};
use slipring_op::ops;
use slipring_op::rules::{SCALAR, defaulted, one_of, operand, required};
use slipring_tile::{Elem, convert};

use super::value::{Bytes, bits, set_bits};
use super::{LOGICAL, OUT, check, vector};
use crate::vector::emit::Emit;

const VALUE: TypeRule = TypeRule {
    describe: "a scalar or a logical vector",
    accepts: |t| t.is_scalar() || matches!(t, Type::LogicalVector(_)),
};

const TO_GROUPS: OpSchema = OpSchema {
    syntax: Syntax::Format("$value attr-dict `:` type($value) `->` type($out)"),
    operands: &[vector("value", "one lane for each group")],
    results: &[OUT],
    ..LOGICAL.schema
};

ops! {
    OPS;

    /// The number, or the only lane of the vector, in every lane. With `group = C`: lane `g` of `value`, which has `C`
    /// lanes, in all lanes of group `g` of `C` equal ones.
    VBRC "pto.vmi.vbrc" "One value in many lanes": LOGICAL, verify: |op, _, diags| rules(op, "group", diags),
        lower: |op, d| broadcast(op, d, "group")
        => {
            syntax: Syntax::Format("$value attr-dict `:` type($value) `->` type($out)"),
            operands: &[operand("value", VALUE, Touch::Nothing, "a number, or a vector with a lane for each group")],
            results: &[OUT],
            attrs: &[defaulted("group", AttrKind::Int, "number of groups, if there are several")],
            aliases: &["pto.vmi.broadcast"],
        };

    /// Lane `g` of `value` in all lanes of group `g`.
    GROUP_BROADCAST "pto.vmi.group_broadcast" "A lane for each group in all of its lanes": LOGICAL.with(TO_GROUPS),
        source: super::DECLARED, verify: |op, _, diags| rules(op, "num_groups", diags),
        lower: |op, d| broadcast(op, d, "num_groups")
        => { attrs: &[required("num_groups", AttrKind::Int, "number of groups")] };

    /// `out[i] = base + i`, or `base - i` for `DESC`; integers wrap, floats are rounded once. With `group = C` each of
    /// `C` equal groups begins at `base` again.
    VCI "pto.vmi.vci" "Count through the lanes": LOGICAL, verify: |op, _, diags| count_rules(op, diags), lower: count
        => {
            syntax: slipring_op::positional!("base" => "out"),
            operands: &[operand("base", SCALAR, Touch::Nothing, "the first number, of the lanes' type")],
            results: &[OUT],
            attrs: &[
                defaulted("order", AttrKind::Str, "`ASC` (default) or `DESC`"),
                defaulted("group", AttrKind::Int, "number of groups, if there are several"),
            ],
            aliases: &["pto.vmi.iota", "pto.vmi.group_iota"],
        };
}

fn rules(op: &OpRef<'_>, group: &str, diags: &mut Diags) {
    let Some(out) = check::result(op, 0) else { return };
    let wanted = match op.attr(group).is_some() {
        true => match check::groups(op, group, out.lanes, diags) {
            Some(groups) => groups,
            None => return,
        },
        false => 1,
    };
    match check::vector(op, "value") {
        Some(value) => {
            check::lanes(op, "a vector", value, wanted, diags);
            if value.lane != out.lane {
                let message = format!("lanes of {} do not become lanes of {}", value.lane, out.lane);
                diags.push(op.error("vreg-type", message));
            }
        }
        None if op.attr(group).is_some() => {
            diags.push(op.error("operand-type", format!("`{group}` needs a vector with a lane for each group")));
        }
        None => check::number_for(op, "value", Some(out), diags),
    }
}

fn broadcast(op: &OpRef<'_>, d: &mut Decoder<'_>, group: &str) -> Lowered {
    let mut e = Emit::new(op, d);
    let source = if check::vector(op, "value").is_some() { Ok(e.vector("value")?) } else { Err(e.number("value")?) };
    let out = e.gives(0)?;
    e.price = Some(match op.attr(group) {
        // No instruction does this: each register is gathered.
        Some(_) => ("vselr", out.slots.len()),
        None => ("vdup", 1),
    });
    e.compute(VectorPort::Alu, out.elem, move |m, args| {
        let mut result = Bytes::from_elem(0, out.size());
        match &source {
            Ok(lanes) => {
                let (from, size) = (lanes.read(m), out.count / lanes.count);
                (0..out.count).for_each(|i| set_bits(&mut result, i, out.bytes, bits(&from, i / size, lanes.bytes)));
            }
            Err(number) => (0..out.count).for_each(|i| set_bits(&mut result, i, out.bytes, args[*number])),
        }
        out.write(m, &result);
    })
}

fn count_rules(op: &OpRef<'_>, diags: &mut Diags) {
    one_of(op, "order", &["ASC", "DESC"], diags);
    let Some(out) = check::result(op, 0) else { return };
    let counts = match out.lane {
        LaneType::Elem(elem) => !elem.is_float() || matches!(elem, Elem::F16 | Elem::F32),
        LaneType::Signed(_) => true,
        LaneType::PairOfBf16 => false,
    };
    if !counts {
        diags.push(op.error("elem-type", format!("counts in integers, f16 or f32, not in {}", out.lane)));
        return;
    }
    check::number_for(op, "base", Some(out), diags);
    if op.attr("group").is_some() {
        check::groups(op, "group", out.lanes, diags);
    }
}

fn count(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (base, out) = (e.number("base")?, e.gives(0)?);
    e.price = Some(("vci", out.slots.len()));
    let down = op.text("order") == Some("DESC");
    let size = out.count / op.int("group").map_or(1, |groups| (groups as usize).max(1));
    let elem = out.elem;
    e.compute(VectorPort::Alu, elem, move |m, args| {
        let mut result = Bytes::from_elem(0, out.size());
        if elem.is_float() {
            let mut first = [0f32];
            convert::load_f32(elem, &args[base].to_le_bytes()[..elem.bytes()], &mut first);
            let lane = |i: usize| if down { first[0] - (i % size) as f32 } else { first[0] + (i % size) as f32 };
            let values: Vec<f32> = (0..out.count).map(lane).collect();
            convert::store_f32(elem, &values, &mut result);
        } else {
            for i in 0..out.count {
                let at = (i % size) as u64;
                let value = if down { args[base].wrapping_sub(at) } else { args[base].wrapping_add(at) };
                set_bits(&mut result, i, out.bytes, value);
            }
        }
        out.write(m, &result);
    })
}
