//! The preprocessor: directives and keywords of the device compiler become blanks, so that all offsets stay valid.

use std::ops::Range;

use slipring_ir::{Diagnostic, Diags, Elsewhere, Span};
use slipring_machine::CoreKind;

/// A text without directives.
pub(crate) struct Blanked {
    /// As long as the original text.
    pub text: String,
    /// Lines that are compiled for one kind of core only.
    pub parts: Vec<(Range<usize>, CoreKind)>,
    /// Offsets of functions marked for launch by the host.
    pub launched: Vec<usize>,
    /// Lines that come from other files, by `#line`.
    pub elsewhere: Vec<Elsewhere>,
    /// True for the recording of a launch: its numbers are constants of that launch.
    pub recorded: bool,
}

/// Keywords of the device compiler that are ignored: types determine the memory, and everything is device code.
const SILENT: [&str; 15] = [
    "__aicore__",
    "AICORE",
    "__gm__",
    "__ubuf__",
    "__cbuf__",
    "__ca__",
    "__cb__",
    "__cc__",
    "__fbuf__",
    "__in__",
    "__out__",
    "__tf__",
    "__forceinline__",
    "PTO_INTERNAL",
    "PTO_INST",
];

/// The attribute of a function that the host launches.
const LAUNCHED: &str = "__global__";

/// The pragma that `slipring trace` writes into a recording.
const RECORDED: &str = "slipring recorded";

/// Functions that the runtime's macros replace, with the replacement: the index of the Vector core.
const SAME: [(&str, &str); 1] = [("get_subblockid", "() pypto_runtime_subblock_id")];

/// The value of a preprocessor condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Yes,
    No,
    /// True on one kind of core.
    On(CoreKind),
}

/// An `#if` that is open.
struct Open<'t> {
    /// The name that the condition tests, if it holds because the name is not defined.
    default_of: Option<&'t str>,
    at: usize,
    holds: Holds,
    /// Start of the current branch.
    from: usize,
    /// Whether the enclosing code is active.
    outer: bool,
}

/// Blanks the directives of a text.
pub(crate) fn blank(text: &str, diags: &mut Diags) -> Blanked {
    let mut bytes = text.as_bytes().to_vec();
    let (mut parts, mut open, mut defined) = (Vec::new(), Vec::<Open<'_>>::new(), Vec::<&str>::new());
    let (mut at, mut comment) = (0, false);
    let (mut elsewhere, mut recorded) = (Vec::<Elsewhere>::new(), false);
    while at < text.len() {
        let mut end = text[at..].find('\n').map_or(text.len(), |n| at + n + 1);
        let line = text[at..end].trim();
        let counts = open.last().is_none_or(|o| o.outer && o.holds != Holds::No);
        if let Some(directive) = line.strip_prefix('#').filter(|_| !comment) {
            // A line that ends in a backslash continues on the next one.
            while text[at..end].trim_end().ends_with('\\') && end < text.len() {
                end = text[end..].find('\n').map_or(text.len(), |n| end + n + 1);
            }
            let directive = directive.trim_start();
            let word_end = directive.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(directive.len());
            let (word, rest) = directive.split_at(word_end);
            let rest = rest.split("//").next().unwrap_or("").trim();
            let span = Span::new(at as u32, (at + text[at..end].trim_end().len()) as u32);
            match word {
                "if" | "ifdef" | "ifndef" => {
                    let known = match word {
                        "if" => condition(rest, &defined),
                        "ifdef" => Some(is_defined(rest, &defined)),
                        _ => not(is_defined(rest, &defined)),
                    };
                    if known.is_none() && counts {
                        diags.push(
                            unknown(span, "a condition that is not known here")
                                .help("known are `defined(NAME)`, its negation, 0 and 1, joined by `||` or by `&&`"),
                        );
                    }
                    let holds = known.unwrap_or(Holds::No);
                    let default_of = absent(word, rest).filter(|_| holds == Holds::Yes);
                    open.push(Open { default_of, at, holds, from: end, outer: counts });
                }
                "else" => match open.last_mut() {
                    Some(o) => {
                        close(o, at, &mut bytes, &mut parts);
                        let holds = not(o.holds);
                        (o.holds, o.from, o.default_of) = (holds.unwrap_or(Holds::No), end, None);
                    }
                    None => diags.push(unknown(span, "an `#else` without its `#if`")),
                },
                "endif" => match open.pop() {
                    Some(o) => close(&o, at, &mut bytes, &mut parts),
                    None => diags.push(unknown(span, "an `#endif` without its `#if`")),
                },
                "define" if counts => {
                    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
                    let value = rest[name.len()..].trim();
                    let default = open.iter().any(|o| o.default_of == Some(name));
                    let told = SILENT.contains(&name) || name == LAUNCHED || SAME.contains(&(name, value));
                    if !told && !value.is_empty() && !default {
                        diags.push(unknown(span, format!("a macro, `{name}`")).help("write it out"));
                    }
                    defined.push(name);
                }
                "line" if counts => match of_other_file(rest) {
                    Some((line, name)) => {
                        if let Some(last) = elsewhere.last_mut() {
                            last.span.end = at as u32;
                        }
                        elsewhere.push(Elsewhere { span: Span::new(end as u32, text.len() as u32), name, line });
                    }
                    None => diags.push(unknown(span, "a `#line` without a number and a file")),
                },
                "pragma" if counts => recorded |= rest == RECORDED,
                "undef" => defined.retain(|name| *name != rest),
                "elif" if counts || open.last().is_some_and(|o| o.outer) => {
                    diags.push(unknown(span, "an `#elif`").help("write it as `#else` and `#if`"));
                }
                _ => {}
            }
            wipe(&mut bytes, at..end);
        }
        if let Some(last) = text[at..end].rfind("/*").max(text[at..end].rfind("*/")).filter(|_| !line.starts_with("//"))
        {
            comment = text[at + last..].starts_with("/*");
        }
        at = end;
    }
    if let Some(o) = open.first() {
        let end = text[o.at..].find('\n').map_or(text.len(), |n| o.at + n);
        diags.push(unknown(Span::new(o.at as u32, end as u32), "an `#if` without its `#endif`"));
    }
    let launched = wipe_words(text, &mut bytes);
    // Only complete characters were blanked.
    let text = String::from_utf8(bytes).unwrap_or_default();
    Blanked { text, parts, launched, elsewhere, recorded }
}

/// Parses `57 "kernel.cpp"`: a line and a file.
fn of_other_file(text: &str) -> Option<(usize, String)> {
    let (line, name) = text.split_once(' ')?;
    let name = name.trim().strip_prefix('"')?.strip_suffix('"')?;
    Some((line.parse().ok().filter(|line| *line > 0)?, name.to_string()))
}

/// A text with its directives, but without the keywords of the device compiler.
pub(crate) fn without_words(text: &str) -> Blanked {
    let mut bytes = text.as_bytes().to_vec();
    let launched = wipe_words(text, &mut bytes);
    let text = String::from_utf8(bytes).unwrap_or_default();
    Blanked { text, parts: Vec::new(), launched, elsewhere: Vec::new(), recorded: false }
}

/// Blanks the keywords of the device compiler; returns the offsets of functions marked for launch.
fn wipe_words(text: &str, bytes: &mut [u8]) -> Vec<usize> {
    for word in SILENT.iter().chain([&LAUNCHED]) {
        for at in words(text, word) {
            wipe(bytes, at..at + word.len());
        }
    }
    for (at, word) in text.match_indices("[aicore]") {
        wipe(bytes, at..at + word.len());
    }
    words(text, LAUNCHED)
}

fn unknown(span: Span, what: impl Into<String>) -> Diagnostic {
    let what: String = what.into();
    Diagnostic::error("cpp-form", span, format!("{what} is not read"))
}

/// The name tested by `#ifndef NAME` or `#if !defined(NAME)`: a definition of that name inside is a default.
fn absent<'t>(word: &str, rest: &'t str) -> Option<&'t str> {
    let name = match word {
        "ifndef" => rest,
        "if" => rest.strip_prefix('!')?.trim().strip_prefix("defined")?.trim_matches([' ', '(', ')']),
        _ => return None,
    };
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}

/// The offsets of a word.
fn words(text: &str, word: &str) -> Vec<usize> {
    let part = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let bytes = text.as_bytes();
    let whole = |at: &usize| !part(at.checked_sub(1).map(|i| bytes[i])) && !part(bytes.get(at + word.len()).copied());
    text.match_indices(word).map(|(at, _)| at).filter(whole).collect()
}

fn wipe(bytes: &mut [u8], range: Range<usize>) {
    bytes[range].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
}

/// Ends a branch.
fn close(open: &Open<'_>, at: usize, bytes: &mut [u8], parts: &mut Vec<(Range<usize>, CoreKind)>) {
    match open.holds {
        Holds::No => wipe(bytes, open.from..at),
        Holds::On(kind) => parts.push((open.from..at, kind)),
        Holds::Yes => {}
    }
}

fn not(holds: Holds) -> Option<Holds> {
    Some(match holds {
        Holds::Yes => Holds::No,
        Holds::No => Holds::Yes,
        Holds::On(CoreKind::Cube) => Holds::On(CoreKind::Vector),
        Holds::On(CoreKind::Vector) => Holds::On(CoreKind::Cube),
    })
}

/// The kind of core for which a macro of the device compiler is defined.
fn core_of(name: &str) -> Option<CoreKind> {
    let rest = name.strip_prefix("__DAV_")?;
    match (rest.contains("CUBE"), rest.contains("VEC")) {
        (true, false) => Some(CoreKind::Cube),
        (false, true) => Some(CoreKind::Vector),
        _ => None,
    }
}

fn is_defined(name: &str, defined: &[&str]) -> Holds {
    match core_of(name) {
        Some(kind) => Holds::On(kind),
        None if defined.contains(&name) || SILENT.contains(&name) || name == LAUNCHED => Holds::Yes,
        None => Holds::No,
    }
}

fn condition(text: &str, defined: &[&str]) -> Option<Holds> {
    for (sign, whole) in [("||", Holds::Yes), ("&&", Holds::No)] {
        if text.contains(sign) {
            let each: Vec<Holds> =
                text.split(sign).map(|part| condition(part.trim(), defined)).collect::<Option<_>>()?;
            let rest: Vec<Holds> = each.iter().copied().filter(|h| matches!(h, Holds::On(_)) || *h == whole).collect();
            return match rest.as_slice() {
                [] => not(whole),
                [first, more @ ..] if more.iter().all(|h| h == first) => Some(*first),
                // A mix of kinds of core: true for `||`, false for `&&`.
                _ => Some(whole),
            };
        }
    }
    let (text, negated) = match text.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (text, false),
    };
    let name =
        text.strip_prefix("defined").map(|rest| rest.trim().trim_start_matches('(').trim_end_matches(')').trim());
    let holds = match (name, text) {
        (Some(name), _) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => is_defined(name, defined),
        (None, "0") => Holds::No,
        (None, "1") => Holds::Yes,
        _ => return None,
    };
    if negated { not(holds) } else { Some(holds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(text: &str) -> Blanked {
        let mut diags = Diags::default();
        let blanked = blank(text, &mut diags);
        assert!(!diags.has_errors());
        assert_eq!(blanked.text.len(), text.len());
        blanked
    }

    #[test]
    fn branches_that_do_not_count_are_blanks() {
        let text =
            "#ifndef __gm__\n#define __gm__\n#endif\n#if defined(__CPU_SIM)\nsim\n#else\nreal\n#endif\n__gm__ x\n";
        let out = blanked(text).text;
        assert!(!out.contains("sim") && out.contains("real") && out.ends_with("       x\n"), "{out}");
    }

    #[test]
    fn defaults_are_no_macros() {
        blanked("#ifndef A\n#define A 3\n#endif\n#if !defined(B)\n#define B 4\n#endif\n");
    }

    #[test]
    fn parts_are_for_one_kind_of_core() {
        let text = "a\n#if defined(__DAV_VEC__)\nb\n#else\nc\n#endif\n";
        let parts = blanked(text).parts;
        assert_eq!(parts.iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), [CoreKind::Vector, CoreKind::Cube]);
        assert_eq!(text[parts[0].0.clone()].trim(), "b");
    }

    #[test]
    fn what_is_not_known_is_told() {
        let guarded = "#if !defined(__CPU_SIM)\n#define float half\n#endif\n";
        for text in ["#if X > 3\n#endif\n", "#define A 3\n", guarded, "#else\n", "#endif\n", "#if 1\n"] {
            let mut diags = Diags::default();
            blank(text, &mut diags);
            assert!(diags.has_errors(), "{text}");
        }
    }
}
