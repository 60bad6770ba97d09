//! Lowering the body of workitems to a launch.

use slipring_ir::{Diagnostic, OpId};
use slipring_machine::{Cost, Pipe, Price};
use slipring_program::{Inst, Operand};
use slipring_simt::{Act, Instruction, Launch, Parts};

use super::builder::CoreBuilder;
use super::decoder::LaunchBuilder;
use super::function::inputs;
use super::{Binding, Decoder};
use crate::def::{Lowered, OpRef, Reported};
use crate::facts::Workitems;
use crate::names::SIMT_MAX;
use crate::workitems::{ENVELOPE, belongs_inside};

/// The registers of a core that hold the shape of its next launch: x, y and z.
const SHAPE: [&str; 3] = ["simt_x", "simt_y", "simt_z"];

impl Decoder<'_> {
    /// Sets the shape of the launches that follow: workitems in x, y and z.
    pub fn set_launch_shape(&mut self, shape: [Operand; 3]) {
        for (name, a) in SHAPE.into_iter().zip(shape) {
            let d = self.register(name);
            self.emit(Inst::Move { d, a });
        }
    }

    /// Launches a function with the shape that was set, on pipe V.
    ///
    /// # Errors
    /// Reported as by [`Decoder::launch`].
    pub fn launch_function(&mut self, callee: OpId, args: Vec<Binding>) -> Lowered {
        let most = self.module.op(callee).attrs.get(SIMT_MAX).and_then(slipring_ir::Attr::as_int);
        let envelope = most.and_then(|most| u32::try_from(most).ok()).unwrap_or(ENVELOPE);
        self.launch(envelope, |d| d.call(callee, args).map(drop))
    }

    /// Decodes the output of `body` as a launch of at most `envelope` workitems with the shape that was set, and
    /// launches it on pipe V. Scalars defined outside are passed as arguments.
    ///
    /// # Errors
    /// Reported inside another launch or a vector function, on a platform without launches, and by the body.
    pub fn launch(&mut self, envelope: u32, body: impl FnOnce(&mut Self) -> Lowered) -> Lowered {
        if self.function.is_some() || self.launch.is_some() {
            return Err(self.not_for_workitems());
        }
        let Some(spec) = self.platform.simt.clone() else {
            let name = self.platform.name.clone();
            let message = format!("`{name}` has no workitems (SIMT): use `--arch a5`");
            return Err(self.error(slipring_ir::Kind::Unsupported, message));
        };
        let shape = SHAPE.map(|name| Operand::Reg(self.register(name)));
        let inside = CoreBuilder::inside(&self.builder);
        let outer = std::mem::replace(&mut self.builder, inside);
        self.launch = Some(LaunchBuilder { outer, steps: Vec::new() });
        let outcome = body(self);
        let Some(LaunchBuilder { outer, steps }) = self.launch.take() else { return Err(Reported) };
        let inside = std::mem::replace(&mut self.builder, outer).finish();
        self.builder.leave(&inside);
        outcome?;
        let operands = steps.iter().flat_map(|step| step.args.iter().copied());
        let inputs = inputs(&inside.insts, operands, steps.iter().filter_map(|step| step.result));
        let args = shape.into_iter().chain(inputs.iter().map(|reg| Operand::Reg(*reg))).collect();
        let (code, sites) = (inside.insts, inside.inst_sites);
        let launch = Launch::new(Parts { code, sites, steps, inputs, envelope, spec });
        let cycles = Price { entry: "simt".into(), ..Price::from(Cost { fixed: 0, num: 1, den: 1 }) };
        self.issue_discovering(Pipe::V, launch, args, cycles);
        Ok(())
    }

    /// True while the body of workitems is being decoded.
    pub fn in_launch(&self) -> bool {
        self.launch.is_some()
    }

    /// Adds a step of a workitem. Its result, if it is to have one, goes to a register of its own.
    ///
    /// # Errors
    /// Reported outside a launch.
    pub fn workitem_step(&mut self, act: Act, args: &[Operand], has_result: bool) -> Result<Operand, Reported> {
        let (name, span) = self.current;
        let result = has_result.then(|| self.fresh());
        let step = Instruction { name, act, args: args.iter().copied().collect(), result };
        let Some(launch) = &mut self.launch else { return Err(self.report(outside(name, span))) };
        launch.steps.push(step);
        let work = launch.steps.len() as u32 - 1;
        self.emit(Inst::Issue { work });
        Ok(result.map_or(Operand::Imm(0), Operand::Reg))
    }

    /// Reports an op that a body of workitems cannot contain.
    pub(super) fn not_for_workitems(&mut self) -> Reported {
        let (name, span) = self.current;
        self.report(in_body(name, span))
    }

    /// The error of an op that is in a body of workitems and does not belong there, or the other way round.
    pub(super) fn misplaced(&self, op: &OpRef<'_>) -> Option<Diagnostic> {
        let name = op.def.schema.name;
        let call = op.def.schema.part == slipring_ir::Part::Call || op.def.schema.terminator;
        match (self.launch.is_some(), op.def.workitems) {
            (false, Workitems::Inside) => Some(outside(name, op.span())),
            (true, _) if !call && !belongs_inside(op.def) => Some(in_body(name, op.span())),
            _ => None,
        }
    }
}

fn outside(name: &str, span: slipring_ir::Span) -> Diagnostic {
    let message = format!("`{name}` is outside of every body of workitems");
    Diagnostic::error("outside-simt", span, message).help("only what a launch runs is a body of workitems")
}

fn in_body(name: &str, span: slipring_ir::Span) -> Diagnostic {
    let message = format!("`{name}` cannot be used in a body of workitems");
    let help = "workitems compute with scalars, load and store elements, and exchange values with their warp";
    Diagnostic::error("in-simt", span, message).help(help)
}
