//! C++ kernels of the tile library: source in, a module out.
//!
//! The supported form is the one that the public assembler writes: every value has a name of its own, tiles have
//! addresses, flags and pipes are explicit. The reader adds nothing and omits nothing, so that the checked program is
//! the one that ships. An unknown form is an error at its location.
//!
//! | module | has |
//! |---|---|
//! | `blank` | the preprocessor, which keeps every byte offset |
//! | `tree` | the syntax tree, by `tree-sitter`; syntax errors |
//! | `types` | maps types of C++ to types of the program |
//! | `wrapper` | the parameters that the runtime fills in for each core |
//! | `value` | the values of names |
//! | `function` | functions, and their parts for one kind of core |
//! | `statement`, `flow` | declarations and assignments; branches and loops |
//! | `expression` | numbers, pointers, elements of memory |
//! | `object` | declarations of tiles, views of global memory, and pipes |
//! | `convert` | conversions of numbers, and numbers as operands |
//! | `call` | calls: a table of those that no declaration describes |
//! | `operation`, `defaults` | other calls of the tile library, by the declarations of their ops; what they leave out |

mod blank;
mod call;
mod convert;
mod defaults;
mod expression;
mod flow;
mod function;
mod jumps;
mod object;
mod operation;
mod statement;
mod tree;
mod types;
mod value;
mod wrapper;

use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Module, Source, Span};
use slipring_op::{OpDef, Table};
pub use types::{element_name, element_names};

/// Reads a file. The module is valid only if the diagnostics contain no error. Ops are looked up in `table`.
pub fn read(source: Arc<Source>, table: &Table) -> (Module, Diags) {
    let mut diags = Diags::default();
    let blanked = blank::blank(&source.text, &mut diags);
    let source = match blanked.elsewhere.as_slice() {
        [] => source,
        parts => Arc::new((*source).clone().with_parts_of_others(parts.to_vec())),
    };
    let module = Module::new(source);
    if diags.has_errors() {
        return (module, diags);
    }
    let Some(parsed) = tree::parse(&blanked.text) else {
        diags.push(Diagnostic::error("cpp-syntax", Span::new(0, 0), "the C++ parser gives up on this text"));
        return (module, diags);
    };
    tree::errors(&parsed, &blanked.text, &mut diags);
    if diags.has_errors() {
        return (module, diags);
    }
    function::read_all(module, &parsed, &blanked, table, diags)
}

/// Names of the functions that a host or the runtime launches. The text may otherwise have any form.
pub fn launched(text: &str) -> Vec<String> {
    let blanked = blank::without_words(text);
    let Some(parsed) = tree::parse(&blanked.text) else { return Vec::new() };
    function::launched(&parsed, &blanked)
}

/// The place of the name of a function template, and the text of its parameters, if a text has one of this name. The
/// text may otherwise have any form.
pub fn template(text: &str, name: &str) -> Option<(Span, String)> {
    let blanked = blank::without_words(text);
    let parsed = tree::parse(&blanked.text)?;
    function::template(&parsed, &blanked.text, name)
}

/// Names of the library's calls on tiles, each with the number of operands that it writes; these come first. Ops are
/// looked up in `table`.
pub fn library_calls(table: &Table) -> Vec<(String, usize)> {
    let own = |def: &&'static OpDef| {
        let (space, name) = def.schema.name.split_once('.')?;
        let is_call = space == "pto" && name.starts_with(['t', 'm']);
        let writes = def.schema.operands.iter().filter(|spec| spec.touch.writes()).count();
        is_call.then(|| (name.to_ascii_uppercase().replace('.', "_"), writes))
    };
    table.all().iter().filter_map(own).collect()
}
