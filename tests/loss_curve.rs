//! The same weights and batches give the same loss curve on this backend and on burn-flex.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Gelu, Linear, LinearConfig, Relu};
use burn::optim::{GradientsParams, Optimizer, SgdConfig};
use burn::record::{BinBytesRecorder, FullPrecisionSettings, Recorder};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{ElementConversion, Int, Tensor, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;

const BATCH: usize = 16;
const PIXELS: usize = 64;
/// Different batches: each comes again after so many steps, so the losses of the first and the last round compare.
const BATCHES: usize = 5;

#[derive(Module, Debug)]
struct Model<B: Backend> {
    first: Linear<B>,
    second: Linear<B>,
    output: Linear<B>,
    relu: Relu,
    gelu: Gelu,
}

impl<B: Backend> Model<B> {
    fn new(device: &B::Device) -> Self {
        Self {
            first: LinearConfig::new(PIXELS, 48).init(device),
            second: LinearConfig::new(48, 32).init(device),
            output: LinearConfig::new(32, 10).init(device),
            relu: Relu::new(),
            gelu: Gelu::new(),
        }
    }

    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let x = self.relu.forward(self.first.forward(x));
        self.output.forward(self.gelu.forward(self.second.forward(x)))
    }
}

/// Losses of 50 SGD steps from the recorded weights, batch after batch.
fn losses<B: AutodiffBackend>(weights: Vec<u8>) -> Vec<f64> {
    let device = B::Device::default();
    let recorder = BinBytesRecorder::<FullPrecisionSettings>::default();
    let record = recorder.load(weights, &device).expect("the weights were just recorded");
    let mut model = Model::<B>::new(&device).load_record(record);
    let mut optimizer = SgdConfig::new().init();
    let criterion = CrossEntropyLossConfig::new().init(&device);
    (0..50)
        .map(|step| {
            let pixel = |i: usize| ((i * 7919 + (step % BATCHES) * 104_729) % 997) as f32 / 498.5 - 1.0;
            let pixels: Vec<f32> = (0..BATCH * PIXELS).map(pixel).collect();
            let classes: Vec<i64> = pixels.chunks(PIXELS).map(|row| (row[0].abs() * 9.9) as i64).collect();
            let x = Tensor::from_data(TensorData::new(pixels, [BATCH, PIXELS]), &device);
            let labels = Tensor::<B, 1, Int>::from_data(classes.as_slice(), &device);
            let loss = criterion.forward(model.forward(x), labels);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(0.05, model.clone(), gradients);
            loss.into_scalar().elem()
        })
        .collect()
}

#[test]
fn fifty_sgd_steps_agree_with_burn_flex_to_a_ten_thousandth() {
    let recorder = BinBytesRecorder::<FullPrecisionSettings>::default();
    let device = Default::default();
    Flex::seed(&device, 7);
    let model = Model::<Flex>::new(&device);
    let weights = recorder.record(model.into_record(), ()).expect("weights can be recorded");
    let expected = losses::<Autodiff<Flex>>(weights.clone());
    let found = losses::<Autodiff<MpsGraph>>(weights);
    let round = |losses: &[f64]| losses.iter().sum::<f64>();
    assert!(round(&expected[50 - BATCHES..]) < round(&expected[..BATCHES]), "the model learns: {expected:?}");
    for (step, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert!((expected - found).abs() <= 1e-4 * expected.abs(), "step {step}: {expected} and {found}");
    }
}

#[test]
fn skipped_without_device() {
    let playable = cfg!(any(feature = "soft", not(target_vendor = "apple")));
    test_support::assert_skipped("skipped_without_device", playable, || burn_mpsgraph::MpsGraphDevice.name());
}
