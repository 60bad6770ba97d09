//! A text and its compile request: parsed once, and lowered once for the same arguments, whatever is done with it.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use slipring_ir::{Diagnostic, Diags, Module, Severity, Source, visible_name};
use slipring_lang::tasks::{Answer, Orchestration};
use slipring_lang::{ArgType, Parsed, Request};

use crate::compiled::read_source;
use crate::prepare::load_text;
use crate::{CompileRequest, Error, Loaded, Report};

/// A text and its compile request. The parsed text, its kernels and its whole program up to the first question are each
/// computed once, on first use; methods that say so trace the host code again. Clones share their contents.
#[derive(Clone, Debug)]
pub struct Input(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Arc<Source>,
    asked: CompileRequest,
    form: Arc<Form>,
    /// The whole program up to its first question, with its diagnostics.
    program: OnceLock<Option<(Arc<Orchestration>, Vec<Diagnostic>)>>,
    /// Its kernels, and whether it is known to have none.
    loaded: OnceLock<(Loaded, bool)>,
}

/// The parsed text, whatever the request.
#[derive(Debug)]
enum Form {
    /// The kernel language, parsed on first use, with errors about modules that could not be read.
    Language(OnceLock<(Parsed, Vec<Diagnostic>)>),
    /// A `.pto` text or C++, parsed on first use.
    Text(OnceLock<(Module, Diags)>),
}

impl Input {
    /// A text in the language given by its source.
    pub fn new(source: Source, asked: &CompileRequest) -> Input {
        let source = Arc::new(source);
        let form = if source.language { Form::Language(OnceLock::new()) } else { Form::Text(OnceLock::new()) };
        Input::of(source, asked.clone(), Arc::new(form))
    }

    fn of(source: Arc<Source>, asked: CompileRequest, form: Arc<Form>) -> Input {
        Input(Arc::new(Inner { source, asked, form, program: OnceLock::new(), loaded: OnceLock::new() }))
    }

    /// A file's contents: the kernel language if its name ends in `.py`, otherwise a text, unless the request specifies
    /// another language.
    ///
    /// # Errors
    /// If it is not a text, or empty.
    pub fn read(name: &str, bytes: Vec<u8>, asked: &CompileRequest) -> Result<Input, Error> {
        let shown = visible_name(name);
        let text = String::from_utf8(bytes).map_err(|_| Error::File(format!("`{shown}` is not UTF-8 text")))?;
        if text.trim().is_empty() {
            return Err(Error::File(format!("`{shown}` is empty")));
        }
        Ok(Input::new(asked.source(name, text), asked))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: impl AsRef<Path>, asked: &CompileRequest) -> Result<Input, Error> {
        let path = path.as_ref();
        Input::read(&path.display().to_string(), read_source(path)?, asked)
    }

    /// The same text with another request. It is not parsed again.
    pub fn asking(&self, asked: &CompileRequest) -> Input {
        Input::of(self.0.source.clone(), asked.clone(), self.0.form.clone())
    }

    /// The text.
    pub fn source(&self) -> &Arc<Source> {
        &self.0.source
    }

    /// The compile request.
    pub fn asked(&self) -> &CompileRequest {
        &self.0.asked
    }

    /// The parsed text; `None` for anything but the kernel language.
    fn parsed(&self) -> Option<&(Parsed, Vec<Diagnostic>)> {
        match &*self.0.form {
            Form::Language(read) => Some(read.get_or_init(|| self.0.asked.parse(&self.0.source))),
            Form::Text(_) => None,
        }
    }

    /// Calls `work` with the parsed text and the request; `None` for anything but the kernel language.
    fn with<T>(&self, work: impl FnOnce(&Parsed, &Request<'_>) -> T) -> Option<T> {
        let (parsed, _) = self.parsed()?;
        Some(self.0.asked.with(&self.0.source, |request| work(parsed, request)))
    }

    /// Errors before anything is lowered: requests that the text may not make, and modules that cannot be read.
    fn said(&self) -> Vec<Diagnostic> {
        let mut said = self.0.asked.refused(&self.0.source);
        if let Some((_, unread)) = self.parsed() {
            said.extend(unread.iter().cloned());
        }
        said
    }

    /// Functions and kernels of the text, with all diagnostics about them.
    pub fn loaded(&self) -> &Loaded {
        &self.lowered().0
    }

    fn lowered(&self) -> &(Loaded, bool) {
        self.0.loaded.get_or_init(|| {
            let (mut loaded, none) = match &*self.0.form {
                Form::Language(read) => {
                    let (parsed, _) = read.get_or_init(|| self.0.asked.parse(&self.0.source));
                    let (compiled, diags) = self.0.asked.with(&self.0.source, |request| parsed.compile(request));
                    (Loaded { module: compiled.module, diags, kernels: compiled.kernels }, compiled.none)
                }
                Form::Text(read) => {
                    let (module, diags) = read.get_or_init(|| load_text(self.0.source.clone())).clone();
                    (Loaded { module, diags, kernels: Vec::new() }, false)
                }
            };
            loaded.diags.list.splice(0..0, self.said());
            let first = loaded.diags.list.iter_mut().find(|said| said.severity == Severity::Error);
            if let (Some(first), Some(note)) = (first, self.0.asked.guessed(&self.0.source)) {
                first.notes.push(note.into());
            }
            (loaded, none)
        })
    }

    /// The whole program up to its first question.
    pub fn first(&self) -> Option<&(Arc<Orchestration>, Vec<Diagnostic>)> {
        self.0.program.get_or_init(|| self.follow(&self.0.asked, None, false)).as_ref()
    }

    /// True for a text that has no kernels, but possibly a whole program.
    pub fn has_no_kernels(&self) -> bool {
        self.lowered().1
    }

    /// The errors of a program, followed by those of the text's kernels that hold for all arguments.
    pub fn and_of_kernels(&self, report: Report) -> Report {
        let (loaded, none) = self.lowered();
        let wrong = |said: &&Diagnostic| said.severity == Severity::Error && !said.kind.waits_for_arguments();
        let new = |said: &&Diagnostic| !report.messages().iter().any(|known| known.repeats(said));
        let more: Vec<Diagnostic> = match none {
            true => Vec::new(),
            false => loaded.diags.list.iter().filter(wrong).filter(new).cloned().collect(),
        };
        report.and(more)
    }

    /// Traces the whole program, with answers to its questions, and returns its diagnostics; `None` if the text has
    /// none. With `made_up`, the contents of its tensors are invented, so errors that may come from them do not count.
    pub fn follow(
        &self,
        asked: &CompileRequest,
        answer: Option<&mut Answer<'_>>,
        made_up: bool,
    ) -> Option<(Arc<Orchestration>, Vec<Diagnostic>)> {
        let (parsed, _) = self.parsed()?;
        let (orchestration, mut diags) = asked.with(&self.0.source, |request| parsed.orchestrate(request, answer))?;
        if made_up && orchestration.doubtful {
            for said in diags.list.iter_mut().filter(|said| said.severity == Severity::Error) {
                said.severity = Severity::Note;
                said.notes.push("with placeholder numbers chosen by this check: code after it is not checked".into());
            }
        }
        diags.list.splice(0..0, self.said());
        Some((Arc::new(orchestration), diags.list))
    }

    /// The arguments that the host code of the text passes to its kernels. Traces the host code again.
    pub fn passed_by_host(&self) -> Vec<(String, Vec<ArgType>)> {
        self.with(|parsed, request| parsed.passed_by_host(request)).unwrap_or_default()
    }

    /// Names of the whole programs of the text. Traces the host code again.
    pub fn programs(&self) -> Vec<String> {
        self.with(|parsed, request| parsed.programs(request)).unwrap_or_default()
    }

    /// Names of extents determined by a call, if programs of the text query the number of devices. Traces the host code
    /// again.
    pub fn device_extents(&self) -> Vec<String> {
        self.with(|parsed, request| parsed.device_extents(request)).unwrap_or_default()
    }

    /// Whether constants of the file, or functions that build its kernels, accept a value of this name. Traces the host
    /// code again.
    pub fn takes(&self, name: &str) -> bool {
        self.with(|parsed, request| parsed.takes(name, request)).unwrap_or_default()
    }
}
