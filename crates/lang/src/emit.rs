//! Building ops.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;
use slipring_ir::{Attr, AttrDict, BlockId, Module, OpId, Source, Span, Type, ValueId};
use slipring_mlir::arith;
use slipring_op::OpDef;

/// Builds ops into a module, each with the source position of the text that is being lowered.
pub(crate) struct Emitter {
    /// The module under construction.
    pub module: Module,
    source: Arc<Source>,
    /// The block that the next op goes to.
    pub block: BlockId,
    /// The source position of new ops.
    pub span: Span,
    /// The first block of the function, which begins with its constants.
    entry: BlockId,
    constants: IndexMap<(Attr, Type), ValueId>,
    /// Values whose names are only suggestions, not names of variables.
    suggested: BTreeSet<ValueId>,
}

/// A state of an [`Emitter`].
pub(crate) struct Mark {
    module: slipring_ir::Mark,
    constants: usize,
}

impl Emitter {
    pub fn new(source: Arc<Source>) -> Emitter {
        let module = Module::new(source.clone());
        let block = module.top;
        Emitter {
            module,
            source,
            block,
            span: Span::default(),
            entry: block,
            constants: IndexMap::new(),
            suggested: BTreeSet::new(),
        }
    }

    /// Continues in the body of a new function.
    pub fn enter_function(&mut self, body: BlockId) {
        (self.block, self.entry) = (body, body);
        self.constants.clear();
    }

    /// The current state, for a later rollback.
    pub fn mark(&self) -> Mark {
        Mark { module: self.module.mark(), constants: self.constants.len() }
    }

    /// Removes everything that was built since `mark`.
    pub fn take_back(&mut self, mark: &Mark) {
        self.module.take_back(mark.module);
        self.constants.truncate(mark.constants);
    }

    /// Makes an op that is not in a block yet. Operands are given by their declared names; groups that are not named
    /// are empty.
    pub fn make(
        &mut self,
        def: &'static OpDef,
        operands: &[(&str, &[ValueId])],
        attrs: &[(&'static str, Attr)],
        results: &[Type],
    ) -> OpId {
        let attrs: AttrDict = attrs.iter().map(|(name, attr)| (*name, attr.clone())).collect();
        let op = def.make(&mut self.module, operands, attrs, results, self.span);
        let (name, line, column) = self.source.place(self.span.start);
        self.module.op_mut(op).loc = Some(format!("{name:?}:{line}:{column}").into());
        op
    }

    /// Makes an op at the end of the current block.
    pub fn op(
        &mut self,
        def: &'static OpDef,
        operands: &[(&str, &[ValueId])],
        attrs: &[(&'static str, Attr)],
        results: &[Type],
    ) -> OpId {
        let op = self.make(def, operands, attrs, results);
        self.module.append(self.block, op);
        op
    }

    /// Like [`Emitter::op`], for an op with one result.
    pub fn value(
        &mut self,
        def: &'static OpDef,
        operands: &[(&str, &[ValueId])],
        attrs: &[(&'static str, Attr)],
        result: Type,
    ) -> ValueId {
        let op = self.op(def, operands, attrs, &[result]);
        self.module.op(op).results[0]
    }

    /// The position of the next op in its block.
    pub fn position(&self) -> usize {
        self.module.block(self.block).ops.len()
    }

    /// Removes unused arithmetic after a position of this block.
    pub fn drop_arithmetic(&mut self, from: usize) {
        while let Some(op) = self.module.block(self.block).ops.get(from..).and_then(|new| new.last().copied()) {
            let results = &self.module.op(op).results;
            let is_used = |value: &ValueId| !self.module.users(*value).is_empty();
            let plain = OpDef::of(&self.module, op).is_some_and(|def| def.only_computes());
            if !plain || results.iter().any(is_used) {
                return;
            }
            self.module.remove(op);
        }
    }

    /// A constant, made once for each function.
    pub fn constant(&mut self, value: Attr, ty: Type) -> ValueId {
        let key = (value, ty);
        if let Some(known) = self.constants.get(&key) {
            return *known;
        }
        let op = self.make(&arith::CONSTANT, &[], &[(arith::VALUE, key.0.clone())], std::slice::from_ref(&key.1));
        self.module.insert(self.entry, self.constants.len(), op);
        let value = self.module.op(op).results[0];
        self.constants.insert(key, value);
        value
    }

    /// Inserts an op on constants and parameters at the beginning of the function.
    pub fn at_entry(&mut self, op: OpId) {
        self.module.insert(self.entry, self.constants.len(), op);
    }

    /// A constant of type `index`.
    pub fn index(&mut self, n: i64) -> ValueId {
        self.constant(Attr::Int(n.into(), Type::Index), Type::Index)
    }

    /// Adds an empty block in a new region of an op.
    pub fn region(&mut self, op: OpId) -> BlockId {
        let region = self.module.add_region(op);
        self.module.add_block(region)
    }

    /// Lets `work` build into another block.
    pub fn inside<R>(&mut self, block: BlockId, work: impl FnOnce(&mut Emitter) -> R) -> R {
        let outer = std::mem::replace(&mut self.block, block);
        let result = work(self);
        self.block = outer;
        result
    }

    /// Gives a value the name of a variable, unless it has the name of another one.
    pub fn name(&mut self, value: ValueId, name: &str) {
        let span = self.span;
        let suggested = self.suggested.remove(&value);
        let data = self.module.value_mut(value);
        if data.name.is_none() || suggested {
            data.name = Some(name.into());
            data.span = span;
        }
    }

    /// Renames a value that no variable is bound to.
    pub fn rename(&mut self, value: ValueId, name: &str) {
        if self.suggested.remove(&value) {
            self.module.value_mut(value).name = None;
        }
        self.suggest(value, name);
    }

    /// Gives a value a name until a variable is bound to it.
    pub fn suggest(&mut self, value: ValueId, name: &str) {
        if self.module.value(value).name.is_none() {
            self.name(value, name);
            self.suggested.insert(value);
        }
    }
}
