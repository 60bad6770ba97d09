//! Candidate fixes of a finding: flags between two pipes, a barrier, a free in another place, a deeper ring.
//!
//! Proposals are unsound candidates; only verified ones are reported.

use std::collections::BTreeSet;
use std::sync::Arc;

use slipring_ir::{BlockId, Diagnostic, Flow, Kind, Module, OpId, Source, Span};
use slipring_machine::{Pipe, Platform};
use slipring_op::ring::{PipeSpec, words};
use slipring_op::{OpRef, RingPart, SyncAct};
use slipring_pto as pto;

use super::draft::Change;

/// Edits that belong together.
pub(super) type Proposal = Vec<Change>;

/// A text for which edits are proposed.
pub(super) struct Scene<'a> {
    pub module: &'a Module,
    pub platform: &'a Platform,
}

impl<'a> Scene<'a> {
    /// Candidate fixes of a finding, smallest edit first.
    pub fn proposals(&self, finding: &Diagnostic) -> Vec<Proposal> {
        let place = |at: usize| match at {
            0 => finding.primary.as_ref().and_then(|label| self.op_at(label.span)),
            at => finding.secondary.get(at - 1).and_then(|label| self.op_at(label.span)),
        };
        let (Some(first), second) = (place(0), place(1)) else { return Vec::new() };
        let mut all = match self.op(first).and_then(|op| op.sync()) {
            Some(SyncAct::Set(flag)) => self.each_id(flag.id, |id| self.of_set(first, [flag.from, flag.to], id)),
            Some(SyncAct::Wait(flag)) => self.each_id(flag.id, |id| self.of_wait(first, [flag.from, flag.to], id)),
            _ => Vec::new(),
        };
        if let Some(second) = second {
            all.extend(self.of_free(first, second));
            all.extend(self.of_order(second, first));
        } else if all.is_empty() {
            // An op against itself, in an earlier iteration.
            all.extend(self.of_order(first, first));
        }
        all.extend(self.of_rings(finding));
        let mut seen: Vec<Proposal> = Vec::new();
        all.retain(|proposal| {
            let new = !proposal.is_empty() && !seen.contains(proposal);
            seen.extend(new.then(|| proposal.clone()));
            new
        });
        all
    }

    /// Proposals for the id of an op, or for every id if it is computed.
    fn each_id(&self, id: Option<u32>, of: impl Fn(u32) -> Vec<Proposal>) -> Vec<Proposal> {
        match id {
            Some(id) => of(id),
            None => (0..self.platform.sync.event_ids).flat_map(of).collect(),
        }
    }

    fn op(&self, id: OpId) -> Option<OpRef<'a>> {
        OpRef::of(self.module, id)
    }

    fn op_at(&self, span: Span) -> Option<OpId> {
        self.module.walk(self.module.top).into_iter().find(|op| self.module.op(*op).span == span)
    }

    /// The op, or the pipe work that contains it.
    fn anchor(&self, id: OpId) -> OpId {
        let around = std::iter::successors(self.module.parent_op(id), |op| self.module.parent_op(*op));
        let whole = around.filter(|op| self.pipe(*op).is_some()).last();
        whole.unwrap_or(id)
    }

    fn pipe(&self, id: OpId) -> Option<Pipe> {
        self.op(id)?.pipe(self.platform)
    }

    /// An op and all ops that contain it, up to its function.
    fn chain(&self, id: OpId) -> Vec<(BlockId, OpId)> {
        let inside = |op: &OpId| !self.module.is_function(*op);
        let around = std::iter::successors(Some(id), |op| self.module.parent_op(*op)).take_while(inside);
        around.filter_map(|op| Some((self.module.op(op).block?, op))).collect()
    }

    /// The blocks that contain both ops, innermost first, with the op of each block that contains or is each of them.
    fn common(&self, a: OpId, b: OpId) -> Vec<(BlockId, OpId, OpId)> {
        let other = self.chain(b);
        let both = |(block, op): (BlockId, OpId)| {
            let (_, own) = other.iter().find(|(its, _)| *its == block)?;
            Some((block, op, *own))
        };
        self.chain(a).into_iter().filter_map(both).collect()
    }

    /// The loop whose body is this block.
    fn loop_of(&self, block: BlockId) -> Option<OpId> {
        let parent = self.module.block_parent(block)?;
        let schema = self.module.op(parent).schema()?;
        (schema.flow == Flow::Repeat).then_some(parent)
    }

    fn position(&self, op: OpId) -> usize {
        self.module.position(op).map_or(0, |(_, at)| at)
    }

    /// The lines of an op, including its regions, if it shares them with nothing else.
    fn lines(&self, op: OpId) -> Option<std::ops::Range<usize>> {
        let (source, start) = (&self.module.source, self.module.op(op).span.start as usize);
        let end = self.end(op)?;
        let text = &source.text;
        let before = text.get(..start)?.rsplit('\n').next()?;
        let behind = text.get(end..)?.split('\n').next()?.trim();
        let alone = before.trim().is_empty() && (behind.is_empty() || behind.starts_with("//"));
        let line = |at: usize| source.line_column(at as u32).0 - 1;
        alone.then(|| line(start)..line(end.max(start + 1) - 1) + 1)
    }

    /// The byte after an op.
    fn end(&self, op: OpId) -> Option<usize> {
        let data = self.module.op(op);
        let Some(region) = data.regions.last() else { return Some(data.span.end as usize) };
        let last = self.module.region(*region).blocks.last().and_then(|block| self.module.block(*block).ops.last());
        let inside = match last {
            Some(last) => self.end(*last)?,
            None => data.span.end as usize,
        };
        let mut at = inside;
        for line in self.module.source.text.get(inside..)?.split_inclusive('\n') {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(brace) = code.find('}') {
                return Some(at + brace + 1);
            }
            at += line.len();
        }
        None
    }

    fn before(&self, op: OpId, text: &str) -> Option<Change> {
        Some(Change::Before(self.lines(op)?.start, text.into()))
    }

    fn after(&self, op: OpId, text: &str) -> Option<Change> {
        Some(Change::After(self.lines(op)?.end - 1, text.into()))
    }

    /// The text of a newly made op.
    fn written(make: impl FnOnce(&mut Module) -> OpId) -> String {
        let mut module = Module::new(Arc::new(Source::new("", "")));
        let op = make(&mut module);
        slipring_ir::text::print_op(&module, op).trim().to_string()
    }

    fn flag(pipes: [Pipe; 2], id: u32) -> [String; 2] {
        let span = Span::default();
        [
            Scene::written(|module| pto::set_flag(module, pipes, id, span)),
            Scene::written(|module| pto::wait_flag(module, pipes, id, span)),
        ]
    }

    fn barrier(pipe: Option<Pipe>) -> String {
        Scene::written(|module| pto::barrier(module, pipe, Span::default()))
    }

    /// Ids of flags between two pipes that the text uses, and an unused one.
    fn ids(&self, pipes: [Pipe; 2]) -> (BTreeSet<u32>, Option<u32>) {
        let mut used = BTreeSet::new();
        let mut computed = false;
        for id in self.module.walk(self.module.top) {
            let Some(SyncAct::Set(flag) | SyncAct::Wait(flag)) = self.op(id).and_then(|op| op.sync()) else { continue };
            if [flag.from, flag.to] == pipes {
                used.extend(flag.id);
                computed |= flag.id.is_none();
            }
        }
        let free = (0..self.platform.sync.event_ids).find(|id| !used.contains(id)).filter(|_| !computed);
        (used, free)
    }

    /// Orders `old` before `new`.
    fn of_order(&self, old: OpId, new: OpId) -> Vec<Proposal> {
        let (old, new) = (self.anchor(old), self.anchor(new));
        match (self.pipe(old), self.pipe(new)) {
            (Some(from), Some(to)) => self.ordered(old, new, [from, to]),
            _ => Vec::new(),
        }
    }

    fn ordered(&self, old: OpId, new: OpId, pipes: [Pipe; 2]) -> Vec<Proposal> {
        let mut all = Vec::new();
        let common = self.common(old, new);
        let Some((_, _, last)) = common.first().copied() else { return all };
        if pipes[0] == pipes[1] {
            all.extend(self.before(last, &Scene::barrier(Some(pipes[0]))).map(|change| vec![change]));
        } else {
            let (used, free) = self.ids(pipes);
            // One of the two already exists.
            for id in used {
                let [set, wait] = Scene::flag(pipes, id);
                all.extend(self.before(new, &wait).map(|change| vec![change]));
                all.extend(self.after(old, &set).map(|change| vec![change]));
            }
            if let Some(id) = free {
                all.extend(self.pairs(&common, pipes, id));
            }
        }
        all.extend(self.before(last, &Scene::barrier(None)).map(|change| vec![change]));
        all
    }

    /// A flag between the two: in a common block, or from iteration to iteration of an enclosing loop.
    fn pairs(&self, common: &[(BlockId, OpId, OpId)], pipes: [Pipe; 2], id: u32) -> Vec<Proposal> {
        let [set, wait] = Scene::flag(pipes, id);
        let mut all = Vec::new();
        if let Some((_, old, new)) = common.first().copied()
            && self.position(old) < self.position(new)
        {
            let pair = [self.after(old, &set), self.before(new, &wait)];
            all.extend(pair.into_iter().collect::<Option<Proposal>>());
        }
        for (block, old, new) in common.iter().copied() {
            let Some(around) = self.loop_of(block) else { continue };
            let pair =
                [self.before(around, &set), self.before(new, &wait), self.after(old, &set), self.after(around, &wait)];
            all.extend(pair.into_iter().collect::<Option<Proposal>>());
        }
        all
    }

    /// The ops of a function, excluding those inside pipe work, ordered by distance from an op: ops after it precede
    /// those before it.
    fn near(&self, op: OpId) -> Vec<OpId> {
        let function = self.chain(op).last().map(|(block, _)| *block);
        let all = function.map_or_else(Vec::new, |block| self.module.walk(block));
        let own = all.iter().position(|other| *other == op).unwrap_or(0);
        let mut list: Vec<(usize, OpId)> = all
            .iter()
            .enumerate()
            .filter(|(_, other)| self.anchor(**other) == **other)
            .map(|(at, other)| (if at > own { (at - own) * 2 } else { (own - at) * 2 + 1 }, *other))
            .collect();
        list.sort_unstable();
        list.into_iter().map(|(_, op)| op).collect()
    }

    fn has_regions(&self, op: OpId) -> bool {
        !self.module.op(op).regions.is_empty() && self.pipe(op).is_none()
    }

    /// One set too many, or too early: adds a wait for it before work of the waiting pipe, or after a loop or branch.
    fn of_set(&self, set: OpId, pipes: [Pipe; 2], id: u32) -> Vec<Proposal> {
        let mut all = Vec::new();
        let [_, wait] = Scene::flag(pipes, id);
        for op in self.near(set) {
            let user = (self.pipe(op) == Some(pipes[1])).then(|| self.before(op, &wait));
            let behind = self.has_regions(op).then(|| self.after(op, &wait));
            all.extend([user, behind].into_iter().flatten().flatten().map(|change| vec![change]));
        }
        all.extend(self.after(set, &wait).map(|change| vec![change]));
        all.extend(self.lines(set).map(|lines| vec![Change::Remove(lines)]));
        // The previous signal must be consumed first: an acknowledgement guarantees that.
        let taken = self.module.walk(self.module.top).into_iter().filter(|op| {
            let sync = self.op(*op).and_then(|op| op.sync());
            matches!(sync, Some(SyncAct::Wait(flag)) if [flag.from, flag.to] == pipes && flag.id == Some(id))
        });
        let back = [pipes[1], pipes[0]];
        if let (_, Some(free)) = self.ids(back) {
            all.extend(taken.flat_map(|wait| self.pairs(&self.common(wait, set), back, free)));
        }
        all
    }

    /// A wait for a flag that nobody sets, or sets too late: adds a set after work of the setting pipe, or before a
    /// loop or branch.
    fn of_wait(&self, wait: OpId, pipes: [Pipe; 2], id: u32) -> Vec<Proposal> {
        let mut all = Vec::new();
        let [set, _] = Scene::flag(pipes, id);
        for op in self.near(wait) {
            let source = (self.pipe(op) == Some(pipes[0])).then(|| self.after(op, &set));
            let ahead = self.has_regions(op).then(|| self.before(op, &set));
            all.extend([source, ahead].into_iter().flatten().flatten().map(|change| vec![change]));
        }
        all.extend(self.before(wait, &set).map(|change| vec![change]));
        all.extend(self.lines(wait).map(|lines| vec![Change::Remove(lines)]));
        all
    }

    /// A slot that is freed too early: moves its free after the use, or to the end of its block.
    fn of_free(&self, user: OpId, free: OpId) -> Vec<Proposal> {
        let frees = self.op(free).and_then(|op| op.ring()).is_some_and(|part| matches!(part, RingPart::Free(_)));
        if !frees {
            return Vec::new();
        }
        let Some(from) = self.lines(free) else { return Vec::new() };
        let behind = |op: OpId| {
            let to = self.lines(op)?.end - 1;
            Some(vec![Change::Move { from: from.clone(), to }])
        };
        let anchor = self.anchor(user);
        let block = self.module.op(free).block;
        let users =
            self.common(free, anchor).into_iter().filter(|(own, ..)| Some(*own) == block).map(|(_, _, user)| user);
        let later = block.into_iter().flat_map(|block| self.module.block(block).ops.iter().copied());
        users.chain(later.filter(|op| self.position(*op) > self.position(free))).filter_map(behind).collect()
    }

    /// Doubles the number of slots in each ring with a depth, with memory for them.
    fn of_rings(&self, finding: &Diagnostic) -> Vec<Proposal> {
        if !matches!(finding.kind, Kind::Deadlock(_)) {
            return Vec::new();
        }
        let mut deeper = Vec::new();
        for id in self.module.walk(self.module.top) {
            let Some(part) = self.op(id).and_then(|op| op.ring()) else { continue };
            let attr = if part.makes_end() {
                words::SLOTS
            } else if part.reserves() {
                "size"
            } else {
                continue;
            };
            let known = self.module.op(id).attrs.get(attr).and_then(slipring_ir::Attr::as_int);
            let meant = self.op(id).and_then(|op| PipeSpec::of(&op, self.platform)).map(|spec| i64::from(spec.slots));
            let number = known.or(meant);
            deeper.extend(number.and_then(|number| self.with_number(id, attr, number * 2)));
        }
        vec![deeper]
    }

    /// Changes an integer attribute of an op.
    fn with_number(&self, op: OpId, attr: &str, number: i64) -> Option<Change> {
        let lines = self.lines(op)?;
        let all: Vec<&str> = self.module.source.text.split('\n').collect();
        for at in lines {
            let line = *all.get(at)?;
            let Some(found) =
                line.find(attr).filter(|found| !line[..*found].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            else {
                continue;
            };
            let behind = &line[found + attr.len()..];
            let digits = behind.trim_start().strip_prefix('=')?.trim_start();
            let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            let changed = format!("{}{attr} = {number}{rest}", &line[..found]);
            return Some(Change::Replace(at, changed));
        }
        // It is not written yet: it becomes the first attribute.
        let (at, line) =
            self.lines(op)?.find_map(|at| Some((at, all.get(at)?))).filter(|(_, line)| line.contains('{'))?;
        Some(Change::Replace(at, line.replacen('{', &format!("{{{attr} = {number}, "), 1)))
    }
}
