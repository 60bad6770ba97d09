//! What the public tile library of some platforms does of a ring otherwise than the engine: an undivided tile of a ring on chip is
//! for AIV0 alone, rows that are pushed into L1 stay rows; a ring of one Vector core alone does not work where signals
//! of both are heard at once.
//!
//! The engine does what the seeds say of such tiles, and a verdict that leans on it says so. With the questions answered otherwise
//! it does what the library does. What leaves for a tool that calls the library may not lean on either.

use slipring_machine::Platform;
use slipring_machine::interpretations::{ROWS_TO_L1, UNDIVIDED_TO_BOTH};
use slipring_tile::Layout;

/// What of a ring the library does otherwise.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Library {
    /// Both Vector cores are at an end of the ring, and no tile of it is divided.
    pub undivided: bool,
    /// Rows are pushed that are popped in blocks.
    pub rows: bool,
    /// One Vector core alone is at an end of the ring, and the Cube core hears both at once.
    pub alone: bool,
}

impl Library {
    /// The Vector cores that the library serves, where the platform's answer is the library's.
    pub fn lanes(self, platform: &Platform, lanes: [bool; 2]) -> [bool; 2] {
        if self.undivided && platform.reads_otherwise(&UNDIVIDED_TO_BOTH) { [true, false] } else { lanes }
    }

    /// What of this is left to the engine's answer.
    pub fn leaning(self, platform: &Platform) -> Library {
        Library {
            undivided: self.undivided && !platform.reads_otherwise(&UNDIVIDED_TO_BOTH),
            rows: self.rows && !platform.reads_otherwise(&ROWS_TO_L1),
            alone: self.alone,
        }
    }

    /// How what is pushed lies in a slot: as rows, where the platform's answer is the library's.
    pub fn layout(self, leaning: Library, popped: Layout) -> Layout {
        match self.rows && !leaning.rows {
            true => Layout::nd(popped.elem, popped.rows, popped.cols),
            false => popped,
        }
    }
}
