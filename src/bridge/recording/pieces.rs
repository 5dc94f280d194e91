//! Where a piece of a program ends whose ops differ each time.
//!
//! Only the ops nearby decide it, so what is recorded alike is divided alike, whatever comes before it: the model
//! behind a random augmentation has pieces of its own, which repeat.

use super::node::Node;

/// The numbers of the nodes that begin another piece, ascending. A piece ends where the ops' hash is the least of as
/// many on both sides as are `nearby`, so it has twice as many in the mean, and eight times as many at most.
pub(in crate::bridge) fn pieces(nodes: &[Node], nearby: usize) -> Vec<usize> {
    // Two ops in a row tell more places apart than one does.
    let pairs = nodes.windows(2).map(|pair| pair[0].hash_anywhere().rotate_left(17) ^ pair[1].hash_anywhere());
    let pairs: Vec<u64> = pairs.collect();
    let (mut begins, mut begin) = (Vec::new(), 0);
    for (at, pair) in pairs.iter().enumerate() {
        let ops = at + 1 - begin;
        let around = &pairs[at.saturating_sub(nearby)..pairs.len().min(at + 1 + nearby)];
        if ops >= nearby && around.iter().all(|other| pair <= other) || ops == 8 * nearby {
            begin = at + 1;
            begins.push(begin);
        }
    }
    begins
}
