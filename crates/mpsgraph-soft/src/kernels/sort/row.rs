//! One row of unsigned keys: radix sort from the lowest digit up, in pieces that are merged if threads are left for it.
//!
//! Bits in which no two keys differ are skipped. The low bits are also skipped if the keys are already in order by
//! them: callers put positions there to make the order of equal keys certain.

use crate::kernels::threads::{PARALLEL_BYTES, both};
use bytemuck::Pod;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// The standard library sorts rows up to this length.
const SHORT: usize = 256;
/// From this length on, rows are worth the larger tables of wider digits.
const LONG: usize = 1 << 14;
/// Values of the widest digit.
const BUCKETS: usize = 1 << WIDEST;
const WIDEST: u32 = 11;

/// An unsigned integer.
pub trait Key:
    Pod + Ord + Send + Sync + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    const BITS: u32;
    const ZERO: Self;
    /// The highest bit alone.
    const SIGN: Self;
    /// The low bits of a number.
    fn of(number: u64) -> Self;
    /// The lowest `count` bits alone; all if there are fewer.
    fn low(count: u32) -> Self;
    /// How many bits from the highest one down are 0.
    fn leading_zeros(self) -> u32;
    /// How many bits from the lowest one up are 0.
    fn trailing_zeros(self) -> u32;
    /// The bits from `from` on as far as `mask` goes.
    fn digit(self, from: u32, mask: usize) -> usize;
}

macro_rules! keys {
    ($($t:ident)*) => {$(
        impl Key for $t {
            const BITS: u32 = $t::BITS;
            const ZERO: Self = 0;
            const SIGN: Self = 1 << ($t::BITS - 1);
            #[inline(always)]
            fn of(number: u64) -> Self {
                number as $t
            }
            fn low(count: u32) -> Self {
                (1 as $t).checked_shl(count).map_or($t::MAX, |beyond| beyond - 1)
            }
            fn leading_zeros(self) -> u32 {
                self.leading_zeros()
            }
            fn trailing_zeros(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline(always)]
            fn digit(self, from: u32, mask: usize) -> usize {
                (self >> from) as usize & mask
            }
        }
    )*};
}
keys!(u16 u32 u64);

/// Sorts keys, which are a row of `extent` or a part of one. `scratch` is as long.
pub fn sort<K: Key>(keys: &mut [K], scratch: &mut [K], extent: usize, threads: usize) {
    let bytes = size_of_val(keys);
    if threads < 2 || bytes <= PARALLEL_BYTES {
        return sort_alone(keys, scratch, extent);
    }
    let middle = keys.len() / 2;
    let ([low, high], [low_scratch, high_scratch]) = (halves(keys, middle), halves(scratch, middle));
    let threads = threads.div_ceil(2);
    both(true, &mut || sort(low, low_scratch, extent, threads), &mut || sort(high, high_scratch, extent, threads));
    merge(low, high, scratch);
    let ([low, high], [low_scratch, high_scratch]) = (halves(keys, middle), halves(scratch, middle));
    both(true, &mut || low.copy_from_slice(low_scratch), &mut || high.copy_from_slice(high_scratch));
}

fn halves<K>(keys: &mut [K], middle: usize) -> [&mut [K]; 2] {
    keys.split_at_mut(middle).into()
}

/// Merges two sorted runs into `out`.
fn merge<K: Key>(a: &[K], b: &[K], out: &mut [K]) {
    let bytes = size_of_val(out);
    if bytes <= PARALLEL_BYTES {
        return merge_alone(a, b, out);
    }
    let [longer, shorter] = if a.len() < b.len() { [b, a] } else { [a, b] };
    let middle = longer.len() / 2;
    let (lower, upper) = longer.split_at(middle);
    let (below, above) = shorter.split_at(shorter.partition_point(|&key| key < upper[0]));
    let [low, high] = halves(out, lower.len() + below.len());
    both(true, &mut || merge(lower, below, low), &mut || merge(upper, above, high));
}

fn merge_alone<K: Key>(a: &[K], b: &[K], out: &mut [K]) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        let first = x <= y;
        out[i + j] = if first { x } else { y };
        (i, j) = (i + usize::from(first), j + usize::from(!first));
    }
    let at = i + j;
    let (from_a, from_b) = out[at..].split_at_mut(a.len() - i);
    from_a.copy_from_slice(&a[i..]);
    from_b.copy_from_slice(&b[j..]);
}

fn sort_alone<K: Key>(keys: &mut [K], scratch: &mut [K], extent: usize) {
    if keys.len() <= SHORT {
        return keys.sort_unstable();
    }
    if is_ordered(keys) {
        return;
    }
    let first = keys[0];
    let differing = keys.iter().fold(K::ZERO, |differing, &key| differing | (key ^ first));
    if differing == K::ZERO {
        return;
    }
    let from = differing.trailing_zeros().max(ordered_bits(keys, extent));
    radix_sort(keys, scratch, from, K::BITS - differing.leading_zeros());
}

/// Whether the keys are in order, into which they are brought if they are in the opposite one.
fn is_ordered<K: Key>(keys: &mut [K]) -> bool {
    let is_reversed = keys.is_sorted_by(|a, b| a >= b);
    if is_reversed {
        keys.reverse();
    }
    is_reversed || keys.is_sorted()
}

/// As many low bits as a position in a row takes, if the keys are in order by those.
fn ordered_bits<K: Key>(keys: &[K], extent: usize) -> u32 {
    let count = extent.next_power_of_two().trailing_zeros();
    let low = K::low(count);
    if keys.is_sorted_by_key(|&key| key & low) { count } else { 0 }
}

/// Sorts by the bits from `from` to `to`, keeping the order of keys that are equal there.
fn radix_sort<K: Key>(keys: &mut [K], scratch: &mut [K], from: u32, to: u32) {
    let bits = to.saturating_sub(from);
    let widest = if keys.len() < LONG { 8 } else { WIDEST };
    let passes = bits.div_ceil(widest);
    let width = if passes == 0 { return } else { bits.div_ceil(passes) };
    let (mut source, mut target) = (keys, scratch);
    let mut moves = 0;
    for pass in 0..passes {
        if distribute(source, target, from + pass * width, (1 << width) - 1) {
            (source, target) = (target, source);
            moves += 1;
        }
    }
    if moves % 2 == 1 {
        // The keys are in the scratch memory; `target` is where they belong.
        target.copy_from_slice(source);
    }
}

/// Moves keys to `target` in the order of one digit, unless it is the same in all.
fn distribute<K: Key>(source: &[K], target: &mut [K], from: u32, mask: usize) -> bool {
    let mut ends = [0u32; BUCKETS];
    for &key in source {
        ends[key.digit(from, mask) & (BUCKETS - 1)] += 1;
    }
    if ends[source[0].digit(from, mask)] as usize == source.len() {
        return false;
    }
    let mut start = 0;
    for end in &mut ends[..=mask] {
        start += std::mem::replace(end, start);
    }
    for &key in source {
        let next = &mut ends[key.digit(from, mask) & (BUCKETS - 1)];
        target[*next as usize] = key;
        *next += 1;
    }
    true
}
