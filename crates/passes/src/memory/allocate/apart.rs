//! Results at the bytes of a source, of ops that do not support that.

use slipring_ir::{Diagnostic, Diags, Module, ValueId};
use slipring_machine::Platform;
use slipring_op::OpRef;

use crate::analysis::facts::{Functions, buffer_bytes};
use crate::analysis::roots::Roots;

/// Reports results that share bytes with a source which their op's declaration keeps apart from them: as one tile, or
/// at constant addresses that overlap. It applies to the module as written; the allocator keeps such tiles apart
/// itself.
pub fn apart(module: &Module, platform: &Platform, diags: &mut Diags) {
    let functions = Functions::of(module);
    let bodies = functions.with_bodies(module).flat_map(|(_, body)| module.walk(body));
    let ops = bodies.filter_map(|op| OpRef::of(module, op));
    let mut ops = ops.filter(|op| op.kept_apart(platform).next().is_some()).peekable();
    if ops.peek().is_none() {
        return;
    }
    let roots = Roots::of(module, &functions);
    for op in ops {
        for (name, source) in op.kept_apart(platform) {
            let mut results = op.written().filter(|result| shared(module, &roots, source, *result));
            if let Some(result) = results.next() {
                diags.push(said(&op, platform, (name, source), result));
            }
        }
    }
}

fn said(op: &OpRef<'_>, platform: &Platform, (name, source): (&str, ValueId), result: ValueId) -> Diagnostic {
    let (op_name, on) = (op.def.schema.name, &platform.name);
    let [of, to] = [source, result].map(|value| op.module.value_name(value));
    let label = if source == result { format!("`{of}` is both") } else { format!("`{of}` and `{to}` share bytes") };
    op.error("operand-overlap", format!("`{op_name}` cannot write its result over `{name}` on {on}"))
        .label(label)
        .help("give the result a tile of its own")
}

/// True if two tiles share bytes for certain.
fn shared(module: &Module, roots: &Roots, a: ValueId, b: ValueId) -> bool {
    let whole = |value: ValueId| match roots.get(value) {
        [root] if roots.root(*root).bytes.is_some_and(|n| buffer_bytes(module.ty(value)) == Some(n)) => Some(*root),
        _ => None,
    };
    a == b || whole(a).zip(whole(b)).is_some_and(|(a, b)| a == b || roots.root(a).overlaps(roots.root(b)) == Some(true))
}
