//! Lines of the source in facts: `line`, and `file` where that is another one than the one that was given.

use serde::Serializer;
use serde::ser::{SerializeMap, SerializeSeq};
use slipring_finding::Line;

/// Writes a line among the members of what it belongs to, for `#[serde(flatten, serialize_with = …)]`.
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

/// The same for what may come from no line, which has a `line` of null then.
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

/// Writes lines as a list of their numbers; of one in another file as it is shown, `7 of helper.py`.
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
