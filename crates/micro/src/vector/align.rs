//! Unaligned streams and the registers that carry them (micro-instruction manual, unaligned loads, alignment state stores).

use slipring_ir::{AttrKind, Infer, OperandSpec, ResultSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::VectorPort;
use slipring_program::Fault;
use slipring_tile::Elem;
use slipring_vector::{Align, BLOCK, BYTES, Machine, Register, block_of};

use super::emit::Emit;
use super::{OUT, STEP, UB, check, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, operand, required, result};
use slipring_op::{ops, positional};

/// `!pto.align`.
const ALIGN: TypeRule = TypeRule { describe: "an alignment register", accepts: |t| matches!(t, Type::Align) };

/// An operand that is an alignment register.
pub(super) const fn align(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, ALIGN, Touch::Nothing, doc)
}

/// A result that is an alignment register.
pub(super) const fn align_out(name: &'static str, doc: &'static str) -> ResultSpec {
    result(name, ALIGN, Infer::Written, doc)
}

ops! {
    OPS;

    /// Reads the aligned block of 32 bytes that `ptr` points into; `ptr` itself may be any address. Of the block, the
    /// bytes from `ptr` on count as read.
    VLDAS "pto.vldas" "Begin a stream of unaligned loads": STEP, source: "micro-instruction manual, `pto.vldas`",
        lower: lower_vldas
        => {
            syntax: positional!("ptr" => "align"),
            operands: &[operand("ptr", UB, Touch::Read, "where the stream begins")],
            results: &[align_out("align", "the block that the first byte lies in")],
        };

    /// 256 bytes from `ptr` on. Those before the first multiple of 32 come from `align`, as memory was when that was
    /// read; the others from memory. `next` continues the stream 256 bytes further. An alignment register with another
    /// block is a fault, except where `ptr` is a multiple of 32 bytes and needs none.
    VLDUS "pto.vldus" "Load a vector register from any address": STEP, source: "micro-instruction manual, `pto.vldus`",
        verify: |op, _, diags| check::as_wide(op, "ptr", check::result_elem(op, 0), diags), lower: lower_vldus
        => {
            syntax: positional!("ptr" "align" => "out" "next"),
            operands: &[
                operand("ptr", UB, Touch::Read, "where in UB, at any address"),
                align("align", "the block that the first byte lies in: of `pto.vldas`, or of the load before"),
            ],
            results: &[OUT, align_out("next", "the block that the byte after these lies in")],
        };

    /// An alignment register for `pto.vstus`, `pto.vstur` and `pto.pstu`, without pending bytes.
    INIT_ALIGN "pto.init_align" "Begin a stream of unaligned stores": STEP,
        source: "micro-instruction manual, `pto.init_align`", lower: lower_init_align
        => { syntax: Syntax::Format("attr-dict `:` type($align)"), results: &[align_out("align", "nothing pending")] };

    /// The first `count` elements of `value` go to `ptr`, where the stream must stand if bytes of it are pending. What
    /// does not fill its aligned block of 32 bytes stays pending in `next`, until a later store of the stream or
    /// `pto.vstas` puts it down; what is never flushed is lost. The manual calls the count an offset; the published
    /// program shows that it says how much is stored.
    VSTUS "pto.vstus" "Store some elements to any address": STEP, source: "micro-instruction manual, `pto.vstus`",
        verify: |op, _, diags| check::as_wide(op, "ptr", check::elem(op, "value"), diags), lower: lower_vstus
        => {
            syntax: positional!("align" "count" "value" "ptr" => "next"),
            operands: &[
                align("align", "the stream"),
                operand("count", INTEGER, Touch::Nothing, "elements to store, which is how far the stream advances"),
                vreg("value", "what to store, from lane 0 on"),
                operand("ptr", UB, Touch::Write, "where the stream stands, at any address"),
            ],
            results: &[align_out("next", "the stream after it")],
        };

    /// The first SQZN bytes of `value` go to `ptr + AR`: SQZN is what the last `pto.vsqz` kept, AR is where the stream
    /// stands (`pto.sprclr "AR"` makes it 0). `POST_UPDATE` adds SQZN to AR, `NO_POST_UPDATE` leaves it. What does not
    /// fill its aligned block of 32 bytes stays pending in `next` until a later store of the stream or `pto.vstar` puts
    /// it down. Both registers are 0 when a vector function starts.
    VSTUR "pto.vstur" "Store what was squeezed to any address": STEP, source: "micro-instruction manual, `pto.vstur`",
        verify: |op, _, diags| check::one_of(op, "mode", &MODES, diags), lower: lower_vstur
        => {
            syntax: Syntax::Format(
                "$align `,` $value `,` $ptr `,` $mode attr-dict `:` type($align) `,` type($value) `,` type($ptr) `->` type($next)",
            ),
            operands: &[
                align("align", "the stream"),
                vreg("value", "what to store, from lane 0 on"),
                operand("ptr", UB, Touch::Write, "where the stream began, at any address"),
            ],
            results: &[align_out("next", "the stream after it")],
            attrs: &[required("mode", AttrKind::Str, "whether AR advances")],
        };

    /// Puts the pending bytes down: those before byte `offset` elements after `ptr`, which is where the stream must
    /// stand. Without pending bytes it does nothing.
    VSTAS "pto.vstas" "End a stream of unaligned stores": STEP, source: "micro-instruction manual, `pto.vstas`",
        lower: lower_vstas
        => {
            syntax: positional!("align" "ptr" "offset"),
            operands: &[
                align("align", "the stream"),
                operand("ptr", UB, Touch::Write, "an address"),
                operand("offset", INTEGER, Touch::Nothing, "elements from there to where the stream stands"),
            ],
        };

    /// Puts the pending bytes down: those before byte `ptr + AR`, which is where the stream must stand. Without pending
    /// bytes it does nothing.
    VSTAR "pto.vstar" "End a stream of stores that AR follows": STEP, source: "micro-instruction manual, `pto.vstar`",
        lower: lower_vstar
        => {
            syntax: positional!("align" "ptr"),
            operands: &[align("align", "the stream"), operand("ptr", UB, Touch::Write, "where the stream began")],
        };

    /// AR becomes 0: the next `pto.vstur` stores to its pointer itself. AR is the only register that can be cleared.
    SPRCLR "pto.sprclr" "Clear a special register": STEP,
        source: "micro-instruction manual, `pto.vstur`; published programs",
        verify: |op, _, diags| check::one_of(op, "register", &["AR"], diags), lower: lower_sprclr
        => {
            syntax: Syntax::Format("$register attr-dict"),
            attrs: &[required("register", AttrKind::Str, "which special register")],
        };
}

fn lower_vldas(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let at = e.number("ptr")?;
    let out = e.out(0);
    e.step(VectorPort::Load, Elem::U8, move |m, args| {
        m.load(args[at], ((BLOCK - args[at] % BLOCK) % BLOCK) as usize)?;
        let block = m.stream_block(args[at]);
        m.set_align(out, block);
        Ok(0)
    })
}

fn lower_vldus(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let at = e.number("ptr")?;
    let from = e.data("align")?;
    let (out, next) = (e.out(0), e.out(1));
    e.step(VectorPort::Load, Elem::U8, move |m, args| {
        let mut value = Register::ZERO;
        value.0.copy_from_slice(m.load(args[at], BYTES)?);
        let from = m.align(from);
        let head = from.head(args[at], VLDAS.schema.name)?;
        value.0[..head.len()].copy_from_slice(head);
        m.set(out, value);
        let block = m.stream_block(block_of(args[at] + BYTES as u64));
        m.set_align(next, block);
        Ok(0)
    })
}

fn lower_init_align(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let out = e.out(0);
    e.step(VectorPort::Alu, Elem::U8, move |m, _| {
        m.set_align(out, Align::default());
        Ok(0)
    })
}

fn lower_vstus(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let from = e.data("align")?;
    let count = e.number("count")?;
    let elem = e.elem("value")?;
    let value = e.data("value")?;
    let at = e.number("ptr")?;
    let next = e.out(0);
    let lanes = BYTES / elem.bytes();
    e.step(VectorPort::Store, elem, move |m, args| {
        let count = args[count] as i64;
        if !(0..=lanes as i64).contains(&count) {
            let message = format!("stores {count} elements of {elem}; a register has {lanes}");
            return Err(Fault::new("store-count", message));
        }
        let (align, value) = (m.align(from), *m.reg(value));
        let align = stream(m, align, args[at], &value.0[..count as usize * elem.bytes()])?;
        m.set_align(next, align);
        Ok(0)
    })
}

fn lower_vstur(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let update = op.text("mode") == Some(MODES[0]);
    let mut e = Emit::new(op, d);
    e.placed = true;
    let from = e.data("align")?;
    let elem = e.elem("value")?;
    let value = e.data("value")?;
    let at = e.number("ptr")?;
    let next = e.out(0);
    e.step(VectorPort::Store, elem, move |m, args| {
        let (align, value) = (m.align(from), *m.reg(value));
        let bytes = (m.sqzn as usize).min(BYTES);
        let align = stream(m, align, args[at].saturating_add(m.ar), &value.0[..bytes])?;
        m.set_align(next, align);
        if update {
            m.ar += bytes as u64;
        }
        Ok(0)
    })
}

fn lower_vstas(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let from = e.data("align")?;
    let at = e.address("ptr", "offset")?;
    e.step(VectorPort::Store, pointee(op)?, move |m, args| flush(m, m.align(from), args[at]))
}

fn lower_vstar(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    e.placed = true;
    let from = e.data("align")?;
    let at = e.number("ptr")?;
    e.step(VectorPort::Store, pointee(op)?, move |m, args| flush(m, m.align(from), args[at].saturating_add(m.ar)))
}

fn lower_sprclr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    Emit::new(op, d).step(VectorPort::None, Elem::U8, |m, _| {
        m.ar = 0;
        Ok(0)
    })
}

/// Adds bytes to a stream of stores.
pub(super) fn stream(m: &mut Machine<'_>, align: Align, at: u64, bytes: &[u8]) -> Result<Align, Fault> {
    align.store(at, bytes, INIT_ALIGN.schema.name, |to, bytes| {
        m.store(to, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    })
}

const MODES: [&str; 2] = ["POST_UPDATE", "NO_POST_UPDATE"];

fn pointee(op: &OpRef<'_>) -> Result<Elem, Reported> {
    check::pointee(op, "ptr").ok_or(Reported)
}

fn flush(m: &mut Machine<'_>, align: Align, at: u64) -> Result<u64, Fault> {
    align.flush(at, INIT_ALIGN.schema.name, |to, bytes| {
        m.store(to, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    })?;
    Ok(0)
}
