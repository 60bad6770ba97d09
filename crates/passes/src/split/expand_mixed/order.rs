//! Barriers between the cores of a cluster, required by their accesses to global memory.
//!
//! Writes of one core and accesses of another are ordered as in the source: all cores meet before the second access, in
//! the block that encloses both, and at the end of a loop for conflicts between its iterations. Accesses that are
//! provably disjoint ([`super::apart`]) are not ordered. The lanes of one execution of a region are not ordered with
//! each other: its body runs on both at the same time.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Flow, Module, OpId, Touch};
use slipring_machine::CoreKind;
use slipring_op::OpRef;
use slipring_tile::Space;

use super::apart::{Scope, apart};
use super::replay::Replay;
use super::sides::{Side, is_control, is_pure, once, side};
use crate::analysis::affine::Follow;
use crate::analysis::facts::{Functions, flow};
use crate::analysis::last_use::with_inner;
use crate::analysis::roots::{RootId, RootKind, Roots};
use crate::analysis::windows::Window;

/// The points at which all cores of the cluster meet.
#[derive(Clone, Debug, Default)]
pub(super) struct Meetings {
    /// Right before these ops.
    pub before: BTreeSet<OpId>,
    /// At the end of these blocks.
    pub at_end: BTreeSet<BlockId>,
}

impl Meetings {
    /// Finds the points in a function's body. For a kernel for one Vector core, `replay` is the second one's part.
    pub fn of(
        module: &Module,
        functions: &Functions,
        body: BlockId,
        both_lanes: bool,
        replay: Option<&Replay>,
    ) -> Meetings {
        let roots = Roots::of(module, functions);
        let mut finder = Finder { module, roots, both_lanes, replay, found: Meetings::default() };
        finder.block(body, None);
        finder.found
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.at_end.is_empty()
    }

    /// The blocks that contain them.
    pub fn blocks(&self, module: &Module) -> Vec<BlockId> {
        let before = self.before.iter().filter_map(|op| module.op(*op).block);
        before.chain(self.at_end.iter().copied()).collect()
    }
}

/// An access to global memory.
#[derive(Clone, Debug)]
struct Access {
    /// The kind of core; `None` for both.
    kind: Option<CoreKind>,
    /// The buffer; `None` for any.
    root: Option<RootId>,
    write: bool,
    window: Option<Window>,
    /// The number of Vector cores that make it, if any.
    lanes: i64,
}

struct Finder<'m> {
    module: &'m Module,
    roots: Roots,
    both_lanes: bool,
    replay: Option<&'m Replay>,
    found: Meetings,
}

/// The cores: the Cube core, and a Vector core with its lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Core {
    Cube,
    Lane(i64),
}

impl Finder<'_> {
    /// Processes a block; `around` is the loop of which it is the body.
    fn block(&mut self, block: BlockId, around: Option<OpId>) {
        let module = self.module;
        // Accesses since the last barrier, and those before the first.
        let (mut pending, mut first): (Vec<Access>, Option<Vec<Access>>) = (Vec::new(), None);
        let straight = Scope { block, around: None };
        for &op in &module.block(block).ops {
            let accesses = self.accesses(op);
            if self.any_conflict(&pending, &accesses, straight) {
                self.found.before.insert(op);
                first.get_or_insert_with(|| std::mem::take(&mut pending));
                pending.clear();
            }
            if is_control(module, op) {
                self.control(op, &accesses);
            }
            pending.extend(accesses);
        }
        let head = first.as_ref().unwrap_or(&pending);
        if around.is_some() && self.any_conflict(&pending, head, Scope { block, around }) {
            self.found.at_end.insert(block);
        }
    }

    fn control(&mut self, op: OpId, accesses: &[Access]) {
        let module = self.module;
        let bodies: Vec<BlockId> = (0..module.op(op).regions.len()).filter_map(|r| module.body(op, r)).collect();
        let repeats = flow(module, op) == Flow::Repeat;
        let counted = repeats && bodies.len() == 1;
        for &body in &bodies {
            self.block(body, counted.then_some(op));
        }
        // A loop with a condition: its parts follow each other.
        if let (true, Some(home)) = (repeats && !counted, module.op(op).block)
            && self.any_conflict(accesses, accesses, Scope { block: home, around: Some(op) })
        {
            self.found.at_end.extend(bodies);
        }
    }

    /// The accesses of an op and those in its regions to global memory.
    fn accesses(&self, outer: OpId) -> Vec<Access> {
        let mut found = Vec::new();
        for id in with_inner(self.module, outer) {
            // Ops executed by all cores need no ordering between them.
            let Some(op) = OpRef::of(self.module, id).filter(|op| !op.def.each_core) else { continue };
            for (at, spec) in op.def.schema.operands.iter().enumerate().filter(|(_, s)| s.touch != Touch::Nothing) {
                for &value in op.operands(at) {
                    if self.module.ty(value).space() != Some(Space::Gm) {
                        continue;
                    }
                    let kind = match side(self.module, id) {
                        Side::Of(kind) => Some(kind),
                        _ if is_pure(self.module, id) => None,
                        _ => Some(once(self.module, id)),
                    };
                    let (write, window) = (spec.touch.writes(), Window::of(self.module, value, Follow::Exact));
                    let lanes = if self.both_lanes && self.replay.is_none_or(|replay| replay.does(id)) { 2 } else { 1 };
                    let access = |root| Access { kind, root, write, window: window.clone(), lanes };
                    let roots = self.roots.get(value);
                    let computed = |id: &RootId| {
                        let root = self.roots.root(*id);
                        root.kind == RootKind::Unknown && root.op.is_some()
                    };
                    if roots.is_empty() || roots.iter().any(computed) {
                        found.push(access(None));
                    } else {
                        found.extend(roots.iter().map(|root| access(Some(*root))));
                    }
                }
            }
        }
        found
    }

    fn any_conflict(&self, earlier: &[Access], later: &[Access], scope: Scope) -> bool {
        earlier.iter().any(|a| later.iter().any(|b| self.conflict(a, b, scope)))
    }

    /// True if two accesses by different cores may touch the same bytes and one of them writes.
    fn conflict(&self, a: &Access, b: &Access, scope: Scope) -> bool {
        let same = a.root.is_none() || b.root.is_none() || a.root == b.root;
        if !same || !(a.write || b.write) {
            return false;
        }
        let lane = |core: Core| if let Core::Lane(lane) = core { lane } else { 0 };
        let lie_apart = |x: Core, y: Core| match (&a.window, &b.window) {
            (Some(a), Some(b)) => apart(a, b, [lane(x), lane(y)], self.module, scope),
            _ => false,
        };
        self.cores(a).any(|x| self.cores(b).any(|y| x != y && !lie_apart(x, y)))
    }

    fn cores(&self, access: &Access) -> impl Iterator<Item = Core> + use<> {
        let cube = (access.kind != Some(CoreKind::Vector)).then_some(Core::Cube);
        let lanes = if access.kind == Some(CoreKind::Cube) { 0 } else { access.lanes };
        cube.into_iter().chain((0..lanes).map(Core::Lane))
    }
}
