//! Tables on the device that an op makes of its attributes alone, such as the places that a resized axis is read from.
//!
//! A table is uploaded when it is first asked for, and kept for the next op with the same attributes, so that steps
//! that repeat upload nothing. `memory_cleanup` releases all of them.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Mutex;

use crate::lock::LockAnyway;
use crate::tensor::MpsGraphTensor;

/// The most bytes that tables of one kind take: resizing to ever new extents must not fill the memory with them.
pub(crate) const KEPT_BYTES: usize = 16 << 20;

/// The tables of one kind, by the attributes that they are made of.
pub(crate) struct Tables<K, T> {
    kept: Mutex<BTreeMap<K, T>>,
}

/// What is kept: cloning shares its buffers.
pub(crate) trait Table: Clone + Send {
    /// What its buffers take.
    fn bytes(&self) -> usize;
}

impl Table for MpsGraphTensor {
    fn bytes(&self) -> usize {
        self.ty().bytes()
    }
}

/// All kinds of which there may be tables.
static KINDS: Mutex<Vec<&'static dyn Release>> = Mutex::new(Vec::new());

trait Release: Sync {
    fn release(&self);
}

/// Releases the tables of every kind. Those that recorded ops or work in flight need live until then.
pub(crate) fn release() {
    let kinds = take(&mut *KINDS.lock_anyway());
    kinds.iter().for_each(|kind| kind.release());
}

impl<K: Ord + Send, T: Table> Tables<K, T> {
    pub const fn new() -> Self {
        Self { kept: Mutex::new(BTreeMap::new()) }
    }

    /// The table of these attributes: the one that is kept, or what `make` uploads.
    ///
    /// If the tables of this kind would take more than [`KEPT_BYTES`], all others of it are released; a table that
    /// takes more by itself is not kept.
    pub fn get(&'static self, attributes: K, make: impl FnOnce() -> T) -> T {
        if let Some(table) = self.kept.lock_anyway().get(&attributes) {
            return table.clone();
        }
        // Without the lock, because an upload may wait for memory. Two threads may upload the same table.
        let table = make();
        if table.bytes() <= KEPT_BYTES {
            // Dropped without the lock too.
            let _older = self.keep(attributes, table.clone());
        }
        table
    }

    /// Keeps the table, and returns those that have to go.
    fn keep(&'static self, attributes: K, table: T) -> BTreeMap<K, T> {
        let mut kept = self.kept.lock_anyway();
        if kept.is_empty() {
            KINDS.lock_anyway().push(self);
        }
        let bytes: usize = kept.values().map(T::bytes).sum();
        let older = if bytes + table.bytes() > KEPT_BYTES { take(&mut *kept) } else { BTreeMap::new() };
        kept.insert(attributes, table);
        older
    }
}

impl<K: Send, T: Table> Release for Tables<K, T> {
    fn release(&self) {
        let kept = take(&mut *self.kept.lock_anyway());
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// [`release`] is for the tables of all tests.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Shows by its count how many clones there are.
    #[derive(Clone)]
    struct Fake(Arc<usize>);

    impl Table for Fake {
        fn bytes(&self) -> usize {
            *self.0
        }
    }

    fn fake(bytes: usize) -> Fake {
        Fake(Arc::new(bytes))
    }

    fn is_kept(table: &Fake) -> bool {
        Arc::strong_count(&table.0) == 2
    }

    #[test]
    fn a_table_is_made_once() {
        let _alone = ALONE.lock_anyway();
        static TABLES: Tables<&str, Fake> = Tables::new();
        let first = TABLES.get("a", || fake(1));
        let again = TABLES.get("a", || unreachable!("it is kept"));
        assert!(Arc::ptr_eq(&first.0, &again.0));
        let other = TABLES.get("b", || fake(1));
        assert!(!Arc::ptr_eq(&first.0, &other.0));
    }

    #[test]
    fn older_tables_go_at_the_bound() {
        let _alone = ALONE.lock_anyway();
        static TABLES: Tables<u8, Fake> = Tables::new();
        let half = KEPT_BYTES / 2;
        let [first, second] = [1, 2].map(|attributes| TABLES.get(attributes, || fake(half)));
        assert!(is_kept(&first) && is_kept(&second), "together they are as large as the bound");
        let third = TABLES.get(3, || fake(1));
        assert!(!is_kept(&first) && !is_kept(&second) && is_kept(&third));
        let huge = TABLES.get(4, || fake(KEPT_BYTES + 1));
        assert!(!is_kept(&huge) && is_kept(&third), "what is never kept costs no other table");
    }

    #[test]
    fn all_kinds_are_released_at_once_and_kept_again() {
        let _alone = ALONE.lock_anyway();
        static TABLES: Tables<u8, Fake> = Tables::new();
        static OTHERS: Tables<u16, Fake> = Tables::new();
        for _ in 0..2 {
            let (table, other) = (TABLES.get(1, || fake(1)), OTHERS.get(1, || fake(1)));
            release();
            assert!(!is_kept(&table) && !is_kept(&other));
        }
    }
}
