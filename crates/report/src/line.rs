//! Source lines in facts: `line`, and `file` where it is not the file that was given.

use serde::Serializer;
use serde::ser::{SerializeMap, SerializeSeq};
use slipring_finding::Line;

/// Writes a line among the members of its parent, for `#[serde(flatten, serialize_with = …)]`.
///
/// # Errors
/// Those of the serializer.
pub fn write_line<S: Serializer>(line: &Line, to: S) -> Result<S::Ok, S::Error> {
    let mut members = to.serialize_map(None)?;
    members.serialize_entry("line", &line.number)?;
    if let Some(file) = line.file() {
        members.serialize_entry("file", &file)?;
    }
    members.end()
}

/// Like [`write_line`], for facts that may have no line: `line` is then null.
///
/// # Errors
/// Those of the serializer.
pub fn write_line_or_null<S: Serializer>(line: &Option<Line>, to: S) -> Result<S::Ok, S::Error> {
    match line {
        Some(line) => write_line(line, to),
        None => {
            let mut members = to.serialize_map(None)?;
            members.serialize_entry("line", &None::<u32>)?;
            members.end()
        }
    }
}

/// Writes lines as a list of their numbers; a line of another file is written as it is shown, `7 of helper.py`.
pub(crate) fn write_lines<S: Serializer>(lines: &[Line], to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(lines.len()))?;
    for line in lines {
        match line.file {
            None => list.serialize_element(&line.number)?,
            Some(_) => list.serialize_element(&line.to_string())?,
        }
    }
    list.end()
}
