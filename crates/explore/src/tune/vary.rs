//! The parameters varied over a grid, and the points of the grid.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use slipring::{Error, MOST_BLOCKS};

/// Maximum number of points in a grid.
pub const MOST_POINTS: usize = 100_000;

/// A name and its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vary {
    /// The varied parameter: a constant of the file, a parameter of a function that builds kernels, a scalar parameter
    /// of the kernel, or `slot_num`, `slot_num.2` (only for pipe 2), `split`, `blocks`, `clusters`, `arch`.
    pub name: String,
    /// Its values as written, each once.
    pub values: Vec<String>,
}

impl FromStr for Vary {
    type Err = String;

    /// `TILE=32,64,128`, `slot_num=1..4`, `slot_num=2..8..2`: ranges are inclusive, the third number is the step.
    fn from_str(text: &str) -> Result<Vary, String> {
        let wrong = || format!("`NAME=VALUE,VALUE`, `NAME=1..4` or `NAME=16..64..16`, not `{text}`");
        let (name, list) = text.split_once('=').ok_or_else(wrong)?;
        let name = name.trim().to_string();
        if name.is_empty() || list.trim().is_empty() {
            return Err(wrong());
        }
        let (mut values, mut seen) = (Vec::new(), BTreeSet::new());
        for part in list.split(',').map(str::trim) {
            let own = match range(part) {
                Some(range) => range?,
                None if part.is_empty() => return Err(wrong()),
                None => vec![part.to_string()],
            };
            for value in own {
                if !seen.insert(value.clone()) {
                    return Err(format!("`{name}` has the value {value} twice"));
                }
                values.push(value);
            }
        }
        Ok(Vary { name, values })
    }
}

/// The numbers of `1..4` or `16..64..16`; `None` if it is not a range.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let words: Vec<&str> = text.split("..").map(|word| word.trim().trim_start_matches('=')).collect();
    let numbers: Vec<i64> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (first, last, step) = match numbers[..] {
        [first, last] => (first, last, 1),
        [first, last, step] => (first, last, step),
        _ => return None,
    };
    if first > last || step < 1 {
        return Some(Err(format!("`{text}` is empty: a range is ascending, such as `1..4` or `16..64..16`")));
    }
    let count = (last.abs_diff(first) / step.unsigned_abs()).saturating_add(1);
    if count > MOST_POINTS as u64 {
        return Some(Err(format!("`{text}` has {count} values; a grid has at most {MOST_POINTS} points")));
    }
    Some(Ok((0..count as i64).map(|at| (first + at * step).to_string()).collect()))
}

impl fmt::Display for Vary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.values.join(","))
    }
}

/// A name and its value at one point.
pub type Setting = (String, String);

/// Every combination of values; the last parameter varies fastest.
///
/// # Errors
/// If a name occurs twice, or there are too many.
pub fn grid(vary: &[Vary]) -> Result<Vec<Vec<Setting>>, Error> {
    for (at, own) in vary.iter().enumerate() {
        if vary[..at].iter().any(|other| other.name == own.name) {
            return Err(Error::Arguments(format!("`{}` varies twice", own.name)));
        }
    }
    let count = vary.iter().try_fold(1usize, |all, own| all.checked_mul(own.values.len()));
    if count.is_none_or(|count| count > MOST_POINTS) {
        return Err(Error::Arguments(format!("a grid has at most {MOST_POINTS} points")));
    }
    let mut points: Vec<Vec<Setting>> = vec![Vec::new()];
    for own in vary {
        let with = |point: &Vec<Setting>| {
            let each = own.values.iter().map(|value| {
                let mut point = point.clone();
                point.push((own.name.clone(), value.clone()));
                point
            });
            each.collect::<Vec<_>>()
        };
        points = points.iter().flat_map(with).collect();
    }
    Ok(points)
}

/// The meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// A constant of the file, or a parameter of a function that builds kernels.
    Constant,
    /// Slots of each ring, or of those of one pipe: its `id`, or its first flag.
    Slots(Option<i64>),
    /// How the compiler divides Vector work.
    Split,
    /// Blocks of a launch.
    Blocks,
    /// Clusters of a whole program.
    Clusters,
    /// The platform.
    Arch,
    /// A scalar parameter of the kernel.
    Argument,
}

/// Names with a general meaning, unless the file has a constant of that name.
pub(super) const WORDS: [(&str, Word); 5] = [
    ("slot_num", Word::Slots(None)),
    ("split", Word::Split),
    ("blocks", Word::Blocks),
    ("clusters", Word::Clusters),
    ("arch", Word::Arch),
];

/// The general meaning of a name: one of [`WORDS`], or `slot_num.2`, the slots of pipe 2.
pub(super) fn meaning(name: &str) -> Option<Word> {
    let of_a_pipe = || Some(Word::Slots(Some(name.strip_prefix("slot_num.")?.parse().ok()?)));
    WORDS.iter().find(|(word, _)| *word == name).map(|(_, word)| *word).or_else(of_a_pipe)
}

/// A number from 1 to the maximum number of blocks of a launch.
pub(super) fn count(name: &str, value: &str) -> Result<u32, Error> {
    let number = value.parse().ok().filter(|n| (1..=MOST_BLOCKS).contains(n));
    number.ok_or_else(|| Error::Arguments(format!("`{name}` is a number from 1 to {MOST_BLOCKS}, not `{value}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lists_and_ranges() {
        let read = |text: &str| text.parse::<Vary>().map(|vary| vary.values.join(" "));
        assert_eq!(read("TILE=32,64,128").unwrap(), "32 64 128");
        assert_eq!(read("slot_num=1..4").unwrap(), "1 2 3 4");
        assert_eq!(read("TILE=16..64..16,256").unwrap(), "16 32 48 64 256");
        assert_eq!(read("split=UP_DOWN,LEFT_RIGHT").unwrap(), "UP_DOWN LEFT_RIGHT");
        assert_eq!(read("x=-1..1").unwrap(), "-1 0 1");
        for wrong in ["TILE", "=3", "TILE=", "TILE=1,,2", "n=4..1", "n=1..9..0", "n=1,1", "n=0..9999999999"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_grid_has_every_combination() {
        let vary = |text: &str| text.parse::<Vary>().unwrap();
        let points = grid(&[vary("a=1,2"), vary("b=x,y,z")]).unwrap();
        let shown: Vec<String> = points.iter().map(|p| format!("{}{}", p[0].1, p[1].1)).collect();
        assert_eq!(shown, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert!(grid(&[vary("a=1,2"), vary("a=3")]).is_err());
        assert!(grid(&[vary("a=1..1000"), vary("b=1..1000")]).is_err());
    }
}
