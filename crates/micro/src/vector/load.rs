//! Loads from UB into vector registers (micro-instruction manual, vector load).

use slipring_ir::{AttrKind, Diags, Infer, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_vector::{BYTES, Register, Whole};

use super::emit::Emit;
use super::modes::{LOADS, LoadMode, PairMode, SPLITS};
use super::{MASK, MOVED, OUT, STEP, UB, VREG, check};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, defaulted, one_of, operand, required, result};

ops! {
    OPS;

    /// Reads UB, `offset` elements after `ptr`; in the form that gives `moved`, at `ptr`, and `moved` is that place.
    /// `dist` says what becomes of it; `n` stands for the bits in its name, `m` for elements of so many bits in memory,
    /// whatever type the register has. `NORM`: 256 bytes as they are. `BRC_Bn` (8, 16, 32): one element, in every lane.
    /// `BRC_BLK`: one block of 32 bytes, eight times. `US_Bn` (8, 16): 128 bytes, each element twice: `out[2i] =
    /// out[2i+1] = m[i]`. `DS_Bn` (8, 16): every second element of 512 bytes: `out[i] = m[2i]`. `UNPK_Bn` (8, 16, 32):
    /// 128 bytes, each element with zeros after it to twice its width. `UNPK4`: 64 bytes, each widened to 32 bits with
    /// zeros. `E2B_Bn` (16, 32): eight elements, each filling a block of 32 bytes. `SPLT2CHN_Bn` (8, 16): channel 0 of
    /// two that take turns in 512 bytes: `out[i] = m[2i]`. `SPLT4CHN`: channel 0 of four one-byte channels in 1024
    /// bytes: `out[i] = m[4i]`. No published program uses these two. The address is a multiple of 32 bytes; of the
    /// element for `BRC_Bn`, of 16 for `E2B_B16`. The manual gives element types to each distribution; the published
    /// programs use others (`BRC_B8` on `f32`), which run.
    VLDS "pto.vlds" "Load a vector register": STEP, source: "micro-instruction manual, `pto.vlds`", verify: verify_vlds,
        lower: vlds
        => {
            syntax: Syntax::Format("$ptr `[` $offset `]` attr-dict `:` type($ptr) `->` type($out) (`,` type($moved))?"),
            operands: &[
                operand("ptr", UB, Touch::Read, "where in UB"),
                operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
            ],
            results: &[OUT, MOVED],
            attrs: &[defaulted("dist", AttrKind::Str, "how memory becomes lanes; `NORM` where it is left out")],
        };

    /// 512 bytes of UB, `offset` elements after `ptr` (with `moved`: at `ptr`): `low[i] = m[2i]`, `high[i] = m[2i+1]`.
    /// `DINTLV_B8`, `DINTLV_B16` and `DINTLV_B32` take elements of 8, 16 and 32 bits, `BDINTLV` blocks of 32 bytes,
    /// whatever type the registers have. The address is a multiple of 32 bytes.
    VLDSX2 "pto.vldsx2" "Load two vector registers that take turns": STEP,
        source: "micro-instruction manual, `pto.vldsx2`", verify: verify_vldsx2, lower: vldsx2
        => {
            syntax: Syntax::Format(
                "$ptr `[` $offset `]` `,` $dist attr-dict `:` type($ptr) `,` type($offset) `->` type($low) `,` type($high) \
                 (`,` type($moved))?",
            ),
            operands: &[
                operand("ptr", UB, Touch::Read, "where in UB"),
                operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
            ],
            results: &[
                result("low", VREG, Infer::Written, "elements 0, 2, 4 …"),
                result("high", VREG, Infer::Written, "elements 1, 3, 5 …"),
                MOVED,
            ],
            attrs: &[required("dist", AttrKind::Str, "what an element is")],
            aliases: &["pto.vldx2"],
        };

    /// Block `k` of the register, of eight of 32 bytes, is the one at `ptr + 32 (repeat_stride + k block_stride)`. It
    /// is read if any lane in it is active, and 0 else; what is not read need not exist. The strides are 16-bit,
    /// unsigned; `ptr` is a multiple of 32 bytes. With `moved` the blocks begin at `ptr`, and `moved` is
    /// `repeat_stride` blocks further. The manual's formula asks bit `k` of a `b32` predicate; its compiler makes
    /// predicates of as many lanes as are to be loaded, which is what this follows.
    VSLDB "pto.vsldb" "Load blocks at a distance": STEP, source: "micro-instruction manual, `pto.vsldb`",
        verify: verify_vsldb, lower: vsldb
        => {
            syntax: Syntax::Format(
                "$ptr `,` $block_stride `,` $repeat_stride `,` $mask attr-dict `:` type($ptr) `,` type($block_stride) `,` \
                 type($repeat_stride) `,` type($mask) `->` type($out) (`,` type($moved))?",
            ),
            operands: &[
                operand("ptr", UB, Touch::Read, "where in UB"),
                operand("block_stride", INTEGER, Touch::Nothing, "from one block to the next, in blocks of 32 bytes"),
                operand("repeat_stride", INTEGER, Touch::Nothing, "to the first block, in blocks of 32 bytes"),
                operand("mask", MASK, Touch::Nothing, "the blocks that are read; the others become 0"),
            ],
            results: &[OUT, MOVED],
        };
}

fn verify_vlds(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "dist", &LOADS.each_ref().map(|mode| mode.name), diags);
    check::as_wide(op, "ptr", check::result_elem(op, 0), diags);
    check::moved(op, "ptr", 1, diags);
}

fn verify_vldsx2(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "dist", &SPLITS.each_ref().map(|mode| mode.name), diags);
    check::same(op, diags);
    check::as_wide(op, "ptr", check::result_elem(op, 0), diags);
    check::moved(op, "ptr", 2, diags);
}

fn verify_vsldb(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    blocks(op, check::result_elem(op, 0), "ptr", "mask", diags);
    check::moved(op, "ptr", 1, diags);
}

fn vlds(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let name = op.text("dist").unwrap_or(LOADS[0].name);
    let LoadMode { bytes, align, spread, .. } = *LOADS.iter().find(|mode| mode.name == name).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let at = e.address("ptr", "offset", 1)?;
    let out = e.out(0);
    let elem = check::pointee(op, "ptr").ok_or(Reported)?;
    if name == LOADS[0].name {
        e.whole = Some(Whole::Load(out));
        return e.step(VectorPort::Load, elem, move |m, args| {
            check::aligned(args[at], 32, "reads")?;
            m.load_register(out, args[at]).map(|()| 0)
        });
    }
    e.step(VectorPort::Load, elem, move |m, args| {
        check::aligned(args[at], align, "reads")?;
        let mut value = Register::ZERO;
        spread(m.load(args[at], bytes)?, &mut value.0);
        m.set(out, value);
        Ok(0)
    })
}

fn vldsx2(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let name = op.text("dist").ok_or(Reported)?;
    let PairMode { split, .. } = *SPLITS.iter().find(|mode| mode.name == name).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let at = e.address("ptr", "offset", 2)?;
    let outs = [e.out(0), e.out(1)];
    let elem = check::pointee(op, "ptr").ok_or(Reported)?;
    e.step(VectorPort::Load, elem, move |m, args| {
        check::aligned(args[at], 32, "reads")?;
        let memory = m.load(args[at], 2 * BYTES)?;
        let mut values = [Register::ZERO; 2];
        for (first, value) in values.iter_mut().enumerate() {
            split(memory, &mut value.0, first);
        }
        outs.iter().zip(values).for_each(|(out, value)| m.set(*out, value));
        Ok(0)
    })
}

/// The rules for loads and stores of blocks: with lanes of `elem`, through pointer `ptr`.
pub(super) fn blocks(op: &OpRef<'_>, elem: Option<slipring_tile::Elem>, ptr: &str, mask: &str, diags: &mut Diags) {
    if let Some(elem) = elem {
        check::granularity(op, mask, check::mask_bits(elem), &format!("lanes of {elem}"), diags);
    }
    check::as_wide(op, ptr, elem, diags);
}

/// The address of block `k` at these strides.
#[inline]
pub(super) fn block_address(base: u64, block_stride: u64, repeat_stride: u64, k: usize) -> u64 {
    let blocks = u64::from(repeat_stride as u16) + k as u64 * u64::from(block_stride as u16);
    base.saturating_add(32 * blocks)
}

fn vsldb(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (base, block) = (e.number("ptr")?, e.number("block_stride")?);
    let repeat = e.blocks("ptr", "repeat_stride", 1)?;
    let mask = e.reg("mask")?;
    let out = e.out(0);
    let elem = check::pointee(op, "ptr").ok_or(Reported)?;
    e.step(VectorPort::Load, elem, move |m, args| {
        check::aligned(args[base], 32, "reads blocks from")?;
        let (mask, mut value) = (m.mask(mask), Register::ZERO);
        for (k, to) in value.0.as_chunks_mut::<32>().0.iter_mut().enumerate().filter(|(k, _)| mask.block(*k)) {
            to.copy_from_slice(m.load(block_address(args[base], args[block], args[repeat], k), 32)?);
        }
        m.set(out, value);
        Ok(0)
    })
}
