//! Arguments of the verbs that read files of the kernel language.

use clap::Args;
use slipring::{Asked, Error};

/// Values for what builds kernels.
#[derive(Args, Clone, Default)]
pub(super) struct SetArgs {
    /// Give a parameter of a function that builds kernels, or a constant of the file, a value. For files of the kernel language
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
    /// What a file is whose name does not say it, such as `-`: the kernel language (`py`) or a `.pto` text (`pto`)
    #[arg(long, value_name = "LANG", value_parser = ["py", "pto"])]
    lang: Option<String>,
}

impl SetArgs {
    /// Whether a file is of the kernel language, where that is said.
    pub fn language(&self) -> Option<bool> {
        self.lang.as_ref().map(|lang| lang == "py")
    }
}

/// Shapes for verbs that pass no values.
#[derive(Args, Clone, Default)]
pub(super) struct ShapeArgs {
    /// The shape of an argument of a kernel whose text leaves it open: `x=f32[64x64]`, `@x.npy`, or anything that `run` takes
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    args: Vec<String>,
    #[command(flatten)]
    sets: SetArgs,
}

impl ShapeArgs {
    /// What is asked of a file.
    ///
    /// # Errors
    /// A value without a name.
    pub fn asked(&self) -> Result<Asked, Error> {
        Ok(Asked::new(None, &self.args, &self.sets.sets)?.language(self.sets.language()))
    }
}
