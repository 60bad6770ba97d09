//! Lowering of declarations to vector steps.

use slipring_ir::{Type, ValueId};
use slipring_machine::{VectorOp, VectorPort};
use slipring_program::{Fault, Operand, Reg};
use slipring_tile::lanes::PerElement;
use slipring_tile::{Arg, Elem};
use slipring_vector::{Kind, Machine, Register, Slot, Step, Whole};
use smallvec::{SmallVec, smallvec};

use super::check;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Arithmetic, Lowered, OpRef, Reported};

/// Collects the registers and scalars of an op, then makes its step.
pub(crate) struct Emit<'a, 'd, 'm> {
    pub op: &'a OpRef<'m>,
    pub d: &'a mut Decoder<'d>,
    reads: SmallVec<[Slot; 4]>,
    writes: SmallVec<[Slot; 2]>,
    /// Which of the written registers are predicates, one bit each.
    masks: u64,
    data: SmallVec<[Slot; 2]>,
    /// It sets SQZN: see [`Step::counts`].
    pub counts: bool,
    /// The store address depends on SQZN and AR: see [`Step::placed`].
    pub placed: bool,
    /// Its operands decide whether it ends in a fault: see [`Step::faults`].
    pub faults: bool,
    /// See [`Step::whole`]; the address is then the first argument.
    pub whole: Option<Whole>,
    /// See [`Step::on_registers`].
    on_registers: bool,
    args: SmallVec<[slipring_vector::Arg; 3]>,
    result: Option<Reg>,
    /// The instructions whose cost it has, if they are not those of its own name: one, and how many times.
    pub price: Option<(&'static str, usize)>,
}

impl<'a, 'd, 'm> Emit<'a, 'd, 'm> {
    pub fn new(op: &'a OpRef<'m>, d: &'a mut Decoder<'d>) -> Emit<'a, 'd, 'm> {
        let (reads, writes, data, args) = Default::default();
        let (masks, counts, placed, faults, on_registers, whole, result) = (0, false, false, false, false, None, None);
        Emit {
            op,
            d,
            reads,
            writes,
            masks,
            data,
            counts,
            placed,
            faults,
            whole,
            on_registers,
            args,
            result,
            price: None,
        }
    }

    /// The register of a declared operand, if it is present.
    pub fn optional(&mut self, at: &str) -> Result<Option<Slot>, Reported> {
        self.op.operand(at).map(|value| self.read(value)).transpose()
    }

    /// The register of a declared operand.
    pub fn reg(&mut self, at: &str) -> Result<Slot, Reported> {
        self.optional(at)?.ok_or(Reported)
    }

    /// The register of a declared operand, which the step only stores: see [`Step::data`].
    pub fn data(&mut self, at: &str) -> Result<Slot, Reported> {
        let slot = self.reg(at)?;
        self.data.push(slot);
        Ok(slot)
    }

    fn read(&mut self, value: ValueId) -> Result<Slot, Reported> {
        let slot = self.d.slot(value)?;
        self.take(slot);
        Ok(slot)
    }

    /// The step reads this register.
    pub fn take(&mut self, slot: Slot) {
        self.reads.push(slot);
    }

    /// The step only stores this register: see [`Step::data`].
    pub fn keep(&mut self, slot: Slot) {
        self.take(slot);
        self.data.push(slot);
    }

    /// The step writes this register, which may be a predicate.
    pub fn give(&mut self, slot: Slot, is_mask: bool) {
        if is_mask {
            self.masks |= 1 << self.writes.len();
        }
        self.writes.push(slot);
    }

    /// Element type of the register of a declared operand.
    pub fn elem(&self, at: &str) -> Result<Elem, Reported> {
        check::elem(self.op, at).ok_or(Reported)
    }

    /// A register for result `index`.
    pub fn out(&mut self, index: usize) -> Slot {
        let slot = self.d.fresh_slot();
        let result = self.op.result(index);
        self.give(slot, matches!(self.op.module.ty(result), Type::Mask(_)));
        self.d.bind(result, Binding::Vector(smallvec![slot]));
        slot
    }

    /// Result `index` is the scalar that the kernel returns.
    pub fn out_number(&mut self, index: usize) {
        let reg = self.d.fresh();
        self.d.bind(self.op.result(index), Binding::Scalar(Operand::Reg(reg)));
        self.result = Some(reg);
    }

    /// A declared scalar operand: its index among the kernel's arguments.
    pub fn number(&mut self, at: &str) -> Result<usize, Reported> {
        let value = self.d.scalar(self.op.operand(at).ok_or(Reported)?)?;
        Ok(self.arg(value))
    }

    /// A scalar: its index among the kernel's arguments.
    pub fn arg(&mut self, value: Operand) -> usize {
        self.args.push(value.into());
        self.args.len() - 1
    }

    /// The address of a memory access: its index among the kernel's arguments.
    pub fn place_of(&mut self, at: slipring_vector::Arg) -> usize {
        self.args.push(at);
        self.args.len() - 1
    }

    /// The address of a memory access, `offset` units of so many bytes after pointer `ptr`, as an index among the
    /// kernel's arguments. In the post-increment form, which has result `moved`, the access is at `ptr` itself and the
    /// result is the address after it.
    pub fn place(&mut self, ptr: &str, offset: &str, unit: usize, moved: usize) -> Result<usize, Reported> {
        let base = self.d.scalar(self.op.operand(ptr).ok_or(Reported)?)?;
        let offset = self.d.scalar(self.op.operand(offset).ok_or(Reported)?)?;
        let arg = match check::gives_back(self.op, moved) {
            None => slipring_vector::Arg::Element { base, offset, bytes: unit as u64 },
            Some(result) => {
                let bytes = self.d.distance(offset, Operand::Imm(unit as u64));
                let after = self.d.moved(base, bytes);
                self.d.bind(result, Binding::Scalar(after));
                base.into()
            }
        };
        Ok(self.place_of(arg))
    }

    /// Like [`Emit::place`], in elements of the type that `ptr` points to.
    pub fn address(&mut self, ptr: &str, offset: &str, moved: usize) -> Result<usize, Reported> {
        let elem = check::pointee(self.op, ptr).ok_or(Reported)?;
        self.place(ptr, offset, elem.bytes(), moved)
    }

    /// The offset in blocks of a memory access from pointer `ptr`, as an index among the kernel's arguments. The
    /// post-increment form is as for [`Emit::place`].
    pub fn blocks(&mut self, ptr: &str, repeat: &str, moved: usize) -> Result<usize, Reported> {
        let Some(result) = check::gives_back(self.op, moved) else { return self.number(repeat) };
        let base = self.d.scalar(self.op.operand(ptr).ok_or(Reported)?)?;
        let repeat = self.d.scalar(self.op.operand(repeat).ok_or(Reported)?)?;
        // The field is an unsigned 16-bit integer.
        let bytes = |[repeat, ..]: [u64; 3]| Ok(32 * u64::from(repeat as u16));
        let bytes = self.d.compute(bytes, [repeat, Operand::Imm(0), Operand::Imm(0)]);
        let after = self.d.moved(base, bytes);
        self.d.bind(result, Binding::Scalar(after));
        Ok(self.arg(Operand::Imm(0)))
    }

    /// Adds a step that only reads and writes its registers and never fails: [`Step::on_registers`]. Its kernel
    /// accesses nothing else of the machine, neither memory nor special registers.
    pub fn compute(
        mut self,
        port: VectorPort,
        elem: Elem,
        kernel: impl Fn(&mut Machine<'_>, &[u64]) + Send + Sync + 'static,
    ) -> Lowered {
        self.on_registers = true;
        self.step(port, elem, move |machine, args| {
            kernel(machine, args);
            Ok(0)
        })
    }

    /// Adds the step, which executes on a port.
    pub fn step(
        self,
        port: VectorPort,
        elem: Elem,
        kernel: impl Fn(&mut Machine<'_>, &[u64]) -> Result<u64, Fault> + Send + Sync + 'static,
    ) -> Lowered {
        let memory = match port {
            VectorPort::Load => Some(Kind::VectorLoad),
            VectorPort::Store => Some(Kind::VectorStore),
            _ => None,
        };
        let cost = match self.price {
            None => self.d.step_cost(port, elem),
            Some((name, times)) => repeated(self.d.cost_as(name, port, elem), times),
        };
        let step = Step::new(self.op.def.schema.name, cost, kernel);
        let Emit { reads, writes, masks, data, counts, placed, faults, args, whole, on_registers, result, .. } = self;
        self.d.step(Step {
            reads,
            writes,
            masks,
            data,
            counts,
            placed,
            faults,
            args,
            memory,
            whole,
            on_registers,
            result,
            ..step
        })
    }
}

/// The cost of this many instructions, one behind the other.
fn repeated(cost: VectorOp, times: usize) -> VectorOp {
    let times = u16::try_from(times).unwrap_or(u16::MAX);
    let before = cost.busy.saturating_mul(times.saturating_sub(1));
    VectorOp { latency: cost.latency.saturating_add(before), busy: cost.busy.saturating_mul(times), ..cost }
}

/// `out = kernel(operands…)` lane by lane, with the kernel and the operands of the declaration: vector registers, or
/// scalars broadcast to every lane, followed by the predicate `mask`.
pub(super) fn lanewise(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    match op.def.kernel {
        Arithmetic::None => Err(Reported),
        Arithmetic::One(kernel) => of_operands(op, d, kernel, names(op)),
        Arithmetic::Two(kernel) => of_operands(op, d, kernel, names(op)),
        Arithmetic::Three(kernel) => of_operands(op, d, kernel, names(op)),
    }
}

/// The names of the first operands.
fn names<const N: usize>(op: &OpRef<'_>) -> [&'static str; N] {
    std::array::from_fn(|at| op.def.schema.operands[at].name)
}

/// Like [`lanewise`], for these operands.
pub(super) fn of_operands<const N: usize>(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    kernel: &'static PerElement<N>,
    names: [&str; N],
) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = check::elem(op, names[0]).or(check::elem(op, names[N - 1])).ok_or(Reported)?;
    let mut sources = [Slot(0); N];
    let mut numbers = SmallVec::<[(Slot, usize); 1]>::new();
    for (source, name) in sources.iter_mut().zip(names) {
        if e.elem(name).is_ok() {
            *source = e.reg(name)?;
        } else {
            // A scalar is broadcast to a fresh register that nothing else uses.
            *source = e.d.fresh_slot();
            numbers.push((*source, e.number(name)?));
        }
    }
    let mask = e.reg("mask")?;
    let out = e.out(0);
    if !kernel.supports(elem) {
        return Err(e.d.unsupported("this element type"));
    }
    let (direct, bytes) = (kernel.direct(elem), elem.bytes());
    e.compute(VectorPort::Alu, elem, move |m, args| {
        for (slot, number) in &numbers {
            m.set(*slot, splat(elem, args[*number]));
        }
        m.produce(out, |m, result| {
            match direct {
                Some(direct) => direct(sources.map(|slot| &m.reg(slot).0[..]), &mut result.0),
                None => drop(kernel.run_args(elem, sources.map(|slot| Arg::Slice(&m.reg(slot).0)), &mut result.0)),
            }
            result.zero_inactive(&m.mask(mask), bytes);
        });
    })
}

/// A register with a scalar, in the representation of the scalar unit, in every lane.
#[inline]
pub(crate) fn splat(elem: Elem, number: u64) -> Register {
    let mut register = Register::ZERO;
    let bytes = number.to_le_bytes();
    for lane in register.0.chunks_exact_mut(elem.bytes()) {
        lane.copy_from_slice(&bytes[..elem.bytes()]);
    }
    register
}
