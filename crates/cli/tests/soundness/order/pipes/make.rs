//! Generates random programs, repairs them, and mutates the repaired ones.

use std::collections::BTreeMap;

use super::{Act, All, Event, Launch, Mte2, Mte3, Pipe, S, Space, TILES, V, Window, program, share, tile};
use crate::dice::Dice;

/// A random program: as generated, repaired, or repaired and mutated.
pub(super) fn acts(rng: Dice, launch: Launch) -> Vec<Act> {
    let mut maker = Maker { rng, launch, ids: BTreeMap::new() };
    let many = 3 + maker.rng.below(7);
    let mut acts = maker.acts(many, false);
    if maker.rng.chance(85) {
        maker.repair(&mut acts);
        for _ in 0..maker.rng.below(3) {
            maker.change(&mut acts);
        }
    }
    acts
}

/// Generates statements.
struct Maker {
    rng: Dice,
    launch: Launch,
    ids: BTreeMap<(Pipe, Pipe), u64>,
}

impl Maker {
    fn window(&mut self, y: bool, inside: bool) -> Window {
        let row = self.rng.pick(&[0, 0, 4, 8]);
        let column = self.rng.pick(&[0, 0, 8, 16]);
        Window { y, row, column, by: if inside { self.rng.pick(&[0, 4, 8]) } else { 0 } }
    }

    fn tile(&mut self) -> usize {
        self.rng.place(TILES.len())
    }

    fn pipe(&mut self) -> Pipe {
        self.rng.pick(&[Mte2, V, Mte3])
    }

    /// A vector operation whose operands are the same tile or disjoint.
    fn vector(&mut self) -> Act {
        loop {
            let from: Vec<usize> = (0..1 + self.rng.below(2)).map(|_| self.tile()).collect();
            let to = if self.rng.chance(35) { from[0] } else { self.tile() };
            if from.iter().all(|from| *from == to || !share(&tile(*from), &tile(to))) {
                return Act::Vector { from, to };
            }
        }
    }

    /// An id that no flag between the two pipes uses yet.
    fn id(&mut self, from: Pipe, to: Pipe) -> Option<u64> {
        let id = self.ids.entry((from, to)).or_default();
        *id += 1;
        (*id <= 8).then(|| *id - 1)
    }

    fn acts(&mut self, count: u64, inside: bool) -> Vec<Act> {
        let mut list = Vec::new();
        for _ in 0..count {
            match self.rng.below(20) {
                0..=2 => list.push(Act::Load { from: self.window(self.launch.a2a3, inside), to: self.tile() }),
                3..=4 => list.push(Act::Load { from: self.window(false, inside), to: self.tile() }),
                5..=10 => list.push(self.vector()),
                11..=13 => {
                    let adds = self.rng.chance(25);
                    list.push(Act::Save { from: self.tile(), to: self.window(true, inside), adds });
                }
                14 | 15 => {
                    let (from, to) = (self.pipe(), self.pipe());
                    if from != to {
                        list.extend(self.pair(from, to));
                    }
                }
                18 => {
                    let space = self.rng.pick(&[Space::Local, Space::Local, Space::X, Space::Y]);
                    let at = self.rng.pick(&[0, 5, 64, 130]);
                    list.push(Act::Element { space, at, writes: space != Space::X && self.rng.chance(60) });
                }
                16 => list.push(Act::Barrier(self.rng.pick(&[V, Mte3, Mte2, All]))),
                17 if !inside => {
                    let many = 2 + self.rng.below(3);
                    list.push(Act::Loop { times: 2, body: self.acts(many, true) });
                }
                _ => list.push(self.vector()),
            }
        }
        list
    }

    /// A set directly followed by its wait, or a barrier if there are no ids left.
    fn pair(&mut self, from: Pipe, to: Pipe) -> Vec<Act> {
        match self.id(from, to) {
            Some(id) => vec![Act::Set { from, to, id }, Act::Wait { from, to, id }],
            None => vec![Act::Barrier(All)],
        }
    }

    /// Inserts flags and barriers where two op instances race, until only blocks race or nothing does.
    fn repair(&mut self, acts: &mut Vec<Act>) {
        for _ in 0..60 {
            let program = program(acts, self.launch);
            let races = program.races(&program.before(true));
            let one_block = |pair: &&[usize; 2]| program.events[pair[0]].block == program.events[pair[1]].block;
            let Some([earlier, later]) = races.iter().find(one_block).copied() else { return };
            let (from, to) = (program.events[earlier].pipe, program.events[later].pipe);
            let path = program.events[later].path.clone();
            let (at, above) = path.split_last().unwrap();
            // A flag in a loop would be set again before the wait.
            let mut order = match from == to {
                _ if to == S || self.rng.chance(15) => vec![Act::Barrier(All)],
                true => vec![Act::Barrier(from)],
                false if above.is_empty() => self.pair(from, to),
                false => vec![Act::Barrier(All)],
            };
            let list = list(acts, above);
            while let Some(act) = order.pop() {
                list.insert(*at, act);
            }
        }
    }

    /// Changes something: synchronisation is removed, moved, or replaced by another barrier; an op instance gets
    /// another operand.
    fn change(&mut self, acts: &mut Vec<Act>) {
        let program = program(acts, self.launch);
        let own: Vec<&Event> = program.events.iter().filter(|event| event.block == 0).collect();
        let orders: Vec<&Event> = own.iter().filter(|event| !event.is_work()).copied().collect();
        let some = if self.rng.chance(75) && !orders.is_empty() { orders } else { own };
        if some.is_empty() {
            return;
        }
        let path = self.rng.pick(&some).path.clone();
        let (at, above) = path.split_last().unwrap();
        let (kind, tile) = (self.rng.below(3), self.tile());
        let barrier = Act::Barrier(self.rng.pick(&[V, Mte3, Mte2, All]));
        let list = list(acts, above);
        let behind_work = *at > 0 && !matches!(list[*at - 1], Act::Loop { .. });
        match &mut list[*at] {
            Act::Barrier(_) if kind == 0 => drop(list.remove(*at)),
            Act::Barrier(_) if kind == 1 && *at > 0 => list.swap(*at, *at - 1),
            Act::Barrier(_) => list[*at] = barrier,
            Act::Set { .. } if kind == 0 => {
                // A set together with its wait: otherwise the program would not end.
                if matches!(list.get(*at + 1), Some(Act::Wait { .. })) {
                    list.drain(*at..*at + 2);
                }
            }
            Act::Set { .. } if behind_work => list.swap(*at, *at - 1),
            Act::Load { to, .. } => *to = tile,
            Act::Save { from, .. } => *from = tile,
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
