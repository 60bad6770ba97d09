//! What passes find out about a module before they change it. It changes nothing.

pub mod access;
pub mod affine;
pub mod facts;
pub mod last_use;
pub mod rings;
pub mod roots;
pub mod touch;
pub mod windows;
