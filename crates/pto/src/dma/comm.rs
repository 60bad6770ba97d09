//! Copies between memories of devices, through tiles in UB (tile ISA, TPUT, TGET).

use super::store::ATOMIC_TYPE;
use slipring_effect::vector::{Elementwise, Input, Local, TileArg};
use slipring_effect::{Finish, Fold, Folding, GmMove, GmMoveArgs, MAX_RANK, Strided};
use slipring_ir::{AttrKind, Diags, OpSchema, Syntax, Touch, Type, ValueId};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_op::decode::{Decoder, TileRef, ViewRef};
use slipring_op::def::{CoreRule, LibraryFlags, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{PLAIN, TILE, VIEW, defaulted, operand, optional, require_space, schema};
use slipring_program::{Inst, Operand, UpdateKind};
use slipring_tile::Space;
use slipring_tile::lanes::PerElement;

use crate::dma::ways::place;
use slipring_op::ops;

const COPY: OpSchema = schema(
    "",
    Syntax::Format(
        "`(` $dst `,` $src `,` `buf` `(` $ping (`,` $pong)? `)` `:` type($dst) `,` type($src) `,` type($ping) \
         (`,` type($pong))? `)` attr-dict",
    ),
    &[
        operand("dst", VIEW, Touch::Write, "where it goes, in global memory"),
        operand("src", VIEW, Touch::Read, "what is copied, in global memory"),
        operand(
            "ping",
            TILE,
            Touch::Scratch,
            "tile in UB that a piece goes through; its valid shape is the largest piece",
        ),
        optional("pong", TILE, Touch::Scratch, "the tile of every second piece"),
    ],
    &[],
    &[],
);

/// Flags that the library uses internally.
const INSIDE: &[(Pipe, Pipe)] = &[(Pipe::Mte2, Pipe::Mte3), (Pipe::Mte3, Pipe::Mte2)];

const BASE: OpDef = OpDef {
    core: CoreRule::Vector,
    pipe: PipeRule::Fixed(Pipe::Mte2),
    inside: &[
        LibraryFlags { of: Capability::RegisterFlags, has: true, when: |_| true, flags: INSIDE },
        LibraryFlags { of: Capability::RegisterFlags, has: false, when: |_| true, flags: INSIDE },
    ],
    verify: verify_copy,
    lower: lower_copy,
    ..PLAIN
};

ops! {
    OPS;

    /// `dst[i] = src[i]` for all elements, by pieces that fit into `ping`: rows and columns are the last two
    /// dimensions. Each piece is loaded on MTE2, then everything that was issued is waited for, then it is stored on
    /// MTE3, and MTE2 waits for that: the op begins and ends on MTE2, and the flags between MTE2 and MTE3 inside are
    /// the library's. With `pong` pieces take turns; the library then loads a piece while it stores the one before,
    /// which is not followed here.
    pub TPUT "pto.comm.tput" "Copy global memory to another device's": BASE.with(COPY),
        source: "tile ISA, TPUT; device headers, comm/a2a3/TPut.hpp",
        update: |op| (op.text("atomicType") == Some("atomic_add")).then_some(UpdateKind::Add)
        => {
            attrs: &[
                defaulted("atomicType", AttrKind::Enum(ATOMIC_TYPE), "`atomic_add`: add to what the memory holds"),
            ],
        };

    /// As `pto.comm.tput`: `dst` is this device's memory, `src` the other one's.
    pub TGET "pto.comm.tget" "Copy another device's global memory": BASE.with(COPY),
        source: "tile ISA, TGET; device headers, comm/a2a3/TGet.hpp";
}

fn verify_copy(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    for name in ["ping", "pong"] {
        if op.operand(name).is_some() && !require_space(op, name, &[Space::Vec], diags) {
            return;
        }
    }
    let elem = |name: &str| op.ty(name).and_then(Type::elem);
    if elem("dst") != elem("src") || elem("ping") != elem("src") {
        diags.push(op.error("elem-type", "expects dst, src and the tile between them to have the same element type"));
    }
    if op.operand("pong").is_some() && op.ty("pong") != op.ty("ping") {
        diags.push(op.error("tile-type", "expects ping and pong to have the same type"));
    }
    let dims = |name: &str| match op.ty(name) {
        Some(Type::PartitionView(view) | Type::TensorView(view)) => Some(view.dims.clone()),
        _ => None,
    };
    for name in ["dst", "src"] {
        let known = dims(name).unwrap_or_default();
        if known.iter().any(|dim| dim.known() == Some(0)) {
            diags.push(op.error("view-shape", format!("expects every extent of {name} to be positive")));
        }
        if matches!(op.ty(name), Some(Type::TensorView(_))) && known.iter().any(|dim| dim.known().is_none()) {
            let message = format!("expects a window as {name} where extents are open, not a whole tensor");
            diags.push(op.error("view-shape", message).help("make one: `pto.partition_view`"));
        }
    }
    if let (Some(dst), Some(src)) = (dims("dst"), dims("src")) {
        let differ = dst.len() != src.len()
            || dst.iter().zip(&src).any(|(a, b)| a.known().zip(b.known()).is_some_and(|(a, b)| a != b));
        if differ {
            diags.push(op.error("view-shape", "expects dst and src to have the same shape"));
        }
    }
}

/// A copy that is being expanded.
pub(super) struct Copy {
    /// The sources: one view, or several of which corresponding pieces are combined.
    pub from: Vec<ViewRef>,
    /// The destinations of each piece.
    pub to: Vec<ViewRef>,
    /// Extents of the views.
    pub dims: [Operand; MAX_RANK],
    pub ping: TileRef,
    /// The alternate tile, and the register that selects between the two.
    pub pong: Option<(TileRef, Operand)>,
    /// Adds to the contents of the memory.
    pub add: bool,
    /// Waits for everything that was issued between load and store.
    pub drains: bool,
    /// The tile in which pieces are combined, and the operation.
    pub combined: Option<(TileRef, &'static OpDef, &'static PerElement<2>)>,
}

fn lower_copy(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let src = d.view(op.operand("src").ok_or(Reported)?)?;
    let dst = d.view(op.operand("dst").ok_or(Reported)?)?;
    let dims = extents(d, &src, &[&dst])?;
    let ping = d.tile(op.operand("ping").ok_or(Reported)?)?;
    let pong = op.operand("pong").map(|pong| alternating(d, pong)).transpose()?;
    let add = op.update() == Some(UpdateKind::Add);
    run(&Copy { from: vec![src], to: vec![dst], dims, ping, pong, add, drains: true, combined: None }, d)
}

/// The alternate tile, with a register that selects between the two.
pub(super) fn alternating(d: &mut Decoder<'_>, pong: ValueId) -> Result<(TileRef, Operand), Reported> {
    Ok((d.tile(pong)?, Operand::Reg(d.variable(Operand::Imm(0)))))
}

/// The extents of a view; the other views must have the same rank.
pub(super) fn extents(
    d: &mut Decoder<'_>,
    view: &ViewRef,
    others: &[&ViewRef],
) -> Result<[Operand; MAX_RANK], Reported> {
    let rank = view.dims.len();
    if !(1..=MAX_RANK).contains(&rank) || others.iter().any(|other| other.dims.len() != rank) {
        return Err(d.error("view-rank", format!("a copy is of 1 to {MAX_RANK} dimensions, the same on both sides")));
    }
    Ok(spread(&view.dims, Operand::Imm(1)))
}

/// Issues the work of a copy.
pub(super) fn run(copy: &Copy, d: &mut Decoder<'_>) -> Lowered {
    pieces(copy, d, [Operand::Imm(0); MAX_RANK], 0)
}

/// Values for the last dimensions, after the default for the missing ones.
fn spread(numbers: &[Operand], other: Operand) -> [Operand; MAX_RANK] {
    let missing = MAX_RANK - numbers.len();
    std::array::from_fn(|at| at.checked_sub(missing).map_or(other, |at| numbers[at]))
}

/// Loops over a dimension and those after it: one by one, or by pieces in the last two dimensions.
fn pieces(copy: &Copy, d: &mut Decoder<'_>, mut at: [Operand; MAX_RANK], dim: usize) -> Lowered {
    if dim == MAX_RANK {
        return piece(copy, d, at);
    }
    let step = match MAX_RANK - dim {
        2 => copy.ping.valid[0],
        1 => copy.ping.valid[1],
        _ => Operand::Imm(1),
    };
    let end = copy.dims[dim];
    if let (Operand::Imm(end), Operand::Imm(step)) = (end, step)
        && end <= step
        && end > 0
    {
        return pieces(copy, d, at, dim + 1);
    }
    let fine = d.label();
    d.jump_if_ge(step, Operand::Imm(1), fine);
    d.emit(Inst::Trap { message: "a copy goes through a tile with no valid elements".into() });
    d.place(fine);
    let counter = d.variable(Operand::Imm(0));
    let (head, exit) = (d.label(), d.label());
    d.place(head);
    d.jump_if_ge(Operand::Reg(counter), end, exit);
    at[dim] = Operand::Reg(counter);
    pieces(copy, d, at, dim + 1)?;
    d.emit(Inst::Add { d: counter, a: Operand::Reg(counter), b: step });
    d.jump(head);
    d.place(exit);
    Ok(())
}

/// Copies one piece.
fn piece(copy: &Copy, d: &mut Decoder<'_>, at: [Operand; MAX_RANK]) -> Lowered {
    let size = |d: &mut Decoder<'_>, dim: usize, most: Operand| {
        let left = d.sub(copy.dims[dim], at[dim]);
        d.min(left, most)
    };
    let rows = size(d, MAX_RANK - 2, copy.ping.valid[0]);
    let cols = size(d, MAX_RANK - 1, copy.ping.valid[1]);
    let extent = (rows, cols);
    let Some((first, others)) = copy.from.split_first() else { return Err(Reported) };
    let stored = match &copy.combined {
        None => {
            let tile = tile_of_piece(copy, d);
            move_piece(copy, d, &tile, (extent, at), (first, true));
            d.meet_inside(Pipe::Mte2, Pipe::Mte3);
            tile
        }
        Some((acc, declared, kernel)) => {
            move_piece(copy, d, acc, (extent, at), (first, true));
            // If there are more sources, the flag after the next load also covers this one.
            if others.is_empty() {
                d.meet_inside(Pipe::Mte2, Pipe::Mte3);
            }
            for other in others {
                let tile = tile_of_piece(copy, d);
                move_piece(copy, d, &tile, (extent, at), (other, true));
                d.meet_inside(Pipe::Mte2, Pipe::V);
                combine(d, (acc, &tile), extent, (declared, kernel));
                d.meet_inside(Pipe::V, Pipe::Mte2);
            }
            if !others.is_empty() {
                d.meet_inside(Pipe::V, Pipe::Mte3);
            }
            *acc
        }
    };
    if copy.drains {
        d.emit(Inst::Barrier { pipe: None });
    }
    for view in &copy.to {
        move_piece(copy, d, &stored, (extent, at), (view, false));
    }
    // The next load of the tile must wait for this store.
    d.meet_inside(Pipe::Mte3, Pipe::Mte2);
    Ok(())
}

/// The tile for the next piece; it switches to the alternate one afterwards.
fn tile_of_piece(copy: &Copy, d: &mut Decoder<'_>) -> TileRef {
    let mut tile = copy.ping;
    if let Some((other, selector)) = &copy.pong {
        let choose = |[selector, ping, pong]: [u64; 3]| Ok(if selector == 0 { ping } else { pong });
        tile.addr = d.compute(choose, [*selector, copy.ping.addr, other.addr]);
        let next =
            d.compute(|[selector, ..]| Ok(u64::from(selector == 0)), [*selector, Operand::Imm(0), Operand::Imm(0)]);
        if let Operand::Reg(selector) = selector {
            d.emit(Inst::Move { d: *selector, a: next });
        }
    }
    tile
}

/// Computes `acc = acc op tile` for a piece.
fn combine(
    d: &mut Decoder<'_>,
    (acc, tile): (&TileRef, &TileRef),
    (rows, cols): (Operand, Operand),
    (declared, kernel): (&'static OpDef, &'static PerElement<2>),
) {
    let elem = acc.ty.layout.elem;
    let named = |name, tile: &TileRef, at| TileArg { name, layout: tile.ty.layout, at };
    let (dst, src) = (named("acc", acc, 0), named("recv", tile, 3));
    let local = Local { space: Space::Vec, core: d.role };
    let effect = Elementwise { local, op: kernel, dst, inputs: [Input::Tile(dst), Input::Tile(src)] };
    let cost = declared.vector_cost(d.platform, elem, elem);
    d.issue(Pipe::V, effect, vec![acc.addr, rows, cols, tile.addr, rows, cols], cost);
}

fn move_piece(
    copy: &Copy,
    d: &mut Decoder<'_>,
    tile: &TileRef,
    ((rows, cols), at): ((Operand, Operand), [Operand; MAX_RANK]),
    (view, load): (&ViewRef, bool),
) {
    let strides = spread(&view.strides, Operand::Imm(0));
    let mut elements = Operand::Imm(0);
    for (at, stride) in at.into_iter().zip(strides) {
        let part = d.distance(at, stride);
        elements = d.further(elements, part);
    }
    let bytes = d.distance(elements, Operand::Imm(view.elem.bytes() as u64));
    let window = d.moved(view.base, bytes);
    let strided = Strided { elem: view.elem, rank: 2, folding: Folding::Said(Fold::of(None, 2)), place: None };
    let finish = Finish { add: copy.add && !load, ..Finish::default() };
    let effect = GmMove { tile: place(d, tile), window: strided, load, pad: 0, finish };
    let mut args = GmMoveArgs { tile: tile.addr, rows, cols, scale: Operand::Imm(0), window }.list();
    args.extend([rows, cols, strides[MAX_RANK - 2], strides[MAX_RANK - 1]]);
    let (pipe, way) =
        if load { (Pipe::Mte2, (Space::Gm, tile.ty.space)) } else { (Pipe::Mte3, (tile.ty.space, Space::Gm)) };
    let cost = d.platform.dma_cost(way.0, way.1);
    d.issue(pipe, effect, args, cost);
}
