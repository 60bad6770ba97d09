//! Gather and scatter by index: from and to tensors, including paged ones, and rows of a tile.

use ruff_python_ast::Operator;
use slipring_ir::{Attr, Diagnostic, Span, Type};
use slipring_mlir::scf;
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::entry::{Call, ENTRY, entries};
use super::memory::tensor;
use super::operands::vector;
use crate::dtype::{DType, with_article};
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Index, Scalar, Value, fold, show};

entries! {
    "mgather" => "Rows of a tensor by index, or with `coalesce=\"elem\"` elements, counted over the tensor": ENTRY,
        params: "mem, idx, coalesce=, *, gather_oob=, target_memory=, scratch=, valid_shape=",
        op: Some(&pto::MGATHER), lower: gather;
    "mscatter" => "Elements of a tile to the elements of a tensor that indices name, counted over the tensor": ENTRY,
        params: "src, idx, output_tensor", op: Some(&pto::MSCATTER), lower: scatter;
    "paged_gather" =>
        "Rows of a paged tensor: row `block_table[i // block_size] * block_size + i % block_size` for each index":
        ENTRY,
        params: "src, indices, block_table, block_size, size, max_indices, *, space=, col_off=, is_trans=, is_b_matrix=",
        op: Some(&pto::TLOAD), lower: paged;
    "scatter_update" => "A copy of the input whose rows that the indices name are those of the source": ENTRY,
        params: "input, dim, index, src | input, index, src, dim=", op: Some(&pto::TMOV), lower: update;
}

/// A loop of so many iterations around the output of `body`.
pub(super) fn counted(
    lower: &mut Lower<'_>,
    count: u64,
    span: Span,
    body: impl FnOnce(&mut Lower<'_>, Scalar) -> Lowered<()>,
) -> Lowered<()> {
    stepped(lower, (Index::Known(count as i64), 1), span, body)
}

/// A loop with a step over the numbers before an end that may only be known at run time.
pub(super) fn stepped(
    lower: &mut Lower<'_>,
    (end, step): (Index, u64),
    span: Span,
    body: impl FnOnce(&mut Lower<'_>, Scalar) -> Lowered<()>,
) -> Lowered<()> {
    let first = lower.e.index(0);
    let end = lower.index_value(end);
    let step = lower.e.index(step as i64);
    let bounds: [(&str, &[_]); 3] = [("lower", &[first]), ("upper", &[end]), ("step", &[step])];
    let op = lower.e.op(&scf::FOR, &bounds, &[], &[]);
    let block = lower.e.region(op);
    let value = lower.e.module.add_arg(block, Type::Index, Some("row".into()), span);
    lower.in_block(block, |lower| {
        let outcome = body(lower, Scalar { value, ty: DType::Index, region: None });
        lower.e.op(&scf::YIELD, &[], &[], &[]);
        outcome
    })
}

fn gather(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (table, span) = tensor(lower, call, "mem")?;
    call.idle_memory(lower, "scratch", "rows go through UB, where they are given memory")?;
    let by_element = match call.get("coalesce").cloned() {
        None | Some((Value::Const(Const::Int(0)), _)) => false,
        Some((Value::Const(Const::Int(1)), _)) => true,
        Some((Value::Const(Const::Str(word)), _)) if matches!(&*word, "row" | "elem") => &*word == "elem",
        Some((other, span)) => return Err(call.wrong(lower, "coalesce", "\"row\" or \"elem\"", &other, span)),
    };
    const OUTSIDE: [&str; 4] = ["undefined", "clamp", "wrap", "zero"];
    let outside = match call.get("gather_oob").cloned() {
        None => OUTSIDE[0],
        Some((Value::Const(Const::Int(n @ 0..=3)), _)) => OUTSIDE[n as usize],
        Some((value, span)) => {
            let word = if let Value::Const(Const::Str(word)) = &value { Some(word.clone()) } else { None };
            match OUTSIDE.iter().find(|known| word.as_deref() == Some(**known)) {
                Some(known) => known,
                None => {
                    return Err(call.wrong(
                        lower,
                        "gather_oob",
                        "\"undefined\", \"clamp\", \"wrap\" or \"zero\"",
                        &value,
                        span,
                    ));
                }
            }
        }
    };
    let space = call.space(lower, "target_memory")?.unwrap_or(Space::Vec);
    if !matches!(space, Space::Vec | Space::Mat) {
        let error = Diagnostic::error("no-way", call.span, format!("rows are not gathered into `{space}`"))
            .help("gather into Vec or Mat, and `pl.move` from there");
        return Err(lower.report(error));
    }
    let mut indices = vector(lower, call, "idx")?;
    lower.wholly_valid(indices, "elements by index", call.span)?;
    let shape = match by_element {
        true => lower.tile(indices).shape.to_vec(),
        false => {
            let (rows, cols) = fold(&lower.tile(indices).shape);
            if rows != 1 && cols != 1 {
                let message = format!("{rows} × {cols} indices: each row of the table has one index");
                let error = Diagnostic::error("shapes", call.span, message)
                    .help("pass a row or a column of indices, or `coalesce=\"elem\"` for single elements");
                return Err(lower.report(error));
            }
            let (_, width) = fold(&table.shape());
            // One index for each row: the same bytes as a column.
            if cols != 1 {
                let column = Value::Tuple([cols as i64, 1].map(|n| Value::Const(Const::Int(n))).into_iter().collect());
                let value = lower.call_by_name("reshape", vec![Value::Tile(indices), column], call.span)?;
                indices = lower.demand(&value, Space::Vec, call.span)?;
            }
            vec![rows * cols, width]
        }
    };
    let counts = counted_part(lower, call, (space, by_element), &shape)?;
    let target = lower.new_tile(&shape, table.elem, Space::Vec, "mgather");
    lower.reads(&table, span);
    // Invalid elements are not gathered: their indices may have any value.
    let (mut into, mut from) = (target, indices);
    if let Some([rows, cols]) = counts {
        let begin = [Index::Known(0); 2];
        let width = if by_element { cols } else { 1 };
        from = lower.subset(indices, (begin, [rows, width]), &[rows, width], call.span)?;
        let width = if by_element { cols } else { shape[1] };
        into = lower.subset(target, (begin, [rows, width]), &[rows, width], call.span)?;
    }
    let (view, which, dst) = (lower.window(&table), lower.tile(from).value, lower.tile(into).value);
    let groups: [(&str, &[_]); 3] = [("mem", &[view]), ("indices", &[which]), ("dst", &[dst])];
    let attrs = [("gatherOob", Attr::member("gather_oob", outside))];
    let attrs = if outside == OUTSIDE[0] { &attrs[..0] } else { &attrs[..] };
    lower.e.op(&pto::MGATHER, &groups, attrs, &[]);
    let mut made = Value::Tile(target);
    if let Some(counts) = counts {
        let numbers = counts.map(|n| Value::Const(Const::Int(n as i64)));
        made = lower.call_by_name("set_validshape", [vec![made], numbers.to_vec()].concat(), call.span)?;
    }
    lower.demand(&made, space, call.span).map(Value::Tile)
}

/// The valid rows and columns of a gather into L1, if they are fewer than the total.
fn counted_part(
    lower: &mut Lower<'_>,
    call: &Call,
    (space, by_element): (Space, bool),
    shape: &[u64],
) -> Lowered<Option<[u64; 2]>> {
    let Some((value, place)) = call.get("valid_shape").cloned() else { return Ok(None) };
    if space != Space::Mat {
        let error =
            Diagnostic::error("argument", place, "`valid_shape` of `pl.mgather` is for what is gathered into Mat");
        return Err(lower.report(error.help("a tile in Vec is valid as its indices are")));
    }
    let valid = call.need_shape(lower, "valid_shape")?;
    let [rows, cols] = valid[..] else {
        return Err(call.wrong(lower, "valid_shape", "two extents", &value, place));
    };
    let (all_rows, all_cols) = fold(shape);
    // A gather by row moves whole rows.
    if rows > all_rows || cols > all_cols || !by_element && cols != all_cols {
        let message = format!("{} of {} are to count", show(&valid), show(shape));
        let help = "it has as many rows and columns at most; by row all columns count";
        return Err(lower.report(Diagnostic::error("argument", place, message).help(help)));
    }
    Ok(((rows, cols) != (all_rows, all_cols)).then_some([rows, cols]))
}

fn scatter(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (src, indices) = (vector(lower, call, "src")?, vector(lower, call, "idx")?);
    let (table, span) = tensor(lower, call, "output_tensor")?;
    let (tile, which) = (lower.tile(src).clone(), lower.tile(indices).clone());
    if fold(&tile.shape) != fold(&which.shape) {
        let message = format!("{} elements with {} indices", show(&tile.shape), show(&which.shape));
        let error = Diagnostic::error("shapes", call.span, message).also(which.span, "the indices");
        return Err(lower.report(error));
    }
    if tile.ty.layout.elem != table.elem {
        let names = [tile.ty.layout.elem, table.elem].map(|elem| DType::Elem(elem).name());
        let error = Diagnostic::error(
            "store-type",
            span,
            format!("{} elements go to {} tensor", names[0], with_article(names[1])),
        )
        .help(format!("convert them: `pl.cast(…, pl.{})`", names[1]));
        return Err(lower.report(error));
    }
    lower.writable(table.root, span)?;
    lower.stored(&table, None, span)?;
    let view = lower.window(&table);
    let groups: [(&str, &[_]); 3] = [("src", &[tile.value]), ("indices", &[which.value]), ("mem", &[view])];
    lower.e.op(&pto::MSCATTER, &groups, &[], &[]);
    Ok(Value::Tensor(table))
}

/// Element `at` of a list of integers, in a tensor or a tile of any shape.
fn element(lower: &mut Lower<'_>, list: &Value, at: &Value, span: Span) -> Lowered {
    let shape = lower.shape_of(list);
    let mut offsets = vec![Value::Const(Const::Int(0)); shape.len()];
    let mut left = at.clone();
    for (dim, extent) in shape.iter().enumerate().rev() {
        if shape[..dim].iter().all(|n| *n == 1) {
            offsets[dim] = left;
            break;
        }
        let extent = Value::Const(Const::Int(*extent as i64));
        offsets[dim] = lower.binary_number(Operator::Mod, &left, &extent, span)?;
        left = lower.binary_number(Operator::FloorDiv, &left, &extent, span)?;
    }
    let value = lower.call_by_name("read", vec![list.clone(), Value::Tuple(offsets.into())], span)?;
    let index = lower.index(&value, span)?;
    Ok(Value::Scalar(match index {
        Index::At(scalar) => scalar,
        Index::Known(n) => Scalar { value: lower.e.index(n), ty: DType::Index, region: None },
    }))
}

fn paged(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (pool, span) = tensor(lower, call, "src")?;
    let (indices, pages) = (call.need(lower, "indices")?.0, call.need(lower, "block_table")?.0);
    let mut extent = |name: &str, least: i64| -> Lowered<i64> {
        let (value, span) = call.need(lower, name)?;
        match value {
            Value::Const(Const::Int(n)) if n >= least && n < 1 << 31 => Ok(n),
            other => Err(call.wrong(lower, name, "a constant integer", &other, span)),
        }
    };
    let (block, size, most) = (extent("block_size", 1)?, extent("size", 1)?, extent("max_indices", 1)?);
    let from = if call.has("col_off") { extent("col_off", 0)? } else { 0 };
    let space = call.space(lower, "space")?.unwrap_or(Space::Mat);
    let transposed = call.flag(lower, "is_trans")?;
    call.idle_flag(lower, "is_b_matrix", "which operand a tile is follows from the product")?;
    if !matches!(space, Space::Vec | Space::Mat) || (transposed && space != Space::Mat) {
        let error = Diagnostic::error("no-way", call.span, format!("rows are not gathered into `{space}` in this way"))
            .help("`space` is Mat or Vec; what is transposed lies in Mat");
        return Err(lower.report(error));
    }
    if pool.shape().len() != 2 {
        let message = format!("rows of a tensor {}: it has two dimensions", show(&pool.shape()));
        return Err(lower.error("rank", span, message));
    }
    let count = lower.shape_of(&indices).iter().product::<u64>().min(most as u64);
    let target = lower.new_tile(&[most as u64, size as u64], pool.elem, Space::Vec, "paged_gather");
    counted(lower, count, call.span, |lower, at| {
        let index = element(lower, &indices, &Value::Scalar(at), call.span)?;
        let block = Value::Const(Const::Int(block));
        let page = lower.binary_number(Operator::FloorDiv, &index, &block, call.span)?;
        let inside = lower.binary_number(Operator::Mod, &index, &block, call.span)?;
        let page = element(lower, &pages, &page, call.span)?;
        let first = lower.binary_number(Operator::Mult, &page, &block, call.span)?;
        let row = lower.binary_number(Operator::Add, &first, &inside, call.span)?;
        let row = lower.index(&row, call.span)?;
        let window = lower.tensor_window(&pool, &[row, Index::Known(from)], &[1, size as u64], span)?;
        lower.reads(&window, call.span);
        let line =
            lower.subset(target, ([Index::At(at), Index::Known(0)], [1, size as u64]), &[1, size as u64], span)?;
        let (view, dst) = (lower.window(&window), lower.tile(line).value);
        lower.e.op(&pto::TLOAD, &[("src", &[view]), ("dst", &[dst])], &[], &[]);
        Ok(())
    })?;
    match (space, transposed) {
        (Space::Mat, true) => lower.demand_transposed(&Value::Tile(target), Space::Mat, call.span).map(Value::Tile),
        _ => lower.demand(&Value::Tile(target), space, call.span).map(Value::Tile),
    }
}

fn update(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if let Some((axis, span)) = call.get("dim").cloned()
        && !matches!(axis, Value::Const(Const::Int(-2)))
    {
        return Err(call.wrong(lower, "dim", "-2, that of the rows", &axis, span));
    }
    let (input, src) = (vector(lower, call, "input")?, vector(lower, call, "src")?);
    let (index, place) = call.need(lower, "index")?;
    for id in [input, src] {
        lower.wholly_valid(id, "rows by index", call.span)?;
    }
    let (x, y) = (lower.tile(input).clone(), lower.tile(src).clone());
    let ((_, cols), (count, width)) = (fold(&x.shape), fold(&y.shape));
    let named: u64 = lower.shape_of(&index).iter().product();
    if named != count || cols != width {
        let message = format!("{count} rows of {width} elements for {named} indices and rows of {cols}");
        let error = Diagnostic::error("shapes", call.span, message)
            .also(place, "the indices")
            .help("`src` has a row for each index, as long as those of the input");
        return Err(lower.report(error));
    }
    if x.ty.layout.elem != y.ty.layout.elem {
        let names = [x.ty.layout.elem, y.ty.layout.elem].map(|elem| DType::Elem(elem).name());
        let message = format!("{} rows are put into {} tile", names[1], with_article(names[0]));
        return Err(lower.error("elem-types", call.span, message));
    }
    if let Value::Tile(id) = index
        && lower.tile(id).ty.layout.elem == Elem::F32
    {
        return Err(lower.error("elem-types", place, "indices are integers"));
    }
    let result = lower.copy_to(input, Space::Vec);
    counted(lower, count, call.span, |lower, at| {
        let row = element(lower, &index, &Value::Scalar(at), call.span)?;
        let row = lower.index(&row, call.span)?;
        let line = |lower: &mut Lower<'_>, id, row| {
            lower.subset(id, ([row, Index::Known(0)], [1, cols]), &[1, cols], call.span)
        };
        let (from, to) = (line(lower, src, Index::At(at))?, line(lower, result, row)?);
        crate::lower::on_tiles::emit(lower, &pto::TMOV, &[("src", from)], to);
        Ok(())
    })?;
    Ok(Value::Tile(result))
}
