//! Loads from global memory into a tile.

use slipring_effect::{Finish, GmMove, GmMoveArgs, finite_pad};
use slipring_ir::{Attr, AttrKind, Diags, EnumSpec, OpSchema, Syntax, Touch, Type};
use slipring_machine::interpretations::FINITE_PAD;
use slipring_machine::{Pipe, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, ElemTypes, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{LAYOUT, PLAIN, TILE, VIEW, WITHOUT_SMALL_FLOATS, defaulted, operand, require_space, schema};
use slipring_op::{Along, ops};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use crate::dma::ways::{known_elements, place, same_fold, window};

const PAD_MODE: &EnumSpec =
    &EnumSpec { kind: "padmode", numbered: false, members: &["PadNull", "PadFirstElem", "PadValue"] };

const LOAD: OpSchema = schema(
    "",
    Syntax::InsOuts { ins: 1, attrs_in_ins: false },
    &[
        operand("src", VIEW, Touch::Read, "window of global memory"),
        operand("dst", TILE, Touch::Write, "tile in UB (`vec`) or L1 (`mat`)"),
    ],
    &[],
    &[
        defaulted("layout", AttrKind::Enum(LAYOUT), "how the dimensions of a memref fold into rows and columns"),
        defaulted("pto.inferred_layout", AttrKind::Any, "left by the assembler, which found the layout itself"),
        defaulted(
            "pad_mode",
            AttrKind::Enum(PAD_MODE),
            "`PadValue`: the tile's `pad` fills what the window leaves, and must be there; `PadFirstElem` changes nothing, since \
             no library does it: a warning",
        ),
        defaulted(
            "init_out_buffer",
            AttrKind::Bool,
            "true changes nothing, since no library does it: a warning; the tile keeps what the window leaves",
        ),
    ],
);

/// Units that work on memory have no floats of 8 and 4 bits.
const LOADED: &[ElemTypes] = &[ElemTypes { operand: "dst", ..FROM }, FROM];
const FROM: ElemTypes = ElemTypes { operand: "src", memory: WITHOUT_SMALL_FLOATS, registers: Elem::ALL.as_slice() };

/// The base of loads.
const LOADS: OpDef = OpDef {
    schema: LOAD,
    core: CoreRule::ByTile,
    along: Along::EACH,
    pipe: PipeRule::Fixed(Pipe::Mte2),
    elems: LOADED,
    verify: verify_load,
    lower: lower_load,
    ..PLAIN
};

ops! {
    OPS;

    /// `dst[i, j] = src[i, j]` for the rows and columns that the window and the valid shape of `dst` have in common.
    /// The elements go where the layout of `dst` puts them: a row-major window into a tile of fractals is repacked on
    /// the way (ND to NZ), a column-major window is read by columns. Dimensions before the last two fold into rows or
    /// columns as the view's layout says; where it says nothing, a view of four or five dimensions that does not fold
    /// into a tile of fractals by rows holds fractals too. A window with as many elements as the tile, but in other
    /// rows and columns, is refused. Types of the same width move as bits. A `vec` tile without boxes and with a `pad`
    /// other than null gets its padding value up to the end of each row's last 32 bytes; all other elements keep their
    /// bytes.
    pub TLOAD "pto.tload" "Load a window of global memory into a tile": LOADS,
        source: "PTO IR manual 4.3; tile ISA, TLOAD";

    /// Moves the same elements as `pto.tload`. The compiler orders nothing after it but the uses of `dst`.
    pub TPREFETCH "pto.tprefetch" "Load a window ahead of its use": LOADS, source: "PTO IR manual 4.3";
}

fn verify_load(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if !require_space(op, "dst", &[Space::Vec, Space::Mat], diags) {
        return;
    }
    same_width(op, "src", "dst", diags);
    positive(op, diags);
    same_fold(op, "dst", "src", diags);
    let ignored = [
        (op.text("pad_mode") == Some("PadFirstElem"), "pad_mode = PadFirstElem"),
        (op.attr("init_out_buffer").and_then(Attr::as_bool) == Some(true), "init_out_buffer = true"),
    ];
    for (_, what) in ignored.into_iter().filter(|(is, _)| *is) {
        let message = format!("`{what}` changes nothing: the assembler leaves it out, no library has such a load");
        diags.push(
            slipring_ir::Diagnostic::warning("load-padding", op.span(), message)
                .help("give the tile a `pad`, or fill it first"),
        );
    }
    if op.text("pad_mode") == Some("PadValue") && op.tile("dst").is_some_and(|tile| tile.pad == 0) {
        diags.push(
            op.error("tile-pad", "`pad_mode = PadValue` pads with the tile's value, and this tile has none")
                .help("give the type of the tile a `pad`"),
        );
    }
    if let Some(tile) = op.tile("dst")
        && matches!(tile.layout.elem, Elem::I64 | Elem::U64)
        && tile.pad > 1
    {
        diags.push(op.error("tile-pad", "expects a 64-bit tile to have the pad value null or zero"));
    }
}

/// Reports elements of different widths.
pub(super) fn same_width(op: &OpRef<'_>, a: &str, b: &str, diags: &mut Diags) {
    if let (Some(x), Some(y)) = (op.ty(a).and_then(Type::elem), op.ty(b).and_then(Type::elem))
        && x.bytes() != y.bytes()
    {
        diags.push(
            op.error("elem-width", format!("expects {} and {} to have the same element bitwidth", a, b))
                .label(format!("{x} and {y}")),
        );
    }
}

/// Reports windows that are known to be empty. A tile with an empty valid shape is fine: it moves nothing.
pub(super) fn positive(op: &OpRef<'_>, diags: &mut Diags) {
    for (index, spec) in op.def.schema.operands.iter().enumerate() {
        let window = op.ty(index).filter(|ty| ty.as_tile().is_none());
        if window.and_then(known_elements) == Some(0) {
            diags.push(op.error("empty-shape", format!("expects {} shape to be positive", spec.name)));
        }
    }
}

fn lower_load(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let view = d.view(op.operand("src").ok_or(Reported)?)?;
    let tile = d.tile(op.operand("dst").ok_or(Reported)?)?;
    // Types of the same width move as raw bits, with the tile's type.
    let (window, place_args) = window(op, d, &view, &tile.ty.layout, tile.ty.layout.elem)?;
    let pad = if d.platform.reads_otherwise(&FINITE_PAD) { finite_pad(tile.ty.pad) } else { tile.ty.pad };
    let effect = GmMove { tile: place(d, &tile), window, load: true, pad, finish: Finish::default() };
    let [rows, cols] = tile.valid;
    let mut args = GmMoveArgs { tile: tile.addr, rows, cols, scale: Operand::Imm(0), window: view.base }.list();
    args.extend(place_args);
    let cost = d.platform.dma_cost(Space::Gm, tile.ty.space);
    d.issue(Pipe::Mte2, effect, args, cost);
    Ok(())
}
