//! A function as seen by flag insertion: pipe work in blocks, and its accesses.
//!
//! Everything else is omitted: scalar code, views and allocations need no flags.

use std::ops::Range;

use slipring_ir::Flow;
use slipring_machine::Pipe;
use slipring_op::LIBRARY_EVENT;

use crate::analysis::touch::Work;

/// A flag: an event id of an ordered pair of pipes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Flag {
    pub from: Pipe,
    pub to: Pipe,
    pub id: u32,
}

/// The flags that the tile library uses internally in work.
pub fn flags_inside(work: &Work) -> impl Iterator<Item = Flag> + '_ {
    work.inside.iter().map(|(from, to)| Flag { from: *from, to: *to, id: LIBRARY_EVENT })
}

/// A node of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// Work, by its index.
    Work(usize),
    /// Blocks of their own.
    Group {
        /// The control flow through them.
        flow: Flow,
        /// One for each region.
        blocks: Vec<usize>,
    },
    /// A call: blocks of one work item each, already synchronised among themselves.
    Call {
        /// One for each work item.
        blocks: Vec<usize>,
        /// Flags that the callee uses.
        flags: Vec<Flag>,
        /// True if its flags may still be in use by an earlier execution, of it or of another callee: nothing may be in
        /// flight when it begins.
        alone: bool,
    },
}

/// The parent of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Parent {
    pub block: usize,
    pub node: usize,
}

/// A list of nodes that run one after another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Block {
    pub nodes: Vec<Node>,
    pub parent: Option<Parent>,
}

/// A function body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// Blocks; the first one is the body.
    pub blocks: Vec<Block>,
    /// Work in program order.
    pub works: Vec<Work>,
    /// Block and node of each work.
    pub places: Vec<Parent>,
}

/// The relation of two positions in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// In different nodes of a block.
    Nodes {
        /// The block.
        block: usize,
        /// Node of the first position.
        a: usize,
        /// Node of the second position.
        b: usize,
    },
    /// In different regions of one node.
    Regions {
        /// Block of the node.
        block: usize,
        /// The node.
        node: usize,
    },
    /// The same position.
    Same,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { blocks: vec![Block::default()], works: Vec::new(), places: Vec::new() }
    }
}

impl Tree {
    /// Adds work at the end of a block.
    pub fn push_work(&mut self, block: usize, work: Work) -> usize {
        let node = self.blocks[block].nodes.len();
        self.works.push(work);
        self.places.push(Parent { block, node });
        self.blocks[block].nodes.push(Node::Work(self.works.len() - 1));
        self.works.len() - 1
    }

    /// Adds a node with `count` empty blocks at the end of a block.
    pub fn push_group(&mut self, block: usize, flow: Flow, count: usize) -> Vec<usize> {
        let blocks = self.push_blocks(block, count);
        self.blocks[block].nodes.push(Node::Group { flow, blocks: blocks.clone() });
        blocks
    }

    /// Adds a call of a function with this work at the end of a block.
    pub fn push_call(&mut self, block: usize, works: Vec<Work>, flags: Vec<Flag>, alone: bool) {
        let blocks = self.push_blocks(block, works.len());
        for (inner, work) in blocks.iter().zip(works) {
            self.push_work(*inner, work);
        }
        self.blocks[block].nodes.push(Node::Call { blocks, flags, alone });
    }

    fn push_blocks(&mut self, block: usize, count: usize) -> Vec<usize> {
        let node = self.blocks[block].nodes.len();
        let first = self.blocks.len();
        let new = Block { nodes: Vec::new(), parent: Some(Parent { block, node }) };
        self.blocks.extend(std::iter::repeat_n(new, count));
        (first..first + count).collect()
    }

    /// The control flow through the blocks of a node.
    pub fn flow_of(&self, block: usize, node: usize) -> Flow {
        match &self.blocks[block].nodes[node] {
            Node::Group { flow, .. } => *flow,
            Node::Call { .. } => Flow::OneOf,
            Node::Work(_) => Flow::Once,
        }
    }

    /// The outermost loop around a block: its block and node.
    pub fn outermost_loop(&self, block: usize) -> Option<Parent> {
        let mut found = None;
        let mut at = block;
        while let Some(parent) = self.blocks[at].parent {
            if self.flow_of(parent.block, parent.node) == Flow::Repeat {
                found = Some(parent);
            }
            at = parent.block;
        }
        found
    }

    /// True if a block may run more than once.
    pub fn is_repeated(&self, block: usize) -> bool {
        self.outermost_loop(block).is_some()
    }

    /// Distance of a block from the body.
    pub fn depth(&self, block: usize) -> usize {
        std::iter::successors(self.blocks[block].parent, |p| self.blocks[p.block].parent).count()
    }

    /// The work items in each block and its contents; they are consecutive in program order.
    pub fn works_of_blocks(&self) -> Vec<Range<usize>> {
        let mut spans = vec![0..0; self.blocks.len()];
        for (work, place) in self.places.iter().enumerate() {
            let mut block = Some(place.block);
            while let Some(at) = block {
                if spans[at].is_empty() {
                    spans[at] = work..work;
                }
                spans[at].end = work + 1;
                block = self.blocks[at].parent.map(|p| p.block);
            }
        }
        spans
    }

    /// The relation of two positions. A position is a block and one of its nodes.
    pub fn relation(&self, a: Parent, b: Parent) -> Relation {
        let (path_a, path_b) = (self.path(a), self.path(b));
        for (a, b) in path_a.iter().zip(&path_b) {
            if a.block != b.block {
                break;
            }
            if a.node != b.node {
                return Relation::Nodes { block: a.block, a: a.node, b: b.node };
            }
        }
        let common = path_a.iter().zip(&path_b).take_while(|(a, b)| a == b).last();
        match common {
            Some((last, _)) if path_a.len() > 1 && path_a != path_b => {
                Relation::Regions { block: last.block, node: last.node }
            }
            _ => Relation::Same,
        }
    }

    /// From the body down to a position.
    fn path(&self, place: Parent) -> Vec<Parent> {
        let mut path: Vec<Parent> = std::iter::successors(Some(place), |p| self.blocks[p.block].parent).collect();
        path.reverse();
        path
    }
}
