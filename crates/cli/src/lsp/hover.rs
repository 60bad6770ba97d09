//! Hover: reference pages of ops, types and addresses of values, explanations of diagnostics. Also go-to-definition.

use serde_json::{Value, json};
use slipring_ir::{Module, ValueId};
use slipring_reference::{self as reference, explanation};

use super::names;
use super::parsed::{is_language, read, values};
use super::text::LineMap;
use crate::session::Text;

/// The hover text at a position.
pub fn hover(text: &Text, messages: &[Value], position: &Value) -> Option<Value> {
    let lines = LineMap::new(&text.text);
    let byte = lines.byte(position)?;
    let (start, word) = lines.word(byte);
    let language = is_language(text);
    let mut parts = Vec::new();
    if language {
        parts.extend(word.contains('.').then(|| reference::language_page(word).ok()).flatten());
    } else if word.contains('.') && !word.starts_with(['%', '@', '!', '#']) {
        parts.extend(reference::page(word).ok());
    }
    let name = if language { word } else { word.strip_prefix('%').unwrap_or("") };
    if !name.is_empty() && !name.contains('.') {
        parts.extend(of_name(text, name, start));
    }
    if parts.is_empty() && language {
        parts.extend(names::head(text, byte));
    }
    let mut markdown: Vec<String> = parts.iter().map(|part| format!("```text\n{}\n```", part.trim_end())).collect();
    let here = messages.iter().filter(|message| holds(&lines, &message["range"], byte));
    let mut codes: Vec<&str> = here.filter_map(|message| message["code"].as_str()).collect();
    codes.dedup();
    for explained in codes.into_iter().filter_map(explanation) {
        markdown.push(format!("**{}**: {}\n\nFix: {}", explained.code, explained.cause, explained.fix));
    }
    if markdown.is_empty() {
        return None;
    }
    let range = lines.range(start, start + word.len());
    Some(json!({ "contents": { "kind": "markdown", "value": markdown.join("\n\n") }, "range": range }))
}

/// Whether a range of the protocol contains a byte.
fn holds(lines: &LineMap<'_>, range: &Value, byte: usize) -> bool {
    let ends = (lines.byte(&range["start"]), lines.byte(&range["end"]));
    matches!(ends, (Some(start), Some(end)) if (start..=end).contains(&byte))
}

/// Type and address of the value that a name denotes at a position.
fn of_name(text: &Text, name: &str, byte: usize) -> Option<String> {
    let loaded = read(text);
    let mark = if is_language(text) { "" } else { "%" };
    let mut said = Vec::new();
    if let Some(value) = defined(&loaded.module, name, byte) {
        said.push(format!("{mark}{name}: {}", loaded.module.ty(value)));
    }
    // Addresses are those of the compiled kernel, for the default platform.
    let maps = text.read().and_then(|kernel| kernel.memory_map()).unwrap_or_default();
    for map in maps {
        for buffer in map.buffers.iter().filter(|buffer| buffer.name.trim_start_matches('%') == name) {
            let end = buffer.address + buffer.bytes;
            said.push(format!("bytes {:#x} to {end:#x} of {}", buffer.address, map.title));
        }
    }
    said.dedup();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// The value that a name denotes: the last definition of this name before a position, else the first one after it.
fn defined(module: &Module, name: &str, byte: usize) -> Option<ValueId> {
    let named = |value: &ValueId| module.value(*value).name.as_deref() == Some(name);
    let start = |value: &ValueId| module.value(*value).span.start as usize;
    let all: Vec<ValueId> = values(module).into_iter().filter(named).collect();
    let before = all.iter().filter(|value| start(value) <= byte).max_by_key(|value| start(value));
    before.or_else(|| all.iter().min_by_key(|value| start(value))).copied()
}

/// The definition of the name under the cursor.
pub fn definition(text: &Text, address: &str, position: &Value) -> Option<Value> {
    let lines = LineMap::new(&text.text);
    let byte = lines.byte(position)?;
    let (start, word) = lines.word(byte);
    let place = |at: usize, length: usize| Some(json!({ "uri": address, "range": lines.range(at, at + length) }));
    if is_language(text) {
        let range = names::definition(text, byte)?;
        return place(range.start, range.len());
    }
    if let Some(name) = word.strip_prefix('%') {
        let module = &read(text).module;
        let span = module.value(defined(module, name.split('#').next()?, start)?).span;
        return place(span.start as usize, (span.end - span.start) as usize);
    }
    if let Some(name) = word.strip_prefix('@') {
        let module = &read(text).module;
        let first = module.op(module.symbol(name)?).span.start as usize;
        let at = first + text.text.get(first..)?.find(word)?;
        return place(at, word.len());
    }
    if word.starts_with('!') || word.starts_with('#') {
        let alias = (0..lines.count()).find(|line| {
            lines.line(*line).trim_start().strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('='))
        })?;
        let indent = lines.line(alias).len() - lines.line(alias).trim_start().len();
        return place(lines.start(alias) + indent, word.len());
    }
    None
}
