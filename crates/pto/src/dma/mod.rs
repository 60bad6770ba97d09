//! Moving tiles: to and from global memory, between local memories (PTO IR manual 4.3 and 4.10).

mod collective;
mod comm;
mod group;
mod load;
mod moves;
pub(super) mod not_run;
mod store;
mod ways;
mod window;

pub(crate) use collective::OPS as COLLECTIVE_OPS;
pub use collective::TQUANT_MX;
pub(crate) use comm::OPS as COMM_OPS;
pub use comm::{TGET, TPUT};
pub(crate) use group::OPS as GROUP_OPS;
pub use load::*;
pub use moves::*;
pub use not_run::*;
pub use store::*;
pub use window::*;

use slipring_op::def::OpDef;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &load::TLOAD,
    &load::TPREFETCH,
    &store::TSTORE,
    &store::TSTORE_FP,
    &moves::TMOV,
    &moves::TMOV_FP,
    &window::TEXTRACT,
    &window::TINSERT,
    &window::TEXTRACT_FP,
    &window::TINSERT_FP,
];
