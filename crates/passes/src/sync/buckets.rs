//! Items grouped by the numbered place to which they belong.

/// A list of items for each place; those of one place in order of insertion.
pub(super) struct Buckets<T> {
    /// By place, the index of its first item; those of the next place follow.
    starts: Vec<usize>,
    things: Vec<T>,
}

impl<T> Buckets<T> {
    /// Items and their places, which are below `count`.
    pub(super) fn new(count: usize, mut things: Vec<(usize, T)>) -> Buckets<T> {
        things.sort_by_key(|(place, _)| *place);
        let mut starts = vec![0; count + 1];
        things.iter().for_each(|(place, _)| starts[place + 1] += 1);
        (0..count).for_each(|place| starts[place + 1] += starts[place]);
        Buckets { starts, things: things.into_iter().map(|(_, thing)| thing).collect() }
    }

    /// The items of a place.
    pub(super) fn at(&self, place: usize) -> &[T] {
        &self.things[self.starts[place]..self.starts[place + 1]]
    }
}
