//! Which elements of an axis make each element of the resized one, and with which weights.
//!
//! Coordinates are fractions of integers and weights are f64 until they are stored, so rounding changes neither the
//! neighbours nor the weights. The gradient's table is the same table in the other direction.

use std::collections::TryReserveError;
use std::f64::consts::PI;

use smallvec::SmallVec;

/// How an element is made of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Filter {
    /// The one at or before the element's start, or its middle; corners do not matter.
    Nearest { middle: bool },
    /// Two by their distance.
    Linear,
    /// Four by Keys' kernel with a = -0.75; beyond the ends the last element repeats.
    Cubic,
    /// Up to six by the windowed sinc; beyond the ends there are none, and the weights of the rest add up to 1.
    Lanczos3,
}

/// An axis of `from` elements that is given `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AxisResize {
    pub filter: Filter,
    /// Whether the first and last elements lie on each other, else the outer edges do.
    pub align_corners: bool,
    pub from: usize,
    pub to: usize,
}

/// Whether values go from the old axis to the new one, or gradients back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// The extent of what is read.
    pub fn operand(self, resize: AxisResize) -> usize {
        match self {
            Direction::Forward => resize.from,
            Direction::Backward => resize.to,
        }
    }

    /// The extent of what is made.
    pub fn result(self, resize: AxisResize) -> usize {
        match self {
            Direction::Forward => resize.to,
            Direction::Backward => resize.from,
        }
    }

    /// About how many elements are read for each that is made.
    pub fn reads(self, resize: AxisResize) -> usize {
        let there = match resize.filter {
            Filter::Nearest { .. } => 1,
            Filter::Linear => 2,
            Filter::Cubic => 4,
            Filter::Lanczos3 => 6,
        };
        match self {
            Direction::Forward => there,
            Direction::Backward => there.saturating_mul(resize.to).div_ceil(resize.from),
        }
    }
}

/// What an element takes of another one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tap {
    at: usize,
    weight: f64,
}

/// The taps of an element, mostly few.
type Few = SmallVec<[Tap; 6]>;

/// [`Taps`](super::taps::Taps) on the host, slot after slot.
pub(super) struct HostTaps {
    pub slots: usize,
    pub indices: Vec<i32>,
    pub weights: Vec<f32>,
    pub reads_zero: bool,
}

impl HostTaps {
    /// The table of an axis.
    ///
    /// # Errors
    /// If the process has no memory for it.
    pub fn new(resize: AxisResize, direction: Direction) -> Result<Self, TryReserveError> {
        match direction {
            Direction::Forward => {
                let slots = (0..resize.to).map(|new| resize.taps(new)).max().unwrap_or(0);
                Self::of(resize.to, resize.from, slots, |new, taps| resize.visit(new, |tap| taps.push(tap)))
            }
            Direction::Backward => {
                let shares = Shares::of(resize)?;
                let slots = (0..resize.from).map(|old| shares.of_element(old).len()).max().unwrap_or(0);
                Self::of(resize.from, resize.to, slots, |old, taps| taps.extend_from_slice(shares.of_element(old)))
            }
        }
    }

    /// The table of `count` elements, of which `taps_of` says what each takes of those of an axis of `operand`: at most
    /// `slots` of them.
    fn of(
        count: usize,
        operand: usize,
        slots: usize,
        taps_of: impl Fn(usize, &mut Few),
    ) -> Result<Self, TryReserveError> {
        let (indices, weights) = (filled(operand as i32, slots * count)?, filled(1.0, slots * count)?);
        let mut table = Self { slots, indices, weights, reads_zero: false };
        let mut taps = Few::new();
        for element in 0..count {
            taps.clear();
            taps_of(element, &mut taps);
            table.reads_zero |= taps.is_empty();
            fill(&mut taps, slots);
            for (slot, tap) in taps.iter().enumerate() {
                table.indices[slot * count + element] = tap.at as i32;
                table.weights[slot * count + element] = tap.weight as f32;
            }
        }
        Ok(table)
    }
}

/// What each new element takes of the old ones, by the old ones.
struct Shares {
    /// Where those of each old element end in `taps`.
    ends: Vec<usize>,
    taps: Vec<Tap>,
}

impl Shares {
    fn of(resize: AxisResize) -> Result<Self, TryReserveError> {
        // A gradient that is NaN stays with the pixels that have a part in it.
        let each = |share: &mut dyn FnMut(usize, Tap)| {
            for new in 0..resize.to {
                resize.visit(new, |tap| {
                    if tap.weight != 0.0 {
                        share(tap.at, Tap { at: new, ..tap });
                    }
                });
            }
        };
        let mut ends = filled(0, resize.from)?;
        each(&mut |old, _| ends[old] += 1);
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        let mut taps = filled(Tap { at: 0, weight: 0.0 }, before)?;
        // Where the next one is put: at last the end.
        each(&mut |old, tap| {
            taps[ends[old]] = tap;
            ends[old] += 1;
        });
        Ok(Self { ends, taps })
    }

    fn of_element(&self, old: usize) -> &[Tap] {
        let start = if old == 0 { 0 } else { self.ends[old - 1] };
        &self.taps[start..self.ends[old]]
    }
}

/// A vector of `count` equal numbers. Tables may be as large as a tensor, so that there may be no memory for them.
fn filled<T: Clone>(number: T, count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count)?;
    numbers.resize(count, number);
    Ok(numbers)
}

/// Brings an element's taps to `slots` without a change of their sum: the last one is cut in parts.
///
/// A weight of 0 on some element would make NaN of an infinity there. Halves are exact; after 2^-20 what is left is too
/// small for its rounding to matter.
fn fill(taps: &mut Few, slots: usize) {
    let missing = slots - taps.len();
    let Some(mut last) = taps.pop() else { return };
    for _ in 0..missing.min(20) {
        last.weight /= 2.0;
        taps.push(last);
    }
    last.weight /= (slots - taps.len()) as f64;
    taps.resize(slots, last);
}

impl Filter {
    /// Whether each element is one of its neighbours.
    pub fn picks(self) -> bool {
        matches!(self, Filter::Nearest { .. })
    }
}

impl AxisResize {
    /// How often each element repeats, if that is all that happens.
    pub fn repeats(self) -> Option<usize> {
        let is_whole = self.filter.picks() && self.to.is_multiple_of(self.from);
        is_whole.then_some(self.to / self.from)
    }

    /// Where element `new` lies among the old ones: the element at or before it, and how far behind that it is.
    fn place(self, new: usize) -> (i64, f64) {
        let [new, from, to] = [new, self.from, self.to].map(|count| count as i64);
        let (numerator, denominator) = match self.filter {
            Filter::Nearest { middle: false } => (new * from, to),
            Filter::Nearest { middle: true } => ((2 * new + 1) * from, 2 * to),
            Filter::Linear | Filter::Cubic | Filter::Lanczos3 if self.align_corners => {
                (new * (from - 1), (to - 1).max(1))
            }
            Filter::Linear | Filter::Cubic | Filter::Lanczos3 => ((2 * new + 1) * from - to, 2 * to),
        };
        (numerator.div_euclid(denominator), numerator.rem_euclid(denominator) as f64 / denominator as f64)
    }

    /// How often [`Self::visit`] calls for element `new`.
    fn taps(self, new: usize) -> usize {
        match self.filter {
            Filter::Nearest { .. } => 1,
            Filter::Linear => 2,
            Filter::Cubic => 4,
            Filter::Lanczos3 => self.inside(self.place(new).0).count(),
        }
    }

    /// The steps from the element `low` to those that the windowed sinc reaches.
    fn inside(self, low: i64) -> impl Iterator<Item = i64> + Clone {
        let last = self.from as i64 - 1;
        (-2..=3).filter(move |step| (0..=last).contains(&(low + step)))
    }

    /// Calls `tap` with what element `new` takes of each old one.
    fn visit(self, new: usize, mut tap: impl FnMut(Tap)) {
        let (low, behind) = self.place(new);
        let last = self.from as i64 - 1;
        let mut visit = |at: i64, weight| tap(Tap { at: at.clamp(0, last) as usize, weight });
        match self.filter {
            Filter::Nearest { .. } => visit(low, 1.0),
            Filter::Linear => {
                // Before the first element there is nothing to go between.
                let behind = if low < 0 { 0.0 } else { behind };
                visit(low, 1.0 - behind);
                visit(low.max(0) + 1, behind);
            }
            Filter::Cubic => (-1..=2).for_each(|step| visit(low + step, cubic(behind - step as f64))),
            Filter::Lanczos3 => {
                let inside = self.inside(low);
                let weight = |step: i64| lanczos3(behind - step as f64);
                let sum: f64 = inside.clone().map(weight).sum();
                inside.for_each(|step| visit(low + step, weight(step) / sum));
            }
        }
    }
}

/// Keys' cubic convolution kernel with a = -0.75.
fn cubic(distance: f64) -> f64 {
    const A: f64 = -0.75;
    match distance.abs() {
        d @ ..1.0 => 1.0 - d * d * (A + 3.0 - (A + 2.0) * d),
        d @ ..2.0 => A * (d - 1.0) * (d - 2.0) * (d - 2.0),
        _ => 0.0,
    }
}

/// The sinc function in a window of three lobes of a wider one.
fn lanczos3(distance: f64) -> f64 {
    let sinc = |x: f64| if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) };
    if distance.abs() < 3.0 { sinc(distance) * sinc(distance / 3.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    const FILTERS: [Filter; 5] = [
        Filter::Nearest { middle: false },
        Filter::Nearest { middle: true },
        Filter::Linear,
        Filter::Cubic,
        Filter::Lanczos3,
    ];

    fn each(mut check: impl FnMut(AxisResize)) {
        for filter in FILTERS {
            for align_corners in [false, true] {
                for from in 1..12 {
                    (1..40).for_each(|to| check(AxisResize { filter, align_corners, from, to }));
                }
            }
        }
    }

    #[test]
    fn weights_of_an_element_add_up_to_1() {
        each(|resize| {
            let table = HostTaps::new(resize, Direction::Forward).unwrap();
            for element in 0..resize.to {
                let sum: f32 = (0..table.slots).map(|slot| table.weights[slot * resize.to + element]).sum();
                assert!((sum - 1.0).abs() < 1e-6, "{resize:?}, element {element}: {sum}");
            }
            assert!(!table.reads_zero, "{resize:?}");
        });
    }

    #[test]
    fn the_gradient_is_the_same_matrix_turned() {
        each(|resize| {
            let matrix = |direction: Direction| {
                let (table, count) = (HostTaps::new(resize, direction).unwrap(), direction.result(resize));
                let mut matrix = vec![0.0; resize.from * resize.to];
                for (place, (&index, &weight)) in table.indices.iter().zip(&table.weights).enumerate() {
                    let (result, operand) = (place % count, index as usize);
                    if operand == direction.operand(resize) {
                        continue;
                    }
                    matrix[match direction {
                        Direction::Forward => result * resize.from + operand,
                        Direction::Backward => operand * resize.from + result,
                    }] += f64::from(weight);
                }
                matrix
            };
            let (forward, backward) = (matrix(Direction::Forward), matrix(Direction::Backward));
            for (a, b) in forward.iter().zip(&backward) {
                assert!((a - b).abs() < 1e-6, "{resize:?}");
            }
        });
    }

    #[test]
    fn whole_multiples_repeat() {
        each(|resize| {
            let Some(times) = resize.repeats() else { return };
            let indices = HostTaps::new(resize, Direction::Forward).unwrap().indices;
            assert!(indices.iter().enumerate().all(|(at, &index)| index as usize == at / times), "{resize:?}");
        });
    }

    #[test]
    fn neighbours_are_those_of_exact_coordinates() {
        // 49 * (1 / 49.0) is less than 1: in floats the second half would begin one element late.
        let resize = AxisResize { filter: Filter::Nearest { middle: false }, align_corners: false, from: 2, to: 98 };
        let table = HostTaps::new(resize, Direction::Forward).unwrap();
        assert_eq!(table.indices, [[0; 49], [1; 49]].concat());
        assert!(table.weights.iter().all(|&weight| weight == 1.0));
    }

    #[test]
    fn parts_of_a_tap_add_up_to_it() {
        for slots in [1, 2, 3, 7, 22, 500] {
            let mut taps: Few = smallvec![Tap { at: 3, weight: 0.7 }];
            fill(&mut taps, slots);
            assert_eq!(taps.len(), slots);
            let sum: f64 = taps.iter().map(|tap| tap.weight).sum();
            assert!((sum - 0.7).abs() < 1e-12 && taps.iter().all(|tap| tap.weight > 0.0), "{slots}: {sum}");
        }
        let mut none = Few::new();
        fill(&mut none, 3);
        assert!(none.is_empty());
    }
}
