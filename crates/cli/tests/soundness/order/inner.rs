//! Random vector functions: loads, stores under masks, scalar accesses, barriers of all types, loops that carry values.

mod ends;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::pipes::Random;
use super::{Before, Count, Lines, Said, lines, said};
use crate::dice::Dice;
use crate::soundness::random::dice;

pub use ends::ends;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Vld,
    Vst,
    Ld,
    St,
}

use Kind::{Ld, St, Vld, Vst};

/// A statement. Values are numbered and assigned once; addresses count elements of 4 bytes, and `by` is the increment
/// of an address in each iteration of the enclosing loop.
#[derive(Clone, PartialEq, Debug)]
enum Act {
    Load { to: usize, at: u64, by: u64 },
    Add { to: usize, from: [usize; 2] },
    Store { from: usize, at: u64, by: u64, lanes: u64 },
    LoadScalar { to: usize, at: u64 },
    Spread { to: usize, from: usize },
    StoreScalar { from: Option<usize>, at: u64 },
    Barrier(&'static str),
    Loop { times: u64, body: Vec<Act>, carry: Option<Carry> },
}

/// A value that a loop carries: its names before the first iteration, in each iteration, for the next iteration, and
/// after the last one.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Carry {
    first: usize,
    inside: usize,
    next: usize,
    last: usize,
}

/// The pairs that a barrier orders, according to its name.
fn pairs(barrier: &str) -> Vec<(Kind, Kind)> {
    let kind = |name: &str| match name {
        "VLD" => Vld,
        "VST" => Vst,
        "LD" => Ld,
        _ => St,
    };
    match barrier {
        "VV_ALL" => vec![(Vst, Vld), (Vld, Vst), (Vst, Vst)],
        "VS_ALL" => vec![(Vst, Ld), (Vld, St), (Vst, St)],
        "SV_ALL" => vec![(St, Vld), (Ld, Vst), (St, Vst)],
        _ => {
            let (first, second) = barrier.split_once('_').unwrap();
            vec![(kind(first), kind(second))]
        }
    }
}

const BARRIERS: [&str; 12] = [
    "VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST", "SV_ALL", "ST_VLD", "LD_VST",
    "ST_VST",
];

/// An event: an instance of a statement.
#[derive(Clone, Debug)]
struct Event {
    line: usize,
    /// The position of its statement: indices from the outermost list on.
    path: Vec<usize>,
    /// Its access: the kind, and the bytes.
    access: Option<(Kind, u64, u64)>,
    barrier: Option<&'static str>,
    /// Events whose results it uses.
    from: Vec<usize>,
}

/// A program: its text, and its events.
struct Program {
    text: String,
    events: Vec<Event>,
}

struct Writer {
    text: String,
    line: usize,
    /// The line of each statement, by its path.
    lines: BTreeMap<Vec<usize>, usize>,
    names: usize,
}

const V: &str = "!pto.vreg<64xf32>";

impl Writer {
    fn put(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.line += 1;
    }

    /// The name of the address of an access.
    fn place(&mut self, at: u64, by: u64) -> String {
        self.names += 1;
        let name = format!("p{}", self.names);
        self.put(&format!("    %{name}a = arith.constant {at} : index"));
        if by == 0 {
            return format!("{name}a");
        }
        self.put(&format!("    %{name}b = arith.constant {by} : index"));
        self.put(&format!("    %{name}c = arith.muli %i, %{name}b : index"));
        self.put(&format!("    %{name} = arith.addi %{name}a, %{name}c : index"));
        name
    }

    fn acts(&mut self, acts: &[Act], path: &mut Vec<usize>) {
        for (number, act) in acts.iter().enumerate() {
            path.push(number);
            self.act(act, path);
            path.pop();
        }
    }

    fn act(&mut self, act: &Act, path: &mut Vec<usize>) {
        let text = match act {
            Act::Load { to, at, by } => {
                let place = self.place(*at, *by);
                format!("    %v{to} = pto.vlds %u[%{place}] : !pto.ptr<f32, ub> -> {V}")
            }
            Act::Add { to, from: [a, b] } => {
                format!("    %v{to} = pto.vadd %v{a}, %v{b}, %all : {V}, {V}, !pto.mask<b32> -> {V}")
            }
            Act::Store { from, at, by, lanes } => {
                let place = self.place(*at, *by);
                format!("    pto.vsts %v{from}, %u[%{place}], %m{lanes} : {V}, !pto.ptr<f32, ub>, !pto.mask<b32>")
            }
            Act::LoadScalar { to, at } => {
                let place = self.place(*at, 0);
                format!("    %v{to} = pto.load_scalar %u[%{place}] : !pto.ptr<f32, ub> -> f32")
            }
            Act::Spread { to, from } => {
                format!("    %v{to} = pto.vdup %v{from}, %all : f32, !pto.mask<b32> -> {V}")
            }
            Act::StoreScalar { from, at } => {
                let place = self.place(*at, 0);
                let value = from.map_or("f1".into(), |from| format!("v{from}"));
                format!("    pto.store_scalar %{value}, %u[%{place}] : !pto.ptr<f32, ub>, f32")
            }
            Act::Barrier(name) => format!("    pto.mem_bar \"{name}\""),
            Act::Loop { times, body, carry } => {
                self.names += 1;
                let bound = self.names;
                self.put(&format!("    %n{bound} = arith.constant {times} : index"));
                let head = format!("scf.for %i = %c0 to %n{bound} step %c1");
                match carry {
                    None => self.put(&format!("    {head} {{")),
                    Some(Carry { first, inside, last, .. }) => {
                        self.put(&format!("    %v{last} = {head} iter_args(%v{inside} = %v{first}) -> ({V}) {{"));
                    }
                }
                self.acts(body, path);
                if let Some(Carry { next, .. }) = carry {
                    self.put(&format!("    scf.yield %v{next} : {V}"));
                }
                self.put("    }");
                return;
            }
        };
        self.put(&text);
        self.lines.insert(path.clone(), self.line);
    }
}

/// Unrolls the loops.
struct Unroll<'a> {
    lines: &'a BTreeMap<Vec<usize>, usize>,
    events: Vec<Event>,
    /// The last event that assigned each value.
    given: BTreeMap<usize, usize>,
}

impl Unroll<'_> {
    fn acts(&mut self, acts: &[Act], path: &mut Vec<usize>, round: u64) {
        for (number, act) in acts.iter().enumerate() {
            path.push(number);
            if let Act::Loop { times, body, carry } = act {
                if let Some(carry) = carry {
                    self.given.insert(carry.inside, self.given[&carry.first]);
                }
                for round in 0..*times {
                    self.acts(body, path, round);
                    if let Some(carry) = carry {
                        self.given.insert(carry.inside, self.given[&carry.next]);
                    }
                }
                if let Some(carry) = carry {
                    self.given.insert(carry.last, self.given[&carry.inside]);
                }
            } else {
                self.event(act, path, round);
            }
            path.pop();
        }
    }

    fn event(&mut self, act: &Act, path: &[usize], round: u64) {
        let run = |kind, at: u64, elements: u64| Some((kind, at * 4, (at + elements) * 4));
        let (mut access, mut barrier, mut from, mut to) = (None, None, Vec::new(), None);
        match act {
            Act::Load { to: value, at, by } => (access, to) = (run(Vld, at + by * round, 64), Some(*value)),
            Act::Add { to: value, from: both } => (from, to) = (both.to_vec(), Some(*value)),
            Act::Store { from: value, at, by, lanes } => {
                (access, from) = (run(Vst, at + by * round, *lanes), vec![*value]);
            }
            Act::LoadScalar { to: value, at } => (access, to) = (run(Ld, *at, 1), Some(*value)),
            Act::Spread { to: value, from: scalar } => (from, to) = (vec![*scalar], Some(*value)),
            Act::StoreScalar { from: value, at } => {
                (access, from) = (run(St, *at, 1), value.iter().copied().collect());
            }
            Act::Barrier(name) => barrier = Some(*name),
            Act::Loop { .. } => {}
        }
        let from = from.iter().map(|value| self.given[value]).collect();
        self.events.push(Event { line: self.lines[path], path: path.to_vec(), access, barrier, from });
        if let Some(to) = to {
            self.given.insert(to, self.events.len() - 1);
        }
    }
}

fn program(acts: &[Act]) -> Program {
    let mut writer = Writer { text: String::new(), line: 0, lines: BTreeMap::new(), names: 0 };
    for line in [
        "// args: rand:f32[1024],seed=1 zeros:f32[1024]",
        "module attributes {pto.target_arch = \"a5\", pto.kernel_kind = #pto.kernel_kind<vector>} {",
        "func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.aicore} {",
        "  %c0 = arith.constant 0 : index",
        "  %c1 = arith.constant 1 : index",
        "  %f1 = arith.constant 1.5 : f32",
        "  %z = arith.constant 0 : i64",
        "  %one = arith.constant 1 : i64",
        "  %b = arith.constant 4096 : i64",
        "  %u = pto.castptr %z : i64 -> !pto.ptr<f32, ub>",
        "  pto.mte_gm_ub %x, %u, %z, %b nburst(%one, %b, %b) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64",
        "  pto.barrier <PIPE_ALL>",
        "  pto.vecscope {",
        "    %all = pto.pset_b32 \"PAT_ALL\" : !pto.mask<b32>",
    ] {
        writer.put(line);
    }
    for (lanes, name) in [(64, "PAT_ALL"), (32, "PAT_VL32"), (8, "PAT_VL8"), (3, "PAT_VL3")] {
        writer.put(&format!("    %m{lanes} = pto.pset_b32 \"{name}\" : !pto.mask<b32>"));
    }
    writer.acts(acts, &mut Vec::new());
    for line in [
        "  }",
        "  pto.barrier <PIPE_ALL>",
        "  pto.mte_ub_gm %u, %y, %b nburst(%one, %b, %b) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64",
        "  return",
        "}",
        "}",
    ] {
        writer.put(line);
    }
    let mut unroll = Unroll { lines: &writer.lines, events: Vec::new(), given: BTreeMap::new() };
    unroll.acts(acts, &mut Vec::new(), 0);
    Program { events: unroll.events, text: writer.text }
}

impl Program {
    fn kind(&self, event: usize) -> Option<Kind> {
        self.events[event].access.map(|(kind, ..)| kind)
    }

    fn share(&self, a: usize, b: usize) -> bool {
        let (Some((_, a0, a1)), Some((_, b0, b1))) = (self.events[a].access, self.events[b].access) else {
            return false;
        };
        a0 < b1 && b0 < a1
    }

    /// The required order; `stores` states whether two vector stores to the same bytes are ordered.
    fn before(&self, stores: bool) -> Before {
        let scalar = |kind| matches!(kind, Some(Ld | St));
        Before::new(self.events.len(), |a, b| {
            let (first, second) = (self.kind(a), self.kind(b));
            let barred = || {
                let (Some(first), Some(second)) = (first, second) else { return false };
                let between = self.events[a..b].iter().filter_map(|event| event.barrier);
                between.flat_map(pairs).any(|pair| pair == (first, second))
            };
            self.events[b].from.contains(&a)
                || (scalar(first) && scalar(second))
                || (stores && (first, second) == (Some(Vst), Some(Vst)) && self.share(a, b))
                || barred()
        })
    }

    /// Unordered pairs of accesses: those of two vector stores, and all others.
    fn races(&self, before: &Before) -> (Vec<[usize; 2]>, Vec<[usize; 2]>) {
        let (mut stores, mut others) = (Vec::new(), Vec::new());
        for later in 0..self.events.len() {
            for earlier in 0..later {
                let kinds = (self.kind(earlier), self.kind(later));
                let writes = [kinds.0, kinds.1].iter().any(|kind| matches!(kind, Some(Vst | St)));
                if writes && self.share(earlier, later) && !before.orders(earlier, later) {
                    let both = kinds == (Some(Vst), Some(Vst));
                    if both { &mut stores } else { &mut others }.push([earlier, later]);
                }
            }
        }
        (stores, others)
    }

    fn lines(&self, pairs: &[[usize; 2]]) -> BTreeSet<Lines> {
        pairs.iter().map(|[a, b]| lines(self.events[*a].line, self.events[*b].line)).collect()
    }

    /// The bytes that each load sees and the final bytes: for each byte, the event that wrote it.
    fn outcome(&self, order: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let mut memory = vec![usize::MAX; 4096];
        let mut seen = Vec::new();
        for event in order {
            match self.events[*event].access {
                Some((Vst | St, from, to)) => memory[from as usize..to as usize].fill(*event),
                Some((_, from, to)) => seen.push((*event, memory[from as usize..to as usize].to_vec())),
                None => {}
            }
        }
        seen.sort();
        seen.push((usize::MAX, memory));
        seen
    }
}

/// Generates statements.
struct Maker {
    rng: Dice,
    /// Values so far.
    values: usize,
    scalars: bool,
}

impl Maker {
    fn fresh(&mut self, known: &mut Vec<usize>) -> usize {
        self.values += 1;
        known.push(self.values);
        self.values
    }

    fn one(&mut self, known: &[usize]) -> usize {
        self.rng.pick(known)
    }

    /// A random list of statements, which may use the known values.
    fn acts(&mut self, count: u64, known: &mut Vec<usize>, inside: bool) -> Vec<Act> {
        const PLACES: [u64; 6] = [0, 0, 32, 64, 40, 128];
        let mut list = Vec::new();
        for _ in 0..count {
            let at = self.rng.pick(&PLACES);
            let by = if inside { self.rng.pick(&[0, 0, 64, 32]) } else { 0 };
            match self.rng.below(if self.scalars { 13 } else { 10 }) {
                3 => {
                    let from = [self.one(known), self.one(known)];
                    list.push(Act::Add { from, to: self.fresh(known) });
                }
                4..=7 => {
                    // Mostly the newest value, which often was loaded from there.
                    let from = if self.rng.chance(60) { known[known.len() - 1] } else { self.one(known) };
                    let lanes = self.rng.pick(&[64, 64, 64, 32, 8, 3]);
                    list.push(Act::Store { from, at, by, lanes });
                }
                8 => list.push(Act::Barrier(self.barrier())),
                9 if !inside => list.push(self.round(known)),
                10 => {
                    let number = self.fresh(&mut Vec::new());
                    list.push(Act::LoadScalar { to: number, at: at + self.rng.below(2) });
                    list.push(Act::Spread { to: self.fresh(known), from: number });
                    if self.rng.chance(30) {
                        list.push(Act::StoreScalar { from: Some(number), at: at + self.rng.below(2) });
                    }
                }
                11 => list.push(Act::StoreScalar { from: None, at: at + self.rng.below(2) }),
                _ => list.push(Act::Load { at, by, to: self.fresh(known) }),
            }
        }
        list
    }

    fn barrier(&mut self) -> &'static str {
        self.rng.pick(&BARRIERS[..if self.scalars { 12 } else { 4 }])
    }

    /// A loop.
    fn round(&mut self, known: &mut Vec<usize>) -> Act {
        let mut inside = known.clone();
        let carry = self.rng.chance(50).then(|| (self.one(known), self.fresh(&mut inside)));
        let many = 2 + self.rng.below(3);
        let body = self.acts(many, &mut inside, true);
        let next = inside[inside.len() - 1];
        let carry = carry.map(|(first, inside)| Carry { first, inside, next, last: self.fresh(known) });
        Act::Loop { times: 2 + self.rng.below(2), body, carry }
    }

    /// A complete program: its initial loads, and further statements.
    fn program(&mut self) -> Vec<Act> {
        let mut known = Vec::new();
        let mut list = vec![Act::Load { at: 0, by: 0, to: self.fresh(&mut known) }];
        if self.rng.chance(50) {
            list.push(Act::Load { at: 0, by: 0, to: self.fresh(&mut known) });
        }
        let many = 2 + self.rng.below(6);
        list.extend(self.acts(many, &mut known, false));
        list
    }

    /// Inserts barriers where two accesses race, until there are no races.
    fn repair(&mut self, acts: &mut Vec<Act>) {
        for _ in 0..40 {
            let program = program(acts);
            let (stores, others) = program.races(&program.before(false));
            let Some([earlier, later]) = others.first().or(stores.first()).copied() else { return };
            let (Some(first), Some(second)) = (program.kind(earlier), program.kind(later)) else { return };
            let fits: Vec<&str> = BARRIERS.into_iter().filter(|name| pairs(name).contains(&(first, second))).collect();
            let barrier = Act::Barrier(self.rng.pick(&fits));
            let path = &program.events[later].path;
            let (at, above) = path.split_last().unwrap();
            list(acts, above).insert(*at, barrier);
        }
    }

    /// Changes something: a barrier is removed, replaced or moved; an address is changed; a load is duplicated.
    fn change(&mut self, acts: &mut Vec<Act>) {
        let program = program(acts);
        let barred = |event: &Event| event.barrier.is_some();
        let some: Vec<&Event> = match self.rng.chance(70) && program.events.iter().any(barred) {
            true => program.events.iter().filter(|event| barred(event)).collect(),
            false => program.events.iter().collect(),
        };
        let path = self.rng.pick(&some).path.clone();
        let (at, above) = path.split_last().unwrap();
        let other = Act::Barrier(self.barrier());
        let (kind, place) = (self.rng.below(3), self.rng.pick(&[0, 32, 64]));
        let again = self.fresh(&mut Vec::new());
        let list = list(acts, above);
        match &mut list[*at] {
            Act::Barrier(_) if kind == 0 => drop(list.remove(*at)),
            Act::Barrier(_) if kind == 1 && *at > 0 => list.swap(*at, *at - 1),
            Act::Barrier(_) => list[*at] = other,
            Act::Load { at: own, by, .. } if kind > 0 => {
                let twin = Act::Load { to: again, at: *own, by: *by };
                list.insert(*at, twin);
            }
            Act::Load { at, .. } | Act::Store { at, .. } => *at = place,
            _ => {}
        }
    }
}

/// The list of statements at a path.
fn list<'a>(acts: &'a mut Vec<Act>, path: &[usize]) -> &'a mut Vec<Act> {
    path.iter().fold(acts, |list, at| match &mut list[*at] {
        Act::Loop { body, .. } => body,
        _ => unreachable!("only loops have lists"),
    })
}

/// Maximum number of legal orders of a program that are executed.
const ORDERS: usize = 4000;

/// The program of a seed.
fn of_seed(seed: u64) -> Program {
    let mut maker = Maker { rng: dice(seed), values: 0, scalars: seed.is_multiple_of(3) };
    let mut acts = maker.program();
    if maker.rng.chance(85) {
        maker.repair(&mut acts);
        for _ in 0..maker.rng.below(3) {
            maker.change(&mut acts);
        }
    }
    program(&acts)
}

/// A random program for other studies, in which stores to the same bytes keep their order.
pub fn random(seed: u64) -> Random {
    let program = of_seed(seed);
    let others = program.events.len() > 120;
    let races = !others && !program.races(&program.before(true)).1.is_empty();
    Random { text: program.text, blocks: 1, races, others }
}

/// Generates a program, and compares the tools' results with the oracle's.
pub fn judge(seed: u64, all: &mut Count) {
    let program = of_seed(seed);
    if program.events.len() > 120 {
        return;
    }
    all.programs += 1;
    let before = program.before(false);
    let (stores, others) = program.races(&before);
    explore(&program, &before, [&stores, &others], all);
    let (stores, others) = (program.lines(&stores), program.lines(&others));
    let of_all: BTreeSet<Lines> = stores.union(&others).copied().collect();
    if of_all.is_empty() {
        all.right += 1
    } else {
        all.racing += 1
    }
    let said = |interpretations: &[&str]| said(&program.text, "a5", 1, interpretations).expect("it can be run");
    let fails = |what: &str, said: &Said| -> ! {
        let mut text = String::new();
        program.text.lines().enumerate().for_each(|(at, line)| {
            let _ = writeln!(text, "{:4} {line}", at + 1);
        });
        panic!("seed {seed}: {what}\n{said:?}\nthe oracle: two stores {stores:?}, others {others:?}\n{text}")
    };
    // If stores need barriers as well, there is no third case between correct and wrong.
    let strict = said(&["unordered-stores"]);
    if !of_all.is_empty() && strict.errors.is_empty() {
        fails("MISSED where stores need barriers", &strict);
    }
    if !strict.errors.is_subset(&of_all) || !strict.warnings.is_empty() {
        fails("FLAGGED where stores need barriers", &strict);
    }
    // If stores to the same bytes keep their order, some accesses are ordered by that alone.
    let usual = said(&[]);
    let surely = program.races(&program.before(true)).1;
    if (!surely.is_empty() && usual.errors.is_empty()) || (!stores.is_empty() && usual.warnings.is_empty()) {
        fails("MISSED", &usual);
    }
    if !usual.errors.is_subset(&others) || !usual.warnings.is_subset(&stores) {
        fails("FLAGGED", &usual);
    }
}

/// Executes all legal orders of a small program: if a load and a store race, one of the orders shows it; without races,
/// none does.
fn explore(program: &Program, before: &Before, [stores, others]: [&[[usize; 2]]; 2], all: &mut Count) {
    if program.events.iter().filter(|event| event.access.is_some()).count() > 8 {
        return;
    }
    let usual = program.outcome(&(0..program.events.len()).collect::<Vec<_>>());
    let mut differs = false;
    let complete = before.each_order(ORDERS, &mut |order| differs |= program.outcome(order) != usual);
    let read = |event: &usize| matches!(program.kind(*event), Some(Vld | Ld));
    let visible = others.iter().flatten().any(read);
    let races = !others.is_empty() || !stores.is_empty();
    assert!(races || !differs, "an order shows what the oracle does not know:\n{}", program.text);
    if complete {
        all.explored += 1;
        assert!(differs || !visible, "no order shows what the oracle says:\n{}", program.text);
    }
}
