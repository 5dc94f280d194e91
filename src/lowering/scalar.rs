//! Scalars: numbers that change between runs of one program. They are fed, so a new learning rate compiles nothing.
//!
//! All of a program's scalars travel in two small buffers, one of f32 and one of i32, whose elements are called lanes.
//! A float takes one lane, an integer two, the state of a random generator seven. Scalars of one program whose bits are
//! equal share their lanes, because each lane that an op reads is a node of the graph: an optimizer gives every tensor
//! the same seven numbers. If they differ in a later run, the program is compiled once more with lanes of their own.

use std::collections::HashMap;

use burn_backend::{DType, Scalar};
use foldhash::fast::FixedState;

use crate::tensor_type::TensorType;

/// A number that an op takes at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScalarInput {
    Float(f64),
    Int(i64),
    /// May exceed `i64::MAX`: the lanes hold the bit pattern.
    UInt(u64),
    /// State of the random generator: the seven words of MPSGraph's Philox state.
    RandomState([i32; 7]),
}

/// How a scalar is laid out in the lanes; part of a program's identity, unlike its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScalarKind {
    /// One f32.
    Float,
    /// Two i32; see [`words`].
    Integer,
    /// Seven i32.
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

    /// The bits by which scalars of one kind are equal; `None` for what never shares: two draws are two values, also
    /// from one state.
    fn bits(self) -> Option<u64> {
        match self {
            ScalarInput::Float(x) => Some((x as f32).to_bits().into()),
            ScalarInput::Int(x) => Some(x as u64),
            ScalarInput::UInt(x) => Some(x),
            ScalarInput::RandomState(_) => None,
        }
    }
}

/// An integer as two words: the low one has its low bits, and the number is high · 2^32 + low in wrapping arithmetic,
/// both words signed. So a dtype of 32 bits or less needs the low word only.
fn words(x: i64) -> [i32; 2] {
    [x as i32, (x.wrapping_sub((x as i32).into()) >> 32) as i32]
}

/// What one run of a program is fed for its scalars.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lanes {
    /// The bits of f32.
    pub floats: Vec<u32>,
    pub integers: Vec<i32>,
}

impl Lanes {
    /// What each buffer of lanes is filled with; their types are [`Layout::types`].
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        let both: [&[u8]; 2] = [bytemuck::cast_slice(&self.floats), bytemuck::cast_slice(&self.integers)];
        both.into_iter().filter(|bytes| !bytes.is_empty())
    }
}

/// Where in the lanes each of a program's scalars is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The first lane of each scalar, among those of its type.
    pub first: Vec<u32>,
    /// How many lanes of f32 there are.
    pub floats: usize,
    /// How many lanes of i32 there are.
    pub integers: usize,
}

impl Layout {
    /// Equal scalars share lanes, unless they have different ones in the layout `before`, which the program had.
    pub fn new(scalars: &[ScalarInput], before: Option<&Layout>) -> Self {
        let mut layout = Layout { first: Vec::with_capacity(scalars.len()), floats: 0, integers: 0 };
        let mut known: HashMap<(u32, ScalarKind, u64), u32, FixedState> = HashMap::default();
        for (at, &scalar) in scalars.iter().enumerate() {
            let (count, taken) = match scalar.kind() {
                ScalarKind::Float => (1, &mut layout.floats),
                ScalarKind::Integer => (2, &mut layout.integers),
                ScalarKind::RandomState => (7, &mut layout.integers),
            };
            let mut fresh = || {
                let first = *taken as u32;
                *taken += count;
                first
            };
            let first = match scalar.bits() {
                None => fresh(),
                Some(bits) => {
                    let together = before.map_or(0, |before| before.first[at]);
                    *known.entry((together, scalar.kind(), bits)).or_insert_with(fresh)
                }
            };
            layout.first.push(first);
        }
        layout
    }

    /// The types of the buffers of lanes, in the order in which they are fed; none of a type without lanes.
    pub fn types(&self) -> impl Iterator<Item = TensorType> {
        let both = [(DType::F32, self.floats), (DType::I32, self.integers)].into_iter();
        both.filter(|(_, count)| *count > 0).map(|(dtype, count)| TensorType::new(dtype, [count].into()))
    }

    /// The lanes of a run with these scalars; `None` if some that share lanes are not equal.
    pub fn lanes(&self, scalars: &[ScalarInput]) -> Option<Lanes> {
        debug_assert_eq!(self.first.len(), scalars.len());
        let mut lanes = Lanes { floats: Vec::with_capacity(self.floats), integers: Vec::with_capacity(self.integers) };
        let fits = scalars.iter().zip(&self.first).all(|(&scalar, &first)| {
            let first = first as usize;
            match scalar {
                ScalarInput::Float(x) => put(&mut lanes.floats, first, &[(x as f32).to_bits()]),
                ScalarInput::Int(x) => put(&mut lanes.integers, first, &words(x)),
                ScalarInput::UInt(x) => put(&mut lanes.integers, first, &words(x as i64)),
                ScalarInput::RandomState(state) => put(&mut lanes.integers, first, &state),
            }
        });
        fits.then_some(lanes)
    }
}

/// Puts a scalar into its lanes; whether what is there already is equal. Layouts give out lanes in order.
fn put<T: Copy + PartialEq>(lanes: &mut Vec<T>, first: usize, scalar: &[T]) -> bool {
    if first == lanes.len() {
        lanes.extend_from_slice(scalar);
        return true;
    }
    lanes[first..first + scalar.len()] == *scalar
}

#[cfg(test)]
mod tests {
    use super::ScalarInput::{Float, Int, RandomState, UInt};
    use super::*;

    #[test]
    fn words_of_an_integer_rebuild_it() {
        for x in [0, 1, -1, 65_535, -65_536, i64::from(i32::MIN), 1 << 31, i64::MAX, i64::MIN, 1 << 40] {
            let [low, high] = words(x);
            assert_eq!(i64::from(high).wrapping_mul(1 << 32).wrapping_add(low.into()), x);
            assert_eq!(low, x as i32);
        }
    }

    #[test]
    fn equal_scalars_share_lanes() {
        let state = RandomState([1, 2, 3, 4, 5, 6, 7]);
        let scalars = [Float(0.5), Int(3), Float(0.5), state, UInt(3), Float(-0.0), Float(0.0), state];
        let layout = Layout::new(&scalars, None);
        assert_eq!(layout, Layout { first: vec![0, 0, 0, 2, 0, 1, 2, 9], floats: 3, integers: 16 });
        let lanes = layout.lanes(&scalars).expect("the layout is theirs");
        assert_eq!(lanes.floats, [0.5f32, -0.0, 0.0].map(f32::to_bits));
        assert_eq!(lanes.integers, [3, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn scalars_that_were_different_once_stay_apart() {
        let layout = Layout::new(&[Float(1.0), Float(1.0), Float(1.0)], None);
        assert_eq!(layout.lanes(&[Float(1.0), Float(2.0), Float(1.0)]), None);
        let apart = Layout::new(&[Float(1.0), Float(2.0), Float(1.0)], Some(&layout));
        assert_eq!(apart.first, [0, 1, 0]);
        let again = Layout::new(&[Float(3.0), Float(3.0), Float(4.0)], Some(&apart));
        assert_eq!(again.first, [0, 1, 2]);
        assert!(again.lanes(&[Float(3.0), Float(3.0), Float(3.0)]).is_some());
    }
}
