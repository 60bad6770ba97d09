//! A text compiled and run by the library, in this process.

use slipring::args::{Defaults, bound};
use slipring::{Bound, ExecuteOptions, Execution, Loaded, Prepared, check, execute, load_file, prepare, slot_buffers};
use slipring_check::{CheckReport, Checker, Tools};
use slipring_ir::{Severity, Source};
use slipring_machine::Platform;

/// A program for a platform.
pub struct Ready {
    pub prepared: Prepared,
    pub platform: Platform,
}

impl Ready {
    /// Compiles the text of a file of this name.
    ///
    /// # Errors
    /// Why it is refused: every error with its code.
    pub fn of(name: &str, text: &str, platform: &Platform) -> Result<Ready, Vec<String>> {
        let Loaded { module, mut diags, .. } = load_file(Source::new(name, text));
        if !diags.has_errors() {
            check(&module, platform, &mut diags);
        }
        let prepared = (!diags.has_errors()).then(|| prepare(module, None, platform, &mut diags)).flatten();
        let Some(prepared) = prepared else {
            let errors = diags.list.iter().filter(|said| said.severity == Severity::Error);
            return Err(errors.map(|said| format!("{}: {}", said.code, said.message)).collect());
        };
        Ok(Ready { prepared, platform: platform.clone() })
    }

    /// What words of the command line stand for; `None` where they do not fit.
    pub fn values(&self, words: &[String]) -> Option<Vec<Bound<'static>>> {
        bound(words, &self.prepared.decoded.program.params, &Defaults::default()).ok()
    }

    /// Runs it without a check.
    pub fn run(&self, values: &[Bound<'static>]) -> Execution {
        execute(&self.prepared.decoded, &self.platform, values, ExecuteOptions::default(), &mut ())
    }

    /// Runs so many blocks of it with every check. What a ring leaves in its slots is no result.
    pub fn checked(&self, values: &[Bound<'static>], blocks: u32) -> (Execution, CheckReport) {
        let tools = Tools { scratch: slot_buffers(&self.prepared, values), ..Tools::default() };
        let mut checker = Checker::new(tools);
        let execution = execute(&self.prepared.decoded, &self.platform, values, of_blocks(blocks), &mut checker);
        let report = checker.report(&execution.result);
        (execution, report)
    }
}

/// A launch of so many blocks, with nothing else asked for.
pub fn of_blocks(blocks: u32) -> ExecuteOptions {
    ExecuteOptions { blocks, ..ExecuteOptions::default() }
}

/// The words of the `// args:` line of a text.
pub fn args_of(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("// args:"))?;
    Some(line.split_whitespace().map(str::to_string).collect())
}
