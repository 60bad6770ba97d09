//! Arguments of the verbs that read files of the kernel language.

use clap::Args;
use slipring::{CompileRequest, Error, Lang};

// Values for what builds kernels.
#[derive(Args, Clone, Default)]
pub(super) struct SetArgs {
    /// Set a constant of the file, or a parameter of a function that builds kernels. Kernel language only
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
    /// Language of a file whose name does not show it, such as `-`: the kernel language (`py`), `.pto` text (`pto`) or the
    /// assembler's C++ (`cpp`)
    #[arg(long, value_name = "LANG", value_parser = ["py", "pto", "cpp"])]
    lang: Option<String>,
}

impl SetArgs {
    /// The language of the file, if it is given.
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
    /// Shape of an argument that the kernel leaves open: `x=f32[64x64]`, `@x.npy`, or any argument that `run` accepts
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    pub args: Vec<String>,
    #[command(flatten)]
    pub sets: SetArgs,
}

impl ShapeArgs {
    /// The compile request of a file.
    ///
    /// # Errors
    ///
    /// A value without a name.
    pub fn asked(&self) -> Result<CompileRequest, Error> {
        Ok(CompileRequest::new(None, &self.args, &self.sets.sets)?.language(self.sets.language()))
    }
}
