//! Whole programs: tasks of several kernels on the clusters of a platform.
//!
//! | module | contents |
//! |---|---|
//! | `task` | one task: its memory, its run, its accesses |
//! | `footprint` | the accesses of a task, and its use of signals |
//! | `beside` | tasks that wait for each other while they run |
//! | `host` | host functions that it calls |
//! | `launches` | several launches of it |
//! | `lost` | uninitialised bytes, tracked from task to task |
//! | `run` | scheduling of all tasks; findings; the sequential semantics |
//! | `board` | tasks through the command queue |
//! | `reading` | tensor values that determine which tasks there are |
//! | `values` | initial tensor contents, and predicates |
//! | `facts` | the report of a run |
//! | `timeline` | a run as one timeline and as one page |
//! | `graph` | the tasks and their order as facts |

mod beside;
mod board;
mod facts;
mod footprint;
mod graph;
mod host;
mod launches;
mod lost;
mod reading;
mod run;
mod task;
mod timeline;
mod values;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use slipring_ir::{Diagnostic, Diags, Line, Source};
use slipring_lang::tasks::Orchestration;
use slipring_lang::{Direction, ParamInfo};
use slipring_machine::Platform;
use slipring_program::{Param, ParamKind};
use slipring_tasks::Graph;

use slipring_check::Tools;
use slipring_session::args::{ArgError, Defaults, bind, in_order, read_arg, signature};
use slipring_session::compiled::{Choice, Compiled, bind_to, known_interpretations};
use slipring_session::expect::Held;
use slipring_session::launch::{header, too_large};
use slipring_session::tensor::Bound;
use slipring_session::{
    Args, CompileRequest, Control, Error, Input, MemoryUse, Parameter, Report, RunOptions, RunRequest, Tensor,
    memory_uses, waits_for_arguments,
};
use slipring_sim::{Limits, Timing};

pub use crate::facts::ProgramQueueFacts;
pub use board::BoardProgram;
pub use facts::{ClusterFacts, HeldFacts, PathFacts, ProgramFacts, TaskFacts, WorkFacts};
pub use graph::{GraphEdge, GraphFacts, GraphTask, GraphTensor, GraphUse};
pub use host::HostFunctions;
pub use reading::DEVICES;
pub use run::ProgramRun;

/// A whole program of a file: the tasks submitted by its orchestration, for one platform.
#[derive(Debug)]
pub struct Program {
    /// Its source, for tracing it again.
    input: Input,
    orchestration: Arc<Orchestration>,
    said: Vec<Diagnostic>,
    platform: Option<Platform>,
    interpretations: Vec<String>,
    compiled: OnceLock<Vec<Arc<Compiled>>>,
    /// Recorded host function calls from tracing it for these arguments.
    called: Mutex<host::Called>,
}

/// Options of a program's run. All checks are on by default.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramOptions {
    /// Clusters; by default all of the platform.
    pub clusters: Option<u32>,
    /// Devices of a program written for several; 2 by default. They share the clusters.
    pub devices: Option<u32>,
    /// Selects among several tasks that could start: 0 takes the one submitted first, another number chooses.
    pub order: u64,
    /// Number of consecutive launches, each with the next order, up to the first one with a finding; at least 1.
    pub launches: u32,
    /// The tools active in kernels. Tasks are always checked against each other.
    pub tools: Tools,
    /// The limits of a task.
    pub limits: Limits,
    /// Durations within a task.
    pub timing: Timing,
    /// Whether warnings about unwritten results are errors, within tasks and between them.
    pub strict: bool,
    /// Whether everything that happens is recorded, for [`ProgramRun::trace`], [`ProgramRun::lines`] and
    /// [`ProgramRun::html`].
    pub record: bool,
    /// Progress and cancellation for another thread.
    pub control: Control,
    /// Runs host functions; without it, those that write tensors stop the run, and the others are skipped with a
    /// warning.
    pub host: HostFunctions,
    /// The initial contents of the devices' windows, in the form that [`ProgramRun::windows`] returns after a run;
    /// zeros by default.
    pub windows: Option<Vec<Vec<u8>>>,
}

impl Default for ProgramOptions {
    /// The defaults of a run, with all clusters of the platform, and tasks in order of submission.
    fn default() -> ProgramOptions {
        ProgramOptions::from(&RunRequest::default())
    }
}

impl From<&RunOptions> for ProgramOptions {
    /// The options common to runs of kernels and programs.
    fn from(run: &RunOptions) -> ProgramOptions {
        ProgramOptions::from(&RunRequest::from(run.clone()))
    }
}

impl From<&RunRequest> for ProgramOptions {
    /// The request for a program's run.
    fn from(request: &RunRequest) -> ProgramOptions {
        let run = &request.run;
        ProgramOptions {
            clusters: request.clusters,
            devices: request.devices,
            order: request.order,
            launches: run.launches,
            tools: run.tools.clone(),
            limits: run.limits,
            timing: run.timing,
            strict: run.strict,
            record: run.record,
            control: run.control.clone(),
            host: HostFunctions::default(),
            windows: request.windows.clone(),
        }
    }
}

impl ProgramOptions {
    /// Checks that a run accepts all numbers.
    ///
    /// # Errors
    /// The first option that is not accepted.
    pub(crate) fn within_bounds(&self) -> Result<(), Error> {
        let mut request = RunRequest::default();
        (request.clusters, request.devices) = (self.clusters, self.devices);
        request.run.launches = self.launches;
        request.within_bounds()
    }

    /// The options of launch `number`, counted from 1.
    fn of_launch(&self, number: u32) -> ProgramOptions {
        ProgramOptions { order: self.order.wrapping_add(u64::from(number.saturating_sub(1))), ..self.clone() }
    }
}

/// A program as read and after each pass: the name of the pass, and the text.
pub type PassTexts = Vec<(String, String)>;

impl Program {
    /// Reads the whole program of a file; `None` if it has only kernels.
    ///
    /// # Errors
    /// If the file cannot be read, or the program has errors.
    pub fn open(path: impl AsRef<Path>, asked: &CompileRequest) -> Result<Option<Program>, Error> {
        Program::read(&Input::open(path, asked)?.executed()?)
    }

    /// Reads the whole program of a text.
    ///
    /// # Errors
    /// If the program has errors.
    pub fn from_text(
        name: impl Into<String>,
        text: impl Into<String>,
        asked: &CompileRequest,
    ) -> Result<Option<Program>, Error> {
        Program::read(&Input::read(&name.into(), text.into().into_bytes(), asked)?.executed()?)
    }

    /// The whole program of a text; `None` if it has only kernels.
    ///
    /// # Errors
    /// If the program has errors: those, and the other errors of the text's kernels.
    #[doc(hidden)]
    pub fn read(input: &Input) -> Result<Option<Program>, Error> {
        let Some((orchestration, said)) = input.first() else { return Ok(None) };
        let made = Program::of(input.clone(), orchestration.clone(), said.clone());
        made.map(Some).map_err(|error| match error {
            // Only the program was abandoned at its first error, not its kernels.
            Error::Text(report) if !waits_for_arguments(&report) => Error::Text(input.and_of_kernels(report)),
            other => other,
        })
    }

    /// The tasks submitted by an orchestration of a text, with all diagnostics about it.
    ///
    /// # Errors
    /// If that has errors.
    fn of(input: Input, orchestration: Arc<Orchestration>, said: Vec<Diagnostic>) -> Result<Program, Error> {
        let diags = Diags { list: said };
        if diags.has_errors() {
            return Err(Error::text(input.source().clone(), diags));
        }
        Ok(Program {
            input,
            orchestration,
            said: diags.list,
            platform: None,
            interpretations: Vec::new(),
            compiled: OnceLock::new(),
            called: Mutex::default(),
        })
    }

    /// Selects a built-in platform: `a5`, which is the default, or `a2a3`.
    ///
    /// # Errors
    /// If no platform has that name.
    pub fn platform(self, name: &str) -> Result<Program, Error> {
        Ok(self.on(slipring_machine::built_in(name).map_err(|error| Error::Platform(error.to_string()))?))
    }

    /// Selects a custom platform.
    pub fn on(mut self, platform: Platform) -> Program {
        self.platform = Some(platform);
        self.compiled = OnceLock::new();
        self
    }

    /// Selects the alternative interpretations with these names where public sources disagree, as for a kernel.
    ///
    /// # Errors
    /// If no interpretation has such a name.
    pub fn interpretations<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Program, Error> {
        self.interpretations.extend(known_interpretations(names)?);
        self.compiled = OnceLock::new();
        Ok(self)
    }

    /// Name of its function.
    pub fn name(&self) -> &str {
        &self.orchestration.name
    }

    /// Its parameters, in order.
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |param: &ParamInfo| {
            let shape = param.shape.clone();
            Parameter::new(&param.name, Some(param.elem), shape, param.shape.is_some(), Some(param.direction))
                .packed_as(param.packed)
        };
        self.orchestration.params.iter().map(parameter).collect()
    }

    /// Its tasks and their edges.
    pub fn graph(&self) -> &Graph {
        &self.orchestration.graph
    }

    /// Number of kernels of its tasks.
    pub fn kernels(&self) -> usize {
        self.orchestration.kernels.len()
    }

    /// The text.
    pub fn source(&self) -> &Source {
        self.input.source()
    }

    /// The line in which a task is submitted.
    pub fn line(&self, task: usize) -> Line {
        self.source().line(self.graph().tasks[task].span.start)
    }

    /// Diagnostics of the text, and those about tasks that wait forever or that end early because something is not
    /// known.
    pub fn report(&self) -> Report {
        let mut said = self.said.clone();
        said.extend(slipring_tasks::touched::deadlocks(self.graph()));
        said.extend(self.ends_early());
        Report::new(self.input.source().clone(), said)
    }

    /// Name of its platform: A5 by default.
    pub fn platform_name(&self) -> &str {
        self.platform.as_ref().map_or("a5", |platform| &platform.name)
    }

    /// Its platform.
    #[doc(hidden)]
    pub fn target(&self) -> Result<Platform, Error> {
        let mut platform = match &self.platform {
            Some(platform) => platform.clone(),
            None => {
                slipring_machine::built_in(self.platform_name()).map_err(|error| Error::Platform(error.to_string()))?
            }
        };
        platform.interpretations.extend(self.interpretations.iter().cloned());
        Ok(platform)
    }

    /// The platform with the requested number of clusters.
    fn with_clusters(&self, clusters: Option<u32>) -> Result<Platform, Error> {
        const MOST_CLUSTERS: u32 = 4096;
        let mut platform = self.target()?;
        platform.clusters = clusters.unwrap_or(platform.clusters);
        if !(1..=MOST_CLUSTERS).contains(&platform.clusters) {
            let message = format!("{} clusters; a program runs on 1 to {MOST_CLUSTERS}", platform.clusters);
            return Err(Error::Arguments(message));
        }
        Ok(platform)
    }

    /// The use of each local memory of a cluster: that of the largest kernel. `None` if the program is
    /// [open](Program::is_open): its kernels are not known.
    ///
    /// # Errors
    /// Those of [`Program::compile`].
    pub fn memory_uses(&self) -> Result<Option<Vec<MemoryUse>>, Error> {
        if self.is_open() {
            return Ok(None);
        }
        Ok(Some(memory_uses(self.compiled()?.iter().map(|own| &**own))))
    }

    /// The kernels of the tasks, compiled.
    #[doc(hidden)]
    pub fn compiled(&self) -> Result<&[Arc<Compiled>], Error> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let platform = self.target()?;
        let mut list = Vec::new();
        let mut errors: Vec<Diagnostic> = Vec::new();
        for kernel in &self.orchestration.kernels {
            let info = std::slice::from_ref(&kernel.info);
            match Compiled::of(&kernel.module, &[], info, platform.clone(), &Choice::default()) {
                Ok(compiled) => list.push(Arc::new(compiled)),
                Err(Error::Text(report)) => {
                    let new = report.messages().iter().filter(|message| !errors.contains(message));
                    errors.extend(new.cloned().collect::<Vec<_>>());
                }
                Err(other) => return Err(other),
            }
        }
        if !errors.is_empty() {
            return Err(Error::Text(Report::new(self.input.source().clone(), errors)));
        }
        Ok(self.compiled.get_or_init(|| list))
    }

    /// Compiles the kernels; returns the diagnostics of them and of the program that are not errors.
    ///
    /// # Errors
    /// If one of them is wrong, or the platform is unknown.
    pub fn compile(&self) -> Result<Report, Error> {
        let mut said = self.said.clone();
        for compiled in self.compiled()? {
            let new = compiled.said.iter().filter(|message| !said.contains(message));
            said.extend(new.cloned().collect::<Vec<_>>());
        }
        Ok(Report::new(self.input.source().clone(), said))
    }

    /// The programs of its kernels as read and after each pass: name of the kernel, and of each pass with the text.
    ///
    /// # Errors
    /// If a kernel has errors.
    pub fn passes(&self) -> Result<Vec<(String, PassTexts)>, Error> {
        let each = self.compiled()?.iter();
        Ok(each.map(|compiled| (compiled.prepared.decoded.program.name.clone(), compiled.passes(false))).collect())
    }

    /// The tensors that are passed, in order, with the contents after the run at each position.
    pub fn buffers<'a>(&'a self, left: impl Fn(usize) -> Option<&'a [u8]>) -> Vec<Held<'a>> {
        let own = self.orchestration.params.iter().enumerate();
        own.filter_map(|(at, param)| {
            let shape = param.shape.as_deref()?;
            Some(Held { name: &param.name, elem: param.elem, shape: Some(shape), left: left(at) })
        })
        .collect()
    }

    fn params(&self) -> Vec<Param> {
        let kind = |param: &ParamInfo| match &param.shape {
            Some(shape) => {
                let bytes = Some(shape.iter().product::<u64>() * param.elem.bytes() as u64);
                ParamKind::Buffer { elem: param.elem, bytes }
            }
            None => ParamKind::Scalar(param.elem),
        };
        let own = self.orchestration.params.iter();
        own.map(|param| Param { name: param.name.clone(), kind: kind(param) }).collect()
    }

    fn shapes(&self) -> Vec<Option<Vec<u64>>> {
        self.orchestration.params.iter().map(|param| param.shape.clone()).collect()
    }

    /// Each argument at the position of its parameter. Scalars must be those with which the program was read: its tasks
    /// depend on them.
    fn bind<'a>(&self, args: Args<'a>) -> Result<Vec<Bound<'a>>, Error> {
        let params = self.params();
        let wrong = |error| Error::Arguments(format!("{error}\nthe program is {}", signature(self.name(), &params)));
        let bound = bind_to(args, &params.iter().collect::<Vec<_>>(), &self.shapes(), &wrong)?;
        for ((value, param), number) in bound.iter().zip(&self.orchestration.params).zip(&self.orchestration.numbers) {
            let Some(number) = number.as_ref().filter(|_| param.shape.is_none()) else { continue };
            let read = read_arg(&format!("{number}:{}", param.elem), &Defaults::default()).ok();
            if read.is_some_and(|read| read.bits() != value.bits()) {
                let message =
                    format!("the program was read with `{}` = {number}: read it again with another number", param.name);
                return Err(Error::Arguments(message));
            }
        }
        Ok(bound)
    }

    /// Arguments as on the command line, one for each parameter; if there are none, those of the file, relative to its
    /// folder, or random inputs of the declared shapes.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn arguments(&self, texts: &[String], seed: u64) -> Result<Vec<Tensor<'static>>, Error> {
        self.arguments_within(texts, seed, Limits::default().memory)
    }

    /// As [`Program::arguments`], with a limit for all buffers together in bytes.
    ///
    /// # Errors
    /// Those of [`Program::arguments`], and if they are larger.
    pub fn arguments_within(&self, texts: &[String], seed: u64, memory: u64) -> Result<Vec<Tensor<'static>>, Error> {
        let own = &self.orchestration.params;
        let (params, shapes) = (self.params(), self.shapes());
        let declared = |param: &Param| {
            let param = own.iter().find(|own| own.name == param.name)?;
            if let Some(given) = &param.given {
                return Some(given.clone());
            }
            let extents: Vec<String> = param.shape.as_ref()?.iter().map(u64::to_string).collect();
            let what = if param.direction == Direction::Out { "zeros" } else { "rand" };
            Some(format!("{what}:{}[{}]", param.elem, extents.join("x")))
        };
        let mut folder = PathBuf::new();
        let mut texts = texts.to_vec();
        let from_file = texts.is_empty();
        if from_file {
            folder = Path::new(&self.source().name).parent().map_or_else(PathBuf::new, Path::to_path_buf);
            texts = header(self.source(), "args").or_else(|| params.iter().map(declared).collect()).unwrap_or_default();
        }
        let mismatch = |error| match error {
            ArgError::Memory { bytes, .. } => too_large(self.input.source().clone(), bytes),
            error => Error::Arguments(format!("{error}\nthe program is {}", signature(self.name(), &params))),
        };
        let texts = in_order(&texts, &params, &declared).map_err(mismatch)?;
        bind(&texts, &params, &shapes, &Defaults { seed, folder, own: from_file, memory }).map_err(mismatch)
    }
}
