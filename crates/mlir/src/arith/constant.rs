//! `arith.constant`.

use slipring_ir::Reported;
use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, parse_type};
use slipring_ir::{Attr, AttrKind, Infer, Module, OpId, Syntax, Type};
use slipring_program::Operand;

use super::SCALAR_OP;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpRef};
use slipring_op::ops;
use slipring_op::rules::{ANY, required, result};

/// The attribute with the value.
pub const VALUE: &str = "value";

ops! {
    OPS;

    /// `arith.constant 4 : index`, `arith.constant 0.5 : f32`, `arith.constant true`.
    pub CONSTANT "arith.constant" "A constant number": SCALAR_OP, lower: lower_constant
        => {
            syntax: Syntax::Custom(&ConstantText),
            results: &[result("result", ANY, Infer::Written, "the constant")],
            attrs: &[required(VALUE, AttrKind::Any, "the number, with its type")],
            constant: Some(VALUE),
        };
}

fn lower_constant(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let value = match op.attr(VALUE) {
        Some(Attr::Bool(value)) => u64::from(*value),
        Some(Attr::Int(value, _)) => *value as u64,
        Some(Attr::Float(bits, _)) => *bits,
        // A vector constant keeps only its text: nothing computes with its value.
        Some(Attr::Opaque(_)) => {
            d.bind(op.result(0), Binding::Handle(0));
            return Ok(());
        }
        _ => return Err(d.unsupported("a constant that is not a number")),
    };
    d.bind(op.result(0), Binding::Scalar(Operand::Imm(value)));
    Ok(())
}

/// `4 : index`: an attribute whose type is the result's.
struct ConstantText;

impl CustomSyntax for ConstantText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        p.attr_dict(op)?;
        let start = p.span();
        let value = p.parse_attr()?;
        let ty = match &value {
            Attr::Bool(_) => Type::I1,
            Attr::Int(_, ty) | Attr::Float(_, ty) => ty.clone(),
            // `dense<…> : vector<…>` is kept as its text, which ends in the type.
            Attr::Opaque(text) => match text.rsplit_once(" : ").map(|(_, ty)| parse_type(ty)) {
                Some(Ok(ty)) => ty,
                _ => return Err(p.error("constant", p.span_from(start), "the constant does not say its type")),
            },
            _ => return Err(p.error("constant", p.span_from(start), "a constant is a number or a boolean")),
        };
        p.module.op_mut(op).attrs.set(VALUE, value);
        p.add_result(op, ty);
        Ok(())
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        let data = module.op(op);
        let [result] = data.results[..] else { return Some(false) };
        Some(match data.attrs.get(VALUE) {
            Some(Attr::Bool(_)) => *module.ty(result) == Type::I1,
            Some(Attr::Int(_, ty) | Attr::Float(_, ty)) => ty == module.ty(result),
            Some(Attr::Opaque(text)) => {
                text.rsplit_once(" : ").is_some_and(|(_, ty)| parse_type(ty).is_ok_and(|ty| ty == *module.ty(result)))
            }
            _ => false,
        })
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        p.attr_dict_after(" ", op, &[VALUE]);
        p.write(" ");
        let module = p.module;
        if let Some(value) = module.op(op).attrs.get(VALUE) {
            p.attr(value);
            // An integer attribute omits `i64`, its default; a constant always prints its type.
            if matches!(value, Attr::Int(_, ty) if *ty == Type::I64) {
                p.write(" : i64");
            }
        }
    }
}
