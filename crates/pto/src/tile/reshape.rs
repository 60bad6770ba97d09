//! Reinterpretation of the bytes of a tile.

use slipring_ir::{Attr, AttrKind, Diags, Dim, Infer, Module, OpSchema, Syntax, TileType, Touch, Type, ValueId};
use slipring_machine::Platform;
use slipring_program::Operand;
use slipring_tile::{BLayout, Layout, SLayout};

use super::subset::{SUBSET, SUBVIEW};
use slipring_op::decode::{Binding, Decoder, TileRef, in_memory};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, TILE, defaulted, operand, optional, result, schema};
use slipring_op::{Along, ops, positional};

use crate::tile::alloc::{TILE_BUF, new_valid};

const RESHAPE: OpSchema = schema(
    "",
    positional!("src" => "result"),
    &[operand("src", TILE_BUF, Touch::Nothing, "the tile whose bytes are looked at")],
    &[result("result", TILE_BUF, Infer::Written, "the same bytes as another tile")],
    &[],
);

ops! {
    OPS;

    /// A tile of another shape, layout or element type at the address of `src`. No data moves. Both tiles are in the
    /// same memory and have equally many bytes, and either both have boxes or neither has. The lines of a part of a
    /// tile (`pto.subset`) are as far apart as the whole tile's, so that of a part of lines only tiles with the same
    /// lines are made.
    pub TRESHAPE "pto.treshape" "Look at a tile's bytes in another shape": PLAIN.with(RESHAPE),
        source: "PTO IR manual 4.10", verify: verify_reshape, along: [Along::Reshapes; 2],
        lower: |op, d| lower_reshape(op, d, false);

    /// A tile of another element type at the address of `src`. No data moves. Both tiles are in the same memory and
    /// have equally many bytes, or equal shapes and layouts and elements that are no larger: the result then lies in
    /// the first bytes of `src`. A valid shape that the result leaves open is the source's.
    pub BITCAST "pto.bitcast" "Look at a tile's elements as another type": PLAIN.with(RESHAPE),
        source: "PTO IR of the public assembler, bitcast", verify: |op, _, diags| verify_bytes(op, true, diags),
        along: [Along::Reshapes; 2], lower: |op, d| lower_reshape(op, d, true);

    /// The memory of `src` as a tile with the layout of `config` and a valid shape. The last dimension of a memref is
    /// the tile's columns, all others are its rows. Where `src` is a tile, it is looked at as by `pto.treshape`:
    /// equally many bytes, and the lines of a part are as far apart as the whole tile's.
    pub BIND_TILE "pto.bind_tile" "Look at a local memref as a tile": PLAIN,
        source: "PTO IR of the public assembler, between its passes", verify: verify_reshape, lower: lower_bind
        => {
            syntax: Syntax::Format("$src (`,` $valid_row `,` $valid_col)? attr-dict `:` type($src) `->` type($result)"),
            operands: &[
                operand("src", TILE, Touch::Nothing, "local memory"),
                optional("valid_row", INTEGER, Touch::Nothing, "valid rows"),
                optional("valid_col", INTEGER, Touch::Nothing, "valid columns"),
            ],
            results: &[result("result", TILE, Infer::Written, "the memory as a tile")],
            attrs: &[defaulted("config", AttrKind::Any, "layout of the tile, `#pto.tile_buf_config<…>`")],
        };
}

fn verify_reshape(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    verify_bytes(op, false, diags);
}

/// Reports tiles that do not have the same bytes. `shrinks`: elements of another size may cover the first of them only.
fn verify_bytes(op: &OpRef<'_>, shrinks: bool, diags: &mut Diags) {
    let (Some(src), Some(dst)) = (op.tile("src"), op.module.ty(op.result(0)).as_tile()) else { return };
    if src.space != dst.space {
        diags.push(
            op.error("reshape-space", format!("the bytes lie in `{}`, the result in `{}`", src.space, dst.space)),
        );
    }
    let alike = Layout { elem: src.layout.elem, ..dst.layout } == src.layout;
    let begins = shrinks && alike && dst.layout.bytes() <= src.layout.bytes();
    if src.layout.bytes() != dst.layout.bytes() && !begins {
        diags.push(op.error(
            "reshape-size",
            format!("the source has {} bytes, the result {}", src.layout.bytes(), dst.layout.bytes()),
        ));
    }
    if (src.layout.slayout == SLayout::NoneBox) != (dst.layout.slayout == SLayout::NoneBox) {
        diags.push(op.error("reshape-boxes", "a tile with boxes cannot be looked at as one without, nor the reverse"));
    }
    if let Some(lies) = op.operand("src").and_then(|source| lies(op.module, source))
        && as_part(&src.layout, &lies, &dst.layout).is_none()
    {
        let (what, apart) = match lies.blayout {
            BLayout::RowMajor => ("rows", lies.cols),
            BLayout::ColMajor => ("columns", lies.rows),
        };
        diags.push(
            op.error(
                "reshape-part",
                format!("the source is a part of a tile, whose {what} begin {apart} elements apart: its bytes do not follow one another"),
            )
            .help("copy the part into a tile of its own (`pto.tmov`) and reshape that"),
        );
    }
}

/// The layout of a tile in memory: a part of a tile (`pto.subset`) has the strides of the whole. `None` for other
/// values.
pub fn lies(module: &Module, value: ValueId) -> Option<Layout> {
    let layout = |value: ValueId| module.ty(value).as_tile().map(|tile| tile.layout);
    let (mut views, mut root) = (vec![(value, false)], value);
    while let Some(op) = module.defining_op(root).map(|id| module.op(id)) {
        let part = op.is(&SUBSET.schema) || op.is(&SUBVIEW.schema);
        let view = part || [&TRESHAPE, &BITCAST, &BIND_TILE].iter().any(|def| op.is(&def.schema));
        let Some(&source) = op.operands.first().filter(|source| view && layout(**source).is_some()) else { break };
        if let Some((_, is_part)) = views.last_mut() {
            *is_part = part;
        }
        views.push((source, false));
        root = source;
    }
    let mut lies = layout(root)?;
    for pair in views.windows(2).rev() {
        let ((view, part), (source, _)) = (pair[0], pair[1]);
        let own = layout(view)?;
        lies = match own.blayout {
            _ if !part => as_part(&layout(source)?, &lies, &own).unwrap_or(own),
            BLayout::RowMajor => Layout { cols: lies.cols, ..own },
            BLayout::ColMajor => Layout { rows: lies.rows, ..own },
        };
    }
    Some(lies)
}

/// The layout of a tile that reinterprets another one, which is declared as `from` and laid out as `lies`. `None` if
/// the lines of that are not contiguous and the new tile does not have the same lines.
fn as_part(from: &Layout, lies: &Layout, to: &Layout) -> Option<Layout> {
    let lines = |layout: &Layout| match layout.blayout {
        BLayout::RowMajor => (layout.rows, layout.cols),
        BLayout::ColMajor => (layout.cols, layout.rows),
    };
    let ((count, length), (_, apart)) = (lines(from), lines(lies));
    if apart == length || count <= 1 {
        return Some(*to);
    }
    let bytes = |n: u32, layout: &Layout| u64::from(n) * layout.elem.bytes() as u64;
    let (new_count, new_length) = lines(to);
    let alike = from.blayout == to.blayout && new_count == count && bytes(new_length, to) == bytes(length, from);
    let apart = u32::try_from(bytes(apart, from) / to.elem.bytes().max(1) as u64).ok().filter(|_| alike)?;
    Some(match to.blayout {
        BLayout::RowMajor => Layout { cols: apart, ..*to },
        BLayout::ColMajor => Layout { rows: apart, ..*to },
    })
}

fn lower_reshape(op: &OpRef<'_>, d: &mut Decoder<'_>, keeps_shape: bool) -> Lowered {
    let source = d.tile(op.operand("src").ok_or(Reported)?)?;
    let Some(ty) = op.module.ty(op.result(0)).as_tile().copied() else { return Err(Reported) };
    let mut ty = in_memory(d, ty);
    let declared = op.tile("src").map_or(source.ty.layout, |tile| in_memory(d, *tile).layout);
    ty.layout = as_part(&declared, &source.ty.layout, &ty.layout).unwrap_or(ty.layout);
    let given = if keeps_shape { source.valid.map(Some) } else { [None; 2] };
    let valid = new_valid(d, &ty, given);
    d.bind(op.result(0), Binding::Tile(TileRef { ty, addr: source.addr, valid }));
    Ok(())
}

fn lower_bind(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut tile = d.tile(op.operand("src").ok_or(Reported)?)?;
    if let Type::Tile(ty) = op.module.ty(op.result(0)) {
        let lies = tile.ty.layout;
        tile.ty = in_memory(d, *ty);
        if let Some(declared) = op.tile("src").map(|tile| in_memory(d, *tile).layout) {
            tile.ty.layout = as_part(&declared, &lies, &tile.ty.layout).unwrap_or(tile.ty.layout);
        }
        tile.valid = new_valid(d, &tile.ty, tile.valid.map(Some));
    } else {
        if let Some(config) = op.attr("config") {
            configure(&mut tile.ty, config);
        }
        tile.ty = in_memory(d, tile.ty);
    }
    for (at, name) in ["valid_row", "valid_col"].into_iter().enumerate() {
        let Some(value) = op.operand(name) else { continue };
        let value = d.scalar(value)?;
        if let (Operand::Imm(n), true) = (value, matches!(op.module.ty(op.result(0)), Type::MemRef(_))) {
            tile.ty.valid[at] = Dim::Static(n);
            tile.valid[at] = value;
        } else {
            tile.ty.valid[at] = Dim::Dynamic;
            tile.valid[at] = Operand::Reg(d.variable(value));
        }
    }
    d.bind(op.result(0), Binding::Tile(tile));
    Ok(())
}

/// Takes the layout from the text of `#pto.tile_buf_config<blayout=1 : i32, …>`, whose members are names or integers.
fn configure(ty: &mut TileType, config: &Attr) {
    let text = config.to_string();
    let value = |key: &str| {
        let (_, rest) = text.split_once(&format!("{key}="))?;
        let end = rest.find([' ', ',', '>', ':']).unwrap_or(rest.len());
        Some(rest[..end].to_string())
    };
    match value("blayout").as_deref() {
        Some("0" | "row_major") => ty.layout.blayout = BLayout::RowMajor,
        Some("1" | "col_major") => ty.layout.blayout = BLayout::ColMajor,
        _ => {}
    }
    match value("slayout").as_deref() {
        Some("0" | "none_box") => ty.layout.slayout = SLayout::NoneBox,
        Some("1" | "row_major") => ty.layout.slayout = SLayout::RowMajor,
        Some("2" | "col_major") => ty.layout.slayout = SLayout::ColMajor,
        _ => {}
    }
    if let Some(fractal) = value("s_fractal_size").and_then(|n| n.parse().ok()).filter(|n| matches!(n, 512 | 1024)) {
        ty.layout.fractal = fractal;
    }
}
