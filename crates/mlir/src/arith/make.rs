//! Constructors of scalar ops, for passes.

use slipring_ir::{Attr, AttrDict, Module, OpId, Span, Type, ValueId};

use super::constant::VALUE;
use super::{CMPI, CONSTANT};
use slipring_op::OpDef;

/// A constant integer that is not in a block yet.
pub fn constant(module: &mut Module, number: i64, ty: Type, span: Span) -> OpId {
    constant_of(module, Attr::Int(number.into(), ty.clone()), ty, span)
}

/// A constant that is not in a block yet, from its attribute and its type.
pub fn constant_of(module: &mut Module, value: Attr, ty: Type, span: Span) -> OpId {
    CONSTANT.make(module, &[], [(VALUE, value)], &[ty], span)
}

/// An op of two scalars of one type that is not in a block yet.
pub fn binary(module: &mut Module, def: &'static OpDef, [a, b]: [ValueId; 2], span: Span) -> OpId {
    let ty = module.ty(a).clone();
    def.make(module, &[("lhs", &[a]), ("rhs", &[b])], AttrDict::default(), &[ty], span)
}

/// A relation between integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    Equal,
    /// Unsigned less-than.
    Below,
}

/// A comparison of integers that is not in a block yet.
pub fn compare(module: &mut Module, relation: Relation, [a, b]: [ValueId; 2], span: Span) -> OpId {
    let predicate = match relation {
        Relation::Equal => "eq",
        Relation::Below => "ult",
    };
    let attrs = [("predicate", Attr::member("cmpi_predicate", predicate))];
    CMPI.make(module, &[("lhs", &[a]), ("rhs", &[b])], attrs, &[Type::I1], span)
}
