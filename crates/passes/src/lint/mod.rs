//! Errors on some path through a kernel, whatever its arguments and however long its work takes. The module is not
//! changed.
//!
//! | code | meaning |
//! |---|---|
//! | `flag-left-set`, `flag-never-set` | a path sets a flag between two pipes more often than it waits for it, or less often |
//! | `token-not-released`, `token-not-held` | the same for a buffer that a pipe gets and releases |
//! | `library-flag` | a flag is set but not waited for where an operation of the public tile library uses it internally |
//! | `use-after-free` | a tile that is a slot of a ring is used after the op that freed the slot |
//! | `uninitialised-tile` | an op computes with a tile that nothing has written before, and that shares no byte with one that something has: a warning, since the result may be unused |
//! | `tile-lines` | lines of a tile without boxes are not a multiple of 32 bytes, as the tile library requires |
//! | `rounds-lost` | each iteration of a loop begins from the same tile and overwrites a result that is read only after the loop: a warning |
//! | `same-slot` | the loop-dependent value that selects a slot is the same in each iteration, because of the loop's step: a warning |
//!
//! A function is followed path by path, calls included (`walk`). A finding holds on every path, or on every path that
//! takes one arm of one branch: every execution that takes it is affected, whatever else is decided. Nothing is
//! reported for paths that result only from several decisions together, since these may exclude each other. Loops that
//! change how often a flag is set, by an unknown amount or on an unknown path, are left to runs; so are computed ids,
//! cores that signal each other, and kernels for both kinds of core in one function.

mod lines;
mod path;
mod rounds;
mod walk;

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Diags, Kind, Module, OpId, Severity, ValueId};
use slipring_machine::{CoreKind, Platform};

use crate::analysis::facts::Functions;
use crate::analysis::paths::Route;

/// True for an error reported here, or about tiles that overwrite each other: a finding about a well-formed text.
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

/// Follows the functions in which the cores of a kernel start: a Cube and a Vector core, as far as they take part.
/// `given` contains the conditions whose outcome is known.
pub fn check(
    module: &Module,
    starts: [Option<OpId>; 2],
    platform: &Platform,
    given: &BTreeMap<ValueId, bool>,
    diags: &mut Diags,
) {
    let functions = Functions::of(module);
    for (kind, start) in [CoreKind::Cube, CoreKind::Vector].into_iter().zip(starts) {
        let Some(body) = start.and_then(|function| module.body(function, 0)) else { continue };
        let route = Route { module, functions: &functions, kind, calls: start.into_iter().collect() };
        walk::Walk::new(route, platform, given).follow(body, diags);
        rounds::check(module, body, platform, diags);
        lines::check(module, body, diags);
    }
}
