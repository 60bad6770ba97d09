//! Checking a module against the declarations.

use slipring_ir::text::nearest;
use slipring_ir::{Arity, Diagnostic, Diags, Module, OpId};
use slipring_machine::{CoreKind, Platform};

use crate::Dialects;
use crate::decode::kernel_kind;
use crate::def::{CoreRule, OpRef, PipeRule};
use crate::reach::affinity;
use crate::rules::counted;

/// Checks every op of a module: that it is declared, that its operands have accepted types, that it stands
/// on a core that can run it, and its own rules. Reports every error.
pub fn verify(module: &Module, platform: &Platform, diags: &mut Diags) {
    let dialects = Dialects::get();
    for id in module.walk(module.top) {
        let data = module.op(id);
        let Some(def) = dialects.def(&data.name) else {
            let mut error =
                Diagnostic::error("unknown-op", data.span, format!("`{}` is not an op that slipring knows", data.name));
            if let Some(near) = nearest(&data.name, dialects.registry.names()) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            diags.push(error);
            continue;
        };
        let op = OpRef { module, id, def };
        let before = diags.list.len();
        place(&op, diags);
        operand_types(&op, diags);
        result_count(&op, diags);
        core(&op, diags);
        if diags.list.len() == before {
            (def.verify)(&op, platform, diags);
        }
    }
}

/// Reports an op that computes or works and stands in no function: nothing would ever run it.
fn place(op: &OpRef<'_>, diags: &mut Diags) {
    let data = op.module.op(op.id);
    let outside = op.module.parent_op(op.id).is_none_or(|outer| &*op.module.op(outer).name == "builtin.module");
    let runs = !data.operands.is_empty() || !data.results.is_empty() || !matches!(op.def.pipe, PipeRule::None);
    if outside && runs {
        let message = format!("`{}` stands outside of every function", op.def.schema.name);
        diags.push(op.error("outside-function", message).help("move it into the function that uses it"));
    }
}

fn operand_types(op: &OpRef<'_>, diags: &mut Diags) {
    for (index, spec) in op.def.schema.operands.iter().enumerate() {
        for value in op.operands(index) {
            if !(spec.ty.accepts)(op.module.ty(*value)) {
                let name = op.module.value_name(*value);
                diags.push(
                    op.error(
                        "operand-type",
                        format!("`{}` of `{}` must be {}", spec.name, op.def.schema.name, spec.ty.describe),
                    )
                    .label(format!("`{name}` is not"))
                    .also(op.module.value(*value).span, format!("`{name}` is defined here")),
                );
            }
        }
    }
}

/// Declared results must be there: rules and lowerings take them for granted.
fn result_count(op: &OpRef<'_>, diags: &mut Diags) {
    let declared = op.def.schema.results.iter().filter(|spec| spec.arity == Arity::One).count();
    let given = op.module.op(op.id).results.len();
    if given < declared {
        diags.push(op.error(
            "result-count",
            format!("`{}` has {}, not {given}", op.def.schema.name, counted(declared, "result")),
        ));
    }
}

/// An op of one kind of core must not stand in a function or section of the other kind.
fn core(op: &OpRef<'_>, diags: &mut Diags) {
    if matches!(op.def.pipe, PipeRule::None) && op.def.ring.is_none() {
        return;
    }
    let Some(kind) = affinity(op) else { return };
    if let Some((home, outer)) = home(op.module, op.id)
        && home != kind
    {
        diags.push(
            op.error("wrong-core", format!("`{}` runs on the {} core", op.def.schema.name, kind.name()))
                .label(format!("stands in the program of the {} core", home.name()))
                .also(op.module.op(outer).span, "which begins here"),
        );
    }
}

/// The kind of core that the surrounding section or function is for.
fn home(module: &Module, id: OpId) -> Option<(CoreKind, OpId)> {
    let mut at = id;
    while let Some(outer) = module.parent_op(at) {
        let def = Dialects::get().def(&module.op(outer).name);
        match def.map(|d| d.core) {
            Some(CoreRule::Cube) => return Some((CoreKind::Cube, outer)),
            Some(CoreRule::Vector) => return Some((CoreKind::Vector, outer)),
            _ => {}
        }
        if let Some(kind) = kernel_kind(module, outer) {
            return Some((kind, outer));
        }
        at = outer;
    }
    None
}
