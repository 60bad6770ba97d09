//! A platform's answers to the questions of the race check, looked up once per launch.

use slipring_machine::interpretations::{LATE_WAITS, TOKEN_LOCKS, UNIT_FLAG_BLOCKS, UNORDERED_STORES};
use slipring_machine::{Platform, Question};

/// The questions that the platform answers by the alternative interpretation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answers {
    pub late_waits: bool,
    token_locks: bool,
    unit_flag_blocks: bool,
    pub unordered_stores: bool,
}

impl Answers {
    pub fn of(platform: &Platform) -> Answers {
        Answers {
            late_waits: platform.reads_otherwise(&LATE_WAITS),
            token_locks: platform.reads_otherwise(&TOKEN_LOCKS),
            unit_flag_blocks: platform.reads_otherwise(&UNIT_FLAG_BLOCKS),
            unordered_stores: platform.reads_otherwise(&UNORDERED_STORES),
        }
    }

    /// The question about buffer tokens that lock, or about unit flags that block, and whether the alternative is used.
    pub fn of_token(&self, locks: bool) -> (&'static Question, bool) {
        match locks {
            true => (&TOKEN_LOCKS, self.token_locks),
            false => (&UNIT_FLAG_BLOCKS, self.unit_flag_blocks),
        }
    }
}
