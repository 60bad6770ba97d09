//! The `builtin` dialect: modules.

use slipring_ir::function::SYMBOL;
use slipring_ir::{AttrKind, Diags, Part, Syntax};

use slipring_machine::{Platform, built_in};
use slipring_op::def::OpRef;
use slipring_op::function::{CHIP, KIND, PLATFORM};
use slipring_op::ops;
use slipring_op::rules::{PLAIN, defaulted};

ops! {
    OPS;

    /// `module attributes {pto.target_arch = "a5"} { … }`. The target is the default of `--arch`; `pto.device-spec =
    /// "Ascend910B1"` says it by a chip.
    pub MODULE "builtin.module" "A module: functions that belong together": PLAIN, source: "MLIR, builtin dialect",
        verify: verify_module, lower: |_, _| Ok(())
        => {
            syntax: Syntax::Format("$sym_name (`attributes` attr-dict)? $body"),
            attrs: &[
                defaulted(SYMBOL, AttrKind::Symbol, "its name"),
                defaulted(PLATFORM, AttrKind::Str, "the platform that the text is for"),
                defaulted(CHIP, AttrKind::Str, "the chip that the text is for, where no platform is named"),
                defaulted(KIND, AttrKind::Any, "`#pto.kernel_kind<cube>` or `<vector>`: the core of all its functions"),
            ],
            aliases: &["module"],
            regions: &["body"],
            part: Part::Module,
        };
}

fn verify_module(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let platform = |name: &str| op.text(name).map(|text| (text, built_in(text).map(|platform| platform.name)));
    if let (Some((_, Ok(named))), Some((chip, Ok(of_chip)))) = (platform(PLATFORM), platform(CHIP))
        && named != of_chip
    {
        let message = format!("`{chip}` is a chip of {of_chip}, and the text is for {named}");
        diags.push(op.error("device-spec", message));
    }
}
