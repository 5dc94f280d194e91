//! Signs and quotients that patterns move, beside values that are kept or that something else reads.

use burn::backend::Autodiff;
use burn::tensor::Tensor;

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

fn parameter(numbers: &[f32]) -> Tensor<Autodiff<B>, 1> {
    Tensor::from_data(numbers, &MpsGraphDevice).require_grad()
}

#[test]
fn a_double_negation_that_is_kept() {
    let _turn = Turn::take();
    for of_what_is_read in [1.0, 2.0] {
        let x = -vector(&[2.0, 3.0]) * vector(&[5.0, 7.0]);
        let z = -(-x);
        let y = z.clone() * of_what_is_read;
        assert_eq!(read(z), [-10.0, -21.0]);
        assert_eq!(read(y), [-10.0 * of_what_is_read, -21.0 * of_what_is_read]);
    }
}

#[test]
fn several_negations_that_are_kept() {
    let _turn = Turn::take();
    let product = -vector(&[2.0, 3.0]) * vector(&[5.0, 7.0]);
    let kept: Vec<_> = (0..4)
        .scan(product, |x, _| {
            *x = -x.clone();
            Some(x.clone())
        })
        .collect();
    let sums = kept.iter().map(|x| x.clone() + vector(&[1.0, 1.0])).chain(kept.iter().map(|x| x.clone() * 2.0));
    let found: Vec<f32> = read(Tensor::cat(sums.collect(), 0));
    assert_eq!(found[..8], [11.0, 22.0, -9.0, -20.0, 11.0, 22.0, -9.0, -20.0]);
    assert_eq!(found[8..], [20.0, 42.0, -20.0, -42.0, 20.0, 42.0, -20.0, -42.0]);
    for (at, x) in kept.into_iter().enumerate() {
        let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
        assert_eq!(read(x), [10.0 * sign, 21.0 * sign], "{at}");
    }
}

#[test]
fn a_step_along_a_gradient_that_is_kept() {
    let _turn = Turn::take();
    let of = |numbers: [f32; 2]| Tensor::<Autodiff<B>, 1>::from_data(numbers, &MpsGraphDevice);
    let p = parameter(&[1.0, 4.0]);
    let loss = -(of([2.0, 3.0]) * (of([1.0, 1.0]) - (of([3.0, 2.0]) - p.clone()))).sum();
    let gradient = p.grad(&loss.backward()).expect("p has a gradient");
    let next = p.inner() - gradient.clone() * 0.5;
    assert_eq!(read(next), [2.0, 5.5]);
    assert_eq!(read(gradient), [-2.0, -3.0]);
}

/// The quotient rule written out, beside the gradient of a quotient whose dividend and divisor it has.
#[test]
fn a_quotient_that_another_gradient_reads() {
    let _turn = Turn::take();
    let (a, b) = (parameter(&[3.0, 5.0]), parameter(&[2.0, 4.0]));
    let g = Tensor::<Autodiff<B>, 1>::from_data([7.0, 11.0], &MpsGraphDevice);
    let square = b.clone() * b.clone();
    let loss = (g.clone() * (-a.clone() / square) + g * b.clone().recip()).sum();
    let gradients = loss.backward();
    let [of_a, of_b] = [&a, &b].map(|x| x.grad(&gradients).expect("it has a gradient"));
    let all = read(Tensor::cat(vec![loss.inner(), of_a, of_b], 0));
    assert_eq!(all, [-5.25 - 3.4375 + 3.5 + 2.75, -1.75, -0.6875, 3.5, 1.03125]);
}
