//! Creation of ops that do not come from a text.

use slipring_ir::{Attr, AttrDict, Module, OpId, Span, Type, ValueId};

use crate::def::OpDef;

/// The mark of ops that passes inserted; hand-written ops do not have it.
pub const PLACED: &str = "placed";

impl OpDef {
    /// Makes an op of this declaration that is not in a block yet. Operands are given by their declared names; the
    /// others are left out. Attributes must be declared, too.
    ///
    /// # Panics
    /// If a name is not declared, which is a mistake of the caller.
    pub fn make(
        &'static self,
        module: &mut Module,
        operands: &[(&str, &[ValueId])],
        attrs: impl Into<AttrDict>,
        results: &[Type],
        span: Span,
    ) -> OpId {
        let (schema, attrs) = (&self.schema, attrs.into());
        let operand = |name: &str| schema.operands.iter().any(|spec| spec.name == name);
        let attr = |name: &str| schema.attrs.iter().any(|spec| spec.name == name);
        let stranger = operands.iter().map(|(name, _)| *name).find(|name| !operand(name));
        let stranger = stranger.or_else(|| attrs.iter().map(|(name, _)| name).find(|name| !attr(name)));
        assert!(stranger.is_none(), "`{}` has no `{}`", schema.name, stranger.unwrap_or_default());
        let given =
            |name: &str| operands.iter().find(|(other, _)| *other == name).map_or(&[][..], |(_, values)| values);
        let groups: Vec<&[ValueId]> = schema.operands.iter().map(|spec| given(spec.name)).collect();
        module.build(self, &groups, attrs, results, span)
    }
}

/// Marks an op as placed by the passes.
pub fn mark_placed(module: &mut Module, op: OpId) {
    debug_assert!(module.op(op).schema().is_some_and(|schema| schema.attrs.iter().any(|spec| spec.name == PLACED)));
    module.op_mut(op).attrs.set(PLACED, Attr::Unit);
}

/// True for an op that the passes placed.
pub fn is_placed(module: &Module, op: OpId) -> bool {
    module.op(op).attrs.get(PLACED).is_some()
}
