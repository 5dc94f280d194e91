//! Pieces that come together at the begin or at the end of nearly all steps.
//!
//! A model behind a random augmentation is many pieces, and each of them would be a submission. What belongs to it is
//! learnt from the steps that were divided: how they end is counted from every piece on, and how they begin up to every
//! piece. As long as one more piece makes it hardly rarer, it is the same stretch.

use crate::bridge::recording::Node;
use crate::bridge::remembered::Remembered;

/// How often steps have to end or begin alike.
const OFTEN: u32 = 8;

/// Hashes of what divided steps ended and began with.
#[derive(Default)]
pub(super) struct Stretches(Remembered);

impl Stretches {
    /// The numbers of the nodes that begin another stretch, or a piece that belongs to none, if `begins` are those that
    /// begin another piece; none if no pieces belong together. Notes the step.
    pub fn of(&mut self, nodes: &[Node], begins: &[usize]) -> Vec<usize> {
        let bounds: Vec<usize> = [0].into_iter().chain(begins.iter().copied()).chain([nodes.len()]).collect();
        let pieces: Vec<u64> = bounds.windows(2).map(|piece| hash(&nodes[piece[0]..piece[1]])).collect();
        let first = self.alike(pieces.iter().copied(), 1);
        let last = self.alike(pieces.iter().rev().copied(), 2);
        if first.max(last) < 2 {
            return Vec::new();
        }
        let is_between = |at: usize| at >= first && pieces.len() - at >= last;
        let begins = begins.iter().enumerate().map(|(at, &begin)| (at + 1, begin));
        begins.filter(|&(at, _)| is_between(at)).map(|(_, begin)| begin).collect()
    }

    /// How many of these pieces, from the first one on, nearly all steps have that have the first one; notes them.
    fn alike(&mut self, pieces: impl Iterator<Item = u64>, seed: u64) -> usize {
        let (mut sequence, mut count_before, mut alike, mut goes_on) = (seed, 0, 0, true);
        for piece in pieces {
            sequence = (sequence.rotate_left(11) ^ piece).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let count = self.0.count(sequence);
            goes_on &= count >= OFTEN && 4 * count >= 3 * count_before;
            alike += usize::from(goes_on);
            count_before = count;
            self.0.note(sequence);
        }
        alike
    }
}

/// A hash of a piece.
fn hash(piece: &[Node]) -> u64 {
    piece.iter().fold(piece.len() as u64, |hash, node| hash.rotate_left(7) ^ node.hash_anywhere())
}
