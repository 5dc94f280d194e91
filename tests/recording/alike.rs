//! Flushes that record the same ops in the same order, and ask for other values, of other operands or at other places.

use burn::tensor::{Tensor, s};

use super::{B, Choice, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Programs of one or two sums of the same shapes.
fn wired(way: usize, a: &Tensor<B, 1>, b: &Tensor<B, 1>) -> Tensor<B, 1> {
    let (a, b) = (|| a.clone(), || b.clone());
    match way {
        0 => a() + b() + a(),
        1 => a() + b() + b(),
        2 => a() + a() + b(),
        3 => b() + a() + b(),
        4 => a() + (a() + b()),
        5 => a() + b(),
        _ => a() + a(),
    }
}

#[test]
fn operands_in_other_places() {
    let turn = Turn::take();
    for round in 0..70 {
        let number = round as f32;
        let (a, b) = (vector(&[number, 1.0]), vector(&[10.0 * number, -1.0]));
        let way = round * 5 % 7;
        let expected =
            [[12.0, 1.0], [21.0, -1.0], [12.0, 1.0], [21.0, -1.0], [12.0, 1.0], [11.0, 0.0], [2.0, 2.0]][way];
        assert_eq!(read(wired(way, &a, &b)), [expected[0] * number, expected[1]], "way {way}");
    }
    assert!(turn.used().programs_compiled <= 7, "{:?}", turn.used());
}

#[test]
fn other_values_are_kept() {
    let turn = Turn::take();
    for round in 0..24 {
        let number = round as f32;
        let first = vector(&[number]) + 1.0;
        let second = first.clone() * 2.0;
        let third = second.clone() - 3.0;
        let keeps = round % 3;
        let kept = [Some(first).filter(|_| keeps != 1), Some(second).filter(|_| keeps != 2)];
        assert_eq!(read(third), [2.0 * number - 1.0]);
        for (kept, expected) in kept.into_iter().zip([number + 1.0, 2.0 * number + 2.0]) {
            assert!(kept.is_none_or(|kept| read(kept) == [expected]), "round {round}");
        }
    }
    assert!(turn.used().programs_compiled <= 3, "{:?}", turn.used());
}

#[test]
fn scalars_that_were_equal() {
    let turn = Turn::take();
    for round in 0..30 {
        let (by, and) = if round < 10 { (2.0, 2.0) } else { (round as f32, 3.0) };
        assert_eq!(read(vector(&[1.0, 5.0]) * by + and), [by + and, 5.0 * by + and]);
    }
    assert!(turn.used().programs_compiled <= 2, "{:?}", turn.used());
}

#[test]
fn places_that_move_and_return() {
    let turn = Turn::take();
    let whole = vector(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    for round in 0..60_usize {
        let (from, to) = (round * 5 % 7, round / 2 % 7);
        let moved = whole.clone().slice_assign(s![to..to + 1], whole.clone().slice(s![from..from + 1]) + 10.0);
        let mut expected: Vec<f32> = (0..8).map(|at| at as f32).collect();
        expected[to] = from as f32 + 10.0;
        assert_eq!(read(moved), expected, "from {from} to {to}");
    }
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
}

#[test]
fn programs_that_were_dropped() {
    let turn = Turn::take();
    for round in 0..12 {
        if round % 4 == 3 {
            burn_mpsgraph::MpsGraphDevice.clear_programs();
        }
        assert_eq!(read((vector(&[round as f32]) + 1.0) * 2.0), [2.0 * (round as f32 + 1.0)]);
    }
    assert_eq!(turn.used().programs_compiled, 4);
}

#[test]
fn samples_that_are_drawn_twice() {
    const COUNT: usize = 12;
    let turn = Turn::take();
    let mut choice = Choice(9);
    let all: Vec<Tensor<B, 1>> = (0..COUNT).map(|at| vector(&[at as f32 - 1.0, 0.0]) + 1.0).collect();
    MpsGraphDevice.flush();
    let made = turn.used().programs_compiled;
    for step in 0..100 {
        let [batch, next] = [0; 2].map(|_| (0..COUNT).map(|_| choice.below(COUNT)).collect::<Vec<_>>());
        let [x, y] = [&batch, &next].map(|drawn| {
            let drawn: Vec<_> = drawn.iter().map(|&at| all[at].clone()).collect();
            Tensor::stack::<2>(drawn, 0)
        });
        let expected: usize = batch.iter().zip(&next).map(|(x, y)| x * y).sum();
        assert_eq!(read((x * y).sum()), [(expected + COUNT) as f32], "step {step}");
    }
    assert_eq!(turn.used().programs_compiled, made + 1, "{:?}", turn.used());
    // One value again and again stays one feed.
    for _ in 0..2 {
        assert_eq!(read(Tensor::cat(vec![all[2].clone(); 300], 0).sum()), [900.0]);
    }
    assert_eq!(turn.used().programs_compiled, made + 2, "{:?}", turn.used());
}

#[test]
fn a_value_that_is_read_in_several_shapes() {
    let turn = Turn::take();
    for step in 0..3 {
        let start = step as f32;
        let x = Tensor::<B, 2>::from_data([[start, 1.0, 2.0], [3.0, 4.0, 5.0]], &MpsGraphDevice);
        let tall = x.clone().reshape([3, 2]);
        let product = tall.clone().matmul(x.clone());
        let sums = tall.sum_dim(1).reshape([3]) + x.clone().reshape([6]).slice(s![0..3]);
        assert_eq!(read(product.slice(s![0..1])), [start * start + 3.0, start + 4.0, 2.0 * start + 5.0]);
        assert_eq!(read(sums), [2.0 * start + 1.0, 6.0, 11.0]);
    }
    assert_eq!(turn.used().programs_compiled, 1, "{:?}", turn.used());
}
