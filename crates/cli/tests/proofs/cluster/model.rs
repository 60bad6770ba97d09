//! Small programs of a Cube and a Vector core: tiles through rings in either direction, loads, stores and products,
//! with flags, tokens, barriers and semaphores. Most are a correct program with some changes.

use std::fmt::Write;

use crate::dice::Dice;

use super::explorer::{Core, GLOBAL, Issue, Object, Pipe, Programs, SLOTS, Step};

pub const CUBE: Core = 0;
pub const VECTOR: Core = 1;

const MTE2: Pipe = 0;
const MTE3: Pipe = 1;
const V: Pipe = 2;
const M: Pipe = 3;
const MTE1: Pipe = 4;
const FIX: Pipe = 5;
const NAMES: [&str; 6] = ["PIPE_MTE2", "PIPE_MTE3", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_FIX"];

/// A line of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    Set(Pipe, Pipe, u8),
    Wait(Pipe, Pipe, u8),
    Get(Pipe, u8),
    Release(Pipe, u8),
    All,
    Barrier(Pipe),
    /// A pipe sets a semaphore, or waits for it.
    Send(Pipe, u8),
    Await(Pipe, u8),
    /// MTE2 of the Vector core loads `in`; V computes `nz` from it; MTE3 stores `out`, or stores `in` to where the Cube
    /// core loads.
    Load,
    Prepare,
    Store,
    StoreShared,
    /// V computes `out` from the popped tile; MTE3 stores the popped tile itself.
    Use,
    StorePopped,
    /// The Cube core: MTE2 loads what the Vector core stored; MTE1 moves that, or the popped tile, to L0A; M
    /// multiplies.
    LoadShared,
    Move,
    UsePopped,
    Multiply,
    Push,
    Pop,
    Free,
}

use Line::*;

const IN: u16 = 0;
const NZ: u16 = 1;
const OUT: u16 = 2;
const ACC: u16 = 3;
const LEFT: u16 = 4;
const A1: u16 = 5;
const SHARED: u16 = GLOBAL;

fn slot(ring: Core, tag: usize) -> u16 {
    SLOTS + (ring * 100 + tag) as u16
}

/// How often a core's round is repeated, depending on the arguments n and m.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// n times.
    Once,
    /// n times, and m times in a second loop.
    Twice,
    /// n + m times.
    Sum,
    /// m times, nested in a loop of n.
    Nested,
    /// n times if m is not 0.
    Guarded,
}

/// A program: for each core, lines before its loop, in a round and after the loop; the slots of both rings.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub parts: [[Vec<Line>; 3]; 2],
    pub shapes: [Shape; 2],
    pub depth: usize,
    /// The rings that exist, by the core that pops.
    pub rings: [bool; 2],
}

/// How two steps on two pipes of a core pass a tile on, and pass it back.
#[derive(Clone, Copy)]
enum Style {
    Flags,
    Tokens,
    Barriers,
}

/// Lines of a core under construction.
struct Draft {
    parts: [Vec<Line>; 3],
    style: Style,
    flags: std::collections::BTreeMap<(Pipe, Pipe), u8>,
    tokens: u8,
}

impl Draft {
    fn new(style: Style) -> Draft {
        Draft { parts: Default::default(), style, flags: Default::default(), tokens: 0 }
    }

    fn flag(&mut self, from: Pipe, to: Pipe) -> u8 {
        let next = self.flags.entry((from, to)).or_default();
        *next += 1;
        *next - 1
    }

    /// One pipe produces a tile by `make`, and the other one uses it by `take`, with synchronisation both ways.
    fn hand_over(&mut self, from: Pipe, make: &[Line], to: Pipe, take: &[Line]) {
        match self.style {
            Style::Flags => {
                let (there, back) = (self.flag(from, to), self.flag(to, from));
                self.parts[0].push(Set(to, from, back));
                self.parts[2].push(Wait(to, from, back));
                let round = &mut self.parts[1];
                round.push(Wait(to, from, back));
                round.extend(make);
                round.extend([Set(from, to, there), Wait(from, to, there)]);
                round.extend(take);
                round.push(Set(to, from, back));
            }
            Style::Tokens => {
                let token = self.tokens;
                self.tokens += 1;
                let round = &mut self.parts[1];
                round.push(Get(from, token));
                round.extend(make);
                round.extend([Release(from, token), Get(to, token)]);
                round.extend(take);
                round.push(Release(to, token));
            }
            Style::Barriers => {
                let round = &mut self.parts[1];
                round.extend(make);
                round.push(All);
                round.extend(take);
                round.push(All);
            }
        }
    }
}

impl Cluster {
    /// The program of a number.
    pub fn random(seed: u64) -> Cluster {
        let mut roll = Dice::new(seed);
        (0..4).for_each(|_| _ = roll.word());
        let kind = roll.place(5);
        // Tiles to the Vector core, to the Cube core; a buffer in global memory with semaphores.
        let rings = [matches!(kind, 1 | 2), kind != 1];
        let shared = kind == 3;
        let style = roll.pick(&[Style::Flags, Style::Flags, Style::Tokens, Style::Barriers]);
        let mut vector = Draft::new(style);
        let mut cube = Draft::new(if roll.place(4) == 0 { Style::Barriers } else { Style::Flags });
        let turned = roll.place(2) == 0;
        for direction in if turned { [0, 1] } else { [1, 0] } {
            if direction == 0 && rings[CUBE] {
                vector.parts[1].push(Load);
                let load = vector.parts[1].pop().into_iter().collect::<Vec<_>>();
                vector.hand_over(MTE2, &load, V, &[Prepare]);
                // The push reads the result of V: this is a separate hand-over, whose V half is above.
                let made = vector.parts[1].iter().rposition(|line| *line == Prepare).unwrap_or(0);
                let mut rest = vector.parts[1].split_off(made);
                rest.remove(0);
                vector.hand_over(V, &[Prepare], MTE3, &[Push]);
                vector.parts[1].extend(rest);
                cube.hand_over(MTE1, &[Pop, UsePopped, Free], M, &[Multiply]);
            }
            if direction == 1 && rings[VECTOR] {
                cube.hand_over(M, &[Multiply], FIX, &[Push]);
                match roll.place(3) {
                    // The tile itself is stored, and freed after that.
                    0 if matches!(vector.style, Style::Flags) => {
                        let (there, back) = (vector.flag(V, MTE3), vector.flag(MTE3, V));
                        vector.parts[1].extend([
                            Pop,
                            Set(V, MTE3, there),
                            Wait(V, MTE3, there),
                            StorePopped,
                            Set(MTE3, V, back),
                            Wait(MTE3, V, back),
                            Free,
                        ]);
                    }
                    _ => vector.hand_over(V, &[Pop, Use, Free], MTE3, &[Store]),
                }
            }
        }
        if shared {
            vector.hand_over(MTE2, &[Load], MTE3, &[StoreShared, Send(MTE3, 9)]);
            cube.hand_over(MTE2, &[Await(MTE2, 9), LoadShared], MTE1, &[Move]);
        }
        let parts = [cube.parts, vector.parts];
        let shapes = match roll.place(8) {
            // The stores of a round need separate addresses, which two loops do not provide.
            _ if shared => [Shape::Once; 2],
            0 => [Shape::Twice; 2],
            1 => [Shape::Nested; 2],
            2 => [Shape::Guarded; 2],
            3 => [[Shape::Twice, Shape::Sum], [Shape::Sum, Shape::Twice], [Shape::Sum; 2]][roll.place(3)],
            _ => [Shape::Once; 2],
        };
        let mut all = Cluster { parts, shapes, depth: 1 + roll.place(3), rings };
        if all.has_two() {
            // They go to the same address instead, one after another.
            for list in all.parts.iter_mut().flatten() {
                let fence = |line: &Line| {
                    if matches!(line, Store | StorePopped) { vec![*line, Barrier(MTE3)] } else { vec![*line] }
                };
                *list = list.iter().flat_map(fence).collect();
            }
        }
        let changes = roll.pick(&[0, 1, 1, 2, 3]);
        for _ in 0..changes {
            let mut changed = all.clone();
            changed.change(&mut roll);
            if changed.is_well_formed() {
                all = changed;
            }
        }
        all
    }

    fn change(&mut self, roll: &mut Dice) {
        let (core, part) = (roll.place(2), roll.pick(&[0, 1, 1, 1, 1, 2]));
        if roll.place(12) == 0 {
            self.depth = 1 + roll.place(3);
            return;
        }
        let list = &mut self.parts[core][part];
        if list.is_empty() {
            return;
        }
        let at = roll.place(list.len());
        match roll.place(6) {
            0 => drop(list.remove(at)),
            1 => list.insert(at, list[at]),
            2 => {
                let line = list.remove(at);
                list.insert(roll.place(list.len() + 1), line);
            }
            3 => {
                let next = (at + 1) % list.len();
                list.swap(at, next);
            }
            4 => {
                list[at] = match list[at] {
                    Set(from, to, id) => Set(from, to, id ^ 1),
                    Wait(from, to, id) => Wait(from, to, id ^ 1),
                    Get(pipe, id) => Get(pipe, id ^ 1),
                    Release(pipe, id) => Release(pipe, id ^ 1),
                    Send(pipe, id) => Send(pipe, id ^ 1),
                    All => Barrier(if core == CUBE { M } else { V }),
                    other => other,
                };
            }
            _ => {
                // A line of the round moves out of it, and is executed once.
                let line = self.parts[core][1].get(at).copied();
                let into = if roll.place(2) == 0 { 0 } else { 2 };
                self.parts[core][into].extend(line);
            }
        }
    }

    /// Every use of a popped tile comes after its pop in the same part, and each part has as many pops as frees.
    fn is_well_formed(&self) -> bool {
        self.parts.iter().flatten().all(|part| {
            let mut popped = 0;
            let mut uses_fit = true;
            for line in part {
                match line {
                    Pop => popped += 1,
                    Use | StorePopped | UsePopped => uses_fit &= popped > 0,
                    _ => {}
                }
            }
            uses_fit
        })
    }

    /// Whether the second argument has an effect.
    pub fn has_two(&self) -> bool {
        self.shapes != [Shape::Once; 2]
    }

    /// The actions that the cores issue for two counts.
    pub fn programs(&self, (n, m): (u64, u64)) -> Programs {
        let mut all: Programs = Default::default();
        for (core, issued) in all.iter_mut().enumerate() {
            let (mut pushed, mut popped, mut freed) = (0, 0, 0);
            let count = match self.shapes[core] {
                Shape::Once => n,
                Shape::Twice | Shape::Sum => n + m,
                Shape::Nested => n * m,
                Shape::Guarded => n * m.min(1),
            };
            let rounds = (0..count).map(|round| (round, &self.parts[core][1]));
            let parts = std::iter::once((98, &self.parts[core][0])).chain(rounds);
            for (round, part) in parts.chain(std::iter::once((99, &self.parts[core][2]))) {
                for line in part {
                    self.issue(core, *line, round, (&mut pushed, &mut popped, &mut freed), issued);
                }
            }
        }
        all
    }

    fn issue(
        &self,
        core: Core,
        line: Line,
        round: u64,
        (pushed, popped, freed): (&mut usize, &mut usize, &mut usize),
        issued: &mut Vec<Issue>,
    ) {
        let work =
            |reads: &[u16], writes: &[u16], tile| Step::Work { reads: reads.to_vec(), writes: writes.to_vec(), tile };
        let mut on = |pipe: Pipe, step: Step| issued.push(Issue::On(pipe, step));
        let shared = SHARED + round as u16;
        debug_assert!(shared < SLOTS);
        let tag = |number: usize| number % self.depth;
        let held = |popped: usize| popped.wrapping_sub(1);
        match line {
            Set(from, to, id) => on(from, Step::Set(Object::Flag(core, from, to, id))),
            Wait(from, to, id) => on(to, Step::Wait(Object::Flag(core, from, to, id))),
            Get(pipe, token) => on(pipe, Step::Get(token)),
            Release(pipe, token) => on(pipe, Step::Release(token)),
            All => issued.push(Issue::All),
            Barrier(pipe) => on(pipe, Step::Barrier),
            Send(pipe, id) => on(pipe, Step::Set(Object::Semaphore(1 - core, id))),
            Await(pipe, id) => on(pipe, Step::Wait(Object::Semaphore(core, id))),
            Load => on(MTE2, work(&[], &[IN], None)),
            Prepare => on(V, work(&[IN], &[NZ], None)),
            Store => on(MTE3, work(&[OUT], &[], None)),
            StoreShared => on(MTE3, work(&[IN], &[shared], None)),
            LoadShared => on(MTE2, work(&[shared], &[A1], None)),
            Move => on(MTE1, work(&[A1], &[LEFT], None)),
            Multiply => on(M, work(&[LEFT], &[ACC], None)),
            Use | StorePopped | UsePopped => {
                let (pipe, writes): (Pipe, &[u16]) = match line {
                    Use => (V, &[OUT]),
                    UsePopped => (MTE1, &[LEFT]),
                    _ => (MTE3, &[]),
                };
                let tile = held(*popped);
                on(pipe, work(&[slot(core, tag(tile))], writes, Some((core, tile))));
            }
            Push => {
                let (pipe, from) = if core == CUBE { (FIX, ACC) } else { (MTE3, NZ) };
                let (ring, tag) = (1 - core, tag(*pushed));
                *pushed += 1;
                on(pipe, Step::Wait(Object::Free(ring, tag as u8)));
                on(pipe, work(&[from], &[slot(ring, tag)], None));
                on(pipe, Step::Set(Object::Ready(ring, tag as u8)));
            }
            Pop => {
                let pipe = if core == CUBE { MTE1 } else { V };
                on(pipe, Step::Wait(Object::Ready(core, tag(*popped) as u8)));
                *popped += 1;
            }
            Free => {
                let pipe = if core == CUBE { MTE1 } else { V };
                on(pipe, Step::Free(Object::Free(core, tag(*freed) as u8), (core, *freed)));
                *freed += 1;
            }
        }
    }

    /// The program as text, with the count as its argument. Every load and store has its own address in global memory.
    pub fn text(&self) -> String {
        let mask = u8::from(self.rings[VECTOR]) + 2 * u8::from(self.rings[CUBE]);
        let bytes = 1024 * self.depth;
        let (depth, name) = (self.depth, ["v2c", "c2v"]);
        let buffers = |core: Core| {
            let mut text = String::new();
            let mut operands = [String::from("%unused"), String::from("%unused")];
            for ring in [CUBE, VECTOR].into_iter().filter(|ring| self.rings[*ring]) {
                let (space, peer) = [("mat", "vector"), ("vec", "cube")][ring];
                let made = if ring == core {
                    let at = if ring == CUBE { 65536 } else { 32768 };
                    format!(
                        "pto.reserve_buffer {{name = \"{}\", size = {bytes}, location = #pto.address_space<{space}>, auto = false, \
                         base = {at}}}",
                        name[ring]
                    )
                } else {
                    let peer = if peer == "vector" { "cube" } else { "vector" };
                    format!("pto.import_reserved_buffer {{name = \"{}\", peer_func = @{peer}}}", name[ring])
                };
                let _ = writeln!(text, "%r{ring} = {made} -> i32");
                operands[ring] = format!("%r{ring}");
            }
            let verb = ["aic", "aiv"][core];
            let _ = writeln!(
                text,
                "pto.{verb}_initialize_pipe {{dir_mask = {mask}, slot_size = 1024, slot_num = {depth}}}\n  (gm_slot_buffer = %slots : \
                 !pto.ptr<f32>, c2v_consumer_buf = {} : i32, v2c_consumer_buf = {} : i32)",
                operands[VECTOR], operands[CUBE]
            );
            text
        };
        let args =
            "%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %g: !pto.ptr<f32>, %slots: !pto.ptr<f32>, %n: index, %m: index";
        let kinds = "!pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32>, index, index";
        let mut text = format!(
            "{TYPES}module {{\nfunc.func @k({args}) attributes {{pto.entry}} {{\n\
             func.call @cube(%x, %y, %g, %slots, %n, %m) : ({kinds}) -> ()\n\
             func.call @vector(%x, %y, %g, %slots, %n, %m) : ({kinds}) -> ()\nreturn\n}}\n"
        );
        for core in [CUBE, VECTOR] {
            let kind = ["cube", "vector"][core];
            let _ = write!(
                text,
                "func.func private @{kind}({args}) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{\n{CONSTANTS}{}{}",
                if mask == 0 { String::new() } else { buffers(core) },
                [CUBE_TILES, VECTOR_TILES][core]
            );
            let lines = |text: &mut String, (name, part): (usize, usize), place: &str| {
                let mut popped = 0;
                for (at, line) in self.parts[core][part].iter().enumerate() {
                    write_line(text, core, *line, (name * 100 + at, place), &mut popped);
                }
            };
            let head = |name: &str, bound: &str| format!("scf.for {name} = %c0 to {bound} step %c1 {{\n");
            lines(&mut text, (0, 0), "%s98");
            match self.shapes[core] {
                Shape::Once => {
                    text += &(head("%i", "%n") + "%at = arith.muli %i, %step : index\n");
                    lines(&mut text, (1, 1), if self.has_two() { "%c0" } else { "%at" });
                }
                Shape::Twice => {
                    text += &head("%i", "%n");
                    lines(&mut text, (1, 1), "%c0");
                    text += &format!("}}\n{}", head("%j", "%m"));
                    lines(&mut text, (2, 1), "%c0");
                }
                Shape::Sum => {
                    text += &format!("%sum = arith.addi %n, %m : index\n{}", head("%i", "%sum"));
                    lines(&mut text, (1, 1), "%c0");
                }
                Shape::Nested => {
                    text += &(head("%i", "%n") + &head("%j", "%m"));
                    lines(&mut text, (1, 1), "%c0");
                    text += "}\n";
                }
                Shape::Guarded => {
                    text += "%some = arith.cmpi sgt, %m, %c0 : index\nscf.if %some {\n";
                    text += &head("%i", "%n");
                    lines(&mut text, (1, 1), "%c0");
                    text += "}\n";
                }
            }
            text += "}\n";
            lines(&mut text, (3, 2), "%s99");
            text += "return\n}\n";
        }
        text + "}\n"
    }
}

const TYPES: &str = "!nd = !pto.tile_buf<vec, 16x16xf32>
!nz = !pto.tile_buf<vec, 16x16xf32, blayout=col_major, slayout=row_major>
!l1 = !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
!l0a = !pto.tile_buf<left, 16x16xf32, blayout=col_major, slayout=row_major>
!l0b = !pto.tile_buf<right, 16x16xf32, blayout=row_major, slayout=col_major>
!l0c = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!view = !pto.tensor_view<?x?xf32>
!part = !pto.partition_tensor_view<16x16xf32>
";

const CONSTANTS: &str = "%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c16 = arith.constant 16 : index
%rows = arith.constant 16384 : index
%step = arith.constant 128 : index
%s98 = arith.constant 12544 : index
%s99 = arith.constant 12672 : index
%unused = arith.constant 0 : i32
%a0 = arith.constant 0 : i64
%a1 = arith.constant 1024 : i64
%a2 = arith.constant 2048 : i64
%xv = pto.make_tensor_view %x, shape = [%rows, %c16], strides = [%c16, %c1] : !view
%yv = pto.make_tensor_view %y, shape = [%rows, %c16], strides = [%c16, %c1] : !view
%gv = pto.make_tensor_view %g, shape = [%rows, %c16], strides = [%c16, %c1] : !view
%x0 = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !view -> !part
";

/// Every tile is loaded first, and then all pipes are drained.
const CUBE_TILES: &str = "%a = pto.alloc_tile addr = %a0 : !l1
%b = pto.alloc_tile addr = %a1 : !l1
%left = pto.alloc_tile addr = %a0 : !l0a
%right = pto.alloc_tile addr = %a0 : !l0b
%acc = pto.alloc_tile addr = %a0 : !l0c
pto.tload ins(%x0 : !part) outs(%a : !l1)
pto.tload ins(%x0 : !part) outs(%b : !l1)
pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID7>]
pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID7>]
pto.tmov ins(%a : !l1) outs(%left : !l0a)
pto.tmov ins(%b : !l1) outs(%right : !l0b)
pto.barrier <PIPE_ALL>
pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)
pto.barrier <PIPE_ALL>
";

const VECTOR_TILES: &str = "%in = pto.alloc_tile addr = %a0 : !nd
%nz = pto.alloc_tile addr = %a1 : !nz
%out = pto.alloc_tile addr = %a2 : !nd
pto.tload ins(%x0 : !part) outs(%in : !nd)
pto.tload ins(%x0 : !part) outs(%out : !nd)
pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID7>]
pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID7>]
pto.tmov ins(%in : !nd) outs(%nz : !nz)
pto.barrier <PIPE_ALL>
";

fn write_line(text: &mut String, core: Core, line: Line, (name, place): (usize, &str), popped: &mut usize) {
    let pipe = |pipe: Pipe| NAMES[usize::from(pipe)];
    let own = name % 100;
    // A part of a tensor: 128 rows for each round, 16 of them for each line.
    let part = |view: &str, own: usize| {
        format!(
            "%k{name} = arith.constant {} : index\n%o{name} = arith.addi {place}, %k{name} : index\n\
             %p{name} = pto.partition_view {view}, offsets = [%o{name}, %c0], sizes = [%c16, %c16] : !view -> !part\n",
            own % 8 * 16
        )
    };
    let tile = format!("%t{}_{}", name / 100, *popped);
    let written = match line {
        Set(from, to, id) => format!("pto.set_flag[<{}>, <{}>, <EVENT_ID{id}>]", pipe(from), pipe(to)),
        Wait(from, to, id) => format!("pto.wait_flag[<{}>, <{}>, <EVENT_ID{id}>]", pipe(from), pipe(to)),
        Get(on, token) => format!("pto.get_buf \"{}\", {token}, 0", pipe(on)),
        Release(on, token) => format!("pto.rls_buf \"{}\", {token}, 0", pipe(on)),
        All => "pto.barrier <PIPE_ALL>".into(),
        Barrier(on) => format!("pto.barrier <{}>", pipe(on)),
        Send(on, id) => format!("pto.sync.set <{}>, {id}", pipe(on)),
        Await(on, id) => format!("pto.sync.wait <{}>, {id}", pipe(on)),
        Load => part("%xv", own) + &format!("pto.tload ins(%p{name} : !part) outs(%in : !nd)"),
        Prepare => "pto.tmov ins(%in : !nd) outs(%nz : !nz)".into(),
        Store => part("%yv", own) + &format!("pto.tstore ins(%out : !nd) outs(%p{name} : !part)"),
        StorePopped => part("%yv", own) + &format!("pto.tstore ins({tile} : !nd) outs(%p{name} : !part)"),
        StoreShared => part("%gv", 0) + &format!("pto.tstore ins(%in : !nd) outs(%p{name} : !part)"),
        LoadShared => part("%gv", 0) + &format!("pto.tload ins(%p{name} : !part) outs(%a : !l1)"),
        Move => "pto.tmov ins(%a : !l1) outs(%left : !l0a)".into(),
        Use => format!("pto.tmov ins({tile} : !nd) outs(%out : !nd)"),
        UsePopped => format!("pto.tmov ins({tile} : !l1) outs(%left : !l0a)"),
        Multiply => "pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)".into(),
        Push if core == CUBE => "pto.tpush_to_aiv(%acc : !l0c) {split = 0}".into(),
        Push => "pto.tpush_to_aic(%nz : !nz) {split = 0}".into(),
        Pop => {
            *popped += 1;
            let (verb, kind) = if core == CUBE { ("aiv", "!l1") } else { ("aic", "!nd") };
            format!("%t{}_{} = pto.tpop_from_{verb} {{split = 0}} -> {kind}", name / 100, *popped)
        }
        Free => format!("pto.tfree_from_{} {{split = 0}}", if core == CUBE { "aiv" } else { "aic" }),
    };
    let _ = writeln!(text, "{written}");
}
