//! All interleavings of a small program of a Cube and a Vector core, state by state.
//!
//! Written from the specifications (seed 000 for rings, seed 004 for flags, tokens and semaphores), independently of
//! the engine: scalar units issue in order; a pipe executes its steps in order, at arbitrary times; a flag is either
//! set or not; a semaphore counts to 15; a ring has a `ready` and a `free` flag for each slot; a get of a buffer waits
//! for the releases issued before it. There are no clocks and no time. Two op instances conflict if both may be next at
//! the same time; a slot is used after its free if it may be freed while an op instance that uses its tile is still
//! pending.
//!
//! Equivalent interleavings are not explored twice: a step that disables nothing and is not disabled by anything is
//! taken at once (sets, releases, barriers, gets, waits for objects that cannot overflow, and every issue except that
//! of a wait for an empty pipe, at which the pipe waits from then on).

use std::collections::{BTreeMap, BTreeSet};

/// A core: 0 is the Cube core, 1 the Vector core.
pub type Core = usize;
/// Pipes of a core, by a small number.
pub type Pipe = u8;
pub const PIPES: usize = 6;

/// A synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Object {
    Flag(Core, Pipe, Pipe, u8),
    /// By the waiting core.
    Semaphore(Core, u8),
    /// By ring (identified by its consumer's core) and slot.
    Ready(Core, u8),
    Free(Core, u8),
}

impl Object {
    fn capacity(self) -> u8 {
        if matches!(self, Object::Semaphore(..)) { 15 } else { 1 }
    }
}

/// A step of a pipe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    Work {
        reads: Vec<u16>,
        writes: Vec<u16>,
        tile: Option<(Core, usize)>,
    },
    Set(Object),
    /// Frees the tile with this number.
    Free(Object, (Core, usize)),
    Wait(Object),
    Get(u8),
    Release(u8),
    Barrier,
}

/// An action of a scalar unit: a step for a pipe, or a barrier of all pipes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Issue {
    On(Pipe, Step),
    All,
}

/// The actions that each core issues.
pub type Programs = [Vec<Issue>; 2];

/// Maximum number of states of a program.
const STATES: usize = 400_000;

/// The result of an exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    Nothing,
    Wrong(&'static str),
    /// There are too many states.
    TooMany,
}

/// The state of a program: the number of issued actions, the completed steps of each pipe and whether it is at a wait,
/// and all counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    issued: [u16; 2],
    over: [[u16; PIPES]; 2],
    stands: [u8; 2],
    counts: Vec<u8>,
}

struct Explorer<'a> {
    programs: &'a Programs,
    /// The steps of each pipe with their indices in the core's actions.
    lists: [Vec<Vec<(usize, &'a Step)>>; 2],
    objects: BTreeMap<Object, usize>,
    /// For each get, by core and index, the number of steps of each pipe that must be complete.
    gets: BTreeMap<(Core, usize), Vec<(usize, u16)>>,
    /// The op instances that use a tile: the pipe, and the number of its steps that are then complete.
    uses: BTreeMap<(Core, usize), Vec<(usize, u16)>>,
}

/// The pipe that may reorder its accesses to global memory (seed 004, `pipe_barrier`), and the first cell of that
/// memory.
const OVERTAKES: Pipe = 1;
pub const GLOBAL: u16 = 100;
/// The first cell that is no longer in global memory.
pub const SLOTS: u16 = 200;

/// Two writes of the reordering pipe to the same global bytes: an error if nothing orders them, and undecided here if a
/// signal may have come back in between.
fn overtaken(programs: &Programs) -> Found {
    let mut found = Found::Nothing;
    for program in programs {
        let mut written: BTreeMap<u16, bool> = BTreeMap::new();
        for issue in program {
            match issue {
                Issue::All | Issue::On(OVERTAKES, Step::Barrier) => written.clear(),
                Issue::On(OVERTAKES, Step::Wait(_) | Step::Get(_)) => {
                    written.values_mut().for_each(|plain| *plain = false)
                }
                Issue::On(OVERTAKES, Step::Work { writes, .. }) => {
                    for cell in writes.iter().filter(|cell| (GLOBAL..SLOTS).contains(*cell)) {
                        match written.insert(*cell, true) {
                            Some(true) => return Found::Wrong("two stores of one pipe to the same global bytes"),
                            Some(false) => found = Found::TooMany,
                            None => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The error in some interleaving, if any.
pub fn explore(programs: &Programs) -> Found {
    match overtaken(programs) {
        Found::Nothing => {}
        other => return other,
    }
    match Explorer::new(programs).and_then(|explorer| explorer.all()) {
        Ok(true) => Found::Nothing,
        Ok(false) => Found::TooMany,
        Err(why) => Found::Wrong(why),
    }
}

impl<'a> Explorer<'a> {
    fn new(programs: &'a Programs) -> Result<Explorer<'a>, &'static str> {
        let mut lists: [Vec<Vec<(usize, &Step)>>; 2] = [vec![Vec::new(); PIPES], vec![Vec::new(); PIPES]];
        let (mut objects, mut gets, mut uses) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::<_, Vec<_>>::new());
        for (core, program) in programs.iter().enumerate() {
            let mut releases: BTreeMap<u8, Vec<(usize, u16)>> = BTreeMap::new();
            let mut held: BTreeMap<(Pipe, u8), u32> = BTreeMap::new();
            for (place, issue) in program.iter().enumerate() {
                let Issue::On(pipe, step) = issue else { continue };
                let list = &mut lists[core][usize::from(*pipe)];
                list.push((place, step));
                let over = list.len() as u16;
                match step {
                    Step::Set(object) | Step::Wait(object) | Step::Free(object, _) => {
                        let next = objects.len();
                        objects.entry(*object).or_insert(next);
                    }
                    Step::Get(token) => {
                        gets.insert((core, place), releases.get(token).cloned().unwrap_or_default());
                        *held.entry((*pipe, *token)).or_default() += 1;
                    }
                    Step::Release(token) => {
                        let held = held.entry((*pipe, *token)).or_default();
                        *held = held.checked_sub(1).ok_or("a buffer is released that the pipe has not got")?;
                        releases.entry(*token).or_default().push((usize::from(*pipe), over));
                    }
                    Step::Work { tile: Some(tile), .. } => {
                        uses.entry(*tile).or_default().push((usize::from(*pipe), over));
                    }
                    _ => {}
                }
            }
            if held.values().any(|held| *held > 0) {
                return Err("a buffer is not released");
            }
        }
        Ok(Explorer { programs, lists, objects, gets, uses })
    }

    fn start(&self) -> State {
        let counts = self.objects.keys().map(|object| (self.objects[object], matches!(object, Object::Free(..))));
        let mut state =
            State { issued: [0; 2], over: [[0; PIPES]; 2], stands: [0; 2], counts: vec![0; self.objects.len()] };
        counts.for_each(|(at, free)| state.counts[at] = u8::from(free));
        state
    }

    /// Whether all states were visited.
    fn all(&self) -> Result<bool, &'static str> {
        let mut first = self.start();
        self.settle(&mut first)?;
        let (mut seen, mut open) = (BTreeSet::from([first.clone()]), vec![first]);
        while let Some(state) = open.pop() {
            let next = self.successors(&state)?;
            if next.is_empty() {
                self.end(&state)?;
            }
            for state in next {
                if seen.insert(state.clone()) {
                    open.push(state);
                }
            }
            if seen.len() > STATES {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The step at the head of a pipe, if it has been issued.
    fn head(&self, state: &State, core: Core, pipe: usize) -> Option<(usize, &'a Step)> {
        let (place, step) = *self.lists[core][pipe].get(usize::from(state.over[core][pipe]))?;
        (place < usize::from(state.issued[core])).then_some((place, step))
    }

    fn is_drained(&self, state: &State, core: Core) -> bool {
        (0..PIPES).all(|pipe| self.head(state, core, pipe).is_none())
    }

    /// Whether the pipe has been empty since the scalar unit last found all pipes empty.
    fn is_fresh(&self, state: &State, core: Core, pipe: usize) -> bool {
        let issued = &self.programs[core][..usize::from(state.issued[core])];
        let since = issued.iter().rposition(|issue| *issue == Issue::All).map_or(0, |at| at + 1);
        !issued[since..].iter().any(|issue| matches!(issue, Issue::On(on, _) if usize::from(*on) == pipe))
    }

    /// Takes every step that commutes with all others.
    fn settle(&self, state: &mut State) -> Result<(), &'static str> {
        let mut moved = true;
        while std::mem::take(&mut moved) {
            for core in 0..2 {
                for pipe in 0..PIPES {
                    while let Some((place, step)) = self.head(state, core, pipe) {
                        let stands = state.stands[core] >> pipe & 1 != 0;
                        match step {
                            Step::Set(object) => self.signal(state, *object)?,
                            Step::Free(object, tile) => {
                                let open = |(pipe, over): &(usize, u16)| state.over[tile.0][*pipe] < *over;
                                if self.uses.get(tile).is_some_and(|uses| uses.iter().any(open)) {
                                    return Err("a slot is given back before its tile was used");
                                }
                                self.signal(state, *object)?;
                            }
                            Step::Get(_) => {
                                let over = |(pipe, over): &(usize, u16)| state.over[core][*pipe] >= *over;
                                if !self.gets[&(core, place)].iter().all(over) {
                                    break;
                                }
                            }
                            Step::Wait(object) if object.capacity() > 1 && !stands => {
                                self.arrive(state, core, pipe, *object);
                                moved = true;
                                continue;
                            }
                            Step::Release(_) | Step::Barrier => {}
                            Step::Wait(_) | Step::Work { .. } => break,
                        }
                        state.over[core][pipe] += 1;
                        moved = true;
                    }
                }
                // Nothing is issued before earlier signals have been sent: only then may a signal overflow.
                let next = self.programs[core].get(usize::from(state.issued[core])).filter(|_| !moved);
                let goes = match next {
                    None => false,
                    Some(Issue::All) => self.is_drained(state, core),
                    Some(Issue::On(..)) => self.stands_at_once(state, core).is_none(),
                };
                if goes {
                    state.issued[core] += 1;
                    moved = true;
                }
            }
        }
        Ok(())
    }

    /// The pipe and the object, if the next action is a wait for an empty pipe.
    fn stands_at_once(&self, state: &State, core: Core) -> Option<(usize, Object)> {
        match self.programs[core].get(usize::from(state.issued[core]))? {
            Issue::On(pipe, Step::Wait(object)) => {
                let pipe = usize::from(*pipe);
                (object.capacity() == 1 && self.is_fresh(state, core, pipe)).then_some((pipe, *object))
            }
            _ => None,
        }
    }

    fn successors(&self, state: &State) -> Result<Vec<State>, &'static str> {
        let mut all = Vec::new();
        let mut works: Vec<(&[u16], &[u16])> = Vec::new();
        for core in 0..2 {
            if let Some((pipe, object)) = self.stands_at_once(state, core) {
                let mut next = state.clone();
                next.issued[core] += 1;
                self.arrive(&mut next, core, pipe, object);
                self.settle(&mut next)?;
                all.push(next);
            }
            for pipe in 0..PIPES {
                let Some((_, step)) = self.head(state, core, pipe) else { continue };
                let mut next = state.clone();
                match step {
                    Step::Work { reads, writes, .. } => {
                        works.push((reads, writes));
                        next.over[core][pipe] += 1;
                    }
                    Step::Wait(object) if state.stands[core] >> pipe & 1 == 0 => {
                        self.arrive(&mut next, core, pipe, *object);
                    }
                    _ => continue,
                }
                self.settle(&mut next)?;
                all.push(next);
            }
        }
        let touch = |list: &[u16], cells: &[u16]| cells.iter().any(|cell| list.contains(cell));
        for (at, (reads, writes)) in works.iter().enumerate() {
            for (other_reads, other_writes) in &works[at + 1..] {
                if touch(writes, other_reads) || touch(writes, other_writes) || touch(reads, other_writes) {
                    return Err("two works touch the same bytes at the same time");
                }
            }
        }
        Ok(all)
    }

    /// A pipe reaches a wait.
    fn arrive(&self, state: &mut State, core: Core, pipe: usize, object: Object) {
        let count = &mut state.counts[self.objects[&object]];
        if *count == 0 {
            state.stands[core] |= 1 << pipe;
        } else {
            *count -= 1;
            state.over[core][pipe] += 1;
        }
    }

    /// Signals an object: a pipe that waits for it takes the signal.
    fn signal(&self, state: &mut State, object: Object) -> Result<(), &'static str> {
        for core in 0..2 {
            for pipe in 0..PIPES {
                let stands = state.stands[core] >> pipe & 1 != 0;
                if stands && matches!(self.head(state, core, pipe), Some((_, Step::Wait(of))) if *of == object) {
                    state.stands[core] &= !(1 << pipe);
                    state.over[core][pipe] += 1;
                    return Ok(());
                }
            }
        }
        let count = &mut state.counts[self.objects[&object]];
        *count += 1;
        if *count > object.capacity() { Err("a signal finds no room") } else { Ok(()) }
    }

    /// No step is possible.
    fn end(&self, state: &State) -> Result<(), &'static str> {
        let ended = (0..2)
            .all(|core| usize::from(state.issued[core]) == self.programs[core].len() && self.is_drained(state, core));
        if !ended {
            return Err("nothing can go on");
        }
        for (object, at) in &self.objects {
            match (object, state.counts[*at]) {
                (Object::Flag(..), 1..) => return Err("a flag is left"),
                (Object::Ready(..), 1..) => return Err("a tile is not popped"),
                (Object::Free(..), 0) => return Err("a slot is not given back"),
                _ => {}
            }
        }
        Ok(())
    }
}
