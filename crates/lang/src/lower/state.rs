//! The parts of what the lowering knows while it goes through a function's body: see [`Lower`](super::Lower).

use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use ruff_python_ast::Expr;
use slipring_ir::{BlockId, Span, Type, ValueId};

use super::changed::Made;
use super::extents::Extent;
use super::tails::Tail;
use super::{Buffers, CarryPlan, Frame, OpenBody, PlanKey, Region, ReportKey, Root};
use crate::globals::Scope;
use crate::value::{Loaded, RegionId, Tensor, Tile};

/// What names stand for where the lowering is.
#[derive(Clone, Default)]
pub(crate) struct NameState {
    pub env: Scope,
    /// Names that only some paths bind, and where they do.
    pub lost: IndexMap<Rc<str>, (Span, &'static str)>,
    /// Names whose statement failed: what goes wrong with them has been reported.
    pub poisoned: BTreeSet<Rc<str>>,
    /// Names that stand for tuples, which keep their elements.
    pub tuples: BTreeSet<Rc<str>>,
    /// Lists that the kernel made.
    pub lists: Vec<Made>,
}

impl NameState {
    /// What is known of some names.
    pub fn only(&self, names: &IndexSet<Rc<str>>) -> NameState {
        let mut own = NameState::default();
        for name in names {
            own.env.extend(self.env.get(name).map(|value| (name.clone(), value.clone())));
            own.lost.extend(self.lost.get(name).map(|lost| (name.clone(), *lost)));
            own.poisoned.extend(self.poisoned.get(name).cloned());
            own.tuples.extend(self.tuples.get(name).cloned());
        }
        own
    }

    /// Lets a name stand for what it stood for before.
    pub fn restore(&mut self, name: &Rc<str>, before: &NameState) {
        match before.env.get(name) {
            Some(value) => drop(self.env.insert(name.clone(), value.clone())),
            None => drop(self.env.shift_remove(name)),
        }
        match before.lost.get(name) {
            Some(lost) => drop(self.lost.insert(name.clone(), *lost)),
            None => drop(self.lost.shift_remove(name)),
        }
        for (now, then) in [(&mut self.poisoned, &before.poisoned), (&mut self.tuples, &before.tuples)] {
            match then.contains(name) {
                true => now.insert(name.clone()),
                false => now.remove(name),
            };
        }
    }
}

/// Tensors in global memory, and what is known of their windows.
#[derive(Default)]
pub(crate) struct TensorState {
    pub roots: Vec<Root>,
    /// Windows of inputs that were loaded where an op read them.
    pub loads: Vec<Loaded>,
    /// Windows that are looked at in another shape: the block in which their view is made, and the position of its tensor.
    pub views: Vec<(Tensor, BlockId, usize)>,
    /// What is there of slices at the end of a dimension.
    pub tails: Vec<Tail>,
    /// How many elements slices have of which only the run knows the end.
    pub extents: Vec<Extent>,
}

/// Tiles, and what became of their memory.
#[derive(Default)]
pub(crate) struct TileState {
    pub tiles: Vec<Tile>,
    /// What became of the tiles' buffers.
    pub buffers: Buffers,
    /// Buffers that the function declares: others are slots of rings.
    pub allocs: BTreeSet<ValueId>,
    /// Single rows that lie in L1 in fractals: the buffer, the window that was loaded, and the stores before it.
    pub rows: Vec<(ValueId, Tensor, usize)>,
    /// Tiles of L1 that are what a window holds which nothing changes: they can be loaded anew into another memory. And what their
    /// buffers' changes were.
    pub images: Vec<(Loaded, (u32, usize))>,
}

/// What is open around the statement that is being lowered.
#[derive(Default)]
pub(crate) struct OpenState {
    /// What names stand for in the functions that call the one that is being lowered, from the kernel on.
    pub callers: Vec<Scope>,
    /// Places of the calls that are open.
    pub call_sites: Vec<Span>,
    /// Functions whose bodies are open, from the kernel on.
    pub calls: Vec<Rc<str>>,
    pub regions: Vec<Region>,
    /// The region that is open.
    pub region: Option<RegionId>,
    /// Blocks from the function's body to the current one.
    pub blocks: Vec<BlockId>,
    /// The bodies that are open.
    pub bodies: Vec<OpenBody>,
    /// Further names that are read after bodies, each with the number of bodies that were open around them.
    pub read_later: Vec<(usize, BTreeSet<Rc<str>>)>,
    /// Loops and branches that are open, for `pl.yield_`.
    pub yields: Vec<Frame>,
    /// Counted loops that are open.
    pub loops: usize,
    /// Branches that are decided at run time and open.
    pub branches: usize,
    /// Statements and expressions that are being lowered inside each other.
    pub depth: usize,
}

/// How loops carry names.
#[derive(Default)]
pub(crate) struct CarryState {
    /// Ways to carry names that a body found that it needs, and tensors for which that was tried.
    pub wanted: CarryPlan,
    pub tried: BTreeSet<usize>,
    /// The last origin that a carried window was given.
    pub origins: u32,
    /// How the loops inside the outermost one carry names.
    pub plans: IndexMap<PlanKey, CarryPlan>,
}

/// What the kernel returns.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The types that the kernel says it returns.
    pub results: Vec<Expr>,
    /// Outputs that the kernel returned and that are parameters now.
    pub returned: Vec<(crate::compiled::ParamInfo, Type)>,
    /// Where it returns tiles that it made.
    pub returned_tiles: Vec<Span>,
    /// Names of the parameters that the kernel returns, in order; empty for anything else.
    pub gives: Vec<String>,
}

/// Which errors were reported.
#[derive(Default)]
pub(crate) struct ReportState {
    /// Errors that were reported, so that each is reported once.
    pub reported: BTreeSet<ReportKey>,
    /// True once there are so many errors that the rest is not looked at.
    pub stopped: bool,
}
