//! The assembler's C++ on the CPU back end of the public headers: an independent implementation, with bugs of its own.

use std::path::{Path, PathBuf};

use slipring::Error;
use slipring_outside::{CallFolder, call, compiler, reason};
use slipring_report::{CheckFacts, CheckStatus};
use slipring_tile::Space;

use crate::closeness::{DOUBTFUL, closeness};
use crate::launched::{Launched, Passing};
use crate::tools::LeavingTools;

const TOOL: &str = "CPU simulator";
const HARNESS: &str = include_str!("harness.cpp");

/// A replacement for the header, for compilers without this type.
const STDFLOAT: &str = "#pragma once\nnamespace std { using bfloat16_t = __bf16; }\n";

/// Known differences between this back end and boards: strings of the C++ that indicate one, and its description.
const OTHERWISE: &[(&[&str], &str)] = &[
    (&["RoundMode::CAST_FLOOR"], "it ignores directed rounding to floats"),
    (&["RoundMode::CAST_CEIL"], "it ignores directed rounding to floats"),
    (&["RoundMode::CAST_TRUNC"], "it ignores directed rounding to floats"),
    (&["RoundMode::CAST_ODD"], "it ignores directed rounding to floats"),
    (&["Direction::DIR_BOTH", "TILE_NO_SPLIT"], "it hangs where pipes of both directions are not divided"),
    (&["Direction::DIR_V2C_GM"], "it has no pipes of this direction with slots in global memory"),
    (&["wait_intra_block"], "it has no signals between the cores of a cluster"),
];

/// Known reasons why it stops or fails to compile: a string of its output, and the reason.
const STOPS: &[(&str, &str)] = &[
    ("CheckTileData", "it loads no window that is not of its tile's valid shape"),
    ("Divider cannot be equal to zero", "it stops at a division by zero"),
    ("error: use of undeclared identifier", "it lacks functions of the library"),
    ("/pto/common/event.hpp", "these headers have another form of a function"),
    ("error: no matching function for call", "these headers have another form of a function"),
    ("/pto/cpu/TPrint.hpp", "it does not print numbers of this type"),
];

/// A header that boards share: what it rejects is rejected for boards too.
const SHARED: &str = "/pto/common/pto_tile.hpp";

/// Its behaviour where a slot is freed directly after its pop.
const FREED_AT_ONCE: &str = "its bytes change from run to run where a slot is freed directly after its pop";

/// Macros that set the sizes of its local memories.
const SPACES: &[(&str, Space)] = &[
    ("PTO_CPU_SIM_L1_BYTES", Space::Mat),
    ("PTO_CPU_SIM_L0A_BYTES", Space::Left),
    ("PTO_CPU_SIM_L0B_BYTES", Space::Right),
    ("PTO_CPU_SIM_L0C_BYTES", Space::Acc),
];

/// The comparison with the simulator's results.
enum Simulated {
    /// The number of buffers, all with the same bytes.
    Same(usize),
    /// Floats within the tolerance of their type.
    Close(String),
    /// Some floats are only within the tolerance relative to the largest value of their buffer.
    Doubtful(String),
    /// The differences are infinite values or NaNs.
    NoNumbers(String),
    Different(String),
}

impl Launched<'_> {
    /// Compiles the C++ against the headers, runs it with the same arguments and compares the resulting buffers.
    ///
    /// # Errors
    ///
    /// If files cannot be written.
    pub(crate) fn simulate(
        &self,
        cpp: &str,
        passing: &[Passing],
        tools: &LeavingTools,
        folder: &CallFolder,
    ) -> Result<CheckFacts, Error> {
        let row = |verdict: CheckStatus, detail: String| {
            CheckFacts::new(TOOL, verdict, detail, usize::from(verdict == CheckStatus::Findings))
        };
        let unchecked = |why: String| Ok(row(CheckStatus::NotChecked, why));
        let Some(headers) = tools.headers() else {
            if let Some(named) = &tools.headers {
                return unchecked(format!("`{}` does not hold `pto/pto-inst.hpp`", named.display()));
            }
            return unchecked(
                "no headers: `git clone https://github.com/hw-native-sys/pto-isa`, then `--headers pto-isa` or $PTO_ISA_ROOT".into(),
            );
        };
        let Some(compiler) = compiler(tools.compiler.as_deref()) else {
            if let Some(named) = &tools.compiler {
                return unchecked(format!("there is no compiler `{}`", named.display()));
            }
            return unchecked("no C++ compiler: clang 15 or gcc 14, or newer; `--cxx COMPILER` names one".into());
        };
        let blocks = self.kernel.blocks(self.options)?;
        let known = otherwise(cpp);
        let write = |name: &str, bytes: &[u8]| folder.write(name, bytes).map_err(Error::File);
        write("harness.cpp", HARNESS.as_bytes())?;
        write("stdfloat", STDFLOAT.as_bytes())?;
        for (n, passed) in passing.iter().enumerate() {
            write(&format!("arg{n}"), &passed.bytes)?;
        }
        let Some(entry) = entry(cpp, self.kernel.name()?) else {
            return unchecked("the C++ has no function that a host launches".into());
        };
        if let Err(said) = compile(&compiler, &headers, &entry, folder, tools) {
            let why = reason(&said);
            if why.contains(SHARED) && why.contains("static assertion failed") {
                return Ok(row(CheckStatus::Findings, format!("the headers refuse the C++, for boards too: {why}")));
            }
            let known: Vec<&str> = known.iter().copied().chain(stops(&said)).collect();
            let why = known.first().map_or(why.clone(), |known| format!("{known}: {why}"));
            return unchecked(format!(
                "the C++ does not compile with these headers and `{}`: {why}",
                compiler.display()
            ));
        }
        let run = || self.launch(passing, blocks, folder, tools);
        let (first, second) = match (run(), run()) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(said), _) | (_, Err(said)) => {
                let why = reason(&said);
                return Ok(match known.iter().copied().chain(stops(&said)).next() {
                    Some(known) => row(CheckStatus::NotChecked, format!("{known}: {why}")),
                    None => row(CheckStatus::Findings, why),
                });
            }
        };
        if first != second {
            let known = known.iter().copied().find(|what| *what == FREED_AT_ONCE);
            return unchecked(known.unwrap_or("its bytes change from run to run").into());
        }
        Ok(match (self.against(passing, &first), known.first()) {
            (Simulated::Same(count), _) => row(CheckStatus::Clean, format!("the same bytes in {count} buffers")),
            (Simulated::Close(what), _) => row(CheckStatus::Clean, what),
            (Simulated::Doubtful(what), _) => row(CheckStatus::Partly, what),
            (Simulated::NoNumbers(what), _) => row(
                CheckStatus::NotChecked,
                format!("{what}; infinities and NaN become other values there, and so do divisions by zero"),
            ),
            (Simulated::Different(what), Some(known)) => row(CheckStatus::NotChecked, format!("{known}: {what}")),
            (Simulated::Different(what), None) => row(CheckStatus::Findings, what),
        })
    }

    /// Runs the compiled program: the resulting buffers, or all of its output if it stopped.
    fn launch(
        &self,
        passing: &[Passing],
        blocks: u32,
        folder: &CallFolder,
        tools: &LeavingTools,
    ) -> Result<Vec<Vec<u8>>, String> {
        let words = [blocks.to_string(), passing.len().to_string()];
        let mut environment = vec![("PTO_CPU_SIM_NUM_CORES", blocks.to_string())];
        if let Ok(compiled) = self.kernel.compiled() {
            let bytes = |space| compiled.platform.space(space).map(|spec| spec.bytes.to_string());
            environment.extend(SPACES.iter().filter_map(|(name, space)| Some((*name, bytes(*space)?))));
        }
        let said = call(&folder.path().join("simulated"), &words, folder, &environment, tools.limit)?;
        if !said.well {
            return Err(said.text);
        }
        (0..passing.len()).map(|n| folder.read(&format!("left{n}"))).collect()
    }

    /// Compares the simulator's results with those of the simulated run.
    fn against(&self, passing: &[Passing], left: &[Vec<u8>]) -> Simulated {
        let (mut same, mut close, mut doubtful, mut none) = (0, Vec::new(), Vec::new(), Vec::new());
        for (passed, theirs) in passing.iter().zip(left).filter(|(passed, _)| passed.is_buffer && !passed.slots) {
            let Some(ours) = passed.argument.and_then(|argument| self.run.left(argument)) else { continue };
            let found = closeness(ours, theirs, passed.elem);
            let told = format!(
                "`{}` differs in {} elements, the worst of them first in element {}",
                passed.name, found.different, found.first
            );
            match (found.wrong, found.no_numbers, found.doubtful, found.different) {
                (0, 0, 0, 0) => same += 1,
                (0, 0, 0, _) => {
                    close.push(format!("{told}, within {:.2} of the tolerance of its type", found.furthest))
                }
                (0, 0, count, _) => doubtful.push(format!("{told}; {count} {DOUBTFUL}")),
                (0, ..) => none.push(told),
                _ => return Simulated::Different(told),
            }
        }
        match (close.is_empty(), doubtful.is_empty(), none.is_empty()) {
            (true, true, true) => Simulated::Same(same),
            (_, _, false) => Simulated::NoNumbers(none.join("; ")),
            (_, false, true) => Simulated::Doubtful(doubtful.into_iter().chain(close).collect::<Vec<_>>().join("; ")),
            (false, true, true) => Simulated::Close(close.join("; ")),
        }
    }
}

/// Known differences of the back end that apply to this C++.
fn otherwise(cpp: &str) -> Vec<&'static str> {
    let shown = |(words, _): &&(&[&str], &str)| words.iter().all(|word| cpp.contains(word));
    let mut list: Vec<&str> = OTHERWISE.iter().filter(shown).map(|(_, what)| *what).collect();
    let statements = || cpp.lines().map(str::trim).filter(|line| !line.is_empty());
    if statements().zip(statements().skip(1)).any(|(a, b)| a.starts_with("TPOP<") && b.starts_with("TFREE<")) {
        list.push(FREED_AT_ONCE);
    }
    list.dedup();
    list
}

/// The known reason for which it stopped, if there is one.
fn stops(said: &str) -> Option<&'static str> {
    STOPS.iter().find(|(words, _)| said.contains(words)).map(|(_, what)| *what)
}

/// The function that a host launches: the only one, or the one with the kernel's name.
fn entry(cpp: &str, name: &str) -> Option<String> {
    let heads = cpp.lines().filter(|line| line.contains("__global__"));
    let names: Vec<&str> = heads.filter_map(|line| line.split('(').next()?.split_whitespace().next_back()).collect();
    match names.as_slice() {
        [only] => Some((*only).to_string()),
        several => several.iter().find(|own| **own == name).map(|own| (*own).to_string()),
    }
}

/// Compiles the program, or returns the output of the compiler.
fn compile(
    compiler: &Path,
    headers: &Path,
    entry: &str,
    folder: &CallFolder,
    tools: &LeavingTools,
) -> Result<(), String> {
    let include = headers.canonicalize().map_err(|error| format!("`{}`: {error}", headers.display()))?;
    let words = [
        "-std=c++23".to_string(),
        "-O0".into(),
        "-w".into(),
        "-D__CPU_SIM".into(),
        "-D__STDCPP_BFLOAT16_T__=1".into(),
        format!("-DSLIPRING_KERNEL={entry}"),
        "-I.".into(),
        format!("-I{}", include.display()),
        "harness.cpp".into(),
        "-rdynamic".into(),
        "-o".into(),
        "simulated".into(),
        "-ldl".into(),
        "-lpthread".into(),
    ];
    let said = call(compiler, &words, folder, &[], tools.limit)?;
    if said.well { Ok(()) } else { Err(said.text) }
}

impl LeavingTools {
    /// The folder that holds `pto/pto-inst.hpp`.
    fn headers(&self) -> Option<PathBuf> {
        let root = self.headers.clone().or_else(|| std::env::var_os("PTO_ISA_ROOT").map(PathBuf::from))?;
        [root.join("include"), root].into_iter().find(|folder| folder.join("pto/pto-inst.hpp").is_file())
    }
}
