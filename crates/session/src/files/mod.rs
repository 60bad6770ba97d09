//! The only module that writes and reads files.
//!
//! | existing entry at the path | how it is written |
//! |---|---|
//! | nothing | to a temporary file in the same folder, then renamed |
//! | a regular file | the same; the new file has the mode and, where the system allows it, the owner of the old one |
//! | a symbolic link | what it points to is written, the link stays |
//! | a file with several names | through all of them: its bytes are replaced, and put back if that fails |
//! | a device, a pipe, a socket | the bytes go into it |
//! | `/dev/stdout`, `/dev/fd/N` | the bytes go to the open descriptor |
//!
//! If a folder accepts no new file, or the file cannot be replaced by renaming (it is a mount point), its bytes are
//! replaced as those of a file with several names. If a signal ends the process, an unfinished temporary file is
//! removed.

mod identity;
mod inputs;
mod unfinished;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

pub use identity::same;
pub use inputs::{
    ARGUMENT, MOST_STREAM, MOST_TEXT, Refused, below, not_written, read, read_input, read_own, read_text, shown,
    will_write,
};
use unfinished::Unfinished;

/// Writes the parts, one after the other, to a path. Afterwards a regular file contains all of them, or is unchanged.
///
/// # Errors
/// The system's error.
pub fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    if inputs::is_refused(path) {
        return Err(io::Error::other("it is a file that is read"));
    }
    if let Some(descriptor) = descriptor(path) {
        return match descriptor {
            1 => pour(io::stdout().lock(), parts),
            2 => pour(io::stderr().lock(), parts),
            _ => pour(OpenOptions::new().append(true).open(path)?, parts),
        };
    }
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(meta) if !meta.is_file() => pour(OpenOptions::new().write(true).open(path)?, parts),
        Ok(meta) => {
            // Renaming checks the permissions of the folder, not of the file: this keeps a write-protected file.
            drop(OpenOptions::new().write(true).open(path)?);
            let path = path.canonicalize()?;
            if names(&meta) > 1 {
                return overwrite(&path, parts);
            }
            match replace(&path, parts, Some(&meta)) {
                Err(Failed::Folder(_)) => overwrite(&path, parts),
                Err(Failed::Contents(error)) => Err(error),
                Ok(()) => Ok(()),
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            replace(&end_of_links(path), parts, None).map_err(|(Failed::Folder(e) | Failed::Contents(e))| e)
        }
        Err(error) => Err(error),
    }
}

/// A file that grows line by line, for work that can be resumed.
#[derive(Debug)]
pub struct Lines(File);

impl Lines {
    /// Opens or creates a file, and truncates it to this many bytes.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(path: &Path, length: u64) -> io::Result<Lines> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.is_file() {
            file.set_len(length)?;
            file.seek(io::SeekFrom::End(0))?;
        }
        Ok(Lines(file))
    }

    /// Appends a line.
    ///
    /// # Errors
    /// The system's error.
    pub fn add(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(line.as_bytes())
    }
}

fn pour(mut to: impl Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| to.write_all(part))?;
    to.flush()
}

/// The step at which a replacement failed.
enum Failed {
    /// The folder accepts no new file, or the old one cannot be replaced by renaming.
    Folder(io::Error),
    /// The bytes could not be written.
    Contents(io::Error),
}

/// Writes a new file next to `path` and renames it. `old` is the existing entry.
fn replace(path: &Path, parts: &[&[u8]], old: Option<&Metadata>) -> Result<(), Failed> {
    let (beside, file) = Unfinished::create(path).map_err(Failed::Folder)?;
    let fill = |mut file: File| {
        if let Some(old) = old {
            keep_owner(&file, old);
            file.set_permissions(old.permissions())?;
        }
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.sync_all()
    };
    fill(file).map_err(Failed::Contents)?;
    beside.rename(path).map_err(Failed::Folder)
}

/// Replaces the contents of a file in place. The old contents are restored if not all bytes can be written.
fn overwrite(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut before = Vec::new();
    file.read_to_end(&mut before)?;
    let length = parts.iter().map(|part| part.len() as u64).sum();
    let mut fill = |parts: &[&[u8]], length| {
        file.rewind()?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.set_len(length)?;
        file.sync_all()
    };
    fill(parts, length).inspect_err(|_| drop(fill(&[&before], before.len() as u64)))
}

/// The descriptor that a path such as `/dev/stdout` refers to.
fn descriptor(path: &Path) -> Option<u32> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let folder = path.parent()?.canonicalize().ok()?;
        if folder.starts_with("/proc") && folder.ends_with("fd") || folder == Path::new("/dev/fd") {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = folder.join(std::fs::read_link(&path).ok()?);
    }
    None
}

/// Maximum number of links followed: the same as in Linux.
const MOST_LINKS: usize = 40;

/// The file that a path refers to, which need not exist.
fn end_of_links(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

#[cfg(unix)]
fn names(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::MetadataExt;
    let same = file.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()));
    if !same {
        // Only root can change a file's owner; like any editor, this drops what cannot be kept.
        let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

#[cfg(all(test, unix))]
mod tests;
