//! The order of the passes, and running them.

use slipring_ir::{Diags, Module, Severity};
use slipring_machine::Platform;
use slipring_op::Table;

use crate::context::{Pass, PassContext};

/// The passes, in order.
pub fn pipeline() -> &'static [Pass] {
    &[
        crate::scopes::PASS,
        crate::memory::multi_tiles::PASS,
        crate::split::check_split::PASS,
        crate::split::auto_split::PASS,
        crate::memory::tile_matmul::PASS,
        crate::split::expand_mixed::PASS,
        crate::split::split_cores::PASS,
        crate::rings::place_frees::PASS,
        crate::rings::resolve_rings::PASS,
        crate::memory::allocate::PASS,
        crate::sync::insert_sync::PASS,
    ]
}

/// Passes that run only when requested by name, after those of [`pipeline`].
pub fn by_name() -> &'static [Pass] {
    &[crate::rings::lower_rings::PASS]
}

/// Names of equivalent passes in other compilers, and ours.
pub const OTHER_NAMES: [(&str, &str); 10] = [
    ("PTOInferVPTOVecScope", "infer-vecscopes"),
    ("AivSplitValid", "check-split"),
    ("LowerAutoVectorSplit", "auto-split"),
    ("SplitVectorKernel", "auto-split"),
    ("AutoTileMatmulL0", "tile-matmul"),
    ("ExpandMixedKernel", "expand-mixed"),
    ("ResolveReservedBuffers", "resolve-rings"),
    ("PlanMemory", "allocate"),
    ("AllocateMemoryAddr", "allocate"),
    ("InsertSync", "insert-sync"),
];

impl Pass {
    /// Its names in other compilers.
    pub fn other_names(&self) -> impl Iterator<Item = &'static str> {
        OTHER_NAMES.iter().filter(|(_, own)| *own == self.name).map(|(other, _)| *other)
    }
}

/// The pass with this name, or with this name in another compiler.
pub fn pass(name: &str) -> Option<&'static Pass> {
    let own = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, own)| own);
    pipeline().iter().chain(by_name()).find(|pass| pass.name == own)
}

/// The passes named in a list; if the list is empty, those of [`pipeline`], followed by `last` if that runs only by
/// name.
pub fn chosen(names: &[String], last: Option<&str>) -> Vec<&'static Pass> {
    let last = last.and_then(pass);
    match names {
        [] => pipeline()
            .iter()
            .chain(by_name().iter().filter(|own| last.is_some_and(|last| last.name == own.name)))
            .collect(),
        names => names.iter().filter_map(|name| pass(name)).collect(),
    }
}

/// Errors of a module after a pass, according to the declarations; empty if the pass left it valid.
pub fn verify_after(pass: &Pass, module: &Module, table: &Table, platform: &Platform) -> Diags {
    let mut found = Diags::default();
    slipring_op::verify(table, module, platform, &mut found);
    found.list.retain(|diagnostic| diagnostic.severity == Severity::Error);
    for diagnostic in &mut found.list {
        diagnostic.message = format!("after pass `{}`: {}", pass.name, diagnostic.message);
    }
    found
}

/// How a run of the pipeline ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All passes up to the last requested one have run.
    Done,
    /// The pass of this name reported an error; no later one has run.
    Failed(&'static str),
}

/// Runs the pipeline up to and including pass `last` (all of it for `None` or an unknown name) and calls `after` with
/// each pass that has run and the resulting module.
pub fn run_passes(
    module: &mut Module,
    context: &PassContext<'_>,
    last: Option<&str>,
    diags: &mut Diags,
    mut after: impl FnMut(&Pass, &Module),
) -> Outcome {
    for pass in pipeline() {
        let before = diags.list.len();
        (pass.run)(module, context, diags);
        after(pass, module);
        if diags.list[before..].iter().any(|d| d.severity == Severity::Error) {
            return Outcome::Failed(pass.name);
        }
        if last == Some(pass.name) {
            break;
        }
    }
    Outcome::Done
}
