//! A warning for tiles that lose their contents to others by the addresses that the text gives them.

use slipring_ir::{Diagnostic, Diags, Kind, Module, OpId};

use super::check::{Clash, inspect};
use crate::analysis::roots::{Root, RootKind};

/// Warns of tiles with addresses of their own that another one overwrites while their contents are still read. For the module as
/// it was written: tiles without an address get one that does no harm.
///
/// Silent where bytes are used again after the last read, and where two tiles are plainly names for the same bytes: one is read
/// though only the other was written before. Tiles count with their whole shape, valid or not.
pub fn overwritten(module: &Module, diags: &mut Diags) {
    let inspection = inspect(module);
    let declared = |root: &Root| root.kind == RootKind::Declared;
    let name = |root: &Root| module.value_name(root.value);
    let span = |op: OpId| module.op(op).span;
    for loss in &inspection.losses {
        let (buffer, by) = (inspection.roots.root(loss.buffer), inspection.roots.root(loss.by));
        if !declared(buffer) || !declared(by) {
            continue;
        }
        let (buffer, by) = (name(buffer), name(by));
        let message = format!("`{buffer}` is read after `{by}`, whose address overlaps, has overwritten its contents");
        let warning = Diagnostic::warning(Kind::TileOverwritten, span(loss.reader), message)
            .label(format!("needs what was in `{buffer}`"))
            .also(span(loss.writer), format!("writes `{by}` over it"))
            .help(
                "give one of the two another address; if both are to be the same bytes, make one a view of the other",
            );
        diags.push(warning);
    }
    for clash in &inspection.clashes {
        if let Clash::NotFollowed(function) = clash {
            let message = "not looked for tiles that overwrite each other: the calls in here multiply too far";
            diags.push(Diagnostic::warning(Kind::TileOverwritten, span(*function), message));
        }
    }
}
