//! Synthetic nodes of Python's tree, into which forms of the text are rewritten.
//!
//! Names in such nodes contain a `$`, which no name of the text has.

use ruff_python_ast::name::Name;
use ruff_python_ast::{
    AtomicNodeIndex, BoolOp, ElifElseClause, Expr, ExprBinOp, ExprBoolOp, ExprBooleanLiteral, ExprContext, ExprName,
    Operator, Stmt, StmtAssign, StmtIf, StmtPass, StmtReturn,
};
use ruff_text_size::TextRange;

/// The index of a node that has not been numbered.
#[allow(clippy::declare_interior_mutable_const, reason = "each use is a new number")]
const NEW: AtomicNodeIndex = AtomicNodeIndex::NONE;

/// A name that is read.
pub(crate) fn read(name: &str, range: TextRange) -> Expr {
    Expr::Name(ExprName { node_index: NEW, range, id: Name::new(name), ctx: ExprContext::Load })
}

/// A name that is bound.
pub(crate) fn bound(name: &str, range: TextRange) -> Expr {
    Expr::Name(ExprName { node_index: NEW, range, id: Name::new(name), ctx: ExprContext::Store })
}

/// `True` or `False`.
pub(crate) fn boolean(value: bool, range: TextRange) -> Expr {
    Expr::BooleanLiteral(ExprBooleanLiteral { node_index: NEW, range, value })
}

/// `target = value`.
pub(crate) fn assign(target: Expr, value: Expr, range: TextRange) -> Stmt {
    Stmt::Assign(StmtAssign { node_index: NEW, range, targets: vec![target], value: Box::new(value) })
}

/// `a and b`.
pub(crate) fn both(a: Expr, b: Expr, range: TextRange) -> Expr {
    Expr::BoolOp(ExprBoolOp { node_index: NEW, range, op: BoolOp::And, values: vec![a, b] })
}

/// `a op b`.
pub(crate) fn operation(a: Expr, op: Operator, b: Expr, range: TextRange) -> Expr {
    Expr::BinOp(ExprBinOp { node_index: NEW, range, left: Box::new(a), op, right: Box::new(b) })
}

/// `pass`.
pub(crate) fn pass(range: TextRange) -> Stmt {
    Stmt::Pass(StmtPass { node_index: NEW, range })
}

/// `return value`.
pub(crate) fn give_back(value: Expr, range: TextRange) -> Stmt {
    Stmt::Return(StmtReturn { node_index: NEW, range, value: Some(Box::new(value)) })
}

/// `if test: body`.
pub(crate) fn when(test: Expr, body: Vec<Stmt>, range: TextRange) -> Stmt {
    Stmt::If(StmtIf {
        node_index: NEW,
        range,
        test: Box::new(test),
        body: body.into_iter().collect(),
        elif_else_clauses: Vec::new(),
    })
}

/// `else: body`.
pub(crate) fn otherwise(body: Vec<Stmt>, range: TextRange) -> ElifElseClause {
    ElifElseClause { range, node_index: NEW, test: None, body: body.into_iter().collect() }
}
