//! Document symbols and folding ranges.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::parsed::{is_language, read};
use super::text::LineMap;
use crate::session::Text;

/// Symbol kinds of the protocol.
const CLASS: u8 = 5;
const FUNCTION: u8 = 12;

/// A range of lines: its first and last line.
struct Piece {
    first: usize,
    last: usize,
}

/// The functions, and the classes with their members.
pub fn symbols(text: &Text) -> Vec<Value> {
    let lines = LineMap::new(&text.text);
    let heads = heads(text, &lines);
    let pieces = pieces(text, &lines, &heads);
    let mut found: Vec<(Piece, Value)> = Vec::new();
    for piece in pieces {
        let line = lines.line(piece.first);
        let Some((name, at, kind)) = heads.get(&piece.first) else { continue };
        let start = lines.start(piece.first);
        let symbol = json!({
            "name": name,
            "kind": kind,
            "range": lines.range(start + line.len() - line.trim_start().len(), lines.start(piece.last) + lines.line(piece.last).len()),
            "selectionRange": lines.range(*at, at + name.len()),
            "children": [],
        });
        found.push((piece, symbol));
    }
    nested(&mut found.into_iter().peekable(), usize::MAX)
}

fn nested(list: &mut std::iter::Peekable<impl Iterator<Item = (Piece, Value)>>, last: usize) -> Vec<Value> {
    let mut level = Vec::new();
    while let Some((piece, mut symbol)) = list.next_if(|(piece, _)| piece.first <= last) {
        symbol["children"] = nested(list, piece.last).into();
        level.push(symbol);
    }
    level
}

/// The definition that begins on a line: its name, the byte offset of the name, and its kind.
type Heads = BTreeMap<usize, (String, usize, u8)>;

/// The lines where functions and classes begin.
fn heads(text: &Text, lines: &LineMap<'_>) -> Heads {
    let name_at = |at: usize, kind: u8| {
        let rest = text.text.get(at..)?;
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').next()?;
        (!name.is_empty()).then(|| (name.to_string(), at, kind))
    };
    if !is_language(text) {
        let module = &read(text).module;
        let functions = module.functions().filter_map(|function| {
            let first = module.op(function).span.start as usize;
            let at = first + text.text.get(first..)?.find('@')? + 1;
            Some((lines.line_of(first), name_at(at, FUNCTION)?))
        });
        return functions.collect();
    }
    let heads = (0..lines.count()).filter_map(|line| {
        let own = lines.line(line);
        let (word, kind) =
            [("def ", FUNCTION), ("class ", CLASS)].into_iter().find(|(word, _)| own.trim_start().starts_with(word))?;
        let indent = own.len() - own.trim_start().len();
        Some((line, name_at(lines.start(line) + indent + word.len(), kind)?))
    });
    heads.collect()
}

/// The folding ranges.
pub fn folds(text: &Text) -> Vec<Value> {
    let lines = LineMap::new(&text.text);
    let folds = pieces(text, &lines, &heads(text, &lines)).into_iter().filter(|piece| piece.last > piece.first);
    folds.map(|piece| json!({ "startLine": piece.first, "endLine": piece.last })).collect()
}

/// Line ranges sorted by first line: blocks by indentation, or by braces.
fn pieces(text: &Text, lines: &LineMap<'_>, heads: &Heads) -> Vec<Piece> {
    let mut list = if is_language(text) { indented(lines, heads) } else { braced(lines, heads) };
    list.sort_by_key(|piece| (piece.first, usize::MAX - piece.last));
    list
}

fn indented(lines: &LineMap<'_>, heads: &Heads) -> Vec<Piece> {
    let indent = |line: usize| lines.line(line).len() - lines.line(line).trim_start().len();
    let filled: Vec<usize> = (0..lines.count()).filter(|line| !lines.line(*line).trim().is_empty()).collect();
    let mut list = Vec::new();
    // Lines whose blocks are still open, with their indentation.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut last = 0;
    for line in filled {
        let own = indent(line);
        // The closing line of a multi-line header belongs to the header.
        let closes = lines.line(line).trim_start().starts_with([')', ']', '}']);
        while let Some((first, _)) = open.pop_if(|(_, outer)| *outer > own || *outer == own && !closes) {
            list.push(Piece { first, last });
        }
        if !closes {
            open.push((line, own));
        }
        last = line;
    }
    list.extend(open.into_iter().map(|(first, _)| Piece { first, last }));
    list.retain(|piece| piece.last > piece.first || heads.contains_key(&piece.first));
    list
}

fn braced(lines: &LineMap<'_>, heads: &Heads) -> Vec<Piece> {
    let (mut list, mut open) = (Vec::new(), Vec::new());
    // A function's attributes are in braces as well: its range is the largest that begins on its line.
    for line in 0..lines.count() {
        let text = lines.line(line).split("//").next().unwrap_or("");
        let mut quoted = false;
        for c in text.chars() {
            match c {
                '"' => quoted = !quoted,
                '{' if !quoted => open.push(line),
                '}' if !quoted => list.extend(open.pop().map(|first| Piece { first, last: line })),
                _ => {}
            }
        }
    }
    let last = lines.count() - 1;
    list.extend(open.into_iter().map(|first| Piece { first, last }));
    // A multi-line header: its braces begin on a later line than its name.
    for line in 0..lines.count() {
        let starts =
            heads.contains_key(&line) && !list.iter().any(|piece: &Piece| piece.first == line && piece.last > line);
        if starts {
            let body = list
                .iter()
                .filter(|piece| piece.first > line && piece.last > piece.first)
                .min_by_key(|piece| piece.first);
            let last = body.map_or(line, |body| body.last);
            list.push(Piece { first: line, last });
        }
    }
    list.sort_by_key(|piece| (piece.first, usize::MAX - piece.last));
    list.dedup_by_key(|piece| piece.first);
    list
}
