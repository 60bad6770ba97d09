//! Building one core's list of instructions.

use slipring_ir::Span;
use slipring_machine::{Pipe, Price, Role};
use slipring_program::{Action, CoreProgram, Inst, Operand, Reg, Site, Work};

/// A position in a core's program that jumps can refer to before it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(usize);

/// A core's program under construction.
#[derive(Debug)]
pub(super) struct CoreBuilder {
    role: Role,
    insts: Vec<Inst>,
    inst_sites: Vec<u32>,
    works: Vec<Work>,
    regs: u32,
    /// The instruction at each label.
    labels: Vec<Option<u32>>,
    /// Site of the instructions that follow.
    site: u32,
}

impl CoreBuilder {
    pub(super) fn new(role: Role) -> CoreBuilder {
        CoreBuilder {
            role,
            insts: Vec::new(),
            inst_sites: Vec::new(),
            works: Vec::new(),
            regs: 0,
            labels: Vec::new(),
            site: 0,
        }
    }

    /// A builder for separate code whose registers are disjoint from those of `outer`.
    pub(super) fn inside(outer: &CoreBuilder) -> CoreBuilder {
        CoreBuilder { regs: outer.regs, site: outer.site, ..CoreBuilder::new(outer.role) }
    }

    /// Takes over the register count of the completed code `inside`, so that its registers are not reused.
    pub(super) fn leave(&mut self, inside: &CoreProgram) {
        self.regs = inside.regs;
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    pub(super) fn site(&self) -> u32 {
        self.site
    }

    pub(super) fn set_site(&mut self, site: u32) -> u32 {
        std::mem::replace(&mut self.site, site)
    }

    pub(super) fn fresh(&mut self) -> Reg {
        self.regs += 1;
        Reg(self.regs - 1)
    }

    pub(super) fn emit(&mut self, inst: Inst) {
        self.insts.push(inst);
        self.inst_sites.push(self.site);
    }

    pub(super) fn work(
        &mut self,
        pipe: Pipe,
        name: &'static str,
        effect: Action,
        args: Vec<Operand>,
        cost: Price,
        result: Option<Reg>,
    ) {
        let work = self.works.len() as u32;
        self.works.push(Work { pipe, name, effect, args: args.into_boxed_slice(), cost, result, fills: None });
        self.emit(Inst::Issue { work });
    }

    /// Marks the work added last as a move of a tile into a ring.
    pub(super) fn fills(&mut self, ring: u32) {
        if let Some(work) = self.works.last_mut() {
            work.fills = Some(ring);
        }
    }

    /// A label that is not placed yet. Jumps carry its number until [`CoreBuilder::finish`] resolves it.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.insts.len() as u32);
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.emit(Inst::Jump { to: label.0 as u32 });
    }

    pub(super) fn jump_if_zero(&mut self, a: Operand, label: Label) {
        self.emit(Inst::JumpIfZero { a, to: label.0 as u32 });
    }

    pub(super) fn jump_if_ge(&mut self, a: Operand, b: Operand, label: Label) {
        self.emit(Inst::JumpIfGe { a, b, to: label.0 as u32 });
    }

    pub(super) fn poll(&mut self, a: Operand, label: Label) {
        self.emit(Inst::Poll { a, to: label.0 as u32 });
    }

    /// The program, with labels replaced by instruction numbers. A label that was never placed becomes the end of the
    /// program.
    pub(super) fn finish(mut self) -> CoreProgram {
        self.emit(Inst::End);
        let end = self.insts.len() as u32 - 1;
        for inst in &mut self.insts {
            if let Inst::Jump { to } | Inst::JumpIfZero { to, .. } | Inst::JumpIfGe { to, .. } | Inst::Poll { to, .. } =
                inst
            {
                *to = self.labels[*to as usize].unwrap_or(end);
            }
        }
        CoreProgram {
            role: self.role,
            insts: self.insts,
            inst_sites: self.inst_sites,
            works: self.works,
            regs: self.regs,
        }
    }
}

/// Source sites of instructions, shared by the cores.
#[derive(Debug, Default)]
pub(super) struct Sites(pub(super) Vec<Site>);

impl Sites {
    pub(super) fn add(&mut self, op: &str, span: Span, note: &'static str) -> u32 {
        let site = Site { op: op.into(), span: (span.start, span.end), note };
        if self.0.last() != Some(&site) {
            self.0.push(site);
        }
        self.0.len() as u32 - 1
    }
}
