//! Copies among the memories of a group of devices, through tiles in UB (tile ISA, TBROADCAST, TGATHER, TSCATTER,
//! TREDUCE).

use slipring_effect::MAX_RANK;
use slipring_effect::arithmetic::{ADD, MAX, MIN};
use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, OperandSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_op::decode::{Decoder, ViewRef};
use slipring_op::def::{CoreRule, LibraryFlags, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{PLAIN, TILE, VIEW, operand, require_space, required, schema, variadic};
use slipring_program::Operand;
use slipring_tile::Space;
use slipring_tile::lanes::PerElement;

use super::comm::{Copy, alternating, extents, run};
use crate::vector::binary::{TADD, TMAX, TMIN};
use slipring_op::ops;

const RECV: OperandSpec =
    variadic("recv", TILE, Touch::Scratch, "one tile in UB that pieces go through, or two that take turns");
const ROOT: AttrSpec = required("root", AttrKind::Int, "which of the group runs this: from 0");

/// An operand with the memory of each device of a group.
const fn members(rule: TypeRule, touch: Touch) -> OperandSpec {
    variadic("group", rule, touch, "the memory of each device of the group, all of one type")
}

const COPIED: &[(Pipe, Pipe)] = &[(Pipe::Mte2, Pipe::Mte3), (Pipe::Mte3, Pipe::Mte2)];
const COMBINED: &[(Pipe, Pipe)] = &[
    (Pipe::Mte2, Pipe::Mte3),
    (Pipe::Mte3, Pipe::Mte2),
    (Pipe::Mte2, Pipe::V),
    (Pipe::V, Pipe::Mte2),
    (Pipe::V, Pipe::Mte3),
];

/// Flags that the library uses internally, on every platform.
const fn inside(flags: &'static [(Pipe, Pipe)]) -> [LibraryFlags; 2] {
    let with = LibraryFlags { of: Capability::RegisterFlags, has: true, when: |_| true, flags };
    [with, LibraryFlags { has: false, ..with }]
}

const BASE: OpDef = OpDef {
    core: CoreRule::Vector,
    pipe: PipeRule::Fixed(Pipe::Mte2),
    inside: &inside(COPIED),
    verify,
    source: "tile ISA, collectives; device headers, comm/a2a3",
    ..PLAIN
};

/// From one memory to all of a group.
const SPREAD: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format(
            "`(` $src `,` `recv` `(` $recv `)` `,` `group` `(` $group `)` `:` type($src) `,` type($recv) `,` type($group) `)` \
             attr-dict",
        ),
        &[operand("src", VIEW, Touch::Read, "this device's memory"), RECV, members(VIEW, Touch::Write)],
        &[],
        &[ROOT],
    ),
    ..BASE
};

ops! {
    OPS;

    /// `group[r][i] = src[i]` for all members, by pieces that fit into the tiles of `recv`, as `pto.comm.tput` goes
    /// through them: each piece is loaded once on MTE2 and stored to one member after the other on MTE3.
    pub TBROADCAST "pto.comm.tbroadcast" "Copy this device's memory to all of a group": SPREAD,
        lower: lower_tbroadcast;

    /// Member r goes into `dst` from its row r × R on, where R is the rows of a member: the dimension before the last.
    /// A tensor of one dimension is one row, and rows of it begin as many elements apart as it has. By pieces, as
    /// `pto.comm.tput`.
    pub COMM_TGATHER "pto.comm.tgather" "Put the memories of a group after each other": BASE, lower: lower_comm_tgather
        => {
            syntax: Syntax::Format(
                "`(` $dst `,` `recv` `(` $recv `)` `,` `group` `(` $group `)` `:` type($dst) `,` type($recv) `,` type($group) `)` \
                 attr-dict",
            ),
            operands: &[
                operand("dst", VIEW, Touch::Write, "this device's memory"),
                RECV,
                members(VIEW, Touch::Read),
            ],
            attrs: &[ROOT],
        };

    /// The reverse of `pto.comm.tgather`: member r gets the rows of `src` from r × R on.
    pub COMM_TSCATTER "pto.comm.tscatter" "Give each device of a group its part": SPREAD,
        lower: lower_comm_tscatter;

    /// `dst[i]` is what `pto.tadd`, `pto.tmax` or `pto.tmin` make of element i of all members, one after the other,
    /// that of the root first and the others in their order. By pieces: MTE2 loads, V combines, MTE3 stores.
    pub TREDUCE "pto.comm.treduce" "Combine the memories of a group": BASE, inside: &inside(COMBINED),
        lower: lower_treduce
        => {
            syntax: Syntax::Format(
                "`(` $dst `,` $acc `,` `recv` `(` $recv `)` `,` `group` `(` $group `)` `:` type($dst) `,` type($acc) `,` type($recv) `,` \
                 type($group) `)` attr-dict",
            ),
            operands: &[
                operand("dst", VIEW, Touch::Write, "where the result goes"),
                operand(
                    "acc",
                    TILE,
                    Touch::Scratch,
                    "tile in UB that pieces are combined in; its valid shape is the largest piece",
                ),
                RECV,
                members(VIEW, Touch::Read),
            ],
            attrs: &[required("reduceOp", AttrKind::Enum(REDUCE_OP), "how elements are combined"), ROOT],
        };
}

fn lower_tbroadcast(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let src = d.view(op.operand("src").ok_or(Reported)?)?;
    let to = views(op, d)?;
    let dims = extents(d, &src, &to.iter().collect::<Vec<_>>())?;
    copy(op, d, (vec![src], to, dims), None)
}

fn lower_comm_tgather(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let dst = d.view(op.operand("dst").ok_or(Reported)?)?;
    for (rank, member) in views(op, d)?.into_iter().enumerate() {
        let dims = extents(d, &member, &[&dst])?;
        let to = rows_on(d, &dst, rank, dims[MAX_RANK - 2]);
        copy(op, d, (vec![member], vec![to], dims), None)?;
    }
    Ok(())
}

fn lower_comm_tscatter(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let src = d.view(op.operand("src").ok_or(Reported)?)?;
    for (rank, member) in views(op, d)?.into_iter().enumerate() {
        let dims = extents(d, &member, &[&src])?;
        let from = rows_on(d, &src, rank, dims[MAX_RANK - 2]);
        copy(op, d, (vec![from], vec![member], dims), None)?;
    }
    Ok(())
}

fn lower_treduce(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let dst = d.view(op.operand("dst").ok_or(Reported)?)?;
    let mut from = views(op, d)?;
    let root = op.int("root").and_then(|root| usize::try_from(root).ok()).filter(|root| *root < from.len());
    let first = from.remove(root.ok_or(Reported)?);
    let dims = extents(d, &first, &from.iter().chain([&dst]).collect::<Vec<_>>())?;
    from.insert(0, first);
    let how: (&'static OpDef, &'static PerElement<2>) = match op.text("reduceOp") {
        Some("max") => (&TMAX, &MAX),
        Some("min") => (&TMIN, &MIN),
        _ => (&TADD, &ADD),
    };
    copy(op, d, (from, vec![dst], dims), Some(how))
}

/// `#pto<reduce_op …>`.
const REDUCE_OP: &EnumSpec = &EnumSpec { kind: "reduce_op", numbered: false, members: &["sum", "max", "min"] };

fn views(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Vec<ViewRef>, Reported> {
    op.operands("group").iter().map(|value| d.view(*value)).collect()
}

/// A view of member `rank`'s rows and those after them.
fn rows_on(d: &mut Decoder<'_>, view: &ViewRef, rank: usize, rows: Operand) -> ViewRef {
    let stride = match view.strides[..] {
        [stride] => d.mul(view.dims[0], stride),
        _ => view.strides[view.strides.len() - 2],
    };
    let first = d.mul(rows, Operand::Imm(rank as u64));
    let elements = d.distance(first, stride);
    let bytes = d.distance(elements, Operand::Imm(view.elem.bytes() as u64));
    view.clone().at(d.moved(view.base, bytes))
}

/// Sources, destinations, and extents.
type Way = (Vec<ViewRef>, Vec<ViewRef>, [Operand; MAX_RANK]);

fn copy(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    (from, to, dims): Way,
    how: Option<(&'static OpDef, &'static PerElement<2>)>,
) -> Lowered {
    let [ping, pong @ ..] = op.operands("recv") else { return Err(Reported) };
    let ping = d.tile(*ping)?;
    let pong = pong.first().map(|pong| alternating(d, *pong)).transpose()?;
    let combined = match (how, op.if_declared("acc")) {
        (Some((declared, kernel)), Some(acc)) => Some((d.tile(acc)?, declared, kernel)),
        _ => None,
    };
    run(&Copy { from, to, dims, ping, pong, add: false, drains: false, combined }, d)
}

fn verify(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let (module, members) = (op.module, op.operands("group"));
    let Some(first) = members.first().map(|value| module.ty(*value)) else {
        return diags.push(op.error("operand-count", "expects a group of at least one member"));
    };
    if members.iter().any(|value| module.ty(*value) != first) {
        diags.push(op.error("view-shape", "expects all members of the group to have the same type"));
    }
    if !op.int("root").is_some_and(|root| (0..members.len() as i64).contains(&root)) {
        diags.push(
            op.error("attribute", format!("expects root to be a member of the group: 0 to {}", members.len() - 1)),
        );
    }
    let own = ["src", "dst"].into_iter().find_map(|name| op.if_declared(name)).map(|value| module.ty(value));
    let open = |ty: &Type| match ty {
        Type::PartitionView(view) | Type::TensorView(view) => view.dims.iter().any(|dim| dim.known().is_none()),
        _ => false,
    };
    if own.into_iter().chain([first]).any(open) {
        diags.push(op.error("view-shape", "expects tensors whose extents stand in their types: no `?`"));
    }
    let recv = op.operands("recv");
    if !(1..=2).contains(&recv.len()) {
        return diags.push(op.error("operand-count", "expects one or two tiles as recv"));
    }
    if op.if_declared("acc").is_some() && !require_space(op, "acc", &[Space::Vec], diags) {
        return;
    }
    let tiles = recv.iter().copied().chain(op.if_declared("acc")).map(|value| module.ty(value));
    if tiles.clone().any(|ty| ty.space() != Some(Space::Vec)) {
        diags.push(op.error("tile-space", "expects the tiles of recv in `vec`"));
    }
    if tiles.clone().map(Some).chain([own]).any(|ty| ty.and_then(Type::elem) != first.elem()) {
        diags.push(op.error("elem-type", "expects tensors and tiles of one element type"));
    }
    if recv.len() == 2 && module.ty(recv[0]) != module.ty(recv[1]) {
        diags.push(op.error("tile-type", "expects both tiles of recv to have the same type"));
    }
}
