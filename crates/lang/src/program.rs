//! What a file defines: names of the language, constants, kernels.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use ruff_python_ast::{Decorator, Expr, Stmt, StmtFunctionDef};
use slipring_ir::{Diagnostic, Diags, Source, Span};
use slipring_machine::CoreKind;

use crate::Compiled;
use crate::emit::Emitter;
use crate::lower::{Lower, Push, lower_function};
use crate::syntax::at;
use crate::value::{Const, Value};

/// Names of a file.
#[derive(Default)]
pub(crate) struct Globals<'a> {
    names: Scope,
    /// Functions by name.
    pub functions: IndexMap<Rc<str>, Function<'a>>,
    /// Functions without a decorator: host code, known for messages.
    pub host: HashSet<Rc<str>>,
    /// True after `from slipring.language import *`.
    star: bool,
    /// Functions that are being lowered or have been.
    pub started: RefCell<HashSet<Rc<str>>>,
    /// How often functions have been lowered ahead of their turn.
    tries: RefCell<HashMap<Rc<str>, u32>>,
    /// Functions that others call: they are parts of kernels.
    pub called: RefCell<HashSet<Rc<str>>>,
    /// What functions push into pipes, for pops that do not say what they expect.
    pub pushes: RefCell<Vec<Push>>,
    /// Memory for slots that functions reserve: function, name, bytes.
    reserved: RefCell<Vec<(Rc<str>, Rc<str>, i64)>>,
    /// Iterations that loops have been unrolled to.
    pub unrolled: Cell<u64>,
    /// Statements that have been lowered.
    pub lowered: Cell<u64>,
}

/// Names and what they stand for.
pub(crate) type Scope = IndexMap<Rc<str>, Value>;

/// A function of the file.
#[derive(Clone)]
pub(crate) struct Function<'a> {
    pub def: &'a StmtFunctionDef,
    role: Role,
    /// Constants of the function that it stands in.
    pub scope: Scope,
}

impl Globals<'_> {
    pub fn get(&self, name: &str) -> Option<Value> {
        let known = || self.star && (WORDS.contains(&name) || crate::ops::find(name).is_some());
        self.names.get(name).cloned().or_else(|| known().then(|| Value::Path(format!("pl.{name}").into())))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }

    /// Notes what a function reserves for slots.
    pub fn reserve(&self, function: &Rc<str>, name: &Rc<str>, bytes: i64) {
        self.reserved.borrow_mut().push((function.clone(), name.clone(), bytes));
    }

    /// Bytes that a function reserves for slots under a name.
    pub fn reserved(&self, function: &str, name: &str) -> Option<i64> {
        let reserved = self.reserved.borrow();
        reserved.iter().rev().find(|(f, n, _)| **f == *function && **n == *name).map(|(.., bytes)| *bytes)
    }

    fn bind(&mut self, name: &str, value: Value) {
        self.names.insert(name.into(), value);
    }
}

/// Functions of Python that kernels may use.
const BUILTINS: [&str; 7] = ["min", "max", "len", "int", "float", "range", "abs"];

/// Modules that are the language.
const LANGUAGES: [&str; 2] = ["slipring.language", "pypto.language"];

/// Names of the language besides ops and types of elements, for `import *`.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "incore", "jit", "kernel", "function", "inline", "program", "Tensor", "Tile", "Scalar", "Out", "InOut", "range", "unroll",
    "parallel", "pipeline", "split_aiv", "spmd", "at", "cluster", "split", "cross_core_slot", "SplitMode", "Mem", "MemorySpace",
    "Level", "PadValue", "FunctionType", "TileLayout", "TensorLayout", "AtomicType", "AUTO", "yield_", "cond", "const",
    "static_assert", "static_print", "FP32", "FP16", "BF16", "BFLOAT16", "FP8E4M3FN", "FP8E5M2", "FP8E8M0", "HF8", "INT8", "INT16",
    "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "INDEX", "BOOL", "dynamic",
];

/// What a function of the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// A kernel, perhaps for one kind of core.
    Kernel(Option<CoreKind>),
    /// Copied into the kernels that call it.
    Inline,
    /// Not for a core: host code.
    Other,
}

pub(crate) fn compile(source: Arc<Source>, body: &[Stmt], diags: &mut Diags) -> Compiled {
    let mut globals = Globals::default();
    for (name, mask) in [("DIR_C2V", 1), ("DIR_V2C", 2), ("DIR_BOTH", 3)] {
        globals.bind(name, Value::Const(Const::Int(mask)));
    }
    for name in BUILTINS {
        globals.bind(name, Value::Path(name.into()));
    }
    Collector { source: source.clone(), diags }.statements(body, &mut globals, None);
    let mut emitter = Emitter::new(source.clone());
    let mut kernels = Vec::new();
    let mut found = Vec::new();
    for (name, function) in &globals.functions {
        if let Role::Kernel(kind) = function.role {
            globals.started.borrow_mut().insert(name.clone());
            let lowered = lower_function(&mut emitter, &globals, function, kind, diags);
            match lowered {
                Ok((op, info)) => {
                    crate::whole::check_values(&emitter.module, op, diags);
                    found.push((name, op));
                    kernels.push(info);
                }
                Err(_) => crate::whole::given_up(name, at(&function.def.name), diags),
            }
        }
    }
    if found.is_empty() && !diags.has_errors() {
        let span = Span::new(0, source.text.lines().next().map_or(0, |l| l.len() as u32));
        diags.push(
            Diagnostic::error("no-kernel", span, "the file has no kernel")
                .help("a kernel is a function with a decorator: `@pl.incore`, `@pl.jit` or `@pl.function(…)`"),
        );
    }
    // What a kernel calls is a part of it and no kernel, unless they call each other, which was reported.
    let called = globals.called.borrow();
    for (name, op) in &found {
        if called.contains(*name) {
            emitter.module.remove(*op);
        }
    }
    found.retain(|(name, _)| !called.contains(*name));
    kernels.retain(|info| !called.contains(info.name.as_str()));
    if let [(_, only)] = found[..] {
        slipring_dialects::function::mark_entry(&mut emitter.module, only);
    }
    Compiled { module: emitter.module, kernels }
}

/// Lowers the functions that nobody has begun to lower, to learn what they push and reserve. Whatever is wrong with them is
/// reported when their turn comes. One that fails may have asked for what the function that is being lowered has not said yet: it
/// is tried again, a few times.
pub(crate) fn lower_ahead(source: &Arc<Source>, globals: &Globals<'_>) {
    const TRIES: u32 = 4;
    for (name, function) in &globals.functions {
        let tries = globals.tries.borrow().get(name).copied().unwrap_or(0);
        if let Role::Kernel(kind) = function.role
            && tries < TRIES
            && globals.started.borrow_mut().insert(name.clone())
        {
            globals.tries.borrow_mut().insert(name.clone(), tries + 1);
            let (unrolled, statements) = (globals.unrolled.get(), globals.lowered.get());
            let (mut emitter, mut diags) = (Emitter::new(source.clone()), Diags::default());
            if lower_function(&mut emitter, globals, function, kind, &mut diags).is_err() {
                globals.started.borrow_mut().remove(name);
            }
            globals.unrolled.set(unrolled);
            globals.lowered.set(statements);
        }
    }
}

/// Finds names and functions.
struct Collector<'d> {
    source: Arc<Source>,
    diags: &'d mut Diags,
}

impl Collector<'_> {
    /// Names and functions of a list of statements. `inside` are the constants of the function that they stand in.
    fn statements<'a>(&mut self, body: &'a [Stmt], globals: &mut Globals<'a>, mut inside: Option<&mut Scope>) {
        for stmt in body {
            match stmt {
                Stmt::Import(import) => {
                    for alias in &import.names {
                        // `import slipring.language` alone binds `slipring`.
                        if let (Some(path), Some(name)) = (language(alias.name.as_str()), &alias.asname) {
                            globals.bind(name.as_str(), Value::Path(path.into()));
                        }
                    }
                }
                Stmt::ImportFrom(import) => {
                    let module = import.module.as_ref().map_or("", |m| m.as_str());
                    for alias in &import.names {
                        let (name, bound) = (alias.name.as_str(), alias.asname.as_ref().unwrap_or(&alias.name));
                        if name == "*" {
                            globals.star |= LANGUAGES.contains(&module);
                            continue;
                        }
                        let full = format!("{module}.{name}");
                        let path = match language(&full) {
                            Some(path) => path.to_string(),
                            None if LANGUAGES.contains(&module) => format!("pl.{name}"),
                            None => continue,
                        };
                        globals.bind(bound.as_str(), Value::Path(path.into()));
                    }
                }
                Stmt::Assign(assign) => {
                    let value = self.constant(&assign.value, globals, inside.as_deref());
                    for target in &assign.targets {
                        define(target, value.clone(), globals, inside.as_deref_mut());
                    }
                }
                Stmt::AnnAssign(assign) => {
                    if let Some(value) = &assign.value {
                        let value = self.constant(value, globals, inside.as_deref());
                        define(&assign.target, value, globals, inside.as_deref_mut());
                    }
                }
                Stmt::FunctionDef(function) => self.function(function, globals, inside.as_deref()),
                Stmt::ClassDef(class) => {
                    let is_program = |d: &Decorator| path_of(globals, &d.expression).as_deref() == Some("pl.program");
                    if class.decorator_list.iter().any(is_program) {
                        self.statements(&class.body, globals, inside.as_deref_mut());
                    }
                }
                _ => {}
            }
        }
    }

    fn function<'a>(&mut self, def: &'a StmtFunctionDef, globals: &mut Globals<'a>, inside: Option<&Scope>) {
        let (role, name): (_, Rc<str>) = (role(globals, def, self.diags), def.name.as_str().into());
        let mut scope = inside.cloned().unwrap_or_default();
        if role == Role::Other {
            // A function that makes kernels: they see its constants.
            for parameter in def.parameters.iter_non_variadic_params() {
                if let Some(default) = &parameter.default {
                    let name = parameter.parameter.name.as_str();
                    let value = self.constant(default, globals, Some(&scope));
                    bind(name, value, globals, Some(&mut scope));
                }
            }
            globals.host.insert(name);
            return self.statements(&def.body, globals, Some(&mut scope));
        }
        if let Some(first) = globals.functions.get(&name) {
            let error = Diagnostic::error("duplicate", at(&def.name), format!("a second function `{name}`"))
                .also(at(&first.def.name), "the first one")
                .help("kernels of a file have names of their own");
            self.diags.push(error);
            return;
        }
        globals.bind(&name, Value::Path(format!("@{name}").into()));
        globals.functions.insert(name, Function { def, role, scope });
    }

    /// The value of an expression that is made of constants; others are host code.
    fn constant(&self, expr: &Expr, globals: &Globals<'_>, inside: Option<&Scope>) -> Option<Value> {
        if expr.is_call_expr() && path_of(globals, expr).as_deref() == Some("pl.dynamic") {
            // Refused where it is used.
            return Some(Value::Path("pl.dynamic".into()));
        }
        let (mut emitter, mut diags) = (Emitter::new(self.source.clone()), Diags::default());
        let mut lower = Lower::new(&mut emitter, globals, &mut diags);
        if let Some(scope) = inside {
            lower.env = scope.clone();
        }
        let constant = |value: &Value| matches!(value, Value::Const(_) | Value::Path(_));
        match lower.expr(expr) {
            Ok(Value::Tuple(items)) if items.iter().all(constant) => Some(Value::Tuple(items)),
            Ok(value) if constant(&value) => Some(value),
            _ => None,
        }
    }
}

/// Binds the names of a target: one, or several (`ROWS, COLS = 64, 128`).
fn define(target: &Expr, value: Option<Value>, globals: &mut Globals<'_>, mut inside: Option<&mut Scope>) {
    match (target, value) {
        (Expr::Name(name), value) => bind(name.id.as_str(), value, globals, inside),
        (Expr::Tuple(targets), value) => {
            let mut items = match value {
                Some(Value::Tuple(items)) if items.len() == targets.elts.len() => items,
                _ => Vec::new(),
            }
            .into_iter();
            targets.elts.iter().for_each(|target| define(target, items.next(), globals, inside.as_deref_mut()));
        }
        _ => {}
    }
}

/// Binds a name. Without a value it stands for nothing.
fn bind(name: &str, value: Option<Value>, globals: &mut Globals<'_>, inside: Option<&mut Scope>) {
    match (inside, value) {
        (Some(scope), Some(value)) => drop(scope.insert(name.into(), value)),
        (Some(scope), None) => drop(scope.shift_remove(name)),
        (None, Some(value)) => globals.bind(name, value),
        (None, None) => drop(globals.names.shift_remove(name)),
    }
}

/// The language's own name for a module that is a part of it.
fn language(module: &str) -> Option<&'static str> {
    match module.split_once(".language") {
        Some(("slipring" | "pypto", "")) => Some("pl"),
        Some(("slipring" | "pypto", ".distributed")) => Some("pld"),
        _ => None,
    }
}

/// The full name of `pl.a.b`.
pub(crate) fn path_of(globals: &Globals<'_>, expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => match globals.get(name.id.as_str())? {
            Value::Path(path) => Some(path.to_string()),
            _ => None,
        },
        Expr::Attribute(attribute) => Some(format!("{}.{}", path_of(globals, &attribute.value)?, attribute.attr)),
        Expr::Call(call) => path_of(globals, &call.func),
        _ => None,
    }
}

fn role(globals: &Globals<'_>, function: &StmtFunctionDef, diags: &mut Diags) -> Role {
    let mut role = Role::Other;
    for decorator in &function.decorator_list {
        let Some(path) = path_of(globals, &decorator.expression) else { continue };
        match path.as_str() {
            "pl.incore" | "pl.jit" | "pl.jit.incore" | "pl.kernel" | "pl.jit.opaque" => role = Role::Kernel(None),
            "pl.inline" | "pl.jit.inline" => role = Role::Inline,
            "pl.function" => role = function_type(globals, decorator, diags),
            "pl.jit.host" | "pl.program" => {}
            other if other.starts_with("pl.") => {
                let message = format!("`{other}` is no decorator of a function");
                diags.push(
                    Diagnostic::error("decorator", at(decorator), message)
                        .help("a kernel has `@pl.incore` or `@pl.jit`"),
                );
            }
            _ => {}
        }
    }
    role
}

/// `@pl.function(type=pl.FunctionType.InCore)`.
fn function_type(globals: &Globals<'_>, decorator: &Decorator, diags: &mut Diags) -> Role {
    let Expr::Call(call) = &decorator.expression else { return Role::Kernel(None) };
    let ty = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|n| n.as_str() == "type"));
    let name = match ty.and_then(|k| path_of(globals, &k.value)) {
        None => return Role::Kernel(None),
        Some(path) => path.rsplit('.').next().unwrap_or("").to_string(),
    };
    match name.as_str() {
        "InCore" | "Opaque" => Role::Kernel(None),
        "AIC" => Role::Kernel(Some(CoreKind::Cube)),
        "AIV" => Role::Kernel(Some(CoreKind::Vector)),
        "Inline" => Role::Inline,
        "Orchestration" | "Group" | "Spmd" | "Graph" => {
            let message = format!("a function of type {name} starts kernels and is not run here");
            diags.push(
                Diagnostic::warning("host-function", at(decorator), message).help("run its kernels with `--func`"),
            );
            Role::Other
        }
        other => {
            diags.push(Diagnostic::error("decorator", at(decorator), format!("there is no function type `{other}`")));
            Role::Other
        }
    }
}
