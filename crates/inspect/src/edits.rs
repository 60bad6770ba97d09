//! Differences between two versions of a text.

/// The lines in which two texts differ: the bytes of the old text that are replaced, and their replacement.
pub fn changed_lines<'n>(old: &str, new: &'n str) -> (std::ops::Range<usize>, &'n str) {
    fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
        text.split_inclusive('\n')
    }
    let same = |(a, b): &(&str, &str)| a == b;
    let front: usize = lines(old).zip(lines(new)).take_while(same).map(|(line, _)| line.len()).sum();
    let (rest, instead) = (lines(&old[front..]).rev(), lines(&new[front..]).rev());
    let back: usize = rest.zip(instead).take_while(same).map(|(line, _)| line.len()).sum();
    (front..old.len() - back, &new[front..new.len() - back])
}
