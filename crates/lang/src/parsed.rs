//! A file and the modules that it imports, parsed once for all requests.

use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Module, Source};

use crate::compiled::Compiled;
use crate::host::ModuleText;
use crate::request::{FindModule, Request};
use crate::stack::on_own_stack;
use crate::{aliases, helpers, jumps, private_names, program, syntax};

/// A parsed file with the modules that it imports. Clones share the result.
#[derive(Clone, Debug)]
pub struct Parsed {
    source: Arc<Source>,
    trees: Arc<Trees>,
}

#[derive(Debug, Default)]
struct Trees {
    /// The file and its modules; empty if the file has syntax errors.
    kernels: Vec<ModuleText>,
    /// The variant in which functions that only start kernels are followed, if it differs.
    programs: Option<Vec<ModuleText>>,
    /// Errors in the texts.
    said: Vec<Diagnostic>,
}

impl Parsed {
    /// Parses a file, and the modules that `modules` returns for its imports.
    pub fn new(source: Arc<Source>, modules: Option<&FindModule<'_>>) -> Parsed {
        let texts = helpers::load(&source, modules);
        let trees = on_own_stack(|| parse(&source, texts))
            .unwrap_or_else(|error| Trees { said: vec![*error], ..Trees::default() });
        Parsed { source, trees: Arc::new(trees) }
    }

    /// The text.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Lowers the kernels of the file. Reports every error that it finds; the result is only meaningful if there is
    /// none.
    ///
    /// Runs on a separate stack, so that the supported nesting depth of a text does not depend on the caller.
    pub fn compile(&self, request: &Request<'_>) -> (Compiled, Diags) {
        let nothing = || Compiled { module: Module::new(self.source.clone()), kernels: Vec::new(), none: false };
        let mut diags = Diags { list: self.trees.said.clone() };
        if self.trees.kernels.is_empty() {
            return (nothing(), diags);
        }
        let compile = || program::compile(self.source.clone(), &self.trees.kernels, request, &mut diags);
        let compiled = on_own_stack(compile).unwrap_or_else(|error| {
            diags = Diags { list: vec![*error] };
            nothing()
        });
        (compiled, diags)
    }

    /// Errors in the texts.
    pub(crate) fn said(&self) -> &[Diagnostic] {
        &self.trees.said
    }

    /// The texts in which functions that only start kernels are followed; empty for a file with syntax errors.
    pub(crate) fn followed(&self) -> &[ModuleText] {
        self.trees.programs.as_deref().unwrap_or(&self.trees.kernels)
    }
}

/// Compiles a Python file with an empty request, like [`Parsed::compile`].
pub fn compile(source: Arc<Source>) -> (Compiled, Diags) {
    Parsed::new(source, None).compile(&Request::default())
}

fn parse(source: &Source, texts: Vec<(String, Source)>) -> Trees {
    let mut diags = Diags::default();
    let Some(own) = syntax::parse(source, &mut diags) else { return Trees { said: diags.list, ..Trees::default() } };
    let spelled = |body| aliases::written_out(private_names::spelled_out(body));
    let mut modules = vec![ModuleText { name: String::new(), body: spelled(own) }];
    for (name, text) in texts {
        let mut own = Diags::default();
        match syntax::parse(&text, &mut own) {
            Some(body) => modules.push(ModuleText { name, body: spelled(body) }),
            None => diags.list.extend(helpers::errors(&name, &own, &text)),
        }
    }
    let programs: Vec<ModuleText> = modules.iter().map(|own| own.with(jumps::plain_kernels)).collect();
    // The kernels of helper modules are not lowered.
    modules[0] = modules[0].with(jumps::plain);
    let programs = (programs != modules).then_some(programs);
    Trees { kernels: modules, programs, said: diags.list }
}
