//! The order that buffer tokens make: an acquire comes after every release that was issued before it, and in the other interpretation
//! after some that are issued after it.

use std::collections::VecDeque;

use crate::clock::Clock;
use crate::notes::Notes;

/// A buffer token of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token {
    /// Releases issued: the number of the next one.
    issued: u32,
    /// What the releases before number `first` knew together.
    before: Clock,
    first: u32,
    /// The releases from `first` on: the lane, and what those knew that are done.
    known: VecDeque<(usize, Option<Clock>)>,
    /// How many releases of each lane come before those.
    dropped: Vec<(usize, u32)>,
    /// Releases that are not done.
    open: Vec<Open>,
    /// Acquires that are not over.
    acquires: Vec<Acquire>,
}

/// An acquire that is not over.
#[derive(Clone, Debug)]
struct Acquire {
    lane: usize,
    /// How many releases it waits for.
    goal: u32,
    /// Later ones, which it waits for as well: the lane, and which of its releases, from 1.
    later: Vec<(usize, u32)>,
}

/// A release that is not done.
#[derive(Clone, Debug)]
struct Open {
    number: u32,
    lane: usize,
    /// It holds its pipe until the earlier releases are done.
    deferred: bool,
    /// What other pipes' work adds that it waits for.
    more: Clock,
}

impl Token {
    /// An acquire is issued to the pipe of a lane, which waits for some later releases as well.
    pub fn issue_acquire(&mut self, lane: usize, later: Vec<(usize, u32)>) {
        self.acquires.push(Acquire { lane, goal: self.issued, later });
    }

    /// A release is issued to the pipe of a lane: its number.
    pub fn issue_release(&mut self, lane: usize, deferred: bool) -> u32 {
        self.open.push(Open { number: self.issued, lane, deferred, more: Clock::default() });
        self.known.push_back((lane, None));
        self.issued += 1;
        self.issued - 1
    }

    /// A release waits for something besides: what is known once that is over.
    pub fn add(&mut self, number: u32, clock: &Clock) {
        if let Some(open) = self.open.iter_mut().find(|open| open.number == number) {
            open.more.join(clock);
        }
    }

    /// Number of the oldest release of a lane's pipe that is not done.
    pub fn oldest(&self, lane: usize) -> Option<u32> {
        self.open.iter().find(|open| open.lane == lane).map(|open| open.number)
    }

    /// A release is done, with what its pipe knows. What the pipe learns, if the release held it: all that it waited for.
    pub fn release(&mut self, number: u32, mut clock: Clock) -> Option<Clock> {
        let at = self.open.iter().position(|open| open.number == number)?;
        let open = self.open.remove(at);
        clock.join(&open.more);
        if open.deferred {
            clock.join(&self.up_to(number));
        }
        if let Some((_, known)) = self.known.get_mut((number - self.first) as usize) {
            *known = Some(clock);
        }
        self.forget();
        open.deferred.then_some(clock)
    }

    /// What the releases before a number knew together, as far as they are done.
    fn up_to(&self, number: u32) -> Clock {
        let mut clock = self.before;
        let count = number.saturating_sub(self.first) as usize;
        self.known.iter().take(count).filter_map(|(_, known)| known.as_ref()).for_each(|known| clock.join(known));
        clock
    }

    /// Releases of a lane that come before those that are remembered.
    fn dropped(&self, lane: usize) -> u32 {
        self.dropped.iter().find(|(of, _)| *of == lane).map_or(0, |(_, count)| *count)
    }

    /// What the first releases of a lane, so many, knew together.
    fn up_to_of(&self, lane: usize, number: u32) -> Clock {
        let mut clock = Clock::default();
        let count = number.saturating_sub(self.dropped(lane)) as usize;
        let of = self.known.iter().filter(|(of, _)| *of == lane).take(count);
        of.filter_map(|(_, known)| known.as_ref()).for_each(|known| clock.join(known));
        clock
    }

    /// The oldest acquire of a lane's pipe is over: what it learns.
    pub fn acquire(&mut self, lane: usize) -> Clock {
        let Some(at) = self.acquires.iter().position(|acquire| acquire.lane == lane) else { return Clock::default() };
        let Acquire { goal, later, .. } = self.acquires.remove(at);
        let mut clock = self.up_to(goal);
        later.into_iter().for_each(|(lane, number)| clock.join(&self.up_to_of(lane, number)));
        self.forget();
        clock
    }

    /// Writes down what matters later, of a token of a cluster.
    pub fn note(&self, cluster: usize, notes: &mut Notes) {
        notes.word(u64::from(self.issued - self.first));
        notes.clock(cluster, &self.before);
        for (lane, known) in &self.known {
            notes.word(*lane as u64);
            notes.word(u64::from(known.is_some()));
            known.iter().for_each(|clock| notes.clock(cluster, clock));
        }
        notes.word(self.open.len() as u64);
        for open in &self.open {
            [u64::from(open.number - self.first), open.lane as u64, u64::from(open.deferred)]
                .into_iter()
                .for_each(|word| notes.word(word));
            notes.clock(cluster, &open.more);
        }
        notes.word(self.acquires.len() as u64);
        for acquire in &self.acquires {
            notes.word(acquire.lane as u64);
            notes.word(u64::from(acquire.goal.saturating_sub(self.first)));
            notes.word(acquire.later.len() as u64);
            for (lane, number) in &acquire.later {
                notes.word(*lane as u64);
                notes.word(u64::from(number.saturating_sub(self.dropped(*lane))));
            }
        }
    }

    /// Number of the first release that is remembered.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Joins the releases that every acquire to come waits for.
    fn forget(&mut self) {
        let needed = self.acquires.iter().map(|acquire| acquire.goal).min().unwrap_or(self.issued);
        while self.first < needed
            && let Some((lane, Some(known))) = self.known.front()
        {
            let lane = *lane;
            self.before.join(known);
            self.known.pop_front();
            match self.dropped.iter_mut().find(|(of, _)| *of == lane) {
                Some((_, count)) => *count += 1,
                None => self.dropped.push((lane, 1)),
            }
            self.first += 1;
        }
    }
}
