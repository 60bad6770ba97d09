//! Occurrences of a name: references, renaming, and semantic tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};
use slipring_ir::{Source, ValueDef};
use slipring_lang::scopes::{self, NameUses, Stands};
use slipring_lang::{catalogue, words};

use super::parsed::{is_language, read, values};
use super::text::LineMap;
use crate::session::Text;

/// Token types, in the order of the server's legend.
pub const KINDS: [&str; 7] = ["variable", "parameter", "function", "class", "namespace", "type", "enumMember"];
const VARIABLE: usize = 0;
const PARAMETER: usize = 1;
const FUNCTION: usize = 2;
const CLASS: usize = 3;
const NAMESPACE: usize = 4;
const TYPE: usize = 5;
const MEMBER: usize = 6;

/// Keywords of Python, which are not names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// An occurrence of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
struct WordUse {
    range: Range<usize>,
    /// Occurrences with the same number denote the same symbol; `None` for names that the text does not define.
    symbol: Option<usize>,
    binds: bool,
    kind: usize,
    /// True for a method or an attribute of a class.
    member: bool,
}

/// All occurrences of names, in text order.
fn places(text: &Text) -> Vec<WordUse> {
    let mut list = if is_language(text) { of_language(text) } else { of_text(text) };
    list.sort_by_key(|place| (place.range.start, place.range.end));
    list.dedup_by_key(|place| place.range.start);
    list
}

/// The names of a Python text.
fn names_of(text: &Text) -> NameUses {
    scopes::places(&Source::new(text.name.as_str(), text.text.as_str()))
}

fn of_language(text: &Text) -> Vec<WordUse> {
    let found = names_of(text);
    let mut list: Vec<WordUse> = found
        .names
        .into_iter()
        .map(|own| {
            let kind = match own.stands {
                Stands::Variable => VARIABLE,
                Stands::Parameter => PARAMETER,
                Stands::Function => FUNCTION,
                Stands::Class => CLASS,
                Stands::Module => NAMESPACE,
            };
            WordUse { range: own.range, symbol: Some(own.symbol), binds: own.binds, kind, member: own.member }
        })
        .collect();
    let alias = super::complete::alias(&text.text);
    for (path, range) in found.members {
        let Some(rest) = path.strip_prefix(alias).and_then(|rest| rest.strip_prefix('.')) else { continue };
        let name = rest.rsplit('.').next().unwrap_or(rest);
        let op = catalogue().any(|entry| entry.names.contains(&rest) || entry.names.contains(&name));
        let word = words().any(|word| word.name == rest || word.name.rsplit('.').next() == Some(name));
        let constant = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let kind = match (op, word) {
            (true, _) => FUNCTION,
            (_, true) if constant => MEMBER,
            (_, true) => TYPE,
            _ => continue,
        };
        list.push(WordUse { range, symbol: None, binds: false, kind, member: false });
    }
    list
}

/// The tokens of a text of ops: names with their sigils, and ops.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte);
    let (mut list, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' || b"%@!#".contains(&byte) => {
                let first = at;
                at += 1;
                while at < bytes.len() && part(bytes[at]) {
                    at += 1;
                }
                if at - first > 1 || !b"%@!#".contains(&byte) {
                    list.push(first..at);
                }
            }
            byte if byte.is_ascii_digit() => at += bytes[at..].iter().position(|byte| !part(*byte)).unwrap_or(1).max(1),
            _ => at += 1,
        }
    }
    list
}

/// Regions of a text of ops: from a brace that ends a line to its closing brace.
fn regions(text: &str) -> Vec<Range<usize>> {
    let (mut open, mut list, mut start) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or("");
        let last = code.trim_end().len();
        let mut quoted = false;
        for (at, c) in code.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '{' if !quoted => open.push((start + at, at + 1 == last)),
                '}' if !quoted => {
                    if let Some((first, true)) = open.pop() {
                        list.push(first..start + at + 1);
                    }
                }
                _ => {}
            }
        }
        start += line.len();
    }
    list.extend(open.into_iter().filter(|(_, region)| *region).map(|(first, _)| first..text.len()));
    list
}

/// A value: where it is defined, where it is visible, and whether it is a parameter.
struct Defined {
    at: usize,
    seen: Range<usize>,
    parameter: bool,
}

/// Regions sorted by their beginnings, each with its parent.
struct Nest {
    regions: Vec<(Range<usize>, Option<usize>)>,
}

impl Nest {
    fn new(mut regions: Vec<Range<usize>>) -> Nest {
        regions.sort_by_key(|region| (region.start, std::cmp::Reverse(region.end)));
        let (mut nest, mut open) = (Nest { regions: Vec::new() }, Vec::new());
        for region in regions {
            while open.last().is_some_and(|at: &usize| nest.regions[*at].0.end <= region.start) {
                open.pop();
            }
            let around = open.last().copied();
            open.push(nest.regions.len());
            nest.regions.push((region, around));
        }
        nest
    }

    /// The first region that begins at or after a position.
    fn behind(&self, at: usize) -> Option<&Range<usize>> {
        self.regions.get(self.regions.partition_point(|(region, _)| region.start < at)).map(|(region, _)| region)
    }

    /// The innermost region that contains a position.
    fn around(&self, at: usize) -> Option<&Range<usize>> {
        let mut next = self.regions.partition_point(|(region, _)| region.start <= at).checked_sub(1);
        while let Some((region, around)) = next.map(|next| &self.regions[next]) {
            if region.contains(&at) {
                return Some(region);
            }
            next = *around;
        }
        None
    }
}

fn of_text(text: &Text) -> Vec<WordUse> {
    let module = &read(text).module;
    let regions = Nest::new(regions(&text.text));
    let words = tokens(&text.text);
    let mut defined: Vec<Defined> = Vec::new();
    // The definitions of each name; several results of an op share one name, and are one symbol.
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for value in values(module) {
        let value = module.value(value);
        let Some(name) = value.name.as_deref() else { continue };
        let at = value.span.start as usize;
        let parameter = matches!(value.def, ValueDef::Arg(..));
        // A definition in the header of a region is visible inside the region.
        let seen = if parameter { regions.behind(at) } else { regions.around(at) };
        let seen = seen.map_or(0..text.text.len(), |region| if parameter { at..region.end } else { region.clone() });
        named.entry(name).or_default().push(defined.len());
        defined.push(Defined { at, seen, parameter });
    }
    let functions = module.functions().map(|function| module.op(function).span.start as usize);
    let heads: BTreeSet<usize> = functions.filter_map(|at| Some(at + text.text.get(at..)?.find('@')?)).collect();
    let mut symbols: BTreeMap<(char, &str), usize> = BTreeMap::new();
    let mut list = Vec::new();
    for word in words {
        let said = &text.text[word.clone()];
        let mark = said.chars().next().unwrap_or(' ');
        let place = match mark {
            '%' => {
                let same = named.get(&said[1..]).map_or(&[][..], Vec::as_slice);
                let seen = same.iter().filter(|at| defined[**at].seen.contains(&word.start));
                let Some(own) = seen.min_by_key(|at| defined[**at].seen.len()).map(|at| &defined[*at]) else {
                    continue;
                };
                let symbol = same.iter().find(|at| defined[**at].at == own.at).copied();
                let kind = if own.parameter { PARAMETER } else { VARIABLE };
                let binds = own.at.abs_diff(word.start) <= 1;
                WordUse { range: word, symbol, binds, kind, member: false }
            }
            '@' | '!' | '#' if !said.contains('.') => {
                let next = defined.len() + symbols.len();
                let symbol = *symbols.entry((mark, &said[1..])).or_insert(next);
                let line = text.text[..word.start].rfind('\n').map_or(0, |at| at + 1);
                let first = text.text[line..word.start].trim().is_empty();
                let binds = if mark == '@' { heads.contains(&word.start) } else { first };
                let kind = if mark == '@' { FUNCTION } else { TYPE };
                WordUse { range: word, symbol: Some(symbol), binds, kind, member: false }
            }
            '!' | '#' => WordUse { range: word, symbol: None, binds: false, kind: TYPE, member: false },
            _ if said.contains('.') && slipring_reference::is_op(said) => {
                WordUse { range: word, symbol: None, binds: false, kind: FUNCTION, member: false }
            }
            _ => continue,
        };
        list.push(place);
    }
    list
}

/// The occurrences of the name at a position.
fn same(text: &Text, byte: usize) -> Vec<WordUse> {
    let all = places(text);
    let here = all.iter().find(|place| (place.range.start..=place.range.end).contains(&byte) && place.symbol.is_some());
    let Some(symbol) = here.and_then(|place| place.symbol) else { return Vec::new() };
    all.into_iter().filter(|place| place.symbol == Some(symbol)).collect()
}

/// The definition of the name at a byte of a Python text: its last binding up to there, else its first one. A member of
/// a module, such as `pl.load`, leads to the import of the module.
pub fn definition(text: &Text, byte: usize) -> Option<Range<usize>> {
    let last = |list: Vec<WordUse>| {
        let binds: Vec<WordUse> = list.into_iter().filter(|place| place.binds).collect();
        let before = binds.iter().rfind(|place| place.range.start <= byte);
        before.or_else(|| binds.first()).map(|place| place.range.clone())
    };
    last(same(text, byte)).or_else(|| {
        let (start, _) = LineMap::new(&text.text).word(byte);
        last(same(text, start).into_iter().filter(|place| place.kind == NAMESPACE).collect())
    })
}

/// The header of the function or class whose name is at a byte of a Python text, or the statement that assigns the name.
pub fn head(text: &Text, byte: usize) -> Option<String> {
    let name = definition(text, byte)?;
    let end = *names_of(text).heads.get(&name.start)?;
    let line = text.text[..name.start].rfind('\n').map_or(0, |at| at + 1);
    let whole = text.text.get(line..end)?;
    let indent = whole.len() - whole.trim_start().len();
    let blanks = &whole[..indent];
    let lines = whole.lines().map(|line| line.strip_prefix(blanks).unwrap_or(line));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// All references to the symbol at a position.
pub fn references(text: &Text, address: &str, params: &Value) -> Option<Value> {
    let lines = LineMap::new(&text.text);
    let byte = lines.byte(&params["position"])?;
    let declaration = params["context"]["includeDeclaration"].as_bool().unwrap_or(true);
    let list = same(text, byte).into_iter().filter(|place| declaration || !place.binds);
    let list = list.map(|place| json!({ "uri": address, "range": lines.range(place.range.start, place.range.end) }));
    Some(list.collect::<Vec<_>>().into())
}

/// The occurrences in the open text, as document highlights: 3 for a write, 2 for a read.
pub fn highlights(text: &Text, params: &Value) -> Option<Value> {
    let lines = LineMap::new(&text.text);
    let byte = lines.byte(&params["position"])?;
    let list = same(text, byte).into_iter().map(|place| {
        let kind = if place.binds { 3 } else { 2 };
        json!({ "range": lines.range(place.range.start, place.range.end), "kind": kind })
    });
    Some(list.collect::<Vec<_>>().into())
}

/// The name at a position, if it can be renamed.
///
/// # Errors
///
/// Why it cannot be renamed.
pub fn prepare_rename(text: &Text, params: &Value) -> Result<Value, String> {
    let lines = LineMap::new(&text.text);
    let byte = lines.byte(&params["position"]).ok_or("a position has a line and a character, both from 0")?;
    let list = renamed(text, byte)?;
    let here = list.iter().find(|place| (place.range.start..=place.range.end).contains(&byte));
    here.map(|place| lines.range(place.range.start, place.range.end)).ok_or_else(|| "there is no name here".into())
}

fn renamed(text: &Text, byte: usize) -> Result<Vec<WordUse>, String> {
    let list = same(text, byte);
    match list.first() {
        None => Err("the name here is not defined in this file".into()),
        Some(place) if place.kind == NAMESPACE => Err("a module is renamed at its import".into()),
        Some(_) if !list.iter().any(|place| place.binds) => Err("the name is not defined in this file".into()),
        Some(_) => Ok(list),
    }
}

/// A new name for some occurrences in a Python text.
fn python_name(text: &Text, said: &str, old: &str, list: &[WordUse]) -> Result<String, String> {
    if KEYWORDS.contains(&said) {
        return Err(format!("`{said}` is a keyword of Python"));
    }
    let new = scopes::identifier(said).ok_or_else(|| format!("`{said}` is not a name"))?;
    if said == old {
        return Ok(new);
    }
    let found = names_of(text);
    let member = list.iter().any(|place| place.member);
    // Attributes have names of their own, which other names do not meet.
    let attribute = |(path, _): &(String, Range<usize>)| path.rsplit('.').next() == Some(new.as_str());
    if found.words.contains(&new) || member && found.members.iter().chain(&found.loose).any(attribute) {
        return Err(format!("`{new}` is already a name in this file"));
    }
    if scopes::is_builtin(&new) {
        return Err(format!("`{new}` is a builtin name of Python"));
    }
    if let Some((_, range)) = found.loose.iter().find(|(name, _)| member && name == old) {
        let line = text.text[..range.start].matches('\n').count() + 1;
        return Err(format!("`.{old}` of line {line} may be the same or not: the class of its object is not known"));
    }
    Ok(said.to_string())
}

/// The edits that rename a symbol.
///
/// # Errors
///
/// If the new name is not a valid name, or is already in use.
pub fn rename(text: &Text, address: &str, params: &Value) -> Result<Value, String> {
    let lines = LineMap::new(&text.text);
    let byte = lines.byte(&params["position"]).ok_or("a position has a line and a character, both from 0")?;
    let list = renamed(text, byte)?;
    let old = &text.text[list[0].range.clone()];
    let said = params["newName"].as_str().unwrap_or("").trim();
    let whole = if is_language(text) {
        python_name(text, said, old, &list)?
    } else {
        let mark = &old[..1];
        let new = said.strip_prefix(mark).unwrap_or(said);
        let first = new.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let digits = new.chars().all(|c| c.is_ascii_digit()) && !new.is_empty();
        if !(first || digits) || !new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{said}` is not a name"));
        }
        let whole = format!("{mark}{new}");
        // Names that nothing defines count, too: they would get a definition.
        if whole != old && tokens(&text.text).into_iter().any(|word| text.text[word] == whole) {
            return Err(format!("`{whole}` is already a name in this file"));
        }
        whole
    };
    let edits =
        list.iter().map(|place| json!({ "range": lines.range(place.range.start, place.range.end), "newText": whole }));
    Ok(json!({ "changes": { address: edits.collect::<Vec<_>>() } }))
}

/// The semantic tokens: five integers per token, as the protocol requires.
pub fn tokens_of(text: &Text) -> Value {
    let lines = LineMap::new(&text.text);
    let (mut data, mut line, mut column) = (Vec::new(), 0, 0);
    for place in places(text) {
        let at = lines.position(place.range.start);
        let (own, start) = (at["line"].as_u64().unwrap_or(0), at["character"].as_u64().unwrap_or(0));
        let length = text.text[place.range.clone()].encode_utf16().count() as u64;
        let before = if own == line { column } else { 0 };
        data.extend([own - line, start - before, length, place.kind as u64, u64::from(place.binds)]);
        (line, column) = (own, start);
    }
    json!({ "data": data })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_seen_where_their_regions_are() {
        let text = "func.func @f(%n: index) attributes {a = \"%n\"} {\n  scf.for %i = %n to %n step %n {\n    %x = op %i\n  }\n  \
                    scf.for %i = %n to %n step %n { // %i\n    %y = op %i, %y\n  }\n}\n";
        assert_eq!(regions(text).len(), 3);
        let said: Vec<&str> = tokens(text).into_iter().map(|word| &text[word]).filter(|word| *word == "%i").collect();
        assert_eq!(said.len(), 4);
    }
}
