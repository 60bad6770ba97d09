//! Durations of the work items of a run.

use crate::Launch;
use crate::agent::Agent;
use crate::timing::{LONGEST, Timing};

/// The source of durations.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    timing: Timing,
    /// State of the generator.
    state: u64,
}

/// Bounds of durations, as exponents of 2.
type Pace = (u32, u32);

impl Clocks {
    pub fn new(launch: &Launch<'_>) -> Clocks {
        let state = match launch.timing {
            Timing::Random { seed } => mix(seed ^ 0x7469_6d69_6e67),
            _ => 0,
        };
        Clocks { timing: launch.timing, state }
    }

    /// Cycles of a step of an agent that takes `usual` cycles on the platform.
    #[inline]
    pub fn of(&mut self, agent: Agent, usual: u64) -> u64 {
        match self.timing {
            Timing::Platform => usual,
            Timing::Random { seed } => {
                let pace = pace(mix(seed) ^ (agent.index() as u64 + 1));
                self.draw(pace)
            }
            Timing::Slow { role, pipe } => {
                let slow = agent.role == role && pipe.is_none_or(|pipe| pipe == agent.pipe);
                if slow { LONGEST } else { 1 }
            }
        }
    }

    /// Cycles until the waiter sees a signal of object `index` that takes `usual` cycles on the platform.
    pub fn way(&mut self, index: usize, usual: u64) -> u64 {
        match self.timing {
            Timing::Platform => usual,
            Timing::Random { seed } => {
                let pace = pace(mix(!seed) ^ (index as u64 + 1));
                self.draw(pace)
            }
            Timing::Slow { .. } => 1,
        }
    }

    fn draw(&mut self, (low, high): Pace) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = mix(self.state);
        let exponent = low + (bits >> 48) as u32 % (high - low + 1);
        let base = 1u64 << exponent;
        (base + (bits & 0xffff_ffff) % base).min(LONGEST)
    }
}

/// The pace encoded by a number: fast and slow with probability 1/4 each, anything otherwise.
fn pace(number: u64) -> Pace {
    match mix(number) % 4 {
        0 => (0, 2),
        1 => (14, 17),
        _ => (0, 17),
    }
}

/// A mixing function in which every output bit depends on all input bits (the last step of SplitMix64).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_durations_reach_both_ends() {
        let mut clocks = Clocks { timing: Timing::Random { seed: 1 }, state: 1 };
        let drawn: Vec<u64> = (0..10_000).map(|_| clocks.draw((0, 17))).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&1), Some(&LONGEST)));
    }
}
