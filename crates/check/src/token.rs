//! The order that buffer tokens make: an acquire comes after every release that was issued before it.

use std::collections::VecDeque;

use crate::clock::Clock;
use crate::marking::Notes;

/// A buffer token of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token {
    /// Releases issued: the number of the next one.
    issued: u32,
    /// What the releases before number `first` knew together.
    before: Clock,
    first: u32,
    /// What the releases from `first` on knew, for those that are done.
    known: VecDeque<Option<Clock>>,
    /// Releases that are not done.
    open: Vec<Open>,
    /// Acquires that are not over: the pipe's lane, and how many releases they wait for.
    acquires: Vec<(usize, u32)>,
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
    /// An acquire is issued to the pipe of a lane.
    pub fn issue_acquire(&mut self, lane: usize) {
        self.acquires.push((lane, self.issued));
    }

    /// A release is issued to the pipe of a lane: its number.
    pub fn issue_release(&mut self, lane: usize, deferred: bool) -> u32 {
        self.open.push(Open { number: self.issued, lane, deferred, more: Clock::default() });
        self.known.push_back(None);
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
        if let Some(known) = self.known.get_mut((number - self.first) as usize) {
            *known = Some(clock);
        }
        self.forget();
        open.deferred.then_some(clock)
    }

    /// What the releases before a number knew together, as far as they are done.
    fn up_to(&self, number: u32) -> Clock {
        let mut clock = self.before;
        let count = number.saturating_sub(self.first) as usize;
        self.known.iter().take(count).flatten().for_each(|known| clock.join(known));
        clock
    }

    /// The oldest acquire of a lane's pipe is over: what it learns.
    pub fn acquire(&mut self, lane: usize) -> Clock {
        let Some(at) = self.acquires.iter().position(|(of, _)| *of == lane) else { return Clock::default() };
        let (_, goal) = self.acquires.remove(at);
        let clock = self.up_to(goal);
        self.forget();
        clock
    }

    /// Writes down what matters later, of a token of a cluster.
    pub fn note(&self, cluster: usize, notes: &mut Notes) {
        notes.word(u64::from(self.issued - self.first));
        notes.clock(cluster, &self.before);
        for known in &self.known {
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
        for (lane, goal) in &self.acquires {
            notes.word(*lane as u64);
            notes.word(u64::from(goal.saturating_sub(self.first)));
        }
    }

    /// Number of the first release that is remembered.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Joins the releases that every acquire to come waits for.
    fn forget(&mut self) {
        let needed = self.acquires.iter().map(|(_, goal)| *goal).min().unwrap_or(self.issued);
        while self.first < needed
            && let Some(Some(known)) = self.known.front()
        {
            self.before.join(known);
            self.known.pop_front();
            self.first += 1;
        }
    }
}
