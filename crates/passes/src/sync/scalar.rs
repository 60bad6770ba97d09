//! Writes of the scalar unit to on-chip memory that another pipe uses without a flag between the two.
//!
//! Runs assume that writes of the scalar unit are visible to work that it issues afterwards. On real chips they were
//! not (PTOAS#735, simpler#967 and #969: TCI, then a multiplication; with a flag all runs passed), and no source
//! guarantees it. A text that sets its flags by hand and omits this one therefore gets a warning. In texts without
//! flags this flag is inserted as well ([`super::insert_sync`]).

use std::collections::BTreeSet;

use slipring_ir::{Diagnostic, Diags, Module, OpId};
use slipring_machine::{Pipe, Platform};
use slipring_op::{OpDef, PipeRule};
use slipring_tile::Space;

use super::check::Problem;
use super::collect::{Collect, Steps};
use crate::analysis::access::Accesses;
use crate::analysis::facts::{Functions, syncs};
use crate::analysis::touch::{Access, Work};

/// Checks each kernel whose text has flags. Tiles must have addresses.
pub fn check(module: &Module, platform: &Platform, diags: &mut Diags) {
    if syncs(module) == 0 {
        return;
    }
    let functions = Functions::of(module);
    let accesses = Accesses::new(module, &functions, platform);
    let collect = Collect::new(module, &functions, &accesses);
    for (function, body, kind) in collect.starts() {
        let steps = collect.steps(function, body, kind, &BTreeSet::new());
        if !steps.works.iter().any(writes_by_scalars) {
            continue;
        }
        let mut seen = BTreeSet::new();
        for problem in steps.problems(platform) {
            if let Problem::Race(first, second) = problem
                && is_unordered(module, &steps, first, second)
                && seen.insert((steps.ops[first], steps.ops[second]))
            {
                diags.push(said(module, &steps, first, second));
            }
        }
    }
}

/// True for work of the scalar unit that writes a memory on chip.
fn writes_by_scalars(work: &Work) -> bool {
    work.pipe == Pipe::S && work.accesses.iter().any(|access| access.write && is_local(access))
}

/// True for an access to a memory on chip.
fn is_local(access: &Access) -> bool {
    access.space().is_some_and(|space| space != Space::Gm)
}

/// True if the scalar unit writes on-chip memory that the second work item touches.
fn is_unordered(module: &Module, steps: &Steps, first: usize, second: usize) -> bool {
    let (before, after) = (&steps.works[first], &steps.works[second]);
    let written = |access: &&Access| access.write && is_local(access);
    after.pipe != Pipe::S
        && !in_vector_function(module, steps.ops[first])
        && writes_by_scalars(before)
        && before.accesses.iter().filter(written).any(|own| after.accesses.iter().any(|other| own.conflicts(other)))
}

/// True inside an op whose body is work of a pipe: barriers of its own kind order its contents.
fn in_vector_function(module: &Module, op: OpId) -> bool {
    let around = std::iter::successors(module.parent_op(op), |op| module.parent_op(*op));
    around.filter_map(|op| OpDef::of(module, op)).any(|def| !matches!(def.pipe, PipeRule::None))
}

fn said(module: &Module, steps: &Steps, first: usize, second: usize) -> Diagnostic {
    let (old, new) = (module.op(steps.ops[first]), module.op(steps.ops[second]));
    let (before, after, pipe) = (&old.name, &new.name, steps.works[second].pipe);
    let message =
        format!("`{after}` on pipe {pipe} may start before what `{before}` on the scalar unit writes is there");
    let pair = format!("[PIPE_S, PIPE_{pipe}, id]");
    Diagnostic::warning("scalar-order", new.span, message)
        .label("this needs what the scalar unit writes")
        .also(old.span, "the scalar unit writes it here")
        .help(format!("set_flag{pair} after `{before}` and wait_flag{pair} before `{after}`"))
}
