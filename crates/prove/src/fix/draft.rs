//! A text that is edited line by line, and how its lines map to those of the original.

use std::collections::BTreeMap;

/// An edit of lines, which are counted from 0 in the text before the edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Inserts a line before this one.
    Before(usize, String),
    /// Inserts a line after this one.
    After(usize, String),
    /// Removes these lines.
    Remove(std::ops::Range<usize>),
    /// Moves these lines after line `to`.
    Move {
        #[allow(missing_docs)]
        from: std::ops::Range<usize>,
        #[allow(missing_docs)]
        to: usize,
    },
    /// Replaces a line.
    Replace(usize, String),
}

/// A line, and its index in the original text.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    /// Whether its terminator is CR LF, where a line follows it.
    cr: bool,
    was: Option<usize>,
}

/// A text with its edits so far.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    lines: Vec<Line>,
    /// Whether the first line ends in CR LF: then new lines do, too.
    cr: bool,
}

impl Draft {
    pub fn new(text: &str) -> Draft {
        let cr = text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'));
        let last = text.matches('\n').count();
        let line = |(at, text): (usize, &str)| match text.strip_suffix('\r').filter(|_| at < last) {
            Some(text) => Line { text: text.to_string(), cr: true, was: Some(at) },
            None => Line { text: text.to_string(), cr: cr && at == last, was: Some(at) },
        };
        Draft { lines: text.split('\n').enumerate().map(line).collect(), cr }
    }

    /// The whole text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (at, line) in self.lines.iter().enumerate() {
            text += &line.text;
            if at + 1 < self.lines.len() {
                text += if line.cr { "\r\n" } else { "\n" };
            }
        }
        text
    }

    /// The text with these edits; insertions before or after the same line keep their order.
    pub fn with(&self, changes: &[Change]) -> Draft {
        let mut before: BTreeMap<usize, Vec<Line>> = BTreeMap::new();
        let mut lines: Vec<Option<Line>> = self.lines.iter().cloned().map(Some).collect();
        let blanks = |at: usize| {
            let text = self.lines.get(at).map_or("", |line| line.text.as_str());
            text[..text.len() - text.trim_start().len()].to_string()
        };
        let new = |at: usize, text: &str| Line { text: blanks(at) + text, cr: self.cr, was: None };
        for change in changes {
            match change {
                Change::Before(at, text) => before.entry(*at).or_default().push(new(*at, text)),
                Change::After(at, text) => before.entry(at + 1).or_default().push(new(*at, text)),
                Change::Remove(range) => lines[range.clone()].fill(None),
                Change::Move { from, to } => {
                    let moved = lines[from.clone()].iter_mut().filter_map(Option::take);
                    let moved = moved.map(|line| Line { text: blanks(*to) + line.text.trim_start(), ..line });
                    before.entry(to + 1).or_default().extend(moved);
                }
                Change::Replace(at, text) => {
                    if let Some(Some(line)) = lines.get_mut(*at) {
                        line.text.clone_from(text);
                    }
                }
            }
        }
        let count = lines.len();
        let mut all = Vec::new();
        for (at, line) in lines.into_iter().enumerate() {
            all.extend(before.remove(&at).into_iter().flatten());
            all.extend(line);
        }
        all.extend(before.remove(&count).into_iter().flatten());
        Draft { lines: all, cr: self.cr }
    }

    /// The differences from the original text, one per item: new lines with the original line that they follow.
    pub fn changes(&self, first: &Draft) -> Vec<String> {
        let mut said = Vec::new();
        let mut behind = 0;
        let (mut highest, mut kept) = (None, vec![false; first.lines.len()]);
        for line in &self.lines {
            let text = line.text.trim();
            match line.was {
                None => said.push(format!("`{text}` after line {behind}")),
                Some(was) => {
                    if let Some(kept) = kept.get_mut(was) {
                        *kept = true;
                    }
                    if highest.is_some_and(|highest| was < highest) {
                        said.push(format!("line {} (`{text}`) moves after line {behind}", was + 1));
                        continue;
                    }
                    if first.lines.get(was).is_some_and(|first| first.text != line.text) {
                        said.push(format!("line {} becomes `{text}`", was + 1));
                    }
                    (highest, behind) = (Some(was), was + 1);
                }
            }
        }
        for (at, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            said.push(format!("line {} is removed (`{}`)", at + 1, first.lines[at].text.trim()));
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_by_the_lines_of_the_first_text() {
        let first = Draft::new("a\n  b\nc\nd\n");
        let next = first.with(&[Change::Before(1, "x".into()), Change::After(1, "y".into()), Change::Remove(2..3)]);
        assert_eq!(next.text(), "a\n  x\n  b\n  y\nd\n");
        let last = next.with(&[Change::Move { from: 2..3, to: 4 }, Change::Replace(0, "A".into())]);
        assert_eq!(last.text(), "A\n  x\n  y\nd\nb\n");
        let said = ["line 1 becomes `A`", "`x` after line 1", "`y` after line 1", "line 2 (`b`) moves after line 4"];
        assert_eq!(last.changes(&first), [&said[..], &["line 3 is removed (`c`)"]].concat());
        assert!(first.changes(&first).is_empty());
    }

    #[test]
    fn new_lines_end_as_the_others_do() {
        let first = Draft::new("a\r\n\r\n  b\r\nc");
        assert_eq!(first.text(), "a\r\n\r\n  b\r\nc");
        let next = first.with(&[
            Change::Before(1, "w".into()),
            Change::After(2, "x".into()),
            Change::After(3, "y".into()),
            Change::Replace(0, "A".into()),
        ]);
        assert_eq!(next.text(), "A\r\nw\r\n\r\n  b\r\n  x\r\nc\r\ny");
        assert_eq!(next.changes(&first)[0], "line 1 becomes `A`");
        assert_eq!(Draft::new("a\nb\r\n").with(&[Change::After(0, "x".into())]).text(), "a\nx\nb\r\n");
    }
}
