//! Ops that are not about tiles: modules, functions, control flow, scalar arithmetic and memrefs, as in MLIR.

#[allow(missing_docs)] // An op's declaration is its documentation.
pub mod arith;
#[allow(missing_docs)]
pub mod builtin;
#[allow(missing_docs)]
pub mod cf;
#[allow(missing_docs)]
pub mod func;
#[allow(missing_docs)]
pub mod memref;
#[allow(missing_docs)]
pub mod scf;

use slipring_op::OpDef;

/// The op families of this crate.
pub const FAMILIES: &[&[&OpDef]] = &[
    builtin::OPS,
    func::OPS,
    scf::OPS,
    cf::OPS,
    memref::buffer::OPS,
    memref::cast::OPS,
    arith::constant::OPS,
    arith::integer::OPS,
    arith::extended::OPS,
    arith::float::OPS,
    arith::compare::OPS,
    arith::cast::OPS,
];
