//! Placing buffers in one memory so that those alive at the same time do not overlap.
//!
//! While everything fits side by side, buffers are placed one after the other in the given order: nothing shares bytes,
//! so nothing waits for anything else. Only where that needs too much memory do buffers share bytes over time. Several
//! placement orders are then tried: first each buffer goes to the free range that has been unused for longest, so that
//! its writer waits least; then to the lowest free range, and a buffer that did not fit is placed first in the next
//! attempt.

use std::ops::Range;

/// A closed interval of time in one scope. Positions of different scopes cannot be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Live {
    pub scope: u32,
    pub first: u32,
    pub last: u32,
    /// For a buffer used in this scope only by calling a function: that function. Two buffers of the same callee are
    /// compared in the callee's own scope.
    pub by_call: Option<u32>,
}

impl Live {
    /// True if there is a position at which both are live.
    pub fn meets(&self, other: &Live) -> bool {
        let by_one_callee = self.by_call.is_some() && self.by_call == other.by_call;
        self.scope == other.scope && !by_one_callee && self.first <= other.last && other.first <= self.last
    }
}

/// A buffer to place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment of its address in bytes; a power of two.
    pub align: u64,
    /// Its lifetimes; empty for a buffer that nothing touches.
    pub live: Vec<Live>,
    /// True for memory that belongs to its owner permanently, such as a ring.
    pub always: bool,
}

impl Request {
    /// True if the two may not share bytes.
    pub fn conflicts(&self, other: &Request) -> bool {
        self.always || other.always || self.live.iter().any(|a| other.live.iter().any(|b| a.meets(b)))
    }

    fn start(&self) -> (u32, u32) {
        self.live.iter().map(|l| (l.scope, l.first)).min().unwrap_or((0, 0))
    }

    fn end(&self) -> u64 {
        self.live.iter().map(|l| u64::from(l.last)).max().unwrap_or(0)
    }

    fn length(&self) -> u64 {
        if self.always { u64::MAX } else { self.live.iter().map(|l| u64::from(l.last - l.first) + 1).sum() }
    }
}

/// The result of the placement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Address of each buffer, in the order of the requests.
    pub addresses: Vec<u64>,
    /// True if buffers share bytes over time.
    pub shared: bool,
}

/// Why buffers do not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overflow {
    /// Bytes live at the worst point, aligned, without the blocked ranges.
    pub peak: u64,
    /// The buffers that are live then.
    pub alive: Vec<usize>,
}

/// A placement order.
type Key = fn(&Request) -> (u64, u64);

/// Places buffers in a memory of `capacity` bytes without touching the `blocked` ranges.
///
/// # Errors
/// [`Overflow`] if no attempt fits them in.
pub fn pack(requests: &[Request], capacity: u64, blocked: &[Range<u64>]) -> Result<Placed, Overflow> {
    let blocked = merged(blocked);
    if let Some(addresses) = side_by_side(requests, capacity, &blocked) {
        return Ok(Placed { addresses, shared: false });
    }
    let worst = overflow(requests);
    if worst.peak > capacity {
        return Err(worst);
    }
    let conflicts = conflict_lists(requests);
    let keys: [Key; 4] = [
        |r| (u64::from(r.start().0), u64::from(r.start().1)),
        |r| (u64::MAX - r.bytes, u64::MAX - r.length()),
        |r| (u64::MAX - r.length(), u64::MAX - r.bytes),
        |r| (u64::MAX - r.length().saturating_mul(r.bytes), 0),
    ];
    for (round, key) in keys.into_iter().enumerate() {
        let mut order: Vec<usize> = (0..requests.len()).collect();
        // Permanent buffers go to the top, where they do not fragment the rest.
        order.sort_by_key(|i| (!requests[*i].always, key(&requests[*i]), *i));
        let placing = Placing { requests, conflicts: &conflicts, capacity, blocked: &blocked };
        if round == 0
            && requests.len() <= RESTED
            && let Ok(addresses) = placing.places(&order, true)
        {
            return Ok(Placed { addresses, shared: true });
        }
        for _ in 0..(100_000 / requests.len().max(1)).clamp(2, ATTEMPTS) {
            match placing.places(&order, false) {
                Ok(addresses) => return Ok(Placed { addresses, shared: true }),
                Err(at) if at > 0 => {
                    let failed = order.remove(at);
                    order.insert(at / 2, failed);
                }
                Err(_) => break,
            }
        }
    }
    Err(worst)
}

/// Maximum number of buffers placed by longest unused range: that search examines every free range.
const RESTED: usize = 500;

/// How often a buffer that did not fit is moved forward before another order is tried.
const ATTEMPTS: usize = 64;

/// Sorted, without overlaps.
fn merged(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut ranges: Vec<_> = ranges.iter().filter(|r| r.start < r.end).cloned().collect();
    ranges.sort_by_key(|r| (r.start, r.end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The lowest aligned address from `from` on at which `bytes` bytes overlap no taken range. `taken` is sorted by start.
fn gap(from: u64, request: &Request, taken: &[Range<u64>]) -> Option<u64> {
    let mut at = from.checked_next_multiple_of(request.align)?;
    for range in taken {
        if range.end <= at {
            continue;
        }
        if range.start >= at.checked_add(request.bytes)? {
            break;
        }
        at = range.end.checked_next_multiple_of(request.align)?;
    }
    Some(at)
}

fn fits(at: u64, request: &Request, capacity: u64) -> bool {
    at.checked_add(request.bytes).is_some_and(|end| end <= capacity)
}

fn side_by_side(requests: &[Request], capacity: u64, blocked: &[Range<u64>]) -> Option<Vec<u64>> {
    let mut end = 0;
    let each = requests.iter().map(|request| {
        let at = gap(end, request, blocked).filter(|at| fits(*at, request, capacity))?;
        end = at + request.bytes;
        Some(at)
    });
    each.collect()
}

fn conflict_lists(requests: &[Request]) -> Vec<Vec<usize>> {
    let others = |i: usize| (0..requests.len()).filter(move |j| *j != i && requests[i].conflicts(&requests[*j]));
    (0..requests.len()).map(|i| others(i).collect()).collect()
}

/// State shared by all attempts.
struct Placing<'a> {
    requests: &'a [Request],
    conflicts: &'a [Vec<usize>],
    capacity: u64,
    blocked: &'a [Range<u64>],
}

impl Placing<'_> {
    /// Places each buffer in `order`: at the lowest free address or, with `rested`, in the range that has been unused
    /// for longest, so that its next writer waits least; permanent buffers at the highest.
    ///
    /// # Errors
    /// The position in `order` of the buffer that did not fit.
    fn places(&self, order: &[usize], rested: bool) -> Result<Vec<u64>, usize> {
        let mut addresses: Vec<Option<u64>> = vec![None; self.requests.len()];
        for (at, &index) in order.iter().enumerate() {
            let request = &self.requests[index];
            let range = |j: &usize| addresses[*j].map(|a| a..a + self.requests[*j].bytes);
            let placed = self.conflicts[index].iter().filter_map(range);
            let taken = merged(&placed.chain(self.blocked.iter().cloned()).collect::<Vec<_>>());
            let place = match (request.always, rested) {
                (true, _) => highest(request, &taken, self.capacity),
                (false, false) => gap(0, request, &taken),
                (false, true) => self.most_rested(request, &taken, &addresses),
            };
            addresses[index] = Some(place.filter(|a| fits(*a, request, self.capacity)).ok_or(at)?);
        }
        Ok(addresses.into_iter().map(|a| a.unwrap_or(0)).collect())
    }

    /// Among the free ranges, all of which begin at 0 or where some buffer ends, the one whose last user ended first.
    fn most_rested(&self, request: &Request, taken: &[Range<u64>], addresses: &[Option<u64>]) -> Option<u64> {
        let users = || {
            let placed = addresses.iter().zip(self.requests).filter_map(|(a, r)| Some(((*a)?, r)));
            placed.filter(|(_, r)| !r.always)
        };
        let mut starts: Vec<u64> = users().map(|(a, r)| a + r.bytes).chain([0]).collect();
        starts.extend(taken.iter().map(|t| t.end));
        starts.sort_unstable();
        starts.dedup();
        let places = starts.into_iter().filter_map(|from| gap(from, request, taken));
        let used_until = |at: u64| {
            let overlaps = |a: u64, r: &Request| a < at + request.bytes && at < a + r.bytes;
            users().filter(|(a, r)| overlaps(*a, r)).map(|(_, r)| 1 + r.end()).max().unwrap_or(0)
        };
        places.filter(|at| fits(*at, request, self.capacity)).min_by_key(|at| (used_until(*at), *at))
    }
}

fn highest(request: &Request, taken: &[Range<u64>], capacity: u64) -> Option<u64> {
    let mut end = capacity;
    for range in taken.iter().rev() {
        let at = end.checked_sub(request.bytes).map(|a| a / request.align * request.align);
        match at {
            Some(at) if at >= range.end => return Some(at),
            _ => end = end.min(range.start),
        }
    }
    end.checked_sub(request.bytes).map(|a| a / request.align * request.align)
}

/// The point of highest demand, which is always at the start of some buffer's lifetime.
fn overflow(requests: &[Request]) -> Overflow {
    let size = |i: &usize| requests[*i].bytes.next_multiple_of(requests[*i].align);
    let alive_at = |moment: &Live| -> Vec<usize> {
        let alive = |r: &Request| r.always || r.live.iter().any(|l| l.meets(moment));
        (0..requests.len()).filter(|i| alive(&requests[*i])).collect()
    };
    let moments = requests.iter().flat_map(|r| r.live.iter()).map(|l| Live { last: l.first, ..*l });
    let worst = moments.map(|m| alive_at(&m)).max_by_key(|alive| alive.iter().map(size).sum::<u64>());
    let alive = worst.unwrap_or_else(|| (0..requests.len()).filter(|i| requests[*i].always).collect());
    Overflow { peak: alive.iter().map(size).sum(), alive }
}
