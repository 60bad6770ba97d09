//! The accesses of a vector function during its execution: recorded, and checked once it is over.
//!
//! A step in a loop touches bytes at equal distances. Such accesses are one *stride*, however many they are. Where no
//! store of the function shares a byte with another access, or only with the load that its value came from, the strides
//! are sufficient: they give what was read and written. Everything else is left to
//! [`Footprint`](crate::footprint::Footprint), access by access.

use slipring_tile::BLOCK_BYTES;

use crate::access::{Kind, Moment, Touch};

/// Maximum number of recorded strides.
const MOST: usize = 256;
/// Number of executed instructions after which a function's accesses are no longer recorded.
pub(crate) const LONGEST: u32 = 1 << 15;

/// Accesses of one step, of equal size, at equal distances in address and in order of execution.
#[derive(Clone, Copy, Debug)]
struct Stride {
    first: Touch,
    start: usize,
    bytes: usize,
    count: u32,
    /// Address increment, wrapping.
    distance: usize,
    pace: u32,
    /// The next expected access.
    next: usize,
    position: u32,
}

impl Stride {
    fn one(touch: Touch, start: usize, end: usize) -> Stride {
        let (bytes, position) = (end - start, touch.at.position);
        Stride { first: touch, start, bytes, count: 1, distance: 0, pace: 0, next: usize::MAX, position }
    }

    /// The bytes of access `i`.
    fn at(&self, i: u32) -> (usize, usize) {
        let start = self.start.wrapping_add(self.distance.wrapping_mul(i as usize));
        (start, start + self.bytes)
    }

    fn touch(&self, i: u32) -> Touch {
        let at = self.first.at;
        Touch { at: Moment { position: at.position + i * self.pace, ..at }, ..self.first }
    }

    /// Start of the first access and end of the last one.
    fn reach(&self) -> (usize, usize) {
        let (first, last) = (self.at(0), self.at(self.count - 1));
        (first.0.min(last.0), first.1.max(last.1))
    }

    /// The absolute distance between its accesses.
    fn apart(&self) -> usize {
        (self.distance as isize).unsigned_abs()
    }

    /// True if no byte is touched twice.
    fn is_spread(&self) -> bool {
        self.count == 1 || self.apart() >= self.bytes
    }

    /// True if every byte of its extent is touched.
    fn is_dense(&self) -> bool {
        self.count == 1 || self.apart() <= self.bytes
    }

    fn writes(&self) -> bool {
        self.first.kind.writes()
    }

    /// True if the two, both without repetitions and with overlapping extents, still share no byte.
    fn misses(&self, other: &Stride) -> bool {
        let apart = self.apart();
        if self.count == 1 || other.count == 1 || apart != other.apart() || !self.is_spread() || !other.is_spread() {
            return false;
        }
        // Positions of both within one distance.
        let (own, theirs) = (self.start % apart, other.start % apart);
        let (low, high) = if own <= theirs { ((own, self.bytes), theirs) } else { ((theirs, other.bytes), own) };
        let high_bytes = if own <= theirs { other.bytes } else { self.bytes };
        low.0 + low.1 <= high && high + high_bytes <= low.0 + apart
    }

    /// True if each access of this store writes bytes that the corresponding access of the load has read just before,
    /// in disjoint blocks.
    fn follows(&self, load: &Stride) -> bool {
        let shape = |s: &Stride| (s.start, s.bytes, s.count, s.distance, s.pace);
        let whole = [self.start, self.bytes, self.apart()].into_iter().all(|n| n.is_multiple_of(BLOCK_BYTES as usize));
        let (from, to) = (load.first.at.position, self.first.at.position);
        let kinds = (load.first.kind, self.first.kind) == (Kind::VectorLoad, Kind::VectorStore);
        let before = from < to && (self.count == 1 || to - from < self.pace);
        kinds && whole && before && shape(self) == shape(load)
    }
}

/// The accesses of one execution.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    strides: Vec<Stride>,
    /// For each step the stride that it may continue.
    open: Vec<u32>,
    /// By first byte, once the execution is over: start, end, stride.
    order: Vec<(usize, usize, u32)>,
}

impl Journal {
    /// Prepares for a function with this many steps.
    pub fn restart(&mut self, steps: usize) {
        self.strides.clear();
        self.open.clear();
        self.open.resize(steps, u32::MAX);
    }

    /// Records a nonempty access. False once its capacity is exhausted.
    #[inline]
    pub fn note(&mut self, touch: Touch, start: usize, end: usize) -> bool {
        self.goes_on(touch, start, end) || self.begin(touch, start, end)
    }

    /// Records an access that continues the stride of its step. Otherwise returns false and records nothing.
    #[inline]
    pub fn goes_on(&mut self, touch: Touch, start: usize, end: usize) -> bool {
        let (bytes, position) = (end - start, touch.at.position);
        let Some(stride) = self.open.get(touch.at.step as usize).and_then(|open| self.strides.get_mut(*open as usize))
        else {
            return false;
        };
        let goes_on =
            (stride.next, stride.position, stride.bytes, stride.first.kind) == (start, position, bytes, touch.kind);
        if goes_on {
            stride.count += 1;
            (stride.next, stride.position) = (start.wrapping_add(stride.distance), position + stride.pace);
        }
        goes_on
    }

    /// True if an access of this size would continue the stride of its step, and those after it with this distance and
    /// pace.
    pub fn goes_on_by(&self, touch: Touch, start: usize, bytes: usize, distance: usize, pace: u32) -> bool {
        let stride = self.open.get(touch.at.step as usize).and_then(|open| self.strides.get(*open as usize));
        let line = |s: &Stride| (s.next, s.position, s.bytes, s.first.kind, s.distance, s.pace);
        let expected = (start, touch.at.position, bytes, touch.kind, distance, pace);
        stride.is_some_and(|stride| stride.count > 1 && line(stride) == expected)
    }

    /// Records several accesses of a step that continue its stride.
    pub fn go_on(&mut self, step: u32, count: u32) {
        let stride = &mut self.strides[self.open[step as usize] as usize];
        stride.count += count;
        stride.next = stride.next.wrapping_add(stride.distance.wrapping_mul(count as usize));
        stride.position += stride.pace * count;
    }

    /// An access that continues no existing stride.
    fn begin(&mut self, touch: Touch, start: usize, end: usize) -> bool {
        let position = touch.at.position;
        let open = &mut self.open[touch.at.step as usize];
        if let Some(stride) = self.strides.get_mut(*open as usize)
            && (stride.count, stride.bytes, stride.first.kind) == (1, end - start, touch.kind)
        {
            stride.distance = start.wrapping_sub(stride.start);
            stride.pace = position - stride.first.at.position;
            stride.count = 2;
            (stride.next, stride.position) = (start.wrapping_add(stride.distance), position + stride.pace);
            return true;
        }
        *open = self.strides.len() as u32;
        self.strides.push(Stride::one(touch, start, end));
        self.strides.len() < MOST
    }

    /// True if the strides are sufficient: no store shares a byte with another access, except the load that its value
    /// came from, for which `depends(store, load, count, pace)` holds: for the two executions, and likewise for this
    /// many of them.
    pub fn is_plain(&mut self, depends: impl Fn(Moment, Moment, u32, u32) -> bool) -> bool {
        let Journal { strides, order, .. } = self;
        order.clear();
        order.extend(strides.iter().enumerate().map(|(i, stride)| {
            let (first, end) = stride.reach();
            (first, end, i as u32)
        }));
        order.sort_unstable();
        let mut furthest = 0;
        for (at, (first, end, i)) in order.iter().enumerate() {
            let stride = &strides[*i as usize];
            if stride.writes() && !stride.is_spread() {
                return false;
            }
            if *first < furthest {
                for (.., j) in order[..at].iter().filter(|(_, before, _)| before > first) {
                    let other = &strides[*j as usize];
                    if !(stride.writes() || other.writes()) || stride.misses(other) {
                        continue;
                    }
                    let (load, store) = if stride.writes() { (other, stride) } else { (stride, other) };
                    let known = store.follows(load)
                        && depends(store.first.at, load.first.at, store.count, store.pace)
                        && order.iter().all(|(from, to, k)| {
                            let third = &strides[*k as usize];
                            let apart = *to <= *first || *from >= *end;
                            k == i || k == j || apart || third.misses(store)
                        });
                    if !known {
                        return false;
                    }
                }
            }
            furthest = furthest.max(*end);
        }
        true
    }

    /// After [`Journal::is_plain`]: the bytes that were written, or those that were read, as runs in order. Returns
    /// false without a call if they have gaps: use [`Journal::each`] then.
    pub fn runs(&self, writes: bool, mut f: impl FnMut(u64, u64)) -> bool {
        let of = |i: u32| &self.strides[i as usize];
        let own = || self.order.iter().filter(|(.., i)| of(*i).writes() == writes);
        if !own().all(|(.., i)| of(*i).is_dense()) {
            return false;
        }
        let mut run: Option<(usize, usize)> = None;
        for (first, end, _) in own() {
            match &mut run {
                Some((_, last)) if *first <= *last => *last = (*last).max(*end),
                _ => {
                    if let Some((first, end)) = run.replace((*first, *end)) {
                        f(first as u64, end as u64);
                    }
                }
            }
        }
        if let Some((first, end)) = run {
            f(first as u64, end as u64);
        }
        true
    }

    /// The accesses that write, or those that read, in some order.
    pub fn each(&self, writes: bool, mut f: impl FnMut(usize, usize)) {
        for stride in self.strides.iter().filter(|stride| stride.writes() == writes) {
            for (start, end) in (0..stride.count).map(|i| stride.at(i)) {
                f(start, end);
            }
        }
    }

    /// All accesses in the order in which they happened, with their bytes.
    pub fn in_order(&self) -> Vec<(Touch, usize, usize)> {
        let mut list = Vec::new();
        for (number, stride) in self.strides.iter().enumerate() {
            list.extend((0..stride.count).map(|i| (stride.touch(i).at.position, number, i)));
        }
        list.sort_unstable();
        let access = |(_, number, i): (u32, usize, u32)| {
            let stride: &Stride = &self.strides[number];
            let (start, end) = stride.at(i);
            (stride.touch(i), start, end)
        };
        list.into_iter().map(access).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slipring_program::Access;

    use slipring_machine::Role;

    use super::*;
    use crate::access::relevant;
    use crate::footprint::Footprint;

    /// A step of a loop: whether it stores, its first byte, its bytes, and how far it goes each time.
    type Step = (bool, usize, usize, isize);

    fn step() -> impl Strategy<Value = Step> {
        let bytes = prop::sample::select(vec![4usize, 32, 64, 256]);
        let stride = prop::sample::select(vec![0isize, 4, 20, 32, 64, 96, 256, -32, -64, -256]);
        let start = prop_oneof![(0usize..24).prop_map(|n| 2048 + 32 * n), (0usize..512).prop_map(|n| 2048 + n)];
        (any::<bool>(), start, bytes, stride)
    }

    /// Loops: their steps, how often they run, and executions between two of an iteration's steps.
    fn loops() -> impl Strategy<Value = Vec<(Vec<Step>, u32, u32)>> {
        // Often what a step stores it has loaded before, from the same place.
        let body = (prop::collection::vec(step(), 1..4), any::<bool>()).prop_map(|(mut body, again)| {
            let (first, last) = (body[0], body.len() - 1);
            if again && last > 0 {
                (body[0], body[last]) = ((false, first.1, first.2, first.3), (true, first.1, first.2, first.3));
            }
            body
        });
        prop::collection::vec((body, 1u32..7, 1u32..3), 1..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        /// Accesses that are judged at the end come to the same as those that are judged as they happen.
        #[test]
        fn judged_at_the_end_as_at_once(loops in loops(), salt in 0u32..4) {
            let mut accesses = Vec::new();
            let (mut number, mut position) = (0, 0);
            for (body, times, pace) in &loops {
                for i in 0..*times {
                    for (at, (writes, start, bytes, stride)) in body.iter().enumerate() {
                        let step = number + at as u32;
                        let kind = if *writes { Kind::VectorStore } else { Kind::VectorLoad };
                        let start = start.wrapping_add_signed(stride * i as isize);
                        let at = Moment { step, site: step, position };
                        accesses.push((Touch { kind, at }, start, start + bytes));
                        position += pace;
                    }
                }
                number += body.len() as u32;
            }
            let pairs = relevant(|kind| accesses.iter().any(|(touch, ..)| touch.kind == kind));
            let depends = |store: Moment, load: Moment| {
                salt == 0 || !(store.step * 7 + load.step * 3 + store.position - load.position + salt).is_multiple_of(4)
            };
            let judge = |asked: &[Moment], store: Moment, found: &mut Vec<Moment>| {
                let is_store = |load: &Moment| accesses.iter().any(|(touch, ..)| touch.at == *load && touch.kind.writes());
                found.extend(asked.iter().filter(|load| is_store(load) || !depends(store, **load)).copied());
            };
            let steady = |store: Moment, load: Moment, count: u32, pace: u32| {
                (0..count).all(|i| {
                    let later = |at: Moment| Moment { position: at.position + i * pace, ..at };
                    depends(later(store), later(load))
                })
            };
            let told = |steps: Option<usize>| {
                let mut footprint = Footprint::default();
                footprint.restart(8192, pairs, steps);
                for (touch, start, end) in &accesses {
                    footprint.touch(*touch, *start, *end, pairs, Role::Aiv0, judge);
                }
                let mut access = Access::default();
                footprint.finish(pairs, Role::Aiv0, &mut access, judge, steady);
                (access.reads, access.writes, access.conflicts.iter().map(|c| format!("{c:?}")).collect::<Vec<_>>())
            };
            prop_assert_eq!(told(Some(number as usize)), told(None));
        }
    }

    /// What a loop reads in one place and writes in another, or in the same one, needs no second look.
    #[test]
    fn plain_loops_stay_plain() {
        let mut journal = Journal::default();
        let mut run = |from: usize, to: usize| {
            journal.restart(2);
            for i in 0..100 {
                for (step, kind, start) in [(0, Kind::VectorLoad, from), (1, Kind::VectorStore, to)] {
                    let touch = Touch { kind, at: Moment { step, site: step, position: 2 * i + step } };
                    let start = start + 256 * i as usize;
                    assert!(journal.note(touch, start, start + 256));
                }
            }
            (
                journal.is_plain(|store, load, count, pace| (store.step, load.step, count, pace) == (1, 0, 100, 2)),
                journal.strides.len(),
            )
        };
        assert_eq!(run(0, 32768), (true, 2));
        assert_eq!(run(256, 256), (true, 2), "in place");
        assert_eq!(run(0, 256), (false, 2), "what is stored is loaded by the next iteration");
        assert_eq!(run(256, 0), (false, 2), "what is stored was loaded by the iteration before");
    }
}
