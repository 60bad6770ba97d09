//! Single functions: their parameters and texts.

use ruff_python_ast::Stmt;
use slipring_tile::Elem;

use super::{File, Run};
use crate::meaning::value::Eval;

/// A parameter: its name, and the shape and the element type given by the text.
pub type Declared = (String, Option<Vec<usize>>, Option<Elem>);

impl File {
    /// Whether the text of a function contains a word.
    pub fn says(&self, function: &str, word: &str) -> bool {
        let named = |stmt: &&Stmt| stmt.as_function_def_stmt().is_some_and(|own| own.name.as_str() == function);
        self.body.iter().filter(named).any(|own| format!("{own:?}").contains(word))
    }
}

impl Run<'_> {
    /// The names, shapes and types of a function's parameters.
    pub fn parameters(&mut self, kernel: &str) -> Eval<Vec<Declared>> {
        let function = *self.functions.get(kernel).ok_or_else(|| format!("no function `{kernel}`"))?;
        let mut all = Vec::new();
        for parameter in function.parameters.iter_non_variadic_params() {
            let annotation = parameter.parameter.annotation.as_deref().ok_or("a parameter without a type")?;
            let (shape, elem) = self.declared(annotation)?;
            all.push((parameter.parameter.name.as_str().to_string(), shape, elem));
        }
        Ok(all)
    }

    /// Evaluates the body of a function with the current names.
    pub fn body_of(&mut self, kernel: &str) -> Eval<()> {
        let function = *self.functions.get(kernel).ok_or("no such function")?;
        self.body(&function.body).map(drop)
    }
}
