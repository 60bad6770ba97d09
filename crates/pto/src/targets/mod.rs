//! Tools that built programs are printed for: a file for each version, and a table of its ops.

mod bounds;
mod fixes;
mod memory;
mod newest;
mod pipe_ends;
mod pipe_values;
mod pops;
mod ptoas_0_27;
mod ptoas_0_27_types;
mod ptoas_0_60;
mod refused;
mod scalars;
mod steps;
mod views;

use slipring_op::target::Target;

pub use ptoas_0_27::PTOAS_0_27;
pub use ptoas_0_60::PTOAS_0_60;

/// Every target, newest last.
pub const TARGETS: &[&Target] = &[&PTOAS_0_27, &PTOAS_0_60];

/// The target with this name; `ptoas` is the newest.
pub fn target(name: &str) -> Option<&'static Target> {
    let name = if name == "ptoas" { PTOAS_0_60.name } else { name };
    TARGETS.iter().copied().find(|target| target.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read() {
        let tables = TARGETS.iter().map(|target| target.ops).chain([&ptoas_0_27::SETS, &scalars::USERS]);
        tables.for_each(|table| assert!(table.names().count() > 0));
    }
}
