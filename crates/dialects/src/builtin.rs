//! The `builtin` dialect: modules.

use slipring_ir::{AttrKind, OpSchema, Syntax};

use crate::def::{CoreRule, InCoreSync, OpDef, PipeRule, no_rules};
use crate::rules::{defaulted, schema};

/// Its ops.
pub(crate) const OPS: &[&OpDef] = &[&MODULE];

static MODULE: OpDef = OpDef {
    schema: OpSchema {
        aliases: &["module"],
        regions: &["body"],
        ..schema(
            "builtin.module",
            Syntax::Format("$sym_name (`attributes` attr-dict)? $body"),
            &[],
            &[],
            &[
                defaulted("sym_name", AttrKind::Symbol, "its name"),
                defaulted("pto.target_arch", AttrKind::Str, "the platform that the text is for"),
                defaulted("pto.device-spec", AttrKind::Str, "the chip that the text is for; not used"),
            ],
        )
    },
    summary: "A module: functions that belong together",
    doc: "`module attributes {pto.target_arch = \"a5\"} { … }`. The target is the default of `--arch`.",
    source: "MLIR, builtin dialect",
    core: CoreRule::Any,
    pipe: PipeRule::None,
    ring: None,
    per_lane: false,
    mixed: None,
    in_core_sync: InCoreSync::No,
    verify: no_rules,
    lower: |_, _| Ok(()),
};
