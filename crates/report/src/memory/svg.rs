//! The picture: addresses from left to right, the program from top to bottom, one rectangle per buffer.

use std::fmt::Write;

use super::{BufferPlace, MemoryFacts};

/// Width of the address area in pixels.
const PLOT: f64 = 960.0;
/// Minimum left margin, for source lines.
const LEFT: f64 = 64.0;
/// Gap between a source line and the address area.
const GAP: f64 = 8.0;
/// Right margin.
const RIGHT: f64 = 36.0;
/// Height shared by the steps of one memory.
const TALL: f64 = 400.0;
/// Width of a character.
const CHARACTER: f64 = 6.7;
/// Height of a line of text.
const LINE: f64 = 14.0;

/// Fill and outline of tiles, used in rotation.
const COLOURS: [(&str, &str); 7] = [
    ("#d5e6f7", "#3f78ac"),
    ("#dcefd7", "#558b45"),
    ("#efe0f5", "#8557a3"),
    ("#fadfe2", "#b95668"),
    ("#d3efec", "#358a80"),
    ("#ece7d8", "#857545"),
    ("#dfe1f6", "#5a60ad"),
];

const STYLE: &str = "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#333}\
    .title{font-size:14px;font-weight:600;fill:#111}.faint{fill:#777}.axis{stroke:#e4e4e4;stroke-width:1}\
    .edge{stroke:#c0392b;stroke-width:1.5;stroke-dasharray:5 3}.ring{fill:url(#hatch);stroke:#c48a12;stroke-width:1}\
    .slot{stroke:#c48a12;stroke-width:1;stroke-dasharray:2 3}.reserved{fill:#ececec}";

const HATCH: &str = "<pattern id=\"hatch\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" \
    patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\" fill=\"#fff6df\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\" \
    stroke=\"#f0cf85\" stroke-width=\"4\"/></pattern>";

/// A picture of memories, one below the other, as an SVG document.
pub fn memory_svg(memories: &[MemoryFacts]) -> String {
    let mut body = String::new();
    let mut y = 16.0;
    let left = left(memories);
    legend(&mut body, left, y);
    y += 50.0;
    for memory in memories {
        y = Panel { memory, left, top: y, shown: shown(memory) }.draw(&mut body) + 34.0;
    }
    let width = left + PLOT + RIGHT;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{y:.0}\" viewBox=\"0 0 {width:.0} {y:.0}\">\n\
         <style>{STYLE}</style>\n<defs>{HATCH}</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// The width of the source lines; lines of other files include the file name.
fn left(memories: &[MemoryFacts]) -> f64 {
    let lines = memories.iter().flat_map(|memory| &memory.lines);
    let longest = lines.map(|line| line.to_string().chars().count()).max().unwrap_or(0);
    LEFT.max(longest as f64 * CHARACTER + 2.0 * GAP)
}

fn legend(out: &mut String, left: f64, y: f64) {
    let (fill, stroke) = COLOURS[0];
    let swatch = |x: f64, class: &str| format!("<rect x=\"{x}\" y=\"{y}\" width=\"22\" height=\"12\" {class}/>");
    let entries = [
        (format!("fill=\"{fill}\" stroke=\"{stroke}\""), "tile, while in use"),
        ("class=\"ring\"".to_string(), "ring, in use all the time"),
        ("class=\"reserved\"".to_string(), "reserved"),
    ];
    let mut x = left;
    for (class, what) in entries {
        let _ = writeln!(out, "{}<text x=\"{}\" y=\"{}\">{what}</text>", swatch(x, &class), x + 28.0, y + 10.0);
        x += 60.0 + CHARACTER * what.len() as f64;
    }
    let _ = writeln!(
        out,
        "<line class=\"edge\" x1=\"{x}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\"/><text x=\"{2}\" y=\"{3}\">capacity</text>\
         <text class=\"faint\" x=\"{left}\" y=\"{4}\">addresses to the right, program downwards (source lines)</text>",
        y + 6.0,
        x + 22.0,
        x + 28.0,
        y + 10.0,
        y + 28.0
    );
}

/// The number of bytes that the width covers: all, or somewhat more than is used where that is little.
fn shown(memory: &MemoryFacts) -> u64 {
    let end = memory.buffers.iter().map(|b| b.range().end).max().unwrap_or(0);
    if end.saturating_mul(3) >= memory.capacity { memory.capacity.max(end) } else { (end + end / 3).max(1024) }
}

struct Panel<'a> {
    memory: &'a MemoryFacts,
    left: f64,
    top: f64,
    shown: u64,
}

impl Panel<'_> {
    fn x(&self, address: u64) -> f64 {
        self.left + PLOT * address.min(self.shown) as f64 / self.shown.max(1) as f64
    }

    fn steps(&self) -> usize {
        self.memory.lines.len().max(1)
    }

    fn row(&self) -> f64 {
        (TALL / self.steps() as f64).clamp(5.0, 26.0)
    }

    fn height(&self) -> f64 {
        (self.row() * self.steps() as f64).max(44.0)
    }

    /// The left edge of the rectangles.
    fn plot(&self) -> f64 {
        self.top + 3.0 * LINE + 8.0
    }

    /// Draws the memory and returns the y coordinate of its end.
    fn draw(&self, out: &mut String) -> f64 {
        let (memory, left) = (self.memory, self.left);
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"{left}\" y=\"{:.1}\">{}</text>\n<text class=\"faint\" x=\"{left}\" y=\"{:.1}\">{}</text>",
            self.top + LINE,
            escaped(&memory.title),
            self.top + 2.0 * LINE + 2.0,
            escaped(&format!("{}; {}", memory.capacity(), memory.summary())),
        );
        self.grid(out);
        let mut unnamed = Vec::new();
        let mut colour = 0;
        for buffer in &memory.buffers {
            if let Some(slots) = buffer.slots {
                self.ring(out, buffer, slots);
                continue;
            }
            let look = COLOURS[colour % COLOURS.len()];
            colour += 1;
            // One label is enough, on the rectangle with the most space.
            let longest = buffer.lives.iter().max_by_key(|[first, last]| (last - first, usize::MAX - first));
            let named = buffer.lives.iter().filter(|life| self.tile(out, buffer, **life, look, Some(*life) == longest));
            if named.count() == 0 {
                unnamed.push(format!(
                    "{} at {} ({} bytes, {})",
                    buffer.name,
                    buffer.address,
                    buffer.bytes,
                    buffer.time(&memory.lines)
                ));
            }
        }
        self.edges(out);
        self.footnote(out, &unnamed)
    }

    fn grid(&self, out: &mut String) {
        let (top, bottom) = (self.plot(), self.plot() + self.height());
        let ticks = [1024, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144];
        let every = ticks.into_iter().find(|n| self.shown / n <= 16).unwrap_or(self.shown.max(1));
        for address in (0..=self.shown).step_by(every as usize) {
            let x = self.x(address);
            let _ = writeln!(
                out,
                "<line class=\"axis\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\
                 <text class=\"faint\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                bottom + LINE,
                if address == 0 { "0".to_string() } else { format!("{}K", address / 1024) },
            );
        }
        let mut free_from = top;
        for (step, line) in self.memory.lines.iter().enumerate() {
            let y = top + self.row() * (step as f64 + 0.5) + 4.0;
            let repeated = step > 0 && self.memory.lines[step - 1] == *line;
            if y - 8.0 >= free_from && !repeated {
                let _ = writeln!(
                    out,
                    "<text class=\"faint\" text-anchor=\"end\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                    self.left - GAP,
                    escaped(&line.to_string())
                );
                free_from = y + 4.0;
            }
        }
    }

    fn ring(&self, out: &mut String, ring: &BufferPlace, slots: u32) {
        let (x, width) = self.across(ring);
        let (y, height) = (self.plot(), self.height());
        let _ = writeln!(
            out,
            "<g><title>{}</title><rect class=\"ring\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
            self.tip(ring)
        );
        if slots > 1 && width / f64::from(slots) > 6.0 {
            for slot in 1..slots {
                let at = x + width * f64::from(slot) / f64::from(slots);
                let _ = write!(
                    out,
                    "<line class=\"slot\" x1=\"{at:.1}\" y1=\"{y:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\"/>",
                    y + height
                );
            }
        }
        let what =
            if slots > 1 { format!("{} × {}", slots, ring.bytes / u64::from(slots)) } else { ring.bytes.to_string() };
        self.label(out, (x, y, width, height), &ring.title(), &what, "#7a5200");
        let _ = writeln!(out, "</g>");
    }

    /// Draws a tile's rectangle for one live range. True if its label fits.
    fn tile(
        &self,
        out: &mut String,
        tile: &BufferPlace,
        life: [usize; 2],
        (fill, stroke): (&str, &str),
        name: bool,
    ) -> bool {
        let (x, width) = self.across(tile);
        let y = self.plot() + self.row() * life[0] as f64;
        let height = self.row() * (life[1] - life[0] + 1) as f64;
        let _ = write!(
            out,
            "<g><title>{}</title><rect class=\"tile\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"2\" \
             fill=\"{fill}\" stroke=\"{stroke}\"/>",
            self.tip(tile),
            y + 0.5,
            height - 1.0,
        );
        let named = name && self.label(out, (x, y, width, height), &tile.name, &tile.bytes.to_string(), stroke);
        let _ = writeln!(out, "</g>");
        named
    }

    fn across(&self, buffer: &BufferPlace) -> (f64, f64) {
        let range = buffer.range();
        let (start, end) = (self.x(range.start), self.x(range.end));
        (start, (end - start).max(1.5))
    }

    /// Writes a name and a second line into a rectangle, along the side that has space. False if neither side has.
    fn label(
        &self,
        out: &mut String,
        (x, y, width, height): (f64, f64, f64, f64),
        name: &str,
        more: &str,
        colour: &str,
    ) -> bool {
        let (middle, centre) = (x + width / 2.0, y + height / 2.0);
        let length = |text: &str| CHARACTER * text.chars().count() as f64 + 6.0;
        let upright = length(name) <= width && height >= LINE - 3.0;
        let (along, across) = if upright { (width, height) } else { (height, width) };
        if length(name) > along || across < LINE - 3.0 {
            return false;
        }
        let rotation =
            if upright { String::new() } else { format!(" transform=\"rotate(-90 {middle:.1} {centre:.1})\"") };
        let both = length(more) <= along && across >= 2.0 * LINE;
        let first = centre + if both { -2.0 } else { 4.0 };
        let _ = write!(
            out,
            "<g text-anchor=\"middle\"{rotation}><text x=\"{middle:.1}\" y=\"{first:.1}\" style=\"fill:{colour};font-weight:600\">{}</text>",
            escaped(name)
        );
        if both {
            let _ =
                write!(out, "<text x=\"{middle:.1}\" y=\"{:.1}\" class=\"faint\">{more}</text>", first + LINE - 1.0);
        }
        out.push_str("</g>");
        true
    }

    /// Marks the end of the usable memory, and of the memory.
    fn edges(&self, out: &mut String) {
        let (top, height) = (self.plot(), self.height());
        let usable = self.memory.usable();
        if self.shown < usable {
            let _ = writeln!(
                out,
                "<text class=\"faint\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">nothing beyond, up to {usable} →</text>",
                self.left + PLOT,
                top - 4.0
            );
            return;
        }
        let (from, to) = (self.x(usable), self.x(self.memory.capacity));
        if to > from {
            let _ = writeln!(
                out,
                "<rect class=\"reserved\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
                to - from
            );
        }
        let _ = writeln!(
            out,
            "<line class=\"edge\" x1=\"{from:.1}\" y1=\"{:.1}\" x2=\"{from:.1}\" y2=\"{:.1}\"/>\
             <text text-anchor=\"end\" style=\"fill:#c0392b\" x=\"{from:.1}\" y=\"{:.1}\">{usable}</text>",
            top - 4.0,
            top + height + 2.0,
            top - 7.0,
        );
    }

    /// Lists the buffers whose names do not fit.
    fn footnote(&self, out: &mut String, unnamed: &[String]) -> f64 {
        let mut y = self.plot() + self.height() + LINE + 4.0;
        let most = (PLOT / CHARACTER) as usize;
        let mut line = String::new();
        let mut lines = Vec::new();
        for (at, what) in unnamed.iter().enumerate() {
            let item = format!("{}{what}", if at == 0 { "narrow: " } else { "; " });
            if !line.is_empty() && line.chars().count() + item.chars().count() > most {
                lines.push(std::mem::take(&mut line));
            }
            line += &item;
        }
        lines.extend((!line.is_empty()).then_some(line));
        for line in lines {
            y += LINE;
            let text = escaped(line.trim_start_matches("; "));
            let _ = writeln!(out, "<text class=\"faint\" x=\"{}\" y=\"{y:.1}\">{text}</text>", self.left);
        }
        y
    }

    /// The tooltip of a rectangle.
    fn tip(&self, buffer: &BufferPlace) -> String {
        let (range, time) = (buffer.range(), buffer.time(&self.memory.lines));
        escaped(&format!(
            "{}: {} bytes at {} to {}, declared in line {}, in use {time}",
            buffer.title(),
            buffer.bytes,
            range.start,
            range.end,
            buffer.line
        ))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
