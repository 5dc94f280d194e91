//! Two spirals, and a small network that learns which one a point is on.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Tanh};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Points of both spirals.
pub const POINTS: usize = 256;

/// Two hidden layers.
#[derive(Module, Debug)]
pub struct Network {
    layers: [Linear; 3],
    activation: Tanh,
}

impl Network {
    /// A freshly initialised network with `hidden` units in the hidden layers.
    pub fn new(hidden: usize, device: &Device) -> Self {
        let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Self { layers: [layer(2, hidden), layer(hidden, hidden), layer(hidden, 2)], activation: Tanh::new() }
    }

    /// Scores `[points, 2]` of points `[points, 2]`.
    pub fn forward(&self, points: Tensor<2>) -> Tensor<2> {
        let [first, second, last] = &self.layers;
        let hidden = self.activation.forward(first.forward(points));
        last.forward(self.activation.forward(second.forward(hidden)))
    }
}

/// The points `[POINTS, 2]`, and `[POINTS]` the spiral of each.
pub fn spirals(device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let point = |at: usize| {
        let radius = (at / 2 + 8) as f32 / (POINTS / 2 + 8) as f32;
        let angle = 7.0 * radius + if at.is_multiple_of(2) { 0.0 } else { std::f32::consts::PI };
        [radius * angle.cos(), radius * angle.sin()]
    };
    let points: Vec<f32> = (0..POINTS).flat_map(point).collect();
    let labels: Vec<i32> = (0..POINTS).map(|at| (at % 2) as i32).collect();
    let points = Tensor::from_data(TensorData::new(points, [POINTS, 2]), device);
    (points, Tensor::from_data(TensorData::new(labels, [POINTS]), device))
}

/// Trains with Adam on all points at once. `seen` gets the number and the loss of each step.
pub fn train(mut network: Network, steps: usize, device: &Device, mut seen: impl FnMut(usize, f32)) -> Network {
    let (points, labels) = spirals(device);
    let mut optimizer = AdamConfig::new().init();
    for step in 0..steps {
        let scores = network.forward(points.clone());
        let loss = CrossEntropyLossConfig::new().init(&scores.device()).forward(scores, labels.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        network = optimizer.step(0.01, network, gradients);
        seen(step, loss.into_scalar());
    }
    network
}

/// Share of the points that the network puts on the right spiral.
pub fn accuracy(network: &Network, device: &Device) -> f64 {
    let (points, labels) = spirals(&device.clone().inner());
    let named = network.valid().forward(points).argmax(1).reshape([POINTS]);
    named.equal(labels).int().sum().into_scalar::<i64>() as f64 / POINTS as f64
}
