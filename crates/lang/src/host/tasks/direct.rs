//! Direct accesses of an orchestration to tensors: elements that it reads and writes, parts that it assembles.

use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use slipring_ir::{Diagnostic, Span};
use slipring_tasks::act::{Act, HostArg, HostCall, HostNumber, Piece};
use slipring_tasks::{Direction, Use};
use slipring_tile::Elem;

use super::super::value::HostValue;
use super::extents;
use crate::host::recorder::{Groups, Options};
use crate::host::state::Host;
use crate::host::value::unknown;
use crate::host::view::View;
use crate::orchestration::{Open, TaskCall};
use crate::questions::{Ask, Question};
use crate::value::Const;

impl View {
    pub(super) fn piece(&self) -> Piece {
        Piece {
            tensor: self.tensor,
            elem: self.elem,
            offset: self.first_byte(),
            shape: self.shape.clone(),
            strides: self.strides.clone(),
        }
    }
}

impl<'a> Host<'a> {
    /// `pl.read(x, [i, j])`, `x[i, j]`: the orchestration waits for the element.
    pub(super) fn read_number(&mut self, view: &View, indices: &[HostValue<'a>], span: Span) -> HostValue<'a> {
        let Some(place) = self.element(view, indices, span) else { return unknown(span, "what stopped the program") };
        let name = self.rec().graph.tensors[view.tensor].name.clone();
        let piece = place.piece();
        self.act(Act::Read(piece.clone()), format!("read {name}"), view.tracked, true, span);
        let answer = self.ask_run(Question::Element(piece), &format!("what `{name}` holds"), span);
        match answer.map(|bits| number(view.elem, bits)) {
            Some(Some(number)) => HostValue::Const(number),
            Some(None) => self.stop_at("not-known", span, format!("a number of {} that no index is", view.elem)),
            None => unknown(span, "what stopped the program"),
        }
    }

    /// `pl.write(x, [i, j], number)`, `x[i, j] = number`.
    pub(super) fn write_number(
        &mut self,
        view: &View,
        indices: &[HostValue<'a>],
        value: &HostValue<'a>,
        span: Span,
    ) -> HostValue<'a> {
        let Some(place) = self.element(view, indices, span) else { return unknown(span, "what stopped the program") };
        let bytes = match value {
            HostValue::Const(c @ (Const::Int(_) | Const::Float(_) | Const::Bool(_))) => bytes_of(view.elem, c),
            other => return self.not_known(&other.clone(), "the number that is written", span),
        };
        let Some(bytes) = bytes else {
            return self.stop_at("argument", span, format!("this is not a number of {}", view.elem));
        };
        let name = self.rec().graph.tensors[view.tensor].name.clone();
        self.act(Act::Write(place.piece(), bytes), format!("write {name}"), view.tracked, true, span);
        HostValue::Device(Rc::new(view.clone()))
    }

    /// `pl.assemble(x, part, offset)`, `x[a:b, :] = part`: a copy, unless the part is there already.
    pub(super) fn assembled(&mut self, into: &View, part: &View, window: &View, span: Span) -> HostValue<'a> {
        let whole = HostValue::Device(Rc::new(into.clone()));
        if part.shape.iter().product::<u64>() != window.shape.iter().product::<u64>() || part.elem != window.elem {
            let shapes = |view: &View| format!("{} {}", crate::value::show(&view.shape), view.elem);
            let message = format!("{} is put into a part that is {}", shapes(part), shapes(window));
            return self.stop_at("shape", span, message);
        }
        let there =
            part.tensor == window.tensor && part.first_byte() == window.first_byte() && part.bytes() == window.bytes();
        if !there {
            let name = self.rec().graph.tensors[into.tensor].name.clone();
            let act = Act::Copy { from: part.piece(), to: window.piece() };
            self.act(act, format!("assemble {name}"), into.tracked && part.tracked, false, span);
        }
        whole
    }

    /// The number of clusters or Vector cores.
    pub(super) fn cores(&mut self, question: Question, span: Span) -> HostValue<'a> {
        let (vector_cores, devices) = (question == Question::VectorCores, question == Question::Devices);
        let what = if devices { "how many devices there are" } else { "how many cores there are" };
        match self.ask_run(question, what, span) {
            Some(n) => {
                match devices {
                    true => self.rec().devices = Some(n),
                    false => self.rec().kernels.know(vector_cores, n),
                }
                HostValue::int(n as i64)
            }
            None => unknown(span, "what stopped the program"),
        }
    }

    /// Queries the run for which the program is followed; without an answer, following stops.
    fn ask_run(&mut self, question: Question, what: &str, span: Span) -> Option<u64> {
        if self.rec().stopped {
            return None;
        }
        let devices = question == Question::Devices;
        if !devices && self.rec().groups == Groups::Asked {
            self.rec().stopped = true;
            return None;
        }
        let element = matches!(question, Question::Element(_));
        let mut answer = self.rec().answer.take();
        let recorder = self.rec();
        let (graph, calls) = (&recorder.graph, &recorder.calls[..]);
        let ask = Ask { question, graph, calls, kernels: &recorder.kernels.list, filled: &recorder.filled };
        let found = answer.as_mut().map(|answer| answer(&ask));
        recorder.answer = answer;
        let why = match found {
            Some(Ok(bits)) => {
                // The number of devices comes from the caller: it is not a value of the run.
                self.rec().asked |= !devices;
                self.rec().read |= element;
                return Some(bits);
            }
            Some(Err(why)) => Some(why),
            None => None,
        };
        recorder.stopped = true;
        recorder.open = Some(Open { span, what: what.into(), why });
        None
    }

    /// Records a direct action of the orchestration; with `waits`, nothing is submitted before it is done.
    fn act(&mut self, act: Act, name: String, tracked: bool, waits: bool, span: Span) {
        if let Some(cluster) = self.rec().cluster {
            let error = Diagnostic::error(
                "cluster",
                span,
                format!("`{name}` is inside a cluster, which can only start kernels"),
            );
            self.stop(error.also(cluster, "the cluster").help("do it before the cluster"));
            return;
        }
        let used = |piece: &Piece, direction| Use {
            tensor: piece.tensor,
            param: "the orchestration".into(),
            bytes: piece.bytes(),
            direction,
            declared: false,
            tracked,
            span: Span::default(),
        };
        let uses = match &act {
            Act::Read(piece) => vec![used(piece, Direction::In)],
            Act::Write(piece, _) => vec![used(piece, Direction::Out)],
            Act::Copy { from, to } => vec![used(from, Direction::In), used(to, Direction::Out)],
            Act::Host(call) => call.parts().map(|(piece, direction)| used(piece, direction)).collect(),
        };
        let task = self.add(TaskCall { act: Some(act), ..TaskCall::default() }, name, uses, Options::default(), span);
        let recorder = self.rec();
        if let Some(own) = recorder.graph.tasks.get_mut(task) {
            own.dummy = true;
        }
        if waits {
            recorder.behind = Some(task);
        }
    }

    /// Calls a host function: it runs when its arguments are available. The result is what it returns by name, else its
    /// outputs.
    pub(super) fn host_call(
        &mut self,
        def: &'a StmtFunctionDef,
        given: &[(Rc<str>, HostValue<'a>, Span)],
        span: Span,
    ) -> HostValue<'a> {
        let name = def.name.to_string();
        let parameters = def.parameters.iter_non_variadic_params().filter(|p| p.parameter.name.as_str() != "self");
        let (mut args, mut outputs, mut tracked) = (Vec::new(), Vec::new(), true);
        for ((wanted, value, place), parameter) in given.iter().zip(parameters) {
            match value {
                HostValue::Device(view) => {
                    let direction = match parameter.parameter.annotation.as_deref() {
                        Some(Expr::Subscript(annotation)) => match self.expr_path(&annotation.value).as_deref() {
                            Some("pl.Out") => Direction::Out,
                            Some("pl.InOut") => Direction::InOut,
                            _ => Direction::In,
                        },
                        _ => Direction::In,
                    };
                    if direction.writes() {
                        outputs.push(value.clone());
                    }
                    tracked &= view.tracked;
                    args.push(HostArg::Part(view.piece(), direction));
                }
                HostValue::Const(Const::Bool(boolean)) => args.push(HostArg::Number(HostNumber::Boolean(*boolean))),
                HostValue::Const(Const::Int(n)) => args.push(HostArg::Number(HostNumber::Whole(*n))),
                HostValue::Const(Const::Float(x)) => args.push(HostArg::Number(HostNumber::Float(*x))),
                other => return self.not_known(other, &format!("`{wanted}` of `{name}`"), *place),
            }
        }
        self.act(Act::Host(HostCall { name: name.clone(), args }), name, tracked, false, span);
        let named = |expr: &Expr| {
            let Expr::Name(name) = expr else { return None };
            given.iter().find(|own| *own.0 == *name.id.as_str()).map(|own| own.1.clone())
        };
        let returned = match def.body.last() {
            Some(Stmt::Return(end)) => match end.value.as_deref() {
                Some(Expr::Tuple(all)) => all.elts.iter().map(named).collect(),
                Some(one) => named(one).map(|one| vec![one]),
                None => None,
            },
            _ => None,
        };
        match &returned.unwrap_or(outputs)[..] {
            [] => HostValue::Const(Const::None),
            [one] => one.clone(),
            several => HostValue::Tuple(Rc::new(several.to_vec())),
        }
    }

    /// The element of a tensor at these indices.
    fn element(&mut self, view: &View, indices: &[HostValue<'a>], span: Span) -> Option<View> {
        let indices = match indices {
            [one] => one.items().unwrap_or_else(|| vec![one.clone()]),
            all => all.to_vec(),
        };
        let list = HostValue::list(indices);
        let Some(numbers) = extents(&list) else {
            let items = list.items().unwrap_or_default();
            let wrong = items.into_iter().find(|item| !matches!(item, HostValue::Const(Const::Int(_))));
            match wrong {
                Some(wrong) => drop(self.not_known(&wrong, "an index", span)),
                None => drop(self.stop_at("bounds", span, "an index below 0")),
            }
            return None;
        };
        // Indices of a flattened tensor count all elements.
        if numbers.len() != view.shape.len() {
            let message = format!("{} indices for a tensor of {} dimensions", numbers.len(), view.shape.len());
            self.stop_at("rank", span, message);
            return None;
        }
        if let Some((dim, n)) = numbers.iter().enumerate().find(|(dim, n)| **n >= view.shape[*dim]) {
            let message = format!("element {n} lies outside the {} of dimension {dim}", view.shape[dim]);
            self.stop_at("bounds", span, message);
            return None;
        }
        let offset = view.offset + numbers.iter().zip(&view.strides).map(|(n, stride)| n * stride).sum::<u64>();
        Some(View { offset, shape: vec![1], strides: vec![1], ..view.clone() })
    }
}

/// The scalar with these bits.
fn number(elem: Elem, bits: u64) -> Option<Const> {
    let bytes = bits.to_le_bytes();
    if elem.is_float() {
        let mut values = [0f32; 2];
        slipring_tile::load_f32(elem, &bytes[..elem.bytes()], &mut values[..elem.values()]);
        return (elem.values() == 1).then(|| Const::Float(f64::from(values[0])));
    }
    let unused = 64 - 8 * elem.bytes() as u32;
    if elem.is_signed_int() {
        return Some(Const::Int(((bits << unused) as i64) >> unused));
    }
    i64::try_from((bits << unused) >> unused).ok().map(Const::Int)
}

/// The bytes of a scalar in a tensor.
fn bytes_of(elem: Elem, number: &Const) -> Option<Vec<u8>> {
    let mut bytes = vec![0; elem.bytes()];
    match number {
        _ if elem.values() != 1 => return None,
        Const::Int(n) if elem.is_float() => slipring_tile::store_f64(elem, &[*n as f64], &mut bytes),
        Const::Float(x) if elem.is_float() => slipring_tile::store_f64(elem, &[*x], &mut bytes),
        Const::Int(n) => {
            let unused = 64 - 8 * elem.bytes() as u32;
            let back =
                if elem.is_signed_int() { (n << unused) >> unused } else { ((*n as u64) << unused >> unused) as i64 };
            if back != *n {
                return None;
            }
            bytes.copy_from_slice(&n.to_le_bytes()[..elem.bytes()]);
        }
        Const::Bool(boolean) => bytes[0] = u8::from(*boolean),
        _ => return None,
    }
    Some(bytes)
}
