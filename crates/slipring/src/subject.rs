//! A text and what is asked of it: parsed once, and lowered once for the same arguments, whatever is made of it.

use std::path::Path;
use std::sync::Arc;

use slipring_ir::Module;
use slipring_session::Input;

use crate::{Checked, CompileRequest, Error, Kernel, Loaded, Platform, Program, Source};

/// A text and what is asked of it. The parsed text, its kernels and its whole program up to the first question are made once, when they
/// are first asked for. Copies are the same one.
///
/// ```
/// use slipring::{CompileRequest, Subject};
/// let text = "
/// import slipring.language as pl
///
/// @pl.jit
/// def double(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
///     out[:] = pl.mul(a[:, :], 2.0)
/// ";
/// let subject = Subject::read("k.py", text.into(), &CompileRequest::default())?;
/// assert!(subject.program()?.is_none());
/// assert_eq!(subject.kernel()?.name()?, "double");
/// # Ok::<(), slipring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subject(Input);

impl Subject {
    /// A text as its source says it is.
    pub fn new(source: Source, asked: &CompileRequest) -> Subject {
        Subject(Input::new(source, asked))
    }

    /// What a file of this name holds: the kernel language if it ends in `.py`, else a text, unless something else is asked for.
    ///
    /// # Errors
    /// If it is not a text, or empty.
    pub fn read(name: &str, bytes: Vec<u8>, asked: &CompileRequest) -> Result<Subject, Error> {
        Input::read(name, bytes, asked).map(Subject)
    }

    /// The same for a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: impl AsRef<Path>, asked: &CompileRequest) -> Result<Subject, Error> {
        Input::open(path, asked).map(Subject)
    }

    /// The same text with something else asked of it. It is not parsed again.
    pub fn asking(&self, asked: &CompileRequest) -> Subject {
        Subject(self.0.asking(asked))
    }

    /// The text for the only kernel or program of a file that this process executes, or the one that is named, with the first of the
    /// calls of the file's own code; the file as it is where nothing executes it.
    ///
    /// # Errors
    /// What the file's own code raised, and several.
    pub fn executed(&self) -> Result<Subject, Error> {
        self.0.executed().map(Subject)
    }

    /// The text.
    pub fn source(&self) -> &Arc<Source> {
        self.0.source()
    }

    /// What is asked of it.
    pub fn asked(&self) -> &CompileRequest {
        self.0.asked()
    }

    /// Functions and kernels of the text, with everything that was said of them.
    pub fn loaded(&self) -> &Loaded {
        self.0.loaded()
    }

    /// The kernels, or the one that is asked for.
    ///
    /// # Errors
    /// If the text has errors.
    pub fn kernel(&self) -> Result<Kernel, Error> {
        Kernel::of(&self.0)
    }

    /// The whole program; `None` where the text has none, but kernels.
    ///
    /// # Errors
    /// If the program has errors: those, and what else is wrong with the kernels of the text.
    pub fn program(&self) -> Result<Option<Program>, Error> {
        Program::read(&self.0)
    }

    /// What the text decides on the platforms that are given for its module, such as all that are built in.
    ///
    /// # Errors
    /// If there is no such platform. What is wrong with the text is in what is returned.
    pub fn check(&self, platforms: impl Fn(&Module) -> Result<Vec<Platform>, Error>) -> Result<Checked, Error> {
        Checked::of(&self.0, platforms)
    }

    /// What stands below it.
    #[doc(hidden)]
    pub fn input(&self) -> &Input {
        &self.0
    }
}
