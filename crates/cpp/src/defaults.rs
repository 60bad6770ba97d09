//! What a call of the tile library means where it leaves something out that the op's text must have.

use slipring_ir::{Attr, Module, ValueId};
use slipring_op::OpDef;
use slipring_pto as pto;

/// The attributes of a call: with the saturation of a conversion without a mode, which the types decide, and the axis
/// of a scatter by a pattern.
pub(crate) fn with_defaults(
    module: &Module,
    def: &'static OpDef,
    operands: &[(&str, &[ValueId])],
    mut attrs: Vec<(&'static str, Attr)>,
) -> Vec<(&'static str, Attr)> {
    let elem = |wanted: &str| {
        let (_, ids) = operands.iter().find(|(name, _)| *name == wanted)?;
        module.ty(*ids.first()?).elem()
    };
    if let (true, Some(from), Some(to)) = (std::ptr::eq(def, &pto::TCVT), elem("src"), elem("dst")) {
        let own = pto::saturation(pto::saturates_without_a_mode(from, to));
        if attrs.iter().all(|(name, _)| *name != own.0) {
            attrs.push(own);
        }
    }
    if std::ptr::eq(def, &pto::TSCATTER) {
        pto::scatter_along_rows(&mut attrs);
    }
    attrs
}
