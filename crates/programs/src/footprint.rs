//! The bytes of global memory that a task touches, and its use of signals.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use slipring_program::{Change as Atomic, Extent, Program, SignalUse, SiteRef, gm_split};
use slipring_sim::{Agent, Issued, Observer, WorkRun};
use slipring_tasks::signals::{Change, Wanted};
use slipring_tasks::{Bytes, Resumed, Touched};
use slipring_tile::Space;

/// Collected ranges, sorted from time to time.
#[derive(Default)]
struct Gathered {
    done: Bytes,
    raw: Vec<(u64, u64)>,
}

impl Gathered {
    fn add(&mut self, first: u64, end: u64) {
        const MOST: usize = 1 << 14;
        match self.raw.last_mut() {
            Some(last) if last.0 <= first && first <= last.1 => last.1 = last.1.max(end),
            _ => self.raw.push((first, end)),
        }
        if self.raw.len() >= MOST {
            self.settle();
        }
    }

    fn settle(&mut self) -> &Bytes {
        if !self.raw.is_empty() {
            self.done = self.done.and(&Bytes::of(std::mem::take(&mut self.raw)));
        }
        &self.done
    }
}

#[derive(Default)]
pub(super) struct Marks {
    reads: Gathered,
    writes: Gathered,
    atomics: BTreeMap<(u8, u8), Gathered>,
}

impl Marks {
    fn touched(mut self) -> Touched {
        Touched {
            reads: self.reads.settle().clone(),
            writes: self.writes.settle().clone(),
            atomics: self.atomics.iter_mut().map(|(kind, bytes)| (*kind, bytes.settle().clone())).collect(),
        }
    }

    fn note(&mut self, run: &WorkRun<'_>, list: impl Iterator<Item = (u64, u64)>, writes: bool) {
        if !writes {
            let mut written = std::mem::take(&mut self.writes);
            let own = written.settle();
            for (first, end) in list {
                // Its own writes are its own data.
                if own.is_empty() {
                    self.reads.add(first, end);
                    continue;
                }
                for (first, end) in Bytes::range(first, end).without(own).ranges() {
                    self.reads.add(*first, *end);
                }
            }
            self.writes = written;
            return;
        }
        let into = match run.access.change_of(true, 0) {
            Some(Atomic::Update(update)) => self.atomics.entry((update.kind as u8, update.elem as u8)).or_default(),
            _ => &mut self.writes,
        };
        list.for_each(|(first, end)| into.add(first, end));
    }
}

/// A task's step with a signal: the buffer and byte of the signal, the operation, its source location, and its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signalled {
    pub place: (usize, u64),
    pub what: SignalUse,
    pub site: SiteRef,
    pub at: u64,
    /// For a completed wait: the cycles waited.
    pub waited: u64,
    /// Its duration.
    pub cycles: u64,
    /// For a wait that had to wait: what ended it.
    pub by: Option<Resumed>,
}

/// A task's operations on signals.
#[derive(Default, Debug)]
pub(super) struct Trail {
    /// Changes, and completed waits.
    pub events: Vec<Signalled>,
    /// The unsatisfied condition that each core polls.
    pub looks: BTreeMap<(u32, usize), Signalled>,
}

/// The accesses of a task between its steps with signals.
#[derive(Default)]
struct Parts {
    trail: Rc<RefCell<Trail>>,
    /// Bytes by part and buffer.
    buffers: BTreeMap<(usize, usize), Marks>,
    part: usize,
    /// For each pipe, the parts in which its queued work was issued.
    issued: BTreeMap<(u32, usize, usize), VecDeque<usize>>,
}

fn key(agent: Agent) -> (u32, usize, usize) {
    (agent.cluster, agent.role.index(), agent.pipe.index())
}

/// Records the bytes of global memory that a task touches.
#[derive(Default)]
pub(super) struct Footprint {
    buffers: BTreeMap<usize, Marks>,
    parts: Option<Parts>,
}

impl Footprint {
    /// For a program; including its operations on signals, if it has any.
    pub fn new(program: &Program) -> (Footprint, Option<Rc<RefCell<Trail>>>) {
        let signals = program.cores.iter().flat_map(|core| &core.works).any(|work| work.effect.is_signal());
        if !signals {
            return (Footprint::default(), None);
        }
        let parts = Parts::default();
        let trail = parts.trail.clone();
        (Footprint { parts: Some(parts), ..Footprint::default() }, Some(trail))
    }

    /// The accesses, by buffer: in total, and by part if there are several.
    pub fn finish(self) -> (BTreeMap<usize, Touched>, Vec<BTreeMap<usize, Touched>>) {
        let all = self.buffers.into_iter().map(|(buffer, marks)| (buffer, marks.touched())).collect();
        let mut list = Vec::new();
        if let Some(parts) = self.parts {
            list.resize(parts.part + 1, BTreeMap::new());
            for ((part, buffer), marks) in parts.buffers {
                list[part].insert(buffer, marks.touched());
            }
        }
        (all, list)
    }
}

/// The runs of bytes of a range in a buffer.
fn runs(range: &Extent) -> Option<(usize, impl Iterator<Item = (u64, u64)>)> {
    let (buffer, offset) = gm_split(range.start).filter(|_| range.space == Space::Gm)?;
    let (first, rows, bytes, stride) =
        (offset.max(0) as u64, u64::from(range.rows), u64::from(range.row_bytes), range.stride);
    Some((buffer, (0..rows).map(move |row| (first + row * stride, first + row * stride + bytes))))
}

impl Parts {
    /// A step with a signal ends a part.
    fn step(&mut self, step: Signalled) {
        self.trail.borrow_mut().events.push(step);
        self.part += 1;
    }

    /// Records an access to a signal.
    fn signal(&mut self, at: u64, run: &WorkRun<'_>, what: SignalUse) {
        let place = run.access.writes.first().or(run.access.reads.first());
        let Some(place) = place.and_then(|range| gm_split(range.start)) else { return };
        let step = Signalled {
            place: (place.0, place.1.max(0) as u64),
            what,
            site: run.site,
            at,
            waited: 0,
            cycles: run.cycles,
            by: None,
        };
        match what {
            SignalUse::Await { .. } => {
                // A repeated poll has waited since the first one.
                self.trail.borrow_mut().looks.entry((run.agent.cluster, run.agent.role.index())).or_insert(step);
            }
            SignalUse::Add(_) | SignalUse::Set(_) => self.step(step),
        }
    }
}

impl Observer for Footprint {
    fn issue(&mut self, _: u64, to: Agent, step: Issued, _: SiteRef) {
        if let (Some(parts), Issued::Work(_)) = (&mut self.parts, step) {
            parts.issued.entry(key(to)).or_default().push_back(parts.part);
        }
    }

    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        let mut part = None;
        if let Some(parts) = &mut self.parts {
            let own = parts.issued.entry(key(run.agent)).or_default().pop_front().unwrap_or(parts.part);
            if let Some(what) = run.access.signal {
                // To plain accesses, a change is one of the part that it ends.
                if run.access.changes_signal() {
                    for (buffer, list) in run.access.writes.iter().filter_map(runs) {
                        parts.buffers.entry((own, buffer)).or_default().note(run, list, true);
                    }
                }
                return parts.signal(at, run, what);
            }
            part = Some((own, &mut parts.buffers));
        }
        let update = run.access.update;
        for (ranges, writes) in [(&run.access.reads, false), (&run.access.writes, true)] {
            for range in ranges {
                // An update reads the data it changes.
                if !writes && update.is_some() && run.access.writes.contains(range) {
                    continue;
                }
                let Some((buffer, list)) = runs(range) else { continue };
                self.buffers.entry(buffer).or_default().note(run, list, writes);
                if let (Some((part, buffers)), Some((buffer, list))) = (&mut part, runs(range)) {
                    buffers.entry((*part, buffer)).or_default().note(run, list, writes);
                }
            }
        }
    }

    fn awaited(&mut self, at: u64, agent: Agent, _: SiteRef) {
        let Some(parts) = &mut self.parts else { return };
        let look = parts.trail.borrow_mut().looks.remove(&(agent.cluster, agent.role.index()));
        if let Some(look) = look {
            parts.step(Signalled { at, waited: at.saturating_sub(look.at), ..look });
        }
    }
}

/// A task's change of a signal, or its wait condition.
pub(crate) fn step(what: SignalUse) -> Result<Change, Wanted> {
    match what {
        SignalUse::Add(n) => Ok(Change::Add(n.into())),
        SignalUse::Set(n) => Ok(Change::Set(n.into())),
        SignalUse::Await { expected, at_least } => Err(Wanted { number: expected.into(), at_least }),
    }
}
