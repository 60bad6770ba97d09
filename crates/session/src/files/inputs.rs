//! Reading files: never more than requested, never a file that the same command writes, and, for paths that a text
//! itself names, only files below its folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::same;

/// Maximum size in bytes of a source text, a platform, a schedule, a list of points.
pub const MOST_TEXT: u64 = 64 << 20;

/// Maximum size in bytes of a captured command stream.
pub const MOST_STREAM: u64 = 1 << 30;

/// The option of a file that is read as an argument and written back.
pub const ARGUMENT: &str = "--arg";

/// Files that the command writes, each with the option that names it.
static OUTPUTS: Mutex<Vec<(String, PathBuf)>> = Mutex::new(Vec::new());

/// Those of them that were requested for reading: they are not written either.
static REFUSED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Registers the files that are going to be written, each with the option that names it: from now on none of them is
/// read.
///
/// # Errors
/// If two options name one file.
pub fn will_write(outputs: Vec<(String, PathBuf)>) -> Result<(), String> {
    for (at, (option, path)) in outputs.iter().enumerate() {
        // Arguments are compared with each other once it is known which parameter they belong to.
        let mut before = outputs[..at].iter().filter(|(other, _)| other != option || option != ARGUMENT);
        let twice = before.find(|(_, other)| is_one(path, other));
        if let Some((first, _)) = twice {
            let name = shown(path);
            return Err(format!("`{option}` and `{first}` both write to `{name}`: name two files"));
        }
    }
    OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner).extend(outputs);
    Ok(())
}

/// True if two outputs are one persistent file; files that do not exist yet are compared by name.
fn is_one(a: &Path, b: &Path) -> bool {
    let keeps =
        |path: &Path| std::fs::metadata(path).map_or(true, |meta| meta.is_file()) && path != Path::new("/dev/null");
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name().map(OsStr::to_os_string)?))
    };
    keeps(a) && keeps(b) && (same(a, b) || (place(a).is_some() && place(a) == place(b)))
}

/// The contents of a file, if it has at most this many bytes.
///
/// # Errors
/// The system's error; that the file is larger, or that the same command writes it.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    not_written(path)?;
    read_own(path, most)
}

/// As [`read`], for a file that the command may write afterwards.
///
/// # Errors
/// The system's error, or that the file is larger.
pub fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bounded(File::open(path)?, most)
}

/// The text of a file, if it has at most [`MOST_TEXT`] bytes.
///
/// # Errors
/// Those of [`read`], or that it is not a text.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, MOST_TEXT)?).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// The contents of standard input, if it has at most this many bytes.
///
/// # Errors
/// Those of [`read`].
pub fn read_input(most: u64) -> io::Result<Vec<u8>> {
    not_written(Path::new("/dev/stdin"))?;
    bounded(io::stdin().lock(), most)
}

fn bounded(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes, which is the limit here")));
    }
    Ok(bytes)
}

/// True for a file that the command is asked both to read and to write: it does neither.
pub(super) fn is_refused(path: &Path) -> bool {
    REFUSED.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|refused| same(path, refused))
}

/// Checks that a file that is going to be read is not written by the same command.
///
/// # Errors
/// If the command writes it.
pub fn not_written(path: &Path) -> io::Result<()> {
    // Reading a device does not return what was written.
    if !std::fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(());
    }
    let outputs = OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    match outputs.iter().find(|(_, output)| same(path, output)) {
        Some((option, output)) => {
            REFUSED.lock().unwrap_or_else(PoisonError::into_inner).push(output.clone());
            Err(io::Error::other(format!(
                "`{option}` would overwrite it, and input files are never overwritten: name another output file"
            )))
        }
        None => Ok(()),
    }
}

/// Why a file named by a text is not read.
#[derive(Debug)]
pub enum Refused {
    /// It is not below the text's folder.
    Outside,
    /// It is not a regular file.
    NoFile,
    /// It does not exist.
    Missing(io::Error),
}

/// The file that a path in a text refers to. It must be a regular file below the text's folder, after `..` and symbolic
/// links are resolved. The text's folder comes first in `folders`; files below the others, which links lead to, are
/// accepted as well.
///
/// # Errors
/// Why it is not read.
pub fn below(folders: &[&Path], path: &Path) -> Result<PathBuf, Refused> {
    let folders: Vec<&Path> = folders.iter().map(|f| if *f == Path::new("") { Path::new(".") } else { *f }).collect();
    let Some(folder) = folders.first() else { return Err(Refused::Outside) };
    let holds = |folder: &&Path, real: &Path| folder.canonicalize().is_ok_and(|root| real.starts_with(root));
    match folder.join(path).canonicalize() {
        Ok(real) if !folders.iter().any(|folder| holds(folder, &real)) => Err(Refused::Outside),
        Ok(real) if !std::fs::metadata(&real).is_ok_and(|meta| meta.is_file()) => Err(Refused::NoFile),
        Ok(real) => Ok(real),
        // The existence of files outside is not disclosed.
        Err(_) if leads_out(path) => Err(Refused::Outside),
        Err(error) => Err(Refused::Missing(error)),
    }
}

/// True if a path's components lead above its start, or it is absolute.
fn leads_out(path: &Path) -> bool {
    let mut depth = 0i64;
    path.components().any(|part| {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
        depth < 0
    })
}

/// The name of a file for messages: characters that would move the cursor or change the text direction are escaped.
pub fn shown(path: &Path) -> String {
    slipring_ir::visible_name(&path.to_string_lossy()).into_owned()
}
