//! Rings by pipe values: the ops that make them, and push, pop and free in their three forms (seed 003; PTO IR of the
//! public assembler).

use slipring_ir::{
    Arity, AttrKind, AttrSpec, Diags, Infer, OpSchema, OperandSpec, ResultSpec, Syntax, Touch, Type, TypeRule,
};
use slipring_machine::{Pipe, Platform};
use slipring_op::address::ADDRESS;
use slipring_op::make::is_placed;
use slipring_program::Direction;
use slipring_tile::Space;

use super::pipe::{AUTO_FREE, CREDITS, FLAG_BASE, LANE, PERIOD, PLACED_FREE, PROTOCOL, phases};
use super::pipe_text::{PipeText, Verb};
use slipring_op::def::{AddressRule, CoreRule, HandlePart, OpDef, OpRef, PipeRule, RingPart};
use slipring_op::ring::{self, Phase, words};
use slipring_op::rules::{
    ANY, BOOL, INTEGER, PLAIN, TILE, defaulted, operand, optional, required, result, schema, variadic,
};

use crate::pipe_entry::verify_split;
use crate::pipe_text::is_event;
use slipring_op::{ops, positional};

const PIPE_HANDLE: TypeRule = TypeRule {
    describe: "a pipe",
    accepts: |t| matches!(t, Type::Pipe(_)) || matches!(t, Type::Named(name) if &**name == "pto.pipe"),
};

const TYPED_PIPE: TypeRule =
    TypeRule { describe: "`!pto.tpipe` or `!pto.tmpipe`", accepts: |t| matches!(t, Type::Pipe(_)) };

const EVENT: TypeRule = TypeRule { describe: "an event", accepts: is_event };

const HANDLE: OpDef = OpDef {
    schema: schema("", Syntax::Generic, &[], &[], &[]),
    summary: "",
    doc: "",
    source: "seed 003; PTO IR of the public assembler, internal pipe ops",
    lower: ring::initialize,
    ..PLAIN
};

// ---- making a pipe ----

const MADE_DOC: &str = "Makes this core's end of a pipe; the other core makes the other end, with the same flag. The consumer signals \
     its slots free. The ends agree by counters: flag `flag_base` says that a tile is ready, the next that a slot is \
     free; a pipe with both directions takes two more for Vector to Cube. `protocol = tagged` gives every slot flags of its \
     own instead. With `period = n` the consumer signals once for n freed slots, and the producer waits once for n pushes.";

/// The attributes of an end of a pipe, with the documentation for the slots of the landing area.
const fn made(local_slots: &'static str) -> [AttrSpec; 12] {
    [
        required(words::DIRECTIONS, AttrKind::Int, "1: Cube to Vector, 2: Vector to Cube, 3: both"),
        required(words::SLOT_SIZE, AttrKind::Int, "bytes of a slot"),
        required(words::SLOTS, AttrKind::Int, "slots of each ring"),
        defaulted(words::LOCAL_SLOTS, AttrKind::Int, local_slots),
        FLAG_BASE,
        defaulted(words::UNDIVIDED, AttrKind::Bool, "true: every tile goes undivided"),
        defaulted(
            words::FREED_BY_USER,
            AttrKind::Bool,
            "true: V frees slots in UB, as public headers do; else MTE2 (seed 003)",
        ),
        PROTOCOL,
        PERIOD,
        CREDITS,
        AUTO_FREE,
        LANE,
    ]
}

/// The base of ops that turn phases of a pipe on or off.
const SWITCHES: OpDef = OpDef {
    schema: STATUS,
    doc: STATUS_DOC,
    source: "seed 003, Common Patterns; TPUSH, Pattern 3",
    verify: verify_status,
    lower: ring::set_status,
    ..HANDLE
};

ops! {
    OPS;

    pub INITIALIZE_L2L "pto.initialize_l2l_pipe" "A pipe whose slots are on chip, as a value": HANDLE, doc: MADE_DOC,
        ring: Some(RingPart::Initialize), verify: verify_made
        => {
            syntax: Syntax::Format("attr-dict `(` $local `:` type($local) (`,` $peer `:` type($peer))? `)` `->` type($pipe)"),
            operands: &[
                operand("local", INTEGER, Touch::Nothing, "address of the consumer's slots, in bytes"),
                optional("peer", INTEGER, Touch::Nothing, "address of the other direction's slots, in bytes"),
            ],
            results: &[result("pipe", PIPE_HANDLE, Infer::Written, "the pipe")],
            attrs: &made("slots of the landing area"),
        };

    pub INITIALIZE_L2G2L "pto.initialize_l2g2l_pipe" "A pipe whose slots are in global memory, as a value": HANDLE,
        doc: MADE_DOC, ring: Some(RingPart::Initialize), verify: verify_made
        => {
            syntax: Syntax::Format(
                "attr-dict `(` $gm `:` type($gm) `,` $local `:` type($local) (`,` $peer `:` type($peer))? `)` `->` type($pipe)",
            ),
            operands: &[
                operand("gm", ANY, Touch::Nothing, "slots in global memory"),
                operand("local", INTEGER, Touch::Nothing, "address of the landing area, in bytes"),
                optional("peer", INTEGER, Touch::Nothing, "address of the other direction's landing area, in bytes"),
            ],
            results: &[result("pipe", PIPE_HANDLE, Infer::Written, "the pipe")],
            attrs: &made("slots of the landing area; by default those of the ring"),
        };

    /// `!pto.tpipe<FlagID, direction, SlotSize, SlotNum, LocalSlotNum>`: the direction is DIR_C2V (1), DIR_V2C (2),
    /// DIR_BOTH (3), DIR_V2C_CTRL (4), and on A5 DIR_C2V_GM (5), DIR_V2C_GM (6), DIR_BOTH_GM (7). FlagID is the counter
    /// of ready tiles, FlagID + 1 that of free slots; DIR_BOTH has two more for Vector to Cube; AIV1's are 16 higher on
    /// A5. LocalSlotNum (2 by default) is the depth of the area where tiles from global memory land. DIR_V2C_CTRL
    /// carries 32 bits and no tiles; its slots are in global memory. A pop frees what it took, unless `auto_free =
    /// false`: on chip the passes place that free after the last use of the tile.
    pub INITIALIZE_TPIPE "pto.initialize_tpipe" "Make an end of a `!pto.tpipe`": HANDLE,
        ring: Some(RingPart::Initialize), verify: ring::verify_pipe
        => {
            syntax: Syntax::Format(
                "attr-dict `(` (`gm_slot_buffer` `=` $gm_slot_buffer `:` type($gm_slot_buffer))? (`,`)? \
                 (`c2v_consumer_buf` `=` $c2v_consumer_buf `:` type($c2v_consumer_buf))? (`,`)? \
                 (`v2c_consumer_buf` `=` $v2c_consumer_buf `:` type($v2c_consumer_buf))? `)` `->` type($pipe)",
            ),
            operands: &[
                optional(
                    "gm_slot_buffer",
                    ANY,
                    Touch::Nothing,
                    "slots in global memory, of the pipes that keep them there",
                ),
                optional(
                    "c2v_consumer_buf",
                    INTEGER,
                    Touch::Nothing,
                    "address in UB of the C2V slots, or where they land, in bytes",
                ),
                optional(
                    "v2c_consumer_buf",
                    INTEGER,
                    Touch::Nothing,
                    "address in L1 of the V2C slots, or where they land, in bytes",
                ),
            ],
            results: &[result("pipe", TYPED_PIPE, Infer::Written, "the pipe")],
            attrs: &[PROTOCOL, PERIOD, CREDITS, AUTO_FREE, LANE],
        };

    /// `!pto.tmpipe<FlagID, kind, FiFoDepth, FiFoSyncT, producer tile, consumer tile, EN_UNIT_FLAG, LocalFiFoDepth,
    /// ratio>`: the kind is GM_FIFO, VEC_FIFO (the consumer's UB), MAT_FIFO (its L1) or CTRL_FIFO. The direction and
    /// the split follow from the tile types, the slot size from the Cube core's. FiFoSyncT is the period of free
    /// signals. EN_UNIT_FLAG gives every slot flags of its own. The ratio is V2C1_VECS (both Vector cores) or V2C2_VECS
    /// (one).
    pub INITIALIZE_TMPIPE "pto.initialize_tmpipe" "Make an end of a `!pto.tmpipe`": HANDLE,
        ring: Some(RingPart::Initialize), verify: ring::verify_pipe
        => {
            syntax: Syntax::Format(
                "attr-dict `(` `fifo` `=` $fifo `:` type($fifo) (`,` `local_fifo` `=` $local_fifo `:` type($local_fifo))? `)` \
                 `->` type($pipe)",
            ),
            operands: &[
                operand(
                    "fifo",
                    ANY,
                    Touch::Nothing,
                    "slots: a buffer (GM_FIFO, CTRL_FIFO), or an address in the consumer's memory",
                ),
                optional(
                    "local_fifo",
                    INTEGER,
                    Touch::Nothing,
                    "where tiles of a GM_FIFO land, in bytes; the passes choose by default",
                ),
            ],
            results: &[result("pipe", TYPED_PIPE, Infer::Written, "the pipe")],
            attrs: &[PROTOCOL, CREDITS, AUTO_FREE, LANE],
        };

    pub TPUSH "pto.tpush" "Push a tile into a pipe": HANDLE,
        doc: concat!(
            "Waits for a free slot, moves the tile into it, signals that it is ready. A control pipe takes the first 32 bits.",
            " Three forms: `%e = pto.tpush %t, %p : (T, P) -> !pto.record_event`, `pto.tpush ins(%t : T) pipe(%p : P)` and ",
            "`pto.tpush(%t, %p : T, P)`. Events among the operands are waited for; the event it gives stands for its work.",
        ),
        core: CoreRule::ByTile,
        pipe: PipeRule::By(|op, platform| match op.ring() {
            Some(RingPart::Push(direction)) => phases(op, platform, direction).record,
            _ => Pipe::Mte3,
        }),
        ring: Some(RingPart::Handle(HandlePart::Push)), verify: verify_push, lower: ring::push
        => {
            syntax: Syntax::Custom(&PipeText(Verb::Push)),
            operands: &[
                operand("tile", TILE, Touch::Read, "the tile: `acc` on the Cube core, `vec` on a Vector core"),
                operand("pipe", PIPE_HANDLE, Touch::Nothing, "the pipe"),
                EVENTS,
            ],
            results: &[DONE],
            attrs: &[defaulted(words::SPLIT, AttrKind::Int, SPLIT)],
        };

    pub TPOP "pto.tpop" "Pop a tile from a pipe": HANDLE, doc: FORMS_TPOP, core: CoreRule::ByTile,
        pipe: PipeRule::By(|op, platform| match op.ring() {
            Some(RingPart::Pop(direction)) => phases(op, platform, direction).wait,
            _ => Pipe::Mte2,
        }),
        ring: Some(RingPart::Handle(HandlePart::Pop)), address: AddressRule::Attr(ADDRESS), verify: verify_pop,
        lower: ring::pop
        => {
            syntax: Syntax::Custom(&PipeText(Verb::Pop)),
            operands: &[
                optional(
                    "tile",
                    TILE,
                    Touch::Write,
                    "the tile that is bound to the slot or filled; none of a control pipe",
                ),
                operand("pipe", PIPE_HANDLE, Touch::Nothing, "the pipe"),
                EVENTS,
            ],
            results: &[DONE],
            attrs: &[
                defaulted(words::SPLIT, AttrKind::Int, SPLIT),
                defaulted(ADDRESS, AttrKind::Int, "where a tile from global memory lands: written by the allocator"),
            ],
        };

    /// Signals that the oldest popped slot is free. It does nothing in a pipe that frees by itself.
    pub TFREE "pto.tfree" "Give a popped slot of a pipe back": HANDLE,
        pipe: PipeRule::By(|op, platform| match op.ring() {
            Some(RingPart::Free(direction)) => phases(op, platform, direction).free,
            _ => Pipe::S,
        }),
        ring: Some(RingPart::Handle(HandlePart::Free)), verify: verify_tfree, lower: ring::free
        => {
            syntax: Syntax::Custom(&PipeText(Verb::Free)),
            operands: &[operand("pipe", PIPE_HANDLE, Touch::Nothing, "the pipe"), EVENTS],
            results: &[DONE],
            attrs: &[defaulted(words::SPLIT, AttrKind::Int, "as at the pop"), PLACED_FREE],
        };

    /// What the last `pto.tpop` of a DIR_V2C_CTRL pipe read from its slot; 0 before the first one.
    pub CTRL_SIGNAL "pto.ctrl_signal" "The control signal that was popped last": HANDLE,
        source: "seed 003, TPOP, Phase 2, V2C_CTRL", ring: Some(RingPart::Handle(HandlePart::Signal)),
        verify: verify_ctrl_signal, lower: ring::signal_value
        => {
            syntax: positional!("pipe" => "signal"),
            operands: &[operand("pipe", PIPE_HANDLE, Touch::Nothing, "a control pipe")],
            results: &[result("signal", INTEGER, Infer::Written, "32 bits, as a signed number")],
        };

    pub SET_ALLOCATE_STATUS "pto.set_allocate_status" "Whether pushes wait for a free slot": SWITCHES,
        ring: Some(RingPart::Handle(HandlePart::Status(Phase::Allocate)));

    pub SET_RECORD_STATUS "pto.set_record_status" "Whether pushes signal that a tile is ready": SWITCHES,
        ring: Some(RingPart::Handle(HandlePart::Status(Phase::Record)));

    pub SET_WAIT_STATUS "pto.set_wait_status" "Whether pops wait for a tile": SWITCHES,
        ring: Some(RingPart::Handle(HandlePart::Status(Phase::Wait)));

    pub SET_FREE_STATUS "pto.set_free_status" "Whether pops and frees signal that a slot is free": SWITCHES,
        ring: Some(RingPart::Handle(HandlePart::Status(Phase::Free)));

    /// The scalar unit waits until the work that each event stands for is done; what follows comes after it. The passes
    /// add the flags.
    pub WAIT_RECORD "pto.wait_record" "Wait for events of pushes, pops and frees": HANDLE,
        source: "seed 003, IR Level 1", pipe: PipeRule::Fixed(Pipe::S), lower: |_, _| Ok(())
        => { syntax: positional!("events"), operands: &[EVENTS] };
}

fn verify_tfree(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    verify_handle(op, diags);
    let _ = platform;
    let frees_itself = ring::maker(op).and_then(|m| ring::Config::of(&m).ok()).is_some_and(|c| c.auto_free);
    if frees_itself && !is_placed(op.module, op.id) {
        let warning = slipring_ir::Diagnostic::warning(
            "free-does-nothing",
            op.span(),
            "a pop of this pipe frees its slot by itself: this does nothing",
        );
        diags.push(warning.help("leave it out, or make the pipe with `auto_free = false`"));
    }
}

fn verify_ctrl_signal(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let config = ring::maker(op).map(|m| ring::Config::of(&m));
    if !config.is_some_and(|c| c.map_or(true, |c| c.control)) {
        diags
            .push(op.error("pipe-direction", "only a control pipe has a signal").help("its direction is DIR_V2C_CTRL"));
    }
}

fn verify_made(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let both = op.int(words::DIRECTIONS) == Some(3);
    if !matches!(op.int(words::DIRECTIONS), Some(1..=3)) {
        diags.push(op.error("pipe-direction", "expects 'dir_mask' to be 1, 2, or 3"));
    } else if both && op.operand("peer").is_none() {
        diags.push(op.error("pipe-peer", "expects 'peer_local_addr' when dir_mask is 3"));
    } else if !both && op.operand("peer").is_some() {
        diags.push(op.error("pipe-peer", "'peer_local_addr' is only allowed when dir_mask is 3"));
    }
    ring::verify_pipe(op, platform, diags);
}

// ---- push, pop, free ----

const SPLIT: &str = "0: whole tile, 1: upper and lower half, 2: left and right half; by default as the types of a `!pto.tmpipe` say, else 0";
const EVENTS: OperandSpec = variadic("events", EVENT, Touch::Read, "work that must be done before");
const DONE: ResultSpec =
    ResultSpec { name: "event", arity: Arity::Optional, ty: EVENT, infer: Infer::Written, doc: "that it is done" };

const FORMS_TPOP: &str = "Waits for a tile. On chip `tile` is the slot from then on, wherever it was before; from global memory it is loaded \
     to the next place of the landing area. A control pipe gives no tile: `pto.ctrl_signal` reads what came. In a pipe that \
     frees by itself the slot is given back, elsewhere `pto.tfree` does it. Forms: `%e = pto.tpop %p, %t : (P, T) -> \
     !pto.record_event`, `pto.tpop pipe(%p : P) outs(%t : T)`, `pto.tpop(%t, %p : T, P)`.";

/// Requires the pipe value to come from an op that makes one, and the split to be valid.
fn verify_handle(op: &OpRef<'_>, diags: &mut Diags) -> bool {
    verify_split(op, diags);
    if ring::maker(op).is_some() {
        return true;
    }
    diags.push(
        op.error("pipe-handle", "pipe_handle must be produced by pto.initialize_l2l_pipe or pto.initialize_l2g2l_pipe")
            .help("or by `pto.initialize_tpipe` or `pto.initialize_tmpipe`, in the same function"),
    );
    false
}

/// Requires a tile to be in the memory that the direction of its pipe implies.
fn tile_fits_direction(op: &OpRef<'_>, spaces: [Space; 2], verb: &str, diags: &mut Diags) {
    let Some(config) = ring::maker(op).and_then(|m| ring::Config::of(&m).ok()) else { return };
    let Some(tile) = ring::ring_tile(op).and_then(|v| op.module.ty(v).as_tile()).copied() else { return };
    let ways = [Direction::C2V, Direction::V2C].into_iter().zip(config.directions).zip(spaces);
    let allowed: Vec<_> = ways.filter(|((_, goes), _)| *goes).map(|((d, _), space)| (d, space)).collect();
    if allowed.iter().any(|(_, space)| *space == tile.space) {
        if let Some((producer, consumer)) = config.tiles.filter(|_| !config.control) {
            let wanted = if verb == "pushes" { producer } else { consumer };
            if (wanted.layout.elem, wanted.layout.rows, wanted.layout.cols)
                != (tile.layout.elem, tile.layout.rows, tile.layout.cols)
            {
                diags.push(
                    op.error("pipe-tile", format!("the pipe is for tiles of `{wanted}`"))
                        .label(format!("{verb} a `{tile}`")),
                );
            }
        }
        return;
    }
    let wants: Vec<_> = allowed.iter().map(|(d, space)| format!("`{space}` ({})", d.name())).collect();
    diags.push(
        op.error(
            "tile-space",
            format!(
                "the pipe {} {} tiles in {}, not in `{}`",
                if verb == "pushes" { "takes" } else { "gives" },
                "its",
                wants.join(" or "),
                tile.space
            ),
        )
        .label(format!("{verb} a `{}` tile", tile.space)),
    );
}

fn verify_push(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if !verify_handle(op, diags) {
        return;
    }
    tile_fits_direction(op, [Space::Acc, Space::Vec], "pushes", diags);
    let config = ring::maker(op).and_then(|m| ring::Config::of(&m).ok());
    let elem = op.tile("tile").map(|t| t.layout.elem);
    if config.is_some_and(|c| c.control) && elem.is_some_and(|e| e.bytes() != 4) {
        diags.push(op.error("elem-type", "a control signal is 32 bits wide").label("this tile has other elements"));
    }
}

fn verify_pop(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if !verify_handle(op, diags) {
        return;
    }
    // Errors in the pipe itself are reported where it is made.
    let Some(control) = ring::maker(op).and_then(|m| ring::Config::of(&m).ok()).map(|c| c.control) else { return };
    match (control, op.operand("tile").is_some()) {
        (true, true) => {
            diags.push(
                op.error("pipe-tile", "a control pipe gives a signal and no tile")
                    .help("`pto.tpop pipe(%p : …)`, and `pto.ctrl_signal` to read it"),
            );
        }
        (false, false) => {
            diags.push(op.error("pipe-tile", "the tile that is popped is missing").help("`outs(%t : …)`"))
        }
        _ => tile_fits_direction(op, [Space::Vec, Space::Mat], "pops", diags),
    }
}

// ---- control signals ----

// ---- sparse synchronisation ----

const STATUS: OpSchema = schema(
    "",
    positional!("pipe" "on"),
    &[
        operand("pipe", PIPE_HANDLE, Touch::Nothing, "the pipe"),
        operand("on", BOOL, Touch::Nothing, "true: later ops of this core do it; false: they leave it out"),
    ],
    &[],
    &[],
);

const STATUS_DOC: &str = "Holds for this core's later ops on the pipe, until it is set again; at first all are on. A signal that is left \
     out must not be waited for, and a wait that is left out must not be needed: else the run ends in a race, a deadlock, an \
     overflow or a left-over signal. The sequential semantics of a program knows no such thing: there every op synchronises.";

fn verify_status(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if verify_handle(op, diags) && op.ring().is_none() {
        diags.push(
            op.error("pipe-direction", "the direction of this pipe cannot be told here")
                .help("put it into a function or section of one kind of core"),
        );
    }
}

// ---- events ----
