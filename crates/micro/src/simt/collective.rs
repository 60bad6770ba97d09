//! Exchange of values between the lanes of a warp: votes, shuffles, reductions.

use slipring_ir::{AttrKind, Diags, Syntax};
use slipring_machine::Platform;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::number::{BF16, F16, F32, bits, float};
use slipring_op::rules::{BOOL, defaulted, operand, schema};
use slipring_op::{ops, positional, workitems};
use slipring_program::Fault;
use slipring_simt::{Act, LANES, Lanes, active};
use slipring_tile::math::{maximum, minimum};

use super::{I32, SIGNEDNESS, VALUE, WORK, bind_step, number, out, scalars, signed, value};
use slipring_ir::{Touch, Type};

const VOTE: OpDef = OpDef {
    schema: schema(
        "",
        positional!("pred" => "result"),
        &[operand("pred", BOOL, Touch::Nothing, "the lane's own answer")],
        &[out(BOOL, "the same for all of them")],
        &[],
    ),
    ..WORK
};

const SHUFFLE: OpDef = OpDef {
    schema: schema(
        "",
        positional!("value" "control" => "result"),
        &[value("value", "what the lane offers"), number("control", "which lane it takes from")],
        &[out(VALUE, "what that lane offers")],
        &[defaulted("width", AttrKind::Int, "lanes of a group, 16 or 32; 32 where it is left out")],
    ),
    verify: verify_shuffle,
    ..WORK
};

const REDUX: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format("$value (keyword($signedness))? attr-dict `:` type($value) `->` type($result)"),
        &[value("value", "what the lane adds to it")],
        &[out(VALUE, "the same for all of them")],
        &[SIGNEDNESS],
    ),
    ..WORK
};

ops! {
    OPS;

    /// Whether all lanes that execute it together say yes. Lanes that a branch keeps away do not count.
    VOTE_ALL "pto.vote_all" "Whether all lanes say yes": VOTE,
        lower: |op, d| vote(op, d, |lanes, yes| u64::from(yes == lanes));
    /// Whether one of the lanes that execute it together says yes.
    VOTE_ANY "pto.vote_any" "Whether a lane says yes": VOTE, lower: |op, d| vote(op, d, |_, yes| u64::from(yes != 0));
    /// Whether the lanes that execute it together all say the same.
    VOTE_UNI "pto.vote_uni" "Whether all lanes say the same": VOTE,
        lower: |op, d| vote(op, d, |lanes, yes| u64::from(yes == 0 || yes == lanes));
    /// The lanes that execute it together and say yes, one bit each.
    VOTE_BALLOT "pto.vote_ballot" "The lanes that say yes": VOTE, lower: |op, d| vote(op, d, |_, yes| yes as i32 as u64)
        => { results: &[out(I32, "the same for all of them")] };

    /// The value of lane `control` of the group of `width` lanes. The run stops with an error where that lane is outside
    /// of the group, or does not execute it together with this one: no source says what is read then.
    SHUFFLE_IDX "pto.shuffle_idx" "Take the value of a lane": SHUFFLE,
        lower: |op, d| shuffle(op, d, |_, control, width| (0..width).contains(&control).then_some(control));
    /// The value of the lane `control` before this one in the group; the own one where the group begins earlier, as the
    /// assembler's test programs expect (its manual promises nothing then). Otherwise as `pto.shuffle_idx`.
    SHUFFLE_UP "pto.shuffle_up" "Take the value of a lane before": SHUFFLE,
        lower: |op, d| shuffle(op, d, |lane, control, _| (control >= 0).then(|| if lane >= control { lane - control } else { lane }));
    /// The value of the lane `control` after this one in the group; the own one where the group ends earlier, as the
    /// assembler's test programs expect (its manual promises nothing then). Otherwise as `pto.shuffle_idx`.
    SHUFFLE_DOWN "pto.shuffle_down" "Take the value of a lane after": SHUFFLE,
        lower: |op, d| shuffle(op, d, |lane, control, width| {
            (control >= 0).then(|| if control < width - lane { lane + control } else { lane })
        });
    /// The value of lane `laneid xor control` in the group. Otherwise as `pto.shuffle_idx`.
    SHUFFLE_BFLY "pto.shuffle_bfly" "Take the value of the lane across": SHUFFLE,
        lower: |op, d| shuffle(op, d, |lane, control, width| (0..width).contains(&control).then_some(lane ^ control));

    /// The sum over the lanes that execute it together. Integers wrap. Floats are added in the order of the lanes, each
    /// sum rounded to the type: no source says in which order the hardware adds.
    REDUX_ADD "pto.redux_add" "The sum over the lanes": REDUX, verify: |op, _, diags| verify_redux(op, false, diags),
        lower: |op, d| redux(op, d, |a, b| a.wrapping_add(b), |a, b| a.wrapping_add(b), |a, b| a + b);
    /// The largest value of the lanes that execute it together; NaN if one of them is.
    REDUX_MAX "pto.redux_max" "The largest value of the lanes": REDUX, verify: |op, _, diags| verify_redux(op, true, diags),
        lower: |op, d| redux(op, d, i32::max, u32::max, maximum);
    /// The smallest value of the lanes that execute it together; NaN if one of them is.
    REDUX_MIN "pto.redux_min" "The smallest value of the lanes": REDUX, verify: |op, _, diags| verify_redux(op, true, diags),
        lower: |op, d| redux(op, d, i32::min, u32::min, minimum);
}

fn vote(op: &OpRef<'_>, d: &mut Decoder<'_>, count: fn(u32, u32) -> u64) -> Lowered {
    let exchange = move |lanes: u32, given: &[Lanes]| {
        let yes = active(lanes).filter(|lane| given[0][*lane] != 0).fold(0, |set, lane| set | 1 << lane);
        Ok([count(lanes, yes); LANES])
    };
    bind_step(op, d, &["pred"], Act::Exchange(Box::new(exchange)))
}

fn verify_shuffle(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    workitems::inside(op, diags);
    let types = [Type::I32, Type::I64, scalars::F16, scalars::F32];
    if scalars::require(op, "value", &types, diags) {
        scalars::alike(op, "value", &[], diags);
    }
    if op.int("width").is_some_and(|width| ![16, 32].contains(&width)) {
        diags.push(op.error("attr-value", "expects `width` to be 16 or 32"));
    }
}

/// `from` gives the source lane in the group: of the own one, the control and the width.
fn shuffle(op: &OpRef<'_>, d: &mut Decoder<'_>, from: fn(i64, i64, i64) -> Option<i64>) -> Lowered {
    let width = op.int("width").unwrap_or(LANES as i64);
    let exchange = move |lanes: u32, given: &[Lanes]| {
        let mut result = [0; LANES];
        for lane in active(lanes) {
            let (own, control) = (lane as i64 % width, given[1][lane] as i64);
            let source = from(own, control, width).map(|source| (lane as i64 - own + source) as usize);
            let source = source.ok_or_else(|| out_of_group(lane, control, width))?;
            if lanes >> source & 1 == 0 {
                return Err(absent(lane, source));
            }
            result[lane] = given[0][source];
        }
        Ok(result)
    };
    bind_step(op, d, &["value", "control"], Act::Exchange(Box::new(exchange)))
}

fn out_of_group(lane: usize, control: i64, width: i64) -> Fault {
    let message = format!("in lane {lane} has the control {control}: its group has {width} lanes");
    Fault::new("simt-lane", message).help("what is read from outside of the group, no source defines")
}

fn absent(lane: usize, source: usize) -> Fault {
    let message = format!("in lane {lane} reads lane {source}, which does not execute it at the same time");
    let help = "a branch keeps that lane away, or it has no workitem: exchange values where all lanes come";
    Fault::new("simt-lane", message).help(help)
}

fn verify_redux(op: &OpRef<'_>, needs_sign: bool, diags: &mut Diags) {
    workitems::inside(op, diags);
    if !scalars::require(op, "value", &[Type::I32, scalars::F16, scalars::F32], diags) {
        return;
    }
    scalars::alike(op, "value", &[], diags);
    let integer = op.ty("value") == Some(&Type::I32);
    if needs_sign && integer && signed(op).is_none() {
        diags.push(op.error("simt-sign", "expects `signed` or `unsigned` for integers"));
    }
    if !integer && signed(op).is_some() {
        diags.push(op.error("simt-sign", "takes no `signed` or `unsigned` for floats"));
    }
}

/// Reduces the values of the lanes, in their order.
fn redux(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    of_signed: fn(i32, i32) -> i32,
    of_unsigned: fn(u32, u32) -> u32,
    of_floats: fn(f32, f32) -> f32,
) -> Lowered {
    let unsigned = signed(op) == Some(false);
    let join: Box<dyn Fn(u64, u64) -> u64 + Send + Sync> = match op.ty("value").ok_or(Reported)? {
        ty if *ty == Type::I32 && unsigned => Box::new(move |a, b| of_unsigned(a as u32, b as u32) as i32 as u64),
        ty if *ty == Type::I32 => Box::new(move |a, b| of_signed(a as i32, b as i32) as u64),
        ty if *ty == scalars::F16 => Box::new(move |a, b| joined::<F16>(a, b, of_floats)),
        ty if *ty == scalars::BF16 => Box::new(move |a, b| joined::<BF16>(a, b, of_floats)),
        _ => Box::new(move |a, b| joined::<F32>(a, b, of_floats)),
    };
    let exchange = move |lanes: u32, given: &[Lanes]| {
        let all = active(lanes).map(|lane| given[0][lane]).reduce(&join).unwrap_or(0);
        Ok([all; LANES])
    };
    bind_step(op, d, &["value"], Act::Exchange(Box::new(exchange)))
}

fn joined<const T: u8>(a: u64, b: u64, join: fn(f32, f32) -> f32) -> u64 {
    bits::<T>(join(float::<T>(a), float::<T>(b)))
}
