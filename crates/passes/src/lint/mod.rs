//! What is wrong on some path through a kernel, whatever it is given and however long its works take. Nothing is changed.
//!
//! | code | what |
//! |---|---|
//! | `flag-left-set`, `flag-never-set` | a path sets a flag between two pipes more often than it waits for it, or less often |
//! | `token-not-released`, `token-not-held` | the same of a buffer that a pipe gets and releases |
//! | `library-flag` | a flag is set but not waited for where an operation of the public tile library uses it inside |
//! | `use-after-free` | a tile that is a slot of a ring is used after the op that gave the slot back |
//! | `uninitialised-tile` | an op computes with a tile that nothing has written before, and that shares no byte with one that something has: a warning, since the result may go nowhere |
//! | `tile-lines` | lines of a tile without boxes are no multiple of 32 bytes, as the tile library asks |
//! | `rounds-lost` | each round of a loop begins from the same tile and overwrites a result that only what is after the loop reads: a warning |
//! | `same-slot` | the number that chooses a slot by the loop's variable is the same in each round, since the loop goes by larger steps: a warning |
//!
//! A function is followed path by path, calls included (`walk`). What is said holds on every path, or on every path that takes one
//! arm of one branch: whoever takes it meets it, whatever else is decided. Of paths that only several decisions together make, nothing
//! is said, since they may exclude each other. Loops that change how often a flag is set, by a number or by a path that is not known, are
//! left to runs; so are ids that are computed, cores that signal each other, and kernels for both kinds of core in one function.

mod lines;
mod path;
mod rounds;
mod walk;

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Diags, Kind, Module, OpId, Severity, ValueId};
use slipring_machine::{CoreKind, Platform};

/// True for an error that is said here, or of tiles that overwrite each other: a finding of a text that is well formed.
pub fn is_finding(said: &Diagnostic) -> bool {
    let own = matches!(
        said.kind,
        Kind::FlagLeftSet
            | Kind::FlagNeverSet
            | Kind::TokenNotReleased
            | Kind::TokenNotHeld
            | Kind::UseAfterFree
            | Kind::LibraryFlag
            | Kind::TileOverwritten
            | Kind::TileLines
    );
    own && said.severity == Severity::Error
}

/// Follows the functions that the cores of a kernel start in: a Cube and a Vector core, as far as they take part. Of `given`
/// conditions it is known whether they hold.
pub fn check(
    module: &Module,
    starts: [Option<OpId>; 2],
    platform: &Platform,
    given: &BTreeMap<ValueId, bool>,
    diags: &mut Diags,
) {
    for (kind, start) in [CoreKind::Cube, CoreKind::Vector].into_iter().zip(starts) {
        let Some(body) = start.and_then(|function| module.body(function, 0)) else { continue };
        walk::Walk::new(module, kind, platform, start, given).follow(body, diags);
        rounds::check(module, body, platform, diags);
        lines::check(module, body, diags);
    }
}
