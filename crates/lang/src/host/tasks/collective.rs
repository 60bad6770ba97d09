//! Collectives of the host: `data = pld.tensor.allreduce(data, signal)` in a host function is a task on each device.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall, Stmt};
use slipring_ir::{Diagnostic, Span};

use super::super::value::HostValue;
use super::kernels::Scope;
use crate::host::recorder::{Groups, Options};
use crate::host::state::{Flow, Host};
use crate::host::value::unknown;
use crate::ops::OWN_SIGNALS;
use crate::syntax::at;

/// Operations that all devices do together.
const COLLECTIVES: &[&str] =
    &["allreduce", "barrier", "broadcast", "allgather", "all_to_all", "all_to_all_v", "reduce_scatter"];

impl<'a> Host<'a> {
    /// Follows a statement that is a collective of the host: a task on each device. `None` for other statements.
    pub(super) fn collective(&mut self, stmt: &'a Stmt) -> Option<Flow<'a>> {
        let (target, value): (Option<&'a Expr>, &'a Expr) = match stmt {
            Stmt::Assign(assign) if assign.targets.len() == 1 => (Some(&assign.targets[0]), &assign.value),
            Stmt::AnnAssign(assign) => (Some(&assign.target), assign.value.as_deref()?),
            Stmt::Expr(stmt) => (None, &stmt.value),
            _ => return None,
        };
        let Expr::Call(call) = value else { return None };
        let HostValue::Path(path) = self.plain_value(&call.func)? else { return None };
        let word = path.strip_prefix("pld.")?;
        let word = word.strip_prefix("tensor.").unwrap_or(word);
        if !COLLECTIVES.contains(&word) || self.rec().device.is_some() {
            return None;
        }
        self.on_all_devices(stmt, (target, call), word);
        Some(if self.rec().stopped { Flow::Stop } else { Flow::Next })
    }

    fn on_all_devices(&mut self, stmt: &'a Stmt, (target, call): (Option<&'a Expr>, &'a ExprCall), word: &str) {
        let span = at(call);
        let given = self.arguments(call, &[]);
        let windows =
            given.iter().filter_map(|arg| if let HostValue::Window(own) = &arg.1 { Some(own.clone()) } else { None });
        let windows: Vec<_> = windows.collect();
        // The devices that have a part of its data.
        let devices = match windows.first() {
            Some(window) => self.devices_of(window, span),
            None => self.ranks(span).map(|ranks| (0..ranks).collect()),
        };
        let Some(devices) = devices else { return };
        let signals = (word == "allreduce" && windows.len() == 1).then(|| self.own_signals(&devices, span));
        let reads = crate::lower::read_names(stmt);
        let devices = if self.rec().groups == Groups::Asked { [].into() } else { devices };
        for &rank in &*devices {
            let mut seen: Vec<(Rc<str>, HostValue<'a>)> = Vec::new();
            for read in &reads {
                let Some(value) = self.get(read).filter(|_| &**read != "self") else { continue };
                let value = match value {
                    HostValue::Window(window) => match self.window_on(&window, rank, span) {
                        Some(view) => HostValue::Device(view),
                        None => {
                            let error =
                                Diagnostic::error("argument", span, format!("`{read}` is a buffer, not a window"));
                            self.stop(error.help("`pld.window(buffer, shape, dtype=…)` makes a window of it"));
                            return;
                        }
                    },
                    value => self.extent(value),
                };
                seen.push((read.clone(), value));
            }
            if let Some(signals) = &signals
                && let Some(view) = self.window_on(signals, rank, span)
            {
                seen.push((OWN_SIGNALS.into(), HostValue::Device(view)));
            }
            self.on_device_alone(stmt, word, rank, &seen, span);
            if self.rec().stopped {
                return;
            }
        }
        // It changes its window, or that of its result, in place.
        let named = |name: &str| given.iter().find(|arg| arg.0.as_deref() == Some(name)).map(|arg| arg.1.clone());
        let position = usize::from(!matches!(word, "allreduce" | "barrier" | "broadcast" | "reduce_scatter"));
        let in_order = given.iter().filter(|arg| arg.0.is_none()).nth(position).map(|arg| arg.1.clone());
        let changed = named("target").or(in_order).or_else(|| named("signal"));
        let changed = changed.unwrap_or_else(|| unknown(span, "the result of this collective"));
        if let Some(target) = target {
            self.assign(target, changed);
        }
    }

    fn on_device_alone(
        &mut self,
        stmt: &'a Stmt,
        word: &str,
        rank: u64,
        seen: &[(Rc<str>, HostValue<'a>)],
        span: Span,
    ) {
        let Some(&(function, def)) = self.rec().functions.last() else { return };
        let scope = Scope { stmt, function, def, name: word.to_string() };
        let Some((_, task, uses)) = self.compiled_scope(&scope, seen) else { return };
        let outer = self.rec().device.replace(rank as i64);
        let mut options = Options { blocks: Some(1), ..Options::default() };
        let is_barrier = word == "barrier";
        if is_barrier {
            // A device executes what the host starts on it in order: earlier tasks are complete, later ones have not
            // begun.
            let tasks = self.rec().graph.tasks.iter().enumerate();
            options.after = tasks.filter(|(_, own)| u64::from(own.device) == rank).map(|(at, _)| at).collect();
        }
        let task = self.add(task, word.to_string(), uses, options, span);
        if is_barrier {
            self.rec().barriers.insert(rank as i64, task);
        }
        self.rec().device = outer;
    }
}
