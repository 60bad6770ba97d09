//! The numbers of loads out of L1: extents, or the fractals to copy; by position, or by name in any order.

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok, nearest};
use slipring_ir::{Diagnostic, Diags, OpId, Reported, Span, ValueId};
use slipring_op::def::OpRef;
use slipring_op::rules::constant;

/// A field of the form that selects fractals: its name and its range.
pub(super) type Field = (&'static str, [i64; 2]);

/// The two groups of fields of a load.
#[derive(Debug)]
pub(super) struct Controls {
    /// The extents of an operand, and where it begins.
    pub shape: [&'static str; 4],
    /// The fractals to copy.
    pub full: [Field; 6],
}

/// A number of the text, with the name of its field if that is written.
type Given = (Option<&'static str>, ValueId);

impl CustomSyntax for Controls {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let src = p.operand()?;
        p.expect(Tok::Comma, "`,` and the destination")?;
        let dst = p.operand()?;
        let (start, mut given) = (p.span(), Vec::new());
        while p.eat(Tok::Comma) {
            let number = if p.tok() == Tok::Word { self.named(p, &given)? } else { (None, p.operand()?) };
            given.push(number);
        }
        let span = p.span_from(start);
        let control = self.ordered(&given).map_err(|error| p.fail(error.at(span)))?;
        p.attr_dict(op)?;
        p.set_operands(op, &[&[src], &[dst], &control]);
        p.expect(Tok::Colon, "`:` and the types of the operands")?;
        let values: Vec<ValueId> = [src, dst].into_iter().chain(given.iter().map(|(_, value)| *value)).collect();
        p.operand_types(&values)
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let operands = &p.module.op(op).operands;
        p.write(" ");
        p.values(operands);
        p.attr_dict(op, &[]);
        p.write(" : ");
        p.types_of(operands);
    }
}

/// What is wrong with the numbers of a text.
struct Wrong {
    message: String,
    help: String,
}

impl Wrong {
    fn at(self, span: Span) -> Diagnostic {
        Diagnostic::error("operand-count", span, self.message).help(self.help)
    }
}

impl Controls {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.shape.into_iter().chain(self.full.map(|(name, _)| name))
    }

    /// `name(%value)`.
    fn named(&self, p: &mut OpParser<'_>, given: &[Given]) -> Result<Given, Reported> {
        let Some(name) = self.names().find(|name| p.at(name)) else {
            let names: Vec<&str> = self.names().collect();
            let mut error = p.expectation("a number").note(format!("its fields are {}", names.join(", ")));
            if let Some(near) = nearest(p.text(), names) {
                error = error.help(format!("is `{near}` meant?"));
            }
            return Err(p.fail(error));
        };
        if given.iter().any(|(other, _)| *other == Some(name)) {
            return Err(p.error("clause-twice", p.span(), format!("`{name}` occurs twice")));
        }
        p.bump();
        p.expect(Tok::LParen, "`(`")?;
        let value = p.operand()?;
        p.expect(Tok::RParen, "`)`")?;
        Ok((Some(name), value))
    }

    /// The numbers in the order of their group.
    fn ordered(&self, given: &[Given]) -> Result<Vec<ValueId>, Wrong> {
        if given.iter().all(|(name, _)| name.is_none()) {
            return Ok(given.iter().map(|(_, value)| *value).collect());
        }
        let group = |names: &[&str]| format!("`{}`", names.join("`, `"));
        let full = self.full.map(|(name, _)| name);
        let both = format!("the fields are {}, or {}", group(&self.shape), group(&full));
        if given.iter().any(|(name, _)| name.is_none()) {
            let message = "named and unnamed numbers cannot be mixed".to_string();
            return Err(Wrong { message, help: both });
        }
        let has = |name: &&str| given.iter().any(|(own, _)| *own == Some(*name));
        let wanted: &[&'static str] = match (self.shape.iter().find(|n| has(n)), full.iter().find(|n| has(n))) {
            (Some(one), Some(other)) => {
                let message = format!("`{one}` and `{other}` belong to two forms of this load");
                return Err(Wrong { message, help: both });
            }
            (Some(_), None) => &self.shape,
            _ => &full,
        };
        if let Some(missing) = wanted.iter().find(|name| !has(name)) {
            let message = format!("`{missing}(…)` is missing");
            return Err(Wrong { message, help: format!("this form has {}", group(wanted)) });
        }
        let value = |name: &&str| given.iter().find(|(own, _)| *own == Some(*name)).map(|(_, value)| *value);
        Ok(wanted.iter().filter_map(value).collect())
    }
}

/// Reports constants outside the range of their field.
pub(super) fn check_fields(op: &OpRef<'_>, values: &[ValueId], fields: &[Field], diags: &mut Diags) {
    for (value, (name, [least, most])) in values.iter().zip(fields) {
        if let Some(found) = constant(op.module, *value).filter(|found| !(*least..=*most).contains(found)) {
            let message = format!("`{name}` is {found}");
            diags.push(op.error("dma-operand", message).help(format!("it lies between {least} and {most}")));
        }
    }
}
