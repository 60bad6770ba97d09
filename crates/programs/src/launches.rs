//! A whole program, launched several times.

use crate::run::ProgramRun;
use crate::{Program, ProgramOptions};
use slipring_session::{Args, Error};

impl Program {
    /// Runs the tasks, each when everything that it waits for is complete and a cluster is free; as many launches as
    /// requested, up to the first one with a finding.
    ///
    /// # Errors
    /// If a kernel has errors, or out of memory. Errors in the run are its findings.
    pub fn run<'a>(&self, args: impl Into<Args<'a>>, options: &ProgramOptions) -> Result<ProgramRun<'_>, Error> {
        let before = self.contents(args.into())?;
        for number in 1..options.launches {
            let mut run = self.run_on(before.clone(), &options.of_launch(number))?;
            if run.has_findings() {
                run.launch = number;
                return Ok(run);
            }
        }
        let mut run = self.run_on(before, &options.of_launch(options.launches))?;
        run.launch = options.launches;
        Ok(run)
    }
}

impl ProgramRun<'_> {
    /// Whether the run did not complete, or has findings; hints are not findings.
    pub fn has_findings(&self) -> bool {
        !self.is_complete() || self.findings().has_findings()
    }

    /// The number of this launch, counted from 1: the last one requested, or the first one with a finding.
    pub fn launch(&self) -> u32 {
        self.launch
    }
}
