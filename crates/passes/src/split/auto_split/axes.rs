//! Which tiles are divided between the Vector cores, and along which axis.
//!
//! A *node* is an axis of a tile. Nodes that must be divided together form a class (union-find); reasons against a
//! division, and requests for one, are recorded with the op that causes them. [`Axes::solve`] then decides class by
//! class.

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Kind, Module, OpId, TileType, ValueId};

/// An axis of a tile: 0 its rows, 1 its columns.
pub(super) type Node = (ValueId, usize);

/// The fate of an axis of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Each core holds all positions.
    Whole,
    /// Each core holds a half: lane 0 the first, lane 1 the second.
    Half,
    /// It is a part of a divided tile; a core holds the portion of it within its half of that tile.
    Clipped,
}

/// Why an axis cannot be divided.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub op: OpId,
    pub kind: Kind,
    /// Completes "the rows of `%t` cannot be divided: …".
    pub text: String,
}

/// Where a part of a tile starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    At(i64),
    /// Known only at run time, a multiple of the part's size.
    Multiple(ValueId),
    Unknown(ValueId),
}

/// A view of some positions of an axis of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub op: OpId,
    pub axis: usize,
    pub source: ValueId,
    pub result: ValueId,
    pub start: Start,
    /// Positions in the part.
    pub size: i64,
    /// Positions in half of the source.
    pub half: i64,
    /// True if something writes through the view.
    pub written: bool,
}

/// The classes, their constraints, and (once solved) their states.
pub(super) struct Axes {
    parent: Vec<u32>,
    /// The axis that the function requests to divide.
    pub axis: usize,
    /// Every tile of the Vector cores, in the order of the text.
    pub tiles: Vec<ValueId>,
    pub parts: Vec<Part>,
    whole: Vec<(Node, Reason)>,
    divided: Vec<(Node, OpId)>,
    states: Vec<State>,
}

/// The number of positions of an axis of a tile: the valid ones, which a split divides, if their number is known.
pub(super) fn extent(tile: &TileType, axis: usize) -> i64 {
    let known = tile.valid[axis].known().and_then(|n| i64::try_from(n).ok());
    known.unwrap_or(positions_in_memory(tile, axis))
}

/// The capacity of a tile along an axis.
pub(super) fn positions_in_memory(tile: &TileType, axis: usize) -> i64 {
    i64::from([tile.layout.rows, tile.layout.cols][axis])
}

/// True if a tile's capacity along an axis exceeds its valid extent.
pub(super) fn is_padded(tile: &TileType, axis: usize) -> bool {
    extent(tile, axis) != positions_in_memory(tile, axis)
}

/// `rows` or `columns`.
pub(super) fn positions(axis: usize) -> &'static str {
    ["rows", "columns"][axis]
}

fn index((value, axis): Node) -> u32 {
    value.0 * 2 + axis as u32
}

impl Axes {
    pub fn new(module: &Module, axis: usize) -> Axes {
        let nodes = module.value_count() as u32 * 2;
        Axes {
            parent: (0..nodes).collect(),
            axis,
            tiles: Vec::new(),
            parts: Vec::new(),
            whole: Vec::new(),
            divided: Vec::new(),
            states: Vec::new(),
        }
    }

    fn root(&self, node: Node) -> u32 {
        let mut at = index(node);
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        at
    }

    /// Requires two axes to be divided together or not at all.
    pub fn same(&mut self, a: Node, b: Node) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// Forbids dividing an axis.
    pub fn keep_whole(&mut self, node: Node, reason: Reason) {
        self.whole.push((node, reason));
    }

    /// Requires dividing an axis because of `op`.
    pub fn divide(&mut self, node: Node, op: OpId) {
        self.divided.push((node, op));
    }

    /// The state of an axis. Values that are not tiles stay whole.
    pub fn state(&self, node: Node) -> State {
        self.states.get(self.root(node) as usize).copied().unwrap_or(State::Whole)
    }

    /// The axis along which each core holds half of a tile.
    pub fn halved(&self, tile: ValueId) -> Option<usize> {
        (0..2).find(|axis| self.state((tile, *axis)) == State::Half)
    }

    /// The part that a view represents along an axis that is divided there or in its source.
    pub fn part(&self, view: ValueId) -> Option<&Part> {
        let concerns =
            |part: &&Part| [part.source, part.result].map(|v| self.state((v, part.axis))) != [State::Whole; 2];
        self.parts.iter().filter(|part| part.result == view).find(concerns)
    }

    /// Why an axis stays whole, as an error.
    pub fn refusal(&self, module: &Module, node: Node, divided: Option<OpId>) -> Diagnostic {
        let root = self.root(node);
        let found = self.whole.iter().find(|(n, _)| self.root(*n) == root);
        let (name, what) = (module.value_name(node.0), positions(node.1));
        let Some((_, reason)) = found else {
            let span = divided.map_or(module.value(node.0).span, |op| module.op(op).span);
            let message = format!("the {what} of `{name}` are not divided between the Vector cores");
            return Diagnostic::error("auto-split", span, message).help(BY_HAND);
        };
        let name = module.value_name(found.map_or(node.0, |(n, _)| n.0));
        let what = positions(found.map_or(node.1, |(n, _)| n.1));
        let span = module.op(reason.op).span;
        let error = if reason.kind == Kind::SplitOdd {
            let help = "pad the tile to an even extent, or split the other axis";
            Diagnostic::error(reason.kind.clone(), span, reason.text.clone())
                .label("the split axis must be even")
                .help(help)
        } else {
            let message = format!("the {what} of `{name}` cannot be divided between the Vector cores: {}", reason.text);
            Diagnostic::error(reason.kind.clone(), span, message).help(BY_HAND)
        };
        match divided.filter(|op| *op != reason.op) {
            Some(op) => error.also(module.op(op).span, "this cross-core copy divides them: half to each Vector core"),
            None => error,
        }
    }

    /// Decides which axes are divided: those that cross-core copies request, and all others that can be.
    pub fn solve(&mut self, module: &Module) -> Result<(), Vec<Diagnostic>> {
        // Equal parts of several tiles are processed together, so their tiles are divided together too.
        let members = self.members();
        for (class, nodes) in &members {
            if self.is_clipped_only(*class, &members) {
                let sources = nodes
                    .iter()
                    .filter_map(|(tile, axis)| self.parts.iter().find(|p| p.result == *tile && p.axis == *axis));
                let sources: Vec<Node> = sources.map(|part| (part.source, part.axis)).collect();
                sources.windows(2).for_each(|pair| self.same(pair[0], pair[1]));
            }
        }
        let members = self.members();
        let mut asked: BTreeMap<u32, (Node, OpId)> = BTreeMap::new();
        for &(node, op) in &self.divided {
            asked.entry(self.root(node)).or_insert((node, op));
        }
        self.settle_parts(module, &members, &asked);
        let whole: Vec<u32> = self.whole.iter().map(|(node, _)| self.root(*node)).collect();
        let errors: Vec<Diagnostic> = asked
            .iter()
            .filter(|(root, _)| whole.contains(root))
            .map(|(_, (node, op))| self.refusal(module, *node, Some(*op)))
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        self.decide(module, &members, &asked, &whole)
    }

    /// The nodes of each class.
    fn members(&self) -> BTreeMap<u32, Vec<Node>> {
        let mut members: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
        for node in self.tiles.iter().flat_map(|tile| [(*tile, 0), (*tile, 1)]) {
            members.entry(self.root(node)).or_default().push(node);
        }
        members
    }

    /// Parts of tiles: which of them force their tile to stay whole.
    fn settle_parts(
        &mut self,
        module: &Module,
        members: &BTreeMap<u32, Vec<Node>>,
        asked: &BTreeMap<u32, (Node, OpId)>,
    ) {
        loop {
            let is_whole = |axes: &Axes, root: u32| axes.whole.iter().any(|(node, _)| axes.root(*node) == root);
            let mut added = Vec::new();
            for part in &self.parts {
                let (source, result) = ((part.source, part.axis), (part.result, part.axis));
                let (of, to) = (self.root(source), self.root(result));
                let because = |text: String| Reason { op: part.op, kind: "auto-split".into(), text };
                let what = positions(part.axis);
                if !is_whole(self, of) {
                    if is_whole(self, to) {
                        let reason = self.whole.iter().find(|(node, _)| self.root(*node) == to);
                        added.extend(reason.map(|(_, reason)| (source, reason.clone())));
                    } else if let Start::Unknown(_) = part.start {
                        let text = format!("it is unknown here which half holds the {what} of this part");
                        added.push((source, because(text)));
                    } else if asked.contains_key(&to) || !self.is_clipped_only(to, members) {
                        let text = format!("this part of its {what} is used with tiles that are not such parts");
                        added.push((source, because(text)));
                    }
                } else if part.written && !is_whole(self, to) {
                    let name = module.value_name(part.source);
                    added.push((result, because(format!("it is a part of `{name}`, which each core holds whole"))));
                }
                if !added.is_empty() {
                    break;
                }
            }
            if added.is_empty() {
                return;
            }
            self.whole.extend(added);
        }
    }

    /// True if all tiles of a class are the same part of tiles of one extent.
    fn is_clipped_only(&self, class: u32, members: &BTreeMap<u32, Vec<Node>>) -> bool {
        let mut first: Option<&Part> = None;
        members.get(&class).is_some_and(|nodes| {
            nodes.iter().all(|(tile, axis)| {
                let part = self.parts.iter().find(|p| p.result == *tile && p.axis == *axis);
                let Some(part) = part else { return false };
                let like = *first.get_or_insert(part);
                (part.start, part.size, part.half) == (like.start, like.size, like.half)
            })
        })
    }

    fn decide(
        &mut self,
        module: &Module,
        members: &BTreeMap<u32, Vec<Node>>,
        asked: &BTreeMap<u32, (Node, OpId)>,
        whole: &[u32],
    ) -> Result<(), Vec<Diagnostic>> {
        self.states = vec![State::Whole; self.parent.len()];
        for &root in asked.keys() {
            self.states[root as usize] = State::Half;
        }
        for &tile in &self.tiles {
            if self.state((tile, 0)) == State::Half && self.state((tile, 1)) == State::Half {
                let name = module.value_name(tile);
                let span = module.value(tile).span;
                let message = format!("`{name}` would be divided by rows and by columns");
                return Err(vec![Diagnostic::error("auto-split", span, message).help(BY_HAND)]);
            }
        }
        let is_part = |axes: &Axes, (tile, axis): Node| axes.parts.iter().any(|p| p.result == tile && p.axis == axis);
        for &tile in &self.tiles.clone() {
            let node = (tile, self.axis);
            let root = self.root(node);
            if self.states[root as usize] == State::Half || whole.contains(&root) {
                continue;
            }
            let class = &members[&root];
            // Parts follow their tiles, see below.
            if class.iter().any(|n| is_part(self, *n)) {
                continue;
            }
            let other = |(tile, axis): &Node| (*tile, 1 - axis);
            if class.iter().all(|node| self.state(other(node)) != State::Half && !class.contains(&other(node))) {
                self.states[root as usize] = State::Half;
            }
        }
        for part in self.parts.clone() {
            if self.state((part.source, part.axis)) == State::Half {
                let root = self.root((part.result, part.axis));
                self.states[root as usize] = State::Clipped;
            }
        }
        Ok(())
    }
}

/// Advice for wherever the automatic split gives up.
pub(super) const BY_HAND: &str =
    "write the split explicitly: `split_aiv`, with `aiv_shard` and `aic_gather` where tiles cross";
