//! Counts of objects, for tests that look for leaks or for objects made without need.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use crate::objc::{registry, slab};

/// Live instances by class name; classes without any are left out.
pub fn live_objects() -> BTreeMap<&'static str, usize> {
    registry::all()
        .into_iter()
        .map(|class| (class.name(), class.info.live.load(Relaxed)))
        .filter(|&(_, count)| count > 0)
        .collect()
}

/// Live instances of one class, not of its subclasses; 0 for a name that no class has.
pub fn live_count(class: &str) -> usize {
    registry::find(class).map_or(0, |class| class.info.live.load(Relaxed))
}

/// How many objects were made and deallocated since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectTotals {
    /// Allocated or made by a factory method.
    pub made: u64,
    /// Released for the last time.
    pub deallocated: u64,
}

/// The totals so far.
pub fn object_totals() -> ObjectTotals {
    let (made, deallocated) = slab::totals();
    ObjectTotals { made, deallocated }
}
