//! Tiles that other tiles overwrite because of the addresses given in the text.

use std::collections::BTreeMap;

use indexmap::IndexMap;
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
/// one is read though only the other was written before. Tiles count with their whole shape, valid or not. Each pair of
/// tiles is reported once.
pub fn overwritten(module: &Module, platform: &Platform, diags: &mut Diags) {
    let inspection = inspect(module, platform);
    let declared = |root: &Root| root.kind == RootKind::Declared;
    let name = |root: &Root| module.value_name(root.value);
    let span = |op: OpId| module.op(op).span;
    let writers = writers(module, &inspection);
    // Of each pair the first loss that is certain, else the first.
    let mut pairs: IndexMap<(RootId, RootId), (&Loss, Severity)> = IndexMap::new();
    for loss in &inspection.losses {
        let certain = surely(module, &inspection, &writers, loss);
        let severity = if certain { Severity::Error } else { Severity::Warning };
        let chosen = pairs.entry((loss.buffer, loss.by)).or_insert((loss, severity));
        if certain && chosen.1 != Severity::Error {
            *chosen = (loss, severity);
        }
    }
    for (loss, severity) in pairs.into_values() {
        let (buffer, by) = (inspection.roots.root(loss.buffer), inspection.roots.root(loss.by));
        if !declared(buffer) || !declared(by) {
            continue;
        }
        let (buffer, by) = (name(buffer), name(by));
        let message = format!("`{buffer}` is read after `{by}`, whose address overlaps, has overwritten its contents");
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
/// the reader. Excluded are partially valid tiles, and writes after which both tiles may be meant as one:
///
/// - The overwriting op reads this very tile and leaves its result at the same address: an update under another name.
/// - Both tiles are the same bytes, and nothing reads the result by its own name before the reader does: what an
///   iteration keeps for the next one.
/// - Both tiles are alike and at one address, and the write is before the read.
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
    let kept = loss.unread && same_bytes(inspection, loss);
    certain && !kept && !(alike(module, inspection, loss) && before())
}

/// True if both tiles are the same bytes of one memory.
fn same_bytes(inspection: &Inspection, loss: &Loss) -> bool {
    let [lost, by] = [loss.buffer, loss.by].map(|root| inspection.roots.root(root));
    let place = |root: &Root| (root.space, root.address, root.bytes);
    matches!(lost.address, Address::At(_)) && lost.bytes.is_some() && place(lost) == place(by)
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
