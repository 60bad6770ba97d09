//! Communication between cores: pushes and pops, shards and gathers.

use super::*;

/// Pushes a complete tile into a pipe, for pops of this name.
pub(super) fn push(run: &mut Run<'_>, popped_by: &'static str, args: &Args) -> Eval {
    let tile = args.array(0, "tile")?.copy();
    run.pipes.entry((popped_by, pipe(args)?)).or_default().push_back(tile);
    Ok(Value::None)
}

pub(super) fn pop(run: &mut Run<'_>, name: &'static str, args: &Args) -> Eval {
    let oldest = run.pipes.entry((name, pipe(args)?)).or_default().pop_front();
    oldest.map(Value::Array).ok_or_else(|| format!("{name} of an empty pipe"))
}

/// The number of the pipe for an op that does not split its tile.
pub(super) fn pipe(args: &Args) -> Eval<i128> {
    if let Some(split) = args.get(usize::MAX, "split")
        && split.int()? != 0
    {
        return Err("a divided tile".into());
    }
    args.get(usize::MAX, "id").map_or(Ok(0), |id| id.int())
}

/// The mode of a cross-core copy, and the current lane.
pub(super) fn crossing(run: &Run<'_>, args: &Args) -> Eval<(String, usize)> {
    let lane = run.lane.ok_or("a cross-core copy outside every region")?;
    let own = args.get(1, "mode").map(|mode| mode.member().map(str::to_string)).transpose()?;
    Ok((own.or_else(|| run.mode.clone()).ok_or("a cross-core copy without a mode")?, lane))
}

/// A lane's half of an array: the first or the second half of the rows or columns.
pub fn half(array: &Array, mode: &str, lane: usize) -> Eval<Array> {
    let axis = match mode {
        "NONE" => return Ok(array.clone()),
        "UP_DOWN" => 0,
        "LEFT_RIGHT" => array.shape.len() - 1,
        other => return Err(format!("no mode: {other}")),
    };
    let mut parts: Vec<(i128, Option<usize>)> = array.shape.iter().map(|n| (0, Some(*n))).collect();
    let size = array.shape[axis] / 2;
    if !array.shape[axis].is_multiple_of(2) {
        return Err(format!("half of {}", array.shape[axis]));
    }
    parts[axis] = ((size * lane) as i128, Some(size));
    array.part(&parts)
}

pub(super) fn shard(run: &Run<'_>, args: &Args) -> Eval {
    let (mode, lane) = crossing(run, args)?;
    let own = args.array(0, "tile")?;
    let part = half(&own, &mode, lane)?.copy();
    let [rows, cols] = part.rows_cols();
    // The valid part of the tile in this half.
    let left = |counted: usize, size: usize| counted.saturating_sub(lane * size).min(size);
    let valid = own.valid.map(|valid| match mode.as_str() {
        "UP_DOWN" => [left(valid[0], rows), valid[1]],
        "LEFT_RIGHT" => [valid[0], left(valid[1], cols)],
        _ => valid,
    });
    Ok(Value::Array(Array { valid, ..part }))
}

pub(super) fn gather(run: &mut Run<'_>, args: &Args) -> Eval {
    let (mode, lane) = crossing(run, args)?;
    let own = args.array(0, "tile")?;
    let at = run.gathered;
    run.gathered += 1;
    if lane == 0 {
        let mut shape = own.shape.clone();
        match mode.as_str() {
            "UP_DOWN" => shape[0] *= 2,
            "LEFT_RIGHT" => *shape.last_mut().ok_or("no columns")? *= 2,
            _ => {}
        }
        run.gathers.push(Array::full(&shape, own.elem, f64::NAN));
    }
    let whole = run.gathers.get(at).cloned().ok_or("the lanes gather something else")?;
    if mode != "NONE" || lane == 0 {
        half(&whole, &mode, lane)?.write(&own.values());
    }
    Ok(Value::Array(whole))
}
