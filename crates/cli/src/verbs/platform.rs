//! The target platform of a verb.

use slipring::{Error, Kernel, Program};
use slipring_ir::Module;
use slipring_machine::Platform;

use super::input::read_text;

// The target platform of a verb.
#[derive(clap::Args, Clone)]
pub(super) struct PlatformArgs {
    /// Built-in platform, a5 or a2a3. Defaults to the module's `pto.target_arch`, else a5 (`check`: both)
    #[arg(long)]
    pub arch: Option<String>,
    /// A custom platform file
    #[arg(long, value_name = "TOML", conflicts_with = "arch")]
    pub platform: Option<String>,
    /// Use the alternative interpretation of this name where public sources disagree (docs/decisions/interpretations.md)
    #[arg(long = "interpretation", alias = "reading", value_name = "NAME", value_parser = interpretation)]
    pub interpretations: Vec<String>,
}

/// The name of an interpretation.
fn interpretation(name: &str) -> Result<String, String> {
    if slipring_machine::interpretations::question(name).is_some() {
        return Ok(name.to_string());
    }
    Err(format!("there are {}", slipring_machine::interpretations::names()))
}

impl PlatformArgs {
    /// Whether a platform was requested.
    pub fn is_given(&self) -> bool {
        self.arch.is_some() || self.platform.is_some()
    }

    /// The platform for a module: the requested one, else the module's own.
    ///
    /// # Errors
    ///
    /// If there is no such platform.
    pub fn choose(&self, module: &Module) -> Result<Platform, Error> {
        let mut platform = match self.named()? {
            Some(platform) => platform,
            None => slipring::choose_platform(None, module).map_err(|error| Error::Platform(error.to_string()))?,
        };
        platform.interpretations.extend(self.interpretations.iter().cloned());
        Ok(platform)
    }

    /// The platforms for a module: the requested one, else those for which the module may be written.
    ///
    /// # Errors
    ///
    /// If there is no such platform.
    pub fn all(&self, module: &Module) -> Result<Vec<Platform>, Error> {
        let mut list = match self.named()? {
            Some(platform) => vec![platform],
            None => slipring::platforms_of(module)?,
        };
        list.iter_mut().for_each(|platform| platform.interpretations.extend(self.interpretations.iter().cloned()));
        Ok(list)
    }

    /// Sets the requested platform of a kernel, if there is one.
    pub fn apply(&self, kernel: Kernel) -> Result<Kernel, Error> {
        let kernel = kernel.interpretations(self.interpretations.iter().cloned())?;
        Ok(match self.named()? {
            Some(platform) => kernel.on(platform),
            None => kernel,
        })
    }

    /// Sets the requested platform of a whole program, if there is one.
    pub fn apply_to(&self, program: Program) -> Result<Program, Error> {
        let program = program.interpretations(self.interpretations.iter().cloned())?;
        Ok(match self.named()? {
            Some(platform) => program.on(platform),
            None => program,
        })
    }

    /// The requested platform, if there is one.
    ///
    /// # Errors
    ///
    /// If there is no such platform.
    pub fn named(&self) -> Result<Option<Platform>, Error> {
        match (&self.platform, &self.arch) {
            (Some(path), _) => {
                let text = read_text(path).map_err(Error::File)?;
                let platform = slipring::read_platform(&text);
                Ok(Some(platform.map_err(|error| Error::Platform(format!("{path}: {error}")))?))
            }
            (None, Some(arch)) => {
                let platform = slipring_machine::built_in(arch);
                Ok(Some(platform.map_err(|error| Error::Platform(error.to_string()))?))
            }
            (None, None) => Ok(None),
        }
    }
}
