//! State of the lowering of a function's body, in parts: see [`Lower`](super::Lower).

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
use crate::compiled::{Direction, ParamInfo, Returned};
use crate::dtype::DType;
use crate::globals::Scope;
use crate::value::{Domain, Index, Loaded, PipeEnd, RegionId, Split, Tensor, Tile, Value};

/// The current values of names.
#[derive(Clone, Default)]
pub(crate) struct NameState {
    pub env: Scope,
    /// Names that only some paths bind, and where they do.
    pub lost: IndexMap<Rc<str>, (Span, &'static str)>,
    /// Names whose statement failed: their errors have been reported.
    pub poisoned: BTreeSet<Rc<str>>,
    /// Names of tuples, whose elements cannot be replaced.
    pub tuples: BTreeSet<Rc<str>>,
    /// Lists that the kernel made.
    pub lists: Vec<Made>,
}

impl NameState {
    /// The state of some names.
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

    /// Restores the earlier value of a name.
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

/// Tensors in global memory, and knowledge about their windows.
#[derive(Default)]
pub(crate) struct TensorState {
    pub roots: Vec<Root>,
    /// Windows of inputs that were loaded where an op read them.
    pub loads: Vec<Loaded>,
    /// Reshaped windows: the block that contains the view, and the index of its tensor.
    pub views: Vec<(Tensor, BlockId, usize)>,
    /// Actual extents of slices at the end of a dimension.
    pub tails: Vec<Tail>,
    /// Extents of slices whose end is only known at run time.
    pub extents: Vec<Extent>,
    /// What numbers that are passed are multiples of, where their caller knows.
    pub units: Vec<(ValueId, u64)>,
}

/// Tiles, and the history of their memory.
#[derive(Default)]
pub(crate) struct TileState {
    pub tiles: Vec<Tile>,
    /// The history of the tiles' buffers.
    pub buffers: Buffers,
    /// Buffers that the function declares: others are slots of rings.
    pub allocs: BTreeSet<ValueId>,
    /// Single rows in fractals of L1: the buffer, the loaded window, and the number of earlier stores.
    pub rows: Vec<(ValueId, Tensor, usize)>,
    /// Tiles of L1 with the contents of a window that nothing changes, which can be loaded again into another memory;
    /// with the version of their buffers.
    pub images: Vec<(Loaded, (u32, usize))>,
}

/// Constructs that are open around the current statement.
#[derive(Default)]
pub(crate) struct OpenState {
    /// Values of names in the calling functions, from the kernel on.
    pub callers: Vec<Scope>,
    /// Places of the open calls.
    pub call_sites: Vec<Span>,
    /// Functions whose bodies are open, from the kernel on.
    pub calls: Vec<Rc<str>>,
    pub regions: Vec<Region>,
    /// The region that is open.
    pub region: Option<RegionId>,
    /// Blocks from the function's body to the current one.
    pub blocks: Vec<BlockId>,
    /// The open bodies.
    pub bodies: Vec<OpenBody>,
    /// Additional names that are live after bodies, each with the number of bodies that were open around them.
    pub read_later: Vec<(usize, BTreeSet<Rc<str>>)>,
    /// Loops and branches that are open, for `pl.yield_`.
    pub yields: Vec<Frame>,
    /// Scopes that are open: `pl.at`, `pl.spmd`.
    pub scopes: usize,
    /// Counted loops that are open.
    pub loops: usize,
    /// Open loops that are unrolled: the number of open calls around each, and the names that it binds.
    pub written_out: Vec<(usize, Rc<IndexSet<Rc<str>>>)>,
    /// Number of open branches that are decided at run time.
    pub branches: usize,
    /// Depth of nested statements and expressions.
    pub depth: usize,
}

/// How loops carry names.
#[derive(Default)]
pub(crate) struct CarryState {
    /// Ways to carry names that a body requested, and tensors for which that was tried.
    pub wanted: CarryPlan,
    pub tried: BTreeSet<usize>,
    /// The last origin that was assigned to a carried window.
    pub origins: u32,
    /// How the loops inside the outermost one carry names.
    pub plans: IndexMap<PlanKey, CarryPlan>,
}

/// The results of the kernel.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The declared types of the kernel's results.
    pub results: Vec<Expr>,
    /// Returned outputs that became parameters.
    pub returned: Vec<(ParamInfo, Type)>,
    /// Places where it returns tiles that it made.
    pub returned_tiles: Vec<Span>,
    /// The values that the kernel returns, in order.
    pub gives: Vec<Returned>,
}

/// Errors that were reported.
#[derive(Default)]
pub(crate) struct ReportState {
    /// Keys of reported errors, so that each is reported once.
    pub reported: BTreeSet<ReportKey>,
    /// True once there are so many errors that the rest is skipped.
    pub stopped: bool,
}

/// A list or dict that the kernel made, and where.
#[derive(Clone)]
pub(crate) struct Made {
    /// Its id, which does not change with its contents.
    pub id: usize,
    pub value: Value,
    pub block: BlockId,
    /// Number of open calls.
    pub calls: usize,
}

impl Made {
    /// True if something else references it.
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
    /// Distance in elements between neighbours in each dimension.
    pub strides: SmallVec<[u64; 5]>,
    /// The memory whose scales it holds, in the packing of the matrix unit (`pl.MX_A_ZZ`, `pl.MX_B_NN`).
    pub scales: Option<Space>,
    /// `!pto.tensor_view` of the whole tensor.
    pub view: ValueId,
    /// The pointer.
    pub pointer: ValueId,
    /// The parameter, for messages.
    pub span: Span,
    /// False for parameters that are only read.
    pub writable: bool,
    /// The declared access of the kernel.
    pub direction: Direction,
    /// True if its first dimension counts the blocks of the launch, each of which has its own part.
    pub by_block: bool,
    /// True if a scope of the kernel makes it.
    pub of_scope: bool,
    /// True for booleans, a byte for each.
    pub truths: bool,
    /// The owner, if it is a part of memory of all devices.
    pub domain: Option<Domain>,
    /// The index of the tensor that it is a view of.
    pub of: Option<usize>,
}

/// The extent of a slice with a dynamic end: computed once for all slices with the same beginning and end.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub first: Form,
    pub end: Form,
    pub extent: u64,
    /// Valid while this block is being lowered.
    pub block: BlockId,
    pub count: Index,
}

/// A linear form: multiples of other numbers, and a constant.
pub(crate) type Form = (BTreeMap<ValueId, i64>, i64);

/// The number of existing elements of a slice: computed once for all slices with the same beginning, size and end.
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
    /// The inferred mode of the region.
    pub used: Option<(Split, Span)>,
    /// The loop's head.
    pub span: Span,
}

/// A tile that a function pops, and the release of its slot.
#[derive(Clone, Debug)]
pub(crate) struct Popped {
    /// The tile.
    pub value: ValueId,
    /// The kind of core that pops, and the number of the pipe.
    pub kind: CoreKind,
    pub id: i64,
    /// Its split: its slot is freed with the same one.
    pub split: Split,
    pub span: Span,
    pub block: BlockId,
    /// The places where its slot is freed, with their blocks.
    pub freed: Vec<(BlockId, Span)>,
}

/// Facts about a function that its body declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// `optimizations=[pl.split(…)]`.
    pub split: Option<(Split, Span)>,
    /// `pl.cross_core_slot(slot_num=…)`.
    pub slot_num: Option<i64>,
    /// `pl.spmd(n)`.
    pub blocks: Option<u32>,
    /// True if the blocks start at the same time.
    pub together: bool,
    /// The place where the scheduler is requested to wait for a signal after the body.
    pub defers: Option<Span>,
    /// The split of pushes and pops that do not specify one.
    pub ends: Option<Split>,
    /// Whether both Vector cores run it, if specified.
    pub both_lanes: Option<bool>,
    /// True if slices past the end of their tensor are errors.
    pub exact_slices: bool,
    /// True if parameters declare their shapes, so that a call does not determine them.
    pub shapes_said: bool,
    /// The first scope that has ended.
    pub closed: Option<Span>,
    /// Tensors of the function's own, by the calls and the place that make them.
    pub created: Vec<(Vec<Span>, Value)>,
    /// The kind of core whose end of a pipe is set up, and where.
    pub pipe_end: Option<(CoreKind, Span)>,
    /// Memory reserved for slots: it is in the memory of that kind of core.
    pub reserved: Vec<OpId>,
    /// Names of the buffers that were reserved or imported, by their address.
    pub buffers: Vec<(ValueId, Rc<str>)>,
    /// The ends of pipes that are set up.
    pub pipes: Vec<Rc<PipeEnd>>,
    /// Popped tiles, in the order of the text.
    pub popped: Vec<Popped>,
    /// Pushes (true) and pops: the kind of core, the number of the pipe, the place.
    pub hand_ends: Vec<(CoreKind, i64, bool, Span)>,
    /// True if a slot was freed through a name that a loop carries: it is not known which one.
    pub free_of_carried: bool,
    /// True if an op that sets up an end of a pipe has failed: its uses are not reported.
    pub end_failed: bool,
    /// The kind of core that the function's type specifies.
    pub kind: Option<CoreKind>,
    /// Lane queries outside every region.
    pub lane_questions: Vec<Span>,
}

impl Facts {
    /// The automatic split of the function, and the place that requests it: `NONE` requests no split.
    pub fn divided(&self) -> Option<(Split, Span)> {
        self.split.filter(|(mode, _)| *mode != Split::None)
    }
}

/// The statements of a body that is being lowered.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenBody {
    /// For each name, the statements that read it (true), or bind it on every path before they do.
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

    /// True if a name is read after the current statement before it is bound again, false if it is bound first, `None`
    /// if the body does neither for certain.
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
    /// A loop without `init_values`.
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

/// A loop of the text as it is lowered: the open calls, its place, and the number of iterations in its body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PlanKey {
    pub sites: Vec<Span>,
    pub at: Span,
    pub copies: i64,
}

/// How a loop carries the value of a name.
#[derive(Clone, Debug)]
pub(crate) enum CarryKind {
    /// Each iteration ends with the value that it began with.
    Same,
    /// A carried number, of this type or of that of its first value.
    Number(Option<DType>),
    /// A window whose offsets change.
    Window,
    /// A tile in a memory.
    Buffer(Space),
    /// An initially empty accumulator of this type, whose valid extent is carried if the type leaves it dynamic.
    Accumulator(TileType),
    /// Several values, each carried in its own way.
    Each(Vec<CarryKind>),
    /// A value that the body binds first and that is live after a loop that runs: a number of a type, whose initial
    /// value is never used.
    FreshNumber(DType),
    /// Such a value that is a window like this one.
    FreshWindow(Box<Tensor>),
}

/// The ways in which a loop carries names, where they differ from the usual ones.
pub(crate) type CarryPlan = IndexMap<Rc<str>, CarryKind>;

/// The key under which equal reports coincide.
pub(super) fn report_key(diagnostic: &Diagnostic) -> ReportKey {
    let place = diagnostic.primary.as_ref().map_or(Span::default(), |label| label.span);
    (diagnostic.code, place, diagnostic.message.clone())
}

pub(crate) type ReportKey = (&'static str, Span, String);
