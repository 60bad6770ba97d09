//! Unaligned streams and the registers that carry them (micro-instruction manual, unaligned loads, alignment state
//! stores).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, OperandSpec, ResultSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Platform, VectorPort};
use slipring_program::Fault;
use slipring_tile::BLOCK_BYTES;
use slipring_tile::Elem;
use slipring_vector::{Align, BYTES, Machine, Register, block_of};

use super::emit::Emit;
use super::{MOVED, OUT, STEP, UB, check, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, constant, one_of, operand, optional, required, result, schema};
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
        verify: verify_vldus, lower: lower_vldus
        => {
            syntax: Syntax::Format(
                "$ptr `,` $align (`,` $increment)? attr-dict `:` type($ptr) `,` type($align) (`,` type($increment))? `->` type($out) \
                 `,` type($next) (`,` type($moved))?",
            ),
            operands: &[
                operand("ptr", UB, Touch::Read, "where in UB, at any address"),
                align("align", "the block that the first byte lies in: of `pto.vldas`, or of the load before"),
                optional("increment", INTEGER, Touch::Nothing, "elements from `ptr` to `moved`"),
            ],
            results: &[
                OUT,
                align_out("next", "the block that the byte after these lies in"),
                ResultSpec { doc: "the pointer `increment` elements on", ..MOVED },
            ],
        };

    /// An alignment register for `pto.vstus`, `pto.vstur` and `pto.pstu`, without pending bytes.
    INIT_ALIGN "pto.init_align" "Begin a stream of unaligned stores": STEP,
        source: "micro-instruction manual, `pto.init_align`", lower: lower_init_align
        => { syntax: Syntax::Format("attr-dict `:` type($align)"), results: &[align_out("align", "nothing pending")] };

    /// The first `count` elements of `value` go to `ptr` (`moved` is behind them), where the stream must stand if bytes
    /// of it are pending. What does not fill its aligned block of 32 bytes stays pending in `next`, until a later store
    /// of the stream or `pto.vstas` puts it down; what is never flushed is lost. The manual calls the count an offset;
    /// the published program shows that it says how much is stored.
    VSTUS "pto.vstus" "Store some elements to any address": STEP, source: "micro-instruction manual, `pto.vstus`",
        verify: verify_vstus, lower: lower_vstus
        => {
            syntax: Syntax::Format(
                "$align `,` $count `,` $value `,` $ptr attr-dict `:` type($align) `,` type($count) `,` type($value) `,` type($ptr) \
                 `->` type($next) (`,` type($moved))?",
            ),
            operands: &[
                align("align", "the stream"),
                operand("count", INTEGER, Touch::Nothing, "elements to store, which is how far the stream advances"),
                vreg("value", "what to store, from lane 0 on"),
                operand("ptr", UB, Touch::Write, "where the stream stands, at any address"),
            ],
            results: &[
                align_out("next", "the stream after it"),
                ResultSpec { doc: "the pointer `count` elements on, where the stream stands then", ..MOVED },
            ],
        };

    /// The first SQZN bytes of `value` go to `ptr + AR`: SQZN is what the last `pto.vsqz` or `pto.vusqz` counted, AR is
    /// where the stream stands (`pto.sprclr "AR"` makes it 0). `POST_UPDATE` adds SQZN to AR, `NO_POST_UPDATE` leaves
    /// it. What does not fill its aligned block of 32 bytes stays pending in `next` until a later store of the stream
    /// or `pto.vstar` puts it down. Both registers are 0 when a vector function starts.
    VSTUR "pto.vstur" "Store what was squeezed to any address": STEP, source: "micro-instruction manual, `pto.vstur`",
        verify: |op, _, diags| one_of(op, "mode", &MODES, diags), lower: lower_vstur
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
    /// stand. In the form that gives `moved` the stream stands at `ptr`, and `moved` is that place. Without pending
    /// bytes nothing is stored.
    VSTAS "pto.vstas" "End a stream of unaligned stores": STEP,
        source: "micro-instruction manual, `pto.vstas`; of assembler 0.60, address analysis: forms with a result access the pointer",
        verify: |op, _, diags| check::moved(op, "ptr", 0, diags), lower: lower_vstas
        => {
            syntax: Syntax::Format(
                "$align `,` $ptr `,` $offset attr-dict `:` type($align) `,` type($ptr) `,` type($offset) (`->` type($moved))?",
            ),
            operands: &[
                align("align", "the stream"),
                operand("ptr", UB, Touch::Write, "an address"),
                operand("offset", INTEGER, Touch::Nothing, "elements from there to where the stream stands"),
            ],
            results: &[ResultSpec { doc: "the pointer `offset` elements on", ..MOVED }],
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
        verify: |op, _, diags| one_of(op, "spr", &["AR"], diags), lower: lower_sprclr
        => {
            syntax: Syntax::Format("$spr attr-dict"),
            attrs: &[required("spr", AttrKind::Str, "which special register")],
        };

    /// AR, as 4 bytes, `offset` words after `ptr`; in the form that gives `moved` at `ptr`, and `moved` is that place.
    /// The offset is a constant from -128 to 127.
    SPRSTI "pto.sprsti" "Store a special register at a constant offset": STEP.with(SPRST),
        source: "micro-instruction manual of assembler 0.60, 3", verify: verify_sprsti,
        lower: |op, d| store_ar(op, d, 4);

    /// AR, as 4 bytes, `offset` bytes after `ptr`; in the form that gives `moved` at `ptr`, and `moved` is that place.
    SPRSTS "pto.sprsts" "Store a special register": STEP.with(SPRST),
        source: "micro-instruction manual of assembler 0.60, 3", verify: |op, _, diags| special(op, diags),
        lower: |op, d| store_ar(op, d, 1);
}

fn lower_vldas(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let at = e.number("ptr")?;
    let out = e.out(0);
    e.step(VectorPort::Load, Elem::U8, move |m, args| {
        m.load(args[at], ((BLOCK_BYTES - args[at] % BLOCK_BYTES) % BLOCK_BYTES) as usize)?;
        let block = m.stream_block(args[at]);
        m.set_align(out, block);
        Ok(0)
    })
}

fn verify_vldus(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::as_wide(op, "ptr", check::result_elem(op, 0), diags);
    check::moved(op, "ptr", 2, diags);
    if op.operand("increment").is_some() != check::gives_back(op, 2).is_some() {
        let message = "the form with an increment is the one that gives the pointer back";
        diags
            .push(op.error("operand-count", message).help("write both the increment and the third result, or neither"));
    }
}

fn lower_vldus(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let at = match op.operand("increment") {
        Some(_) => e.address("ptr", "increment", 2)?,
        None => e.number("ptr")?,
    };
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

fn verify_vstus(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::as_wide(op, "ptr", check::elem(op, "value"), diags);
    check::moved(op, "ptr", 1, diags);
}

fn lower_vstus(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let from = e.data("align")?;
    let count = e.number("count")?;
    let elem = e.elem("value")?;
    let value = e.data("value")?;
    let at = match check::gives_back(op, 1) {
        Some(_) => e.address("ptr", "count", 1)?,
        None => e.number("ptr")?,
    };
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
    let at = e.address("ptr", "offset", 0)?;
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

fn verify_sprsti(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    special(op, diags);
    let offset = op.operand("offset").and_then(|offset| constant(op.module, offset));
    if !offset.is_some_and(|offset| (-128..128).contains(&offset)) {
        let message = "the offset of `pto.sprsti` is part of the instruction: it must be a constant from -128 to 127";
        diags.push(op.error("not-constant", message).help("`pto.sprsts` takes offsets that are computed, in bytes"));
    }
}

/// Appends bytes to a stream of stores.
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

const SPRST: OpSchema = schema(
    "",
    Syntax::Format("$spr `,` $ptr `[` $offset `]` attr-dict `:` type($ptr) `,` type($offset) (`->` type($moved))?"),
    &[
        operand("ptr", UB, Touch::Write, "where in UB, a pointer to 32-bit integers"),
        operand(
            "offset",
            INTEGER,
            Touch::Nothing,
            "from there on: words where it is part of the instruction, else bytes",
        ),
    ],
    &[MOVED],
    &[required("spr", AttrKind::Str, "which special register")],
);

/// Checks a store of AR, which needs a pointer to words.
fn special(op: &OpRef<'_>, diags: &mut Diags) {
    one_of(op, "spr", &["AR"], diags);
    check::moved(op, "ptr", 0, diags);
    if check::pointee(op, "ptr").is_some_and(|elem| !matches!(elem, Elem::I32 | Elem::U32)) {
        diags.push(op.error("elem-type", "stores through a pointer to 32-bit integers"));
    }
}

fn store_ar(op: &OpRef<'_>, d: &mut Decoder<'_>, unit: usize) -> Lowered {
    let mut e = Emit::new(op, d);
    let at = e.place("ptr", "offset", unit, 0)?;
    e.step(VectorPort::Store, Elem::U32, move |m, args| {
        check::aligned(args[at], 4, "writes")?;
        let bytes = (m.ar as u32).to_le_bytes();
        m.store(args[at], bytes.len())?.copy_from_slice(&bytes);
        Ok(0)
    })
}
