//! Builtins of the language in a program that is followed; tensors and their parts.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use slipring_ir::{Diagnostic, Span};
use slipring_tasks::Origin;

use super::super::value::{HostValue, Wrapped};
use super::calls::Bound;
use super::extents;
use super::meaning::{self, Followed};
use crate::dtype::DType;
use crate::host::recorder::{Arg, Options};
use crate::host::state::Host;
use crate::host::value::unknown;
use crate::host::view::{View, dense_strides};
use crate::syntax::at;
use crate::value::Const;

impl<'a> Host<'a> {
    /// Follows a call in a program; `None` if it has the same meaning as in any host code.
    pub(in crate::host) fn task_call(
        &mut self,
        callee: &HostValue<'a>,
        call: &'a ExprCall,
        span: Span,
    ) -> Option<HostValue<'a>> {
        if self.rec().stopped {
            return Some(unknown(span, "what stopped the program"));
        }
        if let Some(wrong) = self.known_callee(callee, call) {
            return Some(wrong);
        }
        match callee.clone() {
            HostValue::Wrapped(wrapped) => {
                let Wrapped::Partial(inner, before) = &*wrapped else { return None };
                // Nested `partial`: positional arguments of the inner one come first, keywords of the outer one win.
                let outer = std::mem::take(&mut self.rec().before);
                let known = |name: &Option<Rc<str>>| name.is_some() && outer.iter().any(|(own, _)| own == name);
                if matches!(inner, HostValue::Path(_)) && before.iter().any(|(name, _)| name.is_some()) {
                    let message = "`functools.partial` of a word of the language takes arguments in order";
                    let error = Diagnostic::error("argument", at(&*call.func), message);
                    return Some(self.refuse(error.help("say those with a name where it is called")));
                }
                let mut all: Vec<_> = before.iter().filter(|(name, _)| !known(name)).cloned().collect();
                all.extend(outer.iter().cloned());
                self.rec().before = all;
                let value = match self.task_call(inner, call, span) {
                    Some(value) => value,
                    None => self.follow_call(inner, call, span),
                };
                self.rec().before.clear();
                Some(value)
            }
            HostValue::Kernel(kernel) => {
                let args = self.arguments(call, &[]);
                Some(self.start(kernel, args, span, Options::default()).0)
            }
            HostValue::Path(path) if path.starts_with("pld.") => Some(self.distributed(&path[4..], call, span)),
            HostValue::Path(path) => {
                let word = path.strip_prefix("pl.")?.to_string();
                if word == "dynamic" {
                    return None;
                }
                let word =
                    ["tensor.", "system."].iter().find_map(|p| word.strip_prefix(p)).unwrap_or(&word).to_string();
                self.word(&word, call, span)
            }
            HostValue::Method(method) if matches!(method.0, HostValue::Device(_)) => {
                if let (HostValue::Device(view), "bind_dynamic") = (&method.0, &*method.1) {
                    return Some(self.bind_extent(&view.clone(), call, span));
                }
                Some(self.misplaced(&format!("`{}` of a tensor", method.1), span))
            }
            _ => None,
        }
    }

    /// The arguments of a call, except keywords that are evaluated separately.
    pub(super) fn arguments(&mut self, call: &'a ExprCall, apart: &[&str]) -> Vec<Arg<'a>> {
        // Calls among the arguments have no additional ones.
        let before = std::mem::take(&mut self.rec().before);
        let (first, named): (Vec<_>, Vec<_>) = before.into_iter().partition(|(name, _)| name.is_none());
        let mut args: Vec<Arg<'a>> = first.into_iter().map(|(_, value)| (None, value, at(&*call.func))).collect();
        for arg in &call.arguments.args {
            let value = self.expr(arg);
            match (arg.is_starred_expr(), value.items()) {
                (true, Some(items)) => args.extend(items.into_iter().map(|item| (None, item, at(arg)))),
                (true, None) => drop(self.not_known(&value, "what these arguments are", at(arg))),
                (false, _) => args.push((None, value, at(arg))),
            }
        }
        for keyword in &call.arguments.keywords {
            let place = at(&keyword.value);
            match &keyword.arg {
                Some(name) if apart.contains(&name.as_str()) => {}
                Some(name) => {
                    let value = self.expr(&keyword.value);
                    args.push((Some(name.as_str().into()), value, place));
                }
                None => match self.expr(&keyword.value) {
                    HostValue::Dict(items) => {
                        for (key, value) in items.borrow().values() {
                            let HostValue::Const(Const::Str(name)) = key else { continue };
                            args.push((Some(name.clone()), value.clone(), place));
                        }
                    }
                    other => drop(self.not_known(&other, "what these arguments are", place)),
                },
            }
        }
        for (name, value) in named {
            if !args.iter().any(|(own, ..)| *own == name) {
                args.push((name, value, at(&*call.func)));
            }
        }
        args
    }

    pub(super) fn word(&mut self, word: &str, call: &'a ExprCall, span: Span) -> Option<HostValue<'a>> {
        match word {
            "submit" | "spmd_submit" => return Some(self.submit(call, span)),
            "task_dummy" => {
                let args = self.arguments(call, &["deps"]);
                if self.bound(word, &args, span).is_none() {
                    return Some(unknown(span, "what stopped the program"));
                }
                if crate::syntax::named(call, "deps").is_none() {
                    let error = Diagnostic::error("argument", span, "`pl.task_dummy` joins tasks, and is told none");
                    return Some(self.stop(error.help("write `deps=[first, second]`")));
                }
                let options = self.options(call);
                return Some(HostValue::Task(self.join("task_dummy", options, span)));
            }
            _ => {}
        }
        let args = self.arguments(call, &[]);
        // The tensor's `create`, not the tile's.
        let word = if word == "create" { "create_tensor" } else { word };
        let bound = if self.rec().stopped { None } else { self.bound(word, &args, span) };
        let Some(bound) = bound else { return Some(unknown(span, "what stopped the program")) };
        let value = self.bound_word(word, &args, &bound, span)?;
        self.all_read(word, &bound);
        Some(value)
    }

    /// The semantics of a builtin here, by the catalogue; `None` if it has the same meaning as in any host code.
    fn bound_word(&mut self, word: &str, args: &[Arg<'a>], bound: &Bound<'a>, span: Span) -> Option<HostValue<'a>> {
        match crate::ops::followed(word) {
            Some(followed) => meaning::run(self, followed.means, &Followed { args, bound, span }),
            // These are also functions of Python.
            None if crate::ops::find(word).is_some() && !matches!(word, "min" | "max" | "abs") => {
                Some(self.misplaced(&format!("`pl.{word}`"), span))
            }
            None => None,
        }
    }

    pub(super) fn create(&mut self, own: &dyn Fn(&str) -> Option<HostValue<'a>>, span: Span) -> HostValue<'a> {
        let shape = own("shape");
        let Some(extents) = shape.as_ref().and_then(extents) else {
            let value = shape.unwrap_or_else(|| unknown(span, "no shape"));
            return self.not_known(&value, "the shape of this tensor", span);
        };
        let ty = match own("dtype") {
            Some(HostValue::Const(Const::DType(ty))) => Some(ty),
            _ => None,
        };
        let stored = ty.and_then(DType::stored);
        let Some(elem) = stored else {
            return self.stop_at("argument", span, "a tensor has a type: `dtype=pl.FP32`");
        };
        const MOST: u64 = 1 << 40;
        let bytes = extents.iter().try_fold(elem.bytes() as u64, |all, n| all.checked_mul(*n)).filter(|n| *n <= MOST);
        if extents.is_empty() || extents.contains(&0) || bytes.is_none() {
            return self.stop_at("argument", span, "a tensor that is empty, or larger than any memory");
        }
        let number = self.rec().graph.tensors.iter().filter(|tensor| tensor.origin != Origin::Argument).count();
        let view = self.rec().tensor(&format!("tensor{number}"), elem, &extents, Origin::Created, span);
        let view = view.of_truths(ty == Some(DType::Bool));
        match own("init_value") {
            None | Some(HostValue::Const(Const::None)) => {}
            Some(HostValue::Const(Const::Int(n))) => self.fill(&view, &n.to_string()),
            Some(HostValue::Const(Const::Float(x))) => self.fill(&view, &format!("{x:?}")),
            Some(other) => return self.not_known(&other, "the first value of this tensor", span),
        }
        if own("manual_dep").is_some_and(|manual| manual.as_bool() == Some(true)) {
            self.rec().graph.tensors[view.tensor].tracked = false;
        }
        HostValue::Device(view)
    }

    pub(super) fn fill(&mut self, view: &View, number: &str) {
        let extents: Vec<String> = view.shape.iter().map(u64::to_string).collect();
        let text = format!("full:{}[{}]={number}", view.elem, extents.join("x"));
        let recorder = self.rec();
        recorder.filled[view.tensor] = Some(text);
        recorder.graph.tensors[view.tensor].origin = Origin::Filled;
    }

    /// Names the result of a statement.
    pub(in crate::host) fn named(&mut self, name: &str, value: &HostValue<'a>) {
        if let HostValue::Device(view) = value {
            let tensor = &mut self.rec().graph.tensors[view.tensor];
            if tensor.origin != Origin::Argument && tensor.name.starts_with("tensor") {
                tensor.name = name.to_string();
            }
        }
        if let HostValue::Task(task) = value
            && let Some(waits) = self.rec().later.shift_remove(name)
        {
            for (waiting, _) in waits {
                let after = self.rec().tickets[*task];
                self.rec().graph.tasks[waiting].after.push(after);
            }
        }
    }

    pub(super) fn window(
        &mut self,
        view: &View,
        shape: &HostValue<'a>,
        offset: &HostValue<'a>,
        span: Span,
    ) -> HostValue<'a> {
        let (Some(sizes), Some(firsts)) = (extents(shape), extents(offset)) else {
            let value = if extents(shape).is_none() { shape.clone() } else { offset.clone() };
            return self.not_known(&value, "this part of a tensor", span);
        };
        if sizes.len() != view.shape.len() || firsts.len() != sizes.len() {
            let message = format!(
                "{} extents and {} offsets for a tensor of {} dimensions",
                sizes.len(),
                firsts.len(),
                view.shape.len()
            );
            return self.stop_at("rank", span, message);
        }
        let mut part = view.clone();
        for (dim, ((first, size), extent)) in firsts.iter().zip(&sizes).zip(&view.shape).enumerate() {
            if first + size > *extent || *size == 0 {
                let message =
                    format!("elements {first} to {} lie outside the {extent} of dimension {dim}", first + size);
                return self.stop_at("bounds", span, message);
            }
            part.offset += first * view.strides[dim];
        }
        part.shape = sizes;
        HostValue::Device(Rc::new(part))
    }

    /// `pl.slice`: a window whose rows may extend past the end of the tensor, like the last part of a longer one. There
    /// is nothing past the end.
    pub(super) fn tail(
        &mut self,
        view: &View,
        shape: &HostValue<'a>,
        offset: &HostValue<'a>,
        span: Span,
    ) -> HostValue<'a> {
        let (Some(sizes), Some(firsts)) = (extents(shape), extents(offset)) else {
            return self.window(view, shape, offset, span);
        };
        let rows = (sizes.first(), firsts.first(), view.shape.first());
        let (Some(&size), Some(&first), Some(&extent)) = rows else { return self.window(view, shape, offset, span) };
        if first >= extent || first + size <= extent {
            return self.window(view, shape, offset, span);
        }
        let longer = View { shape: [&[first + size], &view.shape[1..]].concat(), ..view.clone() };
        self.window(&longer, shape, offset, span)
    }

    /// A window without dimensions of extent 1: `drop_dims`.
    pub(super) fn dropped(&mut self, view: &View, dims: &HostValue<'a>, span: Span) -> HostValue<'a> {
        let Some(dims) = extents(dims) else { return self.not_known(dims, "`drop_dims`", span) };
        let kept = |at: &usize| !dims.contains(&(*at as u64));
        let gone = dims.iter().all(|dim| view.shape.get(*dim as usize) == Some(&1));
        if !gone || (0..view.shape.len()).filter(kept).count() == 0 {
            return self.stop_at("rank", span, "`drop_dims` names dimensions of extent 1, and leaves one");
        }
        let shape = (0..view.shape.len()).filter(kept).map(|at| view.shape[at]).collect();
        let strides = (0..view.shape.len()).filter(kept).map(|at| view.strides[at]).collect();
        HostValue::Device(Rc::new(View { shape, strides, ..view.clone() }))
    }

    /// The same bytes with two dimensions exchanged.
    pub(super) fn transposed(&mut self, view: &View, one: i64, two: i64, span: Span) -> HostValue<'a> {
        let rank = view.shape.len() as i64;
        let axis = |n: i64| usize::try_from(if n < 0 { n + rank } else { n }).ok().filter(|n| (*n as i64) < rank);
        let (Some(one), Some(two)) = (axis(one), axis(two)) else {
            return self.stop_at("dim", span, format!("the tensor has {rank} dimensions, not these"));
        };
        if one == two {
            return self.stop_at("dim", span, "a transposition takes two dimensions");
        }
        let mut turned = view.clone();
        turned.shape.swap(one, two);
        turned.strides.swap(one, two);
        HostValue::Device(Rc::new(turned))
    }

    /// `x[i, j] = number`, `x[a:b, :] = part`.
    pub(super) fn put(&mut self, view: &Rc<View>, index: &'a Expr, value: &HostValue<'a>, span: Span) -> HostValue<'a> {
        let parts: Vec<&'a Expr> = match index {
            Expr::Tuple(tuple) => tuple.elts.iter().collect(),
            one => vec![one],
        };
        if parts.len() == view.shape.len() && !parts.iter().any(|part| part.is_slice_expr()) {
            let indices: Vec<HostValue<'a>> = parts.into_iter().map(|part| self.expr(part)).collect();
            return self.write_number(view, &[HostValue::list(indices)], value, span);
        }
        match (value, self.device_part(view, index, span)) {
            (HostValue::Device(part), HostValue::Device(window)) => self.assembled(view, part, &window, span),
            (_, HostValue::Device(_)) => self.misplaced("a store into a tensor", span),
            (_, stopped) => stopped,
        }
    }

    pub(super) fn reshaped(&mut self, view: &View, shape: &HostValue<'a>, span: Span) -> HostValue<'a> {
        let Some(shape) = extents(shape) else { return self.not_known(shape, "this shape", span) };
        let dense = view.strides == dense_strides(&view.shape);
        if !dense || shape.iter().product::<u64>() != view.shape.iter().product::<u64>() {
            return self.stop_at(
                "reshape",
                span,
                "only a tensor whose rows lie next to each other has another shape, of as many elements",
            );
        }
        let strides = dense_strides(&shape);
        HostValue::Device(Rc::new(View { shape, strides, ..view.clone() }))
    }

    /// A part of a tensor: `x[0:64, i]`.
    pub(in crate::host) fn device_part(&mut self, view: &Rc<View>, index: &'a Expr, span: Span) -> HostValue<'a> {
        let parts: Vec<&'a Expr> = match index {
            Expr::Tuple(tuple) => tuple.elts.iter().collect(),
            one => vec![one],
        };
        if parts.len() > view.shape.len() {
            return self.stop_at(
                "rank",
                span,
                format!("{} indices for a tensor of {} dimensions", parts.len(), view.shape.len()),
            );
        }
        let mut part = View { shape: Vec::new(), strides: Vec::new(), ..(**view).clone() };
        for (dim, extent) in view.shape.iter().enumerate() {
            let extent = *extent as i64;
            let (first, end, kept) = match parts.get(dim) {
                None => (0, extent, true),
                Some(Expr::Slice(slice)) => {
                    let mut bounds = [0, extent];
                    for (bound, expr) in bounds.iter_mut().zip([&slice.lower, &slice.upper]) {
                        let Some(expr) = expr else { continue };
                        match self.expr(expr) {
                            HostValue::Const(Const::Int(n)) => *bound = if n < 0 { n + extent } else { n },
                            other => return self.not_known(&other, "a bound of this part", at(&**expr)),
                        }
                    }
                    if slice.step.is_some() {
                        return self.stop_at("step", span, "parts of tensors have no step");
                    }
                    (bounds[0], bounds[1], true)
                }
                Some(expr) => match self.expr(expr) {
                    HostValue::Const(Const::Int(n)) => {
                        let n = if n < 0 { n + extent } else { n };
                        (n, n + 1, false)
                    }
                    other => return self.not_known(&other, "an index of this part", at(*expr)),
                },
            };
            if first < 0 || end > extent || first >= end {
                let message = format!("elements {first} to {end} lie outside the {extent} of dimension {dim}");
                return self.stop_at("bounds", span, message);
            }
            part.offset += first as u64 * view.strides[dim];
            if kept {
                part.shape.push((end - first) as u64);
                part.strides.push(view.strides[dim]);
            }
        }
        if part.shape.is_empty() {
            part.shape.push(1);
            part.strides.push(1);
            return self.read_number(&part, &[HostValue::int(0)], span);
        }
        HostValue::Device(Rc::new(part))
    }
}
