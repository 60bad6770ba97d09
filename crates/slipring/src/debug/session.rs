//! Where somebody stands in a run, and the words that move them.

use std::fmt::Write;

use slipring::report::Number;
use slipring::{Diagnostic, Error, Kernel, Kind, Run, RunOptions, Tensor, tools};

use super::history::History;

/// Lines of the source that are shown on each side of the present one.
const AROUND: usize = 3;

/// Events that `log` shows.
const LOG: usize = 8;

/// The words, for `help`.
const WORDS: &str = "\
next [N], back [N]    one event on or back, or N
line L, rline L       the next, the previous event of a line
op NAME, rop NAME     the next, the previous event whose name has this in it
cycle C               the last event that has begun at a cycle
findings, finding K   all findings; the moment of one, by its number
start, end            in front of the first event; the end of the run
where                 what every core and pipe does, and who ends each wait
rings                 how full each ring is
show NAME             what a tile or a buffer holds once the present cycle is over
log [N]               the last events
list                  the source around the line
help, quit
";

/// A run, and a place in it.
pub struct Session<'a> {
    kernel: &'a Kernel,
    /// The same at each call.
    arguments: &'a dyn Fn() -> Result<Vec<Tensor<'a>>, Error>,
    options: RunOptions,
    history: History,
    findings: Vec<Diagnostic>,
    /// Events that have begun, and the cycle.
    begun: usize,
    cycle: u64,
}

impl<'a> Session<'a> {
    /// Runs a kernel once, and stands in front of its first event.
    ///
    /// # Errors
    /// Why it was not run.
    pub fn start(
        kernel: &'a Kernel,
        arguments: &'a dyn Fn() -> Result<Vec<Tensor<'a>>, Error>,
        options: RunOptions,
    ) -> Result<Session<'a>, Error> {
        let run = kernel.run_with(arguments()?, &options.clone().record(true))?;
        let history = History::new(run.trace().unwrap_or_default());
        let findings = run.findings().messages().to_vec();
        Ok(Session { kernel, arguments, options, history, findings, begun: 0, cycle: 0 })
    }

    /// What happened.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Events that have begun, and the cycle.
    pub fn place_in_time(&self) -> (usize, u64) {
        (self.begun, self.cycle)
    }

    /// The kernel.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// What there is to go through.
    pub fn title(&self) -> String {
        let (events, end) = (self.history.count(), self.history.end());
        let mut text = format!("{events} events, {end} cycles");
        for (at, found) in self.findings.iter().enumerate() {
            let _ = write!(text, "\nfinding {}: {}[{}]: {}", at + 1, found.severity.name(), found.code, found.message);
        }
        text + "\n"
    }

    /// Does what a line says. `None` ends it.
    pub fn said(&mut self, line: &str) -> Option<String> {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let number = |least: u64| match rest {
            "" => Ok(least),
            digits => digits.parse::<u64>().map_err(|_| format!("`{digits}` is not a number\n")),
        };
        let told = match word {
            "" => Ok(String::new()),
            "quit" | "q" | "exit" => return None,
            "help" | "h" => Ok(WORDS.to_string()),
            "next" | "n" | "step" | "s" => number(1).map(|n| self.go(self.begun.saturating_add(n as usize))),
            "back" | "b" => number(1).map(|n| self.go(self.begun.saturating_sub(n as usize))),
            "start" => Ok(self.go(0)),
            "end" => Ok(self.at(self.history.end())),
            "cycle" | "c" => number(0).map(|cycle| self.at(cycle)),
            "line" | "l" => number(0).and_then(|line| self.find(true, |own, event| own.line(event) == Some(line))),
            "rline" => number(0).and_then(|line| self.find(false, |own, event| own.line(event) == Some(line))),
            "op" => self.find(true, |own, event| own.slice(event).name.contains(rest)),
            "rop" => self.find(false, |own, event| own.slice(event).name.contains(rest)),
            "findings" => Ok(self.title()),
            "finding" | "f" => number(1).and_then(|at| self.finding(at as usize)),
            "where" | "w" => Ok(self.place()),
            "rings" | "r" => {
                let rings = self.history.rings(self.cycle);
                Ok(if rings.is_empty() { "no rings\n".into() } else { rings.join("\n") + "\n" })
            }
            "show" | "p" => self.show(rest),
            "log" => number(LOG as u64).map(|n| {
                let first = self.begun.saturating_sub(n as usize);
                (first..self.begun).map(|event| self.event(event)).collect()
            }),
            "list" => Ok(self.source()),
            other => Err(format!("there is no word `{other}`: `help` lists them\n")),
        };
        Some(told.unwrap_or_else(|wrong| wrong))
    }

    /// Goes to the state in which so many events have begun.
    pub fn go(&mut self, begun: usize) -> String {
        self.begun = begun.min(self.history.count());
        let Some(event) = self.begun.checked_sub(1) else {
            self.cycle = 0;
            return "in front of the first event\n".into();
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

    /// A line that says what an event is.
    fn event(&self, event: usize) -> String {
        let slice = self.history.slice(event);
        let line = self.history.line(event);
        let text = line.map_or(String::new(), |line| format!("  line {line}: {}", self.text(line)));
        let (count, who) = (self.history.count(), self.history.who(event));
        format!("[{}/{count}] {} to {}  {who}  {}{text}\n", event + 1, slice.start, slice.end, slice.name)
    }

    /// A line of the source.
    fn text(&self, line: u64) -> &str {
        self.kernel.source().text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default().trim()
    }

    /// Goes to the next or the previous event of a kind.
    pub fn find(&mut self, on: bool, fits: impl Fn(&History, usize) -> bool) -> Result<String, String> {
        let fits = |event: &usize| fits(&self.history, *event);
        let found = match on {
            true => (self.begun..self.history.count()).find(fits),
            false => (0..self.begun.saturating_sub(1)).rev().find(fits),
        };
        let way = if on { "behind" } else { "in front of" };
        found.map(|event| self.go(event + 1)).ok_or_else(|| format!("there is none {way} this event\n"))
    }

    /// Goes to the moment of a finding: the last event of its place; and says when the other places were at work.
    fn finding(&mut self, at: usize) -> Result<String, String> {
        let Some(found) = at.checked_sub(1).and_then(|at| self.findings.get(at)).cloned() else {
            return Err(match self.findings.len() {
                0 => "nothing was found\n".into(),
                count => format!("findings go from 1 to {count}\n"),
            });
        };
        let source = self.kernel.source();
        let mut text = found.render(source, false) + "\n";
        let line = |span: slipring_ir::Span| source.line_column(span.start).0 as u64;
        let last = |line: u64| (0..self.history.count()).rev().find(|event| self.history.line(*event) == Some(line));
        for label in &found.secondary {
            if let Some(event) = last(line(label.span)) {
                let _ = write!(text, "{}; last event of its line: {}", label.text, self.event(event));
            }
        }
        let own = found.primary.as_ref().and_then(|primary| last(line(primary.span)));
        text += &match own.filter(|_| !matches!(found.kind, Kind::Deadlock(_))) {
            Some(event) => self.go(event + 1),
            // What waits forever never comes to its event.
            None => format!("it never happens; at the end\n{}", self.place_at_end()),
        };
        Ok(text)
    }

    /// What every core and pipe does.
    fn place(&self) -> String {
        let cycle = self.cycle;
        let mut text = format!("cycle {cycle}\n");
        for (who, slice, ended) in self.history.doing(cycle) {
            let line = slice.fact("line").map_or(String::new(), |line| format!("  line {line}"));
            let ended = ended.map_or(String::new(), |ended| format!("; {ended}"));
            let _ = writeln!(text, "  {who:10}  {}{line}, {} to {}{ended}", slice.name, slice.start, slice.end);
        }
        let waits = self.findings.iter().flat_map(|found| match &found.kind {
            Kind::Deadlock(waits) => waits.as_slice(),
            _ => &[],
        });
        for wait in waits.filter(|_| self.cycle == self.history.end()) {
            let _ = writeln!(
                text,
                "  {:10}  waits for {} forever: {}",
                format!("{}.{}", wait.unit.core.name(), wait.unit.pipe.name()),
                wait.what,
                wait.why
            );
        }
        text
    }

    /// Goes to the end, and says the same there.
    fn place_at_end(&mut self) -> String {
        self.at(self.history.end());
        self.place()
    }

    /// The source around the present line.
    fn source(&self) -> String {
        let Some(line) = self.begun.checked_sub(1).and_then(|event| self.history.line(event)) else {
            return "no line\n".into();
        };
        let here = line as usize;
        let shown = self.kernel.source().text.lines().enumerate().map(|(at, text)| (at + 1, text));
        let near = shown.filter(|(at, _)| at.abs_diff(here) <= AROUND);
        near.map(|(at, text)| format!("{} {at:4}  {text}\n", if at == here { "*" } else { " " })).collect()
    }

    /// The same run, stopped once the present cycle is over.
    fn replay(&self) -> Result<Run<'a>, Error> {
        let mut options = self.options.clone();
        options.limits.cycles = self.cycle;
        (options.trace, options.events) = (false, 0);
        options.tools = tools("none").map_err(Error::Arguments)?;
        self.kernel.run_with((self.arguments)()?, &options)
    }

    /// What a tile or a buffer holds.
    pub fn show(&self, name: &str) -> Result<String, String> {
        let name = name.trim_start_matches('%');
        if name.is_empty() {
            return Err("`show` wants the name of a tile or of a parameter\n".into());
        }
        let run = self.replay().map_err(|error| format!("{error}\n"))?;
        let mut text = format!("once cycle {} is over\n", self.cycle);
        let parameters = self.kernel.parameters().map_err(|error| format!("{error}\n"))?;
        for (at, own) in parameters.iter().enumerate().filter(|(_, own)| own.name.trim_start_matches('%') == name) {
            if let (Some(elem), Some(bytes)) = (own.elem, run.left(at)) {
                let digest = slipring::report::digest(elem, bytes);
                let range = digest.min.zip(digest.max);
                let _ = writeln!(text, "{name}: {} bytes of {elem}{}", bytes.len(), ends(range));
                let _ = writeln!(text, "  {} …", row(&digest.first));
            }
        }
        for tile in run.tiles(name) {
            let [rows, cols] = tile.shape;
            let place = format!("{} of {} at {:#x}", tile.space, tile.core, tile.address);
            let _ = writeln!(text, "{name}: {rows}x{cols} in {place}{}", ends(tile.range));
            for first in &tile.first {
                let _ = writeln!(text, "  {}{}", row(first), if (first.len() as u32) < cols { " …" } else { "" });
            }
        }
        if text.lines().count() == 1 {
            return Err(format!("there is no tile and no buffer `{name}` whose address is known\n"));
        }
        Ok(text)
    }
}

/// `, -1 to 2.5`.
fn ends(range: Option<(Number, Number)>) -> String {
    range.map_or(String::new(), |(least, most)| format!(", {} to {}", number(&least), number(&most)))
}

fn row(numbers: &[Number]) -> String {
    numbers.iter().map(number).collect::<Vec<_>>().join(" ")
}

fn number(number: &Number) -> String {
    match number {
        Number::Signed(x) => x.to_string(),
        Number::Unsigned(x) => x.to_string(),
        Number::Float(x) => format!("{:.5}", x).trim_end_matches('0').trim_end_matches('.').to_string(),
    }
}
