//! Messages about the recording of a launch, mapped to the lines of the author's files that it was made from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use slipring_ir::{CPP_SUFFIXES, Elsewhere, Module, OpId, Source, Span};
use slipring_op::function::is_recorded;

/// Maximum size in bytes of a file shown in messages.
const LARGEST: u64 = 4 << 20;

/// A file from which a recording was made, as part of the text that messages show.
struct Shown {
    /// The offset at which its text begins.
    start: usize,
    text: String,
}

/// Gives the ops of a recording their locations in the author's files: the module's text becomes the head of the
/// recording followed by those files, if all of them can be read. Otherwise it is unchanged.
pub(crate) fn show_authors_lines(module: &mut Module) {
    if !is_recorded(module) || module.source.parts_of_others().is_empty() {
        return;
    }
    let recording = module.source.clone();
    let head: String =
        recording.text.lines().take_while(|line| line.starts_with("//")).flat_map(|l| [l, "\n"]).collect();
    let mut files: BTreeMap<&str, Shown> = BTreeMap::new();
    let (mut text, mut parts) = (head, Vec::new());
    for part in recording.parts_of_others() {
        if files.contains_key(part.name.as_str()) {
            continue;
        }
        let Some(own) = small_text(&part.name) else { return };
        let start = text.len();
        text += &own;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        parts.push(Elsewhere { span: Span::new(start as u32, text.len() as u32), name: part.name.clone(), line: 1 });
        files.insert(&part.name, Shown { start, text: own });
    }
    let place = |span: Span| -> Option<Span> {
        recording.elsewhere(span.start)?;
        let (name, line, _) = recording.place(span.start);
        line_of(files.get(name)?, line)
    };
    // Ops added by the recording get the location of the author's first line.
    let ops: Vec<OpId> = module.walk(module.top);
    let mut first = None;
    for op in ops.iter().rev() {
        first = place(module.op(*op).span).or(first);
    }
    for op in ops {
        let span = place(module.op(op).span).or(first).unwrap_or_default();
        module.op_mut(op).span = span;
    }
    module.source =
        Arc::new(Source::new(recording.name.clone(), text).of(recording.lang()).with_parts_of_others(parts));
}

/// A line of a file without surrounding whitespace.
fn line_of(file: &Shown, line: usize) -> Option<Span> {
    let mut at = 0;
    let own = file.text.split_inclusive('\n').nth(line.checked_sub(1)?).inspect(|own| {
        at = own.as_ptr() as usize - file.text.as_ptr() as usize;
    })?;
    let start = file.start + at + (own.len() - own.trim_start().len());
    Some(Span::new(start as u32, (start + own.trim().len()) as u32))
}

/// A small C++ file: other files named by a text are not read (`SECURITY.md`).
fn small_text(path: &str) -> Option<String> {
    let suffix = Path::new(path).extension()?.to_str()?;
    if suffix != "h" && !CPP_SUFFIXES.contains(&suffix) {
        return None;
    }
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= LARGEST)
}
