//! All trip counts: once the state at a cut point recurs, everything after it has been seen.
//!
//! Let `x` and `x + q` be two numbers whose last cut points are equivalent, and let the instructions decide the same
//! for both (see [`slipring_check::shift`]). Then each launch with `y + q`, `y ≥ x`, reaches the cut point as the one
//! with `x + q` does, and continues as the one with `y` does: if the latter is clean, so is the former. Smaller numbers
//! are run one by one.

use std::collections::{BTreeMap, BTreeSet};

use slipring_check::shift::{Distances, Follow, Obstacle, Shift};
use slipring_check::{Moved, Schedules, Tools};
use slipring_program::{Inst, Kind, Miss, Operand, Severity};
use slipring_sim::At;

use super::family::{Family, Member, Number};
use super::given::Assumptions;
use super::{budget, text};
use slipring_session::Error;
use slipring_session::places::Places;

use crate::subject::given_up;
use crate::text::buffer_name;

/// The result.
#[derive(Debug)]
pub(super) enum Counts {
    /// Every value is equivalent to one that was tried: the last of those, and the period after which the state recurs.
    All {
        #[allow(missing_docs)]
        tried: u64,
        #[allow(missing_docs)]
        period: u64,
        #[allow(missing_docs)]
        family: Samples,
    },
    /// All values that the assumptions allow: the last of them.
    Each(u64, Assumptions),
    /// The values up to this one, which are all that the buffers can hold, and their assumptions.
    UpTo(u64, Assumptions),
    /// The smallest value with a finding.
    Fails(u64, Box<Member>),
    /// Undecided, and why.
    Open(String),
}

/// The values that were tried, and the shift of the accesses per period.
#[derive(Debug)]
pub(super) struct Samples {
    /// `None` for a value excluded by the assumptions.
    members: Vec<Option<Member>>,
    distances: BTreeMap<(u64, u64), Distances>,
}

impl Samples {
    /// The member that is equivalent to the one with this value, up to some periods.
    pub fn of(&self, number: u64, period: u64) -> Option<&Member> {
        self.members.get(self.place(number, period)?)?.as_ref()
    }

    fn place(&self, number: u64, period: u64) -> Option<usize> {
        let last = self.members.len().checked_sub(1)? as u64;
        let back = number.checked_sub(last).map_or(0, |more| (period - more % period) % period);
        Some(number.min(last - back) as usize)
    }

    /// True if the member with this value touches nothing beyond the end of a buffer.
    pub fn stays_inside(&self, number: u64, period: u64, sizes: &[u64]) -> bool {
        let Some(place) = self.place(number, period) else { return false };
        let (Some(member), place) = (&self.members[place], place as u64) else { return false };
        let moves = self.distances.get(&(place.saturating_sub(period), place));
        sizes.iter().enumerate().all(|(buffer, size)| {
            let far = moves.and_then(|moves| moves.get(&buffer)?.last().copied()).unwrap_or(0).max(0) as u64;
            let more = far.saturating_mul((number - place) / period);
            member.rounds.end(buffer).saturating_add(more) <= *size
        })
    }

    /// The combined assumptions about the machine.
    pub fn given(&self) -> Assumptions {
        given(&self.members)
    }

    /// True if every member leaves no signals.
    pub fn leaves_nothing(&self) -> bool {
        self.members.iter().flatten().all(|member| member.left.iter().all(|count| *count == 0))
    }
}

/// Maximum number of values that are tried.
pub(super) const MOST: u64 = 256;
/// Maximum number of work items in all of them, and of compared pairs: some seconds of host time.
const WORKS: u64 = 40_000;
const PAIRS: usize = 2500;
/// Maximum number of values, and of work items in all of them, if the buffers limit the values.
const ALL_NUMBERS: u64 = 4096;
const ALL_WORKS: u64 = 400_000;
/// Bytes after each buffer when values are tried for which the buffers were not made.
pub(super) const SLACK: usize = 1 << 20;

/// Tries values until every other one is equivalent to one of them.
///
/// # Errors
/// If that is cancelled.
pub(super) fn all(family: &mut Family<'_>, tools: &Tools) -> Result<Counts, Error> {
    let mut members: Vec<Option<Member>> = Vec::new();
    let mut likes: BTreeMap<(u64, u64), Result<Distances, FirstObstacle>> = BTreeMap::new();
    let mut works = 0;
    let mut why = FirstObstacle(0, String::new());
    for value in 0..=MOST {
        if let Err(why) = family.subject.budget.check() {
            return Ok(Counts::Open(format!("{}{why}", clean_before(value))));
        }
        if !family.allows(value) {
            members.push(None);
        } else {
            let member = family.run(value, SLACK, tools)?;
            if let Some(stop) = stops(family, &member, value) {
                return match stop {
                    Stop::Bounds => Ok(Counts::UpTo(value.saturating_sub(1), given(&members))),
                    Stop::Fails => Ok(Counts::Fails(value, Box::new(member))),
                    Stop::Open(why) => Ok(Counts::Open(why)),
                };
            }
            works += member.rounds.works;
            members.push(Some(member));
        }
        if family.ends(value) {
            return Ok(each(&members));
        }
        for period in (1..=value.div_ceil(2)).filter(|period| family.goes_back(value, *period)) {
            let pairs = (0..period).filter_map(|back| Some((value.checked_sub(period + back)?, value - back)));
            let mut count = 0;
            let alike = pairs.into_iter().all(|(first, second)| {
                count += 1;
                // None of those that are larger by a multiple of the period is allowed.
                if members.get(second as usize).is_some_and(Option::is_none) {
                    return true;
                }
                let like = likes
                    .entry((first, second))
                    .or_insert_with(|| like(family, &members, first as usize, second as usize));
                if let Err(reason) = like
                    && reason.0 >= why.0
                {
                    why.clone_from(reason);
                }
                like.is_ok()
            });
            if alike && count == period {
                let distances = likes.into_iter().filter_map(|(pair, like)| Some((pair, like.ok()?))).collect();
                return Ok(Counts::All { tried: value, period, family: Samples { members, distances } });
            }
        }
        if works > WORKS || likes.len() > PAIRS {
            break;
        }
    }
    let tried = members.len().saturating_sub(1);
    if members.iter().flatten().next().is_none() {
        return Ok(Counts::Open(format!("the assumptions allow none of 0 to {tried}")));
    }
    let all = members.iter().all(Option::is_some);
    let clean = if all {
        format!("0 to {tried} are clean")
    } else {
        format!("those of 0 to {tried} that the assumptions allow are clean")
    };
    let why = if why.1.is_empty() { "the assumptions allow too few to compare".into() } else { why.1 };
    Ok(Counts::Open(format!("{clean}, but nothing was shown for larger ones: {why}")))
}

/// Tries values with the buffers as passed, until they are too small.
///
/// # Errors
/// If that is cancelled.
pub(super) fn as_many_as_fit(family: &mut Family<'_>, tools: &Tools, most: u64) -> Result<Counts, Error> {
    let (mut works, mut last) = (0, 0);
    let (mut limits, mut further) = ((most.min(MOST), WORKS), most > MOST);
    let mut members: Vec<Option<Member>> = Vec::new();
    for value in 0.. {
        if value > limits.0 || works > limits.1 {
            let Some(all) = where_buffers_end(family, &members).filter(|_| further) else { break };
            (limits, further) = ((all.min(most), ALL_WORKS), false);
        }
        if let Err(why) = family.subject.budget.check() {
            return Ok(Counts::Open(format!("{}{why}", clean_before(value))));
        }
        if family.allows(value) {
            let member = family.run(value, 0, tools)?;
            match stops(family, &member, value) {
                None => {}
                Some(Stop::Bounds) => return Ok(Counts::UpTo(value.saturating_sub(1), given(&members))),
                Some(Stop::Fails) => return Ok(Counts::Fails(value, Box::new(member))),
                Some(Stop::Open(why)) => return Ok(Counts::Open(why)),
            }
            (works, last) = (works + member.rounds.works, value);
            members.push(Some(member));
        } else {
            members.push(None);
        }
        if family.ends(value) {
            return Ok(each(&members));
        }
    }
    Ok(Counts::Open(format!("0 to {last} are clean")))
}

/// Slightly more than the largest value that the buffers can hold, assuming that accesses continue in the same way, if
/// launches with all values up to it are not too much work.
fn where_buffers_end(family: &Family<'_>, members: &[Option<Member>]) -> Option<u64> {
    let (second, first) = (members.len().checked_sub(1)?, members.len() / 2);
    let (one, two) = (members.get(first)?.as_ref()?, members.get(second)?.as_ref()?);
    let apart = u64::try_from(second - first).ok().filter(|apart| *apart > 0)?;
    let sizes = Places::new(family.subject.bound).sizes;
    let more = sizes.iter().enumerate().filter_map(|(buffer, size)| {
        let (a, b) = (one.rounds.end(buffer), two.rounds.end(buffer));
        let left = (*size as u64).saturating_sub(b);
        b.checked_sub(a).filter(|by| *by > 0).map(|by| left.saturating_mul(apart) / by + 2)
    });
    let all = (second as u64).saturating_add(more.min()?);
    // The work of a launch grows with its value at most as before.
    let of_last = two.rounds.works.saturating_mul(all) / (second as u64).max(1);
    (all <= ALL_NUMBERS && of_last.saturating_mul(all) / 2 <= ALL_WORKS).then_some(all)
}

/// Tries one value with the buffers as passed: returns the assumptions if it is clean.
///
/// # Errors
/// If that is cancelled.
pub(super) fn one(family: &mut Family<'_>, value: u64, tools: &Tools) -> Result<Result<Assumptions, Counts>, Error> {
    let member = family.run(value, 0, tools)?;
    Ok(match stops(family, &member, value) {
        None => Ok(member.given()),
        Some(Stop::Open(why)) => Err(Counts::Open(why)),
        Some(Stop::Bounds | Stop::Fails) => Err(Counts::Fails(value, Box::new(member))),
    })
}

/// The assumptions about the machine for some members.
fn given(members: &[Option<Member>]) -> Assumptions {
    members.iter().flatten().map(Member::given).collect()
}

/// All values that the assumptions allow were tried.
fn each(members: &[Option<Member>]) -> Counts {
    match members.iter().rposition(Option::is_some) {
        Some(last) => Counts::Each(last as u64, given(members)),
        None => Counts::Open("the assumptions allow no non-negative number".into()),
    }
}

/// Why nothing is tried after a value.
enum Stop {
    Bounds,
    Fails,
    Open(String),
}

/// The start of a reason: some values are clean before one.
fn clean_before(value: u64) -> String {
    match value {
        0 => String::new(),
        1 => "0 is clean; ".into(),
        value => format!("0 to {} are clean; ", value - 1),
    }
}

fn stops(family: &Family<'_>, member: &Member, value: u64) -> Option<Stop> {
    let errors: Vec<_> = member.judged.findings.iter().filter(|f| f.severity == Severity::Error).collect();
    if let Some(first) = errors.first() {
        return Some(match first.kind {
            Kind::OutOfBounds(Miss::BeyondBuffer(_) | Miss::OutsideTensor(_) | Miss::OutsideTile) if value > 0 => {
                Stop::Bounds
            }
            _ if budget::is_limit(first) => {
                let gave_up = given_up(family.subject, first);
                Stop::Open(format!("{}with {}, {gave_up}", clean_before(value), family.says(value)))
            }
            Kind::MemoryLimit | Kind::Unsupported => Stop::Open(format!("{value}: {}", first.message)),
            _ => Stop::Fails,
        });
    }
    if let Some(doubt) = member.judged.doubt() {
        return Some(Stop::Open(format!("with {value}, {}", text::decided(doubt, |_| None))));
    }
    match &member.judged.scope.schedules {
        Schedules::All => None,
        Schedules::ThisOne { reasons } => Some(Stop::Open(format!("with {value}, {}", reasons.join("; ")))),
    }
}

/// The first obstacle to equivalence of two members, ranked by proof progress: the one that comes furthest is reported.
#[derive(Clone, Debug)]
struct FirstObstacle(u8, String);

/// Whether the last cut points of two members are equivalent, so that every larger member is equivalent to one that is
/// smaller by their distance.
fn like(
    family: &Family<'_>,
    members: &[Option<Member>],
    first: usize,
    second: usize,
) -> Result<Distances, FirstObstacle> {
    let member = |at: usize| members.get(at).and_then(Option::as_ref);
    let (Some(one), Some(two)) = (member(first), member(second)) else { return Err(FirstObstacle(0, String::new())) };
    let (Some(a), Some(b)) = (&one.rounds.last, &two.rounds.last) else {
        return Err(FirstObstacle(1, "the cores do not synchronise at the head of a loop".into()));
    };
    let (last, other) = (one.rounds.stands.len() - 1, two.rounds.stands.len() - 1);
    let most = slipring_check::Rounds::MOST;
    if last + 1 == most || other + 1 == most {
        return Err(FirstObstacle(1, "there are too many rounds".into()));
    }
    let by = (second - first) as i64;
    let program = &family.decoded.program;
    let param = |least: usize| match family.number {
        Number::Param(at) => Some((at, by, least as i64)),
        Number::Bound(_) => None,
    };
    if !two.rounds.stands[..other].iter().all(|stands| goes_in(family, second as i64, stands)) {
        return Err(FirstObstacle(
            2,
            "a core leaves such a loop before the last iteration: a second loop depends on it, or cores iterate at different rates".into(),
        ));
    }
    let mut args = one.rounds.args.clone();
    for (place, used) in &two.rounds.args {
        let known = args.entry(*place).or_default();
        known.buffers.extend(used.buffers.iter().copied());
        known.other |= used.other;
    }
    let written = |buffer: usize| one.rounds.writes(buffer) || two.rounds.writes(buffer);
    let read = |buffer: usize| one.rounds.reads(buffer) || two.rounds.reads(buffer);
    let says = |far: u8| move |obstacle: Obstacle| FirstObstacle(far, obstacle_text(family, obstacle));
    // Up to the cut point.
    let none_wide = BTreeSet::new();
    let mut before = Vec::new();
    let mut distances = Distances::new();
    for core in &program.cores {
        let follow =
            Follow { core, param: param(second), bound: by, into: true, free: false, args: &args, wide: &none_wide };
        let none = vec![(Shift::By(0), Some(0)); core.regs as usize];
        before.push(follow.from(0, &none, &mut distances).map_err(says(3))?);
    }
    no_way_back(family, &distances)?;
    if let Some((buffer, _)) = distances.iter().find(|(buffer, by)| written(**buffer) && by.iter().any(|by| *by != 0)) {
        let buffer = buffer_name(&family.decoded.program, *buffer);
        return Err(FirstObstacle(3, format!("it also decides where in {buffer} the first iterations are")));
    }
    // From the cut point on.
    let mut distances = Distances::new();
    for (stand, other) in a.cores.iter().zip(&b.cores) {
        if (stand.position, stand.pc, stand.at) != (other.position, other.pc, other.at) {
            return Err(FirstObstacle(2, "the cores do not return to the same state".into()));
        }
        let start = match stand.at {
            At::Meet => stand.pc,
            At::Wait(_) => stand.pc + 1,
            At::End => continue,
            At::Pipe => return Err(FirstObstacle(2, "a core waits for its pipes where the others synchronise".into())),
        };
        let core = &program.cores[stand.position];
        let flow = program.flow(core);
        let known = before[stand.position].get(&stand.pc);
        let regs: Vec<(Shift, Option<i64>)> = (0..core.regs as usize)
            .map(|at| {
                let (one, two) = (stand.regs[at] as i64, other.regs[at] as i64);
                let shift = match known.and_then(|known| known.get(at)) {
                    _ if flow.regs[at].data => Shift::Data,
                    Some(Shift::By(_)) => Shift::By(two.wrapping_sub(one)),
                    _ => Shift::Unknown,
                };
                // For larger values it does not decrease, unless it decreases with them.
                let sinks = !matches!(known.and_then(|known| known.get(at)), Some(Shift::By(0..)));
                (shift, (!sinks).then_some(one.min(two)))
            })
            .collect();
        let follow =
            Follow { core, param: param(first), bound: by, into: false, free: false, args: &args, wide: &none_wide };
        follow.from(start, &regs, &mut distances).map_err(says(4))?;
    }
    no_way_back(family, &distances)?;
    let buffers = one.buffers;
    let mut moved = Vec::new();
    for buffer in 0..buffers {
        let apart = distances.get(&buffer).cloned().unwrap_or_default();
        moved.push(match (written(buffer), apart.first().copied(), apart.len()) {
            (false, ..) => Moved::ReadOnly,
            (true, None | Some(0), 0 | 1) => Moved::Stays,
            (true, Some(by), 1) if by > 0 => {
                // All bytes touched by later iterations are after the first byte of these.
                let later = one.rounds.first(last + 1..usize::MAX, buffer);
                let between = two.rounds.first(last + 1..other + 1, buffer);
                let from = later.into_iter().chain(between).min().unwrap_or(u64::MAX / 2);
                Moved::On { by: by as u64, from: [from, from.saturating_add(by as u64)] }
            }
            _ => {
                let buffer = buffer_name(&family.decoded.program, buffer);
                return Err(FirstObstacle(5, format!("accesses to {buffer} do not all move on by the same distance")));
            }
        });
    }
    match a.is_like(b, &moved, &read) {
        true => Ok(distances),
        false => Err(FirstObstacle(6, "the synchronisation or accesses at the loop head do not recur".into())),
    }
}

/// Checks that no access moves backwards: it would leave its buffer, however large that is.
fn no_way_back(family: &Family<'_>, distances: &Distances) -> Result<(), FirstObstacle> {
    match distances.iter().find(|(_, by)| by.first().is_some_and(|by| *by < 0)) {
        Some((buffer, _)) => {
            Err(FirstObstacle(5, format!("accesses to {} move back", buffer_name(&family.decoded.program, *buffer))))
        }
        None => Ok(()),
    }
}

/// True if every core at a cut point enters its loop.
fn goes_in(family: &Family<'_>, number: i64, stands: &[slipring_check::CoreSnapshot]) -> bool {
    stands.iter().filter(|stand| stand.at == At::Meet).all(|stand| {
        let value = |operand: Operand| match operand {
            Operand::Imm(value) => value as i64,
            Operand::Reg(reg) => stand.regs[reg.0 as usize] as i64,
        };
        match &family.decoded.program.cores[stand.position].insts[stand.pc] {
            // The bound in the text is the current value.
            Inst::Meet { a, b: Operand::Imm(_), .. } => value(*a) < number,
            Inst::Meet { a, b, .. } => value(*a) < value(*b),
            _ => false,
        }
    })
}

fn obstacle_text(family: &Family<'_>, obstacle: Obstacle) -> String {
    let (site, what) = match obstacle {
        Obstacle::Control(site) => (site, "how it goes on"),
        Obstacle::Signal(site) => (site, "which signal it means"),
        Obstacle::Access(site) => (site, "what it touches"),
        Obstacle::Divisor(site) => (site, "what it divides by"),
    };
    let op = family.decoded.program.sites.get(site as usize).map_or("?", |site| &*site.op);
    let at = family.subject.line(site).map_or(String::new(), |line| format!(" (line {line})"));
    format!("`{op}`{at}: the trip count decides {what}")
}
