//! External tools that check exported kernels.

use std::path::{Path, PathBuf};
use std::time::Duration;

use slipring_outside::{CallFolder, call, in_path};

/// External tools that check exported kernels. Tools that are not set are searched for.
#[derive(Clone, Debug)]
pub struct LeavingTools {
    /// The assembler's binary; else `ptoas` of `$PTOAS_ROOT` or of `PATH`.
    pub assembler: Option<PathBuf>,
    /// A checkout of the public headers, or their folder; else `$PTO_ISA_ROOT`.
    pub headers: Option<PathBuf>,
    /// A C++ compiler for this machine; else `$CXX`, `clang++` or `g++`.
    pub compiler: Option<PathBuf>,
    /// The folder in which all files are kept.
    pub keep: Option<PathBuf>,
    /// Time limit for each tool.
    pub limit: Duration,
}

/// The arguments of the assembler for a text, after its name.
pub(crate) fn assembler_words(arch: &str) -> [String; 2] {
    [format!("--pto-arch={arch}"), "--pto-level=level3".into()]
}

impl LeavingTools {
    /// The assembler.
    pub(crate) fn assembler(&self) -> Option<PathBuf> {
        let root = || std::env::var_os("PTOAS_ROOT").map(PathBuf::from);
        let of_root =
            || root().and_then(|root| [root.join("ptoas"), root.join("bin/ptoas")].into_iter().find(|f| f.is_file()));
        self.assembler.clone().or_else(of_root).or_else(|| in_path(&["ptoas"]))
    }

    /// Compiles a text to C++. The inner `Err` holds the assembler's error messages about the text.
    ///
    /// # Errors
    ///
    /// If the assembler cannot be called, or times out: the text is then unchecked.
    pub(crate) fn assemble(
        &self,
        assembler: &Path,
        text: &str,
        arch: &str,
        folder: &CallFolder,
    ) -> Result<Result<String, String>, String> {
        folder.write("kernel.pto", text.as_bytes())?;
        let [arch, level] = assembler_words(arch);
        let words = [arch.as_str(), level.as_str(), "kernel.pto", "-o", "kernel.cpp"];
        let assembler = assembler.canonicalize().map_err(|error| format!("`{}`: {error}", assembler.display()))?;
        let said = call(&assembler, &words, folder, &[], self.limit)?;
        match said.well {
            true => Ok(Ok(String::from_utf8_lossy(&folder.read("kernel.cpp")?).into_owned())),
            false => Ok(Err(said.reason())),
        }
    }
}
