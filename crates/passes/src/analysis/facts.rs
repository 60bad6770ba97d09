//! Queries of passes about ops, answered from their declarations and their structure.

use indexmap::IndexMap;
use indexmap::map::Entry;
use slipring_ir::{BlockId, Flow, Module, OpId, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_op::make::is_placed;
use slipring_op::rules::constant;
pub use slipring_op::rules::counted;
use slipring_op::{InCoreSync, OpDef, OpRef, kernel_kind};

/// The declaration of an op.
pub fn def(module: &Module, op: OpId) -> Option<&'static OpDef> {
    OpDef::of(module, op)
}

/// True for an op by which the text itself synchronises the pipes of a core. Ops placed by passes do not count.
pub fn syncs_by_hand(module: &Module, op: OpId) -> bool {
    let manual = def(module, op).is_some_and(|def| def.in_core_sync == InCoreSync::Manual);
    manual && !is_placed(module, op)
}

/// The number of ops in a module that synchronise the pipes of a core, not counting those placed by passes for
/// themselves.
pub fn syncs(module: &Module) -> usize {
    module.walk(module.top).into_iter().filter(|op| syncs_by_hand(module, *op)).count()
}

/// The control flow through the regions of an op; once through each for an undeclared op.
pub fn flow(module: &Module, op: OpId) -> Flow {
    module.op(op).schema().map_or(Flow::Once, |s| s.flow)
}

/// Bytes of a buffer of this type in a local memory. `None` if the type leaves it open or is not a buffer.
pub fn buffer_bytes(ty: &Type) -> Option<u64> {
    match ty {
        Type::Tile(tile) => Some(tile.layout.bytes() as u64),
        Type::MemRef(memref) => {
            let bytes = memref.elem.elem()?.bytes() as u64;
            memref.dims.iter().try_fold(bytes, |product, dim| product.checked_mul(dim.known()?))
        }
        _ => None,
    }
}

/// The first operand of an op: for one that makes a view, the source of the view.
pub fn first_operand(op: &OpRef<'_>) -> Option<ValueId> {
    op.module.op(op.id).operands.first().copied()
}

/// The functions of a module by name, including those without a body.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    by_name: IndexMap<String, OpId>,
    /// Those whose name an earlier one has: halves of kernels.
    namesakes: Vec<OpId>,
}

impl Functions {
    /// Collects them.
    pub fn of(module: &Module) -> Functions {
        let mut found = Functions::default();
        for function in module.functions() {
            let Some(name) = module.symbol_name(function) else { continue };
            match found.by_name.entry(name.to_string()) {
                Entry::Vacant(vacant) => drop(vacant.insert(function)),
                Entry::Occupied(_) => found.namesakes.push(function),
            }
        }
        found
    }

    /// The function with this name.
    pub fn get(&self, name: &str) -> Option<OpId> {
        self.by_name.get(name).copied()
    }

    /// Functions with a body whose name an earlier one with a body has: the earlier one and the later one.
    pub fn namesakes<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (OpId, OpId)> + 'a {
        let pairs = self.namesakes.iter().filter_map(|other| Some((self.get(module.symbol_name(*other)?)?, *other)));
        pairs.filter(|(one, other)| [*one, *other].iter().all(|function| module.body(*function, 0).is_some()))
    }

    /// The function that an op calls.
    pub fn callee(&self, module: &Module, op: OpId) -> Option<OpId> {
        let first = self.get(module.callee_name(op)?)?;
        if self.namesakes.is_empty() { Some(first) } else { module.callee(op) }
    }

    /// The body of a function that a walk for one kind of core enters at a call. `calls` is the call stack: no function
    /// is entered recursively, nor beyond a call depth that no program needs.
    pub fn entered(&self, module: &Module, callee: OpId, kind: CoreKind, calls: &[OpId]) -> Option<BlockId> {
        const DEPTH: usize = 64;
        let enters = runs_on(module, callee, Some(kind)) && !calls.contains(&callee) && calls.len() < DEPTH;
        module.body(callee, 0).filter(|_| enters)
    }

    /// Functions with a body and that body, in the order of the text; those whose name an earlier one has come last.
    pub fn with_bodies<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (OpId, BlockId)> + 'a {
        self.by_name.values().chain(&self.namesakes).filter_map(|f| Some((*f, module.body(*f, 0)?)))
    }

    /// The calls in a function's body: call and callee, in the order of the text. Calls of functions of the other kind
    /// of core are omitted: that core makes them.
    pub fn calls(&self, module: &Module, function: OpId) -> Vec<(OpId, OpId)> {
        let Some(body) = module.body(function, 0) else { return Vec::new() };
        let kind = kernel_kind(module, function);
        let each = module.walk(body).into_iter().filter_map(|op| Some((op, self.callee(module, op)?)));
        each.filter(|(_, callee)| runs_on(module, *callee, kind)).collect()
    }
}

/// True if a core of this kind (`None`: any) runs a function.
pub fn runs_on(module: &Module, function: OpId, kind: Option<CoreKind>) -> bool {
    match (kernel_kind(module, function), kind) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// The position of an op in its block, and the position there of another op or of the one that contains it: the block
/// and both positions. `None` if the other one is outside of the block.
pub fn beside(module: &Module, op: OpId, other: OpId) -> Option<(BlockId, [usize; 2])> {
    let (block, at) = module.position(op)?;
    let outer = |op: &OpId| module.parent_op(*op);
    let there = std::iter::successors(Some(other), outer).find(|outer| module.op(*outer).block == Some(block))?;
    Some((block, [at, module.position(there)?.1]))
}

/// The terminator of a block, if its last op is one.
pub fn terminator(module: &Module, block: BlockId) -> Option<OpId> {
    let last = *module.block(block).ops.last()?;
    module.op(last).schema().filter(|s| s.terminator).map(|_| last)
}

/// The trip count of a loop with constant bounds.
pub fn trips(op: &OpRef<'_>) -> Option<i64> {
    let [lower, upper, step] = op.range()?.map(|bound| constant(op.module, bound));
    let (lower, upper, step) = (lower?, upper?, step?);
    if step <= 0 {
        return None;
    }
    let distance = upper.checked_sub(lower)?.max(0);
    Some(distance / step + i64::from(distance % step != 0))
}
