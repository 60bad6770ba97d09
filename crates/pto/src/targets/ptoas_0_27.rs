//! ptoas 0.27, the public assembler of April 2026.

use std::sync::LazyLock;

use slipring_ir::Syntax;
use slipring_ir::text::Spelling;
use slipring_op::target::{Fix, MaskRule, Need, OpRule, OpTable, RingRules, Target};
use slipring_tile::Elem;

use super::ptoas_0_27_types::TYPES;
use super::{bounds, fixes, memory, pipe_ends, pipe_values, pops, refused, scalars, steps, views};
use crate::{TEXPANDS, TMAX, TMIN};

/// Ops grouped by the rule that applies to them.
pub(super) static SETS: LazyLock<OpTable> = LazyLock::new(|| OpTable::built_in(include_str!("sets.tsv")));

static OPS: LazyLock<OpTable> = LazyLock::new(|| OpTable::built_in(include_str!("ptoas-0.27.tsv")));

/// ptoas 0.27.
pub static PTOAS_0_27: Target = Target {
    name: "ptoas-0.27",
    summary: "the public assembler, version 0.27",
    source: "PTOAS v0.27 (a56b18c3), built and asked: scripts/assembler",
    platforms: PLATFORMS,
    spelling: &SPELLING,
    ops: &OPS,
    lacks: LACKS,
    elems: ELEMS,
    types: TYPES,
    drops: DROPS,
    own_rules: &[
        OpRule { fix: Some(refused::without_memory), ..OpRule::of(&["pto.tquant", "pto.trowexpandadd"]) },
        OpRule { fix: Some(fixes::saturation_in_two_words), ..OpRule::of(&["pto.tcvt"]) },
        OpRule { fix: Some(fixes::as_many_bytes), ..OpRule::of(&["pto.treshape"]) },
        OpRule { fix: Some(refused::waits_for_events), ..OpRule::of(&["pto.tsync"]) },
        OpRule { fix: Some(refused::scaled_by_a_tile), ..OpRule::of(&["pto.tmov"]) },
        OpRule { fix: Some(refused::extracted_for_products), ..OpRule::of(&["pto.textract"]) },
    ],
    local_pointers: false,
    rules: &rules(Differs {
        moved: &[
            "pto.make_tensor_view",
            "pto.aic_initialize_pipe",
            "pto.aiv_initialize_pipe",
            "pto.initialize_l2g2l_pipe",
            "pto.load_scalar",
            "pto.store_scalar",
            "pto.addptr",
        ],
        ends: fixes::pipe_of_the_default_depth,
        moves: fixes::of_the_only_pipe,
        values: pipe_values::plain_pipe_value,
        parts: views::part_as_a_tile,
        popped: pops::popped_apart,
        sequence: refused::sequence_by_scalars,
    }),
    needs: NEEDS,
    rings: RingRules {
        slots: Some([8, 4]),
        values: &[4, 8],
        landing: true,
        pipes: 1,
        as_values: Some(pipe_ends::ends_as_values),
    },
};

/// Platforms: our name and its own.
pub(super) const PLATFORMS: &[(&str, &str)] = &[("a5", "a5"), ("a2a3", "a3")];

/// Attributes that only slipring's own text has.
pub(super) const DROPS: &[&str] = &["placed", "made", "reason", "label", "located", "assertion", "inside"];

/// Element types that it has.
pub(super) const ELEMS: &[Elem] = &[
    Elem::F32,
    Elem::F16,
    Elem::BF16,
    Elem::I8,
    Elem::I16,
    Elem::I32,
    Elem::I64,
    Elem::U8,
    Elem::U16,
    Elem::U32,
    Elem::U64,
    Elem::F8E4M3,
    Elem::F8E5M2,
];

/// Attribute kinds without their own syntax: MLIR's `EnumAttr` prints and parses them inside `#pto<…>`.
const INNER: &[&str] = &[
    "cmp",
    "round_mode",
    "saturation_mode",
    "st_phase",
    "atomic_type",
    "relu_pre_mode",
    "gather_oob",
    "scatter_atomic_op",
    "scatter_oob",
    "quant_type",
];

/// Integers whose type is written: op, attribute, type.
pub(super) const TYPED: &[(&str, &str, &str)] = &[
    ("pto.ttri", "upperOrLower", "i32"),
    ("pto.trandom", "rounds", "i32"),
    ("pto.tgather", "offset", "i32"),
    ("pto.get_buf", "mode", "i32"),
    ("pto.rls_buf", "mode", "i32"),
    ("pto.sync.set", "ffts_mode", "i32"),
    ("pto.build_async_session", "sync_id", "i32"),
    ("pto.build_async_session", "queue_num", "i32"),
];

pub(super) static SPELLING: Spelling = Spelling {
    inner: INNER,
    whole: &["pipe_event_type", "sync_op_type"],
    typed: TYPED,
    comma: &[("pto.tgather", "maskPattern")],
    one_by_one: &["pto.tstore", "pto.tmov"],
    full: true,
    forms: &[("pto.trandom", Syntax::InsOuts { ins: 6, attrs_in_ins: true })],
};

pub(super) const LACKS: &[(&str, &str)] =
    &[("memref.load", "it has no such access"), ("memref.store", "it has no such access")];

pub(super) const NEEDS: &[Need] = &[Need {
    ops: &["pto.sync.set", "pto.sync.wait"],
    on: |platform| platform.sync.broadcast_reduce,
    flags: "pto.set_ffts",
    pointer: false,
}];

/// Rules that differ between the versions.
pub(super) struct Differs {
    /// Ops that accept a moved pointer; empty if all do.
    pub moved: &'static [&'static str],
    /// For ends of pipes.
    pub ends: Fix,
    /// For ops that move tiles through pipes.
    pub moves: Fix,
    /// For pipe values.
    pub values: Fix,
    /// For parts of tiles.
    pub parts: Fix,
    /// For popped tiles.
    pub popped: Fix,
    /// For number sequences.
    pub sequence: Fix,
}

/// The rules.
pub(super) const fn rules(own: Differs) -> [OpRule; 68] {
    [
        OpRule { index: &["offset"], feeds: own.moved, ..OpRule::of(&["pto.addptr"]) },
        OpRule {
            index: &["offset"],
            ..OpRule::of(&["pto.load_scalar", "pto.store_scalar", "pto.tsetval", "pto.tgetval"])
        },
        OpRule { fix: Some(views::elements_of_the_tensor), ..OpRule::of(&["pto.tensor_view_addr"]) },
        OpRule {
            fix: Some(fixes::slots_at_their_address),
            ..OpRule::of(&["pto.reserve_buffer", "pto.import_reserved_buffer"])
        },
        OpRule { fix: Some(own.ends), ..OpRule::of(&["pto.aic_initialize_pipe", "pto.aiv_initialize_pipe"]) },
        OpRule { fix: Some(own.moves), ..OpRule::in_set(&SETS, "pipe_move") },
        OpRule { fix: Some(own.popped), ..OpRule::of(&["pto.tpop_from_aic", "pto.tpop_from_aiv", "pto.declare_tile"]) },
        OpRule { fix: Some(own.values), ..OpRule::of(&["pto.initialize_tpipe", "pto.initialize_tmpipe"]) },
        OpRule { fix: Some(memory::memory_in_two_dimensions), ..OpRule::of(&["memref.alloc", "pto.pointer_cast"]) },
        OpRule { fix: Some(fixes::memory_at_its_address), ..OpRule::of(&["memref.alloc", "memref.dealloc"]) },
        OpRule { fix: Some(pipe_values::split_is_written), ..OpRule::of(&["pto.tpush", "pto.tpop", "pto.tfree"]) },
        OpRule { index: &["valid_row", "valid_col"], ..OpRule::of(&["pto.tpop_from_aic", "pto.tpop_from_aiv"]) },
        OpRule { fix: Some(fixes::wait_of_a_pipe), ..OpRule::of(&["pto.sync.wait"]) },
        OpRule { fix: Some(fixes::print_of_a_number), ..OpRule::of(&["pto.print"]) },
        OpRule { fix: Some(fixes::known_classes), ..OpRule::of(&["pto.record_event", "pto.wait_event"]) },
        OpRule { fix: Some(fixes::class_of_a_barrier), ..OpRule::of(&["pto.barrier_sync"]) },
        OpRule { fix: Some(fixes::merge_memory_last), ..OpRule::of(&["pto.tmrgsort"]) },
        OpRule { fix: Some(fixes::buffer_by_class), ..OpRule::of(&["pto.get_buf", "pto.rls_buf"]) },
        OpRule {
            index: &["valid_row", "valid_col"],
            fix: Some(fixes::valid_shape_is_written),
            ..OpRule::of(&["pto.alloc_tile"])
        },
        OpRule {
            fix: Some(refused::whole_boxes),
            ..OpRule::of(&["pto.alloc_tile", "pto.declare_tile", "pto.tpop_from_aic", "pto.tpop_from_aiv"])
        },
        OpRule { tmp_like: Some("src"), ..OpRule::in_set(&SETS, "reduction") },
        OpRule { tmp_like: Some("src"), ..OpRule::of(&["pto.tsels", "pto.trems", "pto.txors"]) },
        OpRule { tmp_like: Some("src0"), ..OpRule::of(&["pto.tsel", "pto.trem", "pto.txor"]) },
        OpRule { fix: Some(fixes::only_rows), ..OpRule::in_set(&SETS, "by_row") },
        OpRule { fix: Some(fixes::columns_as_rows), ..OpRule::of(&["pto.texpands", "pto.tneg"]) },
        OpRule { fix: Some(fixes::compared_with_its_sign), ..OpRule::of(&["pto.tgather"]) },
        OpRule { fix: Some(own.parts), ..OpRule::of(&["pto.subset"]) },
        OpRule { spread: Some([&TMAX, &TEXPANDS]), ..OpRule::of(&["pto.tmaxs"]) },
        OpRule { spread: Some([&TMIN, &TEXPANDS]), ..OpRule::of(&["pto.tmins"]) },
        OpRule {
            mask: Some(MaskRule { like: "src0", with: &["pto.tcmps"] }),
            fix: Some(fixes::mask_of_one_shape),
            ..OpRule::of(&["pto.tcmp"])
        },
        OpRule { fix: Some(fixes::known_window), ..OpRule::of(&["pto.textract", "pto.tinsert"]) },
        OpRule {
            fix: Some(fixes::factors_of_one_type),
            ..OpRule::of(&["pto.tmatmul", "pto.tmatmul.bias", "pto.tgemv", "pto.tgemv.bias"])
        },
        OpRule { fix: Some(fixes::memory_of_the_older_unit), ..OpRule::of(&["pto.trowexpandexpdif"]) },
        OpRule { fix: Some(views::window_of_the_tensor), ..OpRule::of(&["pto.partition_view"]) },
        OpRule { fix: Some(memory::memory_as_a_tensor), ..OpRule::of(memory::MOVES) },
        OpRule {
            fix: Some(views::whole_tensor_as_window),
            ..OpRule::of(&["pto.tload", "pto.tstore", "pto.tstore_fp", "pto.tprefetch", "pto.mgather", "pto.mscatter"])
        },
        OpRule { fix: Some(views::layout_as_it_is_found), ..OpRule::of(&["pto.make_tensor_view"]) },
        OpRule { fix: Some(views::move_of_one_shape), ..OpRule::of(&["pto.tmov"]) },
        OpRule { fix: Some(views::shape_of_an_own_tile), ..OpRule::of(&["pto.set_validshape"]) },
        OpRule { fix: Some(views::filled_by_its_bytes), ..OpRule::of(&["pto.texpands"]) },
        OpRule { fix: Some(views::counted_with_a_sign), ..OpRule::of(&["pto.tci"]) },
        OpRule { fix: Some(views::read_ahead_by_rows), ..OpRule::of(&["pto.tprefetch"]) },
        OpRule { fix: Some(scalars::constant_of_bits), ..OpRule::of(&["arith.constant"]) },
        OpRule { fix: Some(views::indices_by_rows), ..OpRule::of(&["pto.mgather", "pto.mscatter"]) },
        OpRule { fix: Some(scalars::numbers_with_their_brackets), ..OpRule::in_table(&scalars::USERS) },
        OpRule {
            fix: Some(scalars::truths_without_a_sign),
            ..OpRule::of(&["arith.maxsi", "arith.minsi", "arith.cmpi"])
        },
        OpRule {
            fix: Some(scalars::cast_by_way_of_64_bits),
            ..OpRule::of(&["arith.index_cast", "arith.index_castui"])
        },
        OpRule { fix: Some(scalars::sum_as_difference), ..OpRule::of(&["arith.addf"]) },
        OpRule { fix: Some(scalars::rounded_up_by_one_less), ..OpRule::of(&["arith.ceildivui"]) },
        OpRule { fix: Some(scalars::carried_at_once), ..OpRule::of(&["scf.for", "scf.while"]) },
        OpRule { fix: Some(bounds::counted_without_a_sign), ..OpRule::of(&["scf.for"]) },
        OpRule {
            fix: Some(scalars::given_in_variables),
            ..OpRule::of(&["scf.for", "scf.while", "scf.yield", "scf.condition"])
        },
        OpRule { fix: Some(fixes::carries_no_tile), ..OpRule::of(&["scf.for", "scf.while", "func.call"]) },
        OpRule { fix: Some(refused::something_is_valid), ..OpRule::in_set(&SETS, "of_something") },
        OpRule { fix: Some(refused::something_is_valid), ..OpRule::in_set(&SETS, "reduction") },
        OpRule {
            fix: Some(refused::something_is_valid_in_registers),
            ..OpRule::of(&["pto.tcolmax", "pto.tcolmin", "pto.tcolsum"])
        },
        OpRule { fix: Some(fixes::as_itself), ..OpRule::of(&["pto.tpush_to_aic", "pto.tpop_from_aic"]) },
        OpRule { fix: Some(refused::fills_one_shape), ..OpRule::of(&["pto.tfillpad"]) },
        OpRule { fix: Some(refused::signals_of_stores), ..OpRule::of(&["pto.sync.set"]) },
        OpRule { fix: Some(own.sequence), ..OpRule::of(&["pto.tci"]) },
        OpRule { fix: Some(refused::gathered_by_indices), ..OpRule::of(&["pto.tgather"]) },
        OpRule { fix: Some(refused::chooses_numbers), ..OpRule::of(&["scf.if", "arith.select"]) },
        OpRule { fix: Some(steps::sum), ..OpRule::of(&["pto.taddc"]) },
        OpRule { fix: Some(steps::difference), ..OpRule::of(&["pto.tsubc"]) },
        OpRule { fix: Some(steps::sum_with_a_number), ..OpRule::of(&["pto.taddsc"]) },
        OpRule { fix: Some(steps::difference_with_a_number), ..OpRule::of(&["pto.tsubsc"]) },
        OpRule { fix: Some(refused::plain_function), ..OpRule::of(&["func.func"]) },
        OpRule { fix: Some(refused::stop_without_numbers), ..OpRule::of(&["pto.trap"]) },
    ]
}
