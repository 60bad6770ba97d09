//! Completion at the cursor.

use serde_json::{Value, json};
use slipring_lang::{catalogue, words};
use slipring_reference as reference;

use super::parsed::{is_language, read, values};
use super::text::LineMap;
use crate::session::Text;

/// Item kinds of the protocol.
const FUNCTION: u8 = 3;
const VARIABLE: u8 = 6;
const CLASS: u8 = 7;
const CONSTANT: u8 = 21;

/// Completions for the text before the cursor.
pub fn complete(text: &Text, position: &Value) -> Vec<Value> {
    let lines = LineMap::new(&text.text);
    let Some(byte) = lines.byte(position) else { return Vec::new() };
    let (start, word) = lines.word(byte);
    let typed = &word[..byte - start];
    if is_language(text) { of_language(&text.text, typed) } else { of_text(text, &lines, start, byte, typed) }
}

/// The alias by which a file imports the language: `pl` by convention.
pub fn alias(text: &str) -> &str {
    let imports = text.lines().filter_map(|line| line.trim().strip_prefix("import ")?.split_once(".language as "));
    imports.map(|(_, name)| name.split([' ', '#']).next().unwrap_or("pl").trim()).next().unwrap_or("pl")
}

fn of_language(text: &str, typed: &str) -> Vec<Value> {
    let Some(rest) = typed.strip_prefix(alias(text)).and_then(|rest| rest.strip_prefix('.')) else { return Vec::new() };
    let part = ["tile.", "tensor.", "system."].iter().find_map(|module| rest.strip_prefix(module)).unwrap_or(rest);
    let ops = catalogue().filter(|entry| !entry.refused).flat_map(|entry| {
        entry.names.iter().filter(move |name| name.starts_with(part)).map(move |name| {
            let ways: Vec<String> = entry.params.split('|').map(|way| format!("pl.{name}({})", way.trim())).collect();
            json!({ "label": name, "kind": FUNCTION, "detail": ways.join("\n"), "documentation": entry.doc, "data": format!("pl.{name}") })
        })
    });
    let others = words().filter(|word| word.name.starts_with(part)).map(|word| {
        let kind = if word.name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') {
            CONSTANT
        } else {
            CLASS
        };
        json!({ "label": word.name, "kind": kind, "detail": format!("pl.{}{}", word.name, word.form), "documentation": word.doc })
    });
    ops.chain(others.filter(|_| !rest.contains('.'))).collect()
}

fn of_text(text: &Text, lines: &LineMap<'_>, start: usize, byte: usize, typed: &str) -> Vec<Value> {
    let item = |label: &str, kind: u8, detail: &str| {
        let edit = json!({ "range": lines.range(start, byte), "newText": label });
        json!({ "label": label, "kind": kind, "detail": detail, "filterText": label, "textEdit": edit })
    };
    if let Some(part) = typed.strip_prefix('%') {
        let module = &read(text).module;
        let mut names = std::collections::BTreeMap::new();
        for value in values(module) {
            let value = module.value(value);
            if let Some(name) =
                value.name.as_deref().filter(|name| name.starts_with(part) && (value.span.end as usize) < start)
            {
                names.insert(format!("%{name}"), value.ty.to_string());
            }
        }
        return names.iter().map(|(name, ty)| item(name, VARIABLE, ty)).collect();
    }
    if let Some(part) = typed.strip_prefix('!') {
        let names = text.text.lines().filter_map(|line| line.trim().strip_prefix('!')?.split_once('='));
        let names = names.map(|(name, ty)| (name.trim(), ty.trim())).filter(|(name, _)| name.starts_with(part));
        return names.map(|(name, ty)| item(&format!("!{name}"), CLASS, ty)).collect();
    }
    if typed.starts_with(['@', '#']) {
        return Vec::new();
    }
    let mut list: Vec<Value> = Vec::new();
    for (name, summary) in reference::ops().into_iter().filter(|(name, _)| name.starts_with(typed)) {
        let mut op = item(name, FUNCTION, summary);
        op["data"] = name.into();
        list.push(op);
    }
    list
}

/// Adds the reference page to an item.
pub fn resolve(mut item: Value) -> Value {
    let page = item["data"].as_str().and_then(|name| match name.starts_with("pl.") {
        true => reference::language_page(name).ok(),
        false => reference::page(name).ok(),
    });
    if let Some(page) = page {
        item["documentation"] = json!({ "kind": "markdown", "value": format!("```text\n{}\n```", page.trim_end()) });
    }
    item
}
