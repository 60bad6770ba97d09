//! A finding as a picture: the two pipes of a race and the missing edge; the waits of a deadlock. Lines and dashes
//! carry the information, not colours.

use std::fmt::Write;

use slipring_finding::{Holes, Kind, Line, Party, Start, Waiting};

use crate::MessageFacts;

/// Width of a character.
const CHARACTER: f64 = 7.3;
/// Height of a row.
const ROW: f64 = 46.0;
/// Maximum number of waits drawn.
const MOST: usize = 8;

/// The picture as an SVG element; `None` for findings that have none.
pub fn picture(finding: &MessageFacts) -> Option<String> {
    match &finding.kind {
        Kind::Race(parties) => Some(race(parties, [finding.also.first()?.at(), finding.at()?])),
        Kind::Deadlock(waits) if !waits.is_empty() => Some(deadlock(waits)),
        Kind::OutOfBounds(miss) => miss.start().map(bounds).or_else(|| places(finding)),
        Kind::UninitialisedRead(Some(own)) | Kind::UninitialisedOutput(Some(own)) | Kind::OutputInPart(Some(own)) => {
            Some(holes(own))
        }
        _ => places(finding).or_else(|| half(finding)),
    }
}

/// The missing counterpart of a finding, and whether it would come first; `None` for findings of another kind.
fn missing(kind: &Kind) -> Option<(&'static str, bool)> {
    Some(match kind {
        Kind::FlagLeftSet | Kind::SignalLeftOver => ("no wait", false),
        Kind::FlagOverflow => ("no wait", true),
        Kind::FlagNeverSet => ("no set", true),
        Kind::TileNeverPopped => ("no pop", false),
        Kind::SlotNotFreed => ("no free", false),
        Kind::TokenNotReleased => ("not given back", false),
        Kind::TokenNotHeld => ("not taken", true),
        _ => return None,
    })
}

/// A location in the source and, dashed, its missing counterpart.
fn half(finding: &MessageFacts) -> Option<String> {
    let (missing, before) = missing(&finding.kind)?;
    let number = finding.line?;
    let there = match finding.label.as_str() {
        "" => format!("line {number}"),
        label => format!("line {number}: {label}"),
    };
    let widths = [wide(&there) + 20.0, wide(missing) + 20.0];
    let order = if before { [1, 0] } else { [0, 1] };
    let (first, second) = (10.0, 10.0 + widths[order[0]] + 110.0);
    let at = |which: usize| if order[0] == which { first } else { second };
    let y = 28.0;
    let mut body = boxed(at(0), y, widths[0], &there);
    let _ = write!(
        body,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"26\" rx=\"3\" fill=\"none\" stroke=\"currentColor\" \
         stroke-dasharray=\"5 4\"/>{}",
        at(1),
        y - 13.0,
        widths[1],
        text(at(1) + widths[1] / 2.0, y + 4.0, "middle", missing)
    );
    let from = first + widths[order[0]];
    body += &line((from, y), (second, y), "stroke-width=\"1.5\" stroke-dasharray=\"5 4\" marker-end=\"url(#head)\"");
    let x = (from + second) / 2.0;
    body += &line((x - 7.0, y - 7.0), (x + 7.0, y + 7.0), "stroke-width=\"2.5\"");
    body += &line((x - 7.0, y + 7.0), (x + 7.0, y - 7.0), "stroke-width=\"2.5\"");
    let about = if before { format!("{missing} before {there}") } else { format!("{there}; {missing} after it") };
    Some(svg((second + widths[order[1]] + 20.0).max(320.0), 56.0, &about, &body))
}

/// Width of the bar that represents a range of bytes.
const BAR: f64 = 520.0;

/// A byte axis: maps byte offsets to x coordinates.
struct Ruler {
    from: i128,
    to: i128,
}

impl Ruler {
    fn at(&self, byte: i128) -> f64 {
        20.0 + BAR * (byte - self.from) as f64 / (self.to - self.from).max(1) as f64
    }

    /// A box from one byte to another, at least one pixel wide.
    fn span(&self, from: i128, to: i128, y: f64, more: &str) -> String {
        let (x, width) = (self.at(from), (self.at(to) - self.at(from)).max(1.5));
        format!("<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"20\" stroke=\"currentColor\" {more}/>")
    }

    /// Labels of bytes below a row, as many as fit.
    fn names(&self, bytes: &[i128], y: f64) -> String {
        let (mut text_of, mut end) = (String::new(), f64::MIN);
        for byte in bytes {
            let (x, name) = (self.at(*byte), byte.to_string());
            let half = wide(&name) / 2.0;
            let x = x.max(half);
            if x - half > end + 8.0 {
                text_of += &text(x, y, "middle", &name);
                text_of += &line((self.at(*byte), y - 18.0), (self.at(*byte), y - 11.0), "");
                end = x + half;
            }
        }
        text_of
    }
}

/// The bytes of a buffer and the bytes that an access touches: bytes without dots below do not exist.
fn bounds(start: &Start) -> String {
    let (first, end) = (i128::from(start.byte), i128::from(start.byte) + i128::from(start.span));
    let size = i128::from(start.size);
    let ruler = Ruler { from: first.min(0), to: end.max(size) };
    let mut body = text(20.0, 16.0, "start", &format!("{}: {size} bytes", start.buffer));
    body += &ruler.span(0, size, 24.0, "fill=\"currentColor\" fill-opacity=\"0.15\"");
    body += &ruler.span(first, end, 52.0, "fill=\"none\" stroke-width=\"1.5\"");
    // The part of the access outside the buffer, dashed and crossed.
    let outside = if first < 0 { (first, end.min(0)) } else { (first.max(size), end) };
    body += &ruler.span(outside.0, outside.1, 52.0, "fill=\"none\" stroke-width=\"2.5\" stroke-dasharray=\"5 4\"");
    let (left, right) = (ruler.at(outside.0), ruler.at(outside.1).max(ruler.at(outside.0) + 1.5));
    body += &line((left, 52.0), (right, 72.0), "stroke-width=\"1.5\"");
    body += &line((left, 72.0), (right, 52.0), "stroke-width=\"1.5\"");
    let mut bytes = vec![0, first, size, end];
    bytes.sort_unstable();
    bytes.dedup();
    body += &ruler.names(&bytes, 92.0);
    let missing = outside.1 - outside.0;
    let about = format!("the access goes from byte {first} to before byte {end}; {missing} of its bytes do not exist");
    body += &text(20.0, 112.0, "start", &about);
    svg((BAR + 60.0).max(wide(&about) + 40.0), 122.0, &format!("{} has {size} bytes; {about}", start.buffer), &body)
}

/// The bytes of a buffer, or those that are read, with the ranges that were never written.
fn holes(own: &Holes) -> String {
    let ruler = Ruler { from: own.within.0.into(), to: own.within.1.into() };
    let mut body = text(20.0, 16.0, "start", &own.place);
    body += &ruler.span(ruler.from, ruler.to, 24.0, "fill=\"currentColor\" fill-opacity=\"0.15\"");
    let mut bytes = vec![ruler.from];
    for (from, to) in &own.runs {
        let (from, to) = (i128::from(*from), i128::from(*to));
        body += &ruler.span(from, to, 24.0, "class=\"under\" stroke-dasharray=\"5 4\"");
        bytes.extend([from, to]);
    }
    bytes.push(ruler.to);
    bytes.sort_unstable();
    bytes.dedup();
    body += &ruler.names(&bytes, 62.0);
    let Holes { count, bytes: total, .. } = own;
    let first = if *count > own.runs.len() as u64 {
        format!(" (the first {} are drawn)", own.runs.len())
    } else {
        String::new()
    };
    let about = match count {
        1 => format!("dashed: {total} bytes that nobody has written"),
        _ => format!("dashed: {count} runs of bytes that nobody has written, {total} bytes in all{first}"),
    };
    body += &text(20.0, 84.0, "start", &about);
    svg((BAR + 60.0).max(wide(&about) + 40.0), 94.0, &format!("{}; {about}", own.place), &body)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn wide(text: &str) -> f64 {
    CHARACTER * text.chars().count() as f64
}

/// An SVG with arrows; the arrowheads have an id that is unique in the page.
fn svg(width: f64, height: f64, about: &str, body: &str) -> String {
    format!(
        "<svg class=\"why\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" role=\"img\" aria-label=\"{}\">\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 Z\" fill=\"currentColor\"/></marker></defs>{body}</svg>",
        escaped(about)
    )
}

fn text(x: f64, y: f64, anchor: &str, what: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"currentColor\">{}</text>", escaped(what))
}

fn line(from: (f64, f64), to: (f64, f64), more: &str) -> String {
    format!(
        "<path d=\"M{:.1} {:.1} L{:.1} {:.1}\" fill=\"none\" stroke=\"currentColor\" {more}/>",
        from.0, from.1, to.0, to.1
    )
}

/// A box with centred text.
fn boxed(x: f64, y: f64, width: f64, what: &str) -> String {
    format!(
        "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"26\" rx=\"3\" fill=\"none\" stroke=\"currentColor\" \
         stroke-width=\"1.5\"/>{}",
        y - 13.0,
        text(x + width / 2.0, y + 4.0, "middle", what)
    )
}

/// Both pipes, one below the other, each with its access and source line, and the edge that would order them.
fn race(parties: &[Party; 2], lines: [Line; 2]) -> String {
    let row = |(party, line): (&Party, Line)| (party.who(), format!("{}, line {line}", party.verb()));
    let rows: Vec<(String, String)> = parties.iter().zip(lines).map(row).collect();
    let left = rows.iter().map(|(who, _)| wide(who)).fold(0.0, f64::max) + 24.0;
    let width = rows.iter().map(|(_, what)| wide(what)).fold(0.0, f64::max) + 20.0;
    let gap = 150.0;
    let (first, second) = (left + 20.0, left + 20.0 + width + gap);
    let end = second + width + 30.0;
    let mut body = String::new();
    for (at, (who, what)) in rows.iter().enumerate() {
        let (x, y) = ([first, second][at], 28.0 + ROW * at as f64);
        body += &line((left, y), (end, y), "stroke-opacity=\"0.35\"");
        body += &text(left - 10.0, y + 4.0, "end", who);
        // The row's own line must not cross the box.
        let _ = write!(
            body,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"26\" class=\"under\"/>",
            y - 13.0
        );
        body += &boxed(x, y, width, what);
    }
    let (from, to) = ((first + width, 28.0 + 10.0), (second, 28.0 + ROW - 10.0));
    body += &line(from, to, "stroke-width=\"1.5\" stroke-dasharray=\"5 4\" marker-end=\"url(#head)\"");
    let (x, y) = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    body += &line((x - 7.0, y - 7.0), (x + 7.0, y + 7.0), "stroke-width=\"2.5\"");
    body += &line((x - 7.0, y + 7.0), (x + 7.0, y - 7.0), "stroke-width=\"2.5\"");
    body += &text(x, 16.0, "middle", "no edge");
    body += &text(end, 28.0 + ROW + 34.0, "end", "nothing orders the two: either may come first");
    let about = format!("{} {}; {} {}; nothing orders the two", rows[0].0, rows[0].1, rows[1].0, rows[1].1);
    svg(end.max(560.0), 28.0 + ROW + 44.0, &about, &body)
}

/// The lines that a finding names, in source order, each with what happens there; the finding's own line is framed.
/// `None` for a finding with only one line, which its text already covers.
fn places(finding: &MessageFacts) -> Option<String> {
    let own = (finding.at()?, finding.label.as_str(), true);
    let also = finding.also.iter().map(|place| (place.at(), place.label.as_str(), false));
    let mut rows: Vec<(Line, &str, bool)> = also.chain([own]).filter(|(_, label, _)| !label.is_empty()).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let left_out = rows.len().saturating_sub(MOST);
    rows.truncate(MOST);
    let several = rows.first()?.0 != rows.last()?.0;
    if !several {
        return None;
    }
    let left = rows.iter().map(|(line, ..)| wide(&format!("line {line}"))).fold(0.0, f64::max) + 24.0;
    let width = rows.iter().map(|(_, label, _)| wide(label)).fold(0.0, f64::max) + 20.0;
    let mut body = line((left, 10.0), (left, 28.0 + ROW * (rows.len() - 1) as f64 + 18.0), "stroke-opacity=\"0.35\"");
    for (at, (number, label, framed)) in rows.iter().enumerate() {
        let y = 28.0 + ROW * at as f64;
        body += &text(left - 10.0, y + 4.0, "end", &format!("line {number}"));
        body += &line((left - 4.0, y), (left + 20.0, y), "stroke-width=\"1.5\"");
        body += &match framed {
            true => boxed(left + 20.0, y, width, label),
            false => text(left + 30.0, y + 4.0, "start", label),
        };
    }
    let mut height = 28.0 + ROW * (rows.len() - 1) as f64 + 28.0;
    if left_out > 0 {
        body += &text(left + 30.0, height, "start", &format!("… and {left_out} more"));
        height += 20.0;
    }
    let about: Vec<String> = rows.iter().map(|(line, label, _)| format!("line {line}: {label}")).collect();
    Some(svg((left + width + 30.0).max(320.0), height, &about.join("; "), &body))
}

/// A row for each wait: who waits, for what, and why no signal comes.
fn deadlock(waits: &[Waiting]) -> String {
    let waits: Vec<[String; 3]> =
        waits.iter().map(|wait| [wait.unit.to_string(), wait.what.to_string(), wait.why.to_string()]).collect();
    let column = |at: usize| waits.iter().take(MOST).map(|wait| wide(&wait[at])).fold(0.0, f64::max) + 20.0;
    let widths = [column(0), column(1), column(2)];
    let starts = [10.0, 10.0 + widths[0] + 80.0, 10.0 + widths[0] + 80.0 + widths[1] + 70.0];
    let mut body = String::new();
    for (at, [who, what, why]) in waits.iter().take(MOST).enumerate() {
        let y = 28.0 + ROW * at as f64;
        body += &boxed(starts[0], y, widths[0], who);
        body += &line((starts[0] + widths[0], y), (starts[1], y), "stroke-width=\"1.5\" marker-end=\"url(#head)\"");
        body += &text((starts[0] + widths[0] + starts[1]) / 2.0, y - 5.0, "middle", "waits for");
        let _ = write!(
            body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"26\" rx=\"13\" fill=\"none\" stroke=\"currentColor\"/>{}",
            starts[1],
            y - 13.0,
            widths[1],
            text(starts[1] + widths[1] / 2.0, y + 4.0, "middle", what)
        );
        if !why.is_empty() {
            let dashes = "stroke-dasharray=\"5 4\" marker-end=\"url(#head)\"";
            body += &line((starts[1] + widths[1], y), (starts[2], y), dashes);
            body += &text(starts[2] + 6.0, y + 4.0, "start", why);
        }
    }
    let mut height = 8.0 + ROW * waits.len().min(MOST) as f64;
    if waits.len() > MOST {
        body += &text(10.0, height + 10.0, "start", &format!("… and {} more", waits.len() - MOST));
        height += 20.0;
    }
    let about: Vec<String> = waits.iter().take(MOST).map(|wait| format!("{} waits for {}", wait[0], wait[1])).collect();
    svg(starts[2] + widths[2], height, &about.join("; "), &body)
}
