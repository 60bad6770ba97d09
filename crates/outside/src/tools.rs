//! Finds external tools, and calls them with a time limit.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Compilers that are searched for; older versions do not accept the public headers.
const COMPILERS: &[&str] =
    &["clang++", "clang++-21", "clang++-20", "clang++-19", "clang++-18", "clang++-17", "g++-15", "g++-14", "g++"];

/// The number of characters shown at the beginning and at the end of a long line.
const HALF: usize = 160;

/// The interval at which a running tool is polled.
const TICK: Duration = Duration::from_millis(5);

/// The first program with one of these names in the folders of `PATH`.
pub fn in_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

/// A C++ compiler for this machine: the given one, else `$CXX`, `clang++` or `g++`.
pub fn compiler(named: Option<&Path>) -> Option<PathBuf> {
    let of_name = |name: PathBuf| match name.components().count() {
        1 => in_path(&[name.to_str()?]),
        _ => name.is_file().then_some(name),
    };
    match named {
        Some(named) => of_name(named.to_path_buf()),
        None => std::env::var_os("CXX").and_then(|name| of_name(name.into())).or_else(|| in_path(COMPILERS)),
    }
}

/// The names that the vendor's compiler uses for the cores of a platform, and the macros that it sets (public tests of
/// `pto-isa`).
pub struct Toolchain {
    /// The platform's name.
    pub platform: &'static str,
    /// The assembler's name of the platform.
    pub arch: &'static str,
    /// The option that names its cores.
    pub cores: &'static str,
    /// The macro that selects its memories.
    pub memory: &'static str,
    /// The architecture number in macros.
    pub number: u32,
}

impl Toolchain {
    /// All known toolchains.
    pub const ALL: &[Toolchain] = &[
        Toolchain { platform: "a5", arch: "a5", cores: "dav-c310", memory: "REGISTER_BASE", number: 310 },
        Toolchain { platform: "a2a3", arch: "a3", cores: "dav-c220", memory: "MEMORY_BASE", number: 220 },
    ];
}

/// A folder for the files of a call; it is deleted when the value is dropped, unless it is kept.
pub struct CallFolder {
    path: PathBuf,
    kept: bool,
}

impl CallFolder {
    /// The given folder, else a new temporary one.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn new(keep: Option<&Path>) -> Result<CallFolder, String> {
        let failed = |path: &Path, error| format!("cannot make the folder `{}`: {error}", path.display());
        if let Some(path) = keep {
            fs::create_dir_all(path).map_err(|error| failed(path, error))?;
            let path = path.canonicalize().map_err(|error| failed(path, error))?;
            return Ok(CallFolder { path, kept: true });
        }
        let mut number = 0;
        loop {
            let path = std::env::temp_dir().join(format!("slipring-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(CallFolder { path, kept: false }),
                // The folder of another process with the same id, in another container.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(failed(&path, error)),
            }
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file in the folder.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        fs::write(self.path.join(name), bytes).map_err(|error| format!("cannot write `{name}`: {error}"))
    }

    /// Reads a file in the folder.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        fs::read(self.path.join(name)).map_err(|error| format!("cannot read `{name}`: {error}"))
    }
}

impl Drop for CallFolder {
    fn drop(&mut self) {
        if !self.kept {
            // An error is harmless: the folder is temporary.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The output of a tool, and whether it succeeded.
pub struct ToolAnswer {
    /// True if it exited with 0.
    pub well: bool,
    /// Its output.
    pub text: String,
}

impl ToolAnswer {
    /// The first line of its output that states an error.
    pub fn reason(&self) -> String {
        reason(&self.text)
    }
}

/// The first line of a tool's output that states an error; a long line is shortened to its beginning and its end.
pub fn reason(said: &str) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.to_ascii_lowercase().contains("error")).or_else(|| lines().next());
    let letters: Vec<char> = line.unwrap_or("it said nothing").chars().collect();
    match letters.len() > 2 * HALF {
        true => letters[..HALF].iter().chain(&[' ', '…', ' ']).chain(&letters[letters.len() - HALF..]).collect(),
        false => letters.iter().collect(),
    }
}

/// Calls a tool in a folder and waits until it ends, up to the time limit.
///
/// # Errors
///
/// If it cannot be called, or times out.
pub fn call<S: AsRef<OsStr>>(
    tool: &Path,
    words: &[S],
    folder: &CallFolder,
    environment: &[(&str, String)],
    limit: Duration,
) -> Result<ToolAnswer, String> {
    let shown = tool.display();
    let failed = |error: std::io::Error| format!("cannot run `{shown}`: {error}");
    let said = folder.path().join("said");
    let file = File::create(&said).map_err(failed)?;
    let mut command = Command::new(tool);
    command.args(words).current_dir(folder.path()).stdin(Stdio::null());
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdout(file.try_clone().map_err(failed)?).stderr(file);
    let mut child = command.spawn().map_err(failed)?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if start.elapsed() > limit => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{shown}` did not end within {} s", limit.as_secs()));
            }
            None => std::thread::sleep(TICK),
        }
    };
    let text = String::from_utf8_lossy(&folder.read("said")?).into_owned();
    let text = match (status.success(), text.trim().is_empty()) {
        (false, true) => format!("it ended with {status}"),
        _ => text,
    };
    Ok(ToolAnswer { well: status.success(), text })
}
