//! Rounding of a number to a type that cannot represent it.

/// Treatment of a value that the target type cannot hold exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RoundMode {
    /// To the nearest, ties to even. The default.
    #[default]
    Rint,
    /// To the nearest, ties away from zero.
    Round,
    /// Towards minus infinity.
    Floor,
    /// Towards plus infinity.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To the neighbour whose last bit is 1 (safe to round a second time).
    Odd,
}

impl RoundMode {
    /// Every mode, in declaration order.
    pub const ALL: [RoundMode; 6] =
        [RoundMode::Rint, RoundMode::Round, RoundMode::Floor, RoundMode::Ceil, RoundMode::Trunc, RoundMode::Odd];

    /// The mode with the letter `R`, `A`, `F`, `C`, `Z` or `O` (micro-instruction manual, "Rounding Modes").
    pub fn from_letter(letter: &str) -> Option<RoundMode> {
        let at = ["R", "A", "F", "C", "Z", "O"].iter().position(|l| *l == letter)?;
        Some(RoundMode::ALL[at])
    }

    /// The default if no mode is given: to the nearest, ties to even.
    #[allow(non_upper_case_globals)]
    pub const None: RoundMode = RoundMode::Rint;
}

/// Treatment of a value beyond the range of the target type (`SAT`, `NOSAT`; the clauses `sat`, `sat(preserve_nan)` and
/// `nosat` of the micro-instruction manual); [`convert`](crate::convert()) documents the rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Saturation {
    /// Exceptional values of the target if it has them; the low bits for integers.
    #[default]
    Off,
    /// The nearest value of the range; NaN becomes +0.
    On,
    /// As [`Saturation::On`], but NaN stays NaN where the target has one.
    KeepNan,
    /// As [`Saturation::Off`], but floats converted to 16 or 8 bits are first clamped to 32 bits: the tile library
    /// converts via `i32`.
    Words,
}

impl From<bool> for Saturation {
    fn from(on: bool) -> Saturation {
        if on { Saturation::On } else { Saturation::Off }
    }
}
/// Modes as constants, so that each loop is compiled for its own mode.
pub(crate) mod mode {
    pub const RINT: u8 = 0;
    pub const ROUND: u8 = 1;
    pub const FLOOR: u8 = 2;
    pub const CEIL: u8 = 3;
    pub const TRUNC: u8 = 4;
    pub const ODD: u8 = 5;
}

/// Calls `$body` with the constant `$m` set to the mode `$mode`.
macro_rules! with_mode {
    ($mode:expr, $m:ident => $body:expr) => {
        $crate::rounding::with_mode!(@arms $mode, $m, $body,
            Rint RINT, Round ROUND, Floor FLOOR, Ceil CEIL, Trunc TRUNC, Odd ODD)
    };
    (@arms $mode:expr, $m:ident, $body:expr, $($name:ident $value:ident),*) => {
        match $mode {
            $($crate::rounding::RoundMode::$name => {
                const $m: u8 = $crate::rounding::mode::$value;
                $body
            })*
        }
    };
}
pub(crate) use with_mode;

/// One unit in the last place (1) or none (0) to add to `quotient`, given the discarded remainder `rest` out of `2 *
/// half`. Rounding to odd is left to the caller.
#[inline(always)]
pub(crate) fn round_up<const MODE: u8>(quotient: u32, rest: u32, half: u32, negative: bool) -> u32 {
    let up = match MODE {
        mode::RINT => (rest > half) | ((rest == half) & (quotient & 1 == 1)),
        mode::ROUND => rest >= half,
        mode::FLOOR => negative & (rest != 0),
        mode::CEIL => !negative & (rest != 0),
        mode::ODD => (quotient & 1 == 0) & (rest != 0),
        _ => false,
    };
    up as u32
}

/// Whether a finite number too large for the target becomes the largest finite one, as IEEE 754 specifies for the
/// directed modes. Rounding to odd never overflows.
#[inline(always)]
pub(crate) fn rounds_inward<const MODE: u8>(negative: bool) -> bool {
    match MODE {
        mode::RINT | mode::ROUND => false,
        mode::FLOOR => !negative,
        mode::CEIL => negative,
        _ => true,
    }
}
