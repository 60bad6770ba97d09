//! Every popped tile must be freed, on every path, before the ring wraps around.
//!
//! The consumer's function is followed path by path, including calls, with the number of slots it holds. A branch
//! splits a path only if its arms differ in what they pop and free; the same condition met again takes the same arm. A
//! loop with a known trip count counts in full. A loop with an unknown one, or whose iterations differ, adds an unknown
//! number of pops or frees: then only errors that exist whatever that number is are reported.

use slipring_ir::{BlockId, Diags, Module, OpId, Span};
use slipring_machine::Platform;
use slipring_op::ring::{PipeKey, consumer, pipe_key};
use slipring_op::{OpRef, RingPart};
use slipring_program::Direction;
use slipring_pto as pto;

use crate::analysis::facts::{Functions, counted, trips};
use crate::analysis::paths::{Decision, Paths, Route};
use crate::analysis::rings::{RingOp, consumes, pipe};

/// Paths followed at the same time; beyond that they are merged.
const PATHS: usize = 64;

/// Checks the consumer's end of every ring.
pub(super) fn check(
    module: &Module,
    functions: &Functions,
    all: &[RingOp<'_>],
    platform: &Platform,
    diags: &mut Diags,
) {
    for init in all.iter().filter(|r| r.part.makes_end()) {
        let Some(spec) = pipe(&init.op, platform) else { continue };
        for direction in [Direction::C2V, Direction::V2C] {
            let kind = consumer(direction);
            // A pipe that frees automatically has no frees in the text.
            if !spec.has(direction) || !consumes(&init.op, direction) || spec.config.auto_free {
                continue;
            }
            let Some(body) = module.body(init.function, 0) else { continue };
            let mut walk = Walk {
                route: Route { module, functions, kind, calls: vec![init.function] },
                ring: (spec.key, direction),
                init: init.op,
                slots: i64::from(spec.slots),
                places: i64::from(spec.local_slots()),
                reported: false,
                diags,
            };
            let paths = walk.block(body, vec![Path::default()]);
            walk.end(&paths);
        }
    }
}

/// The facts known on one path.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Path {
    /// Slots held, apart from unknown numbers of pops and frees.
    held: i64,
    /// The pops that hold them, oldest first, as far as they are known.
    pops: Vec<OpId>,
    /// A loop that may have popped arbitrarily more than it freed.
    more: Option<OpId>,
    /// A loop that may have freed arbitrarily more than it popped.
    less: Option<OpId>,
    /// Conditions decided on the path.
    decided: Vec<Decision>,
}

impl Path {
    fn same_count(&self, other: &Path) -> bool {
        (self.held, self.more, self.less) == (other.held, other.more, other.less)
    }
}

struct Walk<'m, 'd> {
    route: Route<'m>,
    ring: (PipeKey, Direction),
    init: OpRef<'m>,
    slots: i64,
    /// Landing slots of tiles from global memory; otherwise the number of slots.
    places: i64,
    /// One report per ring: anything after the first error is noise.
    reported: bool,
    diags: &'d mut Diags,
}

impl<'m> Paths<'m> for Walk<'m, '_> {
    type Path = Path;

    fn route(&mut self) -> &mut Route<'m> {
        &mut self.route
    }

    fn step(&mut self, op: &OpRef<'m>, path: &mut Path) {
        let (pipe, direction) = self.ring;
        match op.ring().filter(|_| pipe_key(op) == Some(pipe)) {
            Some(RingPart::Pop(d)) if d == direction => self.pop(op, path),
            Some(RingPart::Free(d)) if d == direction => self.free(op, path),
            _ => {}
        }
    }

    fn repeat(&mut self, op: &OpRef<'_>, blocks: &[BlockId], path: Path) -> Path {
        let mut at = path.clone();
        // As often as needed to fill the ring, or to see that every iteration frees what it took.
        let trips = trips(op);
        for iteration in 0..=self.slots {
            if trips.is_some_and(|n| iteration >= n) {
                return Path { decided: path.decided, ..at };
            }
            let ends = self.blocks(blocks, vec![at.clone()]);
            if self.reported {
                return path;
            }
            let Some((first, rest)) = ends.split_first() else { return path };
            if rest.iter().any(|p| !p.same_count(first)) {
                return self.unknown(op, path, &ends);
            }
            if first.same_count(&at) {
                return Path { pops: first.pops.clone(), decided: path.decided, ..at };
            }
            if trips.is_none() {
                return self.unknown(op, path, &ends);
            }
            at = Path { decided: path.decided.clone(), ..first.clone() };
        }
        self.unknown(op, path, &[at])
    }

    /// Too many paths become one with an unknown number of pops and frees.
    fn bounded(&mut self, op: OpId, paths: Vec<Path>) -> Vec<Path> {
        match paths.first().filter(|_| paths.len() > PATHS) {
            Some(first) => vec![Path { more: first.more.or(Some(op)), less: first.less.or(Some(op)), ..first.clone() }],
            None => paths,
        }
    }

    fn decided(path: &mut Path) -> &mut Vec<Decision> {
        &mut path.decided
    }

    fn same(one: &Path, other: &Path) -> bool {
        one.same_count(other)
    }

    fn stopped(&self) -> bool {
        self.reported
    }
}

impl<'m> Walk<'m, '_> {
    fn pop(&mut self, op: &OpRef<'_>, path: &mut Path) {
        path.held += 1;
        path.pops.push(op.id);
        if path.held > self.places && self.places < self.slots && path.less.is_none() {
            let error = op
                .error(
                    "landing-full",
                    format!("this tile lands on one that is held: the pipe has {} places", self.places),
                )
                .label(format!("{} popped tiles have not been freed{}", path.held - 1, self.path_text(path)))
                .help("more local slots, or free a tile before the next pop");
            self.report(error);
        }
        if path.held > self.slots && path.less.is_none() {
            let (held, free) = (path.held - 1, self.free_name());
            let slots = match self.slots {
                1 => "the only slot of the ring is".to_string(),
                slots => format!("all {slots} slots of the ring are"),
            };
            let have = if held == 1 { "has" } else { "have" };
            let error = op
                .error("ring-held", format!("{slots} held here: this pop waits forever"))
                .label(format!("{} {have} not been freed{}", counted(held, "popped tile"), self.path_text(path)))
                .help(format!("put `{free}` after the last use of a popped tile"));
            self.report(error);
        }
    }

    fn free(&mut self, op: &OpRef<'_>, path: &mut Path) {
        path.held -= 1;
        if !path.pops.is_empty() {
            path.pops.remove(0);
        }
        if path.held < 0 && path.more.is_none() {
            let error = op
                .error("free-without-pop", format!("`{}` frees a slot that has not been popped", op.def.schema.name))
                .label(format!("every popped slot is free again{}", self.path_text(path)));
            self.report(error);
        }
    }

    fn report(&mut self, error: slipring_ir::Diagnostic) {
        if !self.reported {
            self.diags.push(error);
        }
        self.reported = true;
    }

    /// The path after a loop whose effect depends on its trip count, or on conditions inside.
    fn unknown(&self, op: &OpRef<'_>, path: Path, ends: &[Path]) -> Path {
        let gains = ends.iter().any(|end| end.held > path.held || (end.more.is_some() && path.more.is_none()));
        let loses = ends.iter().any(|end| end.held < path.held || (end.less.is_some() && path.less.is_none()));
        Path { more: path.more.or(gains.then_some(op.id)), less: path.less.or(loses.then_some(op.id)), ..path }
    }

    fn end(&mut self, paths: &[Path]) {
        for path in paths {
            let (pop, free) = (self.pop_name(), self.free_name());
            if path.held > 0 && path.less.is_none() {
                let Some(op) = path.pops.last().and_then(|op| OpRef::of(self.route.module, *op)) else { continue };
                let error = op
                    .error("pop-without-free", format!("`{pop}` requires an explicit matching `{free}`"))
                    .label(format!("this tile is never freed{}", self.path_text(path)))
                    .help(format!("put `{free}` after the last use of the popped tile"));
                self.report(error);
            } else if let (0, Some(culprit), None) = (path.held, path.more, path.less) {
                let Some(op) = OpRef::of(self.route.module, culprit) else { continue };
                let start = op.span().start;
                let error = slipring_ir::Diagnostic::error(
                    "pop-without-free",
                    Span::new(start, start + 1),
                    format!("`{pop}` requires an explicit matching `{free}`"),
                )
                .label("iterations of this loop may pop more tiles than they free, and nothing frees them after it")
                .help(format!("put `{free}` after the last use of the popped tile, on every path"));
                self.report(error);
            }
        }
    }

    /// `, where `%c` is false`.
    fn path_text(&self, path: &Path) -> String {
        let said = |(value, arm): &Decision| format!("`{}` is {}", self.route.module.value_name(*value), *arm == 0);
        let each = path.decided.iter().map(said);
        let conditions: Vec<String> = each.collect();
        if conditions.is_empty() { String::new() } else { format!(" where {}", conditions.join(" and ")) }
    }

    /// True if the pipe is a value.
    fn by_value(&self) -> bool {
        !self.init.module.op(self.init.id).results.is_empty()
    }

    /// The spelling of a free for this pipe.
    fn free_name(&self) -> &'static str {
        let def = if self.by_value() { &pto::TFREE } else { pto::free_of(self.ring.1) };
        def.schema.name
    }

    /// The spelling of a pop for this pipe.
    fn pop_name(&self) -> &'static str {
        let def = if self.by_value() { &pto::TPOP } else { pto::pop_of(self.ring.1) };
        def.schema.name
    }
}
