//! Differences between the public tile library of some platforms and the engine. In the library an undivided tile of a
//! ring on chip goes to AIV0 only, rows that are pushed into L1 stay rows, and a ring of a single Vector core does not
//! work if the Cube core receives the signals of both at once.
//!
//! The engine follows the seeds for such tiles, and a verdict that depends on this says so. Under the alternative
//! interpretation it does what the library does. Code for a tool that calls the library may depend on neither.

use slipring_machine::Platform;
use slipring_machine::interpretations::{ROWS_TO_L1, UNDIVIDED_TO_BOTH};
use slipring_tile::Layout;

/// The properties of a ring for which the library differs.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Library {
    /// Both Vector cores are at an end of the ring, and none of its tiles is divided.
    pub undivided: bool,
    /// Tiles are pushed as rows and popped in blocks.
    pub rows: bool,
    /// A single Vector core is at an end of the ring, and the Cube core receives the signals of both at once.
    pub alone: bool,
}

impl Library {
    /// The Vector cores that the ring serves: only AIV0 under the library's interpretation of undivided tiles.
    pub fn lanes(self, platform: &Platform, lanes: [bool; 2]) -> [bool; 2] {
        if self.undivided && platform.reads_otherwise(&UNDIVIDED_TO_BOTH) { [true, false] } else { lanes }
    }

    /// The differences for which the engine's interpretation applies.
    pub fn leaning(self, platform: &Platform) -> Library {
        Library {
            undivided: self.undivided && !platform.reads_otherwise(&UNDIVIDED_TO_BOTH),
            rows: self.rows && !platform.reads_otherwise(&ROWS_TO_L1),
            alone: self.alone,
        }
    }

    /// The layout of a pushed tile in its slot: rows under the library's interpretation.
    pub fn layout(self, leaning: Library, popped: Layout) -> Layout {
        match self.rows && !leaning.rows {
            true => Layout::nd(popped.elem, popped.rows, popped.cols),
            false => popped,
        }
    }
}
