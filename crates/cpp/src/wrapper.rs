//! The function that the runtime calls, which unpacks arguments and passes them on. It is not read as code; it shows
//! which parameters of the kernel the runtime fills in for each core.

use indexmap::IndexMap;

use crate::tree::{Node, parts};

/// A value that the runtime fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Filled {
    Block,
    Blocks,
    Lane,
}

/// The name, the parameters and the body of a function definition.
pub(crate) fn defined<'n>(node: Node<'n>) -> Option<(Node<'n>, Vec<Node<'n>>, Node<'n>)> {
    let declarator = node.child_by_field_name("declarator").filter(|d| d.kind() == "function_declarator")?;
    let own = declarator.child_by_field_name("declarator").filter(|d| d.kind() == "identifier")?;
    let list = parts(declarator.child_by_field_name("parameters")?);
    Some((own, list, node.child_by_field_name("body")?))
}

/// Whether the runtime calls this function: its only parameter is the list of arguments.
pub(crate) fn is_wrapper(text: &str, parameters: &[Node<'_>]) -> bool {
    match parameters {
        [only] => {
            let squeezed: String = text[only.byte_range()].chars().filter(|c| !c.is_whitespace()).collect();
            squeezed == "int64_t*args"
        }
        _ => false,
    }
}

/// The function that a wrapper calls, and which of its parameters the wrapper fills in.
pub(crate) fn filled<'t>(text: &'t str, body: Node<'_>) -> Option<(&'t str, Vec<Option<Filled>>)> {
    let mut known: IndexMap<&str, Filled> = IndexMap::new();
    let mut passed = None;
    for node in parts(body) {
        match node.kind() {
            "declaration" => {
                let Some(declarator) = node.child_by_field_name("declarator") else { continue };
                let (Some(own), Some(value)) =
                    (declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value"))
                else {
                    continue;
                };
                let asked = match &text[value.byte_range()] {
                    "get_block_idx(args)" => Filled::Block,
                    "get_block_num(args)" => Filled::Blocks,
                    "get_sub_block_id(args)" => Filled::Lane,
                    _ => continue,
                };
                known.insert(&text[own.byte_range()], asked);
            }
            "expression_statement" => {
                let Some(call) = parts(node).first().copied().filter(|call| call.kind() == "call_expression") else {
                    continue;
                };
                let (Some(function), Some(arguments)) =
                    (call.child_by_field_name("function"), call.child_by_field_name("arguments"))
                else {
                    continue;
                };
                let list = parts(arguments);
                let fills = list.iter().map(|arg| known.get(&text[arg.byte_range()]).copied()).collect();
                passed = Some((&text[function.byte_range()], fills));
            }
            _ => {}
        }
    }
    passed
}
