//! A file whose kernel, or whose whole program, is run at the points of a grid.

use std::path::PathBuf;
use std::sync::Mutex;

use slipring::{CompileRequest, Error, Lang, RunOptions, Subject};
use slipring_machine::Platform;
use slipring_session::args::Defaults;

/// A file whose kernel, or whose whole program, is run at points of a grid.
///
/// ```
/// use slipring_explore::{Tune, Vary, Verified};
/// # let folder = std::env::temp_dir().join(format!("slipring-doc-tune-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # std::env::set_current_dir(&folder)?;
/// # std::fs::write("k.py", "
/// # import slipring.language as pl
/// # TILE = 32
/// # @pl.jit
/// # def double(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
/// #     for at in pl.range(0, 64, TILE):
/// #         out[at : at + TILE, :] = pl.mul(a[at : at + TILE, :], 2.0)
/// # ")?;
/// let tune = Tune::open("k.py")?; // has the constant TILE
/// let point = tune.point(&[("TILE".into(), "16".into())]);
/// assert!(point.is_clean() && point.cycles > Some(0), "{:?}", point.reason);
///
/// let tuning = tune.run(&["TILE=16,32,64".parse::<Vary>()?], None, |_| ())?;
/// let best = tuning.best().expect("a clean point");
/// assert_eq!(best.verified, Some(Verified::Same));
/// assert!(best.cycles <= point.cycles);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tune {
    /// Name of the file: it determines the language, and appears in messages.
    pub name: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
    /// The kernel, if the file has several.
    pub function: Option<String>,
    /// Arguments as on the command line; if there are none, those of the file, or random inputs of the declared shapes.
    pub args: Vec<String>,
    /// Values that are not varied, as `NAME=VALUE`.
    pub sets: Vec<String>,
    /// Seed of generated arguments without one of their own.
    pub seed: u64,
    /// The platform; by default the one given in the file, otherwise A5.
    pub platform: Option<Platform>,
    /// Names of alternative interpretations to use where public sources disagree.
    pub interpretations: Vec<String>,
    /// Clusters of a whole program.
    pub clusters: Option<u32>,
    /// Whether functions without flags get some although others have manual ones, as in
    /// [`Kernel::insert_sync`](slipring::Kernel::insert_sync).
    pub insert_sync: bool,
    /// The language of the file, if not determined by its name.
    pub language: Option<Lang>,
    /// How each point is run.
    pub run: RunOptions,
    /// Number of points run concurrently; 0 for the number of host cores.
    pub threads: usize,
    pub(crate) read: LastRead,
}

impl Tune {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Tune, Error> {
        let path = path.into();
        let name = path.display().to_string();
        Ok(Tune::new(name, slipring_session::compiled::read_source(&path)?))
    }

    /// A file with these contents.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Tune {
        Tune {
            name: name.into(),
            bytes,
            function: None,
            args: Vec::new(),
            sets: Vec::new(),
            seed: 0,
            platform: None,
            interpretations: Vec::new(),
            clusters: None,
            language: None,
            insert_sync: false,
            run: RunOptions::default(),
            threads: 0,
            read: LastRead::default(),
        }
    }

    pub(super) fn defaults(&self) -> Defaults {
        Defaults { seed: self.seed, memory: self.run.limits.memory, ..Defaults::default() }
    }

    pub(super) fn is_language(&self) -> bool {
        CompileRequest::default().language(self.language).source(self.name.as_str(), "").language
    }
}

/// The file as last read for points, and its compiled forms.
#[derive(Default, Debug)]
pub(crate) struct LastRead(pub(crate) Mutex<Vec<(Subject, Subject)>>);

/// Number of entries kept: this many points are run concurrently by threads, and adjacent ones often do not differ in
/// anything that is lowered.
pub(crate) const MOST_READ: usize = 16;

impl Clone for LastRead {
    fn clone(&self) -> LastRead {
        LastRead::default()
    }
}
