//! Histograms of bytes (micro-instruction manual of assembler 0.60, 10).

use slipring_ir::{OpSchema, Touch};
use slipring_machine::VectorPort;
use slipring_program::Fault;
use slipring_tile::Elem;
use slipring_vector::{BYTES, Register};

use super::check;
use super::emit::Emit;
use super::{GOVERNING, OUT, STEP, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::positional;
use slipring_op::rules::{INTEGER, operand, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&DHISTV2, &CHISTV2];

/// Number of bins in a register.
const BINS: usize = 128;

const SCHEMA: OpSchema = schema(
    "",
    positional!("acc" "src" "mask" "bin" => "out"),
    &[
        vreg("acc", "what was counted before, 128 lanes of ui16"),
        vreg("src", "256 bytes"),
        GOVERNING,
        operand("bin", INTEGER, Touch::Nothing, "0: the bins 0 to 127, 1: 128 to 255"),
    ],
    &[OUT],
    &[],
);

const HISTOGRAM: OpDef = OpDef {
    source: "micro-instruction manual of assembler 0.60, 10; SPEC of virtual instructions of PTO-Gym, vdhist and vchist, for the bins",
    verify: |op, _, diags| {
        check::lanes_of(op, "acc", &[Elem::U16], diags);
        check::lanes_of(op, "src", &[Elem::U8], diags);
        check::governs(op, "mask", "src", diags);
        if check::result_elem(op, 0) != Some(Elem::U16) {
            diags.push(op.error("vreg-type", "gives 128 lanes of ui16"));
        }
    },
    ..STEP
};

static DHISTV2: OpDef = OpDef {
    schema: OpSchema { name: "pto.dhistv2", ..SCHEMA },
    summary: "Count bytes by their value",
    doc: "Lane `i` is `acc[i]` and the number of active bytes that are `i + 128 bin`, in 16 bits that wrap. Another `bin` is a fault.",
    lower: |op, d| histogram(op, d, |byte, bin| byte == bin),
    ..HISTOGRAM
};

static CHISTV2: OpDef = OpDef {
    schema: OpSchema { name: "pto.chistv2", ..SCHEMA },
    summary: "Count bytes up to each value",
    doc: "Lane `i` is `acc[i]` and the number of active bytes that are `i + 128 bin` or less, in 16 bits that wrap. Another `bin` is a \
          fault.",
    lower: |op, d| histogram(op, d, |byte, bin| byte <= bin),
    ..HISTOGRAM
};

fn histogram(op: &OpRef<'_>, d: &mut Decoder<'_>, counts: fn(usize, usize) -> bool) -> Lowered {
    let mut e = Emit::new(op, d);
    e.faults = true;
    let (acc, src, mask) = (e.reg("acc")?, e.reg("src")?, e.reg("mask")?);
    let bin = e.number("bin")?;
    let out = e.out(0);
    e.step(VectorPort::Alu, Elem::U8, move |m, args| {
        let half = args[bin] as i64;
        if !(0..=1).contains(&half) {
            return Err(Fault::new("histogram-bin", format!("counts into the bins of half {half}: there are 0 and 1")));
        }
        let (acc, src, mask) = (*m.reg(acc), *m.reg(src), m.mask(mask));
        let mut of_value = [0u64; 256];
        (0..BYTES).filter(|i| mask.lane(*i, 1)).for_each(|i| of_value[src.bits(i, 1) as usize] += 1);
        let mut result = Register::ZERO;
        for i in 0..BINS {
            let value = i + BINS * half as usize;
            let found: u64 = (0..256).filter(|byte| counts(*byte, value)).map(|byte| of_value[byte]).sum();
            result.set_bits(i, 2, acc.bits(i, 2).wrapping_add(found));
        }
        m.set(out, result);
        Ok(0)
    })
}
