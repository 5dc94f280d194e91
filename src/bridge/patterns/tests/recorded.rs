//! The patterns fire on what burn-nn and burn-autodiff record.

use burn::backend::Autodiff;
use burn::nn::{BatchNormConfig, GruConfig, LayerNormConfig, LinearConfig, LstmConfig};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::{Distribution, Tensor, activation};

use super::compiled;
use crate::{MpsGraph, MpsGraphDevice};

type A = Autodiff<MpsGraph>;

const DEVICE: MpsGraphDevice = MpsGraphDevice;

fn made<const D: usize>(shape: [usize; D]) -> Tensor<A, D> {
    Tensor::random(shape, Distribution::Default, &DEVICE).require_grad()
}

/// The ops of a gradient of `output`, which are compiled for the input's.
fn gradient<const D: usize>(shape: [usize; D], output: impl FnOnce(Tensor<A, D>) -> Tensor<A, D>) -> Vec<&'static str> {
    compiled(|| {
        let (x, weights) = (made(shape), made(shape));
        let gradients = (output(x.clone()) * weights).sum().backward();
        x.grad(&gradients).expect("it takes part")
    })
}

/// Without `Autodiff`, which keeps values for gradients.
fn plain<const D: usize>(shape: [usize; D]) -> Tensor<MpsGraph, D> {
    Tensor::random(shape, Distribution::Default, &DEVICE)
}

fn count(found: &[&str], name: &str) -> usize {
    found.iter().filter(|found| **found == name).count()
}

#[test]
fn softmax_and_its_gradient() {
    let found = gradient([3, 4], |x| activation::softmax(x, 1));
    assert_eq!([count(&found, "softmax"), count(&found, "exp"), count(&found, "div")], [1, 0, 0], "{found:?}");
    // (g - Σ g · w) · w, and g is a product, too.
    assert_eq!([count(&found, "mul"), count(&found, "sum_dim"), count(&found, "sub")], [2, 1, 1], "{found:?}");
}

#[test]
fn a_softmax_whose_parts_are_read_stays_apart() {
    let found = gradient([3, 4], |x| {
        let parts = (x.clone() - x.max_dim(1)).exp();
        parts.clone() / parts.clone().sum_dim(1) + parts
    });
    assert_eq!([count(&found, "softmax"), count(&found, "exp")], [0, 1], "{found:?}");
}

#[test]
fn layer_norm_has_no_power_no_square_of_the_deviation_and_no_sign() {
    let found = gradient([2, 3, 4], |x| LayerNormConfig::new(4).init(&DEVICE).forward(x));
    assert_eq!([count(&found, "pow_scalar"), count(&found, "neg"), count(&found, "recip")], [0, 0, 1], "{found:?}");
    assert_eq!(count(&found, "div"), 1, "{found:?}");
}

#[test]
fn batch_norm_permutes_nothing_and_sums_once() {
    let found = gradient([2, 3, 4, 4], |x| BatchNormConfig::new(3).init(&DEVICE).forward(x));
    assert_eq!([count(&found, "permute"), count(&found, "pow_scalar")], [0, 0], "{found:?}");
    // For the deviation, and two for the mean.
    assert_eq!([count(&found, "sum_dim"), count(&found, "mean_dim")], [3, 2], "{found:?}");
}

#[test]
fn a_quotient_with_a_known_gradient_needs_no_square() {
    let found = gradient([3, 4], |x| {
        let divisor = x.clone().exp().sum_dim(1);
        x / divisor
    });
    assert_eq!([count(&found, "div"), count(&found, "recip"), count(&found, "neg")], [1, 1, 0], "{found:?}");
}

#[test]
fn means_are_not_multiplied_by_ones() {
    let found = gradient([3, 4], |x| x.clone() * x.mean_dim(1));
    assert_eq!([count(&found, "ones"), count(&found, "expand")], [0, 0], "{found:?}");
}

#[test]
fn a_value_that_is_repeated_only_for_a_sum_is_not() {
    let found = compiled(|| plain([1, 4]).expand([3, 4]) + plain([3, 4]));
    assert_eq!(found, ["random", "random", "add"]);
    let found = compiled(|| plain([1, 4]).expand([3, 4]).sum_dim(1));
    assert_eq!(found, ["random", "expand", "sum_dim"]);
}

#[test]
fn permutations_of_permutations() {
    let found = compiled(|| plain([2, 3, 4]).swap_dims(1, 2).swap_dims(0, 1).exp());
    assert_eq!(found, ["random", "permute", "exp"]);
    let found = compiled(|| plain([2, 3, 4]).swap_dims(1, 2).swap_dims(1, 2).exp());
    assert_eq!(found, ["random", "exp"]);
}

#[test]
fn signs_that_meet_a_sum_are_differences() {
    let found = compiled(|| (-(plain([3]) * -plain([3]).exp())).sum() + -plain([1]));
    assert_eq!([count(&found, "neg"), count(&found, "sub")], [0, 1], "{found:?}");
    // What leaves the program keeps its sign.
    let found = compiled(|| -plain([3]));
    assert_eq!(found, ["random", "neg"]);
}

#[test]
fn the_factors_of_adam_are_multiplied_once() {
    let found = compiled(|| {
        let model = LinearConfig::new(3, 4).init::<A>(&DEVICE);
        let mut optimizer = AdamConfig::new().init();
        let gradients = model.forward(made([2, 3])).sum().backward();
        let gradients = GradientsParams::from_grads(gradients, &model);
        let model = optimizer.step(1e-3, model, gradients);
        // The optimizer keeps its moments.
        (model, optimizer)
    });
    // Of weight and bias: the numbers, their product, and one product with it.
    assert_eq!(count(&found, "full"), 2, "{found:?}");
    assert_eq!(count(&found, "div"), 2, "{found:?}");
}

/// The product of these numbers is beyond f32.
#[test]
fn factors_beside_other_divisors_stay() {
    let found = compiled(|| {
        let [x, y] = [(); 2].map(|()| plain([3]));
        (x * 1e30) / y * 1e20 + 1.0
    });
    assert_eq!(count(&found, "full"), 0, "{found:?}");
    assert_eq!(count(&found, "mul_scalar"), 2, "{found:?}");
}

#[test]
fn layers_compute_in_the_two_axes_of_their_products() {
    let program = super::rewritten(|| {
        let layer = LinearConfig::new(4, 4).init::<MpsGraph>(&DEVICE);
        let inner = activation::gelu(layer.forward(plain([2, 3, 4])));
        layer.forward(inner)
    });
    let shapes: Vec<&[usize]> = program
        .schedule
        .iter()
        .map(|&at| &program.nodes[at as usize])
        .filter(|node| ["add", "gelu"].contains(&node.op.name()))
        .map(|node| &node.output.shape[..])
        .collect();
    assert_eq!(shapes, [[6, 4]; 3]);
}

#[test]
fn a_normalization_between_layers_computes_in_their_two_axes() {
    let program = super::rewritten(|| {
        let (layer, norm) = (LinearConfig::new(4, 4), LayerNormConfig::new(4));
        let (layer, norm) = (layer.init::<MpsGraph>(&DEVICE), norm.init::<MpsGraph>(&DEVICE));
        layer.forward(norm.forward(layer.forward(plain([2, 3, 4]))))
    });
    let norm = |at: &&u32| program.nodes[**at as usize].op.name() == "layer_norm";
    let norm = program.schedule.iter().find(norm).map(|&at| &program.nodes[at as usize]);
    let norm = norm.expect("it was recorded");
    let shapes: Vec<&[usize]> = norm.inputs.iter().map(|input| &input.shape[..]).collect();
    assert_eq!((&norm.output.shape[..], &shapes[..]), (&[6, 4][..], &[&[6, 4][..], &[4], &[4]][..]), "{program}");
}

#[test]
fn a_bias_is_read_as_it_is() {
    let program = super::rewritten(|| plain([3, 4]) * plain([4]).reshape([1, 4]));
    let last = &program.nodes[*program.schedule.last().expect("it has nodes") as usize];
    assert!(last.inputs.iter().any(|input| input.shape[..] == [4]), "{program}");
}

#[test]
fn products_read_a_softmax_that_was_put_together_through_a_barrier() {
    let program = super::rewritten(|| {
        let scores: Tensor<MpsGraph, 3> = plain([2, 3, 4]).matmul(plain([2, 4, 5]));
        let parts = (scores.clone() - scores.max_dim(2)).exp();
        (parts.clone() / parts.sum_dim(2)).matmul(plain([2, 5, 3]))
    });
    let last = &program.nodes[*program.schedule.last().expect("it has nodes") as usize];
    assert_eq!(last.inputs.iter().map(|input| input.barrier).collect::<Vec<_>>(), [true, false], "{program}");
    assert!(program.schedule.iter().any(|&at| program.nodes[at as usize].op.name() == "softmax"), "{program}");
}

/// The products that are left of a recurrent layer, which has 8 (LSTM) or 6 (GRU) in each of 6 steps.
fn products_of(outputs: impl FnOnce(Tensor<MpsGraph, 3>) -> Tensor<MpsGraph, 3>) -> usize {
    count(&compiled(|| outputs(plain([4, 6, 5]))), "float_matmul")
}

#[test]
fn the_gates_of_a_recurrent_layer_read_input_and_state_in_one_product() {
    let lstm = LstmConfig::new(5, 8, true).init::<MpsGraph>(&DEVICE);
    assert_eq!(products_of(|x| lstm.forward(x, None).0), 6);
    let gru = GruConfig::new(5, 8, true).init::<MpsGraph>(&DEVICE);
    assert!(products_of(|x| gru.forward(x, None)) <= 18);
}

#[test]
fn weights_of_a_recurrent_layer_have_their_gradients_from_one_product() {
    let found = compiled(|| {
        let layer = LstmConfig::new(5, 8, true).init::<A>(&DEVICE);
        let gradients = layer.forward(made([4, 6, 5]), None).0.powf_scalar(2.0).sum().backward();
        GradientsParams::from_grads(gradients, &layer)
    });
    // Of each step one forward and, but for the first, one backward; of each of 8 weights one.
    assert_eq!(count(&found, "float_matmul"), 6 + 5 + 8, "{found:?}");
    assert_eq!(count(&found, "sum_dim"), 4, "{found:?}");
}

#[test]
fn sums_of_products_that_are_large_to_copy_stay() {
    let found = compiled(|| {
        let term = || plain([2, 256]).matmul(plain([256, 256]));
        term() + term()
    });
    assert_eq!([count(&found, "float_matmul"), count(&found, "cat")], [2, 0], "{found:?}");
}

#[test]
fn what_is_read_besides_a_sum_of_products_stays() {
    let found = compiled(|| {
        let term = || plain([8, 4]).matmul(plain([4, 8]));
        let [a, b, c, d, e] = [(); 5].map(|()| term());
        (a + b.clone() + (c + d) + e, b)
    });
    // The one that is read, and one of the others.
    assert_eq!([count(&found, "float_matmul"), count(&found, "add")], [2, 1], "{found:?}");
}

#[test]
fn a_product_that_waits_for_another_with_its_left_operand_stays() {
    let found = compiled(|| {
        // So many rows that both would be one product if the second did not read the first.
        let (x, weights) = (plain([64, 64]), plain([64, 8]));
        let first = x.clone().matmul(weights);
        first.clone() + x.matmul(first.exp())
    });
    assert_eq!(count(&found, "float_matmul"), 2, "{found:?}");
}

/// The ops that are compiled for four samples of this shape that are prepared and joined along an axis.
fn batch<const D: usize>(
    shape: [usize; D],
    axis: usize,
    prepare: impl Fn(usize, Tensor<MpsGraph, D>) -> Tensor<MpsGraph, D>,
) -> Vec<&'static str> {
    let samples: Vec<_> = (0..4).map(|_| plain(shape)).collect();
    MpsGraphDevice.flush_thread();
    compiled(|| {
        let samples = samples.into_iter().enumerate().map(|(at, sample)| prepare(at, sample));
        Tensor::cat(samples.collect(), axis)
    })
}

#[test]
fn samples_that_are_prepared_alike_are_joined_first() {
    let normalised = |_, sample: Tensor<MpsGraph, 3>| ((sample / 255) - 0.25).exp();
    let ops = ["cat", "div_scalar", "sub_scalar", "exp", "cat"];
    assert_eq!(batch([2, 3, 4], 0, normalised), ops);
    assert_eq!(batch([2, 3, 4], 1, normalised), ops);
    let mean = plain([1, 3, 1]);
    MpsGraphDevice.flush_thread();
    let difference = |_, sample: Tensor<MpsGraph, 3>| mean.clone() - sample;
    for extent in [1, 2] {
        assert_eq!(batch([extent, 3, 4], 0, difference), ["cat", "sub", "cat"]);
        let turned = |_, sample: Tensor<MpsGraph, 3>| sample.swap_dims(1, 2) / 255;
        assert_eq!(batch([extent, 3, 4], 0, turned), ["cat", "permute", "div_scalar", "cat"]);
    }
    assert_eq!(batch([2, 3, 4], 0, |_, sample| sample.permute([2, 0, 1])), ["cat", "permute", "cat"]);
    assert_eq!(batch([2, 3, 4], 1, difference), ["sub", "sub", "sub", "sub", "cat"]);
}

#[test]
fn samples_that_are_prepared_otherwise_are_not() {
    let by_number = batch([2, 3], 0, |at, sample: Tensor<MpsGraph, 2>| sample * (at as f32));
    assert_eq!(by_number, ["mul_scalar", "mul_scalar", "mul_scalar", "mul_scalar", "cat"]);
    let other_op =
        batch([2, 3], 0, |at, sample: Tensor<MpsGraph, 2>| if at == 2 { sample.log() } else { sample.exp() });
    assert_eq!(other_op, ["exp", "exp", "log", "exp", "cat"]);
    let found = compiled(|| {
        let [a, b] = [plain([2, 3]).exp(), plain([2, 3]).exp()];
        (Tensor::cat(vec![a.clone(), b], 0), a)
    });
    assert_eq!(count(&found, "exp"), 2, "one of them is asked for: {found:?}");
}
