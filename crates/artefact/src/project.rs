//! A project folder for a board: kernel, launch, inputs, expected outputs and a comparison script; also reads the
//! outputs that come back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use slipring::{BuiltProgram, Error};
use slipring_machine::CoreKind;
use slipring_op::function::{has_flags, is_entry};
use slipring_outside::Toolchain;
use slipring_report::{CheckFacts, CheckStatus, digest};
use slipring_session::files;
use slipring_tile::{Elem, load_f32};

use crate::closeness::{DOUBTFUL, closeness, tolerance};
use crate::launched::{Launched, Passing};
use crate::tools::assembler_words;

const HOST: &str = include_str!("templates/host.cpp");
const COMPARE: &str = include_str!("templates/compare.py");
const MAKEFILE: &str = include_str!("templates/Makefile");
const README: &str = include_str!("templates/README.md");

/// The manifest of a project: its contents, and the files that slipring wrote.
const MANIFEST: &str = "project.json";

/// The format version of the manifest.
const FORM: u32 = 1;

/// The maximum size of a file that is read back.
const MOST: u64 = 1 << 33;

/// How the host passes a parameter.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Passed {
    Buffer,
    Scratch,
    Scalar,
    Flags,
}

impl Passed {
    /// The identifier in the host program.
    const fn word(self) -> &'static str {
        match self {
            Passed::Buffer => "Buffer",
            Passed::Scratch => "Scratch",
            Passed::Scalar => "Scalar",
            Passed::Flags => "Flags",
        }
    }
}

/// A parameter of the launch.
#[derive(Serialize, Deserialize)]
struct Slot {
    name: String,
    passed: Passed,
    elem: Option<String>,
    elem_bytes: usize,
    bytes: usize,
    rtol: f64,
    atol: f64,
    compared: bool,
}

/// The contents of a project.
#[derive(Serialize, Deserialize)]
struct Manifest {
    form: u32,
    kernel: String,
    platform: String,
    blocks: u32,
    identity: String,
    parameters: Vec<Slot>,
    /// The values of all 256 bytes of 8-bit floats, as decimal numbers.
    table: BTreeMap<String, Vec<Vec<String>>>,
    /// Hashes of the files that slipring wrote.
    files: BTreeMap<String, String>,
}

impl Launched<'_> {
    /// Writes a folder with everything that a launch on a board needs: the text and, if the assembler produced it, its
    /// C++. Returns the number of files.
    ///
    /// # Errors
    ///
    /// If the simulated run did not complete, if the folder holds files that slipring did not write or that have been
    /// changed since, or if a file cannot be written.
    pub fn project(&self, built: &BuiltProgram, cpp: Option<&str>, folder: &Path) -> Result<usize, Error> {
        let text = built.text().map_err(Error::Unsupported)?;
        let arch = built.arch().unwrap_or_default();
        let Some(toolchain) = Toolchain::ALL.iter().find(|own| own.arch == arch) else {
            return Err(Error::Unsupported(format!("the vendor's compiler has no options for `{arch}` here")));
        };
        let passing = self.passing(&text)?;
        let printed = self.of_text("kernel.pto", &text)?;
        let entry = printed.name()?.to_string();
        let kinds: Vec<CoreKind> =
            printed.compiled()?.prepared.decoded.program.cores.iter().map(|core| core.role.kind()).collect();
        let one_kind = |kind| kinds.iter().all(|own| *own == kind);
        let cores = match (one_kind(CoreKind::Cube), one_kind(CoreKind::Vector)) {
            (true, false) => format!("{}-cube", toolchain.cores),
            (false, true) => format!("{}-vec", toolchain.cores),
            _ => toolchain.cores.to_string(),
        };
        // Flags are the last parameter if the function declares them.
        let module = &built.module;
        let flags = module.functions().any(|function| {
            is_entry(module, function) && module.symbol_name(function) == Some(&entry) && has_flags(module, function)
        });
        let last = passing.len().saturating_sub(1);
        let slots: Vec<Slot> =
            passing.iter().enumerate().map(|(at, passed)| slot(passed, flags && at == last)).collect();
        let blocks = self.kernel.blocks(self.options)?;
        let mut contents: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (at, (passed, slot)) in passing.iter().zip(&slots).enumerate() {
            if passed.argument.is_none() {
                continue;
            }
            contents.insert(format!("inputs/{at}.bin"), passed.bytes.clone());
            if slot.compared {
                let left = passed.argument.and_then(|argument| self.run.left(argument));
                let left = left.ok_or_else(|| Error::Incomplete(self.run.findings().clone()))?;
                contents.insert(format!("expected/{at}.bin"), left.to_vec());
            }
        }
        contents.insert("kernel.pto".into(), text.into_bytes());
        if let Some(cpp) = cpp {
            contents.insert("kernel.cpp".into(), cpp.as_bytes().to_vec());
        }
        contents.insert("launch.cpp".into(), launch(&entry, &passing, &slots).into_bytes());
        let hashes = contents.iter().map(|(name, bytes)| format!("{name} {}\n", hash(bytes))).collect::<String>();
        let identity = hash(format!("{blocks} {hashes}").as_bytes());
        let words = assembler_words(arch).join(" ");
        let platform = self.kernel.platform_name()?.to_string();
        let filled = |template: &str| {
            let rule = match cpp {
                Some(_) => String::new(),
                None => format!("\nkernel.cpp: kernel.pto\n\tptoas {words} kernel.pto -o $@\n"),
            };
            let how = match cpp {
                Some(_) => {
                    format!("`kernel.cpp` is what `ptoas {words} kernel.pto -o kernel.cpp` made of `kernel.pto`.")
                }
                None => format!(
                    "No assembler answered: `make` calls `ptoas {words} kernel.pto -o kernel.cpp`, and what it writes \
                     was not judged (`slipring board-check`)."
                ),
            };
            let both = [
                ("@KERNEL@", entry.clone()),
                ("@PLATFORM@", platform.clone()),
                ("@IDENTITY@", identity.clone()),
                ("@BLOCKS@", blocks.to_string()),
                ("@ARGUMENTS@", slots.iter().map(row_of_host).collect()),
                ("@DECLARATIONS@", if flags { FLAGS_DECLARED.into() } else { String::new() }),
                ("@FLAGS@", if flags { FLAGS_GIVEN.into() } else { String::new() }),
                ("@CORE@", cores.clone()),
                ("@MEMORY@", toolchain.memory.to_string()),
                ("@KERNEL_RULE@", rule),
                ("@CPP@", how),
                ("@TABLE@", slots.iter().enumerate().map(row_of_readme).collect()),
            ];
            both.iter().fold(template.to_string(), |text, (word, value)| text.replace(word, value)).into_bytes()
        };
        contents.insert("host.cpp".into(), filled(HOST));
        contents.insert("Makefile".into(), filled(MAKEFILE));
        contents.insert("README.md".into(), filled(README));
        contents.insert("compare.py".into(), COMPARE.as_bytes().to_vec());
        let manifest = Manifest {
            form: FORM,
            kernel: entry,
            platform,
            blocks,
            identity,
            table: tables(&slots),
            parameters: slots,
            files: contents.iter().map(|(name, bytes)| (name.clone(), hash(bytes))).collect(),
        };
        let error = |error: serde_json::Error| Error::File(format!("cannot write `{MANIFEST}`: {error}"));
        let mut facts = serde_json::to_vec_pretty(&manifest).map_err(error)?;
        facts.push(b'\n');
        put(folder, &contents, &facts)?;
        Ok(contents.len() + 1)
    }
}

/// Returns the address of the flags between cores, as the vendor's runtime declares it.
const FLAGS_DECLARED: &str = "extern \"C\" int rtGetC2cCtrlAddr(uint64_t *address, uint32_t *length);\n";
const FLAGS_GIVEN: &str = "            {
                uint64_t address = 0;
                uint32_t length = 0;
                if (rtGetC2cCtrlAddr(&address, &length) != 0) {
                    fail(\"rtGetC2cCtrlAddr failed\");
                }
                places[n] = reinterpret_cast<void *>(address);
            }
";

fn hash(bytes: &[u8]) -> String {
    digest(Elem::U8, bytes).hash
}

fn slot(passed: &Passing, flags: bool) -> Slot {
    let (rtol, atol) = tolerance(passed.elem);
    let kind = match (passed.is_buffer, passed.argument) {
        (true, None) if flags => Passed::Flags,
        (true, None) => Passed::Scratch,
        (true, Some(_)) => Passed::Buffer,
        (false, _) => Passed::Scalar,
    };
    Slot {
        name: passed.name.clone(),
        passed: kind,
        elem: passed.elem.map(|elem| elem.name().to_string()),
        elem_bytes: passed.elem.map_or(1, Elem::bytes),
        bytes: passed.bytes.len(),
        rtol,
        atol,
        compared: kind == Passed::Buffer && !passed.slots,
    }
}

/// The vendor's name of an element type.
const fn vendors(elem: Elem) -> &'static str {
    match elem {
        Elem::F32 => "float",
        Elem::F16 => "half",
        Elem::BF16 => "bfloat16_t",
        Elem::F8E4M3 => "float8_e4m3_t",
        Elem::F8E5M2 => "float8_e5m2_t",
        Elem::F8E8M0 => "float8_e8m0_t",
        Elem::HiF8 => "hifloat8_t",
        Elem::F4E2M1x2 => "float4_e2m1x2_t",
        Elem::F4E1M2x2 => "float4_e1m2x2_t",
        Elem::I8 => "int8_t",
        Elem::I16 => "int16_t",
        Elem::I32 => "int32_t",
        Elem::I64 => "int64_t",
        Elem::U8 => "uint8_t",
        Elem::U16 => "uint16_t",
        Elem::U32 => "uint32_t",
        Elem::U64 => "uint64_t",
    }
}

/// The source that launches the kernel, for the vendor's compiler.
fn launch(entry: &str, passing: &[Passing], slots: &[Slot]) -> String {
    let argument = |(at, (passed, slot)): (usize, (&Passing, &Slot))| {
        let ty = match (passed.elem, slot.passed) {
            (Some(elem), _) => vendors(elem),
            (None, Passed::Scalar) => "bool",
            (None, Passed::Flags) => "int64_t",
            (None, _) => "float",
        };
        match slot.passed {
            Passed::Scalar => format!("        *static_cast<const {ty} *>(arguments[{at}])"),
            _ => format!("        (__gm__ {ty} *)arguments[{at}]"),
        }
    };
    let arguments: Vec<String> = passing.iter().zip(slots).enumerate().map(argument).collect();
    format!(
        "// Starts `{entry}`. Made by slipring.\n#include <cstdint>\n\n#include \"kernel.cpp\"\n\n\
         extern \"C\" void slipring_launch(uint32_t blocks, void *stream, void *const *arguments)\n{{\n    \
         {entry}<<<blocks, nullptr, stream>>>(\n{});\n}}\n",
        arguments.join(",\n")
    )
}

fn row_of_host(slot: &Slot) -> String {
    format!("    {{\"{}\", Passed::{}, {}}},\n", slot.name.escape_default(), slot.passed.word(), slot.bytes)
}

fn row_of_readme((at, slot): (usize, &Slot)) -> String {
    let what = match slot.passed {
        Passed::Buffer => "a buffer",
        Passed::Scratch => "zeroed memory, allocated by the host",
        Passed::Scalar => "a scalar",
        Passed::Flags => "where the hardware keeps flags between cores",
    };
    let within = match (slot.compared, slot.rtol) {
        (false, _) => "not compared".to_string(),
        (true, 0.0) => "none: the same bytes".to_string(),
        (true, rtol) => format!("{rtol} of the number, and {}", slot.atol),
    };
    let elem = slot.elem.as_deref().unwrap_or("");
    format!("| {at} | `{}` | {what} | {elem} | {} | {within} |\n", slot.name, slot.bytes)
}

/// The values of the 8-bit float types of these parameters.
fn tables(slots: &[Slot]) -> BTreeMap<String, Vec<Vec<String>>> {
    let of = |elem: Elem| {
        let mut values = [0.0f32; 2];
        let values = &mut values[..elem.values()];
        let one = |byte: u8| {
            load_f32(elem, &[byte], values);
            values.iter().map(|x| format!("{x}")).collect()
        };
        (0..=u8::MAX).map(one).collect()
    };
    let elems = slots.iter().filter(|slot| slot.compared).filter_map(|slot| Elem::parse(slot.elem.as_deref()?));
    elems.filter(|elem| elem.is_float() && elem.bytes() == 1).map(|elem| (elem.name().to_string(), of(elem))).collect()
}

/// Writes the files of a project, the manifest last; writes nothing if a file must not be overwritten.
fn put(folder: &Path, contents: &BTreeMap<String, Vec<u8>>, facts: &[u8]) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::File(what));
    let before = match folder.join(MANIFEST).exists() {
        true => read_manifest(folder)?.files,
        false => BTreeMap::new(),
    };
    for name in contents.keys().chain(before.keys()) {
        let path = folder.join(name);
        let Ok(own) = fs::symlink_metadata(&path) else { continue };
        let shown = path.display();
        match before.get(name) {
            None => return refuse(format!("`{shown}` exists and was not written by slipring: name another folder")),
            Some(_) if !own.is_file() => return refuse(format!("`{shown}` is no longer the file that slipring wrote")),
            Some(hashed) if hash(&read(folder, name)?) != *hashed => {
                return refuse(format!(
                    "`{shown}` was changed since slipring wrote it: move it away, or name another folder"
                ));
            }
            Some(_) => {}
        }
    }
    let failed =
        |path: &Path, error: std::io::Error| Error::File(format!("cannot write `{}`: {error}", path.display()));
    for sub in ["inputs", "expected"] {
        let path = folder.join(sub);
        fs::create_dir_all(&path).map_err(|error| failed(&path, error))?;
    }
    for name in before.keys().filter(|name| !contents.contains_key(*name)) {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&path, error)),
            _ => {}
        }
    }
    let facts = (MANIFEST, facts);
    for (name, bytes) in contents.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).chain([facts]) {
        let path = folder.join(name);
        files::write(&path, &[bytes]).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Error> {
    let path = folder.join(name);
    files::read_own(&path, MOST).map_err(|error| Error::File(format!("cannot read `{}`: {error}", path.display())))
}

fn read_manifest(folder: &Path) -> Result<Manifest, Error> {
    let wrong = |why: String| Error::File(format!("`{}`: {why}", folder.join(MANIFEST).display()));
    let manifest: Manifest = serde_json::from_slice(&read(folder, MANIFEST)?)
        .map_err(|error| wrong(format!("not a project of `slipring build --project`: {error}")))?;
    if manifest.form != FORM {
        return Err(wrong(format!("it has form {}, and this version reads {FORM}", manifest.form)));
    }
    let plain = |name: &str| Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    match manifest.files.keys().find(|name| !plain(name)) {
        Some(name) => Err(wrong(format!("`{name}` is not in the folder"))),
        None => Ok(manifest),
    }
}

/// The outputs of a board compared with those of the simulated run.
#[derive(Debug, Serialize)]
pub struct Returned {
    /// The kernel.
    pub kernel: String,
    /// The platform it was built for.
    pub platform: String,
    /// A row for each buffer.
    pub checks: Vec<CheckFacts>,
    /// Number of wrong elements.
    pub wrong: usize,
    /// Floats that exceed the tolerance relative to their own value, but not relative to the largest value of their
    /// buffer.
    pub doubtful: usize,
}

/// Reads the outputs that came back into the folder of a project.
///
/// # Errors
///
/// If the folder holds no project, its expected files have been changed, or outputs are missing, have another length or
/// belong to another launch.
pub fn returned(folder: &Path) -> Result<Returned, Error> {
    let manifest = read_manifest(folder)?;
    let stamp = String::from_utf8_lossy(&read(folder, "outputs/identity")?).trim().to_string();
    if stamp != manifest.identity {
        let message = format!(
            "`{}` are outputs of another project ({stamp}, this is {}): launch this one",
            folder.join("outputs").display(),
            manifest.identity
        );
        return Err(Error::File(message));
    }
    let mut all =
        Returned { kernel: manifest.kernel, platform: manifest.platform, checks: Vec::new(), wrong: 0, doubtful: 0 };
    for (at, slot) in manifest.parameters.iter().enumerate().filter(|(_, slot)| slot.compared) {
        let name = format!("expected/{at}.bin");
        let want = read(folder, &name)?;
        if manifest.files.get(&name) != Some(&hash(&want)) {
            return Err(Error::File(format!("`{}` was changed since it was written", folder.join(name).display())));
        }
        let name = format!("outputs/{at}.bin");
        let have = read(folder, &name)?;
        if have.len() != want.len() {
            let path = folder.join(name);
            let (path, name) = (path.display(), &slot.name);
            let message = format!("`{path}` has {} bytes, and `{name}` has {}", have.len(), want.len());
            return Err(Error::File(message));
        }
        let close = closeness(&want, &have, slot.elem.as_deref().and_then(Elem::parse));
        let wrong = close.wrong + close.no_numbers;
        let first = close.first;
        let (verdict, detail) = match (wrong, close.doubtful, close.different) {
            (0, 0, 0) => (CheckStatus::Clean, "the same bytes".to_string()),
            (0, 0, count) => {
                (CheckStatus::Clean, format!("{count} elements differ within the tolerance of their type"))
            }
            (0, count, _) => (CheckStatus::Partly, format!("{count} elements {DOUBTFUL}; first element {first}")),
            (wrong, ..) => (CheckStatus::Findings, format!("{wrong} elements are wrong, first element {first}")),
        };
        let detail = format!("`{}`: {detail}", slot.name);
        all.checks.push(CheckFacts::new("board", verdict, detail, wrong));
        all.wrong += wrong;
        all.doubtful += close.doubtful;
    }
    Ok(all)
}
