//! What a file defines: names of the language, constants, kernels.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, StmtFunctionDef};
use slipring_ir::{Diagnostic, Diags, Kind, Severity, Source, Span};
use slipring_machine::CoreKind;

use crate::attrs::FunctionAttrs;
use crate::emit::Emitter;
use crate::host::{Host, HostValue, ModuleText};
use crate::lower::{Push, lower_function};
use crate::specialise::{Specialised, needs_arguments, others, specialise};
use crate::syntax::at;
use crate::value::{Const, Record, Value};
use crate::{Compiled, Request};

/// Names of a file.
#[derive(Default)]
pub(crate) struct Globals<'a> {
    names: Scope,
    /// Functions by name.
    pub functions: IndexMap<Rc<str>, Function<'a>>,
    /// Functions without a decorator: host code, known for messages.
    pub host: BTreeSet<Rc<str>>,
    /// True after `from slipring.language import *`.
    star: bool,
    /// Functions that are being lowered or have been.
    pub started: RefCell<BTreeSet<Rc<str>>>,
    /// How often functions have been lowered ahead of their turn.
    tries: RefCell<BTreeMap<Rc<str>, u32>>,
    /// Parameters that opaque functions write without saying so: function and name.
    written: RefCell<BTreeSet<(Rc<str>, Rc<str>)>>,
    /// Functions that others call: they are parts of kernels.
    pub called: RefCell<BTreeSet<Rc<str>>>,
    /// What functions push into pipes, for pops that do not say what they expect.
    pub pushes: RefCell<Vec<Push>>,
    /// Memory for slots that functions reserve: function, name, bytes.
    reserved: RefCell<Vec<Reservation>>,
    /// Iterations that loops have been unrolled to.
    pub unrolled: Cell<u64>,
    /// Statements that have been lowered.
    pub lowered: Cell<u64>,
    /// Clusters and Vector cores that the program runs on, where that was asked for.
    pub cores: [Cell<Option<u64>>; 2],
}

/// A function, the name of a reservation in it, and its bytes.
type Reservation = (Rc<str>, Rc<str>, i64);

/// Names and what they stand for.
pub(crate) type Scope = IndexMap<Rc<str>, Value>;

/// A function of the file.
#[derive(Clone)]
pub(crate) struct Function<'a> {
    /// Its full name: that of its class or function in front where the file has several of its name.
    pub name: Rc<str>,
    pub def: &'a StmtFunctionDef,
    pub role: Role,
    /// What it says of itself.
    pub attrs: FunctionAttrs,
    /// True for another one of the same text, made with other constants: only programs start it.
    pub again: bool,
    /// Names that it sees besides those of the file: of the function that it stands in, of its class as `self`.
    pub scope: Scope,
    /// The names of the functions of its class.
    class: Vec<(Rc<str>, Rc<str>)>,
}

impl Globals<'_> {
    pub fn get(&self, name: &str) -> Option<Value> {
        let known = || self.star && is_word(name);
        self.names.get(name).cloned().or_else(|| known().then(|| Value::Path(format!("pl.{name}").into())))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }

    /// Notes that an opaque function writes a parameter. False if that was known.
    pub fn writes(&self, function: &Rc<str>, parameter: &Rc<str>) -> bool {
        self.written.borrow_mut().insert((function.clone(), parameter.clone()))
    }

    /// Whether an opaque function writes a parameter without saying so.
    pub fn is_written(&self, function: &Rc<str>, parameter: &str) -> bool {
        self.written.borrow().iter().any(|(own, name)| own == function && **name == *parameter)
    }

    /// How many parameters an opaque function is known to write.
    pub fn written_in(&self, function: &Rc<str>) -> usize {
        self.written.borrow().iter().filter(|(own, _)| own == function).count()
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

    /// The full name of the function that a text within another function calls by a name.
    pub fn full_name(&self, name: &str, within: &str) -> Option<Rc<str>> {
        let class = self.functions.get(within).map_or(&[][..], |function| &function.class);
        let own = class.iter().find(|(short, _)| **short == *name).map(|(_, full)| full.clone());
        own.or_else(|| self.functions.get_key_value(name).map(|(name, _)| name.clone()))
    }
}

/// True for a word of the language: an op, a type, a part.
pub(crate) fn is_word(name: &str) -> bool {
    crate::words::WORDS.iter().any(|word| word.name == name) || crate::ops::find(name).is_some()
}

/// Functions of Python that kernels may use.
const BUILTINS: [&str; 16] = [
    "min",
    "max",
    "len",
    "int",
    "float",
    "range",
    "abs",
    "round",
    "sum",
    "bool",
    "print",
    "pow",
    "breakpoint",
    "enumerate",
    "zip",
    "reversed",
];

/// What a function of the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A kernel, perhaps for one kind of core.
    Kernel(Option<CoreKind>),
    /// Copied into the kernels that call it.
    Inline,
    /// Starts kernels: a function of type Orchestration, Spmd or Graph, or one of the host.
    Starts,
    /// Starts kernels that run together on one cluster.
    Group,
    /// Python of the host: called with tensors between tasks, and not compiled.
    Host,
}

/// Lowers what a file defines. `modules` are its own text and those of the helper modules that it imports.
pub(crate) fn compile(
    source: Arc<Source>,
    modules: &[ModuleText],
    request: &Request<'_>,
    diags: &mut Diags,
) -> Compiled {
    let host = run_host(modules, request, diags);
    let (globals, names) = globals_of(&host, diags);
    crate::counts::lowered();
    lower_all(source, &globals, &host, (&names, request), diags)
}

/// Runs the host code of a file.
pub(crate) fn run_host<'a>(modules: &'a [ModuleText], request: &Request<'_>, diags: &mut Diags) -> Host<'a> {
    let mut sets = Vec::new();
    for (name, text) in request.sets {
        match number(text) {
            Some(value) => sets.push((name.clone(), value)),
            None => diags.push(no_place("set", format!("`{text}` for `{name}` is not a number, boolean or string"))),
        }
    }
    let host = Host::run(modules, sets, request.names);
    for (name, _, used) in &host.sets {
        if !used {
            let kind = Kind::UnusedSetting { name: (&**name).into() };
            let error = no_place(kind, format!("nothing of the file takes `{name}` from outside"));
            diags.push(
                error.help("`--set` gives parameters of functions that build kernels, and constants of the file"),
            );
        }
    }
    diags.list.extend(host.problems.iter().cloned());
    host
}

/// The most values that kernels may see of a file's names together, those inside of others counted each time.
const MOST_SEEN: usize = 1 << 20;

/// What a file defines, and the full names of its functions.
pub(crate) fn globals_of<'a>(host: &Host<'a>, diags: &mut Diags) -> (Globals<'a>, Vec<Rc<str>>) {
    let mut globals = Globals { star: host.star[0], ..Globals::default() };
    let names = crate::full_names::full_names(&host.found, diags);
    let full = |at: usize| names[at].clone();
    let budget = Cell::new(MOST_SEEN);
    for (name, mask) in [("DIR_C2V", 1), ("DIR_V2C", 2), ("DIR_BOTH", 3)] {
        globals.names.insert(name.into(), Value::Const(Const::Int(mask)));
    }
    for name in BUILTINS {
        globals.names.insert(name.into(), Value::Path(name.into()));
    }
    if let Some(names) = &host.module_names[0] {
        for (name, value) in names.borrow().iter() {
            if let HostValue::Function(_) = value {
                globals.host.insert(name.clone());
            } else {
                globals.names.insert(name.clone(), value.to_value_of(&full, &budget));
            }
        }
    }
    // Functions of one module, or of one call of a function, share theirs.
    let mut seen: BTreeMap<*const _, Scope> = BTreeMap::new();
    for (position, found) in host.found.iter().enumerate() {
        // The text of another module is not the one that places are in.
        if found.module != 0 || globals.functions.contains_key(&names[position]) {
            continue;
        }
        let mut scope = Scope::new();
        for names in &found.scopes {
            let values = seen.entry(Rc::as_ptr(names)).or_insert_with(|| {
                let names = names.borrow();
                names.iter().map(|(name, value)| (name.clone(), value.to_value_of(&full, &budget))).collect()
            });
            // A later scope is an inner one.
            scope.extend(values.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        let mut class = Vec::new();
        if let Some(own) = &found.class {
            let fields: Vec<_> = own
                .names
                .borrow()
                .iter()
                .map(|(name, value)| (name.clone(), value.to_value_of(&full, &budget)))
                .collect();
            for (name, value) in &fields {
                if let Value::Path(path) = value
                    && let Some(function) = path.strip_prefix('@')
                {
                    class.push((name.clone(), function.into()));
                }
            }
            let what = format!("`{}`", own.name).into();
            scope.insert(
                "self".into(),
                Value::Record(Rc::new(Record { what, fields, entries: Vec::new(), is_dict: false })),
            );
        }
        let function = Function {
            name: names[position].clone(),
            def: found.def,
            role: found.role,
            attrs: found.attrs,
            again: found.first.is_some(),
            scope,
            class,
        };
        globals.functions.insert(names[position].clone(), function);
    }
    (globals, names)
}

/// Lowers the kernels of a file.
fn lower_all<'a>(
    source: Arc<Source>,
    globals: &Globals<'a>,
    host: &Host<'a>,
    (names, request): (&[Rc<str>], &Request<'_>),
    diags: &mut Diags,
) -> Compiled {
    let mut emitter = Emitter::new(source.clone());
    let mut kernels = Vec::new();
    let mut found = Vec::new();
    // What needs arguments that nobody gives is a part of others, or an error: their turn comes last.
    let mut later = Vec::new();
    let mut all: Vec<(&Rc<str>, &Function<'a>, CoreKindOf, Specialised)> = Vec::new();
    for (name, function) in &globals.functions {
        let Role::Kernel(kind) = function.role else { continue };
        if function.again {
            continue;
        }
        let calls = host.calls.iter().filter(|call| names[host.first(call.kernel)] == *name);
        let given = specialise(globals, function, calls, request);
        let open = needs_arguments(globals, function, &given);
        let list = if open { &mut later } else { &mut all };
        list.push((name, function, kind, given));
    }
    // Where one is asked for, the others need not be right.
    let asked = request.function.filter(|name| all.iter().chain(&later).any(|(known, ..)| &***known == *name));
    let mut unasked: Vec<(&Rc<str>, Vec<Diagnostic>)> = Vec::new();
    let first_later = all.len();
    all.extend(later);
    for (position, (name, function, kind, given)) in all.iter().enumerate() {
        if position >= first_later && globals.called.borrow().contains(*name) {
            continue;
        }
        globals.started.borrow_mut().insert((*name).clone());
        let mut own = Diags { list: std::mem::take(&mut diags.list) };
        let before = own.list.len();
        match lower_function(&mut emitter, globals, function, *kind, given, &mut own) {
            Ok((op, info)) => {
                crate::whole::check_values(&emitter.module, op, &mut own);
                found.push((*name, op));
                kernels.push(info);
            }
            Err(_) => crate::whole::given_up(name, at(&function.def.name), &mut own),
        }
        let said = own.list.split_off(before);
        diags.list = own.list;
        let other = match request.function {
            None => takes_window(globals, function),
            Some(_) => asked.is_some_and(|asked| asked != &***name),
        };
        if other {
            unasked.push((*name, said));
        } else {
            diags.list.extend(said);
        }
    }
    if request.args.is_empty() && request.sets.is_empty() {
        for (name, function, kind, given) in &all {
            let calls = host.calls.iter().filter(|call| names[host.first(call.kernel)] == **name);
            if found.iter().any(|(known, _)| known == name) && asked.is_none_or(|asked| asked == &***name) {
                other_shapes(&source, globals, (function, *kind), &others(globals, function, calls, given), diags);
            }
        }
    }
    // Of kernels that were not asked for, what is wrong counts where the one that was needs them.
    for (name, said) in unasked {
        if found.iter().any(|(_, op)| crate::whole::imports_from(&emitter.module, *op, name)) {
            diags.list.extend(said);
        }
    }
    let none = found.is_empty() && !diags.has_errors();
    if none {
        diags.push(no_kernel(&source, host));
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
        slipring_op::function::mark_entry(&mut emitter.module, only);
    }
    Compiled { module: emitter.module, kernels, none }
}

/// True for a function that takes memory that each device has a part of: it runs with the program that starts it on devices.
fn takes_window(globals: &Globals<'_>, function: &Function<'_>) -> bool {
    function.def.parameters.iter_non_variadic_params().any(|parameter| {
        let Some(annotation) = &parameter.parameter.annotation else { return false };
        let (_, inner) = crate::signature::direction(globals, &function.scope, annotation);
        let path = crate::signature::generic(globals, &function.scope, inner).map(|own| own.0);
        path.as_deref() == Some("pld.DistributedTensor")
    })
}

/// Reports what is wrong with a kernel for tensors of other shapes that the file passes, too.
fn other_shapes(
    source: &Arc<Source>,
    globals: &Globals<'_>,
    (function, kind): (&Function<'_>, CoreKindOf),
    list: &[Specialised],
    diags: &mut Diags,
) {
    for given in list {
        let (mut emitter, mut own) = (Emitter::new(source.clone()), Diags::default());
        let outcome = lower_function(&mut emitter, globals, function, kind, given, &mut own);
        if outcome.is_err() {
            crate::whole::given_up(&function.name, at(&function.def.name), &mut own);
        }
        let tensor = |(name, passed): (&Rc<str>, &crate::host::Passed)| match passed {
            crate::host::Passed::Tensor(shape, _) => Some(format!("`{name}` {}", crate::lower::show(shape))),
            _ => None,
        };
        let shapes: Vec<String> = given.iter().filter_map(tensor).collect();
        for message in own.list {
            if !diags.list.iter().any(|known| known.repeats(&message)) {
                diags.push(message.note(format!("where the file passes {}", shapes.join(", "))));
            }
        }
    }
}

/// A kind of core, or both.
type CoreKindOf = Option<CoreKind>;

/// What is said of a file in which no kernel is found, as near to the reason as can be told.
fn no_kernel(source: &Source, host: &Host<'_>) -> Diagnostic {
    let span = Span::new(0, source.text.lines().next().map_or(0, |l| l.len() as u32));
    let programs: Vec<String> = host
        .found
        .iter()
        .filter(|found| found.module == 0 && found.role == Role::Starts && found.first.is_none())
        .map(|found| format!("`{}`", found.def.name))
        .collect();
    if programs.len() > 1 {
        let message = format!("the file has {} programs, and no kernel that runs without them", programs.len());
        return Diagnostic::error(slipring_ir::Kind::SeveralPrograms, span, message)
            .help(format!("say which: `--func NAME`, one of {}", programs.join(", ")));
    }
    let error = Diagnostic::error("no-kernel", span, "the file has no kernel");
    if let Some((place, word)) = &host.undecorated {
        return error
            .also(*place, format!("`{word}` is not known here, so this is not a decorator"))
            .help("the language is imported by `import slipring.language as pl`");
    }
    if let Some(starts) = host.found.iter().find(|found| matches!(found.role, Role::Starts | Role::Group)) {
        return error
            .also(at(&starts.def.name), "this function starts kernels and is none")
            .help("a kernel is a function with a decorator: `@pl.incore`, `@pl.jit` or `@pl.function(…)`");
    }
    let decorator = "a kernel is a function with a decorator: `@pl.incore`, `@pl.jit` or `@pl.function(…)`";
    let lines = || {
        source.text.split_inclusive('\n').scan(0u32, |begin, line| {
            let at = *begin;
            *begin += line.len() as u32;
            Some((Span::new(at, at + line.trim_end().len() as u32), line.trim()))
        })
    };
    let imports: Vec<(Span, &str)> =
        lines().filter(|(_, line)| line.starts_with("import ") || line.starts_with("from ")).collect();
    let own = |line: &str| line.contains("slipring") || line.contains("pypto");
    if !imports.iter().any(|(_, line)| own(line)) {
        let error = match imports.first() {
            Some((place, _)) => error.also(*place, "this is another module than the language"),
            None => error.note("the file imports nothing"),
        };
        return error.help(format!("the language is imported by `import slipring.language as pl`, and {decorator}"));
    }
    let plain = lines().find(|(_, line)| line.starts_with("def ") && line.contains("pl."));
    match plain {
        Some((place, _)) => error.also(place, "this function has no decorator").help(decorator),
        None => error.help(decorator),
    }
}

fn no_place(kind: impl Into<Kind>, message: String) -> Diagnostic {
    Diagnostic::nowhere(kind, Severity::Error, message)
}

/// A number, boolean or string of the command line.
fn number(text: &str) -> Option<Const> {
    if let Ok(n) = text.parse() {
        return Some(Const::Int(n));
    }
    match text {
        "" => None,
        "True" | "true" => Some(Const::Bool(true)),
        "False" | "false" => Some(Const::Bool(false)),
        "None" => Some(Const::None),
        _ => Some(match text.parse() {
            Ok(x) => Const::Float(x),
            Err(_) => match crate::lower::word("pl", text.trim_start_matches("pl.")) {
                Some(word) => word,
                None => Const::Str(text.trim_matches(['"', '\'']).into()),
            },
        }),
    }
}

/// Lowers the functions that nobody has begun to lower, to learn what they push and reserve. Whatever is wrong with them is
/// reported when their turn comes. One that fails may have asked for what the function that is being lowered has not said yet: it
/// is tried again, a few times.
pub(crate) fn lower_ahead(source: &Arc<Source>, globals: &Globals<'_>) {
    const TRIES: u32 = 4;
    for (name, function) in &globals.functions {
        let none = Specialised::new();
        let tries = globals.tries.borrow().get(name).copied().unwrap_or(0);
        if let Role::Kernel(kind) = function.role
            && tries < TRIES
            && !function.again
            && !needs_arguments(globals, function, &none)
            && globals.started.borrow_mut().insert(name.clone())
        {
            globals.tries.borrow_mut().insert(name.clone(), tries + 1);
            let (unrolled, statements) = (globals.unrolled.get(), globals.lowered.get());
            let (mut emitter, mut diags) = (Emitter::new(source.clone()), Diags::default());
            if lower_function(&mut emitter, globals, function, kind, &none, &mut diags).is_err() {
                globals.started.borrow_mut().remove(name);
            }
            globals.unrolled.set(unrolled);
            globals.lowered.set(statements);
        }
    }
}

/// The language's own name for a module that is a part of it.
pub(crate) fn language(module: &str) -> Option<&'static str> {
    match module.split_once(".language") {
        Some(("slipring" | "pypto", "")) => Some("pl"),
        Some(("slipring" | "pypto", ".distributed")) => Some("pld"),
        _ => None,
    }
}

/// The full name of `pl.a.b`, as a function sees it.
pub(crate) fn path_of(globals: &Globals<'_>, scope: &Scope, expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => {
            let name = name.id.as_str();
            match scope.get(name).cloned().or_else(|| globals.get(name))? {
                Value::Path(path) => Some(path.to_string()),
                Value::Const(Const::DType(ty)) => Some(format!("pl.{}", ty.name())),
                _ => None,
            }
        }
        Expr::Attribute(attribute) => {
            Some(format!("{}.{}", path_of(globals, scope, &attribute.value)?, attribute.attr))
        }
        Expr::Call(call) => path_of(globals, scope, &call.func),
        _ => None,
    }
}

/// What a decorator makes of a function: `ty` is the type that `@pl.function(type=pl.FunctionType.…)` says.
///
/// # Errors
/// Why it is not a decorator of a function.
pub(crate) fn role_of(
    path: &str,
    ty: Option<&str>,
    (level, role): (Option<&str>, Option<&str>),
) -> Result<Role, String> {
    /// Levels of a device: what has a role there is a kernel, or starts kernels.
    const OF_DEVICE: &[&str] = &["AIV", "AIC", "CORE_GROUP", "CHIP_DIE", "L2CACHE", "CHIP", "PROCESSOR", "UMA"];
    let of_host = level.is_some_and(|level| !OF_DEVICE.contains(&level));
    Ok(match (path, ty) {
        ("pl.function", None) if role == Some("Orchestrator") => Role::Starts,
        ("pl.function", None) if role == Some("SubWorker") && of_host => Role::Host,
        ("pl.inline" | "pl.jit.inline", _) | ("pl.function", Some("Inline")) => Role::Inline,
        ("pl.jit.host", _) | ("pl.function", Some("Orchestration" | "Spmd" | "Graph")) => Role::Starts,
        ("pl.function", Some("Group")) => Role::Group,
        ("pl.function", Some("AIC")) => Role::Kernel(Some(CoreKind::Cube)),
        ("pl.function", Some("AIV")) => Role::Kernel(Some(CoreKind::Vector)),
        ("pl.incore" | "pl.jit" | "pl.jit.incore" | "pl.kernel" | "pl.jit.opaque", _) => Role::Kernel(None),
        ("pl.function", None | Some("InCore" | "Opaque")) => Role::Kernel(None),
        ("pl.function", Some(other)) => return Err(format!("there is no function type `{other}`")),
        (other, _) => return Err(format!("`{other}` is not a decorator of a function")),
    })
}
