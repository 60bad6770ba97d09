//! Resolution of names in a Python text: which occurrences refer to the same definition.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, Identifier, Mod, Parameters, Pattern, Stmt, StmtFunctionDef,
};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
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
    /// True for a method or an attribute of a class.
    pub member: bool,
}

/// The names of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameUses {
    /// In the order of the text. Names that the text does not bind, such as builtins, are not included.
    pub names: Vec<NameUse>,
    /// All names that the text has, bound or not, other than attributes.
    pub words: BTreeSet<String>,
    /// Attribute accesses: the whole path, `pl.tile.load`, and the byte range of its last part.
    pub members: Vec<(String, Range<usize>)>,
    /// Attributes of objects whose class is not known: the name, and its byte range.
    pub loose: Vec<(String, Range<usize>)>,
    /// For the name of a function, a class or an assigned name: its first byte, and the end of its header or of its
    /// statement.
    pub heads: BTreeMap<usize, usize>,
}

/// The names of a text, as far as it can be parsed; none for one that is nested too deeply.
pub fn places(source: &Source) -> NameUses {
    let Some(statements) = crate::syntax::tolerant(source) else { return NameUses::default() };
    let mut walk = Walk::default();
    walk.scopes.push(Scope::default());
    statements.iter().for_each(|statement| walk.visit_stmt(statement));
    walk.finish()
}

/// A text that is one identifier of Python and no keyword, in the form in which Python compares it (NFKC).
pub fn identifier(text: &str) -> Option<String> {
    // What could nest deeply is not parsed.
    if !text.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Expression));
    match (parsed.errors().is_empty(), parsed.syntax()) {
        (true, Mod::Expression(whole)) => match &*whole.body {
            Expr::Name(name) if bytes(name.range()) == (0..text.len()) => Some(name.id.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a name is that of a builtin of Python.
pub fn is_builtin(name: &str) -> bool {
    crate::host::names::is_of_python(name)
}

/// What a scope belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Extent {
    #[default]
    Module,
    /// Its names are not visible in its functions.
    Class,
    Function,
    Comprehension,
}

#[derive(Default)]
struct Scope {
    parent: Option<usize>,
    extent: Extent,
    bound: BTreeMap<String, Stands>,
    /// Names that refer to the module (true), or to an enclosing function.
    outer: BTreeMap<String, bool>,
    /// Of a method: its first parameter, which stands for an object of the class or for the class.
    receiver: Option<String>,
    /// Of a class: attributes that its methods assign.
    assigned: BTreeSet<String>,
    /// Of a class: its bases that are names.
    bases: Vec<String>,
}

/// What an attribute is accessed of.
#[derive(Clone, PartialEq, Eq)]
enum Owner {
    Name(String),
    /// `super()`.
    Super,
    Other,
}

impl Owner {
    fn of(expr: &Expr) -> Owner {
        match expr {
            Expr::Name(name) => Owner::Name(name.id.to_string()),
            Expr::Call(call) if call.arguments.is_empty() => match &*call.func {
                Expr::Name(name) if name.id.as_str() == "super" => Owner::Super,
                _ => Owner::Other,
            },
            _ => Owner::Other,
        }
    }
}

/// An attribute access.
struct Attribute {
    scope: usize,
    owner: Owner,
    name: String,
    range: TextRange,
    binds: bool,
}

/// What is called.
enum Called {
    Name(String),
    Attribute(Owner, String),
}

#[derive(Default)]
struct Walk {
    scopes: Vec<Scope>,
    now: usize,
    /// Scope, name, place, whether it is a binding.
    uses: Vec<(usize, String, TextRange, bool)>,
    attributes: Vec<Attribute>,
    /// Keywords of calls: scope, what is called, keyword.
    keywords: Vec<(usize, Called, String, TextRange)>,
    /// The scope of each function and class, by the scope that contains its definition and its name.
    definitions: BTreeMap<(usize, String), usize>,
    members: Vec<(String, Range<usize>)>,
    heads: BTreeMap<usize, usize>,
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
        if !scope.outer.contains_key(name) {
            let known = scope.bound.entry(name.to_string()).or_insert(stands);
            if *known == Stands::Variable {
                *known = stands;
            }
        }
        self.uses.push((self.now, name.to_string(), range, true));
    }

    /// Runs `work` in a new scope.
    fn inside(&mut self, extent: Extent, work: impl FnOnce(&mut Walk)) -> usize {
        let (own, outer) = (self.scopes.len(), self.now);
        self.scopes.push(Scope { parent: Some(outer), extent, ..Scope::default() });
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

    /// Records where the header or the statement of a name ends.
    fn head(&mut self, name: TextRange, end: usize) {
        self.heads.insert(name.start().into(), end);
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        self.bind(&function.name, Stands::Function);
        let end = function.returns.as_ref().map_or(function.parameters.range(), |returns| returns.range());
        self.head(function.name.range(), end.end().into());
        function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        self.around(&function.parameters);
        function.returns.iter().for_each(|value| self.visit_expr(value));
        let outer = self.now;
        let is_static = function
            .decorator_list
            .iter()
            .any(|decorator| matches!(&decorator.expression, Expr::Name(name) if name.id.as_str() == "staticmethod"));
        let mut first = function.parameters.posonlyargs.iter().chain(&function.parameters.args);
        let receiver = first.next().filter(|_| !is_static && self.scopes[outer].extent == Extent::Class);
        let receiver = receiver.map(|own| own.parameter.name.to_string());
        let own = self.inside(Extent::Function, |walk| {
            walk.scopes[walk.now].receiver = receiver;
            walk.parameters(&function.parameters);
            function.body.iter().for_each(|statement| walk.visit_stmt(statement));
        });
        self.definitions.insert((outer, function.name.to_string()), own);
    }

    fn comprehension(&mut self, generators: &[Comprehension], parts: &[&Expr]) {
        // The first iterable belongs to the enclosing scope.
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.inside(Extent::Comprehension, |walk| {
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
        match self.scopes[scope].bound.contains_key(name) {
            true => Some(scope),
            false => self.outside(scope, name),
        }
    }

    /// The scope around `scope` that binds a name as seen from there.
    fn outside(&self, scope: usize, name: &str) -> Option<usize> {
        let mut at = Some(scope);
        while let Some(own) = at {
            let found = &self.scopes[own];
            if own != scope && found.bound.contains_key(name) && found.extent != Extent::Class {
                return Some(own);
            }
            at = if found.outer.get(name) == Some(&true) && own != 0 { Some(0) } else { found.parent };
        }
        None
    }

    /// The class that a name denotes, as seen from `scope`.
    fn class(&self, scope: usize, name: &str) -> Option<usize> {
        let own = self.definitions.get(&(self.binding(scope, name)?, name.to_string())).copied()?;
        (self.scopes[own].extent == Extent::Class).then_some(own)
    }

    /// The class that contains a scope.
    fn around_class(&self, scope: usize) -> Option<usize> {
        let mut at = Some(scope);
        while let Some(own) = at {
            if self.scopes[own].extent == Extent::Class {
                return Some(own);
            }
            at = self.scopes[own].parent;
        }
        None
    }

    /// A class and its bases in the text, in the order in which attributes are searched there.
    fn line_of(&self, class: usize) -> Vec<usize> {
        let (mut found, mut next) = (Vec::new(), vec![class]);
        while let Some(own) = next.pop() {
            if !found.contains(&own) {
                found.push(own);
                let outer = self.scopes[own].parent.unwrap_or(0);
                next.extend(self.scopes[own].bases.iter().rev().filter_map(|base| self.class(outer, base)));
            }
        }
        found
    }

    fn has(&self, class: usize, name: &str) -> bool {
        self.scopes[class].bound.contains_key(name) || self.scopes[class].assigned.contains(name)
    }

    /// The class to which an attribute belongs. An attribute that overrides one of a base is the same symbol as that.
    fn member(&self, class: usize, name: &str) -> Option<usize> {
        self.line_of(class).into_iter().rfind(|own| self.has(*own, name))
    }

    /// The class of the object, or the class itself, that an attribute is accessed of.
    fn class_of(&self, scope: usize, owner: &Owner, bindings: &BTreeMap<(usize, &str), usize>) -> Option<usize> {
        match owner {
            Owner::Name(name) => {
                let own = self.binding(scope, name)?;
                // A name that is assigned again may be any other object.
                if bindings.get(&(own, name)) != Some(&1) {
                    return None;
                }
                match self.scopes[own].receiver.as_ref() == Some(name) {
                    true => self.scopes[own].parent,
                    false => self.class(scope, name),
                }
            }
            Owner::Super => self.line_of(self.around_class(scope)?).get(1).copied(),
            Owner::Other => None,
        }
    }

    /// The scope of the function that is called, if it is one of the text.
    fn function_of(&self, scope: usize, called: &Called, bindings: &BTreeMap<(usize, &str), usize>) -> Option<usize> {
        let method = |class: usize, name: &str| {
            self.line_of(class).into_iter().find_map(|own| self.definitions.get(&(own, name.to_string())).copied())
        };
        match called {
            Called::Name(name) => match self.class(scope, name) {
                Some(class) => method(class, "__init__"),
                None => self.definitions.get(&(self.binding(scope, name)?, name.clone())).copied(),
            },
            Called::Attribute(owner, name) => method(self.class_of(scope, owner, bindings)?, name),
        }
    }

    fn finish(mut self) -> NameUses {
        let attributes = std::mem::take(&mut self.attributes);
        let uses = std::mem::take(&mut self.uses);
        let mut bindings: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        for (scope, name, ..) in uses.iter().filter(|(.., binds)| *binds) {
            if let Some(own) = self.binding(*scope, name) {
                *bindings.entry((own, name.as_str())).or_default() += 1;
            }
        }
        for own in attributes.iter().filter(|own| own.binds) {
            if let Some(class) = self.class_of(own.scope, &own.owner, &bindings) {
                self.scopes[class].assigned.insert(own.name.clone());
            }
        }
        let mut symbols: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let mut names = Vec::new();
        let mut add = |scope: usize, name: &str, range: TextRange, binds: bool| {
            let member = self.scopes[scope].extent == Extent::Class;
            let own = if member { self.member(scope, name).unwrap_or(scope) } else { scope };
            let stands = self.scopes[own].bound.get(name).copied().unwrap_or(Stands::Variable);
            let next = symbols.len();
            let symbol = *symbols.entry((own, name.to_string())).or_insert(next);
            names.push(NameUse { range: bytes(range), symbol, binds, stands, member });
        };
        // The names that the body of each class has bound so far: before that, a name is one of outside. The uses are in
        // the order of evaluation, where the value of an assignment comes before its target.
        let mut bound: BTreeSet<(usize, &str)> = BTreeSet::new();
        for (scope, name, range, binds) in &uses {
            let class = self.scopes[*scope].extent == Extent::Class;
            if class && *binds {
                bound.insert((*scope, name));
            }
            let own = match class && !bound.contains(&(*scope, name)) {
                true => self.outside(*scope, name),
                false => self.binding(*scope, name),
            };
            if let Some(own) = own {
                add(own, name, *range, *binds);
            }
        }
        let mut loose = Vec::new();
        for Attribute { scope, owner, name, range, binds } in &attributes {
            let class = self.class_of(*scope, owner, &bindings);
            if let Some(own) = class.and_then(|class| self.member(class, name)) {
                add(own, name, *range, *binds);
                continue;
            }
            let module = match owner {
                Owner::Name(root) => self.binding(*scope, root).map(|own| self.scopes[own].bound.get(root)),
                _ => None,
            };
            if module != Some(Some(&Stands::Module)) {
                loose.push((name.clone(), bytes(*range)));
            }
        }
        for (scope, called, keyword, range) in &self.keywords {
            match (self.function_of(*scope, called, &bindings), called) {
                (Some(own), _) if self.scopes[own].bound.get(keyword) == Some(&Stands::Parameter) => {
                    add(own, keyword, *range, false);
                }
                // The parameters of a class without a constructor in the text, such as a dataclass, are its attributes.
                (None, Called::Name(name)) => {
                    let class = self.class(*scope, name);
                    if let Some(own) = class.and_then(|class| self.member(class, keyword)) {
                        add(own, keyword, *range, false);
                    }
                }
                _ => {}
            }
        }
        names.sort_by_key(|place| (place.range.start, place.range.end));
        names.dedup();
        let words = uses.iter().map(|(_, name, ..)| name.clone()).collect();
        NameUses { names, words, members: self.members, loose, heads: self.heads }
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
        let targets: &[Expr] = match statement {
            Stmt::Assign(own) => &own.targets,
            Stmt::AnnAssign(own) => std::slice::from_ref(&*own.target),
            _ => &[],
        };
        for target in targets {
            match target {
                Expr::Name(name) => self.head(name.range(), statement.end().into()),
                Expr::Attribute(member) => self.head(member.attr.range(), statement.end().into()),
                _ => {}
            }
        }
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                self.bind(&class.name, Stands::Class);
                let end = class.arguments.as_ref().map_or(class.name.range(), |arguments| arguments.range());
                self.head(class.name.range(), end.end().into());
                class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                let bases = class.arguments.iter().flat_map(|arguments| &arguments.args);
                let bases = bases.filter_map(|base| base.as_name_expr().map(|name| name.id.to_string())).collect();
                let outer = self.now;
                let own = self.inside(Extent::Class, |walk| {
                    walk.scopes[walk.now].bases = bases;
                    class.body.iter().for_each(|statement| walk.visit_stmt(statement));
                });
                self.definitions.insert((outer, class.name.to_string()), own);
            }
            Stmt::Global(list) => {
                self.scopes[self.now].outer.extend(list.names.iter().map(|name| (name.to_string(), true)));
                list.names.iter().for_each(|name| self.uses.push((0, name.to_string(), name.range(), false)));
            }
            Stmt::Nonlocal(list) => {
                self.scopes[self.now].outer.extend(list.names.iter().map(|name| (name.to_string(), false)));
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
        let name = match pattern {
            Pattern::MatchAs(own) => own.name.as_ref(),
            Pattern::MatchStar(own) => own.name.as_ref(),
            Pattern::MatchMapping(own) => own.rest.as_ref(),
            _ => None,
        };
        name.into_iter().for_each(|name| self.bind(name, Stands::Variable));
        ruff_python_ast::visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.uses.push((self.now, name.id.to_string(), name.range(), false));
            }
            Expr::Name(name) => self.bind_at(name.id.as_str(), name.range(), Stands::Variable),
            Expr::Named(own) => {
                self.visit_expr(&own.value);
                // A comprehension does not keep the name: the scope around it does.
                let now = self.now;
                while self.scopes[self.now].extent == Extent::Comprehension {
                    self.now = self.scopes[self.now].parent.unwrap_or(0);
                }
                self.visit_expr(&own.target);
                self.now = now;
            }
            Expr::Attribute(member) => {
                if let Some(path) = path(expr) {
                    self.members.push((path, bytes(member.attr.range())));
                }
                self.attributes.push(Attribute {
                    scope: self.now,
                    owner: Owner::of(&member.value),
                    name: member.attr.to_string(),
                    range: member.attr.range(),
                    binds: member.ctx != ExprContext::Load,
                });
                self.visit_expr(&member.value);
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.around(parameters);
                }
                self.inside(Extent::Function, |walk| {
                    if let Some(parameters) = &lambda.parameters {
                        walk.parameters(parameters);
                    }
                    walk.visit_expr(&lambda.body);
                });
            }
            Expr::ListComp(own) => self.comprehension(&own.generators, &[&own.elt]),
            Expr::SetComp(own) => self.comprehension(&own.generators, &[&own.elt]),
            Expr::DictComp(own) => {
                let key = own.key.iter().map(|key| &**key);
                let parts: Vec<&Expr> = key.chain([&*own.value]).collect();
                self.comprehension(&own.generators, &parts);
            }
            Expr::Generator(own) => self.comprehension(&own.generators, &[&own.elt]),
            Expr::Call(call) => {
                for keyword in &call.arguments.keywords {
                    let Some(name) = &keyword.arg else { continue };
                    let called = match &*call.func {
                        Expr::Name(function) => Called::Name(function.id.to_string()),
                        Expr::Attribute(member) => Called::Attribute(Owner::of(&member.value), member.attr.to_string()),
                        _ => continue,
                    };
                    self.keywords.push((self.now, called, name.to_string(), name.range()));
                }
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }
}
