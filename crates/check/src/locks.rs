//! What would become of buffer tokens if they were locks.
//!
//! A `get_buf` waits for the releases before it in the program, not for a pipe that has the buffer and releases it later. The
//! manual can also be read so that it waits for that pipe, as for a lock. Both readings come to the same end unless pipes then
//! wait for each other: programs where they would are told apart here.

use crate::marking::Notes;

/// Who has which buffer where the scalar units stand, and whom a lock would make wait for whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks {
    /// Buffers that pipes have: cluster, token, lane.
    held: Vec<(u32, u32, usize)>,
    /// Gets of a buffer that another pipe has: cluster, token, lane of the get, lane that has it.
    waits: Vec<(u32, u32, usize, usize)>,
}

impl Locks {
    /// A pipe gets a buffer. The pipe with which it would stand in a circle, each waiting for the other's buffer.
    pub fn get(&mut self, cluster: u32, token: u32, lane: usize) -> Option<usize> {
        let holders = self.held.iter().filter(|(c, t, holder)| (*c, *t) == (cluster, token) && *holder != lane);
        let holders: Vec<usize> = holders.map(|(_, _, holder)| *holder).collect();
        let circle = holders.iter().copied().find(|holder| self.leads(cluster, *holder, lane));
        self.waits.extend(holders.iter().map(|holder| (cluster, token, lane, *holder)));
        self.held.push((cluster, token, lane));
        circle
    }

    /// A pipe gives a buffer back: nobody waits for it any longer.
    pub fn give_back(&mut self, cluster: u32, token: u32, lane: usize) {
        if let Some(at) = self.held.iter().position(|held| *held == (cluster, token, lane)) {
            self.held.swap_remove(at);
        }
        self.waits.retain(|(c, t, _, holder)| (*c, *t, *holder) != (cluster, token, lane));
    }

    /// A block starts on a cluster.
    pub fn restart(&mut self, cluster: u32) {
        self.held.retain(|(c, ..)| *c != cluster);
        self.waits.retain(|(c, ..)| *c != cluster);
    }

    /// Writes down what matters later.
    pub fn note(&self, notes: &mut Notes) {
        notes.word(self.held.len() as u64);
        for (cluster, token, lane) in &self.held {
            [u64::from(*cluster), u64::from(*token), *lane as u64].into_iter().for_each(|word| notes.word(word));
        }
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        waits.dedup();
        notes.word(waits.len() as u64);
        for (cluster, token, lane, holder) in waits {
            let words = [u64::from(cluster), u64::from(token), lane as u64, holder as u64];
            words.into_iter().for_each(|word| notes.word(word));
        }
    }

    /// True if `from` waits for `to`, itself or through others.
    fn leads(&self, cluster: u32, from: usize, to: usize) -> bool {
        let (mut open, mut seen) = (vec![from], vec![from]);
        while let Some(lane) = open.pop() {
            for (.., holder) in self.waits.iter().filter(|(c, _, waiter, _)| (*c, *waiter) == (cluster, lane)) {
                if *holder == to {
                    return true;
                }
                if !seen.contains(holder) {
                    seen.push(*holder);
                    open.push(*holder);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_that_get_two_buffers_in_opposite_order_stand_in_a_circle() {
        let mut locks = Locks::default();
        assert_eq!(locks.get(0, 0, 1), None);
        assert_eq!(locks.get(0, 1, 2), None);
        assert_eq!(locks.get(0, 1, 1), None, "1 waits for 2");
        assert_eq!(locks.get(1, 0, 2), None, "another cluster");
        assert_eq!(locks.get(0, 0, 2), Some(1), "2 waits for 1");
    }

    #[test]
    fn what_was_given_back_holds_nobody() {
        let mut locks = Locks::default();
        locks.get(0, 0, 1);
        locks.get(0, 1, 2);
        assert_eq!(locks.get(0, 1, 1), None);
        locks.give_back(0, 1, 2);
        assert_eq!(locks.get(0, 0, 2), None);
    }
}
