//! Which lane an indexed store leaves where several go to one place.

use slipring_machine::Platform;
use slipring_machine::interpretations::SCATTERED_TWICE;
use slipring_vector::Machine;
use smallvec::SmallVec;

/// Lanes, each with its offset.
pub(super) type Places = SmallVec<[(u64, usize); 128]>;

/// Which of several lanes for one place an indexed store keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scattered {
    /// True for the first, false for the last one.
    first: bool,
}

impl Scattered {
    /// What is chosen for a platform.
    pub(super) fn on(platform: &Platform) -> Scattered {
        Scattered { first: platform.reads_otherwise(&SCATTERED_TWICE) }
    }

    /// The lanes that are stored, in address order: one for each offset. Where lanes of one offset differ, the question
    /// is recorded. `same` compares the values of two lanes.
    pub(super) fn kept(
        self,
        m: &mut Machine<'_>,
        lanes: impl Iterator<Item = (u64, usize)>,
        same: impl Fn(usize, usize) -> bool,
    ) -> Places {
        let mut places: Places = lanes.collect();
        places.sort_unstable();
        let mut differ = false;
        places.dedup_by(|next, kept| {
            if next.0 != kept.0 {
                return false;
            }
            differ |= !same(next.1, kept.1);
            if !self.first {
                kept.1 = next.1;
            }
            true
        });
        if differ && !self.first {
            m.depends_on(&SCATTERED_TWICE);
        }
        places
    }
}
