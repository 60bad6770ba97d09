//! Quantisation modes of accumulator stores.

use slipring_ir::EnumSpec;
use slipring_tile::Elem;

/// `pre_quant(…, mode = …)`.
pub(super) const QUANT_PRE: &EnumSpec = &EnumSpec {
    kind: "quant_pre_mode",
    numbered: false,
    members: &[
        "f32_f16",
        "f32_bf16",
        "qf322hif8_pre_vec",
        "qf322hif8_pre_scalar",
        "qf322hif8_pre_hybrid_vec",
        "qf322hif8_pre_hybrid_scalar",
        "deqs32_int_vec",
        "deqs32_int_scalar",
        "req8_vec",
        "req8_scalar",
        "deqf16_vec",
        "deqf16_scalar",
        "qf322fp8_pre_vec",
        "qf322fp8_pre_scalar",
        "qf322f32_pre_vec",
        "qf322f32_pre_scalar",
        "qf162b8_pre_vec",
        "qf162b8_pre_scalar",
        "qf162s4_pre_vec",
        "qf162s4_pre_scalar",
        "req4_vec",
        "req4_scalar",
        "qf322b8_pre_vec",
        "qf322b8_pre_scalar",
        "qf322s4_pre_vec",
        "qf322s4_pre_scalar",
        "deqs16_vec",
        "deqs16_scalar",
        "qf162s16_pre_vec",
        "qf162s16_pre_scalar",
        "qf322f16_pre_vec",
        "qf322f16_pre_scalar",
        "qf322bf16_pre_vec",
        "qf322bf16_pre_scalar",
        "qs322bf16_pre_vec",
        "qs322bf16_pre_scalar",
    ],
};

/// The effect of a mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuantMode {
    /// Element type of the accumulator.
    pub from: Elem,
    /// Possible element types of the result; empty for modes whose types slipring does not have.
    pub to: &'static [Elem],
    /// True if values are first rounded to `f16`.
    pub half: bool,
    /// True if the payload is a scale.
    pub scaled: bool,
    /// True if there is a separate payload for each column.
    pub table: bool,
}

const F8: &[Elem] = &[Elem::F8E4M3, Elem::F8E5M2];
const B8: &[Elem] = &[Elem::I8, Elem::U8];

/// Families of modes with a scale: accumulator, results, whether a value is first rounded to `f16`.
const FAMILIES: &[(&str, Elem, &[Elem], bool)] = &[
    ("qf322hif8_pre", Elem::F32, &[Elem::HiF8], false),
    ("qf322hif8_pre_hybrid", Elem::F32, &[], false),
    ("deqs32_int", Elem::I32, &[Elem::I32], false),
    ("req8", Elem::I32, B8, false),
    ("deqf16", Elem::I32, &[Elem::F16], false),
    ("qf322fp8_pre", Elem::F32, F8, false),
    ("qf322f32_pre", Elem::F32, &[Elem::F32], false),
    ("qf162b8_pre", Elem::F32, B8, true),
    ("qf162s4_pre", Elem::F32, &[], true),
    ("req4", Elem::I32, &[], false),
    ("qf322b8_pre", Elem::F32, B8, false),
    ("qf322s4_pre", Elem::F32, &[], false),
    ("deqs16", Elem::I32, &[Elem::I16], false),
    ("qf162s16_pre", Elem::I32, &[Elem::I16], true),
    ("qf322f16_pre", Elem::F32, &[Elem::F16], false),
    ("qf322bf16_pre", Elem::F32, &[Elem::BF16], false),
    ("qs322bf16_pre", Elem::I32, &[Elem::BF16], false),
];

/// The mode of a name.
pub(super) fn quant_mode(name: &str) -> Option<QuantMode> {
    let convert = |to| Some(QuantMode { from: Elem::F32, to, half: false, scaled: false, table: false });
    match name {
        "f32_f16" => return convert(&[Elem::F16]),
        "f32_bf16" => return convert(&[Elem::BF16]),
        _ => {}
    }
    let (family, table) = match name.strip_suffix("_vec") {
        Some(family) => (family, true),
        None => (name.strip_suffix("_scalar")?, false),
    };
    let (_, from, to, half) = *FAMILIES.iter().find(|(known, ..)| *known == family)?;
    Some(QuantMode { from, to, half, scaled: true, table })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_mode() {
        for name in QUANT_PRE.members {
            assert!(quant_mode(name).is_some(), "{name}");
        }
        assert_eq!(QUANT_PRE.members.len(), 2 * FAMILIES.len() + 2);
    }
}
