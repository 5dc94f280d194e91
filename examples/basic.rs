//! A few operations on the default device: `cargo run --release --example basic`.

use burn::tensor::Tensor;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

type B = MpsGraph;

fn main() {
    let device = MpsGraphDevice;
    println!("device: {}", device.name());

    let a = Tensor::<B, 2>::from_data([[1.0, 2.0], [3.0, 4.0]], &device);
    let b = Tensor::<B, 2>::from_data([[5.0, 6.0], [7.0, 8.0]], &device);

    // Nothing runs here: the operations are recorded.
    let sum = a.clone() + b.clone();
    let product = a.clone().matmul(b);
    let mean = (sum.clone() * 2.0).mean();

    // The first read compiles and runs everything above as one program.
    println!("a + b = {}", sum.into_data());
    println!("a x b = {}", product.into_data());
    println!("mean(2 (a + b)) = {}", mean.into_scalar());

    let stats = device.stats();
    println!(
        "{} operations recorded, {} programs run, {} compiled",
        stats.ops_recorded, stats.executions, stats.programs_compiled
    );
}
