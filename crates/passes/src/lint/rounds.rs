//! Wasted loop iterations: results that the next iteration overwrites before anybody has read them, and slots that the
//! loop's variable is meant to alternate but does not.
//!
//! Both are warnings: the text is valid, but hardly ever what its author means.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Diagnostic, Diags, Flow, Module, OpId, Touch, ValueDef, ValueId};
use slipring_machine::{Pipe, Platform};
use slipring_op::rules::constant;
use slipring_op::{Linear, OpDef, OpRef};

use crate::analysis::affine::{Affine, Follow};
use crate::analysis::facts::{Functions, flow, trips};
use crate::analysis::roots::{Address, RootId, RootKind, Roots};

/// Maximum number of ops between a value and the decision based on it.
const FAR: usize = 6;

/// Checks every loop of a function.
pub(super) fn check(module: &Module, body: BlockId, platform: &Platform, diags: &mut Diags) {
    let functions = Functions::of(module);
    let ops = module.walk(body);
    let loops: Vec<OpId> = ops.iter().copied().filter(|op| goes_round(module, &functions, *op)).collect();
    if loops.is_empty() {
        return;
    }
    let look = Look { module, platform, roots: Roots::of(module, &functions), users: users(module, &ops) };
    let touched: Vec<Touched> = ops.iter().map(|op| look.touched(*op)).collect();
    let lost = loops.iter().flat_map(|op| look.overwritten_sums(*op, &touched));
    let mut said: Vec<Diagnostic> = lost.collect();
    said.extend(ops.iter().filter_map(|op| look.slot_that_stays(*op)));
    said.into_iter().for_each(|diagnostic| diags.push(diagnostic));
}

/// True for a loop that may have a second iteration and calls nothing.
fn goes_round(module: &Module, functions: &Functions, op: OpId) -> bool {
    let repeats = !module.op(op).regions.is_empty() && matches!(flow(module, op), Flow::Repeat);
    let often = || OpRef::of(module, op).is_some_and(|op| trips(&op).is_none_or(|trips| trips > 1));
    let calls = || inside(module, op).iter().any(|op| functions.callee(module, *op).is_some());
    repeats && often() && !calls()
}

/// All ops in the regions of an op.
fn inside(module: &Module, op: OpId) -> Vec<OpId> {
    let regions = 0..module.op(op).regions.len();
    regions.filter_map(|region| module.body(op, region)).flat_map(|block| module.walk(block)).collect()
}

fn users(module: &Module, ops: &[OpId]) -> BTreeMap<ValueId, Vec<OpId>> {
    let mut users: BTreeMap<ValueId, Vec<OpId>> = BTreeMap::new();
    for op in ops {
        for value in &module.op(*op).operands {
            users.entry(*value).or_default().push(*op);
        }
    }
    users
}

/// The tiles that an op reads and writes.
struct Touched {
    op: OpId,
    reads: Vec<RootId>,
    writes: Vec<RootId>,
}

struct Look<'m> {
    module: &'m Module,
    platform: &'m Platform,
    roots: Roots,
    users: BTreeMap<ValueId, Vec<OpId>>,
}

impl Look<'_> {
    fn touched(&self, op: OpId) -> Touched {
        let reads = self.roots.touched(self.module, op, Touch::reads);
        Touched { op, reads, writes: self.roots.written(self.module, op) }
    }

    /// The operands of an op that are whole tiles with names of their own and known addresses, by the op's access mode.
    fn named(&self, op: &OpRef<'_>, writes: bool) -> Vec<RootId> {
        let whole = |value: ValueId| match self.roots.get(value) {
            [root] => {
                let of = self.roots.root(*root);
                let known = of.kind == RootKind::Declared && of.address != Address::Computed && of.value == value;
                known.then_some(*root)
            }
            _ => None,
        };
        match writes {
            true => op.written().filter_map(whole).collect(),
            false => op.read().filter_map(whole).collect(),
        }
    }

    /// True if two buffers share a byte, or may.
    fn meet(&self, a: RootId, b: RootId) -> bool {
        let (x, y) = (self.roots.root(a), self.roots.root(b));
        let open = [x, y].iter().any(|root| root.address == Address::Open);
        a == b || x.overlaps(y).unwrap_or(!open)
    }

    /// Results of loop iterations that begin from the same tile and that the next iteration overwrites unread.
    fn overwritten_sums(&self, round: OpId, touched: &[Touched]) -> Vec<Diagnostic> {
        let within: BTreeSet<OpId> = inside(self.module, round).into_iter().collect();
        let Some(body) = self.module.body(round, 0) else { return Vec::new() };
        let (inner, outer): (Vec<&Touched>, Vec<&Touched>) = touched.iter().partition(|one| within.contains(&one.op));
        let reads = |all: &[&Touched], tile| all.iter().any(|one| one.reads.iter().any(|root| self.meet(*root, tile)));
        let writes =
            |all: &[&Touched], tile| all.iter().any(|one| one.writes.iter().any(|root| self.meet(*root, tile)));
        let sum = |id: &OpId| {
            let op = OpRef::of(self.module, *id)?;
            if !matches!(op.pipe(self.platform), Some(Pipe::V | Pipe::M)) {
                return None;
            }
            let [result] = self.named(&op, true)[..] else { return None };
            let sources: BTreeSet<RootId> = self.named(&op, false).into_iter().collect();
            let ty = |root: RootId| self.module.ty(self.roots.root(root).value);
            let stays = |root: &&RootId| ty(**root) == ty(result) && !writes(&inner, **root) && writes(&outer, **root);
            let from = *sources.iter().find(stays)?;
            let news = sources.iter().any(|root| *root != from && writes(&inner, *root));
            let others: Vec<&Touched> = inner.iter().copied().filter(|one| one.op != *id).collect();
            let unread = !reads(&inner, result) && !writes(&others, result);
            (news && unread && reads(&outer, result)).then(|| self.lost(*id, from, result))
        };
        self.module.block(body).ops.iter().filter_map(sum).collect()
    }

    fn lost(&self, op: OpId, from: RootId, result: RootId) -> Diagnostic {
        let name = |root: RootId| self.module.value_name(self.roots.root(root).value);
        let (from, result) = (name(from), name(result));
        let message = format!(
            "each iteration overwrites `{result}`, which is read only after the loop: the results of all iterations but the last are \
             lost"
        );
        Diagnostic::warning("rounds-lost", self.module.op(op).span, message)
            .label(format!("starts from `{from}` every time, and the loop never changes `{from}`"))
            .help(format!("to accumulate over the iterations, write the result back to `{from}`"))
    }

    /// A value that is meant to select a slot by the loop's variable but is the same in each iteration because of the
    /// loop's step.
    fn slot_that_stays(&self, id: OpId) -> Option<Diagnostic> {
        OpDef::of(self.module, id).filter(|def| def.linear == Some(Linear::Remainder))?;
        let [of, by] = self.module.op(id).operands[..] else { return None };
        let slots = constant(self.module, by).filter(|slots| *slots > 1)?;
        let followed = Affine::of(self.module, of, Follow::Intended);
        let (variable, factor) = followed.terms.iter().next().filter(|_| followed.terms.len() == 1)?;
        let ValueDef::Arg(block, 0) = self.module.value(*variable).def else { return None };
        let round = OpRef::of(self.module, self.module.block_parent(block)?)?;
        let step = constant(self.module, round.range()?[2])?;
        let often = trips(&round).is_none_or(|trips| trips > 1);
        // A value that would not alternate even with a step of one is not expected to.
        let stays = factor.checked_mul(step)? % slots == 0 && factor % slots != 0;
        let result = *self.module.op(id).results.first()?;
        if !often || !stays || !self.chooses(result, FAR) {
            return None;
        }
        let name = |value| self.module.value_name(value);
        let message = format!(
            "`{}` is the same in each iteration: the loop steps by {step}, so only one of {slots} slots is used",
            name(result)
        );
        Some(
            Diagnostic::warning("same-slot", self.module.op(id).span, message)
                .also(self.module.op(round.id).span, format!("`{}` goes by {step} here", name(*variable)))
                .help(format!(
                    "divide `{}` by {step} first, to get the iteration number modulo {slots}",
                    name(*variable)
                )),
        )
    }

    /// True if a value decides which of two arms with work is taken, or which memory is used.
    fn chooses(&self, value: ValueId, far: usize) -> bool {
        let Some(users) = self.users.get(&value).filter(|_| far > 0) else { return false };
        users.iter().any(|op| {
            let data = self.module.op(*op);
            if !data.regions.is_empty() {
                let works = |region| {
                    let ops = self.module.body(*op, region).map(|block| self.module.walk(block)).unwrap_or_default();
                    ops.iter().any(|op| OpRef::of(self.module, *op).is_some_and(|op| op.pipe(self.platform).is_some()))
                };
                return matches!(flow(self.module, *op), Flow::OneOf) && (0..2).all(works);
            }
            let memory = |value: &ValueId| self.module.ty(*value).space().is_some();
            data.results.iter().any(memory) || data.results.iter().any(|result| self.chooses(*result, far - 1))
        })
    }
}
