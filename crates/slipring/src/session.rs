//! What `check` and `run` say of a text, for those who ask again with each change of it.

use slipring::{
    Asked, Checked, Control, Error, Kernel, Program, ProgramOptions, ProveOptions, Report, RunOptions, Tensor,
    platforms_of,
};

/// A text, its name, and what it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The file's name: what lies beside it is read from there.
    pub name: String,
    /// Whether it is of the kernel language, where that is said besides the name.
    pub language: Option<bool>,
    /// The text.
    pub text: String,
    /// Whether Python may execute it, where there is one: what was saved, and not what is just being typed.
    pub saved: bool,
}

/// What came of a plain run.
#[derive(Debug)]
pub struct Ran {
    /// Kernel or program, and platform.
    pub title: String,
    /// When the last operation was over.
    pub cycles: u64,
    /// True if it came to its end.
    pub complete: bool,
    /// Everything that was found.
    pub findings: Report,
}

impl Text {
    fn asked(&self) -> Asked {
        let asked = Asked::default().language(self.language);
        if self.saved { asked.executing() } else { asked }
    }

    /// Checks it as `slipring check` does without options.
    ///
    /// # Errors
    /// If there is no such platform.
    pub fn check(&self) -> Result<Checked, Error> {
        let asked = self.asked();
        Checked::of(asked.source(&self.name, &self.text), &asked, platforms_of)
    }

    /// Runs it as `slipring run` does without options.
    ///
    /// # Errors
    /// Why it was not run.
    pub fn run(&self, control: &Control) -> Result<Ran, Error> {
        let bytes = self.text.clone().into_bytes();
        if let Some(program) = Program::read_as(&self.name, bytes.clone(), &self.asked())? {
            let tensors: Vec<Tensor<'_>> = program.arguments(&[], 0)?.into_iter().map(Tensor::from).collect();
            let mut options = ProgramOptions::default();
            options.control = control.clone();
            let followed = program.followed(&tensors, &options)?;
            let program = followed.as_ref().unwrap_or(&program);
            program.compile()?;
            let run = program.run(tensors, &options)?;
            let facts = run.facts();
            return Ok(Ran {
                title: format!("{} on {}", facts.program, facts.platform),
                cycles: facts.cycles,
                complete: run.is_complete(),
                findings: run.findings().clone(),
            });
        }
        let kernel = self.kernel(bytes)?;
        let tensors: Vec<Tensor<'_>> = kernel.arguments(&[], 0)?.into_iter().map(Tensor::from).collect();
        let run = kernel.run_with(tensors, &RunOptions::default().control(control.clone()))?;
        Ok(Ran {
            title: format!("{} on {}", kernel.name()?, kernel.platform_name()?),
            cycles: run.cycles(),
            complete: run.is_complete(),
            findings: run.findings().clone(),
        })
    }

    fn kernel(&self, bytes: Vec<u8>) -> Result<Kernel, Error> {
        Kernel::read_as(&self.name, bytes, &self.asked())
    }

    /// The kernel.
    ///
    /// # Errors
    /// If it has errors.
    pub fn read(&self) -> Result<Kernel, Error> {
        self.kernel(self.text.clone().into_bytes())
    }

    /// What the text is after the edits of `check --fix`, or else of `prove --fix`, and the edits in words; `None` where there are none.
    ///
    /// # Errors
    /// If it has errors.
    pub fn mended(&self) -> Result<Option<(String, Vec<String>)>, Error> {
        let checked = self.check()?;
        let again = |source: slipring::Source| Text { text: source.text, ..self.clone() }.check();
        if let Some(fix) = checked.mend(again)? {
            return Ok(Some((fix.text, fix.edits)));
        }
        if checked.errors() > 0 || checked.source().language || checked.source().cpp {
            return Ok(None);
        }
        let kernel = self.read()?;
        let tensors: Vec<Tensor<'_>> = kernel.arguments(&[], 0)?.into_iter().map(Tensor::from).collect();
        let proof = kernel.prove(tensors, &ProveOptions::default())?;
        Ok(proof.fix.map(|fix| (fix.text, fix.edits)))
    }
}
