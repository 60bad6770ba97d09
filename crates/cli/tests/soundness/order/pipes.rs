//! Random programs of a Vector core: loads, vector operations in place and not, stores and atomic additions, on tiles
//! and windows that overlap partly, and single elements accessed by the scalar unit, with flags, barriers, loops and
//! blocks.

mod make;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Before, Count, Lines, Said, lines, said};
use crate::soundness::random::dice;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Pipe {
    S,
    Mte2,
    V,
    Mte3,
    All,
}

use Pipe::{All, Mte2, Mte3, S, V};

impl Pipe {
    fn name(self) -> &'static str {
        match self {
            S => "PIPE_S",
            Mte2 => "PIPE_MTE2",
            V => "PIPE_V",
            Mte3 => "PIPE_MTE3",
            All => "PIPE_ALL",
        }
    }
}

/// A window of a buffer in global memory: 8 rows of 16 elements, from a row and a column; in a loop, each iteration
/// moves it down by a number of rows.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Window {
    /// Buffer `y`, else `x`.
    y: bool,
    row: u64,
    column: u64,
    by: u64,
}

#[derive(Clone, PartialEq, Debug)]
enum Act {
    Load {
        from: Window,
        to: usize,
    },
    Vector {
        from: Vec<usize>,
        to: usize,
    },
    Save {
        from: usize,
        to: Window,
        adds: bool,
    },
    /// The scalar unit reads or writes an element of the unified buffer, or of the block's rows of a buffer.
    Element {
        space: Space,
        at: u64,
        writes: bool,
    },
    /// A set and the wait for it, on two pipes; the set may be a separate statement further up.
    Set {
        from: Pipe,
        to: Pipe,
        id: u64,
    },
    Wait {
        from: Pipe,
        to: Pipe,
        id: u64,
    },
    Barrier(Pipe),
    Loop {
        times: u64,
        body: Vec<Act>,
    },
}

/// The tiles: 8 rows of 16 floats; for each its start, and the distance between its rows. The last three are columns of
/// one tile.
const TILES: [(u64, u64); 7] = [(0, 64), (256, 64), (512, 64), (1024, 64), (0, 128), (32, 128), (64, 128)];

/// Ranges of bytes.
type Runs = Vec<(u64, u64)>;

fn tile(number: usize) -> Runs {
    let (start, stride) = TILES[number];
    (0..8).map(|row| (start + row * stride, start + row * stride + 64)).collect()
}

fn share(a: &Runs, b: &Runs) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.0 < b.1 && b.0 < a.1))
}

/// The memories: the unified buffer, which is private to each block, and the two buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Space {
    Local,
    X,
    Y,
}

#[derive(Clone, Debug)]
struct Access {
    space: Space,
    writes: bool,
    adds: bool,
    runs: Runs,
}

#[derive(Clone, Debug)]
struct Event {
    block: u64,
    line: usize,
    path: Vec<usize>,
    pipe: Pipe,
    /// Only for op instances.
    accesses: Vec<Access>,
    /// A flag that it sets (true) or waits for, and the index of the signal.
    flag: Option<(bool, (Pipe, Pipe, u64), usize)>,
}

impl Event {
    fn is_work(&self) -> bool {
        !self.accesses.is_empty()
    }
}

struct Program {
    text: String,
    events: Vec<Event>,
    /// V may overlap its own operations in the unified buffer.
    overlaps: bool,
    adds: bool,
}

/// How a program is launched.
#[derive(Clone, Copy)]
struct Launch {
    a2a3: bool,
    blocks: u64,
    /// Distance in rows between the windows of consecutive blocks.
    apart: u64,
}

struct Writer {
    text: String,
    line: usize,
    lines: BTreeMap<Vec<usize>, usize>,
    names: usize,
}

const T: &str = "!pto.tile_buf<vec, 8x16xf32>";
const P: &str = "!pto.partition_tensor_view<8x16xf32>";

impl Writer {
    fn put(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.line += 1;
    }

    fn window(&mut self, window: Window) -> String {
        self.names += 1;
        let (n, view) = (self.names, if window.y { "yv" } else { "xv" });
        self.put(&format!("    %r{n} = arith.constant {} : index", window.row));
        self.put(&format!("    %o{n} = arith.addi %r{n}, %first : index"));
        self.put(&format!("    %k{n} = arith.constant {} : index", window.column));
        let mut row = format!("o{n}");
        if window.by > 0 {
            self.put(&format!("    %b{n} = arith.constant {} : index", window.by));
            self.put(&format!("    %m{n} = arith.muli %i, %b{n} : index"));
            self.put(&format!("    %q{n} = arith.addi %o{n}, %m{n} : index"));
            row = format!("q{n}");
        }
        self.put(&format!(
            "    %w{n} = pto.partition_view %{view}, offsets = [%{row}, %k{n}], sizes = [%c8, %c16] : \
             !pto.tensor_view<?x?xf32> -> {P}"
        ));
        format!("w{n}")
    }

    fn acts(&mut self, acts: &[Act], path: &mut Vec<usize>) {
        for (number, act) in acts.iter().enumerate() {
            path.push(number);
            self.act(act, path);
            path.pop();
        }
    }

    fn act(&mut self, act: &Act, path: &mut Vec<usize>) {
        let flag =
            |from: Pipe, to: Pipe, id: &u64| format!("[\"{}\", \"{}\", \"EVENT_ID{id}\"]", from.name(), to.name());
        let text = match act {
            Act::Load { from, to } => {
                let window = self.window(*from);
                format!("    pto.tload ins(%{window} : {P}) outs(%t{to} : {T})")
            }
            Act::Vector { from, to } => match from[..] {
                [a, b] => format!("    pto.tadd ins(%t{a}, %t{b} : {T}, {T}) outs(%t{to} : {T})"),
                _ => format!("    pto.tmuls ins(%t{}, %half : {T}, f32) outs(%t{to} : {T})", from[0]),
            },
            Act::Save { from, to, adds } => {
                let window = self.window(*to);
                let how = if *adds { " {atomicType = #pto<atomic_type atomic_add>}" } else { "" };
                format!("    pto.tstore ins(%t{from} : {T}) outs(%{window} : {P}){how}")
            }
            Act::Element { space, at, writes } => {
                let (pointer, ty) = match space {
                    Space::Local => ("u", "!pto.ptr<f32, ub>"),
                    Space::X => ("x", "!pto.ptr<f32>"),
                    Space::Y => ("y", "!pto.ptr<f32>"),
                };
                self.names += 1;
                let n = self.names;
                self.put(&format!("    %e{n} = arith.constant {at} : index"));
                let mut place = format!("e{n}");
                if *space != Space::Local {
                    self.put(&format!("    %g{n} = arith.muli %first, %c32 : index"));
                    self.put(&format!("    %h{n} = arith.addi %g{n}, %e{n} : index"));
                    place = format!("h{n}");
                }
                match writes {
                    true => format!("    pto.store_scalar %half, %{pointer}[%{place}] : {ty}, f32"),
                    false => format!("    %f{n} = pto.load_scalar %{pointer}[%{place}] : {ty} -> f32"),
                }
            }
            Act::Set { from, to, id } => format!("    pto.set_flag{}", flag(*from, *to, id)),
            Act::Wait { from, to, id } => format!("    pto.wait_flag{}", flag(*from, *to, id)),
            Act::Barrier(pipe) => format!("    pto.barrier <{}>", pipe.name()),
            Act::Loop { times, body } => {
                self.names += 1;
                let bound = self.names;
                self.put(&format!("    %n{bound} = arith.constant {times} : index"));
                self.put(&format!("    scf.for %i = %c0 to %n{bound} step %c1 {{"));
                self.acts(body, path);
                self.put("    }");
                return;
            }
        };
        self.put(&text);
        self.lines.insert(path.clone(), self.line);
    }
}

/// The events of a block, with loops unrolled.
struct Unroll<'a> {
    lines: &'a BTreeMap<Vec<usize>, usize>,
    events: Vec<Event>,
    block: u64,
    launch: Launch,
    /// Signals so far: by flag, the numbers set and waited for.
    signals: BTreeMap<(Pipe, Pipe, u64), [usize; 2]>,
}

impl Unroll<'_> {
    fn acts(&mut self, acts: &[Act], path: &mut Vec<usize>, round: u64) {
        for (number, act) in acts.iter().enumerate() {
            path.push(number);
            match act {
                Act::Loop { times, body } => (0..*times).for_each(|round| self.acts(body, path, round)),
                _ => self.event(act, path, round),
            }
            path.pop();
        }
    }

    fn window(&self, window: Window, round: u64) -> (Space, Runs) {
        let row = window.row + self.block * self.launch.apart + round * window.by;
        let start = |row: u64| (row * 32 + window.column) * 4;
        let runs = (row..row + 8).map(|row| (start(row), start(row) + 64)).collect();
        (if window.y { Space::Y } else { Space::X }, runs)
    }

    fn event(&mut self, act: &Act, path: &[usize], round: u64) {
        let local = |number: usize, writes| Access { space: Space::Local, writes, adds: false, runs: tile(number) };
        let (mut accesses, mut flag) = (Vec::new(), None);
        let pipe = match act {
            Act::Load { from, to } => {
                let (space, runs) = self.window(*from, round);
                accesses = vec![Access { space, writes: false, adds: false, runs }, local(*to, true)];
                Mte2
            }
            Act::Vector { from, to } => {
                accesses = from.iter().map(|from| local(*from, false)).chain([local(*to, true)]).collect();
                V
            }
            Act::Save { from, to, adds } => {
                let (space, runs) = self.window(*to, round);
                accesses = vec![local(*from, false), Access { space, writes: true, adds: *adds, runs }];
                Mte3
            }
            Act::Element { space, at, writes } => {
                let rows = if *space == Space::Local { 0 } else { self.block * self.launch.apart * 32 };
                let runs = vec![((rows + at) * 4, (rows + at + 1) * 4)];
                accesses = vec![Access { space: *space, writes: *writes, adds: false, runs }];
                S
            }
            Act::Set { from, to, id } | Act::Wait { from, to, id } => {
                let sets = matches!(act, Act::Set { .. });
                let count = &mut self.signals.entry((*from, *to, *id)).or_default()[usize::from(!sets)];
                *count += 1;
                flag = Some((sets, (*from, *to, *id), *count));
                if sets { *from } else { *to }
            }
            Act::Barrier(pipe) => *pipe,
            Act::Loop { .. } => return,
        };
        let (block, line) = (self.block, self.lines[path]);
        self.events.push(Event { block, line, path: path.to_vec(), pipe, accesses, flag });
    }
}

fn program(acts: &[Act], launch: Launch) -> Program {
    let mut writer = Writer { text: String::new(), line: 0, lines: BTreeMap::new(), names: 0 };
    for line in [
        "// args: rand:f32[96x32],seed=1 zeros:f32[96x32]",
        "module {",
        "  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {",
        "    %c0 = arith.constant 0 : index",
        "    %c1 = arith.constant 1 : index",
        "    %c8 = arith.constant 8 : index",
        "    %c16 = arith.constant 16 : index",
        "    %c32 = arith.constant 32 : index",
        "    %c96 = arith.constant 96 : index",
        "    %half = arith.constant 0.5 : f32",
        "    %z = arith.constant 0 : i64",
        "    %u = pto.castptr %z : i64 -> !pto.ptr<f32, ub>",
        "    %xv = pto.make_tensor_view %x, shape = [%c96, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>",
        "    %yv = pto.make_tensor_view %y, shape = [%c96, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>",
        "    %id = pto.get_block_idx",
        "    %block = arith.index_cast %id : i64 to index",
    ] {
        writer.put(line);
    }
    writer.put(&format!("    %apart = arith.constant {} : index", launch.apart));
    writer.put("    %first = arith.muli %block, %apart : index");
    for (number, (start, stride)) in TILES.iter().enumerate() {
        match stride {
            64 => {
                writer.put(&format!("    %a{number} = arith.constant {start} : i64"));
                writer.put(&format!("    %t{number} = pto.alloc_tile addr = %a{number} : {T}"));
            }
            _ => {
                let wide = "!pto.tile_buf<vec, 8x32xf32>";
                if *start == 0 {
                    writer.put(&format!("    %wide = pto.alloc_tile addr = %a0 : {wide}"));
                }
                writer.put(&format!("    %s{number} = arith.constant {} : index", start / 4));
                writer.put(&format!("    %t{number} = pto.subset %wide[%c0, %s{number}] sizes [8, 16] : {wide}"));
            }
        }
    }
    writer.acts(acts, &mut Vec::new());
    for line in ["    pto.barrier <PIPE_ALL>", "    return", "  }", "}"] {
        writer.put(line);
    }
    let mut events = Vec::new();
    for block in 0..launch.blocks {
        let mut unroll = Unroll { lines: &writer.lines, events, block, launch, signals: BTreeMap::new() };
        unroll.acts(acts, &mut Vec::new(), 0);
        events = unroll.events;
    }
    let adds = events.iter().flat_map(|event| &event.accesses).any(|access| access.adds);
    Program { events, text: writer.text, overlaps: launch.a2a3, adds }
}

impl Program {
    /// Whether two op instances of a pipe are always ordered.
    fn in_order(&self, pipe: Pipe) -> bool {
        match pipe {
            V => !self.overlaps,
            Mte3 => false,
            _ => true,
        }
    }

    /// Whether two op instances of a pipe are ordered in a memory.
    fn in_order_in(&self, pipe: Pipe, space: Space) -> bool {
        self.in_order(pipe) || (space == Space::Local) == (pipe == Mte3)
    }

    /// The required order; `pipes` states whether a pipe that keeps its operations in order counts.
    fn before(&self, pipes: bool) -> Before {
        Before::new(self.events.len(), |a, b| {
            let (a, b) = (&self.events[a], &self.events[b]);
            if a.block != b.block {
                return false;
            }
            // The scalar unit continues after its own accesses and after a barrier of all pipes, and only then issues
            // more operations.
            if a.pipe == S || a.pipe == All || b.pipe == All {
                return true;
            }
            if let (Some((true, set, n)), Some((false, wait, m))) = (a.flag, b.flag)
                && (set, n) == (wait, m)
            {
                return true;
            }
            // A wait and a barrier come before everything that follows on their pipe, a set and a barrier after
            // everything before them.
            let holds = |event: &Event| !event.is_work() && !matches!(event.flag, Some((true, ..)));
            let follows = |event: &Event| !event.is_work() && !matches!(event.flag, Some((false, ..)));
            a.pipe == b.pipe && ((pipes && self.in_order(a.pipe)) || holds(a) || follows(b))
        })
    }

    fn conflict(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.events[a], &self.events[b]);
        a.accesses.iter().any(|x| {
            b.accesses.iter().any(|y| {
                let alone = a.block != b.block && x.space == Space::Local;
                let kept = a.block == b.block && a.pipe == b.pipe && self.in_order_in(a.pipe, x.space);
                let same = x.space == y.space && !alone && !kept;
                same && (x.writes || y.writes) && !(x.adds && y.adds) && share(&x.runs, &y.runs)
            })
        })
    }

    /// Whether only the order of a pipe separates two of its op instances.
    fn leans(&self) -> bool {
        let before = self.before(false);
        let local = |a: &Access, b: &Access| {
            a.space == Space::Local && b.space == a.space && (a.writes || b.writes) && share(&a.runs, &b.runs)
        };
        let meet = |a: &Event, b: &Event| a.accesses.iter().any(|x| b.accesses.iter().any(|y| local(x, y)));
        let pairs = (0..self.events.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
        pairs.into_iter().any(|[a, b]| {
            let (first, second) = (&self.events[a], &self.events[b]);
            let one = (first.block, first.pipe) == (second.block, second.pipe) && matches!(first.pipe, Mte2 | V);
            one && self.in_order(first.pipe) && meet(first, second) && !before.orders(a, b)
        })
    }

    fn races(&self, before: &Before) -> Vec<[usize; 2]> {
        let pairs = (0..self.events.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
        pairs.filter(|[a, b]| self.conflict(*a, *b) && !before.orders(*a, *b)).collect()
    }

    fn lines(&self, pairs: &[[usize; 2]]) -> BTreeSet<Lines> {
        pairs.iter().map(|[a, b]| lines(self.events[*a].line, self.events[*b].line)).collect()
    }

    /// The bytes that each op instance sees and the final bytes: for each byte, the event that wrote it.
    fn outcome(&self, order: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let mut memory: BTreeMap<(u8, u64), Vec<usize>> = BTreeMap::new();
        let mut seen = Vec::new();
        let place = |access: &Access, block: u64| match access.space {
            Space::Local => (0, block),
            Space::X => (1, 0),
            Space::Y => (2, 0),
        };
        for number in order {
            let event = &self.events[*number];
            for access in &event.accesses {
                let bytes = memory.entry(place(access, event.block)).or_insert_with(|| vec![usize::MAX; 96 * 128]);
                for (from, to) in &access.runs {
                    let run = &mut bytes[*from as usize..*to as usize];
                    if access.writes {
                        run.fill(*number);
                    } else {
                        seen.push((*number, run.to_vec()));
                    }
                }
            }
        }
        // In program order, not in execution order.
        seen.sort_by_key(|(number, _)| *number);
        seen.extend(memory.into_values().map(|bytes| (usize::MAX, bytes)));
        seen
    }
}

/// Maximum number of legal orders of a program that are executed.
const ORDERS: usize = 1500;

/// A random program for other studies.
pub struct Random {
    pub text: String,
    pub blocks: u32,
    /// The oracle sees a race.
    pub races: bool,
    /// The tools have another finding, or the program is too large, or it adds numbers in an unspecified order.
    pub others: bool,
}

impl Random {
    /// The program of a seed.
    pub fn new(seed: u64, arch: &str) -> Random {
        let (program, blocks) = random(seed, arch);
        let large = program.events.len() > 120;
        let races = !large && !program.races(&program.before(true)).is_empty();
        let said = said(&program.text, arch, blocks as u32, &[]).expect("it can be run");
        let others = large || program.adds || !said.others.is_empty();
        Random { text: program.text, blocks: blocks as u32, races, others }
    }
}

/// The program of a seed, and its blocks.
fn random(seed: u64, arch: &str) -> (Program, u64) {
    let mut rng = dice(seed ^ 0x5eed);
    let blocks = if rng.chance(25) { 2 } else { 1 };
    let apart = if rng.chance(70) { 40 } else { 4 };
    let launch = Launch { a2a3: arch == "a2a3", blocks, apart };
    let acts = make::acts(rng, launch);
    (program(&acts, launch), blocks)
}

/// Generates a program, and compares the tools' results with the oracle's.
pub fn judge(seed: u64, arch: &str, all: &mut Count) {
    let (program, blocks) = random(seed, arch);
    if program.events.len() > 120 {
        return;
    }
    all.programs += 1;
    let before = program.before(true);
    let pairs = program.races(&before);
    let races = program.lines(&pairs);
    let said = said(&program.text, arch, blocks as u32, &[]).expect("it can be run");
    // A signal that may be lost is a different finding, and implies no order.
    if !said.others.is_empty() {
        all.refused += 1;
        return;
    }
    explore(&program, &before, &pairs, all);
    if races.is_empty() {
        all.right += 1
    } else {
        all.racing += 1
    }
    let fails = |what: &str, said: &Said| -> ! {
        let mut text = String::new();
        program.text.lines().enumerate().for_each(|(at, line)| {
            let _ = writeln!(text, "{:4} {line}", at + 1);
        });
        panic!("seed {seed} on {arch}, {blocks} blocks: {what}\n{said:?}\nthe oracle: {races:?}\n{text}")
    };
    if !races.is_empty() && said.errors.is_empty() {
        fails("MISSED", &said);
    }
    if !said.errors.is_subset(&races) || !said.warnings.is_empty() {
        fails("FLAGGED", &said);
    }
    if races.is_empty() && program.leans() && !said.leans {
        fails("MISSED that it leans on the order of a pipe", &said);
    }
}

/// Executes all legal orders of a small program: if a read and a write race, one of the orders shows it; without races,
/// none does.
fn explore(program: &Program, before: &Before, pairs: &[[usize; 2]], all: &mut Count) {
    if program.adds || program.events.len() > 10 {
        return;
    }
    let usual = program.outcome(&(0..program.events.len()).collect::<Vec<_>>());
    let mut differs = false;
    let complete = before.each_order(ORDERS, &mut |order| differs |= program.outcome(order) != usual);
    assert!(!pairs.is_empty() || !differs, "an order shows what the oracle does not know:\n{}", program.text);
    let reads = |[a, b]: &[usize; 2]| {
        let (a, b) = (&program.events[*a], &program.events[*b]);
        let of = |event: &Event, writes: bool| {
            let own = event.accesses.iter().filter(|access| access.writes == writes);
            own.map(|access| (access.space, access.runs.clone())).collect::<Vec<_>>()
        };
        let meet = |x: &[(Space, Runs)], y: &[(Space, Runs)]| {
            x.iter().any(|x| y.iter().any(|y| x.0 == y.0 && share(&x.1, &y.1)))
        };
        a.block == b.block && (meet(&of(a, true), &of(b, false)) || meet(&of(a, false), &of(b, true)))
    };
    if complete {
        all.explored += 1;
        assert!(differs || !pairs.iter().any(reads), "no order shows what the oracle says:\n{}", program.text);
    }
}
