//! Rectangles that cover a set of tiles.

use std::collections::BTreeSet;

use crate::wire::{Rect, Xy};

/// Covers tiles, each exactly once, by rectangles: from the first tile in rows as far right as tiles go, then as far down as
/// whole rows of that width go, and again with what is left. The fixed host does it the same way, so the words agree.
pub fn cover(tiles: impl IntoIterator<Item = Xy>) -> Vec<Rect> {
    let mut left: BTreeSet<Xy> = tiles.into_iter().collect();
    let mut rects = Vec::new();
    while let Some(&low) = left.first() {
        let mut high = low;
        while high.x < u8::MAX && left.contains(&Xy::new(high.x + 1, low.y)) {
            high.x += 1;
        }
        while high.y < u8::MAX && (low.x..=high.x).all(|x| left.contains(&Xy::new(x, high.y + 1))) {
            high.y += 1;
        }
        let rect = Rect::new(low, high);
        for tile in rect.tiles() {
            left.remove(&tile);
        }
        rects.push(rect);
    }
    rects
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn grows_right_first() {
        let tiles = [(1, 1), (2, 1), (1, 2)].map(|(x, y)| Xy::new(x, y));
        let expected = [Rect::new(Xy::new(1, 1), Xy::new(2, 1)), Rect::new(Xy::new(1, 2), Xy::new(1, 2))];
        assert_eq!(cover(tiles), expected);
    }

    proptest! {
        #[test]
        fn every_tile_lies_in_exactly_one_rectangle(tiles in prop::collection::btree_set((0u8..20, 0u8..20), 0..150)) {
            let tiles: BTreeSet<Xy> = tiles.into_iter().map(|(x, y)| Xy::new(x, y)).collect();
            let covered: Vec<Xy> = cover(tiles.clone()).into_iter().flat_map(Rect::tiles).collect();
            prop_assert_eq!(covered.len(), tiles.len());
            prop_assert_eq!(covered.into_iter().collect::<BTreeSet<_>>(), tiles);
        }
    }
}
