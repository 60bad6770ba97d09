//! Operations of all devices on their windows: barriers, reductions, exchanges, with the credit barrier of the public
//! page.

use slipring_ir::{Attr, Diagnostic, Span, Type, ValueId};
use slipring_tile::{Elem, Space};

use super::entry::Call;
use super::remote::{PIECE, copy, domain, hold, in_pieces, one_of, remote, tell, window};
use crate::dtype::DType;
use crate::lower::signature::whole_view;
use crate::lower::{Lower, Lowered, Root};
use crate::value::{Const, Domain, Index, Tensor, Value, show, whole};

/// Waits until all devices have arrived.
pub(super) fn barrier(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let signals = Signals::of(lower, call, "signal")?;
    signals.meet(lower, Index::Known(1))?;
    signals.clear(lower, 1)?;
    Ok(Value::Tensor(signals.tensor))
}

/// The name of the signals that the host supplies for a collective without explicit ones; no text contains it.
pub(crate) const OWN_SIGNALS: &str = "own signals";

/// The signals of a collective: one cell for each device.
struct Signals {
    tensor: Tensor,
    own: Domain,
    span: Span,
}

impl Signals {
    fn of(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<Signals> {
        let (tensor, span) = match lower.names.env.get(OWN_SIGNALS) {
            Some(Value::Tensor(own)) if call.get(name).is_none() => (own.clone(), call.span),
            _ => window(lower, call, name)?,
        };
        let own = domain(lower, &tensor, span)?;
        let shape = tensor.shape();
        if tensor.elem != Elem::I32 || shape.first().is_none_or(|n| *n < own.ranks) || shape.len() > 2 {
            let message = format!(
                "signals are INT32 with a row for each of {} devices, these are {} {}",
                own.ranks,
                show(&shape),
                DType::Elem(tensor.elem).name()
            );
            return Err(lower.error("shapes", span, message));
        }
        Ok(Signals { tensor, own, span })
    }

    /// The cell of a device.
    fn cell(&self, lower: &mut Lower<'_>, device: u64) -> Lowered<Tensor> {
        let rank = self.tensor.shape().len();
        let mut offsets = vec![Index::Known(0); rank];
        offsets[0] = Index::Known(device as i64);
        lower.tensor_window(&self.tensor, &offsets, &vec![1; rank], self.span)
    }

    fn others(&self) -> impl Iterator<Item = u64> + use<> {
        let rank = self.own.rank;
        (0..self.own.ranks).filter(move |device| *device != rank)
    }

    fn word(lower: &mut Lower<'_>, n: i64) -> ValueId {
        lower.e.constant(Attr::Int(n.into(), Type::I32), Type::I32)
    }

    /// Waits until all devices have arrived for the `time`-th time in this call.
    fn meet(&self, lower: &mut Lower<'_>, time: Index) -> Lowered<()> {
        let one = Signals::word(lower, 1);
        let mine = self.cell(lower, self.own.rank)?;
        for peer in self.others() {
            tell(lower, (&mine, Index::Known(peer as i64)), one, false, self.span)?;
        }
        let time = match time {
            Index::Known(n) => Signals::word(lower, n),
            Index::At(scalar) => lower.number(&Value::Scalar(scalar), DType::Elem(Elem::I32), self.span)?,
        };
        for peer in self.others() {
            let cell = self.cell(lower, peer)?;
            hold(lower, &cell, time, false);
        }
        Ok(())
    }

    /// Subtracts what the others have added in this call.
    fn clear(&self, lower: &mut Lower<'_>, times: u64) -> Lowered<()> {
        let back = Signals::word(lower, -(times as i64));
        for peer in self.others() {
            let cell = self.cell(lower, peer)?;
            tell(lower, (&cell, Index::Known(self.own.rank as i64)), back, false, self.span)?;
        }
        Ok(())
    }
}

/// The op of a reduction.
fn reduction(lower: &mut Lower<'_>, call: &Call, known: &[&str]) -> Lowered<&'static str> {
    let at = if call.has("op") { one_of(lower, call, "op", known)? } else { 0 };
    Ok(["add", "maximum", "minimum", "mul"][at])
}

/// A window as a single row, if its elements are contiguous.
fn row(lower: &mut Lower<'_>, tensor: &Tensor, span: Span) -> Lowered<Tensor> {
    let root = lower.tensors.roots[tensor.root].clone();
    let is_whole = tensor.sizes == root.dims && tensor.reshaped.is_none();
    if !is_whole || root.strides.as_slice() != crate::value::dense(&root.dims).as_slice() {
        return Err(lower.unsupported(span, "a collective on a part of a window"));
    }
    let all: u64 = root.dims.iter().product();
    let view = whole_view(lower, root.pointer, root.elem, (&[1, all], &[all, 1]), None);
    let (elem, dims) = (root.elem, [1, all].into_iter().collect());
    lower.tensors.roots.push(Root { view, dims, strides: [all, 1].into_iter().collect(), ..root });
    Ok(whole(lower.tensors.roots.len() - 1, elem, &[1, all]))
}

fn columns(lower: &mut Lower<'_>, tensor: &Tensor, first: Index, count: u64, span: Span) -> Lowered<Tensor> {
    lower.tensor_window(tensor, &[Index::Known(0), first], &[1, count], span)
}

/// The reduction of a part of the windows of these devices, in this order.
fn reduced(
    lower: &mut Lower<'_>,
    (tensor, signals): (&Tensor, &Signals),
    (first, count): (Index, u64),
    (op, order): (&'static str, &[u64]),
    span: Span,
) -> Lowered<Value> {
    let own = columns(lower, tensor, first, count, span)?;
    let mut sum: Option<Value> = None;
    for device in order {
        let there = match *device == signals.own.rank {
            true => own.clone(),
            false => remote(lower, &own, Index::Known(*device as i64), span)?,
        };
        let part = Value::Tile(lower.load(&there, Space::Vec)?);
        sum = Some(match sum {
            None => part,
            Some(sum) => lower.call_by_name(op, vec![sum, part], span)?,
        });
    }
    Ok(sum.unwrap_or(Value::Nothing))
}

/// A part of all windows that is reduced in the same order of devices: first element, number of elements, order.
type Segment = (u64, u64, Vec<u64>);

/// The device's own window first, then the others' by index.
fn mesh(extent: u64, signals: &Signals) -> Vec<Segment> {
    let order = std::iter::once(signals.own.rank).chain(signals.others()).collect();
    vec![(0, extent, order)]
}

/// One segment for each device, where it ends after a full round: the sums are rounded in ring order. Segments of short
/// types begin at multiples of 32 bytes.
fn ring(extent: u64, elem: Elem, ranks: u64) -> Vec<Segment> {
    let unit = if elem.bytes() < 4 { 32 / elem.bytes() as u64 } else { 1 };
    let begin = |at: u64| if at == ranks { extent } else { (at * extent / ranks).next_multiple_of(unit).min(extent) };
    let segment =
        |at: u64| (begin(at), begin(at + 1) - begin(at), (1..=ranks).map(|step| (at + step) % ranks).collect());
    (0..ranks).map(segment).filter(|segment: &Segment| segment.1 > 0).collect()
}

pub(super) fn allreduce(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = window(lower, call, "target")?;
    let around = call.has("mode") && one_of(lower, call, "mode", &["mesh", "ring"])? == 1;
    let op = reduction(lower, call, &["Sum", "Max", "Min", "Prod"])?;
    let signals = Signals::of(lower, call, "signal")?;
    domain(lower, &target, span)?;
    let all = row(lower, &target, span)?;
    if !matches!(all.elem, Elem::F16 | Elem::F32) {
        let message = format!("`pld.tensor.allreduce` of {} elements", all.elem.name().to_uppercase());
        let error = Diagnostic::error("elem-types", span, message);
        return Err(lower.report(error.help("its window has FP16 or FP32 elements: convert what is put into it")));
    }
    signals.meet(lower, Index::Known(1))?;
    let (extent, most) = (all.sizes[1], PIECE / all.elem.bytes() as u64);
    let segments = if around { ring(extent, all.elem, signals.own.ranks) } else { mesh(extent, &signals) };
    let mut pieces = 0;
    for (begin, length, order) in segments {
        let each = most.min(length);
        in_pieces(lower, (length, each), call.span, |lower, first, count| {
            let place = lower.add_index(first, Index::Known(begin as i64));
            let sum = reduced(lower, (&all, &signals), (place, count), (op, &order), span)?;
            // The overwritten contents are not needed by anyone.
            let time = match first {
                Index::Known(n) => Index::Known(n / each as i64 + pieces as i64 + 2),
                Index::At(scalar) => {
                    let each = Value::Const(Const::Int(each as i64));
                    let at = lower.binary_number(
                        ruff_python_ast::Operator::FloorDiv,
                        &Value::Scalar(scalar),
                        &each,
                        span,
                    )?;
                    let at = lower.index(&at, span)?;
                    lower.add_index(at, Index::Known(pieces as i64 + 2))
                }
            };
            signals.meet(lower, time)?;
            let own = columns(lower, &all, place, count, span)?;
            lower.store(&sum, &own, false, span)
        })?;
        pieces += length.div_ceil(each);
    }
    signals.clear(lower, pieces + 1)?;
    Ok(Value::Tensor(target))
}

pub(super) fn broadcast(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = window(lower, call, "target")?;
    let signals = Signals::of(lower, call, "signal")?;
    call.need(lower, "root")?;
    let root = call.int(lower, "root")?.unwrap_or(0);
    let there = remote(lower, &target, Index::Known(root), span)?;
    signals.meet(lower, Index::Known(1))?;
    if root != signals.own.rank as i64 {
        copy(lower, &there, &target, (false, PIECE), call.span)?;
    }
    // The owner of the window may write it again.
    signals.meet(lower, Index::Known(2))?;
    signals.clear(lower, 2)?;
    Ok(Value::Tensor(target))
}

/// Part `at` of a window with one part for each device.
fn part_of(lower: &mut Lower<'_>, tensor: &Tensor, at: u64, ranks: u64, span: Span) -> Lowered<Tensor> {
    let mut shape = tensor.shape().to_vec();
    if shape.first().is_none_or(|n| n % ranks != 0) {
        let message = format!("{} has no part for each of {ranks} devices", show(&shape));
        return Err(lower.error("shapes", span, message));
    }
    shape[0] /= ranks;
    let mut offsets = vec![Index::Known(0); shape.len()];
    offsets[0] = Index::Known((at * shape[0]) as i64);
    lower.tensor_window(tensor, &offsets, &shape, span)
}

/// Every device writes its part to all windows: `allgather` of a whole tensor, `all_to_all` of the part for each
/// device.
pub(super) fn exchange(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered {
    let (source, place) = window(lower, call, name)?;
    let (target, span) = window(lower, call, "target")?;
    let signals = Signals::of(lower, call, "signal")?;
    let Domain { rank, ranks, .. } = signals.own;
    let into = part_of(lower, &target, rank, ranks, span)?;
    for peer in 0..ranks {
        let part = match name {
            "input" => part_of(lower, &source, peer, ranks, place)?,
            _ => source.clone(),
        };
        if part.shape().iter().product::<u64>() != into.shape().iter().product::<u64>() || part.elem != into.elem {
            let message = format!("{} is put into {}, the part of a device", show(&part.shape()), show(&into.shape()));
            return Err(lower.error("shapes", call.span, message));
        }
        let there = remote(lower, &into, Index::Known(peer as i64), span)?;
        copy(lower, &part, &there, (false, PIECE), call.span)?;
    }
    signals.meet(lower, Index::Known(1))?;
    signals.clear(lower, 1)?;
    Ok(Value::Tensor(target))
}

pub(super) fn exchange_rows(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (source, place) = window(lower, call, "input")?;
    let (target, span) = window(lower, call, "target")?;
    let (counts, counts_span) = window(lower, call, "send_counts")?;
    let (received, received_span) = window(lower, call, "recv_counts")?;
    let signals = Signals::of(lower, call, "signal")?;
    let Domain { rank, ranks, .. } = signals.own;
    let into = part_of(lower, &target, rank, ranks, span)?;
    let most = Value::Const(Const::Int(into.shape()[0] as i64));
    let mine = part_of(lower, &received, rank, ranks, received_span)?;
    for peer in 0..ranks {
        let part = part_of(lower, &source, peer, ranks, place)?;
        let there = remote(lower, &into, Index::Known(peer as i64), span)?;
        copy(lower, &part, &there, (false, PIECE), call.span)?;
        let mut at = vec![Value::Const(Const::Int(0)); counts.shape().len()];
        at[0] = Value::Const(Const::Int(peer as i64));
        let count =
            lower.call_by_name("read", vec![Value::Tensor(counts.clone()), Value::Tuple(at.into())], counts_span)?;
        let count = lower.extreme(false, &count, &most, counts_span)?;
        let count = lower.number(&count, DType::Elem(Elem::I32), counts_span)?;
        tell(lower, (&mine, Index::Known(peer as i64)), count, true, received_span)?;
    }
    signals.meet(lower, Index::Known(1))?;
    signals.clear(lower, 1)?;
    Ok(Value::Tensor(target))
}

pub(super) fn reduce_scatter(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = window(lower, call, "target")?;
    let op = reduction(lower, call, &["Sum"])?;
    let signals = Signals::of(lower, call, "signal")?;
    let Domain { rank, ranks, .. } = signals.own;
    let mine = part_of(lower, &target, rank, ranks, span)?;
    let size = mine.shape().iter().product::<u64>();
    let all = row(lower, &target, span)?;
    signals.meet(lower, Index::Known(1))?;
    let each = (PIECE / all.elem.bytes() as u64).min(size);
    let order: Vec<u64> = std::iter::once(rank).chain(signals.others()).collect();
    // Other devices read other parts of this window.
    in_pieces(lower, (size, each), call.span, |lower, first, count| {
        let first = lower.add_index(first, Index::Known((rank * size) as i64));
        let sum = reduced(lower, (&all, &signals), (first, count), (op, &order), span)?;
        let own = columns(lower, &all, first, count, span)?;
        lower.store(&sum, &own, false, span)
    })?;
    signals.meet(lower, Index::Known(2))?;
    signals.clear(lower, 2)?;
    Ok(Value::Tensor(target))
}
