//! Rings between cores: both ends are matched, and slots are freed.

pub mod lower_rings;
pub mod place_frees;
pub mod resolve_rings;
