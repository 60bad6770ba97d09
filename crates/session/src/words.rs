//! Accesses outside of a tensor, described in the author's terms: the slice, the tensor, and the values of its indices.

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Line, Module, OpId, Type, ValueDef, ValueId};
use slipring_op::{Counter, Linear, OpDef, OpRef, rules};
use slipring_program::{Finding, Kind, Miss};

use crate::assume::as_numbers;
use crate::prepare::is_language;
use crate::tensor::Bound;
use crate::{Prepared, to_diagnostics};

/// The findings of a run as messages, in the author's terms if the kernel is written in the language.
pub fn in_words(findings: &[Finding], prepared: &Prepared, values: &[Bound<'_>]) -> Vec<Diagnostic> {
    let mut messages = to_diagnostics(findings, &prepared.decoded.program);
    if !is_language(&prepared.written.source) {
        return messages;
    }
    for (message, finding) in messages.iter_mut().zip(findings) {
        if let Some(own) = outside(finding, prepared, values) {
            let engine = std::mem::replace(&mut message.message, own.text);
            message.notes.insert(0, engine);
            message.help = own.help.or(message.help.take());
        }
        message.notes.extend(of_tails(&finding.kind).map(str::to_string));
    }
    messages
}

/// The syntax authors use where tails meet whole tiles.
fn of_tails(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::TileValid => Some(
            "where one of them is a tail: `pl.part_add(acc, x)` adds what is there and keeps the rest of `acc`, `pl.fillpad(x, \
             pl.PadValue.zero)` gives the rest a value, products are added up by `pl.matmul_acc`, and a tile of one number \
             counts as far by `pl.set_validshape(pl.full([T, 1], pl.FP32, 0.0), pl.min(T, x.shape[0] - i), 1)`",
        ),
        Kind::AccumulatorRows => Some(
            "where it is a tail: let the first product make the accumulator, `acc = pl.matmul(a, b)`, and add the others by \
             `acc = pl.matmul_acc(acc, a, b)`",
        ),
        _ => None,
    }
}

/// The description of an access.
struct Own {
    text: String,
    help: Option<String>,
}

/// A tensor that an access takes a window of: its name, extents, strides, and where the window begins.
struct NamedWindow {
    name: String,
    /// Extent and stride (elements) of each dimension of the tensor.
    dims: Vec<(i64, i64)>,
    offsets: Vec<ValueId>,
    sizes: Vec<i64>,
    bytes: i64,
    /// Whether it is that of an element.
    is_element: bool,
}

impl NamedWindow {
    /// The start of an access in each dimension, if it is one of this window's tensor.
    fn firsts(&self, miss: &Miss) -> Option<Vec<i64>> {
        match miss {
            Miss::OutsideTensor(part) => {
                let extents = self.dims.iter().map(|(extent, _)| u64::try_from(*extent).ok());
                extents.eq(part.extents.iter().copied().map(Some)).then(|| part.firsts.clone())
            }
            Miss::BeyondBuffer(start) | Miss::BeforeBuffer(start) if start.buffer == self.name => {
                let mut rest = start.byte / self.bytes;
                let each = self.dims.iter().map(|(_, stride)| {
                    let first = rest.div_euclid((*stride).max(1));
                    rest -= first * stride;
                    first
                });
                Some(each.collect())
            }
            _ => None,
        }
    }
}

fn outside(finding: &Finding, prepared: &Prepared, values: &[Bound<'_>]) -> Option<Own> {
    let Kind::OutOfBounds(miss) = &finding.kind else { return None };
    let site = prepared.decoded.program.sites.get(finding.primary.as_ref()?.site as usize)?;
    let module = &prepared.written;
    // A statement may load from one tensor and store into another.
    let here = |op: &OpId| (module.op(*op).span.start, module.op(*op).span.end) == site.span;
    let same = |op: &OpId| here(op) && *module.op(*op).name == *site.op;
    let missed = |op: OpId| {
        module.op(op).operands.iter().find_map(|value| {
            let found = window(module, *value)?;
            let firsts = found.firsts(miss)?;
            Some((found, firsts))
        })
    };
    let all = module.walk(module.top);
    let of_the_op = all.iter().copied().filter(same).find_map(missed);
    let (found, firsts) = of_the_op.or_else(|| all.iter().copied().filter(here).find_map(missed))?;
    let name = &found.name;
    let part = |first: i64, size: i64, extent: i64| match (first, size == extent) {
        _ if found.is_element => first.to_string(),
        (0, true) => ":".to_string(),
        _ => format!("{first}:{}", first.saturating_add(size)),
    };
    let slices: Vec<String> = (0..firsts.len()).map(|at| part(firsts[at], found.sizes[at], found.dims[at].0)).collect();
    let extents: Vec<String> = found.dims.iter().map(|(extent, _)| extent.to_string()).collect();
    let numbers = numbers(prepared, values);
    let mut known: BTreeMap<String, (i64, Option<Line>)> = BTreeMap::new();
    let mut order = Vec::new();
    for (at, offset) in found.offsets.iter().enumerate() {
        solve(module, *offset, firsts[at], &numbers, &mut |name, n, line| {
            if known.insert(name.clone(), (n, line)).is_none() {
                order.push(name);
            }
        });
    }
    let each: Vec<String> = order
        .iter()
        .map(|name| match &known[name] {
            (n, Some(line)) => format!("{name} = {n} (line {line})"),
            (n, None) => format!("{name} = {n}"),
        })
        .collect();
    let given = if each.is_empty() { String::new() } else { format!("; {}", each.join(", ")) };
    let text = format!("`{name}[{}]` is outside of `{name}[{}]`{given}", slices.join(", "), extents.join(", "));
    let tail = (0..firsts.len()).any(|at| {
        let (first, extent) = (firsts[at], found.dims[at].0);
        first >= 0 && first < extent && first.saturating_add(found.sizes[at]) > extent
    });
    let help = tail.then(|| {
        "the last part is smaller: take what is there with `pl.load(x, offsets, shape, clamp=True)`, or loop over constant bounds \
         with slices, which end where the tensor does"
            .to_string()
    });
    Some(Own { text, help })
}

/// The window of a tensor that a value is.
fn window(module: &Module, value: ValueId) -> Option<NamedWindow> {
    let made = OpRef::of(module, module.defining_op(value)?)?;
    // An access to an element takes the address of its window.
    let is_element = made.def.address_of_view;
    let id = if is_element { module.defining_op(made.operand("src")?)? } else { made.id };
    let op = OpRef::of(module, id).filter(|op| op.def.window)?;
    let view = OpRef::of(module, module.defining_op(op.operand("source")?)?)?;
    let elem = match module.ty(op.operand("source")?) {
        Type::TensorView(view) | Type::PartitionView(view) => view.elem,
        _ => return None,
    };
    let name = view.operand("ptr").and_then(|ptr| module.value(ptr).name.as_deref())?.to_string();
    let numbers = |op: &OpRef<'_>, name: &str| -> Option<Vec<i64>> {
        let each = module.operands_named(op.id, name);
        each.iter().map(|value| rules::constant(module, *value)).collect()
    };
    let dims: Vec<(i64, i64)> = numbers(&view, "shape")?.into_iter().zip(numbers(&view, "strides")?).collect();
    let (offsets, sizes) = (module.operands_named(id, "offsets").to_vec(), numbers(&op, "sizes")?);
    let whole = !dims.is_empty() && dims.len() == offsets.len() && dims.len() == sizes.len();
    whole.then(|| NamedWindow { name, dims, offsets, sizes, bytes: (elem.bytes() as i64).max(1), is_element })
}

/// The scalars that were passed, by name.
fn numbers(prepared: &Prepared, values: &[Bound<'_>]) -> BTreeMap<String, i64> {
    let params = &prepared.decoded.program.params;
    let each = params.iter().filter(|param| param.is_passed()).zip(as_numbers(values, params));
    each.filter_map(|(param, number)| Some((param.name.clone(), i64::try_from(number?).ok()?))).collect()
}

/// A linear combination of values, plus a constant.
fn sum(
    module: &Module,
    value: ValueId,
    times: i64,
    terms: &mut BTreeMap<ValueId, i64>,
    constant: &mut i64,
) -> Option<()> {
    if let Some(n) = rules::constant(module, value) {
        *constant = constant.checked_add(n.checked_mul(times)?)?;
        return Some(());
    }
    let linear = match module.value(value).def {
        ValueDef::Result(id, _) => OpDef::of(module, id).and_then(|def| def.linear).map(|linear| (id, linear)),
        ValueDef::Arg(..) => None,
    };
    let mut leaf = || {
        let term = terms.entry(value).or_default();
        *term = term.checked_add(times)?;
        Some(())
    };
    let Some((id, linear)) = linear else { return leaf() };
    let operands = &module.op(id).operands;
    match linear {
        Linear::Same => sum(module, operands[0], times, terms, constant),
        Linear::Sum => {
            sum(module, operands[0], times, terms, constant)?;
            sum(module, operands[1], times, terms, constant)
        }
        Linear::Difference => {
            sum(module, operands[0], times, terms, constant)?;
            sum(module, operands[1], times.checked_neg()?, terms, constant)
        }
        Linear::Product => {
            let (a, b) = (operands[0], operands[1]);
            let (n, other) = match (rules::constant(module, a), rules::constant(module, b)) {
                (Some(n), _) => (n, b),
                (_, Some(n)) => (n, a),
                _ => return leaf(),
            };
            sum(module, other, times.checked_mul(n)?, terms, constant)
        }
        Linear::Remainder => leaf(),
    }
}

/// Says what the numbers of an offset were: parameters as they were passed, and the one other value that then follows.
/// Of a loop's counter also what its end was. `None` where that is not all known.
fn solve(
    module: &Module,
    offset: ValueId,
    first: i64,
    numbers: &BTreeMap<String, i64>,
    say: &mut impl FnMut(String, i64, Option<Line>),
) -> Option<()> {
    let (mut terms, mut constant) = (BTreeMap::new(), 0i64);
    sum(module, offset, 1, &mut terms, &mut constant)?;
    let name = |value: ValueId| module.value(value).name.as_deref().map(str::to_string);
    let passed = |value: ValueId| {
        let name = name(value).filter(|_| is_param(module, value))?;
        numbers.get(&name).map(|n| (name, *n))
    };
    let mut open = Vec::new();
    for (value, times) in terms {
        match passed(value) {
            Some((name, n)) => {
                constant = constant.checked_add(n.checked_mul(times)?)?;
                say(name, n, None);
            }
            None => open.push((value, times)),
        }
    }
    let [(value, times)] = open[..] else { return None };
    let rest = first.checked_sub(constant)?;
    let own = name(value).filter(|_| rest.checked_rem(times) == Some(0))?;
    let span = module.value(value).span;
    let line = (span.end > span.start).then(|| module.source.line(span.start));
    say(own, rest.checked_div(times)?, line);
    let ValueDef::Arg(block, 0) = module.value(value).def else { return None };
    let id = module.block_parent(block)?;
    let Some(Counter::Range([_, end, _])) = OpDef::of(module, id)?.counter else { return None };
    let end = OpRef::of(module, id)?.operand(end)?;
    let (mut terms, mut rest) = (BTreeMap::new(), 0);
    sum(module, end, 1, &mut terms, &mut rest)?;
    terms.into_keys().filter_map(passed).for_each(|(name, n)| say(name, n, None));
    Some(())
}

/// True for a parameter of a function.
fn is_param(module: &Module, value: ValueId) -> bool {
    match module.value(value).def {
        ValueDef::Arg(block, _) => module.block_parent(block).is_some_and(|op| module.is_function(op)),
        ValueDef::Result(..) => false,
    }
}
