//! The commands of a session, and their output.

use std::fmt::Write;
use std::ops::Range;

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
findings, finding [K] all findings; the moment of one, by its number
start, end            before the first event; the end of the run
where                 what every core and pipe is doing, what is queued, and who ends each wait
rings, flags          how full each ring is; how often each signal was sent and taken
show NAME             what a tile, a buffer or a value holds once the present cycle is over
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
    /// The output of a command, or the reason why it was not executed. `None` ends the session.
    pub fn said(&mut self, line: &str) -> Option<String> {
        Some(self.command(line)?.unwrap_or_else(|wrong| wrong))
    }

    /// Executes a command. `None` ends the session.
    ///
    /// # Errors
    ///
    /// The inner result: the reason why it was not executed.
    pub fn command(&mut self, line: &str) -> Option<Result<String, String>> {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let number = |default: Option<u64>| match (rest, default) {
            ("", Some(number)) => Ok(number),
            ("", None) => Err(format!("`{word}` needs a number: `{word} 12`\n")),
            (digits, _) => digits.parse::<u64>().map_err(|_| format!("`{digits}` is not a number\n")),
        };
        let (begun, _) = self.place_in_time();
        let told = match (word, rest) {
            ("", "") => Ok(String::new()),
            ("quit" | "q" | "exit", "") => return None,
            ("help" | "h", "") => Ok(WORDS.to_string()),
            ("next" | "n", _) => number(Some(1)).map(|n| self.go(begun.saturating_add(n as usize))),
            ("back" | "b", _) => number(Some(1)).map(|n| self.go(begun.saturating_sub(n as usize))),
            ("step" | "s", "") => self.step(true),
            ("rstep", "") => self.step(false),
            ("start", "") => Ok(self.go(0)),
            ("end", "") => Ok(self.at(self.history().end())),
            ("cycle" | "c", _) => number(None).map(|cycle| self.at(cycle)),
            ("line" | "l" | "rline", _) => line_said(rest).and_then(|line| {
                let row = self.source().row_of(&line).ok_or_else(|| format!("the run has no line {line}\n"))?;
                self.find(word != "rline", |own, event| own.row(event) == Some(row))
            }),
            ("op" | "rop", "") => Err(format!("`{word}` needs a part of an event's name: `{word} tload`\n")),
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
            ("finding" | "f", _) => number(Some(1)).and_then(|at| self.finding(at as usize)),
            ("where" | "w", "") => Ok(self.place()),
            ("rings" | "r", "") => {
                let rings = self.history().rings(self.place_in_time().1);
                Ok(if rings.is_empty() { "no rings\n".into() } else { rings.join("\n") + "\n" })
            }
            ("flags", "") => Ok(self.flags()),
            ("hold", _) => number(None).and_then(|cycles| self.hold(cycles)),
            ("held", "") => Ok(self.held()),
            ("release", "") => self.release(),
            ("show" | "p", _) => self.show(rest),
            ("log", _) => number(Some(LOG as u64)).map(|n| {
                let first = begun.saturating_sub(n as usize);
                (first..begun).map(|event| self.event(event)).collect()
            }),
            ("list", "") => Ok(self.around()),
            _ => Err(format!("there is no command `{}`: `help` lists them\n", line.trim())),
        };
        Some(told)
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

    /// The scalar arguments of a name, as text.
    fn values(&self, name: &str) -> String {
        let run = self.history().run();
        let params = run.compiled.prepared.decoded.program.params.iter().filter(|param| param.is_passed());
        let mut text = String::new();
        for (param, bound) in params.zip(&run.bound).filter(|(param, _)| param.name.trim_start_matches('%') == name) {
            let Some(bits) = bound.bits() else { continue };
            let (value, ty) = match param.kind {
                ParamKind::Scalar(elem) => (row(&decoded(elem, &bits.to_le_bytes()[..elem.bytes()])), elem.to_string()),
                ParamKind::Bool => ((bits != 0).to_string(), "i1".to_string()),
                ParamKind::Buffer { .. } | ParamKind::Scratch { .. } => continue,
            };
            let _ = writeln!(text, "{name}: {value}, an argument of type {ty}");
        }
        text
    }

    /// The contents of a tile, a buffer or a scalar argument, as text; the position is unchanged.
    ///
    /// # Errors
    ///
    /// A name that does not exist, or rows, columns or elements that it does not have.
    pub fn show(&mut self, said: &str) -> Result<String, String> {
        let (name, part) = match said.split_once('[') {
            Some((name, part)) => (name.trim(), Some(Part::read(part)?)),
            None => (said.trim(), None),
        };
        let name = name.trim_start_matches('%');
        if name.is_empty() {
            let params = self.history().run().compiled.prepared.decoded.program.params.iter();
            let params = params.filter(|param| param.is_passed());
            let params = params.map(|param| param.name.trim_start_matches('%').to_string());
            let known: Vec<String> = params.chain(self.tile_names()).collect();
            return Err(format!("`show` needs the name of a tile or of a parameter: {}\n", known.join(", ")));
        }
        // A name may be that of several: each is shown, or the reason why its part is not.
        let (mut text, mut wrong) = (String::new(), String::new());
        let mut add = |told: Result<String, String>| match told {
            Ok(told) => text += &told,
            Err(told) => wrong += &told,
        };
        for (_, elem, at) in self.buffers().into_iter().filter(|(own, ..)| own == name) {
            if let Some(bytes) = self.buffer(at) {
                add(buffer_text(name, elem, &bytes, part.as_ref()));
            }
        }
        self.tiles(name).iter().for_each(|tile| add(tile_text(tile, part.as_ref())));
        let values = self.values(name);
        match part {
            Some(_) if !values.is_empty() => add(Err(format!("`{name}` is a number, which has no parts\n"))),
            _ => add(Ok(values)),
        }
        match (text.is_empty(), wrong.is_empty()) {
            (true, true) => Err(format!("there is no tile and no buffer `{name}` whose address is known\n")),
            (true, false) => Err(wrong),
            _ => Ok(format!("once cycle {} is over\n{text}{wrong}", self.place_in_time().1)),
        }
    }
}

/// A requested range of rows, or of the elements of a buffer, and of columns.
struct Part {
    rows: Asked,
    columns: Option<Asked>,
}

/// The first of some rows, columns or elements, and the one after the last; `None` for all that follow.
#[derive(Clone, Copy)]
struct Asked(usize, Option<usize>);

impl Asked {
    /// The same as a range, if all of it exists.
    fn of(self, extent: usize) -> Option<Range<usize>> {
        let last = self.1.unwrap_or(extent);
        (self.0 < last && last <= extent).then_some(self.0..last)
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.0)?;
        self.1.map_or(Ok(()), |last| write!(f, "{last}"))
    }
}

impl Part {
    /// Parses `0:4, 8:16]`.
    fn read(text: &str) -> Result<Part, String> {
        let wrong = || format!("`[{text}` is not a slice such as `[0:4]` or `[0:4, 8:16]`\n");
        let range = |text: &str| {
            let (first, last) = text.trim().split_once(':').ok_or_else(wrong)?;
            let number = |text: &str| match text.trim() {
                "" => Ok(None),
                digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                    // A number that is too large for any extent remains one.
                    Ok(Some(digits.parse().unwrap_or(usize::MAX)))
                }
                _ => Err(wrong()),
            };
            let asked = Asked(number(first)?.unwrap_or(0), number(last)?);
            if asked.1.is_none_or(|last| asked.0 < last) { Ok(asked) } else { Err(wrong()) }
        };
        let inner = text.trim().strip_suffix(']').ok_or_else(wrong)?;
        match inner.split_once(',') {
            Some((rows, columns)) => Ok(Part { rows: range(rows)?, columns: Some(range(columns)?) }),
            None => Ok(Part { rows: range(inner)?, columns: None }),
        }
    }
}

/// A buffer, and some of its elements.
fn buffer_text(name: &str, elem: Elem, bytes: &[u8], part: Option<&Part>) -> Result<String, String> {
    let all = decoded(elem, bytes);
    let shown = match part {
        None => 0..COLUMNS.min(all.len()),
        Some(Part { columns: Some(_), .. }) => {
            let message = "is a buffer, whose elements have one index";
            return Err(format!("`{name}` {message}: `show {name}[A:B]`, of {} elements\n", all.len()));
        }
        Some(Part { rows, .. }) => rows.of(all.len()).ok_or_else(|| {
            format!("the buffer `{name}` has {} elements, from 0, and not those of `[{rows}]`\n", all.len())
        })?,
    };
    Ok(format!("{name}: {}\n  {}\n", buffer_contents(elem, bytes), elements(&all, shown)))
}

/// A tile, and some of its rows and columns.
fn tile_text(tile: &TileContents, part: Option<&Part>) -> Result<String, String> {
    let [height, width] = tile.shape.map(|extent| extent as usize);
    let (rows, columns) = match part {
        None => (0..ROWS.min(height), 0..COLUMNS.min(width)),
        Some(Part { rows, columns }) => {
            let own = (rows.of(height), columns.map_or(Some(0..width), |columns| columns.of(width)));
            let (Some(rows), Some(columns)) = own else {
                let asked = columns.map_or(String::new(), |columns| format!(", {columns}"));
                return Err(format!(
                    "the tile `{}` of {} has {height} rows and {width} columns, from 0, and not those of `[{rows}{asked}]`\n",
                    tile.name, tile.core
                ));
            };
            (rows, columns)
        }
    };
    let mut text = format!("{}: {}\n", tile.name, tile_contents(tile));
    for at in rows {
        let _ = writeln!(text, "  {}", elements(&decoded(tile.elem, tile.row(at as u32)), columns.clone()));
    }
    Ok(text)
}

/// A range of a row of numbers; `…` if more follow.
fn elements(all: &[Number], range: Range<usize>) -> String {
    let more = if range.end < all.len() { " …" } else { "" };
    format!("{}{more}", row(all.get(range).unwrap_or_default()))
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
