//! Helper modules: files next to the compiled one that it imports.

use slipring_ir::{Diagnostic, Diags, Source, Span};

use crate::request::FindModule;

/// The maximum number of helper modules.
const MOST_MODULES: usize = 64;

/// The maximum number of imported names that are resolved for a file.
const MOST_IMPORTS: usize = 1024;

/// The helper modules that a file imports, directly or indirectly, by dotted name.
pub(crate) fn load(source: &Source, modules: Option<&FindModule<'_>>) -> Vec<(String, Source)> {
    let mut loaded: Vec<(String, Source)> = Vec::new();
    let Some(modules) = modules else { return loaded };
    let mut asked = imports(source, "");
    let mut next = 0;
    while next < asked.len() && loaded.len() < MOST_MODULES {
        let name = asked[next].clone();
        next += 1;
        if let Some(text) = modules(&name) {
            for more in imports(&text, package(&name)) {
                if asked.len() < MOST_IMPORTS && !asked.contains(&more) {
                    asked.push(more);
                }
            }
            loaded.push((name, text));
        }
    }
    loaded
}

/// The package of a module: empty for the folder of the file.
pub(crate) fn package(module: &str) -> &str {
    module.rsplit_once('.').map_or("", |(package, _)| package)
}

/// The dotted name for `from .x` in a package; `None` above the file's folder.
pub(crate) fn relative(package: &str, level: usize, module: &str) -> Option<String> {
    let mut base = package;
    for _ in 1..level {
        base = if base.is_empty() { return None } else { self::package(base) };
    }
    Some(match (base.is_empty(), module.is_empty()) {
        (true, _) => module.to_string(),
        (false, true) => base.to_string(),
        (false, false) => format!("{base}.{module}"),
    })
}

/// The dotted names of all modules that a text in a package imports.
fn imports(source: &Source, package: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // Scans lines for imports: a match inside a string names a file that does not exist, or one that is not used.
    for line in source.text.lines().map(str::trim_start) {
        let first = |list: &str| -> Vec<String> {
            list.split(',').filter_map(|part| part.split_whitespace().next()).map(str::to_string).collect()
        };
        let found: Vec<String> = match (line.strip_prefix("from "), line.strip_prefix("import ")) {
            (Some(rest), _) => {
                let dotted = rest.split_whitespace().next().unwrap_or("");
                let module = dotted.trim_start_matches('.');
                let level = dotted.len() - module.len();
                match (level, module.is_empty()) {
                    (0, _) => vec![module.to_string()],
                    (_, false) => relative(package, level, module).into_iter().collect(),
                    // `from . import config`.
                    (_, true) => {
                        let list = rest.split_once("import").map_or("", |(_, list)| list);
                        let all = first(list.trim_matches(|c: char| c.is_whitespace() || c == '(' || c == ')'));
                        all.iter().filter_map(|name| relative(package, level, name)).collect()
                    }
                }
            }
            (_, Some(rest)) => first(rest),
            _ => continue,
        };
        for name in found {
            if names.len() == MOST_IMPORTS {
                return names;
            }
            let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
            if plain && !name.starts_with('.') && !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Errors of a helper module, reported without a place in the file itself.
pub(crate) fn errors(name: &str, own: &Diags, text: &Source) -> Vec<Diagnostic> {
    let said = own.list.iter().map(|error| {
        let line = error.primary.as_ref().map_or(1, |label| text.line_column(label.span.start).0);
        let message = format!("the module `{name}`, line {line}: {}", error.message);
        Diagnostic { primary: None, ..Diagnostic::error("python-syntax", Span::default(), message) }
    });
    said.collect()
}
