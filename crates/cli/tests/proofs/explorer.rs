//! All interleavings of a small program, state by state.
//!
//! Written from the specification of flags and pipes (seed 004), independently of the engine: the scalar unit issues in
//! order; a pipe executes its steps in order, at arbitrary times; work lasts from one moment to a later one; a flag is
//! either set or not; a pipe at a wait takes the signal when it comes. A pipe without any earlier step is at its first
//! step as soon as that is issued. There are no clocks and no time.

use std::collections::BTreeSet;

/// A step of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Writes or reads a buffer.
    Work {
        buffer: u8,
        write: bool,
    },
    Set(u8),
    Wait(u8),
}

/// Steps in the order in which they are issued, each with its pipe.
pub type Program = Vec<(u8, Step)>;

/// Pipes and flags of a program.
const PIPES: usize = 2;

/// The state of a pipe: completed steps, and whether it is at the next one (for work: whether that has begun).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Place {
    over: u16,
    stands: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct State {
    issued: u16,
    pipes: [Place; PIPES],
    /// A bit for each flag.
    flags: u16,
}

/// The error of a program in some interleaving; `None` if there is none.
pub fn explore(program: &Program) -> Option<&'static str> {
    let of = |pipe: usize| program.iter().enumerate().filter(move |(_, (own, _))| usize::from(*own) == pipe);
    let lists: Vec<Vec<(usize, Step)>> =
        (0..PIPES).map(|pipe| of(pipe).map(|(at, (_, step))| (at, *step)).collect()).collect();
    let mut seen = BTreeSet::from([State::default()]);
    let mut open = vec![State::default()];
    while let Some(state) = open.pop() {
        let next = match successors(program, &lists, &state) {
            Ok(next) => next,
            Err(wrong) => return Some(wrong),
        };
        let ended = usize::from(state.issued) == program.len()
            && (0..PIPES).all(|pipe| usize::from(state.pipes[pipe].over) == lists[pipe].len());
        match (next.is_empty(), ended) {
            (true, false) => return Some("deadlock"),
            (true, true) if state.flags != 0 => return Some("a flag is left"),
            _ => open.extend(next.into_iter().filter(|state| seen.insert(*state))),
        }
    }
    None
}

fn successors(program: &Program, lists: &[Vec<(usize, Step)>], state: &State) -> Result<Vec<State>, &'static str> {
    let mut all = Vec::new();
    if usize::from(state.issued) < program.len() {
        let mut next = State { issued: state.issued + 1, ..*state };
        let pipe = usize::from(program[usize::from(state.issued)].0);
        // The pipe was empty before: it is at the wait immediately.
        if lists[pipe]
            .first()
            .is_some_and(|(at, step)| *at == usize::from(state.issued) && matches!(step, Step::Wait(_)))
        {
            arrive(lists, &mut next, pipe);
        }
        all.push(next);
    }
    for pipe in 0..PIPES {
        let place = state.pipes[pipe];
        let Some((at, step)) = lists[pipe].get(usize::from(place.over)) else { continue };
        if *at >= usize::from(state.issued) {
            continue;
        }
        let mut next = *state;
        match (step, place.stands) {
            // A pipe at a wait continues when its signal comes.
            (Step::Wait(_), true) => continue,
            (Step::Wait(_), false) => arrive(lists, &mut next, pipe),
            (Step::Set(flag), _) => {
                signal(lists, &mut next, *flag)?;
                next.pipes[pipe] = Place { over: place.over + 1, stands: false };
            }
            (Step::Work { buffer, write }, false) => {
                let conflicts = (0..PIPES).filter(|other| *other != pipe).any(|other| {
                    let its = state.pipes[other];
                    let running = lists[other].get(usize::from(its.over)).filter(|_| its.stands);
                    matches!(running, Some((_, Step::Work { buffer: b, write: w })) if b == buffer && (*w || *write))
                });
                if conflicts {
                    return Err("two works touch a buffer at the same time");
                }
                next.pipes[pipe].stands = true;
            }
            (Step::Work { .. }, true) => next.pipes[pipe] = Place { over: place.over + 1, stands: false },
        }
        all.push(next);
    }
    Ok(all)
}

/// A pipe reaches a wait.
fn arrive(lists: &[Vec<(usize, Step)>], state: &mut State, pipe: usize) {
    let Some((_, Step::Wait(flag))) = lists[pipe].get(usize::from(state.pipes[pipe].over)) else { return };
    match state.flags >> flag & 1 {
        0 => state.pipes[pipe].stands = true,
        _ => {
            state.flags &= !(1 << flag);
            state.pipes[pipe] = Place { over: state.pipes[pipe].over + 1, stands: false };
        }
    }
}

/// Sets a flag: a pipe that waits for it takes the signal.
fn signal(lists: &[Vec<(usize, Step)>], state: &mut State, flag: u8) -> Result<(), &'static str> {
    for (place, list) in state.pipes.iter_mut().zip(lists) {
        let waits = list.get(usize::from(place.over)).is_some_and(|(_, step)| *step == Step::Wait(flag));
        if place.stands && waits {
            *place = Place { over: place.over + 1, stands: false };
            return Ok(());
        }
    }
    if state.flags >> flag & 1 != 0 {
        return Err("a flag is set twice");
    }
    state.flags |= 1 << flag;
    Ok(())
}
