//! Filling tiles: with a scalar, with a function of the position, outside the valid shape (PTO IR manual 4.5, 4.7,
//! 4.10, 4.13).

use slipring_ir::text::PAD_NAMES;
use slipring_ir::{AttrKind, Diags, EnumSpec, OperandSpec, Touch, Type};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_tile::{Cast, Elem, Space};

use super::check::{self, Elems, NUMBERS};
use super::lower::Operands;
use super::{DST, EACH, ONE, SCALAR_ARG, TMP, VECTOR, ins};
use super::{inside, tiles, types, working};
use slipring_effect::vector::{Pad, Sequence, Spread};
use slipring_effect::{finite_pad, pad_value, pads_with_infinity};
use slipring_machine::interpretations::FINITE_PAD;
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{INTEGER, defaulted, operand, require_space};
use slipring_op::{Along, ops};

/// Work on UB runs on pipe V, work on L1 on the pipe that loads it.
const FILL: OpDef = OpDef {
    core: CoreRule::ByTile,
    pipe: PipeRule::By(|op, _| match op.space("dst") {
        Some(Space::Mat) => Pipe::Mte2,
        _ => Pipe::V,
    }),
    ..EACH
};
/// The value of an element is a function of its position.
const SEQUENCE: OpDef = OpDef { along: [Along::Counts; 2], ..VECTOR };

/// Documents the padding.
macro_rules! pad_doc {
    ($($what:literal),+) => {
        concat!(
            $($what),+,
            " The value is the `pad` of `dst`: 1 zero; 2 the largest and 3 the smallest value of its type, infinities for \
             floats. The bits of valid elements are moved as they are. A tile in L1 is filled by the Cube core on pipe MTE2."
        )
    };
}

/// `#pto.pad_value<…>`: the padding of a tile type.
const PAD_VALUE: &EnumSpec = &EnumSpec { kind: "pad_value", numbered: false, members: &PAD_NAMES };

/// Copies that fill the rest of the destination.
const PADDED: OpDef = OpDef { schema: ONE, inside: inside::PADDED_BY_SCALARS, lower: pad, class: "move", ..FILL };

ops! {
    OPS, pad_doc;

    /// `dst[i, j] = scalar`. `dst` is in UB, or in L1, where the Cube core fills it on pipe MTE2.
    pub TEXPANDS "pto.texpands" "Fill a tile with a number" [shape_doc]: FILL,
        source: "PTO IR manual 4.7; tile ISA, TEXPANDS", verify: verify_texpands, lower: lower_texpands,
        elems: types::MOVED, class: "move"
        => { syntax: ins(1), operands: &[SCALAR_ARG, DST] };

    /// `dst[i, j] = start + k` (or `start - k` with `descending`), where k = i * columns + j counts the valid elements
    /// row by row. Wraps. The scalar unit writes them; with `tmp` the vector unit does, which on A2/A3 needs 1792 bytes
    /// of it for 16 bits and 768 for 32 bits, in elements of 4 bytes.
    pub TCI "pto.tci" "Consecutive integers" [shape_doc]: SEQUENCE,
        source: "PTO IR manual 4.13; tile ISA, TCI; tile library, TCI of each platform",
        pipe: PipeRule::By(|op, _| if op.operand("tmp").is_some() { Pipe::V } else { Pipe::S }), verify: verify_tci,
        lower: lower_tci, class: "move", working: working::NUMBERS
        => {
            syntax: ins(2),
            operands: &[START, TMP, DST],
            attrs: &[defaulted("descending", AttrKind::Bool, "count down; false by default")],
        };

    /// Lower: `dst[i, j]` = 1 where j <= i + diagonal, else 0. Upper: 1 where j >= i + diagonal, else 0.
    pub TTRI "pto.ttri" "A triangle of ones" [shape_doc]: SEQUENCE,
        source: "PTO IR manual 4.5; tile ISA, TTRI", verify: verify_ttri, lower: lower_ttri, elems: types::TRIANGLE,
        class: "move", tiles: tiles::TRIANGLE
        => {
            syntax: ins(1),
            operands: &[operand("diagonal", INTEGER, Touch::Nothing, "how far the diagonal lies to the right"), DST],
            attrs: &[defaulted("upperOrLower", AttrKind::Int, "0 (the default): lower triangle, 1: upper triangle")],
        };

    /// `dst[i, j] = src[i, j]` in the valid shape of `src`; every other element of the whole shape of `dst` becomes the
    /// padding value. Both tiles have the same shape, and may be one tile; in UB `dst` may be larger, as with
    /// `pto.tfillpad_expand`.
    pub TFILLPAD "pto.tfillpad" "Fill a tile outside its valid shape": PADDED,
        source: "PTO IR manual 4.10; tile ISA, TFILLPAD; assembler 0.60, which tells the two apart by their shapes",
        verify: |op, _, diags| {
            verify_pad(op, op.space("dst") == Some(Space::Vec), diags);
            repeated_pad(op, diags);
        }
        => {
            attrs: &[defaulted("padValue", AttrKind::Enum(PAD_VALUE), "in L1: the `pad` of `dst` once more")],
        };

    /// As `pto.tfillpad`, where `src` and `dst` are the same memory.
    pub TFILLPAD_INPLACE "pto.tfillpad_inplace" "Fill a tile outside its valid shape, in place": PADDED,
        source: "tile ISA, TFILLPAD_INPLACE", verify: |op, _, diags| verify_pad(op, false, diags);

    /// As `pto.tfillpad`, where `dst` may be larger than `src`.
    pub TFILLPAD_EXPAND "pto.tfillpad_expand" "Copy a tile into a larger one and fill the rest": PADDED,
        source: "PTO IR manual 4.10; tile ISA, TFILLPAD_EXPAND", verify: |op, _, diags| verify_pad(op, true, diags);
}

fn verify_texpands(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    require_space(op, "dst", &[Space::Vec, Space::Mat], diags);
    check::elem(op, "dst", NUMBERS, diags);
}

fn lower_texpands(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (input, dst) = (operands.scalar(d, "scalar")?, operands.tile(d, "dst")?);
    let effect = Spread { local: operands.local, dst, input, cast: Cast::default(), other: None };
    operands.issue(d, effect)
}

fn verify_tci(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    if op.tile("dst").is_some_and(|dst| dst.layout.cols == 1) {
        diags.push(
            op.error("tile-shape", "expects dst to have more than one column")
                .help("number a row, and see it as a column (`pto.treshape`)"),
        );
    }
    if !platform.can(Capability::RegisterScratch) && op.operand("tmp").is_some() {
        check::elem(op, "tmp", WORDS, diags);
        check::by_rows(op, &["tmp"], diags);
    }
    check::elem(op, "dst", COUNTED, diags);
    let (start, dst) = (op.ty("start").and_then(Type::elem), op.ty("dst").and_then(Type::elem));
    let width = |e: Option<Elem>| e.map(Elem::bytes);
    if width(start) != width(dst) && op.ty("start") != Some(&Type::Index) {
        diags.push(op.error("tile-elem", "expects start and dst to have the same element type"));
    }
}

fn lower_tci(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let descending = op.attr("descending").and_then(slipring_ir::Attr::as_bool).unwrap_or(false);
    sequence(op, d, "start", Sequence::Count { descending })
}

fn verify_ttri(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::elem(op, "dst", NUMBERS, diags);
    if !matches!(op.int("upperOrLower"), None | Some(0 | 1)) {
        diags.push(op.error("attribute", "expects upperOrLower to be 0 or 1"));
    }
}

fn lower_ttri(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let upper = op.int("upperOrLower") == Some(1);
    sequence(op, d, "diagonal", if upper { Sequence::Upper } else { Sequence::Lower })
}

const START: OperandSpec = operand("start", INTEGER, Touch::Nothing, "the first number");
const WORDS: Elems = Elems::new("elements of 4 bytes", |e| e.bytes() == 4);
const COUNTED: Elems = Elems::new("16- and 32-bit integers", |e| !e.is_float() && matches!(e.bytes(), 2 | 4));

fn sequence(op: &OpRef<'_>, d: &mut Decoder<'_>, start: &'static str, sequence: Sequence) -> Lowered {
    let mut operands = Operands::new(op, d);
    let dst = operands.tile(d, "dst")?;
    operands.scalar(d, start)?;
    let effect = sequence.fill(operands.local, dst);
    operands.issue(d, effect)
}

fn verify_pad(op: &OpRef<'_>, expands: bool, diags: &mut Diags) {
    if !require_space(op, "src", &[Space::Vec, Space::Mat], diags)
        || !require_space(op, "dst", &[Space::Vec, Space::Mat], diags)
    {
        return;
    }
    let (Some(src), Some(dst)) = (op.tile("src"), op.tile("dst")) else { return };
    if src.space != dst.space {
        diags.push(op.error("tile-space", "expects src and dst to be in the same memory"));
    }
    if src.layout.elem.bytes() != dst.layout.elem.bytes() || src.layout.elem.bytes() > 4 {
        diags.push(op.error("tile-elem", "expects src and dst to have elements of the same size: 1, 2 or 4 bytes"));
    }
    let shape = |t: &slipring_ir::TileType| (t.layout.rows, t.layout.cols);
    let (small, large) = (shape(src), shape(dst));
    if !expands && small != large {
        diags.push(
            op.error("tile-shape", "expects src and dst to have the same shape")
                .label(format!("`src` is {} x {}, `dst` {} x {}", small.0, small.1, large.0, large.1))
                .help("`pto.tfillpad_expand` fills a larger tile"),
        );
    } else if small.0 > large.0 || small.1 > large.1 {
        diags.push(op.error("tile-shape", "expects dst to have at least the rows and columns of src"));
    }
    if src.space == Space::Mat && (src.valid != dst.valid || src.pad != dst.pad) {
        diags.push(
            op.error("tile-type", "expects src and dst in `mat` to have one type: valid shape and padding, too")
                .help("the library fills a tile in L1 in place"),
        );
    }
    if dst.pad == 0 {
        diags.push(op.error("tile-pad", "expects dst to have a padding value").help("write `pad=1` for zeros"));
    }
}

/// Requires a padding that the op repeats to be that of a tile in L1.
fn repeated_pad(op: &OpRef<'_>, diags: &mut Diags) {
    let (Some(word), Some(dst)) = (op.text("padValue"), op.tile("dst")) else { return };
    let own = PAD_VALUE.members.get(usize::from(dst.pad)).copied().unwrap_or("null");
    if dst.space != Space::Mat {
        let error = op.error("attribute", "expects padValue only where dst is in `mat`");
        diags.push(error.help("leave it out: the type of dst has the padding"));
    } else if word != own {
        let error = op.error("attribute", format!("expects padValue to be the padding of dst, `{own}`, not `{word}`"));
        diags.push(error.help(format!("leave it out, or write the type of dst with pad={}", number_of(word))));
    }
}

/// The padding of a tile type with this name.
fn number_of(word: &str) -> usize {
    PAD_VALUE.members.iter().position(|member| *member == word).unwrap_or_default()
}

fn pad(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let value = op.operand("dst").ok_or(Reported)?;
    let ty = d.tile(value)?.ty;
    let finite = d.platform.reads_otherwise(&FINITE_PAD);
    let asked = !finite && pads_with_infinity(ty.layout.elem, ty.pad);
    let Some(value) = pad_value(ty.layout.elem, if finite { finite_pad(ty.pad) } else { ty.pad }) else {
        return Err(d.error("tile-pad", "expects dst to have a padding value"));
    };
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let effect = Pad { local: operands.local, dst, src, value, asked };
    operands.issue(d, effect)
}
