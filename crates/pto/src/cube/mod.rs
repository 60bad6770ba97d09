//! Matrix products (PTO IR manual 4.4).

mod matmul;
mod mx;

pub use matmul::*;
pub use mx::*;

use slipring_op::def::OpDef;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &matmul::TMATMUL,
    &matmul::TMATMUL_ACC,
    &matmul::TMATMUL_BIAS,
    &matmul::TGEMV,
    &matmul::TGEMV_ACC,
    &matmul::TGEMV_BIAS,
    &mx::TMATMUL_MX,
    &mx::TMATMUL_MX_ACC,
    &mx::TMATMUL_MX_BIAS,
    &mx::TGEMV_MX,
    &mx::TGEMV_MX_ACC,
    &mx::TGEMV_MX_BIAS,
    &mx::TGET_SCALE_ADDR,
];
