//! Input files of a verb.

use std::path::Path;

use slipring::{CompileRequest, Error, Subject, files};

/// Reads a source file; `-` is standard input.
pub(super) fn read_bytes(path: &str) -> Result<Vec<u8>, String> {
    read_at_most(path, files::MOST_TEXT)
}

/// Reads a file of at most `most` bytes; `-` is standard input.
pub(super) fn read_at_most(path: &str, most: u64) -> Result<Vec<u8>, String> {
    if path == "-" {
        files::read_input(most).map_err(|error| format!("cannot read standard input: {error}"))
    } else {
        files::read(Path::new(path), most).map_err(|error| format!("cannot read `{}`: {error}", shown(path)))
    }
}

/// Reads a text that is not source code.
pub(super) fn read_text(path: &str) -> Result<String, String> {
    files::read_text(Path::new(path)).map_err(|error| format!("cannot read `{}`: {error}", shown(path)))
}

/// The name of a file for messages.
pub(super) fn shown(path: &str) -> String {
    files::shown(Path::new(path))
}

/// Reads a source file for a compile request; `-` is standard input.
pub(super) fn subject(path: &str, asked: &CompileRequest) -> Result<Subject, Error> {
    Subject::read(path, read_bytes(path).map_err(Error::File)?, asked)
}

/// Reads the lines of a text, without comments (`#`) and blank lines.
pub(super) fn read_lines(path: &str) -> Result<Vec<String>, String> {
    let text = read_text(path)?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_string).collect())
}
