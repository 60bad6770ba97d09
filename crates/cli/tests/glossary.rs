//! The project uses the terms of the field: its former private terms must not return in names, prose or messages.

use std::path::Path;

use crate::here::{self, root};
use crate::walk;

/// Parts of names in code, and their replacements. `turn_here`, `InTurn` and `turn` all have the part `turn`.
const NAMES: &[(&str, &str)] = &[
    ("turn", "iteration"),
    ("turns", "iterations"),
    ("room", "capacity"),
    ("rooms", "capacities"),
    ("readings", "interpretations"),
    ("truth", "boolean"),
    ("wish", "cancel_token"),
    ("lent", "borrowed"),
    ("spoils", "clobbers"),
    ("spoiled", "clobbered"),
];

/// Names of types, and their replacements.
const TYPES: &[(&str, &str)] = &[
    ("Void", "Uninit"),
    ("Twin", "MayAlias"),
    ("Why", "Reason"),
    ("Tried", "Sample"),
    ("How", "LaunchExtras"),
    ("Lies", "LayoutConstraint"),
    ("Stand", "CoreSnapshot"),
    ("Meeting", "CutPoint"),
];

/// Phrases in prose and messages, and their replacements.
const PHRASES: &[(&str, &str)] = &[
    ("--reading", "`--interpretation`"),
    ("the other reading", "the other interpretation"),
    ("for ever ", "forever"),
    ("turns of the loop", "iterations of the loop"),
    ("turn of the loop", "iteration of the loop"),
    ("turns of a loop", "iterations of a loop"),
    ("turn of a loop", "iteration of a loop"),
    ("each turn", "each iteration"),
    ("every turn", "every iteration"),
    ("first turn", "first iteration"),
    ("last turn", "last iteration"),
    ("one turn ", "one iteration"),
    ("is no number of", "is not a number of"),
    ("is no float", "is not a float"),
];

/// Files that are about these terms: this one, and the record of changes.
fn speaks_of_them(path: &Path) -> bool {
    path.ends_with("glossary.rs") || path.ends_with("CHANGELOG.md")
}

/// The code of a source: comments, strings and characters are replaced by spaces.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hashes = rest.strip_prefix('r').map_or(0, |tail| tail.len() - tail.trim_start_matches('#').len());
        let raw = rest.starts_with('r') && rest[1 + hashes..].starts_with('"') && !ends_in_name(&out);
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if raw {
            let close = format!("\"{}", "#".repeat(hashes));
            let start = 2 + hashes;
            rest[start..].find(&close).map_or(rest.len(), |at| start + at + close.len())
        } else if first == '"' {
            end_of_quoted(rest, '"').unwrap_or(rest.len())
        } else if first == '\'' {
            // Lifetimes have no closing quote nearby.
            end_of_quoted(rest, '\'')
                .filter(|end| rest[..*end].chars().count() <= 12 && !is_lifetime(rest))
                .unwrap_or(0)
        } else {
            0
        };
        if length == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            out.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[length..];
        }
    }
    out
}

fn ends_in_name(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether `'a` is not followed by a quote.
fn is_lifetime(text: &str) -> bool {
    let mut chars = text[1..].chars();
    let first = chars.next();
    first.is_some_and(|c| c.is_alphabetic() || c == '_') && chars.next() != Some('\'')
}

/// The end of the quoted text that begins here.
fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The parts of a name: `in_turn`, `InTurn` and `IN_TURN` have `in` and `turn`.
fn parts(name: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && before.is_lowercase()) {
            found.push(String::new());
        }
        if c != '_' {
            found.last_mut().unwrap().extend(c.to_lowercase());
        }
        before = c;
    }
    found
}

/// The removed names in a text, with their lines.
fn gone_names(text: &str) -> Vec<(usize, String, &'static str)> {
    let mut found = Vec::new();
    for (at, line) in code(text).lines().enumerate() {
        for name in line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()) {
            let own = parts(name);
            let part = NAMES.iter().find(|(gone, _)| own.iter().any(|part| part == gone));
            let gone = part.or_else(|| TYPES.iter().find(|(gone, _)| *gone == name));
            found.extend(gone.map(|(_, now)| (at + 1, name.to_string(), *now)));
        }
    }
    found
}

/// The removed phrases in a text, with their lines.
fn gone_phrases(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let said = |line: &str| PHRASES.iter().find(|(gone, _)| line.contains(gone)).copied();
    text.lines().enumerate().filter_map(|(at, line)| said(line).map(|(gone, now)| (at + 1, gone, now))).collect()
}

#[test]
fn words_that_are_gone_stay_gone() {
    let root = root();
    let (mut looked, mut found) = (0, Vec::new());
    for folder in ["crates", "docs", "examples", "tests", "scripts", "python", "fuzz"] {
        for path in walk::files(&root.join(folder), &["rs", "md", "py", "pyi", "pto", "toml"]) {
            if speaks_of_them(&path) || path.components().any(|part| part.as_os_str() == "target") {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            looked += 1;
            if path.extension().is_some_and(|end| end == "rs") {
                let names = gone_names(&text).into_iter();
                found.extend(names.map(|(at, name, now)| format!("{}:{at}: `{name}`: {now}", path.display())));
            }
            let phrases = gone_phrases(&text).into_iter();
            found.extend(phrases.map(|(at, gone, now)| format!("{}:{at}: \"{gone}\": {now}", path.display())));
        }
    }
    assert!(looked > 2000, "only {looked} files");
    assert!(found.is_empty(), "words that the project has no more:\n{}", found.join("\n"));
}

#[test]
fn words_that_are_gone_are_found() {
    let names = |text: &str| gone_names(text).into_iter().map(|(at, name, _)| (at, name)).collect::<Vec<_>>();
    assert_eq!(names("let a = 1;\nfn each_turn() {}\n"), [(2, "each_turn".to_string())]);
    assert_eq!(names("enum Rows { InTurn }"), [(1, "InTurn".to_string())]);
    assert_eq!(names("struct Void;"), [(1, "Void".to_string())]);
    assert_eq!(
        names("return returned; // a turn\nlet a = \"room \\\" room\"; let b = 'r'; let c: &'room str;").len(),
        1
    );
    assert_eq!(names("let a = r#\"a \" room\"#; turns"), [(1, "turns".to_string())]);
    assert_eq!(gone_phrases("a\nuse --reading x"), [(2, "--reading", "`--interpretation`")]);
    assert!(gone_phrases("in turn; reading a file; room for two").is_empty());
}

/// The former names of options and fields are still accepted, with the same meaning.
#[test]
fn former_names_are_still_taken() {
    let root = root();
    let run = |option: &[&str]| {
        let ran = here::slipring()
            .args(["run", "tests/files/ops/interpretations/finite_pad.pto", "--func", "fill"])
            .args(option)
            .output()
            .unwrap();
        (ran.status.code(), ran.stdout, ran.stderr)
    };
    let now = run(&["--interpretation", "finite-pad"]);
    assert_eq!(now.0, Some(0));
    assert_eq!(run(&["--reading", "finite-pad"]), now);
    assert_ne!(run(&[]), now);

    let platform = std::fs::read_to_string(root.join("platforms/a5.toml")).unwrap();
    let read = |key: &str| slipring::read_platform(&format!("{key} = [\"finite-pad\"]\n{platform}")).unwrap();
    assert_eq!(read("readings").interpretations, ["finite-pad"]);
    assert_eq!(read("interpretations").interpretations, ["finite-pad"]);
}
