//! Trying what comes of bytes that are uninitialised: for the contents that the buffers have, and for others.
//!
//! A step or an effect that reads such bytes is carried out again and again with other values there, and what comes out
//! differently depends on them. That holds for these contents only: a mask that was loaded, or a number that is none, may keep
//! the bytes out here and let them through elsewhere. So it is tried also with other values in place of everything that comes from
//! buffers. What depends on the bytes with all of these does so whatever the buffers hold; what does so with some of them only is
//! decided by the contents, which the verdict then says.

use crate::Uninit;

/// What bytes that nobody wrote are taken for, one try after the other. Between them they are zeros, infinities, numbers that
/// are not, large, small, positive and negative in the types that there are.
const COPIED: [u8; 5] = [0x00, 0xff, 0x7f, 0x80, 0x3e];
/// The same for bytes that were computed, so that copies of these are told from copies of the others.
const COMPUTED: [u8; 5] = [0xff, 0x00, 0x80, 0x7c, 0xc1];
/// The same with other contents of the buffers: zero, no number, and what is larger and smaller than these contents in every type.
const ELSEWHERE: [u8; 5] = [0x00, 0x7b, 0xfb, 0x80, 0xff];

/// Other contents of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Ordinary numbers in all types,
    Some,
    /// and others, which have no bit in common with them: a mask is set with one of the two.
    Others,
    /// Zeros, which keep out what they are multiplied with or joined with bit by bit.
    Zeros,
}

impl Contents {
    const ALL: [Contents; 3] = [Contents::Some, Contents::Others, Contents::Zeros];
}

/// With what a try is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// The contents as they are.
    Here,
    /// Other contents; whatever may be uninitialised is.
    Perhaps(Contents),
    /// The same, and only what is uninitialised whatever the contents are is.
    Surely(Contents),
}

impl Round {
    /// Tries of this round.
    const fn tries(self) -> usize {
        match self {
            Round::Here => COPIED.len() + 1,
            _ => ELSEWHERE.len(),
        }
    }

    /// Whether bytes are guessed: `here` if they are uninitialised with these contents, `by_data` if contents decide that.
    pub const fn guesses(self, here: bool, by_data: bool) -> bool {
        match self {
            Round::Here => here,
            Round::Perhaps(_) => true,
            Round::Surely(_) => !by_data,
        }
    }

    /// The same of some bytes.
    pub const fn guesses_void(self, void: &Uninit) -> bool {
        self.guesses(void.here, void.by.is_some())
    }

    /// What byte `at` of those that are uninitialised is taken for in a try.
    #[inline]
    pub fn guess(self, tried: usize, at: u64, computed: bool) -> u8 {
        match (self, COPIED.get(tried), COMPUTED.get(tried)) {
            (Round::Here, Some(_), Some(other)) if computed => *other,
            (Round::Here, Some(copied), _) => *copied,
            (Round::Here, ..) => scattered(at) | 1,
            _ => ELSEWHERE[tried],
        }
    }

    /// What byte `at` of those that come from buffers is taken for; `None` where it stays.
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

/// What a byte of the outcome is, with these contents of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It does not depend on the bytes that are uninitialised.
    Known,
    /// A copy of a byte that nobody wrote.
    Copied,
    /// A copy of one that was computed.
    CopiedComputed,
    /// Computed from such bytes.
    Computed,
}

/// What a byte of the outcome is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged {
    /// With these contents.
    pub outcome: Outcome,
    /// With other contents it may be otherwise: known, or not.
    pub by_data: bool,
}

/// Which bits of a part of the outcome depend on the bytes that are uninitialised.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lost {
    /// These with these contents,
    pub here: u8,
    /// and with these the contents decide.
    pub by_data: u8,
}

/// What came of all tries.
#[derive(Debug)]
pub struct Tries<T> {
    rounds: Vec<(Round, Vec<T>)>,
}

impl<T> Tries<T> {
    /// Makes the tries. `varies`: something that comes from buffers has a part in the outcome; `unsure`: something that is read means
    /// nothing with some contents only.
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

    /// Which bits depend on the bytes that are uninitialised: `differ` says in which ones two tries of a round differ.
    pub fn lost(&self, differ: impl Fn(&T, &T) -> u8) -> Lost {
        self.over_rounds(differ, |bits| bits)
    }

    /// The same of a byte of a number, in which all bits depend on them whatever the contents are if some do: which ones it are is
    /// decided by the other contents as well.
    pub fn lost_in_byte(&self, differ: impl Fn(&T, &T) -> u8) -> Lost {
        self.over_rounds(differ, |bits| if bits == 0 { 0 } else { u8::MAX })
    }

    /// `all` is what is taken to differ with other contents where some bits do.
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

    /// The same of an outcome as a whole.
    pub fn depends(&self, same: impl Fn(&T, &T) -> bool) -> Lost {
        self.lost_in_byte(|one, other| u8::from(!same(one, other)))
    }

    /// Judges a byte by its value in each try.
    pub fn judge(&self, value: impl Fn(&T) -> u8) -> Judged {
        let lost = self.lost_in_byte(|one, other| value(one) ^ value(other));
        let by_data = lost.by_data != 0;
        if lost.here == 0 {
            return Judged { outcome: Outcome::Known, by_data };
        }
        let is = |tries: &[T], values: &[u8; 5]| values.iter().zip(tries).all(|(guess, tried)| value(tried) == *guess);
        let here = &self.rounds[0].1;
        // What is a copy only because a zero was added is none with other contents.
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
