use std::collections::BTreeMap;

use proptest::prelude::*;
use slipring_machine::Role;
use slipring_program::Update;
use slipring_program::{Change, UpdateKind};
use slipring_tile::Space;

use super::*;
use crate::cell::Leans;

fn stamp(lane: u8, write: bool) -> Stamp {
    Stamp { block: 0, lane, write, update: None, epoch: 1, site: u32::from(lane), number: 0 }
}

/// An access by an agent for whose pipe nothing but its clock gives an order.
fn touching<'a, F: FnMut(Stamp, u64, u64)>(
    stamp: Stamp,
    clock: &'a Clock,
    conflict: F,
    leans: &'a mut Leans,
) -> Touch<'a, F> {
    Touch { stamp, clock, conflict, blocks_meet: false, known: u32::MAX, leans }
}

/// A run of so many bytes.
fn bytes(count: u64) -> Extent {
    Extent::run(Space::Vec, Role::Aiv0, 0, count as u32)
}

/// Accesses of agents that know nothing of each other: the conflicts of each.
fn conflicts(accesses: &[(u8, bool, u64, u64)]) -> Vec<(u8, u64, u64)> {
    let mut shadow = Shadow::default();
    let mut found: Vec<(u8, u64, u64)> = Vec::new();
    for &(lane, write, start, end) in accesses {
        let mut clock = Clock::default();
        clock.set(usize::from(lane), 1);
        let before = found.len();
        let conflict =
            |old: Stamp, from, to| match found[before..].iter_mut().find(|last| last.0 == old.lane && last.2 == from) {
                Some(last) => last.2 = to,
                None => found.push((old.lane, from, to)),
            };
        let mut leans = Leans::default();
        shadow.touch(&bytes(end - start), start, &mut touching(stamp(lane, write), &clock, conflict, &mut leans));
    }
    found
}

#[test]
fn what_has_no_memory_is_given_up() {
    let (mut shadow, mut clock) = (Shadow::default(), Clock::default());
    clock.set(1, 1);
    let mut leans = Leans::default();
    for start in [0, 1 << 60, 0] {
        let conflict = |_, _, _| {};
        shadow.touch(&bytes(32), start, &mut touching(stamp(1, true), &clock, conflict, &mut leans));
    }
    assert!(shadow.is_full() && shadow.unordered(0, 32, 0, &Clock::default()).is_empty());
}

#[test]
fn overlaps_are_exact_to_the_byte() {
    assert_eq!(conflicts(&[(1, true, 0, 100), (2, false, 100, 200)]), []);
    assert_eq!(conflicts(&[(1, true, 0, 100), (2, false, 99, 200)]), [(1, 99, 100)]);
    assert_eq!(conflicts(&[(1, false, 5, 7), (1, false, 9, 11), (2, true, 7, 9)]), []);
    assert_eq!(conflicts(&[(1, true, 0, 4096), (2, true, 1000, 3000)]), [(1, 1000, 3000)]);
    assert_eq!(conflicts(&[(1, true, 1000, 3000), (2, true, 0, 4096)]), [(1, 1000, 3000)]);
}

#[test]
fn reads_do_not_conflict_and_none_is_forgotten() {
    assert_eq!(conflicts(&[(1, false, 0, 64), (2, false, 0, 64), (3, false, 0, 64)]), []);
    let mut all = conflicts(&[(1, false, 0, 32), (2, false, 0, 32), (3, true, 0, 32)]);
    all.sort();
    assert_eq!(all, [(1, 0, 32), (2, 0, 32)]);
}

#[test]
fn a_write_replaces_what_it_covers_only() {
    let accesses = [(1, true, 0, 64), (2, true, 0, 16), (3, false, 0, 64)];
    // The third sees the second for bytes 0 to 15 and the first for the rest.
    let mut found = conflicts(&accesses);
    found[1..].sort();
    assert_eq!(found, [(1, 0, 16), (1, 16, 64), (2, 0, 16)]);
}

#[test]
fn updates_of_a_kind_commute_and_none_is_forgotten() {
    let mut shadow = Shadow::default();
    let mut found = Vec::new();
    let of = |kind| Some(Change::Update(Update { kind, elem: slipring_tile::Elem::I32 }));
    for (lane, update) in [(1, of(UpdateKind::Add)), (2, of(UpdateKind::Add)), (3, of(UpdateKind::Max)), (4, None)] {
        let mut clock = Clock::default();
        clock.set(usize::from(lane), 1);
        let stamp = Stamp { update, ..stamp(lane, update.is_some()) };
        let conflict = |old: Stamp, _, _| found.push((lane, old.lane, stamp.commutes(&old)));
        shadow.touch(&bytes(32), 0, &mut touching(stamp, &clock, conflict, &mut Leans::default()));
    }
    found.sort_unstable();
    // The second addition is told of the first, with which it commutes; the maximum races with both, the read with all.
    let told = [(2, 1, true), (3, 1, false), (3, 2, false), (4, 3, false)];
    assert_eq!(found, told);
}

#[test]
fn blocks_are_never_ordered() {
    let mut shadow = Shadow::default();
    let mut clock = Clock::default();
    clock.set(3, 100);
    let mut found = Vec::new();
    for (block, write) in [(0, false), (1, false), (2, false), (3, false), (1, true)] {
        let stamp = Stamp { block, ..stamp(3, write) };
        let conflict = |old: Stamp, _, _| found.push(old.block);
        shadow.touch(&bytes(2048), 0, &mut touching(stamp, &clock, conflict, &mut Leans::default()));
    }
    // Two other readers are enough to remember; the one that is not the writer itself is told.
    assert_eq!(found, [0]);
}

/// Thousands of blocks that add to the same bytes: what is remembered does not grow with them, and a race with any of them is told.
#[test]
fn updates_of_many_blocks_are_remembered_by_two() {
    let mut shadow = Shadow::default();
    let update = Some(Change::Update(Update { kind: UpdateKind::Add, elem: slipring_tile::Elem::I32 }));
    let mut clock = Clock::default();
    clock.set(3, 100);
    let mut told = 0;
    for block in 0..4096 {
        let stamp = Stamp { block, update, ..stamp(3, true) };
        let conflict = |_, _, _| told += 1;
        shadow.touch(&bytes(2048), 0, &mut touching(stamp, &clock, conflict, &mut Leans::default()));
    }
    assert!(told < 3 * 4096, "{told}");
    for block in [0, 1, 77, 5000] {
        let (mut found, mut shadow) = (Vec::new(), shadow.clone());
        let stamp = Stamp { block, ..stamp(3, false) };
        let conflict = |old: Stamp, _, _| found.push(old.block);
        shadow.touch(&bytes(2048), 0, &mut touching(stamp, &clock, conflict, &mut Leans::default()));
        assert!(found.iter().any(|other| *other != block), "{block}: {found:?}");
    }
}

/// An access of a random program.
#[derive(Clone, Debug)]
struct Step {
    lane: u8,
    block: u32,
    /// 0 reads, 1 writes, 2 and 3 add and take the maximum.
    kind: u8,
    /// How many epochs after the present one an agent is whose work is known to be over, by lane.
    behind: [u32; 3],
    start: u64,
    rows: u32,
    row_bytes: u32,
    stride: u64,
}

/// Tiles at a few places, in a few shapes, so that the same and overlapping ones come again; or anything.
fn step(anything: bool) -> impl Strategy<Value = Step> {
    let tile = (0..6u64, 0..3u64, prop::sample::select(vec![1u32, 2, 8, 16]), 0..5usize).prop_map(
        |(at, column, rows, wide)| {
            let (row_bytes, stride) = [(64, 64), (64, 256), (96, 256), (256, 256), (128, 192)][wide];
            (at * 1024 + column * 64, rows, row_bytes, stride)
        },
    );
    let any = (0..4096u64, 1..20u32, 1..100u32, 0..300u64)
        .prop_map(|(start, rows, bytes, gap)| (start, rows, bytes, u64::from(bytes) + gap.saturating_sub(100)));
    let place = if anything { prop_oneof![tile, any].boxed() } else { tile.boxed() };
    (1..4u8, 0..9u32, 0..8u8, prop::array::uniform3(0..4u32), place).prop_map(|(lane, block, kind, behind, place)| {
        let (start, rows, row_bytes, stride) = place;
        let (block, kind) = (block.saturating_sub(5), [0, 0, 0, 1, 1, 1, 2, 3][usize::from(kind)]);
        Step { lane, block, kind, behind, start, rows, row_bytes, stride }
    })
}

/// What an access is told: the bytes from the first to the last one that it shares with each earlier access, and whether it
/// leans on the order of a pipe.
type Told = (BTreeMap<String, (u64, u64)>, bool);

fn told(stamp: Stamp, clock: &Clock, access: impl FnOnce(&mut Touch<'_, &mut dyn FnMut(Stamp, u64, u64)>)) -> Told {
    let (mut found, mut leans) = (BTreeMap::new(), Leans::default());
    let mut conflict = |old: Stamp, first: u64, end: u64| {
        let known: &mut (u64, u64) = found.entry(format!("{old:?}")).or_insert((first, end));
        *known = (known.0.min(first), known.1.max(end));
    };
    access(&mut touching(stamp, clock, &mut conflict, &mut leans));
    (found, leans.any)
}

/// Regions and pages tell the same of the same accesses.
fn compare(steps: &[Step], blocks: u32) -> Result<(), TestCaseError> {
    let (mut shadow, mut pages) = (Shadow::default(), Pages::default());
    for (number, step) in steps.iter().enumerate() {
        let epoch = number as u32 + 10;
        let mut clock = Clock::default();
        for (lane, behind) in step.behind.iter().enumerate() {
            clock.set(lane + 1, (epoch - 1).saturating_sub(behind * 3));
        }
        let elem = slipring_tile::Elem::I32;
        let kind = [None, None, Some(UpdateKind::Add), Some(UpdateKind::Max)][usize::from(step.kind)];
        let update = kind.map(|kind| Change::Update(Update { kind, elem }));
        let (write, site, number) = (step.kind > 0, number as u32 % 3, number as u32);
        let stamp = Stamp { block: step.block % blocks, lane: step.lane, write, update, epoch, site, number };
        let range = Extent { rows: step.rows, stride: step.stride, ..bytes(step.row_bytes.into()) };
        let of_regions = told(stamp, &clock, |touch| shadow.touch(&range, step.start, touch));
        let of_pages = told(stamp, &clock, |touch| {
            runs(&range, step.start).for_each(|(from, to)| pages.touch(from, to, touch));
        });
        if blocks > 2 {
            // Of the readers of other blocks not all are remembered, and not the same ones: there is one, or there is none.
            prop_assert_eq!(of_regions.0.is_empty(), of_pages.0.is_empty(), "step {} of {:#?}", number, steps);
            continue;
        }
        prop_assert_eq!(of_regions, of_pages, "step {} of {:#?}", number, steps);
        if number % 5 == 0 {
            let (from, to) = (step.start / 512 * 512, step.start / 512 * 512 + 1024);
            let names = |list: Vec<Stamp>| {
                list.into_iter().map(|old| format!("{old:?}")).collect::<std::collections::BTreeSet<_>>()
            };
            let mut alone = Shadow { pages: pages.clone(), ..Shadow::default() };
            let want = alone.unordered(from, to, 0, &clock);
            prop_assert_eq!(names(shadow.unordered(from, to, 0, &clock)), names(want));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn regions_tell_what_pages_tell(steps in prop::collection::vec(step(true), 1..40)) {
        compare(&steps, 2)?;
        compare(&steps, 4)?;
    }

    #[test]
    fn regions_of_tiles_tell_what_pages_tell(steps in prop::collection::vec(step(false), 1..60)) {
        compare(&steps, 2)?;
        compare(&steps, 4)?;
    }
}

/// So many regions that they are given up now and then.
#[test]
fn more_regions_than_are_kept_are_remembered_byte_by_byte() {
    let steps: Vec<Step> = (0..3 * MOST as u64)
        .map(|at| {
            let (kind, lane) = ((at % 3 == 0) as u8, 1 + (at % 2) as u8);
            let start = at * 7919 % 5000 * 160;
            Step { lane, block: 0, kind, behind: [1, 2, 3], start, rows: 1, row_bytes: 150, stride: 0 }
        })
        .collect();
    compare(&steps, 1).unwrap();
}
