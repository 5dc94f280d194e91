//! A loop that never reads is cut when too much is recorded, always at the same place of its body; one that reads
//! seldom compiles a program for each size of its batches.

use super::mlp::{FEATURES, Mlp, Trainer, items};
use super::{B, Turn, read, vector};
use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::loss::{MseLoss, Reduction};
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::backend::Backend;
use burn_mpsgraph::MpsGraphDevice;

#[test]
fn a_loop_that_never_reads_stops_compiling_and_growing() {
    let mut turn = Turn::take();
    let mut trainer = Trainer::adam();
    for _ in 0..300 {
        drop(trainer.step());
    }
    turn.restart();
    let live = turn.used().bytes_live;
    for _ in 0..300 {
        drop(trainer.step());
    }
    let used = turn.used();
    assert!(used.executions > 1, "the bound was reached: {used:?}");
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert!(used.bytes_live <= 2 * live, "{live} bytes became {}", used.bytes_live);
    assert!(trainer.step_and_read().is_finite());
}

#[derive(Module, Debug)]
struct Deep<B: Backend> {
    layers: Vec<Linear<B>>,
}

/// Steps of training so many layers that are alike, so that an earlier segment seems to have begun at each of them.
fn deep(layers: usize) -> impl FnMut() -> Tensor<Autodiff<B>, 1> {
    let layer = |_| LinearConfig::new(4, 4).init(&MpsGraphDevice);
    let mut model = Some(Deep::<Autodiff<B>> { layers: (0..layers).map(layer).collect() });
    let mut optimizer = AdamConfig::new().init();
    let x = Tensor::<Autodiff<B>, 2>::ones([2, 4], &MpsGraphDevice);
    move || {
        let own = model.take().expect("put back each time");
        let y = own.layers.iter().fold(x.clone(), |y, layer| relu(layer.forward(y)));
        let loss = MseLoss::new().forward(y, x.clone(), Reduction::Mean);
        let gradients = GradientsParams::from_grads(loss.backward(), &own);
        model = Some(optimizer.step(1e-3, own, gradients));
        loss
    }
}

/// A bound submits the loss with what is recorded by then, so that the read finds it made.
#[test]
fn steps_beyond_the_bound_that_read_their_loss_are_cut_at_the_same_places() {
    for (layers, programs) in [(66, 2), (90, 2), (121, 3)] {
        let mut turn = Turn::take();
        let mut step = deep(layers);
        (0..5).for_each(|_| assert!(step().into_scalar().is_finite()));
        turn.restart();
        (0..20).for_each(|_| assert!(step().into_scalar().is_finite()));
        let used = turn.used();
        assert_eq!(used.programs_compiled, 0, "{layers} layers: {used:?}");
        assert_eq!(used.commits, 20 * programs, "{layers} layers: {used:?}");
    }
}

/// Steps of a few ops more than the bound, or than twice the bound.
#[test]
fn steps_beyond_the_bound_that_never_read_are_cut_at_few_places() {
    for layers in [61, 106, 121] {
        let mut turn = Turn::take();
        let mut step = deep(layers);
        (0..60).for_each(|_| drop(step()));
        turn.restart();
        (0..40).for_each(|_| drop(step()));
        let used = turn.used();
        assert_eq!(used.programs_compiled, 0, "{layers} layers: {used:?}");
        let most = used.ops_recorded / 2_048 + 80;
        assert!(used.commits <= most, "{layers} layers, at most {most} submissions: {used:?}");
        assert!(step().into_scalar().is_finite());
    }
}

/// Sizes of batches in an order that does not repeat.
fn sizes() -> impl Iterator<Item = usize> {
    let mut state = 1_u32;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        4 + (state >> 24) as usize % 6
    })
}

/// Trains on batches of any size, and reads the loss of each so many steps.
fn train_on_any_size(steps_between_reads: usize) {
    let mut turn = Turn::take();
    let mut trainer = Trainer::adam();
    let mut sizes = sizes().enumerate();
    let mut train = |steps: usize| {
        for (at, rows) in sizes.by_ref().take(steps) {
            let loss = trainer.step_of(rows);
            if at % steps_between_reads == steps_between_reads - 1 {
                assert!(loss.into_scalar().is_finite());
            }
        }
    };
    // The first steps also have other numbers: Adam's corrections become 1.
    train(500);
    turn.restart();
    train(300);
    assert_eq!(turn.used().programs_compiled, 0, "{:?}", turn.used());
}

#[test]
fn batches_of_any_size_in_any_order_stop_compiling() {
    train_on_any_size(usize::MAX);
}

#[test]
fn batches_of_any_size_that_are_read_now_and_then_stop_compiling() {
    train_on_any_size(10);
}

#[test]
fn evaluation_of_batches_of_any_size_stops_compiling() {
    let mut turn = Turn::take();
    let model = Mlp::<B>::new(&MpsGraphDevice);
    let loss_of = |rows: usize| {
        let (features, labels) = items(rows, rows);
        let features = Tensor::<B, 1>::from_data(features.as_slice(), &MpsGraphDevice).reshape([rows, FEATURES]);
        model.loss(features, Tensor::from_data(labels.as_slice(), &MpsGraphDevice))
    };
    let (mut sizes, mut losses) = (sizes(), Vec::new());
    let mut evaluate = |batches: usize| {
        losses.extend(sizes.by_ref().take(batches).map(|rows| (rows, loss_of(rows))));
    };
    evaluate(1000);
    turn.restart();
    evaluate(1000);
    assert_eq!(turn.used().programs_compiled, 0, "{:?}", turn.used());
    for (rows, loss) in losses {
        let alone: f32 = loss_of(rows).into_scalar();
        let loss: f32 = loss.into_scalar();
        assert!((loss - alone).abs() <= 1e-5 * alone, "{rows} rows: {loss} where it is {alone} alone");
    }
}

#[test]
fn training_that_reads_seldom_is_training_that_reads_each_step() {
    let _turn = Turn::take();
    let train = |reads: bool| {
        B::seed(&MpsGraphDevice, 5);
        let mut trainer = Trainer::adam();
        for rows in sizes().take(200) {
            let loss = trainer.step_of(rows);
            if reads {
                assert!(loss.into_scalar().is_finite());
            }
        }
        trainer.step_and_read()
    };
    let [each, seldom] = [true, false].map(train);
    assert!((each - seldom).abs() <= 1e-3 * each, "{each} and {seldom}");
}

#[test]
fn a_long_chain_is_right_across_its_cuts() {
    let turn = Turn::take();
    let one = vector(&[1.0, 0.5]);
    let mut x = one.clone();
    for _ in 0..5_000 {
        x = x + one.clone();
    }
    assert_eq!(read(x), [5001.0, 2500.5]);
    MpsGraphDevice.sync().expect("the device works");
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
}

#[test]
fn what_only_the_op_at_the_bound_reads_is_no_result() {
    const BYTES: usize = 8 << 20;
    let turn = Turn::take();
    let whole = || Tensor::<B, 1>::ones([BYTES / 4], &MpsGraphDevice);
    let ([a, b, c, d], w) = ([whole(), whole(), whole(), whole()], whole());
    MpsGraphDevice.sync().expect("the device works");
    MpsGraphDevice.set_held_limit(BYTES);
    // Four tensors may be held whatever they take.
    let four = a + b + c + d;
    let sum = four + w;
    let first = sum.clone().narrow(0, 0, 1);
    MpsGraphDevice.set_held_limit(128 << 20);
    assert_eq!(read(first), [5.0]);
    let used = turn.used();
    assert_eq!(used.flushes_at_bounds, 1, "{used:?}");
    let [before, now] = [&turn.start, &used].map(|stats| stats.bytes_live + stats.bytes_cached);
    assert!(now - before < 7 * BYTES as u64, "the sum needs a buffer, that of four none: {used:?}");
    drop(sum);
}

#[test]
fn an_optimizer_s_update_is_not_cut_however_large_the_weight() {
    use burn::backend::Autodiff;
    use burn::nn::LinearConfig;
    use burn::optim::{AdamConfig, GradientsParams, Optimizer};
    const WIDTH: usize = 1024;
    let mut turn = Turn::take();
    let device = MpsGraphDevice;
    let mut model = LinearConfig::new(WIDTH, WIDTH).with_bias(false).init::<Autodiff<B>>(&device);
    let gradient = Tensor::<B, 2>::ones([WIDTH, WIDTH], &device);
    let mut optimizer = AdamConfig::new().init();
    device.set_held_limit(WIDTH * WIDTH);
    for step in 0..4 {
        if step == 2 {
            turn.restart();
        }
        let mut gradients = GradientsParams::new();
        gradients.register::<B, 2>(model.weight.id, gradient.clone());
        model = optimizer.step(1e-3, model, gradients);
        device.sync().expect("the device works");
    }
    device.set_held_limit(128 << 20);
    let used = turn.used();
    assert_eq!((used.commits, used.flushes_at_bounds), (2, 0), "{used:?}");
}
