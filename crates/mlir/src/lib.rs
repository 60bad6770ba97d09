//! Ops that are not of tiles: modules, functions, control flow, scalar arithmetic and memrefs, as MLIR has them.

#[allow(missing_docs)] // An op's declaration is its documentation.
pub mod arith;
#[allow(missing_docs)]
pub mod builtin;
#[allow(missing_docs)]
pub mod func;
#[allow(missing_docs)]
pub mod memref;
#[allow(missing_docs)]
pub mod scf;

use slipring_op::OpDef;

/// Its families of ops.
pub const FAMILIES: &[&[&OpDef]] = &[
    builtin::OPS,
    func::OPS,
    scf::OPS,
    memref::buffer::OPS,
    memref::cast::OPS,
    arith::constant::OPS,
    arith::integer::OPS,
    arith::float::OPS,
    arith::compare::OPS,
    arith::cast::OPS,
];
