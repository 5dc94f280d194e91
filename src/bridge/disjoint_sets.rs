//! Which numbers belong together, where that is known of pairs.

/// Sets of the numbers below a count, at first each number by itself: for each number another one of its set, or
/// itself.
pub(super) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    pub fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The one number that stands for the set of a number.
    pub fn of(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    /// Makes one set of those of `a` and `b`. What stands for that of `b` stands for both.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a] = b;
    }
}
