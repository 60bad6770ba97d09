//! Tiles that other tiles overwrite because of the addresses given in the text.

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Diags, Kind, Module, OpId, Severity, Touch};
use slipring_machine::Platform;

use super::check::{Clash, Inspection, Loss, inspect};
use crate::analysis::facts::beside;
use crate::analysis::roots::{Address, Root, RootId, RootKind};

/// Tiles with explicit addresses that another tile overwrites while their contents are still read. It applies to the
/// module as written: tiles without an address get a harmless one. It is an error if the read is certain to follow the
/// write, by the end of a loop or at once, and needs the whole tile; otherwise a warning.
///
/// Nothing is reported if bytes are reused after the last read, or if two tiles are evidently names for the same bytes:
/// one is read though only the other was written before. Tiles count with their whole shape, valid or not.
pub fn overwritten(module: &Module, platform: &Platform, diags: &mut Diags) {
    let inspection = inspect(module, platform);
    let declared = |root: &Root| root.kind == RootKind::Declared;
    let name = |root: &Root| module.value_name(root.value);
    let span = |op: OpId| module.op(op).span;
    let writers = writers(module, &inspection);
    for loss in &inspection.losses {
        let (buffer, by) = (inspection.roots.root(loss.buffer), inspection.roots.root(loss.by));
        if !declared(buffer) || !declared(by) {
            continue;
        }
        let (buffer, by) = (name(buffer), name(by));
        let message = format!("`{buffer}` is read after `{by}`, whose address overlaps, has overwritten its contents");
        let severity = if surely(module, &inspection, &writers, loss) { Severity::Error } else { Severity::Warning };
        let said = Diagnostic::error(Kind::TileOverwritten, span(loss.reader), message);
        let said = Diagnostic { severity, ..said }
            .label(format!("needs what was in `{buffer}`"))
            .also(span(loss.writer), format!("writes `{by}` over it"))
            .help(
                "give one of the two another address; if both are to be the same bytes, make one a view of the other",
            );
        diags.push(said);
    }
    for clash in &inspection.clashes {
        if let Clash::NotFollowed(function) = clash {
            let message = "tiles that overwrite each other were not checked: there are too many calls here";
            diags.push(Diagnostic::warning(Kind::TileOverwritten, span(*function), message));
        }
    }
}

/// True if the contents read are lost whichever arms are taken, in the second iteration of a loop at the latest:
/// neither the op that overwrites the tile nor one that writes the tile is in an arm or a loop that does not contain
/// the reader. Excluded are: an overwriting op that reads this very tile and leaves its result at the same address,
/// which is an update under another name; partially valid tiles; and a write before the read if both tiles are alike
/// and at one address, since they may be meant as one tile.
fn surely(module: &Module, inspection: &Inspection, writers: &Writers, loss: &Loss) -> bool {
    let whole = [loss.buffer, loss.by].iter().all(|root| {
        let tile = module.ty(inspection.roots.root(*root).value).as_tile();
        tile.is_some_and(|tile| {
            let all = [tile.layout.rows, tile.layout.cols];
            tile.valid.iter().zip(all).all(|(valid, all)| valid.known() == Some(all.into()))
        })
    });
    let comes_to_it = |op: OpId| beside(module, op, loss.reader).is_some();
    let before = || beside(module, loss.writer, loss.reader).is_some_and(|(_, [writer, reader])| writer < reader);
    let updates = inspection.roots.touched(module, loss.writer, Touch::reads).contains(&loss.buffer);
    let mut own = writers.get(&loss.buffer).into_iter().flatten();
    let certain = whole && !updates && comes_to_it(loss.writer) && own.all(|op| comes_to_it(*op));
    certain && !(alike(module, inspection, loss) && before())
}

/// True if both tiles have one layout and one known address.
fn alike(module: &Module, inspection: &Inspection, loss: &Loss) -> bool {
    let [lost, by] = [loss.buffer, loss.by].map(|root| inspection.roots.root(root));
    let layout = |root: &Root| module.ty(root.value).as_tile().map(|tile| &tile.layout);
    matches!(lost.address, Address::At(_)) && lost.address == by.address && layout(lost) == layout(by)
}

/// The ops that write each tile.
type Writers = BTreeMap<RootId, Vec<OpId>>;

/// The writers of the tiles that have lost contents.
fn writers(module: &Module, inspection: &Inspection) -> Writers {
    let mut all: Writers = inspection.losses.iter().map(|loss| (loss.buffer, Vec::new())).collect();
    if all.is_empty() {
        return all;
    }
    for op in module.functions().filter_map(|function| module.body(function, 0)).flat_map(|body| module.walk(body)) {
        for root in inspection.roots.touched(module, op, Touch::writes) {
            all.entry(root).and_modify(|ops| ops.push(op));
        }
    }
    all
}
