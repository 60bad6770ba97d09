//! The `builtin` dialect: modules.

use slipring_ir::function::SYMBOL;
use slipring_ir::{AttrKind, OpSchema, Part, Syntax};

use slipring_op::def::OpDef;
use slipring_op::function::PLATFORM;
use slipring_op::rules::{PLAIN, defaulted, schema};

/// Its ops.
pub(crate) const OPS: &[&OpDef] = &[&MODULE];

pub static MODULE: OpDef = OpDef {
    schema: OpSchema {
        aliases: &["module"],
        regions: &["body"],
        part: Part::Module,
        ..schema(
            "builtin.module",
            Syntax::Format("$sym_name (`attributes` attr-dict)? $body"),
            &[],
            &[],
            &[
                defaulted(SYMBOL, AttrKind::Symbol, "its name"),
                defaulted(PLATFORM, AttrKind::Str, "the platform that the text is for"),
                defaulted("pto.device-spec", AttrKind::Str, "the chip that the text is for; not used"),
            ],
        )
    },
    summary: "A module: functions that belong together",
    doc: "`module attributes {pto.target_arch = \"a5\"} { … }`. The target is the default of `--arch`.",
    source: "MLIR, builtin dialect",
    lower: |_, _| Ok(()),
    ..PLAIN
};
