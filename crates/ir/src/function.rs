//! Functions and calls of a module. Declarations mark the ops that are one ([`Part`]); their data are in the attributes
//! defined by MLIR's interfaces for symbols, functions and calls.

use std::sync::Arc;

use crate::{Attr, BlockId, FuncType, Module, OpId, Type, ValueId};

pub use crate::specs::Part;

/// The attribute with the name that an op defines.
pub const SYMBOL: &str = "sym_name";

/// The attribute with a symbol's visibility.
pub const VISIBILITY: &str = "sym_visibility";

/// The attribute with a function's type.
pub const FUNCTION_TYPE: &str = "function_type";

/// The attribute with the name of the function that an op calls.
pub const CALLEE: &str = "callee";

/// The value of [`VISIBILITY`] if nothing outside of the file may use the symbol.
const PRIVATE: &str = "private";

/// A parameter of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The function.
    pub function: OpId,
    /// Its index among the parameters.
    pub at: usize,
    /// Its value in the body.
    pub value: ValueId,
}

impl Module {
    /// The role of an op among functions and calls.
    pub fn part(&self, op: OpId) -> Part {
        self.op(op).schema().map_or(Part::None, |schema| schema.part)
    }

    /// True for a function.
    pub fn is_function(&self, op: OpId) -> bool {
        self.part(op) == Part::Function
    }

    /// Every function of the file, in the order of the text.
    pub fn functions(&self) -> impl Iterator<Item = OpId> + '_ {
        let mut list = Vec::new();
        self.functions_in(self.top, &mut list);
        list.into_iter()
    }

    /// The functions of a block; there are none inside of functions.
    fn functions_in(&self, block: BlockId, list: &mut Vec<OpId>) {
        for &op in &self.block(block).ops {
            if self.is_function(op) {
                list.push(op);
                continue;
            }
            let regions = self.op(op).regions.iter();
            regions.flat_map(|region| &self.region(*region).blocks).for_each(|inner| self.functions_in(*inner, list));
        }
    }

    /// Every op with this role, in the order of the text.
    pub fn with_part(&self, part: Part) -> impl Iterator<Item = OpId> + '_ {
        self.walk(self.top).into_iter().filter(move |op| self.part(*op) == part)
    }

    /// The function around an op, or the op itself if it is one.
    pub fn function_of(&self, op: OpId) -> Option<OpId> {
        std::iter::successors(Some(op), |at| self.parent_op(*at)).find(|at| self.is_function(*at))
    }

    /// The name that an op defines.
    pub fn symbol_name(&self, op: OpId) -> Option<&str> {
        self.op(op).attrs.get(SYMBOL)?.as_str()
    }

    /// Gives an op a name that only its file may use.
    pub fn name_privately(&mut self, op: OpId, name: &str) {
        let attrs = &mut self.op_mut(op).attrs;
        attrs.set(SYMBOL, Attr::Str(name.into()));
        attrs.set(VISIBILITY, Attr::Str(PRIVATE.into()));
    }

    /// True for an op whose name only its file may use.
    pub fn is_private(&self, op: OpId) -> bool {
        self.op(op).attrs.get(VISIBILITY).and_then(Attr::as_str) == Some(PRIVATE)
    }

    /// The type of a function.
    pub fn function_type(&self, op: OpId) -> Option<&Arc<FuncType>> {
        match self.op(op).attrs.get(FUNCTION_TYPE) {
            Some(Attr::Type(Type::Function(ty))) => Some(ty),
            _ => None,
        }
    }

    /// Sets the type of a function.
    pub fn set_function_type(&mut self, op: OpId, ty: FuncType) {
        self.op_mut(op).attrs.set(FUNCTION_TYPE, Attr::Type(Type::Function(Arc::new(ty))));
    }

    /// The parameter that a value represents.
    pub fn parameter(&self, value: ValueId) -> Option<Parameter> {
        self.functions().find_map(|function| {
            let args = &self.block(self.body(function, 0)?).args;
            Some(Parameter { function, at: args.iter().position(|arg| *arg == value)?, value })
        })
    }

    /// Ops that use a value.
    pub fn users(&self, value: ValueId) -> Vec<OpId> {
        self.walk(self.top).into_iter().filter(|op| self.op(*op).operands.contains(&value)).collect()
    }

    /// The parameters that are linked to this one through calls, this one first: changing the type of one requires
    /// changing all.
    ///
    /// # Errors
    /// A passed value that is not a parameter.
    pub fn passed_together(&self, own: Parameter) -> Result<Vec<Parameter>, ValueId> {
        let mut found = vec![own];
        let mut next = 0;
        while let Some(own) = found.get(next).copied() {
            next += 1;
            let callers = self.walk(self.top).into_iter().filter(|call| self.callee(*call) == Some(own.function));
            let outer = callers.filter_map(|call| self.op(call).operands.get(own.at).copied());
            let inner = self.users(own.value).into_iter().filter_map(|call| {
                let body = self.body(self.callee(call)?, 0)?;
                Some(self.op(call).operands.iter().zip(&self.block(body).args))
            });
            let inner = inner.flatten().filter(|(passed, _)| **passed == own.value).map(|(_, inner)| *inner);
            for value in outer.chain(inner) {
                let other = self.parameter(value).ok_or(value)?;
                if !found.contains(&other) {
                    found.push(other);
                }
            }
        }
        Ok(found)
    }

    /// Changes the type of a function's parameter: in its body, and in the function's own type.
    pub fn retype_parameter(&mut self, function: OpId, at: usize, ty: Type) {
        if let Some(value) = self.body(function, 0).and_then(|body| self.block(body).args.get(at).copied()) {
            self.value_mut(value).ty = ty.clone();
        }
        let of_function = self.function_type(function).map(|own| FuncType::clone(own));
        if let Some(mut new) = of_function.filter(|own| at < own.inputs.len()) {
            new.inputs[at] = ty;
            self.set_function_type(function, new);
        }
    }

    /// The name of the function that an op calls; `None` for an op that is not a call.
    pub fn callee_name(&self, op: OpId) -> Option<&str> {
        if self.part(op) == Part::Call { self.op(op).attrs.get(CALLEE)?.as_str() } else { None }
    }

    /// The function that an op calls.
    pub fn callee(&self, op: OpId) -> Option<OpId> {
        self.symbol_from(op, self.callee_name(op)?)
    }

    /// Redirects a call to another function.
    pub fn set_callee(&mut self, op: OpId, name: &str) {
        self.op_mut(op).attrs.set(CALLEE, Attr::Symbol(name.into()));
    }
}
