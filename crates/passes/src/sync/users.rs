//! The users of the event ids of one ordered pair of pipes, and where they hold them.

use std::collections::{BTreeMap, BTreeSet};

use super::order::{Pair, Pos};

/// The range over which an id is held: by a pair of the function, or by a call whose callee uses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Use {
    /// Block in which the set and the wait are.
    pub block: usize,
    pub set: Pos,
    pub wait: Pos,
}

/// A user of an id; without a pair it is a callee.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    pub held: Use,
    pub id: u32,
    pub pair: Option<Pair>,
}

/// Index of a user, in order of insertion.
pub(super) type Number = usize;

/// Users in one block, by the positions of their set and their wait.
type Spans = BTreeSet<(Pos, Pos, Number)>;

/// All users of the ids of one ordered pair of pipes.
#[derive(Default, Debug)]
pub(super) struct Users {
    list: Vec<Option<User>>,
    /// By id and block, the users in the block ordered by their sets.
    places: BTreeMap<(u32, usize), Spans>,
    /// By pair: its [`key`].
    owners: BTreeMap<Key, Number>,
}

/// A pair of these pipes as two integers, which compare faster than its parts: block and kind, set and wait.
type Key = (u64, u128);

fn key(pair: &Pair) -> Key {
    let positions = u128::from(pair.set.key()) << 64 | u128::from(pair.wait.key());
    ((pair.block as u64) << 1 | u64::from(pair.carried), positions)
}

impl Users {
    pub(super) fn add(&mut self, user: User) {
        self.put(self.list.len(), user);
    }

    /// Replaces a user by another.
    pub(super) fn replace(&mut self, number: Number, user: User) {
        self.take(number);
        self.put(number, user);
    }

    fn put(&mut self, number: Number, user: User) {
        let Use { block, set, wait } = user.held;
        if let Some(pair) = &user.pair {
            self.release(pair);
            self.owners.insert(key(pair), number);
        }
        self.places.entry((user.id, block)).or_default().insert((set, wait, number));
        if number == self.list.len() {
            self.list.push(None);
        }
        self.list[number] = Some(user);
    }

    /// Removes a user.
    pub(super) fn take(&mut self, number: Number) {
        let Some(User { held: Use { block, set, wait }, id, pair }) = self.list[number].take() else { return };
        if let Some(there) = self.places.get_mut(&(id, block)) {
            there.remove(&(set, wait, number));
        }
        pair.map(|pair| self.owners.remove(&key(&pair)));
    }

    /// Releases the id of a pair.
    pub(super) fn release(&mut self, pair: &Pair) {
        if let Some(number) = self.owners.get(&key(pair)).copied() {
            self.take(number);
        }
    }

    /// Every user.
    pub(super) fn iter(&self) -> impl Iterator<Item = &User> {
        self.list.iter().flatten()
    }

    /// The users of an id outside one block.
    pub(super) fn outside(&self, id: u32, block: usize) -> impl Iterator<Item = &User> {
        let blocks = self.places.range((id, 0)..=(id, usize::MAX)).filter(move |((_, of), _)| *of != block);
        blocks.flat_map(|(_, there)| there).filter_map(|(.., number)| self.list[*number].as_ref())
    }

    /// The users of an id in a block whose sets are in a range, with their numbers, in the order of their sets.
    pub(super) fn inside(
        &self,
        id: u32,
        block: usize,
        sets: impl std::ops::RangeBounds<Pos>,
    ) -> impl DoubleEndedIterator<Item = (Number, &User)> {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        const FIRST: (Pos, Number) = (Pos::START, 0);
        const LAST: (Pos, Number) = (Pos::END, Number::MAX);
        let at = |set: &Pos, (wait, number): (Pos, Number)| (*set, wait, number);
        let start = match sets.start_bound() {
            Included(set) => Included(at(set, FIRST)),
            Excluded(set) => Excluded(at(set, LAST)),
            Unbounded => Unbounded,
        };
        let end = match sets.end_bound() {
            Included(set) => Included(at(set, LAST)),
            Excluded(set) => Excluded(at(set, FIRST)),
            Unbounded => Unbounded,
        };
        let there = self.places.get(&(id, block)).into_iter();
        let found = there.flat_map(move |there| there.range((start, end)));
        found.filter_map(|(.., number)| Some((*number, self.list[*number].as_ref()?)))
    }
}
