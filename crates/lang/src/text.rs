//! Python's text form of constants.

use crate::value::Const;

/// A constant in the form of Python's `str`.
pub(crate) fn python_text(value: &Const) -> String {
    match value {
        Const::Int(n) => n.to_string(),
        Const::Float(x) if x.is_finite() => float_text(*x),
        Const::Float(x) => format!("{x}").to_lowercase(),
        Const::Bool(true) => "True".into(),
        Const::Bool(false) => "False".into(),
        Const::Str(text) => text.to_string(),
        Const::None => "None".into(),
        Const::DType(ty) => ty.name().into(),
        Const::Space(space) => space.to_string(),
        Const::Split(mode) => crate::value::split_name(*mode).into(),
        Const::Member(_, name) => name.to_string(),
    }
}

/// The shortest digits that round-trip to the float, in Python's format.
fn float_text(x: f64) -> String {
    let text = format!("{:e}", x.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.replace('.', "");
    let count = digits.len() as i32;
    let sign = if x.is_sign_negative() { "-" } else { "" };
    let body = if !(-4..16).contains(&exponent) {
        let rest = if digits.len() > 1 { format!(".{}", &digits[1..]) } else { String::new() };
        let mark = if exponent < 0 { '-' } else { '+' };
        format!("{}{rest}e{mark}{:02}", &digits[..1], exponent.abs())
    } else if exponent < 0 {
        format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize))
    } else if exponent + 1 >= count {
        format!("{digits}{}.0", "0".repeat((exponent + 1 - count) as usize))
    } else {
        let (whole, rest) = digits.split_at((exponent + 1) as usize);
        format!("{whole}.{rest}")
    };
    format!("{sign}{body}")
}
