//! The facts known on one path through a function.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slipring_ir::OpId;
use slipring_machine::Pipe;
use slipring_op::ring::PipeKey;

use crate::analysis::paths::Decision;
use crate::analysis::roots::RootId;

/// An object that is set and waited for, or acquired and released.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Object {
    Flag { from: Pipe, to: Pipe, id: u32 },
    Buffer { pipe: Pipe, id: i64 },
}

/// How often an object was set or acquired, minus the waits or releases.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    pub net: i64,
    /// The last of each.
    pub up: Option<OpId>,
    pub down: Option<OpId>,
    /// A loop has changed it by an unknown amount.
    pub open: bool,
}

impl Tally {
    fn same(&self, other: &Tally) -> bool {
        (self.net, self.open) == (other.net, other.open)
    }
}

/// A finding, and its location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Found {
    /// More sets than waits, at the last set.
    Surplus(Object, OpId),
    /// More waits than sets, at the last wait.
    Lack(Object, OpId),
    /// A library operation uses a flag that is set; also, where it was set.
    Inside {
        op: OpId,
        flag: Object,
        set: OpId,
    },
    AfterFree {
        user: OpId,
        free: OpId,
    },
    Unwritten {
        reader: OpId,
        root: RootId,
    },
}

/// One path up to a point.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Path {
    /// Conditions decided on it.
    pub decided: Vec<Decision>,
    pub objects: BTreeMap<Object, Tally>,
    /// Buffers that something has written.
    pub written: BTreeSet<RootId>,
    /// Tiles popped and not freed, oldest first, by ring.
    pub held: BTreeMap<PipeKey, VecDeque<Vec<RootId>>>,
    /// Tiles whose slot was freed, and where.
    pub freed: BTreeMap<RootId, OpId>,
    /// Findings, with the decisions inside of completed loops.
    pub found: BTreeMap<Found, Vec<Decision>>,
}

impl Path {
    /// True if the two differ in nothing but decisions.
    pub fn same(&self, other: &Path) -> bool {
        let of = |path: &Path| -> Vec<(Object, i64, bool)> {
            path.objects.iter().map(|(object, tally)| (*object, tally.net, tally.open)).collect()
        };
        of(self) == of(other)
            && self.written == other.written
            && self.held == other.held
            && self.freed == other.freed
            && self.found == other.found
    }

    /// The amount of data to copy.
    pub fn size(&self) -> usize {
        8 + self.objects.len() + self.written.len() + self.freed.len() + self.found.len()
    }

    /// Continues with what several paths have in common: anything on which they disagree becomes unknown.
    pub fn joined(mut paths: Vec<Path>) -> Option<Path> {
        let mut all = paths.pop()?;
        for path in &paths {
            let objects: BTreeSet<Object> = all.objects.keys().chain(path.objects.keys()).copied().collect();
            for object in objects {
                let other = path.objects.get(&object).copied().unwrap_or_default();
                let own = all.objects.entry(object).or_default();
                own.open |= !own.same(&other);
                (own.up, own.down) = (own.up.or(other.up), own.down.or(other.down));
            }
            all.written.extend(&path.written);
            all.freed.retain(|root, _| path.freed.contains_key(root));
            all.found.retain(|found, _| path.found.contains_key(found));
            all.held.retain(|ring, tiles| path.held.get(ring) == Some(tiles));
            all.decided.retain(|decision| path.decided.contains(decision));
        }
        Some(all)
    }
}

/// The findings of several paths that are reported: those of all paths, or of all that took one arm, with the decisions
/// that lead there.
pub(super) fn certain(paths: &[Path], before: usize) -> BTreeMap<Found, Vec<Decision>> {
    let mut said = BTreeMap::new();
    let all: BTreeSet<Found> = paths.iter().flat_map(|path| path.found.keys().copied()).collect();
    let arms: BTreeSet<Decision> = paths.iter().flat_map(|path| path.decided.iter().skip(before).copied()).collect();
    for found in all {
        let inner = || paths.iter().find_map(|path| path.found.get(&found)).cloned().unwrap_or_default();
        if paths.iter().all(|path| path.found.contains_key(&found)) {
            said.insert(found, inner());
            continue;
        }
        let takes = |path: &&Path, arm: &Decision| path.decided.iter().skip(before).any(|decision| decision == arm);
        let sure =
            arms.iter().find(|arm| paths.iter().filter(|path| takes(path, arm)).all(|p| p.found.contains_key(&found)));
        if let Some(arm) = sure {
            let mut decisions = vec![*arm];
            decisions.extend(inner().into_iter().filter(|decision| decision != arm));
            said.insert(found, decisions);
        }
    }
    said
}
