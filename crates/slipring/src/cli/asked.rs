//! Arguments of the verbs that read files of the kernel language.

use clap::Args;
use slipring::{Asked, Error};

/// Values for what builds kernels.
#[derive(Args, Clone, Default)]
pub(super) struct SetArgs {
    /// Give a parameter of a function that builds kernels, or a constant of the file, a value. For files of the kernel language
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
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
        Asked::new(None, &self.args, &self.sets.sets)
    }
}
