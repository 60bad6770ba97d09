//! The behaviour of a stream's workers: they acknowledge launches, or run kernels.

use clap::Args;
use slipring::QueueWork;

use super::super::platform::PlatformArgs;

/// How long a launch takes on a worker unless said otherwise, in cycles.
pub(super) const KERNEL_CYCLES: u64 = 1000;

/// What the workers do.
#[derive(Args)]
pub(super) struct WorkArgs {
    /// Duration of each launch on a worker, in cycles
    #[arg(long, default_value_t = KERNEL_CYCLES, value_name = "CYCLES")]
    kernel_cycles: u64,
    /// Run the kernels of the images that workers are sent, as `run --device --record` writes them, in place of
    /// acknowledging launches
    #[arg(long, conflicts_with = "kernel_cycles")]
    pub kernels: bool,
    #[command(flatten)]
    platform: PlatformArgs,
}

impl WorkArgs {
    /// The behaviour of the workers.
    ///
    /// # Errors
    ///
    /// If there is no such platform, or one is given although no kernels are run.
    pub fn work(&self) -> Result<QueueWork, String> {
        let named = self.platform.named().map_err(|error| error.to_string())?;
        let asked = named.is_some() || !self.platform.interpretations.is_empty();
        match (self.kernels, named) {
            (false, _) if asked => Err("`--arch`, `--platform` and `--interpretation` are for `--kernels`".into()),
            (false, _) => Ok(QueueWork::Acknowledge(self.kernel_cycles)),
            (true, None) if asked => Err("`--interpretation` takes `--arch` or `--platform` here".into()),
            (true, named) => Ok(QueueWork::Kernels(named.map(|mut platform| {
                platform.interpretations.extend(self.platform.interpretations.iter().cloned());
                Box::new(platform)
            }))),
        }
    }
}
