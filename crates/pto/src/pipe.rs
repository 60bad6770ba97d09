//! Rings between cores: reserve, import, initialise, push, pop, free (seed 000).

use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, Infer, OpSchema, Syntax, Touch, Type, TypeRule};
use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_op::address::ADDRESS;
use slipring_op::make::PLACED;
use slipring_op::ring::reserved::{BASE, LOCATION, NAME, PEER, SIZE};
use slipring_program::{Direction, Operand};
use slipring_tile::Space;

use super::buffer_text::BufferText;
use super::pipe_entry::{SUBBLOCK, TALLOC_TO_AIC, TALLOC_TO_AIV, own_subblock, verify_entry, verify_given};
use super::pipe_text::InitializeText;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{AddressRule, CoreRule, Lowered, OpDef, OpRef, PipeRule, RingPart};
use slipring_op::ring::{self, words};
use slipring_op::rules::{
    INTEGER, PLAIN, POINTER, TENSOR_VIEW, TILE, defaulted, operand, optional, require_space, required, result, schema,
};
use slipring_op::{home_kind, ops};

use crate::pipe_entry::verify_split;

/// `#pto.address_space<…>`.
pub const ADDRESS_SPACE: &EnumSpec = &EnumSpec {
    kind: "address_space",
    numbered: false,
    members: &["zero", "gm", "mat", "left", "right", "acc", "vec", "bias", "scaling"],
};

/// The base of ops that make an end of a pipe.
const ENDS: OpDef = OpDef {
    schema: INITIALIZE,
    doc: INITIALIZE_DOC,
    ring: Some(RingPart::Initialize),
    verify: verify_initialize,
    lower: ring::initialize,
    ..PLAIN
};
/// The base of pushes.
const PUSHES: OpDef = OpDef { schema: PUSH, doc: PUSH_DOC, source: "seed 000, TPUSH", lower: ring::push, ..PLAIN };
/// The base of pops.
const POPS: OpDef = OpDef {
    schema: POP,
    doc: POP_DOC,
    source: "seed 000, TPOP",
    address: AddressRule::Attr(ADDRESS),
    lower: ring::pop,
    ..PLAIN
};
/// The base of frees.
const FREES: OpDef = OpDef { schema: FREE, doc: FREE_DOC, source: "seed 000, TFREE", lower: ring::free, ..PLAIN };

ops! {
    OPS;

    /// Reserves `size` bytes of the consumer's UB (`vec`) or L1 (`mat`) for the slots of a ring. The allocator places
    /// nothing else there. With `auto = true` the allocator chooses the address and writes `base`; with `auto = false`
    /// the text gives it. On a platform with rings in global memory the buffer is where popped tiles land.
    pub RESERVE_BUFFER "pto.reserve_buffer"
        "Reserve local memory for the slots of a ring that this core consumes": PLAIN,
        source: "seed 000, DSL Grammar; PTO IR manual 4.18", ring: Some(RingPart::Reserve), verify: verify_reserve,
        lower: lower_reserve_buffer
        => {
            syntax: Syntax::Custom(&BufferText),
            results: &[result("base", INTEGER, Infer::Written, "address of the reserved memory, in bytes")],
            attrs: &[
                required(NAME, AttrKind::Str, "name that the peer imports it by"),
                required(SIZE, AttrKind::Int, "bytes: slot count × slot size"),
                defaulted(LOCATION, AttrKind::Enum(ADDRESS_SPACE), "`vec` or `mat`; by default the core's own"),
                defaulted("auto", AttrKind::Bool, "true: the allocator chooses the address"),
                defaulted(BASE, AttrKind::Int, "the address, where `auto` is false"),
            ],
        };

    /// Gives the producer the address that the consumer's `pto.reserve_buffer` of the same name has. The passes resolve
    /// it. `pto.import_peer_buffer` is another spelling.
    pub IMPORT_RESERVED_BUFFER "pto.import_reserved_buffer"
        "Import the address of the memory that the peer reserved": PLAIN,
        source: "seed 000, DSL Grammar; PTO IR manual 4.18", ring: Some(RingPart::Import), lower: lower_reserve_buffer
        => {
            syntax: Syntax::Custom(&BufferText),
            results: &[result("base", INTEGER, Infer::Written, "address that the peer reserved, in bytes")],
            attrs: &[
                required(NAME, AttrKind::Str, "name of the reservation"),
                required(PEER, AttrKind::Symbol, "the function that reserved it"),
                defaulted(BASE, AttrKind::Int, "the resolved address: written by the passes"),
            ],
            aliases: &["pto.import_peer_buffer"],
        };

    pub AIC_INITIALIZE_PIPE "pto.aic_initialize_pipe" "Set up the Cube core's ends of a pipe's rings": ENDS,
        source: "seed 000, aic_initialize_pipe", core: CoreRule::Cube;

    pub AIV_INITIALIZE_PIPE "pto.aiv_initialize_pipe" "Set up a Vector core's ends of a pipe's rings": ENDS,
        source: "seed 000, aiv_initialize_pipe", core: CoreRule::Vector;

    pub TPUSH_TO_AIV "pto.tpush_to_aiv" "Push a tile from the Cube core to the Vector cores": PUSHES,
        core: CoreRule::Cube, pipe: PipeRule::Fixed(Pipe::Fix), ring: Some(RingPart::Push(Direction::C2V)),
        verify: |op, _, diags| verify_push(op, Space::Acc, &TALLOC_TO_AIV, diags);

    pub TPUSH_TO_AIC "pto.tpush_to_aic" "Push a tile from a Vector core to the Cube core": PUSHES,
        core: CoreRule::Vector, pipe: PipeRule::Fixed(Pipe::Mte3), ring: Some(RingPart::Push(Direction::V2C)),
        verify: verify_tpush_to_aic
        => {
            syntax: Syntax::Format("`(` $tile `:` type($tile) `)` attr-dict (`aiv_subblockid` `(` $aiv_subblockid `)`)?"),
            operands: &[PUSH.operands[0], SUBBLOCK],
        };

    pub TPOP_FROM_AIC "pto.tpop_from_aic" "Pop a tile that the Cube core pushed": POPS, core: CoreRule::Vector,
        pipe: PipeRule::By(|op, platform| wait_pipe(op, platform, Direction::C2V)),
        ring: Some(RingPart::Pop(Direction::C2V)), verify: verify_tpop_from_aic
        => {
            syntax: Syntax::Format(
                "(`(` $valid_row `,` $valid_col `)`)? attr-dict (`aiv_subblockid` `(` $aiv_subblockid `)`)? `->` type($tile)",
            ),
            operands: &[POP.operands[0], POP.operands[1], SUBBLOCK],
        };

    pub TPOP_FROM_AIV "pto.tpop_from_aiv" "Pop a tile that the Vector cores pushed": POPS, core: CoreRule::Cube,
        pipe: PipeRule::By(|op, platform| wait_pipe(op, platform, Direction::V2C)),
        ring: Some(RingPart::Pop(Direction::V2C)), verify: |op, _, diags| verify_pop(op, Space::Mat, diags);

    pub TFREE_FROM_AIC "pto.tfree_from_aic" "Give a popped slot back to the Cube core": FREES, core: CoreRule::Vector,
        pipe: PipeRule::By(|op, platform| free_pipe(op, platform, Direction::C2V)),
        ring: Some(RingPart::Free(Direction::C2V)), verify: |op, _, diags| verify_free(op, &TPOP_FROM_AIC, diags);

    pub TFREE_FROM_AIV "pto.tfree_from_aiv" "Give a popped slot back to the Vector cores": FREES, core: CoreRule::Cube,
        pipe: PipeRule::By(|op, platform| free_pipe(op, platform, Direction::V2C)),
        ring: Some(RingPart::Free(Direction::V2C)), verify: |op, _, diags| verify_free(op, &TPOP_FROM_AIV, diags);
}

fn lower_reserve_buffer(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let base = op.int(BASE).map_or(Operand::Imm(0), Operand::imm);
    d.bind(op.result(0), Binding::Scalar(base));
    Ok(())
}

fn verify_tpush_to_aic(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    verify_push(op, Space::Vec, &TALLOC_TO_AIC, diags);
    own_subblock(op, diags);
}

fn verify_tpop_from_aic(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    verify_pop(op, Space::Vec, diags);
    own_subblock(op, diags);
}

fn verify_reserve(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let size = op.int(SIZE).unwrap_or(0);
    if size <= 0 {
        diags.push(op.error("reserve-size", "expects 'size' to be greater than 0"));
    }
    // The default location is the core's own memory.
    let own = || home_kind(op).map(|kind| if kind == CoreKind::Cube { Space::Mat } else { Space::Vec });
    let space = ring::reserved_space(op).or_else(own);
    if let Some(space) = space {
        if !matches!(space, Space::Vec | Space::Mat) {
            diags.push(
                op.error(
                    "reserve-location",
                    "expects 'location' to be #pto.address_space<vec> or #pto.address_space<mat>",
                )
                .label(format!("`{space}` cannot hold a ring")),
            );
        } else if let Some(spec) = platform.space(space)
            && size > 0
            && size as u64 > spec.bytes
        {
            diags.push(
                op.error(
                    "reserve-capacity",
                    format!("{size} bytes do not fit into `{space}`, which has {}", spec.bytes),
                )
                .help("lower `slot_num` or the slot size"),
            );
        }
    }
    let auto = op.attr("auto").and_then(slipring_ir::Attr::as_bool);
    match (auto, op.int(BASE)) {
        (Some(false), None) => diags.push(op.error("reserve-base", "expects 'base' when 'auto' is false")),
        (_, Some(base)) if base < 0 => {
            diags.push(op.error("reserve-base", "expects 'base' to be non-negative when present"));
        }
        _ => {}
    }
}

/// A buffer, or a view of its first slot.
const SLOTS_IN_GM: TypeRule = TypeRule {
    describe: "a pointer or a tensor view",
    accepts: |ty| (POINTER.accepts)(ty) || (TENSOR_VIEW.accepts)(ty),
};

const INITIALIZE: OpSchema = schema(
    "",
    Syntax::Custom(&InitializeText),
    &[
        optional(
            "gm_slot_buffer",
            SLOTS_IN_GM,
            Touch::Nothing,
            "slots in global memory, where the platform keeps rings there; as `gm_slot_tensor` a view of one slot, with \
             which the slots are there on every platform",
        ),
        optional(
            "c2v_consumer_buf",
            INTEGER,
            Touch::Nothing,
            "address of the C2V slots in the Vector cores' UB, in bytes",
        ),
        optional(
            "v2c_consumer_buf",
            INTEGER,
            Touch::Nothing,
            "address of the V2C slots in the Cube core's L1, in bytes",
        ),
    ],
    &[],
    &[
        required(words::DIRECTIONS, AttrKind::Int, "1: Cube to Vector, 2: Vector to Cube, 3: both"),
        required(words::SLOT_SIZE, AttrKind::Int, "bytes of a slot: those of the whole tile, before a split"),
        defaulted(words::SLOTS, AttrKind::Int, "slots of each ring; by default 8, or 4 with both directions"),
        defaulted(words::LOCAL_SLOTS, AttrKind::Int, LOCAL_SLOTS),
        defaulted(words::ID, AttrKind::Int, "tells several pipes of a kernel apart; 0 by default"),
        defaulted(words::UNDIVIDED, AttrKind::Bool, "true: every tile of the pipe goes undivided"),
        PROTOCOL,
        PLACEMENT,
        FLAG_BASE,
        PERIOD,
        CREDITS,
        AUTO_FREE,
        LANE,
        MADE,
        EPILOGUE,
    ],
);

/// The conversion that the fixpipe applies to tiles on their way into a pipe.
const EPILOGUE: AttrSpec = defaulted(
    words::EPILOGUE,
    AttrKind::Any,
    "what the fixpipe does to tiles: `#pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>`",
);

const LOCAL_SLOTS: &str = "places in the consumer's memory where popped tiles of slots in global memory land, at most the slots; \
     by default one for each slot";

/// `#pto.pipe_protocol<…>`.
pub(super) const PROTOCOL: AttrSpec = defaulted(
    words::PROTOCOL,
    AttrKind::Enum(&EnumSpec { kind: "pipe_protocol", numbered: false, members: &[words::TAGGED, words::COUNTED] }),
    "`tagged`: a flag for each slot; `counted`: a counter of ready tiles and one of free slots",
);

/// `#pto.pipe_placement<…>`.
pub(super) const PLACEMENT: AttrSpec = defaulted(
    words::PLACEMENT,
    AttrKind::Enum(&EnumSpec { kind: "pipe_placement", numbered: false, members: &[words::IN_GM, words::ON_CHIP] }),
    "where the slots are; by default where the platform has them",
);

pub(super) const FLAG_BASE: AttrSpec = defaulted(
    words::FLAG_BASE,
    AttrKind::Int,
    "first flag of a counted pipe: that one says ready, the next free; by default the next that no pipe has",
);

pub(super) const PERIOD: AttrSpec =
    defaulted(words::PERIOD, AttrKind::Int, "tiles that one free signal of a counted pipe stands for; 1 by default");

pub(super) const CREDITS: AttrSpec =
    defaulted(words::CREDITS, AttrKind::Int, "free signals at the start; by default the slots divided by the period");

pub(super) const LANE: AttrSpec = defaulted(
    words::LANE,
    AttrKind::Int,
    "the one Vector core at the other end, 0 or 1: its tiles go undivided; by default every Vector core that runs",
);

pub(super) const MADE: AttrSpec =
    defaulted("made", AttrKind::Unit, "made for a kernel of the whole cluster: written by the passes");

pub(super) const AUTO_FREE: AttrSpec =
    defaulted("auto_free", AttrKind::Bool, "true: a pop frees what it took, and the text has no frees");

const INITIALIZE_DOC: &str = "Binds the rings of a pipe to their memory and starts their tags at 0. The core that consumes a \
     direction signals all its slots free. A pipe has 8 slots in one direction or 4 in each of both, unless \
     `slot_num` says otherwise. `lane`, the same at both ends, makes it a pipe between the Cube core and that one Vector core, \
     with flags of its own: pipes to different lanes have their own tiles, depths and rates. Where the platform keeps rings in global memory, `gm_slot_buffer` holds the C2V \
     slots and after them the V2C slots, one such region a cluster; elsewhere the slots lie at \
     `c2v_consumer_buf` in UB and at `v2c_consumer_buf` in L1. `acc_push_epilogue`, the same at both ends of a pipe from \
     the Cube core, says what becomes of tiles on their way out of the accumulator: `layout` how the popped tile lies, \
     `relu` that negative values become 0 first, `quant` the conversion (`no_convert`; `f32_f16`, `f32_bf16`; those with \
     `_scalar` multiply by the number of `pto.set_quant_scalar`, those with `_vec` by the entries of \
     `pto.set_quant_vector`: `req8`, `deqf16` and `qs322bf16_pre` from i32, the others from f32). Tiles of such a pipe go \
     undivided.";

fn verify_initialize(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if !matches!(op.int(words::DIRECTIONS), Some(1..=3)) {
        diags.push(op.error("pipe-direction", "expects 'dir_mask' to be 1, 2, or 3").label("1 C2V, 2 V2C, 3 both"));
    }
    ring::verify_pipe(op, platform, diags);
}

/// A tile, or a slot in global memory.
const TILE_OR_ENTRY: TypeRule = TypeRule {
    describe: "a tile, or a tensor view of a slot",
    accepts: |ty| (TILE.accepts)(ty) || (TENSOR_VIEW.accepts)(ty),
};

const PUSH: OpSchema = schema(
    "",
    Syntax::Format("`(` $tile `:` type($tile) `)` attr-dict"),
    &[operand("tile", TILE_OR_ENTRY, Touch::Read, "the tile to push, or the slot that `pto.talloc_…` gave")],
    &[],
    &[
        required(words::SPLIT, AttrKind::Int, "0: whole tile, 1: upper and lower half, 2: left and right half"),
        defaulted(words::ID, AttrKind::Int, "which pipe; 0 by default"),
    ],
);

const PUSH_DOC: &str = "Waits until the next slot is free, moves the tile into it, signals the consumer that it is ready, and \
     advances the push tag. Under a split each Vector core has one half; the Cube core's tile is whole. The \
     tile lies in the slot in the layout in which the consumer pops it; element types convert on the way out \
     of the accumulator. A slot that `pto.talloc_…` gave, which the text has filled, is signalled ready and nothing else.";

/// Checks a push of a tile in this memory, or of a slot that op `by` returned.
fn verify_push(op: &OpRef<'_>, space: Space, by: &OpDef, diags: &mut Diags) {
    match op.operand("tile").filter(|value| matches!(op.module.ty(*value), Type::TensorView(_))) {
        Some(entry) => verify_given(op, entry, by, diags),
        None => {
            verify_split(op, diags);
            require_space(op, "tile", &[space], diags);
        }
    }
}

const POP: OpSchema = schema(
    "",
    Syntax::Format("(`(` $valid_row `,` $valid_col `)`)? attr-dict `->` type($tile)"),
    &[
        optional("valid_row", INTEGER, Touch::Nothing, "valid rows of the popped tile"),
        optional("valid_col", INTEGER, Touch::Nothing, "valid columns of the popped tile"),
    ],
    &[result(
        "tile",
        TILE_OR_ENTRY,
        Infer::Written,
        "the popped tile: the slot itself on chip, a copy of it from global memory; or a view of the slot there",
    )],
    &[
        required(words::SPLIT, AttrKind::Int, "0: whole tile, 1: upper and lower half, 2: left and right half"),
        defaulted(words::ID, AttrKind::Int, "which pipe; 0 by default"),
        defaulted(ADDRESS, AttrKind::Int, "where a tile from global memory lands: written by the allocator"),
    ],
);

const POP_DOC: &str = "Waits until the next slot is ready and takes its tile: on chip the tile is the slot, without a copy; from \
     global memory it is loaded. The slot stays held until the matching free. Several pops may be outstanding, up to \
     the number of slots. Where the result is a tensor view, it is the slot in global memory: nothing moves.";

fn verify_pop(op: &OpRef<'_>, space: Space, diags: &mut Diags) {
    let ty = op.module.ty(op.result(0));
    if matches!(ty, Type::TensorView(_)) {
        return verify_entry(op, op.result(0), diags);
    }
    verify_split(op, diags);
    let tile = ty.as_tile();
    if tile.is_some_and(|t| t.space != space) {
        diags.push(
            op.error("tile-space", format!("`{}` pops into `{space}`", op.def.schema.name))
                .label(format!("asks for a tile in `{}`", tile.map_or("", |t| t.space.name()))),
        );
    }
    match (op.operand("valid_row"), op.operand("valid_col")) {
        (None, None) => {}
        (Some(_), Some(_)) => {
            if tile.is_some_and(|t| t.valid.iter().any(|v| v.known().is_some())) {
                diags.push(op.error(
                    "pop-valid",
                    "expects tile result to have dynamic validShape (?, ?) when valid_row/valid_col operands are provided",
                ));
            }
        }
        _ => diags.push(op.error("pop-valid", "expects valid_row and valid_col operands to be provided together")),
    }
}

/// The pipes of an op's ring, from the op that makes the pipe in the same function; else the platform's defaults.
pub(super) fn phases(op: &OpRef<'_>, platform: &Platform, direction: Direction) -> ring::Phases {
    let spec = ring::own_end(op).and_then(|init| ring::PipeSpec::of(&init, platform));
    let counted = !op.def.schema.operands.iter().all(|o| o.name != "pipe");
    let default = ring::Way { direction, in_gm: platform.ring.in_gm, control: false, counted };
    spec.map_or(ring::Phases::of(default), |spec| spec.phases(direction))
}

fn wait_pipe(op: &OpRef<'_>, platform: &Platform, direction: Direction) -> Pipe {
    phases(op, platform, direction).wait
}

fn free_pipe(op: &OpRef<'_>, platform: &Platform, direction: Direction) -> Pipe {
    phases(op, platform, direction).free
}

const FREE: OpSchema = schema(
    "",
    Syntax::Format("(`(` $entry `:` type($entry) `)`)? attr-dict"),
    &[optional("entry", TENSOR_VIEW, Touch::Nothing, "the slot, where the pop gave one")],
    &[],
    &[
        required(words::SPLIT, AttrKind::Int, "as at the pop"),
        defaulted(words::ID, AttrKind::Int, "which pipe; 0 by default"),
        PLACED_FREE,
    ],
);

pub(super) const PLACED_FREE: AttrSpec =
    defaulted(PLACED, AttrKind::Unit, "the free of a pipe that frees by itself: written by the passes");

const FREE_DOC: &str = "Signals the producer that the oldest popped slot is free, and advances the free tag. It must come after the \
     last use of the popped tile; every pop needs one before the ring comes round to its slot again.";

fn verify_free(op: &OpRef<'_>, by: &OpDef, diags: &mut Diags) {
    match op.operand("entry") {
        Some(entry) => verify_given(op, entry, by, diags),
        None => verify_split(op, diags),
    }
}
