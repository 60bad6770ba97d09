//! The recording program: the kernel with headers that log its calls, compiled for this machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::{described, host};
use slipring_machine::CoreKind;
use slipring_session::Error;
use slipring_session::cpp::{element_names, library_calls};
use slipring_tile::BLayout;

use crate::recording::recorder::Recorder;
use crate::tools::{Toolchain, call};

/// Files that are written next to the kernel's: their names and contents.
const HEADERS: &[(&str, &str)] = &[
    ("own/numbers.hpp", include_str!("../../headers/numbers.hpp")),
    ("own/constants.hpp", include_str!("../../headers/constants.hpp")),
    ("own/recorder.hpp", include_str!("../../headers/recorder.hpp")),
    ("own/library.hpp", include_str!("../../headers/library.hpp")),
    ("own/runtime.hpp", include_str!("../../headers/runtime.hpp")),
    ("own/stores.hpp", include_str!("../../headers/stores.hpp")),
    ("own/launch.hpp", include_str!("../../headers/launch.hpp")),
    ("runtime/tensor.h", include_str!("../../headers/tensor.h")),
    ("runtime/pipe_sync.h", include_str!("../../headers/pipe_sync.h")),
    ("runtime/intrinsic.h", include_str!("../../headers/intrinsic.h")),
];

/// Headers of the library and of the vendor that kernels include; here they all have the same contents.
const LIBRARY: &[&str] = &[
    "acl/acl.h",
    "kernel_operator.h",
    "pto/common/constants.hpp",
    "pto/common/event.hpp",
    "pto/common/fifo.hpp",
    "pto/common/memory.hpp",
    "pto/common/pto_tile.hpp",
    "pto/common/type.hpp",
    "pto/common/utils.hpp",
    "pto/pto-inst.hpp",
];

/// The program that enters the kernel, in the folder where the compiler runs.
const MAIN: &str = "main.cpp";

/// Minimum time limit of the compiler: on a busy machine it takes seconds even where a core takes none.
const COMPILER: Duration = Duration::from_secs(60);

/// Tile operations that the headers define themselves.
const DEFINED: [&str; 5] = ["TASSIGN", "TFREE", "TPOP", "TPUSH", "TRESHAPE"];

impl Recorder<'_> {
    /// Writes the headers, and the kernel with its launch.
    pub fn write_headers(&self) -> Result<(), String> {
        let write = |name: &str, text: &str| {
            let path = self.folder.path().join(name);
            let parent = path.parent().unwrap_or(&path);
            std::fs::create_dir_all(parent).map_err(|error| format!("cannot make `{}`: {error}", parent.display()))?;
            self.folder.write(name, text.as_bytes())
        };
        for (name, text) in HEADERS {
            write(name, text)?;
        }
        for name in LIBRARY {
            let up = "../".repeat(name.matches('/').count() + 1);
            write(&format!("library/{name}"), &format!("#pragma once\n#include \"{up}own/runtime.hpp\"\n"))?;
        }
        let (mut ops, mut words) = (String::new(), String::new());
        let mut all: BTreeMap<String, usize> = DEFINED.iter().map(|name| (name.to_string(), 0)).collect();
        for (name, writes) in library_calls() {
            all.entry(name).or_insert(writes);
        }
        for (name, writes) in &all {
            if !DEFINED.contains(&name.as_str()) {
                let _ = writeln!(ops, "SLIPRING_OP({name}, {writes})");
            }
            let _ = writeln!(words, "#define {name} slipring_at(__FILE__, __LINE__).{name}");
        }
        let elements: String = element_names().iter().map(|name| format!("SLIPRING_ELEM({name})\n")).collect();
        write("own/elements.hpp", &elements)?;
        write("own/ops.hpp", &ops)?;
        write("own/words.hpp", &words)?;
        let path =
            self.asked.file.canonicalize().map_err(|error| format!("`{}`: {error}", self.source.shown_name()))?;
        let kernel = path.display();
        let (absent, entry) = (self.entry.absent(), self.entry.written());
        let main = format!(
            "#include \"own/runtime.hpp\"\n\
             #include \"{kernel}\"\n\
             namespace slipring_absent {{ {absent} }}\n\
             using namespace slipring_absent;\n\
             #include \"own/launch.hpp\"\n\
             int main(int count, char **words) {{\n    \
                 return slipring::launch<ChipTensor, LocalContext, GlobalContext>(count, words, ::{entry});\n}}\n"
        );
        write(MAIN, &main)
    }

    /// The program for a kind of core.
    pub fn binary(kind: CoreKind) -> &'static str {
        if kind == CoreKind::Cube { "cube" } else { "vector" }
    }

    /// Compiles the kernel for one kind of core.
    pub fn compile(&self, kind: CoreKind) -> Result<(), Error> {
        let cube = kind == CoreKind::Cube;
        let core = if cube { "CUBE" } else { "VEC" };
        let layout = match self.asked.platform.left_blayout {
            BLayout::RowMajor => "RowMajor",
            BLayout::ColMajor => "ColMajor",
        };
        let mut words: Vec<String> = ["-std=c++20", "-O0", "-w", "-fmax-errors=4"].map(String::from).into();
        words.extend([
            format!("-DSLIPRING_LEFT=BLayout::{layout}"),
            format!("-DSLIPRING_CUBE={}", u8::from(cube)),
            format!("-D__DAV_{core}__"),
        ]);
        let name = &self.asked.platform.name;
        if let Some(own) = Toolchain::ALL.iter().find(|own| own.platform == name) {
            let number = own.number;
            words.push(format!("-D__CCE_AICORE__={number}"));
            words.push(format!("-D__DAV_C{number}_{core}__"));
            words.push(format!("-D__DAV_C{number}__"));
            words.push(format!("-DPTO_NPU_ARCH_{}", name.to_ascii_uppercase()));
            words.push(format!("-D{}", own.memory));
        }
        words.extend(self.asked.defines.iter().map(|define| format!("-D{define}")));
        words.extend(["-Iown".into(), "-Ilibrary".into()]);
        let beside = self.asked.file.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf));
        words.extend(beside.map(|folder| format!("-I{}", folder.display())));
        for folder in &self.asked.include {
            let folder = folder
                .canonicalize()
                .map_err(|error| Error::Arguments(format!("the folder `{}`: {error}", folder.display())))?;
            words.push(format!("-I{}", folder.display()));
        }
        words.push("-Iruntime".into());
        // In English, because the locations of errors are parsed.
        let english = [("LC_ALL", "C".to_string())];
        let asked = |own: &[&str]| {
            let all: Vec<&str> = words.iter().map(String::as_str).chain(own.iter().copied()).collect();
            call(&self.compiler, &all, &self.folder, &english, self.asked.limit.max(COMPILER))
                .map_err(Error::Unsupported)
        };
        let plain = format!("{}.ii", Recorder::binary(kind));
        let first = asked(&["-E", MAIN, "-o", &plain])?;
        let launches = match first.well {
            true => self.folder.read(&plain).map_err(Error::File)?,
            false => Vec::new(),
        };
        let launches = host::in_plain_cpp(&String::from_utf8_lossy(&launches));
        let said = match &launches {
            _ if !first.well => first,
            // Columns refer to the author's lines.
            None => asked(&[MAIN, "-o", Recorder::binary(kind)])?,
            Some(text) => {
                self.folder.write(&plain, text.as_bytes()).map_err(Error::File)?;
                asked(&[&plain, "-o", Recorder::binary(kind)])?
            }
        };
        if said.well {
            return Ok(());
        }
        let what = format!("this does not compile for the {} with the recording headers", described(kind));
        let why = said.reason();
        // The author's files are named by full paths.
        if let Some((MAIN, _, why)) = placed(&why) {
            let message = format!("`{}` cannot be entered on the {}: {why}", self.entry.written(), described(kind));
            let help = "a function or template of this file, or of its headers, is entered; a template is named with its arguments, \
                        such as `--entry 'add<float, 2>'`";
            return Err(self.error("recording", (0, 0), message, help));
        }
        let found = placed(&why).and_then(|(file, place, why)| Some((self.source_of(file)?, place, why)));
        if let Some((source, (line, column), rest)) = found {
            let place = (line, if launches.is_some() { 0 } else { column });
            let help = "a header is found with `-I DIR`; a call that is not recorded cannot be judged; `--core` leaves out the \
                        other kind of core";
            return Err(self.error_in(&source, "recording", place, format!("{what}: {rest}"), help));
        }
        Err(Error::Unsupported(format!("{what}: {why}")))
    }
}

/// The file, line, column and message of a compiler error: `kernel.cpp:57:9: error: …`.
fn placed(said: &str) -> Option<(&str, (usize, usize), &str)> {
    let (place, why) = [": fatal error: ", ": error: "].iter().find_map(|mark| said.split_once(mark))?;
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file, (line.parse().ok()?, column.parse().ok()?), why))
}
