//! `MPSGraphRandomOps.h`. Its numbers are not documented: what is checked is in which range they are, and that a state
//! gives the same ones again.

use super::Sheet;
use crate::ffi::{
    DataType, Graph, NormalSamplingMethod, RandomDistribution, RandomOpDescriptor, Tensor, autoreleasepool,
};

const SHAPE: [usize; 2] = [4, 8];

/// A float distribution with every parameter set.
fn normal(distribution: RandomDistribution) -> RandomOpDescriptor {
    let descriptor = RandomOpDescriptor::new(distribution, DataType::F32);
    descriptor.set_min(99.0);
    descriptor.set_max(101.0);
    descriptor.set_mean(100.0);
    descriptor.set_standard_deviation(0.5);
    descriptor.set_sampling_method(NormalSamplingMethod::BoxMuller);
    descriptor
}

/// How many elements of `x` are in `low..=high`.
fn within(sheet: &Sheet, x: &Tensor, low: f64, high: f64, data_type: DataType) -> Tensor {
    let graph = &sheet.graph;
    let bound = |value| graph.constant_with_scalar(value, &[1], data_type);
    let inside = graph
        .logical_and(&graph.greater_than_or_equal_to(x, &bound(low)), &graph.less_than_or_equal_to(x, &bound(high)));
    count(graph, &inside)
}

/// How many elements are true.
fn count(graph: &Graph, truths: &Tensor) -> Tensor {
    graph.reduction_sum(&graph.cast(truths, DataType::I32), &[0, 1])
}

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let state = sheet.integers(&[7], &[1, 5, 0, 0, 0, 6, 7]);
    let (uniform, next) = graph.random_uniform(&SHAPE, &state);
    let inside = within(sheet, &uniform, 0.0, 1.0, DataType::F32);
    sheet.gives(inside, &[1, 1], &[32.0]);
    let (again, _) = graph.random_uniform(&SHAPE, &state);
    let same = count(&graph, &graph.equal(&uniform, &again));
    sheet.gives(same, &[1, 1], &[32.0]);
    let (others, _) = graph.random_uniform(&SHAPE, &next);
    let same = count(&graph, &graph.equal(&uniform, &others));
    let all = graph.constant_with_scalar(32.0, &[1], DataType::I32);
    sheet.gives(graph.less_than(&same, &all), &[1, 1], &[1.0]);

    let constant = graph.random_philox_state(5, 6, 7);
    for (distribution, low, high) in
        [(RandomDistribution::Uniform, 99.0, 101.0), (RandomDistribution::Normal, 90.0, 110.0)]
    {
        let (drawn, _) = graph.random(&SHAPE, &normal(distribution), &constant);
        let inside = within(sheet, &drawn, low, high, DataType::F32);
        sheet.gives(inside, &[1, 1], &[32.0]);
    }
    let dice = RandomOpDescriptor::new(RandomDistribution::Uniform, DataType::I32);
    dice.set_min_integer(1);
    dice.set_max_integer(6);
    let (drawn, _) = autoreleasepool(|| graph.random(&SHAPE, &dice, &state));
    let inside = within(sheet, &drawn, 1.0, 6.0, DataType::I32);
    sheet.gives(inside, &[1, 1], &[32.0]);
}

#[test]
fn distributions() {
    super::sheet::check(fill);
}
