//! ptoas 0.60, the newest public assembler (e32488c9 of its public fork, August 2026).
//!
//! It cannot be built as a whole. Only its dialect can, which parses and verifies (`scripts/assembler
//! --build-verifier`). What its passes do to a verified text is not tested.

use std::sync::LazyLock;

use slipring_ir::Syntax;
use slipring_ir::text::Spelling;
use slipring_op::rules::joined;
use slipring_op::target::{Need, OpTable, RingRules, Target};
use slipring_tile::Elem;

use super::ptoas_0_27::{Differs, LACKS, NEEDS, SPELLING, rules};
use super::ptoas_0_27_types::TYPES;
use super::{fixes, newest, pipe_values, ptoas_0_27, views};

/// Attributes of `pto.tci` follow its results.
static NEWEST_SPELLING: Spelling = Spelling {
    forms: &[
        ("pto.trandom", Syntax::InsOuts { ins: 6, attrs_in_ins: true }),
        ("pto.tci", Syntax::InsOuts { ins: 2, attrs_in_ins: false }),
    ],
    inner: INNER,
    typed: &TYPED,
    ..SPELLING
};

/// Attribute kinds that MLIR parses inside `#pto<…>`: those that `PTOAttrs.td` declares as `EnumAttr`.
const INNER: &[&str] = &[
    "acc_phase",
    "acc_store_atomic_op",
    "acc_store_atomic_type",
    "acc_store_mode",
    "acc_store_sat_mode",
    "acc_store_ub_dst_mode",
    "atomic_type",
    "cmp",
    "coalesce",
    "cube_load_frac_mode",
    "div_precision",
    "exp_precision",
    "fmod_precision",
    "gather_oob",
    "log_precision",
    "mad_sat_mode",
    "mad_unit_flag_mode",
    "mx_group_axis",
    "notify_op",
    "pow_precision",
    "print_format",
    "quant_pre_mode",
    "quant_scale_alg",
    "quant_type",
    "recip_precision",
    "reduce_op",
    "relu_pre_mode",
    "rem_precision",
    "round_mode",
    "rounding",
    "rsqrt_precision",
    "saturation",
    "saturation_mode",
    "scatter_atomic_op",
    "scatter_conflict",
    "scatter_oob",
    "sqrt_precision",
    "st_phase",
    "unit_flag_ctrl",
    "vec_store_mode",
    "wait_cmp",
];

/// Integers whose type is written: those of 0.27 and others.
const TYPED: [Typed; ptoas_0_27::TYPED.len() + 7] = joined(&[
    ptoas_0_27::TYPED,
    &[
        ("pto.get_buf", "buf_id", "i32"),
        ("pto.rls_buf", "buf_id", "i32"),
        ("pto.shuffle_idx", "width", "i32"),
        ("pto.shuffle_up", "width", "i32"),
        ("pto.shuffle_down", "width", "i32"),
        ("pto.shuffle_bfly", "width", "i32"),
        ("func.func", "pto.simt_max_threads", "i32"),
    ],
]);

/// An op, an attribute and its type.
type Typed = (&'static str, &'static str, &'static str);

/// The address of the cross-core flags is a pointer.
const NEWEST_NEEDS: &[Need] = &[Need { pointer: true, ..NEEDS[0] }];

static OPS: LazyLock<OpTable> = LazyLock::new(|| OpTable::built_in(include_str!("ptoas-0.60.tsv")));

/// ptoas 0.60.
pub static PTOAS_0_60: Target = Target {
    name: "ptoas-0.60",
    summary: "the newest public assembler, version 0.60: its dialect verifies what is printed, its passes are not tried",
    source: "PTOAS e32488c9, include/PTO/IR and lib/PTO/IR, built and asked: scripts/assembler; v0.27",
    platforms: ptoas_0_27::PLATFORMS,
    spelling: &NEWEST_SPELLING,
    ops: &OPS,
    lacks: LACKS,
    elems: &ELEMS,
    types: TYPES,
    drops: ptoas_0_27::DROPS,
    own_rules: newest::RULES,
    local_pointers: true,
    rules: &rules(Differs {
        moved: &[],
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

/// Element types: those of 0.27 and three more.
const ELEMS: [Elem; ptoas_0_27::ELEMS.len() + 3] =
    joined(&[ptoas_0_27::ELEMS, &[Elem::HiF8, Elem::F4E2M1x2, Elem::F4E1M2x2]]);
