//! The definitions, imports and uses of a source, from its tokens; tests are left out.

use std::collections::BTreeSet;

/// One name of a `use`.
#[derive(Clone, Debug)]
pub(super) struct Import {
    /// Its name in the file; empty for a glob.
    pub(super) name: String,
    pub(super) path: Vec<String>,
    pub(super) glob: bool,
    pub(super) public: bool,
}

/// The part of a file that the rest of the crate can see.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// Path below `src`.
    pub(super) path: String,
    /// Path of its module, from the root of the crate.
    pub(super) module: Vec<String>,
    /// The items that it defines.
    pub(super) own: BTreeSet<String>,
    /// Items that only the file and its submodules can name.
    pub(super) private: BTreeSet<String>,
    /// The macros among them.
    pub(super) makes: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// Paths that it names outside imports.
    pub(super) paths: BTreeSet<Vec<String>>,
    /// Names that stand alone, or at the beginning of a path.
    pub(super) names: BTreeSet<String>,
    /// Macros that it calls by a bare name.
    pub(super) macros: BTreeSet<String>,
    /// Submodule files that are tests.
    tests: Vec<String>,
}

/// The tokens of a text, without comments and literals.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let raw = rest.trim_start_matches(['b', 'c']).strip_prefix('r').map(|raw| {
            let marks = raw.len() - raw.trim_start_matches('#').len();
            (marks, &raw[marks..])
        });
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some((marks, body)) = raw
            && body.starts_with('"')
            && !found_word_before(text, rest)
        {
            let end = format!("\"{}", "#".repeat(marks));
            let close = body[1..].find(&end).map_or(body.len(), |at| at + 1 + end.len());
            rest.len() - body.len() + close
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' {
            // A character literal or a lifetime.
            let mut inner = rest[1..].chars();
            match (inner.next(), inner.next()) {
                (Some('\\'), _) => quoted(rest, '\''),
                (Some(c), Some('\'')) => c.len_utf8() + 2,
                _ => 1 + rest[1..].find(|c| !word(c)).unwrap_or(rest.len() - 1),
            }
        } else if word(first) {
            let len = rest.find(|c| !word(c)).unwrap_or(rest.len());
            if !first.is_ascii_digit() {
                found.push(&rest[..len]);
            }
            len
        } else if rest.starts_with("::") {
            found.push("::");
            2
        } else {
            if !first.is_whitespace() {
                found.push(&rest[..first.len_utf8()]);
            }
            first.len_utf8()
        };
        rest = &rest[len..];
    }
    found
}

/// Whether the rest of a text continues a word.
fn found_word_before(text: &str, rest: &str) -> bool {
    let before = text[..text.len() - rest.len()].chars().next_back();
    before.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// The length of a comment, which may be nested.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a literal with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && c == quote {
            return at + 1;
        }
        escaped = !escaped && c == '\\';
    }
    text.len()
}

/// The end of the item that begins at a token: after its `;` or its last brace.
fn item_end(tokens: &[&str], start: usize) -> usize {
    let mut depth = 0i32;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth -= 1;
                if depth == 0 && *token == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Reads the tree of a `use`, from after the keyword to its `;`.
fn tree(tokens: &[&str], at: &mut usize, base: &[String], public: bool, found: &mut Vec<Import>) {
    let mut path = base.to_vec();
    while let Some(token) = tokens.get(*at) {
        match *token {
            "::" => *at += 1,
            "{" => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| !["}", ";"].contains(token)) {
                    tree(tokens, at, &path, public, found);
                    *at += usize::from(tokens.get(*at) == Some(&","));
                }
                *at += 1;
                return;
            }
            "*" => {
                *at += 1;
                found.push(Import { name: String::new(), path, glob: true, public });
                return;
            }
            "as" => {
                let name = tokens.get(*at + 1).copied().unwrap_or_default().to_string();
                *at += 2;
                found.push(Import { name, path, glob: false, public });
                return;
            }
            "," | "}" | ";" => break,
            // `self` at the end denotes the module before it.
            "self" if !path.is_empty() => *at += 1,
            word => {
                path.push(word.to_string());
                *at += 1;
            }
        }
    }
    if let Some(name) = path.last().cloned() {
        found.push(Import { name, path, glob: false, public });
    }
}

const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

impl Source {
    pub(super) fn read(path: &str, text: &str) -> Source {
        let mut module: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_string).collect();
        if path == "lib.rs" || path == "main.rs" || path.ends_with("/mod.rs") {
            module.pop();
        }
        let mut source = Source { path: path.to_string(), module, ..Source::default() };
        let tokens = tokens(text);
        let mut depth = 0i32;
        let mut at = 0;
        // The depth of each inner module that contains the token.
        let mut inside: Vec<i32> = Vec::new();
        while at < tokens.len() {
            if tokens[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"]) {
                let mut item = at + 7;
                while tokens.get(item) == Some(&"#") {
                    item = item_end_of_attribute(&tokens, item);
                }
                let end = item_end(&tokens, item);
                if let ["mod", name, ";"] = tokens[item..end] {
                    source.tests.push(name.to_string());
                }
                at = end;
                continue;
            }
            match tokens[at] {
                // The captures of an opaque type (`use<…>`) are not an import.
                "use" if tokens.get(at + 1) != Some(&"<") => {
                    let public = at > 0 && ["pub", ")"].contains(&tokens[at - 1]);
                    at += 1;
                    let first = source.imports.len();
                    tree(&tokens, &mut at, &[], public, &mut source.imports);
                    source.imports[first..].iter_mut().for_each(|import| leave(&mut import.path, inside.len()));
                }
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => {
                    depth -= 1;
                    inside.pop_if(|own| *own == depth);
                }
                // A table of ops defines the list of them, and an item for each row.
                "ops" if depth == 0 && tokens[at + 1..].starts_with(&["!", "{"]) => {
                    source.own.insert(tokens[at + 3].to_string());
                    source.rows(&tokens[at..item_end(&tokens, at)]);
                    source.name(&tokens, at, inside.len());
                }
                "macro_rules" => {
                    let name = tokens.get(at + 2).copied().unwrap_or_default().to_string();
                    source.makes.insert(name.clone());
                    source.own.insert(name);
                    at += 2;
                }
                // An inline module is an item of the file.
                "mod" if tokens.get(at + 2) == Some(&"{") => {
                    if depth == 0 {
                        source.own.insert(tokens[at + 1].to_string());
                    }
                    inside.push(depth);
                    depth += 1;
                    at += 2;
                }
                word if depth == 0 && ITEMS.contains(&word) => {
                    let skipped = ["mut", "unsafe", "extern", "fn"];
                    let name = tokens[at + 1..].iter().find(|token| !skipped.contains(*token));
                    let words = tokens[..at].iter().rev();
                    let before = words.into_iter().find(|word| !["const", "unsafe", "async", "extern"].contains(*word));
                    if let Some(name) = name {
                        source.own.insert(name.to_string());
                        if !before.is_some_and(|word| ["pub", ")"].contains(word)) {
                            source.private.insert(name.to_string());
                        }
                    }
                }
                word if is_word(word) => at = source.name(&tokens, at, inside.len()),
                _ => {}
            }
            at += 1;
        }
        source
    }

    /// Records the items of a table of ops, whose rows end with `;`: `pub NAME …: …`. The first one is its head.
    fn rows(&mut self, tokens: &[&str]) {
        let (mut depth, mut begins) = (0, false);
        for (at, token) in tokens.iter().enumerate() {
            match *token {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                ";" if depth == 1 => begins = true,
                "pub" => {}
                name if begins && depth == 1 => {
                    begins = false;
                    self.own.insert(name.to_string());
                    if !["pub", ")"].contains(&tokens[at - 1]) {
                        self.private.insert(name.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    /// Records the path that begins at a token inside this many inner modules, and returns its last token.
    fn name(&mut self, tokens: &[&str], start: usize, inside: usize) -> usize {
        let mut path = vec![tokens[start].to_string()];
        let mut at = start;
        while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|word| is_word(word)) {
            at += 2;
            path.push(tokens[at].to_string());
        }
        let before = start.checked_sub(1).map_or("", |before| tokens[before]);
        // A field, the continuation of a path, a definition, or a binding with its type.
        let bare = path.len() == 1;
        let known = bare && (["fn", "mod"].contains(&before) || tokens.get(at + 1) == Some(&":"));
        if ![".", "::"].contains(&before) && !known {
            if !bare {
                self.names.insert(path[0].clone());
                leave(&mut path, inside);
                self.paths.insert(path);
            } else {
                if tokens.get(at + 1) == Some(&"!") {
                    self.macros.insert(path[0].clone());
                }
                self.names.insert(path.remove(0));
            }
        }
        at
    }

    /// The submodules that are tests.
    pub(super) fn test_modules(&self) -> impl Iterator<Item = Vec<String>> {
        self.tests.iter().map(|name| [&self.module[..], std::slice::from_ref(name)].concat())
    }
}

/// A path inside this many inner modules, relative to the file.
fn leave(path: &mut Vec<String>, inside: usize) {
    let ups = path.iter().take_while(|part| *part == "super").count().min(inside);
    if ups > 0 || inside > 0 && path.first().is_some_and(|head| head == "self") {
        path.drain(..ups.max(1));
        if path.first().is_none_or(|head| head != "super") {
            path.insert(0, "self".to_string());
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The end of the attribute that begins at a `#`.
fn item_end_of_attribute(tokens: &[&str], start: usize) -> usize {
    let mut depth = 0i32;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        depth += i32::from(*token == "[") - i32::from(*token == "]");
        if *token == "]" && depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
