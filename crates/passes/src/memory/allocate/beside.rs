//! Tiles of scales: they are placed relative to the operands they belong to, where the matrix unit expects them.

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Diags, Module, OpId, Touch};
use slipring_op::OpRef;
use slipring_tile::Space;

use crate::analysis::facts::Functions;
use crate::analysis::roots::{Address, RootId, RootKind, Roots, home};
use crate::memory::layout::Item;
use crate::memory::pack::Live;

/// A tile of scales and the operand that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Bond {
    scale: RootId,
    data: RootId,
    /// The op that links them.
    op: OpId,
    /// True for an op with no other purpose: an explicit address on it is then ignored.
    binds: bool,
}

/// The tiles of scales of a module.
#[derive(Debug)]
pub(super) struct Beside {
    /// In the order of the text.
    bonds: Vec<Bond>,
}

impl Beside {
    /// Collects them. From here on an operand lives as long as its scales.
    pub fn of(module: &Module, functions: &Functions, roots: &Roots, lives: &mut [Vec<Live>]) -> Beside {
        let mut bonds = Vec::new();
        if !roots.roots.iter().any(|root| root.space.is_scale()) {
            return Beside { bonds };
        }
        for (_, body) in functions.with_bodies(module) {
            for op in module.walk(body) {
                let Some(declared) = OpRef::of(module, op) else { continue };
                let binds = declared.def.schema.operands.iter().all(|spec| spec.touch == Touch::Nothing);
                for (data, scale) in declared.def.scales {
                    let of = |name: &str| declared.operand(name).map_or(&[][..], |value| roots.get(value));
                    let pairs = of(scale).iter().flat_map(|scale| of(data).iter().map(|data| (*scale, *data)));
                    let own = pairs
                        .filter(|(scale, data)| roots.root(*data).space.scales() == Some(roots.root(*scale).space));
                    bonds.extend(own.map(|(scale, data)| Bond { scale, data, op, binds }));
                }
            }
        }
        for bond in &bonds {
            for live in lives[bond.scale as usize].clone() {
                let own = &mut lives[bond.data as usize];
                match own.iter_mut().find(|own| own.scope == live.scope) {
                    Some(own) => (own.first, own.last) = (own.first.min(live.first), own.last.max(live.last)),
                    None => own.push(live),
                }
            }
        }
        Beside { bonds }
    }

    /// Places the tiles of scales of a group of functions, once the operands have been placed.
    pub fn place(
        &self,
        module: &Module,
        group: &[OpId],
        roots: &Roots,
        lives: &[Vec<Live>],
        decisions: &mut Vec<Decision>,
        diags: &mut Diags,
    ) {
        let mut decided: BTreeMap<RootId, u64> = BTreeMap::new();
        for decision in decisions.iter() {
            if let Item::Root(root) = decision.item {
                decided.insert(root, decision.address);
            }
        }
        let decided = |root: RootId| match roots.root(root).address {
            Address::At(address) => Some(address),
            _ => decided.get(&root).copied(),
        };
        let mut placed: Vec<(RootId, u64)> = Vec::new();
        for (id, root) in roots.roots.iter().enumerate() {
            let id = id as RootId;
            let Some(op) = root.op.filter(|_| root.space.is_scale() && root.kind == RootKind::Declared) else {
                continue;
            };
            if !home(module, root.value).is_some_and(|f| group.contains(&f)) {
                continue;
            }
            let mut of = self.bonds.iter().filter(|bond| bond.scale == id).peekable();
            let Some(first) = of.peek().copied() else {
                if root.address == Address::Open {
                    diags.push(
                        Diagnostic::error("mx-place", module.op(op).span, "no product takes these scales")
                            .help("scales are stored beside the operand they belong to: remove the tile"),
                    );
                }
                continue;
            };
            let bound = of.clone().any(|bond| bond.binds);
            if root.address != Address::Open && !bound {
                continue;
            }
            let addresses: Option<Vec<u64>> = of.map(|bond| decided(bond.data)).collect();
            let Some(addresses) = addresses else {
                let error = Diagnostic::error(
                    "mx-place",
                    module.op(op).span,
                    "the address of the operand of these scales is not known",
                );
                diags.push(
                    error.also(module.op(first.op).span, "the operand").help("leave the address of the operand out"),
                );
                continue;
            };
            if let Some(other) = addresses.iter().position(|address| *address != addresses[0]) {
                let ops: Vec<OpId> = self.bonds.iter().filter(|bond| bond.scale == id).map(|bond| bond.op).collect();
                diags.push(
                    Diagnostic::error(
                        "mx-place",
                        module.op(op).span,
                        "these scales belong to operands at two addresses",
                    )
                    .also(module.op(ops[0]).span, "one")
                    .also(module.op(ops[other]).span, "another")
                    .help("scales lie beside their operand: fill a tile of scales for each"),
                );
                continue;
            }
            let address = addresses[0] / Space::SCALED_BYTES;
            let end = |root: RootId, address: u64| address + roots.root(root).bytes.unwrap_or(0);
            let meets = |other: RootId| {
                let both = |a: &Live| lives[other as usize].iter().any(|b| a.meets(b));
                lives[id as usize].iter().any(both)
            };
            let clash = placed.iter().find(|(other, at)| {
                let same = roots.root(*other).space == root.space;
                same && *at < end(id, address) && address < end(*other, *at) && meets(*other)
            });
            if let Some((other, _)) = clash {
                let span = roots.root(*other).op.map_or(module.op(op).span, |op| module.op(op).span);
                diags.push(
                    Diagnostic::error(
                        "mx-place",
                        module.op(op).span,
                        "two tiles of scales of one operand are in use at once",
                    )
                    .also(span, "the other")
                    .help("an operand has room for one set of scales: refill it when the first product is done"),
                );
                continue;
            }
            placed.push((id, address));
            decisions.push(Decision { item: Item::Root(id), address });
        }
    }
}

/// An address to write into the module.
pub(crate) struct Decision {
    pub(crate) item: Item,
    pub(crate) address: u64,
}
