//! Resolution of names in a Python text: which occurrences refer to the same definition.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, Identifier, Parameters, Pattern, Stmt, StmtFunctionDef,
};
use ruff_text_size::{Ranged, TextRange};
use slipring_ir::Source;

/// The kind of definition that a name refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stands {
    /// A parameter of a function.
    Parameter,
    /// A function.
    Function,
    /// A class.
    Class,
    /// A module.
    Module,
    /// Anything else.
    Variable,
}

/// An occurrence of a name in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameUse {
    /// Its byte range.
    pub range: Range<usize>,
    /// Equal for occurrences of the same definition.
    pub symbol: usize,
    /// True if it is a binding: an assignment, definition or import.
    pub binds: bool,
    /// The kind of its definition.
    pub stands: Stands,
}

/// The names of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameUses {
    /// In the order of the text. Names that the text does not bind, such as builtins, are not included.
    pub names: Vec<NameUse>,
    /// Attribute accesses: the whole path, `pl.tile.load`, and the byte range of its last part.
    pub members: Vec<(String, Range<usize>)>,
}

/// The names of a text, as far as it can be parsed; none for one that is nested too deeply.
pub fn places(source: &Source) -> NameUses {
    let Some(statements) = crate::syntax::tolerant(source) else { return NameUses::default() };
    let mut walk = Walk::default();
    walk.scopes.push(Scope::default());
    statements.iter().for_each(|statement| walk.visit_stmt(statement));
    walk.finish()
}

#[derive(Default)]
struct Scope {
    parent: Option<usize>,
    /// True for a class, whose names are not visible in its functions.
    class: bool,
    bound: BTreeMap<String, Stands>,
    /// Names that refer to the module, or to an enclosing function.
    outer: BTreeSet<String>,
}

#[derive(Default)]
struct Walk {
    scopes: Vec<Scope>,
    now: usize,
    /// Scope, name, place, whether it is a binding.
    uses: Vec<(usize, String, TextRange, bool)>,
    /// Keywords of calls: scope, name of the function, keyword.
    keywords: Vec<(usize, String, String, TextRange)>,
    /// The scope of each function, by the scope that contains its definition and its name.
    functions: BTreeMap<(usize, String), usize>,
    members: Vec<(String, Range<usize>)>,
}

fn bytes(range: TextRange) -> Range<usize> {
    range.start().into()..range.end().into()
}

impl Walk {
    fn bind(&mut self, name: &Identifier, stands: Stands) {
        self.bind_at(name.as_str(), name.range(), stands);
    }

    fn bind_at(&mut self, name: &str, range: TextRange, stands: Stands) {
        let scope = &mut self.scopes[self.now];
        if !scope.outer.contains(name) {
            let known = scope.bound.entry(name.to_string()).or_insert(stands);
            if *known == Stands::Variable {
                *known = stands;
            }
        }
        self.uses.push((self.now, name.to_string(), range, true));
    }

    /// Runs `work` in a new scope.
    fn inside(&mut self, class: bool, work: impl FnOnce(&mut Walk)) -> usize {
        let (own, outer) = (self.scopes.len(), self.now);
        self.scopes.push(Scope { parent: Some(outer), class, ..Scope::default() });
        self.now = own;
        work(self);
        self.now = outer;
        own
    }

    fn parameters(&mut self, parameters: &Parameters) {
        for own in parameters.iter() {
            let name = own.name();
            self.bind(name, Stands::Parameter);
        }
    }

    /// Visits the parts of parameters that are evaluated outside the function.
    fn around(&mut self, parameters: &Parameters) {
        for own in parameters.iter() {
            own.default().into_iter().for_each(|value| self.visit_expr(value));
            own.annotation().into_iter().for_each(|value| self.visit_expr(value));
        }
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        self.bind(&function.name, Stands::Function);
        function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        self.around(&function.parameters);
        function.returns.iter().for_each(|value| self.visit_expr(value));
        let outer = self.now;
        let own = self.inside(false, |walk| {
            walk.parameters(&function.parameters);
            function.body.iter().for_each(|statement| walk.visit_stmt(statement));
        });
        self.functions.insert((outer, function.name.to_string()), own);
    }

    fn comprehension(&mut self, generators: &[Comprehension], parts: &[&Expr]) {
        // The first iterable belongs to the enclosing scope.
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.inside(false, |walk| {
            for (at, generator) in generators.iter().enumerate() {
                if at > 0 {
                    walk.visit_expr(&generator.iter);
                }
                walk.visit_expr(&generator.target);
                generator.ifs.iter().for_each(|test| walk.visit_expr(test));
            }
            parts.iter().for_each(|part| walk.visit_expr(part));
        });
    }

    /// The scope that binds a name as seen from `scope`.
    fn binding(&self, scope: usize, name: &str) -> Option<usize> {
        let mut at = Some(scope);
        while let Some(own) = at {
            let found = &self.scopes[own];
            if found.bound.contains_key(name) && (own == scope || !found.class) {
                return Some(own);
            }
            at = found.parent;
        }
        None
    }

    fn finish(self) -> NameUses {
        let mut symbols: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let mut names = Vec::new();
        let mut add = |scope: usize, name: &'_ str, range: TextRange, binds: bool, symbols: &mut BTreeMap<_, _>| {
            let Some((name, stands)) = self.scopes[scope].bound.get_key_value(name) else { return };
            let next = symbols.len();
            let symbol = *symbols.entry((scope, name.as_str())).or_insert(next);
            names.push(NameUse { range: bytes(range), symbol, binds, stands: *stands });
        };
        for (scope, name, range, binds) in &self.uses {
            if let Some(own) = self.binding(*scope, name) {
                add(own, name, *range, *binds, &mut symbols);
            }
        }
        for (scope, function, keyword, range) in &self.keywords {
            let called = self.binding(*scope, function).and_then(|own| self.functions.get(&(own, function.clone())));
            if let Some(own) = called.filter(|own| self.scopes[**own].bound.get(keyword) == Some(&Stands::Parameter)) {
                add(*own, keyword, *range, false, &mut symbols);
            }
        }
        names.sort_by_key(|place| (place.range.start, place.range.end));
        names.dedup();
        NameUses { names, members: self.members }
    }
}

/// `pl.tile.load`.
fn path(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(member) => Some(format!("{}.{}", path(&member.value)?, member.attr)),
        _ => None,
    }
}

impl<'a> Visitor<'a> for Walk {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                self.bind(&class.name, Stands::Class);
                class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.inside(true, |walk| class.body.iter().for_each(|statement| walk.visit_stmt(statement)));
            }
            Stmt::Global(list) => {
                self.scopes[self.now].outer.extend(list.names.iter().map(ToString::to_string));
                list.names.iter().for_each(|name| self.uses.push((0, name.to_string(), name.range(), false)));
            }
            Stmt::Nonlocal(list) => {
                self.scopes[self.now].outer.extend(list.names.iter().map(ToString::to_string));
                let outer = self.scopes[self.now].parent.unwrap_or(0);
                list.names.iter().for_each(|name| self.uses.push((outer, name.to_string(), name.range(), false)));
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    match &alias.asname {
                        Some(name) => self.bind(name, Stands::Module),
                        None if !alias.name.contains('.') => self.bind(&alias.name, Stands::Module),
                        None => {}
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in import.names.iter().filter(|alias| alias.name.as_str() != "*") {
                    self.bind(alias.asname.as_ref().unwrap_or(&alias.name), Stands::Module);
                }
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(own) = handler;
        own.name.iter().for_each(|name| self.bind(name, Stands::Variable));
        ruff_python_ast::visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(own) => own.name.iter().for_each(|name| self.bind(name, Stands::Variable)),
            Pattern::MatchStar(own) => own.name.iter().for_each(|name| self.bind(name, Stands::Variable)),
            _ => {}
        }
        ruff_python_ast::visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.uses.push((self.now, name.id.to_string(), name.range(), false));
            }
            Expr::Name(name) => self.bind_at(name.id.as_str(), name.range(), Stands::Variable),
            Expr::Attribute(member) => {
                if let Some(path) = path(expr) {
                    self.members.push((path, bytes(member.attr.range())));
                }
                self.visit_expr(&member.value);
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.around(parameters);
                }
                self.inside(false, |walk| {
                    if let Some(parameters) = &lambda.parameters {
                        walk.parameters(parameters);
                    }
                    walk.visit_expr(&lambda.body);
                });
            }
            Expr::ListComp(own) => self.comprehension(&own.generators, &[&own.elt]),
            Expr::SetComp(own) => self.comprehension(&own.generators, &[&own.elt]),
            Expr::Generator(own) => self.comprehension(&own.generators, &[&own.elt]),
            Expr::Call(call) => {
                if let Expr::Name(function) = &*call.func {
                    for keyword in &call.arguments.keywords {
                        let Some(name) = &keyword.arg else { continue };
                        let (function, keyword) = (function.id.to_string(), name.to_string());
                        self.keywords.push((self.now, function, keyword, name.range()));
                    }
                }
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The occurrences of the name at the n-th occurrence in a text, with their lines.
    fn same(text: &str, name: &str, nth: usize) -> Vec<usize> {
        let places = places(&Source::new("k.py", text)).names;
        let all: Vec<&NameUse> = places.iter().filter(|place| &text[place.range.clone()] == name).collect();
        let own = all.iter().filter(|place| place.symbol == all[nth].symbol);
        own.map(|place| text[..place.range.start].matches('\n').count() + 1).collect()
    }

    #[test]
    fn names_mean_what_python_means() {
        let text = "import slipring.language as pl\nN = 4\n\ndef f(x, y):\n    N = x\n    def g(z=y):\n        return N + z\n    \
                    return [x for x in y if x] + g(z=N)\n\nclass A:\n    N = 3\n    def h(self, x):\n        return N + x\n\nf(x=N, y=f)\n";
        assert_eq!(same(text, "N", 0), [2, 13, 15]);
        assert_eq!(same(text, "N", 1), [5, 7, 8]);
        assert_eq!(same(text, "x", 0), [4, 5, 15]);
        assert_eq!(same(text, "z", 0), [6, 7, 8]);
        assert_eq!(same(text, "f", 0), [4, 15, 15]);
        assert_eq!(same(text, "y", 0), [4, 6, 8, 15]);
    }

    #[test]
    fn the_first_iterable_of_a_comprehension_is_outside_of_it() {
        let text = "N = [1]\na = [N\n  for N\n  in N]\n";
        assert_eq!(same(text, "N", 0), [1, 4]);
    }

    #[test]
    fn a_text_that_is_being_typed_has_names() {
        let text = "def f(x):\n    y = x\n    z = y +\n    return z\n";
        assert_eq!(same(text, "y", 0), [2, 3]);
        assert_eq!(places(&Source::new("k.py", "((((".repeat(10_000))), NameUses::default());
        let members = places(&Source::new("k.py", "pl.tile.load(a)\n")).members;
        let paths: Vec<&str> = members.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["pl.tile.load", "pl.tile"]);
    }
}
