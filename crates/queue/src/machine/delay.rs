//! Durations of transfers, and their random variation by a seed.

/// A delay in device cycles: at least `least`, plus up to `spread` more if a seed is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// The exact delay without a seed.
    pub least: u64,
    /// The maximum that a seed may add.
    pub spread: u64,
}

impl Delay {
    /// Creates a delay.
    pub const fn new(least: u64, spread: u64) -> Delay {
        Delay { least, spread }
    }
}

/// The delays of a machine, in device cycles. They are chosen to be plausible, not measured: order matters here, speed does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delays {
    /// A read of host memory, until its bytes have landed.
    pub pcie_read: Delay,
    /// A read of DRAM or of another tile.
    pub read: Delay,
    /// A write to one location, until it has landed.
    pub write: Delay,
    /// A multicast, until it has landed.
    pub multicast: Delay,
    /// From the landing of a write until its sender knows.
    pub acknowledge: Delay,
    /// An atomic increment: page credits and notices between the queue's cores.
    pub credit: Delay,
    /// Until a worker reads its go message. It polls continuously: even with the maximum delay this is shorter than an
    /// acknowledgement of the data it must see followed by a go signal.
    pub poll: Delay,
    /// The duration of a launch in addition to the worker's own.
    pub run: Delay,
    /// From a worker's end until its notice has arrived.
    pub notice: Delay,
    /// Bytes of a transfer per cycle.
    pub bytes_per_cycle: u64,
    /// Cycles of a queue core per command.
    pub command: u64,
    /// Until a host's load through a window returns.
    pub host_load: u64,
    /// Duration of a host's store through a window.
    pub host_store: u64,
    /// Cycles in a microsecond.
    pub clock_mhz: u64,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays {
            pcie_read: Delay::new(700, 2000),
            read: Delay::new(200, 400),
            write: Delay::new(80, 400),
            multicast: Delay::new(100, 800),
            acknowledge: Delay::new(60, 400),
            credit: Delay::new(60, 400),
            poll: Delay::new(20, 20),
            run: Delay::new(0, 2000),
            notice: Delay::new(60, 400),
            bytes_per_cycle: 64,
            command: 50,
            host_load: 130,
            host_store: 7,
            clock_mhz: 1350,
        }
    }
}

impl Delays {
    /// Names of the delays that a schedule may maximise.
    pub const KINDS: [&str; 9] =
        ["pcie-read", "read", "write", "multicast", "acknowledge", "credit", "poll", "run", "notice"];

    /// Cycles to transfer this many bytes.
    #[inline]
    pub(crate) fn transfer(&self, bytes: u32) -> u64 {
        let bytes = u64::from(bytes);
        // Most transfers are short, and need no division.
        match bytes < self.bytes_per_cycle {
            true => 0,
            false => bytes / self.bytes_per_cycle,
        }
    }

    /// These delays, with one kind always at the maximum that a seed may choose; `None` for an unknown name.
    pub fn with_late(mut self, kind: &str) -> Option<Delays> {
        let delay = match kind {
            "pcie-read" => &mut self.pcie_read,
            "read" => &mut self.read,
            "write" => &mut self.write,
            "multicast" => &mut self.multicast,
            "acknowledge" => &mut self.acknowledge,
            "credit" => &mut self.credit,
            "poll" => &mut self.poll,
            "run" => &mut self.run,
            "notice" => &mut self.notice,
            _ => return None,
        };
        *delay = Delay::new(delay.least.saturating_add(delay.spread.saturating_mul(8)), 0);
        Some(self)
    }
}

/// Random numbers from a seed: the same on every host, forever (the splitmix64 generator).
#[derive(Clone, Debug)]
pub struct Dice(Option<u64>);

impl Dice {
    /// Dice for a seed; without one, every delay is minimal.
    pub fn new(seed: Option<u64>) -> Dice {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        let Some(state) = &mut self.0 else { return 0 };
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws a delay. Half of the draws add nothing and one in 64 adds eight times the spread: interesting
    /// interleavings need one actor to be delayed by more than another's whole command.
    pub fn draw(&mut self, delay: Delay) -> u64 {
        if self.0.is_none() {
            return delay.least;
        }
        let roll = self.next();
        // The high half, scaled: uniform enough, without a division.
        let extra = ((u128::from(roll >> 32) * (u128::from(delay.spread) + 1)) >> 32) as u64;
        delay.least.saturating_add(match roll & 63 {
            0 => extra.saturating_mul(8),
            1..32 => extra,
            _ => 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_can_be_late() {
        for kind in Delays::KINDS {
            assert_ne!(Delays::default().with_late(kind), Some(Delays::default()), "{kind}");
        }
        assert_eq!(Delays::default().with_late("host"), None);
    }

    /// A barrier and a go signal after a reset take longer than a worker that looks late.
    #[test]
    fn a_worker_looks_before_a_signal_behind_a_barrier() {
        let delays = Delays::default();
        let late = delays.clone().with_late("poll").expect("a kind").poll.least;
        assert!(late < delays.acknowledge.least + delays.write.least + delays.command);
    }

    #[test]
    fn without_a_seed_delays_are_their_least_and_with_one_they_repeat() {
        let delay = Delay::new(10, 5);
        assert_eq!(Dice::new(None).draw(delay), 10);
        let draws = |seed| {
            let mut dice = Dice::new(Some(seed));
            (0..100).map(|_| dice.draw(delay)).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
        assert!(draws(1).iter().all(|d| (10..=50).contains(d)));
        // Reference values of splitmix64 for seed 0.
        let mut dice = Dice::new(Some(0));
        assert_eq!([dice.next(), dice.next()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }
}
