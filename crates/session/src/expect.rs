//! Expected contents of a buffer after a run, compared element by element within a tolerance.

use slipring_ir::Diagnostic;
use slipring_report::{CheckFacts, CheckStatus};
use slipring_tile::{Elem, load_f32};

use crate::Severity;
use crate::args::{Defaults, named, read_arg};
use crate::error::Error;
use crate::facts::coordinates;

/// The expected contents of one buffer: `out=@golden.npy,rtol=1e-3,atol=1e-5`.
#[derive(Clone, Debug)]
pub struct Expected {
    name: String,
    /// Its source, for messages.
    from: String,
    bytes: Vec<u8>,
    elem: Option<Elem>,
    /// The relative tolerance.
    rtol: f64,
    /// The absolute tolerance.
    atol: f64,
}

/// A buffer of a program after a run: its name, element type, shape and contents.
pub struct Held<'a> {
    /// The parameter's name.
    pub name: &'a str,
    /// Type of its elements.
    pub elem: Elem,
    /// Extents in elements, where they are known.
    pub shape: Option<&'a [u64]>,
    /// The contents after the run; `None` if it did not complete.
    pub left: Option<&'a [u8]>,
}

/// An expectation without the name of its buffer: contents as an argument says them, and tolerances by their names, the
/// last one first.
fn contents(mut text: &str) -> (&str, Vec<(&str, &str)>) {
    let mut tolerances = Vec::new();
    while let Some((before, last)) = text.rsplit_once(',')
        && let Some((key @ ("rtol" | "atol"), number)) = last.split_once('=')
    {
        tolerances.push((key, number));
        text = before;
    }
    (text, tolerances)
}

impl Expected {
    /// Parses an expectation: the name of a buffer, `=`, contents in the form of an argument, and tolerances; without
    /// any, the contents must be equal.
    ///
    /// # Errors
    /// If it has another form, or its file cannot be read.
    pub fn read(text: &str) -> Result<Expected, Error> {
        let wrong = |why: String| Error::Arguments(format!("`--expect {text}`: {why}"));
        let (Some(name), rest) = named(text) else {
            return Err(wrong("say which buffer should hold what: `out=@golden.npy,rtol=1e-3,atol=1e-5`".into()));
        };
        let (rest, tolerances) = contents(rest);
        let (mut rtol, mut atol) = (None, None);
        for (key, number) in tolerances {
            let slot = if key == "rtol" { &mut rtol } else { &mut atol };
            let known = number.parse::<f64>().ok().filter(|n| *n >= 0.0 && n.is_finite());
            let Some(known) = known else { return Err(wrong(format!("`{number}` is not a tolerance"))) };
            if slot.replace(known).is_some() {
                return Err(wrong("a tolerance is given twice".into()));
            }
        }
        let arg = read_arg(rest, &Defaults::default()).map_err(|error| wrong(error.to_string()))?;
        let elem = arg.elem();
        let Some(bytes) = arg.into_contents() else {
            return Err(wrong("a buffer is expected, not a scalar".into()));
        };
        let from = rest.strip_prefix('@').unwrap_or(rest).to_string();
        let (rtol, atol) = (rtol.unwrap_or(0.0), atol.unwrap_or(0.0));
        Ok(Expected { name: name.into(), from, bytes, elem, rtol, atol })
    }

    /// The file that an expectation is read from, if it is a file.
    pub fn file(text: &str) -> Option<&str> {
        contents(named(text).1).0.strip_prefix('@')
    }

    /// The position of its buffer among those of a program.
    ///
    /// # Errors
    /// If there is none with that name, or its number of elements differs.
    pub fn place(&self, buffers: &[Held<'_>]) -> Result<usize, Error> {
        let wrong = |why: String| Error::Arguments(format!("`--expect {}=…`: {why}", self.name));
        let Some(at) = buffers.iter().position(|buffer| buffer.name == self.name) else {
            let known: Vec<String> = buffers.iter().map(|buffer| format!("`{}`", buffer.name)).collect();
            return Err(wrong(format!("there is no such buffer; the buffers are {}", known.join(", "))));
        };
        let own = self.elem.unwrap_or(buffers[at].elem);
        let count = |bytes: usize, elem: Elem| bytes / elem.bytes().max(1) * elem.values();
        let expected = count(self.bytes.len(), own);
        let known = buffers[at].shape.map(|shape| shape.iter().product::<u64>() as usize);
        let held = known.or(buffers[at].left.map(|left| count(left.len(), buffers[at].elem)));
        match held {
            Some(held) if held != expected => {
                Err(wrong(format!("`{}` has {expected} elements, the buffer {held}", self.from)))
            }
            _ => Ok(at),
        }
    }

    /// Compares the contents after a run with the expected ones: a row for the checks, and an error if they differ.
    pub fn compare(&self, buffer: &Held<'_>) -> (CheckFacts, Option<Diagnostic>) {
        let facts = |verdict, detail: String, findings| CheckFacts::new("expect", verdict, detail, findings);
        let Some(left) = buffer.left else {
            return (facts(CheckStatus::NotChecked, format!("{}: the run did not complete", self.name), 0), None);
        };
        let elem = self.elem.unwrap_or(buffer.elem);
        let (have, want) = (numbers(buffer.elem, left), numbers(elem, &self.bytes));
        let outside = |a: Number, b: Number| {
            let off = a.off(b);
            off != 0.0 && !(off <= self.atol + self.rtol * b.float().abs() && off.is_finite())
        };
        let differ: Vec<usize> = (0..have.len().min(want.len())).filter(|at| outside(have[*at], want[*at])).collect();
        let (count, within) = (have.len(), self.within());
        let Some(first) = differ.first().copied() else {
            return (
                facts(
                    CheckStatus::Clean,
                    format!("{}: all {count} elements as in {}{within}", self.name, self.from),
                    0,
                ),
                None,
            );
        };
        let further = |a: &usize, b: &usize| {
            let off = |at: usize| have[at].off(want[at]);
            off(*a).total_cmp(&off(*b)).then(b.cmp(a))
        };
        let furthest = differ.iter().copied().max_by(further).unwrap_or(first);
        let say = |at: usize| {
            let place = coordinates(
                at,
                buffer.shape.map(|shape| shape.iter().map(|n| *n as usize).collect::<Vec<_>>()).as_deref(),
            );
            format!("{}[{place}] is {}, expected {}", self.name, have[at], want[at])
        };
        let message =
            format!("{} of {count} elements of `{}` differ from {}{within}", differ.len(), self.name, self.from);
        let mut notes = vec![format!("the first: {}", say(first))];
        if furthest != first {
            notes.push(format!("the furthest: {}", say(furthest)));
        }
        let error = Diagnostic { notes, ..Diagnostic::nowhere("expected", Severity::Error, message.clone()) };
        (facts(CheckStatus::Findings, message, differ.len()), Some(error))
    }

    /// The tolerances as text; empty if there are none.
    fn within(&self) -> String {
        match (self.rtol, self.atol) {
            (0.0, 0.0) => String::new(),
            (rtol, 0.0) => format!(" (rtol {rtol})"),
            (0.0, atol) => format!(" (atol {atol})"),
            (rtol, atol) => format!(" (rtol {rtol}, atol {atol})"),
        }
    }
}

/// An element.
#[derive(Clone, Copy)]
enum Number {
    Float(f64),
    Integer(i128),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Float(x) => x,
            Number::Integer(n) => n as f64,
        }
    }

    /// The distance between two numbers: infinite if exactly one of them is NaN.
    fn off(self, other: Number) -> f64 {
        if let (Number::Integer(a), Number::Integer(b)) = (self, other) {
            return (a - b).unsigned_abs() as f64;
        }
        let (a, b) = (self.float(), other.float());
        match (a.is_nan(), b.is_nan()) {
            (true, true) => 0.0,
            (false, false) if a == b => 0.0,
            (false, false) => (a - b).abs(),
            _ => f64::INFINITY,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // Elements have no more digits than this type.
            Number::Float(x) => write!(f, "{}", *x as f32),
            Number::Integer(n) => write!(f, "{n}"),
        }
    }
}

fn numbers(elem: Elem, bytes: &[u8]) -> Vec<Number> {
    if elem.is_float() {
        let mut all = vec![0.0f32; bytes.len() / elem.bytes().max(1) * elem.values()];
        load_f32(elem, bytes, &mut all);
        return all.into_iter().map(|x| Number::Float(f64::from(x))).collect();
    }
    let one = |bytes: &[u8]| {
        let mut wide = [0u8; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        let raw = i128::from_le_bytes(wide);
        let bits = 8 * bytes.len() as u32;
        let negative = elem.is_signed_int() && raw >> (bits - 1) & 1 == 1;
        Number::Integer(if negative { raw - (1i128 << bits) } else { raw })
    };
    bytes.chunks_exact(elem.bytes()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_an_expectation_is_the_one_that_it_reads() {
        assert_eq!(Expected::file("out=@a,b.npy,rtol=1e-3,atol=1"), Some("a,b.npy"));
        assert_eq!(Expected::file("out=zeros:f32[4],atol=1"), None);
        let error = Expected::read("out=@a,b.npy,rtol=1").expect_err("there is no such file").to_string();
        assert!(error.contains("`a,b.npy`"), "{error}");
    }
}
