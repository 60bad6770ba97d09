//! Results that may be placed over one of their sources.
//!
//! An elementwise op without working memory reads an element before it writes the one at the same position. Its result
//! may therefore reuse the bytes of a source that nobody reads afterwards, if the two are whole buffers of one layout
//! and the op's declaration does not keep them apart on this platform.
//! They are merged only where a memory is too small for everything.

use std::collections::BTreeMap;

use slipring_ir::{Module, OpId, Touch, Type, ValueId};
use slipring_machine::Platform;
use slipring_op::{Along, OpDef, OpRef};
use smallvec::SmallVec;

use super::layout::{Item, Memory};
use super::pack::{Live, Overflow, Placed, pack};
use crate::analysis::roots::{RootId, Roots};

/// The sources and the result of an op that may share one location: whole tiles of one layout.
pub(super) fn in_place(module: &Module, platform: &Platform, roots: &Roots, op: OpId) -> Option<(Vec<RootId>, RootId)> {
    let def = OpDef::of(module, op)?;
    if def.along != Along::EACH {
        return None;
    }
    type Values = SmallVec<[ValueId; 8]>;
    let (mut read, mut written) = (Values::new(), Values::new());
    for (index, spec) in def.schema.operands.iter().enumerate() {
        let values = module.operand_group(op, index);
        match spec.touch {
            Touch::Nothing => {}
            Touch::Read => read.extend_from_slice(values),
            Touch::Write => written.extend_from_slice(values),
            _ if values.is_empty() => {}
            _ => return None,
        }
    }
    let [result] = written[..] else { return None };
    let whole = |value: ValueId| match roots.get(value) {
        [root] if roots.root(*root).value == value => Some(*root),
        _ => None,
    };
    let layout = |value: ValueId| match module.ty(value) {
        Type::Tile(ty) => Some((ty.space, ty.layout)),
        _ => None,
    };
    let (target, (space, wanted)) = (whole(result)?, layout(result)?);
    let alike = |value: &ValueId| {
        layout(*value).is_some_and(|(own, layout)| {
            let same = (layout.rows, layout.cols, layout.blayout, layout.slayout)
                == (wanted.rows, wanted.cols, wanted.blayout, wanted.slayout);
            own == space && same && layout.elem.bytes() == wanted.elem.bytes()
        })
    };
    // A source that is also read through a part or another view keeps its own place.
    let only_whole = |root: &RootId| {
        let mut of = read.iter().filter(|value| roots.get(**value).contains(root));
        of.all(|value| roots.root(*root).value == *value)
    };
    let apart: Values = OpRef { module, id: op, def }.kept_apart(platform).map(|(_, value)| value).collect();
    let may_share = |root: &RootId| !apart.iter().any(|value| roots.get(*value).contains(root));
    let sources = read.iter().filter(|value| alike(value)).filter_map(|value| whole(*value));
    let sources = sources.filter(|root| *root != target && only_whole(root));
    let sources: Vec<RootId> = sources.filter(may_share).collect();
    (!sources.is_empty()).then_some((sources, target))
}

impl Memory<'_> {
    /// Places the buffers; if they do not fit, results share the locations of their sources.
    ///
    /// # Errors
    /// [`Overflow`] if they still do not fit.
    pub(super) fn packed(&self, platform: &Platform, roots: &Roots, group: &[OpId]) -> Result<Placed, Overflow> {
        let blocked: Vec<_> = self.fixed.iter().map(|fixed| fixed.range.clone()).collect();
        let apart = pack(&self.requests, self.usable, &blocked);
        let Err(overflow) = apart else { return apart };
        let (owners, lives) = self.put_together(platform, roots, group);
        let kept: Vec<usize> = (0..owners.len()).filter(|at| owners[*at] == *at).collect();
        if kept.len() == owners.len() {
            return Err(overflow);
        }
        let requests: Vec<_> = kept
            .iter()
            .map(|at| {
                let mut request = self.requests[*at].clone();
                request.live.clone_from(&lives[*at]);
                request
            })
            .collect();
        match pack(&requests, self.usable, &blocked) {
            Ok(placed) => {
                let address = |owner: &usize| kept.binary_search(owner).map_or(0, |at| placed.addresses[at]);
                Ok(Placed { addresses: owners.iter().map(address).collect(), shared: true })
            }
            Err(overflow) => Err(Overflow { alive: overflow.alive.iter().map(|at| kept[*at]).collect(), ..overflow }),
        }
    }

    /// The buffer whose location each one shares, mostly itself, and the lifetimes of the buffers with a location of
    /// their own.
    fn put_together(&self, platform: &Platform, roots: &Roots, group: &[OpId]) -> (Vec<usize>, Vec<Vec<Live>>) {
        let mut owners: Vec<usize> = (0..self.items.len()).collect();
        let mut lives: Vec<Vec<Live>> = self.requests.iter().map(|request| request.live.clone()).collect();
        let items = self.items.iter().enumerate().filter_map(|(at, item)| match item {
            Item::Root(root) => Some((*root, at)),
            Item::Ring(_) => None,
        });
        let items: BTreeMap<RootId, usize> = items.collect();
        let bodies = group.iter().filter_map(|function| self.module.body(*function, 0));
        for op in bodies.flat_map(|body| self.module.walk(body)) {
            let Some((sources, target)) = in_place(self.module, platform, roots, op) else { continue };
            let Some(&target) = items.get(&target).filter(|at| owners[**at] == **at) else { continue };
            // The lifetime in the function that has both; during a call of that function all of its buffers are live.
            let one = |at: usize, lives: &[Vec<Live>]| {
                let mut own = lives[at].iter().filter(|live| live.by_call.is_none());
                let live = own.next().copied().filter(|_| !self.requests[at].always);
                live.filter(|_| own.next().is_none())
            };
            let calls = |at: usize, lives: &[Vec<Live>]| -> Vec<Live> {
                lives[at].iter().filter(|live| live.by_call.is_some()).copied().collect()
            };
            let Some(begins) = one(target, &lives) else { continue };
            let source = sources.iter().filter_map(|source| items.get(source)).map(|at| owners[*at]).find(|at| {
                let same = self.requests[*at].bytes == self.requests[target].bytes;
                let ends = one(*at, &lives);
                let adjoin = ends.is_some_and(|e| e.scope == begins.scope && e.last == begins.first);
                *at != target && same && adjoin && calls(*at, &lives) == calls(target, &lives)
            });
            if let Some(source) = source {
                owners[target] = source;
                if let Some(live) = lives[source].iter_mut().find(|live| live.by_call.is_none()) {
                    live.last = begins.last;
                }
            }
        }
        // Merging is transitive: follow the chain of merged buffers.
        for at in 0..owners.len() {
            while owners[owners[at]] != owners[at] {
                owners[at] = owners[owners[at]];
            }
        }
        (owners, lives)
    }
}
