//! Construction options of a machine, as names and values, for hosts in other languages.

use crate::board::{self, Board};
use crate::layout::Layout;
use crate::machine::{Config, Delays};
use crate::sanitize::{AtError, Hazard};

/// A configuration built from individual settings.
///
/// | name | value |
/// |---|---|
/// | `board` | `p100`, `p150` |
/// | `board-text` | the text of a board file |
/// | `mode` | `strict`, `silicon` |
/// | `seed` | a number |
/// | `late` | one of [`Delays::KINDS`] |
/// | `allow` | the code of a hazard; several times |
/// | `steps`, `dram-bytes` | limits |
/// | `queues` | 1 or 2: [`Config::two_queues`] |
/// | `trace`, `record` | `true`: record spans of activity, and the queued stream |
/// | `base-from-launch` | `true`: [`Quirks::base_from_launch`](crate::machine::Quirks) |
/// | `layout.NAME` | a number: a field of [`Layout`], such as `layout.kernel_config_base` or `layout.worker.go` |
#[derive(Clone, Debug)]
pub struct SessionOptions {
    board: Board,
    layout: Layout,
    rest: Vec<(String, String)>,
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        let board = board::built_in("p150").unwrap_or_else(|error| unreachable!("a built-in board: {error}"));
        SessionOptions { board, layout: Layout::default(), rest: Vec::new() }
    }
}

/// A number, decimal or with `0x`.
fn number(name: &str, value: &str) -> Result<u64, String> {
    let read = match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => value.parse(),
    };
    read.map_err(|_| format!("`{name}` is a number, not `{value}`"))
}

fn yes(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("`{name}` is true or false, not `{value}`")),
    }
}

impl SessionOptions {
    /// Adds a setting.
    ///
    /// # Errors
    /// If there is no such setting, or it cannot have this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "board" => self.board = board::built_in(value).map_err(|error| error.to_string())?,
            "board-text" => self.board = board::parse(value).map_err(|error| error.to_string())?,
            _ => match name.strip_prefix("layout.") {
                Some(field) => self.layout.set(field, number(name, value)?)?,
                None => {
                    // Checked immediately, for any board.
                    apply(&mut Config::new(self.board.clone()), name, value)?;
                    self.rest.push((name.to_owned(), value.to_owned()));
                }
            },
        }
        Ok(())
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The resulting configuration.
    ///
    /// # Errors
    /// As [`set`](SessionOptions::set).
    pub fn config(&self) -> Result<Config, String> {
        let has = |name: &str| self.rest.iter().any(|(own, _)| own == name);
        if has("late") && has("seed") {
            return Err("`late` and `seed` both choose the delays: give one of them".into());
        }
        let mut config = Config::new(self.board.clone()).with_layout(self.layout.clone());
        for (name, value) in &self.rest {
            apply(&mut config, name, value)?;
        }
        Ok(config)
    }
}

fn apply(config: &mut Config, name: &str, value: &str) -> Result<(), String> {
    match name {
        "mode" => {
            config.mode = match value {
                "strict" => AtError::Strict,
                "silicon" => AtError::Silicon,
                _ => return Err(format!("a machine is strict or silicon, not {value}")),
            }
        }
        "seed" => config.seed = Some(number(name, value)?),
        "late" => {
            let late = config.delays.clone().with_late(value);
            config.delays =
                late.ok_or_else(|| format!("no delay is called `{value}`; there are {}", Delays::KINDS.join(", ")))?;
        }
        "allow" => {
            let hazard = Hazard::named(value).ok_or_else(|| format!("there is no hazard `{value}`"))?;
            config.allowed.push(hazard);
        }
        "steps" => config.limits.steps = number(name, value)?,
        "dram-bytes" => config.limits.bytes = number(name, value)?,
        "queues" => {
            config.two_queues = match value {
                "1" => false,
                "2" => true,
                _ => return Err(format!("a board has 1 or 2 queues, not {value}")),
            }
        }
        "trace" => config.trace = yes(name, value)?,
        "record" => config.record = yes(name, value)?,
        "base-from-launch" => config.quirks.base_from_launch = yes(name, value)?,
        _ => {
            return Err(format!(
                "there is no setting `{name}`; there are board, mode, seed, late, allow, steps, dram-bytes, queues, trace, record, \
                 base-from-launch and layout.NAME"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_make_a_configuration() {
        let mut options = SessionOptions::default();
        for (name, value) in [
            ("mode", "silicon"),
            ("board", "p100"),
            ("allow", "go-before-payload"),
            ("layout.kernel_config_base", "0x82b0"),
            ("layout.worker.firmware", "0x3900"),
            ("steps", "100"),
            ("late", "multicast"),
        ] {
            options.set(name, value).expect(name);
        }
        let config = options.config().expect("holds");
        assert_eq!((config.board.name.as_str(), config.layout.kernel_config_base), ("p100", 0x82B0));
        assert_eq!((config.layout.worker.firmware, config.limits.steps), (0x3900, 100));
        assert_eq!((config.mode, config.allowed.as_slice()), (AtError::Silicon, [Hazard::GoBeforePayload].as_slice()));
        assert_ne!(config.delays.multicast, Delays::default().multicast);
        for (name, value, says) in [
            ("mode", "loose", "strict or silicon"),
            ("seed", "x", "is a number"),
            ("allow", "nothing", "no hazard"),
            ("layout.worker.golf", "1", "golf"),
            ("layout.worker.go", "0x100000000", "at most 0x1000000"),
            ("board", "p99", "no board"),
            ("colour", "red", "no setting"),
            ("late", "host", "no delay"),
        ] {
            let error = options.set(name, value).expect_err(name);
            assert!(error.contains(says), "{error}");
        }
    }
}
