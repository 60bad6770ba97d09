//! Walking a function path by path.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Diagnostic, Diags, Kind, OpId, Touch, ValueId};
use slipring_machine::{Pipe, Platform};
use slipring_op::ring::{PipeSpec, own_end, pipe_key, stands_on};
use slipring_op::rules::constant;
use slipring_op::{LIBRARY_EVENT, OpRef, PipeRule, RingPart, SyncAct, core_of};
use slipring_tile::Space;

use super::path::{Found, Object, Path, Tally, certain};
use crate::analysis::facts::trips;
use crate::analysis::paths::{Decision, Paths, Route};
use crate::analysis::roots::{Address, RootId, RootKind, Roots};

/// Paths followed at the same time; beyond that they are merged.
const PATHS: usize = 64;

/// Maximum number of path entries that are copied; beyond that nothing is followed.
const BUDGET: usize = 1 << 24;

pub(super) struct Walk<'m> {
    route: Route<'m>,
    platform: &'m Platform,
    roots: Roots,
    /// The tiles of each pop, with all tiles that share a byte with a buffer.
    popped: BTreeMap<OpId, Vec<RootId>>,
    /// Pipe pairs with a flag whose id is computed, and pipes that acquire a computed buffer.
    computed: BTreeSet<(Pipe, Option<Pipe>)>,
    /// Memories that the other kind of core, or a pointer, may write.
    shared: BTreeSet<Space>,
    /// Comparisons equivalent to an earlier one.
    twins: BTreeMap<ValueId, ValueId>,
    /// Conditions whose outcome is known.
    given: &'m BTreeMap<ValueId, bool>,
    budget: usize,
}

impl<'m> Paths<'m> for Walk<'m> {
    type Path = Path;

    fn route(&mut self) -> &mut Route<'m> {
        &mut self.route
    }

    fn step(&mut self, op: &OpRef<'m>, path: &mut Path) {
        self.inside(op, path);
        let mut count = |object: Object, by: i64| {
            let tally = path.objects.entry(object).or_default();
            tally.net += by;
            *if by > 0 { &mut tally.up } else { &mut tally.down } = Some(op.id);
        };
        match op.sync() {
            Some(SyncAct::Set(s)) if !self.computed.contains(&(s.from, Some(s.to))) => {
                s.id.into_iter().for_each(|id| count(Object::Flag { from: s.from, to: s.to, id }, 1));
            }
            Some(SyncAct::Wait(s)) if !self.computed.contains(&(s.from, Some(s.to))) => {
                s.id.into_iter().for_each(|id| count(Object::Flag { from: s.from, to: s.to, id }, -1));
            }
            Some(SyncAct::Get { pipe, id: Some(id), .. }) if !self.computed.contains(&(pipe, None)) => {
                count(Object::Buffer { pipe, id }, 1);
            }
            Some(SyncAct::Release { pipe, id: Some(id) }) if !self.computed.contains(&(pipe, None)) => {
                count(Object::Buffer { pipe, id }, -1);
            }
            _ => {}
        }
        self.touches(op, path);
        self.ring(op, path);
    }

    /// A loop: the findings of its first iteration, and what is known after it, whether it runs or not.
    fn repeat(&mut self, op: &OpRef<'m>, blocks: &[BlockId], path: Path) -> Path {
        let trips = trips(op);
        if trips == Some(0) || self.budget == 0 {
            return path;
        }
        let entry = self.copy(&path);
        let ends = self.blocks(blocks, vec![entry]);
        let mut found = certain(&ends, path.decided.len());
        // One arm in a later iteration may read what another arm has written in an earlier one.
        found.retain(|found, decisions| match found {
            Found::Unwritten { root, .. } if !decisions.is_empty() => {
                ends.iter().all(|end| self.is_unwritten(*root, end))
            }
            _ => true,
        });
        let mut after = Path { decided: path.decided.clone(), ..self.copy(&path) };
        after.found.extend(found);
        let objects: BTreeSet<Object> = ends.iter().flat_map(|end| end.objects.keys().copied()).collect();
        for object in objects {
            let before = path.objects.get(&object).copied().unwrap_or_default();
            let of = |end: &Path| end.objects.get(&object).copied().unwrap_or_default();
            let Some(first) = ends.first().map(of) else { continue };
            let change = first.net - before.net;
            let same = ends.iter().all(|end| (of(end).net, of(end).open) == (first.net, first.open));
            let total = match trips {
                _ if change == 0 => Some(0),
                Some(trips) => trips.checked_mul(change),
                None => None,
            };
            let open = before.open || first.open || !same || total.is_none();
            let net = before.net.saturating_add(total.unwrap_or(0));
            after.objects.insert(object, Tally { net, open, ..first });
        }
        // Anything that one iteration may have written counts as written, and nothing is known any more about slots
        // that it took or freed.
        ends.iter().for_each(|end| after.written.extend(&end.written));
        after.held.retain(|ring, tiles| {
            ends.iter().all(|end| end.held.get(ring).is_some_and(|own| own.len() == tiles.len()))
        });
        after.freed.retain(|root, _| ends.iter().all(|end| end.freed.contains_key(root)));
        after
    }

    fn bounded(&mut self, _: OpId, paths: Vec<Path>) -> Vec<Path> {
        if paths.len() > PATHS { Path::joined(paths).into_iter().collect() } else { paths }
    }

    fn decided(path: &mut Path) -> &mut Vec<Decision> {
        &mut path.decided
    }

    fn same(one: &Path, other: &Path) -> bool {
        one.same(other)
    }

    fn stopped(&self) -> bool {
        self.budget == 0
    }

    /// A copy of a path; its cost is counted.
    fn copy(&mut self, path: &Path) -> Path {
        self.budget = self.budget.saturating_sub(path.size());
        path.clone()
    }

    fn condition(&self, value: ValueId) -> ValueId {
        self.twins.get(&value).copied().unwrap_or(value)
    }

    fn fixed(&self, value: ValueId) -> Option<usize> {
        let holds = self.given.get(&value).map(|holds| i64::from(*holds));
        holds.or_else(|| constant(self.route.module, value)).map(|value| usize::from(value == 0))
    }
}

impl<'m> Walk<'m> {
    pub fn new(route: Route<'m>, platform: &'m Platform, given: &'m BTreeMap<ValueId, bool>) -> Walk<'m> {
        let roots = Roots::of(route.module, route.functions);
        let mut walk = Walk {
            route,
            platform,
            roots,
            popped: BTreeMap::new(),
            computed: BTreeSet::new(),
            shared: BTreeSet::new(),
            twins: BTreeMap::new(),
            given,
            budget: BUDGET,
        };
        walk.look_ahead();
        walk
    }

    /// Collects facts about the whole module before any path is followed.
    fn look_ahead(&mut self) {
        for (id, root) in (0..).zip(&self.roots.roots) {
            if let (RootKind::Popped, Some(op)) = (root.kind, root.op) {
                self.popped.entry(op).or_default().push(id);
            }
        }
        let mut known: BTreeMap<String, ValueId> = BTreeMap::new();
        for id in self.route.module.walk(self.route.module.top) {
            let Some(op) = OpRef::of(self.route.module, id) else { continue };
            match op.sync() {
                Some(SyncAct::Set(signal) | SyncAct::Wait(signal)) if signal.id.is_none() => {
                    self.computed.insert((signal.from, Some(signal.to)));
                }
                Some(SyncAct::Get { pipe, id: None, .. } | SyncAct::Release { pipe, id: None }) => {
                    self.computed.insert((pipe, None));
                }
                _ => {}
            }
            self.note_strangers(&op);
            self.note_twin(&op, &mut known);
        }
    }

    /// Memories with writes that the paths of this core do not identify.
    fn note_strangers(&mut self, op: &OpRef<'m>) {
        let elsewhere = stands_on(op).is_some_and(|kind| kind != self.route.kind);
        for value in op.written() {
            let Some(space) = self.route.module.ty(value).space() else { continue };
            let blurred = self.roots.get(value).iter().any(|root| {
                let root = self.roots.root(*root);
                root.kind == RootKind::Unknown || root.address == Address::Computed
            });
            if core_of(space) == self.route.kind && (elsewhere || blurred || self.roots.get(value).is_empty()) {
                self.shared.insert(space);
            }
        }
    }

    /// Treats two conditions with the same comparison as one.
    fn note_twin(&mut self, op: &OpRef<'m>, known: &mut BTreeMap<String, ValueId>) {
        let data = self.route.module.op(op.id);
        let [result] = data.results[..] else { return };
        let plain = data.regions.is_empty() && matches!(op.def.pipe, PipeRule::None) && op.sync().is_none();
        if !plain || op.def.ring.is_some() || self.route.module.ty(result).space().is_some() || data.operands.len() > 4
        {
            return;
        }
        let same: Vec<u32> = data.operands.iter().map(|value| self.condition(*value).0).collect();
        let key = format!("{} {:?} {same:?}", data.name, data.attrs);
        let first = *known.entry(key).or_insert(result);
        if first != result {
            self.twins.insert(result, first);
        }
    }

    /// Follows all paths of a function and reports what is wrong.
    pub fn follow(mut self, body: BlockId, diags: &mut Diags) {
        let mut ends = self.block(body, vec![Path::default()]);
        for path in &mut ends {
            for (object, tally) in &path.objects {
                let found = match (tally.net, tally.up, tally.down) {
                    _ if tally.open => continue,
                    (1.., Some(up), _) => Found::Surplus(*object, up),
                    (..=-1, _, Some(down)) => Found::Lack(*object, down),
                    _ => continue,
                };
                path.found.insert(found, Vec::new());
            }
        }
        if self.budget == 0 {
            let message = "not analysed completely: this function has too many paths";
            let span =
                self.route.calls.first().map(|function| self.route.module.op(*function).span).unwrap_or_default();
            return diags.push(Diagnostic::warning("not-followed", span, message));
        }
        let mut said: Vec<Diagnostic> =
            certain(&ends, 0).into_iter().map(|(found, decisions)| self.told(found, &decisions)).collect();
        let place = |diagnostic: &Diagnostic| diagnostic.primary.as_ref().map(|primary| primary.span.start);
        said.sort_by_key(|diagnostic| (place(diagnostic), diagnostic.code));
        said.dedup_by_key(|diagnostic| (place(diagnostic), diagnostic.code));
        said.into_iter().for_each(|diagnostic| diags.push(diagnostic));
    }

    /// Flags that the library uses inside an op while the program has them set.
    fn inside(&self, op: &OpRef<'m>, path: &mut Path) {
        for (from, to) in op.inside(self.platform) {
            let flag = Object::Flag { from, to, id: LIBRARY_EVENT };
            let tally = path.objects.get(&flag).copied().unwrap_or_default();
            if let (1.., Some(set), false) = (tally.net, tally.up, tally.open) {
                path.found.insert(Found::Inside { op: op.id, flag, set }, Vec::new());
            }
        }
    }

    /// The pops and frees of an op.
    fn ring(&self, op: &OpRef<'m>, path: &mut Path) {
        let (Some(part), Some(key)) = (op.ring(), pipe_key(op)) else { return };
        let slot = own_end(op).and_then(|init| PipeSpec::of(&init, self.platform));
        if slot.is_none_or(|spec| spec.pop_copies() || spec.config.auto_free) {
            return;
        }
        match part {
            RingPart::Pop(_) => {
                let tiles = self.popped.get(&op.id).cloned().unwrap_or_default();
                for root in &tiles {
                    path.freed.remove(root);
                }
                path.held.entry(key).or_default().push_back(tiles);
            }
            RingPart::Free(_) => {
                let oldest = path.held.get_mut(&key).and_then(|held| held.pop_front());
                path.freed.extend(oldest.into_iter().flatten().map(|root| (root, op.id)));
            }
            _ => {}
        }
    }

    /// The reads and writes of an op in local memory.
    fn touches(&mut self, op: &OpRef<'m>, path: &mut Path) {
        let frees = op.ring().is_some_and(|part| matches!(part, RingPart::Free(_)));
        let computes = matches!(op.pipe(self.platform), Some(Pipe::V | Pipe::M));
        for (index, spec) in op.def.schema.operands.iter().enumerate() {
            for value in op.operands(index) {
                let roots = self.roots.get(*value);
                if let ([root], false) = (roots, frees || spec.touch == Touch::Nothing) {
                    if let Some(free) = path.freed.get(root) {
                        path.found.insert(Found::AfterFree { user: op.id, free: *free }, Vec::new());
                    }
                    if computes && spec.touch == Touch::Read && self.is_unwritten(*root, path) {
                        path.found.insert(Found::Unwritten { reader: op.id, root: *root }, Vec::new());
                    }
                }
            }
        }
        path.written.extend(self.roots.written(self.route.module, op.id));
    }

    /// True for a tile of which no byte has been written, as far as the text shows.
    fn is_unwritten(&self, id: RootId, path: &Path) -> bool {
        let root = self.roots.root(id);
        if root.kind != RootKind::Declared || root.address == Address::Computed || self.shared.contains(&root.space) {
            return false;
        }
        !path.written.iter().any(|other| *other == id || self.overlap(id, *other))
    }

    fn overlap(&self, a: RootId, b: RootId) -> bool {
        let (a, b) = (self.roots.root(a), self.roots.root(b));
        // A tile without an address overlaps none, except those whose address the text does not determine.
        a.overlaps(b).unwrap_or(b.kind != RootKind::Declared || b.address == Address::Computed)
    }

    fn told(&self, found: Found, decisions: &[Decision]) -> Diagnostic {
        let where_ = self.path_text(decisions);
        let at = |op: OpId| self.route.module.op(op).span;
        match found {
            Found::Surplus(object @ Object::Flag { to, .. }, op) => Diagnostic::error(
                slipring_ir::Kind::FlagLeftSet,
                at(op),
                format!("{} is set but not waited for{where_}", self.name(object)),
            )
            .help(format!(
                "every set needs a wait of {to} on the same path, or the next kernel starts with the flag set"
            )),
            Found::Surplus(object, op) => Diagnostic::error(
                slipring_ir::Kind::TokenNotReleased,
                at(op),
                format!("{} is got and not released{where_}", self.name(object)),
            )
            .help("release it on every path that gets it"),
            Found::Lack(object @ Object::Flag { from, .. }, op) => Diagnostic::error(
                slipring_ir::Kind::FlagNeverSet,
                at(op),
                format!("{} is waited for and not set{where_}: the wait never ends", self.name(object)),
            )
            .help(format!("let {from} set it on the same path")),
            Found::Lack(object, op) => Diagnostic::error(
                slipring_ir::Kind::TokenNotHeld,
                at(op),
                format!("{} is released but was not acquired{where_}", self.name(object)),
            )
            .help("get it on every path that releases it"),
            Found::Inside { op, flag, set } => {
                let name = &self.route.module.op(op).name;
                let message = format!(
                    "`{name}` sets and waits for {} itself, which is set but not waited for{where_}",
                    self.name(flag)
                );
                let error = Diagnostic::error(Kind::LibraryFlag, at(op), message).also(at(set), "set here");
                let Object::Flag { from, to, id } = flag else { return error };
                error.help(format!(
                    "use another id than {id} from {from} to {to}, or wait for the flag before this op: the set is lost, or the \
                     wait of the library takes the signal of the program"
                ))
            }
            Found::AfterFree { user, free } => Diagnostic::error(
                slipring_ir::Kind::UseAfterFree,
                at(user),
                format!("the slot of this tile has been given back{where_}: the producer may overwrite it"),
            )
            .also(at(free), "given back here")
            .help("free it after the last use of the tile"),
            Found::Unwritten { reader, root } => {
                let value = self.roots.root(root).value;
                let message = format!(
                    "`{}` is computed with before anything is written into it{where_}",
                    self.route.module.value_name(value)
                );
                Diagnostic::warning("uninitialised-tile", at(reader), message)
                    .also(self.route.module.value(value).span, "declared here")
                    .help("load it, or write it, on every path before")
            }
        }
    }

    fn name(&self, object: Object) -> String {
        match object {
            Object::Flag { from, to, id } => format!("flag {id} from {from} to {to}"),
            Object::Buffer { pipe, id } => format!("buffer {id} of {pipe}"),
        }
    }

    /// ` where `%c` is false`.
    fn path_text(&self, decisions: &[Decision]) -> String {
        let each = decisions.iter().map(|(value, arm)| {
            let name = self.route.module.value_name(*value);
            match self.route.module.ty(*value) {
                ty if *ty == slipring_ir::Type::I1 => format!("`{name}` is {}", *arm == 0),
                _ => format!("`{name}` takes arm {arm}"),
            }
        });
        let all: Vec<String> = each.collect();
        if all.is_empty() { String::new() } else { format!(" where {}", all.join(" and ")) }
    }
}
