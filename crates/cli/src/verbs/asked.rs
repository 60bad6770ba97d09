//! Arguments of the verbs that read files of the kernel language.

use clap::Args;
use slipring::{Asked, Error, Lang};

// Values for what builds kernels.
#[derive(Args, Clone, Default)]
pub(super) struct SetArgs {
    /// Give a parameter of a function that builds kernels, or a constant of the file, a value. For files of the kernel language
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
    /// What a file is whose name does not say it, such as `-`: the kernel language (`py`), a `.pto` text (`pto`) or the assembler's
    /// C++ (`cpp`)
    #[arg(long, value_name = "LANG", value_parser = ["py", "pto", "cpp"])]
    lang: Option<String>,
}

impl SetArgs {
    /// What a file is written in, where that is said.
    pub fn language(&self) -> Option<Lang> {
        self.lang.as_ref().map(|lang| match lang.as_str() {
            "py" => Lang::Python,
            "cpp" => Lang::Cpp,
            _ => Lang::Text,
        })
    }
}

// Shapes for verbs that pass no values.
#[derive(Args, Clone, Default)]
pub(super) struct ShapeArgs {
    /// The shape of an argument of a kernel whose text leaves it open: `x=f32[64x64]`, `@x.npy`, or anything that `run` takes
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    pub args: Vec<String>,
    #[command(flatten)]
    pub sets: SetArgs,
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
