//! Formatting of numbers as in C's `printf`.

use slipring_tile::Elem;

/// Characters of a conversion between precision and letter: the size of the argument, which the type determines here.
const SIZES: [char; 3] = ['l', 'h', 'z'];

/// The parts of a conversion: the text before it, its flags with width and precision, its letter, and the text after
/// it.
fn first(format: &str) -> Option<(&str, &str, char, &str)> {
    let mut at = 0;
    while let Some(found) = format[at..].find('%') {
        let begin = at + found;
        if format[begin + 1..].starts_with('%') {
            at = begin + 2;
            continue;
        }
        let rest = &format[begin + 1..];
        let end = rest.find(|c: char| c.is_ascii_alphabetic() && !SIZES.contains(&c))?;
        return Some((
            &format[..begin],
            rest[..end].trim_end_matches(SIZES),
            char::from(rest.as_bytes()[end]),
            &rest[end + 1..],
        ));
    }
    None
}

/// The first letter among the first `numbers` conversions that is not for a number.
pub(crate) fn unknown(format: &str, numbers: usize) -> Option<char> {
    let conversions = std::iter::successors(first(format), |(.., after)| first(after));
    let mut letters = conversions.take(numbers).map(|(_, _, letter, _)| letter);
    letters.find(|letter| !"diuoxXcfFeEgG".contains(*letter))
}

/// The text with its first conversion replaced by a number. Later conversions are kept as they are; `%%` becomes a
/// percent sign.
pub(crate) fn one(format: &str, elem: Elem, bits: u64) -> String {
    let percent = |text: &str| text.replace("%%", "%");
    match first(format) {
        Some((before, spec, letter, after)) => {
            format!("{}{}{}", percent(before), convert(spec, letter, elem, bits), percent(after))
        }
        None => percent(format),
    }
}

/// Like [`one`], but the result is still a format. A plain `%g` prints all digits of a float.
pub(crate) fn next(format: &str, elem: Elem, bits: u64) -> String {
    match first(format) {
        Some((before, "", 'g', after)) if elem.is_float() => format!("{before}{}{after}", float(elem, bits) as f32),
        Some((before, spec, letter, after)) => format!("{before}{}{after}", convert(spec, letter, elem, bits)),
        None => format.to_string(),
    }
}

fn float(elem: Elem, bits: u64) -> f64 {
    if !elem.is_float() {
        return integer(elem, bits) as f64;
    }
    let mut value = [0f32];
    slipring_tile::load_f32(elem, &bits.to_le_bytes()[..elem.bytes()], &mut value);
    f64::from(value[0])
}

/// The integer value of bits of this type; floats are truncated.
pub(crate) fn integer(elem: Elem, bits: u64) -> i128 {
    if elem.is_float() {
        return float(elem, bits) as i128;
    }
    let free = 64 - 8 * elem.bytes() as u32;
    let shifted = bits << free;
    if elem.is_signed_int() { i128::from(shifted as i64 >> free) } else { i128::from(shifted >> free) }
}

/// Formats one conversion: flags, width and precision, and its letter.
fn convert(spec: &str, letter: char, elem: Elem, bits: u64) -> String {
    let flags: &str = &spec[..spec.len() - spec.trim_start_matches(['+', '-', '0', ' ', '#']).len()];
    let has = |flag| flags.contains(flag);
    let (width, precision) =
        spec[flags.len()..].split_once('.').map_or((&spec[flags.len()..], None), |(w, p)| (w, Some(p)));
    let width: usize = width.parse().unwrap_or(0).min(256);
    let precision: Option<usize> = precision.map(|p| p.parse().unwrap_or(0).min(64));
    // As in C, types narrower than `int` are promoted.
    let wide = 8 * elem.bytes().max(4) as u32;
    let unsigned = integer(elem, bits) as u128 & (u128::MAX >> (128 - wide));
    let least = precision.unwrap_or(1);
    let mut is_number = true;
    let (negative, prefix, digits) = match letter {
        'd' | 'i' => {
            let value = integer(elem, bits);
            (value < 0, "", format!("{:0>least$}", value.unsigned_abs()))
        }
        'u' => (false, "", format!("{unsigned:0>least$}")),
        'o' => (false, if has('#') { "0" } else { "" }, format!("{:0>least$}", format!("{unsigned:o}"))),
        'x' => {
            (false, if has('#') && unsigned != 0 { "0x" } else { "" }, format!("{:0>least$}", format!("{unsigned:x}")))
        }
        'X' => {
            (false, if has('#') && unsigned != 0 { "0X" } else { "" }, format!("{:0>least$}", format!("{unsigned:X}")))
        }
        'c' => {
            is_number = false;
            (false, "", char::from(unsigned as u8).to_string())
        }
        _ => {
            let value = float(elem, bits);
            is_number = value.is_finite();
            let digits = of_float(value.abs(), letter.to_ascii_lowercase(), precision.unwrap_or(6), has('#'));
            let digits = if letter.is_ascii_uppercase() { digits.to_uppercase() } else { digits };
            (value.is_sign_negative() && !value.is_nan(), "", digits)
        }
    };
    let takes_sign = !"uoxXc".contains(letter);
    let sign = match negative {
        true => "-",
        false if takes_sign && has('+') => "+",
        false if takes_sign && has(' ') => " ",
        false => "",
    };
    let fill = width.saturating_sub(sign.len() + prefix.len() + digits.chars().count());
    // With a precision, `0` does not pad integers with zeros.
    let zeros = has('0') && !has('-') && is_number && (precision.is_none() || !"diuoxX".contains(letter));
    match (has('-'), zeros) {
        (true, _) => format!("{sign}{prefix}{digits}{}", " ".repeat(fill)),
        (false, true) => format!("{sign}{prefix}{}{digits}", "0".repeat(fill)),
        (false, false) => format!("{}{sign}{prefix}{digits}", " ".repeat(fill)),
    }
}

/// The digits of a float without its sign.
fn of_float(value: f64, letter: char, precision: usize, keeps_zeros: bool) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { "inf".into() };
    }
    let point = if keeps_zeros && precision == 0 { "." } else { "" };
    match letter {
        'f' => format!("{value:.precision$}{point}"),
        'e' => {
            let (digits, exponent) = scientific(value, precision);
            format!("{digits}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
        }
        _ => {
            let places = precision.max(1);
            let (digits, exponent) = scientific(value, places - 1);
            let small = exponent >= -4 && exponent < places as i32;
            let digits = match small {
                true => format!("{value:.*}", (places as i32 - 1 - exponent) as usize),
                false => digits,
            };
            let digits = match !keeps_zeros && digits.contains('.') {
                true => digits.trim_end_matches('0').trim_end_matches('.'),
                false => &digits,
            };
            if small {
                return digits.into();
            }
            format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
        }
    }
}

/// A number as digits and a power of ten.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_string(), exponent.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts come from a C library.
    #[test]
    fn numbers_are_printed_as_printf_does() {
        let f = |x: f32| u64::from(x.to_bits());
        let floats = [
            ("scalar = %+08.3f", 3.25, "scalar = +003.250"),
            ("%6.2f|", -1.0, " -1.00|"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%E", 0.0, "0.000000E+00"),
            ("%.0e", 15.0, "2e+01"),
            ("%g", 1e-5, "1e-05"),
            ("%g", 123_456_789.0, "1.23457e+08"),
            ("%g", 100_000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%g", -0.0, "-0"),
            ("%.10g", 0.1, "0.1000000015"),
            ("%.3g", 0.000_123_4, "0.000123"),
            ("%#g", 1.0, "1.00000"),
            ("%G", 1e-10, "1E-10"),
            ("%#.0f", 3.0, "3."),
            ("%f", f32::NAN, "nan"),
            ("%5F|", f32::NEG_INFINITY, " -INF|"),
            ("%05f|", f32::INFINITY, "  inf|"),
            ("% f", 1.5, " 1.500000"),
        ];
        for (format, value, says) in floats {
            assert_eq!(one(format, Elem::F32, f(value)), says, "{format}");
        }
        let integers = [
            ("%-5d%%", Elem::I32, 42, "42   %"),
            ("%lld", Elem::I64, -7, "-7"),
            ("100%", Elem::I64, 1, "100%"),
            ("%u", Elem::I32, -5, "4294967291"),
            ("%x", Elem::I32, -1, "ffffffff"),
            ("%x", Elem::I64, -1, "ffffffffffffffff"),
            ("%u", Elem::I8, -3, "4294967293"),
            ("%d", Elem::U8, 200, "200"),
            ("%u", Elem::U8, -56, "200"),
            ("%d", Elem::U64, -1, "18446744073709551615"),
            ("%#X", Elem::I32, 255, "0XFF"),
            ("%o", Elem::I32, 8, "10"),
            ("%c", Elem::I32, 65, "A"),
            ("% d", Elem::I32, 42, " 42"),
            ("%.3d", Elem::I32, -5, "-005"),
            ("%08.3d|", Elem::I32, 5, "     005|"),
            ("%05d", Elem::I32, -42, "-0042"),
            ("%d %d", Elem::I32, 5, "5 %d"),
        ];
        for (format, elem, value, says) in integers {
            assert_eq!(one(format, elem, value as i64 as u64), says, "{format}");
        }
        assert_eq!(next("%d of %%, x = %g", Elem::I32, 3), "3 of %%, x = %g");
        assert_eq!(next("3 of %%, x = %g", Elem::F32, f(0.1)), "3 of %%, x = 0.1");
        assert_eq!((unknown("%5s", 1), unknown("%% %lld", 1), unknown("nothing", 1)), (Some('s'), None, None));
        assert_eq!((unknown("%d %s", 1), unknown("%d %s", 2), unknown("%s", 0)), (None, Some('s'), None));
    }
}
