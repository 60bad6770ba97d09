//! Uninitialised bytes: bytes that nobody has written.

use std::collections::BTreeSet;

use slipring_program::{Choice, Finding, Holes, Kind, Memory, Misuse, Severity, SiteRef, Uninit, Unwritten};
use slipring_sim::{ExecutionMode, Launch, Observer};

use crate::places::{LaunchMemory, Names, bytes};

/// Tracks uninitialised bytes.
///
/// The memories mark them ([`slipring_program::Shadow`]): copying them and computing with them is silent. It is an
/// error if they decide something (an address, a mask, a branch, a scalar), or if data computed from them reaches a
/// buffer that the launch passed; if they are merely copied there it is a warning.
///
/// Buffers that are passed as arguments count as written, except those that [`Init::scratch`] and [`Init::unwritten`]
/// name. Local memories start unwritten in every block. Each location in the text is reported once.
#[derive(Debug, Default)]
pub struct Init {
    /// Initially uninitialised buffers.
    scratch: Vec<usize>,
    /// Initially uninitialised results.
    unwritten: Vec<Unwritten>,
    /// Bytes of results that a complete run must write.
    results: Vec<Unwritten>,
    /// Buffers that are not results: stores there are not reported.
    apart: Vec<usize>,
    names: Names,
    active: bool,
    /// Also in sequential runs.
    always: bool,
}

impl Init {
    /// A fresh check.
    pub fn new() -> Init {
        Init::default()
    }

    /// Declares a buffer (by its index in global memory) as initially uninitialised, such as the slots of a ring.
    pub fn scratch(mut self, buffer: usize) -> Init {
        self.scratch.push(buffer);
        self
    }

    /// Declares bytes of a result as initially uninitialised, such as those of an output.
    pub fn unwritten(mut self, bytes: Unwritten) -> Init {
        self.unwritten.push(bytes);
        self
    }

    /// Declares bytes of a result that a run must write.
    pub fn result(mut self, bytes: Unwritten) -> Init {
        self.results.push(bytes);
        self
    }

    /// Declares buffers as not being results.
    pub fn leave_out(&mut self, buffers: &[usize]) {
        self.apart.extend(buffers);
    }

    /// Keeps marks also in sequential runs.
    pub fn always(self) -> Init {
        Init { always: true, ..self }
    }

    /// The findings from the memories of the run.
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

    /// Parts of the results that a complete run did not write. Uninitialised data stored there has already been
    /// reported.
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
                true => (Kind::OutputUnwritten, format!("this run does not write {name}, which is an output")),
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

    /// Locations where buffer contents have decided what the findings are, or whether there are any.
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

    /// Unwritten bytes of a buffer.
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

/// A check has no memory for its records of such a large memory: its findings do not cover everything.
pub(crate) fn no_memory(check: &str, of: &str) -> Finding {
    let message = format!("out of memory for the records of {of}: `{check}` did not cover everything");
    Finding::new(Kind::MemoryLimit, Severity::Error, message)
        .note("such records take up to three bytes for each byte accessed")
        .help(format!("run with smaller buffers or fewer blocks, or without `{check}`"))
}

/// Runs of bytes as text, in elements of this size if they are whole elements.
fn listed<'a>(voids: impl Iterator<Item = &'a Uninit>, elem: u64) -> String {
    in_words(&joined(voids), elem)
}

/// Merged runs of bytes: start and end of each.
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

/// Disjoint runs of bytes, start and end of each, as text: in elements of this size if possible.
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
