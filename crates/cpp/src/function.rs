//! Functions, and their parts for one kind of core.

use std::ops::Range;

use indexmap::IndexMap;
use slipring_ir::{Attr, Diags, FuncType, Module, OpId, Span, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_mlir::func;
use slipring_op::function::{kernel_kind, mark_entry, set_both_lanes, set_kernel_kind, set_recorded};
use slipring_op::{OpDef, Table, symbol_name};
use slipring_pto as pto;

use crate::blank::Blanked;
use crate::tree::{Node, parts, span};
use crate::types::{Number, number};
use crate::value::{Read, Reader, Value};
use crate::wrapper::{Filled, defined, filled, is_wrapper};

/// Prefixes of the helpers that the assembler writes into each file: calls of them are recognised.
const HELPERS: [&str; 2] = ["PTOAS__", "ptoas_"];

/// A function definition.
struct Function<'n> {
    node: Node<'n>,
    name: Node<'n>,
    parameters: Vec<Node<'n>>,
    body: Node<'n>,
}

/// Reads all functions of a file.
pub(crate) fn read_all(
    module: Module,
    tree: &tree_sitter::Tree,
    blanked: &Blanked,
    table: &Table,
    diags: Diags,
) -> (Module, Diags) {
    let text = blanked.text.as_str();
    let mut reader = Reader {
        text,
        table,
        block: module.top,
        module,
        diags,
        span: Span::default(),
        depth: 0,
        asks_lane: false,
        names: IndexMap::new(),
        given: IndexMap::new(),
    };
    let mut functions = Vec::new();
    let mut fills: IndexMap<&str, Vec<Option<Filled>>> = IndexMap::new();
    let mut open: Vec<Node<'_>> = parts(tree.root_node());
    open.reverse();
    while let Some(node) = open.pop() {
        match node.kind() {
            "function_definition" => {
                let Some((name, parameters, body)) = defined(node) else {
                    reader.unknown(node, "a function");
                    continue;
                };
                let own = &text[name.byte_range()];
                if is_wrapper(text, &parameters) {
                    fills.extend(filled(text, body));
                } else if !HELPERS.iter().any(|helper| own.starts_with(helper)) {
                    functions.push(Function { node, name, parameters, body });
                }
            }
            "linkage_specification" => open.extend(node.child_by_field_name("body")),
            "declaration_list" => open.extend(parts(node).into_iter().rev()),
            "template_declaration" => {
                let inner = parts(node).into_iter().find_map(defined);
                let own = inner.map(|(name, ..)| &text[name.byte_range()]);
                if !own.is_some_and(|own| HELPERS.iter().any(|helper| own.starts_with(helper))) {
                    reader.unknown(node, "a template");
                }
            }
            // The names that these declare are unknown where they are used.
            "using_declaration" | "alias_declaration" | "enum_specifier" | "type_definition" => {}
            "namespace_definition" | "static_assert_declaration" | "expression_statement" | "attribute_declaration" => {
            }
            "declaration" if node.child_by_field_name("declarator").is_some_and(is_bare) => {}
            _ => drop(reader.unknown(node, "what stands here")),
        }
    }
    for function in &functions {
        // The Cube and the Vector part of a kernel have the same parameters, but a file has the wrapper of only one of
        // them.
        let own = fills.get(&text[function.name.byte_range()]);
        let peer = fills.values().next().filter(|_| fills.len() == 1);
        let mut filled = own.or(peer).cloned().unwrap_or_default();
        if own.is_none() && filled.ends_with(&[Some(Filled::Block), Some(Filled::Blocks)]) {
            // The index of the Vector core comes last, and only Vector functions have it.
            filled.push(Some(Filled::Lane));
        }
        let launched = is_launched(blanked, function.node, function.body);
        // Errors in a function have already been reported.
        let _ = reader.function(function, &filled, &blanked.parts, launched && functions.len() > 1);
    }
    if blanked.recorded {
        let all: Vec<OpId> = reader.module.functions().collect();
        all.into_iter().for_each(|function| set_recorded(&mut reader.module, function));
    }
    tell_parameters_apart(&mut reader.module);
    (reader.module, reader.diags)
}

/// Whether a function is marked for launch by the host.
fn is_launched(blanked: &Blanked, function: Node<'_>, body: Node<'_>) -> bool {
    let (start, end) = (function.start_byte(), body.start_byte());
    let before = |at: &usize| blanked.text.get(*at..start).is_some_and(is_blank);
    blanked.launched.iter().any(|at| (start..end).contains(at) || before(at))
}

/// Names of the functions that are launched: by a host, or by the runtime with its list of arguments.
pub(crate) fn launched(tree: &tree_sitter::Tree, blanked: &Blanked) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut open: Vec<Node<'_>> = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if node.kind() != "function_definition" {
            open.extend(parts(node).into_iter().rev());
            continue;
        }
        let Some((name, parameters, body)) = defined(node) else { continue };
        let name = &blanked.text[name.byte_range()];
        let is_known = names.iter().any(|own| own == name);
        if !is_known && (is_wrapper(&blanked.text, &parameters) || is_launched(blanked, node, body)) {
            names.push(name.to_string());
        }
    }
    names
}

/// The place of the name of a function template, and the text of its parameters, if there is one of this name.
pub(crate) fn template(tree: &tree_sitter::Tree, text: &str, wanted: &str) -> Option<(Span, String)> {
    let mut open: Vec<Node<'_>> = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if node.kind() != "template_declaration" {
            open.extend(parts(node).into_iter().rev());
            continue;
        }
        let own = parts(node).into_iter().find_map(defined).map(|(name, ..)| name);
        let own = own.filter(|name| &text[name.byte_range()] == wanted);
        if let Some((name, parameters)) = own.zip(node.child_by_field_name("parameters")) {
            return Some((span(name), text[parameters.byte_range()].to_string()));
        }
    }
    None
}

/// Functions that are launched together either share their arguments or have their own. If their parameter types
/// differ, equal names that the assembler generated (`v1`, `v2`) do not mean the same argument.
fn tell_parameters_apart(module: &mut Module) {
    let called: Vec<OpId> = module.walk(module.top).into_iter().filter_map(|op| module.callee(op)).collect();
    let kernels: Vec<OpId> = module
        .functions()
        .filter(|function| kernel_kind(module, *function).is_some() && !called.contains(function))
        .collect();
    let types = |function: &OpId| module.function_type(*function).map(|ty| ty.inputs.clone());
    if kernels.windows(2).all(|pair| types(&pair[0]) == types(&pair[1])) {
        return;
    }
    for function in kernels {
        let Some(body) = module.body(function, 0) else { continue };
        let own = symbol_name(module, function).to_string();
        for arg in module.block(body).args.clone() {
            let name = format!("{own}_{}", module.value_name(arg).trim_start_matches('%'));
            module.value_mut(arg).name = Some(name.as_str().into());
        }
    }
}

/// Whether a declaration has no initialiser: of a function, or of a variable that the runtime sets.
fn is_bare(declarator: Node<'_>) -> bool {
    matches!(declarator.kind(), "function_declarator" | "identifier")
}

/// Whether a text consists of comments and whitespace.
fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = match rest.get(..2) {
            Some("//") => rest.find('\n').map_or(rest.len(), |at| at + 1),
            Some("/*") => match rest[2..].find("*/") {
                Some(at) => at + 4,
                None => return false,
            },
            _ => return false,
        };
        rest = rest[end..].trim_start();
    }
    true
}

impl Reader<'_> {
    fn function(
        &mut self,
        function: &Function<'_>,
        filled: &[Option<Filled>],
        guards: &[(Range<usize>, CoreKind)],
        launched: bool,
    ) -> Read<()> {
        self.span = Span::new(span(function.node).start, span(function.body).start);
        self.block = self.module.top;
        self.names.clear();
        self.depth = 0;
        self.asks_lane = false;
        let result = match function.node.child_by_field_name("type").map(|ty| (self.of(ty), number(self.text, ty))) {
            Some(("void", _)) => None,
            Some((_, Some(number))) => Some(number),
            _ => return Err(self.error(function.name, "a function with a result of this type is not read")),
        };
        self.whole(function.name, self.span, guards)?;
        let own = self.of(function.name).to_string();
        if self.module.symbol(&own).is_some() {
            return Err(self.error(function.name, format!("a second function `{own}`")));
        }
        self.given.extend(result.map(|number| (own.clone(), number)));
        let op = self.op(&func::FUNC, &[], vec![(slipring_ir::function::SYMBOL, Attr::Str(own.as_str().into()))], &[]);
        let region = self.module.add_region(op);
        let body = self.module.add_block(region);
        self.block = body;
        let mut inputs = Vec::new();
        let mut outcome = Ok(());
        for (n, parameter) in function.parameters.iter().enumerate() {
            match self.parameter(*parameter, filled.get(n).copied().flatten()) {
                Ok(ty) => inputs.extend(ty),
                Err(reported) => outcome = Err(reported),
            }
        }
        self.module.set_function_type(op, FuncType { inputs, results: result.iter().map(|own| own.ty()).collect() });
        outcome?;
        if launched {
            mark_entry(&mut self.module, op);
        }
        let statements = parts(function.body);
        if let Some(number) = result {
            let outcome = self.with_result(function, &statements, number);
            return self.whole(function.name, span(function.body), guards).and(outcome);
        }
        let outcome = self.for_cores(op, &statements, guards);
        if self.asks_lane && kernel_kind(&self.module, op) == Some(CoreKind::Vector) {
            // A function that queries its Vector core runs on both, unless it has the guard that the assembler puts
            // around the body of a function for one core.
            let one = statements.iter().any(|node| self.is_for_first_lane(*node));
            set_both_lanes(&mut self.module, op, !one);
        }
        self.span = Span::new(span(function.body).end.saturating_sub(1), span(function.body).end);
        self.op(&func::RETURN, &[], Vec::new(), &[]);
        outcome
    }

    /// Reads the body of a function that returns a number at its end.
    fn with_result(&mut self, function: &Function<'_>, statements: &[Node<'_>], number: Number) -> Read<()> {
        let (last, rest) = statements.split_last().unzip();
        let last = last.filter(|last| last.kind() == "return_statement").and_then(|last| parts(*last).first().copied());
        let Some((value, rest)) = last.zip(rest) else {
            return Err(self.error(function.name, "a function with a result ends with `return` and a value"));
        };
        let outcome = self.statements(rest);
        self.span = span(value);
        let value = self.number_as(value, number);
        let values: Vec<ValueId> = value.iter().copied().collect();
        self.op(&func::RETURN, &[("values", &values)], Vec::new(), &[]);
        value.map(drop).and(outcome)
    }

    /// Whether this is `if (get_subblockid() == 0) { … }`.
    fn is_for_first_lane(&self, node: Node<'_>) -> bool {
        let asked = node.child_by_field_name("condition").filter(|_| node.kind() == "if_statement");
        let words: Option<String> = asked.map(|asked| self.of(asked).split_whitespace().collect());
        words.as_deref() == Some("(get_subblockid()==0)") && node.child_by_field_name("alternative").is_none()
    }

    /// Reads a parameter: the type of the launch argument, if it is one.
    fn parameter(&mut self, node: Node<'_>, filled: Option<Filled>) -> Read<Option<Type>> {
        let (Some(ty), Some(declarator)) = (node.child_by_field_name("type"), node.child_by_field_name("declarator"))
        else {
            return Err(self.unknown(node, "a parameter"));
        };
        let Some(number) = number(self.text, ty) else { return Err(self.unknown(node, "a parameter")) };
        self.span = span(node);
        if let Some(filled) = filled {
            let def: &'static OpDef = match filled {
                Filled::Block => &pto::GET_BLOCK_IDX,
                Filled::Blocks => &pto::GET_BLOCK_NUM,
                Filled::Lane => &pto::GET_SUBBLOCK_IDX,
            };
            let whole = Number::I64;
            let id = self.result(def, &[], Vec::new(), whole.ty());
            let id = self.converted(node, (id, whole), number)?;
            self.declare(declarator, Value::Number(id, number))?;
            return Ok(None);
        }
        let (own, value, ty) = match declarator.kind() {
            "identifier" => {
                let ty = number.element_type();
                let id = self.argument(ty.clone(), declarator);
                (declarator, Value::Number(self.signless(id, number), number), ty)
            }
            "pointer_declarator" => {
                let own = declarator.child_by_field_name("declarator").filter(|own| own.kind() == "identifier");
                let (Some(own), Some(elem)) = (own, number.elem()) else {
                    return Err(self.unknown(node, "a parameter"));
                };
                let ty = Type::Ptr(elem, None);
                (own, Value::Pointer(self.argument(ty.clone(), own), elem), ty)
            }
            _ => return Err(self.unknown(node, "a parameter")),
        };
        self.declare(own, value)?;
        Ok(Some(ty))
    }

    fn argument(&mut self, ty: Type, node: Node<'_>) -> ValueId {
        self.module.add_arg(self.block, ty, Some(self.of(node).into()), span(node))
    }

    /// Rejects code that is only partly for one kind of core, or for both kinds at once.
    fn whole(&mut self, node: Node<'_>, place: Span, guards: &[(Range<usize>, CoreKind)]) -> Read<()> {
        let (start, end) = (place.start as usize, place.end as usize);
        let inside = |at: usize| start < at && at < end;
        if guards.iter().any(|(range, _)| inside(range.start) || inside(range.end)) {
            return Err(self.error(node, "a part of this is for one kind of core only, which is not read"));
        }
        let mut around = guards.iter().filter(|(range, _)| range.contains(&start)).map(|guard| guard.1);
        let first = around.next();
        match around.all(|kind| Some(kind) == first) {
            true => Ok(()),
            false => Err(self.error(node, "this is for both kinds of core at once, which none is")),
        }
    }

    /// Reads the body: the parts for one kind of core, and the common parts.
    fn for_cores(&mut self, op: OpId, list: &[Node<'_>], guards: &[(Range<usize>, CoreKind)]) -> Read<()> {
        let list = match list {
            [rest @ .., last] if last.kind() == "return_statement" && parts(*last).is_empty() => rest,
            all => all,
        };
        for node in list {
            self.whole(*node, span(*node), guards)?;
        }
        let kind = |node: &Node<'_>| guards.iter().find(|(range, _)| range.contains(&node.start_byte())).map(|g| g.1);
        let kinds: Vec<Option<CoreKind>> = list.iter().map(kind).collect();
        let one = |of: CoreKind| kinds.contains(&Some(of));
        match (one(CoreKind::Cube), one(CoreKind::Vector)) {
            (true, true) => {}
            (cube, vector) => {
                if cube || vector {
                    set_kernel_kind(&mut self.module, op, if cube { CoreKind::Cube } else { CoreKind::Vector });
                }
                return self.statements(list);
            }
        }
        let mut outcome = Ok(());
        let mut at = 0;
        while at < list.len() {
            let end = (at..list.len()).find(|n| kinds[*n] != kinds[at]).unwrap_or(list.len());
            let part = &list[at..end];
            let read = match kinds[at] {
                None => self.statements(part),
                Some(kind) => {
                    self.span = span(part[0]);
                    let def: &'static OpDef = match kind {
                        CoreKind::Cube => &pto::SECTION_CUBE,
                        CoreKind::Vector => &pto::SECTION_VECTOR,
                    };
                    let section = self.op(def, &[], Vec::new(), &[]);
                    let region = self.module.add_region(section);
                    let block = self.module.add_block(region);
                    let outer = std::mem::replace(&mut self.block, block);
                    let names = self.names.clone();
                    self.depth += 1;
                    let read = self.statements(part);
                    self.depth -= 1;
                    (self.block, self.names) = (outer, names);
                    read
                }
            };
            outcome = read.and(outcome);
            at = end;
        }
        outcome
    }
}
