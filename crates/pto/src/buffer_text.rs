//! The syntax of the ops that reserve and import slot memory.

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{Attr, OpId, Type};
use slipring_tile::Space;

/// `{name = "c2v", size = 4096, …} -> i32`. The type is optional. A reservation may also use the spelling of seed 000:
/// `base = auto` is `auto = true`, and `memory_space = "UB"` or `"L1"` is the location.
pub(super) struct BufferText;

impl CustomSyntax for BufferText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        p.set_operands(op, &[]);
        p.attr_dict(op)?;
        as_seeded(p, op)?;
        let ty = if p.eat(Tok::Arrow) { p.parse_type()? } else { Type::I32 };
        p.add_result(op, ty);
        Ok(())
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        p.attr_dict(op, &[]);
        p.write(" -> ");
        let ty = p.module.op(op).results.first().map(|base| p.module.ty(*base).to_string());
        p.write(&ty.unwrap_or_default());
    }
}

/// Converts the attributes of seed 000 to the declared ones.
fn as_seeded(p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
    let span = p.module.op(op).span;
    let attrs = &mut p.module.op_mut(op).attrs;
    if attrs.get("base").and_then(Attr::as_str) == Some("auto") {
        attrs.remove("base");
        if attrs.get("auto").and_then(Attr::as_bool) == Some(false) {
            return Err(p.error("reserve-base", span, "`base = auto`, and `auto = false`"));
        }
        attrs.set("auto", Attr::Bool(true));
    }
    let Some(space) = attrs.get("memory_space").and_then(Attr::as_str).map(str::to_string) else { return Ok(()) };
    let own = match space.as_str() {
        "UB" | "ub" | "vec" => Space::Vec,
        "L1" | "l1" | "mat" => Space::Mat,
        other => {
            let message = format!("no slots lie in `{other}`: `memory_space` is \"UB\" or \"L1\"");
            return Err(p.error("reserve-location", span, message));
        }
    };
    let location = Attr::member("address_space", own.name());
    if attrs.get("location").is_some_and(|other| *other != location) {
        return Err(p.error("reserve-location", span, "`memory_space` and `location` say different memories"));
    }
    attrs.remove("memory_space");
    attrs.set("location", location);
    Ok(())
}
