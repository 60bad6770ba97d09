//! A kernel's body, statement by statement.
//!
//! Python rebinds names; the module has buffers. An expression that makes a tile makes a new buffer, so that names may be
//! bound anew at will. What a loop carries ([`carry`]) and what both arms of a branch make ([`branch`]) is put into one
//! buffer. A tile is moved to the memory where it is needed when it is needed ([`place`]).

mod ahead;
mod arith;
mod arrays;
mod assume;
mod attempt;
mod bounds;
mod branch;
mod buffers;
mod carry;
mod changed;
mod choice;
mod claims;
mod control;
mod copies;
mod dicts;
mod exchange;
mod expr;
mod extents;
mod fresh;
mod function;
mod further;
mod items;
mod iterations;
mod lists;
pub(crate) mod masks;
mod names;
pub(crate) mod on_tiles;
mod outputs;
pub(crate) mod pipes;
mod place;
mod places;
mod region;
mod scope;
pub(crate) mod signature;
mod split;
mod state;
mod stmt;
mod tails;
mod tiles;
mod unknown;
mod window;
mod word;
mod yields;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ruff_python_ast::Stmt;
use slipring_ir::{BlockId, Diagnostic, Diags, Dim, Kind, OpId, Span, ValueId};
use slipring_machine::CoreKind;
use slipring_tile::{Elem, Space};
use smallvec::SmallVec;

use crate::compiled::Direction;
use crate::dtype::DType;
use crate::emit::Emitter;
use crate::globals::Globals;
use crate::params::Given;
pub(crate) use crate::value::whole;
use crate::value::{Const, PipeEnd, Split, Value, split_name};

pub(crate) use crate::dtype::scalar_type as scalar_type_of;
pub(crate) use ahead::lower_ahead;
pub(crate) use buffers::Buffers;
pub(crate) use control::PlanKey;
pub(crate) use expr::{is_least, word};
pub(crate) use function::lower_function;
pub(crate) use names::read_names;
pub(crate) use place::Place;
pub(crate) use region::{Left, RegionKind, RegionParam, lower_region, wanted_names};
pub(crate) use slipring_ir::Reported;
use state::{CarryState, NameState, OpenState, Outcome, ReportState, TensorState, TileState};
pub(crate) use yields::Frame;

/// The most errors that are reported of a file.
const MOST_ERRORS: usize = 1000;

pub(crate) use carry::CarryPlan;

/// A value, or an error that has been reported.
pub(crate) type Lowered<T = Value> = Result<T, Reported>;

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
    /// Where each block would need one of its own: it stands for nothing but a tile.
    pub for_each_block: Option<Span>,
    /// Whose part of the memory of all devices it is.
    pub domain: Option<crate::value::Domain>,
    /// The position of the tensor that it is a view of.
    pub of: Option<usize>,
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

/// A function while its body is lowered.
pub(crate) struct Lower<'a> {
    pub e: &'a mut Emitter,
    pub diags: &'a mut Diags,
    pub globals: &'a Globals<'a>,
    pub words: &'static dyn Words,
    /// What names stand for where the lowering is.
    pub names: NameState,
    /// Tensors in global memory, and what is known of their windows.
    pub tensors: TensorState,
    /// Tiles, and what became of their memory.
    pub held: TileState,
    /// What is open around the statement that is being lowered.
    pub open: OpenState,
    /// How loops carry names.
    pub carry: CarryState,
    /// What the kernel returns.
    pub outcome: Outcome,
    /// Which errors were reported.
    pub reports: ReportState,
    /// True while arguments of `pl.static_print` are evaluated.
    pub saying: bool,
    /// The type of tile that an annotation says the call that is being lowered gives.
    pub expected: Option<(Vec<u64>, Elem)>,
    /// The function's name, where its parameters need not say what it does with them.
    pub opaque: Option<Rc<str>>,
    /// Facts of the function that its body declares.
    pub facts: Facts,
}

/// The words that kernels call, as the lowering asks for them. The catalogue stands above the lowering: each of its ops says how it is
/// lowered.
pub(crate) trait Words {
    /// Lowers a call of a word. `place` is that of its name.
    fn call(&self, lower: &mut Lower<'_>, path: &str, place: Span, given: Given, span: Span) -> Lowered;
    /// Whether there is a word of this name.
    fn knows(&self, name: &str) -> bool;
    /// Whether it makes an end of a pipe.
    fn makes_end(&self, name: &str) -> bool;
    /// The word that a method of a tile or tensor is: `x.cast(…)` is `pl.cast(x, …)`.
    fn method<'n>(&self, name: &'n str) -> Option<&'n str>;
    /// What to write for a name that other languages of tiles have, and this one has not.
    fn instead_of(&self, name: &str) -> Option<String>;
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

impl<'a> Lower<'a> {
    /// An empty function.
    pub fn new(
        e: &'a mut Emitter,
        (globals, words): (&'a Globals<'a>, &'static dyn Words),
        diags: &'a mut Diags,
    ) -> Lower<'a> {
        let reported: BTreeSet<_> = diags.list.iter().map(report_key).collect();
        let stopped = reported.len() >= MOST_ERRORS;
        Lower {
            e,
            diags,
            globals,
            words,
            names: NameState::default(),
            tensors: TensorState::default(),
            held: TileState::default(),
            open: OpenState::default(),
            carry: CarryState::default(),
            outcome: Outcome::default(),
            reports: ReportState { reported, stopped },
            saying: false,
            expected: None,
            opaque: None,
            facts: Facts::default(),
        }
    }
}

impl Lower<'_> {
    /// Reports an error, once: a body that is lowered several times has the same error each time.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let place = diagnostic.primary.as_ref().map_or(Span::default(), |label| label.span);
        let is_error = diagnostic.severity == slipring_ir::Severity::Error;
        if self.reports.stopped || !self.reports.reported.insert(report_key(&diagnostic)) {
            return Reported;
        }
        self.diags.push(diagnostic);
        if is_error && self.reports.reported.len() >= MOST_ERRORS {
            let message = format!("more than {MOST_ERRORS} errors: the rest is not looked at");
            self.diags.push(Diagnostic::error("too-many", place, message));
            self.reports.stopped = true;
        }
        Reported
    }

    /// Forgets the reports after the first so many.
    pub fn forget_reports(&mut self, kept: usize) {
        if self.diags.list.len() > kept {
            self.diags.list.truncate(kept);
            self.reports.reported = self.diags.list.iter().map(report_key).collect();
            self.reports.stopped = self.reports.reported.len() >= MOST_ERRORS;
        }
    }

    /// Reports an error of a code once, wherever it comes first.
    pub fn report_once(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.diags.list.iter().any(|d| d.kind.is_like(&diagnostic.kind)) {
            Reported
        } else {
            self.report(diagnostic)
        }
    }

    /// Reports an error at a place.
    pub fn error(&mut self, kind: impl Into<Kind>, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(kind, span, message))
    }

    /// Lowers something that may stand in itself.
    pub fn deeper<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        /// Far more than a text has: functions may call each other.
        const MOST_DEPTH: usize = 400;
        if self.open.depth >= MOST_DEPTH {
            return Err(self.error("nesting", span, "calls and expressions are nested too deeply"));
        }
        self.open.depth += 1;
        let result = work(self);
        self.open.depth -= 1;
        result
    }

    /// Reports that a part of the language is known but not lowered.
    pub fn unsupported(&mut self, span: Span, what: impl std::fmt::Display) -> Reported {
        self.error(slipring_ir::Kind::Unsupported, span, format!("{what} cannot be compiled yet"))
    }

    // ---- names ----

    /// What a name stands for.
    pub fn lookup(&mut self, name: &str, span: Span) -> Lowered {
        if self.names.poisoned.contains(name) {
            return Err(Reported);
        }
        let global = || self.globals.get(name).filter(|_| !self.names.lost.contains_key(name));
        match self.names.env.get(name).cloned().or_else(global) {
            // A name of the language that was imported by itself.
            Some(Value::Path(path)) => match path.split_once('.') {
                Some(("pl", member)) if !member.contains('.') => {
                    return self.attribute(Value::Path("pl".into()), member, span);
                }
                _ => return Ok(Value::Path(path)),
            },
            Some(Value::Unknown(why)) => return Err(self.not_known(name, &why, span)),
            Some(value) => return Ok(value),
            None => {}
        }
        if crate::words::BARE.contains(&name) {
            return Ok(Value::Path(format!("pl.{name}").into()));
        }
        let mut error =
            Diagnostic::error("undefined-name", span, format!("{} is not defined", crate::jumps::quoted(name)));
        if let Some((place, why)) = self.names.lost.get(name) {
            error = error
                .also(*place, *why)
                .help(format!("bind {} before, so that it has a value on every path", crate::jumps::quoted(name)));
        } else if self.globals.host.contains(name) {
            error = error.help("it is a function of the host: give it `@pl.inline` to call it in a kernel");
        } else if name == "map" {
            error = error.help("`for item in items:` goes through a list of constants");
        } else {
            let known = self.names.env.keys().map(|k| &**k).chain(self.globals.names());
            if let Some(near) = slipring_ir::text::nearest(name, known) {
                error = error.help(format!("did you mean `{near}`?"));
            }
        }
        Err(self.report(error))
    }

    /// Reports a use of what the host code computes in a way that is not followed.
    pub fn not_known(&mut self, name: &str, why: &crate::value::Unknown, span: Span) -> Reported {
        let message = format!("`{name}` is not known when the kernel is compiled: it comes from {}", why.why);
        let mut error = Diagnostic::error("not-constant", span, message);
        if why.span != Span::default() {
            error = error.also(why.span, "it comes from here");
        }
        if !matches!(why.is, crate::value::Strange::Parameter) {
            error = error.help(
                "write the number itself, pass it as an argument of the kernel, or give the name a value with `--set name=…`; Python itself runs the file's own code by `python -m slipring COMMAND FILE`",
            );
        }
        self.report(error)
    }

    /// Binds a name.
    pub fn bind(&mut self, name: &str, value: Value) {
        match &value {
            Value::Tile(id) => {
                let value = self.tile(*id).value;
                self.e.name(value, name);
            }
            Value::Scalar(scalar) => self.e.name(scalar.value, name),
            _ => {}
        }
        self.set(name, value);
    }

    /// Lets a name stand for a value.
    pub fn set(&mut self, name: &str, value: Value) {
        self.names.poisoned.remove(name);
        self.names.lost.shift_remove(name);
        self.names.env.insert(name.into(), value);
    }

    /// Lets a name stand for nothing, because its value is known on some paths only.
    pub fn lose(&mut self, name: &str, place: Span, why: &'static str) {
        self.names.env.shift_remove(name);
        self.names.lost.insert(name.into(), (place, why));
    }

    /// True if a name is read after the statement that is being lowered, before it is bound again: in the innermost body that
    /// says either, from there outwards.
    pub fn is_read_later(&self, name: &str) -> bool {
        let mut readers = self.open.read_later.iter().rev().peekable();
        for depth in (0..=self.open.bodies.len()).rev() {
            while let Some((_, names)) = readers.next_if(|(outside, _)| *outside >= depth) {
                if names.contains(name) {
                    return true;
                }
            }
            let body = depth.checked_sub(1).and_then(|at| self.open.bodies.get(at));
            if let Some(read) = body.and_then(|body| body.next_use(name)) {
                return read;
            }
        }
        false
    }

    /// Adds names that are read after the body that is opened next: by the next iteration, or by what follows a call.
    pub(super) fn read_behind(&mut self, names: BTreeSet<Rc<str>>) {
        self.open.read_later.push((self.open.bodies.len(), names));
    }
}

/// What makes two reports the same.
fn report_key(diagnostic: &Diagnostic) -> ReportKey {
    let place = diagnostic.primary.as_ref().map_or(Span::default(), |label| label.span);
    (diagnostic.code, place, diagnostic.message.clone())
}

type ReportKey = (&'static str, Span, String);

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
            let names = names::Names::of(std::slice::from_ref(stmt));
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
    fn next_use(&self, name: &str) -> Option<bool> {
        let uses = self.uses.get(name)?;
        uses.get(uses.partition_point(|(at, _)| *at <= self.now)).map(|(_, read)| *read)
    }
}

/// Extents of a folded shape: rows and columns.
pub(crate) fn fold(shape: &[u64]) -> (u64, u64) {
    match shape.split_last() {
        Some((cols, rows)) => (rows.iter().product(), *cols),
        None => (1, 1),
    }
}

/// A shape as people write it.
pub(crate) fn show(shape: &[u64]) -> String {
    let parts: Vec<_> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", parts.join(", "))
}

/// A valid shape that is known.
pub(crate) fn valid(rows: u64, cols: u64) -> [Dim; 2] {
    [Dim::Static(rows), Dim::Static(cols)]
}

/// How messages call a value.
pub(crate) fn describe(lower: &Lower<'_>, value: &Value) -> String {
    match value {
        Value::Const(Const::Int(n)) => format!("the number {n}"),
        Value::Const(Const::Float(x)) => format!("the number {x}"),
        Value::Const(Const::Str(s)) => format!("the string \"{s}\""),
        Value::Const(Const::None) => "None".into(),
        Value::Const(Const::Bool(b)) => format!("the constant {b}"),
        Value::Const(Const::DType(ty)) => format!("the type {}", ty.name()),
        Value::Const(Const::Space(space)) => format!("the memory space {space}"),
        Value::Const(Const::Split(mode)) => format!("SplitMode.{}", split_name(*mode)),
        Value::Const(Const::Member(kind, name)) => format!("{kind}.{name}"),
        Value::Scalar(scalar) => format!("a scalar of type {}", scalar.ty.name()),
        Value::Tensor(tensor) => {
            format!("a tensor {} {}", show(&tensor.shape()), DType::Elem(tensor.elem).name())
        }
        Value::Tile(id) => {
            let tile = lower.tile(*id);
            format!("a tile {} {} in {}", show(&tile.shape), DType::Elem(tile.ty.layout.elem).name(), tile.ty.space)
        }
        Value::Parts(parts) => format!("a list {} of matrices", show(&parts.shape)),
        Value::Tuple(items) if items.len() == 1 => "a list of one value".into(),
        Value::Tuple(items) => format!("a list of {} values", items.len()),
        Value::Buffer(_) => "a reserved buffer".into(),
        Value::Pipe(end) => format!("an end of pipe {}", end.id),
        Value::Path(path) => format!("`{path}`"),
        Value::Record(record) => record.what.to_string(),
        Value::Partial(partial) => format!("`functools.partial` of `{}`", partial.callee.trim_start_matches('@')),
        Value::Unknown(_) => "a value of the host code".into(),
        Value::Nothing => "nothing".into(),
    }
}
