//! Text of values: `str`, `repr`, f-strings and `%`.

use std::rc::Rc;

use ruff_python_ast::{ConversionFlag, ExprFString, InterpolatedStringElement};
use slipring_ir::Span;

use super::raise::said;
use super::value::HostValue;
use crate::host::state::Host;
use crate::host::value::unknown;
use crate::text::python_text;
use crate::value::{Const, Unknown};

/// Maximum nesting depth of printed values.
const MOST_DEPTH: usize = 20;
/// The maximum size of a text in bytes.
const MOST_TEXT: usize = 1 << 16;

/// A text of several parts.
#[derive(Default)]
pub(super) struct Text {
    text: String,
    /// True if messages of Python are parts of it: the file does not know it, its errors show it.
    said: bool,
}

impl Text {
    /// The text of a value; `None` if neither it nor what a message shows of it is known.
    pub(super) fn of(written: Option<String>, value: &HostValue<'_>) -> Option<Text> {
        let mut text = Text::default();
        text.add(written, value).then_some(text)
    }

    /// Adds the text of a value. False if neither it nor what a message shows of it is known.
    fn add(&mut self, written: Option<String>, value: &HostValue<'_>) -> bool {
        match written {
            Some(written) => self.text.push_str(&written),
            None => {
                let Some(message) = said(value) else { return false };
                self.text.push_str(&message);
                self.said = true;
            }
        }
        true
    }

    /// The text as a value.
    pub(super) fn value<'a>(self, span: Span) -> HostValue<'a> {
        match self.said {
            true => HostValue::Unknown(Rc::new(Unknown::said(span, self.text))),
            false => HostValue::str(self.text),
        }
    }
}

impl<'a> Host<'a> {
    pub(super) fn f_string(&mut self, string: &'a ExprFString, span: Span) -> HostValue<'a> {
        let mut text = Text::default();
        for element in string.value.elements() {
            if self.raised.is_some() {
                return unknown(span, "what is raised");
            }
            match element {
                InterpolatedStringElement::Literal(literal) => text.text.push_str(&literal.value),
                InterpolatedStringElement::Interpolation(part) => {
                    let value = self.expr(&part.expression);
                    if part.debug_text.is_some() {
                        return self.lost_text(text, &value, span);
                    }
                    let mut format = String::new();
                    for element in part.format_spec.iter().flat_map(|spec| spec.elements.iter()) {
                        match element {
                            InterpolatedStringElement::Literal(literal) => format.push_str(&literal.value),
                            InterpolatedStringElement::Interpolation(inner) => {
                                let own = self.expr(&inner.expression);
                                match self.str_of(&own, span) {
                                    Some(own) => format.push_str(&own),
                                    None => return self.lost_text(text, &own, span),
                                }
                            }
                        }
                    }
                    let written = match part.conversion {
                        ConversionFlag::None => self.formatted(&value, &format, span),
                        ConversionFlag::Repr => self
                            .repr_of(&value, span)
                            .and_then(|text| self.formatted(&HostValue::str(text), &format, span)),
                        ConversionFlag::Str => self
                            .str_of(&value, span)
                            .and_then(|text| self.formatted(&HostValue::str(text), &format, span)),
                        ConversionFlag::Ascii => None,
                    };
                    if !text.add(written, &value) {
                        return self.lost_text(text, &value, span);
                    }
                }
            }
        }
        if text.text.len() > MOST_TEXT {
            return unknown(span, format!("a string of more than {MOST_TEXT} bytes"));
        }
        text.value(span)
    }

    /// A text that continues with an unknown value.
    fn lost_text(&mut self, text: Text, value: &HostValue<'a>, span: Span) -> HostValue<'a> {
        if text.said {
            return text.value(span);
        }
        super::value::because(value.clone(), span, "a formatted string")
    }

    /// `str(value)`.
    pub(super) fn str_of(&mut self, value: &HostValue<'a>, span: Span) -> Option<String> {
        match value {
            HostValue::Const(Const::Str(text)) => Some(text.to_string()),
            HostValue::Exception(_) => self.exception_text(value, span),
            HostValue::Object(_) => {
                for method in ["__str__", "__repr__"] {
                    if let Some(text) = self.special(value, method, Vec::new(), span) {
                        return text.text();
                    }
                }
                None
            }
            other => self.repr_of(other, span),
        }
    }

    /// `repr(value)`.
    pub(super) fn repr_of(&mut self, value: &HostValue<'a>, span: Span) -> Option<String> {
        let mut text = String::new();
        self.write_repr(value, &mut text, 0, span)?;
        Some(text)
    }

    fn write_repr(&mut self, value: &HostValue<'a>, text: &mut String, depth: usize, span: Span) -> Option<()> {
        if depth > MOST_DEPTH || text.len() > MOST_TEXT || !self.step() || value.lost().is_some() {
            return None;
        }
        let list = |host: &mut Host<'a>, items: &[HostValue<'a>], text: &mut String| -> Option<()> {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push_str(", ");
                }
                host.write_repr(item, text, depth + 1, span)?;
            }
            Some(())
        };
        match value {
            HostValue::Const(Const::Str(own)) => text.push_str(&quoted(own)?),
            HostValue::Const(c @ (Const::Int(_) | Const::Float(_) | Const::Bool(_) | Const::None)) => {
                text.push_str(&python_text(c));
            }
            HostValue::Tuple(items) => {
                text.push('(');
                list(self, items, text)?;
                text.push_str(if items.len() == 1 { ",)" } else { ")" });
            }
            HostValue::List(_) => {
                text.push('[');
                list(self, &value.items()?, text)?;
                text.push(']');
            }
            HostValue::Dict(entries) => {
                text.push('{');
                let entries: Vec<_> = entries.borrow().values().cloned().collect();
                for (at, (key, value)) in entries.iter().enumerate() {
                    if at > 0 {
                        text.push_str(", ");
                    }
                    self.write_repr(key, text, depth + 1, span)?;
                    text.push_str(": ");
                    self.write_repr(value, text, depth + 1, span)?;
                }
                text.push('}');
            }
            HostValue::Range(first, end, 1) => text.push_str(&format!("range({first}, {end})")),
            HostValue::Range(first, end, step) => text.push_str(&format!("range({first}, {end}, {step})")),
            HostValue::Object(_) => {
                let own = self.special(value, "__repr__", Vec::new(), span)?;
                text.push_str(&own.text()?);
            }
            _ => return None,
        }
        Some(())
    }

    /// `format(value, spec)`.
    pub(super) fn formatted(&mut self, value: &HostValue<'a>, spec: &str, span: Span) -> Option<String> {
        if spec.is_empty() {
            return self.str_of(value, span);
        }
        let HostValue::Const(c) = value else { return None };
        format_const(c, spec)
    }

    /// `text % values`.
    pub(super) fn percent(&mut self, text: &str, values: &HostValue<'a>, span: Span) -> HostValue<'a> {
        let mut given = match values {
            HostValue::Tuple(items) => items.to_vec(),
            HostValue::Dict(_) => return self.lost_text(Text::default(), values, span),
            one => vec![one.clone()],
        }
        .into_iter();
        let mut out = Text::default();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.text.push(c);
                continue;
            }
            let mut spec = String::new();
            let kind = loop {
                match chars.next() {
                    Some(c) if c.is_ascii_digit() || c == '.' => spec.push(c),
                    other => break other,
                }
            };
            if kind == Some('%') && spec.is_empty() {
                out.text.push('%');
                continue;
            }
            let Some(value) = given.next() else { return self.lost_text(out, values, span) };
            let written = match (kind, &value) {
                (Some('s'), value) if spec.is_empty() => self.str_of(value, span),
                (Some('r'), value) if spec.is_empty() => self.repr_of(value, span),
                (Some('d'), HostValue::Const(c @ (Const::Int(_) | Const::Bool(_)))) if !spec.contains('.') => {
                    format_const(c, &format!("{spec}d"))
                }
                (Some('f'), HostValue::Const(c @ (Const::Int(_) | Const::Float(_)))) => {
                    format_const(c, &format!("{spec}f"))
                }
                _ => return self.lost_text(out, values, span),
            };
            if !out.add(written, &value) {
                return self.lost_text(out, values, span);
            }
        }
        if given.next().is_some() || out.text.len() > MOST_TEXT {
            return self.lost_text(out, values, span);
        }
        out.value(span)
    }
}

/// A string in the form of `repr`; `None` if it has characters beyond ASCII.
fn quoted(text: &str) -> Option<String> {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            _ => return None,
        }
    }
    out.push(quote);
    Some(out)
}

/// A constant formatted as by Python's `format`; `None` for forms that are not modelled.
fn format_const(value: &Const, spec: &str) -> Option<String> {
    let chars: Vec<char> = spec.chars().collect();
    let mut at = 0;
    let is_align = |c: &char| matches!(c, '<' | '>' | '^' | '=');
    let (mut fill, mut align) = (' ', None);
    if chars.get(1).is_some_and(is_align) {
        (fill, align, at) = (chars[0], Some(chars[1]), 2);
    } else if chars.first().is_some_and(is_align) {
        (align, at) = (Some(chars[0]), 1);
    }
    let mut sign = '-';
    if let Some(c @ ('+' | '-' | ' ')) = chars.get(at) {
        sign = *c;
        at += 1;
    }
    let alternate = chars.get(at) == Some(&'#');
    at += usize::from(alternate);
    if chars.get(at) == Some(&'0') {
        if align.is_none() {
            (fill, align) = ('0', Some('='));
        }
        at += 1;
    }
    let digits = |at: &mut usize| {
        let begin = *at;
        while chars.get(*at).is_some_and(char::is_ascii_digit) {
            *at += 1;
        }
        chars[begin..*at].iter().collect::<String>()
    };
    let width = digits(&mut at);
    let width: usize = if width.is_empty() { 0 } else { width.parse().ok().filter(|n| *n <= MOST_TEXT)? };
    let comma = chars.get(at).copied().filter(|c| matches!(c, ',' | '_'));
    at += usize::from(comma.is_some());
    let mut precision = None;
    if chars.get(at) == Some(&'.') {
        at += 1;
        precision = Some(digits(&mut at).parse::<usize>().ok().filter(|n| *n <= 300)?);
    }
    let kind = chars.get(at).copied();
    at += usize::from(kind.is_some());
    if at != chars.len() || (alternate && !matches!(kind, Some('x' | 'X' | 'b' | 'o'))) {
        return None;
    }
    let (negative, body, right) = match (value, kind) {
        (Const::Str(text), None | Some('s')) if comma.is_none() && sign == '-' && align != Some('=') => {
            let text: String = text.chars().take(precision.unwrap_or(usize::MAX)).collect();
            (false, text, false)
        }
        (Const::Int(_) | Const::Bool(_), Some('f' | 'F' | 'e' | 'E' | '%')) => {
            let Const::Int(n) = super::compare::number(value) else { return None };
            (n < 0, float_body(n.unsigned_abs() as f64, kind?, precision)?, true)
        }
        (Const::Bool(_), None) => return None,
        (Const::Int(_) | Const::Bool(_), kind) if precision.is_none() => {
            let Const::Int(n) = super::compare::number(value) else { return None };
            let size = n.unsigned_abs();
            let body = match kind {
                None | Some('d') => size.to_string(),
                Some('x') => format!("{}{size:x}", if alternate { "0x" } else { "" }),
                Some('X') => format!("{}{size:X}", if alternate { "0X" } else { "" }),
                Some('b') => format!("{}{size:b}", if alternate { "0b" } else { "" }),
                Some('o') => format!("{}{size:o}", if alternate { "0o" } else { "" }),
                _ => return None,
            };
            if comma.is_some() && !matches!(kind, None | Some('d')) {
                return None;
            }
            (n < 0, body, true)
        }
        (Const::Float(x), Some('f' | 'F' | 'e' | 'E' | '%')) if x.is_finite() => {
            (x.is_sign_negative(), float_body(x.abs(), kind?, precision)?, true)
        }
        _ => return None,
    };
    let body = match comma {
        Some(comma) => grouped(&body, comma),
        None => body,
    };
    if comma.is_some() && fill == '0' && align == Some('=') {
        return None;
    }
    let lead = match (negative, sign) {
        (true, _) => "-",
        (false, '+') => "+",
        (false, ' ') => " ",
        _ => "",
    };
    let padding = width.saturating_sub(lead.len() + body.chars().count());
    let pad = |n: usize| fill.to_string().repeat(n);
    Some(match align.unwrap_or(if right { '>' } else { '<' }) {
        '<' => format!("{lead}{body}{}", pad(padding)),
        '^' => format!("{}{lead}{body}{}", pad(padding / 2), pad(padding - padding / 2)),
        '=' => {
            let prefix = if alternate { &body[..2] } else { "" };
            format!("{lead}{prefix}{}{}", pad(padding), &body[prefix.len()..])
        }
        _ => format!("{}{lead}{body}", pad(padding)),
    })
}

/// A float without its sign. The digits are those of its exact value, rounded once, as in Python.
fn float_body(x: f64, kind: char, precision: Option<usize>) -> Option<String> {
    let digits = precision.unwrap_or(6);
    Some(match kind {
        'f' | 'F' => format!("{x:.digits$}"),
        'e' | 'E' => {
            let text = format!("{x:.digits$e}");
            let (body, exponent) = text.split_once('e')?;
            let exponent: i32 = exponent.parse().ok()?;
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{body}{kind}{sign}{:02}", exponent.abs())
        }
        // The product with 100 is rounded.
        '%' => {
            let x = x * 100.0;
            if !x.is_finite() {
                return None;
            }
            format!("{x:.digits$}%")
        }
        _ => return None,
    })
}

/// Inserts a separator between groups of three digits before the point.
fn grouped(body: &str, mark: char) -> String {
    let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let mut out = String::new();
    for (at, c) in body[..end].chars().enumerate() {
        if at > 0 && (end - at) % 3 == 0 {
            out.push(mark);
        }
        out.push(c);
    }
    out + &body[end..]
}
