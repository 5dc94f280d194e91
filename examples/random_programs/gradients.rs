//! Gradients of a random program through `Autodiff`: of the weighted sum of its ends, for all floats that are fed.
//!
//! burn-flex computes them in f64, exactly and with each step a little off, and in the program's own dtypes, whose
//! range and rounding the steps of a gradient's own formula meet as well. What all that changes bounds what rounding
//! may change here. So elements at a kink, where most digits cancel, or where a square underflows, are not held to
//! anything.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::backend::Autodiff;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::ops::{FloatTensor, FloatTensorOps, IntTensorOps};
use burn::tensor::{DType, FloatDType, IntDType, TensorData, TensorMetadata};
use burn_flex::Flex;
use burn_mpsgraph::{MpsGraph, eagerly};
use test_support::BOOL;

use crate::check::{Count, Difference, as_a_whole, without_panic};
use crate::oracle::{floats, wide};
use crate::program::{Feeds, Id, Made, Op, Program, Step};
use crate::random::Random;
use crate::run::apply;
use crate::value::{Value, ValueKind, kind};

type Oracle = Autodiff<Flex>;

/// Ways in which steps are off.
const WAYS: u64 = 6;

/// Beyond this, a function is near a place where it has no gradient.
const LARGEST: f64 = 1e3;

/// The square of what is smaller may be subnormal, and some kernels take that for zero.
const SMALLEST: f64 = 1e-18;

/// The first gradient that is wrong.
pub fn check(program: &Program, feeds: &[Feeds; 2], count: &mut Count) -> Option<Difference> {
    without_panic(program, || feeds.iter().find_map(|feeds| wrong(program, feeds, count)))
}

fn wrong(program: &Program, feeds: &Feeds, count: &mut Count) -> Option<Difference> {
    let gradients = feeds.iter().flatten().filter(|data| data.dtype.is_float()).count();
    count.values += gradients;
    let finite = |data: &TensorData| !data.dtype.is_float() || floats(data).iter().all(|x| x.abs() < LARGEST);
    if !feeds.iter().flatten().all(finite) {
        count.not_compared += gradients;
        return None;
    }
    let ours = || of::<Autodiff<MpsGraph>>(program, feeds, |_, value| value);
    let (divided, recorded, eager) = (ours(), as_a_whole(ours), eagerly(ours));
    // burn-flex 0.21 ends on sums over the rows of some permuted tensors of f32.
    let in_own_dtypes = || of(program, feeds, |step, value| moved(step, value, None));
    let Ok(in_own_dtypes) = catch_unwind(AssertUnwindSafe(in_own_dtypes)) else {
        count.not_compared += gradients;
        return None;
    };
    let (program_in_f64, feeds_in_f64) = in_f64(program, feeds);
    let mut has_tiny = false;
    let exact = of(&program_in_f64, &feeds_in_f64, |step, value| {
        has_tiny |= matches!(&value, Value::Float(_)) && floats(&value.clone().into_data()).into_iter().any(is_tiny);
        moved(step, value, None)
    });
    // NaN spreads as the order of sums has it.
    if has_tiny || !exact.iter().flat_map(|(_, data)| floats(data)).all(|x| x.abs() < LARGEST) {
        count.not_compared += gradients;
        return None;
    }
    let mut off: Vec<_> = (1..=WAYS)
        .map(|way| {
            // The first way only rounds, as to a number where a function is not defined any more.
            let by = if way == 1 { 0.0 } else { 2f64.powi(-21) };
            let mut off = Off { by, random: Random::new(way, 0) };
            of(&program_in_f64, &feeds_in_f64, |step, value| moved(step, value, Some(&mut off)))
        })
        .collect();
    off.push(in_own_dtypes);
    let largest = exact.iter().flat_map(|(_, data)| floats(data)).map(f64::abs).fold(0.0, f64::max);
    let claims = ["gradients, divided", "gradients, recorded", "gradients, op by op"];
    for (claim, found) in claims.into_iter().zip([&divided, &recorded, &eager]) {
        for (i, (at, found)) in found.iter().enumerate() {
            let off: Vec<Vec<f64>> = off.iter().map(|off| floats(&off[i].1)).collect();
            if let Some(text) = differs(&floats(&exact[i].1), &off, &floats(found), largest) {
                return Some(Difference { at: *at, claim, text });
            }
        }
    }
    None
}

fn is_tiny(x: f64) -> bool {
    x != 0.0 && x.abs() < SMALLEST
}

/// The first wrong element of the gradient for one leaf. Steps of a gradient's own formula cancel too, so some digits
/// of the `largest` gradient are always allowed.
fn differs(exact: &[f64], off: &[Vec<f64>], found: &[f64], largest: f64) -> Option<String> {
    exact.iter().zip(found).enumerate().find_map(|(at, (exact, found))| {
        let spread: f64 = off.iter().map(|off| (off[at] - exact).abs()).sum();
        let within = 16.0 * spread + 2f64.powi(-16) * (exact.abs() + largest) + 1e-6;
        let certain = spread <= 1e-3 * (exact.abs() + 1e-3 * largest);
        // NaN is not near.
        let near = (exact - found).abs() <= within;
        (certain && !near).then(|| format!("element {at}: expected {exact} within {within:e}, found {found}"))
    })
}

struct Off {
    by: f64,
    random: Random,
}

/// The value of a step, off by so many digits and then as f32 has it, unless it is to be exact. Integers get 64 bits,
/// which burn-flex's positions have not, and bools are bools again, which burn-flex forgets.
fn moved(step: &Step, value: Value<Oracle>, off: Option<&mut Off>) -> Value<Oracle> {
    match (value, off) {
        (Value::Float(x), Some(Off { by, random })) => {
            // Zeros are moved, too, so that equal elements are in no order.
            let [factors, terms] = [(1.0, *by), (0.0, *by * 2f64.powi(-30))].map(|(from, by)| {
                let numbers = (0..step.shape.iter().product()).map(|_| from + random.unit() * by).collect();
                Value::<Oracle>::from_data(TensorData::new::<f64, _>(numbers, step.shape.clone())).float()
            });
            let x = Oracle::float_add(Oracle::float_mul(x, factors), terms);
            Value::Float(Oracle::float_cast(Oracle::float_cast(x, FloatDType::F32), FloatDType::F64))
        }
        (Value::Float(x), None) => Value::Float(x),
        (Value::Int(x), _) => Value::Int(Oracle::int_cast(x, IntDType::I64)),
        (value @ Value::Bool(_), _) => Value::from_data(value.into_data().convert_dtype(BOOL)),
    }
}

/// The gradients for each float that is fed; each step's value is `made` into what later steps read.
fn of<B: AutodiffBackend>(
    program: &Program,
    feeds: &Feeds,
    mut made: impl FnMut(&Step, Value<B>) -> Value<B>,
) -> Vec<(Id, TensorData)> {
    let mut values: Vec<Value<B>> = Vec::new();
    let mut leaves: Vec<(Id, FloatTensor<B>)> = Vec::new();
    for (id, (step, fed)) in program.steps.iter().zip(feeds).enumerate() {
        let value = match &step.made {
            Made::Fed(_) => match Value::from_data(fed.clone().expect("a step that is fed has data")) {
                Value::Float(x) => {
                    let leaf = B::float_set_require_grad(x, true);
                    leaves.push((id, leaf.clone()));
                    Value::Float(leaf)
                }
                other @ (Value::Int(_) | Value::Bool(_)) => other,
            },
            Made::By(op, operands) => apply(op, operands.iter().map(|&id| values[id].clone()).collect()),
        };
        values.push(made(step, value));
    }
    let read = program.read();
    let ends = (0..values.len()).filter(|&id| !read[id] && program.steps[id].dtype.is_float());
    let sums = ends.map(|id| weighted::<B>(values[id].clone().float(), &program.steps[id].shape));
    let Some(loss) = sums.reduce(B::float_add) else { return Vec::new() };
    let gradients = B::backward(loss);
    let gradient = |(id, leaf): (Id, FloatTensor<B>)| {
        let gradient = B::grad(&leaf, &gradients)?;
        Some((id, Value::<B::InnerBackend>::Float(gradient).into_data()))
    };
    leaves.into_iter().filter_map(gradient).collect()
}

/// The sum of a tensor, each element with a weight of its own.
fn weighted<B: Backend>(x: FloatTensor<B>, shape: &[usize]) -> FloatTensor<B> {
    let weights: Vec<f32> = (0..shape.iter().product()).map(|i: usize| (i * 5 % 7) as f32 / 4.0 - 0.625).collect();
    let weights = Value::<B>::from_data(TensorData::new(weights, shape).convert_dtype(x.dtype())).float();
    B::float_sum(B::float_mul(x, weights))
}

/// The program with the widest dtypes.
fn in_f64(program: &Program, feeds: &Feeds) -> (Program, Feeds) {
    let mut program = program.clone();
    for step in &mut program.steps {
        match &mut step.made {
            Made::By(Op::Cast(to), _) => {
                *to = match kind(*to) {
                    ValueKind::Float => DType::F64,
                    ValueKind::Int => DType::I64,
                    ValueKind::Bool => *to,
                }
            }
            Made::Fed(_) | Made::By(..) => (),
        }
    }
    (program, feeds.iter().map(|data| data.as_ref().map(wide)).collect())
}
