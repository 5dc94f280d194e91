//! The random generator's states: one per random op, fed to the program as its operand.

/// The random generator: a key, and the number of states that it has given.
pub(super) struct Generator {
    seed: u64,
    draws: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { seed, draws: 0 }
    }

    /// A generator that goes on where one with this [`state`](Self::state) was.
    pub fn with_state([seed, draws]: [u64; 2]) -> Self {
        Self { seed, draws }
    }

    /// The seed and the number of states given.
    pub fn state(&self) -> [u64; 2] {
        [self.seed, self.draws]
    }

    /// State for one random op, in the layout of MPSGraph's Philox state: 1, four counter words, two key words.
    ///
    /// The counter of each draw is scattered over the 2^128 positions, so draws do not overlap however MPSGraph counts
    /// within one; the key is the seed.
    pub fn next_state(&mut self) -> [i32; 7] {
        self.draws = self.draws.wrapping_add(1);
        let low = split_mix(self.draws);
        let high = split_mix(low ^ self.seed);
        let words = |x: u64| [x as i32, (x >> 32) as i32];
        let ([a, b], [c, d], [e, f]) = (words(low), words(high), words(self.seed));
        [1, a, b, c, d, e, f]
    }
}

/// The output function of the SplitMix64 generator: a bijection that spreads consecutive numbers.
fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
