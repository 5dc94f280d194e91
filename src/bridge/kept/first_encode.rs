//! The first encode of an executable whose program is kept: it belongs to the load, or to the compilation.
//!
//! MPSGraph makes what runs a loaded executable when that is encoded for the first time (macOS 15, by the MPSGraph of
//! iOS 18, decompiled in EthanArbuckle/iPhone17-1_18.2_22C152_Restore). So what it cannot read may end the process
//! there, and a part of the time goes there. Between the load and this encode a flush may wait for memory, for the
//! device and for other threads; meanwhile nothing is noted, and no other process waits for this one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::turn::Turn;

/// A first encode that is to come; if it is dropped, there is none, and nothing is noted.
pub(in crate::bridge) struct FirstEncode {
    folder: PathBuf,
    /// How long the load took, if the executable was not compiled.
    load_time: Option<Duration>,
}

/// A first encode that has begun; if it is dropped, that is taken back.
pub(in crate::bridge) struct BegunEncode {
    turn: Turn,
    load_time: Option<Duration>,
}

impl FirstEncode {
    /// Of a program that was loaded from this folder in this time.
    pub(super) fn of_loaded(folder: &Path, time: Duration) -> Self {
        Self { folder: folder.into(), load_time: Some(time) }
    }

    /// Of a program that was compiled and is kept in this folder.
    pub(super) fn of_compiled(folder: &Path) -> Self {
        Self { folder: folder.into(), load_time: None }
    }

    /// It begins.
    pub fn begin(self) -> BegunEncode {
        let Self { folder, load_time } = self;
        let mut turn = Turn::take_now(&folder);
        if load_time.is_some() {
            turn.begin();
        }
        BegunEncode { turn, load_time }
    }
}

impl BegunEncode {
    /// It has ended, and took so long.
    pub fn end(self, time: Duration) {
        match self.load_time {
            Some(load_time) => self.turn.end_load(load_time + time),
            None => self.turn.end_compiled(time),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::bridge::kept::turn;

    const SECOND: Duration = Duration::from_secs(1);

    /// A folder of a program, which goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("burn-mpsgraph-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("the temporary folder can be written");
            Self(path)
        }

        /// Loads, the least time in seconds, what has begun, and the time of an encode in seconds.
        fn notes(&self) -> [u64; 4] {
            let text = fs::read_to_string(self.0.join(turn::NAME)).expect("there are notes");
            let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
            let [loads, least, begun, encode] = numbers.try_into().expect("four numbers");
            [loads, least / 1_000_000_000, begun, encode / 1_000_000_000]
        }

        /// A load, which takes five seconds.
        fn load(&self) -> FirstEncode {
            let mut turn = Turn::take(&self.0, SECOND).expect("it may be loaded");
            turn.begin();
            assert_eq!(self.notes()[2], 1);
            drop(turn);
            FirstEncode::of_loaded(&self.0, 5 * SECOND)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_first_encode_belongs_to_the_load() {
        let folder = Folder::new("load");
        let first = folder.load();
        assert_eq!(folder.notes(), [0, 0, 0, 0], "between the two nothing is noted");
        let begun = first.begin();
        assert_eq!(folder.notes(), [0, 0, 1, 0]);
        begun.end(2 * SECOND);
        assert_eq!(folder.notes(), [1, 7, 0, 0]);
        folder.load().begin().end(3 * SECOND);
        assert_eq!(folder.notes(), [2, 7, 0, 0]);
    }

    #[test]
    fn an_encode_that_does_not_end_is_taken_back() {
        let folder = Folder::new("taken-back");
        drop(folder.load().begin());
        assert_eq!(folder.notes(), [0, 0, 0, 0]);
        // It is never encoded, or another thread has done it.
        drop(folder.load());
        assert_eq!(folder.notes(), [0, 0, 0, 0]);
    }

    #[test]
    fn nobody_waits_for_a_first_encode_that_has_not_begun_and_it_waits_for_nobody() {
        let folder = Folder::new("nobody-waits");
        let first = folder.load();
        let mut other = Turn::take(&folder.0, SECOND).expect("nobody loads it");
        other.begin();
        first.begin().end(SECOND);
        assert_eq!(folder.notes(), [0, 0, 1, 0], "the other process has its turn");
        other.end_load(SECOND);
        assert_eq!(folder.notes(), [1, 1, 0, 0]);
    }

    #[test]
    fn what_is_slow_is_compared_with_both_parts_of_compiling() {
        let folder = Folder::new("slow-encode");
        (0..3).for_each(|_| folder.load().begin().end(SECOND));
        assert!(Turn::take(&folder.0, SECOND).is_some(), "nobody knows how long its first encode takes");
        FirstEncode::of_compiled(&folder.0).begin().end(5 * SECOND);
        assert_eq!(folder.notes(), [3, 6, 0, 5]);
        assert!(Turn::take(&folder.0, SECOND).is_some());
        assert!(Turn::take(&folder.0, SECOND / 2).is_none());
    }
}
