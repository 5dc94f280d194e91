//! A map that knows which of its entries was used longest ago.

use std::collections::{HashMap, VecDeque, hash_map};

use foldhash::fast::FixedState;

/// Uses that may be noted beside two for each entry, before those that later ones have replaced are forgotten.
const SPARE: usize = 64;

/// Values by hash, in the order in which they were last used.
pub(super) struct Recent<V> {
    entries: HashMap<u64, Entry<V>, FixedState>,
    /// Times with the keys that were used then, oldest first. Of each entry the last use is here, and earlier ones may
    /// be.
    uses: VecDeque<(u64, u64)>,
    /// The time of the last use.
    clock: u64,
}

struct Entry<V> {
    value: V,
    used: u64,
}

impl<V> Default for Recent<V> {
    fn default() -> Self {
        Self { entries: HashMap::default(), uses: VecDeque::new(), clock: 0 }
    }
}

impl<V> Recent<V> {
    /// The value of a key, which is used now.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        self.forget_replaced();
        let entry = self.entries.get_mut(&key)?;
        // A program that runs again and again is the one that was used last.
        if entry.used != self.clock {
            self.clock += 1;
            entry.used = self.clock;
            self.uses.push_back((self.clock, key));
        }
        Some(&mut entry.value)
    }

    /// Puts a value in the place of a key's old one; it is used now.
    pub fn insert(&mut self, key: u64, value: V) {
        self.forget_replaced();
        self.clock += 1;
        self.uses.push_back((self.clock, key));
        self.entries.insert(key, Entry { value, used: self.clock });
    }

    /// Takes out what was used longest ago, with its key.
    pub fn pop_oldest(&mut self) -> Option<(u64, V)> {
        while let Some((time, key)) = self.uses.pop_front() {
            if let hash_map::Entry::Occupied(entry) = self.entries.entry(key)
                && entry.get().used == time
            {
                return Some((key, entry.remove().value));
            }
        }
        None
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The values, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|entry| &entry.value)
    }

    /// Keeps the list of uses about as short as the map: at least half of it goes, so a use costs a few steps.
    fn forget_replaced(&mut self) {
        if self.uses.len() > 2 * self.entries.len() + SPARE {
            let entries = &self.entries;
            self.uses.retain(|(time, key)| entries.get(key).is_some_and(|entry| entry.used == *time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Recent, SPARE};

    #[test]
    fn many_values_leave_in_the_order_of_their_last_use() {
        const MOST: u64 = 1000;
        let mut recent = Recent::default();
        // The keys in the order in which they have to leave.
        let mut order: Vec<u64> = Vec::new();
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = (random >> 33) % (MOST + MOST / 4);
            let found = recent.get_mut(key).copied();
            let place = order.iter().position(|&known| known == key);
            assert_eq!(found, place.map(|_| key * 2));
            match place {
                Some(place) => _ = order.remove(place),
                None => recent.insert(key, key * 2),
            }
            order.push(key);
            if order.len() as u64 > MOST {
                let oldest = order.remove(0);
                assert_eq!(recent.pop_oldest(), Some((oldest, oldest * 2)));
            }
            assert!(recent.uses.len() <= 2 * (order.len() + 1) + SPARE, "uses that count no more are forgotten");
        }
        assert_eq!(recent.values().count(), order.len());
        let left = std::iter::from_fn(|| recent.pop_oldest()).map(|(key, _)| key);
        assert_eq!(left.collect::<Vec<_>>(), order);
    }

    #[test]
    fn a_value_in_the_place_of_another_is_as_new_as_its_own_use() {
        let mut recent = Recent::default();
        for (key, value) in [(1, 'a'), (2, 'b'), (1, 'c')] {
            recent.insert(key, value);
        }
        assert_eq!(std::iter::from_fn(|| recent.pop_oldest()).collect::<Vec<_>>(), [(2, 'b'), (1, 'c')]);
    }
}
