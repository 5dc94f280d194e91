//! The programs that were compiled lately, and how many of their ops had been dropped before.
//!
//! Ops are counted, not programs, because they are what takes memory and time to compile. Small programs return while
//! large ones of ever new shapes do not: pieces of a loop, say, whose other pieces have the shapes of the batch.

use std::collections::VecDeque;

/// Programs that are remembered.
const PROGRAMS: usize = 64;

/// The last programs that were compiled: the ops of each, and whether it had been dropped.
#[derive(Default)]
pub(super) struct Lately(VecDeque<(usize, bool)>);

impl Lately {
    pub fn note(&mut self, ops: usize, was_dropped: bool) {
        if self.0.len() == PROGRAMS {
            self.0.pop_front();
        }
        self.0.push_back((ops, was_dropped));
    }

    /// Whether a quarter of the ops of the last `programs` had been dropped.
    pub fn many_return(&self, programs: usize) -> bool {
        let (mut all, mut returned) = (0, 0);
        for (ops, was_dropped) in self.0.iter().rev().take(programs) {
            all += ops;
            returned += if *was_dropped { *ops } else { 0 };
        }
        returned > 0 && 4 * returned >= all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(programs: impl IntoIterator<Item = (usize, bool)>) -> Lately {
        let mut lately = Lately::default();
        programs.into_iter().for_each(|(ops, was_dropped)| lately.note(ops, was_dropped));
        lately
    }

    #[test]
    fn small_programs_that_return_do_not_outweigh_large_ones_that_never_do() {
        let lately = noted((0..PROGRAMS).map(|at| if at % 2 == 0 { (5, true) } else { (400, false) }));
        assert!(!lately.many_return(PROGRAMS));
        let lately = noted((0..PROGRAMS).map(|at| (if at % 2 == 0 { 5 } else { 400 }, true)));
        assert!(lately.many_return(PROGRAMS));
    }

    #[test]
    fn a_quarter_of_the_last_programs_is_many() {
        assert!(!noted([]).many_return(PROGRAMS));
        let lately = noted([(10, false), (10, false), (10, false), (10, true)]);
        assert!(lately.many_return(PROGRAMS));
        assert!(!noted([(10, false), (10, false), (10, false), (9, true)]).many_return(4));
        // Of a small cache only the last few count.
        assert!(noted([(10, false), (10, false), (10, false), (9, true)]).many_return(2));
        // And nothing that is long ago.
        let old = (0..10).map(|_| (100, true)).chain((0..PROGRAMS).map(|_| (100, false)));
        assert!(!noted(old).many_return(PROGRAMS));
    }
}
