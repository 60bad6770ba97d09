//! Lanes moved together and apart (declarations of assembler 0.60): what its own texts use besides the SPEC's ops.

use slipring_ir::{Attr, AttrKind, Diags, Infer, OperandSpec, Syntax, Touch};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, counted, operand, required, result, schema, variadic};

use super::memory::address;
use super::value::{Bytes, bits, set_bits};
use super::{GOVERNING, LOGICAL, OUT, VECTOR, check, vector};
use crate::vector::UB;
use crate::vector::check::aligned;
use crate::vector::emit::Emit;

const DECLARED: OpDef = OpDef { source: super::DECLARED, ..LOGICAL };
const OFFSET: OperandSpec = operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it");
const PASSTHRU: OperandSpec = vector("passthru", "the lanes that are not active");

/// A load of active lanes.
const LOAD: OpDef = OpDef {
    verify: |op, _, diags| load_rules(op, diags),
    ..DECLARED.with(schema(
        "",
        Syntax::Format(
            "$ptr `[` $offset `]` `,` $mask `,` $passthru attr-dict `:` type($ptr) `,` type($mask) `,` type($passthru) `->` \
             type($out)",
        ),
        &[operand("ptr", UB, Touch::Read, "where in UB"), OFFSET, GOVERNING, PASSTHRU],
        &[OUT],
        &[],
    ))
};

ops! {
    OPS;

    /// `out[i] = ptr[offset + i]` where lane `i` is active, else `passthru[i]` and nothing is read.
    MASKED_LOAD "pto.vmi.masked_load" "Load the active lanes": LOAD, lower: |op, d| load(op, d, false);

    /// The active lanes are the next elements of memory, one after another; the others are those of `passthru`.
    EXPAND_LOAD "pto.vmi.expand_load" "Load elements into the active lanes": LOAD, lower: |op, d| load(op, d, true);

    /// The active lanes, one after another, go to memory.
    COMPRESS_STORE "pto.vmi.compress_store" "Store the active lanes together": DECLARED,
        verify: |op, _, diags| store_rules(op, diags), lower: compress_store
        => {
            syntax: Syntax::Format(
                "$value `,` $ptr `[` $offset `]` `,` $mask attr-dict `:` type($value) `,` type($ptr) `,` type($mask)",
            ),
            operands: &[
                vector("value", "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                OFFSET,
                GOVERNING,
            ],
        };

    /// The active lanes in their order, then zeros.
    COMPRESS "pto.vmi.compress" "Move the active lanes together": DECLARED,
        verify: |op, _, diags| compress_rules(op, diags), lower: compress
        => {
            syntax: slipring_op::positional!("src" "mask" => "out"),
            operands: &[vector("src", "the source"), GOVERNING],
            results: &[OUT],
        };

    /// `out[i]` is the number of active lanes before lane `i`.
    ACTIVE_PREFIX_INDEX "pto.vmi.active_prefix_index" "Count the active lanes before each lane": DECLARED,
        verify: |op, _, diags| prefix_rules(op, diags), lower: prefix
        => {
            syntax: slipring_op::positional!("mask" => "out"),
            operands: &[GOVERNING],
            results: &[OUT],
        };

    /// `out[i] = src[indices[i]]`.
    SHUFFLE "pto.vmi.shuffle" "Select lanes by constant indices": DECLARED,
        verify: |op, _, diags| shuffle_rules(op, diags), lower: shuffle
        => {
            syntax: Syntax::Format("$src `[` $indices `]` attr-dict `:` type($src) `->` type($out)"),
            operands: &[vector("src", "where lanes are taken from")],
            results: &[OUT],
            attrs: &[required("indices", AttrKind::Numbers, "a lane of `src` for each lane of the result")],
        };

    /// Result `k` of `n` has lanes `k`, `n + k`, `2n + k` … of `src`.
    CHANNEL_SPLIT "pto.vmi.channel_split" "Take channels apart": DECLARED,
        verify: |op, _, diags| channel_rules(op, diags), lower: split
        => {
            operands: &[vector("src", "the channels, lane by lane")],
            results: &[slipring_ir::ResultSpec {
                arity: slipring_ir::Arity::Variadic,
                ..result("parts", VECTOR, Infer::Written, "the channels")
            }],
        };

    /// Lanes 0 of all inputs, then lanes 1, and so on.
    CHANNEL_MERGE "pto.vmi.channel_merge" "Put channels together": DECLARED,
        verify: |op, _, diags| channel_rules(op, diags), lower: merge
        => {
            operands: &[variadic("inputs", VECTOR, Touch::Nothing, "the channels")],
            results: &[OUT],
        };
}

fn load_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::same(op, diags);
    if let Some(out) = check::result(op, 0) {
        check::element_of(op, "ptr", out, diags);
        check::governs(op, "mask", out, diags);
    }
}

fn store_rules(op: &OpRef<'_>, diags: &mut Diags) {
    if let Some(value) = check::vector(op, "value") {
        check::element_of(op, "ptr", value, diags);
        check::governs(op, "mask", value, diags);
    }
}

fn compress_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::same(op, diags);
    if let Some(src) = check::vector(op, "src") {
        check::governs(op, "mask", src, diags);
    }
}

fn prefix_rules(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(out) = check::result(op, 0) else { return };
    check::governs(op, "mask", out, diags);
    if out.lane.arithmetic().is_none_or(|elem| elem.is_float()) {
        diags.push(op.error("elem-type", format!("counts in integers, not in {}", out.lane)));
    }
}

fn indices(op: &OpRef<'_>) -> Vec<i128> {
    match op.attr("indices") {
        Some(Attr::Array(values)) => values.iter().filter_map(|value| value.as_int().map(i128::from)).collect(),
        _ => Vec::new(),
    }
}

fn shuffle_rules(op: &OpRef<'_>, diags: &mut Diags) {
    let (Some(src), Some(out)) = (check::vector(op, "src"), check::result(op, 0)) else { return };
    let indices = indices(op);
    if indices.len() != out.lanes as usize {
        diags.push(
            op.error("lane-count", format!("there are {} indices for {}", indices.len(), counted(out.lanes, "lane"))),
        );
    }
    if let Some(wrong) = indices.iter().find(|index| !(0..i128::from(src.lanes)).contains(*index)) {
        diags.push(op.error("lane-index", format!("index {wrong} is not one of {}", counted(src.lanes, "lane"))));
    }
    if src.lane != out.lane {
        diags.push(op.error("vreg-type", format!("lanes of {} do not become lanes of {}", src.lane, out.lane)));
    }
}

/// Several vectors of one type, and one with the lanes of all.
fn channel_rules(op: &OpRef<'_>, diags: &mut Diags) {
    let data = op.module.op(op.id);
    let (many, one) = if op.def == &CHANNEL_SPLIT {
        (&data.results[..], &data.operands[..])
    } else {
        (&data.operands[..], &data.results[..])
    };
    let ty = |value: &slipring_ir::ValueId| match op.module.ty(*value) {
        slipring_ir::Type::LogicalVector(vector) => Some(*vector),
        _ => None,
    };
    let (Some(whole), Some(first), 2..) = (one.first().and_then(ty), many.first().and_then(ty), many.len()) else {
        diags.push(op.error("operand-count", "channels are two vectors or more"));
        return;
    };
    if let Some(other) = many.iter().filter_map(ty).find(|other| *other != first) {
        diags.push(op.error("vreg-type", format!("expects channels of one type, found `{first}` and `{other}`")));
    }
    if whole.lane != first.lane || whole.lanes as usize != first.lanes as usize * many.len() {
        let message = format!("{} of `{first}` are not `{whole}`", counted(many.len(), "channel"));
        diags.push(op.error("lane-count", message));
    }
}

fn load(op: &OpRef<'_>, d: &mut Decoder<'_>, dense: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    let place = address(&mut e, 0)?;
    let (mask, passthru, out) = (e.predicate("mask")?, e.stored("passthru")?, e.gives(0)?);
    e.price = Some(("vlds", out.slots.len()));
    let size = out.bytes;
    e.step(VectorPort::Load, out.elem, move |m, args| {
        aligned(args[place], size as u64, "reads")?;
        let (active, mut all, mut next) = (mask.read(m), passthru.read(m), 0);
        for i in (0..out.count).filter(|i| active.is(*i)) {
            let at = args[place].saturating_add((if dense { next } else { i } * size) as u64);
            all[i * size..][..size].copy_from_slice(m.load(at, size)?);
            next += 1;
        }
        out.write(m, &all);
        Ok(0)
    })
}

fn compress_store(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (place, value, mask) = (address(&mut e, 0)?, e.stored("value")?, e.predicate("mask")?);
    e.price = Some(("vstur", value.slots.len()));
    let size = value.bytes;
    e.step(VectorPort::Store, value.elem, move |m, args| {
        aligned(args[place], size as u64, "writes")?;
        let (all, active) = (value.read(m), mask.read(m));
        let mut packed = Bytes::new();
        for i in (0..value.count).filter(|i| active.is(*i)) {
            packed.extend_from_slice(&all[i * size..][..size]);
        }
        if !packed.is_empty() {
            m.store(args[place], packed.len())?.copy_from_slice(&packed);
        }
        Ok(0)
    })
}

fn compress(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (src, mask, out) = (e.vector("src")?, e.predicate("mask")?, e.gives(0)?);
    e.price = Some(("vsqz", out.slots.len()));
    e.compute(VectorPort::Alu, out.elem, move |m, _| {
        let (all, active) = (src.read(m), mask.read(m));
        let mut packed = Bytes::from_elem(0, out.size());
        for (to, from) in (0..src.count).filter(|i| active.is(*i)).enumerate() {
            set_bits(&mut packed, to, out.bytes, bits(&all, from, src.bytes));
        }
        out.write(m, &packed);
    })
}

fn prefix(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (mask, out) = (e.predicate("mask")?, e.gives(0)?);
    e.price = Some(("vusqz", out.slots.len()));
    e.compute(VectorPort::Alu, out.elem, move |m, _| {
        let active = mask.read(m);
        let (mut counts, mut before) = (Bytes::from_elem(0, out.size()), 0);
        for i in 0..out.count {
            set_bits(&mut counts, i, out.bytes, before);
            before += u64::from(active.is(i));
        }
        out.write(m, &counts);
    })
}

fn shuffle(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let indices: Vec<usize> =
        indices(op).into_iter().map(|index| usize::try_from(index).map_err(|_| Reported)).collect::<Result<_, _>>()?;
    let mut e = Emit::new(op, d);
    let (src, out) = (e.vector("src")?, e.gives(0)?);
    e.price = Some(("vselr", out.slots.len()));
    e.compute(VectorPort::Alu, out.elem, move |m, _| {
        let all = src.read(m);
        let mut result = Bytes::from_elem(0, out.size());
        for (to, from) in indices.iter().enumerate() {
            set_bits(&mut result, to, out.bytes, bits(&all, *from, src.bytes));
        }
        out.write(m, &result);
    })
}

fn split(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let count = op.module.op(op.id).results.len();
    let mut e = Emit::new(op, d);
    let src = e.vector("src")?;
    let outs = (0..count).map(|at| e.gives(at)).collect::<Result<Vec<_>, _>>()?;
    e.price = Some(("vdintlv", src.slots.len()));
    e.compute(VectorPort::Alu, src.elem, move |m, _| {
        let all = src.read(m);
        for (channel, out) in outs.iter().enumerate() {
            let mut part = Bytes::from_elem(0, out.size());
            (0..out.count).for_each(|i| set_bits(&mut part, i, out.bytes, bits(&all, i * count + channel, src.bytes)));
            out.write(m, &part);
        }
    })
}

fn merge(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let values = op.operands("inputs").to_vec();
    let mut e = Emit::new(op, d);
    let inputs = values.iter().map(|value| e.vector_of(*value)).collect::<Result<Vec<_>, _>>()?;
    let out = e.gives(0)?;
    e.price = Some(("vintlv", out.slots.len()));
    e.compute(VectorPort::Alu, out.elem, move |m, _| {
        let mut all = Bytes::from_elem(0, out.size());
        for (channel, input) in inputs.iter().enumerate() {
            let part = input.read(m);
            (0..input.count)
                .for_each(|i| set_bits(&mut all, i * inputs.len() + channel, out.bytes, bits(&part, i, input.bytes)));
        }
        out.write(m, &all);
    })
}
