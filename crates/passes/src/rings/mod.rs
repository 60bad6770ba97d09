//! Rings between cores: both ends brought together, slots freed.

pub mod lower_rings;
pub mod place_frees;
pub mod resolve_rings;
