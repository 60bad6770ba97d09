//! Bindings of the values of the text while a core's program is decoded.

use slipring_ir::ValueId;
use slipring_machine::Role;
use slipring_program::{Inst, Operand, Reg};

use super::{Binding, Decoder, TileRef, ViewRef};
use crate::def::Reported;

impl Decoder<'_> {
    /// Binds a value.
    pub fn bind(&mut self, value: ValueId, binding: Binding) {
        match &mut self.cluster {
            Some(cluster) if self.role == Role::Aiv1 => return cluster.bind_second(value, binding),
            Some(cluster) => cluster.forget_second(value),
            None => {}
        }
        self.bindings[value.index()] = Some(binding);
    }

    /// The binding of a value that has been decoded.
    pub fn binding(&self, value: ValueId) -> Option<&Binding> {
        let second = self.cluster.as_ref().filter(|_| self.role == Role::Aiv1).and_then(|c| c.second(value));
        second.or(self.bindings[value.index()].as_ref())
    }

    /// The scalar or address that a value is bound to.
    ///
    /// # Errors
    /// Reported if the value is something else.
    pub fn scalar(&mut self, value: ValueId) -> Result<Operand, Reported> {
        match self.binding(value) {
            Some(Binding::Scalar(operand)) => Ok(*operand),
            _ => self.not_a("number", value),
        }
    }

    /// The tile that a value is bound to.
    ///
    /// # Errors
    /// Reported if the value is something else.
    pub fn tile(&mut self, value: ValueId) -> Result<TileRef, Reported> {
        match self.binding(value) {
            Some(Binding::Tile(tile)) => Ok(*tile),
            Some(Binding::View(view)) => {
                let view = view.clone();
                super::memory::as_tile(&view).ok_or(()).or_else(|()| self.not_a("tile", value))
            }
            _ => self.not_a("tile", value),
        }
    }

    /// The window of global memory that a value is bound to.
    ///
    /// # Errors
    /// Reported if the value is something else.
    pub fn view(&mut self, value: ValueId) -> Result<ViewRef, Reported> {
        match self.binding(value) {
            Some(Binding::View(view)) => Ok(view.clone()),
            _ => self.not_a("view of global memory", value),
        }
    }

    fn not_a<T>(&mut self, what: &str, value: ValueId) -> Result<T, Reported> {
        let name = self.module.value_name(value);
        self.error("value-kind", format!("`{name}` is not a {what} here"));
        Err(Reported)
    }

    /// Registers to carry a binding through a loop or branch: the same structure, with a register for every part.
    pub fn phi(&mut self, like: &Binding) -> Binding {
        match like {
            Binding::Scalar(_) => Binding::Scalar(Operand::Reg(self.fresh())),
            Binding::Tile(tile) => {
                let mut reg = || Operand::Reg(self.builder.fresh());
                Binding::Tile(TileRef { ty: tile.ty, addr: reg(), valid: [reg(), reg()] })
            }
            Binding::View(view) => {
                // The alternatives may be windows of different tensors.
                let mut view = view.clone().at(Operand::Reg(self.fresh()));
                for part in view.dims.iter_mut().chain(view.strides.iter_mut()) {
                    *part = Operand::Reg(self.builder.fresh());
                }
                Binding::View(view)
            }
            Binding::Many(parts) => Binding::Many(parts.iter().map(|part| self.phi(part)).collect()),
            Binding::Vector(slots) => Binding::Vector(slots.iter().map(|_| self.fresh_slot()).collect()),
            Binding::Handle(handle) => Binding::Handle(*handle),
        }
    }

    /// Copies one set of bindings into the registers of another simultaneously (as a loop's back edge does).
    pub fn assign(&mut self, to: &[Binding], from: &[Binding]) {
        let mut moves = Vec::new();
        for (to, from) in to.iter().zip(from) {
            collect_moves(to, from, &mut moves);
        }
        moves.retain(|(d, a)| *a != Operand::Reg(*d));
        // A source that an earlier move overwrites is read into a fresh register first.
        for at in 0..moves.len() {
            let clobbered = moves[..at].iter().any(|(d, _)| moves[at].1 == Operand::Reg(*d));
            if clobbered {
                let d = self.fresh();
                self.emit(Inst::Move { d, a: moves[at].1 });
                moves[at].1 = Operand::Reg(d);
            }
        }
        for (d, a) in moves {
            self.emit(Inst::Move { d, a });
        }
        self.assign_slots(to, from);
    }
}

fn collect_moves(to: &Binding, from: &Binding, moves: &mut Vec<(Reg, Operand)>) {
    let mut push = |to: Operand, from: Operand| {
        if let Operand::Reg(d) = to {
            moves.push((d, from));
        }
    };
    match (to, from) {
        (Binding::Scalar(to), Binding::Scalar(from)) => push(*to, *from),
        (Binding::Tile(to), Binding::Tile(from)) => {
            push(to.addr, from.addr);
            push(to.valid[0], from.valid[0]);
            push(to.valid[1], from.valid[1]);
        }
        (Binding::View(to), Binding::View(from)) => {
            push(to.base, from.base);
            to.dims.iter().zip(&from.dims).for_each(|(t, f)| push(*t, *f));
            to.strides.iter().zip(&from.strides).for_each(|(t, f)| push(*t, *f));
        }
        (Binding::Many(to), Binding::Many(from)) => {
            to.iter().zip(from).for_each(|(t, f)| collect_moves(t, f, moves));
        }
        _ => {}
    }
}
