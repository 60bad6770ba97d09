//! What a workitem asks about itself.

use slipring_ir::{Diags, Kind, Syntax, Type};
use slipring_machine::Platform;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::schema;
use slipring_op::{ops, workitems};
use slipring_simt::{Act, Workitem};

use super::{I32, WORK, bind_step, out};

const QUERY: OpDef = OpDef {
    schema: schema("", Syntax::Format("attr-dict `:` type($result)"), &[], &[out(I32, "the number")], &[]),
    ..WORK
};

/// A query whose answer no source defines.
const UNDEFINED: OpDef = OpDef { verify: refuse, lower: |_, _| Err(Reported), ..QUERY };

ops! {
    OPS;

    /// Workitem `x + dim_x × (y + dim_y × z)` of a launch has the coordinates x, y and z.
    TID_X "pto.get_tid_x" "The x coordinate of the workitem": QUERY, lower: |op, d| ask(op, d, |w| w.at()[0].into());
    /// As `pto.get_tid_x`.
    TID_Y "pto.get_tid_y" "The y coordinate of the workitem": QUERY, lower: |op, d| ask(op, d, |w| w.at()[1].into());
    /// As `pto.get_tid_x`.
    TID_Z "pto.get_tid_z" "The z coordinate of the workitem": QUERY, lower: |op, d| ask(op, d, |w| w.at()[2].into());

    /// A launch is one block: its extents are those of the launch.
    BLOCK_DIM_X "pto.get_block_dim_x" "Workitems in x": QUERY, lower: |op, d| ask(op, d, |w| w.shape[0].into());
    /// As `pto.get_block_dim_x`.
    BLOCK_DIM_Y "pto.get_block_dim_y" "Workitems in y": QUERY, lower: |op, d| ask(op, d, |w| w.shape[1].into());
    /// As `pto.get_block_dim_x`.
    BLOCK_DIM_Z "pto.get_block_dim_z" "Workitems in z": QUERY, lower: |op, d| ask(op, d, |w| w.shape[2].into());

    /// 1: a launch is one block.
    GRID_DIM_X "pto.get_grid_dim_x" "Blocks of workitems in x": QUERY, lower: |op, d| ask(op, d, |_| 1);
    /// 1: a launch is one block.
    GRID_DIM_Y "pto.get_grid_dim_y" "Blocks of workitems in y": QUERY, lower: |op, d| ask(op, d, |_| 1);
    /// 1: a launch is one block.
    GRID_DIM_Z "pto.get_grid_dim_z" "Blocks of workitems in z": QUERY, lower: |op, d| ask(op, d, |_| 1);

    /// 0: a launch is one block. The block of the kernel is `pto.get_block_idx`.
    BLOCK_IDX_X "pto.get_block_idx_x" "The block of the workitem in x": QUERY, lower: |op, d| ask(op, d, |_| 0);
    /// 0: a launch is one block.
    BLOCK_IDX_Y "pto.get_block_idx_y" "The block of the workitem in y": QUERY, lower: |op, d| ask(op, d, |_| 0);
    /// 0: a launch is one block.
    BLOCK_IDX_Z "pto.get_block_idx_z" "The block of the workitem in z": QUERY, lower: |op, d| ask(op, d, |_| 0);

    /// The position in the warp: the number of the workitem in the launch modulo 32. The manual calls it the physical
    /// lane without saying how workitems come to lanes; its test programs have this order.
    LANEID "pto.get_laneid" "The lane of the workitem": QUERY, lower: |op, d| ask(op, d, |w| w.lane().into());

    /// Bit `laneid`.
    MASK_EQ "pto.get_lanemask_eq" "A mask of the own lane": QUERY, lower: |op, d| ask(op, d, |w| mask(bit(w)));
    /// The bits up to `laneid`.
    MASK_LE "pto.get_lanemask_le" "A mask of the lanes up to the own one": QUERY,
        lower: |op, d| ask(op, d, |w| mask(bit(w) | (bit(w) - 1)));
    /// The bits below `laneid`.
    MASK_LT "pto.get_lanemask_lt" "A mask of the lanes before the own one": QUERY,
        lower: |op, d| ask(op, d, |w| mask(bit(w) - 1));
    /// The bits from `laneid` on, to bit 31.
    MASK_GE "pto.get_lanemask_ge" "A mask of the lanes from the own one on": QUERY,
        lower: |op, d| ask(op, d, |w| mask(!(bit(w) - 1)));
    /// The bits above `laneid`, to bit 31.
    MASK_GT "pto.get_lanemask_gt" "A mask of the lanes after the own one": QUERY,
        lower: |op, d| ask(op, d, |w| mask(!(bit(w) | (bit(w) - 1))));

    /// Refused: no source says how the cores are numbered.
    VECCOREID "pto.get_veccoreid" "The Vector core of the workitem": UNDEFINED;
    /// Refused: what is read depends on time, and no source says what a clock counts.
    CLOCK32 "pto.get_clock32" "The low half of a clock": UNDEFINED;
    /// Refused: what is read depends on time, and no source says what a clock counts.
    CLOCK64 "pto.get_clock64" "A clock": UNDEFINED
        => { results: &[out(LONG, "the clock")] };
}

const LONG: slipring_ir::TypeRule = slipring_ir::TypeRule { describe: "i64", accepts: |t| *t == Type::I64 };

fn refuse(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    workitems::inside(op, diags);
    let name = op.def.schema.name;
    let error = op.error(Kind::Unsupported, format!("`{name}` is not modelled: no source defines what it gives"));
    diags.push(error.help("`pto.get_block_idx` and `pto.get_tid_x` say which block and which workitem runs"));
}

fn ask(op: &OpRef<'_>, d: &mut Decoder<'_>, answer: fn(Workitem) -> u64) -> Lowered {
    bind_step(op, d, &[], Act::Ask(answer))
}

fn bit(workitem: Workitem) -> u32 {
    1 << workitem.lane()
}

/// A mask as a register keeps an i32.
fn mask(bits: u32) -> u64 {
    bits as i32 as u64
}
