//! Branches and loops: variables that they assign become their results.

use slipring_ir::{OpId, Type, ValueId};
use slipring_mlir::scf;

use crate::tree::{Node, inside, parts, span};
use crate::types::{Number, number};
use crate::value::{Read, Reader, Value};

/// Collects the names that a part of the text assigns.
fn assigned<'t>(text: &'t str, node: Node<'_>, found: &mut Vec<&'t str>) {
    let target = match node.kind() {
        "assignment_expression" => node.child_by_field_name("left"),
        "update_expression" => node.child_by_field_name("argument"),
        _ => None,
    };
    if let Some(target) = target.filter(|target| target.kind() == "identifier") {
        let own = &text[target.byte_range()];
        if !found.contains(&own) {
            found.push(own);
        }
    }
    parts(node).into_iter().for_each(|part| assigned(text, part, found));
}

/// Whether a part of the text mentions one of these names.
fn mentions(text: &str, node: Node<'_>, names: &[&str]) -> bool {
    (node.kind() == "identifier" && names.contains(&&text[node.byte_range()]))
        || parts(node).into_iter().any(|part| mentions(text, part, names))
}

/// The header of a loop.
struct Head<'n> {
    counter: Node<'n>,
    /// The type of its variable.
    number: Number,
    start: Node<'n>,
    end: Node<'n>,
    /// The step; `None` for 1.
    step: Option<Node<'n>>,
}

impl<'t> Reader<'t> {
    /// Names from outside that these parts assign.
    pub fn carried(&self, nodes: &[Node<'_>]) -> Vec<&'t str> {
        let mut found = Vec::new();
        nodes.iter().for_each(|node| assigned(self.text, *node, &mut found));
        let outside = |name: &&str| {
            matches!(self.names.get(*name), Some(Value::Number(..) | Value::Unset(_) | Value::Pointer(..)))
        };
        found.into_iter().filter(outside).collect()
    }

    /// Reads a statement into a new region; returns the values of these names at its end.
    fn arm(&mut self, op: OpId, body: Option<Node<'_>>, names: &[&'t str]) -> (Read<()>, Vec<Value>) {
        let region = self.module.add_region(op);
        let block = self.module.add_block(region);
        self.arm_in(block, body, names)
    }

    fn arm_in(
        &mut self,
        block: slipring_ir::BlockId,
        body: Option<Node<'_>>,
        names: &[&'t str],
    ) -> (Read<()>, Vec<Value>) {
        let outer = (std::mem::replace(&mut self.block, block), self.names.clone());
        self.depth += 1;
        let outcome = match body {
            Some(body) if body.kind() == "compound_statement" => self.statements(&parts(body)),
            Some(body) => self.statements(&[body]),
            None => Ok(()),
        };
        self.depth -= 1;
        let values = names.iter().map(|name| self.names.get(name).cloned().unwrap_or(Value::Lost)).collect();
        (self.block, self.names) = outer;
        (outcome, values)
    }

    fn yields(&mut self, block: slipring_ir::BlockId, values: &[ValueId]) {
        let outer = std::mem::replace(&mut self.block, block);
        self.op(&scf::YIELD, &[("values", values)], Vec::new(), &[]);
        self.block = outer;
    }

    pub fn branch(&mut self, node: Node<'_>) -> Read<()> {
        let field = |name| node.child_by_field_name(name);
        let (Some(condition), Some(then)) = (field("condition"), field("consequence")) else {
            return Err(self.unknown(node, "a branch"));
        };
        let place = span(condition);
        let condition = self.condition(condition)?;
        // In the tree, `else` is a node around its statement.
        let otherwise = field("alternative").and_then(|clause| parts(clause).first().copied());
        let both: Vec<Node<'_>> = [Some(then), otherwise].into_iter().flatten().collect();
        let names = self.carried(&both);
        self.span = place;
        let op = self.op(&scf::IF, &[("condition", &[condition])], Vec::new(), &[]);
        let (then_outcome, a) = self.arm(op, Some(then), &names);
        let (else_outcome, b) = self.arm(op, otherwise, &names);
        self.span = place;
        let mut given = [Vec::new(), Vec::new()];
        for (name, (a, b)) in names.iter().zip(a.into_iter().zip(b)) {
            // A variable that only one arm sets has no value afterwards.
            let (Some(x), Some(y)) = (a.id(), b.id()) else { continue };
            given[0].push(x);
            given[1].push(y);
            let ty = self.module.ty(x).clone();
            let id = self.module.add_result(op, ty, Some((*name).into()), place);
            self.names.insert(name, with_id(&a, id));
        }
        for (region, values) in given.iter().enumerate() {
            if let Some(block) = self.module.body(op, region) {
                self.yields(block, values);
            }
        }
        then_outcome.and(else_outcome)
    }

    /// `for (int64_t i = a; i < b; i += c)`.
    pub fn counted(&mut self, node: Node<'_>) -> Read<()> {
        let field = |name| node.child_by_field_name(name);
        let parts = (field("initializer"), field("condition"), field("update"), field("body"));
        let (Some(first), Some(condition), Some(update), Some(body)) = parts else {
            return Err(self.unknown(node, "a loop"));
        };
        let head = span(node).start;
        let Some(Head { counter, number, start, end, step }) = self.head(first, condition, update) else {
            return Err(self.unknown(first, "a loop"));
        };
        self.fresh(counter)?;
        let own = &self.text[counter.byte_range()];
        let mut names = self.carried(&[body]);
        if mentions(self.text, end, &names) || step.is_some_and(|step| mentions(self.text, step, &names)) {
            return Err(self.error(condition, "the bounds of this loop change inside of it, which is not read"));
        }
        let mut inside = Vec::new();
        assigned(self.text, body, &mut inside);
        if inside.contains(&own) {
            return Err(self.error(counter, "the counter of this loop changes inside of it, which is not read"));
        }
        let lower = self.number_as(start, number)?;
        let upper = self.number_as(end, number)?;
        let step = match step {
            Some(step) => self.number_as(step, number)?,
            None => self.integer(1, number),
        };
        names.retain(|name| self.names.get(name).is_some_and(|value| value.id().is_some()));
        let before: Vec<Value> = names.iter().map(|name| self.names[name].clone()).collect();
        let init: Vec<ValueId> = before.iter().filter_map(Value::id).collect();
        let types: Vec<Type> = init.iter().map(|id| self.module.ty(*id).clone()).collect();
        self.span = slipring_ir::Span::new(head, span(body).start);
        let place = self.span;
        let operands: [(&str, &[ValueId]); 4] =
            [("lower", &[lower]), ("upper", &[upper]), ("step", &[step]), ("init", &init)];
        let op = self.op(&scf::FOR, &operands, Vec::new(), &types);
        let region = self.module.add_region(op);
        let block = self.module.add_block(region);
        let index = self.module.add_arg(block, number.ty(), Some(own.into()), span(counter));
        let outer = self.names.clone();
        self.names.insert(own, Value::Number(index, number));
        for ((name, value), ty) in names.iter().zip(&before).zip(types) {
            let id = self.module.add_arg(block, ty, Some((*name).into()), place);
            self.names.insert(name, with_id(value, id));
        }
        let (outcome, after) = self.arm_in(block, Some(body), &names);
        self.names = outer;
        self.span = place;
        let after: Vec<ValueId> = after.iter().filter_map(Value::id).collect();
        self.yields(block, &after);
        let results = self.module.op(op).results.clone();
        for ((name, value), id) in names.iter().zip(&before).zip(results) {
            self.module.value_mut(id).name = Some((*name).into());
            self.names.insert(name, with_id(value, id));
        }
        outcome
    }

    /// Reads the header of a loop.
    fn head<'n>(&self, first: Node<'n>, condition: Node<'n>, update: Node<'n>) -> Option<Head<'n>> {
        let declarator = first.child_by_field_name("declarator").filter(|d| d.kind() == "init_declarator")?;
        let counter = declarator.child_by_field_name("declarator").filter(|d| d.kind() == "identifier")?;
        let number = number(self.text, first.child_by_field_name("type")?).filter(|n| matches!(n, Number::Int(..)))?;
        let is_counter = |node: Option<Node<'_>>| node.is_some_and(|node| self.of(node) == self.of(counter));
        let sign = |node: Node<'_>| node.child_by_field_name("operator").map(|sign| self.of(sign));
        let condition = inside(condition);
        if !is_counter(condition.child_by_field_name("left")) || sign(condition) != Some("<") {
            return None;
        }
        let step = match (update.kind(), sign(update)) {
            ("assignment_expression", Some("+=")) if is_counter(update.child_by_field_name("left")) => {
                Some(update.child_by_field_name("right")?)
            }
            ("update_expression", Some("++")) if is_counter(update.child_by_field_name("argument")) => None,
            _ => return None,
        };
        let start = declarator.child_by_field_name("value")?;
        Some(Head { counter, number, start, end: condition.child_by_field_name("right")?, step })
    }
}

/// The same kind of value with another id.
pub(crate) fn with_id(value: &Value, id: ValueId) -> Value {
    match value {
        Value::Number(_, number) => Value::Number(id, *number),
        Value::Pointer(_, elem) => Value::Pointer(id, *elem),
        other => other.clone(),
    }
}
