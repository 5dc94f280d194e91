//! The free buffers of the pool, by size class, and the limits up to which they are kept.

use std::collections::{BTreeMap, VecDeque};

use super::Serial;
use super::allocation::Left;
use crate::ffi;
use crate::tensor_type::TensorType;

/// How many of the newest free buffers are looked at for one that has a tensor data object of the wanted type.
const NEAR: usize = 16;

/// How much of what the device recommends all buffers may take before free ones are released. The rest is left for
/// what does not come from the pool, such as MPSGraph's scratch memory.
const COMFORTABLE_PERCENT: u64 = 95;

/// A buffer that is free.
pub(super) struct FreeBuffer {
    pub buffer: ffi::Buffer,
    pub left: Left,
    pub last_use: Serial,
    /// When it became free, by a count of buffers that did.
    pub freed: u64,
}

/// Free buffers, and the counts of all.
pub(super) struct Free {
    /// Of each class the buffers in the order in which they became free.
    pub classes: BTreeMap<usize, VecDeque<FreeBuffer>>,
    /// The most bytes of live buffers; allocations beyond it fail.
    pub memory_limit: u64,
    /// The most bytes of free buffers.
    pub cache_limit: u64,
    /// The bytes of all buffers above which free ones are released.
    pub comfortable: u64,
    pub frees: u64,
    pub buffers_live: u64,
    pub bytes_live: u64,
    pub buffers_cached: u64,
    pub bytes_cached: u64,
    pub bytes_peak: u64,
}

impl Free {
    /// None yet, on a device that recommends so many bytes at most.
    pub fn new(recommended: u64) -> Self {
        Self {
            classes: BTreeMap::new(),
            memory_limit: u64::MAX,
            cache_limit: recommended / 2,
            comfortable: recommended / 100 * COMFORTABLE_PERCENT,
            frees: 0,
            buffers_live: 0,
            bytes_live: 0,
            buffers_cached: 0,
            bytes_cached: 0,
            bytes_peak: 0,
        }
    }

    /// A free buffer for a value of type `ty`, which is of the class `wanted`: of that class, or of one up to half as
    /// large again if memory is short. One that was bound with the type before is preferred: its tensor data object
    /// need not be made anew.
    pub fn reuse(
        &mut self,
        wanted: usize,
        ty: &TensorType,
        may_be: impl Fn(&FreeBuffer) -> bool,
    ) -> Option<(usize, FreeBuffer)> {
        let pick = |of_class: &mut VecDeque<FreeBuffer>| {
            let newest = || of_class.iter().enumerate().rev().filter(|(_, free)| may_be(free));
            let shows = |(_, free): &(usize, &FreeBuffer)| free.left.has(ty);
            let (at, _) = newest().take(NEAR).find(shows).or_else(|| newest().next())?;
            of_class.remove(at)
        };
        let short = self.bytes_live + self.bytes_cached + wanted as u64 > self.comfortable;
        let largest = if short { wanted + wanted / 2 } else { wanted };
        let found =
            self.classes.range_mut(wanted..=largest).find_map(|(&class, of_class)| Some((class, pick(of_class)?)))?;
        self.buffers_cached -= 1;
        self.bytes_cached -= found.0 as u64;
        Some(found)
    }

    pub fn begin(&mut self, class: usize) {
        self.buffers_live += 1;
        self.bytes_live += class as u64;
    }

    /// Notes the bytes that are live, when all of them have buffers.
    pub fn note_peak(&mut self) {
        self.bytes_peak = self.bytes_peak.max(self.bytes_live);
    }

    pub fn end(&mut self, class: usize) {
        self.buffers_live -= 1;
        self.bytes_live -= class as u64;
    }

    pub fn keep(&mut self, class: usize, buffer: FreeBuffer) {
        self.frees += 1;
        self.buffers_cached += 1;
        self.bytes_cached += class as u64;
        self.classes.entry(class).or_default().push_back(FreeBuffer { freed: self.frees, ..buffer });
    }

    /// Takes out what is over a limit.
    #[must_use]
    pub fn make_room(&mut self, progress: ProgressNow) -> Vec<FreeBuffer> {
        self.release_while(progress, |free| {
            free.bytes_cached > free.cache_limit || free.bytes_live + free.bytes_cached > free.comfortable
        })
    }

    /// Takes out free buffers that the device is done with, the least recently used first.
    #[must_use]
    pub fn release_while(&mut self, progress: ProgressNow, goes_on: impl Fn(&Self) -> bool) -> Vec<FreeBuffer> {
        let mut released = Vec::new();
        while self.buffers_cached > 0 && goes_on(self) {
            let oldest = self.classes.iter().filter_map(|(&class, of_class)| {
                let (at, first) = progress.oldest(of_class)?;
                Some((first.freed, class, at))
            });
            let Some((_, class, at)) = oldest.min() else {
                break;
            };
            if let Some(of_class) = self.classes.get_mut(&class) {
                released.extend(of_class.remove(at));
                if of_class.is_empty() {
                    self.classes.remove(&class);
                }
                self.buffers_cached -= 1;
                self.bytes_cached -= class as u64;
            }
        }
        released
    }
}

/// How far the device has come, at one time.
#[derive(Clone, Copy)]
pub(super) struct ProgressNow {
    pub completed: Serial,
    /// Whether work that was given up may still use buffers.
    pub after_hang: bool,
}

impl ProgressNow {
    /// The oldest of the buffers of a class, if the device is done with it, and its place.
    fn oldest(self, of_class: &VecDeque<FreeBuffer>) -> Option<(usize, &FreeBuffer)> {
        let candidate = |(_, free): &(usize, &FreeBuffer)| !self.after_hang || !free.buffer.is_used_by_gpu();
        of_class.iter().enumerate().find(candidate).filter(|(_, free)| free.last_use <= self.completed)
    }
}
