//! Reads of bytes that nobody wrote.

use std::collections::BTreeSet;

use slipring_program::{Finding, Label, Severity, SiteRef};
use slipring_sim::{ArgValue, Launch, Mode, Observer, WorkRun};

use crate::places::{Names, PerPlace, Place, bytes, runs};

/// Finds reads of local memory, and of global scratch memory, before anything was written there.
///
/// Buffers that are passed as arguments count as written, except those that [`Init::scratch`] names. Local
/// memories start unwritten in every block. Each place in the text is reported once.
#[derive(Debug, Default)]
pub struct Init {
    written: PerPlace<Written>,
    /// Buffers whose contents mean nothing at the start.
    scratch: Vec<usize>,
    names: Names,
    seen: BTreeSet<SiteRef>,
    findings: Vec<Finding>,
    active: bool,
}

/// One bit a byte.
#[derive(Clone, Debug, Default)]
struct Written {
    bits: Vec<u64>,
    /// Everything counts as written.
    all: bool,
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

    /// The reads found so far.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn read(&mut self, run: &WorkRun<'_>) {
        if self.seen.contains(&run.site) {
            return;
        }
        for range in &run.access.reads {
            let (place, start) = Place::of(range, run.agent.cluster);
            let written = self.written.get(place);
            let missing = runs(range, start).find_map(|(from, to)| written.missing(from, to));
            let Some((first, end)) = missing else { continue };
            self.seen.insert(run.site);
            let what = format!("{} of {}", bytes(first, end), place.name(&self.names));
            self.findings.push(Finding {
                code: "uninitialised-read",
                severity: Severity::Error,
                message: format!(
                    "`{}` on {} reads {what}, which nobody has written",
                    self.names.op(run.site),
                    run.agent
                ),
                primary: Some(Label { site: run.site, text: "this read".into() }),
                secondary: Vec::new(),
                notes: Vec::new(),
                hint: Some("write the bytes first, or read only the part that is valid".into()),
            });
            return;
        }
    }
}

impl Written {
    /// The first run of bytes in a range that were not written.
    fn missing(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        if self.all || self.covers(from, to) {
            return None;
        }
        let written = |byte: &u64| self.bits.get((byte / 64) as usize).is_some_and(|word| word >> (byte % 64) & 1 == 1);
        let first = (from..to).find(|byte| !written(byte))?;
        Some((first, (first..to).find(written).unwrap_or(to)))
    }

    /// True if every byte of a range was written.
    fn covers(&self, from: u64, to: u64) -> bool {
        let (words, first, last) = words(from, to);
        let Some(bits) = self.bits.get(words) else { return false };
        match bits {
            [] => true,
            [only] => only & first & last == first & last,
            [head, whole @ .., tail] => {
                head & first == first
                    && tail & last == last
                    && whole.iter().fold(u64::MAX, |all, word| all & word) == u64::MAX
            }
        }
    }

    /// The bytes of a range mean nothing any more.
    fn forget(&mut self, from: u64, to: u64) {
        if self.all {
            return;
        }
        let (range, first, last) = words(from, to);
        for at in range.start..range.end.min(self.bits.len()) {
            let head = if at == range.start { first } else { u64::MAX };
            let tail = if at + 1 == range.end { last } else { u64::MAX };
            self.bits[at] &= !(head & tail);
        }
    }

    fn mark(&mut self, from: u64, to: u64) {
        if self.all {
            return;
        }
        let (words, first, last) = words(from, to);
        if self.bits.len() < words.end {
            self.bits.resize(words.end, 0);
        }
        match &mut self.bits[words] {
            [] => {}
            [only] => *only |= first & last,
            [head, whole @ .., tail] => {
                *head |= first;
                *tail |= last;
                whole.fill(u64::MAX);
            }
        }
    }
}

/// The words that hold the bits of a range, and the masks of its bits in the first and in the last of them.
fn words(from: u64, to: u64) -> (std::ops::Range<usize>, u64, u64) {
    let words = (from / 64) as usize..to.div_ceil(64).max(from / 64) as usize;
    (words, u64::MAX << (from % 64), u64::MAX >> (to.wrapping_neg() % 64))
}

impl Observer for Init {
    fn begin(&mut self, launch: &Launch<'_>) {
        let scratch = std::mem::take(&mut self.scratch);
        *self = Init { scratch, active: launch.mode == Mode::Pipes, names: Names::new(launch), ..Init::default() };
        for arg in &launch.args {
            if let ArgValue::Buffer(index) = arg {
                self.written.get(Place::Buffer(*index)).all = !self.scratch.contains(index);
            }
        }
    }

    fn block_start(&mut self, _: u64, _: u32, cluster: u32) {
        self.written.of_cluster(cluster).for_each(|written| written.bits.clear());
    }

    fn end(&mut self, _: u64, run: &WorkRun<'_>) {
        if !self.active {
            return;
        }
        self.read(run);
        for range in &run.access.writes {
            let (place, start) = Place::of(range, run.agent.cluster);
            let written = self.written.get(place);
            runs(range, start).for_each(|(from, to)| written.mark(from, to));
        }
        for range in &run.access.undefined {
            let (place, start) = Place::of(range, run.agent.cluster);
            let written = self.written.get(place);
            runs(range, start).for_each(|(from, to)| written.forget(from, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let mut w = Written::default();
        assert_eq!(w.missing(0, 10), Some((0, 10)));
        w.mark(3, 200);
        assert_eq!(w.missing(3, 200), None);
        assert_eq!(w.missing(2, 200), Some((2, 3)));
        assert_eq!(w.missing(100, 201), Some((200, 201)));
        w.mark(256, 320);
        assert_eq!(w.missing(150, 300), Some((200, 256)));
        assert_eq!(w.missing(256, 320), None);
        assert_eq!(w.missing(10, 10), None);
        w.forget(260, 300);
        assert_eq!(w.missing(256, 320), Some((260, 300)));
        w.forget(63, 130);
        assert_eq!(w.missing(3, 200), Some((63, 130)));
        w.mark(1000, 1001);
        assert_eq!(w.missing(1000, 1002), Some((1001, 1002)));
        assert_eq!(w.missing(999, 1001), Some((999, 1000)));
    }
}
