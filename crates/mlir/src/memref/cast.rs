//! Views of a memref with another shape.

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{Attr, AttrKind, Infer, OpId, Syntax, Touch, Type, ValueId};
use slipring_op::decode::{Binding, Decoder, ViewRef};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, LAYOUT, PLAIN, defaulted, operand, result, variadic};
use slipring_program::Operand;
use smallvec::SmallVec;

use crate::memref::buffer::MEMREF;
use slipring_op::ops;

/// Placeholder in a list of integers for an entry that is an operand.
const OPEN: i128 = i64::MIN as i128;

/// The lists of the text: the keyword, which is also the name of the operand with the dynamic entries, and the
/// attribute with the static ones.
const LISTS: [(&str, &str); 3] =
    [("offset", "static_offsets"), ("sizes", "static_sizes"), ("strides", "static_strides")];

ops! {
    OPS;

    /// The memory of `source` from an offset on, with other extents and strides. No data moves.
    pub REINTERPRET_CAST "memref.reinterpret_cast" "Look at memory in another shape": PLAIN,
        source: "MLIR, memref dialect", lower: lower_cast
        => {
            syntax: Syntax::Custom(&CastText),
            operands: &[
                operand("source", MEMREF, Touch::Nothing, "memory"),
                variadic("offset", INTEGER, Touch::Nothing, "elements from the start of the source"),
                variadic("sizes", INTEGER, Touch::Nothing, "extent of each dimension"),
                variadic("strides", INTEGER, Touch::Nothing, "distance of neighbours in each dimension, in elements"),
            ],
            results: &[result("result", MEMREF, Infer::Written, "the same memory")],
            attrs: &[
                defaulted("static_offsets", AttrKind::Any, "the offset where it is a number"),
                defaulted("static_sizes", AttrKind::Any, "the sizes that are numbers"),
                defaulted("static_strides", AttrKind::Any, "the strides that are numbers"),
                defaulted("layout", AttrKind::Enum(LAYOUT), "as for `pto.make_tensor_view`"),
            ],
        };
}

/// `%m to offset: [%a], sizes: [1, %n], strides: [%n, 1] {…} : T to T`.
struct CastText;

impl CustomSyntax for CastText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let source = parser.operand()?;
        parser.expect_text("to")?;
        let mut groups: [Vec<ValueId>; 3] = Default::default();
        for (at, (word, attr)) in LISTS.iter().enumerate() {
            if at > 0 {
                parser.expect(Tok::Comma, "`,`")?;
            }
            parser.expect_text(word)?;
            parser.expect(Tok::Colon, "`:` and a list")?;
            parser.expect(Tok::LBracket, "`[`")?;
            let mut numbers = Vec::new();
            parser.list_until(Tok::RBracket, "`]`", |p| {
                if p.tok() == Tok::Percent {
                    groups[at].push(p.operand()?);
                    numbers.push(OPEN);
                } else {
                    numbers.push(p.integer()?);
                }
                Ok(())
            })?;
            parser.module.op_mut(op).attrs.set(*attr, Attr::DenseArray(Type::I64, numbers));
        }
        parser.attr_dict(op)?;
        parser.set_operands(op, &[&[source], &groups[0], &groups[1], &groups[2]]);
        parser.expect(Tok::Colon, "`:` and the type of the memref")?;
        parser.operand_type(source)?;
        parser.expect_text("to")?;
        let ty = parser.parse_type()?;
        parser.add_result(op, ty);
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        printer.write(" ");
        printer.values(module.operands_named(op, "source"));
        printer.write(" to");
        for (at, (word, attr)) in LISTS.iter().enumerate() {
            printer.write(if at == 0 { " " } else { ", " });
            printer.write(word);
            printer.write(": [");
            let mut values = module.operands_named(op, word).iter();
            for (i, number) in numbers(module.op(op).attrs.get(attr), values.len()).iter().enumerate() {
                if i > 0 {
                    printer.write(", ");
                }
                match (number, values.as_slice().first()) {
                    (&OPEN, Some(value)) => {
                        printer.value(*value);
                        values.next();
                    }
                    _ => printer.write(&number.to_string()),
                }
            }
            printer.write("]");
        }
        printer.attr_dict(op, &LISTS.map(|(_, attr)| attr));
        printer.write(" : ");
        printer.types_of(module.operands_named(op, "source"));
        printer.write(" to ");
        printer.types_of(&module.op(op).results);
    }
}

/// The static entries of a list; if it is not written, a placeholder for each operand.
fn numbers(attr: Option<&Attr>, operands: usize) -> Vec<i128> {
    match attr {
        Some(Attr::DenseArray(_, numbers)) => numbers.clone(),
        Some(Attr::Array(items)) => items.iter().map(|item| item.as_int().map_or(OPEN, i128::from)).collect(),
        _ => vec![OPEN; operands],
    }
}

fn lower_cast(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut view = d.view(op.operand("source").ok_or(Reported)?)?;
    let mut lists: [SmallVec<[Operand; 5]>; 3] = Default::default();
    for (at, (word, attr)) in LISTS.iter().enumerate() {
        let mut values = op.operands(*word).iter();
        for number in numbers(op.attr(attr), values.len()) {
            let operand = match number {
                OPEN => d.scalar(*values.next().ok_or(Reported)?)?,
                number => Operand::Imm(number as u64),
            };
            lists[at].push(operand);
        }
    }
    let [offset, sizes, strides] = lists;
    if sizes.len() != strides.len() {
        return Err(d.error("memref-rank", "as many strides as sizes are needed"));
    }
    let size = Operand::Imm(view.elem.bytes() as u64);
    let bytes = d.distance(offset.first().copied().unwrap_or(Operand::Imm(0)), size);
    let base = d.moved(view.base, bytes);
    view = ViewRef { dims: sizes, strides, ..view.at(base) };
    if let Some(layout) = op.text("layout") {
        view.layout = LAYOUT.members.iter().find(|member| **member == layout).copied();
    }
    d.bind(op.result(0), Binding::View(view));
    Ok(())
}
