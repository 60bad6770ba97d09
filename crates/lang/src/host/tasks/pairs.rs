//! Combination of a kernel for the Cube core and one for the Vector cores into one kernel, in which both run at the
//! same time.

use std::collections::BTreeSet;

use slipring_ir::{Module, OpId};
use slipring_machine::CoreKind;
use slipring_op::function::{both_lanes, set_both_lanes, set_kernel_kind, symbol_name, unmark_entry};
use slipring_op::ring::import_peer;
use slipring_op::{is_entry, knows_lanes, only_kind};

use super::kernels::Kernels;
use crate::compiled::KernelInfo;
use crate::orchestration::{TaskArg, TaskKernel};

/// The function of a kernel that was compiled for a task.
fn start(module: &Module) -> Option<OpId> {
    let mut functions = module.functions().filter(|function| module.body(*function, 0).is_some());
    functions.find(|function| is_entry(module, *function))
}

/// A kernel's function, for one kind of core, with renamed parameters.
fn member(kernel: &TaskKernel, kind: CoreKind, names: &[String]) -> Module {
    let mut module = kernel.module.clone();
    let Some(function) = start(&module) else { return module };
    unmark_entry(&mut module, function);
    set_kernel_kind(&mut module, function, kind);
    if kind == CoreKind::Vector && !knows_lanes(&module, function) && both_lanes(&module, function).is_none() {
        // Otherwise both lanes would do the same work.
        set_both_lanes(&mut module, function, false);
    }
    let args = module.body(function, 0).map_or_else(Vec::new, |body| module.block(body).args.to_vec());
    for (arg, name) in args.into_iter().zip(names) {
        module.value_mut(arg).name = Some(name.as_str().into());
    }
    module
}

impl Kernels<'_> {
    /// The kind of core that a kernel runs on; `None` for both, or neither.
    pub fn kind(&self, kernel: usize) -> Option<CoreKind> {
        let module = &self.list[kernel].module;
        only_kind(module, start(module)?)
    }

    /// The function whose buffer a kernel imports, if it is not started with the kernel.
    pub fn alone(&self, kernel: usize) -> Option<String> {
        let module = &self.list[kernel].module;
        let names: Vec<&str> = module.functions().map(|function| symbol_name(module, function)).collect();
        let peers =
            module.functions().filter_map(|function| module.body(function, 0)).flat_map(|body| module.walk(body));
        let mut peers = peers.filter_map(|op| import_peer(module, op));
        peers.find(|peer| !names.contains(peer)).map(str::to_string)
    }

    /// Combines a kernel for the Cube core and one for the Vector cores, with the arguments of the task. An argument of
    /// both becomes one parameter.
    pub fn pair(
        &mut self,
        (cube, passed): (usize, &[TaskArg]),
        (vector, own): (usize, &[TaskArg]),
    ) -> (usize, Vec<TaskArg>) {
        let names = |kernel: &TaskKernel| kernel.info.params.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
        let cube_names = names(&self.list[cube]);
        let mut taken: BTreeSet<String> = cube_names.iter().cloned().collect();
        let mut params = self.list[cube].info.params.clone();
        let mut args = passed.to_vec();
        let mut vector_names: Vec<String> = Vec::new();
        for ((param, arg), name) in self.list[vector].info.params.iter().zip(own).zip(names(&self.list[vector])) {
            let shared = matches!(arg, TaskArg::Tensor { .. });
            let same = passed.iter().position(|other| shared && other == arg).map(|at| cube_names[at].clone());
            if let Some(same) = same.filter(|same| !vector_names.contains(same)) {
                vector_names.push(same);
                continue;
            }
            let mut free = name.clone();
            let mut number = 2;
            while !taken.insert(free.clone()) {
                free = format!("{name}_{number}");
                number += 1;
            }
            let mut param = param.clone();
            param.name.clone_from(&free);
            params.push(param);
            args.push(arg.clone());
            vector_names.push(free);
        }
        let mut module = member(&self.list[cube], CoreKind::Cube, &cube_names);
        module.absorb(&member(&self.list[vector], CoreKind::Vector, &vector_names));
        let (one, two) = (&self.list[cube].info, &self.list[vector].info);
        let info = KernelInfo {
            name: format!("{} + {}", one.name, two.name),
            params,
            blocks: one.blocks.max(two.blocks),
            together: one.together || two.together,
            defers: one.defers && two.defers,
            gives: Vec::new(),
        };
        let known = self.pairs.iter().find(|(from, names, _)| *from == (cube, vector) && *names == vector_names);
        let kernel = known.map(|(.., kernel)| *kernel).unwrap_or_else(|| {
            self.list.push(TaskKernel { module, info });
            let kernel = self.list.len() - 1;
            self.pairs.push(((cube, vector), vector_names, kernel));
            kernel
        });
        (kernel, args)
    }
}
