//! Expansion of file arguments: files, folders with everything in them, patterns.

use std::path::{Path, PathBuf};

use slipring::{Source, files};

/// The maximum number of files that a folder or a pattern may expand to.
const MOST: usize = 10_000;

/// The files, and what was left out of folders.
#[derive(Default, Debug)]
pub(super) struct Listed {
    /// In the order of the arguments; those of a folder by name.
    pub files: Vec<String>,
    /// Number of Python files in folders that do not import the kernel language.
    pub others: usize,
    /// True if an argument expanded to several files.
    pub several: bool,
}

/// Expands file arguments.
///
/// # Errors
///
/// Arguments that cannot be read, or that match nothing.
pub(super) fn list(words: &[String]) -> Result<Listed, String> {
    let mut listed = Listed::default();
    for word in words {
        let path = Path::new(word);
        if word == "-" || path.is_file() {
            listed.files.push(word.clone());
        } else if path.is_dir() {
            listed.several = true;
            let before = listed.files.len();
            folder(path, &mut listed)?;
            if listed.files.len() == before {
                return Err(format!("there are no kernels in `{}`", files::shown(path)));
            }
        } else if word.contains(['*', '?', '[']) && !path.exists() {
            listed.several = true;
            let wrong = |error: &dyn std::fmt::Display| format!("`{word}`: {error}");
            let hidden = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::default() };
            let found = glob::glob_with(word, hidden).map_err(|error| wrong(&error))?;
            let before = listed.files.len();
            for path in found {
                let path = path.map_err(|error| wrong(&error))?;
                if path.is_file() {
                    add(&path, &mut listed)?;
                }
            }
            if listed.files.len() == before {
                return Err(format!("no file matches `{word}`"));
            }
        } else {
            // Errors of the file itself are reported when it is read.
            listed.files.push(word.clone());
        }
    }
    Ok(listed)
}

fn add(path: &Path, listed: &mut Listed) -> Result<(), String> {
    if listed.files.len() >= MOST {
        return Err(format!("more than {MOST} files match"));
    }
    listed.files.push(path.to_string_lossy().into_owned());
    Ok(())
}

/// All files below a folder with known extensions. Hidden files are skipped, and links to folders are not followed.
fn folder(path: &Path, listed: &mut Listed) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("cannot read `{}`: {error}", files::shown(path));
    let entries = std::fs::read_dir(path).map_err(wrong)?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(wrong)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name == "__pycache__" {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            folder(&path, listed)?;
            continue;
        }
        let source = Source::new(name.into_owned(), "");
        if !path.is_file() || !source.is_named() {
            continue;
        }
        // A Python file without kernels is skipped.
        match source.language && files::read_text(&path).is_ok_and(|text| !crate::session::names_us(&text)) {
            true => listed.others += 1,
            false => add(&path, listed)?,
        }
    }
    Ok(())
}
