//! What devices do with each other's memory: signals, parts of windows, and what is made of them (`pld.…`).

use slipring_ir::{Attr, Diagnostic, Span, Type, ValueId};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::table::counted;
use super::{Call, ENTRY, Entry};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered, Root, show, whole};
use crate::signature::whole_view;
use crate::value::{Const, Domain, Index, Tensor, Value};

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["pld.get_comm_ctx", "pld.system.get_comm_ctx"],
        params: "dist_tensor",
        doc: "The devices that have a part of a window",
        lower: |lower, call| {
            let (own, span) = window(lower, call, "dist_tensor")?;
            domain(lower, &own, span)?;
            Ok(Value::Tensor(own))
        },
        ..ENTRY
    },
    Entry {
        names: &["pld.rank", "pld.system.rank"],
        params: "ctx",
        doc: "The number of this device",
        lower: |lower, call| of_domain(lower, call, |own| own.rank),
        ..ENTRY
    },
    Entry {
        names: &["pld.nranks", "pld.system.nranks"],
        params: "ctx",
        doc: "How many devices there are",
        lower: |lower, call| of_domain(lower, call, |own| own.ranks),
        ..ENTRY
    },
    Entry {
        names: &["pld.system.notify"],
        params: "target, peer, offsets, value, *, op",
        op: Some(&pto::TNOTIFY),
        doc: "Add to a signal of a device, or set it, once all that was done before is there",
        lower: notify,
        ..ENTRY
    },
    Entry {
        names: &["pld.system.wait"],
        params: "signal, offsets, expected, *, cmp",
        op: Some(&pto::TWAIT),
        doc: "Wait for a signal of this device",
        lower: wait,
        ..ENTRY
    },
    Entry {
        names: &["pld.tile.remote_load", "pld.remote_load"],
        params: "target/tensor, peer, offsets, shape/shapes, valid_shape=, target_memory=",
        op: Some(&pto::TLOAD),
        doc: "Load a part of a device's window",
        lower: remote_load,
        ..ENTRY
    },
    Entry {
        names: &["pld.tile.remote_store", "pld.tensor.remote_store", "pld.remote_store"],
        params: "src_tile/src/tile, target, peer, offsets, *, atomic=",
        op: Some(&pto::TSTORE),
        doc: "Store a tile into a device's window",
        lower: remote_store,
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.put"],
        params: COPY,
        op: Some(&pto::TSTORE),
        doc: "Copy a tensor into a device's window",
        lower: |lower, call| transfer(lower, call, true),
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.get"],
        params: COPY,
        op: Some(&pto::TLOAD),
        doc: "Copy a device's window into a tensor",
        lower: |lower, call| transfer(lower, call, false),
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.barrier"],
        params: "signal",
        doc: "Wait until all devices are here",
        lower: |lower, call| {
            let signals = Signals::of(lower, call, "signal")?;
            signals.meet(lower, Index::Known(1))?;
            signals.clear(lower, 1)?;
            Ok(Value::Tensor(signals.tensor))
        },
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.allreduce"],
        params: "target, signal, *, op=, mode=, core_num=",
        doc: "The sum, or another reduction, of all devices' windows, on all of them",
        lower: allreduce,
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.broadcast"],
        params: "target, signal, *, root",
        doc: "One device's window on all of them",
        lower: broadcast,
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.allgather"],
        params: "local_data, target, signal",
        doc: "The parts of all devices, one after the other, on all of them",
        lower: |lower, call| exchange(lower, call, "local_data"),
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.all_to_all"],
        params: "input, target, signal",
        doc: "Part `d` of each device's input on device `d`",
        lower: |lower, call| exchange(lower, call, "input"),
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.all_to_all_v"],
        params: "input, target, signal, send_counts, recv_counts",
        doc: "The same for parts of which a number of rows counts, with these numbers",
        lower: exchange_rows,
        ..ENTRY
    },
    Entry {
        names: &["pld.tensor.reduce_scatter"],
        params: "target, signal, *, op=",
        doc: "Part `d` of the sum of all devices' windows on device `d`, in its part `d`",
        lower: reduce_scatter,
        ..ENTRY
    },
];

const COPY: &str =
    "dst, peer, src, dst_offsets=, src_offsets=, shape=, *, atomic=, chunk_rows=, chunk_cols=, pipeline=";

/// Bytes that are moved through a tile at a time.
const PIECE: u64 = 16 << 10;
/// Pieces that are written out; more of them are a loop.
const UNROLLED: u64 = 4;

/// The error of a word that no kernel has.
pub(crate) fn not_for_kernels(path: &str, span: Span) -> Diagnostic {
    let last = path.rsplit('.').next().unwrap_or("");
    if matches!(last, "world_size" | "alloc_window_buffer" | "window") {
        return Diagnostic::error("unsupported", span, format!("`{path}` is for the host and no part of a kernel"));
    }
    if last == "defer_wait" {
        return Diagnostic::error("unsupported", span, format!("`{path}`: a task that is over before its wait is"))
            .help("wait in the kernel: `pld.system.wait`");
    }
    let error = Diagnostic::error("unknown-op", span, format!("there is no `{path}`"));
    let known = OPS.iter().flat_map(|entry| entry.names.iter().copied());
    match slipring_ir::text::nearest(path, known) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

fn window(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<(Tensor, Span)> {
    match call.need(lower, name)? {
        (Value::Tensor(tensor), span) => Ok((tensor, span)),
        (other, span) => Err(call.wrong(lower, name, "a window", &other, span)),
    }
}

/// The devices that have a part of a tensor.
fn domain(lower: &mut Lower<'_>, tensor: &Tensor, span: Span) -> Lowered<Domain> {
    let root = &lower.roots[tensor.root];
    if let Some(domain) = root.domain {
        return Ok(domain);
    }
    let error = Diagnostic::error("unsupported", span, format!("no other device has a part of `{}`", root.name))
        .also(root.span, "declared here")
        .note("what devices do with each other's memory runs with the program that starts them")
        .help("pass it a `pld.window(…)`, and run the function of the host (`@pl.jit.host`)");
    Err(lower.report(error))
}

fn of_domain(lower: &mut Lower<'_>, call: &Call, which: fn(Domain) -> u64) -> Lowered {
    let (tensor, span) = window(lower, call, "ctx")?;
    let own = domain(lower, &tensor, span)?;
    Ok(Value::Const(Const::Int(which(own) as i64)))
}

/// Elements from this device's part to that of another.
fn distance(lower: &mut Lower<'_>, tensor: &Tensor, peer: Index, span: Span) -> Lowered<Index> {
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

/// The same part of a device's memory.
fn remote(lower: &mut Lower<'_>, tensor: &Tensor, peer: Index, span: Span) -> Lowered<Tensor> {
    let by = distance(lower, tensor, peer, span)?;
    if by == Index::Known(0) {
        return Ok(tensor.clone());
    }
    let root = lower.roots[tensor.root].clone();
    let offset = lower.index_value(by);
    let pointer = moved(lower, &root, offset);
    let view = whole_view(lower, pointer, root.elem, (&root.dims, &root.strides), root.scales);
    lower.roots.push(Root { view, pointer, ..root });
    Ok(Tensor { root: lower.roots.len() - 1, ..tensor.clone() })
}

fn moved(lower: &mut Lower<'_>, root: &Root, offset: ValueId) -> ValueId {
    let groups: [(&str, &[_]); 2] = [("ptr", &[root.pointer]), ("offset", &[offset])];
    lower.e.value(&pto::ADDPTR, &groups, &[], Type::Ptr(root.elem, None))
}

/// Changes a signal of a device.
fn tell(lower: &mut Lower<'_>, (signal, peer): (&Tensor, Index), value: ValueId, set: bool, span: Span) -> Lowered<()> {
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

fn hold(lower: &mut Lower<'_>, signal: &Tensor, expected: ValueId, equal: bool) {
    let (pointer, offset) = lower.element(signal);
    let attrs = [("cmp", Attr::member("wait_cmp", "eq"))];
    let groups: [(&str, &[_]); 3] = [("signal", &[pointer]), ("offset", &[offset]), ("expected", &[expected])];
    lower.e.op(&pto::TWAIT, &groups, if equal { &attrs } else { &[] }, &[]);
}

/// The signal that a call names, of 32 bits.
fn one_signal(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<(Tensor, Span)> {
    let (tensor, span) = window(lower, call, name)?;
    domain(lower, &tensor, span)?;
    if tensor.elem != Elem::I32 {
        let message = format!("a signal is INT32, this is {}", DType::Elem(tensor.elem).name());
        return Err(lower.error("elem-types", span, message));
    }
    let offsets = call.offsets(lower, "offsets")?;
    let ones = vec![1; tensor.shape().len()];
    Ok((lower.tensor_window(&tensor, &offsets, &ones, span)?, span))
}

fn peer(lower: &mut Lower<'_>, call: &Call) -> Lowered<(Index, Span)> {
    let (value, span) = call.need(lower, "peer")?;
    Ok((lower.index(&value, span)?, span))
}

fn one_of(lower: &mut Lower<'_>, call: &Call, name: &str, known: &[&str]) -> Lowered<usize> {
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

fn notify(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (signal, _) = one_signal(lower, call, "target")?;
    let (peer, span) = peer(lower, call)?;
    let (value, place) = call.need(lower, "value")?;
    let value = lower.number(&value, DType::Elem(Elem::I32), place)?;
    let set = one_of(lower, call, "op", &["AtomicAdd", "Set"])? == 1;
    tell(lower, (&signal, peer), value, set, span)?;
    Ok(Value::Nothing)
}

fn wait(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (signal, _) = one_signal(lower, call, "signal")?;
    let (expected, place) = call.need(lower, "expected")?;
    let expected = lower.number(&expected, DType::Elem(Elem::I32), place)?;
    let equal = one_of(lower, call, "cmp", &["Ge", "Eq"])? == 1;
    hold(lower, &signal, expected, equal);
    Ok(Value::Nothing)
}

fn remote_load(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = window(lower, call, "target")?;
    let (peer, place) = peer(lower, call)?;
    domain(lower, &target, span)?;
    let there = remote(lower, &target, peer, place)?;
    super::memory::load_from(lower, call, (there, span), "shape")
}

fn remote_store(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (tile, span) = call.need(lower, "src_tile")?;
    let (target, place) = window(lower, call, "target")?;
    let (peer, _) = peer(lower, call)?;
    let there = remote(lower, &target, peer, place)?;
    let offsets = call.offsets(lower, "offsets")?;
    super::memory::store_at(lower, call, (&tile, &there), &offsets, span)?;
    Ok(Value::Nothing)
}

/// `put` and `get`.
fn transfer(lower: &mut Lower<'_>, call: &Call, put: bool) -> Lowered {
    let (dst, dst_span) = window(lower, call, "dst")?;
    let (src, src_span) = window(lower, call, "src")?;
    let (peer, place) = peer(lower, call)?;
    let (dst, src) = match put {
        true => (remote(lower, &dst, peer, place)?, src),
        false => (dst, remote(lower, &src, peer, place)?),
    };
    let atomic = call.has("atomic") && one_of(lower, call, "atomic", &["None_", "Add"])? == 1;
    if call.flag(lower, "pipeline")? && !(call.has("chunk_rows") && call.has("chunk_cols")) {
        let message = "`pipeline=True` needs `chunk_rows=` and `chunk_cols=`";
        return Err(lower.error("argument", call.span, message));
    }
    let given = ["dst_offsets", "src_offsets", "shape"].map(|name| call.has(name));
    let (dst, src) = match given {
        [false, false, false] => (dst, src),
        [true, true, true] => {
            let shape = call.need_shape(lower, "shape")?;
            let (to, from) = (call.offsets(lower, "dst_offsets")?, call.offsets(lower, "src_offsets")?);
            let to = lower.tensor_window(&dst, &to, &shape, dst_span)?;
            (to, lower.tensor_window(&src, &from, &shape, src_span)?)
        }
        _ => {
            let message = "`dst_offsets=`, `src_offsets=` and `shape=` are given together";
            return Err(lower.error("argument", call.span, message));
        }
    };
    if dst.shape() != src.shape() || dst.elem != src.elem {
        let what = |tensor: &Tensor| format!("{} {}", show(&tensor.shape()), DType::Elem(tensor.elem).name());
        let message = format!("{} is copied into {}", what(&src), what(&dst));
        return Err(lower.error("shapes", call.span, message));
    }
    let cols = dst.shape().last().copied().unwrap_or(1);
    let chunk =
        |given: Option<i64>, all: u64| given.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(all);
    let (rows, most) = (call.int(lower, "chunk_rows")?, call.int(lower, "chunk_cols")?);
    let limit = match (rows, most) {
        (None | Some(0), None | Some(0)) => PIECE,
        _ => chunk(most, cols).min(cols) * chunk(rows, 1) * dst.elem.bytes() as u64,
    };
    copy(lower, &src, &dst, (atomic, limit.clamp(32, 4 * PIECE)), call.span)?;
    Ok(Value::Nothing)
}

/// Copies a window into one of the same shape, so many bytes at a time.
fn copy(lower: &mut Lower<'_>, from: &Tensor, to: &Tensor, (atomic, limit): (bool, u64), span: Span) -> Lowered<()> {
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

/// Shows each piece of a dimension: where it begins and how long it is.
fn in_pieces(
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

/// The signals of a collective: a cell for each device.
struct Signals {
    tensor: Tensor,
    own: Domain,
    span: Span,
}

impl Signals {
    fn of(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<Signals> {
        let (tensor, span) = window(lower, call, name)?;
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

    /// All devices are here for the so-manieth time in this call.
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

    /// Takes back what the others have added in this call.
    fn clear(&self, lower: &mut Lower<'_>, times: u64) -> Lowered<()> {
        let back = Signals::word(lower, -(times as i64));
        for peer in self.others() {
            let cell = self.cell(lower, peer)?;
            tell(lower, (&cell, Index::Known(self.own.rank as i64)), back, false, self.span)?;
        }
        Ok(())
    }
}

/// The op that a reduction is.
fn reduction(lower: &mut Lower<'_>, call: &Call, known: &[&str]) -> Lowered<&'static str> {
    let at = if call.has("op") { one_of(lower, call, "op", known)? } else { 0 };
    Ok(["add", "maximum", "minimum", "mul"][at])
}

/// A window as one row, where its elements follow one another.
fn row(lower: &mut Lower<'_>, tensor: &Tensor, span: Span) -> Lowered<Tensor> {
    let root = lower.roots[tensor.root].clone();
    let is_whole = tensor.sizes == root.dims && tensor.reshaped.is_none();
    if !is_whole || root.strides.as_slice() != crate::signature::dense(&root.dims).as_slice() {
        return Err(lower.unsupported(span, "a collective on a part of a window"));
    }
    let all: u64 = root.dims.iter().product();
    let view = whole_view(lower, root.pointer, root.elem, (&[1, all], &[all, 1]), None);
    let (elem, dims) = (root.elem, [1, all].into_iter().collect());
    lower.roots.push(Root { view, dims, strides: [all, 1].into_iter().collect(), ..root });
    Ok(whole(lower.roots.len() - 1, elem, &[1, all]))
}

fn columns(lower: &mut Lower<'_>, tensor: &Tensor, first: Index, count: u64, span: Span) -> Lowered<Tensor> {
    lower.tensor_window(tensor, &[Index::Known(0), first], &[1, count], span)
}

/// The reduction of a part of all devices' windows, beginning with the own.
fn reduced(
    lower: &mut Lower<'_>,
    (tensor, signals): (&Tensor, &Signals),
    (first, count): (Index, u64),
    op: &'static str,
    span: Span,
) -> Lowered<Value> {
    let own = columns(lower, tensor, first, count, span)?;
    let mut sum = Value::Tile(lower.load(&own, Space::Vec)?);
    for peer in signals.others() {
        let there = remote(lower, &own, Index::Known(peer as i64), span)?;
        let part = Value::Tile(lower.load(&there, Space::Vec)?);
        sum = lower.call_by_name(op, vec![sum, part], span)?;
    }
    Ok(sum)
}

fn allreduce(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = window(lower, call, "target")?;
    if call.has("mode") && one_of(lower, call, "mode", &["mesh", "ring"])? == 1 {
        let error = Diagnostic::error("unsupported", call.span, "`mode=\"ring\"`: the schedule of a ring")
            .help("`mode=\"mesh\"` gives the same sum up to the order in which it is rounded");
        return Err(lower.report(error));
    }
    let op = reduction(lower, call, &["Sum", "Max", "Min", "Prod"])?;
    let signals = Signals::of(lower, call, "signal")?;
    domain(lower, &target, span)?;
    let all = row(lower, &target, span)?;
    signals.meet(lower, Index::Known(1))?;
    let (extent, each) = (all.sizes[1], (PIECE / all.elem.bytes() as u64).min(all.sizes[1]));
    in_pieces(lower, (extent, each), call.span, |lower, first, count| {
        let sum = reduced(lower, (&all, &signals), (first, count), op, span)?;
        // Nobody needs what is overwritten.
        let time = match first {
            Index::Known(n) => Index::Known(n / each as i64 + 2),
            Index::At(scalar) => {
                let each = Value::Const(Const::Int(each as i64));
                let at =
                    lower.binary_number(ruff_python_ast::Operator::FloorDiv, &Value::Scalar(scalar), &each, span)?;
                let at = lower.index(&at, span)?;
                lower.add_index(at, Index::Known(2))
            }
        };
        signals.meet(lower, time)?;
        let own = columns(lower, &all, first, count, span)?;
        lower.store(&sum, &own, false, span)
    })?;
    signals.clear(lower, extent.div_ceil(each) + 1)?;
    Ok(Value::Tensor(target))
}

fn broadcast(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = window(lower, call, "target")?;
    let signals = Signals::of(lower, call, "signal")?;
    call.need(lower, "root")?;
    let root = call.int(lower, "root")?.unwrap_or(0);
    let there = remote(lower, &target, Index::Known(root), span)?;
    signals.meet(lower, Index::Known(1))?;
    if root != signals.own.rank as i64 {
        copy(lower, &there, &target, (false, PIECE), call.span)?;
    }
    // The device whose window it is may write it again.
    signals.meet(lower, Index::Known(2))?;
    signals.clear(lower, 2)?;
    Ok(Value::Tensor(target))
}

/// Part `at` of a window that has one for each device.
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

/// Every device puts its part into all windows: `allgather` of a whole tensor, `all_to_all` of the part for each.
fn exchange(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered {
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

fn exchange_rows(lower: &mut Lower<'_>, call: &Call) -> Lowered {
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
        let count = lower.call_by_name("read", vec![Value::Tensor(counts.clone()), Value::Tuple(at)], counts_span)?;
        let count = lower.extreme(false, &count, &most, counts_span)?;
        let count = lower.number(&count, DType::Elem(Elem::I32), counts_span)?;
        tell(lower, (&mine, Index::Known(peer as i64)), count, true, received_span)?;
    }
    signals.meet(lower, Index::Known(1))?;
    signals.clear(lower, 1)?;
    Ok(Value::Tensor(target))
}

fn reduce_scatter(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = window(lower, call, "target")?;
    let op = reduction(lower, call, &["Sum"])?;
    let signals = Signals::of(lower, call, "signal")?;
    let Domain { rank, ranks, .. } = signals.own;
    let mine = part_of(lower, &target, rank, ranks, span)?;
    let size = mine.shape().iter().product::<u64>();
    let all = row(lower, &target, span)?;
    signals.meet(lower, Index::Known(1))?;
    let each = (PIECE / all.elem.bytes() as u64).min(size);
    // What others read of this window are other parts of it.
    in_pieces(lower, (size, each), call.span, |lower, first, count| {
        let first = lower.add_index(first, Index::Known((rank * size) as i64));
        let sum = reduced(lower, (&all, &signals), (first, count), op, span)?;
        let own = columns(lower, &all, first, count, span)?;
        lower.store(&sum, &own, false, span)
    })?;
    signals.meet(lower, Index::Known(2))?;
    signals.clear(lower, 2)?;
    Ok(Value::Tensor(target))
}
