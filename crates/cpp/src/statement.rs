//! Declarations, assignments, calls.

use slipring_ir::{Reported, Type};
use slipring_pto as pto;

use crate::jumps::{Jumps, jumps};
use crate::tree::{Node, parts, span};
use crate::types::{Number, integer, number};
use crate::value::{Read, Reader, Value};

impl<'t> Reader<'t> {
    /// Reads statements, and continues after errors.
    pub fn statements(&mut self, list: &[Node<'_>]) -> Read<()> {
        let (mut outcome, mut at) = (Ok(()), 0);
        while at < list.len() {
            if let Some(found) = jumps(self.text, &list[at..]) {
                outcome = self.jumping(&found).and(outcome);
                at += found.length;
                // A `return;` at the end has a label if it follows a loop.
                let ends =
                    |node: &Node<'_>| at == list.len() && node.kind() == "return_statement" && parts(*node).is_empty();
                if let Some(next) = found.next.filter(|node| !ends(node)) {
                    outcome = self.statement(next).and(outcome);
                }
                continue;
            }
            outcome = self.statement(list[at]).and(outcome);
            at += 1;
        }
        outcome
    }

    fn statement(&mut self, node: Node<'_>) -> Read<()> {
        self.span = span(node);
        match node.kind() {
            "declaration" => self.declaration(node),
            "expression_statement" => match parts(node).as_slice() {
                [only] => self.effect(*only),
                _ => Ok(()),
            },
            "if_statement" => self.branch(node),
            "for_statement" => self.counted(node),
            "while_statement" => match Jumps::of_while(node) {
                Some(list) => self.jumping(&list),
                None => Err(self.unknown(node, "a loop")),
            },
            "compound_statement" => {
                let (names, depth) = (self.names.clone(), self.depth);
                self.depth += 1;
                let outcome = self.statements(&parts(node));
                self.depth = depth;
                // Outer variables keep the values assigned inside.
                let inner = std::mem::replace(&mut self.names, names);
                for (name, value) in inner {
                    if let Some(own) = self.names.get_mut(name) {
                        *own = value;
                    }
                }
                outcome
            }
            // The declared name is usually unused; if it is used, that is an error there.
            "alias_declaration" | "using_declaration" | "static_assert_declaration" => Ok(()),
            _ => Err(self.unknown(node, "a statement")),
        }
    }

    fn declaration(&mut self, node: Node<'_>) -> Read<()> {
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        let Some(ty) = node.child_by_field_name("type") else { return Err(self.unknown(node, "a declaration")) };
        let mut outcome = Ok(());
        for declarator in declarators {
            let (target, value) = match declarator.kind() {
                "init_declarator" => {
                    (declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value"))
                }
                _ => (Some(declarator), None),
            };
            let Some(target) = target else { return Err(self.unknown(node, "a declaration")) };
            let read = self.declared(ty, target, value);
            if read.is_err() {
                let mut own = target;
                while let Some(inner) = own.child_by_field_name("declarator") {
                    own = inner;
                }
                self.names.entry(self.of(own)).or_insert(Value::Lost);
            }
            outcome = read.and(outcome);
        }
        outcome
    }

    fn declared(&mut self, ty: Node<'_>, target: Node<'_>, value: Option<Node<'_>>) -> Read<()> {
        match (target.kind(), value) {
            ("identifier", Some(value)) if ty.kind() == "placeholder_type_specifier" => {
                let value = self.expression(value)?;
                self.declare(target, value)?;
            }
            ("identifier", Some(value)) => {
                let value = match number(self.text, ty) {
                    Some(to) => Value::Number(self.number_as(value, to)?, to),
                    None => self.declared_object(ty, value)?,
                };
                self.declare(target, value)?;
            }
            ("identifier", None) => {
                let value = match number(self.text, ty) {
                    Some(number) => Value::Unset(number),
                    None => self.bare_object(ty)?,
                };
                self.declare(target, value)?;
            }
            ("pointer_declarator", Some(value)) => {
                let Some(own) = target.child_by_field_name("declarator").filter(|own| own.kind() == "identifier")
                else {
                    return Err(self.unknown(target, "a declaration"));
                };
                let of = number(self.text, ty).and_then(Number::elem);
                match self.expression(value)? {
                    Value::Pointer(id, elem) if of == Some(elem) => self.declare(own, Value::Pointer(id, elem))?,
                    Value::Local(id, elem) if of == Some(elem) => self.declare(own, Value::Local(id, elem))?,
                    Value::Nowhere => self.declare(own, Value::Nowhere)?,
                    _ => return Err(self.unknown(target, "a pointer")),
                }
            }
            ("array_declarator", None) => return self.array(ty, target),
            _ => return Err(self.unknown(target, "a declaration")),
        }
        Ok(())
    }

    /// `int32_t a[64];`
    fn array(&mut self, ty: Node<'_>, target: Node<'_>) -> Read<()> {
        let own = target.child_by_field_name("declarator").filter(|own| own.kind() == "identifier");
        let size = target.child_by_field_name("size").and_then(|size| integer(self.of(size)));
        let (Some(own), Some(size), Some(number)) = (own, size.filter(|n| *n > 0), number(self.text, ty)) else {
            return Err(self.unknown(target, "an array"));
        };
        let Some(elem) = number.elem() else { return Err(self.unknown(target, "an array")) };
        let ty = Type::named(&format!("pto.local_array<{size}x{elem}>"));
        let id = self.result(&pto::DECLARE_LOCAL_ARRAY, &[], Vec::new(), ty);
        self.declare(own, Value::Array(id, number))?;
        Ok(())
    }

    /// Reads an expression statement.
    fn effect(&mut self, node: Node<'_>) -> Read<()> {
        match node.kind() {
            "call_expression" => self.call(node),
            "assignment_expression" => self.assignment(node),
            "update_expression" => {
                let (Some(target), Some(sign)) =
                    (node.child_by_field_name("argument"), node.child_by_field_name("operator"))
                else {
                    return Err(self.unknown(node, "a statement"));
                };
                let old = self.number(target)?;
                let one = (self.integer(1, Number::I32), Number::I32);
                let sign = &self.of(sign)[..1];
                let new = self.arithmetic(node, old, sign, one)?;
                self.assign(target, new)
            }
            _ => Err(self.unknown(node, "a statement")),
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> Read<()> {
        let field = |name| node.child_by_field_name(name);
        let (Some(target), Some(sign), Some(value)) = (field("left"), field("operator"), field("right")) else {
            return Err(self.unknown(node, "an assignment"));
        };
        let sign = self.of(sign);
        if sign != "=" {
            let old = self.number(target)?;
            let by = self.number(value)?;
            let new = self.arithmetic(node, old, sign.trim_end_matches('='), by)?;
            return self.assign(target, new);
        }
        if target.kind() == "subscript_expression" {
            let value = self.number(value)?;
            return self.store(target, value);
        }
        let value = self.expression(value)?;
        self.assign(target, value)
    }

    /// Assigns a value to a name.
    fn assign(&mut self, target: Node<'_>, value: Value) -> Read<()> {
        if target.kind() != "identifier" {
            return Err(self.unknown(target, "an assignment"));
        }
        let own = &self.text[target.byte_range()];
        let new = match (self.named_or_unset(target)?, value) {
            (Value::Number(_, to) | Value::Unset(to), Value::Number(id, from)) => {
                Value::Number(self.converted(target, (id, from), to)?, to)
            }
            (Value::Pointer(_, to), Value::Pointer(id, from)) if to == from => Value::Pointer(id, from),
            _ => return Err(self.unknown(target, "an assignment")),
        };
        self.names.insert(own, new);
        Ok(())
    }

    fn named_or_unset(&mut self, node: Node<'_>) -> Read<Value> {
        match self.names.get(self.of(node)) {
            Some(Value::Unset(number)) => Ok(Value::Unset(*number)),
            Some(Value::Lost) => Err(Reported),
            _ => self.named(node),
        }
    }

    /// `p[i] = x`, `a[i] = x`.
    fn store(&mut self, target: Node<'_>, value: (slipring_ir::ValueId, Number)) -> Read<()> {
        match self.place(target)? {
            (Value::Pointer(pointer, elem), index) => {
                let value = self.as_element(target, value, Number::of(elem))?;
                let operands: [(&str, &[_]); 3] = [("ptr", &[pointer]), ("offset", &[index]), ("value", &[value])];
                self.op(&pto::STORE_SCALAR, &operands, Vec::new(), &[]);
            }
            (Value::Array(array, number), index) => {
                let value = self.as_element(target, value, number)?;
                let operands: [(&str, &[_]); 3] = [("array", &[array]), ("indices", &[index]), ("value", &[value])];
                self.op(&pto::LOCAL_ARRAY_SET, &operands, Vec::new(), &[]);
            }
            (other, _) => return Err(self.error(target, format!("{} has no elements here", other.described()))),
        }
        Ok(())
    }
}
