//! Rectangles that cover a set of tiles.

use crate::wire::{Rect, Xy};

/// Covers tiles, each exactly once, with rectangles: starting at the first tile, each extends as far right as there are
/// tiles and then as far down as whole rows of that width go; repeated for the remaining tiles. The fixed host uses the
/// same algorithm, so the words agree.
pub fn cover(tiles: impl IntoIterator<Item = Xy>) -> Vec<Rect> {
    // One bit for each column, by rows.
    let mut left: Vec<[u64; 4]> = Vec::new();
    for Xy { x, y } in tiles {
        if usize::from(y) >= left.len() {
            left.resize(usize::from(y) + 1, [0; 4]);
        }
        left[usize::from(y)][usize::from(x / 64)] |= 1 << (x % 64);
    }
    let has = |left: &[[u64; 4]], x: u8, y: u8| {
        left.get(usize::from(y)).is_some_and(|row| row[usize::from(x / 64)] >> (x % 64) & 1 != 0)
    };
    let mut rects = Vec::new();
    for y in 0..left.len() {
        while let Some(word) = left[y].iter().position(|word| *word != 0) {
            let low = Xy::new(word as u8 * 64 + left[y][word].trailing_zeros() as u8, y as u8);
            let mut high = low;
            while high.x < u8::MAX && has(&left, high.x + 1, low.y) {
                high.x += 1;
            }
            while high.y < u8::MAX && (low.x..=high.x).all(|x| has(&left, x, high.y + 1)) {
                high.y += 1;
            }
            for Xy { x, y } in Rect::new(low, high).tiles() {
                left[usize::from(y)][usize::from(x / 64)] &= !(1 << (x % 64));
            }
            rects.push(Rect::new(low, high));
        }
    }
    rects
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
