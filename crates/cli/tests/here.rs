//! The repository, the command line tool, folders for what tests write, and pages that tests make.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The command line tool, in the folder of the repository.
pub fn slipring() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slipring"));
    command.current_dir(root());
    command
}

/// The part of their cases that long tests do: the number in `SLIPRING_SLICE`, 0 by default; `None` for all of them
/// (`SLIPRING_SLICE=all`).
pub fn slice() -> Option<usize> {
    std::env::var("SLIPRING_SLICE").map_or(Some(0), |slice| slice.parse().ok())
}

/// True if long tests do all of their cases.
pub fn everything() -> bool {
    slice().is_none()
}

/// A folder of its own for a test, gone afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn empty(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("slipring-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.file(name), contents).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is among the temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A page of the repository holds what was made for it; `SLIPRING_BLESS=1` regenerates it.
pub fn pinned(page: &str, made: &str) {
    let path = root().join(page);
    if std::env::var_os("SLIPRING_BLESS").is_some() {
        fs::write(&path, made).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let other = written.lines().zip(made.lines()).find(|(a, b)| a != b);
    assert!(written == made, "{page} is out of date: {other:?}; SLIPRING_BLESS=1 regenerates it");
}

/// The same for the part of a page between two marks.
pub fn pinned_between(page: &str, [from, to]: [&str; 2], made: &str) {
    let text = fs::read_to_string(root().join(page)).expect("the page");
    let (before, rest) = text.split_once(from).expect("where it begins");
    let (_, after) = rest.split_once(to).expect("where it ends");
    pinned(page, &format!("{before}{from}{made}{to}{after}"));
}
