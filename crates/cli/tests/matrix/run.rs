//! A program around one tile operation.

use std::fmt::Write;

use slipring::Bound;
use slipring_machine::built_in;

use crate::matrix::numbers::{Ty, bytes, from_bytes};
use crate::ready::Ready;

/// A tile with its complete previous contents.
#[derive(Clone, Debug)]
pub struct Tile {
    pub ty: Ty,
    /// Rows and columns of the tile.
    pub shape: [usize; 2],
    pub valid: [usize; 2],
    pub data: Vec<u64>,
}

/// Distance between tiles in bytes.
const BYTES_EACH: usize = 4096;

/// A program around an operation on tiles, with one parameter per tile. `text` refers to the tiles as `%t0`, `%t1`, …,
/// and to their types as `!t0`, ….
pub fn program(arch: &str, text: &str, tiles: &[Tile]) -> String {
    with_shapes(arch, text, tiles, false)
}

/// The same; with `open`, valid shapes are dynamic.
fn with_shapes(arch: &str, text: &str, tiles: &[Tile], open: bool) -> String {
    let (mut head, mut params, mut loads, mut stores) = (String::new(), Vec::new(), String::new(), String::new());
    for (i, Tile { ty: Ty(elem), shape: [rows, cols], valid: [v_rows, v_cols], .. }) in tiles.iter().enumerate() {
        let window = format!("!pto.partition_tensor_view<{rows}x{cols}x{elem}>");
        let view = format!("!pto.tensor_view<{rows}x{cols}x{elem}>");
        params.push(format!("%p{i}: !pto.ptr<{elem}>"));
        let (valid, given) = match open {
            true => ("?x?".to_string(), format!(" valid_row = %v_rows{i} valid_col = %v_cols{i}")),
            false => (format!("{v_rows}x{v_cols}"), String::new()),
        };
        writeln!(head, "!t{i} = !pto.tile_buf<vec, {rows}x{cols}x{elem}, valid={valid}>\n!w{i} = !pto.tile_buf<vec, {rows}x{cols}x{elem}>").unwrap();
        if open {
            writeln!(
                loads,
                "  %s_rows{i} = arith.constant {v_rows} : index\n  %s_cols{i} = arith.constant {v_cols} : index
  %v_rows{i} = arith.addi %s_rows{i}, %nought : index\n  %v_cols{i} = arith.addi %s_cols{i}, %nought : index"
            )
            .unwrap();
        }
        writeln!(
            loads,
            "  %at{i} = arith.constant {} : i64
  %rows{i} = arith.constant {rows} : index
  %cols{i} = arith.constant {cols} : index
  %t{i} = pto.alloc_tile addr = %at{i}{given} : !t{i}
  %w{i} = pto.alloc_tile addr = %at{i} : !w{i}
  %all{i} = pto.make_tensor_view %p{i}, shape = [%rows{i}, %cols{i}], strides = [%cols{i}, %c1] : {view}
  %view{i} = pto.partition_view %all{i}, offsets = [%c0, %c0], sizes = [%rows{i}, %cols{i}] : {view} -> {window}
  pto.tload ins(%view{i} : {window}) outs(%w{i} : !w{i})",
            i * BYTES_EACH
        )
        .unwrap();
        writeln!(stores, "  pto.tstore ins(%w{i} : !w{i}) outs(%view{i} : {window})").unwrap();
    }
    if open {
        params.push("%nought: index".into());
    }
    format!(
        "{head}module attributes {{pto.target_arch = \"{arch}\"}} {{
func.func @one({}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index
{loads}  pto.barrier #pto.pipe<PIPE_ALL>
{text}
  pto.barrier #pto.pipe<PIPE_ALL>
{stores}  return\n}}\n}}\n",
        params.join(", ")
    )
}

/// Runs an operation on tiles and returns the contents of each afterwards; with `open`, valid shapes are dynamic.
pub fn run(arch: &str, text: &str, tiles: &[Tile], open: bool) -> Result<Vec<Vec<u64>>, String> {
    let program = with_shapes(arch, text, tiles, open);
    let ready = Ready::of("matrix", &program, &built_in(arch).unwrap());
    let ready = ready.map_err(|said| format!("{}\n{program}", said.join("\n")))?;
    let mut values: Vec<_> = tiles.iter().map(|tile| Bound::buffer(bytes(tile.ty, &tile.data))).collect();
    values.extend(open.then_some(Bound::scalar(0)));
    let ran = ready.run(&values);
    // Where sources disagree, the expected results follow the references.
    if ran.result.findings.iter().any(|finding| finding.code != "sources-disagree") {
        return Err(format!("{:?}\n{program}", ran.result.findings));
    }
    Ok(tiles.iter().enumerate().map(|(i, tile)| from_bytes(tile.ty, ran.buffer(&values, i).unwrap())).collect())
}
