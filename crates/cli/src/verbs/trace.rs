//! `slipring trace`: records a launch of a C++ kernel, compiled for this machine.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use slipring::{Error, RecordingRequest};
use slipring_ir::{Module, Source};
use slipring_machine::CoreKind;

use super::exit::Exit;
use super::flags::blocks;
use super::output::{fail, note, refused, write_file};
use super::platform::PlatformArgs;

// Arguments of `trace`.
#[derive(Args)]
pub(super) struct TraceArgs {
    /// The kernel's C++ file
    pub file: String,
    /// The function that is launched; a template with its arguments, `add<float, 2>`. Defaults to the only one that a
    /// host or the runtime launches
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The kind of core that the entry is for. Defaults to what its parts, or the operations that it calls, say
    #[arg(long, value_name = "KIND")]
    core: Option<Core>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    /// Number of blocks in the launch
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = blocks)]
    blocks: u32,
    /// Argument of the entry, once per parameter, in order: `rand:f16[64x64]`, `x=@x.npy`, `3`, `1.5`. The name in front
    /// is that of the buffer in the recording
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Seed for `rand` arguments without one; each uses this number plus its position
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// A folder with headers of the kernel
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// A macro of the kernel: `NAME` or `NAME=VALUE`
    #[arg(short = 'D', value_name = "MACRO")]
    defines: Vec<String>,
    /// A C++ compiler for this machine (clang 15, gcc 12, or newer). Defaults to $CXX, `clang++` or `g++`
    #[arg(long, value_name = "COMPILER")]
    cxx: Option<PathBuf>,
    /// Keep all files in this folder: headers, programs, what each core did
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Time limit for each core, and for the compiler, which has a minute in any case, in seconds
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Output file. Defaults to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<String>,
}

/// A kind of core.
#[derive(Clone, Copy, ValueEnum)]
enum Core {
    /// The Cube core
    Cube,
    /// The Vector cores
    Vector,
}

/// Records a launch and writes it as a kernel.
pub(super) fn trace(args: &TraceArgs) -> Exit {
    match record(args) {
        Ok(exit) => exit,
        Err(error) => refused(&error, false),
    }
}

fn record(args: &TraceArgs) -> Result<Exit, Error> {
    let none = Module::new(std::sync::Arc::new(Source::default()));
    let platform = args.platform.choose(&none)?;
    let name = platform.name.clone();
    let asked = RecordingRequest {
        file: PathBuf::from(&args.file),
        entry: args.entry.clone(),
        core: args.core.map(|core| match core {
            Core::Cube => CoreKind::Cube,
            Core::Vector => CoreKind::Vector,
        }),
        include: args.include.clone(),
        defines: args.defines.clone(),
        args: args.args.clone(),
        seed: args.seed,
        blocks: args.blocks,
        platform,
        compiler: args.cxx.clone(),
        keep: args.keep.clone(),
        limit: Duration::from_secs(args.seconds),
    };
    let recording = asked.record()?;
    let file = args.output.as_deref().unwrap_or("-");
    if let Err(message) = write_file(file, &[recording.text.as_bytes()]) {
        return Ok(fail(message));
    }
    recording.notes.iter().for_each(note);
    if file != "-" {
        let cores: Vec<&str> = recording.cores.iter().map(|kind| kind.name()).collect();
        note(format!(
            "recorded {} on the {}: `slipring run {file} --arch {name}` runs it",
            recording.entry,
            cores.join(" and ")
        ));
    }
    Ok(Exit::Clean)
}
