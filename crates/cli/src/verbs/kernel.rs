//! The kernel that a verb runs, and its arguments: from the command line, else from the directives at the head of the
//! file.

use clap::Args;
use slipring::{
    Advice, CompileRequest, Error, Kernel, Program, Run, RunOptions, RunRequest, Source, Subject, Tensor, Way,
};
use slipring_explore::Tune;

use super::asked::{SetArgs, ShapeArgs};
use super::flags::{Flags, OfKernel, blocks, kernels_only};
use super::input::{read_bytes, subject};
use super::platform::PlatformArgs;

// Arguments of the verbs that run a kernel.
#[derive(Args)]
pub(super) struct KernelArgs {
    /// Input file, or `-` for standard input
    pub file: String,
    /// Name of the kernel, if the file has several
    #[arg(long, value_name = "NAME")]
    pub func: Option<String>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    #[command(flatten)]
    flags: Flags<OfKernel>,
    /// Kernel argument, once per parameter, in order or by name (`x=@x.npy`): `@file`, `@file:out`, `zeros:BYTES`,
    /// `rand:f32[64x64],seed=1`, `iota:i32[64]`, `full:f32[64x64]=1.5`, `3:i32`, `1.5:f32`, `true`. Defaults to the
    /// file's `// args:` line
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Seed for `rand` arguments without one; each uses this number plus its position
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of host threads for blocks and large products; the results do not depend on it. Defaults to the number of
    /// cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Add flags to functions that have none, even if other functions of the file synchronise by hand. In a file
    /// without any synchronisation they are always added
    #[arg(long)]
    pub insert_sync: bool,
    #[command(flatten)]
    sets: SetArgs,
}

// The launch of a kernel, for verbs that print programs.
#[derive(Args, Clone, Default)]
pub(super) struct LaunchArgs {
    /// With `--project`: name of the kernel, if the file has several
    #[arg(long, value_name = "NAME", requires = "project")]
    func: Option<String>,
    /// With `--project`: number of blocks in the launch
    #[arg(long, value_name = "N", requires = "project", value_parser = blocks)]
    blocks: Option<u32>,
    /// With `--project`: seed for `rand` arguments without one
    #[arg(long, value_name = "N", requires = "project", default_value_t = 0)]
    seed: u64,
}

impl LaunchArgs {
    /// The kernel arguments of a verb that prints programs, as those of a verb that runs kernels.
    pub fn kernel(&self, file: &str, platform: &PlatformArgs, shapes: &ShapeArgs, insert_sync: bool) -> KernelArgs {
        KernelArgs {
            file: file.into(),
            func: self.func.clone(),
            platform: platform.clone(),
            flags: Flags::default().with("blocks", self.blocks.map(|blocks| blocks.to_string())),
            args: shapes.args.clone(),
            seed: self.seed,
            threads: None,
            insert_sync,
            sets: shapes.sets.clone(),
        }
    }
}

impl KernelArgs {
    /// Reads the kernel, with its platform.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or there is no such platform.
    pub fn kernel(&self) -> Result<Kernel, Error> {
        self.kernel_of(&self.subject()?)
    }

    /// The file with its compile request.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn subject(&self) -> Result<Subject, Error> {
        let asked =
            CompileRequest::new(self.func.as_deref(), &self.args, &self.sets.sets)?.language(self.sets.language());
        subject(&self.file, &asked)?.executed()
    }

    /// The whole program that the file holds, with its platform; `None` if it has kernels only.
    ///
    /// # Errors
    /// If the program has errors, or there is no such platform.
    pub fn program_of(&self, subject: &Subject) -> Result<Option<Program>, Error> {
        let Some(program) = subject.program()? else { return Ok(None) };
        kernels_only(&[(self.insert_sync, "--insert-sync", "run the kernel alone with `--func`")])?;
        self.request()?.on(Way::Program)?;
        self.platform.apply_to(program).map(Some)
    }

    /// The arguments of a whole program.
    ///
    /// # Errors
    ///
    /// If they do not match the parameters.
    pub fn program_arguments(&self, program: &Program) -> Result<Vec<Tensor<'static>>, Error> {
        program.arguments_within(&self.args, self.seed, self.request()?.run.limits.memory)
    }

    /// The files that arguments ask to be written.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        let files = self.args.iter().filter_map(|text| slipring::args::named(text).1.strip_prefix('@'));
        files.filter_map(|file| file.strip_suffix(":out"))
    }

    /// The files that are read: the program, its platform, arguments that are not written back.
    pub fn read(&self) -> Vec<&str> {
        let files = self.args.iter().filter_map(|text| slipring::args::named(text).1.strip_prefix('@'));
        let files = files.filter(|file| !file.ends_with(":out"));
        files.chain([self.file.as_str()]).chain(self.platform.platform.as_deref()).collect()
    }

    /// The requested number of threads.
    pub fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// The kernel of a file that has been read.
    ///
    /// # Errors
    ///
    /// If it has errors, or there is no such platform.
    pub fn kernel_of(&self, subject: &Subject) -> Result<Kernel, Error> {
        self.platform.apply(subject.kernel()?.insert_sync(self.insert_sync))
    }

    /// The kernel's arguments: those of the command line, else those of the file, relative to its folder, else random
    /// inputs of the declared shapes.
    pub fn arguments(&self, kernel: &Kernel) -> Result<Vec<Tensor<'static>>, Error> {
        kernel.arguments_within(&self.args, self.seed, self.request()?.run.limits.memory)
    }

    /// The file prepared for a grid of values.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or there is no such platform.
    pub fn tune(&self) -> Result<Tune, Error> {
        self.tune_of(self.file.as_str(), read_bytes(&self.file).map_err(Error::File)?)
    }

    /// A kernel that has been read, for `tune` to edit.
    ///
    /// # Errors
    ///
    /// If there is no such platform.
    pub fn tuned(&self, source: &Source, options: &RunOptions) -> Result<Tune, Error> {
        let mut tune = self.tune_of(source.name.as_str(), source.text.as_bytes().to_vec())?;
        tune.run = options.clone().record(false);
        Ok(tune)
    }

    /// Advice for a faster run, with edits of the source; `None` if no record was kept, or the run did not complete.
    pub fn advised(&self, source: &Source, run: &Run<'_>, options: &RunOptions) -> Result<Option<Advice>, Error> {
        let Some(mut advice) = run.advice()? else { return Ok(None) };
        let tune = self.tuned(source, options)?;
        tune.advise(&mut advice, run.record().map_or(0, |record| record.happenings.len()))?;
        Ok(Some(advice))
    }

    fn tune_of(&self, name: &str, bytes: Vec<u8>) -> Result<Tune, Error> {
        let mut tune = Tune::new(name, bytes);
        tune.function.clone_from(&self.func);
        tune.args.clone_from(&self.args);
        tune.sets.clone_from(&self.sets.sets);
        tune.seed = self.seed;
        (tune.language, tune.insert_sync) = (self.sets.language(), self.insert_sync);
        tune.platform = self.platform.named()?;
        tune.interpretations.clone_from(&self.platform.interpretations);
        tune.run = self.options()?;
        Ok(tune)
    }

    /// The run request.
    ///
    /// # Errors
    ///
    /// An invalid option.
    pub fn request(&self) -> Result<RunRequest, Error> {
        let mut request = RunRequest::default();
        request.run.events = 0;
        self.flags.put(&mut request)?;
        Ok(request)
    }

    /// The run request with the verb's own options added.
    ///
    /// # Errors
    ///
    /// Those of [`KernelArgs::request`], and a file named by these options that cannot be read.
    pub fn request_with<V>(&self, flags: &Flags<V>) -> Result<RunRequest, Error> {
        let mut request = self.request()?;
        flags.put(&mut request)?;
        Ok(request)
    }

    /// The options of the run.
    ///
    /// # Errors
    ///
    /// Those of [`KernelArgs::request`].
    pub fn options(&self) -> Result<RunOptions, Error> {
        Ok(self.request()?.run)
    }
}
