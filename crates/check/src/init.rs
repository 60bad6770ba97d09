//! Bytes that are uninitialised: nobody has written them.

use std::collections::BTreeSet;

use slipring_program::{Choice, Finding, Holes, Kind, Memory, Misuse, Severity, SiteRef, Uninit, Unwritten};
use slipring_sim::{ExecutionMode, Launch, Observer};

use crate::places::{LaunchMemory, Names, bytes};

/// Finds out what becomes of bytes that nobody has written.
///
/// The memories keep marks of them ([`slipring_program::Shadow`]): they are copied and computed with in silence. It is an error where
/// they decide something (an address, a mask, a branch, a number), and where what was computed from them ends in a buffer that
/// the launch passed; where they are merely copied there it is a warning.
///
/// Buffers that are passed as arguments count as written, except those that [`Init::scratch`] and [`Init::unwritten`] name.
/// Local memories start unwritten in every block. Each place in the text is reported once.
#[derive(Debug, Default)]
pub struct Init {
    /// Buffers whose contents are uninitialised at the start.
    scratch: Vec<usize>,
    /// Results that hold nothing at the start.
    unwritten: Vec<Unwritten>,
    /// Bytes of results that a run which comes to its end is to write.
    results: Vec<Unwritten>,
    /// Buffers that are nobody's result: what is stored there is no finding.
    apart: Vec<usize>,
    names: Names,
    active: bool,
    /// Also where operations are run one after another.
    always: bool,
}

impl Init {
    /// A check that has seen nothing yet.
    pub fn new() -> Init {
        Init::default()
    }

    /// A buffer (by its index in global memory) that holds nothing at the start, such as the slots of a ring.
    pub fn scratch(mut self, buffer: usize) -> Init {
        self.scratch.push(buffer);
        self
    }

    /// Bytes of a result that hold nothing at the start, such as those of an output.
    pub fn unwritten(mut self, bytes: Unwritten) -> Init {
        self.unwritten.push(bytes);
        self
    }

    /// Bytes of a result that a run is to write.
    pub fn result(mut self, bytes: Unwritten) -> Init {
        self.results.push(bytes);
        self
    }

    /// Takes buffers for nobody's result.
    pub fn leave_out(&mut self, buffers: &[usize]) {
        self.apart.extend(buffers);
    }

    /// Keeps marks also where operations are run one after another.
    pub fn always(self) -> Init {
        Init { always: true, ..self }
    }

    /// What the memories of the run say.
    pub fn findings(&self, memory: &Memory) -> Vec<Finding> {
        let Some(shadow) = &memory.shadow else { return Vec::new() };
        let mut findings: Vec<Finding> = shadow.misuses().iter().map(|misuse| self.misused(misuse)).collect();
        if shadow.is_full() {
            findings.push(no_memory("init", "which bytes are uninitialised"));
        }
        for (site, buffer, mut voids) in shadow.outputs().into_iter().filter(|own| !self.apart.contains(&own.1)) {
            voids.retain(|void| void.here);
            let name = LaunchMemory::Buffer(buffer).name(&self.names);
            let elem = self.names.elem_bytes(buffer);
            let mut origins: Vec<SiteRef> = Vec::new();
            for origin in voids.iter().filter_map(|void| void.origin) {
                if !origins.contains(&origin) {
                    origins.push(origin);
                }
            }
            for origin in origins {
                let at = listed(voids.iter().filter(|void| void.origin == Some(origin)), elem);
                let runs = joined(voids.iter().filter(|void| void.origin == Some(origin)));
                let holes = self.holes(memory, buffer, runs);
                findings.push(self.computed(origin, site, &format!("{at} of {name}"), holes));
            }
            if voids.iter().any(|void| void.origin.is_none()) {
                let at = listed(voids.iter().filter(|void| void.origin.is_none()), elem);
                let runs = joined(voids.iter().filter(|void| void.origin.is_none()));
                let holes = self.holes(memory, buffer, runs);
                findings.push(self.copied(site, &format!("{at} of {name}"), holes));
            }
        }
        findings
    }

    /// What a run that came to its end has left out of the results. What was stored there and means nothing is told already.
    pub fn left_out(&self, memory: &Memory) -> Vec<Finding> {
        let Some(shadow) = memory.shadow.as_ref().filter(|shadow| !shadow.is_full()) else { return Vec::new() };
        let told: BTreeSet<usize> = shadow.outputs().into_iter().map(|(_, buffer, _)| buffer).collect();
        let mut findings = Vec::new();
        for Unwritten { buffer, from, to } in self.results.iter().filter(|own| !told.contains(&own.buffer)) {
            let runs = shadow.of_buffer(*buffer, *from, *to);
            if runs.is_empty() {
                continue;
            }
            let name = LaunchMemory::Buffer(*buffer).name(&self.names);
            let all = runs[..] == [(0, to - from)];
            let runs: Vec<(u64, u64)> = runs.into_iter().map(|(first, end)| (first + from, end + from)).collect();
            let (kind, message) = match all {
                true => (Kind::OutputUnwritten, format!("this run writes nothing of {name}, which is an output")),
                false => {
                    let at = in_words(&runs, self.names.elem_bytes(*buffer));
                    let holes = self.holes(memory, *buffer, runs);
                    (
                        Kind::OutputInPart(Some(holes)),
                        format!("this run does not write {at} of {name}, which is an output"),
                    )
                }
            };
            let help = "those bytes are uninitialised: write them in every launch, or declare the parameter `pl.InOut[…]` if the caller provides the rest";
            findings.push(Finding::new(kind, Severity::Warning, message).help(help));
        }
        findings
    }

    /// Where contents of buffers have decided what the findings are, or whether there are any.
    pub fn doubts(&self, memory: &Memory) -> BTreeSet<(SiteRef, Choice)> {
        memory.shadow.as_ref().map_or_else(BTreeSet::new, |shadow| shadow.doubts())
    }

    fn misused(&self, misuse: &Misuse) -> Finding {
        let what = match &misuse.extent {
            Some(extent) => {
                let (place, start) = LaunchMemory::of(extent, misuse.env.block);
                let at = bytes(start, start + u64::from(extent.row_bytes));
                format!("{at} of {}, which were never written", place.name(&self.names))
            }
            None => "a register that holds bytes which were never written".into(),
        };
        let prints = misuse.what == "prints";
        let severity = if prints { Severity::Warning } else { Severity::Error };
        let message = format!("`{}` on {} {} {what}", self.names.op(misuse.site), misuse.env.core, misuse.what);
        let holes = misuse.extent.as_ref().map(|extent| {
            let (place, start) = LaunchMemory::of(extent, misuse.env.block);
            let row = |at: u64| (start + at * extent.stride, start + at * extent.stride + u64::from(extent.row_bytes));
            let end = start + (extent.end() - extent.start);
            Box::new(Holes::new(place.name(&self.names), (start, end), (0..u64::from(extent.rows)).map(row)))
        });
        Finding::new(Kind::UninitialisedRead(holes), severity, message)
            .at(misuse.site, "here")
            .help("write the bytes first, or read only the part that is valid")
    }

    /// Bytes of a buffer that nobody has written.
    fn holes(&self, memory: &Memory, buffer: usize, runs: Vec<(u64, u64)>) -> Box<Holes> {
        let place = LaunchMemory::Buffer(buffer).name(&self.names);
        Box::new(Holes::new(place, (0, memory.buffer_bytes(buffer) as u64), runs.into_iter()))
    }

    fn computed(&self, origin: SiteRef, store: SiteRef, at: &str, holes: Box<Holes>) -> Finding {
        let by = if origin == store {
            "and stores the result".into()
        } else {
            format!("and `{}` stores the result", self.names.op(store))
        };
        let message = format!("`{}` computes with uninitialised bytes, {by}: {at}", self.names.op(origin));
        let finding = Finding::new(Kind::UninitialisedRead(Some(holes)), Severity::Error, message)
            .at(origin, "computed here")
            .help("write the operands first, or compute and store only the part that is valid");
        if origin == store { finding } else { finding.also(store, "stored here") }
    }

    fn copied(&self, store: SiteRef, at: &str, holes: Box<Holes>) -> Finding {
        let message = format!("`{}` stores uninitialised bytes: {at} are uninitialised", self.names.op(store));
        Finding::new(Kind::UninitialisedOutput(Some(holes)), Severity::Warning, message)
            .at(store, "stored here")
            .note("comparisons ignore these bytes")
            .help("store only the part that was written, or fill the rest first")
    }
}

/// A check has no room for its notes of so large a memory: what it says does not cover everything.
pub(crate) fn no_memory(check: &str, of: &str) -> Finding {
    let message = format!("out of memory for the records of {of}: `{check}` did not cover everything");
    Finding::new(Kind::MemoryLimit, Severity::Error, message)
        .note("such records take up to three bytes for each byte accessed")
        .help(format!("run with smaller buffers or fewer blocks, or without `{check}`"))
}

/// Runs of bytes in words, as elements of so many bytes where they are whole elements.
fn listed<'a>(voids: impl Iterator<Item = &'a Uninit>, elem: u64) -> String {
    in_words(&joined(voids), elem)
}

/// Runs of bytes that do not touch: first byte and end of each.
fn joined<'a>(voids: impl Iterator<Item = &'a Uninit>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for void in voids {
        match runs.last_mut() {
            Some(last) if last.1 == void.start => last.1 = void.end,
            _ => runs.push((void.start, void.end)),
        }
    }
    runs
}

/// Runs of bytes that do not touch, first byte and end of each, in words: as elements of so many bytes where that is possible.
pub fn in_words(runs: &[(u64, u64)], elem: u64) -> String {
    const SHOWN: usize = 3;
    let whole = elem > 0 && runs.iter().all(|(from, to)| from % elem == 0 && to % elem == 0);
    let (unit, size) = if whole { ("element", elem) } else { ("byte", 1) };
    let total: u64 = runs.iter().map(|(from, to)| (to - from) / size).sum();
    let one = |(from, to): &(u64, u64)| match (from / size, to / size - 1) {
        (first, last) if first == last => format!("{first}"),
        (first, last) => format!("{first} to {last}"),
    };
    let shown: Vec<String> = runs.iter().take(SHOWN).map(one).collect();
    let plural = if total == 1 { "" } else { "s" };
    let more = if runs.len() > SHOWN { format!(" … ({total} in {} runs)", runs.len()) } else { String::new() };
    format!("{unit}{plural} {}{more}", shown.join(", "))
}

impl Observer for Init {
    fn begin(&mut self, launch: &Launch<'_>) {
        (self.active, self.names) = (self.always || launch.mode == ExecutionMode::Pipes, Names::new(launch));
    }

    fn arm(&mut self, memory: &mut Memory) {
        if self.active {
            memory.keep_marks(&self.scratch, &self.unwritten);
        }
    }
}
