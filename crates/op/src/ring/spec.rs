//! Properties of a pipe, read from the op that makes it: one description for all ways to write it.

use slipring_ir::{Attr, Diagnostic, Module, OpId, PipeParam, PipeType, TileType, Type, ValueId};
use slipring_machine::{CoreKind, Platform};
use slipring_program::Direction;
use slipring_tile::Space;

use super::epilogue::Epilogue;
use super::phases::{Phase, Phases, Way};
use super::split::Split;
use super::words;
use super::words::SPLIT;
use crate::def::{HandlePart, OpDef, OpRef, RingPart};
use crate::function::kernel_kind;
use crate::reach::{affinity, core_of};
use crate::ring::key::PipeKey;
use crate::ring::words::{NAME, PEER};

/// The properties that the text specifies for a pipe, without those that a platform adds.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// First flag id.
    pub flag: Option<i64>,
    /// Whether it goes from Cube to Vector, and from Vector to Cube.
    pub directions: [bool; 2],
    /// True if it carries a control signal instead of tiles.
    pub control: bool,
    /// Slots in global memory, or on chip; `None` for the platform's default.
    pub in_gm: Option<bool>,
    /// Bytes of a slot.
    pub slot_bytes: i64,
    /// Slots of each ring, if specified.
    pub slots: Option<i64>,
    /// Slots of the landing area of popped tiles, if specified.
    pub local_slots: Option<i64>,
    /// True: a counter for each kind of signal. False: a flag for each slot.
    pub counted: bool,
    /// True if the pipe that uses a slot on chip frees it, with counters too: public headers do so, while seed 003 uses
    /// MTE2.
    pub freed_by_user: bool,
    /// Number of tiles for each free signal.
    pub period: i64,
    /// Initial free signals, if specified.
    pub credits: Option<i64>,
    /// True if pops free their slots.
    pub auto_free: bool,
    /// Tile types of producer and consumer, of a `tmpipe`.
    pub tiles: Option<(TileType, TileType)>,
    /// Vector cores at its other end, of a `tmpipe`.
    pub lanes: Option<usize>,
    /// The single Vector core at its other end, if the text names it: 0 or 1 (seed 000, key property 5).
    pub lane: Option<usize>,
    /// Conversions of the fixpipe on its tiles.
    pub epilogue: Option<Epilogue>,
}

/// Directions by their code (seed 003, Direction Types): name, directions, control, in global memory.
const DIRECTIONS: [(&str, [bool; 2], bool, Option<bool>); 7] = [
    ("DIR_C2V", [true, false], false, None),
    ("DIR_V2C", [false, true], false, None),
    ("DIR_BOTH", [true, true], false, None),
    ("DIR_V2C_CTRL", [false, true], true, Some(true)),
    ("DIR_C2V_GM", [true, false], false, Some(true)),
    ("DIR_V2C_GM", [false, true], false, Some(true)),
    ("DIR_BOTH_GM", [true, true], false, Some(true)),
];

/// Depth of the landing area if a pipe type does not specify it.
const LOCAL_SLOTS: i64 = 2;

impl Config {
    /// The properties that the op making a pipe specifies.
    ///
    /// # Errors
    /// Describes the invalid parameters of its type.
    pub fn of(init: &OpRef<'_>) -> Result<Config, String> {
        let ty = init.module.op(init.id).results.first().map(|v| init.module.ty(*v));
        let mut config = match ty {
            Some(Type::Pipe(pipe)) if pipe.multi => of_tmpipe(pipe)?,
            Some(Type::Pipe(pipe)) => of_tpipe(pipe)?,
            _ => of_attributes(init),
        };
        let is_true = |name: &str| init.attr(name).and_then(Attr::as_bool);
        config.flag = init.int(words::FLAG_BASE).or(config.flag);
        config.slots = init.int(words::SLOTS).or(config.slots);
        config.local_slots = init.int(words::LOCAL_SLOTS).or(config.local_slots);
        config.period = init.int(words::PERIOD).unwrap_or(config.period);
        config.credits = init.int(words::CREDITS).or(config.credits);
        config.auto_free = is_true("auto_free").unwrap_or(config.auto_free);
        config.freed_by_user = is_true(words::FREED_BY_USER).unwrap_or(false);
        config.epilogue = Epilogue::of(init)?;
        config.lane = init.int(words::LANE).and_then(|lane| usize::try_from(lane).ok());
        match init.text(words::PROTOCOL) {
            Some(words::TAGGED) => config.counted = false,
            Some(words::COUNTED) => config.counted = true,
            _ => {}
        }
        Ok(config)
    }

    /// The split that the tile types of a `tmpipe` imply.
    pub fn split(&self) -> Option<Split> {
        let (producer, consumer) = self.tiles.as_ref()?;
        let (cube, lane) = if self.directions[0] { (producer, consumer) } else { (consumer, producer) };
        Split::between(cube, lane)
    }
}

fn of_attributes(init: &OpRef<'_>) -> Config {
    let mask = init.int(words::DIRECTIONS).unwrap_or(0);
    let operand = |name: &str| init.def.schema.operands.iter().any(|o| o.name == name);
    let on_chip_or_gm = (operand("local")).then_some(operand("gm"));
    Config {
        flag: None,
        directions: [mask & 1 != 0, mask & 2 != 0],
        control: false,
        in_gm: init
            .text(words::PLACEMENT)
            .map(|p| p == words::IN_GM)
            .or(on_chip_or_gm)
            .or(has_slot_tensor(init).then_some(true)),
        slot_bytes: init.int(words::SLOT_SIZE).unwrap_or(0),
        slots: None,
        local_slots: None,
        counted: makes_value(init),
        freed_by_user: false,
        period: 1,
        credits: None,
        auto_free: false,
        tiles: None,
        lanes: None,
        lane: None,
        epilogue: None,
    }
}

/// True for the ops that make a pipe value.
fn makes_value(init: &OpRef<'_>) -> bool {
    !init.def.schema.results.is_empty()
}

fn number(params: &[PipeParam], at: usize, what: &str) -> Result<i64, String> {
    match params.get(at) {
        Some(PipeParam::Int(n)) => Ok(*n),
        Some(other) => Err(format!("{what} is a number, not `{other}`")),
        None => Err(format!("{what} is missing")),
    }
}

fn word(params: &[PipeParam], at: usize) -> Option<&str> {
    match params.get(at) {
        Some(PipeParam::Word(word)) => Some(word),
        _ => None,
    }
}

fn of_tpipe(pipe: &PipeType) -> Result<Config, String> {
    let params = &pipe.params;
    let direction = match params.get(1) {
        Some(PipeParam::Int(code)) => usize::try_from(*code - 1).ok().and_then(|at| DIRECTIONS.get(at)),
        Some(PipeParam::Word(name)) => {
            let name = if name.starts_with("DIR_") { name.to_string() } else { format!("DIR_{name}") };
            DIRECTIONS.iter().find(|d| d.0 == name)
        }
        _ => None,
    };
    let Some((_, directions, control, in_gm)) = direction.copied() else {
        let names: Vec<_> = DIRECTIONS.iter().map(|d| d.0).collect();
        return Err(format!("the second parameter of `!pto.tpipe` is a direction: one of {}", names.join(", ")));
    };
    if params.len() > 7 {
        return Err("`!pto.tpipe` has at most seven parameters".into());
    }
    Ok(Config {
        flag: Some(number(params, 0, "the flag id")?),
        directions,
        control,
        in_gm,
        slot_bytes: number(params, 2, "the slot size")?,
        slots: Some(number(params, 3, "the number of slots")?),
        local_slots: Some(if params.len() > 4 { number(params, 4, "the number of local slots")? } else { LOCAL_SLOTS }),
        counted: word(params, 6) != Some("true"),
        freed_by_user: false,
        period: 1,
        credits: None,
        auto_free: true,
        tiles: None,
        lanes: None,
        lane: None,
        epilogue: None,
    })
}

fn of_tmpipe(pipe: &PipeType) -> Result<Config, String> {
    let params = &pipe.params;
    let tile = |at: usize, what: &str| match params.get(at) {
        Some(PipeParam::Type(Type::Tile(tile))) => Ok(*tile),
        Some(other) => Err(format!("{what} is a tile type, not `{other}`")),
        None => Err(format!("{what} is missing")),
    };
    let (producer, consumer) = (tile(4, "the producer's tile")?, tile(5, "the consumer's tile")?);
    let kind = word(params, 1).unwrap_or("");
    let (in_gm, control) = match kind.strip_suffix("_FIFO").unwrap_or(kind) {
        "GM" => (true, false),
        "VEC" | "MAT" => (false, false),
        "CTRL" => (true, true),
        _ => return Err("the kind of a `!pto.tmpipe` is GM_FIFO, VEC_FIFO, MAT_FIFO or CTRL_FIFO".into()),
    };
    let c2v = match (producer.space, consumer.space) {
        (Space::Acc, Space::Vec) => true,
        (Space::Vec, Space::Mat) => false,
        (Space::Vec, _) if control => false,
        (from, to) => {
            return Err(format!(
                "a pipe takes tiles from `acc` to `vec` or from `vec` to `mat`, not from `{from}` to `{to}`"
            ));
        }
    };
    if control && c2v {
        return Err("a control pipe goes from the Vector cores to the Cube core only (DIR_V2C_CTRL)".into());
    }
    if kind.starts_with("VEC") && !c2v || kind.starts_with("MAT") && c2v {
        let slot_space = if c2v { "vec" } else { "mat" };
        return Err(format!("the consumer of this pipe is in `{slot_space}`, and `{kind}` keeps slots elsewhere"));
    }
    let cube = if c2v { producer.layout } else { consumer.layout };
    let lanes = match word(params, 8) {
        None | Some("V2C1_VECS") => 2,
        Some("V2C2_VECS") => 1,
        Some(other) => return Err(format!("the ratio of cores is V2C1_VECS or V2C2_VECS, not `{other}`")),
    };
    let config = Config {
        flag: Some(number(params, 0, "the flag id")?),
        directions: [c2v, !c2v],
        control,
        in_gm: Some(in_gm),
        slot_bytes: if control {
            4
        } else {
            i64::from(cube.rows) * i64::from(cube.cols) * consumer.layout.elem.bytes() as i64
        },
        slots: Some(number(params, 2, "the depth")?),
        local_slots: Some(if params.len() > 7 { number(params, 7, "the local depth")? } else { LOCAL_SLOTS }),
        counted: word(params, 6) != Some("true"),
        freed_by_user: false,
        period: number(params, 3, "the period of synchronisation")?,
        credits: None,
        auto_free: true,
        tiles: Some((producer, consumer)),
        lanes: Some(lanes),
        lane: None,
        epilogue: None,
    };
    if !control && config.split().is_none() {
        let shape = |t: &TileType| format!("{} x {}", t.layout.rows, t.layout.cols);
        let (from, to) = (shape(&producer), shape(&consumer));
        return Err(format!("a tile of {from} is neither the whole nor half of one of {to}"));
    }
    Ok(config)
}

/// A pipe on a platform.
#[derive(Clone, PartialEq, Debug)]
pub struct PipeSpec {
    /// Its identity.
    pub key: PipeKey,
    /// The properties in the text.
    pub config: Config,
    /// Slots of each ring.
    pub slots: u32,
    /// Bytes from one slot to the next.
    pub slot_bytes: u32,
    /// True: slots in global memory.
    pub in_gm: bool,
    /// Number of tiles for each free signal.
    pub period: u32,
    /// Initial free signals.
    pub credits: u32,
}

impl PipeSpec {
    /// The pipe that an op makes. `None` if its parameters are invalid, which the op's own rules report.
    pub fn of(init: &OpRef<'_>, platform: &Platform) -> Option<PipeSpec> {
        let config = Config::of(init).ok()?;
        let ring = &platform.ring;
        let default = if config.directions == [true, true] { ring.slots_both_ways } else { ring.slots_one_way };
        let slots = config.slots.map_or(default, |n| n.clamp(1, 1 << 16) as u32);
        let period = config.period.clamp(1, i64::from(slots)) as u32;
        let credits = if config.counted { slots / period } else { slots };
        Some(PipeSpec {
            key: pipe_key(init)?,
            slots,
            slot_bytes: config.slot_bytes.clamp(0, i64::from(u32::MAX)) as u32,
            in_gm: config.in_gm.unwrap_or(ring.in_gm),
            period,
            credits: config.credits.map_or(credits, |n| n.clamp(0, 1 << 16) as u32),
            config,
        })
    }

    /// True if the pipe has a ring of this direction.
    pub const fn has(&self, direction: Direction) -> bool {
        match direction {
            Direction::C2V => self.config.directions[0],
            Direction::V2C => self.config.directions[1],
        }
    }

    /// True if it has both.
    pub fn both_ways(&self) -> bool {
        self.config.directions == [true, true]
    }

    /// Pipes of the phases of a ring.
    pub const fn phases(&self, direction: Direction) -> Phases {
        let counted = self.config.counted && !self.config.freed_by_user;
        let (in_gm, control) = (self.in_gm, self.config.control);
        Phases::of(Way { direction, in_gm, control, counted })
    }

    /// Slots of the consumer's local memory: the ring's own, or the landing area of one in global memory.
    pub fn local_slots(&self) -> u32 {
        match self.config.local_slots {
            Some(local) if self.in_gm => (local.clamp(1, 1 << 16) as u32).min(self.slots),
            _ => self.slots,
        }
    }

    /// True if the depth is the platform's default for such a pipe, with a landing slot for each slot.
    pub fn has_depth_of(&self, platform: &Platform) -> bool {
        let ring = &platform.ring;
        let default = if self.both_ways() { ring.slots_both_ways } else { ring.slots_one_way };
        self.slots == default && self.local_slots() == self.slots
    }

    /// Bytes of one direction's slots.
    pub fn ring_bytes(&self) -> u64 {
        u64::from(self.slots) * u64::from(self.slot_bytes)
    }

    /// Bytes of the consumer's local memory that one direction takes.
    pub fn local_bytes(&self) -> u64 {
        u64::from(self.local_slots()) * u64::from(self.slot_bytes)
    }

    /// True if a pop copies the tile out of its slot, so that it can free the slot immediately.
    pub const fn pop_copies(&self) -> bool {
        self.in_gm || self.config.control
    }
}

/// The operand that gives the address of a pipe's slots in global memory.
pub fn gm_buffer(init: &OpRef<'_>) -> Option<ValueId> {
    let slots = named(init, "gm_slot_buffer").or_else(|| named(init, "gm"));
    slots.or_else(|| named(init, "fifo").filter(|v| !init.module.ty(*v).is_int_like()))
}

/// True if a view of a slot gives the address: the slots are then in global memory on every platform.
pub fn has_slot_tensor(init: &OpRef<'_>) -> bool {
    named(init, "gm_slot_buffer").is_some_and(|value| matches!(init.module.ty(value), Type::TensorView(_)))
}

/// The buffer that contains a pipe's slots in global memory; for a view of a slot, the buffer of the view.
pub(super) fn gm_root(init: &OpRef<'_>) -> Option<ValueId> {
    let value = gm_buffer(init)?;
    let view = has_slot_tensor(init).then(|| init.module.defining_op(value)).flatten();
    Some(view.and_then(|view| init.module.op(view).operands.first().copied()).unwrap_or(value))
}

/// The operand that gives the address of a direction's tiles in the consumer's memory: its slots, or the landing area.
pub fn consumer_buffer(init: &OpRef<'_>, direction: Direction) -> Option<ValueId> {
    let both = init.int(words::DIRECTIONS) == Some(3);
    let (own, local) = match direction {
        Direction::C2V => ("c2v_consumer_buf", "local"),
        Direction::V2C => ("v2c_consumer_buf", if both { "peer" } else { "local" }),
    };
    let buffer = named(init, own).or_else(|| named(init, local)).or_else(|| named(init, "local_fifo"));
    buffer.or_else(|| named(init, "fifo").filter(|v| init.module.ty(*v).is_int_like()))
}

/// The operand of this name, if the op declares it and it is present.
fn named(op: &OpRef<'_>, name: &str) -> Option<ValueId> {
    op.operand(op.def.schema.operands.iter().position(|o| o.name == name)?)
}

/// The op that makes the pipe of an op: itself, or the one that defines its pipe value.
pub fn maker<'m>(op: &OpRef<'m>) -> Option<OpRef<'m>> {
    if op.def.ring.is_some_and(RingPart::makes_end) {
        return Some(*op);
    }
    let id = op.module.defining_op(named(op, "pipe")?)?;
    op.other(id).filter(|made| made.def.ring.is_some_and(RingPart::makes_end))
}

/// The properties of the pipe of an op that has a pipe value.
pub(crate) fn pipe_of(op: &OpRef<'_>) -> Option<Config> {
    Config::of(&maker(op)?).ok()
}

/// The pipe that a ring op belongs to; `None` for a pipe value whose origin is not an op that makes one.
pub fn pipe_key(op: &OpRef<'_>) -> Option<PipeKey> {
    let takes_value = op.def.schema.operands.iter().any(|o| o.name == "pipe");
    let initializes = op.def.ring.is_some_and(RingPart::makes_end);
    let by_value = takes_value || (initializes && makes_value(op));
    if !by_value {
        return Some(PipeKey::Id(op.int(words::ID).unwrap_or(0)));
    }
    let maker = maker(op)?;
    let config = Config::of(&maker).ok()?;
    if let Some(flag) = config.flag {
        return Some(PipeKey::Flag(flag));
    }
    let direction = if config.directions[0] { Direction::C2V } else { Direction::V2C };
    let reservation = consumer_buffer(&maker, direction).and_then(|v| reservation_of(maker.module, v));
    Some(reservation.map_or(PipeKey::Flag(0), PipeKey::Slots))
}

/// The reservation that a value is the address of, on the consumer's or the producer's side.
pub fn reservation_of(module: &Module, value: ValueId) -> Option<OpId> {
    let id = module.defining_op(value)?;
    match OpDef::of(module, id)?.ring? {
        RingPart::Reserve => Some(id),
        RingPart::Import => {
            let attr = |name: &str| module.op(id).attrs.get(name).and_then(Attr::as_str);
            let body = module.body(module.symbol(attr(PEER)?)?, 0)?;
            module.walk(body).into_iter().find(|op| {
                let data = module.op(*op);
                let reserves = OpDef::of(module, *op).is_some_and(|d| d.ring.is_some_and(RingPart::reserves));
                reserves && data.attrs.get(NAME).and_then(Attr::as_str) == attr(NAME)
            })
        }
        RingPart::Initialize | RingPart::Status(..) | RingPart::Scale(_) | RingPart::Handle(_) => None,
        RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) => None,
    }
}

/// The effect of an op on a ring: the declared one, with the direction inferred if the op takes a pipe value.
pub(crate) fn part_of(op: &OpRef<'_>) -> Option<RingPart> {
    let part = op.def.ring?;
    let RingPart::Handle(part) = part else { return Some(part) };
    let both = |direction: fn(CoreKind) -> Direction| {
        let config = pipe_of(op);
        match config.map(|c| c.directions) {
            Some([true, false]) => Some(Direction::C2V),
            Some([false, true]) => Some(Direction::V2C),
            _ => stands_on(op).map(direction),
        }
    };
    let space = ring_tile(op).and_then(|v| op.module.ty(v).as_tile()).map(|t| t.space);
    Some(match part {
        HandlePart::Push => RingPart::Push(match space {
            Some(Space::Acc) => Direction::C2V,
            Some(Space::Vec) => Direction::V2C,
            _ => both(produces)?,
        }),
        HandlePart::Pop => RingPart::Pop(match space {
            Some(Space::Vec) => Direction::C2V,
            Some(Space::Mat) => Direction::V2C,
            _ => both(consumes)?,
        }),
        HandlePart::Free => RingPart::Free(both(consumes)?),
        HandlePart::Status(phase @ (Phase::Allocate | Phase::Record)) => RingPart::Status(phase, both(produces)?),
        HandlePart::Status(phase) => RingPart::Status(phase, both(consumes)?),
        HandlePart::Signal => return None,
    })
}

const fn produces(kind: CoreKind) -> Direction {
    match kind {
        CoreKind::Cube => Direction::C2V,
        CoreKind::Vector => Direction::V2C,
    }
}

const fn consumes(kind: CoreKind) -> Direction {
    match kind {
        CoreKind::Cube => Direction::V2C,
        CoreKind::Vector => Direction::C2V,
    }
}

/// The tile that a push takes or a pop returns.
pub fn ring_tile(op: &OpRef<'_>) -> Option<ValueId> {
    let results = &op.module.op(op.id).results;
    let result = results.iter().copied().find(|v| op.module.ty(*v).as_tile().is_some());
    result.or_else(|| named(op, "tile"))
}

/// The kind of core that runs an op: by its declaration, else by its section or function.
pub fn stands_on(op: &OpRef<'_>) -> Option<CoreKind> {
    let module = op.module;
    let around = std::iter::successors(module.parent_op(op.id), |o| module.parent_op(*o));
    let kind = |o: OpId| {
        let around = op.other(o)?;
        kernel_kind(module, o).or_else(|| affinity(&around))
    };
    affinity(op).or_else(|| around.into_iter().find_map(kind))
}

/// The memory that holds the consumer's tiles of a direction.
pub const fn slot_space(direction: Direction) -> Space {
    match direction {
        Direction::C2V => Space::Vec,
        Direction::V2C => Space::Mat,
    }
}

/// The kind of core that consumes a direction.
pub fn consumer(direction: Direction) -> CoreKind {
    core_of(slot_space(direction))
}

/// The op that makes the end of a ring op's pipe on its own core: found through its pipe value, else in the body of its
/// function.
pub fn own_end<'m>(op: &OpRef<'m>) -> Option<OpRef<'m>> {
    if let Some(maker) = maker(op) {
        return Some(maker);
    }
    let module = op.module;
    let key = pipe_key(op);
    let body = module.body(module.function_of(op.id)?, 0)?;
    let ops = module.block(body).ops.iter().filter_map(|id| op.other(*id));
    ops.filter(|init| init.def.ring.is_some_and(RingPart::makes_end)).find(|init| pipe_key(init) == key)
}

impl OpRef<'_> {
    /// The effect on a ring. The direction of an op that takes a pipe value is inferred from its tile, its pipe, or the
    /// core it runs on; `None` if none of these determines it.
    pub fn ring(&self) -> Option<RingPart> {
        crate::ring::part_of(self)
    }
}

impl Split {
    /// The split of an op: its `split` attribute (0, 1 or 2), else that of its pipe's tile types, else undivided.
    pub fn of(op: &OpRef<'_>) -> Option<Split> {
        match op.int(SPLIT) {
            Some(0) => Some(Split::None),
            Some(1) => Some(Split::UpDown),
            Some(2) => Some(Split::LeftRight),
            Some(_) => None,
            None => Some(pipe_of(op).and_then(|pipe| pipe.split()).unwrap_or(Split::None)),
        }
    }

    /// The error for an op whose split is none of these.
    pub fn refused(op: &OpRef<'_>) -> Diagnostic {
        match op.int(SPLIT) {
            // The assembler supports these since 0.57, from the Cube core to the Vector cores through global memory.
            Some(odd @ (3 | 4)) => {
                let axis = if odd == 3 { "rows" } else { "columns" };
                op.error(
                    slipring_ir::Kind::Unsupported,
                    format!("a split of an odd number of {axis} (`split = {odd}`) is not modelled"),
                )
            }
            _ => op.error("ring-split", "expects 'split' to be 0, 1, or 2").label("0 none, 1 up/down, 2 left/right"),
        }
    }
}
