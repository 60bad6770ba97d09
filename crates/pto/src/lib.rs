//! The `pto` dialect, organised like the manual.

#![allow(missing_docs)] // An op's declaration is its documentation.

mod buffer_text;
mod cache;
mod cross_core;
mod cube;
mod debug;
mod dma;
mod fusion;
mod local_array;
mod local_struct;
mod mixed;
mod pipe;
mod pipe_entry;
mod pipe_handle;
mod pipe_make;
mod pipe_scale;
mod pipe_text;
mod printf;
mod query;
mod scalar_memory;
mod signal;
mod sync;
mod syncall;
pub mod targets;
pub(crate) mod tile;
mod vector;
mod view;

pub use cache::CACHE_INVALID;
pub use cross_core::*;
pub use cube::*;
pub use debug::*;
pub use dma::*;
pub use local_array::{DECLARE as DECLARE_LOCAL_ARRAY, GET as LOCAL_ARRAY_GET, SET as LOCAL_ARRAY_SET};
pub use local_struct::{DECLARE as DECLARE_STRUCT, GET as STRUCT_GET, SET as STRUCT_SET};
pub use mixed::*;
pub use pipe::*;
pub use pipe_entry::{TALLOC_TO_AIC, TALLOC_TO_AIV};
pub use pipe_handle::*;
pub use pipe_make::*;
pub use pipe_scale::{SET_QUANT_SCALAR, SET_QUANT_VECTOR};
pub use pipe_text::is_event;
pub use query::*;
pub use scalar_memory::*;
pub use signal::*;
pub use sync::*;
pub use syncall::*;
pub use tile::*;
pub use vector::*;
pub use view::*;

use slipring_op::def::OpDef;

/// Attributes that the public assembler's passes and front ends leave on ops: the library template of a function, the
/// fusion group, the back end. None of them affects the program.
pub const HINTS: &[&str] = &[
    "llvm.",
    "pto.auto_sync_tail_barrier",
    "pto.backend",
    "pto.fusion.",
    "pto.last_use",
    "pto.ptodsl.",
    "pto.tilelang.",
    "pto.tileop.",
    "pto.unroll",
    "pto.view_semantics",
    "pto.visibility",
];

/// The op families of this crate.
pub const FAMILIES: &[&[&OpDef]] = &[
    pipe::OPS,
    pipe_entry::OPS,
    pipe_handle::OPS,
    debug::OPS,
    query::OPS,
    sync::OPS,
    sync::event_array::OPS,
    cross_core::OPS,
    view::OPS,
    mixed::OPS,
    tile::OPS,
    tile::alloc::OPS,
    tile::multi::OPS,
    tile::subset::OPS,
    tile::reshape::OPS,
    tile::pointer_cast::OPS,
    dma::load::OPS,
    dma::store::OPS,
    dma::moves::OPS,
    dma::window::OPS,
    dma::not_run::OPS,
    dma::comm::OPS,
    dma::prefetch::OPS,
    dma::group::OPS,
    pipe_scale::OPS,
    cache::OPS,
    local_array::OPS,
    local_struct::OPS,
    fusion::OPS,
    cube::matmul::OPS,
    cube::mx::OPS,
    scalar_memory::OPS,
    signal::OPS,
    syncall::OPS,
    vector::binary::OPS,
    vector::scalar::OPS,
    vector::ternary::OPS,
    vector::unary::OPS,
    vector::bits::OPS,
    vector::reduce::OPS,
    vector::broadcast::OPS,
    vector::select::OPS,
    vector::convert::OPS,
    vector::fill::OPS,
    vector::rearrange::OPS,
    vector::gather::OPS,
    vector::order::OPS,
    vector::table::OPS,
    vector::generate::OPS,
    vector::blocks::OPS,
    vector::quantise::OPS,
    vector::power::OPS,
    vector::fused::OPS,
    vector::pairs::OPS,
    vector::part_arg::OPS,
];
