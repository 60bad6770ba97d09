//! Attributes of a function: `@pl.function(attrs={…})`, and `pl.func_attr({…})` at the beginning of its body.

use slipring_ir::{Diagnostic, Span};
use slipring_machine::CoreKind;

use crate::roles::Role;
use crate::value::{Const, SPLIT_MODES, Split};

/// The maximum number of blocks of a launch.
const MOST_BLOCKS: i64 = 4096;
/// The maximum number of slots of a ring with a flag for each slot.
const MOST_SLOTS: i64 = 8;

/// Keys that affect only the public compiler and its runtime, and no result: allocation ahead of a task, dumps.
const WITHOUT_EFFECT: &[&str] = &["allow_early_resolve", "windowize", "dump_vars"];

/// All keys.
const KEYS: &[&str] = &[
    "split",
    "slot_num",
    "core_num",
    "sync_start",
    "dual_aiv_dispatch",
    "split_aiv",
    "allow_early_resolve",
    "windowize",
    "dump_vars",
    "auto_scope",
    "exact_slices",
];

/// Properties of a function besides its parameters and its body.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct FunctionAttrs {
    /// The division of its Vector work.
    pub split: Option<(Split, Span)>,
    /// The split of its own pushes and pops that do not specify one, in a function for one kind of core.
    pub ends: Option<Split>,
    /// True if the effect on its parameters is inferred from its body where they do not declare it.
    pub opaque: bool,
    /// Slots of each ring that the compiler makes.
    pub slots: Option<i64>,
    /// Blocks of its launch.
    pub blocks: Option<u32>,
    /// True if its blocks start at the same time.
    pub together: bool,
    /// Whether both Vector cores run it, if specified.
    pub both_lanes: Option<bool>,
    /// True if slices past the end of their tensor are errors, instead of ending with it.
    pub exact_slices: bool,
    /// True if its parameters declare their shapes, so that a call does not determine them.
    pub shapes_said: bool,
    /// True if its decorator is used for kernels as well as for whole programs: its body decides which it is.
    pub may_be_program: bool,
    /// True if it places the runtime scopes itself: `auto_scope=False`.
    pub own_scopes: bool,
}

impl FunctionAttrs {
    /// Sets the attribute with this key for a function of this role; else returns the error, or a note that it has no
    /// effect.
    pub fn take(&mut self, key: &str, value: Option<&Const>, role: Role, place: Span) -> Option<Diagnostic> {
        let wrong =
            |what: &str| Some(Diagnostic::error("function-attr", place, format!("`{key}` of a function is {what}")));
        let no_effect = |why: &str| {
            Some(
                Diagnostic::warning("function-attr", place, format!("`{key}` has no effect on this function"))
                    .help(why),
            )
        };
        let whole = |most: i64| match value {
            Some(Const::Int(n)) if (1..=most).contains(n) => Some(*n),
            _ => None,
        };
        let one_kind = matches!(role, Role::Kernel(Some(_)));
        let kernel = matches!(role, Role::Kernel(None));
        match key {
            "split" => {
                let mode = match value {
                    Some(Const::Split(mode)) => *mode,
                    Some(Const::Int(n @ 0..=2)) => SPLIT_MODES[*n as usize].1,
                    _ => return wrong("a mode such as `pl.SplitMode.UP_DOWN`"),
                };
                if mode == Split::None {
                    return None;
                }
                if one_kind {
                    self.ends = Some(mode);
                    return None;
                }
                if !kernel {
                    return no_effect("only a kernel for both kinds of core is divided");
                }
                if let Some((_, first)) = self.split.filter(|own| own.0 != mode) {
                    return wrong("one mode only").map(|error| error.also(first, "another one is asked for here"));
                }
                self.split = Some((mode, place));
            }
            "slot_num" => {
                self.slots = whole(MOST_SLOTS);
                if self.slots.is_none() {
                    return wrong("a number of slots from 1 to 8");
                }
                if !kernel {
                    return no_effect("only the rings of a kernel for both kinds of core are made by the compiler");
                }
            }
            "core_num" => match whole(MOST_BLOCKS) {
                Some(n) => self.blocks = u32::try_from(n).ok(),
                None => return wrong("a number of blocks from 1 to 4096"),
            },
            "sync_start" => match value {
                Some(Const::Bool(together)) => self.together = *together,
                _ => return wrong("True or False"),
            },
            "dual_aiv_dispatch" => match (value, role) {
                (Some(Const::Bool(both)), Role::Kernel(Some(CoreKind::Vector))) => self.both_lanes = Some(*both),
                (Some(Const::Bool(false)), _) => {}
                (Some(Const::Bool(true)), _) => {
                    return no_effect("it says whether both Vector cores run a function of type AIV");
                }
                _ => return wrong("True or False"),
            },
            "split_aiv" => match value {
                Some(Const::Bool(false)) => {}
                // The form after the public compiler's passes: its text is that of one lane.
                Some(Const::Bool(true)) if one_kind => {
                    if role == Role::Kernel(Some(CoreKind::Vector)) {
                        self.both_lanes.get_or_insert(true);
                    }
                }
                Some(Const::Bool(true)) => {
                    let error = wrong("the public compiler's mark of what its own passes have divided");
                    return error.map(|error| error.help("write the lanes: `for lane in pl.split_aiv(2, mode=…):`"));
                }
                _ => return wrong("True or False"),
            },
            "exact_slices" => match value {
                Some(Const::Bool(exact)) => self.exact_slices = *exact,
                _ => return wrong("True or False"),
            },
            "auto_scope" => match value {
                Some(Const::Bool(by_compiler)) => self.own_scopes = !by_compiler,
                _ => return wrong("True or False"),
            },
            other if WITHOUT_EFFECT.contains(&other) => {}
            other => {
                let error = Diagnostic::error("function-attr", place, format!("a function has no attribute `{other}`"));
                return Some(match slipring_ir::text::nearest(other, KEYS.iter().copied()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("it has {}", KEYS.join(", "))),
                });
            }
        }
        None
    }
}

/// The keyword arguments of a decorator of the language.
pub(crate) fn options_of(decorator: &str) -> &'static [&'static str] {
    match decorator {
        "pl.function" => &["type", "level", "role", "attrs", "auto_scope", "strict_ssa", "external_source"],
        "pl.jit" | "pl.jit.host" | "pl.jit.inline" => &["auto_scope"],
        "pl.jit.incore" | "pl.incore" | "pl.kernel" => &["level"],
        "pl.program" => &["strict_ssa"],
        _ => &[],
    }
}
