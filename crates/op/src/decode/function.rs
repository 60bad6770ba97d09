//! Lowering the body of a vector function to a function.

use std::collections::BTreeSet;
use std::sync::Arc;

use slipring_ir::ValueId;
use slipring_machine::{Cost, Pipe, Price, VectorOp, VectorPort};
use slipring_program::{Effect, Inst, Operand, Reg};
use slipring_tile::Elem;
use slipring_vector::{Arg, Function, Kind, Parts, Slot, Step};
use smallvec::SmallVec;

use super::builder::CoreBuilder;
use super::{Binding, Decoder, Slots};
use crate::decode::decoder::FunctionBuilder;
use crate::def::{Lowered, Reported};

impl Decoder<'_> {
    /// Decodes the output of `body` as one vector function, and launches it on pipe V. Scalars defined outside are
    /// passed as arguments.
    ///
    /// # Errors
    /// Reported inside another function, on a platform without vector functions, and by the body.
    pub fn vector_function(&mut self, body: impl FnOnce(&mut Self) -> Lowered) -> Lowered {
        if self.function.is_some() {
            return Err(self.error("nested-vecscope", "a vector function cannot contain another one"));
        }
        if self.launch.is_some() {
            return Err(self.not_for_workitems());
        }
        let Some(spec) = self.platform.vector_function.clone() else {
            let name = self.platform.name.clone();
            return Err(self
                .error(slipring_ir::Kind::Unsupported, format!("`{name}` has no vector functions: use `--arch a5`")));
        };
        let inside = CoreBuilder::inside(&self.builder);
        let outer = std::mem::replace(&mut self.builder, inside);
        self.function = Some(FunctionBuilder { outer, steps: Vec::new(), slots: 0, full: false });
        let outcome = body(self);
        let Some(FunctionBuilder { outer, steps, slots, .. }) = self.function.take() else { return Err(Reported) };
        let inside = std::mem::replace(&mut self.builder, outer).finish();
        self.builder.leave(&inside);
        outcome?;
        let operands = steps.iter().flat_map(|step| step.args.iter().flat_map(|arg| arg.operands()));
        let inputs = inputs(&inside.insts, operands, steps.iter().filter_map(|step| step.result));
        let args = inputs.iter().map(|reg| Operand::Reg(*reg)).collect();
        let (code, sites) = (inside.insts, inside.inst_sites);
        let function = Function::new(Parts { code, sites, steps, slots, inputs, spec });
        // The clock of the vector unit has already counted the cycles.
        let cycles = Price { entry: "vector_function".into(), ..Price::from(Cost { fixed: 0, num: 1, den: 1 }) };
        self.issue_discovering(Pipe::V, function, args, cycles);
        Ok(())
    }

    /// True while a vector function is being decoded.
    pub fn in_vector_function(&self) -> bool {
        self.function.is_some()
    }

    /// The program of the core, outside any vector function.
    pub(super) fn outer_builder(&mut self) -> &mut CoreBuilder {
        match (&mut self.function, &mut self.launch) {
            (Some(function), _) => &mut function.outer,
            (None, Some(launch)) => &mut launch.outer,
            (None, None) => &mut self.builder,
        }
    }

    /// A vector register, predicate or alignment register that nothing else uses.
    pub fn fresh_slot(&mut self) -> Slot {
        let Some(function) = &mut self.function else { return Slot(0) };
        if let Some(more) = function.slots.checked_add(1) {
            function.slots = more;
            return Slot(more - 1);
        }
        if !std::mem::replace(&mut function.full, true) {
            self.error(
                slipring_ir::Kind::Unsupported,
                "the values of this vector function need more than 65535 registers",
            );
        }
        Slot(0)
    }

    /// The vector register, predicate or alignment register that holds a value.
    ///
    /// # Errors
    /// Reported if the value is something else.
    pub fn slot(&mut self, value: ValueId) -> Result<Slot, Reported> {
        match self.binding(value) {
            Some(Binding::Vector(slots)) if slots.len() == 1 => Ok(slots[0]),
            _ => self.no_registers(value),
        }
    }

    /// The registers that hold a logical vector or its predicate.
    ///
    /// # Errors
    /// Reported if the value is something else.
    pub fn slots(&mut self, value: ValueId) -> Result<Slots, Reported> {
        match self.binding(value) {
            Some(Binding::Vector(slots)) => Ok(slots.clone()),
            _ => self.no_registers(value),
        }
    }

    fn no_registers<T>(&mut self, value: ValueId) -> Result<T, Reported> {
        let name = self.module.value_name(value);
        Err(self.error("value-kind", format!("`{name}` is not a vector register here")))
    }

    /// Cost of the op that is being decoded, on lanes of this type.
    pub fn step_cost(&self, port: VectorPort, elem: Elem) -> VectorOp {
        self.cost_as(crate::names::bare(self.current.0), port, elem)
    }

    /// Cost of the vector instruction of this name (`vadd`), on lanes of this type.
    pub fn cost_as(&self, name: &str, port: VectorPort, elem: Elem) -> VectorOp {
        match &self.platform.vector_function {
            Some(spec) => spec.cost(name, elem.name(), port),
            None => VectorOp::FREE,
        }
    }

    /// Adds a vector instruction.
    ///
    /// # Errors
    /// Reported outside a vector function.
    pub fn step(&mut self, step: Step) -> Lowered {
        let Some(function) = &mut self.function else {
            let name = self.current.0;
            return Err(self.report(
                slipring_ir::Diagnostic::error(
                    "outside-vecscope",
                    self.current.1,
                    format!("`{name}` works on vector registers, which exist in a vector function only"),
                )
                .label("stands outside")
                .help("put it into `pto.vecscope { … }`"),
            ));
        };
        function.steps.push(step);
        let work = function.steps.len() as u32 - 1;
        self.emit(Inst::Issue { work });
        Ok(())
    }

    /// Adds work that is issued inside a vector function: scalar loads and stores become instructions of the function,
    /// and other pipes are out of reach.
    pub(super) fn issue_inside(
        &mut self,
        pipe: Pipe,
        effect: Arc<dyn Effect>,
        args: Vec<Operand>,
        result: Option<Reg>,
    ) {
        let name = self.current.0;
        if pipe != Pipe::S || args.len() > 8 {
            self.out_of_reach(pipe);
            return;
        }
        let kind = if result.is_some() { Kind::ScalarLoad } else { Kind::ScalarStore };
        let values = (0..args.len()).filter(|at| !effect.decides(*at)).fold(0, |bits, at| bits | 1 << at);
        let step = Step {
            args: args.into_iter().map(Arg::from).collect(),
            values,
            result,
            memory: Some(kind),
            ..Step::new(name, VectorOp::FREE, move |m, args| m.scalar_work(&*effect, args))
        };
        let _ = self.step(step);
    }

    /// Reports work of another pipe in a vector function.
    pub(super) fn out_of_reach(&mut self, pipe: Pipe) {
        let name = self.current.0;
        self.error("in-vecscope", format!("`{name}` cannot be used in a vector function: it runs on pipe {pipe}"));
    }

    /// Copies vector registers of one set of bindings into those of another, simultaneously.
    pub(super) fn assign_slots(&mut self, to: &[Binding], from: &[Binding]) {
        let mut moves = Vec::new();
        for (to, from) in to.iter().zip(from) {
            collect_slots(to, from, &mut moves);
        }
        moves.retain(|(to, from)| to != from);
        for at in 0..moves.len() {
            if moves[..at].iter().any(|(to, _)| *to == moves[at].1) {
                let kept = self.fresh_slot();
                self.copy_slot(kept, moves[at].1);
                moves[at].1 = kept;
            }
        }
        for (to, from) in moves {
            self.copy_slot(to, from);
        }
    }

    /// Copies one register to another. It is not an instruction of the device, which renames registers.
    fn copy_slot(&mut self, to: Slot, from: Slot) {
        let step = Step {
            reads: SmallVec::from_slice(&[from]),
            writes: SmallVec::from_slice(&[to]),
            ..Step::new("carry", VectorOp::FREE, move |m, _| {
                let value = *m.reg(from);
                m.set(to, value);
                Ok(0)
            })
        };
        let _ = self.step(step);
    }
}

fn collect_slots(to: &Binding, from: &Binding, moves: &mut Vec<(Slot, Slot)>) {
    match (to, from) {
        (Binding::Vector(to), Binding::Vector(from)) => moves.extend(to.iter().copied().zip(from.iter().copied())),
        (Binding::Many(to), Binding::Many(from)) => {
            to.iter().zip(from).for_each(|(to, from)| collect_slots(to, from, moves));
        }
        _ => {}
    }
}

/// Registers that some code and its steps read and never write, in ascending order; of the steps the operands and the
/// results.
pub(super) fn inputs(
    code: &[Inst],
    operands: impl Iterator<Item = Operand>,
    results: impl Iterator<Item = Reg>,
) -> Vec<Reg> {
    let mut used = BTreeSet::new();
    let mut written = BTreeSet::new();
    let mut reads = |operands: &[Operand]| {
        used.extend(operands.iter().filter_map(|o| if let Operand::Reg(reg) = o { Some(reg.0) } else { None }));
    };
    for inst in code {
        match inst {
            Inst::Scalar { d, args, .. } => {
                reads(args);
                written.insert(d.0);
            }
            Inst::Move { d, a } => {
                reads(&[*a]);
                written.insert(d.0);
            }
            Inst::Add { d, a, b } => {
                reads(&[*a, *b]);
                written.insert(d.0);
            }
            Inst::JumpIfZero { a, .. } => reads(&[*a]),
            Inst::JumpIfGe { a, b, .. } => reads(&[*a, *b]),
            _ => {}
        }
    }
    operands.for_each(|operand| reads(&[operand]));
    written.extend(results.map(|reg| reg.0));
    used.difference(&written).map(|reg| Reg(*reg)).collect()
}
