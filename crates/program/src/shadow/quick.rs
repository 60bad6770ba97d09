//! A quick test of the marks of up to one vector register.

use super::Marks;

impl Marks {
    /// True only if no byte of the range is uninitialised, for any contents; false is inconclusive.
    #[inline]
    pub fn is_clean(&self, from: u64, to: u64) -> bool {
        let Some(first) = ((from / 64) as usize).checked_sub(self.base) else { return false };
        let words = self.nothing.get(first..to.div_ceil(64) as usize - self.base);
        matches!(words, Some([a, b, c, d]) if a | b | c | d == 0)
    }
}
