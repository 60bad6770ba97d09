//! A session: a position in a run, and the operations that move it.

use std::collections::BTreeSet;
use std::fmt::Write;

use slipring_program::{SyncRole, Unit, Waiting};
use slipring_sim::{Agent, Delay, Late};

use super::condition::Condition;
use super::history::{History, is_of};
use super::kept::Snapshots;
use super::lives::{STAGES, is_ring, ring_name, ring_said};
use slipring_ir::{Diagnostic, Kind, Severity, Source};
use slipring_session::{Error, Execution, Run, RunOptions};

/// Lines of the source shown on each side of the current one.
const AROUND: usize = 3;

/// A run and a position in it.
pub struct Session {
    asked: RunOptions,
    history: History,
    findings: Vec<Diagnostic>,
    /// Number of events that have begun, and the cycle.
    begun: usize,
    cycle: u64,
    /// Snapshots of the run.
    kept: Snapshots,
    /// The run stopped at the end of this cycle.
    moment: Option<(u64, Execution)>,
}

impl Session {
    /// Begins a session before the first event of a run that recorded its events, and that was run with these options.
    pub fn start(run: Run<'static>, asked: RunOptions) -> Session {
        let findings = run.findings().messages().to_vec();
        let history = History::new(run);
        let kept = Snapshots::of(&history, &asked);
        Session { asked, history, findings, begun: 0, cycle: 0, kept, moment: None }
    }

    /// Adds the options that a run needs for a session.
    pub fn options(options: RunOptions) -> RunOptions {
        let mut options = options.record(true);
        (options.events, options.trace) = (0, false);
        options
    }

    /// The events of the run.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The options of the run.
    pub fn asked(&self) -> &RunOptions {
        &self.asked
    }

    /// Number of events that have begun, and the cycle.
    pub fn place_in_time(&self) -> (usize, u64) {
        (self.begun, self.cycle)
    }

    /// The findings of the run.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// The text.
    pub fn source(&self) -> &Source {
        &self.history.run().compiled.prepared.written.source
    }

    /// A title for the session.
    pub fn title(&self) -> String {
        let (events, end) = (self.history.count(), self.history.end());
        let mut text = format!("{events} events, {end} cycles");
        for (at, found) in self.findings.iter().enumerate() {
            let _ = write!(text, "\nfinding {}: {}[{}]: {}", at + 1, found.severity.name(), found.code, found.message);
        }
        text + "\n"
    }

    /// The event that began last.
    pub fn event_now(&self) -> Option<usize> {
        self.begun.checked_sub(1)
    }

    /// Goes to the state in which `begun` events have begun.
    pub fn go(&mut self, begun: usize) -> String {
        self.begun = begun.min(self.history.count());
        let Some(event) = self.event_now() else {
            self.cycle = 0;
            return "before the first event\n".into();
        };
        self.cycle = self.history.slice(event).start;
        self.event(event)
    }

    /// Goes to a cycle.
    pub fn at(&mut self, cycle: u64) -> String {
        let told = self.go(self.history.begun(cycle));
        self.cycle = cycle.min(self.history.end());
        format!("cycle {}; {told}", self.cycle)
    }

    /// A line that describes an event.
    pub fn event(&self, event: usize) -> String {
        let slice = self.history.slice(event);
        let place = self.history.row(event).zip(self.history.line(event));
        let text = place.map_or(String::new(), |(row, line)| format!("  line {line}: {}", self.text(row)));
        let (count, who) = (self.history.count(), self.history.who(event));
        format!("[{}/{count}] {} to {}  {who}  {}{text}\n", event + 1, slice.start, slice.end, slice.name)
    }

    /// A line of the text.
    fn text(&self, row: usize) -> &str {
        self.source().text.lines().nth(row.saturating_sub(1)).unwrap_or_default().trim()
    }

    /// Goes to the next or the previous event that matches.
    pub fn find(&mut self, on: bool, fits: impl Fn(&History, usize) -> bool) -> Result<String, String> {
        let fits = |event: &usize| fits(&self.history, *event);
        let found = match on {
            true => (self.begun..self.history.count()).find(fits),
            false => (0..self.begun.saturating_sub(1)).rev().find(fits),
        };
        let way = if on { "after" } else { "in front of" };
        found.map(|event| self.go(event + 1)).ok_or_else(|| format!("there is none {way} this event\n"))
    }

    /// Steps along the core or pipe of the current event to another line of the source.
    pub fn step(&mut self, on: bool) -> Result<String, String> {
        let now = self.event_now().map(|event| (self.history.row_of(event), self.history.row(event)));
        self.find(on, |history, event| {
            let line = history.row(event);
            line.is_some() && now.is_none_or(|(row, own)| history.row_of(event) == row && line != own)
        })
    }

    /// Goes to where a condition becomes true.
    pub fn until(&mut self, on: bool, text: &str) -> Result<String, String> {
        let condition: Condition = text.parse()?;
        let events = self.events_of(&condition)?;
        if let Some(event) = self.next_of(on, &events) {
            let mut told = self.go(event + 1);
            if condition.at_end() {
                self.cycle = self.history.slice(event).end;
                told = format!("cycle {}, once this is over; {told}", self.cycle);
            }
            return Ok(told);
        }
        if let Condition::Waits { who, what } = &condition
            && on
            && self.forever().any(|wait| is_of(&unit_name(wait.unit), who) && wait.what.contains(what.as_str()))
        {
            return Ok(format!("forever, at the end\n{}", self.place_at_end()));
        }
        let way = if on { "after" } else { "in front of" };
        Err(match events.len() {
            0 => "this never happens in this run\n".into(),
            1 => format!("that does not happen {way} this event, and once in all\n"),
            count => format!("that does not happen {way} this event, and {count} times in all\n"),
        })
    }

    /// The events at which a condition becomes true.
    ///
    /// # Errors
    ///
    /// A name that does not exist.
    pub fn events_of(&self, condition: &Condition) -> Result<BTreeSet<usize>, String> {
        condition.events(&self.history, &self.asked, &self.kept)
    }

    /// The nearest of these events after the current position, or before it.
    pub fn next_of(&self, on: bool, events: &BTreeSet<usize>) -> Option<usize> {
        match on {
            true => events.range(self.begun..).next().copied(),
            false => events.range(..self.begun.saturating_sub(1)).next_back().copied(),
        }
    }

    /// Follows a tile to its next stage in the ring, any other signal to its receiver, or an op instance to its signal;
    /// or backwards.
    pub fn follow(&mut self, on: bool) -> Result<String, String> {
        let Some(now) = self.event_now() else { return Err("before the first event\n".into()) };
        let life = self.history.lives().iter().find_map(|life| {
            let stage = life.stages.iter().position(|event| *event == Some(now))?;
            let next = if on { stage + 1 } else { stage.checked_sub(1)? };
            let slot = life.stages.get(next)?.ok_or(());
            Some((*life, next, slot))
        });
        if let Some((life, stage, event)) = life {
            let what = format!("tile {} of {}", life.tile + 1, self.ring_of(life.ring));
            return match event {
                Ok(event) => Ok(format!("{what} is {}: {}", STAGES[stage], self.go(event + 1))),
                Err(()) => Err(format!("{what} is never {}\n", STAGES[stage])),
            };
        }
        let next = match on {
            true => self.history.taker(now).or_else(|| self.history.signal_of(now)),
            false => self.history.sender(now),
        };
        let none = if on { "nothing takes a signal of this event\n" } else { "this event takes no signal\n" };
        next.map(|event| self.go(event + 1)).ok_or_else(|| none.into())
    }

    fn ring_of(&self, ring: u32) -> String {
        let rings = &self.history.run().compiled.prepared.decoded.program.rings;
        rings.get(ring as usize).map_or_else(|| "a ring".into(), |decl| format!("ring {}", ring_name(decl)))
    }

    /// Shows the life of a tile in a ring, and goes to its push.
    pub fn tile(&mut self, said: &str) -> Result<String, String> {
        let words: Vec<&str> = said.split_whitespace().filter(|word| !["of", "ring"].contains(word)).collect();
        let wanted = || "`tile K of R` needs the number of a tile, from 1, and a ring\n".to_string();
        let [number, ring] = words[..] else { return Err(wanted()) };
        let number: usize = number.parse().map_err(|_| wanted())?;
        let rings = &self.history.run().compiled.prepared.decoded.program.rings;
        let meant = |at: u32| rings.get(at as usize).is_some_and(|decl| is_ring(decl, ring));
        let own = self.history.lives().iter().filter(|life| meant(life.ring));
        let count = own.clone().map(|life| life.tile + 1).max().unwrap_or(0);
        let lives: Vec<_> = own.filter(|life| life.tile + 1 == number).copied().collect();
        if lives.is_empty() {
            let name = ring_name(ring_said(rings, ring)?);
            return Err(match count {
                0 => format!("no tile goes through ring {name} in this run\n"),
                _ => format!("ring {name} has tiles 1 to {count}, and no tile {number}\n"),
            });
        }
        let mut text = String::new();
        for life in &lives {
            let _ = writeln!(text, "tile {number} of {} (slot {})", self.ring_of(life.ring), life.slot);
            for (stage, event) in STAGES.iter().zip(life.stages) {
                let event = event.map_or("never\n".into(), |event| self.event(event));
                let _ = write!(text, "  {stage:10}  {event}");
            }
        }
        let pushed = lives.iter().find_map(|life| life.stages[super::lives::PUSHED]);
        text += &pushed.map_or(String::new(), |event| self.go(event + 1));
        Ok(text)
    }

    /// The event of a finding: the last one of its line, if possible by the unit whose access it is.
    pub fn finding_event(&self, found: &Diagnostic) -> Option<usize> {
        let units: &[Unit] = match &found.kind {
            Kind::Race(parties) => &parties.map(|party| party.unit),
            // A wait that never ends has no event.
            Kind::Deadlock(_) => return None,
            _ => &[],
        };
        self.last_of(self.line_of(found.primary.as_ref()?.span), units)
    }

    fn line_of(&self, span: slipring_ir::Span) -> usize {
        self.source().line_column(span.start).0
    }

    /// The last event of a line, by one of these units if there is one.
    fn last_of(&self, line: usize, units: &[Unit]) -> Option<usize> {
        let of = |event: &usize| self.history.row(*event) == Some(line);
        let by = |event: &usize| of(event) && units.contains(&self.history.happening(*event).agent.unit());
        let mut all = (0..self.history.count()).rev();
        all.clone().find(by).or_else(|| all.find(of))
    }

    /// Goes to the moment of a finding, and lists the last events of its other locations.
    pub fn finding(&mut self, at: usize) -> Result<String, String> {
        let Some(found) = at.checked_sub(1).and_then(|at| self.findings.get(at)).cloned() else {
            return Err(match self.findings.len() {
                0 => "nothing was found\n".into(),
                count => format!("findings go from 1 to {count}\n"),
            });
        };
        let mut text = found.render(self.source(), false) + "\n";
        let own = self.finding_event(&found);
        let others: Vec<Unit> = match &found.kind {
            Kind::Race(parties) => {
                let unit = own.map(|event| self.history.happening(event).agent.unit());
                let other = parties.iter().map(|party| party.unit).find(|party| Some(*party) != unit);
                other.into_iter().collect()
            }
            _ => Vec::new(),
        };
        for label in &found.secondary {
            if let Some(event) = self.last_of(self.line_of(label.span), &others) {
                let _ = write!(text, "{}; last event of its line: {}", label.text, self.event(event));
            }
        }
        text += &match own {
            Some(event) => self.go(event + 1),
            None => format!("it never happens; at the end\n{}", self.place_at_end()),
        };
        Ok(text)
    }

    /// Waits that never end.
    fn forever(&self) -> impl Iterator<Item = &Waiting> {
        self.findings.iter().flat_map(|found| match &found.kind {
            Kind::Deadlock(waits) => waits.as_slice(),
            _ => &[],
        })
    }

    /// The cluster of the current event.
    pub fn cluster(&self) -> u32 {
        self.event_now().map_or(0, |event| self.history.happening(event).agent.cluster)
    }

    /// The waits that never end, if the session is at the end of the run: who waits, for what, and why the wait never
    /// ends.
    pub fn forever_now(&self) -> impl Iterator<Item = (String, &str, &str)> {
        let end = self.cycle == self.history.end();
        let waits = self.forever().filter(move |_| end);
        waits.map(|wait| (unit_name(wait.unit), &*wait.what, &*wait.why))
    }

    /// The activity of every core and pipe.
    pub fn place(&self) -> String {
        let cycle = self.cycle;
        let mut text = format!("cycle {cycle}\n");
        let queues = self.history.queues(cycle);
        let queued = |who: &str| {
            let own = queues.iter().find(|(name, _)| name == who);
            own.map_or(String::new(), |(_, count)| format!("; {count} after it"))
        };
        for (who, slice, ended) in self.history.doing(cycle) {
            let line = slice.fact("line").map_or(String::new(), |line| format!("  line {line}"));
            let ended = ended.map_or(String::new(), |ended| format!("; {ended}"));
            let behind = queued(&who);
            let _ = writeln!(text, "  {who:10}  {}{line}, {} to {}{ended}{behind}", slice.name, slice.start, slice.end);
        }
        for (who, what, why) in self.forever_now() {
            let _ = writeln!(text, "  {who:10}  waits for {what} forever: {why}");
        }
        text
    }

    /// Goes to the end, and returns [`Session::place`] there.
    fn place_at_end(&mut self) -> String {
        self.at(self.history.end());
        self.place()
    }

    /// Flags, semaphores and tokens: the numbers of times they were set and taken.
    pub fn flags(&self) -> String {
        let program = &self.history.run().compiled.prepared.decoded.program;
        let mut text = String::new();
        for (cluster, sync, sent, taken) in self.history.signals(self.cycle) {
            let Some(decl) = program.syncs.get(sync as usize) else { continue };
            let cluster =
                if self.history.run().options.blocks > 1 { format!("cluster {cluster}: ") } else { String::new() };
            let left = match decl.role {
                // A token can be acquired again without a release in between.
                SyncRole::Token { .. } | SyncRole::UnitFlag { .. } => String::new(),
                _ => format!(", {} left", sent.saturating_sub(taken)),
            };
            let _ = writeln!(text, "{cluster}{}: {sent} sent, {taken} taken{left}", decl.name);
        }
        if text.is_empty() { "no signal so far\n".into() } else { text }
    }

    /// The source around the current line.
    pub fn around(&self) -> String {
        let Some(here) = self.event_now().and_then(|event| self.history.row(event)) else {
            return "no line\n".into();
        };
        let source = self.source();
        let shown = source.text.lines().enumerate().map(|(at, text)| (at + 1, text));
        let near = shown.filter(|(at, _)| at.abs_diff(here) <= AROUND);
        let line = |(at, text): (usize, &str)| {
            format!("{} {:>4}  {text}\n", if at == here { "*" } else { " " }, source.shown_line(at).to_string())
        };
        near.map(line).collect()
    }

    /// Repeats the run up to the end of the current cycle, unless that was just done.
    pub fn moment(&mut self) {
        if self.moment.as_ref().is_none_or(|(cycle, _)| *cycle != self.cycle) {
            let from = self.kept.before(self.cycle);
            let execution = self.history.run().once_more(&self.asked, self.cycle, from, &mut ());
            self.moment = Some((self.cycle, execution));
        }
    }

    /// The result of [`Session::moment`].
    pub fn moment_now(&self) -> Option<&Execution> {
        self.moment.as_ref().map(|(_, execution)| execution)
    }

    /// Delays the current op instance by so many cycles: a what-if run that differs from here on.
    pub fn hold(&mut self, cycles: u64) -> Result<String, String> {
        let event = self.event_now().ok_or("before the first event there is nothing to hold\n")?;
        let agent = self.history.happening(event).agent;
        let Some(work) = self.history.work_number(event) else {
            let name = &self.history.slice(event).name;
            return Err(format!(
                "`{name}` is not an operation of a pipe, and only those can be held: go to one with `op`\n"
            ));
        };
        let Agent { role, pipe, block, .. } = agent;
        let late = Late::By(cycles);
        self.asked.delays.retain(|own| (own.role, own.pipe, own.block, own.work) != (role, pipe, block, work));
        self.asked.delays.push(Delay { role, pipe, work, late, block });
        self.again(Some((agent, work)))
    }

    /// Removes all delays.
    pub fn release(&mut self) -> Result<String, String> {
        if self.asked.delays.is_empty() {
            return Err("nothing is held\n".into());
        }
        self.asked.delays.clear();
        let now = self
            .event_now()
            .and_then(|event| Some((self.history.happening(event).agent, self.history.work_number(event)?)));
        self.again(now)
    }

    /// The delays, one per line, in the format of `slipring run --schedule`.
    pub fn held(&self) -> String {
        match self.asked.delays.is_empty() {
            true => "nothing is held\n".into(),
            false => self.asked.delays.iter().map(|delay| format!("{delay}\n")).collect(),
        }
    }

    /// Repeats the run with the current options, and goes back to the same op instance.
    fn again(&mut self, place: Option<(Agent, u32)>) -> Result<String, String> {
        let old = self.history.run();
        let run = old.rerun(&self.asked).map_err(|error: Error| format!("{error}\n"))?;
        let (before, after) = (self.history.end(), run.record().map_or(0, |record| record.cycles));
        let found = run.findings().messages().to_vec();
        let mut text = self.held();
        let _ = writeln!(text, "{before} cycles before, {after} now");
        for (word, list, other) in [("came", &found, &self.findings), ("went", &self.findings, &found)] {
            for own in list.iter().filter(|own| !other.iter().any(|known| known.repeats(own))) {
                let _ = writeln!(text, "{word}  {}[{}]: {}", own.severity.name(), own.code, own.message);
            }
        }
        let params = old.compiled.prepared.decoded.program.params.iter().filter(|param| param.is_passed());
        let other: Vec<&str> = params
            .enumerate()
            .filter(|(at, _)| old.left(*at) != run.left(*at))
            .map(|(_, param)| param.name.trim_start_matches('%'))
            .collect();
        text += &match other.is_empty() {
            true => "every buffer ends with the same bytes\n".to_string(),
            false => format!("other bytes at the end in {}\n", other.join(", ")),
        };
        let cycle = self.cycle;
        (self.history, self.findings, self.moment) = (History::new(run), found, None);
        self.kept = Snapshots::of(&self.history, &self.asked);
        let event = place.and_then(|(agent, work)| self.history.work(agent, work));
        text += &match event {
            Some(event) => self.go(event + 1),
            None => self.at(cycle),
        };
        Ok(text)
    }

    /// The events of findings that are errors or warnings.
    pub fn finding_events(&self) -> BTreeSet<usize> {
        let loud = self.findings.iter().filter(|found| found.severity > Severity::Note);
        loud.filter_map(|found| self.finding_event(found)).collect()
    }
}

/// `AIV0.MTE2`.
fn unit_name(unit: Unit) -> String {
    format!("{}.{}", unit.core.name(), unit.pipe.name())
}
