//! The values of names, and the reader of a function: its names, and the ops built from it.

use indexmap::IndexMap;
use slipring_ir::{Attr, BlockId, Diagnostic, Diags, Dim, Module, OpId, Reported, Span, TileType, Type, ValueId};
use slipring_mlir::arith;
use slipring_op::{OpDef, Table};
use slipring_tile::Elem;

use crate::tree::{Node, name, span};
use crate::types::{Number, number};

/// The value of a name or of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Number(ValueId, Number),
    /// A declared number without a value.
    Unset(Number),
    /// A pointer to elements in global memory.
    Pointer(ValueId, Elem),
    /// A pointer to elements in local memory: its address in bytes.
    Local(ValueId, Elem),
    Tile(Tile),
    /// A shape or strides.
    Extents(Vec<ValueId>, Vec<Dim>),
    /// A view of global memory: the view, and its start address.
    View(ValueId, ValueId, Elem),
    /// A member of an enumeration: `RoundMode`, `CAST_RINT`.
    Word(String, String),
    Pipe(ValueId),
    /// An array on the stack.
    Array(ValueId, Number),
    /// The counts that a merge of lists reports: nothing reads them.
    Executed,
    /// A null address, which stands for the whole memory.
    Nowhere,
    /// Its declaration has an error that was reported.
    Lost,
}

impl Value {
    /// A description for messages.
    pub fn described(&self) -> &'static str {
        match self {
            Value::Number(..) | Value::Unset(_) => "a number",
            Value::Pointer(..) | Value::Local(..) | Value::Nowhere => "a pointer",
            Value::Tile(_) => "a tile",
            Value::Extents(..) => "a shape or strides",
            Value::View(..) => "a tensor in global memory",
            Value::Word(..) => "a word",
            Value::Pipe(_) => "a pipe",
            Value::Array(..) => "an array",
            Value::Executed => "a list of counts",
            Value::Lost => "nothing",
        }
    }

    /// The operand that an op takes.
    pub fn id(&self) -> Option<ValueId> {
        match self {
            Value::Number(id, _) | Value::Pointer(id, _) | Value::View(id, ..) => Some(*id),
            Value::Pipe(id) | Value::Array(id, _) => Some(*id),
            Value::Tile(tile) => tile.id,
            _ => None,
        }
    }
}

/// A tile.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub ty: TileType,
    /// Its valid rows and columns, if given.
    pub valid: [Option<ValueId>; 2],
    /// The value of the tile, once it has an address.
    pub id: Option<ValueId>,
    /// The address, if the text gave it.
    pub address: Option<ValueId>,
    /// Nesting depth of its declaration.
    pub depth: usize,
}

/// The reader of a function.
pub(crate) struct Reader<'t> {
    pub text: &'t str,
    pub table: &'t Table,
    pub module: Module,
    pub diags: Diags,
    /// The block that new ops are appended to.
    pub block: BlockId,
    /// The location of new ops.
    pub span: Span,
    /// The current nesting depth.
    pub depth: usize,
    /// Whether the function queries the Vector core on which it runs.
    pub asks_lane: bool,
    pub names: IndexMap<&'t str, Value>,
    /// Result types of functions.
    pub given: IndexMap<String, Number>,
}

/// The result of reading, or a marker that an error was reported.
pub(crate) type Read<T> = Result<T, Reported>;

impl<'t> Reader<'t> {
    /// Reports an error at a node.
    pub fn error(&mut self, node: Node<'_>, message: impl Into<String>) -> Reported {
        self.refuse(Diagnostic::error("cpp-form", span(node), message))
    }

    pub fn refuse(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diags.push(diagnostic);
        Reported
    }

    /// Reports an unsupported form.
    pub fn unknown(&mut self, node: Node<'_>, what: &str) -> Reported {
        self.error(node, format!("{what} of this form is not read"))
    }

    /// The text of a node.
    pub fn of(&self, node: Node<'_>) -> &'t str {
        &self.text[node.byte_range()]
    }

    /// Appends a new op to the block.
    pub fn op(
        &mut self,
        def: &'static OpDef,
        operands: &[(&str, &[ValueId])],
        attrs: Vec<(&'static str, Attr)>,
        results: &[Type],
    ) -> OpId {
        let attrs: slipring_ir::AttrDict = attrs.into_iter().collect();
        let op = def.make(&mut self.module, operands, attrs, results, self.span);
        self.append(op);
        op
    }

    /// Appends an op to the block.
    pub fn append(&mut self, op: OpId) {
        self.module.append(self.block, op);
    }

    /// Appends a new op with one result.
    pub fn result(
        &mut self,
        def: &'static OpDef,
        operands: &[(&str, &[ValueId])],
        attrs: Vec<(&'static str, Attr)>,
        result: Type,
    ) -> ValueId {
        let op = self.op(def, operands, attrs, &[result]);
        self.module.op(op).results[0]
    }

    /// A constant integer.
    pub fn integer(&mut self, number: i64, of: Number) -> ValueId {
        let op = arith::constant(&mut self.module, number, of.ty(), self.span);
        self.append(op);
        self.module.op(op).results[0]
    }

    /// The value of a name.
    pub fn named(&mut self, node: Node<'_>) -> Read<Value> {
        let own = name(self.text, node);
        match self.names.get(own) {
            Some(Value::Lost) => Err(Reported),
            Some(value) => Ok(value.clone()),
            // A cast of a number with a sign is a difference to the grammar.
            None if number(self.text, node).is_some() => {
                let error = Diagnostic::error("cpp-form", span(node), format!("the type `{own}` is not read here"));
                Err(self.refuse(error.help(format!("write a cast as `static_cast<{own}>(…)`"))))
            }
            None => Err(self.error(node, format!("`{own}` is not declared"))),
        }
    }

    /// Declares a name with a value; the value takes the name.
    pub fn declare(&mut self, node: Node<'_>, value: Value) -> Read<()> {
        self.fresh(node)?;
        self.bind(node, value);
        Ok(())
    }

    /// Rejects a name that already exists: shadowing is not supported.
    pub fn fresh(&mut self, node: Node<'_>) -> Read<()> {
        let own = self.of(node);
        match self.names.contains_key(own) {
            true => Err(self.error(node, format!("a second declaration of `{own}` is not read"))),
            false => Ok(()),
        }
    }

    /// Binds a name to another value.
    pub fn bind(&mut self, node: Node<'_>, value: Value) {
        let own = &self.text[node.byte_range()];
        if let Some(id) = value.id() {
            let data = self.module.value_mut(id);
            if data.name.is_none() {
                (data.name, data.span) = (Some(own.into()), span(node));
            }
        }
        self.names.insert(own, value);
    }

    /// Reads an expression that must be a number.
    pub fn number(&mut self, node: Node<'_>) -> Read<(ValueId, Number)> {
        match self.expression(node)? {
            Value::Number(id, number) => Ok((id, number)),
            Value::Lost => Err(Reported),
            Value::Unset(_) => Err(self.error(node, format!("`{}` has no value here", self.of(node)))),
            other => Err(self.error(node, format!("a number is expected here, and this is {}", other.described()))),
        }
    }
}
