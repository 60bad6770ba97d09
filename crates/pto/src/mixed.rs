//! Kernels for the whole cluster: regions for the Vector cores, and tiles that are copied between the two kinds of core
//! (seed 001).
//!
//! Such a kernel is a function that is for no particular kind of core and has ops of both. The passes split it into a
//! program for each kind and remove these ops. The semantics here are the sequential ones: everything in order, in one
//! program.

use slipring_ir::text::{BlockArg, CustomSyntax, OpParser, OpPrinter, Parsed};
use slipring_ir::{
    Attr, AttrKind, AttrSpec, BlockId, Diags, Module, OpId, Span, Syntax, TileType, Touch, Type, ValueId,
};
use slipring_machine::{Cost, Pipe, Platform, Role};
use slipring_program::{Direction, Effect, Operand};
use slipring_tile::Space;

use slipring_effect::{MoveArgs, MoveEffect, MovePart, ShareEffect, TilePlace};
use slipring_op::decode::{Binding, Decoder, TileRef};
use slipring_op::def::{Counter, Lowered, MixedPart, OpDef, OpRef, Reported};
use slipring_op::ops;
use slipring_op::ring::Split;
use slipring_op::ring::words;
use slipring_op::rules::{PLAIN, TILE, operand, require_space, required, schema};
use slipring_op::rules::{first_args, one_block};

const SPLIT: AttrSpec =
    required(words::SPLIT, AttrKind::Int, "0: whole tile, 1: upper and lower half, 2: left and right half");

ops! {
    OPS;

    /// `pto.split_aiv %lane { … } {split = 1}`. The body runs on both Vector cores at the same time; `%lane` is the
    /// core's number, 0 or 1. Tiles in UB that are declared outside are each core's own. `split` says how the tiles of
    /// the body are divided between the cores: 0 not at all, 1 by rows, 2 by columns. `pto.aiv_shard` and
    /// `pto.aic_gather` are the only ways in and out for tiles of the Cube core. The sequential semantics: the body
    /// once with lane 0, then once with lane 1.
    pub SPLIT_AIV "pto.split_aiv" "Ops that run once on each Vector core": PLAIN, source: "seed 001, API",
        mixed: Some(MixedPart::Region), counter: Some(Counter::Lanes), verify: |op, _, diags| split_is_known(op, diags),
        lower: lower_region
        => { syntax: Syntax::Custom(&RegionText), attrs: &[SPLIT], regions: &["body"] };

    /// Inside a `pto.split_aiv`. With `split` 1 lane 0 receives the upper half of the rows of `src`, lane 1 the lower
    /// half; with 2 the left and the right half of the columns; with 0 both receive the whole tile. `dst` is a tile in
    /// UB of the part's valid shape: what is halved is what is valid of `src`, which is even. Elements do not change.
    pub AIV_SHARD "pto.aiv_shard" "A tile of the accumulator to the Vector cores, each its part": CROSSING,
        mixed: Some(MixedPart::Shard), verify: verify_shard, lower: lower_shard;

    /// Inside a `pto.split_aiv`. The inverse of `pto.aiv_shard`: `src` is a lane's tile in UB, `dst` the whole tile in
    /// L1, made of both lanes' tiles one below (1) or beside (2) the other. With `split` 0 both lanes hold the same
    /// whole tile, and lane 0's is taken; lanes that differ there are an error.
    pub AIC_GATHER "pto.aic_gather" "The Vector cores' tiles to L1, put together": CROSSING,
        mixed: Some(MixedPart::Gather), verify: verify_gather, lower: lower_gather;

    /// From the accumulator to UB or from UB to L1, outside of every `pto.split_aiv`. Elements do not change. What
    /// kernels without an explicit split use; the pass that splits them makes shards and gathers of it.
    pub TCROSS "pto.tcross" "A whole tile from one kind of core to the other": CROSSING, mixed: Some(MixedPart::Cross),
        verify: verify_cross, lower: lower_cross
        => { attrs: &[] };
}

/// `%lane { … } {split = 1}`.
struct RegionText;

impl CustomSyntax for RegionText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let (name, span) = p.value_name()?;
        p.set_operands(op, &[]);
        p.region(op, vec![BlockArg { name, ty: Type::Index, span }])?;
        p.attr_dict(op)
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        let lane = |args: &[ValueId]| args.len() == 1 && *module.ty(args[0]) == Type::Index;
        Some(one_block(module, op) && first_args(module, op, 0).is_some_and(lane))
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        p.write(" ");
        p.values(module.body(op, 0).map_or(&[][..], |b| &module.block(b).args[..]));
        p.write(" ");
        p.region(op, 0, false);
        p.attr_dict(op, &[]);
    }
}

const CROSSING: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::InsOuts { ins: 1, attrs_in_ins: false },
        &[
            operand("src", TILE, Touch::Read, "the tile on the one kind of core"),
            operand("dst", TILE, Touch::Write, "the tile on the other kind"),
        ],
        &[],
        &[SPLIT],
    ),
    source: "seed 001, API",
    lower: |_, d| Err(d.error("mixed-kernel", NO_CORE)),
    ..PLAIN
};

const NO_CORE: &str = "this op is for a kernel of the whole cluster, and no single core runs it";

fn lower_region(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let body = op.module.body(op.id, 0).ok_or(Reported)?;
    let number = op.module.block(body).args.first().copied();
    d.region_on_lanes(|d, lane| {
        if let Some(number) = number {
            d.bind(number, Binding::Scalar(Operand::Imm(lane as u64)));
        }
        d.block(body).map(|_| ())
    })
}

/// The lane whose region is being decoded.
fn lane(d: &mut Decoder<'_>) -> Result<usize, Reported> {
    match (d.lanes_of_cluster().is_some(), d.role) {
        (true, Role::Aiv0) => Ok(0),
        (true, Role::Aiv1) => Ok(1),
        (true, Role::Aic) => Err(d.error("split-outside", "this op is outside every `pto.split_aiv`")),
        (false, _) => Err(d.error("mixed-kernel", NO_CORE)),
    }
}

fn ends(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<(TileRef, TileRef), Reported> {
    Ok((d.tile(op.operand("src").ok_or(Reported)?)?, d.tile(op.operand("dst").ok_or(Reported)?)?))
}

/// Copies a lane's part of the accumulator tile: half of its valid extent.
fn lower_shard(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let lane = lane(d)?;
    let (src, dst) = ends(op, d)?;
    let own = Role::lane(lane);
    match split(op, d)?.axis() {
        Some(axis) => share(d, (&src, Role::Aic), (&dst, own), (axis, lane), false),
        None => cross(d, (&src, Role::Aic), (&dst, own)),
    }
    Ok(())
}

/// Copies a lane's tile into its part of the tile in L1. Undivided tiles are compared at the end of the region.
fn lower_gather(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let lane = lane(d)?;
    let (src, mut dst) = ends(op, d)?;
    let own = Role::lane(lane);
    let Some(axis) = split(op, d)?.axis() else {
        if lane == 1 {
            dst.addr = d.second_copy(dst, src.valid);
        }
        cross(d, (&src, own), (&dst, Role::Aic));
        return Ok(());
    };
    share(d, (&src, own), (&dst, Role::Aic), (axis, lane), true);
    Ok(())
}

/// Copies a whole tile: to all lanes that take part, or from lane 0.
fn lower_cross(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Some(lanes) = d.lanes_of_cluster() else { return Err(d.error("mixed-kernel", NO_CORE)) };
    let (src, dst) = ends(op, d)?;
    if dst.ty.space == Space::Mat {
        cross(d, (&src, Role::Aiv0), (&dst, Role::Aic));
        return Ok(());
    }
    for lane in 0..lanes {
        cross(d, (&src, Role::Aic), (&dst, Role::lane(lane)));
    }
    Ok(())
}

fn split(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Split, Reported> {
    Split::of(op).ok_or_else(|| d.error("split-mode", "`split` is 0 (none), 1 (up and down) or 2 (left and right)"))
}

fn place((tile, core): (&TileRef, Role)) -> TilePlace {
    TilePlace { space: tile.ty.space, core, layout: tile.ty.layout }
}

/// Copies the valid part of a tile from one core's memory to another's.
fn cross(d: &mut Decoder<'_>, from: (&TileRef, Role), to: (&TileRef, Role)) {
    let layout = to.0.ty.layout;
    let (src, parts) = (from.0, vec![MovePart::all(to.1, layout.rows, layout.cols)]);
    let effect = MoveEffect { from: place(from), to: place(to), parts, ..MoveEffect::default() };
    copy(d, effect, src, to.0);
}

/// Copies a lane's half of a tile between the cores' memories.
fn share(
    d: &mut Decoder<'_>,
    from: (&TileRef, Role),
    to: (&TileRef, Role),
    (axis, lane): (usize, usize),
    gather: bool,
) {
    copy(d, ShareEffect { from: place(from), to: place(to), axis, lane: lane as u32, gather }, from.0, to.0);
}

fn copy(d: &mut Decoder<'_>, effect: impl Effect + 'static, src: &TileRef, dst: &TileRef) {
    let pipe = if src.ty.space == Space::Acc { Pipe::Fix } else { Pipe::Mte3 };
    let args =
        MoveArgs { from: src.addr, to: dst.addr, rows: src.valid[0], cols: src.valid[1], scale: Operand::Imm(0) };
    d.issue(pipe, effect, args.list(), Cost::fixed(1));
}

fn split_is_known(op: &OpRef<'_>, diags: &mut Diags) {
    if Split::of(op).is_none() {
        let error = op.error("split-mode", "`split` is 0 (none), 1 (up and down) or 2 (left and right)");
        diags.push(error);
    }
}

fn verify_shard(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    split_is_known(op, diags);
    if require_space(op, "src", &[Space::Acc], diags) && require_space(op, "dst", &[Space::Vec], diags) {
        parts(op, ["src", "dst"], diags);
    }
}

fn verify_gather(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    split_is_known(op, diags);
    if require_space(op, "src", &[Space::Vec], diags) && require_space(op, "dst", &[Space::Mat], diags) {
        parts(op, ["dst", "src"], diags);
    }
}

fn verify_cross(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let ways = [(Space::Acc, Space::Vec), (Space::Vec, Space::Mat)];
    if let (Some(from), Some(to)) = (op.space("src"), op.space("dst"))
        && !ways.contains(&(from, to))
    {
        diags.push(
            op.error("cross-way", format!("no tile crosses from `{from}` to `{to}`"))
                .help("the ways between the kinds of core are acc->vec and vec->mat"),
        );
        return;
    }
    parts(op, ["src", "dst"], diags);
}

/// Requires the tile of operand `part` to be a lane's share of the tile of operand `whole`.
fn parts(op: &OpRef<'_>, [whole, part]: [&str; 2], diags: &mut Diags) {
    let (Some(all), Some(own), Some(split)) = (op.tile(whole), op.tile(part), Split::of(op)) else { return };
    if let Some((n, axis)) = split.odd(all) {
        return diags.push(slipring_op::ring::odd(op, n, axis));
    }
    let direction = if whole == "src" { Direction::C2V } else { Direction::V2C };
    if !split.fits(all, own, direction) {
        let text = |tile: &TileType| {
            let layout = [tile.layout.rows, tile.layout.cols];
            let [rows, cols]: [u64; 2] =
                std::array::from_fn(|axis| tile.valid[axis].known().unwrap_or(layout[axis].into()));
            (rows, cols)
        };
        let ((rows, cols), own) = (text(all), text(own));
        let wanted = match split {
            Split::None => (rows, cols),
            Split::UpDown => (rows / 2, cols),
            Split::LeftRight => (rows, cols / 2),
        };
        diags.push(op.error(
            "split-shape",
            format!(
                "`{}` is {rows}x{cols}, so that `{}` must be {}x{}, not {}x{}",
                whole, part, wanted.0, wanted.1, own.0, own.1
            ),
        ));
    }
    if all.layout.elem != own.layout.elem {
        let message =
            format!("a tile does not change its type on the way: {} and {}", all.layout.elem, own.layout.elem);
        diags.push(op.error("split-type", message).help("convert it on the Vector core (`pto.tcvt`)"));
    }
}

/// An empty region for both Vector cores that is not in a block yet: the op, its body and the lane index.
pub fn split_aiv(module: &mut Module, split: i64, span: Span) -> (OpId, BlockId, ValueId) {
    let op = SPLIT_AIV.make(module, &[], [(SPLIT.name, Attr::int(split))], &[], span);
    let region = module.add_region(op);
    let block = module.add_block(region);
    let lane = module.add_arg(block, Type::Index, Some("lane".into()), span);
    (op, block, lane)
}

/// A copy of a tile to the Vector cores, one part each, that is not in a block yet.
pub fn shard(module: &mut Module, [src, dst]: [ValueId; 2], split: Split, span: Span) -> OpId {
    AIV_SHARD.make(module, &[("src", &[src]), ("dst", &[dst])], [(SPLIT.name, Attr::int(split.number()))], &[], span)
}

/// A copy of the Vector cores' tiles to L1, joined, that is not in a block yet.
pub fn gather(module: &mut Module, [src, dst]: [ValueId; 2], split: Split, span: Span) -> OpId {
    AIC_GATHER.make(module, &[("src", &[src]), ("dst", &[dst])], [(SPLIT.name, Attr::int(split.number()))], &[], span)
}

/// Sets how the tiles of a region are divided.
pub fn set_split(module: &mut Module, op: OpId, split: i64) {
    module.op_mut(op).attrs.set(SPLIT.name, Attr::int(split));
}
