//! Random numbers from MPSGraph's Philox generator. Its state is fed, so a new draw compiles nothing.
//!
//! All distributions are made of uniform f32 drawn with one axis, because MPSGraph draws shapes of rank 5 and more
//! wrongly (pytorch/pytorch#147624) and its own normal numbers can be NaN. A draw depends on the seed and on how many
//! draws came before it, not on how it is recorded.

use burn_backend::{DType, Distribution, Shape};

use super::Operation;
use super::arithmetic::upper_product;
use crate::bridge::{Runtime, check_size, record};
use crate::dtype::{BOOL, integer_range, require};
use crate::error::{invalid, unsupported};
use crate::ffi;
use crate::lowering::axis::part;
use crate::lowering::conversion::{convert, from_digits, low_bits, signed};
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::reshaped;
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, MOST_ELEMENTS, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// Random numbers of the output's shape and dtype. The node's first scalar is the generator's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RandomOp {
    /// Floats in \[0, 1).
    Unit,
    /// Floats in \[low, high); the scalars are low, the width of what is drawn, and the first and last floats of that
    /// range.
    Uniform,
    /// Integers from low on; the scalars are low, how many there are to choose from, and the last of them counted from
    /// 0.
    Integers,
    /// The same from a range with more numbers than f32 counts exactly, by 64 random bits; without the last scalar.
    WideIntegers,
    /// By mean and standard deviation.
    Normal,
    /// 1 with the probability that is the scalar, else 0.
    Bernoulli,
    /// The same where a uniform f32, of 2^24 values at most, is too coarse: by two, one of which has the probability
    /// [`RARE`], the other what is the scalar.
    RareBernoulli,
}

/// Lower probabilities are a product of this one and another.
const RARE: f64 = 1.0 / 4096.0;

/// The most integers from which one uniform f32 chooses: at least 2^7 of its 2^23 values choose each integer.
const NARROW: u64 = 1 << 16;

/// Numbers drawn from `distribution`. `Default` is \[0, 1) for floats and \[0, 255) for integers.
pub(crate) fn random(op: &'static str, shape: Shape, distribution: Distribution, dtype: DType) -> MpsGraphTensor {
    require(op, dtype, &shape);
    let (kind, parameters) = match distribution {
        Distribution::Default if dtype.is_float() => (RandomOp::Unit, vec![]),
        Distribution::Default => integers(op, 0.0, 255.0, dtype, &shape),
        Distribution::Uniform(low, high) if dtype.is_float() => uniform(op, low, high, dtype, &shape),
        Distribution::Uniform(low, high) => integers(op, low, high, dtype, &shape),
        Distribution::Normal(mean, deviation) => {
            if ![mean, deviation].iter().all(|number| number.abs() <= f64::from(f32::MAX)) {
                let rule = "both must be finite in f32";
                invalid(op, format!("Normal({mean:?}, {deviation:?}), shape {:?}: {rule}", &shape[..]));
            }
            (RandomOp::Normal, vec![ScalarInput::Float(mean), ScalarInput::Float(deviation)])
        }
        Distribution::Bernoulli(probability) => {
            if !(0.0..=1.0).contains(&probability) {
                invalid(
                    op,
                    format!("Bernoulli({probability}), shape {:?}: a probability is within 0 and 1", &shape[..]),
                );
            }
            let is_rare = 0.0 < probability && probability < RARE;
            let kind = if is_rare { RandomOp::RareBernoulli } else { RandomOp::Bernoulli };
            (kind, vec![ScalarInput::Float(if is_rare { probability / RARE } else { probability })])
        }
    };
    let output = TensorType::new(dtype, shape);
    check_size(op, &output);
    if kind.draws(output.elements()) > MOST_ELEMENTS {
        unsupported(op, format!("shape {:?} takes more than 2^30 random numbers; draw it in parts", &output.shape[..]));
    }
    let state = ScalarInput::RandomState(Runtime::get().next_random_state());
    let scalars: Vec<_> = std::iter::once(state).chain(parameters).collect();
    record(kind.into(), &[], &scalars, output)
}

fn uniform(op: &'static str, low: f64, high: f64, dtype: DType, shape: &[usize]) -> (RandomOp, Vec<ScalarInput>) {
    let width = high - low;
    let is_number = |bound: f64| bound.abs() <= dtype.finfo().map_or(f64::MAX, |info| info.max);
    if !(is_number(low) && is_number(high) && width >= 0.0 && width <= f64::from(f32::MAX)) {
        let rule = format!("low must be at most high, both finite in {dtype:?}, and the difference in f32");
        invalid(op, format!("Uniform({low:?}, {high:?}), shape {shape:?}: {rule}"));
    }
    let last = below(high, dtype).max(low);
    let drawn = (drawn_below(high, dtype) - low).max(0.0);
    let scalars = [low, drawn, at_least(low, dtype), last];
    (RandomOp::Uniform, scalars.map(ScalarInput::Float).into())
}

/// Where numbers below `end` begin to be rounded to it. Drawn below this, none is, and the last number is no more often
/// drawn than others.
fn drawn_below(end: f64, dtype: DType) -> f64 {
    below(end, dtype).midpoint(end)
}

/// The largest number of a float dtype below `x`.
fn below(x: f64, dtype: DType) -> f64 {
    largest(x, |y| y < x, dtype)
}

/// The smallest number of a float dtype that is at least `x`.
fn at_least(x: f64, dtype: DType) -> f64 {
    -largest(-x, |y| y <= -x, dtype)
}

/// The largest number of a float dtype that `fits`: the number to which `x` is rounded, or a neighbour of it.
fn largest(x: f64, fits: impl Fn(f64) -> bool, dtype: DType) -> f64 {
    let fitting = |mut bits: u16, value: fn(u16) -> f64| {
        while value(bits).is_finite() && !fits(value(bits)) {
            bits = step_down(bits);
        }
        value(bits)
    };
    if dtype == DType::F16 {
        fitting(half::f16::from_f64(x).to_bits(), |bits| half::f16::from_bits(bits).to_f64())
    } else if dtype == DType::BF16 {
        fitting(half::bf16::from_f64(x).to_bits(), |bits| half::bf16::from_bits(bits).to_f64())
    } else {
        let y = x as f32;
        if fits(y.into()) { y.into() } else { y.next_down().into() }
    }
}

/// The bits of the next smaller number of a finite 16-bit float in sign-magnitude form.
fn step_down(bits: u16) -> u16 {
    match bits {
        0 => 0x8001,
        0x8000.. => bits + 1,
        _ => bits - 1,
    }
}

fn integers(op: &'static str, low: f64, high: f64, dtype: DType, shape: &[usize]) -> (RandomOp, Vec<ScalarInput>) {
    let (min, max) = integer_range(dtype);
    // `as` saturates, so a bound beyond the dtype is the dtype's.
    let (first, end) = ((low as i128).clamp(min, max), (high as i128).clamp(min, max + 1));
    if end < first || low.is_nan() || high.is_nan() {
        invalid(op, format!("Uniform({low:?}, {high:?}), shape {shape:?}: an empty range"));
    }
    let count = u64::try_from((end - first).max(1)).unwrap_or(u64::MAX);
    let first = ScalarInput::Int(first as i64);
    if count <= NARROW {
        return (
            RandomOp::Integers,
            vec![first, ScalarInput::Float(count as f64), ScalarInput::Float((count - 1) as f64)],
        );
    }
    (RandomOp::WideIntegers, vec![first, ScalarInput::UInt(count)])
}

impl RandomOp {
    /// How many uniform numbers `elements` results take.
    fn draws(self, elements: usize) -> usize {
        match self {
            Self::Unit | Self::Uniform | Self::Integers | Self::Bernoulli => elements,
            Self::Normal => elements.next_multiple_of(2),
            Self::RareBernoulli => elements.saturating_mul(2),
            Self::WideIntegers => elements.saturating_mul(3),
        }
    }
}

impl Operation for RandomOp {
    fn name(&self) -> &'static str {
        "random"
    }

    fn lower(&self, cx: &Lowering<'_>, _inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let TensorType { dtype, shape } = output;
        let elements = output.elements();
        let state = cx.random_state(0);
        let (drawn, _) = cx.graph().random_uniform(&[self.draws(elements)], &state);
        // Numbers get their shape before something is computed of them: a product must not read this reshape itself if
        // it is of 16-bit floats (`Provenance::needs_barrier`).
        let placed = |flat: &ffi::Tensor| reshaped(cx, flat, &[elements], shape);
        match self {
            Self::Unit => {
                if *dtype == DType::F32 {
                    return placed(&drawn);
                }
                let width = cx.constant(drawn_below(1.0, *dtype), DType::F32);
                let value = cx.graph().multiplication(&placed(&drawn), &width);
                convert(cx, &value, DType::F32, *dtype)
            }
            Self::Uniform => {
                let [low, width] = [1, 2].map(|i| cx.scalar(i, DType::F32));
                let [first, last] = [3, 4].map(|i| cx.scalar(i, *dtype));
                let graph = cx.graph();
                let value = graph.addition(&graph.multiplication(&placed(&drawn), &width), &low);
                // Rounding can leave the range at either end.
                let value = convert(cx, &value, DType::F32, *dtype);
                graph.minimum(&graph.maximum(&value, &first), &last)
            }
            Self::Integers => {
                let bits = signed(*dtype);
                let low = cx.scalar(1, bits);
                let [count, last] = [2, 3].map(|i| cx.scalar(i, DType::F32));
                let graph = cx.graph();
                let index = graph.minimum(&graph.floor(&graph.multiplication(&placed(&drawn), &count)), &last);
                let index = graph.cast(&index, ffi::DataType::I32);
                low_bits(graph, &graph.addition(&low_bits(graph, &index, DType::I32, bits), &low), bits, *dtype)
            }
            Self::WideIntegers => {
                let (low, count) = (cx.scalar(1, DType::I64), cx.scalar(2, DType::I64));
                let graph = cx.graph();
                // A remainder would prefer low numbers, of 2^63 and more twice as much as others.
                let index = upper_product(cx, &random_bits(cx, &drawn, elements), &count, elements);
                let index = graph.reshape(&index, shape);
                low_bits(graph, &graph.addition(&index, &low), DType::I64, *dtype)
            }
            Self::Normal => {
                let [mean, deviation] = [1, 2].map(|i| cx.scalar(i, DType::F32));
                let graph = cx.graph();
                let value = placed(&normal(cx, &drawn, elements));
                let value = graph.addition(&graph.multiplication(&value, &deviation), &mean);
                convert(cx, &value, DType::F32, *dtype)
            }
            Self::Bernoulli => {
                let probability = cx.scalar(1, DType::F32);
                let hit = cx.graph().less_than(&placed(&drawn), &probability);
                convert(cx, &hit, BOOL, *dtype)
            }
            Self::RareBernoulli => {
                let (rare, probability) = (cx.constant(RARE, DType::F32), cx.scalar(1, DType::F32));
                let graph = cx.graph();
                let [first, second] =
                    [0, elements].map(|from| placed(&part(graph, &drawn, &[2 * elements], 0, [from, from + elements])));
                let hit = graph.logical_and(&graph.less_than(&first, &rare), &graph.less_than(&second, &probability));
                convert(cx, &hit, BOOL, *dtype)
            }
        }
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::Nothing
    }
}

/// Standard normal numbers by Box and Muller's transform of pairs, one half of `drawn` with the other.
fn normal(cx: &Lowering<'_>, drawn: &ffi::Tensor, elements: usize) -> ffi::Tensor {
    let graph = cx.graph();
    let constant = |value| cx.constant(value, DType::F32);
    let pairs = elements.div_ceil(2);
    let half = |from: usize| part(graph, drawn, &[2 * pairs], 0, [from, from + pairs]);
    // In (0, 1], whose logarithm is finite.
    let above_zero = graph.subtraction(&constant(1.0), &half(0));
    let radius = graph.square_root(&graph.multiplication(&graph.logarithm(&above_zero), &constant(-2.0)));
    let angle = graph.multiplication(&half(pairs), &constant(std::f64::consts::TAU));
    let (x, y) = (graph.multiplication(&radius, &graph.cos(&angle)), graph.multiplication(&radius, &graph.sin(&angle)));
    let both = graph.concat(&[&x, &y], 0);
    part(graph, &both, &[2 * pairs], 0, [0, elements])
}

/// 64 random bits per element as i64, from the leading 22 + 21 + 21 bits of three numbers in \[0, 1).
fn random_bits(cx: &Lowering<'_>, drawn: &ffi::Tensor, elements: usize) -> ffi::Tensor {
    let graph = cx.graph();
    let digit = |at: usize, values: f64| {
        let third = part(graph, drawn, &[3 * elements], 0, [at * elements, (at + 1) * elements]);
        let scaled = graph.floor(&graph.multiplication(&third, &cx.constant(values, DType::F32)));
        graph.cast(&graph.cast(&scaled, ffi::DataType::I32), ffi::DataType::I64)
    };
    let digits = [(2, 21), (1, 21), (0, 22)].map(|(at, bits)| digit(at, f64::from(1 << bits)));
    from_digits(cx, &digits, f64::from(1 << 21), DType::I64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_a_range_are_the_nearest_floats_inside() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            for x in [0.9, 1.0, -0.9, -1.0, 0.0, 3.0e-5] {
                let (last, first) = (below(x, dtype), at_least(x, dtype));
                assert!(last < x && x <= first, "{dtype:?} {x}: {last} {first}");
                assert!(first - last <= 0.01 * x.abs().max(1e-3), "{dtype:?} {x}: {last} {first}");
            }
            assert_eq!(at_least(1.0, dtype), 1.0);
        }
    }

    #[test]
    fn integers_stay_within_their_dtype() {
        let range = |low, high| integers("int_random", low, high, DType::I8, &[1]).1;
        assert_eq!(range(-3.0, 5.0)[..2], [ScalarInput::Int(-3), ScalarInput::Float(8.0)]);
        assert_eq!(range(-1e18, 1e18)[..2], [ScalarInput::Int(-128), ScalarInput::Float(256.0)]);
    }
}
