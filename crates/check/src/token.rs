//! The order created by buffer tokens: an acquire comes after every release issued before it, and in the alternative
//! interpretation after some that are issued later.

use std::collections::VecDeque;

use crate::clock::Clock;
use crate::notes::Notes;

/// A buffer token of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token {
    /// Releases issued: the number of the next one.
    issued: u32,
    /// The combined knowledge of the releases before number `first`.
    before: Clock,
    first: u32,
    /// The releases from `first` on: the lane, and the knowledge of those that are complete.
    known: VecDeque<(usize, Option<Clock>)>,
    /// Number of releases of each lane before those.
    dropped: Vec<(usize, u32)>,
    /// Incomplete releases.
    open: Vec<Open>,
    /// Pending acquires.
    acquires: Vec<Acquire>,
}

/// A pending acquire.
#[derive(Clone, Debug)]
struct Acquire {
    lane: usize,
    /// The number of releases that it waits for.
    goal: u32,
    /// Later releases that it also waits for: the lane, and the index of its release, from 1.
    later: Vec<(usize, u32)>,
}

/// An incomplete release.
#[derive(Clone, Debug)]
struct Open {
    number: u32,
    lane: usize,
    /// It holds its pipe until the earlier releases are complete.
    deferred: bool,
    /// Knowledge added by the work of other pipes that it waits for.
    more: Clock,
}

impl Token {
    /// An acquire is issued to the pipe of a lane; it also waits for some later releases.
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

    /// A release also waits for something else: the knowledge once that is complete.
    pub fn add(&mut self, number: u32, clock: &Clock) {
        if let Some(open) = self.open.iter_mut().find(|open| open.number == number) {
            open.more.join(clock);
        }
    }

    /// Number of the oldest incomplete release of a lane's pipe.
    pub fn oldest(&self, lane: usize) -> Option<u32> {
        self.open.iter().find(|open| open.lane == lane).map(|open| open.number)
    }

    /// A release is complete, with its pipe's knowledge. Returns what the pipe learns, if the release held it:
    /// everything it waited for.
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

    /// The combined knowledge of the releases before a number, as far as they are complete.
    fn up_to(&self, number: u32) -> Clock {
        let mut clock = self.before;
        let count = number.saturating_sub(self.first) as usize;
        self.known.iter().take(count).filter_map(|(_, known)| known.as_ref()).for_each(|known| clock.join(known));
        clock
    }

    /// Releases of a lane before the remembered ones.
    fn dropped(&self, lane: usize) -> u32 {
        self.dropped.iter().find(|(of, _)| *of == lane).map_or(0, |(_, count)| *count)
    }

    /// The combined knowledge of the first `number` releases of a lane.
    fn up_to_of(&self, lane: usize, number: u32) -> Clock {
        let mut clock = Clock::default();
        let count = number.saturating_sub(self.dropped(lane)) as usize;
        let of = self.known.iter().filter(|(of, _)| *of == lane).take(count);
        of.filter_map(|(_, known)| known.as_ref()).for_each(|known| clock.join(known));
        clock
    }

    /// The oldest acquire of a lane's pipe is over: returns what it learns.
    pub fn acquire(&mut self, lane: usize) -> Clock {
        let Some(at) = self.acquires.iter().position(|acquire| acquire.lane == lane) else { return Clock::default() };
        let Acquire { goal, later, .. } = self.acquires.remove(at);
        let mut clock = self.up_to(goal);
        later.into_iter().for_each(|(lane, number)| clock.join(&self.up_to_of(lane, number)));
        self.forget();
        clock
    }

    /// Serialises the state that matters later, for a token of a cluster.
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

    /// Number of the first remembered release.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Joins the releases that every future acquire waits for.
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
