//! The commands of a session, and their output.

use std::fmt::Write;

use slipring_ir::Line;
use slipring_program::ParamKind;
use slipring_report::{Number, digest, numbers};
use slipring_tile::Elem;

use super::Session;
use slipring_session::TileContents;

/// Number of events that `log` shows.
const LOG: usize = 8;

/// Default number of rows and columns shown.
const ROWS: usize = 4;
const COLUMNS: usize = 6;

/// The commands, for `help`.
const WORDS: &str = "\
next [N], back [N]    one event on or back, or N
step, rstep           along this core or pipe to another line of the source
line L, rline L       the next, the previous event of a line; `helper.py:12` is one of another file
op NAME, rop NAME     the next, the previous event whose name has this in it
signal [NAME], rsignal [NAME]  the next, the previous signal that is sent or taken
follow, rfollow       a tile through its ring, a signal to its wait, an operation to its signal; or back
tile K of RING        the way of the K-th tile, and where it is pushed
until COND, runtil COND  where a condition comes to hold: slot 2 of ring C2V becomes full,
                      ring C2V becomes empty, byte 4096 of out is written, bytes 0..9 of x are read,
                      AIV1 waits, AIV0.V waits for C2V
cycle C               the last event that has begun at a cycle
findings, finding K   all findings; the moment of one, by its number
start, end            before the first event; the end of the run
where                 what every core and pipe is doing, what is queued, and who ends each wait
rings, flags          how full each ring is; how often each signal was sent and taken
show NAME             what a tile or a buffer holds once the present cycle is over
show NAME[A:B, C:D]   these rows and columns of it; of a buffer these elements: show out[0:64]
hold N                what if the present operation took N cycles longer: starts another run
held, release         what is held, as `slipring run --schedule` reads it; let go of all of it
log [N]               the last events
list                  the source around the line
help, quit
";

/// Parses `12`, or `helper.py:12` for a line of another file.
fn line_said(text: &str) -> Result<Line, String> {
    let (file, number) = text.rsplit_once(':').map_or((None, text), |(file, number)| (Some(file.into()), number));
    let number = number.trim().parse().map_err(|_| format!("`{text}` is not a line: `12`, or `helper.py:12`\n"))?;
    Ok(Line { file, number })
}

impl Session {
    /// Executes a command. `None` ends the session.
    pub fn said(&mut self, line: &str) -> Option<String> {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let number = |least: u64| match rest {
            "" => Ok(least),
            digits => digits.parse::<u64>().map_err(|_| format!("`{digits}` is not a number\n")),
        };
        let (begun, _) = self.place_in_time();
        let told = match (word, rest) {
            ("", "") => Ok(String::new()),
            ("quit" | "q" | "exit", "") => return None,
            ("help" | "h", "") => Ok(WORDS.to_string()),
            ("next" | "n", _) => number(1).map(|n| self.go(begun.saturating_add(n as usize))),
            ("back" | "b", _) => number(1).map(|n| self.go(begun.saturating_sub(n as usize))),
            ("step" | "s", "") => self.step(true),
            ("rstep", "") => self.step(false),
            ("start", "") => Ok(self.go(0)),
            ("end", "") => Ok(self.at(self.history().end())),
            ("cycle" | "c", _) => number(0).map(|cycle| self.at(cycle)),
            ("line" | "l" | "rline", _) => line_said(rest).and_then(|line| {
                let row = self.source().row_of(&line);
                self.find(word != "rline", |own, event| row.is_some() && own.row(event) == row)
            }),
            ("op" | "rop", _) => {
                let named = self.history().names_with(rest);
                self.find(word == "op", |own, event| named[own.name(event)])
            }
            ("signal", _) => self.find(true, |own, event| own.is_signal(event, rest)),
            ("rsignal", _) => self.find(false, |own, event| own.is_signal(event, rest)),
            ("follow", "") => self.follow(true),
            ("rfollow", "") => self.follow(false),
            ("tile", _) => self.tile(rest),
            ("until" | "u", _) => self.until(true, rest),
            ("runtil", _) => self.until(false, rest),
            ("findings", "") => Ok(self.title()),
            ("finding" | "f", _) => number(1).and_then(|at| self.finding(at as usize)),
            ("where" | "w", "") => Ok(self.place()),
            ("rings" | "r", "") => {
                let rings = self.history().rings(self.place_in_time().1);
                Ok(if rings.is_empty() { "no rings\n".into() } else { rings.join("\n") + "\n" })
            }
            ("flags", "") => Ok(self.flags()),
            ("hold", _) => number(1000).and_then(|cycles| self.hold(cycles)),
            ("held", "") => Ok(self.held()),
            ("release", "") => self.release(),
            ("show" | "p", _) => self.show(rest),
            ("log", _) => number(LOG as u64).map(|n| {
                let first = begun.saturating_sub(n as usize);
                (first..begun).map(|event| self.event(event)).collect()
            }),
            ("list", "") => Ok(self.around()),
            _ => Err(format!("there is no command `{}`: `help` lists them\n", line.trim())),
        };
        Some(told.unwrap_or_else(|wrong| wrong))
    }

    /// Buffer arguments: their names, element types and indices.
    pub fn buffers(&self) -> Vec<(String, Elem, usize)> {
        let params = &self.history().run().compiled.prepared.decoded.program.params;
        let passed = params.iter().filter(|param| param.is_passed()).enumerate();
        let buffers = passed.filter_map(|(at, param)| match param.kind {
            ParamKind::Buffer { elem, .. } => Some((param.name.trim_start_matches('%').to_string(), elem, at)),
            _ => None,
        });
        buffers.collect()
    }

    /// Names of the tiles with known addresses.
    pub fn tile_names(&self) -> Vec<String> {
        self.history().run().compiled.tile_names()
    }

    /// The size in bytes of a tile of this name.
    pub fn tile_bytes(&self, name: &str) -> Option<usize> {
        self.history().run().compiled.tile_places(name).first().map(|(.., bytes)| *bytes as usize)
    }

    /// The contents of a buffer at the end of the current cycle.
    pub fn buffer(&mut self, at: usize) -> Option<Vec<u8>> {
        self.moment();
        let run = self.history().run();
        self.moment_now().and_then(|execution| execution.buffer(&run.bound, at)).map(<[u8]>::to_vec)
    }

    /// The contents of the tiles of a name at the end of the current cycle, on the cluster of the current event.
    pub fn tiles(&mut self, name: &str) -> Vec<TileContents> {
        self.tiles_of(Some(name))
    }

    /// The contents of all tiles with known addresses.
    pub fn all_tiles(&mut self) -> Vec<TileContents> {
        self.tiles_of(None)
    }

    fn tiles_of(&mut self, name: Option<&str>) -> Vec<TileContents> {
        let cluster = self.cluster();
        self.moment();
        let compiled = &self.history().run().compiled;
        self.moment_now().map_or_else(Vec::new, |execution| compiled.tiles_in(&execution.result.memory, cluster, name))
    }

    /// The contents of a tile or a buffer, as text.
    pub fn show(&mut self, said: &str) -> Result<String, String> {
        let (name, part) = match said.split_once('[') {
            Some((name, part)) => (name.trim(), Some(Part::read(part)?)),
            None => (said, None),
        };
        let name = name.trim_start_matches('%');
        if name.is_empty() {
            let buffers = self.buffers().into_iter().map(|(name, ..)| name);
            let known: Vec<String> = buffers.chain(self.tile_names()).collect();
            return Err(format!("`show` needs the name of a tile or of a parameter: {}\n", known.join(", ")));
        }
        let mut text = format!("once cycle {} is over\n", self.place_in_time().1);
        for (_, elem, at) in self.buffers().into_iter().filter(|(own, ..)| own == name) {
            if let Some(bytes) = self.buffer(at) {
                let _ = writeln!(text, "{name}: {}", buffer_contents(elem, &bytes));
                let all = decoded(elem, &bytes);
                let (first, last) = part.as_ref().map_or((0, COLUMNS), |part| part.rows);
                let _ = writeln!(text, "  {}", shown(&all, first, last));
            }
        }
        for tile in self.tiles(name) {
            text += &tile_text(&tile, part.as_ref());
        }
        if text.lines().count() == 1 {
            return Err(format!("there is no tile and no buffer `{name}` whose address is known\n"));
        }
        Ok(text)
    }
}

/// A requested range of rows and columns.
struct Part {
    rows: (usize, usize),
    columns: (usize, usize),
}

impl Part {
    /// Parses `0:4, 8:16]`.
    fn read(text: &str) -> Result<Part, String> {
        let wrong = || format!("`[{text}` is not a slice such as `[0:4]` or `[0:4, 8:16]`\n");
        let range = |text: &str| {
            let (first, last) = text.trim().split_once(':').ok_or_else(wrong)?;
            let number = |text: &str, none| if text.trim().is_empty() { Ok(none) } else { text.trim().parse() };
            let range = (number(first, 0).map_err(|_| wrong())?, number(last, usize::MAX).map_err(|_| wrong())?);
            if range.0 <= range.1 { Ok(range) } else { Err(wrong()) }
        };
        let inner = text.trim().strip_suffix(']').ok_or_else(wrong)?;
        match inner.split_once(',') {
            Some((rows, columns)) => Ok(Part { rows: range(rows)?, columns: range(columns)? }),
            None => Ok(Part { rows: range(inner)?, columns: (0, usize::MAX) }),
        }
    }
}

fn tile_text(tile: &TileContents, part: Option<&Part>) -> String {
    let mut text = format!("{}: {}\n", tile.name, tile_contents(tile));
    let (first, last) = part.map_or((0, ROWS), |part| part.rows);
    let (from, to) = part.map_or((0, COLUMNS), |part| part.columns);
    for at in first..last.min(tile.shape[0] as usize) {
        let _ = writeln!(text, "  {}", shown(&decoded(tile.elem, tile.row(at as u32)), from, to));
    }
    text
}

/// A range of a row of numbers; `…` if more follow.
fn shown(all: &[Number], from: usize, to: usize) -> String {
    let to = to.min(all.len());
    format!("{}{}", row(all.get(from..to).unwrap_or_default()), if to < all.len() { " …" } else { "" })
}

/// Shape and address of a tile, its smallest and its largest element.
pub fn tile_contents(tile: &TileContents) -> String {
    let ([rows, cols], ends) = (tile.shape, ends(tile.elem, &tile.elements));
    format!("{rows}x{cols} in {} of {} at {:#x}{ends}", tile.space, tile.core, tile.address)
}

/// Size of a buffer, its smallest and its largest element.
pub fn buffer_contents(elem: Elem, bytes: &[u8]) -> String {
    format!("{} bytes of {elem}{}", bytes.len(), ends(elem, bytes))
}

/// `, -1 to 2.5`: the smallest and the largest element.
fn ends(elem: Elem, bytes: &[u8]) -> String {
    let digest = digest(elem, bytes);
    let ends = digest.min.zip(digest.max);
    ends.map_or(String::new(), |(least, most)| format!(", {} to {}", number(&least), number(&most)))
}

/// Bytes as numbers.
pub fn decoded(elem: Elem, bytes: &[u8]) -> Vec<Number> {
    bytes.chunks_exact(elem.bytes()).flat_map(|one| numbers(elem, one)).collect()
}

/// Numbers separated by spaces.
pub fn row(numbers: &[Number]) -> String {
    numbers.iter().map(number).collect::<Vec<_>>().join(" ")
}

/// A number as text.
fn number(number: &Number) -> String {
    match number {
        Number::Signed(x) => x.to_string(),
        Number::Unsigned(x) => x.to_string(),
        Number::Float(x) => format!("{:.5}", x).trim_end_matches('0').trim_end_matches('.').to_string(),
    }
}
