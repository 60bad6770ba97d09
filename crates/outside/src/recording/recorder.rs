//! A recording that goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use slipring_ir::Source;
use slipring_machine::{CoreKind, Platform};
use slipring_session::Tensor;

use crate::tools::CallFolder;

/// A buffer or number of the launch.
pub(crate) struct Passed {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) arg: Tensor<'static>,
}

/// A recording that goes on.
pub(crate) struct Recorder<'r> {
    pub(crate) asked: &'r RecordingRequest,
    pub(crate) source: Arc<Source>,
    pub(crate) entry: String,
    pub(crate) folder: CallFolder,
    pub(crate) compiler: PathBuf,
    pub(crate) passed: Vec<Passed>,
}

/// What one kind of core does, for each of its cores.
pub(super) struct Part {
    pub kind: CoreKind,
    pub lanes: u32,
    pub cores: Vec<String>,
    pub pipes: Vec<Pipe>,
}

/// A pipe, as all cores of a kind have it.
pub(super) struct Pipe {
    ty: String,
    buffer: String,
    /// Where its slots are in the buffer: for block 0, and from each block to the next.
    pub(crate) distance: [u64; 2],
    lands: [String; 2],
    pub place: String,
}

impl Part {
    /// True if any of its cores does something.
    pub fn acts(&self) -> bool {
        self.cores.iter().any(|text| !text.is_empty())
    }
}

impl Pipe {
    /// A pipe as a core wrote it.
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

    /// Adds the pipe `n` of a core of this block to those of all cores: blocks have their slots at even distances.
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

    /// The pipe as C++ declares it.
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

/// Which launch is recorded, and with what.
#[derive(Clone, Debug)]
pub struct RecordingRequest {
    /// The kernel's file.
    pub file: PathBuf,
    /// The function that is launched, where the file has several.
    pub entry: Option<String>,
    /// The only kind of core that the entry is for, where its parts do not say so.
    pub core: Option<CoreKind>,
    /// Folders with the author's headers.
    pub include: Vec<PathBuf>,
    /// Macros: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Arguments as the command line writes them, one for each parameter of the entry.
    pub args: Vec<String>,
    /// The seed of those that are random.
    pub seed: u64,
    /// Blocks of the launch.
    pub blocks: u32,
    /// The platform that it is for.
    pub platform: Platform,
    /// A C++ compiler for this computer; else `$CXX`, `clang++` or `g++`.
    pub compiler: Option<PathBuf>,
    /// Where all files are kept.
    pub keep: Option<PathBuf>,
    /// How long each core may take, and the compiler, which has a minute in any case.
    pub limit: Duration,
}
