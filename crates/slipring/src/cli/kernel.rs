//! Which kernel a verb runs, and on what: arguments of the command line, else the lines at the head of the file.

use std::path::{Path, PathBuf};

use clap::Args;
use slipring::args::{Arg, Defaults, bind, signature};
use slipring::{Prepared, is_language};
use slipring_dialects::Dialects;
use slipring_dialects::select_kernel;
use slipring_ir::{Diags, Module, OpId, Source, Type};
use slipring_lang::{Direction, KernelInfo, ParamInfo};
use slipring_program::{Param, ParamKind};
use slipring_sim::Limits;

use super::PlatformArgs;

/// The most blocks of a launch.
const MOST_BLOCKS: u32 = 4096;

/// Arguments of the verbs that run a kernel.
#[derive(Args)]
pub(super) struct KernelArgs {
    /// The file; `-` is standard input
    pub file: String,
    /// The kernel, where the file has several
    #[arg(long, value_name = "NAME")]
    pub func: Option<String>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    /// Blocks of the launch: each runs on a cluster of its own. By default the file's `// blocks:` line, else 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_BLOCKS)))]
    blocks: Option<u32>,
    /// A kernel argument, once for each parameter in order: `@file`, `@file:out`, `zeros:BYTES`, `rand:f32[64x64],seed=1`,
    /// `iota:i32[64]`, `full:f32[64x64]=1.5`, `3:i32`, `1.5:f32`, `true`. By default those of the file's `// args:` line
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Seed of `rand` arguments that have none of their own: each takes this plus its position
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Options that change when a run is given up.
#[derive(Args)]
pub(super) struct LimitArgs {
    /// Stop after so many steps: scalar instructions, 8 for a vector instruction, 1 for 4 cycles of other work
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps)]
    max_steps: u64,
    /// Stop after so many cycles
    #[arg(long, value_name = "N", default_value_t = Limits::default().cycles)]
    max_cycles: u64,
    /// Do not run what takes more bytes of buffers and local memories
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().memory)]
    max_memory: u64,
    /// Stop a program that prints more bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().output)]
    max_output: u64,
}

impl LimitArgs {
    /// The limits of a run.
    pub fn of_run(&self) -> Limits {
        Limits { steps: self.max_steps, cycles: self.max_cycles, output: self.max_output, memory: self.max_memory }
    }
}

impl KernelArgs {
    /// The kernel's arguments: those of the command line, else those of the file, relative to its folder, else random
    /// inputs of the shapes that the kernel declares.
    pub fn arguments(&self, prepared: &Prepared, source: &Source, kernels: &[KernelInfo]) -> Result<Vec<Arg>, String> {
        let program = &prepared.decoded.program;
        let own = self.args.is_empty();
        let declared = || program.params.iter().map_while(|param| declared(kernels, &program.name, param)).collect();
        let texts = if own { header(source, "args").unwrap_or_else(declared) } else { self.args.clone() };
        let folder = Path::new(&self.file).parent().filter(|_| own).map_or_else(PathBuf::new, Path::to_path_buf);
        let shapes: Vec<_> = (0..program.params.len()).map(|at| shape(prepared, kernels, at)).collect();
        bind(&texts, &program.params, &shapes, &Defaults { seed: self.seed, folder }).map_err(|error| {
            let mut message = format!("{error}\nthe kernel is {}", signature(&program.name, &program.params));
            if own {
                message += "\npass `--arg` once for each parameter, or write an `// args: …` line into the file";
            }
            message
        })
    }

    /// Blocks of the launch.
    pub fn blocks(&self, source: &Source, kernels: &[KernelInfo]) -> Result<u32, String> {
        match (self.blocks, header(source, "blocks")) {
            (Some(blocks), _) => Ok(blocks),
            (None, None) => Ok(kernels.iter().map(|kernel| kernel.blocks).max().unwrap_or(1)),
            (None, Some(words)) => {
                let number = words.first().and_then(|w| w.parse().ok()).filter(|n| (1..=MOST_BLOCKS).contains(n));
                number.ok_or_else(|| format!("`// blocks:` takes a number from 1 to {MOST_BLOCKS}"))
            }
        }
    }
}

/// What a file declares for a parameter, where it declares it.
fn info<'a>(kernels: &'a [KernelInfo], kernel: &str, param: &Param) -> Option<&'a ParamInfo> {
    let own = kernels.iter().filter(|k| kernel.split(" + ").any(|name| name == k.name));
    own.flat_map(|k| &k.params).find(|p| p.name == param.name)
}

/// The shape of a buffer, where the kernel declares it or the parameter's type says it.
fn shape(prepared: &Prepared, kernels: &[KernelInfo], at: usize) -> Option<Vec<u64>> {
    let program = &prepared.decoded.program;
    let declared = info(kernels, &program.name, &program.params[at]).and_then(|info| info.shape.clone());
    declared.or_else(|| {
        let module = &prepared.written;
        let place = |(start, args): (&Option<OpId>, &Vec<u32>)| {
            let of = args.iter().position(|param| *param as usize == at)?;
            let body = module.body((*start)?, 0)?;
            module.block(body).args.get(of).copied()
        };
        let value = prepared.kernel.start.iter().zip(&prepared.kernel.args).find_map(place)?;
        let Type::MemRef(memref) = module.ty(value) else { return None };
        memref.dims.iter().map(|dim| dim.known()).collect()
    })
}

/// An argument of the shape that a kernel declares for a parameter: random numbers for what it reads, zeros for what it
/// only writes. `None` for scalars, which have no shape to fill.
fn declared(kernels: &[KernelInfo], kernel: &str, param: &Param) -> Option<String> {
    let info = info(kernels, kernel, param)?;
    let extents: Vec<String> = info.shape.as_ref()?.iter().map(u64::to_string).collect();
    let what = if info.direction == Direction::Out { "zeros" } else { "rand" };
    Some(format!("{what}:{}[{}]", info.elem, extents.join("x")))
}

/// The lines at the head of a built program that say how it is launched: those of the source, else what its kernels declare.
pub(super) fn launch_lines(module: &Module, kernels: &[KernelInfo]) -> String {
    let source = &module.source;
    let kernel = select_kernel(Dialects::get(), module, None, &mut Diags::default());
    let declared = || {
        let kernel = kernel.as_ref()?;
        let params = kernel.params.iter().filter(|param| !matches!(param.kind, ParamKind::Scratch { .. }));
        params.map(|param| declared(kernels, &kernel.name, param)).collect::<Option<Vec<String>>>()
    };
    let args = header(source, "args").or_else(declared).filter(|words| !words.is_empty());
    let blocks = kernels.iter().map(|kernel| kernel.blocks).max().filter(|n| *n > 1).map(|n| vec![n.to_string()]);
    let blocks = header(source, "blocks").or(blocks);
    let line = |name: &str, words: Option<Vec<String>>| match words {
        Some(words) => format!("// {name}: {}\n", words.join(" ")),
        None => String::new(),
    };
    line("args", args) + &line("blocks", blocks)
}

/// Words of a `name: …` line in the comments at the head of the file.
fn header(source: &Source, name: &str) -> Option<Vec<String>> {
    let mark = if is_language(source) { "#" } else { "//" };
    let line = source
        .text
        .lines()
        .map(str::trim)
        .take_while(|l| l.is_empty() || l.starts_with(mark))
        .find_map(|line| line.strip_prefix(mark)?.trim().strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.split_whitespace().map(str::to_string).collect())
}
