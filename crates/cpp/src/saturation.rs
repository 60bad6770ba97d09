//! Whether a conversion saturates that is called without a mode: the types decide.

use slipring_ir::{Attr, Module, ValueId};
use slipring_op::OpDef;

/// The attributes of a call of the tile library, with the saturation that a conversion without a mode has there.
pub(crate) fn with_saturation(
    module: &Module,
    def: &'static OpDef,
    operands: &[(&str, &[ValueId])],
    mut attrs: Vec<(&'static str, Attr)>,
) -> Vec<(&'static str, Attr)> {
    let elem = |wanted: &str| {
        let (_, ids) = operands.iter().find(|(name, _)| *name == wanted)?;
        module.ty(*ids.first()?).elem()
    };
    if let (true, Some(from), Some(to)) = (std::ptr::eq(def, &slipring_pto::TCVT), elem("src"), elem("dst")) {
        let own = slipring_pto::saturation(slipring_pto::saturates_without_a_mode(from, to));
        if attrs.iter().all(|(name, _)| *name != own.0) {
            attrs.push(own);
        }
    }
    attrs
}
