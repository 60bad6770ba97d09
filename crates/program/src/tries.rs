//! Sampling the consequences of uninitialised bytes, with the actual buffer contents and with others.
//!
//! A step or an effect that reads such bytes is executed again and again with other values in them, and outputs that
//! differ depend on them. That holds for the given contents only: a loaded mask, or a NaN, may keep the bytes out here
//! and let them through elsewhere. The execution is therefore also repeated with other values in place of everything
//! that comes from buffers. A dependence seen with all of these values exists whatever the buffers hold; one seen with
//! only some of them is decided by the contents, and the verdict says so.

use crate::Uninit;

/// Values that samples put into unwritten bytes, one after the other. Together they include zeros, infinities, NaNs,
/// and large, small, positive and negative numbers of the existing types.
const COPIED: [u8; 5] = [0x00, 0xff, 0x7f, 0x80, 0x3e];
/// The values for computed bytes, so that copies of these can be distinguished from copies of the others.
const COMPUTED: [u8; 5] = [0xff, 0x00, 0x80, 0x7c, 0xc1];
/// The values for other buffer contents: zero, NaN, and values larger and smaller than these in every type.
const ELSEWHERE: [u8; 5] = [0x00, 0x7b, 0xfb, 0x80, 0xff];

/// Other contents of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Ordinary numbers in all types,
    Some,
    /// and others with all bits inverted: each mask bit is set in one of the two.
    Others,
    /// Zeros, which mask whatever they are multiplied or bitwise combined with.
    Zeros,
}

impl Contents {
    const ALL: [Contents; 3] = [Contents::Some, Contents::Others, Contents::Zeros];
}

/// The inputs of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// The present contents.
    Here,
    /// Other contents; everything that may be uninitialised is treated as such.
    Perhaps(Contents),
    /// Other contents; only what is uninitialised with any contents is treated as such.
    Surely(Contents),
}

impl Round {
    /// Number of samples in this round.
    const fn tries(self) -> usize {
        match self {
            Round::Here => COPIED.len() + 1,
            _ => ELSEWHERE.len(),
        }
    }

    /// Whether bytes are replaced: `here` if they are uninitialised with the present contents, `by_data` if contents
    /// decide that.
    pub const fn guesses(self, here: bool, by_data: bool) -> bool {
        match self {
            Round::Here => here,
            Round::Perhaps(_) => true,
            Round::Surely(_) => !by_data,
        }
    }

    /// Whether a run of bytes is replaced.
    pub const fn guesses_void(self, void: &Uninit) -> bool {
        self.guesses(void.here, void.by.is_some())
    }

    /// The value of uninitialised byte `at` in a sample.
    #[inline]
    pub fn guess(self, tried: usize, at: u64, computed: bool) -> u8 {
        match (self, COPIED.get(tried), COMPUTED.get(tried)) {
            (Round::Here, Some(_), Some(other)) if computed => *other,
            (Round::Here, Some(copied), _) => *copied,
            (Round::Here, ..) => scattered(at) | 1,
            _ => ELSEWHERE[tried],
        }
    }

    /// The value of byte `at` that comes from a buffer; `None` if it is unchanged.
    #[inline]
    pub fn content(self, at: u64) -> Option<u8> {
        let byte = 0x38 | scattered(at) & 7;
        match self {
            Round::Here => None,
            Round::Perhaps(contents) | Round::Surely(contents) => Some(match contents {
                Contents::Some => byte,
                Contents::Others => !byte,
                Contents::Zeros => 0,
            }),
        }
    }
}

fn scattered(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u8
}

/// The classification of an output byte, with the present contents of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It does not depend on uninitialised bytes.
    Known,
    /// A copy of a byte that nobody wrote.
    Copied,
    /// A copy of a computed one.
    CopiedComputed,
    /// Computed from such bytes.
    Computed,
}

/// The classification of an output byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged {
    /// With these contents.
    pub outcome: Outcome,
    /// With other contents it may differ: known, or not.
    pub by_data: bool,
}

/// The bits of a part of the outcome that depend on uninitialised bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lost {
    /// Those that do with the present contents,
    pub here: u8,
    /// and those for which the contents decide.
    pub by_data: u8,
}

/// The outcomes of all samples.
#[derive(Debug)]
pub struct Tries<T> {
    rounds: Vec<(Round, Vec<T>)>,
}

impl<T> Tries<T> {
    /// Runs the samples. `varies`: the outcome depends on something that comes from buffers; `unsure`: something that
    /// is read is uninitialised only for some contents.
    pub fn new(varies: bool, unsure: bool, mut make: impl FnMut(Round, usize) -> T) -> Tries<T> {
        let mut rounds = vec![Round::Here];
        if varies || unsure {
            rounds.extend(Contents::ALL.map(Round::Perhaps));
        }
        if unsure {
            rounds.extend(Contents::ALL.map(Round::Surely));
        }
        let mut of = |round: Round| (0..round.tries()).map(|tried| make(round, tried)).collect();
        Tries { rounds: rounds.into_iter().map(|round| (round, of(round))).collect() }
    }

    /// The bits that depend on uninitialised bytes: `differ` returns those in which two samples of a round differ.
    pub fn lost(&self, differ: impl Fn(&T, &T) -> u8) -> Lost {
        self.over_rounds(differ, |bits| bits)
    }

    /// As [`Tries::lost`], for a byte of a number, in which all bits depend on the uninitialised bytes for any contents
    /// if some do: the other contents decide which bits these are.
    pub fn lost_in_byte(&self, differ: impl Fn(&T, &T) -> u8) -> Lost {
        self.over_rounds(differ, |bits| if bits == 0 { 0 } else { u8::MAX })
    }

    /// `all` gives the bits assumed to differ with other contents if some do.
    fn over_rounds(&self, differ: impl Fn(&T, &T) -> u8, all: impl Fn(u8) -> u8) -> Lost {
        let (mut here, mut perhaps, mut surely) = (0, 0, u8::MAX);
        let unsure = self.rounds.iter().any(|(round, _)| matches!(round, Round::Surely(_)));
        for (round, tries) in &self.rounds {
            let bits = tries.iter().fold(0, |bits, tried| bits | differ(&tries[0], tried));
            match round {
                Round::Here => here = bits,
                Round::Perhaps(_) => {
                    perhaps |= bits;
                    surely &= if unsure { u8::MAX } else { all(bits) };
                }
                Round::Surely(_) => surely &= all(bits),
            }
        }
        match self.rounds.len() {
            1 => Lost { here, by_data: 0 },
            _ => {
                let surely = surely & (here | perhaps);
                Lost { here: here | surely, by_data: (here | perhaps) & !surely }
            }
        }
    }

    /// As [`Tries::lost`], for an outcome as a whole.
    pub fn depends(&self, same: impl Fn(&T, &T) -> bool) -> Lost {
        self.lost_in_byte(|one, other| u8::from(!same(one, other)))
    }

    /// Classifies a byte by its value in each sample.
    pub fn judge(&self, value: impl Fn(&T) -> u8) -> Judged {
        let lost = self.lost_in_byte(|one, other| value(one) ^ value(other));
        let by_data = lost.by_data != 0;
        if lost.here == 0 {
            return Judged { outcome: Outcome::Known, by_data };
        }
        let is = |tries: &[T], values: &[u8; 5]| values.iter().zip(tries).all(|(guess, tried)| value(tried) == *guess);
        let here = &self.rounds[0].1;
        // A copy that results only from adding zero is not a copy with other contents.
        let copied = self.rounds[1..]
            .iter()
            .all(|(_, tries)| is(tries, &ELSEWHERE) || tries.iter().all(|tried| value(tried) == value(&tries[0])));
        let outcome = match copied {
            true if is(here, &COPIED) => Outcome::Copied,
            true if is(here, &COMPUTED) => Outcome::CopiedComputed,
            _ => Outcome::Computed,
        };
        Judged { outcome, by_data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries of an operation on an unwritten byte and one from a buffer, which holds `content`.
    fn of(content: u8, what: impl Fn(u8, u8) -> u8) -> Judged {
        let tries = Tries::new(true, false, |round, tried| {
            what(round.guess(tried, 3, false), round.content(7).unwrap_or(content))
        });
        tries.judge(|byte| *byte)
    }

    #[test]
    fn contents_decide_where_some_of_them_hide_it() {
        let judged = |outcome, by_data| Judged { outcome, by_data };
        for content in [0, 1, 0xff] {
            assert_eq!(of(content, |_, x| x), judged(Outcome::Known, false), "nothing comes of it");
            assert_eq!(of(content, |u, _| u), judged(Outcome::Copied, false), "it is copied");
            assert_eq!(of(content, u8::wrapping_add), judged(Outcome::Computed, false), "also where zero is added");
        }
        // What zeros keep out is decided by the contents, as by a mask.
        assert_eq!(of(0, u8::wrapping_mul), judged(Outcome::Known, true));
        assert_eq!(of(3, u8::wrapping_mul), judged(Outcome::Computed, true));
        // A bit of a mask decides, whatever it is here.
        assert_eq!(of(1, |u, x| if x & 1 != 0 { u } else { 5 }), judged(Outcome::Copied, true));
        assert_eq!(of(0, |u, x| if x & 1 != 0 { u } else { 5 }), judged(Outcome::Known, true));
    }

    #[test]
    fn what_contents_have_decided_before_stays_so() {
        // A byte that is uninitialised with other contents only, and one that comes from no buffer.
        for here in [false, true] {
            let tries = Tries::new(false, true, |round, tried| match round.guesses(here, true) {
                true => round.guess(tried, 3, false),
                false => 9,
            });
            let outcome = if here { Outcome::Copied } else { Outcome::Known };
            assert_eq!(tries.judge(|byte| *byte), Judged { outcome, by_data: true });
        }
    }

    #[test]
    fn bits_of_predicates_are_told_apart() {
        // One bit of a mask of the text, one of a mask from a buffer.
        let tries = Tries::new(true, false, |round, tried| {
            round.guess(tried, 3, false) & (1 | round.content(7).unwrap_or(0) & 2)
        });
        assert_eq!(tries.lost(|one, other| one ^ other), Lost { here: 1, by_data: 2 });
    }
}
