//! Micro-instructions: the instructions below tile ops (the A5's micro-instruction manual).
//!
//! Operands are typed pointers into one memory, and vector registers. A kernel that uses them chooses its addresses and
//! synchronises by hand.

mod clauses;
mod cube;
mod dma;
mod logical;
mod memory;
mod pointer;
mod scattered;
mod scope;
mod simt;
mod sort;
mod ub;
mod vector;

pub use pointer::CASTPTR;
pub use scope::{STRICT_VECSCOPE, VECSCOPE};
use slipring_op::def::OpDef;

/// The op families of this crate.
pub const FAMILIES: &[&[&OpDef]] = &[
    pointer::OPS,
    dma::grouped::OPS,
    dma::older::OPS,
    cube::load::OPS,
    cube::operand::OPS,
    cube::mad::OPS,
    cube::store::OPS,
    cube::control::OPS,
    cube::fill::OPS,
    scope::OPS,
    sort::OPS,
    ub::OPS,
    ub::STATE,
    simt::launch::OPS,
    simt::query::OPS,
    simt::collective::OPS,
    simt::memory::OPS,
    simt::atomic::OPS,
    simt::math::OPS,
    simt::convert::OPS,
    simt::sync::OPS,
    simt::keep::OPS,
    vector::load::OPS,
    vector::store::OPS,
    vector::gather::OPS,
    vector::align::OPS,
    vector::predicate::OPS,
    vector::predicate_logic::OPS,
    vector::predicate_memory::OPS,
    vector::unary::OPS,
    vector::binary::OPS,
    vector::scalar::OPS,
    vector::carry::OPS,
    vector::fused::OPS,
    vector::broadcast::OPS,
    vector::convert::OPS,
    vector::reduce::OPS,
    vector::histogram::OPS,
    vector::compare::OPS,
    vector::rearrange::OPS,
    logical::memory::OPS,
    logical::predicate::OPS,
    logical::lanes::OPS,
    logical::older::OPS,
    logical::compare::OPS,
    logical::broadcast::OPS,
    logical::reduce::OPS,
    logical::convert::OPS,
    logical::fused::OPS,
    logical::histogram::OPS,
    logical::gather::OPS,
    logical::rearrange::OPS,
    logical::packed::OPS,
];
