//! The tools that built programs are printed for: a file for each version.

mod bounds;
mod fixes;
mod pipe_ends;
mod pipe_values;
mod pops;
mod ptoas;
mod ptoas_0_27;
mod ptoas_0_27_ops;
mod ptoas_0_27_types;
mod refused;
mod scalars;
mod steps;
mod views;

use slipring_op::target::Target;

pub use ptoas::PTOAS;
pub use ptoas_0_27::PTOAS_0_27;

/// Every target, newest last.
pub const TARGETS: &[&Target] = &[&PTOAS_0_27, &PTOAS];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
