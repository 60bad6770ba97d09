//! The layout of a local memory over time: as a table, and as a picture.

mod svg;

use std::ops::Range;

pub use svg::memory_svg;

use slipring_finding::Line;

use crate::line::{write_line, write_lines};
use crate::table::Table;

/// The layout of one memory of a kernel's cores.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct MemoryFacts {
    /// Kernel, cores and memory.
    pub title: String,
    /// Capacity in bytes.
    pub capacity: u64,
    /// Bytes at its end that the compiler does not allocate.
    pub reserved: u64,
    /// The program steps at which a buffer's use begins or ends, in program order: their source lines.
    #[serde(serialize_with = "write_lines")]
    pub lines: Vec<Line>,
    /// Rings and tiles, by address.
    pub buffers: Vec<BufferPlace>,
}

/// A ring or a tile in a memory.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct BufferPlace {
    /// Its name in the source.
    pub name: String,
    /// The source line that declares it.
    #[serde(flatten, serialize_with = "write_line")]
    pub line: Line,
    /// Its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Slots of a ring, which is in use all the time; `None` for a tile.
    pub slots: Option<u32>,
    /// First and last step of each live range of a tile.
    pub lives: Vec<[usize; 2]>,
}

impl BufferPlace {
    fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes)
    }

    fn in_use(&self, step: usize) -> bool {
        self.slots.is_some() || self.lives.iter().any(|[first, last]| (*first..=*last).contains(&step))
    }

    /// `always, 2 slots of 32768`, `lines 12 to 15`.
    fn time(&self, lines: &[Line]) -> String {
        if let Some(slots) = self.slots {
            let each = self.bytes / u64::from(slots.max(1));
            return if slots > 1 { format!("always, {slots} slots of {each}") } else { "always".to_string() };
        }
        let line = |step: usize| lines.get(step).cloned().unwrap_or_default();
        let one = |[first, last]: &[usize; 2]| match (line(*first), line(*last)) {
            (a, b) if a == b => format!("line {a}"),
            (a, b) => format!("lines {a} to {b}"),
        };
        if self.lives.is_empty() {
            "never".to_string()
        } else {
            self.lives.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    }

    /// The name; a ring is marked as one.
    fn title(&self) -> String {
        if self.slots.is_some() { format!("ring {}", self.name) } else { self.name.clone() }
    }
}

impl MemoryFacts {
    /// Bytes that the compiler can allocate for tiles and rings.
    pub fn usable(&self) -> u64 {
        self.capacity.saturating_sub(self.reserved)
    }

    /// Bytes that are in use at any time.
    pub fn used(&self) -> u64 {
        covered(self.buffers.iter().map(BufferPlace::range))
    }

    /// The most bytes in use at the same time.
    pub fn peak(&self) -> u64 {
        let at = |step: usize| covered(self.buffers.iter().filter(|b| b.in_use(step)).map(BufferPlace::range));
        (0..self.lines.len().max(1)).map(at).max().unwrap_or(0)
    }

    /// Ranges of the usable bytes that are never in use.
    pub fn gaps(&self) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        let mut end = 0;
        for range in merged(self.buffers.iter().map(BufferPlace::range)) {
            gaps.extend((range.start > end).then_some(end..range.start));
            end = range.end;
        }
        gaps.extend((end < self.usable()).then(|| end..self.usable()));
        gaps
    }

    fn capacity(&self) -> String {
        let usable = self.usable();
        if self.reserved > 0 {
            format!("{usable} bytes ({} more are reserved)", self.reserved)
        } else {
            format!("{usable} bytes")
        }
    }

    fn summary(&self) -> String {
        let percent = |n: u64| 100 * n / self.usable().max(1);
        let (peak, used) = (self.peak(), self.used());
        format!("at most {peak} in use at the same time ({} %), {used} ever ({} %)", percent(peak), percent(used))
    }
}

fn merged(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = ranges.collect();
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

fn covered(ranges: impl Iterator<Item = Range<u64>>) -> u64 {
    merged(ranges).iter().map(|r| r.end - r.start).sum()
}

/// A table for each memory: its buffers and free ranges by address.
pub fn memory_text(memories: &[MemoryFacts]) -> String {
    let mut text = String::new();
    for memory in memories {
        text += &format!("{}{}: {}\n", if text.is_empty() { "" } else { "\n" }, memory.title, memory.capacity());
        text += &format!("  {}\n", memory.summary());
        let mut table = Table::new(0, &["address", "bytes", "line", "name", "in use"]).left(&[3, 4]);
        let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
        for buffer in &memory.buffers {
            let [address, bytes] = [buffer.address, buffer.bytes].map(|n| n.to_string());
            let line = buffer.line.to_string();
            rows.push((buffer.address, vec![address, bytes, line, buffer.title(), buffer.time(&memory.lines)]));
        }
        for gap in memory.gaps() {
            let [address, bytes] = [gap.start, gap.end - gap.start].map(|n| n.to_string());
            rows.push((gap.start, vec![address, bytes, String::new(), "free".to_string(), String::new()]));
        }
        rows.sort_by_key(|(address, _)| *address);
        rows.into_iter().for_each(|(_, row)| table.row(row));
        text += &table.render();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn tile(name: &str, address: u64, bytes: u64, life: [usize; 2]) -> BufferPlace {
        BufferPlace { name: name.into(), line: Line::new(3, None), address, bytes, slots: None, lives: vec![life] }
    }

    pub(super) fn memory() -> MemoryFacts {
        let ring = BufferPlace { slots: Some(2), lives: Vec::new(), ..tile("c2v", 65_536, 65_536, [0, 0]) };
        MemoryFacts {
            title: "k: Vector cores, vec".into(),
            capacity: 196_608,
            reserved: 8192,
            lines: [10, 11, 12, 14].map(|n| Line::new(n, None)).to_vec(),
            buffers: vec![
                tile("%a", 0, 16_384, [0, 1]),
                tile("%b", 0, 16_384, [2, 3]),
                tile("%<c>", 32_768, 8192, [1, 2]),
                ring,
            ],
        }
    }

    #[test]
    fn figures() {
        let memory = memory();
        assert_eq!((memory.usable(), memory.used(), memory.peak()), (188_416, 90_112, 90_112));
        assert_eq!(memory.gaps(), [16_384..32_768, 40_960..65_536, 131_072..188_416]);
    }

    #[test]
    fn the_table_names_everything_by_address() {
        let text = memory_text(&[memory()]);
        let rows: Vec<Vec<&str>> = text.lines().skip(3).map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["0", "16384", "3", "%a", "lines", "10", "to", "11"], "{text}");
        assert_eq!(rows[2], ["16384", "16384", "free"], "{text}");
        assert_eq!(rows[5], ["65536", "65536", "3", "ring", "c2v", "always,", "2", "slots", "of", "32768"], "{text}");
        assert_eq!(rows[6], ["131072", "57344", "free"], "{text}");
    }

    #[test]
    fn the_picture_names_the_file_of_a_line_of_another_one() {
        let own = memory_svg(&[memory()]);
        assert!(own.contains("width=\"1060\"") && own.contains(">10</text>"), "{own}");
        let mut memory = memory();
        memory.lines[0] = Line::new(7, Some("helpers/of_all.py"));
        let svg = memory_svg(&[memory]);
        // Wide enough for the longest name.
        assert!(svg.contains("x=\"155.4\"") && svg.contains(">7 of helpers/of_all.py</text>"), "{svg}");
    }

    #[test]
    fn the_picture_escapes_names_and_is_the_same_every_time() {
        let svg = memory_svg(&[memory()]);
        assert!(svg.contains("%&lt;c&gt;") && !svg.contains("<c>"), "{svg}");
        assert_eq!(svg, memory_svg(&[memory()]));
        assert_eq!(svg.matches("class=\"tile\"").count(), 3);
        // The legend contains one as well.
        assert_eq!(svg.matches("class=\"ring\"").count(), 2);
    }
}
