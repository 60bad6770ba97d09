//! Checks of outputs: read before they are written, never written, partially written.
//!
//! A `pl.Out[…]` parameter is uninitialised when a kernel begins. Errors that the text determines are reported: windows
//! at constant places are compared, in each iteration of loops with constant bounds ([`super::places`]); other windows
//! may be anywhere in their dimension.

use slipring_ir::{Diagnostic, Kind, Span};

use super::held::{Load, Store};
use super::lowering::Lower;
use super::state::Root;
use crate::compiled::Direction;
use crate::value::{Index, Tensor, Value, show};

/// The maximum number of parts of a tensor that are compared to find an unwritten one: a few windows have far fewer.
const MOST_PARTS: usize = 1 << 12;

/// First index and end in each dimension.
type Bounds = Vec<(i64, i64)>;

impl Lower<'_> {
    /// Records a load of a window.
    pub fn reads(&mut self, window: &Tensor, span: Span) {
        if self.tensors.roots[window.root].direction == Direction::Out {
            let again = self.open.loops > 0 && self.open.branches > 0;
            let stores = self.held.buffers.stores.len();
            self.held.buffers.loads.push(Load { window: window.clone(), span, stores, again });
        }
    }

    /// Reports errors with outputs at the end of a function that is a kernel by itself.
    pub(super) fn check_outputs(&mut self) {
        for load in std::mem::take(&mut self.held.buffers.loads) {
            let until = if load.again { self.held.buffers.stores.len() } else { load.stores };
            let read = self.bounds_of(&load.window, None);
            let written = self.held.buffers.stores[..until].iter().any(|store| {
                store.window.root == load.window.root && overlap(&self.bounds_of(&store.window, store.valid), &read)
            });
            if !written {
                let root = self.tensors.roots[load.window.root].clone();
                let message = format!("`{}` is read before the kernel writes it", root.name);
                let error = Diagnostic::error("output-read", load.span, message)
                    .also(root.span, "an output holds nothing when the kernel begins")
                    .help("declare it `pl.InOut[…]` if its contents are given");
                self.report(error);
            }
        }
        for at in 0..self.tensors.roots.len() {
            match self.tensors.roots[at].direction {
                Direction::Out => self.check_written(at),
                Direction::InOut => drop(self.check_rebound(at)),
                Direction::In => {}
            }
        }
    }

    /// Reports an output that is never written and whose name was bound to a tile instead; true if it was.
    fn check_rebound(&mut self, root: usize) -> bool {
        let Root { name, span, .. } = self.tensors.roots[root].clone();
        let written = self.held.buffers.stores.iter().any(|store| store.window.root == root);
        if written || !matches!(self.names.env.get(&*name), Some(Value::Tile(_))) {
            return false;
        }
        let message =
            format!("`{name}` is a tile at the end of the kernel, and the output of that name is never written");
        let error = Diagnostic::error("output-lost", span, message);
        self.report(error.help(format!("write it with `{name}[:] = …`, or store the tile into it under another name")));
        true
    }

    fn check_written(&mut self, root: usize) {
        let (name, span, dims) = {
            let root = &self.tensors.roots[root];
            (root.name.clone(), root.span, root.dims.clone())
        };
        let stores: Vec<Store> =
            self.held.buffers.stores.iter().filter(|store| store.window.root == root).cloned().collect();
        if self.check_rebound(root) {
            return;
        }
        // A tensor of the kernel's own whose name was rebound to a tile: nobody needs it.
        let own = self.facts.created.iter().any(|(_, value)| matches!(value, Value::Tensor(own) if own.root == root));
        if stores.is_empty() && own {
            return;
        }
        if stores.is_empty() && !self.outcome.returned_tiles.is_empty() {
            let message = format!("`{name}` is an output that is never written, and the kernel returns a tile");
            let error = Diagnostic::error("output-lost", span, message)
                .also(self.outcome.returned_tiles[0], "it is returned here");
            self.report(error.help(format!("store it: `{name}[:] = …`, and return `{name}`; or leave the output out")));
            return;
        }
        if stores.is_empty() {
            let message = format!("`{name}` is an output, and the kernel never writes it");
            let error = Diagnostic::error(Kind::OutputUnwritten, span, message);
            self.report(error.help("store into it, or leave it out"));
            return;
        }
        let whole: Bounds = dims.iter().map(|n| (0, *n as i64)).collect();
        let mut written = Vec::new();
        for store in &stores {
            let each = match written.len() < MOST_PARTS {
                true => self.places_of(store),
                false => None,
            };
            match each {
                Some(each) => written.extend(each),
                None => written.push(self.bounds_of(&store.window, store.valid)),
            }
        }
        let Some((part, all)) = unwritten(&whole, &written) else { return };
        let range: Vec<String> = part.iter().map(|(first, end)| format!("{first}:{end}")).collect();
        let what = if all { "" } else { "parts of " };
        let message = format!(
            "{what}`{name}[{}]` of this output {}never written",
            range.join(", "),
            if all { "is " } else { "are " }
        );
        let mut warning = Diagnostic::warning(Kind::OutputInPart(None), span, message);
        let cut = stores
            .iter()
            .find(|store| self.bounds_of(&store.window, store.valid) != self.bounds_of(&store.window, None));
        if let Some(Store { window, valid: Some([Index::Known(rows), Index::Known(cols)]), span }) = cut {
            let message =
                format!("only {rows} rows and {cols} columns of this tile {} are valid", show(&window.shape()));
            warning = warning.also(*span, message);
        } else if let [store] = &stores[..] {
            warning = warning.also(store.span, "this is all that is written");
        }
        self.report(
            warning.help("what it holds there is uninitialised: declare it `pl.InOut[…]` if the rest is given"),
        );
    }

    /// The places of a store in each iteration, if they are known.
    fn places_of(&self, store: &Store) -> Option<Vec<Bounds>> {
        let open = |offset: &Index| match offset {
            Index::At(scalar) => Some(scalar.value),
            Index::Known(_) => None,
        };
        let numbers: Vec<_> = store.window.offsets.iter().filter_map(open).collect();
        let places = self.in_each_iteration(&numbers)?.into_iter().map(|each| {
            let (mut window, mut each) = (store.window.clone(), each.into_iter());
            for offset in window.offsets.iter_mut().filter(|offset| matches!(offset, Index::At(_))) {
                if let Some(Some(first)) = each.next() {
                    *offset = Index::Known(first);
                }
            }
            self.bounds_of(&window, store.valid)
        });
        Some(places.collect())
    }

    /// The bounds of a window, less the invalid part of the tile.
    fn bounds_of(&self, window: &Tensor, valid: Option<[Index; 2]>) -> Bounds {
        let dims = &self.tensors.roots[window.root].dims;
        let mut bounds: Bounds = (0..window.sizes.len())
            .map(|at| match window.offsets[at] {
                Index::Known(first) => (first, first.saturating_add(window.sizes[at] as i64)),
                Index::At(_) => (0, dims[at] as i64),
            })
            .collect();
        let kept: Vec<usize> = (0..window.sizes.len()).filter(|at| !window.dropped[*at]).collect();
        if let (Some([rows, cols]), None, [.., row, col]) = (valid, &window.reshaped, &kept[..]) {
            let outer = kept[..kept.len() - 2].iter().all(|at| window.sizes[*at] == 1);
            for (at, extent) in [(*row, rows), (*col, cols)] {
                if let (Index::Known(n), Index::Known(first), true) = (extent, window.offsets[at], outer) {
                    bounds[at].1 = bounds[at].1.min(first.saturating_add(n));
                }
            }
        }
        bounds
    }
}

fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a.iter().zip(b).all(|(a, b)| a.0 < b.1 && b.0 < a.1)
}

/// The smallest part that contains everything that is not written, and whether nothing of it is written.
fn unwritten(whole: &Bounds, written: &[Bounds]) -> Option<(Bounds, bool)> {
    // Between two neighbouring edges of windows either all elements are written, or none.
    let edges: Vec<Vec<i64>> = whole
        .iter()
        .enumerate()
        .map(|(dim, (first, end))| {
            let inner = written.iter().flat_map(|bounds| [bounds[dim].0, bounds[dim].1]);
            let mut edges: Vec<i64> = inner.filter(|at| at > first && at < end).chain([*first, *end]).collect();
            edges.sort_unstable();
            edges.dedup();
            edges
        })
        .collect();
    let parts = edges.iter().try_fold(1usize, |n, edges| n.checked_mul(edges.len() - 1))?;
    if parts > MOST_PARTS {
        return None;
    }
    let (mut found, mut elements): (Option<Bounds>, i128) = (None, 0);
    for number in 0..parts {
        let mut rest = number;
        let part: Bounds = edges
            .iter()
            .map(|edges| {
                let at = rest % (edges.len() - 1);
                rest /= edges.len() - 1;
                (edges[at], edges[at + 1])
            })
            .collect();
        if written.iter().any(|bounds| overlap(bounds, &part)) {
            continue;
        }
        elements += size(&part);
        found = Some(match found {
            None => part,
            Some(found) => found.iter().zip(&part).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect(),
        });
    }
    found.map(|found| {
        let all = size(&found) == elements;
        (found, all)
    })
}

fn size(bounds: &Bounds) -> i128 {
    bounds.iter().map(|(first, end)| i128::from(end - first)).product()
}
