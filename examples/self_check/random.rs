//! Random numbers: their range and distribution, and that a seed repeats them.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Distribution, Int, Tensor};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{close_floats, within};
use crate::table::{Trap, check};
use crate::values::{B, FLOATS};

pub const TRAPS: &[Trap] = &[
    check("uniform: range, mean and variance (f32, f16, bf16)", uniform),
    check("normal: no NaN, mean and variance in 2^20 numbers", normal),
    check("normal of several seeds: no NaN (2069102477 among them)", normal_seeds),
    check("rank 5 is as random as rank 1", rank_five),
    check("bernoulli: share of ones", bernoulli),
    check("integers: every one of the range, none beyond", integers),
    check("integers from a range wider than 2^32", wide_integers),
    check("one seed gives the same numbers again, another does not", seeds),
    check("two draws differ", draws),
];

const COUNT: usize = 1 << 20;

fn draw(shape: [usize; 1], distribution: Distribution, dtype: DType) -> Vec<f64> {
    Tensor::<B, 1>::random(shape, distribution, (&MpsGraphDevice, dtype)).into_data().iter::<f64>().collect()
}

/// Mean and variance within what `count` independent numbers leave open (about six standard errors).
fn moments(numbers: &[f64], mean: f64, variance: f64) -> Outcome {
    let count = numbers.len() as f64;
    let own_mean = numbers.iter().sum::<f64>() / count;
    let own_variance = numbers.iter().map(|x| (x - own_mean).powi(2)).sum::<f64>() / count;
    let slack = 6.0 / count.sqrt();
    let one = |name: &str, got: f64, expected: f64, allowed: f64| Outcome {
        expected: format!("{name} {expected:.5e}"),
        got: format!("{name} {got:.5e}"),
        error: (got - expected).abs(),
        agrees: (got - expected).abs() <= allowed,
    };
    Outcome::of([
        one("mean", own_mean, mean, slack * variance.sqrt() + 1e-3 * variance.sqrt()),
        one("variance", own_variance, variance, 2.0 * slack * variance + 3e-3 * variance),
    ])
}

fn inside(numbers: &[f64], low: f64, end: f64) -> Outcome {
    let outside = numbers.iter().filter(|x| !(low..end).contains(*x)).count();
    Outcome::fact("0 outside", format!("{outside} outside"), outside == 0)
}

fn uniform() -> Outcome {
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let unit = draw([COUNT], Distribution::Default, dtype);
        let wide = draw([COUNT], Distribution::Uniform(-3.0, 5.0), dtype);
        // A bf16 below 1 is up to 1/256 off.
        let coarse = if dtype == DType::BF16 { 0.002 } else { 0.0 };
        [
            inside(&unit, 0.0, 1.0),
            inside(&wide, -3.0, 5.0),
            moments(&unit, 0.5 - coarse / 2.0, 1.0 / 12.0),
            moments(&wide, 1.0 - coarse, 64.0 / 12.0),
        ]
    }))
}

fn normal() -> Outcome {
    let numbers = draw([COUNT], Distribution::Normal(2.0, 3.0), DType::F32);
    let strange = numbers.iter().filter(|x| !x.is_finite()).count();
    let beyond_two = numbers.iter().filter(|x| (*x - 2.0).abs() > 6.0).count() as f64 / COUNT as f64;
    Outcome::of([
        Outcome::fact("0 not finite", format!("{strange} not finite"), strange == 0),
        moments(&numbers, 2.0, 9.0),
        Outcome {
            expected: "4.55 % beyond 2 sd".into(),
            got: format!("{:.2} %", 100.0 * beyond_two),
            error: (beyond_two - 0.0455).abs(),
            agrees: (beyond_two - 0.0455).abs() < 0.002,
        },
    ])
}

fn normal_seeds() -> Outcome {
    let strange: usize = [0, 1, 42, 2_069_102_477, u64::MAX]
        .into_iter()
        .map(|seed| {
            B::seed(&MpsGraphDevice, seed);
            let numbers = draw([COUNT / 4 + 1], Distribution::Normal(0.0, 1.0), DType::F32);
            numbers.iter().filter(|x| !x.is_finite()).count()
        })
        .sum();
    Outcome::fact("0 not finite", format!("{strange} not finite"), strange == 0)
}

fn rank_five() -> Outcome {
    let shape = [8, 8, 16, 16, 16];
    let data = Tensor::<B, 5>::random(shape, Distribution::Default, &MpsGraphDevice).into_data();
    let numbers: Vec<f64> = data.iter::<f64>().collect();
    let mut sorted = numbers.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    // 2^18 of 2^23 values: about 4000 pairs meet by chance.
    let repeated = numbers.len() - sorted.len();
    Outcome::of([
        inside(&numbers, 0.0, 1.0),
        moments(&numbers, 0.5, 1.0 / 12.0),
        Outcome::fact("< 20000 repeated", format!("{repeated} repeated"), repeated < 20_000),
    ])
}

fn bernoulli() -> Outcome {
    Outcome::of([0.0, 0.3, 1.0].map(|p| {
        let numbers = draw([COUNT], Distribution::Bernoulli(p), DType::F32);
        let other = numbers.iter().filter(|&&x| x != 0.0 && x != 1.0).count();
        Outcome::of([
            Outcome::fact("0 and 1 alone", format!("{other} others"), other == 0),
            moments(&numbers, p, p * (1.0 - p)),
        ])
    }))
}

fn integers() -> Outcome {
    let of = |dtype: DType| {
        let data = Tensor::<B, 1, Int>::random([60_000], Distribution::Uniform(-3.0, 5.0), (&MpsGraphDevice, dtype));
        let mut counts = [0usize; 8];
        let mut outside = 0;
        for x in data.into_data().iter::<i64>() {
            match usize::try_from(x + 3).ok().and_then(|at| counts.get_mut(at)) {
                Some(count) => *count += 1,
                None => outside += 1,
            }
        }
        let worst = counts.iter().map(|count| count.abs_diff(7500)).max().unwrap_or(0);
        Outcome {
            expected: "7500 each, 0 outside".into(),
            got: format!("{worst} off, {outside} out"),
            error: worst as f64,
            agrees: worst < 500 && outside == 0,
        }
    };
    Outcome::of([DType::I32, DType::I64, DType::I8].map(of))
}

fn wide_integers() -> Outcome {
    let end = 1e15;
    let data = Tensor::<B, 1, Int>::random([50_000], Distribution::Uniform(0.0, end), (&MpsGraphDevice, DType::I64));
    let numbers: Vec<f64> = data.into_data().iter::<i64>().map(|x| x as f64).collect();
    let odd = numbers.iter().filter(|x| **x % 2.0 == 1.0).count();
    Outcome::of([
        inside(&numbers, 0.0, end),
        moments(&numbers, end / 2.0, end * end / 12.0),
        Outcome::fact("half are odd", format!("{odd} of 50000"), odd.abs_diff(25_000) < 1000),
    ])
}

fn seeds() -> Outcome {
    let run = |seed| {
        B::seed(&MpsGraphDevice, seed);
        let mut numbers = draw([1001], Distribution::Default, DType::F32);
        numbers.extend(draw([1001], Distribution::Normal(0.0, 1.0), DType::F32));
        numbers
    };
    let (first, again, other) = (run(7), run(7), run(8));
    let same = first == again;
    let meets = first.iter().zip(&other).filter(|(a, b)| a == b).count();
    Outcome::fact(
        "same, then other",
        format!("{}, {meets} meet", if same { "same" } else { "other" }),
        same && meets < 5,
    )
}

fn draws() -> Outcome {
    let both = Tensor::<B, 1>::random([1000], Distribution::Default, &MpsGraphDevice)
        - Tensor::<B, 1>::random([1000], Distribution::Default, &MpsGraphDevice);
    let equal = both.into_data().iter::<f64>().filter(|x| *x == 0.0).count();
    close_floats(
        &Tensor::<B, 1>::from_data([equal as f32], &MpsGraphDevice).into_data(),
        &[1],
        &[0.0],
        within(4.0, 0.0),
    )
}
