//! Helper modules: files next to the one that is compiled, which it imports.

use slipring_ir::{Diagnostic, Diags, Source, Span};

use crate::Request;

/// The most helper modules.
const MOST_MODULES: usize = 64;

/// The helper modules that a file imports, and those that they import, by their dotted names.
pub(crate) fn load(source: &Source, request: &Request<'_>) -> Vec<(String, Source)> {
    let mut loaded: Vec<(String, Source)> = Vec::new();
    let Some(modules) = request.modules else { return loaded };
    let mut asked = imports(source);
    let mut next = 0;
    while next < asked.len() && loaded.len() < MOST_MODULES {
        let name = asked[next].clone();
        next += 1;
        if let Some(text) = modules(&name) {
            for more in imports(&text) {
                if !asked.contains(&more) {
                    asked.push(more);
                }
            }
            loaded.push((name, text));
        }
    }
    loaded
}

/// The dotted names of the modules that a text imports, wherever it does.
fn imports(source: &Source) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // The lines that say so: what stands in a string by chance names no file, or one that is not used.
    for line in source.text.lines().map(str::trim_start) {
        let found: Vec<&str> = match (line.strip_prefix("from "), line.strip_prefix("import ")) {
            (Some(rest), _) => rest.split_whitespace().take(1).collect(),
            (_, Some(rest)) => rest.split(',').filter_map(|part| part.split_whitespace().next()).collect(),
            _ => continue,
        };
        for name in found {
            let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
            if plain && !name.starts_with('.') && !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.to_string());
            }
        }
    }
    names
}

/// Errors of a helper module, said at no place of the file itself.
pub(crate) fn errors(name: &str, own: &Diags, text: &Source) -> Vec<Diagnostic> {
    let said = own.list.iter().map(|error| {
        let line = error.primary.as_ref().map_or(1, |label| text.line_column(label.span.start).0);
        let message = format!("the module `{name}`, line {line}: {}", error.message);
        Diagnostic { primary: None, ..Diagnostic::error("python-syntax", Span::default(), message) }
    });
    said.collect()
}
