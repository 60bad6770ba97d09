//! A function as the insertion of flags sees it: work for pipes in blocks, and what the work touches.
//!
//! Everything else is left out: scalar code, views and allocations need no flags.

use slipring_ir::Flow;
use slipring_machine::{CoreKind, Pipe};
use slipring_tile::Space;
use smallvec::SmallVec;

/// What is touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// A local memory; ranges are byte offsets in it.
    Local(Space),
    /// A buffer in global memory by the number of its base; ranges mean nothing, windows may.
    Global(u32),
    /// Some buffer in global memory.
    AnyGlobal,
    /// No memory: an event, by the number of its value. The work that gives it writes it, work that waits for it reads it.
    Event(u32),
}

/// A window of a view with constant bounds: windows of the same view that are apart in one dimension do not overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Number of the view.
    pub view: u32,
    /// First index and first index after the window, by dimension.
    pub bounds: SmallVec<[(i64, i64); 5]>,
}

/// One range that work reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Memory.
    pub memory: Memory,
    /// First byte and first byte after the range, for local memory.
    pub bytes: (u64, u64),
    /// The part of the buffer, where it is known.
    pub window: Option<Window>,
    /// True if it is written.
    pub write: bool,
}

impl Access {
    /// The kind of memory; `None` for an event.
    fn space(&self) -> Option<Space> {
        match self.memory {
            Memory::Local(space) => Some(space),
            Memory::Global(_) | Memory::AnyGlobal => Some(Space::Gm),
            Memory::Event(_) => None,
        }
    }

    /// True if the two may touch the same bytes and one of them writes.
    pub fn conflicts(&self, other: &Access) -> bool {
        (self.write || other.write)
            && match (self.memory, other.memory) {
                (Memory::Local(a), Memory::Local(b)) => {
                    a == b && self.bytes.0 < other.bytes.1 && other.bytes.0 < self.bytes.1
                }
                (Memory::Event(a), Memory::Event(b)) => a == b,
                (Memory::Local(_) | Memory::Event(_), _) | (_, Memory::Local(_) | Memory::Event(_)) => false,
                (Memory::Global(a), Memory::Global(b)) => a == b && !self.apart(other),
                _ => true,
            }
    }

    fn apart(&self, other: &Access) -> bool {
        let (Some(a), Some(b)) = (&self.window, &other.window) else { return false };
        a.view == b.view && a.bounds.iter().zip(&b.bounds).any(|(a, b)| a.1 <= b.0 || b.1 <= a.0)
    }
}

/// Work for a pipe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Work {
    /// Where it runs.
    pub pipe: Pipe,
    /// The kind of core that runs it, where it is known.
    pub core: Option<CoreKind>,
    /// What it touches.
    pub accesses: Vec<Access>,
}

impl Work {
    /// True if the two must not run at the same time.
    pub fn conflicts(&self, other: &Work) -> bool {
        self.conflicts_in(other, |_| true)
    }

    /// True if two works of one pipe may run in either order and must not: they conflict in a memory where the pipe overlaps
    /// its own work.
    pub fn overlaps(&self, other: &Work, overlapping: &[(Pipe, Space)]) -> bool {
        // An event of a pipe that overlaps its own work says that the work is done, whatever memory it is in.
        self.conflicts_in(other, |space| {
            overlapping.iter().any(|(pipe, of)| *pipe == self.pipe && space.is_none_or(|space| space == *of))
        })
    }

    fn conflicts_in(&self, other: &Work, counts: impl Fn(Option<Space>) -> bool) -> bool {
        let apart = matches!((self.core, other.core), (Some(a), Some(b)) if a != b);
        let clash = |a: &Access| counts(a.space()) && other.accesses.iter().any(|b| a.conflicts(b));
        !apart && self.accesses.iter().any(clash)
    }
}

/// A flag: an event id of an ordered pair of pipes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Flag {
    pub from: Pipe,
    pub to: Pipe,
    pub id: u32,
}

/// What stands in a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// Work, by its number.
    Work(usize),
    /// Blocks of their own.
    Group {
        /// How control passes through them.
        flow: Flow,
        /// One for each region.
        blocks: Vec<usize>,
    },
    /// A call: blocks of one work each, already synchronised among themselves.
    Call {
        /// One for each work.
        blocks: Vec<usize>,
        /// Flags that the callee uses.
        flags: Vec<Flag>,
        /// True if its flags may still be in use by an earlier run, of it or of another callee: nothing may be under way
        /// when it begins.
        alone: bool,
    },
}

/// Where a block hangs.
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

/// How two places in a tree lie to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// In different nodes of a block.
    Nodes {
        /// The block.
        block: usize,
        /// Node of the first place.
        a: usize,
        /// Node of the second place.
        b: usize,
    },
    /// In different regions of one node.
    Regions {
        /// Block of the node.
        block: usize,
        /// The node.
        node: usize,
    },
    /// The same place.
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

    /// How control passes through the blocks of the node that holds this block.
    pub fn flow_around(&self, block: usize) -> Option<Flow> {
        let parent = self.blocks[block].parent?;
        Some(self.flow_of(parent.block, parent.node))
    }

    /// How control passes through the blocks of a node.
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

    /// How two places lie to each other. A place is a block and a node of it.
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

    /// From the body down to a place.
    fn path(&self, place: Parent) -> Vec<Parent> {
        let mut path: Vec<Parent> = std::iter::successors(Some(place), |p| self.blocks[p.block].parent).collect();
        path.reverse();
        path
    }
}
