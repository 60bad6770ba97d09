//! State of a function during the lowering of its body: knowledge, names, and reports.

use std::collections::BTreeSet;
use std::rc::Rc;

use slipring_ir::{Diagnostic, Diags, Kind, Reported, Span};
use slipring_op::OpDef;
use slipring_tile::Elem;

use super::state::{CarryState, Facts, NameState, OpenState, Outcome, ReportState, TensorState, TileState, report_key};
use crate::dtype::DType;
use crate::emit::Emitter;
use crate::globals::Globals;
use crate::jumps::quoted;
use crate::params::Given;
use crate::value::{Const, Unknown, Value, show, split_name};

/// The maximum number of errors that are reported for a file.
const MOST_ERRORS: usize = 1000;

/// A value, or an error that has been reported.
pub(crate) type Lowered<T = Value> = Result<T, Reported>;

/// A function during the lowering of its body.
pub(crate) struct Lower<'a> {
    pub e: &'a mut Emitter,
    pub diags: &'a mut Diags,
    pub globals: &'a Globals<'a>,
    pub words: &'static dyn Words,
    /// The current values of names.
    pub names: NameState,
    /// Tensors in global memory, and knowledge about their windows.
    pub tensors: TensorState,
    /// Tiles, and the history of their memory.
    pub held: TileState,
    /// Constructs that are open around the current statement.
    pub open: OpenState,
    /// How loops carry names.
    pub carry: CarryState,
    /// The results of the kernel.
    pub outcome: Outcome,
    /// Errors that were reported.
    pub reports: ReportState,
    /// True while arguments of `pl.static_print` are evaluated.
    pub saying: bool,
    /// The tile type from the annotation of the current call's target.
    pub expected: Option<(Vec<u64>, Elem)>,
    /// The function's name, if its parameters need not declare how it accesses them.
    pub opaque: Option<Rc<str>>,
    /// Facts about the function that its body declares.
    pub facts: Facts,
}

/// The builtins that kernels call, as an interface for the lowering. The catalogue depends on the lowering, because
/// each of its ops defines how it is lowered.
pub(crate) trait Words {
    /// Lowers a call of a builtin. `place` is that of its name.
    fn call(&self, lower: &mut Lower<'_>, path: &str, place: Span, given: Given, span: Span) -> Lowered;
    /// True if there is a builtin with this name.
    fn knows(&self, name: &str) -> bool;
    /// The op that a builtin with this name becomes, whatever its arguments.
    fn op(&self, name: &str) -> Option<&'static OpDef>;
    /// True if it makes an end of a pipe.
    fn makes_end(&self, name: &str) -> bool;
    /// The builtin for a method of a tile or tensor: `x.cast(…)` is `pl.cast(x, …)`.
    fn method<'n>(&self, name: &'n str) -> Option<&'n str>;
    /// A replacement for a name that other tile languages have, and this one does not.
    fn instead_of(&self, name: &str) -> Option<String>;
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
    /// Reports an error once: a body that is lowered several times has the same error each time.
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

    /// Forgets all reports but the first `kept`.
    pub fn forget_reports(&mut self, kept: usize) {
        if self.diags.list.len() > kept {
            self.diags.list.truncate(kept);
            self.reports.reported = self.diags.list.iter().map(report_key).collect();
            self.reports.stopped = self.reports.reported.len() >= MOST_ERRORS;
        }
    }

    /// Reports the first error with a code, and no others.
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

    /// Lowers a recursive construct, with a limit on the depth.
    pub fn deeper<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        /// Far more than in any real text: functions may call each other.
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

    /// The value of a name.
    pub fn lookup(&mut self, name: &str, span: Span) -> Lowered {
        if self.names.poisoned.contains(name) {
            return Err(Reported);
        }
        let global = || self.globals.get(name).filter(|_| !self.names.lost.contains_key(name));
        match self.names.env.get(name).cloned().or_else(global) {
            // A builtin that was imported by name.
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
        let mut error = Diagnostic::error("undefined-name", span, format!("{} is not defined", quoted(name)));
        if let Some((place, why)) = self.names.lost.get(name) {
            error = error
                .also(*place, *why)
                .help(format!("bind {} before, so that it has a value on every path", quoted(name)));
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

    /// Reports a use of a value that host code computes in a way that is not followed.
    pub fn not_known(&mut self, name: &str, why: &Unknown, span: Span) -> Reported {
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

    /// Like [`Lower::not_known`], for a part of a list or dict, which is named by its text.
    pub fn part_not_known(&mut self, why: &Unknown, span: Span) -> Reported {
        let written = self.e.module.source.text.get(span.start as usize..span.end as usize);
        let name = written
            .map_or_else(|| "this part".to_string(), |text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        self.not_known(&name, why, span)
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

    /// Sets the value of a name.
    pub fn set(&mut self, name: &str, value: Value) {
        self.names.poisoned.remove(name);
        self.names.lost.shift_remove(name);
        self.names.env.insert(name.into(), value);
    }

    /// Unbinds a name, because its value is known on some paths only.
    pub fn lose(&mut self, name: &str, place: Span, why: &'static str) {
        self.names.env.shift_remove(name);
        self.names.lost.insert(name.into(), (place, why));
    }

    /// True if a name is read after the current statement before it is bound again: decided by the innermost body that
    /// does either.
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

    /// Adds names that are read after the next body: by the next iteration, or by the code after a call.
    pub(super) fn read_behind(&mut self, names: BTreeSet<Rc<str>>) {
        self.open.read_later.push((self.open.bodies.len(), names));
    }
}

/// Adds the help for a whole float where an integer is wanted.
pub(super) fn with_integer_help(error: Diagnostic, value: &Value) -> Diagnostic {
    match value {
        Value::Const(Const::Float(x)) if x.fract() == 0.0 => {
            error.help("a quotient of `/` is a float: `//` gives an integer")
        }
        _ => error,
    }
}

/// The description of a value in messages.
pub(crate) fn describe(lower: &Lower<'_>, value: &Value) -> String {
    match value {
        Value::Const(Const::Int(n)) => format!("the number {n}"),
        Value::Const(Const::Float(x)) => format!("the number {}", crate::text::python_text(&Const::Float(*x))),
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
