//! Programs after the passes, printed for slipring or another tool.

use std::time::{Duration, Instant};

use slipring_dialects::Dialects;
use slipring_ir::{Diags, Module, Severity, Source, difference_but_for_names};
use slipring_lang::KernelInfo;
use slipring_machine::Platform;
use slipring_op::target::Target;
use slipring_passes::{Pass, PassContext, chosen, pass, verify_after};
use slipring_pto::targets::{TARGETS, target};

use crate::prepare::{which_get_flags, written_platform};

/// A program read for a platform, with the resulting diagnostics.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The program.
    pub module: Module,
    /// Its platform.
    pub platform: Platform,
    /// The diagnostics.
    pub diags: Diags,
    /// Kernels of the kernel language, in the order of the text.
    pub kernels: Vec<KernelInfo>,
}

/// Options of a build.
#[derive(Clone, Copy, Default, Debug)]
pub struct BuildOptions<'a> {
    /// The target tool, if it is not slipring.
    pub target: Option<&'static Target>,
    /// The only passes that run, in this order; all in the default order if none is named.
    pub passes: &'a [String],
    /// The last pass to run; all requested ones if none is named.
    pub last: Option<&'a str>,
    /// Whether to check the program against the declarations after each pass.
    pub verify: bool,
    /// Whether to insert flags into functions without any although others have manual ones.
    pub insert_sync: bool,
}

/// A program after the passes.
#[derive(Clone, Debug)]
pub struct BuiltProgram {
    /// The program.
    pub module: Module,
    /// Its platform, with the target's ring configuration, if it has one.
    pub platform: Platform,
    /// The diagnostics; with errors the program is unusable.
    pub diags: Diags,
    head: String,
    target: Option<&'static Target>,
}

/// The points at which an observer sees the program between passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassStage {
    /// The pass is about to run.
    Before,
    /// It has run, with its duration.
    After(Duration),
}

/// Runs the passes. `watch` receives the program before and after each pass that runs.
pub fn build(
    opened: Opened,
    options: BuildOptions<'_>,
    mut watch: impl FnMut(PassStage, &Pass, &Module),
) -> BuiltProgram {
    let Opened { mut module, mut platform, mut diags, kernels } = opened;
    let target = options.target;
    if let Some(target) = target.filter(|_| !diags.has_errors()) {
        platform = slipring_passes::target::platform_for(target, &platform);
        slipring_passes::target::before(&mut module, target, &platform, &mut diags);
    }
    let context = PassContext { platform: &platform, insert_sync: which_get_flags(&module, options.insert_sync) };
    let last = options.last.and_then(pass).map(|pass| pass.name);
    let whole = options.passes.is_empty();
    let asked = chosen(options.passes, last);
    let upto = asked.iter().position(|pass| Some(pass.name) == last).map_or(asked.len(), |at| at + 1);
    let whole = whole && upto == asked.len();
    for pass in &asked[..upto] {
        if diags.has_errors() {
            break;
        }
        watch(PassStage::Before, pass, &module);
        let start = Instant::now();
        (pass.run)(&mut module, &context, &mut diags);
        watch(PassStage::After(start.elapsed()), pass, &module);
        if options.verify && !diags.has_errors() {
            diags.list.extend(verify_after(pass, &module, Dialects::get(), &platform).list);
        }
    }
    // After single passes alone the program may still be incomplete.
    if whole && !diags.has_errors() {
        diags.list.extend(crate::judge::wrong_in_built(&module, &platform));
    }
    let head = crate::head_lines(&module, &kernels, &platform);
    if let Some(target) = target.filter(|_| !diags.has_errors()) {
        slipring_passes::target::after(&mut module, target, &platform, &mut diags);
    }
    BuiltProgram { module, platform, diags, head, target }
}

impl BuiltProgram {
    /// The tool's name for the platform, if the text contains it.
    pub fn arch(&self) -> Option<&str> {
        written_platform(&self.module)
    }

    /// Its text.
    ///
    /// # Errors
    /// If the text does not represent the program, which is a defect of slipring.
    pub fn text(&self) -> Result<String, String> {
        let program = match self.target {
            Some(target) => slipring_ir::text::print_in(&self.module, target.spelling),
            None => slipring_ir::text::print(&self.module),
        };
        let text = format!("{}{program}", self.head);
        // The program that is read back differs only if printing is wrong. Builds with assertions verify it, as those
        // of all tests do.
        if cfg!(debug_assertions) {
            reads_back(&text, &self.module)?;
        }
        Ok(text)
    }
}

/// The target with this name.
///
/// # Errors
/// The available names.
pub fn find_target(name: &str) -> Result<&'static Target, String> {
    target(name).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| format!("`{}`", target.name)).collect();
        format!("there is no target `{name}`; the targets are {}", names.join(", "))
    })
}

/// Parses the text to be written, to verify that it represents the program that was checked.
///
/// # Errors
/// The difference, which is a defect of slipring with no location in the author's text.
fn reads_back(text: &str, built: &Module) -> Result<(), String> {
    let (module, diags) = crate::load(Source::new("output", text));
    let error = diags.list.iter().find(|d| d.severity == Severity::Error);
    let other = match error {
        Some(error) => Some(format!("{} ({})", error.message, error.code)),
        None => difference_but_for_names(built, &module),
    };
    other.map_or(Ok(()), |other| {
        Err(format!("the text of the built program does not say what was built: {other}; please report the input"))
    })
}
