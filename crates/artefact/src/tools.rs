//! Tools of others that judge what leaves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use slipring_outside::{CallFolder, call, in_path};

/// Tools of others that judge what leaves. What is not named is looked for.
#[derive(Clone, Debug)]
pub struct LeavingTools {
    /// The assembler's binary; else `ptoas` of `$PTOAS_ROOT` or of `PATH`.
    pub assembler: Option<PathBuf>,
    /// A checkout of the public headers, or their folder; else `$PTO_ISA_ROOT`.
    pub headers: Option<PathBuf>,
    /// A C++ compiler for this computer; else `$CXX`, `clang++` or `g++`.
    pub compiler: Option<PathBuf>,
    /// Where all files are kept.
    pub keep: Option<PathBuf>,
    /// How long a tool may take.
    pub limit: Duration,
}

/// What the assembler is called with for a text, after its name.
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

    /// Makes C++ of a text; as an `Err` in it, what the assembler says against the text.
    ///
    /// # Errors
    /// If it cannot be called, or takes too long: nothing is known of the text then.
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
