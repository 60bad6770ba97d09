//! Sorting in UB: groups of 32 scores into records, and merges of sorted lists of records.

use std::cmp::Reverse;

use slipring_machine::Role;
use slipring_program::{Access, Discover, Effect, Env, Extent, Fault, Memory, Run, arguments};
use slipring_tile::{Elem, Space};

use crate::region::apart;

/// Bytes of a record: the score in the low half, the index in the high one.
pub(crate) const RECORD: usize = 8;
/// Scores of a group.
pub(crate) const GROUP: u64 = 32;

/// The comparison key of scores; the first record has the largest key.
///
/// `-0` equals `+0`, as in any comparison of floats. A NaN is at the end given by its sign: before `+inf`, or after
/// `-inf` if the sign is set, since the public library uses these as padding; NaNs of the same sign are equal.
fn key(score: Elem, bytes: &[u8]) -> u32 {
    let (bits, sign, infinity) = match score {
        Elem::F16 => (u32::from(u16::from_le_bytes([bytes[0], bytes[1]])), 1 << 15, 0x7c00),
        _ => (u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), 1 << 31, 0x7f80_0000),
    };
    let (negative, magnitude) = (bits & sign != 0, bits & !sign);
    match () {
        () if magnitude > infinity && negative => 0,
        () if magnitude > infinity => u32::MAX,
        () if negative => (1 << 31) - magnitude,
        () => (1 << 31) + magnitude,
    }
}

fn misplaced(what: &str, address: u64, align: u64) -> Result<(), Fault> {
    if address.is_multiple_of(align) {
        return Ok(());
    }
    Err(Fault::new("sort-alignment", format!("the address {address} of {what} is not a multiple of {align} bytes")))
}

arguments! {
    /// Addresses of the records, the scores and the indices (4 bytes each); number of groups.
    pub struct SortArgs { records, scores, indices, groups }
}

/// Appends the sorted records of whole groups of scores and their indices.
pub(crate) fn sort_groups(score: Elem, scores: &[u8], indices: &[u8], records: &mut Vec<u8>) {
    let width = score.bytes();
    for (scores, indices) in scores.chunks(GROUP as usize * width).zip(indices.chunks(GROUP as usize * 4)) {
        let mut order: [usize; GROUP as usize] = std::array::from_fn(|at| at);
        order.sort_by_key(|at| Reverse(key(score, &scores[at * width..])));
        for at in order {
            records.extend_from_slice(&scores[at * width..][..width]);
            records.resize(records.len().next_multiple_of(4), 0);
            records.extend_from_slice(&indices[at * 4..][..4]);
        }
    }
}

/// Sorts groups of 32 scores, each separately, in descending order and stably.
///
/// Arguments: [`SortArgs`]. Its cost counts the bytes of the records: a group is a repeat.
#[derive(Clone, Copy, Debug)]
pub struct SortGroups {
    /// `f32` or `f16`.
    pub score: Elem,
    /// The core of the UB.
    pub core: Role,
}

impl Effect for SortGroups {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = SortArgs::of(args);
        let groups = given.groups;
        if groups > 255 {
            let message = format!("the number of repeats is {}; the instruction has 8 bits for it", groups as i64);
            return Err(Fault::new("sort-operand", message).help("it lies between 0 and 255"));
        }
        for (what, address) in
            [("the records", given.records), ("the scores", given.scores), ("the indices", given.indices)]
        {
            misplaced(what, address, 32)?;
        }
        let run = |start, bytes: u64| Extent::run(Space::Vec, self.core, start, (groups * GROUP * bytes) as u32);
        access.reads.push(run(given.scores, self.score.bytes() as u64));
        access.reads.push(run(given.indices, 4));
        access.writes.push(run(given.records, RECORD as u64));
        access.units.total += groups * GROUP * RECORD as u64;
        apart("sort-overlap", &access.writes, &access.reads)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = SortArgs::of(args);
        let (count, width) = ((given.groups * GROUP) as usize, self.score.bytes());
        let scores = memory.bytes(env, self.core, Space::Vec, given.scores, count * width);
        let indices = memory.bytes(env, self.core, Space::Vec, given.indices, count * 4);
        let records = &mut scratch.bytes[0];
        records.clear();
        sort_groups(self.score, scores, indices, records);
        memory.bytes_mut(env, self.core, Space::Vec, given.records, count * RECORD).copy_from_slice(records);
        Ok(0)
    }
}

arguments! {
    /// Addresses of the result and of the lists; their lengths, 16 bits each; the control word.
    pub struct MergeArgs { records, list0, list1, list2, list3, lengths, control }
}

/// Merges up to four sorted lists of records, and stores in VMS4_SR how many it consumed of each.
///
/// Arguments: address of the result; of the four lists; their lengths, 16 bits each; the control word. The unit of its
/// cost is a record of the result. If it may stop early, their number depends on the scores, so it discovers its
/// writes.
#[derive(Clone, Copy, Debug)]
pub struct MergeLists {
    /// `f32` or `f16`.
    pub score: Elem,
    /// The core of the UB.
    pub core: Role,
}

/// The decoded control word.
struct Control {
    repeats: u64,
    /// The number of participating lists, from the first.
    lists: usize,
    /// Stop once one of them is exhausted.
    stops: bool,
}

impl Control {
    fn of(word: u64, lengths: [u64; 4]) -> Result<Control, Fault> {
        let wrong = |message: String| Fault::new("sort-config", message);
        let mask = word >> 8 & 15;
        let lists = match mask {
            0b0011 => 2,
            0b0111 => 3,
            0b1111 => 4,
            _ => {
                let message = format!("bits 8 to 11 of the control word are {mask:#06b}: which lists take part");
                return Err(wrong(message).help("0b0011, 0b0111 or 0b1111: the first two, the first three, all"));
            }
        };
        if word >> 13 != 0 {
            return Err(wrong(format!("the control word {word:#x} has bits above bit 12, which are undefined")));
        }
        let control = Control { repeats: word & 255, lists, stops: word >> 12 & 1 == 1 };
        if control.repeats == 0 {
            return Err(wrong("the control word asks for 0 repeats".into()).help("bits 0 to 7 hold 1 to 255"));
        }
        let even = lists == 4 && !control.stops && lengths.iter().all(|length| *length == lengths[0]);
        if control.repeats > 1 && !even {
            let message = format!("{} repeats, whose lists are not four of one length each", control.repeats);
            let help = "a merge with repeats takes four equally long lists, and does not stop early";
            return Err(wrong(message).help(help));
        }
        Ok(control)
    }
}

/// One list, after checking that its bytes exist and that it is sorted.
pub(crate) fn sorted_list<'m>(
    score: Elem,
    memory: &'m Memory,
    env: Env,
    range: &Extent,
    number: usize,
) -> Result<&'m [u8], Fault> {
    if !memory.has(range, env) {
        return Err(memory.miss(range, "reads", env));
    }
    let list = memory.bytes(env, range.core, range.space, range.start, range.row_bytes as usize);
    let keys = || list.chunks(RECORD).map(|record| key(score, record));
    if let Some(at) = keys().zip(keys().skip(1)).position(|(one, next)| one < next) {
        let message = format!("list {number} is not sorted: record {} has a larger score than record {at}", at + 1);
        return Err(Fault::new("sort-unsorted", message).help("sort each list in descending order first"));
    }
    Ok(list)
}

/// Appends the merged lists to `out` and returns how many records of each were consumed. Among equal scores the one
/// from the earlier list comes first.
pub(crate) fn merge(score: Elem, lists: &[&[u8]], stops: bool, out: &mut Vec<u8>) -> [u16; 4] {
    let mut taken = [0u16; 4];
    loop {
        let heads = lists.iter().zip(&taken).map(|(list, taken)| list.chunks(RECORD).nth((*taken).into()));
        if stops && heads.clone().any(|head| head.is_none()) {
            return taken;
        }
        let heads = heads.enumerate().filter_map(|(at, head)| Some((at, head?)));
        let Some((at, head)) = heads.min_by_key(|(_, head)| Reverse(key(score, head))) else { return taken };
        out.extend_from_slice(head);
        taken[at] += 1;
    }
}

impl Discover for MergeLists {
    fn local(&self) -> bool {
        true
    }

    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, .. }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let given = MergeArgs::of(args);
        let starts = [given.list0, given.list1, given.list2, given.list3];
        let lengths: [u64; 4] = std::array::from_fn(|list| given.lengths >> (16 * list) & 0xffff);
        let control = Control::of(given.control, lengths)?;
        misplaced("the result", given.records, 32)?;
        let run = |start, bytes: usize| Extent::run(Space::Vec, self.core, start, bytes as u32);
        // A repetition starts where the previous one ended, in the result and in every list.
        let stride = lengths.iter().sum::<u64>() * RECORD as u64;
        let records = &mut scratch.bytes[0];
        records.clear();
        let mut taken = [0; 4];
        for repeat in 0..control.repeats {
            let mut lists: [&[u8]; 4] = [&[]; 4];
            for (at, list) in lists.iter_mut().enumerate().take(control.lists) {
                misplaced("a list", starts[at], RECORD as u64)?;
                let start = starts[at].saturating_add(repeat * stride);
                let range = run(start, lengths[at] as usize * RECORD);
                *list = sorted_list(self.score, memory, env, &range, at)?;
                access.reads.push(range);
            }
            taken = merge(self.score, &lists[..control.lists], control.stops, records);
        }
        let result = run(given.records, records.len());
        if !memory.has(&result, env) {
            return Err(memory.miss(&result, "writes", env));
        }
        apart("sort-overlap", &[result], &access.reads)?;
        memory.bytes_mut(env, self.core, Space::Vec, given.records, records.len()).copy_from_slice(records);
        let status = Extent::run(Space::Spr, self.core, 0, RECORD as u32);
        let counts = taken.iter().rev().fold(0, |counts, count| counts << 16 | u64::from(*count));
        memory.bytes_mut(env, self.core, Space::Spr, 0, RECORD).copy_from_slice(&counts.to_le_bytes());
        access.units.total += records.len() as u64;
        access.writes.extend([result, status]);
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slipring_program::{GmBuffer, Output, Scratch};

    use super::*;

    const ENV: Env = Env { block: 0, core: Role::Aiv0 };
    const SIZE: usize = 8192;

    fn memory(bytes: &[u8]) -> Memory {
        let mut memory = Memory::with_sizes(1, |_| SIZE);
        memory.gm.push(GmBuffer::default());
        memory.bytes_mut(ENV, Role::Aiv0, Space::Vec, 0, bytes.len()).copy_from_slice(bytes);
        memory
    }

    fn ub(memory: &Memory, start: u64, len: usize) -> &[u8] {
        memory.bytes(ENV, Role::Aiv0, Space::Vec, start, len)
    }

    fn records(pairs: &[(f32, u32)]) -> Vec<u8> {
        pairs.iter().flat_map(|(score, index)| [score.to_le_bytes(), index.to_le_bytes()].concat()).collect()
    }

    /// Few values, so that scores are often equal; all that are special among them.
    fn score() -> impl Strategy<Value = f32> {
        prop_oneof![
            (-3i8..4).prop_map(f32::from),
            Just(-0.0),
            Just(f32::INFINITY),
            Just(f32::NEG_INFINITY),
            Just(f32::NAN),
            Just(-f32::NAN),
            Just(1e-40),
        ]
    }

    /// A plain sort by the order that the documentation states.
    fn sorted(mut pairs: Vec<(f32, u32)>) -> Vec<(f32, u32)> {
        // -1, 0 or 1: before, among or after the numbers.
        let side = |x: f32| if x.is_nan() { if x.is_sign_negative() { 1 } else { -1 } } else { 0 };
        pairs.sort_by(|a, b| match (side(a.0), side(b.0)) {
            (0, 0) => b.0.partial_cmp(&a.0).unwrap(),
            (a, b) => a.cmp(&b),
        });
        pairs
    }

    fn merged(args: [u64; 7], bytes: &[u8]) -> Result<(Memory, Access), Fault> {
        let (mut memory, mut access) = (memory(bytes), Access::default());
        let effect = MergeLists { score: Elem::F32, core: Role::Aiv0 };
        effect.discover(
            &args,
            Run { env: ENV, memory: &mut memory, scratch: &mut Scratch::default(), output: &mut Output::default() },
            &mut access,
        )?;
        Ok((memory, access))
    }

    proptest! {
        #[test]
        fn groups_are_sorted_as_a_plain_stable_sort_does(
            scores in prop::collection::vec(score(), 96), half in any::<bool>(), groups in 0u64..4,
        ) {
            let elem = if half { Elem::F16 } else { Elem::F32 };
            let scores: Vec<f32> = scores.into_iter().map(|s| if half && s == 1e-40 { 6e-8 } else { s }).collect();
            let mut bytes = vec![0; 1024];
            slipring_tile::store_f32(elem, &scores, &mut bytes[..96 * elem.bytes()]);
            for (index, at) in (1000u32..1096).zip((512..).step_by(4)) {
                bytes[at..at + 4].copy_from_slice(&index.to_le_bytes());
            }
            let mut memory = memory(&bytes);
            let args = [2048, 0, 512, groups];
            let effect = SortGroups { score: elem, core: Role::Aiv0 };
            effect.plan(&args, ENV, &mut Access::default()).unwrap();
            effect.run(&args, Run { env: ENV, memory: &mut memory, scratch: &mut Scratch::default(), output: &mut Output::default() }).unwrap();
            let pairs: Vec<_> = scores.iter().copied().zip(1000..).take(32 * groups as usize).collect();
            let want: Vec<u32> = pairs.chunks(32).flat_map(|c| sorted(c.to_vec())).map(|p| p.1).collect();
            let got = ub(&memory, 2048, want.len() * 8);
            for (record, index) in got.chunks(8).zip(want) {
                prop_assert_eq!(&record[4..], &index.to_le_bytes());
                let at = (index - 1000) as usize * elem.bytes();
                prop_assert_eq!(&record[..elem.bytes()], &bytes[at..][..elem.bytes()]);
                prop_assert!(record[elem.bytes()..4].iter().all(|b| *b == 0));
            }
            prop_assert!(ub(&memory, 2048, 768)[got.len()..].iter().all(|b| *b == 0));
        }

        #[test]
        fn merging_is_sorting_the_lists_one_after_another(
            lists in prop::collection::vec(prop::collection::vec(score(), 0..12), 2..5), stops in any::<bool>(),
        ) {
            let mut bytes = vec![0; 2048];
            let (mut args, mut all) = ([0; 7], Vec::new());
            args[0] = 2048;
            for (at, list) in lists.iter().enumerate() {
                let list = sorted(list.iter().map(|s| (*s, 0)).collect());
                let list: Vec<_> = list.iter().zip(0..).map(|(p, i)| (p.0, 100 * at as u32 + i)).collect();
                let start = 512 * at;
                bytes[start..][..list.len() * 8].copy_from_slice(&records(&list));
                args[1 + at] = start as u64;
                args[5] |= (list.len() as u64) << (16 * at);
                all.extend(list);
            }
            args[6] = 1 | ((1 << lists.len()) - 1) << 8 | u64::from(stops) << 12;
            let (memory, access) = merged(args, &bytes).unwrap();
            let mut want = sorted(all);
            if stops {
                let left = |n: usize, list: usize, want: &[(f32, u32)]| {
                    lists[list].len() - want[..n].iter().filter(|p| p.1 as usize / 100 == list).count()
                };
                let end = (0..=want.len()).find(|n| (0..lists.len()).any(|l| left(*n, l, &want) == 0));
                want.truncate(end.unwrap());
            }
            prop_assert_eq!(ub(&memory, 2048, want.len() * 8), &records(&want)[..]);
            prop_assert!(ub(&memory, 2048, 2048)[want.len() * 8..].iter().all(|b| *b == 0));
            prop_assert_eq!(access.writes[0].bytes(), want.len() as u64 * 8);
            let counts = memory.bytes(ENV, Role::Aiv0, Space::Spr, 0, 8).chunks(2);
            for (list, count) in counts.enumerate() {
                let taken = want.iter().filter(|p| p.1 as usize / 100 == list).count() as u16;
                prop_assert_eq!(count, taken.to_le_bytes());
            }
        }
    }

    #[test]
    fn repeats_take_the_next_four_lists() {
        let quads = [[4.0, 3.0, 2.0, 1.0], [5.0, 8.0, 6.0, 7.0]];
        let list: Vec<_> = quads.concat().into_iter().zip(0..).collect();
        let (memory, access) = merged([1024, 0, 8, 16, 24, 0x0001_0001_0001_0001, 0x0f02], &records(&list)).unwrap();
        let want = [(4.0, 0), (3.0, 1), (2.0, 2), (1.0, 3), (8.0, 5), (7.0, 7), (6.0, 6), (5.0, 4)];
        assert_eq!(ub(&memory, 1024, 64), records(&want));
        assert_eq!((access.units.total, access.reads.len()), (64, 8));
    }

    #[test]
    fn what_the_instruction_does_not_take_is_refused() {
        let fault = |args| merged(args, &records(&[(1.0, 0), (2.0, 1)])).map(|_| ()).map_err(|f| f.kind.code());
        let ones = 0x0001_0001_0001_0001;
        assert_eq!(fault([1024, 0, 8, 16, 24, ones, 0x0f01]), Ok(()));
        assert_eq!(fault([1024, 0, 8, 16, 24, ones, 0x0501]), Err("sort-config"));
        assert_eq!(fault([1024, 0, 8, 16, 24, ones, 0x2f01]), Err("sort-config"));
        assert_eq!(fault([1024, 0, 8, 16, 24, ones, 0x0f00]), Err("sort-config"));
        assert_eq!(fault([1024, 0, 8, 16, 24, ones, 0x1f02]), Err("sort-config"));
        assert_eq!(fault([1024, 0, 8, 16, 24, ones + 1, 0x0f02]), Err("sort-config"));
        assert_eq!(fault([1032, 0, 8, 16, 24, ones, 0x0f01]), Err("sort-alignment"));
        assert_eq!(fault([1024, 0, 4, 16, 24, ones, 0x0f01]), Err("sort-alignment"));
        assert_eq!(fault([1024, 0, 64, 128, 192, 2, 0x0f01]), Err("sort-unsorted"));
        assert_eq!(fault([0, 0, 8, 16, 24, ones, 0x0f01]), Err("sort-overlap"));
        assert_eq!(fault([1024, 0, 8, 16, SIZE as u64, ones, 0x0f01]), Err("memory-bounds"));
        assert_eq!(fault([SIZE as u64, 0, 8, 16, 24, ones, 0x0f01]), Err("memory-bounds"));
        // A list that takes no part may be anywhere.
        assert_eq!(fault([1024, 0, 8, 1, u64::MAX, ones, 0x0301]), Ok(()));

        let effect = SortGroups { score: Elem::F16, core: Role::Aiv0 };
        let fault = |args: [u64; 4]| effect.plan(&args, ENV, &mut Access::default()).map_err(|f| f.kind.code());
        assert_eq!(fault([1024, 0, 512, 1]), Ok(()));
        assert_eq!(fault([1024, 16, 512, 1]), Err("sort-alignment"));
        assert_eq!(fault([1024, 0, 512, 256]), Err("sort-operand"));
        assert_eq!(fault([1024, 0, 512, u64::MAX]), Err("sort-operand"));
        assert_eq!(fault([512, 0, 640, 1]), Err("sort-overlap"));
        assert_eq!(fault([512, 0, 512, 0]), Ok(()));
    }
}
