//! The newest public assembler, as far as its public sources and those of compilers for it show what it takes.
//!
//! No version after 0.27 could be built: what is different is read off its declarations of ops and the rules of its pipes, and
//! off the text that pypto writes for it (August 2026), and off the parser and the declarations of 0.60 (e32488c9 of its public
//! fork).

use slipring_ir::Syntax;
use slipring_ir::text::Spelling;
use slipring_op::target::{Need, RingRules, Target};

use super::ptoas_0_27::{Differs, ELEMS, LACKS, NEEDS, SPELLING, rules};
use super::ptoas_0_27_ops::OPS;
use super::ptoas_0_27_types::TYPES;
use super::{fixes, pipe_values, ptoas_0_27, views};

/// Attributes of `pto.tci` follow its results.
static NEWEST_SPELLING: Spelling = Spelling {
    forms: &[
        ("pto.trandom", Syntax::InsOuts { ins: 6, attrs_in_ins: true }),
        ("pto.tci", Syntax::InsOuts { ins: 2, attrs_in_ins: false }),
    ],
    ..SPELLING
};

/// The address of the flags between cores is a pointer.
const NEWEST_NEEDS: &[Need] = &[Need { pointer: true, ..NEEDS[0] }];

/// ptoas, newest.
pub static PTOAS: Target = Target {
    name: "ptoas",
    summary: "the newest public assembler; not tried: pipes with a number and any depth, parts as tiles, all else as 0.27",
    source: "PTOAS 5c33e400 and 658562e4, include/PTO/IR; pypto e2d0f78a, src/backend/common/pto_ops_crosscore.cpp; v0.27",
    platforms: ptoas_0_27::PLATFORMS,
    spelling: &NEWEST_SPELLING,
    ops: OPS,
    lacks: LACKS,
    elems: ELEMS,
    types: TYPES,
    drops: ptoas_0_27::DROPS,
    rules: &rules(Differs {
        ends: fixes::pipe_with_its_depth,
        moves: fixes::as_it_is,
        values: pipe_values::pipe_value_of_any_depth,
        parts: views::part_is_a_tile,
        popped: fixes::as_it_is,
        sequence: fixes::as_it_is,
    }),
    needs: NEWEST_NEEDS,
    rings: RingRules { slots: None, values: &[4, 8], landing: true, pipes: 8, as_values: None },
};
