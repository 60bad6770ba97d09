//! Local memory: capacity and addresses.

pub mod allocate;
mod in_place;
mod layout;
mod lifetime;
pub mod multi_tiles;
pub mod pack;
pub mod tile_matmul;
