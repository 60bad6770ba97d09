//! Rewrites `break`, `continue`, `else` of a loop and early `return` as branches: the code after a jump becomes the
//! other arm of its branch, or is guarded by a flag.
//!
//! ```text
//! for i in pl.range(n):            more$ = True
//!     if a: continue               for i$ in pl.range(n):
//!     x                      →         if more$:
//!     if b: break                          i = i$
//!     y                                    if a: pass
//!                                          else: x; if b: more$ = False else: y
//! ```

use ruff_python_ast::comparable::ComparableExpr;
use ruff_python_ast::{Decorator, Expr, Stmt, StmtFor, StmtFunctionDef, StmtIf, StmtWhile};
use ruff_text_size::{Ranged, TextRange};

use crate::tree;

/// The value that a function returns early.
const RESULT: &str = "result$";
/// The name of an expression's value that is selected at run time.
pub(crate) const CHOICE: &str = "choice$";

/// A name as quoted in messages.
pub(crate) fn quoted(name: &str) -> String {
    match name {
        RESULT => "what is returned".into(),
        CHOICE => "this choice".into(),
        name => format!("`{name}`"),
    }
}

/// A file in whose kernels only those jumps remain that cannot be rewritten.
pub(crate) fn plain(body: Vec<Stmt>) -> Vec<Stmt> {
    body.into_iter().map(|stmt| in_host(stmt, false)).collect()
}

/// Like [`plain`], where functions that only start kernels are followed: in these, only the scopes are kernels.
pub(crate) fn plain_kernels(body: Vec<Stmt>) -> Vec<Stmt> {
    body.into_iter().map(|stmt| in_host(stmt, true)).collect()
}

/// A statement outside of kernels.
fn in_host(stmt: Stmt, program: bool) -> Stmt {
    let inner = |stmt: Stmt| in_host(stmt, program);
    match stmt {
        Stmt::FunctionDef(mut def) => {
            let starts = program && is_followed(&def);
            let body: Vec<Stmt> = def.body.into_iter().collect();
            let kernel = def.decorator_list.iter().any(|decorator| is_of_the_language(&decorator.expression));
            let body = match kernel {
                true if starts => body.into_iter().map(in_scopes).collect(),
                true if has_jumps(&body) => function(body, def.range),
                _ => body.into_iter().map(inner).collect(),
            };
            def.body = body.into_iter().collect();
            Stmt::FunctionDef(def)
        }
        Stmt::ClassDef(mut def) => {
            def.body = def.body.into_iter().map(inner).collect();
            Stmt::ClassDef(def)
        }
        Stmt::If(mut stmt) => {
            stmt.body = stmt.body.into_iter().map(inner).collect();
            for clause in &mut stmt.elif_else_clauses {
                clause.body = std::mem::take(&mut clause.body).into_iter().map(inner).collect();
            }
            Stmt::If(stmt)
        }
        Stmt::With(mut stmt) => {
            stmt.body = stmt.body.into_iter().map(inner).collect();
            Stmt::With(stmt)
        }
        Stmt::Try(mut stmt) => {
            stmt.body = stmt.body.into_iter().map(inner).collect();
            Stmt::Try(stmt)
        }
        Stmt::For(mut stmt) => {
            stmt.body = stmt.body.into_iter().map(inner).collect();
            Stmt::For(stmt)
        }
        other => other,
    }
}

/// True for a function that only starts kernels: it is followed as Python code, which supports jumps.
fn is_followed(def: &StmtFunctionDef) -> bool {
    let says = |decorator: &Decorator| {
        let text = |expr: &Expr| {
            matches!(expr, Expr::Attribute(word) if matches!(word.attr.as_str(),
            "Orchestration" | "Group" | "Spmd" | "Graph" | "Orchestrator" | "host"))
        };
        match &decorator.expression {
            Expr::Call(call) => text(&call.func) || call.arguments.keywords.iter().any(|keyword| text(&keyword.value)),
            other => text(other),
        }
    };
    def.decorator_list.iter().any(says) || crate::starts::several_scopes(def)
}

/// A statement of such a function: the bodies of its scopes are kernels.
fn in_scopes(stmt: Stmt) -> Stmt {
    let scope = crate::starts::is_scope(&stmt);
    match stmt {
        Stmt::With(mut stmt) if scope => {
            let body: Vec<Stmt> = std::mem::take(&mut stmt.body).into_iter().collect();
            let frame = Frame { goes: "goes$".into(), more: None, asked: false, jumps: true };
            let body = match has_jumps(&body) {
                true => Work { frames: vec![frame], returns: false, keeps: false }.block(body),
                false => body,
            };
            stmt.body = body.into_iter().collect();
            Stmt::With(stmt)
        }
        Stmt::With(mut stmt) => {
            stmt.body = std::mem::take(&mut stmt.body).into_iter().map(in_scopes).collect();
            Stmt::With(stmt)
        }
        Stmt::For(mut stmt) if !scope => {
            stmt.body = std::mem::take(&mut stmt.body).into_iter().map(in_scopes).collect();
            Stmt::For(stmt)
        }
        Stmt::If(mut stmt) => {
            stmt.body = std::mem::take(&mut stmt.body).into_iter().map(in_scopes).collect();
            for clause in &mut stmt.elif_else_clauses {
                clause.body = std::mem::take(&mut clause.body).into_iter().map(in_scopes).collect();
            }
            Stmt::If(stmt)
        }
        other => other,
    }
}

/// True for `@pl.jit`, `@pl.function(…)`, `@incore` and the like.
fn is_of_the_language(decorator: &Expr) -> bool {
    match decorator {
        Expr::Call(call) => is_of_the_language(&call.func),
        Expr::Attribute(attribute) => {
            is_of_the_language(&attribute.value) || matches!(attribute.attr.as_str(), "jit" | "incore" | "inline")
        }
        Expr::Name(name) => {
            matches!(name.id.as_str(), "pl" | "incore" | "jit" | "kernel" | "function" | "inline")
        }
        _ => false,
    }
}

/// How a jump may leave statements.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Leaves {
    /// By `break` or `continue`.
    iteration: bool,
    /// By `return`.
    function: bool,
}

impl Leaves {
    fn any(self) -> bool {
        self.iteration || self.function
    }

    fn or(self, other: Leaves) -> Leaves {
        Leaves { iteration: self.iteration || other.iteration, function: self.function || other.function }
    }
}

fn leaves(body: &[Stmt]) -> Leaves {
    body.iter().map(leaves_of).fold(Leaves::default(), Leaves::or)
}

fn leaves_of(stmt: &Stmt) -> Leaves {
    match stmt {
        Stmt::Break(_) | Stmt::Continue(_) => Leaves { iteration: true, function: false },
        Stmt::Return(_) => Leaves { iteration: false, function: true },
        Stmt::If(stmt) => {
            stmt.elif_else_clauses.iter().map(|clause| leaves(&clause.body)).fold(leaves(&stmt.body), Leaves::or)
        }
        Stmt::With(stmt) => leaves(&stmt.body),
        Stmt::For(stmt) => Leaves { iteration: false, ..leaves(&stmt.body) }.or(leaves(&stmt.orelse)),
        Stmt::While(stmt) => Leaves { iteration: false, ..leaves(&stmt.body) }.or(leaves(&stmt.orelse)),
        _ => Leaves::default(),
    }
}

/// True if a body has a jump that is to be rewritten.
fn has_jumps(body: &[Stmt]) -> bool {
    fn inside(stmt: &Stmt) -> bool {
        match stmt {
            Stmt::For(stmt) => leaves(&stmt.body).any() || !stmt.orelse.is_empty() || stmt.body.iter().any(inside),
            Stmt::While(stmt) => leaves(&stmt.body).any() || !stmt.orelse.is_empty() || stmt.body.iter().any(inside),
            Stmt::If(stmt) => {
                stmt.body.iter().chain(stmt.elif_else_clauses.iter().flat_map(|clause| &clause.body)).any(inside)
            }
            Stmt::With(stmt) => stmt.body.iter().any(inside),
            _ => false,
        }
    }
    body.iter().any(inside) || returns_early(body)
}

/// True if a body returns before its end.
fn returns_early(body: &[Stmt]) -> bool {
    let Some((last, before)) = body.split_last() else { return false };
    leaves(before).function
        || match last {
            Stmt::Return(_) => false,
            Stmt::With(stmt) => returns_early(&stmt.body),
            other => leaves_of(other).function,
        }
}

/// True if no path reaches the end of a body.
fn always_leaves(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(_) => true,
        Stmt::If(stmt) => {
            stmt.elif_else_clauses.iter().any(|clause| clause.test.is_none())
                && always_leaves(&stmt.body)
                && stmt.elif_else_clauses.iter().all(|clause| always_leaves(&clause.body))
        }
        Stmt::With(stmt) => always_leaves(&stmt.body),
        _ => false,
    })
}

/// Something that a jump may leave: the function, or a loop.
struct Frame {
    /// The flag that is true as long as no jump has left the function, or this iteration of the loop.
    goes: String,
    /// The flag that is true as long as the loop continues; `None` for the function.
    more: Option<String>,
    /// True once the first flag is used.
    asked: bool,
    /// False for statements that look like a loop but are not: their jumps are kept, to be reported.
    jumps: bool,
}

struct Work {
    frames: Vec<Frame>,
    /// True if `return` is rewritten.
    returns: bool,
    /// True if the returned value is stored under a name, because it differs between returns.
    keeps: bool,
}

fn function(body: Vec<Stmt>, range: TextRange) -> Vec<Stmt> {
    let returns = returns_early(&body);
    let mut values = Vec::new();
    returned(&body, &mut values);
    let first = values.first().cloned().flatten();
    let same = values.iter().all(|value| match (value, &first) {
        (Some(a), Some(b)) => ComparableExpr::from(a) == ComparableExpr::from(b),
        (None, None) => true,
        _ => false,
    });
    let frame = Frame { goes: "goes$".into(), more: None, asked: false, jumps: true };
    let mut work = Work { frames: vec![frame], returns, keeps: returns && !same };
    let mut result = work.block(body);
    if work.frames[0].asked {
        result.insert(0, tree::assign(tree::bound("goes$", range), tree::boolean(true, range), range));
    }
    if returns {
        match first {
            _ if work.keeps => {
                let place = values.iter().flatten().next_back().map_or(range, Ranged::range);
                result.push(tree::give_back(tree::read(RESULT, place), place));
            }
            Some(value) => {
                let place = value.range();
                result.push(tree::give_back(value, place));
            }
            None => {}
        }
    }
    result
}

/// The values of all `return`s.
fn returned(body: &[Stmt], values: &mut Vec<Option<Expr>>) {
    for stmt in body {
        match stmt {
            Stmt::Return(stmt) => values.push(stmt.value.as_deref().cloned()),
            Stmt::If(stmt) => {
                returned(&stmt.body, values);
                stmt.elif_else_clauses.iter().for_each(|clause| returned(&clause.body, values));
            }
            Stmt::With(stmt) => returned(&stmt.body, values),
            Stmt::For(stmt) => {
                returned(&stmt.body, values);
                returned(&stmt.orelse, values);
            }
            Stmt::While(stmt) => {
                returned(&stmt.body, values);
                returned(&stmt.orelse, values);
            }
            _ => {}
        }
    }
}

/// True for `pl.split_aiv` and `pl.spmd`, which are not loops, and for loops that yield explicitly.
fn keeps_its_jumps(stmt: &StmtFor) -> bool {
    let Expr::Call(call) = &*stmt.iter else { return false };
    let name = match &*call.func {
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Name(name) => name.id.as_str(),
        _ => "",
    };
    matches!(name, "split_aiv" | "spmd" | "while_" | "parallel")
        || call.arguments.keywords.iter().any(|k| k.arg.as_ref().is_some_and(|n| n == "init_values"))
}

impl Work {
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the function's")
    }

    /// True if a statement contains a jump out of it that is rewritten.
    fn is_left(&self, stmt: &Stmt) -> bool {
        let leaves = leaves_of(stmt);
        let iteration = self.frames.last().is_some_and(|frame| frame.more.is_some() && frame.jumps);
        (leaves.iteration && iteration) || (leaves.function && self.returns())
    }

    /// True if a `return` here is rewritten.
    fn returns(&self) -> bool {
        self.returns && self.frames.iter().all(|frame| frame.jumps)
    }

    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut done = Vec::new();
        let mut rest = body.into_iter();
        while let Some(stmt) = rest.next() {
            let range = stmt.range();
            let left = self.is_left(&stmt);
            match stmt {
                Stmt::Break(_) | Stmt::Continue(_) if left => {
                    let over = matches!(stmt, Stmt::Break(_));
                    let frame = self.frame();
                    let more = frame.more.clone().filter(|_| over);
                    for flag in more.into_iter().chain([frame.goes.clone()]) {
                        done.push(tree::assign(tree::bound(&flag, range), tree::boolean(false, range), range));
                    }
                    return done;
                }
                Stmt::Return(stmt) if left => {
                    if self.keeps {
                        let none =
                            || Expr::NoneLiteral(ruff_python_ast::ExprNoneLiteral { range, ..Default::default() });
                        let value = stmt.value.map_or_else(none, |value| *value);
                        done.push(tree::assign(tree::bound(RESULT, range), value, range));
                    }
                    for frame in &self.frames {
                        for flag in frame.more.iter().chain([&frame.goes]) {
                            done.push(tree::assign(tree::bound(flag, range), tree::boolean(false, range), range));
                        }
                    }
                    return done;
                }
                Stmt::If(stmt) if left => {
                    done.extend(self.branch(stmt, rest.collect()));
                    return done;
                }
                Stmt::With(mut stmt) => {
                    let body = self.block(stmt.body.into_iter().collect());
                    stmt.body = body.into_iter().collect();
                    done.push(Stmt::With(stmt));
                    if left {
                        done.extend(self.guarded(rest.collect(), range));
                        return done;
                    }
                }
                Stmt::If(mut stmt) => {
                    stmt.body = self.block(stmt.body.into_iter().collect()).into_iter().collect();
                    for clause in &mut stmt.elif_else_clauses {
                        let body = std::mem::take(&mut clause.body);
                        clause.body = self.block(body.into_iter().collect()).into_iter().collect();
                    }
                    done.push(Stmt::If(stmt));
                }
                Stmt::For(stmt) => {
                    done.extend(self.for_loop(stmt));
                    if left {
                        done.extend(self.guarded(rest.collect(), range));
                        return done;
                    }
                }
                Stmt::While(stmt) => {
                    done.extend(self.while_loop(stmt));
                    if left {
                        done.extend(self.guarded(rest.collect(), range));
                        return done;
                    }
                }
                other => done.push(other),
            }
        }
        if done.is_empty() { vec![tree::pass(TextRange::default())] } else { done }
    }

    /// Code that runs if no jump has left the iteration, or the function.
    fn guarded(&mut self, rest: Vec<Stmt>, range: TextRange) -> Vec<Stmt> {
        if rest.is_empty() {
            return Vec::new();
        }
        let range = rest.first().map_or(range, Ranged::range);
        let rest = self.block(rest);
        let frame = self.frame();
        frame.asked = true;
        vec![tree::when(tree::read(&frame.goes, range), rest, range)]
    }

    /// A branch with a jump in an arm, and the code after it.
    fn branch(&mut self, mut stmt: StmtIf, rest: Vec<Stmt>) -> Vec<Stmt> {
        let range = stmt.range;
        if !rest.is_empty() && stmt.elif_else_clauses.iter().all(|clause| clause.test.is_some()) {
            stmt.elif_else_clauses.push(tree::otherwise(Vec::new(), range));
        }
        let first: Vec<Stmt> = stmt.body.into_iter().collect();
        let mut arms = vec![first];
        arms.extend(
            stmt.elif_else_clauses.iter_mut().map(|clause| std::mem::take(&mut clause.body).into_iter().collect()),
        );
        let open: Vec<usize> = (0..arms.len()).filter(|at| !always_leaves(&arms[*at])).collect();
        let mut behind = Vec::new();
        match open[..] {
            _ if rest.is_empty() => {}
            [] => {}
            [one] => arms[one].extend(rest),
            _ => behind = rest,
        }
        let mut arms = arms.into_iter().map(|arm| self.block(arm).into_iter().collect());
        stmt.body = arms.next().unwrap_or_default();
        for (clause, arm) in stmt.elif_else_clauses.iter_mut().zip(arms) {
            clause.body = arm;
        }
        let mut done = vec![Stmt::If(stmt)];
        done.extend(self.guarded(behind, range));
        done
    }

    /// The body of a loop, whether a jump may end the loop, and the flag for its continuation.
    fn iteration(&mut self, body: Vec<Stmt>, range: TextRange, jumps: bool) -> (Vec<Stmt>, Option<String>) {
        let at = u32::from(range.start());
        let (goes, more) = (format!("goes${at}"), format!("more${at}"));
        let ends = jumps && (ends_by_break(&body) || (leaves(&body).function && self.returns()));
        self.frames.push(Frame { goes: goes.clone(), more: Some(more.clone()), asked: false, jumps });
        let mut body = self.block(body);
        if self.frames.pop().is_some_and(|frame| frame.asked) {
            body.insert(0, tree::assign(tree::bound(&goes, range), tree::boolean(true, range), range));
        }
        (body, ends.then_some(more))
    }

    fn for_loop(&mut self, mut stmt: StmtFor) -> Vec<Stmt> {
        let range = stmt.range;
        let place = stmt.iter.range();
        let jumps = !keeps_its_jumps(&stmt);
        let (body, more) = self.iteration(stmt.body.into_iter().collect(), range, jumps);
        let otherwise: Vec<Stmt> =
            if jumps { std::mem::take(&mut stmt.orelse).into_iter().collect() } else { Vec::new() };
        let Some(more) = more else {
            stmt.body = body.into_iter().collect();
            let behind = self.block_or_nothing(otherwise);
            return std::iter::once(Stmt::For(stmt)).chain(behind).collect();
        };
        let counter = format!("iteration${}", u32::from(range.start()));
        let target = std::mem::replace(&mut *stmt.target, tree::bound(&counter, place));
        let target_place = target.range();
        let mut inside = vec![tree::assign(target, tree::read(&counter, target_place), target_place)];
        inside.extend(body);
        stmt.body = [tree::when(tree::read(&more, place), inside, range)].into_iter().collect();
        let before = tree::assign(tree::bound(&more, place), tree::boolean(true, place), place);
        let mut done = vec![before, Stmt::For(stmt)];
        done.extend(self.after(&more, otherwise, range));
        done
    }

    fn while_loop(&mut self, mut stmt: StmtWhile) -> Vec<Stmt> {
        let range = stmt.range;
        let place = stmt.test.range();
        let (body, more) = self.iteration(stmt.body.into_iter().collect(), range, true);
        stmt.body = body.into_iter().collect();
        let otherwise: Vec<Stmt> = std::mem::take(&mut stmt.orelse).into_iter().collect();
        let Some(more) = more else {
            let behind = self.block_or_nothing(otherwise);
            return std::iter::once(Stmt::While(stmt)).chain(behind).collect();
        };
        let test = std::mem::replace(&mut *stmt.test, tree::boolean(true, place));
        *stmt.test = tree::both(tree::read(&more, place), test, place);
        let before = tree::assign(tree::bound(&more, place), tree::boolean(true, place), place);
        let mut done = vec![before, Stmt::While(stmt)];
        done.extend(self.after(&more, otherwise, range));
        done
    }

    /// The `else` of a loop that a jump may end.
    fn after(&mut self, more: &str, otherwise: Vec<Stmt>, range: TextRange) -> Option<Stmt> {
        let body = self.block_or_nothing(otherwise);
        (!body.is_empty()).then(|| tree::when(tree::read(more, range), body, range))
    }

    fn block_or_nothing(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        if body.is_empty() { body } else { self.block(body) }
    }
}

/// True if a `break` may end the loop with this body.
fn ends_by_break(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break(_) => true,
        Stmt::If(stmt) => {
            ends_by_break(&stmt.body) || stmt.elif_else_clauses.iter().any(|clause| ends_by_break(&clause.body))
        }
        Stmt::With(stmt) => ends_by_break(&stmt.body),
        Stmt::For(stmt) => ends_by_break(&stmt.orelse),
        Stmt::While(stmt) => ends_by_break(&stmt.orelse),
        _ => false,
    })
}
