//! The syntax of loads and stores of logical vectors: `%v, %p[%i], %stride, %mask {group = 8} : T, T, index, T`.
//!
//! The types of strides are written or left out: the SPEC writes them, the assembler does not.

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok, same_type};
use slipring_ir::{Diagnostic, Module, OpId, Type, ValueId};

/// The text of a load; the declared operands are the pointer, the offset and two strides.
#[derive(Debug)]
pub(super) struct LoadText;

/// The text of a store; the declared operands are the values, the pointer, the offset, two strides and the predicate.
#[derive(Debug)]
pub(super) struct StoreText;

/// The text of a store of blocks; the declared operands are the value, the pointer, the offset, the stride and the
/// predicate.
#[derive(Debug)]
pub(super) struct BlocksText;

/// `[%i]`.
fn offset(p: &mut OpParser<'_>) -> Parsed<ValueId> {
    p.expect(Tok::LBracket, "`[` and the offset")?;
    let offset = p.operand()?;
    p.expect(Tok::RBracket, "`]`")?;
    Ok(offset)
}

/// The values after the brackets.
fn behind(p: &mut OpParser<'_>, most: usize) -> Parsed<Vec<ValueId>> {
    let mut values = Vec::new();
    while p.eat(Tok::Comma) {
        if values.len() == most {
            return Err(p.expected("no more operands"));
        }
        values.push(p.operand()?);
    }
    Ok(values)
}

/// The types of some of these values, each after a comma.
fn types_behind(p: &mut OpParser<'_>, values: &[ValueId]) -> Parsed<()> {
    let mut left = values;
    while p.eat(Tok::Comma) {
        let start = p.span();
        let written = p.parse_type()?;
        match left.iter().position(|value| same_type(&written, p.module.ty(*value))) {
            Some(at) => left = &left[at + 1..],
            None => {
                let message = format!("no operand that is left has type `{written}`");
                p.fail(Diagnostic::error("type-mismatch", p.span_from(start), message));
                return Ok(());
            }
        }
    }
    Ok(())
}

fn is_mask(module: &Module, value: ValueId) -> bool {
    matches!(module.ty(value), Type::LogicalMask(_))
}

/// True if the first of two strides is there where the second is: the text tells them by their order.
fn in_order(module: &Module, op: OpId) -> bool {
    module.operands_named(op, "repeat").is_empty() || !module.operands_named(op, "stride").is_empty()
}

/// `, %a, %b` behind the brackets, and the attributes.
fn print_behind(p: &mut OpPrinter<'_>, op: OpId, pointer: ValueId, offset: ValueId, behind: &[ValueId]) {
    p.value(pointer);
    p.write("[");
    p.value(offset);
    p.write("]");
    for value in behind {
        p.write(", ");
        p.value(*value);
    }
    p.attr_dict_after(" ", op, &[]);
    p.write(" : ");
}

/// `, T` of the predicate behind the brackets: the assembler takes no types of strides.
fn print_types_behind(p: &mut OpPrinter<'_>, behind: &[ValueId]) {
    for value in behind.iter().filter(|value| is_mask(p.module, **value)).copied().collect::<Vec<_>>() {
        p.write(", ");
        p.types_of(&[value]);
    }
}

impl CustomSyntax for LoadText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let pointer = p.operand()?;
        let offset = offset(p)?;
        let behind = behind(p, 2)?;
        p.attr_dict(op)?;
        p.expect(Tok::Colon, "`:` and the type of the pointer")?;
        p.operand_type(pointer)?;
        types_behind(p, &behind)?;
        let strides: Vec<&[ValueId]> = behind.iter().map(std::slice::from_ref).chain([&[][..], &[][..]]).collect();
        p.set_operands(op, &[&[pointer], &[offset], strides[0], strides[1]]);
        p.expect(Tok::Arrow, "`->` and the type of the result")?;
        loop {
            let ty = p.parse_type()?;
            p.add_result(op, ty);
            if !p.eat(Tok::Comma) {
                return Ok(());
            }
        }
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let data = p.module.op(op);
        let (operands, results) = (data.operands.clone(), data.results.clone());
        print_behind(p, op, operands[0], operands[1], &operands[2..]);
        p.types_of(&operands[..1]);
        print_types_behind(p, &operands[2..]);
        p.write(" -> ");
        p.types_of(&results);
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        Some(in_order(module, op) && !module.op(op).results.is_empty())
    }
}

impl CustomSyntax for BlocksText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let value = p.operand()?;
        p.expect(Tok::Comma, "`,` and the pointer")?;
        let pointer = p.operand()?;
        let offset = offset(p)?;
        let behind = behind(p, 2)?;
        let [stride, mask] = behind[..] else { return Err(p.expected("`,`, a stride and a predicate")) };
        p.attr_dict(op)?;
        p.expect(Tok::Colon, "`:` and the types")?;
        p.operand_types(&[value, pointer])?;
        types_behind(p, &behind)?;
        p.set_operands(op, &[&[value], &[pointer], &[offset], &[stride], &[mask]]);
        Ok(())
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let operands = p.module.op(op).operands.clone();
        p.value(operands[0]);
        p.write(", ");
        print_behind(p, op, operands[1], operands[2], &operands[3..]);
        p.types_of(&operands[..2]);
        print_types_behind(p, &operands[3..]);
    }

    fn says_all(&self, _: &Module, _: OpId) -> Option<bool> {
        Some(true)
    }
}

impl CustomSyntax for StoreText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let mut values = vec![p.operand()?];
        while p.eat(Tok::Comma) {
            values.push(p.operand()?);
        }
        let offset = offset(p)?;
        let behind = behind(p, 3)?;
        p.attr_dict(op)?;
        p.expect(Tok::Colon, "`:` and the types")?;
        p.operand_types(&values)?;
        types_behind(p, &behind)?;
        let Some(pointer) = values.pop() else { return Err(p.expected("a value and a pointer")) };
        let mut strides = behind;
        let mask: Vec<ValueId> = match strides.last() {
            Some(last) if is_mask(p.module, *last) => strides.pop().into_iter().collect(),
            _ => Vec::new(),
        };
        if strides.len() > 2 {
            return Err(p.expected("at most two strides"));
        }
        let groups: Vec<&[ValueId]> = strides.iter().map(std::slice::from_ref).chain([&[][..], &[][..]]).collect();
        p.set_operands(op, &[&values, &[pointer], &[offset], groups[0], groups[1], &mask]);
        Ok(())
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        let values = module.operands_named(op, "values").to_vec();
        let operands = module.op(op).operands.clone();
        let behind = &operands[values.len() + 2..];
        for value in &values {
            p.value(*value);
            p.write(", ");
        }
        print_behind(p, op, operands[values.len()], operands[values.len() + 1], behind);
        p.types_of(&operands[..=values.len()]);
        print_types_behind(p, behind);
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        Some(in_order(module, op) && !module.operands_named(op, "values").is_empty())
    }
}
