//! Sets of tiles.

use smallvec::SmallVec;

use crate::wire::Xy;

/// A set of tiles: for each row one bit for each column.
#[derive(Clone, Debug, Default)]
pub(super) struct Tiles(SmallVec<[u64; 12]>);

impl Tiles {
    /// Adds a tile; returns whether it was new.
    pub fn insert(&mut self, tile: Xy) -> bool {
        let (row, bit) = (usize::from(tile.y), 1 << (tile.x & 63));
        if row >= self.0.len() {
            self.0.resize(row + 1, 0);
        }
        let new = self.0[row] & bit == 0;
        self.0[row] |= bit;
        new
    }

    pub fn contains(&self, tile: Xy) -> bool {
        self.0.get(usize::from(tile.y)).is_some_and(|row| row >> (tile.x & 63) & 1 != 0)
    }

    /// Removes a tile; returns whether it was present.
    pub fn remove(&mut self, tile: Xy) -> bool {
        let Some(row) = self.0.get_mut(usize::from(tile.y)) else { return false };
        let before = *row;
        *row &= !(1 << (tile.x & 63));
        before != *row
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|row| *row == 0)
    }

    pub fn insert_all(&mut self, others: &Tiles) {
        if others.0.len() > self.0.len() {
            self.0.resize(others.0.len(), 0);
        }
        self.0.iter_mut().zip(&others.0).for_each(|(own, other)| *own |= other);
    }

    pub fn remove_all(&mut self, others: &Tiles) {
        self.0.iter_mut().zip(&others.0).for_each(|(own, other)| *own &= !other);
    }

    /// The intersection.
    pub fn both(&self, others: &Tiles) -> Tiles {
        Tiles(self.0.iter().zip(&others.0).map(|(own, other)| own & other).collect())
    }

    /// Row by row.
    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = Xy> + '_ {
        let row = |(y, columns): (usize, &u64)| {
            let mut left = *columns;
            std::iter::from_fn(move || {
                let x = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (x < 64).then(|| Xy::new(x as u8, y as u8))
            })
        };
        self.0.iter().enumerate().flat_map(row)
    }
}

impl FromIterator<Xy> for Tiles {
    fn from_iter<T: IntoIterator<Item = Xy>>(tiles: T) -> Tiles {
        let mut set = Tiles::default();
        tiles.into_iter().for_each(|tile| {
            set.insert(tile);
        });
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_sets(
            a in prop::collection::btree_set((0u8..64, 0u8..20), 0..40),
            b in prop::collection::btree_set((0u8..64, 0u8..20), 0..40),
            one in (0u8..64, 0u8..20),
        ) {
            let set = |tiles: BTreeSet<(u8, u8)>| tiles.into_iter().map(|(x, y)| Xy::new(x, y)).collect::<BTreeSet<_>>();
            let (a, b, one) = (set(a), set(b), Xy::new(one.0, one.1));
            let (x, y): (Tiles, Tiles) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert!(x.iter().eq(a.iter().copied()));
            prop_assert!(x.both(&y).iter().eq(a.intersection(&b).copied()));
            let mut without = x.clone();
            without.remove_all(&y);
            prop_assert!(without.iter().eq(a.difference(&b).copied()));
            prop_assert_eq!(without.is_empty(), a.is_subset(&b));
            let mut all = x.clone();
            all.insert_all(&y);
            prop_assert!(all.iter().eq(a.union(&b).copied()));
            prop_assert_eq!((x.contains(one), all.insert(one)), (a.contains(&one), !(a.contains(&one) || b.contains(&one))));
            prop_assert!(all.remove(one) && !all.remove(one));
        }
    }
}
