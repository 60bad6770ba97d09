//! Which tile of a ring a push moved, so that a race report can name the slot and the tile.

use std::collections::{BTreeMap, VecDeque};

use slipring_program::RingDecl;
use slipring_sim::{Again, Agent, Launch, Standing, WorkRun};

/// A push: its index among the steps of its core, its ring and the index of its tile.
#[derive(Clone, Copy, Debug)]
struct Push {
    block: u32,
    lane: usize,
    number: u32,
    ring: u32,
    tile: u64,
}

/// The pushes of a run: their number, and the latest of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pushes {
    rings: Vec<RingDecl>,
    /// By block, lane and ring.
    counts: BTreeMap<(u32, usize, u32), u64>,
    recent: VecDeque<Push>,
}

/// Number of pushes that are remembered: an access races with one of the last few tiles.
const RECENT: usize = 256;

impl Pushes {
    pub fn new(launch: &Launch<'_>) -> Pushes {
        Pushes { rings: launch.program.rings.clone(), ..Pushes::default() }
    }

    /// Work starts; `number` is its index among the steps of its core.
    pub fn start(&mut self, run: &WorkRun<'_>, number: u32) {
        let Some(ring) = run.work.fills else { return };
        let (block, lane) = (run.agent.block, run.agent.lane());
        let count = self.counts.entry((block, lane, ring)).or_insert(0);
        let push = Push { block, lane, number, ring, tile: *count };
        *count += 1;
        self.remember(push);
    }

    /// Serialises the number of pushes.
    pub fn stand(&self, standing: &mut Standing) {
        standing.same.push(self.counts.len() as u64);
        standing.counts.extend(self.counts.values());
    }

    /// The same pushes are repeated. Steps keep their indices, so the last pushes before the repetition get the numbers
    /// of the last ones after it; everything in between would have been evicted by then, and only takes up capacity.
    pub fn repeat(&mut self, again: &mut Again<'_>) {
        let (times, mut moved) = (again.times(), BTreeMap::new());
        for (ring, count) in &mut self.counts {
            let by = again.moved();
            *count += by * times;
            moved.insert(*ring, by * times);
        }
        let once = (moved.values().sum::<u64>() / times.max(1)).min(self.recent.len() as u64) as usize;
        let round: Vec<Push> = self.recent.iter().skip(self.recent.len() - once).copied().collect();
        let rounds = times.min(RECENT.div_ceil(once.max(1)) as u64);
        for left in (0..rounds).rev() {
            for push in &round {
                let by = moved.get(&(push.block, push.lane, push.ring)).copied().unwrap_or(0);
                let lane = if left == 0 { push.lane } else { usize::MAX };
                self.remember(Push { lane, tile: push.tile + by, ..*push });
            }
        }
    }

    fn remember(&mut self, push: Push) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(push);
    }

    /// The relation of a race between an earlier and a later access to a ring, if one of them is a push.
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
