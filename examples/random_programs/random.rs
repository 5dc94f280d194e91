//! Random numbers: a generator that gives the same ones everywhere, and what tensors are filled with.

use burn::tensor::{DType, TensorData};
use test_support::integer_data;

use crate::program::Content;
use crate::value::{ValueKind, kind};

/// SplitMix64.
pub struct Random(u64);

impl Random {
    /// `stream` tells apart generators of the same seed.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed ^ stream.wrapping_mul(0x2545_f491_4f6c_dd1d));
        random.0 = random.word();
        random
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A number in `0..end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    /// One time in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// In [-1, 1).
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// The axes in any order.
    pub fn order(&mut self, rank: usize) -> Vec<usize> {
        let mut axes: Vec<usize> = (0..rank).collect();
        for i in (1..rank).rev() {
            axes.swap(i, self.below(i + 1));
        }
        axes
    }

    pub fn data(&mut self, shape: &[usize], dtype: DType, content: Content) -> TensorData {
        let count = shape.iter().product();
        match kind(dtype) {
            ValueKind::Float => {
                let numbers: Vec<f32> = (0..count).map(|_| self.float(dtype, content)).collect();
                TensorData::new(numbers, shape).convert_dtype(dtype)
            }
            ValueKind::Int => {
                let numbers: Vec<i128> = (0..count).map(|_| self.integer(content)).collect();
                integer_data(&numbers, shape.to_vec(), dtype)
            }
            ValueKind::Bool => {
                let bools: Vec<bool> = (0..count).map(|_| self.one_in(2)).collect();
                TensorData::new(bools, shape)
            }
        }
    }

    fn float(&mut self, dtype: DType, content: Content) -> f32 {
        let smallest = if dtype == DType::F16 { 6.0e-8 } else { 1e-40 };
        let largest = if dtype == DType::F16 { 65504.0 } else { 3e38 };
        let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, smallest, -smallest, largest, -largest];
        if content == Content::Special && self.one_in(3) {
            return self.pick(&special);
        }
        // Halves often, so that there are equal elements and ties of rounding.
        match self.below(3) {
            0 => self.below(17) as f32 / 2.0 - 4.0,
            _ => (self.unit() * 4.0) as f32,
        }
    }

    fn integer(&mut self, content: Content) -> i128 {
        match content {
            Content::Below(end) => self.below(end) as i128,
            Content::Special if self.one_in(2) => {
                let near =
                    self.pick(&[0, i128::from(i64::MIN), i128::from(u64::MAX), 1 << 31, 1 << 15, 1 << 7, 1 << 24]);
                near + self.below(5) as i128 - 2
            }
            Content::Special => i128::from(self.word().cast_signed() >> self.below(64)),
            Content::Ordinary | Content::Kept => self.below(67) as i128 - 33,
        }
    }
}
