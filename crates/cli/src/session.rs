//! The results of `check` and `run` for a text, for clients that repeat them after each change.

use std::sync::{Arc, OnceLock};

use slipring::{
    Checked, CompileRequest, Control, Error, Kernel, Lang, ProgramOptions, ProveOptions, Report, RunOptions, Subject,
    Tensor, platforms_of,
};
use slipring_report::LineFacts;

/// Whether a Python text imports the kernel language: it may contain kernels.
pub(crate) fn names_us(text: &str) -> bool {
    ["slipring", "pypto"].iter().any(|name| text.contains(name))
}

/// A text, its name, and its language. Derived results are computed once.
#[derive(Clone, Debug)]
pub struct Text {
    /// The name of the file: relative paths are resolved from its folder.
    pub name: String,
    /// The language, if it is given besides the name.
    pub language: Option<Lang>,
    /// The text.
    pub text: String,
    /// Whether Python may execute it, if available: true for a saved file, false for a text that is being edited.
    pub saved: bool,
    read: Arc<OnceLock<Subject>>,
}

/// The results of a default run.
#[derive(Debug)]
pub struct Ran {
    /// Kernel or program, and platform.
    pub title: String,
    /// The cycle at which the last operation completed.
    pub cycles: u64,
    /// Error of the cycles in per cent; `None` for an estimate.
    pub error_percent: Option<f64>,
    /// Whether the run completed.
    pub complete: bool,
    /// All findings.
    pub findings: Report,
    /// The activity of each line of a kernel; empty for a whole program.
    pub lines: Vec<LineFacts>,
    /// The page of `slipring report`, if it was requested and something ran.
    pub page: Option<String>,
}

impl Text {
    /// A text with a name, its language where the name does not determine it, and whether it was saved.
    pub fn new(name: impl Into<String>, language: Option<Lang>, text: impl Into<String>, saved: bool) -> Text {
        Text { name: name.into(), language, text: text.into(), saved, read: Arc::default() }
    }

    /// The same file with another text.
    pub fn with(&self, text: impl Into<String>) -> Text {
        Text::new(self.name.as_str(), self.language, text, self.saved)
    }

    /// The subject from which all results are computed.
    pub fn subject(&self) -> &Subject {
        self.read.get_or_init(|| {
            let asked = CompileRequest::default().language(self.language);
            let asked = if self.saved { asked.executing() } else { asked };
            Subject::new(asked.source(&self.name, &self.text), &asked)
        })
    }

    /// Checks it as `slipring check` does without options.
    ///
    /// # Errors
    /// If there is no such platform.
    pub fn check(&self) -> Result<Checked, Error> {
        self.subject().check(platforms_of)
    }

    /// Runs it as `slipring run` does without options.
    ///
    /// # Errors
    /// Why it was not run.
    pub fn run(&self, control: &Control) -> Result<Ran, Error> {
        self.run_with(control, false)
    }

    /// Runs it as [`Text::run`] does, and also renders the page if `page` is set.
    ///
    /// # Errors
    ///
    /// Why it was not run.
    pub fn run_with(&self, control: &Control, page: bool) -> Result<Ran, Error> {
        let subject = self.subject().executed()?;
        if let Some(program) = subject.program()? {
            let tensors: Vec<Tensor<'_>> = program.arguments(&[], 0)?;
            let mut options = ProgramOptions::default();
            (options.control, options.record) = (control.clone(), page);
            let followed = program.followed(&tensors, &options)?;
            let program = followed.as_ref().unwrap_or(&program);
            program.compile()?;
            let run = program.run(tensors, &options)?;
            let facts = run.facts();
            return Ok(Ran {
                title: format!("{} on {}", facts.program, facts.platform),
                cycles: facts.cycles,
                error_percent: facts.evidence.error_percent(),
                complete: run.is_complete(),
                findings: run.findings().clone(),
                lines: Vec::new(),
                page: if page { run.html().and_then(Result::ok) } else { None },
            });
        }
        let kernel = subject.kernel()?;
        let tensors: Vec<Tensor<'_>> = kernel.arguments(&[], 0)?;
        let run = kernel.run_with(tensors, &RunOptions::default().control(control.clone()).record(true))?;
        Ok(Ran {
            title: format!("{} on {}", kernel.name()?, kernel.platform_name()?),
            cycles: run.cycles(),
            error_percent: run.backing().error_percent(),
            complete: run.is_complete(),
            findings: run.findings().clone(),
            lines: run.lines().unwrap_or_default(),
            page: if page { run.html(None).and_then(Result::ok) } else { None },
        })
    }

    /// The kernel.
    ///
    /// # Errors
    /// If it has errors.
    pub fn read(&self) -> Result<Kernel, Error> {
        self.subject().executed()?.kernel()
    }

    /// The text after the edits of `check --fix`, or else of `prove --fix`, with descriptions of the edits; `None`
    /// where there are none.
    ///
    /// # Errors
    ///
    /// If it has errors.
    pub fn mended(&self) -> Result<Option<(String, Vec<String>)>, Error> {
        let checked = self.check()?;
        let again = |source: slipring::Source| self.with(source.text).check();
        if let Some(fix) = checked.mend(again)? {
            return Ok(Some((fix.text, fix.edits)));
        }
        if checked.errors() > 0 || checked.source().language || checked.source().cpp {
            return Ok(None);
        }
        let kernel = self.read()?;
        let tensors: Vec<Tensor<'_>> = kernel.arguments(&[], 0)?;
        let proof = kernel.prove(tensors, &ProveOptions::default())?;
        Ok(proof.fix.map(|fix| (fix.text, fix.edits)))
    }
}
