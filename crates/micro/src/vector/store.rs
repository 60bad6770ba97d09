//! Stores from vector registers to UB (micro-instruction manual, vector store).

use slipring_ir::{AttrKind, Diags, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_vector::{BYTES, Whole};

use super::emit::Emit;
use super::load::{block_address, blocks};
use super::modes::{JOINS, MERGES, PairMode, STORES, StoreMode};
use super::{MASK, MOVED, STEP, UB, check, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, defaulted, one_of, operand, optional, required};

ops! {
    OPS;

    /// Writes UB, `offset` elements after `ptr`; in the form that gives `moved`, at `ptr`, and `moved` is that place.
    /// Memory of inactive lanes keeps its content. `dist` says what is written; the bits in its name are those of a
    /// lane, whatever type the register has. `NORM_B8`, `NORM_B16`, `NORM_B32`: the lanes as they are. Left out: those
    /// of the element type; 64-bit elements count as two lanes of 32 bits. `1PT_B8`, `1PT_B16`, `1PT_B32`: lane 0 only,
    /// whatever the predicate says. `PK_B16`, `PK_B32`, `PK_B64`: the lower half of each lane, close together.
    /// `PK4_B32`: the lowest byte of each 32-bit lane. What an inactive lane would write keeps its content; bit `8i` of
    /// the predicate governs 64-bit lane `i`. The predicate is one for the lanes of the distribution (`b32` for 64-bit
    /// ones). The address is a multiple of 32 bytes; of the lane for `1PT`. The manual gives element types to each
    /// distribution; the published programs use others (`PK_B64` on `f32`), which run. `MRG4CHN_B8`, `MRG2CHN_B8` and
    /// `MRG2CHN_B16` are names in the manual that the A5 does not have.
    VSTS "pto.vsts" "Store a vector register": STEP, source: "micro-instruction manual, `pto.vsts`",
        verify: verify_vsts, lower: vsts
        => {
            syntax: Syntax::Format(
                "$value `,` $ptr `[` $offset `]` (`,` $mask)? attr-dict `:` type($value) `,` type($ptr) (`,` type($mask))? \
                 (`->` type($moved))?",
            ),
            operands: &[
                vreg("value", "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
                optional("mask", MASK, Touch::Nothing, "the lanes that are stored; all where it is left out"),
            ],
            results: &[MOVED],
            attrs: &[defaulted("dist", AttrKind::Str, "what is stored of each lane; all of it where it is left out")],
        };

    /// 512 bytes of UB, `offset` elements after `ptr`: `m[2i] = low[i]`, `m[2i+1] = high[i]`. `INTLV_B8`, `INTLV_B16`
    /// and `INTLV_B32` take elements of 8, 16 and 32 bits, whatever type the registers have. Everything is stored,
    /// whatever the predicate says. The address is a multiple of 32 bytes.
    VSTSX2 "pto.vstsx2" "Store two vector registers that take turns": STEP,
        source: "micro-instruction manual, `pto.vstsx2`", verify: verify_vstsx2, lower: vstsx2
        => {
            syntax: Syntax::Format(
                "$low `,` $high `,` $ptr `[` $offset `]` `,` $dist `,` $mask attr-dict `:` type($low) `,` type($high) `,` \
                 type($ptr) `,` type($offset) `,` type($mask)",
            ),
            operands: &[
                vreg("low", "elements 0, 2, 4 …"),
                vreg("high", "elements 1, 3, 5 …"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
                operand("mask", MASK, Touch::Nothing, "not asked"),
            ],
            attrs: &[required("dist", AttrKind::Str, "what an element is")],
            aliases: &["pto.vstx2"],
        };

    /// Block `k` of the register, of eight of 32 bytes, goes to `ptr + 32 (repeat_stride + k block_stride)`, whole, if
    /// any lane in it is active. The strides are 16-bit, unsigned; `ptr` is a multiple of 32 bytes. Which lanes count
    /// as active: see `pto.vsldb`. With `moved` the blocks begin at `ptr`, and `moved` is `repeat_stride` blocks
    /// further.
    VSSTB "pto.vsstb" "Store blocks at a distance": STEP, source: "micro-instruction manual, `pto.vsstb`",
        verify: verify_vsstb, lower: vsstb
        => {
            syntax: Syntax::Format(
                "$value `,` $ptr `,` $block_stride `,` $repeat_stride `,` $mask attr-dict `:` type($value) `,` type($ptr) `,` \
                 type($block_stride) `,` type($repeat_stride) `,` type($mask) (`->` type($moved))?",
            ),
            operands: &[
                vreg("value", "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                operand("block_stride", INTEGER, Touch::Nothing, "from one block to the next, in blocks of 32 bytes"),
                operand("repeat_stride", INTEGER, Touch::Nothing, "to the first block, in blocks of 32 bytes"),
                operand("mask", MASK, Touch::Nothing, "the blocks that are stored"),
            ],
            results: &[MOVED],
        };
}

fn verify_vstsx2(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "dist", &JOINS.each_ref().map(|mode| mode.name), diags);
    check::same(op, diags);
    check::as_wide(op, "ptr", check::elem(op, "low"), diags);
}

fn verify_vsstb(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    blocks(op, check::elem(op, "value"), "ptr", "mask", diags);
    check::moved(op, "ptr", 0, diags);
}

fn verify_vsts(op: &OpRef<'_>, _: &slipring_machine::Platform, diags: &mut Diags) {
    if let Some(name) = op.text("dist").filter(|name| MERGES.contains(name)) {
        let message = format!("the A5 has no channel-merging store `{name}`: the manual only keeps its name");
        diags.push(op.error(slipring_ir::Kind::Unsupported, message).help("interleave with `pto.vstsx2` instead"));
        return;
    }
    one_of(op, "dist", &STORES.each_ref().map(|mode| mode.name), diags);
    if let Some(bits) = store_mode(op).and_then(StoreMode::mask_bits) {
        check::granularity(op, "mask", bits, "the lanes that it stores", diags);
    }
    check::as_wide(op, "ptr", check::elem(op, "value"), diags);
    check::moved(op, "ptr", 0, diags);
}

/// The distribution of the op, by name or element type.
fn store_mode(op: &OpRef<'_>) -> Option<&'static StoreMode> {
    match op.text("dist") {
        Some(name) => STORES.iter().find(|mode| mode.name == name),
        None => {
            let lane = check::elem(op, "value")?.bytes().min(4);
            STORES.iter().find(|mode| mode.lane == lane)
        }
    }
}

fn vsts(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mode = store_mode(op).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let elem = e.elem("value")?;
    let value = e.data("value")?;
    let at = e.address("ptr", "offset", 0)?;
    let StoreMode { lane, kept, first_only, .. } = *mode;
    let mask = if first_only { None } else { e.optional("mask")? };
    if lane == kept && !first_only {
        e.whole = Some(Whole::Store(value, mask.map(|mask| (mask, lane))));
        return e.step(VectorPort::Store, elem, move |m, args| {
            check::aligned(args[at], 32, "writes")?;
            match mask.map(|mask| m.mask(mask)).filter(|mask| !mask.is_full(lane)) {
                None => m.store_register(value, args[at])?,
                Some(mask) => {
                    let value = *m.reg(value);
                    m.store_lanes(args[at], &value.0, lane, |i| mask.lane(i, lane))?;
                }
            }
            Ok(0)
        });
    }
    let stored = if first_only { kept } else { BYTES / lane * kept };
    e.step(VectorPort::Store, elem, move |m, args| {
        check::aligned(args[at], mode.align(), "writes")?;
        let packed = mode.pack(&m.reg(value).0);
        let mask = mask.map(|mask| m.mask(mask));
        m.store_lanes(args[at], &packed[..stored], kept, |i| mask.is_none_or(|mask| mask.lane(i, lane)))?;
        Ok(0)
    })
}

fn vstsx2(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let name = op.text("dist").ok_or(Reported)?;
    let PairMode { join, .. } = *JOINS.iter().find(|mode| mode.name == name).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let elem = e.elem("low")?;
    let (low, high) = (e.data("low")?, e.data("high")?);
    let at = e.address("ptr", "offset", 0)?;
    e.step(VectorPort::Store, elem, move |m, args| {
        check::aligned(args[at], 32, "writes")?;
        let (low, high) = (*m.reg(low), *m.reg(high));
        join([&low.0, &high.0], m.store(args[at], 2 * BYTES)?);
        Ok(0)
    })
}

fn vsstb(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("value")?;
    let value = e.data("value")?;
    let (base, block) = (e.number("ptr")?, e.number("block_stride")?);
    let repeat = e.blocks("ptr", "repeat_stride", 0)?;
    let mask = e.reg("mask")?;
    e.step(VectorPort::Store, elem, move |m, args| {
        check::aligned(args[base], 32, "writes blocks from")?;
        let (mask, value) = (m.mask(mask), *m.reg(value));
        for (k, from) in value.0.as_chunks::<32>().0.iter().enumerate().filter(|(k, _)| mask.block(*k)) {
            m.store(block_address(args[base], args[block], args[repeat], k), 32)?.copy_from_slice(from);
        }
        Ok(0)
    })
}
