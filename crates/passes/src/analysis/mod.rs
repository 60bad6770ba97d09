//! Analyses shared by several passes. They do not change the module.

pub mod access;
pub mod affine;
pub mod facts;
pub mod last_use;
pub mod paths;
pub mod rings;
pub mod roots;
pub mod touch;
pub mod windows;
