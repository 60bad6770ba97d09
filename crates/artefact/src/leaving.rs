//! The verdicts of all tools on an exported kernel.

use slipring::{BuiltProgram, Error, Report};
use slipring_outside::CallFolder;
use slipring_report::{CheckFacts, CheckStatus};

use crate::launched::Launched;
use crate::tools::{LeavingTools, assembler_words};

/// The findings on an exported kernel.
#[derive(Debug)]
pub struct Leaving {
    /// A row for each tool.
    pub checks: Vec<CheckFacts>,
    /// Messages about the C++, with locations in it.
    pub messages: Vec<Report>,
    /// True if no tool could be run.
    pub unjudged: bool,
    /// The C++, if the assembler produced any.
    pub cpp: Option<String>,
}

impl Launched<'_> {
    /// Checks a kernel exported for a board.
    ///
    /// # Errors
    ///
    /// If files cannot be written, or the printed text is not a kernel.
    pub fn judge(&self, built: &BuiltProgram, tools: &LeavingTools) -> Result<Leaving, Error> {
        let text = built.text().map_err(Error::Unsupported)?;
        let folder = CallFolder::new(tools.keep.as_deref()).map_err(Error::File)?;
        let row = |tool: &str, verdict: CheckStatus, detail: String| {
            CheckFacts::new(tool, verdict, detail, usize::from(verdict == CheckStatus::Findings))
        };
        let mut leaving = Leaving { checks: Vec::new(), messages: Vec::new(), unjudged: false, cpp: None };
        let Some(assembler) = tools.assembler().filter(|file| file.is_file()) else {
            let how = "there is no `ptoas` in PATH or $PTOAS_ROOT: give `--ptoas BINARY`; docs/to-the-board.md says how to build it";
            leaving.checks.push(row("assembler", CheckStatus::NotChecked, how.into()));
            leaving.unjudged = true;
            return Ok(leaving);
        };
        let arch = built.arch().unwrap_or_default().to_string();
        let cpp = match tools.assemble(&assembler, &text, &arch, &folder) {
            Ok(Ok(cpp)) => cpp,
            Err(reason) => {
                leaving.checks.push(row("assembler", CheckStatus::NotChecked, reason));
                leaving.unjudged = true;
                return Ok(leaving);
            }
            Ok(Err(reason)) => {
                leaving.checks.push(row(
                    "assembler",
                    CheckStatus::Findings,
                    format!("it rejects the printed text: {reason}"),
                ));
                return Ok(leaving);
            }
        };
        let words = assembler_words(&arch).join(" ");
        leaving.checks.push(row("assembler", CheckStatus::Clean, format!("`ptoas {words}` accepts the printed text")));
        let passing = self.passing(&text)?;
        let (back, messages) = self.read_back(&cpp, &passing)?;
        leaving.checks.push(back);
        leaving.messages.extend(messages);
        leaving.checks.push(self.simulate(&cpp, &passing, tools, &folder)?);
        leaving.cpp = Some(cpp);
        Ok(leaving)
    }
}
