//! Accesses to other devices' memory: signals, parts of windows, and ops built from them (`pld.…`).

use slipring_ir::{Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::Elem;

use super::collectives;
use super::entry::{Call, ENTRY, entries};
use super::memory::counting_window;
use super::remote::{PIECE, copy, domain, hold, one_of, remote, tell, window};
use super::table::stepped;
use crate::dtype::DType;
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Domain, Index, Tensor, Value, show};

entries! {
    "pld.get_comm_ctx" | "pld.system.get_comm_ctx" => "The devices that have a part of a window": ENTRY,
        params: "dist_tensor",
        lower: |lower, call| {
            let (own, span) = window(lower, call, "dist_tensor")?;
            domain(lower, &own, span)?;
            Ok(Value::Tensor(own))
        };
    "pld.rank" | "pld.system.rank" => "The number of this device": ENTRY, params: "ctx",
        lower: |lower, call| of_domain(lower, call, |own| own.rank);
    "pld.nranks" | "pld.system.nranks" => "How many devices there are": ENTRY, params: "ctx",
        lower: |lower, call| of_domain(lower, call, |own| own.ranks);
    "pld.system.notify" => "Add to a signal of a device, or set it, once all that was done before is there": ENTRY,
        params: "target, peer, offsets, value, *, op", op: Some(&pto::TNOTIFY), lower: notify;
    "pld.system.wait" => "Wait for a signal of this device": ENTRY, params: "signal, offsets, expected, *, cmp",
        op: Some(&pto::TWAIT), lower: wait;
    "pld.system.defer_wait" =>
        "Let the scheduler wait for a signal of this device in place of a task that does nothing else: its core is free, what \
         comes after it starts when the signal is there":
        ENTRY, params: "signal, offsets, expected, *, cmp", op: Some(&pto::TWAIT), lower: defer_wait;
    "pld.tile.remote_load" | "pld.remote_load" => "Load a part of a device's window": ENTRY,
        params: "target/tensor, peer, offsets, shape/shapes, valid_shape=, target_memory=", op: Some(&pto::TLOAD),
        lower: remote_load;
    "pld.tile.remote_store" | "pld.tensor.remote_store" | "pld.remote_store" => "Store a tile into a device's window":
        ENTRY, params: "src_tile/src/tile, target, peer, offsets, *, atomic=", op: Some(&pto::TSTORE),
        lower: remote_store;
    "pld.tensor.put" => "Copy a tensor into a device's window": ENTRY, params: COPY, op: Some(&pto::TSTORE),
        lower: |lower, call| transfer(lower, call, true);
    "pld.tensor.get" => "Copy a device's window into a tensor": ENTRY, params: COPY, op: Some(&pto::TLOAD),
        lower: |lower, call| transfer(lower, call, false);
    "pld.tensor.barrier" => "Wait until all devices are here": ENTRY, params: "signal", lower: collectives::barrier;
    "pld.tensor.allreduce" => "The sum, or another reduction, of all devices' windows, on all of them": ENTRY,
        params: "target, signal=, *, op=, mode=, core_num=", lower: collectives::allreduce;
    "pld.tensor.broadcast" => "One device's window on all of them": ENTRY, params: "target, signal, *, root",
        lower: collectives::broadcast;
    "pld.tensor.allgather" => "The parts of all devices, one after the other, on all of them": ENTRY,
        params: "local_data, target, signal", lower: |lower, call| collectives::exchange(lower, call, "local_data");
    "pld.tensor.all_to_all" => "Part `d` of each device's input on device `d`": ENTRY,
        params: "input, target, signal", lower: |lower, call| collectives::exchange(lower, call, "input");
    "pld.tensor.all_to_all_v" => "The same for parts of which a number of rows counts, with these numbers": ENTRY,
        params: "input, target, signal, send_counts, recv_counts", lower: collectives::exchange_rows;
    "pld.tensor.reduce_scatter" => "Part `d` of the sum of all devices' windows on device `d`, in its part `d`":
        ENTRY, params: "target, signal, *, op=", lower: collectives::reduce_scatter;
}

const COPY: &str =
    "dst, peer, src, dst_offsets=, src_offsets=, shape=, *, atomic=, chunk_rows=, chunk_cols=, pipeline=";

/// The error for a builtin that kernels do not have.
pub(crate) fn not_for_kernels(path: &str, span: Span) -> Diagnostic {
    let last = path.rsplit('.').next().unwrap_or("");
    if matches!(last, "world_size" | "alloc_window_buffer" | "window") {
        return Diagnostic::error(
            slipring_ir::Kind::Unsupported,
            span,
            format!("`{path}` is for the host and no part of a kernel"),
        );
    }
    let error = Diagnostic::error("unknown-op", span, format!("there is no `{path}`"));
    let known = OPS.iter().flat_map(|entry| entry.names.iter().copied());
    match slipring_ir::text::nearest(path, known) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

fn of_domain(lower: &mut Lower<'_>, call: &Call, which: fn(Domain) -> u64) -> Lowered {
    let (tensor, span) = window(lower, call, "ctx")?;
    let own = domain(lower, &tensor, span)?;
    Ok(Value::Const(Const::Int(which(own) as i64)))
}

/// The 32-bit signal in an argument.
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

fn defer_wait(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if one_of(lower, call, "cmp", &["Ge", "Eq"])? == 1 {
        let error =
            Diagnostic::error("argument", call.span, "the scheduler waits for at least a number: `pld.WaitCmp.Ge`");
        return Err(lower.report(error));
    }
    lower.facts.defers = lower.facts.defers.or(Some(call.span));
    wait(lower, call)
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
            let extents = call.offsets(lower, "shape")?;
            if extents.iter().any(|extent| matches!(extent, Index::At(_))) {
                let windows = ((&dst, dst_span), (&src, src_span));
                open_transfer(lower, call, windows, &extents, atomic)?;
                return Ok(Value::Nothing);
            }
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
    let limit = match chunk(lower, call, dst.shape().len())? {
        [None, None] => PIECE,
        [rows, most] => {
            let bytes = most.unwrap_or(cols).min(cols) * dst.elem.bytes() as u64;
            bytes.saturating_mul(rows.unwrap_or(1))
        }
    };
    copy(lower, &src, &dst, (atomic, limit.clamp(32, 4 * PIECE)), call.span)?;
    Ok(Value::Nothing)
}

/// Rows and columns of a chunk of a copy with so many dimensions, if they are specified.
fn chunk(lower: &mut Lower<'_>, call: &Call, rank: usize) -> Lowered<[Option<u64>; 2]> {
    let mut chunk = [None; 2];
    for (own, name) in chunk.iter_mut().zip(["chunk_rows", "chunk_cols"]) {
        let Some(given) = call.int(lower, name)? else { continue };
        let Ok(n) = u64::try_from(given) else {
            let message = format!("`{name}={given}` is negative");
            let error = Diagnostic::error("argument", call.span, message).help("0 means no limit");
            return Err(lower.report(error));
        };
        *own = (n > 0).then_some(n);
    }
    if let (1, [Some(rows @ 2..), _]) = (rank, chunk) {
        let message = format!("`chunk_rows={rows}`: a one-dimensional copy has a single row");
        let error = Diagnostic::error("argument", call.span, message).help("set the chunk length with `chunk_cols=`");
        return Err(lower.report(error));
    }
    Ok(chunk)
}

/// Copies a part with dynamic extents in pieces: each dynamic dimension has a constant chunk.
fn open_transfer(
    lower: &mut Lower<'_>,
    call: &Call,
    ((dst, dst_span), (src, src_span)): ((&Tensor, Span), (&Tensor, Span)),
    extents: &[Index],
    atomic: bool,
) -> Lowered<()> {
    let (to, from) = (call.offsets(lower, "dst_offsets")?, call.offsets(lower, "src_offsets")?);
    let ranks = [dst.shape().len(), src.shape().len(), to.len(), from.len()];
    if ranks.iter().any(|rank| *rank != extents.len()) || dst.elem != src.elem {
        let message = "both tensors have one type, and `shape` and the offsets a number for each dimension of them";
        return Err(lower.error("shapes", call.span, message));
    }
    let first = extents.len().saturating_sub(2);
    if extents[..first].iter().any(|extent| *extent != Index::Known(1)) {
        let what = "a copy between devices of more than two dimensions of which only the run knows the extents";
        return Err(lower.unsupported(call.span, what));
    }
    let [rows, cols] = chunk(lower, call, extents.len())?;
    let (rows, cols) = (("chunk_rows", rows), ("chunk_cols", cols));
    let chunks = if extents.len() == 1 { vec![cols] } else { vec![rows, cols] };
    let mut shape = vec![1; extents.len()];
    for ((extent, own), (name, chunk)) in extents[first..].iter().zip(&mut shape[first..]).zip(chunks) {
        *own = match (*extent, chunk) {
            (Index::Known(n), chunk) if n > 0 => chunk.unwrap_or(n as u64).min(n as u64),
            (Index::At(_), Some(chunk)) => chunk,
            (Index::Known(n), _) => {
                return Err(lower.error("bounds", call.span, format!("an extent of {n} in `shape`")));
            }
            (Index::At(_), None) => {
                let message = format!("an extent of `shape` that only the run knows needs `{name}=`");
                let error = Diagnostic::error("argument", call.span, message)
                    .help("the copy goes through a tile of UB, which is as large as a chunk");
                return Err(lower.report(error));
            }
        };
    }
    let bytes = shape.iter().fold(dst.elem.bytes() as u64, |bytes, n| bytes.saturating_mul(*n));
    if bytes > MOST_CHUNK {
        let (kib, most) = (bytes.div_ceil(1 << 10), MOST_CHUNK >> 10);
        let message = format!("a chunk of {kib} KiB, at most {most} are copied at a time");
        return Err(lower.error("too-large", call.span, message));
    }
    let span = call.span;
    let mut piece = |lower: &mut Lower<'_>, at: &[Index], valid: &[Index]| {
        let moved = |lower: &mut Lower<'_>, offsets: &[Index]| -> Vec<Index> {
            offsets.iter().zip(at).map(|(offset, by)| lower.add_index(*offset, *by)).collect()
        };
        let (to, from) = (moved(lower, &to), moved(lower, &from));
        let to = counting_window(lower, dst, (&to, &shape, valid), dst_span)?;
        let from = counting_window(lower, src, (&from, &shape, valid), src_span)?;
        let tile = lower.load(&from, slipring_tile::Space::Vec)?;
        lower.store(&Value::Tile(tile), &to, atomic, span)
    };
    each_chunk(lower, (extents, &shape), (&mut Vec::new(), &mut Vec::new()), span, &mut piece)
}

/// The maximum size of a chunk in bytes: half of the smaller UB, which leaves capacity for other tiles.
const MOST_CHUNK: u64 = 96 << 10;

/// The action for a piece, given its offsets and extents.
type Piece<'p> = dyn FnMut(&mut Lower<'_>, &[Index], &[Index]) -> Lowered<()> + 'p;

/// Loops over the chunks of the remaining dimensions.
fn each_chunk(
    lower: &mut Lower<'_>,
    (extents, shape): (&[Index], &[u64]),
    (at, valid): (&mut Vec<Index>, &mut Vec<Index>),
    span: Span,
    piece: &mut Piece<'_>,
) -> Lowered<()> {
    let Some((extent, chunk)) = extents.get(at.len()).copied().zip(shape.get(at.len()).copied()) else {
        return piece(lower, at, valid);
    };
    if extent == Index::Known(chunk as i64) {
        at.push(Index::Known(0));
        valid.push(extent);
        let outcome = each_chunk(lower, (extents, shape), (at, valid), span, piece);
        at.pop();
        valid.pop();
        return outcome;
    }
    stepped(lower, (extent, chunk), span, |lower, first| {
        let left = lower.less(extent, Index::At(first));
        let count = lower.smaller(left, Index::Known(chunk as i64));
        at.push(Index::At(first));
        valid.push(count);
        let outcome = each_chunk(lower, (extents, shape), (at, valid), span, piece);
        at.pop();
        valid.pop();
        outcome
    })
}
