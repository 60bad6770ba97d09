//! Sources of vector operations whose bytes the results must not share.
//!
//! Read from the public manual, which excludes it for `trecip` and `tprelu` on A2/A3 and for a bit operation with a
//! number everywhere, and from the headers of the tile library for A2/A3 as of August 2026: they write intermediate
//! results into `dst` and read the source again afterwards.

use slipring_op::def::OpRef;
use slipring_op::{ApartRule, On};

type Rules = &'static [ApartRule];

/// Of one source, on units that work on memory.
pub(super) const ONE: Rules = &[ApartRule::of_memory(&["src"])];
/// Of two.
pub(super) const TWO: Rules = &[ApartRule::of_memory(&["src0", "src1"])];
/// Of one, everywhere.
pub(super) const EVERYWHERE: Rules = &[ApartRule { on: On::All, ..ApartRule::of_memory(&["src"]) }];
/// A number divided by a tile of floats: the number is spread over `dst` first (`TSDiv`).
pub(super) const DIVISOR: Rules =
    &[ApartRule { when: |op| op.if_declared("dividend").is_some() && floats(op), ..ApartRule::of_memory(&["src"]) }];
/// Powers of floats: special values are inserted at the end (`ProcessSpecialCaseForPowF`).
pub(super) const RAISED: Rules = &[ApartRule { when: floats, ..ApartRule::of_memory(&["base", "exponent"]) }];

fn floats(op: &OpRef<'_>) -> bool {
    op.if_declared("dst").and_then(|value| op.module.ty(value).elem()).is_some_and(|elem| elem.is_float())
}
