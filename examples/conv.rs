//! A convolution that finds edges in a small image: `cargo run --release --example conv`.

use burn::tensor::Tensor;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

type B = MpsGraph;

fn main() {
    let device = MpsGraphDevice;
    println!("device: {}", device.name());

    // A bright square on a dark ground: [batch, channels, rows, columns].
    let image = Tensor::<B, 4>::from_data(
        [[[
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            [0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            [0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            [0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ]]],
        &device,
    );
    // Laplace's kernel: [channels out, channels in, rows, columns].
    let kernel = Tensor::<B, 4>::from_data([[[[0.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 0.0]]]], &device);

    // Stride 1, a padding of 1 on every side, dilation 1, one group; no bias.
    let edges = conv2d(image, kernel, None, ConvOptions::new([1, 1], [1, 1], [1, 1], 1));
    for row in edges.into_data().iter::<f32>().collect::<Vec<_>>().chunks(6) {
        println!("{row:4.0?}");
    }
}
