//! Products on the Cube core.

use slipring_ir::{Diagnostic, Reported};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::entry::{Call, ENTRY, entries};
use super::product::{Operands, accumulated, accumulator, accumulator_type, multiplied, operands_of, product};
use crate::dtype::DType;
use crate::lower::{CarryKind, Lower, Lowered};
use crate::value::{Const, Value, fold, show};

entries! {
    "matmul" => "Product of two matrices, in f32 (i32 for 8-bit integers)": ENTRY,
        params: "lhs, rhs, out_dtype=, a_trans=, b_trans=, c_matrix_nz=", op: Some(&pto::TMATMUL), lower: matmul;
    "matmul_acc" => "Product added to an accumulator, in place; where `init_cond` holds, put there": ENTRY,
        params: "acc, lhs, rhs, a_trans=, b_trans=, init_cond=", op: Some(&pto::TMATMUL_ACC), lower: matmul_acc;
    "gemv" => "Product of a row and a matrix": ENTRY,
        params: "lhs, rhs, out_dtype=, a_trans=, b_trans=, c_matrix_nz=, acc_phase= | lhs, rhs, acc_phase",
        op: Some(&pto::TGEMV), lower: matmul;
    "gemv_acc" => "Product of a row and a matrix added to an accumulator, in place": ENTRY,
        params: "acc, lhs, rhs, a_trans=, b_trans=, init_cond=, acc_phase= | acc, lhs, rhs, acc_phase",
        op: Some(&pto::TGEMV_ACC), lower: matmul_acc;
    "gemv_bias" => "Product of a row and a matrix, a bias added": ENTRY,
        params: "lhs, rhs, bias, a_trans=, b_trans=, acc_phase= | lhs, rhs, bias, acc_phase",
        op: Some(&pto::TGEMV_BIAS), lower: matmul_bias;
    "matmul_mx" => "Product of 8-bit floats with a scale for each 32 of them along k": ENTRY,
        params: "lhs, lhs_scale, rhs, rhs_scale", op: Some(&pto::TMATMUL_MX), lower: matmul_mx;
    "matmul_mx_acc" => "Product with scales added to an accumulator, in place": ENTRY,
        params: "acc, lhs, lhs_scale, rhs, rhs_scale", op: Some(&pto::TMATMUL_MX_ACC), lower: matmul_mx;
    "matmul_mx_bias" => "Product with scales, a bias added to each row": ENTRY,
        params: "lhs, lhs_scale, rhs, rhs_scale, bias", op: Some(&pto::TMATMUL_MX_BIAS), lower: matmul_mx;
    "batch_matmul" => "Products of two lists of matrices; `matmul` takes lists too": ENTRY,
        params: "lhs, rhs, out_dtype=, a_trans=, b_trans=, c_matrix_nz=", op: Some(&pto::TMATMUL), lower: matmul;
    "batch_matmul_acc" => "Products of two lists of matrices added to accumulators, in place": ENTRY,
        params: "acc, lhs, rhs, a_trans=, b_trans=, init_cond=", op: Some(&pto::TMATMUL_ACC), lower: matmul_acc;
    "matmul_bias" => "Product, a bias added to each row": ENTRY, params: "lhs, rhs, bias, a_trans=, b_trans=",
        op: Some(&pto::TMATMUL_BIAS), lower: matmul_bias;
}

fn operands(lower: &mut Lower<'_>, call: &Call) -> Lowered<Operands> {
    phase(lower, call)?;
    let (lhs, rhs) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    operands_of(lower, call, lhs, rhs)
}

/// Requires `acc_phase` to be a phase. It only tells the hardware when an accumulator is complete.
fn phase(lower: &mut Lower<'_>, call: &Call) -> Lowered<()> {
    if !call.has("acc_phase") {
        return Ok(());
    }
    match call.word(lower, "acc_phase")?.as_deref() {
        None | Some("unspecified" | "partial" | "final") => Ok(()),
        Some(other) => {
            let error = Diagnostic::error("argument", call.span, format!("there is no phase `{other}`"))
                .help("the phases are unspecified, partial and final");
            Err(lower.report(error))
        }
    }
}

fn matmul(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    call.idle_flag(lower, "c_matrix_nz", "a product is moved to where the next op wants it")?;
    if let Some(list) = super::batch::list_of(lower, call)? {
        return super::batch::products(lower, call, &list, None);
    }
    if let Some(turned) = by_vector(lower, call)? {
        let o = operands(lower, &turned)?;
        return multiplied(lower, &turned, &o).map(Value::Tile);
    }
    let o = operands(lower, call)?;
    multiplied(lower, call, &o).map(Value::Tile)
}

/// The product of a matrix and a tensor of one dimension as that of the row and the transposed matrix, which has the
/// same elements, and the product of two such tensors as that of a row and a column; `None` for other operands.
fn by_vector(lower: &mut Lower<'_>, call: &Call) -> Lowered<Option<Call>> {
    let (lhs, rhs) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    let vector = matches!(&rhs.0, Value::Tensor(tensor) if tensor.shape().len() == 1);
    let rank = match &lhs.0 {
        Value::Tensor(_) | Value::Tile(_) => lower.shape_of(&lhs.0).len(),
        _ => 0,
    };
    if !vector || !(1..=2).contains(&rank) || call.flag(lower, "b_trans")? {
        return Ok(None);
    }
    let no = |is: bool| (Value::Const(Const::Bool(is)), call.span);
    let transposed = call.flag(lower, "a_trans")?;
    if rank == 1 {
        return Ok((!transposed).then(|| call.with([("b_trans", no(true))])));
    }
    let summands = lower.shape_of(&lhs.0)[usize::from(!transposed)];
    if summands != lower.shape_of(&rhs.0)[0] {
        return Ok(None);
    }
    Ok(Some(call.with([("lhs", rhs), ("rhs", lhs), ("a_trans", no(false)), ("b_trans", no(!transposed))])))
}

/// Reports lists of matrices where a single accumulator takes a product.
fn no_list(lower: &mut Lower<'_>, call: &Call) -> Lowered<()> {
    if super::batch::list_of(lower, call)?.is_none() {
        return Ok(());
    }
    let error = Diagnostic::error("shapes", call.span, "products of lists are added to one accumulator")
        .help("begin with the first products: `acc = pl.matmul(…)`");
    Err(lower.report(error))
}

fn matmul_acc(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    // The signature for tiles has the condition in fourth place, where the one for tensors has a constant.
    let of_tiles = matches!(call.get("a_trans"), Some((Value::Scalar(_), _))) && call.get("init_cond").is_none();
    let call = if of_tiles { call.moved("a_trans", "init_cond") } else { call.clone() };
    let call = &by_vector(lower, &call)?.unwrap_or(call);
    let (acc, span) = call.need(lower, "acc")?;
    let id = match &acc {
        Value::Tile(id) => *id,
        // A tensor that was made but never written: an empty accumulator.
        Value::Tensor(tensor) if lower.holds_nothing(tensor) => {
            no_list(lower, call)?;
            let o = operands(lower, call)?;
            let ty = accumulator_type(lower, &o);
            let fits = fold(&tensor.shape()) == fold(&o.shape);
            if fits && lower.wants_accumulator(tensor, &CarryKind::Accumulator(ty)) {
                return Err(Reported);
            }
            let empty = match fits {
                true => product(lower, &o, "create_tensor"),
                false => lower.new_tile(&tensor.shape(), tensor.elem, Space::Acc, "create_tensor"),
            };
            return accumulated(lower, call, (empty, span), &o).map(Value::Tile);
        }
        Value::Parts(parts) => {
            let list = parts.shape[..parts.shape.len() - 2].to_vec();
            if super::batch::list_of(lower, call)?.as_ref() != Some(&list) {
                let message = format!("the products are not a list {} of matrices", show(&list));
                return Err(lower.error("shapes", call.span, message));
            }
            return super::batch::products(lower, call, &list, Some((&parts.clone(), span)));
        }
        _ => return Err(call.wrong(lower, "acc", "an accumulator", &acc, span)),
    };
    no_list(lower, call)?;
    let o = operands(lower, call)?;
    accumulated(lower, call, (id, span), &o).map(Value::Tile)
}

fn matmul_bias(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let o = operands(lower, call)?;
    let (bias, span) = call.need(lower, "bias")?;
    let bias = lower.demand(&bias, Space::Bias, span)?;
    let target = product(lower, &o, call.entry.names[0]);
    let [l, r, b, d] = [o.left, o.right, bias, target].map(|id| lower.tile(id).value);
    let groups: [(&str, &[_]); 4] = [("lhs", &[l]), ("rhs", &[r]), ("bias", &[b]), ("dst", &[d])];
    lower.e.op(call.op(), &groups, &[], &[]);
    Ok(Value::Tile(target))
}

/// A product with scales: of the call's operands and both tiles of scales.
fn matmul_mx(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let o = operands(lower, call)?;
    let mut scales = Vec::new();
    for (name, space, operand) in [("lhs_scale", Space::LeftScale, o.left), ("rhs_scale", Space::RightScale, o.right)] {
        let (value, span) = call.need(lower, name)?;
        let (data, k) = (lower.tile(operand).clone(), if space == Space::LeftScale { 1 } else { 0 });
        let (rows, cols) = fold(&data.shape);
        let mut wanted = [rows, cols];
        if !wanted[k].is_multiple_of(64) || !matches!(data.ty.layout.elem, Elem::F8E4M3 | Elem::F8E5M2) {
            let elem = DType::Elem(data.ty.layout.elem).name();
            let error = Diagnostic::error(
                "argument",
                call.span,
                format!("a product with scales of {elem} over k = {}", wanted[k]),
            )
            .also(data.span, "the operand")
            .help("operands are 8-bit floats, and k is a multiple of 64");
            return Err(lower.report(error));
        }
        wanted[k] /= 32;
        let shape = lower.shape_of(&value);
        if fold(&shape) != (wanted[0], wanted[1]) {
            let message = format!("scales {} of an operand {}", show(&shape), show(&data.shape));
            let error = Diagnostic::error("shapes", span, message)
                .help(format!("there is one for each 32 elements along k: {}", show(&wanted)));
            return Err(lower.report(error));
        }
        let tile = lower.demand(&value, space, span)?;
        scales.push(lower.tile(tile).value);
    }
    let (l, r) = (lower.tile(o.left).value, lower.tile(o.right).value);
    let data: [(&str, &[_]); 4] =
        [("lhs", &[l]), ("lhs_scale", &scales[..1]), ("rhs", &[r]), ("rhs_scale", &scales[1..])];
    if call.has("acc") {
        let (value, span) = call.need(lower, "acc")?;
        let Value::Tile(acc) = value else { return Err(call.wrong(lower, "acc", "an accumulator", &value, span)) };
        let tile = accumulator(lower, (acc, span), &o)?;
        let onto = [tile.value];
        let groups = [&[("acc_in", &onto[..])][..], &data[..], &[("dst", &onto[..])][..]].concat();
        lower.e.op(call.op(), &groups, &[], &[]);
        lower.take(acc, call.span);
        return Ok(Value::Tile(lower.add_tile(tile.value, tile.ty, &tile.shape, "matmul_mx_acc")));
    }
    let bias = match call.has("bias").then(|| call.need(lower, "bias")).transpose()? {
        Some((value, span)) => {
            let tile = lower.demand(&value, Space::Bias, span)?;
            Some(lower.tile(tile).value)
        }
        None => None,
    };
    let target = product(lower, &o, call.entry.names[0]);
    let d = [lower.tile(target).value];
    let bias: Vec<(&str, &[_])> = bias.as_ref().map(|bias| ("bias", std::slice::from_ref(bias))).into_iter().collect();
    let groups = [&data[..], &bias[..], &[("dst", &d[..])][..]].concat();
    lower.e.op(call.op(), &groups, &[], &[]);
    Ok(Value::Tile(target))
}
