//! The parts of what the lowering knows while it goes through a function's body: see [`Lower`](super::Lower).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use ruff_python_ast::{Expr, Stmt};
use slipring_ir::{BlockId, Diagnostic, OpId, Span, TileType, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_tile::{Elem, Space};
use smallvec::SmallVec;

use super::held::Buffers;
use super::names::Names;
use crate::compiled::{Direction, ParamInfo};
use crate::dtype::DType;
use crate::globals::Scope;
use crate::value::{Domain, Index, Loaded, PipeEnd, RegionId, Split, Tensor, Tile, Value};

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
    /// What numbers that are passed are multiples of, where their caller knows.
    pub units: Vec<(ValueId, u64)>,
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
    /// Scopes that are open: `pl.at`, `pl.spmd`.
    pub scopes: usize,
    /// Counted loops that are open.
    pub loops: usize,
    /// Loops that are open and of which each iteration is lowered by itself: the calls that are open around each, and the names that
    /// it binds.
    pub written_out: Vec<(usize, Rc<IndexSet<Rc<str>>>)>,
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
    pub returned: Vec<(ParamInfo, Type)>,
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

/// A list or dict that the kernel made, and where.
#[derive(Clone)]
pub(crate) struct Made {
    /// Its number: it keeps it when it changes.
    pub id: usize,
    pub value: Value,
    pub block: BlockId,
    /// How many calls were open.
    pub calls: usize,
}

impl Made {
    /// Whether something else holds it.
    pub fn is_held(&self) -> bool {
        match &self.value {
            Value::Tuple(items) => items.is_shared(),
            Value::Record(record) => Rc::strong_count(record) > 1,
            _ => false,
        }
    }
}

/// A tensor in global memory that a function knows.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// Its name, for messages.
    pub name: Rc<str>,
    pub elem: Elem,
    pub dims: SmallVec<[u64; 5]>,
    /// Elements from one index of a dimension to the next.
    pub strides: SmallVec<[u64; 5]>,
    /// The memory whose scales it holds, packed as the matrix unit wants them (`pl.MX_A_ZZ`, `pl.MX_B_NN`).
    pub scales: Option<Space>,
    /// `!pto.tensor_view` of all of it.
    pub view: ValueId,
    /// The pointer.
    pub pointer: ValueId,
    /// The parameter that it is, for messages.
    pub span: Span,
    /// False for parameters that are only read.
    pub writable: bool,
    /// What the kernel says it does with it.
    pub direction: Direction,
    /// Whether its first dimension counts the blocks of the launch, each of which has a part of its own.
    pub by_block: bool,
    /// Whether a scope of the kernel makes it.
    pub of_scope: bool,
    /// Whose part of the memory of all devices it is.
    pub domain: Option<Domain>,
    /// The position of the tensor that it is a view of.
    pub of: Option<usize>,
}

/// How many elements such a slice has: made once for all slices with the same beginning and end.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub first: Form,
    pub end: Form,
    pub extent: u64,
    /// Valid while this block is being lowered.
    pub block: BlockId,
    pub count: Index,
}

/// A number as multiples of others, and a constant.
pub(crate) type Form = (BTreeMap<ValueId, i64>, i64);

/// How many elements of a slice are there: made once for all slices with the same beginning, size and end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub first: Index,
    pub size: u64,
    pub extent: u64,
    /// Valid while this block is being lowered.
    pub block: BlockId,
    pub left: Index,
}

/// A `split_aiv` region.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub op: OpId,
    /// The mode written on the loop.
    pub mode: Option<Split>,
    /// The mode that the region turned out to have.
    pub used: Option<(Split, Span)>,
    /// The loop's head.
    pub span: Span,
}

/// A tile that a function pops, and what becomes of its slot.
#[derive(Clone, Debug)]
pub(crate) struct Popped {
    /// The tile.
    pub value: ValueId,
    /// The kind of core that pops, and the number of the pipe.
    pub kind: CoreKind,
    pub id: i64,
    /// How it is divided: its slot is freed in the same way.
    pub split: Split,
    pub span: Span,
    pub block: BlockId,
    /// Where its slot is given back, and in which blocks.
    pub freed: Vec<(BlockId, Span)>,
}

/// What a body declares of its function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// `optimizations=[pl.split(…)]`.
    pub split: Option<(Split, Span)>,
    /// `pl.cross_core_slot(slot_num=…)`.
    pub slot_num: Option<i64>,
    /// `pl.spmd(n)`.
    pub blocks: Option<u32>,
    /// The blocks start at the same time.
    pub together: bool,
    /// Where the scheduler is asked to wait for a signal after the body.
    pub defers: Option<Span>,
    /// How the tiles of pushes and pops are divided that do not say it.
    pub ends: Option<Split>,
    /// Whether both Vector cores run it, where it says so.
    pub both_lanes: Option<bool>,
    /// Slices that leave their tensor are errors.
    pub exact_slices: bool,
    /// Parameters say their shapes: a call does not decide them.
    pub shapes_said: bool,
    /// The first scope that has ended.
    pub closed: Option<Span>,
    /// Tensors of the function's own, by the calls and the place that make them.
    pub created: Vec<(Vec<Span>, Value)>,
    /// The kind of core whose end of a pipe is set up, and where.
    pub pipe_end: Option<(CoreKind, Span)>,
    /// Memory reserved for slots: it lies where that kind of core has its own.
    pub reserved: Vec<OpId>,
    /// Names of the buffers that were reserved or imported, by their address.
    pub buffers: Vec<(ValueId, Rc<str>)>,
    /// The ends of pipes that are set up.
    pub pipes: Vec<Rc<PipeEnd>>,
    /// Popped tiles, in the order of the text.
    pub popped: Vec<Popped>,
    /// Pushes (true) and pops: the kind of core that does it, the number of the pipe, the place.
    pub hand_ends: Vec<(CoreKind, i64, bool, Span)>,
    /// A slot was freed by a name that a loop carries: which one it is cannot be told.
    pub free_of_carried: bool,
    /// An op that sets an end of a pipe up has failed: nothing is said of what would use it.
    pub end_failed: bool,
    /// The kind of core that the function's type says.
    pub kind: Option<CoreKind>,
    /// Questions about the lane outside every region.
    pub lane_questions: Vec<Span>,
}

impl Facts {
    /// How the automatic split divides the function, and who asks for it: `NONE` asks for no split.
    pub fn divided(&self) -> Option<(Split, Span)> {
        self.split.filter(|(mode, _)| *mode != Split::None)
    }
}

/// The statements of a body that is being lowered.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenBody {
    /// The statements that read a name, or bind it on every path before they do: true for those that read.
    uses: BTreeMap<Rc<str>, Vec<(usize, bool)>>,
    /// The statement that is being lowered.
    pub now: usize,
}

impl OpenBody {
    /// A body before its first statement.
    pub fn of(body: &[Stmt]) -> OpenBody {
        let mut open = OpenBody::default();
        for (at, stmt) in body.iter().enumerate() {
            let names = Names::of(std::slice::from_ref(stmt));
            let bound =
                names.certain.into_iter().filter(|name| !names.exposed.contains(name)).map(|name| (name, false));
            let bound: Vec<_> = bound.collect();
            for (name, read) in names.exposed.into_iter().map(|name| (name, true)).chain(bound) {
                open.uses.entry(name).or_default().push((at, read));
            }
        }
        open
    }

    /// True if a name is read after the statement that is being lowered before it is bound again, false if it is bound
    /// first, `None` if the body does neither for certain.
    pub fn next_use(&self, name: &str) -> Option<bool> {
        let uses = self.uses.get(name)?;
        uses.get(uses.partition_point(|(at, _)| *at <= self.now)).map(|(_, read)| *read)
    }
}

/// A loop or branch whose body may end in `pl.yield_`.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    /// A loop with `init_values`: the names that it carries, and the targets that its `pl.yield_` bound.
    Loop { carried: Vec<Rc<str>>, targets: Option<Vec<Rc<str>>> },
    /// A loop without them.
    Plain,
    /// An arm of a branch.
    Arm,
}

impl Frame {
    /// The names that its `init_values` carry.
    pub fn carried(&self) -> &[Rc<str>] {
        match self {
            Frame::Loop { carried, .. } => carried,
            Frame::Plain | Frame::Arm => &[],
        }
    }
}

/// A loop of the text as it is lowered: from which calls, at which place, with how many iterations in its body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PlanKey {
    pub sites: Vec<Span>,
    pub at: Span,
    pub copies: i64,
}

/// How a loop carries what a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum CarryKind {
    /// Each iteration ends with what it began with.
    Same,
    /// A number of the loop's own, of this type or of that of its first value.
    Number(Option<DType>),
    /// A window whose offsets change.
    Window,
    /// A tile in a memory.
    Buffer(Space),
    /// An accumulator of this type that holds nothing at first, and how much of it counts where the type leaves that open.
    Accumulator(TileType),
    /// Several values, each in a way of its own.
    Each(Vec<CarryKind>),
    /// What the body binds first and is read after a loop that runs: a number of a type, whose first value is never seen.
    FreshNumber(DType),
    /// The same for a window like this one.
    FreshWindow(Box<Tensor>),
}

/// The ways in which a loop carries names, where they are not the usual ones.
pub(crate) type CarryPlan = IndexMap<Rc<str>, CarryKind>;

/// What makes two reports the same.
pub(super) fn report_key(diagnostic: &Diagnostic) -> ReportKey {
    let place = diagnostic.primary.as_ref().map_or(Span::default(), |label| label.span);
    (diagnostic.code, place, diagnostic.message.clone())
}

pub(crate) type ReportKey = (&'static str, Span, String);
