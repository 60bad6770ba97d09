//! Whole programs: a function that starts kernels is followed as Python would run it, and its submits become a task
//! graph.
//!
//! Nothing runs here. Scalars of the orchestration are known, so that its loops and branches can be followed, but the
//! contents of tensors are not. Each start of a kernel, each `pl.at` and each `pl.spmd` is a task; its kernel is
//! compiled once for all tasks that differ only in scalars and places.

pub use crate::orchestration::{Open, Orchestration, Predicate, TaskArg, TaskCall, TaskKernel};
pub use crate::questions::{Answer, Ask, Question};

use indexmap::IndexSet;
use slipring_ir::{Diagnostic, Diags, Kind};

use crate::compiled::{Direction, ParamInfo};
use crate::host::tasks::entry;
use crate::host::tasks::kernels::{self, Kernels};
use crate::host::{Found, Groups, Host, Recorder};
use crate::parsed::Parsed;
use crate::passed::{HostCall, Passed};
use crate::program::{globals_of, run_host};
use crate::request::{ArgType, Request};
use crate::roles::Role;
use crate::syntax;
use crate::value::Const;

impl Parsed {
    /// Follows the whole program of the file. `None` if the file has none, but only kernels. Without `answer` it is
    /// followed up to its first query.
    pub fn orchestrate(
        &self,
        request: &Request<'_>,
        answer: Option<&mut Answer<'_>>,
    ) -> Option<(Orchestration, Diags)> {
        crate::stack::on_own_stack(move || follow(self, request, answer)).unwrap_or_else(|error| {
            // It is not known whether the file has a program: none is run, and the reason is reported.
            let mut diags = Diags::default();
            diags.push(*error);
            Some((Orchestration::of(String::new()), diags))
        })
    }

    /// The arguments that the host code of the file passes to its kernels, as far as they are known from the text: for
    /// each call the name of the kernel, and shapes, types and scalars by parameter.
    pub fn passed_by_host(&self, request: &Request<'_>) -> Vec<(String, Vec<ArgType>)> {
        self.after_host_code(request, |host| {
            let call = |call: &HostCall| {
                let def = host.found[call.kernel].def;
                let names =
                    def.parameters.iter_non_variadic_params().map(|parameter| parameter.parameter.name.as_str());
                let mut in_order = names.filter(|name| *name != "self");
                let mut args = Vec::new();
                for (name, passed) in &call.args {
                    let Some(name) = name.as_deref().or_else(|| in_order.next()) else { continue };
                    let name = Some(name.to_string());
                    match passed {
                        Passed::Tensor(shape, elem) | Passed::Part { shape, elem, .. } => {
                            args.push(ArgType { name, elem: Some(*elem), shape: Some(shape.clone()), number: None });
                        }
                        Passed::Number(Const::Int(number)) => {
                            args.push(ArgType { name, number: Some(number.to_string()), ..ArgType::default() });
                        }
                        Passed::Number(_) | Passed::Unknown => {}
                    }
                }
                (def.name.to_string(), args)
            };
            host.calls.iter().map(call).collect()
        })
    }

    /// Names of the functions of the file that their decorators make orchestrations.
    pub fn programs(&self, request: &Request<'_>) -> Vec<String> {
        self.after_host_code(request, |host| {
            let (_, names) = globals_of(host, &mut Diags::default());
            let own = host
                .found
                .iter()
                .zip(names)
                .filter(|(found, _)| found.module == 0 && found.role == Role::Starts && found.first.is_none());
            own.map(|(_, name)| name.to_string()).collect()
        })
    }

    /// Names of the file's extents that a call determines (`NR = pl.dynamic("NR")`), if its programs query the number
    /// of devices.
    pub fn device_extents(&self, request: &Request<'_>) -> Vec<String> {
        if !self.followed().iter().any(|module| module.mentions("world_size")) {
            return Vec::new();
        }
        self.after_host_code(request, |host| {
            let mut extents = IndexSet::new();
            for names in host.outside() {
                let names = names.borrow();
                let own = names.iter().filter(|(_, value)| value.is_extent());
                extents.extend(own.map(|(name, _)| name.to_string()));
            }
            extents.into_iter().collect()
        })
    }

    /// True if constants of the file, or functions that build its kernels, use the request's value for a name.
    pub fn takes(&self, name: &str, request: &Request<'_>) -> bool {
        self.after_host_code(request, |host| host.sets.iter().all(|(own, _, used)| &**own != name || *used))
    }

    /// Runs the host code of the file and then `work`; the default value if it cannot be run.
    fn after_host_code<T: Default + Send>(
        &self,
        request: &Request<'_>,
        asked: impl Fn(&Host<'_>) -> T + Send + Sync,
    ) -> T {
        let ask = || match self.followed() {
            [] => T::default(),
            modules => asked(&run_host(modules, request, &mut Diags::default())),
        };
        crate::stack::on_own_stack(ask).unwrap_or_default()
    }
}

fn follow(
    parsed: &Parsed,
    request: &Request<'_>,
    mut answer: Option<&mut Answer<'_>>,
) -> Option<(Orchestration, Diags)> {
    let mut groups = None;
    if parsed.followed().iter().any(|module| module.mentions("alloc_window_buffer")) {
        // A kernel on a device sees memory according to the devices that share it: these are determined before anything
        // is compiled.
        let answer = answer.as_deref_mut().map(|own| own as &mut Answer<'_>);
        groups = follow_once(parsed, request, answer, Groups::Asked).map(|(own, _)| own.groups);
    }
    follow_once(parsed, request, answer, Groups::Known(groups.unwrap_or_default()))
}

fn follow_once(
    parsed: &Parsed,
    request: &Request<'_>,
    answer: Option<&mut Answer<'_>>,
    groups: Groups,
) -> Option<(Orchestration, Diags)> {
    // Errors in the modules that the file imports.
    let mut diags = Diags { list: parsed.said().to_vec() };
    let (source, modules) = (parsed.source(), parsed.followed());
    if modules.is_empty() {
        return None;
    }
    let mut host = run_host(modules, request, &mut diags);
    diags.list.retain(|message| message.kind != Kind::HostFunction);
    let (globals, names) = globals_of(&host, &mut diags);
    let entry = entry::entry(&host, &globals, &names, request.function)?;
    let calls: Vec<_> = host.calls.iter().filter(|call| names[host.first(call.kernel)] == names[entry]).collect();
    let function = globals.functions.get(&names[entry])?;
    let given = crate::specialise::specialise(&globals, function, calls.into_iter(), request);
    let mut orchestration = Orchestration::of(names[entry].to_string());
    if diags.has_errors() {
        return Some((orchestration, diags));
    }
    let params = kernels::parameters(source, &globals, function, &given, &mut diags);
    let Some(own) = params.filter(|_| !diags.has_errors()) else { return Some((orchestration, diags)) };
    let params = own.passed;
    let numbers = numbers(&params, request);
    let kernels = Kernels::new(source.clone(), globals, names);
    if groups != Groups::Asked {
        crate::counts::lowered();
    }
    Host::record(
        &mut host,
        entry,
        (&params, own.constants),
        &numbers,
        Recorder::new(kernels, answer.map(|answer| answer as &mut Answer<'_>)).with_groups(groups),
        &mut orchestration,
        &mut diags,
    );
    outputs_written(&orchestration, &params, &host.found[entry], &mut diags);
    (orchestration.params, orchestration.numbers) = (params, numbers);
    if !diags.has_errors() && orchestration.graph.tasks.is_empty() && orchestration.open.is_none() {
        let place = syntax::at(&host.found[entry].def.name);
        diags.push(
            Diagnostic::error("no-task", place, format!("`{}` submits no task", orchestration.name))
                .help("a task is a call of a kernel, `pl.submit`, `with pl.at(…):` or `pl.spmd(n)`"),
        );
    }
    orchestration.graph.connect();
    Some((orchestration, diags))
}

/// Reports outputs of a program that no task writes. If the tasks depend on contents of tensors, that is a warning.
fn outputs_written(own: &Orchestration, params: &[ParamInfo], entry: &Found<'_>, diags: &mut Diags) {
    if diags.has_errors() || own.open.is_some() || own.graph.tasks.is_empty() {
        return;
    }
    for (param, tensor) in params.iter().zip(&own.tensor_of) {
        let mut texts = entry.def.parameters.iter_non_variadic_params();
        let Some(text) = texts.find(|text| *text.parameter.name.as_str() == *param.name) else { continue };
        let Some(tensor) = tensor.filter(|_| param.direction == Direction::Out) else { continue };
        let writes = |used: &slipring_tasks::Use| used.tensor == tensor && used.direction.writes();
        if own.graph.tasks.iter().any(|task| task.uses.iter().any(writes)) {
            continue;
        }
        let message = format!("`{}` is an output, and no task of the program writes it", param.name);
        let place = syntax::at(&text.parameter);
        let said = match own.by_answers {
            false => Diagnostic::error(slipring_ir::Kind::OutputUnwritten, place, message),
            true => Diagnostic::warning(slipring_ir::Kind::OutputUnwritten, place, message)
                .note("numbers that the program asks for decide what tasks there are"),
        };
        let reads = |used: &slipring_tasks::Use| used.tensor == tensor;
        let read = own.graph.tasks.iter().find_map(|task| task.uses.iter().find(|used| reads(used)).map(|_| task.span));
        let said = read
            .map_or(said.clone(), |span| said.also(span, "this task is passed it, and does not declare it an output"));
        diags.push(said.help("pass it to a kernel that declares it `pl.Out[…]`, or leave it out"));
    }
}

/// The values that are passed for scalars, by index among the parameters: those of the request first, then the file's
/// own.
fn numbers(params: &[ParamInfo], request: &Request<'_>) -> Vec<Option<String>> {
    let mut list: Vec<Option<String>> = vec![None; params.len()];
    let mut next = 0;
    for arg in request.args {
        let at = match &arg.name {
            Some(name) => params.iter().position(|param| param.name == *name),
            None => {
                next += 1;
                Some(next - 1)
            }
        };
        if let Some(slot) = at.and_then(|at| list.get_mut(at)) {
            *slot = arg.number.clone();
        }
    }
    for (slot, param) in list.iter_mut().zip(params) {
        if slot.is_none() {
            *slot = param.given.as_ref().and_then(|given| given.split(':').next()).map(str::to_string);
        }
    }
    list
}
