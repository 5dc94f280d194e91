//! Scalars: numbers that change between runs of one program. They are fed, so that a new learning rate compiles
//! nothing.
//!
//! All of a program's scalars travel in one small f32 buffer, whose elements are called lanes. A float takes one lane.
//! An integer is cut into 16-bit digits, one lane each, which f32 holds exactly; the graph puts them together again
//! with exact integer arithmetic (no 64-bit bit operations, for which MPSGraph lacks kernels).

use burn_backend::Scalar;

/// What one digit of an integer counts in units of the digit below.
pub(super) const DIGIT_RADIX: f64 = 65_536.0;

/// A number that an op takes at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScalarInput {
    Float(f64),
    Int(i64),
    /// Beyond `i64::MAX` too: the digits are those of the bit pattern.
    UInt(u64),
    /// State of the random generator: the seven words of MPSGraph's Philox state.
    RandomState([i32; 7]),
}

/// How a scalar is laid out in the lanes; part of a program's identity, unlike its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScalarKind {
    Float,
    Integer,
    RandomState,
}

impl From<Scalar> for ScalarInput {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Float(x) => ScalarInput::Float(x),
            Scalar::Int(x) => ScalarInput::Int(x),
            Scalar::UInt(x) => ScalarInput::UInt(x),
            Scalar::Bool(x) => ScalarInput::Int(x.into()),
        }
    }
}

impl ScalarInput {
    pub fn kind(self) -> ScalarKind {
        match self {
            ScalarInput::Float(_) => ScalarKind::Float,
            ScalarInput::Int(_) | ScalarInput::UInt(_) => ScalarKind::Integer,
            ScalarInput::RandomState(_) => ScalarKind::RandomState,
        }
    }

    /// Appends the scalar's lanes, lowest digit first; only the highest digit of an integer is signed.
    pub fn write(self, lanes: &mut Vec<f32>) {
        match self {
            ScalarInput::Float(x) => lanes.push(x as f32),
            ScalarInput::Int(x) => lanes.extend((0..4).map(|i| digit(x, i, 3))),
            ScalarInput::UInt(x) => lanes.extend((0..4).map(|i| digit(x as i64, i, 3))),
            ScalarInput::RandomState(words) => {
                for i in 0..2 {
                    lanes.extend(words.map(|word| digit(word.into(), i, 1)));
                }
            }
        }
    }
}

impl ScalarKind {
    /// Lanes that the scalar takes.
    pub const fn lanes(self) -> usize {
        match self {
            ScalarKind::Float => 1,
            ScalarKind::Integer => 4,
            ScalarKind::RandomState => 14,
        }
    }
}

/// The `index`-th 16-bit digit, sign-extended if it is the highest.
fn digit(x: i64, index: u32, highest: u32) -> f32 {
    let shifted = x >> (16 * index);
    if index == highest { shifted as f32 } else { (shifted & 0xffff) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_an_integer_rebuild_it() {
        for x in [0, 1, -1, 65_535, -65_536, i64::from(i32::MIN), i64::MAX, i64::MIN, 1 << 40] {
            let mut lanes = Vec::new();
            ScalarInput::Int(x).write(&mut lanes);
            let back = lanes.iter().rev().fold(0i64, |acc, &d| acc.wrapping_mul(65_536).wrapping_add(d as i64));
            assert_eq!(back, x);
        }
    }

    #[test]
    fn a_random_state_is_seven_low_digits_then_seven_high_ones() {
        let mut lanes = Vec::new();
        ScalarInput::RandomState([1, -1, 65_536, 0, 0, 0, i32::MIN]).write(&mut lanes);
        assert_eq!(lanes[..7], [1.0, 65_535.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(lanes[7..], [0.0, -1.0, 1.0, 0.0, 0.0, 0.0, -32_768.0]);
    }
}
