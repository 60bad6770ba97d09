//! From a text to a program.

use std::sync::Arc;

use slipring_dialects::Dialects;
use slipring_ir::{Diagnostic, Diags, Line, Module, Severity, Source};
use slipring_lang::KernelInfo;
use slipring_machine::{Platform, PlatformError, built_in};
use slipring_op::{Decoded, Decoding, Kernel, decode, names, needed_functions, select_kernel};
use slipring_passes::analysis::facts::syncs;
use slipring_passes::sync::insert_sync;
use slipring_passes::{InsertSync, Outcome, PassContext, run_passes};

/// Reads a text. The module is usable only if the diagnostics contain no error.
pub fn load(source: impl Into<Arc<Source>>) -> (Module, Diags) {
    let (mut module, mut diags) = slipring_ir::text::parse(source.into(), &Dialects::get().registry);
    if !diags.has_errors() {
        slipring_passes::blocks::structure(&mut module, &mut diags);
    }
    if !diags.has_errors() {
        slipring_op::complete_tiles(&mut module, &mut diags);
    }
    (module, diags)
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its functions; usable only if `diags` contains no error.
    pub module: Module,
    /// Its diagnostics.
    pub diags: Diags,
    /// Shapes and directions of the parameters, if the file declares them, as in the kernel language.
    pub kernels: Vec<KernelInfo>,
}

/// Reads a file without a request: the kernel language if its name ends in `.py`, C++ if it has such an extension,
/// otherwise a text.
pub fn load_file(source: Source) -> Loaded {
    if source.language {
        let (compiled, diags) = slipring_lang::compile(Arc::new(source));
        return Loaded { module: compiled.module, diags, kernels: compiled.kernels };
    }
    let (module, diags) = load_text(Arc::new(source));
    Loaded { module, diags, kernels: Vec::new() }
}

/// Reads anything but the kernel language: C++, or a text.
pub(crate) fn load_text(source: Arc<Source>) -> (Module, Diags) {
    if source.cpp { load_cpp(source) } else { load(source) }
}

/// The declarations that names of a C++ text are looked up in.
#[cfg(feature = "cpp")]
pub(crate) fn table() -> &'static slipring_op::Table {
    Dialects::get()
}

/// Reads a C++ text.
#[cfg(feature = "cpp")]
fn load_cpp(source: Arc<Source>) -> (Module, Diags) {
    let (mut module, diags) = slipring_cpp::read(source, table());
    if !diags.has_errors() {
        crate::authors::show_authors_lines(&mut module);
    }
    (module, diags)
}

/// Reports that it cannot be read.
#[cfg(not(feature = "cpp"))]
fn load_cpp(source: Arc<Source>) -> (Module, Diags) {
    let mut diags = Diags::default();
    let message = "this slipring was built without the C++ parser";
    let error = Diagnostic::nowhere("cpp-absent", Severity::Error, message);
    diags.push(error.help("build it with the feature `cpp`, which needs a C compiler"));
    (Module::new(source), diags)
}

/// Maximum number of functions in a file: requests about all of them are made for each.
const MOST_FUNCTIONS: usize = 16384;

/// Reads a platform file.
///
/// # Errors
/// Unknown contents, or an instruction that does not exist.
pub fn read_platform(text: &str) -> Result<Platform, PlatformError> {
    let platform = slipring_machine::parse(text)?;
    check_ops(&platform)?;
    Ok(platform)
}

/// Checks that costs are listed only for declared instructions.
fn check_ops(platform: &Platform) -> Result<(), PlatformError> {
    let names = Dialects::get().all().iter().map(|def| def.schema.name);
    platform.check_ops(names.filter_map(|name| names::of_tiles(name)))
}

/// Checks a module that was read without errors against the declarations and the platform, and how kernels for both
/// kinds of core divide their work, and results that overwrite their sources too early. Reports every error, and warns
/// of tiles that overwrite each other.
pub fn check(module: &Module, platform: &Platform, diags: &mut Diags) {
    check_rules(module, platform, diags);
    if !diags.has_errors() {
        slipring_passes::memory::allocate::apart(module, platform, diags);
    }
    // In C++, tiles at one address are one tile under several names.
    if !diags.has_errors() && !module.source.cpp {
        slipring_passes::memory::allocate::overwritten(module, platform, diags);
    }
}

/// As [`check`], without warnings about tiles that overwrite each other.
pub(crate) fn check_rules(module: &Module, platform: &Platform, diags: &mut Diags) {
    let mut functions = module.functions().skip(MOST_FUNCTIONS);
    if let Some(first) = functions.next() {
        let message = format!(
            "a file has at most {MOST_FUNCTIONS} functions, this one has {}",
            MOST_FUNCTIONS + 1 + functions.count()
        );
        diags
            .push(Diagnostic::error("too-many-functions", module.op(first).span, message).help("divide it into files"));
        return;
    }
    slipring_op::verify(Dialects::get(), module, platform, diags);
    if !diags.has_errors() {
        slipring_passes::split::check_split::check(module, diags);
        slipring_passes::sync::semaphores::check(module, platform, diags);
    }
}

/// The platform of a run: the requested one, otherwise the module's `pto.target_arch`, otherwise A5.
///
/// # Errors
/// If no platform has that name.
pub fn choose_platform(asked: Option<&str>, module: &Module) -> Result<Platform, PlatformError> {
    built_in(asked.or(written_platform(module)).unwrap_or("a5"))
}

pub use slipring_op::function::written_platform;

/// A kernel ready to run.
#[derive(Debug)]
pub struct Prepared {
    /// The module as written.
    pub written: Module,
    /// The module after the passes.
    pub module: Module,
    /// The kernel of `written`.
    pub kernel: Kernel,
    /// What has the sequential semantics, where it is not `written`: a function for both kinds of core that pushes and
    /// pops by itself means what its two programs do, and vector instructions are part of a vector function though none
    /// is written.
    pub apart: Option<(Module, Kernel)>,
    /// The program.
    pub decoded: Decoded,
    /// Who synchronises the pipes of its cores.
    pub flags: Flags,
}

/// Who synchronises the pipes of a program's cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flags {
    /// Nothing does.
    None,
    /// The text does.
    ByHand,
    /// The compiler does, in some functions at least.
    Inserted,
}

impl Flags {
    /// The term used in facts.
    pub fn word(self) -> &'static str {
        match self {
            Flags::None => "none",
            Flags::ByHand => "by hand",
            Flags::Inserted => "inserted",
        }
    }
}

/// The functions of a text that get flags: none if one of them synchronises manually, unless requested.
pub(crate) fn which_get_flags(written: &Module, asked: bool) -> InsertSync {
    match asked {
        // Code that ships is checked unchanged.
        _ if written.source.cpp => InsertSync::Never,
        true => InsertSync::Asked,
        // Kernels of one file of the language are compiled separately.
        false if !is_language(&written.source) && syncs(written) > 0 => InsertSync::Never,
        false => InsertSync::WhereNone,
    }
}

impl Prepared {
    /// The line of the text, from 1, of a location in the program; `None` if it has none.
    pub fn row(&self, site: u32) -> Option<usize> {
        let span = self.decoded.program.sites.get(site as usize)?.span;
        (span.1 > span.0).then(|| self.written.source.line_column(span.0).0)
    }

    /// As [`Prepared::row`], as a line of the file that it comes from.
    pub fn line(&self, site: u32) -> Option<Line> {
        self.row(site).map(|row| self.written.source.shown_line(row))
    }

    /// The kernel as text, before the passes: the text that was read, or the output of compiling the kernel language,
    /// without source locations. It does not depend on the file's path.
    pub fn text(&self) -> String {
        let source = &self.written.source;
        match is_language(source) || source.cpp {
            true => slipring_ir::text::print(&self.written.without_places()),
            false => source.text.clone(),
        }
    }
}

/// True for a file of the kernel language.
pub fn is_language(source: &Source) -> bool {
    source.language
}

/// Chooses the kernel of a checked module, runs the passes on what it needs of the module and decodes it. `None` if
/// that reported an error.
pub fn prepare(written: Module, function: Option<&str>, platform: &Platform, diags: &mut Diags) -> Option<Prepared> {
    prepare_with(written, function, platform, false, diags)
}

/// As [`prepare`], where functions without flags may get some although others of the text have manual ones.
pub(crate) fn prepare_with(
    written: Module,
    function: Option<&str>,
    platform: &Platform,
    asked: bool,
    diags: &mut Diags,
) -> Option<Prepared> {
    let prepared = try_prepare(written, function, platform, asked, diags);
    if prepared.is_none() && !diags.has_errors() {
        let error = Diagnostic::nowhere("internal", Severity::Error, UNSAID);
        diags.push(error.help("please report the input"));
    }
    prepared
}

/// A module with only the functions that one of its kernels needs; `None` if the kernel cannot be determined.
pub fn needed(module: &Module, function: Option<&str>) -> Option<Module> {
    let kernel = select_kernel(module, function, &mut Diags::default())?;
    Some(needed_of(module, &kernel))
}

/// A module without the functions that a kernel does not need.
pub(crate) fn needed_of(module: &Module, kernel: &Kernel) -> Module {
    let needed = needed_functions(module, kernel);
    // Everything inside a needed function belongs to it.
    let inside = |op| module.parent_op(op).is_some_and(|parent| module.function_of(parent).is_some());
    module.only(|op| !module.is_function(op) || needed.contains(&op) || inside(op))
}

/// The message if a crate refuses a program without a reason.
const UNSAID: &str = "internal error: slipring cannot decode this program and does not know why";

fn try_prepare(
    written: Module,
    function: Option<&str>,
    platform: &Platform,
    asked: bool,
    diags: &mut Diags,
) -> Option<Prepared> {
    let kernel = select_kernel(&written, function, diags)?;
    let mut module = needed_of(&written, &kernel);
    let by_hand = slipring_passes::has_rings_by_hand(&module);
    let mut apart = None;
    let (mut own, mut inserted, count) = (syncs(&module), 0, module.op_count());
    let keep = |pass: &slipring_passes::Pass, module: &Module| {
        let now = syncs(module);
        match pass.name == insert_sync::PASS.name {
            true => inserted = now.saturating_sub(own),
            false => own = now,
        }
        let scopes = pass.name == slipring_passes::scopes::PASS.name && module.op_count() != count;
        if scopes || by_hand && pass.name == slipring_passes::split::expand_mixed::PASS.name {
            apart = Some(module.clone());
        }
    };
    let context = PassContext { platform, insert_sync: which_get_flags(&written, asked) };
    if run_passes(&mut module, &context, None, diags, keep) != Outcome::Done {
        return None;
    }
    let flags = match (inserted, own) {
        (0, 0) => Flags::None,
        (0, _) => Flags::ByHand,
        _ => Flags::Inserted,
    };
    let apart = match apart {
        Some(module) => select_kernel(&module, function, diags).map(|kernel| (module, kernel)),
        None => None,
    };
    let chosen = select_kernel(&module, function, diags)?;
    let decoded = decode(&module, &chosen, platform, Decoding::Device, diags).ok()?;
    Some(Prepared { written, module, kernel, apart, decoded, flags })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_the_built_in_platforms_are_those_of_declared_instructions() {
        for name in slipring_machine::BUILT_IN {
            check_ops(&built_in(name).unwrap()).unwrap();
        }
    }

    #[test]
    fn an_instruction_that_is_not_declared_is_refused() {
        let text = include_str!("../../../platforms/a5.toml").replace("vrelu = [", "vrelo = [");
        let error = read_platform(&text).unwrap_err().to_string();
        assert_eq!(error, "`vector_function.op`: `vrelo` is not a vector instruction: did you mean `vrelu`?");
    }
}
