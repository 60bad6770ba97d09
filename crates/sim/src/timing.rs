//! Durations: those of the platform, or any others that hardware may show.
//!
//! A correctly synchronised program cannot distinguish these: whatever each work item, step and signal takes, it leaves
//! the same bytes. Runs with other durations test a verdict over all schedules against schedules that the platform's
//! figures never produce.

use std::fmt;
use std::str::FromStr;

use slipring_machine::{Pipe, Role};

/// The longest duration that is drawn, in cycles: 2^17.
pub const LONGEST: u64 = 1 << 17;

/// Durations of work, scalar instructions, synchronisation and signal propagation in
/// [`ExecutionMode::Pipes`](crate::ExecutionMode::Pipes).
///
/// Only the platform's own durations are meaningful as a forecast.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timing {
    /// Those of the platform.
    #[default]
    Platform,
    /// From 1 to [`LONGEST`] cycles each, drawn from the seed: some pipes and signals fast, some slow, some varying.
    Random {
        /// The same seed gives the same run.
        seed: u64,
    },
    /// A core of every cluster, or one of its pipes, takes [`LONGEST`] cycles for each step, everything else 1 cycle.
    Slow {
        /// The core.
        role: Role,
        /// The pipe; all of them and the scalar unit where it is `None`.
        pipe: Option<Pipe>,
    },
}

impl Timing {
    /// The accepted text forms.
    pub const FORMS: &str = "`platform`, `random:SEED`, `slow:CORE` or `slow:CORE.PIPE`";
}

impl FromStr for Timing {
    type Err = String;

    /// `platform`, `random:SEED`, `slow:CORE` or `slow:CORE.PIPE`, such as `slow:AIV0.MTE2`; pipe `S` is the scalar unit.
    fn from_str(text: &str) -> Result<Timing, String> {
        let wrong = || format!("takes {}, not `{text}`", Timing::FORMS);
        if text == "platform" {
            return Ok(Timing::Platform);
        }
        if let Some(seed) = text.strip_prefix("random:") {
            return seed.parse().map(|seed| Timing::Random { seed }).map_err(|_| wrong());
        }
        let whose = text.strip_prefix("slow:").ok_or_else(wrong)?;
        let (core, pipe) = whose.split_once('.').map_or((whose, None), |(core, pipe)| (core, Some(pipe)));
        let role = Role::ALL.into_iter().find(|role| role.to_string().eq_ignore_ascii_case(core)).ok_or_else(wrong)?;
        let named = |name: &str| Pipe::ALL.into_iter().find(|pipe| pipe.to_string().eq_ignore_ascii_case(name));
        let pipe = pipe.map(|name| named(name).ok_or_else(wrong)).transpose()?;
        Ok(Timing::Slow { role, pipe })
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timing::Platform => f.write_str("platform"),
            Timing::Random { seed } => write!(f, "random:{seed}"),
            Timing::Slow { role, pipe: None } => write!(f, "slow:{role}"),
            Timing::Slow { role, pipe: Some(pipe) } => write!(f, "slow:{role}.{pipe}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timings_by_name() {
        assert_eq!("platform".parse(), Ok(Timing::Platform));
        assert_eq!("random:7".parse(), Ok(Timing::Random { seed: 7 }));
        assert_eq!("slow:AIV1".parse(), Ok(Timing::Slow { role: Role::Aiv1, pipe: None }));
        assert_eq!("slow:aic.fix".parse(), Ok(Timing::Slow { role: Role::Aic, pipe: Some(Pipe::Fix) }));
        for name in ["platform", "random:7", "slow:AIV1", "slow:AIC.FIX"] {
            assert_eq!(name.parse::<Timing>().map(|timing| timing.to_string()), Ok(name.to_string()));
        }
        for wrong in ["", "random", "random:x", "slow", "slow:", "slow:AIV2", "slow:AIC.", "slow:AIC.MTE9"] {
            assert!(wrong.parse::<Timing>().unwrap_err().contains(&format!("`{wrong}`")), "{wrong}");
        }
    }
}
