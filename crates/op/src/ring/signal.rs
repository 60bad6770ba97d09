//! Waiting for and sending the signals of a ring, for both protocols and for sparse synchronisation.

use slipring_machine::Pipe;
use slipring_program::{Inst, Law, Operand, Reg, Relation};

use super::phases::Phase;
use crate::decode::Decoder;
use crate::ring::planned::PlannedRing;

/// The run-time conditions of a signal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    /// Disabled if the register is 0.
    pub status: Option<Reg>,
    /// Enabled only if the register has this value: once in a period.
    pub position: Option<(Reg, u32)>,
}

impl Gate {
    /// Runs `body` under the gate: its instructions are skipped if the gate is closed.
    fn around(self, d: &mut Decoder<'_>, body: impl FnOnce(&mut Decoder<'_>)) {
        let closed = d.label();
        if let Some(status) = self.status {
            d.jump_if_zero(Operand::Reg(status), closed);
        }
        if let Some((position, at)) = self.position {
            let args = [Operand::Reg(position), Operand::Imm(u64::from(at)), Operand::Imm(0)];
            let open =
                d.compute_by(Law::Relation(Relation::EQUAL), |[position, at, _]| Ok(u64::from(position == at)), args);
            d.jump_if_zero(open, closed);
        }
        body(d);
        d.place(closed);
    }
}

/// Description of a phase, for reports.
const fn note(phase: Phase) -> &'static str {
    match phase {
        Phase::Allocate => "waits for a free slot",
        Phase::Record => "signals the slot ready",
        Phase::Wait => "waits for a tile",
        Phase::Free => "signals the slot free",
    }
}

/// Expands a phase of a ring for these lanes: waits or signals, with the flag of slot `tag` or the ring's counter.
pub(super) fn phase(d: &mut Decoder<'_>, ring: &PlannedRing, lanes: &[usize], phase: Phase, tag: Reg, gate: Gate) {
    let phases = ring.phases;
    let (pipe, free, waits) = match phase {
        Phase::Allocate => (phases.allocate, true, true),
        Phase::Record => (phases.record, false, false),
        Phase::Wait => (phases.wait, false, true),
        Phase::Free => (phases.free, true, false),
    };
    let slot = if ring.protocol.is_tagged() { Operand::Reg(tag) } else { Operand::Imm(0) };
    let pipe = if waits && d.platform.sync.wait_stalls_core { Pipe::S } else { pipe };
    d.note(note(phase));
    gate.around(d, |d| {
        for lane in lanes {
            let sync = d.ring_flag(ring.part(*lane), free, slot);
            d.emit(if waits { Inst::Wait { pipe, sync } } else { Inst::Set { pipe, sync } });
        }
    });
}

/// Sends the initial free signals of a ring.
pub(super) fn start_free(d: &mut Decoder<'_>, ring: &PlannedRing, lanes: &[usize]) {
    d.note("signals every slot free");
    for lane in lanes {
        let signals = if ring.protocol.is_tagged() { ring.credits.min(ring.slots) } else { ring.credits };
        for slot in 0..signals {
            let slot = if ring.protocol.is_tagged() { slot } else { 0 };
            let sync = d.ring_flag(ring.part(*lane), true, Operand::Imm(u64::from(slot)));
            d.emit(Inst::Set { pipe: Pipe::S, sync });
        }
    }
}

/// `(counter + 1) % of`.
pub(super) fn advance(d: &mut Decoder<'_>, counter: Reg, of: u32) {
    let args = [Operand::Reg(counter), Operand::imm(i64::from(of)), Operand::Imm(0)];
    let f = |[at, of, _]: [u64; 3]| Ok(if at + 1 == of { 0 } else { at + 1 });
    d.emit(Inst::Scalar { f, law: Law::Unknown, d: counter, args });
}
