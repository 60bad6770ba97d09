//! The tags that the first tiles of a ring use, and when: one column per tile.
//!
//! ```text
//!                  tile 0         tile 1
//!   AIC   TPUSH    WAIT f:0 @24   WAIT f:1 @76
//!                  FIX → 0        FIX → 1
//!                  SET r:0 @73    SET r:1 @125
//!   AIV0  TPOP     WAIT r:0 @91   WAIT r:1 @159
//!                  bind [0]       bind [1]
//!         TFREE    SET f:0 @157   SET f:1 @225
//!                  tag++ → 1      tag++ → 0
//! ```

use crate::facts::RingFacts;
use crate::rings::TileFacts;
use crate::table::Table;

/// Maximum number of tiles in a row.
const COLUMNS: usize = 5;

/// A diagram for each pipe and Vector core, with enough tiles to show every slot and the first slot reused.
pub(crate) fn diagrams(rings: &[RingFacts]) -> String {
    let mut text = String::new();
    for pair in pairs(rings) {
        let shown = |ring: &&RingFacts| ring.tiles.len().min(ring.slots as usize + 1);
        let tiles = pair.iter().map(shown).max().unwrap_or(0);
        if tiles == 0 {
            continue;
        }
        text += &format!("\ntags between AIC and {} (r ready, f free, @ cycle)\n", pair[0].lane);
        let parts = (0..tiles).step_by(COLUMNS).map(|first| diagram(&pair, first..tiles.min(first + COLUMNS)));
        text += &parts.collect::<Vec<_>>().join("\n");
    }
    text
}

/// The rings of each Vector core that belong together: one per direction.
fn pairs(rings: &[RingFacts]) -> Vec<Vec<&RingFacts>> {
    let mut pairs: Vec<Vec<&RingFacts>> = Vec::new();
    for ring in rings {
        let fits = |pair: &&mut Vec<&RingFacts>| {
            pair.len() == 1 && pair[0].lane == ring.lane && pair[0].direction != ring.direction
        };
        match pairs.iter_mut().find(fits) {
            Some(pair) => pair.push(ring),
            None => pairs.push(vec![ring]),
        }
    }
    pairs
}

fn diagram(pair: &[&RingFacts], tiles: std::ops::Range<usize>) -> String {
    let mut table = Table::new(2 + tiles.len(), &[]);
    let both = pair.len() > 1;
    let mut line = |core: &str, op: &str, ring: Option<&RingFacts>, cell: &dyn Fn(usize, &TileFacts) -> String| {
        let cells = tiles.clone().map(|at| match ring {
            None => format!("tile {at}"),
            Some(ring) => ring.tiles.get(at).map_or(String::new(), |tile| cell(at, tile)),
        });
        table.row([core.to_string(), op.to_string()].into_iter().chain(cells).collect());
    };
    line("", "", None, &|_, _| String::new());
    for core in ["AIC", pair[0].lane.as_str()] {
        let mut name = core;
        for ring in pair {
            let op = |op: &str| if both { format!("{} {op}", ring.direction) } else { op.to_string() };
            let ring = Some(*ring);
            if ring.is_some_and(|ring| ring.ends().0 == core) {
                line(name, &op("TPUSH"), ring, &|_, tile| signal("WAIT f", tile.slot, tile.free_taken));
                line("", "", ring, &|_, tile| moved(ring, tile));
                line("", "", ring, &|_, tile| signal("SET r", tile.slot, tile.ready_set));
            } else {
                line(name, &op("TPOP"), ring, &|_, tile| signal("WAIT r", tile.slot, tile.ready_taken));
                line("", "", ring, &|_, tile| taken(ring, tile));
                line("", &op("TFREE"), ring, &|_, tile| signal("SET f", tile.slot, tile.free_set));
                line("", "", ring, &|_, tile| advanced(ring, tile));
            }
            name = "";
        }
    }
    table.render().trim_start_matches('\n').to_string()
}

fn signal(what: &str, slot: u32, at: Option<u64>) -> String {
    at.map_or("-".to_string(), |at| format!("{what}:{slot} @{at}"))
}

fn moved(ring: Option<&RingFacts>, tile: &TileFacts) -> String {
    let Some(ring) = ring.filter(|_| tile.ready_set.is_some()) else { return String::new() };
    format!("{} → {}", ring.producer_pipe, tile.slot)
}

/// A tile in global memory is loaded; on chip the slot itself is the tile.
fn taken(ring: Option<&RingFacts>, tile: &TileFacts) -> String {
    let Some(ring) = ring.filter(|_| tile.ready_taken.is_some()) else { return String::new() };
    format!("{} [{}]", if ring.space == "gm" { "load" } else { "bind" }, tile.slot)
}

fn advanced(ring: Option<&RingFacts>, tile: &TileFacts) -> String {
    let Some(ring) = ring.filter(|_| tile.free_set.is_some()) else { return String::new() };
    format!("tag++ → {}", (tile.slot + 1) % ring.slots.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(direction: &str, slots: u32, tiles: u64) -> RingFacts {
        let tile = |at: u64| TileFacts {
            slot: (at % u64::from(slots)) as u32,
            free_taken: Some(10 * at),
            ready_set: Some(10 * at + 1),
            ready_taken: Some(10 * at + 2),
            free_set: Some(10 * at + 3),
        };
        RingFacts {
            name: "c2v".into(),
            direction: direction.into(),
            lane: "AIV0".into(),
            slots,
            slot_bytes: 1024,
            space: "vec".into(),
            pushed: tiles,
            popped: tiles,
            freed: tiles,
            most_filled: 1,
            mean_filled: 1.0,
            producer_wait: 0,
            consumer_wait: 0,
            producer_pipe: "FIX".into(),
            consumer_pipe: "V".into(),
            tiles: (0..tiles).map(tile).collect(),
        }
    }

    fn words(line: &str) -> Vec<&str> {
        line.split("  ").map(str::trim).filter(|w| !w.is_empty()).collect()
    }

    /// Tags of five tiles through four slots: 0 1 2 3 0, as the protocol's own diagram has them.
    #[test]
    fn one_direction() {
        let text = diagrams(&[ring("C2V", 4, 9)]);
        let lines: Vec<Vec<&str>> = text.lines().map(words).collect();
        let has = |line: &[&str]| assert!(lines.iter().any(|l| l == line), "{line:?} in\n{text}");
        has(&["tile 0", "tile 1", "tile 2", "tile 3", "tile 4"]);
        has(&["AIC", "TPUSH", "WAIT f:0 @0", "WAIT f:1 @10", "WAIT f:2 @20", "WAIT f:3 @30", "WAIT f:0 @40"]);
        has(&["FIX → 0", "FIX → 1", "FIX → 2", "FIX → 3", "FIX → 0"]);
        has(&["tag++ → 1", "tag++ → 2", "tag++ → 3", "tag++ → 0", "tag++ → 1"]);
        assert!(!text.contains("tile 5"), "{text}");
    }

    #[test]
    fn both_directions_stand_in_one_diagram() {
        let text = diagrams(&[ring("C2V", 4, 2), ring("V2C", 4, 2)]);
        assert_eq!(text.matches("tags between").count(), 1);
        let order = ["C2V TPUSH", "V2C TPOP", "V2C TFREE", "C2V TPOP", "C2V TFREE", "V2C TPUSH"];
        for (early, late) in [(order[0], order[1]), (order[1], order[2]), (order[3], order[4]), (order[4], order[5])] {
            assert!(text.find(early) < text.find(late), "{early} before {late} in\n{text}");
        }
    }

    #[test]
    fn a_tile_that_was_not_popped_shows_so() {
        let mut ring = ring("C2V", 2, 1);
        (ring.tiles[0].ready_taken, ring.tiles[0].free_set) = (None, None);
        let text = diagrams(&[ring]);
        assert!(text.lines().any(|l| words(l) == ["AIV0", "TPOP", "-"]), "{text}");
    }
}
