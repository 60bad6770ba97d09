//! A scope of an orchestration as a separate kernel: `with pl.at(…):`, `with pl.spmd(n):`, `for i in pl.spmd(n):`. The
//! surrounding values that it uses become its parameters; tiles that are live after it become outputs.

use std::collections::BTreeSet;
use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprContext, Stmt};
use slipring_ir::{Attr, BlockId, Diags, Module, OpId, Span, Type};
use slipring_mlir::func;
use slipring_op::OpRef;
use slipring_tile::Elem;

use super::function::{deferred, put_function};
use super::lowering::{Lower, Lowered, Words};
use super::made::with_made_tiles;
use super::names::Names;
use super::signature::{Shape, strided_parameter};
use crate::compiled::{Direction, KernelInfo, ParamInfo};
use crate::dtype::DType;
use crate::emit::Emitter;
use crate::globals::{Globals, Scope};
use crate::syntax::at;
use crate::value::{Const, Domain, Tensor, Value};

/// A surrounding value that a region uses.
pub(crate) struct RegionParam {
    pub name: Rc<str>,
    pub kind: RegionKind,
    pub span: Span,
}

pub(crate) enum RegionKind {
    /// A tensor, by its index among those in `env`.
    Tensor {
        shape: Vec<u64>,
        strides: Vec<u64>,
        elem: Elem,
        direction: Direction,
        domain: Option<Domain>,
        truths: bool,
    },
    /// A whole number, which `env` gets under its name, and what it is a multiple of.
    Int { unit: u64 },
}

/// The value after a region of a name that the region binds.
pub(crate) enum Left {
    /// A window of the tensor with this index.
    Tensor(Tensor),
    /// An output that the region makes, by the name of its parameter.
    Made(Rc<str>),
    Const(Const),
    /// A value that ends with the region.
    Gone,
}

/// A lowered scope: its function, its information, and for each live name its value afterwards.
pub(crate) type Region = (OpId, KernelInfo, Vec<(Rc<str>, Left)>);

/// Lowers a scope. `env` is its environment, `wanted` are the names that are live after it; `within` is the enclosing
/// function.
pub(crate) fn lower_region(
    emitter: &mut Emitter,
    (globals, words): (&Globals<'_>, &'static dyn Words),
    (name, within): (&str, &Rc<str>),
    (env, params): (Scope, &[RegionParam]),
    (stmt, wanted): (&Stmt, &BTreeSet<Rc<str>>),
    diags: &mut Diags,
) -> Lowered<Region> {
    with_made_tiles(globals, diags, |diags| {
        lower_once(emitter, (globals, words), (name, within), (env.clone(), params), (stmt, wanted), diags)
    })
}

fn lower_once(
    emitter: &mut Emitter,
    (globals, words): (&Globals<'_>, &'static dyn Words),
    (name, within): (&str, &Rc<str>),
    (env, params): (Scope, &[RegionParam]),
    (stmt, wanted): (&Stmt, &BTreeSet<Rc<str>>),
    diags: &mut Diags,
) -> Lowered<Region> {
    let head = at(stmt);
    emitter.span = head;
    emitter.block = emitter.module.top;
    let op = emitter.make(&func::FUNC, &[], &[("sym_name", Attr::Str(name.into()))], &[]);
    emitter.module.op_mut(op).loc = None;
    let body = emitter.region(op);
    emitter.enter_function(body);
    let mut lower = Lower::new(emitter, (globals, words), diags);
    lower.names.env = env;
    lower.open.blocks.push(body);
    lower.open.calls.push(within.clone());
    let (mut infos, mut types) = (Vec::new(), Vec::new());
    for param in params {
        let (elem, shape, direction, ty) = match &param.kind {
            RegionKind::Tensor { shape, strides, elem, direction, domain, truths } => {
                let window = Shape { dims: shape, strides: Some(strides), scales: None };
                let (_, ty) = strided_parameter(&mut lower, &param.name, window, *elem, *direction, param.span, body);
                if let Some(root) = lower.tensors.roots.last_mut() {
                    (root.domain, root.truths) = (*domain, *truths);
                }
                (*elem, Some(shape.clone()), *direction, ty)
            }
            RegionKind::Int { unit } => {
                let value = lower.e.module.add_arg(body, Type::Index, Some((*param.name).into()), param.span);
                lower.tensors.units.push((value, *unit));
                let value = lower.scalar(value, DType::Index);
                lower.names.env.insert(param.name.clone(), value);
                (Elem::I64, None, Direction::In, Type::Index)
            }
        };
        let truths = matches!(param.kind, RegionKind::Tensor { truths: true, .. });
        let name = param.name.to_string();
        infos.push(ParamInfo { name, elem, shape, direction, given: None, packed: None, truths, made: false });
        types.push(ty);
    }
    lower.read_behind(wanted.clone());
    let outcome = lower.body(std::slice::from_ref(stmt));
    lower.open.read_later.pop();
    outcome?;
    let mut left = Vec::new();
    for bound in Names::of(std::slice::from_ref(stmt)).bound {
        let value = lower.names.env.get(&bound).cloned();
        left.push((bound.clone(), lower.left(&bound, value, wanted, head)?));
    }
    lower.end_body(head, &mut infos, &mut types);
    if let Some(span) = lower.facts.defers
        && let Some(place) = writes(&lower.e.module, body)
    {
        let error = deferred(span, "task does more").also(place, "it writes here");
        return Err(lower.report(error));
    }
    let facts = lower.facts.clone();
    put_function(emitter, op, types, &facts);
    let (blocks, together) = (facts.blocks.unwrap_or(1), facts.together);
    let defers = facts.defers.is_some();
    let info = KernelInfo { name: name.to_string(), params: infos, blocks, together, defers, gives: Vec::new() };
    Ok((op, info, left))
}

/// The place where a body first writes something: memory, a tile, a signal.
fn writes(module: &Module, body: BlockId) -> Option<Span> {
    let mut ops = module.walk(body).into_iter().filter_map(|id| Some((OpRef::of(module, id)?, id)));
    let (_, id) = ops.find(|(op, _)| op.def.schema.operands.iter().any(|spec| spec.touch.writes()))?;
    Some(module.op(id).span)
}

impl Lower<'_> {
    /// The value of a name after a region that binds it.
    fn left(&mut self, name: &Rc<str>, value: Option<Value>, wanted: &BTreeSet<Rc<str>>, span: Span) -> Lowered<Left> {
        Ok(match value {
            Some(Value::Tensor(window)) => Left::Tensor(window),
            Some(Value::Const(c)) => Left::Const(c),
            Some(Value::Tile(id)) if wanted.contains(name) && !self.names.poisoned.contains(name) => {
                self.return_tile(id, usize::MAX, span)?;
                match self.outcome.returned.last() {
                    Some((info, _)) => Left::Made(info.name.as_str().into()),
                    None => Left::Gone,
                }
            }
            _ => Left::Gone,
        })
    }
}

/// Names that a function reads outside a scope, or in it before it binds them: they are live after the scope, perhaps
/// in the next iteration of a loop.
pub(crate) fn wanted_names(body: &[Stmt], is_scope: &dyn Fn(&Stmt) -> bool) -> BTreeSet<Rc<str>> {
    struct Reads(BTreeSet<Rc<str>>);
    impl<'a> Visitor<'a> for Reads {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr
                && matches!(name.ctx, ExprContext::Load)
            {
                self.0.insert(name.id.as_str().into());
            }
            walk_expr(self, expr);
        }
    }
    fn walk(body: &[Stmt], is_scope: &dyn Fn(&Stmt) -> bool, found: &mut Reads) {
        for stmt in body {
            if is_scope(stmt) {
                found.0.extend(Names::of(std::slice::from_ref(stmt)).exposed);
                continue;
            }
            let mut inner: Vec<&[Stmt]> = Vec::new();
            match stmt {
                Stmt::For(stmt) => {
                    found.visit_expr(&stmt.iter);
                    inner.extend([&stmt.body[..], &stmt.orelse]);
                }
                Stmt::While(stmt) => {
                    found.visit_expr(&stmt.test);
                    inner.push(&stmt.body);
                }
                Stmt::If(stmt) => {
                    found.visit_expr(&stmt.test);
                    inner.push(&stmt.body);
                    for clause in &stmt.elif_else_clauses {
                        clause.test.iter().for_each(|test| found.visit_expr(test));
                        inner.push(&clause.body);
                    }
                }
                Stmt::With(stmt) => {
                    stmt.items.iter().for_each(|item| found.visit_expr(&item.context_expr));
                    inner.push(&stmt.body);
                }
                other => found.visit_stmt(other),
            }
            inner.into_iter().for_each(|body| walk(body, is_scope, found));
        }
    }
    let mut found = Reads(BTreeSet::new());
    walk(body, is_scope, &mut found);
    found.0
}
