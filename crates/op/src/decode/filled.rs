//! Kernel arguments that a launch supplies.

use slipring_ir::{Module, OpId, ValueId};
use slipring_program::Special;

use crate::names::{BLOCK_COUNT, BLOCK_INDEX, LANE_INDEX};

/// The value that a launch supplies for an integer argument of a kernel with this name.
pub(crate) fn filled(module: &Module, arg: ValueId) -> Option<Special> {
    if !module.ty(arg).is_int_like() {
        return None;
    }
    match module.value(arg).name.as_deref()? {
        BLOCK_INDEX => Some(Special::BlockIdx),
        BLOCK_COUNT => Some(Special::BlockNum),
        LANE_INDEX => Some(Special::SubblockIdx),
        _ => None,
    }
}

/// True if a launch passes a function the index of its Vector core in the cluster.
pub fn asks_lane(module: &Module, function: OpId) -> bool {
    let args = module.body(function, 0).map_or(&[][..], |body| &module.block(body).args);
    args.iter().any(|arg| is_lane_number(module, *arg))
}

/// True if a value is the argument in which a launch passes the index of the Vector core.
pub fn is_lane_number(module: &Module, value: ValueId) -> bool {
    filled(module, value) == Some(Special::SubblockIdx) && module.defining_op(value).is_none()
}
