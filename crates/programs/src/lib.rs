//! Whole programs: tasks of several kernels on the clusters of a platform.
//!
//! | module | has |
//! |---|---|
//! | `task` | one task: its memory, its run, what it touched |
//! | `footprint` | what a task touches, and what it does with signals |
//! | `beside` | tasks that wait for each other while they run |
//! | `host` | functions of the host that it calls |
//! | `lost` | bytes that nobody has written, followed from task to task |
//! | `run` | all tasks in time; findings; the sequential semantics |
//! | `board` | tasks through the command queue |
//! | `reading` | numbers of tensors that decide what tasks there are |
//! | `values` | what tensors hold at first, and predicates |
//! | `facts` | what a run reports |
//! | `timeline` | a run as one timeline and as one page |
//! | `graph` | the tasks and their order as facts |

mod beside;
mod board;
mod facts;
mod footprint;
mod graph;
mod host;
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

/// A whole program of a file: what its orchestration submits, for one platform.
#[derive(Debug)]
pub struct Program {
    /// What it was read from, to follow it again.
    input: Input,
    orchestration: Arc<Orchestration>,
    said: Vec<Diagnostic>,
    platform: Option<Platform>,
    interpretations: Vec<String>,
    compiled: OnceLock<Vec<Arc<Compiled>>>,
    /// What functions of the host did while it was followed for these arguments.
    called: Mutex<host::Called>,
}

/// How a program is run. All checks are on by default.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramOptions {
    /// Clusters; by default all of the platform.
    pub clusters: Option<u32>,
    /// Devices that a program for several runs on; 2 where nothing is said. They share the clusters.
    pub devices: Option<u32>,
    /// Where several tasks could start: 0 takes the one that was submitted first, another number chooses.
    pub order: u64,
    /// Launches one after another, each with the next order, up to the first one with a finding; at least 1.
    pub launches: u32,
    /// Which tools watch the kernels. Tasks are checked against each other in any case.
    pub tools: Tools,
    /// When a task is given up.
    pub limits: Limits,
    /// How long things take inside of a task.
    pub timing: Timing,
    /// Whether warnings about results that nobody has written are errors, inside of tasks and between them.
    pub strict: bool,
    /// Whether everything that happens is kept, for [`ProgramRun::trace`], [`ProgramRun::lines`] and [`ProgramRun::html`].
    pub record: bool,
    /// Seen and cancelled by whoever has this.
    pub control: Control,
    /// What runs functions of the host; without it those that write tensors stop the run, and the others are left out with a warning.
    pub host: HostFunctions,
    /// What the windows of devices hold before the first task, as [`ProgramRun::windows`] gives it after a run; zeros where nothing is
    /// said.
    pub windows: Option<Vec<Vec<u8>>>,
}

impl Default for ProgramOptions {
    /// Those of a run, on all clusters of the platform, in the order in which the tasks were submitted.
    fn default() -> ProgramOptions {
        ProgramOptions::from(&RunRequest::default())
    }
}

impl From<&RunOptions> for ProgramOptions {
    /// What the run of a kernel and of a program have in common.
    fn from(run: &RunOptions) -> ProgramOptions {
        ProgramOptions::from(&RunRequest::from(run.clone()))
    }
}

impl From<&RunRequest> for ProgramOptions {
    /// What is asked of the run of a program.
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
    /// Nothing, where all numbers are such as a run takes.
    ///
    /// # Errors
    /// The first option that is not.
    pub(crate) fn within_bounds(&self) -> Result<(), Error> {
        let mut request = RunRequest::default();
        (request.clusters, request.devices) = (self.clusters, self.devices);
        request.run.launches = self.launches;
        request.within_bounds()
    }

    /// Those of a launch, which are counted from 1.
    fn of_launch(&self, number: u32) -> ProgramOptions {
        ProgramOptions { order: self.order.wrapping_add(u64::from(number.saturating_sub(1))), ..self.clone() }
    }
}

/// A program as it was read and after each pass: the name of the pass, and the text.
pub type PassTexts = Vec<(String, String)>;

impl Program {
    /// Reads the whole program of a file; `None` where it has none, but kernels.
    ///
    /// # Errors
    /// If the file cannot be read, or the program has errors.
    pub fn open(path: impl AsRef<Path>, asked: &CompileRequest) -> Result<Option<Program>, Error> {
        Program::read(&Input::open(path, asked)?.executed()?)
    }

    /// The same for a text.
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

    /// The whole program of a text; `None` where it has none, but kernels.
    ///
    /// # Errors
    /// If the program has errors: those, and what else is wrong with the kernels of the text.
    #[doc(hidden)]
    pub fn read(input: &Input) -> Result<Option<Program>, Error> {
        let Some((orchestration, said)) = input.first() else { return Ok(None) };
        let made = Program::of(input.clone(), orchestration.clone(), said.clone());
        made.map(Some).map_err(|error| match error {
            // The program was given up at its first error, its kernels were not.
            Error::Text(report) if !waits_for_arguments(&report) => Error::Text(input.and_of_kernels(report)),
            other => other,
        })
    }

    /// What an orchestration of a text submits, with everything that was said of it.
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

    /// For a built-in platform: `a5`, which is the default, or `a2a3`.
    ///
    /// # Errors
    /// If no platform has that name.
    pub fn platform(self, name: &str) -> Result<Program, Error> {
        Ok(self.on(slipring_machine::built_in(name).map_err(|error| Error::Platform(error.to_string()))?))
    }

    /// For a platform of one's own.
    pub fn on(mut self, platform: Platform) -> Program {
        self.platform = Some(platform);
        self.compiled = OnceLock::new();
        self
    }

    /// Where public sources disagree, the other interpretations of these names, as for a kernel.
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

    /// How many kernels its tasks have.
    pub fn kernels(&self) -> usize {
        self.orchestration.kernels.len()
    }

    /// The text.
    pub fn source(&self) -> &Source {
        self.input.source()
    }

    /// The line that a task is submitted in.
    pub fn line(&self, task: usize) -> Line {
        self.source().line(self.graph().tasks[task].span.start)
    }

    /// What was said of the text, what makes its tasks wait forever, and why they end where something is not known.
    pub fn report(&self) -> Report {
        let mut said = self.said.clone();
        said.extend(slipring_tasks::touched::deadlocks(self.graph()));
        said.extend(self.ends_early());
        Report::new(self.input.source().clone(), said)
    }

    /// Name of the platform that it runs on: A5 where none was asked for.
    pub fn platform_name(&self) -> &str {
        self.platform.as_ref().map_or("a5", |platform| &platform.name)
    }

    /// The platform that it runs on.
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

    /// The platform with as many clusters as are asked for.
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

    /// How much of each local memory of a cluster is in use: what the largest kernel takes. `None` where the program is
    /// [open](Program::is_open): it is not known which kernels there are.
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

    /// Compiles the kernels: what was said of them and of the program, which is not an error.
    ///
    /// # Errors
    /// If one of them is wrong, or the platform is not known.
    pub fn compile(&self) -> Result<Report, Error> {
        let mut said = self.said.clone();
        for compiled in self.compiled()? {
            let new = compiled.said.iter().filter(|message| !said.contains(message));
            said.extend(new.cloned().collect::<Vec<_>>());
        }
        Ok(Report::new(self.input.source().clone(), said))
    }

    /// The programs of its kernels as they were read and after each pass: name of the kernel, and of each pass with the text.
    ///
    /// # Errors
    /// If a kernel has errors.
    pub fn passes(&self) -> Result<Vec<(String, PassTexts)>, Error> {
        let each = self.compiled()?.iter();
        Ok(each.map(|compiled| (compiled.prepared.decoded.program.name.clone(), compiled.passes(false))).collect())
    }

    /// The tensors that are passed, in order, with what a run left in each position's.
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

    /// Each argument at the place of its parameter. The numbers are those that the program was read with: its tasks follow
    /// from them.
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

    /// Arguments as the command line writes them, one for each parameter; without any those of the file, relative to its
    /// folder, or random inputs of the shapes that it declares.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn arguments(&self, texts: &[String], seed: u64) -> Result<Vec<Tensor<'static>>, Error> {
        self.arguments_within(texts, seed, Limits::default().memory)
    }

    /// The same where all buffers together may have so many bytes.
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
