//! Comparisons, and selection by their results (SPEC of virtual micro-instructions, group 3.6).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{SCALAR, one_of, operand, required, result, schema};
use slipring_program::Fault;
use slipring_tile::Compare;

use super::value::{Bytes, bits, set_bits};
use super::{LOGICAL, OUT, PMODE, PREDICATE, check, vector};
use crate::vector::check::NUMBERS;
use crate::vector::emit::Emit;

/// The words of comparisons. Those with `o` are the same here: only `ne` holds for a NaN, and `one` does not.
pub(super) const MODES: [(&str, Compare, bool); 12] = [
    ("eq", Compare::Eq, false),
    ("ne", Compare::Ne, false),
    ("lt", Compare::Lt, false),
    ("le", Compare::Le, false),
    ("gt", Compare::Gt, false),
    ("ge", Compare::Ge, false),
    ("oeq", Compare::Eq, true),
    ("one", Compare::Ne, true),
    ("olt", Compare::Lt, true),
    ("ole", Compare::Le, true),
    ("ogt", Compare::Gt, true),
    ("oge", Compare::Ge, true),
];

const SEED: slipring_ir::OperandSpec = operand("seed", PREDICATE, Touch::Nothing, "the lanes that are compared");

const CMP: OpSchema = OpSchema {
    results: &[result("out", PREDICATE, Infer::Written, "the lanes for which it holds")],
    attrs: &[
        required(
            "cmp",
            AttrKind::Str,
            "`eq`, `ne`, `lt`, `le`, `gt` or `ge`; for floats also with `o` before it: ordered, false for NaN",
        ),
        PMODE,
    ],
    ..schema("", Syntax::Generic, &[], &[], &[])
};

ops! {
    OPS;

    /// The lanes of `seed` for which `lhs` compares so with `rhs`. Integers without a sign in their type are unsigned, as
    /// assembler 0.60 has it; the SPEC of PTO-Gym says signed (`--interpretation signed-lanes`). Comparisons with NaN do
    /// not hold, except `ne`.
    VCMP "pto.vmi.vcmp" "Compare two vectors": LOGICAL.with(CMP), verify: |op, platform, diags| rules(op, platform, diags),
        lower: |op, d| compare(op, d, true)
        => {
            syntax: Syntax::Format(
                "$lhs `,` $rhs `,` $seed attr-dict `:` type($lhs) `,` type($rhs) `,` type($seed) `->` type($out)",
            ),
            operands: &[vector("lhs", "the first operand"), vector("rhs", "the second operand"), SEED],
        };

    /// As `pto.vmi.vcmp`, with a number instead of the second vector.
    VCMPS "pto.vmi.vcmps" "Compare a vector with a number": LOGICAL.with(CMP), verify: rules_of_number, lower: |op, d| compare(op, d, true)
        => {
            syntax: Syntax::Format(
                "$lhs `,` $rhs `,` $seed attr-dict `:` type($lhs) `,` type($rhs) `,` type($seed) `->` type($out)",
            ),
            operands: &[
                vector("lhs", "the first operand"),
                operand("rhs", SCALAR, Touch::Nothing, "what every lane is compared with, of the lanes' type"),
                SEED,
            ],
        };

    /// `out = mask ? src0 : src1`, lane by lane. Both words of `pmode` mean this.
    VSEL "pto.vmi.vsel" "Select lanes by a predicate": LOGICAL, verify: verify_vsel, lower: lower_vsel
        => {
            syntax: Syntax::Format(
                "$mask `,` $src0 `,` $src1 attr-dict `:` type($mask) `,` type($src0) `,` type($src1) `->` type($out)",
            ),
            operands: &[
                operand("mask", PREDICATE, Touch::Nothing, "which lanes take `src0`"),
                vector("src0", "taken in active lanes"),
                vector("src1", "taken in the others"),
            ],
            results: &[OUT],
            attrs: &[slipring_op::rules::defaulted("pmode", AttrKind::Str, "`zero` or `merge`, which mean the same here")],
            aliases: &["pto.vmi.select"],
        };

    /// `out[i] = src[index[i]]`. An index that is not one of a lane is a fault.
    VSELR "pto.vmi.vselr" "Select lanes by index": LOGICAL, verify: |op, _, diags| verify_vselr(op, diags),
        lower: lower_vselr
        => {
            syntax: slipring_op::positional!("src" "index" => "out"),
            operands: &[
                vector("src", "where lanes are taken from"),
                vector("index", "which lane; integers as wide as the lanes"),
            ],
            results: &[OUT],
        };
}

fn rules(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::lanes_of(op, "lhs", NUMBERS, diags);
    let Some(lanes) = check::vector(op, "lhs") else { return };
    check::governs(op, "seed", lanes, diags);
    check::gives(op, 0, lanes, diags);
    if check::vector(op, "rhs").is_some() {
        check::same(op, diags);
    }
    // Both words are in use for the same.
    if op.text("pmode") != Some("zeroing") {
        check::pmode(op, diags);
    }
    let floats = lanes.lane.arithmetic().is_some_and(|elem| elem.is_float());
    let words: Vec<&str> = MODES.iter().filter(|mode| floats || !mode.2).map(|mode| mode.0).collect();
    one_of(op, "cmp", &words, diags);
    let ordered = matches!(op.text("cmp"), Some("lt" | "le" | "gt" | "ge"));
    if ordered {
        check::order(op, lanes, platform, diags);
    }
}

fn rules_of_number(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    rules(op, platform, diags);
    check::number_for(op, "rhs", check::vector(op, "lhs"), diags);
}

/// `by_spec`: the platform may read lanes without a sign as the SPEC does.
pub(super) fn compare(op: &OpRef<'_>, d: &mut Decoder<'_>, by_spec: bool) -> Lowered {
    let (_, mode, ordered) = *MODES.iter().find(|mode| op.text("cmp") == Some(mode.0)).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let lhs = e.vector("lhs")?;
    let rhs = if check::vector(op, "rhs").is_some() { Ok(e.vector("rhs")?) } else { Err(e.number("rhs")?) };
    e.price = Some((if rhs.is_ok() { "vcmp" } else { "vcmps" }, lhs.slots.len()));
    let (seed, out) = (e.predicate("seed")?, e.gives_predicate(0)?);
    let elem = match check::vector(op, "lhs") {
        Some(lanes) if by_spec => check::order_elem(lanes, e.d.platform),
        _ => lhs.elem,
    };
    e.compute(VectorPort::Alu, elem, move |m, args| {
        let first = lhs.read(m);
        let second = match &rhs {
            Ok(lanes) => lanes.read(m),
            Err(number) => Bytes::from_slice(&args[*number].to_le_bytes()[..elem.bytes()]),
        };
        let mut holds = vec![0; lhs.count];
        match m.is_tried() {
            true => Compare::run_sensitive(elem, &first, &repeated(&second, lhs.size()), &mut holds),
            false => mode.run(elem, &first, &second, &mut holds),
        }
        if ordered && mode == Compare::Ne {
            let mut equal = [vec![0; lhs.count], vec![0; lhs.count]];
            Compare::Eq.run(elem, &first, &first, &mut equal[0]);
            Compare::Eq.run(elem, &repeated(&second, lhs.size()), &repeated(&second, lhs.size()), &mut equal[1]);
            holds.iter_mut().enumerate().for_each(|(i, holds)| *holds &= equal[0][i] & equal[1][i]);
        }
        let seed = seed.read(m);
        out.write(m, lhs.count, |i| seed.is(i) && holds[i] != 0);
    })
}

/// One element for every lane, or the lanes as they are.
fn repeated(one: &[u8], size: usize) -> Bytes {
    one.iter().copied().cycle().take(size).collect()
}

fn verify_vsel(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    one_of(op, "pmode", &["zero", "merge"], diags);
    if let Some(lanes) = check::vector(op, "src0") {
        check::governs(op, "mask", lanes, diags);
    }
}

fn lower_vsel(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (mask, src0, src1, out) = (e.predicate("mask")?, e.vector("src0")?, e.vector("src1")?, e.gives(0)?);
    e.price = Some(("vsel", out.slots.len()));
    e.compute(VectorPort::Alu, out.elem, move |m, _| {
        let (active, first, mut result) = (mask.read(m), src0.read(m), src1.read(m));
        for i in (0..out.count).filter(|i| active.is(*i)) {
            let lane = i * out.bytes..(i + 1) * out.bytes;
            result[lane.clone()].copy_from_slice(&first[lane]);
        }
        out.write(m, &result);
    })
}

fn verify_vselr(op: &OpRef<'_>, diags: &mut Diags) {
    let (Some(src), Some(index), Some(out)) =
        (check::vector(op, "src"), check::vector(op, "index"), check::result(op, 0))
    else {
        return;
    };
    if index.lane.arithmetic().is_none_or(|elem| elem.is_float()) || index.lane.bytes() != src.lane.bytes() {
        let message = format!("lanes of {} take integer indices as wide, not {}", src.lane, index.lane);
        diags.push(op.error("elem-type", message));
    }
    if src != out {
        diags.push(op.error("vreg-type", "the result has the type of `src`"));
    }
    check::lanes(op, "indices", index, src.lanes, diags);
}

fn lower_vselr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    e.faults = true;
    let (src, index, out) = (e.vector("src")?, e.vector("index")?, e.gives(0)?);
    e.price = Some(("vselr", out.slots.len()));
    e.step(VectorPort::Alu, out.elem, move |m, _| {
        let (from, at) = (src.read(m), index.read(m));
        let mut result = Bytes::from_elem(0, out.size());
        for i in 0..out.count {
            let lane = bits(&at, i, index.bytes) as usize;
            if lane >= src.count {
                let message = format!("takes lane {lane} of {} for lane {i}", src.count);
                return Err(Fault::new("lane-index", message));
            }
            set_bits(&mut result, i, out.bytes, bits(&from, lane, src.bytes));
        }
        out.write(m, &result);
        Ok(0)
    })
}
