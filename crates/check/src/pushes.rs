//! Which tile of a ring a push moved, so that a race in a slot can name the slot and the tile.

use std::collections::{BTreeMap, VecDeque};

use slipring_program::RingDecl;
use slipring_sim::{Agent, Launch, WorkRun};

/// A push: its place among the steps of its core, its ring and which tile it moved.
#[derive(Clone, Copy, Debug)]
struct Push {
    block: u32,
    lane: usize,
    number: u32,
    ring: u32,
    tile: u64,
}

/// The pushes of a run: how many there were, and the latest of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pushes {
    rings: Vec<RingDecl>,
    /// By block, lane and ring.
    counts: BTreeMap<(u32, usize, u32), u64>,
    recent: VecDeque<Push>,
}

/// Pushes that are remembered: an access races with one of a few tiles ago.
const RECENT: usize = 256;

impl Pushes {
    pub fn new(launch: &Launch<'_>) -> Pushes {
        Pushes { rings: launch.program.rings.clone(), ..Pushes::default() }
    }

    /// Work starts; `number` is its place among the steps of its core.
    pub fn start(&mut self, run: &WorkRun<'_>, number: u32) {
        let Some(ring) = run.work.fills else { return };
        let (block, lane) = (run.agent.block, run.agent.lane());
        let count = self.counts.entry((block, lane, ring)).or_insert(0);
        let push = Push { block, lane, number, ring, tile: *count };
        *count += 1;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(push);
    }

    /// What a race between an earlier and a later access is to a ring, if one of them is a push.
    pub fn note(&self, earlier: (Agent, u32), later: (Agent, u32)) -> Option<String> {
        let find = |(agent, number): (Agent, u32)| {
            let same = |p: &&Push| (p.block, p.lane, p.number) == (agent.block, agent.lane(), number);
            self.recent.iter().rev().find(same)
        };
        let say = |push: &Push| {
            let ring = self.rings.get(push.ring as usize)?;
            let slots = u64::from(ring.slots.max(1));
            Some((ring, push.tile % slots, push.tile.checked_sub(slots)))
        };
        if let Some(push) = find(later) {
            let (ring, slot, before) = say(push)?;
            let (name, tile) = (&ring.name, push.tile);
            return Some(match before {
                Some(before) => {
                    format!("overrun of {name}: tile {tile} goes into slot {slot}, and tile {before} there is in use")
                }
                None => format!("{name}: tile {tile} in slot {slot} is taken before it is there"),
            });
        }
        let push = find(earlier)?;
        let (ring, slot, _) = say(push)?;
        Some(format!("{}: tile {} in slot {slot} is taken without its ready signal", ring.name, push.tile))
    }
}
