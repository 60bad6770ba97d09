//! The parts of an op declaration.

pub use crate::facts::FromZero;
pub use crate::facts::{
    AddressRule, CoreRule, Counter, InCoreSync, LIBRARY_EVENT, LaneQuery, Linear, MixedPart, Signal, SyncAct, Transfer,
    Workitems,
};
pub use crate::product::{Product, ProductStart};
pub use crate::ring::{HandlePart, RingPart};
pub use crate::tiles::ElemTypes;
use slipring_effect::vector::{NumberUse, WorkingSpans};
pub use slipring_ir::Reported;
use slipring_ir::{Attr, Diagnostic, Diags, Kind, Module, OpId, OpSchema, Part, Span, TileType, Touch, Type, ValueId};
use slipring_machine::{Capability, Pipe, Platform, Price, Question, cost_types};
use slipring_program::{Relation, UpdateKind};
use slipring_tile::{Binary, Elem, Space, Ternary, Unary};

use crate::along::Along;
use crate::decode::Decoder;
use crate::tiles::{On, TileRules};

/// The declaration of an op: the only definition of the op.
#[derive(Debug)]
pub struct OpDef {
    /// Name, operands, results, attributes and text form.
    pub schema: OpSchema,
    /// One line for lists.
    pub summary: &'static str,
    /// The text of the reference page: semantics, shapes, units, order of sums, rejected uses.
    pub doc: &'static str,
    /// The source of the semantics: a seed or a section of a manual.
    pub source: &'static str,
    /// Which core runs it.
    pub core: CoreRule,
    /// Which pipe it occupies.
    pub pipe: PipeRule,
    /// The cost class of its work on the vector unit, one of the platform's
    /// [`VECTOR_CLASSES`](slipring_machine::VECTOR_CLASSES); empty for ops that do none.
    pub class: &'static str,
    /// Its part in a ring, if it has one.
    pub ring: Option<RingPart>,
    /// What it queries about the Vector core that it runs on: such an op only makes sense where both may run.
    pub per_lane: Option<LaneQuery>,
    /// How its result depends on its integer operands, where that is linear: used for addresses.
    pub linear: Option<Linear>,
    /// The relation of its two integers that it tests, if it is a comparison.
    pub relation: fn(&OpRef<'_>) -> Option<Relation>,
    /// True if its two sources may be swapped.
    pub commutes: bool,
    /// True if it needs its working memory: an operand `tmp` that the text may omit, and that passes which create the
    /// op supply.
    pub wants_tmp: bool,
    /// The part of its working memory that the tile libraries write.
    pub working: WorkingMemory,
    /// True if its working memory is last read before the first result is written: it may then share memory with the
    /// result.
    pub tmp_before_results: bool,
    /// True if the tile library of a platform whose vector unit works on memory (A2/A3) uses the reserved bytes at the
    /// end of UB for it: see `reserved` of a memory space.
    pub library_memory: fn(&OpRef<'_>) -> bool,
    /// The function that it computes for each element, of its sources in order.
    pub kernel: Arithmetic,
    /// The lane types that it accepts, if it is a vector instruction whose family checks them.
    pub lane_types: &'static [Elem],
    /// True if it is only valid in a vector function: it uses vector registers or predicates, or orders such
    /// instructions.
    pub in_vector_function: bool,
    /// True if it orders accesses around vector functions: like an op that synchronises, it is only valid outside of
    /// them.
    pub around_vector_functions: bool,
    /// Whether it belongs in the bodies of workitems.
    pub workitems: Workitems,
    /// What the first argument of its region counts, if it is a counter.
    pub counter: Option<Counter>,
    /// True if its result is a window of its operand `source`: it begins at `offsets` and has extents `sizes`, with a
    /// value for each dimension.
    pub window: bool,
    /// True if its result is the address of its operand `src`, a view.
    pub address_of_view: bool,
    /// Where it specifies the local-memory address of the buffer that it makes or loads to.
    pub address: AddressRule,
    /// Its semantics along the rows and the columns of its tiles: what can be divided between two Vector cores.
    pub along: [Along; 2],
    /// True if every core executes it in a kernel written for the whole cluster, although it belongs to no kind of
    /// core: nothing is ordered with it.
    pub each_core: bool,
    /// True if it writes to the output of the run: in a kernel written for the whole cluster the cores that print tiles
    /// execute it, so that all lines appear in the order of the text.
    pub prints: bool,
    /// Its part in a kernel written for the whole cluster, if it has one.
    pub mixed: Option<MixedPart>,
    /// Which part of a tile it copies to where, if it does nothing but copy a tile to another memory.
    pub transfer: Option<Transfer>,
    /// The roles of its operands, if it is a matrix product that can be computed in several steps over k.
    pub product: Option<Product>,
    /// The operands that are tiles of scales for others, as (data, scales). They are stored next to their data.
    pub scales: &'static [(&'static str, &'static str)],
    /// The element types that it accepts, where a platform's vector unit does not accept all types of the op.
    pub elems: &'static [ElemTypes],
    /// The element types that the tile library itself accepts, where the assembler knows fewer: for C++ texts, in place
    /// of `elems`. Empty if they do not differ.
    pub library_elems: &'static [ElemTypes],
    /// The arguments of the tile library's function in their order, one list for each of its forms, where they are not
    /// the results and then the other operands. An argument is an operand, an operand's address (`&offset`), or an
    /// attribute.
    pub library_forms: &'static [&'static [&'static str]],
    /// The layouts of its tiles, and which of their valid shapes must be equal.
    pub tiles: TileRules,
    /// The sources whose bytes its results must not share, although it works element by element.
    pub apart: &'static [ApartRule],
    /// How scalar operands become elements.
    pub number: NumberUse,
    /// When its result is never negative.
    pub from_zero: FromZero,
    /// The kind of atomic update that its writes perform, if they are atomic; several may go to the same bytes.
    pub update: fn(&OpRef<'_>) -> Option<UpdateKind>,
    /// Whether it synchronises pipes of one core by hand: the compiler adds no synchronisation to a function that does.
    pub in_core_sync: InCoreSync,
    /// The synchronisation that it performs, if any.
    pub sync: fn(&OpRef<'_>) -> Option<SyncAct>,
    /// The flags that the public tile library uses internally; the first case that applies counts. No other code may
    /// have them in flight across the op.
    pub inside: &'static [LibraryFlags],
    /// Rules beyond the types of operands and attributes.
    pub verify: fn(&OpRef<'_>, &Platform, &mut Diags),
    /// Expands it to the engine's steps. The op's operands are bound; it binds its results.
    pub lower: fn(&OpRef<'_>, &mut Decoder<'_>) -> Lowered,
}

impl OpDef {
    /// The same declaration with other operands, results, attributes and text.
    pub const fn with(self, schema: OpSchema) -> OpDef {
        OpDef { schema, ..self }
    }

    /// True for an op of the scalar unit that has no effect but its results. A query of the lane decides which cores
    /// take part, so it does not qualify.
    pub fn only_computes(&self) -> bool {
        matches!(self.pipe, PipeRule::None)
            && self.ring.is_none()
            && self.per_lane.is_none()
            && self.in_core_sync == InCoreSync::No
            && !self.schema.terminator
            && self.schema.part != Part::Call
    }

    /// The cost of its work on the vector unit for these element types: those of its sources and of its result.
    pub fn vector_cost(&self, platform: &Platform, from: Elem, to: Elem) -> Price {
        let types = cost_types(from, (self.converts() && from != to).then_some(to));
        platform.vector_cost(crate::names::bare(self.schema.name), self.class, &types)
    }

    /// Whether its cost depends on two element types.
    #[must_use]
    pub fn converts(&self) -> bool {
        self.class == CONVERT
    }

    /// The cost of its high-precision variant.
    pub fn precise_cost(&self, platform: &Platform, elem: Elem) -> Price {
        self.variant_cost(platform, elem, "precise")
    }

    /// The cost for rows that are reduced in groups of 32 bytes: see [`reduces_in_groups`].
    pub fn grouped_cost(&self, platform: &Platform, elem: Elem) -> Price {
        self.variant_cost(platform, elem, "grouped")
    }

    fn variant_cost(&self, platform: &Platform, elem: Elem, variant: &str) -> Price {
        let types = format!("{}-{variant}", cost_types(elem, None));
        platform.vector_cost(crate::names::bare(self.schema.name), self.class, &types)
    }
}

/// Whether the public library for the A2/A3 (`TRowReduceOps`) reduces the rows of a whole tile to a column, in column
/// order, in groups of 32 bytes.
#[must_use]
pub fn reduces_in_groups(elem: Elem, rows: u32, cols: u32) -> bool {
    elem == Elem::F32 && [(64, 128), (32, 256), (16, 512), (8, 1024)].contains(&(rows, cols))
}

/// The class of ops whose cost depends on two types.
const CONVERT: &str = "convert";

impl PartialEq for OpDef {
    /// Declarations are compared by identity.
    fn eq(&self, other: &OpDef) -> bool {
        std::ptr::eq(self, other)
    }
}

/// A window of a view.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct WindowOf<'a> {
    pub source: ValueId,
    pub offsets: &'a [ValueId],
    pub sizes: &'a [ValueId],
}

/// Flags that the public tile library sets and waits for internally in an op, with [`LIBRARY_EVENT`].
#[derive(Clone, Copy, Debug)]
pub struct LibraryFlags {
    /// The capability that decides whether the library of a platform uses them.
    pub of: Capability,
    /// True if the library uses them with that capability, false if without it.
    pub has: bool,
    /// The ops that this applies to.
    pub when: fn(&OpRef<'_>) -> bool,
    /// The source and destination pipes.
    pub flags: &'static [(Pipe, Pipe)],
}

/// Sources whose bytes the results must not share: the tile library of a platform writes the result before it has read
/// them for the last time, or its manual excludes it.
#[derive(Clone, Copy, Debug)]
pub struct ApartRule {
    /// The declared operands.
    pub sources: &'static [&'static str],
    /// The kind of unit to which this applies.
    pub on: On,
    /// The forms of the op that this applies to.
    pub when: fn(&OpRef<'_>) -> bool,
}

impl ApartRule {
    /// On units that work on memory, in all forms of the op.
    pub const fn of_memory(sources: &'static [&'static str]) -> ApartRule {
        ApartRule { sources, on: On::Memory, when: |_| true }
    }
}

/// Result of lowering: `Err` if an error has been reported.
pub type Lowered = Result<(), Reported>;

/// The function that an op computes for each element.
#[derive(Clone, Copy, Debug)]
pub enum Arithmetic {
    /// None, or something that is not elementwise.
    None,
    /// Of one source.
    One(&'static Unary),
    /// Of two.
    Two(&'static Binary),
    /// Of three.
    Three(&'static Ternary),
}

/// Which pipe an op occupies.
#[derive(Clone, Copy)]
pub enum PipeRule {
    /// None: the scalar unit runs it, or it only names memory.
    None,
    /// Always this one.
    Fixed(Pipe),
    /// Depends on the memories of its operands or on the platform.
    By(fn(&OpRef<'_>, &Platform) -> Pipe),
}

impl std::fmt::Debug for PipeRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PipeRule::None => f.write_str("None"),
            PipeRule::Fixed(pipe) => write!(f, "{pipe}"),
            PipeRule::By(_) => f.write_str("By(..)"),
        }
    }
}

/// No rules beyond the schema's.
pub fn no_rules(_: &OpRef<'_>, _: &Platform, _: &mut Diags) {}

/// A declared operand: its name, or its position for code that iterates over all operands.
pub trait OperandAt: Copy {
    /// Its position among the declared operands.
    fn position(self, schema: &OpSchema) -> usize;
}

impl OperandAt for usize {
    fn position(self, _: &OpSchema) -> usize {
        self
    }
}

impl OperandAt for &str {
    /// Panics in tests for a name that the op does not declare; otherwise the operand then counts as absent.
    fn position(self, schema: &OpSchema) -> usize {
        let at = schema.operands.iter().position(|spec| spec.name == self);
        debug_assert!(at.is_some(), "`{}` has no operand `{self}`", schema.name);
        at.unwrap_or(usize::MAX)
    }
}

/// An op of a module together with its declaration.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct OpRef<'a> {
    pub module: &'a Module,
    pub id: OpId,
    pub def: &'static OpDef,
}

impl<'a> OpRef<'a> {
    /// An op of a module, if it has a declaration.
    pub fn of(module: &'a Module, id: OpId) -> Option<OpRef<'a>> {
        Some(OpRef { module, id, def: OpDef::of(module, id)? })
    }

    /// Another op of the same module, if it is declared.
    pub fn other(&self, id: OpId) -> Option<OpRef<'a>> {
        OpRef::of(self.module, id)
    }

    /// Its position in the text.
    pub fn span(&self) -> Span {
        self.module.op(self.id).span
    }

    /// Whether it is a call of the tile library: its text is C++.
    pub fn calls_library(&self) -> bool {
        self.module.source.cpp
    }

    /// The element types that it accepts in its kind of text.
    pub fn elem_types(&self) -> &'static [ElemTypes] {
        match self.def.library_elems {
            [] => self.def.elems,
            own if self.calls_library() => own,
            _ => self.def.elems,
        }
    }

    /// The values of a declared operand: none, one or more as its arity says.
    pub fn operands(&self, at: impl OperandAt) -> &'a [ValueId] {
        self.module.operand_group(self.id, at.position(&self.def.schema))
    }

    /// The value of a declared operand, if it is there.
    pub fn operand(&self, at: impl OperandAt) -> Option<ValueId> {
        self.operands(at).first().copied()
    }

    /// The operands that it writes, or that it reads and writes, in their order.
    pub fn written(&self) -> impl Iterator<Item = ValueId> + use<'a> {
        self.touched(Touch::writes)
    }

    /// The operands that it reads, or that it reads and writes, in their order.
    pub fn read(&self) -> impl Iterator<Item = ValueId> + use<'a> {
        self.touched(Touch::reads)
    }

    fn touched(&self, how: fn(Touch) -> bool) -> impl Iterator<Item = ValueId> + use<'a> {
        let (module, id, specs) = (self.module, self.id, self.def.schema.operands);
        let at = (0..specs.len()).filter(move |at| how(specs[*at].touch));
        at.flat_map(move |at| module.operand_group(id, at)).copied()
    }

    /// The value of the operand of this name, where the op declares one and it is there.
    pub fn if_declared(&self, name: &str) -> Option<ValueId> {
        self.operand(self.def.schema.operands.iter().position(|spec| spec.name == name)?)
    }

    /// Result `index`. Declared results that are not variadic are always there.
    pub fn result(&self, index: usize) -> ValueId {
        self.module.op(self.id).results[index]
    }

    /// Type of a declared operand, if it is there.
    pub fn ty(&self, at: impl OperandAt) -> Option<&'a Type> {
        self.operand(at).map(|v| self.module.ty(v))
    }

    /// Tile type of a declared operand.
    pub fn tile(&self, at: impl OperandAt) -> Option<&'a TileType> {
        self.ty(at).and_then(Type::as_tile)
    }

    /// The memory that an operand lies in, or is a window or an address of.
    pub fn space(&self, at: impl OperandAt) -> Option<Space> {
        self.ty(at)?.space()
    }

    /// An attribute.
    pub fn attr(&self, name: &str) -> Option<&'a Attr> {
        self.module.op(self.id).attrs.get(name)
    }

    /// An integer attribute.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.attr(name).and_then(Attr::as_int)
    }

    /// A string, symbol or enumeration member.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.attr(name).and_then(Attr::as_str)
    }

    /// Whether an attribute is there and true.
    pub fn is_set(&self, name: &str) -> bool {
        matches!(self.attr(name), Some(Attr::Bool(true) | Attr::Unit))
    }

    /// True if it uses the reserved bytes at the end of UB on this platform.
    pub fn in_library_memory(&self, platform: &Platform) -> bool {
        !platform.can(Capability::RegisterScratch) && (self.def.library_memory)(self)
    }

    /// The kind of atomic update that it performs on memory, if any.
    pub fn update(&self) -> Option<UpdateKind> {
        (self.def.update)(self)
    }

    /// First value, end and step of the counter of its region, if it counts over a range.
    pub fn range(&self) -> Option<[ValueId; 3]> {
        let Some(Counter::Range([first, end, step])) = self.def.counter else { return None };
        Some([self.operand(first)?, self.operand(end)?, self.operand(step)?])
    }

    /// The window that its result is, if any.
    pub fn window(&self) -> Option<WindowOf<'a>> {
        let source = self.def.window.then(|| self.operand("source"))??;
        Some(WindowOf { source, offsets: self.operands("offsets"), sizes: self.operands("sizes") })
    }

    /// The synchronisation that it performs, if any.
    pub fn sync(&self) -> Option<SyncAct> {
        (self.def.sync)(self)
    }

    /// The pipe that the op occupies on a platform.
    pub fn pipe(&self, platform: &Platform) -> Option<Pipe> {
        match self.def.pipe {
            PipeRule::None => None,
            PipeRule::Fixed(pipe) => Some(pipe),
            PipeRule::By(rule) => Some(rule(self, platform)),
        }
    }

    /// An error at this op.
    pub fn error(&self, kind: impl Into<Kind>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(kind, self.span(), message)
    }

    /// A warning that the behaviour of this op depends on a question on which sources disagree.
    pub fn disagreement(&self, question: &Question) -> Diagnostic {
        let message = question.message(self.def.schema.name);
        let warning = Diagnostic::warning("sources-disagree", self.span(), message);
        question.notes().into_iter().fold(warning, Diagnostic::note).help(question.hint())
    }
}

/// Whether and where a tile library writes the working memory of an op.
#[derive(Clone, Copy)]
pub enum WorkingUse {
    /// It accepts the tile but does not use it.
    Nothing,
    /// These bytes.
    Spans(WorkingSpans),
    /// The spans of the first of these forms that the op has.
    Forms(&'static [WorkingForm]),
}

/// The working memory that one form of an op writes.
#[derive(Clone, Copy)]
pub struct WorkingForm {
    /// Whether the op has this form.
    pub when: fn(&OpRef<'_>) -> bool,
    /// The spans that are written then.
    pub spans: WorkingSpans,
}

/// The part of the working memory of an op that the tile libraries write.
#[derive(Clone, Copy)]
pub struct WorkingMemory {
    /// On a vector unit that works on memory (A2/A3).
    pub memory: WorkingUse,
    /// On a vector unit that works on registers (A5).
    pub registers: WorkingUse,
}

impl std::fmt::Debug for WorkingMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let uses = |of: WorkingUse| !matches!(of, WorkingUse::Nothing);
        write!(f, "WorkingMemory {{ memory: {}, registers: {} }}", uses(self.memory), uses(self.registers))
    }
}

impl WorkingMemory {
    /// No library uses any.
    pub const NOTHING: WorkingMemory = WorkingMemory { memory: WorkingUse::Nothing, registers: WorkingUse::Nothing };

    /// Units that work on memory use these bytes, other units none.
    pub const fn of_memory(spans: WorkingSpans) -> WorkingMemory {
        WorkingMemory { memory: WorkingUse::Spans(spans), registers: WorkingUse::Nothing }
    }
}
