//! The definitions of a file: names of the language, constants, kernels.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Kind, Severity, Source, Span};
use slipring_machine::CoreKind;

use crate::compiled::Compiled;
use crate::emit::Emitter;
use crate::given::constexpr;
use crate::globals::{Function, Globals, Scope};
use crate::host::tasks::entry::entry;
use crate::host::{Host, HostValue, ModuleText};
use crate::lower::lower_function;
use crate::ops::Language;
use crate::request::Request;
use crate::roles::Role;
use crate::specialise::{Specialised, needs_arguments, others, specialise};
use crate::syntax::at;
use crate::value::{Const, Record, Value};

/// Lowers the definitions of a file. `modules` are its own text and those of the helper modules that it imports.
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

/// The error for a setting that nothing uses.
pub fn unused_setting(name: &str) -> Diagnostic {
    let kind = Kind::UnusedSetting { name: name.into() };
    no_place(kind, format!("nothing of the file takes `{name}` from outside"))
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
            let help = "`--set` gives constants of the file and of its kernels (`pl.constexpr`), and parameters of functions that build kernels";
            diags.push(unused_setting(name).help(help));
        }
    }
    diags.list.extend(host.problems.iter().cloned());
    host
}

/// The maximum number of values that kernels may see of a file's names, including nested ones each time.
const MOST_SEEN: usize = 1 << 20;

/// The definitions of a file, and the full names of its functions.
pub(crate) fn globals_of<'a>(host: &Host<'a>, diags: &mut Diags) -> (Globals<'a>, Vec<Rc<str>>) {
    let mut globals = Globals::seeing(host.star[0].then_some(crate::ops::is_word));
    let names = crate::full_names::full_names(&host.found, diags);
    let full = |at: usize| names[at].clone();
    let budget = Cell::new(MOST_SEEN);
    for (name, mask) in [("DIR_C2V", 1), ("DIR_V2C", 2), ("DIR_BOTH", 3)] {
        globals.names.insert(name.into(), Value::Const(Const::Int(mask)));
    }
    for name in crate::host::names::of_kernels() {
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
    // Functions of one module, or of one call of a function, share their scopes.
    let mut seen: BTreeMap<*const _, Scope> = BTreeMap::new();
    for (position, found) in host.found.iter().enumerate() {
        // Places refer to the file itself, not to the text of another module.
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
        let constants = found.constants.iter();
        scope.extend(constants.map(|(name, value)| (constexpr(name), Value::Const(value.clone()))));
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
    // Functions that need arguments which nobody passes are parts of others, or errors: they are lowered last.
    let mut later = Vec::new();
    let mut all: Vec<(&Rc<str>, &Function<'a>, CoreKindOf, Specialised)> = Vec::new();
    // The scopes of a whole program are kernels of their own: if its function cannot be a single kernel, that is not an
    // error.
    let whole = entry(host, globals, names, request.function).map(|at| &names[at]);
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
    // If one kernel is requested, errors in the others do not matter.
    let asked = request.function.filter(|name| all.iter().chain(&later).any(|(known, ..)| &***known == *name));
    let mut unfit = Vec::new();
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
        match lower_function(&mut emitter, (globals, &Language), function, *kind, given, &mut own) {
            Ok((op, info)) => {
                crate::whole::check_values(&emitter.module, op, &mut own);
                found.push((*name, op));
                kernels.push(info);
            }
            Err(_) => crate::whole::given_up(name, at(&function.def.name), &mut own),
        }
        let mut said = own.list.split_off(before);
        diags.list = own.list;
        if whole == Some(*name) && found.last().is_none_or(|(known, _)| known != name) {
            unfit = std::mem::take(&mut said);
        }
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
    // Errors in other kernels count if the requested one needs them.
    for (name, said) in unasked {
        if found.iter().any(|(_, op)| crate::whole::imports_from(&emitter.module, *op, name)) {
            diags.list.extend(said);
        }
    }
    let none = found.is_empty() && !diags.has_errors();
    match none {
        // If a kernel of it is requested nevertheless, the reasons why there is none are reported.
        true if !unfit.is_empty() => diags.list.extend(unfit),
        true => diags.push(no_kernel(&source, host)),
        false => {}
    }
    // A function that a kernel calls is a part of it and not a kernel, unless they call each other, which was reported.
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

/// True for a function that takes memory with a part for each device: it runs with the program that starts it on
/// devices.
fn takes_window(globals: &Globals<'_>, function: &Function<'_>) -> bool {
    function.def.parameters.iter_non_variadic_params().any(|parameter| {
        let Some(annotation) = &parameter.parameter.annotation else { return false };
        let (_, inner) = crate::annotations::direction(globals, &function.scope, annotation);
        let path = crate::annotations::generic(globals, &function.scope, inner).map(|own| own.0);
        path.as_deref() == Some("pld.DistributedTensor")
    })
}

/// Reports errors in a kernel for tensors of other shapes that the file also passes.
fn other_shapes(
    source: &Arc<Source>,
    globals: &Globals<'_>,
    (function, kind): (&Function<'_>, CoreKindOf),
    list: &[Specialised],
    diags: &mut Diags,
) {
    for given in list {
        let (mut emitter, mut own) = (Emitter::new(source.clone()), Diags::default());
        let outcome = lower_function(&mut emitter, (globals, &Language), function, kind, given, &mut own);
        if outcome.is_err() {
            crate::whole::given_up(&function.name, at(&function.def.name), &mut own);
        }
        let tensor = |(name, passed): (&Rc<str>, &crate::passed::Passed)| match passed {
            crate::passed::Passed::Tensor(shape, _) => Some(format!("`{name}` {}", crate::value::show(shape))),
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

/// The error for a file without kernels, with the most specific reason that can be found.
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

/// A number, boolean or string from the command line.
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
            Err(_) => match crate::members::member("pl", text.trim_start_matches("pl.")) {
                Some(word) => word,
                None => Const::Str(text.trim_matches(['"', '\'']).into()),
            },
        }),
    }
}
