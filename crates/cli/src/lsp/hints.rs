//! Inlay hints: types and addresses of tiles, cycles of lines. Also signature help.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use slipring_ir::Type;
use slipring_lang::catalogue;
use slipring_report::LineFacts;

use super::parsed::{is_language, read, values};
use super::text::LineMap;
use crate::session::Text;

/// Hint kinds of the protocol.
const OF_TYPE: u8 = 1;

/// Hints for a range of lines: shapes and addresses of tiles after their names, cycles of the last run at the ends of
/// lines.
pub fn hints(text: &Text, ran: &[LineFacts], range: &Value) -> Vec<Value> {
    let lines = LineMap::new(&text.text);
    let (first, last) = match (range["start"]["line"].as_u64(), range["end"]["line"].as_u64()) {
        (Some(first), Some(last)) => (first as usize, last as usize),
        _ => (0, usize::MAX),
    };
    let within = |line: usize| (first..=last).contains(&line);
    let module = &read(text).module;
    // Addresses are those of the compiled kernel, by name and line.
    let mut places: BTreeMap<(String, usize), u64> = BTreeMap::new();
    for map in text.read().and_then(|kernel| kernel.memory_map()).unwrap_or_default() {
        for buffer in map.buffers.iter().filter(|buffer| buffer.slots.is_none() && buffer.line.file.is_none()) {
            let name = buffer.name.trim_start_matches('%').to_string();
            places.entry((name, buffer.line.number as usize)).or_insert(buffer.address);
        }
    }
    let language = is_language(text);
    let mut list: BTreeMap<(usize, usize), Value> = BTreeMap::new();
    for value in values(module) {
        let value = module.value(value);
        let (Some(name), Type::Tile(tile)) = (value.name.as_deref(), &value.ty) else { continue };
        let start = value.span.start as usize;
        let line = lines.line_of(start.min(text.text.len()));
        let own = lines.line(line);
        if !within(line) {
            continue;
        }
        // The text gives the types of ops, but not the addresses of tiles.
        let at = own.match_indices(name).map(|(at, _)| at).find(|at| stands_alone(own, *at, name.len()));
        let Some(at) = at.filter(|at| !language || own[at + name.len()..].trim_start().starts_with('=')) else {
            continue;
        };
        let place = places.get(&(name.to_string(), line + 1)).map(|at| format!(" at {at:#x}"));
        let label = match (language, place) {
            (true, place) => {
                let layout = &tile.layout;
                let place = place.unwrap_or_default();
                format!(": {}x{} {}, {}{place}", layout.rows, layout.cols, layout.elem, tile.space.name())
            }
            (false, Some(place)) => format!(":{place}"),
            (false, None) => continue,
        };
        let byte = lines.start(line) + at + name.len();
        let hint = json!({ "position": lines.position(byte), "label": label, "kind": OF_TYPE });
        list.insert((line, byte), hint);
    }
    for own in ran.iter().filter(|own| own.line.file.is_none()) {
        let line = (own.line.number as usize).saturating_sub(1);
        if !within(line) || line >= lines.count() || own.busy + own.stalled == 0 {
            continue;
        }
        let end = lines.start(line) + lines.line(line).len();
        let mut label = format!("{} cycles", own.busy);
        if own.path > 0 {
            label += &format!(", {} on the critical path", own.path);
        }
        let mut tip = format!(
            "{} executions, {} cycles busy, {} stalled, {} bytes moved",
            own.count, own.busy, own.stalled, own.moved
        );
        for stall in &own.stalls {
            tip += &format!("\n{}: {} cycles", stall.cause, stall.cycles);
        }
        let hint = json!({ "position": lines.position(end), "label": label, "tooltip": tip, "paddingLeft": true });
        list.insert((line, end + 1), hint);
    }
    list.into_values().collect()
}

fn stands_alone(line: &str, at: usize, length: usize) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    !line[..at].ends_with(inner) && !line[at + length..].starts_with(inner)
}

/// The signatures of the op in whose call the position is, and its active parameter.
pub fn signature(text: &Text, position: &Value) -> Option<Value> {
    if !is_language(text) {
        return None;
    }
    let lines = LineMap::new(&text.text);
    let byte = lines.byte(position)?;
    // The innermost bracket that is open before the position, within a call of reasonable length.
    let from = byte.saturating_sub(MOST_CALL);
    let from = (from..=byte).find(|at| text.text.is_char_boundary(*at))?;
    let (mut depth, mut commas, mut named) = (0usize, 0, None);
    let mut open = None;
    let before = &text.text[from..byte];
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' if depth == 0 => {
                open = Some(at);
                break;
            }
            '[' | '{' if depth == 0 => commas = 0,
            '(' | '[' | '{' => depth -= 1,
            ',' if depth == 0 => commas += 1,
            '=' if depth == 0 && commas == 0 && named.is_none() => {
                let word = before[..at].trim_end();
                let start = word.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
                named = Some(word[start..].to_string());
            }
            _ => {}
        }
    }
    let head = &before[..open?];
    let start = head.rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').map_or(0, |at| at + 1);
    let called = head[start..].strip_prefix(super::complete::alias(&text.text))?.strip_prefix('.')?;
    let part = ["tile.", "tensor.", "system."].iter().find_map(|module| called.strip_prefix(module)).unwrap_or(called);
    let entry = catalogue().find(|entry| entry.names.contains(&called) || entry.names.contains(&part))?;
    let ways = entry.params.split('|').map(|way| {
        let params: Vec<&str> = way.split(',').map(str::trim).filter(|own| !own.is_empty() && *own != "*").collect();
        let active = match &named {
            Some(named) => params.iter().position(|own| own.trim_end_matches('=') == named),
            None => (commas < params.len()).then_some(commas),
        };
        let shown: Vec<Value> = params.iter().map(|own| json!({ "label": own })).collect();
        json!({
            "label": format!("{called}({})", way.trim()),
            "documentation": entry.doc,
            "parameters": shown,
            "activeParameter": active,
        })
    });
    let ways: Vec<Value> = ways.collect();
    let fits = ways.iter().position(|way| !way["activeParameter"].is_null()).unwrap_or(0);
    Some(json!({ "signatures": ways, "activeSignature": fits, "activeParameter": ways[fits]["activeParameter"] }))
}

/// The number of bytes before a position that are searched for the start of the call.
const MOST_CALL: usize = 4096;
