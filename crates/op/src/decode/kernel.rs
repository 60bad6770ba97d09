//! Selection of the functions that a launch runs on each core.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Diagnostic, Diags, Dim, Module, OpId, Severity, Type};
use slipring_machine::{CoreKind, Role};
use slipring_program::{Param, ParamKind, Special};

use crate::decode::cores::Kernel;
use crate::decode::filled::{asks_lane, filled};
use crate::def::{OpRef, PipeRule, RingPart};
use crate::facts::MixedPart;
use crate::function::{FLAG_BYTES, are_halves, has_flags, is_entry, kernel_kind, slot_bytes, symbol_name};
use crate::reach::{is_mixed, reachable};
use crate::ring::{Config, Split, import_peer};

/// Removes the cores that have nothing to do.
///
/// A kind of core takes part if the kernel has work for it. The second Vector core takes part if the kernel splits
/// tiles between the lanes, or if it has a Cube core and either queries its lane or has no ring at all (both Vector
/// cores then run the same program). A kernel without a Cube core is a launch of single Vector cores: each block is one
/// of them, and its lane is 0. A kernel of scalar code only runs on AIV0. On a Vector function, `dual_aiv_dispatch`
/// specifies whether both lanes run it.
///
/// For a function of the whole cluster, the Cube core and AIV0 take part, and AIV1 if there is a region for both lanes.
fn participants(module: &Module, mut kernel: Kernel) -> Kernel {
    if let Some(function) = kernel.start[0].filter(|f| is_mixed(module, *f)) {
        kernel.mixed = true;
        let region = |op: &OpRef<'_>| op.def.mixed == Some(MixedPart::Region);
        if !defined(module, function, CoreKind::Vector).iter().any(region) {
            kernel.start[Role::Aiv1.index()] = None;
        }
        return kernel;
    }
    let mut has_work = [false; 2];
    for (at, kind) in [CoreKind::Cube, CoreKind::Vector].into_iter().enumerate() {
        let role = if kind == CoreKind::Cube { Role::Aic } else { Role::Aiv0 };
        let Some(start) = kernel.start[role.index()] else { continue };
        let ops = defined(module, start, kind);
        has_work[at] = kernel_kind(module, start).is_some()
            || ops.iter().any(|op| {
                module.callee(op.id).is_some_and(|f| kernel_kind(module, f) == Some(kind))
                    || (crate::affinity(op) == Some(kind)
                        && (!matches!(op.def.pipe, PipeRule::None) || !module.op(op.id).regions.is_empty()))
            });
    }
    if has_work == [false, false] {
        has_work[1] = true;
    }
    if !has_work[0] {
        kernel.start[Role::Aic.index()] = None;
    }
    let mut both_lanes = false;
    if let Some(start) = kernel.start[Role::Aiv0.index()].filter(|_| has_work[1]) {
        let ops = defined(module, start, CoreKind::Vector);
        let ring_ops: Vec<_> = ops.iter().filter(|op| op.def.ring.is_some()).collect();
        let splits = ring_ops.iter().any(|op| {
            let both =
                |op: &OpRef<'_>| Config::of(op).is_ok_and(|config| config.lanes == Some(2) || config.lane == Some(1));
            // A free moves no data: it does not make a lane take part.
            let moves = op.ring().is_some_and(|part| part.pushes().or(part.pops()).is_some());
            (moves && matches!(Split::of(op), Some(Split::UpDown | Split::LeftRight)))
                || (op.def.ring.is_some_and(RingPart::makes_end) && both(op))
        });
        let asks = ops.iter().any(|op| op.def.per_lane.is_some()) || asks_lane(module, start);
        let called = ops.iter().filter_map(|op| module.callee(op.id));
        let own = std::iter::once(start).chain(called).filter(|f| kernel_kind(module, *f) != Some(CoreKind::Cube));
        let told = own.filter_map(|f| crate::function::both_lanes(module, f)).max();
        both_lanes = told.unwrap_or(splits || (has_work[0] && (asks || ring_ops.is_empty())));
    }
    if !has_work[1] {
        kernel.start[Role::Aiv0.index()] = None;
    }
    if !both_lanes {
        kernel.start[Role::Aiv1.index()] = None;
    }
    kernel
}

fn defined<'a>(module: &'a Module, start: OpId, kind: CoreKind) -> Vec<OpRef<'a>> {
    reachable(module, start, kind).into_iter().filter_map(|id| OpRef::of(module, id)).collect()
}

/// Chooses the kernel of a module: the function `name`, or the only candidate.
///
/// - A function marked `pto.entry`, or the only function with a body.
/// - The function that calls all others, directly or indirectly.
/// - A Cube function and a Vector function that belong together: of one name in two modules, named by each other's
///   `import_reserved_buffer`, or the only one of each kind, both marked or neither. Parameters of the same name are one
///   parameter.
///
/// # Errors
/// A diagnostic that lists the functions, if there is no candidate or more than one.
pub fn select_kernel(module: &Module, name: Option<&str>, diags: &mut Diags) -> Option<Kernel> {
    choose(module, name, diags).map(|kernel| participants(module, kernel))
}

fn choose(module: &Module, name: Option<&str>, diags: &mut Diags) -> Option<Kernel> {
    let functions: Vec<OpId> = module.functions().filter(|f| module.body(*f, 0).is_some()).collect();
    if functions.is_empty() {
        diags.push(no_place("no-kernel", "the file has no function with a body"));
        return None;
    }
    if let Some(name) = name {
        let Some(&function) = functions.iter().find(|f| symbol_name(module, **f) == name) else {
            let names: Vec<_> = functions.iter().map(|f| format!("`{}`", symbol_name(module, *f))).collect();
            let error = no_place("no-kernel", format!("there is no function `{name}`"));
            diags.push(error.help(format!("the functions with a body are {}", names.join(", "))));
            return None;
        };
        return Some(kernel_of(module, function, &functions));
    }
    let entries: Vec<OpId> = functions.iter().copied().filter(|f| is_entry(module, *f)).collect();
    if let (true, Some(root)) = (entries.is_empty(), only_root(module, &functions)) {
        return Some(kernel_of(module, root, &functions));
    }
    match (entries.as_slice(), functions.as_slice()) {
        ([entry], _) => Some(kernel_of(module, *entry, &functions)),
        ([], [only]) => Some(kernel_of(module, *only, &functions)),
        (marked, all) => {
            // A launch starts both functions of a pair: each of them may have the mark.
            let meant = if marked.is_empty() { all } else { marked };
            let of = |kind| meant.iter().copied().filter(|f| kernel_kind(module, *f) == Some(kind)).collect::<Vec<_>>();
            let (cubes, vectors) = (of(CoreKind::Cube), of(CoreKind::Vector));
            match (cubes.as_slice(), vectors.as_slice()) {
                ([cube], [vector]) if meant.len() == 2 => {
                    let guessed = !belong_together(module, *cube, *vector);
                    Some(Kernel { guessed, ..pair(module, *cube, *vector) })
                }
                _ => ambiguous(module, meant, diags),
            }
        }
    }
}

/// The function that nobody calls, if it calls all others, directly or indirectly. A function with a section for each
/// kind of core is lowered to this form.
fn only_root(module: &Module, functions: &[OpId]) -> Option<OpId> {
    let callees = |function: OpId| {
        let body = module.body(function, 0);
        let ops = body.map_or(Vec::new(), |body| module.walk(body));
        ops.into_iter().filter_map(|op| module.callee(op)).collect::<Vec<_>>()
    };
    let all: BTreeSet<OpId> = functions.iter().flat_map(|f| callees(*f)).collect();
    let mut roots = functions.iter().copied().filter(|f| !all.contains(f));
    match (roots.next(), roots.next()) {
        (Some(root), None) if functions.len() > 1 => Some(root),
        _ => None,
    }
}

/// The kernels of a module: the one that can be selected unambiguously, else each function that is not a part of
/// another's kernel.
pub fn kernels(module: &Module) -> Vec<(Option<String>, Kernel)> {
    let mut unsure = Diags::default();
    if let Some(kernel) = select_kernel(module, None, &mut unsure).filter(|kernel| !kernel.guessed) {
        return vec![(None, kernel)];
    }
    let functions: Vec<OpId> = module.functions().filter(|f| module.body(*f, 0).is_some()).collect();
    let of = |function: &OpId| {
        let name = symbol_name(module, *function).to_string();
        let kernel = participants(module, kernel_of(module, *function, &functions));
        let needed = needed_functions(module, &kernel);
        (*function, name, kernel, needed)
    };
    let list: Vec<_> = functions.iter().map(of).collect();
    let mut seen: BTreeSet<BTreeSet<OpId>> = BTreeSet::new();
    let part = |function: &OpId, own: &BTreeSet<OpId>| {
        list.iter()
            .any(|(other, _, _, needed)| other != function && needed.len() > own.len() && needed.contains(function))
    };
    let mut kept = Vec::new();
    for (function, name, kernel, needed) in &list {
        if !part(function, needed) && seen.insert(needed.clone()) {
            kept.push((Some(name.clone()), kernel.clone()));
        }
    }
    kept
}

/// The functions that a kernel needs: the functions that its cores start in, their callees, and those whose buffers
/// they import.
pub fn needed_functions(module: &Module, kernel: &Kernel) -> BTreeSet<OpId> {
    let mut needed = BTreeSet::new();
    let mut open: Vec<OpId> = kernel.start.iter().flatten().copied().collect();
    while let Some(function) = open.pop() {
        if !needed.insert(function) {
            continue;
        }
        let Some(body) = module.body(function, 0) else { continue };
        for op in module.walk(body) {
            let peer = import_peer(module, op);
            open.extend(module.callee(op).into_iter().chain(peer.and_then(|name| module.symbol(name))));
        }
    }
    needed
}

fn ambiguous(module: &Module, functions: &[OpId], diags: &mut Diags) -> Option<Kernel> {
    let names: Vec<_> = functions.iter().map(|f| symbol_name(module, *f)).collect();
    let mut error =
        no_place("which-kernel", format!("the file has {} functions that could be the kernel", names.len()));
    if let Some(&first) = functions.first() {
        error = Diagnostic { primary: Diagnostic::error("", module.op(first).span, "").primary, ..error };
    }
    diags.push(error.help(format!("choose one with `--func`: {}", names.join(", "))));
    None
}

fn no_place(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::nowhere(code, Severity::Error, message)
}

/// The kernel that a function starts: alone, or with its counterpart for the other kind of core.
fn kernel_of(module: &Module, function: OpId, functions: &[OpId]) -> Kernel {
    let name = symbol_name(module, function).to_string();
    let Some(kind) = kernel_kind(module, function) else {
        let mut params = Params::default();
        let args = params.join(module, function);
        let (start, args) = ([Some(function); 3], [args.clone(), args.clone(), args]);
        return Kernel { name, start, params: params.list, args, guessed: false, mixed: false };
    };
    let other = |f: &OpId| kernel_kind(module, *f).is_some_and(|k| k != kind) && belong_together(module, function, *f);
    match (kind, functions.iter().copied().find(other)) {
        (CoreKind::Cube, Some(vector)) => pair(module, function, vector),
        (CoreKind::Vector, Some(cube)) => pair(module, cube, function),
        (kind, None) => {
            let mut kernel = Kernel { name, ..pair(module, function, function) };
            for role in Role::ALL.into_iter().filter(|role| role.kind() != kind) {
                kernel.start[role.index()] = None;
            }
            kernel
        }
    }
}

/// A Cube and a Vector function as one kernel. Parameters of the same name are one parameter; of the halves of a
/// kernel, those at the same place.
fn pair(module: &Module, cube: OpId, vector: OpId) -> Kernel {
    let mut params = Params::default();
    let cube_args = params.join(module, cube);
    let [own, other] = [cube, vector].map(|function| symbol_name(module, function));
    let halves = are_halves(module, cube, vector);
    let vector_args = if halves { cube_args.clone() } else { params.join(module, vector) };
    Kernel {
        name: if halves { own.to_string() } else { format!("{own} + {other}") },
        start: [Some(cube), Some(vector), Some(vector)],
        params: params.list,
        args: [cube_args, vector_args.clone(), vector_args],
        guessed: false,
        mixed: false,
    }
}

/// True for halves of one kernel, and for functions one of which imports a buffer of the other.
fn belong_together(module: &Module, one: OpId, other: OpId) -> bool {
    are_halves(module, one, other) || imports_from(module, one, other) || imports_from(module, other, one)
}

fn imports_from(module: &Module, function: OpId, peer: OpId) -> bool {
    let Some(body) = module.body(function, 0) else { return false };
    let peer = symbol_name(module, peer);
    module.walk(body).into_iter().any(|op| import_peer(module, op) == Some(peer))
}

/// The error if a launch cannot start the functions of a kernel: an argument that is neither an address nor a scalar,
/// or a result.
pub fn not_launched(module: &Module, kernel: &Kernel) -> Option<Diagnostic> {
    let passed = |ty: &Type| matches!(ty, Type::Ptr(..) | Type::MemRef(_)) || ty.is_scalar();
    let body = |function: &OpId| module.body(*function, 0);
    let mut args = kernel.start.iter().flatten().filter_map(body).flat_map(|body| &module.block(body).args);
    if let Some(arg) = args.find(|arg| !passed(module.ty(**arg))) {
        let (name, ty) = (module.value_name(*arg), module.ty(*arg));
        let message = format!("`{name}` is a `{ty}`: a launch passes addresses and numbers");
        let error = Diagnostic::error("launch", module.value(*arg).span, message);
        return Some(error.help("choose the function that calls this one, or make what it takes in the kernel itself"));
    }
    let is_body = |function: &&OpId| crate::workitems::is_entry(module, **function);
    if let Some(function) = kernel.start.iter().flatten().find(is_body) {
        let message =
            format!("`@{}` is the body of workitems, which another function launches", symbol_name(module, *function));
        let error = Diagnostic::error("launch", module.op(*function).span, message);
        return Some(error.help("choose the function that launches it"));
    }
    let gives = |function: &&OpId| module.function_type(**function).is_some_and(|ty| !ty.results.is_empty());
    let function = *kernel.start.iter().flatten().find(gives)?;
    let name = symbol_name(module, function);
    let message = format!("`@{name}` returns something: a launch takes nothing back");
    let error = Diagnostic::error("launch", module.op(function).span, message);
    Some(error.help("pass a buffer for the result; a function that another one calls may return it"))
}

/// The parameters of a kernel: those of its functions, each name once.
#[derive(Default)]
struct Params {
    list: Vec<Param>,
    /// The place in the list of each name.
    places: BTreeMap<String, u32>,
}

impl Params {
    /// Adds the parameters of a function, and returns what each of its arguments is bound to.
    fn join(&mut self, module: &Module, function: OpId) -> Vec<Special> {
        let own = module.body(function, 0).map_or(&[][..], |body| &module.block(body).args);
        let bound = own.iter().zip(params_of(module, function));
        bound.map(|(arg, param)| filled(module, *arg).unwrap_or_else(|| Special::Param(self.place(param)))).collect()
    }

    /// The place of the parameter of that name, which is this one if there is none yet.
    fn place(&mut self, param: Param) -> u32 {
        *self.places.entry(param.name.to_string()).or_insert_with(|| {
            self.list.push(param);
            self.list.len() as u32 - 1
        })
    }
}

/// Parameters of a function.
fn params_of(module: &Module, function: OpId) -> Vec<Param> {
    let Some(body) = module.body(function, 0) else { return Vec::new() };
    let args = &module.block(body).args;
    let flags = usize::from(has_flags(module, function));
    let kind = |at: usize| match (args.len() - 1 - at, slot_bytes(module, function)) {
        (0, _) if flags > 0 => ParamKind::Scratch { bytes_per_block: FLAG_BYTES },
        (from_end, Some(bytes_per_block)) if from_end == flags => ParamKind::Scratch { bytes_per_block },
        _ => param_kind(module.ty(args[at])),
    };
    let name = |at: usize| module.value(args[at]).name.as_deref().map_or_else(|| format!("arg{at}"), str::to_string);
    (0..args.len()).map(|at| Param { name: name(at), kind: kind(at) }).collect()
}

fn param_kind(ty: &Type) -> ParamKind {
    use slipring_tile::Elem;
    match ty {
        Type::Ptr(elem, _) => ParamKind::Buffer { elem: *elem, bytes: None },
        Type::MemRef(memref) => {
            let elem = memref.elem.elem().unwrap_or(Elem::U8);
            let count = memref.dims.iter().try_fold(1u64, |n, dim| n.checked_mul(dim.known()?));
            // With explicit strides it may be part of a larger buffer.
            let strides = memref.strides.as_ref().map(|(strides, offset)| (strides.as_slice(), *offset));
            let dense = |(strides, offset): (&[Dim], Dim)| {
                let mut due = 1u64;
                offset.known() == Some(0)
                    && memref.dims.iter().zip(strides).rev().all(|(dim, stride)| {
                        let fits = stride.known() == Some(due);
                        due = due.saturating_mul(dim.known().unwrap_or(0));
                        fits
                    })
            };
            let count = count.filter(|_| strides.is_none_or(dense));
            ParamKind::Buffer { elem, bytes: count.and_then(|n| n.checked_mul(elem.bytes() as u64)) }
        }
        Type::TensorView(view) | Type::PartitionView(view) => ParamKind::Buffer { elem: view.elem, bytes: None },
        ty if *ty == Type::I1 => ParamKind::Bool,
        ty => ParamKind::Scalar(ty.elem().unwrap_or(Elem::I64)),
    }
}
