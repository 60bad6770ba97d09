//! Sets of integers as runs against ordinary sets.

use proptest::prelude::*;
use std::collections::BTreeSet;

use slipring_passes::sync::runs::Runs;

fn runs(numbers: &[u32]) -> Runs {
    let mut runs = Runs::default();
    numbers.iter().for_each(|n| runs.insert(*n));
    runs
}

fn same(runs: &Runs, set: &BTreeSet<u32>) -> Result<(), TestCaseError> {
    let numbers: Vec<u32> = runs.iter().flatten().collect();
    prop_assert_eq!(&numbers, &set.iter().copied().collect::<Vec<_>>());
    prop_assert!(runs.iter().zip(runs.iter().skip(1)).all(|(one, next)| one.end < next.start), "{:?}", runs);
    Ok(())
}

proptest! {
    #[test]
    fn they_are_sets(
        a in prop::collection::vec(0..40u32, 0..40),
        b in prop::collection::vec(0..40u32, 0..40),
    ) {
        let (one, two) = (BTreeSet::from_iter(a.iter().copied()), BTreeSet::from_iter(b.iter().copied()));
        same(&runs(&a), &one)?;
        let mut both = runs(&a);
        both.intersect(&runs(&b));
        same(&both, &one.intersection(&two).copied().collect())?;
        let mut either = runs(&a);
        either.unite(&runs(&b));
        same(&either, &one.union(&two).copied().collect())?;
    }
}
