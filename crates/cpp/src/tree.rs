//! The syntax tree.

use slipring_ir::{Diagnostic, Diags, Span};
pub(crate) use tree_sitter::Node;
use tree_sitter::{Parser, Tree};
// Unused: the manifest explains this dependency.
use regex_syntax as _;

/// Maximum nesting depth of nodes.
pub(crate) const DEEPEST: usize = 128;

pub(crate) fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cpp::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

/// Maximum number of syntax errors reported for a file.
const MOST_ERRORS: usize = 10;

/// Reports syntax errors, and nodes that are nested too deeply.
pub(crate) fn errors(tree: &Tree, text: &str, diags: &mut Diags) {
    let mut cursor = tree.walk();
    let (mut depth, mut deep) = (0, false);
    loop {
        let node = cursor.node();
        let wrong = node.is_error() || node.is_missing();
        if wrong && diags.list.len() < MOST_ERRORS {
            let message = match node.is_missing() {
                true => format!("`{}` is missing here", node.kind()),
                false => "this is not C++".to_string(),
            };
            let mut place = span(node);
            if place.is_empty() {
                place.end = (place.start + 1).min(text.len() as u32);
            }
            diags.push(Diagnostic::error("cpp-syntax", place, message));
        }
        if depth > DEEPEST && !deep {
            deep = true;
            let message = format!("this lies inside of more than {DEEPEST} other things");
            diags.push(Diagnostic::error("cpp-syntax", span(node), message));
        }
        if !wrong && depth <= DEEPEST && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

/// The range of a node in the text.
pub(crate) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte() as u32, node.end_byte() as u32)
}

/// The children of a node, without comments and punctuation.
pub(crate) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|part| part.kind() != "comment").collect()
}

/// The inner node of parentheses, and of a type or a condition.
pub(crate) fn inside(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while matches!(node.kind(), "parenthesized_expression" | "type_descriptor" | "condition_clause") {
        match parts(node).as_slice() {
            [only] => node = *only,
            _ => break,
        }
    }
    node
}

/// The text of a name without the library's own namespace: `Shape`, `comm::TWAIT`, `TileType::Vec`.
pub(crate) fn name<'t>(text: &'t str, node: Node<'_>) -> &'t str {
    let own = &text[node.byte_range()];
    own.strip_prefix("::").unwrap_or(own).trim_start_matches("pto::")
}

/// The name of a type or function with its template arguments; or a bare name.
pub(crate) fn template<'t, 'n>(text: &'t str, node: Node<'n>) -> (&'t str, Vec<Node<'n>>) {
    let mut node = inside(node);
    let mut prefix = "";
    while node.kind() == "qualified_identifier" {
        let Some(inner) = node.child_by_field_name("name") else { break };
        if !matches!(inner.kind(), "template_type" | "template_function" | "qualified_identifier") {
            return (name(text, node), Vec::new());
        }
        if inner.kind() != "qualified_identifier" && !text[node.byte_range()].starts_with("pto::") {
            prefix = "other";
        }
        node = inner;
    }
    let arguments = node.child_by_field_name("arguments").filter(|a| a.kind() == "template_argument_list");
    match (node.child_by_field_name("name"), arguments) {
        (Some(own), Some(list)) if prefix.is_empty() => (name(text, own), parts(list)),
        _ => (name(text, node), Vec::new()),
    }
}
