//! Builtins besides ops that are called like functions: `pl.const`, `pl.static_assert`.

use slipring_ir::{Diagnostic, Span};

use super::lowering::{Lower, Lowered};
use crate::constants::is_true;
use crate::dtype::DType;
use crate::params::{ByName, Given, by_name};
use crate::value::{Const, Value};

impl Lower<'_> {
    /// Builtins that bind their arguments like functions.
    pub(super) fn word(&mut self, path: &str, given: &Given, span: Span) -> Option<Lowered> {
        let own = path.strip_prefix("pl.").filter(|own| matches!(*own, "const" | "static_assert"))?;
        let takes = crate::words::takes(own)?;
        Some(match by_name((path, takes), given.positional.clone(), given.keywords.clone(), span) {
            Ok(args) if own == "const" => self.typed_constant(&args, span),
            Ok(args) => self.static_assert(&args, span),
            Err(error) => Err(self.report(*error)),
        })
    }

    /// `pl.const(value, dtype)`.
    fn typed_constant(&mut self, args: &ByName<Value>, span: Span) -> Lowered {
        match (argument(args, "value"), argument(args, "dtype")) {
            (Some((value @ Value::Const(_), _)), Some((Value::Const(Const::DType(ty)), _))) => {
                // A bit is written as an integer or a boolean.
                let bit = match value {
                    Value::Const(Const::Int(bit @ (0 | 1))) if *ty == DType::Bool => Some(Const::Bool(*bit == 1)),
                    _ => None,
                };
                let number = self.number(bit.map(Value::Const).as_ref().unwrap_or(value), *ty, span)?;
                Ok(self.scalar(number, *ty))
            }
            (Some((Value::Const(_), _)), Some((_, place))) => {
                Err(self.error("argument", *place, "`dtype` of `pl.const` is not an element type"))
            }
            (value, _) => {
                let place = value.map_or(span, |(_, place)| *place);
                let error = Diagnostic::error("argument", place, "`pl.const` of a value that only a run knows");
                Err(self.report(error.help("`pl.cast(value, dtype)` converts it")))
            }
        }
    }

    /// `pl.static_assert(condition, msg)`.
    fn static_assert(&mut self, args: &ByName<Value>, span: Span) -> Lowered {
        let message = match argument(args, "msg") {
            None | Some((Value::Const(Const::None), _)) => "the assertion does not hold".to_string(),
            Some((Value::Const(Const::Str(text)), _)) => text.to_string(),
            Some((_, place)) => {
                return Err(self.error("argument", *place, "the message of `pl.static_assert` is not a text"));
            }
        };
        match argument(args, "condition") {
            Some((Value::Const(condition), _)) if is_true(condition) => Ok(Value::Nothing),
            Some((Value::Const(_), _)) => Err(self.error("static-assert", span, message)),
            condition => {
                let place = condition.map_or(span, |(_, place)| *place);
                let message = "`pl.static_assert` of a condition that only a run knows";
                let error = Diagnostic::error("argument", place, message);
                Err(self.report(error.help("`assert condition, \"message\"` is checked by each run")))
            }
        }
    }
}

/// An argument, if it is given.
fn argument<'a>(args: &'a ByName<Value>, name: &str) -> Option<&'a (Value, Span)> {
    args.iter().find(|(own, _)| *own == name)?.1.as_ref()
}
