//! The newest public assembler, as far as public compilers show what it takes.
//!
//! No version after 0.27 could be built: what is different is read off the text that pypto writes for it (August 2026).

use slipring_op::target::{RingRules, Target};

use super::ptoas_0_27::{ELEMS, LACKS, NEEDS, SPELLING, rules};
use super::ptoas_0_27_ops::OPS;
use super::ptoas_0_27_types::TYPES;
use super::{fixes, ptoas_0_27};

/// ptoas, newest.
pub static PTOAS: Target = Target {
    name: "ptoas",
    summary: "the newest public assembler; not tried: pipes with a number and a depth, all else as 0.27",
    source: "pypto e2d0f78a, src/backend/common/pto_ops_crosscore.cpp; PTOAS v0.27 for the rest",
    platforms: ptoas_0_27::PLATFORMS,
    spelling: &SPELLING,
    ops: OPS,
    lacks: LACKS,
    elems: ELEMS,
    types: TYPES,
    drops: ptoas_0_27::DROPS,
    rules: &rules(fixes::pipe_with_its_depth, fixes::as_it_is),
    needs: NEEDS,
    rings: RingRules { slots: None, values: &[4, 8], landing: true, pipes: 8, as_values: None },
};
