//! The generator: seeded, the same numbers recorded and eager, fresh ones each time without compiling.

use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor};

use super::{B, Turn, read};
use burn_mpsgraph::MpsGraphDevice;
use test_support::assert_refused;

fn draw(distribution: Distribution) -> Vec<f32> {
    let x = Tensor::<B, 2>::random([17, 11], distribution, &MpsGraphDevice);
    let y = Tensor::<B, 2>::random([17, 11], distribution, &MpsGraphDevice);
    read(Tensor::cat(vec![x, y], 0))
}

#[test]
fn a_seed_gives_the_same_numbers_recorded_and_eager() {
    let _turn = Turn::take();
    let distributions = [
        Distribution::Default,
        Distribution::Uniform(-2.0, 5.0),
        Distribution::Normal(1.0, 3.0),
        Distribution::Bernoulli(0.3),
    ];
    for distribution in distributions {
        let [recorded, eager] = [false, true].map(|eager| {
            B::seed(&MpsGraphDevice, 7);
            if eager { burn_mpsgraph::eagerly(|| draw(distribution)) } else { draw(distribution) }
        });
        assert_eq!(recorded, eager, "{distribution:?}");
        B::seed(&MpsGraphDevice, 8);
        assert_ne!(recorded, draw(distribution), "{distribution:?}");
    }
}

#[test]
fn each_draw_differs_and_compiles_nothing_new() {
    let turn = Turn::take();
    let mut draws: Vec<Vec<f32>> = (0..4).map(|_| draw(Distribution::Default)).collect();
    assert_eq!(turn.used().programs_compiled, 1);
    draws.dedup();
    assert_eq!(draws.len(), 4);
    let (first, second) = draws[0].split_at(17 * 11);
    assert_ne!(first, second);
}

#[test]
fn a_draw_that_is_refused_leaves_the_generator_as_it_was() {
    let _turn = Turn::take();
    B::seed(&MpsGraphDevice, 7);
    let expected = draw(Distribution::Default);
    B::seed(&MpsGraphDevice, 7);
    assert_refused(&["random", "rank 17"], || Tensor::<B, 17>::random([1; 17], Distribution::Default, &MpsGraphDevice));
    assert_eq!(draw(Distribution::Default), expected);
}
