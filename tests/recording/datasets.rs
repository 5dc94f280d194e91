//! Batches as datasets make them: samples are uploaded, prepared one by one and joined.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor, TensorData};
use burn_flex::Flex;

use super::{B, Choice, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

#[test]
fn samples_that_were_made_in_other_shapes() {
    const COUNT: usize = 8;
    let turn = Turn::take();
    let mut choice = Choice(5);
    for step in 0..60 {
        let samples = (0..COUNT).map(|at| {
            let sample = vector(&[at as f32, 1.0, 2.0, 3.0]);
            let sample: Tensor<B, 2> = match choice.below(3) {
                0 => (sample * 2.0).reshape([1, 4]),
                1 => (sample.reshape([2, 2]) * 2.0).reshape([1, 4]),
                _ => sample.reshape([1, 4]) * 2.0,
            };
            MpsGraphDevice.flush();
            sample
        });
        let joined = Tensor::cat(samples.collect(), 0).sum_dim(1);
        assert_eq!(read(joined), (0..COUNT).map(|at| 2.0 * at as f32 + 12.0).collect::<Vec<_>>(), "step {step}");
    }
    assert_eq!(turn.used().programs_compiled, 3 + 1, "{:?}", turn.used());
}

#[test]
fn uploaded_samples_are_joined_without_a_program() {
    let turn = Turn::take();
    for count in [5_usize, 64, 7] {
        let samples = (0..count).map(|at| Tensor::<B, 2>::from_data([[at as f32, 1.0], [2.0, 3.0]], &MpsGraphDevice));
        let samples: Vec<_> = samples.collect();
        let rows: Vec<f32> = (0..count).flat_map(|at| [at as f32, 1.0, 2.0, 3.0]).collect();
        assert_eq!(read(Tensor::cat(samples.clone(), 0)), rows);
        assert_eq!(read(Tensor::stack::<3>(samples.clone(), 0)), rows);
        let firsts = (0..count).flat_map(|at| [at as f32, 1.0]);
        let columns: Vec<f32> = firsts.chain((0..count).flat_map(|_| [2.0, 3.0])).collect();
        assert_eq!(read(Tensor::cat(samples, 1)), columns);
        let labels = (0..count).map(|at| Tensor::<B, 1, Int>::from_data([at as i32, -1], &MpsGraphDevice));
        let labels = Tensor::cat(labels.collect(), 0).into_data().convert::<i64>().to_vec::<i64>();
        assert_eq!(labels.expect("integers"), (0..count as i64).flat_map(|at| [at, -1]).collect::<Vec<_>>());
        let masks = (0..count).map(|at| Tensor::<B, 1, Bool>::from_data([at % 2 == 0], &MpsGraphDevice));
        let masks = Tensor::stack::<2>(masks.collect(), 1).into_data().convert::<bool>().to_vec::<bool>();
        assert_eq!(masks.expect("bools"), (0..count).map(|at| at % 2 == 0).collect::<Vec<_>>());
    }
    assert_eq!((turn.used().programs_compiled, turn.used().ops_recorded), (0, 0), "{:?}", turn.used());
    // What the device makes is not waited for.
    let samples: Vec<_> = (0..6).map(|at| vector(&[at as f32, 0.5])).collect();
    let made = samples[0].clone() + 1.0;
    MpsGraphDevice.flush();
    let all = [samples, vec![made]].concat();
    let expected: Vec<f32> = (0..6).flat_map(|at| [at as f32, 0.5]).chain([1.0, 1.5]).collect();
    assert_eq!(read(Tensor::cat(all, 0)), expected);
    assert_eq!(turn.used().ops_recorded, 2);
}

/// Batches of samples that are prepared in several ways.
fn batches<X: Backend>(count: usize, shape: [usize; 3], device: &X::Device) -> Vec<TensorData> {
    let sample = |at: usize| {
        let elements = shape.iter().product::<usize>();
        let values: Vec<f32> = (0..elements).map(|i| ((at * 31 + i * 7) % 256) as f32).collect();
        Tensor::<X, 3>::from_data(TensorData::new(values, shape), device)
    };
    let mean = Tensor::<X, 1>::from_data([0.5_f32, 0.25, 0.125], device).reshape([1, 3, 1]);
    let ways: [&dyn Fn(Tensor<X, 3>) -> Tensor<X, 3>; 5] = [
        &|x| ((x / 255) - 0.1307) / 0.3081,
        &|x| (x / 255 - mean.clone()) / (mean.clone() + 1.0),
        &|x| mean.clone() - x.clamp(3.0, 200.0),
        &|x| x.swap_dims(1, 2).tanh(),
        &|x| x.permute([2, 0, 1]) * 0.5,
    ];
    let prepared =
        |way: &dyn Fn(Tensor<X, 3>) -> Tensor<X, 3>| -> Vec<_> { (0..count).map(|at| way(sample(at))).collect() };
    let joined = ways.iter().flat_map(|way| {
        let joined = (0..3).map(|axis| Tensor::cat(prepared(way), axis).into_data());
        joined.chain([Tensor::stack::<4>(prepared(way), 0).into_data()]).collect::<Vec<_>>()
    });
    let integers = (0..count).map(|at| (sample(at).int() % 7).equal_elem(3).int());
    joined.chain([Tensor::cat(integers.collect(), 0).into_data().convert::<i32>()]).collect()
}

#[test]
fn prepared_samples_are_what_they_are_one_by_one() {
    let _turn = Turn::take();
    for count in [2, 5] {
        for shape in [[1, 3, 4], [2, 3, 2], [3, 3, 1]] {
            let found = batches::<B>(count, shape, &MpsGraphDevice);
            let expected = batches::<Flex>(count, shape, &Default::default());
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                found.assert_approx_eq::<f32>(expected, burn::tensor::Tolerance::absolute(1e-6));
                assert_eq!(found.shape, expected.shape, "{count} of {shape:?}, {at}");
            }
        }
    }
}
