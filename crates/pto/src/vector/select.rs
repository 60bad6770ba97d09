//! Comparisons and selections (PTO IR manual 4.8).

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{
    AttrKind, AttrSpec, Diagnostic, Diags, Dim, EnumSpec, Module, OperandSpec, Severity, Touch, Type, ValueId,
};
use slipring_tile::{BLayout, Compare, Elem, SLayout};

use super::check::{self, MASK_DOC, NUMBERS, Needs};
use super::lower::Operands;
use super::{DST, SCALAR_ARG, SRC, SRC0, SRC1, TMP, VECTOR, ins};
use super::{inside, tiles, types, working};
use slipring_effect::vector::{Bits, CompareTiles, Select};
use slipring_machine::interpretations::{DENSE_COMPARE, DENSE_SELECT};
use slipring_machine::{Capability, Platform, Question};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{TILE, defaulted, operand};
use slipring_op::{Along, ops};

/// A row of a mask holds the bits of a row: its columns do not correspond to columns of the tiles.
const COMPARISON: OpDef = OpDef {
    source: "PTO IR manual 4.8; tile ISA, page of the same name",
    along: [Along::Each, Along::Unknown],
    ..VECTOR
};

/// `#pto<cmp …>`.
const CMP: &EnumSpec = &EnumSpec {
    kind: "cmp",
    numbered: false,
    members: &[
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "equal",
        "not_equal",
        "less_than",
        "less_equal",
        "greater_than",
        "greater_equal",
        "EQ",
        "NE",
        "LT",
        "LE",
        "GT",
        "GE",
    ],
};

const MODE: AttrSpec = defaulted("cmpMode", AttrKind::Enum(CMP), "the comparison; `eq` by default");
const BITS: OperandSpec = operand("dst", TILE, Touch::Write, MASK_DOC);
const MASK: OperandSpec = operand("mask", TILE, Touch::Read, MASK_DOC);

/// Documents the layout of a mask in its tile.
macro_rules! mask_doc {
    ($($what:literal),+) => {
        concat!(
            $($what),+,
            " A mask is packed: bit j mod 8 of byte j / 8 of a row of the mask tile stands for column j, whatever the type of \
             the tile's elements; its rows must be long enough, its valid columns do not matter."
        )
    };
}

ops! {
    OPS;

    /// Bit (i, j) of `dst` = `src0[i, j]` compared with `src1[i, j]`, for the valid rows of `dst` and the valid columns
    /// of `src0`. With a NaN only `ne` holds; -0 equals +0. Bits after the last column of its byte become 0. A
    /// board of the A2/A3 compares i32 for equality whatever the mode, but for `ne`: a warning says so.
    pub TCMP "pto.tcmp" "Compare two tiles" [mask_doc]: COMPARISON,
        verify: verify_compare, lower: |op, d| compare(op, d, ["src0", "src1"]), elems: types::COMPARE,
        library_elems: types::COMPARE_BY_LIBRARY, class: "compare", tiles: tiles::COMPARE
        => { syntax: ins(2), operands: &[SRC0, SRC1, BITS], attrs: &[MODE] };

    /// Bit (i, j) of `dst` = `src[i, j]` compared with `scalar`, for the valid rows of `dst` and the valid columns of
    /// `src`. With a NaN only `ne` holds; -0 equals +0. Bits after the last column of its byte become 0. A board of
    /// the A2/A3 compares i32 for equality whatever the mode, but for `ne`: a warning says so.
    pub TCMPS "pto.tcmps" "Compare a tile with a number" [mask_doc]: COMPARISON,
        verify: verify_compare, lower: |op, d| compare(op, d, ["src", "scalar"]), elems: types::COMPARE_NUMBER,
        library_elems: types::COMPARE_NUMBER_BY_LIBRARY, class: "compare", tiles: tiles::COMPARE_NUMBER
        => { syntax: ins(2), operands: &[SRC, SCALAR_ARG, BITS], attrs: &[MODE] };

    pub TSEL "pto.tsel" "Choose between two tiles": COMPARISON,
        doc: shape_doc!(mask_doc!(
            "`dst[i, j] = mask[i, j] ? src0[i, j] : src1[i, j]`. The bits of the elements are moved as they are."
        )),
        verify: verify_tsel, lower: |op, d| choose(op, d, ["src0", "src1"]), elems: types::SELECT, class: "select",
        tiles: tiles::SELECT, working: working::SELECT
        => { syntax: ins(4), operands: &[MASK, SRC0, SRC1, TMP, DST] };

    pub TSELS "pto.tsels" "Choose between a tile and a number": COMPARISON,
        doc: shape_doc!(mask_doc!(
            "`dst[i, j] = mask[i, j] ? src[i, j] : scalar`. The bits of the elements are moved as they are."
        )),
        verify: verify_tsels, inside: inside::NUMBER_BY_SCALARS, lower: |op, d| choose(op, d, ["src", "scalar"]),
        // Working memory holds the selected scalar only (device headers, `TSels`).
        tmp_before_results: true, elems: types::SELECT, class: "select", tiles: tiles::ONE,
        working: working::SELECT_NUMBER
        => { syntax: ins(4), operands: &[MASK, SRC, TMP, SCALAR_ARG, DST] };
}

fn verify_tsel(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::elementwise(op, NUMBERS, diags);
    rows_of_bits(op, "mask", diags);
    rows_of_the_library(op, platform, diags);
}

fn verify_tsels(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::elementwise(op, NUMBERS, diags);
    rows_of_bits(op, "mask", diags);
}

fn verify_compare(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    let first = if op.def.schema.operand("src0").is_some() { "src0" } else { "src" };
    check::elem(op, first, NUMBERS, diags);
    check::covers(op, first, Needs::Rows, diags);
    let second = op.if_declared("src1").map(|value| op.module.ty(value)).filter(|ty| ty.as_tile().is_some());
    if second.is_some() && op.ty("src0").map(|t| t.elem()) != second.map(|t| t.elem()) {
        diags.push(op.error("tile-elem", "expects src0 and src1 to have the same element type"));
    }
    rows_of_bits(op, "dst", diags);
    // Units that work on memory compare i32 for equality in every mode but `ne`, which inverts the result (pages of `TCMP`
    // and `TCMPS`, Target-Profile Restrictions; `TCmp.hpp`, `TCmps.hpp`).
    let only_equal = !platform.can(Capability::CompareIntegers) && op.ty(first).and_then(Type::elem) == Some(Elem::I32);
    if only_equal && !matches!(mode(op), Compare::Eq | Compare::Ne) {
        let written = op.text("cmpMode").unwrap_or("eq");
        let (name, on) = (op.def.schema.name, &platform.name);
        let message = format!("`{name}` of i32 compares with `eq` on boards of {on}, not with `{written}` as here");
        let warning = Diagnostic { severity: Severity::Warning, ..op.error("compare-mode", message) };
        diags.push(warning.help("compare as f32, which is exact below 2^24, or for equality with a maximum"));
    }
    let elem = op.ty("dst").and_then(Type::elem);
    // The assembler only requires it for two tiles.
    if op.def.schema.operand("src1").is_some()
        && let Some(elem) = elem.filter(|elem| elem.bytes() != 1 || elem.is_float())
    {
        diags.push(op.error("tile-elem", "expects dst element type to be i8").label(format!("`dst` has `{elem}`")));
    }
}

/// Requires a mask in row order.
fn rows_of_bits(op: &OpRef<'_>, name: &'static str, diags: &mut Diags) {
    if let Some(tile) = op.tile(name)
        && (tile.layout.blayout, tile.layout.slayout) != (BLayout::RowMajor, SLayout::NoneBox)
    {
        diags.push(
            op.error("tile-layout", format!("expects {name} to use row_major layout"))
                .label("a mask is a row of bits for each row"),
        );
    }
}

/// Warns of a mask whose rows the library of the newer unit reads at other addresses than comparisons write: its row
/// pitch in bytes is the number of elements in a mask row (device headers, `TSel_b32`, `TSel_b16_8`; `TCmp` and `TSels`
/// count bytes).
fn rows_of_the_library(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let (Some(mask), Some(dst)) = (op.tile("mask"), op.tile("dst")) else { return };
    let wide = mask.layout.elem.bytes() > 1 && dst.layout.elem.bytes() < 8;
    if !platform.can(Capability::MaskElements) || !wide || dst.valid[0].known() == Some(1) {
        return;
    }
    let (elements, bytes) = (mask.layout.cols, mask.layout.cols as usize * mask.layout.elem.bytes());
    let message = format!("rows of this mask are {bytes} bytes apart, and the device's library goes on by {elements}");
    let warning = Diagnostic { severity: Severity::Warning, ..op.error("mask-rows", message) };
    diags.push(warning.help("make the mask a tile of i8 or ui8"));
}

fn mode(op: &OpRef<'_>) -> Compare {
    match op.text("cmpMode") {
        Some("ne" | "not_equal" | "NE") => Compare::Ne,
        Some("lt" | "less_than" | "LT") => Compare::Lt,
        Some("le" | "less_equal" | "LE") => Compare::Le,
        Some("gt" | "greater_than" | "GT") => Compare::Gt,
        Some("ge" | "greater_equal" | "GE") => Compare::Ge,
        _ => Compare::Eq,
    }
}

/// The bits of a mask in its tile: bytes from row to row, and the number of columns with a bit, if it is known.
type Form = (usize, Option<u64>);

/// Tiles that are only written by comparisons, combined by bitwise operations and read by selections, all in the same
/// form: where their bits are cannot be observed.
fn masks_between(module: &Module) -> BTreeSet<ValueId> {
    let (mut groups, mut forms, mut others) = (Groups::default(), Vec::new(), Vec::new());
    for id in module.walk(module.top) {
        let mut rest = module.op(id).operands.to_vec();
        let masks = OpRef::of(module, id).map_or_else(Vec::new, |op| masks_of(&op));
        for (mask, form) in &masks {
            // A tile that an op uses both as a mask and otherwise does not qualify.
            if let Some(at) = rest.iter().position(|value| value == mask) {
                rest.remove(at);
            }
            groups.join(*mask, masks[0].0);
            forms.extend(form.map(|form| (*mask, form)));
        }
        others.extend(rest);
    }
    // Combined tiles qualify only if all of them do.
    let mut wrong: BTreeSet<ValueId> = others.into_iter().map(|value| groups.of(value)).collect();
    let mut first = BTreeMap::new();
    for (mask, form) in forms {
        let group = groups.of(mask);
        if *first.entry(group).or_insert(form) != form {
            wrong.insert(group);
        }
    }
    let all: Vec<ValueId> = groups.0.keys().copied().collect();
    all.into_iter().filter(|mask| !wrong.contains(&groups.of(*mask))).collect()
}

/// A union-find structure: each value points to another one of its group, the representative to itself.
#[derive(Default)]
struct Groups(BTreeMap<ValueId, ValueId>);

impl Groups {
    /// The representative of a value's group.
    fn of(&mut self, mut value: ValueId) -> ValueId {
        while let Some(next) = self.0.get(&value).copied().filter(|next| *next != value) {
            let after = self.0.get(&next).copied().unwrap_or(next);
            self.0.insert(value, after);
            value = after;
        }
        value
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.of(a), self.of(b));
        self.0.insert(a, b);
        self.0.insert(b, b);
    }
}

/// The masks among the operands of an op, and their form if the op determines it.
fn masks_of(op: &OpRef<'_>) -> Vec<(ValueId, Option<Form>)> {
    let combines = [&super::TAND, &super::TOR, &super::TXOR, &super::TNOT].iter().any(|def| std::ptr::eq(*def, op.def));
    if combines {
        let names = ["src0", "src1", "src", "dst"].map(|name| op.if_declared(name));
        let masks = names.into_iter().flatten();
        // Bits after the valid columns are only combined if the rows are entirely valid.
        let whole = |value: &ValueId| {
            let tile = op.module.ty(*value).as_tile();
            tile.is_some_and(|tile| {
                tile.valid.map(Dim::known) == [tile.layout.rows, tile.layout.cols].map(|n| Some(n.into()))
            })
        };
        let masks: Vec<ValueId> = masks.collect();
        let all = masks.iter().all(whole);
        return if all { masks.into_iter().map(|mask| (mask, None)).collect() } else { Vec::new() };
    }
    if !OPS.iter().any(|def| std::ptr::eq(*def, op.def)) {
        return Vec::new();
    }
    let (mask, columns) = match is_comparison(op) {
        true => ("dst", if op.def.schema.operand("src0").is_some() { "src0" } else { "src" }),
        false => ("mask", "dst"),
    };
    let form = op.tile(mask).zip(op.tile(columns)).map(|(mask, tile)| {
        let mask = &mask.layout;
        (mask.cols as usize * mask.elem.bytes(), tile.valid[1].known())
    });
    op.operand(mask).map(|value| (value, form)).into_iter().collect()
}

fn is_comparison(op: &OpRef<'_>) -> bool {
    op.def.schema.operand("mask").is_none()
}

/// The positions of the bits in the rows of a mask, on which sources may disagree.
fn bits(d: &mut Decoder<'_>, mask: Option<ValueId>, asked: Option<&'static Question>) -> Bits {
    match asked {
        None => Bits::Rows,
        Some(_) if mask.is_some_and(|mask| d.is_mask(mask, masks_between)) => Bits::Rows,
        Some(question) if d.platform.reads_otherwise(question) => Bits::Dense,
        Some(question) => Bits::Asked(question),
    }
}

fn compare(op: &OpRef<'_>, d: &mut Decoder<'_>, [a, b]: [&'static str; 2]) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (a, b, dst) = (operands.tile(d, a)?, operands.input(d, b)?, operands.tile(d, "dst")?);
    // The sources agree on comparisons of two tiles.
    let asked = op.def.schema.operand("scalar").is_some().then_some(&DENSE_COMPARE);
    let effect =
        CompareTiles { local: operands.local, mode: mode(op), dst, a, b, bits: bits(d, op.operand("dst"), asked) };
    operands.issue(d, effect)
}

fn choose(op: &OpRef<'_>, d: &mut Decoder<'_>, [a, b]: [&'static str; 2]) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (mask, dst) = (operands.tile(d, "mask")?, operands.tile(d, "dst")?);
    let (a, b) = (operands.tile(d, a)?, operands.input(d, b)?);
    let effect =
        Select { local: operands.local, dst, mask, a, b, bits: bits(d, op.operand("mask"), Some(&DENSE_SELECT)) };
    operands.issue(d, effect)
}
