//! The closest match among some names, for "is … meant?" hints.

/// The candidate closest to `name`, if it is close enough: at most a third of its letters changed, added, omitted or
/// swapped with a neighbour. Ties go to the first.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let name: Vec<char> = name.chars().take(64).collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let letters = candidate.chars().count();
        if letters.abs_diff(name.len()) > limit || letters > LONGEST {
            continue;
        }
        let d = distance(&name, candidate);
        if d > 0 && d <= limit && d < letters && best.is_none_or(|(b, _)| d < b) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Maximum length of a candidate in letters.
const LONGEST: usize = 80;

/// Edit distance with swaps of adjacent letters, ignoring ASCII case; at least 1 unless the two are identical.
fn distance(a: &[char], candidate: &str) -> usize {
    let (mut letters, mut count) = (['\0'; LONGEST], 0);
    for (place, letter) in letters.iter_mut().zip(candidate.chars()) {
        *place = letter;
        count += 1;
    }
    let b = &letters[..count];
    if a == b {
        return 0;
    }
    let mut rows = [[0; LONGEST + 1]; 3];
    rows[1].iter_mut().enumerate().for_each(|(j, d)| *d = j);
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let same = a[i - 1].eq_ignore_ascii_case(&b[j - 1]);
            let mut d = (rows[1][j] + 1).min(rows[2][j - 1] + 1).min(rows[1][j - 1] + usize::from(!same));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = d;
        }
        let [before, last, next] = &mut rows;
        std::mem::swap(before, last);
        std::mem::swap(last, next);
    }
    rows[1][b.len()].max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_near_names_only() {
        let names = ["pto.tadd", "pto.tadds", "pto.tmatmul", "scf.for"];
        assert_eq!(nearest("pto.tad", names), Some("pto.tadd"));
        assert_eq!(nearest("pto.tmatmlu", names), Some("pto.tmatmul"));
        assert_eq!(nearest("pto.TADD", names), Some("pto.tadd"));
        assert_eq!(nearest("memref.alloc", names), None);
        assert_eq!(nearest("", names), None);
    }
}
