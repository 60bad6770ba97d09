//! The state of a recording in progress.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use slipring_ir::Source;
use slipring_machine::{CoreKind, Platform};
use slipring_session::Tensor;

use crate::recording::entry::Entry;
use crate::tools::CallFolder;

/// A buffer or number argument of the launch.
pub(crate) struct Passed {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) arg: Tensor<'static>,
}

/// A recording in progress.
pub(crate) struct Recorder<'r> {
    pub(crate) asked: &'r RecordingRequest,
    pub(crate) source: Arc<Source>,
    pub(crate) entry: Entry,
    pub(crate) folder: CallFolder,
    pub(crate) compiler: PathBuf,
    pub(crate) passed: Vec<Passed>,
}

/// The activity of one kind of core, for each of its cores.
pub(super) struct Part {
    pub kind: CoreKind,
    pub lanes: u32,
    pub cores: Vec<String>,
    pub pipes: Vec<Pipe>,
}

/// A pipe, shared by all cores of a kind.
pub(super) struct Pipe {
    ty: String,
    buffer: String,
    /// The addresses of its slots in the buffer: that of block 0, and the distance between blocks.
    pub(crate) distance: [u64; 2],
    lands: [String; 2],
    pub place: String,
}

impl Part {
    /// Whether any of its cores does any work.
    pub fn acts(&self) -> bool {
        self.cores.iter().any(|text| !text.is_empty())
    }
}

impl Pipe {
    /// Parses a pipe as a core wrote it.
    pub fn read(line: &str) -> Option<Pipe> {
        let [ty, buffer, distance, c2v, v2c, file, at] = line.split('|').collect::<Vec<_>>()[..] else { return None };
        let distance = [distance.parse().ok()?, 0];
        Some(Pipe {
            ty: ty.into(),
            buffer: buffer.into(),
            distance,
            lands: [c2v.into(), v2c.into()],
            place: format!("{file}:{at}"),
        })
    }

    /// Merges pipe `n` of a core of this block into the pipes of all cores: the slots of blocks must be at equal
    /// distances.
    pub fn join(&self, all: &mut Vec<Pipe>, n: usize, block: u32) -> Result<(), String> {
        let Some(first) = all.get_mut(n) else {
            if block > 0 && self.distance[0] > 0 {
                return Err("the first block has fewer pipes".into());
            }
            all.push(Pipe {
                ty: self.ty.clone(),
                buffer: self.buffer.clone(),
                lands: self.lands.clone(),
                place: self.place.clone(),
                ..*self
            });
            return Ok(());
        };
        if (&first.ty, &first.buffer, &first.lands) != (&self.ty, &self.buffer, &self.lands) {
            return Err("its pipes are not those of the first core".into());
        }
        if block == 1 && first.distance[1] == 0 {
            first.distance[1] = self.distance[0].saturating_sub(first.distance[0]);
        }
        match first.distance[0] + u64::from(block) * first.distance[1] == self.distance[0] {
            true => Ok(()),
            false => Err("the slots of blocks lie at uneven distances in memory".into()),
        }
    }

    /// The C++ declaration of the pipe.
    pub(crate) fn declared(&self, n: usize) -> String {
        let Pipe { ty, buffer, distance: [first, each], lands: [c2v, v2c], place } = self;
        let (file, line) = place.rsplit_once(':').unwrap_or(("", "0"));
        let line = if line == "0" { String::new() } else { format!("#line {line} \"{file}\"\n") };
        let memory = match (first, each) {
            (0, 0) => buffer.clone(),
            (_, 0) => format!("{buffer} + {first}"),
            _ => format!("{buffer} + ((int64_t){first} + this_block * (int64_t){each})"),
        };
        format!("{line}    auto p{n} = {ty}({memory}, {c2v}, {v2c});\n")
    }
}

/// The launch to record, with its arguments.
#[derive(Clone, Debug)]
pub struct RecordingRequest {
    /// The kernel's file.
    pub file: PathBuf,
    /// The function to launch, if the file has several; a template with its arguments.
    pub entry: Option<String>,
    /// The only kind of core that the entry is for, if its parts do not determine it.
    pub core: Option<CoreKind>,
    /// Folders with the author's headers.
    pub include: Vec<PathBuf>,
    /// Macros: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Arguments in the syntax of the command line, one for each parameter of the entry.
    pub args: Vec<String>,
    /// The seed of random arguments.
    pub seed: u64,
    /// Number of blocks in the launch.
    pub blocks: u32,
    /// The target platform.
    pub platform: Platform,
    /// A C++ compiler for this machine; else `$CXX`, `clang++` or `g++`.
    pub compiler: Option<PathBuf>,
    /// The folder in which all files are kept.
    pub keep: Option<PathBuf>,
    /// Time limit for each core and for the compiler, which has at least a minute.
    pub limit: Duration,
}
