//! What a file defines: names of the language, constants, kernels.

use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use ruff_python_ast::{Decorator, Expr, Parameter, Stmt, StmtFunctionDef};
use slipring_ir::{Attr, Diagnostic, Diags, Dim, FuncType, OpId, Source, Span, Type, ValueId, ViewType};
use slipring_machine::CoreKind;
use slipring_tile::{Elem, Space};
use smallvec::SmallVec;

use crate::dtype::DType;
use crate::emit::Emitter;
use crate::lower::{Facts, Lower, Reported, Root, describe, whole};
use crate::syntax::at;
use crate::value::{Const, Value};
use crate::{Compiled, Direction, KernelInfo, ParamInfo};

/// Names of a file.
pub(crate) struct Globals<'a> {
    names: IndexMap<Rc<str>, Value>,
    /// Functions by name.
    pub functions: IndexMap<Rc<str>, &'a StmtFunctionDef>,
}

impl Globals<'_> {
    pub fn get(&self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }
}

/// Functions of Python that kernels may use.
const BUILTINS: [&str; 7] = ["min", "max", "len", "int", "float", "range", "abs"];

/// Modules that are the language.
const LANGUAGES: [&str; 2] = ["slipring.language", "pypto.language"];

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
    let mut globals = Globals { names: IndexMap::new(), functions: IndexMap::new() };
    for (name, mask) in [("DIR_C2V", 1), ("DIR_V2C", 2), ("DIR_BOTH", 3)] {
        globals.names.insert(name.into(), Value::Const(Const::Int(mask)));
    }
    for name in BUILTINS {
        globals.names.insert(name.into(), Value::Path(name.into()));
    }
    let mut functions = Vec::new();
    collect(source.clone(), body, &mut globals, &mut functions, diags);
    let mut emitter = Emitter::new(source.clone());
    let mut kernels = Vec::new();
    let mut found = Vec::new();
    for (function, role) in &functions {
        if let Role::Kernel(kind) = role {
            found.extend(lower_function(&mut emitter, &globals, function, *kind, diags, &mut kernels).ok());
        }
    }
    if kernels.is_empty() && !diags.has_errors() {
        let span = Span::new(0, source.text.lines().next().map_or(0, |l| l.len() as u32));
        diags.push(
            Diagnostic::error("no-kernel", span, "the file has no kernel")
                .help("a kernel is a function with a decorator: `@pl.incore`, `@pl.jit` or `@pl.function(…)`"),
        );
    }
    if let [only] = found[..] {
        let attrs = &mut emitter.module.op_mut(only).attrs;
        attrs.set("pto.entry", Attr::Unit);
    }
    Compiled { module: emitter.module, kernels }
}

/// Names and functions of a list of statements.
fn collect<'a>(
    source: Arc<Source>,
    body: &'a [Stmt],
    globals: &mut Globals<'a>,
    functions: &mut Vec<(&'a StmtFunctionDef, Role)>,
    diags: &mut Diags,
) {
    for stmt in body {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.as_str();
                    let Some(path) = language(module) else { continue };
                    // `import slipring.language` binds `slipring`.
                    if let Some(name) = &alias.asname {
                        globals.names.insert(name.as_str().into(), Value::Path(path.into()));
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |m| m.as_str());
                for alias in &import.names {
                    let (name, bound) = (alias.name.as_str(), alias.asname.as_ref().unwrap_or(&alias.name));
                    let full = format!("{module}.{name}");
                    let path = match language(&full) {
                        Some(path) => path.to_string(),
                        None if LANGUAGES.contains(&module) => format!("pl.{name}"),
                        None => continue,
                    };
                    globals.names.insert(bound.as_str().into(), Value::Path(path.into()));
                }
            }
            Stmt::Assign(assign) => {
                if let [Expr::Name(name)] = &assign.targets[..]
                    && let Some(value) = constant(source.clone(), globals, &assign.value)
                {
                    globals.names.insert(name.id.as_str().into(), value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let (Expr::Name(name), Some(value)) = (&*assign.target, &assign.value)
                    && let Some(value) = constant(source.clone(), globals, value)
                {
                    globals.names.insert(name.id.as_str().into(), value);
                }
            }
            Stmt::FunctionDef(function) => {
                let role = role(globals, function, diags);
                if role != Role::Other {
                    let name: Rc<str> = function.name.as_str().into();
                    globals.names.insert(name.clone(), Value::Path(format!("@{name}").into()));
                    globals.functions.insert(name, function);
                    functions.push((function, role));
                }
            }
            Stmt::ClassDef(class) => {
                let program = class
                    .decorator_list
                    .iter()
                    .any(|d| path_of(globals, &d.expression).as_deref() == Some("pl.program"));
                if program {
                    collect(source.clone(), &class.body, globals, functions, diags);
                }
            }
            _ => {}
        }
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

/// The value of an expression that is made of constants; `None` for others, which are host code.
fn constant(source: Arc<Source>, globals: &Globals<'_>, expr: &Expr) -> Option<Value> {
    let (mut emitter, mut diags) = (Emitter::new(source), Diags::default());
    let value = lowering(&mut emitter, globals, &mut diags).expr(expr).ok()?;
    let constant = |value: &Value| matches!(value, Value::Const(_) | Value::Path(_));
    match &value {
        Value::Tuple(items) if items.iter().all(constant) => Some(value),
        other if constant(other) => Some(value),
        _ => None,
    }
}

fn lowering<'a>(emitter: &'a mut Emitter, globals: &'a Globals<'a>, diags: &'a mut Diags) -> Lower<'a> {
    Lower {
        e: emitter,
        diags,
        globals,
        env: IndexMap::new(),
        lost: IndexMap::new(),
        tiles: Vec::new(),
        roots: Vec::new(),
        loads: Vec::new(),
        regions: Vec::new(),
        region: None,
        blocks: Vec::new(),
        read_later: Vec::new(),
        facts: Facts::default(),
    }
}

/// The full name of `pl.a.b`.
fn path_of(globals: &Globals<'_>, expr: &Expr) -> Option<String> {
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

/// Lowers a kernel into a function of the module.
fn lower_function(
    emitter: &mut Emitter,
    globals: &Globals<'_>,
    function: &StmtFunctionDef,
    kind: Option<CoreKind>,
    diags: &mut Diags,
    kernels: &mut Vec<KernelInfo>,
) -> Result<OpId, Reported> {
    let head = Span::new(at(&function.name).start.saturating_sub(4), at(&function.name).end);
    emitter.span = head;
    emitter.block = emitter.module.top;
    let name = function.name.as_str();
    let op = emitter.make("func.func", &[], &[("sym_name", Attr::Str(name.into()))], &[]);
    emitter.module.op_mut(op).loc = None;
    let body = emitter.region(op);
    emitter.enter_function(body);
    let mut lower = lowering(emitter, globals, diags);
    lower.blocks.push(body);
    let mut params = Vec::new();
    let mut types = Vec::new();
    let mut outcome = Ok(());
    for parameter in function.parameters.iter_non_variadic_params() {
        if parameter.parameter.name.as_str() == "self" {
            continue;
        }
        match declare(&mut lower, &parameter.parameter, body) {
            Ok((info, ty)) => {
                params.push(info);
                types.push(ty);
            }
            Err(reported) => outcome = Err(reported),
        }
    }
    outcome?;
    lower.body(&function.body)?;
    lower.e.span = head;
    let end = lower.e.op("func.return", &[], &[], &[]);
    lower.e.module.op_mut(end).loc = None;
    let facts = lower.facts.clone();
    let ty = FuncType { inputs: types, results: Vec::new() };
    if let Some((CoreKind::Cube, _)) = facts.pipe_end {
        for reserve in &facts.reserved {
            let attrs = &mut emitter.module.op_mut(*reserve).attrs;
            attrs.set("location", Attr::member("address_space", Space::Mat.name()));
        }
    }
    let attrs = &mut emitter.module.op_mut(op).attrs;
    attrs.set("function_type", Attr::Type(Type::Function(Arc::new(ty))));
    if let Some((split, _)) = facts.split {
        attrs.set("split", Attr::int(split as i64));
    }
    if let Some(n) = facts.slot_num {
        attrs.set("slot_num", Attr::int(n));
    }
    let top = emitter.module.top;
    emitter.module.append(top, op);
    if let Some(kind) = kind.or(facts.pipe_end.map(|(kind, _)| kind)) {
        emitter.module.op_mut(op).attrs.set("pto.kernel_kind", Attr::member("kernel_kind", kind.name()));
    }
    kernels.push(KernelInfo { name: name.to_string(), params, blocks: facts.blocks.unwrap_or(1) });
    Ok(op)
}

/// A parameter: declared in the function, bound to its name.
fn declare(
    lower: &mut Lower<'_>,
    parameter: &Parameter,
    body: slipring_ir::BlockId,
) -> Result<(ParamInfo, Type), Reported> {
    let (name, span) = (parameter.name.as_str(), at(&parameter.name));
    let Some(annotation) = &parameter.annotation else {
        let error = Diagnostic::error("parameter", span, format!("parameter `{name}` has no type"))
            .help("write it as `x: pl.Tensor[[64, 64], pl.FP32]`, `pl.Out[…]` for an output, `pl.Scalar[pl.INT32]`");
        return Err(lower.report(error));
    };
    let (direction, inner) = direction(lower, annotation);
    let Some((path, args)) = generic(lower, inner) else {
        return Err(bad_type(lower, name, at(&**annotation)));
    };
    let place = at(&**annotation);
    match path.as_str() {
        "pl.Tensor" => {
            let (dims, elem) = tensor_type(lower, &args, place)?;
            let ty = Type::Ptr(elem, None);
            let pointer = lower.e.module.add_arg(body, ty.clone(), Some(name.into()), span);
            let view = whole_view(lower, pointer, elem, &dims);
            lower.e.name(view, &format!("{name}_view"));
            lower.roots.push(Root {
                name: name.into(),
                elem,
                dims: dims.iter().copied().collect(),
                view,
                pointer,
                span: Span::new(span.start, place.end),
                writable: direction != Direction::In,
            });
            let tensor = whole(lower.roots.len() - 1, elem, &dims);
            lower.env.insert(name.into(), Value::Tensor(tensor));
            Ok((ParamInfo { name: name.into(), elem, shape: Some(dims), direction }, ty))
        }
        "pl.Scalar" => {
            let ty = match args.first().map(|arg| lower.expr(arg)) {
                Some(Ok(Value::Const(Const::DType(ty)))) => ty,
                _ => return Err(bad_type(lower, name, place)),
            };
            let (ir, elem) = match ty {
                DType::Elem(elem) => (ty.ir(), elem),
                DType::Index => (Type::Index, Elem::I64),
                DType::Bool => (Type::I1, Elem::U8),
            };
            let value = lower.e.module.add_arg(body, ir.clone(), Some(name.into()), span);
            let value = lower.scalar(value, ty);
            lower.env.insert(name.into(), value);
            Ok((ParamInfo { name: name.into(), elem, shape: None, direction: Direction::In }, ir))
        }
        _ => Err(bad_type(lower, name, place)),
    }
}

fn bad_type(lower: &mut Lower<'_>, name: &str, span: Span) -> Reported {
    let error = Diagnostic::error("parameter", span, format!("this is no type of a kernel's parameter `{name}`"))
        .help("write `pl.Tensor[[64, 64], pl.FP32]`, `pl.Out[pl.Tensor[…]]`, `pl.InOut[…]` or `pl.Scalar[pl.INT32]`");
    lower.report(error)
}

/// `pl.Out[T]`, `pl.InOut[T]` or `T`.
fn direction<'e>(lower: &Lower<'_>, annotation: &'e Expr) -> (Direction, &'e Expr) {
    if let Expr::Subscript(subscript) = annotation {
        match path_of(lower.globals, &subscript.value).as_deref() {
            Some("pl.Out") => return (Direction::Out, &subscript.slice),
            Some("pl.InOut") => return (Direction::InOut, &subscript.slice),
            _ => {}
        }
    }
    (Direction::In, annotation)
}

/// `path[args]`.
fn generic<'e>(lower: &Lower<'_>, expr: &'e Expr) -> Option<(String, Vec<&'e Expr>)> {
    let Expr::Subscript(subscript) = expr else { return None };
    let args = match &*subscript.slice {
        Expr::Tuple(tuple) => tuple.elts.iter().collect(),
        other => vec![other],
    };
    Some((path_of(lower.globals, &subscript.value)?, args))
}

/// Shape and element type of a tensor.
fn tensor_type(lower: &mut Lower<'_>, args: &[&Expr], span: Span) -> Result<(Vec<u64>, Elem), Reported> {
    let [shape, elem, ..] = args else {
        return Err(lower.error(
            "parameter",
            span,
            "a tensor's type has a shape and an element type: `pl.Tensor[[64, 64], pl.FP32]`",
        ));
    };
    let dims = match lower.expr(shape)? {
        Value::Tuple(items) => items,
        single => vec![single],
    };
    let mut extents = Vec::new();
    for dim in &dims {
        match dim {
            Value::Const(Const::Int(n)) if *n > 0 && *n <= 1 << 31 => extents.push(*n as u64),
            Value::Const(Const::Int(n)) => {
                return Err(lower.error("parameter", at(*shape), format!("an extent of {n}")));
            }
            other => {
                let what = describe(lower, other);
                return Err(lower.error(
                    "parameter",
                    at(*shape),
                    format!("extents are constant integers, this is {what}"),
                ));
            }
        }
    }
    if extents.is_empty() || extents.len() > 5 {
        return Err(lower.error("parameter", at(*shape), "a tensor has 1 to 5 dimensions"));
    }
    match lower.expr(elem)? {
        Value::Const(Const::DType(DType::Elem(elem))) => Ok((extents, elem)),
        other => {
            let what = describe(lower, &other);
            Err(lower.error("parameter", at(*elem), format!("elements have a type such as `pl.FP32`, this is {what}")))
        }
    }
}

/// The view of a whole tensor, rows next to each other.
fn whole_view(lower: &mut Lower<'_>, pointer: ValueId, elem: Elem, dims: &[u64]) -> ValueId {
    let mut stride = 1;
    let mut strides: Vec<i64> = dims
        .iter()
        .rev()
        .map(|n| {
            let this = stride;
            stride *= *n as i64;
            this
        })
        .collect();
    strides.reverse();
    let shape: Vec<ValueId> = dims.iter().map(|n| lower.e.index(*n as i64)).collect();
    let strides: Vec<ValueId> = strides.into_iter().map(|n| lower.e.index(n)).collect();
    let extents: SmallVec<[Dim; 5]> = dims.iter().map(|_| Dim::Dynamic).collect();
    let ty = Type::TensorView(ViewType { elem, dims: extents });
    lower.e.value("pto.make_tensor_view", &[("ptr", &[pointer]), ("shape", &shape), ("strides", &strides)], &[], ty)
}
