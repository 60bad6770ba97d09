//! The index of conflicts against the comparison of every two operations.

use proptest::prelude::*;

use slipring_machine::{CoreKind, Pipe};
use slipring_passes::analysis::touch::{Access, Bounds, Memory, Work};
use slipring_passes::sync::index::Conflicts;
use slipring_tile::Space;

fn any_access() -> impl Strategy<Value = Access> {
    let spaces = prop::sample::select(vec![Space::Vec, Space::Acc]);
    let ends = || prop_oneof![8 => 0..24u64, 1 => Just(u64::MAX)];
    let local = (spaces, 0..24u64, ends()).prop_map(|(space, start, end)| (Memory::Local(space), (start, end), None));
    let bound =
        || prop_oneof![6 => (-3..6i64, -1..6i64).prop_map(|(a, b)| (a, a + b)), 1 => Just((i64::MIN, i64::MAX))];
    let window =
        (0..3u32, bound(), bound()).prop_map(|(view, a, b)| Bounds { view, bounds: [a, b].into_iter().collect() });
    let global = (0..2u32, prop::option::weighted(0.8, window))
        .prop_map(|(id, window)| (Memory::Global(id), (0, u64::MAX), window));
    let event = (0..2u32).prop_map(|id| (Memory::Event(id), (0, u64::MAX), None));
    let what = prop_oneof![
        4 => local, 4 => global, 1 => event,
        1 => Just((Memory::AnyGlobal, (0, u64::MAX), None)),
    ];
    (what, any::<bool>()).prop_map(|((memory, bytes, window), write)| Access { memory, bytes, window, write })
}

fn any_work() -> impl Strategy<Value = Work> {
    let pipes = prop::sample::select(vec![Pipe::V, Pipe::Mte2]);
    let cores = prop::sample::select(vec![None, Some(CoreKind::Cube), Some(CoreKind::Vector)]);
    (pipes, cores, prop::collection::vec(any_access(), 0..4)).prop_map(|(pipe, core, accesses)| Work {
        pipe,
        core,
        accesses,
        inside: smallvec::SmallVec::new(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn it_finds_what_every_two_works_say(
        works in prop::collection::vec(any_work(), 1..24),
        range in (0..24u32, 0..24u32),
    ) {
        const OVERLAP: &[(Pipe, Space)] = &[(Pipe::V, Space::Vec), (Pipe::Mte2, Space::Gm)];
        let index = Conflicts::new(&works);
        for (at, work) in works.iter().enumerate() {
            for (lane, (pipe, core)) in index.lanes() {
                let of_lane: Vec<&Work> = works.iter().filter(|w| w.pipe == pipe && w.core == core).collect();
                let ranks = range.0.min(of_lane.len() as u32)..range.1.min(of_lane.len() as u32);
                let found = |clash: &dyn Fn(&Work) -> bool| -> Vec<u32> {
                    ranks.clone().filter(|r| clash(of_lane[*r as usize])).collect()
                };
                let conflicts = found(&|other| work.conflicts(other));
                prop_assert_eq!(index.last(at, lane, ranks.clone()), conflicts.last().copied());
                prop_assert_eq!(index.first(at, lane, ranks.clone()), conflicts.first().copied());
                if pipe == work.pipe {
                    let overlaps = found(&|other| work.overlaps(other, OVERLAP));
                    prop_assert_eq!(index.last_overlap(at, lane, ranks.clone(), OVERLAP), overlaps.last().copied());
                }
            }
        }
    }
}
