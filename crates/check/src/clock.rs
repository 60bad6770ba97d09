//! Vector clocks of the agents of a cluster.

use slipring_sim::Agent;

/// Number of components, rounded up so that joining compiles to whole vectors.
const WIDTH: usize = Agent::PER_CLUSTER.next_multiple_of(8);

/// For each agent of a cluster, the last of its epochs known to be complete.
///
/// An agent's epoch ends when it sends a signal or takes part in a barrier. Epochs start at 1, so the zero clock knows
/// nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Clock([u32; WIDTH]);

impl Clock {
    /// Adds the knowledge of the other clock.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The last complete epoch of agent `lane` (see [`Agent::lane`]).
    #[inline]
    pub fn get(&self, lane: usize) -> u32 {
        self.0[lane]
    }

    /// Sets the last known epoch of agent `lane`.
    #[inline]
    pub fn set(&mut self, lane: usize, epoch: u32) {
        self.0[lane] = epoch;
    }
}
