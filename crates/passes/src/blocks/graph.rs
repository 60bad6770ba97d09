//! The blocks of a region and the branches between them.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Diagnostic, Diags, Kind, Module, OpId, RegionId, Reported, Span, ValueDef, ValueId};
use slipring_mlir::cf::{self, Edge, Ways};

use crate::analysis::facts::terminator;

/// The result of a step that may report an error.
pub(super) type Lifted<T> = Result<T, Reported>;

/// A block, by its position in an order in which each block comes after those that lead to it, except around loops.
pub(super) type Vertex = usize;

/// The end of the region.
pub(super) const END: Vertex = usize::MAX;

/// A reachable block of the region.
pub(super) struct Reached {
    pub block: BlockId,
    /// The op that ends it.
    pub last: OpId,
    /// Where it leads; `None` if it leaves the region.
    pub ways: Option<Ways>,
    /// The blocks that lead to it, one for each way.
    pub from: Vec<Vertex>,
    /// The block that dominates it most closely; that of the first one is itself.
    dominator: Vertex,
}

/// The reachable blocks of a region.
pub(super) struct Graph {
    pub places: Vec<Reached>,
    /// The blocks of each loop, by its first block.
    pub loops: BTreeMap<Vertex, BTreeSet<Vertex>>,
    /// For each loop the values that it defines and that are used outside of it, with the block that defines them.
    pub escaping: BTreeMap<Vertex, Vec<(ValueId, Vertex)>>,
    /// The values of each block that other blocks use.
    pub shared: BTreeMap<Vertex, Vec<ValueId>>,
}

impl Graph {
    /// The graph of a region. Reports what does not fit together.
    pub fn of(module: &Module, region: RegionId, diags: &mut Diags) -> Lifted<Graph> {
        let before = diags.list.len();
        let blocks = &module.region(region).blocks;
        let mut ends = Vec::new();
        for block in blocks {
            ends.push(end(module, *block, diags));
        }
        let ends: Vec<(OpId, Option<Ways>)> = ends.into_iter().collect::<Lifted<_>>()?;
        for (op, ways) in &ends {
            let edges = ways.iter().flat_map(Ways::edges);
            edges.for_each(|edge| arguments(module, *op, edge, blocks, diags));
        }
        let order = order(&ends);
        let at: BTreeMap<usize, Vertex> = order.iter().enumerate().map(|(node, block)| (*block, node)).collect();
        for (block, (op, _)) in ends.iter().enumerate().filter(|(block, _)| !at.contains_key(block)) {
            let span = module.block(blocks[block]).ops.first().map_or(module.op(*op).span, |op| module.op(*op).span);
            diags.push(Diagnostic::warning("unreachable-block", span, "no branch leads to this block"));
        }
        let place = |block: usize| {
            let (last, mut ways) = ends[block].clone();
            // From here on by position in the order.
            let edges = ways.iter_mut().flat_map(|ways| match ways {
                Ways::Always(edge) => vec![edge],
                Ways::Either(_, edges) => edges.iter_mut().collect(),
                Ways::Case(_, cases, otherwise) => {
                    cases.iter_mut().map(|(_, edge)| edge).chain([otherwise]).collect::<Vec<&mut Edge>>()
                }
            });
            edges.for_each(|edge| edge.to = at[&edge.to]);
            Reached { block: blocks[block], last, ways, from: Vec::new(), dominator: 0 }
        };
        let places = order.iter().map(|block| place(*block)).collect();
        let mut graph = Graph { places, loops: BTreeMap::new(), escaping: BTreeMap::new(), shared: BTreeMap::new() };
        graph.link();
        graph.find_loops(module, diags);
        graph.find_uses(module, diags);
        let errors = |all: &Diags| all.list[before..].iter().any(|one| one.severity == slipring_ir::Severity::Error);
        if errors(diags) { Err(Reported) } else { Ok(graph) }
    }

    /// Finds what leads to each block, and what dominates it.
    fn link(&mut self) {
        for node in 0..self.places.len() {
            for to in self.places[node].ways.iter().flat_map(Ways::edges).map(|edge| edge.to).collect::<Vec<_>>() {
                self.places[to].from.push(node);
            }
        }
        // Until nothing changes: each time the closest common dominator of what leads here.
        let mut known: Vec<Option<Vertex>> = vec![None; self.places.len()];
        known[0] = Some(0);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for node in 1..self.places.len() {
                let mut found: Option<Vertex> = None;
                for &from in self.places[node].from.iter().filter(|from| known[**from].is_some()) {
                    found = Some(found.map_or(from, |other| common(&known, other, from)));
                }
                changed |= known[node] != found;
                known[node] = found;
            }
        }
        for (place, dominator) in self.places.iter_mut().zip(known) {
            place.dominator = dominator.unwrap_or(0);
        }
    }

    /// True if every way to `node` goes through `by`, or they are the same.
    pub fn dominates(&self, by: Vertex, node: Vertex) -> bool {
        let mut at = node;
        while at > by {
            at = self.places[at].dominator;
        }
        at == by
    }

    /// True if a way from one block to another is the only one to it, apart from those of its loop.
    pub fn is_only_way(&self, from: Vertex, to: Vertex) -> bool {
        let outside: Vec<Vertex> = self.places[to].from.iter().copied().filter(|of| !self.dominates(to, *of)).collect();
        outside == [from]
    }

    fn find_loops(&mut self, module: &Module, diags: &mut Diags) {
        for node in 0..self.places.len() {
            for to in self.places[node].ways.iter().flat_map(Ways::edges).map(|edge| edge.to).collect::<Vec<_>>() {
                if to > node {
                    continue;
                }
                if !self.dominates(to, node) {
                    let span = module.op(self.places[node].last).span;
                    let error = Diagnostic::error("irreducible", span, "these branches are a loop with two entries");
                    let error = error.label("goes back into the loop");
                    let error = error.also(self.span(module, to), "which this block and another one enter");
                    diags
                        .push(error.help("enter the loop at one block, with a value that says where to go from there"));
                    continue;
                }
                let mut blocks = std::mem::take(self.loops.entry(to).or_default());
                blocks.insert(to);
                let mut left = vec![node];
                while let Some(inside) = left.pop() {
                    if blocks.insert(inside) {
                        left.extend(&self.places[inside].from);
                    }
                }
                self.loops.insert(to, blocks);
            }
        }
    }

    fn span(&self, module: &Module, node: Vertex) -> Span {
        let first = module.block(self.places[node].block).ops.first();
        first.map_or(module.op(self.places[node].last).span, |op| module.op(*op).span)
    }

    /// Finds the values that several blocks use. Reports uses that no definition precedes on some way.
    fn find_uses(&mut self, module: &Module, diags: &mut Diags) {
        let home: BTreeMap<BlockId, Vertex> =
            self.places.iter().enumerate().map(|(node, place)| (place.block, node)).collect();
        let region = module.block(self.places[0].block).region;
        // The block of the region that defines a value; `None` for one from outside. Of an unreachable block: `END`.
        let defined = |value: ValueId| {
            let mut block = match module.value(value).def {
                ValueDef::Result(op, _) => module.op(op).block?,
                ValueDef::Arg(block, _) => block,
            };
            while module.block(block).region != region {
                block = module.op(module.block_parent(block)?).block?;
            }
            Some(home.get(&block).copied().unwrap_or(END))
        };
        let mut escaping: BTreeMap<Vertex, BTreeSet<(ValueId, Vertex)>> = BTreeMap::new();
        let mut shared: BTreeMap<Vertex, BTreeSet<ValueId>> = BTreeMap::new();
        for (node, place) in self.places.iter().enumerate() {
            for op in module.walk(place.block) {
                for &value in &module.op(op).operands {
                    let Some(from) = defined(value).filter(|from| *from != node) else { continue };
                    if from == END || !self.dominates(from, node) {
                        let name = module.value_name(value);
                        let message = format!("`{name}` is not defined on every way to here");
                        let error = Diagnostic::error(Kind::UndefinedValue, module.op(op).span, message);
                        let error = error.also(module.value(value).span, "defined here");
                        diags.push(error.help("pass it as an argument of the blocks between"));
                        continue;
                    }
                    shared.entry(from).or_default().insert(value);
                    for (head, blocks) in &self.loops {
                        if blocks.contains(&from) && !blocks.contains(&node) {
                            escaping.entry(*head).or_default().insert((value, from));
                        }
                    }
                }
            }
        }
        self.escaping = escaping.into_iter().map(|(head, values)| (head, values.into_iter().collect())).collect();
        self.shared = shared.into_iter().map(|(node, values)| (node, values.into_iter().collect())).collect();
    }
}

/// The closest dominator of both.
fn common(known: &[Option<Vertex>], mut a: Vertex, mut b: Vertex) -> Vertex {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        *later = known[*later].unwrap_or(0);
    }
    a
}

/// The op that ends a block, and where it leads.
fn end(module: &Module, block: BlockId, diags: &mut Diags) -> Lifted<(OpId, Option<Ways>)> {
    let ops = &module.block(block).ops;
    let early = ops.iter().rev().skip(1).find(|op| cf::branches(module, **op));
    if let Some(op) = early {
        let message = "a branch between blocks ends its block";
        diags.push(Diagnostic::error("block-end", module.op(*op).span, message).label("more follows"));
        return Err(Reported);
    }
    let Some(last) = terminator(module, block) else {
        let at = ops.last().copied().or_else(|| module.block_parent(block));
        let span = at.map_or(Span::default(), |op| module.op(op).span);
        let error = Diagnostic::error("block-end", span, "a block ends in a branch or a return");
        diags.push(error.label("the last op of a block").help("a block does not run into the next one: branch to it"));
        return Err(Reported);
    };
    if !cf::branches(module, last) {
        return Ok((last, None));
    }
    let Some(ways) = cf::ways(module, last) else {
        let message = format!("`{}` has other operands, blocks or cases than its form", module.op(last).name);
        diags.push(Diagnostic::error("block-end", module.op(last).span, message));
        return Err(Reported);
    };
    Ok((last, Some(ways)))
}

/// Reports values that do not fit the arguments of the block to which they are passed.
fn arguments(module: &Module, op: OpId, edge: &Edge, blocks: &[BlockId], diags: &mut Diags) {
    let Some(to) = blocks.get(edge.to) else { return };
    let args = &module.block(*to).args;
    let types = |values: &[ValueId]| values.iter().map(|value| module.ty(*value).clone()).collect::<Vec<_>>();
    if types(args) != types(&edge.args) {
        let list = |values: &[ValueId]| match values {
            [] => "nothing".to_string(),
            all => types(all).iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(", "),
        };
        let message = format!("the block takes {}, not {}", list(args), list(&edge.args));
        let error = Diagnostic::error("type-mismatch", module.op(op).span, message);
        let block = args.first().map(|arg| module.value(*arg).span);
        diags.push(match block {
            Some(span) => error.also(span, "the arguments of the block"),
            None => error,
        });
    }
}

/// The reachable blocks, each after those that lead to it except around loops.
fn order(ends: &[(OpId, Option<Ways>)]) -> Vec<usize> {
    let next =
        |block: usize| -> Vec<usize> { ends[block].1.iter().flat_map(Ways::edges).map(|edge| edge.to).collect() };
    let (mut seen, mut finished) = (BTreeSet::from([0]), Vec::new());
    let mut open = vec![(0, next(0))];
    while let Some((block, left)) = open.last_mut() {
        match left.pop() {
            Some(to) if seen.insert(to) => open.push((to, next(to))),
            Some(_) => {}
            None => {
                finished.push(*block);
                open.pop();
            }
        }
    }
    finished.reverse();
    finished
}
