//! Type aliases of a file, `T = pl.Tensor[[64, 64], pl.FP32]`: annotations that use them are read as the aliased type.
//!
//! An alias is only followed if it, and every name in the type, is bound by a single plain statement of its module:
//! then it has the same meaning everywhere. Other names are kept, and an annotation with such a name is an error.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::visitor::transformer::{Transformer, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Parameters, Stmt};

use crate::host::Locals;

/// Types of parameters, of annotated names in functions, and of results.
const TYPES: [&str; 6] = ["Tensor", "Tile", "Scalar", "Out", "InOut", "DistributedTensor"];

/// The body of a module, with the aliases in annotations of its functions replaced.
pub(crate) fn written_out(mut body: Vec<Stmt>) -> Vec<Stmt> {
    let types = named(&body);
    if !types.is_empty() {
        let annotations = Annotations { types };
        // Annotations at module level are Python's own.
        annotations.visit_body(&mut body);
    }
    body
}

/// A type, and the names in it.
#[derive(Clone)]
struct Named {
    expr: Expr,
    reads: Vec<Rc<str>>,
}

/// The type aliases of a module.
fn named(body: &[Stmt]) -> IndexMap<Rc<str>, Named> {
    let mut types: IndexMap<Rc<str>, Named> = IndexMap::new();
    for stmt in body {
        let (target, value) = match stmt {
            Stmt::Assign(assign) if assign.targets.len() == 1 => (&assign.targets[0], &*assign.value),
            Stmt::AnnAssign(assign) if let Some(value) = &assign.value => (&*assign.target, &**value),
            _ => continue,
        };
        if let Expr::Name(name) = target
            && is_type(value, &types)
        {
            let mut expr = value.clone();
            Within(&types).visit_expr(&mut expr);
            let reads = Locals::of_expr(&expr, None).read.into_iter().collect();
            types.insert(name.id.as_str().into(), Named { expr, reads });
        }
    }
    if types.is_empty() {
        return types;
    }
    let (mut bound, mut elsewhere): (IndexMap<Rc<str>, usize>, Vec<Rc<str>>) = (IndexMap::new(), Vec::new());
    for stmt in body {
        let own = Locals::of_body(std::slice::from_ref(stmt), None);
        own.bound.into_iter().for_each(|name| *bound.entry(name).or_default() += 1);
        elsewhere.extend(own.shared.into_iter().chain(own.globals));
    }
    let once = |name: &Rc<str>| bound.get(name).is_none_or(|times| *times == 1) && !elsewhere.contains(name);
    types.retain(|name, own| once(name) && own.reads.iter().all(once));
    types
}

/// True for `pl.Tensor[…]` and the like, and for `pl.Out[T]` of an aliased type.
fn is_type(expr: &Expr, types: &IndexMap<Rc<str>, Named>) -> bool {
    match expr {
        Expr::Name(name) => types.contains_key(name.id.as_str()),
        Expr::Subscript(subscript) => match &*subscript.value {
            Expr::Attribute(member) => TYPES.contains(&member.attr.as_str()),
            Expr::Name(name) => TYPES.contains(&name.id.as_str()),
            _ => false,
        },
        _ => false,
    }
}

/// Replaces aliases by their types in an expression.
struct Within<'a>(&'a IndexMap<Rc<str>, Named>);

impl Transformer for Within<'_> {
    fn visit_expr(&self, expr: &mut Expr) {
        match expr {
            Expr::Name(name) => {
                if let Some(own) = self.0.get(name.id.as_str()) {
                    *expr = own.expr.clone();
                }
            }
            other => walk_expr(self, other),
        }
    }
}

/// Visits functions with the aliases that are not shadowed, neither their own names nor those in their types.
struct Annotations {
    types: IndexMap<Rc<str>, Named>,
}

impl Annotations {
    /// The visitor for the inside of a function or class.
    fn inside(&self, body: &[Stmt], parameters: Option<&Parameters>) -> Annotations {
        let own = Locals::of_body(body, parameters).bound;
        let mut types = self.types.clone();
        types.retain(|name, named| !own.contains(name) && !named.reads.iter().any(|read| own.contains(read)));
        Annotations { types }
    }

    fn write_out(&self, annotation: &mut Expr) {
        Within(&self.types).visit_expr(annotation);
    }
}

impl Transformer for Annotations {
    fn visit_stmt(&self, stmt: &mut Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                let inner = self.inside(&def.body, Some(&def.parameters));
                for parameter in def.parameters.posonlyargs.iter_mut().chain(&mut def.parameters.args) {
                    parameter.parameter.annotation.iter_mut().for_each(|own| inner.write_out(own));
                }
                for parameter in &mut def.parameters.kwonlyargs {
                    parameter.parameter.annotation.iter_mut().for_each(|own| inner.write_out(own));
                }
                def.returns.iter_mut().for_each(|own| inner.write_out(own));
                inner.visit_body(&mut def.body);
                for stmt in &mut def.body {
                    if let Stmt::AnnAssign(assign) = stmt {
                        inner.write_out(&mut assign.annotation);
                    }
                }
            }
            Stmt::ClassDef(def) => {
                let inner = self.inside(&def.body, None);
                inner.visit_body(&mut def.body);
            }
            other => walk_stmt(self, other),
        }
    }

    // Only statements have annotations.
    fn visit_expr(&self, _: &mut Expr) {}
}
