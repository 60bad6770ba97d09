//! Parts of tiles.

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{Attr, AttrKind, Diags, Dim, Infer, Module, OpId, Syntax, TileType, Touch, Type, ValueId};
use slipring_machine::Platform;
use slipring_op::decode::{Binding, Decoder, TileRef};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, constant, defaulted, operand, optional, required, result, variadic};
use slipring_op::{Along, ops};
use slipring_program::{Inst, Law, Operand, Trap};
use slipring_tile::{BLayout, Layout, SLayout};

use crate::tile::alloc::TILE_BUF;

/// The attribute of a part that must be entirely inside its tile.
pub const INSIDE: &str = "inside";

ops! {
    OPS;

    /// The part of `source` from row and column `offsets` on, `sizes` rows and columns large, as a tile: the same
    /// bytes, no copy. Its type is the source's with the shape `sizes`; its valid shape is what the source's leaves of
    /// it, and where constants say that the part begins after the source's valid shape, what that leaves when repeated:
    /// the second half of a tile of 64 columns, 32 of them valid, has 32 valid columns. In a tile with boxes offsets
    /// and sizes are multiples of a box.
    pub SUBSET "pto.subset" "A rectangular part of a tile": PLAIN, source: "PTO IR manual 4.1", verify: verify_subset,
        along: [Along::Part; 2], lower: lower_subset
        => {
            syntax: Syntax::Custom(&SubsetText { valid: false }),
            operands: &[
                operand("source", TILE_BUF, Touch::Nothing, "the tile"),
                variadic("offsets", INTEGER, Touch::Nothing, "first row and column, in elements"),
            ],
            results: &[result("result", TILE_BUF, Infer::Written, "the part")],
            attrs: &[
                required("sizes", AttrKind::Any, "rows and columns of the part, `[rows, columns]`"),
                defaulted(INSIDE, AttrKind::Bool, "the run stops if a part at offsets of the run leaves the tile"),
            ],
        };

    /// The part of `source` from row and column `offsets` on, `sizes` rows and columns large, as a tile: the same
    /// bytes, no copy. Other than that of `pto.subset`, its valid shape does not depend on the source's: it is what
    /// `valid` says, else what the type after `->` says, else the whole part. An extent of 0 leaves nothing of it. In a
    /// tile with boxes offsets and sizes are multiples of a box.
    pub SUBVIEW "pto.subview" "A rectangular part of a tile with a valid shape of its own": PLAIN,
        source: "PTO IR manual of the public assembler 0.60, pto.subview", verify: verify_subview, lower: lower_subset
        => {
            syntax: Syntax::Custom(&SubsetText { valid: true }),
            operands: &[
                operand("source", TILE_BUF, Touch::Nothing, "the tile"),
                variadic("offsets", INTEGER, Touch::Nothing, "first row and column, in elements"),
                optional("valid_row", INTEGER, Touch::Nothing, "valid rows of the part"),
                optional("valid_col", INTEGER, Touch::Nothing, "valid columns of the part"),
            ],
            results: &[result("result", TILE_BUF, Infer::Written, "the part")],
            attrs: &[required("sizes", AttrKind::Any, "rows and columns of the part, `[rows, columns]`")],
        };
}

fn verify_subview(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    verify_subset(op, platform, diags);
    verify_valid(op, diags);
}

/// `%tile[%row, %column] sizes [16, 16] : T`, optionally followed by `-> T`; `pto.subview` also has an optional `valid
/// [%rows, %columns]` after the sizes.
struct SubsetText {
    valid: bool,
}

impl CustomSyntax for SubsetText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let source = parser.operand()?;
        let mut offsets = Vec::new();
        parser.expect(Tok::LBracket, "`[` and the offsets")?;
        parser.list_until(Tok::RBracket, "`]`", |p| {
            offsets.push(p.operand()?);
            Ok(())
        })?;
        parser.expect_text("sizes")?;
        let sizes = parser.parse_attr()?;
        parser.module.op_mut(op).attrs.set("sizes", sizes.clone());
        let mut valid = Vec::new();
        if self.valid && parser.eat_text("valid") {
            parser.expect(Tok::LBracket, "`[` and the valid rows and columns")?;
            parser.list_until(Tok::RBracket, "`]`", |p| {
                valid.push(p.operand()?);
                Ok(())
            })?;
            if valid.len() != 2 {
                return Err(parser.expected("valid rows and valid columns, as in `valid [%rows, %columns]`"));
            }
        }
        parser.attr_dict(op)?;
        match (self.valid, valid.as_slice()) {
            (true, [rows, cols]) => parser.set_operands(op, &[&[source], &offsets, &[*rows], &[*cols]]),
            (true, _) => parser.set_operands(op, &[&[source], &offsets, &[], &[]]),
            (false, _) => parser.set_operands(op, &[&[source], &offsets]),
        }
        parser.expect(Tok::Colon, "`:` and the type of the tile")?;
        parser.operand_type(source)?;
        let inferred = match self.valid {
            true => subview_type(parser.module, source, [valid.first(), valid.get(1)].map(|v| v.copied()), &sizes),
            false => part_type(parser.module, source, &offsets, &sizes),
        };
        let ty = if parser.eat(Tok::Arrow) { parser.parse_type()? } else { inferred };
        parser.add_result(op, ty);
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        let data = module.op(op);
        let (source, offsets) = (module.operands_named(op, "source"), module.operands_named(op, "offsets"));
        let sizes = data.attrs.get("sizes").cloned().unwrap_or(Attr::Array(Vec::new()));
        printer.write(" ");
        printer.values(source);
        printer.write("[");
        printer.values(offsets);
        printer.write("] sizes ");
        let text = sizes_of(&sizes).map_or_else(|| sizes.to_string(), |[rows, cols]| format!("[{rows}, {cols}]"));
        printer.write(&text);
        let valid = match self.valid {
            true => [module.operands_named(op, "valid_row"), module.operands_named(op, "valid_col")].concat(),
            false => Vec::new(),
        };
        if !valid.is_empty() {
            printer.write(" valid [");
            printer.values(&valid);
            printer.write("]");
        }
        printer.attr_dict(op, &["sizes"]);
        printer.write(" : ");
        printer.types_of(source);
        let Some(written) = data.results.first().map(|result| module.ty(*result)) else { return };
        let inferred = source.first().map(|source| match self.valid {
            true => subview_type(module, *source, [valid.first(), valid.get(1)].map(|v| v.copied()), &sizes),
            false => part_type(module, *source, offsets, &sizes),
        });
        if inferred.is_none_or(|inferred| inferred != *written) {
            printer.write(" -> ");
            printer.ty(written);
        }
    }
}

/// The integers of `[rows, columns]`.
fn sizes_of(attr: &Attr) -> Option<[i64; 2]> {
    match attr {
        Attr::Array(items) => match items.as_slice() {
            [rows, cols] => Some([rows.as_int()?, cols.as_int()?]),
            _ => None,
        },
        Attr::DenseArray(_, items) => match items.as_slice() {
            [rows, cols] => Some([i64::try_from(*rows).ok()?, i64::try_from(*cols).ok()?]),
            _ => None,
        },
        _ => None,
    }
}

/// The type of a part if the text does not specify one.
pub(crate) fn inferred_type(op: &OpRef<'_>) -> Option<Type> {
    let (source, sizes) = (op.operand("source")?, op.attr("sizes")?);
    Some(part_type(op.module, source, op.module.operands_named(op.id, "offsets"), sizes))
}

/// The type of a part; the source's own if the sizes are invalid (which the verifier reports).
fn part_type(module: &slipring_ir::Module, source: ValueId, offsets: &[ValueId], sizes: &Attr) -> Type {
    let ty = module.ty(source);
    let (Some(tile), Some(sizes)) = (ty.as_tile(), sizes_of(sizes)) else { return ty.clone() };
    let [Ok(rows), Ok(cols)] = sizes.map(u32::try_from) else { return ty.clone() };
    let valid = std::array::from_fn(|at| {
        let offset = offsets.get(at).and_then(|v| constant(module, *v)).and_then(|n| u64::try_from(n).ok());
        match (tile.valid[at], offset) {
            (Dim::Static(all), Some(offset)) => Dim::Static(left(all, offset).min([rows, cols][at].into())),
            _ => Dim::Dynamic,
        }
    });
    Type::Tile(TileType { layout: Layout { rows, cols, ..tile.layout }, valid, ..*tile })
}

/// The type of a part with a given valid shape, by default all of it.
fn subview_type(module: &Module, source: ValueId, valid: [Option<ValueId>; 2], sizes: &Attr) -> Type {
    let ty = module.ty(source);
    let (Some(tile), Some(sizes)) = (ty.as_tile(), sizes_of(sizes)) else { return ty.clone() };
    let [Ok(rows), Ok(cols)] = sizes.map(u32::try_from) else { return ty.clone() };
    let valid = std::array::from_fn(|at| {
        let all = u64::from([rows, cols][at]);
        match valid[at].map(|value| constant(module, value)) {
            None => Dim::Static(all),
            Some(Some(n)) => Dim::Static(u64::try_from(n).unwrap_or(0).min(all)),
            Some(None) => Dim::Dynamic,
        }
    });
    Type::Tile(TileType { layout: Layout { rows, cols, ..tile.layout }, valid, ..*tile })
}

/// Reports a valid shape that does not fit the part, and a missing one.
fn verify_valid(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(sizes) = op.attr("sizes").and_then(sizes_of) else { return };
    let Some(part) = op.module.ty(op.result(0)).as_tile() else { return };
    if let Some(source) = op.tile("source") {
        let [rows, cols] = sizes;
        if [part.layout.rows, part.layout.cols].map(i64::from) != sizes {
            diags.push(
                op.error("subset-sizes", format!("the part has {rows} rows and {cols} columns, its type others")),
            );
        } else if (part.space, part.layout)
            != (source.space, Layout { rows: part.layout.rows, cols: part.layout.cols, ..source.layout })
        {
            diags.push(
                op.error("tile-type", "the type of the part differs from that of its tile in more than its shape"),
            );
        }
    }
    for (at, (name, what)) in [("valid_row", "rows"), ("valid_col", "columns")].into_iter().enumerate() {
        let given = op.operand(name).map(|value| constant(op.module, value));
        if let Some(Some(n)) = given.filter(|n| n.is_some_and(|n| !(0..=sizes[at]).contains(&n))) {
            diags.push(op.error("tile-valid", format!("{n} valid {what} in a part of {}", sizes[at])));
        }
        let said = part.valid[at].known().map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        match (given, said) {
            (None, None) => diags.push(
                op.error("tile-valid", format!("nothing says how many {what} of the part are valid"))
                    .help("write `valid [%rows, %columns]` after the sizes"),
            ),
            (Some(Some(n)), Some(said)) if n != said => {
                diags.push(op.error("tile-valid", format!("{n} {what} are valid, the type says {said}")));
            }
            (Some(None), Some(said)) => {
                let message = format!("the valid {what} are known when the kernel runs, the type says {said}");
                diags.push(op.error("tile-valid", message).help("write `?` there"));
            }
            _ => {}
        }
    }
}

/// The part of a valid extent after an offset. An offset past the end starts over: a part there is another tile in the
/// same buffer.
const fn left(all: u64, offset: u64) -> u64 {
    if all == 0 { 0 } else { all - offset % all }
}

fn verify_subset(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let Some(ty) = op.tile("source") else { return };
    let offsets = op.operands("offsets");
    let Some(sizes) = op.attr("sizes").and_then(sizes_of).filter(|s| s.iter().all(|n| *n > 0)) else {
        return diags.push(op.error("subset-sizes", "expects 'sizes' to be two positive numbers"));
    };
    if offsets.len() != 2 {
        return diags.push(op.error("subset-offsets", format!("expects 2 offsets, not {}", offsets.len())));
    }
    let layout = &ty.layout;
    let (boxed, unit) = (layout.slayout != SLayout::NoneBox, layout.box_shape());
    let (unit, all) = ([unit.0, unit.1].map(|n| i64::from(n.max(1))), [layout.rows, layout.cols].map(i64::from));
    for (at, what) in ["rows", "columns"].into_iter().enumerate() {
        let offset = constant(op.module, offsets[at]);
        if boxed && sizes[at] % unit[at] != 0 {
            diags.push(
                op.error("subset-boxes", format!("{} {what} are not a multiple of a box's {}", sizes[at], unit[at])),
            );
        }
        let Some(offset) = offset else { continue };
        if offset < 0 || offset.saturating_add(sizes[at]) > all[at] {
            diags.push(op.error(
                "subset-bounds",
                format!("{} {what} from {offset} on do not lie inside a tile of {}", sizes[at], all[at]),
            ));
        } else if boxed && offset % unit[at] != 0 {
            diags.push(
                op.error("subset-boxes", format!("the offset {offset} is not a multiple of a box's {}", unit[at])),
            );
        }
    }
}

fn lower_subset(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let source = d.tile(op.operand("source").ok_or(Reported)?)?;
    let Some(sizes) = op.attr("sizes").and_then(sizes_of) else { return Err(Reported) };
    let mut offsets = [Operand::Imm(0); 2];
    for (offset, value) in offsets.iter_mut().zip(op.operands("offsets")) {
        *offset = d.scalar(*value)?;
    }
    let layout = source.ty.layout;
    let (box_rows, box_cols) = layout.box_shape();
    // In one direction, the lines of a box continue those of the previous box, so a step of one is the same
    // everywhere. In the other direction it is only if offsets are multiples of a box.
    let steps = match (layout.blayout, layout.slayout) {
        (BLayout::ColMajor, SLayout::RowMajor) => [1, box_cols],
        (BLayout::RowMajor, SLayout::ColMajor) => [box_rows, 1],
        _ => [box_rows, box_cols],
    };
    for (offset, unit) in offsets.iter().zip(steps) {
        trap_unless_multiple(d, *offset, unit);
    }
    let elem = layout.elem.bytes() as u64;
    let (row_step, col_step) = match layout.blayout {
        BLayout::RowMajor => (u64::from(layout.cols) * elem, u64::from(box_rows) * elem),
        BLayout::ColMajor => (u64::from(box_cols) * elem, u64::from(layout.rows) * elem),
    };
    let whole = op.tile("source").map_or([layout.rows, layout.cols], |ty| [ty.layout.rows, ty.layout.cols]);
    // Where nothing asks for all of the part to be inside, the valid shape ends where the tile does.
    let last = |at: usize| i64::from(whole[at]) - if op.is_set(INSIDE) { sizes[at] } else { 0 };
    let down = distance_inside::<false>(d, offsets[0], row_step, last(0));
    let right = distance_inside::<true>(d, offsets[1], col_step, last(1));
    let addr = d.moved(source.addr, down);
    let addr = d.moved(addr, right);
    // The part keeps the strides of the whole tile in the direction in which its lines are not contiguous.
    let [rows, cols] = sizes.map(|n| u32::try_from(n).unwrap_or(0));
    let part = match layout.blayout {
        BLayout::RowMajor => Layout { rows, ..layout },
        BLayout::ColMajor => Layout { cols, ..layout },
    };
    let mut ty = TileType { layout: part, ..source.ty };
    let mut valid = [Operand::Imm(0); 2];
    for (at, size) in [rows, cols].into_iter().enumerate() {
        if op.def == &SUBVIEW {
            (ty.valid[at], valid[at]) = given_valid(op, d, at, size)?;
            continue;
        }
        valid[at] = match (source.valid[at], offsets[at]) {
            (Operand::Imm(all), Operand::Imm(offset)) => Operand::Imm(left(all, offset).min(size.into())),
            (all, offset) => {
                let left = d.sub(all, offset);
                let left = d.max(left, Operand::Imm(0));
                d.min(left, Operand::Imm(size.into()))
            }
        };
        ty.valid[at] = match valid[at] {
            Operand::Imm(n) => Dim::Static(n),
            // A separate register: the part's valid shape may change without that of the whole.
            Operand::Reg(_) => {
                valid[at] = Operand::Reg(d.variable(valid[at]));
                Dim::Dynamic
            }
        };
    }
    d.bind(op.result(0), Binding::Tile(TileRef { ty, addr, valid }));
    Ok(())
}

/// The distance in bytes of the rows or columns before a part; the run stops if the first one is not between 0 and
/// `last`.
fn distance_inside<const COLUMNS: bool>(d: &mut Decoder<'_>, first: Operand, step: u64, last: i64) -> Operand {
    fn inside<const COLUMNS: bool>([first, step, last]: [u64; 3]) -> Result<u64, Trap> {
        let trap = || Trap::PartOfTile { first: first as i64, last: last as i64, columns: COLUMNS };
        let there = (0..=last as i64).contains(&(first as i64));
        if there { first.checked_mul(step).ok_or_else(trap) } else { Err(trap()) }
    }
    let step = Operand::Imm(step);
    match first {
        Operand::Imm(_) => d.distance(first, step),
        Operand::Reg(_) => d.compute_by(Law::Product, inside::<COLUMNS>, [first, step, Operand::Imm(last as u64)]),
    }
}

/// An explicit valid extent of a part: its dimension in the type, and the value.
fn given_valid(op: &OpRef<'_>, d: &mut Decoder<'_>, at: usize, size: u32) -> Result<(Dim, Operand), Reported> {
    let Some(value) = op.operand(["valid_row", "valid_col"][at]) else {
        let said = op.module.ty(op.result(0)).as_tile().and_then(|tile| tile.valid[at].known());
        let n = said.ok_or(Reported)?;
        return Ok((Dim::Static(n), Operand::Imm(n)));
    };
    match d.scalar(value)? {
        Operand::Imm(n) => Ok((Dim::Static(n), Operand::Imm(n))),
        given => {
            let size = Operand::Imm(size.into());
            let more = d.compute(|[n, size, _]| Ok(u64::from(n > size)), [given, size, Operand::Imm(0)]);
            let fine = d.label();
            d.jump_if_zero(more, fine);
            let what = ["rows", "columns"][at];
            d.emit(Inst::Trap { message: format!("a part of a tile has more valid {what} than {what}").into() });
            d.place(fine);
            Ok((Dim::Dynamic, Operand::Reg(d.variable(given))))
        }
    }
}

/// Stops the run if an offset that is computed is not at the beginning of a box.
fn trap_unless_multiple(d: &mut Decoder<'_>, offset: Operand, unit: u32) {
    if unit <= 1 || offset.as_imm().is_some() {
        return;
    }
    let rest = d.compute(|[offset, unit, _]| Ok(offset % unit), [offset, Operand::Imm(unit.into()), Operand::Imm(0)]);
    let fine = d.label();
    d.jump_if_zero(rest, fine);
    let message = format!("the offset of a part of a tile is not a multiple of a box's {unit}");
    d.emit(Inst::Trap { message: message.into() });
    d.place(fine);
}

/// Changes the number of rows and columns of a part of a tile.
pub fn set_part_sizes(module: &mut Module, op: OpId, sizes: [u32; 2]) {
    let sizes = sizes.iter().map(|n| Attr::int(i64::from(*n))).collect();
    module.op_mut(op).attrs.set("sizes", Attr::Array(sizes));
}
