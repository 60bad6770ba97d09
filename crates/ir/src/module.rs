//! The program in memory: operations in blocks in regions, and the values between them.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::declaration::{Module, Op};
use crate::entities::{Block, Region, Value, ValueDef};
use crate::{AttrDict, BlockId, Declaration, Name, OpId, OpSchema, Part, RegionId, Source, Span, Type, ValueId};

impl Op {
    /// The part of its declaration that the text layer needs, if it has one.
    pub fn schema(&self) -> Option<&'static OpSchema> {
        self.declaration.map(Declaration::schema)
    }

    /// True for an op with this declaration.
    pub fn is(&self, schema: &'static OpSchema) -> bool {
        self.schema().is_some_and(|own| std::ptr::eq(own, schema))
    }

    /// The range of its operands that belong to declared operand `index`.
    fn group(&self, index: usize) -> Range<usize> {
        let start: usize = self.segments.iter().take(index).map(|n| *n as usize).sum();
        start..start + self.segments.get(index).copied().unwrap_or(0) as usize
    }

    /// The index of a declared operand.
    fn declared(&self, name: &str) -> Option<usize> {
        let at = self.schema().and_then(|schema| schema.operands.iter().position(|spec| spec.name == name));
        debug_assert!(at.is_some(), "`{}` has no operand `{name}`", self.name);
        at
    }
}

/// A state of a module to which it can be rolled back: see [`Module::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    ops: usize,
    blocks: usize,
}

impl Module {
    /// A module without operations.
    pub fn new(source: Arc<Source>) -> Module {
        Module {
            source,
            top: BlockId(0),
            ops: Vec::new(),
            values: Vec::new(),
            blocks: vec![Block::default()],
            regions: Vec::new(),
        }
    }

    /// An operation.
    pub fn op(&self, op: OpId) -> &Op {
        &self.ops[op.index()]
    }

    /// An operation, to change.
    pub fn op_mut(&mut self, op: OpId) -> &mut Op {
        &mut self.ops[op.index()]
    }

    /// A value.
    pub fn value(&self, value: ValueId) -> &Value {
        &self.values[value.index()]
    }

    /// A value, to change.
    pub fn value_mut(&mut self, value: ValueId) -> &mut Value {
        &mut self.values[value.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.index()].ty
    }

    /// A block.
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }

    /// A region.
    pub fn region(&self, region: RegionId) -> &Region {
        &self.regions[region.index()]
    }

    /// Number of values, for tables indexed by value.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Number of operations ever created, for tables indexed by operation.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// The operation whose region contains this one.
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        let region = self.block(self.op(op).block?).region?;
        self.region(region).parent
    }

    /// The operation whose region contains this block.
    pub fn block_parent(&self, block: BlockId) -> Option<OpId> {
        self.region(self.block(block).region?).parent
    }

    /// The operation that defines a value, if it is a result.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.value(value).def {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Arg(..) => None,
        }
    }

    /// The first block of an operation's region with this index.
    pub fn body(&self, op: OpId, region: usize) -> Option<BlockId> {
        let region = *self.op(op).regions.get(region)?;
        self.region(region).blocks.first().copied()
    }

    /// The operands of declared operand `index`.
    pub fn operand_group(&self, op: OpId, index: usize) -> &[ValueId] {
        let op = self.op(op);
        op.operands.get(op.group(index)).unwrap_or(&[])
    }

    /// The operands of the declared operand with this name; none without a declaration.
    pub fn operands_named(&self, op: OpId, name: &str) -> &[ValueId] {
        self.op(op).declared(name).map_or(&[], |at| self.operand_group(op, at))
    }

    /// As [`Module::operands_named`], to replace the values.
    pub fn operands_named_mut(&mut self, op: OpId, name: &str) -> &mut [ValueId] {
        let op = self.op_mut(op);
        let group = op.declared(name).map_or(0..0, |at| op.group(at));
        op.operands.get_mut(group).unwrap_or_default()
    }

    /// Creates an operation that is not in any block yet. A declared one has the name of its declaration.
    pub fn create(&mut self, name: impl Into<Name>, declaration: Option<&'static dyn Declaration>, span: Span) -> OpId {
        let id = OpId(self.ops.len() as u32);
        self.ops.push(Op {
            name: declaration.map_or_else(|| name.into(), |declaration| declaration.schema().name.into()),
            declaration,
            operands: SmallVec::new(),
            segments: SmallVec::new(),
            results: SmallVec::new(),
            successors: SmallVec::new(),
            attrs: AttrDict::default(),
            regions: SmallVec::new(),
            span,
            loc: None,
            block: None,
        });
        id
    }

    /// Creates an operation with the declaration, attributes and location of another one, without operands, results and
    /// regions.
    pub fn like(&mut self, other: &Op) -> OpId {
        let id = self.create(other.name.clone(), other.declaration, other.span);
        let op = &mut self.ops[id.index()];
        (op.attrs, op.loc) = (other.attrs.clone(), other.loc.clone());
        id
    }

    /// Creates an operation from a declaration: one operand group for each declared operand, and results of these
    /// types.
    pub fn build(
        &mut self,
        declaration: &'static dyn Declaration,
        operands: &[&[ValueId]],
        attrs: AttrDict,
        results: &[Type],
        span: Span,
    ) -> OpId {
        let id = self.create(declaration.schema().name, Some(declaration), span);
        let op = &mut self.ops[id.index()];
        op.segments = operands.iter().map(|group| group.len() as u16).collect();
        op.operands = operands.iter().flat_map(|group| group.iter().copied()).collect();
        op.attrs = attrs;
        for ty in results {
            self.add_result(id, ty.clone(), None, span);
        }
        id
    }

    /// Adds a result to an operation.
    pub fn add_result(&mut self, op: OpId, ty: Type, name: Option<Arc<str>>, span: Span) -> ValueId {
        let at = self.ops[op.index()].results.len() as u16;
        let value = self.add_value(Value { ty, name, def: ValueDef::Result(op, at), span });
        self.ops[op.index()].results.push(value);
        value
    }

    fn add_value(&mut self, value: Value) -> ValueId {
        self.values.push(value);
        ValueId(self.values.len() as u32 - 1)
    }

    /// Adds an empty region to an operation.
    pub fn add_region(&mut self, op: OpId) -> RegionId {
        let id = RegionId(self.regions.len() as u32);
        self.regions.push(Region { blocks: SmallVec::new(), parent: Some(op) });
        self.ops[op.index()].regions.push(id);
        id
    }

    /// Makes a region the last one of an operation.
    pub fn move_region(&mut self, region: RegionId, to: OpId) {
        if let Some(parent) = self.regions[region.index()].parent.replace(to) {
            self.ops[parent.index()].regions.retain(|own| *own != region);
        }
        self.ops[to.index()].regions.push(region);
    }

    /// Adds an empty block to a region.
    pub fn add_block(&mut self, region: RegionId) -> BlockId {
        let id = BlockId(self.blocks.len() as u32);
        self.blocks.push(Block { region: Some(region), ..Block::default() });
        self.regions[region.index()].blocks.push(id);
        id
    }

    /// Removes all blocks but the first from a region. They stay in the table, unreachable.
    pub fn keep_first_block(&mut self, region: RegionId) {
        for block in self.regions[region.index()].blocks.drain(1..) {
            self.blocks[block.index()].region = None;
        }
    }

    /// Adds an argument to a block.
    pub fn add_arg(&mut self, block: BlockId, ty: Type, name: Option<Arc<str>>, span: Span) -> ValueId {
        let at = self.blocks[block.index()].args.len() as u16;
        let value = self.add_value(Value { ty, name, def: ValueDef::Arg(block, at), span });
        self.blocks[block.index()].args.push(value);
        value
    }

    /// Removes an unused argument from a block; those after it move up.
    pub fn remove_arg(&mut self, block: BlockId, value: ValueId) {
        self.blocks[block.index()].args.retain(|arg| *arg != value);
        for (at, arg) in self.blocks[block.index()].args.clone().into_iter().enumerate() {
            self.value_mut(arg).def = ValueDef::Arg(block, at as u16);
        }
    }

    /// Appends an operation to a block.
    pub fn append(&mut self, block: BlockId, op: OpId) {
        let at = self.block(block).ops.len();
        self.insert(block, at, op);
    }

    /// Inserts an operation into a block before position `at`.
    pub fn insert(&mut self, block: BlockId, at: usize, op: OpId) {
        self.blocks[block.index()].ops.insert(at, op);
        self.ops[op.index()].block = Some(block);
    }

    /// Inserts an operation right before another.
    pub fn insert_before(&mut self, anchor: OpId, op: OpId) {
        if let Some((block, at)) = self.position(anchor) {
            self.insert(block, at, op);
        }
    }

    /// Inserts an operation right after another.
    pub fn insert_after(&mut self, anchor: OpId, op: OpId) {
        if let Some((block, at)) = self.position(anchor) {
            self.insert(block, at + 1, op);
        }
    }

    /// Sets the operations of a block in this order: the existing ones, with new ones between them.
    pub fn set_ops(&mut self, block: BlockId, ops: Vec<OpId>) {
        for op in &ops {
            self.ops[op.index()].block = Some(block);
        }
        self.blocks[block.index()].ops = ops;
    }

    /// The block of an operation and its position there.
    pub fn position(&self, op: OpId) -> Option<(BlockId, usize)> {
        let block = self.op(op).block?;
        let at = self.block(block).ops.iter().position(|o| *o == op)?;
        Some((block, at))
    }

    /// Removes an operation from its block. It stays in the table, unreachable.
    pub fn remove(&mut self, op: OpId) {
        if let Some((block, at)) = self.position(op) {
            self.blocks[block.index()].ops.remove(at);
            self.ops[op.index()].block = None;
        }
    }

    /// The current state of the module: everything built from here on can be rolled back.
    pub fn mark(&self) -> Mark {
        Mark { ops: self.ops.len(), blocks: self.blocks.len() }
    }

    /// Removes everything built since a mark from the blocks that existed then. It stays in the tables, unreachable.
    pub fn take_back(&mut self, mark: Mark) {
        let mut blocks: Vec<BlockId> = Vec::new();
        for op in &mut self.ops[mark.ops..] {
            if op.block.is_some_and(|block| block.index() < mark.blocks) {
                blocks.extend(op.block.take());
            }
        }
        blocks.sort_by_key(|block| block.index());
        blocks.dedup();
        for block in blocks {
            self.blocks[block.index()].ops.retain(|op| op.index() < mark.ops);
        }
    }

    /// Replaces every use of a value.
    pub fn replace_uses(&mut self, from: ValueId, to: ValueId) {
        for op in &mut self.ops {
            for operand in &mut op.operands {
                if *operand == from {
                    *operand = to;
                }
            }
        }
    }

    /// Copies an operation with its regions. Operands are mapped through `map`, which also receives the copies of
    /// results and block arguments. The copy is not in any block.
    pub fn clone_op(&mut self, op: OpId, map: &mut ValueMap) -> OpId {
        self.copy(None, op, map, &|_| true)
    }

    /// The kept operations of this module, with those around them, as a separate module whose size is that of the kept
    /// part. The contents of an operation that is not kept are not queried.
    pub fn only(&self, keep: impl Fn(OpId) -> bool) -> Module {
        let mut part = Module::new(self.source.clone());
        let (top, mut map) = (part.top, ValueMap::default());
        for &op in self.block(self.top).ops.iter().filter(|op| keep(**op)) {
            let copy = part.copy(Some(self), op, &mut map, &keep);
            part.append(top, copy);
        }
        part
    }

    /// Appends copies of all operations to the top block of another module.
    pub fn absorb(&mut self, other: &Module) {
        let (top, mut map) = (self.top, ValueMap::default());
        for &op in &other.block(other.top).ops {
            let copy = self.copy(Some(other), op, &mut map, &|_| true);
            self.append(top, copy);
        }
    }

    /// Copies an operation of `from`, or of this module, with the kept parts of its regions.
    fn copy(&mut self, from: Option<&Module>, op: OpId, map: &mut ValueMap, keep: &dyn Fn(OpId) -> bool) -> OpId {
        let original = from.unwrap_or(self).op(op).clone();
        let copy = self.like(&original);
        let target = &mut self.ops[copy.index()];
        target.operands = original.operands.iter().map(|v| map.get(*v)).collect();
        target.segments = original.segments.clone();
        target.successors = original.successors.clone();
        for result in &original.results {
            let value = from.unwrap_or(self).value(*result).clone();
            let new = self.add_result(copy, value.ty, value.name, value.span);
            map.insert(*result, new);
        }
        for region in &original.regions {
            let new_region = self.add_region(copy);
            for block in from.unwrap_or(self).region(*region).blocks.clone() {
                let new_block = self.add_block(new_region);
                let Block { args, ops, .. } = from.unwrap_or(self).block(block).clone();
                for arg in args {
                    let value = from.unwrap_or(self).value(arg).clone();
                    let new = self.add_arg(new_block, value.ty, value.name, value.span);
                    map.insert(arg, new);
                }
                for inner in ops.into_iter().filter(|op| keep(*op)) {
                    let new = self.copy(from, inner, map, keep);
                    self.append(new_block, new);
                }
            }
        }
        copy
    }

    /// The same module with all operation locations removed.
    pub fn without_places(&self) -> Module {
        let mut plain = self.clone();
        for op in plain.walk(plain.top) {
            plain.op_mut(op).loc = None;
        }
        plain
    }

    /// Every operation under a block in the order of the text, outer before inner.
    pub fn walk(&self, block: BlockId) -> Vec<OpId> {
        let mut list = Vec::new();
        self.walk_into(block, &mut list);
        list
    }

    fn walk_into(&self, block: BlockId, list: &mut Vec<OpId>) {
        for &op in &self.block(block).ops {
            list.push(op);
            for region in &self.op(op).regions {
                for &inner in &self.region(*region).blocks {
                    self.walk_into(inner, list);
                }
            }
        }
    }

    /// Every operation with this name in the file, in the order of the text.
    pub fn ops_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = OpId> + 'a {
        self.walk(self.top).into_iter().filter(move |op| &*self.op(*op).name == name)
    }

    /// The operation that defines symbol `name`; if there is none, the first one that declares it. Functions are not
    /// searched.
    pub fn symbol(&self, name: &str) -> Option<OpId> {
        self.symbol_in(self.top, name, true).or_else(|| self.symbol_in(self.top, name, false))
    }

    /// As [`Module::symbol`], as seen from an operation: one that its own module defines comes first, then one of the
    /// modules around that.
    pub fn symbol_from(&self, op: OpId, name: &str) -> Option<OpId> {
        let outer = std::iter::successors(self.parent_op(op), |at| self.parent_op(*at));
        let modules = outer.filter(|at| self.part(*at) == Part::Module);
        let blocks = modules.flat_map(|at| &self.op(at).regions).flat_map(|region| &self.region(*region).blocks);
        let near = blocks.into_iter().find_map(|block| self.symbol_in(*block, name, true));
        near.or_else(|| self.symbol(name))
    }

    /// True for a declared function without a body.
    pub fn is_declaration(&self, op: OpId) -> bool {
        let regions = &self.op(op).regions;
        self.is_function(op) && regions.iter().all(|region| self.region(*region).blocks.is_empty())
    }

    fn symbol_in(&self, block: BlockId, name: &str, defined: bool) -> Option<OpId> {
        self.block(block).ops.iter().find_map(|op| {
            let data = self.op(*op);
            if self.symbol_name(*op) == Some(name) && !(defined && self.is_declaration(*op)) {
                return Some(*op);
            }
            if self.is_function(*op) {
                return None;
            }
            let blocks = data.regions.iter().flat_map(|region| &self.region(*region).blocks);
            blocks.into_iter().find_map(|inner| self.symbol_in(*inner, name, defined))
        })
    }

    /// The name of a value in diagnostics: `%name`, or `%name#1` if results share the name.
    pub fn value_name(&self, value: ValueId) -> String {
        let data = self.value(value);
        let Some(name) = &data.name else { return format!("%{}", value.0) };
        let ValueDef::Result(op, at) = data.def else { return format!("%{name}") };
        let results = &self.op(op).results;
        let shares = |r: &&ValueId| self.value(**r).name.as_ref() == Some(name);
        let before = results.iter().take(at as usize).rev().take_while(shares).count();
        let after = results.iter().skip(at as usize + 1).take_while(shares).count();
        if before + after > 0 { format!("%{name}#{before}") } else { format!("%{name}") }
    }
}

/// The mapping of values in a copy.
#[derive(Clone, Default, Debug)]
pub struct ValueMap(indexmap::IndexMap<ValueId, ValueId>);

impl ValueMap {
    /// The mapped value, or the value itself.
    pub fn get(&self, value: ValueId) -> ValueId {
        self.0.get(&value).copied().unwrap_or(value)
    }

    /// Maps a value.
    pub fn insert(&mut self, from: ValueId, to: ValueId) {
        self.0.insert(from, to);
    }
}
