//! A text with its compile request: parsed once, and lowered once for the same arguments, whatever it is used for.

use std::path::Path;
use std::sync::Arc;

use slipring_ir::Module;
use slipring_session::Input;

use crate::{Checked, CompileRequest, Error, Kernel, Loaded, Platform, Program, Source};

/// A text with its compile request. The parsed text, its kernels and its whole program up to the first query are
/// computed once, on first use. Clones share the results.
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
    /// A text in the language of its source.
    pub fn new(source: Source, asked: &CompileRequest) -> Subject {
        Subject(Input::new(source, asked))
    }

    /// The contents of a file of this name: the kernel language if it ends in `.py`, else a text, unless the request
    /// says otherwise.
    ///
    /// # Errors
    ///
    /// If it is not a text, or empty.
    pub fn read(name: &str, bytes: Vec<u8>, asked: &CompileRequest) -> Result<Subject, Error> {
        Input::read(name, bytes, asked).map(Subject)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(path: impl AsRef<Path>, asked: &CompileRequest) -> Result<Subject, Error> {
        Input::open(path, asked).map(Subject)
    }

    /// The same text with another request. It is not parsed again.
    pub fn asking(&self, asked: &CompileRequest) -> Subject {
        Subject(self.0.asking(asked))
    }

    /// For a file that this process executes: the text of its only kernel or program, or of the named one, with the
    /// first of the calls in the file's own code. Where nothing executes the file, the file as it is.
    ///
    /// # Errors
    ///
    /// An exception raised by the file's own code, or several kernels.
    pub fn executed(&self) -> Result<Subject, Error> {
        self.0.executed().map(Subject)
    }

    /// The text.
    pub fn source(&self) -> &Arc<Source> {
        self.0.source()
    }

    /// The compile request.
    pub fn asked(&self) -> &CompileRequest {
        self.0.asked()
    }

    /// Functions and kernels of the text, with all diagnostics about them.
    pub fn loaded(&self) -> &Loaded {
        self.0.loaded()
    }

    /// The kernels, or the requested one.
    ///
    /// # Errors
    /// If the text has errors.
    pub fn kernel(&self) -> Result<Kernel, Error> {
        Kernel::of(&self.0)
    }

    /// The whole program; `None` if the text only has kernels.
    ///
    /// # Errors
    ///
    /// If the program has errors: these, and any other errors in the kernels of the text.
    pub fn program(&self) -> Result<Option<Program>, Error> {
        Program::read(&self.0)
    }

    /// Static checks of the text on the platforms that `platforms` returns for its module, such as all built-in ones.
    ///
    /// # Errors
    ///
    /// If there is no such platform. Errors of the text are part of the result.
    pub fn check(&self, platforms: impl Fn(&Module) -> Result<Vec<Platform>, Error>) -> Result<Checked, Error> {
        Checked::of(&self.0, platforms)
    }

    /// The underlying input.
    #[doc(hidden)]
    pub fn input(&self) -> &Input {
        &self.0
    }
}
