//! Random race-free programs, for tests with many schedules.

use proptest::prelude::*;
use slipring_machine::{Cost, Pipe, Platform, Role};
use slipring_program::*;
use slipring_tile::Space;

use super::*;

pub const TILE: u64 = 32;

/// A step of a core: its ring, and how the core's own pipes are ordered around it.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    Push(usize),
    Pop(usize),
    /// Work on the core's own tile.
    Compute(Role),
}

/// A platform and costs of operations that represent one schedule.
#[derive(Clone, Debug)]
pub struct Timing {
    pub works: Vec<u32>,
    pub queue_depth: u32,
    pub cycles: u32,
    pub latency: u32,
    pub scalar: u32,
}

pub fn timing() -> impl Strategy<Value = Timing> {
    (proptest::collection::vec(1..400u32, 1..12), 1..5u32, 0..4u32, 0..40u32, 0..3u32).prop_map(
        |(works, queue_depth, cycles, latency, scalar)| Timing { works, queue_depth, cycles, latency, scalar },
    )
}

impl Timing {
    pub fn platform(&self, clusters: u32) -> Platform {
        let mut platform = a5();
        platform.clusters = clusters;
        platform.pipes.queue_depth = self.queue_depth;
        platform.sync.cycles = self.cycles;
        platform.sync.cross_core_latency = self.latency;
        platform.cost.scalar = self.scalar;
        platform
    }
}

/// Choices that determine a program: each selects one of the steps that are possible after the previous ones.
#[derive(Clone, Debug)]
pub struct Shape {
    pub slots: [u32; 4],
    pub choices: Vec<u8>,
    pub syncs: Vec<bool>,
}

pub fn shape() -> impl Strategy<Value = Shape> {
    let slots = [1..5u32, 1..5u32, 1..5u32, 1..5u32];
    (slots, proptest::collection::vec(any::<u8>(), 1..60), proptest::collection::vec(any::<bool>(), 1..20))
        .prop_map(|(slots, choices, syncs)| Shape { slots, choices, syncs })
}

/// An order in which all cores' steps can run one after another. Each core's part of it is its program, so the program
/// has a complete run. As no step can take another's signal, every run completes.
pub fn actions(shape: &Shape) -> Vec<Action> {
    let mut filled = [0u32; 4];
    let mut list = Vec::new();
    for choice in &shape.choices {
        let ring = usize::from(choice / 16) % 4;
        match choice % 3 {
            0 if filled[ring] < shape.slots[ring] => {
                filled[ring] += 1;
                list.push(Action::Push(ring));
            }
            1 if filled[ring] > 0 => {
                filled[ring] -= 1;
                list.push(Action::Pop(ring));
            }
            _ => list.push(Action::Compute(Role::ALL[usize::from(choice / 16) % 3])),
        }
    }
    for (ring, filled) in filled.iter().enumerate() {
        list.extend((0..*filled).map(|_| Action::Pop(ring)));
    }
    list
}

/// The memory in which a core keeps its own tile and its operands.
fn home(role: Role) -> Place {
    if role == Role::Aic { L1 } else { (Space::Vec, role) }
}

fn compute_pipe(role: Role) -> Pipe {
    if role == Role::Aic { Pipe::M } else { Pipe::V }
}

pub fn build(shape: &Shape, timing: &Timing) -> Build {
    build_rounds(shape, timing, None)
}

/// The tag of a ring's end: it counts slots, in a register if the steps are repeated.
struct Tag {
    count: u64,
    reg: Option<Reg>,
    slots: u64,
}

impl Tag {
    /// The next slot, and its address.
    fn next(&mut self, c: &mut Code<'_>, base: u64) -> (Operand, Operand) {
        let Some(reg) = self.reg else {
            let tag = self.count % self.slots;
            self.count += 1;
            return (imm(tag), imm(base + tag * TILE));
        };
        let tag = c.calc(|[tag, ..]| Ok(tag), Operand::Reg(reg), imm(0));
        let args = [Operand::Reg(reg), imm(self.slots), imm(0)];
        c.emit(Inst::Scalar { f: |[tag, slots, _]| Ok((tag + 1) % slots), law: Law::Unknown, d: reg, args });
        let offset = c.calc(|[tag, size, _]| Ok(tag * size), tag, imm(TILE));
        (tag, c.plus(offset, base))
    }
}

/// The same with all steps in a loop of this many iterations. The shape determines whether consecutive iterations are
/// ordered on a core's pipes.
pub fn build_rounds(shape: &Shape, timing: &Timing, rounds: Option<u64>) -> Build {
    let mut b = Build::default();
    let own = 4096u64;
    let rings: Vec<Ring> = (0..4)
        .map(|at| {
            let lane = Role::lane(at / 2);
            let (cube, vector) = ((Role::Aic, Pipe::Fix), (lane, Pipe::Mte3));
            let base = at as u64 * 512;
            match at % 2 {
                0 => b.ring(cube, (lane, Pipe::V), shape.slots[at], TILE as u32, home(lane), base),
                _ => b.ring(vector, (Role::Aic, Pipe::Mte1), shape.slots[at], TILE as u32, L1, base),
            }
        })
        .collect();
    let list = actions(shape);
    let mut work = 0usize;
    for role in Role::ALL {
        let mut events = std::collections::BTreeMap::new();
        for from in Pipe::ALL {
            for to in Pipe::ALL {
                events.insert((from, to), b.event(role, from, to, 0));
            }
        }
        b.core(role, |c| {
            let block = c.special(Special::BlockIdx);
            let out = c.special(Special::Param(role.index() as u32));
            let to = c.calc(|[out, block, _]| Ok(out + block * TILE), out, block);
            for ring in rings.iter().filter(|r| r.consumer.0 == role) {
                c.initialize(ring);
            }
            let mut tags: Vec<Tag> = rings
                .iter()
                .map(|ring| Tag { count: 0, reg: rounds.map(|_| c.mov(imm(0))), slots: ring.slots.into() })
                .collect();
            let mut last: Option<Pipe> = None;
            // Orders the next pipe's operations after the last pipe's, by a flag or by draining the core.
            let order = |c: &mut Code<'_>, pipe: Pipe, work: usize, last: &mut Option<Pipe>| {
                if let Some(from) = last.replace(pipe)
                    && from != pipe
                {
                    if shape.syncs[work % shape.syncs.len()] {
                        c.set(from, events[&(from, pipe)]);
                        c.wait(pipe, events[&(from, pipe)]);
                    } else {
                        c.barrier(None);
                    }
                }
            };
            let store = if role == Role::Aic { Pipe::Mte2 } else { Pipe::Mte3 };
            let mut steps = |c: &mut Code<'_>| {
                for action in &list {
                    work += 1;
                    let cost = Cost::fixed(timing.works[work % timing.works.len()]);
                    let here = home(role);
                    let own = (here, imm(own));
                    let mix = |c: &mut Code<'_>, pipe, from: (Place, Operand), to: (Place, Operand)| {
                        let effect = Mix { from: from.0, to: to.0 };
                        c.work(pipe, "mix", effect, &[from.1, to.1, imm(TILE)], cost);
                    };
                    match *action {
                        Action::Compute(core) if core == role => {
                            order(c, compute_pipe(role), work, &mut last);
                            mix(c, compute_pipe(role), (here, imm(4096 + TILE)), own);
                        }
                        Action::Push(at) if rings[at].producer.0 == role => {
                            let ring = &rings[at];
                            let (tag, slot) = tags[at].next(c, ring.base);
                            order(c, ring.producer.1, work, &mut last);
                            c.wait(ring.producer.1, nth(ring.free, tag));
                            mix(c, ring.producer.1, own, (ring.place, slot));
                            c.set(ring.producer.1, nth(ring.ready, tag));
                        }
                        Action::Pop(at) if rings[at].consumer.0 == role => {
                            let ring = &rings[at];
                            let (tag, slot) = tags[at].next(c, ring.base);
                            order(c, ring.consumer.1, work, &mut last);
                            c.wait(ring.consumer.1, nth(ring.ready, tag));
                            mix(c, ring.consumer.1, (ring.place, slot), own);
                            c.set(ring.consumer.1, nth(ring.free, tag));
                        }
                        _ => {}
                    }
                }
                if rounds.is_some() && shape.syncs[0] {
                    order(c, store, 0, &mut last);
                    c.copy(store, (home(role), imm(own)), (GM, to), TILE);
                }
                if rounds.is_some() && shape.syncs[shape.syncs.len() - 1] {
                    c.barrier(None);
                }
            };
            match rounds {
                Some(rounds) => c.repeat(imm(rounds), |c, _| steps(c)),
                None => steps(c),
            }
            c.barrier(None);
            c.copy(store, (home(role), imm(own)), (GM, to), TILE);
        });
    }
    b
}
