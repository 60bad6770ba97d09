//! A kernel: from a file to its runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use slipring_board::run_on_board;
use slipring_ir::{Diagnostic, Module, Source};
use slipring_lang::{KernelInfo, Strided};
use slipring_machine::Platform;
use slipring_program::{Param, ParamKind};
use slipring_prove::prove_kernel;
use slipring_report::MemoryFacts;
use slipring_session::args::Defaults;
use slipring_session::compiled::{Choice, bind_to, known_interpretations};
use slipring_session::launch::{arguments, blocks, info, mismatch_text, of_kernel};
use slipring_session::parts::run_part;
use slipring_session::{Bound, Compiled, Input, memory_uses, rings};

use crate::{
    Args, BoardOptions, BoardRun, CompileRequest, Error, Loaded, MemoryUse, Parameter, Part, Proof, ProveOptions,
    Report, RingReport, Run, RunOptions, Tensor, choose_platform, head_lines, memory_map,
};

/// A value that a kernel returns: the index of the parameter that it is, and the part of it unless it is all of it;
/// `None` for a value that is not a tensor.
pub type ReturnedValue = Option<(usize, Option<Strided>)>;

/// A kernel of a file, for one platform.
///
/// ```
/// use slipring::{Kernel, Tensor};
/// # let folder = std::env::temp_dir().join(format!("slipring-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # std::env::set_current_dir(&folder)?;
/// # std::fs::write("k.py", "
/// # import slipring.language as pl
/// #
/// # @pl.jit
/// # def double(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
/// #     out[:] = pl.mul(a[:, :], 2.0)
/// # ")?;
/// let a: Vec<f32> = (0..64 * 64).map(|n| n as f32).collect();
///
/// let kernel = Kernel::open("k.py")?.platform("a5")?;
/// let run = kernel.run([Tensor::view(&a, [64, 64]), Tensor::zeros([64, 64])])?; // checks on by default
/// let out: Vec<f32> = run.get("out")?;
/// assert_eq!(out[5], 10.0);
///
/// assert!(run.findings().messages().is_empty());
/// assert!(run.verdict().is_clean(), "{}", run.verdict());
/// assert!(run.timeline().events.iter().any(|event| event.op.contains("mul")));
/// run.verify()?; // the same bytes as the sequential semantics of the source
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kernel {
    module: Module,
    said: Vec<Diagnostic>,
    kernels: Vec<KernelInfo>,
    platform: Option<Platform>,
    interpretations: Vec<String>,
    choice: Choice,
    compiled: OnceLock<Arc<Compiled>>,
}

impl Kernel {
    /// Reads a file: the kernel language if its name ends in `.py`, else a text.
    ///
    /// # Errors
    /// If it cannot be read or has errors.
    pub fn open(path: impl AsRef<Path>) -> Result<Kernel, Error> {
        Kernel::of(&Input::open(path, &CompileRequest::default())?)
    }

    /// Reads a text. Its name determines the language, as for [`Kernel::open`], and appears in messages.
    ///
    /// # Errors
    /// If it is empty or has errors.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> Result<Kernel, Error> {
        Kernel::of(&Input::read(&name.into(), text.into().into_bytes(), &CompileRequest::default())?)
    }

    /// This kernel with another text: the same platform, interpretations and function.
    ///
    /// # Errors
    ///
    /// If the text has errors.
    pub(crate) fn with_text(&self, text: String) -> Result<Kernel, Error> {
        let own = &self.module.source;
        let asked = CompileRequest::default().language(Some(own.lang()));
        let kernel = Kernel::of(&Input::read(&own.name, text.into_bytes(), &asked)?)?;
        let (platform, interpretations) = (self.platform.clone(), self.interpretations.clone());
        let choice = Choice { slots: None, ..self.choice.clone() };
        Ok(Kernel { platform, interpretations, choice, ..kernel })
    }

    /// The kernels of an input, or the requested one.
    ///
    /// # Errors
    /// If the text has errors.
    pub(crate) fn of(input: &Input) -> Result<Kernel, Error> {
        let Loaded { module, diags, kernels } = input.loaded().clone();
        if diags.has_errors() {
            return Err(Error::text(module.source.clone(), diags));
        }
        let (said, compiled) = (diags.list, OnceLock::new());
        Ok(Kernel {
            module,
            said,
            kernels,
            platform: None,
            interpretations: Vec::new(),
            choice: Choice { function: input.asked().function_asked().map(Into::into), ..Choice::default() },
            compiled,
        })
    }

    /// Sets a built-in platform, `a5` or `a2a3`. The default is the platform that the file names, else A5.
    ///
    /// # Errors
    /// If no platform has that name.
    pub fn platform(self, name: &str) -> Result<Kernel, Error> {
        let platform = slipring_machine::built_in(name).map_err(|error| Error::Platform(error.to_string()))?;
        Ok(self.on(platform))
    }

    /// Sets a custom platform.
    pub fn on(mut self, platform: Platform) -> Kernel {
        self.platform = Some(platform);
        self.compiled = OnceLock::new();
        self
    }

    /// Selects the alternative interpretations of these names where public sources disagree
    /// ([`slipring_machine::interpretations`]).
    ///
    /// # Errors
    /// If no interpretation has such a name.
    pub fn interpretations<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Kernel, Error> {
        self.interpretations.extend(known_interpretations(names)?);
        self.compiled = OnceLock::new();
        Ok(self)
    }

    /// Selects the function, if the file has several kernels.
    pub fn function(mut self, name: impl Into<String>) -> Kernel {
        self.choice.function = Some(name.into());
        self.compiled = OnceLock::new();
        self
    }

    /// Inserts flags into functions that have none, even if other functions of the text synchronise by hand. If nothing
    /// in a text synchronises by hand, functions get flags in any case.
    pub fn insert_sync(mut self, asked: bool) -> Kernel {
        self.choice.insert_sync = asked;
        self.compiled = OnceLock::new();
        self
    }

    /// Sets the number of slots of each ring, overriding the text. Buffers that are passed for slots must be large
    /// enough.
    ///
    /// # Errors
    ///
    /// If a ring cannot have that many slots.
    pub fn slots(mut self, slots: u32) -> Result<Kernel, Error> {
        if !(1..=crate::DEEPEST).contains(&slots) {
            return Err(Error::Arguments(format!("a ring has from 1 to {} slots", crate::DEEPEST)));
        }
        self.choice.slots = Some(slots);
        self.compiled = OnceLock::new();
        Ok(self)
    }

    /// The name of the selected function, if one was selected.
    #[doc(hidden)]
    pub fn function_name(&self) -> Option<&str> {
        self.choice.function.as_deref()
    }

    /// The text from which the kernel was read.
    pub fn source(&self) -> &Source {
        &self.module.source
    }

    /// The target platform.
    fn target(&self) -> Result<Platform, Error> {
        let mut platform = match &self.platform {
            Some(platform) => platform.clone(),
            None => choose_platform(None, &self.module).map_err(|error| Error::Platform(error.to_string()))?,
        };
        platform.interpretations.extend(self.interpretations.iter().cloned());
        Ok(platform)
    }

    /// This kernel with its module changed.
    ///
    /// # Errors
    ///
    /// If the platform that it names is not known.
    #[doc(hidden)]
    pub fn altered(mut self, change: impl FnOnce(&mut Module, &Platform)) -> Result<Kernel, Error> {
        let platform = self.target()?;
        change(&mut self.module, &platform);
        self.compiled = OnceLock::new();
        Ok(self)
    }

    /// Checks and compiles the kernel, unless that has been done.
    ///
    /// # Errors
    ///
    /// If the text is wrong, or the platform that it names is not known.
    #[doc(hidden)]
    pub fn compiled(&self) -> Result<&Arc<Compiled>, Error> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let platform = self.target()?;
        let compiled = Compiled::of(&self.module, &self.said, &self.kernels, platform, &self.choice)?;
        Ok(self.compiled.get_or_init(|| Arc::new(compiled)))
    }

    /// Checks and compiles the kernel, and returns the messages that are not errors.
    ///
    /// # Errors
    ///
    /// If the text is wrong, or the platform that it names is not known.
    pub fn compile(&self) -> Result<Report, Error> {
        let compiled = self.compiled()?;
        Ok(Report::new(self.module.source.clone(), compiled.said.clone()))
    }

    /// The program before the first pass and after each pass, with the names of the passes.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn passes(&self) -> Result<Vec<(String, String)>, Error> {
        Ok(self.compiled()?.passes(self.choice.insert_sync))
    }

    /// The compiled program as `slipring build` writes it: its launch, the buffers of its rings, its text.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn text(&self) -> Result<String, Error> {
        let compiled = self.compiled()?;
        let module = &compiled.prepared.module;
        Ok(head_lines(module, &compiled.kernels, &compiled.platform) + &slipring_ir::text::print(module))
    }

    /// Name of the kernel.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn name(&self) -> Result<&str, Error> {
        Ok(&self.compiled()?.prepared.decoded.program.name)
    }

    /// Name of the platform for which it is compiled.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn platform_name(&self) -> Result<&str, Error> {
        Ok(&self.compiled()?.platform.name)
    }

    /// Its parameters.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn parameters(&self) -> Result<Vec<Parameter>, Error> {
        let compiled = self.compiled()?;
        let program = &compiled.prepared.decoded.program;
        let parameter = |(at, param): (usize, &Param)| {
            let declared = info(&compiled.kernels, &program.name, param);
            let (elem, is_buffer) = match param.kind {
                ParamKind::Buffer { elem, .. } => (Some(elem), true),
                ParamKind::Scalar(elem) => (Some(elem), false),
                ParamKind::Bool | ParamKind::Scratch { .. } => (None, false),
            };
            let shape = compiled.shapes.get(at).cloned().flatten();
            Parameter::new(&param.name, elem, shape, is_buffer, declared.map(|info| info.direction))
                .packed_as(declared.and_then(|info| info.packed))
        };
        Ok(program.params.iter().filter(|param| param.is_passed()).enumerate().map(parameter).collect())
    }

    /// The indices of the parameters that it makes itself, such as those of returned tiles: a caller need not pass them.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn made(&self) -> Result<Vec<usize>, Error> {
        let compiled = self.compiled()?;
        let program = &compiled.prepared.decoded.program;
        let passed = program.params.iter().filter(|param| param.is_passed()).enumerate();
        let made =
            passed.filter(|(_, param)| info(&compiled.kernels, &program.name, param).is_some_and(|own| own.made));
        Ok(made.map(|(at, _)| at).collect())
    }

    /// The values that it returns, in order.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn returned(&self) -> Result<Vec<ReturnedValue>, Error> {
        let (parameters, compiled) = (self.parameters()?, self.compiled()?);
        let own = of_kernel(&compiled.kernels, &compiled.prepared.decoded.program.name);
        let each = own.flat_map(|info| &info.gives).map(|given| {
            let at = parameters.iter().position(|parameter| parameter.name == given.param)?;
            Some((at, given.part.clone()))
        });
        Ok(each.collect())
    }

    /// Arguments in the syntax of the command line, one for each parameter. Without any, the arguments are those of the
    /// file, relative to its folder, or random inputs of the declared shapes. `seed` applies to generated arguments
    /// that have no seed of their own.
    ///
    /// # Errors
    ///
    /// If they do not match the parameters, or the kernel has errors.
    pub fn arguments(&self, texts: &[String], seed: u64) -> Result<Vec<Tensor<'static>>, Error> {
        self.arguments_with(texts, &Defaults { seed, ..Defaults::default() }, &[])
    }

    /// Like [`Kernel::arguments`], with a limit of `memory` bytes on all buffers together.
    ///
    /// # Errors
    ///
    /// Those of [`Kernel::arguments`], and if the buffers exceed the limit.
    pub fn arguments_within(&self, texts: &[String], seed: u64, memory: u64) -> Result<Vec<Tensor<'static>>, Error> {
        self.arguments_with(texts, &Defaults { seed, memory, ..Defaults::default() }, &[])
    }

    /// Like [`Kernel::arguments`], with different arguments for some parameters, by name.
    #[doc(hidden)]
    pub fn arguments_with(
        &self,
        texts: &[String],
        defaults: &Defaults,
        others: &[(String, String)],
    ) -> Result<Vec<Tensor<'static>>, Error> {
        let compiled = self.compiled()?;
        let folder = Path::new(&self.module.source.name).parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let defaults = Defaults { folder, ..defaults.clone() };
        arguments(&compiled.prepared, &compiled.kernels, texts, others, &defaults)
    }

    /// Runs the kernel with all checks.
    ///
    /// # Errors
    ///
    /// If it has errors or the arguments do not match. Errors during the run are findings of the run.
    pub fn run<'a>(&self, args: impl Into<Args<'a>>) -> Result<Run<'a>, Error> {
        self.run_with(args, &RunOptions::default())
    }

    /// Like [`Kernel::run`], with options.
    ///
    /// # Errors
    ///
    /// If it has errors, the arguments do not match, or the run is cancelled.
    pub fn run_with<'a>(&self, args: impl Into<Args<'a>>, options: &RunOptions) -> Result<Run<'a>, Error> {
        let bound = self.bind(args.into())?;
        slipring_session::run::start(self.compiled()?, bound, self.blocks(options)?, options)
    }

    /// Runs `count` blocks of a launch of `options.blocks`, starting at block `first`, with all requested tools.
    ///
    /// # Errors
    ///
    /// If it has errors, the arguments do not match, there are no such blocks, or the run is cancelled.
    pub fn run_part<'a>(
        &self,
        args: impl Into<Args<'a>>,
        options: &RunOptions,
        first: u32,
        count: u32,
    ) -> Result<Part, Error> {
        let bound = self.bind(args.into())?;
        run_part(self.compiled()?, &bound, options, (first, count, self.blocks(options)?))
    }

    /// Proves as much as possible about the kernel on these arguments.
    ///
    /// # Errors
    ///
    /// If it has errors, the arguments do not match, or the run is cancelled. Faults of the kernel are part of the
    /// result.
    pub fn prove<'a>(&self, args: impl Into<Args<'a>>, options: &ProveOptions) -> Result<Proof, Error> {
        let bound = self.bind(args.into())?;
        let again = |text| self.with_text(text).ok()?.compiled().ok().cloned();
        prove_kernel(self.compiled()?, &bound, self.blocks(&options.run)?, options, &again)
    }

    /// Runs the kernel through the command queue of a board, with a block on each worker. Only the options `blocks`,
    /// `gm_slack` and `record` have an effect.
    ///
    /// # Errors
    ///
    /// If it has errors, the arguments do not match, or the queue cannot be driven.
    pub fn run_on_board<'a>(
        &self,
        args: impl Into<Args<'a>>,
        board: BoardOptions,
        options: &RunOptions,
    ) -> Result<BoardRun, Error> {
        let bound = self.bind(args.into())?;
        run_on_board(self.compiled()?, self.function_name(), &bound, self.blocks(options)?, board, options)
    }

    /// The number of blocks in a launch with these options.
    ///
    /// # Errors
    ///
    /// If there are too many or none, or another option is out of bounds.
    pub fn blocks(&self, options: &RunOptions) -> Result<u32, Error> {
        options.within_bounds()?;
        options.blocks.map_or_else(|| blocks(&self.module, &self.kernels, self.function_name()), Ok)
    }

    /// Runs the kernel and reports on its rings; also with every depth of `sweep`.
    ///
    /// # Errors
    ///
    /// If it has errors, the arguments do not match, or the run is cancelled.
    pub fn rings<'a>(
        &self,
        args: impl Into<Args<'a>>,
        sweep: Option<std::ops::RangeInclusive<u32>>,
        options: &RunOptions,
    ) -> Result<RingReport, Error> {
        let bound = self.bind(args.into())?;
        let function = self.choice.function.as_deref();
        rings::report(&self.module, function, self.compiled()?, &bound, self.blocks(options)?, options, sweep)
    }

    /// The layout of the local memories.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn memory_map(&self) -> Result<Vec<MemoryFacts>, Error> {
        let compiled = self.compiled()?;
        Ok(memory_map(&compiled.prepared.module, &compiled.platform))
    }

    /// The use of each local memory of a cluster.
    ///
    /// # Errors
    /// Those of [`Kernel::compile`].
    pub fn memory_uses(&self) -> Result<Vec<MemoryUse>, Error> {
        Ok(memory_uses([&**self.compiled()?]))
    }

    /// Binds each argument to its parameter.
    #[doc(hidden)]
    pub fn bind<'a>(&self, args: Args<'a>) -> Result<Vec<Bound<'a>>, Error> {
        let compiled = self.compiled()?;
        let prepared = &compiled.prepared;
        let params: Vec<&Param> = prepared.decoded.program.params.iter().filter(|p| p.is_passed()).collect();
        let wrong = |error| Error::Arguments(mismatch_text(prepared, &error));
        bind_to(args, &params, &compiled.shapes, &wrong)
    }
}
