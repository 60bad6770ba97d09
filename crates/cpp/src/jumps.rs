//! Loops made of labels and jumps: the form in which the assembler writes a loop with a condition.

use slipring_ir::{Type, ValueId};
use slipring_mlir::scf;

use crate::flow::with_id;
use crate::tree::{Node, parts, span};
use crate::value::{Read, Reader, Value};

/// `goto H; H: head… if (condition) { goto B; } else { goto E; } B: body… goto H; E: next`.
pub(crate) struct Jumps<'n> {
    head: Vec<Node<'n>>,
    condition: Node<'n>,
    body: Vec<Node<'n>>,
    /// The statement of the last label, which follows the loop.
    pub next: Option<Node<'n>>,
    /// The number of statements in the list that belong to the loop.
    pub length: usize,
}

/// The target of a jump statement.
fn target<'t>(text: &'t str, node: Node<'_>) -> Option<&'t str> {
    let label = node.child_by_field_name("label").filter(|_| node.kind() == "goto_statement")?;
    Some(&text[label.byte_range()])
}

/// The label of a statement, and the statement.
fn labelled<'t, 'n>(text: &'t str, node: Node<'n>) -> Option<(&'t str, Option<Node<'n>>)> {
    let label = node.child_by_field_name("label").filter(|_| node.kind() == "labeled_statement")?;
    Some((&text[label.byte_range()], parts(node).into_iter().find(|part| *part != label)))
}

/// A branch that jumps in both arms: the condition and the targets.
fn branch<'t, 'n>(text: &'t str, node: Node<'n>) -> Option<(Node<'n>, [&'t str; 2])> {
    let field = |name| node.child_by_field_name(name).filter(|_| node.kind() == "if_statement");
    let only = |arm: Node<'n>| match parts(arm).as_slice() {
        [jump] if arm.kind() == "compound_statement" => target(text, *jump),
        _ => None,
    };
    let otherwise = parts(field("alternative")?).first().copied()?;
    Some((field("condition")?, [only(field("consequence")?)?, only(otherwise)?]))
}

impl<'n> Jumps<'n> {
    /// `while (condition) body`.
    pub fn of_while(node: Node<'n>) -> Option<Jumps<'n>> {
        let (condition, body) = (node.child_by_field_name("condition")?, node.child_by_field_name("body")?);
        let body = if body.kind() == "compound_statement" { parts(body) } else { vec![body] };
        Some(Jumps { head: Vec::new(), condition, body, next: None, length: 1 })
    }
}

/// The loop at the beginning of a list of statements.
pub(crate) fn jumps<'n>(text: &str, list: &[Node<'n>]) -> Option<Jumps<'n>> {
    let head_label = target(text, *list.first()?)?;
    let (_, first) = labelled(text, *list.get(1)?).filter(|(own, _)| *own == head_label)?;
    // Drop the label of a labelled statement.
    let plain: Vec<Node<'n>> = first.into_iter().chain(list[2..].iter().copied()).collect();
    let fork = plain.iter().position(|node| branch(text, *node).is_some())?;
    let (condition, [body_label, end_label]) = branch(text, plain[fork])?;
    let (_, first) = labelled(text, *plain.get(fork + 1)?).filter(|(own, _)| *own == body_label)?;
    let body: Vec<Node<'n>> = first.into_iter().chain(plain[fork + 2..].iter().copied()).collect();
    let is_end = |at: usize| {
        let behind = body.get(at + 1).and_then(|node| labelled(text, *node));
        target(text, body[at]) == Some(head_label) && behind.is_some_and(|(own, _)| own == end_label)
    };
    let back = (0..body.len()).find(|at| is_end(*at))?;
    let (_, next) = labelled(text, body[back + 1])?;
    Some(Jumps {
        head: plain[..fork].to_vec(),
        condition,
        length: list.len() - (body.len() - back - 2),
        body: body[..back].to_vec(),
        next,
    })
}

impl<'t> Reader<'t> {
    /// Reads such a loop: the variables that it assigns are carried.
    pub fn jumping(&mut self, list: &Jumps<'_>) -> Read<()> {
        let place = span(list.condition);
        let all: Vec<Node<'_>> = list.head.iter().chain(&list.body).copied().collect();
        let names = self.carried(&all);
        let round: Vec<&'t str> =
            names.iter().copied().filter(|name| self.names.get(name).is_some_and(|v| v.id().is_some())).collect();
        let before: Vec<Value> = round.iter().map(|name| self.names[name].clone()).collect();
        let init: Vec<ValueId> = before.iter().filter_map(Value::id).collect();
        self.span = place;
        let op = self.op(&scf::WHILE, &[("init", &init)], Vec::new(), &[]);
        let outer = (self.block, self.names.clone());
        self.depth += 1;
        let region = self.module.add_region(op);
        self.block = self.module.add_block(region);
        self.take(&round, &before, &init, place);
        let mut outcome = self.statements(&list.head);
        self.span = place;
        let condition = self.condition(list.condition);
        // Variables that the head sets have values after the loop.
        let set: Vec<(&'t str, Value)> = names
            .iter()
            .filter_map(|name| Some((*name, self.names.get(name).filter(|v| v.id().is_some())?.clone())))
            .collect();
        let (passed, values): (Vec<&'t str>, Vec<Value>) = set.into_iter().unzip();
        let ids: Vec<ValueId> = values.iter().filter_map(Value::id).collect();
        if let Ok(condition) = condition {
            self.op(&scf::CONDITION, &[("condition", &[condition]), ("args", &ids)], Vec::new(), &[]);
        }
        outcome = condition.map(drop).and(outcome);
        let region = self.module.add_region(op);
        self.block = self.module.add_block(region);
        self.take(&passed, &values, &ids, place);
        outcome = self.statements(&list.body).and(outcome);
        self.span = place;
        let after: Vec<ValueId> = round.iter().filter_map(|name| self.names.get(name)?.id()).collect();
        self.op(&scf::YIELD, &[("values", &after)], Vec::new(), &[]);
        self.depth -= 1;
        (self.block, self.names) = outer;
        for (name, (value, id)) in passed.iter().zip(values.iter().zip(&ids)) {
            let ty = self.module.ty(*id).clone();
            let id = self.module.add_result(op, ty, Some((*name).into()), place);
            self.names.insert(name, with_id(value, id));
        }
        outcome
    }

    /// Binds names to new arguments of the block.
    fn take(&mut self, names: &[&'t str], values: &[Value], like: &[ValueId], place: slipring_ir::Span) {
        for (name, (value, id)) in names.iter().zip(values.iter().zip(like)) {
            let ty: Type = self.module.ty(*id).clone();
            let id = self.module.add_arg(self.block, ty, Some((*name).into()), place);
            self.names.insert(name, with_id(value, id));
        }
    }
}
