//! A file that is printed and parsed again gives the same module, and the same text.

use std::path::Path;
use std::sync::Arc;

use slipring::Loaded;
use slipring_dialects::Dialects;
use slipring_ir::text::{parse, print};
use slipring_ir::{Module, Source, ValueId, difference};

/// The differences for a file's text after printing and parsing. A file that cannot be read must expect to be rejected.
pub fn judge(file: &Path, text: &str, refused: bool) -> Vec<String> {
    if file.extension().is_some_and(|e| e == "queue") {
        return Vec::new();
    }
    let name = file.display().to_string();
    let Loaded { mut module, diags, .. } = slipring::load_file(Source::new(name.clone(), text));
    if diags.has_errors() {
        if let Ok(Some(_)) = slipring::Program::from_text(name, text, &slipring::CompileRequest::default()) {
            // A whole program is not a single module: its scopes are read separately.
            return Vec::new();
        }
        if diags.list.iter().all(|error| error.code == "several-programs") {
            // Neither are several.
            return Vec::new();
        }
        // A text that cannot be read has no module; the test is about its errors.
        return if refused { Vec::new() } else { vec![diags.render(&module.source, false)] };
    }
    let printed = print(&module);
    let (mut again, diags) = parse(Arc::new(Source::new("printed.pto", printed.clone())), &Dialects::get().registry);
    let twice = print(&again);
    if slipring::is_language(&module.source) || module.source.cpp {
        // Compiled modules have name hints; printing makes names unique.
        [&mut module, &mut again].into_iter().for_each(without_names);
    }
    let mut wrong = Vec::new();
    if diags.has_errors() {
        wrong.push(format!("what is printed cannot be read:\n{}", diags.render(&again.source, false)));
    } else if let Some(difference) = difference(&module, &again) {
        wrong.push(format!("printed and parsed again it is another module: {difference}\n{printed}"));
    } else if twice != printed {
        wrong.push(format!("printed twice it is another text:\n{printed}"));
    }
    wrong
}

fn without_names(module: &mut Module) {
    (0..module.value_count() as u32).for_each(|value| module.value_mut(ValueId(value)).name = None);
}
