//! Memory of other devices, and signals there.

use slipring_ir::{Attr, Diagnostic, Span, Type, ValueId};
use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::Call;
use super::table::counted;
use crate::lower::signature::whole_view;
use crate::lower::{Lower, Lowered, Root};
use crate::value::{Domain, Index, Tensor, Value};

/// Number of bytes that are moved through a tile at a time.
pub(super) const PIECE: u64 = 16 << 10;

/// The maximum number of unrolled pieces; more of them become a loop.
pub(super) const UNROLLED: u64 = 4;

pub(super) fn window(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<(Tensor, Span)> {
    match call.need(lower, name)? {
        (Value::Tensor(tensor), span) => Ok((tensor, span)),
        (other, span) => Err(call.wrong(lower, name, "a window", &other, span)),
    }
}

/// The devices that have a part of a tensor.
pub(super) fn domain(lower: &mut Lower<'_>, tensor: &Tensor, span: Span) -> Lowered<Domain> {
    let root = &lower.tensors.roots[tensor.root];
    if let Some(domain) = root.domain {
        return Ok(domain);
    }
    let error = Diagnostic::error(
        slipring_ir::Kind::Unsupported,
        span,
        format!("no other device has a part of `{}`", root.name),
    )
    .also(root.span, "declared here")
    .note("what devices do with each other's memory runs with the program that starts them")
    .help("pass it a `pld.window(…)`, and run the function of the host (`@pl.jit.host`)");
    Err(lower.report(error))
}

/// Distance in elements from this device's part to that of another device.
pub(super) fn distance(lower: &mut Lower<'_>, tensor: &Tensor, peer: Index, span: Span) -> Lowered<Index> {
    let own = domain(lower, tensor, span)?;
    if let Index::Known(n) = peer
        && !(0..own.ranks as i64).contains(&n)
    {
        let message = format!("there is no device {n}: the program runs on {}, counted from 0", own.ranks);
        return Err(lower.error("bounds", span, message));
    }
    let by = lower.add_index(peer, Index::Known(-(own.rank as i64)));
    Ok(lower.times(by, own.stride as i64))
}

/// The same part of another device's memory.
pub(super) fn remote(lower: &mut Lower<'_>, tensor: &Tensor, peer: Index, span: Span) -> Lowered<Tensor> {
    let by = distance(lower, tensor, peer, span)?;
    if by == Index::Known(0) {
        return Ok(tensor.clone());
    }
    let root = lower.tensors.roots[tensor.root].clone();
    let offset = lower.index_value(by);
    let pointer = lower.pointer_at(&root, offset);
    let view = whole_view(lower, pointer, root.elem, (&root.dims, &root.strides), root.scales);
    lower.tensors.roots.push(Root { view, pointer, ..root });
    Ok(Tensor { root: lower.tensors.roots.len() - 1, ..tensor.clone() })
}

/// Changes a signal of a device.
pub(super) fn tell(
    lower: &mut Lower<'_>,
    (signal, peer): (&Tensor, Index),
    value: ValueId,
    set: bool,
    span: Span,
) -> Lowered<()> {
    let by = distance(lower, signal, peer, span)?;
    let (pointer, offset) = lower.element(signal);
    let by = lower.index_value(by);
    let ends: [(&str, &[_]); 2] = [("lhs", &[offset]), ("rhs", &[by])];
    let offset = lower.e.value(&slipring_mlir::arith::ADDI, &ends, &[], Type::Index);
    let attrs = [("notifyOp", Attr::member("notify_op", "set"))];
    let groups: [(&str, &[_]); 3] = [("signal", &[pointer]), ("offset", &[offset]), ("value", &[value])];
    lower.e.op(&pto::TNOTIFY, &groups, if set { &attrs } else { &[] }, &[]);
    Ok(())
}

pub(super) fn hold(lower: &mut Lower<'_>, signal: &Tensor, expected: ValueId, equal: bool) {
    let (pointer, offset) = lower.element(signal);
    let attrs = [("cmp", Attr::member("wait_cmp", "eq"))];
    let groups: [(&str, &[_]); 3] = [("signal", &[pointer]), ("offset", &[offset]), ("expected", &[expected])];
    lower.e.op(&pto::TWAIT, &groups, if equal { &attrs } else { &[] }, &[]);
}

pub(super) fn one_of(lower: &mut Lower<'_>, call: &Call, name: &str, known: &[&str]) -> Lowered<usize> {
    let word = call.word(lower, name)?;
    let found = known.iter().position(|own| word.as_deref().is_some_and(|word| word.eq_ignore_ascii_case(own)));
    match found {
        Some(at) => Ok(at),
        None => {
            let (value, span) = call.need(lower, name)?;
            Err(call.wrong(lower, name, &format!("one of {}", known.join(", ")), &value, span))
        }
    }
}

/// Copies a window into one of the same shape, in pieces of so many bytes.
pub(super) fn copy(
    lower: &mut Lower<'_>,
    from: &Tensor,
    to: &Tensor,
    (atomic, limit): (bool, u64),
    span: Span,
) -> Lowered<()> {
    let shape = from.shape().to_vec();
    let all = shape.iter().product::<u64>() * from.elem.bytes() as u64;
    let Some(dim) = shape.iter().position(|n| *n > 1).filter(|_| all > limit) else {
        let tile = lower.load(from, Space::Vec)?;
        return lower.store(&Value::Tile(tile), to, atomic, span);
    };
    let each = (limit / (all / shape[dim])).clamp(1, shape[dim]);
    let part = |lower: &mut Lower<'_>, first: Index, count: u64| {
        let mut offsets = vec![Index::Known(0); shape.len()];
        let mut extents = shape.clone();
        (offsets[dim], extents[dim]) = (first, count);
        let from = lower.tensor_window(from, &offsets, &extents, span)?;
        let to = lower.tensor_window(to, &offsets, &extents, span)?;
        copy(lower, &from, &to, (atomic, limit), span)
    };
    in_pieces(lower, (shape[dim], each), span, part)
}

/// Calls a function for each piece of a dimension, with its beginning and its length.
pub(super) fn in_pieces(
    lower: &mut Lower<'_>,
    (extent, each): (u64, u64),
    span: Span,
    mut piece: impl FnMut(&mut Lower<'_>, Index, u64) -> Lowered<()>,
) -> Lowered<()> {
    let full = extent / each;
    if full > UNROLLED {
        counted(lower, full, span, |lower, at| {
            let first = lower.times(Index::At(at), each as i64);
            piece(lower, first, each)
        })?;
    } else {
        (0..full).try_for_each(|at| piece(lower, Index::Known((at * each) as i64), each))?;
    }
    match extent % each {
        0 => Ok(()),
        rest => piece(lower, Index::Known((full * each) as i64), rest),
    }
}
