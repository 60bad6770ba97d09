//! Reads the assembler's C++ back: its results, and whether its own flags and addresses order its operations correctly.

use slipring::{Error, Kernel, Report, Tensor};
use slipring_ir::Severity;
use slipring_report::{CheckFacts, CheckStatus};

use crate::closeness::differences;
use crate::launched::{Launched, Passing};

const TOOL: &str = "C++ read back";

impl Launched<'_> {
    /// Parses the C++, launches it with the same arguments and compares the resulting buffers.
    ///
    /// # Errors
    ///
    /// Those of a run.
    pub(crate) fn read_back(&self, cpp: &str, passing: &[Passing]) -> Result<(CheckFacts, Option<Report>), Error> {
        let row = |verdict, detail: String, findings| CheckFacts::new(TOOL, verdict, detail, findings);
        let unread = |error: Error| match error.report() {
            Some(report) => {
                let first = report.messages().first().map_or(String::new(), |first| first.message.to_string());
                let detail = format!("the assembler's output cannot be read: {first}");
                Ok((row(CheckStatus::NotChecked, detail, 0), Some(report.clone())))
            }
            None => Err(error),
        };
        let kernel = match self.of_text("kernel.cpp", cpp).and_then(|kernel| kernel.compile().map(|_| kernel)) {
            Ok(kernel) => kernel,
            Err(error) => return unread(error),
        };
        // The C++ does not state the number of blocks of a launch.
        let options = self.options.clone().blocks(self.kernel.blocks(self.options)?);
        let run = kernel.run_with(self.tensors(&kernel, passing)?, &options)?;
        let findings = run.findings().clone();
        let mut different = Vec::new();
        let mut same = 0;
        for (at, passed) in passing.iter().enumerate().filter(|(_, passed)| passed.is_buffer) {
            let Some(argument) = passed.argument else { continue };
            let (Some(ours), Some(theirs)) = (self.run.left(argument), run.left(at)) else { continue };
            match differences(ours, theirs, passed.elem) {
                None => same += 1,
                Some((first, count)) => {
                    different.push(format!("`{}` differs in {count} elements, first in element {first}", passed.name));
                }
            }
        }
        // A warning that the simulated run also gives is about the program and not about the C++.
        let here = self.run.findings();
        let own: Vec<_> = findings
            .messages()
            .iter()
            .filter(|message| {
                message.severity != Severity::Warning || here.messages().iter().all(|h| h.kind != message.kind)
            })
            .collect();
        let found = own.len() + different.len();
        let detail = match (found, run.is_complete()) {
            (0, true) => format!("the same bytes in {same} buffers; no findings with its own flags and addresses"),
            (0, false) => "its run does not end".into(),
            _ => {
                let said = own.first().map(|first| first.message.to_string());
                different.into_iter().chain(said).collect::<Vec<_>>().join("; ")
            }
        };
        let is_clean = found == 0 && run.is_complete();
        let verdict = if is_clean { CheckStatus::Clean } else { CheckStatus::Findings };
        Ok((row(verdict, detail, found), (!findings.messages().is_empty()).then_some(findings)))
    }

    /// The arguments as the C++ takes them: unsigned integers become signed ones with the same bits.
    fn tensors(&self, kernel: &Kernel, passing: &[Passing]) -> Result<Vec<Tensor<'static>>, Error> {
        let params = kernel.parameters()?;
        let tensor = |(at, passed): (usize, &Passing)| {
            if passed.is_buffer {
                return Tensor::raw(passed.bytes.clone());
            }
            let own = params.get(at).and_then(|param| param.elem);
            let bits = passed.bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            match (own, passed.elem) {
                (Some(to), Some(from)) if to != from && !to.is_float() => Tensor::whole(i128::from(bits as i64)),
                _ => self.args[passed.argument.unwrap_or(0)].clone(),
            }
        };
        Ok(passing.iter().enumerate().map(tensor).collect())
    }
}
