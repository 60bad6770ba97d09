//! What leaves for a board, judged again: the text that is printed for the assembler, the C++ that it makes of it, that C++ read
//! back and run here, and the same C++ on the CPU back end of the public headers.

mod closeness;
mod project;
mod read_back;
mod simulator;

use std::path::{Path, PathBuf};
use std::time::Duration;

use slipring_program::ParamKind;
use slipring_report::CheckFacts;
use slipring_tile::Elem;

use crate::{BuiltProgram, Error, Kernel, Run, RunOptions};
pub use project::{Returned, returned};
use slipring_outside::{CallFolder, in_path};
use slipring_session::args::{Arg, Value};

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

/// What was found of a kernel that leaves.
#[derive(Debug)]
pub struct Leaving {
    /// A row for each judge.
    pub checks: Vec<CheckFacts>,
    /// Messages on the C++, with their places in it.
    pub messages: Vec<crate::Report>,
    /// True if nothing could be judged at all.
    pub unjudged: bool,
    /// The C++, where the assembler made some.
    pub cpp: Option<String>,
}

/// A launch of a kernel, and what it did here.
#[derive(Clone, Copy)]
pub struct Launched<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// What was passed.
    pub args: &'a [Arg],
    /// What it did here.
    pub run: &'a Run<'a>,
    /// How it was run.
    pub options: &'a RunOptions,
}

/// A parameter of what leaves, in the order of the C++: what is passed for it.
pub(crate) struct Passing {
    pub name: String,
    /// Bytes of a buffer, or the eight of a scalar.
    pub bytes: Vec<u8>,
    /// Which argument of the kernel it is; `None` for memory that the host makes room for.
    pub argument: Option<usize>,
    pub elem: Option<Elem>,
    pub is_buffer: bool,
    /// Holds slots of a ring in global memory: what is left there means nothing.
    pub slots: bool,
}

/// What the assembler is called with for a text, after its name.
pub(crate) fn assembler_words(arch: &str) -> [String; 2] {
    [format!("--pto-arch={arch}"), "--pto-level=level3".into()]
}

/// How far numbers of a type may be off: of the expected one, and in any case. What a board computes with its own functions and
/// in its own order is not the same to the last bit.
pub(crate) fn tolerance(elem: Option<Elem>) -> (f64, f64) {
    match elem {
        Some(Elem::F32) => (1e-5, 1e-6),
        Some(Elem::F16) => (2e-3, 1e-4),
        Some(Elem::BF16) => (1e-2, 1e-3),
        Some(elem) if elem.is_float() => (1.25e-1, 1e-2),
        _ => (0.0, 0.0),
    }
}

impl LeavingTools {
    /// The assembler.
    fn assembler(&self) -> Option<PathBuf> {
        let root = || std::env::var_os("PTOAS_ROOT").map(PathBuf::from);
        let of_root =
            || root().and_then(|root| [root.join("ptoas"), root.join("bin/ptoas")].into_iter().find(|f| f.is_file()));
        self.assembler.clone().or_else(of_root).or_else(|| in_path(&["ptoas"]))
    }

    /// Makes C++ of a text; as an `Err` in it, what the assembler says against the text.
    ///
    /// # Errors
    /// If it cannot be called, or takes too long: nothing is known of the text then.
    fn assemble(
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
        let said = slipring_outside::call(&assembler, &words, folder, &[], self.limit)?;
        match said.well {
            true => Ok(Ok(String::from_utf8_lossy(&folder.read("kernel.cpp")?).into_owned())),
            false => Ok(Err(said.reason())),
        }
    }
}

impl Launched<'_> {
    /// What is passed to what leaves: the arguments of the launch, and memory that the host makes room for.
    ///
    /// # Errors
    /// If the printed text is no kernel: slipring is at fault.
    pub(crate) fn passing(&self, text: &str) -> Result<Vec<Passing>, Error> {
        let printed = self.of_text("kernel.pto", text)?;
        let blocks = u64::from(self.kernel.blocks(self.options)?);
        let mut list = Vec::new();
        let mut args = self.args.iter().enumerate();
        let compiled = printed.compiled()?;
        let holding = slipring_op::ring::slot_parameters(&compiled.prepared.module, &compiled.platform);
        for param in &compiled.prepared.decoded.program.params {
            let (elem, is_buffer) = match param.kind {
                ParamKind::Scratch { bytes_per_block } => {
                    let bytes = vec![0; (bytes_per_block * blocks) as usize];
                    list.push(Passing {
                        name: param.name.clone(),
                        bytes,
                        argument: None,
                        elem: None,
                        is_buffer: true,
                        slots: true,
                    });
                    continue;
                }
                ParamKind::Buffer { elem, .. } => (Some(elem), true),
                ParamKind::Scalar(elem) => (Some(elem), false),
                ParamKind::Bool => (None, false),
            };
            let Some((at, arg)) = args.next() else {
                let message = format!("what was built takes `{}`, for which nothing was passed", param.name);
                return Err(Error::Arguments(message));
            };
            let bytes = match &arg.value {
                Value::Buffer(_) => self.run.input(at).unwrap_or_default().to_vec(),
                Value::Scalar(bits) => bits.to_le_bytes().to_vec(),
            };
            let slots = holding.contains(&param.name);
            list.push(Passing { name: param.name.clone(), bytes, argument: Some(at), elem, is_buffer, slots });
        }
        Ok(list)
    }

    /// A text as a kernel for the same platform, with the same interpretations: the function of the kernel's name where it has several.
    fn of_text(&self, name: &str, text: &str) -> Result<Kernel, Error> {
        let compiled = self.kernel.compiled()?;
        let kernel = Kernel::from_text(name, text)?.on(compiled.platform.clone());
        Ok(match self.kernel.function_name() {
            Some(function) => kernel.function(function),
            None => kernel,
        })
    }

    /// Judges a kernel that leaves for a board.
    ///
    /// # Errors
    /// If files cannot be written, or the printed text is no kernel.
    pub fn judge(&self, built: &BuiltProgram, tools: &LeavingTools) -> Result<Leaving, Error> {
        let text = built.text().map_err(Error::Unsupported)?;
        let folder = CallFolder::new(tools.keep.as_deref()).map_err(Error::File)?;
        let row = |tool: &str, verdict: &str, detail: String| CheckFacts {
            tool: tool.into(),
            verdict: verdict.into(),
            detail,
            findings: usize::from(verdict == "findings"),
        };
        let mut leaving = Leaving { checks: Vec::new(), messages: Vec::new(), unjudged: false, cpp: None };
        let Some(assembler) = tools.assembler().filter(|file| file.is_file()) else {
            let how = "there is no `ptoas` in PATH or $PTOAS_ROOT: give `--ptoas BINARY`; docs/to-the-board.md says how to build it";
            leaving.checks.push(row("assembler", "not checked", how.into()));
            leaving.unjudged = true;
            return Ok(leaving);
        };
        let arch = built.arch().unwrap_or_default().to_string();
        let cpp = match tools.assemble(&assembler, &text, &arch, &folder) {
            Ok(Ok(cpp)) => cpp,
            Err(reason) => {
                leaving.checks.push(row("assembler", "not checked", reason));
                leaving.unjudged = true;
                return Ok(leaving);
            }
            Ok(Err(reason)) => {
                leaving.checks.push(row("assembler", "findings", format!("it rejects the printed text: {reason}")));
                return Ok(leaving);
            }
        };
        let words = assembler_words(&arch).join(" ");
        leaving.checks.push(row("assembler", "clean", format!("`ptoas {words}` accepts the printed text")));
        let passing = self.passing(&text)?;
        let (back, messages) = self.read_back(&cpp, &passing)?;
        leaving.checks.push(back);
        leaving.messages.extend(messages);
        leaving.checks.push(self.simulate(&cpp, &passing, tools, &folder)?);
        leaving.cpp = Some(cpp);
        Ok(leaving)
    }
}

/// The first element that differs, and how many do.
pub(crate) fn differences(a: &[u8], b: &[u8], elem: Option<Elem>) -> Option<(usize, usize)> {
    let bytes = elem.map_or(1, Elem::bytes);
    let mut wrong = a.chunks(bytes).zip(b.chunks(bytes)).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
    let first = wrong.next();
    match first {
        None if a.len() != b.len() => Some((a.len().min(b.len()) / bytes, 1)),
        None => None,
        Some(first) => Some((first, 1 + wrong.count())),
    }
}
