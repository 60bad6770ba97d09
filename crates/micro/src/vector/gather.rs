//! Loads and stores with an index for each lane (micro-instruction manual, gather and scatter).

use slipring_ir::{Diags, OpSchema, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::Elem;
use slipring_vector::{BYTES, Register};

use super::super::scattered::Scattered;
use super::emit::Emit;
use super::{MASK, OUT, STEP, UB, check, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{operand, schema};
use slipring_op::{ops, positional};

const GATHER: OpSchema = schema(
    "",
    positional!("ptr" "offsets" "mask" => "out"),
    &[
        operand("ptr", UB, Touch::Read, "where in UB"),
        vreg("offsets", "how far after it, for each lane"),
        operand("mask", MASK, Touch::Nothing, "what is read; the rest becomes 0"),
    ],
    &[OUT],
    &[],
);

ops! {
    OPS;

    /// `out[i] = ptr[offsets[i]]` where lane `i` is active, else 0 and nothing is read. Offsets are unsigned integers
    /// that count elements and are as wide as the lanes: 32-bit ones for 64 lanes, 16-bit ones for 128. Through a
    /// pointer to 8-bit elements 128 of them are read into 16-bit lanes, with zeros above. `ptr` is a multiple of its
    /// element's size.
    VGATHER2 "pto.vgather2" "Load an element for each lane": STEP.with(GATHER),
        source: "micro-instruction manual, `pto.vgather2`", verify: |op, _, diags| verify_gather(op, &[16, 32], diags),
        lower: gather;

    /// As `pto.vgather2`, with 32-bit offsets and lanes only.
    VGATHER2_BC "pto.vgather2_bc" "Load an element for each lane, older form": STEP.with(GATHER),
        source: "micro-instruction manual, `pto.vgather2_bc`", verify: |op, _, diags| verify_gather(op, &[32], diags),
        lower: gather;

    /// Block `k` of the register, of eight of 32 bytes, is the one at byte `ptr + offsets[k]` where lane `k` of the
    /// `b32` predicate is active, else 0 and nothing is read. Lanes from 8 on, of offsets and predicate, do not count:
    /// eight active lanes fill the whole register. Offsets are 32-bit and read as unsigned (the manual writes `ui32`,
    /// assembler 0.60 takes any sign); they and `ptr` are multiples of 32 bytes.
    VGATHERB "pto.vgatherb" "Load a block for each of eight offsets": STEP.with(GATHER),
        source: "micro-instruction manual, `pto.vgatherb`", verify: verify_vgatherb, lower: lower_vgatherb;

    /// `ptr[offsets[i]] = value[i]` for the active lanes. Offsets are unsigned integers that count elements: 32-bit
    /// ones for 64 lanes of 32 bits, 16-bit ones for 128 lanes of 16 bits. Of 8-bit elements 128 are stored with 16-bit
    /// offsets: those in the low bytes of the 16-bit lanes, under a `b16` predicate. `ptr` is a multiple of its
    /// element's size. Of lanes with one offset the highest is stored, with a warning where they differ: the manual leaves
    /// open which.
    VSCATTER "pto.vscatter" "Store an element for each lane": STEP, source: "micro-instruction manual, `pto.vscatter`",
        verify: verify_scatter, lower: scatter
        => {
            syntax: positional!("value" "ptr" "offsets" "mask"),
            operands: &[
                vreg("value", "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                vreg("offsets", "how far after it, for each lane"),
                operand("mask", MASK, Touch::Nothing, "the lanes that are stored"),
            ],
        };
}

fn verify_vgatherb(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    offset_width(op, "offsets", &[32], diags);
    check::granularity(op, "mask", 32, "blocks", diags);
    check::as_wide(op, "ptr", check::result_elem(op, 0), diags);
}

fn lower_vgatherb(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let to = check::pointee(op, "ptr").ok_or(Reported)?;
    let base = e.number("ptr")?;
    let (offsets, mask) = (e.reg("offsets")?, e.reg("mask")?);
    let out = e.out(0);
    e.step(VectorPort::Load, to, move |m, args| {
        check::aligned(args[base], 32, "gathers blocks from")?;
        let (offsets, mask, mut value) = (*m.reg(offsets), m.mask(mask), Register::ZERO);
        for (k, to) in value.0.as_chunks_mut::<32>().0.iter_mut().enumerate().filter(|(k, _)| mask.lane(*k, 4)) {
            let at = args[base].saturating_add(offsets.bits(k, 4));
            check::aligned(at, 32, "gathers a block from")?;
            to.copy_from_slice(m.load(at, 32)?);
        }
        m.set(out, value);
        Ok(0)
    })
}

/// Requires offsets of one of these widths in bits, and lanes of the same width.
fn verify_gather(op: &OpRef<'_>, widths: &[usize], diags: &mut Diags) {
    let (Some(to), Some(offsets), Some(lanes)) =
        (check::pointee(op, "ptr"), check::elem(op, "offsets"), check::result_elem(op, 0))
    else {
        return;
    };
    if !offset_width(op, "offsets", widths, diags) {
        return;
    }
    let bytes = offsets.bytes();
    let widened = matches!((to, lanes), (Elem::I8, Elem::I16) | (Elem::U8, Elem::U16));
    let wide_enough = lanes.bytes() == bytes && (to.bytes() == bytes || (to.bytes(), bytes) == (1, 2));
    if wide_enough && to != lanes && !widened {
        let message = format!("elements of {to} cannot be gathered into lanes of {lanes}");
        let help = "i8 goes into lanes of i16, ui8 of ui16, every wider type into its own; `pto.vbitcast` looks at lanes as \
                    another type";
        diags.push(op.error("elem-type", message).help(help));
    }
    if !wide_enough {
        let message = format!("offsets of {offsets} cannot gather elements of {to} into lanes of {lanes}");
        diags.push(
            op.error("elem-width", message).help(format!("the lanes are {} bits wide, as the offsets", 8 * bytes)),
        );
    }
    check::granularity(op, "mask", check::mask_bits(lanes), &format!("lanes of {lanes}"), diags);
}

fn offset_width(op: &OpRef<'_>, index: &str, widths: &[usize], diags: &mut Diags) -> bool {
    let Some(elem) = check::elem(op, index) else { return false };
    let fits = !elem.is_float() && widths.contains(&(8 * elem.bytes()));
    if !fits {
        let widths: Vec<_> = widths.iter().map(|w| format!("{w}-bit")).collect();
        let message = format!("takes offsets that are {} integers, not {elem}", widths.join(" or "));
        diags.push(op.error("offset-type", format!("`{}` {message}", op.def.schema.name)));
    }
    fits
}

fn gather(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let to = check::pointee(op, "ptr").ok_or(Reported)?;
    let base = e.number("ptr")?;
    let lane = e.elem("offsets")?.bytes();
    let (offsets, mask) = (e.reg("offsets")?, e.reg("mask")?);
    let out = e.out(0);
    let size = to.bytes();
    e.step(VectorPort::Load, to, move |m, args| {
        check::aligned(args[base], size as u64, "gathers from")?;
        let (offsets, mask, mut value) = (*m.reg(offsets), m.mask(mask), Register::ZERO);
        for i in (0..BYTES / lane).filter(|i| mask.lane(*i, lane)) {
            let at = args[base].saturating_add(offsets.bits(i, lane) * size as u64);
            value.0[i * lane..][..size].copy_from_slice(m.load(at, size)?);
        }
        m.set(out, value);
        Ok(0)
    })
}

fn verify_scatter(op: &OpRef<'_>, _: &slipring_machine::Platform, diags: &mut Diags) {
    let (Some(value), Some(offsets)) = (check::elem(op, "value"), check::elem(op, "offsets")) else { return };
    check::as_wide(op, "ptr", Some(value), diags);
    if !offset_width(op, "offsets", &[16, 32], diags) {
        return;
    }
    let (size, bytes) = (value.bytes(), offsets.bytes());
    if size != bytes && (size, bytes) != (1, 2) {
        diags.push(op.error("elem-width", format!("offsets of {offsets} cannot scatter elements of {value}")));
    }
    check::granularity(op, "mask", 8 * bytes as u8, &format!("offsets of {offsets}"), diags);
}

fn scatter(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let scattered = Scattered::on(d.platform);
    let mut e = Emit::new(op, d);
    let elem = e.elem("value")?;
    let value = e.data("value")?;
    let base = e.number("ptr")?;
    let lane = e.elem("offsets")?.bytes();
    let (offsets, mask) = (e.reg("offsets")?, e.reg("mask")?);
    let size = elem.bytes();
    e.step(VectorPort::Store, elem, move |m, args| {
        check::aligned(args[base], size as u64, "scatters to")?;
        let (value, offsets, mask) = (*m.reg(value), *m.reg(offsets), m.mask(mask));
        let lanes = (0..BYTES / lane).filter(|i| mask.lane(*i, lane)).map(|i| (offsets.bits(i, lane), i));
        let bytes = |i: usize| &value.0[i * lane..][..size];
        for (offset, i) in scattered.kept(m, lanes, |one, other| bytes(one) == bytes(other)) {
            let to = args[base].saturating_add(offset * size as u64);
            m.store(to, size)?.copy_from_slice(bytes(i));
        }
        Ok(0)
    })
}
