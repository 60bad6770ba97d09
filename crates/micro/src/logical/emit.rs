//! The registers of logical values in steps, and ops that are one instruction for each register.

use slipring_ir::{LogicalVector, Type, ValueId};
use slipring_machine::VectorPort;
use slipring_op::decode::{Binding, Decoder, Slots};
use slipring_op::def::{Arithmetic, Lowered, OpRef, Reported};
use slipring_tile::lanes::PerElement;
use slipring_tile::{Arg, Elem};
use slipring_vector::{BYTES, Slot};
use smallvec::SmallVec;

use super::check;
use super::value::{Active, Lanes, clear_in_register};
use crate::vector::emit::{Emit, splat};

/// A vector of this type in these registers.
fn lanes_in(ty: LogicalVector, slots: Slots) -> Lanes {
    let elem = ty.lane.arithmetic().unwrap_or(Elem::BF16);
    Lanes { slots, count: ty.lanes as usize, bytes: ty.lane.bytes(), elem }
}

/// The registers of a vector operand, which a step does not read yet.
pub(super) fn registers(op: &OpRef<'_>, d: &mut Decoder<'_>, at: &str) -> Result<Lanes, Reported> {
    let ty = check::vector(op, at).ok_or(Reported)?;
    Ok(lanes_in(ty, d.slots(op.operand(at).ok_or(Reported)?)?))
}

/// The registers of a predicate operand, none if it is left out or not declared, which a step does not read yet.
pub(super) fn predicate(op: &OpRef<'_>, d: &mut Decoder<'_>, at: &str) -> Result<Active, Reported> {
    match op.if_declared(at) {
        Some(value) => Ok(Active(d.slots(value)?)),
        None => Ok(Active::default()),
    }
}

/// Fresh registers for the vector that is result `index`.
pub(super) fn fresh(op: &OpRef<'_>, d: &mut Decoder<'_>, index: usize) -> Result<Lanes, Reported> {
    let ty = check::result(op, index).ok_or(Reported)?;
    let slots: Slots = (0..ty.registers()).map(|_| d.fresh_slot()).collect();
    d.bind(op.result(index), Binding::Vector(slots.clone()));
    Ok(lanes_in(ty, slots))
}

impl Emit<'_, '_, '_> {
    /// A vector operand, all of whose registers the step reads.
    pub(super) fn vector(&mut self, at: &str) -> Result<Lanes, Reported> {
        let lanes = registers(self.op, self.d, at)?;
        lanes.slots.iter().for_each(|slot| self.take(*slot));
        Ok(lanes)
    }

    /// As [`Emit::vector`], of a value of an operand that has several.
    pub(super) fn vector_of(&mut self, value: ValueId) -> Result<Lanes, Reported> {
        let Type::LogicalVector(ty) = *self.op.module.ty(value) else { return Err(Reported) };
        let lanes = lanes_in(ty, self.d.slots(value)?);
        lanes.slots.iter().for_each(|slot| self.take(*slot));
        Ok(lanes)
    }

    /// A vector operand that the step only stores.
    pub(super) fn stored(&mut self, at: &str) -> Result<Lanes, Reported> {
        let lanes = registers(self.op, self.d, at)?;
        lanes.slots.iter().for_each(|slot| self.keep(*slot));
        Ok(lanes)
    }

    /// A predicate operand; if it is left out, all lanes are active.
    pub(super) fn predicate(&mut self, at: &str) -> Result<Active, Reported> {
        let active = predicate(self.op, self.d, at)?;
        active.0.iter().for_each(|slot| self.take(*slot));
        Ok(active)
    }

    /// Registers for the vector that is result `index`.
    pub(super) fn gives(&mut self, index: usize) -> Result<Lanes, Reported> {
        let lanes = fresh(self.op, self.d, index)?;
        lanes.slots.iter().for_each(|slot| self.give(*slot, false));
        Ok(lanes)
    }

    /// Registers for the predicate that is result `index`.
    pub(super) fn gives_predicate(&mut self, index: usize) -> Result<Active, Reported> {
        let ty = check::result_mask(self.op, index).ok_or(Reported)?;
        let slots: Slots = (0..ty.registers()).map(|_| self.d.fresh_slot()).collect();
        self.d.bind(self.op.result(index), Binding::Vector(slots.clone()));
        slots.iter().for_each(|slot| self.give(*slot, true));
        Ok(Active(slots))
    }
}

/// `out = kernel(operands…)` lane by lane, with the kernel and the operands of the declaration: vectors, or scalars
/// broadcast to every lane, followed by the predicate `mask`. It costs what `price` costs for each register.
pub(super) fn lanewise(op: &OpRef<'_>, d: &mut Decoder<'_>, price: &'static str) -> Lowered {
    match op.def.kernel {
        Arithmetic::None => Err(Reported),
        Arithmetic::One(kernel) => of_operands(op, d, kernel, names(op), price),
        Arithmetic::Two(kernel) => of_operands(op, d, kernel, names(op), price),
        Arithmetic::Three(kernel) => of_operands(op, d, kernel, names(op), price),
    }
}

/// Like [`lanewise`], where the order of the lanes matters.
pub(super) fn ordered(op: &OpRef<'_>, d: &mut Decoder<'_>, price: &'static str) -> Lowered {
    let Arithmetic::Two(kernel) = op.def.kernel else { return Err(Reported) };
    let lanes = check::result(op, 0).ok_or(Reported)?;
    let elem = check::order_elem(lanes, d.platform);
    by_register(op, d, kernel, names(op), (elem, price))
}

/// The names of the first operands.
fn names<const N: usize>(op: &OpRef<'_>) -> [&'static str; N] {
    std::array::from_fn(|at| op.def.schema.operands[at].name)
}

/// An operand of a lanewise op.
enum Source {
    Vector(Lanes),
    Scalar(ValueId),
}

/// Like [`lanewise`], for these operands.
pub(super) fn of_operands<const N: usize>(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    kernel: &'static PerElement<N>,
    names: [&str; N],
    price: &'static str,
) -> Lowered {
    let lanes = check::result(op, 0).ok_or(Reported)?;
    let own = lanes.lane.arithmetic();
    // Integers without a sign are unsigned where that matters; a kernel that has only the signed form does not care.
    let elem = [own, own.and_then(signed)].into_iter().flatten().find(|elem| kernel.supports(*elem));
    let Some(elem) = elem else { return Err(d.unsupported("this element type")) };
    by_register(op, d, kernel, names, (elem, price))
}

/// `out = kernel(operands…)` on lanes of a type, one step for each register with this price.
fn by_register<const N: usize>(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    kernel: &'static PerElement<N>,
    names: [&str; N],
    (elem, price): (Elem, &'static str),
) -> Lowered {
    let mut sources = SmallVec::<[Source; 3]>::new();
    for name in names {
        sources.push(match check::vector(op, name) {
            Some(_) => Source::Vector(registers(op, d, name)?),
            None => Source::Scalar(op.operand(name).ok_or(Reported)?),
        });
    }
    let active = predicate(op, d, "mask")?;
    let out = fresh(op, d, 0)?;
    for (at, to) in out.slots.iter().enumerate() {
        let mut e = Emit::new(op, d);
        e.price = Some((price, 1));
        let mut slots = [Slot(0); N];
        let mut numbers = SmallVec::<[(Slot, usize); 1]>::new();
        for (slot, source) in slots.iter_mut().zip(&sources) {
            match source {
                Source::Vector(lanes) => {
                    *slot = *lanes.slots.get(at).ok_or(Reported)?;
                    e.take(*slot);
                }
                Source::Scalar(value) => {
                    // A scalar is broadcast to a fresh register that nothing else uses.
                    *slot = e.d.fresh_slot();
                    let number = e.d.scalar(*value)?;
                    numbers.push((*slot, e.arg(number)));
                }
            }
        }
        let mask = active.of_register(at, BYTES / elem.bytes());
        if let Some((slot, _)) = mask {
            e.take(slot);
        }
        e.give(*to, false);
        let (to, direct, bytes) = (*to, kernel.direct(elem), elem.bytes());
        e.compute(VectorPort::Alu, elem, move |m, args| {
            for (slot, number) in &numbers {
                m.set(*slot, splat(elem, args[*number]));
            }
            m.produce(to, |m, result| {
                match direct {
                    Some(direct) => direct(slots.map(|slot| &m.reg(slot).0[..]), &mut result.0),
                    None => drop(kernel.run_args(elem, slots.map(|slot| Arg::Slice(&m.reg(slot).0)), &mut result.0)),
                }
                if let Some((mask, first)) = mask {
                    clear_in_register(result, bytes, &m.mask(mask), first);
                }
            });
        })?;
    }
    Ok(())
}

/// The signed integer of the width of an unsigned one.
fn signed(elem: Elem) -> Option<Elem> {
    Some(match elem {
        Elem::U8 => Elem::I8,
        Elem::U16 => Elem::I16,
        Elem::U32 => Elem::I32,
        _ => return None,
    })
}
