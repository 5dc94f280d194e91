//! Integers of 64 bits that are near each other as fewer bits: their distances from the smallest one, or to the largest.

use super::CHUNK;
use crate::ignore_poison::IgnorePoison;
use crate::kernels::threads::{self, PARALLEL_BYTES};
use bytemuck::Pod;
use std::sync::Mutex;

/// The highest bit: 64-bit integers with it inverted have the order of signed ones.
pub const SIGN: u64 = 1 << 63;

/// An integer that is read as 64 bits.
pub trait Number: Pod + Send + Sync {
    fn wide(self) -> u64;
}

impl Number for i32 {
    #[inline(always)]
    fn wide(self) -> u64 {
        i64::from(self).cast_unsigned()
    }
}

impl Number for u64 {
    #[inline(always)]
    fn wide(self) -> u64 {
        self
    }
}

/// Where numbers begin and end, and which way their distances count.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// What makes unsigned numbers of the same order: [`SIGN`] or nothing.
    sign: u64,
    low: u64,
    high: u64,
    descending: bool,
}

impl Limits {
    /// Of at least one number.
    pub fn of<T: Number>(numbers: &[T], sign: u64, descending: bool) -> Self {
        let all = Mutex::new([u64::MAX, 0]);
        let parallel = size_of_val(numbers) > PARALLEL_BYTES;
        let together = if parallel { 4 } else { numbers.len() };
        threads::for_each(numbers.len().div_ceil(CHUNK), together, &|part| {
            let part = &numbers[part * CHUNK..numbers.len().min((part + 1) * CHUNK)];
            let [low, high] = part.iter().fold([u64::MAX, 0], |[low, high], number| {
                let number = number.wide() ^ sign;
                [low.min(number), high.max(number)]
            });
            let mut all = all.lock().ignore_poison();
            *all = [all[0].min(low), all[1].max(high)];
        });
        let [low, high] = *all.lock().ignore_poison();
        Self { sign, low, high, descending }
    }

    /// The largest distance.
    pub fn most(&self) -> u64 {
        self.high - self.low
    }

    /// The distance of one of the numbers.
    #[inline(always)]
    pub fn distance<T: Number>(&self, number: T) -> u64 {
        let number = number.wide() ^ self.sign;
        if self.descending { self.high - number } else { number - self.low }
    }

    /// The inverse of [`distance`](Self::distance), for numbers of 64 bits.
    #[inline(always)]
    pub fn number(&self, distance: u64) -> u64 {
        self.sign ^ if self.descending { self.high - distance } else { self.low + distance }
    }
}
